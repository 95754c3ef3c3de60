"""A reader of isoglot's formats, written from docs/formats alone, without our code. For tests only.

    formats.py FORMAT FILE      prints what the file gives, or ends with status 1 and a reason
    formats.py --all FOLDER     every file of FOLDER/list.tsv: a bad one must be refused, a good one
                                must give FILE.out
    formats.py --write FOLDER   writes the FILE.out

Needs the modules xxhash, zstandard and numpy."""

import json
import math
import os
import re
import struct
import sys

import numpy as np
import zstandard
from xxhash import xxh3_64_intdigest as xxh3


class Bad(Exception):
    pass


def need(ok, why):
    if not ok:
        raise Bad(why)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def text_of(data):
    """UTF-8 without NUL."""
    need(b"\0" not in data, "a NUL")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise Bad("not UTF-8") from None


def padded(field):
    """A text padded with NUL, of which there is at least one."""
    need(field[-1:] == b"\0", "a text that does not end")
    s = field.split(b"\0", 1)[0]
    need(not field[len(s) :].strip(b"\0"), "a byte behind a text's end")
    return s


def language(field):
    s = padded(field)
    need(not any(c <= 32 or c == 127 for c in s), "a space or control character in a language")
    text_of(s)
    return s


# --- shard.md -------------------------------------------------------------------------------------


