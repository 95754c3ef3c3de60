/* Semantic code switching (SCS-MLM; Lu, Lu and Zhang 2023, section 2.3): the batch of MLM once
 * more, where some of the words that it does not predict are read as mixtures of another language's
 * words, found by the model itself (scs_search.h).
 *
 *   L = L_MLM(x) + L_SCS(x^)      the same predicted rows and labels, in passes one after another
 *
 * What the model expects at a row comes from MLM's pass of the same step (--scs-from pass) or from
 * one more of the sentences as they are, without dropout (clean). Sentences of a language that has
 * no words of its own against any other are left out of the second pass: they would weigh twice.
 *
 * On MASS (SCS-MASS, appendix A.3) it is the encoder that reads mixtures, in place of words outside
 * the span; what the decoder reads and predicts stays. An encoder of MASS predicts nothing, so what
 * is expected at a row are the words of its own language nearest to the one that stands there, by
 * their embeddings (--scs-from table). */
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/msg.h"
#include "lib/engine/memory.h"
#include "lib/engine/write_batches.h"
#include "lib/objective/scs_rows.h"

/* after so many steps a rate that is not reached is reported */
enum { NOTE_STEPS = 100 };
enum { FROM_AUTO, FROM_PASS, FROM_CLEAN, FROM_TABLE };

struct scs {
    const char *rate;
    int units, sources, asked_from, norm;
    bool langs, detach;
    float table_temperature;
    struct scs_how how;
    int from;                    /* what auto stands for, else as asked */
    const struct objective *host;
    /* opened */
    struct specific *vocabulary;
    struct word_starts *words;
    uint32_t vocab;
    int n_langs, most_words;     /* of the languages' specific vocabularies, the most */
    int most_own;                /* and of their own words, where those are looked at; else 0 */
    struct switch_count first;   /* of the run's first steps */
    bool noted;
    /* device: what counts as a word [vocab], rows of words as weights, and what is expected at the
     * switched rows of the micro-batch at hand, [cap, k] */
    const struct kernels *k;
    uint8_t *allowed;
    float *word_rows;
    int32_t *idx; float *p;
    int cap;
};

static const struct opt rows[] = {
    { "scs-rate", 0, OPT_STR(scs, rate), "A:B",
      "switch between these shares of the tokens of a sentence (default: 0.10:0.15)" },
    { "scs-units", 0, OPT_CHOICE(scs, units), "word|token",
      "switch only tokens that are whole words in the text, or any" },
    { "scs-sources", 0, OPT_CHOICE(scs, sources), "specific|any",
      "switch words that only their own language has (--specific), or any word" },
    { "scs-langs", 0, OPT_FLAG(scs, langs), NULL,
      "give a switched token the language embedding of the other language" },
    { "scs-from", 0, OPT_CHOICE(scs, asked_from), "auto|pass|clean|table",
      "take the expected words from MLM's pass of the step, from one more pass over the "
      "sentences as they are, or from the embeddings: the nearest words of the same language "
      "(auto: pass with objective mlm, table with mass)" },
    { "scs-table-temperature", 0, OPT_FLOAT(scs, table_temperature), "T",
      "with --scs-from table, their probabilities are softmax(cosine / T)", .min = 1e-4,
      .max = 1e4 },
    { "scs-k", 0, OPT_INT(scs, how.k), "N", "number of words to mix, on either side", .min = 1,
      .max = SCS_MOST },
    { "scs-neighbours", 0, OPT_INT(scs, how.neighbours), "N",
      "nearest switched rows in CSLS's mean, which penalises hubs", .min = 1,
      .max = SCS_MOST },
    { "scs-temperature", 0, OPT_FLOAT(scs, how.temperature), "T",
      "weights of the words found are softmax(CSLS / T)", .min = 1e-4, .max = 1e4 },
    { "scs-norm", 0, OPT_CHOICE(scs, norm), "none|keep",
      "length of the mixture: as it comes, or that of the words it mixes" },
    { "scs-detach", 0, OPT_FLAG(scs, detach), NULL,
      "give the embeddings of mixed words no gradient" },
    { 0 }
};

static void defaults(void *self)
{
    *(struct scs *)self = (struct scs){ .rate = "0.10:0.15",
                                        .langs = true,
                                        .table_temperature = 0.1f,
                                        .how = { .k = 8, .neighbours = 10, .temperature = 1 } };
}

