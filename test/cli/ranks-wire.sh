# --wire bf16: gradients are rounded to bfloat16 wherever they are added, so that they travel in two
# bytes: the same weights, optimiser and log for one process and 1, 2, 3, 4 ranks, shared or not;
# half the messages; and the rounding shows.
. "$TOP/test/cli/lib.sh"
. "$TOP/test/cli/data/ranks.sh"
ranks_text
run=(pretrain -q --threads 1 --lr 1e-3 --warmup 3 --log-every 2 --save-every 3 --valid-every 3
    --seed 3 --tokens 100 --accumulate 5 -v vocab --train xa=a.shd --train xb=b.shd
    --valid xa=va.shd --valid xb=vb.shd --heads 2 --positions 30 --layers 2 --dim 128 --ffn 512
    --clip 0.5 --steps 3)
sent() { sed -n 's/.*waited for .* s, \(.*\) MiB sent by rank 0/\1/p' $1; }

"${run[@]}" --gradient-tree --out float32
"${run[@]}" --wire bf16 --out bf16
[ "$(hashes float32)" != "$(hashes bf16)" ] || fail "bf16 is float32"
for n in 2 3 4; do
    ranks $n "${run[@]}" --wire bf16 --profile --out bf16.$n 2> $n.profile
    alike bf16 bf16.$n "bf16, $n ranks"
done
ranks 3 "${run[@]}" --wire bf16 --shard-optimizer --out shared
alike bf16 shared "bf16, shared"
ranks 2 "${run[@]}" --steps 2 --wire bf16 --out way
"${run[@]}" --wire bf16 --resume --out way
is "$(hashes way)" "$(hashes bf16)" "2 ranks, then one process"

# one micro-batch per step is rounded, too
"${run[@]}" --accumulate 1 --gradient-tree --out one
"${run[@]}" --accumulate 1 --wire bf16 --out one16
[ "$(hashes one)" != "$(hashes one16)" ] || fail "one micro-batch is not rounded"

ranks 2 "${run[@]}" --profile --out float32.2 2> profile
awk -v a="$(sent 2.profile)" -v b="$(sent profile)" \
    'BEGIN { exit !(a > 0.49 * b && a < 0.51 * b) }' ||
    fail "$(sent 2.profile) MiB of bf16 beside $(sent profile)"

# the losses are float32's to the digits that rounding leaves
paste <(sed -n 's/.*"mlm":\([^,]*\).*/\1/p' float32/log.jsonl) \
    <(sed -n 's/.*"mlm":\([^,]*\).*/\1/p' bf16/log.jsonl) |
    awk '{ n++; d = ($1 - $2) / $1; if (d * d > 1e-4) exit bad = 1 } END { exit bad || n < 2 }' ||
    fail "losses are not alike"
