/* Semantic code switching (SCS-MLM; Lu, Lu and Zhang 2023, section 2.3): the batch of MLM once
 * more, where some of the words that it does not predict are read as mixtures of another language's
 * words, found by the model itself (scs_search.h).
 *
 *   L = L_MLM(x) + L_SCS(x^)      the same predicted rows and labels, in passes one after another
 *
 * What the model expects at a row comes from MLM's pass of the same step (--scs-from pass) or from
 * one more of the sentences as they are, without dropout (clean). Sentences of a language that has
 * no words of its own beside any other are left out of the second pass: they would weigh twice. */
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/msg.h"
#include "lib/data/pick.h"
#include "lib/data/specific.h"
#include "lib/objective/masked.h"
#include "lib/objective/scs_search.h"

enum { NOTE_STEPS = 100 };       /* after so many steps a rate that is not reached is told */
enum { FROM_PASS, FROM_CLEAN };
enum { SOURCES_SPECIFIC, SOURCES_ANY };

struct scs {
    const char *rate;
    int units, sources, from, norm;
    bool langs, detach;
    struct scs_how how;
    /* opened */
    struct specific *vocabulary;
    struct word_starts *words;
    uint32_t vocab;
    int n_langs, most_words;     /* of the languages' specific vocabularies, the most */
    struct switch_count first;   /* of the run's first steps */
    bool told;
    /* device: what counts as a word [vocab], rows of words as weights, and what is expected at the
     * switched rows of the micro-batch at hand, [cap, k] */
    const struct kernels *k;
    uint8_t *allowed;
    float *near;
    int32_t *idx; float *p;
    int cap;
};

struct scs_batch {
    /* what the second pass reads and predicts; switched rows read -1 */
    struct masked in;
    struct switch_count count;
    /* [n] switched rows, by the pair of their languages: of `in`, of MLM's batch; the token that
     * stood there; the language it goes to */
    int32_t *row, *under, *own, *lang;
    int n;
    struct scs_group *group; int groups;
    int32_t *word; int words;    /* of all groups */
    int32_t *original_lang;      /* [rows] */
    int32_t *clean;              /* [rows] the sentences as they are */
    bool *fixed;                 /* [rows] predicted */
    int *at;                     /* [rows] room for one sentence's */
    size_t n_cap[4], row_cap[4], group_cap, word_cap;
};

static const struct opt rows[] = {
    { "scs-rate", 0, OPT_STR(scs, rate), "A:B",
      "SCS: switch between these shares of the tokens of a sentence (default: 0.10:0.15)" },
    { "scs-units", 0, OPT_CHOICE(scs, units), "word|token",
      "SCS: switch tokens that are whole words where they stand, or any" },
    { "scs-sources", 0, OPT_CHOICE(scs, sources), "specific|any",
      "SCS: switch words that only their own language has (--specific), or any word" },
    { "scs-langs", 0, OPT_FLAG(scs, langs), NULL,
      "SCS: give a switched token the language embedding of the other language" },
    { "scs-from", 0, OPT_CHOICE(scs, from), "pass|clean",
      "SCS: take the expected words from MLM's pass of the step, or from one more pass over the "
      "sentences as they are" },
    { "scs-k", 0, OPT_INT(scs, how.k), "N", "SCS: words that are mixed, on either side", .min = 1,
      .max = SCS_MOST },
    { "scs-neighbours", 0, OPT_INT(scs, how.neighbours), "N",
      "SCS: switched rows whose similarity says how much of a hub a word is (CSLS)", .min = 1,
      .max = SCS_MOST },
    { "scs-temperature", 0, OPT_FLOAT(scs, how.temperature), "T",
      "SCS: weights of the words found are softmax(CSLS / T)", .min = 1e-4, .max = 1e4 },
    { "scs-norm", 0, OPT_CHOICE(scs, norm), "none|keep",
      "SCS: leave the mixture as short as it comes, or as long as the words that it mixes" },
    { "scs-detach", 0, OPT_FLAG(scs, detach), NULL,
      "SCS: give the embeddings of mixed words no gradient" },
    { 0 }
};

