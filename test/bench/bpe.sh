#!/bin/bash
# Times bpe-learn, bpe-apply and vocab-count beside fastBPE, gigabpe, gigatoken, YouTokenToMe,
# Hugging Face tokenizers and subword-nmt on the same text in one run; prints medians and ratios,
# each peer with its own threads.
#   BIN=folder of programs   TEXT=tokenised text   MERGES=20000   RUNS=5   PEER_RUNS=3
#   FAST=fastBPE's program   PYTHON=a Python with gigabpe, gigatoken, youtokentome, tokenizers and
#   subword_nmt
#   (what is not installed is left out)
#   GROWTH="20 200 2000"     instead: wall time and peak memory of each of our programs on so many
#   megabytes (TEXT repeated)
set -eu
BIN=$(cd "${BIN:-$(dirname "$0")/../../bin}" &&
    pwd); RUNS=${RUNS:-5} PEER_RUNS=${PEER_RUNS:-3} MERGES=${MERGES:-20000}
TEXT=$(readlink -f "${TEXT:?set TEXT to a tokenised text}")
FAST=${FAST:-} PYTHON=${PYTHON:-} GROWTH=${GROWTH:-}
export LC_ALL=C.UTF-8
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT; cd "$work"
echo "text: $(wc -c < "$TEXT") bytes, $(wc -w < "$TEXT") words; load $(cut -d' ' \
    -f1 /proc/loadavg), $(nproc) processors"
# median RUNS command...: wall and CPU seconds, KiB; with INSIDE=1 as the command's last line of
# standard error tells them, else of the whole process
median() {
    local runs=$1 i; shift
    for i in $(seq "$runs"); do
        /usr/bin/env time -f '%e %U %S %M' -o t "$@" > out 2> err ||
            { tail -n 3 err >&2; echo "failed: $*" >&2; exit 1; }
        if [ -n "${INSIDE:-}" ]; then tail -n 1 err; else tail -n 1 t; fi
    done | sort -n | awk '{ a[NR] = $1 " " $2 + $3 " " $4 } END { print a[int((NR + 1) / 2)] }'
}
show() { printf '  %-40s %8.2f s wall %8.2f s CPU %8.1f MiB\n' "$1" $2 $3 "$(awk \
    "BEGIN { print $4 / 1024 }")"; }
ours=
us() { local name=$1; shift; ours=$(median "$RUNS" "$@"); show "$name" $ours
cp out "our.$name" 2> /dev/null || true; }
them() {   # name command...: and how many times as long and as large
    local name=$1 t; shift
    t=$(median "$PEER_RUNS" "$@"); show "$name" $t
    echo "$t $ours" | awk \
        '{ printf "  %-40s %8.1f x wall %8.1f x CPU %8.1f x memory\n", "",
            $1 / $4, $2 / $5, $3 / $6 }'
}
has() { [ -n "$PYTHON" ] && "$PYTHON" -c "import $1" 2> /dev/null ||
    { echo "  (no $1: set PYTHON)"; false; }; }

if [ -n "$GROWTH" ]; then
    "$BIN/bpe-learn" -q -n "$MERGES" "$TEXT" > codes
    "$BIN/bpe-apply" -c codes "$TEXT" > one.bpe; "$BIN/vocab-count" one.bpe > vocab
    for mb in $GROWTH; do
        : > text; while [ "$(stat -c %s text)" -lt $((mb * 1000000)) ]; do cat "$TEXT" >> text; done
        echo "$(($(stat -c %s text) / 1000000)) MB"
        show bpe-learn $(median 1 "$BIN/bpe-learn" -q -n "$MERGES" text)
        show bpe-apply $(median 1 "$BIN/bpe-apply" -q -c codes -o /dev/null text)
        show vocab-count $(median 1 "$BIN/vocab-count" -q text)
        "$BIN/bpe-apply" -q -c codes text > text.bpe; rm text
        show binarize $(median 1 "$BIN/binarize" -q -v vocab -o shd text.bpe)
        show "shard check" $(median 1 "$BIN/shard" check shd); rm text.bpe shd
    done
    exit
fi

cat > yttm.py <<'PY'
import sys, youtokentome as y
if sys.argv[1] == "learn": y.BPE.train(data=sys.argv[2],
    model="yttm.model", vocab_size=int(sys.argv[3]),
    n_threads=int(sys.argv[4]), coverage=1.0)
PY
# gigatoken makes identifiers and writes no text; it takes no words split at spaces, so that it gets
# as many merges of bytes, by Hugging Face tokenizers. Both time themselves, from nothing read to
# all done, since starting Python takes longer than their work.
cat > giga.py <<'PY'
import sys, time
from resource import getrusage, RUSAGE_SELF as me
what, text, n, threads = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
if what == "learn":
    import gigabpe
    work = lambda: gigabpe.train_tokenizer([text], n, "gigabpe.json", pretokenizer="whitespace",
        end_of_word_suffix="</w>", special_tokens=[], threads=threads)
