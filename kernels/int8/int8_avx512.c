/* AVX-512 VNNI: Intel servers from 2019, AMD from 2022. At most 24 sums, one vector of weights, 6
 * of X. */
#if defined __x86_64__
#define TABLE int8_avx512
#define NAME "AVX-512 VNNI"
#define SHIFTED true
enum { LANES = 16, ROWS = 6 };
#define TILES(T)                                                                                   \
    T(1, 8) T(2, 8) T(3, 8)                                                                        \
    T(1, 4) T(2, 4) T(3, 4) T(4, 4) T(5, 4) T(6, 4)                                                \
    T(1, 2) T(2, 2) T(3, 2) T(4, 2) T(5, 2) T(6, 2)                                                \
    T(1, 1) T(2, 1) T(3, 1) T(4, 1) T(5, 1) T(6, 1)
#define ints __m512i
#define LOADED ints
#define floats __m512
#define x_value __m512i
#define X_LOAD(p) _mm512_set1_epi32(*(const int32_t *)(const void *)(p))
#define MULTIPLY VNNI_512
#define START(p) _mm512_loadu_si512(p)
#define LOAD(p) _mm512_loadu_si512(p)
#define LOADF(p) _mm512_loadu_ps(p)
#define STOREF(p, v) _mm512_storeu_ps(p, v)
#define SETF(f) _mm512_set1_ps(f)
#define MUL(a, b) _mm512_mul_ps(a, b)
#define TO_FLOAT(i) _mm512_cvtepi32_ps(i)
#include "kernels/linalg/amx.h"
#include "kernels/int8/int8.inc"
#else
typedef int int8_avx512_is_for_x86;
#endif
