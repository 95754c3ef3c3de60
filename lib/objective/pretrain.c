#include "lib/objective/pretrain.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "lib/engine/ahead.h"

double pretrain_sum(const struct kernels *k, const float *x, int n)
{
    if (!x) return 0;
    float *h = mem_alloc((size_t)n * sizeof *h);
    double s = 0;
    k->download(h, x, (size_t)n * sizeof *h);
    for (int i = 0; i < n; i++) s += h[i];
    free(h);
    return s;
}

static int count_hits(const struct kernels *k, const int32_t *best, const int32_t *target, int n)
{
    int32_t *h = mem_alloc((size_t)n * sizeof *h);
    int hits = 0;
    k->download(h, best, (size_t)n * sizeof *h);
    for (int i = 0; i < n; i++) hits += h[i] == target[i];
    free(h);
    return hits;
}

void pretrain_pass(struct pretrain *p, bool train, bool with_mlm, bool with_gc, float scale, struct pretrain_loss *loss)
{
    struct tape *t = p->t;
    int n = p->b.n;
    struct dev_batch d = batch_upload(t, &p->b.input);
    struct var *h = model_encode(p->m, t, &d);
    *loss = (struct pretrain_loss){ .predicted = n, .targets = p->g.n, .pairs = p->g.pairs };
    struct xent e = { 0 };
    int32_t *target = tape_int32(t, p->b.target, (size_t)n);
    if (with_mlm && n) {
        struct var *rows = tape_gather(t, h, tape_int32(t, p->b.row, (size_t)n), n);
        e = tape_xent(t, model_output(p->m, t, rows), p->m->tokens, p->m->output_bias, target, NULL, NULL, 0, scale / (float)n);
    }
    loss->mlm = e.nll;
    loss->best = e.best;
    if (with_gc && p->x) loss->gc = gc_loss(t, h, p->m->tokens, &p->g, &p->gc, scale);
    if (train) tape_backward(t);
}

/* --- the training stream, on a thread of its own --- */

struct item { struct mlm_batch b; struct gc_batch g; };
struct stream { struct pretrain *p; int64_t made, end; int accumulate; struct item item[AHEAD_ITEMS]; };

/* The next micro-batch. */
static int make_batch(void *ctx, void *to)
{
    struct stream *x = ctx;
    struct pretrain *p = x->p;
    struct item *i = to;
    struct sample s;
    if (x->made == x->end) return 0;
    struct rng_key key = { p->seed, RNG_MASK, (uint32_t)(x->made++ / x->accumulate + 1) };      /* as trainer_key */
    mlm_clear(&i->b);
    while (i->b.input.rows < p->tokens) {
        if (corpora_next(p->train, p->longest, &s) < 0) return -1;
        mlm_add(&i->b, &s, !p->stream, (uint32_t)p->m->c.vocab, &p->mlm, key);
    }
    if (p->x) gc_build(&i->g, &i->b, p->x, &p->gc);
    return 1;
}

/* The old batch goes back in the item, to be filled again. */
static int next_batch(struct pretrain *p, struct ahead *a)
{
    bool failed;
    struct item *i = ahead_next(a, &failed), was = { p->b, p->g };
    if (!i) return failed ? -1 : err_set("the data ended before the run");
    p->b = i->b; p->g = i->g;
    *i = was;
    return 0;
}

/* A batch of validation corpus i from sentence *s on; false at its end. The masks are the same in every run, so that runs compare. */
static bool next_valid(struct pretrain *p, int i, uint32_t *s)
{
    const struct corpus *c = &p->valid[i];
    struct rng_key key = { 0, RNG_MASK, 0 };
    uint32_t end = c->all.sentences;
    if (p->valid_sentences > 0 && (uint32_t)p->valid_sentences < end) end = (uint32_t)p->valid_sentences;
    if (*s >= end) return false;
    mlm_clear(&p->b);
    for (; *s < end && p->b.input.rows < p->tokens; ++*s) {
        int len = (int)(c->all.at[*s + 1] - c->all.at[*s]);
        struct sample one = { c->all.ids + c->all.at[*s], len, i, c->lang_id, *s };
        if (len > 0 && len <= p->longest) mlm_add(&p->b, &one, !p->stream, (uint32_t)p->m->c.vocab, &p->mlm, key);
    }
    return true;
}

