# The CUDA side without a GPU: its sources compiled as plain C++ (test/cuda) against the list of operations, in float32, in
# bfloat16 and with the threads of a block in reverse order; then training and translating like the CPU's.
. "$TOP/test/cli/lib.sh"
build=$(dirname "$BIN")
export ISOGLOT_CUDA=$build/test/cuda/libisoglot-cuda.so
export ISOGLOT_CUBLASLT=$ISOGLOT_CUDA

"$build/test/unit/ops" cuda > float32 2>&1 & a=$!
ISOGLOT_EMULATE=reverse "$build/test/unit/ops" cuda bf16 > bf16 2>&1 & b=$!
wait $a || { cat float32; fail "operations in float32"; }
wait $b || { cat bf16; fail "operations in bf16"; }
