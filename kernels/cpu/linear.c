/* Products with weights. Bias and activation are applied to a tile of the product as soon as it
 * is done. */
#include <string.h>
#include "common/thread.h"
#include "kernels/cpu/cpu.h"
#include "kernels/int8/int8.h"

enum { LINE = 64, AHEAD = 8 };      /* bytes of a line of the cache; rows fetched ahead */

/* Bytes that are soon to be read and written, into the cache: a row's share of a tile is shorter
 * than a page, so the hardware does not foresee what comes next. With the rows of C (bf16_amx.c) it
 * makes a step 4 to 12% faster. */
static void fetch_row(const act *row, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += LINE) __builtin_prefetch((const char *)row + i, 1);
}

struct forward { act *pre; const float *b; enum kern_act f; int O; };

/* y = f(y + b), pre = y + b; b and pre may be NULL. */
static void activate(float *y, float *pre, const float *b, enum kern_act f, size_t n)
{
    const struct simd *s = simd_choose();
    (f == KERN_GELU        ? s->gelu
     : f == KERN_RELU      ? s->relu
     : f == KERN_GELU_TANH ? s->gelu_tanh
                           : s->tanh)(y, pre, b, n);
}

static void bias_and_activation(void *ctx, float *y, size_t ld, int r0, int r1, int c0, int c1)
{
    const struct forward *t = ctx;
    const struct simd *s = simd_choose();
    size_t n = (size_t)(c1 - c0);
    const float *b = t->b ? t->b + c0 : NULL;
    float *room = acts_room(0, n);
    for (int r = r0; r < r1; r++, y += ld) {
        /* Without an activation there is nothing to keep: its derivative is 1. */
        if (t->f == KERN_NONE) {
            s->add(y, b, n);
            continue;
        }
        size_t at = (size_t)r * (size_t)t->O + (size_t)c0;
        float *pre = acts_place(t->pre, at, room);
        activate(y, pre, b, t->f, n);
        acts_write(t->pre, at, pre, n);
    }
}

/* Rows of acts, each n wide, as float32; put: those as acts. */
struct rows { act *acts; float *wide; size_t n; bool put; };

static void convert(void *ctx, int first, int last)
{
    const struct rows *t = ctx;
    for (int r = first; r < last; r++) {
        size_t at = (size_t)r * t->n;
        if (t->put) acts_put(t->acts, at, t->wide + at, t->n);
        else acts_read(t->acts, at, t->n, t->wide + at);
    }
}

/* The product in 8 bits reads and writes float32: some rows at a time, where acts are not that. */
static void by_int8(const struct kern_linear_fwd *a, gemm_then *then, struct forward *t)
{
    enum { SOME = 256 };
    if (!acts_half) {
        int8_product(a->Y, a->X, a->W8, a->N, then, t);
        return;
    }
    size_t I = (size_t)a->I, O = (size_t)a->O;
    for (int first = 0; first < a->N; first += SOME) {
        int n = a->N - first < SOME ? a->N - first : SOME;
        float *wide = work_scratch(SCRATCH_WIDE, (size_t)n * (I + O) * sizeof *wide);
        struct rows X = { (act *)acts_at(a->X, (size_t)first * I), wide, I, false },
                    Y = { acts_to(a->Y, (size_t)first * O), wide + (size_t)n * I, O, true };
        t->pre = a->pre ? acts_to(a->pre, (size_t)first * O) : NULL;
        work_rows(n, I, convert, &X);
        int8_product(Y.wide, X.wide, a->W8, n, then, t);
        work_rows(n, O, convert, &Y);
    }
}

void cpu_linear_fwd(const struct kern_linear_fwd *a)
{
    struct forward t = { a->pre, a->b, a->f, a->O };
    gemm_then *then = a->f != KERN_NONE || a->b ? bias_and_activation : NULL;
    if (a->W8) by_int8(a, then, &t);
    else
        gemm_acts(false, true, a->N, a->O, a->I, a->X, a->I, a->W, a->I, false, a->Y, a->O,
                  GEMM_A | GEMM_C, then, &t);
}

/* --- backward --------------------------------------------------------------------------------- */

/* again: pre becomes f(pre). */
struct backward { act *pre; enum kern_act f; bool again; int I; };

static void derivative(float *dx, float *pre, enum kern_act f, bool again, size_t n)
{
    const struct simd *s = simd_choose();
    if (again)
        (f == KERN_GELU        ? s->gelu_both
         : f == KERN_RELU      ? s->relu_both
         : f == KERN_GELU_TANH ? s->gelu_tanh_both
                               : s->tanh_both)(dx, pre, n);
    else
        (f == KERN_GELU        ? s->gelu_bwd
         : f == KERN_RELU      ? s->relu_bwd
         : f == KERN_GELU_TANH ? s->gelu_tanh_bwd
                               : s->tanh_bwd)(dx, pre, n);
}

