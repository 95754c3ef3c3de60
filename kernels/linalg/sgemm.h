/* Float32 products C = A op(B) or C += A op(B) by AVX-512, for A that lies as it is multiplied.
 *
 * A BLAS copies both matrices into an order of its own and clears C first. Here only B is copied;
 * A is read where it lies, and C is written once. That matters where K is a few hundred: 11 to 41%
 * faster than OpenBLAS at K = 128, 1 to 4% at 1024 (docs/lab/bench/ops.md).
 *
 * Every element is one chain of fused multiply-adds along k, of at most 448 links; longer ones are
 * cut as OpenBLAS's SkylakeX kernels cut them (sgemm_piece) and added up in order. So the bytes are
 * those that OpenBLAS 0.3.21 gives on such a processor for M N K above a million. */
#ifndef LINALG_SGEMM_H
#define LINALG_SGEMM_H
#include <stdbool.h>

/* Floats of memory for the copy of B. */
enum { SGEMM_ROOM = 1 << 17 };

/* The links of the next chain of which `left` are left. */
int sgemm_piece(int left);

/* C[M,N] = (add: +=) A[M,K] op(B), op(B) [K,N] = B or B^T (tb), row-major, rows lda, ldb, ldc
 * elements apart; `room` SGEMM_ROOM floats. Needs AVX-512 F. */
void sgemm_avx512(bool tb, int M, int N, int K, const float *A, int lda, const float *B, int ldb,
                  bool add, float *C, int ldc, float *room);

#endif
