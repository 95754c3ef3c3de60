/* Small dense matrices: LAPACK's singular values for the maps between spaces. Row-major, on the
 * calling thread. */
#ifndef VECTORS_LINALG_H
#define VECTORS_LINALG_H
#include <stddef.h>

/* A [m, n] = U diag(s) V^T with r = min(m, n): U [m, r], s [r] falling, VT [r, n]; each may be NULL
 * but s. A is kept. -1 with a message: not finite, no convergence. */
int lin_svd(const double *A, int m, int n, double *U, double *s, double *VT);

/* C [m, n] = op(A) op(B), op by ta, tb, inner dimension k; in double, on one thread. */
void lin_product(int ta, int tb, int m, int n, int k, const double *A, const double *B, double *C);

/* Makes the columns of A [n, k] orthonormal, in place (Gram-Schmidt, twice); columns that depend on
 * earlier ones become 0. */
void lin_orthogonalize(float *A, size_t n, int k);

#endif
