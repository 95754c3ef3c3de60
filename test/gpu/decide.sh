#!/bin/bash
# What only a GPU can decide, in six minutes and one table: each way that ISOGLOT_CUDA_TRY switches
# (kernels/cuda/tries.cu), off and on in turns in one process, beside PyTorch's where there is one.
# test/gpu/decide.sh [GROUP...]: A (right, attention), B (operations), C (whole steps), D
# (small models), E (ranks, equal bytes); all, in this order. From a folder of pack.sh's nothing is
# built. BUDGET=360 seconds, PYTHON=python3; SMALL=1: toy sizes, to see on an emulated GPU that each
# row comes. A row:
#   ID <tab> what <tab> old <tab> new <tab> peer <tab> unit <tab> decides
# "no number" where there is none, and why. Status 1: a check of group A or E failed.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
export TOP=$top LC_ALL=C
work=$(mktemp -d "${TMPDIR:-/tmp}/isoglot-decide.XXXXXX")
python=${PYTHON:-python3} began=$SECONDS budget=${BUDGET:-360} status=0
groups=" ${*:-A B C D E} "
# (cli/cuda says where programs and the emulated GPU are)
[ -n "${BENCH-}" ] || . "$top/test/gpu/where.sh"
cd "$work" || exit 1
left() { echo $((budget - SECONDS + began)); }
row() { local IFS=$'\t'; echo "$*" | tee -a rows; }
# for SECONDS COMMAND: within its limit and what is left of all
for_() {
    local limit=$1 rest; shift
    rest=$(left)
    [ "$limit" -le "$rest" ] || limit=$rest
    [ "$limit" -ge 1 ] || { echo "no time left"; return 124; }
    timeout -k 3 "$limit" "$@" < /dev/null
}
wants() { case $groups in *" $1 "*) return 0 ;; *) return 1 ;; esac; }
names=$(ISOGLOT_CUDA_TRY='?=?' timeout 60 "$UNIT/ops" cuda describe 2>&1 |
    sed -n 's/.*the names are \(.*\), and all.*/\1/p' | tr -d ',')
[ -n "$names" ] || { echo "decide.sh: the device did not answer: $(timeout 60 "$UNIT/ops" cuda \
    describe 2>&1 | tail -n 1)"; exit 1; }
first_of() { grep -Ev '^ *$' "$1" | tail -n 1 | cut -c 1-90; }
# compare ID LOG UNIT DECIDES: a row for each line "try WHAT: a ms (s%), b ms (s%)" of a log, the
# first way and the last
compare() {
    grep -q '^try ' "$2" || { row "$1" "$(basename "$2")" "no number: $(first_of "$2")" "" "" "$3" \
        "$4"; return; }
    local one='([0-9.]+) ms (\([0-9.]+%\))'
    sed -nE "s/^try (.*): $one.* $one\$/\\1\\t\\2 \\3\\t\\4 \\5/p" "$2" |
        while IFS=$'\t' read -r what old new; do
            row "$1" "$5$what" "$old" "$new" "" "$3" "$4"
        done
}

echo "tried: $names"
if [ -n "${SMALL-}" ]; then
    ops=(1 64 500 16 4 1) shapes=("8 2 128" "real 4 128") steps=("mlm 1 64 500 4 16 2 1 64")
    small=("mlm 1 64 500 4 real 2 1 64") heads=2 sum=64
else
    ops=(12 1024 60000 256 64 16) shapes=("256 64 1024" "-128 128 1024" "real 256 1024")
    steps=("mlm 12 1024 60000 64 256 20 $(nproc)") heads=16 sum=8192
    small=("mlm 3 256 8000 55 real 200 1" "mlm 4 512 8000 178 real 100 1")
fi

if wants A; then
    row A0 "$(for_ 60 "$UNIT/ops" cuda describe 2>&1 | tail -n 1)" "" "" "" "" ceilings
    # right at both values; where all together are wrong, each alone
    check() {
        if ISOGLOT_CUDA_TRY=$1 ISOGLOT_TEST_OPS=${SMALL:+norm embed} for_ 60 "$UNIT/ops" cuda \
            bf16 > "ops.$1" 2>&1
        then row A1 "operations, ${1:-as they are}" "" passed "" "" "stop if wrong"
        else row A1 "operations, ${1:-as they are}" "" \
            "FAILED: $(grep -m 1 -E 'is off|gradient of|no time' "ops.$1" | cut -c 1-90)" "" "" \
            "stop if wrong"; status=1; return 1; fi
    }
    check "" && { check all=1 || for n in $names; do check "$n=1"; done; }
    [ -n "${SMALL-}" ] || for t in "" all=1; do
        if ISOGLOT_CUDA_TRY=$t for_ 30 "$UNIT/search" cuda bf16 > search 2>&1
        then row A1 "search, ${t:-as it is}" "" passed "" "" "stop if wrong"
        else row A1 "search, ${t:-as it is}" "" "FAILED: $(first_of search)" "" "" "stop if wrong"
        status=1; fi; done
    for shape in "${shapes[@]}"; do
        set -- $shape
        for t in mask=1 attn=1 mask=1,attn=1; do
            ONLY=attention for_ 20 "$BENCH/ops" --try "" --try "$t" 1 cuda bf16 1 "$3" 1000 "$1" \
                "$2" "$heads" > "attention.$1.$t" 2>&1
            compare A2 "attention.$1.$t" "ms a layer" "3.2, 3.3" "$2 of $1, $t: "
        done
    done
    if [ -z "${SMALL-}" ]; then
        LD_LIBRARY_PATH=$LIBRARIES_BEFORE for_ 40 "$python" "$top/test/gpu/peer_attention.py" 20 \
            > peer_attention 2>&1
        if grep -q '^A3' peer_attention; then grep '^A3' peer_attention | tee -a rows
        else row A3 "PyTorch's attention" "" "" "no number: $(first_of peer_attention)" ms \
            "wgmma or not"; fi
    fi
