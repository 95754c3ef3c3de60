/* Weighted sums of a table's rows (backward: segment.h), their lengths, and the weights: softmax
 * of a few values. */
#include "kernels/cuda/segment.h"

template <typename T, bool WHOLE> static __global__ void forward_rows(kern_mix_fwd a)
{
    int across = (a.D + 7) / 8;
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)a.M * across) return;
    int m = (int)(i / across), c = (int)(i % across) * 8, left = a.D - c;
    T *to = (T *)a.Y + (size_t)(a.row ? a.row[m] : m) * a.D + c;
    /* the rows are distinct (ops.h): no other thread adds here */
    eight y = load8<WHOLE>(to, left);
    for (int j = 0; j < a.k; j++) {
        int word = a.idx[(size_t)m * a.k + j];
        if (word < 0) continue;
        eight e = load8<WHOLE>(a.E + (size_t)word * a.D + c, left);
        float by = a.scale * a.w[(size_t)m * a.k + j];
#pragma unroll
        for (int x = 0; x < 8; x++) y.x[x] += by * e.x[x];
    }
    store8<WHOLE>(to, y, left);
}

template <typename T> static void forward(const struct kern_mix_fwd *a)
{
    unsigned grid = blocks_for((size_t)a->M * (size_t)((a->D + 7) / 8), 256);
    if (whole8((size_t)a->D, a->Y, a->E)) LAUNCH((forward_rows<T, true>), grid, 256, 0, *a);
    else LAUNCH((forward_rows<T, false>), grid, 256, 0, *a);
}

void cuda_mix_fwd(const struct kern_mix_fwd *a)
{
    if (a->M > 0 && a->k > 0 && a->D > 0 && !cuda_lost()) BY_TYPE(forward, a);
}

template <typename T> static void backward(const struct kern_mix_bwd *a)
{
    segment_add(a->dE, (const T *)a->dY, a->idx, a->M * a->k, a->D,
                { a->row, a->k, a->w, a->scale });
}

void cuda_mix_bwd(const struct kern_mix_bwd *a)
{
    if (a->dE && a->M > 0 && a->k > 0 && a->D > 0 && !cuda_lost()) BY_TYPE(backward, a);
}

/* A thread per row. */
static __global__ void softmax_rows(kern_softmax a)
{
    int m = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (m >= a.M) return;
    const float *val = a.val + (size_t)m * a.k;
    float *w = a.w + (size_t)m * a.k, high = -INFINITY, sum = 0, along = 0;
    for (int j = 0; j < a.k; j++) high = fmaxf(high, val[j]);
    for (int j = 0; j < a.k; j++) {
        /* All values -inf: weights 0, not NaN. */
        float z = high > -INFINITY ? (val[j] - high) / a.T : -INFINITY, e = expf(z);
        w[j] = e;
        sum += e;
        if (z > -INFINITY) along += z * e;
    }
    for (int j = 0; j < a.k && sum > 0; j++) w[j] /= sum;
    /* With z = (val - high) / T: H = log(sum e^z) - sum z e^z / sum e^z. */
    if (a.entropy) a.entropy[m] = sum > 0 ? logf(sum) - along / sum : 0.0f;
}

void cuda_softmax(const struct kern_softmax *a)
{
    if (a->M > 0 && !cuda_lost()) LAUNCH(softmax_rows, blocks_for((size_t)a->M, 128), 128, 0, *a);
}

/* A warp per row; lane by lane the columns. */
static __global__ void norm_rows(kern_mix_norm a)
{
    int m = (int)(blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = (int)threadIdx.x % 32;
    if (m >= a.M) return;
    const int32_t *idx = a.idx + (size_t)m * a.k;
    float *w = a.w + (size_t)m * a.k, along = 0, parts = 0;
    for (int j = 0; j < a.k; j++) {
        if (idx[j] < 0) continue;
        float square = 0;
        for (int d = lane; d < a.D; d += 32) {
            float e = a.E[(size_t)idx[j] * a.D + d];
            square += e * e;
        }
        parts += w[j] * sqrtf(warp_sum(square));
    }
    for (int d = lane; d < a.D; d += 32) {
        float y = 0;
        for (int j = 0; j < a.k; j++)
            if (idx[j] >= 0) y += w[j] * a.E[(size_t)idx[j] * a.D + d];
        along += y * y;
    }
    float ratio = sqrtf(warp_sum(along));
    /* |sum w E| / sum w |E|: 1 where all rows point the same way. */
    ratio = parts > 0 ? ratio / parts : 0.0f;
    if (lane == 0) a.ratio[m] = ratio;
    /* Every lane has read the weights before one changes them. */
    __syncwarp();
    for (int j = lane; j < a.k && a.keep && ratio > 0; j += 32) w[j] /= ratio;
}

void cuda_mix_norm(const struct kern_mix_norm *a)
{
    if (a->M > 0 && !cuda_lost()) LAUNCH(norm_rows, blocks_for((size_t)a->M, 4), 128, 0, *a);
}

static __global__ void equal_rows(kern_equal a)
{
    int m = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (m < a.M) a.x[m] = a.a[(size_t)m * a.lda] == a.b[m] ? 1.0f : 0.0f;
}

void cuda_equal(const struct kern_equal *a)
{
    if (a->M > 0 && !cuda_lost()) LAUNCH(equal_rows, blocks_for((size_t)a->M, 128), 128, 0, *a);
}