def shard_block(b, at, end, width, size):
    """(sentences, tokens, bytes used) of the block at `at`."""
    need(end - at >= 40, "ends before its footer")
    magic, S, T, C, packed, plain, head = struct.unpack_from("<4sIIIQQQ", b, at)
    need(magic == b"SBLK", "no block here")
    need(head == xxh3(b[at : at + 32]), "hash of a block's header")
    n = 4 * S + width * T
    need(S >= 1 and S + T <= 1 << 26, "S or T")
    need(C <= n + n // 256 + max(0, (1 << 17) - n) // 2048, "C")
    need(n <= (C + 4) << 15, "more data than a frame can hold")
    need(C <= end - at - 40, "ends before its footer")
    frame = b[at + 40 : at + 40 + C]
    need(packed == xxh3(frame), "hash of the compressed data")
    d = zstandard.ZstdDecompressor().decompressobj()
    try:
        data = d.decompress(frame)
    except zstandard.ZstdError:
        raise Bad("not a zstd frame") from None
    need(frame[:4] == b"\x28\xb5\x2f\xfd" and d.eof and not d.unused_data, "not exactly one frame")
    need(len(data) == n, "the data's size")
    need(plain == xxh3(data), "hash of the data")
    lengths = struct.unpack_from(f"<{S}I", data)
    need(sum(lengths) == T and max(lengths) <= 33554432, "lengths")
    ids = struct.unpack_from(f"<{T}{'H' if width == 2 else 'I'}", data, 4 * S)
    need(all(i < size for i in ids), "an id")
    out, k = [], 0
    for n in lengths:
        out.append(ids[k : k + n])
        k += n
    return out, T, 40 + C


def shard(b):
    need(len(b) >= 256, "ends before its footer")
    need(b[:8] == b"ISGSHRD\n", "magic")
    version, width, _, size = struct.unpack_from("<IIQI", b, 8)
    need(version == 1, "version")
    need(struct.unpack_from("<Q", b, 248)[0] == xxh3(b[:248]), "hash of the header")
    need(width in (2, 4), "width")
    need(not any(b[28:32] + b[192:248]), "a byte that is not 0")
    language(b[32:64])
    padded(b[64:192])
    at, sentences, tokens, unknown, index = 256, [], 0, 0, b""
    blocks = 0
    while b[at : at + 4] != b"SIDX":
        rows, T, used = shard_block(b, at, len(b), width, size)
        index += struct.pack("<QQII", at, len(sentences), len(rows), T)
        sentences += rows
        tokens, unknown = tokens + T, unknown + sum(r.count(3) for r in rows)
        at, blocks = at + used, blocks + 1
    index = b"SIDX" + bytes(4) + struct.pack("<Q", blocks) + index
    need(b[at : at + len(index)] == index, "the index is not that of the blocks")
    foot = struct.pack("<QQQQQQ", at, blocks, len(sentences), tokens, unknown, xxh3(index))
    need(b[at + len(index) :] == foot + struct.pack("<Q", xxh3(foot)) + b"ISGSEND\n", "the footer")
    return "".join(" ".join(map(str, s)) + "\n" for s in sentences)


# --- cooc.md --------------------------------------------------------------------------------------


def varint(b, at, end):
    value = shift = 0
    for n in range(11):
        need(at < end, "a varint that runs past the end")
        c = b[at]
        value |= (c & 127) << shift
        at, shift = at + 1, shift + 7
        need(n < 10, "a varint of more than ten bytes")
        if c < 128:
            need(n == 0 or c, "a varint longer than its value needs")
            need(value < 1 << 64, "a varint of more than 64 bits")
            return value, at
    raise Bad("a varint")


def group(row):
    i = row - 5
    if i < 64:
        return 0, i
    o = i.bit_length() - 1
    return o, (i - (1 << o)) // (1 << (o - 5))


def cooc_header(b):
    need(
        len(b) >= 128 + 64 and b[:8] == b"ISGCOOC\n" and b[-8:] == b"ISGCEND\n",
        "magic or cut short",
    )
    (
        version,
        size,
        window,
        weights,
        sides,
        oov,
        zero,
        unit,
        ids,
        most,
        _,
        _,
        skip_hash,
        skip_bytes,
    ) = struct.unpack_from("<IIIBBBBQIIQQQQ", b, 8)
    need(version in (1, 2), "version")
    need(struct.unpack_from("<Q", b, 120)[0] == xxh3(b[:120]), "checksum of the header")
    need(
        size == 128 and weights <= 2 and sides <= 2 and oov <= 1 and zero == 0 and most == 128,
        "header",
    )
    need(1 <= window <= (22, 23, 1000)[weights], "window")
    need(
        unit == (math.lcm(*range(1, window + 2)), math.lcm(*range(1, window + 1)), 1)[weights],
        "unit",
    )
    need(not any(b[72:120]), "a byte that is not 0")
    need(skip_bytes > 0 if version == 2 else not skip_bytes and not skip_hash, "skipped tokens")
    return version, sides == 0, ids, skip_hash, skip_bytes


def cooc_block(b, at, end, n, first, ids, symmetric):
    row = col = 0
    before = (0, 0)
    for k in range(n):
        v, at = varint(b, at, end)
        if v & 1:
            need(k == 0 or v >> 1, "a row that is the row before")
            row += v >> 1
            col, at = varint(b, at, end)
        else:
            need(k, "a block that does not begin with a row")
            col += v >> 1
        count, at = varint(b, at, end)
        need(k or (row, col) == first, "a block's first pair")
        need((row, col) > before, "pairs that do not ascend")
        need(5 <= row < ids and 5 <= col < ids and (col >= row or not symmetric), "an id")
        need(1 <= count < 1 << 63, "a count")
        need(group(row) == group(first[0]), "pairs of two groups")
        before = row, col
        yield row, col, count
    need(at == end, "bytes left over in a block")


def cooc(b):
    version, symmetric, ids, skip_hash, skip_bytes = cooc_header(b)
    vocab_hash, vocab_bytes = struct.unpack_from("<QQ", b, 40)
    need(128 + vocab_bytes + skip_bytes <= len(b) - 64, "vocabulary's size")
    raw = b[128 : 128 + vocab_bytes]
    need(xxh3(raw) == vocab_hash, "checksum of the vocabulary")
    words = text_of(raw).split("\n")
    need(words.pop() == "" and "" not in words and len(words) + 5 == ids, "vocabulary")
    need(len(set(words)) == len(words), "a token twice")
    at = 128 + vocab_bytes
    if version == 2:
        skip = b[at : at + skip_bytes]
        need(xxh3(skip) == skip_hash, "checksum of the skipped tokens")
        lines = skip.split(b"\n")
        need(
            lines.pop() == b"" and b"" not in lines and lines == sorted(set(lines)),
            "skipped tokens",
        )
        need(not re.search(r"[ \t\0]", text_of(skip)), "a skipped token")
        at += skip_bytes

    def pad(at):
        end = at + -at % 8
        need(not any(b[at:end]), "a pad that is not zero")
        return end

    at = pad(at)
    foot = len(b) - 64
    directory, planes, zero = struct.unpack_from("<QII", b, foot)
    need(zero == 0 and directory + 160 * planes == foot, "the directory is not where it should be")
    need(
        struct.unpack_from("<Q", b, foot + 48)[0] == xxh3(b[directory : foot + 48]),
        "checksum of the directory",
    )
    language(b[foot + 16 : foot + 48])
    out, last = "", None
    for k in range(planes):
        f = struct.unpack_from("<32s16Q", b, directory + 160 * k)
        lang = language(f[0])
        need(last is None or lang > last, "languages out of order")
        last = lang
        (
            pairs,
            blocks_at,
            blocks_bytes,
            index_at,
            blocks,
            index_hash,
            counts_at,
            counts_bytes,
            counts_hash,
        ) = (f[4],) + f[9:17]
        need(
            blocks_at == at and blocks_bytes <= directory - at, "blocks are not where they must be"
        )
        need(
            index_at == pad(at + blocks_bytes) and 24 * blocks <= directory - index_at, "the index"
        )
        need(
            counts_at == index_at + 24 * blocks and counts_bytes <= directory - counts_at,
            "token counts",
        )
        need(xxh3(b[index_at:counts_at]) == index_hash, "checksum of the index")
        need(
            xxh3(b[counts_at : counts_at + counts_bytes]) == counts_hash,
            "checksum of the token counts",
        )
        p = counts_at
        for _ in words:
            _, p = varint(b, p, counts_at + counts_bytes)
        need(p == counts_at + counts_bytes, "token counts that belong to no token")
        seen = offset = 0
        before = (0, 0)
        for i in range(blocks):
            row, col, o, h, n, size = struct.unpack_from("<IIQIHH", b, index_at + 24 * i)
            need(o == offset and 1 <= n <= 128 and (row, col) > before, "an index entry")
            need(
                5 <= row < ids and 5 <= col < ids and (col >= row or not symmetric),
                "an index entry",
            )
            before = row, col
            need(offset + size <= blocks_bytes, "an index entry")
            start = blocks_at + offset
            need(xxh3(b[start : start + size]) & 0xFFFFFFFF == h, "checksum of a block")
            for r, c, count in cooc_block(b, start, start + size, n, (row, col), ids, symmetric):
                need((r, c) >= before, "blocks that overlap")
                before = r, c
                out += f"{lang.decode() or '-'}\t{words[r - 5]}\t{words[c - 5]}\t{count}\n"
            seen, offset = seen + n, offset + size
        need((seen, offset) == (pairs, blocks_bytes), "the index does not add up")
        at = pad(counts_at + counts_bytes)
    need(at == directory, "the directory is not where it should be")
    return out


# --- codes.md -------------------------------------------------------------------------------------


def number(s, most=(1 << 64) - 1):
    need(re.fullmatch("[0-9]+", s) and int(s) <= most, "a count that is not a number below 2^64")
    return int(s)


def codes(b):
    lines = text_of(b).split("\n")
    if lines[-1] == "":
        lines.pop()
    lines = [x.rstrip("\r ") for x in lines]
    old = True
    if lines and lines[0].startswith("#version"):
        m = re.fullmatch(r"#version: (0\.[12])", lines.pop(0))
        need(m, "version")
        old = m[1] == "0.1"
    need(lines, "no operation")
    rows = [re.split(" +", x) for x in lines]
    n = len(rows[0])
    need(n in (2, 3) and all(len(r) == n and all(r) for r in rows), "fields")
    if n == 3:
        old = False
        for r in rows:
            number(r[2])
    elif "#version" in b.decode()[:9]:
        pass
    rank, made = {}, {}
    for i, (left, right) in enumerate(r[:2] for r in rows):
        need(len((left + right).encode()) <= 65535, "symbols")
        rank.setdefault((left, right), i)
        made.setdefault(left + right, (left, right))
    out = ""
    for word in ("th", "the", "low", "lothe", "x"):
        s = list(word)
        if old:
            s.append("</w>")
        else:
            s[-1] += "</w>"
        while True:
            best = min((rank[p] for p in zip(s, s[1:]) if p in rank), default=None)
            if best is None:
                break
            left, right = rows[best][:2]
            i, t = 0, []
            while i < len(s):
                if s[i : i + 2] == [left, right]:
                    t.append(left + right)
                    i += 2
                else:
                    t.append(s[i])
                    i += 1
            s = t
        s = [x[:-4] if x.endswith("</w>") else x for x in s]
        s = [x for x in s if x]
        out += " ".join(x + "@@" for x in s[:-1]) + (" " if len(s) > 1 else "") + s[-1] + "\n"
    return out


def vocabulary(b):
    lines = text_of(b).split("\n")
    if lines[-1] == "":
        lines.pop()
    need(lines, "an empty file")
    tokens = []
    for x in lines:
        token, space, count = x.rpartition(" ")
        if space:
            number(count)
        else:
            token = x
        need(token and " " not in token, "a token")
        tokens.append(token)
    need(len(set(tokens)) == len(tokens), "a token twice")
    return tokens


def vocab(b):
    at = {t: i + 5 for i, t in enumerate(vocabulary(b))}
    return "".join(
        " ".join(str(at.get(w, 3)) for w in s.split()) + "\n" for s in ("a b c d", "</s> é")
    )


# --- checkpoint.md --------------------------------------------------------------------------------

DEFAULTS = {
    "layers": 6,
    "decoder_layers": 0,
    "dim": 512,
    "ffn": 2048,
    "heads": 8,
    "vocab": 0,
    "positions": 512,
    "activation": "gelu",
    "pre_norm": False,
    "sinusoidal": False,
    "encoder_langs": True,
    "decoder_langs": True,
    "embed_dim": 0,
    "share_layers": False,
    "token_types": 0,
    "embed_norm": True,
    "output_transform": False,
    "scale_embed": 1,
    "norm_eps": 1e-5,
    "dropout": 0.1,
    "attention_dropout": 0.1,
    "vocab_hash": "0" * 16,
    "task_heads": [],
    "languages": [],
}
RANGES = {
    "layers": (1, 1000),
    "decoder_layers": (0, 1000),
    "dim": (1, 65536),
    "ffn": (1, 1048576),
    "heads": (1, 255),
    "vocab": (6, 268435456),
    "positions": (2, 4096),
    "embed_dim": (0, 65536),
    "token_types": (0, 16),
    "scale_embed": (1e-6, 1e6),
    "norm_eps": (0, 1),
    "dropout": (0, 0.99),
    "attention_dropout": (0, 0.99),
}
NAME = "[A-Za-z0-9_-]{1,31}"


def pairs_once(items):
    need(len({k for k, _ in items}) == len(items), "a key twice")
    return dict(items)


def json_object(b):
    text = text_of(b)
    need(not re.search(r"(?<!\\)(\\\\)*\\u0000", text), "an escaped NUL")

    def refuse(x):
        raise Bad(f"{x} is not JSON")

    try:
        o = json.loads(text, object_pairs_hook=pairs_once, parse_constant=refuse)
    except ValueError:
        raise Bad("not JSON") from None
    need(isinstance(o, dict), "not an object")
    return o


def is_number(v):
    return isinstance(v, (int, float)) and not isinstance(v, bool)


def head_of(h):
    need(isinstance(h, dict), "a head that is no object")
    known = {
        "name",
        "hidden",
        "outputs",
        "labels",
        "task",
        "pair",
        "longest",
        "question",
        "stride",
        "no_answer",
    }
    need(set(h) <= known, "an unknown key of a head")
    need(isinstance(h.get("name"), str) and re.fullmatch(NAME, h["name"]), "a head's name")
    need(h.get("hidden") in ("none", "gelu", "relu", "gelu-tanh", "tanh"), "a head's hidden layer")
    n = h.get("outputs")
    need(is_number(n) and n == int(n) and 1 <= n <= 65536, "a head's outputs")
    if "labels" in h:
        v = h["labels"]
        need(
            isinstance(v, list) and len(v) == n <= 64 and all(isinstance(x, str) for x in v),
            "labels",
        )
        need(len(set(v)) == len(v) and all(1 <= len(x.encode()) <= 31 for x in v), "labels")
        need(not any(re.search(r'[\x00-\x1f\x7f"\\]', x) for x in v), "a label")


def config_of(b):
    o = json_object(b)
    c = dict(DEFAULTS)
    for k, v in o.items():
        need(k in DEFAULTS, f"an unknown key, {k}")
        want = DEFAULTS[k]
        if isinstance(want, bool):
            need(isinstance(v, bool), f"{k}: type")
        elif k in RANGES:
            need(is_number(v), f"{k}: type")
            if isinstance(want, int) and k != "scale_embed":
                need(v == int(v), f"{k}: a fraction")
            low, high = (
                np.float32(x) if not isinstance(want, int) or k == "scale_embed" else x
                for x in RANGES[k]
            )
            x = np.float32(v) if not isinstance(want, int) or k == "scale_embed" else v
            need(low <= x <= high, f"{k}: out of range")
        elif k in ("activation", "vocab_hash"):
            need(isinstance(v, str), f"{k}: type")
        else:
            need(isinstance(v, list), f"{k}: type")
        c[k] = v
    need(c["activation"] in ("gelu", "relu", "gelu-tanh"), "activation")
    need(re.fullmatch("[0-9a-f]{16}", c["vocab_hash"]), "vocab_hash")
    need(c["vocab"] >= 6, "vocab")
    need(c["dim"] % c["heads"] == 0, "dim is not a multiple of heads")
    need(c["embed_dim"] <= c["dim"], "embed_dim")
    langs = c["languages"]
    need(
        len(langs) <= 32 and all(isinstance(x, str) and re.fullmatch(NAME, x) for x in langs),
        "languages",
    )
    need(len(set(langs)) == len(langs), "a language twice")
    need(not (c["token_types"] and c["encoder_langs"] and langs), "token types beside languages")
    need(not (c["output_transform"] and c["decoder_layers"]), "output_transform with a decoder")
    need(len(c["task_heads"]) <= 4, "heads")
    for h in c["task_heads"]:
        head_of(h)
    need(len({h["name"] for h in c["task_heads"]}) == len(c["task_heads"]), "a head twice")
    return c


def shapes(c):
    D, F, E, L = c["dim"], c["ffn"], c["embed_dim"] or c["dim"], len(c["languages"])
    out = {"embed.tokens": (c["vocab"], E), "output.bias": (1, c["vocab"])}

    def linear(name, rows, cols):
        out[name + ".weight"], out[name + ".bias"] = (rows, cols), (1, rows)

    def norm(name, n):
        out[name + ".weight"] = out[name + ".bias"] = (1, n)

    for side in ("encoder", "decoder"):
        layers = c["layers" if side == "encoder" else "decoder_layers"]
        if not layers:
            continue
        out[side + ".embed.positions"] = (c["positions"], E)
        if c[side + "_langs"] and L:
            out[side + ".embed.languages"] = (L, E)
        if side == "encoder" and c["token_types"]:
            out["encoder.embed.types"] = (c["token_types"], E)
        if c["embed_norm"]:
            norm(side + ".embed.norm", E)
        if E != D:
            linear(side + ".embed.project", D, E)
        for i in range(1 if c["share_layers"] else layers):
            s = f"{side}.{i}."
            linear(s + "attn.qkv", 3 * D, D)
            linear(s + "attn.out", D, D)
            norm(s + "attn_norm", D)
            if side == "decoder":
                for part, rows in (("q", D), ("kv", 2 * D), ("out", D)):
                    linear(s + "cross." + part, rows, D)
                norm(s + "cross_norm", D)
            linear(s + "ffn.in", F, D)
            linear(s + "ffn.out", D, F)
            norm(s + "ffn_norm", D)
        if c["pre_norm"]:
            norm(side + ".norm", D)
    if c["output_transform"] or E != D:
        linear("output.dense", E, D)
    if c["output_transform"]:
        norm("output.norm", E)
    for h in c["task_heads"]:
        if h["hidden"] != "none":
            linear(f"head.{h['name']}.dense", D, D)
        linear(f"head.{h['name']}.out", int(h["outputs"]), D)
    return out


def safetensors(b):
    need(len(b) >= 8, "an empty file")
    n = struct.unpack_from("<Q", b)[0]
    need(n <= len(b) - 8, "a header longer than the file")
    header = json_object(b[8 : 8 + n])
    meta = header.pop("__metadata__", {})
    data, end, out = b[8 + n :], 0, {}
    for name, t in sorted(header.items(), key=lambda x: x[1]["data_offsets"]):
        kind = {
            "F32": "<f4", "U8": "u1", "F16": "<f2", "F64": "<f8", "I32": "<i4", "I64": "<i8",
            "U64": "<u8",
        }[t["dtype"]]  # fmt: skip
        begin, stop = t["data_offsets"]
        need(begin == end and stop <= len(data), "data_offsets")
        need(stop - begin == math.prod(t["shape"]) * np.dtype(kind).itemsize, "a tensor's size")
        out[name], end = np.frombuffer(data[begin:stop], kind).reshape(t["shape"]), stop
    need(end == len(data), "bytes behind the data")
    need("xxh3" not in meta or meta["xxh3"] == "%016x" % xxh3(data), "checksum of the data")
    return out


SUMMED = [
    "codes",
    "config.json",
    "pieces.json",
    "sentencepiece.model",
    "tokenizer",
    "vocab",
    "weights.safetensors",
    "words.safetensors",
]


def sum_of(path, b):
    lines = text_of(b).split("\n")
    need(lines.pop() == "" and lines, "empty, or a last line without its end")
    last = ""
    for x in lines:
        m = re.fullmatch(r"XXH3_([0-9a-f]{16})  (.*)", x)
        need(m and m[2] in SUMMED and m[2] > last, "a line of model.sum")
        last = m[2]
        need(os.path.exists(os.path.join(path, last)), f"{last} is missing")
        need("%016x" % xxh3(read(os.path.join(path, last))) == m[1], f"checksum of {last}")


def model_of(path, instead=None):
    """Configuration and weights of a folder; instead: {name: bytes} of files that are others."""
    instead = instead or {}

    def of(name):
        if name in instead:
            return instead[name]
        p = os.path.join(path, name)
        return read(p) if os.path.exists(p) else None

    if not instead or "model.sum" in instead:
        sum_of(path, of("model.sum"))
    c = config_of(of("config.json"))
    tokens = vocabulary(of("vocab"))
    need(len(tokens) + 5 == c["vocab"], "vocab and config.json")
    need(
        "%016x" % xxh3("".join(t + "\n" for t in tokens).encode()) == c["vocab_hash"], "vocab_hash"
    )
    w, want = safetensors(of("weights.safetensors")), shapes(c)
    for name, (rows, cols) in want.items():
        need(name in w, f"tensor {name} is missing")
        need(w[name].shape == ((cols,) if rows == 1 else (rows, cols)), f"shape of {name}")
        w[name] = w[name].astype("f8").reshape(rows, cols)
    need(len(w) == len(want), "a tensor too many")
    words = of("words.safetensors")
    if words is not None:
        words = safetensors(words)
        for k in c["languages"]:
            need(
                k not in words or (words[k].dtype == np.uint8 and words[k].shape == (c["vocab"],)),
                "words",
            )
    if of("codes") is not None:
        codes(of("codes"))
    return c, w, tokens


def erf(x):
    return np.vectorize(math.erf)(x)


class Model:
    def __init__(self, c, w):
        self.c, self.w = c, w

    def linear(self, name, x):
        return x @ self.w[name + ".weight"].T + self.w[name + ".bias"]

    def norm(self, name, x):
        m, v = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        return (x - m) / np.sqrt(v + self.c["norm_eps"]) * self.w[name + ".weight"] + self.w[
            name + ".bias"
        ]

    def act(self, x):
        return (
            np.maximum(x, 0)
            if self.c["activation"] == "relu"
            else 0.5 * x * (1 + erf(x / math.sqrt(2)))
        )

    def attend(self, q, k, v):
        H = self.c["heads"]
        d = self.c["dim"] // H
        out = np.zeros_like(q)
        for h in range(H):
            s = slice(h * d, (h + 1) * d)
            a = q[:, s] @ k[:, s].T / math.sqrt(d)
            a = np.exp(a - a.max(-1, keepdims=True))
            out[:, s] = a / a.sum(-1, keepdims=True) @ v[:, s]
        return out

    def embed(self, side, ids, lang):
        w, s = self.w, side + ".embed."
        x = w["embed.tokens"][ids] * self.c["scale_embed"] + w[s + "positions"][: len(ids)]
        if s + "languages" in w:
            x = x + w[s + "languages"][lang]
        if s + "types" in w:
            x = x + w[s + "types"][0]
        if self.c["embed_norm"]:
            x = self.norm(s + "norm", x)
        return self.linear(s + "project", x) if s + "project.weight" in w else x

    def encode(self, ids, lang):
        """States before the first layer and after each, the norm at the end included in the last."""
        pre, D = self.c["pre_norm"], self.c["dim"]
        x = self.embed("encoder", ids, lang)
        out = [x]
        for i in range(self.c["layers"]):
            s = f"encoder.{0 if self.c['share_layers'] else i}."
            y = self.norm(s + "attn_norm", x) if pre else x
            qkv = self.linear(s + "attn.qkv", y)
            x = x + self.linear(
                s + "attn.out", self.attend(qkv[:, :D], qkv[:, D : 2 * D], qkv[:, 2 * D :])
            )
            x = x if pre else self.norm(s + "attn_norm", x)
            y = self.norm(s + "ffn_norm", x) if pre else x
            x = x + self.linear(s + "ffn.out", self.act(self.linear(s + "ffn.in", y)))
            x = x if pre else self.norm(s + "ffn_norm", x)
            out.append(self.norm("encoder.norm", x) if pre and i == self.c["layers"] - 1 else x)
        return out


TEXT = ("a b c d", "c", "b b b b")


def model(path):
    c, w, tokens = model_of(path)
    m, at, out = Model(c, w), {t: i + 5 for i, t in enumerate(tokens)}, ""
    for n, lang in enumerate(c["languages"] or ["-"]):
        states = [m.encode([0] + [at.get(t, 3) for t in s.split()] + [1], n) for s in TEXT]
        for layer in range(c["layers"] + 1):
            for k, s in enumerate(states):
                out += (
                    f"{layer} {lang} {k} " + " ".join(f"{x:.7f}" for x in s[layer].mean(0)) + "\n"
                )
    return out


# --- vectors.md, dictionary.md, order.md, sum.md --------------------------------------------------

FLOAT = r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?"


def finite(s, kind=np.float32):
    need(re.fullmatch(FLOAT, s), "not a number")
    with np.errstate(over="ignore"):
        x = kind(float(s))
    need(np.isfinite(x), "a number that is not finite")
    return x


def shown(words, x):
    need(len(words) == len(x) and len(x), "as many words as there are not rows, or none")
    need(x.ndim == 2 and x.shape[1] and np.isfinite(x).all(), "not two dimensions, or not finite")
    return "".join(
        w + "".join(f" {v:.9g}" for v in row.astype("f4")) + "\n" for w, row in zip(words, x)
    )


def vectors_text(b):
    lines = text_of(b).split("\n")
    lines = [x.rstrip(" \r") for x in (lines[:-1] if lines[-1] == "" else lines)]
    need(lines, "no vectors")
    rows = None
    m = re.fullmatch(r"([0-9]+) ([0-9]+)", lines[0])
    if m:
        rows, dim = int(m[1]), int(m[2])
        lines = lines[1:]
        need(rows == len(lines), "more or fewer rows than the first line says")
    else:
        dim = len(re.split("[ \t]", lines[0])) - 1
    words, x = [], []
    for s in lines:
        f = re.split("[ \t]", s)
        need(len(f) == dim + 1 or (rows is not None and len(f) > dim), "a row of another length")
        words.append(" ".join(f[: len(f) - dim]))
        x.append([finite(v) for v in f[len(f) - dim :]])
    return shown(words, np.array(x))


def vectors_binary(b):
    head, at = b.split(b"\n", 1)[0], b.index(b"\n") + 1
    n, dim = map(int, head.split())
    words, x = [], []
    for _ in range(n):
        stop = b.find(b" ", at)
        need(stop >= 0 and stop + 1 + 4 * dim <= len(b), "a row that runs over the end")
        words.append(text_of(b[at:stop]))
        x.append(np.frombuffer(b, "<f4", dim, stop + 1))
        at = stop + 1 + 4 * dim
        at += b[at : at + 1] == b"\n"
    need(at == len(b), "bytes behind the last row")
    return shown(words, np.array(x))


def words_of(data):
    lines = text_of(data).split("\n")
    need(lines.pop() == "", "words whose last line does not end")
    return lines


def vectors_npy(b, path):
    need(b[6] in (1, 2, 3), "a version other than 1 to 3")
    n = struct.unpack_from("<H" if b[6] == 1 else "<I", b, 8)[0]
    at = 10 if b[6] == 1 else 12
    h = b[at : at + n].decode("latin-1")
    m = re.search(r"'shape': \(([0-9]+), ([0-9]+),?\)", h)
    kind = re.search(r"'descr': '(<f[48])'", h)
    need(m and kind and "'fortran_order': False" in h, "not a two-dimensional array of floats")
    rows, dim, data = int(m[1]), int(m[2]), b[at + n :]
    need(len(data) == rows * dim * np.dtype(kind[1]).itemsize, "data of another size")
    beside = path + ".words"
    words = words_of(read(beside)) if os.path.exists(beside) else [str(i) for i in range(rows)]
    return shown(words, np.frombuffer(data, kind[1]).reshape(rows, dim))


def vectors_safetensors(b):
    t = safetensors(b)
    two = [k for k in t if k != "words" and t[k].ndim == 2]
    name = "vectors" if "vectors" in t else two[0] if len(two) == 1 else None
    need(name, "no tensor of vectors, or more than one")
    x = t[name]
    words = words_of(t["words"].tobytes()) if "words" in t else [str(i) for i in range(len(x))]
    return shown(words, x)


def vectors(path):
    b = read(path)
    if path.endswith(".safetensors"):
        return vectors_safetensors(b)
    if b[:6] == b"\x93NUMPY":
        return vectors_npy(b, path)
    return vectors_binary(b) if path.endswith(".bin") else vectors_text(b)


def lines_of(b):
    lines = text_of(b).split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def dictionary(path):
    for s in lines_of(read(path)):
        s = s.removesuffix("\r")
        source, _, rest = s.partition("\t" if "\t" in s else " ")
        need(source and re.split("[\t ]" if "\t" not in s else "\t", rest)[0], "a side is missing")
    return ""


def scored(path):
    """With the vocabulary a to f."""
    known = 0
    for s in lines_of(read(path)):
        f = s.removesuffix("\r").split("\t")
        need(2 <= len(f) <= 3 and f[0] and f[1], "not a source, a target and perhaps a score")
        if len(f) == 3:
            finite(f[2], np.float64)
        known += f[0] != f[1] and all(len(x) == 1 and x in "abcdef" for x in f[:2])
    need(known, "no line of two different known tokens")
    return ""


POS = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split()
UD2 = (
    "nsubj obj iobj csubj ccomp xcomp obl vocative expl dislocated advcl advmod discourse aux cop "
    "mark nmod appos nummod acl amod det clf case conj cc fixed flat compound list parataxis "
    "orphan goeswith reparandum punct root dep nsubj:pass csubj:pass aux:pass"
).split()


def order(path):
    lines = lines_of(read(path))
    need(lines[:1] == ["# isoglot order 1"], "another first line")
    need(lines[1:2] in (["# labels ud2"], ["# labels ud1"]), "another label set")
    ud2, seen = lines[1].endswith("2"), set()

    def label(s):
        head, s = s.startswith("@"), s.removeprefix("@")
        pos, _, rel = s.partition("&") if "&" in s else (s, "", "") if s in POS else ("", "", s)
        need(not pos or pos in POS, "a part of speech that is not known")
        if head and "&" in s:
            need(rel == "@", "a head's relation")
        elif rel:
            free = 1 <= len(rel.encode()) <= 23 and not re.search(r"[\s_]", rel)
            need(rel in UD2 if ud2 else free, "a relation that is not known")

    for s in lines[2:]:
        f = s.split("\t")
        need(len(f) == 3 and f[0] in ("N", "V"), "not class, feature and weight")
        kind, *labels = f[1].split("_")
        need(kind in ("BI", "PRE", "BFR", "AFT", "BTW", "HI"), "a kind that is not known")
        need(3 <= len(labels) <= 5 if kind == "HI" else len(labels) == 2, "a number of labels")
        for x in labels:
            if x not in ("BOS", "EOS"):
                label(x)
        finite(f[2], np.float64)
        need((f[0], f[1]) not in seen, "a feature that stands twice")
        seen.add((f[0], f[1]))
    return ""


def summed(path):
    b, line = read(path), text_of(read(path + ".sum"))
    m = re.fullmatch(r"XXH3_([0-9a-f]{16})  [^\n]+\n", line)
    need(m, "FILE.sum is not the one line")
    need(m[1] == "%016x" % xxh3(b), "another checksum")
    codes(b)
    return ""


def log(b):
    """log.md: what is no whole object is skipped; of two lines of an event and a step the later."""
    points, stepped = {}, False
    for line in b.split(b"\n"):
        try:
            x = json_object(line)
        except Bad:
            continue
        if not isinstance(x.get("event"), str) or not is_number(x.get("step")):
            continue
        stepped = True
        for k, v in x.items():
            if k not in ("step", "time") and is_number(v):
                points[x["event"], x["step"], k] = v
    need(stepped, "no line of a log")
    lines = ["%s\t%.9g\t%s\t%.9g\n" % (*k, v) for k, v in points.items()]
    return "".join(sorted(lines, key=lambda s: s.encode()))


# --- tasks.md -------------------------------------------------------------------------------------

NLI = {x: x for x in ("entailment", "neutral", "contradiction")} | {
    "contradictory": "contradiction"
}


def task_lines(path):
    b = read(path)
    need(b, "an empty file")
    lines = text_of(b.removeprefix(b"\xef\xbb\xbf")).split("\n")
    return [x.removesuffix("\r") for x in (lines[:-1] if lines[-1] == "" else lines)]


def task_label(s):
    return NLI.get(s.lower(), s)


def fields_of(line, csv):
    """Of Python's csv, as far as XTREME's files go: a field that begins with a quote."""
    if not csv:
        return line.split("\t")
    return [
        x[1:-1].replace('""', '"') if re.fullmatch('"([^"]|"")*"', x) else x
        for x in line.split("\t")
    ]


def pair_columns(head):
    """Places of sentence, sentence, label, score and language; None: there is no header."""
    names = ("sentence_A", "sentence_B", "entailment_judgment", "relatedness_score", None)
    if "sentence_A" in head and "entailment_judgment" in head:
        pass
    elif {"gold_label", "sentence1", "sentence2"} <= set(head):
        names = ("sentence1", "sentence2", "gold_label", None, "language")
    elif "premise" in head and "label" in head and {"hypo", "hypothesis"} & set(head):
        names = ("premise", "hypo" if "hypo" in head else "hypothesis", "label", None, None)
    elif "label" in head and any(x.startswith("sentence1") for x in head):
        lang = "" if "sentence1" in head else "_de"
        names = ("sentence1" + lang, "sentence2" + lang, "label", None, None)
    else:
        return None
    need(names[0] in head and names[1] in head, "no column of sentences")
    return [head.index(x) if x in head else None for x in names]


def pairs(path, csv=False):
    lines = task_lines(path)
    head = fields_of(lines[0], csv)
    if len(head) == 1:
        return "".join(task_label(x.split("\t")[0]) + "\n" for x in lines)
    at = pair_columns(head)
    rows = lines[1:] if at else lines
    first, second, label, score, language = at or (0, 1, 2, None, None)
    need_columns = max(x for x in (first, second, label, score, language) if x is not None) + 1
    out, labels = "", None
    for s in rows:
        f = fields_of(s, csv)
        need(len(f) >= need_columns, "too few columns")
        if language is not None and f[language] != "de":
            continue
        if f[label] == "-":
            continue
        is_label = task_label(f[label])
        if labels is None:
            labels = {"0", "1"} if is_label in ("0", "1") else set(NLI.values())
        need(is_label in labels, "an unknown label")
        out += "\t".join((is_label, f[first], f[second]))
        out += "" if score is None else "\t%.9g" % finite(f[score], np.float64)
        out += "\n"
    need(out, "no example")
    return out


def parallel(path):
    a, b = task_lines(path), task_lines(path.removesuffix(".de") + ".en")
    need(len(a) == len(b), "another number of lines")
    return "".join(f"{x}\t{y}\n" for x, y in zip(a, b))


def sentences_of(lines):
    out = []
    for s in lines:
        out = out or [[]]
        if s:
            out[-1].append(s)
        elif out[-1]:
            out.append([])
    return [x for x in out if x]


def conllu(lines, fused):
    """(form, tag) of each word of each sentence."""
    order = (
        "VERB NOUN PROPN PRON ADJ NUM ADV INTJ AUX ADP DET PART CCONJ SCONJ X PUNCT".split()
    )  # another one for es, fr and it
    for sentence in sentences_of([x for x in lines if not x.startswith("#")]):
        words, ranges = [], []
        for s in sentence:
            f = s.split("\t")
            need(len(f) == 10, "not ten columns")
            if "." in f[0]:
                continue
            m = re.fullmatch("([0-9]+)(?:-([0-9]+))?", f[0])
            need(m and int(m[1]) == len(words) + 1, "a number out of order")
            if m[2]:
                need(int(m[2]) > int(m[1]), "a range of one word")
                ranges.append((int(m[1]) - 1, int(m[2]), f[1]))
                continue
            need(f[3] in POS, "a tag that is none of the 17")
            words.append((f[1], f[3], int(f[6])))
        ends = [0] + [r[1] for r in ranges]
        need(all(r[0] >= e for r, e in zip(ranges, ends)), "ranges that overlap")
        need(ends[-1] <= len(words), "a range that ends behind the sentence")
        if not fused:
            yield [(w[0], w[1]) for w in words]
            continue
        if len(words) > 1 and sum(w[0] == "_" for w in words) >= len(words) - 1:
            continue

        def above(i):
            n = 0
            while words[i][2] > 0:
                i, n = words[i][2] - 1, n + 1
            return n

        def rank(i):
            tag = words[i][1]
            return order.index(tag) if tag in order else len(order)

        out, k = [], 0
        while k < len(words):
            form, end = next(((r[2], r[1]) for r in ranges if r[0] == k), (words[k][0], k + 1))
            best = min(range(k, end), key=lambda i: (above(i), rank(i)))
            out.append((form.replace("\u200c", "").replace(" ", ""), words[best][1]))
            k = end
        yield out


def tagged(lines):
    first = next(x for x in lines if x).split("\t")
    numbered = len(first) == 3 and first[0].isdigit()
    prefix = re.match("[a-z]{2,3}:", first[0]) if len(first) == 2 else None
    if prefix and not all(x.startswith(prefix[0]) for x in lines[:20] if x):
        prefix = None
    for sentence in sentences_of(lines):
        out = []
        for s in sentence:
            f = s.split("\t")
            need(len(f) >= (3 if numbered else 2) and f[-1], "a word without a tag")
            out.append((f[-2][len(prefix[0]) :] if prefix else f[-2], f[-1]))
        yield out


def words(path, fused=False):
    lines = task_lines(path)
    first = next(x for x in lines if x)
    ten = first.startswith("#") or first.count("\t") == 9
    rows = conllu(lines, fused) if ten else tagged(lines)
    out = "".join("".join(f"{w}\t{t}\n" for w, t in s) + "\n" for s in rows)
    need(out, "no sentence")
    return out


def json_any(b):
    """One JSON value of any kind, by json_object's rules."""
    return json_object(b'{"value": ' + b + b"\n}")["value"]


def questions(path):
    root = json_any(read(path))
    data = root.get("data") if isinstance(root, dict) else root
    need(isinstance(data, list), "no list of articles")
    out = ""
    for article in data:
        need(isinstance(article.get("paragraphs"), list), "an article without paragraphs")
        for p in article["paragraphs"]:
            context, qas = p.get("context"), p.get("qas")
            need(isinstance(context, str) and isinstance(qas, list), "no context or no questions")
            for q in qas:
                need(
                    isinstance(q.get("id"), str) and isinstance(q.get("question"), str),
                    "no id or no question",
                )
                answers = q.get("answers", [])
                need(isinstance(answers, list), "answers that are no list")
                out += "\t".join((q["id"], q["question"], context))
                for a in answers:
                    text, start = a.get("text"), a.get("answer_start")
                    need(isinstance(text, str), "an answer without a text")
                    there = is_number(start) and context[int(start) :].startswith(text)
                    out += f"\t{text}\t{start if there else '-'}"
                out += "\n"
    need(out, "no question")
    return out


def answers(path):
    """Predictions for tasks/squad."""
    p = json_object(read(path))
    need(all(isinstance(p[k], str) for k in p.keys() & {"q1", "q2"}), "no string")
    return ""


# --- ngrams.md, batches.md ------------------------------------------------------------------------


def ngrams(path):
    last = None
    for s in lines_of(read(path)):
        m = re.fullmatch(r"(-?[0-9]+\.[0-9]{6})\t([1-9][0-9]*)\t([^\t]+)", s)
        need(m, "not score, count and words")
        w = m[3].split(" ")
        need(2 <= len(w) <= 8 and all(w), "not two to eight words")
        key = len(w), -float(m[1]), -int(m[2]), m[3].encode()
        need(last is None or key > last, "n-grams out of order, or one twice")
        last = key
    return ""


def pieces(path):
    """With the vocabulary a to f."""
    known = 0
    for s in lines_of(read(path)):
        need("\t" not in s, "a tab")
        w = s.removesuffix("\r").split()
        if all(len(x) == 1 and x in "abcdef" for x in w):
            need(len(w) >= 2, "an n-gram of one word")
            known += 1
    need(known, "no n-gram whose tokens are all known")
    return ""


def batch_rows(t, p):
    """What a model reads: sentences, rows."""
    token, at = t[p + "token"], t[p + "at"]
    need(all(t[p + k].shape == token.shape for k in ("pos", "lang", "type") if p + k in t), "rows")
    need(at[0] == 0 and at[-1] == len(token) and (np.diff(at) > 0).all(), "at")
    need(p + "sample" not in t or t[p + "sample"].dtype == np.uint64, "sample")
    return len(at) - 1, len(token)


def batch(path):
    """Each array, its rows as lines."""
    b = read(path)
    t = safetensors(b)
    meta = json_object(b[8 : 8 + struct.unpack_from("<Q", b)[0]])["__metadata__"]
    name = "step-%s.%s.%s.safetensors" % (meta["step"], meta["micro_batch"], meta["objective"])
    need(os.path.basename(path) == name and "xxh3" in meta, "another step or objective")
    need("weight" not in t or (t["weight"].shape, t["weight"].dtype) == ((1,), np.float32), "weight")
    rows = {p: batch_rows(t, p) for p in ("", "src.", "dec.", "q.", "k.") if p + "token" in t}
    if meta["objective"] in ("mlm", "tlm", "tcs", "dict", "scs"):
        n = len(t["row"])
        need(all(len(t[k]) == n for k in ("target", "unit", "masked")), "predicted rows")
        need((np.diff(t["row"]) > 0).all() and t["row"][-1] < rows[""][1], "predicted rows")
        need(t["masked"].dtype == np.uint8 and t["masked"].max() <= 1, "masked")
        need((t["original"][t["row"]] == t["target"]).all(), "targets that are not the text's")
        others = np.setdiff1d(np.arange(rows[""][1]), t["row"])
        read_as = t["token"][t["row"][t["masked"] == 1]]
        need(len(set(read_as.tolist())) <= 1, "several <mask>")
        if meta["objective"] in ("mlm", "tlm"):
            need((t["original"][others] == t["token"][others]).all(), "text that was changed")
    if meta["objective"] == "gc":
        place = t["neighbour.row" if "neighbour.row" in t else "neighbour.token"]
        need(place.shape == t["f"].shape == t["log_x"].shape, "neighbours")
        need(place.shape[0] == len(t["row"]) and place.shape[1] % 2 == 0, "neighbours")
        need(not t["f"][place < 0].any() and not t["log_x"][place < 0].any(), "no neighbour's f")
    if meta["objective"] == "mass":
        need(len(t["target"]) == len(t["row"]) == rows["dec."][1], "rows of dec")
        need((t["src.original"][t["row"]] == t["target"]).all(), "targets")
        need(t["memory.row"].max() < rows["src."][1], "memory.row")
    if meta["objective"] in ("mt", "pseudo", "denoise", "back"):
        need(len(t["target"]) == rows["dec."][1] and rows["src."][0] == rows["dec."][0], "target")
    out = ""
    for k in sorted(t):
        out += f"= {k}\n"
        for row in t[k].reshape(len(t[k]), -1):
            cells = ("%.9g" % x if row.dtype.kind == "f" else str(x) for x in row)
            out += "\t".join(cells) + "\n"
    return out


def part(name):
    def form(b, folder):
        model_of(os.path.join(folder, "model/post-norm"), {name: b})
        return ""

    return form


FORMATS = {
    "shard": shard,
    "cooc": cooc,
    "codes": codes,
    "vocab": vocab,
    "log": log,
}  # of one file, which give a text
PATHS = {"vectors": vectors, "dict": dictionary, "scored": scored, "order": order, "summed": summed}
PATHS |= {"pairs": pairs, "lines": pairs, "parallel": parallel, "tagged": words}
PATHS |= {"csv": lambda path: pairs(path, True), "fused": lambda path: words(path, True)}
PATHS |= {"questions": questions, "answers": answers}
PATHS |= {"ngrams": ngrams, "pieces": pieces, "batch": batch}
PARTS = {
    "config": part("config.json"),
    "weights": part("weights.safetensors"),
    "words": part("words.safetensors"),
    "sum": part("model.sum"),
}


def give(form, path, folder):
    if form == "model":
        return model(path)
    if form in PATHS:
        return PATHS[form](path)
    return FORMATS[form](read(path)) if form in FORMATS else PARTS[form](read(path), folder)


def every(folder, write):
    wrong = n = 0
    for line in read(os.path.join(folder, "list.tsv")).decode().splitlines()[1:]:
        name, form, verdict, why = line.split("\t")
        path = os.path.join(folder, name)
        try:
            got, said = give(form, path, folder), ""
        except Bad as e:
            got, said = None, str(e)
        n += 1
        if (got is None) != (verdict == "bad"):
            print(f"{name}: {verdict} {why}, but {said or 'accepted'}")
            wrong += 1
        elif not got and (got is None or form in PARTS or form in PATHS):
            continue
        elif write:
            with open(path + ".out", "w", encoding="utf-8") as f:
                f.write(got)
        elif got != read(path + ".out").decode():
            print(f"{name}: gives something else than {name}.out")
            wrong += 1
    print(f"{n - wrong} passed, {wrong} failed")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    if sys.argv[1] in ("--all", "--write"):
        every(sys.argv[2], sys.argv[1] == "--write")
    try:
        print(give(sys.argv[1], sys.argv[2], os.path.dirname(sys.argv[2])), end="")
    except Bad as e:
        sys.exit(f"{sys.argv[2]}: {e}")
