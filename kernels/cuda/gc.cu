/* The co-occurrence regression of MLM-GC. First all errors, then the gradients: those of the
 * targets' rows by target, those of their neighbours' rows by neighbour (segment.h), for the
 * same row is a neighbour of many. */
#include "kernels/cuda/segment.h"

enum { THREADS = 128 };

/* slope [M, J]: d(scale * loss) / d(H . B). A block per target, a warp per neighbour. */
template <typename T, typename B, bool WHOLE> static __global__ void errors(float *slope, kern_gc a)
{
    __shared__ float room[32];
    int m = (int)blockIdx.x, lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32, D = a.D;
    const T *h = (const T *)a.H + (size_t)a.t[m] * D;
    float sum = 0;
    for (int j = warp; j < a.J; j += THREADS / 32) {
        size_t i = (size_t)m * a.J + j;
        if (a.nb[i] < 0) {
            if (lane == 0) slope[i] = 0;
            continue;
        }
        const B *b = (const B *)a.B + (size_t)a.nb[i] * D;
        float dot = 0;
        for (int c = lane * 8; c < D; c += 256) {
            eight x = load8<WHOLE>(h + c, D - c), y = load8<WHOLE>(b + c, D - c);
#pragma unroll
            for (int k = 0; k < 8; k++) dot += x.x[k] * y.x[k];
        }
        /* e = dot_scale H.B - log X; loss = weight * sum of f e^2. */
        float e = a.dot_scale * warp_sum(dot) - a.logx[i];
        if (lane == 0) {
            slope[i] = a.scale * a.weight * 2 * a.f[i] * e * a.dot_scale;
            sum += a.f[i] * e * e;
        }
    }
    sum = block_sum(sum, room);
    if (threadIdx.x == 0 && a.loss) a.loss[m] = a.weight * sum;
}

template <typename T, typename B, bool WHOLE>
static __global__ void target_rows(const float *slope, kern_gc a)
{
    int m = (int)blockIdx.x, D = a.D;
    for (int c = (int)threadIdx.x * 8; c < D; c += THREADS * 8) {
        T *to = (T *)a.dH + (size_t)a.t[m] * D + c;
        /* rows of targets are distinct (ops.h): no other block adds to this one */
        eight sum = load8<WHOLE>(to, D - c);
        for (int j = 0; j < a.J; j++) {
            size_t i = (size_t)m * a.J + j;
            if (a.nb[i] < 0) continue;
            eight b = load8<WHOLE>((const B *)a.B + (size_t)a.nb[i] * D + c, D - c);
            float by = slope[i];
#pragma unroll
            for (int k = 0; k < 8; k++) sum.x[k] += by * b.x[k];
        }
        store8<WHOLE>(to, sum, D - c);
    }
}

template <typename T, typename B> static void run(const struct kern_gc *a)
{
    size_t n = (size_t)a->M * (size_t)a->J;
    float *slope = (float *)cuda_scratch(SCRATCH_SLOPES, (n + 1) * sizeof *slope);
    if (!slope) return;
    unsigned M = (unsigned)a->M;
    bool whole = whole8((size_t)a->D, a->H, a->B, a->dH);
    if (whole) LAUNCH((errors<T, B, true>), M, THREADS, 0, slope, *a);
    else LAUNCH((errors<T, B, false>), M, THREADS, 0, slope, *a);
    if (a->J == 0) return;
    if (a->dH && whole) LAUNCH((target_rows<T, B, true>), M, THREADS, 0, (const float *)slope, *a);
    else if (a->dH) LAUNCH((target_rows<T, B, false>), M, THREADS, 0, (const float *)slope, *a);
    if (a->dB)
        /* a neighbour that is not there is -1, which is sorted to the end and left out */
        segment_add((B *)a->dB, (const T *)a->H, a->nb, a->M * a->J, a->D,
                    { a->t, a->J, slope, 1 });
}

void cuda_gc(const struct kern_gc *a)
{
    if (a->M <= 0 || cuda_lost()) return;
    if (!cuda.bf16) run<float, float>(a);
    else if (a->B_act) run<bf16, bf16>(a);
    else run<bf16, float>(a);
}
