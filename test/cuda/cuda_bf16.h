/* bfloat16 on the host, for tests: see cuda_runtime.h beside this. */
#ifndef TEST_CUDA_BF16_H
#define TEST_CUDA_BF16_H
#include "cuda_runtime.h"

struct __nv_bfloat16 { uint16_t bits; };
struct __nv_bfloat162 { __nv_bfloat16 x, y; };

static inline __nv_bfloat16 __float2bfloat16_rn(float x)
{
    uint32_t u = __float_as_uint(x);
    if (x != x) return { 0x7fff };
    return { (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16) };
}
static inline float __bfloat162float(__nv_bfloat16 x)
{
    return __uint_as_float((uint32_t)x.bits << 16);
}
static inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y)
{
    return { __float2bfloat16_rn(x), __float2bfloat16_rn(y) };
}

#endif
