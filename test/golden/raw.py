#!/usr/bin/env python3
"""Makes test/golden/raw.tsv: for the models of test/golden/interchange that come with a tokeniser, what transformers makes
of plain text: model, text, share of pieces that are unknown, and the last layer's states, all zeros of token types: their
mean over the line and the first one. test/cli/raw.sh compares embed --raw with it.

    test/golden/raw.py > test/golden/raw.tsv    (torch, transformers, sentencepiece from PyPI)
"""
import os
import torch
from transformers import AutoModelForMaskedLM, BertTokenizer
import sentencepiece

DIR = os.path.join(os.path.dirname(os.path.abspath(__file__)), "interchange")
TEXT = {"bert": ["kas lio", "Mio, tant!", "la le ku xyz"], "xlmr": ["kiotu", "ka le  tio", "la man liku"]}


def ids_of(name, dir, text):
    if name == "bert":
        t = BertTokenizer(vocab=f"{dir}/vocab.txt", do_lower_case=False)
        return t(text)["input_ids"], t.unk_token_id
    # XLM-R's ids: those of sentencepiece and one more; 3 is <unk>
    spm = sentencepiece.SentencePieceProcessor(model_file=f"{dir}/sentencepiece.bpe.model")
    return [0] + [i + 1 if i else 3 for i in spm.encode(text)] + [2], 3


for name, lines in TEXT.items():
    dir = f"{DIR}/{name}"
    model = AutoModelForMaskedLM.from_pretrained(dir).base_model.eval()      # whose weights are all there
    for text in lines:
        ids, unk = ids_of(name, dir, text)
        with torch.no_grad():
            h = model(torch.tensor([ids])).last_hidden_state[0]
        inner = ids[1:-1]
        rows = "\t".join(" ".join(f"{x:.6f}" for x in v.tolist()) for v in (h.mean(0), h[0]))
        print(name, text, f"{sum(i == unk for i in inner)} of {len(inner)}", rows, sep="\t")
