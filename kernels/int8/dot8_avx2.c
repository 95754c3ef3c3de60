/* AVX-VNNI, the same in vectors of 256 bits: Intel from 2021, AMD from 2024. 12 sums, two
 * vectors of columns, one of a row. */
#if defined __x86_64__
#define DOT8_TABLE dot8_avx2
#define DOT8_NAME "AVX-VNNI"
enum { ROWS = 6, LANES = 8 };
#define EACH(F) F(0) F(1) F(2) F(3) F(4) F(5)
#define ints __m256i
#define floats __m256
#define LOAD(p) _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define SET(i) _mm256_set1_epi32(i)
#define SET_BYTES(p) _mm256_set1_epi32(*(const int32_t *)(const void *)(p))
#define MULTIPLY VNNI_256
#define TO_FLOAT(i) _mm256_cvtepi32_ps(i)
#define LOADF(p) _mm256_loadu_ps(p)
#define STOREF(p, v) _mm256_storeu_ps(p, v)
#define SETF(f) _mm256_set1_ps(f)
#define MUL(a, b) _mm256_mul_ps(a, b)
#define ADD(a, b) _mm256_add_ps(a, b)
#define FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#define AS_INTS(f) _mm256_castps_si256(f)
#define AS_FLOATS(i) _mm256_castsi256_ps(i)
#define PAIR_ABOVE(u, row, column) \
    (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(u, _mm256_min_ps(row, column), _CMP_NLE_UQ))
#include "kernels/int8/dot8.inc"
#else
typedef int dot8_avx2_is_for_x86;
#endif
