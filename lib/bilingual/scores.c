#include "lib/bilingual/scores.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include "common/hashmap.h"
#include "common/mem.h"
#include "common/thread.h"
#include "kernels/linalg/gemm.h"
#include "lib/vectors/sparse.h"

/* --- spelling --------------------------------------------------------------------------------- */

enum { LONGEST = 4 };

/* The number of an n-gram by its 64-bit hash (two of a few hundred thousand n-grams clash with a
 * probability of about 1e-8, which would only blur a score). */
static uint32_t gram_id(struct hashmap *grams, uint64_t hash)
{
    return hashmap_add(grams, hash, (uint32_t)grams->n + 1) - 1;
}

struct bag { struct sparse_entry *e; size_t n, cap; };

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
            uint32_t gram = gram_id(g, XXH3_64bits(s + at[i], at[i + len] - at[i]));
            b->e[b->n++] = (struct sparse_entry){ row, gram, 1 };
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
    /* in how many words an n-gram is, of both sides together */
    double *in = mem_zero(g.n, sizeof *in), words = (double)src->n + tgt->n;
    for (int k = 0; k < 2; k++) {
        m[k] = sparse_make(side[k]->n, (uint32_t)g.n, bag[k].e, bag[k].n);
        for (size_t i = 0; i < m[k]->at[side[k]->n]; i++) in[m[k]->col[i]]++;
        free(bag[k].e);
    }
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; i < m[k]->at[side[k]->n]; i++)
            /* tf-idf, then unit rows: the products are cosines, and frequent n-grams weigh
             * little */
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
    double *f = mem_zero(v->n, sizeof *f), total = 0;
    for (uint32_t i = 0; v->count && i < v->n; i++) total += (double)v->count[i];
    for (uint32_t i = 0; i < v->n; i++)
        /* no count is no evidence: frequency_row adds nothing */
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

struct frequency_rows { const struct frequency *f; uint32_t first, m; float *S; };

static int frequency_row(void *ctx, size_t i, int thread)
{
    (void)thread;
    const struct frequency_rows *a = ctx;
    double src = a->f->src[a->first + i];
    float *to = a->S + i * a->m;
    for (size_t j = 0; !isnan(src) && j < a->m; j++) {
        double difference = fabs(src - a->f->tgt[j]);
        /* NaN, of a word without a count, is neither: no term */
        /* beyond e^3 = 20 times as frequent a difference says no more */
        if (difference < 3) to[j] -= a->f->weight * (float)difference;
        else if (difference >= 3) to[j] -= a->f->weight * 3;
    }
    return 0;
}

void frequency_add(const struct frequency *f, uint32_t first, uint32_t n, uint32_t m, float *S)
{
    struct frequency_rows a = { f, first, m, S };
    par_for(n, frequency_row, &a);
}

/* --- scores ----------------------------------------------------------------------------------- */

/* Floats of a matrix that is kept whole, and of a block of a larger one: a product reads the target
 * side once for each block, and all passes read a block from memory. Memory grows with words and
 * not with pairs. */
enum { WHOLE = 64 << 20, BLOCK = 16 << 20, LEAST_ROWS = 64 };

struct scores {
    const struct vectors *src, *tgt;
    struct scores_options o;
    struct spelling *spelling;
    struct frequency *frequency;
    struct product *product;       /* [products]: NULL while it is by vectors */
    int products;
    float weight;
    float *row, *col;              /* CSLS's means, [src->n] and [tgt->n] */
    double best;
    uint32_t rows, first, held;    /* of a block; which are held: [first, first + held) */
    bool scored, has_extra;        /* S has scores, not similarities; E is that of the block */
    float *S, *E;                  /* [rows, tgt->n]; E NULL without spelling and frequency */
};

struct product { struct sparse *a; struct sparse_right *b; };

