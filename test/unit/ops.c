/* The list of operations. Each entry says what an operation reads and writes and computes it again in double, plainly.
 * From the list follow: values and gradients (finite differences of the plain version) at awkward shapes, dropout as
 * kernels.h documents it, equal bytes on any number of threads, PyTorch's numbers (test/golden/ops.py), and that the
 * checks notice a gradient with the wrong sign. `ops DEVICE [bf16]`
 * runs it all on another back end; `ops DEVICE describe` only opens it. What only the beam search asks for is in search.c. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/safetensors.h"
#include "common/thread.h"
#include "kernels/kernels.h"
#include "test/unit/acts.h"

static const struct kernels *k;
static double tolerance = 1e-5;                  /* norm-relative, of float32 */

/* --- a case: an operation at one shape, with its arrays --------------------------------------- */

struct shape {
    int N, I, O, H, V, J, heads, batch;          /* as kernels.h calls them; unused ones 0 */
    bool no_bias, add, drop, causal, cross, cached, weighted, allowed, sum, plain, softmax_only, output, alone, in_place, none;
    enum kern_act f;
    float eps;
};

enum kind { ACT, PARAM };
struct array {
    const char *name;
    enum kind kind;
    size_t n;
    double *x;                                   /* the value in double; of an output: of the plain version */
    float *got;                                  /* of an output: the operation's */
    void *dev;
    double *cot;                                 /* outputs: d loss / d output; NULL: not differentiated */
    void *cot_dev;
    void *grad;                                  /* inputs: the gradient, NULL if not differentiated */
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
    struct kern_drop drop;                       /* p = 0 without s.drop; sample, pos on the device */
    uint64_t *sample;                            /* and here */
    uint32_t *pos;
    uint8_t *allowed; void *allowed_dev;
    struct kern_attn attn;
    float drop_p;
};

struct op {
    const char *name;
    void (*setup)(struct test *t);
    void (*plain)(struct test *t);               /* out[].x from in[].x */
    void (*forward)(struct test *t);
    void (*backward)(struct test *t);
    struct shape shapes[16];                     /* N < 0 ends them */
    struct shape golden;                         /* the shape of test/golden/ops.py; N = 0: not there */
    bool zero_first;                             /* backward leaves rows out: their gradient is zeroed before */
};

static double uniform(struct test *t) { return (double)rng_next_unit(&t->rng) * 2 - 1; }
static int below(struct test *t, int n) { return (int)rng_next_below(&t->rng, (uint64_t)n); }

static size_t bytes_of(enum kind kind, size_t n) { return n * (kind == ACT ? k->act_size : sizeof(float)); }
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
static void *device(size_t bytes)
{
    void *p = k->alloc(bytes ? bytes : 1);
    if (!p) fail_msg("%s", err_msg());
    return p;
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

static struct array *input(struct test *t, const char *name, enum kind kind, size_t n, bool differentiated)
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
    *a = (struct array){ name, kind, n, mem_zero(n, sizeof *a->x), mem_zero(n, sizeof(float)), device(bytes_of(kind, n)),
                         mem_zero(n, sizeof(double)), device(bytes_of(kind, n)) };
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
        t->pos[i] = i && t->sample[i] == t->sample[i - 1] ? t->pos[i - 1] + 1 : (uint32_t)below(t, 3000);
    }
    t->drop = (struct kern_drop){ t->s.drop ? 0.25f : 0, { 0x123456789abcdefu, RNG_DROPOUT, 77 }, 3 };
    uint64_t *sample = extra(t, (size_t)n * sizeof *sample);
    uint32_t *pos = extra(t, (size_t)n * sizeof *pos);
    if (n) k->upload(sample, t->sample, (size_t)n * sizeof *sample);
    if (n) k->upload(pos, t->pos, (size_t)n * sizeof *pos);
    t->drop.sample = sample;
    t->drop.pos = pos;
}

/* kernels.h, word by word: what is multiplied to feature c of row r; `low` is h << 12 for attention. */
static double mask(const struct test *t, int r, uint32_t low, int c)
{
    if (t->drop.p == 0) return 1;
    uint32_t out[4];
    rng_block(t->drop.key, t->sample[r] | (uint64_t)t->drop.site << 40, t->pos[r] << 20 | low | (uint32_t)(c / 8), out);
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
        k->release(a->dev);
        if (a->grad) k->release(a->grad);
    }
    for (int i = 0; i < t->n_out; i++) {
        struct array *a = &t->out[i];
        free(a->x); free(a->got); free(a->cot);
        k->release(a->dev); k->release(a->cot_dev);
    }
    for (int i = 0; i < t->n_ints; i++) { free(t->ints[i].v); k->release(t->ints[i].dev); }
    for (int i = 0; i < t->n_extra; i++) k->release(t->extra[i]);
    free(t->sample); free(t->pos); free(t->allowed);
    free(t);
}

/* Forward and backward on the device. Outputs, and activation gradients that are written and not added to, hold NaN
 * before: what an operation forgets to write shows. */
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
            a->before[j] = added ? (float)((double)(j % 7) / 1024 - 0.003) : t->op->zero_first ? 0 : NAN;
        if (a->grad) put(a->kind, a->grad, a->before, a->n);
        for (size_t j = 0; a->grad && j < a->n && !added; j++) a->before[j] = 0;
    }
    t->op->backward(t);
    assert_int_equal(k->sync(), 0);
    for (int i = 0; i < t->n_out; i++) get(t->out[i].kind, t->out[i].got, t->out[i].dev, t->out[i].n);
    for (int i = 0; i < t->n_in; i++) if (t->in[i].grad) get(t->in[i].kind, t->in[i].g, t->in[i].grad, t->in[i].n);
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
static bool agree(const char *op, const char *what, const float *got, const double *want, size_t n, double tol)
{
    double difference = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
        if (isinf(want[i]) && (double)got[i] == want[i]) continue;
        difference += ((double)got[i] - want[i]) * ((double)got[i] - want[i]);
        size += want[i] * want[i];
    }
    if (sqrt(difference) <= tol * sqrt(size) + 1e-7) return true;
    snprintf(wrong, sizeof wrong, "%s: %s is off by %.2g of its norm %.3g", op, what, sqrt(difference) / sqrt(size), sqrt(size));
    return false;
}

static bool values_hold(struct test *t)
{
    t->op->plain(t);
    for (int i = 0; i < t->n_out; i++)
        if (!agree(t->op->name, t->out[i].name, t->out[i].got, t->out[i].x, t->out[i].n, tolerance)) return false;
    return true;
}

static double loss(struct test *t)
{
    t->op->plain(t);
    double sum = 0;
    for (int i = 0; i < t->n_out; i++)
        for (size_t j = 0; t->out[i].cot && j < t->out[i].n; j++) sum += t->out[i].cot[j] * t->out[i].x[j];
    return sum;
}

/* Central differences of the plain version in double, in random directions, against the operation's gradient. `sign`
 * -1 is what the gradient of input `flipped` is multiplied by, for the test of this test. */
static bool gradients_hold(struct test *t, int flipped)
{
    for (int i = 0; i < t->n_in; i++) {
        struct array *a = &t->in[i];
        if (!a->grad || a->n == 0) continue;
        double *x = mem_alloc(a->n * sizeof *x), *u = mem_alloc(a->n * sizeof *u), *g = mem_alloc(a->n * sizeof *g);
        memcpy(x, a->x, a->n * sizeof *x);
        for (size_t j = 0; j < a->n; j++) g[j] = ((double)a->g[j] - (double)a->before[j]) * (i == flipped ? -1 : 1);
        int directions = a->n > 100000 ? 1 : 3;
        bool good = true;
        for (int d = 0; d < directions && good; d++) {
            const double h = 1e-5;
            double along = 0, size = 0;
            for (size_t j = 0; j < a->n; j++) {
                u[j] = d == 0 ? (g[j] < 0 ? -1 : 1) : uniform(t);       /* the first: no cancellation in the sum */
                along += u[j] * g[j];
                size += u[j] * u[j];
            }
            for (size_t j = 0; j < a->n; j++) a->x[j] = x[j] + h * u[j];
            double up = loss(t);
            for (size_t j = 0; j < a->n; j++) a->x[j] = x[j] - h * u[j];
            double slope = (up - loss(t)) / (2 * h);
            double allowed = 2 * tolerance * length_of(g, a->n) * sqrt(size) + 1e-6 * sqrt(size);
            good = fabs(slope - along) <= allowed;
            if (!good) snprintf(wrong, sizeof wrong, "%s: gradient of %s: %g, finite differences %g (|g| %.3g)", t->op->name, a->name, along, slope, length_of(g, a->n));
        }
        memcpy(a->x, x, a->n * sizeof *x);
        free(x); free(u); free(g);
        if (!good) return false;
    }
    return true;
}

/* --- linear ----------------------------------------------------------------------------------- */

static size_t times(int a, int b) { return (size_t)a * (size_t)b; }

static double activation(double x, enum kern_act f)
{
    switch (f) {
    case KERN_GELU: return x * 0.5 * erfc(-x / sqrt(2));
    case KERN_RELU: return x > 0 ? x : 0;
    case KERN_TANH: return tanh(x);
    default: return x;
    }
}

static void plain_linear(double *Y, const double *X, const double *W, const double *b, enum kern_act f, int N, int I, int O)
{
    for (int n = 0; n < N; n++)
        for (int o = 0; o < O; o++) {
            double y = b ? b[o] : 0;
            for (int i = 0; i < I; i++) y += X[times(n, I) + (size_t)i] * W[times(o, I) + (size_t)i];
            Y[times(n, O) + (size_t)o] = activation(y, f);
        }
}

static void linear_setup(struct test *t)
{
    struct shape s = t->s;
    input(t, "X", ACT, times(s.N, s.I), true);
    input(t, "W", PARAM, times(s.O, s.I), true);
    if (!s.no_bias) input(t, "b", PARAM, (size_t)s.O, true);
    output(t, "Y", ACT, times(s.N, s.O));
}
static void linear_plain(struct test *t)
{
    plain_linear(t->out[0].x, t->in[0].x, t->in[1].x, t->s.no_bias ? NULL : t->in[2].x, KERN_NONE, t->s.N, t->s.I, t->s.O);
}
static void linear_forward(struct test *t)
{
    KERN(k, linear_fwd, .Y = t->out[0].dev, .X = t->in[0].dev, .W = t->in[1].dev,
         .b = t->in[2].dev, .N = t->s.N, .I = t->s.I, .O = t->s.O);
}
static void linear_backward(struct test *t)
{
    KERN(k, linear_bwd, .dX = t->in[0].grad, .add = t->s.add, .dW = t->in[1].grad,
         .db = t->in[2].grad, .dY = t->out[0].cot_dev, .X = t->in[0].dev, .W = t->in[1].dev,
         .N = t->s.N, .I = t->s.I, .O = t->s.O);
}

