/* Products of float32 matrices, by OpenBLAS on one thread at a time; with AVX-512 those whose A is
 * not transposed by sgemm_avx512.c, to the same bytes.
 *   C[M,N] = alpha op(A) op(B) + beta C,
 *   op(A) [M,K] = A or A^T (ta),  op(B) [K,N] = B or B^T (tb), row-major, rows
 *   lda, ldb, ldc elements apart. beta = 0 does not read C. */
#ifndef LINALG_GEMM_H
#define LINALG_GEMM_H
#include <stdbool.h>
#include <stddef.h>

/* On the calling thread: for the small products inside a chunk of par_for. */
void gemm_here(bool ta, bool tb, int M, int N, int K, float alpha, const float *A, int lda,
               const float *B, int ldb, float beta, float *C, int ldc);

/* Which of a product's matrices are acts (acts.h): the others are float32. */
enum { GEMM_A = 1, GEMM_B = 2, GEMM_C = 4 };

/* The same with beta = 0, in bfloat16 where gemm is by AMX (gemm_bf16): attention's. */
void gemm_small(bool ta, bool tb, int M, int N, int K, float alpha, const void *A, int lda,
                const void *B, int ldb, void *C, int ldc, unsigned acts);

/* In tiles that depend on M, N, K only, over the pool. When the tile of rows [r0, r1) and
 * columns [c0, c1) is done, then(ctx, c, ld, r0, r1, c0, c1) (NULL: nothing) continues with it
 * while it is in the cache: c is where its first element is, rows ld apart. */
typedef void gemm_then(void *ctx, float *c, size_t ld, int r0, int r1, int c0, int c1);
void gemm(bool ta, bool tb, int M, int N, int K, float alpha, const float *A, int lda,
          const float *B, int ldb, float beta, float *C, int ldc, gemm_then *then, void *ctx);

/* The same with alpha = 1, and beta = 1 with `add`, else 0, where some of the matrices are acts. Of
 * a C of bfloat16, `then` gets the float32 numbers that C is about to be rounded from, and with
 * `add` the product alone, which is added afterwards. */
void gemm_acts(bool ta, bool tb, int M, int N, int K, const void *A, int lda, const void *B,
               int ldb, bool add, void *C, int ldc, unsigned acts, gemm_then *then, void *ctx);

/* Promises that the next gemm's A, transposed or not, is the memory of the last one's and has
 * not changed since: its bfloat16 copy is then reused. */
void gemm_same_a(void);

/* From now on gemm (not gemm_here; gemm_small by AMX alone) multiplies in bfloat16 with float32
 * sums, where a product is large enough to gain by it and X W^T has more than a few rows (a step of
 * decoding has few): bf16_amx.c by AMX where simd_amx(), else bf16.c by oneDNN, which is opened at
 * run time. -1 with a message if it or the processor's instructions are missing.
 * ISOGLOT_BF16=tiles|dots chooses. */
int gemm_bf16(bool on);

/* Would that be faster than float32 on this processor, with the libraries that are here? */
bool gemm_bf16_gains(void);

/* Are matrices of bfloat16 what gemm reads fastest (AMX)? Then acts are. */
bool gemm_takes_acts(void);

/* Is gemm multiplying in bfloat16? */
bool gemm_is_bf16(void);

/* ... and by oneDNN, which needs memory of its own? */
bool gemm_takes_dnnl(void);

/* "OpenBLAS 0.3.21 SkylakeX, bf16 products by AMX" */
const char *gemm_describe(void);

/* --- tiles ------------------------------------------------------------------------------------ */

/* How a product C [M, N] is cut into tiles that threads share out: by M, N and K alone. */

/* n tiles of rows x cols elements, `across` side by side. */
struct gemm_tiles { int M, N, rows, cols, across; size_t n; };
struct gemm_tiles gemm_tiles(int M, int N, int rows, int cols);
/* rows and cols are multiples of `unit` where a side is cut. */
struct gemm_tiles tiles_cut(int M, int N, int K, int unit);

/* Tile i: rows [r0, r1) and columns [c0, c1). */
struct gemm_tile { int r0, r1, c0, c1; };
static inline struct gemm_tile gemm_tile(const struct gemm_tiles *t, size_t i)
{
    int r0 = (int)(i / (size_t)t->across) * t->rows, c0 = (int)(i % (size_t)t->across) * t->cols;
    return (struct gemm_tile){ r0, t->M - r0 < t->rows ? t->M : r0 + t->rows,
                               c0, t->N - c0 < t->cols ? t->N : c0 + t->cols };
}

#endif
