#!/bin/bash
# Translation: greedy and beam 5, batches of 1 and 32 sentences, ours beside PyTorch (transformers' generate) and CTranslate2 at the
# same model in float32. The model is drawn, not trained: it never ends a sentence, so all make the same number of tokens.
#   BIN=folder of programs   PYTHON=one with torch, transformers and ctranslate2   THREADS=2   SIZE="LAYERS DIM VOCABULARY"
set -eu
PYTHON=${PYTHON:-python3}
read -r layers dim vocabulary <<< "${SIZE:-6 512 20000}"
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
unset $(compgen -v OPENBLAS_ || true)
awk -v v="$vocabulary" -v out="$work" 'BEGIN { srand(5); for (i = 0; i < v - 5; i++) print "w" i > (out "/vocab")
    for (i = 0; i < 64; i++) { n = 8 + int(rand() * 24); s = ""; for (j = 0; j < n; j++) s = s (j ? " " : "") "w" int(rand() * (v - 5)); print s > (out "/source") } }'
cd "$work"
"$BIN"/finetune -q --task mt -v vocab --parallel aa-bb=source,source --layers "$layers" --dim "$dim" --heads 8 --positions 64 --tokens 400 --steps 1 --lr 1e-9 --out run
"$BIN"/ckpt export -q -o hf --src aa --tgt bb --no-mask-vocab run
"$PYTHON" -c 'import ctranslate2, sys; ctranslate2.converters.TransformersConverter("hf").convert("ct2")' 2>/dev/null
"$BIN"/translate --version | tail -n 1
echo "$layers + $layers layers of $dim, vocabulary $vocabulary, 64 sentences of 8 to 31 tokens, 32 tokens out"
THREADS=${THREADS:-2} "$PYTHON" "$TOP/test/bench/translate.py" "$BIN" run hf ct2 source 31