bool pretrain_predicts(struct pretrain *p, int i)
{
    for (uint32_t s = 0; next_valid(p, i, &s); )
        if (p->b.n > 0) return true;
    return false;
}

int pretrain_validate(struct pretrain *p, int i, double *nll, double *accuracy)
{
    double sum = 0, n = 0, hits = 0;
    for (uint32_t s = 0; next_valid(p, i, &s); ) {
        struct pretrain_loss loss;
        p->g.n = 0;
        tape_reset(p->t, false);
        pretrain_pass(p, false, true, false, 0, &loss);
        n += loss.predicted;
        sum += pretrain_sum(p->t->k, loss.mlm, loss.predicted);
        if (loss.best) hits += count_hits(p->t->k, loss.best, p->b.target, loss.predicted);
        if (p->t->k->sync() < 0) return -1;
    }
    *nll = n > 0 ? sum / n : NAN;
    *accuracy = n > 0 ? hits / n : NAN;
    return 0;
}

static int validate(struct pretrain *p, struct trainer *tr)
{
    double total = 0, nll, accuracy;
    log_begin(tr->log, "valid", tr->step);
    for (int i = 0; i < p->n_valid; i++) {
        char name[64];
        if (pretrain_validate(p, i, &nll, &accuracy) < 0) return -1;
        snprintf(name, sizeof name, "%s.perplexity", p->valid[i].lang);
        log_real(tr->log, name, exp(nll));
        snprintf(name, sizeof name, "%s.accuracy", p->valid[i].lang);
        log_real(tr->log, name, accuracy);
        total += nll / p->n_valid;
    }
    log_real(tr->log, "perplexity", exp(total));
    if (log_end(tr->log) < 0) return -1;
    return trainer_judge(tr, total);
}

/* Each objective's own gradient norm on the batch at hand: two passes whose gradients are thrown away. */
static int gradient_norms(struct pretrain *p, struct trainer *tr, struct rng_key drop)
{
    struct params *ps = &p->m->ps;
    for (int i = 0; i < 2; i++) {
        struct pretrain_loss loss;
        tape_reset(p->t, true);
        p->t->drop.key = drop;
        pretrain_pass(p, true, i == 0, i == 1, 1, &loss);
        if (trainer_norm(tr, i ? "gc_grad_norm" : "mlm_grad_norm") < 0) return -1;
        ps->k->zero(ps->grad, ps->total * sizeof(float));
    }
    return 0;
}

/* Micro-batch a (from 0) of the step under way. */
static int write_batches(const struct pretrain *p, const struct trainer *tr, int a, float scale)
{
    struct batch_file f = { 0 };
    mlm_arrays(&f, &p->b, scale);
    int rc = batch_file_write(&f, tr->o.write_batches, tr->step + 1, a + 1, "mlm");
    if (rc < 0 || !p->x) return rc;
    gc_arrays(&f, &p->g, &p->gc, p->m->c.dim, scale);
    return batch_file_write(&f, tr->o.write_batches, tr->step + 1, a + 1, "gc");
}

static int one_step(struct pretrain *p, struct trainer *tr, struct ahead *data)
{
    int64_t tokens = 0;
    float scale = 1.0f / (float)tr->o.accumulate;
    for (int a = 0; a < tr->o.accumulate; a++) {
        struct pretrain_loss loss;
        if (next_batch(p, data) < 0) return -1;
        struct rng_key drop = trainer_key(tr, p->seed, RNG_DROPOUT);
        if (a == 0 && p->x && p->gradient_norms && (tr->step + 1) % tr->o.log_every == 0 && gradient_norms(p, tr, drop) < 0) return -1;
        tape_reset(p->t, true);
        p->t->drop.key = drop;
        pretrain_pass(p, true, true, true, scale, &loss);
        tokens += p->b.input.rows;
        if (tr->o.write_batches && write_batches(p, tr, a, scale) < 0) return -1;
        if (trainer_sum(tr, "mlm", loss.mlm, loss.predicted) < 0) return -1;
        if (!p->x) continue;
        if (trainer_sum(tr, "gc", loss.gc, loss.targets) < 0) return -1;
        trainer_term(tr, "gc_pairs", loss.pairs, loss.targets);
    }
    return trainer_update(tr, tokens);
}

