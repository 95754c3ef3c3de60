/* AVX-VNNI, the same in vectors of 256 bits: Intel from 2021, AMD from 2024. At most 8 sums, one
 * vector of weights, 4 of X. */
#if defined __x86_64__
#define TABLE int8_vnni
#define NAME "AVX-VNNI"
#define SHIFTED true
enum { LANES = 8, ROWS = 4 };
#define TILES(T) T(1, 4) T(1, 2) T(2, 2) T(1, 1) T(2, 1) T(3, 1) T(4, 1)
#define x_value __m256i
#define X_LOAD(p) _mm256_set1_epi32(*(const int32_t *)(const void *)(p))
#define MULTIPLY VNNI_256
#define START(p) _mm256_loadu_si256((const __m256i *)(const void *)(p))
#include "kernels/int8/int8_256.h"
#include "kernels/linalg/amx.h"
#include "kernels/int8/int8.inc"
#else
typedef int int8_vnni_is_for_x86;
#endif
