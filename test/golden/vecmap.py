#!/usr/bin/env python3
"""Makes test/golden/vectors/vecmap.safetensors: two small spaces, seed pairs, and what VecMap's formulas (Artetxe, Labaka and
Agirre 2018a, 2018b) make of them, in numpy. test/unit/vecmap.c compares.

    test/golden/vecmap.py test/golden/vectors/vecmap.safetensors    (numpy, safetensors)"""

import sys

import numpy as np
from safetensors.numpy import save_file

rng = np.random.default_rng(7)
N, M, D, K, REWEIGHT = 40, 36, 8, 5, 0.5


def unit(x):
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def whitening(x):
    _, s, vt = np.linalg.svd(x, full_matrices=False)
    return vt.T @ np.diag(1 / s) @ vt


def advanced(x, z, src, tgt):
    """Whitened over the pairs, rotated, re-weighted by s^REWEIGHT on both sides, de-whitened, unit rows."""
    wx, wz = whitening(x[src]), whitening(z[tgt])
    x, z = x @ wx, z @ wz
    u, s, vt = np.linalg.svd(x[src].T @ z[tgt])
    x, z = x @ u * s**REWEIGHT, z @ vt.T * s**REWEIGHT
    x, z = x @ (u.T @ np.linalg.inv(wx) @ u), z @ (vt @ np.linalg.inv(wz) @ vt.T)
    return unit(x), unit(z)


def one_round(x, z, src, tgt):
    """The orthogonal map of the pairs, then each side's best by CSLS; the mean best cosine of both directions."""
    u, _, vt = np.linalg.svd(x[src].T @ z[tgt])
    s = x @ u @ vt @ z.T
    near_z = np.sort(s, axis=0)[-K:].mean(0)
    near_x = np.sort(s, axis=1)[:, -K:].mean(1)
    objective = (s.max(1).mean() + s.max(0).mean()) / 2
    return (
        (s - near_z / 2).argmax(1),
        (s - near_x[:, None] / 2).argmax(0),
        objective,
        s.argmax(1),
        s.argmax(0),
    )


def main(out):
    core = rng.normal(size=(N, D)) * np.linspace(2, 0.3, D)
    x = unit(core + 0.3 * rng.normal(size=(N, D))).astype(np.float32)
    turn = np.linalg.qr(rng.normal(size=(D, D)))[0]
    z = unit((core @ turn)[:M] + 0.3 * rng.normal(size=(M, D))).astype(np.float32)
    src, tgt = np.arange(0, 24, dtype=np.int32), np.arange(0, 24, dtype=np.int32)
    tgt[20:] = [30, 31, 32, 33]
    x64, z64 = x.astype(np.float64), z.astype(np.float64)
    ax, az = advanced(x64, z64, src, tgt)
    forward, backward, objective, plain_f, plain_b = one_round(x64, z64, src, tgt)
    assert (forward != plain_f).sum() + (backward != plain_b).sum() > 3  # CSLS matters here
    save_file(
        {
            "x": x,
            "z": z,
            "src": src,
            "tgt": tgt,
            "cosine": (ax @ az.T).astype(np.float32),
            "own": (ax @ ax.T).astype(np.float32),
            "forward": forward.astype(np.int32),
            "backward": backward.astype(np.int32),
            "objective": np.array([objective], np.float32),
        },
        out,
    )


main(sys.argv[1])
