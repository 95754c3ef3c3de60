#include "lib/score/bleu.h"
#include "lib/score/split.h"
#include "common/mem.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The reference whose length is closest to the hypothesis', of two equally close ones the
 * shorter. */
static size_t closest(size_t hyp_n, const size_t *ref_n, int n_refs)
{
    size_t best = 0, best_gap = 0;
    for (int r = 0; r < n_refs; r++) {
        size_t gap = hyp_n > ref_n[r] ? hyp_n - ref_n[r] : ref_n[r] - hyp_n;
        if (r == 0 || gap < best_gap || (gap == best_gap && ref_n[r] < best)) {
            best = ref_n[r];
            best_gap = gap;
        }
    }
    return best;
}

static void add_lengths(struct bleu_stats *s, size_t hyp_n, const size_t *ref_n, int n_refs)
{
    s->hyp_len += (int64_t)hyp_n;
    s->ref_len += (int64_t)closest(hyp_n, ref_n, n_refs);
    for (int k = 0; k < BLEU_ORDER; k++) s->total[k] += ngram_total(hyp_n, k + 1);
}

void bleu_add_ids(struct bleu_stats *s, struct ngram *work, const uint32_t *hyp, size_t hyp_n,
                  const uint32_t *const *refs, const size_t *ref_n, int n_refs)
{
    ngram_begin(work, BLEU_ORDER);
    for (int r = 0; r < n_refs; r++) ngram_ref_ids(work, refs[r], ref_n[r]);
    /* after all references: matching uses up their counts */
    ngram_match_ids(work, hyp, hyp_n, s->correct);
    add_lengths(s, hyp_n, ref_n, n_refs);
}

void bleu_add_tokens(struct bleu_stats *s, struct ngram *work, const struct span *hyp, size_t hyp_n,
                     const struct span *const *refs, const size_t *ref_n, int n_refs)
{
    ngram_begin(work, BLEU_ORDER);
    for (int r = 0; r < n_refs; r++) ngram_ref(work, refs[r], ref_n[r]);
    ngram_match(work, hyp, hyp_n, s->correct);
    add_lengths(s, hyp_n, ref_n, n_refs);
}

void bleu_add(struct bleu_stats *s, struct ngram *work, const char *hyp, const char *const *refs,
              int n_refs)
{
    struct token_spans h = { 0 }, *r = mem_zero((size_t)n_refs, sizeof *r);
    const struct span **ref = mem_alloc((size_t)n_refs * sizeof *ref);
    size_t *ref_n = mem_alloc((size_t)n_refs * sizeof *ref_n);
    /* tokens are taken as they are: this is for text that the caller has tokenised */
    split_ascii(&h, hyp, strlen(hyp));
    for (int i = 0; i < n_refs; i++) {
        split_ascii(&r[i], refs[i], strlen(refs[i]));
        ref[i] = r[i].v; ref_n[i] = r[i].n;
    }
    bleu_add_tokens(s, work, h.v, h.n, ref, ref_n, n_refs);
    for (int i = 0; i < n_refs; i++) free(r[i].v);
    free(h.v); free(r); free(ref); free(ref_n);
}

void bleu_merge(struct bleu_stats *to, const struct bleu_stats *from)
{
    to->hyp_len += from->hyp_len;
    to->ref_len += from->ref_len;
    for (int k = 0; k < BLEU_ORDER; k++) {
        to->correct[k] += from->correct[k];
        to->total[k] += from->total[k];
    }
}

/* The operations and their order are sacreBLEU's, so that the last digit is too. */
struct bleu_score bleu_score(const struct bleu_stats *s, const struct bleu_options *options)
{
    const struct bleu_options custom = { BLEU_SMOOTH_EXP, 0, false };
    const struct bleu_options *o = options ? options : &custom;
    struct bleu_score r = { .bp = 1, .hyp_len = s->hyp_len, .ref_len = s->ref_len };
    if (s->ref_len) r.ratio = (double)s->hyp_len / (double)s->ref_len;
    if (s->hyp_len < s->ref_len)
        r.bp = s->hyp_len ? exp(1 - (double)s->ref_len / (double)s->hyp_len) : 0;
    bool any = false;
    /* sacreBLEU's score is 0 where nothing matches, whatever the smoothing */
    for (int k = 0; k < BLEU_ORDER; k++) any |= s->correct[k] != 0;
    if (!any) return r;

    int orders = BLEU_ORDER;
    double halved = 1;
    for (int k = 0; k < BLEU_ORDER; k++) {
        double correct = (double)s->correct[k], total = (double)s->total[k];
        /* not to unigrams (Lin and Och 2004, as sacreBLEU has it) */
        if (o->smooth == BLEU_SMOOTH_ADD_K && k > 0) {
            correct += o->smooth_value;
            total += o->smooth_value;
        }
        /* hypotheses too short for an n-gram of this order: what is known of lower ones counts */
        if (total == 0) break;
        /* sentences of fewer than 4 words: the mean over the orders that they have */
        if (o->effective_order) orders = k + 1;
        if (correct != 0) r.precision[k] = 100. * correct / total;
        else if (o->smooth == BLEU_SMOOTH_EXP) {
            /* NIST's smoothing: 1/2, 1/4, ... of a match for the first, second, ... order without
             * one */
            halved *= 2;
            r.precision[k] = 100. / (halved * total);
        } else if (o->smooth == BLEU_SMOOTH_FLOOR) r.precision[k] = 100. * o->smooth_value / total;
    }
    double sum = 0;
    for (int k = 0; k < orders; k++)
        /* my_log of sacreBLEU and multi-bleu.perl: exp() of it is 0 */
        sum += r.precision[k] == 0 ? -9999999999. : log(r.precision[k]);
    r.score = r.bp * exp(sum / orders);
    return r;
}
