#!/usr/bin/env python3
"""Training steps of test/bench/train.c by PyTorch: the same encoder (post-norm, exact GELU, learned positions, norm after the
embedding sum, output layer tied to the embeddings), the same shapes and predicted positions, dropout 0.1 of hidden states and
attention, Adam with clipping. Prints one line as that program does.

With CPUTIME=1 in the environment the process's own time is measured, for one thread on a busy machine.

    train.py LAYERS DIM VOCAB BATCH LENGTH float32|bf16 eager|compile [THREADS [SECONDS]]"""
import math
import os
import resource
import sys
import time
import torch
import torch.nn as nn
import torch.nn.functional as F

L, D, V, B, T = map(int, sys.argv[1:6])
precision, how = sys.argv[6:8]
threads = int(sys.argv[8]) if len(sys.argv) > 8 else 1
seconds = float(sys.argv[9]) if len(sys.argv) > 9 else 8
HEADS, P = D // 64, 0.1
torch.set_num_threads(threads)
torch.set_flush_denormal(True)
torch.manual_seed(1)
new = hasattr(F, "scaled_dot_product_attention")


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.up, self.down = nn.Linear(D, 4 * D), nn.Linear(4 * D, D)
        self.norm1, self.norm2 = nn.LayerNorm(D), nn.LayerNorm(D)

    def forward(self, x):
        q, k, v = self.qkv(x).view(B, T, 3, HEADS, D // HEADS).permute(2, 0, 3, 1, 4)
        if new:
            a = F.scaled_dot_product_attention(q, k, v, dropout_p=P)
        else:
            a = F.dropout((q @ k.transpose(-1, -2) / math.sqrt(D // HEADS)).softmax(-1), P) @ v
        x = self.norm1(x + F.dropout(self.out(a.transpose(1, 2).reshape(B, T, D)), P))
        return self.norm2(x + F.dropout(self.down(F.gelu(self.up(x))), P))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(V, D), nn.Embedding(max(T, 512), D)
        self.norm = nn.LayerNorm(D)
        self.layers = nn.ModuleList(Layer() for _ in range(L))
        self.bias = nn.Parameter(torch.zeros(V))
        nn.init.normal_(self.tokens.weight, std=D ** -0.5)

    def forward(self, token, position, row, target):
        x = F.dropout(self.norm(self.tokens(token) + self.positions(position)), P)
        for layer in self.layers:
            x = layer(x)
        return F.cross_entropy(F.linear(x.reshape(-1, D)[row], self.tokens.weight, self.bias).float(), target)


now = time.process_time if os.environ.get("CPUTIME") else time.perf_counter
model = Encoder()
try:
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)
except (TypeError, RuntimeError):
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-4)
forward = torch.compile(model) if how == "compile" else model
N = B * T
position = torch.arange(T).expand(B, T).contiguous()
M = N * 15 // 100


def step():
    token = torch.randint(5, V, (B, T))
    row = torch.randperm(N)[:M].sort().values
    optimiser.zero_grad(set_to_none=True)
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "bf16"):
        loss = forward(token, position, row, token.reshape(-1)[row])
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    optimiser.step()
    return loss.item()


for _ in range(2):
    step()
took, until = [], now() + seconds
while len(took) < 3 or now() < until and len(took) < 200:
    t = now()
    loss = step()
    took.append(now() - t)
took.sort()
median = took[len(took) // 2]
flops = 3 * N * L * (24.0 * D * D + 4.0 * T * D) + 6.0 * M * D * V
print(f"{N / took[0]:.0f}\t{flops / took[0] * 1e-9:.1f}\t{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f}\t"
      f"{median * 1e3:.1f}\t{took[0] * 1e3:.1f}\tPyTorch {torch.__version__} {how}, {precision}, {threads} threads, loss {loss:.2f}")