static void defaults(void *self)
{
    *(struct scs *)self = (struct scs){ .rate = "0.10:0.15",
                                        .langs = true,
                                        .how = { .k = 8, .neighbours = 10, .temperature = 1 } };
}

static int check(const void *self)
{
    double low, high;
    return pick_bounds(((const struct scs *)self)->rate, "scs-rate", &low, &high);
}

/* Can words of language l go anywhere? */
static bool switchable(const struct scs *o, int l)
{
    for (int m = 0; m < o->n_langs; m++)
        if (specific_pair(o->vocabulary, l, m)) return true;
    return false;
}

/* Says what is odd about the vocabularies; -1 with a message where nothing can be switched. */
static int look_at_words(struct scs *o, const struct setup *s)
{
    int any = 0;
    for (int l = 0; l < o->n_langs; l++) {
        any += switchable(o, l);
        for (int m = 0; m < o->n_langs; m++) {
            int n = specific_pair(o->vocabulary, l, m) ? specific_size(o->vocabulary, l, m) : 0;
            if (n > o->most_words) o->most_words = n;
            if (n && n < o->how.k)
                msg_note("scs: only %d words of %s are not words of %s, too: --scs-k %d mixes them "
                         "all", n, s->c->lang[l], s->c->lang[m], o->how.k);
        }
    }
    if (!any)
        return err_set("scs: no two languages have words of their own (whole words that stand in "
                       "the text of one more than %lld times, and not of the other); lower "
                       "--specific, or train on more text", (long long)s->specific);
    for (int l = 0; l < o->n_langs; l++)
        if (!switchable(o, l))
            msg_note("scs: %s has no words of its own (--specific %lld): its sentences are not "
                     "switched", s->c->lang[l], (long long)s->specific);
    return 0;
}

static int open(void *self, struct setup *s)
{
    struct scs *o = self;
    if (!s->text) return err_set("objective scs needs text: --train LANG=SHARD");
    o->how.keep = o->norm;
    o->vocab = s->vocab->n;
    o->n_langs = s->c->n_langs;
    o->words = word_starts_new(s->vocab);
    o->vocabulary = specific_new(s->text, o->vocab, o->n_langs,
                                 o->units == SWITCH_WORD ? o->words : NULL, s->specific);
    return o->vocabulary ? look_at_words(o, s) : -1;
}

static size_t near_bytes(const struct scs *o, int embed_dim)
{
    return scs_near_floats(embed_dim, o->most_words) * sizeof(float);
}

static int start(void *self, struct pass *p, struct state *s)
{
    struct scs *o = self;
    (void)s;
    o->k = p->t->k;
    o->allowed = o->k->alloc(o->vocab);
    o->near = o->k->alloc(near_bytes(o, p->t->ps->p[p->m->tokens].cols));
    if (!o->allowed || !o->near) return -1;
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
    if (o->idx) o->k->release(o->idx);
    if (o->p) o->k->release(o->p);
    o->cap = n + n / 4;
    size_t all = (size_t)o->cap * (size_t)o->how.k;
    o->idx = o->k->alloc(all * sizeof *o->idx);
    o->p = o->k->alloc(all * sizeof *o->p);
    return o->idx && o->p ? 0 : -1;
}

/* --- which rows, on the data thread --- */

struct lookup { const struct scs *o; const struct switch_sentence *x; };

/* Can row i of language l go to language m? */
static bool goes(const struct scs *o, int l, int m, uint32_t token)
{
    return specific_pair(o->vocabulary, l, m)
        && (o->sources == SOURCES_ANY ? token >= VOCAB_SPECIALS
                                      : specific_has(o->vocabulary, l, m, token));
}

static bool is_known(const void *ctx, int i)
{
    const struct lookup *l = ctx;
    for (int m = 0; m < l->o->n_langs; m++)
        if (goes(l->o, l->x->lang, m, l->x->original[i])) return true;
    return false;
}

