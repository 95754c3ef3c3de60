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
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/msg.h"
#include "lib/batch/masked.h"
#include "lib/data/corpus.h"
#include "lib/engine/write_batches.h"
#include "lib/objective/mass.h"

struct mass { double share; int min_len; bool see_masked; struct setup s; };

static const struct opt options[] = {
    { "mass-span", 0, OPT_REAL(mass, share), "P",
      "share of a sentence, <s> and </s> included, that the decoder writes", .min = 0.01,
      .max = 0.99 },
    { "mass-min-len", 0, OPT_INT(mass, min_len), "N",
      "leave out sentences of fewer tokens", .min = 1, .max = 4094 },
    { "mass-see-masked", 0, OPT_FLAG(mass, see_masked), NULL,
      "let the decoder attend to masked positions, too" },
    { 0 }
};

static void defaults(void *self) { *(struct mass *)self = (struct mass){ 0.5, 5, false, { 0 } }; }

/* --- a batch: what MASS makes of sentences ---------------------------------------------------- */

enum { SENTENCE = -1 };          /* in a row's place: the draws of the sentence as a whole */

struct mass_span mass_span(int rows, double share, const uint32_t draw[4])
{
    /* halves to even, as Python's round in the authors' code */
    int m = (int)rint(share * rows), last;
    /* the decoder writes something, and the encoder keeps something to read */
    if (m < 1) m = 1;
    if (m > rows - 1) m = rows - 1;
    last = rows - m;                         /* where the last span begins */
    double u = draw[0] / 4294967296.0;
    int at = u >= 0.8 ? 1 : u >= 0.6 ? last : 1 + (int)(((uint64_t)draw[1] * (uint64_t)last) >> 32);
    return (struct mass_span){ at, m };
}

static void room(struct mass_batch *b)
{
    mem_columns(&b->src_cap, (size_t)b->src.rows, 2,
                (struct mem_column[]){ MEM_COLUMN(b->original), MEM_COLUMN(b->visible) });
    mem_columns(&b->dec_cap, (size_t)b->dec.rows, 3,
                (struct mem_column[]){ MEM_COLUMN(b->target), MEM_COLUMN(b->span),
                                       MEM_COLUMN(b->read) });
    mem_columns(&b->n_cap, (size_t)b->src.n, 2,
                (struct mem_column[]){ MEM_COLUMN(b->at), MEM_COLUMN(b->len) });
}

/* Token i of <s> ids </s>. */
static uint32_t token_of(const struct sample *x, int i)
{
    return i == 0 ? VOCAB_BOS : i <= x->n ? x->ids[i - 1] : VOCAB_EOS;
}

void mass_add(struct mass_batch *b, const struct mass_how *o, const struct sample *x,
              struct rng_key key)
{
    int n = x->n + 2, first = b->src.rows, dec = b->dec.rows;
    uint32_t draw[4];
    rng_block(key, x->number, (uint32_t)SENTENCE, draw);
    struct mass_span s = mass_span(n, o->share, draw);
    batch_begin(&b->src);
    batch_begin(&b->dec);
    for (int i = 0; i < n; i++) {
        uint32_t read = token_of(x, i), before = i ? token_of(x, i - 1) : 0;
        bool in = i >= s.at && i < s.at + s.n;
        /* One block of numbers per row, keyed by the sentence and the row: what a row draws depends
         * on neither the span nor on rows before it. */
        rng_block(key, x->number, (uint32_t)i, draw);
        if (in) read = masking_read(o->how, read, draw, o->vocab);
        batch_append(&b->src, &(struct batch_part){ &read, 1, x->lang, 0, i }, x->number);
        /* Rows of the decoder keep their positions in the sentence and do not start at 0, as they
         * would in translation: so it knows which part of the sentence it writes. */
        if (in)
            batch_append(&b->dec, &(struct batch_part){ &before, 1, x->lang, 0, i - 1 }, x->number);
    }
    room(b);
    /* What the decoder attends to is a list of rows, gathered into a memory of its own, instead of
     * a mask over all rows: masked rows then cost neither products nor memory. */
    int from = b->n_visible;
    for (int i = 0; i < n; i++) {
        b->original[first + i] = (int32_t)token_of(x, i);
        if (o->see_masked || b->src.token[first + i] != VOCAB_MASK)
            b->visible[b->n_visible++] = first + i;
    }
    for (int i = 0; i < s.n; i++) {
        b->target[dec + i] = (int32_t)token_of(x, s.at + i);
        b->span[dec + i] = first + s.at + i;
        b->read[dec + i] = b->src.token[first + s.at + i];
    }
    b->at[b->src.n - 1] = from;
    b->len[b->src.n - 1] = b->n_visible - from;
    if (b->n_visible - from > b->most_visible) b->most_visible = b->n_visible - from;
}

