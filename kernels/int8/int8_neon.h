/* What int8.inc is written in, for NEON's vectors of 128 bits; its products are their own. */
#ifndef INT8_INT8_NEON_H
#define INT8_INT8_NEON_H
#include <arm_neon.h>
#include <string.h>
#define ints int32x4_t
#define floats float32x4_t
#define SHIFTED false
#define x_value int8x16_t
#define X_LOAD(p) x_load(p)
#define START(p) vdupq_n_s32(0)
#define LOAD(p) vld1q_s8(p)
#define LOADED int8x16_t
#define LOADF(p) vld1q_f32(p)
#define STOREF(p, v) vst1q_f32(p, v)
#define SETF(f) vdupq_n_f32(f)
#define MUL(a, b) vmulq_f32(a, b)
#define TO_FLOAT(i) vcvtq_f32_s32(i)
enum { LANES = 4 };
/* four components, four times over */
static inline __attribute__((always_inline)) int8x16_t x_load(const int8_t *p)
{
    int32_t four;
    memcpy(&four, p, sizeof four);
    return vreinterpretq_s8_s32(vdupq_n_s32(four));
}
#endif
