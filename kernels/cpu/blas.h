/* Which of its kernels OpenBLAS uses. */
#ifndef KERNELS_CPU_BLAS_H
#define KERNELS_CPU_BLAS_H

/* Before the first product of a process: an OpenBLAS older than the processor may not know its model and fall back to
 * SSE kernels at a fifth of the speed (0.3.21 does, on Xeons of 2023 and later). Then it is told to use those for the
 * instructions that are there. A preset OPENBLAS_CORETYPE is left alone. May be called often and from any thread. */
void blas_raise(void);

/* "OpenBLAS 0.3.21 SkylakeX", and how that came about where it is not OpenBLAS's own choice. */
const char *blas_describe(void);

#endif
