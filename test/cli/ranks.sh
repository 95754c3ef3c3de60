# pretrain, finetune, align-post with ranks: 1, 2, 3, 4 of them, and 2 or 1 after 4, give the same
# weights, optimiser, state and log, for every objective; the sum of gradients is the tree's.
. "$TOP/test/cli/lib.sh"
. "$TOP/test/cli/data/ranks.sh"

ranks_text
data=(--train xa=a.shd --train xb=b.shd)
shape=(--layers 1 --dim 32 --heads 2 --ffn 64 --positions 30)
how=(-q --threads 1 --tokens 100 --lr 1e-3 --warmup 3 --log-every 2 --save-every 3 --valid-every 3
    --seed 3 --accumulate 4)
mlm=(pretrain "${how[@]}" -v vocab "${data[@]}" "${shape[@]}" --valid xa=va.shd --valid xb=vb.shd)

# --- any number of ranks, one that divides nothing included ---
"${mlm[@]}" --accumulate 6 --steps 6 --gradient-tree --out alone
for n in 1 2 4; do
    ranks $n "${mlm[@]}" --accumulate 6 --steps 6 --out ranks$n
    alike alone ranks$n "$n ranks"
done
# the tree is not the chain of a run without ranks, and a checkpoint says which it is
"${mlm[@]}" --accumulate 6 --steps 6 --out chain
[ "$(hashes chain)" != "$(hashes alone)" ] || fail "the order of addition changes nothing"
grep -q '"gradient_tree": true' ranks2/last/state.json
grep -q gradient_tree chain/last/state.json && fail "gradient_tree in a run without"

# --- a checkpoint of 4 ranks goes on with 2, then alone, as a tree without being told ---
ranks 4 "${mlm[@]}" --accumulate 6 --steps 2 --out fewer
ranks 2 "${mlm[@]}" --accumulate 6 --steps 4 --out fewer --resume
"${mlm[@]}" --accumulate 6 --steps 6 --out fewer --resume
is "$(hashes fewer)" "$(hashes alone)" "4 ranks, then 2, then one process"

# --- LAMB, recomputing, norms of each objective, one lone micro-batch per rank ---
"${mlm[@]}" --objective mlm,gc --cooc counts --accumulate 2 --recompute --optimizer lamb \
    --steps 3 --gradient-tree --out lamb1
ranks 2 "${mlm[@]}" --objective mlm,gc --cooc counts --accumulate 2 --recompute --optimizer lamb \
    --steps 3 --out lamb2
alike lamb1 lamb2 "LAMB"

# --- a model of several pieces, which travel while the backward pass goes on ---
wide=("${mlm[@]}" --objective mlm,gc --cooc counts --layers 2 --dim 128 --ffn 512 --steps 3)
"${wide[@]}" --accumulate 5 --gradient-tree --out wide1
for n in 2 3; do
    ranks $n "${wide[@]}" --accumulate 5 --profile --out wide$n 2> profile
    alike wide1 wide$n "pieces, $n ranks"
    grep -q '^ranks: gradients under way' profile
done

# --- every objective ---
i=0
both() {
    local what=$1; shift
    i=$((i + 1))
    "$@" --gradient-tree --out one$i
    ranks 2 "$@" --out two$i
    alike one$i two$i "$what"
}
for o in "mlm,tlm --mix mlm:2,tlm:1 --parallel xa-xb=train.a,train.b" \
    "mlm,tcs --dict xa-xb=dict --dict-refresh 2 --specific 2" \
    "mlm,scs --specific 1" "mlm,dict --dict xa-xb=dict" \
    "mlm,align --dict xa-xb=dict --no-encoder-langs" "mass"; do
    both "$o" "${mlm[@]}" --objective $o --steps 4
done
both sop "${mlm[@]}" --objective mlm,sop --documents 28 --no-encoder-langs --steps 4
mt=(finetune "${how[@]}" --model one1 --steps 4 --valid xa-xb=v.a,v.b)
both mt "${mt[@]}" --task mt --parallel xa-xb=train.a,train.b
both unmt "${mt[@]}" --task unmt "${data[@]}"
both "unmt, translations in 8 bits" "${mt[@]}" --task unmt "${data[@]}" --back-precision int8
post=(align-post -q --threads 1 --model one1 --parallel xa-xb=train.a,train.b --min-tokens 5
    --batch 16 --projection 8 --lr 1e-3 --schedule constant --warmup 2 --log-every 1 --save-every 2
    --seed 3 --queue 64 --steps 4 --accumulate 2)
for o in "moco,tlm" "moco --queue-start empty --no-moco-unit" "moco,mlm --pool mean"; do
    both "$o" "${post[@]}" --objective $o
done
