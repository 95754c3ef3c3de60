/* Embeddings: a sum of rows forward; backward the rows of gradients added up by token, position and language (segment.h). */
#include "kernels/cuda/segment.h"

template <typename T, bool WHOLE>
static __global__ void forward_rows(T *Y, const int32_t *token, const int32_t *pos, const int32_t *lang, const float *E, const float *P,
                                    const float *L, float scale, int N, int D)
{
    int across = (D + 7) / 8;
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)N * across) return;
    int n = (int)(i / across), c = (int)(i % across) * 8, left = D - c;
    eight y = load8<WHOLE>(E + (size_t)token[n] * D + c, left);
#pragma unroll
    for (int j = 0; j < 8; j++) y.x[j] *= scale;
    if (P) {
        eight p = load8<WHOLE>(P + (size_t)pos[n] * D + c, left);
#pragma unroll
        for (int j = 0; j < 8; j++) y.x[j] += p.x[j];
    }
    if (L) {
        eight l = load8<WHOLE>(L + (size_t)lang[n] * D + c, left);
#pragma unroll
        for (int j = 0; j < 8; j++) y.x[j] += l.x[j];
    }
    store8<WHOLE>(Y + (size_t)n * D + c, y, left);
}

template <typename T> static void forward(act *Y, const int32_t *token, const int32_t *pos, const int32_t *lang, const float *E, const float *P,
                                          const float *L, float scale, int N, int D)
{
    unsigned grid = blocks_for((size_t)N * (size_t)((D + 7) / 8), 256);
    if (whole8((size_t)D, Y, E, P, L)) LAUNCH((forward_rows<T, true>), grid, 256, 0, (T *)Y, token, pos, lang, E, P, L, scale, N, D);
    else LAUNCH((forward_rows<T, false>), grid, 256, 0, (T *)Y, token, pos, lang, E, P, L, scale, N, D);
}

void cuda_embed_fwd(act *Y, const int32_t *token, const int32_t *pos, const int32_t *lang,
                    const float *E, const float *P, const float *L, float scale, int N, int D)
{
    if (N > 0 && !cuda_lost()) BY_TYPE(forward, Y, token, pos, lang, E, P, L, scale, N, D);
}

template <typename T> static void backward(float *dE, float *dP, float *dL, const act *dY, const int32_t *token, const int32_t *pos,
                                           const int32_t *lang, float scale, int N, int D)
{
    if (dE) segment_add(dE, (const T *)dY, token, N, D, { NULL, 1, NULL, scale });
    if (dP) segment_add(dP, (const T *)dY, pos, N, D, { NULL, 1, NULL, 1 });
    if (dL) segment_add(dL, (const T *)dY, lang, N, D, { NULL, 1, NULL, 1 });
}

void cuda_embed_bwd(float *dE, float *dP, float *dL, const act *dY, const int32_t *token, const int32_t *pos,
                    const int32_t *lang, float scale, int N, int D)
{
    if (N > 0 && !cuda_lost()) BY_TYPE(backward, dE, dP, dL, dY, token, pos, lang, scale, N, D);
}
