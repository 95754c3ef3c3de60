/* What test/unit/ops.c and its lists share: an operation's entry, a case of it at one shape with
 * its arrays, and the checks of values and gradients. */
#ifndef TEST_UNIT_OPS_CASE_H
#define TEST_UNIT_OPS_CASE_H
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "kernels/kernels.h"
#include "test/unit/acts.h"

static const struct kernels *k;
static double tolerance = 1e-5;                  /* norm-relative, of float32 */

/* --- a case: an operation at one shape, with its arrays --------------------------------------- */

struct shape {
    int N, I, O, H, V, J, heads, batch;          /* as kernels.h calls them; unused ones 0 */
    bool no_bias, add, drop, causal, cross, cached, weighted, allowed, sum, plain, softmax_only,
        output, alone, in_place, none;
    enum kern_act f;
    float eps;
};

enum kind { ACT, PARAM };
struct array {
    const char *name;
    enum kind kind;
    size_t n;
    double *x; /* the value in double; of an output: of the plain version */
    float *got;                                  /* of an output: the operation's */
    void *dev;
    double *cot; /* outputs: d loss / d output; NULL: not differentiated */
    void *cot_dev;
    void *grad; /* inputs: the gradient, NULL if not differentiated */
    float *before, *g;
};
struct ints { const char *name; size_t n; int32_t *v; void *dev; };

enum { ARRAYS = 8 };
struct test {
    const struct op *op;
    struct shape s;
    struct rng rng;
    struct array in[ARRAYS], out[ARRAYS];
    struct ints ints[ARRAYS];
    int n_in, n_out, n_ints;
    void *extra[16];                             /* more device memory of the operation */
    int n_extra;
    struct kern_drop drop; /* p = 0 without s.drop; sample, pos on the device */
    uint64_t *sample;                            /* and here */
    uint32_t *pos;
    uint8_t *allowed; void *allowed_dev;
    struct kern_attn attn;
    void *bits;                                  /* that its forward pass left, or NULL */
    float drop_p;
};

struct op {
    const char *name;
    void (*setup)(struct test *t);
    void (*plain)(struct test *t);               /* out[].x from in[].x */
    void (*forward)(struct test *t);
    void (*backward)(struct test *t);
    struct shape shapes[24];                     /* N < 0 ends them */
    struct shape golden; /* the shape of test/golden/ops.py; N = 0: not there */
    bool zero_first;     /* backward leaves rows out: their gradient is zeroed before */
    bool (*numbers_hold)(struct test *t); /* every gradient against its own plain computation */
};

static double uniform(struct test *t) { return (double)rng_next_unit(&t->rng) * 2 - 1; }
static int below(struct test *t, int n) { return (int)rng_next_below(&t->rng, (uint64_t)n); }

static size_t bytes_of(enum kind kind, size_t n)
{
    return n * (kind == ACT ? k->act_size : sizeof(float));
}
static void put(enum kind kind, void *dev, const float *v, size_t n)
{
    if (n == 0) return;
    if (kind == ACT) acts_put(k, dev, v, n); else k->upload(dev, v, n * sizeof *v);
}
static void get(enum kind kind, float *v, const void *dev, size_t n)
{
    if (n == 0) return;
    if (kind == ACT) k->get(v, dev, n); else k->download(v, dev, n * sizeof *v);
}

/* Behind each array stand bytes that nobody may change; who reads them as numbers reads NaN. */
enum { BEHIND = 64, OWNED = 1024 };
static struct { void *p; size_t bytes; } owned[OWNED];
static int n_owned;
static void *device(size_t bytes)
{
    unsigned char behind[BEHIND];
    char *p = k->alloc(bytes + BEHIND);
    if (!p) fail_msg("%s", err_msg());
    assert_in_range(n_owned, 0, OWNED - 1);
    owned[n_owned].p = p;
    owned[n_owned++].bytes = bytes;
    memset(behind, 0xFF, BEHIND);
    k->upload(p + bytes, behind, BEHIND);
    return p;
}
static void release(void *p)
{
    unsigned char behind[BEHIND];
    int i = n_owned - 1;
    while (i >= 0 && owned[i].p != p) i--;
    assert_true(i >= 0);
    k->download(behind, (char *)p + owned[i].bytes, BEHIND);
    for (int j = 0; j < BEHIND; j++)
        if (behind[j] != 0xFF)
            fail_msg("byte %d behind an array of %zu bytes was written", j, owned[i].bytes);
    owned[i] = owned[--n_owned];
    k->release(p);
}
static void *extra(struct test *t, size_t bytes) { return t->extra[t->n_extra++] = device(bytes); }

/* Values go through the device's own precision, so that both sides start from the same ones. */
static void set_doubles(enum kind kind, void *dev, double *x, size_t n)
{
    float *v = mem_alloc(n * sizeof *v);
    for (size_t i = 0; i < n; i++) v[i] = (float)x[i];
    put(kind, dev, v, n);
    get(kind, v, dev, n);
    for (size_t i = 0; i < n; i++) x[i] = (double)v[i];
    free(v);
}

