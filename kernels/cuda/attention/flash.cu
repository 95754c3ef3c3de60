/* Attention in bfloat16 on tensor cores, after FlashAttention-2 (Dao 2023): a block takes 64
 * queries (backward also: 64 keys) of one head of one sentence, a warp 16 of them; tiles of the
 * other side come into shared memory while the ones before are worked on. Scores stay in
 * registers and, rounded, are the left side of the next product. Head sizes 32, 64, 96 and 128;
 * others go to attn.cu. */
#include "kernels/cuda/attention/attn.h"
#include "kernels/cuda/attention/mma.h"

enum { THREADS = 128, OWN = 64, WARP_ROWS = 16 };
/* Exponentials are powers of two: ex2.approx is one instruction. */
static const float LOG2E = 1.44269504f;

struct side { int at, n; };                 /* rows of a sentence: the first, how many */

static __device__ __forceinline__ void zero(float *x, int n)
{
#pragma unroll
    for (int i = 0; i < n; i++) x[i] = 0;
}

/* Writes rows row and row + 8 of C tiles, where they exist, as pairs. */
template <int DIM> static __device__ __forceinline__ void store_rows(bf16 *to, int ld, int first,
                                                                     int n, const float (*c)[4],
                                                                     float by0, float by1)
{
    int lane = (int)threadIdx.x % 32, g = lane / 4, t = lane % 4;
#pragma unroll
    for (int i = 0; i < DIM / 8; i++) {
        if (first + g < n)
            *(uint32_t *)(to + (size_t)(first + g) * ld + i * 8 + t * 2) =
                pair_of(c[i][0] * by0, c[i][1] * by0);
        if (first + g + 8 < n)
            *(uint32_t *)(to + (size_t)(first + g + 8) * ld + i * 8 + t * 2) =
                pair_of(c[i][2] * by1, c[i][3] * by1);
    }
}

/* c [N / 8] += rows row .. row + 15 of x by the rows 0 .. N - 1 of y, transposed: scores, and
 * gradients of probabilities. */
template <int DIM, int N>
static __device__ __forceinline__ void rows_by_rows(float (*c)[4], const bf16 *x, int row,
                                                    const bf16 *y)
{
#pragma unroll
    for (int k = 0; k < DIM; k += 16) {
        uint32_t a[4], b[4];
        load_a<DIM>(a, x, row, k);
#pragma unroll
        for (int i = 0; i < N / 16; i++) {
            load_b<DIM>(b, y, i * 16, k);
            mma(c[2 * i], a, b);
            mma(c[2 * i + 1], a, b + 2);
        }
    }
}

/* o [DIM / 8] += P [16, N] by the rows 0 .. N - 1 of y. */
template <int DIM, int N>
static __device__ __forceinline__ void by_rows_of(float (*o)[4], const float (*P)[4], const bf16 *y)
{
#pragma unroll
    for (int k = 0; k < N / 16; k++) {
        uint32_t a[4], b[4];
        /* Probabilities stay in registers: two neighbouring Cs, rounded, are an A (mma.h). */
        a_of(a, P[2 * k], P[2 * k + 1]);
#pragma unroll
        for (int i = 0; i < DIM / 16; i++) {
            load_b_rows<DIM>(b, y, k * 16, i * 16);
            mma(o[2 * i], a, b);
            mma(o[2 * i + 1], a, b + 2);
        }
    }
}

/* Starts copying rows first .. first + N - 1 of two matrices of n rows into a tile each. */
template <int DIM, int N>
static __device__ __forceinline__ void fetch_both(bf16 *tile_a, const bf16 *A, int lda,
                                                  bf16 *tile_b, const bf16 *B, int ldb, int first,
                                                  int n)
{
    fetch<DIM, N, THREADS>(tile_a, A, lda, first, n);
    fetch<DIM, N, THREADS>(tile_b, B, ldb, first, n);
}

struct place { int b, h, first; };
static __device__ __forceinline__ place place_of(int heads, int tiles)
{
    int i = (int)blockIdx.x;
    return { i / tiles / heads, i / tiles % heads, i % tiles * OWN };
}

/* --- forward ---------------------------------------------------------------------------------- */

