/* Pairs of a table's rows, by their cosine or their distance. First what each pair's gradient is
 * made of, then the gradients, cut by columns: a row may be in many pairs. */
#include <math.h>
#include "kernels/cpu/cpu.h"

/* dE[i] += across b + own_a a, dE[j] += across a + own_b b. */
struct slopes { float across, own_a, own_b; };
struct pairs { const struct kern_cos_pairs *a; struct slopes *slope; };

static struct slopes by_cosine(const struct kern_cos_pairs *a, const float *x, const float *y,
                               float *loss)
{
    const struct simd *s = simd_choose();
    size_t D = (size_t)a->D;
    /* 1e-8 as in PyTorch's cosine_similarity. */
    double xx = s->squares(x, D), yy = s->squares(y, D), both = sqrt(xx * yy);
    double cosine = s->dot_double(x, y, D) / (both < 1e-8 ? 1e-8 : both), by = (double)a->scale;
    *loss = (float)-cosine;
    /* Such a pair gives no gradient: its direction is rounding. */
    if (both < 1e-8) return (struct slopes){ 0 };
    /* d cos / dx = y / (|x| |y|) - cos x / |x|^2, and the loss is -cos. */
    return (struct slopes){ (float)(-by / both), (float)(by * cosine / xx),
                            (float)(by * cosine / yy) };
}

static struct slopes by_distance(const struct kern_cos_pairs *a, const float *x, const float *y,
                                 float *loss)
{
    /* The difference first: |x|^2 + |y|^2 - 2 x.y would cancel for rows near each other. */
    double square = 0;
    for (int c = 0; c < a->D; c++)
        square += ((double)x[c] - (double)y[c]) * ((double)x[c] - (double)y[c]);
    *loss = (float)sqrt(square);
    float by = square > 0 ? (float)((double)a->scale / sqrt(square)) : 0;
    return (struct slopes){ -by, by, by };
}

static void compare(void *ctx, int first, int last)
{
    const struct pairs *t = ctx;
    const struct kern_cos_pairs *a = t->a;
    for (int p = first; p < last; p++) {
        const float *x = a->E + (size_t)a->i[p] * (size_t)a->D,
                    *y = a->E + (size_t)a->j[p] * (size_t)a->D;
        float loss;
        t->slope[p] = (a->l2 ? by_distance : by_cosine)(a, x, y, &loss);
        if (a->loss) a->loss[p] = loss;
    }
}

static void gradient_columns(void *ctx, int first, int last)
{
    const struct pairs *t = ctx;
    const struct kern_cos_pairs *a = t->a;
    const struct simd *s = simd_choose();
    size_t n = (size_t)(last - first), D = (size_t)a->D;
    float difference[64];                        /* a chunk of work_columns */
    for (int p = 0; p < a->P; p++) {
        size_t i = (size_t)a->i[p] * D + (size_t)first, j = (size_t)a->j[p] * D + (size_t)first;
        const struct slopes *x = &t->slope[p];
        /* a - b first: near each other the two products would cancel. */
        if (a->l2) {
            for (size_t c = 0; c < n; c++) difference[c] = a->E[i + c] - a->E[j + c];
            s->axpy(a->dE + i, x->own_a, difference, n);
            s->axpy(a->dE + j, x->across, difference, n);
            continue;
        }
        s->axpy(a->dE + i, x->across, a->E + j, n);
        s->axpy(a->dE + i, x->own_a, a->E + i, n);
        s->axpy(a->dE + j, x->across, a->E + i, n);
        s->axpy(a->dE + j, x->own_b, a->E + j, n);
    }
}

void cpu_cos_pairs(const struct kern_cos_pairs *a)
{
    if (a->P <= 0) return;
    struct pairs t = { a, work_scratch(SCRATCH_OP, (size_t)a->P * sizeof(struct slopes)) };
    /* By columns: a row may be in many pairs, and no two threads may add to it. */
    work_rows(a->P, (size_t)a->D * 2, compare, &t);
    if (a->dE) work_columns(a->D, gradient_columns, &t);
}
