# bpe-learn, bpe-apply, vocab-count, binarize, shard: the peers' bytes, streams, bad input.
. "$TOP/test/cli/lib.sh"
sha() { sha256sum | cut -c1-64; }
golden() { is "$(sha)" "$(sed -n "s/^\([0-9a-f]*\)  $1\$/\1/p" "$TOP/test/cli/data/bpe/sums")" "$1"
}
sh "$TOP/test/cli/data/bpe/text.sh" > text
golden text < text

# --- the peers' bytes: checksums of the output of fastBPE and subword-nmt, made by
# test/peers/bpe.sh --golden
bpe-learn -n 300 --format subword-nmt < text > codes.sw
golden codes.sw < codes.sw
bpe-learn -q -s 300 -i text -o codes.fast
is "$(cut -d ' ' -f 1,2 codes.fast)" "$(tail -n +2 codes.sw)"
bpe-apply -c codes.fast < text | vocab-count > pieces
tail -n +2 codes.sw > codes-0.1
bpe-apply -q -c codes-0.1 text | vocab-count -q > pieces-0.1
for t in 1 3; do
    bpe-apply --threads $t -c codes.fast < text | golden fast
    bpe-apply --num-workers $t -c codes.fast --vocab pieces --min-count 6 < text | golden fast-vocab
    bpe-apply --threads $t -c codes.sw text | golden sw
    bpe-apply --threads $t -c codes.sw --vocabulary pieces --vocabulary-threshold 6 -i text |
        golden sw-vocab
    tail -n +2 codes.sw | bpe-apply --threads $t -c - text | golden sw-0.1
    tail -n +2 codes.sw | bpe-apply -q --threads $t -c - --vocabulary pieces-0.1 \
        --vocabulary-threshold 40 text |
        golden sw-0.1-vocab
    bpe-apply --threads $t -c codes.sw --glossaries '[0-9]+' --glossaries Debian < text |
        golden sw-glossaries
    bpe-apply --threads $t -c codes.fast < text | vocab-count --threads $t | golden getvocab
done
printf '%s\n' '[0-9]+' Debian > g
bpe-apply -c codes.sw --glossary-file g < text | golden sw-glossaries

# --- carriage returns around a line's words are not learned from
sed 's/^/\r /; s/$/ \r/' text | bpe-learn -q -n 300 | cmp - codes.fast

# --- restoring gives the text back, through compressed files too
bpe-apply -c codes.fast < text > bpe
bpe-apply --restore < bpe | cmp - text
gzip -c bpe > bpe.gz
bpe-apply --restore bpe.gz | cmp - text
is "$(printf 'a@@ b c@@ d@@\nx@@y @@ z' | bpe-apply --restore)" "$(printf 'ab cd\nx@@y z')"

# --- a text without final newline, an empty one, empty lines, carriage returns, runs of spaces
is "$(printf 'the the' | bpe-apply -c codes.fast | od -c)" "$(printf 'the the' | od -c)"
is "$(bpe-apply -c codes.fast < /dev/null | wc -c)" 0
printf '\n\n  the  \r\n \n' > odd
bpe-apply -c codes.fast < odd | cmp - odd
bpe-apply -c codes.sw < odd | cmp - odd
is "$(printf 'the   the \n' | bpe-apply -c codes.sw)" "the the "
is "$(printf 'the   the \n' | bpe-apply -c codes.fast)" "the   the "

# --- several files: the last line of each is a line, with its newline or without
printf 'the' > open; printf 'and the\nthe' > open2; printf 'the\nand the\nthe\n' > whole
for o in "-c codes.fast" "-c codes.sw" "-c codes.fast --dropout 0.5" --restore; do
    is "$(bpe-apply $o open /dev/null open2 whole)" "$(cat whole whole | bpe-apply $o)" "$o"
done
bpe-learn -n 9 --alpha 0.5 en=open2 de=whole > /dev/null 2> notes
grep -q '^bpe-learn: en: 2 sentences' notes || fail "$(cat notes)"

