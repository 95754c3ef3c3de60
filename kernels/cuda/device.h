/* What kernels share on the device. Rows are handled eight elements at a time: that is 16 bytes
 * of bfloat16, and one block of dropout's random bits. Where rows are not multiples of eight or
 * not aligned (WHOLE false) the eight go one by one. */
#ifndef KERNELS_CUDA_DEVICE_H
#define KERNELS_CUDA_DEVICE_H
#include "kernels/cuda/cuda.h"

struct eight { float x[8]; };

static __device__ __forceinline__ float to_float(float x) { return x; }
static __device__ __forceinline__ float to_float(bf16 x) { return __bfloat162float(x); }
template <typename T> __device__ __forceinline__ T from_float(float x);
template <> __device__ __forceinline__ float from_float<float>(float x) { return x; }
template <> __device__ __forceinline__ bf16 from_float<bf16>(float x)
{
    return __float2bfloat16_rn(x);
}
/* x as a T holds it. */
template <typename T> __device__ __forceinline__ float rounded(float x)
{
    return to_float(from_float<T>(x));
}

/* 2^x by one instruction, to 22 bits; 0 below the smallest normal number. And 1 / x, to 23. */
static __device__ __forceinline__ float power2(float x)
{
#ifdef __CUDACC__
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return exp2f(x);
#endif
}
static __device__ __forceinline__ float reciprocal(float x)
{
#ifdef __CUDACC__
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return 1 / x;
#endif
}

static __device__ __forceinline__ uint32_t pair_of(float low, float high)
{
    __nv_bfloat162 v = __floats2bfloat162_rn(low, high);
    uint32_t u;
    memcpy(&u, &v, sizeof u);
    return u;
}

static __device__ __forceinline__ void load_whole(eight &e, const float *p)
{
    float4 a = ((const float4 *)p)[0], b = ((const float4 *)p)[1];
    e.x[0] = a.x; e.x[1] = a.y; e.x[2] = a.z; e.x[3] = a.w;
    e.x[4] = b.x; e.x[5] = b.y; e.x[6] = b.z; e.x[7] = b.w;
}
static __device__ __forceinline__ void load_whole(eight &e, const bf16 *p)
{
    uint4 u = *(const uint4 *)p;
    const uint32_t w[4] = { u.x, u.y, u.z, u.w };
#pragma unroll
    for (int i = 0; i < 4; i++) {
        e.x[2 * i] = __uint_as_float(w[i] << 16);
        e.x[2 * i + 1] = __uint_as_float(w[i] & 0xffff0000u);
    }
}
static __device__ __forceinline__ void store_whole(float *p, const eight &e)
{
    float4 a = { e.x[0], e.x[1], e.x[2], e.x[3] }, b = { e.x[4], e.x[5], e.x[6], e.x[7] };
    ((float4 *)p)[0] = a;
    ((float4 *)p)[1] = b;
}
static __device__ __forceinline__ void store_whole(bf16 *p, const eight &e)
{
    uint4 u = { pair_of(e.x[0], e.x[1]), pair_of(e.x[2], e.x[3]), pair_of(e.x[4], e.x[5]),
                pair_of(e.x[6], e.x[7]) };
    *(uint4 *)p = u;
}

/* Eight elements from p on, of which `left` exist; the others are 0. */
template <bool WHOLE, typename T> __device__ __forceinline__ eight load8(const T *p, int left)
{
    eight e;
    if (WHOLE) load_whole(e, p);
    else {
#pragma unroll
        for (int i = 0; i < 8; i++) e.x[i] = i < left ? to_float(p[i]) : 0.0f;
    }
    return e;
}
template <bool WHOLE, typename T>
__device__ __forceinline__ void store8(T *p, const eight &e, int left)
{
    if (WHOLE) store_whole(p, e);
    else {
#pragma unroll
        for (int i = 0; i < 8; i++) if (i < left) p[i] = from_float<T>(e.x[i]);
    }
}

/* --- sums over a warp and a block: the same order every time, the same result in every thread */

static __device__ __forceinline__ float warp_sum(float x)
{
#pragma unroll
    for (int by = 16; by > 0; by >>= 1) x += __shfl_xor_sync(0xffffffffu, x, by);
    return x;
}
static __device__ __forceinline__ float warp_max(float x)
{
#pragma unroll
    for (int by = 16; by > 0; by >>= 1) x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, by));
    return x;
}

/* Of all threads of a block of whole warps; `room` [32] in shared memory, free for use again
 * after the next barrier. */
static __device__ __forceinline__ float block_sum(float x, float *room)
{
    x = warp_sum(x);
    if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = x;
    __syncthreads();
    float sum = 0;
    for (unsigned w = 0; w < blockDim.x / 32; w++) sum += room[w];
    return sum;
}

/* A maximum and the sum of exp(x - maximum), added up. */
struct soft { float max, sum; };
static __device__ __forceinline__ soft soft_add(soft a, soft b)
{
    float m = fmaxf(a.max, b.max);
    /* exp(-inf - -inf) would be NaN. */
    if (a.max == -INFINITY && b.max == -INFINITY) return { m, a.sum + b.sum };
    return { m, a.sum * expf(a.max - m) + b.sum * expf(b.max - m) };
}

/* --- dropout, by kernels.h's words --- */

struct drops {
    uint32_t limit;                         /* dropped when 16 bits are below; 0: no dropout */
    float keep;                             /* what kept values are multiplied by */
    struct rng_key key;
    uint64_t site;
    const uint64_t *sample;
    const uint32_t *pos;
};
struct drops cuda_drops(const struct kern_drop *d);       /* d may be NULL */

/* u *= mask of row r, features 8 block .. 8 block + 7. */
static __device__ __forceinline__ void drop8(eight &u, const drops &d, int r, uint32_t block)
{
    uint32_t w[4];
    /* The CPU's words: the same key, sample and position give the same mask everywhere. */
    rng_block(d.key, d.sample[r] | d.site, d.pos[r] << 20 | block, w);
#pragma unroll
    for (int i = 0; i < 8; i++) {
        uint32_t bits = i % 2 ? w[i / 2] >> 16 : w[i / 2] & 0xffffu;
        u.x[i] = bits < d.limit ? 0.0f : u.x[i] * d.keep;
    }
}

/* Whether rows of n elements, all of these pointers, can be handled eight at a time. */
static inline bool whole8(size_t n, const void *a, const void *b = NULL, const void *c = NULL,
                          const void *d = NULL, const void *e = NULL, const void *f = NULL)
{
    uintptr_t bits =
        (uintptr_t)a | (uintptr_t)b | (uintptr_t)c | (uintptr_t)d | (uintptr_t)e | (uintptr_t)f;
    /* 16 bytes: what one load or store of a vector moves. */
    return n % 8 == 0 && bits % 16 == 0;
}

#endif
