/* Products in bfloat16 by AMX. Both matrices are rounded into tiles of 1 KiB, 16 rows or columns by
 * 32 of what is summed over: B before anything else, A as its rows' turn comes, so that its copy
 * never leaves the cache. Sums of 32 rows by 32 columns are four tile registers.
 *
 * Matrices of acts may be in bfloat16 already (acts.h). Such a C is made in float32, a strip of
 * some rows and columns at a time, in the cache.
 *
 * Every element of C is one chain of sums over k, whatever the tiles of the pool are. */
#if defined __x86_64__
#include "kernels/linalg/products.h"
#include <string.h>
#include "common/thread.h"
#include "kernels/linalg/amx.h"
#include "kernels/linalg/simd.h"
#include "kernels/linalg/transpose.h"
#include "kernels/linalg/work.h"

/* PIECE: with 256 or 512 products had 0.8 to 1.0 times the speed, because C is read and stored
 * more often. AHEAD: 4% of a step at D = 256. */
enum {
    HALF = AMX_ROWS,  /* rows or columns of a tile */
    SIDE = 2 * HALF,  /* of a block of sums */
    DEPTH = 32,       /* what a tile sums over */
    TILE = HALF * DEPTH,
    PIECE = 1024,     /* what is summed over before C is stored: a block of B and a group of rows
                       * of A stay in the second cache */
    GROUP = 128,
    AHEAD = 4,        /* rows of C that are fetched before they are written */
    STRIP = 256,      /* columns of C in float32, where it is in bfloat16 */
};

/* --- tiles ------------------------------------------------------------------------------------ */

/* 32 floats, of which some are there, as bfloat16: pairs in the places of 16 floats. */
static inline __m512 rounded(const float *low, __mmask16 low_there, const float *high,
                              __mmask16 high_there)
{
    return (__m512)_mm512_cvtne2ps_pbh(_mm512_maskz_loadu_ps(high_there, high),
                                       _mm512_maskz_loadu_ps(low_there, low));
}

/* A matrix as it is stored: `along` says that k is what goes along its rows, ld apart; half: in
 * bfloat16. */
struct stored { const void *x; size_t ld; bool along, half; int n, k; };

static inline __mmask32 first_words(int n)
{
    return n >= 32 ? 0xffffffff : n <= 0 ? 0 : (1u << n) - 1;
}

/* 16 numbers of each of two rows, of which some are there, in the same form. */
static inline __m512 halves(const uint16_t *low, __mmask16 low_there, const uint16_t *high,
                            __mmask16 high_there)
{
    __m512i both = _mm512_castsi256_si512(_mm256_maskz_loadu_epi16(low_there, low));
    return (__m512)_mm512_inserti64x4(both, _mm256_maskz_loadu_epi16(high_there, high), 1);
}

static inline __m512 along_row(const struct stored *s, size_t at, int depth)
{
    const float *x = (const float *)s->x + at;
    if (s->half)
        return (__m512)_mm512_maskz_loadu_epi16(first_words(depth), (const uint16_t *)s->x + at);
    return rounded(x, first_lanes(depth), x + 16, first_lanes(depth - 16));
}

static inline __m512 across_rows(const struct stored *s, size_t at, __mmask16 low, __mmask16 high)
{
    const float *x = (const float *)s->x + at;
    const uint16_t *h = (const uint16_t *)s->x + at;
    return s->half ? halves(h, low, h + s->ld, high) : rounded(x, low, x + s->ld, high);
}

/* The tile from (i, k): pairs along k, [16][16 pairs] for A, [16 pairs][16] for B (`columns`).
 * Where there is nothing, zeros. */
static void pack_tile(uint16_t *to, const struct stored *s, int i, int k, bool columns)
{
    int n = s->n - i, depth = s->k - k;
    /* Words of the low and the high row in turn: AMX multiplies pairs that are neighbours along
     * k. */
    const __m512i alternate = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25,
                                               9, 24, 8, 23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2,
                                               17, 1, 16, 0);
    __m512 v[16];
    if (s->along) {
        size_t at = (size_t)i * s->ld + (size_t)k;
        UNROLL for (int r = 0; r < 16; r++, at += s->ld)
            v[r] = r < n ? along_row(s, at, depth) : _mm512_setzero_ps();
    } else {
        size_t at = (size_t)k * s->ld + (size_t)i;
        UNROLL for (int p = 0; p < 16; p++, at += 2 * s->ld) {
            __mmask16 low = 2 * p < depth ? first_lanes(n) : 0,
                      high = 2 * p + 1 < depth ? first_lanes(n) : 0;
            v[p] = (__m512)_mm512_permutexvar_epi16(
                alternate, (__m512i)across_rows(s, at, low, high));
        }
    }
    /* A's tiles have k along their rows and B's across them, so that of the four ways in which
     * the two can be stored, two need one transposition of 16 x 16 pairs and two need none. */
    if (s->along == columns) transpose16(v);
    UNROLL for (int r = 0; r < 16; r++) _mm512_store_ps(to + r * DEPTH, v[r]);
}

