#!/usr/bin/env python3
"""MoCo on sentence pairs by PyTorch, as moco's main_moco.py loops: the steps of `align-post --objective moco` from the
same pairs, model shape, batch, queue and optimiser. Batches are padded to their longest sentence. Prints seconds per
step (the process's own time, after two steps), peak MiB, tokens per step and the last loss.

    moco.py VOCAB PAIRS_A PAIRS_B LAYERS DIM HEADS BATCH QUEUE PROJECTION STEPS"""

import copy
import random
import resource
import sys
import time
import torch
import torch.nn as nn
import torch.nn.functional as F

vocab, one, two = sys.argv[1:4]
L, D, H, B, K, Z, STEPS = map(int, sys.argv[4:11])
P, TAU, M = 0.1, 0.05, 0.99
torch.set_num_threads(1)
torch.set_flush_denormal(True)
torch.manual_seed(1)
random.seed(1)
number = {line.split()[0]: i + 5 for i, line in enumerate(open(vocab))}
V = len(number) + 5


def read(path):
    return [[0] + [number.get(w, 3) for w in line.split()] + [1] for line in open(path)]


pairs = [
    (a, b)
    for a, b in zip(read(one), read(two))
    if min(len(a), len(b)) >= 7 and len(a) + len(b) <= 132
]


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.up, self.down = nn.Linear(D, 4 * D), nn.Linear(4 * D, D)
        self.norm1, self.norm2 = nn.LayerNorm(D), nn.LayerNorm(D)

    def forward(self, x, mask):
        n, t, _ = x.shape
        q, k, v = self.qkv(x).view(n, t, 3, H, D // H).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=P)
        x = self.norm1(x + F.dropout(self.out(a.transpose(1, 2).reshape(n, t, D)), P))
        return self.norm2(x + F.dropout(self.down(F.gelu(self.up(x))), P))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(V, D), nn.Embedding(140, D)
        self.norm = nn.LayerNorm(D)
        self.layers = nn.ModuleList(Layer() for _ in range(L))
        self.head = nn.Sequential(
            nn.Linear(D, D, bias=False), nn.ReLU(), nn.Linear(D, Z, bias=False)
        )
        nn.init.normal_(self.tokens.weight, std=D**-0.5)

    def forward(self, sentences):
        t = max(map(len, sentences))
        token = torch.tensor([s + [2] * (t - len(s)) for s in sentences])
        mask = (token != 2)[:, None, None, :]
        x = F.dropout(self.norm(self.tokens(token) + self.positions.weight[:t]), P)
        for layer in self.layers:
            x = layer(x, mask)
        return F.normalize(self.head(F.normalize(x[:, 0])))


query = Encoder()
key = copy.deepcopy(query)
for p in key.parameters():
    p.requires_grad = False
optimiser = torch.optim.AdamW(query.parameters(), lr=3e-4, weight_decay=0.01, fused=True)
queue, at = F.normalize(torch.randn(K, Z)), 0
order, place, tokens = [], 0, 0


def step():
    global at, order, place, tokens
    if place + B > len(order):
        order, place = random.sample(range(len(pairs)), len(pairs)), 0
    batch = [
        pairs[i] if random.random() < 0.5 else pairs[i][::-1] for i in order[place : place + B]
    ]
    place += B
    tokens += sum(len(a) + len(b) for a, b in batch)
    with torch.no_grad():
        for k, q in zip(key.parameters(), query.parameters()):
            k.mul_(M).add_(q, alpha=1 - M)
        keys = key([b for _, b in batch])
    z = query([a for a, _ in batch])
    logits = torch.cat([(z * keys).sum(1, keepdim=True), z @ queue.T], 1) / TAU
    loss = F.cross_entropy(logits, torch.zeros(B, dtype=torch.long))
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(query.parameters(), 1.0)
    optimiser.step()
    queue[at : at + B] = keys
    at = (at + B) % K
    return loss.item()


step(), step()
tokens, began = 0, time.process_time()
for _ in range(STEPS):
    loss = step()
took = (time.process_time() - began) / STEPS
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(f"{took:.3f}\t{peak:.0f}\t{tokens / STEPS:.0f}\t{loss:.2f}\tPyTorch {torch.__version__}")