/* One of the languages that row i can go to, each as likely as another. */
static int language_of(const struct scs *o, const struct switch_sentence *x, int i,
                       struct rng_key key)
{
    uint32_t draw[4], n = 0;
    for (int m = 0; m < o->n_langs; m++) n += goes(o, x->lang, m, x->original[i]);
    rng_block(key, x->number, (uint32_t)i, draw);
    uint32_t wanted = (uint32_t)(((uint64_t)draw[1] * n) >> 32);
    for (int m = 0; m < o->n_langs; m++)
        if (goes(o, x->lang, m, x->original[i]) && !wanted--) return m;
    return -1;
}

static void add_row(struct scs_batch *b, int row, int under, int lang)
{
    int32_t **to[] = { &b->row, &b->under, &b->own, &b->lang };
    int32_t value[] = { row, under, (int32_t)b->in.original[row], lang };
    for (int i = 0; i < 4; i++) {
        mem_room(to[i], &b->n_cap[i], (size_t)b->n + 1, sizeof **to[i]);
        (*to[i])[b->n] = value[i];
    }
    b->n++;
}

/* Sentence s of the batch, whose rows stand `before` rows later in MLM's. */
static void choose(const struct scs *o, struct scs_batch *b, int s, int before,
                   const struct turn *at)
{
    struct batch *in = &b->in.input;
    int first = in->at[s];
    struct rng_key key = turn_key(at, RNG_SWITCH);
    struct switch_sentence x = { b->in.original + first, b->fixed + first, in->len[s],
                                 in->lang[first], in->sample[first] };
    struct lookup l = { o, &x };
    int n = pick_rows(o->rate, o->units == SWITCH_WORD ? o->words : NULL, &x, key, is_known, &l,
                      b->at, &b->count);
    for (int i = 0; i < n; i++)
        add_row(b, first + b->at[i], first + b->at[i] + before, language_of(o, &x, b->at[i], key));
}

/* Rows of one pair of languages side by side, in their order, and the words of each pair. */
static void group_rows(const struct scs *o, struct scs_batch *b)
{
    size_t n = (size_t)b->n;
    int32_t *old = mem_alloc((4 * n + 1) * sizeof *old), *to[] = { b->row, b->under, b->own,
                                                                   b->lang };
    for (int i = 0; i < 4 && n; i++) memcpy(old + (size_t)i * n, to[i], n * sizeof *old);
    b->groups = b->words = b->n = 0;
    for (int l = 0; l < o->n_langs; l++)
        for (int m = 0; m < o->n_langs; m++) {
            struct scs_group g = { .first = b->n, .at = b->words };
            for (size_t r = 0; r < n; r++) {
                if (b->original_lang[old[r]] != l || old[3 * n + r] != m) continue;
                for (int i = 0; i < 4; i++) to[i][b->n] = old[(size_t)i * n + r];
                b->n++;
            }
            if (!(g.n = b->n - g.first)) continue;
            g.words = specific_size(o->vocabulary, m, l);
            b->words += g.words;
            mem_room(&b->word, &b->word_cap, (size_t)b->words, sizeof *b->word);
            specific_list(o->vocabulary, m, l, b->word + g.at);
            mem_room(&b->group, &b->group_cap, (size_t)b->groups + 1, sizeof *b->group);
            b->group[b->groups++] = g;
        }
    free(old);
}

/* What the second pass reads is MLM's batch, but for the switched rows. */
static void rows_of(struct scs_batch *b)
{
    struct batch *in = &b->in.input;
    size_t n = (size_t)in->rows;
    mem_room(&b->original_lang, &b->row_cap[0], n + 1, sizeof *b->original_lang);
    mem_room(&b->clean, &b->row_cap[1], n + 1, sizeof *b->clean);
    mem_room(&b->fixed, &b->row_cap[2], n + 1, sizeof *b->fixed);
    mem_room(&b->at, &b->row_cap[3], n + 1, sizeof *b->at);
    memset(b->fixed, 0, n * sizeof *b->fixed);
    for (int i = 0; i < b->in.n; i++) b->fixed[b->in.row[i]] = true;
    for (size_t r = 0; r < n; r++) {
        b->original_lang[r] = in->lang[r];
        b->clean[r] = (int32_t)b->in.original[r];
    }
    b->in.original_lang = b->original_lang;
}

