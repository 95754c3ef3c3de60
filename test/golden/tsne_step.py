#!/usr/bin/env python3
"""Makes test/golden/vectors/tsne_step.tsv: scikit-learn's gradient of t-SNE where it begins (exaggeration 12), for the points of
tsne.pca.vec, and the divergence there. test/unit/tsne.c compares a first step with it.

    test/golden/tsne_step.py test/golden/vectors    (numpy, scikit-learn)"""

import sys

import numpy as np
from scipy.spatial.distance import squareform
from sklearn.manifold import _t_sne
from sklearn.metrics import pairwise_distances


def main(folder):
    lines = open(folder + "/tsne.pca.vec").read().split("\n")
    rows = [line.split() for line in lines if len(line.split()) >= 3]
    X = np.array([[float(v) for v in r[-3:]] for r in rows if len(r) > 2], np.float32)
    perplexity = float(
        next(
            line.split("\t")[1]
            for line in open(folder + "/tsne.tsv")
            if line.startswith("perplexity")
        )
    )
    P = _t_sne._joint_probabilities(
        pairwise_distances(X, metric="euclidean", squared=True), perplexity, 0
    )
    Y = (1e-4 * X[:, :2] / X[:, 0].std()).astype(np.float64)
    _, G = _t_sne._kl_divergence(Y.ravel(), P * 12, 1, len(X), 2)
    assert squareform(P).shape == (len(X), len(X))
    with open(folder + "/tsne_step.tsv", "w") as f:
        for a, b in G.reshape(-1, 2):
            f.write(f"{a:.9g}\t{b:.9g}\n")


main(sys.argv[1])
