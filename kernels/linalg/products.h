/* The products that gemm.c chooses among, besides OpenBLAS's. Nothing else uses them. */
#ifndef LINALG_PRODUCTS_H
#define LINALG_PRODUCTS_H
#include <stdbool.h>
#include "kernels/linalg/gemm.h"

/* --- float32 by AVX-512 ----------------------------------------------------------------------- */

/* Float32 products C = A op(B) or C += A op(B) by AVX-512, for A that lies as it is multiplied.
 *
 * A BLAS copies both matrices into an order of its own and clears C first. Here only B is copied;
 * A is read where it lies, and C is written once. That matters where K is a few hundred: 11 to 41%
 * faster than OpenBLAS at K = 128, 1 to 4% at 1024 (docs/lab/bench/ops.md).
 *
 * Every element is one chain of fused multiply-adds along k, of at most 448 links; longer ones are
 * cut as OpenBLAS's SkylakeX kernels cut them (sgemm_piece) and added up in order. So the bytes are
 * those that OpenBLAS 0.3.21 gives on such a processor for M N K above a million. */

/* Floats of memory for the copy of B. */
enum { SGEMM_ROOM = 1 << 17 };

/* The links of the next chain of which `left` are left. */
int sgemm_piece(int left);

/* C[M,N] = (add: +=) A[M,K] op(B), op(B) [K,N] = B or B^T (tb), row-major, rows lda, ldb, ldc
 * elements apart; `room` SGEMM_ROOM floats. Needs AVX-512 F. */
void sgemm_avx512(bool tb, int M, int N, int K, const float *A, int lda, const float *B, int ldb,
                  bool add, float *C, int ldc, float *room);

/* --- bfloat16 --------------------------------------------------------------------------------- */

/* Products in bfloat16: by oneDNN, its AMX or AVX-512 BF16 kernels, one thread per tile, or by AMX
 * tiles of our own. */

int bf16_open(void);                 /* opens oneDNN; 0 idempotent, -1 with a message */
bool bf16_gains(void); /* are this processor's bfloat16 products faster than its float32 ones? */
const char *bf16_name(void);         /* "oneDNN 2.6.3", and whether float32 is the better choice */

/* As gemm, with alpha = 1: C = op(A) op(B), or C += (add). A and B are rounded to bfloat16 on
 * the way; same_a: see gemm_same_a. -1 with a message if oneDNN refuses. */
int bf16_gemm(bool ta, bool tb, int M, int N, int K, const float *A, int lda, bool same_a,
              const float *B, int ldb, bool add, float *C, int ldc, gemm_then *then, void *ctx);

/* The same by tiles of our own (bf16_amx.c), where simd_amx() says that there are some: nothing has
 * to be opened, and nothing fails. half: which of GEMM_A, GEMM_B and GEMM_C are in bfloat16, the
 * others are float32. All of a row of op(A) lies in the cache where C is in bfloat16: K is at
 * most BF16_DEEPEST then. */
enum { BF16_DEEPEST = 4096 };
void bf16_amx(bool ta, bool tb, int M, int N, int K, const void *A, int lda, const void *B,
              int ldb, bool add, void *C, int ldc, unsigned half, gemm_then *then, void *ctx);
/* C = alpha op(A) op(B) on the calling thread, for small matrices. */
void bf16_amx_here(bool ta, bool tb, int M, int N, int K, float alpha, const void *A, int lda,
                   const void *B, int ldb, void *C, int ldc, unsigned half);

#endif
