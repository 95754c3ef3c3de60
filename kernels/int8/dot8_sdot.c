/* sdot in NEON's vectors of 128 bits (int8_sdot.c): 20 sums, two vectors of columns, one of a row.
 * Columns come shifted by 128, for processors that multiply unsigned by signed bytes; here the
 * shift is taken off as they are loaded, and nothing is left to take off the sums. */
#if defined __aarch64__ && defined __ARM_FEATURE_DOTPROD
#include <arm_neon.h>
#include <string.h>
#define DOT8_TABLE dot8_sdot
#define DOT8_NAME "sdot"
enum { ROWS = 10, LANES = 4 };
#define EACH(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9)
#define ints int32x4_t
#define floats float32x4_t
#define LOAD(p) load(p)
#define FIRST(r) vdupq_n_s32(0)
#define SET_BYTES(p) bytes(p)
#define MULTIPLY(sum, z, x) \
    sum = vdotq_s32(sum, vreinterpretq_s8_s32(z), vreinterpretq_s8_s32(x))
#define TO_FLOAT(i) vcvtq_f32_s32(i)
#define LOADF(p) vld1q_f32(p)
#define STOREF(p, v) vst1q_f32(p, v)
#define SETF(f) vdupq_n_f32(f)
#define MUL(a, b) vmulq_f32(a, b)
#define ADD(a, b) vaddq_f32(a, b)
#define FMA(a, b, c) vfmaq_f32(c, a, b)
#define AS_INTS(f) vreinterpretq_s32_f32(f)
#define AS_FLOATS(i) vreinterpretq_f32_s32(i)
#define PAIR_ABOVE(u, row, column) lanes(vmvnq_u32(vcleq_f32(u, vminq_f32(row, column))))
#define INLINE static inline __attribute__((always_inline))
INLINE int32x4_t load(const int8_t *p)
{
    return vreinterpretq_s32_u8(veorq_u8(vreinterpretq_u8_s8(vld1q_s8(p)), vdupq_n_u8(0x80)));
}
INLINE int32x4_t bytes(const int8_t *p)
{
    int32_t four;
    memcpy(&four, p, sizeof four);
    return vdupq_n_s32(four);
}
INLINE uint32_t lanes(uint32x4_t m)
{
    static const uint32_t bit[4] = { 1, 2, 4, 8 };
    return vaddvq_u32(vandq_u32(m, vld1q_u32(bit)));
}
#include "kernels/int8/dot8.inc"
#else
typedef int dot8_sdot_is_for_aarch64;
#endif
