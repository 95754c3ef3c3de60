/* On-the-fly back-translation (Sennrich et al. 2016; Lample et al. 2018): real sentences from the
 * model's own greedy translations of them, made in evaluation mode by the model as it is; or, as
 * UnsupervisedMT's --otf_sync_params_every has it, as it was a few steps ago: the first step of
 * each K translates for all of them in one search, because a search is bound by reading weights,
 * however many sentences it has. */
#include "common/err.h"
#include "common/mem.h"
#include <stdlib.h>
#include "lib/batch/seq2seq.h"
#include "lib/data/corpus.h"
#include "lib/engine/memory.h"

struct back {
    struct seq2seq_self base;
    enum { BACK_SAME, BACK_INT8 } precision;
    bool stale;                          /* the weights have changed since they were rounded */
    size_t bytes;                        /* of their copies in 8 bits; 0: there are none */
    int ahead;                           /* steps that one search translates for (K) */
    /* Of micro-batch a of a step [accumulate], the data thread's: steps before drawn[a] have their
     * sentences. */
    int64_t *drawn;
    /* What was translated for step i of K: pairs[a * K + i]. */
    struct seq2seq *pairs; int n_pairs;
};

static const struct opt rows[] = {
    { "back-precision", 0, OPT_CHOICE(back, precision), "same|int8",
      "number format of the products that translate: int8 rounds the weights, as they are in this "
      "step, and their inputs to 8 bits (faster, on processors); same: as --precision" },
    { "translate-ahead", 0, OPT_INT(back, ahead), "K",
      "steps whose sentences are translated in one search, by the model as it is at the first of "
      "them: faster, above all on a GPU; checkpoints and validations are at multiples of K",
      .min = 1, .max = 1000 },
    { 0 }
};

/* The first micro-batch of K: the real sentences of `batches` of them, where each batch ends among
 * them, and the language to translate them into. Of each: the pairs (translation, real sentence),
 * which prepare makes, or takes from those made before. */
struct back_batch {
    struct seq2seq pairs;
    struct batch real; int *end; size_t end_cap;
    int into, batches;
    int a, accumulate, step;             /* which micro-batch of how many, and which of K steps */
};

static void defaults(void *self) { ((struct back *)self)->ahead = 1; }

static int period(const void *self) { return ((const struct back *)self)->ahead; }

static int open(void *self, struct setup *s)
{
    return s->text && s->text->n > 1
               ? seq2seq_open(self, s)
               : err_set(
                   "objective back needs monolingual text of two languages: --train LANG=SHARD");
}

/* What the memory plan has asked for (prepare). */
static void memory(const void *self, const struct model_config *c, struct memory_need *need)
{
    (void)c;
    need->params += ((const struct back *)self)->bytes;
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
    return step >= ((const struct back *)self)->base.o->pseudo_steps;
}

/* One batch of sentences more, of corpus c. */
static int draw(const struct back *x, struct back_batch *b, int c)
{
    const struct setup *s = &x->base.s;
    struct sample y;
    int n = b->real.n, first = b->real.rows;
    while (s->sentences ? b->real.n - n < s->sentences : b->real.rows - first < s->tokens) {
        if (corpora_next_of(s->text, c, s->longest, &y) < 0) return -1;
        seq2seq_source(&b->pairs, &b->real, y.ids, y.n, y.lang, y.number);
    }
    mem_room(&b->end, &b->end_cap, (size_t)b->batches + 1, sizeof *b->end);
    b->end[b->batches++] = b->real.n;
    return 0;
}

/* K steps in a row have one direction. A run that goes on in the middle of K draws and translates
 * for those that are left. */
static int make(void *self, void *batch, const void *host_batch, const struct turn *at)
{
    struct back *x = self;
    struct back_batch *b = batch;
    int A = at->accumulate, rc = 0;
    int64_t block = at->step / x->ahead, end = (block + 1) * x->ahead;
    (void)host_batch;
    b->accumulate = A;
    b->a = (int)(at->micro - at->step * A);
    b->step = (int)(at->step % x->ahead);
    struct direction d = direction_of(block * A + b->a, x->base.s.text->n);
    batch_clear(&b->real);
    b->batches = 0;
    /* A batch of direction src -> tgt learns from real sentences of tgt, translated into src. */
    b->into = x->base.s.text->c[d.src].lang_id;
    if (!x->drawn) x->drawn = mem_zero((size_t)A, sizeof *x->drawn);
    /* Sentences are drawn for all K steps at the first of them, on the data thread. */
    for (int64_t i = at->step; i < end && x->drawn[b->a] <= at->step && rc == 0; i++)
        rc = draw(x, b, d.tgt);
    if (b->batches) x->drawn[b->a] = end;
    return rc;
}

/* Words of the longest translation of n words: 1.3 n + 5 by default, as in XLM's
 * back-translation. */
static int longest_translation(const struct model *m, const struct decode_options *o, int n)
{
    int y = (int)(o->max_ratio * n) + o->max_extra, most = m->c.positions - 1;
    return y < most ? y : most;
}

/* Translations as long as they may get, of one batch: those of a decoder that has not learnt to
 * end. The memory plan must hold for the first steps, too. */
