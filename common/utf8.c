/* UTF-8 by RFC 3629. */
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif
#include "common/bytes16.h"
#include "common/mem.h"
#include "common/utf8.h"

#if defined __x86_64__ || (defined BYTES16 && defined __aarch64__)
#define BLOCKS
#endif

/* Bytes of the valid sequence at s (n > 0 left), 0 if there is none. */
static size_t sequence(const unsigned char *s, size_t n)
{
    unsigned char c = s[0];
    if (c < 0x80) return 1;
    /* C0 and C1 could only begin overlong forms, F5 and above only numbers beyond Unicode's. */
    if (c < 0xC2 || c > 0xF4) return 0;
    size_t need = c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    if (n < need) return 0;
    /* the second byte carries the restrictions: no overlong forms, no surrogates, nothing above
     * U+10FFFF */
    unsigned char lo = c == 0xE0   ? 0xA0
                       : c == 0xF0 ? 0x90
                                   : 0x80,
                  hi = c == 0xED   ? 0x9F
                       : c == 0xF4 ? 0x8F
                                   : 0xBF;
    if (s[1] < lo || s[1] > hi) return 0;
    for (size_t i = 2; i < need; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    return need;
}

static size_t check_scalar(const unsigned char *s, size_t i, size_t n)
{
    while (i < n) {
        if (n - i >= 32) {                   /* 32 ASCII bytes at once: most text */
            uint64_t w[4];
            memcpy(w, s + i, sizeof w);
            if (!((w[0] | w[1] | w[2] | w[3]) & 0x8080808080808080u)) { i += 32; continue; }
        }
        size_t end = n - i < 32 ? n : i + 32;
        while (i < end) {
            size_t k = sequence(s + i, n - i);
            if (!k) return i;
            i += k;
        }
    }
    return n;
}

#ifdef BLOCKS
/* 32 bytes (NEON: 16) at once by three table look-ups (Keiser and Lemire 2021, "Validating UTF-8
 * in less than one instruction per byte"): the upper and lower half of each byte and the upper half
 * of its successor name the errors that the pair may be; a bit in all three is one. Which bytes
 * must be the third or fourth of a sequence follows from those two and three before. */

enum {
    TOO_SHORT = 1, TOO_LONG = 2, OVERLONG_3 = 4, TOO_LARGE = 8, SURROGATE = 16, OVERLONG_2 = 32,
    TOO_LARGE_1000 = 64, OVERLONG_4 = 64, TWO_CONTINUATIONS = 128,
    CARRY = TOO_SHORT | TOO_LONG | TWO_CONTINUATIONS, LARGE = CARRY | TOO_LARGE | TOO_LARGE_1000,
};
enum { CONT = TOO_LONG | OVERLONG_2 | TWO_CONTINUATIONS };
static const unsigned char first_high_of[16] = {
    TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG,
    TWO_CONTINUATIONS, TWO_CONTINUATIONS, TWO_CONTINUATIONS, TWO_CONTINUATIONS,
    TOO_SHORT | OVERLONG_2, TOO_SHORT, TOO_SHORT | OVERLONG_3 | SURROGATE,
    TOO_SHORT | TOO_LARGE | TOO_LARGE_1000 | OVERLONG_4,
};
static const unsigned char first_low_of[16] = {
    CARRY | OVERLONG_3 | OVERLONG_2 | OVERLONG_4, CARRY | OVERLONG_2, CARRY, CARRY,
    CARRY | TOO_LARGE, LARGE, LARGE, LARGE, LARGE, LARGE, LARGE, LARGE, LARGE, LARGE | SURROGATE,
    LARGE, LARGE,
};
static const unsigned char second_high_of[16] = {
    TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT,
    CONT | OVERLONG_3 | TOO_LARGE_1000 | OVERLONG_4, CONT | OVERLONG_3 | TOO_LARGE,
    CONT | SURROGATE | TOO_LARGE, CONT | SURROGATE | TOO_LARGE, TOO_SHORT, TOO_SHORT, TOO_SHORT,
    TOO_SHORT,
};
#endif

#ifdef __x86_64__
#define TABLE(of) _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)(of)))

__attribute__((target("avx2")))
static __m256i errors_of(__m256i now, __m256i before)
{
    const __m256i low = _mm256_set1_epi8(15);
    const __m256i first_high = TABLE(first_high_of), first_low = TABLE(first_low_of);
    const __m256i second_high = TABLE(second_high_of);
    /* AVX2 shifts within halves of 16 bytes: the one before is put beside each */
    __m256i across = _mm256_permute2x128_si256(before, now, 0x21);
    __m256i prev1 = _mm256_alignr_epi8(now, across, 15),
            prev2 = _mm256_alignr_epi8(now, across, 14);
    __m256i prev3 = _mm256_alignr_epi8(now, across, 13);
    __m256i special = _mm256_and_si256(
        _mm256_and_si256(
            _mm256_shuffle_epi8(first_high, _mm256_and_si256(_mm256_srli_epi16(prev1, 4), low)),
            _mm256_shuffle_epi8(first_low, _mm256_and_si256(prev1, low))),
        _mm256_shuffle_epi8(second_high, _mm256_and_si256(_mm256_srli_epi16(now, 4), low)));
    /* saturating: only leads of three bytes and more keep the top bit */
    __m256i third = _mm256_subs_epu8(prev2, _mm256_set1_epi8((char)(0xE0 - 0x80)));
    __m256i fourth = _mm256_subs_epu8(prev3, _mm256_set1_epi8((char)(0xF0 - 0x80)));
    __m256i must = _mm256_and_si256(_mm256_or_si256(third, fourth), _mm256_set1_epi8((char)0x80));
    return _mm256_xor_si256(must, special);
}

/* Returns where the first block with an error begins, or what is left at the end; a sequence may
 * reach into it. */
__attribute__((target("avx2")))
static size_t valid_blocks(const unsigned char *s, size_t n)
{
    __m256i before = _mm256_setzero_si256();
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        __m256i now = _mm256_loadu_si256((const __m256i *)(const void *)(s + i));
        /* ASCII, and nothing before it that it would have to complete. */
        if (!_mm256_movemask_epi8(_mm256_or_si256(now, before))) { before = now; continue; }
        __m256i bad = errors_of(now, before);
        if (!_mm256_testz_si256(bad, bad)) break;
        before = now;
    }
    return i;
}

