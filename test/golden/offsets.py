#!/usr/bin/env python3
"""Writes test/golden/subwords/*.offsets: where the tokenizers library (WordPiece) and sentencepiece say that each piece of
test/golden/subwords/text stands, in bytes, without the white space around it. test/unit/offsets.c compares.

    test/golden/offsets.py test/golden/subwords        (tokenizers, sentencepiece, protobuf from PyPI)
"""
import sys
import unicodedata
import sentencepiece as spm
from tokenizers import BertWordPieceTokenizer

where = sys.argv[1]
text = open(f"{where}/text", encoding="utf-8").read().split("\n")[:-1]


def at(line, byte):
    return len(line.encode()[:byte].decode())


def row(line, spans, removed=False):
    out = []
    for a, b in spans:
        while a < b and line[a].isspace():
            a += 1
        while b > a and line[b - 1].isspace():
            b -= 1
        while removed and a < b < len(line) and unicodedata.category(line[b]) == "Mn":
            b += 1      # an accent that was removed stays with its letter
        out.append(f"{len(line[:a].encode())}-{len(line[:b].encode())}")
    return " ".join(out) + "\n"


for name in ("cased", "uncased"):
    t = BertWordPieceTokenizer(f"{where}/{name}.txt", lowercase=name == "uncased")
    with open(f"{where}/{name}.offsets", "w") as f:
        for line in text:
            f.write(row(line, t.encode(line, add_special_tokens=False).offsets, name == "uncased"))
for name in ("unigram", "bpe"):
    s = spm.SentencePieceProcessor(model_file=f"{where}/{name}.model")
    with open(f"{where}/{name}.offsets", "w") as f:
        for line in text:
            f.write(row(line, [(at(line, p.begin), at(line, p.end))
                             for p in s.encode(line, return_type="proto").pieces]))