/* Sentence s of `from` is the last one of `to`, `shift` rows later. */
static void copy_visible(struct mass_batch *to, const struct mass_batch *from, int s, int shift)
{
    int first = to->n_visible;
    for (int i = from->at[s]; i < from->at[s] + from->len[s]; i++)
        to->visible[to->n_visible++] = from->visible[i] + shift;
    to->at[to->src.n - 1] = first;
    to->len[to->src.n - 1] = from->len[s];
    if (from->len[s] > to->most_visible) to->most_visible = from->len[s];
}

static void copy(void *batch, const void *other, int s)
{
    struct mass_batch *to = batch;
    const struct mass_batch *from = other;
    int src = to->src.rows, dec = to->dec.rows, old = from->src.at[s], shift = src - old;
    batch_copy(&to->src, &from->src, s);
    batch_copy(&to->dec, &from->dec, s);
    room(to);
    memcpy(to->original + src, from->original + old,
           (size_t)from->src.len[s] * sizeof *to->original);
    copy_visible(to, from, s, shift);
    for (int i = 0; i < from->dec.len[s]; i++) {
        int r = from->dec.at[s] + i;
        to->target[dec + i] = from->target[r];
        to->span[dec + i] = from->span[r] + shift;
        to->read[dec + i] = from->read[r];
    }
}

static void clear(void *batch)
{
    struct mass_batch *b = batch;
    batch_clear(&b->src);
    batch_clear(&b->dec);
    b->n_visible = b->most_visible = 0;
}

void mass_free(void *batch)
{
    struct mass_batch *b = batch;
    void *owned[] = { b->original, b->visible, b->target, b->span, b->read, b->at, b->len };
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
    batch_free(&b->src);
    batch_free(&b->dec);
    memset(b, 0, sizeof *b);
}

/* --- the objective -------------------------------------------------------------------------- */

static struct mass_how how_of(const struct mass *o)
{
    return (struct mass_how){ o->share, o->see_masked, o->s.masking, o->s.vocab->n };
}

static bool fits(const struct mass *o, int n) { return n >= o->min_len && n <= o->s.longest; }

/* The sentences of c that validate. */
static uint32_t validated(const struct mass *o, const struct corpus *c)
{
    uint32_t n = c->all.sentences, most = (uint32_t)o->s.valid_sentences;
    return o->s.valid_sentences > 0 && most < n ? most : n;
}

/* A corpus without such a sentence among its first n would be drawn from for ever, and nothing
 * taken; of a validation text it would have the perplexity of nothing. */
static int check_text(const struct mass *o, const struct corpus *c, uint32_t n)
{
    for (uint32_t s = 0; s < n; s++)
        if (fits(o, (int)(c->all.at[s + 1] - c->all.at[s]))) return 0;
    return err_set("%s: no sentence%s has %d to %d tokens, as MASS needs; lower --mass-min-len or "
                   "raise --longest%s", c->path,
                   n < c->all.sentences ? " of those that --valid-sentences takes" : "", o->min_len,
                   o->s.longest, n < c->all.sentences ? " or --valid-sentences" : "");
}

