#!/bin/bash
# Everything that has to hold on a GPU, in one command of at most eight minutes (BUDGET=480 seconds, building not counted): each operation, models, training that follows
# the CPU's, equal bytes, resuming, translating, the speed of each operation and of whole steps. One table at the end; a check that
# could not run, or for which no time was left, has failed. test/gpu/run.sh [WORK_FOLDER]
#
# From a checkout it builds first (nvcc and what test/setup lists are needed). From a folder that test/gpu/pack.sh made nothing is
# built: programs and their libraries are in it. cuBLASLt (half a gigabyte) is the machine's: of the toolkit, or of PyTorch's wheels.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
export TOP=$top LC_ALL=C
unset ISOGLOT_EMULATE ISOGLOT_EMULATE_MEMORY ISOGLOT_EMULATE_LOST NVIDIA_TF32_OVERRIDE
work=${1:-$(mktemp -d "${TMPDIR:-/tmp}/isoglot-gpu.XXXXXX")}
mkdir -p "$work" && cd "$work" || exit 1

. "$top/test/gpu/where.sh"
command -v nvidia-smi > /dev/null && nvidia-smi --query-gpu=name,memory.total,driver_version,clocks.max.sm --format=csv,noheader
echo "cuBLASLt: ${ISOGLOT_CUBLASLT:-not found}"
if ! said=$("$UNIT/ops" cuda describe 2>&1); then
    echo "run.sh: no check was run: $said"
    exit 1
fi
echo "$said"

export STEPS=${STEPS:-200} DIM=${DIM:-128} LAYERS=2 TOKENS=${TOKENS:-1000} SENTENCES=2000 TRANSLATE=200 FOLLOWS=0.02
began=$SECONDS budget=${BUDGET:-480} passed=0 failed=0 cores=$(nproc)
: > table
# check NAME SECONDS COMMAND: runs it with checks.sh's functions, at most so long
check() {
    local name=$1 limit=$2 t0=$SECONDS result=ok left=$((budget - 5 - SECONDS + began)); shift 2
    [ "$limit" -le $left ] || limit=$left
    : > "log.$name"
    if [ "$limit" -lt 1 ]; then result="FAILED (no time left)"
    else timeout -k 5 "$limit" bash -c '. "$TOP/test/gpu/checks.sh"; set -o pipefail; "$@"' check "$@" > "log.$name" 2>&1 < /dev/null || result="FAILED (status $?)"
    fi
    if [ "$result" = ok ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "--- $name: $result"; tail -n 25 "log.$name"; fi
    printf '%-34s %-22s %4d s  %s\n' "$name" "$result" $((SECONDS - t0)) "$(grep -E 'at most|in [0-9]+ parts|sentences differ|tokens/s' "log.$name" | tail -n 1 | cut -c 1-110)" >> table
}
check operations_float32 60 check_ops_float32
check operations_bf16 60 check_ops_bf16
check models 90 check_models
check training_follows_the_cpu 90 check_training_follows_the_cpu
check bf16_follows_the_cpu 60 check_bf16_training_follows_the_cpu
check same_seed_same_bytes 60 check_same_seed_same_bytes
check resumed_same_bytes 90 check_resumed_same_bytes
check translation_follows_the_cpu 60 check_translation_follows_the_cpu
check speed_of_operations 60 "$BENCH/ops" 1 cuda bf16
check speed_12x1024 40 "$BENCH/step" cuda bf16 mlm 12 1024 60000 64 256 20 "$cores"
check speed_12x1024_packed 40 "$BENCH/step" cuda bf16 mlm 12 1024 60000 256 real 20 "$cores"
check speed_12x768 40 "$BENCH/step" cuda bf16 mlm 12 768 60000 64 256 20 "$cores"
check speed_6x6x1024_translation 40 "$BENCH/step" cuda bf16 mt 6 1024 60000 128 real 20 "$cores"
check speed_6x6x1024_back_translation 40 "$BENCH/step" cuda bf16 bt 6 1024 60000 128 real 20 "$cores"
echo
cat log.speed_of_operations 2>/dev/null
echo
cat table
echo "$passed passed, $failed failed in $((SECONDS - began)) s; logs in $work"
[ $failed = 0 ] && [ $passed = 14 ]