fi
if wants B; then
    for_ 90 "$BENCH/ops" --try "" --try all=1 1 cuda bf16 "${ops[@]}" > operations 2>&1
    compare B operations "ms a call" "section 3" ""
    row B9 "bias sums by cuBLASLt's BGRADB" "" "no number: not written" "" ms bgrad
fi
# peer FLAGS: PyTorch's step, best of two, in ms
peer() {
    { sleep 1; echo; sleep 4; echo; } | LD_LIBRARY_PATH=$LIBRARIES_BEFORE timeout -k 3 \
        "$(( $(left) < 90 ? $(left) : 90 ))" "$python" "$top/test/gpu/peer.py" "$@" 2> peer.log |
        sed -n 's/.*: \([0-9.]*\) ms a step.*/\1/p' | sort -n | head -n 1
}
if wants C; then
    for s in "${steps[@]}"; do
        for_ 60 "$BENCH/step" --try "" --try all=1 cuda bf16 $s > step 2>&1
        compare C1 step "ms a step" "1.2, 65%" "$s: "
        [ -n "${SMALL-}" ] || for attention in flash cudnn; do
            [ "$(left)" -gt 30 ] || { row C1 "PyTorch, $attention" "" "" "no number: no time left" \
                "ms a step" 1.2; continue; }
            ms=$(peer $(echo "$s" | cut -d ' ' -f 1-7) --attention $attention)
            row C1 "PyTorch, $attention: $s" "" "" "${ms:-no number: $(tail -n 1 peer.log)}" \
                "ms a step" 1.2
        done
    done
    if [ -z "${SMALL-}" ] && [ "$(left)" -gt 120 ]; then
        for s in "mt 6 1024 60000 128 real 20" "mlm 12 768 60000 64 256 20"; do
            for_ 30 "$BENCH/step" --try "" --try all=1 cuda bf16 $s "$(nproc)" > step 2>&1
            compare C4 step "ms a step" aims "$s: "
        done
    fi
fi
if wants D; then
    for s in "${small[@]}"; do
        for_ 20 "$BENCH/step" --try "" --try all=1 cuda bf16 $s > step 2>&1
        compare D1 step "ms a step" "3.8, 3.9" "$s: "
    done
fi
if wants E; then
    nccl=$(dirname "$ISOGLOT_CUDA")/libisoglot-nccl.so
    if [ -e "$UNIT/ranks_self" ] && [ -e "$nccl" ]; then
        if ISOGLOT_NCCL=$nccl for_ 20 "$UNIT/ranks_self" > self 2>&1
        then row E1 "ranks of one GPU to itself" "" passed "" "" "section 5"
        else row E1 "ranks of one GPU to itself" "" "FAILED: $(first_of self)" "" "" "section 5"
        status=1; fi
    else row E1 "ranks of one GPU to itself" "" "no number: no $(basename "$nccl")" "" "" \
        "section 5"; fi
    export STEPS=${STEPS:-60} DIM=${DIM:-128} LAYERS=2 TOKENS=${TOKENS:-1000} \
        SENTENCES=${SENTENCES:-600}
    [ -z "${SMALL-}" ] || export STEPS=5 DIM=32 LAYERS=1 TOKENS=100 SENTENCES=100
    export ISOGLOT_CUDA_TRY=all=1
    for c in same_seed $([ -n "${SMALL-}" ] || echo resumed); do
        if for_ 40 bash -c '. "$TOP/test/gpu/checks.sh"; "check_$1_same_bytes"' decide "$c" \
            > "$c" 2>&1
        then row E2 "${c}_same_bytes" "" passed "" "" promise
        else row E2 "${c}_same_bytes" "" "FAILED: $(first_of "$c")" "" "" promise; status=1; fi
    done
fi
echo
echo "== $((SECONDS - began)) s; logs in $work"
column -t -s $'\t' rows 2> /dev/null || cat rows
exit $status