/* inputs_setup tells of longer ones. */
static void note_too_short(const struct mass *o, const struct corpus *c)
{
    struct left_out x = corpus_left_out(c, o->min_len - 1);
    double n = x.of - x.n, tokens = x.of_tokens - x.tokens;
    if (n > 0)
        msg_note("mass: %s: left out %.0f of %.0f sentences, %.1f%% of the tokens: of fewer than "
                 "%d tokens (--mass-min-len)", c->lang, n, x.of, 100 * tokens / x.of_tokens,
                 o->min_len);
}

static int open(void *self, struct setup *s)
{
    struct mass *o = self;
    o->s = *s;
    if (!s->text) return err_set("objective mass needs text: --train LANG=SHARD");
    if (s->stream) return err_set("objective mass reads sentences: leave out --stream");
    for (int i = 0; i < s->text->n; i++)
        if (check_text(o, &s->text->c[i], s->text->c[i].all.sentences) < 0) return -1;
    for (int i = 0; i < s->n_valid; i++)
        if (check_text(o, &s->valid[i], validated(o, &s->valid[i])) < 0) return -1;
    /* (runs of --documents have the lengths of no sentence) */
    for (int i = 0; i < s->text->n && !s->documents; i++) note_too_short(o, &s->text->c[i]);
    return 0;
}

static int make(void *self, void *batch, const void *host_batch, const struct turn *at)
{
    struct mass *o = self;
    struct mass_batch *b = batch;
    struct mass_how how = how_of(o);
    struct sample x;
    (void)host_batch;
    clear(b);
    while (o->s.sentences ? b->src.n < o->s.sentences : b->src.rows < o->s.tokens) {
        if (corpora_next(o->s.text, o->s.longest, &x) < 0) return -1;
        /* one that is left out was drawn all the same: which comes n-th is the stream's affair */
        if (fits(o, x.n)) mass_add(b, &how, &x, turn_key(at, RNG_MASK));
    }
    return 0;
}

static int forward(void *self, void *batch, struct pass *p)
{
    const struct mass_batch *b = batch;
    struct tape *t = p->t;
    struct dev_batch src = batch_upload(t, &b->src), dec = batch_upload(t, &b->dec);
    (void)self;
    /* SCS's mixtures stand in the encoder's rows alone */
    if (p->mix) src.mix = *p->mix;
    struct var *h = p->encoder = model_encode(p->m, t, &src);
    int32_t *visible = tape_int32(t, b->visible, (size_t)b->n_visible);
    struct spans memory = { b->src.n, tape_int32(t, b->at, (size_t)b->src.n),
                            tape_int32(t, b->len, (size_t)b->src.n), b->most_visible,
                            b->n_visible };
    p->h = model_decode(p->m, t, &dec, tape_gather(t, h, visible, b->n_visible), &memory);
    pass_reads(p, b->src.rows, b->src.max);
    pass_reads(p, b->dec.rows, b->dec.max);
    pass_predicts(p, b->dec.rows);
    return 0;
}

static void loss(void *self, void *batch, struct pass *p, const char *name, float scale)
{
    const struct mass_batch *b = batch;
    int n = b->dec.rows;
    (void)self;
    struct xent e = tape_xent(p->t, model_output(p->m, p->t, p->h), p->m->tokens, p->m->output_bias,
                              tape_int32(p->t, b->target, (size_t)n), NULL, NULL, 0,
                              n ? scale / (float)n : 0);
    pass_losses(p, name, e.nll, n);
}

/* Mean of -log p over the spans of validation corpus i. The key is 0: the same spans in every run
 * and at every step, so that numbers can be compared. */
