/* OpenBLAS, opened when a program multiplies for the first time: one that does not (--help, ckpt
 * info, plot curves) does not wait for it, nor for the address space that it takes. Include this
 * last: <cblas.h> defines I. */
#ifndef KERNELS_CPU_BLAS_H
#define KERNELS_CPU_BLAS_H
#include <cblas.h>
#include <stddef.h>

/* LAPACK of Fortran's calling convention: Debian's OpenBLAS has it, LAPACKE is a package of its
 * own. */
typedef void dgesdd_function(const char *jobz, const int *m, const int *n, double *a,
                             const int *lda, double *s, double *u, const int *ldu, double *vt,
                             const int *ldvt, double *work, const int *lwork, int *iwork, int *info,
                             size_t jobz_len);

struct blas {
    __typeof__(&cblas_sgemm) sgemm;
    __typeof__(&cblas_dgemm) dgemm;
    __typeof__(&cblas_dgemv) dgemv;
    __typeof__(&cblas_dnrm2) dnrm2;
    __typeof__(&cblas_dscal) dscal;
    dgesdd_function *dgesdd;
    __typeof__(&openblas_set_num_threads) set_num_threads;
    __typeof__(&openblas_get_corename) get_corename;
    __typeof__(&openblas_get_config) get_config;
};

/* The functions. From any thread; the first call opens the library. Where it is not installed, or
 * where there is not the address space that it would wait for without end (ulimit -v), the program
 * ends with status 1 and a line that says so (common/mem.h).
 *
 * An OpenBLAS older than the processor may not know its model and fall back to SSE kernels at a
 * fifth of the speed (0.3.21 does, on Xeons of 2023 and later): then it is told to use those for
 * the instructions that are there. A preset OPENBLAS_CORETYPE is left alone. */
const struct blas *blas(void);

/* "OpenBLAS 0.3.21 SkylakeX", and how that came about where it is not OpenBLAS's own choice. */
const char *blas_describe(void);

#endif
