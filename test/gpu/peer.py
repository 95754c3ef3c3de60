"""The same training steps as test/bench/step.c in PyTorch at its best: bf16 autocast, torch.compile, scaled-dot-product (flash)
attention, fused AdamW.  peer.py mlm|mt LAYERS DIM VOCABULARY SENTENCES LENGTH|real [STEPS]
Real lengths are padded to the longest of the batch."""
import sys
import time
import torch
import torch.nn as nn
import torch.nn.functional as F

kind, layers, D, V, sentences, length = sys.argv[1], *map(int, sys.argv[2:6]), sys.argv[6]
steps = int(sys.argv[7]) if len(sys.argv) > 7 else 20
heads, device = D // 64, 'cuda'
torch.manual_seed(1)


def length_of(i):
    u = (i * 40503 % 65536) / 65536
    return 4 + int(125 * u * u) if length == 'real' else int(length)


lens = [length_of(i) for i in range(sentences)]
T = max(lens)


def ids():
    x = torch.ones(sentences, T, dtype=torch.long)
    for s, n in enumerate(lens):
        x[s, :n] = torch.tensor([5 + (s * 7919 + i * 104729) % (V - 5) for i in range(n)])
    return x.to(device)


class Attention(nn.Module):
    def __init__(self, cross=False):
        super().__init__()
        self.cross = cross
        self.q, self.kv = nn.Linear(D, D), nn.Linear(D, 2 * D)
        self.out = nn.Linear(D, D)

    def forward(self, x, memory=None, mask=None, causal=False):
        B, n, _ = x.shape
        q = self.q(x).view(B, n, heads, -1).transpose(1, 2)
        k, v = self.kv(memory if self.cross else x).chunk(2, -1)
        k, v = (y.view(B, -1, heads, D // heads).transpose(1, 2) for y in (k, v))
        o = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=0.1, is_causal=causal)
        return self.out(o.transpose(1, 2).reshape(B, n, D))


class Layer(nn.Module):
    def __init__(self, decoder=False):
        super().__init__()
        self.attn, self.n1, self.n2 = Attention(), nn.LayerNorm(D), nn.LayerNorm(D)
        self.up, self.down = nn.Linear(D, 4 * D), nn.Linear(4 * D, D)
        if decoder:
            self.cross, self.n3 = Attention(True), nn.LayerNorm(D)
        self.decoder = decoder

    def forward(self, x, mask=None, memory=None, memory_mask=None):
        drop = lambda y: F.dropout(y, 0.1)
        x = self.n1(x + drop(self.attn(x, mask=None if self.decoder else mask, causal=self.decoder)))
        if self.decoder:
            x = self.n3(x + drop(self.cross(x, memory, memory_mask)))
        return self.n2(x + drop(self.down(F.gelu(self.up(x)))))


class Stack(nn.Module):
    def __init__(self, decoder=False):
        super().__init__()
        self.pos, self.norm = nn.Embedding(max(T, 128), D), nn.LayerNorm(D)
        self.layers = nn.ModuleList(Layer(decoder) for _ in range(layers))

    def forward(self, tokens, embed, mask=None, memory=None):
        x = F.dropout(self.norm(embed(tokens) + self.pos.weight[:tokens.shape[1]]), 0.1)
        for layer in self.layers:
            x = layer(x, mask, memory, mask)
        return x


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.bias = nn.Embedding(V, D), nn.Parameter(torch.zeros(V))
        self.enc, self.dec = Stack(), Stack(True) if kind == 'mt' else None

    def forward(self, src, mask, rows, target):
        h = self.enc(src, self.embed, mask)
        if self.dec:
            h = self.dec(src, self.embed, mask, h)
        h = h.reshape(-1, D)[rows]
        return F.cross_entropy(F.linear(h, self.embed.weight, self.bias).float(), target)


src = ids()
there = torch.zeros(sentences, T, dtype=torch.bool, device=device)
for s, n in enumerate(lens):
    there[s, :n] = True
mask = None if all(n == T for n in lens) else there[:, None, None, :]
flat = there.reshape(-1).nonzero()[:, 0]
rows = flat if kind == 'mt' else flat[torch.arange(len(flat), device=device) * 7 % 20 < 3]
target = src.reshape(-1)[rows]

a = torch.randn(8192, 8192, device=device, dtype=torch.bfloat16)
b = torch.randn(8192, 8192, device=device, dtype=torch.bfloat16)
best = 1e9
for _ in range(6):
    torch.cuda.synchronize()
    t = time.perf_counter()
    for _ in range(4):
        a @ b
    torch.cuda.synchronize()
    best = min(best, (time.perf_counter() - t) / 4)
peak = 2 * 8192 ** 3 / best
del a, b

model = Model().to(device)
run = torch.compile(model)
opt = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.01, fused=True)
torch.cuda.reset_peak_memory_stats()
began = 0
for step in range(steps + 6):
    if step == 6:
        torch.cuda.synchronize()
        began = time.perf_counter()
    with torch.autocast('cuda', dtype=torch.bfloat16):
        loss = run(src, mask, rows, target)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 5)
    opt.step()
    opt.zero_grad(set_to_none=True)
torch.cuda.synchronize()
mean = (time.perf_counter() - began) / steps
tokens = sum(lens) * (2 if kind == 'mt' else 1)
print(f'PyTorch {torch.__version__}: {mean * 1e3:.2f} ms a step, {tokens / mean:.0f} tokens/s, loss {loss.item():.3f}, '
      f'one product {peak * 1e-12:.1f} TFLOP/s, {torch.cuda.max_memory_allocated() / 2 ** 20:.0f} MiB')
