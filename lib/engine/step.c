#include "lib/engine/run.h"
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include <stdio.h>
#include "lib/engine/prefetch.h"
#include "lib/engine/write_batches.h"
#include "lib/graph/arena.h"
#include "lib/trainer/trainer.h"

/* A micro-batch: of each objective that takes part, its batch. */
struct item { struct turn at; bool part[MIX_MOST]; void *batch[MIX_MOST]; };

struct stream {
    const struct engine *e;
    int64_t micro, end;
    int accumulate;
    const struct gradients *grad;        /* which of a step's micro-batches are this rank's */
    struct item item[PREFETCH_ITEMS];
};

static void items_open(struct item *it, const struct mix *x)
{
    for (int i = 0; i < x->n; i++) {
        size_t size = x->m[i].o->batch->size;
        /* kept from micro-batch to micro-batch: their arrays grow to the largest and stay */
        it->batch[i] = mem_zero(1, size ? size : 1);
    }
}

static void items_free(struct item *it, const struct mix *x)
{
    for (int i = 0; i < x->n; i++) {
        if (x->m[i].o->batch->free) x->m[i].o->batch->free(it->batch[i]);
        free(it->batch[i]);
    }
}

static bool keeps_nothing(const struct objective *o) { return o->ranks && o->ranks->keeps_nothing; }

/* The batch of member i's host. */
static const void *host_batch(const struct mix *x, const struct item *it, int i)
{
    return x->m[i].host < 0 ? NULL : it->batch[x->m[i].host];
}

/* Does another member read the batch of member i, although this rank does not compute it? What
 * nobody reads is not made: for micro-batches of other ranks, MLM masks nothing and GC looks up no
 * counts. */
static bool looked_at(const struct mix *x, const struct item *it, int i)
{
    for (int j = 0; j < x->n; j++)
        if (x->m[j].host == i && it->part[j] && x->m[j].o->make && !keeps_nothing(x->m[j].o))
            return true;
    return x->m[i].o->ranks && x->m[i].o->ranks->passed;
}

/* On the data thread. */
static int make_item(void *ctx, void *to)
{
    struct stream *s = ctx;
    const struct mix *x = s->e->mix;
    struct item *it = to;
    /* the thread may be ahead, but not beyond the run */
    if (s->micro == s->end) return 0;
    /* A step's micro-batches are divided among ranks; all of them are counted, since what is drawn
     * goes by their number. */
    bool mine = gradients_mine(s->grad, (int)(s->micro % s->accumulate));
    it->at = (struct turn){ s->micro / s->accumulate, s->micro, s->e->seed, false,
                            s->accumulate };
    s->micro++;
    /* here and not in the step: depends on seed and step alone, and says what to make */
    mix_turn(x, it->at.step, it->at.seed, it->part);
    for (int i = 0; i < x->n; i++) {
        const struct member *m = &x->m[i];
        if (!it->part[i] || !m->o->make || (!mine && keeps_nothing(m->o))) continue;
        struct turn at = it->at;
        at.passed = !mine && !looked_at(x, it, i);
        /* in the members' order, so a host's batch is there before what is made of it */
        if (m->o->make(m->self, it->batch[i], host_batch(x, it, i), &at) < 0) return -1;
    }
    return 1;
}

/* --- passes --- */

/* Does member j add its loss in the pass of member i? An auxiliary loss such as GC's is computed on
 * its host's states, without a pass of its own. */
static bool adds_loss(const struct mix *x, int j, int i)
{
    return j == i ? !x->m[j].silent : x->m[j].host == i && !mix_passes(x, j);
}

static int run_pass(const struct engine *e, const struct item *it, int i, int only, bool train,
                    float scale, struct pass *p, struct gradients *last)
{
    const struct mix *x = e->mix;
    struct tape *t = e->with.t;
    /* a pass per objective: its activations give way to the next one's */
    tape_reset(t, train);
    /* a copy: forward and losses fill it for this pass alone */
    *p = e->with;
    if (x->m[i].o->batch->forward(x->m[i].self, it->batch[i], p) < 0) return -1;
    /* hosts stand before their auxiliary objectives (mix.c: choose) */
    for (int j = i; j < x->n; j++) {
        const struct member *m = &x->m[j];
        if (!it->part[j] || !adds_loss(x, j, i) || (only >= 0 && only != j)) continue;
        /* L = L_MLM + lambda L_GC (MLM-GC, Eq. 4): one backward pass for the sum */
        float weight = (float)mix_weight(x, j, it->at.step);
        if (objective_loss(m->o, m->self, it->batch[j], p, scale * weight) < 0) return -1;
    }
    /* before backward, which gives the states' memory back */
    for (int j = i + 1; j < x->n && train; j++)
        if (it->part[j] && x->m[j].host == i && x->m[j].o->watch
            && x->m[j].o->watch(x->m[j].self, it->batch[j], p) < 0)
            return -1;
    /* The step's last pass: from here on a piece of the gradient is final as soon as the backward
     * pass has left it behind, and can travel to the other ranks meanwhile. */
    if (last) gradients_follow(last, t);
    if (train) tape_backward(t);
    return 0;
}

