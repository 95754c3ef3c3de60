/* Rows of length s. */
#include <math.h>
#include <string.h>
#include "kernels/cpu/cpu.h"

static void forward_rows(void *ctx, int first, int last)
{
    const struct kern_unit_fwd *a = ctx;
    const struct simd *s = simd_choose();
    size_t D = (size_t)a->D;
    for (int n = first; n < last; n++) {
        const float *x = (const float *)a->X + (size_t)n * D;
        double length = sqrt(s->squares(x, D));
        s->scale((float *)a->Y + (size_t)n * D, length > 0 ? (float)((double)a->s / length) : 0, x,
                 D);
        a->len[n] = (float)length;
    }
}

void cpu_unit_fwd(const struct kern_unit_fwd *a)
{
    cpu_rows(a->N, (size_t)a->D, forward_rows, (void *)a);
}

static void backward_rows(void *ctx, int first, int last)
{
    const struct kern_unit_bwd *a = ctx;
    const struct simd *s = simd_choose();
    size_t D = (size_t)a->D;
    for (int n = first; n < last; n++) {
        const float *y = (const float *)a->Y + (size_t)n * D,
                    *dy = (const float *)a->dY + (size_t)n * D;
        float *dx = (float *)a->dX + (size_t)n * D;
        if (!a->add) memset(dx, 0, D * sizeof *dx);
        if (!(a->len[n] > 0)) continue;
        s->axpy(dx, a->s / a->len[n], dy, D);
        s->axpy(dx, -s->dot(y, dy, D) / (a->s * a->len[n]), y, D);
    }
}

void cpu_unit_bwd(const struct kern_unit_bwd *a)
{
    cpu_rows(a->N, (size_t)a->D, backward_rows, (void *)a);
}