/* f(X W1^T + b1) W2^T + b2: activations forward, and their derivative inside the next product's backward pass. */
static void ffn_setup(struct test *t)
{
    struct shape s = t->s;
    input(t, "X", ACT, times(s.N, s.I), true);
    input(t, "W1", PARAM, times(s.H, s.I), true);
    input(t, "b1", PARAM, (size_t)s.H, true);
    input(t, "W2", PARAM, times(s.O, s.H), true);
    input(t, "b2", PARAM, (size_t)s.O, true);
    output(t, "Y", ACT, times(s.N, s.O));
    for (int i = 0; i < 3; i++) extra(t, bytes_of(ACT, times(s.N, s.H)));
}
static void ffn_plain(struct test *t)
{
    struct shape s = t->s;
    double *hidden = mem_alloc(times(s.N, s.H) * sizeof *hidden);
    plain_linear(hidden, t->in[0].x, t->in[1].x, t->in[2].x, s.f, s.N, s.I, s.H);
    plain_linear(t->out[0].x, hidden, t->in[3].x, t->in[4].x, KERN_NONE, s.N, s.H, s.O);
    free(hidden);
}
static void ffn_forward(struct test *t)
{
    struct shape s = t->s;
    KERN(k, linear_fwd, .Y = t->extra[0], .pre = t->extra[1], .X = t->in[0].dev, .W = t->in[1].dev,
         .b = t->in[2].dev, .f = s.f, .N = s.N, .I = s.I, .O = s.H);
    KERN(k, linear_fwd, .Y = t->out[0].dev, .X = t->extra[0], .W = t->in[3].dev, .b = t->in[4].dev,
         .N = s.N, .I = s.H, .O = s.O);
}
/* Of the hidden states both are kept, or only what they were before f (`alone`), with one call for all or two (`plain`). */
static void ffn_backward(struct test *t)
{
    struct shape s = t->s;
    bool sums = t->in[2].grad && !s.add;                /* of the first bias, in the first call */
    if (s.N) k->zero(t->extra[2], bytes_of(ACT, times(s.N, s.H)));
    if (s.alone || s.plain) k->copy(t->extra[0], t->extra[1], bytes_of(ACT, times(s.N, s.H)));
    KERN(k, linear_bwd, .dX = t->extra[2], .add = s.add, .dW = s.plain ? NULL : t->in[3].grad,
         .db = s.plain ? NULL : t->in[4].grad, .dY = t->out[0].cot_dev, .X = t->extra[0],
         .W = t->in[3].dev, .pre_x = s.alone ? t->extra[0] : t->extra[1], .f = s.f,
         .db_x = sums ? t->in[2].grad : NULL, .N = s.N, .I = s.H, .O = s.O);
    if (s.plain)
        KERN(k, linear_bwd, .dW = t->in[3].grad, .db = t->in[4].grad, .dY = t->out[0].cot_dev,
             .X = t->extra[0], .pre_x = t->extra[0], .f = s.f, .N = s.N, .I = s.H, .O = s.O);
    KERN(k, linear_bwd, .dX = t->in[0].grad, .add = s.add, .dW = t->in[1].grad,
         .db = sums ? NULL : t->in[2].grad, .dY = t->extra[2], .X = t->in[0].dev,
         .W = t->in[1].dev, .N = s.N, .I = s.I, .O = s.H);
}

/* f(X W^T + b), whose backward pass begins with f' alone. */
static void dense_setup(struct test *t)
{
    linear_setup(t);
    extra(t, bytes_of(ACT, times(t->s.N, t->s.O)));
    extra(t, bytes_of(ACT, times(t->s.N, t->s.O)));
}
static void dense_plain(struct test *t)
{
    plain_linear(t->out[0].x, t->in[0].x, t->in[1].x, t->in[2].x, t->s.f, t->s.N, t->s.I, t->s.O);
}
static void dense_forward(struct test *t)
{
    KERN(k, linear_fwd, .Y = t->out[0].dev, .pre = t->extra[0], .X = t->in[0].dev,
         .W = t->in[1].dev, .b = t->in[2].dev, .f = t->s.f, .N = t->s.N, .I = t->s.I, .O = t->s.O);
}
static void dense_backward(struct test *t)
{
    struct shape s = t->s;
    k->copy(t->extra[1], t->out[0].cot_dev, bytes_of(ACT, times(s.N, s.O)));
    KERN(k, act_bwd, .dX = t->extra[1], .pre = t->extra[0], .f = s.f, .n = times(s.N, s.O));
    KERN(k, linear_bwd, .dX = t->in[0].grad, .add = s.add, .dW = t->in[1].grad,
         .db = t->in[2].grad, .dY = t->extra[1], .X = t->in[0].dev, .W = t->in[1].dev, .N = s.N,
         .I = s.I, .O = s.O);
}

/* --- embeddings ------------------------------------------------------------------------------- */

enum { POSITIONS = 6, LANGS = 3 };
static const float EMBED_SCALE = 1.75f;

static void embed_setup(struct test *t)
{
    struct shape s = t->s;
    input(t, "E", PARAM, times(s.V, s.I), true);
    if (!s.plain) input(t, "P", PARAM, times(POSITIONS, s.I), true);
    if (!s.plain) input(t, "L", PARAM, times(LANGS, s.I), true);
    int32_t *token = integers(t, "token", (size_t)s.N, s.V);
    for (int i = 0; s.none && i < s.N; i += 3) token[i] = -1;
    integers(t, "pos", (size_t)s.N, POSITIONS);
    integers(t, "lang", (size_t)s.N, LANGS);
    output(t, "Y", ACT, times(s.N, s.I));
}
static void embed_plain(struct test *t)
{
    size_t D = (size_t)t->s.I;
    for (size_t n = 0; n < (size_t)t->s.N; n++)
        for (size_t i = 0; i < D; i++) {
            int32_t token = t->ints[0].v[n];
            double y = token < 0 ? 0 : (double)EMBED_SCALE * t->in[0].x[(size_t)token * D + i];
            if (!t->s.plain) y += t->in[1].x[(size_t)t->ints[1].v[n] * D + i] + t->in[2].x[(size_t)t->ints[2].v[n] * D + i];
            t->out[0].x[n * D + i] = y;
        }
}
static void embed_forward(struct test *t)
{
    KERN(k, embed_fwd, .Y = t->out[0].dev, .token = idev(t, 0), .pos = idev(t, 1),
         .lang = idev(t, 2), .E = t->in[0].dev, .P = t->in[1].dev, .L = t->in[2].dev,
         .scale = EMBED_SCALE, .N = t->s.N, .D = t->s.I);
}
static void embed_backward(struct test *t)
{
    KERN(k, embed_bwd, .dE = t->in[0].grad, .dP = t->in[1].grad, .dL = t->in[2].grad,
         .dY = t->out[0].cot_dev, .token = idev(t, 0), .pos = idev(t, 1), .lang = idev(t, 2),
         .scale = EMBED_SCALE, .N = t->s.N, .D = t->s.I);
}

/* --- residual, dropout, layer norm: outputs Y and, with `sum`, S; in_place: S is X ------------ */

static const float NORM_EPS = 1e-5f;

static void norm_setup(struct test *t)
{
    struct shape s = t->s;
    rows_of_drop(t, s.N);
    input(t, "X", ACT, times(s.N, s.I), true);
    input(t, "gamma", PARAM, (size_t)s.I, true);
    input(t, "beta", PARAM, (size_t)s.I, true);
    if (!s.plain) input(t, "U", ACT, times(s.N, s.I), true);
    output(t, "Y", ACT, times(s.N, s.I));
    if (s.sum) output(t, "S", ACT, times(s.N, s.I));
    extra(t, (size_t)s.N * sizeof(float));
    extra(t, (size_t)s.N * sizeof(float));
    extra(t, bytes_of(ACT, times(s.N, s.I)));
    if (s.add && !s.plain) extra(t, bytes_of(ACT, times(s.N, s.I)));
}
static void norm_plain(struct test *t)
{
    size_t D = (size_t)t->s.I;
    double *s = mem_alloc(D * sizeof *s);
    for (int n = 0; n < t->s.N; n++) {
        double mean = 0, var = 0;
        for (size_t i = 0; i < D; i++) {
            size_t at = (size_t)n * D + i;
            s[i] = t->in[0].x[at] + (t->s.plain ? 0 : mask(t, n, 0, (int)i) * t->in[3].x[at]);
            mean += s[i] / (double)D;
            if (t->s.sum) t->out[1].x[at] = s[i];
        }
        for (size_t i = 0; i < D; i++) var += (s[i] - mean) * (s[i] - mean) / (double)D;
        for (size_t i = 0; i < D; i++)
            t->out[0].x[(size_t)n * D + i] = (s[i] - mean) / sqrt(var + (double)NORM_EPS) * t->in[1].x[i] + t->in[2].x[i];
    }
    free(s);
}
static void *norm_sum(struct test *t) { return t->s.sum ? t->out[1].dev : t->s.plain ? t->in[0].dev : t->extra[4]; }
static void norm_forward(struct test *t)
{
    void *X = t->in[0].dev;
    if (t->s.in_place && X != norm_sum(t)) {
        k->copy(norm_sum(t), X, bytes_of(ACT, times(t->s.N, t->s.I)));
        X = norm_sum(t);
    }
    KERN(k, norm_fwd, .Y = t->out[0].dev,
         .S = t->s.plain && !t->s.sum && !t->s.in_place ? NULL : norm_sum(t), .mean = t->extra[2],
         .rstd = t->extra[3], .X = X, .U = t->in[3].dev, .gamma = t->in[1].dev,
         .beta = t->in[2].dev, .drop = &t->drop, .eps = NORM_EPS, .N = t->s.N, .D = t->s.I);
}
static void norm_backward(struct test *t)
{
    /* dU is written, not added to: the caller adds. */
    void *dU = t->s.plain ? NULL : t->s.add ? t->extra[5] : t->in[3].grad;
    KERN(k, norm_bwd, .dX = t->in[0].grad, .add = t->s.add, .dU = dU, .dgamma = t->in[1].grad,
         .dbeta = t->in[2].grad, .dY = t->out[0].cot_dev,
         .dS = t->s.sum ? t->out[1].cot_dev : NULL, .S = norm_sum(t), .mean = t->extra[2],
         .rstd = t->extra[3], .gamma = t->in[1].dev, .drop = &t->drop, .N = t->s.N, .D = t->s.I);
    if (dU == t->extra[5] && dU) KERN(k, add, .Y = t->in[3].grad, .X = dU,
                                      .n = times(t->s.N, t->s.I));
}

/* --- dropout alone ---------------------------------------------------------------------------- */

static void drop_setup(struct test *t)
{
    rows_of_drop(t, t->s.N);
    input(t, "U", ACT, times(t->s.N, t->s.I), true);
    input(t, "X", ACT, times(t->s.N, t->s.I), false);
    output(t, "S", ACT, times(t->s.N, t->s.I));
}
static void drop_plain(struct test *t)
{
    for (int n = 0; n < t->s.N; n++)
        for (int i = 0; i < t->s.I; i++) {
            size_t at = times(n, t->s.I) + (size_t)i;
            t->out[0].x[at] = (t->s.plain ? 0 : t->in[1].x[at]) + mask(t, n, 0, i) * t->in[0].x[at];
        }
}
static void drop_forward(struct test *t)
{
    KERN(k, drop_fwd, .S = t->out[0].dev, .X = t->s.plain ? NULL : t->in[1].dev, .U = t->in[0].dev,
         .drop = &t->drop, .N = t->s.N, .D = t->s.I);
}
static void drop_backward(struct test *t) { KERN(k, drop_bwd, .dU = t->in[0].grad, .add = t->s.add,
                                                 .dS = t->out[0].cot_dev, .drop = &t->drop,
                                                 .N = t->s.N, .D = t->s.I); }

/* --- attention: self (QKV in one matrix), cross (Q; K and V in one), cached (query rows are the last of longer keys,
 * key rows lie apart) -------------------------------------------------------------------------- */

enum { CACHE = 70 };

