"""The same training steps as test/bench/step.c in PyTorch at its best: bf16 autocast, torch.compile, scaled-dot-product (flash)
attention, fused AdamW.  peer.py mlm|mt|bt LAYERS DIM VOCABULARY SENTENCES LENGTH|real [STEPS] [--attention flash|cudnn] [--profile]
It compiles, warms up and says `ready`; then for each line of input STEPS steps are timed and a line is printed, so that one process,
which compiles for a minute, takes turns with ours.
--profile: instead, a line for each kind of kernel of three steps, `KIND<tab>ms a step<tab>launches a step`.
Real lengths are padded to the longest of the batch, to a multiple of eight. bt translates the batch first, greedily, by a copy of the model in bf16 with caches of
keys and values, a step of it one CUDA graph, and learns from that. On a machine without a GPU it runs slowly on the CPU, for a look at it."""
import contextlib
import copy
import re
import sys
import time
import torch
import torch.nn as nn
import torch.nn.functional as F

attention = contextlib.nullcontext
if '--attention' in sys.argv:
    from torch.nn.attention import SDPBackend, sdpa_kernel
    at = sys.argv.index('--attention')
    backend = {'flash': SDPBackend.FLASH_ATTENTION, 'cudnn': SDPBackend.CUDNN_ATTENTION}[sys.argv[at + 1]]
    attention = lambda: sdpa_kernel(backend)
    del sys.argv[at:at + 2]
profile = '--profile' in sys.argv
if profile:
    sys.argv.remove('--profile')
kind, layers, D, V, sentences, length = sys.argv[1], *map(int, sys.argv[2:6]), sys.argv[6]
steps = int(sys.argv[7]) if len(sys.argv) > 7 else 20
heads, device = D // 64, 'cuda' if torch.cuda.is_available() else 'cpu'
cuda = device == 'cuda'
torch.manual_seed(1)


def length_of(i):
    u = (i * 40503 % 65536) / 65536
    return 4 + int(125 * u * u) if length == 'real' else int(length)


lens = [length_of(i) for i in range(sentences)]
T = max(lens) if length != 'real' else (max(lens) + 7) // 8 * 8
positions = max(128, T)
said = [min(int(1.3 * (n - 2)) + 5, positions - 2) for n in lens]        # words of a translation: none ends sooner
BOS, EOS, PAD = 0, 1, 2


def ids():
    x = torch.full((sentences, T), PAD, dtype=torch.long)
    for s, n in enumerate(lens):
        x[s, :n] = torch.tensor([5 + (s * 7919 + i * 104729) % (V - 5) for i in range(n)])
        x[s, 0], x[s, n - 1] = BOS, EOS
    return x.to(device)


