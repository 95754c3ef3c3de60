#!/usr/bin/env python3
"""SCS-MLM's search (Lu, Lu and Zhang 2023, Eqs. 4 to 7) in plain NumPy and double, row by row: what
test/golden/replay.py trains with, and the numbers of test/unit/scs.c.

    test/golden/scs.py test/golden/scs.safetensors"""

import sys

import numpy as np


def expected(logits, k, specials):
    """The k likeliest words of each row but the special ones, and their p (Eq. 4)."""
    idx, p = [], []
    for z in logits:
        best = sorted(range(specials, len(z)), key=lambda v: (-z[v], v))[:k]
        e = np.exp(z[best] - z[best[0]])
        idx.append(best)
        p.append(e / e.sum())
    return np.array(idx), np.array(p)


def at_home(E, token, words, k, T):
    """The k words nearest to each token by their rows of E, out of words[r], and softmax(cosine /
    T)."""
    idx, p = np.full((len(token), k), -1), np.zeros((len(token), k))
    for r, w in enumerate(token):
        score = {j: cosine(E[w], E[j]) for j in words[r]}
        best = sorted(score, key=lambda j: (-score[j], j))[:k]
        e = np.exp((np.array([score[j] for j in best]) - score[best[0]]) / T)
        idx[r, : len(best)], p[r, : len(best)] = best, e / e.sum()
    return idx, p


def cosine(a, b):
    n = np.linalg.norm(a) * np.linalg.norm(b)
    return a @ b / n if n else 0.0


def search(E, idx, p, pair, words, k, neighbours, temperature, keep=False):
    """pair [n]: each row's pair of languages; words[pair]: the words it may become. Returns idx [n,
    k] (-1: none), q [n, k] as the mixture's weights, entropy [n], ratio [n]."""
    n = len(idx)
    mean = [sum(q * E[i] for q, i in zip(p[r], idx[r]) if i >= 0) for r in range(n)]
    found, q = np.full((n, k), -1), np.zeros((n, k))
    entropy, ratio = np.zeros(n), np.zeros(n)
    for r in range(n):
        mine = [s for s in range(n) if pair[s] == pair[r]]
        score = {}
        for j in words[pair[r]]:
            near = sorted((cosine(mean[s], E[j]) for s in mine), reverse=True)[:neighbours]
            score[j] = 2 * cosine(mean[r], E[j]) - np.mean(near)
        best = sorted(score, key=lambda j: (-score[j], j))[:k]
        e = np.exp((np.array([score[j] for j in best]) - score[best[0]]) / temperature)
        e /= e.sum()
        entropy[r] = -(e * np.log(e)).sum()
        long = sum(w * np.linalg.norm(E[j]) for w, j in zip(e, best))
        ratio[r] = np.linalg.norm(sum(w * E[j] for w, j in zip(e, best))) / long
        found[r, : len(best)] = best
        q[r, : len(best)] = e / ratio[r] if keep else e
    return found, q, entropy, ratio


def main(path):
    from safetensors.numpy import save_file

    rng, t = np.random.default_rng(3), {}
    V, D, specials, k, neighbours, T = 50, 8, 5, 8, 3, 0.7
    E = rng.standard_normal((V, D)).astype(np.float32)
    E[2] = 0
    E[40] = 0  # a word of zeros is like nothing
    b = (0.3 * rng.standard_normal(V)).astype(np.float32)
    H = rng.standard_normal((14, D)).astype(np.float32)  # states of three sentences
    row = np.array([1, 3, 4, 6, 8, 9, 12])
    pair = np.array([0, 0, 0, 0, 1, 1, 1])
    words = [np.arange(30, 50), np.array([5, 6, 7, 11, 13])]  # 20 words, and fewer than k
    logits = H[row].astype(np.float64) @ E.astype(np.float64).T + b
    idx, p = expected(logits, k, specials)
    t.update(E=E, b=b, H=H, row=row, first=np.array([0, 4]), n=np.array([4, 3]))
    t.update(word=np.concatenate(words), at=np.array([0, 20]), words=np.array([20, 5]))
    t.update({"p.idx": idx, "p": p})
    # by the table: 30 words of the first language, 6 of the other, fewer than k
    own = np.array([8, 31, 20, 40, 12, 13, 5])
    home = [np.arange(5, 35), np.array([5, 7, 11, 12, 13, 14])]
    home[0][-1] = 40
    by = at_home(E.astype(np.float64), own, [home[i] for i in pair], k, 0.1)
    t.update(own=own, home=np.concatenate(home), home_at=np.array([0, 30]))
    t.update({"home_words": np.array([30, 6]), "home.idx": by[0], "home.p": by[1]})
    for name, keep in (("none", False), ("keep", True)):
        found, q, entropy, ratio = search(
            E.astype(np.float64), idx, p, pair, words, k, neighbours, T, keep
        )
        y = np.array([sum(w * E[j] for w, j in zip(a, c) if j >= 0) for a, c in zip(q, found)])
        t.update({f"{name}.idx": found, f"{name}.q": q, f"{name}.entropy": entropy})
        t.update({f"{name}.ratio": ratio, f"{name}.y": y})
    save_file(
        {
            key: np.ascontiguousarray(v.astype(np.int32 if v.dtype.kind == "i" else np.float32))
            for key, v in t.items()
        },
        path,
    )


if __name__ == "__main__":
    main(sys.argv[1])