static int validate_one(struct mass *o, int i, struct pass *p, double *mean)
{
    const struct corpus *c = &o->s.valid[i];
    struct mass_how how = how_of(o);
    struct mass_batch b = { 0 };
    uint32_t end = validated(o, c);
    double nll = 0, n = 0;
    int rc = 0;
    for (uint32_t s = 0; s < end && rc == 0; ) {
        struct pass q = *p;
        clear(&b);
        for (; s < end && b.src.rows < o->s.tokens; s++) {
            int len = (int)(c->all.at[s + 1] - c->all.at[s]);
            struct sample x = { c->all.ids + c->all.at[s], len, i, c->lang_id, s };
            if (fits(o, len)) mass_add(&b, &how, &x, (struct rng_key){ 0, RNG_MASK, 0 });
        }
        if (!b.src.n) break;
        tape_reset(q.t, false);
        (void)forward(o, &b, &q);
        /* scale 0 on a tape that does not train: the losses alone */
        loss(o, &b, &q, "mass", 0);
        nll += masked_device_sum(q.t->k, q.term[0].x, q.term[0].n);
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
        /* languages count alike, however long their texts are */
        total += mean / o->s.n_valid;
    }
    if (!o->s.n_valid) return 0;
    report_put(r, exp(total), "mass_perplexity");
    report_judge(r, total);
    return 0;
}

static int largest(void *self, void *batch, const void *host_batch, int tokens)
{
    const struct mass *o = self;
    struct mass_batch *b = batch;
    struct masking read = { .mask = 0, .random = 0 };    /* all rows are visible: the most memory */
    struct mass_how how = { o->share, true, &read, o->s.vocab->n };
    /* the decoder has a part of the encoder's rows: fewer than as many again */
    if (batch_rows_fit((int64_t)o->s.sentences * 2 * (o->s.longest + 2)) < 0) return -1;
    uint32_t *ids = mem_zero((size_t)o->s.longest, sizeof *ids);
    struct sample x = { ids, o->s.longest, 0, 0, 0 };
    (void)host_batch;
    clear(b);
    do mass_add(b, &how, &x, (struct rng_key){ 0, RNG_MASK, 0 });
    while (o->s.sentences ? b->src.n < o->s.sentences : b->src.rows < tokens);
    free(ids);
    return 0;
}

static void write(const void *self, const void *batch, const struct pass *p, struct batch_file *f)
{
    const struct mass_batch *b = batch;
    (void)self; (void)p;
    batch_file_rows(f, "src.", &b->src);
    batch_file_rows(f, "dec.", &b->dec);
    batch_file_int32(f, "src.original", b->original, b->src.rows, 1);
    batch_file_int32(f, "memory.row", b->visible, b->n_visible, 1);
    batch_file_int32(f, "row", b->span, b->dec.rows, 1);
    batch_file_int32(f, "target", b->target, b->dec.rows, 1);
}

/* The decoder's rows are the span's: the state that predicts a token is that token's. */
static struct batch_view view(const void *batch, enum batch_side side)
{
    const struct mass_batch *b = batch;
    int n = b->dec.rows;
    return side == BATCH_DECODER
               ? (struct batch_view){ &b->dec, (const uint32_t *)b->target, b->read, NULL, n }
               : (struct batch_view){ &b->src, (const uint32_t *)b->original, b->src.token, b->span,
                                      n };
}

static double epoch(const void *self)
{
    const struct mass *o = self;
    double n, tokens, less, fewer;
    corpora_size(o->s.text, o->s.longest, &n, &tokens);
    /* those that are too short are drawn and left out: no part of a pass */
    corpora_size(o->s.text, o->min_len - 1, &less, &fewer);
    n -= less;
    return o->s.sentences ? n / o->s.sentences : (tokens - fewer + 2 * n) / o->s.tokens;
}

static const struct batch_kind kind = {
    .size = sizeof(struct mass_batch),
    .free = mass_free,
    .forward = forward,
    .loss = loss,
    .write = write,
    .largest = largest,
    .view = view,
    .clear = clear,
    .copy = copy
};

const struct objective objective_mass = {
    .name = "mass",
    .about = "write a span that the encoder does not see (MASS)",
    .used_by = OBJECTIVE_PRETRAIN,
    .decoder = true,
    .self = sizeof(struct mass),
    .batch = &kind,
    .options = options,
    .defaults = defaults,
    .open = open,
    .make = make,
    .validate = validate,
    .epoch = epoch
};
