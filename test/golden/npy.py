#!/usr/bin/env python3
"""Makes test/golden/npy: what numpy.save, scipy.sparse.save_npz and Python's zipfile write of a small text's counts and
token ids, which are worked out here. test/cli/python-files.sh and test/unit/npy.c compare bytes.

    test/golden/npy.py test/golden/npy    (numpy, scipy)"""

import os
import sys
import zipfile
from fractions import Fraction

import numpy as np
import scipy.sparse as sp

out = sys.argv[1]
lines = ["the old man and the sea", "", "é man saw the old sea", "sea of the old men , old men", "the the"]
open(f"{out}/text", "w").write("".join(line + "\n" for line in lines))
words = [line.split() for line in lines]

# vocab-count's order: most frequent first, then by bytes
count = {}
for word in sum(words, []):
    count[word] = count.get(word, 0) + 1
vocab = sorted(count, key=lambda w: (-count[w], w.encode()))
number = {w: i for i, w in enumerate(vocab)}
open(f"{out}/words", "w").write("".join(w + "\n" for w in vocab))

WINDOW, UNIT = 3, 12                    # weights 1 / (d + 1), d = 1 to 3; lcm(2, 3, 4)


def counts(left_only):
    x = np.zeros((len(vocab), len(vocab)), dtype=np.int64)
    for line in words:
        for i, w in enumerate(line):
            for d in range(1, WINDOW + 1):
                if i >= d:
                    a, b, add = number[w], number[line[i - d]], int(Fraction(UNIT, d + 1))
                    x[a, b] += add
                    if not left_only:
                        x[b, a] += add
    return x                            # a word beside itself is counted from either side


def save(name, x):
    sp.save_npz(f"{out}/{name}.npz", sp.csr_matrix(x), compressed=False)


both, left = counts(False), counts(True)
save("both", both / UNIT)
save("counts", both)
save("left", left / UNIT)
save("at-least", np.where(both / UNIT >= 0.75, both / UNIT, 0))

# a shard's ids and where its sentences begin
np.save(f"{out}/ids.npy", np.array([5 + number[w] for line in words for w in line], dtype=np.uint16))
np.save(f"{out}/ids.npy.offsets.npy", np.cumsum([0] + [len(line) for line in words]))
os.replace(f"{out}/ids.npy.offsets.npy", f"{out}/ids.npy.offsets")

# the end of an archive whose second member needs zip64's sizes, the third its place, and which is 4 GiB and more long
with open(f"{out}/directory", "wb") as f:
    z = zipfile.ZipFile(f, "w")
    for name, crc, size, at in [("indices.npy", 0x01020304, 144, 0), ("data.npy", 0xfffefdfc, 5 << 30, 205),
                                ("indptr.npy", 7, 1 << 31, (5 << 30) + 263)]:
        m = zipfile.ZipInfo(name)
        m.CRC, m.compress_size, m.file_size, m.header_offset = crc, size, size, at
        m.extract_version = m.create_version = 45
        m.external_attr = 0o600 << 16
        z.filelist.append(m)
    z.start_dir = (8 << 30) + 1
    real = f.tell

    class At:                           # a file that says it is as long as that
        write, flush, tell = f.write, f.flush, staticmethod(lambda: z.start_dir + real())
        close, seek = f.close, lambda self, *a: None
    z.fp = At()
    z._write_end_record()
    z.fp = None
