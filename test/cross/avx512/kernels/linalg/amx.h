/* VNNI's product, and AMX's tiles in memory, by their definition in Intel's manual. What a
 * processor would not do, or would do in silence with what nobody meant (a tile without a shape,
 * shapes that do not fit, one register twice), ends the program. */
#include_next "kernels/linalg/amx.h"
#ifndef EMULATED_AMX_H
#define EMULATED_AMX_H
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static __thread struct {
    _Alignas(64) uint8_t row[8][16][64];
    struct amx_shapes shape;
    bool on;
} tiles_;

__attribute__((unused)) static void tile_wrong(const char *why)
{
    fprintf(stderr, "AMX: %s\n", why);
    abort();
}

static inline void vpdpbusd(void *sum, const void *u, const void *s, int size)
{
    for (int i = 0; i < size; i++)
        ((int32_t *)sum)[i / 4] += ((const uint8_t *)u)[i] * ((const int8_t *)s)[i];
}

static inline void tile_shape(const struct amx_shapes *s)
{
    memset(&tiles_, 0, sizeof tiles_);
    tiles_.shape = *s;
    tiles_.on = true;
    if (s->palette != 1) tile_wrong("a palette that is not 1");
    for (int t = 0; t < 16; t++) {
        if (s->rows[t] > AMX_ROWS || s->bytes[t] > AMX_BYTES || !s->rows[t] != !s->bytes[t])
            tile_wrong("a shape that no tile has");
        if (t >= 8 && s->rows[t]) tile_wrong("a register above 7");
        if (t < 14 && s->reserved[t]) tile_wrong("reserved bytes");
    }
}

static inline void tile_there(int t)
{
    if (!tiles_.on || !tiles_.shape.rows[t]) tile_wrong("a register without a shape");
}

static inline void tile_load(int t, const void *p, size_t stride)
{
    tile_there(t);
    memset(tiles_.row[t], 0, sizeof tiles_.row[t]);
    for (int r = 0; r < tiles_.shape.rows[t]; r++)
        memcpy(tiles_.row[t][r], (const char *)p + (size_t)r * stride, tiles_.shape.bytes[t]);
}

static inline void tile_store(void *p, size_t stride, int t)
{
    tile_there(t);
    for (int r = 0; r < tiles_.shape.rows[t]; r++)
        memcpy((char *)p + (size_t)r * stride, tiles_.row[t][r], tiles_.shape.bytes[t]);
}

static inline void tile_zero(int t)
{
    tile_there(t);
    memset(tiles_.row[t], 0, sizeof tiles_.row[t]);
}

/* Each pair of a row of x and a column of w goes to `each` with its sum. */
static inline void tile_multiply(int sum, int x, int w,
                                 void (*each)(uint8_t *sum, const uint8_t *x, const uint8_t *w))
{
    const struct amx_shapes *s = &tiles_.shape;
    tile_there(sum);
    tile_there(x);
    tile_there(w);
    if (sum == x || sum == w || x == w) tile_wrong("one register twice");
    if (s->rows[sum] != s->rows[x] || s->bytes[sum] != s->bytes[w] || s->bytes[x] != 4 * s->rows[w])
        tile_wrong("shapes that do not fit");
    for (int r = 0; r < s->rows[sum]; r++)
        for (int k = 0; k < s->rows[w]; k++)
            for (int c = 0; c < s->bytes[sum]; c += 4)
                each(tiles_.row[sum][r] + c, tiles_.row[x][r] + 4 * k, tiles_.row[w][k] + c);
}

static inline void tile_unsigned(uint8_t *sum, const uint8_t *x, const uint8_t *w)
{
    for (int i = 0; i < 4; i++) *(int32_t *)(void *)sum += x[i] * (int8_t)w[i];
}

static inline void tile_signed(uint8_t *sum, const uint8_t *x, const uint8_t *w)
{
    for (int i = 0; i < 4; i++) *(int32_t *)(void *)sum += (int8_t)x[i] * (int8_t)w[i];
}

static inline float tile_float(const uint8_t *bf16)
{
    uint32_t u = (uint32_t)(bf16[0] | bf16[1] << 8) << 16;
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

static inline void tile_bf16(uint8_t *sum, const uint8_t *x, const uint8_t *w)
{
    for (int i = 0; i < 4; i += 2)
        *(float *)(void *)sum = fmaf(tile_float(x + i), tile_float(w + i), *(float *)(void *)sum);
}

#undef VNNI_512
#undef VNNI_256
#define VNNI_512(sum, u, s)                                                                        \
    do {                                                                                           \
        __typeof__(sum) unsigned_ = u, signed_ = s;                                                \
        vpdpbusd(&(sum), &unsigned_, &signed_, (int)sizeof(sum));                                  \
    } while (0)
#define VNNI_256 VNNI_512

#undef AMX_SHAPE
#undef AMX_RELEASE
#undef AMX_LOAD
#undef AMX_STORE
#undef AMX_ZERO
#undef AMX_UNSIGNED
#undef AMX_SIGNED
#undef AMX_BF16
#define AMX_SHAPE(s) tile_shape(s)
#define AMX_RELEASE() ((void)(tiles_.on = false))
#define AMX_LOAD(t, p, stride) tile_load(t, p, (size_t)(stride))
#define AMX_STORE(p, stride, t) tile_store(p, (size_t)(stride), t)
#define AMX_ZERO(t) tile_zero(t)
#define AMX_UNSIGNED(sum, x, w) tile_multiply(sum, x, w, tile_unsigned)
#define AMX_SIGNED(sum, x, w) tile_multiply(sum, x, w, tile_signed)
#define AMX_BF16(sum, x, w) tile_multiply(sum, x, w, tile_bf16)
#endif
