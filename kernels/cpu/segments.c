/* Vectors of sentences, and how they compare: means of the rows of segments, products, hits. */
#include <string.h>
#include "kernels/cpu/cpu.h"

enum { SEGMENT_ROWS = 32 };      /* that a segment has, about: how work is cut */

static void forward_segments(void *ctx, int first, int last)
{
    const struct kern_means_fwd *a = ctx;
    const struct simd *s = simd_choose();
    size_t D = (size_t)a->D;
    for (int m = first; m < last; m++) {
        float *y = (float *)a->Y + (size_t)m * D;
        const float *x = (const float *)a->X + (size_t)a->at[m] * D;
        memset(y, 0, D * sizeof *y);
        for (int r = 0; r < a->len[m]; r++) s->add(y, x + (size_t)r * D, D);
        if (a->len[m] > 0) s->scale(y, 1.0f / (float)a->len[m], y, D);
    }
}

void cpu_means_fwd(const struct kern_means_fwd *a)
{
    cpu_rows(a->M, (size_t)a->D * SEGMENT_ROWS, forward_segments, (void *)a);
}

static void backward_segments(void *ctx, int first, int last)
{
    const struct kern_means_bwd *a = ctx;
    const struct simd *s = simd_choose();
    size_t D = (size_t)a->D;
    for (int m = first; m < last; m++) {
        const float *dy = (const float *)a->dY + (size_t)m * D;
        float *dx = (float *)a->dX + (size_t)a->at[m] * D, by = 1.0f / (float)a->len[m];
        for (int r = 0; r < a->len[m]; r++, dx += D) {
            if (!a->add) memset(dx, 0, D * sizeof *dx);
            s->axpy(dx, by, dy, D);
        }
    }
}

void cpu_means_bwd(const struct kern_means_bwd *a)
{
    cpu_rows(a->M, (size_t)a->D * SEGMENT_ROWS, backward_segments, (void *)a);
}

void cpu_hits(const struct kern_hits *a)
{
    for (int m = 0; m < a->M; m++) a->to[m] = a->best[m] == a->target[m];
}

static void dot_rows(void *ctx, int first, int last)
{
    const struct kern_dots *a = ctx;
    const struct simd *s = simd_choose();
    size_t D = (size_t)a->D;
    for (int p = first; p < last; p++)
        a->to[p] = a->scale
                   * (float)s->dot(a->E + (size_t)a->i[p] * D, a->E + (size_t)a->j[p] * D, D);
}

void cpu_dots(const struct kern_dots *a) { cpu_rows(a->P, (size_t)a->D, dot_rows, (void *)a); }
