/* The optimisers: one pass over parameters, gradients and both moments, clipping included; LAMB a second one. */
#include <math.h>
#include "common/thread.h"
#include "kernels/cpu/cpu.h"

enum { CHUNK = 1 << 15 };               /* elements: four arrays of 128 KiB */

struct chunked { size_t n; float *p, *m, *v; const float *g; double *part; struct lamb_sums *sums; const struct adam_step *step; float a; };

static size_t chunk_size(size_t n, size_t i) { return n - i * CHUNK < CHUNK ? n - i * CHUNK : CHUNK; }
static size_t chunks(size_t n) { return (n + CHUNK - 1) / CHUNK; }

static int square_chunk(void *ctx, size_t i, int thread)
{
    (void)thread;
    struct chunked *c = ctx;
    c->part[i] = simd_choose()->squares(c->g + i * CHUNK, chunk_size(c->n, i));
    return 0;
}

void cpu_norm2(float *out, const float *x, size_t n)
{
    struct chunked c = { .n = n, .g = x, .part = cpu_scratch(SCRATCH_OP, chunks(n) * sizeof(double)) };
    par_for(chunks(n), square_chunk, &c);
    double sum = 0;
    for (size_t i = 0; i < chunks(n); i++) sum += c.part[i];
    *out = (float)sum;
}

static int scale_chunk(void *ctx, size_t i, int thread)
{
    (void)thread;
    struct chunked *c = ctx;
    simd_choose()->scale(c->p + i * CHUNK, c->a, c->p + i * CHUNK, chunk_size(c->n, i));
    return 0;
}

void cpu_scale(float *x, float a, size_t n)
{
    struct chunked c = { .n = n, .p = x, .a = a };
    par_for(chunks(n), scale_chunk, &c);
}

static int adam_chunk(void *ctx, size_t i, int thread)
{
    (void)thread;
    struct chunked *c = ctx;
    size_t at = i * CHUNK;
    simd_choose()->adam(c->p + at, c->g + at, c->m + at, c->v + at, c->step, chunk_size(c->n, i));
    return 0;
}

/* The constants of a step, clipping included; false where the gradient is not finite. */
static bool step_of(struct adam_step *step, const struct kern_adam *a, const float *norm2)
{
    double grad = (double)a->grad_scale;
    if (norm2) {
        if (!isfinite(*norm2)) return false;
        if (a->clip > 0) {
            double by = (double)a->clip / (fabs(grad) * sqrt((double)*norm2) + 1e-6);
            if (by < 1) grad *= by;
        }
    }
    double unbias1 = 1 / (1 - pow(a->beta1, (double)a->step));
    *step = (struct adam_step){
        .grad = (float)grad, .decay = (float)(1 - a->lr * a->weight_decay),
        .beta1 = (float)a->beta1, .rest1 = (float)(1 - a->beta1), .beta2 = (float)a->beta2, .rest2 = (float)(1 - a->beta2),
        .rate = (float)(a->lr * unbias1), .root2 = (float)(1 / sqrt(1 - pow(a->beta2, (double)a->step))), .eps = (float)a->eps,
        .unbias1 = (float)unbias1, .weight_decay = (float)a->weight_decay,
    };
    return true;
}

static struct adam_step undecayed(const struct adam_step *s)
{
    struct adam_step x = *s;
    x.decay = 1;
    return x;
}

/* The part from `at` on. */
static struct chunked part_of(float *p, const float *g, float *m, float *v, size_t at, size_t n, const struct adam_step *step)
{
    return (struct chunked){ .n = n, .p = p + at, .g = g + at, .m = m + at, .v = v + at, .step = step };
}

/* p -= lr / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + eps), with m and v of the scaled and clipped gradient. Neighbours that take the
 * same step are one piece of work. */
void cpu_adam(float *p, const float *g, float *m, float *v, const struct kern_part *part, int parts, const struct kern_adam *a, const float *norm2)
{
    struct adam_step decays;
    if (!step_of(&decays, a, norm2)) return;
    struct adam_step plain = undecayed(&decays);
    for (int i = 0, j; i < parts; i = j) {
        size_t end = part[i].at + part[i].n;
        for (j = i + 1; j < parts && part[j].at == end && (part[j].decay == part[i].decay || decays.decay == 1); j++) end += part[j].n;
        struct chunked c = part_of(p, g, m, v, part[i].at, end - part[i].at, part[i].decay ? &decays : &plain);
        par_for(chunks(c.n), adam_chunk, &c);
    }
}

static int lamb_chunk(void *ctx, size_t i, int thread)
{
    (void)thread;
    struct chunked *c = ctx;
    size_t at = i * CHUNK;
    c->sums[i] = simd_choose()->lamb(c->p + at, c->g + at, c->m + at, c->v + at, c->step, chunk_size(c->n, i));
    return 0;
}

static int lamb_apply_chunk(void *ctx, size_t i, int thread)
{
    (void)thread;
    struct chunked *c = ctx;
    size_t at = i * CHUNK;
    simd_choose()->lamb_apply(c->p + at, c->m + at, c->v + at, c->step, c->a, chunk_size(c->n, i));
    return 0;
}

static void lamb_part(struct chunked *c, double lr)
{
    double pp = 0, uu = 0;
    c->sums = cpu_scratch(SCRATCH_OP, chunks(c->n) * sizeof(struct lamb_sums));
    par_for(chunks(c->n), lamb_chunk, c);
    for (size_t i = 0; i < chunks(c->n); i++) { pp += c->sums[i].p; uu += c->sums[i].u; }
    c->a = (float)(pp > 0 && uu > 0 ? lr * sqrt(pp / uu) : lr);
    par_for(chunks(c->n), lamb_apply_chunk, c);
}

void cpu_lamb(float *p, const float *g, float *m, float *v, const struct kern_part *part, int parts, const struct kern_adam *a, const float *norm2)
{
    struct adam_step decays;
    if (!step_of(&decays, a, norm2)) return;
    struct adam_step plain = undecayed(&decays);
    for (int i = 0; i < parts; i++) {
        struct chunked c = part_of(p, g, m, v, part[i].at, part[i].n, part[i].decay ? &decays : &plain);
        if (part[i].decay) lamb_part(&c, a->lr);
        else par_for(chunks(c.n), adam_chunk, &c);
    }
}
