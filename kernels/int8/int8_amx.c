/* AMX: Intel servers from 2023. A panel of weights is 16 columns as its tiles need them, so that
 * nothing is packed. Up to 32 rows of X by two panels are four tiles of sums; two more are of X and
 * two of weights: four products for four loads. */
#if defined __x86_64__
#include "kernels/int8/int8.h"
#include <immintrin.h>
#include "kernels/linalg/amx.h"
#include "kernels/int8/int8_quantise.inc"

/* Fewer rows than this leave the tiles so empty that vectors are as fast. */
enum { FEW = 4, BLOCK = 2 * AMX_ROWS };

static void shape(int rows)
{
    struct amx_shapes s = { 0 };
    int above = rows < AMX_ROWS ? rows : AMX_ROWS, below = rows - above;
    for (int t = 0; t < 2; t++) {
        amx_tile(&s, t, above);
        amx_tile(&s, 2 + t, below);
        amx_tile(&s, 6 + t, AMX_ROWS);
    }
    amx_tile(&s, 4, above);
    amx_tile(&s, 5, below);
    AMX_SHAPE(&s);
}

/* Sums [rows, 16] of a panel to Y. */
static void put(float *Y, size_t ldy, const int32_t sum[][INT8_PANEL], int rows, const float *sx,
                const struct kern_int8 *w, int panel)
{
    int column = panel * INT8_PANEL, left = w->O - column;
    if (left <= 0) return;
    __mmask16 m = (__mmask16)(left < INT8_PANEL ? (1 << left) - 1 : 0xffff);
    __m512 scale = _mm512_loadu_ps(w->scale + column);
    for (int r = 0; r < rows; r++) {
        __m512 y = _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_load_si512(sum[r])),
                                 _mm512_mul_ps(_mm512_set1_ps(sx[r]), scale));
        _mm512_mask_storeu_ps(Y + (size_t)r * ldy + column, m, y);
    }
}

struct operands {
    /* Rows, a panel and the next one. */
    const int8_t *x, *w, *next;
    const int32_t *start, *start_next;
    size_t depth;
};

/* Where there are no more than 16 rows, and where there is no second panel, a constant leaves the
 * other products out. */
static inline __attribute__((always_inline)) void
multiply(const struct operands *o, int32_t sum[4][AMX_ROWS][INT8_PANEL], const int below,
         const int pair)
{
    const int8_t *x = o->x, *x1 = x + AMX_ROWS * o->depth;
    /* A stride of 0: the same line in every row. */
    AMX_LOAD(0, o->start, 0);
    if (pair) AMX_LOAD(1, o->start_next, 0);
    if (below) AMX_LOAD(2, o->start, 0);
    if (below && pair) AMX_LOAD(3, o->start_next, 0);
    for (size_t k = 0; k < o->depth; k += INT8_DEPTH) {
        AMX_LOAD(6, o->w + k * INT8_PANEL, AMX_BYTES);
        AMX_LOAD(4, x + k, o->depth);
        AMX_UNSIGNED(0, 4, 6);
        if (pair) AMX_LOAD(7, o->next + k * INT8_PANEL, AMX_BYTES);
        if (pair) AMX_UNSIGNED(1, 4, 7);
        if (below) AMX_LOAD(5, x1 + k, o->depth);
        if (below) AMX_UNSIGNED(2, 5, 6);
        if (below && pair) AMX_UNSIGNED(3, 5, 7);
    }
    AMX_STORE(sum[0], AMX_BYTES, 0);
    if (pair) AMX_STORE(sum[1], AMX_BYTES, 1);
    if (below) AMX_STORE(sum[2], AMX_BYTES, 2);
    if (below && pair) AMX_STORE(sum[3], AMX_BYTES, 3);
}

/* Up to 32 rows of X, for which the tiles are shaped, by one panel or two. */
static void block(float *Y, size_t ldy, const int8_t *x, const float *sx, int rows,
                  const struct kern_int8 *w, int panel, bool pair)
{
    _Alignas(64) int32_t sum[4][AMX_ROWS][INT8_PANEL];
    size_t depth = (size_t)w->depth, size = depth * INT8_PANEL;
    /* Panels follow one another: the next one is only read where there is a pair. */
    const int8_t *q = w->q + (size_t)panel * size;
    const int32_t *start = w->start + panel * INT8_PANEL;
    struct operands o = { x, q, q + size, start, start + INT8_PANEL, depth };
    int above = rows < AMX_ROWS ? rows : AMX_ROWS, below = rows - above;
    if (below && pair) multiply(&o, sum, 1, 1);
    else if (below) multiply(&o, sum, 1, 0);
    else if (pair) multiply(&o, sum, 0, 1);
    else multiply(&o, sum, 0, 0);
    for (int p = 0; p < 1 + pair; p++) {
        put(Y, ldy, sum[p], above, sx, w, panel + p);
        if (below)
            put(Y + (size_t)above * ldy, ldy, sum[2 + p], below, sx + above, w, panel + p);
    }
}

/* Rows [r0, r1) in blocks of `rows`: a block of Y is written from its left to its right. */
static void blocks(float *Y, size_t ldy, const struct int8_rows *x, int r0, int r1, int rows,
                   const struct kern_int8 *w, int p0, int p1)
{
    if (r0 == r1) return;
    shape(rows);
    for (int r = r0; r < r1; r += rows)
        for (int p = p0; p < p1; p += 2)
            block(Y + (size_t)r * ldy, ldy, x->q + (size_t)r * (size_t)w->depth, x->scale + r, rows,
                  w, p, p + 1 < p1);
    AMX_RELEASE();
}

static void product(float *Y, size_t ldy, const struct int8_rows *x, int r0, int r1,
                    const struct kern_int8 *w, int p0, int p1)
{
    int whole = r0 + (r1 - r0) / BLOCK * BLOCK;
    /* AMX would leave most of a tile empty; the bytes are the same either way. */
    if (r1 - r0 < FEW) {
        int8_avx512.product(Y, ldy, x, r0, r1, w, p0, p1);
        return;
    }
    blocks(Y, ldy, x, r0, whole, BLOCK, w, p0, p1);
    blocks(Y, ldy, x, whole, r1, r1 - whole, w, p0, p1);
}

const struct int8_kernel int8_amx = { "AMX", true, quantise, product };
#else
typedef int int8_amx_is_for_x86;
#endif
