/* On-the-fly back-translation (Sennrich et al. 2016; Lample et al. 2018): real sentences from the
 * model's own greedy translations of them, made in evaluation mode by the model as it is. */
#include "common/err.h"
#include "common/mem.h"
#include <stdlib.h>
#include "lib/data/corpus.h"
#include "lib/objective/seq2seq.h"

struct back {
    enum { BACK_SAME, BACK_INT8 } precision;
    bool stale;                          /* the weights have changed since they were rounded */
    size_t bytes;                        /* of their copies in 8 bits; 0: there are none */
    struct setup s;
    const struct seq2seq_options *o;
};

static const struct opt rows[] = {
    { "back-precision", 0, OPT_CHOICE(back, precision), "same|int8",
      "number format of the products that translate: int8 rounds the weights, as they are in this "
      "step, and their inputs to 8 bits (faster, on processors); same: as --precision" },
    { 0 }
};

/* Real sentences, the language to translate them into, and the pairs (translation, real sentence)
 * that prepare makes. */
struct back_batch { struct seq2seq pairs; struct batch real; int into; };

static int open(void *self, struct setup *s)
{
    struct back *x = self;
    x->s = *s;
    x->o = s->task;
    return s->text && s->text->n > 1
               ? 0
               : err_set(
                   "objective back needs monolingual text of two languages: --train LANG=SHARD");
}

/* What the memory plan has asked for (prepare). */
static size_t holds(const void *self, const struct model_config *c)
{
    (void)c;
    return ((const struct back *)self)->bytes;
}

static int start(void *self, struct pass *p, struct state *s)
{
    struct back *x = self;
    const struct kernels *k = p->m->ps.k;
    (void)s;
    if (x->precision == BACK_SAME) return 0;
    x->stale = true;
    return k->int8_new ? model_copy_int8(p->m)
                       : err_set("--back-precision int8 is for the processor; use --device cpu, or "
                                 "leave it out on a GPU");
}

static bool turn(const void *self, int64_t step)
{
    return step >= ((const struct back *)self)->o->pseudo_steps;
}

static int make(void *self, void *batch, const void *under, const struct turn *at)
{
    struct back *x = self;
    struct back_batch *b = batch;
    struct direction d = direction_of(at->micro, x->s.text->n);
    struct sample s;
    (void)under;
    batch_clear(&b->real);
    b->into = x->s.text->c[d.src].lang_id;
    while (x->s.sentences ? b->real.n < x->s.sentences : b->real.rows < x->s.tokens) {
        if (corpora_next_of(x->s.text, d.tgt, x->s.longest, &s) < 0) return -1;
        seq2seq_source(&b->pairs, &b->real, s.ids, s.n, s.lang, s.number);
    }
    return 0;
}

/* Words of the longest translation of n words. */
static int longest_translation(const struct model *m, const struct decode_options *o, int n)
{
    int y = (int)(o->max_ratio * n) + o->max_extra, most = m->c.positions - 1;
    return y < most ? y : most;
}

/* Translations as long as they may get: those of a decoder that has not learnt to end. */
static void plan_pairs(const struct back *x, struct back_batch *b, const struct model *m,
                       const struct decode_options *o)
{
    uint32_t *ids = mem_zero((size_t)m->c.positions + 1, sizeof *ids);
    for (int i = 0; i < b->real.n; i++) {
        int n = b->real.len[i] - 2,
            y = longest_translation(m, o, n + 1); /* one more: lengths are means, rounded down */
        seq2seq_add(&b->pairs, ids, y < x->s.longest ? y : x->s.longest, 0, ids, n, 0, 0);
    }
    free(ids);
}

static int round_weights(struct back *x, struct pass *p)
{
    if (p->planning) x->bytes = model_int8_bytes(p->m);
    else if (x->stale && params_round(&p->m->ps) < 0) return -1;
    x->stale = false;
    return 0;
}

static int prepare(void *self, void *batch, struct pass *p)
{
    struct back *x = self;
    struct back_batch *b = batch;
    struct decode_options o;
    struct hyps h;
    decode_options_init(&o);
    if (x->precision == BACK_INT8 && round_weights(x, p) < 0) return -1;
    o.seen = p->planning ? NULL : seq2seq_allowed(x->o, p->m, b->into);
    p->m->ps.rounded = x->precision == BACK_INT8;
    int rc = decode(p->m, p->t, &b->real, b->into, &o, &h);
    p->m->ps.rounded = false;
    if (rc < 0) return -1;
    seq2seq_clear(&b->pairs);
    for (int i = 0; i < b->real.n && !p->planning; i++) {
        const struct hyp *y = &h.hyp[i];
        int at = b->real.at[i], n = y->n < x->s.longest ? y->n : x->s.longest;
        seq2seq_add(&b->pairs, y->ids, n, b->into, (const uint32_t *)b->real.token + at + 1,
                    b->real.len[i] - 2, b->real.lang[at], b->real.sample[at]);
    }
    if (p->planning) plan_pairs(x, b, p->m, &o);
    hyps_free(&h);
    return 0;
}

static int forward(void *self, void *batch, struct pass *p)
{
    (void)self;
    seq2seq_forward(&((struct back_batch *)batch)->pairs, p);
    return 0;
}

static int loss(void *self, void *batch, struct pass *p, float scale)
{
    seq2seq_loss(&((struct back_batch *)batch)->pairs, ((struct back *)self)->o, p, "back", scale);
    return 0;
}

static int stepped(void *self, struct pass *p, int64_t step)
{
    (void)p; (void)step;
    ((struct back *)self)->stale = true;
    return 0;
}

static int largest(void *self, void *batch, const void *under, int tokens)
{
    const struct back *x = self;
    struct back_batch *b = batch;
    int usual, longest;
    (void)under;
    seq2seq_lengths(&x->s, &usual, &longest);
    uint32_t *ids = mem_zero((size_t)longest + 1, sizeof *ids);
    batch_clear(&b->real);
    for (int i = 1; i < x->s.sentences; i++)
        seq2seq_source(&b->pairs, &b->real, ids, longest, 0, 0);
    while (!x->s.sentences && b->real.rows < tokens - 1)
        seq2seq_source(&b->pairs, &b->real, ids, usual, 0, 0);
    seq2seq_source(&b->pairs, &b->real, ids, longest, 0, 0);
    free(ids);
    return 0;
}

static void write(const void *self, const void *batch, const struct pass *p, struct batch_file *f)
{
    seq2seq_write(&((const struct back_batch *)batch)->pairs, ((const struct back *)self)->o, p, f);
}

static void batch_done(void *batch)
{
    struct back_batch *b = batch;
    seq2seq_free(&b->pairs);
    batch_free(&b->real);
}

const struct objective objective_back = { .name = "back",
                                          .about = "translate the model's own translations back",
                                          .used_by = OBJECTIVE_TASK,
                                          .self = sizeof(struct back),
                                          .batch = sizeof(struct back_batch),
                                          .options = rows,
                                          .open = open,
                                          .start = start,
                                          .turn = turn,
                                          .make = make,
                                          .prepare = prepare,
                                          .forward = forward,
                                          .loss = loss,
                                          .stepped = stepped,
                                          .largest = largest,
                                          .holds = holds,
                                          .write = write,
                                          .batch_free = batch_done };