static struct array *input(struct test *t, const char *name, enum kind kind, size_t n,
                           bool differentiated)
{
    struct array *a = &t->in[t->n_in++];
    *a = (struct array){ name, kind, n, mem_zero(n, sizeof *a->x) };
    a->dev = device(bytes_of(kind, n));
    for (size_t i = 0; i < n; i++) a->x[i] = uniform(t);
    set_doubles(kind, a->dev, a->x, n);
    if (!differentiated) return a;
    a->grad = device(bytes_of(kind, n));
    a->before = mem_zero(n, sizeof(float));
    a->g = mem_zero(n, sizeof(float));
    return a;
}

static struct array *output(struct test *t, const char *name, enum kind kind, size_t n)
{
    struct array *a = &t->out[t->n_out++];
    *a = (struct array){
        .name = name, .kind = kind, .n = n, .x = mem_zero(n, sizeof *a->x),
        .got = mem_zero(n, sizeof *a->got), .dev = device(bytes_of(kind, n)),
        .cot = mem_zero(n, sizeof *a->cot), .cot_dev = device(bytes_of(kind, n)),
    };
    for (size_t i = 0; i < n; i++) a->cot[i] = uniform(t);
    set_doubles(kind, a->cot_dev, a->cot, n);
    return a;
}

static int32_t *integers(struct test *t, const char *name, size_t n, int bound)
{
    struct ints *a = &t->ints[t->n_ints++];
    *a = (struct ints){ name, n, mem_zero(n, sizeof *a->v), device(n * sizeof *a->v) };
    for (size_t i = 0; i < n && bound > 0; i++) a->v[i] = below(t, bound);
    return a->v;
}
static const int32_t *idev(const struct test *t, int i) { return t->ints[i].dev; }

/* Rows of sentences: sample numbers of 35 bits, positions from 0. */
static void rows_of_drop(struct test *t, int n)
{
    t->sample = mem_zero((size_t)n, sizeof *t->sample);
    t->pos = mem_zero((size_t)n, sizeof *t->pos);
    for (int i = 0; i < n; i++) {
        t->sample[i] = i && below(t, 4) ? t->sample[i - 1] : (uint64_t)below(t, 1 << 30) << 5;
        t->pos[i] =
            i && t->sample[i] == t->sample[i - 1] ? t->pos[i - 1] + 1 : (uint32_t)below(t, 3000);
    }
    t->drop =
        (struct kern_drop){ t->s.drop ? 0.25f : 0, { 0x123456789abcdefu, RNG_DROPOUT, 77 }, 3 };
    uint64_t *sample = extra(t, (size_t)n * sizeof *sample);
    uint32_t *pos = extra(t, (size_t)n * sizeof *pos);
    if (n) k->upload(sample, t->sample, (size_t)n * sizeof *sample);
    if (n) k->upload(pos, t->pos, (size_t)n * sizeof *pos);
    t->drop.sample = sample;
    t->drop.pos = pos;
}

/* kernels.h, word by word: what is multiplied to feature c of row r; `low` is h << 12 for
 * attention. */
static double mask(const struct test *t, int r, uint32_t low, int c)
{
    if (t->drop.p == 0) return 1;
    uint32_t out[4];
    rng_block(t->drop.key, t->sample[r] | (uint64_t)t->drop.site << 40,
              t->pos[r] << 20 | low | (uint32_t)(c / 8), out);
    uint32_t word = out[c % 8 / 2], bits = c % 2 ? word >> 16 : word & 0xffff;
    double limit = round((double)t->drop.p * 65536);
    return bits < limit ? 0 : 1 / (1 - limit / 65536);
}

static struct test *case_new(const struct op *op, const struct shape *s)
{
    struct test *t = mem_zero(1, sizeof *t);
    t->op = op;
    t->s = *s;
    t->rng = (struct rng){ { 1, RNG_TEST, 5 }, (uint64_t)(s->N + 1000 * s->I), 0 };
    op->setup(t);
    for (int i = 0; i < t->n_ints; i++)
        if (t->ints[i].n) k->upload(t->ints[i].dev, t->ints[i].v, t->ints[i].n * sizeof(int32_t));
    return t;
}

static void case_free(struct test *t)
{
    for (int i = 0; i < t->n_in; i++) {
        struct array *a = &t->in[i];
        free(a->x); free(a->before); free(a->g);
        release(a->dev);
        if (a->grad) release(a->grad);
    }
    for (int i = 0; i < t->n_out; i++) {
        struct array *a = &t->out[i];
        free(a->x); free(a->got); free(a->cot);
        release(a->dev); release(a->cot_dev);
    }
    for (int i = 0; i < t->n_ints; i++) { free(t->ints[i].v); release(t->ints[i].dev); }
    for (int i = 0; i < t->n_extra; i++) release(t->extra[i]);
    free(t->sample); free(t->pos); free(t->allowed);
    free(t);
}

/* Forward and backward on the device. Outputs, and activation gradients that are written and not
 * added to, hold NaN before: what an operation forgets to write shows. */
