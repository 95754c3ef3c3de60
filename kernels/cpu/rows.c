/* Rows picked and put back, and sums of whole matrices. */
#include <string.h>
#include "common/thread.h"
#include "kernels/cpu/cpu.h"

struct rows { float *Y; const float *X; const int32_t *index; int ldy, ldx, D; bool add; };

static void gather_rows(void *ctx, int first, int last)
{
    const struct rows *t = ctx;
    size_t bytes = (size_t)t->D * sizeof(float);
    for (int m = first; m < last; m++) {
        float *y = t->Y + (size_t)m * (size_t)t->ldy;
        if (t->index[m] < 0) memset(y, 0, bytes);
        else memcpy(y, t->X + (size_t)t->index[m] * (size_t)t->ldx, bytes);
    }
}

void cpu_gather(const struct kern_gather *a)
{
    struct rows t = { a->Y, a->X, a->index, a->ldy, a->ldx, a->D, false };
    cpu_rows(a->M, (size_t)a->D, gather_rows, &t);
}

static void scatter_rows(void *ctx, int first, int last)
{
    const struct rows *t = ctx;
    const struct simd *s = simd_choose();
    for (int m = first; m < last; m++) {
        if (t->index[m] < 0) continue;
        float *y = t->Y + (size_t)t->index[m] * (size_t)t->ldy;
        const float *x = t->X + (size_t)m * (size_t)t->ldx;
        if (t->add) s->add(y, x, (size_t)t->D);
        else memcpy(y, x, (size_t)t->D * sizeof(float));
    }
}

void cpu_scatter(const struct kern_scatter *a)
{
    struct rows t = { a->Y, a->X, a->index, a->ldy, a->ldx, a->D, a->add };
    cpu_rows(a->M, (size_t)a->D, scatter_rows, &t);
}

enum { CHUNK = 1 << 15 };
struct sum { float *y; const float *x; size_t n; };

static int add_chunk(void *ctx, size_t i, int thread)
{
    (void)thread;
    const struct sum *t = ctx;
    size_t at = i * CHUNK, n = t->n - at < CHUNK ? t->n - at : CHUNK;
    simd_choose()->add(t->y + at, t->x + at, n);
    return 0;
}

void cpu_add_to(float *Y, const float *X, size_t n)
{
    struct sum t = { Y, X, n };
    par_for((n + CHUNK - 1) / CHUNK, add_chunk, &t);
}

void cpu_add(const struct kern_add *a) { cpu_add_to(a->Y, a->X, a->n); }

void cpu_widen(const struct kern_widen *a)      /* acts are float32 here */
{
    if (a->n) memcpy(a->to, a->from, a->n * sizeof *a->to);
}
