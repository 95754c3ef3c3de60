#!/bin/bash
# What a GPU says in six minutes: right or not, where a step's time goes, and whether the aims are
# reached beside PyTorch's attention and steps, in one table. test/gpu/decide.sh [GROUP...]: A
# (right, attention), B (operations), C (whole steps), D (small models, back-translation), E (ranks,
# equal bytes); all, in this order. From a folder of pack.sh's nothing is built. BUDGET=360 seconds,
# PYTHON=python3; SMALL=1: toy sizes, to see on an emulated GPU that each row comes. A row:
#   ID <tab> what <tab> ours <tab> peer <tab> unit <tab> aim
# "no number" where there is none, and why. Status 1: a check of group A or E failed.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
export TOP=$top LC_ALL=C
work=$(mktemp -d "${TMPDIR:-/tmp}/isoglot-decide.XXXXXX")
python=${PYTHON:-python3} began=$SECONDS budget=${BUDGET:-${SMALL:+3600}} status=0
budget=${budget:-360}
groups=" ${*:-A B C D E} "
# (cli/cuda says where programs and the emulated GPU are)
[ -n "${BENCH-}" ] || . "$top/test/gpu/where.sh"
cd "$work" || exit 1
left() { echo $((budget - SECONDS + began)); }
row() { local IFS=$'\t'; echo "$*" | tee -a rows; }
# for_ SECONDS COMMAND: within its limit and what is left of all
for_() {
    local limit=$1 rest; shift
    rest=$(left)
    # what is emulated shares its processor with other tests
    [ -z "${SMALL-}" ] || limit=$((limit * 20))
    [ "$limit" -le "$rest" ] || limit=$rest
    [ "$limit" -ge 1 ] || { echo "no time left"; return 124; }
    timeout -k 3 "$limit" "$@" < /dev/null
}
wants() { case $groups in *" $1 "*) return 0 ;; *) return 1 ;; esac; }
last_of() { grep -Ev '^ *$' "$1" | tail -n 1 | cut -c 1-90; }
peer() { LD_LIBRARY_PATH=${LIBRARIES_BEFORE-} for_ "$@"; }
# checked ID WHAT SECONDS COMMAND: a row that says whether it passed
checked() {
    local id=$1 what=$2 limit=$3; shift 3
    if for_ "$limit" "$@" > log 2>&1; then row "$id" "$what" passed "" "" "must pass"
    else row "$id" "$what" "FAILED: $(grep -m 1 -E 'is off|gradient of|differs|no time' log ||
        last_of log)" "" "" "must pass"; status=1; fi
}
# operations ID WHAT COMMAND: a row for each line "  NAME xN 0.123 ms ..." of bench/ops
operations() {
    local id=$1 what=$2 name ms; shift 2
    for_ 60 "$@" > log 2>&1
    grep -qE ' x[0-9]+ +[0-9.]+ ms' log || { row "$id" "$what" "no number: $(last_of log)" "" ms ""
        return; }
    sed -nE 's/^  ([a-z].*[^ ]) +x[0-9]+ +([0-9.]+) ms.*/\1\t\2/p' log |
        while IFS=$'\t' read -r name ms; do row "$id" "$what$name" "$ms" "" "ms a call" ""; done
}
# step ID SECONDS AIM SHAPE: our step, "MS ms, SHARE of one product"
step() {
    local id=$1 limit=$2 aim=$3; shift 3
    for_ "$limit" "$BENCH/step" cuda bf16 $1 > log 2>&1
    row "$id" "$1" "$(sed -nE 's/^([0-9.]+) ms a step.* ([0-9]+%) of one.*/\1, \2/p' log |
        grep . || echo "no number: $(last_of log)")" "" "ms a step, of one product" "$aim"
}
# torch ID SHAPE ATTENTION: PyTorch's step, the better of two
torch() {
    local ms
    ms=$({ sleep 1; echo; sleep 4; echo; } | LD_LIBRARY_PATH=${LIBRARIES_BEFORE-} timeout -k 3 \
        "$(($(left) < 90 ? $(left) : 90))" "$python" "$top/test/gpu/peer.py" \
        $(echo "$2" | cut -d ' ' -f 1-7) ${3:+--attention "$3"} 2> log |
        sed -n 's/.*: \([0-9.]*\) ms a step.*/\1/p' | sort -n | head -n 1)
    row "$1" "$2: PyTorch ${3-}" "" "${ms:-no number: $(last_of log)}" "ms a step" ""
}
for_ 60 "$UNIT/ops" cuda describe > log 2>&1 ||
    { echo "decide.sh: the device did not answer: $(last_of log)"; exit 1; }