int pretrain_run(struct pretrain *p, struct trainer *tr)
{
    struct stream x = { .p = p, .made = tr->step * tr->o.accumulate, .end = tr->o.steps * tr->o.accumulate, .accumulate = tr->o.accumulate };
    struct ahead_source from = { .make = make_batch, .ctx = &x };
    for (int i = 0; i < AHEAD_ITEMS; i++) from.item[i] = &x.item[i];
    struct ahead *data = ahead_start(&from, tr);
    int rc = data ? 0 : -1;
    p->t->p_drop = p->m->c.dropout;
    p->t->p_attn = p->m->c.attention_dropout;
    while (rc == 0 && trainer_go(tr)) {
        rc = one_step(p, tr, data);
        if (rc == 0 && p->n_valid && trainer_due(tr)) rc = validate(p, tr);
        if (rc == 0) rc = trainer_tick(tr);
    }
    ahead_stop(data);
    for (int i = 0; i < AHEAD_ITEMS; i++) {
        mlm_free(&x.item[i].b);
        gc_free(&x.item[i].g);
    }
    return rc;
}

/* --- memory --- */

int pretrain_plan(const struct pretrain *p, const struct model_config *c, const struct kernels *like, int tokens, bool recompute, struct memory_need *need)
{
    struct model m;
    struct tape t;
    struct pretrain x = *p;
    struct pretrain_loss loss;
    int wrap = p->stream ? 0 : 2, whole = p->longest + wrap, J = 2 * p->gc.window;
    if (memory_plan_open(&m, &t, c, like) < 0) return -1;
    t.p_drop = c->dropout; t.p_attn = c->attention_dropout; t.recompute = recompute;
    x.m = &m; x.t = &t;
    memset(&x.b, 0, sizeof x.b);
    memset(&x.g, 0, sizeof x.g);
    uint32_t *ids = mem_zero((size_t)whole + (size_t)tokens, sizeof *ids);
    for (int rows = tokens - 1; rows > 0; rows -= whole) batch_add(&x.b.input, ids, rows < whole ? rows : whole, 0, 0);
    batch_add(&x.b.input, ids, whole, 0, 0);
    double rows = x.b.input.rows, share = p->mlm.select;
    int predicted = (int)(rows * share + 6 * sqrt(rows * share * (1 - share))) + 1;
    if (predicted > rows) predicted = x.b.input.rows;
    x.b.n = predicted;
    x.b.row = mem_zero((size_t)predicted, sizeof *x.b.row);
    x.b.target = mem_zero((size_t)predicted, sizeof *x.b.target);
    if (p->x) {
        size_t nj = (size_t)predicted * (size_t)J;
        x.g = (struct gc_batch){ .n = predicted, .t = mem_zero((size_t)predicted, 4), .nb = mem_zero(nj, 4), .f = mem_zero(nj, 4), .logx = mem_zero(nj, 4) };
    }
    for (int train = 1; train >= 0; train--) {
        tape_reset(&t, train);
        pretrain_pass(&x, train, true, train, 1, &loss);
    }
    struct kern_shape s = { x.b.input.rows, whole, predicted, c->dim, c->ffn, c->heads, c->vocab };
    memory_plan_close(&m, &t, like, &s, need);
    mlm_free(&x.b);
    gc_free(&x.g);
    free(ids);
    return 0;
}

void pretrain_free(struct pretrain *p)
{
    mlm_free(&p->b);
    gc_free(&p->g);
}
