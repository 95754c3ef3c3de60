/* Output layer and cross entropy, some rows at a time: logits in float32 by a product, a block a
 * row for softmax and its gradient, products with the gradient. A row's logits are read twice,
 * and never all rows' at once. */
#include "kernels/cuda/columns.h"

enum { THREADS = 512 };

/* At most so many floats at a time, unless 64 rows are more: 128 MiB, less on a device of less than
 * 8 GiB. On an H100 larger chunks were no faster. It is the device's memory and not what is free
 * of it: chunks decide the order of sums. */
static size_t most_logits(void)
{
    size_t most = (size_t)32 << 20, share = cuda.memory / 256;
    return share < most ? share : most;
}

static __global__ void count_words(int32_t *n, const uint8_t *allowed, int V)
{
    __shared__ float room[32];
    float mine = 0;                                 /* exact below 2^24 words */
    for (int v = (int)threadIdx.x; v < V; v += (int)blockDim.x) mine += allowed[v] != 0;
    mine = block_sum(mine, room);
    if (threadIdx.x == 0) *n = (int32_t)mine;
}

struct row_of { soft s; float sum, best; int32_t at; };

static __device__ __forceinline__ row_of row_add(row_of a, row_of b)
{
    /* Of equal logits the lower word, in whatever order lanes and warps are joined. */
    bool second = b.at >= 0 && (a.at < 0 || b.best > a.best || (b.best == a.best && b.at < a.at));
    return { soft_add(a.s, b.s), a.sum + b.sum, second ? b.best : a.best, second ? b.at : a.at };
}

template <int N> static __device__ row_of block_row(row_of x, row_of *room)
{
#pragma unroll
    for (int by = 16; by > 0; by >>= 1) {
        row_of y;
        y.s.max = __shfl_xor_sync(0xffffffffu, x.s.max, by);
        y.s.sum = __shfl_xor_sync(0xffffffffu, x.s.sum, by);
        y.sum = __shfl_xor_sync(0xffffffffu, x.sum, by);
        y.best = __shfl_xor_sync(0xffffffffu, x.best, by);
        y.at = __shfl_xor_sync(0xffffffffu, x.at, by);
        x = row_add(x, y);
    }
    if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = x;
    __syncthreads();
    row_of all = room[0];
    for (int w = 1; w < N / 32; w++) all = row_add(all, room[w]);
    return all;
}

/* Z [rows, V] the products with their bias; dZ (NULL: not wanted) gets the gradient of the logits,
 * zeros after a row's last word. Rows are ld apart. A thread takes words in eights, with one
 * exponential for a change of its maximum. */
template <typename T>
static __global__ void __launch_bounds__(THREADS)
    softmax_rows(float *loss, float *nll, int32_t *best, T *dZ, const float *Z,
                   const int32_t *target, const float *weight, const uint8_t *allowed,
                   const int32_t *count, float eps, float scale, int V, int ld)
{
    __shared__ row_of room[32];
    int m = (int)blockIdx.x, word = target[m];
    const float *z = Z + (size_t)m * ld;
    row_of mine = { { -INFINITY, 0 }, 0, -INFINITY, -1 };
    for (int v = (int)threadIdx.x * 8; v < V; v += THREADS * 8) {
        eight x = load8<true>(z + v, 8);
        float high = mine.s.max;
#pragma unroll
        for (int i = 0; i < 8; i++) {
            bool there = v + i < V && (!allowed || allowed[v + i] || v + i == word);
            if (there) {
                mine.sum += x.x[i];
                /* A NaN is never the best word. */
                if (mine.at < 0 ? x.x[i] == x.x[i] : x.x[i] > mine.best) {
                    mine.best = x.x[i];
                    mine.at = v + i;
                }
            } else x.x[i] = -INFINITY;
            high = fmaxf(high, x.x[i]);
        }
        /* One exponential when an eight raises the maximum, none otherwise. */
        if (high != mine.s.max) {
            mine.s.sum *= expf(mine.s.max - high);
            mine.s.max = high;
        }
        /* What is not allowed adds nothing; exp(-inf - -inf) would be NaN. */
#pragma unroll
        for (int i = 0; i < 8; i++)
            mine.s.sum += x.x[i] == -INFINITY ? 0.0f : expf(x.x[i] - high);
    }
    row_of row = block_row<THREADS>(mine, room);
    float lse = row.s.max + logf(row.s.sum);
    float words = (float)(count ? *count + (word >= 0 && !allowed[word]) : V), even = eps / words,
          by = 0;
    if (threadIdx.x == 0) {
        float n = 0, l = 0;
        if (word >= 0) {
            n = lse - z[word];
            l = (1 - eps) * n + eps * (lse - row.sum / words);
        }
        if (loss) loss[m] = l;
        if (nll) nll[m] = n;
        if (best) best[m] = row.at;
    }
    if (!dZ) return;
    __syncthreads(); /* d may be z: the target's logit has been read */
    T *d = dZ + (size_t)m * ld;
    if (word >= 0) by = scale * (weight ? weight[m] : 1.0f);
    for (int v = (int)threadIdx.x * 8; v < V; v += THREADS * 8) {
        eight x = load8<true>(z + v, 8);
#pragma unroll
        for (int i = 0; i < 8; i++) {
            bool there = word >= 0 && v + i < V && (!allowed || allowed[v + i] || v + i == word);
            /* d loss / dz = softmax(z) - eps / words - (1 - eps) [target]. */
            x.x[i] = there ? by * (expf(x.x[i] - lse) - even - (v + i == word ? 1 - eps : 0.0f))
                           : 0.0f;
        }
        store8<true>(d + v, x, 8);
    }
}

