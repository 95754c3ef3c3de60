/* Products with weights. Bias and activation are applied to a tile of the product as soon as it is done. */
#include <string.h>
#include "common/thread.h"
#include "kernels/cpu/cpu.h"

struct forward { float *Y, *pre; const float *b; enum kern_act f; int O; };

static void bias_and_activation(void *ctx, int r0, int r1, int c0, int c1)
{
    const struct forward *t = ctx;
    const struct simd *s = simd_choose();
    size_t n = (size_t)(c1 - c0);
    const float *b = t->b ? t->b + c0 : NULL;
    for (int r = r0; r < r1; r++) {
        size_t at = (size_t)r * (size_t)t->O + (size_t)c0;
        float *y = t->Y + at, *pre = t->pre ? t->pre + at : NULL;
        if (t->f == KERN_GELU) s->gelu(y, pre, b, n);
        else if (t->f == KERN_RELU) s->relu(y, pre, b, n);
        else s->add(y, b, n);
    }
}

void cpu_linear_fwd(act *Y, act *pre, const act *X, const float *W, const float *b, enum kern_act f, int N, int I, int O)
{
    struct forward t = { Y, pre, b, f, O };
    gemm(false, true, N, O, I, 1, X, I, W, I, 0, Y, O, f != KERN_NONE || b ? bias_and_activation : NULL, &t);
}

/* --- backward --------------------------------------------------------------------------------------------- */

/* again: pre becomes f(pre). */
struct backward { float *dX, *pre; enum kern_act f; bool again; int I; };

static void derivative(float *dx, float *pre, enum kern_act f, bool again, size_t n)
{
    const struct simd *s = simd_choose();
    if (again) (f == KERN_GELU ? s->gelu_both : s->relu_both)(dx, pre, n);
    else (f == KERN_GELU ? s->gelu_bwd : s->relu_bwd)(dx, pre, n);
}

static void times_derivative(void *ctx, int r0, int r1, int c0, int c1)
{
    const struct backward *t = ctx;
    for (int r = r0; r < r1; r++) {
        size_t at = (size_t)r * (size_t)t->I + (size_t)c0;
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
        for (int end = t->N - r < 64 ? t->N : r + 64; r < end; r++) s->add(part, t->dY + (size_t)r * (size_t)t->O + first, n);
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
    const struct simd *s = simd_choose();
    size_t at = i * CHUNK, n = t->n - at < CHUNK ? t->n - at : CHUNK;
    if (t->dx) derivative(t->dx + at, t->x + at, t->f, false, n);
    else (t->f == KERN_GELU ? s->gelu : s->relu)(t->x + at, NULL, NULL, n);
    return 0;
}

void cpu_act_bwd(act *dX, const act *pre, enum kern_act f, size_t n)
{
    struct elements t = { dX, (float *)pre, f, n };
    if (f != KERN_NONE) par_for((n + CHUNK - 1) / CHUNK, elements_chunk, &t);
}

void cpu_linear_bwd(act *dX, bool add, float *dW, float *db, const act *dY, const act *X, const float *W,
                    act *pre_x, enum kern_act f, float *db_x, int N, int I, int O)
{
    if (N == 0) return;
    bool factor = pre_x && f != KERN_NONE, again = factor && X == pre_x;
    size_t n = (size_t)N * (size_t)I;
    if (dX) {
        /* Added to only after the factor: through memory of its own, where both are asked for. */
        bool apart = add && factor;
        struct backward t = { apart ? cpu_scratch(SCRATCH_OP, n * sizeof(float)) : dX, pre_x, f, again, I };
        gemm(false, false, N, I, O, 1, dY, O, W, I, add && !apart ? 1 : 0, t.dX, I, factor ? times_derivative : NULL, &t);
        if (apart) cpu_add(dX, t.dX, n);
        column_sums(db_x, dX, N, I);
    } else if (again) {
        struct elements t = { NULL, pre_x, f, n };
        par_for((n + CHUNK - 1) / CHUNK, elements_chunk, &t);
    }
    if (dW && dX) gemm_same_a();
    if (dW) gemm(true, false, O, I, N, 1, dY, O, X, I, 1, dW, I, NULL, NULL);
    column_sums(db, dY, N, O);
}
