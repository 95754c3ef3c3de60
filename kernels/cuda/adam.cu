/* The optimisers: one pass over parameters, gradients and both moments of all tensors, clipping
 * included, and the bfloat16 copies of weights written on the way; LAMB a second one. */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/device.h"

enum { CHUNK = 1 << 15, THREADS = 256 };

/* In double: squares of a hundred million gradients. */
static __device__ double block_sum_double(double x, double *room)
{
#pragma unroll
    for (int by = 16; by > 0; by >>= 1) x += __shfl_xor_sync(0xffffffffu, x, by);
    if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = x;
    __syncthreads();
    double sum = 0;
    for (unsigned w = 0; w < blockDim.x / 32; w++) sum += room[w];
    return sum;
}

static __global__ void squares(double *part, const float *x, size_t n)
{
    __shared__ double room[32];
    size_t first = (size_t)blockIdx.x * CHUNK, end = n - first < CHUNK ? n : first + CHUNK;
    double sum = 0;
    for (size_t i = first + threadIdx.x; i < end; i += THREADS) sum += (double)x[i] * (double)x[i];
    sum = block_sum_double(sum, room);
    if (threadIdx.x == 0) part[blockIdx.x] = sum;
}

/* By one block and without atomic additions: the order of the sum is fixed, so the norm is the
 * same in every run. */
static __global__ void sum_of(float *out, const double *part, unsigned n)
{
    __shared__ double room[32];
    double sum = 0;
    for (unsigned i = threadIdx.x; i < n; i += THREADS) sum += part[i];
    sum = block_sum_double(sum, room);
    if (threadIdx.x == 0) *out = (float)sum;
}

void cuda_norm2(const struct kern_norm2 *a)
{
    if (cuda_lost()) return;
    unsigned chunks = blocks_for(a->n, CHUNK);
    double *part = (double *)cuda_scratch(SCRATCH_SUMS, (chunks + 1) * sizeof *part);
    if (!part) return;
    if (chunks) LAUNCH(squares, chunks, THREADS, 0, part, a->x, a->n);
    LAUNCH(sum_of, 1, THREADS, 0, a->out, (const double *)part, chunks);
}

static __global__ void average(float *p, const float *q, float m, float rest, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = m * p[i] + rest * q[i];
}

void cuda_ema(const struct kern_ema *a)
{
    /* Its bfloat16 copies are out of date. */
    cuda_written(a->p);
    if (a->n == 0 || cuda_lost()) return;
    LAUNCH(average, blocks_for(a->n, 256), 256, 0, a->p, a->q, (float)a->m, (float)(1 - a->m),
           a->n);
}

/* What a step multiplies with; the clipping factor is found on the device, where the norm is. */
struct step {
    float grad, clip, decay, beta1, rest1, beta2, rest2, rate, root2, eps, unbias1, weight_decay;
};

static step step_of(const struct kern_adam *a)
{
    step s;
    /* In double and rounded once, as on the CPU: 1 - 0.999f in float is off by 1e-5. */
    double unbias1 = 1 / (1 - pow(a->beta1, (double)a->step));
    s.grad = a->grad_scale;
    s.clip = a->clip;
    s.decay = (float)(1 - a->lr * a->weight_decay);
    s.beta1 = (float)a->beta1; s.rest1 = (float)(1 - a->beta1);
    s.beta2 = (float)a->beta2; s.rest2 = (float)(1 - a->beta2);
    s.rate = (float)(a->lr * unbias1);
    s.root2 = (float)(1 / sqrt(1 - pow(a->beta2, (double)a->step)));
    s.eps = (float)a->eps;
    s.unbias1 = (float)unbias1;
    s.weight_decay = (float)a->weight_decay;
    return s;
}

/* A tensor of the flat arrays, and the first of its chunks: chunks are counted through all
 * tensors. */
struct part { size_t at, n; unsigned chunk, decay; };
/* list: device; end: of the last tensor */
struct parts {
    const part *list;
    int n;
    size_t end;
    unsigned chunks;
};

/* False: there is no memory, which is kept as a failure, or there is nothing to do. */
static bool parts_of(const struct kern_part *from, int n, struct parts *to)
{
    part *host = (part *)malloc((size_t)n * sizeof *host + 1), *there = NULL;
    unsigned chunk = 0;
    if (!host) cuda_failed_because("out of memory");
    else if (n > 0 && !cuda_lost())
        there = (part *)cuda_scratch(SCRATCH_PARTS, (size_t)n * sizeof *host);
    for (int i = 0; there && i < n; i++) {
        host[i] = { from[i].at, from[i].n, chunk, from[i].decay };
        chunk += blocks_for(from[i].n, CHUNK);
    }
    if (there) memory_upload(there, host, (size_t)n * sizeof *host);
    free(host);
    *to = { there, n, n > 0 ? from[n - 1].at + from[n - 1].n : 0, chunk };
    return there && chunk > 0;
}

