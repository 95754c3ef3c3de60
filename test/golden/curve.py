#!/usr/bin/python3
"""Makes test/golden/curve.safetensors: initial weights and the losses of 200 training steps of a masked language model by PyTorch
alone (Debian's python3-torch). test/unit/curve.c makes the same steps: the same weights, the same batches (by the rule of
sentence() here), no dropout, Adam with a linear warm-up and clipping.

    test/golden/curve.py OUT"""
import sys
import torch
import torch.nn.functional as F
import model

STEPS, SENTENCES, LR, WARMUP, CLIP = 200, 16, 6e-3, 20, 1.0
model.V, model.D, model.FF, model.HEADS, model.POS = 64, 32, 64, 4, 24


def sentence(step, i):
    """Words that follow one another by a rule with two outcomes; a sixth of them is to be predicted."""
    x = (step * 1000003 + i * 7919 + 12345) % 2 ** 31

    def draw():
        nonlocal x
        x = (1103515245 * x + 12345) % 2 ** 31
        return x >> 16

    n, ids, pick = 8 + draw() % 13, [model.BOS], []
    word = draw() % 59
    for j in range(n):
        ids.append(5 + word)
        if draw() % 6 == 0:
            pick.append(j + 1)
        word = (word + 1 + draw() % 2) % 59
    return ids + [model.EOS], pick


def loss_of(m, step):
    rows, targets = [], []
    for i in range(SENTENCES):
        ids, pick = sentence(step, i)
        read = [model.MASK if j in pick else t for j, t in enumerate(ids)]
        h = m.run("encoder", read, 0)
        rows += [h[j] for j in pick]
        targets += [ids[j] for j in pick]
    return F.cross_entropy(m.logits(torch.stack(rows)), torch.tensor(targets))


def main(out):
    torch.manual_seed(12)
    m = model.Model(2, 0, False, F.gelu, True, E=32)
    with torch.no_grad():
        for name, p in m.p.items():
            if p.dim() > 1:
                p *= 0.5
    t = {"w." + k: v.detach().clone() for k, v in m.p.items()}
    opt = torch.optim.Adam(m.p.values(), lr=LR, betas=(0.9, 0.999), eps=1e-8)
    curve = []
    for step in range(1, STEPS + 1):
        for g in opt.param_groups:
            g["lr"] = LR * min(1, step / WARMUP)
        opt.zero_grad()
        loss = loss_of(m, step)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(m.p.values(), CLIP)
        opt.step()
        curve.append(loss.detach())
    t["curve"] = torch.stack(curve)
    model.write(out, t)
    print(" ".join(f"{float(x):.3f}" for x in curve[::20]), f"{float(curve[-1]):.3f}")


main(sys.argv[1])