# --- streams: a line goes through before the next one comes
coproc stream { bpe-apply -c codes.fast; }
for word in the and; do
    echo $word >&"${stream[1]}"
    read -r -t 60 -u "${stream[0]}" got
    is "$got" $word "first line out before the last is in"
done
pid=$stream_PID                       # bash forgets it when the process has ended
eval "exec ${stream[1]}>&-"
wait "$pid"
bpe-apply -c codes.fast --line-buffered < text | cmp - bpe
{ env --ignore-signal=PIPE bpe-apply -c codes.fast text text text text 2> err ||
    echo $? > status; } | (read -r line; echo "$line") | cmp - <(head -n 1 bpe)
is "$(cat err)" "bpe-apply: standard output: closed pipe"
is "$(cat status)" 1

# --- BPE-dropout: the same seed and any number of threads give the same bytes; the words stay
for seed in 1 1 2; do
    for t in 1 3; do bpe-apply -c codes.sw --dropout 0.3 --seed $seed --threads $t < text |
        sha; done
done > drops
is "$(sed -n 1p drops)" "$(sed -n 4p drops)"
is "$(sort -u drops | wc -l)" 2 "two seeds, two texts"
# lines draw by their numbers, wherever the blocks of 256 KiB end that are read
for i in 1 2 3 4 5; do cat text; done > five
for c in codes.fast codes.sw; do
    bpe-apply -q -c $c --dropout 0.3 five > whole
    # (a pipe gives 64 at most)
    cat five | bpe-apply -q -c $c --dropout 0.3 --line-buffered | same - whole
done
# the first line is line 1, in any file: draws of Philox (seed 1, purpose 8, samples 1 to 16) that
# test/golden/replay.py makes, below 2^31 or not
printf '#version: 0.2\na b</w>\n' > codes.one
for i in 1 2 3 4 5 6 7 8 9; do echo ab; done > nine; sed 7q nine > seven
is "$(bpe-apply -q -c codes.one --dropout 0.5 --seed 1 nine seven | sed 's/.*@@.*/x/; s/ab/./' |
    tr -d '\n')" ..x..x..x....xx.
bpe-apply -c codes.fast --dropout 0.3 < text | bpe-apply --restore | cmp - text
bpe-apply -c codes.fast --dropout 1 < text | cmp - <(sed 's/[^ ]/&@@ /g; s/@@  / /g; s/@@ $//' text)

# --- languages are weighted: with alpha 0 the small one counts as much as the large one
seq 1000 | sed 's,.*,ab,' > en; seq 10 | sed 's,.*,xyxyxy,' > de
is "$(bpe-learn -q -n 1 --alpha 0 en=en de=de)" "y x 1010"
is "$(bpe-learn -q -n 1 en=en de=de)" "a b</w> 1000"
# all of a language's words: 4 sentences each, whose weights are 1
printf '%s\n' ab cd ab ab > two; printf '%s\n' xy xy xy xy > one
is "$(bpe-learn -q -n 3 --alpha 0 --min-frequency 1 en=two de=one)" \
    "$(printf 'x y</w> 4\na b</w> 3\nc d</w> 1')"
# as XLM samples them: of 900 and 100 sentences 0.9^A and 0.1^A, in parts of their sum, so that each
# of 900 weighs 0.75 / 0.9 for A = 0.5, and each of 100 0.25 / 0.1; for A = 0.7 0.9146 and 1.7682
for i in {1..900}; do echo ab; done > most; for i in {1..100}; do echo xy xy xy xy; done > few
is "$(bpe-learn -q -n 2 --alpha 0.5 en=most de=few)" "$(printf 'x y</w> 1000\na b</w> 750')"
is "$(bpe-learn -q -n 2 --alpha 0.7 en=most de=few)" "$(printf 'a b</w> 823\nx y</w> 707')"
is "$(bpe-learn -q -n 2 --alpha 0.7 --min-frequency 281474976710656 en=most de=few)" "" \
    "2^48 in units of 2^-16"
