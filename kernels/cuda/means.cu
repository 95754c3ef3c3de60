/* Means of the K largest of each column, a thread per column, whose K largest lie in memory of
 * its own. */
#include "kernels/cuda/device.h"

template <typename T> static __global__ void mean_columns(kern_column_means a)
{
    int c = (int)(blockIdx.x * blockDim.x + threadIdx.x), K = a.K < a.n ? a.K : a.n;
    if (c >= a.m) return;
    float best[KERN_MEANS_MAX], sum = 0;
    for (int r = 0; r < a.n; r++) {
        float x = to_float(((const T *)a.S)[(size_t)r * a.m + c]);
        int kept = r < K ? r : K;
        if (kept == K && (K == 0 || !(x > best[K - 1]))) continue;
        int i = kept < K ? kept : K - 1;
        for (; i > 0 && x > best[i - 1]; i--) best[i] = best[i - 1];
        best[i] = x;
    }
    for (int i = 0; i < K; i++) sum += best[i];
    a.mean[c] = K > 0 ? sum / (float)K : 0.0f;
}

template <typename T> static void means(const struct kern_column_means *a)
{
    LAUNCH(mean_columns<T>, blocks_for((size_t)a->m, 64), 64, 0, *a);
}

void cuda_column_means(const struct kern_column_means *a)
{
    if (a->m > 0 && !cuda_lost()) BY_TYPE(means, a);
}
