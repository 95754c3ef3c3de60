# Ranks with a GPU each, whose gradients go from one to the other by NCCL; here GPUs and NCCL are
# those of test/cuda: 1, 2, 3, 4 ranks give the same weights, optimiser and log, also where nothing
# in a stream is done before somebody waits for it; a rank that dies or hangs is named; ranks that
# cannot say why, and go on through the hosts' memory, to the same bytes.
. "$TOP/test/cli/lib.sh"
. "$TOP/test/cli/data/ranks.sh"
emulated=$(dirname "$BIN")/test/cuda
export ISOGLOT_CUDA=$emulated/libisoglot-cuda.so
export ISOGLOT_CUBLASLT=$ISOGLOT_CUDA ISOGLOT_NCCL=$emulated/libisoglot-nccl.so
by=$RANKS_BY

ranks_text
how=(--device cuda --threads 1 --tokens 100 --lr 1e-3 --warmup 3 --log-every 2 --save-every 3
    --valid-every 3 --seed 3 -v vocab --train xa=a.shd --train xb=b.shd --valid xa=va.shd
    --layers 1 --dim 32 --heads 2 --ffn 64 --positions 30)
run=(pretrain "${how[@]}" --accumulate 6 --steps 4)
# said FILE PATTERN: exactly one line of ours with it
said() { is "$(grep -cE -- "^pretrain: $2" "$1")" 1 "'$2' in $(cat "$1")"; }
by_nccl='NCCL 2.28.3: gradients travel from GPU to GPU'

# --- any number of ranks; streams in both orders; MPI or TCP under it ---
"${run[@]}" -q --gradient-tree --out alone
for n in 2 3 4; do
    ISOGLOT_EMULATE_STREAMS=late ranks $n "${run[@]}" --out late$n 2> err
    alike alone late$n "$n ranks, late streams"
    said err "$by_nccl"
    said err 'GPU memory: .* operations [0-9]+ MiB, ranks [1-9][0-9]* MiB; the host'
    RANKS_BY=tcp
done
# at a normal end nobody aborts what another may still need
ISOGLOT_EMULATE_NCCL=whole ranks 2 "${run[@]}" -q --out now2
alike alone now2 "2 ranks, streams that do all at once"
# 4, then 2 through the hosts' memory, then one process
ranks 4 "${run[@]}" -q --steps 2 --out fewer
ISOGLOT_NCCL=none ranks 2 "${run[@]}" --steps 3 --resume --out fewer 2> err
said err "gradients travel through the hosts' memory, not by NCCL: rank 0 .*ISOGLOT_NCCL=none"
"${run[@]}" -q --resume --out fewer
is "$(hashes fewer)" "$(hashes alone)" "4 ranks by NCCL, 2 without, then one process"

# --- a model of several pieces; bfloat16 on the wire and in the model; a shared optimiser ---
export ISOGLOT_EMULATE_STREAMS=late
wide=("${run[@]}" -q --layers 2 --dim 96 --ffn 384 --accumulate 5 --steps 2)
"${wide[@]}" --gradient-tree --out wide1
ranks 2 "${wide[@]}" --profile --out wide2 2> profile
alike wide1 wide2 "pieces"
grep -q '^ranks: gradients under way' profile || fail "no line of what travelled"
ranks 3 "${wide[@]}" --shard-optimizer --out wide3
alike wide1 wide3 "pieces, a shared optimiser"
"${wide[@]}" --wire bf16 --precision bf16 --out half1
ranks 3 "${wide[@]}" --wire bf16 --precision bf16 --shard-optimizer --out half3
alike half1 half3 "bfloat16"
lamb=("${run[@]}" -q --optimizer lamb --accumulate 2 --steps 3 --precision bf16)
"${lamb[@]}" --gradient-tree --out lamb1
ranks 2 "${lamb[@]}" --shard-optimizer --out lamb2
alike lamb1 lamb2 "LAMB, one micro-batch each"
unset ISOGLOT_EMULATE_STREAMS

# --- one rank, and messages to itself, in both orders of streams ---
for late in '' late; do
    ISOGLOT_EMULATE_STREAMS=$late "$(dirname "$BIN")/test/unit/ranks_self" > self 2>&1 ||
        { cat self; fail "a rank that sends to itself, streams '$late'"; }
    grep -q '^\[  PASSED  \] 4 test' self || { cat self; fail "ranks_self was not run"; }
