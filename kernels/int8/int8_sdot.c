/* sdot, four products of bytes into each sum: ARM from 2018 (Cortex-A75, Neoverse N1, Apple). 24
 * sums, a vector of W and six of X, or eight of W and three of X. */
#if defined __aarch64__ && defined __ARM_FEATURE_DOTPROD
#include "kernels/int8/int8_neon.h"
#define TABLE int8_sdot
#define NAME "sdot"
enum { ROWS = 6 };
#define TILES(T) T(1, 2) T(1, 1) T(2, 2) T(2, 1) T(3, 2) T(3, 1) T(4, 1) T(5, 1) T(6, 1)
#define MULTIPLY(sum, x, w) sum = vdotq_s32(sum, x, w)
#include "kernels/int8/int8.inc"
#else
typedef int int8_sdot_is_for_aarch64;
#endif
