#include "lib/vectors/linalg.h"
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "kernels/linalg/blas.h"
#include "kernels/linalg/gemm.h"

/* OpenBLAS on this thread alone, as kernels/linalg/gemm.c has it for floats: the bytes must not
 * depend on its threads. */
static void one_thread(void)
{
    float x = 1;
    gemm_here(false, false, 1, 1, 1, 1, &x, 1, &x, 1, 0, &(float){ 0 }, 1);
}

int lin_svd(const double *A, int m, int n, double *U, double *s, double *VT)
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

void lin_product(int ta, int tb, int m, int n, int k, const double *A, const double *B, double *C)
{
    one_thread();
    blas()->dgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans,
                  m, n, k, 1, A, ta ? m : k, B, tb ? k : n, 0, C, n);
}

/* Modified Gram-Schmidt, each column twice ("twice is enough", Parlett 1998), on the columns as
 * rows of a copy. */
void lin_orthogonalize(float *A, size_t n, int k)
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
