/* A metric over several languages: each one's values, intervals and difference from another
 * system's predictions, and the mean over languages with intervals of its own (each language's
 * examples resampled by themselves). */
#ifndef SCORE_MEASURE_H
#define SCORE_MEASURE_H
#include "lib/score/judged.h"

/* 0 resamples: no intervals; 0 trials: no randomization */
struct measure_options { int resamples, trials; uint64_t seed; };

struct measure {
    size_t examples;
    int values;
    const char *name[JUDGED_VALUES];             /* NULL: these examples have no such value */
    double value[JUDGED_VALUES], interval[JUDGED_VALUES][2];
    double p[JUDGED_VALUES]; /* correlations: two-sided p of no correlation; else NAN */
    bool compared;
    double other[JUDGED_VALUES], randomization[JUDGED_VALUES]; /* the other system's values; p of no
                                                                  difference */
    bool has_mcnemar; double mcnemar;
    double (*resample)[JUDGED_VALUES], (*exchange)[JUDGED_VALUES]; /* [resamples], [trials]; NULL:
                                                                      none */
};

/* j: judged examples of language number `stream`; against: another system's of the same examples,
 * or NULL. *m is freed by measure_free. 0, or -1 with a message. */
int measure(struct measure *m, const struct judged *j, const struct judged *against,
            uint32_t stream, const struct measure_options *o);
/* The mean of n languages' measures. */
void measure_mean(struct measure *mean, const struct measure *of, int n,
                  const struct measure_options *o);
void measure_free(struct measure *m);

#endif