static int prepare(const struct engine *e, const struct item *it)
{
    const struct mix *x = e->mix;
    for (int i = 0; i < x->n; i++) {
        struct pass p = e->with;
        if (it->part[i] && x->m[i].o->prepare
            && x->m[i].o->prepare(x->m[i].self, it->batch[i], &p) < 0)
            return -1;
    }
    return 0;
}

/* Does the pass of another member need what it sees in that of member i? */
static bool watched(const struct mix *x, int i)
{
    for (int j = 0; j < x->n; j++)
        if (x->m[j].host == i && x->m[j].o->watch) return true;
    return false;
}

/* Each objective's own gradient norm on the batch at hand: passes whose gradients are thrown away.
 * Their dropout has the same key as in the step itself. */
static int gradient_norms(const struct engine *e, struct trainer *tr, const struct item *it)
{
    const struct mix *x = e->mix;
    struct params *ps = &e->with.m->ps;
    for (int j = 0; j < x->n; j++) {
        /* of an auxiliary loss, the host's pass with that loss alone */
        int i = mix_passes(x, j) ? j : x->m[j].host;
        char name[64];
        struct pass p;
        /* a silent host is run for those that watch its pass: they need what they see in it */
        if (!it->part[j] || (x->m[j].silent && !watched(x, j))) continue;
        snprintf(name, sizeof name, "%s_grad_norm", x->m[j].o->name);
        e->with.t->drop.key = trainer_key(tr, e->seed + (uint64_t)x->m[i].place, RNG_DROPOUT);
        /* scale 1: the norm of its loss, whatever --accumulate is */
        if (run_pass(e, it, i, j, true, 1, &p, NULL) < 0) return -1;
        if (!x->m[j].silent && trainer_norm(tr, name) < 0) return -1;
        /* nothing of it may reach the step: gradients of all passes add up */
        ps->k->zero(ps->grad, ps->total * sizeof(float));
    }
    return 0;
}

static int losses(const struct mix *x)
{
    int n = 0;
    for (int i = 0; i < x->n; i++) n += !x->m[i].silent;
    return n;
}

static int write_batches(const struct engine *e, const struct trainer *tr, const struct item *it,
                         int a, float scale)
{
    const struct mix *x = e->mix;
    for (int i = 0; i < x->n; i++) {
        struct batch_file f = { 0 };
        if (!it->part[i] || !x->m[i].o->batch->write) continue;
        x->m[i].o->batch->write(x->m[i].self, it->batch[i], &e->with, &f);
        /* what a replay multiplies the loss with */
        batch_file_scalar(&f, "weight", scale * (float)mix_weight(x, i, it->at.step));
        if (batch_file_write(&f, tr->o.write_batches, it->at.step + 1, a + 1, x->m[i].o->name) < 0)
            return -1;
    }
    return 0;
}

/* A micro-batch that another rank computes. */
static void pass_by(const struct mix *x, const struct item *it)
{
    for (int i = 0; i < x->n; i++) {
        const struct objective_ranks *r = x->m[i].o->ranks;
        if (it->part[i] && r && r->passed) r->passed(x->m[i].self, it->batch[i]);
    }
}

