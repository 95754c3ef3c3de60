#include "lib/bilingual/spelling.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include "common/hashmap.h"
#include "common/mem.h"
#include "common/text.h"
#include "common/thread.h"
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

struct spelling { struct sparse *src; struct sparse_right *tgt; float weight; };

struct spelling *spelling_new(const struct vectors *src, const struct vectors *tgt, float weight)
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
    struct spelling *s = mem_alloc(sizeof *s);
    *s = (struct spelling){ m[0], sparse_right_new(m[0], m[1]), weight };
    sparse_free(m[1]);
    free(in);
    hashmap_free(&g);
    return s;
}

void spelling_free(struct spelling *s)
{
    if (!s) return;
    sparse_free(s->src);
    sparse_right_free(s->tgt);
    free(s);
}

void spelling_add(const struct spelling *s, uint32_t first, uint32_t n, uint32_t m, float *S)
{
    sparse_add_products(s->src, s->tgt, s->weight, first, n, m, S);
}

struct frequency { double *src, *tgt; float weight; };

static double *log_frequency(const struct vectors *v)
{
    double *f = mem_zero((size_t)v->n + 1, sizeof *f), total = 0;
    for (uint32_t i = 0; v->count && i < v->n; i++) total += (double)v->count[i];
    for (uint32_t i = 0; i < v->n; i++)
        f[i] = v->count && v->count[i] ? log((double)v->count[i] / total) : NAN;
    return f;
}

struct frequency *frequency_new(const struct vectors *src, const struct vectors *tgt, float weight)
{
    struct frequency *f = mem_alloc(sizeof *f);
    *f = (struct frequency){ log_frequency(src), log_frequency(tgt), weight };
    return f;
}

void frequency_free(struct frequency *f)
{
    if (!f) return;
    free(f->src);
    free(f->tgt);
    free(f);
}

struct apart { const struct frequency *f; uint32_t first, m; float *S; };

static int apart_row(void *ctx, size_t i, int thread)
{
    (void)thread;
    const struct apart *a = ctx;
    double src = a->f->src[a->first + i];
    float *to = a->S + i * a->m;
    for (size_t j = 0; !isnan(src) && j < a->m; j++) {
        double apart = fabs(src - a->f->tgt[j]);
        /* NaN, a word without a count, is in no order */
        if (apart < 3) to[j] -= a->f->weight * (float)apart;
        else if (apart >= 3) to[j] -= a->f->weight * 3;
    }
    return 0;
}

void frequency_add(const struct frequency *f, uint32_t first, uint32_t n, uint32_t m, float *S)
{
    struct apart a = { f, first, m, S };
    par_for(n, apart_row, &a);
}