static void attach(void *self, const struct objective *host)
{
    ((struct scs *)self)->host = host;
}

static int check(const void *self)
{
    const struct scs *o = self;
    double low, high;
    if (o->host->decoder && (o->asked_from == FROM_PASS || o->asked_from == FROM_CLEAN))
        return err_set("--scs-from %s needs a model that predicts what its encoder reads: "
                       "objective mlm; with mass it is --scs-from table",
                       o->asked_from == FROM_PASS ? "pass" : "clean");
    return pick_bounds(o->rate, "scs-rate", &low, &high);
}

static struct scs_rows rows_of(const struct scs *o)
{
    return (struct scs_rows){ .rate = o->rate,
                              .words = o->units == SWITCH_WORD ? o->words : NULL,
                              .vocabulary = o->vocabulary,
                              .langs = o->n_langs,
                              .sources = (enum scs_sources)o->sources,
                              .of_free = o->host->decoder,
                              .set_lang = o->langs,
                              .own_words = o->from == FROM_TABLE };
}

/* Says what is odd about the vocabularies; -1 with a message where nothing can be switched. */
static int look_at_words(struct scs *o, const struct setup *s)
{
    const struct scs_rows how = rows_of(o);
    int any = 0;
    for (int l = 0; l < o->n_langs; l++) {
        any += scs_switchable(&how, l);
        if (how.own_words && specific_seen(o->vocabulary, l) > o->most_own)
            o->most_own = specific_seen(o->vocabulary, l);
        for (int m = 0; m < o->n_langs; m++) {
            int n = specific_pair(o->vocabulary, l, m) ? specific_size(o->vocabulary, l, m) : 0;
            if (n > o->most_words) o->most_words = n;
            if (n && n < o->how.k)
                msg_note("scs: only %d words of %s are not also words of %s; --scs-k %d mixes all "
                         "of them",
                         n, s->c->lang[l], s->c->lang[m], o->how.k);
        }
    }
    if (!any)
        return err_set("scs: no two languages have words of their own (whole words that stand in "
                       "the text of one more than %lld times, and not of the other); lower "
                       "--specific, or train on more text", (long long)s->specific);
    for (int l = 0; l < o->n_langs; l++)
        if (!scs_switchable(&how, l))
            msg_note("scs: %s has no words of its own (--specific %lld): its sentences are not "
                     "switched", s->c->lang[l], (long long)s->specific);
    return 0;
}

static int open(void *self, struct setup *s)
{
    struct scs *o = self;
    if (!s->text) return err_set("objective scs needs text: --train LANG=SHARD");
    o->how.keep = o->norm;
    o->from = o->asked_from != FROM_AUTO ? o->asked_from
              : o->host->decoder             ? FROM_TABLE
                                             : FROM_PASS;
    o->vocab = s->vocab->n;
    o->n_langs = s->c->n_langs;
    o->words = word_starts_new(s->vocab);
    o->vocabulary = specific_new(s->text, o->vocab, o->n_langs,
                                 o->units == SWITCH_WORD ? o->words : NULL, s->specific);
    return o->vocabulary ? look_at_words(o, s) : -1;
}

static size_t word_rows_bytes(const struct scs *o, int embed_dim)
{
    int most = o->most_own > o->most_words ? o->most_own : o->most_words;
    return scs_word_rows_floats(embed_dim, most) * sizeof(float);
}

static int start(void *self, struct pass *p, struct state *s)
{
    struct scs *o = self;
    (void)s;
    o->k = p->t->k;
    o->allowed = o->k->alloc(o->vocab);
    o->word_rows = o->k->alloc(word_rows_bytes(o, p->t->ps->p[p->m->tokens].cols));
    if (!o->allowed || !o->word_rows) return -1;
    /* specials are never what a row is expected to say */
    uint8_t *host = mem_zero(o->vocab, 1);
    memset(host + VOCAB_SPECIALS, 1, o->vocab - VOCAB_SPECIALS);
    o->k->upload(o->allowed, host, o->vocab);
    free(host);
    return 0;
}