static void attn_setup(struct test *t)
{
    struct shape s = t->s;
    int D = s.heads * s.I, B = s.batch;
    int32_t *q_at = integers(t, "q_at", (size_t)B, 0), *q_len = integers(t, "q_len", (size_t)B, 0);
    int32_t *k_at = integers(t, "k_at", (size_t)B, 0), *k_len = integers(t, "k_len", (size_t)B, 0);
    int nq = 0, nk = 0, max_q = 0, max_k = 0;
    for (int b = 0; b < B; b++) {
        q_at[b] = nq;
        q_len[b] = s.cached ? b % 3 : b == 0 ? s.N : b * 3 % (s.N + 1);
        k_len[b] = s.cached ? q_len[b] + b * 17 % (CACHE - 2) : s.cross ? (b * 5 + 2) % (s.N + 7) : q_len[b];
        k_at[b] = s.cached ? b * CACHE : s.cross ? nk : nq;
        nq += q_len[b];
        nk = k_at[b] + (s.cached ? CACHE : k_len[b]);
        if (q_len[b] > max_q) max_q = q_len[b];
        if (k_len[b] > max_k) max_k = k_len[b];
    }
    rows_of_drop(t, nq);
    bool one = !s.cross && !s.cached;
    input(t, one ? "QKV" : "Q", ACT, times(nq, one ? 3 * D : D), true);
    if (!one) input(t, "KV", ACT, times(nk, 2 * D), true);
    output(t, "O", ACT, times(nq, D));
    extra(t, times(nq, s.heads) * sizeof(float));
    t->attn = (struct kern_attn){ .batch = B, .heads = s.heads, .dim = s.I, .ldq = one ? 3 * D : D, .ldk = one ? 3 * D : 2 * D,
        .ldv = one ? 3 * D : 2 * D, .ldo = D, .q_at = idev(t, 0), .q_len = idev(t, 1), .k_at = idev(t, 2), .k_len = idev(t, 3),
        .max_q = max_q, .max_k = max_k, .rows_q = nq, .causal = s.causal || s.cached, .scale = 0.7f };
}
static void attn_plain(struct test *t)
{
    const struct kern_attn *g = &t->attn;
    int D = g->heads * g->dim;
    bool one = t->n_in == 1;
    const double *Q = t->in[0].x, *K = one ? Q + D : t->in[1].x, *V = K + D;
    for (int b = 0; b < g->batch; b++) {
        int q_at = t->ints[0].v[b], nq = t->ints[1].v[b], k_at = t->ints[2].v[b], nk = t->ints[3].v[b];
        double *p = mem_alloc((size_t)nk * sizeof *p);
        for (int h = 0; h < g->heads; h++)
            for (int q = 0; q < nq; q++) {
                double *o = t->out[0].x + times(q_at + q, g->ldo) + h * g->dim, sum = 0, max = -INFINITY;
                const double *query = Q + times(q_at + q, g->ldq) + h * g->dim;
                int sees = g->causal ? q + nk - nq + 1 : nk;
                for (int i = 0; i < g->dim; i++) o[i] = 0;
                for (int j = 0; j < sees; j++) {
                    p[j] = 0;
                    for (int i = 0; i < g->dim; i++) p[j] += (double)g->scale * query[i] * K[times(k_at + j, g->ldk) + (size_t)(h * g->dim + i)];
                    if (p[j] > max) max = p[j];
                }
                for (int j = 0; j < sees; j++) sum += p[j] = exp(p[j] - max);
                for (int j = 0; j < sees; j++) {
                    double m = mask(t, q_at + q, (uint32_t)h << 12, j) * p[j] / sum;
                    for (int i = 0; i < g->dim; i++) o[i] += m * V[times(k_at + j, g->ldv) + (size_t)(h * g->dim + i)];
                }
            }
        free(p);
    }
}
static act *column(void *p, int c) { return p ? (char *)p + (size_t)c * k->act_size : NULL; }
static void attn_forward(struct test *t)
{
    int D = t->attn.heads * t->attn.dim;
    void *K = t->n_in == 1 ? column(t->in[0].dev, D) : t->in[1].dev;
    KERN(k, attn_fwd, .O = t->out[0].dev, .lse = t->extra[2], .Q = t->in[0].dev, .K = K,
         .V = column(K, D), .g = &t->attn, .drop = &t->drop);
}
static void attn_backward(struct test *t)
{
    int D = t->attn.heads * t->attn.dim;
    bool one = t->n_in == 1;
    void *K = one ? column(t->in[0].dev, D) : t->in[1].dev, *dK = one ? column(t->in[0].grad, D) : t->in[1].grad;
    KERN(k, attn_bwd, .dQ = t->in[0].grad, .dK = dK, .dV = column(dK, D), .dO = t->out[0].cot_dev,
         .O = t->out[0].dev, .Q = t->in[0].dev, .K = K, .V = column(K, D), .lse = t->extra[2],
         .g = &t->attn, .drop = &t->drop);
}

/* --- rows: the gradient of gather is scatter -------------------------------------------------- */

static void gather_setup(struct test *t)
{
    struct shape s = t->s;
    input(t, "X", ACT, times(s.N, s.I + 3), true);           /* of rows I + 3 wide the first I columns */
    int32_t *index = integers(t, "index", (size_t)s.O, 0);
    for (int i = 0; i < s.O; i++) index[i] = i % 5 == 3 ? -1 : (i * 7 + 2) % s.N;       /* distinct: 7 does not divide N */
    output(t, "Y", ACT, times(s.O, s.I));
}
static void gather_plain(struct test *t)
{
    int D = t->s.I;
    for (int m = 0; m < t->s.O; m++)
        for (int i = 0; i < D; i++)
            t->out[0].x[times(m, D) + (size_t)i] = t->ints[0].v[m] < 0 ? 0 : t->in[0].x[times(t->ints[0].v[m], D + 3) + (size_t)i];
}
static void gather_forward(struct test *t) { KERN(k, gather, .Y = t->out[0].dev, .ldy = t->s.I,
                                                  .X = t->in[0].dev, .ldx = t->s.I + 3,
                                                  .index = idev(t, 0), .M = t->s.O, .D = t->s.I); }
static void gather_backward(struct test *t)
{
    KERN(k, scatter, .Y = t->in[0].grad, .ldy = t->s.I + 3, .add = t->s.add,
         .X = t->out[0].cot_dev, .ldx = t->s.I, .index = idev(t, 0), .M = t->s.O, .D = t->s.I);
}

/* --- output layer and cross entropy ----------------------------------------------------------- */

static const float XENT_SCALE = 0.3f;

static void xent_setup(struct test *t)
{
    struct shape s = t->s;
    input(t, "X", ACT, times(s.N, s.I), true);
    input(t, "W", PARAM, times(s.V, s.I), true);
    if (!s.no_bias) input(t, "b", PARAM, (size_t)s.V, true);
    int32_t *target = integers(t, "target", (size_t)s.N, s.V);
    if (!s.plain) for (int i = 0; i < s.N; i += 4) target[i] = -1;
    struct array *loss = output(t, "loss", PARAM, (size_t)s.N), *nll = output(t, "nll", PARAM, (size_t)s.N);
    free(nll->cot);
    nll->cot = NULL;
    float *weight = extra(t, (size_t)s.N * sizeof(float));
    for (int i = 0; i < s.N; i++) {
        float w = s.weighted ? (float)(0.5 + fabs(uniform(t))) : 1;
        k->upload(weight + i, &w, sizeof w);
        loss->cot[i] = (double)w * (double)XENT_SCALE;
    }
    if (s.allowed) {
        t->allowed = mem_zero((size_t)s.V, 1);
        for (int v = 0; v < s.V; v++) t->allowed[v] = v % 3 != 1;
        t->allowed_dev = extra(t, (size_t)s.V);
        k->upload(t->allowed_dev, t->allowed, (size_t)s.V);
    }
}
static void xent_plain(struct test *t)
{
    int V = t->s.V, D = t->s.I;
    double *z = mem_alloc((size_t)V * sizeof *z);
    for (int m = 0; m < t->s.N; m++) {
        int target = t->ints[0].v[m], words = 0;
        t->out[0].x[m] = t->out[1].x[m] = 0;
        if (target < 0) continue;
        double sum = 0, logits = 0;
        for (int v = 0; v < V; v++) {
            z[v] = t->s.no_bias ? 0 : t->in[2].x[v];
            for (int i = 0; i < D; i++) z[v] += t->in[0].x[times(m, D) + (size_t)i] * t->in[1].x[times(v, D) + (size_t)i];
            if (t->allowed && !t->allowed[v] && v != target) continue;
            sum += exp(z[v]);
            logits += z[v];
            words++;
        }
        double eps = (double)t->s.eps;
        t->out[1].x[m] = log(sum) - z[target];
        t->out[0].x[m] = (1 - eps) * (log(sum) - z[target]) + eps * (log(sum) - logits / words);
    }
    free(z);
}
static void xent_run(struct test *t, bool gradients)
{
    struct shape s = t->s;
    KERN(k, xent, .loss = t->out[0].dev, .nll = t->out[1].dev,
         .dX = gradients ? t->in[0].grad : NULL, .dW = gradients ? t->in[1].grad : NULL,
         .db = gradients ? t->in[2].grad : NULL, .X = t->in[0].dev, .W = t->in[1].dev,
         .b = t->in[2].dev, .target = idev(t, 0), .weight = s.weighted ? t->extra[0] : NULL,
         .allowed = t->allowed_dev, .eps = s.eps, .scale = XENT_SCALE, .M = s.N, .D = s.I,
         .V = s.V);
}
static void xent_forward(struct test *t) { xent_run(t, false); }
static void xent_backward(struct test *t) { xent_run(t, true); }

/* --- MLM-GC: Eq. 3 (rows of H), with `output` Eq. 6 (rows of the output embedding) ------------ */

static const float GC_SCALE = 0.6f, GC_WEIGHT = 0.01f, GC_DOT = 0.5f;

static void gc_setup(struct test *t)
{
    struct shape s = t->s;
    int M = s.O;
    input(t, "H", ACT, times(s.N, s.I), true);
    if (s.output) input(t, "B", PARAM, times(s.V, s.I), true);
    int32_t *target = integers(t, "t", (size_t)M, 0), *nb = integers(t, "nb", times(M, s.J), s.output ? s.V : s.N);
    for (int m = 0; m < M; m++) target[m] = (m * 7 + 2) % s.N;
    for (int i = 0; i < M * s.J; i += 5) nb[i] = -1;
    float *f = extra(t, times(M, s.J) * sizeof(float)), *logx = extra(t, times(M, s.J) * sizeof(float));
    for (int i = 0; i < M * s.J; i++) {
        float value[2] = { (float)(1 + (i * 37 % 11)) / 11, (float)(i * 53 % 17) / 4 };
        k->upload(f + i, &value[0], sizeof(float));
        k->upload(logx + i, &value[1], sizeof(float));
    }
    struct array *loss = output(t, "loss", PARAM, (size_t)M);
    for (int m = 0; m < M; m++) loss->cot[m] = (double)GC_SCALE;
}
static void gc_plain(struct test *t)
{
    struct shape s = t->s;
    const double *H = t->in[0].x, *B = s.output ? t->in[1].x : H;
    for (int m = 0; m < s.O; m++) {
        double sum = 0;
        for (int j = 0; j < s.J; j++) {
            int i = m * s.J + j, nb = t->ints[1].v[i];
            if (nb < 0) continue;
            double e = 0;
            for (int d = 0; d < s.I; d++) e += H[times(t->ints[0].v[m], s.I) + (size_t)d] * B[times(nb, s.I) + (size_t)d];
            e = (double)GC_DOT * e - (double)(i * 53 % 17) / 4;
            sum += (double)(1 + (i * 37 % 11)) / 11 * e * e;
        }
        t->out[0].x[m] = (double)GC_WEIGHT * sum;
    }
}
static void gc_run(struct test *t, bool gradients)
{
    struct shape s = t->s;
    void *dH = gradients ? t->in[0].grad : NULL;
    KERN(k, gc, .loss = t->out[0].dev, .dH = dH,
         .dB = !gradients ? NULL : s.output ? t->in[1].grad : dH, .H = t->in[0].dev,
         .B = s.output ? t->in[1].dev : t->in[0].dev, .B_act = !s.output, .t = idev(t, 0),
         .nb = idev(t, 1), .f = t->extra[0], .logx = t->extra[1], .dot_scale = GC_DOT,
         .weight = GC_WEIGHT, .scale = GC_SCALE, .M = s.O, .J = s.J, .D = s.I);
}
static void gc_forward(struct test *t) { gc_run(t, false); }
static void gc_backward(struct test *t) { gc_run(t, true); }

/* --- rows of length s ------------------------------------------------------------------------- */

static const float UNIT = 1.5f;

static void nothing(struct test *t) { (void)t; }