template <int DIM> static __global__ void __launch_bounds__(THREADS, 2)
    forward(bf16 *O, float *lse, const bf16 *Q, const bf16 *K, const bf16 *V, kern_attn g,
            attn_mask m, int tiles)
{
    enum { KEYS = 64, TILE = KEYS * tile_of<DIM>::stride };
    DYNAMIC_SHARED(room);
    place p = place_of(g.heads, tiles);
    side q = { g.q_at[p.b], g.q_len[p.b] }, k = { g.k_at[p.b], g.k_len[p.b] };
    /* The grid is cut for the batch's longest sentence. */
    if (p.first >= q.n) return;
    bf16 *tile_q = (bf16 *)room, *tile_k = tile_q + OWN * tile_of<DIM>::stride,
         *tile_v = tile_k + 2 * TILE;
    Q += (size_t)q.at * g.ldq + p.h * DIM;
    K += (size_t)k.at * g.ldk + p.h * DIM;
    V += (size_t)k.at * g.ldv + p.h * DIM;
    int lane = (int)threadIdx.x % 32, row = (int)threadIdx.x / 32 * WARP_ROWS,
        mine = p.first + row + lane / 4; /* and mine + 8 */
    /* Tiles that not even the last query sees are not loaded. */
    int last = p.first + OWN < q.n ? p.first + OWN - 1 : q.n - 1,
        keys = attn_visible(g, q.n, k.n, last), turns = (keys + KEYS - 1) / KEYS;
    int sees[2] = { mine < q.n ? attn_visible(g, q.n, k.n, mine) : 0,
                    mine + 8 < q.n ? attn_visible(g, q.n, k.n, mine + 8) : 0 };
    /* Warps without queries still take part in copies and barriers. */
    bool busy = p.first + row < q.n;
    /* Keys that every row of the warp sees; rows that are not there may see any. */
    int all_see = busy ? attn_visible(g, q.n, k.n, p.first + row) : 0;
    float o[DIM / 8][4], top[2] = { -INFINITY, -INFINITY }, sum[2] = { 0, 0 },
                         scale = g.scale * LOG2E;
    zero(o[0], DIM / 2);
    fetch<DIM, OWN, THREADS>(tile_q, Q, g.ldq, p.first, q.n);
    if (turns > 0) fetch_both<DIM, KEYS>(tile_k, K, g.ldk, tile_v, V, g.ldv, 0, k.n);
    copies_commit();
    for (int turn = 0; turn < turns; turn++) {
        int now = turn % 2 * TILE, next = TILE - now;
        if (turn + 1 < turns)
            fetch_both<DIM, KEYS>(tile_k + next, K, g.ldk, tile_v + next, V, g.ldv,
                                  (turn + 1) * KEYS, k.n);
        /* Committed in the last turn too, when it is empty: copies_wait<1> then means this
         * turn's tiles in every turn. */
        copies_commit();
        copies_wait<1>();
        __syncthreads();
        if (busy) {
            float s[KEYS / 8][4];
            zero(s[0], KEYS / 2);
            rows_by_rows<DIM, KEYS>(s, tile_q, row, tile_k + now);
            /* Only at the diagonal and at the sentence's end; elsewhere all lanes see all
             * keys. */
            if ((turn + 1) * KEYS > all_see)
#pragma unroll
                for (int i = 0; i < KEYS / 8; i++)
#pragma unroll
                    for (int e = 0; e < 4; e++)
                        s[i][e] = turn * KEYS + i * 8 + lane % 4 * 2 + e % 2 < sees[e / 2]
                                      ? s[i][e]
                                      : -INFINITY;
#pragma unroll
            for (int r = 0; r < 2; r++) {
                float high = top[r];
#pragma unroll
                for (int i = 0; i < KEYS / 8; i++)
                    high = fmaxf(high, fmaxf(s[i][2 * r], s[i][2 * r + 1]));
                high = fmaxf(high, __shfl_xor_sync(0xffffffffu, high, 1));
                high = fmaxf(high, __shfl_xor_sync(0xffffffffu, high, 2));
                /* No key seen yet: -inf - -inf would be NaN. With 0 every power is 2^-inf. */
                float from = high == -INFINITY ? 0.0f : high * scale,
                      fade = power2(fmaf(top[r], scale, -from)),
                      all = 0;
                top[r] = high;
#pragma unroll
                for (int i = 0; i < KEYS / 8; i++)
#pragma unroll
                    for (int e = 2 * r; e < 2 * r + 2; e++) {
                        s[i][e] = power2(fmaf(s[i][e], scale, -from));
                        all += s[i][e];
                    }
                /* The softmax goes on under a new maximum: what was summed under the old one is
                 * scaled by 2^(old - new). */
                sum[r] = sum[r] * fade + all;
#pragma unroll
                for (int i = 0; i < DIM / 8; i++) { o[i][2 * r] *= fade; o[i][2 * r + 1] *= fade; }
                /* After the sum: dropout applies to probabilities, whose sum is of all keys. */
                if (m.bits && mine + 8 * r < q.n) {
                    uint64_t bits =
                        *(const uint64_t *)(m.bits +
                                            ((size_t)(q.at + mine + 8 * r) * g.heads + p.h) *
                                                m.across +
                                            turn * (KEYS / 8));
                    uint32_t kept[2] = { (uint32_t)bits >> (lane % 4 * 2),
                                         (uint32_t)(bits >> 32) >> (lane % 4 * 2) };
#pragma unroll
                    for (int i = 0; i < KEYS / 8; i++) {
                        s[i][2 * r] = kept[i / 4] >> (i % 4 * 8) & 1 ? s[i][2 * r] * m.keep : 0.0f;
                        s[i][2 * r + 1] =
                            kept[i / 4] >> (i % 4 * 8) & 2 ? s[i][2 * r + 1] * m.keep : 0.0f;
                    }
                }
            }
            /* mma and ldmatrix need all lanes at once; dropout's branches may have parted them. */
            __syncwarp();
            by_rows_of<DIM, KEYS>(o, s, tile_v + now);
        }
        /* Everyone has read these tiles: the next turn's copies overwrite them. */
        __syncthreads();
    }
    copies_wait<0>();
    if (!busy) return;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        /* A row's scores lie in four neighbouring lanes. */
        sum[r] += __shfl_xor_sync(0xffffffffu, sum[r], 1);
        sum[r] += __shfl_xor_sync(0xffffffffu, sum[r], 2);
        if (lse && lane % 4 == 0 && mine + 8 * r < q.n)
            lse[(size_t)(q.at + mine + 8 * r) * g.heads + p.h] =
                sum[r] != 0 ? top[r] * g.scale + log2f(sum[r]) / LOG2E : -INFINITY;
    }
    /* A row that sees no key is 0. */
    store_rows<DIM>(O + (size_t)q.at * g.ldo + p.h * DIM, g.ldo, p.first + row, q.n, o,
                    sum[0] != 0 ? 1 / sum[0] : 0.0f, sum[1] != 0 ? 1 / sum[1] : 0.0f);
}

