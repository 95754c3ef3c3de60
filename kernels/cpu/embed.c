#include <string.h>
#include "kernels/cpu/cpu.h"
#include "kernels/int8/int8.h"

static const float *row(const float *table, int32_t i, int D)
{
    return table + (size_t)i * (size_t)D;
}

static void forward_rows(void *ctx, int first, int last)
{
    const struct kern_embed_fwd *t = ctx;
    const struct simd *s = simd_choose();
    size_t D = (size_t)t->D;
    float *room = acts_room(0, D);
    for (int n = first; n < last; n++) {
        float *y = acts_place(t->Y, (size_t)n * D, room);
        /* A row without a token: position and language alone, for rows that read a mixture of
         * embeddings. */
        if (t->token[n] < 0) {
            memset(y, 0, D * sizeof *y);
        } else if (t->E8) {
            /* One row at a time is made float32: the table stays in 8 bits. */
            int8_get(t->E8, t->token[n], 1, y);
            s->scale(y, t->scale, y, D);
        } else {
            s->scale(y, t->scale, row(t->E, t->token[n], t->D), D);
        }
        if (t->P) s->add(y, row(t->P, t->pos[n], t->D), D);
        if (t->L) s->add(y, row(t->L, t->lang[n], t->D), D);
        acts_write(t->Y, (size_t)n * D, y, D);
    }
}

void cpu_embed_fwd(const struct kern_embed_fwd *a)
{
    work_rows(a->N, (size_t)a->D, forward_rows, (void *)a);
}

/* Tokens repeat, so rows of dE cannot be shared out among threads: each chunk of columns goes
 * through all rows, in their order. */
static void backward_columns(void *ctx, int first, int last)
{
    const struct kern_embed_bwd *t = ctx;
    const struct simd *s = simd_choose();
    size_t n = (size_t)(last - first), D = (size_t)t->D;
    float *room = acts_room(0, n);
    for (int r = 0; r < t->N; r++) {
        const float *d = acts_read(t->dY, (size_t)r * D + (size_t)first, n, room);
        int32_t token = t->token[r];
        if (t->dE && token >= 0) s->axpy(t->dE + (size_t)token * D + first, t->scale, d, n);
        if (t->dP) s->add(t->dP + (size_t)t->pos[r] * D + first, d, n);
        if (t->dL) s->add(t->dL + (size_t)t->lang[r] * D + first, d, n);
    }
}

void cpu_embed_bwd(const struct kern_embed_bwd *a)
{
    if (a->N > 0) work_columns(a->D, backward_columns, (void *)a);
}