done

# --- who has which GPU ---
own='LOCAL_RANK=$RANK exec "$@"'
export ISOGLOT_EMULATE_UUID=x
ISOGLOT_EMULATE_DEVICES=2 ranks 2 bash -c "$own" - "${run[@]}" --out two 2> err
said err "$by_nccl"
is "$(hashes two)" "$(hashes alone)" "a GPU each"
ranks 2 bash -c "$own" - "${run[@]}" --out one 2> err
said err "gradients travel .* not by NCCL: rank 0 of 2 .* and rank 1 of 2 .* have the same GPU"
is "$(hashes one)" "$(hashes alone)" "one GPU for two"
unset ISOGLOT_EMULATE_UUID
ISOGLOT_NCCL=$PWD/none ranks 2 "${run[@]}" --steps 1 --out gone 2> err
said err "gradients travel .* not by NCCL: rank 0 of 2 .*none: cannot open"
printf 'static const int abi[99] = { 1 };\nconst void *%s(void) { return abi; }\n' \
    ranks_device > old.c
cc -shared -fPIC -Wno-missing-prototypes -o old.so old.c
for so in "$ISOGLOT_CUDA" "$PWD/old.so"; do
    ISOGLOT_NCCL=$so ranks 2 "${run[@]}" --steps 1 --out "by.${so##*/}" 2> err
    said err 'gradients travel .* not by NCCL: rank 0 of 2 .*nccl.so is of another build'
done
ranks 2 "${run[@]}" --device cpu --steps 1 --out cpu 2> err
! grep -q 'gradients travel' err || fail "processors, and a line about NCCL"

# --- ranks that fail: all end, one line names it, what is saved is whole ---
ours() { grep '^pretrain: ' err > own || true; is "$(wc -l < own)" 1 "one line, not $(cat err)"; }
lasting=("${run[@]}" -q --steps 1000000 --save-every 2 --valid-every 1000 --rank-timeout 4)
# lost HOW SIGNAL RANK PATTERN: with NCCL's stand-in like that
lost() {
    rm -rf lost pid
    ISOGLOT_EMULATE_NCCL=$1 ranks 3 bash -c \
        '[ '$which_rank' != '$3' ] || echo $$ > pid; exec "$@"' - "${lasting[@]}" \
        --out lost > err 2>&1 &
    local job=$! status=0
    for _ in $(seq 3000); do
        [ -s pid ] && [ -e lost/last ] && break
        kill -0 $job 2> /dev/null || break
        sleep 0.02
    done
    kill -$2 "$(cat pid)"
    local t0=$SECONDS
    [ $2 != STOP ] || (for _ in $(seq 300); do grep -qs 'has not answered' err && break; sleep 0.1
        done; sleep 1; kill -CONT "$(cat pid)" 2> /dev/null || true) &
    wait $job || status=$?
    [ $status != 0 ] || fail "a rank that is lost and status 0"
    [ $((SECONDS - t0)) -le 30 ] || fail "$((SECONDS - t0)) seconds until a lost rank was named"
    ours
    grep -qE -- "$4" own || { cat own; fail "no '$4'"; }
    ckpt info lost/last > /dev/null
}
lost no KILL 1 'rank 1 of 3 .* is gone'
lost silent KILL 2 'rank 2 of 3 .* is gone'
lost silent KILL 0 'rank 0 of 3 .* is gone'
lost silent STOP 1 'rank 1 of 3 .*has not answered'
status=0
ISOGLOT_EMULATE_NCCL=broken ranks 2 "${run[@]}" -q --out broken > err 2>&1 || status=$?
is $status 1 "NCCL that fails"
ours
grep -qE 'rank [01] of 2 .*: NCCL: between ranks: remote process exited' own ||
    { cat own; fail "NCCL that fails"; }
status=0
ranks 2 "${run[@]}" -q --mlm-weight 1e39 --out bad > err 2>&1 || status=$?
is $status 1 "not finite"
ours
grep -qE 'gradients of rank [01] of 2 .* of step 1 are not finite' own ||
    { cat own; fail "whose gradient is not finite"; }
RANKS_BY=$by
