/* Operations of the tape, as objectives call them: where gradients go, what a pass without
 * records does. Values and derivatives of the kernels themselves are test/unit/ops.c's. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"
#include "lib/graph/tape.h"
#include "lib/model/model.h"

enum { V = 7, D = 12, ROWS = 9 };

struct world {
    const struct kernels *k;
    struct params ps;
    struct tape t;
    int E, P, W, b;
    int32_t *token, *pos;
};

static void world_init(struct world *w)
{
    static const int32_t pos[ROWS] = { 0, 1, 2, 3, 0, 1, 2, 0, 1 };
    static const int32_t token[ROWS] = { 1, 2, -1, 3, 3, 6, -1, 0, 5 };
    memset(w, 0, sizeof *w);
    w->k = kernels_cpu();
    params_init(&w->ps, w->k);
    w->E = params_add(&w->ps, "E", V, D, true);
    w->P = params_add(&w->ps, "P", 4, D, true);
    w->W = params_add(&w->ps, "W", 2, D, true);
    w->b = params_add(&w->ps, "b", 1, 2, false);
    assert_int_equal(params_alloc(&w->ps, true), 0);
    for (int i = 0; i < w->ps.n; i++) param_normal(&w->ps, i, 5, 0.5f);
    tape_init(&w->t, w->k, &w->ps);
    tape_reset(&w->t, true);
    w->token = tape_int32(&w->t, token, ROWS);
    w->pos = tape_int32(&w->t, pos, ROWS);
}

static void world_free(struct world *w)
{
    tape_free(&w->t);
    params_free(&w->ps);
}

/* --- gradients -------------------------------------------------------------------------------- */

/* A pass of an objective: the sum of scale times its losses, backward done if the tape trains. */
typedef double pass(struct world *w);

static double total(const struct world *w, const float *loss, int n, double scale)
{
    float host[64];
    double sum = 0;
    w->k->download(host, loss, (size_t)n * sizeof *host);
    for (int i = 0; i < n; i++) sum += scale * (double)host[i];
    return sum;
}

static float *copied(const float *x, size_t n)
{
    float *y = mem_alloc(n * sizeof *y);
    memcpy(y, x, n * sizeof *y);
    return y;
}

/* The gradient of every parameter along a direction against central differences of the forward
 * pass. */
static void gradient_holds(pass *run, const char *what)
{
    struct world w;
    world_init(&w);
    size_t n = w.ps.total;
    float *value = mem_alloc(n * sizeof *value), *grad = mem_alloc(n * sizeof *grad);
    w.k->download(value, w.ps.value, n * sizeof *value);
    run(&w);
    w.k->download(grad, w.ps.grad, n * sizeof *grad);
    for (int i = 0; i < w.ps.n; i++) {
        const struct param *p = &w.ps.p[i];
        double along = 0, loss[2], h = 2e-3;
        for (size_t j = p->at; j < p->at + p->n; j++) along += fabs((double)grad[j]);
        for (int side = 0; side < 2; side++) {
            float *moved = copied(value, n);
            for (size_t j = p->at; j < p->at + p->n; j++)
                moved[j] += (float)((side ? h : -h) * (grad[j] < 0 ? -1 : 1));
            w.k->upload(w.ps.value, moved, n * sizeof *moved);
            free(moved);
            w.t.train = false;
            loss[side] = run(&w);
        }
        double slope = (loss[1] - loss[0]) / (2 * h);
        if (!(fabs(slope - along) <= 2e-3 * fabs(along) + 1e-4))
            fail_msg("%s: %s: %g, finite differences %g", what, p->name, along, slope);
    }
    free(value);
    free(grad);
    world_free(&w);
}

static struct spans three_spans(struct world *w)
{
    static const int32_t at[3] = { 0, 4, 7 }, len[3] = { 4, 3, 2 };
    return (struct spans){ 3, tape_int32(&w->t, at, 3), tape_int32(&w->t, len, 3), 4, ROWS };
}

/* Two rows read mixtures in place of tokens; spans of a tanh head's second column. */
static double mixed_spans(struct world *w)
{
    static const int32_t row[2] = { 2, 6 }, idx[6] = { 1, 4, -1, 5, 1, 1 },
                         target[3] = { 1, -1, 0 };
    static const float weight[6] = { 0.5f, 0.25f, 9, 0.7f, 0.2f, 0.1f };
    static const uint8_t allowed[ROWS] = { 1, 1, 0, 1, 1, 1, 1, 1, 1 };
    struct tape *t = &w->t;
    struct spans s = three_spans(w);
    struct mixture m = { 2, 3, tape_int32(t, row, 2), tape_int32(t, idx, 6),
                         tape_float(t, weight, 6) };
    struct var *x = tape_embed(t, w->token, w->pos, NULL, ROWS, w->E, w->P, -1, 1.5f, &m);
    struct var *z = tape_dense(t, tape_unit(t, x, 2), w->W, w->b, KERN_TANH);
    const int32_t *at = tape_int32(t, target, 3);
    struct xent e = tape_span_xent(t, z, 1, &s, at, tape_bytes(t, allowed, ROWS), 0.7f);
    struct xent f = tape_span_xent(t, z, 0, &s, at, NULL, 0.2f); /* added to what is there */
    if (t->train) tape_backward(t);
    return total(w, e.loss, 3, (double)0.7f) + total(w, f.loss, 3, (double)0.2f);
}

