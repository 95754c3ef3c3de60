#!/bin/bash
# What a program takes for one line: start, model, one sentence. Medians of wall time, CPU time and
# peak memory.
#   BIN=folder of programs   OLD=folder of other programs, alternating with them (none)
#   MODEL=folder of a translation model, SRC=, TGT=: else one of 9.7 M parameters (4 + 4 layers of
#   256, 8,000 words) is made of invented text
#   RUNS=21   THREADS=2
set -eu
here=$(cd "$(dirname "$0")" && pwd)
BIN=$(cd "${BIN:-$here/../../bin}" && pwd); RUNS=${RUNS:-21} THREADS=${THREADS:-2}
export LC_ALL=C.UTF-8
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
timed=$BIN/../test/bench/timed
[ -x "$timed" ] || { echo "start.sh: $timed is missing; run make bench/start" >&2; exit 1; }
cd "$work"
SRC=${SRC:-xa} TGT=${TGT:-xb}
if [ -z "${MODEL:-}" ]; then
    PATH=$BIN:$PATH
    synth-corpus -q --sentences 2000 --seed 1 -o synth
    bpe-learn -q -n 2000 synth/mono.xa synth/mono.xb > codes
    for f in mono.xa mono.xb dev.xa dev.xb; do bpe-apply -q -c codes < synth/$f > $f; done
    vocab-count -q mono.xa mono.xb > vocab
    seq "$(wc -l < vocab)" 7999 | sed 's/.*/pad& 1/' >> vocab
    for l in xa xb; do binarize -q -v vocab -l $l -o $l.shd < mono.$l; done
    pretrain -q --device cpu --train xa=xa.shd --train xb=xb.shd -v vocab --codes codes --layers 4 \
        --dim 256 --heads 8 --ffn 1024 --tokens 400 --steps 2 --warmup 1 --seed 1 --out pretrained
    finetune -q --device cpu --task mt -m pretrained --parallel xa-xb=dev.xa,dev.xb --tokens 400 \
        --steps 2 --seed 1 --out tuned
    mkdir model; MODEL=$work/model
    for f in codes config.json model.sum vocab weights.safetensors words.safetensors; do
        cp tuned/last/$f model/
    done
    head -n 1 dev.xa > line
else
    TEXT=${TEXT:?one line of tokens}; head -n 1 "$TEXT" > line
fi
ls -l "$MODEL/weights.safetensors" | awk '{ printf "weights of %.1f MiB, ", $5 / 1048576 }'
echo "a line of $(wc -w < line) tokens, $THREADS threads, $RUNS runs"

median() { sort -n | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'; }
one() { # NAME COMMAND...: of BIN and of OLD, in turn
    local name=$1 b i t; shift
    rm -f new old
    for ((i = 0; i < RUNS; i++)); do
        "$timed" "$BIN/$1" "${@:2}" < line 3>> new > /dev/null
        [ -z "${OLD:-}" ] || "$timed" "$OLD/$1" "${@:2}" < line 3>> old > /dev/null
    done
    for t in new ${OLD:+old}; do
        printf '%-12s %-4s %7.1f ms wall %7.1f ms CPU %7.1f MiB\n' "$name" $t \
            "$(cut -d ' ' -f 1 $t | median | awk '{ print 1000 * $1 }')" \
            "$(cut -d ' ' -f 2 $t | median | awk '{ print 1000 * $1 }')" \
            "$(cut -d ' ' -f 3 $t | median | awk '{ print $1 / 1024 }')"
    done
}
how="-q --threads $THREADS --device cpu --model $MODEL"
one "ckpt info" ckpt info --threads "$THREADS" "$MODEL"
one embed embed $how --layer -1 --text - --lang "$SRC" --of sentences
one translate translate $how --src "$SRC" --tgt "$TGT" --max-ratio 0 --max-extra 20
one "embed --help" embed --help
