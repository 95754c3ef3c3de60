/* Rows picked and put back, and sums of whole matrices. */
#include "kernels/cuda/device.h"

template <typename T, bool WHOLE>
static __global__ void gather_rows(T *Y, int ldy, const T *X, int ldx, const int32_t *index, int M, int D)
{
    int across = (D + 7) / 8;
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)M * across) return;
    int m = (int)(i / across), c = (int)(i % across) * 8, from = index[m];
    eight e;
    if (from >= 0) e = load8<WHOLE>(X + (size_t)from * ldx + c, D - c);
    else {
#pragma unroll
        for (int j = 0; j < 8; j++) e.x[j] = 0;
    }
    store8<WHOLE>(Y + (size_t)m * ldy + c, e, D - c);
}

template <typename T, bool WHOLE>
static __global__ void scatter_rows(T *Y, int ldy, bool add, const T *X, int ldx, const int32_t *index, int M, int D)
{
    int across = (D + 7) / 8;
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)M * across) return;
    int m = (int)(i / across), c = (int)(i % across) * 8, to = index[m];
    if (to < 0) return;
    eight e = load8<WHOLE>(X + (size_t)m * ldx + c, D - c);
    T *y = Y + (size_t)to * ldy + c;
    if (add) {
        eight old = load8<WHOLE>(y, D - c);
#pragma unroll
        for (int j = 0; j < 8; j++) e.x[j] += old.x[j];
    }
    store8<WHOLE>(y, e, D - c);
}

static bool whole_rows(const void *Y, int ldy, const void *X, int ldx, int D) { return whole8((size_t)D, Y, X) && ldy % 8 == 0 && ldx % 8 == 0; }

template <typename T> static void gather(act *Y, int ldy, const act *X, int ldx, const int32_t *index, int M, int D)
{
    unsigned grid = blocks_for((size_t)M * (size_t)((D + 7) / 8), 256);
    if (whole_rows(Y, ldy, X, ldx, D)) LAUNCH((gather_rows<T, true>), grid, 256, 0, (T *)Y, ldy, (const T *)X, ldx, index, M, D);
    else LAUNCH((gather_rows<T, false>), grid, 256, 0, (T *)Y, ldy, (const T *)X, ldx, index, M, D);
}

void cuda_gather(act *Y, int ldy, const act *X, int ldx, const int32_t *index, int M, int D)
{
    if (M > 0 && D > 0 && !cuda_lost()) BY_TYPE(gather, Y, ldy, X, ldx, index, M, D);
}

template <typename T> static void scatter(act *Y, int ldy, bool add, const act *X, int ldx, const int32_t *index, int M, int D)
{
    unsigned grid = blocks_for((size_t)M * (size_t)((D + 7) / 8), 256);
    if (whole_rows(Y, ldy, X, ldx, D)) LAUNCH((scatter_rows<T, true>), grid, 256, 0, (T *)Y, ldy, add, (const T *)X, ldx, index, M, D);
    else LAUNCH((scatter_rows<T, false>), grid, 256, 0, (T *)Y, ldy, add, (const T *)X, ldx, index, M, D);
}

void cuda_scatter(act *Y, int ldy, bool add, const act *X, int ldx, const int32_t *index, int M, int D)
{
    if (M > 0 && D > 0 && !cuda_lost()) BY_TYPE(scatter, Y, ldy, add, X, ldx, index, M, D);
}

template <typename T, bool WHOLE> static __global__ void add_to(T *Y, const T *X, size_t n)
{
    size_t at = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * 8;
    if (at >= n) return;
    int left = n - at < 8 ? (int)(n - at) : 8;
    eight y = load8<WHOLE>(Y + at, left), x = load8<WHOLE>(X + at, left);
#pragma unroll
    for (int i = 0; i < 8; i++) y.x[i] += x.x[i];
    store8<WHOLE>(Y + at, y, left);
}

template <typename T> static void add(act *Y, const act *X, size_t n)
{
    if (whole8(n, Y, X)) LAUNCH((add_to<T, true>), blocks_for(n, 2048), 256, 0, (T *)Y, (const T *)X, n);
    else LAUNCH((add_to<T, false>), blocks_for(n, 2048), 256, 0, (T *)Y, (const T *)X, n);
}

void cuda_add(act *Y, const act *X, size_t n)
{
    if (n > 0 && !cuda_lost()) BY_TYPE(add, Y, X, n);
}