device=$(tail -n 1 log)
if [ -n "${SMALL-}" ]; then
    ops=(1 64 500 16 4 1) shapes=("8 2 128" "real 4 128") heads=2
    big="mlm 1 64 500 4 16 2 1 64" others=() small=("$big" "bt 1 64 500 2 8 1 1 64")
else
    ops=(12 1024 60000 256 64 16) shapes=("256 64 1024" "-128 128 1024" "real 256 1024") heads=16
    big="mlm 12 1024 60000 64 256 20 $(nproc)"
    others=("mlm 12 768 60000 64 256 20 $(nproc)" "mt 6 1024 60000 128 real 20 $(nproc)")
    small=("mlm 3 256 8000 55 real 200 1" "mlm 4 512 8000 178 real 100 1"
        "bt 6 1024 60000 128 real 5 $(nproc)")
fi

if wants A; then
    row A0 "$device" "" "" "" ceilings
    checked A1 "operations in bf16" 60 env ISOGLOT_TEST_OPS="${SMALL:+norm embed}" "$UNIT/ops" \
        cuda bf16
    checked A1 "beam search in bf16" 30 "$UNIT/search" cuda bf16
    for shape in "${shapes[@]}"; do
        set -- $shape
        operations A2 "$2 of $1: " env ONLY=attention "$BENCH/ops" 1 cuda bf16 1 "$3" 1000 "$1" \
            "$2" "$heads"
    done
    if [ -z "${SMALL-}" ]; then
        peer 40 "$python" "$top/test/gpu/peer_attention.py" 20 > log 2>&1
        if grep -q $'\tms$' log; then grep $'\tms$' log | sed $'s/^/A3\t/' | tee -a rows
        else row A3 "PyTorch's attention" "" "no number: $(last_of log)" ms ""; fi
    fi
fi
! wants B || operations B "" "$BENCH/ops" 1 cuda bf16 "${ops[@]}"
if wants C; then
    step C1 60 "1.2 times PyTorch, 65%" "$big"
    if [ -z "${SMALL-}" ]; then
        for attention in flash cudnn; do torch C1 "$big" $attention; done
        peer 60 "$python" "$top/test/gpu/peer.py" $(echo "$big" | cut -d ' ' -f 1-7) --profile \
            > log 2>&1
        grep -P '\t[\d.]+\t\d+$' log | while IFS=$'\t' read -r kind ms launches; do
            row C2 "PyTorch's step: $kind, $launches launches" "" "$ms" ms ""; done | tee -a rows
    fi
    for s in "${others[@]}"; do
        step C4 30 "1.2 times PyTorch" "$s"
        [ "$(left)" -le 90 ] || torch C4 "$s"
    done
fi
if wants D; then for s in "${small[@]}"; do step D1 60 "" "$s"; done; fi
if wants E; then
    nccl=$(dirname "$ISOGLOT_CUDA")/libisoglot-nccl.so
    if [ -e "$nccl" ]; then
        checked E1 "ranks of one GPU to itself" 20 env ISOGLOT_NCCL="$nccl" "$UNIT/ranks_self"
    else row E1 "ranks of one GPU to itself" "no number: no $(basename "$nccl")" "" "" ""; fi
    export STEPS=${STEPS:-60} DIM=${DIM:-128} LAYERS=2 TOKENS=${TOKENS:-1000} \
        SENTENCES=${SENTENCES:-600}
    [ -z "${SMALL-}" ] || export STEPS=5 DIM=32 LAYERS=1 TOKENS=100 SENTENCES=100
    for c in same_seed $([ -n "${SMALL-}" ] || echo resumed); do
        checked E2 "${c}_same_bytes" 40 bash -c \
            '. "$TOP/test/gpu/checks.sh"; "check_$1_same_bytes"' decide "$c"
    done
fi
echo
echo "== $((SECONDS - began)) s; logs in $work"
column -t -s $'\t' rows 2> /dev/null || cat rows
exit $status