static void times_derivative(void *ctx, float *dx, size_t ld, int r0, int r1, int c0, int c1)
{
    const struct backward *t = ctx;
    size_t n = (size_t)(c1 - c0);
    float *room = acts_room(0, n);
    for (int r = r0; r < r1; r++, dx += ld) {
        size_t at = (size_t)r * (size_t)t->I + (size_t)c0;
        /* dX is in the cache; pre was last touched in the forward pass: its next row is fetched
         * while this one is computed. */
        if (r + 1 < r1) fetch_row(acts_at(t->pre, at + (size_t)t->I), acts_bytes(n));
        float *pre = acts_open(t->pre, at, n, room);
        derivative(dx, pre, t->f, t->again, n);
        if (t->again) acts_write(t->pre, at, pre, n);
    }
}

struct bias { float *db; const act *dY; int N, O; };

/* Sums of 64 rows, then of those: a running sum over thousands of rows would lose digits. */
static void bias_columns(void *ctx, int first, int last)
{
    const struct bias *t = ctx;
    const struct simd *s = simd_choose();
    size_t n = (size_t)(last - first);
    float part[64], sum[64] = { 0 }, room[64];
    for (int r = 0; r < t->N; ) {
        for (size_t i = 0; i < n; i++) part[i] = 0;
        for (int end = t->N - r < 64 ? t->N : r + 64; r < end; r++) {
            size_t at = (size_t)r * (size_t)t->O + (size_t)first;
            /* 8 rows ahead: rows of dY are pages apart. */
            if (r + AHEAD < t->N)
                fetch_row(acts_at(t->dY, at + (size_t)AHEAD * (size_t)t->O), acts_bytes(n));
            s->add(part, acts_read(t->dY, at, n, room), n);
        }
        s->add(sum, part, n);
    }
    s->add(t->db + first, sum, n);
}

static void column_sums(float *db, const act *dY, int N, int O)
{
    struct bias t = { db, dY, N, O };
    if (db) work_columns(O, bias_columns, &t);
}

/* --- an activation alone, and its derivative: elements by the thousand */

enum { CHUNK = 1 << 13 };
struct elements { act *dx, *x; enum kern_act f; size_t n; };         /* dx NULL: x = f(x) */

static int elements_chunk(void *ctx, size_t i, int thread)
{
    (void)thread;
    const struct elements *t = ctx;
    size_t at = i * CHUNK, n = t->n - at < CHUNK ? t->n - at : CHUNK;
    float *x = acts_open(t->x, at, n, acts_room(0, n)),
          *dx = acts_open(t->dx, at, n, acts_room(1, n));
    if (dx) derivative(dx, x, t->f, false, n);
    else activate(x, NULL, NULL, t->f, n);
    if (dx) acts_write(t->dx, at, dx, n);
    /* x becomes f(x): what it was before is not needed any more. */
    else acts_write(t->x, at, x, n);
    return 0;
}

void cpu_act_bwd(const struct kern_act_bwd *a)
{
    struct elements t = { a->dX, (act *)a->pre, a->f, a->n };
    if (a->f != KERN_NONE) par_for((a->n + CHUNK - 1) / CHUNK, elements_chunk, &t);
}

void cpu_linear_bwd(const struct kern_linear_bwd *a)
{
    int N = a->N, I = a->I, O = a->O;
    if (N == 0) return;
    /* X and pre_x are one matrix where a feed-forward block keeps its hidden states before the
     * activation only (a fifth less memory): they are made again from it, in the same pass. */
    bool factor = a->pre_x && a->f != KERN_NONE, again = factor && a->X == a->pre_x;
    size_t n = (size_t)N * (size_t)I;
    if (a->dX) {
        /* dX must not be multiplied by the factor where it is added to: through memory of its
         * own. */
        bool separate = a->add && factor;
        act *to = separate ? work_scratch(SCRATCH_OP, n * sizeof(float)) : a->dX;
        struct backward t = { a->pre_x, a->f, again, I };
        gemm_acts(false, false, N, I, O, a->dY, O, a->W, I, a->add && !separate, to, I,
                  GEMM_A | GEMM_C, factor ? times_derivative : NULL, &t);
        if (separate) cpu_add_to(a->dX, to, n);
        /* After the factor, so that the bias's gradient is that of what the layer before
         * gets. */
        column_sums(a->db_x, a->dX, N, I);
    } else if (again) {
        struct elements t = { NULL, a->pre_x, a->f, n };
        par_for((n + CHUNK - 1) / CHUNK, elements_chunk, &t);
    }
    /* Both products read dY, which bf16 then rounds once. */
    if (a->dW && a->dX) gemm_same_a();
    if (a->dW)
        gemm_acts(true, false, O, I, N, a->dY, O, a->X, I, true, a->dW, I, GEMM_A | GEMM_B, NULL,
                  NULL);
    column_sums(a->db, a->dY, N, O);
}