struct scores *scores_new(const struct vectors *src, const struct vectors *tgt,
                          const struct scores_options *o)
{
    struct scores *s = mem_zero(1, sizeof *s);
    *s = (struct scores){ .src = src, .tgt = tgt, .o = *o, .rows = o->rows };
    size_t m = tgt->n;
    if (!s->rows && (size_t)src->n * m <= WHOLE) s->rows = src->n;
    if (!s->rows) {
        /* whole tiles of 64 rows, with millions of targets 64 at least */
        size_t rows = BLOCK / m / LEAST_ROWS * LEAST_ROWS;
        s->rows = rows < LEAST_ROWS ? LEAST_ROWS : (uint32_t)rows;
    }
    if (s->rows > src->n) s->rows = src->n;
    if (o->spelling != 0) s->spelling = spelling_new(src, tgt, o->spelling);
    if (o->frequency != 0) s->frequency = frequency_new(src, tgt, o->frequency);
    s->S = mem_alloc(s->rows * m * sizeof *s->S);
    if (s->spelling || s->frequency) s->E = mem_alloc(s->rows * m * sizeof *s->E);
    s->row = mem_alloc((size_t)src->n * sizeof *s->row);
    s->col = mem_alloc(m * sizeof *s->col);
    return s;
}

static void drop_products(struct scores *s)
{
    for (int i = 0; i < s->products; i++) {
        sparse_free(s->product[i].a);
        sparse_right_free(s->product[i].b);
    }
    free(s->product);
    s->product = NULL;
    s->products = 0;
}

void scores_free(struct scores *s)
{
    if (!s) return;
    /* the vectors are the caller's */
    drop_products(s);
    spelling_free(s->spelling);
    frequency_free(s->frequency);
    free(s->S);
    free(s->E);
    free(s->row);
    free(s->col);
    free(s);
}

/* Rows [first, first + n) with the first m columns. */
static void extra_terms(struct scores *s, uint32_t first, uint32_t n, uint32_t m, float *E)
{
    memset(E, 0, (size_t)n * m * sizeof *E);
    if (s->spelling) spelling_add(s->spelling, first, n, m, E);
    if (s->frequency) frequency_add(s->frequency, first, n, m, E);
}

void scores_extra(struct scores *s, uint32_t n, uint32_t m, float *E)
{
    extra_terms(s, 0, n, m, E);
}

/* The similarities of a block's rows, into S. */
static void similarities(struct scores *s, uint32_t first)
{
    uint32_t m = s->tgt->n, n = s->src->n - first < s->rows ? s->src->n - first : s->rows;
    int dim = s->src->dim;
    /* the extra terms of a block do not change between rounds */
    if (s->first != first || s->held != n) s->has_extra = false;
    s->first = first;
    s->held = n;
    s->scored = false;
    if (!s->product) {
        gemm(false, true, (int)n, (int)m, dim, 1, vectors_row(s->src, first), dim, s->tgt->x, dim,
             0, s->S, (int)m, NULL, NULL);
        return;
    }
    memset(s->S, 0, (size_t)n * m * sizeof *s->S);
    for (int i = 0; i < s->products; i++)
        sparse_add_products(s->product[i].a, s->product[i].b, s->weight, first, n, m, s->S);
}

static int finish_row(void *ctx, size_t i, int thread)
{
    (void)thread;
    struct scores *s = ctx;
    size_t m = s->tgt->n;
    float *to = s->S + i * m, row = s->row[s->first + i];
    const float *e = s->E ? s->E + i * m : NULL;
    if (s->o.method == CSLS_CSLS)
        /* `row` leaves the order within a row as it is, but not that of a column */
        for (size_t j = 0; j < m; j++) to[j] = 2 * to[j] - row - s->col[j];
    for (size_t j = 0; e && j < m; j++) to[j] += e[j];
    return 0;
}

/* The scores of the block that begins at a row. */
static void block(struct scores *s, uint32_t first)
{
    /* rows are asked in order, mostly of the block that is held */
    if (!s->held || s->first != first) similarities(s, first);
    if (s->scored) return;
    if (s->E && !s->has_extra) extra_terms(s, first, s->held, s->tgt->n, s->E);
    s->has_extra = true;
    par_for(s->held, finish_row, s);
    s->scored = true;
}

