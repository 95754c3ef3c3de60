#!/bin/bash
# Times tokenize and detokenize beside Moses' scripts (and sacremoses) on the same text in one run:
# medians and ratios.
#   BIN=folder of programs   MOSES=a checkout of moses-smt/mosesdecoder
#   SACREMOSES=its program (optional)   LANGUAGE=en   MB=20   RUNS=5   PEER_RUNS=1
#   TEXT="FILE..." text to tokenise, plain or .zst (together made about MB megabytes)
set -eu
BIN=$(cd "${BIN:-$(dirname "$0")/../../bin}" &&
    pwd); RUNS=${RUNS:-5}; MB=${MB:-20}; l=${LANGUAGE:-en}
TEXT=${TEXT:?"set TEXT to files of text"}
export LC_ALL=C.UTF-8
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
for f in $TEXT; do case $f in *.zst) zstd -dcq "$f";; *) cat "$f";; esac; done > "$work/once"
while [ "$(stat -c %s "$work/in" 2>/dev/null ||
    echo 0)" -lt $((MB * 1000000)) ]; do cat "$work/once" >> "$work/in"; done
echo "$(wc -c < "$work/in") bytes, $(wc -l < "$work/in") lines, -l $l; load $(cut -d' ' \
    -f1 /proc/loadavg)"
"$BIN/tokenize" --version | head -2
# median RUNS IN command...: wall and CPU seconds, KiB
median() {
    local runs=$1 in=$2 i; shift 2
    for i in $(seq "$runs"); do
        /usr/bin/env time -f '%e %U %S %M' -o "$work/t" "$@" < "$in" > "$work/out" 2> "$work/err" ||
            { cat "$work/err" >&2; exit 1; }
        tail -n 1 "$work/t"
    done | sort -n | awk '{ a[NR] = $1 " " $2 + $3 " " $4 } END { print a[int((NR + 1) / 2)] }'
}
show() { printf '%-44s %8.3f s wall %8.3f s CPU %8.1f MiB\n' "$1" "$2" "$3" "$(awk \
    "BEGIN { print $4 / 1024 }")"; }
ratio() { awk -v o="$1" -v t="$2" \
    'BEGIN { split(o, a); split(t, b); if (a[1] < 0.01) a[1] = 0.01; if (a[2] < 0.01) a[2] = 0.01
    printf "%-44s %8.1f times faster by wall, %.1f by CPU\n", "", b[1] / a[1], b[2] / a[2] }'; }
M=${MOSES:-}; [ -f "$M/scripts/tokenizer/tokenizer.perl" ] ||
    { echo "no Moses: set MOSES to a checkout"; M=; }
list=${M:+--nonbreaking $M/scripts/share/nonbreaking_prefixes/nonbreaking_prefix.$l}
show "reading the text (cat)" $(median "$RUNS" "$work/in" cat)
for n in 1 2; do
    ours=$(median "$RUNS" "$work/in" "$BIN/tokenize" -q -l "$l" $list --segment moses --threads $n)
    show "tokenize --threads $n" $ours; cp "$work/out" "$work/ours"
    [ -n "$M" ] || continue
    theirs=$(median "${PEER_RUNS:-1}" "$work/in" perl "$M/scripts/tokenizer/tokenizer.perl" \
        -q -l "$l" -threads $n)
    show "tokenizer.perl -threads $n" $theirs; ratio "$ours" "$theirs"
    cmp -s "$work/out" "$work/ours" && echo "same output: yes" || echo "OUTPUT DIFFERS"
done
[ -z "${SACREMOSES:-}" ] || { theirs=$(median 1 "$work/in" "$SACREMOSES" -q -l "$l" -j 2 tokenize)
show "sacremoses -j 2" $theirs; ratio "$ours" "$theirs"; }
cp "$work/ours" "$work/tok"
for n in 1 2; do
    ours=$(median "$RUNS" "$work/tok" "$BIN/detokenize" -q -l "$l" --threads $n)
    show "detokenize --threads $n" $ours; cp "$work/out" "$work/ours"
done
[ -z "$M" ] || {
    theirs=$(median "${PEER_RUNS:-1}" "$work/tok" perl "$M/scripts/tokenizer/detokenizer.perl" \
        -q -l "$l"); show "detokenizer.perl (one thread)" $theirs; ratio "$ours" "$theirs"
    cmp -s "$work/out" "$work/ours" && echo "same output: yes" || echo "OUTPUT DIFFERS"; }
for o in --case-marker --xlm --lowercase-and-remove-accent; do
    show "tokenize $o --threads 2" $(median "$RUNS" "$work/in" "$BIN/tokenize" -q -l "$l" $list $o \
        --threads 2)
done
[ -z "$M" ] || {
    t=$M/scripts/tokenizer
    show "XLM's tokenize.sh, 2 threads" $(median "${PEER_RUNS:-1}" "$work/in" sh \
        -c "perl $t/replace-unicode-punctuation.perl | perl $t/normalize-punctuation.perl -l $l |
        perl $t/remove-non-printing-char.perl |
        perl $t/tokenizer.perl -q -no-escape -threads 2 -l $l"); }
