#include "lib/bilingual/spelling.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include "common/hashmap.h"
#include "common/mem.h"
#include "common/text.h"
#include "lib/vectors/sparse.h"

enum { LONGEST = 4 };

/* The number of an n-gram by its 64-bit hash (a clash of two n-grams among a few hundred thousand
 * has a probability of about 1e-8, and would only blur a score). */
static uint32_t gram_id(struct hashmap *grams, uint64_t hash)
{
    return hashmap_add(grams, hash, (uint32_t)grams->n + 1) - 1;
}

struct bag { struct entry *e; size_t n, cap; };

static void add_word(struct hashmap *g, struct bag *b, uint32_t row, const char *word, size_t n)
{
    /* "<" word ">" as characters: where each begins. */
    char *s = mem_alloc(n + 3);
    size_t *at = mem_alloc((n + 4) * sizeof *at), chars = 0;
    s[0] = '<';
    memcpy(s + 1, word, n);
    s[n + 1] = '>';
    for (size_t i = 0; i < n + 2; i++)
        if (((unsigned char)s[i] & 0xC0) != 0x80) at[chars++] = i;
    at[chars] = n + 2;
    for (size_t i = 0; i < chars; i++)
        for (size_t len = 1; len <= LONGEST && i + len <= chars; len++) {
            mem_room(&b->e, &b->cap, b->n + 1, sizeof *b->e);
            b->e[b->n++] = (struct entry){ row,
                                           gram_id(g, XXH3_64bits(s + at[i], at[i + len] - at[i])),
                                           1 };
        }
    free(s);
    free(at);
}

void spelling_add(const struct vectors *src, const struct vectors *tgt, float weight, float *S)
{
    const struct vectors *side[2] = { src, tgt };
    struct hashmap g = { 0 };
    struct bag bag[2] = { { 0 }, { 0 } };
    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; i < side[k]->n; i++)
            add_word(&g, &bag[k], i, vectors_word(side[k], i), vectors_word_len(side[k], i));
    struct sparse *m[2];
    double *in = mem_zero(g.n + 1, sizeof *in), words = (double)src->n + tgt->n;
    for (int k = 0; k < 2; k++) {
        m[k] = sparse_make(side[k]->n, (uint32_t)g.n, bag[k].e, bag[k].n);
        for (size_t i = 0; i < m[k]->at[side[k]->n]; i++) in[m[k]->col[i]]++;
        free(bag[k].e);
    }
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; i < m[k]->at[side[k]->n]; i++)
            m[k]->v[i] = (float)(log(1 + m[k]->v[i]) * log(words / in[m[k]->col[i]]));
        sparse_unit_rows(m[k]);
    }
    sparse_add_products(m[0], m[1], weight, S);
    sparse_free(m[0]);
    sparse_free(m[1]);
    free(in);
    hashmap_free(&g);
}

static double *log_frequency(const struct vectors *v)
{
    double *f = mem_zero((size_t)v->n + 1, sizeof *f), total = 0;
    for (uint32_t i = 0; v->count && i < v->n; i++) total += (double)v->count[i];
    for (uint32_t i = 0; i < v->n; i++)
        f[i] = v->count && v->count[i] ? log((double)v->count[i] / total) : NAN;
    return f;
}

void frequency_add(const struct vectors *src, const struct vectors *tgt, float weight, float *S)
{
    double *a = log_frequency(src), *b = log_frequency(tgt);
    for (size_t i = 0; i < src->n; i++)
        for (size_t j = 0; j < tgt->n; j++) {
            double apart = fabs(a[i] - b[j]);
            if (!isnan(apart)) S[i * tgt->n + j] -= weight * (float)fmin(3, apart);
        }
    free(a);
    free(b);
}
