/* BLEU (Papineni et al. 2002) from sufficient statistics, with the smoothing of sacreBLEU (Post
 * 2018; Chen and Cherry 2014). Works on ids, on tokens, or on lines split at spaces; no Unicode
 * tables, no ICU. A corpus is scored by adding segments to one struct bleu_stats; statistics of
 * parts simply add up.
 *
 *   struct bleu_stats s = { 0 };
 *   struct ngram *work = ngram_new();
 *   for each sentence:  bleu_add(&s, work, hyp, (const char *[]){ ref }, 1);
 *   struct bleu_score r = bleu_score(&s, NULL);       r.score is 0..100
 *   ngram_free(work);                                                            */
#ifndef SCORE_BLEU_H
#define SCORE_BLEU_H
#include <stdbool.h>
#include "lib/score/ngram.h"

enum { BLEU_ORDER = 4 };

struct bleu_stats {
    /* tokens; ref_len: of the reference closest in length, the shorter of two */
    int64_t hyp_len, ref_len;
    int64_t correct[BLEU_ORDER];         /* clipped n-gram matches, order 1 first */
    int64_t total[BLEU_ORDER];           /* n-grams of the hypothesis */
};

/* One segment. Tokens may be any bytes; refs[r] has ref_n[r] tokens, n_refs >= 1. */
void bleu_add_ids(struct bleu_stats *s, struct ngram *work, const uint32_t *hyp, size_t hyp_n,
                  const uint32_t *const *refs, const size_t *ref_n, int n_refs);
void bleu_add_tokens(struct bleu_stats *s, struct ngram *work, const struct span *hyp, size_t hyp_n,
                     const struct span *const *refs, const size_t *ref_n, int n_refs);
/* Lines of tokens, split at ASCII white space. */
void bleu_add(struct bleu_stats *s, struct ngram *work, const char *hyp, const char *const *refs,
              int n_refs);

void bleu_merge(struct bleu_stats *to, const struct bleu_stats *from);

enum bleu_smooth { BLEU_SMOOTH_EXP, BLEU_SMOOTH_FLOOR, BLEU_SMOOTH_ADD_K, BLEU_SMOOTH_NONE };

struct bleu_options {
    enum bleu_smooth smooth;
    double smooth_value; /* floor: instead of 0 matches (0.1 by custom); add-k: k (1 by custom) */
    bool effective_order; /* leave out orders the hypothesis is too short for; for sentences */
};

struct bleu_score {
    double score;                        /* 0..100 */
    double precision[BLEU_ORDER];        /* 0..100, smoothed */
    double bp;                           /* brevity penalty */
    double ratio;                        /* hyp_len / ref_len, 0 if there is no reference */
    int64_t hyp_len, ref_len;
};

/* options NULL: sacreBLEU's defaults (exponential smoothing, all four orders). No match at all is
 * score 0. */
struct bleu_score bleu_score(const struct bleu_stats *s, const struct bleu_options *options);

#endif
