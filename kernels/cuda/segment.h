/* Rows added up where indices say: out[index[i]] += coef[i] * source row of i, for embedding
 * gradients and MLM-GC. The pairs (index, i) are sorted; each stretch of one index is added up
 * in order of i, in pieces of RUN. No atomics, the same bytes every time. */
#ifndef KERNELS_CUDA_SEGMENT_H
#define KERNELS_CUDA_SEGMENT_H
#include "kernels/cuda/device.h"

/* index[i] << 32 | i for i < n, ascending, negative indices at the end; NULL when there is no
 * memory. Valid until the next call. */
const uint64_t *segment_sort(const int32_t *index, int n);

/* The source of i: row rows[i / per] of src (rows NULL: row i / per), times coef[i] (NULL: 1)
 * and a. */
struct segment_source { const int32_t *rows; int per; const float *coef; float a; };

/* A piece; threads of a block, and of a row of them. */
enum {
    SEGMENT_RUN = 32,
    SEGMENT_JOIN = 8,
    SEGMENT_THREADS = 128
};
/* Indices from here on are negative: none. */
static const uint32_t SEGMENT_NONE = 0x80000000u;

static __device__ __forceinline__ uint32_t segment_key(const uint64_t *sorted, int i)
{
    return (uint32_t)(sorted[i] >> 32);
}

/* One piece, eight columns a thread. A stretch that lies inside the piece goes to out; what
 * began before goes to part[piece][0], what goes on after to part[piece][1]. */
template <typename S, typename O, bool WHOLE>
static __global__ void segment_pieces(O *out, float *part, const S *src, const uint64_t *sorted,
                                      segment_source from, int n, int D)
{
    int piece = (int)blockIdx.x, first = piece * SEGMENT_RUN,
        end = n - first < SEGMENT_RUN ? n : first + SEGMENT_RUN;
    int c = ((int)blockIdx.y * (int)blockDim.x + (int)threadIdx.x) * 8, left = D - c;
    if (c >= D || segment_key(sorted, first) >= SEGMENT_NONE) return;
    bool before = first > 0 && segment_key(sorted, first - 1) == segment_key(sorted, first);
    eight sum;
#pragma unroll
    for (int j = 0; j < 8; j++) sum.x[j] = 0;
    for (int i = first; i < end; i++) {
        uint32_t key = segment_key(sorted, i), at = (uint32_t)sorted[i];
        if (key >= SEGMENT_NONE) break;
        uint32_t nth = at / (uint32_t)from.per;
        size_t row = from.rows ? (size_t)from.rows[nth] : nth;
        float by = from.coef ? from.a * from.coef[at] : from.a;
        eight x = load8<WHOLE>(src + row * D + c, left);
#pragma unroll
        for (int j = 0; j < 8; j++) sum.x[j] += by * x.x[j];
        bool last = i + 1 == end, more = i + 1 < n && segment_key(sorted, i + 1) == key;
        if (more && !last) continue;
        /* Another piece has a part of this stretch: segment_join adds them in order. */
        if (before || more) {
            store8<WHOLE>(part + ((size_t)piece * 2 + (before ? 0 : 1)) * D + c, sum, left);
        } else {
            O *to = out + (size_t)key * D + c;
            eight old = load8<WHOLE>(to, left);
#pragma unroll
            for (int j = 0; j < 8; j++) old.x[j] += sum.x[j];
            store8<WHOLE>(to, old, left);
        }
        before = false;
#pragma unroll
        for (int j = 0; j < 8; j++) sum.x[j] = 0;
    }
}

/* The stretches that began in a piece and go on in later ones: a language's goes through all of
 * a batch, so that SEGMENT_JOIN threads share the pieces of a column, and add their sums in
 * order. */
template <typename O, bool WHOLE>
static __global__ void segment_join(O *out, const float *part, const uint64_t *sorted, int n, int D)
{
    __shared__ float room[SEGMENT_JOIN][SEGMENT_THREADS * 8];
    int piece = (int)blockIdx.x, first = piece * SEGMENT_RUN, next = first + SEGMENT_RUN,
        x = (int)threadIdx.x, y = (int)threadIdx.y;
    int c = ((int)blockIdx.y * (int)blockDim.x + x) * 8, left = D - c;
    if (next >= n) return;
    uint32_t key = segment_key(sorted, next - 1);
    if (key >= SEGMENT_NONE || segment_key(sorted, next) != key) return;
    /* It began earlier. */
    if (segment_key(sorted, first) == key && first > 0 && segment_key(sorted, first - 1) == key)
        return;
    /* Pieces after this one up to `last` begin with the key. */
    int last = piece + 1, past = (n + SEGMENT_RUN - 1) / SEGMENT_RUN;
    while (past - last > 1) {
        int p = last + (past - last) / 2;
        if (segment_key(sorted, p * SEGMENT_RUN) == key) last = p; else past = p;
    }
    eight sum;
#pragma unroll
    for (int j = 0; j < 8; j++) sum.x[j] = 0;
    if (c < D) {
        if (y == 0) sum = load8<WHOLE>(part + ((size_t)piece * 2 + 1) * D + c, left);
#pragma unroll 4
        for (int p = piece + 1 + y; p <= last; p += SEGMENT_JOIN) {
            eight more = load8<WHOLE>(part + (size_t)p * 2 * D + c, left);
#pragma unroll
            for (int j = 0; j < 8; j++) sum.x[j] += more.x[j];
        }
    }
#pragma unroll
    for (int j = 0; j < 8; j++) room[y][x * 8 + j] = sum.x[j];
    __syncthreads();
    if (y > 0 || c >= D) return;
    for (int i = 1; i < SEGMENT_JOIN; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) sum.x[j] += room[i][x * 8 + j];
    O *to = out + (size_t)key * D + c;
    eight old = load8<WHOLE>(to, left);
#pragma unroll
    for (int j = 0; j < 8; j++) old.x[j] += sum.x[j];
    store8<WHOLE>(to, old, left);
}

template <typename S, typename O> static void segment_add(O *out, const S *src,
                                                          const int32_t *index, int n, int D,
                                                          struct segment_source from)
{
    const uint64_t *sorted = segment_sort(index, n);
    unsigned pieces = blocks_for((size_t)n, SEGMENT_RUN);
    float *part =
        (float *)cuda_scratch(SCRATCH_RUNS, (size_t)pieces * 2 * (size_t)D * sizeof(float));
    if (!sorted || !part) return;
    /* No more threads than a row has eights of columns, in whole warps. */
    unsigned threads = D > 512 ? SEGMENT_THREADS : D > 256 ? 64 : 32;
    dim3 grid(pieces, blocks_for((size_t)D, threads * 8));
    if (whole8((size_t)D, out, src, part)) {
        LAUNCH((segment_pieces<S, O, true>), grid, threads, 0, out, part, src, sorted, from, n, D);
        LAUNCH((segment_join<O, true>), grid, dim3(threads, SEGMENT_JOIN), 0, out,
               (const float *)part, sorted, n, D);
    } else {
        LAUNCH((segment_pieces<S, O, false>), grid, threads, 0, out, part, src, sorted, from, n, D);
        LAUNCH((segment_join<O, false>), grid, dim3(threads, SEGMENT_JOIN), 0, out,
               (const float *)part, sorted, n, D);
    }
}

#endif
