/* Rows of length s. */
#include <math.h>
#include <string.h>
#include "kernels/cpu/cpu.h"

static void forward_rows(void *ctx, int first, int last)
{
    const struct kern_unit_fwd *a = ctx;
    const struct simd *s = simd_choose();
    size_t D = (size_t)a->D;
    float *x_room = acts_room(0, D), *y_room = acts_room(1, D);
    for (int n = first; n < last; n++) {
        size_t at = (size_t)n * D;
        const float *x = acts_read(a->X, at, D, x_room);
        float *y = acts_place(a->Y, at, y_room);
        double length = sqrt(s->squares(x, D));
        /* A row of zeros has no direction and stays zero. */
        s->scale(y, length > 0 ? (float)((double)a->s / length) : 0, x, D);
        acts_write(a->Y, at, y, D);
        a->len[n] = (float)length;
    }
}

void cpu_unit_fwd(const struct kern_unit_fwd *a)
{
    work_rows(a->N, (size_t)a->D, forward_rows, (void *)a);
}

static void backward_rows(void *ctx, int first, int last)
{
    const struct kern_unit_bwd *a = ctx;
    const struct simd *s = simd_choose();
    size_t D = (size_t)a->D;
    float *y_room = acts_room(0, D), *dy_room = acts_room(1, D), *dx_room = acts_room(2, D);
    for (int n = first; n < last; n++) {
        size_t at = (size_t)n * D;
        const float *y = acts_read(a->Y, at, D, y_room), *dy = acts_read(a->dY, at, D, dy_room);
        float *dx = acts_open(a->dX, at, D, dx_room);
        if (!a->add) memset(dx, 0, D * sizeof *dx);
        /* dx = s / |x| dy - (y . dy) y / (s |x|): the part along y does not change its
         * direction. */
        if (a->len[n] > 0) {
            s->axpy(dx, a->s / a->len[n], dy, D);
            s->axpy(dx, -s->dot(y, dy, D) / (a->s * a->len[n]), y, D);
        }
        acts_write(a->dX, at, dx, D);
    }
}

void cpu_unit_bwd(const struct kern_unit_bwd *a)
{
    work_rows(a->N, (size_t)a->D, backward_rows, (void *)a);
}