static void unit_setup(struct test *t)
{
    input(t, "X", ACT, times(t->s.N, t->s.I), true);
    output(t, "Y", ACT, times(t->s.N, t->s.I));
    extra(t, (size_t)t->s.N * sizeof(float));
}
static void unit_plain(struct test *t)
{
    for (int n = 0; n < t->s.N; n++) {
        const double *x = t->in[0].x + times(n, t->s.I);
        double length = length_of(x, (size_t)t->s.I);
        for (int i = 0; i < t->s.I; i++)
            t->out[0].x[times(n, t->s.I) + (size_t)i] = length > 0 ? (double)UNIT * x[i] / length : 0;
    }
}
static void unit_forward(struct test *t)
{
    KERN(k, unit_fwd, .Y = t->out[0].dev, .len = t->extra[0], .X = t->in[0].dev, .s = UNIT, .N = t->s.N,
         .D = t->s.I);
}
static void unit_backward(struct test *t)
{
    KERN(k, unit_bwd, .dX = t->in[0].grad, .add = t->s.add, .dY = t->out[0].cot_dev, .Y = t->out[0].dev,
         .len = t->extra[0], .s = UNIT, .N = t->s.N, .D = t->s.I);
}

/* --- weighted sums of rows of a table, added to rows of a matrix ------------------------------ */

static const float MIX_SCALE = 0.8f;

static void mix_setup(struct test *t)
{
    struct shape s = t->s;
    input(t, "E", PARAM, times(s.V, s.I), true);
    input(t, "w", PARAM, times(s.O, s.J), false);
    input(t, "X", ACT, times(s.N, s.I), false);
    int32_t *row = integers(t, "row", (size_t)s.O, 0);
    int32_t *idx = integers(t, "idx", times(s.O, s.J), s.V);
    for (int m = 0; m < s.O; m++) row[m] = s.plain ? m : (m * 7 + 2) % s.N;
    for (int i = 0; i < s.O * s.J; i += 4) idx[i] = -1;
    output(t, "Y", ACT, times(s.N, s.I));
}
static void mix_plain(struct test *t)
{
    struct shape s = t->s;
    for (size_t i = 0; i < t->out[0].n; i++) t->out[0].x[i] = t->in[2].x[i];
    for (int m = 0; m < s.O; m++)
        for (int j = 0; j < s.J; j++) {
            int32_t word = t->ints[1].v[times(m, s.J) + (size_t)j];
            double w = (double)MIX_SCALE * t->in[1].x[times(m, s.J) + (size_t)j];
            for (int i = 0; i < s.I && word >= 0; i++)
                t->out[0].x[times(t->ints[0].v[m], s.I) + (size_t)i] += w * t->in[0].x[times(word, s.I) + (size_t)i];
        }
}
static void mix_forward(struct test *t)
{
    struct shape s = t->s;
    if (s.N) k->copy(t->out[0].dev, t->in[2].dev, bytes_of(ACT, times(s.N, s.I)));
    KERN(k, mix_fwd, .Y = t->out[0].dev, .row = s.plain ? NULL : idev(t, 0), .E = t->in[0].dev,
         .idx = idev(t, 1), .w = t->in[1].dev, .scale = MIX_SCALE, .M = s.O, .k = s.J, .D = s.I);
}
static void mix_backward(struct test *t)
{
    struct shape s = t->s;
    KERN(k, mix_bwd, .dE = t->in[0].grad, .dY = t->out[0].cot_dev, .row = s.plain ? NULL : idev(t, 0),
         .idx = idev(t, 1), .w = t->in[1].dev, .scale = MIX_SCALE, .M = s.O, .k = s.J, .D = s.I);
}

/* --- softmax of a few values, with its entropy; with `none` some are -INFINITY, of one row all  */

static const float TEMPERATURE = 0.7f;

static void softmax_setup(struct test *t)
{
    struct shape s = t->s;
    struct array *val = input(t, "val", PARAM, times(s.N, s.J), false);
    for (size_t i = 0; s.none && i < val->n; i++) if (i % 3 == 1 || i < (size_t)s.J) val->x[i] = -INFINITY;
    set_doubles(PARAM, val->dev, val->x, val->n);
    output(t, "w", PARAM, times(s.N, s.J));
    output(t, "entropy", PARAM, (size_t)s.N);
}
static void softmax_plain(struct test *t)
{
    for (int m = 0; m < t->s.N; m++) {
        const double *val = t->in[0].x + times(m, t->s.J);
        double *w = t->out[0].x + times(m, t->s.J), sum = 0, entropy = 0;
        for (int j = 0; j < t->s.J; j++) sum += exp(val[j] / (double)TEMPERATURE);
        for (int j = 0; j < t->s.J; j++) {
            w[j] = sum > 0 ? exp(val[j] / (double)TEMPERATURE) / sum : 0;
            entropy -= w[j] > 0 ? w[j] * log(w[j]) : 0;
        }
        t->out[1].x[m] = entropy;
    }
}
static void softmax_forward(struct test *t)
{
    KERN(k, softmax, .w = t->out[0].dev, .entropy = t->out[1].dev, .val = t->in[0].dev, .T = TEMPERATURE,
         .M = t->s.N, .k = t->s.J);
}

/* --- means of the J largest of each column, which a sort finds -------------------------------- */

static void means_setup(struct test *t)
{
    struct shape s = t->s;
    struct array *S = input(t, "S", ACT, times(s.N, s.I), false);
    for (size_t i = 0; i < S->n; i += 5) S->x[i] = 0.25;                  /* ties */
    set_doubles(ACT, S->dev, S->x, S->n);
    output(t, "mean", PARAM, (size_t)s.I);
}
static int falling(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}
static void means_plain(struct test *t)
{
    int N = t->s.N, most = t->s.J < N ? t->s.J : N;
    double *column = mem_alloc((size_t)N * sizeof *column + 1);
    for (int c = 0; c < t->s.I; c++) {
        for (int n = 0; n < N; n++) column[n] = t->in[0].x[times(n, t->s.I) + (size_t)c];
        qsort(column, (size_t)N, sizeof *column, falling);
        t->out[0].x[c] = 0;
        for (int n = 0; n < most; n++) t->out[0].x[c] += column[n] / most;
    }
    free(column);
}
static void means_forward(struct test *t)
{
    KERN(k, column_means, .mean = t->out[0].dev, .S = t->in[0].dev, .K = t->s.J, .n = t->s.N, .m = t->s.I);
}

/* --- pairs of rows of a table: their cosine, with `sum` their distance ------------------------ */

static const float PAIRS_SCALE = 0.4f;

static void pairs_setup(struct test *t)
{
    struct shape s = t->s;
    input(t, "E", PARAM, times(s.V, s.I), true);
    integers(t, "i", (size_t)s.N, s.V);
    integers(t, "j", (size_t)s.N, s.V);
    struct array *loss = output(t, "loss", PARAM, (size_t)s.N);
    for (int p = 0; p < s.N; p++) loss->cot[p] = (double)PAIRS_SCALE;
}
static void pairs_plain(struct test *t)
{
    struct shape s = t->s;
    for (int p = 0; p < s.N; p++) {
        const double *a = t->in[0].x + times(t->ints[0].v[p], s.I), *b = t->in[0].x + times(t->ints[1].v[p], s.I);
        double aa = 0, bb = 0, ab = 0, apart = 0;
        for (int i = 0; i < s.I; i++) {
            aa += a[i] * a[i];
            bb += b[i] * b[i];
            ab += a[i] * b[i];
            apart += (a[i] - b[i]) * (a[i] - b[i]);
        }
        t->out[0].x[p] = s.sum ? sqrt(apart) : -ab / fmax(sqrt(aa) * sqrt(bb), 1e-8);
    }
}
static void pairs_run(struct test *t, void *dE)
{
    KERN(k, cos_pairs, .loss = t->out[0].dev, .dE = dE, .E = t->in[0].dev, .i = idev(t, 0), .j = idev(t, 1),
         .scale = PAIRS_SCALE, .l2 = t->s.sum, .P = t->s.N, .D = t->s.I);
}
static void pairs_forward(struct test *t) { pairs_run(t, NULL); }
static void pairs_backward(struct test *t) { pairs_run(t, t->in[0].grad); }

/* --- cross entropy over the rows of segments, of one column of three -------------------------- */

static const float SPAN_SCALE = 0.3f;
enum { SPAN_WIDTH = 3 };

static void span_setup(struct test *t)
{
    struct shape s = t->s;
    int32_t *at = integers(t, "at", (size_t)s.batch, 0), *len = integers(t, "len", (size_t)s.batch, 0);
    int32_t *target = integers(t, "target", (size_t)s.batch, 0);
    int rows = 0;
    for (int b = 0; b < s.batch; b++) {
        at[b] = rows;
        len[b] = b == 0 ? s.N : b * 5 % (s.N + 1);
        target[b] = len[b] == 0 || (!s.plain && b % 4 == 2) ? -1 : b * 3 % len[b];
        rows += len[b] + 1;                                              /* a row of none between them */
    }
    input(t, "Z", ACT, times(rows, SPAN_WIDTH), true);
    struct array *loss = output(t, "loss", PARAM, (size_t)s.batch);
    for (int b = 0; b < s.batch; b++) loss->cot[b] = (double)SPAN_SCALE;
    if (!s.allowed) return;
    t->allowed = mem_zero((size_t)rows + 1, 1);
    for (int r = 0; r < rows; r++) t->allowed[r] = r % 3 != 1;
    t->allowed_dev = extra(t, (size_t)rows + 1);
    k->upload(t->allowed_dev, t->allowed, (size_t)rows + 1);
}
static void span_plain(struct test *t)
{
    for (int b = 0; b < t->s.batch; b++) {
        int at = t->ints[0].v[b], n = t->ints[1].v[b], target = t->ints[2].v[b];
        double sum = 0, *z = t->in[0].x + times(at, SPAN_WIDTH) + 1;
        for (int i = 0; i < n; i++)
            if (!t->allowed || t->allowed[at + i] || i == target) sum += exp(z[times(i, SPAN_WIDTH)]);
        t->out[0].x[b] = target < 0 ? 0 : log(sum) - z[times(target, SPAN_WIDTH)];
    }
}
static void span_run(struct test *t, void *dZ)
{
    KERN(k, span, .loss = t->out[0].dev, .dZ = dZ, .Z = t->in[0].dev, .ldz = SPAN_WIDTH, .column = 1,
         .at = idev(t, 0), .len = idev(t, 1), .target = idev(t, 2), .allowed = t->allowed_dev,
         .scale = SPAN_SCALE, .M = t->s.batch);
}
static void span_forward(struct test *t) { span_run(t, NULL); }
static void span_backward(struct test *t) { span_run(t, t->in[0].grad); }

/* --- the list --------------------------------------------------------------------------------- */