is "$(bpe-learn -q -n 3 --dict-input <(vocab-count en de))" "$(bpe-learn -q -n 3 en de)"
is "$(bpe-learn -q -t -n 3 en)" "a b</w> 1000"       # symbols: a, b</w>, ab</w>
fails 1 '2 distinct characters .*so 2 symbols in all leave no merge' bpe-learn -q -t -n 2 -o out en
fails 2 'want|LANG=FILE' bpe-learn --alpha 0.5 en de

# --- counts of pieces are added to fastBPE's bytes, and learned from as the whole text is
mkdir pieces.d
split -n l/7 text pieces.d/text.; bpe-apply -q -c codes.fast text | split -l 900 - pieces.d/bpe.
for f in pieces.d/*; do vocab-count "$f" > "$f.count"; done
gzip pieces.d/bpe.ab.count
for t in 1 3; do vocab-count --merge --threads $t pieces.d/bpe.*.count* | golden getvocab; done
vocab-count --merge pieces.d/text.*.count > counted
bpe-learn -q -n 300 --dict-input counted | cmp - codes.fast
bpe-learn -q -n 300 --format subword-nmt --dict-input pieces.d/text.*.count | golden codes.sw
sed 's/$/\r/' text | vocab-count | bpe-learn -q -n 300 --dict-input | cmp - codes.fast
printf 'a\r b\r\n\r\nb\r b\n' > cr; vocab-count cr > cr.count      # what is a token stays one
vocab-count --merge cr.count cr.count > cr.twice
vocab-count cr cr | cmp - cr.twice
# "ab" 1000 times in 1000 sentences, "xyxyxy" once in each of 10: with alpha 0 both weigh 505
vocab-count en > en.count; vocab-count de > de.count
counted() { bpe-learn -q -n 3 --dict-input "$@" en=en.count de=de.count; }
is "$(counted --alpha 0 --sentences en=1000 --sentences de=10 | sed -n 1p)" "y x 1010"
is "$(counted --alpha 0.5 --sentences en=1000 --sentences de=10)" \
    "$(bpe-learn -q -n 3 --alpha 0.5 en=en de=de)"
# (one sentence each: as many, so that all weigh 1)
is "$(counted --alpha 0 --sentences en=1 --sentences de=1 | sed -n 1p)" "a b</w> 1000"
fails 2 'add --sentences de=N' counted --alpha 0.5 --sentences en=1000
fails 2 'LANG=N, with N of 1 or more' counted --alpha 0.5 --sentences en=0 --sentences de=10
fails 2 'LANG=N, with N of 1 or more' \
    counted --alpha 0.5 --sentences en=9 --sentences de=10 --sentences fr=x
fails 2 'de is given twice' \
    counted --alpha 0.5 --sentences de=9 --sentences en=9 --sentences de=10
fails 2 '--sentences d=9: no input has this language' \
    counted --alpha 0.5 --sentences en=9 --sentences de=10 --sentences d=9
fails 2 'goes with --dict-input and --alpha' counted --sentences en=1000
# counts whose sums, or whose weights, would not fit 64 bits
printf 'ab 9000000000000000000\n' > huge.count
fails 1 'en: a count of 9000000000000000000 is too large to be weighted' bpe-learn -q --dict-input \
    --alpha 0.5 --sentences en=10 --sentences de=1000 en=huge.count de=de.count
fails 1 '"ab": with its count of 9000000000000000000 the pairs .* 2\^63 or more' \
    bpe-learn -q --dict-input huge.count
# (as many sentences in each: a weight of 1)
printf 'ab 140000000000000\n' > large.count
fails 1 '"ab": with its weighted count of 140000000000000 the pairs .* add up to 2\^47 or more' \
    bpe-learn -q --dict-input --alpha 0.5 --sentences en=7 --sentences de=7 en=large.count \
    de=de.count
printf 'ab 4000000000000000000\n' | bpe-learn -q -n 1 --dict-input | same - \
    <(echo 'a b</w> 4000000000000000000')
vocab-count -q -o checked en; echo 'ab 1' >> checked
fails 1 'checked: .*checked.sum' vocab-count --merge checked
printf 'a 18446744073709551615\n' > most; printf 'a 1\n' > one
is "$(vocab-count --merge most)" "a 18446744073709551615"
fails 1 'one:1: "a": its counts add up to 2\^64 or more' vocab-count --merge -o out most one
fails 1 'text:1: expected "word count"' vocab-count --merge -o out text
printf 'a\0b 1\n' > nul
fails 1 'nul:1: expected "word count"' vocab-count --merge -o out nul
is "$(printf 'a\001b 2\n' | vocab-count --merge)" "$(printf 'a\001b 2')"
printf 'a 18446744073709551616\n' > over
fails 1 'over:1: expected "word count"' vocab-count --merge -o out over
printf 'a 1\nb\377 2\n' > bad; fails 1 'bad:2: byte 2 is not UTF-8' vocab-count --merge -o out bad
fails 2 'whole-words counts text' vocab-count --merge --whole-words one
[ ! -e out ]

# --- text to shard and back; unknown tokens are said and marked
mv bpe spaced; sed 's/   */ /g; s/^ //; s/ $//' spaced > bpe
vocab-count bpe > vocab
binarize -v vocab bpe bpe 2>&1 > two.shd | has "^binarize: $((2 * $(wc -l < bpe))) sentences" ||
    fail "two files"
