/* Rows picked and put back, and sums of whole matrices. */
#include <string.h>
#include "common/thread.h"
#include "kernels/cpu/cpu.h"

struct rows { act *Y; const act *X; const int32_t *index; int ldy, ldx, D; bool add; };

static void gather_rows(void *ctx, int first, int last)
{
    const struct rows *t = ctx;
    size_t bytes = acts_bytes((size_t)t->D);
    for (int m = first; m < last; m++) {
        act *y = acts_to(t->Y, (size_t)m * (size_t)t->ldy);
        /* A negative index is padding: its row is zero. */
        if (t->index[m] < 0) memset(y, 0, bytes);
        else memcpy(y, acts_at(t->X, (size_t)t->index[m] * (size_t)t->ldx), bytes);
    }
}

void cpu_gather(const struct kern_gather *a)
{
    struct rows t = { a->Y, a->X, a->index, a->ldy, a->ldx, a->D, false };
    work_rows(a->M, (size_t)a->D, gather_rows, &t);
}

/* n numbers of Y from `to` on += those of X from `from` on. */
static void add_acts(act *Y, size_t to, const act *X, size_t from, size_t n)
{
    const float *x = acts_read(X, from, n, acts_room(0, n));
    float *y = acts_open(Y, to, n, acts_room(1, n));
    simd_choose()->add(y, x, n);
    acts_write(Y, to, y, n);
}

static void scatter_rows(void *ctx, int first, int last)
{
    const struct rows *t = ctx;
    for (int m = first; m < last; m++) {
        /* Padding is put nowhere. */
        if (t->index[m] < 0) continue;
        size_t to = (size_t)t->index[m] * (size_t)t->ldy, from = (size_t)m * (size_t)t->ldx;
        if (t->add) add_acts(t->Y, to, t->X, from, (size_t)t->D);
        else memcpy(acts_to(t->Y, to), acts_at(t->X, from), acts_bytes((size_t)t->D));
    }
}

void cpu_scatter(const struct kern_scatter *a)
{
    struct rows t = { a->Y, a->X, a->index, a->ldy, a->ldx, a->D, a->add };
    work_rows(a->M, (size_t)a->D, scatter_rows, &t);
}

enum { CHUNK = 1 << 15 };
struct sum { act *y; const act *x; size_t n; };

static int add_chunk(void *ctx, size_t i, int thread)
{
    (void)thread;
    const struct sum *t = ctx;
    size_t at = i * CHUNK, n = t->n - at < CHUNK ? t->n - at : CHUNK;
    add_acts(t->y, at, t->x, at, n);
    return 0;
}

void cpu_add_to(act *Y, const act *X, size_t n)
{
    struct sum t = { Y, X, n };
    par_for((n + CHUNK - 1) / CHUNK, add_chunk, &t);
}

void cpu_add(const struct kern_add *a) { cpu_add_to(a->Y, a->X, a->n); }

static int to_float32_chunk(void *ctx, size_t i, int thread)
{
    (void)thread;
    const struct kern_to_float32 *t = ctx;
    size_t at = i * CHUNK, n = t->n - at < CHUNK ? t->n - at : CHUNK;
    /* The target is the buffer, so that bfloat16 is converted in place and float32 copied. */
    const float *x = acts_read(t->from, at, n, t->to + at);
    if (x != t->to + at) memcpy(t->to + at, x, n * sizeof *x);
    return 0;
}

void cpu_to_float32(const struct kern_to_float32 *a)
{
    par_for((a->n + CHUNK - 1) / CHUNK, to_float32_chunk, (void *)a);
}
