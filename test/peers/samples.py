"""Writes docs/formats/samples: small good and bad files of every binary format and of a model's folder, from
docs/formats alone, without our code. Run it with the modules xxhash, zstandard and numpy; the files are committed.
What each must give is written by formats.py, the reader; list.tsv says which are bad, and why."""

import json
import os
import shutil
import struct
import sys

import numpy as np
import zstandard
from xxhash import xxh3_64_intdigest as xxh3

OUT = sys.argv[1]
FOLDERS = ("shard", "cooc", "codes", "vocab", "model", "vectors", "dict", "order", "sum", "log")
FOLDERS += ("tasks", "ngrams", "batches")
LIST = []


def put(name, data, form, why=""):
    """One sample; why: the rule that a bad one breaks."""
    path = os.path.join(OUT, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data)
    LIST.append((name, form, "bad" if why else "good", why))


# --- shards ---------------------------------------------------------------------------------------

FRAME = zstandard.ZstdCompressor(level=3, write_content_size=True)


def block(sentences, width=2, **x):
    """x overrides: S, T, C, frame, data, packed_hash, data_hash, head_hash, magic."""
    ids = [i for s in sentences for i in s]
    kind = "<H" if width == 2 else "<I"
    data = b"".join(struct.pack("<I", len(s)) for s in sentences) + b"".join(
        struct.pack(kind, i) for i in ids
    )
    data = x.get("data", data)
    frame = x.get("frame", FRAME.compress(data))
    head = x.get("magic", b"SBLK") + struct.pack(
        "<IIIQQ",
        x.get("S", len(sentences)),
        x.get("T", len(ids)),
        x.get("C", len(frame)),
        x.get("packed_hash", xxh3(frame)),
        x.get("data_hash", xxh3(data)),
    )
    return (
        head + struct.pack("<Q", x.get("head_hash", xxh3(head))) + frame,
        len(sentences),
        len(ids),
        ids,
    )


def shard(parts, **x):
    width = x.get("width", 2)
    vocab_hash = x.get("vocab_hash", xxh3(b"a\nb\n"))
    head = (
        x.get("magic", b"ISGSHRD\n")
        + struct.pack("<IIQI", x.get("version", 1), width, vocab_hash, x.get("size", 7))
        + x.get("zero", bytes(4))
        + x.get("lang", b"en").ljust(32, b"\0")
        + x.get("note", b"by hand").ljust(128, b"\0")
        + x.get("zeros", bytes(56))
    )
    out = head + struct.pack("<Q", x.get("head_hash", xxh3(head)))
    index = (
        x.get("index_magic", b"SIDX")
        + x.get("index_zero", bytes(4))
        + struct.pack("<Q", x.get("index_blocks", len(parts)))
    )
    first = tokens = unknown = 0
    for n, (data, s, t, ids) in enumerate(parts):
        index += struct.pack(
            "<QQII",
            len(out) + x.get("off", 0) * (n == 0),
            first + x.get("first", 0) * (n == 0),
            s + x.get("entry_s", 0) * (n == 0),
            t + x.get("entry_t", 0) * (n == 0),
        )
        out += data
        first, tokens, unknown = first + s, tokens + t, unknown + ids.count(3)
    at = len(out)
    out += index
    foot = struct.pack(
        "<QQQQQQ",
        at + x.get("at", 0),
        x.get("blocks", len(parts)),
        first + x.get("sentences", 0),
        tokens + x.get("tokens", 0),
        unknown + x.get("unknown", 0),
        x.get("index_hash", xxh3(index)),
    )
    return (
        out + foot + struct.pack("<Q", x.get("foot_hash", xxh3(foot))) + x.get("end", b"ISGSEND\n")
    )


TEXT = [[5, 6], [], [6, 3, 5]]


def shards():
    good = shard([block(TEXT)])
    put("shard/example.shd", good, "shard")
    put("shard/empty.shd", shard([]), "shard")
    put(
        "shard/two-blocks.shd",
        shard([block(TEXT), block([[4, 2, 0, 1], [3]])], lang=b"de", note=b""),
        "shard",
    )
    put(
        "shard/wide.shd",
        shard([block([[5, 69999], [65536]], 4)], width=4, size=70000, vocab_hash=0),
        "shard",
    )
    put("shard/no-language.shd", shard([block([[]])], lang=b""), "shard")

    def bad(name, why, *parts, **x):
        put(f"shard/bad/{name}.shd", shard(list(parts) or [block(TEXT)], **x), "shard", why)

    bad("magic", "another magic word", magic=b"ISGSHRE\n")
    bad("version", "another version", version=2)
    bad("header-hash", "a wrong hash: header", head_hash=1)
    put("shard/bad/width.shd", shard([], width=3), "shard", "a width other than 2 and 4")
    bad("language-unended", "a language whose last byte is not 0", lang=b"e" * 32)
    bad("language-behind", "another byte behind the first 0 of the language", lang=b"en\0x")
    bad("note-behind", "another byte behind the first 0 of the note", note=b"a\0b")
    bad("language-space", "a space in the language", lang=b"e n")
    bad("language-del", "a control character in the language", lang=b"e\x7f")
    bad("zero", "byte 28 is not 0", zero=b"\1\0\0\0")
    bad("zeros", "byte 247 is not 0", zeros=bytes(55) + b"\1")
    put("shard/bad/cut.shd", good[:-1], "shard", "ends before its footer is whole")
    put("shard/bad/behind.shd", good + b"\0", "shard", "a byte behind the footer")
    put("shard/bad/header-only.shd", good[:256], "shard", "ends before its footer")
    put("shard/bad/nothing.shd", b"", "shard", "ends before its footer")
    bad("block-magic", "a block that does not begin with SBLK", block(TEXT, magic=b"SBLX"))
    bad("no-sentences", "a block with S = 0", block([], data=b"", frame=FRAME.compress(b"")))
    bad("too-many", "S + T above 2^26", block(TEXT, S=1 << 26))
    bad("bomb", "more than 2^15 (C + 4) bytes of data", block(TEXT, T=(1 << 26) - 3))
    long = FRAME.compress(
        b"".join(struct.pack("<I", len(s)) for s in TEXT) + struct.pack("<5H", 5, 6, 6, 3, 5)
    )
    # a frame that says its 22 bytes in one stored block, behind a hundred empty ones
    plain = b"".join(struct.pack("<I", len(s)) for s in TEXT) + struct.pack("<5H", 5, 6, 6, 3, 5)
    wide = b"\x28\xb5\x2f\xfd\x20\x16" + bytes(300) + struct.pack("<I", 22 << 3 | 1)[:3] + plain
    bad("compressed-size", "C above zstd's bound", block(TEXT, frame=wide))
    bad("two-frames", "two zstd frames", block(TEXT, frame=long + FRAME.compress(b"")))
    bad(
        "skippable",
        "a frame to be skipped behind the frame",
        block(TEXT, frame=long + struct.pack("<II", 0x184D2A50, 0)),
    )
    bad("no-frame", "no zstd frame", block(TEXT, frame=b"\0" * 30))
    bad(
        "short-data",
        "decompresses to fewer bytes",
        block(TEXT, data=struct.pack("<III", 2, 0, 3) + struct.pack("<4H", 5, 6, 6, 3)),
    )
    bad(
        "long-data",
        "decompresses to more bytes",
        block(TEXT, data=struct.pack("<III", 2, 0, 3) + struct.pack("<6H", 5, 6, 6, 3, 5, 5)),
    )
    bad(
        "lengths",
        "lengths that do not add up to T",
        block(TEXT, data=struct.pack("<III", 2, 1, 3) + struct.pack("<5H", 5, 6, 6, 3, 5)),
    )
    bad(
        "lengths-few",
        "lengths that add up to less than T",
        block(TEXT, data=struct.pack("<III", 2, 0, 2) + struct.pack("<5H", 5, 6, 6, 3, 5)),
    )
    bad("id", "an id not below the vocabulary's size", block([[5, 6], [], [6, 3, 7]]))
    bad("packed-hash", "a wrong hash: compressed data", block(TEXT, packed_hash=1))
    bad("data-hash", "a wrong hash: data", block(TEXT, data_hash=1))
    bad("block-hash", "a wrong hash: a block's header", block(TEXT, head_hash=1))
    bad("index-magic", "an index that does not begin with SIDX", index_magic=b"SIDY")
    bad("index-zero", "byte 4 of the index is not 0", index_zero=b"\1\0\0\0")
    bad("index-blocks", "the index has another number of blocks than the footer", index_blocks=2)
    bad("index-offset", "blocks do not begin at byte 256", off=1)
    bad("index-first", "the number of a block's first sentence", first=1)
    bad("index-sentences", "the index disagrees with a block's header: S", entry_s=1)
    bad("index-tokens", "the index disagrees with a block's header: T", entry_t=1)
    bad("index-hash", "a wrong hash: index", index_hash=1)
    bad("footer-at", "an index that does not begin where the footer says", at=8)
    bad("footer-blocks", "the footer's number of blocks", blocks=2)
    bad("footer-sentences", "the footer's number of sentences", sentences=1)
    bad("footer-tokens", "the footer's number of tokens", tokens=1)
    bad("footer-unknown", "the footer's number of unknown tokens", unknown=1)
    bad("footer-hash", "a wrong hash: footer", foot_hash=1)
    bad("footer-magic", "another magic word at the end", end=b"ISGSENE\n")


