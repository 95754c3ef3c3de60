# cooc-count, cooc-merge and cooc-query: what they compute, and what they say when something is
# wrong.
. "$TOP/test/cli/lib.sh"
# What runs the programs may take memory of its own, MiB: AddressSanitizer, and an emulator, of
# which test/cross/run tells. Peaks are theirs then.
extra=${ISOGLOT_TEST_MEMORY:-0} M=$((24 + ${ISOGLOT_TEST_MEMORY:-0}))M
[ -z "${ISOGLOT_TEST_SANITIZED:-}" ] || extra=200 M=32M
tab=$(printf '\t')

# The paper's window: weights 1/2 and 1/3, never 0; equal words at two places add twice.
printf 'a b c\nb a a\n' > t
cooc-count -q -w 2 t > t.cooc
is "$(cooc-query --dump t.cooc)" "$(printf 'a\ta\t1\na\tb\t1.333333\na\tc\t0.333333\nb\tc\t0.5')"
is "$(cooc-query --dump --counts t.cooc)" "$(printf 'a\ta\t6\na\tb\t8\na\tc\t2\nb\tc\t3')"
is "$(cooc-query t.cooc b a)" 1.333333
is "$(cooc-query t.cooc c b)" 0.5
is "$(cooc-query t.cooc c)" "$(printf 'a\t0.333333\nb\t0.5')"
is "$(cooc-query --top 1 t.cooc c)" "$(printf 'b\t0.5')"
is "$(printf 'a b\nc c\nb  c\nx a\n' |
    cooc-query t.cooc)" "$(printf 'a\tb\t1.333333\nc\tc\t0\nb\tc\t0.5\nx\ta\t0')"
is "$(cooc-query --vocab t.cooc)" "$(printf 'a 3\nb 2\nc 1')"
is "$(cooc-query --min 0.6 --dump t.cooc)" "$(printf 'a\ta\t1\na\tb\t1.333333')"
is "$(cooc-query --mtx t.cooc)" "$(printf \
    '%%%%MatrixMarket matrix coordinate real symmetric\n'\
'3 3 4\n1 1 1\n2 1 1.333333\n3 1 0.333333\n3 2 0.5')"
# lengths of rows: a has b and c, these have a, and d none
printf 'a b\na b\na c\nd\n' | cooc-count -q -w 1 > few.cooc
is "$(cooc-query --stat few.cooc | sed -n '/^row/,$p')" \
    "$(printf '%s\t%s\n' 'row length' rows 0 1 1 2 2-3 1)"
# the vocabulary's hash is that of the example in docs/formats/cooc.md, which has this text
is "$(cooc-query --stat t.cooc | sed -n 1,9p)" "$(printf '%s\t%s\n' window 2 weights mlm-gc sides \
    symmetric oov gap unit 6 vocabulary 3 'vocabulary hash' fcf115883081592b reference - skipped -)"
cooc-count -q -w 4 --weights glove --right --oov collapse en=t | cooc-merge -q --normalize en - |
    cooc-query --stat - | sed -n '1,5p;8p' | cut -f 2 | tr '\n' ' ' > got
# unit: lcm of 1 to 4
is "$(cat got)" "4 glove right collapse 12 en "
cooc-query --stat t.cooc | grep \
    -q "^-${tab}2${tab}6${tab}0${tab}4${tab}2${tab}3.166667${tab}1.333333$"
