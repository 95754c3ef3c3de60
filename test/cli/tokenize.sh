. "$TOP/test/cli/lib.sh"
# Abbreviations keep their full stop, the last word never does; entities by default.
is "$(echo 'Dr. Müller ißt z.B. "Äpfel". Ende.' |
    tokenize -l de)" 'Dr. Müller ißt z.B. &quot; Äpfel &quot; . Ende .'
is "$(echo "It's 5,300 [x]... or 1990's, isn't it?" |
    tokenize -l en --no-escape)" "It 's 5,300 [ x ] ... or 1990 's , isn 't it ?"
is "$(echo "L'homme qu'il a" | tokenize -l fr)" "L&apos; homme qu&apos; il a"
is "$(echo 'a-b-c' | tokenize -a)" 'a @-@ b @-@ c'
is "$(echo 'USA:n ja: EU:ssa' | tokenize -l fi)" 'USA:n ja : EU:ssa'

# The rule s/\.\' ?$/ . \' / of Moses, which leaves a space at the end; by both of our passes
echo '[0-9]{9}' > patterns                         # with patterns, rule by rule
for o in "" -a '-protected patterns'; do
    is "$(echo "he said 'go.'" | tokenize -l en $o)" "he said &apos; go . &apos; "
    is "$(echo "'go.'" | tokenize -l en $o)" "&apos;go . &apos; "
done

# White lines stay as they are; every other line ends with a newline.
printf ' \t\n\na' | tokenize > got; printf ' \t\n\na\n' > want; same got want

# The case marker comes back exactly: words, capitals, mixtures, and text that looks like a marker.
printf 'Der Hund HUND McDonald I U.S. iPhone ⇧ ⇪ ⎋ x⇧'\
'\tTab  &apos;S ß STRASSE \n\n Ǆ ǅ İ É ÉCOLE' > text
tokenize --case-marker-only < text > marked
detokenize --case-marker-only < marked > back; same back text
is "$(echo 'Der HUND bei McDonald' | tokenize -l de --case-marker)" '⇧ der ⇪ hund bei McDonald'
is "$(echo '⇧ der ⇪ hund bei McDonald .' | detokenize -l de --case-marker)" 'Der HUND bei McDonald.'
# What a model may write: a marker before nothing, two in a row, one before a number.
is "$(echo '⇧ ⇪ ab ⇧ 5 ⇪' | detokenize --case-marker)" 'AB 5'

# Rubbish in: one line, status 1.
is "$(printf 'a\xffb\n' | tokenize -l en --replace-invalid)" $'a \uFFFD b'
is "$(tokenize < /dev/null)" ''

# What the scripts of Moses, XLM and wmt16-scripts printed for generated text
# (test/peers/tokenize_golden.sh), to the byte.
# (a pattern that matches nothing: rule by rule)
d=$TOP/test/cli/data/tokenize
echo 'nothing of this kind' > never
for l in en de fr fi tdt ca so; do
    tokenize -l $l --nonbreaking "$d/prefixes" < "$d/text" > got; same got "$d/tok.$l"
    tokenize -l $l --nonbreaking "$d/prefixes" --protected never < "$d/text" > got
    same got "$d/tok.$l"
    tokenize -l $l --nonbreaking "$d/prefixes" --line-buffered < "$d/text" | cmp - got ||
        fail "by line: $l"
done
tokenize -l en --nonbreaking "$d/prefixes" -a -no-escape -x "$d/text" -o got; same got "$d/tok.en-a"
# the script's other long options have one dash, too; behind -- they are files
echo 'a&b' > ./-time
is "$(tokenize -q -threads 2 -lines 3 -time -no-escape -- -time)" 'a & b'
tokenize -l de --nonbreaking "$d/prefixes" -protected "$d/patterns" "$d/text" > got
same got "$d/tok.de-protected"
for l in en fr cs fi; do detokenize -l $l < "$d/tokens" > got; same got "$d/detok.$l"; done
detokenize -u -l it < "$d/tokens" > got; same got "$d/detok.it-u"
# a Finnish ending behind a colon is joined and becomes small (detokenizer.perl's rule)
is "$(echo 'EU: A , EU: Ä , EU: Hön , EU: Z , YK: Ssa' | detokenize -l fi)" \
    'EU:a, EU:ä, EU:hön, EU: Z, YK:ssa'
