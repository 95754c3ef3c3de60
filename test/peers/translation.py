#!/usr/bin/env python3
"""What PyTorch reaches with the model, data and budget of `finetune --task mt`: a supervised encoder-decoder (XLM's, post-norm,
GELU, shared embeddings), trained on BPE text and then used to translate. The calibration in docs/lab/results.md; no test reads it.
Wants a recent PyTorch from PyPI, nothing else.

    translation.py --data RUN/bpe --vocab RUN/vocab --pair en-de --steps N [--seed S] --hyp PREFIX
      reads  DATA/train.L, DATA/valid.L, DATA/test.L (BPE text, as bpe-apply writes it) and the vocabulary
      writes PREFIX.en-de and PREFIX.de-en: translations of the test text, BPE text, for `bpe-apply --restore`

As finetune does it: both directions in one model, in turn; a batch is sentences in a random order until both sides have
2 * tokens tokens; targets over the words of the target language only, label smoothing over the same; dropout after the embeddings,
in attention and before each residual sum; Adam with gradients clipped at norm 5; inverse square root after a linear warm-up.
As fast as PyTorch was found to get on a CPU: packed rows, padding only inside attention, one product for Q, K and V, fused Adam,
torch.compile (--no-compile: without)."""
import argparse, math, os, sys, time
ap = argparse.ArgumentParser()
ap.add_argument("--data", required=True)
ap.add_argument("--vocab", required=True)
ap.add_argument("--pair", default="en-de")
ap.add_argument("--hyp", help="prefix of the translations' files")
ap.add_argument("--steps", type=int, default=1500)
ap.add_argument("--tokens", type=int, default=2500)
ap.add_argument("--longest", type=int, default=100)
ap.add_argument("--lr", type=float, default=7e-4)
ap.add_argument("--warmup", type=int, default=1000)
ap.add_argument("--beta2", type=float, default=0.98)
ap.add_argument("--eps", type=float, default=1e-9)
ap.add_argument("--clip", type=float, default=5)
ap.add_argument("--smoothing", type=float, default=0.1)
ap.add_argument("--dropout", type=float, default=0.1)
ap.add_argument("--layers", type=int, default=3)
ap.add_argument("--dim", type=int, default=256)
ap.add_argument("--heads", type=int, default=4)
ap.add_argument("--ffn", type=int, default=1024)
ap.add_argument("--positions", type=int, default=512)
ap.add_argument("--beam", type=int, default=5)
ap.add_argument("--seed", type=int, default=1)
ap.add_argument("--threads", type=int, default=2)
ap.add_argument("--limit", type=int, default=0, help="translate only so many sentences")
ap.add_argument("--compile", action=argparse.BooleanOptionalAction, default=True)
o = ap.parse_args()
os.environ["OMP_NUM_THREADS"] = str(o.threads)
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(o.threads)
torch.manual_seed(o.seed)
BOS, EOS, PAD, UNK, SPECIALS = 0, 1, 2, 3, 5
langs = o.pair.split("-")

words = ["<s>", "</s>", "<pad>", "<unk>", "<mask>"] + [l.rstrip("\n").split(" ")[0] for l in open(o.vocab, encoding="utf-8", newline="\n")]
ids = {w: i for i, w in enumerate(words) if i >= SPECIALS}
V = len(words)


def read(part, lang):
    with open(f"{o.data}/{part}.{lang}", encoding="utf-8", newline="\n") as f:
        return [[ids.get(w, UNK) for w in line.rstrip("\n").split(" ") if w] for line in f]


train = [read("train", l) for l in langs]
allowed, local = [], []          # of a language: the ids the decoder may say, and where an id stands among them
for side in train:
    seen = sorted({t for s in side for t in s if t >= SPECIALS} | {EOS})
    where = torch.full((V,), -1)
    where[torch.tensor(seen)] = torch.arange(len(seen))
    allowed.append(torch.tensor(seen))
    local.append(where)


