#!/usr/bin/env python3
"""Reads shards, co-occurrence counts and logs, as cooc.md, shard.md and log.md describe them, with
NumPy and nothing of isoglot; checksums are not looked at. read.py FILE prints what a file gives."""
import json
import struct
import subprocess
import sys
import numpy as np


def varints(b):
    """The LEB128 numbers in an array of bytes, and where each begins."""
    ends = np.flatnonzero(b < 128)
    starts = np.concatenate(([0], ends[:-1] + 1)).astype(np.int64)[:len(ends)]
    shift = 7 * (np.arange(len(b)) - np.repeat(starts, ends - starts + 1))
    return np.add.reduceat((b & 127).astype(np.int64) << shift, starts) if len(b) else ends, starts


def cooc(path):
    """words, unit, {language: (row, column, count)}: X = count / unit; rows are numbers of words.
    Symmetric counts have each pair once."""
    b = np.fromfile(path, np.uint8)
    assert bytes(b[:8]) == b"ISGCOOC\n" and bytes(b[-8:]) == b"ISGCEND\n", f"{path}: no .cooc"
    unit, vocab = struct.unpack_from("<Q", b, 24)[0], struct.unpack_from("<Q", b, 48)[0]
    at, planes = struct.unpack_from("<QI", b, len(b) - 64)
    found = {}
    for plane in range(at, at + 160 * planes, 160):
        begin, size, index_at, n = struct.unpack_from("<4Q", b, plane + 96)
        index = np.frombuffer(b, "<u4, <u4, <u8, <u4, <u2, <u2", n, index_at)
        value, starts = varints(b[begin:begin + size])
        place, pairs = np.searchsorted(starts, index["f2"]), index["f4"].astype(np.int64)
        first, row, column = np.cumsum(pairs) - pairs, np.zeros(n, np.int64), np.zeros(n, np.int64)
        out = np.zeros((3, pairs.sum()), np.int64)
        for k in range(pairs.max(initial=0)):           # the k-th pair of every block that has one
            i = np.flatnonzero(pairs > k)
            step, new = value[place[i]] >> 1, value[place[i]] & 1
            row[i] += step * new
            column[i] = np.where(new, value[place[i] + new], column[i] + step)
            out[:, first[i] + k] = row[i] - 5, column[i] - 5, value[place[i] + new + 1]
            place[i] += 2 + new
        found[bytes(b[plane:plane + 32]).split(b"\0")[0].decode()] = tuple(out)
    return bytes(b[128:128 + vocab]).decode().split("\n")[:-1], unit, found


def unpacked(data):
    """A zstd frame: by Python 3.14, else by the zstd command."""
    try:
        from compression.zstd import decompress
    except ImportError:
        return subprocess.run(["zstd", "-dcq"], input=data, capture_output=True, check=True).stdout
    return decompress(data)


def shard(path):
    """ids, offsets: sentence i is ids[offsets[i]:offsets[i + 1]]; 5 + k is the vocabulary's line k."""
    b = open(path, "rb").read()
    assert b[:8] == b"ISGSHRD\n" and b[-8:] == b"ISGSEND\n", f"{path}: no shard"
    width, (at, blocks) = b[12], struct.unpack_from("<QQ", b, len(b) - 64)
    lengths, ids = [np.zeros(1, np.int64)], [np.zeros(0, f"<u{width}")]
    for block in range(at + 16, at + 16 + 24 * blocks, 24):
        begin, = struct.unpack_from("<Q", b, block)
        sentences, _, size = struct.unpack_from("<3I", b, begin + 4)
        data = unpacked(b[begin + 40:begin + 40 + size])
        lengths.append(np.frombuffer(data, "<u4", sentences))
        ids.append(np.frombuffer(data, f"<u{width}", offset=4 * sentences))
    return np.concatenate(ids), np.cumsum(np.concatenate(lengths))


def log(path):
    """{(event, step): fields} of log.jsonl; lines that are not whole are passed over."""
    def once(pairs):
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a name twice")
        return dict(pairs)
    found = {}
    for line in open(path, "rb"):
        try:
            x = json.loads(line.decode(), object_pairs_hook=once, parse_constant=int)
            if type(x["event"]) is str and type(x["step"]) in (int, float):
                found.setdefault((x["event"], x["step"]), {}).update(x)
        except (ValueError, KeyError, TypeError):
            continue
    return found


def main(path):
    kind = open(path, "rb").read(8)
    if kind == b"ISGCOOC\n":
        words, unit, planes = cooc(path)
        for lang, pairs in planes.items():
            for i, j, n in zip(*pairs):
                print(lang or "-", words[i], words[j], n, sep="\t")
    elif kind == b"ISGSHRD\n":
        ids, offsets = shard(path)
        for i, j in zip(offsets, offsets[1:]):
            print(*ids[i:j])
    else:
        found = log(path)
        if not found:
            raise ValueError("neither counts nor a shard nor a log")
        for (event, step), fields in found.items():
            for name, x in fields.items():
                if name not in ("step", "time") and type(x) in (int, float):
                    print(event, step, name, "%.9g" % x, sep="\t")


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except (OSError, ValueError, AssertionError, IndexError, struct.error) as e:
        sys.exit(f"read.py: {sys.argv[1]}: cannot be read, is it whole? ({e})")