#define END { .N = -1 }
static const struct op ops[] = {
    { "linear", linear_setup, linear_plain, linear_forward, linear_backward,
      { { .N = 1, .I = 1, .O = 1 }, { .N = 7, .I = 5, .O = 3, .add = true }, { .N = 1, .I = 64, .O = 33 },
        { .N = 65, .I = 33, .O = 17, .no_bias = true }, { .N = 0, .I = 4, .O = 5 }, { .N = 130, .I = 70, .O = 96 },
        { .N = 450, .I = 410, .O = 430 }, { .N = 2, .I = 18, .O = 8 }, { .N = 3, .I = 9, .O = 4 }, { .N = 4, .I = 16, .O = 5 },
        { .N = 6, .I = 530, .O = 38 }, { .N = 11, .I = 40, .O = 14, .no_bias = true }, { .N = 48, .I = 101, .O = 203 },
        { .N = 49, .I = 21, .O = 12 }, END },
      .golden = { .N = 9, .I = 13, .O = 7 } },
    { "ffn", ffn_setup, ffn_plain, ffn_forward, ffn_backward,
      { { .N = 1, .I = 1, .H = 1, .O = 1, .f = KERN_GELU }, { .N = 5, .I = 7, .H = 31, .O = 3, .f = KERN_GELU, .add = true },
        { .N = 33, .I = 12, .H = 70, .O = 9, .f = KERN_RELU }, { .N = 3, .I = 5, .H = 17, .O = 9, .f = KERN_RELU, .add = true },
        { .N = 0, .I = 2, .H = 3, .O = 4, .f = KERN_GELU }, { .N = 70, .I = 48, .H = 192, .O = 48, .f = KERN_GELU },
        { .N = 7, .I = 5, .H = 9, .O = 3, .f = KERN_GELU, .alone = true }, { .N = 33, .I = 12, .H = 72, .O = 9, .f = KERN_RELU, .alone = true },
        { .N = 140, .I = 6, .H = 264, .O = 16, .f = KERN_GELU, .alone = true }, { .N = 21, .I = 5, .H = 18, .O = 9, .f = KERN_GELU, .alone = true, .add = true },
        { .N = 19, .I = 5, .H = 37, .O = 9, .f = KERN_TANH }, { .N = 7, .I = 6, .H = 40, .O = 3, .f = KERN_TANH, .alone = true },
        { .N = 5, .I = 9, .H = 33, .O = 4, .f = KERN_TANH, .plain = true },
        { .N = 9, .I = 5, .H = 40, .O = 9, .f = KERN_GELU, .plain = true }, { .N = 9, .I = 5, .H = 7, .O = 9, .f = KERN_RELU, .plain = true }, END },
      .golden = { .N = 6, .I = 8, .H = 21, .O = 8, .f = KERN_GELU } },
    { "dense", dense_setup, dense_plain, dense_forward, dense_backward,
      { { .N = 1, .I = 1, .O = 1, .f = KERN_GELU }, { .N = 5, .I = 7, .O = 31, .f = KERN_GELU, .add = true },
        { .N = 33, .I = 12, .O = 9, .f = KERN_RELU }, { .N = 0, .I = 2, .O = 4, .f = KERN_GELU },
        { .N = 130, .I = 20, .O = 96, .f = KERN_GELU }, { .N = 4, .I = 3, .O = 5 },
        { .N = 3, .I = 11, .O = 37, .f = KERN_TANH }, { .N = 40, .I = 3, .O = 64, .f = KERN_TANH, .add = true }, END },
      .golden = { .N = 5, .I = 9, .O = 13, .f = KERN_TANH } },
    { "embed", embed_setup, embed_plain, embed_forward, embed_backward,
      { { .N = 1, .I = 1, .V = 1 }, { .N = 40, .I = 13, .V = 7 }, { .N = 33, .I = 70, .V = 50, .plain = true },
        { .N = 0, .I = 8, .V = 3 }, { .N = 200, .I = 129, .V = 9 }, { .N = 41, .I = 13, .V = 5, .none = true },
        { .N = 7, .I = 16, .V = 3, .none = true, .plain = true }, { .N = 1, .I = 5, .V = 2, .none = true }, END },
      .golden = { .N = 12, .I = 10, .V = 9 } },
    { "norm", norm_setup, norm_plain, norm_forward, norm_backward,
      { { .N = 3, .I = 2 }, { .N = 9, .I = 33, .drop = true }, { .N = 5, .I = 64, .plain = true },
        { .N = 17, .I = 31, .drop = true, .sum = true, .add = true }, { .N = 40, .I = 100, .add = true, .plain = true, .sum = true },
        { .N = 0, .I = 16, .drop = true }, { .N = 1100, .I = 72, .drop = true },
        { .N = 7, .I = 33, .drop = true, .sum = true, .in_place = true }, { .N = 5, .I = 64, .in_place = true }, { .N = 3, .I = 2056, .sum = true, .in_place = true },
        { .N = 4, .I = 72, .plain = true, .in_place = true }, END },
      .golden = { .N = 7, .I = 20, .sum = true } },
    { "drop", drop_setup, drop_plain, drop_forward, drop_backward,
      { { .N = 1, .I = 1, .drop = true }, { .N = 9, .I = 33, .drop = true }, { .N = 9, .I = 8, .drop = true, .plain = true, .add = true },
        { .N = 4, .I = 1030, .drop = true }, { .N = 5, .I = 7 }, { .N = 5, .I = 7, .plain = true, .add = true },
        { .N = 0, .I = 7, .drop = true }, END } },
    { "attn", attn_setup, attn_plain, attn_forward, attn_backward,
      { { .N = 1, .I = 1, .heads = 1, .batch = 1 }, { .N = 9, .I = 5, .heads = 3, .batch = 4 },
        { .N = 17, .I = 8, .heads = 2, .batch = 5, .causal = true }, { .N = 12, .I = 16, .heads = 2, .batch = 4, .drop = true },
        { .N = 11, .I = 7, .heads = 3, .batch = 6, .cross = true }, { .N = 8, .I = 4, .heads = 2, .batch = 3, .cross = true, .causal = true, .drop = true },
        { .N = 70, .I = 64, .heads = 2, .batch = 2, .causal = true, .drop = true }, { .N = 1, .I = 4, .heads = 2, .batch = 0 },
        { .N = 1, .I = 8, .heads = 2, .batch = 5, .cached = true }, { .N = 1, .I = 64, .heads = 2, .batch = 2, .cached = true },
        { .N = 1, .I = 5, .heads = 2, .batch = 2, .cached = true }, { .N = 75, .I = 128, .heads = 1, .batch = 3, .cross = true },
        { .N = 67, .I = 32, .heads = 2, .batch = 3, .cross = true, .causal = true, .drop = true }, { .N = 40, .I = 96, .heads = 1, .batch = 2, .drop = true }, END },
      .golden = { .N = 6, .I = 4, .heads = 2, .batch = 3, .causal = true }, .zero_first = true },
    { "gather", gather_setup, gather_plain, gather_forward, gather_backward,
      { { .N = 1, .I = 1, .O = 1 }, { .N = 9, .I = 5, .O = 4 }, { .N = 400, .I = 33, .O = 300, .add = true }, { .N = 3, .I = 4, .O = 0 }, END },
      .zero_first = true },
    { "xent", xent_setup, xent_plain, xent_forward, xent_backward,
      { { .N = 1, .I = 1, .V = 2, .plain = true }, { .N = 9, .I = 7, .V = 33, .eps = 0.1f },
        { .N = 10, .I = 5, .V = 50, .allowed = true, .weighted = true, .eps = 0.1f }, { .N = 6, .I = 4, .V = 19, .no_bias = true, .allowed = true },
        { .N = 0, .I = 4, .V = 10 }, { .N = 70, .I = 6, .V = 1500, .eps = 0.2f, .weighted = true }, END },
      .golden = { .N = 8, .I = 6, .V = 29, .eps = 0.1f, .plain = true } },
    { "gc", gc_setup, gc_plain, gc_forward, gc_backward,
      { { .N = 1, .I = 1, .O = 1, .J = 2 }, { .N = 30, .I = 33, .O = 9, .J = 4 }, { .N = 30, .I = 70, .O = 9, .J = 3, .V = 11, .output = true },
        { .N = 3, .I = 4, .O = 0, .J = 2 }, { .N = 50, .I = 6, .O = 3, .J = 0 }, END },
      .zero_first = true },
    { "unit", unit_setup, unit_plain, unit_forward, unit_backward,
      { { .N = 1, .I = 1 }, { .N = 9, .I = 33 }, { .N = 70, .I = 300, .add = true }, { .N = 5, .I = 64 }, { .N = 0, .I = 8 }, END },
      .golden = { .N = 5, .I = 11 } },
    { "mix", mix_setup, mix_plain, mix_forward, mix_backward,
      { { .N = 1, .I = 1, .O = 1, .J = 2, .V = 1 }, { .N = 30, .I = 33, .O = 11, .J = 8, .V = 7 },
        { .N = 9, .I = 64, .O = 9, .J = 3, .V = 40, .plain = true }, { .N = 4, .I = 5, .O = 0, .J = 3, .V = 4 },
        { .N = 4, .I = 5, .O = 3, .J = 0, .V = 4 }, { .N = 100, .I = 70, .O = 90, .J = 5, .V = 3 }, END },
      .golden = { .N = 8, .I = 6, .O = 5, .J = 4, .V = 7 } },
    { "softmax", softmax_setup, softmax_plain, softmax_forward, nothing,
      { { .N = 1, .J = 1 }, { .N = 70, .J = 8 }, { .N = 5, .J = 7, .none = true }, { .N = 0, .J = 3 }, END },
      .golden = { .N = 4, .J = 8 } },
    { "column_means", means_setup, means_plain, means_forward, nothing,
      { { .N = 1, .I = 1, .J = 1 }, { .N = 40, .I = 33, .J = 10 }, { .N = 3, .I = 70, .J = 10 }, { .N = 0, .I = 9, .J = 3 },
        { .N = 200, .I = 130, .J = 64 }, { .N = 30, .I = 0, .J = 4 }, END },
      .golden = { .N = 9, .I = 7, .J = 4 } },
    { "cos_pairs", pairs_setup, pairs_plain, pairs_forward, pairs_backward,
      { { .N = 1, .I = 3, .V = 2 }, { .N = 40, .I = 33, .V = 7 }, { .N = 20, .I = 64, .V = 50 }, { .N = 0, .I = 8, .V = 3 },
        { .N = 33, .I = 13, .V = 6, .sum = true }, { .N = 300, .I = 72, .V = 90, .sum = true }, END },
      .golden = { .N = 6, .I = 10, .V = 5 } },
    { "span", span_setup, span_plain, span_forward, span_backward,
      { { .N = 1, .batch = 1 }, { .N = 9, .batch = 7 }, { .N = 40, .batch = 9, .allowed = true }, { .N = 4, .batch = 0 },
        { .N = 300, .batch = 3 }, { .N = 65, .batch = 21, .allowed = true, .plain = true }, END },
      .golden = { .N = 8, .batch = 3, .plain = true }, .zero_first = true },
};
enum { OPS = sizeof ops / sizeof ops[0] };

#define FOR_EACH_CASE(t) \
    for (int op_i = 0; op_i < OPS; op_i++) \
        for (const struct shape *s_i = ops[op_i].shapes; s_i->N >= 0; s_i++) \
            for (struct test *t = case_new(&ops[op_i], s_i); t; case_free(t), t = NULL)

/* --- tests ------------------------------------------------------------------------------------ */

static void values_are_those_of_a_plain_computation_in_double(void **state)
{
    (void)state;
    FOR_EACH_CASE(t) {
        run(t);
        if (!values_hold(t)) fail_msg("shape %d: %s", (int)(s_i - ops[op_i].shapes), wrong);
    }
}

static void gradients_are_those_of_finite_differences(void **state)
{
    (void)state;
    FOR_EACH_CASE(t) {
        run(t);
        if (!gradients_hold(t, -1)) fail_msg("shape %d: %s", (int)(s_i - ops[op_i].shapes), wrong);
    }
}

static void a_gradient_with_the_wrong_sign_is_noticed(void **state)
{
    (void)state;
    FOR_EACH_CASE(t) {
        if (s_i != &ops[op_i].shapes[1]) continue;
        run(t);
        for (int i = 0; i < t->n_in; i++)
            if (t->in[i].grad && gradients_hold(t, i)) fail_msg("%s: the flipped gradient of %s passed", ops[op_i].name, t->in[i].name);
    }
}

/* Shapes large enough that there are many chunks, for the next test. */
static const struct { const char *op; struct shape s; } large[] = {
    { "linear", { .N = 1000, .I = 600, .O = 800 } }, { "ffn", { .N = 700, .I = 256, .H = 1024, .O = 256, .f = KERN_GELU } },
    { "embed", { .N = 900, .I = 300, .V = 100 } }, { "norm", { .N = 2000, .I = 300, .drop = true, .sum = true } },
    { "drop", { .N = 2000, .I = 300, .drop = true } },
    { "attn", { .N = 90, .I = 64, .heads = 4, .batch = 20, .causal = true, .drop = true } },
    { "xent", { .N = 700, .I = 64, .V = 9000, .eps = 0.1f, .weighted = true } }, { "gc", { .N = 900, .I = 256, .O = 300, .J = 8 } },
    { "unit", { .N = 2000, .I = 300 } }, { "mix", { .N = 900, .I = 300, .O = 800, .J = 8, .V = 60 } },
    { "cos_pairs", { .N = 3000, .I = 300, .V = 500 } }, { "span", { .N = 200, .batch = 60 } },
    { "column_means", { .N = 300, .I = 2000, .J = 10 } },
};

