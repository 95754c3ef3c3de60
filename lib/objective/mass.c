/* MASS (Song et al. 2019): an encoder reads a sentence without one span of it, a decoder writes the
 * span. As the authors' code does it:
 *
 *   <s> w1 .. wn </s>     m = round(0.5 (n + 2)) of the rows 1 .. n + 1 are the span, rows i .. j
 *   encoder               80% of the span read <mask>, 10% a random word, 10% themselves
 *   decoder               reads the true tokens of rows i-1 .. j-1 at their own positions, predicts
 *                         those of rows i .. j, and attends to encoder rows that do not read <mask>
 *
 * The span begins anywhere (60%), ends the sentence (20%) or begins it (20%). */
#include <math.h>
#include <stdlib.h>
#include "common/err.h"
#include "common/mem.h"
#include "lib/data/corpus.h"
#include "lib/objective/mass.h"
#include "lib/objective/masked.h"

struct mass { double share; int min_len; bool see_masked; struct setup s; };

static const struct opt options[] = {
    { "mass-span", 0, OPT_REAL(mass, share), "P",
      "MASS: share of a sentence, <s> and </s> included, that the decoder writes", .min = 0.01,
      .max = 0.99 },
    { "mass-min-len", 0, OPT_INT(mass, min_len), "N",
      "MASS: leave out sentences of fewer tokens", .min = 1, .max = 4094 },
    { "mass-see-masked", 0, OPT_FLAG(mass, see_masked), NULL,
      "MASS: let the decoder attend to rows that read <mask>, too" },
    { 0 }
};

static void defaults(void *self) { *(struct mass *)self = (struct mass){ 0.5, 5, false, { 0 } }; }

/* --- the objective -------------------------------------------------------------------------- */

static struct mass_how how_of(const struct mass *o)
{
    return (struct mass_how){ o->share, o->see_masked, o->s.masking, o->s.vocab->n };
}

static bool fits(const struct mass *o, int n) { return n >= o->min_len && n <= o->s.longest; }

/* Of a corpus that has no sentence to learn from none would ever be drawn. */
static int check_text(const struct mass *o, const struct corpus *c)
{
    for (uint32_t s = 0; s < c->all.sentences; s++)
        if (fits(o, (int)(c->all.at[s + 1] - c->all.at[s]))) return 0;
    return err_set("%s: no sentence has %d to %d tokens, as MASS needs; lower --mass-min-len or "
                   "raise --longest", c->path, o->min_len, o->s.longest);
}

static int open(void *self, struct setup *s)
{
    struct mass *o = self;
    o->s = *s;
    if (!s->text) return err_set("objective mass needs text: --train LANG=SHARD");
    if (s->stream) return err_set("objective mass reads sentences: leave out --stream");
    for (int i = 0; i < s->text->n; i++)
        if (check_text(o, &s->text->c[i]) < 0) return -1;
    for (int i = 0; i < s->n_valid; i++)
        if (check_text(o, &s->valid[i]) < 0) return -1;
    return 0;
}

static int make(void *self, void *batch, const void *under, const struct turn *at)
{
    struct mass *o = self;
    struct mass_batch *b = batch;
    struct mass_how how = how_of(o);
    struct sample x;
    (void)under;
    mass_clear(b);
    while (o->s.sentences ? b->src.n < o->s.sentences : b->src.rows < o->s.tokens) {
        if (corpora_next(o->s.text, o->s.longest, &x) < 0) return -1;
        if (fits(o, x.n)) mass_add(b, &how, &x, turn_key(at, RNG_MASK));
    }
    return 0;
}

void mass_forward(const struct mass_batch *b, struct pass *p, const struct mixture *mix)
{
    struct tape *t = p->t;
    struct dev_batch src = batch_upload(t, &b->src), dec = batch_upload(t, &b->dec);
    if (mix) src.mix = *mix;
    struct var *h = p->encoder = model_encode(p->m, t, &src);
    int32_t *visible = tape_int32(t, b->visible, (size_t)b->n_visible);
    struct spans memory = { b->src.n, tape_int32(t, b->at, (size_t)b->src.n),
                            tape_int32(t, b->len, (size_t)b->src.n), b->most_visible,
                            b->n_visible };
    p->h = model_decode(p->m, t, &dec, tape_gather(t, h, visible, b->n_visible), &memory);
    pass_reads(p, b->src.rows, b->src.max);
    pass_reads(p, b->dec.rows, b->dec.max);
    pass_predicts(p, b->dec.rows);
}

