#!/bin/bash
# Models of ours in transformers and CTranslate2, and their tokenisers in ours: states, logits,
# translations, pieces.
#   BIN=folder of programs
#   PYTHON=one with torch, transformers, tokenizers, sentencepiece and ctranslate2 (an environment
#   is made from PyPI if it is not set)
#   DATA=folder of real text (handbook/*.zst, 12 languages; the golden text if it does not exist)
set -u
here=$(cd "$(dirname "$0")" && pwd)
BIN=$(cd "${BIN:-$here/../../bin}" && pwd -P)
if [ -z "${PYTHON:-}" ]; then
    venv=${TMPDIR:-/tmp}/isoglot-peers-interchange PYTHON=$venv/bin/python
    [ -x "$PYTHON" ] || python3 -m venv "$venv" || exit 1
    "$PYTHON" -c 'import torch, transformers, sentencepiece, ctranslate2' 2>/dev/null ||
        "$venv/bin/pip" install -q torch transformers tokenizers sentencepiece ctranslate2 \
            sacremoses protobuf || { echo "cannot install transformers"; exit 1; }
fi
make -s -C "$here/../.." "O=$(dirname "$BIN")" "$(dirname "$BIN")/test/unit/interchange" || exit 1
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT; cd "$work" || exit 1
BIN=$BIN UNIT=$(dirname "$BIN")/test/unit/interchange TOP=$(cd "$here/../.." &&
    pwd) DATA=${DATA:-$here/../../../shared/data} \
    "$PYTHON" "$here/interchange.py"
