/* Rows picked and put back, and sums of whole matrices. */
#include "kernels/cuda/device.h"

template <typename T, bool WHOLE> static __global__ void gather_rows(T *Y, int ldy, const T *X,
                                                                     int ldx, const int32_t *index,
                                                                     int M, int D)
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
static __global__ void scatter_rows(T *Y, int ldy, bool add, const T *X, int ldx,
                                    const int32_t *index, int M, int D)
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

/* Any row may be picked, so every row must begin where eight elements can be read at once: the
 * distances between rows count, too. */
static bool whole_rows(const void *Y, int ldy, const void *X, int ldx, int D)
{
    return whole8((size_t)D, Y, X) && ldy % 8 == 0 && ldx % 8 == 0;
}

template <typename T> static void gather(const struct kern_gather *a)
{
    unsigned grid = blocks_for((size_t)a->M * (size_t)((a->D + 7) / 8), 256);
    T *Y = (T *)a->Y;
    const T *X = (const T *)a->X;
    if (whole_rows(Y, a->ldy, X, a->ldx, a->D))
        LAUNCH((gather_rows<T, true>), grid, 256, 0, Y, a->ldy, X, a->ldx, a->index, a->M, a->D);
    else LAUNCH((gather_rows<T, false>), grid, 256, 0, Y, a->ldy, X, a->ldx, a->index, a->M, a->D);
}

void cuda_gather(const struct kern_gather *a)
{
    if (a->M > 0 && a->D > 0 && !cuda_lost()) BY_TYPE(gather, a);
}

template <typename T> static void scatter(const struct kern_scatter *a)
{
    unsigned grid = blocks_for((size_t)a->M * (size_t)((a->D + 7) / 8), 256);
    T *Y = (T *)a->Y;
    const T *X = (const T *)a->X;
    if (whole_rows(Y, a->ldy, X, a->ldx, a->D))
        LAUNCH((scatter_rows<T, true>), grid, 256, 0, Y, a->ldy, a->add, X, a->ldx, a->index, a->M,
               a->D);
    else
        LAUNCH((scatter_rows<T, false>), grid, 256, 0, Y, a->ldy, a->add, X, a->ldx, a->index, a->M,
               a->D);
}

void cuda_scatter(const struct kern_scatter *a)
{
    if (a->M > 0 && a->D > 0 && !cuda_lost()) BY_TYPE(scatter, a);
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

template <typename T> static void add(const struct kern_add *a)
{
    T *Y = (T *)a->Y;
    const T *X = (const T *)a->X;
    if (whole8(a->n, Y, X)) LAUNCH((add_to<T, true>), blocks_for(a->n, 2048), 256, 0, Y, X, a->n);
    else LAUNCH((add_to<T, false>), blocks_for(a->n, 2048), 256, 0, Y, X, a->n);
}

void cuda_add(const struct kern_add *a)
{
    if (a->n > 0 && !cuda_lost()) BY_TYPE(add, a);
}

template <typename T> static __global__ void as_floats(float *to, const T *from, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = to_float(from[i]);
}

template <typename T> static void to_float32(const struct kern_to_float32 *a)
{
    LAUNCH(as_floats<T>, blocks_for(a->n, 256), 256, 0, a->to, (const T *)a->from, a->n);
}

void cuda_to_float32(const struct kern_to_float32 *a)
{
    cuda_written(a->to);                    /* products may read it as weights */
    if (a->n > 0 && !cuda_lost()) BY_TYPE(to_float32, a);
}
