/* AVX2: Intel from 2013, AMD from 2015. Its instruction multiplies unsigned by signed bytes and
 * adds two products in 16 bits: |x| times w with x's sign stays within 2 * 127 * 127 and is
 * exact. */
#if defined __x86_64__
#include <immintrin.h>
#include <stdint.h>
#define TABLE int8_avx2
#define NAME "AVX2"
#define SHIFTED false
enum { LANES = 8, ROWS = 3 };
#define TILES(T) T(1, 4) T(1, 2) T(1, 1) T(2, 1) T(3, 1)
typedef struct { __m256i x, size; } x_value;
#define X_LOAD(p) x_load(p)
#define MULTIPLY(sum, v, w) sum = multiply(sum, v, w)
#define START(p) _mm256_setzero_si256()
static inline __attribute__((always_inline)) x_value x_load(const int8_t *p)
{
    __m256i x = _mm256_set1_epi32(*(const int32_t *)(const void *)p);
    return (x_value){ x, _mm256_abs_epi8(x) };
}
static inline __attribute__((always_inline)) __m256i multiply(__m256i sum, x_value v, __m256i w)
{
    __m256i pairs = _mm256_maddubs_epi16(v.size, _mm256_sign_epi8(w, v.x));
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}
#include "kernels/int8/int8_256.h"
#include "kernels/int8/int8.inc"
#else
typedef int int8_avx2_is_for_x86;
#endif
