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

/* Adds the best of each row, which is the source's or the target's (turned), down to `least`. A
 * score that is not a number is below everything: beside it nothing could be sorted. */
static size_t add(struct mined *m, size_t n, const struct csls_side *s, bool turned, double least)
{
    for (uint32_t i = 0; i < s->n; i++) {
        size_t at = (size_t)i * (size_t)s->k;
        uint32_t best = s->index[at];
        if (!(s->score[at] >= least)) continue;
        m[n++] = (struct mined){ turned ? best : i, turned ? i : best, s->score[at] };
    }
    return n;
}

size_t retrieve_mine(const struct csls_side *x, const struct csls_side *z, double least,
                     struct mined **m)
{
    /* candidates of both directions: a pair may stand there twice, and is taken once */
    *m = mem_alloc(((size_t)x->n + z->n) * sizeof **m);
    size_t n = add(*m, 0, x, false, least), kept = 0;
    n = add(*m, n, z, true, least);
    qsort(*m, n, sizeof **m, falling);
    bool *src = mem_zero(x->n, sizeof *src), *tgt = mem_zero(z->n, sizeof *tgt);
    for (size_t i = 0; i < n; i++) {
        struct mined c = (*m)[i];
        if (src[c.src] || tgt[c.tgt]) continue;
        src[c.src] = tgt[c.tgt] = true;
        (*m)[kept++] = c;
    }
    free(src);
    free(tgt);
    return kept;
}
