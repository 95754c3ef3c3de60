#include "kernels/linalg/gemm.h"
#include <stdbool.h>

struct gemm_tiles gemm_tiles(int M, int N, int rows, int cols)
{
    int across = (N + cols - 1) / cols, down = (M + rows - 1) / rows;
    return (struct gemm_tiles){ M, N, rows, cols, across, (size_t)down * (size_t)across };
}

/* Every tile packs its own parts of A and B: few large ones are fast, many keep many threads
 * busy. On one core of a Xeon with AVX-512, cutting the longer side into pieces of 512 cost 0 to
 * 8% against one call, of 128 or both sides a quarter. So the longer side is halved as long as
 * pieces keep 512 (256 for the first cut: two threads are common), up to 16 of them; the other
 * side only while tiles stay above a GFLOP. */
static int halvings(int side, int least, int most)
{
    int n = 1;
    while (n < most && side / (2 * n) >= least) n *= 2;
    return n;
}

struct gemm_tiles tiles_cut(int M, int N, int K, int unit)
{
    double flops = 2.0 * M * N * K;
    bool rows = M >= N;
    int longer = rows ? M : N, shorter = rows ? N : M;
    int n = flops < 16e6 ? 1 : halvings(longer, 512, 16), other = 1;
    if (n == 1 && flops >= 16e6) n = halvings(longer, 256, 2);
    while (flops / (n * other) > 2e9 && shorter / (2 * other) >= 512) other *= 2;
    int down = rows ? n : other, across = rows ? other : n;
    int tile_rows = (M + down - 1) / down, tile_cols = (N + across - 1) / across;
    /* Whole register tiles, except at the edge of the matrix. */
    if (down > 1) tile_rows = (tile_rows + unit - 1) / unit * unit;
    if (across > 1) tile_cols = (tile_cols + unit - 1) / unit * unit;
    return gemm_tiles(M, N, tile_rows, tile_cols);
}