binarize -v vocab -l de --note "made by hand" < bpe > x.shd 2> note
grep -q "^binarize: $(wc -l < bpe) sentences, $(wc -w < bpe) tokens, 0 unknown" note
binarize -q -v vocab -l de --note "made by hand" -o y.shd bpe; same x.shd y.shd
shard check x.shd
shard cat -v vocab x.shd | cmp - bpe
shard cat -v vocab - < x.shd | cmp - bpe
shard info x.shd | has '^  language   de$'
shard info x.shd | has '^  note       made by hand$'
is "$(echo 'the qqq' | binarize --max-unknown 0.5 -v vocab 2>&1 >u.shd)" \
    "binarize: 1 sentences, 2 tokens, 1 unknown (50.00%)"
is "$(shard cat -v vocab u.shd)" "the <unk>"
binarize -q -v vocab --block-tokens 100 < bpe > small.shd
shard cat -v vocab small.shd | cmp - bpe
# any number of threads gives the same bytes; blocks go on from file to file, whose last lines may
# have no newline, and end before the sentence that has no room
for n in 1 7 1000; do
    for t in 1 2 5; do
        binarize -q -v vocab --block-tokens $n --threads $t bpe <(printf 'the\n\n  the') bpe | sha
    done
done > shards
is "$(uniq shards | wc -l)" 3 "threads"
{ cat bpe; printf 'the\n\nthe\n'; cat bpe; } > three
binarize -q -v vocab --block-tokens 7 bpe <(printf 'the\n\n  the') bpe > three.shd
shard check three.shd; shard cat -v vocab three.shd | cmp - three
is "$(sed -n 4p shards)" "$(binarize -q -v vocab --block-tokens 7 three | sha)"
awk '{ n = NF; if (s && s + k + n > 7) { b++; s = k = 0 } s++; k += n } END { print b + 1 }' \
    three > blocks
shard info three.shd | has -x "  blocks     $(cat blocks)" ||
    fail "$(shard info three.shd), not $(cat blocks) blocks"

# --- a vocabulary of words needs vocab-count and binarize, nothing else (MLM-GC, Table 8)
vocab-count --min-count 2 text > words
binarize -q -v words -l en < text > words.shd
is "$(shard cat -v words words.shd | tr ' ' '\n' | grep -c '<unk>')" \
   "$(tr ' ' '\n' < text | grep . | awk 'NR==FNR { known[$1]; next } !($1 in known)' words - |
       wc -l)"

# --- bad input: one line with file, place and cure; nothing half-written
printf 'ok\nb\377d\n' > latin1
for p in "bpe-apply -c codes.fast" "bpe-apply --restore" "bpe-learn -n 10" vocab-count \
    "binarize -v vocab --max-unknown 1"; do
    # shellcheck disable=SC2086
    fails 1 'latin1:2: byte 2 is not UTF-8; run iconv or pass --replace-invalid' $p -o out latin1
    [ ! -e out ] || fail "$p left an output"
    # shellcheck disable=SC2086
    $p -q --replace-invalid -o out latin1
    rm out
