# ngrams: counts and scores are those of a Python program that writes out every cut, whatever memory
# and threads.
. "$TOP/test/cli/lib.sh"
g=$TOP/test/golden/ngrams

echo "# by hand: p(a b) = 3/7, p(a) = p(b) = 3/8, ln(3/7 / (9/64)) = ln 3.047619"
is "$(echo 'a b a b a b c d' | ngrams -q -n 2 --min-count 3 --top 0)" "$(printf '1.114361\t3\ta b')"
# N_1 = 6, N_2 = 1 + 3: "b c" crosses a line and is none; c d: 1/4 / (1/6)^2, a b: 2/4 / (2/6)^2, d
# a: 1/4 / (1/6 * 2/6)
is "$(printf 'a b\nc d a b\n' | ngrams -q -n 2 --top 0 --min-count 1)" \
    "$(printf '2.197225\t1\tc d\n1.504077\t2\ta b\n1.504077\t1\td a')"
# equal scores by the bytes of the whole n-gram: a tab is less than the space behind a word, the end
# of the last word less than both
is "$(printf 'a z\na\tb z\nz a\nz a\tb\n' | ngrams -q -n 2 --top 0 --min-count 1 | cut -f 3- |
    tr '\t' _)" "$(printf 'a_b z\na z\nz a\nz a_b')"
printf 'a b\nc d a b\n' | ngrams -n 2 --top 0 --min-count 1 2>&1 > got | has \
    '^ngrams: 6 tokens, 4 different; 3 n-grams of 2 to 2 words cover 100.0% of the tokens; 0 runs'

echo "# a collocation scores log(1 / p(its first word)); an independent third word adds nothing"
awk 'BEGIN { srand(1); for (i = 0; i < 3000; i++) { s = ""; for (k = 0; k < 40; k++)
    s = s (k == 20 ? " new york" : "") " f" int(rand() * 9); print s } }' > ny
ngrams -q -n 2-3 --top 0 ny > got
# one of 41 pairs of a line; either word is one of its 42
is "$(awk -F'\t' '$3 == "new york" { print $1 }' got)" "$(awk \
    'BEGIN { printf "%.6f", log(42 * 42 / 41) }')"
# log p / (p p p) of "new york f1" is about 3.7; its least cut is "new york | f1"
awk -F'\t' '$3 ~ /^new york f/ { n++; if ($1 > 0.25 || $1 < -0.1) exit 1 } END { exit n != 9 }' \
    got || fail "new york f"

echo "# all of it, as Python counts it"
ngrams -q -n 2-6 --min-count 2 --top 0 "$g/text" > got; same got "$g/all.tsv"
ngrams -q --min-count 4 --top 0 en="$g/text" > got; same got "$g/pmi.tsv"
ngrams -q -n 3-4 --min-count 3 --top 0 --score pmi2 < "$g/text" > got; same got "$g/pmi2.tsv"

echo "# --cover is the smallest list that covers so much; --top has its shares; 1 or 3 files"
ngrams --min-count 4 "$g/text" -o got 2> note; same got "$g/cover.tsv"
is "$(sed 's/.*different; \(.*\) n-grams of 2 to 5.*/\1/' note)" "$(cut -f 3- got |
    awk '{ n[gsub(/ /, "")]++ } END { print n[1] ", " n[2] ", " n[3] ", " n[4] }')"
share=$(sed -n 's/.* cover \([0-9.]*\)% .*/\1/p' note)
awk -v s="$share" 'BEGIN { exit !(s >= 50) }' || fail "covers $share"
ngrams -q --min-count 4 --top 40 "$g/text" > got
is "$(cut -f 3- got | awk '{ n[gsub(/ /, "")]++ } END { print n[1], n[2], n[3], n[4] }')" \
    "20 10 5 5"
for k in 2 3 4 5; do
    awk -v k=$k \
        '{ s = $0; if (gsub(/ /, "", s) == k - 1 && n++ < (k < 4 ? 80 / 2 ^ k : 5)) print }' \
            "$g/pmi.tsv"
done > want
same got want
split -n l/3 "$g/text" part.
ngrams -q --min-count 4 part.aa part.ab part.ac > got; same got "$g/cover.tsv"
zstd -q "$g/text" -o text.zst; cat text.zst | ngrams -q --min-count 4 > got; same got "$g/cover.tsv"

# blocks of 65,536 words and line ends: their borders fall behind every word of some line
awk 'BEGIN { for (i = 0; i < 60000; i++) print "a b c d" }' > long
for t in 1 2; do
    is "$(ngrams -q --threads $t -n 2-4 --top 0 long | cut -f 2,3 | sort)" "60000	a b
60000	a b c
60000	a b c d
60000	b c
60000	b c d
60000	c d"
done

echo "# any memory and number of threads give the same bytes, and memory is what was said"
awk 'BEGIN { srand(2); for (i = 0; i < 90000; i++) { s = "";
    for (k = 0; k < 20; k++) s = s " w" int(exp(rand() * 7.6)); print s } }' > big
ngrams -q --threads 1 big > want
M=24; [ -z "${ISOGLOT_TEST_SANITIZED:-}" ] || M=256
for cover in 0.1 0.3; do
    ngrams --cover $cover big 2>&1 > got | sed 's/.* cover \([0-9.]*\)% .*/\1/' |
        awk -v c=$cover '{ exit !($1 >= 100 * c - 0.05 && $1 < 100 * c + 1) }' ||
            fail "--cover $cover"
done
mkdir tmp
for t in 1 2; do
    ngrams --threads $t --memory ${M}M --tmp tmp big > got 2> note; same got want
    runs=$(sed 's/.*; \([0-9]*\) runs.*/\1/' note); peak=$(sed 's/.*memory \([0-9]*\) MiB/\1/' note)
    [ -n "${ISOGLOT_TEST_SANITIZED:-}" ] || [ "$runs" -gt 4 ] || fail "only $runs runs"
    [ -n "${ISOGLOT_TEST_SANITIZED:-}" ] || [ "$peak" -le $M ] || fail "peak $peak MiB of $M"
    is "$(ls -A tmp)" ""
done

echo "# bad input"
fails 1 'memory .*M is too little .* give at least' ngrams --memory 2M big -o no
fails 1 'different words do not fit in --memory' ngrams --memory 2M <(seq 300000) -o no
printf 'a b\nc \377 d\n' > bad; fails 1 'bad:2: byte 3 is not UTF-8' ngrams bad -o no
fails 1 'none: ' ngrams none -o no
fails 1 'a list has one language' ngrams en=big de=big -o no
for n in 1 1-3 3-2 2-9 x 2- 4294967298 2-4294967299 3,5 "3 5" 3x; do
    fails 2 'expected A-B' ngrams -n "$n" big
done
fails 2 'standard input can be given only once' ngrams - en=-
fails 2 '^ngrams: --cover is the number without --top' ngrams --top 5 --cover 0.2 big
fails 1 'cannot|No such' ngrams --tmp nowhere big -o no
[ ! -e no ] || fail "something was written"
is "$(ngrams -q < /dev/null)" ""