static void run(struct test *t)
{
    for (int i = 0; i < t->n_out; i++) {
        struct array *a = &t->out[i];
        for (size_t j = 0; j < a->n; j++) a->got[j] = NAN;
        put(a->kind, a->dev, a->got, a->n);
    }
    t->op->forward(t);
    for (int i = 0; i < t->n_in; i++) {
        struct array *a = &t->in[i];
        bool added = a->kind == PARAM || t->s.add;
        for (size_t j = 0; a->grad && j < a->n; j++)
            a->before[j] = added               ? (float)((double)(j % 7) / 1024 - 0.003)
                           : t->op->zero_first ? 0
                                               : NAN;
        if (a->grad) put(a->kind, a->grad, a->before, a->n);
        for (size_t j = 0; a->grad && j < a->n && !added; j++) a->before[j] = 0;
    }
    t->op->backward(t);
    assert_int_equal(k->sync(), 0);
    for (int i = 0; i < t->n_out; i++)
        get(t->out[i].kind, t->out[i].got, t->out[i].dev, t->out[i].n);
    for (int i = 0; i < t->n_in; i++)
        if (t->in[i].grad) get(t->in[i].kind, t->in[i].g, t->in[i].grad, t->in[i].n);
}

/* --- the checks ------------------------------------------------------------------------------- */

static char wrong[256];                          /* what the last failed check saw */

static double length_of(const double *x, size_t n)
{
    double s = 0;
    for (size_t i = 0; i < n; i++) s += x[i] * x[i];
    return sqrt(s);
}

/* || got - want || <= tolerance || want ||. Infinities must be the same ones. */
static bool agree(const char *op, const char *what, const float *got, const double *want, size_t n,
                  double tol)
{
    double difference = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
        if (isinf(want[i]) && (double)got[i] == want[i]) continue;
        difference += ((double)got[i] - want[i]) * ((double)got[i] - want[i]);
        size += want[i] * want[i];
    }
    if (sqrt(difference) <= tol * sqrt(size) + 1e-7) return true;
    snprintf(wrong, sizeof wrong, "%s: %s is off by %.2g of its norm %.3g", op, what,
             sqrt(difference) / sqrt(size), sqrt(size));
    return false;
}

static bool values_hold(struct test *t)
{
    t->op->plain(t);
    for (int i = 0; i < t->n_out; i++)
        if (!agree(t->op->name, t->out[i].name, t->out[i].got, t->out[i].x, t->out[i].n, tolerance))
            return false;
    return true;
}

static double loss(struct test *t)
{
    t->op->plain(t);
    double sum = 0;
    for (int i = 0; i < t->n_out; i++)
        for (size_t j = 0; t->out[i].cot && j < t->out[i].n; j++)
            sum += t->out[i].cot[j] * t->out[i].x[j];
    return sum;
}

/* Central differences of the plain version in double, in random directions, against the
 * operation's gradient. `sign` -1 is what the gradient of input `flipped` is multiplied by, for
 * the test of this test. */
static bool gradients_hold(struct test *t, int flipped)
{
    for (int i = 0; i < t->n_in; i++) {
        struct array *a = &t->in[i];
        if (!a->grad || a->n == 0) continue;
        double *x = mem_alloc(a->n * sizeof *x), *u = mem_alloc(a->n * sizeof *u),
               *g = mem_alloc(a->n * sizeof *g);
        memcpy(x, a->x, a->n * sizeof *x);
        for (size_t j = 0; j < a->n; j++)
            g[j] = ((double)a->g[j] - (double)a->before[j]) * (i == flipped ? -1 : 1);
        int directions = a->n > 100000 ? 1 : 3;
        bool good = true;
        for (int d = 0; d < directions && good; d++) {
            const double h = 1e-5;
            double along = 0, size = 0;
            for (size_t j = 0; j < a->n; j++) {
                /* the first: no cancellation in the sum */
                u[j] = d == 0 ? (g[j] < 0 ? -1 : 1) : uniform(t);
                along += u[j] * g[j];
                size += u[j] * u[j];
            }
            for (size_t j = 0; j < a->n; j++) a->x[j] = x[j] + h * u[j];
            double up = loss(t);
            for (size_t j = 0; j < a->n; j++) a->x[j] = x[j] - h * u[j];
            double slope = (up - loss(t)) / (2 * h);
            double allowed = 2 * tolerance * length_of(g, a->n) * sqrt(size) + 1e-6 * sqrt(size);
            good = fabs(slope - along) <= allowed;
            if (!good)
                snprintf(wrong, sizeof wrong,
                         "%s: gradient of %s: %g, finite differences %g (|g| %.3g)", t->op->name,
                         a->name, along, slope, length_of(g, a->n));
        }
        memcpy(a->x, x, a->n * sizeof *x);
        free(x); free(u); free(g);
        if (!good) return false;
    }
    return true;
}

static size_t times(int a, int b) { return (size_t)a * (size_t)b; }
static void nothing(struct test *t) { (void)t; }

/* Ends the shapes of an operation. */
#define END { .N = -1 }

#endif
