/* Products in bfloat16: by oneDNN, its AMX or AVX-512 BF16 kernels, one thread per tile, or by AMX
 * tiles of our own. Only gemm.c uses this. */
#ifndef LINALG_BF16_H
#define LINALG_BF16_H
#include <stdbool.h>
#include "kernels/linalg/gemm.h"

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