def mask_of(lengths, width):
    """True where there is a token: [sentences, width]."""
    return torch.arange(width, device=device)[None] < torch.tensor(lengths, device=device)[:, None]


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
        o = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=0.1 if self.training else 0.0, is_causal=causal)
        return self.out(o.transpose(1, 2).reshape(B, n, D))

    def keys(self, x):
        return (y.view(x.shape[0], -1, heads, D // heads).transpose(1, 2) for y in self.kv(x).chunk(2, -1))

    def one(self, x, k, v, mask):
        """x [B, 1, D] against keys and values that are there."""
        q = self.q(x).view(x.shape[0], 1, heads, -1).transpose(1, 2)
        return self.out(F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).reshape(x.shape[0], 1, D))


class Layer(nn.Module):
    def __init__(self, decoder=False):
        super().__init__()
        self.attn, self.n1, self.n2 = Attention(), nn.LayerNorm(D), nn.LayerNorm(D)
        self.up, self.down = nn.Linear(D, 4 * D), nn.Linear(4 * D, D)
        if decoder:
            self.cross, self.n3 = Attention(True), nn.LayerNorm(D)
        self.decoder = decoder

    def forward(self, x, mask=None, memory=None, memory_mask=None):
        drop = lambda y: F.dropout(y, 0.1, self.training)
        x = self.n1(x + drop(self.attn(x, mask=None if self.decoder else mask, causal=self.decoder)))
        if self.decoder:
            x = self.n3(x + drop(self.cross(x, memory, memory_mask)))
        return self.n2(x + drop(self.down(F.gelu(self.up(x)))))

    def step(self, x, at, k, v, seen, cross_k, cross_v, memory_mask):
        new_k, new_v = self.attn.keys(x)
        k.index_copy_(2, at, new_k)
        v.index_copy_(2, at, new_v)
        x = self.n1(x + self.attn.one(x, k, v, seen))
        x = self.n3(x + self.cross.one(x, cross_k, cross_v, memory_mask))
        return self.n2(x + self.down(F.gelu(self.up(x))))


class Stack(nn.Module):
    def __init__(self, decoder=False):
        super().__init__()
        self.pos, self.norm = nn.Embedding(positions, D), nn.LayerNorm(D)
        self.layers = nn.ModuleList(Layer(decoder) for _ in range(layers))

    def forward(self, tokens, embed, mask=None, memory=None):
        x = F.dropout(self.norm(embed(tokens) + self.pos.weight[:tokens.shape[1]]), 0.1, self.training)
        for layer in self.layers:
            x = layer(x, mask, memory, mask)
        return x


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.bias = nn.Embedding(V, D), nn.Parameter(torch.zeros(V))
        self.enc, self.dec = Stack(), Stack(True) if kind != 'mlm' else None

    def forward(self, src, mask, rows, target, dec=None):
        h = self.enc(src, self.embed, mask)
        if self.dec:
            h = self.dec(src if dec is None else dec, self.embed, mask, h)
        h = h.reshape(-1, D)[rows]
        return F.cross_entropy(F.linear(h, self.embed.weight, self.bias).float(), target)


class Translator:
    """Greedy translation of one batch's shape: tensors that stay, and a step that is captured once and played again."""
    def __init__(self, model, src, mask):
        self.model, self.m, self.src, self.mask = model, copy.deepcopy(model).to(torch.bfloat16).eval(), src, mask
        self.words, B, H = max(said), src.shape[0], D // heads
        some = lambda n: torch.zeros(B, heads, n, H, dtype=torch.bfloat16, device=device)
        self.k, self.v = ([some(self.words) for _ in range(layers)] for _ in 'kv')
        self.cross = [(some(T), some(T)) for _ in range(layers)]
        self.token = torch.zeros(B, 1, dtype=torch.long, device=device)
        self.at = torch.zeros(1, dtype=torch.long, device=device)
        self.out = torch.full((B, self.words + 2), PAD, dtype=torch.long, device=device)
        self.place = torch.arange(self.words, device=device)
        self.graph = None
        self.encode = torch.compile(self.m.enc) if cuda else self.m.enc
        self.run = torch.compile(self.step) if cuda else self.step

    def step(self):
        m = self.m
        x = m.dec.norm(m.embed(self.token) + m.dec.pos(self.at))
        seen = (self.place <= self.at)[None, None, None, :]
        for i, layer in enumerate(m.dec.layers):
            x = layer.step(x, self.at, self.k[i], self.v[i], seen, *self.cross[i], self.mask)
        logits = F.linear(x[:, 0], m.embed.weight, m.bias)
        logits[:, :5] = float('-inf')
        self.token.copy_(logits.argmax(-1, keepdim=True))
        self.at.add_(1)
        self.out.index_copy_(1, self.at, self.token)

    @torch.no_grad()
    def translate(self):
        torch._foreach_copy_(list(self.m.parameters()), list(self.model.parameters()))
        h = self.encode(self.src, self.m.embed, self.mask)
        for (k, v), layer in zip(self.cross, self.m.dec.layers):
            for to, new in zip((k, v), layer.cross.keys(h)):
                to.copy_(new)
        if cuda and not self.graph:
            aside = torch.cuda.Stream()
            aside.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(aside):
                for _ in range(3):
                    self.at.zero_()
                    self.run()
            torch.cuda.current_stream().wait_stream(aside)
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self.run()
        self.token.fill_(BOS)
        self.at.zero_()
        for _ in range(self.words):
            self.graph.replay() if cuda else self.run()
        y = self.out.clone()
        y[:, 0] = BOS
        return y


src = ids()
there = mask_of(lens, T)
mask = None if all(n == T for n in lens) else there[:, None, None, :]
flat = there.reshape(-1).nonzero()[:, 0]
rows = flat if kind != 'mlm' else flat[torch.arange(len(flat), device=device) * 7 % 20 < 3]
target = src.reshape(-1)[rows]

wait = torch.cuda.synchronize if cuda else lambda: None
size = 8192 if cuda else 256
a = torch.randn(size, size, device=device, dtype=torch.bfloat16)
b = torch.randn(size, size, device=device, dtype=torch.bfloat16)
best = 1e9
for _ in range(6):
    wait()
    t = time.perf_counter()
    for _ in range(4):
        a @ b
    wait()
    best = min(best, (time.perf_counter() - t) / 4)
peak = 2 * size ** 3 / best
del a, b

model = Model().to(device)
run = torch.compile(model) if cuda else model
opt = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.01, fused=True)
if kind == 'bt':
    translator = Translator(model, src, mask)
    width = max(said) + 2
    back_there = mask_of([n + 2 for n in said], width)
    back_mask = None if min(said) + 2 == width else back_there[:, None, None, :]
    ends = torch.tensor([n + 1 for n in said], device=device)[:, None]
