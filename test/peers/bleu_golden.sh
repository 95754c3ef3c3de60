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

# with colours, as on a terminal
on_terminal() {
    (cd words && NO_COLOR= script -qec "$VENV/bin/sacrebleu ref0 -f text $*" /dev/null) \
        < /dev/null | tr -d '\r'
}
[ -n "${SETS-}" ] || {
    on_terminal -m bleu ter --paired-ar --paired-ar-n 200 -i hyp1 hyp2 ref0 |
        sed -n '/╒/,/╘/p' > colour-test.out
    on_terminal -m bleu chrf --confidence --confidence-n 20 -i hyp1 | grep '|' > colour-ci.out
}

SACREBLEU=$(mktemp -d); export SACREBLEU; trap 'rm -rf "$SACREBLEU"' EXIT
cd sets
cp -r wmt* "$SACREBLEU"; mkdir "$SACREBLEU/models"
cp ../../subwords/unigram.model "$SACREBLEU/models/sacrebleu_tokenizer_spm.model"
cp ../../subwords/bpe.model "$SACREBLEU/models/flores200sacrebleuspm"
grep -v '^#' commands | while read -r name hyp args; do
    "$VENV/bin/sacrebleu" $args < "$hyp" > $name.out 2>/dev/null
done
