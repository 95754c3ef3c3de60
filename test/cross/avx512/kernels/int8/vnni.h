/* vpdpbusd by its definition, whatever the vector's length. */
#include_next "kernels/int8/vnni.h"
#ifndef EMULATED_VNNI_H
#define EMULATED_VNNI_H
#include <stdint.h>
#include <string.h>
static inline void emulated_vpdpbusd(void *sum, const void *u, const void *s, int size)
{
    for (int i = 0; i < size; i++)
        ((int32_t *)sum)[i / 4] += ((const uint8_t *)u)[i] * ((const int8_t *)s)[i];
}
#undef VNNI_512
#undef VNNI_256
#define VNNI_512(sum, u, s)                                                                        \
    do {                                                                                           \
        __typeof__(sum) unsigned_ = u, signed_ = s;                                                \
        emulated_vpdpbusd(&(sum), &unsigned_, &signed_, (int)sizeof(sum));                         \
    } while (0)
#define VNNI_256 VNNI_512
#endif