elif what == "bytes":
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.train([text], trainers.BpeTrainer(vocab_size=n, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    t.save("giga.json")
    sys.exit()
else:
    import gigatoken
    t = gigatoken.Tokenizer("giga.json")
    source = gigatoken.TextFileSource([text], separator="\n")
    work = lambda: t.encode_files(source, parallel=threads > 1)
cpu = lambda: sum(getrusage(me)[:2])
c, w = cpu(), time.monotonic()
work()
print("%.3f %.3f 0 %d" % (time.monotonic() - w, cpu() - c, getrusage(me).ru_maxrss),
      file=sys.stderr)
PY
cat > hf.py <<'PY'
import os, sys
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
if sys.argv[1] == "learn":
    t = Tokenizer(models.BPE(end_of_word_suffix="</w>"))
    t.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    t.train([sys.argv[2]],
            trainers.BpeTrainer(vocab_size=int(sys.argv[3]),
                                     end_of_word_suffix="</w>", show_progress=False))
    t.save("hf.json")
else:
    t = Tokenizer.from_file("hf.json")
    lines = open(sys.argv[2], encoding="utf-8").read().split("\n")
    for i in range(0, len(lines), 10000):
        for e in t.encode_batch(lines[i:i + 10000]): sys.stdout.write(" ".join(e.tokens) + "\n")
PY
echo "read and count the text's bytes:"; us "wc -c (cat |)" sh -c "cat '$TEXT' | wc -c"
for t in 1 2; do
    echo "learn $MERGES merges, $t threads:"
    us bpe-learn "$BIN/bpe-learn" -q --threads $t -n "$MERGES" "$TEXT"
    cp out codes
    [ $t = 2 ] || { [ -n "$FAST" ] && them "fastBPE, 1 thread" "$FAST" learnbpe "$MERGES" "$TEXT" ||
        echo "  (no fastBPE: set FAST)"; }
    has youtokentome && them "YouTokenToMe" "$PYTHON" yttm.py learn "$TEXT" $((MERGES + 10000)) $t
    has gigabpe && INSIDE=1 them "gigabpe" "$PYTHON" giga.py learn "$TEXT" $((MERGES + 10000)) $t
    has tokenizers && RAYON_NUM_THREADS=$t them "Hugging Face tokenizers" "$PYTHON" hf.py learn \
        "$TEXT" $((MERGES + 10000))
    if [ $t = 1 ] && [ -n "${SLOW:-}" ] &&
        has subword_nmt; then PEER_RUNS=1 them "subword-nmt" "$PYTHON" -m subword_nmt.learn_bpe \
            -s "$MERGES" -i "$TEXT"; fi
done
! { has gigatoken && has tokenizers; } || "$PYTHON" giga.py bytes "$TEXT" $((MERGES + 256)) 0
for t in 1 2; do
    echo "apply them, $t threads:"
    us bpe-apply "$BIN/bpe-apply" -q --threads $t -c codes -o ours "$TEXT"
    if [ $t = 2 ] && [ -n "$FAST" ]; then them "fastBPE, 2 threads (it takes all)" "$FAST" \
        applybpe theirs "$TEXT" codes; cmp ours theirs && echo "  same bytes"; fi
    [ ! -f yttm.model ] || { ln -sf "$(dirname "$PYTHON")/yttm" yttm
    them "YouTokenToMe" sh \
        -c "./yttm encode --model yttm.model --output_type subword --n_threads $t < '$TEXT'"; }
    [ ! -f giga.json ] || INSIDE=1 RAYON_NUM_THREADS=$t them "gigatoken (identifiers only)" \
        "$PYTHON" giga.py apply "$TEXT" 0 $t
    [ ! -f hf.json ] || RAYON_NUM_THREADS=$t TOKENIZERS_PARALLELISM=$([ $t = 1 ] && echo false ||
        echo true) them "Hugging Face tokenizers" "$PYTHON" hf.py apply "$TEXT"
    if [ $t = 1 ] && [ -n "${SLOW:-}" ] && has subword_nmt; then
        "$BIN/bpe-learn" -q -n "$MERGES" --format subword-nmt "$TEXT" > codes.sw
        PEER_RUNS=1 them "subword-nmt" "$PYTHON" -m subword_nmt.apply_bpe -c codes.sw -i "$TEXT"
    fi
done
echo "count tokens:"
us vocab-count "$BIN/vocab-count" -q --threads 2 ours
[ -z "$FAST" ] || them "fastBPE, 1 thread" "$FAST" getvocab ours
