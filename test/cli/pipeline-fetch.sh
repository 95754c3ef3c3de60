# Getting data: a file is what its SHA-256 says, from wherever it comes; and when it cannot be had,
# one line says what to do.
. "$TOP/test/cli/lib.sh"
unset CORPUS_CACHE
export ISOGLOT_DOWNLOADS=$PWD/data
fetch=$TOP/pipelines/fetch
mkdir mirror cache
printf 'ein Satz\nnoch einer\n' > text; gzip -nc text > mirror/text.gz
echo "something else" > mirror/other
tar -cf mirror/all.tar text
sha=$(sha256sum < text | cut -d' ' -f1)
row() { printf '%s\t' "$@" | sed 's/\t$//'; echo; }
{ echo "# a comment"
  row corpus/text $sha "file://$PWD/nowhere/text.gz" "file://$PWD/mirror/text.gz"
  row corpus/wrong $sha "file://$PWD/mirror/other"
  row corpus/member $sha "file://$PWD/mirror/all.tar#text"
  row corpus/gone $sha "file://$PWD/nowhere/a" "file://$PWD/nowhere/b"; } > sources

# the second address when the first is gone; unpacked; kept for the next time
"$fetch" sources corpus/text > got 2> err; same got text
same data/corpus/text text
mv mirror/text.gz away.gz
"$fetch" sources corpus/text > got; same got text
echo x >> data/corpus/text
"$fetch" sources corpus/text > got 2> err && fail "damaged data taken"
mv away.gz mirror/text.gz
"$fetch" sources corpus/text > got 2> err; same got text
"$fetch" sources corpus/member > got 2> err; same got text

# an archive is fetched once for all that is in it; a file in a tar in a zip, those that fit a
# pattern, xz
mkdir deep; echo zwei > two; tar -czf deep/de.tar.gz two
tar -czf mirror/tree.tgz text two
{ row deep/two - "file://$PWD/mirror/deep.zip#de.tar.gz#two"
  row deep/both - "file://$PWD/mirror/tree.tgz#t*"
  row deep/text - "file://$PWD/mirror/tree.tgz#text"
  row deep/xz $sha "file://$PWD/mirror/text.xz"; } >> sources
if command -v zip > /dev/null && command -v unzip > /dev/null; then
    (cd deep; zip -q ../mirror/deep.zip de.tar.gz)
    "$fetch" sources deep/two > got; same got two
fi
"$fetch" sources deep/both > got; cat text two > both; same got both
rm mirror/tree.tgz
"$fetch" sources deep/text > got; same got text
if command -v xz > /dev/null; then
    xz -c text > mirror/text.xz
    "$fetch" sources deep/xz > got; same got text
fi

# what a killed one left goes with the next, and what one at work has does not
rm data/corpus/text; echo half |
    tee data/corpus/text.tmp.killed > data/corpus/text.tmp.killed.get
    echo half > data/corpus/text.tmp.atwork
exec 7>> data/corpus/text.tmp.atwork; flock 7
"$fetch" sources corpus/text > got; same got text
is "$(echo $(ls data/corpus))" "member text text.tmp.atwork"
exec 7>&-
rm data/corpus/text; "$fetch" sources corpus/text > got
is "$(echo $(ls data/corpus))" "member text"

# a file with another hash is refused, and nothing is written
"$fetch" sources corpus/wrong > got 2> err && fail "a wrong file was taken"
[ ! -s got ] || fail "half a file"
grep -q 'has another SHA-256' err || fail "$(cat err)"
[ ! -e data/corpus/wrong ]

# CORPUS_CACHE: plain, gzip, zstd; never the network; a wrong file there is an error
mkdir -p cache/corpus; cp mirror/text.gz cache/corpus/gone.gz
CORPUS_CACHE=cache "$fetch" sources corpus/gone > got 2> err; same got text; is "$(cat err)" ""
echo changed > cache/corpus/gone
fails 1 'cache/corpus/gone is not the file this needs .SHA-256 of its text should be '$sha env \
    CORPUS_CACHE=cache "$fetch" sources corpus/gone
rm cache/corpus/gone*

# neither network nor copy: the last line says which file, from where, and what to do
"$fetch" sources corpus/gone > got 2> err && fail "what is not there was got"
tail -n 1 err | grep \
    -q "^fetch: corpus/gone: could not be had from file://$PWD/nowhere/a or $(
        )file://$PWD/nowhere/b; .* CORPUS_CACHE=<folder> with corpus/gone in it$" ||
    fail "$(cat err)"
fails 1 'corpus/unknown: is not in sources' "$fetch" sources corpus/unknown

# every file that the experiments name is in the table, with two addresses and a hash
for x in unmt-deen mt-deen analysis-deen; do
    TOP=$TOP EXPERIMENTS=$TOP/pipelines/experiments SCALE=smoke SEEDS=1 DEVICE=auto \
        "$TOP/pipelines/plan" $x
done > plans
A=en B=fr TOP=$TOP EXPERIMENTS=$TOP/pipelines/experiments SCALE=smoke SEEDS=1 DEVICE=auto \
    "$TOP/pipelines/plan" unmt-deen >> plans
grep -oE '/sources.tsv [a-z0-9]+/[A-Za-z0-9_.-]+' plans | cut -d' ' -f2 | sort -u > named
[ "$(wc -l < named)" = 15 ] || fail "texts that are named: $(cat named)"
for n in $(cat named); do
    awk -F'\t' -v n="$n" '$1 == n && length($2) == 64 && NF >= 4 { ok = 1 } END { exit !ok }' \
        "$TOP/pipelines/sources.tsv" || fail "$n in sources.tsv"
done
