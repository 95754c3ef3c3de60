#include "lib/bilingual/refine.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"
#include "lib/vectors/csls.h"

/* The `near` best of each row (or column) as a sparse matrix whose rows sum to 1. */
static struct sparse *soft(const float *scores, uint32_t n, uint32_t m, int by_rows, int near,
                           double heat)
{
    struct csls_side top;
    csls_matrix_top(scores, n, m, by_rows, near, &top);
    size_t k = (size_t)top.k, count = 0;
    struct entry *e = mem_alloc((top.n * k + 1) * sizeof *e);
    for (uint32_t i = 0; i < top.n; i++) {
        double sum = 0;
        for (size_t j = 0; j < k; j++) sum += exp((top.score[i * k + j] - top.score[i * k]) / heat);
        for (size_t j = 0; j < k; j++) {
            float v = (float)(exp((top.score[i * k + j] - top.score[i * k]) / heat) / sum);
            if (v > 1e-6f) e[count++] = (struct entry){ i, top.index[i * k + j], v };
        }
    }
    struct sparse *t = sparse_make(top.n, by_rows ? m : n, e, count);
    free(e);
    csls_free(&top);
    return t;
}

static void compare(struct sparse *a, struct sparse *b, double smooth, float weight, float *S)
{
    sparse_ppmi(a, smooth, 1);
    sparse_ppmi(b, smooth, 1);
    sparse_unit_rows(a);
    sparse_unit_rows(b);
    sparse_add_products(a, b, weight, S);
    sparse_free(a);
    sparse_free(b);
}

static double mean_best(const float *S, uint32_t n, uint32_t m, int by_rows)
{
    struct csls_side top;
    csls_matrix_top(S, n, m, by_rows, 1, &top);
    double sum = 0;
    for (uint32_t i = 0; i < top.n; i++) sum += top.score[i];
    sum /= top.n;
    csls_free(&top);
    return sum;
}

void refine_round(const struct refine *r, float *scores, double *agreement)
{
    size_t size = (size_t)r->n * r->m;
    struct sparse *there = soft(scores, r->n, r->m, 1, r->near, r->heat),
                  *back = soft(scores, r->n, r->m, 0, r->near, r->heat);
    memset(scores, 0, size * sizeof *scores);
    for (int b = 0; b < r->blocks; b++) {
        float weight = 0.5f / (float)r->blocks;
        compare(sparse_product(r->src[b], there), sparse_copy(r->tgt[b]), r->smooth, weight,
                scores);
        compare(sparse_copy(r->src[b]), sparse_product(r->tgt[b], back), r->smooth, weight, scores);
    }
    sparse_free(there);
    sparse_free(back);
    if (agreement)
        *agreement = (mean_best(scores, r->n, r->m, 1) + mean_best(scores, r->n, r->m, 0)) / 2;
    csls_matrix(scores, r->n, r->m, r->K);
    if (r->extra)
        for (size_t i = 0; i < size; i++) scores[i] += r->extra[i];
}
