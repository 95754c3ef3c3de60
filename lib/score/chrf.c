#include "lib/score/metric.h"
#include "lib/score/tokenise.h"
#include "common/mem.h"
#include "common/utf8.h"
#include <stdlib.h>
#include <string.h>

struct chars { uint32_t *v; size_t n, cap; };

struct chrf_work {
    struct ngram *grams;
    struct chars hyp, ref;
    struct token_spans hyp_words, ref_words, split;
    struct bytes hyp_low, ref_low;
};

struct chrf_work *chrf_work_new(void)
{
    struct chrf_work *w = mem_zero(1, sizeof *w);
    w->grams = ngram_new();
    return w;
}

void chrf_work_free(struct chrf_work *w)
{
    if (!w) return;
    ngram_free(w->grams);
    free(w->hyp.v); free(w->ref.v); free(w->hyp_words.v); free(w->ref_words.v); free(w->split.v);
    free(w->hyp_low.v); free(w->ref_low.v); free(w);
}

static void characters(const struct chrf_options *o, struct span line, struct chars *to)
{
    mem_room(&to->v, &to->cap, line.n, sizeof *to->v);
    to->n = 0;
    for (const char *p = line.p, *end = p + line.n; p < end; ) {
        /* n-grams go across words once the spaces are gone (Popovic 2015) */
        size_t space = o->whitespace ? 0 : split_space(p, end);
        if (space) { p += space; continue; }
        int len;
        to->v[to->n++] = utf8_get(p, (size_t)(end - p), &len);
        p += len;
    }
}

/* Words, with one ASCII punctuation mark cut off the end, or else off the start. */
static void words(struct span line, struct token_spans *split, struct token_spans *to)
{
    static const char marks[] = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
    split_unicode(split, line.p, line.n);
    to->n = 0;
    for (size_t i = 0; i < split->n; i++) {
        const char *p = split->v[i].p;
        size_t n = split->v[i].n;
        int len;
        utf8_get(p, n, &len);
        /* a word of one character stays, mark or not */
        if ((size_t)len == n) token_spans_put(to, p, n);
        /* chrF++.py's rule; strchr would find a NUL at the end of its string */
        else if (p[n - 1] && strchr(marks, p[n - 1])) {
            token_spans_put(to, p, n - 1);
            token_spans_put(to, p + n - 1, 1);
        } else if (*p && strchr(marks, *p)) {
            token_spans_put(to, p, 1);
            token_spans_put(to, p + 1, n - 1);
        } else token_spans_put(to, p, n);
    }
}

static void counts(double *stats, int orders, size_t hyp_n, size_t ref_n, const int64_t *match)
{
    for (int k = 0; k < orders; k++) {
        int64_t in_ref = ngram_total(ref_n, k + 1);
        /* an order the reference lacks is left out */
        stats[3 * k] = in_ref ? (double)ngram_total(hyp_n, k + 1) : 0;
        stats[3 * k + 1] = (double)in_ref;
        stats[3 * k + 2] = (double)match[k];
    }
}

void chrf_segment(const struct chrf_options *o, struct chrf_work *w, struct span hyp,
                  const struct span *refs, int n_refs, double *stats)
{
    double mine[3 * CHRF_ORDER_MAX], best = -1;
    if (o->lowercase) {
        score_lower(hyp.p, hyp.n, &w->hyp_low);
        hyp = (struct span){ w->hyp_low.v, w->hyp_low.n };
    }
    characters(o, hyp, &w->hyp);
    if (o->word_order) words(hyp, &w->split, &w->hyp_words);
    for (int r = 0; r < n_refs; r++) {
        int64_t match[CHRF_ORDER_MAX] = { 0 };
        struct span ref = refs[r];
        if (o->lowercase) {
            score_lower(ref.p, ref.n, &w->ref_low);
            ref = (struct span){ w->ref_low.v, w->ref_low.n };
        }
        characters(o, ref, &w->ref);
        ngram_begin(w->grams, o->char_order);
        ngram_ref_ids(w->grams, w->ref.v, w->ref.n);
        ngram_match_ids(w->grams, w->hyp.v, w->hyp.n, match);
        counts(mine, o->char_order, w->hyp.n, w->ref.n, match);
        if (o->word_order) {
            /* sacreBLEU counts words apart from characters, with orders of their own */
            memset(match, 0, sizeof match);
            words(ref, &w->split, &w->ref_words);
            ngram_begin(w->grams, o->word_order);
            ngram_ref(w->grams, w->ref_words.v, w->ref_words.n);
            ngram_match(w->grams, w->hyp_words.v, w->hyp_words.n, match);
            counts(mine + 3 * o->char_order, o->word_order, w->hyp_words.n, w->ref_words.n, match);
        }
        /* of several references the one with the best score counts, and its statistics are those
         * that are added up */
        double score = chrf_score(o, mine);
        if (score > best) {
            best = score;
            memcpy(stats, mine, 3 * (size_t)(o->char_order + o->word_order) * sizeof *stats);
        }
    }
}

/* One text for both precisions: the order of operations decides the last digit. */
#define CHRF_SCORE(name, real) \
real name(const struct chrf_options *o, const real *stats) \
{ \
    const real eps = (real)1e-16, factor = (real)(o->beta * o->beta); \
    real score = 0, avg_prec = 0, avg_rec = 0; \
    int order = o->char_order + o->word_order, effective = 0; \
    for (int k = 0; k < order; k++) { \
        real n_hyp = stats[3 * k], n_ref = stats[3 * k + 1], match = stats[3 * k + 2]; \
        real prec = n_hyp > 0 ? match / n_hyp : eps, rec = n_ref > 0 ? match / n_ref : eps; \
        real denom = factor * prec + rec; \
        score += denom > 0 ? (1 + factor) * prec * rec / denom : eps; \
        if (n_hyp > 0 && n_ref > 0) { avg_prec += prec; avg_rec += rec; effective++; } \
    } \
    if (o->eps_smoothing) return 100 * score / (real)order; \
    if (effective) { avg_prec /= (real)effective; avg_rec /= (real)effective; } \
    if (!(avg_prec + avg_rec > 0)) return 0; \
    score = (1 + factor) * avg_prec * avg_rec; \
    score /= factor * avg_prec + avg_rec; \
    return 100 * score; \
}
CHRF_SCORE(chrf_score, double)
CHRF_SCORE(chrf_score_f32, float)
