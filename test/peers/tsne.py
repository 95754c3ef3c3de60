#!/usr/bin/env python3
"""Principal components by NumPy and t-SNE by scikit-learn of small vectors of two "languages": writes test/golden/vectors/tsne.*,
which test/unit/tsne.c and test/cli/plot.sh compare ours with. Usage: tsne.py DIR   (numpy, scikit-learn)"""
import sys
import numpy as np
from sklearn.manifold import TSNE

out = sys.argv[1]
rng = np.random.default_rng(3)
n, d, perplexity = 240, 8, 20
centre = rng.standard_normal((12, d)) * 2
a = np.repeat(centre, n // 24, axis=0) + 0.5 * rng.standard_normal((n // 2, d))
b = a + 0.3 * rng.standard_normal(a.shape) + 0.5
X = np.concatenate([a, b]).astype(np.float32)


def write(name, words, V):
    with open(f"{out}/{name}", "w") as f:
        f.write(f"{len(words)} {V.shape[1]}\n")
        for w, v in zip(words, V):
            f.write(w + " " + " ".join(f"{x:.9g}" for x in v) + "\n")


write("tsne.a.vec", [f"a{i}" for i in range(n // 2)], X[: n // 2])
write("tsne.b.vec", [f"b{i}" for i in range(n // 2)], X[n // 2:])
with open(f"{out}/tsne.dict", "w") as f:
    for i in range(n // 2):
        f.write(f"a{i}\tb{i}\n")

c = X.astype(float) - X.astype(float).mean(0)
u, s, vt = np.linalg.svd(c, full_matrices=False)
vt *= np.sign(vt[np.arange(d), np.abs(vt).argmax(1)])[:, None]
P = (c @ vt[:3].T).astype(np.float32)
words = [str(i) for i in range(n)]
write("tsne.pca.vec", words, P)
kl = {}
for method in ("exact", "barnes_hut"):
    t = TSNE(2, perplexity=perplexity, init="pca", method=method, learning_rate="auto", early_exaggeration=12, max_iter=1000, random_state=0)
    Y = t.fit_transform(P)
    kl[method] = t.kl_divergence_
    write(f"tsne.{method}.vec", words, Y)
with open(f"{out}/tsne.tsv", "w") as f:
    f.write(f"perplexity\t{perplexity}\nshare\t" + "\t".join(f"{x:.6f}" for x in (s ** 2 / (s ** 2).sum())[:3]) + "\n")
    for method, v in kl.items():
        f.write(f"{method}\t{v:.6f}\n")