/* Room on the device for what is expected at n rows. */
static int rows_room(struct scs *o, int n)
{
    if (n <= o->cap) return 0;
    /* first: both at once might not fit */
    if (o->idx) o->k->release(o->idx);
    if (o->p) o->k->release(o->p);
    /* a quarter to spare: the next batch may have a few rows more */
    o->cap = n + n / 4;
    size_t all = (size_t)o->cap * (size_t)o->how.k;
    o->idx = o->k->alloc(all * sizeof *o->idx);
    o->p = o->k->alloc(all * sizeof *o->p);
    return o->idx && o->p ? 0 : -1;
}

static int make(void *self, void *batch, const void *host_batch, const struct turn *at)
{
    const struct scs *o = self;
    const struct scs_rows how = rows_of(o);
    scs_rows_choose(batch, o->host->batch, host_batch, &how, at);
    return 0;
}

/* --- the passes --- */

/* What the model expects at the switched rows, whose states are rows `at` of h (device; NULL: h has
 * theirs and no others). */
static int expect(struct scs *o, const struct scs_batch *b, struct pass *p, struct var *h,
                  const int32_t *at)
{
    if (!p->planning && rows_room(o, b->n) < 0) return -1;
    scs_expected(p->m, p->t, h, at, b->n, o->how.k, o->allowed, o->idx, o->p);
    return 0;
}

static int watch(void *self, void *batch, struct pass *host_pass)
{
    struct scs *o = self;
    const struct scs_batch *b = batch;
    /* MLM's own pass of this step: no third pass. Three passes (clean) cost 2.2 to 2.3 passes'
     * time. */
    if (o->from != FROM_PASS || !b->n) return 0;
    pass_predicts(host_pass, b->n);
    return expect(o, b, host_pass, host_pass->h,
                  tape_int32(host_pass->t, b->host_row, (size_t)b->n));
}

static int prepare(void *self, void *batch, struct pass *p)
{
    struct scs *o = self;
    struct scs_batch *b = batch;
    /* The batch reads its clean tokens for one pass, without copying the rest of it. */
    struct batch *in = b->input;
    if (o->from != FROM_CLEAN || !b->n) return 0;
    int32_t *token = in->token, *lang = in->lang;
    tape_reset(p->t, false);
    in->token = b->clean;
    in->lang = b->original_lang;
    struct dev_batch d = batch_upload(p->t, in);
    in->token = token;
    in->lang = lang;
    const int32_t *row = tape_int32(p->t, b->row, (size_t)b->n);
    return expect(o, b, p, model_encode_rows(p->m, p->t, &d, row, b->n), NULL);
}

static void report(const struct scs *o, const struct scs_batch *b, struct pass *p,
                   const struct scs_mixture *y)
{
    struct tape *t = p->t;
    size_t n = (size_t)b->n;
    float *self = tape_alloc(t, n * sizeof *self), *largest = tape_alloc(t, n * sizeof *largest);
    int32_t *first = mem_alloc(n * sizeof *first);
    float *one = mem_alloc(n * sizeof *one);
    for (size_t i = 0; i < n; i++) {
        first[i] = (int32_t)i * o->how.k;
        one[i] = 1;
    }
    KERN(t->k, equal, .x = self, .a = o->idx, .lda = o->how.k, .b = tape_int32(t, b->own, n),
         .M = b->n);
    act *picked = tape_alloc(t, n * t->k->act_size);
    t->k->zero(picked, n * t->k->act_size);
    /* p [n k] as a table of single numbers, of which row i k is the first and largest of row i */
    KERN(t->k, mix_fwd, .Y = picked, .E = o->p, .idx = tape_int32(t, first, n),
         .w = tape_float(t, one, n), .scale = 1, .M = b->n, .k = 1, .D = 1);
    KERN(t->k, to_float32, .to = largest, .from = picked, .n = n);
    pass_losses(p, "scs_entropy", y->entropy, b->n);
    pass_losses(p, "scs_norm", y->ratio, b->n);
    pass_losses(p, "scs_p1", largest, b->n);
    pass_losses(p, "scs_self", self, b->n);
    free(first);
    free(one);
}

/* The same from the embeddings alone. word: the batch's, on the device. */
static int expect_by_table(struct scs *o, const struct scs_batch *b, struct pass *p,
                           const int32_t *word)
{
    if (!p->planning && rows_room(o, b->n) < 0) return -1;
    scs_expected_by_table(p->m, p->t, tape_int32(p->t, b->own, (size_t)b->n), b->n, o->how.k,
                          o->table_temperature, b->home, b->homes, word, o->word_rows, o->idx,
                          o->p);
    return 0;
}