class Pad(torch.autograd.Function):
    """Packed rows [N, D] to [size, D], zeros elsewhere. The places are distinct, so backward is a gather."""
    @staticmethod
    def forward(x, at, size):
        return x.new_zeros(size, x.shape[1]).index_copy(0, at, x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[1])

    @staticmethod
    def backward(ctx, g):
        return g.index_select(0, ctx.saved_tensors[0]), None, None


class Unpad(torch.autograd.Function):
    """And back."""
    @staticmethod
    def forward(x, at):
        return x.index_select(0, at)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[1])
        ctx.size = inputs[0].shape[0]

    @staticmethod
    def backward(ctx, g):
        return g.new_zeros(ctx.size, g.shape[1]).index_copy(0, ctx.saved_tensors[0], g), None


class Rows:
    """Sentences packed: tokens and positions of all rows, and where each row stands in a [B, T] grid."""
    def __init__(self, sents):
        n = torch.tensor([len(s) for s in sents])
        self.B, self.T = len(sents), int(n.max())
        self.tokens = torch.tensor([t for s in sents for t in s])
        self.pos = torch.cat([torch.arange(len(s)) for s in sents])
        self.at = torch.arange(self.B).repeat_interleave(n) * self.T + self.pos
        here = torch.arange(self.T)[None] < n[:, None]
        self.mask = torch.where(here, 0.0, -1e9)[:, None, None]                        # [B, 1, 1, T]


class Layer(nn.Module):
    def __init__(self, cross):
        super().__init__()
        D = o.dim
        self.qkv, self.out, self.norm = nn.Linear(D, 3 * D), nn.Linear(D, D), nn.LayerNorm(D)
        self.cross = cross
        if cross:
            self.cq, self.ckv, self.cout, self.cnorm = nn.Linear(D, D), nn.Linear(D, 2 * D), nn.Linear(D, D), nn.LayerNorm(D)
        self.up, self.down, self.fnorm = nn.Linear(D, o.ffn), nn.Linear(o.ffn, D), nn.LayerNorm(D)

    def attend(self, q, k, v, mask):
        p = (q * (1 / math.sqrt(q.shape[-1]))) @ k.transpose(-1, -2) + mask
        return F.dropout(p.softmax(-1), o.dropout, self.training) @ v

    @staticmethod
    def heads(x, B, T, parts):
        return x.view(B, T, parts, o.heads, -1).permute(2, 0, 3, 1, 4)                  # [parts, B, H, T, d]

    def forward(self, x, at, B, T, mask, memory=None, mat=None, mT=0, mmask=None):
        drop = lambda y: F.dropout(y, o.dropout, self.training)
        q, k, v = self.heads(Pad.apply(self.qkv(x), at, B * T), B, T, 3)
        a = self.attend(q, k, v, mask).transpose(1, 2).reshape(B * T, -1)
        x = self.norm(x + drop(self.out(Unpad.apply(a, at))))
        if self.cross:
            q, = self.heads(Pad.apply(self.cq(x), at, B * T), B, T, 1)
            k, v = self.heads(Pad.apply(self.ckv(memory), mat, B * mT), B, mT, 2)
            a = self.attend(q, k, v, mmask).transpose(1, 2).reshape(B * T, -1)
            x = self.cnorm(x + drop(self.cout(Unpad.apply(a, at))))
        return self.fnorm(x + drop(self.down(F.gelu(self.up(x)))))