/* All passes of a micro-batch: gradients, and what the log gets; adds to *tokens. */
static int passes(const struct engine *e, struct trainer *tr, const struct item *it, float scale,
                  int64_t *tokens)
{
    const struct mix *x = e->mix;
    /* The last pass of this rank's last micro-batch of the step, after which gradients can travel;
     * -1 in any other micro-batch. */
    int end = it->at.micro % tr->o.accumulate + 1 == tr->grad.to ? x->n - 1 : -1;
    /* members that take no part in this step, or have no pass, do not end it */
    while (end >= 0 && (!it->part[end] || !mix_passes(x, end))) end--;
    for (int i = 0; i < x->n; i++) {
        struct pass p;
        if (!it->part[i] || !mix_passes(x, i)) continue;
        /* Passes of one micro-batch have keys of their own, by their place: the same sentences in
         * MLM's and in SCS's pass drop other units. */
        e->with.t->drop.key = trainer_key(tr, e->seed + (uint64_t)x->m[i].place, RNG_DROPOUT);
        if (run_pass(e, it, i, -1, true, scale, &p, i == end ? &tr->grad : NULL) < 0) return -1;
        *tokens += p.rows;
        /* now: the next pass resets the tape, on which the losses are */
        for (int k = 0; k < p.terms; k++) {
            const struct pass_term *u = &p.term[k];
            if (u->n && trainer_sum(tr, u->name, u->x, u->n) < 0) return -1;
            if (u->count > 0) trainer_term(tr, u->name, u->sum, u->count);
        }
    }
    return 0;
}

/* What objectives made of the step's micro-batches, from every rank to every other. */
static int gather(const struct engine *e, const struct trainer *tr)
{
    const struct mix *x = e->mix;
    for (int i = 0; i < x->n && ranks_size(tr->o.ranks) > 1; i++) {
        const struct objective_ranks *r = x->m[i].o->ranks;
        if (r && r->gather && r->gather(x->m[i].self, tr->o.ranks, tr->o.accumulate) < 0)
            return -1;
    }
    return 0;
}

static int one_step(const struct engine *e, struct trainer *tr, struct prefetch *data)
{
    const struct mix *x = e->mix;
    int64_t tokens = 0;
    /* the mean over micro-batches: a loss adds the gradient of scale x its own mean */
    float scale = 1.0f / (float)tr->o.accumulate;
    /* the norm of one loss is that of the step, which is logged anyway */
    bool norms = e->gradient_norms && losses(x) > 1 && (tr->step + 1) % tr->o.log_every == 0;
    for (int a = 0; a < tr->o.accumulate; a++) {
        bool failed;
        const struct item *it = prefetch_next(data, &failed);
        /* `end` is that of the run, so the data do not end before */
        if (!it) return failed ? -1 : err_set("the data ended before the run");
        /* the place among all ranks' numbers for the log, which the first one adds in this order */
        trainer_at(tr, a);
        if (!gradients_mine(&tr->grad, a)) {
            pass_by(x, it);
            continue;
        }
        if (prepare(e, it) < 0) return -1;
        if (a == 0 && norms && gradient_norms(e, tr, it) < 0) return -1;
        int rc = passes(e, tr, it, scale, &tokens);
        /* only now are batches whole that are made of what another's pass computed (watch); those
         * of a pass that failed are written, too: they are what one wants to look at */
        if (tr->o.write_batches && write_batches(e, tr, it, a, scale) < 0) return -1;
        if (rc < 0 || gradients_leaf(&tr->grad, a) < 0) return -1;
    }
    /* before the update, by all ranks alike: messages go in one order everywhere */
    if (gather(e, tr) < 0) return -1;
    if (trainer_update(tr, tokens) < 0) return -1;
    /* after the update, which has counted tr->step: `stepped` gets the steps done */
    for (int i = 0; i < x->n; i++) {
        struct pass p = e->with;
        if (x->m[i].o->stepped && x->m[i].o->stepped(x->m[i].self, &p, tr->step) < 0) return -1;
    }
    return 0;
}

static int validate(const struct engine *e, struct trainer *tr)
{
    struct report r = { .log = tr->log, .step = tr->step };
    struct pass p = e->with;
    if (e->judge.validate && e->judge.validate(e->judge.self, &p, &r) < 0) return -1;
    /* The first number that is reported for it judges the run: a task's metric goes before the
     * objectives' losses. */
    for (int i = 0; i < e->mix->n; i++) {
        const struct member *m = &e->mix->m[i];
        if (m->o->valid_as && mix_has(e->mix, m->o->valid_as)) continue;
        /* each its own: terms and states of one validation are nothing to the next */
        p = e->with;
        if (m->o->validate && m->o->validate(m->self, &p, &r) < 0) return -1;
    }
    /* Rank 0's number decides for all: ranks that disagreed about the best step, or about patience,
     * would wait for one another for ever. */
    if (!r.begun) return 0;                  /* there is nothing to validate on */
    if (log_end(tr->log) < 0 || dist_metric(tr, &r.metric, &r.judged) < 0) return -1;
    return r.judged && !e->keep_last ? trainer_judge(tr, r.metric) : 0;
}

