# Little address space: a program that does not multiply does not wait for OpenBLAS, one that does
# says in a line that it cannot start. (Loaded at once, it tried for ever, even for --help.)
. "$TOP/test/cli/lib.sh"
[ -z "${ISOGLOT_TEST_SANITIZED:-}" ] || { echo "a sanitizer takes terabytes"; exit 0; }
for p in "$BIN"/*; do
    ! ldd "$p" | has openblas || fail "$p loads OpenBLAS at its start"
    (ulimit -v 200000; timeout 20 "$p" --help) > help || fail "$p --help: status $?"
    grep -q '^Usage:' help
done
printf 'a b c\nb a a\n' > t
printf 'a\nb\nc\n' > v
binarize -q -v v -l en < t > t.shd
printf '{"event":"train","step":%d,"loss":%d}\n' 1 3 2 2 3 1 > log.jsonl
run=(pretrain -q -v v --train en=t.shd --layers 1 --dim 8 --heads 1 --ffn 8 --positions 8
    --tokens 20 --threads 2 --steps 1)
"${run[@]}" --out whole
(ulimit -v 200000; timeout 20 ckpt info whole) > info
grep -q parameters info
(ulimit -v 330000
    fails 1 'OpenBLAS cannot start: with --threads 2 it needs [0-9]+ MiB of address space' \
        timeout 60 "${run[@]}" --out run)
[ ! -e run/last ] || fail "a run without a product has a checkpoint"
"${run[@]}" --out run
same whole/last/weights.safetensors run/last/weights.safetensors

# each allocation in turn: the whole picture or none (points of a log were missing, with status 0)
. "$TOP/test/faults/lib.sh"
plot curves -q log.jsonl > whole.svg
none=0
for n in $(seq "$(calls malloc plot curves -q log.jsonl)"); do
    if faulty "malloc:$n:fail" plot curves -q log.jsonl > got.svg 2> err; then
        same whole.svg got.svg
    else none=$((none + 1)); fi
done
[ $none -gt 20 ] || fail "of all allocations only $none stop plot"
mkdir scripts
for n in $(seq "$(calls calloc plot curves -q log.jsonl)"); do
    TMPDIR=$PWD/scripts faulty "calloc:$n:fail" plot curves -q log.jsonl > got.svg 2> err || :
    is "$(ls scripts)" "" "left behind by calloc $n"
done
# kill -9, too (what it wrote for gnuplot stayed): its files have no names. A gnuplot of ours waits.
mkdir slow
printf '#!/bin/sh\n: > "$STARTED"; exec sleep 100\n' > slow/gnuplot; chmod +x slow/gnuplot
PATH=$PWD/slow:$PATH TMPDIR=$PWD/scripts STARTED=$PWD/started plot curves -q log.jsonl > none & p=$!
while [ ! -e started ]; do sleep 0.05; done
is "$(ls scripts)" ""
children=$(ps -o pid= --ppid $p)
kill -9 $p; wait $p || [ $? = 137 ]
kill $children
is "$(ls scripts)" ""
# OpenBLAS's kernels are those of the processor, or the program ends (a failed setenv left others,
# whose products differ in the last bits)
unset OPENBLAS_CORETYPE
printf 'a b c a\nb c d b\nc a d a\n' > abc; vocab-count abc > abc.v
cooc-count -v abc.v en=abc > abc.cooc
vectors=(embed -q --threads 1 --from-cooc abc.cooc --min-count 1 --dim 2)
"${vectors[@]}" > whole.vec; none=0
for n in $(seq "$(calls malloc "${vectors[@]}")"); do
    if faulty "malloc:$n:fail" "${vectors[@]}" > got.vec 2> err; then same whole.vec got.vec
    else none=$((none + 1)); fi
done
[ $none -gt 20 ] || fail "of all allocations only $none stop embed"
# where memory ends before, between or after the renames of rows and their words: all or nothing
# (it ended after them, with status 1, and the older rows were gone)
pair=("${vectors[@]}" -o pair.npy); "${pair[@]}"; mv pair.npy whole.npy
n=$(calls malloc "${pair[@]}"); none=0
for k in $(seq $((n - 30)) $((n + 10))); do
    rm -f pair.npy*; echo older > pair.npy
    if faulty "malloc:$k:fail" "${pair[@]}" 2> err; then same whole.npy pair.npy
    else none=$((none + 1)); is "$(ls pair.npy*; cat pair.npy)" "$(printf 'pair.npy\nolder')"; fi
done
[ $none -gt 3 ] || fail "of the last allocations $none stop embed -o pair.npy"
# and a checkpoint that was under way leaves nothing
n=$(calls malloc "${run[@]}" --out counted); hit=0
for k in $(seq $((n / 2)) 9 "$n"); do
    rm -rf run; faulty "malloc:$k:fail" "${run[@]}" --out run 2> err || hit=$((hit + 1))
    is "$(find . -name '*.tmp')" "" "left behind by malloc $k"
done
[ $hit -gt 5 ] || fail "of the second half of all allocations $hit stop pretrain"
# Memory ends in one thread while another makes, moves or removes a name of a checkpoint: what is
# half made goes, even when it comes a moment later, and so does what is half removed
kept=("${run[@]}" --save-every 1 --keep 1 --steps 3)
# (after its last name the run may end first, with all that it had to write)
rm -rf counted; n=$(calls name "${kept[@]}" --out counted); [ "$n" -gt 50 ]
for k in $(seq "$n"); do
    rm -rf run; faulty "name:$k:end" "${kept[@]}" --out run 2> err || [ $? = 1 ]
    is "$(cat err)" "inject: out of memory" "memory ended before name $k"
    is "$(find . -name '*.tmp')" "" "left behind when memory ended before name $k"
done
rm -rf counted; n=$(calls rename "${run[@]}" --out counted); [ "$n" -gt 3 ]
for k in $(seq "$n"); do
    rm -rf run; fails 1 . faulty "rename:$k:fail" "${run[@]}" --out run
    is "$(find . -name '*.tmp')" "" "left behind by rename $k"
done