# PPMI by hand: N = 1 + 2 (8/6 + 2/6 + 3/6) = 16/3; X_b = 11/6, X_c = 5/6: log(1/2 * 16/3 / (11/6 *
# 5/6))
is "$(cooc-query --ppmi t.cooc | tail -n 1)" "$(printf 'b\tc\t0.557015')"
# Log-likelihood ratios (Dunning 1993) by hand, 2 sum k log(k / expected) over the table of pairs
# with and without each word: of "a b" twice, "a c" and "d c", N = 8 pairs, a in 3, b in 2, c in 2,
# d in 1. a b: 2 1 0 5 against 3/4 9/4 5/4 15/4
printf 'a b\na b\na c\nd c\n' | cooc-count -q -w 1 --weights flat | cooc-query --llr - > llr
is "$(cat llr)" "$(printf 'a\tb\t5.178277\na\tc\t0.174253\nc\td\t3.255734')"
# what is rarer than chance is below 0: x and y once together, 4 times each beside z, of N = 20
# pairs
printf 'x y\nx z\nx z\nx z\nx z\ny z\ny z\ny z\ny z\nz z\n' | cooc-count -q -w 1 --weights flat |
    cooc-query --llr - |
    grep "^x${tab}y" > llr
# 2 (1 ln(1 / (25/20)) + 4 ln(4 / (75/20)) * 2 + 11 ln(11 / (225/20)))
is "$(cat llr)" "$(printf 'x\ty\t%s' "$(awk \
    'BEGIN { printf "%.6f", -2 * (log(0.8) + 8 * log(4 / 3.75) + 11 * log(11 / 11.25)) }')")"
# GloVe's records: both directions, ids from 1
is "$(cooc-query --glove t.cooc | od -An -td4 -w16 -j0 | awk '{ print $1, $2 }' |
    tr '\n' ,)" "1 1,1 2,2 1,1 3,3 1,2 3,3 2,"
is "$(cooc-query --glove t.cooc | od -An -tf8 -w16 -j0 | awk 'NR == 6 { print $2 }')" 0.5

# one side; unknown words leave a gap or vanish
printf 'a\nb\nc\n' > v
is "$(cooc-count -q -w 1 --left t |
    cooc-query --dump -)" "$(printf 'a\ta\t0.5\na\tb\t0.5\nb\ta\t0.5\nc\tb\t0.5')"
is "$(cooc-count -q -w 1 --right t |
    cooc-query --dump -)" "$(printf 'a\ta\t0.5\na\tb\t0.5\nb\ta\t0.5\nb\tc\t0.5')"
echo 'a x b' > u
is "$(cooc-count -q -w 2 --weights glove -v v u | cooc-query --dump -)" "$(printf 'a\tb\t0.5')"
is "$(cooc-count -q -w 2 --weights glove --oov collapse -v v u |
    cooc-query --dump -)" "$(printf 'a\tb\t1')"
is "$(cooc-count -q -w 2 --weights flat -v v u | cooc-query --dump -)" "$(printf 'a\tb\t1')"

# what a vocabulary leaves out is told: of 3 tokens 1, of 6 (two languages) 2; a word's counts are
# those of the language asked for
for oov in 'gap and only keep their place (--oov gap)' \
    'collapse and were taken out (--oov collapse)'; do
    cooc-count --oov "${oov%% *}" -v v u 2> note > got
    is "$(sed -n 2p note)" \
        "cooc-count: 1 of 3 tokens are not in the vocabulary ${oov#* }"
done
cooc-count -v v t 2> note > got; is "$(sed 's/peak .*//' note)" \
    "cooc-count: 6 tokens, 4 pairs; 0 runs of 0.0 MB on disk, "
echo 'b b x' > u2; cooc-count -v v en=u de=u2 2> note > two.cooc
is "$(sed -n 2p note | cut -d ' ' -f 2-5)" "2 of 6 tokens"
is "$(cooc-query --vocab --lang en two.cooc)" "$(printf 'a 1\nb 1\nc 0')"
is "$(cooc-query --vocab --lang de two.cooc)" "$(printf 'a 0\nb 2\nc 0')"
is "$(cooc-query --vocab two.cooc)" "$(printf 'a 1\nb 3\nc 0')"
printf 'a b\nx a\nb y\nx y\n' | cooc-query two.cooc 2> note | cut -f 3 | tr '\n' ' ' > got
is "$(cat got)" "0.333333 0 0 0 "
is "$(cat note)" \
    "cooc-query: 3 of 4 lines have a word that is not in the vocabulary of two.cooc: X is 0"
