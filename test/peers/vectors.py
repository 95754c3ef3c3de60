#!/usr/bin/env python3
"""The formulas of MUSE, xling-eval, TCS and LASER in NumPy and SciPy, on small random vectors: writes test/golden/vectors,
which test/cli/vectors.sh compares our programs with. Usage: vectors.py DIR   (numpy, scipy)"""
import sys
import numpy as np
from scipy.stats import pearsonr

out = sys.argv[1]
rng = np.random.default_rng(7)
n, m, d, K = 60, 70, 8, 10

# target vectors, and source vectors that are a noisy rotation of the first 60 of them
Z = rng.standard_normal((m, d))
R, _ = np.linalg.qr(rng.standard_normal((d, d)))
X = Z[:n] @ R.T + 0.35 * rng.standard_normal((n, d))
X, Z = X.astype(np.float32), Z.astype(np.float32)
a = [f"a{i}" for i in range(n)]
b = [f"b{i}" for i in range(m)]


def write(name, words, V):
    with open(f"{out}/{name}", "w") as f:
        f.write(f"{len(words)} {V.shape[1]}\n")
        for w, v in zip(words, V):
            f.write(w + " " + " ".join(f"{x:.9g}" for x in v) + "\n")


def unit(V):
    return V / np.linalg.norm(V, axis=1, keepdims=True)


write("a.vec", a, X)
write("b.vec", b, Z)
counts = {w: int(1000 / (i + 1)) for i, w in enumerate(a)}
with open(f"{out}/a.counts", "w") as f:
    for w in a:
        f.write(f"{w} {counts[w]}\n")

# seeds: the first 20; gold: the rest, some with a second right answer, some unknown, one of several words
with open(f"{out}/seed.tsv", "w") as f:
    for i in range(20):
        f.write(f"a{i}\tb{i}\n")
gold = [(f"a{i}", f"b{i}") for i in range(20, n)] + [(f"a{i}", f"b{i + 5}") for i in range(20, n, 3)]
gold += [("nowhere", "b1"), ("a3", "nowhere"), ("a5", "two words")]
with open(f"{out}/gold.tsv", "w") as f:
    for s, t in gold:
        f.write(f"{s}\t{t}\n")

# Procrustes as MUSE solves it, on unit vectors centred and made unit again
x64 = unit(unit(X.astype(float)) - unit(X.astype(float)).mean(0))
z64 = unit(unit(Z.astype(float)) - unit(Z.astype(float)).mean(0))
u, s, vt = np.linalg.svd(z64[:20].T @ x64[:20])
W = u @ vt                                        # MUSE: mapping.weight; x -> W x
mapped = x64 @ W.T

S = mapped @ z64.T
rx = np.sort(S, axis=1)[:, -K:].mean(1)
rz = np.sort(S, axis=0)[-K:].mean(0)
csls = 2 * S - rx[:, None] - rz[None, :]


def top(M, k):
    return np.argsort(-M, axis=1, kind="stable")[:, :k]


with open(f"{out}/csls.tsv", "w") as f:
    for i, row in enumerate(top(csls, 3)):
        for j in row:
            f.write(f"a{i}\tb{j}\t{csls[i, j]:.6f}\n")

def above_random(X, Z, pairs):
    """Cosine of pairs, of all combinations of their words but themselves, and the difference."""
    A, B = unit(X)[[i for i, j in pairs]], unit(Z)[[j for i, j in pairs]]
    C = A @ B.T
    off = ~np.eye(len(pairs), dtype=bool)
    own, other = np.diag(C).mean(), C[off].mean()
    return f"gold-cosine\t{own:.4f}\nrandom-cosine\t{other:.4f}\nabove-random\t{own - other:.4f}\n"


def precision(listed, right):
    judged = [(i, j) for i, j in listed if a[i] in right]
    good = sum(j in right[a[i]] for i, j in judged)
    return f"exported\t{len(listed)}\njudged\t{len(judged)}\nprecision\t{good / len(judged):.4f}\n"


# hits: MUSE's get_word_translation_accuracy (several right answers); MAP: xling-eval's eval.py (1 / rank of the first)
right = {}
for s, t in gold:
    if " " in t or s not in a:
        continue
    right.setdefault(s, [])
    if t in b:
        right[s].append(b.index(t))
ranks = {}
for s, ts in right.items():
    order = list(np.argsort(-csls[a.index(s)], kind="stable"))
    ranks[s] = min([order.index(t) + 1 for t in ts], default=None)