int engine_run(struct engine *e, struct trainer *tr)
{
    struct stream s = { .e = e,
                        /* a resumed run's step: numbers go on, and with them what is drawn */
                        .micro = tr->step * tr->o.accumulate,
                        .end = tr->o.steps * tr->o.accumulate,
                        .accumulate = tr->o.accumulate,
                        .grad = &tr->grad };
    struct prefetch_source from = { .make = make_item, .ctx = &s };
    for (int i = 0; i < PREFETCH_ITEMS; i++) {
        items_open(&s.item[i], e->mix);
        from.item[i] = &s.item[i];
    }
    struct prefetch *data = prefetch_start(&from, tr->state);
    int rc = data ? 0 : -1;
    e->with.t->p_drop = e->with.m->c.dropout;
    e->with.t->p_attn = e->with.m->c.attention_dropout;
    while (rc == 0 && trainer_go(tr)) {
        rc = one_step(e, tr, data);
        /* all ranks come here at the same step: dist_check and validate are messages of all */
        if (rc == 0 && trainer_due(tr) && (rc = dist_check(tr)) == 0) rc = validate(e, tr);
        if (rc == 0) rc = trainer_tick(tr);
    }
    /* first: the thread still writes into the items */
    prefetch_stop(data);
    for (int i = 0; i < PREFETCH_ITEMS; i++) items_free(&s.item[i], e->mix);
    return rc;
}

/* --- memory --- */

static int plan_member(const struct engine *e, int i, const struct item *it, struct kern_shape *s)
{
    const struct member *m = &e->mix->m[i];
    struct pass p = e->with;
    if (m->o->prepare && m->o->prepare(m->self, it->batch[i], &p) < 0) return -1;
    /* a validation's pass keeps nothing for gradients, but has tokens of its own: both are run */
    for (int train = 1; train >= (m->o->validate ? 0 : 1); train--) {
        if (run_pass(e, it, i, train ? -1 : i, train, 1, &p, NULL) < 0) return -1;
        if (p.most_rows > s->rows) s->rows = p.most_rows;
        if (p.longest > s->longest) s->longest = p.longest;
        if (p.predicted > s->predicted) s->predicted = p.predicted;
    }
    return 0;
}

static int plan_all(const struct engine *e, int tokens, struct kern_shape *s)
{
    const struct mix *x = e->mix;
    struct item it = { 0 };
    int rc = 0;
    items_open(&it, x);
    for (int i = 0; i < x->n && rc == 0; i++) {
        const struct member *m = &x->m[i];
        /* all at once, though --mix draws one: the largest of their passes is what counts */
        it.part[i] = true;
        if (m->o->batch->largest)
            rc = m->o->batch->largest(m->self, it.batch[i], host_batch(x, &it, i), tokens);
    }
    for (int i = 0; i < x->n && rc == 0; i++)
        if (mix_passes(x, i)) rc = plan_member(e, i, &it, s);
    struct pass p = e->with;
    if (rc == 0 && e->judge.plan) rc = e->judge.plan(e->judge.self, &p, tokens);
    /* the judge's pass, too: a task may decode more rows than it trains on */
    if (p.most_rows > s->rows) s->rows = p.most_rows;
    items_free(&it, x);
    return rc;
}

int engine_plan(const struct engine *from, const struct model_config *c, const struct kernels *like,
                int tokens, bool recompute, struct memory_need *need)
{
    struct model m;
    struct tape t;
    struct engine e = *from;
    struct kern_shape s = { .dim = c->dim, .ffn = c->ffn, .heads = c->heads, .vocab = c->vocab };
    if (model_shapes(&m, c, arena_plan_kernels(like)) < 0) return -1;
    mix_parameters(e.mix, &m);
    /* -1: as the rank that holds the most, since all must fit */
    if (e.share > 1) sharded_lay_out(&m.ps, e.share, -1, e.whole_tensors);
    if (memory_plan_open(&m, &t) < 0) return -1;
    t.p_drop = c->dropout; t.p_attn = c->attention_dropout; t.recompute = recompute;
    e.with = (struct pass){ .m = &m, .t = &t, .vocab = from->with.vocab, .planning = true };
    int rc = plan_all(&e, tokens, &s);
    memory_plan_close(&m, &t, like, &s, need);
    /* after memory_plan_close, which fills *need anew */
    for (int i = 0; i < e.mix->n; i++) {
        const struct member *x = &e.mix->m[i];
        if (x->o->memory) x->o->memory(x->self, c, need);
    }
    return rc;
}