done
# where the output cannot go is known before anything is read
for p in bpe-learn vocab-count; do
    fails 1 "^$p: none/out: cannot create" $p -q -o none/out missing
    fails 1 "^$p: missing: cannot be opened" $p -q -o out missing
    [ -z "$(find . -name '*out*tmp')" ] && [ ! -e out ] || fail "$p left an output"
done
fails 1 'bpe:1: .*fields' bpe-apply -c bpe
fails 1 'is not a shard' shard info bpe
printf 'a\n b\0c\n' > nul
fails 1 'nul:2: byte 3 is NUL' vocab-count nul
fails 1 'nul:2: byte 3 is NUL' bpe-learn nul
bpe-apply -c codes.fast nul | bpe-apply --restore | cmp - nul
fails 1 'glossary "\(": ' bpe-apply -c codes.fast --glossaries '('
# a word on which the expression gives up ends it, and not only where it is the last one of a block
{ printf 'x%.0s' {1..40}; printf '\n'; seq 400; } > steps; tr '\n' ' ' < steps > steps2
for f in steps steps2; do
    for c in codes.fast codes.sw; do
        fails 1 'glossary on the word "x{40}": match limit exceeded' \
            bpe-apply -q -c $c --glossaries '(x+x+)+[yz]' -o out $f
        [ ! -e out ] || fail "$f: an output without the rest of its text"
    done
done
fails 1 "^bpe-apply: nothere: .*; --glossaries takes one expression" \
    bpe-apply -c codes.fast --glossaries a nothere
fails 2 'codes' bpe-apply
fails 2 'only once' bpe-apply -c - < text
# what was read first would leave nothing for the other
fails 2 'only once' bpe-apply -c - - < text
fails 2 'only once' bpe-learn --alpha 0.5 en=- de=- < text
fails 2 'only once' bpe-apply -c - -i - < text
fails 2 'only once' bpe-apply -c codes.fast --vocab - < text
fails 2 'only once' bpe-apply -c codes.fast --glossary-file - < text
bpe-apply -q -c - text < codes.fast | cmp - <(bpe-apply -q -c codes.fast text)
fails 2 '--codes splits words, --restore joins them' bpe-apply --restore -c codes.fast < text
fails 2 '--dropout splits words, --restore joins them' bpe-apply --restore --dropout 0.1 < text
fails 2 '^bpe-apply: -c: the value is empty; expected FILE$' bpe-apply -c '' < text
fails 2 '^bpe-apply: argument 1 is empty$' bpe-apply -c codes.fast ''
fails 2 'vocab' binarize
fails 2 'info, cat or check' shard look x.shd

echo "# --whole-words: a token counts where neither it nor the one before it goes on"
printf 'Fuß@@ ball ball spielt\nball@@\nball ist@@ ist  ball@@ ball@@ ball ball\n' > pieces
is "$(vocab-count --whole-words pieces | tr '\n' ,)" "ball 3,spielt 1,"
printf '\u2581Fuß ball \u2581ball\n\u2581ball \u2581ball er \u2581ist \u2581ball\n' > spm
is "$(vocab-count --whole-words --initial ▁ spm | tr '\n' ,)" "▁ball 3,▁ist 1,"
is "$(vocab-count --whole-words < /dev/null)" ""
# lines on either side of a block, on any number of threads
awk '{ l[NR] = $0 } END { for (i = 0; i < 300000; i++) print l[i % 3 + 1] }' pieces > many
for t in 1 3; do is "$(vocab-count --threads $t --whole-words many |
    tr '\n' ,)" "ball 300000,spielt 100000,"; done
fails 2 'needs --whole-words' vocab-count --initial ▁ spm
fails 2 'not empty' vocab-count --whole-words --initial '' spm

