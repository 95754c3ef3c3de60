/* Sentence order prediction (ALBERT, Lan et al. 2020): do two neighbouring segments of a document
 * stand in their order, or was the second one put first? A two-way head (dense, tanh, dropout, out:
 * BERT's pooler) on the state of <s>, on the pass of mlm over --documents. */
#include <stdlib.h>
#include "common/err.h"
#include "common/mem.h"
#include "lib/batch/headed.h"
#include "lib/batch/masked.h"
#include "lib/engine/write_batches.h"

struct sop { struct headed_data d; struct masker masker; struct setup s; };

static int fits(const void *self, const struct model_config *c)
{
    (void)self;
    return c->encoder_langs
               ? err_set("objective sop tells segments apart by token types, which a model with "
                         "language embeddings lacks; add --no-encoder-langs")
               : 0;
}

static int open(void *self, struct setup *s)
{
    static const char *const label[] = { "in-order", "swapped" };
    struct sop *o = self;
    o->s = *s;
    if (!s->documents)
        return err_set("objective sop needs segments of documents: --documents N");
    /* The model's parameters are not allocated yet: open may still change its shape. */
    if (s->c->token_types < 2) s->c->token_types = 2;
    if (model_config_head(s->c, "sop", KERN_TANH, 2, label, 2, &o->d.head) < 0) return -1;
    s->c->head[o->d.head].reads =
        (struct model_reads){ .task = MODEL_TASK_CLASS, .longest = s->longest + 3 };
    return masked_masker_open(&o->masker, s);
}

/* The rows of <s> of the host's batch and their labels; the rows themselves stay the host's. */
static int make(void *self, void *batch, const void *host_batch, const struct turn *at)
{
    struct headed *b = batch;
    const struct masked *m = host_batch;
    (void)self; (void)at;
    /* borrowed: free_batch takes it out again before it frees the rest */
    b->input = m->input;
    b->n = m->input.n;
    mem_columns(&b->target_cap, (size_t)b->n, 2,
                (struct mem_column[]){ MEM_COLUMN(b->row), MEM_COLUMN(b->target) });
    for (int i = 0; i < b->n; i++) {
        b->row[i] = m->input.at[i];
        b->target[i] = m->swapped[i];
    }
    return 0;
}

static void free_batch(void *batch)
{
    struct headed *b = batch;
    b->input = (struct batch){ 0 };
    headed_free(b);
}

static int loss(void *self, void *batch, struct pass *p, float scale)
{
    headed_loss(batch, &((struct sop *)self)->d, p, "sop", scale);
    return 0;
}

static int largest(void *self, void *batch, const void *host_batch, int tokens)
{
    (void)tokens;
    /* the turn is not looked at: labels are the host's */
    return make(self, batch, host_batch, NULL);
}

static void write(const void *self, const void *batch, const struct pass *p, struct batch_file *f)
{
    const struct headed *b = batch;
    (void)self; (void)p;
    batch_file_int32(f, "row", b->row, b->n, 1);
    batch_file_int32(f, "label", b->target, b->n, 1);
}

/* How many of the segments of m have their order predicted correctly. -1 with a message. */
static int64_t hits(struct sop *o, struct masked *m, struct headed *b, struct pass *at)
{
    struct pass p = *at;
    tape_reset(p.t, false);
    make(o, b, m, NULL);
    masked_forward(o, m, &p);
    struct linear_i out = p.m->head[o->d.head].out;
    struct var *x = headed_input(b, &p, o->d.head);
    struct xent e = tape_xent(p.t, x, out.W, out.b, tape_int32(p.t, b->target, (size_t)b->n), NULL,
                              NULL, 0, 0);
    int32_t *best = mem_alloc((size_t)b->n * sizeof *best);
    p.t->k->download(best, e.best, (size_t)b->n * sizeof *best);
    int64_t right = 0;
    for (int i = 0; i < b->n; i++) right += best[i] == b->target[i];
    free(best);
    return p.t->k->sync() < 0 ? -1 : right;
}

static int validate(void *self, struct pass *p, struct report *r)
{
    struct sop *o = self;
    struct masked m = { 0 };
    struct headed b = { 0 };
    struct rng_key key = { 0, RNG_MASK, 0 };     /* the same cuts and masks in every run */
    int rc = 0;
    for (int i = 0; i < o->s.n_valid && rc == 0; i++) {
        const struct corpus *c = &o->s.valid[i];
        uint32_t n = c->all.sentences, s = 0;
        int64_t right = 0;
        if (o->s.valid_sentences > 0 && (uint32_t)o->s.valid_sentences < n)
            n = (uint32_t)o->s.valid_sentences;
        while (s < n && rc == 0) {
            masked_clear(&m);
            for (; s < n && m.input.rows < o->s.tokens; s++) {
                int rows = (int)(c->all.at[s + 1] - c->all.at[s]);
                struct sample x = { c->all.ids + c->all.at[s], rows, i, c->lang_id, s };
                /* open has seen to two token types */
                masked_add_document(&m, &o->masker, c, &x, true, key);
            }
            int64_t got = hits(o, &m, &b, p);
            if (got < 0) rc = -1;
            right += got;
        }
        report_put(r, (double)right / n, "%s.sop_accuracy", c->lang);
    }
    masked_free(&m);
    free_batch(&b);
    return rc;
}

static void close(void *self) { masked_masker_free(&((struct sop *)self)->masker); }

static const struct batch_kind kind = {
    .size = sizeof(struct headed),
    .free = free_batch,
    .write = write,
    .largest = largest
};

const struct objective objective_sop = {
    .name = "sop",
    .about = "tell the order of two segments (ALBERT)",
    .hosts = "mlm",
    .used_by = OBJECTIVE_PRETRAIN,
    .self = sizeof(struct sop),
    .batch = &kind,
    .fits = fits,
    .open = open,
    .make = make,
    .loss = loss,
    .validate = validate,
    .close = close
};
