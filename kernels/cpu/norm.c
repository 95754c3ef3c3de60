/* Residual, dropout and layer norm of a row while it is in the cache. Statistics are those of the
 * sum as it is stored, so that the backward pass sees the same rows. */
#include <string.h>
#include "kernels/cpu/cpu.h"

struct norm { const struct kern_norm_fwd *a; struct drop_rate rate; bool dropping; };

static void forward_rows(void *ctx, int first, int last)
{
    const struct norm *t = ctx;
    const struct kern_norm_fwd *a = t->a;
    const struct simd *s = simd_choose();
    const struct kern_drop *drop = a->drop;
    size_t D = (size_t)a->D;
    int blocks = (a->D + 7) / 8;
    float *sum_room = acts_room(0, D), *y_room = acts_room(1, D), *u_room = acts_room(2, D);
    /* 8 numbers a block of random bits, 16 bytes of them. */
    uint16_t *bits = t->dropping ? work_scratch(SCRATCH_CHUNK, (size_t)blocks * 16) : NULL;
    for (int n = first; n < last; n++) {
        size_t at = (size_t)n * D;
        float *sum = acts_place(a->S, at, sum_room), *y = acts_place(a->Y, at, y_room);
        const float *x = acts_read(a->X, at, D, sum_room);
        /* Without U the operation is a norm alone; S, where it is asked for, is then a copy of
         * X. */
        if (a->U) {
            if (bits)
                s->drop_bits(bits, drop->key, drop->site, drop->sample + n, drop->pos + n, 1, 0,
                             blocks);
            s->drop(sum, x, acts_read(a->U, at, D, u_room), bits, t->rate.limit, t->rate.keep, D);
            acts_write(a->S, at, sum, D);
            /* In bfloat16 that is the rounded sum, which the backward pass will see. */
            x = acts_read(a->S, at, D, sum_room);
        } else if (a->S && a->S != a->X) {
            acts_put(a->S, at, x, D);
        }
        float mean, rstd;
        s->norm(y, &mean, &rstd, x, a->gamma, a->beta, a->eps, D);
        acts_write(a->Y, at, y, D);
        if (a->mean) a->mean[n] = mean;
        if (a->rstd) a->rstd[n] = rstd;
    }
}

void cpu_norm_fwd(const struct kern_norm_fwd *a)
{
    struct norm t = { .a = a };
    t.dropping = a->U && cpu_drop_rate(a->drop, &t.rate);
    work_rows(a->N, (size_t)a->D, forward_rows, &t);
}

/* --- backward --------------------------------------------------------------------------------- */

/* At most PARTS chunks of rows have sums for dgamma and dbeta of their own, which are added in
 * order at the end. Their number depends on N alone: any number of threads gives the same bytes. */
enum { PARTS = 64, ROWS = 16 };

struct norm_back {
    const struct kern_norm_bwd *a;
    float *part;                            /* [chunks, 2, D] */
    struct drop_rate rate;
    bool dropping;
    int step;
};

/* Row n: d is room for the gradient of what was normalised, bits for the mask (NULL: no
 * dropout). */
static void backward_row(const struct norm_back *t, int n, float *d, uint16_t *bits, float *dgamma,
                         float *dbeta)
{
    const struct kern_norm_bwd *a = t->a;
    const struct simd *s = simd_choose();
    const struct kern_drop *drop = a->drop;
    size_t D = (size_t)a->D, at = (size_t)n * D;
    float *dy_room = acts_room(0, D), *room = acts_room(1, D);
    s->norm_bwd(d, a->dgamma ? dgamma : NULL, a->dbeta ? dbeta : NULL,
                acts_read(a->dY, at, D, dy_room), acts_read(a->S, at, D, room), a->mean[n],
                a->rstd[n], a->gamma, D);
    /* Added before dX and dU are made: both are gradients of the sum. */
    if (a->dS) s->add(d, acts_read(a->dS, at, D, room), D);
    if (a->dX && a->add) {
        float *dx = acts_open(a->dX, at, D, room);
        s->add(dx, d, D);
        acts_write(a->dX, at, dx, D);
    } else if (a->dX) {
        acts_put(a->dX, at, d, D);
    }
    if (!a->dU) return;
    float *du = acts_place(a->dU, at, room);
    /* The forward pass's bits, drawn again from the same key. */
    if (bits)
        s->drop_bits(bits, drop->key, drop->site, drop->sample + n, drop->pos + n, 1, 0,
                     (a->D + 7) / 8);
    s->drop(du, NULL, d, bits, t->rate.limit, t->rate.keep, D);
    acts_write(a->dU, at, du, D);
}

static void backward_chunk(void *ctx, int first, int last)
{
    const struct norm_back *t = ctx;
    size_t D = (size_t)t->a->D, blocks = (D + 7) / 8;
    float *d = work_scratch(SCRATCH_CHUNK, D * sizeof(float) + blocks * 16);
    uint16_t *bits = t->dropping ? (uint16_t *)(d + D) : NULL;
    for (int chunk = first; chunk < last; chunk++) {
        float *dgamma = t->part + (size_t)chunk * 2 * D;
        /* Each chunk zeroes its own sums, on the thread that fills them. */
        memset(dgamma, 0, 2 * D * sizeof(float));
        int at = chunk * t->step, end = t->a->N - at < t->step ? t->a->N : at + t->step;
        for (int n = at; n < end; n++) backward_row(t, n, d, bits, dgamma, dgamma + D);
    }
}

void cpu_norm_bwd(const struct kern_norm_bwd *a)
{
    if (a->N == 0) return;
    size_t D = (size_t)a->D;
    int step = (a->N + PARTS - 1) / PARTS;
    if (step < ROWS) step = ROWS;
    int chunks = (a->N + step - 1) / step;
    float *part = work_scratch(SCRATCH_OP, (size_t)chunks * 2 * D * sizeof(float));
    struct norm_back t = { .a = a, .part = part, .step = step };
    t.dropping = a->dU && cpu_drop_rate(a->drop, &t.rate);
    work_rows(chunks, (size_t)step * D * 8, backward_chunk, &t);
    const struct simd *s = simd_choose();
    for (int i = 0; i < chunks; i++) {
        if (a->dgamma) s->add(a->dgamma, part + (size_t)i * 2 * D, D);
        if (a->dbeta) s->add(a->dbeta, part + ((size_t)i * 2 + 1) * D, D);
    }
}
