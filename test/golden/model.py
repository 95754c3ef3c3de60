#!/usr/bin/python3
"""Makes test/golden/model/*.safetensors: tiny models of every architecture, their losses, gradients and ten steps of Adam,
AdamW and LAMB, computed by PyTorch alone (Debian's python3-torch). test/unit/golden.c replays them; nothing else reads them.

    test/golden/model.py OUT_DIR

The model is written here from the papers' equations, sentence by sentence without padding, and shares nothing with
the C code but the tensor names (docs/formats/checkpoint.md)."""
import json, math, struct, sys
import torch
import torch.nn.functional as F

V, D, FF, HEADS, POS, LANGS = 29, 16, 24, 2, 12, 2
BOS, EOS, MASK = 0, 1, 4


def write(path, tensors):
    header, data, at = {}, b"", 0
    for name, t in tensors.items():
        t = t.detach().contiguous()
        raw = t.numpy().tobytes()
        kind = {torch.float32: "F32", torch.int32: "I32"}[t.dtype]
        header[name] = {"dtype": kind, "shape": list(t.shape), "data_offsets": [at, at + len(raw)]}
        data += raw
        at += len(raw)
    h = json.dumps(header).encode()
    h += b" " * (-len(h) % 8)
    open(path, "wb").write(struct.pack("<Q", len(h)) + h + data)