for l in en de ro; do tokenize --no-tokenize --normalize-punctuation -l $l < "$d/text" > got
same got "$d/punct.$l"; done
tokenize --no-tokenize --replace-unicode-punctuation < "$d/text" > got; same got "$d/unipunct"
tokenize --no-tokenize --remove-non-printing < "$d/text" > got; same got "$d/nonprint"
tokenize --no-tokenize --input-from-sgm < "$d/sgm" > got; same got "$d/sgm.text"
tokenize --no-tokenize --input-from-sgm --line-buffered < "$d/sgm" > got; same got "$d/sgm.text"
tokenize --no-tokenize --lowercase-and-remove-accent < "$d/text" > got; same got "$d/lower"
tokenize --no-tokenize --normalise-romanian --remove-diacritics < "$d/text" > got
same got "$d/romanian"
# what has no capitals any more has only markers of its own, and other lengths
is "$(printf 'ÉCOLE ⇧ Ça\nŻ\n' | tokenize --no-tokenize --lowercase-and-remove-accent \
    --case-marker)" "$(printf 'ecole ⎋ ⇧ ca\nz')"
# a last line without newline ends where it ends
is "$(printf 'xxxxx,,,\nxxx",' | tokenize --no-tokenize --normalize-punctuation -l en)" \
    "$(printf 'xxxxx,,,\nxxx,"')"
# One after another is the same as all at once.
tokenize -l ro --xlm --nonbreaking "$d/prefixes" --case-marker < "$d/text" > got
tokenize --no-tokenize --replace-unicode-punctuation < "$d/text" |
    tokenize --no-tokenize --normalize-punctuation -l ro |
    tokenize --no-tokenize --remove-non-printing |
        tokenize -l ro --no-escape --nonbreaking "$d/prefixes" |
    tokenize --case-marker-only > want
same got want

# The number of threads changes nothing; nor does compression; several files are one text.
for i in {1..60}; do cat "$d/text"; echo; done > big
tokenize -l en --nonbreaking "$d/prefixes" --threads 1 < big > one
tokenize -l en --nonbreaking "$d/prefixes" --threads 4 < big > four; same one four
gzip -c big > big.gz; tokenize -l en --nonbreaking "$d/prefixes" big.gz > zipped; same one zipped
head -n 1000 big > part1; tail -n +1001 big > part2
tokenize -l en --nonbreaking "$d/prefixes" part1 part2 > parts; same one parts
printf 'an open\nline' > open; printf 'another, one\n' > next      # a last line is one
is "$(tokenize open /dev/null next open)" \
    "$(printf 'an open\nline\nanother , one\nan open\nline')"
is "$(tokenize --no-tokenize open next open | od -c)" \
    "$(printf 'an open\nline\nanother, one\nan open\nline' | od -c)"

# The marker undoes itself on all of it, and whether it is marked before or after escaping is the
# same.
tokenize --case-marker-only < big | detokenize --case-marker-only > back; same big back
tokenize -l de --case-marker < "$d/text" > got
tokenize -l de < "$d/text" | tokenize --case-marker-only > want; same got want

# Thai, Chinese and Japanese by ICU: words apart, nothing but spaces added.
for x in 'th ภาษาไทยง่ายมาก' 'zh 我们在北京学习中文。' 'ja 私は日本語を勉強します。'; do
    got=$(echo "${x#* }" | tokenize -l "${x%% *}")
    is "${got// /}" "${x#* }"
    [ "$(wc -w <<< "$got")" -ge 4 ] || fail "not segmented: $got"
done
is "$(echo '我们 <b>' | tokenize -l zh --segment moses)" '我们 &lt; b &gt;'
is "$(echo 'a|b' | tokenize -l th)" 'a &#124; b'
tokenize -l th --describe | has -E '^tokenize -l th icu-[0-9.]+$' ||
    fail "$(tokenize -l th --describe)"
is "$(tokenize -l ne --normalize-indic --describe)" "tokenize -l ne indic normalize-indic"
# everything that changes tokens is said, in the 127 bytes of a shard's note
: > none
is "$(tokenize -l en -a -x --protected none --nonbreaking none --normalize-punctuation --penn \
    --describe)" "tokenize -l en moses -a -x -p -b punct penn"
# (the longest note there is, of a language whose code has the most letters: its end is whole)
tokenize -l abcdefghijklmnopqrstuvwxyzabcde --segment icu -a -x --protected none \
    --nonbreaking none --no-escape --replace-unicode-punctuation --normalize-punctuation --penn \
    --remove-non-printing --remove-diacritics --normalize-indic --lowercase-and-remove-accent \
    --case-marker --describe | has ' normalize-indic lower case-marker$' || fail "a note is cut"

# A shard records which ICU it was.
echo 'ภาษาไทย' | tokenize -l th > th.tok
vocab-count th.tok > th.vocab
binarize -v th.vocab -l th --note "$(tokenize -l th --describe)" < th.tok > th.shd
shard info th.shd | has -F "$(tokenize -l th --describe)" ||
    fail "no note in the shard: $(shard info th.shd)"

