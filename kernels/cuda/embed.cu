/* Embeddings: a sum of rows forward; backward the rows of gradients added up by token, position
 * and language (segment.h). */
#include "kernels/cuda/segment.h"

template <typename T, bool WHOLE>
static __global__ void forward_rows(kern_embed_fwd a)
{
    int across = (a.D + 7) / 8;
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)a.N * across) return;
    int n = (int)(i / across), c = (int)(i % across) * 8, left = a.D - c;
    /* A negative token is a row without one: it has its position and language alone. */
    int token = a.token[n];
    /* row 0 in place of none: a load without a branch */
    eight y = load8<WHOLE>(a.E + (size_t)(token < 0 ? 0 : token) * a.D + c, left);
#pragma unroll
    for (int j = 0; j < 8; j++) y.x[j] = token < 0 ? 0.0f : y.x[j] * a.scale;
    if (a.P) {
        eight p = load8<WHOLE>(a.P + (size_t)a.pos[n] * a.D + c, left);
#pragma unroll
        for (int j = 0; j < 8; j++) y.x[j] += p.x[j];
    }
    if (a.L) {
        eight l = load8<WHOLE>(a.L + (size_t)a.lang[n] * a.D + c, left);
#pragma unroll
        for (int j = 0; j < 8; j++) y.x[j] += l.x[j];
    }
    store8<WHOLE>((T *)a.Y + (size_t)n * a.D + c, y, left);
}

template <typename T> static void forward(const struct kern_embed_fwd *a)
{
    unsigned grid = blocks_for((size_t)a->N * (size_t)((a->D + 7) / 8), 256);
    if (whole8((size_t)a->D, a->Y, a->E, a->P, a->L))
        LAUNCH((forward_rows<T, true>), grid, 256, 0, *a);
    else LAUNCH((forward_rows<T, false>), grid, 256, 0, *a);
}

void cuda_embed_fwd(const struct kern_embed_fwd *a)
{
    if (a->N > 0 && !cuda_lost()) BY_TYPE(forward, a);
}

template <typename T> static void backward(const struct kern_embed_bwd *a)
{
    const T *dY = (const T *)a->dY;
    if (a->dE) segment_add(a->dE, dY, a->token, a->N, a->D, { NULL, 1, NULL, a->scale });
    if (a->dP) segment_add(a->dP, dY, a->pos, a->N, a->D, { NULL, 1, NULL, 1 });
    if (a->dL) segment_add(a->dL, dY, a->lang, a->N, a->D, { NULL, 1, NULL, 1 });
}

void cuda_embed_bwd(const struct kern_embed_bwd *a)
{
    if (a->N > 0 && !cuda_lost()) BY_TYPE(backward, a);
}
