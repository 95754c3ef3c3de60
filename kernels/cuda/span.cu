/* Cross entropy over the rows of a segment, a warp per segment. */
#include "kernels/cuda/device.h"

enum { WARPS = 4 };                         /* segments per block */

template <typename T> struct segment {
    const kern_span &a;
    int first, n, target;
    __device__ float logit(int i) const
    {
        return to_float(((const T *)a.Z)[(size_t)(first + i) * a.ldz + a.column]);
    }
    __device__ bool counts(int i) const
    {
        return !a.allowed || a.allowed[first + i] || i == target;
    }
};

template <typename T> static __global__ void segments(kern_span a)
{
    int m = (int)blockIdx.x * WARPS + (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    if (m >= a.M) return;
    const segment<T> s = { a, a.at[m], a.len[m], a.target[m] };
    float high = -INFINITY, sum = 0;
    int best = -1;
    for (int i = lane; i < s.n; i += 32)
        if (s.counts(i) && (best < 0 || s.logit(i) > high)) { best = i; high = s.logit(i); }
#pragma unroll
    for (int by = 16; by > 0; by >>= 1) {
        int other = __shfl_xor_sync(0xffffffffu, best, by);
        float x = __shfl_xor_sync(0xffffffffu, high, by);
        /* Of equal ones the first. */
        if (other >= 0 && (best < 0 || x > high || (x == high && other < best))) {
            best = other;
            high = x;
        }
    }
    if (lane == 0 && a.best) a.best[m] = best;
    bool skipped = s.target < 0 || best < 0;
    for (int i = lane; i < s.n && !skipped; i += 32)
        if (s.counts(i)) sum += expf(s.logit(i) - high);
    sum = warp_sum(sum);
    if (lane == 0 && a.loss) a.loss[m] = skipped ? 0.0f : high + logf(sum) - s.logit(s.target);
    if (skipped || !a.dZ) return;
    for (int i = lane; i < s.n; i += 32) {
        if (!s.counts(i)) continue;
        T *d = (T *)a.dZ + (size_t)(s.first + i) * a.ldz + a.column;
        /* d loss / dz = softmax(z) - [target]. */
        float p = expf(s.logit(i) - high) / sum - (i == s.target ? 1.0f : 0.0f);
        *d = from_float<T>(to_float(*d) + a.scale * p);
    }
}

template <typename T> static void run(const struct kern_span *a)
{
    LAUNCH(segments<T>, blocks_for((size_t)a->M, WARPS), 32 * WARPS, 0, *a);
}

void cuda_span(const struct kern_span *a)
{
    if (a->M > 0 && !cuda_lost()) BY_TYPE(run, a);
}
