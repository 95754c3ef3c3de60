/* The co-occurrence regression of MLM-GC. First all errors, then the gradients: those of the targets' rows by target, those of
 * their neighbours' rows by neighbour (segment.h), for the same row is a neighbour of many. */
#include "kernels/cuda/segment.h"

enum { THREADS = 128 };

/* slope [M, J]: d(scale * loss) / d(H . B). A block a target, a warp a neighbour. */
template <typename T, typename B, bool WHOLE>
static __global__ void errors(float *loss, float *slope, const T *H, const B *nbs, const int32_t *t, const int32_t *nb, const float *f,
                              const float *logx, float dot_scale, float weight, float scale, int J, int D)
{
    __shared__ float room[32];
    int m = (int)blockIdx.x, lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    const T *h = H + (size_t)t[m] * D;
    float sum = 0;
    for (int j = warp; j < J; j += THREADS / 32) {
        size_t i = (size_t)m * J + j;
        if (nb[i] < 0) {
            if (lane == 0) slope[i] = 0;
            continue;
        }
        const B *b = nbs + (size_t)nb[i] * D;
        float dot = 0;
        for (int c = lane * 8; c < D; c += 256) {
            eight x = load8<WHOLE>(h + c, D - c), y = load8<WHOLE>(b + c, D - c);
#pragma unroll
            for (int k = 0; k < 8; k++) dot += x.x[k] * y.x[k];
        }
        float e = dot_scale * warp_sum(dot) - logx[i];
        if (lane == 0) {
            slope[i] = scale * weight * 2 * f[i] * e * dot_scale;
            sum += f[i] * e * e;
        }
    }
    sum = block_sum(sum, room);
    if (threadIdx.x == 0 && loss) loss[m] = weight * sum;
}

template <typename T, typename B, bool WHOLE>
static __global__ void target_rows(T *dH, const B *nbs, const float *slope, const int32_t *t, const int32_t *nb, int J, int D)
{
    int m = (int)blockIdx.x;
    for (int c = (int)threadIdx.x * 8; c < D; c += THREADS * 8) {
        T *to = dH + (size_t)t[m] * D + c;
        eight sum = load8<WHOLE>(to, D - c);
        for (int j = 0; j < J; j++) {
            size_t i = (size_t)m * J + j;
            if (nb[i] < 0) continue;
            eight b = load8<WHOLE>(nbs + (size_t)nb[i] * D + c, D - c);
            float by = slope[i];
#pragma unroll
            for (int k = 0; k < 8; k++) sum.x[k] += by * b.x[k];
        }
        store8<WHOLE>(to, sum, D - c);
    }
}

template <typename T, typename B>
static void run(float *loss, T *dH, B *dB, const T *H, const B *nbs, const int32_t *t, const int32_t *nb, const float *f, const float *logx,
                float dot_scale, float weight, float scale, int M, int J, int D)
{
    float *slope = (float *)cuda_scratch(SCRATCH_SLOPES, ((size_t)M * (size_t)J + 1) * sizeof *slope);
    if (!slope) return;
    bool whole = whole8((size_t)D, H, nbs, dH);
    if (whole) LAUNCH((errors<T, B, true>), (unsigned)M, THREADS, 0, loss, slope, H, nbs, t, nb, f, logx, dot_scale, weight, scale, J, D);
    else LAUNCH((errors<T, B, false>), (unsigned)M, THREADS, 0, loss, slope, H, nbs, t, nb, f, logx, dot_scale, weight, scale, J, D);
    if (J == 0) return;
    if (dH && whole) LAUNCH((target_rows<T, B, true>), (unsigned)M, THREADS, 0, dH, nbs, (const float *)slope, t, nb, J, D);
    else if (dH) LAUNCH((target_rows<T, B, false>), (unsigned)M, THREADS, 0, dH, nbs, (const float *)slope, t, nb, J, D);
    if (dB) segment_add(dB, H, nb, M * J, D, { t, J, slope, 1 });
}

void cuda_gc(float *loss, act *dH, void *dB, const act *H, const void *B, bool B_act, const int32_t *t,
             const int32_t *nb, const float *f, const float *logx, float dot_scale, float weight, float scale,
             int M, int J, int D)
{
    if (M <= 0 || cuda_lost()) return;
    if (!cuda.bf16) run(loss, (float *)dH, (float *)dB, (const float *)H, (const float *)B, t, nb, f, logx, dot_scale, weight, scale, M, J, D);
    else if (B_act) run(loss, (bf16 *)dH, (bf16 *)dB, (const bf16 *)H, (const bf16 *)B, t, nb, f, logx, dot_scale, weight, scale, M, J, D);
    else run(loss, (bf16 *)dH, (float *)dB, (const bf16 *)H, (const float *)B, t, nb, f, logx, dot_scale, weight, scale, M, J, D);
}
