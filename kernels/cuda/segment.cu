/* Batcher's bitonic sort of 64-bit keys that are all different: stretches of TILE in shared
 * memory, wider steps in global. Tens of thousands of keys take some twenty launches, a hundredth
 * of a training step. With sort=1 the keys are made on the way and stretches are of WIDE: up to
 * 4,096 keys are one launch. */
#include "kernels/cuda/segment.h"

static const unsigned TILE = 1024, WIDE = 4096;

static __device__ __forceinline__ uint64_t key_of(const int32_t *index, unsigned i, unsigned n)
{
    return i < n ? (uint64_t)(uint32_t)index[i] << 32 | i : ~(uint64_t)0;
}
static __global__ void make_keys(uint64_t *keys, const int32_t *index, unsigned n, unsigned padded)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < padded) keys[i] = key_of(index, i, n);
}

/* Two keys at a power of two's distance; ascending where bit `size` of their place is 0. */
static __device__ __forceinline__ void exchange(uint64_t *a, uint64_t *b, bool ascending)
{
    uint64_t x = *a, y = *b;
    if ((x > y) == ascending) { *a = y; *b = x; }
}

/* Steps of distance N / 2 and less: of all sizes up to N (size 0), or of one larger size. With size
 * 0 and an index the keys are made here. */
template <unsigned N> static __global__ void sort_tile(uint64_t *keys, const int32_t *index,
                                                       unsigned n, unsigned size)
{
    __shared__ uint64_t tile[N];
    unsigned base = blockIdx.x * N;
    for (unsigned i = threadIdx.x; i < N; i += blockDim.x)
        tile[i] = index ? key_of(index, base + i, n) : keys[base + i];
    for (unsigned s = size ? size : 2; s <= (size ? size : N); s *= 2)
        for (unsigned d = s / 2 < N / 2 ? s / 2 : N / 2; d > 0; d /= 2) {
            __syncthreads();
            for (unsigned t = threadIdx.x; t < N / 2; t += blockDim.x) {
                unsigned i = (t & ~(d - 1)) << 1 | (t & (d - 1));
                exchange(&tile[i], &tile[i + d], ((base + i) & s) == 0);
            }
        }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < N; i += blockDim.x) keys[base + i] = tile[i];
}

static __global__ void sort_step(uint64_t *keys, unsigned size, unsigned d)
{
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x, i = (t & ~(d - 1)) << 1 | (t & (d - 1));
    exchange(&keys[i], &keys[i + d], (i & size) == 0);
}

template <unsigned N> static void sort_from(uint64_t *keys, const int32_t *index, unsigned n,
                                            unsigned padded)
{
    const unsigned threads = N / 2 < 1024 ? N / 2 : 1024;
    LAUNCH(sort_tile<N>, padded / N, threads, 0, keys, index, n, 0u);
    for (unsigned size = 2 * N; size <= padded && size; size *= 2) {
        for (unsigned d = size / 2; d >= N; d /= 2)
            LAUNCH(sort_step, padded / TILE, TILE / 2, 0, keys, size, d);
        LAUNCH(sort_tile<N>, padded / N, threads, 0, keys, (const int32_t *)NULL, n, size);
    }
}

const uint64_t *segment_sort(const int32_t *index, int n)
{
    unsigned padded = TILE;
    while (padded < (unsigned)n) padded *= 2;
    uint64_t *keys = (uint64_t *)cuda_scratch(SCRATCH_KEYS, padded * sizeof *keys);
    if (!keys) return NULL;
    if (cuda_try(TRY_SORT)) {
        if (padded < WIDE) sort_from<TILE>(keys, index, (unsigned)n, padded);
        else sort_from<WIDE>(keys, index, (unsigned)n, padded);
        return keys;
    }
    LAUNCH(make_keys, padded / TILE, TILE, 0, keys, index, (unsigned)n, padded);
    sort_from<TILE>(keys, NULL, (unsigned)n, padded);
    return keys;
}
