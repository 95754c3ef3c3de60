#!/bin/bash
# Writes test/golden/bleu/*.out from the peers: VENV (with sacrebleu) and MULTI_BLEU
# (multi-bleu.perl), as for bleu.sh.
set -eu
cd "$(dirname "$0")/../golden/bleu"
export LC_ALL=C.UTF-8 NO_COLOR=1
grep -v '^#' commands | while read -r name hyp args; do
    for k in words punct unicode; do
        a=${args//\{k\}/$k}
        case $name in
        multi*) perl "$MULTI_BLEU" $a < "${hyp/\{k\}/$k}" > $name.$k.out 2>/dev/null ;;
        *) "$VENV/bin/sacrebleu" $a < "${hyp/\{k\}/$k}" 2>/dev/null |
            sed -e '/^-----*$/,/^Metric signatures$/d' > $name.$k.out ;;
        esac
    done
done
