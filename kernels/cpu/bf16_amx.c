/* Products in bfloat16 by AMX. Both matrices are rounded into tiles of 1 KiB, 16 rows or columns by
 * 32 of what is summed over: B before anything else, A as its rows' turn comes, so that its copy
 * never leaves the cache. Sums of 32 rows by 32 columns are four tile registers.
 *
 * Every element of C is one chain of sums over k, whatever the tiles of the pool are. */
#if defined __x86_64__
#include "kernels/cpu/bf16.h"
#include <string.h>
#include "common/thread.h"
#include "kernels/cpu/amx.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/transpose.h"

enum {
    HALF = AMX_ROWS,  /* rows or columns of a tile */
    SIDE = 2 * HALF,  /* of a block of sums */
    DEPTH = 32,       /* what a tile sums over */
    TILE = HALF * DEPTH,
    PIECE = 1024,     /* what is summed over before C is stored: a block of B and a group of rows
                       * of A stay in the second cache */
    GROUP = 128,
};

/* --- tiles ------------------------------------------------------------------------------------ */

/* 32 floats, of which some are there, as bfloat16: pairs in the places of 16 floats. */
static inline __m512 rounded(const float *low, __mmask16 low_there, const float *high,
                              __mmask16 high_there)
{
    return (__m512)_mm512_cvtne2ps_pbh(_mm512_maskz_loadu_ps(high_there, high),
                                       _mm512_maskz_loadu_ps(low_there, low));
}

/* A matrix as it is stored: `along` says that k is what goes along its rows, ld apart. */
struct stored { const float *x; size_t ld; bool along; int n, k; };

/* The tile from (i, k): pairs along k, [16][16 pairs] for A, [16 pairs][16] for B (`columns`).
 * Where there is nothing, zeros. */
static void pack_tile(uint16_t *to, const struct stored *s, int i, int k, bool columns)
{
    int n = s->n - i, depth = s->k - k;
    const __m512i alternate = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25,
                                               9, 24, 8, 23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2,
                                               17, 1, 16, 0);
    __m512 v[16];
    if (s->along) {
        const float *x = s->x + (size_t)i * s->ld + (size_t)k;
        UNROLL for (int r = 0; r < 16; r++, x += s->ld)
            v[r] = r < n ? rounded(x, first_lanes(depth), x + 16, first_lanes(depth - 16))
                         : _mm512_setzero_ps();
    } else {
        const float *x = s->x + (size_t)k * s->ld + (size_t)i;
        UNROLL for (int p = 0; p < 16; p++, x += 2 * s->ld) {
            __mmask16 low = 2 * p < depth ? first_lanes(n) : 0,
                      high = 2 * p + 1 < depth ? first_lanes(n) : 0;
            v[p] = (__m512)_mm512_permutexvar_epi16(
                alternate, (__m512i)rounded(x, low, x + s->ld, high));
        }
    }
    if (s->along == columns) transpose16(v);
    UNROLL for (int r = 0; r < 16; r++) _mm512_store_ps(to + r * DEPTH, v[r]);
}

/* Blocks of 32 rows or columns [i0, i1) over [k0, k1), each [k / 32][2] tiles, `apart` numbers from
 * one to the next: in the order in which they are stored. */
static void pack(uint16_t *to, size_t apart, const struct stored *s, int i0, int i1, int k0,
                 int k1, bool columns)
{
    int blocks = (i1 - i0 + SIDE - 1) / SIDE, steps = (k1 - k0 + DEPTH - 1) / DEPTH;
    for (int n = 0; n < blocks * steps; n++) {
        int b = s->along ? n / steps : n % blocks, step = s->along ? n % steps : n / blocks;
        uint16_t *here = to + (size_t)b * apart + (size_t)step * 2 * TILE;
        for (int half = 0; half < 2; half++)
            pack_tile(here + half * TILE, s, i0 + b * SIDE + half * HALF, k0 + step * DEPTH,
                      columns);
    }
}

/* --- products --------------------------------------------------------------------------------- */

struct job {
    struct stored a, b;
    uint16_t *A, *B;            /* packed; A NULL: packed by the tiles of the pool */
    bool add;
    float *C;
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
    size_t apart = ldc * sizeof *C;
    float *below = C + HALF * ldc;
    if (add) {
        AMX_LOAD(0, C, apart);
        AMX_LOAD(1, C + HALF, apart);
        AMX_LOAD(2, below, apart);
        AMX_LOAD(3, below + HALF, apart);
    } else {
        AMX_ZERO_BLOCK();
        /* rows of C are pages apart: the processor does not see by itself what is stored next */
        for (int r = 0; r < SIDE; r++) {
            __builtin_prefetch(C + (size_t)r * ldc, 1);
            __builtin_prefetch(C + (size_t)r * ldc + HALF, 1);
        }
    }
    for (int s = 0; s < steps; s++, a += 2 * TILE, b += 2 * TILE) AMX_BLOCK(AMX_BF16, a, b, TILE);
    AMX_STORE(C, apart, 0);
    AMX_STORE(C + HALF, apart, 1);
    AMX_STORE(below, apart, 2);
    AMX_STORE(below + HALF, apart, 3);
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
    _Alignas(64) float whole[SIDE * SIDE] = { 0 };
    rows = rows < SIDE ? rows : SIDE;
    cols = cols < SIDE ? cols : SIDE;
    if (add) copy(whole, SIDE, C, ldc, rows, cols);
    multiply(whole, SIDE, a, b, steps, add);
    copy(C, ldc, whole, SIDE, rows, cols);
}

