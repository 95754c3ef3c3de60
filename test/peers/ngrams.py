#!/usr/bin/env python3
"""n-grams by Levine et al.'s Eq. 3, every cut of every n-gram written out. ngrams.py DIR makes test/golden/ngrams, which
test/cli/ngrams.sh compares our program with; ngrams.py FILE A B N pmi|pmi2 prints what
`ngrams -n A-B --min-count N --score ... --top 0 FILE` should."""
import random
import sys
from collections import Counter
from itertools import combinations
from math import log


class Counts:
    def __init__(self, text, longest):
        self.lines = [[w for w in line.split(b" ") if w] for line in text.split(b"\n")]
        self.c = {k: Counter(tuple(l[i:i + k]) for l in self.lines for i in range(len(l) - k + 1))
                  for k in range(1, longest + 1)}
        self.n = {k: sum(self.c[k].values()) for k in self.c}

    def logp(self, s):
        return log(self.c[len(s)][s] / self.n[len(s)])

    def score(self, w, kind):
        cuts = (cut for m in range(1, len(w)) for cut in combinations(range(1, len(w)), m))
        parts = (zip((0,) + cut, cut + (len(w),)) for cut in cuts)
        best = max(sum(self.logp(w[a:b]) for a, b in cut) for cut in parts)
        return (2 if kind == "pmi2" else 1) * self.logp(w) - best

    def ranked(self, k, least, kind):
        rows = [(self.score(w, kind), n, b" ".join(w)) for w, n in self.c[k].items() if n >= least]
        return sorted(rows, key=lambda r: (-r[0], -r[1], r[2]))

    def covered(self, listed):
        """Share of the tokens that stand in an occurrence of a listed n-gram."""
        listed = {tuple(w.split(b" ")) for w in listed}
        sizes = {len(w) for w in listed}
        sum = 0
        for l in self.lines:
            mark = [False] * len(l)
            for i in range(len(l)):
                for k in sizes:
                    if tuple(l[i:i + k]) in listed and i + k <= len(l):
                        mark[i:i + k] = [True] * k
            sum += mark.count(True)
        return sum / self.n[1]


def rows_of(ranked):
    return b"".join(b"%.6f\t%d\t%s\n" % row for row in ranked)


def golden(out):
    random.seed(5)
    word = [f"w{i}" for i in range(40)] + ["é", "a\tb", "w", "w1!"]
    phrase = [[random.choice(word) for _ in range(random.randint(2, 5))] for _ in range(12)]
    lines = []
    for _ in range(260):
        line = []
        for _ in range(random.randint(0, 9)):
            line += random.choice(phrase) if random.random() < 0.45 else [word[int(len(word) * random.random() ** 2)]]
        lines.append((" " * random.randint(1, 2)).join(line) + " " * random.randint(0, 1))
    text = "\n".join(lines).encode()
    open(f"{out}/text", "wb").write(text)
    counts = Counts(text, 6)
    for name, a, b, least, kind in (("all", 2, 6, 2, "pmi"), ("pmi", 2, 5, 4, "pmi"), ("pmi2", 3, 4, 3, "pmi2")):
        open(f"{out}/{name}.tsv", "wb").write(b"".join(rows_of(counts.ranked(k, least, kind)) for k in range(a, b + 1)))
    # the smallest list of shares 1/2, 1/4, 1/8, 1/8 that covers half of the tokens, found by making every list
    ranked = {k: counts.ranked(k, 4, "pmi") for k in range(2, 6)}
    for top in range(10 ** 6):
        listed = {k: ranked[k][:top >> min(k - 1, 3)] for k in ranked}
        share = counts.covered([w for rows in listed.values() for _, _, w in rows])
        if share >= 0.5:
            break
    open(f"{out}/cover.tsv", "wb").write(b"".join(rows_of(listed[k]) for k in listed))
    print(top, share)


if len(sys.argv) == 2:
    golden(sys.argv[1])
else:
    counts = Counts(open(sys.argv[1], "rb").read(), int(sys.argv[3]))
    for k in range(int(sys.argv[2]), int(sys.argv[3]) + 1):
        sys.stdout.buffer.write(rows_of(counts.ranked(k, int(sys.argv[4]), sys.argv[5])))