/* On another device: doing it again does. */
static void any_number_of_threads_gives_the_same_bytes(void **state)
{
    (void)state;
    int most = strcmp(k->name, "cpu") == 0 ? 5 : 2;
    if (most == 2 && getenv("ISOGLOT_TEST_SANITIZED")) return;      /* minutes on an emulated GPU; the shapes above are all there */
    for (size_t l = 0; l < sizeof large / sizeof large[0]; l++)
        for (int o = 0; o < OPS; o++) {
            if (strcmp(large[l].op, ops[o].name) != 0) continue;
            struct test *t = case_new(&ops[o], &large[l].s);
            par_threads_set(1);
            run(t);
            struct { float *out[ARRAYS], *g[ARRAYS]; } one = { 0 };
            for (int i = 0; i < t->n_out; i++) { one.out[i] = t->out[i].got; t->out[i].got = mem_zero(t->out[i].n, 4); }
            for (int i = 0; i < t->n_in; i++) if (t->in[i].g) { one.g[i] = t->in[i].g; t->in[i].g = mem_zero(t->in[i].n, 4); }
            for (int threads = 2; threads <= most; threads += 3) {
                par_threads_set(threads);
                run(t);
                for (int i = 0; i < t->n_out; i++)
                    if (memcmp(one.out[i], t->out[i].got, t->out[i].n * 4) != 0) fail_msg("%s: %s depends on the threads", large[l].op, t->out[i].name);
                for (int i = 0; i < t->n_in; i++)
                    if (one.g[i] && memcmp(one.g[i], t->in[i].g, t->in[i].n * 4) != 0) fail_msg("%s: the gradient of %s depends on the threads", large[l].op, t->in[i].name);
            }
            for (int i = 0; i < ARRAYS; i++) { free(one.out[i]); free(one.g[i]); }
            case_free(t);
        }
    par_threads_set(1);
}

/* Gradients of weights are sums over all rows of a batch: of ones, as many as there are rows, to the last. A library that cuts long sums into
 * pieces may lose what is left over: rows a little more than a multiple of 64. ISOGLOT_TEST_LARGE: a model's shapes, at many numbers of rows. */
static void long_sums_are_whole(void **state)
{
    (void)state;
    if (getenv("ISOGLOT_TEST_SANITIZED")) return;           /* it is the library that is tested, not our code */
    static const int shapes[][2] = { { 64, 64 }, { 24, 200 }, { 1024, 1024 }, { 3072, 1024 } };
    bool all = getenv("ISOGLOT_TEST_LARGE") != NULL;
    enum { MOST = 16384 + 3 };
    size_t wide_x = all ? 1024 : 200, wide_y = all ? 3072 : 64, ones_n = MOST * (wide_x > wide_y ? wide_x : wide_y), failed = 0;
    float *ones = mem_alloc(ones_n * sizeof *ones), *got = mem_alloc(wide_x * wide_y * sizeof *got);
    for (size_t i = 0; i < ones_n; i++) ones[i] = 1;
    void *X = device(bytes_of(ACT, MOST * wide_x)), *dY = device(bytes_of(ACT, MOST * wide_y)), *dW = device(wide_x * wide_y * 4);
    put(ACT, X, ones, MOST * wide_x);
    put(ACT, dY, ones, MOST * wide_y);
    for (int c = 0; c < (all ? 4 : 2); c++)
        for (int rows = all ? 512 : 4096; rows <= 16384; rows += all ? 512 : 12288)
            for (int over = 1; over <= 3; over++) {
                int N = rows + over, O = shapes[c][0], I = shapes[c][1];
                size_t n = times(O, I), bad = 0;
                k->zero(dW, n * 4);
                KERN(k, linear_bwd, .dW = dW, .dY = dY, .X = X, .N = N, .I = I, .O = O);
                k->download(got, dW, n * 4);
                for (size_t i = 0; i < n; i++) if (got[i] != (float)N) bad = i + 1;
                if (bad && failed++ < 10) printf("a gradient [%d, %d]: a sum of %d ones is %.9g\n", O, I, N, (double)got[bad - 1]);
            }
    free(ones); free(got);
    k->release(X); k->release(dY); k->release(dW);
    if (failed) fail_msg("%zu products leave something out", failed);
}

static float *random_floats(struct test *t, size_t n)
{
    float *x = mem_alloc(n * sizeof *x);
    for (size_t i = 0; i < n; i++) x[i] = (float)uniform(t);
    return x;
}

/* More at once than any buffer of a device holds, each piece from the same memory, which the program writes to as soon as upload returns. */
static void uploads_keep_what_the_host_had_when_they_were_called(void **state)
{
    (void)state;
    enum { PIECE = 700001, PIECES = 8 };
    int32_t *host = mem_alloc(PIECE * sizeof *host), *got = mem_alloc(PIECE * sizeof *got);
    void *to[PIECES];
    for (int i = 0; i < PIECES; i++) {
        to[i] = device(PIECE * sizeof *host);
        for (int j = 0; j < PIECE; j++) host[j] = i * PIECE + j;
        k->upload(to[i], host, PIECE * sizeof *host);
    }
    memset(host, 0, PIECE * sizeof *host);
    for (int i = 0; i < PIECES; i++) {
        k->download(got, to[i], PIECE * sizeof *got);
        for (int j = 0; j < PIECE; j++) if (got[j] != i * PIECE + j) fail_msg("piece %d, number %d", i, j);
        k->release(to[i]);
    }
    free(host); free(got);
}

/* Pieces of one memory, which is written to again as soon as fetch returns. */
static void fetches_bring_what_the_device_had_when_they_were_called(void **state)
{
    (void)state;
    enum { PIECE = 5003, PIECES = 9 };
    int32_t host[PIECE], *got = k->host_alloc(PIECES * PIECE * sizeof *got), *from = device(PIECE * sizeof *from);
    assert_non_null(got);
    for (int i = 0; i < PIECES; i++) {
        for (int j = 0; j < PIECE; j++) host[j] = i * PIECE + j;
        k->upload(from, host, sizeof host);
        k->fetch(got + i * PIECE, from, sizeof host);
    }
    k->zero(from, sizeof host);
    assert_int_equal(k->sync(), 0);
    for (int j = 0; j < PIECES * PIECE; j++) if (got[j] != j) fail_msg("number %d", j);
    k->release(from);
    k->host_release(got);
}

static void topk_is_a_sort_of_the_allowed_words(void **state)
{
    (void)state;
    struct test t = { .rng = { { 2, RNG_TEST, 0 }, 0, 0 } };
    static const int shapes[][4] = { { 1, 1, 1, 0 }, { 5, 7, 3, 0 }, { 9, 1000, 64, 1 }, { 3, 130, 10, 1 }, { 2, 5, 5, 1 }, { 0, 5, 2, 0 },
        { 2, 9001, 12, 1 }, { 2, 20000, 3, 0 } };
    for (size_t c = 0; c < sizeof shapes / sizeof shapes[0]; c++) {
        int M = shapes[c][0], V = shapes[c][1], n = shapes[c][2];
        float *x = random_floats(&t, times(M, V)), *val = mem_zero(times(M, n), 4), *lse = mem_zero((size_t)M, 4);
        int32_t *idx = mem_zero(times(M, n), 4);
        for (size_t i = 0; i < times(M, V); i += 3) x[i] = 0.5f;           /* ties */
        uint8_t *ok = mem_zero((size_t)V, 1);
        for (int v = 0; v < V; v++) ok[v] = v % 4 != 2;
        bool some = shapes[c][3];
        void *dx = device(bytes_of(ACT, times(M, V))), *dval = device(times(M, n) * 4), *didx = device(times(M, n) * 4),
             *dlse = device((size_t)M * 4), *dok = device((size_t)V);
        put(ACT, dx, x, times(M, V));
        get(ACT, x, dx, times(M, V));
        k->upload(dok, ok, (size_t)V);
        KERN(k, topk, .val = dval, .idx = didx, .lse = dlse, .logits = dx,
             .allowed = some ? dok : NULL, .M = M, .V = V, .k = n);
        if (M) { k->download(val, dval, times(M, n) * 4); k->download(idx, didx, times(M, n) * 4); k->download(lse, dlse, (size_t)M * 4); }
        for (int m = 0; m < M; m++) {
            char *taken = mem_zero((size_t)V, 1);
            double sum = 0;
            for (int v = 0; v < V; v++) if (!some || ok[v]) sum += exp((double)x[times(m, V) + (size_t)v]);
            assert_true(fabs(log(sum) - (double)lse[m]) < 1e-5);
            for (int i = 0; i < n; i++) {
                int best = -1;
                for (int v = 0; v < V; v++)
                    if (!taken[v] && (!some || ok[v]) && (best < 0 || x[times(m, V) + (size_t)v] > x[times(m, V) + (size_t)best])) best = v;
                assert_int_equal(idx[times(m, n) + (size_t)i], best);
                if (best < 0) { assert_true(isinf(val[times(m, n) + (size_t)i])); continue; }       /* fewer than k are allowed */
                assert_true(val[times(m, n) + (size_t)i] == x[times(m, V) + (size_t)best]);
                taken[best] = 1;
            }
            free(taken);
        }
        free(x); free(val); free(lse); free(idx); free(ok);
        k->release(dx); k->release(dval); k->release(didx); k->release(dlse); k->release(dok);
    }
}

static void best_is_the_first_largest_logit_among_the_allowed(void **state)
{
    (void)state;
    const float X[2] = { 1, -1 }, W[5] = { 3, 7, 5, 5, -6 };
    const int32_t target[2] = { 0, -1 };
    const uint8_t allowed[5] = { 1, 0, 1, 1, 1 };
    int32_t best[2];
    void *x = device(bytes_of(ACT, 2)), *w = device(sizeof W), *t = device(sizeof target), *a = device(5), *b = device(sizeof best);
    put(ACT, x, X, 2);
    k->upload(w, W, sizeof W); k->upload(t, target, sizeof target); k->upload(a, allowed, 5);
    KERN(k, xent, .best = b, .X = x, .W = w, .target = t, .allowed = a, .eps = 0, .scale = 1,
         .M = 2, .D = 1, .V = 5);
    k->download(best, b, sizeof best);
    assert_int_equal(best[0], 2);
    assert_int_equal(best[1], 4);
    k->release(x); k->release(w); k->release(t); k->release(a); k->release(b);
}

/* The tensors of a case: of several sizes, with and without decay, next to each other and apart. */
static const struct tensors { int n; struct kern_part part[6]; } tensors[] = {
    { 1, { { 0, 1, true } } }, { 1, { { 0, 33, true } } }, { 1, { { 0, 70000, true } } }, { 1, { { 0, 0, true } } }, { 0, { { 0, 0, false } } },
    { 1, { { 0, 100, false } } },
    { 5, { { 0, 40, true }, { 40, 8, false }, { 64, 33000, true }, { 33064, 0, true }, { 33064, 40000, false } } },
    { 6, { { 8, 7, false }, { 16, 70001, true }, { 70024, 1, true }, { 70032, 2048, true }, { 72080, 2048, true }, { 80000, 5, false } } },
};

/* One step of Adam or LAMB on tensor x in double. by: what gradients are multiplied by. */
static void plain_step(const struct kern_part *x, bool lamb, int step, double by, const float *g, double *p, double *m, double *v)
{
    double pp = 0, uu = 0, decay = x->decay ? 0.1 : 0, *u = mem_zero(x->n, sizeof *u);
    lamb = lamb && x->decay;
    for (size_t i = x->at; i < x->at + x->n; i++) {
        double grad = (double)g[i] * by, *d = &u[i - x->at];
        m[i] = 0.9 * m[i] + 0.1 * grad;
        v[i] = 0.999 * v[i] + 0.001 * grad * grad;
        *d = m[i] / (1 - pow(0.9, step)) / (sqrt(v[i] / (1 - pow(0.999, step))) + 1e-8);
        if (!lamb) p[i] -= 0.01 * decay * p[i];
        else *d += decay * p[i];
        pp += p[i] * p[i];
        uu += *d * *d;
    }
    double rate = lamb && pp > 0 && uu > 0 ? 0.01 * sqrt(pp / uu) : 0.01;
    for (size_t i = 0; i < x->n; i++) p[x->at + i] -= rate * u[i];
    free(u);
}

