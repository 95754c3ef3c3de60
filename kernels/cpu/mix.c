/* Weighted sums of a table's rows, their lengths, and the weights: softmax of a few values. */
#include <math.h>
#include "kernels/cpu/cpu.h"

static size_t row_of(const int32_t *row, int m) { return (size_t)(row ? row[m] : m); }

static void forward_rows(void *ctx, int first, int last)
{
    const struct kern_mix_fwd *a = ctx;
    const struct simd *s = simd_choose();
    size_t D = (size_t)a->D;
    float *room = acts_room(0, D);
    for (int m = first; m < last; m++) {
        size_t at = row_of(a->row, m) * D;
        float *y = acts_open(a->Y, at, D, room);
        for (int j = 0; j < a->k; j++) {
            size_t i = (size_t)m * (size_t)a->k + (size_t)j;
            /* A negative index is a neighbour that is not there. */
            if (a->idx[i] >= 0) s->axpy(y, a->scale * a->w[i], a->E + (size_t)a->idx[i] * D, D);
        }
        acts_write(a->Y, at, y, D);
    }
}

void cpu_mix_fwd(const struct kern_mix_fwd *a)
{
    work_rows(a->M, (size_t)a->k * (size_t)a->D, forward_rows, (void *)a);
}

/* Rows of the table repeat: each chunk of columns goes through all in order. */
static void backward_columns(void *ctx, int first, int last)
{
    const struct kern_mix_bwd *a = ctx;
    const struct simd *s = simd_choose();
    size_t n = (size_t)(last - first), D = (size_t)a->D;
    float *room = acts_room(0, n);
    for (int m = 0; m < a->M; m++) {
        const float *dy = acts_read(a->dY, row_of(a->row, m) * D + (size_t)first, n, room);
        for (int j = 0; j < a->k; j++) {
            size_t i = (size_t)m * (size_t)a->k + (size_t)j;
            if (a->idx[i] < 0) continue;
            s->axpy(a->dE + (size_t)a->idx[i] * D + first, a->scale * a->w[i], dy, n);
        }
    }
}

void cpu_mix_bwd(const struct kern_mix_bwd *a)
{
    if (a->dE && a->M > 0) work_columns(a->D, backward_columns, (void *)a);
}

static void softmax_rows(void *ctx, int first, int last)
{
    const struct kern_softmax *a = ctx;
    for (int m = first; m < last; m++) {
        const float *val = a->val + (size_t)m * (size_t)a->k;
        float *w = a->w + (size_t)m * (size_t)a->k;
        double sum = 0, along = 0;
        float high = -INFINITY;
        /* Shifted by the largest, in double: T may be small, and exp overflows soon. */
        for (int j = 0; j < a->k; j++) high = val[j] > high ? val[j] : high;
        for (int j = 0; j < a->k; j++) {
            double z = ((double)val[j] - (double)high) / (double)a->T;
            if (!(high > -INFINITY)) z = -INFINITY;
            w[j] = (float)exp(z);
            sum += exp(z);
            if (z > -INFINITY) along += z * exp(z);
        }
        for (int j = 0; j < a->k && sum > 0; j++) w[j] = (float)((double)w[j] / sum);
        /* With z = (val - high) / T: H = log(sum exp z) - sum z exp(z) / sum exp(z). */
        if (a->entropy) a->entropy[m] = sum > 0 ? (float)(log(sum) - along / sum) : 0;
    }
}

void cpu_softmax(const struct kern_softmax *a)
{
    work_rows(a->M, (size_t)a->k * 16, softmax_rows, (void *)a);
}

static void norm_rows(void *ctx, int first, int last)
{
    const struct kern_mix_norm *a = ctx;
    const struct simd *s = simd_choose();
    size_t D = (size_t)a->D;
    for (int m = first; m < last; m++) {
        const int32_t *idx = a->idx + (size_t)m * (size_t)a->k;
        float *w = a->w + (size_t)m * (size_t)a->k;
        double along = 0, parts = 0;
        /* ratio = |sum w E| / sum w |E|: 1 where all rows point the same way. Weights divided by
         * it give a mixture of the rows' mean length. */
        for (int j = 0; j < a->k; j++)
            if (idx[j] >= 0) parts += (double)w[j] * sqrt(s->squares(a->E + (size_t)idx[j] * D, D));
        for (size_t d = 0; d < D; d++) {
            double y = 0;
            for (int j = 0; j < a->k; j++)
                if (idx[j] >= 0) y += (double)w[j] * (double)a->E[(size_t)idx[j] * D + d];
            along += y * y;
        }
        double ratio = parts > 0 ? sqrt(along) / parts : 0;
        a->ratio[m] = (float)ratio;
        for (int j = 0; j < a->k && a->keep && ratio > 0; j++) w[j] = (float)((double)w[j] / ratio);
    }
}

void cpu_mix_norm(const struct kern_mix_norm *a)
{
    work_rows(a->M, (size_t)a->k * (size_t)a->D * 2, norm_rows, (void *)a);
}

void cpu_equal(const struct kern_equal *a)
{
    for (int m = 0; m < a->M; m++) a->x[m] = a->a[(size_t)m * (size_t)a->lda] == a->b[m];
}