# --- counts ---------------------------------------------------------------------------------------


def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def group(row):
    i = row - 5
    if i < 64:
        return i
    o = i.bit_length() - 1
    return 64 * o + (i - (1 << o)) // (1 << (o - 5))


def encode(pairs):
    out, row, col = b"", 0, 0
    for k, (r, c, n) in enumerate(pairs):
        if k and r == row:
            out += varint(2 * (c - col))
        else:
            out += varint(2 * (r - row) + 1) + varint(c)
        out += varint(n)
        row, col = r, c
    return out


def pad(out):
    return out + bytes(-len(out) % 8)


def blocks_of(pairs):
    out = []
    for p in pairs:
        if not out or group(out[-1][0][0]) != group(p[0]) or len(out[-1]) == 128:
            out.append([])
        out[-1].append(p)
    return out


PAIRS = [(5, 5, 6), (5, 6, 8), (5, 7, 2), (6, 7, 3)]  # the example of cooc.md


class Plane:
    def __init__(self, lang, stored, counts, sentences, unknown=0, **x):
        self.lang, self.pairs, self.counts, self.sentences, self.unknown, self.x = (
            lang,
            stored,
            counts,
            sentences,
            unknown,
            x,
        )


def cooc(parts, vocab=b"a\nb\nc\n", skip=b"", **x):
    ids = vocab.count(b"\n") + 5
    head = (
        x.get("magic", b"ISGCOOC\n")
        + struct.pack(
            "<IIIBBBBQIIQQQQ",
            x.get("version", 2 if skip else 1),
            x.get("header", 128),
            x.get("window", 2),
            x.get("weights", 0),
            x.get("sides", 0),
            x.get("oov", 0),
            x.get("zero", 0),
            x.get("unit", 6),
            x.get("ids", ids),
            x.get("most", 128),
            x.get("vocab_hash", xxh3(vocab)),
            len(vocab),
            x.get("skip_hash", xxh3(skip) if skip else 0),
            x.get("skip_bytes", len(skip)),
        )
        + x.get("zeros", bytes(48))
    )
    out = head + struct.pack("<Q", x.get("head_hash", xxh3(head))) + vocab + skip
    out += x.get("pad", bytes(-len(out) % 8))
    directory = b""
    for p in parts:
        y, at, index, offset = p.x, len(out), b"", 0
        data = b""
        for n, b in enumerate(y.get("blocks", blocks_of(p.pairs))):
            raw = y["raw"] if "raw" in y and n == 0 else encode(b)
            row, col = y["first"] if "first" in y and n == 0 else b[0][:2]
            index += struct.pack(
                "<IIQIHH",
                row,
                col,
                offset,
                y.get("block_hash", xxh3(raw) & 0xFFFFFFFF),
                len(b) + (y.get("entry_pairs", 0) if n == 0 else 0),
                len(raw) + (y.get("entry_bytes", 0) if n == 0 else 0),
            )
            data, offset = data + raw, offset + len(raw)
        if "swap" in y:
            index = index[24:48] + index[:24] + index[48:]
        out = pad(out + data)
        index_at = len(out)
        counts = y.get("counts_raw", b"".join(varint(c) for c in p.counts))
        out += index
        counts_at = len(out)
        out = pad(out + counts)
        total = sum(n for _, _, n in p.pairs)
        directory += p.lang.ljust(32, b"\0") + struct.pack(
            "<16Q",
            p.sentences,
            sum(p.counts) + p.unknown,
            p.unknown,
            len(p.pairs) + y.get("pairs", 0),
            len({r for r, _, _ in p.pairs}),
            max((n for _, _, n in p.pairs), default=0),
            total & (1 << 64) - 1,
            total >> 64,
            at + y.get("blocks_at", 0),
            len(data),
            index_at + y.get("index_at", 0),
            len(index) // 24,
            y.get("index_hash", xxh3(index)),
            counts_at,
            len(counts),
            y.get("counts_hash", xxh3(counts)),
        )
    out += x.get("gap", b"")
    directory_at = len(out)
    foot = struct.pack(
        "<QII",
        directory_at + x.get("directory_at", 0),
        x.get("planes", len(parts)),
        x.get("foot_zero", 0),
    ) + x.get("reference", b"").ljust(32, b"\0")
    return (
        out
        + directory
        + foot
        + struct.pack("<Q", x.get("foot_hash", xxh3(directory + foot)))
        + x.get("end", b"ISGCEND\n")
    )


def en(**x):
    return Plane(b"en", x.pop("pairs_are", PAIRS), x.pop("counts", [3, 2, 1]), 2, **x)


