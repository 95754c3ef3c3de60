#include "lib/vectors/linalg.h"
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "kernels/linalg/blas.h"
#include "kernels/linalg/gemm.h"

/* --- principal components --------------------------------------------------------------------- */

enum { BLOCK = 1024 };

static double *means(const float *X, uint32_t n, int d)
{
    double *mean = mem_zero((size_t)d, sizeof *mean);
    for (uint32_t i = 0; i < n; i++)
        for (int k = 0; k < d; k++) mean[k] += X[(size_t)i * (size_t)d + (size_t)k];
    for (int k = 0; k < d; k++) mean[k] /= n;
    return mean;
}

/* C [d, d] = sum of the outer products of the rows less their mean, in blocks of fixed size: the
 * sum does not depend on the number of threads. */
static void scatter(const float *X, uint32_t n, int d, const double *mean, double *C)
{
    size_t dd = (size_t)d;
    double *rows = mem_alloc(BLOCK * dd * sizeof *rows), *part = mem_alloc(dd * dd * sizeof *part);
    for (size_t i = 0; i < dd * dd; i++) C[i] = 0;
    for (uint32_t i0 = 0; i0 < n; i0 += BLOCK) {
        uint32_t m = n - i0 < BLOCK ? n - i0 : BLOCK;
        for (size_t i = 0; i < m; i++)
            for (size_t k = 0; k < dd; k++) rows[i * dd + k] = X[(i0 + i) * dd + k] - mean[k];
        linalg_gemm(1, 0, d, d, (int)m, rows, rows, part);
        for (size_t i = 0; i < dd * dd; i++) C[i] += part[i];
    }
    free(rows);
    free(part);
}

int linalg_pca(const float *X, uint32_t n, int d, int k, float *to, double *share)
{
    size_t dd = (size_t)d;
    if ((uint32_t)k > n || k > d)
        return err_set("cannot take %d principal components of %u vectors of %d dimensions", k, n,
                       d);
    double *mean = means(X, n, d), *C = mem_alloc(dd * dd * sizeof *C),
           *VT = mem_alloc(dd * dd * sizeof *VT), *s = mem_alloc(dd * sizeof *s), all = 0;
    scatter(X, n, d, mean, C);
    /* of C [d, d] and not of X [n, d]: symmetric and positive, so its singular vectors are the
     * axes */
    int r = linalg_svd(C, d, d, NULL, s, VT);
    for (int j = 0; r == 0 && j < d; j++) all += s[j];
    if (r == 0 && !(all > 0))
        r = err_set("all %u vectors are the same; there is nothing to see", n);
    for (int j = 0; r == 0 && j < k; j++) {
        const double *axis = VT + (size_t)j * dd;
        size_t top = 0;
        for (size_t i = 1; i < dd; i++)
            if (fabs(axis[i]) > fabs(axis[top])) top = i;
        /* The sign of an axis is arbitrary: its largest entry is positive, so that a picture is the
         * same everywhere. */
        double sign = axis[top] < 0 ? -1 : 1;
        for (uint32_t i = 0; i < n; i++) {
            double sum = 0;
            for (size_t q = 0; q < dd; q++) sum += axis[q] * (X[i * dd + q] - mean[q]);
            to[(size_t)i * (size_t)k + (size_t)j] = (float)(sign * sum);
        }
        if (share) share[j] = s[j] / all;
    }
    free(mean);
    free(C);
    free(VT);
    free(s);
    return r;
}

/* OpenBLAS on this thread alone, as kernels/linalg/gemm.c has it for floats: the bytes must not
 * depend on its threads. */
static void one_thread(void)
{
    float x = 1;
    gemm_here(false, false, 1, 1, 1, 1, &x, 1, &x, 1, 0, &(float){ 0 }, 1);
}

int linalg_svd(const double *A, int m, int n, double *U, double *s, double *VT)
{
    int r = m < n ? m : n, info = 0, lwork = -1;
    if (!r) return 0;
    for (size_t i = 0; i < (size_t)m * (size_t)n; i++)
        if (!isfinite(A[i]))
            return err_set("a matrix to be decomposed has numbers that are not finite");
    one_thread();
    /* A row-major [m, n] is A^T column-major [n, m] = V diag(s) U^T: LAPACK's u is V, its vt is
     * U^T. */
    double *a = mem_alloc((size_t)m * (size_t)n * sizeof *a);
    memcpy(a, A, (size_t)m * (size_t)n * sizeof *a);
    double *left = mem_alloc((size_t)n * (size_t)r * sizeof *left),
           *right = mem_alloc((size_t)r * (size_t)m * sizeof *right), best;
    int *iwork = mem_alloc(8 * (size_t)r * sizeof *iwork);
    blas()->dgesdd("S", &n, &m, a, &n, s, left, &n, right, &r, &best, &lwork, iwork, &info, 1);
    lwork = (int)best;
    double *work = mem_alloc((size_t)lwork * sizeof *work);
    blas()->dgesdd("S", &n, &m, a, &n, s, left, &n, right, &r, work, &lwork, iwork, &info, 1);
    /* left is column-major [n, r]: as row-major [r, n] it is V^T; right column-major [r, m] is
     * row-major [m, r], U. */
    if (!info && VT) memcpy(VT, left, (size_t)n * (size_t)r * sizeof *VT);
    if (!info && U) memcpy(U, right, (size_t)r * (size_t)m * sizeof *U);
    free(a);
    free(left);
    free(right);
    free(iwork);
    free(work);
    return info ? err_set("LAPACK's dgesdd did not converge on a %d x %d matrix", m, n) : 0;
}

void linalg_gemm(int ta, int tb, int m, int n, int k, const double *A, const double *B, double *C)
{
    one_thread();
    blas()->dgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans,
                  m, n, k, 1, A, ta ? m : k, B, tb ? k : n, 0, C, n);
}

/* Gram-Schmidt, each column twice ("twice is enough", Parlett 1998), on the columns as rows of a
 * copy. */
void linalg_orthogonalize(float *A, size_t n, int k)
{
    double *Q = mem_alloc(n * (size_t)k * sizeof *Q);
    for (size_t i = 0; i < n; i++)
        for (int j = 0; j < k; j++) Q[(size_t)j * n + i] = A[i * (size_t)k + (size_t)j];
    double *dot = mem_alloc(((size_t)k + 1) * sizeof *dot);
    one_thread();
    const struct blas *b = blas();
    for (int j = 0; j < k; j++) {
        double *q = Q + (size_t)j * n;
        double before = b->dnrm2((int)n, q, 1);
        for (int twice = 0; twice < 2 && j; twice++) {
            b->dgemv(CblasRowMajor, CblasNoTrans, j, (int)n, 1, Q, (int)n, q, 1, 0, dot, 1);
            b->dgemv(CblasRowMajor, CblasTrans, j, (int)n, -1, Q, (int)n, dot, 1, 1, q, 1);
        }
        double after = b->dnrm2((int)n, q, 1);
        /* 0: no rank is left */
        b->dscal((int)n, after > 1e-12 * before && after > 0 ? 1 / after : 0, q, 1);
    }
    for (size_t i = 0; i < n; i++)
        for (int j = 0; j < k; j++) A[i * (size_t)k + (size_t)j] = (float)Q[(size_t)j * n + i];
    free(Q);
    free(dot);
}
