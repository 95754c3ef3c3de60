#include "lib/vectors/affinities.h"
#include <math.h>
#include <stdlib.h>
#include "common/mem.h"
#include "common/thread.h"
#include "lib/vectors/topk.h"

void affinities_free(struct affinities *a)
{
    free(a->dense);
    free(a->row);
    free(a->col);
    free(a->p);
}

static double squared(const float *a, const float *b, int d)
{
    double s = 0;
    for (int k = 0; k < d; k++) s += ((double)a[k] - b[k]) * ((double)a[k] - b[k]);
    return s;
}

/* p [n] of squared distances dd [n] whose entropy is log(perplexity), by bisection of beta. dd of
 * the point itself is < 0 and gets 0. */
static void conditional(const double *dd, size_t n, double perplexity, double *p)
{
    double low = 0, high = INFINITY, beta = 1, least = INFINITY, want = log(perplexity);
    for (size_t j = 0; j < n; j++)
        if (dd[j] >= 0) least = fmin(least, dd[j]);
    for (int step = 0; step < 200; step++) {
        double sum = 0, moment = 0;
        for (size_t j = 0; j < n; j++) {
            p[j] = dd[j] < 0 ? 0 : exp(-beta * (dd[j] - least));
            sum += p[j];
            moment += p[j] * (dd[j] - least);
        }
        double entropy = log(sum) + beta * moment / sum;
        for (size_t j = 0; j < n; j++) p[j] /= sum;
        if (fabs(entropy - want) < 1e-5) return;
        if (entropy > want) low = beta; else high = beta;
        beta = isinf(high) ? 2 * beta : (low + high) / 2;
    }
}

struct source {
    const float *X, *across;      /* [n, d], and [d, n] */
    uint32_t n;
    int d;
    double perplexity;
    struct affinities *a;
    uint32_t near;
    uint32_t *index;
    double *p;
};

/* --- dense ------------------------------------------------------------------------------------ */

static int dense_row(void *ctx, size_t i, int thread)
{
    (void)thread;
    const struct source *s = ctx;
    size_t d = (size_t)s->d;
    double *dd = mem_alloc(2 * (size_t)s->n * sizeof *dd), *p = dd + s->n;
    for (size_t j = 0; j < s->n; j++)
        dd[j] = j == i ? -1 : squared(s->X + i * d, s->X + j * d, s->d);
    conditional(dd, s->n, s->perplexity, p);
    for (size_t j = 0; j < s->n; j++) s->a->dense[i * s->a->pad + j] = (float)p[j];
    free(dd);
    return 0;
}

void affinities_dense(struct affinities *a, const float *X, uint32_t n, int d, double perplexity)
{
    *a = (struct affinities){
        .n = n,
        .pad = (n + AFFINITIES_LANES - 1) / AFFINITIES_LANES * AFFINITIES_LANES
    };
    a->dense = mem_zero((size_t)n * a->pad, sizeof *a->dense);
    struct source s = { .X = X, .n = n, .d = d, .perplexity = perplexity, .a = a };
    par_for(n, dense_row, &s);
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            float *there = &a->dense[i * a->pad + j], *back = &a->dense[j * a->pad + i];
            *there = *back = (*there + *back) / (2 * (float)n);
        }
}

/* --- sparse ----------------------------------------------------------------------------------- */

/* The nearest by distances in float, a dimension at a time over all points, which compilers make
 * vectors of; p by those in double. */
static int near_row(void *ctx, size_t i, int thread)
{
    (void)thread;
    const struct source *s = ctx;
    size_t d = (size_t)s->d;
    double *dd = mem_alloc((size_t)s->near * sizeof *dd);
    float *score = mem_alloc((size_t)s->near * sizeof *score),
          *minus = mem_zero((size_t)s->n, sizeof *minus);
    for (size_t k = 0; k < d; k++) {
        const float *x = s->across + k * s->n, at = x[i];
        for (size_t j = 0; j < s->n; j++) minus[j] -= (x[j] - at) * (x[j] - at);
    }
    struct topk t = { (int)s->near, 0, score, s->index + i * s->near };
    topk_row(&t, minus, (uint32_t)i, 0);
    topk_row(&t, minus + i + 1, s->n - (uint32_t)i - 1, (uint32_t)i + 1);
    topk_sort(&t);
    for (uint32_t k = 0; k < s->near; k++)
        dd[k] = squared(s->X + i * d, s->X + t.index[k] * d, s->d);
    conditional(dd, s->near, s->perplexity, s->p + i * s->near);
    free(dd);
    free(score);
    free(minus);
    return 0;
}

struct entry { uint32_t col; float p; };
static int by_column(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return (x->col > y->col) - (x->col < y->col);
}

/* p_{j|i} of each point's near ones, into s->index and s->p [n, near]. */
static void near_ones(struct source *s)
{
    size_t n = s->n, d = (size_t)s->d;
    float *across = mem_alloc(n * d * sizeof *across);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < d; k++) across[k * n + i] = s->X[i * d + k];
    s->across = across;
    s->index = mem_alloc(n * s->near * sizeof *s->index);
    s->p = mem_alloc(n * s->near * sizeof *s->p);
    par_for(n, near_row, s);
    free(across);
}

void affinities_sparse(struct affinities *a, const float *X, uint32_t n, int d, double perplexity)
{
    uint32_t near = (uint32_t)fmin(n - 1, 3 * perplexity + 1);
    *a = (struct affinities){ .n = n };
    struct source s = { .X = X, .n = n, .d = d, .perplexity = perplexity, .a = a, .near = near };
    near_ones(&s);
    /* Both p_{j|i} and p_{i|j} into row i; equal columns, at most two, are added. */
    size_t *end = mem_zero((size_t)n + 1, sizeof *end), all = 0, m = 0;
    for (size_t k = 0; k < (size_t)n * near; k++) { end[k / near]++; end[s.index[k]]++; }
    for (uint32_t i = 0; i < n; i++) { size_t count = end[i]; end[i] = all; all += count; }
    struct entry *e = mem_alloc((all + 1) * sizeof *e);
    for (size_t k = 0; k < (size_t)n * near; k++) {
        uint32_t i = (uint32_t)(k / near), j = s.index[k];
        float p = (float)(s.p[k] / (2.0 * n));
        e[end[i]++] = (struct entry){ j, p };
        e[end[j]++] = (struct entry){ i, p };
    }
    a->row = mem_alloc(((size_t)n + 1) * sizeof *a->row);
    a->col = mem_alloc((all + 1) * sizeof *a->col);
    a->p = mem_alloc((all + 1) * sizeof *a->p);
    for (uint32_t i = 0; i < n; i++) {
        size_t begin = i ? end[i - 1] : 0;
        a->row[i] = m;
        if (end[i] > begin) qsort(e + begin, end[i] - begin, sizeof *e, by_column);
        for (size_t k = begin; k < end[i]; k++)
            if (m > a->row[i] && a->col[m - 1] == e[k].col) a->p[m - 1] += e[k].p;
            else { a->col[m] = e[k].col; a->p[m++] = e[k].p; }
    }
    a->row[n] = m;
    free(e);
    free(end);
    free(s.index);
    free(s.p);
}
