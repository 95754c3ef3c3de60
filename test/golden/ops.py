#!/usr/bin/env python3
"""Writes test/golden/ops.safetensors: what PyTorch computes for the operations of test/unit/ops.c, in double, rounded to
float32. Names: OP.ARRAY, OP.OUTPUT.cot (the gradient that is fed back), OP.ARRAY.grad.
    python3 test/golden/ops.py            (needs torch and numpy)"""
import json
import os
import struct
import numpy as np
import torch
import torch.nn.functional as F

torch.manual_seed(20)
out = {}


def random(*shape):
    return (torch.rand(*shape) * 2 - 1).double()      # exact in float32


def put(name, x, dtype=np.float32):
    out[name] = np.ascontiguousarray(x.detach().numpy().astype(dtype))


def operation(op, inputs, outputs, cot=None, integers={}):
    """inputs: name -> leaf tensor; outputs: name -> tensor; cot: name -> what is fed back (default random; None: not fed)."""
    total = 0
    for name, y in outputs.items():
        put(f"{op}.{name}", y)
        c = random(*y.shape) if cot is None or name not in cot else cot[name]
        if c is not None:
            put(f"{op}.{name}.cot", c)
            total = total + (c * y).sum()
    if torch.is_tensor(total) and total.requires_grad:
        total.backward()
    for name, x in inputs.items():
        put(f"{op}.{name}", x)
        if x.grad is not None:
            put(f"{op}.{name}.grad", x.grad)
    for name, i in integers.items():
        put(f"{op}.{name}", i, np.int32)


def leaves(**shapes):
    return {name: random(*shape).requires_grad_() for name, shape in shapes.items()}


a = leaves(X=(9, 13), W=(7, 13), b=(7,))
operation("linear", a, {"Y": F.linear(a["X"], a["W"], a["b"])})

a = leaves(X=(6, 8), W1=(21, 8), b1=(21,), W2=(8, 21), b2=(8,))
operation("ffn", a, {"Y": F.linear(F.gelu(F.linear(a["X"], a["W1"], a["b1"])), a["W2"], a["b2"])})

a = leaves(E=(9, 10), P=(6, 10), L=(3, 10))
i = {"token": torch.randint(9, (12,)), "pos": torch.randint(6, (12,)), "lang": torch.randint(3, (12,))}
operation("embed", a, {"Y": 1.75 * F.embedding(i["token"], a["E"]) + F.embedding(i["pos"], a["P"]) + F.embedding(i["lang"], a["L"])}, integers=i)

a = leaves(X=(7, 20), gamma=(20,), beta=(20,), U=(7, 20))
s = a["X"] + a["U"]
operation("norm", a, {"Y": F.layer_norm(s, (20,), a["gamma"], a["beta"], 1e-5), "S": s})

# Causal attention over packed sentences of 6, 3 and 6 tokens, 2 heads of 4, scale 0.7 (what attn_setup makes of N = 6).
heads, dim, scale, lengths = 2, 4, np.float64(np.float32(0.7)), [6, 3, 6]
D = heads * dim
a = leaves(QKV=(sum(lengths), 3 * D))
rows, at = [], 0
for n in lengths:
    q, key, v = (a["QKV"][at:at + n, j * D:(j + 1) * D].reshape(n, heads, dim).transpose(0, 1) for j in range(3))
    scores = scale * q @ key.transpose(1, 2) + torch.full((n, n), -np.inf).double().triu(1)
    rows.append((scores.softmax(-1) @ v).transpose(0, 1).reshape(n, D))
    at += n
starts = torch.tensor([0, 6, 9])
operation("attn", a, {"O": torch.cat(rows)},
          integers={"q_at": starts, "q_len": torch.tensor(lengths), "k_at": starts, "k_len": torch.tensor(lengths)})

a = leaves(X=(8, 6), W=(29, 6), b=(29,))
target = torch.randint(29, (8,))
logits = F.linear(a["X"], a["W"], a["b"])
fed = torch.full((8,), np.float64(np.float32(0.3)))
operation("xent", a, {"loss": F.cross_entropy(logits, target, reduction="none", label_smoothing=np.float64(np.float32(0.1))),
                      "nll": F.cross_entropy(logits, target, reduction="none")},
          cot={"loss": fed, "nll": None}, integers={"target": target})

p = torch.nn.Parameter(random(37))
adam = torch.optim.AdamW([p], lr=1e-2, betas=(0.9, 0.98), eps=1e-6, weight_decay=0.01)
put("adam.p0", p)
for step in (1, 2, 3):
    g = random(37) * 4 / step ** 3                   # the last one is not clipped
    put(f"adam.g{step}", g)
    p.grad = g.clone()
    torch.nn.utils.clip_grad_norm_([p], 1.0)
    adam.step()
    put(f"adam.p{step}", p)