/* The last part for which `before` does not hold: it is false for the first, and true from some
 * part on. */
template <typename F> static __device__ __forceinline__ int last_part(const parts &all, F before)
{
    int low = 0, high = all.n;
    while (high - low > 1) {
        int mid = (low + high) / 2;
        if (before(all.list[mid])) high = mid;
        else low = mid;
    }
    return low;
}

/* What gradients are multiplied by; false: they are not finite, nothing is updated. */
static __device__ __forceinline__ bool gradient_scale(const step &s, const float *norm2,
                                                      float *grad)
{
    *grad = s.grad;
    if (!norm2) return true;
    float square = *norm2;
    if (!(fabsf(square) < INFINITY)) return false;
    if (s.clip > 0) {
        /* 1e-6 as in PyTorch's clip_grad_norm_. */
        double by = (double)s.clip / (fabs((double)s.grad) * sqrt((double)square) + 1e-6);
        if (by < 1) *grad = (float)((double)s.grad * by);
    }
    return true;
}

/* The same for all threads of a block, found by one: in double, which many GPUs are slow at. */
static __device__ __forceinline__ bool block_gradient_scale(const step &s, const float *norm2,
                                                            float *grad)
{
    __shared__ float by;
    __shared__ int finite;
    if (threadIdx.x == 0) {
        float x;
        finite = gradient_scale(s, norm2, &x);
        by = x;
    }
    __syncthreads();
    *grad = by;
    return finite != 0;
}

static __device__ __forceinline__ void moments(float g, float &m, float &v, const step &s)
{
    m = s.beta1 * m + s.rest1 * g;
    v = s.beta2 * v + s.rest2 * g * g;
}

/* Adam's p after a step. */
static __device__ __forceinline__ float stepped(float p, float g, float &m, float &v, float decay,
                                                const step &s)
{
    moments(g, m, v, s);
    return p * decay - s.rate * m / (sqrtf(v) * s.root2 + s.eps);
}

/* Elements at .. at + left (at most eight); copies (NULL: not wanted) gets p in bfloat16. */
template <bool WHOLE> static __device__ __forceinline__ void adam8(float *p, const float *g,
                                                                   float *m, float *v, bf16 *copies,
                                                                   size_t at, int left, float grad,
                                                                   float decay, const step &s)
{
    eight P = load8<WHOLE>(p + at, left), G = load8<WHOLE>(g + at, left),
          M = load8<WHOLE>(m + at, left), V = load8<WHOLE>(v + at, left);
#pragma unroll
    for (int i = 0; i < 8; i++) P.x[i] = stepped(P.x[i], G.x[i] * grad, M.x[i], V.x[i], decay, s);
    store8<WHOLE>(p + at, P, left);
    store8<WHOLE>(m + at, M, left);
    store8<WHOLE>(v + at, V, left);
    if (copies) store8<WHOLE>(copies + at, P, left);
}

/* Eight elements a thread, which are of one part: one thread looks for the part of the block's
 * first, the others go on from there. */
template <bool WHOLE> static __global__ void adam(float *p, const float *g, float *m, float *v,
                                                  bf16 *copies, parts all, step s,
                                                  const float *norm2)
{
    size_t at = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * 8;
    __shared__ int first;
    float grad;
    /* By the second warp, while the first finds the factor: its elements begin 256 after the
     * block's first. */
    if (threadIdx.x == 32) first = last_part(all, [=](const part &x) { return x.at > at - 256; });
    if (!block_gradient_scale(s, norm2, &grad) || at >= all.end) return;
    int i = first;
    while (i + 1 < all.n && all.list[i + 1].at <= at) i++;
    part mine = all.list[i];
    /* What lies between two tensors is of neither. */
    if (at < mine.at || at >= mine.at + mine.n) return;
    float decay = mine.decay ? s.decay : 1.0f;
    size_t left = mine.at + mine.n - at;
    if (WHOLE && left >= 8) adam8<true>(p, g, m, v, copies, at, 8, grad, decay, s);
    else adam8<false>(p, g, m, v, copies, at, left < 8 ? (int)left : 8, grad, decay, s);
}

static void adam_all(const struct kern_adam *a, const struct parts &all)
{
    float *p = a->p, *m = a->m, *v = a->v;
    const float *g = a->g;
    bf16 *copies = cuda_copies_of(p, all.end);
    unsigned grid = blocks_for(all.end, 2048);
    if (whole8(8, p, g, m, v, copies))
        LAUNCH(adam<true>, grid, 256, 0, p, g, m, v, copies, all, step_of(a), a->norm2);
    else LAUNCH(adam<false>, grid, 256, 0, p, g, m, v, copies, all, step_of(a), a->norm2);
}

