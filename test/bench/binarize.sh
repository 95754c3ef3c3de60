#!/bin/bash
# Times binarize with 1 and 2 threads, alternating with another build of it and with Hugging Face
# tokenizers' WordLevel, which makes the same ids and does not compress them. Medians of wall and
# CPU time, and peak memory.
#   BIN=folder of programs   OLD=folder of other programs (none)   RUNS=11
#   PYTHON=a Python with tokenizers and numpy (none: no peer)   PEER_RUNS=3
#   TEXT=tokens, one sentence per line   VOCAB=their vocabulary (default: vocab-count's)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
BIN=$(cd "${BIN:-$here/../../bin}" && pwd); RUNS=${RUNS:-11} PEER_RUNS=${PEER_RUNS:-3}
TEXT=$(readlink -f "${TEXT:?set TEXT to a text of tokens}") VOCAB=${VOCAB:-} OLD=${OLD:-}
[ -z "$VOCAB" ] || VOCAB=$(readlink -f "$VOCAB")
[ -z "$OLD" ] || OLD=$(cd "$OLD" && pwd)
export LC_ALL=C.UTF-8
timed=$BIN/../test/bench/timed
[ -x "$timed" ] || { echo "binarize.sh: $timed is missing; run make bench/binarize" >&2; exit 1; }
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT; cd "$work"
[ -n "$VOCAB" ] || { VOCAB=$work/vocab; "$BIN/vocab-count" -q "$TEXT" > vocab; }
echo "$(wc -c < "$TEXT") bytes, $(wc -w < "$TEXT") tokens, a vocabulary of $(wc -l < "$VOCAB");" \
    "load $(cut -d ' ' -f 1 /proc/loadavg)"
cat > hf.py <<'PY'
import sys
import numpy
from tokenizers import Tokenizer, models, pre_tokenizers

words = [line.rsplit(" ", 1)[0] for line in open(sys.argv[1], encoding="utf-8", newline="\n")]
ids = {w: i + 5 for i, w in enumerate(words)}
ids["\0"] = 3
t = Tokenizer(models.WordLevel(ids, unk_token="\0"))
t.pre_tokenizer = pre_tokenizers.CharDelimiterSplit(" ")
lines = open(sys.argv[2], encoding="utf-8", newline="\n").read().split("\n")
kind = numpy.uint16 if len(words) < 65531 else numpy.uint32
with open("hf.ids", "wb") as out:
    for i in range(0, len(lines), 10000):
        for e in t.encode_batch_fast(lines[i:i + 10000], add_special_tokens=False):
            out.write(numpy.array(e.ids, kind).tobytes())
PY
run() { # NAME COMMAND...
    "$timed" "${@:2}" 3>> "$1" > out || { echo "failed: ${*:2}" >&2; exit 1; }
}
show() { # NAME FILE
    for f in 1 2 3; do
        cut -d ' ' -f $f "$2" | sort -n | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'
    done | paste -sd ' ' | awk -v name="$1" \
        '{ printf "%-32s %7.3f s wall %7.3f s CPU %8.1f MiB\n", name, $1, $2, $3 / 1024 }'
}
for ((i = 0; i < RUNS; i++)); do
    for t in 1 2; do
        run new.$t "$BIN/binarize" -q --threads $t -v "$VOCAB" "$TEXT"; mv out new
        [ -z "$OLD" ] || { run old.$t "$OLD/binarize" -q --threads $t -v "$VOCAB" "$TEXT"
            cmp out new; }
    done
done
if [ -n "${PYTHON:-}" ]; then
    for ((i = 0; i < PEER_RUNS; i++)); do
        for t in 1 2; do
            RAYON_NUM_THREADS=$t TOKENIZERS_PARALLELISM=$([ $t = 1 ] && echo false || echo true) \
                run hf.$t "$PYTHON" hf.py "$VOCAB" "$TEXT"
        done
    done
    "$BIN/shard" cat --ids new | tr -s ' ' '\n' | grep . > ours
    python=$PYTHON
    "$python" -c 'import numpy, sys
kind = numpy.uint16 if int(sys.argv[1]) < 65531 else numpy.uint32
numpy.savetxt("theirs", numpy.fromfile("hf.ids", kind), "%d")' "$(wc -l < "$VOCAB")"
    cmp ours theirs && echo "the same ids as tokenizers"
fi
for t in 1 2; do
    show "binarize --threads $t" new.$t
    [ -z "$OLD" ] || show "  before" old.$t
    [ -z "${PYTHON:-}" ] || show "  tokenizers, $t threads" hf.$t
done