static int make(void *self, void *batch, const void *under, const struct turn *at)
{
    const struct scs *o = self;
    const struct masked *from = under;
    struct scs_batch *b = batch;
    masked_clear(&b->in);
    b->n = b->groups = b->words = 0;
    b->count = (struct switch_count){ 0 };
    b->in.units = from->units;
    for (int s = 0; s < from->input.n; s++)
        if (from->input.len[s] > 0 && switchable(o, from->input.lang[from->input.at[s]]))
            masked_copy(&b->in, from, s);
    rows_of(b);
    for (int s = 0, f = 0; s < b->in.input.n; s++, f++) {
        while (!from->input.len[f] || !switchable(o, from->input.lang[from->input.at[f]])) f++;
        choose(o, b, s, from->input.at[f] - b->in.input.at[s], at);
    }
    group_rows(o, b);
    for (int i = 0; i < b->n; i++) {
        b->in.input.token[b->row[i]] = -1;
        if (o->langs) b->in.input.lang[b->row[i]] = b->lang[i];
    }
    return 0;
}

/* --- the passes --- */

/* What the model expects at the switched rows, whose states are rows `at` of h. */
static int expect(struct scs *o, const struct scs_batch *b, struct pass *p, struct var *h,
                  const int32_t *at)
{
    if (!p->planning && rows_room(o, b->n) < 0) return -1;
    scs_expected(p->m, p->t, h, tape_int32(p->t, at, (size_t)b->n), b->n, o->how.k, o->allowed,
                 o->idx, o->p);
    return 0;
}

static int watch(void *self, void *batch, struct pass *under)
{
    struct scs *o = self;
    const struct scs_batch *b = batch;
    if (o->from != FROM_PASS || !b->n) return 0;
    pass_predicts(under, b->n);
    return expect(o, b, under, under->h, b->under);
}

static int prepare(void *self, void *batch, struct pass *p)
{
    struct scs *o = self;
    struct scs_batch *b = batch;
    struct batch *in = &b->in.input;
    if (o->from != FROM_CLEAN || !b->n) return 0;
    int32_t *token = in->token, *lang = in->lang;
    tape_reset(p->t, false);
    in->token = b->clean;
    in->lang = b->original_lang;
    struct dev_batch d = batch_upload(p->t, in);
    in->token = token;
    in->lang = lang;
    return expect(o, b, p, model_encode(p->m, p->t, &d), b->row);
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
    KERN(t->k, mix_fwd, .Y = picked, .E = o->p, .idx = tape_int32(t, first, n),
         .w = tape_float(t, one, n), .scale = 1, .M = b->n, .k = 1, .D = 1);
    KERN(t->k, widen, .to = largest, .from = picked, .n = n);
    pass_losses(p, "scs_entropy", y->entropy, b->n);
    pass_losses(p, "scs_norm", y->ratio, b->n);
    pass_losses(p, "scs_p1", largest, b->n);
    pass_losses(p, "scs_self", self, b->n);
    free(first);
    free(one);
}

static int forward(void *self, void *batch, struct pass *p)
{
    struct scs *o = self;
    struct scs_batch *b = batch;
    if (!b->n) return 0;                     /* nothing is switched: MLM's pass was all of it */
    struct tape *t = p->t;
    struct scs_mixture y = scs_search(&o->how, p->m, t, b->n, o->idx, o->p, b->group, b->groups,
                                      tape_int32(t, b->word, (size_t)b->words), o->near);
    struct dev_batch d = batch_upload(t, &b->in.input);
    d.mix = (struct mixture){ b->n, o->how.k, tape_int32(t, b->row, (size_t)b->n), y.idx, y.w,
                              o->detach };
    report(o, b, p, &y);
    p->h = model_encode(p->m, t, &d);
    pass_reads(p, b->in.input.rows, b->in.input.max);
    pass_predicts(p, b->in.n);
    if (!p->planning && !o->told) {
        o->first.tokens += b->count.tokens;
        o->first.switched += b->count.switched;
    }
    return 0;
}