echo "# bpe-apply: how many operations, by what mark, which of a vocabulary"
printf 'a b 3\nab c</w> 2\n' > abc
for of in -1:abc 0:abc '1:ab@@ c' 2:abc 3:abc; do
    is "$(echo abc | bpe-apply -q -c abc -m "${of%%:*}")" "${of#*:}" "-m ${of%%:*}"
done
for mark in '|' '▁▁' @@@; do
    is "$(echo abcabc | bpe-apply -q -c abc -s "$mark")" "ab$mark c$mark abc"
    is "$(printf 'ab%s c%s abc@@ a%sb\nd%s\n' "$mark" "$mark" "$mark" "$mark" |
        bpe-apply -q --restore -s "$mark")" "abcabc@@ a${mark}b"$'\n'd
    printf 'ab%s 5\nc 5\n' "$mark" > marked; printf 'ab@@ 5\nc 5\nab 5\n' > other
    # abc is in neither list; what its parts are called is what stands before the mark
    is "$(echo abc | bpe-apply -q -c abc -s "$mark" --vocab marked)" "ab$mark c"
    is "$(echo abc | bpe-apply -q -c abc -s "$mark" --vocab other)" "a$mark b$mark c"
done
# a word that was seen is printed as it was at first, however long its pieces and their marks are
mark=$(printf '%.0s#' {1..300})
for n in 15 16 17 218 219 254 255 256 257; do
    word=$(printf 'q%.0s' $(seq $n))
    bpe-apply -q -c abc -s "$mark" <<< "$word $word abc $word" |
        same - <(sed "s/q/q$mark /g; s/q$mark \( \|\$\)/q\1/g" <<< "$word $word abc $word")
done
printf 'abc 5\nab@@ 9\nc 9\n' > counts
is "$(for n in 0 5 6 9 10; do echo abc | bpe-apply -q -c abc --vocab counts --min-count $n; done |
    tr '\n' ,)" "abc,abc,ab@@ c,ab@@ c,abc," "a list of no token that is frequent enough is none"
printf '\nb\n\n' > g; is "$(echo abc | bpe-apply -q -c abc --glossary-file g)" "a@@ b@@ c"
printf '\nx\n\n' > g; is "$(echo abc | bpe-apply -q -c abc --glossary-file g)" abc
for mark in '' 'a b' $'a\nb'; do
    fails 2 '^bpe-apply: (--separator must be a word|-s: the value is empty)' \
        bpe-apply -c abc -s "$mark" text
done
fails 2 '^bpe-apply: --min-count needs --vocab$' bpe-apply -c abc --min-count 1 text
fails 2 'both with --input and as arguments' bpe-apply -c abc -i text text
for o in vocab=v min-count=1 merges=1 seed=1 glossaries=x glossary-file=g cache=1M; do
    fails 2 "^bpe-apply: --${o%=*} splits words, --restore joins them" bpe-apply --restore --$o text
done

echo "# bpe-learn: what it says of a text that has no more pairs, no words, or languages"
: > empty
is "$(printf 'ab\nab\nc\n' | bpe-learn 2> note)" "a b</w> 2"
is "$(cat note)" "bpe-learn: 1 operations: no other pair occurs 2 times"
is "$(printf 'ab\nab\nxy\n' | bpe-learn --min-frequency 1 -n 2 2> note)" $'a b</w> 2\nx y</w> 1'
is "$(cat note)" ""
is "$(echo ab | bpe-learn 2> note)" ""
is "$(cat note)" "bpe-learn: 0 operations: no other pair occurs 2 times"
fails 1 '^bpe-learn: empty: no words; there is nothing to learn from$' bpe-learn -o out empty
fails 1 '^bpe-learn: empty: no words; ' bpe-learn -o out -i empty
fails 1 '^bpe-learn: empty and the others: no words; ' bpe-learn -o out empty empty
fails 1 '^bpe-learn: standard input: no words; ' bpe-learn -o out < empty
fails 1 '^bpe-learn: empty and the others: no words; ' \
    bpe-learn -q -o out --alpha 0.5 en=empty de=empty
