/* The co-occurrence regression of MLM-GC. First all errors e, then the gradients, cut by
 * columns: rows of dH and dB are hit many times, and in Eq. 3 they are the same matrix. */
#include "kernels/cpu/cpu.h"

struct gc {
    float *loss, *dH, *dB, *slope;            /* slope [M, J]: d(scale * loss) / d(H . B) */
    const float *H, *B, *f, *logx;
    const int32_t *t, *nb;
    float dot_scale, weight, scale;
    int M, J, D;
};

static void errors(void *ctx, int first, int last)
{
    const struct gc *g = ctx;
    const struct simd *s = simd_choose();
    size_t D = (size_t)g->D;
    for (int m = first; m < last; m++) {
        const float *h = g->H + (size_t)g->t[m] * D;
        float sum = 0;
        for (int j = 0; j < g->J; j++) {
            size_t i = (size_t)m * (size_t)g->J + (size_t)j;
            g->slope[i] = 0;
            if (g->nb[i] < 0) continue;
            float e = g->dot_scale * s->dot(h, g->B + (size_t)g->nb[i] * D, D) - g->logx[i];
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
    for (int m = 0; m < g->M; m++) {
        size_t h = (size_t)g->t[m] * D + (size_t)first;
        for (int j = 0; j < g->J; j++) {
            size_t i = (size_t)m * (size_t)g->J + (size_t)j;
            if (g->nb[i] < 0) continue;
            size_t b = (size_t)g->nb[i] * D + (size_t)first;
            if (g->dH) s->axpy(g->dH + h, g->slope[i], g->B + b, n);
            if (g->dB) s->axpy(g->dB + b, g->slope[i], g->H + h, n);
        }
    }
}

void cpu_gc(const struct kern_gc *a)                /* B_act: acts are float32 here */
{
    if (a->M == 0) return;
    struct gc g = {
        .loss = a->loss, .dH = a->dH, .dB = a->dB,
        .slope = cpu_scratch(SCRATCH_OP, (size_t)a->M * (size_t)a->J * sizeof(float)),
        .H = a->H, .B = a->B, .f = a->f, .logx = a->logx, .t = a->t, .nb = a->nb,
        .dot_scale = a->dot_scale, .weight = a->weight, .scale = a->scale,
        .M = a->M, .J = a->J, .D = a->D,
    };
    cpu_rows(a->M, (size_t)a->J * (size_t)a->D, errors, &g);
    if (a->dH || a->dB) cpu_columns(a->D, gradient_columns, &g);
}