def coocs():
    put("cooc/example.cooc", cooc([en()]), "cooc")
    put("cooc/nothing.cooc", cooc([]), "cooc")
    put("cooc/no-pairs.cooc", cooc([en(pairs_are=[], counts=[1, 0, 0])]), "cooc")
    put("cooc/unknown-reference.cooc", cooc([en()], reference=b"xx"), "cooc")
    words = b"".join(b"w%d\n" % i for i in range(300))
    many = [(r, c, (r * c) % 700 + 1) for r in range(5, 305, 3) for c in range(r, 305, 7)]
    other = [(304, 304, (1 << 63) - 1)]
    put(
        "cooc/two-planes.cooc",
        cooc(
            [
                Plane(b"de", many, [i % 9 for i in range(300)], 77, 5),
                Plane(b"en", other, [0] * 299 + [1 << 40], 1),
            ],
            words,
            reference=b"de",
        ),
        "cooc",
    )
    put(
        "cooc/left-glove.cooc",
        cooc([Plane(b"", [(7, 5, 1), (7, 7, 2)], [1, 0, 2], 1)], sides=1, weights=1, oov=1, unit=2),
        "cooc",
    )
    put("cooc/skipped.cooc", cooc([en()], skip=b"<c>\nx\n"), "cooc")

    def bad(name, why, *parts, **x):
        put(f"cooc/bad/{name}.cooc", cooc(list(parts) or [en()], **x), "cooc", why)

    good = cooc([en()])
    bad("magic", "another magic word", magic=b"ISGCOOD\n")
    bad("version", "another version", version=3)
    bad("header-bytes", "a header of another size", header=136)
    bad("header-hash", "a checksum: header", head_hash=1)
    bad("window-0", "a window of 0", window=0, unit=1)
    bad("window-23", "a window that mlm-gc does not have", window=23, unit=5354228880)
    bad("weights", "weights of another number", weights=3)
    bad("sides", "sides of another number", sides=3)
    bad("unknown", "unknown words neither kept nor dropped", oov=2)
    bad("zero", "byte 23 is not 0", zero=1)
    bad("zeros", "byte 119 is not 0", zeros=bytes(47) + b"\1")
    bad("unit", "a unit that is not that of window and weights", unit=12)
    bad("ids", "a vocabulary whose lines are not ids - 5", ids=9)
    bad("most", "blocks of another number of pairs", most=64)
    bad("vocabulary-hash", "a checksum: vocabulary", vocab_hash=1)
    bad("skipped-none", "version 2 without skipped tokens", version=2)
    bad("skipped-version", "version 1 with skipped tokens", skip=b"x\n", version=1)
    bad("skipped-unsorted", "skipped tokens that do not ascend", skip=b"x\n<c>\n")
    bad("skipped-twice", "a skipped token twice", skip=b"x\nx\n")
    bad("skipped-empty", "an empty skipped token", skip=b"\nx\n")
    bad("skipped-hash", "a checksum: skipped tokens", skip=b"x\n", skip_hash=1)
    bad("pad", "a pad that is not 0", pad=b"\0\1")
    bad("cut", "no magic word at the end", end=b"ISGCENE\n")
    put("cooc/bad/short.cooc", good[:-8], "cooc", "cut short")
    put("cooc/bad/empty.cooc", b"", "cooc", "cut short")
    put("cooc/bad/behind.cooc", good + b"\0", "cooc", "a byte behind the footer")
    bad("footer-hash", "a checksum: directory and footer", foot_hash=1)
    bad("footer-zero", "byte 12 of the footer is not 0", foot_zero=1)
    bad("footer-planes", "more planes than the directory has", planes=2)
    bad("directory-at", "a directory that is not behind the planes", directory_at=8)
    bad("language-twice", "a language twice", en(), en())
    bad("language-order", "languages that do not ascend", en(), Plane(b"de", PAIRS, [3, 2, 1], 2))
    bad("language-space", "a space in a language", Plane(b"e n", PAIRS, [3, 2, 1], 2))
    bad(
        "language-unended",
        "a language whose last byte is not 0",
        Plane(b"e" * 32, PAIRS, [3, 2, 1], 2),
    )
    bad("blocks-at", "blocks that are not behind the vocabulary", en(blocks_at=8))
    bad("index-at", "an index that is not behind the blocks", en(index_at=8))
    bad("gap", "bytes between the planes and the directory", gap=bytes(8))
    bad("index-hash", "a checksum: index", en(index_hash=1))
    bad("counts-hash", "a checksum: token counts", en(counts_hash=1))
    bad("counts-few", "fewer token counts than ids", en(counts=[3, 3]))
    bad("counts-many", "more token counts than ids", en(counts=[3, 2, 1, 0]))
    bad("pairs", "blocks' pairs that do not add up to the directory's", en(pairs=1))
    bad("index-order", "index entries out of order", en(swap=1))
    bad("index-pairs", "an index entry with another number of pairs", en(entry_pairs=1, pairs=1))
    bad("index-bytes", "index entries whose bytes leave a gap", en(entry_bytes=-1))
    bad("index-special", "an index entry of a special", en(first=(4, 5)))
    bad("index-beyond", "an index entry not below ids", en(first=(5, 8)))
    bad("block-hash", "a checksum: a block", en(block_hash=1))
    bad("first-pair", "a first pair other than the index says", en(first=(5, 6)))
    one = [(5, 5, 6)]
    bad(
        "varint-long",
        "a varint longer than its value needs",
        en(pairs_are=one, raw=b"\x0b\x05\x86\x00"),
    )
    bad("varint-past", "a varint that runs past the end", en(pairs_are=one, raw=b"\x0b\x05\x86"))
    bad(
        "varint-ten",
        "a varint of more than ten bytes",
        en(pairs_are=one, raw=b"\x0b\x05" + b"\xff" * 10 + b"\x01"),
    )
    bad("count-0", "a count of 0", en(pairs_are=[(5, 5, 0)]))
    bad("count-large", "a count above 2^63 - 1", en(pairs_are=[(5, 5, 1 << 63)]))
    bad("special", "a column of 0 to 4", en(pairs_are=one, raw=varint(11) + varint(4) + varint(6)))
    bad("beyond", "a column not below ids", en(pairs_are=[(5, 5, 6), (5, 8, 1)]))
    bad(
        "below",
        "a column below its row in a symmetric file",
        en(pairs_are=[(5, 5, 6), (6, 5, 1)], blocks=[[(5, 5, 6)], [(6, 5, 1)]]),
    )
    bad("twice", "pairs that do not ascend", en(pairs_are=[(5, 5, 6), (5, 5, 1)]))
    bad("left-over", "bytes left over in a block", en(pairs_are=one, raw=encode(one) + b"\0"))
    bad("same-row", "a pair in another row that is the same", en(raw=encode(PAIRS[:2]) + b"\1\7\2"))
    bad("no-row", "a block whose first pair is in no row", en(pairs_are=one, raw=b"\n\6"))
    bad(
        "varint-64",
        "a varint of 2^64 or more",
        en(pairs_are=one, raw=b"\x0b\x05" + b"\x80" * 9 + b"\x02"),
    )
    bad("two-groups", "pairs of two groups in a block", en(blocks=[PAIRS]))


# --- codes and vocabularies -----------------------------------------------------------------------


