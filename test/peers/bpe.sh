#!/bin/bash
# Compares bpe-learn, bpe-apply and vocab-count with fastBPE and subword-nmt, byte for byte; a line
# a comparison.
#   BIN=folder of programs   VENV=Python environment (made, with subword-nmt and fastBPE's sources,
#   if it does not exist)
#   FAST=path of fastBPE's program `fast` (compiled from PyPI's sources if not set)
#   DATA=folder of real text (left out if not there)
#   --golden  writes test/cli/data/bpe's codes and sums, which `make test` compares with
# Not compared, because the peers differ from what they document there: words with Unicode blanks,
# where subword-nmt's learn_bpe merges across symbols (its \S) and its readers end lines (U+0085,
# U+2028, "\r"); a last line without newline or text with NUL, which fastBPE cuts; texts that
# contain "</w>", where symbols get confused with word ends.
set -u
here=$(cd "$(dirname "$0")" && pwd)
BIN=$(cd "${BIN:-$here/../../bin}" && pwd)
VENV=${VENV:-${TMPDIR:-/tmp}/isoglot-peers-bpe}
DATA=${DATA:-$here/../../../shared/data}
export LC_ALL=C.UTF-8
if [ ! -x "$VENV/bin/subword-nmt" ]; then
    python3 -m venv "$VENV" && "$VENV/bin/pip" install -q subword-nmt==0.3.8 ||
        { echo "cannot install subword-nmt"; exit 1; }
fi
sw() { "$VENV/bin/subword-nmt" "$@" 2>/dev/null; }
FAST=${FAST:-$VENV/bin/fast}
if [ ! -x "$FAST" ]; then
    (cd "$VENV" && bin/pip install -q 'cython<3' setuptools wheel &&
     bin/pip download -q --no-deps --no-binary :all: --no-build-isolation fastBPE==0.1.0 &&
         tar xzf fastBPE-0.1.0.tar.gz &&
     g++ -std=c++11 -pthread -O3 -IfastBPE-0.1.0/fastBPE fastBPE-0.1.0/fastBPE/main.cc \
         -o bin/fast) || { echo "cannot build fastBPE"; exit 1; }
fi
fast() { "$FAST" "$@" 2>/dev/null; }
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT; cd "$work" || exit 1
sh "$here/../cli/data/bpe/text.sh" > text

if [ "${1:-}" = --golden ]; then
    to=$here/../cli/data/bpe
    sum() { echo "$(sha256sum | cut -c1-64)  $1"; }
    sw learn-bpe -s 300 < text > codes.sw
    "$BIN/bpe-learn" -q -n 300 text > codes.fast
    fast applybpe fast.out text codes.fast; fast getvocab fast.out > vocab
    awk '$2 >= 6' vocab > vocab6; fast applybpe fast-vocab.out text codes.fast vocab6
    { sum text < text; sum codes.sw < codes.sw; sum fast < fast.out; sum fast-vocab < fast-vocab.out
    sum getvocab < vocab
      sw apply-bpe -c codes.sw < text | sum sw
      sw apply-bpe -c codes.sw --vocabulary vocab --vocabulary-threshold 6 < text | sum sw-vocab
      tail -n +2 codes.sw > codes.1; sw apply-bpe -c codes.1 < text | sum sw-0.1
      sw apply-bpe -c codes.1 < text | sw get-vocab > pieces.1
      sw apply-bpe -c codes.1 --vocabulary pieces.1 --vocabulary-threshold 40 < text |
          sum sw-0.1-vocab
      sw apply-bpe -c codes.sw --glossaries '[0-9]+' Debian < text |
          sum sw-glossaries; } > "$to/sums"
    exit
fi