/* --- LAMB: the moments and the squares of p and u, a block per chunk; their sums and the rate, a
 * block per tensor; then p -= rate u, with u computed again. Tensors that take Adam's step take it
 * in the first pass. */

static __device__ __forceinline__ float direction(float p, float m, float v, const step &s)
{
    return s.unbias1 * m / (sqrtf(v) * s.root2 + s.eps) + s.weight_decay * p;
}

/* sums [chunks, 2] */
static __global__ void lamb_moments(double *sums, float *p, const float *g, float *m, float *v,
                                    bf16 *copies, parts all, step s, const float *norm2)
{
    __shared__ double room[32], room2[32];
    unsigned chunk = blockIdx.x;
    part mine = all.list[last_part(all, [=](const part &x) { return x.chunk > chunk; })];
    size_t first = mine.at + (size_t)(chunk - mine.chunk) * CHUNK, end = mine.at + mine.n;
    if (end - first > CHUNK) end = first + CHUNK;
    float grad;
    double pp = 0, uu = 0;
    if (!block_gradient_scale(s, norm2, &grad)) return;
    for (size_t i = first + threadIdx.x; i < end; i += THREADS) {
        if (!mine.decay) {
            p[i] = stepped(p[i], g[i] * grad, m[i], v[i], 1, s);
            if (copies) copies[i] = __float2bfloat16_rn(p[i]);
            continue;
        }
        moments(g[i] * grad, m[i], v[i], s);
        /* Not stored, which would take another array of the parameters' size: lamb_apply
         * computes it again. */
        float u = direction(p[i], m[i], v[i], s);
        pp += (double)p[i] * (double)p[i];
        uu += (double)u * (double)u;
    }
    pp = block_sum_double(pp, room);
    uu = block_sum_double(uu, room2);
    if (threadIdx.x == 0) {
        sums[2 * chunk] = pp;
        sums[2 * chunk + 1] = uu;
    }
}

/* rate [tensors] */
static __global__ void lamb_rates(float *rate, const double *sums, parts all, double lr)
{
    __shared__ double room[32], room2[32];
    int mine = (int)blockIdx.x;
    unsigned last = mine + 1 < all.n ? all.list[mine + 1].chunk : all.chunks;
    double pp = 0, uu = 0;
    for (unsigned i = all.list[mine].chunk + threadIdx.x; i < last; i += THREADS) {
        pp += sums[2 * i];
        uu += sums[2 * i + 1];
    }
    pp = block_sum_double(pp, room);
    uu = block_sum_double(uu, room2);
    /* The trust ratio |p| / |u|, or 1 where either is 0. */
    if (threadIdx.x == 0) rate[mine] = (float)(pp > 0 && uu > 0 ? lr * sqrt(pp / uu) : lr);
}

static __global__ void lamb_apply(float *p, const float *m, const float *v, bf16 *copies, parts all,
                                  step s, const float *norm2, const float *rate)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    float grad;
    if (!block_gradient_scale(s, norm2, &grad) || i >= all.end) return;
    int which = last_part(all, [=](const part &x) { return x.at > i; });
    part mine = all.list[which];
    /* Without decay, Adam's step was taken in lamb_moments; what lies between tensors is of
     * none. */
    if (!mine.decay || i < mine.at || i >= mine.at + mine.n) return;
    float x = p[i] - rate[which] * direction(p[i], m[i], v[i], s);
    p[i] = x;
    if (copies) copies[i] = __float2bfloat16_rn(x);
}

static void lamb_all(const struct kern_adam *a, const struct parts &all)
{
    float *p = a->p, *m = a->m, *v = a->v;
    size_t n = 2 * (size_t)all.chunks + (size_t)a->parts;
    double *sums = (double *)cuda_scratch(SCRATCH_SUMS, n * sizeof *sums);
    if (!sums) return;
    float *rate = (float *)(sums + 2 * (size_t)all.chunks);
    bf16 *copies = cuda_copies_of(p, all.end);
    step s = step_of(a);
    LAUNCH(lamb_moments, all.chunks, THREADS, 0, sums, p, a->g, m, v, copies, all, s, a->norm2);
    LAUNCH(lamb_rates, (unsigned)a->parts, THREADS, 0, rate, (const double *)sums, all, a->lr);
    LAUNCH(lamb_apply, blocks_for(all.end, 256), 256, 0, p, (const float *)m, (const float *)v,
           copies, all, s, a->norm2, (const float *)rate);
}

void cuda_adam(const struct kern_adam *a)
{
    struct parts all;
    if (!cuda_lost() && parts_of(a->part, a->parts, &all)) (a->lamb ? lamb_all : adam_all)(a, all);
}
