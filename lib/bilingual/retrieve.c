#include "lib/bilingual/retrieve.h"
#include <stdbool.h>
#include <stdlib.h>
#include "common/mem.h"

double retrieve_hit(const struct csls_side *s, int first)
{
    uint32_t right = 0;
    for (uint32_t i = 0; i < s->n; i++)
        for (int k = 0; k < first && k < s->k; k++)
            right += s->index[(size_t)i * (size_t)s->k + (size_t)k] == i;
    return s->n ? (double)right / s->n : 0;
}

static int falling(const void *a, const void *b)
{
    const struct mined *x = a, *y = b;
    /* then rows, so that ties have one order on every machine */
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    if (x->src != y->src) return x->src < y->src ? -1 : 1;
    return (x->tgt > y->tgt) - (x->tgt < y->tgt);
}

size_t retrieve_mine(const struct csls_side *x, const struct csls_side *z, double least,
                     struct mined **m)
{
    size_t n = 0, kept = 0;
    /* candidates of both directions: a pair may stand there twice, and is taken once */
    *m = mem_alloc(((size_t)x->n + z->n + 1) * sizeof **m);
    for (uint32_t i = 0; i < x->n; i++)
        (*m)[n++] = (struct mined){ i, x->index[(size_t)i * (size_t)x->k],
                                    x->score[(size_t)i * (size_t)x->k] };
    for (uint32_t j = 0; j < z->n; j++)
        (*m)[n++] = (struct mined){ z->index[(size_t)j * (size_t)z->k], j,
                                    z->score[(size_t)j * (size_t)z->k] };
    qsort(*m, n, sizeof **m, falling);
    bool *src = mem_zero((size_t)x->n + 1, sizeof *src),
         *tgt = mem_zero((size_t)z->n + 1, sizeof *tgt);
    for (size_t i = 0; i < n; i++) {
        struct mined c = (*m)[i];
        /* a score that is not a number is none, either */
        if (!(c.score >= least) || src[c.src] || tgt[c.tgt]) continue;
        src[c.src] = tgt[c.tgt] = true;
        (*m)[kept++] = c;
    }
    free(src);
    free(tgt);
    return kept;
}
