/* PMI-Masking (Levine et al. 2021): which n-grams of a list stand in a sentence, which units are
 * masked. */
#include <stdlib.h>
#include "common/mem.h"
#include "lib/data/masking_units.h"

/* Words first..last-1 of a sentence are an n-gram of the list. */
struct match { int first, last; uint32_t draw; };

/* The longest n-gram that begins with word a; its words, 0: none. */
static int longest_at(const struct units *x, const struct masker *k, const struct masking_text *t,
                      int a)
{
    int from = x->start[a], words = 0;
    uint32_t node = ngram_lists_root(t->lang[from]);
    for (int b = a; b < x->words && node; b++) {
        for (int i = x->start[b]; i < x->start[b + 1] && node; i++)
            node = t->lang[i] == t->lang[from] ? ngram_lists_next(k->ngrams, node, t->token[i]) : 0;
        if (node && ngram_lists_end(k->ngrams, node)) words = b + 1 - a;
    }
    return words;
}

/* All that stand in the sentence but those within another one; m [words]. */
static int find(const struct units *x, const struct masker *k, const struct masking_text *t,
                struct match *m)
{
    int n = 0, reached = 0;
    for (int a = 0; a < x->words; a++) {
        int words = longest_at(x, k, t, a);
        if (a + words <= reached || !words) continue;
        m[n++] = (struct match){ a, reached = a + words, 0 };
    }
    return n;
}

static int by_draw(const void *a, const void *b)
{
    const struct match *x = a, *y = b;
    if (x->draw != y->draw) return x->draw < y->draw ? -1 : 1;
    return x->first - y->first;
}

void units_by_lists(struct units *x, const struct masker *k, const struct masking_text *t,
                    struct rng_key key, uint64_t number)
{
    struct match *m = mem_alloc(((size_t)x->words + 1) * sizeof *m);
    int *last = mem_zero((size_t)x->words + 1, sizeof *last);    /* of the unit with this word */
    uint32_t *order = mem_alloc(((size_t)x->words + 1) * sizeof *order);
    int n = find(x, k, t, m), units = 0;
    for (int i = 0; i < n; i++) m[i].draw = rng_u32(key, number, (uint32_t)(x->n + 1 + m[i].first));
    qsort(m, (size_t)n, sizeof *m, by_draw);
    for (int i = 0; i < n; i++) {           /* of those that overlap the one that is drawn first */
        bool whole = true;
        for (int w = m[i].first; w < m[i].last; w++) whole &= !last[w];
        for (int w = m[i].first; w < m[i].last && whole; w++) last[w] = m[i].last;
    }
    int *first = mem_alloc(((size_t)x->words + 1) * sizeof *first);
    for (int w = 0; w < x->words; w = last[w]) {
        if (!last[w]) last[w] = w + 1;
        if (choosable(&k->how, t->token[x->start[w]])) first[units++] = w;
    }
    rng_permutation(key, number, order, (uint32_t)units);
    for (int i = 0; i < units && x->chosen < x->budget; i++) {
        int w = first[order[i]];
        units_take(x, x->start[w], x->start[last[w]]);
    }
    free(m);
    free(last);
    free(order);
    free(first);
}
