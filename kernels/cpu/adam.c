/* The optimisers: one pass over parameters, gradients and both moments, clipping included; LAMB
 * a second one. */
#include <math.h>
#include "common/thread.h"
#include "kernels/cpu/cpu.h"

enum { CHUNK = KERN_NORM2_PART };       /* elements: four arrays of 128 KiB */

struct chunked {
    size_t n;
    float *p, *m, *v;
    const float *g;
    double *part;
    struct lamb_sums *sums;
    const struct adam_step *step;
    float a;
};

static size_t chunk_size(size_t n, size_t i)
{
    return n - i * CHUNK < CHUNK ? n - i * CHUNK : CHUNK;
}
static size_t chunks(size_t n) { return (n + CHUNK - 1) / CHUNK; }

static int square_chunk(void *ctx, size_t i, int thread)
{
    (void)thread;
    struct chunked *c = ctx;
    c->part[i] = simd_choose()->squares(c->g + i * CHUNK, chunk_size(c->n, i));
    return 0;
}

void cpu_norm2(const struct kern_norm2 *a)
{
    double *part = a->part, sum = 0;
    if (!part) part = work_scratch(SCRATCH_OP, chunks(a->n) * sizeof *part);
    struct chunked c = { .n = a->n, .g = a->x, .part = part };
    par_for(chunks(a->n), square_chunk, &c);
    /* In the order of the chunks, whichever thread made them: any number of threads gives the
     * same norm. */
    for (size_t i = 0; i < chunks(a->n); i++) sum += part[i];
    *a->out = (float)sum;
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
static bool step_of(struct adam_step *step, const struct kern_adam *a)
{
    double grad = (double)a->grad_scale;
    if (a->norm2) {
        /* Such a step changes nothing. Training reads the norm later and ends with the step's
         * number. */
        if (!isfinite(*a->norm2)) return false;
        if (a->clip > 0) {
            /* As PyTorch's clip_grad_norm_: clip / (norm + 1e-6). The norm is that of the
             * gradient before it is scaled. */
            double by = (double)a->clip / (fabs(grad) * sqrt((double)*a->norm2) + 1e-6);
            /* a norm below the limit is left as it is */
            if (by < 1) grad *= by;
        }
    }
    double unbias1 = 1 / (1 - pow(a->beta1, (double)a->step));
    /* Made in double and rounded once: 1 - 0.999f in float is off by 1e-5. */
    *step = (struct adam_step){
        .grad = (float)grad,
        /* Decoupled decay (AdamW): the parameter shrinks by lr * weight_decay, whatever its
         * moments are. */
        .decay = (float)(1 - a->lr * a->weight_decay),
        .beta1 = (float)a->beta1,
        .rest1 = (float)(1 - a->beta1),
        .beta2 = (float)a->beta2,
        .rest2 = (float)(1 - a->beta2),
        .rate = (float)(a->lr * unbias1),
        .root2 = (float)(1 / sqrt(1 - pow(a->beta2, (double)a->step))),
        .eps = (float)a->eps,
        .unbias1 = (float)unbias1,
        .weight_decay = (float)a->weight_decay,
    };
    return true;
}

static int ema_chunk(void *ctx, size_t i, int thread)
{
    (void)thread;
    const struct kern_ema *a = ctx;
    const struct simd *s = simd_choose();
    size_t at = i * CHUNK, n = chunk_size(a->n, i);
    /* p = m p + (1 - m) q. */
    s->scale(a->p + at, (float)a->m, a->p + at, n);
    s->axpy(a->p + at, (float)(1 - a->m), a->q + at, n);
    return 0;
}

void cpu_ema(const struct kern_ema *a) { par_for(chunks(a->n), ema_chunk, (void *)a); }

static struct adam_step undecayed(const struct adam_step *s)
{
    /* Biases and the parameters of norms are not decayed; all else of their step is the same. */
    struct adam_step x = *s;
    x.decay = 1;
    return x;
}

/* The part from `at` on. */
static struct chunked part_of(const struct kern_adam *a, size_t at, size_t n,
                              const struct adam_step *step)
{
    return (struct chunked){
        .n = n, .p = a->p + at, .g = a->g + at, .m = a->m + at, .v = a->v + at, .step = step
    };
}

/* p -= lr / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + eps), with m and v of the scaled and
 * clipped gradient. Neighbours that take the same step are one piece of work. */
static void adam(const struct kern_adam *a, const struct adam_step *decays,
                 const struct adam_step *plain)
{
    const struct kern_part *part = a->part;
    for (int i = 0, j; i < a->parts; i = j) {
        size_t end = part[i].at + part[i].n;
        for (j = i + 1; j < a->parts && part[j].at == end; j++) {
            /* without weight decay both steps are the same */
            if (part[j].decay != part[i].decay && decays->decay != 1) break;
            end += part[j].n;
        }
        struct chunked c = part_of(a, part[i].at, end - part[i].at, part[i].decay ? decays : plain);
        par_for(chunks(c.n), adam_chunk, &c);
    }
}

static int lamb_chunk(void *ctx, size_t i, int thread)
{
    (void)thread;
    struct chunked *c = ctx;
    size_t at = i * CHUNK;
    c->sums[i] = simd_choose()->lamb(c->p + at, c->g + at, c->m + at, c->v + at, c->step,
                                     chunk_size(c->n, i));
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
    /* Squares of a whole matrix, in double and in the order of the chunks. */
    c->sums = work_scratch(SCRATCH_OP, chunks(c->n) * sizeof(struct lamb_sums));
    par_for(chunks(c->n), lamb_chunk, c);
    for (size_t i = 0; i < chunks(c->n); i++) { pp += c->sums[i].p; uu += c->sums[i].u; }
    /* The trust ratio |p| / |u|, or 1 where either is 0, as at the first step of a matrix of
     * zeros. */
    c->a = (float)(pp > 0 && uu > 0 ? lr * sqrt(pp / uu) : lr);
    par_for(chunks(c->n), lamb_apply_chunk, c);
}

static void lamb(const struct kern_adam *a, const struct adam_step *decays,
                 const struct adam_step *plain)
{
    for (int i = 0; i < a->parts; i++) {
        const struct kern_part *part = &a->part[i];
        struct chunked c = part_of(a, part->at, part->n, part->decay ? decays : plain);
        /* What is not decayed takes Adam's step, without a ratio of its own. */
        if (part->decay) lamb_part(&c, a->lr);
        else par_for(chunks(c.n), adam_chunk, &c);
    }
}

void cpu_adam(const struct kern_adam *a)
{
    struct adam_step decays;
    if (!step_of(&decays, a)) return;
    struct adam_step plain = undecayed(&decays);
    (a->lamb ? lamb : adam)(a, &decays, &plain);
}
