/* How pairs become bytes, in .cooc blocks and in runs on disk alike (docs/formats/cooc.md,
 * "Blocks").
 *
 * Pairs are sorted by row, then column. Each is LEB128 numbers: (column - previous column) * 2 in
 * the same row, or (row - previous row) * 2 + 1 and then the column in a new one; then the count. A
 * block begins with previous row 0 and its first pair always opens a row, so a block is read
 * without its neighbours. */
#ifndef COOC_PAIRS_H
#define COOC_PAIRS_H
#include <string.h>
#include "common/bytes.h"
#include "lib/cooc/cooc.h"

static inline unsigned char *varint_put(unsigned char *p, uint64_t v)
{
    while (v >= 128) { *p++ = (unsigned char)(v | 128); v >>= 7; }
    *p++ = (unsigned char)v;
    return p;
}

/* The bytes after the number, or NULL: it runs past end, is longer than 64 bits, or has a zero byte
 * too many. */
const unsigned char *pairs_varint(const unsigned char *p, const unsigned char *end, uint64_t *v);
static inline const unsigned char *varint_get(const unsigned char *p, const unsigned char *end,
                                              uint64_t *v)
{
    if (p < end && *p < 128) { *v = *p; return p + 1; }
    return pairs_varint(p, end, v);
}

enum { PAIR_BYTES = 5 + 5 + 9 };       /* the most that one pair takes */

struct pair_state { uint32_t row, col; bool started; };
static inline unsigned char *pair_put(unsigned char *p, struct pair_state *s, uint32_t row,
                                      uint32_t col, uint64_t count)
{
    if (s->started && row == s->row) p = varint_put(p, (uint64_t)(col - s->col) << 1);
    else {
        p = varint_put(p, (uint64_t)(row - s->row) << 1 | 1);
        p = varint_put(p, col);
    }
    *s = (struct pair_state){ row, col, true };
    return varint_put(p, count);
}

/* Decodes n pairs that take exactly the bytes from p to end. -1 (no message): the bytes break a
 * rule: order, ids outside [VOCAB_SPECIALS, ids), a column below its row where triangle is set, a
 * count of 0 or above COOC_MAX_COUNT. */
int pairs_decode(const unsigned char *p, const unsigned char *end, uint32_t n, uint32_t ids,
                 bool triangle, uint32_t *row, uint32_t *col, uint64_t *count);

/* An index entry, 24 bytes: first row and column u32, offset from the plane's start u64, checksum
 * u32 (low half of the XXH3-64 of its bytes), pairs u16, bytes u16. */
enum { INDEX_ENTRY = 24 };
struct cooc_block { uint32_t row, col; uint64_t at; uint32_t check; uint32_t pairs, bytes; };
static inline struct cooc_block index_get(const unsigned char *p)
{
    return (struct cooc_block){ get32(p),      get32(p + 4),  get64(p + 8),
                                get32(p + 16), get16(p + 20), get16(p + 22) };
}

/* The offsets of their fields are in the specification. */
enum { HEADER_BYTES = 128, DIRECTORY_ENTRY = 160, FOOTER_BYTES = 64, FORMAT_VERSION = 2 };
/* A file without skipped tokens is written as version 1, which has no field for them: its bytes
 * are those of old. */
enum { FORMAT_WITHOUT_SKIP = 1 };
#define COOC_MAGIC "ISGCOOC\n"
#define COOC_END   "ISGCEND\n"

/* Rows are cut into groups that are counted, merged and written side by side. The 64 most frequent
 * words are a group each; after that a group doubles in size from one octave of ids to the next (32
 * groups an octave), so that under Zipf's law groups hold about equal mass. The cut depends on ids
 * alone; a block never spans two groups. */
static inline uint32_t group_of(uint32_t id)
{
    uint32_t i = id - VOCAB_SPECIALS;
    if (i < 64) return i;
    uint32_t octave = 31 - (uint32_t)__builtin_clz(i);
    return 64 + (octave - 6) * 32 + ((i - (1u << octave)) >> (octave - 5));
}
/* its first id; u64, for the group after the last */
static inline uint64_t group_first(uint32_t g)
{
    if (g < 64) return (uint64_t)g + VOCAB_SPECIALS;
    uint32_t octave = 6 + (g - 64) / 32;
    return ((uint64_t)1 << octave) + ((uint64_t)((g - 64) % 32) << (octave - 5)) + VOCAB_SPECIALS;
}
/* The number of groups that ids below `ids` need. */
static inline uint32_t group_count(uint32_t ids)
{
    return ids > VOCAB_SPECIALS ? group_of(ids - 1) + 1 : 0;
}

#endif
