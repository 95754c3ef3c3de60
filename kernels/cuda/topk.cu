/* The k best words of each row of logits, a block a row. The row is read once, eight words at a
 * time: each thread keeps the best of its slice, and a running maximum and sum of exp. The best
 * of the slices' is chosen, and all threads look for its slice's next one in the cache: k times. */
#include "kernels/cuda/device.h"

/* Threads of a block, at most; a row of LONG_ROW words and more may have MANY. */
static const unsigned FEW = 256, MANY = 1024;
static const int LONG_ROW = 4096;

struct word { float x; int32_t at; };               /* at -1: none */

/* Larger first, ties to the lower word. */
static __device__ __forceinline__ bool before(word a, word b)
{
    return a.at >= 0 && (b.at < 0 || a.x > b.x || (a.x == b.x && a.at < b.at));
}

/* Not a number is no larger than anything: all threads must agree on which is first. */
static __device__ __forceinline__ word word_of(float x, int v)
{
    return { x == x ? x : -INFINITY, v };
}

static __device__ __forceinline__ word warp_first(word w)
{
#pragma unroll
    for (int by = 16; by > 0; by >>= 1) {
        word y = { __shfl_xor_sync(0xffffffffu, w.x, by), __shfl_xor_sync(0xffffffffu, w.at, by) };
        if (before(y, w)) w = y;
    }
    return w;
}

static __device__ word block_first(word w, word *room)
{
    int lane = (int)threadIdx.x % 32;
    w = warp_first(w);
    __syncthreads();                                /* the room may still be read */
    if (lane == 0) room[threadIdx.x / 32] = w;
    __syncthreads();
    word mine = { -INFINITY, -1 };
    return warp_first(lane < (int)blockDim.x / 32 ? room[lane] : mine);
}

static __device__ soft block_soft(soft s, soft *room)
{
#pragma unroll
    for (int by = 16; by > 0; by >>= 1) {
        soft y = { __shfl_xor_sync(0xffffffffu, s.max, by),
                   __shfl_xor_sync(0xffffffffu, s.sum, by) };
        s = soft_add(s, y);
    }
    if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = s;
    __syncthreads();
    soft all = room[0];
    for (int w = 1; w < (int)blockDim.x / 32; w++) all = soft_add(all, room[w]);
    return all;
}

/* Eight words are a thread's of each blockDim.x times eight. */
template <typename T, bool WHOLE>
static __global__ void pick_rows(float *val, int32_t *idx, float *lse, const T *logits,
                                 const uint8_t *allowed, const int32_t *words, int V, int k)
{
    __shared__ word room[32];
    __shared__ soft sums[32];
    int threads = (int)blockDim.x, tid = (int)threadIdx.x;
    const T *z = logits + (size_t)blockIdx.x * V;
    word mine = { -INFINITY, -1 };
    soft s = { -INFINITY, 0 };
    for (int c = tid * 8; c < V; c += threads * 8) {
        eight x = load8<WHOLE>(z + c, V - c);
        float high = s.max;
#pragma unroll
        for (int i = 0; i < 8; i++) {
            bool there = (WHOLE || c + i < V) && (!allowed || allowed[c + i]);
            word w = word_of(x.x[i], there ? c + i : -1);
            if (before(w, mine)) mine = w;
            x.x[i] = there ? x.x[i] : -INFINITY;
            high = fmaxf(high, x.x[i]);
        }
        /* The sum so far was taken under the old maximum. */
        if (s.max != high) s = { high, s.sum * expf(s.max - high) };
#pragma unroll
        for (int i = 0; i < 8; i++) s.sum += x.x[i] == -INFINITY ? 0.0f : expf(x.x[i] - high);
    }
    for (int i = 0; i < k; i++) {
        word first = block_first(mine, room);
        if (tid == 0) {
            val[(size_t)blockIdx.x * k + i] = first.x;
            idx[(size_t)blockIdx.x * k + i] = words && first.at >= 0 ? words[first.at] : first.at;
        }
        /* Fewer allowed words than k: the rest is -inf and -1, as on the CPU. */
        if (first.at < 0 || i + 1 == k) {
            for (int j = i + 1 + tid; j < k; j += threads) {
                val[(size_t)blockIdx.x * k + j] = -INFINITY;
                idx[(size_t)blockIdx.x * k + j] = -1;
            }
            break;
        }
        /* Word v is of the slice of thread v / 8 % threads. That slice alone has lost its best
         * word. */
        int slice = first.at / 8 % threads;
        word next = { -INFINITY, -1 };
        for (int j = tid, v; (v = (slice + j / 8 * threads) * 8 + j % 8) < V; j += threads) {
            word w = word_of(to_float(z[v]), v);
            if ((!allowed || allowed[v]) && before(first, w) && before(w, next)) next = w;
        }
        next = block_first(next, room);
        if (tid == slice) mine = next;
    }
    if (!lse) return;
    s = block_soft(s, sums);
    if (tid == 0) lse[blockIdx.x] = s.sum > 0 || s.sum != s.sum ? s.max + logf(s.sum) : -INFINITY;
}

template <typename T> static void pick(const struct kern_topk *a)
{
    /* No more threads than there are eights of words. */
    unsigned enough = blocks_for((size_t)a->V, 8 * 32) * 32, few = enough < FEW ? enough : FEW;
    unsigned threads = a->V >= LONG_ROW ? MANY : few, M = (unsigned)a->M;
    const T *z = (const T *)a->logits;
    if (whole8((size_t)a->V, z))
        LAUNCH((pick_rows<T, true>), M, threads, 0, a->val, a->idx, a->lse, z, a->allowed, a->word,
               a->V, a->k);
    else
        LAUNCH((pick_rows<T, false>), M, threads, 0, a->val, a->idx, a->lse, z, a->allowed,
               a->word, a->V, a->k);
}

void cuda_topk(const struct kern_topk *a)
{
    if (a->M > 0 && a->k > 0 && !cuda_lost()) BY_TYPE(pick, a);
}
