#include "lib/bilingual/induce.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/grant.h"
#include "common/mem.h"
#include "lib/bilingual/scores.h"

const struct induce_options induce_defaults = { .map = INDUCE_NONE,
                                                .method = CSLS_CSLS,
                                                .k = 10,
                                                .K = 10,
                                                .normalize = "unit,center,unit",
                                                .rounds = 5,
                                                .cutoff = 2000,
                                                .restarts = 3,
                                                .reweight = 0.5,
                                                .refinements = 6,
                                                .near = 3,
                                                .heat = 0.05,
                                                .smooth = 0.75 };

static void note(const struct induce_options *o, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static void note(const struct induce_options *o, const char *fmt, ...)
{
    char s[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(s, sizeof s, fmt, ap);
    va_end(ap);
    if (o->note) o->note(s);
}

static void copy_pairs(struct word_pairs *to, const struct word_pairs *from)
{
    to->n = 0;
    for (size_t i = 0; i < from->n; i++) word_pairs_add(to, from->src[i], from->tgt[i]);
}

static int learn(const struct vectors *src, const struct vectors *tgt,
                 const struct word_pairs *seeds, const struct induce_options *o, const float *extra,
                 struct word_pairs *best, double *objective)
{
    int r = 0;
    /* below every mean of cosines, extra scores included */
    *objective = -1e30;
    for (int i = 0; r == 0 && i < o->restarts; i++) {
        struct word_pairs p = { 0 };
        struct map_options m = o->learn;
        double got;
        /* set here: map's defaults are those of one run alone */
        m.cutoff = o->cutoff;
        m.K = o->K;
        m.extra = extra;
        /* Self-learning is stochastic and may end in a poor solution: the run with the best
         * objective counts. */
        m.seed += (uint64_t)i;
        copy_pairs(&p, seeds);
        r = map_self_learn(src->x, src->n, tgt->x, tgt->n, src->dim, &m, &p, &got);
        if (r == 0) note(o, "self-learning %d of %d: objective %.4f", i + 1, o->restarts, got);
        if (r == 0 && got > *objective) {
            *objective = got;
            copy_pairs(best, &p);
        }
        word_pairs_free(&p);
    }
    return r;
}

/* Mutual best translations among the first `cutoff` words of each side. */
static void mutual(const struct induced *d, uint32_t cutoff, struct word_pairs *p)
{
    p->n = 0;
    for (uint32_t i = 0; i < d->src.n && (!cutoff || i < cutoff); i++) {
        uint32_t j = d->src.index[(size_t)i * (size_t)d->src.k];
        if ((!cutoff || j < cutoff) && d->tgt.index[(size_t)j * (size_t)d->tgt.k] == i)
            word_pairs_add(p, i, j);
    }
}

static int map(struct vectors *src, struct vectors *tgt, const struct word_pairs *seeds,
               const struct induce_options *o, const float *extra, struct word_pairs *p,
               struct induced *to)
{
    int d = src->dim;
    copy_pairs(p, seeds);
    if (o->map == INDUCE_PROCRUSTES)
        return map_refine(src->x, src->n, tgt->x, tgt->n, d, p, o->rounds, o->cutoff, o->K);
    if (o->map != INDUCE_VECMAP) return 0;
    if (learn(src, tgt, seeds, o, extra, p, &to->objective) < 0) return -1;
    return map_advanced(src->x, src->n, tgt->x, tgt->n, d, p, o->reweight);
}

static uint32_t looked_at(const struct vectors *v, const struct induce_options *o)
{
    return o->cutoff && v->n > o->cutoff ? o->cutoff : v->n;
}

/* Only self-learning holds all pairs of the words that it looks at, and is refused before it begins
 * where they do not fit; all else holds blocks. (A float for each pair was 98 GB at 250,000 by
 * 100,000 words.) */
static int enough_memory(const struct vectors *src, const struct vectors *tgt,
                         const struct induce_options *o)
{
    uint32_t n = looked_at(src, o), m = looked_at(tgt, o);
    /* of the matrix, and of the extra scores where there are any */
    double need = (double)n * m * sizeof(float) * (o->spelling != 0 || o->frequency != 0 ? 2 : 1),
           left = granted_memory_left();
    if (o->map != INDUCE_VECMAP || need <= left) return 0;
    return err_set("self-learning compares %u with %u words, which takes %.1f GB where %.1f GB are "
                   "left; give a lower --cutoff than %u",
                   n, m, need / 1e9, left / 1e9, n > m ? n : m);
}

/* Spelling and frequency of the words that self-learning looks at; NULL without them. */
static float *extra_of_cutoff(const struct vectors *src, const struct vectors *tgt,
                              const struct induce_options *o, struct scores *s)
{
    if (o->map != INDUCE_VECMAP || (o->spelling == 0 && o->frequency == 0)) return NULL;
    uint32_t n = looked_at(src, o), m = looked_at(tgt, o);
    float *extra = mem_alloc((size_t)n * m * sizeof *extra);
    scores_extra(s, n, m, extra);
    return extra;
}

/* Re-estimation, and a map of the vectors as they were from what it finds. */
static int re_estimate(struct vectors *src, struct vectors *tgt, const float *src_x,
                       const float *tgt_x, const struct induce_options *o, struct induced *to,
                       struct word_pairs *p)
{
    struct refine f = { o->src, o->tgt, o->blocks, o->near, o->heat, o->smooth };
    for (int i = 0; i < o->refinements; i++) {
        refine_round(&f, to->scores);
        to->agreement = scores_best(to->scores);
        note(o, "re-estimation %d of %d: mean best cosine %.4f", i + 1, o->refinements,
             to->agreement);
    }
    scores_top(to->scores, o->k, &to->src, &to->tgt);
    /* without a round the scores are still those of the vectors, which stay as they are */
    if (o->map == INDUCE_NONE || !o->refinements) return 0;
    mutual(to, o->cutoff, p);
    to->pairs = p->n;
    /* from the vectors as they were, not as the first map left them */
    memcpy(src->x, src_x, (size_t)src->n * (size_t)src->dim * sizeof *src_x);
    memcpy(tgt->x, tgt_x, (size_t)tgt->n * (size_t)tgt->dim * sizeof *tgt_x);
    return o->map == INDUCE_VECMAP
               ? map_advanced(src->x, src->n, tgt->x, tgt->n, src->dim, p, o->reweight)
               : map_procrustes(src->x, src->n, tgt->x, src->dim, p);
}

static int search(struct vectors *src, struct vectors *tgt, const struct induce_options *o,
                  struct induced *to)
{
    struct csls_work w;
    if (o->kinds)
        return word_initial_search(o->kinds, src, tgt, o->method, o->k, o->K, &to->src, &to->tgt);
    if (csls_search(src->x, src->n, tgt->x, tgt->n, src->dim, o->method, o->k, o->K, &to->src,
                    &to->tgt, &w) < 0)
        return -1;
    note(o, "searched: bounds for %.3g pairs, %.0f%% from int8 products; scores for %.3g",
         (double)w.pairs, 100.0 * (double)w.int8 / (double)w.pairs, (double)w.scored);
    return 0;
}

static float *copy_rows(const struct vectors *v)
{
    size_t bytes = (size_t)v->n * (size_t)v->dim * sizeof *v->x;
    return memcpy(mem_alloc(bytes), v->x, bytes);
}

int induce(struct vectors *src, struct vectors *tgt, const struct word_pairs *seeds,
           const struct induce_options *o, struct induced *to)
{
    memset(to, 0, sizeof *to);
    if (src->dim != tgt->dim)
        return err_set("source vectors have %d dimensions, target vectors %d; they must be equal",
                       src->dim, tgt->dim);
    if (!src->n || !tgt->n) return err_set("no words on the %s side", src->n ? "target" : "source");
    if (o->map != INDUCE_NONE && !seeds->n)
        return err_set("no seed: no word of the seed dictionary has vectors on both sides, or no "
                       "word is spelt the same; give --seed-dict");
    /* before anything is computed: hours may lie between here and the allocation */
    if (enough_memory(src, tgt, o) < 0) return -1;
    if (vectors_normalize(src, o->normalize) < 0 || vectors_normalize(tgt, o->normalize) < 0)
        return -1;
    float *extra = NULL, *src_x = NULL, *tgt_x = NULL;
    struct word_pairs p = { 0 };
    if (o->blocks || o->spelling != 0 || o->frequency != 0) {
        struct scores_options how = { o->method, o->K, (float)o->spelling, (float)o->frequency, 0 };
        to->scores = scores_new(src, tgt, &how);
        extra = extra_of_cutoff(src, tgt, o, to->scores);
    }
    /* the vectors before the map, for the map from what re-estimation finds */
    if (o->blocks) {
        src_x = copy_rows(src);
        tgt_x = copy_rows(tgt);
    }
    to->seeds = seeds->n;
    int r = map(src, tgt, seeds, o, extra, &p, to);
    /* replaced by re_estimate where it maps anew */
    to->pairs = p.n;
    /* A map need not keep lengths; the searches below need rows of length 1. */
    if (r == 0 && (vectors_normalize(src, "unit") < 0 || vectors_normalize(tgt, "unit") < 0))
        r = -1;
    if (r == 0 && to->scores) {
        scores_by_vectors(to->scores);
        if (o->blocks) r = re_estimate(src, tgt, src_x, tgt_x, o, to, &p);
        else scores_top(to->scores, o->k, &to->src, &to->tgt);
    } else if (r == 0)
        r = search(src, tgt, o, to);
    /* map_self_learn alone reads it */
    free(extra);
    free(src_x);
    free(tgt_x);
    word_pairs_free(&p);
    if (r < 0) induced_free(to);
    return r;
}

void induced_free(struct induced *d)
{
    csls_free(&d->src);
    csls_free(&d->tgt);
    scores_free(d->scores);
    memset(d, 0, sizeof *d);
}

void induced_list(const struct csls_side *there, const struct csls_side *back, bool mutual,
                  double least, struct word_pairs *p)
{
    for (uint32_t i = 0; i < there->n; i++)
        for (int j = 0; j < (mutual ? 1 : there->k); j++) {
            size_t at = (size_t)i * (size_t)there->k + (size_t)j;
            uint32_t t = there->index[at];
            /* a row with fewer candidates than k */
            if (t == UINT32_MAX || there->score[at] < least) continue;
            if (!mutual || back->index[(size_t)t * (size_t)back->k] == i) word_pairs_add(p, i, t);
        }
}

float induced_score(const struct csls_side *there, uint32_t src, uint32_t tgt)
{
    const uint32_t *index = there->index + (size_t)src * (size_t)there->k;
    /* the list has k entries at most: a search through it is shorter than any index */
    int j = 0;
    while (j < there->k && index[j] != tgt) j++;
    return j < there->k ? there->score[(size_t)src * (size_t)there->k + (size_t)j] : -INFINITY;
}
