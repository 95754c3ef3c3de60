/* Vectors of sentences, and how they compare: means of the rows of segments, products, what is
 * correct. */
#include <string.h>
#include "kernels/cpu/cpu.h"

enum { SEGMENT_ROWS = 32 };      /* that a segment has, about: how work is cut */

static void forward_segments(void *ctx, int first, int last)
{
    const struct kern_means_fwd *a = ctx;
    const struct simd *s = simd_choose();
    size_t D = (size_t)a->D;
    float *x_room = acts_room(0, D), *y_room = acts_room(1, D);
    for (int m = first; m < last; m++) {
        float *y = acts_place(a->Y, (size_t)m * D, y_room);
        /* Sums of a segment in float32, rounded once. */
        memset(y, 0, D * sizeof *y);
        for (int r = 0; r < a->len[m]; r++)
            s->add(y, acts_read(a->X, (size_t)(a->at[m] + r) * D, D, x_room), D);
        if (a->len[m] > 0) s->scale(y, 1.0f / (float)a->len[m], y, D);
        acts_write(a->Y, (size_t)m * D, y, D);
    }
}

void cpu_means_fwd(const struct kern_means_fwd *a)
{
    work_rows(a->M, (size_t)a->D * SEGMENT_ROWS, forward_segments, (void *)a);
}

static void backward_segments(void *ctx, int first, int last)
{
    const struct kern_means_bwd *a = ctx;
    const struct simd *s = simd_choose();
    size_t D = (size_t)a->D;
    float *dx_room = acts_room(0, D), *dy_room = acts_room(1, D);
    for (int m = first; m < last; m++) {
        const float *dy = acts_read(a->dY, (size_t)m * D, D, dy_room);
        /* an empty segment has no row that would be multiplied by infinity */
        float by = 1.0f / (float)a->len[m];
        for (int r = 0; r < a->len[m]; r++) {
            size_t at = (size_t)(a->at[m] + r) * D;
            float *dx = acts_open(a->dX, at, D, dx_room);
            if (!a->add) memset(dx, 0, D * sizeof *dx);
            s->axpy(dx, by, dy, D);
            acts_write(a->dX, at, dx, D);
        }
    }
}

void cpu_means_bwd(const struct kern_means_bwd *a)
{
    work_rows(a->M, (size_t)a->D * SEGMENT_ROWS, backward_segments, (void *)a);
}

void cpu_correct(const struct kern_correct *a)
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

void cpu_dots(const struct kern_dots *a) { work_rows(a->P, (size_t)a->D, dot_rows, (void *)a); }