#elif defined BLOCKS
static uint8x16_t errors_of(uint8x16_t now, uint8x16_t before)
{
    const uint8x16_t low = vdupq_n_u8(15);
    uint8x16_t prev1 = vextq_u8(before, now, 15), prev2 = vextq_u8(before, now, 14),
               prev3 = vextq_u8(before, now, 13);
    uint8x16_t special = vandq_u8(
        vandq_u8(vqtbl1q_u8(vld1q_u8(first_high_of), vshrq_n_u8(prev1, 4)),
                 vqtbl1q_u8(vld1q_u8(first_low_of), vandq_u8(prev1, low))),
        vqtbl1q_u8(vld1q_u8(second_high_of), vshrq_n_u8(now, 4)));
    uint8x16_t third = vqsubq_u8(prev2, vdupq_n_u8(0xE0 - 0x80)),
               fourth = vqsubq_u8(prev3, vdupq_n_u8(0xF0 - 0x80));
    return veorq_u8(vandq_u8(vorrq_u8(third, fourth), vdupq_n_u8(0x80)), special);
}

static size_t valid_blocks(const unsigned char *s, size_t n)
{
    uint8x16_t before = vdupq_n_u8(0);
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        uint8x16_t now = vld1q_u8(s + i);
        if (vmaxvq_u8(vorrq_u8(now, before)) >= 0x80 && vmaxvq_u8(errors_of(now, before))) break;
        before = now;
    }
    return i;
}
#endif

