# What a CUDA device must show, one function a check: test/gpu/run.sh runs them on a GPU,
# test/cli/cuda*.sh on the emulated one with smaller numbers. They want the programs in PATH, the
# unit tests in $UNIT and the checkout in $TOP; STEPS, DIM, LAYERS and TOKENS size the training
# runs. Each works in a folder of its own and returns non-zero where something does not hold.
wrong() { echo "failed: $*" >&2; return 1; }

# The list of operations against plain computations in double, finite differences and PyTorch's
# numbers; those of the beam search.
check_ops_float32() { "$UNIT/ops" cuda && "$UNIT/search" cuda; }
check_ops_bf16() { "$UNIT/ops" cuda bf16 && "$UNIT/search" cuda bf16; }
# Whole models against PyTorch's numbers: losses, gradients, ten steps of Adam, AdamW and LAMB; and
# translating, in a row of its own.
check_models() { "$UNIT/golden" cuda; }
check_decoding() { "$UNIT/decode" cuda; }

# Two languages with words that keep company, so that there is something to learn.
corpus() {
    [ ! -e both.cooc ] || return 0
    awk -v n="${SENTENCES:-600}" \
        'BEGIN { srand(5); for (i = 0; i < n; i++) {
            len = 3 + int(rand() * 12); topic = int(rand() * 10); s = t = "";
        for (j = 0; j < len; j++) { w = topic * 12 + int(rand() * rand() * 12);
            s = s (j ? " " : "") "a" w; t = (j ? t " " : "") "b" w }
        print s > "aa"; print t > "bb" } }'
    vocab-count -q aa bb > vocab &&
    for l in aa bb; do binarize -q -v vocab -l $l -o $l.shd < $l &&
        cooc-count -q -w 2 -v vocab $l=$l.shd > $l.cooc || return 1; done
    cooc-merge -q --normalize aa aa.cooc bb.cooc > both.cooc
}
# pretrain_on DEVICE PRECISION FOLDER [more]. With EXEC=exec in the background its process is the
# program itself, for signals.
pretrain_on() {
    local device=$1 precision=$2 out=$3; shift 3
    ${EXEC-} pretrain -q --train aa=aa.shd --train bb=bb.shd --valid aa=aa.shd \
        --valid-sentences 50 -v vocab --objective mlm,gc --cooc both.cooc --layers "$LAYERS" \
            --dim "$DIM" --heads 4 \
        --positions 32 --tokens "$TOKENS" --dropout 0.1 --attention-dropout 0.1 --lr 1e-3 \
            --warmup $((STEPS / 10)) --schedule constant --steps "$STEPS" \
        --valid-every "$STEPS" --log-every $((STEPS / 5)) --seed 4 --device "$device" \
            --precision "$precision" --out "$out" "$@"
}
terms() { sed -n 's/.*"mlm":\([0-9.e+-]*\).*"gc":\([0-9.e+-]*\).*/\1 \2/p' "$1/log.jsonl"; }
# follows TOLERANCE A B: every term of every log line, relative
follows() {
    paste -d ' ' <(terms "$2") <(terms "$3") | awk -v t="$1" -v a="$2" -v b="$3" '
        NF != 4 { bad = 1 }
        { for (i = 1; i <= 2; i++) { d = ($i - $(i + 2)) / $i; if (d < 0) d = -d;
            if (!(d <= t)) bad = 1; if (d > most) most = d } }
        END {
            printf "%s and %s: %d log lines, losses differ by at most ", a, b, NR
            printf "%.2g of their size (%g is allowed)\n", most, t; exit bad || NR < 5 }'
}
check_training_follows_the_cpu() {
    corpus && pretrain_on cpu float32 cpu && pretrain_on cuda float32 cuda &&
        follows "${FOLLOWS:-0.005}" cpu cuda
}
check_bf16_training_follows_the_cpu() { corpus && { [ -e cpu ] || pretrain_on cpu float32 cpu; } &&
    pretrain_on cuda bf16 cuda16 && follows 0.03 cpu cuda16; }
check_same_seed_same_bytes() {
    corpus && pretrain_on cuda bf16 once && pretrain_on cuda bf16 again &&
        cmp once/last/weights.safetensors again/last/weights.safetensors
}
# Stopped by a signal whenever the log has a new line and resumed until it is through: the bytes of
# an unbroken run.
check_resumed_same_bytes() {
    local status i=0 pid had
    corpus && { [ -e once ] || pretrain_on cuda bf16 once; } || return 1
    while :; do
        i=$((i + 1)); [ $i -lt 40 ] || { wrong "the broken run does not come to an end"; return 1; }
        had=$(cat broken/log.jsonl 2> /dev/null | wc -l)
        EXEC=exec pretrain_on cuda bf16 broken --resume & pid=$!
        while kill -0 $pid 2> /dev/null && [ "$(cat broken/log.jsonl 2> /dev/null |
            wc -l)" -le "$had" ]; do sleep 0.05; done
        kill -TERM $pid 2> /dev/null
        status=0; wait $pid || status=$?
        case $status in 0) break ;; 75) ;; *) wrong "status $status"; return 1 ;; esac
    done
    echo "in $i parts"
    [ $i -gt 1 ] || { wrong "it was through before it could be stopped"; return 1; }
    cmp once/last/weights.safetensors broken/last/weights.safetensors
}
# A translator learns to reverse on the device, and says the same on the CPU.
check_translation_follows_the_cpu() {
    local b different
    corpus || return 1
    [ -e rev ] || { head -n 300 aa > fwd &&
        awk '{ s = $NF; for (i = NF - 1; i > 0; i--) s = s " " $i; print s }' fwd > rev; } ||
            return 1
    finetune -q --task mt -v vocab --parallel aa-bb=fwd,rev --seed 3 --layers "$LAYERS" \
        --dim "$DIM" --heads 4 --positions 32 --tokens "$TOKENS" \
        --steps "$STEPS" --lr 2e-3 --warmup 10 --device cuda --out mt || return 1
    head -n "${TRANSLATE:-100}" fwd > some
    for b in 1 5; do
        translate -q --model mt/last --src aa --tgt bb --beam $b --device cuda < some > gpu.$b &&
            translate -q --model mt/last --src aa --tgt bb --beam $b --device cpu < some > cpu.$b ||
                return 1
        [ -s gpu.$b ] && [ "$(wc -l < gpu.$b)" = "$(wc -l < some)" ] ||
            { wrong "translations are missing"; return 1; }
        different=$(diff cpu.$b gpu.$b | grep -c '^<' || true)
        echo "beam $b: $different of $(wc -l < some) sentences differ"
        [ "$different" -le $((${TRANSLATE:-100} / 20)) ] ||
            { wrong "beam $b differs from the CPU's"; return 1; }
    done
}
