/* Products in bfloat16 by AMX. Both matrices are rounded into tiles of 1 KiB, 16 rows or columns by
 * 32 of what is summed over: B before anything else, A as its rows' turn comes, so that its copy
 * never leaves the cache. Sums of 32 rows by 32 columns are four tile registers.
 *
 * Every element of C is one chain of sums over k, whatever the tiles of the pool are. */
#if defined __x86_64__
#include "kernels/cpu/bf16.h"
#include <immintrin.h>
#include <string.h>
#include "common/thread.h"
#include "kernels/cpu/amx.h"
#include "kernels/cpu/cpu.h"

enum {
    HALF = AMX_ROWS,  /* rows or columns of a tile */
    SIDE = 2 * HALF,  /* of a block of sums */
    DEPTH = 32,       /* what a tile sums over */
    TILE = HALF * DEPTH,
    PIECE = 1024,     /* what is summed over before C is stored: a block of B and a group of rows
                       * of A stay in the second cache */
    GROUP = 128,
};

#if defined __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/* --- tiles ------------------------------------------------------------------------------------ */

static __mmask16 first(int n)
{
    return (__mmask16)(n >= 16 ? 0xffff : n <= 0 ? 0 : (1 << n) - 1);
}

/* The 16 x 16 pairs of numbers in v, rows for columns. */
static inline void transpose(__m512i v[16])
{
    __m512i t[16];
    UNROLL for (int i = 0; i < 16; i += 2) {
        t[i] = _mm512_unpacklo_epi32(v[i], v[i + 1]);
        t[i + 1] = _mm512_unpackhi_epi32(v[i], v[i + 1]);
    }
    UNROLL for (int i = 0; i < 16; i += 4) {
        v[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
        v[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
        v[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
        v[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
    }
    UNROLL for (int j = 0; j < 8; j++) {
        int i = j / 4 * 8 + j % 4;
        t[i] = _mm512_shuffle_i32x4(v[i], v[i + 4], 0x88);
        t[i + 4] = _mm512_shuffle_i32x4(v[i], v[i + 4], 0xdd);
    }
    UNROLL for (int j = 0; j < 8; j++) {
        v[j] = _mm512_shuffle_i32x4(t[j], t[j + 8], 0x88);
        v[j + 8] = _mm512_shuffle_i32x4(t[j], t[j + 8], 0xdd);
    }
}

/* 32 floats, of which some are there, as bfloat16. */
static inline __m512i rounded(const float *low, __mmask16 low_there, const float *high,
                              __mmask16 high_there)
{
    return (__m512i)_mm512_cvtne2ps_pbh(_mm512_maskz_loadu_ps(high_there, high),
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
    __m512i v[16];
    if (s->along) {
        const float *x = s->x + (size_t)i * s->ld + (size_t)k;
        UNROLL for (int r = 0; r < 16; r++, x += s->ld)
            v[r] = r < n ? rounded(x, first(depth), x + 16, first(depth - 16))
                         : _mm512_setzero_si512();
    } else {
        const float *x = s->x + (size_t)k * s->ld + (size_t)i;
        UNROLL for (int p = 0; p < 16; p++, x += 2 * s->ld) {
            __mmask16 low = 2 * p < depth ? first(n) : 0, high = 2 * p + 1 < depth ? first(n) : 0;
            v[p] = _mm512_permutexvar_epi16(alternate, rounded(x, low, x + s->ld, high));
        }
    }
    if (s->along == columns) transpose(v);
    UNROLL for (int r = 0; r < 16; r++) _mm512_store_si512(to + r * DEPTH, v[r]);
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
    int M, N, K, steps;         /* steps: of 32 along k */
    int tile_rows, tile_cols, across;
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
        AMX_ZERO(0);
        AMX_ZERO(1);
        AMX_ZERO(2);
        AMX_ZERO(3);
    }
    for (int s = 0; s < steps; s++, a += 2 * TILE, b += 2 * TILE) {
        AMX_LOAD(6, b, AMX_BYTES);
        AMX_LOAD(4, a, AMX_BYTES);
        AMX_BF16(0, 4, 6);
        AMX_LOAD(7, b + TILE, AMX_BYTES);
        AMX_BF16(1, 4, 7);
        AMX_LOAD(5, a + TILE, AMX_BYTES);
        AMX_BF16(2, 5, 6);
        AMX_BF16(3, 5, 7);
    }
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
    int r0 = (int)(i / (size_t)j->across) * j->tile_rows,
        c0 = (int)(i % (size_t)j->across) * j->tile_cols;
    int r1 = j->M - r0 < j->tile_rows ? j->M : r0 + j->tile_rows;
    int c1 = j->N - c0 < j->tile_cols ? j->N : c0 + j->tile_cols;
    for (int r = r0, end; r < r1; r = end) {
        end = r1 - r < GROUP ? r1 : r + GROUP;
        AMX_SHAPE(&shapes);
        for (int k = 0; k < j->K; k += PIECE)
            group(j, r, end, c0, c1, k, j->K - k < PIECE ? j->K : k + PIECE);
        AMX_RELEASE();
        if (j->then) j->then(j->ctx, r, end, c0, c1);
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
        .C = C, .ldc = (size_t)ldc, .M = M, .N = N, .K = K, .steps = (K + DEPTH - 1) / DEPTH,
    };
}

void bf16_amx(bool ta, bool tb, int M, int N, int K, const float *A, int lda, const float *B,
              int ldb, bool add, float *C, int ldc, gemm_then *then, void *ctx)
{
    struct job j = job_of(ta, tb, M, N, K, A, lda, B, ldb, C, ldc);
    j.add = add;
    j.then = then;
    j.ctx = ctx;
    gemm_cut(M, N, K, SIDE, &j.tile_rows, &j.tile_cols);
    j.across = (N + j.tile_cols - 1) / j.tile_cols;
    int down = (M + j.tile_rows - 1) / j.tile_rows;
    j.B = packed(&j, &j.b, SCRATCH_B, true);
    if (j.across > 1) j.A = packed(&j, &j.a, SCRATCH_A, false); /* tiles share rows */
    par_for((size_t)down * (size_t)j.across, run_tile, &j);
}

void bf16_amx_here(bool ta, bool tb, int M, int N, int K, float alpha, const float *A, int lda,
                   const float *B, int ldb, float *C, int ldc)
{
    struct job j = job_of(ta, tb, M, N, K, A, lda, B, ldb, C, ldc);
    j.B = cpu_scratch(SCRATCH_B, (size_t)blocks(N) * block_size(&j) * sizeof *j.B);
    j.tile_rows = M;
    j.tile_cols = N;
    j.across = 1;
    pack(j.B, block_size(&j), &j.b, 0, N, 0, K, true);
    run_tile(&j, 0, 0);
    for (int r = 0; alpha != 1 && r < M; r++)
        simd_choose()->scale(C + (size_t)r * j.ldc, alpha, C + (size_t)r * j.ldc, (size_t)N);
}
#else
typedef int bf16_amx_is_for_x86;
#endif
