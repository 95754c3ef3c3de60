# bleu prints what sacreBLEU and multi-bleu.perl print, and says what is wrong with bad input.
. "$TOP/test/cli/lib.sh"
export NO_COLOR=1
cp -r "$TOP"/test/golden/bleu/. .
n=0
while read -r name hyp args; do
    for k in words punct unicode; do
        a=${args//\{k\}/$k}
        case $name in multi*) a="--multi $a";; esac
        bleu --threads 2 $a < "${hyp/\{k\}/$k}" > printed 2> err ||
            { cat err; fail "$name.$k: status $?"; }
        sed 's/-isoglot-[0-9.]*//' printed > raw
        # below a table of a paired test stands an explanation of ours
        sed -e '/^Paired test/,/^Metric signatures$/d' -e '/^-----*$/,/^Metric signatures$/d' \
            raw > got
        same got $name.$k.out
        [ ! -s err ] || { cat err; fail "$name.$k: a message on standard error"; }
        n=$((n + 1))
    done
done < <(grep -v '^#' commands)
is $n 114 "golden comparisons"

# colours, on a terminal: of headings, the baseline, what may be chance, and an interval
coloured() {
    (cd words && NO_COLOR= script -qec "bleu ref0 -f text $*" ../typescript) < /dev/null > no
    sed -e 's/\r$//; s/-isoglot-[0-9.]*//' typescript > seen
}
coloured -m bleu ter --paired-ar --paired-ar-n 200 -i hyp1 hyp2 ref0
sed -n '/╒/,/╘/p' seen > got; same got colour-test.out
coloured -m bleu chrf --confidence --confidence-n 20 -i hyp1
grep '|' seen > got; same got colour-ci.out

# the signature says whose it is, and whom it follows
bleu -f text unicode/ref0 < unicode/hyp1 | has 'version:2\.6\.0-isoglot-' || fail "signature"

# a text without a word: sacreBLEU 2.6.0's penalty is 0, not exp(1 - 3/0), nor the 1 of one that is
# long enough
echo 'a b c' > three
is "$(echo | bleu -f text three | sed 's/.* = 0.0 //')" \
    '0.0/0.0/0.0/0.0 (BP = 0.000 ratio = 0.000 hyp_len = 0 ref_len = 3)'

# a second, much longer reference takes nothing from what the first one has: all its 60 words, and
# with them all n-grams, are found (of several lines, each alone: tables grow in the first)
words() { awk -v w="$1" -v n="$2" 'BEGIN { for (k = 0; k < n; k++) printf "%s%d ", w, k }'; }
for w in a b c d e f g h; do
    words $w 60 > short; words long 400 > long
    is "$(bleu -b short long < short)" 100.0
done

# the number of threads does not matter; -o writes the same bytes
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do cat unicode/hyp1; done > hyp
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do cat unicode/ref0; done > ref
for args in "-m bleu chrf ter --confidence" "-sl" "--multi"; do
    bleu $args --threads 1 ref < hyp > one; bleu $args --threads 5 -o five ref < hyp; same one five
done

