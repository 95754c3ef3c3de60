/* How a product C [M, N] is cut into tiles that threads share out: by M, N and K alone. */
#ifndef LINALG_TILES_H
#define LINALG_TILES_H
#include <stddef.h>

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