static void means(const struct csls_side *side, float *mean, double *best)
{
    double top = 0;
    for (uint32_t i = 0; i < side->n; i++) {
        const float *score = side->score + (size_t)i * (size_t)side->k;
        double sum = 0;
        for (int j = 0; j < side->k; j++) sum += score[j];
        mean[i] = (float)(sum / side->k);
        top += score[0];
    }
    *best = top / side->n;
}

static void fit(struct scores *s)
{
    struct csls_side x, z;
    double there, back;
    /* the K best of every row and column, in one pass over blocks */
    csls_best_init(&x, &z, s->src->n, s->tgt->n, s->o.K);
    for (uint32_t first = 0; first < s->src->n; first += s->rows) {
        similarities(s, first);
        csls_best_of(s->S, s->held, s->tgt->n, first, &x, &z);
    }
    /* columns are gathered over blocks; rows come sorted */
    csls_best_sort(&z);
    means(&x, s->row, &there);
    means(&z, s->col, &back);
    s->best = (there + back) / 2;
    csls_free(&x);
    csls_free(&z);
}

void scores_by_vectors(struct scores *s)
{
    drop_products(s);
    fit(s);
}

void scores_by_products(struct scores *s, const struct scores_pair *p, int n, float weight)
{
    drop_products(s);
    s->product = mem_alloc((size_t)n * sizeof *s->product);
    s->products = n;
    s->weight = weight;
    for (int i = 0; i < n; i++) {
        /* transposed once for each round */
        s->product[i] = (struct product){ p[i].a, sparse_right_new(p[i].a, p[i].b) };
        sparse_free(p[i].b);
    }
    fit(s);
}

double scores_best(const struct scores *s) { return s->best; }

void scores_top(struct scores *s, int k, struct csls_side *x, struct csls_side *z)
{
    csls_best_init(x, z, s->src->n, s->tgt->n, k);
    for (uint32_t first = 0; first < s->src->n; first += s->rows) {
        block(s, first);
        csls_best_of(s->S, s->held, s->tgt->n, first, x, z);
    }
    csls_best_sort(z);
}

const float *scores_row(struct scores *s, uint32_t i)
{
    /* blocks begin at multiples of rows */
    uint32_t first = i / s->rows * s->rows;
    block(s, first);
    return s->S + (size_t)(i - first) * s->tgt->n;
}

/* --- re-estimation ---------------------------------------------------------------------------- */

/* The `near` best of each row as a sparse matrix [top->n, m] whose rows sum to 1: a soft
 * translation of contexts, by which both sides' counts have the same columns. */
static struct sparse *soft(const struct csls_side *top, uint32_t m, double heat)
{
    size_t k = (size_t)top->k, count = 0;
    struct sparse_entry *e = mem_alloc(top->n * k * sizeof *e);
    for (uint32_t i = 0; i < top->n; i++) {
        double sum = 0;
        for (size_t j = 0; j < k; j++)
            /* less the best score: at most 1, and the first is 1 */
            sum += exp((top->score[i * k + j] - top->score[i * k]) / heat);
        for (size_t j = 0; j < k; j++) {
            float v = (float)(exp((top->score[i * k + j] - top->score[i * k]) / heat) / sum);
            /* below that it only makes the product denser */
            if (v > 1e-6f) e[count++] = (struct sparse_entry){ i, top->index[i * k + j], v };
        }
    }
    struct sparse *t = sparse_make(top->n, m, e, count);
    free(e);
    return t;
}

static struct scores_pair pair(struct sparse *a, struct sparse *b, double smooth)
{
    /* the exponent of context counts (Levy et al. 2015) */
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
        /* ppmi works in place, and the counts are needed in the next round */
        p[2 * b] = pair(sparse_product(r->src[b], there), sparse_copy(r->tgt[b]), r->smooth);
        p[2 * b + 1] = pair(sparse_copy(r->src[b]), sparse_product(r->tgt[b], back), r->smooth);
    }
    /* the mean over both ways and all blocks */
    scores_by_products(s, p, 2 * r->blocks, 0.5f / (float)r->blocks);
    free(p);
    sparse_free(there);
    sparse_free(back);
}
