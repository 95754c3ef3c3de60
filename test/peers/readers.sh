#!/bin/bash
# The readers of the tasks' public files on the files themselves: every example is read (counted by
# awk and python3), and gold given as prediction scores 100. DATA: a folder with ud, ner, nli/xnli,
# nli/sick, xquad and tatoeba.
set -eu -o pipefail
export LC_ALL=C.UTF-8
cd "$(dirname "$0")/../.."
make -s programs
PATH=$PWD/bin:$PATH
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
n=0
# check NAME EXAMPLES METRIC GOLD [options] < predictions
check() {
    local name=$1 want=$2 metric=$3 gold=$4; shift 4
    score -m "$metric" --resamples 0 "$gold" "$@" > "$work/out" 2> "$work/err" ||
        { cat "$work/err"; echo "$name: failed"; exit 1; }
    awk -F '\t' -v n="$want" \
        'NR > 1 && ($3 != 100 || $6 != n) { bad = 1 } END { exit bad || NR < 2 }' "$work/out" ||
            { cat "$work/out"; echo "$name: not 100 over $want"; exit 1; }
    [ ! -s "$work/err" ] || { cat "$work/err"; echo "$name: something was noticed"; exit 1; }
    n=$((n + 1))
}
for f in "$DATA"/ud/*.conllu.zst; do
    zstd -dqc "$f" | awk -F '\t' \
        '/^#/ { next } $1 ~ /^[0-9]+$/ { print $2 "\t" $4 } /^$/' > "$work/pred"
    check "$f" "$(zstd -dqc "$f" | grep -c '^# sent_id')" tag-accuracy "$f" < "$work/pred"
    check "$f" "$(zstd -dqc "$f" | grep -c '^# sent_id')" chunk-f1 "$f" < "$work/pred"
done
for f in "$DATA"/ner/*.conllu.zst; do
    zstd -dqc "$f" | cut -f2,3 > "$work/pred"
    check "$f" "$(awk '!NF { s = 0 } NF && !s { k++; s = 1 } END { print k }' "$work/pred")" \
        chunk-f1 "$f" < "$work/pred"
done
for f in "$DATA"/nli/xnli/*.tsv.zst; do
    l=$(basename "$f" | sed -E 's/^(en-)?(..)\..*/\2/'); c=1; case $f in *.dev.tsv.zst) c=2;; esac
    zstd -dqc "$f" | tail -n +2 | cut -f$c > "$work/pred"
    check "$f" "$(wc -l < "$work/pred")" accuracy "$l=$f" < "$work/pred"
done
for f in "$DATA"/nli/sick/*.txt.zst; do
    zstd -dqc "$f" | tail -n +2 | tr -d '\r' > "$work/rows"
    cut -f5 "$work/rows" > "$work/pred"
    check "$f" "$(wc -l < "$work/rows")" accuracy "$f" < "$work/pred"
    cut -f4 "$work/rows" | score -m pearson --resamples 0 "$f" |
        awk -F '\t' 'NR == 2 && $3 != 1 { exit 1 }' || { echo "$f: relatedness"; exit 1; }
done
for l in en de es ar hi zh; do
    zstd -dqc "$DATA/xquad/xquad.$l.json.zst" | python3 -c 'import json, sys
json.dump({q["id"]: q["answers"][0]["text"] for a in json.load(sys.stdin)["data"]
           for p in a["paragraphs"] for q in p["qas"]}, sys.stdout)' > "$work/pred"
    check "xquad.$l" 1190 squad "$l=$DATA/xquad/xquad.$l.json.zst" < "$work/pred"
    check "xquad.$l" 1190 mlqa "$l=$DATA/xquad/xquad.$l.json.zst" < "$work/pred"
done
echo "$n files and metrics: all examples read, gold scores 100"
