/* OpenBLAS, opened when a program multiplies for the first time, so that programs that never do
 * (--help, ckpt info, plot curves) pay neither its start-up nor its address space. */
#ifndef LINALG_BLAS_H
#define LINALG_BLAS_H
#include <cblas.h>
#include <stddef.h>
#undef I                                /* <complex.h>'s, which <cblas.h> brings along */

/* LAPACK with Fortran's calling convention: Debian's OpenBLAS has it; LAPACKE would be another
 * package. */
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
 * where the address space (ulimit -v) is too small, for which it would wait forever, the program
 * ends with status 1 and a line that says so (common/mem.h).
 *
 * An OpenBLAS older than the processor may not know its model and fall back to SSE kernels at a
 * fifth of the speed (0.3.21 does, on Xeons of 2023 and later): then the kernels for the
 * instructions present are selected. A preset OPENBLAS_CORETYPE is left alone. */
const struct blas *blas(void);

/* "OpenBLAS 0.3.21 SkylakeX", and the reason if it is not OpenBLAS's own choice. */
const char *blas_describe(void);

#endif
