# Tiny runs of every objective follow PyTorch's of the same batches: each loss of each step,
# gradient norms, learning rates, validation's perplexities and the weights after ten steps,
# within 1e-4. The runs are test/golden/replay.runs, PyTorch's numbers
# test/golden/replay/*.safetensors.
. "$TOP/test/cli/lib.sh"
. "$TOP/test/golden/replay.runs"
follows() {
    "$(dirname "$BIN")/test/tool/replay" "$TOP/test/golden/replay/$1.safetensors" "$2" > told
}
replay_data
for name in $replay_names; do
    replay_run $name $name
    follows $name $name || { head -n 20 told; fail "run $name differs"; }
    tail -n 1 told
done

# The comparison sees a loss and a weight that are wrong: those of another run.
for name in mlm mt; do
    other=gc-selected; [ $name = mlm ] || other=mt-free
    if follows $other $name; then fail "$name passes for $other"; fi
    grep -q 'PyTorch has' told || fail "no loss of $name differs from those of $other"
    grep -q "away from PyTorch's" told || fail "no weight of $name differs from those of $other"
done
