# --shard-optimizer: each rank keeps a part of Adam's or LAMB's state, and nothing else changes:
# weights, optimiser, state and log are those of a run without, for 1, 2, 3, 4 ranks, on the way
# from one number of them to another, and where an objective learns parameters beside the model's.
. "$TOP/test/cli/lib.sh"
. "$TOP/test/cli/data/ranks.sh"
ranks_text
how=(-q --threads 1 --lr 1e-3 --warmup 3 --log-every 2 --save-every 3 --valid-every 3
    --seed 3)
# 13 parts of the gradient's norm (32 Ki numbers each): more than ranks, and clipped in every step
wide=(pretrain "${how[@]}" --tokens 100 --accumulate 5 -v vocab --train xa=a.shd --train xb=b.shd
    --valid xa=va.shd --valid xb=vb.shd --heads 2 --positions 30 --layers 2 --dim 128 --ffn 512
    --objective mlm,gc --cooc counts --clip 0.5 --weight-decay 0.1 --steps 5)
# within A B MOST what: A and B differ by MOST at most
within() {
    awk -v a="$1" -v b="$2" -v d="$3" 'BEGIN { exit !(a != "" && (a - b) ^ 2 <= d * d) }' ||
        fail "$4: $1 and $2"
}
sent() { sed -n 's/.*waited for .* s, \(.*\) MiB sent by rank 0/\1/p' $1; }

for o in adam lamb; do
    "${wide[@]}" --optimizer $o --gradient-tree --out $o
    for n in 2 3 4; do
        [ $o$n != lamb4 ] || continue
        ranks $n "${wide[@]}" --optimizer $o --shard-optimizer --profile --out $o$n 2> $o$n.profile
        alike $o $o$n "$o shared by $n ranks"
    done
done
cmp -s <(hashes adam) <(hashes lamb) && fail "LAMB is Adam"
# one process, and one rank, have it all
"${wide[@]}" --shard-optimizer --gradient-tree --out one
ranks 1 "${wide[@]}" --shard-optimizer --out one1
alike adam one "one process"
alike adam one1 "one rank"

# --- parameters go where gradients went: no more messages than without, but for 104 bytes of norms
# a step and what a checkpoint collects; LAMB's gradients go to all first, as without ---
ranks 2 "${wide[@]}" --profile --out plain 2> plain.profile
within "$(sent adam2.profile)" "$(sent plain.profile)" 0.1 "MiB sent by rank 0"
awk -v a="$(sent lamb2.profile)" -v b="$(sent plain.profile)" \
    'BEGIN { exit !(a > 1.2 * b && a < 1.8 * b) }' || fail "LAMB sends $(sent lamb2.profile)"

# --- from one number of ranks to another, with the option and without ---
ranks 4 "${wide[@]}" --steps 2 --shard-optimizer --out way
ranks 2 "${wide[@]}" --steps 3 --resume --out way
ranks 3 "${wide[@]}" --steps 4 --resume --shard-optimizer --out way
"${wide[@]}" --resume --out way
is "$(hashes way)" "$(hashes adam)" "4 ranks share, 2 do not, 3 share, then one process"
# a state that only some could have loaded would end here
ranks 2 "${wide[@]}" --steps 6 --shard-optimizer --resume --out adam2
"${wide[@]}" --steps 6 --resume --out adam
is "$(hashes adam2)" "$(hashes adam)" "a shared run that goes on"

# --- a checkpoint by the clock is everybody's: all ranks give their parts of it ---
ranks 2 "${wide[@]}" --accumulate 2 --steps 60 --save-every 0 --valid-every 0 --save-time 1 \
    --shard-optimizer --out clock
ckpt info clock/last > /dev/null

# --- parameters beside the model's (a projection), a rate of its own for the head ---
small=(pretrain "${how[@]}" --tokens 100 --accumulate 2 -v vocab --train xa=a.shd --train xb=b.shd
    --layers 1 --dim 64 --heads 2 --ffn 256 --positions 30 --steps 2 --out model
    --codes codes --tokenizer tokenizer)
tokenize --settings > tokenizer
echo "a 1 1" > codes
"${small[@]}"
post=(align-post "${how[@]}" --model model --parallel xa-xb=train.a,train.b --min-tokens 5
    --batch 16 --projection 64 --queue 96 --steps 4 --accumulate 3 --objective moco,tlm)
"${post[@]}" --gradient-tree --out post
ranks 3 "${post[@]}" --steps 2 --shard-optimizer --out post3
ranks 2 "${post[@]}" --resume --shard-optimizer --out post3
is "$(hashes post3)" "$(hashes post)" "a projection whose moments are shared"
awk 'BEGIN { print "label\tsentence1\tsentence2" }
    { print NR % 2 "\t" $0 "\t" $0 }' train.a > pairs
tune=(finetune "${how[@]}" --accumulate 2 --model model --task pairs --batch 8
    --steps 4 --head-lr 3e-3 --train xa=pairs --valid xa=pairs --max-unknown 1)
"${tune[@]}" --gradient-tree --out tune
ranks 2 "${tune[@]}" --shard-optimizer --out tune2
alike tune tune2 "finetune"

# --- the plan: 8 (N - 1) / N bytes less per parameter ---
large=(pretrain --threads 1 --tokens 100 --seed 3 --accumulate 4 -v vocab --train xa=a.shd
    --layers 2 --dim 256 --heads 2 --ffn 1024 --positions 30 --steps 0)
planned() { sed -n 's/.*parameters and optimiser \([0-9]*\) MiB.*/\1/p' $1; }
for n in 2 4; do
    ranks $n "${large[@]}" --out large$n 2> large$n.err
    ranks $n "${large[@]}" --shard-optimizer --out less$n 2> less$n.err
    bytes=$(stat -Lc %s large$n/last/weights.safetensors)
    within "$(($(planned large$n.err) - $(planned less$n.err)))" \
        "$(awk -v b=$bytes -v n=$n 'BEGIN { print 2 * b * (n - 1) / n / 1048576 }')" 1 \
        "MiB less with $n ranks"
done
