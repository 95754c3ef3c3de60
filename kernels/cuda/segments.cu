/* Vectors of sentences, and how they compare. Means: a block per segment and 256 columns, a thread
 * per column; products: a warp per pair of rows. */
#include "kernels/cuda/device.h"

enum { COLUMNS = 256, PAIRS = 4 };

template <typename T> static __global__ void forward_segments(kern_means_fwd a)
{
    int c = (int)(blockIdx.y * blockDim.x + threadIdx.x), m = (int)blockIdx.x;
    if (c >= a.D) return;
    const T *x = (const T *)a.X + (size_t)a.at[m] * a.D + c;
    float sum = 0;
    for (int r = 0; r < a.len[m]; r++) sum += to_float(x[(size_t)r * a.D]);
    ((T *)a.Y)[(size_t)m * a.D + c] = from_float<T>(a.len[m] > 0 ? sum / a.len[m] : 0.0f);
}

template <typename T> static void forward(const struct kern_means_fwd *a)
{
    dim3 grid((unsigned)a->M, blocks_for((size_t)a->D, COLUMNS));
    LAUNCH(forward_segments<T>, grid, COLUMNS, 0, *a);
}

void cuda_means_fwd(const struct kern_means_fwd *a)
{
    if (a->M > 0 && !cuda_lost()) BY_TYPE(forward, a);
}

template <typename T> static __global__ void backward_segments(kern_means_bwd a)
{
    int c = (int)(blockIdx.y * blockDim.x + threadIdx.x), m = (int)blockIdx.x;
    if (c >= a.D || a.len[m] <= 0) return;
    T *dx = (T *)a.dX + (size_t)a.at[m] * a.D + c;
    float d = to_float(((const T *)a.dY)[(size_t)m * a.D + c]) / a.len[m];
    for (int r = 0; r < a.len[m]; r++, dx += a.D)
        *dx = from_float<T>(d + (a.add ? to_float(*dx) : 0.0f));
}

template <typename T> static void backward(const struct kern_means_bwd *a)
{
    dim3 grid((unsigned)a->M, blocks_for((size_t)a->D, COLUMNS));
    LAUNCH(backward_segments<T>, grid, COLUMNS, 0, *a);
}

void cuda_means_bwd(const struct kern_means_bwd *a)
{
    if (a->M > 0 && !cuda_lost()) BY_TYPE(backward, a);
}

static __global__ void compare(kern_correct a)
{
    int m = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (m < a.M) a.to[m] = a.best[m] == a.target[m] ? 1.0f : 0.0f;
}

void cuda_correct(const struct kern_correct *a)
{
    if (a->M > 0 && !cuda_lost()) LAUNCH(compare, blocks_for((size_t)a->M, 256), 256, 0, *a);
}

static __global__ void dot_rows(kern_dots a)
{
    int p = (int)blockIdx.x * PAIRS + (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    if (p >= a.P) return;
    const float *x = a.E + (size_t)a.i[p] * a.D, *y = a.E + (size_t)a.j[p] * a.D;
    float sum = 0;
    for (int c = lane; c < a.D; c += 32) sum += x[c] * y[c];
    sum = warp_sum(sum);
    if (lane == 0) a.to[p] = a.scale * sum;
}

void cuda_dots(const struct kern_dots *a)
{
    if (a->P > 0 && !cuda_lost())
        LAUNCH(dot_rows, blocks_for((size_t)a->P, PAIRS), 32 * PAIRS, 0, *a);
}
