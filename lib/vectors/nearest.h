/* The best of Z for each row of X and of X for each row of Z, by a score that grows with the inner
 * product, without the matrix of scores: csls.h's searches.
 *
 * A score is that of the inner product summed in double in a fixed order (simd.h: dot_double),
 * rounded to float32. Few pairs come so far. A fast product gives every pair an upper bound of its
 * score, and only those whose bound is above the worst of the k best so far, in one direction or
 * the other, are scored. The bound comes from int8 copies where the processor multiplies those fast
 * (kernels/int8/dot8.h), else from a float32 product and what its roundings can amount to:
 * results are the same bytes either way, with every instruction set and any number of threads. */
#ifndef VECTORS_NEAREST_H
#define VECTORS_NEAREST_H
#include <stdint.h>
#include "lib/vectors/csls.h"

struct nearest;

/* X [n, d], Z [m, d], finite, read until nearest_free. ISOGLOT_CSLS=float32|int8 chooses the
 * product, where the processor has it; otherwise int8 is used where it pays. */
struct nearest *nearest_new(const float *X, uint32_t n, const float *Z, uint32_t m, int d);
void nearest_free(struct nearest *s);

/* The means are not read for CSLS_NN. The k_x best of each row into *x, of each column into *z
 * (either may be NULL). floor_x [n], floor_z [m] (NULL: not known): every row or column has as many
 * scores above that as are looked for. Adds what was done to *work (may be NULL). -1 with a
 * message. */
int nearest_search(const struct nearest *s, enum csls_method how, const float *mean_x,
                   const float *mean_z, int k_x, int k_z, const float *floor_x,
                   const float *floor_z, struct csls_side *x, struct csls_side *z,
                   struct csls_work *work);

/* The score of a pair with inner product c. */
static inline float nearest_score(enum csls_method how, float c, float mean_x, float mean_z)
{
    return how == CSLS_NN     ? c
           : how == CSLS_CSLS ? 2 * c - mean_x - mean_z
                              : c / ((mean_x + mean_z) / 2);
}

#endif
