#if defined __x86_64__
#include "kernels/linalg/products.h"
#include <stddef.h>
#include "kernels/linalg/transpose.h"

/* A tile of C: 6 rows of 64 columns are 24 registers of sums; four of B and one of A are left. */
enum { ROWS = 6, LANES = 16, VECTORS = 4, COLS = VECTORS * LANES };

int sgemm_piece(int left)
{
    /* OpenBLAS's SkylakeX kernel cuts a sum after 448 terms, and what exceeds 448 in halves. The
     * same cuts and one chain of fused multiply-adds for each piece give the same bytes. */
    enum { MOST = 448 };
    if (left >= 2 * MOST) return MOST;
    return left > MOST ? (left / 2 + 15) / 16 * 16 : left;
}

/* `cols` columns of up to 16 rows become rows of 16, COLS apart; rows that are not there are 0. */
static void transpose(float *to, const float *from, size_t ld, int rows, int cols)
{
    __m512 r[16];
    UNROLL for (int i = 0; i < 16; i++)
        r[i] = i < rows ? _mm512_maskz_loadu_ps(first_lanes(cols), from + (size_t)i * ld)
                        : _mm512_setzero_ps();
    transpose16(r);
    for (int i = 0; i < cols; i++) _mm512_storeu_ps(to + (size_t)i * COLS, r[i]);
}

/* to [K][COLS] = the first n of K rows (columns: of B^T) of B, and 0 after them. */
static void pack(float *to, bool tb, const float *B, size_t ldb, int n, int K)
{
    for (int j = 0; j < COLS; j += LANES) {
        int here = n - j < 0 ? 0 : n - j;
        const float *b = here == 0 ? B : tb ? B + (size_t)j * ldb : B + j;
        for (int k = 0; tb && k < K; k += 16)
            transpose(to + (size_t)k * COLS + j, b + k, ldb, here, K - k < 16 ? K - k : 16);
        for (int k = 0; !tb && k < K; k++)
            _mm512_storeu_ps(to + (size_t)k * COLS + j,
                             _mm512_maskz_loadu_ps(first_lanes(here), b + (size_t)k * ldb));
    }
}

typedef void tile(float *C, size_t ldc, const float *A, size_t lda, const float *B, int K, int n,
                  bool add);

/* C[rows][n] = A[rows][K] B[K][COLS]; `rows` is a constant, which leaves the sums in registers. */
static inline __attribute__((always_inline)) void
multiply(const int rows, float *C, size_t ldc, const float *A, size_t lda, const float *B, int K,
         int n, bool add)
{
    __m512 c[ROWS][VECTORS], b[VECTORS];
    UNROLL for (int r = 0; r < rows; r++)
        UNROLL for (int v = 0; v < VECTORS; v++) {
            c[r][v] = _mm512_setzero_ps();
            if (LANES * v < n) __builtin_prefetch(C + (size_t)r * ldc + LANES * v, 1);
        }
    for (int k = 0; k < K; k++) {
        UNROLL for (int v = 0; v < VECTORS; v++)
            b[v] = _mm512_loadu_ps(B + (size_t)k * COLS + LANES * v);
        UNROLL for (int r = 0; r < rows; r++) {
            __m512 a = _mm512_set1_ps(A[(size_t)r * lda + (size_t)k]);
            UNROLL for (int v = 0; v < VECTORS; v++) c[r][v] = _mm512_fmadd_ps(a, b[v], c[r][v]);
        }
    }
    /* The piece's sum is complete before C is added, as in OpenBLAS; a chain that began with C
     * would be rounded differently. */
    UNROLL for (int r = 0; r < rows; r++)
        UNROLL for (int v = 0; v < VECTORS; v++) {
            float *to = C + (size_t)r * ldc + LANES * v;
            __mmask16 m = first_lanes(n - LANES * v);
            if (add) c[r][v] = _mm512_add_ps(_mm512_maskz_loadu_ps(m, to), c[r][v]);
            _mm512_mask_storeu_ps(to, m, c[r][v]);
        }
}

#define TILE(R)                                                                                  \
    static void tile##R(float *C, size_t ldc, const float *A, size_t lda, const float *B, int K, \
                        int n, bool add)                                                         \
    {                                                                                            \
        multiply(R, C, ldc, A, lda, B, K, n, add);                                               \
    }
TILE(1) TILE(2) TILE(3) TILE(4) TILE(5) TILE(6)
static tile *const tiles[ROWS] = { tile1, tile2, tile3, tile4, tile5, tile6 };

/* As many columns of op(B) as `room` takes, then row by row of C: a few rows of A and their part of
 * C stay in the first cache while B goes by from the second. */
void sgemm_avx512(bool tb, int M, int N, int K, const float *A, int lda, const float *B, int ldb,
                  bool add, float *C, int ldc, float *room)
{
    for (int k = 0, len; k < K; k += len, add = true) {
        len = sgemm_piece(K - k);
        size_t size = (size_t)len * COLS;
        int group = (int)(SGEMM_ROOM / size) * COLS;
        for (int n = 0; n < N; n += group) {
            int wide = N - n < group ? N - n : group;
            for (int j = 0; j < wide; j += COLS) {
                size_t at = (size_t)(n + j), along = (size_t)k;
                const float *b = B + (tb ? at * (size_t)ldb + along : along * (size_t)ldb + at);
                pack(room + (size_t)(j / COLS) * size, tb, b, (size_t)ldb, wide - j, len);
            }
            /* Rows of C in the outer loop: columns there gave 93 GFLOP/s where this gives 146
             * (600 x 1625 x 128, rows of C 6,500 bytes apart). */
            for (int i = 0; i < M; i += ROWS) {
                tile *rows = tiles[M - i < ROWS ? M - i - 1 : ROWS - 1];
                const float *a = A + (size_t)i * (size_t)lda + k;
                float *c = C + (size_t)i * (size_t)ldc + n;
                for (int j = 0; j < wide; j += COLS)
                    rows(c + j, (size_t)ldc, a, (size_t)lda, room + (size_t)(j / COLS) * size, len,
                         wide - j, add);
            }
        }
    }
}
#else
typedef int sgemm_avx512_is_for_x86;
#endif