/* Blocks of 32 rows or columns [i0, i1) over [k0, k1), each [k / 32][2] tiles, `stride` numbers
 * from one to the next: in the order in which they are stored. */
static void pack(uint16_t *to, size_t stride, const struct stored *s, int i0, int i1, int k0,
                 int k1, bool columns)
{
    int blocks = (i1 - i0 + SIDE - 1) / SIDE, steps = (k1 - k0 + DEPTH - 1) / DEPTH;
    /* Neither packing whole tiles without masks nor fetching ahead here gained anything:
     * rounding waits for memory, not for instructions. */
    for (int n = 0; n < blocks * steps; n++) {
        int b = s->along ? n / steps : n % blocks, step = s->along ? n % steps : n / blocks;
        uint16_t *here = to + (size_t)b * stride + (size_t)step * 2 * TILE;
        for (int half = 0; half < 2; half++)
            pack_tile(here + half * TILE, s, i0 + b * SIDE + half * HALF, k0 + step * DEPTH,
                      columns);
    }
}

/* --- products --------------------------------------------------------------------------------- */

struct job {
    struct stored a, b;
    uint16_t *A, *B;            /* packed; A NULL: packed by the tiles of the pool */
    bool add, half;             /* half: C is in bfloat16 */
    void *C;
    size_t ldc;
    int K, steps;               /* steps: of 32 along k */
    struct gemm_tiles tiles;
    gemm_then *then;
    void *ctx;
};

/* Elements of a packed block of all of K. */
static size_t block_size(const struct job *j) { return (size_t)j->steps * 2 * TILE; }

/* C [32, 32] = or += a b over `steps` pairs of tiles of each. */
static void multiply(float *C, size_t ldc, const uint16_t *a, const uint16_t *b, int steps,
                     bool add)
{
    size_t stride = ldc * sizeof *C;
    float *below = C + HALF * ldc;
    if (add) {
        AMX_LOAD(0, C, stride);
        AMX_LOAD(1, C + HALF, stride);
        AMX_LOAD(2, below, stride);
        AMX_LOAD(3, below + HALF, stride);
    } else {
        AMX_ZERO_BLOCK();
        /* Rows of C are pages apart, so the hardware does not foresee what is stored next: 10 to
         * 12% of a step at D = 256, 5 to 9% at 512 and 1,024. */
        for (int r = 0; r < SIDE; r++) {
            __builtin_prefetch(C + (size_t)r * ldc, 1);
            __builtin_prefetch(C + (size_t)r * ldc + HALF, 1);
        }
    }
    for (int s = 0; s < steps; s++, a += 2 * TILE, b += 2 * TILE) AMX_BLOCK(AMX_BF16, a, b, TILE);
    AMX_STORE(C, stride, 0);
    AMX_STORE(C + HALF, stride, 1);
    AMX_STORE(below, stride, 2);
    AMX_STORE(below + HALF, stride, 3);
}

static void copy(float *to, size_t to_ld, const float *from, size_t from_ld, int rows, int cols)
{
    for (int r = 0; r < rows; r++)
        memcpy(to + (size_t)r * to_ld, from + (size_t)r * from_ld, (size_t)cols * sizeof *to);
}

/* The same where C may end before the block does. */
static void block(float *C, size_t ldc, int rows, int cols, const uint16_t *a, const uint16_t *b,
                  int steps, bool add)
{
    if (rows >= SIDE && cols >= SIDE) {
        multiply(C, ldc, a, b, steps, add);
        return;
    }
    /* AMX stores whole tiles, which would write beyond the end of C. */
    _Alignas(64) float whole[SIDE * SIDE] = { 0 };
    rows = rows < SIDE ? rows : SIDE;
    cols = cols < SIDE ? cols : SIDE;
    if (add) copy(whole, SIDE, C, ldc, rows, cols);
    multiply(whole, SIDE, a, b, steps, add);
    copy(C, ldc, whole, SIDE, rows, cols);
}

