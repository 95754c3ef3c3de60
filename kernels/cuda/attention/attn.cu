/* Attention for any type and head size, in float32: a block takes a tile of queries of one head
 * of one sentence (backward also: a tile of keys) and goes through the tiles of the other side
 * in shared memory. dQ and dK, dV are two kernels that each compute the probabilities again:
 * nothing is added atomically. */
#include "kernels/cuda/attention/attn.h"

/* 48 KiB: what any block may have without a request. */
enum { THREADS = 128, SHARED = 48 << 10 };

/* --- dropout's bits --------------------------------------------------------------------------- */

/* Four bytes a thread, 2^lanes threads a row of queries. */
static __global__ void mask_words(uint32_t *bits, drops d, int rows, int heads, int words,
                                  int lanes)
{
    int row = (int)(blockIdx.x * (blockDim.x >> lanes) + (threadIdx.x >> lanes)),
        all = heads * words;
    if (row >= rows) return;
    uint64_t sample = d.sample[row] | d.site;
    uint32_t pos = d.pos[row] << 20;
    for (int i = (int)threadIdx.x & ((1 << lanes) - 1); i < all; i += 1 << lanes) {
        /* Four bytes with one division of 32 bits are 322 instructions; a byte at a time, with
         * three divisions of 64 bits, was 219 for each. */
        int h = i / words, w = i - h * words;
        uint32_t kept = 0, at = pos | (uint32_t)h << 12 | (uint32_t)w * 4;
#pragma unroll
        for (int b = 0; b < 4; b++) {
            uint32_t r[4];
            rng_block(d.key, sample, at + (uint32_t)b, r);
#pragma unroll
            for (int j = 0; j < 4; j++) {
                kept |= (uint32_t)((r[j] & 0xffffu) >= d.limit) << (b * 8 + 2 * j);
                kept |= (uint32_t)(r[j] >> 16 >= d.limit) << (b * 8 + 2 * j + 1);
            }
        }
        bits[(size_t)row * (size_t)all + (size_t)i] = kept;
    }
}

/* Whole eights of bytes: flash.cu reads the bits of 64 keys at once. */
static int across_of(const struct kern_attn *g) { return (g->max_k + 63) / 64 * 8; }

size_t cuda_attn_bits(const struct kern_attn *g, const struct kern_drop *drop)
{
    return cuda_drops(drop).limit
               ? (size_t)g->rows_q * (size_t)g->heads * (size_t)across_of(g)
               : 0;
}

/* kept: where the bits are, or with `make` are to be; NULL: in memory for this operation only.
 * False: there was no memory. */
static bool mask(struct attn_mask *m, const struct kern_attn *g, const struct kern_drop *drop,
                 void *kept, bool make)
{
    struct drops d = cuda_drops(drop);
    m->bits = NULL;
    m->across = across_of(g);
    m->keep = d.keep;
    size_t n = (size_t)g->rows_q * (size_t)g->heads * (size_t)m->across;
    if (!d.limit || n == 0) return true;
    uint8_t *bits = kept ? (uint8_t *)kept : (uint8_t *)cuda_scratch(SCRATCH_MASK, n);
    if (!bits) return false;
    m->bits = bits;
    if (kept && !make) return true;
    int words = m->across / 4, lanes = 0;
    /* As few threads per row as have four bytes each, so that short rows share a block; 2^7 are all
     * of one. */
    while (lanes < 7 && 1 << lanes < g->heads * words) lanes++;
    LAUNCH(mask_words, blocks_for((size_t)g->rows_q, (size_t)THREADS >> lanes), THREADS, 0,
           (uint32_t *)bits, d, g->rows_q, g->heads, words, lanes);
    return true;
}

/* --- tiles ------------------------------------------------------------------------------------ */

/* Rows [first, first + tile) of a sentence's matrix, one head's columns; those from n on are 0.
 * Rows are stride apart in `to`. */
template <typename T> static __device__ void load_tile(float *to, int stride, const T *from, int ld,
                                                       const attn_rows &rows, int first, int n,
                                                       int tile, int dim)
{
    for (int i = (int)threadIdx.x; i < tile * dim; i += THREADS) {
        int r = i / dim, c = i % dim;
        to[r * stride + c] =
            first + r < n ? to_float(from[attn_row(rows, first + r) * ld + c]) : 0.0f;
    }
}