/* --- backward: dQ, with P and dP = m (dO V^T) computed again, dS = P (dP - delta) scale,
 * dQ = dS K */

/* Three blocks an SM and not four, at which it would spill 4 bytes. */
template <int DIM> static __global__ void __launch_bounds__(THREADS, DIM <= 64 ? 3 : 2)
    backward_queries(bf16 *dQ, const bf16 *dO, const bf16 *Q, const bf16 *K, const bf16 *V,
                     const float *lse, const float *delta, kern_attn g, attn_mask m, int tiles)
{
    /* 32 keys, half of the forward pass's: scores and dP are both in registers. */
    enum { KEYS = 32, TILE = KEYS * tile_of<DIM>::stride };
    DYNAMIC_SHARED(room);
    place p = place_of(g.heads, tiles);
    side q = { g.q_at[p.b], g.q_len[p.b] }, k = { g.k_at[p.b], g.k_len[p.b] };
    if (p.first >= q.n) return;
    bf16 *tile_q = (bf16 *)room, *tile_d = tile_q + OWN * tile_of<DIM>::stride,
         *tile_k = tile_d + OWN * tile_of<DIM>::stride, *tile_v = tile_k + 2 * TILE;
    Q += (size_t)q.at * g.ldq + p.h * DIM;
    dO += (size_t)q.at * g.ldo + p.h * DIM;
    K += (size_t)k.at * g.ldk + p.h * DIM;
    V += (size_t)k.at * g.ldv + p.h * DIM;
    int lane = (int)threadIdx.x % 32, row = (int)threadIdx.x / 32 * WARP_ROWS,
        mine = p.first + row + lane / 4;
    int last = p.first + OWN < q.n ? p.first + OWN - 1 : q.n - 1,
        keys = attn_visible(g, q.n, k.n, last), turns = (keys + KEYS - 1) / KEYS;
    bool busy = p.first + row < q.n;
    float dq[DIM / 8][4], of[2], less[2], scale = g.scale * LOG2E;
    int sees[2];
    zero(dq[0], DIM / 2);
    /* Rows that are not there get finite numbers; what comes of them is not stored. */
#pragma unroll
    for (int r = 0; r < 2; r++) {
        bool there = mine + 8 * r < q.n;
        size_t at = (size_t)(q.at + (there ? mine + 8 * r : 0)) * g.heads + p.h;
        sees[r] = there ? attn_visible(g, q.n, k.n, mine + 8 * r) : 0;
        of[r] = there ? lse[at] * LOG2E : 0.0f;
        less[r] = there ? delta[at] : 0.0f;
    }
    fetch_both<DIM, OWN>(tile_q, Q, g.ldq, tile_d, dO, g.ldo, p.first, q.n);
    if (turns > 0) fetch_both<DIM, KEYS>(tile_k, K, g.ldk, tile_v, V, g.ldv, 0, k.n);
    copies_commit();
    for (int turn = 0; turn < turns; turn++) {
        int now = turn % 2 * TILE, next = TILE - now;
        if (turn + 1 < turns)
            fetch_both<DIM, KEYS>(tile_k + next, K, g.ldk, tile_v + next, V, g.ldv,
                                  (turn + 1) * KEYS, k.n);
        copies_commit();
        copies_wait<1>();
        __syncthreads();
        if (busy) {
            float s[KEYS / 8][4], d[KEYS / 8][4];
            zero(s[0], KEYS / 2);
            zero(d[0], KEYS / 2);
            rows_by_rows<DIM, KEYS>(s, tile_q, row, tile_k + now);
            rows_by_rows<DIM, KEYS>(d, tile_d, row, tile_v + now);
            uint32_t kept[2] = { ~0u, ~0u };
            if (m.bits)
#pragma unroll
                for (int r = 0; r < 2; r++)
                    if (mine + 8 * r < q.n)
                        kept[r] =
                            *(const uint32_t *)(m.bits +
                                                ((size_t)(q.at + mine + 8 * r) * g.heads + p.h) *
                                                    m.across +
                                                turn * (KEYS / 8)) >>
                            (lane % 4 * 2);
#pragma unroll
            for (int i = 0; i < KEYS / 8; i++)
#pragma unroll
                for (int e = 0; e < 4; e++) {
                    int r = e / 2;
                    float by = kept[r] >> (i * 8 + e % 2) & 1 ? m.keep : 0.0f,
                          x = power2(fmaf(s[i][e], scale, -of[r])) * (by * d[i][e] - less[r]) *
                              g.scale;
                    s[i][e] = turn * KEYS + i * 8 + lane % 4 * 2 + e % 2 < sees[r] ? x : 0.0f;
                }
            /* As in the forward pass: all lanes before ldmatrix and mma. */
            __syncwarp();
            by_rows_of<DIM, KEYS>(dq, s, tile_k + now);
        }
        /* As in the forward pass: the next turn's copies overwrite these tiles. */
        __syncthreads();
    }
    copies_wait<0>();
    if (busy)
        store_rows<DIM>(dQ + (size_t)q.at * g.ldq + p.h * DIM, g.ldq, p.first + row, q.n, dq, 1, 1);
}