# what an option would not change is no answer to it
fails 2 'min-count 2 is for a vocabulary that is collected here' cooc-count -v v --min-count 2 t
cooc-count -q -v v --min-count 1 t > got
for how in "--dump t.cooc" "--ppmi t.cooc" "t.cooc a b" t.cooc; do
    fails 2 'top 2 needs one WORD' cooc-query --top 2 $how
done

for how in --raw --counts '--min 2'; do
    for what in stat vocab; do
        fails 2 "^cooc-query: ${how% *} is not for --$what, which prints no pairs\$" \
            cooc-query --$what $how t.cooc
    done
done
fails 2 'give only one of --stat, --dump' cooc-query --stat --vocab t.cooc
fails 2 'too many words: a' cooc-query --stat t.cooc a
fails 2 'too many words: c' cooc-query t.cooc a b c
fails 2 'cannot both come from standard input' cooc-query -
for line in a 'a b c' '' ' a b' 'a b '; do
    printf 'a b\n%s\n' "$line" > lines
    fails 1 '^cooc-query: standard input:2: expected two words' cooc-query t.cooc < lines
done

# --skip: "⇧ a ⇧ b" counts as "a b" does; the list is in the file, which is version 1 without one
printf '⇧ a ⇧ b ⇧\n⇧\na b b\n' > marked; printf 'a b\n\na b b\n' > plain
for v in "" "-v v"; do
    cooc-count $v --skip ⇧,⇪ marked > skip.cooc 2> note
    grep -q '^cooc-count: 5 tokens, .*' note; grep -q '4 tokens skipped' note ||
        fail "$(cat note)"
    cooc-count -q $v plain > plain.cooc
    is "$(cooc-query --dump --counts skip.cooc)" "$(cooc-query --dump --counts plain.cooc)"
    is "$(cooc-query --stat skip.cooc | grep -v ^skipped)" "$(cooc-query --stat plain.cooc |
        grep -v ^skipped)"
    is "$(cooc-query --vocab skip.cooc)" "$(cooc-query --vocab plain.cooc)"
    is "$(cooc-query --stat skip.cooc | grep ^skipped)" "skipped${tab}⇧,⇪"
    is "$(cooc-query --stat plain.cooc | grep ^skipped)" "skipped${tab}-"
    is "$(head -c 9 skip.cooc | od -An -tu1 -j8 | tr -d ' ') $(head -c 9 plain.cooc |
        od -An -tu1 -j8 | tr -d ' ')" "2 1"
    fails 1 'plain.cooc: skips nothing, but skip.cooc skips ⇧,⇪' cooc-merge skip.cooc plain.cooc \
        -o no
    cooc-merge skip.cooc skip.cooc | cooc-query --stat - | has "^skipped${tab}⇧,⇪"
done
cooc-count -q --skip ⇪ --skip ⇧ marked > got; cooc-count -q --skip ⇧,⇪,⇧ plain > want; same got want
is "$(printf 'a , b\n' | cooc-count -q -w 1 --skip , | cooc-query --dump -)" "$(printf 'a\tb\t0.5')"
fails 2 'empty token' cooc-count --skip a,,b marked
[ ! -e no ] || fail "a merged file"

# the same bytes from a pipe, gz, zst, split, either order, -o, without a last newline, from shards
awk 'BEGIN { srand(3); for (i = 0; i < 20000; i++) { s = "";
    for (k = rand() * 30; k > 0; k--) s = s " w" int(exp(rand() * 8)); print substr(s, 2) } }' > big
cooc-count -q big > want
cooc-count -q < big | cmp - want; cat big | cooc-count -q - -o got; same got want
gzip -k big; cooc-count -q big.gz > got; same got want
split -n l/3 big part.; cooc-count -q part.ac part.aa part.ab > got; same got want
cooc-query --vocab want > big.v
cooc-count -q -v big.v --memory $((16 + extra))M --threads 1 big -o got
same got want
head -c -1 big > unended; cooc-count -q -v big.v unended > got; same got want
binarize -v big.v -l en < big > big.shd; cooc-count -q -v big.v en=big > en.cooc
cooc-count -q -v big.v big.shd > got; same got en.cooc
cooc-count -q -v big.v --shards en=- < big.shd > got; same got en.cooc

