/* Confidence intervals and paired tests by resampling (Koehn 2004; Riezler and Maxwell 2005), with
 * sacreBLEU's numbers: NumPy's random numbers for the seed, float32 sums for resamples, int64 or
 * float64 for permutations. */
#ifndef SACREBLEU_RESAMPLE_H
#define SACREBLEU_RESAMPLE_H
#include "lib/score/metric.h"

/* Scores of `trials` resamples of the n segments with replacement. stats [n][metric_stats(m)]. */
int resample_bootstrap(const struct metric *m, const double *stats, size_t n, uint64_t seed,
                       int trials, double *scores);

/* mean of the resamples' scores; half the width of the middle 95% */
struct interval { double mean, ci; };

/* As sacreBLEU has them for one system (exact mean), and for paired tests (NumPy's pairwise mean).
 * Sorts scores. */
struct interval resample_interval(const struct metric *m, double *scores, int trials);
struct interval resample_interval_paired(const struct metric *m, double *scores, int trials);

/* The p-value of |difference| between baseline and system. Bootstrap: from both systems' scores of
 * the same resamples (not sorted). */
double resample_p(const struct metric *m, const double *baseline, const double *system, int trials,
                  double difference);

/* Approximate randomisation: swaps the two systems' segments at random. */
int resample_ar(const struct metric *m, const double *baseline, const double *system, size_t n,
                uint64_t seed, int trials, double difference, double *p);

#endif