static int forward(void *self, void *batch, struct pass *p)
{
    struct scs *o = self;
    struct scs_batch *b = batch;
    if (!b->n) return 0;         /* nothing is switched: the other objective's pass was all of it */
    struct tape *t = p->t;
    int32_t *word = tape_int32(t, b->word, (size_t)b->words);
    if (o->from == FROM_TABLE && expect_by_table(o, b, p, word) < 0) return -1;
    struct scs_mixture y = scs_search(&o->how, p->m, t, b->n, o->idx, o->p, b->group, b->groups,
                                      word, o->word_rows);
    struct mixture mix = { b->n, o->how.k, tape_int32(t, b->row, (size_t)b->n), y.idx, y.w,
                           o->detach };
    report(o, b, p, &y);
    p->mix = &mix;
    /* the host's kind of batch, without the host: its forward reads no self */
    int rc = b->kind->forward(NULL, b->copy, p);
    p->mix = NULL;
    if (!p->planning && !o->noted) {
        o->first.tokens += b->count.tokens;
        o->first.switched += b->count.switched;
    }
    return rc;
}

static int loss(void *self, void *batch, struct pass *p, float scale)
{
    struct scs_batch *b = batch;
    (void)self;
    /* of every batch, also of one in which nothing could be switched */
    pass_number(p, "scs_switched", (double)b->count.switched, (double)b->count.tokens);
    if (b->n) b->kind->loss(NULL, b->copy, p, "scs", scale);
    return 0;
}

/* Says once where too few words are of one language only. */
static int stepped(void *self, struct pass *p, int64_t step)
{
    struct scs *o = self;
    double low = 0, high = 0, all = (double)o->first.tokens,
           share = all > 0 ? (double)o->first.switched / all : 0;
    (void)p;
    if (o->noted || step < NOTE_STEPS) return 0;
    o->noted = true;
    pick_bounds(o->rate, "scs-rate", &low, &high);
    if (share < low)
        msg_note("scs: %.1f%% of the tokens were switched, --scs-rate asks for %.1f%% or more: too "
                 "few words are of one language only; lower --specific", 100 * share, 100 * low);
    return 0;
}

/* --- memory --- */

static int largest(void *self, void *batch, const void *host_batch, int tokens)
{
    const struct scs *o = self;
    const struct scs_rows how = rows_of(o);
    (void)tokens;
    scs_rows_largest(batch, o->host->batch, host_batch, &how, o->most_words, o->most_own);
    return 0;
}

static void memory(const void *self, const struct model_config *c, struct memory_need *need)
{
    const struct scs *o = self;
    need->params += word_rows_bytes(o, model_embed_dim(c)) + o->vocab;
}

static void write(const void *self, const void *batch, const struct pass *p, struct batch_file *f)
{
    const struct scs_batch *b = batch;
    (void)self;
    b->kind->write(NULL, b->copy, p, f);
    batch_file_int32(f, "scs.row", b->row, b->n, 1);
    batch_file_int32(f, "scs.lang", b->lang, b->n, 1);
}

static void close(void *self)
{
    struct scs *o = self;
    void *device[] = { o->allowed, o->word_rows, o->idx, o->p };
    for (int i = 0; i < 4; i++)
        if (device[i]) o->k->release(device[i]);
    specific_free(o->vocabulary);
    word_starts_free(o->words);
}

static const struct batch_kind kind = {
    .size = sizeof(struct scs_batch),
    .free = scs_rows_free,
    .forward = forward,
    .write = write,
    .largest = largest
};

const struct objective objective_scs = {
    .name = "scs",
    .about = "predict masked tokens among words mixed from another language's (SCS)",
    .hosts = "mlm mass",
    .used_by = OBJECTIVE_PRETRAIN,
    .self = sizeof(struct scs),
    .batch = &kind,
    .options = rows,
    .defaults = defaults,
    .attach = attach,
    .check = check,
    .open = open,
    .memory = memory,
    .start = start,
    .make = make,
    .prepare = prepare,
    .loss = loss,
    .watch = watch,
    .stepped = stepped,
    .close = close
};
