/* Sums over the rows of a matrix, for each column: gradients of biases and of layer norms. Rows
 * are cut into pieces whose sums are added in order. */
#ifndef KERNELS_CUDA_COLUMNS_H
#define KERNELS_CUDA_COLUMNS_H
#include "kernels/cuda/device.h"

enum { COLUMN_PIECES = 64, COLUMN_ROWS = 32, COLUMN_FEW = 256 };

typedef float column_room[8][32 * 8];

/* all[s]: the sums of f's SUMS values over a piece's rows in the thread's column of the block's
 * 256. f(sum, row, column, left) adds eight columns. */
template <typename F, int SUMS>
static __device__ __forceinline__ void column_piece(float *all, column_room *room, const F &f,
                                                    int piece, int N, int D, int step)
{
    int c = ((int)blockIdx.x * 32 + (int)threadIdx.x) * 8, y = (int)threadIdx.y;
    int end = N - piece * step < step ? N : (piece + 1) * step;
    eight sum[SUMS];
#pragma unroll
    for (int s = 0; s < SUMS; s++)
#pragma unroll
        for (int i = 0; i < 8; i++) sum[s].x[i] = 0;
    if (c < D)
#pragma unroll 4
        for (int n = piece * step + y; n < end; n += 8)
            f(sum, n, c, D - c); /* several rows' loads under way */
#pragma unroll
    for (int s = 0; s < SUMS; s++)
#pragma unroll
        for (int i = 0; i < 8; i++) room[s][y][threadIdx.x * 8 + i] = sum[s].x[i];
    __syncthreads();
#pragma unroll
    for (int s = 0; s < SUMS; s++) {
        all[s] = 0;
        for (int r = 0; r < 8; r++) all[s] += room[s][r][y * 32 + (int)threadIdx.x];
    }
}

/* part[piece][SUMS][D]: the sums over each piece's rows. */
template <typename F, int SUMS>
static __global__ void column_pieces(float *part, F f, int N, int D, int step)
{
    __shared__ column_room room[SUMS];
    int column = (int)blockIdx.x * 256 + (int)threadIdx.y * 32 + (int)threadIdx.x;
    float all[SUMS];
    column_piece<F, SUMS>(all, room, f, (int)blockIdx.y, N, D, step);
    for (int s = 0; s < SUMS && column < D; s++)
        part[((size_t)blockIdx.y * SUMS + s) * D + column] = all[s];
}

/* All pieces in one launch, where there are few: the same sums in the same order. */
template <int SUMS> struct column_outs { float *of[SUMS]; };
template <typename F, int SUMS>
static __global__ void column_few(column_outs<SUMS> out, F f, int N, int D, int step)
{
    __shared__ column_room room[SUMS];
    int column = (int)blockIdx.x * 256 + (int)threadIdx.y * 32 + (int)threadIdx.x;
    float all[SUMS], sum[SUMS];
#pragma unroll
    for (int s = 0; s < SUMS; s++) sum[s] = 0;
    for (int piece = 0; piece * step < N; piece++) {
        column_piece<F, SUMS>(all, room, f, piece, N, D, step);
        __syncthreads();
#pragma unroll
        for (int s = 0; s < SUMS; s++) sum[s] += all[s];
    }
#pragma unroll
    for (int s = 0; s < SUMS; s++)
        if (column < D && out.of[s]) out.of[s][column] += sum[s];
}

/* out[column] += sum over pieces of part[piece][which]. */
static __global__ void column_sums(float *out, const float *part, int pieces, int sums, int which,
                                   int D)
{
    int c = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (c >= D) return;
    float all = 0;
#pragma unroll 16
    for (int i = 0; i < pieces; i++)
        all += part[((size_t)i * sums + which) * D + c]; /* waits for memory a few times only */
    out[c] += all;
}

/* out[s] [D] += the sums of f over N rows; NULL: not wanted. */
template <int SUMS, typename F>
static void cuda_columns(float *const out[SUMS], const F &f, int N, int D)
{
    int step = (N + COLUMN_PIECES - 1) / COLUMN_PIECES;
    if (step < COLUMN_ROWS) step = COLUMN_ROWS;
    int pieces = (N + step - 1) / step;
    if (N <= COLUMN_FEW && cuda_try(TRY_SORT)) {
        column_outs<SUMS> outs;
        for (int s = 0; s < SUMS; s++) outs.of[s] = out[s];
        LAUNCH((column_few<F, SUMS>), blocks_for((size_t)D, 256), dim3(32, 8), 0, outs, f, N, D,
               step);
        return;
    }
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
