/* Words of a text: what stands between spaces and newlines, as fastBPE and subword-nmt have it;
 * tabs and other blanks are part of words. */
#ifndef BPE_SCAN_H
#define BPE_SCAN_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL
#endif
#include <xxhash.h>
#include "common/bytes16.h"
#include "common/text/key16.h"

static inline int is_break(char c) { return c == ' ' || c == '\n'; }
#ifdef BYTES16
static inline bytes16 breaks16(const char *s)
{
    bytes16 v = bytes16_load(s);
    return bytes16_or(bytes16_is(v, ' '), bytes16_is(v, '\n'));
}
#endif

/* The index of the first space or newline of s[0..n), n if there is none. */
static inline size_t word_end(const char *s, size_t n)
{
    size_t i = 0;
#ifdef BYTES16
    for (; i + 16 <= n; i += 16) {
        int k = bytes16_first(breaks16(s + i));
        if (k < 16) return i + (size_t)k;
    }
#endif
    while (i < n && !is_break(s[i])) i++;
    return i;
}

/* Words lie close together, so their ends are found for 64 bytes at once:
 *   for (const char *word = s; s <= end; s += SCAN)
 *       for (uint64_t m = breaks_of(s, end); m; m &= m - 1)
 *           ... the word from `word`, which may be empty, ends at s + __builtin_ctzll(m) ...
 * SCAN bytes after `end` are read; what they are does not matter. */
enum { SCAN = 64 };

/* Which of s[0..SCAN) are spaces, newlines or `end`, a bit each; none after that. */
static inline uint64_t breaks_of(const char *s, const char *end)
{
#ifdef BYTES16
    uint64_t m = bytes16_bits(breaks16(s), breaks16(s + 16), breaks16(s + 32), breaks16(s + 48));
#else
    uint64_t m = 0;
    for (int i = 0; i < SCAN; i++) m |= (uint64_t)is_break(s[i]) << i;
#endif
    if (end - s >= SCAN) return m;
    uint64_t at_end = 1ull << (end - s);
    return (m & (at_end - 1)) | at_end;
}

/* memcmp(a, b, n) == 0, without a call for short words */
static inline int word_same(const char *a, const char *b, size_t n)
{
    struct key16 x = key16_of(a, n), y = key16_of(b, n);
    if (((x.first ^ y.first) | (x.last ^ y.last)) != 0) return 0;
    return n <= KEY16 || memcmp(a + KEY16, b + KEY16, n - KEY16) == 0;
}

static inline uint64_t word_hash_of(struct key16 k, const char *s, size_t n)
{
    if (n > KEY16) return XXH3_64bits(s, n);
    unsigned __int128 m = (unsigned __int128)(k.first ^ 0x2D358DCCAA6C78A5u ^ n)
                          * (k.last ^ 0x8BB84B93962EACC9u);
    return ((uint64_t)m ^ (uint64_t)(m >> 64)) * 0x9E3779B97F4A7C15u;
}

/* For tables in memory only: never part of a file's bytes. */
static inline uint64_t word_hash(const char *s, size_t n)
{
    return word_hash_of(key16_of(s, n), s, n);
}

#endif
