/* Pairs of a table's rows, by their cosine or their distance. First what each pair's gradient is
 * made of, then the gradients as rows added up by index (segment.h): of a pair (a, b) four, of b
 * and of a itself to a, of a and of b itself to b. */
#include "kernels/cuda/segment.h"

enum { WARPS = 4 };                         /* pairs per block */

/* [4 P] each; to NULL: no gradient wanted. */
struct parts_of {
    int32_t *to, *from;
    float *by;
};

template <bool WHOLE> static __global__ void compare(kern_cos_pairs a, parts_of out)
{
    int p = (int)blockIdx.x * WARPS + (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    if (p >= a.P) return;
    int i = a.i[p], j = a.j[p];
    const float *X = a.E + (size_t)i * a.D, *Y = a.E + (size_t)j * a.D;
    float xx = 0, yy = 0, xy = 0, distance = 0;
    for (int c = lane * 8; c < a.D; c += 256) {
        eight x = load8<WHOLE>(X + c, a.D - c), y = load8<WHOLE>(Y + c, a.D - c);
#pragma unroll
        for (int k = 0; k < 8; k++) {
            xx += x.x[k] * x.x[k];
            yy += y.x[k] * y.x[k];
            xy += x.x[k] * y.x[k];
            distance += (x.x[k] - y.x[k]) * (x.x[k] - y.x[k]);
        }
    }
    xx = warp_sum(xx); yy = warp_sum(yy); xy = warp_sum(xy);
    distance = sqrtf(warp_sum(distance));
    if (lane > 0) return;
    /* 1e-8 as in PyTorch's cosine_similarity. */
    float both = sqrtf(xx) * sqrtf(yy), cosine = xy / fmaxf(both, 1e-8f);
    if (a.loss) a.loss[p] = a.l2 ? distance : -cosine;
    if (!out.to) return;
    /* Vectors of length 0, and equal ones by distance, have no direction to move in. */
    bool flat = a.l2 ? distance == 0 : both < 1e-8f;
    float far = a.scale / distance, across = a.l2 ? -far : -a.scale / both;
    const float by[4] = { across, a.l2 ? far : a.scale * cosine / xx, across,
                          a.l2 ? far : a.scale * cosine / yy };
    const int to[4] = { i, i, j, j }, from[4] = { j, i, i, j };
    for (int k = 0; k < 4; k++) {
        out.to[4 * p + k] = flat ? -1 : to[k];
        out.from[4 * p + k] = from[k];
        out.by[4 * p + k] = flat ? 0 : by[k];
    }
}

void cuda_cos_pairs(const struct kern_cos_pairs *a)
{
    if (a->P <= 0 || a->D <= 0 || cuda_lost()) return;
    struct parts_of out = { NULL, NULL, NULL };
    size_t n = 4 * (size_t)a->P;
    if (a->dE) {
        out.by = (float *)cuda_scratch(SCRATCH_SLOPES, n * (sizeof(float) + 2 * sizeof(int32_t)));
        if (!out.by) return;
        out.to = (int32_t *)(out.by + n);
        out.from = out.to + n;
    }
    unsigned grid = blocks_for((size_t)a->P, WARPS);
    if (whole8((size_t)a->D, a->E)) LAUNCH(compare<true>, grid, 32 * WARPS, 0, *a, out);
    else LAUNCH(compare<false>, grid, 32 * WARPS, 0, *a, out);
    if (a->dE) segment_add(a->dE, a->E, out.to, (int)n, a->D, { out.from, 1, out.by, 1 });
}