/* Rows [r0, r1), at most a group, by columns [c0, c1), over [k0, k1) of what is summed over. */
static void group(const struct job *j, int r0, int r1, int c0, int c1, int k0, int k1)
{
    int steps = (k1 - k0 + DEPTH - 1) / DEPTH;
    size_t inside = (size_t)(k0 / DEPTH) * 2 * TILE, here = (size_t)steps * 2 * TILE;
    const uint16_t *A = NULL;
    if (j->A) {
        A = j->A + (size_t)(r0 / SIDE) * block_size(j) + inside;
        here = block_size(j);
    } else {
        uint16_t *room = cpu_scratch(SCRATCH_TILE, GROUP / SIDE * here * sizeof *room);
        pack(room, here, &j->a, r0, r1, k0, k1, false);
        A = room;
    }
    for (int c = c0; c < c1; c += SIDE) {
        const uint16_t *b = j->B + (size_t)(c / SIDE) * block_size(j) + inside;
        for (int r = r0; r < r1; r += SIDE)
            block(j->C + (size_t)r * j->ldc + c, j->ldc, r1 - r, c1 - c,
                  A + (size_t)((r - r0) / SIDE) * here, b, steps, j->add || k0 > 0);
    }
}

_Alignas(64) static const struct amx_shapes shapes = {
    .palette = 1,
    .bytes = { 64, 64, 64, 64, 64, 64, 64, 64 },
    .rows = { 16, 16, 16, 16, 16, 16, 16, 16 },
};

static int run_tile(void *ctx, size_t i, int thread)
{
    (void)thread;
    const struct job *j = ctx;
    struct gemm_tile t = gemm_tile(&j->tiles, i);
    for (int r = t.r0, end; r < t.r1; r = end) {
        end = t.r1 - r < GROUP ? t.r1 : r + GROUP;
        AMX_SHAPE(&shapes);
        for (int k = 0; k < j->K; k += PIECE)
            group(j, r, end, t.c0, t.c1, k, j->K - k < PIECE ? j->K : k + PIECE);
        AMX_RELEASE();
        if (j->then) j->then(j->ctx, r, end, t.c0, t.c1);
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
    struct packing p = { j, s, cpu_scratch(piece, bytes), columns };
    cpu_rows(blocks(s->along ? s->n : s->k), (size_t)(s->along ? s->k : s->n) * SIDE, pack_some,
             &p);
    return p.to;
}

static struct job job_of(bool ta, bool tb, int M, int N, int K, const float *A, int lda,
                         const float *B, int ldb, float *C, int ldc)
{
    return (struct job){
        .a = { A, (size_t)lda, !ta, M, K },
        .b = { B, (size_t)ldb, tb, N, K },
        .C = C, .ldc = (size_t)ldc, .K = K, .steps = (K + DEPTH - 1) / DEPTH,
    };
}

void bf16_amx(bool ta, bool tb, int M, int N, int K, const float *A, int lda, const float *B,
              int ldb, bool add, float *C, int ldc, gemm_then *then, void *ctx)
{
    struct job j = job_of(ta, tb, M, N, K, A, lda, B, ldb, C, ldc);
    j.add = add;
    j.then = then;
    j.ctx = ctx;
    j.tiles = gemm_cut(M, N, K, SIDE);
    j.B = packed(&j, &j.b, SCRATCH_B, true);
    if (j.tiles.across > 1) j.A = packed(&j, &j.a, SCRATCH_A, false); /* tiles share rows */
    par_for(j.tiles.n, run_tile, &j);
}

void bf16_amx_here(bool ta, bool tb, int M, int N, int K, float alpha, const float *A, int lda,
                   const float *B, int ldb, float *C, int ldc)
{
    struct job j = job_of(ta, tb, M, N, K, A, lda, B, ldb, C, ldc);
    j.B = cpu_scratch(SCRATCH_B, (size_t)blocks(N) * block_size(&j) * sizeof *j.B);
    j.tiles = gemm_tiles(M, N, M, N);
    pack(j.B, block_size(&j), &j.b, 0, N, 0, K, true);
    run_tile(&j, 0, 0);
    for (int r = 0; alpha != 1 && r < M; r++)
        simd_choose()->scale(C + (size_t)r * j.ldc, alpha, C + (size_t)r * j.ldc, (size_t)N);
}
#else
typedef int bf16_amx_is_for_x86;
#endif
