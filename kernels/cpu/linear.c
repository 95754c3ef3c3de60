/* Products with weights. Bias and activation are applied to a tile of the product as soon as it
 * is done. */
#include <string.h>
#include "common/thread.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/int8.h"

enum { LINE = 16, AHEAD = 8 };      /* floats in a line of the cache; rows fetched ahead */

/* n floats, soon to be read and written, into the cache: a row's share of a tile is shorter than a
 * page, so the processor does not see by itself what comes next. */
static void fetch_row(const float *row, int n)
{
    for (int i = 0; i < n; i += LINE) __builtin_prefetch(row + i, 1);
}

struct forward { float *Y, *pre; const float *b; enum kern_act f; int O; };

/* y = f(y + b), pre = y + b; b and pre may be NULL. */
static void activate(float *y, float *pre, const float *b, enum kern_act f, size_t n)
{
    const struct simd *s = simd_choose();
    (f == KERN_GELU ? s->gelu : f == KERN_RELU ? s->relu : s->tanh)(y, pre, b, n);
}

static void bias_and_activation(void *ctx, int r0, int r1, int c0, int c1)
{
    const struct forward *t = ctx;
    const struct simd *s = simd_choose();
    size_t n = (size_t)(c1 - c0);
    const float *b = t->b ? t->b + c0 : NULL;
    for (int r = r0; r < r1; r++) {
        size_t at = (size_t)r * (size_t)t->O + (size_t)c0;
        float *y = t->Y + at, *pre = t->pre ? t->pre + at : NULL;
        if (t->f == KERN_NONE) s->add(y, b, n);
        else activate(y, pre, b, t->f, n);
    }
}

void cpu_linear_fwd(const struct kern_linear_fwd *a)
{
    struct forward t = { a->Y, a->pre, a->b, a->f, a->O };
    gemm_then *then = a->f != KERN_NONE || a->b ? bias_and_activation : NULL;
    if (a->W8) int8_product(a->Y, a->X, a->W8, a->N, then, &t);
    else gemm(false, true, a->N, a->O, a->I, 1, a->X, a->I, a->W, a->I, 0, a->Y, a->O, then, &t);
}

/* --- backward --------------------------------------------------------------------------------- */

/* again: pre becomes f(pre). */
struct backward { float *dX, *pre; enum kern_act f; bool again; int I; };

static void derivative(float *dx, float *pre, enum kern_act f, bool again, size_t n)
{
    const struct simd *s = simd_choose();
    if (again)
        (f == KERN_GELU ? s->gelu_both : f == KERN_RELU ? s->relu_both : s->tanh_both)(dx, pre, n);
    else (f == KERN_GELU ? s->gelu_bwd : f == KERN_RELU ? s->relu_bwd : s->tanh_bwd)(dx, pre, n);
}

static void times_derivative(void *ctx, int r0, int r1, int c0, int c1)
{
    const struct backward *t = ctx;
    for (int r = r0; r < r1; r++) {
        size_t at = (size_t)r * (size_t)t->I + (size_t)c0;
        /* dX is in the cache, pre was last touched in the forward pass */
        if (r + 1 < r1) fetch_row(t->pre + at + t->I, c1 - c0);
        derivative(t->dX + at, t->pre + at, t->f, t->again, (size_t)(c1 - c0));
    }
}

struct bias { float *db; const float *dY; int N, O; };

/* Sums of 64 rows, then of those: a running sum over thousands of rows would lose digits. */
static void bias_columns(void *ctx, int first, int last)
{
    const struct bias *t = ctx;
    const struct simd *s = simd_choose();
    size_t n = (size_t)(last - first);
    float part[64], sum[64] = { 0 };
    for (int r = 0; r < t->N; ) {
        for (size_t i = 0; i < n; i++) part[i] = 0;
        for (int end = t->N - r < 64 ? t->N : r + 64; r < end; r++) {
            const float *row = t->dY + (size_t)r * (size_t)t->O + first;
            if (r + AHEAD < t->N) fetch_row(row + (size_t)AHEAD * (size_t)t->O, last - first);
            s->add(part, row, n);
        }
        s->add(sum, part, n);
    }
    s->add(t->db + first, sum, n);
}

static void column_sums(float *db, const float *dY, int N, int O)
{
    struct bias t = { db, dY, N, O };
    if (db) cpu_columns(O, bias_columns, &t);
}

/* --- an activation alone, and its derivative: elements by the thousand */

enum { CHUNK = 1 << 13 };
struct elements { float *dx, *x; enum kern_act f; size_t n; };       /* dx NULL: x = f(x) */

static int elements_chunk(void *ctx, size_t i, int thread)
{
    (void)thread;
    const struct elements *t = ctx;
    size_t at = i * CHUNK, n = t->n - at < CHUNK ? t->n - at : CHUNK;
    if (t->dx) derivative(t->dx + at, t->x + at, t->f, false, n);
    else activate(t->x + at, NULL, NULL, t->f, n);
    return 0;
}

void cpu_act_bwd(const struct kern_act_bwd *a)
{
    struct elements t = { a->dX, (float *)a->pre, a->f, a->n };
    if (a->f != KERN_NONE) par_for((a->n + CHUNK - 1) / CHUNK, elements_chunk, &t);
}

void cpu_linear_bwd(const struct kern_linear_bwd *a)
{
    int N = a->N, I = a->I, O = a->O;
    if (N == 0) return;
    bool factor = a->pre_x && a->f != KERN_NONE, again = factor && a->X == a->pre_x;
    size_t n = (size_t)N * (size_t)I;
    if (a->dX) {
        /* Added to only after the factor: through memory of its own, where both are asked for. */
        bool apart = a->add && factor;
        float *to = apart ? cpu_scratch(SCRATCH_OP, n * sizeof(float)) : a->dX;
        struct backward t = { to, a->pre_x, a->f, again, I };
        gemm(false, false, N, I, O, 1, a->dY, O, a->W, I, a->add && !apart ? 1 : 0, to, I,
             factor ? times_derivative : NULL, &t);
        if (apart) cpu_add_to(a->dX, to, n);
        column_sums(a->db_x, a->dX, N, I);
    } else if (again) {
        struct elements t = { NULL, a->pre_x, a->f, n };
        par_for((n + CHUNK - 1) / CHUNK, elements_chunk, &t);
    }
    if (a->dW && a->dX) gemm_same_a();
    if (a->dW) gemm(true, false, O, I, N, 1, a->dY, O, a->X, I, 1, a->dW, I, NULL, NULL);
    column_sums(a->db, a->dY, N, O);
}