static void plan_pairs(const struct back *x, struct back_batch *b, const struct model *m,
                       const struct decode_options *o)
{
    uint32_t *ids = mem_zero((size_t)m->c.positions, sizeof *ids);
    seq2seq_clear(&b->pairs);
    /* One batch: however far ahead it translates, a step trains on the pairs of its own. */
    for (int i = 0; i < b->end[0]; i++) {
        /* one more: lengths are means, rounded down */
        int n = b->real.len[i] - 2, y = longest_translation(m, o, n + 1);
        seq2seq_add(&b->pairs, ids, y < x->base.s.longest ? y : x->base.s.longest, 0, ids, n, 0, 0);
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

/* The pairs of step `step` of K. */
static struct seq2seq *pairs_of(const struct back *x, const struct back_batch *b, int step)
{
    return &x->pairs[b->a * x->ahead + step];
}

/* Batch k of those that were translated. */
static void keep_pairs(struct back *x, const struct back_batch *b, int k, const struct hyps *h)
{
    struct seq2seq *to = pairs_of(x, b, b->step + k);
    seq2seq_clear(to);
    for (int i = k ? b->end[k - 1] : 0; i < b->end[k]; i++) {
        const struct hyp *y = &h->hyp[i];
        /* The pair's sentence without its <s> and </s>, and with its sample's number, so that
         * dropout is drawn as if it had been read from text. */
        int row = b->real.at[i], n = y->n < x->base.s.longest ? y->n : x->base.s.longest;
        seq2seq_add(to, y->ids, n, b->into, (const uint32_t *)b->real.token + row + 1,
                    b->real.len[i] - 2, b->real.lang[row], b->real.sample[row]);
    }
}

static int translate(struct back *x, struct back_batch *b, struct pass *p)
{
    struct decode_options o;
    struct hyps h;
    decode_options_init(&o);
    if (x->precision == BACK_INT8 && round_weights(x, p) < 0) return -1;
    o.seen = p->planning ? NULL : seq2seq_allowed(x->base.o, p->m, b->into);
    /* int8 for the search alone: the training pass reads the weights themselves */
    p->m->ps.rounded = x->precision == BACK_INT8;
    int rc = decode(p->m, p->t, &b->real, b->into, &o, &h);
    p->m->ps.rounded = false;
    if (rc < 0) return -1;
    for (int k = 0; k < b->batches && !p->planning; k++) keep_pairs(x, b, k, &h);
    if (p->planning) plan_pairs(x, b, p->m, &o);
    hyps_free(&h);
    return 0;
}

static int prepare(void *self, void *batch, struct pass *p)
{
    struct back *x = self;
    struct back_batch *b = batch;
    if (!x->pairs && !p->planning) {
        x->n_pairs = b->accumulate * x->ahead;
        x->pairs = mem_zero((size_t)x->n_pairs, sizeof *x->pairs);
    }
    if (b->batches && translate(x, b, p) < 0) return -1;
    if (p->planning) return 0;
    /* Exchanged and not copied: the arrays of the batch come back for a later translation. */
    struct seq2seq *made = pairs_of(x, b, b->step), old = b->pairs;
    b->pairs = *made;
    *made = old;
    return 0;
}

static int stepped(void *self, struct pass *p, int64_t step)
{
    (void)p; (void)step;
    ((struct back *)self)->stale = true;
    return 0;
}

static int largest(void *self, void *batch, const void *host_batch, int tokens)
{
    const struct back *x = self;
    struct back_batch *b = batch;
    int usual, longest;
    (void)host_batch;
    seq2seq_lengths(&x->base.s, &usual, &longest);
    int64_t each = x->base.s.sentences ? (int64_t)x->base.s.sentences * (longest + 2)
                                       : (int64_t)tokens + longest + 2;
    if (batch_rows_fit(x->ahead * each) < 0) return -1;
    uint32_t *ids = mem_zero((size_t)longest, sizeof *ids);
    batch_clear(&b->real);
    mem_room(&b->end, &b->end_cap, (size_t)x->ahead, sizeof *b->end);
    /* K batches at once: the search over all of them is what takes the most memory */
    for (b->batches = 0; b->batches < x->ahead; b->batches++) {
        int first = b->real.rows;
        for (int i = 1; i < x->base.s.sentences; i++)
            seq2seq_source(&b->pairs, &b->real, ids, longest, 0, 0);
        /* draw begins its last sentence when a row is still missing: it may be the longest one */
        while (!x->base.s.sentences && b->real.rows - first < tokens - 1)
            seq2seq_source(&b->pairs, &b->real, ids, usual, 0, 0);
        seq2seq_source(&b->pairs, &b->real, ids, longest, 0, 0);
        b->end[b->batches] = b->real.n;
    }
    free(ids);
    return 0;
}

static void free_batch(void *batch)
{
    struct back_batch *b = batch;
    seq2seq_free(&b->pairs);
    batch_free(&b->real);
    free(b->end);
}

static void close(void *self)
{
    struct back *x = self;
    for (int i = 0; i < x->n_pairs; i++) seq2seq_free(&x->pairs[i]);
    free(x->pairs);
    free(x->drawn);
}

static const struct batch_kind kind = {
    .size = sizeof(struct back_batch),
    .free = free_batch,
    .forward = seq2seq_forward,
    .loss = seq2seq_loss,
    .write = seq2seq_write,
    .largest = largest
};

const struct objective objective_back = {
    .name = "back",
    .about = "translate the model's own translations back",
    .used_by = OBJECTIVE_TASK,
    .self = sizeof(struct back),
    .batch = &kind,
    .options = rows,
    .defaults = defaults,
    .open = open,
    .memory = memory,
    .start = start,
    .period = period,
    .turn = turn,
    .make = make,
    .prepare = prepare,
    .stepped = stepped,
    .close = close
};
