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
    /* singular values of a sum of squares are squares: shares of the variance as they are */
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
    /* dgesdd's page: iwork of 8 min(m, n); with lwork -1 a first call only says how much work it
     * wants */
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

/* The columns of A as rows Q [k, n], so that a column is contiguous. Gram-Schmidt by panels of
 * columns, each twice ("twice is enough", Parlett 1998): against all earlier panels by products of
 * matrices, which work from the cache where columns one by one read all of Q for each, and inside
 * the panel column by column. 200,000 x 610 (100,000 words, 300 dimensions) take a tenth of the
 * time of columns alone. */
enum { PANEL = 32 };
/* Subtracts from rows [first, first + n_of) of Q [, n] their projections onto rows [from, first),
 * which are orthonormal or 0; dot has room for n_of (first - from) products. */
static void project_out(const struct blas *b, double *Q, int n, int from, int first, int n_of,
                        double *dot)
{
    int along = first - from;
    const double *base = Q + (size_t)from * (size_t)n;
    double *to = Q + (size_t)first * (size_t)n;
    if (!along) return;
    if (n_of == 1) {
        b->dgemv(CblasRowMajor, CblasNoTrans, along, n, 1, base, n, to, 1, 0, dot, 1);
        b->dgemv(CblasRowMajor, CblasTrans, along, n, -1, base, n, dot, 1, 1, to, 1);
        return;
    }
    b->dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n_of, along, n, 1, to, n, base, n, 0, dot,
             along);
    b->dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n_of, n, along, -1, dot, along, base, n, 1,
             to, n);
}

void linalg_orthogonalize(float *A, size_t n, int k)
{
    double *Q = mem_alloc(n * (size_t)k * sizeof *Q);
    double *dot = mem_alloc((size_t)PANEL * (size_t)k * sizeof *dot), before[PANEL];
    for (size_t i = 0; i < n; i++)
        for (int j = 0; j < k; j++) Q[(size_t)j * n + i] = A[i * (size_t)k + (size_t)j];
    one_thread();
    const struct blas *b = blas();
    for (int first = 0; first < k; first += PANEL) {
        int end = first + PANEL < k ? first + PANEL : k;
        for (int j = first; j < end; j++)
            before[j - first] = b->dnrm2((int)n, Q + (size_t)j * n, 1);
        for (int twice = 0; twice < 2; twice++) {
            project_out(b, Q, (int)n, 0, first, end - first, dot);
            for (int j = first; j < end; j++) {
                double *q = Q + (size_t)j * n;
                project_out(b, Q, (int)n, first, j, 1, dot);
                project_out(b, Q, (int)n, first, j, 1, dot);
                /* 12 digits are gone: what is left of the column is the rounding of the others */
                double after = b->dnrm2((int)n, q, 1), least = 1e-12 * before[j - first];
                /* 0: no rank is left. The second time every length is 1 or 0 to begin with. */
                b->dscal((int)n, after > 0 && after > (twice ? 1e-12 : least) ? 1 / after : 0, q,
                         1);
            }
        }
    }
    for (size_t i = 0; i < n; i++)
        for (int j = 0; j < k; j++) A[i * (size_t)k + (size_t)j] = (float)Q[(size_t)j * n + i];
    free(Q);
    free(dot);
}

void linalg_gram(const float *A, size_t n, int k, double *G)
{
    /* a few rows as doubles at a time, the same ones always: no copy of A, one order of the sum */
    size_t kk = (size_t)k, most = 4096;
    double *part = mem_alloc((n < most ? n : most) * kk * sizeof *part);
    one_thread();
    memset(G, 0, kk * kk * sizeof *G);
    for (size_t from = 0; from < n; from += most) {
        size_t rows = n - from < most ? n - from : most;
        for (size_t i = 0; i < rows * kk; i++) part[i] = A[from * kk + i];
        blas()->dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, k, k, (int)rows, 1, part, k, part, k,
                      1, G, k);
    }
    free(part);
}