same=0 differ=0
check() {   # name ours theirs
    if [ ! -s "$3" ]; then differ=$((differ + 1)); echo "NO OUTPUT of the peer: $1"
    elif cmp -s "$2" "$3"; then same=$((same + 1)); echo "same    $1"
    else differ=$((differ + 1)); echo "DIFFERS $1"; diff "$2" "$3" | head -6; fi
}
compare() {   # name file merges
    local name=$1 in=$2 n=$3
    sw learn-bpe -s "$n" < "$in" > codes.sw
    "$BIN/bpe-learn" -q -n "$n" --format subword-nmt < "$in" > codes.ours
    check "$name: learn-bpe -s $n" codes.ours codes.sw
    "$BIN/bpe-learn" -q -n "$n" < "$in" > codes.fast
    fast applybpe theirs "$in" codes.fast
    "$BIN/bpe-apply" -c codes.fast < "$in" > ours; check "$name: fast applybpe" ours theirs
    fast getvocab theirs > vocab
    "$BIN/vocab-count" ours > vocab.ours; check "$name: fast getvocab" vocab.ours vocab
    for k in 2 20 200; do
        awk -v k=$k '$NF >= k' vocab > vocab.k
        fast applybpe theirs "$in" codes.fast vocab.k
        "$BIN/bpe-apply" -c codes.fast --vocab vocab --min-count $k < "$in" > ours
        check "$name: fast applybpe, vocabulary from $k" ours theirs
        sw apply-bpe -c codes.sw --vocabulary vocab --vocabulary-threshold $k < "$in" > theirs
        "$BIN/bpe-apply" -c codes.sw --vocabulary vocab --vocabulary-threshold $k < "$in" > ours
        check "$name: apply-bpe, vocabulary from $k" ours theirs
    done
    sw apply-bpe -c codes.sw < "$in" > theirs
    "$BIN/bpe-apply" -c codes.sw < "$in" > ours; check "$name: apply-bpe" ours theirs
    tail -n +2 codes.sw > codes.1
    sw apply-bpe -c codes.1 < "$in" > theirs
    "$BIN/bpe-apply" -c codes.1 < "$in" > ours
    check "$name: apply-bpe, codes of version 0.1" ours theirs
    sw apply-bpe -c codes.1 --vocabulary vocab --vocabulary-threshold 20 < "$in" > theirs
    "$BIN/bpe-apply" -c codes.1 --vocabulary vocab --vocabulary-threshold 20 < "$in" > ours
    check "$name: apply-bpe, codes of version 0.1, vocabulary" ours theirs
    sw apply-bpe -c codes.sw --glossaries 'a[a-z]' '[0-9]' Debian < "$in" > theirs
    "$BIN/bpe-apply" -c codes.sw --glossaries 'a[a-z]' --glossaries '[0-9]' \
        --glossaries Debian < "$in" > ours; check "$name: apply-bpe --glossaries" ours theirs
    sw apply-bpe -c codes.sw -m 100 -s % < "$in" > theirs
    "$BIN/bpe-apply" -c codes.sw -m 100 -s % < "$in" > ours
    check "$name: apply-bpe -m 100 -s %" ours theirs
    sw learn-bpe -t -s "$n" < "$in" > theirs
    "$BIN/bpe-learn" -q -t -s "$n" --format subword-nmt < "$in" > ours
    check "$name: learn-bpe -t" ours theirs
}
compare "invented text" text 300
# every code point that is a character and no blank, in words of 1 to 7
python3 - > blocks <<'PY'
import random, unicodedata
random.seed(1)
chars = [chr(c) for c in range(0x21, 0x110000) if not 0xD800 <= c < 0xE000
         and not chr(c).isspace() and c not in (0x7f, 0x200b)
         and unicodedata.category(chr(c)) not in ('Cn', 'Co', 'Cc')]
random.shuffle(chars)
words, i = [], 0
while i < len(chars):
    k = random.randint(1, 7); words.append(''.join(chars[i:i + k])); i += k
words += [a + b for a, b in zip(words[::3], words[1::3])] * 2 + ['x' * 3000, 'ab' * 2000]
for i in range(0, len(words), 12): print(' '.join(words[i:i + 12]))
PY
compare "every Unicode block" blocks 500
# carriage returns, spaces around and inside lines, empty lines; no newline at the end (which
# fastBPE would cut)
awk '{ s = $0; if (NR % 3 == 0) s = s "\r"; if (NR % 5 == 0) s = "  " s "  ";
    if (NR % 7 == 0) s = " \r "; if (NR % 11 == 0) gsub(/ /, "   ", s); print s }' text > spaces
sw learn-bpe -s 300 < spaces > codes.sw
"$BIN/bpe-learn" -q -n 300 --format subword-nmt < spaces > ours
check "spaces and carriage returns: learn-bpe" ours codes.sw
fast applybpe theirs spaces codes.fast
"$BIN/bpe-apply" -c codes.fast spaces > ours
check "spaces and carriage returns: fast applybpe" ours theirs
head -c -1 spaces > cut
sw apply-bpe -c codes.sw -i cut > theirs
"$BIN/bpe-apply" -c codes.sw -i cut > ours
check "spaces and carriage returns: apply-bpe" ours theirs
if [ -d "$DATA/handbook" ]; then
    for f in "$DATA"/handbook/*.zst; do
        zstd -dcq "$f" | head -n 400 |
            sed 's/\xc2\xa0/ /g; s/\xe2\x80\xa8/ /g; s/\xe3\x80\x80/ /g' |
                iconv -c -f UTF-8 -t UTF-8 > part
        compare "$(basename "$f" .txt.zst)" part 1000
    done
else echo "no real text in $DATA: left out"; fi
echo "$same the same, $differ different"
[ "$differ" = 0 ]
