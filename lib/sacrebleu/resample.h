/* Confidence intervals and paired tests by resampling (Koehn 2004; Riezler and Maxwell 2005), with
 * sacreBLEU's numbers: NumPy's random numbers for the seed, float32 sums for resamples, int64 or
 * float64 for permutations. */
#ifndef SACREBLEU_RESAMPLE_H
#define SACREBLEU_RESAMPLE_H
#include <stddef.h>
#include <stdint.h>
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

/* --- NumPy's random numbers ------------------------------------------------------------------- */

/* The random numbers of numpy.random.default_rng(seed): PCG64 (O'Neill 2014; XSL-RR 128/64) seeded
 * through NumPy's SeedSequence, and two of its Generator's draws, number for number, so that
 * resampling gives the intervals and p-values that sacreBLEU gives. Everything else here uses
 * common/rng.h. */

struct pcg64 {
    unsigned __int128 state, inc;
    uint32_t half; int has_half;          /* the unused half of the last 64 bits */
};

void pcg64_seed(struct pcg64 *g, uint64_t seed);
uint64_t pcg64_next(struct pcg64 *g);
uint32_t pcg64_next32(struct pcg64 *g);

/* Generator.integers(0, n, size), also Generator.choice(n, size, replace=True); 1 <= n <= 2^32 -
 * 1. */
void pcg64_below(struct pcg64 *g, uint32_t n, uint32_t *to, size_t size);

/* Generator.integers(2, size, dtype=bool): bits of 32-bit draws, lowest first. */
struct pcg64_bits { uint32_t word; int left; };
static inline int pcg64_bit(struct pcg64 *g, struct pcg64_bits *b)
{
    if (b->left) { b->word >>= 1; b->left--; }
    else { b->word = pcg64_next32(g); b->left = 31; }
    return b->word & 1;
}

#endif
