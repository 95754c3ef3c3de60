# The CUDA side without a GPU: its operations with every access checked for races, and what the
# emulation finds in kernels with a mistake each (test/cuda/planted.cc).
. "$TOP/test/cli/lib.sh"
build=$(dirname "$BIN")
export ISOGLOT_CUDA=$build/test/cuda/libisoglot-cuda-races.so
export ISOGLOT_CUBLASLT=$ISOGLOT_CUDA UNIT=$build/test/unit
. "$TOP/test/gpu/checks.sh"
large() { ISOGLOT_EMULATE_SM=90 ISOGLOT_TEST_OPS="attn ffn" "$UNIT/ops" cuda bf16; }

# what the emulation finds, in kernels with a mistake each
planted=$build/test/cuda/planted
is "$(ISOGLOT_EMULATE=races "$planted" right)" 56 "a kernel without a mistake"
if [ -z "${ISOGLOT_TEST_SANITIZED-}" ]; then
    export ISOGLOT_EMULATE=races
    fails 1 'the kernels are built without the calls that find races' env \
        ISOGLOT_CUDA=$build/test/cuda/libisoglot-cuda.so "$UNIT/ops" cuda
    # the large shapes are left out: minutes
    ISOGLOT_TEST_SANITIZED=1 check_ops_float32 > races32 2>&1 & races32=$!
    { ISOGLOT_TEST_SANITIZED=1 check_ops_bf16 &&
        ISOGLOT_TEST_SANITIZED=1 large; } > races16 2>&1 & races16=$!
    is "$("$planted" warp_barrier)" 6 "a kernel that needs no more than a barrier of a warp"
    for what in "no_barrier:a race at .*, shared memory" \
        "no_barrier_before_the_next:a race at .*, shared memory" \
            "shuffle_for_a_barrier:a race at .*, shared memory" \
        "two_blocks:a race at .*, device memory" "not_waited_for:where a cp.async is under way" \
            "odd_address:not aligned"; do
        ! "$planted" "${what%%:*}" > found 2>&1 || fail "${what%%:*} was not noticed"
        grep -q "${what#*:}" found || { cat found; fail "${what%%:*}"; }
    done
    wait $races32 || { cat races32; fail "races in float32"; }
    wait $races16 || { cat races16; fail "races in bf16"; }
    unset ISOGLOT_EMULATE
fi
for what in "parted:lanes of a warp are at different operations" "left_early:without all 32 lanes" \
    "much_shared:more than 48 KiB of shared memory" "high_grid:no device would take"; do
    ! "$planted" "${what%%:*}" > found 2>&1 || fail "${what%%:*} was not noticed"
    grep -q "${what#*:}" found || { cat found; fail "${what%%:*}"; }
done
is "$("$planted" late_copy)" -1 "memory of the host that was written to before a copy had read it"
is "$("$planted" early_read)" "-nan then 7" \
    "memory of the host that was read before a copy had come"
is "$("$planted" captured)" "0 0: 7 then 9: 9" "launches that are captured, and a graph of them"
for what in captured_wait captured_memory captured_read; do is "$("$planted" $what)" \
    "900 901: 7 then 7: 7" "a capture with what cannot be captured: $what"; done
