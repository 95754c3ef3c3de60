/* Sums over the rows of a matrix, for each column: gradients of biases and of layer norms. Rows
 * are cut into pieces whose sums are added in order. */
#ifndef KERNELS_CUDA_COLUMNS_H
#define KERNELS_CUDA_COLUMNS_H
#include "kernels/cuda/device.h"

/* 64 pieces whatever the GPU: the order of the sums, and so their bytes, are the same on all. */
enum { COLUMN_PIECES = 64, COLUMN_ROWS = 32 };

/* part[piece][SUMS][D]: the sums of f's SUMS values over the piece's rows. f(sum, row, column,
 * left) adds eight columns. */
template <typename F, int SUMS>
static __global__ void column_pieces(float *part, F f, int N, int D, int step)
{
    __shared__ float room[SUMS][8][32 * 8];
    /* a warp reads 256 neighbouring columns of a row */
    int c = ((int)blockIdx.x * 32 + (int)threadIdx.x) * 8, piece = (int)blockIdx.y,
        y = (int)threadIdx.y;
    int end = N - piece * step < step ? N : (piece + 1) * step;
    eight sum[SUMS];
#pragma unroll
    for (int s = 0; s < SUMS; s++)
#pragma unroll
        for (int i = 0; i < 8; i++) sum[s].x[i] = 0;
    /* Unrolled: several rows' loads are under way at once. */
    if (c < D)
#pragma unroll 4
        for (int n = piece * step + y; n < end; n += 8) f(sum, n, c, D - c);
#pragma unroll
    for (int s = 0; s < SUMS; s++)
#pragma unroll
        for (int i = 0; i < 8; i++) room[s][y][threadIdx.x * 8 + i] = sum[s].x[i];
    __syncthreads();
    int i = y * 32 + (int)threadIdx.x, column = (int)blockIdx.x * 256 + i;
    for (int s = 0; s < SUMS && column < D; s++) {
        float all = 0;
        for (int r = 0; r < 8; r++) all += room[s][r][i];
        part[((size_t)piece * SUMS + s) * D + column] = all;
    }
}

/* out[column] += sum over pieces of part[piece][which]. */
static __global__ void column_sums(float *out, const float *part, int pieces, int sums, int which,
                                   int D)
{
    int c = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (c >= D) return;
    float all = 0;
    /* Unrolled, so that memory is waited for a few times only. */
#pragma unroll 16
    for (int i = 0; i < pieces; i++) all += part[((size_t)i * sums + which) * D + c];
    out[c] += all;
}

/* out[s] [D] += the sums of f over N rows; NULL: not wanted. */
template <int SUMS, typename F>
static void cuda_columns(float *const out[SUMS], const F &f, int N, int D)
{
    int step = (N + COLUMN_PIECES - 1) / COLUMN_PIECES;
    if (step < COLUMN_ROWS) step = COLUMN_ROWS;
    int pieces = (N + step - 1) / step;
    float *part =
        (float *)cuda_scratch(SCRATCH_SUMS, (size_t)pieces * SUMS * (size_t)D * sizeof(float));
    if (!part) return;
    LAUNCH((column_pieces<F, SUMS>), dim3(blocks_for((size_t)D, 256), (unsigned)pieces),
           dim3(32, 8), 0, part, f, N, D, step);
    for (int s = 0; s < SUMS; s++)
        if (out[s])
            LAUNCH(column_sums, blocks_for((size_t)D, 256), 256, 0, out[s], part, pieces, SUMS, s,
                   D);
}

/* The matrix itself. */
template <typename T, bool WHOLE> struct column_of {
    const T *X;
    int ld;
    __device__ void operator()(eight *sum, int row, int c, int left) const
    {
        eight x = load8<WHOLE>(X + (size_t)row * ld + c, left);
#pragma unroll
        for (int i = 0; i < 8; i++) sum[0].x[i] += x.x[i];
    }
};

/* db [D] += column sums of X [N, D], whose rows are ld apart. */
template <typename T> static void cuda_column_sums(float *db, const T *X, int N, int D, int ld)
{
    float *const out[1] = { db };
    if (whole8((size_t)D, X) && ld % 8 == 0)
        cuda_columns<1>(out, column_of<T, true>{ X, ld }, N, D);
    else cuda_columns<1>(out, column_of<T, false>{ X, ld }, N, D);
}

#endif