static void optimiser_follows_the_paper(const char *name, bool lamb)
{
    struct test t = { .rng = { { 3, RNG_TEST, 0 }, 0, 0 } };
    for (size_t c = 0; c < sizeof tensors / sizeof tensors[0]; c++) {
        const struct kern_part *part = tensors[c].part;
        int parts = tensors[c].n;
        size_t n = parts ? part[parts - 1].at + part[parts - 1].n : 0;
        float *p = random_floats(&t, n), *g = random_floats(&t, n), *got = mem_zero(n, 4), norm;
        double *want = mem_zero(n, sizeof *want), *m = mem_zero(n, sizeof *m), *v = mem_zero(n, sizeof *v);
        void *dp = device(n * 4), *dg = device(n * 4), *dm = device(n * 4), *dv = device(n * 4), *dn = device(4);
        for (size_t i = 0; i < n; i++) want[i] = (double)p[i];
        if (n) { k->upload(dp, p, n * 4); k->zero(dm, n * 4); k->zero(dv, n * 4); }
        for (int step = 1; step <= 4; step++) {
            struct kern_adam a = {
                .p = dp, .g = dg, .m = dm, .v = dv, .part = part, .parts = parts, .norm2 = dn, .lamb = lamb,
                .lr = 0.01, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .weight_decay = 0.1, .step = step,
                .clip = step < 4 ? 0.5f : 0, .grad_scale = 0.25f,
            };
            double square = 0;
            for (size_t i = 0; i < n; i++) { g[i] *= 0.9f; square += (double)g[i] * (double)g[i]; }
            if (n) k->upload(dg, g, n * 4);
            KERN(k, norm2, .out = dn, .x = dg, .n = n);
            k->download(&norm, dn, 4);
            assert_true(fabs((double)norm - square) <= 1e-6 * square);
            k->adam(&a);
            double by = 0.25, clip = 0.5 / (0.25 * sqrt(square) + 1e-6);
            if (step < 4 && clip < 1) by *= clip;
            for (int i = 0; i < parts; i++) plain_step(&part[i], lamb, step, by, g, want, m, v);
        }
        if (n) k->download(got, dp, n * 4);
        if (!agree(name, "p", got, want, n, 1e-6)) fail_msg("%s", wrong);
        for (size_t i = 0, x = 0; i < n; i++) {                 /* between the tensors nothing has changed */
            while (i >= part[x].at + part[x].n) x++;
            if (i < part[x].at) assert_memory_equal(&got[i], &p[i], 4);
        }
        float bad = INFINITY, *same = mem_zero(n, 4);
        struct kern_adam a = {
            .p = dp, .g = dg, .m = dm, .v = dv, .part = part, .parts = parts, .norm2 = dn, .lamb = lamb,
            .lr = 0.01, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .step = 5, .clip = 1, .grad_scale = 1,
        };
        k->upload(dn, &bad, 4);
        k->adam(&a);
        if (n) k->download(same, dp, n * 4);
        assert_memory_equal(got, same, n * 4);
        free(p); free(g); free(got); free(want); free(m); free(v); free(same);
        k->release(dp); k->release(dg); k->release(dm); k->release(dv); k->release(dn);
    }
}

static void adam_follows_the_paper_and_skips_gradients_that_are_not_finite(void **state)
{
    (void)state;
    optimiser_follows_the_paper("adam", false);
}

static void lamb_follows_the_paper_and_skips_gradients_that_are_not_finite(void **state)
{
    (void)state;
    optimiser_follows_the_paper("lamb", true);
}

static void lamb_moves_parameters_of_zero_and_by_the_same_bytes_on_any_number_of_threads(void **state)
{
    (void)state;
    struct test t = { .rng = { { 6, RNG_TEST, 0 }, 0, 0 } };
    enum { N = 200000 };
    const struct kern_part all = { 0, N, true };
    float *p = random_floats(&t, N), *g = random_floats(&t, N), *got[2];
    void *dp = device(N * 4), *dg = device(N * 4), *dm = device(N * 4), *dv = device(N * 4), *dn = device(4);
    struct kern_adam a = {
        .p = dp, .g = dg, .m = dm, .v = dv, .part = &all, .parts = 1, .norm2 = dn, .lamb = true, .lr = 0.01,
        .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .weight_decay = 0.1, .step = 1, .grad_scale = 1,
    };
    k->upload(dg, g, N * 4);
    for (int i = 0; i < 2; i++) {
        par_threads_set(i ? 5 : 1);
        k->upload(dp, p, N * 4);
        k->zero(dm, N * 4);
        k->zero(dv, N * 4);
        KERN(k, norm2, .out = dn, .x = dg, .n = N);
        k->adam(&a);
        k->download(got[i] = mem_zero(N, 4), dp, N * 4);
    }
    par_threads_set(1);
    assert_memory_equal(got[0], got[1], N * 4);
    k->zero(dp, N * 4);
    k->zero(dm, N * 4);
    k->zero(dv, N * 4);
    a.norm2 = NULL;
    k->adam(&a);                                           /* |p| = 0: u is -sign(g), the factor 1 */
    k->download(got[0], dp, N * 4);
    for (int i = 0; i < N; i++)
        if (fabsf(g[i]) > 1e-3f && fabsf(got[0][i] + (g[i] > 0 ? 0.01f : -0.01f)) > 1e-6f) fail_msg("p[%d] is %g where g is %g", i, (double)got[0][i], (double)g[i]);
    free(p); free(g); free(got[0]); free(got[1]);
    k->release(dp); k->release(dg); k->release(dm); k->release(dv); k->release(dn);
}

/* Where a gradient would be infinite it is 0, and so is what has no length. */
static void rows_of_no_length_have_no_gradient(void **state)
{
    (void)state;
    enum { D = 10 };
    float x[3 * D] = { 0 }, dy[2 * D], got[3 * D], loss[3];
    for (int i = 0; i < D; i++) { x[D + i] = (float)(i - 4) / 8; dy[i] = dy[D + i] = 1; }
    void *X = device(bytes_of(ACT, 2 * D)), *Y = device(bytes_of(ACT, 2 * D)), *dY = device(bytes_of(ACT, 2 * D));
    void *dX = device(bytes_of(ACT, 2 * D)), *len = device(2 * 4);
    put(ACT, X, x, 2 * D);
    put(ACT, dY, dy, 2 * D);
    KERN(k, unit_fwd, .Y = Y, .len = len, .X = X, .s = 1, .N = 2, .D = D);
    KERN(k, unit_bwd, .dX = dX, .dY = dY, .Y = Y, .len = len, .s = 1, .N = 2, .D = D);
    get(ACT, got, Y, 2 * D);
    for (int i = 0; i < D; i++) assert_true(got[i] == 0 && (i == 4) == (got[D + i] == 0));
    get(ACT, got, dX, 2 * D);
    for (int i = 0; i < D; i++) assert_true(got[i] == 0);
    /* pairs of rows 0 (zeros), 1 and 2 (row 1 again): (0, 1), (1, 2), (1, 1) */
    const int32_t i[3] = { 0, 1, 1 }, j[3] = { 1, 2, 1 };
    for (int c = 0; c < D; c++) x[2 * D + c] = x[D + c];
    void *E = device(sizeof x), *dE = device(sizeof x), *di = device(sizeof i), *dj = device(sizeof j), *dl = device(sizeof loss);
    k->upload(E, x, sizeof x);
    k->upload(di, i, sizeof i);
    k->upload(dj, j, sizeof j);
    for (int l2 = 0; l2 < 2; l2++) {
        k->zero(dE, sizeof x);
        KERN(k, cos_pairs, .loss = dl, .dE = dE, .E = E, .i = di, .j = dj, .scale = 1, .l2 = l2, .P = 3, .D = D);
        k->download(loss, dl, sizeof loss);
        k->download(got, dE, sizeof x);
        assert_true(l2 ? loss[0] > 1 && loss[1] == 0 && loss[2] == 0 : loss[0] == 0);
        if (!l2) assert_true(fabsf(loss[1] + 1) < 1e-6f && fabsf(loss[2] + 1) < 1e-6f);
        for (int c = 0; c < D; c++) {
            float far = l2 ? x[D + c] / loss[0] : 0;                     /* of |0 - x| to x */
            assert_true(fabsf(got[c] + far) < 1e-5f && fabsf(got[D + c] - far) < 1e-5f && fabsf(got[2 * D + c]) < 1e-5f);
        }
    }
    k->release(X); k->release(Y); k->release(dY); k->release(dX); k->release(len);
    k->release(E); k->release(dE); k->release(di); k->release(dj); k->release(dl);
}

static void the_best_row_of_a_segment_is_the_first_largest_allowed_one(void **state)
{
    (void)state;
    const float z[9] = { 1, 5, 3, 3, /* */ 2, 2, /* */ 9, 9, 9 };
    const int32_t at[4] = { 0, 4, 6, 6 }, len[4] = { 4, 2, 3, 0 }, target[4] = { -1, 1, -1, -1 };
    const uint8_t allowed[9] = { 1, 0, 1, 1, 1, 1, 0, 0, 0 };
    const int32_t want[4] = { 2, 0, -1, -1 };
    int32_t best[4];
    float loss[4];
    void *dz = device(bytes_of(ACT, 9)), *da = device(sizeof at), *dn = device(sizeof len), *dt = device(sizeof target),
         *dw = device(sizeof allowed), *db = device(sizeof best), *dl = device(sizeof loss);
    put(ACT, dz, z, 9);
    k->upload(da, at, sizeof at); k->upload(dn, len, sizeof len); k->upload(dt, target, sizeof target);
    k->upload(dw, allowed, sizeof allowed);
    KERN(k, span, .loss = dl, .best = db, .Z = dz, .ldz = 1, .at = da, .len = dn, .target = dt, .allowed = dw, .scale = 1, .M = 4);
    k->download(best, db, sizeof best);
    k->download(loss, dl, sizeof loss);
    for (int i = 0; i < 4; i++) assert_int_equal(best[i], want[i]);
    assert_true(loss[0] == 0 && fabsf(loss[1] - 0.693147f) < 1e-6f && loss[2] == 0 && loss[3] == 0);
    k->release(dz); k->release(da); k->release(dn); k->release(dt); k->release(dw); k->release(db); k->release(dl);
}

static void widened_acts_are_the_acts(void **state)
{
    (void)state;
    struct test t = { .rng = { { 9, RNG_TEST, 0 }, 0, 0 } };
    enum { N = 1003 };
    float *x = random_floats(&t, N), *got = mem_zero(N, 4);
    void *dx = device(bytes_of(ACT, N)), *df = device(N * 4);
    put(ACT, dx, x, N);
    get(ACT, x, dx, N);
    KERN(k, widen, .to = df, .from = dx, .n = N);
    k->download(got, df, N * 4);
    assert_memory_equal(got, x, N * 4);
    free(x); free(got);
    k->release(dx); k->release(df);
}

static void matrices_are_added_and_averaged(void **state)
{
    (void)state;
    struct test t = { .rng = { { 4, RNG_TEST, 0 }, 0, 0 } };
    enum { N = 70001 };
    float *x = random_floats(&t, N), *y = random_floats(&t, N), *got = mem_zero(N, 4);
    void *dx = device(bytes_of(ACT, N)), *dy = device(bytes_of(ACT, N)), *ds = device(N * 4), *dq = device(N * 4);
    double *want = mem_zero(N, sizeof *want);
    put(ACT, dx, x, N); put(ACT, dy, y, N);
    KERN(k, add, .Y = dy, .X = dx, .n = N);
    get(ACT, got, dy, N);
    for (int i = 0; i < N; i++) want[i] = (double)x[i] + (double)y[i];
    assert_true(agree("add", "y", got, want, N, tolerance));
    k->upload(ds, x, N * 4);
    k->upload(dq, y, N * 4);
    KERN(k, ema, .p = ds, .q = dq, .m = 0.875, .n = N);
    k->download(got, ds, N * 4);
    for (int i = 0; i < N; i++) want[i] = 0.875 * (double)x[i] + 0.125 * (double)y[i];
    assert_true(agree("ema", "p", got, want, N, 1e-7));
    free(x); free(y); free(got); free(want);
    k->release(dx); k->release(dy); k->release(ds); k->release(dq);
}

