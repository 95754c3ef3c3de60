#!/bin/bash
# Times bleu beside sacreBLEU and multi-bleu.perl on the same lines in one run; prints medians and
# ratios.
#   BIN=folder of programs   TEXT=reference text, a sentence a line (repeated up to LINES lines)
#   SACREBLEU=sacrebleu's program   MULTI_BLEU=multi-bleu.perl   LINES=100000   RUNS=5
# The hypotheses are the references with words dropped, replaced and swapped.
set -eu
BIN=$(cd "${BIN:-$(dirname "$0")/../../bin}" && pwd); LINES=${LINES:-100000}; RUNS=${RUNS:-5}
TEXT=${TEXT:?"set TEXT to a file of sentences"}
export LC_ALL=C.UTF-8
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
: > "$work/ref"
while [ "$(wc -l < "$work/ref")" -lt "$LINES" ]; do cat "$TEXT" >> "$work/ref"; done
head -n "$LINES" "$work/ref" > "$work/r"; mv "$work/r" "$work/ref"
awk 'BEGIN { srand(3) } { n = split($0, w, " "); s = ""
    for (i = 1; i <= n; i++) { r = rand(); if (r < .08) continue; if (r < .16) w[i] = "the"
        if (r > .94 && i < n) { t = w[i]; w[i] = w[i+1]; w[i+1] = t }
        s = s (s == "" ? "" : " ") w[i] } print s }' "$work/ref" > "$work/hyp"
echo "lines $LINES, words $(wc -w < "$work/ref"), bytes $(cat "$work/ref" "$work/hyp" |
    wc -c) in two files; load $(cut -d' ' -f1 /proc/loadavg)"
# median RUNS command...: wall and CPU seconds, KiB
median() {
    local runs=$1 i; shift
    for i in $(seq "$runs"); do
        /usr/bin/env time -f '%e %U %S %M' -o "$work/t" "$@" < "$work/hyp" > "$work/out" 2> \
            "$work/err" || { cat "$work/err" >&2; exit 1; }
        tail -n 1 "$work/t"
    done | sort -n | awk '{ a[NR] = $1 " " $2 + $3 " " $4 } END { print a[int((NR + 1) / 2)] }'
}
show() { printf '%-44s %8.3f s wall %8.3f s CPU %8.1f MiB\n' "$1" $2 $3 "$(awk \
    "BEGIN { print $4 / 1024 }")"; }
ratio() { awk -v n="$1" -v ours="${2%% *}" -v theirs="${3%% *}" \
    'BEGIN { printf "%-44s %8.1f times faster\n", n, theirs / ours }'; }
pair() {   # name, peer's run..., --, our arguments
    local name=$1 peer=() t ours; shift
    while [ "$1" != -- ]; do peer+=("$1"); shift; done; shift
    if [ ${#peer[@]} -gt 0 ]; then t=$(median "${PEER_RUNS:-1}" "${peer[@]}"); show "$name, peer" $t
    cp "$work/out" "$work/theirs"; else t=; fi
    for threads in 1 2; do
        ours=$(median "$RUNS" "$BIN/bleu" --threads $threads "$@")
        show "$name, bleu --threads $threads" $ours
        [ -z "$t" ] || ratio "" "$ours" "$t"
    done
    [ -z "$t" ] || sed 's/-isoglot-[0-9.]*//' "$work/out" | cmp -s - "$work/theirs" &&
        echo "same output: ${t:+yes}" || echo "OUTPUT DIFFERS"
}
S=${SACREBLEU:-} M=${MULTI_BLEU:-}
[ -n "$S" ] && "$S" --version || echo "no sacreBLEU: set SACREBLEU"
[ -n "$M" ] || echo "no multi-bleu.perl: set MULTI_BLEU"
r=$work/ref
pair "BLEU, 13a" ${S:+"$S" "$r"} -- "$r"
pair "multi-bleu" ${M:+perl "$M" "$r"} -- --multi "$r"
pair "chrF++" ${S:+"$S" "$r" -m chrf --chrf-word-order 2} -- "$r" -m chrf --chrf-word-order 2
pair "BLEU, intl, lower case" ${S:+"$S" "$r" -tok intl -lc} -- "$r" -tok intl -lc
head -n $((LINES / 10)) "$r" > "$work/r"; head -n $((LINES / 10)) "$work/hyp" > "$work/h"
mv "$work/h" "$work/hyp"; r=$work/r
echo "from here on $((LINES / 10)) lines"
pair "TER" ${S:+"$S" "$r" -m ter} -- "$r" -m ter
pair "BLEU, 1000 resamples" ${S:+"$S" "$r" --confidence} -- "$r" --confidence
