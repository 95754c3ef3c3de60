/* Rows of length s: a warp per row, which is read twice. */
#include "kernels/cuda/device.h"

enum { ROWS = 4 };                          /* per block */

template <typename T, bool WHOLE> static __global__ void forward_rows(kern_unit_fwd a)
{
    int row = (int)blockIdx.x * ROWS + (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    if (row >= a.N) return;
    const T *x = (const T *)a.X + (size_t)row * a.D;
    T *y = (T *)a.Y + (size_t)row * a.D;
    float square = 0;
    for (int c = lane * 8; c < a.D; c += 256) {
        eight v = load8<WHOLE>(x + c, a.D - c);
#pragma unroll
        for (int i = 0; i < 8; i++) square += v.x[i] * v.x[i];
    }
    float length = sqrtf(warp_sum(square)), by = length > 0 ? a.s / length : 0.0f;
    for (int c = lane * 8; c < a.D; c += 256) {
        eight v = load8<WHOLE>(x + c, a.D - c);
#pragma unroll
        for (int i = 0; i < 8; i++) v.x[i] *= by;
        store8<WHOLE>(y + c, v, a.D - c);
    }
    if (lane == 0) a.len[row] = length;
}

template <typename T> static void forward(const struct kern_unit_fwd *a)
{
    unsigned grid = blocks_for((size_t)a->N, ROWS);
    if (whole8((size_t)a->D, a->X, a->Y)) LAUNCH((forward_rows<T, true>), grid, 32 * ROWS, 0, *a);
    else LAUNCH((forward_rows<T, false>), grid, 32 * ROWS, 0, *a);
}

void cuda_unit_fwd(const struct kern_unit_fwd *a)
{
    if (a->N > 0 && !cuda_lost()) BY_TYPE(forward, a);
}

template <typename T, bool WHOLE> static __global__ void backward_rows(kern_unit_bwd a)
{
    int row = (int)blockIdx.x * ROWS + (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    if (row >= a.N) return;
    size_t at = (size_t)row * a.D;
    const T *Y = (const T *)a.Y + at, *dY = (const T *)a.dY + at;
    T *dX = (T *)a.dX + at;
    float along = 0, length = a.len[row];
    for (int c = lane * 8; c < a.D; c += 256) {
        eight y = load8<WHOLE>(Y + c, a.D - c), d = load8<WHOLE>(dY + c, a.D - c);
#pragma unroll
        for (int i = 0; i < 8; i++) along += y.x[i] * d.x[i];
    }
    along = warp_sum(along);
    /* dx = s / |x| dy - (y . dy) y / (s |x|); a row of zeros has no gradient. */
    float by = length > 0 ? a.s / length : 0.0f, less = length > 0 ? along / (a.s * length) : 0.0f;
    for (int c = lane * 8; c < a.D; c += 256) {
        eight y = load8<WHOLE>(Y + c, a.D - c), d = load8<WHOLE>(dY + c, a.D - c), old;
        if (a.add) old = load8<WHOLE>(dX + c, a.D - c);
#pragma unroll
        for (int i = 0; i < 8; i++)
            d.x[i] = by * d.x[i] - less * y.x[i] + (a.add ? old.x[i] : 0.0f);
        store8<WHOLE>(dX + c, d, a.D - c);
    }
}

template <typename T> static void backward(const struct kern_unit_bwd *a)
{
    unsigned grid = blocks_for((size_t)a->N, ROWS);
    bool whole = whole8((size_t)a->D, a->dX, a->dY, a->Y);
    if (whole) LAUNCH((backward_rows<T, true>), grid, 32 * ROWS, 0, *a);
    else LAUNCH((backward_rows<T, false>), grid, 32 * ROWS, 0, *a);
}

void cuda_unit_bwd(const struct kern_unit_bwd *a)
{
    if (a->N > 0 && !cuda_lost()) BY_TYPE(backward, a);
}
