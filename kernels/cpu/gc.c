/* The co-occurrence regression of MLM-GC. First all errors e, then the gradients, cut by
 * columns: rows of dH and dB are hit many times, and in Eq. 3 they are the same matrix. */
#include "kernels/cpu/cpu.h"

struct gc {
    float *loss, *slope;                      /* slope [M, J]: d(scale * loss) / d(H . B) */
    act *dH;
    void *dB;
    const act *H;
    const void *B;
    bool B_act;
    const float *f, *logx;
    const int32_t *t, *nb;
    float dot_scale, weight, scale;
    int M, J, D;
};

/* Numbers at .. at + n of B. */
static const float *of_b(const struct gc *g, size_t at, size_t n, float *room)
{
    return g->B_act ? acts_read(g->B, at, n, room) : (const float *)g->B + at;
}

static void errors(void *ctx, int first, int last)
{
    const struct gc *g = ctx;
    const struct simd *s = simd_choose();
    size_t D = (size_t)g->D;
    float *h_room = acts_room(0, D), *b_room = acts_room(1, D);
    for (int m = first; m < last; m++) {
        const float *h = acts_read(g->H, (size_t)g->t[m] * D, D, h_room);
        float sum = 0;
        for (int j = 0; j < g->J; j++) {
            size_t i = (size_t)m * (size_t)g->J + (size_t)j;
            if (g->nb[i] < 0) continue;
            const float *b = of_b(g, (size_t)g->nb[i] * D, D, b_room);
            /* loss = weight * sum of f (dot_scale H.B - log X)^2. */
            float e = g->dot_scale * s->dot(h, b, D) - g->logx[i];
            sum += g->f[i] * e * e;
            g->slope[i] = g->scale * g->weight * 2 * g->f[i] * e * g->dot_scale;
        }
        if (g->loss) g->loss[m] = g->weight * sum;
    }
}

static void gradient_columns(void *ctx, int first, int last)
{
    const struct gc *g = ctx;
    const struct simd *s = simd_choose();
    size_t D = (size_t)g->D, n = (size_t)(last - first);
    float *room = acts_room(0, n), *to_room = acts_room(1, n);
    for (int m = 0; m < g->M; m++) {
        /* One after another and rounded each time in bfloat16: the same row may come again. */
        size_t h = (size_t)g->t[m] * D + (size_t)first;
        for (int j = 0; j < g->J; j++) {
            size_t i = (size_t)m * (size_t)g->J + (size_t)j;
            if (g->nb[i] < 0) continue;
            size_t b = (size_t)g->nb[i] * D + (size_t)first;
            if (g->dH) {
                float *to = acts_open(g->dH, h, n, to_room);
                s->axpy(to, g->slope[i], of_b(g, b, n, room), n);
                acts_write(g->dH, h, to, n);
            }
            if (!g->dB) continue;
            float *to = g->B_act ? acts_open(g->dB, b, n, to_room) : (float *)g->dB + b;
            s->axpy(to, g->slope[i], acts_read(g->H, h, n, room), n);
            if (g->B_act) acts_write(g->dB, b, to, n);
        }
    }
}

void cpu_gc(const struct kern_gc *a)
{
    if (a->M == 0) return;
    struct gc g = {
        .loss = a->loss, .dH = a->dH, .dB = a->dB,
        .slope = work_scratch(SCRATCH_OP, (size_t)a->M * (size_t)a->J * sizeof(float)),
        .H = a->H, .B = a->B, .B_act = a->B_act, .f = a->f, .logx = a->logx, .t = a->t, .nb = a->nb,
        .dot_scale = a->dot_scale, .weight = a->weight, .scale = a->scale,
        .M = a->M, .J = a->J, .D = a->D,
    };
    /* First all errors: the gradients of a row need every slope that it is part of. */
    work_rows(a->M, (size_t)a->J * (size_t)a->D, errors, &g);
    /* validation wants the losses alone */
    if (a->dH || a->dB) work_columns(a->D, gradient_columns, &g);
}