def texts():
    put("codes/fastbpe", b"t h 9274\nth e</w> 6342\nl o 7\nlo w 3\n", "codes")
    put("codes/subword-nmt", b"#version: 0.2\nt h\nth e</w>\nl o\nlo w</w>\n", "codes")
    put("codes/subword-nmt-0.1", b"t h\nth e\nthe </w>\nl o\nlo w\n", "codes")
    put("codes/ends", b"t h 2\r\nth  e</w> 1 \r \nl o 1", "codes")
    put("codes/repeated", b"l o 3\nt h 2\nl o 1\nth e</w> 1\n", "codes")
    for name, data, why in (
        ("utf-8", b"t \xff 3\n", "bytes that are not UTF-8"),
        ("nul", b"t h\0 3\n", "a NUL"),
        ("fields", b"t h 3\nth e</w>\n", "a line with another number of fields than the first"),
        ("count", b"t h x\n", "a count that is not a number"),
        ("count-large", b"t h 18446744073709551616\n", "a count of 2^64"),
        ("version", b"#version: 0.3\nt h\n", "another version"),
        ("empty", b"", "no operation"),
        ("version-only", b"#version: 0.2\n", "no operation"),
        ("one-field", b"t\n", "one field"),
        ("four", b"t h 3 4\n", "four fields"),
    ):
        put(f"codes/bad/{name}", data, "codes", why)
    put("vocab/plain", "a 3\nb 2\né 1\n".encode(), "vocab")
    put("vocab/no-counts", b"a\nb\n</s>\n", "vocab")
    put("vocab/large", b"a 18446744073709551615\nb 0\nc", "vocab")
    for name, data, why in (
        ("empty", b"", "an empty file"),
        ("empty-token", b"a 3\n 2\n", "an empty token"),
        ("empty-line", b"a 3\n\nb 1\n", "an empty token"),
        ("count", b"a 3\nb x\n", "a count that is not a number"),
        ("negative", b"a -1\n", "a count that is not a number"),
        ("large", b"a 18446744073709551616\n", "a count of 2^64"),
        ("twice", b"a 3\na 2\n", "a token twice"),
        ("nul", b"a\0b 3\n", "a NUL"),
        ("utf-8", b"\xff 3\n", "bytes that are not UTF-8"),
    ):
        put(f"vocab/bad/{name}", data, "vocab", why)


# --- models ---------------------------------------------------------------------------------------

VOCAB = b"a 9\nb 4\nc 2\n"


def config(**x):
    c = {
        "layers": 2,
        "decoder_layers": 0,
        "dim": 8,
        "ffn": 12,
        "heads": 2,
        "vocab": 8,
        "positions": 6,
        "activation": "gelu",
        "pre_norm": False,
        "sinusoidal": False,
        "encoder_langs": True,
        "decoder_langs": True,
        "embed_norm": True,
        "scale_embed": 1,
        "norm_eps": 1e-5,
        "dropout": 0.1,
        "attention_dropout": 0.1,
        "vocab_hash": "%016x" % xxh3(b"a\nb\nc\n"),
        "languages": ["de", "en"],
    }
    c.update(x)
    return {k: v for k, v in c.items() if v is not None}


def shapes(c):
    """Names and shapes of checkpoint.md's table of tensors."""
    D, F, E = c["dim"], c["ffn"], c.get("embed_dim") or c["dim"]
    n = len(c["languages"])
    out = {"embed.tokens": (c["vocab"], E), "output.bias": (c["vocab"],)}

    def linear(name, rows, cols):
        out[name + ".weight"], out[name + ".bias"] = (rows, cols), (rows,)

    def norm(name, d):
        out[name + ".weight"], out[name + ".bias"] = (d,), (d,)

    for side, layers in (("encoder", c["layers"]), ("decoder", c["decoder_layers"])):
        if not layers:
            continue
        out[side + ".embed.positions"] = (c["positions"], E)
        if c[side + "_langs"] and n:
            out[side + ".embed.languages"] = (n, E)
        if side == "encoder" and c.get("token_types"):
            out["encoder.embed.types"] = (c["token_types"], E)
        if c["embed_norm"]:
            norm(side + ".embed.norm", E)
        if E != D:
            linear(side + ".embed.project", D, E)
        for i in range(1 if c.get("share_layers") else layers):
            s = f"{side}.{i}."
            linear(s + "attn.qkv", 3 * D, D)
            linear(s + "attn.out", D, D)
            norm(s + "attn_norm", D)
            if side == "decoder":
                linear(s + "cross.q", D, D)
                linear(s + "cross.kv", 2 * D, D)
                linear(s + "cross.out", D, D)
                norm(s + "cross_norm", D)
            linear(s + "ffn.in", F, D)
            linear(s + "ffn.out", D, F)
            norm(s + "ffn_norm", D)
        if c["pre_norm"]:
            norm(side + ".norm", D)
    if c.get("output_transform") or E != D:
        linear("output.dense", E, D)
    if c.get("output_transform"):
        norm("output.norm", E)
    for h in c.get("task_heads", []):
        if h["hidden"] != "none":
            linear(f"head.{h['name']}.dense", D, D)
        linear(f"head.{h['name']}.out", h["outputs"], D)
    return out