# memory is what was said: 4 M tokens in 24 MB, many runs, and the runs leave nothing behind
mkdir tmp; for i in 1 2 3 4 5 6 7 8 9 10 11 12; do cat big; done > bigger
cooc-count -v big.v -w 5 --memory $M --threads 2 --tmp tmp bigger > got 2> note
runs=$(sed 's/.*; \([0-9]*\) runs.*/\1/' note); peak=$(sed 's/.*memory \([0-9]*\) MiB/\1/' note)
[ "$runs" -gt 2 ] || fail "only $runs runs"
[ "$peak" -le 24 ] || [ "$extra" != 0 ] || fail "peak $peak MiB of 24"
is "$(ls -A tmp)" ""
cooc-count -q -v big.v -w 5 bigger > want5; same got want5
cooc-count -q -v big.v -w 5 --memory $M --batch-size 2 --tmp tmp bigger > got; same got want5
fails 1 'memory .* too little .* give at least' cooc-count -v big.v --memory 1M big

# merging: any order and grouping, planes apart, the reference recorded
for i in aa ab ac; do cooc-count -q -v big.v en=part.$i > $i.cooc; done
cooc-merge aa.cooc ab.cooc ac.cooc | cmp - en.cooc
cooc-merge ac.cooc aa.cooc > x.cooc; cooc-merge x.cooc ab.cooc -o got; same got en.cooc
cooc-count -q -v big.v de=part.aa > de.cooc
cooc-merge --normalize en de.cooc en.cooc > a; cooc-merge en.cooc de.cooc |
    cooc-merge --normalize en - > b; same a b
cooc-count -q -v big.v en=big de=part.aa > c; cooc-merge en.cooc de.cooc | cmp - c
n() { cooc-query --stat a | awk -v l=$1 '$1 == l { print $3 }'; }
x=$(cooc-query --lang de a w1 w2); y=$(cooc-query --lang en a w1 w2)
is "$(cooc-query a w1 w2)" "$(awk -v x=$x -v y=$y -v e=$(n en) -v d=$(n de) \
    'BEGIN { printf "%.6f", y + x * e / d }' | sed 's/0*$//;s/\.$//')"
is "$(cooc-query --raw a w1 w2)" "$(awk -v x=$x -v y=$y 'BEGIN { printf "%.6f", x + y }' |
    sed 's/0*$//;s/\.$//')"
# the files of a merge are read through, not kept
for i in $(seq 40); do echo want5; done > list; total=$(($(wc -c < want5) * 40 / 1048576))
cooc-merge --memory 16M $(cat list) 2> note > forty; grep -q '^cooc-merge: 40 files; peak' note
peak=$(sed 's/.*memory \([0-9]*\) MiB/\1/' note)
[ "$extra" != 0 ] || { [ "$total" -gt 40 ] && [ "$peak" -lt 30 ]; } ||
    fail "peak $peak MiB for $total MiB of files"
is "$(cooc-query --counts forty w1 w2)" $((40 * $(cooc-query --counts want5 w1 w2)))
# 250,000 words take 12 bytes of each of 2 threads, and 8 more: 8,000,000 are 7.6 MiB
seq 250000 > quarter.v; echo '1 2' | cooc-count -q -v quarter.v > quarter.cooc
fails 1 '^cooc-merge: --memory 7M is too little for 250000 words and 2 threads; .* at least 8M$' \
    cooc-merge --memory 7M --threads 2 quarter.cooc
