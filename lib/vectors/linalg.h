/* Small dense matrices: LAPACK's singular values for the maps between spaces. Row-major, on the
 * calling thread. */
#ifndef VECTORS_LINALG_H
#define VECTORS_LINALG_H
#include <stddef.h>
#include <stdint.h>

/* --- principal components --------------------------------------------------------------------- */

/* Principal components. */

/* The first k components of X [n, d], k <= min(n, d): to [n, k] gets the coordinates of the rows
 * less their mean, share [k] (or NULL) each component's share of the variance. The sign of a
 * component is that of its largest weight, so that it does not depend on LAPACK. -1 with a message:
 * k too large, a number that is not finite, rows that are all equal. */
int linalg_pca(const float *X, uint32_t n, int d, int k, float *to, double *share);

/* A [m, n] = U diag(s) V^T with r = min(m, n): U [m, r], s [r] falling, VT [r, n]; each may be NULL
 * but s. A is kept. -1 with a message: not finite, no convergence. */
int linalg_svd(const double *A, int m, int n, double *U, double *s, double *VT);

/* C [m, n] = op(A) op(B), op by ta, tb, inner dimension k; in double, on one thread. */
void linalg_gemm(int ta, int tb, int m, int n, int k, const double *A, const double *B, double *C);

/* Makes the columns of A [n, k] orthonormal, in place (Gram-Schmidt, twice); columns that depend on
 * earlier ones become 0. */
void linalg_orthogonalize(float *A, size_t n, int k);

/* G [k, k] = A^T A of A [n, k], summed in double. */
void linalg_gram(const float *A, size_t n, int k, double *G);

#endif