# It streams: the first line is out while the pipe stays open.
mkfifo pipe; tokenize -l en --line-buffered < pipe > streamed & exec 9> pipe
echo 'One, two.' >&9
for i in {1..3000}; do [ -s streamed ] && break; sleep 0.05; done
is "$(cat streamed)" 'One , two .'
exec 9>&-; wait

# A language without a list falls back on the English one and says so; a pattern that cannot be is
# refused.
is "$(echo 'Mr. X' | tokenize -l xx 2> note)" 'Mr. X'; grep -q "no list" note
# properties by both of their names: of ";A" and so on those stay whole that Perl's \p{} has
while read -r property those; do
    for is in '' Is; do
        echo ";\\p{$is$property}" > patterns
        is "$property $(printf ';%s\n' A a ٱ 1 ½ Ⅷ - $ ʰ |
            tokenize -q -l en --no-escape --protected patterns | grep -v ' ' | tr -d ';\n')" \
            "$property $those"
    done
done << 'PERL'
Alpha AaٱⅧʰ
Alnum Aaٱ1Ⅷʰ
Lower aʰ
Upper AⅧ
Word Aaٱ1Ⅷʰ
Digit 1
Punct -
N 1½Ⅷ
L Aaٱʰ
Lu A
Ll a
P -
S $
Sc $
PERL
# escapes, also at a pattern's end: to Perl \w is a circled letter, and \W is not
while read -r pattern line tokens; do
    echo "$pattern" > patterns
    is "$(echo "$line" | tokenize -q -l en --no-escape --protected patterns)" "$tokens"
done << 'PERL'
;\w ;ⓐ- ;ⓐ -
;\W ;☃- ;☃ -
;\W ;ⓐ- ; ⓐ-
;\S ;ⓐ- ;ⓐ -
;[\w] ;ⓐ- ;ⓐ -
;[^\W] ;ⓐ- ;ⓐ -
x\b x☃- x ☃ -
PERL
echo '(' > bad
fails 1 'bad:1: not a Perl regular expression: missing closing parenthesis' \
    tokenize --protected bad < text
echo 'x*' > bad; fails 1 'standard input:1: .*empty' tokenize --protected bad < text
fails 1 'byte' tokenize <<< $'ok\n\xc3('
fails 2 'segment' tokenize --segment nothing < text
# options that change nothing: without tokenisation refused, elsewhere told, for all languages have
# the same ones in scripts of tokenizer.perl
fails 2 '^tokenize: --settings and --describe exclude each other$' tokenize --settings --describe
fails 2 "^tokenize: --describe reads no text: without 'text'\$" tokenize --describe text
fails 2 "^tokenize: --settings reads no text: without 'text'\$" tokenize --settings text
for w in -a '--segment icu' '--protected none' '--nonbreaking none' -x; do
    fails 2 'without tokenisation --aggressive, .* change nothing' tokenize --no-tokenize $w
    fails 2 'without tokenisation --aggressive, .* change nothing' tokenize --case-marker-only $w
done
moses='^tokenize: language .zh. is not cut by Moses. rules: --aggressive, .*--segment moses'
for w in -a '--protected none' '--nonbreaking none' -x; do
    is "$(echo 'a-b c.' | tokenize -q -l zh $w 2> told)" 'a - b c .'
    has "$moses" < told
done
echo 'a-b' | tokenize -l zh 2> told; is "$(cat told)" ""
is "$(echo 'a-b' | tokenize -q -l zh -a --segment moses 2>&1)" 'a @-@ b'

# Nepali and Sinhala are cut, and Devanagari normalised, as the Indic NLP library does
i=$TOP/test/golden/indic
tokenize -q -l ne --no-escape < "$i/text" > got; same got "$i/tokens"
tokenize -q -l hi --segment indic --no-escape < "$i/text" > got; same got "$i/tokens"
tokenize -q -l ne --no-tokenize --normalize-indic < "$i/text" > got; same got "$i/normalised"
tokenize -q -l ne --threads 3 --no-escape --normalize-indic < "$i/text" > got; same got "$i/both"
is "$(echo 'क & ख' | tokenize -q -l ne)" 'क &amp; ख'
is "$(tokenize -l ne --segment indic --normalize-indic --settings | sed 1d | sort |
    paste -sd ,)" "normalize-indic = true,segment = indic"
fails 1 'no normaliser for language ta' tokenize -l ta --normalize-indic < text
fails 2 'Penn' tokenize -l en -penn < text
