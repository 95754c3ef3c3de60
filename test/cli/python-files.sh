# Files for Python: byte for byte what scipy.sparse.save_npz and numpy.save write of the same text's
# counts and ids (test/golden/npy.py), with the words and the sentences' places beside them.
. "$TOP/test/cli/lib.sh"
gold=$TOP/test/golden/npy
cooc-count -q -w 3 "$gold/text" > both.cooc
cooc-count -q -w 3 --left "$gold/text" > left.cooc

matrix() {      # NAME OPTION...: as gold's NAME.npz
    cooc-query --npz "${@:2}" -o got.npz
    same got.npz "$gold/$1.npz"; same got.npz.words "$gold/words"
}
matrix both both.cooc
matrix counts --counts both.cooc
matrix left left.cooc
matrix at-least --min 0.75 both.cooc
# counts from a pipe, a matrix into one, where the words are what --vocab prints
cooc-query --npz - < both.cooc | cmp - "$gold/both.npz"
cooc-query --vocab both.cooc | cut -d ' ' -f 1 | cmp - "$gold/words"

# two languages: X is weighted by c_lang, as in GloVe's records, which are the same numbers in
# another order: the file has them row by row
vocab-count "$gold/text" > v
for l in en de; do cooc-count -q -w 3 -v v $l="$gold/text" > $l.cooc; done
printf 'old sea\n' | cooc-count -q -w 3 -v v fr=- > fr.cooc
cooc-merge --normalize en en.cooc de.cooc fr.cooc > all.cooc
cooc-query --npz all.cooc -o all.npz
n=$(($(cooc-query --glove all.cooc | wc -c) / 16))
values() { od -An -v -tf8 -w"$1" | awk '{ print $NF }'; }
cooc-query --glove all.cooc > records
paste -d ' ' <(od -An -v -td4 -w16 records) <(values 16 < records) | sort -n -k 1,1 -k 2,2 |
    awk '{ print $NF }' > want
at=$(($(LC_ALL=C grep -abo data.npy all.npz | awk -F : 'NR == 1 { print $1 }') + 8 + 20 + 128))
od -An -v -tf8 -w8 -j $at -N $((8 * n)) all.npz | awk '{ print $1 }' | cmp - want
cooc-query --npz --lang de all.cooc -o got.npz; same got.npz "$gold/both.npz"

# no pairs at all; a disk without room; a terminal's words
: | cooc-count -q -w 3 -v v > none.cooc
cooc-query --npz none.cooc -o none.npz
LC_ALL=C grep -aq "'shape': (0,)" none.npz; same none.npz.words "$gold/words"
fails 1 'no/x.npz: cannot create' cooc-query --npz both.cooc -o no/x.npz
fails 1 'temporary file.*TMPDIR' env TMPDIR=/nowhere cooc-query --npz both.cooc -o x.npz
fails 2 'only one of' cooc-query --npz --mtx both.cooc
mkdir x.npz.words
fails 1 'x.npz.words: ' cooc-query --npz both.cooc -o x.npz
[ ! -e x.npz ] || fail "half a pair was left"

# ids, and where sentences begin: several shards are one array
binarize -q -v v -l en < "$gold/text" > en.shd 2> note
shard cat --npy -o ids.npy en.shd
same ids.npy "$gold/ids.npy"; same ids.npy.offsets "$gold/ids.npy.offsets"
head -n 2 "$gold/text" | binarize -q -v v -l en > 1.shd
tail -n 3 "$gold/text" | binarize -q -v v -l en > 2.shd
shard cat --npy -o ids.npy 1.shd - < 2.shd
same ids.npy "$gold/ids.npy"; same ids.npy.offsets "$gold/ids.npy.offsets"
# ids of more than 65,536 entries have four bytes each
seq 100000 | sed 's/$/ 1/' > large
echo '3 100000 1' | binarize -q -v large -l en | shard cat --npy -o large.npy -
is "$(tail -c 12 large.npy | od -An -tu4)" "$(printf '%11d%11d%11d' 7 100004 5)"
LC_ALL=C grep -aq "'<u4'.*(3,)" large.npy
# of 65,536 entries two are enough: the last id is 65535
seq 65531 | sed 's/$/ 1/' > full
echo '3 65531' | binarize -q -v full -l en | shard cat --npy -o full.npy -
is "$(tail -c 4 full.npy | od -An -tu2)" "$(printf '%6d%6d' 7 65535)"
LC_ALL=C grep -aq "'<u2'.*(2,)" full.npy
printf '3\n' > w; echo 3 | binarize -q -v w -l en > other.shd
fails 1 'en.shd: its vocabulary is not that of other.shd' shard cat --npy -o n.npy other.shd en.shd
fails 2 'give --output FILE' shard cat --npy en.shd
fails 2 'without --vocab' shard cat --npy -v v -o n.npy en.shd
head -c 300 en.shd > cut.shd
fails 1 'cut.shd: ' shard cat --npy -o n.npy cut.shd
[ ! -e n.npy ] && [ ! -e n.npy.offsets ] || fail "half a pair was left"
# the last ids, which wait in memory until the array is put together, find no room on the disk
awk 'BEGIN { for (i = 0; i < 4000; i++) printf "3%s", i % 20 == 19 ? "\n" : " " }' |
    binarize -q -v w -l en > long.shd
mkfifo pipe pipe.offsets
cat pipe > got & first=$!; cat pipe.offsets > got.offsets & second=$!
fails 1 'cannot write a temporary file' \
    bash -c "trap '' XFSZ; ulimit -f 7; exec shard cat --npy -o pipe long.shd"
wait $first $second
