/* Principal components. */
#ifndef SPACE_PCA_H
#define SPACE_PCA_H
#include <stdint.h>

/* The first k components of X [n, d], k <= min(n, d): to [n, k] gets the coordinates of the rows
 * less their mean, share [k] (or NULL) each component's share of the variance. The sign of a
 * component is that of its largest weight, so that it does not depend on LAPACK. -1 with a message:
 * k too large, a number that is not finite, rows that are all alike. */
int pca(const float *X, uint32_t n, int d, int k, float *to, double *share);

#endif