cooc-merge -q --memory 8M --threads 2 quarter.cooc | cmp - quarter.cooc
fails 1 'its vocabulary is not that of' cooc-merge t.cooc en.cooc
cooc-count -q -v big.v -w 3 en=part.aa > w3.cooc
fails 1 'window 3, but 2' cooc-merge en.cooc w3.cooc
fails 1 'no file has counts of "fr"' cooc-merge --normalize fr en.cooc
cooc-merge --normalize de de.cooc > de.ref; cooc-merge --normalize en en.cooc > en.ref
fails 1 'its reference language' cooc-merge en.ref de.ref
# a pair that doubles 62 times leaves 63 bits: refused, not wrapped
cooc-count -q -w 20 -v v t > d0
k=0; while cooc-merge d0 d0 > d1 2> err; do mv d1 d0; k=$((k + 1)); [ $k -lt 64 ] ||
    fail "no end to doubling"; done
grep -q 'above 2^63 - 1' err; [ $k -gt 30 ] || fail "only $k doublings"
cooc-query --counts --top 1 d0 a > /dev/null

# what is not text, not there, not whole
printf 'a b\nc \377 d\n' > bad; fails 1 'bad:2: byte 3 is not UTF-8; run iconv' cooc-count bad
fails 1 'bad:2: byte 3 is not UTF-8; run iconv' cooc-count -v v bad
printf 'a b\nc\0d\n' > bad; fails 1 'bad:2: byte 2 is a NUL' cooc-count -v v bad
fails 1 'standard input:2: byte 2 is a NUL' cooc-count < bad
fails 1 '^cooc-count: /[a-z0-9/]*:2: byte 2 is a NUL' cooc-count <(cat bad)
printf 'a b\n' | gzip > whole.gz; head -c 20 whole.gz > bad
fails 1 'standard input: the gzip data ends too early' cooc-count < bad
fails 1 'is a shard, whose ids mean nothing' cooc-count big.shd
fails 1 'no-such-folder' cooc-count -v big.v --memory $M --tmp no-such-folder bigger
fails 2 'does not fit' cooc-count -w 30 t
fails 2 'only one of' cooc-count --left --right t
# an option that nothing would obey
fails 2 'shards is for standard input, which is no input here' cooc-count -v v --shards t
fails 2 'shards needs -v' cooc-count --shards < t
: > empty
head -c 5000 want > cut; fails 1 'cut: byte .*no footer' cooc-query --stat cut
fails 1 'cut: byte .*no footer' cooc-merge want cut
for at in 20 200 4000 60000; do
    cp want flip; printf '\125' | dd of=flip bs=1 seek=$at conv=notrunc status=none
    cmp -s want flip && continue
    fails 1 "flip: byte [0-9]+: " cooc-query --dump -o flip.out flip; [ ! -e flip.out ] ||
        fail "half an output"
done
fails 1 '"nope" is not in the vocabulary' cooc-query want nope w1
fails 1 'no counts of language "xx"' cooc-query --lang xx want w1 w2
# an empty text has an empty matrix
cooc-count -q -v v empty > e.cooc; is "$(cooc-query --dump e.cooc)" ""
cooc-count -q empty > e2.cooc; cooc-query --stat e2.cooc > /dev/null

# a --tmp that fills up (a limit on the size of files stands for it)
( trap '' XFSZ; ulimit -f 200; ! cooc-count -q -v big.v -w 5 --memory $M --tmp tmp bigger 2> err |
    cat > /dev/null ); grep -q -- '--tmp' err || { cat err; fail "full --tmp"; }

# a signal in any phase leaves nothing: no output, no temporary file
mkfifo pipe
for sig in INT TERM; do for how in "" "-v big.v"; do
    (trap - INT; exec env -u IGNORED bash -c 'trap - INT TERM; exec "$@"' - cooc-count -q $how \
        --memory $M --tmp tmp -o killed pipe) 2> /dev/null & pid=$!
    exec 7> pipe; cat bigger >&7; sleep 0.2; kill -$sig $pid; exec 7>&-; wait $pid &&
        fail "status 0 after $sig" || true
    is "$(ls -A tmp)" ""; [ ! -e killed ] || fail "an output after $sig"; is "$(ls -A |
        grep killed || true)" "" "a temporary output after $sig"
done; done
