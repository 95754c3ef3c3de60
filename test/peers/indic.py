#!/usr/bin/env python3
"""Makes test/golden/indic: a text of awkward lines, its tokens and its normalised form by the Indic NLP library
(pip install indic-nlp-library), each line by itself. indic.py DIR"""
import random
import sys
from indicnlp.normalize.indic_normalize import IndicNormalizerFactory
from indicnlp.tokenize.indic_tokenize import trivial_tokenize

out = sys.argv[1]
random.seed(3)
lines = [
    "नेपाल सुन्दर देश हो।",
    "मूल्य रु. 1,234.50 छ, मिति 12/05/2019 (शुक्रबार) 10:30 बजे।",
    "१२,३४५.६७ र 1 , 2 , x 3.4.5/6",
    "राम: भन्यो – “के छ?” … |",
    "a12 , 3 b 4 .. 5 1, 2",
    "क़ ख़ ग़ ज़ ड़ ढ़ फ़ य़ ऩ ऱ ऴ ॲ",
    "घर\tखेत  बारी\\वन ॥ दुःख:सुख",
    "email@example.com http://x.y/z?q=1&r=2 <b>\"c\"</b> [d] {e} ~f` g_h^i",
    "मे\u200dरो क\u200cख \ufeffश\u00adब\u2060द\u200bअर्को\u00a0शब्द",
    "''उद्धरण'' ´´यो´´ ‘त्यो’ ‚ऊ„ को’ म—तँ–ऊ",
    ":: कः: ख:: ।: ॥:ग 5: :6",
    "සිංහල භාෂාව, 3,000.5 ක්.",
    "ꫀ꫰꫱ ꯫ ᱾᱿ end",
    "-5 +5 1:2:3 1 : 2 12.",
]
letters = ["क", "ग़", "ि", "ः", "।", ":", ",", ".", "/", "1", "23", "५", " ", "  ", "\t", "|", "'", "''", "\"", "’", "a", "\\", "\u200d", "-", "…"]
lines += ["".join(random.choice(letters) for _ in range(random.randint(1, 40))) for _ in range(300)]
lines = [line for line in lines if line.strip()]
norm = IndicNormalizerFactory().get_normalizer("ne")


def write(name, rows):
    open(f"{out}/{name}", "w", encoding="utf-8", newline="\n").write("".join(r + "\n" for r in rows))


write("text", lines)
write("tokens", [" ".join(trivial_tokenize(line, "ne")) for line in lines])
write("normalised", [norm.normalize(line) for line in lines])
write("both", [" ".join(trivial_tokenize(norm.normalize(line), "ne")) for line in lines])