/* Mixtures alone, as the rows of an output layer. */
static double mixtures(struct world *w)
{
    static const int32_t idx[6] = { 1, 4, -1, 5, 1, 1 }, target[3] = { 1, 0, 1 };
    static const float weight[6] = { 0.5f, 0.25f, 9, 0.7f, 0.2f, 0.1f };
    struct tape *t = &w->t;
    struct mixture m = { 3, 2, NULL, tape_int32(t, idx, 6), tape_float(t, weight, 6) };
    struct var *x = tape_mix(t, w->E, 1.2f, &m);
    struct xent e = tape_xent(t, x, w->W, w->b, tape_int32(t, target, 3), NULL, NULL, 0, 0.5f);
    if (t->train) tape_backward(t);
    return total(w, e.loss, 3, 0.5);
}

static double aligned(struct world *w, bool l2)
{
    static const int32_t i[4] = { 1, 2, 1, 6 }, j[4] = { 4, 5, 3, 2 };
    float *loss =
        tape_cos_pairs(&w->t, w->E, tape_int32(&w->t, i, 4), tape_int32(&w->t, j, 4), 4, l2, 0.25f);
    return total(w, loss, 4, 0.25);
}
static double by_cosine(struct world *w) { return aligned(w, false); }
static double by_distance(struct world *w) { return aligned(w, true); }

static void gradients_are_those_of_finite_differences(void **state)
{
    (void)state;
    gradient_holds(mixed_spans, "mixtures and spans");
    gradient_holds(mixtures, "mixtures alone");
    gradient_holds(by_cosine, "pairs by cosine");
    gradient_holds(by_distance, "pairs by distance");
}

/* --- InfoNCE by hand -------------------------------------------------------------------------- */

/* A queue of three, of which one is not allowed, and the keys of the batch behind it. */
static void a_matrix_with_keys_behind_its_queue_gives_infonce(void **state)
{
    (void)state;
    enum { B = 2, QUEUE = 3, DIM = 3 };
    static const float q[B][DIM] = { { 3, 0, 4 }, { 0, -2, 0 } };       /* unit: .6 0 .8; 0 -1 0 */
    static const float keys[QUEUE + B][DIM] = {
        { 1, 0, 0 }, { 0, 0, 1 }, { 0, 1, 0 }, { 0.6f, 0, 0.8f }, { 0, -0.6f, 0.8f }
    };
    static const uint8_t allowed[QUEUE + B] = { 1, 0, 1, 0, 0 };
    static const int32_t target[B] = { QUEUE, QUEUE + 1 };
    struct world w;
    world_init(&w);
    struct var *x = tape_var(&w.t, B, DIM);
    w.k->upload(x->v, q, sizeof q);                                     /* acts are float32 here */
    float *W = w.k->alloc(sizeof keys), loss[B], grad[B][DIM];
    w.k->upload(W, keys, sizeof keys);
    struct var *u = tape_unit(&w.t, x, 1 / 0.5f);
    struct xent e = tape_xent_matrix(&w.t, u, W, QUEUE + B, tape_int32(&w.t, target, B), NULL,
                                     tape_bytes(&w.t, allowed, sizeof allowed), 1);
    w.k->download(loss, e.loss, sizeof loss);
    w.k->download(grad, u->g, sizeof grad);
    const double z[B][3] = { { 2 * 0.6, 0, 2 },
                             { 0, -2, 2 * 0.6 } }; /* with queue 0, queue 2, its own key */
    for (int b = 0; b < B; b++) {
        double sum = exp(z[b][0]) + exp(z[b][1]) + exp(z[b][2]);
        assert_true(fabs((double)loss[b] - (log(sum) - z[b][2])) < 1e-6);
        const float *own = keys[QUEUE + b];
        for (int c = 0; c < DIM; c++) {
            double p = (exp(z[b][0]) * (double)keys[0][c] + exp(z[b][1]) * (double)keys[2][c] +
                        exp(z[b][2]) * (double)own[c]) /
                       sum;
            assert_true(fabs((double)grad[b][c] - (p - (double)own[c])) < 1e-6);
        }
    }
    w.k->release(W);
    world_free(&w);
}

