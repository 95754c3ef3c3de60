/* IEEE 754 binary16: to the nearest, ties to even; and back, exactly. Done in integers: the same on
 * every machine. Not _Float16: clang 14 has it on x86 with AVX512-FP16 only, so that this would
 * have to stay next to it, and gcc 12 calls a function of libgcc for every number. */
#ifndef COOC_HALF_H
#define COOC_HALF_H
#include <stdint.h>
#include <string.h>

static inline uint16_t half_from(float x)
{
    uint32_t u;
    memcpy(&u, &x, 4);
    uint32_t sign = u >> 16 & 0x8000, e = u >> 23 & 255, m = u & 0x7FFFFF;
    if (e == 255) return (uint16_t)(sign | 0x7C00 | (m ? 0x200 : 0));
    /* below half of the smallest: 0 */
    if (e < 102) return (uint16_t)sign;
    if (e < 113) {                                                        /* subnormal */
        uint32_t shift = 126 - e;
        m |= 0x800000;
        uint32_t h = m >> shift, rest = m & ((1u << shift) - 1), tie = 1u << (shift - 1);
        return (uint16_t)(sign | (h + (rest > tie || (rest == tie && (h & 1)))));
    }
    uint32_t h = (e - 112) << 10 | m >> 13, rest = m & 0x1FFF;
    h += rest > 0x1000 || (rest == 0x1000 && (h & 1));
    return (uint16_t)(sign | (e > 142 || h > 0x7C00 ? 0x7C00 : h));
}

static inline float half_to(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, e = h >> 10 & 31, m = h & 1023, u;
    if (e == 31) u = sign | 0x7F800000 | m << 13;
    else if (e) u = sign | (e + 112) << 23 | m << 13;
    else {
        float f = (float)m * 0x1p-24f;
        memcpy(&u, &f, 4);
        u |= sign;
    }
    float f;
    memcpy(&f, &u, 4);
    return f;
}

#endif
