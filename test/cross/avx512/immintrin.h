/* For test/cross/run: the intrinsics of AVX-512 that the kernels use, for a processor that has AVX2
 * alone. GCC divides their vectors. The names are Intel's; what each of them computes is taken from
 * its Intrinsics Guide. A masked load or store touches what its mask names and no more, so that a
 * sanitizer sees what a processor would not forgive. */
#pragma GCC system_header
#ifndef EMULATED_IMMINTRIN_H
#define EMULATED_IMMINTRIN_H
#include_next <immintrin.h>
#include <stdint.h>
#include <string.h>

typedef int32_t ints16 __attribute__((vector_size(64)));
typedef uint64_t longs8 __attribute__((vector_size(64)));
#define EACH_LANE(n) for (int i = 0; i < (n); i++)
#define AT(p, size, i) ((const char *)(p) + (size_t)(size) * (size_t)(i))
#define EMULATED(type, name, ...) static inline type emulated_##name(__VA_ARGS__)

/* loads and stores */
EMULATED(__m512, load, const void *p) { __m512 v; memcpy(&v, p, sizeof v); return v; }
EMULATED(void, store, void *p, __m512 v) { memcpy(p, &v, sizeof v); }
EMULATED(__m512, load_some, uint16_t m, const void *p)
{
    float v[16] = { 0 };
    EACH_LANE(16) if (m >> i & 1) memcpy(v + i, AT(p, 4, i), 4);
    return emulated_load(v);
}
EMULATED(void, store_some, void *p, uint16_t m, __m512 v)
{
    EACH_LANE(16) if (m >> i & 1) memcpy((float *)p + i, (float *)&v + i, 4);
}
EMULATED(__m512i, load_words, uint32_t m, const void *p)
{
    uint16_t v[32] = { 0 };
    EACH_LANE(32) if (m >> i & 1) memcpy(v + i, AT(p, 2, i), 2);
    return (__m512i)emulated_load(v);
}
EMULATED(__m256i, load_16_words, uint16_t m, const void *p)
{
    __m512i v = emulated_load_words(m, p);
    return _mm256_loadu_si256((const void *)&v);
}
EMULATED(__m256, load_8_floats, uint8_t m, const void *p)
{
    __m512 v = emulated_load_some(m, p);
    return _mm256_loadu_ps((const void *)&v);
}

/* where what is not aligned faults */
EMULATED(__m512, load_line, const void *p)
{
    if ((uintptr_t)p % 64) __builtin_trap();
    return emulated_load(p);
}
EMULATED(void, store_line, void *p, __m512 v)
{
    if ((uintptr_t)p % 64) __builtin_trap();
    emulated_store(p, v);
}

/* floats */
EMULATED(__m512, fma, __m512 a, __m512 b, __m512 c)
{
    EACH_LANE(16) c[i] = __builtin_fmaf(a[i], b[i], c[i]);
    return c;
}
EMULATED(__m512, min, __m512 a, __m512 b)
{
    EACH_LANE(16) b[i] = a[i] < b[i] ? a[i] : b[i];      /* a number that is none: the second */
    return b;
}
EMULATED(uint16_t, not_at_most, __m512 a, __m512 b)
{
    unsigned m = 0;
    EACH_LANE(16) m |= !(a[i] <= b[i]) << i;
    return (uint16_t)m;
}
EMULATED(uint16_t, compared, __m512 a, __m512 b, int how)
{
    if (how != _CMP_NLE_UQ) __builtin_trap();
    return emulated_not_at_most(a, b);
}
EMULATED(__m512, of_ints, __m512i x)
{
    return __builtin_convertvector((ints16)x, __m512);
}
EMULATED(__m512d, doubles, __m256 x) { return __builtin_convertvector(x, __m512d); }
EMULATED(__m256, half, __m512 x, int which)
{
    return _mm256_loadu_ps((const float *)&x + 8 * which);
}

/* bfloat16: to the nearest, even; numbers too small for it are zeros before they are rounded */
EMULATED(uint16_t, bf16, float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    if ((u & 0x7fffffff) > 0x7f800000) return (uint16_t)(u >> 16 | 0x40);
    if (!(u & 0x7f800000)) return u >> 16 & 0x8000;
    return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}
EMULATED(__m512i, bf16_of_two, __m512 high, __m512 low)
{
    uint16_t v[32];
    EACH_LANE(16) v[i] = emulated_bf16(low[i]);
    EACH_LANE(16) v[16 + i] = emulated_bf16(high[i]);
    return (__m512i)emulated_load(v);
}
EMULATED(__m256i, bf16_of_one, __m512 x)
{
    __m512i v = emulated_bf16_of_two(x, x);
    return _mm256_loadu_si256((const void *)&v);
}

