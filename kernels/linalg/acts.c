#include "kernels/linalg/acts.h"
#include "kernels/linalg/simd.h"
#include <string.h>

bool acts_half;

float *acts_room(int slot, size_t n)
{
    /* float32 is used where it lies: then there is nothing to convert and nothing to keep room
     * for. */
    return acts_half ? work_scratch(SCRATCH_ROOM + slot, n * sizeof(float)) : NULL;
}

const float *acts_read(const act *p, size_t i, size_t n, float *room)
{
    if (!acts_half) return (const float *)p + i;
    simd_choose()->from_bf16(room, (const uint16_t *)p + i, n);
    return room;
}

float *acts_place(act *p, size_t i, float *room)
{
    return !p ? NULL : acts_half ? room : (float *)p + i;
}

float *acts_open(act *p, size_t i, size_t n, float *room)
{
    if (p && acts_half) simd_choose()->from_bf16(room, (const uint16_t *)p + i, n);
    return acts_place(p, i, room);
}

void acts_write(act *p, size_t i, const float *x, size_t n)
{
    if (p && acts_half) simd_choose()->to_bf16((uint16_t *)p + i, x, n);
}

void acts_put(act *p, size_t i, const float *x, size_t n)
{
    if (acts_half) acts_write(p, i, x, n);
    else memcpy((float *)p + i, x, n * sizeof *x);
}

float acts_dot(const float *x, const act *p, size_t n)
{
    const struct simd *s = simd_choose();
    return acts_half ? s->dot_half(x, p, n) : s->dot(x, p, n);
}

void acts_axpy(float *y, float a, const act *p, size_t n)
{
    const struct simd *s = simd_choose();
    if (acts_half) s->axpy_half(y, a, p, n);
    else s->axpy(y, a, p, n);
}

float acts_one(const act *p, size_t i)
{
    float x;
    return *acts_read(p, i, 1, &x);
}