/* --- backward: dK = dS^T Q, dV = (m P)^T dO, with keys as rows -------------------------------- */

template <int DIM> static __global__ void __launch_bounds__(THREADS)
    backward_keys(bf16 *dK, bf16 *dV, const bf16 *dO, const bf16 *Q, const bf16 *K, const bf16 *V,
                  const float *lse, const float *delta, kern_attn g, attn_mask m, int tiles)
{
    enum { QUERIES = 32, TILE = QUERIES * tile_of<DIM>::stride };
    DYNAMIC_SHARED(room);
    place p = place_of(g.heads, tiles);
    side q = { g.q_at[p.b], g.q_len[p.b] }, k = { g.k_at[p.b], g.k_len[p.b] };
    if (p.first >= k.n) return;
    bf16 *tile_k = (bf16 *)room, *tile_v = tile_k + OWN * tile_of<DIM>::stride,
         *tile_q = tile_v + OWN * tile_of<DIM>::stride, *tile_d = tile_q + 2 * TILE;
    /* [2][2][QUERIES]: lse, in powers of two, and delta of the queries in either tile. */
    float *stats = (float *)(tile_d + 2 * TILE);
    Q += (size_t)q.at * g.ldq + p.h * DIM;
    dO += (size_t)q.at * g.ldo + p.h * DIM;
    K += (size_t)k.at * g.ldk + p.h * DIM;
    V += (size_t)k.at * g.ldv + p.h * DIM;
    int lane = (int)threadIdx.x % 32, row = (int)threadIdx.x / 32 * WARP_ROWS,
        mine = p.first + row + lane / 4;
    /* Queries before see none of these keys. */
    int begin = g.causal ? p.first - (k.n - q.n) : 0;
    begin = begin > 0 ? begin / QUERIES * QUERIES : 0;
    int turns = q.n > begin ? (q.n - begin + QUERIES - 1) / QUERIES : 0;
    bool busy = p.first + row < k.n;
    float dk[DIM / 8][4], dv[DIM / 8][4], scale = g.scale * LOG2E;
    int tid = (int)threadIdx.x;
    /* One of a thread, of the first 2 QUERIES of them; query: the tile's first. */
    auto stat = [&](int query) {
        query += tid % QUERIES;
        size_t at = (size_t)(q.at + query) * g.heads + p.h;
        return tid >= 2 * QUERIES || query >= q.n ? 0.0f
               : tid < QUERIES                    ? lse[at] * LOG2E
                                                  : delta[at];
    };
    zero(dk[0], DIM / 2);
    zero(dv[0], DIM / 2);
    fetch_both<DIM, OWN>(tile_k, K, g.ldk, tile_v, V, g.ldv, p.first, k.n);
    if (turns > 0) fetch_both<DIM, QUERIES>(tile_q, Q, g.ldq, tile_d, dO, g.ldo, begin, q.n);
    copies_commit();
    if (tid < 2 * QUERIES) stats[tid] = stat(begin);
    for (int turn = 0; turn < turns; turn++) {
        int now = turn % 2 * TILE, next = TILE - now, first = begin + turn * QUERIES;
        const float *of_now = stats + turn % 2 * 2 * QUERIES;
        /* Read before this turn's products and stored after them, so that nothing waits for
         * it. */
        float ahead = stat(first + QUERIES);
        if (turn + 1 < turns)
            fetch_both<DIM, QUERIES>(tile_q + next, Q, g.ldq, tile_d + next, dO, g.ldo,
                                     first + QUERIES, q.n);
        copies_commit();
        copies_wait<1>();
        __syncthreads();
        if (busy) {
            float s[QUERIES / 8][4], d[QUERIES / 8][4];
            zero(s[0], QUERIES / 2);
            zero(d[0], QUERIES / 2);
            rows_by_rows<DIM, QUERIES>(s, tile_k, row, tile_q + now);
            rows_by_rows<DIM, QUERIES>(d, tile_v, row, tile_d + now);
#pragma unroll
            for (int i = 0; i < QUERIES / 8; i++)
#pragma unroll
                for (int c = 0; c < 2; c++) {
                    int at = i * 8 + lane % 4 * 2 + c, query = first + at,
                        sees = query < q.n ? attn_visible(g, q.n, k.n, query) : 0;
                    float of = of_now[at], less = of_now[QUERIES + at];
                    /* Bit 0: of the first of the thread's keys, bit 8: of the other. */
                    uint32_t kept = ~0u;
                    if (m.bits && query < q.n)
                        kept = (uint32_t) *
                                   (const uint16_t *)(m.bits +
                                                      ((size_t)(q.at + query) * g.heads + p.h) *
                                                          m.across +
                                                      (p.first + row) / 8) >>
                               (lane / 4);
#pragma unroll
                    for (int e = c; e < 4; e += 2) {
                        bool seen = mine + e / 2 * 8 < sees;
                        float prob = power2(fmaf(s[i][e], scale, -of)),
                              by = kept >> (e / 2 * 8) & 1 ? m.keep : 0.0f;
                        s[i][e] = seen ? by * prob : 0.0f;
                        d[i][e] = seen ? prob * (by * d[i][e] - less) * g.scale : 0.0f;
                    }
                }
            __syncwarp();
            by_rows_of<DIM, QUERIES>(dv, s, tile_d + now);
            by_rows_of<DIM, QUERIES>(dk, d, tile_q + now);
        }
        if (tid < 2 * QUERIES) stats[(1 - turn % 2) * 2 * QUERIES + tid] = ahead;
        __syncthreads();
    }
    copies_wait<0>();
    if (!busy) return;
    store_rows<DIM>(dK + (size_t)k.at * g.ldk + p.h * DIM, g.ldk, p.first + row, k.n, dk, 1, 1);
    store_rows<DIM>(dV + (size_t)k.at * g.ldv + p.h * DIM, g.ldv, p.first + row, k.n, dv, 1, 1);
}

