/* The k best words of each row of logits, a block a row. The row is cut into as many slices as there are threads; each knows its
 * best word that was not chosen yet. The best of those is chosen, and all threads look for its slice's next one: k times. */
#include "kernels/cuda/device.h"

enum { THREADS = 256 };

struct word { float x; int32_t at; };               /* at -1: none */

/* Larger first, ties to the lower word. */
static __device__ __forceinline__ bool before(word a, word b) { return a.at >= 0 && (b.at < 0 || a.x > b.x || (a.x == b.x && a.at < b.at)); }

/* Not a number is no larger than anything: all threads must agree on which is first. */
template <typename T> static __device__ __forceinline__ word word_of(const T *z, int v)
{
    float x = to_float(z[v]);
    return { x == x ? x : -INFINITY, v };
}

static __device__ word block_first(word w, word *room)
{
#pragma unroll
    for (int by = 16; by > 0; by >>= 1) {
        word y = { __shfl_xor_sync(0xffffffffu, w.x, by), __shfl_xor_sync(0xffffffffu, w.at, by) };
        if (before(y, w)) w = y;
    }
    __syncthreads();                                /* the room may still be read */
    if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = w;
    __syncthreads();
    for (int i = 0; i < THREADS / 32; i++) if (before(room[i], w)) w = room[i];
    return w;
}

template <typename T>
static __global__ void pick_rows(float *val, int32_t *idx, float *lse, const T *logits, const uint8_t *allowed, int V, int k)
{
    __shared__ word room[32];
    __shared__ float sums[32];
    const T *z = logits + (size_t)blockIdx.x * V;
    word mine = { -INFINITY, -1 };
    for (int v = (int)threadIdx.x; v < V; v += THREADS) {
        word w = word_of(z, v);
        if ((!allowed || allowed[v]) && before(w, mine)) mine = w;
    }
    float high = 0, all = 0;
    for (int i = 0; i < k; i++) {
        word first = block_first(mine, room);
        if (i == 0) high = first.x;
        if (threadIdx.x == 0) {
            val[(size_t)blockIdx.x * k + i] = first.x;
            idx[(size_t)blockIdx.x * k + i] = first.at;
        }
        if (first.at < 0 || i + 1 == k) {
            for (int j = i + 1 + (int)threadIdx.x; j < k; j += THREADS) {
                val[(size_t)blockIdx.x * k + j] = -INFINITY;
                idx[(size_t)blockIdx.x * k + j] = -1;
            }
            break;
        }
        int slice = first.at % THREADS;
        word next = { -INFINITY, -1 };
        for (int v = slice + (int)threadIdx.x * THREADS; v < V; v += THREADS * THREADS) {
            word w = word_of(z, v);
            if ((!allowed || allowed[v]) && before(first, w) && before(w, next)) next = w;
        }
        next = block_first(next, room);
        if ((int)threadIdx.x == slice) mine = next;
    }
    if (!lse) return;
    for (int v = (int)threadIdx.x; v < V; v += THREADS) if (!allowed || allowed[v]) all += expf(to_float(z[v]) - high);
    all = block_sum(all, sums);
    if (threadIdx.x == 0) lse[blockIdx.x] = all > 0 || all != all ? high + logf(all) : -INFINITY;
}

template <typename T> static void pick(float *val, int32_t *idx, float *lse, const act *logits, const uint8_t *allowed, int M, int V, int k)
{
    LAUNCH(pick_rows<T>, (unsigned)M, THREADS, 0, val, idx, lse, (const T *)logits, allowed, V, k);
}

void cuda_topk(float *val, int32_t *idx, float *lse, const act *logits, const uint8_t *allowed, int M, int V, int k)
{
    if (M > 0 && k > 0 && !cuda_lost()) BY_TYPE(pick, val, idx, lse, logits, allowed, M, V, k);
}
