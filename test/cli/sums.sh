# FILE.sum: text that programs believe has its checksum beside it, and everything that reads such
# text looks at it (docs/formats/sum.md).
. "$TOP/test/cli/lib.sh"
printf 'a b c d e f\n%.0s' 1 2 3 4 5 > t
printf 'low lower lowest newer\n' > w
printf 'a 1 0 0\nb 0 1 0.1\nc 0 0 1\n' > x.vec
printf 'd 1 0 0\ne 0 1 0.1\nf 0 0 1\n' > y.vec
printf '# c\n1\ta\t_\tADJ\t_\t_\t2\tamod\t_\t_\n2\tb\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n' > ud

# who writes one, and what it says: XXH3-64 of an empty file, as xxHash's own test vectors have it
: > nothing; vocab-count -q -o none nothing
is "$(cat none.sum)" 'XXH3_2d06800538d394c2  none'
bpe-learn -q -n 8 -o codes w
vocab-count -q -o vocab t
dict-induce -q -k 1 --src x.vec --tgt y.vec -o dict --reverse tcid
derive-lang -q --dict-share 1 --seed 1 --vocab -o shared vocab
derive-lang -q --learn-order N -o order ud
for f in codes vocab dict tcid shared order; do
    grep -qE "^XXH3_[0-9a-f]{16}  $f\$" $f.sum && is "$(wc -l < $f.sum)" 1
done
# in a folder, which is synced: no warning
mkdir deep; vocab-count -q -o deep/vocab t 2> said; same said /dev/null; same deep/vocab vocab
is "$(cat deep/vocab.sum)" "$(cat vocab.sum)"
if xxhsum --help 2>&1 | has XXH3; then cat codes.sum vocab.sum dict.sum | xxhsum -q -c -; fi
# not beside a pipe or what the shell opened
vocab-count -q t > piped; same piped vocab; [ ! -e piped.sum ]
vocab-count -q -o - t | cmp - vocab
mkfifo p; vocab-count -q -o p t & cat p | cmp - vocab; wait; [ ! -e p.sum ]

# everybody who believes such a file: one changed byte is refused, with the file and what to do
binarize -q -v vocab -l en -o en.shd t
binarize -q -v vocab -l de -o de.shd t
for l in en de; do cooc-count -q -v vocab -w 2 -o $l.cooc $l=t; done
model=(-q --threads 1 --layers 1 --dim 4 --heads 1 --ffn 4 --positions 8 --tokens 20 --seed 5)
train=(pretrain "${model[@]}" -v vocab --train en=en.shd --train de=de.shd --steps 0)
"${train[@]}" --out run
reads() {   # FILE command...
    local f=$1; shift
    "$@" > out 2> err || { cat err; fail "undamaged: $*"; }
    cp $f whole; rm -rf new
    sed '1s/^./&x/' whole > $f                    # as valid as before, where the format allows it
    fails 1 "$f: damaged or changed: its checksum is [0-9a-f]{16}, not [0-9a-f]{16} as in \
$f.sum, which you may remove" "$@"
    cat whole > $f; rm -rf new
}
reads codes bpe-apply -q -c codes w
reads vocab bpe-apply -q -c codes --vocab vocab w
reads vocab bpe-learn -q -n 1 --dict vocab
reads vocab binarize -q -v vocab -l en -o new t
reads vocab shard cat -v vocab en.shd
reads vocab cooc-count -q -v vocab en=t
reads vocab derive-lang -q --trans --vocab vocab
reads vocab dict-induce -q --src x.vec --tgt y.vec --src-counts vocab --tgt-counts vocab
reads vocab embed -q --model run --words vocab
reads vocab "${train[@]}" --out new
reads dict dict-induce -q --src x.vec --tgt y.vec --eval dict
reads dict dict-induce -q --src x.vec --tgt y.vec --seed-dict dict --map procrustes
reads dict rsim -q --src x.vec --tgt y.vec --dict dict
reads dict cooc-study -q --dict dict en.cooc de.cooc
reads dict "${train[@]}" --objective mlm,align --no-encoder-langs --dict en-de=dict --out new
reads dict "${train[@]}" --objective mlm,tcs --dict en-de=dict --out new
reads order derive-lang -q --syn order --format conllu ud

# through a link; under other names; what is no checksum of ours; standard input has none
dict=(rsim -q --src x.vec --tgt y.vec --dict)
mkdir far; mv dict dict.sum far; ln -s far/dict dict
"${dict[@]}" dict > out
echo 'a	c' >> far/dict; fails 1 'dict: damaged or changed.*far/dict.sum' "${dict[@]}" dict
sed -i '$d' far/dict
dict-induce -q -k 1 --src x.vec --tgt y.vec -o dict; [ -L dict ] && [ ! -e dict.sum ]
"${dict[@]}" dict | cmp - out
mv far/dict other; mv far/dict.sum other.sum; "${dict[@]}" other | cmp - out
for line in '' 'XXH3_' "XXH3_0000000000000000 x" 'XXH3_0000000000000000  ' \
    "$(cat other.sum; echo y)" \
    "$(tr a-f A-F < other.sum)" "$(md5sum other)"; do
    printf '%s\n' "$line" > other.sum
    fails 1 'other.sum: damaged: not one line .*; delete it if another program wrote it' \
        "${dict[@]}" other
done
"${dict[@]}" - < other | cmp - out
rm other.sum; "${dict[@]}" other 2> err | cmp - out; [ ! -s err ]

# a disturbed writer: the older pair is there, or the new one, or a whole file without a checksum
[ -z "${ISOGLOT_TEST_SANITIZED:-}" ] || exit 0
. "$TOP/test/faults/lib.sh"
write=(vocab-count -q -o v)
"${write[@]}" w; cp v older; cp v.sum older.sum
for call in open read write fsync rename unlink close mmap malloc; do
    n=$(calls $call "${write[@]}" t); "${write[@]}" w
    for ((k = 1; k <= n; k++)); do
        status=0; faulty $call:$k:fail "${write[@]}" t 2> err || status=$?
        case $status in 0 | 1) ;; *) cat err; fail "status $status after $call $k" ;; esac
        bpe-learn -q -n 1 --dict v > out || fail "$call $k: v is not what v.sum says"
        if [ $status = 0 ]; then same v vocab; [ -e v.sum ]; else same v older; fi
        # out of memory ends the process wherever it is, as a kill would
        [ $status = 0 ] || [ $call-$(ls v.sum 2> /dev/null) = malloc- ] || same v.sum older.sum
        is "$(find . -name '.*.tmp')" '' "$call $k"
        "${write[@]}" w
    done
    rm v v.sum
    for ((k = 1; k <= n; k++)); do                # where there was none before
        if ! faulty $call:$k:fail "${write[@]}" t 2> err; then [ ! -e v ] && [ ! -e v.sum ]; fi
        rm -f v v.sum
    done
    "${write[@]}" w
done