/* --- dropout apart from training -------------------------------------------------------------- */

/* Begins a pass with the rows that dropout is to be at. */
static struct var *rows_to_drop(struct world *w, bool train, bool dropout)
{
    uint64_t sample[ROWS];
    for (int i = 0; i < ROWS; i++) sample[i] = (uint64_t)(i / 4);
    tape_reset(&w->t, train);
    w->t.dropout = dropout;
    w->t.p_drop = 0.5f;
    int32_t pos[ROWS] = { 0, 1, 2, 3, 0, 1, 2, 3, 0 }, token[ROWS] = { 1, 2, 3, 4, 5, 6, 1, 2, 3 };
    w->t.drop = (struct kern_drop){ .key = { 1, RNG_DROPOUT, 2 },
                                    .sample = tape_bytes(&w->t, sample, sizeof sample),
                                    .pos = tape_bytes(&w->t, pos, sizeof pos) };
    return tape_embed(&w->t, tape_int32(&w->t, token, ROWS), NULL, NULL, ROWS, w->E, -1, -1, 1,
                      NULL);
}

static void dropped(struct world *w, bool train, bool dropout, float *got)
{
    struct var *x = rows_to_drop(w, train, dropout);
    w->k->download(got, tape_drop(&w->t, x)->v, ROWS * D * sizeof *got);
}

static void a_pass_without_records_drops_what_a_trained_one_drops(void **state)
{
    (void)state;
    struct world w;
    float trained[ROWS * D], keys[ROWS * D], plain[ROWS * D], without[ROWS * D];
    world_init(&w);
    dropped(&w, true, true, trained);
    dropped(&w, false, true, keys);
    dropped(&w, false, false, plain);
    dropped(&w, true, false, without);
    assert_memory_equal(trained, keys, sizeof keys);
    assert_memory_equal(plain, without, sizeof plain);
    int zeros = 0;
    for (int i = 0; i < ROWS * D; i++) {
        zeros += keys[i] == 0;
        assert_true(keys[i] == 0 || keys[i] == 2 * plain[i]);
    }
    assert_true(zeros > ROWS * D / 4 && zeros < ROWS * D * 3 / 4);
    tape_reset(&w.t, true);
    assert_true(w.t.train && w.t.dropout);
    tape_reset(&w.t, false);
    assert_true(!w.t.train && !w.t.dropout);
    world_free(&w);
}

/* In the midst of a trained pass: nothing is dropped and nothing recorded, and the pass goes on as
 * if it had not been. */
static void a_stretch_without_gradient_drops_and_records_nothing(void **state)
{
    (void)state;
    struct world w;
    float trained[ROWS * D], plain[ROWS * D], aside[ROWS * D], after[ROWS * D];
    world_init(&w);
    dropped(&w, true, true, trained);
    dropped(&w, false, false, plain);
    struct var *x = rows_to_drop(&w, true, true);
    int records = w.t.n;
    struct tape_no_grad stretch = tape_no_grad_begin(&w.t);
    w.k->download(aside, tape_drop(&w.t, x)->v, sizeof aside);
    assert_int_equal(w.t.n, records);
    tape_no_grad_end(&w.t, &stretch);
    assert_true(w.t.train && w.t.dropout);
    w.k->download(after, tape_drop(&w.t, x)->v, sizeof after);
    assert_memory_equal(aside, plain, sizeof aside);
    assert_memory_equal(after, trained, sizeof after);
    world_free(&w);
}

/* --- rows of a batch that read mixtures ------------------------------------------------------- */

/* A model with dropout reads 6 tokens; with `mixed` the fourth as a mixture of itself and a word
 * that it has none of. The states come back, and the gradient of the table for a loss of their
 * first output column. */
