#!/bin/bash
# Writes test/golden/bleu/*.out from the peers: VENV (with sacrebleu[ja,ko], sentencepiece) and
# MULTI_BLEU (multi-bleu.perl), as for bleu.sh; with SETS=1 only those of sets/.
set -eu
cd "$(dirname "$0")/../golden/bleu"
export LC_ALL=C.UTF-8 NO_COLOR=1
[ -n "${SETS-}" ] || grep -v '^#' commands | while read -r name hyp args; do
    for k in words punct unicode; do
        a=${args//\{k\}/$k}
        case $name in
        multi*) perl "$MULTI_BLEU" $a < "${hyp/\{k\}/$k}" > $name.$k.out 2>/dev/null ;;
        *) "$VENV/bin/sacrebleu" $a < "${hyp/\{k\}/$k}" 2>/dev/null |
            sed -e '/^-----*$/,/^Metric signatures$/d' > $name.$k.out ;;
        esac
    done
done

SACREBLEU=$(mktemp -d); export SACREBLEU; trap 'rm -rf "$SACREBLEU"' EXIT
cd sets
cp -r wmt* "$SACREBLEU"; mkdir "$SACREBLEU/models"
cp ../../subwords/unigram.model "$SACREBLEU/models/sacrebleu_tokenizer_spm.model"
cp ../../subwords/bpe.model "$SACREBLEU/models/flores200sacrebleuspm"
grep -v '^#' commands | while read -r name hyp args; do
    "$VENV/bin/sacrebleu" $args < "$hyp" > $name.out 2>/dev/null
done