void mass_loss(const struct mass_batch *b, struct pass *p, const char *name, float scale)
{
    int n = b->dec.rows;
    struct xent e = tape_xent(p->t, model_output(p->m, p->t, p->h), p->m->tokens, p->m->output_bias,
                              tape_int32(p->t, b->target, (size_t)n), NULL, NULL, 0,
                              n ? scale / (float)n : 0);
    pass_losses(p, name, e.nll, n);
}

static int forward(void *self, void *batch, struct pass *p)
{
    (void)self;
    mass_forward(batch, p, NULL);
    return 0;
}

static int loss(void *self, void *batch, struct pass *p, float scale)
{
    (void)self;
    mass_loss(batch, p, "mass", scale);
    return 0;
}

/* Mean of -log p over the spans of validation corpus i, drawn alike in every run. */
static int validate_one(struct mass *o, int i, struct pass *p, double *mean)
{
    const struct corpus *c = &o->s.valid[i];
    struct mass_how how = how_of(o);
    struct mass_batch b = { 0 };
    uint32_t end = c->all.sentences;
    double nll = 0, n = 0;
    int rc = 0;
    if (o->s.valid_sentences > 0 && (uint32_t)o->s.valid_sentences < end)
        end = (uint32_t)o->s.valid_sentences;
    for (uint32_t s = 0; s < end && rc == 0; ) {
        struct pass q = *p;
        mass_clear(&b);
        for (; s < end && b.src.rows < o->s.tokens; s++) {
            int len = (int)(c->all.at[s + 1] - c->all.at[s]);
            struct sample x = { c->all.ids + c->all.at[s], len, i, c->lang_id, s };
            if (fits(o, len)) mass_add(&b, &how, &x, (struct rng_key){ 0, RNG_MASK, 0 });
        }
        if (!b.src.n) break;
        tape_reset(q.t, false);
        mass_forward(&b, &q, NULL);
        mass_loss(&b, &q, "mass", 0);
        nll += device_sum(q.t->k, q.term[0].x, q.term[0].n);
        n += b.dec.rows;
        rc = q.t->k->sync();
    }
    mass_free(&b);
    *mean = n > 0 ? nll / n : 0;
    return rc;
}

static int validate(void *self, struct pass *p, struct report *r)
{
    struct mass *o = self;
    double total = 0, mean;
    for (int i = 0; i < o->s.n_valid; i++) {
        if (validate_one(o, i, p, &mean) < 0) return -1;
        report_put(r, exp(mean), "%s.mass_perplexity", o->s.valid[i].lang);
        total += mean / o->s.n_valid;
    }
    if (!o->s.n_valid) return 0;
    report_put(r, exp(total), "mass_perplexity");
    report_judge(r, total);
    return 0;
}

static int largest(void *self, void *batch, const void *under, int tokens)
{
    const struct mass *o = self;
    struct mass_batch *b = batch;
    struct masking read = { .mask = 0, .random = 0 };    /* all rows are visible: the most memory */
    struct mass_how how = { o->share, true, &read, o->s.vocab->n };
    uint32_t *ids = mem_zero((size_t)o->s.longest + 1, sizeof *ids);
    struct sample x = { ids, o->s.longest, 0, 0, 0 };
    (void)under;
    mass_clear(b);
    do mass_add(b, &how, &x, (struct rng_key){ 0, RNG_MASK, 0 });
    while (o->s.sentences ? b->src.n < o->s.sentences : b->src.rows < tokens);
    free(ids);
    return 0;
}

void mass_write(const struct mass_batch *b, struct batch_file *f)
{
    batch_file_rows(f, "src.", &b->src);
    batch_file_rows(f, "dec.", &b->dec);
    batch_file_int32(f, "src.original", b->original, b->src.rows, 1);
    batch_file_int32(f, "memory.row", b->visible, b->n_visible, 1);
    batch_file_int32(f, "row", b->span, b->dec.rows, 1);
    batch_file_int32(f, "target", b->target, b->dec.rows, 1);
}

static void write(const void *self, const void *batch, const struct pass *p, struct batch_file *f)
{
    (void)self; (void)p;
    mass_write(batch, f);
}

const struct objective objective_mass = {
    .name = "mass",
    .about = "write a span that the encoder does not see (MASS)",
    .used_by = OBJECTIVE_PRETRAIN,
    .decoder = true,
    .self = sizeof(struct mass),
    .batch = sizeof(struct mass_batch),
    .options = options,
    .defaults = defaults,
    .open = open,
    .make = make,
    .forward = forward,
    .loss = loss,
    .validate = validate,
    .largest = largest,
    .write = write,
    .batch_free = mass_free
};
