/* The optimisers: one pass over parameters, gradients and both moments, clipping included, and the bfloat16 copies of weights
 * written on the way; LAMB a second one. */
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

static __global__ void sum_of(float *out, const double *part, unsigned n)
{
    __shared__ double room[32];
    double sum = 0;
    for (unsigned i = threadIdx.x; i < n; i += THREADS) sum += part[i];
    sum = block_sum_double(sum, room);
    if (threadIdx.x == 0) *out = (float)sum;
}

void cuda_norm2(float *out, const float *x, size_t n)
{
    if (cuda_lost()) return;
    unsigned chunks = blocks_for(n, CHUNK);
    double *part = (double *)cuda_scratch(SCRATCH_SUMS, (chunks + 1) * sizeof *part);
    if (!part) return;
    if (chunks) LAUNCH(squares, chunks, THREADS, 0, part, x, n);
    LAUNCH(sum_of, 1, THREADS, 0, out, (const double *)part, chunks);
}

static __global__ void times(float *x, float a, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= a;
}

void cuda_scale(float *x, float a, size_t n)
{
    cuda_written(x);
    if (n > 0 && !cuda_lost()) LAUNCH(times, blocks_for(n, 256), 256, 0, x, a, n);
}

/* What a step multiplies with; the clipping factor is found on the device, where the norm is. */
struct step { float grad, clip, decay, beta1, rest1, beta2, rest2, rate, root2, eps, unbias1, weight_decay; };

static step step_of(const struct kern_adam *a)
{
    step s;
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

/* What gradients are multiplied by; false: they are not finite, nothing is updated. */
static __device__ __forceinline__ bool gradient_scale(const step &s, const float *norm2, float *grad)
{
    *grad = s.grad;
    if (!norm2) return true;
    float square = *norm2;
    if (!(fabsf(square) < INFINITY)) return false;
    if (s.clip > 0) {
        double by = (double)s.clip / (fabs((double)s.grad) * sqrt((double)square) + 1e-6);
        if (by < 1) *grad = (float)((double)s.grad * by);
    }
    return true;
}

static __device__ __forceinline__ void moments(float g, float &m, float &v, const step &s)
{
    m = s.beta1 * m + s.rest1 * g;
    v = s.beta2 * v + s.rest2 * g * g;
}

/* copies (NULL: not wanted) gets p in bfloat16. */
template <bool WHOLE>
static __global__ void adam(float *p, const float *g, float *m, float *v, bf16 *copies, size_t n, step s, const float *norm2)
{
    size_t at = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * 8;
    float grad;
    if (at >= n || !gradient_scale(s, norm2, &grad)) return;
    int left = n - at < 8 ? (int)(n - at) : 8;
    eight P = load8<WHOLE>(p + at, left), G = load8<WHOLE>(g + at, left), M = load8<WHOLE>(m + at, left), V = load8<WHOLE>(v + at, left);
#pragma unroll
    for (int i = 0; i < 8; i++) {
        moments(G.x[i] * grad, M.x[i], V.x[i], s);
        P.x[i] = P.x[i] * s.decay - s.rate * M.x[i] / (sqrtf(V.x[i]) * s.root2 + s.eps);
    }
    store8<WHOLE>(p + at, P, left);
    store8<WHOLE>(m + at, M, left);
    store8<WHOLE>(v + at, V, left);
    if (copies) store8<WHOLE>(copies + at, P, left);
}

void cuda_adam(float *p, const float *g, float *m, float *v, size_t n, const struct kern_adam *a, const float *norm2)
{
    if (n == 0 || cuda_lost()) return;
    bf16 *copies = cuda_copies_of(p, n);
    if (whole8(n, p, g, m, v, copies)) LAUNCH(adam<true>, blocks_for(n, 2048), 256, 0, p, g, m, v, copies, n, step_of(a), norm2);
    else LAUNCH(adam<false>, blocks_for(n, 2048), 256, 0, p, g, m, v, copies, n, step_of(a), norm2);
}

/* --- LAMB: the moments and the squares of p and u; their sums; then p -= rate u, with u computed again ------------- */

static __device__ __forceinline__ float direction(float p, float m, float v, const step &s)
{
    return s.unbias1 * m / (sqrtf(v) * s.root2 + s.eps) + s.weight_decay * p;
}

/* part [chunks, 2] */
static __global__ void lamb_moments(double *part, const float *p, const float *g, float *m, float *v, size_t n, step s, const float *norm2)
{
    __shared__ double room[32], room2[32];
    size_t first = (size_t)blockIdx.x * CHUNK, end = n - first < CHUNK ? n : first + CHUNK;
    float grad;
    double pp = 0, uu = 0;
    if (!gradient_scale(s, norm2, &grad)) return;
    for (size_t i = first + threadIdx.x; i < end; i += THREADS) {
        moments(g[i] * grad, m[i], v[i], s);
        float u = direction(p[i], m[i], v[i], s);
        pp += (double)p[i] * (double)p[i];
        uu += (double)u * (double)u;
    }
    pp = block_sum_double(pp, room);
    uu = block_sum_double(uu, room2);
    if (threadIdx.x == 0) {
        part[2 * blockIdx.x] = pp;
        part[2 * blockIdx.x + 1] = uu;
    }
}

static __global__ void lamb_rate(float *rate, const double *part, unsigned chunks, double lr)
{
    __shared__ double room[32], room2[32];
    double pp = 0, uu = 0;
    for (unsigned i = threadIdx.x; i < chunks; i += THREADS) {
        pp += part[2 * i];
        uu += part[2 * i + 1];
    }
    pp = block_sum_double(pp, room);
    uu = block_sum_double(uu, room2);
    if (threadIdx.x == 0) *rate = (float)(pp > 0 && uu > 0 ? lr * sqrt(pp / uu) : lr);
}

static __global__ void lamb_apply(float *p, const float *m, const float *v, bf16 *copies, size_t n, step s, const float *norm2, const float *rate)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    float grad;
    if (i >= n || !gradient_scale(s, norm2, &grad)) return;
    float x = p[i] - *rate * direction(p[i], m[i], v[i], s);
    p[i] = x;
    if (copies) copies[i] = __float2bfloat16_rn(x);
}

void cuda_lamb(float *p, const float *g, float *m, float *v, size_t n, const struct kern_adam *a, const float *norm2)
{
    if (n == 0 || cuda_lost()) return;
    unsigned chunks = blocks_for(n, CHUNK);
    double *part = (double *)cuda_scratch(SCRATCH_SUMS, (2 * (size_t)chunks + 1) * sizeof *part);
    if (!part) return;
    float *rate = (float *)(part + 2 * (size_t)chunks);
    step s = step_of(a);
    LAUNCH(lamb_moments, chunks, THREADS, 0, part, p, g, m, v, n, s, norm2);
    LAUNCH(lamb_rate, 1, THREADS, 0, rate, (const double *)part, chunks, a->lr);
    LAUNCH(lamb_apply, blocks_for(n, 256), 256, 0, p, (const float *)m, (const float *)v, cuda_copies_of(p, n), n, s, norm2, (const float *)rate);
}