for i in {1..900}; do echo ab; done > most; for i in {1..100}; do echo xy; done > few
bpe-learn -n 1 --alpha 0.5 en=most de=few 2> note > out; rm out
is "$(grep weight note | tr '\n' ,)" \
    "bpe-learn: en: 900 sentences, weight 0.8333,bpe-learn: de: 100 sentences, weight 2.5000,"
# of nearly all sentences a language weighs 1; of r = 10 / 2^53 of them 1 / (root(r) (1 + root(r)))
bpe-learn -n 1 --dict-input --alpha 0.5 --sentences en=9007199254740992 --sentences de=10 \
    en=en.count de=de.count 2> note > out; rm out
is "$(sed -n 's/.*weight //p' note | tr '\n' ,)" "1.0000,30011995.3594,"
for bad in 9007199254740993 99999999999999999999 9x +9 ' 9' -1 x; do
    fails 2 'LANG=N, with N of 1 or more' counted --alpha 0.5 --sentences de=9 --sentences "en=$bad"
done
fails 2 '--alpha needs inputs written LANG=FILE' bpe-learn --alpha 0.5
fails 2 '"few" has no language; write LANG=FILE' bpe-learn --alpha 0.5 en=most few
fails 2 'both with --input and as arguments' bpe-learn -i text text

echo "# vocab-count: the most frequent, ties by bytes"
printf 'b ab é\nc a c ab c z\n' > few
is "$(vocab-count few | tr '\n' ,)" "c 3,ab 2,a 1,b 1,z 1,é 1,"
for of in '0:c 3,ab 2,a 1,b 1,z 1,é 1,' '1:c 3,' '3:c 3,ab 2,a 1,' \
    '9:c 3,ab 2,a 1,b 1,z 1,é 1,'; do
    is "$(vocab-count --max-size "${of%%:*}" few | tr '\n' ,)" "${of#*:}" "--max-size ${of%%:*}"
done
for of in '1:c 3,ab 2,a 1,b 1,z 1,é 1,' '2:c 3,ab 2,' '3:c 3,' 4:; do
    is "$(vocab-count --min-count "${of%%:*}" few | tr '\n' ,)" "${of#*:}" "--min-count ${of%%:*}"
done
is "$(vocab-count --min-count 2 --max-size 1 few)" "c 3"
fails 2 'both with --input and as arguments' vocab-count -i text text

echo "# binarize: a language's name has up to 31 bytes, a note up to 127"
lang=abcdefghijklmnopqrstuvwxyz12345 note=$(printf 'n%.0s' {1..127})
echo the | binarize -q -v vocab -l $lang --note "$note" > x.shd
shard info x.shd | has -x "  language   $lang"; shard info x.shd | has -x "  note       $note"
fails 2 'is not a language code' binarize -v vocab -l ${lang}6 -o out text
fails 2 'is not a language code' binarize -v vocab -l a=b -o out text
fails 2 'must be one line of at most 127 bytes' binarize -v vocab --note n$note -o out text
fails 2 'must be one line of at most 127 bytes' binarize -v vocab --note $'a\nb' -o out text
echo the | binarize -q -v vocab | shard info - | has -x '  language   (none)'
[ ! -e out ]

# A byte order mark (Windows) is no part of the version line: in 0.2 the end of a word is a part of
# its last character, so that "a b" joins no word's end; in 0.1 it does.
printf '#version: 0.2\na b\n' > plain.codes
printf '\357\273\277#version: 0.2\na b\n' > marked.codes
for c in plain marked; do is "$(echo 'ab abc' | bpe-apply -q -c $c.codes)" "a@@ b ab@@ c"; done
# Before a merge it is a character like any other, as for fastBPE and subword-nmt.
for merge in $'\357\273\277 a 3' $'\357\273\277 a'; do
    printf '%s\n' "$merge" > marked.codes
    is "$(printf '\357\273\277abc abc\n' | bpe-apply -q -c marked.codes)" \
       $'\357\273\277a@@ b@@ c a@@ b@@ c'
done
