# The CUDA side without a GPU: its sources compiled as plain C++ (test/cuda) run the list of
# operations in float32 and in bfloat16, with the threads of a block in reverse and in random order,
# where memory is short and where there is much; models and the decoder against PyTorch's numbers;
# and it says which devices it cannot use.
. "$TOP/test/cli/lib.sh"
build=$(dirname "$BIN")
export ISOGLOT_CUDA=$build/test/cuda/libisoglot-cuda.so
export ISOGLOT_CUBLASLT=$ISOGLOT_CUDA UNIT=$build/test/unit
. "$TOP/test/gpu/checks.sh"

ISOGLOT_EMULATE=random check_ops_float32 > float32 2>&1 & ops32=$!
ISOGLOT_EMULATE=reverse check_ops_bf16 > bf16 2>&1 & ops16=$!
# where a block may have all shared memory (attention's backward pass in one kernel for 256 rows),
# where memory is short and where there is much (the output layer in chunks)
large() { ISOGLOT_EMULATE_SM=90 ISOGLOT_TEST_OPS="attn ffn" "$UNIT/ops" cuda bf16; }
{ ISOGLOT_TEST_SANITIZED=1 ISOGLOT_EMULATE=reverse large &&
    ISOGLOT_TEST_OPS=xent ISOGLOT_EMULATE_MEMORY=80000000 "$UNIT/ops" cuda bf16 &&
    ISOGLOT_TEST_OPS=dense ISOGLOT_EMULATE_MEMORY=80000000000 "$UNIT/ops" cuda bf16 &&
    ISOGLOT_EMULATE_SM=90 "$UNIT/golden" cuda; } > others 2>&1 & ops_others=$!
check_models > models 2>&1 || { cat models; fail "models"; }
check_decoding > decoding 2>&1 || { cat decoding; fail "the decoder"; }
describe() { is "$(env "$1" "$UNIT/ops" cuda describe 2>&1 || true)" \
    "ops: --device cuda: $2; use --device cpu" "$1"; }
describe ISOGLOT_EMULATE_SM=75 \
    "an emulated GPU is of compute capability 7.5, and 8.0 (Ampere) is the least that works"
describe ISOGLOT_EMULATE_DRIVER=12080 \
    "the NVIDIA driver is for CUDA 12.8, and this build needs one for 13.0 or newer"
describe ISOGLOT_EMULATE_DEVICES=0 "no CUDA-capable device is detected"
! ISOGLOT_EMULATE_MEMORY=34000000 "$UNIT/ops" cuda > short 2>&1 || fail "operations without memory"
grep -Eq 'out of GPU memory: needed [0-9.]+ MiB for tensors, '\
'[0-9.]+ of 32.4 MiB are free; lower --tokens' short ||
    { tail -n 5 short; fail "the message"; }
wait $ops32 || { cat float32; fail "operations in float32"; }
wait $ops16 || { cat bf16; fail "operations in bf16"; }
wait $ops_others || { cat others; fail "operations and models, sm_90 and short memory"; }
for f in float32 bf16; do grep \
    -Eq 'cuBLASLt [0-9.]+ without an algorithm for [1-9][0-9]* kinds of products, (float32|bf16)' \
        $f || { tail -n 3 $f; fail "products without an algorithm are not told ($f)"; }; done