static __device__ __forceinline__ float dot(const float *x, const float *y, int n)
{
    float sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* Block i of the launch: sentence b, head h, tile t of that many a sentence. */
struct place { int b, h, first; };
static __device__ __forceinline__ place place_of(int heads, int tiles, int tile)
{
    int i = (int)blockIdx.x;
    return { i / tiles / heads, i / tiles % heads, i % tiles * tile };
}

/* The largest tile whose `arrays` of [tile, dim + 1] and `squares` of [tile, tile + 1] floats
 * fit; 0: none. */
static int tile_for(int dim, int arrays, int squares, size_t *bytes)
{
    /* Rows are dim + 1 apart, so that threads at the same column of different rows use different
     * banks. */
    for (int tile = 32; tile > 0; tile /= 2) {
        size_t wide = (size_t)arrays * (size_t)(dim + 1);
        size_t square = (size_t)squares * (size_t)(tile + 1);
        /* 3: top, sum and fade of each row. */
        *bytes = (wide + square + 3) * (size_t)tile * sizeof(float);
        if (*bytes <= SHARED) return tile;
    }
    cuda_failed_because("attention: heads of %d are too wide for this device", dim);
    return 0;
}

template <typename T> static __global__ void forward_tile(T *O, float *lse, const T *Q, const T *K,
                                                          const T *V, kern_attn g, attn_mask m,
                                                          int tile, int tiles)
{
    DYNAMIC_SHARED(room);
    place p = place_of(g.heads, tiles, tile);
    int nq = g.q_len[p.b], nk = g.k_len[p.b], q0 = g.q_at[p.b], dim = g.dim, stride = dim + 1,
        wide = tile + 1, tid = (int)threadIdx.x;
    const attn_rows q_rows = { q0, NULL }, k_rows = attn_rows_of(g, p.b);
    if (p.first >= nq) return;
    float *q = (float *)room, *k = q + tile * stride, *v = k + tile * stride,
          *o = v + tile * stride, *s = o + tile * stride;
    float *top = s + tile * wide, *sum = top + tile, *fade = sum + tile;
    load_tile(q, stride, Q + p.h * dim, g.ldq, q_rows, p.first, nq, tile, dim);
    for (int i = tid; i < tile * stride; i += THREADS) o[i] = 0;
    for (int i = tid; i < tile; i += THREADS) { top[i] = -INFINITY; sum[i] = 0; }
    int last = p.first + tile < nq ? p.first + tile - 1 : nq - 1,
        keys = attn_visible(g, nq, nk, last);
    /* a barrier after each step: threads read what others wrote in the one before */
    for (int at = 0; at < keys; at += tile) {
        load_tile(k, stride, K + p.h * dim, g.ldk, k_rows, at, nk, tile, dim);
        load_tile(v, stride, V + p.h * dim, g.ldv, k_rows, at, nk, tile, dim);
        __syncthreads();
        for (int i = tid; i < tile * tile; i += THREADS) {
            int r = i / tile, c = i % tile;
            bool sees = p.first + r < nq && at + c < attn_visible(g, nq, nk, p.first + r);
            s[r * wide + c] = sees ? g.scale * dot(q + r * stride, k + c * stride, dim) : -INFINITY;
        }
        __syncthreads();
        for (int r = tid; r < tile; r += THREADS) {
            float *row = s + r * wide, high = top[r];
            for (int c = 0; c < tile; c++) high = fmaxf(high, row[c]);
            /* Nothing has been seen: exp(-inf - -inf) would be NaN. */
            fade[r] = top[r] == -INFINITY ? 0.0f : expf(top[r] - high);
            top[r] = high;
            float all = 0;
            for (int c = 0; c < tile; c++) {
                row[c] = row[c] == -INFINITY ? 0.0f : expf(row[c] - high);
                all += row[c];
                if (m.bits && row[c] != 0)
                    row[c] = attn_kept(m, q0 + p.first + r, g.heads, p.h, at + c) ? row[c] * m.keep
                                                                                  : 0.0f;
            }
            sum[r] = sum[r] * fade[r] + all;
        }
        __syncthreads();
        for (int i = tid; i < tile * dim; i += THREADS) {
            int r = i / dim, c = i % dim;
            float x = o[r * stride + c] * fade[r];
            for (int j = 0; j < tile; j++) x += s[r * wide + j] * v[j * stride + c];
            o[r * stride + c] = x;
        }
        __syncthreads();
    }
    /* All of o has been added up. */
    __syncthreads();
    for (int i = tid; i < tile * dim; i += THREADS) {
        int r = i / dim, c = i % dim;
        if (p.first + r < nq)
            O[(size_t)(q0 + p.first + r) * g.ldo + p.h * dim + c] =
                from_float<T>(sum[r] != 0 ? o[r * stride + c] / sum[r] : 0.0f);
    }
    for (int r = tid; lse && r < tile; r += THREADS)
        if (p.first + r < nq)
            lse[(size_t)(q0 + p.first + r) * g.heads + p.h] =
                sum[r] != 0 ? top[r] + logf(sum[r]) : -INFINITY;
}

template <typename T> static void forward(act *O, float *lse, const act *Q, const act *K,
                                          const act *V, const struct kern_attn *g,
                                          const struct attn_mask *m)
{
    size_t bytes;
    int tile = tile_for(g->dim, 4, 1, &bytes);
    if (!tile) return;
    int tiles = (g->max_q + tile - 1) / tile;
    LAUNCH(forward_tile<T>, (unsigned)(g->batch * g->heads * tiles), THREADS, bytes, (T *)O, lse,
           (const T *)Q, (const T *)K, (const T *)V, *g, *m, tile, tiles);
}

void cuda_attn_fwd(const struct kern_attn_fwd *a)
{
    const struct kern_attn *g = a->g;
    struct attn_mask m;
    if (g->batch <= 0 || g->max_q <= 0 || cuda_lost() || !mask(&m, g, a->drop, a->bits, true))
        return;
    /* A query a sentence, as in the beam search, has a kernel of its own. */
    if (!m.bits && decode_attn(a->O, a->lse, a->Q, a->K, a->V, g)) return;
    if (flash_fwd(a->O, a->lse, a->Q, a->K, a->V, g, &m)) return;
    BY_TYPE(forward, a->O, a->lse, a->Q, a->K, a->V, g, &m);
}

/* --- backward: with P the probabilities, m the mask, delta = dO . O:
 * dV = (m P)^T dO,  dP = m (dO V^T),  dS = P (dP - delta) scale,  dQ = dS K,  dK = dS^T Q ------ */

template <typename T> static __global__ void delta_rows(float *delta, const T *dO, const T *O,
                                                        int rows, int heads, int dim, int ld)
{
    size_t i = (size_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (i >= (size_t)rows * heads) return;
    size_t at = i / heads * ld + i % heads * dim;
    float sum = 0;
    for (int c = (int)threadIdx.x % 32; c < dim; c += 32)
        sum += to_float(dO[at + c]) * to_float(O[at + c]);
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) delta[i] = sum;
}

/* dS and m P of query q and key j, of tiles in shared memory. */
struct slope { float ds, p; };
static __device__ __forceinline__ slope slope_of(const kern_attn &g, const attn_mask &m,
                                                 const float *q, const float *k, const float *v,
                                                 const float *d, float lse, float delta, int row,
                                                 int h, int key)
{
    /* P from the log-sum of the forward pass. */
    float p = expf(g.scale * dot(q, k, g.dim) - lse), dp = dot(d, v, g.dim), by = 1;
    if (m.bits) by = attn_kept(m, row, g.heads, h, key) ? m.keep : 0.0f;
    return { p * (by * dp - delta) * g.scale, by * p };
}

template <typename T>
static __global__ void backward_queries(T *dQ, const T *dO, const T *Q, const T *K, const T *V,
                                        const float *lse, const float *delta, kern_attn g,
                                        attn_mask m, int tile, int tiles)
{
    DYNAMIC_SHARED(room);
    place p = place_of(g.heads, tiles, tile);
    int nq = g.q_len[p.b], nk = g.k_len[p.b], q0 = g.q_at[p.b], dim = g.dim, stride = dim + 1,
        wide = tile + 1, tid = (int)threadIdx.x;
    const attn_rows q_rows = { q0, NULL }, k_rows = attn_rows_of(g, p.b);
    if (p.first >= nq) return;
    float *q = (float *)room, *d = q + tile * stride, *k = d + tile * stride,
          *v = k + tile * stride, *dq = v + tile * stride, *ds = dq + tile * stride;
    load_tile(q, stride, Q + p.h * dim, g.ldq, q_rows, p.first, nq, tile, dim);
    load_tile(d, stride, dO + p.h * dim, g.ldo, q_rows, p.first, nq, tile, dim);
    for (int i = tid; i < tile * stride; i += THREADS) dq[i] = 0;
    int last = p.first + tile < nq ? p.first + tile - 1 : nq - 1,
        keys = attn_visible(g, nq, nk, last);
    /* Queries see nothing beyond `keys`: their dS would be 0. */
    for (int at = 0; at < keys; at += tile) {
        /* until all have read the tiles before these */
        __syncthreads();
        load_tile(k, stride, K + p.h * dim, g.ldk, k_rows, at, nk, tile, dim);
        load_tile(v, stride, V + p.h * dim, g.ldv, k_rows, at, nk, tile, dim);
        __syncthreads();
        for (int i = tid; i < tile * tile; i += THREADS) {
            int r = i / tile, c = i % tile, row = p.first + r;
            slope x = { 0, 0 };
            if (row < nq && at + c < attn_visible(g, nq, nk, row)) {
                size_t of = (size_t)(q0 + row) * g.heads + p.h;
                x = slope_of(g, m, q + r * stride, k + c * stride, v + c * stride, d + r * stride,
                             lse[of], delta[of], q0 + row, p.h, at + c);
            }
            ds[r * wide + c] = x.ds;
        }
        __syncthreads();
        for (int i = tid; i < tile * dim; i += THREADS) {
            int r = i / dim, c = i % dim;
            float x = dq[r * stride + c];
            for (int j = 0; j < tile; j++) x += ds[r * wide + j] * k[j * stride + c];
            dq[r * stride + c] = x;
        }
    }
    __syncthreads();
    for (int i = tid; i < tile * dim; i += THREADS) {
        int r = i / dim, c = i % dim;
        if (p.first + r < nq)
            dQ[(size_t)(q0 + p.first + r) * g.ldq + p.h * dim + c] =
                from_float<T>(dq[r * stride + c]);
    }
}

template <typename T> static __global__ void backward_keys(T *dK, T *dV, const T *dO, const T *Q,
                                                           const T *K, const T *V, const float *lse,
                                                           const float *delta, kern_attn g,
                                                           attn_mask m, int tile, int tiles)
{
    DYNAMIC_SHARED(room);
    place p = place_of(g.heads, tiles, tile);
    int nq = g.q_len[p.b], nk = g.k_len[p.b], q0 = g.q_at[p.b], k0 = g.k_at[p.b], dim = g.dim,
        stride = dim + 1, wide = tile + 1, tid = (int)threadIdx.x;
    const attn_rows q_rows = { q0, NULL }, k_rows = attn_rows_of(g, p.b);
    if (p.first >= nk) return;
    float *k = (float *)room, *v = k + tile * stride, *q = v + tile * stride,
          *d = q + tile * stride, *dk = d + tile * stride, *dv = dk + tile * stride;
    float *ds = dv + tile * stride, *mp = ds + tile * wide;          /* [query, key] */
    load_tile(k, stride, K + p.h * dim, g.ldk, k_rows, p.first, nk, tile, dim);
    load_tile(v, stride, V + p.h * dim, g.ldv, k_rows, p.first, nk, tile, dim);
    for (int i = tid; i < tile * stride; i += THREADS) dk[i] = dv[i] = 0;
    for (int at = 0; at < nq; at += tile) {
        __syncthreads();
        load_tile(q, stride, Q + p.h * dim, g.ldq, q_rows, at, nq, tile, dim);
        load_tile(d, stride, dO + p.h * dim, g.ldo, q_rows, at, nq, tile, dim);
        __syncthreads();
        for (int i = tid; i < tile * tile; i += THREADS) {
            int r = i / tile, c = i % tile, row = at + r, key = p.first + c;
            slope x = { 0, 0 };
            if (row < nq && key < attn_visible(g, nq, nk, row)) {
                size_t of = (size_t)(q0 + row) * g.heads + p.h;
                x = slope_of(g, m, q + r * stride, k + c * stride, v + c * stride, d + r * stride,
                             lse[of], delta[of], q0 + row, p.h, key);
            }
            ds[r * wide + c] = x.ds;
            mp[r * wide + c] = x.p;
        }
        __syncthreads();
        for (int i = tid; i < tile * dim; i += THREADS) {
            int c = i / dim, e = i % dim;
            float x = dk[c * stride + e], y = dv[c * stride + e];
            for (int r = 0; r < tile; r++) {
                x += ds[r * wide + c] * q[r * stride + e];
                y += mp[r * wide + c] * d[r * stride + e];
            }
            dk[c * stride + e] = x;
            dv[c * stride + e] = y;
        }
    }
    __syncthreads();
    for (int i = tid; i < tile * dim; i += THREADS) {
        int c = i / dim, e = i % dim;
        /* The tile may reach beyond the sentence, whose next rows are another's. */
        if (p.first + c >= nk) continue;
        if (dK)
            dK[(size_t)(k0 + p.first + c) * g.ldk + p.h * dim + e] =
                from_float<T>(dk[c * stride + e]);
        if (dV)
            dV[(size_t)(k0 + p.first + c) * g.ldv + p.h * dim + e] =
                from_float<T>(dv[c * stride + e]);
    }
}

template <typename T>
static void delta_of(float *delta, const act *dO, const act *O, const struct kern_attn *g)
{
    size_t n = (size_t)g->rows_q * (size_t)g->heads;
    if (n)
        LAUNCH(delta_rows<T>, blocks_for(n, 4), 128, 0, delta, (const T *)dO, (const T *)O,
               g->rows_q, g->heads, g->dim, g->ldo);
}

template <typename T> static void backward(act *dQ, act *dK, act *dV, const act *dO, const act *Q,
                                           const act *K, const act *V, const float *lse,
                                           const float *delta, const struct kern_attn *g,
                                           const struct attn_mask *m)
{
    size_t bytes;
    int tile = tile_for(g->dim, 5, 1, &bytes), tiles = tile ? (g->max_q + tile - 1) / tile : 0;
    if (dQ && tiles)
        LAUNCH(backward_queries<T>, (unsigned)(g->batch * g->heads * tiles), THREADS, bytes,
               (T *)dQ, (const T *)dO, (const T *)Q, (const T *)K, (const T *)V, lse, delta, *g, *m,
               tile, tiles);
    tile = tile_for(g->dim, 6, 2, &bytes);
    tiles = tile ? (g->max_k + tile - 1) / tile : 0;
    if ((dK || dV) && tiles)
        LAUNCH(backward_keys<T>, (unsigned)(g->batch * g->heads * tiles), THREADS, bytes, (T *)dK,
               (T *)dV, (const T *)dO, (const T *)Q, (const T *)K, (const T *)V, lse, delta, *g, *m,
               tile, tiles);
}

void cuda_attn_bwd(const struct kern_attn_bwd *a)
{
    const struct kern_attn *g = a->g;
    struct attn_mask m;
    if (g->k_row) cuda_failed_because("attention: keys at any rows have no gradient");
    if (g->batch <= 0 || cuda_lost() || !mask(&m, g, a->drop, a->bits, false)) return;
    if (flash_bwd_whole(a, &m)) return;
    float *delta = (float *)cuda_scratch(SCRATCH_DELTA, ((size_t)g->rows_q * (size_t)g->heads + 1) *
                                                            sizeof *delta);
    if (!delta) return;
    BY_TYPE(delta_of, delta, a->dO, a->O, g);
    if (flash_bwd(a->dQ, a->dK, a->dV, a->dO, a->Q, a->K, a->V, a->lse, delta, g, &m)) return;
    BY_TYPE(backward, a->dQ, a->dK, a->dV, a->dO, a->Q, a->K, a->V, a->lse, delta, g, &m);
}
