/* NEON, which every 64-bit ARM has: products of bytes in 16 bits, exact up to 127 * 127, added up
 * in pairs. */
#if defined __aarch64__ && defined __ARM_NEON
#include "kernels/int8/int8_neon.h"
#define TABLE int8_neon
#define NAME "NEON"
enum { ROWS = 4 };
#define TILES(T) T(1, 2) T(1, 1) T(2, 2) T(2, 1) T(3, 1) T(4, 1)
#define MULTIPLY(sum, x, w) sum = multiply(sum, x, w)
static inline __attribute__((always_inline)) int32x4_t multiply(int32x4_t sum, int8x16_t x,
                                                                int8x16_t w)
{
    int16x8_t low = vmull_s8(vget_low_s8(x), vget_low_s8(w)), high = vmull_high_s8(x, w);
    return vaddq_s32(sum, vpaddq_s32(vpaddlq_s16(low), vpaddlq_s16(high)));
}
#include "kernels/int8/int8.inc"
#else
typedef int int8_neon_is_for_aarch64;
#endif