w = np.array([counts[s] for s in ranks], float)
words = {s for s, t in gold if " " not in t}
with open(f"{out}/eval.tsv", "w") as f:
    f.write(f"words\t{len(words)}\nasked\t{len(ranks)}\nanswerable\t{sum(1 for t in right.values() if t)}\nmultiword\t1\n")
    f.write(f"coverage\t{len(ranks) / len(words):.4f}\n")
    hit = {k: np.array([r is not None and r <= k for r in ranks.values()], float) for k in (1, 5, 10)}
    inv = np.array([1 / r if r else 0 for r in ranks.values()])
    for k in (1, 5, 10):
        f.write(f"hit@{k}\t{hit[k].mean():.4f}\n")
    f.write(f"map\t{inv.mean():.4f}\n")
    for k in (1, 5, 10):
        f.write(f"weighted-hit@{k}\t{(hit[k] * w).sum() / w.sum():.4f}\n")
    f.write(f"weighted-map\t{(inv * w).sum() / w.sum():.4f}\n")
    best = csls.argmax(1)                          # MUSE's dist_mean_cosine
    f.write(f"mean-cosine\t{S[np.arange(n), best].mean():.4f}\n")
    known = sorted({(a.index(s), t) for s, ts in right.items() for t in ts})
    f.write(f"gold-pairs\t{len(known)}\n" + above_random(mapped, z64, known))
    listed = [(i, j) for i, row in enumerate(top(csls, 10)) for j in row]
    f.write(precision(listed, right))
with open(f"{out}/both.tsv", "w") as f:              # MUSE's load_dictionary: lines whose two words are there; and the mutual list
    asked = {s: r for s, r in ranks.items() if right[s]}
    for k in (1, 5, 10):
        f.write(f"hit@{k}\t{np.mean([r <= k for r in asked.values()]):.4f}\n")
    mutual = [(i, j) for i, j in enumerate(csls.argmax(1)) if csls[:, j].argmax() == i]
    f.write(precision(mutual, {s: ts for s, ts in right.items() if ts}))

# RSIM, mean cosine and alignment of the unmapped vectors over the seeds
ux, uz = unit(X.astype(float)), unit(Z.astype(float))
iu = np.triu_indices(20, 1)
r = pearsonr((ux[:20] @ ux[:20].T)[iu], (uz[:20] @ uz[:20].T)[iu])[0]
cos = (ux[:20] * uz[:20]).sum(1).mean()
to = ((ux[:20] @ uz.T).argmax(1) == np.arange(20)).mean()
back = ((uz[:20] @ ux.T).argmax(1) == np.arange(20)).mean()
# intervals: the jackknife over words for r, 1.96 s / sqrt n for means
left_out = []
for i in range(20):
    keep = [j for j in range(20) if j != i]
    ju = np.triu_indices(19, 1)
    left_out.append(pearsonr((ux[keep] @ ux[keep].T)[ju], (uz[keep] @ uz[keep].T)[ju])[0])
r_ci = 1.96 * np.sqrt(19 / 20 * ((np.array(left_out) - np.mean(left_out)) ** 2).sum())
cos_ci = 1.96 * (ux[:20] * uz[:20]).sum(1).std(ddof=1) / np.sqrt(20)
share_ci = lambda p: 1.96 * np.sqrt(p * (1 - p) / 20)


def difference(A, B):
    C = A @ B.T
    off = ~np.eye(len(A), dtype=bool)
    return C[off].mean(), np.diag(C).mean() - C[off].mean()


random, above = difference(ux[:20], uz[:20])
gone = np.array([difference(np.delete(ux[:20], i, 0), np.delete(uz[:20], i, 0))[1] for i in range(20)])
above_ci = 1.96 * np.sqrt(19 / 20 * ((gone - gone.mean()) ** 2).sum())
with open(f"{out}/rsim.tsv", "w") as f:
    f.write("layer\tpairs\trsim\tcosine\talign-to\talign-back\trsim-ci\tcosine-ci\talign-to-ci\talign-back-ci\t"
            "random\tabove-random\tabove-random-ci\n")
    f.write(f"0\t20\t{r:.6f}\t{cos:.6f}\t{to:.6f}\t{back:.6f}\t{r_ci:.6f}\t{cos_ci:.6f}\t{share_ci(to):.6f}\t{share_ci(back):.6f}\t"
            f"{random:.6f}\t{above:.6f}\t{above_ci:.6f}\n")

# retrieval as LASER's and XTREME's, but with the neighbours' means over all rows: k = 4, rows 0..59 of both sides
P = unit(Z[:n].astype(float) + 0.6 * rng.standard_normal((n, d)))
write("p.vec", [str(i) for i in range(n)], P)
write("q.vec", [str(i) for i in range(n)], Z[:n])
T = unit(P.astype(np.float32).astype(float)) @ unit(Z[:n].astype(float)).T
mx = np.sort(T, axis=1)[:, -4:].mean(1)
mz = np.sort(T, axis=0)[-4:].mean(0)
scores = {"cosine": T, "distance": T - (mx[:, None] + mz[None, :]) / 2, "ratio": T / ((mx[:, None] + mz[None, :]) / 2)}
def hit(M, k):
    return (np.argsort(-M, axis=1, kind="stable")[:, :k] == np.arange(n)[:, None]).any(1).mean()