# names with what LaTeX and JSON need other signs for, as sacreBLEU 2.6.0 writes them
for f in 'a_b&%$#{}^~<>\' $'q"\\é😀\x7f'; do cp three "$f"; done
odd() { bleu three -f "$1" -i 'a_b&%$#{}^~<>\' $'q"\\é😀\x7f'; }
odd latex | sed -n 5,6p | tr -s ' ' > got
cat > want <<'EOF'
 a\_b\&\%\$\#\{\}\^{}\textasciitilde{}\ensuremath{<}\ensuremath{>}\textbackslash{} & 0.0 \\
EOF
printf ' q"\\textbackslash{}é😀\177 & 0.0 \\\\\n' >> want; same got want
odd json | grep '"system"' > got
cat > want <<'EOF'
        "system": "a_b&%$#{}^~<>\\",
        "system": "q\"\\\u00e9\ud83d\ude00\u007f",
EOF
same got want

# resamples without any match of four words, in each smoothing, as sacreBLEU 2.6.0 has them
printf 'a b c x d e\nf g h y\nk l z m n o\np q\n' > few
printf 'a b c d e f\nf g h i j\nk l m n o p q\np q r\n' > few.ref
while read -r expected how; do
    is "$(bleu few.ref -i few -s $how --confidence --confidence-n 20 -b -f text -w 10)" \
        "${expected//,/ }"
done <<'EOF'
27.7076184193,(μ,=,27.4743145155,±,6.5828397982) exp
18.5292011919,(μ,=,18.3731815710,±,4.4022102647) floor
24.6024172679,(μ,=,24.3565342860,±,5.4378639839) add-k -sv 0.3
0.0000000000 none
EOF
bleu few.ref -i few --confidence --seed none | has 'seed:none' || fail "a seed of none"
# a letter whose small one takes more bytes
words() { for i in 1 2 3 4 5; do printf "$1%.0s" {1..60}; printf ' '; done; echo; }
words İ > upper; words $'i\u307' > lower
is "$(bleu -lc -b lower < upper)" 100.0
# multi-bleu's references by name; one that is longer, one that is empty
bleu --multi unicode/ref0 unicode/ref1 < unicode/hyp1 > got
bleu --multi unicode/ref < unicode/hyp1 > want; same got want
# the script's stem becomes STEM.ref where STEM.ref0 is all there is, and then the file of that name
# is a reference, too: -e "$stem" after $stem .= ".ref"
echo a b c d > s.ref0; echo a b c e > s.ref; echo a b d e > s.ref1
is "$(bleu --multi s < s.ref)" \
    'BLEU = 100.00, 100.0/100.0/100.0/100.0 (BP=1.000, ratio=1.000, hyp_len=4, ref_len=4)'
printf 'a b\n' > one.line; printf 'a b\nc d\n' > two.lines; echo > blank
is "$(bleu --multi two.lines < one.line 2> err)" \
    "BLEU = 0.00, 100.0/100.0/0.0/0.0 (BP=1.000, ratio=1.000, hyp_len=2, ref_len=2)"
has 'has 2 lines but there are only 1 hypotheses' < err
none='BLEU = 0, 0/0/0/0 (BP=0, ratio=0, hyp_len=0, ref_len=0)'
fails 1 'standard input: no lines to score' bleu --multi two.lines < /dev/null
is "$(cat fails.out)" "$none"
fails 1 'blank: the references are empty' bleu --multi blank < one.line
is "$(cat fails.out)" "$none"
fails 2 'sentence-level cannot be combined' bleu two.lines -sl --confidence
fails 2 'sentence-level takes one metric, not 2' bleu two.lines -sl -m bleu ter
fails 1 'sentence-level takes one system, not 2' bleu few.ref -sl -i few few.ref
fails 2 'no metric named' bleu two.lines -m ,
fails 2 "'zh' is not SRC-TGT" bleu two.lines -l zh
bleu two.lines -l en-zh -tok 13a < two.lines 2>&1 > got | has 'tokeniser for Chinese is zh'
bleu two.lines -l en-zh -tok zh < two.lines 2> err > got; is "$(cat err)" ""

# more draws than one batch has (32 MiB): what sacreBLEU 2.6.0 says of 1,200 lines
for f in hyp1 hyp2 ref0; do for i in {1..40}; do cat words/$f; done > many.$f; done
is "$(bleu many.ref0 -i many.hyp1 --confidence --confidence-n 12000 -b -f text -w 10)" \
    "72.6002990576 (μ = 72.6109320724 ± 3.1397472980)"
bleu many.ref0 -i many.hyp1 many.hyp2 --paired-ar --paired-ar-n 40000 > got
is "$(sed -n 's/.*"p_value": \(0.*\),/\1/p' got)" 0.29656758581035475
# means of 7 and of 9 resamples, which NumPy adds up in other ways; and of 2 to 80 the interval's
# ends: what sacreBLEU 2.6.0 says
hyps="words/hyp1 words/hyp2 words/ref1"
resampled() { bleu words/ref0 -i $hyps --paired-bs -f text -w 9 "$@" |
    sed -n 's/.*(\([0-9.]*\) ± \([0-9.]*\)).*/\1,\2/p' | paste -sd ,; }
while read -r n metric expected; do
    is "$(resampled --paired-bs-n $n -m $metric)" "$expected"
done <<'EOF'
7 bleu 72.417823409,9.465273824,72.700798033,8.738546438,73.463521292,6.664962696
9 bleu 72.039668513,9.465273824,72.242131736,8.738546438,73.550185348,6.664962696
7 ter 28.035360336,10.159270287,27.449312210,9.867433548,29.611675262,15.625000000
9 ter 27.614517212,10.159270287,26.818128586,9.867433548,29.186775208,15.625000000
EOF
while read -r n mean half; do
    is "$(bleu words/ref0 -i words/hyp1 -ci -cin $n -b -f text -w 10)" \
        "72.6002990576 (μ = $mean ± $half)"
done <<'EOF'
2 73.3658232506 0.3103606107
3 76.3954488425 4.6996186932
39 73.7989271000 20.0573182771
40 73.8841928059 15.1270166960
41 74.0909883205 15.1270166960
EOF
# a p of exactly 0.05 has its star, as sacreBLEU's table has; systems of standard input have numbers
# that begin behind the baseline
bleu words/ref0 -i words/hyp1 words/ref0 --paired-bs --paired-bs-n 19 -f text |
    has -F '(p = 0.0500)*' || fail "no star"
paste words/hyp1 words/hyp2 words/hyp2 | bleu words/ref0 --paired-ar --paired-ar-n 19 |
    grep '"system"' > got
printf '        "system": "%s",\n' Baseline 'System 1' 'System 2' > want; same got want
# multi-bleu.perl begins with a closest reference of 9999 tokens that is 9999 tokens away: of those
# that are as far away a shorter one counts, and none that is farther
far() { printf "x%.0s " $(seq $1) > far.h; printf "x%.0s " $(seq $2) > far.r
    bleu --multi far.r < far.h | sed 's/.*ref_len=//'; }
is "$(far 1 9998) $(far 1 10000) $(far 1 12000) $(far 10000 1) $(far 10001 1)" \
    "9998) 9999) 9999) 1) 9999)"
# on standard input alone a "\r" ends a line, as Python has it
printf 'a b c d\ne f g h\ni j k l\n' > r3
is "$(printf 'a b c d\re f g h\r\ni j k l' | bleu -b r3)" 100.0
printf 'a b c d\re f g h\r\ni j k l' > h3
fails 1 'h3 has 2 lines, but reference 1 .r3. has 3' bleu r3 -i h3

# gzip and zstd, and hypotheses from a file
gzip -k ref; zstd -q hyp; bleu ref.gz -i hyp.zst > two; bleu ref < hyp > one; same one two
# several systems on standard input, and several references in one file, separated by tabs
# no empty field
paste words/ref0 words/ref1 words/hyp1 words/hyp2 | grep -v -e '^	' -e '		' -e '	$' > full
for i in 1 2 3 4; do cut -f $i full > f$i; done
cut -f 3,4 full | bleu f1 -f text | has 'System 2' || fail "two systems on standard input"
cut -f 1,2 full > both; bleu --num-refs 2 both < f3 > one; bleu f1 f2 < f3 > two; same one two
# Windows line ends do not change a score
sed 's/$/\r/' words/hyp1 | bleu words/ref0 > one; bleu words/ref0 < words/hyp1 > two; same one two
# no match at some order, no match at all, an empty line
printf 'a b\n' > h; printf 'a b c d\n' > r
is "$(bleu --multi r < h)" \
    "BLEU = 0.00, 100.0/100.0/0.0/0.0 (BP=0.368, ratio=0.500, hyp_len=2, ref_len=4)"
is "$(printf 'q r\n' | bleu --multi r)" \
    "BLEU = 0.00, 0.0/0.0/0.0/0.0 (BP=0.368, ratio=0.500, hyp_len=2, ref_len=4)"
is "$(printf '\n' | bleu -b r)" 0.0
is "$(bleu -b -i r -- r)" 100.0 "a text against itself"
# ... and beside what sacreBLEU's 13a makes of it: the shortest and the longest characters of two,
# three and four bytes
printf 'ก,ข. 😀, न.ࠀ,\xef\xbf\xbf.𐀀,é.߿, x\n' > raw
printf 'ก , ข . 😀 , न . ࠀ , \xef\xbf\xbf . 𐀀 , é . ߿ , x\n' > cut
is "$(bleu -b cut < raw)" 100.0 "13a's tokens"
# environment of sacreBLEU
is "$(SACREBLEU_FORMAT=text bleu words/ref0 < words/hyp1 | cut -c1-5)" 'BLEU|'
SACREBLEU_SEED=7 bleu words/ref0 --confidence < words/hyp1 > one
bleu words/ref0 --confidence --seed 7 < words/hyp1 > two; same one two
! bleu words/ref0 --confidence < words/hyp1 | cmp -s - one || fail "another seed, the same interval"

bleu -l en-zh unicode/ref0 < unicode/hyp1 > one; bleu -tok zh unicode/ref0 < unicode/hyp1 > two
same one two
# sacreBLEU's option
fails 2 '^bleu: --no-color: .*NO_COLOR=1' bleu -nc x

# tokenised input is warned about once a hundred lines show it
for i in $(seq 100); do echo "this is line $i ."; done > tok
bleu tok < tok > out 2> err; grep -q "looks tokenised" err || fail "no warning"
is "$(wc -l < err)" 1
head -n 99 tok > t99; bleu t99 < t99 2> err > out; [ ! -s err ] || fail "a warning for 99 lines"
for i in {1..100}; do echo ' .'; done > dots; bleu dots < dots 2> err > out
has '100 lines end in' < err || fail "no warning of lines that are a full stop alone"
bleu --force tok < tok 2> err > out; [ ! -s err ] || fail "a warning with --force"

# Of a hypothesis without characters chrF++.py's smoothing takes 0 for orders that the reference
# has, and 1e-16 for those that neither has: here three of six (sacreBLEU 2.6.0 prints the same).
echo abc > three
is "$(echo | bleu three -m chrf --chrf-eps-smoothing -w 20 | sed -n 's/^ "score": //p')" 5e-15,
# TER's table has 2^27 cells: as many are filled, and every word of the reference is an edit
awk 'BEGIN { for (i = 0; i < 8191; i++) printf "a "; print "" }' > hyp.long
awk 'BEGIN { for (i = 0; i < 16383; i++) printf "b%d ", i; print "" }' > ref.long
is "$(bleu ref.long -m ter -b < hyp.long)" 100.0
sed 's/$/a/' hyp.long > hyp.longer
is "$(bleu ref.long -m ter -b < hyp.longer 2>&1 || true)" "bleu: line 1: 8192 words against 16383 \
are too many for TER's table; score shorter lines"

# what changes nothing is told, and the score is as without it
told() {
    is "$(bleu words/ref0 < words/hyp1 -b "${@:2}" 2> err)" \
        "$(bleu words/ref0 < words/hyp1 -b $plain 2> no)" "$2"
    is "$(sed 's/^bleu: *//' err)" "$1"
    [ ! -s no ] || { cat no; fail "told without a reason"; }
}
plain='-m chrf'
none='changes nothing: --metrics does not name bleu'
told "--lowercase $none" -lc -m chrf
told "--tokenize $none" -tok char -m chrf
told "$(printf -- "--smooth-method $none\n--smooth-value $none")" -s floor -sv 3 -m chrf
plain=
told '--chrf-beta changes nothing: --metrics does not name chrf' --chrf-beta 3
told '--ter-no-punct changes nothing: --metrics does not name ter' --ter-no-punct
told '--smooth-value changes nothing: it is of --smooth-method floor and add-k' -sv 3
told '--confidence-n changes nothing: it is of --confidence' -cin 3
told '--paired-bs-n changes nothing: it is of --paired-bs' -pbsn 3
told '--paired-ar-n changes nothing: it is of --paired-ar' -parn 3
told '--seed changes nothing: it is of --confidence, --paired-bs and --paired-ar' --seed 3

# what is wrong, in one line, and nothing on standard output
fails 1 'line|hyp' bleu words/ref0 -i tok
printf 'a\377b\n' > bad
bleu --multi bad < bad > out
is "$(bleu -b --replace-invalid bad < bad)" 0.0
fails 1 'twice' bleu r -i h h
fails 1 'two systems' bleu r --paired-bs -i h
fails 1 'one system' bleu r --confidence -i h r
printf 'a\tb\nc\n' > t; fails 1 't:2: 1 tab' bleu t --num-refs 2 -i h
fails 1 'reference 1 has only 1 lines' bleu --multi r -i tok
[ ! -s fails.out ] || fail "something was printed before an error"
seq 12000 | tr '\n' ' ' > long; fails 1 'line 1: 12000 words' bleu long -m ter -i long
is "$(bleu -b long -i long)" 100.0 "a line of 12000 words"
fails 2 'no reference' bleu
fails 2 'metric' bleu r -m meteor
fails 2 'seed' bleu r --seed x
fails 2 'tokenize' bleu r --tokenize mecab
fails 2 'exclude' bleu r --paired-bs --paired-ar -i h r
fails 2 'multi' bleu r --multi -sl
# what multi-bleu.perl has not, and would be passed over in silence
for other in '-w 4' -b '-f text' '--chrf-beta 3' --ter-normalized '--seed 3' --replace-invalid \
    '--smooth-value 1' '-l en-zh' '-nr 2' '-i h r'; do
    fails 2 '^bleu: --multi takes only -lc, one -i FILE and references' bleu r --multi $other
done
fails 2 '^bleu: --echo has no scores for --row$' bleu -t wmt14 -l en-de --echo src --row 1,a,b