/* Rows [r0, r1), at most a group, over [k0, k1) of what is summed over. */
struct group {
    const struct job *j;
    int r0, r1, k0, k1;
    const uint16_t *A;          /* packed, blocks `stride` from one to the next */
    size_t stride;
};

static struct group group_of(const struct job *j, int r0, int r1, int k0, int k1)
{
    struct group g = { j, r0, r1, k0, k1, NULL, block_size(j) };
    if (j->A) {
        g.A = j->A + (size_t)(r0 / SIDE) * g.stride + (size_t)(k0 / DEPTH) * 2 * TILE;
        return g;
    }
    /* Only as much of A as its turn needs: the copy is read while it is in the second cache. */
    g.stride = (size_t)((k1 - k0 + DEPTH - 1) / DEPTH) * 2 * TILE;
    uint16_t *room = work_scratch(SCRATCH_TILE, GROUP / SIDE * g.stride * sizeof *room);
    pack(room, g.stride, &j->a, r0, r1, k0, k1, false);
    g.A = room;
    return g;
}

/* Its columns [c0, c1); C: where (r0, c0) is. */
static void columns(const struct group *g, int c0, int c1, float *C, size_t ldc, bool add)
{
    const struct job *j = g->j;
    int steps = (g->k1 - g->k0 + DEPTH - 1) / DEPTH;
    /* All rows of the group use a block of B before the next block is touched. */
    for (int c = c0; c < c1; c += SIDE) {
        const uint16_t *b = j->B + (size_t)(c / SIDE) * block_size(j)
                            + (size_t)(g->k0 / DEPTH) * 2 * TILE;
        for (int r = g->r0; r < g->r1; r += SIDE)
            block(C + (size_t)(r - g->r0) * ldc + (c - c0), ldc, g->r1 - r, c1 - c,
                  g->A + (size_t)((r - g->r0) / SIDE) * g->stride, b, steps, add);
    }
}

/* Rows of a strip, rounded to where they belong; add: to what is there. */
static void put_rows(const struct job *j, float *strip, int r0, int r1, int c0, int c1)
{
    const struct simd *s = simd_choose();
    size_t n = (size_t)(c1 - c0);
    float there[STRIP];
    for (int r = r0; r < r1; r++, strip += STRIP) {
        uint16_t *c = (uint16_t *)j->C + (size_t)r * j->ldc + (size_t)c0;
        for (size_t i = 0; i < n; i += 32) __builtin_prefetch(c + AHEAD * j->ldc + i, 1);
        /* Added in float32 and rounded once. */
        if (j->add) {
            s->from_bf16(there, c, n);
            s->add(strip, there, n);
        }
        size_t i = 0;
        for (; i + 16 <= n; i += 16)
            _mm256_storeu_si256((void *)(c + i),
                                (__m256i)_mm512_cvtneps_pbh(_mm512_loadu_ps(strip + i)));
        s->to_bf16(c + i, strip + i, n - i);
    }
}

_Alignas(64) static const struct amx_shapes shapes = {
    .palette = 1,
    .bytes = { 64, 64, 64, 64, 64, 64, 64, 64 },
    .rows = { 16, 16, 16, 16, 16, 16, 16, 16 },
};

/* C in float32: a piece of what is summed over at a time. */
static void pieces(const struct job *j, int r0, int r1, int c0, int c1)
{
    float *C = (float *)j->C + (size_t)r0 * j->ldc + (size_t)c0;
    AMX_SHAPE(&shapes);
    for (int k = 0; k < j->K; k += PIECE) {
        struct group g = group_of(j, r0, r1, k, j->K - k < PIECE ? j->K : k + PIECE);
        columns(&g, c0, c1, C, j->ldc, j->add || k > 0);
    }
    AMX_RELEASE();
    if (j->then) j->then(j->ctx, C, j->ldc, r0, r1, c0, c1);
}

/* C in bfloat16: all of what is summed over, a strip of columns at a time. */
static void whole_sums(const struct job *j, int r0, int r1, int c0, int c1)
{
    struct group g = group_of(j, r0, r1, 0, j->K);
    float *strip = work_scratch(SCRATCH_STRIP, GROUP * STRIP * sizeof *strip);
    for (int c = c0, end; c < c1; c = end) {
        end = c1 - c < STRIP ? c1 : c + STRIP;
        AMX_SHAPE(&shapes);
        columns(&g, c, end, strip, STRIP, false);
        AMX_RELEASE();
        if (j->then) j->then(j->ctx, strip, STRIP, r0, r1, c, end);
        put_rows(j, strip, r0, r1, c, end);
    }
}