/* integers, and what is moved */
EMULATED(__m512i, longs, __m256i x)
{
    longs8 v;
    EACH_LANE(8) v[i] = ((const uint32_t *)&x)[i];
    return (__m512i)v;
}
EMULATED(__m512i, products, __m512i a, __m512i b)
{
    const longs8 low = (longs8){ 0 } + 0xffffffff;
    return (__m512i)(((longs8)a & low) * ((longs8)b & low));
}
EMULATED(__m512i, longs_of_two, __m512i a, __m512i at, __m512i b)
{
    longs8 v;
    EACH_LANE(8) v[i] = (uint64_t)(at[i] & 8 ? b : a)[at[i] & 7];
    return (__m512i)v;
}
EMULATED(__m512i, words_at, __m512i at, __m512i x)
{
    uint16_t from[32], place[32], v[32];
    memcpy(from, &x, sizeof from);
    memcpy(place, &at, sizeof place);
    EACH_LANE(32) v[i] = from[place[i] & 31];
    return (__m512i)emulated_load(v);
}
EMULATED(__m512i, words_from_last, const uint16_t *last)
{
    uint16_t v[32];
    EACH_LANE(32) v[i] = last[31 - i];
    return (__m512i)emulated_load(v);
}
EMULATED(__m512i, with_half, __m512i x, __m256i half, int which)
{
    memcpy((char *)&x + 32 * which, &half, sizeof half);
    return x;
}
/* within quarters of 128 bits: two of a, two of b, as the four pairs of bits of k say */
EMULATED(__m512, shuffled, __m512 a, __m512 b, int k)
{
    __m512 v;
    EACH_LANE(16) v[i] = (i % 4 < 2 ? a : b)[i / 4 * 4 + (k >> i % 4 * 2 & 3)];
    return v;
}
/* quarters: two of a, two of b */
EMULATED(__m512, quarters, __m512 a, __m512 b, int k)
{
    __m512 v;
    EACH_LANE(16) v[i] = (i < 8 ? a : b)[(k >> i / 4 * 2 & 3) * 4 + i % 4];
    return v;
}
/* pairs of a and b in turn, from the low or the high half of each quarter */
EMULATED(__m512, pairs, __m512 a, __m512 b, int high)
{
    __m512 v;
    EACH_LANE(16) v[i] = (i % 2 ? b : a)[i / 4 * 4 + 2 * high + i % 4 / 2];
    return v;
}

#define __mmask8 uint8_t
#define __mmask16 uint16_t
#define __mmask32 uint32_t
#define _mm256_maskz_loadu_epi16 emulated_load_16_words
#define _mm256_maskz_loadu_ps emulated_load_8_floats
#define _mm512_add_ps(a, b) ((__m512)(a) + (__m512)(b))
#define _mm512_and_si512(a, b) ((a) & (b))
#define _mm512_castps512_ps256(x) emulated_half(x, 0)
#define _mm512_castps_si512(x) ((__m512i)(x))
#define _mm512_castsi256_si512(x) emulated_with_half((__m512i){ 0 }, x, 0)
#define _mm512_castsi512_ps(x) ((__m512)(x))
#define _mm512_cmp_ps_mask emulated_compared
#define _mm512_cvtepi32_ps emulated_of_ints
#define _mm512_cvtepu32_epi64 emulated_longs
#define _mm512_cvtne2ps_pbh emulated_bf16_of_two
#define _mm512_cvtneps_pbh emulated_bf16_of_one
#define _mm512_cvtps_pd emulated_doubles
#define _mm512_extractf32x8_ps emulated_half
#define _mm512_fmadd_ps emulated_fma
#define _mm512_inserti64x4 emulated_with_half
#define _mm512_load_si512(p) ((__m512i)emulated_load_line(p))
#define _mm512_loadu_ps emulated_load
#define _mm512_loadu_si512(p) ((__m512i)emulated_load(p))
#define _mm512_mask_storeu_ps emulated_store_some
#define _mm512_maskz_loadu_epi16 emulated_load_words
#define _mm512_maskz_loadu_ps emulated_load_some
#define _mm512_min_ps emulated_min
#define _mm512_mul_epu32 emulated_products
#define _mm512_mul_ps(a, b) ((__m512)(a) * (__m512)(b))
#define _mm512_or_si512(a, b) ((a) | (b))
#define _mm512_permutex2var_epi64 emulated_longs_of_two
#define _mm512_permutexvar_epi16 emulated_words_at
#define _mm512_set1_epi32(x) ((__m512i)((ints16){ 0 } + (int32_t)(x)))
#define _mm512_set1_epi64(x) ((__m512i)((longs8){ 0 } + (uint64_t)(x)))
#define _mm512_set1_ps(x) ((__m512){ 0 } + (float)(x))
#define _mm512_set_epi16(...) emulated_words_from_last((const uint16_t[32]){ __VA_ARGS__ })
#define _mm512_setr_epi64(...) ((__m512i)(longs8){ __VA_ARGS__ })
#define _mm512_setzero_ps() ((__m512){ 0 })
#define _mm512_shuffle_f32x4 emulated_quarters
#define _mm512_shuffle_ps emulated_shuffled
#define _mm512_slli_epi64(x, n) ((__m512i)((longs8)(x) << (n)))
#define _mm512_srli_epi64(x, n) ((__m512i)((longs8)(x) >> (n)))
#define _mm512_store_ps emulated_store_line
#define _mm512_storeu_ps emulated_store
#define _mm512_storeu_si512(p, v) emulated_store(p, (__m512)(v))
#define _mm512_unpackhi_ps(a, b) emulated_pairs(a, b, 1)
#define _mm512_unpacklo_ps(a, b) emulated_pairs(a, b, 0)
#define _mm512_xor_si512(a, b) ((a) ^ (b))

/* What a kernel asks before it uses them; GCC's own headers must not see it. */
#ifdef EMULATED_AVX512
#define __AVX512F__ 1
#endif
#endif
