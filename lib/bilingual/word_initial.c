#include "lib/bilingual/word_initial.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"

static bool *begins(const struct vectors *v, const char *initial, bool *any)
{
    size_t n = strlen(initial);
    bool *is = mem_zero(v->n, sizeof *is);
    *any = false;
    for (uint32_t i = 0; i < v->n; i++) {
        is[i] = vectors_word_len(v, i) >= n && !memcmp(vectors_word(v, i), initial, n);
        *any |= is[i];
    }
    return is;
}

int word_initial_make(struct word_initial *k, const struct vectors *src, const struct vectors *tgt,
                      const char *initial)
{
    bool a, b;
    *k = (struct word_initial){ begins(src, initial, &a), begins(tgt, initial, &b) };
    if (a && b) return 0;
    word_initial_free(k);
    return err_set(
        "no %s word begins with \"%s\"; --initial names what word-initial pieces begin with",
        a ? "target" : "source", initial);
}

void word_initial_free(struct word_initial *k)
{
    free(k->src);
    free(k->tgt);
    *k = (struct word_initial){ 0 };
}

/* The rows of one kind, end to end, and their numbers. */
struct rows { uint32_t n, *row; float *x; };

static struct rows rows_of(const struct vectors *v, const bool *is, bool kind)
{
    struct rows r = { 0, mem_alloc((size_t)v->n * sizeof *r.row), NULL };
    for (uint32_t i = 0; i < v->n; i++)
        if (is[i] == kind) r.row[r.n++] = i;
    r.x = mem_alloc((size_t)r.n * (size_t)v->dim * sizeof *r.x);
    for (uint32_t i = 0; i < r.n; i++)
        memcpy(r.x + i * (size_t)v->dim, vectors_row(v, r.row[i]), (size_t)v->dim * sizeof *r.x);
    return r;
}

static void rows_free(struct rows *r)
{
    free(r->row);
    free(r->x);
}

static void side_init(struct csls_side *s, uint32_t n, int k)
{
    csls_side_init(s, n, k);
    /* a kind may have fewer rows than k: what stays unset is to be seen */
    for (size_t i = 0; i < (size_t)n * (size_t)k; i++) {
        s->index[i] = UINT32_MAX;
        s->score[i] = -INFINITY;
    }
}

/* What was found among the rows of a kind, under the rows' numbers. */
static void scatter(struct csls_side *to, const struct csls_side *from, const struct rows *own,
                    const struct rows *other)
{
    for (uint32_t i = 0; i < own->n; i++)
        for (int j = 0; j < from->k; j++) {
            size_t at = (size_t)own->row[i] * (size_t)to->k + (size_t)j;
            to->index[at] = other->row[from->index[(size_t)i * (size_t)from->k + (size_t)j]];
            to->score[at] = from->score[(size_t)i * (size_t)from->k + (size_t)j];
        }
}

int word_initial_search(const struct word_initial *kinds, const struct vectors *src,
                        const struct vectors *tgt, enum csls_method how, int k, int K,
                        struct csls_side *x, struct csls_side *z)
{
    int status = 0;
    side_init(x, src->n, k);
    side_init(z, tgt->n, k);
    for (int kind = 0; kind < 2 && status == 0; kind++) {
        struct rows a = rows_of(src, kinds->src, kind), b = rows_of(tgt, kinds->tgt, kind);
        struct csls_side there, back;
        /* a kind that one side lacks has no neighbours */
        if (a.n && b.n
            && (status = csls_search(a.x, a.n, b.x, b.n, src->dim, how, k, K, &there, &back, NULL))
                   == 0) {
            scatter(x, &there, &a, &b);
            scatter(z, &back, &b, &a);
            csls_free(&there);
            csls_free(&back);
        }
        rows_free(&a);
        rows_free(&b);
    }
    if (status < 0) {
        csls_free(x);
        csls_free(z);
    }
    return status;
}

int word_initial_means(const struct word_initial *kinds, const struct vectors *src,
                       const struct vectors *tgt, int K, float **mean)
{
    if (!kinds) return csls_neighbour_means(tgt->x, tgt->n, src->x, src->n, src->dim, K, mean);
    int status = 0;
    *mean = mem_zero(tgt->n, sizeof **mean);
    for (int kind = 0; kind < 2 && status == 0; kind++) {
        struct rows a = rows_of(src, kinds->src, kind), b = rows_of(tgt, kinds->tgt, kind);
        float *own = NULL;
        if (a.n && b.n
            && (status = csls_neighbour_means(b.x, b.n, a.x, a.n, src->dim, K, &own)) == 0)
            for (uint32_t i = 0; i < b.n; i++) (*mean)[b.row[i]] = own[i];
        free(own);
        rows_free(&a);
        rows_free(&b);
    }
    if (status < 0) {
        free(*mean);
        *mean = NULL;
    }
    return status;
}