/* --- backward of sentences that fit: a block a head of a sentence of more than `shorter` and at
 * most ROWS queries or keys, a warp 16 or 32 of its queries. Q, dO, K and V of the head are in
 * shared memory as a whole. Keys come a tile at a time; P and dS of all queries to them go into
 * shared memory, and from there the warps, 16 or 32 keys by 32 columns each, make
 * dV = (m P)^T dO and dK = dS^T Q. dQ stays in registers. Every product is made once, every sum
 * has one order. */

template <int DIM, int ROWS> struct whole {
    /* Strips of 16 queries a warp has. Two: half as many loads of keys and values from shared
     * memory, which bounds 256 rows (an H100: 0.302 ms a layer of 64 x 256, 0.327 with one);
     * shorter sentences were not tried with it. */
    static const int by = ROWS > 128 && DIM <= 64 ? 2 : 1;
    static const int threads = 2 * ROWS / by, keys = ROWS > 128 ? 64 : 32, stride = keys + 8,
                     tiles = ROWS / keys;
    static const size_t bytes =
        ((size_t)4 * ROWS * tile_of<DIM>::stride + (size_t)2 * ROWS * stride) * sizeof(bf16);
    static const bool fits = bytes <= (size_t)227 << 10;        /* on any device */
};

/* Rows row and row + 8 of C tiles, rounded, into a tile of pairs. */
template <int N, int STRIDE>
static __device__ __forceinline__ void keep_rows(bf16 *tile, int row, int col, const float (*c)[4])
{
    int lane = (int)threadIdx.x % 32;
    bf16 *to = tile + (row + lane / 4) * STRIDE + col + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < N / 8; i++) {
        *(uint32_t *)(to + i * 8) = pair_of(c[i][0], c[i][1]);
        *(uint32_t *)(to + 8 * STRIDE + i * 8) = pair_of(c[i][2], c[i][3]);
    }
}

/* c[x] += rows row + 16 x .. of `of` by the rows 0 .. 31 of y, transposed; o[x] += P[x] by the rows
 * 0 .. 31 of y. What is loaded of y serves all BY strips. */
template <int DIM, int BY>
static __device__ __forceinline__ void strips_by_rows(float (*c)[4][4], const bf16 *of, int row,
                                                      const bf16 *y)
{
#pragma unroll
    for (int k = 0; k < DIM; k += 16) {
        uint32_t a[BY][4], b[4];
#pragma unroll
        for (int x = 0; x < BY; x++) load_a<DIM>(a[x], of, row + 16 * x, k);
#pragma unroll
        for (int i = 0; i < 2; i++) {
            load_b<DIM>(b, y, i * 16, k);
#pragma unroll
            for (int x = 0; x < BY; x++) {
                mma(c[x][2 * i], a[x], b);
                mma(c[x][2 * i + 1], a[x], b + 2);
            }
        }
    }
}
template <int DIM, int BY>
static __device__ __forceinline__ void by_strips_of(float (*o)[DIM / 8][4], float (*P)[4][4],
                                                    const bf16 *y)
{
#pragma unroll
    for (int k = 0; k < 2; k++) {
        uint32_t a[BY][4], b[4];
#pragma unroll
        for (int x = 0; x < BY; x++) a_of(a[x], P[x][2 * k], P[x][2 * k + 1]);
#pragma unroll
        for (int i = 0; i < DIM / 16; i++) {
            load_b_rows<DIM>(b, y, k * 16, i * 16);
#pragma unroll
            for (int x = 0; x < BY; x++) {
                mma(o[x][2 * i], a[x], b);
                mma(o[x][2 * i + 1], a[x], b + 2);
            }
        }
    }
}