#ifdef BLOCKS
static size_t check_blocks(const unsigned char *s, size_t n)
{
    size_t i = valid_blocks(s, n);
    /* A sequence that begins before the end of the blocks is left to the scalar check. */
    if (i >= 1 && s[i - 1] >= 0xC0) i -= 1;
    else if (i >= 2 && s[i - 2] >= 0xE0) i -= 2;
    else if (i >= 3 && s[i - 3] >= 0xF0) i -= 3;
    return i;
}
#endif

size_t utf8_check(const char *text, size_t n)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t i = 0;
#if defined __x86_64__
    if (n >= 64 && __builtin_cpu_supports("avx2")) i = check_blocks(s, n);
#elif defined BLOCKS
    if (n >= 64) i = check_blocks(s, n);
#endif
    return check_scalar(s, i, n);
}

uint32_t utf8_get(const char *text, size_t n, int *len)
{
    const unsigned char *s = (const unsigned char *)text;
    (void)n;
    if (s[0] < 0x80) { *len = 1; return s[0]; }
    if (s[0] < 0xE0) { *len = 2; return (s[0] & 31u) << 6 | (s[1] & 63u); }
    if (s[0] < 0xF0) { *len = 3; return (s[0] & 15u) << 12 | (s[1] & 63u) << 6 | (s[2] & 63u); }
    *len = 4;
    return (s[0] & 7u) << 18 | (s[1] & 63u) << 12 | (s[2] & 63u) << 6 | (s[3] & 63u);
}

int utf8_put(uint32_t c, char *out)
{
    if (c < 0x80) { out[0] = (char)c; return 1; }
    if (c < 0x800) { out[0] = (char)(0xC0 | c >> 6); out[1] = (char)(0x80 | (c & 63)); return 2; }
    if (c < 0x10000) {
        out[0] = (char)(0xE0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 63));
        out[2] = (char)(0x80 | (c & 63));
        return 3;
    }
    out[0] = (char)(0xF0 | c >> 18); out[1] = (char)(0x80 | (c >> 12 & 63));
    out[2] = (char)(0x80 | (c >> 6 & 63)); out[3] = (char)(0x80 | (c & 63));
    return 4;
}

/* Bytes that one U+FFFD replaces: the longest start of a valid sequence, or 1 (Unicode 15,
 * section 3.9, U+FFFD practice). */
static size_t bad_part(const char *s, size_t n)
{
    const unsigned char *p = (const unsigned char *)s;
    size_t k = 1;
    if (p[0] < 0xC2 || p[0] > 0xF4) return 1;
    size_t need = p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    unsigned char lo = p[0] == 0xE0   ? 0xA0
                       : p[0] == 0xF0 ? 0x90
                                      : 0x80,
                  hi = p[0] == 0xED   ? 0x9F
                       : p[0] == 0xF4 ? 0x8F
                                      : 0xBF;
    /* Only the second byte has narrower bounds: they exclude overlong forms, surrogates and what
     * lies above U+10FFFF. */
    while (k < need && k < n && p[k] >= lo && p[k] <= hi) { k++; lo = 0x80; hi = 0xBF; }
    return k;
}

size_t utf8_replace(char **to, size_t *cap, const char *s, size_t n)
{
    size_t out = 0;
    for (size_t i = 0; i < n; ) {
        size_t good = utf8_check(s + i, n - i);
        mem_room(to, cap, out + good + 4, 1);
        memcpy(*to + out, s + i, good);
        out += good;
        i += good;
        if (i == n) break;
        memcpy(*to + out, "\xEF\xBF\xBD", 3);
        out += 3;
        i += bad_part(s + i, n - i);
    }
    mem_room(to, cap, out + 1, 1);
    (*to)[out] = 0;
    return out;
}