with open(f"{out}/retrieve.tsv", "w") as f:
    for name, M in scores.items():
        f.write(f"{name}\t" + "\t".join(f"{hit(A, k):.4f}" for k in (1, 5, 10) for A in (M, M.T)) + "\n")
M = scores["ratio"]
cand = sorted({(i, int(M[i].argmax())) for i in range(n)} | {(int(M[:, j].argmax()), j) for j in range(n)}, key=lambda c: -M[c])
used_i, used_j = set(), set()
with open(f"{out}/mine.tsv", "w") as f:
    for i, j in cand:
        if i in used_i or j in used_j or M[i, j] < 1.1:
            continue
        used_i.add(i)
        used_j.add(j)
        f.write(f"{M[i, j]:.6f}\t{i}\t{j}\n")

# analogies a - b + c over both sets in one space
q = [tuple(rng.choice(n, 4, replace=False)) for _ in range(30)]
A = np.concatenate([ux, uz])
names = a + b
ok = c = 0
with open(f"{out}/questions.txt", "w") as f:
    for i, j, k, t in q:
        t = int(t)
        v = A[i] - A[j] + A[n + k]
        v /= np.linalg.norm(v)
        sims = A @ v
        best = [o for o in np.argsort(-sims) if o not in (i, j, n + k)]
        if rng.random() < 0.5:
            t = best[0]
        f.write(f"{names[i]} {names[j]} {names[n + k]} {names[t]}\n")
        ok += best[0] == t
        c += sims[t]
    f.write("a1 a2 nowhere b2\n")
with open(f"{out}/analogy.tsv", "w") as f:
    f.write(f"category\tquestions\tasked\taccuracy\tcosine\n\t31\t30\t{ok / 30:.4f}\t{c / 30:.4f}\nall\t31\t30\t{ok / 30:.4f}\t{c / 30:.4f}\n")

# Table 3 of MLM-GC: cosines of raw and of unit vectors' a - b + c with two targets
raw = np.concatenate([X.astype(float), Z.astype(float)])
for name, V in (("targets", raw), ("targets-unit", A)):
    with open(f"{out}/{name}.tsv", "w") as f:
        f.write("a\tb\tc\tb7\ta9\n")
        for i, j, k, _ in q[:5]:
            v = V[i] - V[j] + V[n + k]
            c = [v @ V[t] / np.linalg.norm(v) / np.linalg.norm(V[t]) for t in (n + 7, 9)]
            f.write(f"{names[i]}\t{names[j]}\t{names[n + k]}\t{c[0]:.4f}\t{c[1]:.4f}\n")
        f.write("a1\ta2\tnowhere\t-\t-\n")

# --initial: word-initial pieces ("\u2581") are paired with such only, and CSLS's means are among them
start = "\u2581"
kind_p, kind_z = [i % 3 > 0 for i in range(n)], [i % 3 > 0 for i in range(m)]
write("initial.src.vec", [(start if kind_p[i] else "") + f"p{i}" for i in range(n)], P)
write("initial.tgt.vec", [(start if kind_z[i] else "") + f"z{i}" for i in range(m)], Z)
C = unit(P.astype(np.float32).astype(float)) @ unit(Z.astype(float)).T
full = np.full_like(C, -np.inf)
for kind in (False, True):
    rows, cols = np.flatnonzero(np.array(kind_p) == kind), np.flatnonzero(np.array(kind_z) == kind)
    s = C[np.ix_(rows, cols)]
    full[np.ix_(rows, cols)] = 2 * s - np.sort(s, 1)[:, -K:].mean(1)[:, None] - np.sort(s, 0)[-K:].mean(0)[None]
with open(f"{out}/initial.tsv", "w") as f:
    for i in range(n):
        for j in top(full, 2)[i]:
            f.write(f"{start if kind_p[i] else ''}p{i}\t{start if kind_z[j] else ''}z{j}\t{full[i, j]:.6f}\n")
with open(f"{out}/initial.gold", "w") as f:          # every fifth asks for a word of the other kind, which cannot be found
    for i in range(n):
        j = i + 1 if i % 5 == 0 else i
        f.write(f"{start if kind_p[i] else ''}p{i}\t{start if kind_z[j] else ''}z{j}\n")
with open(f"{out}/initial.eval", "w") as f:
    rank = [int((full[i] > full[i, j]).sum()) + 1 if kind_p[i] == kind_z[j] else None
            for i in range(n) for j in [i + 1 if i % 5 == 0 else i]]
    for k in (1, 5, 10):
        f.write(f"hit@{k}\t{np.mean([r is not None and r <= k for r in rank]):.4f}\n")
    f.write(f"map\t{np.mean([1 / r if r else 0 for r in rank]):.4f}\n")
    f.write(f"mean-cosine\t{C[np.arange(n), full.argmax(1)].mean():.4f}\n")