template <int DIM, int ROWS, bool CAUSAL, bool DROPS>
static __global__ void __launch_bounds__(whole<DIM, ROWS>::threads,
                                         ROWS > 128 || DIM > 64 ? 1 : 2)
    backward_whole(bf16 *dQ, bf16 *dK, bf16 *dV, const bf16 *dO, const bf16 *O, const bf16 *Q,
                   const bf16 *K, const bf16 *V, const float *lse, kern_attn g, attn_mask m,
                   int shorter)
{
    typedef whole<DIM, ROWS> W;
    enum { BY = W::by, WARPS = ROWS / 16 / BY, ACROSS = DIM / 32,
           UNITS = 2 * W::keys / 16 / BY * ACROSS };
    DYNAMIC_SHARED(room);
    int b = (int)blockIdx.x / g.heads, h = (int)blockIdx.x % g.heads;
    side q = { g.q_at[b], g.q_len[b] }, k = { g.k_at[b], g.k_len[b] };
    int longest = q.n > k.n ? q.n : k.n;
    if (longest <= shorter || longest > ROWS) return;   /* another launch's */
    bf16 *tile_q = (bf16 *)room, *tile_d = tile_q + ROWS * tile_of<DIM>::stride,
         *tile_k = tile_d + ROWS * tile_of<DIM>::stride,
         *tile_v = tile_k + ROWS * tile_of<DIM>::stride,
         *tile_p = tile_v + ROWS * tile_of<DIM>::stride, *tile_s = tile_p + ROWS * W::stride;
    size_t q_from = (size_t)q.at * g.ldq + h * DIM, o_from = (size_t)q.at * g.ldo + h * DIM,
           k_from = (size_t)k.at * g.ldk + h * DIM, v_from = (size_t)k.at * g.ldv + h * DIM;
    fetch<DIM, ROWS, W::threads>(tile_q, Q + q_from, g.ldq, 0, q.n);
    fetch<DIM, ROWS, W::threads>(tile_d, dO + o_from, g.ldo, 0, q.n);
#pragma unroll
    for (int i = 0; i < W::tiles; i++) {    /* the later tiles come while the first are worked on */
        int from = i * W::keys, to = from * tile_of<DIM>::stride;
        fetch<DIM, W::keys, W::threads>(tile_k + to, K + k_from, g.ldk, from, k.n);
        fetch<DIM, W::keys, W::threads>(tile_v + to, V + v_from, g.ldv, from, k.n);
        copies_commit();
    }
    int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32, row = warp * 16 * BY,
        mine = row + lane / 4, steps = (q.n + 15) / 16;
    bool busy = row < q.n;
    float of[2 * BY], less[2 * BY], dq[BY][DIM / 8][4], scale = g.scale * LOG2E;
    int sees[2 * BY], on = 8 * g.heads * m.across;
    const uint8_t *bits =
        DROPS ? m.bits + ((size_t)(q.at + (mine < q.n ? mine : 0)) * g.heads + h) * m.across : NULL;
#pragma unroll
    for (int x = 0; x < BY; x++) {
        /* delta = dO . O, two lanes a row: in this kernel, so that none is launched for it. */
        float sum = 0;
        int own = row + 16 * x + lane / 2;
        if (own < q.n) {
            size_t at = o_from + (size_t)own * g.ldo + lane % 2 * (DIM / 2);
#pragma unroll
            for (int c = 0; c < DIM / 2; c += 8) {
                eight y = load8<true>(dO + at + c, 8), z = load8<true>(O + at + c, 8);
#pragma unroll
                for (int i = 0; i < 8; i++) sum += y.x[i] * z.x[i];
            }
        }
        sum += __shfl_xor_sync(0xffffffffu, sum, 1);
#pragma unroll
        for (int r = 2 * x; r < 2 * x + 2; r++) {
            bool there = mine + 8 * r < q.n;
            size_t at = (size_t)(q.at + (there ? mine + 8 * r : 0)) * g.heads + h;
            less[r] = __shfl_sync(0xffffffffu, sum, (lane / 4 + 8 * (r % 2)) * 2);
            of[r] = there ? lse[at] * LOG2E : 0.0f;
            sees[r] = !there ? 0 : CAUSAL ? attn_visible(g, q.n, k.n, mine + 8 * r) : k.n;
        }
        zero(dq[x][0], DIM / 2);
    }
    /* Q, dO and the first keys and values are there; the later ones may still be under way. */
    copies_wait<W::tiles - 1>();
    __syncthreads();
    for (int first = 0; first < k.n; first += W::keys) {
#pragma unroll
        for (int at = 0; at < W::keys; at += 32) {
            if (!busy || first + at >= k.n) continue;
            const bf16 *keys = tile_k + (first + at) * tile_of<DIM>::stride,
                       *values = tile_v + (first + at) * tile_of<DIM>::stride;
            float s[BY][4][4], d[BY][4][4];
            /* 32 keys: four bytes of the row's bits. */
            uint32_t kept[2 * BY];
#pragma unroll
            for (int r = 0; r < 2 * BY; r++)
                kept[r] = DROPS && mine + 8 * r < q.n
                              ? *(const uint32_t *)(bits + r * on + (first + at) / 8) >>
                                    (lane % 4 * 2)
                              : ~0u;
            zero(s[0][0], 16 * BY);
            zero(d[0][0], 16 * BY);
            strips_by_rows<DIM, BY>(s, tile_q, row, keys);
            strips_by_rows<DIM, BY>(d, tile_d, row, values);
#pragma unroll
            for (int x = 0; x < BY; x++) {
#pragma unroll
                for (int i = 0; i < 4; i++)
#pragma unroll
                    for (int e = 0; e < 4; e++) {
                        int r = 2 * x + e / 2;
                        float p = power2(fmaf(s[x][i][e], scale, -of[r]));
                        if (first + at + i * 8 + lane % 4 * 2 + e % 2 >= sees[r]) p = 0;
                        float by =
                            !DROPS ? 1.0f : kept[r] >> (i * 8 + e % 2) & 1 ? m.keep : 0.0f;
                        d[x][i][e] = p * (by * d[x][i][e] - less[r]);
                        s[x][i][e] = p * by;
                    }
                keep_rows<32, W::stride>(tile_p, row + 16 * x, at, s[x]);
                keep_rows<32, W::stride>(tile_s, row + 16 * x, at, d[x]);
            }
            by_strips_of<DIM, BY>(dq, d, keys);
        }
        /* P and dS of all warps are in shared memory. */
        __syncthreads();
        for (int unit = warp; unit < UNITS; unit += WARPS) {
            bool of_keys = unit >= UNITS / 2;
            int own = unit % (UNITS / 2) / ACROSS * 16 * BY, col = unit % ACROSS * 32;
            if (first + own >= k.n) continue;
            const bf16 *left = of_keys ? tile_s : tile_p, *right = of_keys ? tile_q : tile_d;
            float c[BY][4][4];
            zero(c[0][0], 16 * BY);
            /* Queries before see none of these keys. */
            int from = CAUSAL && first + own > k.n - q.n ? (first + own - (k.n - q.n)) / 16 : 0;
            for (int step = from; step < steps; step++) {
                uint32_t a[BY][4], x[4], y[4];
                /* The tiles hold queries by keys; ldmatrix transposes them on the way. */
#pragma unroll
                for (int i = 0; i < BY; i++)
                    load_a_rows<W::stride>(a[i], left, step * 16, own + 16 * i);
                load_b_rows<DIM>(x, right, step * 16, col);
                load_b_rows<DIM>(y, right, step * 16, col + 16);
#pragma unroll
                for (int i = 0; i < BY; i++) {
                    mma(c[i][0], a[i], x);
                    mma(c[i][1], a[i], x + 2);
                    mma(c[i][2], a[i], y);
                    mma(c[i][3], a[i], y + 2);
                }
            }
            /* dS lacks its factor `scale`, which is applied to the sums: once per result. */
            float by = of_keys ? g.scale : 1.0f;
            bf16 *to = of_keys ? dK + k_from : dV + v_from;
#pragma unroll
            for (int i = 0; i < BY; i++)
                store_rows<32>(to + col, of_keys ? g.ldk : g.ldv, first + own + 16 * i, k.n, c[i],
                               by, by);
        }
        /* As many groups as there are tiles not yet needed may stay under way. */
        if (W::tiles > 2 && first == 0) copies_wait<W::tiles - 2>();
        else if (W::tiles > 3 && first == W::keys) copies_wait<1>();
        else copies_wait<0>();
        __syncthreads();
    }
    copies_wait<0>();                       /* a sentence of no keys leaves some under way */
    if (!busy) return;
#pragma unroll
    for (int x = 0; x < BY; x++)
        store_rows<DIM>(dQ + q_from, g.ldq, row + 16 * x, q.n, dq[x], g.scale, g.scale);
}

