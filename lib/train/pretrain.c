#include "lib/train/pretrain.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "common/err.h"
#include "common/mem.h"

static double sum_floats(const struct kernels *k, const float *dev, int n)
{
    float *h = mem_alloc((size_t)n * sizeof *h);
    double s = 0;
    k->download(h, dev, (size_t)n * sizeof *h);
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

int pretrain_pass(struct pretrain *p, bool train, bool with_mlm, bool with_gc, float scale, struct pretrain_loss *loss)
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
    float *gc = with_gc && p->x ? gc_loss(t, h, p->m->tokens, &p->g, &p->gc, scale) : NULL;
    if (train) tape_backward(t);
    if (e.nll) {
        loss->mlm = sum_floats(t->k, e.nll, n);
        if (!train) loss->hits = count_hits(t->k, e.best, p->b.target, n);
    }
    if (gc) loss->gc = sum_floats(t->k, gc, p->g.n);
    return t->k->sync();
}

static void build_gc(struct pretrain *p)
{
    if (p->x) gc_build(&p->g, &p->b, p->x, &p->gc);
}

/* The next micro-batch of the training stream. */
static int next_batch(struct pretrain *p, struct rng_key key)
{
    struct sample s;
    mlm_clear(&p->b);
    while (p->b.input.rows < p->tokens) {
        if (corpora_next(p->train, p->longest, &s) < 0) return -1;
        mlm_add(&p->b, &s, !p->stream, (uint32_t)p->m->c.vocab, &p->mlm, key);
    }
    build_gc(p);
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
        if (pretrain_pass(p, false, true, false, 0, &loss) < 0) return -1;
        sum += loss.mlm; n += loss.predicted; hits += loss.hits;
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
    const struct kernels *k = ps->k;
    for (int i = 0; i < 2; i++) {
        struct pretrain_loss loss;
        float norm2;
        tape_reset(p->t, true);
        p->t->drop.key = drop;
        if (pretrain_pass(p, true, i == 0, i == 1, 1, &loss) < 0) return -1;
        k->norm2(tr->norm2, ps->grad, ps->total);
        k->download(&norm2, tr->norm2, sizeof norm2);
        k->zero(ps->grad, ps->total * sizeof(float));
        trainer_term(tr, i ? "gc_grad_norm" : "mlm_grad_norm", sqrt((double)norm2), 1);
    }
    return 0;
}

static int one_step(struct pretrain *p, struct trainer *tr)
{
    int64_t tokens = 0;
    float scale = 1.0f / (float)tr->o.accumulate;
    for (int a = 0; a < tr->o.accumulate; a++) {
        struct pretrain_loss loss;
        if (next_batch(p, trainer_key(tr, p->seed, RNG_MASK)) < 0) return -1;
        struct rng_key drop = trainer_key(tr, p->seed, RNG_DROPOUT);
        if (a == 0 && p->x && p->gradient_norms && (tr->step + 1) % tr->o.log_every == 0 && gradient_norms(p, tr, drop) < 0) return -1;
        tape_reset(p->t, true);
        p->t->drop.key = drop;
        if (pretrain_pass(p, true, true, true, scale, &loss) < 0) return -1;
        tokens += p->b.input.rows;
        trainer_term(tr, "mlm", loss.mlm, loss.predicted);
        if (p->x) {
            trainer_term(tr, "gc", loss.gc, loss.targets);
            trainer_term(tr, "gc_pairs", loss.pairs, loss.targets);
        }
    }
    return trainer_update(tr, tokens);
}

int pretrain_run(struct pretrain *p, struct trainer *tr)
{
    p->t->p_drop = p->m->c.dropout;
    p->t->p_attn = p->m->c.attention_dropout;
    while (trainer_go(tr)) {
        if (one_step(p, tr) < 0) return -1;
        if (p->n_valid && trainer_due(tr) && validate(p, tr) < 0) return -1;
        if (trainer_tick(tr) < 0) return -1;
    }
    return 0;
}

void pretrain_free(struct pretrain *p)
{
    mlm_free(&p->b);
    gc_free(&p->g);
}
