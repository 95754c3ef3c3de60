# Bad input to cooc-count and cooc-merge: very long lines and words, very large counts, damaged
# files. Messages say which file and where in it.
. "$TOP/test/cli/lib.sh"
M=24M; [ -z "${ISOGLOT_TEST_SANITIZED:-}" ] || M=40M
peak() { sed 's/.*memory \([0-9]*\) MiB/\1/' note; }
below() { [ -n "${ISOGLOT_TEST_SANITIZED:-}" ] || [ "$(peak)" -le "$1" ] ||
    fail "peak $(peak) MiB of $1"; }
printf 'a\nb\nc\n' > v

# A line of 100 MB is one sentence, and needs no more memory than short ones: n times "a b c ", then
# "a".
n=16666666
awk -v n=$n 'BEGIN { for (i = 0; i < n; i++) printf "a b c "; print "a" }' > line
cooc-count -v v -w 2 --weights flat --memory $M --threads 2 line 2> note > line.cooc; below 24
# n times each: a b, b c, c a next to each other; a c and b a two apart, and n - 1 times c b
is "$(cooc-query --dump --counts line.cooc)" "$(printf 'a\tb\t%d\na\tc\t%d\nb\tc\t%d' $((2 * n)) \
    $((2 * n)) $((2 * n - 1)))"
# the vocabulary collected, from a pipe
cooc-count -w 2 --weights flat --memory $M --threads 2 2> note < line > line2.cooc; below 24
is "$(cooc-query --dump --counts line2.cooc)" "$(cooc-query --dump --counts line.cooc)"
# what is wrong in it is found at its byte
(cat line | tr -d '\n'; printf ' \377 a\n') > bad
fails 1 'bad:1: byte 99999999 is not UTF-8; run iconv' cooc-count -v v --memory $M bad
(cat line | tr -d '\n'; printf ' \0 a\n') > bad
fails 1 'bad:1: byte 99999999 is a NUL' cooc-count -v v --memory $M bad
# a word that memory has no room for is refused; one that it has is a word
{ echo a b; tr a-z x < line | tr ' ' x; } > word
fails 1 'word:2: a word of more than [0-9]+ bytes' cooc-count -v v --memory $M word
fails 1 'word:2: a word of more than [0-9]+ bytes' cooc-count --memory $M word
{ echo a b; head -c 100000 /dev/zero | tr '\0' x; echo ' b'; } > word
is "$(cooc-count -q -w 1 --weights flat --memory $M word | cooc-query --dump --counts - |
    cut -c 1-3 | tr '\t\n' ' ,')" "b a,b x,"
rm bad word line

# Counts beyond 2^32 are exact up to the last below 2^63, and the next is refused.
printf 'a b b\n' > t; cooc-count -q -w 1 --weights flat -v v t > d0
ab=1; bb=2
for k in $(seq 61); do
    cooc-merge -q d0 d0 > d1; mv d1 d0; ab=$((2 * ab)); bb=$((2 * bb))
    is "$(cooc-query --dump --counts d0)" "$(printf 'a\tb\t%d\nb\tb\t%d' $ab $bb)" \
        "after $k doublings"
done
[ $bb = 4611686018427387904 ]
fails 1 'above 2\^63 - 1 in the row of id 6' cooc-merge d0 d0
# 2^63 - 1 itself is a count: 2^62 + (2^62 - 2) + 1
count() { cooc-count -q -w 2 --weights glove -v v; }
echo 'a b' | count > one; echo 'a x b' |
    count > half; is "$(cooc-query --counts one a b) $(cooc-query --counts half a b)" "2 1"
cp one p; args=
# q = 2^62 - 2, p = 2^62
for k in $(seq 61); do cooc-merge -q $args p -o q; args=q; cooc-merge -q p p -o p2; mv p2 p; done
is "$(cooc-query --counts q a b)" 4611686018427387902
is "$(cooc-query --counts p a b)" 4611686018427387904
cooc-merge -q p q half -o most; is "$(cooc-query --counts most a b)" 9223372036854775807
fails 1 'above 2\^63 - 1 in the row of id 5' cooc-merge most half
fails 1 'above 2\^63 - 1 in the row of id 5' cooc-merge half most one
is "$(cooc-query --counts --top 1 most b)" "$(printf 'a\t9223372036854775807')"
cooc-query --glove most > /dev/null; cooc-query --stat most > /dev/null
# tokens and sentences leave 64 bits before a pair does where there is none
printf 'a\n' > t; cooc-count -q -v v t > d0
for k in $(seq 63); do cooc-merge -q d0 d0 > d1; mv d1 d0; done
fails 1 'd0: .*(64 bits|2\^64)' cooc-merge d0 d0

# Damaged input: the file and the byte
awk 'BEGIN { srand(5); for (i = 0; i < 30000; i++) { s = "";
    for (k = rand() * 30; k > 0; k--) s = s " w" int(exp(rand() * 8)); print substr(s, 2) } }' > big
cooc-count -q big > big.cooc; cooc-query --vocab big.cooc > big.v
binarize -q -v big.v -l en < big > big.shd; gzip -k big; zstd -q big
noted() { "$@" > damaged.out 2> damaged.err && fail "not noticed: $*" || [ $? = 1 ] ||
    fail "status: $*"; is "$(wc -l < damaged.err)" 1; }
for f in big.shd big.gz big.zst big.cooc; do
    size=$(stat -c %s $f)
    for at in 40 300 $((size / 3)) $((size / 2)) $((size - 40)); do
        use() { case $1 in *cooc) cooc-merge -q "$1";; *) cooc-count -q -v big.v "$1";; esac; }
        head -c "$at" $f > cut.${f#big.}; noted use cut.${f#big.}
        grep -qE "^cooc-[a-z]+: cut\.${f#big.}: .*byte [0-9]+" damaged.err ||
            { cat damaged.err; fail "$f cut at $at: no offset"; }
        cp $f flip.${f#big.}; chmod u+w flip.${f#big.}
        old=$(od -An -tu1 -j "$at" -N 1 $f); printf "\\$(printf %o $((255 - old)))" |
            dd of=flip.${f#big.} bs=1 seek="$at" conv=notrunc status=none
        noted use flip.${f#big.}
        grep -qE "^cooc-[a-z]+: flip\.${f#big.}:(.*byte [0-9]+|[0-9]+: )" damaged.err ||
            { cat damaged.err; fail "$f flipped at $at: no offset"; }
    done
done