/* --- launches --------------------------------------------------------------------------------- */

static bool suits(const struct kern_attn *g, const void *a, const void *b, const void *c,
                  const void *d, const void *e, const void *f)
{
    bool dims = g->dim == 32 || g->dim == 64 || g->dim == 96 || g->dim == 128;
    /* forward's tiles, the larger ones */
    size_t most = (size_t)(OWN + 4 * 64) * (size_t)(g->dim + 8) * sizeof(bf16);
    /* A tile's rows are copied at a constant distance, which keys that lie at any rows do not
     * have. */
    return cuda.bf16 && !g->k_row && dims && most <= cuda.shared_most &&
           whole8((size_t)g->dim, a, b, c, d, e, f) && g->ldq % 8 == 0 && g->ldk % 8 == 0 &&
           g->ldv % 8 == 0 && g->ldo % 8 == 0;
}

template <int DIM> static constexpr size_t tile_bytes(int rows)
{
    return (size_t)rows * tile_of<DIM>::stride * sizeof(bf16);
}

template <int DIM> static void run_forward(act *O, float *lse, const act *Q, const act *K,
                                           const act *V, const struct kern_attn *g,
                                           const struct attn_mask *m)
{
    size_t bytes = tile_bytes<DIM>(OWN + 4 * 64);
    /* More than 48 KiB of shared memory must be requested for each kernel by its name. */
    static bool asked;
    if (!asked)
        asked =
            !cuda_failed(cudaFuncSetAttribute(
                             forward<DIM>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes),
                         "attention's shared memory");
    int tiles = (g->max_q + OWN - 1) / OWN;
    LAUNCH(forward<DIM>, (unsigned)(g->batch * g->heads * tiles), THREADS, bytes, (bf16 *)O, lse,
           (const bf16 *)Q, (const bf16 *)K, (const bf16 *)V, *g, *m, tiles);
}

bool flash_fwd(act *O, float *lse, const act *Q, const act *K, const act *V,
               const struct kern_attn *g, const struct attn_mask *m)
{
    if (!suits(g, O, Q, K, V, NULL, NULL)) return false;
    (g->dim == 32   ? run_forward<32>
     : g->dim == 64 ? run_forward<64>
     : g->dim == 96 ? run_forward<96>
                    : run_forward<128>)(O, lse, Q, K, V, g, m);
    return true;
}

