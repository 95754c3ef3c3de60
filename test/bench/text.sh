#!/bin/bash
# The text tools one after another beside their peers: tokenize.sh, bpe.sh, bleu.sh over the same
# real text.
#   BIN=folder of programs   DATA=folder of real text (handbook/*.txt.zst, multi30k/, europarl-mix/,
#   wikitext2/; default: ../shared/data beside the checkout)
#   MOSES= SACREMOSES= FAST= PYTHON= SACREBLEU= MULTI_BLEU= RUNS=  as those scripts say; a peer that
#   is not given is left out
set -eu
here=$(cd "$(dirname "$0")" && pwd)
BIN=$(cd "${BIN:-$here/../../bin}" && pwd); DATA=${DATA:-$here/../../../shared/data}
export BIN LC_ALL=C.UTF-8
[ -f "$DATA/multi30k/train.en" ] ||
    { echo "bench/text: no real text in DATA=$DATA (see test/bench/text.sh)" >&2; exit 1; }
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
text=$(echo "$DATA"/handbook/*.txt.zst "$DATA"/multi30k/train.*)
[ -n "${MULTI_BLEU:-}" ] || [ ! -f "${MOSES:-}/scripts/generic/multi-bleu.perl" ] ||
    export MULTI_BLEU=$MOSES/scripts/generic/multi-bleu.perl
status=0
echo "== tokenize, detokenize"; TEXT=$text bash "$here/tokenize.sh" || status=1
for f in $text; do case $f in *.zst) zstd -dcq "$f";; *) cat "$f";; esac; done |
    "$BIN/tokenize" -q -l en > "$work/text"
cat "$DATA"/europarl-mix/train.* "$DATA"/wikitext2/*.txt >> "$work/text"
echo "== bpe-learn, bpe-apply, vocab-count"; TEXT=$work/text bash "$here/bpe.sh" || status=1
echo "== bleu"; TEXT=$DATA/multi30k/train.de bash "$here/bleu.sh" || status=1
exit $status
