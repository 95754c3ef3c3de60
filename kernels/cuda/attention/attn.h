/* What the three ways to compute attention share: attn.cu (any type and head size), decode.cu
 * (one query a sentence, the beam search), flash.cu (bfloat16 on tensor cores). None stores
 * probabilities: forward keeps a running maximum and sum, backward computes them again from lse. */
#ifndef KERNELS_CUDA_ATTENTION_ATTN_H
#define KERNELS_CUDA_ATTENTION_ATTN_H
#include "kernels/cuda/device.h"

/* Dropout of probabilities: a bit for each (query row, head, key), made once before the products
 * need it, kept for the operation only or until the backward pass (kern_attn_fwd's bits). bits
 * [rows_q, heads, across] bytes, key j in bit j % 8 of byte j / 8, across a multiple of eight:
 * bytes are read together. NULL: nothing is dropped, and keep is 1. */
struct attn_mask { const uint8_t *bits; int across; float keep; };

static __device__ __forceinline__ bool attn_kept(const attn_mask &m, int row, int heads, int h,
                                                 int key)
{
    return m.bits[((size_t)row * heads + h) * m.across + key / 8] >> (key % 8) & 1;
}

/* Where the rows of a sentence's keys are. */
struct attn_rows { int first; const int32_t *any; };
static __device__ __forceinline__ attn_rows attn_rows_of(const kern_attn &g, int b)
{
    int first = g.k_at[b];
    return { first, g.k_row ? g.k_row + first : NULL };
}
static __device__ __forceinline__ size_t attn_row(const attn_rows &r, int j)
{
    return (size_t)(r.any ? r.any[j] : r.first + j);
}

/* How many keys query i sees. */
static __device__ __forceinline__ int attn_visible(const kern_attn &g, int nq, int nk, int i)
{
    int n = g.causal ? i + nk - nq + 1 : nk;
    return n < 0 ? 0 : n > nk ? nk : n;
}

/* One query a sentence, no dropout. False: not for this geometry. */
bool decode_attn(act *O, float *lse, const act *Q, const act *K, const act *V,
                 const struct kern_attn *g);

/* False: not for this type, head size or alignment, nor for keys that lie at any rows. */
bool flash_fwd(act *O, float *lse, const act *Q, const act *K, const act *V,
               const struct kern_attn *g, const struct attn_mask *m);
/* In one kernel, delta too, where sentences are short enough for the device. */
bool flash_bwd_whole(const struct kern_attn_bwd *a, const struct attn_mask *m);
bool flash_bwd(act *dQ, act *dK, act *dV, const act *dO, const act *Q, const act *K, const act *V,
               const float *lse, const float *delta, const struct kern_attn *g,
               const struct attn_mask *m);

#endif