if cuda:
    torch.cuda.reset_peak_memory_stats()
loss = None


def train(n):
    global loss
    for _ in range(n):
        if kind == 'bt':
            back = translator.translate().scatter(1, ends, EOS).masked_fill(~back_there, PAD)
        with attention(), torch.autocast(device, dtype=torch.bfloat16):
            loss = run(back, back_mask, rows, target, src) if kind == 'bt' else run(src, mask, rows, target)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 5)
        opt.step()
        opt.zero_grad(set_to_none=True)
    wait()


train(6)
if profile:
    from torch.profiler import ProfilerActivity, profile as profiler
    kinds = (('attention', 'flash|fmha|sdpa|cudnn.*attn'), ('products', 'gemm|nvjet|cutlass|xmma|wgmma'), ('AdamW', 'adam'),
             ('norm of gradients, clipping', 'multi_tensor_apply|foreach|lpnorm'), ('copies', 'memcpy|copy'),
             ('zeroing', 'memset|fill'), ('GELU', 'gelu|erf'), ('layer norms', 'native_layer_norm|layer_norm'),
             ('loss', 'softmax|nll|cross_entropy'), ('embeddings', 'embedding|index|sort|radix'))
    with profiler(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as p:
        train(3)
    sums = {}
    for e in p.key_averages():
        us = getattr(e, 'self_device_time_total', 0)
        if not us or e.device_type == torch.autograd.DeviceType.CPU:
            continue
        name = next((k for k, words in kinds if re.search(words, e.key, re.I)), 'other: ' + e.key[:60])
        ms, n = sums.get(name, (0, 0))
        sums[name] = ms + us / 3e3, n + e.count / 3
    for name, (ms, n) in sorted(sums.items(), key=lambda x: -x[1][0])[:16]:
        print(f'{name}\t{ms:.2f}\t{n:.0f}')
    print(f"all\t{sum(ms for ms, _ in sums.values()):.2f}\t{sum(n for _, n in sums.values()):.0f}")
    sys.exit()
print('ready', flush=True)
tokens = sum(lens) * (2 if kind == 'mt' else 1) + (sum(said) + 2 * sentences if kind == 'bt' else 0)
for _ in sys.stdin:
    train(1)
    began = time.perf_counter()
    train(steps)
    mean = (time.perf_counter() - began) / steps
    print(f'PyTorch {torch.__version__}: {mean * 1e3:.2f} ms a step, {tokens / mean:.0f} tokens/s, loss {loss.item():.3f}, '
          f'one product {peak * 1e-12:.1f} TFLOP/s, {torch.cuda.max_memory_allocated() / 2 ** 20 if cuda else 0:.0f} MiB', flush=True)
