"""A reader of .cooc files written from docs/formats/cooc.md alone, without our code. Prints what `cooc-query --dump --counts` prints
for each language. Checksums are compared where the module xxhash is installed."""
import struct
import sys

try:
    from xxhash import xxh3_64_intdigest as xxh3
except ImportError:
    xxh3 = None


def need(ok, what):
    if not ok:
        sys.exit(f"{sys.argv[1]}: {what}")


def check(data, want, what, bits=64):
    if xxh3:
        need(xxh3(data) & (1 << bits) - 1 == want, f"checksum of {what}")


def varint(b, at):
    value = shift = 0
    while True:
        value |= (b[at] & 127) << shift
        if b[at] < 128:
            return value, at + 1
        shift += 7
        at += 1


def main():
    b = open(sys.argv[1], "rb").read()
    need(b[:8] == b"ISGCOOC\n" and b[-8:] == b"ISGCEND\n", "magic")
    version, header, window, weights, sides, oov, zero, unit, ids, most, vocab_hash, vocab_bytes = struct.unpack_from("<IIIBBBBQIIQQ", b, 8)
    need(version in (1, 2) and header == 128 and most == 128 and zero == 0, "header")
    check(b[:120], struct.unpack_from("<Q", b, 120)[0], "header")
    tokens = b[128:128 + vocab_bytes]
    check(tokens, vocab_hash, "vocabulary")
    if version == 2:
        skip_hash, skip_bytes = struct.unpack_from("<QQ", b, 56)
        skip = b[128 + vocab_bytes:128 + vocab_bytes + skip_bytes]
        check(skip, skip_hash, "skipped tokens")
        lines = skip.split(b"\n")
        need(skip_bytes and lines.pop() == b"" and b"" not in lines
             and lines == sorted(set(lines)), "skipped tokens")
        need(not any(b[72:120]), "header")
    words = [None] * 5 + tokens.decode().split("\n")[:-1]
    need(len(words) == ids, "ids")
    directory_at, planes, _, ref, directory_hash = struct.unpack_from("<QII32sQ", b, len(b) - 64)
    check(b[directory_at:directory_at + 160 * planes] + b[-64:-16], directory_hash, "directory")
    for k in range(planes):
        (lang, sentences, n_tokens, unknown, pairs, rows, largest, low, high, blocks_at, blocks_bytes, index_at, blocks, index_hash,
         counts_at, counts_bytes, counts_hash) = struct.unpack_from("<32s16Q", b, directory_at + 160 * k)
        check(b[index_at:index_at + 24 * blocks], index_hash, "index")
        check(b[counts_at:counts_at + counts_bytes], counts_hash, "token counts")
        seen = total = top = 0
        row_set = set()
        for i in range(blocks):
            first_row, first_col, offset, block_hash, n, size = struct.unpack_from("<IIQIHH", b, index_at + 24 * i)
            at, end = blocks_at + offset, blocks_at + offset + size
            check(b[at:end], block_hash, "a block", 32)
            row = col = 0
            for j in range(n):
                v, at = varint(b, at)
                if v & 1:
                    row += v >> 1
                    col, at = varint(b, at)
                else:
                    col += v >> 1
                need(j or (row, col) == (first_row, first_col), "a block's first pair")
                count, at = varint(b, at)
                print(f"{words[row]}\t{words[col]}\t{count}")
                seen, total, top = seen + 1, total + count, max(top, count)
                row_set.add(row)
            need(at == end, "a block's length")
        need((seen, len(row_set), top, total) == (pairs, rows, largest, high << 64 | low), "the directory's totals")
        times, at = 0, counts_at
        for _ in range(5, ids):
            v, at = varint(b, at)
            times += v
        need(at == counts_at + counts_bytes and times + unknown == n_tokens, "token counts")


main()
