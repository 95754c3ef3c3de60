#!/usr/bin/env python3
"""Makes test/golden/replay/*.safetensors: the runs of test/golden/replay.runs trained by PyTorch in
64 bits, from their initial weights and the micro-batches that the programs write out
(docs/formats/batches.md). test/cli/replay.sh compares.

    PATH=bin:$PATH test/golden/replay.py test/golden/replay [RUN...]    (torch, numpy, safetensors)

Nothing is taken from the batches but what the model reads and is to predict. Weights of objectives,
ramps, accumulation, smoothing, the words that a decoder may say, dropout masks, validation's masks
and MLM-GC's counts, neighbours and f(X) are worked out here, from the options and the text; where a
batch states them too, they must agree."""

import json
import math
import os
import subprocess
import sys
import tempfile

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.numpy import load_file, save_file

import replay_heads as heads
import scs

BOS, EOS, PAD, UNK, MASK, SPECIALS = 0, 1, 2, 3, 4, 5
RNG_MASK, RNG_DROPOUT, RNG_UNITS, RNG_SWITCH, RNG_TOSS = 4, 5, 15, 16, 18
LISTS = ("train", "valid", "parallel", "pseudo", "dict", "gc-skip", "mask-ngrams")
torch.set_default_dtype(torch.float64)


def philox(seed, purpose, step, sample, position):
    """Philox4x32-10 over arrays, key seed, counter (position, sample low, sample high ^ purpose
    << 24, step)."""
    m32 = np.uint64(0xFFFFFFFF)
    sample, position = np.broadcast_arrays(
        np.asarray(sample, np.uint64), np.asarray(position, np.uint64)
    )
    c = [
        position & m32,
        sample & m32,
        (sample >> np.uint64(32)) ^ np.uint64(purpose << 24),
        np.full(sample.shape, step, np.uint64),
    ]
    k = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        a, b = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [
            (b >> np.uint64(32)) ^ c[1] ^ np.uint64(k[0]),
            b & m32,
            (a >> np.uint64(32)) ^ c[3] ^ np.uint64(k[1]),
            a & m32,
        ]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return np.stack(c, -1)


