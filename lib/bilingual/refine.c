#include "lib/bilingual/refine.h"
#include <math.h>
#include <stdlib.h>
#include "common/mem.h"

/* The `near` best of each row as a sparse matrix [top->n, m] whose rows sum to 1: a soft
 * translation of contexts, by which both sides' counts have the same columns. */
static struct sparse *soft(const struct csls_side *top, uint32_t m, double heat)
{
    size_t k = (size_t)top->k, count = 0;
    struct sparse_entry *e = mem_alloc((top->n * k + 1) * sizeof *e);
    for (uint32_t i = 0; i < top->n; i++) {
        double sum = 0;
        for (size_t j = 0; j < k; j++)
            sum += exp((top->score[i * k + j] - top->score[i * k]) / heat);
        for (size_t j = 0; j < k; j++) {
            float v = (float)(exp((top->score[i * k + j] - top->score[i * k]) / heat) / sum);
            if (v > 1e-6f) e[count++] = (struct sparse_entry){ i, top->index[i * k + j], v };
        }
    }
    struct sparse *t = sparse_make(top->n, m, e, count);
    free(e);
    return t;
}

static struct scores_pair pair(struct sparse *a, struct sparse *b, double smooth)
{
    sparse_ppmi(a, smooth, 1);
    sparse_ppmi(b, smooth, 1);
    sparse_unit_rows(a);
    sparse_unit_rows(b);
    return (struct scores_pair){ a, b };
}

void refine_round(const struct refine *r, struct scores *s)
{
    struct csls_side x, z;
    scores_top(s, r->near, &x, &z);
    struct sparse *there = soft(&x, z.n, r->heat), *back = soft(&z, x.n, r->heat);
    csls_free(&x);
    csls_free(&z);
    struct scores_pair *p = mem_alloc(2 * (size_t)r->blocks * sizeof *p);
    for (int b = 0; b < r->blocks; b++) {
        p[2 * b] = pair(sparse_product(r->src[b], there), sparse_copy(r->tgt[b]), r->smooth);
        p[2 * b + 1] = pair(sparse_copy(r->src[b]), sparse_product(r->tgt[b], back), r->smooth);
    }
    scores_by_products(s, p, 2 * r->blocks, 0.5f / (float)r->blocks);
    free(p);
    sparse_free(there);
    sparse_free(back);
}