class Stack(nn.Module):
    def __init__(self, cross):
        super().__init__()
        self.pos, self.lang = nn.Embedding(o.positions, o.dim), nn.Embedding(2, o.dim) if cross else None   # --no-encoder-langs
        self.norm = nn.LayerNorm(o.dim)
        self.layers = nn.ModuleList(Layer(cross) for _ in range(o.layers))

    def forward(self, emb, tokens, pos, lang, at, B, T, mask, *memory):
        x = F.embedding(tokens, emb) + self.pos(pos)
        if self.lang is not None:
            x = x + self.lang.weight[lang]
        x = F.dropout(self.norm(x), o.dropout, self.training)
        for l in self.layers:
            x = l(x, at, B, T, mask, *memory)
        return x


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.bias = nn.Parameter(torch.randn(V, o.dim) * o.dim ** -0.5), nn.Parameter(torch.zeros(V))
        self.enc, self.dec = Stack(False), Stack(True)
        for name, p in self.named_parameters():
            if "pos" in name or "lang" in name:
                nn.init.normal_(p, 0, o.dim ** -0.5)
            elif p.dim() > 1 and name != "emb":
                for part in p.chunk(3 if "qkv" in name else 2 if "ckv" in name else 1):
                    nn.init.xavier_uniform_(part)
            elif name.endswith("bias"):
                nn.init.zeros_(p)
        with torch.no_grad():
            self.emb[PAD] = 0

    def encode(self, r_tokens, r_pos, at, B, T, mask):
        return self.enc(self.emb, r_tokens, r_pos, 0, at, B, T, mask)

    def decode(self, tokens, pos, lang, at, B, T, mask, memory, mat, mT, mmask):
        return self.dec(self.emb, tokens, pos, lang, at, B, T, mask, memory, mat, mT, mmask)

    def forward(self, s_tokens, s_pos, s_at, B, sT, s_mask, d_tokens, d_pos, d_at, dT, causal, lang, allow, target):
        memory = self.encode(s_tokens, s_pos, s_at, B, sT, s_mask)
        h = self.decode(d_tokens, d_pos, lang, d_at, B, dT, causal, memory, s_at, sT, s_mask)
        logits = F.linear(h, self.emb.index_select(0, allow), self.bias.index_select(0, allow))
        return F.cross_entropy(logits, target, label_smoothing=o.smoothing)


def causal_mask(T):
    return torch.full((T, T), -1e9).triu(1)


class Stream:
    """Sentence pairs of one direction in a random order, epoch after epoch."""
    def __init__(self, src, tgt, seed):
        ok = lambda s: 1 <= len(s) <= o.longest
        self.pairs = [(a, b) for a, b in zip(src, tgt) if ok(a) and ok(b)]
        self.g, self.order = torch.Generator().manual_seed(seed), []

    def batch(self):
        src, tgt, n = [], [], 0
        while n < 2 * o.tokens:
            if not self.order:
                self.order = torch.randperm(len(self.pairs), generator=self.g).tolist()
            a, b = self.pairs[self.order.pop()]
            src.append([BOS] + a + [EOS])
            tgt.append(b)
            n += len(a) + 2 + len(b) + 1
        return Rows(src), Rows([[BOS] + t for t in tgt]), torch.tensor([x for t in tgt for x in t + [EOS]])


def learning_rate(step):
    return o.lr * (step / o.warmup if step < o.warmup else math.sqrt(max(o.warmup, 1) / max(step, 1)))


model = Model()
adam = torch.optim.Adam(model.parameters(), lr=o.lr, betas=(0.9, o.beta2), eps=o.eps, fused=True)
streams = [Stream(train[d], train[1 - d], o.seed * 2 + d) for d in (0, 1)]
run = torch.compile(model, dynamic=True) if o.compile else model
print(f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads, {sum(p.numel() for p in model.parameters()):,} parameters, "
      f"{'compiled' if o.compile else 'eager'}", file=sys.stderr)