/* A NaN or infinity in comes out as one: training stops with a message instead of going on with nonsense. */
static void what_is_not_finite_stays_so(void **state)
{
    (void)state;
    enum { N = 40 };
    static const float bad[] = { NAN, INFINITY };
    for (int c = 0; c < 2; c++) {
        float x[N], y[N], gamma[N], norm;
        for (int i = 0; i < N; i++) { x[i] = (float)i / N; gamma[i] = 1; }
        x[7] = bad[c];
        void *dx = device(bytes_of(ACT, N)), *dy = device(bytes_of(ACT, N)), *dg = device(sizeof gamma), *df = device(sizeof x);
        put(ACT, dx, x, N);
        k->upload(dg, gamma, sizeof gamma);
        k->upload(df, x, sizeof x);
        KERN(k, norm_fwd, .Y = dy, .X = dx, .gamma = dg, .beta = dg, .eps = 1e-5f, .N = 1, .D = N);
        get(ACT, y, dy, N);
        assert_true(isnan(y[7]));
        KERN(k, norm2, .out = dg, .x = df, .n = N);
        k->download(&norm, dg, sizeof norm);
        assert_false(isfinite(norm));
        KERN(k, linear_fwd, .Y = dy, .X = dx, .W = df, .f = KERN_GELU, .N = 1, .I = N, .O = 1);
        get(ACT, y, dy, 1);
        assert_false(isfinite(y[0]));
        k->release(dx); k->release(dy); k->release(dg); k->release(df);
    }
}

/* --- PyTorch's numbers ------------------------------------------------------------------------ */

static const struct st_tensor *golden_find(const struct st_file *f, const char *op, const char *name, const char *what)
{
    char full[128];
    snprintf(full, sizeof full, "%s.%s%s", op, name, what);
    const struct st_tensor *x = st_find(f, full);
    if (!x) fail_msg("ops.safetensors has no %s", full);
    return x;
}
static void golden_doubles(const struct st_file *f, const char *op, const char *name, const char *what, double *to, size_t n)
{
    float *v = mem_alloc(n * sizeof *v);
    if (st_floats(golden_find(f, op, name, what), v, n) < 0) fail_msg("%s", err_msg());
    for (size_t i = 0; i < n; i++) to[i] = (double)v[i];
    free(v);
}

/* Three steps of an optimiser with clipping and weight decay. */
static void golden_steps(const struct st_file *f, const char *op, bool lamb)
{
    char name[32];
    snprintf(name, sizeof name, "%s.p0", op);
    size_t n = st_find(f, name)->bytes / 4;
    const struct kern_part all = { 0, n, true };
    float *p = mem_alloc(n * 4), *g = mem_alloc(n * 4);
    double *want = mem_alloc(n * sizeof *want);
    void *dp = device(n * 4), *dg = device(n * 4), *dm = device(n * 4), *dv = device(n * 4), *dn = device(4);
    assert_int_equal(st_floats(st_find(f, name), p, n), 0);
    k->upload(dp, p, n * 4);
    k->zero(dm, n * 4);
    k->zero(dv, n * 4);
    for (int step = 1; step <= 3; step++) {
        struct kern_adam a = {
            .p = dp, .g = dg, .m = dm, .v = dv, .part = &all, .parts = 1, .norm2 = dn, .lamb = lamb, .lr = 1e-2,
            .beta1 = 0.9, .beta2 = 0.98, .eps = 1e-6, .weight_decay = 0.01, .step = step, .clip = 1, .grad_scale = 1,
        };
        snprintf(name, sizeof name, "g%d", step);
        assert_int_equal(st_floats(golden_find(f, op, name, ""), g, n), 0);
        k->upload(dg, g, n * 4);
        KERN(k, norm2, .out = dn, .x = dg, .n = n);
        k->adam(&a);
        snprintf(name, sizeof name, "p%d", step);
        golden_doubles(f, op, name, "", want, n);
        k->download(p, dp, n * 4);
        if (!agree(op, name, p, want, n, 1e-6)) fail_msg("%s", wrong);
    }
    free(p); free(g); free(want);
    k->release(dp); k->release(dg); k->release(dm); k->release(dv); k->release(dn);
}

static void values_and_gradients_are_pytorchs(void **state)
{
    (void)state;
    const char *top = getenv("TOP");
    char path[4096];
    snprintf(path, sizeof path, "%s/test/golden/ops.safetensors", top ? top : ".");
    struct st_file *f = st_open(path);
    if (!f) fail_msg("%s", err_msg());
    for (int o = 0; o < OPS; o++) {
        const struct op *op = &ops[o];
        if (!op->golden.N) continue;
        struct test *t = case_new(op, &op->golden);
        for (int i = 0; i < t->n_ints; i++) {
            const struct st_tensor *x = golden_find(f, op->name, t->ints[i].name, "");
            assert_int_equal(x->dtype, ST_I32);
            assert_int_equal(x->bytes, t->ints[i].n * 4);
            memcpy(t->ints[i].v, x->data, x->bytes);
            k->upload(t->ints[i].dev, x->data, x->bytes);
        }
        for (int i = 0; i < t->n_in; i++) {
            golden_doubles(f, op->name, t->in[i].name, "", t->in[i].x, t->in[i].n);
            set_doubles(t->in[i].kind, t->in[i].dev, t->in[i].x, t->in[i].n);
        }
        for (int i = 0; i < t->n_out; i++) {
            golden_doubles(f, op->name, t->out[i].name, "", t->out[i].x, t->out[i].n);
            if (!t->out[i].cot) continue;
            golden_doubles(f, op->name, t->out[i].name, ".cot", t->out[i].cot, t->out[i].n);
            set_doubles(t->out[i].kind, t->out[i].cot_dev, t->out[i].cot, t->out[i].n);
        }
        run(t);
        for (int i = 0; i < t->n_out; i++)
            if (!agree(op->name, t->out[i].name, t->out[i].got, t->out[i].x, t->out[i].n, tolerance)) fail_msg("%s", wrong);
        for (int i = 0; i < t->n_in; i++) {
            struct array *a = &t->in[i];
            if (!a->grad) continue;
            golden_doubles(f, op->name, a->name, ".grad", a->x, a->n);
            for (size_t j = 0; j < a->n; j++) a->g[j] -= a->before[j];
            if (!agree(op->name, a->name, a->g, a->x, a->n, tolerance)) fail_msg("gradient: %s", wrong);
        }
        case_free(t);
    }

    golden_steps(f, "adam", false);
    golden_steps(f, "lamb", true);
    st_close(f);
}

/* --- instruction sets ------------------------------------------------------------------------- */

/* This program again, under other settings; its status. */
static int again(const char *simd, const char *coretype, const char *precision)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        setenv("ISOGLOT_SIMD", simd, 1);
        if (coretype) setenv("OPENBLAS_CORETYPE", coretype, 1);
        execl("/proc/self/exe", "ops", "cpu", precision, (char *)NULL);
        _exit(127);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void lesser_instruction_sets_pass_too(void **state)
{
    (void)state;
    if (getenv("ISOGLOT_SIMD") || strcmp(k->name, "cpu") != 0) return;
    assert_int_equal(again("base", "Prescott", "float32"), 0);
    assert_int_equal(again("avx2", "Haswell", "float32"), 0);
}

static void bf16_products_pass_to_two_digits(void **state)
{
    (void)state;
    if (getenv("ISOGLOT_SIMD") || strcmp(k->name, "cpu") != 0) return;
    if (k->precision(KERN_BF16) < 0) { printf("not run: %s\n", err_msg()); return; }
    enum { N = 200, I = 300, O = 250 };
    static const struct shape s = { .N = N, .I = I, .O = O };
    struct test *t = case_new(&ops[0], &s);
    run(t);
    assert_true(values_hold(t) == false);                   /* they are not float32's */
    assert_int_equal(k->precision(KERN_FLOAT32), 0);
    run(t);
    assert_true(values_hold(t));
    case_free(t);
    assert_int_equal(again("", NULL, "bf16"), 0);
}

static void devices_that_are_not_there_are_named(void **state)
{
    (void)state;
    const char *why = NULL;
    assert_null(kernels_open("gpu", KERN_FLOAT32, NULL));
    assert_non_null(strstr(err_msg(), "auto, cpu or cuda"));
    setenv("ISOGLOT_CUDA", "/nonexistent/libisoglot-cuda.so", 1);
    assert_null(kernels_open("cuda", KERN_FLOAT32, &why));
    assert_non_null(strstr(err_msg(), "--device cpu"));
    assert_non_null(kernels_open("auto", KERN_FLOAT32, &why));
    assert_non_null(strstr(why, "/nonexistent/libisoglot-cuda.so"));
    unsetenv("ISOGLOT_CUDA");
}

/* --- the list is whole ------------------------------------------------------------------------ */

/* The table with a count of each operation's calls. */
enum {
#define NUMBER(op, name) OP_##op,
    KERN_OPS(NUMBER) N_OPS
};
static int calls[N_OPS];
static const struct kernels *device_table;
#define COUNTED(op, name) \
    static void counted_##op(const struct kern_##op *a) { calls[OP_##op]++; device_table->op(a); }
KERN_OPS(COUNTED)

static const struct kernels *counted(const struct kernels *table)
{
    static struct kernels all;
    device_table = table;
    all = *table;
#define ENTRY(op, name) all.op = counted_##op;
    KERN_OPS(ENTRY)
    return &all;
}

static void every_operation_is_in_a_test(void **state)
{
    (void)state;
    calls[OP_beam]++;                                   /* test/unit/search.c's */
#define CALLED(op, name) if (!calls[OP_##op]) fail_msg("no test calls " #op);
    KERN_OPS(CALLED)
}

int main(int argc, char **argv)
{
    const char *why;
    bool bf16 = argc > 2 && strcmp(argv[2], "bf16") == 0;
    k = kernels_open(argc > 1 ? argv[1] : "cpu", bf16 ? KERN_BF16 : KERN_FLOAT32, &why);
    if (!k) { fprintf(stderr, "ops: %s\n", err_msg()); return 1; }
    k = counted(k);
    printf("%s\n", why);
    if (argc > 2 && strcmp(argv[2], "describe") == 0) return 0;
    if (bf16) tolerance = 1e-2;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_those_of_a_plain_computation_in_double),
        cmocka_unit_test(gradients_are_those_of_finite_differences),
        cmocka_unit_test(a_gradient_with_the_wrong_sign_is_noticed),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bytes),
        cmocka_unit_test(long_sums_are_whole),
        cmocka_unit_test(uploads_keep_what_the_host_had_when_they_were_called),
        cmocka_unit_test(fetches_bring_what_the_device_had_when_they_were_called),
        cmocka_unit_test(topk_is_a_sort_of_the_allowed_words),
        cmocka_unit_test(best_is_the_first_largest_logit_among_the_allowed),
        cmocka_unit_test(adam_follows_the_paper_and_skips_gradients_that_are_not_finite),
        cmocka_unit_test(lamb_follows_the_paper_and_skips_gradients_that_are_not_finite),
        cmocka_unit_test(lamb_moves_parameters_of_zero_and_by_the_same_bytes_on_any_number_of_threads),
        cmocka_unit_test(matrices_are_added_and_averaged),
        cmocka_unit_test(rows_of_no_length_have_no_gradient),
        cmocka_unit_test(the_best_row_of_a_segment_is_the_first_largest_allowed_one),
        cmocka_unit_test(widened_acts_are_the_acts),
        cmocka_unit_test(what_is_not_finite_stays_so),
        cmocka_unit_test(values_and_gradients_are_pytorchs),
        cmocka_unit_test(every_operation_is_in_a_test),
        cmocka_unit_test(devices_that_are_not_there_are_named),
        cmocka_unit_test(lesser_instruction_sets_pass_too),
        cmocka_unit_test(bf16_products_pass_to_two_digits),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    printf("%s\n", k->describe());                          /* with what it met on the way */
    return failed;
}