class Dropout:
    """Masks by kernels.h's rule, drawn for one pass; counts what it dropped."""

    counted = {}

    def __init__(self, seed, step, p, p_attn):
        self.seed, self.step, self.p, self.p_attn, self.site = seed, step, p, p_attn, 0

    def mask(self, p, sample, position, cols, kind):
        """[n, cols] of 0 and 1/(1-p); sample, position [n]: of the first block of eight columns."""
        site, limit = self.site, math.floor(p * 65536 + 0.5)
        self.site += 1
        if not p:
            return 1
        blocks = np.arange((cols + 7) // 8, dtype=np.uint64)
        u = philox(
            self.seed,
            RNG_DROPOUT,
            self.step,
            (sample.astype(np.uint64) | np.uint64(site << 40))[:, None],
            position.astype(np.uint64)[:, None] + blocks,
        )
        u = np.stack([u & np.uint64(0xFFFF), u >> np.uint64(16)], -1).reshape(len(sample), -1)[
            :, :cols
        ]
        dropped, all_ = self.counted.get((kind, p), (0, 0))
        self.counted[kind, p] = dropped + int((u < limit).sum()), all_ + u.size
        return torch.tensor((u >= limit) * (65536 / (65536 - limit)))


class Batch:
    def __init__(self, arrays, prefix=""):
        self.token, self.pos, self.lang, self.at = (
            torch.tensor(arrays[prefix + k].astype(np.int64))
            for k in ("token", "pos", "lang", "at")
        )
        self.type = arrays.get(prefix + "type")
        counts = np.diff(arrays[prefix + "at"])
        self.sample = np.repeat(arrays[prefix + "sample"], counts)
        self.place = np.concatenate([np.arange(n) for n in counts]) if len(counts) else np.zeros(0)
        self.spans = list(zip(arrays[prefix + "at"][:-1], arrays[prefix + "at"][1:]))


class Model:
    """XLM's Transformer from a checkpoint's tensors, over packed rows."""

    def __init__(self, folder):
        self.c = json.load(open(folder + "/config.json"))
        w = load_file(folder + "/weights.safetensors")
        self.fixed = {
            k: torch.tensor(w[k].astype(np.float64))
            for k in w
            if self.c["sinusoidal"] and "positions" in k
        }
        self.p = {
            k: torch.tensor(v.astype(np.float64))
            .reshape(-1 if 1 in v.shape[:1] else v.shape)
            .requires_grad_()
            for k, v in w.items()
            if k not in self.fixed
        }
        self.shape = {k: v.shape for k, v in w.items()}
        self.own = list(w)
        self.act = {"gelu": F.gelu, "relu": F.relu, "gelu-tanh": lambda x: F.gelu(x, approximate="tanh")}[self.c["activation"]]
        if self.c["sinusoidal"]:
            for k, v in self.fixed.items():
                p, i = np.meshgrid(np.arange(v.shape[0]), np.arange(v.shape[1]), indexing="ij")
                angle = p / 10000 ** (i // 2 * 2 / v.shape[1])
                assert (
                    np.abs(np.where(i % 2, np.cos(angle), np.sin(angle)) - v.numpy()).max() < 1e-6
                ), k

    def linear(self, x, name):
        return F.linear(x, self.p[name + ".weight"], self.p[name + ".bias"])

    def norm(self, x, name):
        return F.layer_norm(
            x, x.shape[-1:], self.p[name + ".weight"], self.p[name + ".bias"], self.c["norm_eps"]
        )

    def attend(self, q, k, v, b, keys, causal, drop):
        """Sentence by sentence, head by head."""
        heads, d = self.c["heads"], q.shape[1] // self.c["heads"]
        out, site = torch.zeros_like(q), drop.site if drop else 0
        rows = []
        for (q0, q1), (k0, k1) in zip(b.spans, keys.spans):
            parts = []
            for h in range(heads):
                s = slice(h * d, (h + 1) * d)
                a = q[q0:q1, s] @ k[k0:k1, s].T / math.sqrt(d)
                if causal:
                    a = a.masked_fill(torch.ones_like(a, dtype=torch.bool).triu(1), -math.inf)
                a = a.softmax(-1)
                if drop:
                    drop.site = site
                    position = (b.place[q0:q1].astype(np.int64) << 20) | (h << 12)
                    a = a * drop.mask(drop.p_attn, b.sample[q0:q1], position, k1 - k0, "attention")
                parts.append(a @ v[k0:k1, s])
            rows.append(torch.cat(parts, 1))
        if drop:
            drop.site = site + 1
        return torch.cat(rows) if rows else out

    def run(self, side, b, drop=None, memory=None, keys=None, mixed=None):
        """mixed: [rows, dim] of the token part of rows whose token is -1, zeros elsewhere."""
        P = {**self.p, **self.fixed}

        def dropped(x):
            if not drop:
                return x
            return x * drop.mask(
                drop.p, b.sample, b.place.astype(np.int64) << 20, x.shape[1], "hidden"
            )

        x = P["embed.tokens"][b.token.clamp(min=0)] * (b.token >= 0).double()[:, None]
        x = x if mixed is None else x + mixed
        x = x * self.c["scale_embed"] + P[side + ".embed.positions"][b.pos]
        if side + ".embed.languages" in P:
            x = x + P[side + ".embed.languages"][b.lang]
        if side + ".embed.types" in P:
            x = x + P[side + ".embed.types"][torch.tensor(b.type.astype(np.int64))]
        if side + ".embed.norm.weight" in P:
            x = self.norm(x, side + ".embed.norm")
        x = dropped(x)
        if side + ".embed.project.weight" in P:
            x = self.linear(x, side + ".embed.project")
        for i in range(self.c["layers" if side == "encoder" else "decoder_layers"]):
            q = f"{side}.{0 if self.c['share_layers'] else i}."

            def block(x, name, f):
                if self.c["pre_norm"]:
                    return x + dropped(f(self.norm(x, name)))
                return self.norm(x + dropped(f(x)), name)

            def self_attention(y):
                a = self.linear(y, q + "attn.qkv").chunk(3, 1)
                return self.linear(self.attend(*a, b, b, memory is not None, drop), q + "attn.out")

            def cross_attention(y):
                k, v = self.linear(memory, q + "cross.kv").chunk(2, 1)
                a = self.attend(self.linear(y, q + "cross.q"), k, v, b, keys, False, drop)
                return self.linear(a, q + "cross.out")

            x = block(x, q + "attn_norm", self_attention)
            if memory is not None:
                x = block(x, q + "cross_norm", cross_attention)
            x = block(
                x,
                q + "ffn_norm",
                lambda y: self.linear(self.act(self.linear(y, q + "ffn.in")), q + "ffn.out"),
            )
        return self.norm(x, side + ".norm") if self.c["pre_norm"] else x

    def log_p(self, h, allowed=None, target=None):
        """Of every word for rows h; allowed [V]: of those and each row's target, else -inf."""
        if "output.dense.weight" in self.p:
            h = self.linear(h, "output.dense")
        if "output.norm.weight" in self.p:
            h = self.norm(self.act(h), "output.norm")
        z = F.linear(h, self.p["embed.tokens"], self.p["output.bias"])
        if allowed is not None:
            may = torch.tensor(allowed).bool().repeat(len(z), 1)
            may[torch.arange(len(z)), target] = True
            z = z.masked_fill(~may, -math.inf)
        return z.log_softmax(-1)


# --- options, and what follows from them -----------------------------------------------------------


def read_options(folder):
    o = {}
    for line in open(folder + "/run.config"):
        if line.startswith("#") or not line.strip():
            continue
        name, value = line.rstrip("\n").split(" = ", 1)
        o.setdefault(name, []).append(value)
    return {k: v if k in LISTS else v[0] for k, v in o.items()}


def check_pairs(o, x, config):
    """Every sentence of a TLM batch is a pair of the text, written in the form that was asked
    for."""
    pairs = {}
    for spec in o["parallel"]:
        name, files = spec.split("=")
        a, b = name.split("-")
        lang = [config["languages"].index(a), config["languages"].index(b)]
        sides = [[line.split() for line in open(f)] for f in files.split(",")]
        for u, v in zip(*sides):
            pairs[lang[0], tuple(u), lang[1], tuple(v)] = False
            pairs[lang[1], tuple(v), lang[0], tuple(u)] = True
    words = [line.split()[0] for line in open("vocab")]
    turned = 0
    for first, end in zip(x["at"][:-1], x["at"][1:]):
        ids, pos, lang = (x[k][first:end].tolist() for k in ("original", "pos", "lang"))
        n = ids.index(EOS)
        again = n + 2 if o["tlm-form"] == "xlm" else n + 1
        u, v = ids[1:n], ids[again:-1]
        assert ids[0] == BOS and ids[-1] == EOS and (again == n + 1 or ids[n + 1] == BOS)
        m = len(v)
        after = [*range(m + 2)] if o["tlm-form"] == "xlm" else [*range(n + 1, n + m + 2)]
        assert pos == [*range(n + 1)] + after and lang == [lang[0]] * (n + 1) + [lang[-1]] * len(
            after
        )
        spelt = [tuple(words[i - 5] for i in side) for side in (u, v)]
        turned += pairs[lang[0], spelt[0], lang[-1], spelt[1]]
    assert o["tlm-order"] == "toss" or not turned


def learning_rate(o, step):
    peak, warm, steps = float(o["lr"]), int(o["warmup"]), int(o["steps"])
    if step < warm:
        return peak * step / warm
    if o["schedule"] == "linear":
        return peak * (steps - step) / (steps - warm)
    return peak * math.sqrt(warm / step) if o["schedule"] == "inverse-sqrt" else peak


def ramp(text, step):
    """XLM's lambda: "1", or "0:1,6:0.2,8:0"."""
    if ":" not in text:
        return float(text)
    points = [tuple(map(float, p.split(":"))) for p in text.split(",")]
    return float(np.interp(step, *zip(*points)))


def words_of(o, vocab, files):
    seen = {w for f in files for line in open(f) for w in line.split()}
    return np.array(
        [i == EOS or (i >= SPECIALS and vocab[i] in seen) for i in range(len(vocab))], np.uint8
    )


class Counts:
    """X by the definition: pairs of words at distance d up to 3 weigh 1/(d+1), or 1/d in the file
    glove.counts, from either word; c_lang = C_aa / C_lang. Words of --gc-skip are left out before
    that."""

    def __init__(self, o, vocab):
        self.x, self.raw, tokens, pairs = {}, {}, {}, {}
        number = {w: i for i, w in enumerate(vocab)}
        skip = [w for words in o.get("gc-skip", []) for w in words.split(",")]
        more = 0 if o["cooc"] == "glove.counts" else 1
        self.skipped = {number[w] for w in skip}
        for lang in ("aa", "bb", "cc"):
            tokens[lang], pairs[lang] = 0, {}
            for line in open(f"text.{lang}"):
                ids = [number[w] for w in line.split() if w not in skip]
                tokens[lang] += len(ids)
                for i, a in enumerate(ids):
                    for d in (1, 2, 3):
                        for j in (i - d, i + d):
                            if 0 <= j < len(ids):
                                pairs[lang][a, ids[j]] = pairs[lang].get((a, ids[j]), 0) + 1 / (
                                    d + more
                                )
        for lang in pairs:
            for k, n in pairs[lang].items():
                self.raw[k] = self.raw.get(k, 0) + n
                self.x[k] = self.x.get(k, 0) + n * tokens["aa"] / tokens[lang]
        self.o = o

    def value(self, a, b):
        """log X, f(X); None where X = 0."""
        if (a, b) not in self.x:
            return None
        x = (self.raw if self.o["gc-raw-weights"] == "true" else self.x)[a, b]
        return math.log(self.x[a, b]), min(
            1, (x / float(self.o["gc-xmax"])) ** float(self.o["gc-alpha"])
        )


def neighbours(o, a, counts):
    """Target rows of a batch of mlm and their neighbours [(place in window, row, token, log X, f)],
    by the definition."""
    window = int(o["gc-window"])
    original, at = a["original"], a["at"]
    sentence, n = np.zeros(len(original), int), 0
    for r in range(len(original)):  # a new sentence at each boundary and after each </s>
        n += int(r in at or (r > 0 and original[r - 1] == EOS))
        sentence[r] = n
    out = []
    for i, r in enumerate(a["row"]):
        if o["gc-targets"] == "masked" and a["token"][r] != MASK:
            continue
        if original[r] in counts.skipped:
            continue
        mine = []
        rows = [k for k in range(len(original)) if k == r or original[k] not in counts.skipped]
        for place, d in enumerate(d for d in range(-window, window + 1) if d):
            at = rows.index(r) + d
            k = rows[at] if 0 <= at < len(rows) else -1
            if k < 0 or sentence[k] != sentence[r] or original[k] < SPECIALS:
                continue
            value = counts.value(int(original[r]), int(original[k]))
            if value:
                mine.append((place, k, int(original[k]), *value))
        out.append((r, mine))
    return out


def dictionaries(o, languages, vocab):
    """Of each language and word, by language and word, the translations and their scores."""
    number, out = {w: i for i, w in enumerate(vocab)}, {}
    for spec in o["dict"]:
        pair, path = spec.split("=")
        source, target = (languages.index(x) for x in pair.split("-"))
        for line in open(path):
            a, b, *score = line.rstrip("\n").split("\t")
            if a not in number or b not in number or a == b:
                continue
            for s, x, t, y in ((source, a, target, b), (target, b, source, a)):
                if (s, t) == (target, source) and o["dict-oneway"] == "true":
                    continue
                known = out.setdefault(s, {}).setdefault(number[x], {}).setdefault(t, {})
                known.setdefault(number[y], float(score[0]) if score else 0.0)
    return out


def picked(rate, x, seed, step, taken, goes, of_free=False):
    """Rows that code switching changes, by the rule of lib/masking/pick.h: for each sentence of MLM's
    batch x whose language is taken, its first row, its end, its language, the draws of its rows,
    those picked; and counts of tokens (of_free: of those not predicted), of those not predicted, of
    these that go anywhere."""
    low, high = (float(v) for v in (rate.split(":") * 2)[:2])
    fixed = set(x["row"].tolist())
    for s, (begin, end) in enumerate(zip(x["at"][:-1], x["at"][1:])):
        own = int(x["original_lang"][begin]) if end > begin else -1
        if own not in taken:
            continue
        tokens = free = known = 0
        draw = philox(seed, RNG_SWITCH, step, x["sample"][s], np.arange(end - begin))
        whole = (
            philox(seed, RNG_SWITCH, step, x["sample"][s], 0xFFFFFFFF).astype(np.float64) / 2**32
        )
        ids, candidates = x["original"][begin:end], []
        for i, w in enumerate(ids):
            tokens += w >= SPECIALS and not (of_free and begin + i in fixed)
            if w >= SPECIALS and begin + i not in fixed:
                free += 1
                known += goes(own, int(w))
                if goes(own, int(w)):
                    candidates.append((int(draw[i, 0]), i))
        many = math.floor((low + (high - low) * whole[0]) * tokens + whole[1])
        yield begin, end, own, draw, [i for _, i in sorted(candidates)[:many]], (
            tokens,
            free,
            known,
        )


def switched(o, x, words, seed, step):
    """What TCS reads in place of MLM's batch x: token and language of the rows of sentences whose
    language has a dictionary, the predicted rows and their labels; and counts."""
    rows, token, lang = [], [], []
    tokens = free = known = changed = 0
    of = picked(o["switch-rate"], x, seed, step, words, lambda own, w: w in words[own])
    for begin, end, own, draw, at, counts in of:
        tokens, free, known = (a + b for a, b in zip((tokens, free, known), counts))
        ids, read, tongue = (
            x["original"][begin:end],
            x["token"][begin:end].copy(),
            x["lang"][begin:end].copy(),
        )
        for i in at:
            choices = words[own][int(ids[i])]
            to = sorted(choices)[int(draw[i, 1]) * len(choices) >> 32]
            p = [
                (w, math.exp(choices[to][w] / float(o["switch-temperature"])))
                for w in sorted(choices[to])
            ]
            cumulative = np.cumsum([v for _, v in p]) / sum(v for _, v in p)
            read[i] = p[int((draw[i, 2] / 2**32 >= cumulative[:-1]).sum())][0]
            if o["switch-langs"] == "true":
                tongue[i] = to
            changed += 1
        rows += range(begin, end)
        token += read.tolist()
        lang += tongue.tolist()
    place = {r: i for i, r in enumerate(rows)}
    kept = [i for i, r in enumerate(x["row"].tolist()) if r in place]
    return (
        token,
        lang,
        [place[int(x["row"][i])] for i in kept],
        x["target"][kept],
        (tokens, free, known, changed),
    )


class Specific:
    """V^_l|m: tokens more than F times in the text of l, and not so often in that of m."""

    def __init__(self, o, languages, vocab):
        number, F = {w: i for i, w in enumerate(vocab)}, int(o["specific"])
        self.often, self.seen = [], []
        shard = dict(spec.split("=") for spec in o["train"])
        for lang in languages:
            count = np.zeros(len(vocab), int)
            for line in open("text." + shard[lang].replace(".shd", "")):
                for w in line.split():
                    count[number[w]] += 1
            self.often.append({v for v in range(len(vocab)) if count[v] > F})
            self.seen.append([v for v in range(len(vocab)) if count[v]])
        self.any = o["scs-sources"] == "any"
        n = range(len(languages))
        self.words = {(l, m): sorted(self.often[l] - self.often[m]) for l in n for m in n if l != m}
        self.pairs = {(l, m) for l, m in self.words if self.words[l, m] and self.words[m, l]}

    def to(self, l, w):
        return [m for a, m in sorted(self.pairs) if a == l and (self.any or w in self.words[l, m])]


def scs_batch(o, x, s, v, seed, step, of_free=False):
    """Checks what SCS says it switches, s, against MLM's batch x. For each row of s["scs.row"]: the
    row of x, the pair of languages; and counts."""
    read = {}
    tokens = changed = base = 0
    token, lang, original = [], [], []
    taken = {l for l, _ in v.pairs}
    for begin, end, own, draw, at, counts in picked(
        o["scs-rate"], x, seed, step, taken, lambda own, w: bool(v.to(own, w)), of_free
    ):
        tokens, changed = tokens + counts[0], changed + len(at)
        token += x["token"][begin:end].tolist()
        lang += x["lang"][begin:end].tolist()
        original += x["original"][begin:end].tolist()
        for i in at:
            to = v.to(own, int(x["original"][begin + i]))
            m = to[int(draw[i, 1]) * len(to) >> 32]
            read[base + i] = begin + i, (own, m)
            token[base + i] = -1
            if o["scs-langs"] == "true":
                lang[base + i] = m
        base += end - begin
    rows = sorted(read, key=lambda r: (read[r][1], r))
    assert s["scs.row"].tolist() == rows and s["scs.lang"].tolist() == [read[r][1][1] for r in rows]
    assert s["token"].tolist() == token and s["lang"].tolist() == lang
    assert s["original"].tolist() == original
    return [read[r] for r in rows], tokens, changed


def scs_mixed(m, o, s, v, rows, idx, p, term):
    """What the switched rows of s read, [rows of s, E], by what is expected there."""
    own = torch.tensor(s["original"].astype(np.int64))
    at = torch.tensor(s["scs.row"].astype(np.int64))
    k, E = int(o["scs-k"]), m.p["embed.tokens"].detach().numpy()
    back = {(a, b): v.words[b, a] for a, b in v.pairs}
    found, q, entropy, ratio = scs.search(
        E,
        idx,
        p,
        [pair for _, pair in rows],
        back,
        k,
        int(o["scs-neighbours"]),
        float(np.float32(o["scs-temperature"])),
        o["scs-norm"] == "keep",
    )
    e = m.p["embed.tokens"][torch.tensor(found).clamp(min=0)]
    y = (torch.tensor(q)[:, :, None] * (e.detach() if o["scs-detach"] == "true" else e)).sum(1)
    term("scs_entropy", entropy.sum(), len(q))
    term("scs_norm", ratio.sum(), len(q))
    term("scs_p1", p[:, 0].sum(), len(q))
    term("scs_self", (idx[:, 0] == own[at].numpy()).sum(), len(q))
    return torch.zeros(len(own), E.shape[1]).index_add(0, at, y)


def scs_at_home(m, o, s, v, rows):
    """What is expected at the switched rows, by the table alone."""
    E = m.p["embed.tokens"].detach().numpy()
    words = [v.seen[own] for _, (own, _) in rows]
    T = float(np.float32(o["scs-table-temperature"]))
    return scs.at_home(E, s["original"][s["scs.row"]], words, int(o["scs-k"]), T)


def scs_loss(m, o, x, h, s, v, drop, rows, term):
    """The loss of each predicted row of SCS's pass, h being the states of MLM's."""
    at = torch.tensor(s["scs.row"].astype(np.int64))
    if o["scs-from"] == "clean":
        plain = {**s, "token": s["original"], "lang": s["original_lang"]}
        state = m.run("encoder", Batch(plain))[at]
    else:
        state = h[torch.tensor([r for r, _ in rows])]
    if o["scs-from"] == "table":
        idx, p = scs_at_home(m, o, s, v, rows)
    else:
        idx, p = scs.expected(m.log_p(state).detach().numpy(), int(o["scs-k"]), SPECIALS)
    mixed = scs_mixed(m, o, s, v, rows, idx, p, term)
    losses = mlm_loss(m, s, m.run("encoder", Batch(s), drop, mixed=mixed))
    term("scs", losses.sum(), len(losses))
    return losses


def check_mass_copy(s, x, taken):
    """s, a batch of MASS, is x without sentences of languages that are not taken, but for tokens
    and languages of the encoder's rows."""
    rows, dec, shift, visible = [], [], [], []
    for i, (begin, end) in enumerate(zip(x["src.at"][:-1], x["src.at"][1:])):
        if int(x["src.lang"][begin]) not in taken:
            continue
        by = len(rows) - begin
        rows += range(begin, end)
        own = range(x["dec.at"][i], x["dec.at"][i + 1])
        dec += own
        shift += [by] * len(own)
        visible += [r + by for r in x["memory.row"] if begin <= r < end]
    for k in ("src.original", "src.pos", "dec.token", "dec.pos", "dec.lang", "target"):
        assert s[k].tolist() == x[k][rows if k.startswith("src") else dec].tolist(), k
    assert s["row"].tolist() == (x["row"][dec] + shift).tolist()
    assert s["memory.row"].tolist() == visible


def scs_mass(m, o, x, s, v, drop, seed, step, term):
    """The loss of each row of dec in SCS's pass over the batch x of MASS; tokens, and how many are
    switched."""

    def src(a):
        named = {k: a["src." + k] for k in ("token", "lang", "original", "at", "sample", "pos")}
        return {**named, "original_lang": named["lang"], "row": a["row"], "target": a["target"]}

    check_mass_copy(s, x, {l for l, _ in v.pairs})
    mine = {**src(s), "scs.row": s["scs.row"], "scs.lang": s["scs.lang"]}
    rows, tokens, changed = scs_batch(o, src(x), mine, v, seed, step, True)
    if not rows:
        return torch.zeros(0), tokens, changed
    mixed = scs_mixed(m, o, mine, v, rows, *scs_at_home(m, o, mine, v, rows), term)
    losses = mass_run(m, s, drop, mixed)[0]
    term("scs", losses.sum(), len(losses))
    return losses, tokens, changed


class Rows:
    """Where the rows of each sentence lie in a matrix."""

    def __init__(self, counts):
        ends = np.cumsum(counts)
        self.spans = list(zip(ends - counts, ends))


def mass_run(m, a, drop, mixed=None):
    """The loss of each row of dec; the encoder's states, the decoder's."""
    src, dec, at = Batch(a, "src."), Batch(a, "dec."), a["memory.row"].astype(np.int64)
    counts = np.array([((at >= begin) & (at < end)).sum() for begin, end in src.spans])
    h = m.run("encoder", src, drop, mixed=mixed)
    d = m.run("decoder", dec, drop, h[torch.tensor(at)], Rows(counts))
    target = torch.tensor(a["target"].astype(np.int64))
    return -m.log_p(d)[torch.arange(len(target)), target], h, d


def mass_loss(m, o, a, drop, seed, step, vocab):
    """As mass_run; what is masked, read and predicted is worked out from the text."""
    src, dec, own = Batch(a, "src."), Batch(a, "dec."), a["src.original"].astype(np.int64)
    read, before, pos, rows, visible = [], [], [], [], []
    for s, (begin, end) in enumerate(src.spans):
        n = int(end - begin)
        assert n >= int(o["mass-min-len"]) + 2 and own[begin] == BOS and own[end - 1] == EOS
        draw = philox(seed, RNG_MASK, step, a["src.sample"][s], np.arange(n)).astype(np.uint64)
        whole = philox(seed, RNG_MASK, step, a["src.sample"][s], 0xFFFFFFFF)
        many = round(float(o["mass-span"]) * n)
        last, u = n - many, whole[0] / 2**32
        first = 1 if u >= 0.8 else last if u >= 0.6 else 1 + (int(whole[1]) * last >> 32)
        for i in range(n):
            w, v = int(own[begin + i]), draw[i, 1] / 2**32
            if first <= i < first + many:
                before.append(int(own[begin + i - 1]))
                pos.append(i - 1)
                rows.append(begin + i)
                if v < float(o["mask-token"]):
                    w = MASK
                elif v < float(o["mask-token"]) + float(o["mask-random"]):
                    w = SPECIALS + (int(draw[i, 2]) * (len(vocab) - SPECIALS) >> 32)
            read.append(w)
            if w != MASK or o["mass-see-masked"] == "true":
                visible.append(begin + i)
    assert src.token.tolist() == read and dec.token.tolist() == before and dec.pos.tolist() == pos
    assert a["row"].tolist() == rows and a["memory.row"].tolist() == visible
    assert (a["target"] == own[rows]).all()
    return mass_run(m, a, drop)


def gc_of_mass(o, a):
    """A batch of MASS as gc sees it: of each row of dec, or of src, its word, whether its input was
    masked, which are targets."""
    words = np.flatnonzero(a["target"] != EOS)
    if o["gc-side"] == "enc":
        return {
            "original": a["src.original"],
            "token": a["src.token"],
            "at": a["src.at"],
            "row": a["row"][words],
        }
    return {
        "original": a["target"],
        "token": a["src.token"][a["row"]],
        "at": a["dec.at"],
        "row": words,
    }


class PmiUnits:
    """PMI-Masking worked out from the lists: which units a sentence has, which are drawn, what they
    read."""

    def __init__(self, o, languages, vocab):
        self.o, self.vocab, self.met = o, vocab, {"several": 0, "overlap": 0}
        number = {w: i for i, w in enumerate(vocab)}
        lists = dict(spec.split("=") for spec in o["mask-ngrams"])
        self.grams = [
            {tuple(number[w] for w in line.split()) for line in open(lists[l])} for l in languages
        ]

    def whole(self, ids, grams, draw):
        """[first, end) of the n-grams that are units: of those that are not within another one the
        one drawn first, where they overlap."""
        n, found = len(ids), []
        for a in range(n):
            ends = [b for b in range(a + 2, n + 1) if tuple(ids[a:b]) in grams]
            if ends and (not found or ends[-1] > found[-1][1]):
                found.append((a, ends[-1]))
        found.sort(key=lambda m: (draw(m[0]), m[0]))
        taken = []
        for a, b in found:
            if all(b <= c or d <= a for c, d in taken):
                taken.append((a, b))
        self.met["overlap"] += len(found) - len(taken)
        return taken

    def check(self, x, seed, step):
        o, V = self.o, len(self.vocab)
        keep, random = float(o["mask-token"]), float(o["mask-random"])
        rows, units, tokens, before = [], [], x["original"].astype(np.int64).copy(), 0
        for s, (begin, end) in enumerate(zip(x["at"][:-1], x["at"][1:])):
            n, sample, drawn = int(end - begin), x["sample"][s], 0
            ids = x["original"][begin:end].astype(int).tolist()

            def block(position, purpose=RNG_UNITS):
                return [int(u) for u in philox(seed, purpose, step, sample, position).reshape(-1)]

            taken = self.whole(
                ids, self.grams[int(x["lang"][begin])], lambda a: block(n + 1 + a)[0]
            )
            covered = {i for a, b in taken for i in range(a, b)}
            alone = [(i, i + 1) for i in range(n) if i not in covered and ids[i] >= SPECIALS]
            mine, order = sorted(taken + alone), []
            order = list(range(len(mine)))
            for i in range(len(mine), 1, -1):
                u = block(i)
                j = ((u[1] << 32 | u[0]) * i) >> 64
                order[i - 1], order[j] = order[j], order[i - 1]
            budget = max(1, math.ceil(float(o["mask-prob"]) * sum(w >= SPECIALS for w in ids)))
            if not mine:
                continue
            chosen = {}
            for u in order:
                if len(chosen) >= budget:
                    break
                chosen.update({i: drawn for i in range(*mine[u])})
                self.met["several"] += mine[u][1] - mine[u][0] > 1
                drawn += 1
            for i in sorted(chosen):
                rows.append(begin + i)
                units.append(before + chosen[i])
                v = block(0xFFFFFFFF - chosen[i])[0] / 2**32
                if v < keep:
                    tokens[begin + i] = MASK
                elif v < keep + random:
                    tokens[begin + i] = SPECIALS + (block(i, RNG_MASK)[2] * (V - SPECIALS) >> 32)
            before += drawn
        assert x["row"].tolist() == rows and x["unit"].tolist() == units
        assert x["token"].tolist() == tokens.tolist()


def sop_loss(m, x, s, h, drop):
    """The loss of each pair of segments; that they are neighbours in one document, in which order,
    is looked up in the text."""
    words = [line.split()[0] for line in open("vocab")]
    texts = [open("documents." + lang).read().split("\n\n") for lang in m.c["languages"]]
    cuts = [
        {
            (" ".join(d[i:j]), " ".join(d[j:k]))
            for d in (t.strip("\n").split("\n") for t in text)
            for i in range(len(d))
            for j in range(i + 1, len(d))
            for k in range(j + 1, len(d) + 1)
        }
        for text in texts
    ]
    for i, (begin, end) in enumerate(zip(x["at"][:-1], x["at"][1:])):
        ids, n = x["original"][begin:end].tolist(), int(end - begin)
        middle = ids.index(EOS)
        assert ids[0] == BOS and ids[-1] == EOS and n <= 11 + 3
        assert x["pos"][begin:end].tolist() == list(range(n))
        assert x["type"][begin:end].tolist() == [0] * (middle + 1) + [1] * (n - middle - 1)
        a, b = (
            " ".join(words[w - 5] for w in side) for side in (ids[1:middle], ids[middle + 1 : -1])
        )
        known = cuts[int(x["lang"][begin])]
        assert ((b, a) if s["label"][i] else (a, b)) in known
    assert s["row"].tolist() == x["at"][:-1].tolist()
    z = heads.outputs(m, {"task": "sop"}, h, Batch(x), s["row"].astype(np.int64), drop)
    return F.cross_entropy(z, torch.tensor(s["label"].astype(np.int64)), reduction="none")


# --- losses of a micro-batch -----------------------------------------------------------------------


def mlm_loss(m, a, h):
    rows, target = torch.tensor(a["row"].astype(np.int64)), torch.tensor(
        a["target"].astype(np.int64)
    )
    assert (a["original"][a["row"]] == a["target"]).all() and (
        (a["token"][a["row"]] == MASK) == a["masked"]
    ).all()
    return -m.log_p(h[rows])[torch.arange(len(rows)), target] if len(rows) else torch.zeros(0)


def token_dict(o, vocab):
    """The dictionary's pairs as ids."""
    pairs = [line.rstrip("\n").split("\t") for line in open(o["dict"][0].split("=")[1])]
    return [[vocab.index(w) for w in pair] for pair in pairs]


def align_loss(m, o, vocab):
    """ALIGN-MLM's loss of each pair of the dictionary, whatever the batch holds."""
    i, j = torch.tensor(token_dict(o, vocab)).T
    a, b = m.p["embed.tokens"][i], m.p["embed.tokens"][j]
    return (a - b).norm(dim=1) if o["align-form"] == "l2" else -F.cosine_similarity(a, b)


def check_switched(o, x, vocab):
    """Rows of DICT-MLM that read a translation of the row's language, in the other language; all
    others read their own."""
    other = {}
    for a, b in token_dict(o, vocab):
        other.setdefault((0, a), []).append(b)
        other.setdefault((1, b), []).append(a)
    rows = [r for r in range(len(x["token"])) if x["lang"][r] != x["original_lang"][r]]
    for r in rows:
        assert r in x["row"]
        assert x["token"][r] in other[int(x["original_lang"][r]), int(x["original"][r])]
        assert x["lang"][r] == 1 - x["original_lang"][r]
    return len(rows)


def gc_loss(m, o, a, g, h, counts):
    targets, window = neighbours(o, a, counts), int(o["gc-window"])
    name = "neighbour.token" if o["gc-form"] == "output" else "neighbour.row"
    said = np.full((len(targets), 2 * window), -1, np.int32)
    losses, half, pairs = [], o["gc-half-storage"] == "true", 0
    for i, (r, mine) in enumerate(targets):
        pairs += len(mine)
        total = torch.zeros(())
        for place, k, word, log_x, f in mine:
            # what reads <mask> counts among the pairs, and is not regressed on
            if o["gc-neighbours"] == "visible" and a["token"][k] == MASK:
                continue
            said[i, place] = word if o["gc-form"] == "output" else k
            if half:
                log_x = float(np.float16(log_x))
                f = min(1, math.exp(float(o["gc-alpha"]) * (log_x - math.log(float(o["gc-xmax"])))))
            if o["gc-log"] == "1+x":
                log_x = math.log(1 + math.exp(log_x))
            assert abs(g["f"][i, place] - f) < 1e-5 and abs(g["log_x"][i, place] - log_x) < 1e-5
            other = m.p["embed.tokens"][word] if o["gc-form"] == "output" else h[k]
            scale = 1 / math.sqrt(m.c["dim"]) if o["gc-sqrt-d"] == "true" else 1
            dot = (h[r] * other).sum() * (float(o["gc-dot"]) or scale)
            total = total + f * (dot - log_x) ** 2
        losses.append(total / (2 * window if o["gc-half-n"] == "true" else 1))
    assert list(g["row"]) == [r for r, _ in targets] and (g[name].reshape(said.shape) == said).all()
    regressed = [(f, log_x) for f, log_x in zip(g["f"].reshape(-1), g["log_x"].reshape(-1)) if f > 0]
    f, log_x = np.array(regressed, float).reshape(-1, 2).T
    best = (f * log_x).sum() / f.sum() if len(f) else 0
    constant = (f * (log_x - best) ** 2).sum() / (2 * window if o["gc-half-n"] == "true" else 1)
    # the mean over pairs, as a mean over as many numbers as there are targets
    mean = len(targets) / pairs if o["gc-mean"] == "pairs" and pairs else 1
    return torch.stack(losses) * mean if losses else torch.zeros(0), pairs, constant * mean


def mt_loss(m, o, a, drop, allowed):
    """Smoothed loss and -log p of each row of dec."""
    src, dec = Batch(a, "src."), Batch(a, "dec.")
    h = m.run("decoder", dec, drop, m.run("encoder", src, drop), src)
    target = torch.tensor(a["target"].astype(np.int64))
    lp = m.log_p(h, allowed, target)
    nll = -lp[torch.arange(len(target)), target]
    e, finite = float(o["label-smoothing"]), lp.masked_fill(lp == -math.inf, 0)
    return (1 - e) * nll - e * finite.sum(-1) / (lp > -math.inf).sum(-1), nll


class Moco:
    """Momentum contrast as MoCo's code has it: the key encoder moves before a step's keys are made,
    they enter the queue behind its loss. Whose key is whose is told by the texts themselves."""

    def __init__(self, o, m, folder):
        start = load_file(folder + "/state.safetensors")
        self.o, self.m, self.at = o, m, 0
        for k in ("moco.head.0.weight", "moco.head.1.weight"):
            m.p[k] = torch.tensor(start[k].astype(np.float64)).requires_grad_()
        self.key = {k: p.detach().clone() for k, p in m.p.items()}
        for k, p in self.key.items():
            assert (start["key." + k].reshape(-1) == p.numpy().reshape(-1)).all(), k
        size, random = int(o["queue"]), o["queue-start"] == "random"
        rows = torch.tensor(start["queue.keys"].astype(np.float64))
        length = 1 if o["moco-unit"] == "true" else 1 / float(o["temperature"])
        assert (
            len(rows) == size
            and ((rows.norm(dim=1) - (length if random else 0)).abs() < 1e-6).all()
        )
        self.queue = [(row, None) for row in rows] if random else []
        self.pending, self.size, self.pairs = [], size, self.kept_pairs()

    def kept_pairs(self):
        """Texts and languages of the pairs that are left, in the order of the files."""
        o, out = self.o, []
        most = min(int(o["max-tokens"]), self.m.c["positions"] - 3)
        for spec in o["parallel"]:
            name, files = spec.split("=")
            lang = [self.m.c["languages"].index(x) for x in name.split("-")]
            for u, v in zip(*[[tuple(line.split()) for line in open(f)] for f in files.split(",")]):
                if min(len(u), len(v)) >= int(o["min-tokens"]) and len(u) + len(v) <= most:
                    out.append(((lang[0], u), (lang[1], v)))
        return out

    def texts(self, x, prefix, vocab):
        at = x[prefix + "at"]
        for a, b in zip(at[:-1], at[1:]):
            ids = x[prefix + "token"][a:b].tolist()
            assert ids[0] == BOS and ids[-1] == EOS and min(ids[1:-1]) >= SPECIALS
            assert x[prefix + "pos"][a:b].tolist() == list(range(b - a))
            assert len(set(x[prefix + "lang"][a:b])) == 1
            yield int(x[prefix + "lang"][a]), tuple(vocab[i] for i in ids[1:-1])

    def check_sides(self, x, vocab, seed):
        """Both sides of each pair, as the coin of pair and epoch has it."""
        sides = list(zip(self.texts(x, "q.", vocab), self.texts(x, "k.", vocab)))
        for (q, k), number in zip(sides, x["pair"][:, 0]):
            a, b = self.pairs[number]
            coin = int(philox(seed, RNG_TOSS, 0, number, 0)[..., 0]) & 1
            assert (q, k) == ((b, a) if coin and self.o["shuffle"] == "true" else (a, b))
        return sides

    def head(self, b, h, p):
        if self.o["pool"] == "mean":
            h = torch.stack([h[i:j].mean(0) for i, j in b.spans])
        else:
            h = h[[int(i) for i, _ in b.spans]]
        z = F.relu(F.normalize(h) @ p["moco.head.0.weight"].T) @ p["moco.head.1.weight"].T
        return F.normalize(z) if self.o["moco-unit"] == "true" else z

    def loss(self, x, vocab, seed, step, place, dropouts, term):
        sides, tau = self.check_sides(x, vocab, seed), float(self.o["temperature"])
        q, k = Batch(x, "q."), Batch(x, "k.")
        z = self.head(q, self.m.run("encoder", q, Dropout(seed + place, step, *dropouts)), self.m.p)
        mine, self.m.p = self.m.p, self.key
        with torch.no_grad():
            drop = Dropout(seed, step, *dropouts) if self.o["key-dropout"] == "true" else None
            keys = self.head(k, self.m.run("encoder", k, drop), self.key)
        self.m.p = mine
        stored = keys if self.o["moco-unit"] == "true" else keys / tau
        known = {text for pair in sides for _, text in pair}
        negative = [row for row, of in self.queue if not of or not known & {t for _, t in of}]
        newest = [negative[i] for i in self.newest(known)]
        by = tau if self.o["moco-unit"] == "true" else 1
        losses = []
        for i in range(len(z)):
            logits = torch.stack([(z[i] @ row) / by for row in [stored[i], *negative]])
            losses.append(torch.logsumexp(logits, 0) - logits[0])
            term("moco_acc", int(logits.argmax() == 0), 1)
            term("moco_pos", z[i] @ keys[i], 1)
            if newest:
                other = newest[i % min(len(newest), len(z))]
                term("moco_neg", z[i] @ other * (1 if by == tau else tau), 1)
        term("moco_filled", len(self.queue), 1)
        self.pending += [(row, pair) for row, pair in zip(stored, sides)]
        return torch.stack(losses)

    def newest(self, known):
        """Places among the negatives, the key that entered last first."""
        place, n = {}, 0
        for i, (_, of) in enumerate(self.queue):
            if not of or not known & {t for _, t in of}:
                place[i], n = n, n + 1
        order = [(self.at - 1 - back) % self.size for back in range(self.size)]
        return [place[i] for i in order if i in place]

    def stepped(self):
        for entry in self.pending:
            if self.at < len(self.queue):
                self.queue[self.at] = entry
            else:
                self.queue.append(entry)
            self.at = (self.at + 1) % self.size
        self.pending, momentum = [], float(self.o["momentum"])
        for k, p in self.m.p.items():
            self.key[k] = momentum * self.key[k] + (1 - momentum) * p.detach()

    def state(self):
        t = {"s.key." + k: v.numpy().astype(np.float32) for k, v in self.key.items()}
        t["s.queue.keys"] = torch.stack([row for row, _ in self.queue]).numpy().astype(np.float32)
        for k in ("moco.head.0.weight", "moco.head.1.weight"):
            t["s." + k] = self.m.p[k].detach().numpy().astype(np.float32)
        return t


# --- a run -----------------------------------------------------------------------------------------


class Optimiser:
    """AdamW, or LAMB (You et al. 2020) for matrices; decoupled decay of matrices alone."""

    def __init__(self, m, o):
        self.o, self.m, self.t = o, m, 0
        self.state = {k: (torch.zeros_like(p), torch.zeros_like(p)) for k, p in m.p.items()}

    def step(self, lr):
        o, self.t = self.o, self.t + 1
        b1, b2, eps, decay, clip = (
            float(o[k]) for k in ("beta1", "beta2", "eps", "weight-decay", "clip")
        )
        grads = {
            k: p.grad if p.grad is not None else torch.zeros_like(p) for k, p in self.m.p.items()
        }
        norm = math.sqrt(sum(float((g**2).sum()) for g in grads.values()))
        by = min(1, clip / (norm + 1e-6)) if clip > 0 else 1
        with torch.no_grad():
            for k, p in self.m.p.items():
                matrix, g = p.dim() > 1, grads[k] * by
                first, second = self.state[k]
                first.mul_(b1).add_((1 - b1) * g)
                second.mul_(b2).add_((1 - b2) * g**2)
                u = first / (1 - b1**self.t) / ((second / (1 - b2**self.t)).sqrt() + eps)
                if matrix:
                    u = u + decay * p
                if o["optimizer"] == "lamb" and matrix:
                    u = u * p.norm() / u.norm()
                p -= lr * u
                p.grad = None
        return norm, by


def check_together(pairs, x, other):
    """TLM joins the two sides that MoCo compares, the query first; MLM reads both alone."""
    for i in range(len(pairs["q.at"]) - 1):
        q, k = (
            pairs[s + "token"][pairs[s + "at"][i] : pairs[s + "at"][i + 1]].tolist()
            for s in ("q.", "k.")
        )
        if other == "tlm":
            mine = x["original"][x["at"][i] : x["at"][i + 1]].tolist()
            assert mine == q + k[1:]
            assert x["pos"][x["at"][i] : x["at"][i + 1]].tolist() == list(range(len(mine)))
        else:
            first, second = (
                x["original"][x["at"][j] : x["at"][j + 1]].tolist() for j in (2 * i, 2 * i + 1)
            )
            assert [first, second] in ([q, k], [k, q])


def gradient_norm(m, loss):
    grads = torch.autograd.grad(loss, list(m.p.values()), retain_graph=True, allow_unused=True)
    return math.sqrt(sum(float((g**2).sum()) for g in grads if g is not None))


def validate(o, m, vocab):
    """Perplexity by language of validation text, masks drawn from key 0 by sentence and place."""
    select, mask, random = (float(o[k]) for k in ("mask-prob", "mask-token", "mask-random"))
    number, mean, out = {w: i for i, w in enumerate(vocab)}, 0, {}
    for spec in o["valid"]:
        lang, shard = spec.split("=")
        losses, hits = [], []
        for s, line in enumerate(open(shard.replace(".shd", ""))):
            ids = np.array([BOS] + [number[w] for w in line.split()] + [EOS])
            u = philox(0, RNG_MASK, 0, np.full(len(ids), s), np.arange(len(ids))).astype(np.float64)
            chosen = (u[:, 0] < select * 2**32) & (ids >= SPECIALS)
            v, read = u[:, 1] / 2**32, ids.copy()
            read[chosen & (v < mask)] = MASK
            other = chosen & (v >= mask) & (v < mask + random)
            read[other] = SPECIALS + np.floor(
                u[other, 2] * (len(vocab) - SPECIALS) / 2**32
            ).astype(int)
            a = {
                "token": read,
                "pos": np.arange(len(ids)),
                "lang": np.full(len(ids), m.c["languages"].index(lang)),
                "at": np.array([0, len(ids)]),
                "sample": np.array([s]),
            }
            lp = m.log_p(m.run("encoder", Batch(a))[torch.tensor(chosen)])
            y = torch.tensor(ids[chosen])
            losses += (-lp[torch.arange(len(y)), y]).tolist()
            hits += (lp.argmax(-1) == y).tolist()
        out[lang + ".perplexity"], out[lang + ".accuracy"] = math.exp(np.mean(losses)), np.mean(
            hits
        )
        mean += np.mean(losses) / len(o["valid"])
    assert len(o["valid"]) < 2 or max(out.values()) > 1.02 * min(
        v for k, v in out.items() if "perp" in k
    )
    return {**out, "perplexity": math.exp(mean)}


def replay(name):
    o, m = read_options(name), Model(f"{name}.start/last")
    vocab = ["<s>", "</s>", "<pad>", "<unk>", "<mask>"] + [
        line.split()[0] for line in open("vocab")
    ]
    dropouts, seed = (
        float(np.float32(o["dropout"])),
        float(np.float32(o["attention-dropout"])),
    ), int(o["seed"])
    steps, accumulate, opt, log, clipped, t = (
        int(o["steps"]),
        int(o["accumulate"]),
        Optimiser(m, o),
        {},
        0,
        {},
    )
    counts = Counts(o, vocab) if "gc" in o.get("objective", "") else None
    words = dictionaries(o, m.c["languages"], vocab) if "tcs" in o.get("objective", "") else None
    v = Specific(o, m.c["languages"], vocab) if "scs" in o.get("objective", "") else None
    pmi = PmiUnits(o, m.c["languages"], vocab) if o.get("mask-scheme") == "pmi" else None
    allowed = {}
    units = heads.Units(o, m.c) if o.get("task") in heads.TASKS else None
    seen = {}
    moco = Moco(o, m, f"{name}.start/last") if "moco" in o.get("objective", "") else None
    if moco:
        opt = Optimiser(m, o)
    for step in range(1, steps + 1):
        terms = {}

        def term(name, values, count):
            total, n = terms.get(name, (0, 0))
            terms[name] = total + float(torch.as_tensor(values).detach()), n + count

        for a in range(1, accumulate + 1):

            def arrays(objective):
                path = f"{name}.batches/step-{step}.{a}.{objective}.safetensors"
                return load_file(path) if os.path.exists(path) else None

            if units:
                kind = units.head["task"]
                x = arrays(kind)
                b, drop = Batch(x), Dropout(seed, step, *dropouts)
                heads.check(units, x, seen)
                each = heads.losses(m, o, x, m.run("encoder", b, drop), b, drop)
                weight = ramp(o[kind + "-weight"], step - 1)
                assert abs(x["weight"][0] - weight / accumulate) < 1e-6
                term(kind, each.sum(), len(each))
                (weight * each.mean() / accumulate).backward()
                continue
            if moco:
                order = o["objective"].split(",")
                x, weight = arrays("moco"), ramp(o["moco-weight"], step - 1)
                losses = moco.loss(x, vocab, seed, step, order.index("moco"), dropouts, term)
                assert abs(x["weight"][0] - weight / accumulate) < 1e-6
                term("moco", losses.sum(), len(losses))
                if a == 1 and len(order) > 1:
                    term("moco_grad_norm", gradient_norm(m, weight * losses.mean()), 1)
                (weight * losses.mean() / accumulate).backward()
                other = order[1 - order.index("moco")]
                pairs, x = x, arrays(other)
                check_together(pairs, x, other)
                h = m.run("encoder", Batch(x), Dropout(seed + order.index(other), step, *dropouts))
                nll = mlm_loss(m, x, h)
                term(other, nll.sum(), len(nll))
                if a == 1:
                    term(other + "_grad_norm", gradient_norm(m, nll.mean()), 1)
                (nll.mean() / accumulate).backward()
                continue
            x = arrays("align")
            if x:
                losses, weight = align_loss(m, o, vocab), ramp(o["align-alpha"], step - 1)
                assert abs(x["weight"][0] - weight / accumulate) < 1e-6
                term("align", losses.sum(), len(losses))
                if a == 1:
                    term("align_grad_norm", gradient_norm(m, weight * losses.mean()), 1)
                (weight * losses.mean() / accumulate).backward()
            x = arrays("dict")
            if x:
                h = m.run("encoder", Batch(x), Dropout(seed, step, *dropouts))
                nll = mlm_loss(m, x, h)
                term("dict", nll.sum(), len(nll))
                term("switched", check_switched(o, x, vocab), len(nll))
                term("masked", int((x["token"][x["row"]] == MASK).sum()), len(nll))
                (nll.mean() / accumulate).backward()
                continue
            named = o.get("objective", "").split(",")
            x = arrays("mass")
            if x:
                drop = Dropout(seed, step, *dropouts)
                nll, h, d = mass_loss(m, o, x, drop, seed, step, vocab)
                loss, weights = ramp(o["mass-weight"], step - 1) * nll.mean(), {}
                term("mass", nll.sum(), len(nll))
                if counts:
                    g, weight = arrays("gc"), ramp(o["gc-lambda"], step - 1)
                    side = h if o["gc-side"] == "enc" else d
                    losses, pairs, constant = gc_loss(m, o, gc_of_mass(o, x), g, side, counts)
                    term("gc", losses.sum(), len(losses))
                    term("gc_pairs", pairs, len(losses))
                    if o["gc-neighbours"] == "visible":
                        term("gc_visible", (g["f"] > 0).sum(), pairs)
                    term("gc_constant", constant, len(losses))
                    weights["gc"] = (g, weight, losses)
                if v:
                    s, weight = arrays("scs"), ramp(o["scs-weight"], step - 1)
                    drop = Dropout(seed + 1, step, *dropouts)
                    losses, tokens, changed = scs_mass(m, o, x, s, v, drop, seed, step, term)
                    term("scs_switched", changed, tokens)
                    weights["scs"] = (s, weight, losses)
                if a == 1 and weights:
                    term("mass_grad_norm", gradient_norm(m, loss), 1)
                for k, (g, weight, losses) in weights.items():
                    own = weight * losses.mean() if len(losses) else h.sum() * 0
                    assert abs(g["weight"][0] - weight / accumulate) < 1e-6
                    if a == 1:
                        term(k + "_grad_norm", gradient_norm(m, own), 1)
                    loss = loss + own
                (loss / accumulate).backward()
                continue
            x = arrays("tlm")
            if x:
                check_pairs(o, x, m.c)
                h = m.run("encoder", Batch(x), Dropout(seed + named.index("tlm"), step, *dropouts))
                nll, weight = mlm_loss(m, x, h), ramp(o["tlm-weight"], step - 1)
                assert abs(x["weight"][0] - weight / accumulate) < 1e-6
                term("tlm", nll.sum(), len(nll))
                if a == 1:
                    term("tlm_grad_norm", gradient_norm(m, weight * nll.mean()), 1)
                (weight * nll.mean() / accumulate).backward()
            drawn, x = x, arrays("mlm")
            assert not o.get("mix") or (x is None) == (drawn is not None)
            if drawn and x is None:
                continue
            if x:
                drop = Dropout(seed, step, *dropouts)
                h = m.run("encoder", Batch(x), drop)
                nll = mlm_loss(m, x, h)
                if pmi:
                    pmi.check(x, seed, step)
                both = [ramp(o[k], step - 1) for k in ("mlm-weight", "gc-lambda")]
                loss = both[0] * nll.mean() if len(nll) else h.sum() * 0
                if "mlm" in named:
                    term("mlm", nll.sum(), len(nll))
                else:
                    loss = h.sum() * 0
                if a == 1 and ("align" in named or "tlm" in named):
                    term("mlm_grad_norm", gradient_norm(m, loss), 1)
                if counts:
                    g = arrays("gc")
                    losses, pairs, constant = gc_loss(m, o, x, g, h, counts)
                    own = both[1] * losses.mean() if len(losses) else h.sum() * 0
                    assert abs(g["weight"][0] - both[1] / accumulate) < 1e-6
                    term("gc", losses.sum(), len(losses))
                    term("gc_pairs", pairs, len(losses))
                    if o["gc-neighbours"] == "visible":
                        term("gc_visible", (g["f"] > 0).sum(), pairs)
                    term("gc_constant", constant, len(losses))
                    if a == 1 and len(named) > 1:
                        term("mlm_grad_norm", gradient_norm(m, loss), 1)
                        term("gc_grad_norm", gradient_norm(m, own), 1)
                    loss = loss + own
                if "sop" in named:
                    s, weight = arrays("sop"), ramp(o["sop-weight"], step - 1)
                    losses = sop_loss(m, x, s, h, drop)
                    own = weight * losses.mean()
                    assert abs(s["weight"][0] - weight / accumulate) < 1e-6
                    term("sop", losses.sum(), len(losses))
                    if a == 1:
                        term("mlm_grad_norm", gradient_norm(m, loss), 1)
                        term("sop_grad_norm", gradient_norm(m, own), 1)
                    loss = loss + own
                if words:
                    s, weight = arrays("tcs"), ramp(o["tcs-weight"], step - 1)
                    token, lang, rows, target, (tokens, free, known, changed) = switched(
                        o, x, words, seed, step
                    )
                    assert s["token"].tolist() == token and s["lang"].tolist() == lang
                    assert s["row"].tolist() == rows and (s["target"] == target).all()
                    assert abs(s["weight"][0] - weight / accumulate) < 1e-6
                    again = (
                        m.run("encoder", Batch(s), Dropout(seed + 1, step, *dropouts))
                        if token
                        else h[:0]
                    )
                    losses = mlm_loss(m, s, again)
                    own = weight * losses.mean() if len(losses) else h.sum() * 0
                    term("tcs", losses.sum(), len(losses))
                    term("tcs_switched", changed, tokens)
                    term("tcs_known", known, free)
                    if a == 1:
                        term("mlm_grad_norm", gradient_norm(m, loss), 1)
                        term("tcs_grad_norm", gradient_norm(m, own), 1)
                    loss = loss + own
                if v:
                    s, weight = arrays("scs"), ramp(o["scs-weight"], step - 1)
                    rows, tokens, changed = scs_batch(o, x, s, v, seed, step)
                    drop = Dropout(seed + 1, step, *dropouts)
                    losses = scs_loss(m, o, x, h, s, v, drop, rows, term) if rows else h[:0]
                    own = weight * losses.mean() if len(losses) else h.sum() * 0
                    assert abs(s["weight"][0] - weight / accumulate) < 1e-6
                    term("scs_switched", changed, tokens)
                    if a == 1:
                        term("mlm_grad_norm", gradient_norm(m, loss), 1)
                        term("scs_grad_norm", gradient_norm(m, own), 1)
                    loss = loss + own
                (loss / accumulate).backward()
                continue
            for objective, key in (("pseudo", 0), ("mt", 0), ("denoise", 1), ("back", 2)):
                x = arrays(objective)
                weight = ramp(o["denoise"], step - 1) if objective == "denoise" else 1
                assert objective != "denoise" or o["task"] != "unmt" or (x is None) == (weight == 0)
                if x is None:
                    continue
                lang = m.c["languages"][int(x["dec.lang"][0])]
                if o["mask-vocab"] == "true" and lang not in allowed:
                    files = (
                        [f"text.{lang}"]
                        if o["task"] == "unmt"
                        else [
                            f
                            for p in o["parallel"]
                            for f in p.split("=")[1].split(",")
                            if f.endswith(lang)
                        ]
                    )
                    allowed[lang] = words_of(o, vocab, files)
                    assert (x["allowed_token"] == allowed[lang]).all() and not allowed[lang].all()
                loss, nll = mt_loss(
                    m, o, x, Dropout(seed + key, step, *dropouts), allowed.get(lang)
                )
                assert abs(x["weight"][0] - weight / accumulate) < 1e-6
                (loss.mean() * weight / accumulate).backward()
                term(objective, nll.sum(), len(nll))
        lr = learning_rate(o, step)
        if steps == 1:  # Adam's first moments, which a checkpoint has
            for k, p in m.p.items():
                t["g." + k] = (0.1 * p.grad.numpy()).astype(np.float32).reshape(-1)
        norm, by = opt.step(lr)
        clipped += by < 1
        if moco:
            moco.stepped()
        terms["lr"], terms["grad_norm"] = (lr, 1), (norm, 1)
        for k, (total, n) in terms.items():
            if n:
                log.setdefault(k, [math.nan] * steps)[step - 1] = total / n
    assert steps == 1 or clipped >= 3, f"{name}: clips {clipped} times"
    for k, v in log.items():
        t["log." + k] = np.array(v)
    assert not pmi or min(pmi.met.values()) > 10, pmi.met
    if units:
        # whole epochs, and a part of one: no unit came twice more often than another
        assert set(seen) <= set(range(len(units.all))) and len(units.all) == sum(
            map(len, units.groups)
        )
        assert max(seen.values()) - min(seen.get(u, 0) for u in range(len(units.all))) <= 1
    said = {}
    if "valid" in o:
        said = heads.validate(o, m, units, Batch) if units else validate(o, m, vocab)
    for k, v in said.items():
        t["valid." + k] = np.array([v])
    t.update(moco.state() if moco else {})
    for k, p in {**m.p, **m.fixed}.items():
        if k not in m.own:
            continue
        t["w." + k] = p.detach().numpy().astype(np.float32).reshape(m.shape[k])
    return t


def main(out, *chosen):
    runs = os.path.dirname(os.path.abspath(__file__)) + "/replay.runs"
    names = subprocess.run(
        ["bash", "-c", f'cd "$(mktemp -d)"; . {runs}; echo $replay_names'],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    names = list(chosen) or names
    out = os.path.abspath(out)
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        subprocess.run(
            [
                "bash",
                "-ec",
                f". {runs}; replay_data; for n in {' '.join(names)}; do replay_run $n $n; "
                "replay_start $n $n.start; done",
            ],
            check=True,
        )
        for name in names:
            t = replay(name)
            save_file(t, f"{out}/{name}.safetensors")
            mine = [json.loads(line) for line in open(name + "/log.jsonl") if '"train"' in line]
            w = load_file(name + "/last/weights.safetensors")
            log = max(
                abs(mine[s].get(k[4:], math.nan) - v) / (abs(v) + 1e-12)
                for k, vs in t.items()
                if k.startswith("log.")
                for s, v in enumerate(vs)
                if not math.isnan(v)
            )
            far = max(
                np.linalg.norm(t["w." + k].reshape(-1) - v.reshape(-1)) / (np.linalg.norm(v) + 1e-6)
                for k, v in w.items()
            )
            print(f"{name}: log {log:.1e}, weights {far:.1e}")
        os.chdir("/")
    for (kind, p), (dropped, n) in Dropout.counted.items():
        print(
            f"dropout of {kind} states: {dropped} of {n}, "
            f"{(dropped / n - p) / math.sqrt(p * (1 - p) / n):+.1f} standard deviations"
        )
        assert abs(dropped / n - p) < 3 * math.sqrt(p * (1 - p) / n) + 1e-5


main(*sys.argv[1:])