template <int DIM> static void run_backward(act *dQ, act *dK, act *dV, const act *dO, const act *Q,
                                            const act *K, const act *V, const float *lse,
                                            const float *delta, const struct kern_attn *g,
                                            const struct attn_mask *m)
{
    /* backward_keys: of its tiles' queries two numbers each */
    size_t bytes = tile_bytes<DIM>(2 * OWN + 4 * 32) + 4 * 32 * sizeof(float);
    static bool asked;
    if (!asked)
        asked = !cuda_failed(cudaFuncSetAttribute(backward_queries<DIM>,
                                                  cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                  (int)bytes),
                             "attention's shared memory") &&
                !cuda_failed(cudaFuncSetAttribute(backward_keys<DIM>,
                                                  cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                  (int)bytes),
                             "attention's shared memory");
    int tiles = (g->max_q + OWN - 1) / OWN;
    if (tiles > 0)
        LAUNCH(backward_queries<DIM>, (unsigned)(g->batch * g->heads * tiles), THREADS, bytes,
               (bf16 *)dQ, (const bf16 *)dO, (const bf16 *)Q, (const bf16 *)K, (const bf16 *)V, lse,
               delta, *g, *m, tiles);
    tiles = (g->max_k + OWN - 1) / OWN;
    if (tiles > 0)
        LAUNCH(backward_keys<DIM>, (unsigned)(g->batch * g->heads * tiles), THREADS, bytes,
               (bf16 *)dK, (bf16 *)dV, (const bf16 *)dO, (const bf16 *)Q, (const bf16 *)K,
               (const bf16 *)V, lse, delta, *g, *m, tiles);
}

template <int DIM, int ROWS, bool CAUSAL, bool DROPS>
static bool start_whole(const struct kern_attn_bwd *a, const struct attn_mask *m, int shorter)
{
    size_t bytes = whole<DIM, ROWS>::bytes;
    static bool asked;
    if (!asked)
        asked = !cuda_failed(cudaFuncSetAttribute(backward_whole<DIM, ROWS, CAUSAL, DROPS>,
                                                  cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                  (int)bytes),
                             "attention's shared memory");
    LAUNCH((backward_whole<DIM, ROWS, CAUSAL, DROPS>), (unsigned)(a->g->batch * a->g->heads),
           (whole<DIM, ROWS>::threads), bytes, (bf16 *)a->dQ, (bf16 *)a->dK, (bf16 *)a->dV,
           (const bf16 *)a->dO,
           (const bf16 *)a->O, (const bf16 *)a->Q, (const bf16 *)a->K, (const bf16 *)a->V, a->lse,
           *a->g, *m, shorter);
    return true;
}

/* The sentences of up to ROWS queries and keys, those of no more than `shorter` left out; false:
 * the device has not enough shared memory. */
template <int DIM, int ROWS>
static bool by_kind(const struct kern_attn_bwd *a, const struct attn_mask *m, int shorter)
{
    /* What no device could hold is not even compiled. */
    if constexpr (whole<DIM, ROWS>::fits)
        if (whole<DIM, ROWS>::bytes <= cuda.shared_most)
            return a->g->causal ? m->bits ? start_whole<DIM, ROWS, true, true>(a, m, shorter)
                                          : start_whole<DIM, ROWS, true, false>(a, m, shorter)
                   : m->bits    ? start_whole<DIM, ROWS, false, true>(a, m, shorter)
                                : start_whole<DIM, ROWS, false, false>(a, m, shorter);
    return false;
}

/* Sentences in three classes of length, a launch a class: a block of a longer class would be idle
 * for most of a short sentence. The largest class first, whose answer is for all. */
template <int DIM> static bool by_length(const struct kern_attn_bwd *a, const struct attn_mask *m)
{
    int most = a->g->max_q > a->g->max_k ? a->g->max_q : a->g->max_k;
    if (most > 256 || (most > 128 && !by_kind<DIM, 256>(a, m, 128)) ||
        (most > 64 && !by_kind<DIM, 128>(a, m, 64)))
        return false;
    return by_kind<DIM, 64>(a, m, -1);
}

bool flash_bwd_whole(const struct kern_attn_bwd *a, const struct attn_mask *m)
{
    const struct kern_attn *g = a->g;
    if (!a->dQ || !a->dK || !a->dV || !suits(g, a->dO, a->Q, a->K, a->V, a->dQ, a->dK) ||
        !whole8(8, a->dV, a->O))
        return false;
    return (g->dim == 32   ? by_length<32>
            : g->dim == 64 ? by_length<64>
            : g->dim == 96 ? by_length<96>
                           : by_length<128>)(a, m);
}

bool flash_bwd(act *dQ, act *dK, act *dV, const act *dO, const act *Q, const act *K, const act *V,
               const float *lse, const float *delta, const struct kern_attn *g,
               const struct attn_mask *m)
{
    if (!dQ || !dK || !dV || !suits(g, dO, Q, K, V, dQ, dK) || !whole8(8, dV)) return false;
    (g->dim == 32   ? run_backward<32>
     : g->dim == 64 ? run_backward<64>
     : g->dim == 96 ? run_backward<96>
                    : run_backward<128>)(dQ, dK, dV, dO, Q, K, V, lse, delta, g, m);
    return true;
}
