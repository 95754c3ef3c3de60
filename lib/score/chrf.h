/* chrF and chrF++ (Popovic 2015, 2017): the F-score of character n-grams, and of word n-grams with
 * chrF++. */
#ifndef SCORE_CHRF_H
#define SCORE_CHRF_H
#include <stdbool.h>
#include "lib/score/split.h"

enum { CHRF_ORDER_MAX = 32 };           /* char_order + word_order */

struct chrf_options {
    int char_order;                     /* 6 */
    int word_order;                     /* 0; 2 is chrF++ */
    int beta;                           /* 2: recall weighs beta^2 times as much as precision */
    bool lowercase, whitespace;         /* whitespace: spaces are characters too */
    bool eps_smoothing; /* chrF++.py's smoothing instead of leaving empty orders out */
};

struct chrf_work;                       /* one a thread */
struct chrf_work *chrf_work_new(void);
void chrf_work_free(struct chrf_work *w);

/* Statistics of one segment, of the reference that gives the best score: [order][n-grams in
 * hypothesis, in reference, matches]. Lines are valid UTF-8. */
void chrf_segment(const struct chrf_options *o, struct chrf_work *w, struct span hyp,
                  const struct span *refs, int n_refs, double *stats);

/* From added-up statistics, 0..100; _f32 with every operation in single precision, as NumPy does
 * it. */
double chrf_score(const struct chrf_options *o, const double *stats);
float chrf_score_f32(const struct chrf_options *o, const float *stats);

#endif
