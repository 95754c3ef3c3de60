#!/usr/bin/env python3
"""Do the lines of a model card run, and does sentence-transformers make the vectors that embed makes?

    test/peers/card.py FOLDER                    a folder that ckpt export wrote: runs the Python in its README.md
    test/peers/card.py FOLDER TEXT VECTORS       ... of align-post's model, and VECTORS are what
                                                 `embed --raw --layer -1 --of sentences --pool first` makes of TEXT
(torch, transformers, sentence-transformers from PyPI)
"""
import re, sys

folder = sys.argv[1]
card = open(folder + "/README.md", encoding="utf-8").read()
code = re.search(r"```python\n(.*?)```", card, re.S).group(1)
assert "path/to/this/folder" in code
exec(code.replace("path/to/this/folder", folder))
if len(sys.argv) > 2:
    from sentence_transformers import SentenceTransformer
    lines = open(sys.argv[2], encoding="utf-8").read().splitlines()
    ours = [[float(x) for x in l.split(" ")[1:]] for l in open(sys.argv[3])]
    theirs = SentenceTransformer(folder).encode(lines)
    worst = max(abs(a - b) for u, v in zip(ours, theirs) for a, b in zip(u, v))
    print(len(lines), "sentences, largest difference", worst)
    assert len(lines) == len(ours) and worst < 1e-5