# LAMB (You et al. 2020, Algorithm 2) has no peer in PyTorch: its equations, in double.
p = random(41)
put("lamb.p0", p)
m, v = torch.zeros(41).double(), torch.zeros(41).double()
for step in (1, 2, 3):
    g = random(41) * 4 / step ** 3
    put(f"lamb.g{step}", g)
    g = g * min(1.0, 1.0 / (g.norm() + 1e-6))
    m, v = 0.9 * m + 0.1 * g, 0.98 * v + 0.02 * g * g
    u = (m / (1 - 0.9 ** step)) / ((v / (1 - 0.98 ** step)).sqrt() + 1e-6) + 0.01 * p
    p = p - 1e-2 * (p.norm() / u.norm()) * u
    put(f"lamb.p{step}", p)

a = leaves(X=(5, 9), W=(13, 9), b=(13,))
operation("dense", a, {"Y": torch.tanh(F.linear(a["X"], a["W"], a["b"]))})

def f32(x):
    return np.float64(np.float32(x))                  # a constant of test/unit/ops.c


a = leaves(X=(5, 11))
operation("unit", a, {"Y": 1.5 * F.normalize(a["X"], dim=1)})

a = leaves(E=(7, 6))
a["w"], a["X"] = random(5, 4), random(8, 6)
i = {"row": torch.tensor([(m * 7 + 2) % 8 for m in range(5)]), "idx": torch.randint(-1, 7, (5, 4))}
kept = (i["idx"] >= 0).double() * a["w"]
mixed = f32(0.8) * torch.einsum("mk,mkd->md", kept, F.embedding(i["idx"].clamp(min=0), a["E"]))
operation("mix", a, {"Y": a["X"].index_add(0, i["row"], mixed)}, integers=i)

a = {"val": random(4, 8)}
w = torch.softmax(a["val"] / f32(0.7), dim=1)
operation("softmax", a, {"w": w, "entropy": torch.distributions.Categorical(probs=w).entropy()})

a = {"E": random(7, 6), "w0": random(5, 4).abs() + 0.01}
a["w0"] = a["w0"].float().double()
i = {"idx": torch.randint(-1, 7, (5, 4))}
kept = (i["idx"] >= 0).double() * a["w0"]
rows = F.embedding(i["idx"].clamp(min=0), a["E"])
ratio = torch.einsum("mk,mkd->md", kept, rows).norm(dim=1) / (kept * rows.norm(dim=2)).sum(dim=1)
operation("mix_norm", a, {"ratio": ratio, "w": a["w0"] / ratio[:, None]}, integers=i)

a = {"S": random(9, 7)}
operation("column_means", a, {"mean": a["S"].topk(4, dim=0).values.mean(dim=0)})

a = leaves(E=(5, 10))
i = {"i": torch.tensor([0, 1, 2, 3, 0, 0]), "j": torch.tensor([1, 2, 0, 4, 4, 1])}
cosine = F.cosine_similarity(F.embedding(i["i"], a["E"]), F.embedding(i["j"], a["E"]), eps=1e-8)
operation("cos_pairs", a, {"loss": -cosine}, cot={"loss": torch.full((6,), f32(0.4))}, integers=i)

# Three segments of 8, 5 and 1 rows, a row of none after each; the middle one of three columns.
a = leaves(Z=(17, 3))
i = {"at": torch.tensor([0, 9, 15]), "len": torch.tensor([8, 5, 1]), "target": torch.tensor([6, 2, 0])}
loss = [F.cross_entropy(a["Z"][at:at + n, 1][None], y[None]) for at, n, y in zip(*i.values())]
operation("span", a, {"loss": torch.stack(loss)}, cot={"loss": torch.full((3,), f32(0.3))}, integers=i)

a = leaves(X=(9, 5))
i = {"at": torch.tensor([0, 3, 4, 6]), "len": torch.tensor([3, 1, 2, 3])}
means = [a["X"][at:at + n].mean(dim=0) for at, n in zip(*i.values())]
operation("means", a, {"Y": torch.stack(means)}, integers=i)

a = leaves(X=(6, 8), W1=(21, 8), b1=(21,), W2=(8, 21), b2=(8,))
hidden = F.gelu(F.linear(a["X"], a["W1"], a["b1"]), approximate="tanh")
operation("ffn_tanh", a, {"Y": F.linear(hidden, a["W2"], a["b2"])})

header, offset = {"__metadata__": {"torch": torch.__version__}}, 0
for name, x in out.items():
    header[name] = {"dtype": {"float32": "F32", "int32": "I32"}[str(x.dtype)], "shape": list(x.shape),
                    "data_offsets": [offset, offset + x.nbytes]}
    offset += x.nbytes
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "ops.safetensors"), "wb") as f:
    f.write(struct.pack("<Q", len(text)) + text + b"".join(x.tobytes() for x in out.values()))