model.train()
began, first, tokens, nll, count = time.time(), None, 0, 0.0, 0
for step in range(1, o.steps + 1):
    d = (step - 1) % 2                                                                   # reads langs[d], writes the other
    s, t, target = streams[d].batch()
    loss = run(s.tokens, s.pos, s.at, s.B, s.T, s.mask, t.tokens, t.pos, t.at, t.T, causal_mask(t.T), 1 - d,
               allowed[1 - d], local[1 - d][target])
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), o.clip)
    adam.param_groups[0]["lr"] = learning_rate(step)
    adam.step()
    adam.zero_grad(set_to_none=True)
    nll += loss.item(); count += 1
    if step == min(10, o.steps):                                                         # past compiling
        first = time.time()
    else:
        tokens += len(s.tokens) + len(t.tokens)
    if step % 50 == 0 or step == o.steps:
        speed = tokens / (time.time() - first) if first and time.time() > first else 0
        print(f"step {step}  smoothed loss {nll / count:.4f}  {speed:.0f} tokens/s (after step 10)  {time.time() - began:.0f} s", file=sys.stderr, flush=True)
        nll, count = 0.0, 0
trained = time.time() - began


@torch.inference_mode()
def beam_search(sents, lang, beam):
    """Best hypothesis of each sentence by log p / length (</s> counts), at most 1.3 n + 5 tokens; no cache."""
    r = Rows([[BOS] + s + [EOS] for s in sents])
    memory = model.encode(r.tokens, r.pos, r.at, r.B, r.T, r.mask)
    grid = memory.new_zeros(r.B * r.T, o.dim).index_copy(0, r.at, memory).view(r.B, r.T, -1)
    most = [int(1.3 * len(s)) + 5 for s in sents]
    live = [[(0.0, [BOS])] for _ in sents]
    done = [[] for _ in sents]
    where = torch.arange(r.B * r.T)
    E, bias = model.emb[allowed[lang]], model.bias[allowed[lang]]
    for n in range(1, max(most) + 2):
        rows = [(i, lp, y) for i, l in enumerate(live) for lp, y in l]
        if not rows:
            break
        which = torch.tensor([i for i, _, _ in rows])
        y = torch.tensor([y for _, _, y in rows])
        B, T = y.shape
        h = model.decode(y.view(-1), torch.arange(T).repeat(B), lang, torch.arange(B * T), B, T, causal_mask(T),
                         grid[which].view(B * r.T, -1), torch.arange(B * r.T), r.T, r.mask[which])
        lp, top = F.linear(h.view(B, T, -1)[:, -1], E, bias).log_softmax(-1).topk(2 * beam)
        lp, top = lp.tolist(), allowed[lang][top].tolist()
        cand = [[] for _ in sents]
        for k, (i, p, y) in enumerate(rows):
            cand[i] += [(p + a, w, y) for a, w in zip(lp[k], top[k])]
        for i, c in enumerate(cand):
            if not c:
                continue
            c.sort(key=lambda x: -x[0])
            live[i] = []
            for rank, (p, w, y) in enumerate(c):
                if len(live[i]) == beam:
                    break
                if w == EOS:
                    if rank < beam:
                        done[i].append((p / len(y), y[1:]))
                elif len(y) <= most[i]:
                    live[i].append((p, y + [w]))
            done[i] = sorted(done[i], key=lambda x: -x[0])[:beam]
            if len(done[i]) == beam and done[i][-1][0] >= c[0][0] / (most[i] + 1):
                live[i] = []
            if not live[i] and not done[i]:
                done[i].append((c[0][0] / len(c[0][2]), c[0][2][1:]))
    return [d[0][1] for d in done]


model.eval()
for d in (0, 1) if o.hyp else ():
    sents = read("test", langs[d])[: o.limit or None]
    order = sorted(range(len(sents)), key=lambda i: len(sents[i]))
    out = [[]] * len(sents)
    for a in range(0, len(order), 64):
        part = [i for i in order[a:a + 64] if sents[i]]
        for i, y in zip(part, beam_search([sents[i] for i in part], 1 - d, o.beam) if part else []):
            out[i] = y
    with open(f"{o.hyp}.{langs[d]}-{langs[1 - d]}", "w", encoding="utf-8", newline="\n") as f:
        f.writelines(" ".join(words[t] for t in y) + "\n" for y in out)
print(f"trained {trained:.0f} s, {o.steps} steps; all {time.time() - began:.0f} s", file=sys.stderr)
