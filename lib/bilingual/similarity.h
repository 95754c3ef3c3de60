/* How similar two spaces are, over translation pairs. */
#ifndef BILINGUAL_SIMILARITY_H
#define BILINGUAL_SIMILARITY_H
#include "lib/bilingual/map.h"
#include "lib/vectors/vectors.h"

struct similarity {
    uint64_t pairs;
    /* Pearson's correlation of cos(x_i, x_j) and cos(z_i, z_j) over all i < j (TCS, appendix B) */
    double rsim;
    /* mean of cos(x_i, z_i) (MLM-GC, Table 2); NaN if the dimensions differ */
    double cosine;
    /* ALIGN-MLM's alignment: share of pairs whose z is the nearest of all of Z's rows to x by
     * cosine, and x of all of X's to z; NaN if the dimensions differ */
    double forward, backward;
    /* mean cosine of x_i with z_j over all i != j: what a common offset of the space alone gives */
    double random;
    /* cosine - random: unlike the cosine, it does not rise when all vectors gain a common
     * component */
    double above;
    /* half of the 95% interval: 1.96 standard errors by the jackknife over pairs, since the cosines
     * of a word are not independent; NaN where the others have no r without one of the pairs */
    double rsim_ci;
    double cosine_ci, forward_ci, backward_ci;    /* 1.96 s / sqrt n */
    double above_ci;         /* by the jackknife over pairs */
};
/* Vectors need not be normalised. -1 with a message: fewer than 3 pairs, a vector of zeros, no
 * variance on a side. */
int similarity_measure(const struct vectors *src, const struct vectors *tgt,
                       const struct word_pairs *p, struct similarity *r);
/* Of these only pairs, cosine, random, above and the intervals of cosine and above; the others are
 * NaN. Fewer than 3 pairs, or sides of different dimensions: all are NaN. -1 with a message: a
 * vector of zeros. */
int similarity_cosines(const struct vectors *src, const struct vectors *tgt,
                       const struct word_pairs *p, struct similarity *r);

#endif