static int run_tile(void *ctx, size_t i, int thread)
{
    (void)thread;
    const struct job *j = ctx;
    struct gemm_tile t = gemm_tile(&j->tiles, i);
    for (int r = t.r0, end; r < t.r1; r = end) {
        end = t.r1 - r < GROUP ? t.r1 : r + GROUP;
        if (j->half) whole_sums(j, r, end, t.c0, t.c1);
        else pieces(j, r, end, t.c0, t.c1);
    }
    return 0;
}

/* All of A or B, to be packed over the pool. */
struct packing { const struct job *j; const struct stored *s; uint16_t *to; bool columns; };

/* Blocks [first, last), or steps along k where rows go the other way. */
static void pack_some(void *ctx, int first, int last)
{
    const struct packing *p = ctx;
    const struct stored *s = p->s;
    /* Cut along the matrix's rows as stored, whichever way k runs, so that each chunk reads
     * whole rows. */
    size_t size = block_size(p->j), at = (size_t)first;
    int end = s->along ? s->n : s->k, from = first * SIDE,
        to = last * SIDE < end ? last * SIDE : end;
    if (s->along) pack(p->to + at * size, size, s, from, to, 0, s->k, p->columns);
    else pack(p->to + at * 2 * TILE, size, s, 0, s->n, from, to, p->columns);
}

static int blocks(int n) { return (n + SIDE - 1) / SIDE; }

static uint16_t *packed(const struct job *j, const struct stored *s, int piece, bool columns)
{
    size_t bytes = (size_t)blocks(s->n) * block_size(j) * sizeof(uint16_t);
    struct packing p = { j, s, work_scratch(piece, bytes), columns };
    work_rows(blocks(s->along ? s->n : s->k), (size_t)(s->along ? s->k : s->n) * SIDE, pack_some,
             &p);
    return p.to;
}

static struct job job_of(bool ta, bool tb, int M, int N, int K, const void *A, int lda,
                         const void *B, int ldb, void *C, int ldc, unsigned half)
{
    return (struct job){
        .a = { A, (size_t)lda, !ta, half & GEMM_A, M, K },
        .b = { B, (size_t)ldb, tb, half & GEMM_B, N, K },
        .half = half & GEMM_C, .C = C, .ldc = (size_t)ldc,
        .K = K, .steps = (K + DEPTH - 1) / DEPTH,
    };
}

void bf16_amx(bool ta, bool tb, int M, int N, int K, const void *A, int lda, const void *B,
              int ldb, bool add, void *C, int ldc, unsigned half, gemm_then *then, void *ctx)
{
    struct job j = job_of(ta, tb, M, N, K, A, lda, B, ldb, C, ldc, half);
    j.add = add;
    j.then = then;
    j.ctx = ctx;
    j.tiles = tiles_cut(M, N, K, SIDE);
    j.B = packed(&j, &j.b, SCRATCH_B, true);
    /* Tiles side by side share rows of A, which are then packed once for all of them. */
    if (j.tiles.across > 1) j.A = packed(&j, &j.a, SCRATCH_A, false);
    par_for(j.tiles.n, run_tile, &j);
}

static void scaled(void *alpha, float *C, size_t ldc, int r0, int r1, int c0, int c1)
{
    for (int r = r0; r < r1; r++, C += ldc)
        simd_choose()->scale(C, *(const float *)alpha, C, (size_t)(c1 - c0));
}

void bf16_amx_here(bool ta, bool tb, int M, int N, int K, float alpha, const void *A, int lda,
                   const void *B, int ldb, void *C, int ldc, unsigned half)
{
    struct job j = job_of(ta, tb, M, N, K, A, lda, B, ldb, C, ldc, half);
    j.then = alpha == 1 ? NULL : scaled;
    j.ctx = &alpha;
    j.B = work_scratch(SCRATCH_B, (size_t)blocks(N) * block_size(&j) * sizeof *j.B);
    j.tiles = gemm_tiles(M, N, M, N);
    pack(j.B, block_size(&j), &j.b, 0, N, 0, K, true);
    run_tile(&j, 0, 0);
}
#else
typedef int bf16_amx_is_for_x86;
#endif