static int loss(void *self, void *batch, struct pass *p, float scale)
{
    struct scs_batch *b = batch;
    (void)self;
    pass_number(p, "scs_switched", (double)b->count.switched, (double)b->count.tokens);
    if (b->n) masked_loss(&b->in, p, "scs", scale, NULL);
    return 0;
}

/* Says once where too few words are of one language only. */
static int stepped(void *self, struct pass *p, int64_t step)
{
    struct scs *o = self;
    double low = 0, high = 0, all = (double)o->first.tokens,
           share = all > 0 ? (double)o->first.switched / all : 0;
    (void)p;
    if (o->told || step < NOTE_STEPS) return 0;
    o->told = true;
    pick_bounds(o->rate, "scs-rate", &low, &high);
    if (share < low)
        msg_note("scs: %.1f%% of the tokens were switched, --scs-rate asks for %.1f%% or more: too "
                 "few words are of one language only; lower --specific", 100 * share, 100 * low);
    return 0;
}

/* --- memory --- */

/* As many rows as the rate may ask for, all of one pair of languages, the one with most words. */
static int largest(void *self, void *batch, const void *under, int tokens)
{
    const struct scs *o = self;
    const struct masked *from = under;
    struct scs_batch *b = batch;
    double low = 0, high = 0;
    (void)tokens;
    masked_clear(&b->in);
    for (int s = 0; s < from->input.n; s++) masked_copy(&b->in, from, s);
    rows_of(b);
    pick_bounds(o->rate, "scs-rate", &low, &high);
    int most = (int)(high * b->in.input.rows) + b->in.input.n, n = b->in.input.rows;
    b->n = 0;
    for (int r = 0; r < n && b->n < most; r++) add_row(b, r, r, 0);
    for (int i = 0; i < b->n; i++) b->in.input.token[b->row[i]] = -1;
    b->words = o->most_words;
    b->groups = 1;
    mem_room(&b->group, &b->group_cap, 1, sizeof *b->group);
    b->group[0] = (struct scs_group){ .n = b->n, .words = o->most_words };
    mem_room(&b->word, &b->word_cap, (size_t)b->words, sizeof *b->word);
    memset(b->word, 0, (size_t)b->words * sizeof *b->word);
    return 0;
}

static size_t holds(const void *self, const struct model_config *c)
{
    const struct scs *o = self;
    return near_bytes(o, model_embed_dim(c)) + o->vocab;
}

static void write(const void *self, const void *batch, const struct pass *p, struct batch_file *f)
{
    const struct scs_batch *b = batch;
    masked_write(self, batch, p, f);
    batch_file_int32(f, "scs.row", b->row, b->n, 1);
    batch_file_int32(f, "scs.lang", b->lang, b->n, 1);
}

static void batch_free_(void *batch)
{
    struct scs_batch *b = batch;
    void *owned[] = { b->row, b->under, b->own, b->lang, b->group, b->word, b->original_lang,
                      b->clean, b->fixed, b->at };
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
    masked_free(&b->in);
    memset(b, 0, sizeof *b);
}

static void close(void *self)
{
    struct scs *o = self;
    void *device[] = { o->allowed, o->near, o->idx, o->p };
    for (int i = 0; i < 4; i++)
        if (device[i]) o->k->release(device[i]);
    specific_free(o->vocabulary);
    word_starts_free(o->words);
}

const struct objective objective_scs = {
    .name = "scs",
    .about = "predict the same tokens where other words are read as mixtures of another "
             "language's (SCS)",
    .on = "mlm",
    .used_by = OBJECTIVE_PRETRAIN,
    .self = sizeof(struct scs),
    .batch = sizeof(struct scs_batch),
    .options = rows,
    .defaults = defaults,
    .check = check,
    .open = open,
    .start = start,
    .make = make,
    .prepare = prepare,
    .forward = forward,
    .loss = loss,
    .watch = watch,
    .stepped = stepped,
    .largest = largest,
    .holds = holds,
    .write = write,
    .batch_free = batch_free_,
    .close = close
};