def safetensors(tensors, **x):
    header, data, at = {}, b"", 0
    for name, a in tensors.items():
        raw = a.tobytes()
        kind = {"float": "F", "int": "I", "uint": "U"}[a.dtype.name.rstrip("0123456789")]
        kind += str(8 * a.dtype.itemsize)
        header[name] = {
            "dtype": kind,
            "shape": x.get("shape", {}).get(name, list(a.shape)),
            "data_offsets": [at, at + len(raw)],
        }
        data, at = data + raw, at + len(raw)
    meta = {"format": "pt", "xxh3": x.get("xxh3", "%016x" % xxh3(data)), **x.get("meta", {})}
    if x.get("xxh3", "") is None:
        del meta["xxh3"]
    text = json.dumps({"__metadata__": meta, **header}, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def draw(c, seed):
    rng = np.random.default_rng(seed)
    out = {}
    for name, shape in shapes(c).items():
        a = rng.normal(0, 0.4, shape)
        if "norm.weight" in name:
            a += 1
        out[name] = (np.round(a * 64) / 64).astype(
            "<f4"
        )  # short in base 2: files compress, sums are exact
    if c["sinusoidal"]:
        for side in ("encoder", "decoder"):
            if side + ".embed.positions" in out:
                P, E = out[side + ".embed.positions"].shape
                p, i = np.arange(P)[:, None], np.arange(E)[None, :]
                angle = p / 10000 ** (i // 2 * 2 / E)
                out[side + ".embed.positions"] = np.where(
                    i % 2, np.cos(angle), np.sin(angle)
                ).astype("<f4")
    return out


def summed(files):
    return "".join(f"XXH3_{xxh3(files[n]):016x}  {n}\n" for n in sorted(files)).encode()


def folder(name, c, seed, **extra):
    files = {
        "config.json": json.dumps(c, indent=1).encode() + b"\n",
        "vocab": VOCAB,
        "weights.safetensors": safetensors(draw(c, seed)),
        **extra,
    }
    files["model.sum"] = summed(files)
    for n, data in files.items():
        path = os.path.join(OUT, name, n)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(data)
    LIST.append((name, "model", "good", ""))
    return files


def models():
    c = config()
    codes, settings = (
        b"#version: 0.2\na b\nb c</w>\n",
        b"# how text became tokens\ncase-marker = true\nde.segment = none\n",
    )
    files = folder(
        "model/post-norm", c, 1, **{"codes": codes, "tokenizer": b"case-marker = true\n"}
    )
    folder(
        "model/pre-norm",
        config(
            pre_norm=True,
            sinusoidal=True,
            activation="relu",
            embed_dim=4,
            share_layers=True,
            scale_embed=2.5,
            embed_norm=False,
            layers=3,
            norm_eps=0.001,
        ),
        2,
    )
    folder(
        "model/bert",
        config(
            token_types=2,
            languages=["en"],
            encoder_langs=False,
            output_transform=True,
            layers=1,
            heads=4,
            task_heads=[
                {"name": "nli", "hidden": "tanh", "outputs": 3, "labels": ["yes", "no", "maybe"]},
                {"name": "span", "hidden": "none", "outputs": 2},
            ],
        ),
        3,
    )
    words = {
        "de": np.array([0, 1, 0, 0, 0, 1, 1, 0], "u1"),
        "en": np.array([0, 1, 0, 0, 0, 1, 0, 1], "u1"),
    }
    two = folder(
        "model/translator",
        config(decoder_layers=1, layers=1),
        4,
        **{"words.safetensors": safetensors(words)},
    )

    with open(os.path.join(OUT, "model/text"), "w") as f:
        f.write("a b c d\nc\nb b b b\n")

    def put_config(name, why, text):
        data = text if isinstance(text, bytes) else json.dumps(text).encode()
        put(f"model/config/{name}.json", data, "config", why)

    put_config("whole", "", c)
    put_config("spaces", "", b" \n\t" + json.dumps(c, indent=7).encode() + b"\r\n ")
    put_config("unknown-key", "an unknown key", config(colour=1))
    put_config(
        "twice", "a key twice", json.dumps(c).replace('"dim": 8', '"dim": 8, "dim": 8').encode()
    )
    put_config("behind", "something behind the object", json.dumps(c).encode() + b"x")
    put_config("list", "not an object", [c])
    put_config("not-json", "not JSON", b"{layers: 1}")
    put_config("utf-8", "not UTF-8", json.dumps(c).encode().replace(b'"de"', b'"d\xff"'))
    put_config("nul", "a NUL", json.dumps(c).encode() + b"\0")
    put_config(
        "nul-escaped", "an escaped NUL", json.dumps(c).encode().replace(b'"de"', b'"d\\u0000e"')
    )
    seen = {}
    for key, value in (
        ("layers", 0),
        ("layers", 1001),
        ("layers", 1.5),
        ("layers", "2"),
        ("decoder_layers", -1),
        ("decoder_layers", 1001),
        ("dim", 0),
        ("dim", 65538),
        ("ffn", 0),
        ("ffn", 1048577),
        ("heads", 0),
        ("heads", 256),
        ("heads", 3),
        ("vocab", 5),
        ("vocab", 268435457),
        ("positions", 1),
        ("positions", 4097),
        ("activation", "tanh"),
        ("activation", 1),
        ("pre_norm", 1),
        ("sinusoidal", "true"),
        ("embed_dim", -1),
        ("embed_dim", 9),
        ("token_types", 17),
        ("token_types", 1),
        ("scale_embed", 0),
        ("scale_embed", 2e6),
        ("scale_embed", True),
        ("norm_eps", -1e-9),
        ("norm_eps", 1.5),
        ("dropout", -0.1),
        ("dropout", 1),
        ("attention_dropout", 0.995),
        ("vocab_hash", "12"),
        ("vocab_hash", "g" * 16),
        ("languages", "de"),
        ("languages", ["de", "de"]),
        ("languages", ["d e"]),
        ("languages", [""]),
        ("languages", ["x" * 32]),
        ("languages", [1]),
        ("languages", ["l%d" % i for i in range(33)]),
        ("task_heads", {}),
        ("task_heads", [{}]),
        ("task_heads", [{"name": "a b", "hidden": "none", "outputs": 1}]),
        ("task_heads", [{"name": "a", "hidden": "none", "outputs": 1}] * 2),
        ("task_heads", [{"name": "a", "hidden": "none", "outputs": 65537}]),
        ("task_heads", [{"name": "a", "hidden": "no", "outputs": 1}]),
        ("task_heads", [{"name": "a", "hidden": "none", "outputs": 2, "labels": ["x"]}]),
        ("task_heads", [{"name": "a", "hidden": "none", "outputs": 2, "labels": ["x", "x"]}]),
        ("task_heads", [{"name": "a", "hidden": "none", "outputs": 1, "labels": ['"']}]),
        ("task_heads", [{"name": "n%d" % i, "hidden": "none", "outputs": 1} for i in range(5)]),
    ):
        seen[key] = seen.get(key, 0) + 1
        put_config(f"{key}-{seen[key]}", f"{key}: {json.dumps(value)[:60]}", config(**{key: value}))
    put_config(
        "transform-decoder",
        "output_transform with a decoder",
        config(output_transform=True, decoder_layers=1),
    )

    w = draw(c, 1)

    def weights(name, why, tensors=w, **x):
        put(f"model/weights/{name}.safetensors", safetensors(tensors, **x), "weights", why)

    weights("no-checksum", "", xxh3=None)
    weights("checksum", "a wrong xxh3", xxh3="0" * 16)
    weights("missing", "a tensor is missing", {k: v for k, v in w.items() if k != "output.bias"})
    weights("extra", "a tensor too many", {**w, "more": np.zeros(2, "<f4")})
    weights(
        "name",
        "a tensor of another name",
        {k.replace("attn.out.bias", "attn.oup.bias"): v for k, v in w.items()},
    )
    weights("shape", "a tensor of another shape", {**w, "output.bias": np.zeros(9, "<f4")})
    weights(
        "flat",
        "a vector where the table has a matrix",
        {**w, "embed.tokens": w["embed.tokens"].reshape(-1)},
    )
    whole = safetensors(w)
    put("model/weights/cut.safetensors", whole[:-4], "weights", "data that end before the offsets")
    put("model/weights/behind.safetensors", whole + b"\0", "weights", "bytes behind the data")
    put(
        "model/weights/header-size.safetensors",
        struct.pack("<Q", 1 << 40) + whole[8:],
        "weights",
        "a header longer than the file",
    )
    put("model/weights/empty.safetensors", b"", "weights", "an empty file")

    def words_file(name, why, tensors, **x):
        put(f"model/words/{name}.safetensors", safetensors(tensors, **x), "words", why)

    words_file("short", "not one byte for each id", {"de": np.ones(7, "u1")})
    words_file("floats", "not bytes", {"de": np.ones(8, "<f4")})
    words_file("checksum", "a wrong xxh3", words, xxh3="0" * 16)
    put("model/words/empty.safetensors", b"", "words", "an empty file")
    del two

    def sums(name, why, data):
        put(f"model/sum/{name}.sum", data, "sum", why)

    lines = summed({k: v for k, v in files.items() if k != "model.sum"}).decode().splitlines(True)
    sums("whole", "", "".join(lines).encode())
    sums("part", "", "".join(lines[:2]).encode())
    sums("empty", "empty", b"")
    sums("order", "names out of order", "".join(lines[1::-1] + lines[2:]).encode())
    sums("twice", "a name twice", "".join(lines[:1] + lines).encode())
    sums(
        "name",
        "a name that is none of a model's",
        "".join(lines).replace("codes", "coded").encode(),
    )
    sums("upper", "digits in upper case", "".join(lines).upper().replace("XXH3_", "XXH3_").encode())
    sums("one-space", "a line of another form", "".join(lines).replace("  ", " ").encode())
    sums("no-end", "a last line without its end", "".join(lines)[:-1].encode())
    sums(
        "missing",
        "a file that is missing",
        ("".join(lines) + "XXH3_0000000000000000  words.safetensors\n").encode(),
    )
    sums("other", "another checksum", "".join(lines).replace(lines[0][5:21], "0" * 16).encode())


# --- vectors, dictionaries, order models, FILE.sum ------------------------------------------------


def vectors():
    rows = b"a 1 -0.5\nb 0.1 3e-5\n\xc3\xa9 2 0\n"
    put("vectors/plain.vec", rows, "vectors")
    put("vectors/headed.vec", b"3 2\r\na b 1 2 \r\nb\t0.25 3\nc 1 1", "vectors")
    words, x = (b"a", b"\xc3\xa9"), np.array([[1, -2], [0.1, 3e-5]], "<f4")
    raw = [w + b" " + x[i].tobytes() for i, w in enumerate(words)]
    put("vectors/lines.bin", b"2 2\n" + raw[0] + b"\n" + raw[1] + b"\n", "vectors")
    put("vectors/dense.bin", b"2 2\n" + raw[0] + raw[1], "vectors")

    def npy(shape="(2, 2)", data=x.tobytes(), descr="<f4", order="False", version=b"\1\0"):
        h = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}"
        h = h.encode().ljust(117) + b"\n"
        return b"\x93NUMPY" + version + struct.pack("<H", len(h)) + h + data

    put("vectors/numbered.npy", npy(), "vectors")
    put("vectors/wide.npy", npy(descr="<f8", data=x.astype("<f8").tobytes()), "vectors")
    put("vectors/fortran.npy", npy(order="True"), "vectors")
    with open(os.path.join(OUT, "vectors/wide.npy.words"), "wb") as f:
        f.write(b"a\n\xc3\xa9\n")
    lines = np.frombuffer(b"a\n\xc3\xa9\n", "u1")
    put("vectors/named.safetensors", safetensors({"vectors": x, "words": lines}), "vectors")
    put("vectors/other.safetensors", safetensors({"table": x}), "vectors")

    def bad(name, why, data):
        put("vectors/bad/" + name, data, "vectors", why)

    bad("empty.vec", "no vectors", b"")
    bad("short.vec", "rows of another length", b"a 1 2\nb 1\n")
    bad("long.vec", "rows of another length", b"a 1 2\nb 1 2 3\n")
    bad("number.vec", "a field that is not a number", b"a 1 2x\n")
    bad("nan.vec", "a number that is not finite", b"a 1 nan\n")
    bad("inf.vec", "a number that is not finite", b"a 1 1e99\n")
    bad("utf-8.vec", "bytes that are not UTF-8", b"a\xff 1 2\n")
    bad("fewer.vec", "fewer rows than the first line says", b"3 2\na 1 2\nb 1 2\n")
    bad("more.vec", "more rows than the first line says", b"1 2\na 1 2\nb 1 2\n")
    bad("dimensions.vec", "more dimensions than there can be", b"1 99999999999\na 1\n")
    bad("line.vec", "an empty line", b"a 1 2\n\nb 1 2\n")
    bad("cut.bin", "a row that runs over the end", (b"2 2\n" + raw[0] + raw[1])[:-1])
    bad("fewer.bin", "fewer rows than the first line says", b"3 2\n" + raw[0] + raw[1])
    bad("behind.bin", "bytes behind the last row", b"2 2\n" + raw[0] + raw[1] + b"\nxy")
    bad("short.npy", "data of another size than the shape's", npy(data=x.tobytes()[:-4]))
    bad("long.npy", "data of another size than the shape's", npy(data=x.tobytes() + b"\0" * 4))
    bad("flat.npy", "not two dimensions", npy(shape="(4,)"))
    bad("none.npy", "no dimensions", npy(shape="(2, 0)", data=b""))
    bad("integers.npy", "a type other than floating point", npy(descr="<i4"))
    bad("version.npy", "a version other than 1 to 3", npy(version=b"\4\0"))
    bad("huge.npy", "a shape larger than the file", npy(shape="(4000000, 1000)"))
    bad("words.npy", "as many words as there are not rows", npy())
    with open(os.path.join(OUT, "vectors/bad/words.npy.words"), "wb") as f:
        f.write(b"a\n")
    one = safetensors({"vectors": x, "words": lines[:2]})
    bad("words.safetensors", "as many words as there are not rows", one)
    two = safetensors({"first": x, "second": x})
    bad("two.safetensors", "two tensors that could be the one", two)
    bad("checksum.safetensors", "a wrong xxh3", safetensors({"vectors": x}, xxh3="0" * 16))


def dictionaries():
    put("dict/scores", b"a\td\t1.5\nb\te\t-0.25\n", "dict")
    put("dict/spaces", b"a d\nb e\r\n", "dict")
    put("dict/scores-again", b"a\td\t1.5\nb\te\t-0.25\r\na\te", "scored")
    for form, name, data, why in (
        ("dict", "one", b"a\td\nb\n", "a line without a target"),
        ("dict", "source", b"a\td\n\te\n", "a line without a source"),
        ("dict", "utf-8", b"a\t\xff\n", "bytes that are not UTF-8"),
        ("scored", "tab", b"a d 1\n", "a line without a tab"),
        ("scored", "later", b"a\td\nb e\n", "a line without a tab"),
        ("scored", "word", b"a\td\tx\n", "a score that is not a number"),
        ("scored", "nan", b"a\td\tnan\n", "a score that is not finite"),
        ("scored", "large", b"a\td\t1e999\n", "a score that is not finite"),
        ("scored", "behind", b"a\td\t1\t2\n", "something behind the score"),
        ("scored", "known", b"x\ty\t1\na\ta\t1\n", "no line of two different known tokens"),
        ("scored", "empty", b"", "no line of two different known tokens"),
    ):
        put("dict/bad/" + name, data, form, why)


def orders():
    head = b"# isoglot order 1\n# labels ud2\n"
    put("order/example", head + b"N\tPRE_@_amod\t1.09861229\n", "order")
    put("order/nothing", head, "order")
    put("order/both", head + b"V\tBI_NOUN&nsubj_@VERB&@\t-1e-3\nN\tBTW_ADJ_DET\t2", "order")
    subtypes = head.replace(b"ud2", b"ud1") + b"N\tPRE_@_det:x\t1\n"
    put("order/subtypes", subtypes, "order")
    for name, data, why in (
        ("empty", b"", "another first line"),
        ("version", head.replace(b"1", b"2"), "another first line"),
        ("labels", head.replace(b"ud2", b"ud3"), "another label set"),
        ("one-line", head[:18], "another second line"),
        ("fields", head + b"N\tPRE_@_amod\n", "a line without three fields"),
        ("class", head + b"A\tPRE_@_amod\t1\n", "a class that is not known"),
        ("kind", head + b"N\tPST_@_amod\t1\n", "a kind that is not known"),
        ("label", head + b"N\tPRE_@_adj\t1\n", "a label that is not known"),
        ("three", head + b"N\tPRE_@_amod_det\t1\n", "another number of labels than the kind has"),
        ("weight", head + b"N\tPRE_@_amod\t1x\n", "a weight that is not a number"),
        ("inf", head + b"N\tPRE_@_amod\tinf\n", "a weight that is not finite"),
        ("twice", head + b"N\tPRE_@_amod\t1\n" * 2, "a feature that stands twice"),
    ):
        put("order/bad/" + name, data, "order", why)


def summed_texts():
    codes = b"t h 9274\nth e</w> 6342\n"
    line = b"XXH3_%016x  %s\n"

    def pair(name, why, sum_file, data=codes):
        put("sum/" + name, data, "summed", why)
        with open(os.path.join(OUT, "sum", name + ".sum"), "wb") as f:
            f.write(sum_file)

    good = line % (xxh3(codes), b"right")
    pair("right", "", good)
    pair("renamed", "", good)
    pair("changed", "another checksum", good, codes.replace(b"th e", b"th a"))
    pair("longer", "another checksum", good, codes + b"l o 1\n")
    pair("empty", "a FILE.sum that is not one line", b"")
    pair("two-lines", "a FILE.sum that is not one line", good + good)
    pair("no-end", "a FILE.sum that is not one line", good[:-1])
    pair("no-name", "no name", good[:23] + b"\n")
    pair("one-space", "one space", good.replace(b"  ", b" "))
    pair("upper", "digits in upper case", good.upper())
    pair("word", "another word than XXH3_", good.replace(b"XXH3_", b"XXH64"))
    pair("short", "fewer digits", good.replace(b"XXH3_", b"XXH3_")[:20] + b"  right\n")


def logs():
    def line(event, step, rest):
        return b'{"event":"%s","step":%d,"time":1763707260.125%s}\n' % (event, step, rest)

    one = line(b"train", 1, b',"mlm":5.25,"tokens":9007199254740993,"lr":1e-05')
    two = line(b"train", 2, b',"mlm":0.333333343,"tokens":18,"lr":2e-05')
    nan = line(b"nan", 13, b',"loss":null')
    put("log/example", line(b"train", 12, b',"loss":0.333333343') + nan, "log")
    put("log/events", one + line(b"valid", 2, b',"en.perplexity":7.5') + two, "log")
    put("log/unknown", one + line(b"later", 1, b',"why":"\\"\\u0007\\u20ac","x":2') + two, "log")
    put("log/repeated", two + one + two.replace(b"0.333333343", b"0.25"), "log")
    put("log/whole-only", one + two[:40] + b"\n" + two + one[:50], "log")
    behind = two[:-1] + one[:20] + b"\n"
    put("log/behind", one + behind, "log")
    put("log/twice", one + two.replace(b'"lr"', b'"mlm"'), "log")
    put("log/others", b'\n[1]\n7\nstep 1\n"event"\n{"event":3,"step":2,"mlm":1}\n' + one, "log")
    put("log/bytes", one + two.replace(b"train", b"tr\xffin"), "log")
    why = "no line that is a whole object with an event"
    put("log/bad/empty", b"", "log", why)
    put("log/bad/text", b"step 1: loss 3\n", "log", why)
    put("log/bad/torn", one[:-3], "log", why)
    put("log/bad/list", b"[" + one[:-1] + b"]\n", "log", why)
    put("log/bad/no-event", one.replace(b'"event":"train",', b""), "log", why)
    put("log/bad/behind", behind, "log", why)
    put("log/bad/no-step", one.replace(b'"step":1,', b""), "log", "no line with a step")


# --- files of the tasks, lists of n-grams, written batches ----------------------------------------


def pairs():
    def good(name, text, form="pairs"):
        put("tasks/" + name, text.encode(), form)

    def bad(name, why, text, form="pairs"):
        put("tasks/bad/" + name, text if isinstance(text, bytes) else text.encode(), form, why)

    sick = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
    good("sick", sick + "1\ta b\tc\t4.5\tNEUTRAL\n2\ta\té\t1\tENTAILMENT\n")
    xnli = "language\tgold_label\tsentence1\tsentence2\n"
    rows = "en\tneutral\ta\tb\nde\tcontradictory\tc\td\nde\t-\te\tf\nde\tentailment\tg\th"
    good("xnli", xnli + rows)
    good("xnli-mt", "premise\thypo\tlabel\na\tb\tcontradictory\nc\td\tneutral\n")
    good("hypothesis", "label\thypothesis\tpremise\nneutral\tb\ta\n")
    good("paws-x", "id\tsentence1\tsentence2\tlabel\n1\ta\tb\t0\n2\tc\td\t1\n")
    both = "label\tsentence1_en\tsentence2_en\tsentence1_de\tsentence2_de\n"
    good("columns", both + "neutral\ta\tb\tc\td\nentailment\te\tf\tg\th\n")
    good("no-language", "sentence1\tsentence2\tlabel\na\tb\tneutral\n")
    good("no-header", "a b\tc\tneutral\nd\te f\tcontradiction\n")
    good("mark", "\ufeffpremise\thypo\tlabel\r\na\tb\tneutral\r\n")
    quoted = '"a ""b"""\t"c"\tneutral\nd "e"\tf\tentailment\n'
    good("quotes", quoted)
    good("unquoted", quoted, "csv")
    good("lines", "neutral\nother\t0.5\nNEUTRAL\n", "lines")
    bad("few", "a row with too few columns", xnli + "de\tneutral\ta\n")
    bad("label", "an unknown label", "id\tsentence1\tsentence2\tlabel\n1\ta\tb\t0\n2\tc\td\t2\n")
    bad("class", "an unknown label", xnli + "de\tnot\ta\tb\n")
    bad("score", "a relatedness that is no number", sick + "1\ta\tb\t4,5\tNEUTRAL\n")
    bad("rows", "no row of the language", xnli + "en\tneutral\ta\tb\n")
    bad("column", "no column of the language", both.replace("_de", "_fr") + "neutral" + "\ta" * 4)
    bad("second", "no second sentence", "label\tsentence1\nneutral\ta\n")
    bad("header", "no example", xnli)
    bad("no-label", "no example with a label", xnli + "de\t-\ta\tb\n")
    bad("utf-8", "bytes that are not UTF-8", (xnli + "de\tneutral\ta\t").encode() + b"\xff\n")
    bad("nul", "a NUL", xnli + "de\tneutral\ta\t\0\n")
    bad("empty", "an empty file", "")
    with open(os.path.join(OUT, "tasks/both.en"), "wb") as f:
        f.write(b"a\nb c\n")
    with open(os.path.join(OUT, "tasks/bad/more.en"), "wb") as f:
        f.write(b"a\nb\nc\n")
    good("both.de", "d\r\né f", "parallel")
    bad("more.de", "another number of lines", "d\ne\n", "parallel")


def tree(*words):
    return "".join("\t".join(w.split()) + "\n" for w in words) + "\n"


def tagged():
    def good(name, text, form="tagged"):
        put("tasks/" + name, text.encode(), form)

    def bad(name, why, text):
        put("tasks/bad/" + name, text.encode(), "tagged", why)

    text = (
        "# sent_id = 1\n# text = im Haus\n"
        + tree(
            "1-2 im _ _ _ _ _ _ _ _",
            "1 in _ ADP _ _ 3 case _ _",
            "2 dem _ DET _ _ 3 det _ _",
            "3 Haus _ NOUN _ _ 0 root _ _",
            "3.1 leer _ NOUN _ _ _ _ _ _",
        )
        + tree(
            "1 ab _ VERB _ _ 0 root _ _",
            "2-3 cd _ _ _ _ _ _ _ _",
            "2 c _ DET _ _ 3 det _ _",
            "3 d _ PRON _ _ 1 obj _ _",
        )
        + tree("1 _ _ VERB _ _ 0 root _ _", "2 e _ NOUN _ _ 1 obj _ _")[:-1]
    )
    text = text.replace("\tab\t", "\ta b\t").replace("\tcd\t", "\tc\u200cd\t")
    good("conllu", text)
    good("fused", text, "fused")
    good("wikineural", "0\tAnna\tB-PER\n1\tgeht\tO\n\n0\tBonn\tB-LOC\n")
    good("panx", "de:Anna\tB-PER\nde:10:30\tO\n\nde::\tO\n")
    good("tags", "a b\tX\r\nc\tY\r\n\r\n\r\nd\tX\r\n")
    one = "1 a _ X _ _ 0 root _ _"
    bad("nine", "a line without ten columns", tree(one, "2 b _ X _ _ 1 dep _"))
    bad("number", "a number out of order", tree(one, "3 b _ X _ _ 1 dep _ _"))
    bad("upos", "an unknown tag", tree(one, "2 b _ Y _ _ 1 dep _ _"))
    two, range_ = "2 b _ X _ _ 1 dep _ _", "1-2 ab _ _ _ _ _ _ _ _"
    bad("overlap", "ranges that overlap", tree(range_, one, "2-3 b" + " _" * 8, two, "3" + two[1:]))
    bad("beyond", "a range that ends behind the sentence", tree(range_, one))
    bad("no-tag", "a word without a tag", "0\ta\tO\n1\tb\n")
    bad("empty-tag", "a word without a tag", "a\tO\nb\t\n")


def questions():
    def put_one(name, why, text):
        put("tasks/" + ("bad/" if why else "") + name, text.encode(), "questions", why)

    def squad(q, context="é Anna, Anna"):
        return {"data": [{"paragraphs": [{"context": context, "qas": q}]}]}

    one = {"id": "q1", "question": "wer?", "answers": [{"text": "Anna", "answer_start": 8}]}
    two = {"id": "2", "question": "was?", "answers": [], "is_impossible": True}
    off = {**one, "id": "off", "answers": [{"text": "Anna", "answer_start": 3}, {"text": "é"}]}
    put_one("squad", "", json.dumps(squad([one, {**one, "id": "q2"}]), ensure_ascii=False))
    put_one("squad2", "", json.dumps(squad([one, two]), indent=1) + "\n")
    put_one("squad-list", "", json.dumps(squad([one])["data"]))
    put_one("elsewhere", "", json.dumps(squad([off])))
    put_one("repeated", "", json.dumps(squad([one, one])))
    text = json.dumps(squad([one]))
    for name, why, data in (
        ("json", "not JSON", text[:-1]),
        ("key-twice", "a key twice", text.replace('"id"', '"id": "x", "id"')),
        ("behind", "something behind the value", text + "x"),
        ("escaped-nul", "a NUL", text.replace("wer", "w\\u0000r")),
        ("no-data", "no list of articles", '{"version": "1.1"}'),
        ("no-paragraphs", "an article without paragraphs", '{"data": [{"title": "a"}]}'),
        (
            "second-article",
            "an article without paragraphs",
            json.dumps({"data": squad([one])["data"] + [{"title": "a"}]}),
        ),
        ("no-context", "no context", text.replace("context", "text")),
        ("no-questions", "no list of questions", text.replace("qas", "qs")),
        ("id-number", "an id that is neither text nor a whole number",
         text.replace('"q1"', "1.5")),
        ("no-question", "no question", text.replace('"question"', '"q"')),
        ("answers", "answers that are no list", json.dumps(squad([{**one, "answers": {}}]))),
        ("no-text", "an answer without a text", json.dumps(squad([{**one, "answers": [{}]}]))),
        ("none", "no question at all", '{"data": []}'),
    ):
        put_one(name, why, data)
    put("tasks/answers", b'{"q1": "anna", "q2": ""}\n', "answers")
    for name, why, data in (
        ("empty-answers", "an empty file", b""),
        ("answers-list", "not an object", b'["Anna"]'),
        ("answers-twice", "a key twice", b'{"q1": "a", "q1": "b"}'),
        ("answers-number", "a prediction that is no string", b'{"q1": 1}'),
    ):
        put("tasks/bad/" + name, data, "answers", why)


def ngram_lists():
    text = b"2.302585\t11\ta b\n2.302585\t11\ta c\n-0.693147\t40\tb b\n3.000000\t12\ta b c\n"
    put("ngrams/list", text, "ngrams")
    put("ngrams/two", b"0.000000\t1\ta b\n", "ngrams")
    put("ngrams/pieces", b"a b\nb  c d \r\ne f e f e f e f\nx y\n", "pieces")
    for name, why, data in (
        ("uncut", "a tab", text),
        ("tab", "a tab", b"a b\nb c\td e\n"),
        ("one", "an n-gram of one word", b"a b\nc\n"),
        ("line", "an empty line", b"a b\n\n"),
        ("nothing", "no n-gram", b""),
        ("unknown", "no n-gram whose tokens are all known", b"a x\ny b\n"),
        ("utf-8", "bytes that are not UTF-8", b"a b\nb \xff\n"),
    ):
        put("ngrams/bad/" + name, data, "pieces", why)


def batches():
    def ints(*v):
        return np.array(v, "<i4")

    def floats(*v):
        return np.array(v, "<f4")

    rows = {
        "token": ints(0, 4, 6, 1, 0, 7, 4, 1),
        "pos": ints(0, 1, 2, 3, 0, 1, 2, 3),
        "lang": ints(0, 0, 0, 0, 1, 1, 1, 1),
        "at": ints(0, 4, 8),
        "sample": np.array([0, 1 << 40], "<u8"),
        "weight": floats(0.5),
    }
    mlm = {
        "original": ints(0, 5, 6, 1, 0, 5, 7, 1),
        "row": ints(1, 5, 6),
        "target": ints(5, 5, 7),
        "original_lang": rows["lang"],
        "unit": ints(0, 1, 2),
        "masked": np.array([1, 0, 1], "u1"),
    }
    gc = {
        "row": ints(1, 6),
        "neighbour.row": np.array([[-1, 2], [5, -1]], "<i4"),
        "f": np.array([[0, 0.25], [1, 0]], "<f4"),
        "log_x": np.array([[0, -0.5], [2, 0]], "<f4"),
        "dot_factor": floats(0.5),
        "sum_factor": floats(0.25),
        "weight": floats(0.125),
    }
    for name, tensors in (("mlm", {**rows, **mlm}), ("gc", gc)):
        meta = {"step": "1", "micro_batch": "2", "objective": name}
        data = safetensors(tensors, meta=meta)
        put(f"batches/step-1.2.{name}.safetensors", data, "batch")


def main():
    for name in FOLDERS:
        shutil.rmtree(os.path.join(OUT, name), ignore_errors=True)
    shards()
    coocs()
    texts()
    models()
    vectors()
    dictionaries()
    orders()
    summed_texts()
    logs()
    pairs()
    tagged()
    questions()
    ngram_lists()
    batches()
    with open(os.path.join(OUT, "list.tsv"), "w") as f:
        f.write("file\tformat\tverdict\twhy\n")
        f.writelines("\t".join(row) + "\n" for row in LIST)


main()