static void states(bool mixed, float *h, float *grad)
{
    enum { TOKENS = 6, WORDS = 11, DIM = 16 };
    const uint32_t ids[TOKENS] = { 2, 7, 8, 9, 10, 3 };
    const int32_t row[1] = { 3 }, idx[3] = { 5, -1, 9 }, target[TOKENS] = { 1, 2, 3, 4, 5, 6 };
    const float weight[3] = { 0, 7, 1 };
    struct model_config c;
    struct model m;
    struct tape t;
    struct batch b = { 0 };
    model_config_init(&c);
    c.vocab = WORDS;
    c.dim = DIM;
    c.heads = 2;
    c.ffn = 24;
    c.layers = 2;
    c.positions = 16;
    c.n_langs = 1;
    assert_int_equal(model_new(&m, &c, kernels_cpu(), 3, true), 0);
    tape_init(&t, m.ps.k, &m.ps);
    tape_reset(&t, true);
    t.p_drop = 0.2f;
    t.drop.key = (struct rng_key){ 4, RNG_DROPOUT, 1 };
    batch_add(&b, ids, TOKENS, 0, 77);
    if (mixed) b.token[3] = -1;
    struct dev_batch d = batch_upload(&t, &b);
    if (mixed)
        d.mix = (struct mixture){ 1, 3, tape_int32(&t, row, 1), tape_int32(&t, idx, 3),
                                  tape_float(&t, weight, 3) };
    struct var *x = model_encode(&m, &t, &d);
    m.ps.k->download(h, x->v, TOKENS * DIM * sizeof *h);
    tape_xent(&t, x, m.tokens, m.output_bias, tape_int32(&t, target, TOKENS), NULL, NULL, 0, 1);
    tape_backward(&t);
    param_get(&m.ps, m.ps.grad, m.tokens, grad);
    batch_free(&b);
    tape_free(&t);
    model_free(&m);
}

/* What tape_uses says before the backward pass: the record after which a gradient stays as it
 * is. */
struct watch { struct params *ps; float *was; int *changed; };

static void look(void *ctx, int record)
{
    struct watch *w = ctx;
    for (int p = 0; p < w->ps->n; p++) {
        float *now = w->ps->grad + w->ps->p[p].at, *was = w->was + w->ps->p[p].at;
        if (memcmp(now, was, w->ps->p[p].n * sizeof *now)) w->changed[p] = record;
        memcpy(was, now, w->ps->p[p].n * sizeof *now);
    }
}

static void gradients_are_whole_after_the_record_that_is_said(void **state)
{
    (void)state;
    const uint32_t ids[] = { 2, 7, 8, 3 };
    const int32_t target[] = { 1, 2, 3, 4 };
    struct model_config c;
    struct model m;
    struct tape t;
    struct batch b = { 0 };
    model_config_init(&c);
    c.vocab = 11; c.dim = 16; c.heads = 2; c.ffn = 24;
    c.layers = 2; c.positions = 16; c.n_langs = 2;
    assert_int_equal(model_new(&m, &c, kernels_cpu(), 3, true), 0);
    int n = m.ps.n, first[100];
    assert_in_range(n, 20, 100);
    struct watch w = { &m.ps, mem_alloc(m.ps.total * sizeof(float)),
                       mem_alloc((size_t)n * sizeof(int)) };
    tape_init(&t, m.ps.k, &m.ps);
    tape_reset(&t, true);
    batch_add(&b, ids, 4, 1, 77);
    struct dev_batch d = batch_upload(&t, &b);
    struct var *x = model_encode(&m, &t, &d);
    tape_xent(&t, x, m.tokens, m.output_bias, tape_int32(&t, target, 4), NULL, NULL, 0, 1);
    assert_true(tape_uses(&t, first));
    for (int p = 0; p < n; p++) w.changed[p] = INT_MAX;
    /* what the loss itself has added is whole before */
    memcpy(w.was, m.ps.grad, m.ps.total * sizeof *w.was);
    t.grad_hook = look;
    t.grad_hook_ctx = &w;
    tape_backward(&t);
    for (int p = 0; p < n; p++)
        if (first[p] != w.changed[p])
            fail_msg("%s: said %d, last changed after %d", m.ps.p[p].name, first[p], w.changed[p]);
    assert_int_equal(first[m.tokens], 0);
    batch_free(&b);
    tape_free(&t);
    model_free(&m);
    free(w.was);
    free(w.changed);
}

static void a_mixture_of_one_word_is_the_word(void **state)
{
    (void)state;
    enum { STATES = 6 * 16, TABLE = 11 * 16 };
    float token[STATES], mixture[STATES], by_token[TABLE], by_mixture[TABLE];
    states(false, token, by_token);
    states(true, mixture, by_mixture);
    for (int i = 0; i < STATES; i++) assert_true(fabsf(token[i] - mixture[i]) < 1e-5f);
    for (int i = 0; i < TABLE; i++) assert_true(fabsf(by_token[i] - by_mixture[i]) < 1e-5f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_those_of_finite_differences),
        cmocka_unit_test(a_matrix_with_keys_behind_its_queue_gives_infonce),
        cmocka_unit_test(a_mixture_of_one_word_is_the_word),
        cmocka_unit_test(gradients_are_whole_after_the_record_that_is_said),
        cmocka_unit_test(a_pass_without_records_drops_what_a_trained_one_drops),
        cmocka_unit_test(a_stretch_without_gradient_drops_and_records_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
