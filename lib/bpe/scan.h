/* Words of a text: what stands between spaces and newlines, as fastBPE and subword-nmt have it;
 * tabs and other blanks are part of words. */
#ifndef BPE_SCAN_H
#define BPE_SCAN_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif
#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL
#endif
#include <xxhash.h>

static inline int is_break(char c) { return c == ' ' || c == '\n'; }

/* The index of the first space or newline of s[0..n), n if there is none. */
static inline size_t word_end(const char *s, size_t n)
{
    size_t i = 0;
#ifdef __SSE2__
    const __m128i space = _mm_set1_epi8(' '), newline = _mm_set1_epi8('\n');
    for (; i + 16 <= n; i += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(s + i));
        int m = _mm_movemask_epi8(
            _mm_or_si128(_mm_cmpeq_epi8(v, space), _mm_cmpeq_epi8(v, newline)));
        if (m) return i + (size_t)__builtin_ctz((unsigned)m);
    }
#endif
    while (i < n && !is_break(s[i])) i++;
    return i;
}

/* memcmp(...) == 0 for n > 0, without a call for short words. */
static inline int word_same(const char *a, const char *b, size_t n)
{
    if (n > 16) return memcmp(a, b, n) == 0;
    if (n >= 8) {
        uint64_t x, y, z, w;
        memcpy(&x, a, 8); memcpy(&y, b, 8); memcpy(&z, a + n - 8, 8); memcpy(&w, b + n - 8, 8);
        return ((x ^ y) | (z ^ w)) == 0;
    }
    if (n >= 4) {
        uint32_t x, y, z, w;
        memcpy(&x, a, 4); memcpy(&y, b, 4); memcpy(&z, a + n - 4, 4); memcpy(&w, b + n - 4, 4);
        return ((x ^ y) | (z ^ w)) == 0;
    }
    return a[0] == b[0] && a[n / 2] == b[n / 2] && a[n - 1] == b[n - 1];
}

/* For tables in memory only: never part of a file's bytes. */
static inline uint64_t word_hash(const char *s, size_t n)
{
    uint64_t a = 0, b = 0;
    if (n > 16) return XXH3_64bits(s, n);
    if (n >= 8) { memcpy(&a, s, 8); memcpy(&b, s + n - 8, 8); }
    else if (n >= 4) { uint32_t x, y; memcpy(&x, s, 4); memcpy(&y, s + n - 4, 4); a = x; b = y;
    } else {
        a = (unsigned char)s[0];
        b = (uint64_t)(unsigned char)s[n / 2] << 8 | (unsigned char)s[n - 1];
    }
    unsigned __int128 m = (unsigned __int128)(a ^ 0x2D358DCCAA6C78A5u ^ n)
                          * (b ^ 0x8BB84B93962EACC9u);
    return ((uint64_t)m ^ (uint64_t)(m >> 64)) * 0x9E3779B97F4A7C15u;
}

#endif
