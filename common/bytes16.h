/* 16 bytes at once, where the processor's base has vectors (SSE2, NEON): which of them are what, as
 * bits. BYTES16 says that it has; code for other processors stands next to each use. */
#ifndef COMMON_BYTES16_H
#define COMMON_BYTES16_H
#include <stdint.h>

#if defined __SSE2__
#define BYTES16
#include <emmintrin.h>
typedef __m128i bytes16;
static inline bytes16 bytes16_load(const char *s)
{
    return _mm_loadu_si128((const __m128i *)(const void *)s);
}
/* all ones where the byte is c */
static inline bytes16 bytes16_is(bytes16 v, char c)
{
    return _mm_cmpeq_epi8(v, _mm_set1_epi8(c));
}
static inline bytes16 bytes16_or(bytes16 a, bytes16 b) { return _mm_or_si128(a, b); }
/* all ones where it is above `low` and below `high`, as signed bytes */
static inline bytes16 bytes16_between(bytes16 v, char low, char high)
{
    return _mm_and_si128(_mm_cmpgt_epi8(v, _mm_set1_epi8(low)),
                         _mm_cmplt_epi8(v, _mm_set1_epi8(high)));
}
static inline bytes16 bytes16_with(bytes16 v, char bits)
{
    return _mm_or_si128(v, _mm_set1_epi8(bits));
}
/* of bytes that are all ones or 0: the index of the first that is 0, or that is not; 16: none */
static inline int bytes16_first_not(bytes16 v)
{
    return __builtin_ctz(~(unsigned)_mm_movemask_epi8(v));
}
static inline int bytes16_first(bytes16 v)
{
    return __builtin_ctz((unsigned)_mm_movemask_epi8(v) | 1u << 16);
}
/* of 64 such bytes: a bit each */
static inline uint64_t bytes16_bits(bytes16 a, bytes16 b, bytes16 c, bytes16 d)
{
    return (uint64_t)(unsigned)_mm_movemask_epi8(a)
           | (uint64_t)(unsigned)_mm_movemask_epi8(b) << 16
           | (uint64_t)(unsigned)_mm_movemask_epi8(c) << 32
           | (uint64_t)(unsigned)_mm_movemask_epi8(d) << 48;
}

#elif defined __aarch64__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define BYTES16
#include <arm_neon.h>
typedef uint8x16_t bytes16;
static inline bytes16 bytes16_load(const char *s) { return vld1q_u8((const uint8_t *)s); }
static inline bytes16 bytes16_is(bytes16 v, char c) { return vceqq_u8(v, vdupq_n_u8((uint8_t)c)); }
static inline bytes16 bytes16_or(bytes16 a, bytes16 b) { return vorrq_u8(a, b); }
static inline bytes16 bytes16_between(bytes16 v, char low, char high)
{
    int8x16_t x = vreinterpretq_s8_u8(v);
    return vandq_u8(vcgtq_s8(x, vdupq_n_s8((int8_t)low)), vcltq_s8(x, vdupq_n_s8((int8_t)high)));
}
static inline bytes16 bytes16_with(bytes16 v, char bits)
{
    return vorrq_u8(v, vdupq_n_u8((uint8_t)bits));
}
/* Four bits a byte: shifting pairs of bytes right by four and taking the lower halves. */
static inline uint64_t bytes16_nibbles(bytes16 v)
{
    return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(v), 4)), 0);
}
static inline int bytes16_first(bytes16 v)
{
    uint64_t m = bytes16_nibbles(v);
    return m ? __builtin_ctzll(m) / 4 : 16;
}
static inline int bytes16_first_not(bytes16 v) { return bytes16_first(vmvnq_u8(v)); }
/* A bit of each byte, then pairs added up three times. */
static inline uint64_t bytes16_bits(bytes16 a, bytes16 b, bytes16 c, bytes16 d)
{
    static const uint8_t bit[16] = { 1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128 };
    uint8x16_t of = vld1q_u8(bit);
    uint8x16_t ab = vpaddq_u8(vandq_u8(a, of), vandq_u8(b, of));
    uint8x16_t cd = vpaddq_u8(vandq_u8(c, of), vandq_u8(d, of));
    uint8x16_t all = vpaddq_u8(ab, cd);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(all, all)), 0);
}
#endif

#endif
