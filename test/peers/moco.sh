#!/bin/bash
# MoCo's steps beside PyTorch's (moco.py): the same pairs, model and optimiser, one thread each, CPU
# seconds per step, peak memory, and the ratios. Ours: a run of STEPS + 2 steps less one of 2, so
# that loading does not count.
#   PYTHON=python-with-torch test/peers/moco.sh [VOCAB PAIRS_A PAIRS_B]
# Without files: pairs of synth-corpus.
set -eu -o pipefail
export LC_ALL=C.UTF-8
top=$(cd "$(dirname "$0")/../.." && pwd)
PATH=$top/bin:$PATH STEPS=${STEPS:-12}
LAYERS=4 DIM=256 HEADS=4 BATCH=128 QUEUE=1024 PROJECTION=128
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE
files=$(realpath "$@" 2>/dev/null || true)
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT; cd "$work"
if [ $# = 3 ]; then
    readarray -t f <<< "$files"; cp "${f[0]}" vocab; cp "${f[1]}" a; cp "${f[2]}" b
else
    synth-corpus -q --out s --sentences 2000 --dev 8000
    for l in a b; do tokenize -q -l x$l < s/dev.x$l > $l; done
    vocab-count -q a b > vocab
fi
for l in a b; do binarize -q -v vocab -l x$l -o $l.shd < $l; done
pretrain -q -v vocab --train xa=a.shd --train xb=b.shd --layers $LAYERS --dim $DIM --heads $HEADS \
    --positions 140 --no-encoder-langs --steps 0 --out base
ours() {    # STEPS: user and system seconds
    local TIMEFORMAT='%U %S'
    { time align-post --threads 1 --model base --parallel xa-xb=a,b --min-tokens 5 \
        --objective moco --batch $BATCH --queue $QUEUE --projection $PROJECTION --momentum 0.99 \
        --lr 3e-4 --steps "$1" --log-every 1000 --save-every 0 --profile --out "run.$1" \
        > told 2>&1; } 2>&1 |
        awk '{ print $1 + $2 }'
}
few=$(ours 2); many=$(ours $((STEPS + 2)))
mine=$(awk -v a="$few" -v b="$many" -v n="$STEPS" 'BEGIN { printf "%.3f", (b - a) / n }')
memory=$(sed -n 's/^memory: \([0-9.]*\) MiB.*/\1/p' told)
predicted=$(sed -n 's/^memory: .*, \([0-9.]*\) predicted/\1/p' told)
theirs=$("$PYTHON" "$top/test/peers/moco.py" vocab a b $LAYERS $DIM $HEADS $BATCH $QUEUE \
    $PROJECTION "$STEPS")
printf 'ours\t%s s per step\t%s MiB (%s predicted)\n' "$mine" "$memory" "$predicted"
awk -F '\t' -v m="$mine" -v mib="$memory" '{
    printf "PyTorch\t%s s per step\t%s MiB\t%s\n", $1, $2, $5
    printf "ratio\t%.2f\t%.0f%%\n", $1 / m, 100 * mib / $2 }' <<< "$theirs"
