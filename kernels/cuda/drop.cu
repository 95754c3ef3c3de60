/* Dropout and the residual without a norm. */
#include "kernels/cuda/device.h"

struct drops cuda_drops(const struct kern_drop *d)
{
    struct drops r;
    memset(&r, 0, sizeof r);
    r.keep = 1;
    if (!d || !(d->p > 0)) return r;
    /* As cpu_drop_rate: p to a 65,536th, and the scale of the rounded p. */
    double limit = floor((double)d->p * 65536 + 0.5);
    if (limit > 65536) limit = 65536;
    r.limit = (uint32_t)limit;
    r.keep = limit < 65536 ? (float)(65536 / (65536 - limit)) : 0;
    r.key = d->key;
    r.site = (uint64_t)d->site << 40;
    r.sample = d->sample;
    r.pos = d->pos;
    return r;
}

/* S = X + drop(U); X may be NULL; S may be X or U. */
template <typename T, bool WHOLE>
static __global__ void drop_rows(T *S, const T *X, const T *U, drops d, int N, int D)
{
    int across = (D + 7) / 8;
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)N * across) return;
    int row = (int)(i / across), block = (int)(i % across), left = D - block * 8;
    size_t at = (size_t)row * D + (size_t)block * 8;
    eight u = load8<WHOLE>(U + at, left);
    if (d.limit) drop8(u, d, row, (uint32_t)block);
    if (X) {
        eight x = load8<WHOLE>(X + at, left);
#pragma unroll
        for (int j = 0; j < 8; j++) u.x[j] += x.x[j];
    }
    store8<WHOLE>(S + at, u, left);
}

template <typename T>
static void drop(act *S, const act *X, const act *U, const struct drops &d, int N, int D)
{
    size_t n = (size_t)N * (size_t)((D + 7) / 8);
    T *to = (T *)S;
    const T *x = (const T *)X, *u = (const T *)U;
    if (whole8((size_t)D, S, X, U))
        LAUNCH((drop_rows<T, true>), blocks_for(n, 256), 256, 0, to, x, u, d, N, D);
    else LAUNCH((drop_rows<T, false>), blocks_for(n, 256), 256, 0, to, x, u, d, N, D);
}

void cuda_drop_fwd(const struct kern_drop_fwd *a)
{
    if (a->N > 0 && !cuda_lost()) BY_TYPE(drop, a->S, a->X, a->U, cuda_drops(a->drop), a->N, a->D);
}

void cuda_drop_bwd(const struct kern_drop_bwd *a)
{
    if (a->N > 0 && !cuda_lost())
        BY_TYPE(drop, a->dU, a->add ? a->dU : NULL, a->dS, cuda_drops(a->drop), a->N, a->D);
}
