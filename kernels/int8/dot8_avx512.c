/* AVX-512 VNNI: Intel servers from 2019, AMD from 2022. 28 sums, two vectors of columns, one of
 * a row: 31 of 32 registers. */
#if defined __x86_64__
#define DOT8_TABLE dot8_avx512
#define DOT8_NAME "AVX-512 VNNI"
enum { ROWS = 14, LANES = 16 };
#define EACH(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11) F(12) F(13)
#define ints __m512i
#define floats __m512
#define LOAD(p) _mm512_loadu_si512(p)
#define SET(i) _mm512_set1_epi32(i)
#define SET_BYTES(p) _mm512_set1_epi32(*(const int32_t *)(const void *)(p))
#define MULTIPLY VNNI_512
#define TO_FLOAT(i) _mm512_cvtepi32_ps(i)
#define LOADF(p) _mm512_loadu_ps(p)
#define STOREF(p, v) _mm512_storeu_ps(p, v)
#define SETF(f) _mm512_set1_ps(f)
#define MUL(a, b) _mm512_mul_ps(a, b)
#define ADD(a, b) _mm512_add_ps(a, b)
#define FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#define AS_INTS(f) _mm512_castps_si512(f)
#define AS_FLOATS(i) _mm512_castsi512_ps(i)
#define PAIR_ABOVE(u, row, column) \
    (uint32_t)_mm512_cmp_ps_mask(u, _mm512_min_ps(row, column), _CMP_NLE_UQ)
#include "kernels/int8/dot8.inc"
#else
typedef int dot8_avx512_is_for_x86;
#endif
