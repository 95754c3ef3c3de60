/* Attention of one query to the keys of its sentence or cache: a block for each head of each
 * hypothesis. Scores of all keys lie in shared memory; 8 lanes read a key's row, 64 elements at
 * a time. Where keys lie at any rows the two passes look each row up: the second time in the
 * first-level cache, which is cheaper than shared memory that would halve the longest sentence. */
#include "kernels/cuda/attention/attn.h"

enum { THREADS = 128, LANES = 8, TOGETHER = THREADS / LANES };

template <typename T, bool WHOLE>
static __global__ void one_query(T *O, float *lse, const T *Q, const T *K, const T *V, kern_attn g)
{
    DYNAMIC_SHARED(room);
    int b = (int)blockIdx.x / g.heads, h = (int)blockIdx.x % g.heads, tid = (int)threadIdx.x,
        dim = g.dim;
    if (g.q_len[b] < 1) return;
    int nk = g.k_len[b], row = g.q_at[b], lane = tid % LANES, group = tid / LANES;
    /* parts [TOGETHER][dim] */
    float *score = (float *)room, *sums = score + g.max_k, *parts = sums + 64;
    const T *q = Q + (size_t)row * g.ldq + h * dim, *k = K + h * dim, *v = V + h * dim;
    const attn_rows rows = attn_rows_of(g, b);

    float high = -INFINITY;
    for (int first = 0; first < nk; first += TOGETHER) {
        int j = first + group;
        float s = 0;
        /* A lane without a key reads none, but takes part in the shuffles. */
        const T *key = k + (j < nk ? attn_row(rows, j) : 0) * g.ldk;
        for (int c = lane * 8; j < nk && c < dim; c += LANES * 8) {
            eight x = load8<WHOLE>(q + c, dim - c), y = load8<WHOLE>(key + c, dim - c);
#pragma unroll
            for (int i = 0; i < 8; i++) s += x.x[i] * y.x[i];
        }
#pragma unroll
        for (int by = LANES / 2; by > 0; by /= 2) s += __shfl_xor_sync(0xffffffffu, s, by);
        s *= g.scale;
        if (j < nk && lane == 0) score[j] = s;
        if (j < nk) high = fmaxf(high, s);
    }
    high = warp_max(high);
    /* In the upper half of `sums`, whose lower half block_sum uses. */
    if (tid % 32 == 0) sums[32 + tid / 32] = high;
    __syncthreads();
    for (int w = 0; w < THREADS / 32; w++) high = fmaxf(high, sums[32 + w]);
    float all = 0;
    for (int j = tid; j < nk; j += THREADS) {
        float e = expf(score[j] - high);
        score[j] = e;
        all += e;
    }
    all = block_sum(all, sums);                     /* its barrier: all scores are there */

    for (int c = lane * 8; c < dim; c += LANES * 8) {
        eight o;
#pragma unroll
        for (int i = 0; i < 8; i++) o.x[i] = 0;
        /* 16 groups of lanes share out the keys; their parts are added in order below. */
        for (int j = group; j < nk; j += TOGETHER) {
            eight y = load8<WHOLE>(v + attn_row(rows, j) * g.ldv + c, dim - c);
            float p = score[j];
#pragma unroll
            for (int i = 0; i < 8; i++) o.x[i] += p * y.x[i];
        }
#pragma unroll
        for (int i = 0; i < 8; i++) if (c + i < dim) parts[group * dim + c + i] = o.x[i];
    }
    __syncthreads();
    for (int c = tid; c < dim; c += THREADS) {
        float o = 0;
        for (int r = 0; r < TOGETHER; r++) o += parts[r * dim + c];
        O[(size_t)row * g.ldo + h * dim + c] = from_float<T>(nk > 0 ? o / all : 0.0f);
    }
    if (tid == 0 && lse) lse[(size_t)row * g.heads + h] = nk > 0 ? high + logf(all) : -INFINITY;
}

template <typename T> static void attend(act *O, float *lse, const act *Q, const act *K,
                                         const act *V, const struct kern_attn *g, size_t bytes)
{
    bool whole =
        whole8((size_t)g->dim, Q, K, V) && g->ldq % 8 == 0 && g->ldk % 8 == 0 && g->ldv % 8 == 0;
    unsigned grid = (unsigned)(g->batch * g->heads);
    if (whole)
        LAUNCH((one_query<T, true>), grid, THREADS, bytes, (T *)O, lse, (const T *)Q, (const T *)K,
               (const T *)V, *g);
    else
        LAUNCH((one_query<T, false>), grid, THREADS, bytes, (T *)O, lse, (const T *)Q, (const T *)K,
               (const T *)V, *g);
}

bool decode_attn(act *O, float *lse, const act *Q, const act *K, const act *V,
                 const struct kern_attn *g)
{
    /* 48 KiB: what any block may have without a request. */
    size_t bytes = ((size_t)g->max_k + 64 + (size_t)TOGETHER * (size_t)g->dim) * sizeof(float);
    if (g->max_q != 1 || bytes > 48 << 10) return false;
    BY_TYPE(attend, O, lse, Q, K, V, g, bytes);
    return true;
}
