/* Residual, dropout and layer norm: a warp a row. Each lane holds KEEP blocks of eight of its
 * row in registers (rows of at most 256 KEEP elements); with KEEP 0, and in backward_rows, it reads
 * them again.
 * Statistics are those of the sum as it is stored, so that the backward pass sees the same rows. */
#include "kernels/cuda/columns.h"

enum { ROWS = 4 };                          /* a block */

template <typename T, bool WHOLE, int KEEP>
static __global__ void forward_rows(T *Y, T *S, float *mean, float *rstd, const T *X, const T *U,
                                    const float *gamma, const float *beta, drops d, float eps,
                                    int N, int D)
{
    int row = (int)blockIdx.x * ROWS + (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    if (row >= N) return;
    size_t at = (size_t)row * D;
    /* a constant with KEEP: unrolled, the row's blocks have registers of their own */
    const int turns = KEEP ? KEEP : (D + 255) / 256;
    eight kept[KEEP ? KEEP : 1];
    float sum = 0;
#pragma unroll
    for (int t = 0; t < turns; t++) {
        int c = (t * 32 + lane) * 8;
        if (c >= D) continue;
        eight s = load8<WHOLE>(X + at + c, D - c);
        if (U) {
            eight u = load8<WHOLE>(U + at + c, D - c);
            if (d.limit) drop8(u, d, row, (uint32_t)(c / 8));
#pragma unroll
            for (int i = 0; i < 8; i++) s.x[i] = rounded<T>(s.x[i] + u.x[i]);
        }
        /* Without U, and in place, S is there already. */
        if (S && (U || S != X)) store8<WHOLE>(S + at + c, s, D - c);
#pragma unroll
        for (int i = 0; i < 8; i++) sum += s.x[i];
        if (KEEP) kept[KEEP ? t : 0] = s;
    }
    const T *again = U ? S : X;
    /* In two passes: E[s^2] - E[s]^2 would cancel where the mean is large next to the
     * deviation. */
    float mu = warp_sum(sum) / (float)D, square = 0;
#pragma unroll
    for (int t = 0; t < turns; t++) {
        int c = (t * 32 + lane) * 8;
        if (c >= D) continue;
        eight s = KEEP ? kept[KEEP ? t : 0] : load8<WHOLE>(again + at + c, D - c);
        /* load8 gives zeros beyond the row's end, each of which would add mu^2. */
#pragma unroll
        for (int i = 0; i < 8; i++) square += c + i < D ? (s.x[i] - mu) * (s.x[i] - mu) : 0.0f;
    }
    float r = 1.0f / sqrtf(warp_sum(square) / (float)D + eps);
#pragma unroll
    for (int t = 0; t < turns; t++) {
        int c = (t * 32 + lane) * 8;
        if (c >= D) continue;
        eight s = KEEP ? kept[KEEP ? t : 0] : load8<WHOLE>(again + at + c, D - c);
        eight g = load8<WHOLE>(gamma + c, D - c), b = load8<WHOLE>(beta + c, D - c);
#pragma unroll
        for (int i = 0; i < 8; i++) s.x[i] = (s.x[i] - mu) * r * g.x[i] + b.x[i];
        store8<WHOLE>(Y + at + c, s, D - c);
    }
    if (lane == 0 && mean) mean[row] = mu;
    if (lane == 0 && rstd) rstd[row] = r;
}

template <typename T> static void forward(const struct kern_norm_fwd *a)
{
    unsigned grid = blocks_for((size_t)a->N, ROWS);
    struct drops d = cuda_drops(a->U ? a->drop : NULL);
    int D = a->D;
#define FORWARD(WHOLE, KEEP)                                                                       \
    LAUNCH((forward_rows<T, WHOLE, KEEP>), grid, 32 * ROWS, 0, (T *)a->Y, (T *)a->S, a->mean,      \
           a->rstd, (const T *)a->X, (const T *)a->U, a->gamma, a->beta, d, a->eps, a->N, D)
    if (!whole8((size_t)D, a->Y, a->S, a->X, a->U, a->gamma, a->beta)) FORWARD(false, 0);
    else if (D <= 256) FORWARD(true, 1);
    else if (D <= 512) FORWARD(true, 2);
    else if (D <= 1024) FORWARD(true, 4);
    else if (D <= 2048) FORWARD(true, 8);
    else FORWARD(true, 0);
}

void cuda_norm_fwd(const struct kern_norm_fwd *a)
{
    if (a->N > 0 && !cuda_lost()) BY_TYPE(forward, a);
}

/* --- backward: with g = dY gamma and x^ = (S - mean) rstd,
 * d = rstd (g - mean(g) - x^ mean(g x^)) + dS */

template <typename T, bool WHOLE>
static __global__ void backward_rows(T *dX, bool add, T *dU, const T *dY, const T *dS, const T *S,
                                     const float *mean, const float *rstd, const float *gamma,
                                     drops d, int N, int D)
{
    int row = (int)blockIdx.x * ROWS + (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    if (row >= N) return;
    size_t at = (size_t)row * D;
    const int turns = (D + 255) / 256;
    float mu = mean[row], r = rstd[row], sum = 0, along = 0;
#pragma unroll
    for (int t = 0; t < turns; t++) {
        int c = (t * 32 + lane) * 8;
        if (c >= D) continue;
        eight g = load8<WHOLE>(dY + at + c, D - c), x = load8<WHOLE>(S + at + c, D - c),
              w = load8<WHOLE>(gamma + c, D - c);
#pragma unroll
        for (int i = 0; i < 8; i++) {
            g.x[i] *= w.x[i];
            x.x[i] = (x.x[i] - mu) * r;
            sum += g.x[i];
            along += g.x[i] * x.x[i];       /* g is 0 beyond the row's end */
        }
    }
    sum = warp_sum(sum) / (float)D;
    along = warp_sum(along) / (float)D;
#pragma unroll
    for (int t = 0; t < turns; t++) {
        int c = (t * 32 + lane) * 8, left = D - c;
        if (c >= D) continue;
        eight g = load8<WHOLE>(dY + at + c, left), x = load8<WHOLE>(S + at + c, left),
              w = load8<WHOLE>(gamma + c, left);
#pragma unroll
        for (int i = 0; i < 8; i++)
            g.x[i] = r * (g.x[i] * w.x[i] - sum - (x.x[i] - mu) * r * along);
        if (dS) {
            eight s = load8<WHOLE>(dS + at + c, left);
#pragma unroll
            for (int i = 0; i < 8; i++) g.x[i] += s.x[i];
        }
        if (dX) {
            eight to = g;
            if (add) {
                eight old = load8<WHOLE>(dX + at + c, left);
#pragma unroll
                for (int i = 0; i < 8; i++) to.x[i] += old.x[i];
            }
            store8<WHOLE>(dX + at + c, to, left);
        }
        if (dU) {
            if (d.limit) drop8(g, d, row, (uint32_t)(c / 8));
            store8<WHOLE>(dU + at + c, g, left);
        }
    }
}

/* dgamma += dY x^, dbeta += dY. */
template <typename T, bool WHOLE> struct norm_sums {
    const T *dY, *S;
    const float *mean, *rstd;
    int D;
    __device__ void operator()(eight *sum, int row, int c, int left) const
    {
        size_t at = (size_t)row * D + c;
        eight g = load8<WHOLE>(dY + at, left), x = load8<WHOLE>(S + at, left);
        float mu = mean[row], r = rstd[row];
#pragma unroll
        for (int i = 0; i < 8; i++) {
            sum[0].x[i] += g.x[i] * ((x.x[i] - mu) * r);
            sum[1].x[i] += g.x[i];
        }
    }
};

/* --- backward in one pass: at most ONCE_BLOCKS blocks of ONCE_WARPS warps, SHARE of them a row at
 * a time. Lanes keep the sums of their columns over the rows; a block adds its warps' in order into
 * part[block][3][D], and once_sums the blocks'. SHARE is 2 above 256 columns: with all of a row
 * in a warp's registers an SM would have eight warps, too few to hide what they wait for. */

/* 256 blocks, whatever the GPU: the order of the sums, and with it their bytes, is the same on
 * all. Two warps a row took 0.074 ms where one took 0.086 (16,384 rows of 1,024); loading the next
 * row ahead gained nothing (0.085). */
enum { ONCE_BLOCKS = 256, ONCE_WARPS = 8 };

template <typename T, int KEEP, int SHARE>
static __global__ void __launch_bounds__(32 * ONCE_WARPS, 2)
    backward_once(T *dX, bool add, T *dU, float *part, const T *dY, const T *dS, const T *S,
                  const float *mean, const float *rstd, const float *gamma, drops d, int N, int D)
{
    enum { SLOTS = ONCE_WARPS / SHARE };
    __shared__ float room[ONCE_WARPS][256], halves[2][ONCE_WARPS][2];
    int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32, slot = warp / SHARE,
        own = (warp % SHARE * 32 + lane) * 8, turn = 0;
    eight sums[3][KEEP];
#pragma unroll
    for (int s = 0; s < 3; s++)
#pragma unroll
        for (int t = 0; t < KEEP; t++)
#pragma unroll
            for (int i = 0; i < 8; i++) sums[s][t].x[i] = 0;
    /* The block's warps go round equally often: they wait for each other at barriers. */
    for (int first = (int)blockIdx.x * SLOTS; first < N; first += (int)gridDim.x * SLOTS) {
        int row = first + slot;
        bool there = row < N;
        size_t at = (size_t)row * D;
        float mu = there ? mean[row] : 0.0f, r = there ? rstd[row] : 0.0f, sum = 0, along = 0;
        eight kept_g[KEEP], kept_x[KEEP];
#pragma unroll
        for (int t = 0; t < KEEP; t++) {
            int c = t * 256 * SHARE + own;
            if (c >= D || !there) continue;
            kept_g[t] = load8<true>(dY + at + c, 8);
            kept_x[t] = load8<true>(S + at + c, 8);
            eight w = load8<true>(gamma + c, 8);
#pragma unroll
            for (int i = 0; i < 8; i++) {
                float g = kept_g[t].x[i], x = (kept_x[t].x[i] - mu) * r;
                sums[0][t].x[i] += g * x;
                sums[1][t].x[i] += g;
                kept_g[t].x[i] = g *= w.x[i];
                kept_x[t].x[i] = x;
                sum += g;
                along += g * x;
            }
        }
        sum = warp_sum(sum);
        along = warp_sum(along);
        if (SHARE > 1) {
            /* Two sets in turn, and so one barrier a row: a fast warp writes the next row's
             * halves while a slow one reads this row's. */
            if (lane == 0) { halves[turn][warp][0] = sum; halves[turn][warp][1] = along; }
            __syncthreads();
            sum = along = 0;
#pragma unroll
            for (int w = 0; w < SHARE; w++) {
                sum += halves[turn][slot * SHARE + w][0];
                along += halves[turn][slot * SHARE + w][1];
            }
            turn ^= 1;
        }
        sum /= (float)D;
        along /= (float)D;
#pragma unroll
        for (int t = 0; t < KEEP; t++) {
            int c = t * 256 * SHARE + own;
            if (c >= D || !there) continue;
            eight g;
#pragma unroll
            for (int i = 0; i < 8; i++)
                g.x[i] = r * (kept_g[t].x[i] - sum - kept_x[t].x[i] * along);
            if (dS) {
                eight s = load8<true>(dS + at + c, 8);
#pragma unroll
                for (int i = 0; i < 8; i++) g.x[i] += s.x[i];
            }
            if (dX) {
                eight to = g;
                if (add) {
                    eight old = load8<true>(dX + at + c, 8);
#pragma unroll
                    for (int i = 0; i < 8; i++) to.x[i] += old.x[i];
                }
                store8<true>(dX + at + c, to, 8);
            }
            if (dU) {
                if (d.limit) drop8(g, d, row, (uint32_t)(c / 8));
                store8<true>(dU + at + c, g, 8);
#pragma unroll
                for (int i = 0; i < 8; i++) sums[2][t].x[i] += g.x[i];
            }
        }
    }
    float *to = part + (size_t)blockIdx.x * 3 * (size_t)D;
#pragma unroll
    for (int s = 0; s < 3; s++)
#pragma unroll
        for (int t = 0; t < KEEP; t++) {
            /* The room has been read: it is used again for each of the three sums. */
            __syncthreads();
#pragma unroll
            for (int i = 0; i < 8; i++) room[warp][lane * 8 + i] = sums[s][t].x[i];
            __syncthreads();
#pragma unroll
            for (int half = 0; half < SHARE; half++) {
                int c = (t * SHARE + half) * 256 + (int)threadIdx.x;
                float all = 0;
#pragma unroll
                for (int w = half; w < ONCE_WARPS; w += SHARE) all += room[w][threadIdx.x];
                if (c < D) to[s * D + c] = all;
            }
        }
}

/* out[s] += the blocks' sums, NULL: not wanted. A block 32 columns, a warp an eighth of the
 * blocks. */
static __global__ void once_sums(float *dgamma, float *dbeta, float *du_sum, const float *part,
                                 int blocks, int D)
{
    __shared__ float room[ONCE_WARPS][32];
    int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32,
        c = (int)blockIdx.x * 32 + lane, s = (int)blockIdx.y,
        each = (blocks + ONCE_WARPS - 1) / ONCE_WARPS;
    float *out = s == 0 ? dgamma : s == 1 ? dbeta : du_sum, all = 0;
    if (!out) return;
    /* A contiguous eighth each, joined in order below. */
#pragma unroll 16
    for (int b = warp * each; b < blocks && b < (warp + 1) * each; b++)
        if (c < D) all += part[((size_t)b * 3 + (size_t)s) * (size_t)D + c];
    room[warp][lane] = all;
    __syncthreads();
    if (warp > 0 || c >= D) return;
    for (int w = 1; w < ONCE_WARPS; w++) all += room[w][lane];
    out[c] += all;
}

template <typename T> static void once(const struct kern_norm_bwd *a, const struct drops &d)
{
    int D = a->D, slots = D > 256 ? ONCE_WARPS / 2 : ONCE_WARPS, all = (a->N + slots - 1) / slots,
        blocks = all < ONCE_BLOCKS ? all : ONCE_BLOCKS;
    float *part =
        (float *)cuda_scratch(SCRATCH_SUMS, (size_t)blocks * 3 * (size_t)D * sizeof(float));
    if (!part) return;
#define ONCE(KEEP, SHARE) \
    LAUNCH((backward_once<T, KEEP, SHARE>), (unsigned)blocks, 32 * ONCE_WARPS, 0, (T *)a->dX, \
           a->add, (T *)a->dU, part, (const T *)a->dY, (const T *)a->dS, (const T *)a->S, a->mean, \
           a->rstd, a->gamma, d, a->N, D)
    if (D <= 256) ONCE(1, 1);
    else if (D <= 512) ONCE(1, 2);
    else ONCE(2, 2);
    LAUNCH(once_sums, dim3(blocks_for((size_t)D, 32), 3), 32 * ONCE_WARPS, 0, a->dgamma, a->dbeta,
           a->du_sum, (const float *)part, blocks, D);
}

template <typename T> static void backward(const struct kern_norm_bwd *a)
{
    unsigned grid = blocks_for((size_t)a->N, ROWS);
    struct drops d = cuda_drops(a->dU ? a->drop : NULL);
    const T *dY = (const T *)a->dY, *S = (const T *)a->S;
    int N = a->N, D = a->D;
    bool whole = whole8((size_t)D, a->dX, a->dU, dY, a->dS, S, a->gamma);
    /* Beyond 1,024 columns a lane's sums do not fit into its registers. */
    if (whole && D <= 1024) {
        once<T>(a, d);
        return;
    }
#define BACKWARD(WHOLE) \
    LAUNCH((backward_rows<T, WHOLE>), grid, 32 * ROWS, 0, (T *)a->dX, a->add, (T *)a->dU, \
           dY, (const T *)a->dS, S, a->mean, a->rstd, a->gamma, d, N, D)
    float *const out[2] = { a->dgamma, a->dbeta };
    if (a->dgamma || a->dbeta) {            /* first: dX may be dY */
        if (whole8((size_t)D, dY, S))
            cuda_columns<2>(out, norm_sums<T, true>{ dY, S, a->mean, a->rstd, D }, N, D);
        else cuda_columns<2>(out, norm_sums<T, false>{ dY, S, a->mean, a->rstd, D }, N, D);
    }
    if (whole) BACKWARD(true);
    else BACKWARD(false);
    if (a->du_sum && a->dU) cuda_column_sums(a->du_sum, (const T *)a->dU, N, D, D);
}

void cuda_norm_bwd(const struct kern_norm_bwd *a)
{
    if (a->N > 0 && !cuda_lost()) BY_TYPE(backward, a);
}
