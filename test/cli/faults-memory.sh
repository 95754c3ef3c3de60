# Little address space: a program that does not multiply does not wait for OpenBLAS, one that does
# says in a line that it cannot start. (Loaded at once, it tried for ever, even for --help.)
. "$TOP/test/cli/lib.sh"
[ -z "${ISOGLOT_TEST_SANITIZED:-}" ] || { echo "a sanitizer takes terabytes"; exit 0; }
for p in "$BIN"/*; do
    ! ldd "$p" | grep -q openblas || fail "$p loads OpenBLAS at its start"
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