/* Rows of logits begin at multiples of eight of them, whatever the number of words: products of
 * rows that do not are slow, or none. */
static int logits_across(int V) { return (V + 7) / 8 * 8; }

size_t xent_logits(int V, int M, int *rows)
{
    size_t across = (size_t)logits_across(V > 0 ? V : 1), most = most_logits() / across / 64 * 64;
    if (most < 64) most = 64;
    *rows = M < (int)most ? M : (int)most;
    /* No short last chunk leaves its products' tiles half empty: 2,458 rows were once 1,088,
     * 1,088 and 282. */
    if (M > *rows) {                        /* equal chunks of whole tiles of products */
        int chunks = (M + *rows - 1) / *rows;
        *rows = ((M + chunks - 1) / chunks + 127) / 128 * 128;
        if (*rows > M) *rows = M;
    }
    return (size_t)*rows * across * sizeof(float);
}

template <typename T> static void run(const struct kern_xent *a)
{
    bool gradient = a->dX || a->dW || a->db;
    int step, D = a->D, V = a->V, ld = logits_across(V);
    xent_logits(V, a->M, &step);
    size_t logits = (size_t)step * (size_t)ld,
           counts_at = (logits * sizeof(float) + 255) / 256 * 256;
    size_t slopes =
        gradient && sizeof(T) != sizeof(float) ? (logits * sizeof(T) + 255) / 256 * 256 : 0;
    char *room = (char *)cuda_scratch(SCRATCH_LOGITS, counts_at + 256 + slopes);
    if (!room) return;
    int32_t *count = a->allowed ? (int32_t *)(room + counts_at) : NULL;
    float *Z = (float *)room;
    /* float32: in the place of the logits */
    T *dZ = !gradient ? NULL : (T *)(slopes ? room + counts_at + 256 : room);
    if (count) LAUNCH(count_words, 1, 1024, 0, count, a->allowed, V);
    for (int at = 0; at < a->M && !cuda_lost(); at += step) {
        int rows = a->M - at < step ? a->M - at : step;
        const T *x = (const T *)a->X + (size_t)at * D;
        T *dx = a->dX ? (T *)a->dX + (size_t)at * D : NULL;
        const struct matrix X = { x, D, MATRIX_ACT }, W = { a->W, D, MATRIX_WEIGHTS },
                            d = { dZ, ld, MATRIX_ACT };
        cuda_gemm(false, true, rows, V, D, X, W, { Z, ld, MATRIX_FLOAT }, false, a->b, false);
        LAUNCH(softmax_rows<T>, (unsigned)rows, THREADS, 0, a->loss ? a->loss + at : NULL,
               a->nll ? a->nll + at : NULL, a->best ? a->best + at : NULL, dZ, (const float *)Z,
               a->target + at, a->weight ? a->weight + at : NULL, a->allowed,
               (const int32_t *)count, a->eps, a->scale, V, ld);
        if (dx)
            cuda_gemm(false, false, rows, D, V, d, W, { dx, D, MATRIX_ACT }, false, NULL, false);
        if (a->dW)
            cuda_gemm(true, false, V, D, rows, d, X, { a->dW, D, MATRIX_FLOAT },
                      /* only the first chunk may overwrite */
                      !a->first || at > 0, NULL, false);
        if (a->db) cuda_column_sums(a->db, dZ, rows, V, ld);
    }
}

void cuda_xent(const struct kern_xent *a)
{
    if (a->M > 0 && a->V > 0 && !cuda_lost()) BY_TYPE(run, a);
}
