#!/bin/bash
# Everything that has to hold on a GPU, in one command of at most eight minutes (BUDGET=480 seconds,
# building not counted): each operation, models, training that follows the CPU's, equal bytes,
# resuming, translating, the speed of each operation and of whole steps. One table at the end; a
# check that could not run, or for which no time was left, has failed. test/gpu/run.sh
# [WORK_FOLDER]. SMALL=yes: small models where speed is measured, and nothing to be learnt from
# their numbers: to see on an emulated GPU that all is in its place.
#
# From a checkout it builds first (nvcc and what test/setup lists are needed). From a folder that
# test/gpu/pack.sh made nothing is built: programs and their libraries are in it. cuBLASLt (half a
# gigabyte) is the machine's: of the toolkit, or of PyTorch's wheels.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
export TOP=$top LC_ALL=C
unset ISOGLOT_EMULATE ISOGLOT_EMULATE_MEMORY ISOGLOT_EMULATE_LOST NVIDIA_TF32_OVERRIDE \
    CUBLAS_EMULATE_SINGLE_PRECISION CUDA_LAUNCH_BLOCKING
work=${1:-$(mktemp -d "${TMPDIR:-/tmp}/isoglot-gpu.XXXXXX")}
mkdir -p -- "$work" && cd -- "$work" || exit 1

. "$top/test/gpu/where.sh"
command -v nvidia-smi > /dev/null &&
    nvidia-smi --query-gpu=name,memory.total,driver_version,clocks.max.sm --format=csv,noheader
echo "cuBLASLt: ${ISOGLOT_CUBLASLT:-not found}"
if ! said=$(timeout 60 "$UNIT/ops" cuda describe 2>&1); then
    echo "run.sh: no check was run: ${said:-the device did not answer for a minute}"
    exit 1
fi
echo "$said"

export STEPS=${STEPS:-200} DIM=${DIM:-128} LAYERS=2 TOKENS=${TOKENS:-1000} \
    SENTENCES=${SENTENCES:-2000} TRANSLATE=${TRANSLATE:-200} FOLLOWS=0.02
[ -n "${SMALL-}" ] || export ISOGLOT_TEST_LARGE=1
began=$SECONDS budget=${BUDGET:-480} passed=0 failed=0 cores=$(nproc)
: > table
# check NAME SECONDS COMMAND: runs it with checks.sh's functions, at most so long
check() {
    local name=$1 limit=$2 t0=$SECONDS result=ok left=$((budget - 5 - SECONDS + began)); shift 2
    [ "$limit" -le $left ] || limit=$left
    : > "log.$name"
    if [ "$limit" -lt 1 ]; then result="FAILED (no time left)"
    else timeout -k 5 "$limit" bash -c '. "$TOP/test/gpu/checks.sh"; set -o pipefail; "$@"' check \
        "$@" > "log.$name" 2>&1 < /dev/null || result="FAILED (status $?)"
    fi
    if [ "$result" = ok ]; then passed=$((passed + 1)); else failed=$((failed + 1))
    echo "--- $name: $result"; tail -n 25 "log.$name"; fi
    printf '%-34s %-22s %4d s  %s\n' "$name" "$result" $((SECONDS - t0)) "$(grep \
        -E 'at most|in [0-9]+ parts|sentences differ|tokens/s' "log.$name" | tail -n 1 |
            cut -c 1-110)" >> table
}
check operations_float32 60 check_ops_float32
check operations_bf16 60 check_ops_bf16
check models 60 check_models
check decoding 90 check_decoding
check training_follows_the_cpu 90 check_training_follows_the_cpu
check bf16_follows_the_cpu 60 check_bf16_training_follows_the_cpu
check same_seed_same_bytes 60 check_same_seed_same_bytes
check resumed_same_bytes 90 check_resumed_same_bytes
check translation_follows_the_cpu 60 check_translation_follows_the_cpu
# messages of a rank to itself, where NCCL's side was built and libnccl.so.2 is found
expected=15 nccl=$(dirname "$ISOGLOT_CUDA")/libisoglot-nccl.so
if [ -e "$nccl" ]; then
    expected=16
    check ranks_to_itself 20 env ISOGLOT_NCCL="$nccl" "$UNIT/ranks_self"
fi
# speed NAME KIND LAYERS DIM VOCABULARY SENTENCES LENGTH
speed() {
    local name=$1 kind=$2; shift 2
    [ -z "${SMALL-}" ] || set -- 1 64 500 4 "$([ "$5" = real ] && echo real || echo 16)"
    check "speed_$name" 50 "$BENCH/step" cuda bf16 "$kind" "$@" "$([ -n "${SMALL-}" ] && echo 2 ||
        echo 20)" "$cores" ${SMALL:+64}
}
check speed_of_operations 90 "$BENCH/ops" 1 cuda bf16 $([ -n "${SMALL-}" ] &&
    echo 1 64 500 16 4 1 || echo 12 1024 60000 256 64 16)
speed 12x1024 mlm 12 1024 60000 64 256
speed 12x1024_packed mlm 12 1024 60000 256 real
speed 12x768 mlm 12 768 60000 64 256
speed 6x6x1024_translation mt 6 1024 60000 128 real
speed 6x6x1024_back_translation bt 6 1024 60000 128 real
echo
cat log.speed_of_operations 2>/dev/null
echo
cat table
# what makes it slow
grep -Eo 'without an algorithm for .* products|nothing recorded: .*' log.speed_* | sort -u
share=$(sed -n 's/.* \([0-9]*\)% of one product.*/\1/p' log.speed_12x1024 | tail -n 1)
echo "aim: 65% of one product's speed at 12 x 1024: ${share:-no number}${share:+%}, $([ \
    "${share:-0}" -ge 65 ] && echo reached || echo missed); 1.2 times PyTorch: test/gpu/bench.sh"
echo "$passed passed, $failed failed in $((SECONDS - began)) s; logs in $work"
[ $failed = 0 ] && [ $passed = $expected ]
