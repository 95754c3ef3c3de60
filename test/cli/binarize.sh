# binarize: the ids of awk, the same bytes and messages with any number of threads, whatever the
# text is like and wherever it comes from.
. "$TOP/test/cli/lib.sh"
sha() { sha256sum | cut -c1-64; }
# words of 1 to 20 bytes, a third of them unknown; lines of 0 to 60; runs of spaces; some tabs
awk 'BEGIN {
    srand(7); letters = "etaoinshrdlucmfwypvbgkqjxz"
    for (i = 0; i < 9000; i++) {
        w = ""; n = 1 + int(20 * rand() * rand())
        for (j = 0; j < n; j++) w = w substr(letters, 1 + int(26 * rand() * rand()), 1)
        word[i] = i % 11 ? w : w "é\t" i
    }
    for (l = 0; l < 30000; l++) {
        line = ""; n = int(60 * rand() * rand())
        for (k = 0; k < n; k++)
            line = line (rand() < 0.03 ? "  " : k ? " " : "") word[int(9000 * rand() * rand())]
        print line
    }
}' > text
awk '{ n = split($0, w, " +"); for (i = 1; i <= n; i++) if (w[i] != "") c[w[i]]++ }
     END { for (x in c) print x, c[x] }' text | LC_ALL=C sort -k2,2nr -k1,1 | awk 'NR % 3' > vocab

# the numbers that the lines of a file have by awk
ids() {
    awk 'NR == FNR { sub(/ [0-9]+$/, ""); id[$0] = NR + 4; next }
        { gap = ""
          for (i = 1; i <= NF; i++)
              if ($i != "") { printf "%s%d", gap, $i in id ? id[$i] : 3; gap = " " }
          print "" }' FS=" " vocab FS=" +" "$1"
}
# same_for FILE...: the same shard from files and a pipe, with 1, 2 and 3 threads; into x.shd
same_for() {
    local t b="binarize -q --max-unknown 1 --block-tokens 3000 -v vocab"
    $b --threads 1 -o x.shd "$@"
    for t in 2 3; do
        $b --threads $t "$@" | cmp - x.shd || fail "$* with $t threads"
        [ $# != 1 ] || cat "$1" | $b --threads $t | cmp - x.shd ||
            fail "a pipe of $* with $t threads"
    done
    shard check x.shd
}

echo "# ids"
same_for text
shard cat --ids x.shd | cmp - <(ids text)
is "$(shard info x.shd | awk '$1 == "blocks"{ print ($2 > 10) }')" 1 "several blocks"
gzip -c text > text.gz; zstd -q text -o text.zst
cp x.shd plain.shd
for z in text.gz text.zst; do same_for $z; same x.shd plain.shd; done

echo "# empty, lines without tokens, no final newline, a line of many blocks, a long word"
: > empty; printf '\n\n   \n \n' > blank; head -c 70000 text > cut
is "$(tail -c 1 cut | wc -l)" 0
{ head -n 99 text; head -n 9000 text | tr '\n' ' '; echo; head -n 99 text; } > huge
{ echo "a b"; head -c 3000000 /dev/zero | tr '\0' x; printf ' b\nb'; } > word
for f in empty blank cut huge word; do
    same_for $f
    shard cat --ids x.shd | cmp - <(ids $f)
done
same_for cut text blank huge cut
shard cat --ids x.shd | cmp - <(for f in cut text blank huge cut; do ids $f; done)

echo "# an error in the middle: the same line, and nothing written"
head -n 20000 text > bad; printf 'ok then \303\050 no\n' >> bad; cat text >> bad
head -c 40000 text.zst > torn.zst
{ head -n 5000 text; head -c 200000 /dev/zero | tr '\0' y; echo; cat text; } > long
head -c 60000 text.gz > torn.gz
for t in 1 2 3; do
    b="binarize -q --max-unknown 1 --threads $t --block-tokens 3000 -v vocab"
    fails 1 '^binarize: bad:20001: byte 9 is not UTF-8; run iconv or pass --replace-invalid$' \
        $b -o out bad
    fails 1 '^binarize: standard input:20001: byte 9 is not UTF-8; ' $b -o out < bad
    fails 1 '^binarize: bad:20001: byte 9 ' $b -o out text bad missing
    fails 1 '^binarize: missing: cannot be opened' $b -o out text missing bad
    fails 1 '^binarize: long:5001: a line of more than 100000 bytes; ' \
        $b --max-line 100000 -o out long
    fails 1 '^binarize: torn.gz: the gzip data ends too early, at byte 60000; ' $b -o out torn.gz
    fails 1 '^binarize: torn.zst: the zstd data ends too early, at byte 40000; ' $b -o out torn.zst
    [ ! -e out ] || fail "an output is left"
    $b --replace-invalid bad | sha
done > replaced
is "$(uniq replaced | wc -l)" 1 "replaced"

echo "# memory does not grow with the text"
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do cat text; done > twelve
limit=60000; [ -z "${ISOGLOT_TEST_SANITIZED:-}" ] || limit=unlimited    # ASan's shadow is larger
(ulimit -v $limit; binarize -q --max-unknown 1 --threads 2 --block-tokens 3000 -v vocab -o x.shd \
    twelve)
shard info x.shd | has -x "  sentences  $((12 * $(wc -l < text)))"
same <(shard info - < x.shd | sed 1d) <(shard info x.shd | sed 1d)

# options of cat are for cat, and ids need no vocabulary
for w in '-v vocab' --ids --npy '-o no'; do
    for what in info check; do
        fails 2 '--vocab, --ids, --npy and --output are for cat' shard $what $w none.shd
    done
done
fails 2 '--ids writes ids: without --vocab' shard cat --ids -v vocab none.shd
fails 2 '--npy writes ids: without --vocab' shard cat --npy -v vocab -o no none.shd
[ ! -e no ] || fail "info wrote a file"