class Model:
    def __init__(self, layers, decoder_layers, pre_norm, act, encoder_langs, E=D, share=False, sinusoidal=False, transform=False):
        self.layers, self.decoder_layers, self.pre, self.act = layers, decoder_layers, pre_norm, act
        self.E, self.share, self.sinusoidal, self.transform = E, share, sinusoidal, transform
        self.p, self.fixed = {}, {}
        self.add("embed.tokens", V, E)
        self.add("output.bias", V)
        self.stack("encoder", layers, encoder_langs, False)
        if decoder_layers:
            self.stack("decoder", decoder_layers, True, True)
        if E != D or transform:
            self.lin("output.dense", E, D)
        if transform:
            self.norm_("output.norm", E)

    def add(self, name, *shape):
        scale = 0.3 if len(shape) > 1 else 0.1
        t = torch.randn(*shape) * scale
        if "norm.weight" in name:
            t = 1 + t
        self.p[name] = t.requires_grad_()

    def lin(self, name, out, inp):
        self.add(name + ".weight", out, inp)
        self.add(name + ".bias", out)

    def norm_(self, name, width=None):
        self.add(name + ".weight", width or D)
        self.add(name + ".bias", width or D)

    def stack(self, side, n, langs, cross):
        if self.sinusoidal:
            angle = [[p / 10000 ** ((i // 2 * 2) / self.E) for i in range(self.E)] for p in range(POS)]
            self.fixed[side + ".embed.positions"] = torch.tensor(
                [[math.cos(a) if i % 2 else math.sin(a) for i, a in enumerate(row)] for row in angle])
        else:
            self.add(side + ".embed.positions", POS, self.E)
        if langs:
            self.add(side + ".embed.languages", LANGS, self.E)
        self.norm_(side + ".embed.norm", self.E)
        if self.E != D:
            self.lin(side + ".embed.project", D, self.E)
        for i in range(1 if self.share else n):
            q = f"{side}.{i}."
            self.lin(q + "attn.qkv", 3 * D, D)
            self.lin(q + "attn.out", D, D)
            self.norm_(q + "attn_norm")
            if cross:
                self.lin(q + "cross.q", D, D)
                self.lin(q + "cross.kv", 2 * D, D)
                self.lin(q + "cross.out", D, D)
                self.norm_(q + "cross_norm")
            self.lin(q + "ffn.in", FF, D)
            self.lin(q + "ffn.out", D, FF)
            self.norm_(q + "ffn_norm")
        if self.pre:
            self.norm_(side + ".norm")

    def linear(self, x, name):
        return F.linear(x, self.p[name + ".weight"], self.p[name + ".bias"])

    def norm(self, x, name):
        return F.layer_norm(x, x.shape[-1:], self.p[name + ".weight"], self.p[name + ".bias"], 1e-5)

    def attend(self, q, k, v, causal):
        d = D // HEADS
        out = []
        for h in range(HEADS):
            s = slice(h * d, (h + 1) * d)
            a = q[:, s] @ k[:, s].T / math.sqrt(d)
            if causal:
                a = a.masked_fill(torch.ones_like(a, dtype=torch.bool).triu(1), -math.inf)
            out.append(a.softmax(-1) @ v[:, s])
        return torch.cat(out, 1)

    def run(self, side, ids, lang, memory=None):
        x = self.p["embed.tokens"][ids] + {**self.p, **self.fixed}[side + ".embed.positions"][: len(ids)]
        if side + ".embed.languages" in self.p:
            x = x + self.p[side + ".embed.languages"][lang]
        x = self.norm(x, side + ".embed.norm")
        if self.E != D:
            x = self.linear(x, side + ".embed.project")
        for i in range(self.layers if side == "encoder" else self.decoder_layers):
            q = f"{side}.{0 if self.share else i}."

            def block(x, name, f):
                return x + f(self.norm(x, name)) if self.pre else self.norm(x + f(x), name)

            def self_attention(y):
                a, b, c = self.linear(y, q + "attn.qkv").split(D, 1)
                return self.linear(self.attend(a, b, c, memory is not None), q + "attn.out")

            def cross_attention(y):
                b, c = self.linear(memory, q + "cross.kv").split(D, 1)
                return self.linear(self.attend(self.linear(y, q + "cross.q"), b, c, False), q + "cross.out")

            x = block(x, q + "attn_norm", self_attention)
            if memory is not None:
                x = block(x, q + "cross_norm", cross_attention)
            x = block(x, q + "ffn_norm", lambda y: self.linear(self.act(self.linear(y, q + "ffn.in")), q + "ffn.out"))
        return self.norm(x, side + ".norm") if self.pre else x

    def logits(self, h):
        if self.E != D or self.transform:
            h = self.linear(h, "output.dense")
        if self.transform:
            h = self.norm(self.act(h), "output.norm")
        return F.linear(h, self.p["embed.tokens"], self.p["output.bias"])


SRC = [[BOS, 7, 12, 5, 20, EOS], [BOS, 9, EOS], [BOS, 28, 6, 6, 11, 15, 8, 23, EOS]]
TGT = [[13, 14, 22], [10, 27, 5, 17], [19]]
SRC_LANG, TGT_LANG = 0, 1
PICK = [(0, 2), (0, 4), (1, 1), (2, 3), (2, 7)]      # (sentence, position) predicted; inputs become <mask>
X = {}                                                # co-occurrences of original tokens: (logx, f)


def flat(sents):
    return torch.tensor([t for s in sents for t in s], dtype=torch.int32)


def masked():
    s = [list(x) for x in SRC]
    for a, b in PICK:
        s[a][b] = MASK
    return s


def mlm_states(m):
    return [m.run("encoder", s, SRC_LANG) for s in masked()]


def mlm_loss(m):
    h = mlm_states(m)
    rows = torch.stack([h[a][b] for a, b in PICK])
    return F.cross_entropy(m.logits(rows), torch.tensor([SRC[a][b] for a, b in PICK]))


def gc_loss(m, form):
    h = mlm_states(m)
    total = 0
    for a, b in PICK:
        for d in (-2, -1, 1, 2):
            k = b + d
            if not 0 < k < len(SRC[a]) - 1:
                continue
            logx, f = X[SRC[a][b], SRC[a][k]]
            if f == 0:
                continue
            other = h[a][k] if form == "hidden" else m.p["embed.tokens"][SRC[a][k]]
            total = total + f * ((h[a][b] * other).sum() / math.sqrt(D) - logx) ** 2 / 4
    return total / len(PICK)


def mt_loss(m, smoothing):
    total, n = 0, 0
    for s, t in zip(SRC, TGT):
        memory = m.run("encoder", s, SRC_LANG)
        lp = m.logits(m.run("decoder", [BOS] + t, TGT_LANG, memory)).log_softmax(-1)
        y = torch.tensor(t + [EOS])
        total = total + ((1 - smoothing) * -lp[range(len(y)), y] - smoothing * lp.mean(-1)).sum()
        n += len(y)
    return total / n


def grads(m, loss):
    for p in m.p.values():
        p.grad = None
    loss.backward()
    return {k: (p.grad if p.grad is not None else torch.zeros_like(p)) for k, p in m.p.items()}


def steps(m, kind, t):
    """Ten steps. Weight decay and LAMB's ratio are for matrices; the rest takes Adam's step. The gradient of a key bias is 0 but
    for rounding; a tiny eps would amplify that."""
    lr, b1, b2, eps, decay = 1e-3, 0.9, 0.98, 1e-5, 0 if kind == "adam" else 0.1
    matrices = [p for p in m.p.values() if p.dim() > 1]
    vectors = [p for p in m.p.values() if p.dim() == 1]
    groups = [{"params": vectors, "weight_decay": 0}] + ([] if kind == "lamb" else [{"params": matrices, "weight_decay": decay}])
    opt = torch.optim.AdamW(groups, lr=lr, betas=(b1, b2), eps=eps)
    first = {p: torch.zeros_like(p) for p in matrices}
    second = {p: torch.zeros_like(p) for p in matrices}
    curve = []
    for step in range(1, 11):
        for p in m.p.values():
            p.grad = None
        loss = mlm_loss(m) + (mt_loss(m, 0.1) if m.decoder_layers else 0)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(m.p.values(), 1.0)
        opt.step()
        with torch.no_grad():
            for p in matrices if kind == "lamb" else []:
                first[p] = b1 * first[p] + (1 - b1) * p.grad
                second[p] = b2 * second[p] + (1 - b2) * p.grad ** 2
                u = first[p] / (1 - b1 ** step) / ((second[p] / (1 - b2 ** step)).sqrt() + eps) + decay * p
                p -= lr * p.norm() / u.norm() * u
        curve.append(loss.detach())
    t[kind + ".curve"] = torch.stack(curve)
    for q, p in m.p.items():
        t[f"{kind}.w.{q}"] = p.detach().clone()


def main(out):
    torch.manual_seed(11)
    words = sorted({t for s in SRC for t in s})
    for a in words:
        for b in words:
            if (b, a) in X:
                X[a, b] = X[b, a]
            else:
                x = float(torch.rand(()) * 150)
                X[a, b] = (math.log(x), min(1, (x / 100) ** 0.75)) if torch.rand(()) > 0.2 else (0.0, 0.0)
    table = torch.zeros(V, V, 2)
    for (a, b), (l, f) in X.items():
        table[a, b, 0], table[a, b, 1] = l, f
    variants = {"post": Model(2, 2, False, F.gelu, True), "pre": Model(1, 1, True, F.relu, False),
                "albert": Model(3, 0, False, F.gelu, True, E=8, share=True, transform=True),
                "shared": Model(2, 3, True, F.gelu, False, E=8, share=True),
                "sinusoidal": Model(2, 1, False, F.relu, False, sinusoidal=True)}
    for name, m in variants.items():
        t = {"w." + k: v.detach().clone() for k, v in {**m.p, **m.fixed}.items()}
        t["x"] = table
        t["pick"] = torch.tensor(PICK, dtype=torch.int32)
        for i, (s, y) in enumerate(zip(SRC, TGT)):
            t[f"src.{i}"], t[f"tgt.{i}"] = flat([s]), flat([y])
        t["logits"] = m.logits(torch.cat(mlm_states(m)))
        losses = {"mlm": lambda: mlm_loss(m), "gc_hidden": lambda: gc_loss(m, "hidden"),
                  "gc_output": lambda: gc_loss(m, "output"), "mt": lambda: mt_loss(m, 0.1)}
        if m.E != D:
            del losses["gc_output"]
        if not m.decoder_layers:
            del losses["mt"]
        for k, f in losses.items():
            loss = f()
            t["loss." + k] = loss.reshape(1)
            for q, g in grads(m, loss).items():
                if g.abs().max() > 0:
                    t[f"g.{k}.{q}"] = g.clone()
        start = {q: p.detach().clone() for q, p in m.p.items()}
        for kind in ("adam", "adamw", "lamb"):
            with torch.no_grad():
                for q, p in m.p.items():
                    p.copy_(start[q])
            steps(m, kind, t)
        write(f"{out}/{name}.safetensors", t)


if __name__ == "__main__":
    main(sys.argv[1])
