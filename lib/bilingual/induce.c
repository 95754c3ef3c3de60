#include "lib/bilingual/induce.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "kernels/cpu/gemm.h"
#include "lib/bilingual/refine.h"
#include "lib/bilingual/spelling.h"

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
    *objective = -1e30;
    for (int i = 0; r == 0 && i < o->restarts; i++) {
        struct word_pairs p = { 0 };
        struct map_options m = o->learn;
        double got;
        m.cutoff = o->cutoff;
        m.K = o->K;
        m.extra = extra;
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

/* CSLS of the mapped vectors + extra, as a matrix. */
static void score(const struct vectors *src, const struct vectors *tgt,
                  const struct induce_options *o, const float *extra, float *S)
{
    gemm(false, true, (int)src->n, (int)tgt->n, src->dim, 1, src->x, src->dim, tgt->x, src->dim, 0,
         S, (int)tgt->n, NULL, NULL);
    if (o->method == CSLS_CSLS) csls_matrix(S, src->n, tgt->n, o->K);
    for (size_t i = 0; i < (size_t)src->n * tgt->n; i++) S[i] += extra[i];
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
    if (vectors_normalize(src, o->normalize) < 0 || vectors_normalize(tgt, o->normalize) < 0)
        return -1;
    bool matrix = o->blocks || o->spelling != 0 || o->frequency != 0;
    size_t size = (size_t)src->n * tgt->n, dim = (size_t)src->dim;
    float *extra = NULL, *src_x = NULL, *tgt_x = NULL;
    struct word_pairs p = { 0 };
    if (matrix) {
        extra = mem_zero(size + 1, sizeof *extra);
        if (o->spelling != 0) spelling_add(src, tgt, (float)o->spelling, extra);
        if (o->frequency != 0) frequency_add(src, tgt, (float)o->frequency, extra);
    }
    /* the vectors before the map, for the map from what re-estimation finds */
    if (o->blocks) {
        src_x = mem_alloc((size_t)src->n * dim * sizeof *src_x);
        tgt_x = mem_alloc((size_t)tgt->n * dim * sizeof *tgt_x);
        memcpy(src_x, src->x, (size_t)src->n * dim * sizeof *src_x);
        memcpy(tgt_x, tgt->x, (size_t)tgt->n * dim * sizeof *tgt_x);
    }
    to->seeds = seeds->n;
    int r = map(src, tgt, seeds, o, extra, &p, to);
    to->pairs = p.n;
    /* A map need not keep lengths; the searches below want rows of length 1. */
    if (r == 0 && (vectors_normalize(src, "unit") < 0 || vectors_normalize(tgt, "unit") < 0))
        r = -1;
    if (r == 0 && matrix) {
        to->scores = mem_alloc((size + 1) * sizeof *to->scores);
        score(src, tgt, o, extra, to->scores);
        struct refine f = { src->n, tgt->n,  o->src, o->tgt,  o->blocks,
                            extra,  o->near, o->K,   o->heat, o->smooth };
        for (int i = 0; o->blocks && i < o->refinements; i++) {
            refine_round(&f, to->scores, &to->agreement);
            note(o, "re-estimation %d of %d: mean best cosine %.4f", i + 1, o->refinements,
                 to->agreement);
        }
        csls_matrix_top(to->scores, src->n, tgt->n, 1, o->k, &to->src);
        csls_matrix_top(to->scores, src->n, tgt->n, 0, o->k, &to->tgt);
        if (o->blocks && o->map != INDUCE_NONE) {
            mutual(to, o->cutoff, &p);
            to->pairs = p.n;
            memcpy(src->x, src_x, (size_t)src->n * dim * sizeof *src_x);
            memcpy(tgt->x, tgt_x, (size_t)tgt->n * dim * sizeof *tgt_x);
            r = o->map == INDUCE_VECMAP
                    ? map_advanced(src->x, src->n, tgt->x, tgt->n, src->dim, &p, o->reweight)
                    : map_procrustes(src->x, src->n, tgt->x, src->dim, &p);
        }
    } else if (r == 0) {
        struct csls_work w;
        if (o->kinds)
            r = word_initial_search(o->kinds, src, tgt, o->method, o->k, o->K, &to->src, &to->tgt);
        else
            r = csls_search(src->x, src->n, tgt->x, tgt->n, src->dim, o->method, o->k, o->K,
                            &to->src, &to->tgt, &w);
        if (r == 0 && !o->kinds)
            note(o, "searched: bounds for %.3g pairs, %.0f%% from int8 products; scores for %.3g",
                 (double)w.pairs, 100.0 * (double)w.int8 / (double)w.pairs, (double)w.scored);
    }
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
    free(d->scores);
    memset(d, 0, sizeof *d);
}

void induced_list(const struct csls_side *there, const struct csls_side *back, bool mutual,
                  double least, struct word_pairs *p)
{
    for (uint32_t i = 0; i < there->n; i++)
        for (int j = 0; j < (mutual ? 1 : there->k); j++) {
            size_t at = (size_t)i * (size_t)there->k + (size_t)j;
            uint32_t t = there->index[at];
            if (t == UINT32_MAX || there->score[at] < least) continue;
            if (!mutual || back->index[(size_t)t * (size_t)back->k] == i) word_pairs_add(p, i, t);
        }
}

float induced_score(const struct csls_side *there, uint32_t src, uint32_t tgt)
{
    const uint32_t *index = there->index + (size_t)src * (size_t)there->k;
    int j = 0;
    while (j < there->k && index[j] != tgt) j++;
    return j < there->k ? there->score[(size_t)src * (size_t)there->k + (size_t)j] : -INFINITY;
}
