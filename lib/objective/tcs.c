/* Token-level code switching (TCS-MLM; Lu, Lu and Zhang 2023, section 2.2): the batch of MLM once
 * more, with some of the words that it does not predict read as words of other languages.
 *
 *   L = L_MLM(x) + L_MLM(x')      the same predicted rows and labels, in passes one after another
 *
 * Sentences of a language without a dictionary are left out of the second pass: they would weigh
 * twice. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/msg.h"
#include "lib/batch/masked.h"
#include "lib/data/specific.h"
#include "lib/engine/objective.h"
#include "lib/masking/switch.h"
#include "lib/vectors/csls.h"

/* --- refreshed dictionaries ------------------------------------------------------------------- */

/* A dictionary of the model's tokens made anew from its own embedding table while it trains (TCS
 * with --dict-refresh): for each pair of languages, of the words that only one of them has
 * (specific.h), those that are each other's nearest by CSLS: what dict-induce --map none --specific
 * --mutual finds in the same table. The one in force is part of the run's state. */

enum { REFRESH_NEIGHBOURS = 10 };    /* K of CSLS */

struct refresh {
    struct refresh_pair {
        int lang[2];
        int32_t *word[2];            /* [n[i]] the words of either language */
        int n[2];
        float *to; /* state, device: [n[0]] number of each one's translation among the others; -1 */
    } *pair;
    int pairs;
    int64_t made;                    /* state: how often; 0: the given ones are in force */
    const struct kernels *k;
};

static bool has_pair(const struct refresh *r, int a, int b)
{
    for (int i = 0; i < r->pairs; i++) {
        const int *l = r->pair[i].lang;
        if ((l[0] == a && l[1] == b) || (l[0] == b && l[1] == a)) return true;
    }
    return false;
}

/* For the pairs of languages of the dictionaries that were given. -1 with a message: one of them
 * has no words of its own beside the other. */
static int refresh_open(struct refresh *r, const struct switches *given,
                        const struct specific *words, const struct setup *s)
{
    int n;
    const struct switch_pair *p = switches_pairs(given, &n);
    r->pair = mem_zero((size_t)n, sizeof *r->pair);
    for (int i = 0; i < n; i++) {
        int a = p[i].lang[0], b = p[i].lang[1];
        /* dictionaries of both directions are one pair: each is made both ways */
        if (has_pair(r, a, b)) continue;
        if (!specific_pair(words, a, b))
            return err_set("--dict-refresh: %s and %s have no words of their own (whole words that "
                           "stand in the text of one more than %lld times, and not of the other); "
                           "lower --specific", s->c->lang[a], s->c->lang[b],
                           (long long)s->specific);
        struct refresh_pair *to = &r->pair[r->pairs++];
        for (int side = 0; side < 2; side++) {
            int l = p[i].lang[side], m = p[i].lang[1 - side];
            to->lang[side] = l;
            to->n[side] = specific_size(words, l, m);
            to->word[side] = mem_alloc((size_t)to->n[side] * sizeof *to->word[side]);
            specific_list(words, l, m, to->word[side]);
        }
    }
    state_int(s->state, &r->made, 0, "dict.made");
    return 0;
}

/* Allocates and registers what a checkpoint keeps. */
static int refresh_start(struct refresh *r, struct pass *p, struct state *s)
{
    const struct model_config *c = &p->m->c;
    r->k = p->t->k;
    for (int i = 0; i < r->pairs; i++) {
        struct refresh_pair *x = &r->pair[i];
        size_t bytes = (size_t)x->n[0] * sizeof *x->to;
        if (!(x->to = r->k->alloc(bytes))) return -1;
        r->k->zero(x->to, bytes);
        state_array(s, x->to, x->n[0], 1, "dict.%s-%s", c->lang[x->lang[0]], c->lang[x->lang[1]]);
    }
    return 0;
}

/* Rows of the table, at length 1 (0 where all of a row is 0). */
static float *unit_rows(const float *E, int D, const int32_t *word, int n)
{
    float *x = mem_alloc((size_t)n * (size_t)D * sizeof *x);
    for (int i = 0; i < n; i++) {
        const float *e = E + (size_t)word[i] * (size_t)D;
        double square = 0;
        for (int d = 0; d < D; d++) square += (double)e[d] * (double)e[d];
        double by = square > 0 ? 1 / sqrt(square) : 0;
        for (int d = 0; d < D; d++) x[(size_t)i * (size_t)D + (size_t)d] = (float)(e[d] * by);
    }
    return x;
}

static int make_pair(struct refresh *r, struct refresh_pair *p, const float *E, int D)
{
    struct csls_side there = { 0 }, back = { 0 };
    struct csls_work work;
    float *x = unit_rows(E, D, p->word[0], p->n[0]), *z = unit_rows(E, D, p->word[1], p->n[1]);
    /* a language may have fewer words of its own than CSLS averages over */
    int K = p->n[0] < p->n[1] ? p->n[0] : p->n[1];
    if (K > REFRESH_NEIGHBOURS) K = REFRESH_NEIGHBOURS;
    int rc = csls_search(x, (uint32_t)p->n[0], z, (uint32_t)p->n[1], D, CSLS_CSLS, 1, K, &there,
                         &back, &work);
    for (int i = 0; i < p->n[0] && rc == 0; i++)
        /* mutual nearest neighbours only, as in dict-induce --mutual */
        x[i] = back.index[there.index[i]] == (uint32_t)i ? (float)there.index[i] : -1;
    /* as float: numbers of words are below 2 ^ 24 and exact */
    if (rc == 0) r->k->upload(p->to, x, (size_t)p->n[0] * sizeof *x);
    csls_free(&there);
    csls_free(&back);
    free(x);
    free(z);
    return rc;
}

/* Recomputes all translations from the current table. Waits for the device. */
static int refresh_make(struct refresh *r, struct pass *p)
{
    const struct params *ps = &p->m->ps;
    int D = ps->p[p->m->tokens].cols, rc = 0;
    /* On the host: a dictionary is made every N steps, and csls_search runs there. */
    float *E = mem_alloc((size_t)p->m->c.vocab * (size_t)D * sizeof *E);
    param_get(ps, ps->value, p->m->tokens, E);
    for (int i = 0; i < r->pairs && rc == 0; i++) rc = make_pair(r, &r->pair[i], E, D);
    free(E);
    r->made++;
    return rc;
}

/* The dictionary of the current state; the caller frees it. *n: its number of word pairs. */
static struct switches *refresh_switches(const struct refresh *r, const struct switch_options *o,
                                         int langs, int *n)
{
    struct switches *s = switches_new(langs);
    *n = 0;
    for (int i = 0; i < r->pairs; i++) {
        const struct refresh_pair *p = &r->pair[i];
        float *to = mem_alloc((size_t)p->n[0] * sizeof *to);
        r->k->download(to, p->to, (size_t)p->n[0] * sizeof *to);
        for (int w = 0; w < p->n[0]; w++) {
            /* also false for NaN: a checkpoint's numbers are not trusted */
            if (!(to[w] >= 0 && to[w] < (float)p->n[1])) continue;
            switches_add(s, o, p->lang, (uint32_t)p->word[0][w],
                         (uint32_t)p->word[1][(int)to[w]]);
            ++*n;
        }
        free(to);
    }
    switches_settle(s, o);
    return s;
}

/* Zeros are fine. */
static void refresh_free(struct refresh *r)
{
    for (int i = 0; i < r->pairs; i++) {
        free(r->pair[i].word[0]);
        free(r->pair[i].word[1]);
        if (r->pair[i].to) r->k->release(r->pair[i].to);
    }
    free(r->pair);
    memset(r, 0, sizeof *r);
}

/* --- the objective ---------------------------------------------------------------------------- */

/* after so many steps a rate that is not reached is reported */
enum { NOTE_STEPS = 100 };

struct tcs {
    struct switch_options how;
    struct switches *dict;       /* in force: the one that was given, or the last one made */
    bool *switched;              /* [langs] did the given ones have words of the language? */
    struct word_starts *words;
    struct refresh refresh;
    int langs, pairs;            /* pairs of words of the last one made */
    /* state: hashes of the files, as this run found them and as the run that goes on did */
    int64_t *given, *began; int files;
    char **path;                 /* of the files, for messages */
    struct switch_count first;   /* of the run's first steps */
    bool noted, seen;
};

struct tcs_batch {
    struct masked in;            /* what the second pass reads and predicts */
    struct switch_count count;
    struct turn at;
    bool *fixed;                 /* [rows] predicted */
    struct switched *row;        /* [rows] room for one sentence's */
    size_t cap;
};

/* options' struct is `tcs`: the rows of switch_rows fill its first member. */
static void defaults(void *self) { *(struct tcs *)self = (struct tcs){ .how = switch_defaults }; }
static int check(const void *self) { return switch_check(&((const struct tcs *)self)->how); }

static int open_refresh(struct tcs *o, struct setup *s)
{
    if (!s->text) return err_set("--dict-refresh needs text: --train LANG=SHARD");
    struct specific *words = specific_new(s->text, s->vocab->n, o->langs,
                                          o->how.units == SWITCH_WORD ? o->words : NULL,
                                          s->specific);
    int rc = refresh_open(&o->refresh, o->dict, words, s);
    specific_free(words);
    return rc;
}

/* Their hashes are part of the state: another dictionary would make another run of it. */
static void remember_files(struct tcs *o, struct setup *s)
{
    const struct switch_pair *p = switches_pairs(o->dict, &o->files);
    o->given = mem_zero((size_t)o->files, sizeof *o->given);
    o->began = mem_zero((size_t)o->files, sizeof *o->began);
    o->path = mem_zero((size_t)o->files, sizeof *o->path);
    for (int i = 0; i < o->files; i++) {
        o->given[i] = o->began[i] = p[i].hash;
        o->path[i] = mem_dup(p[i].path);
        /* a checkpoint replaces it; look_at_state compares */
        state_int(s->state, &o->began[i], 0, "dict.%d", i);
    }
}

static int open(void *self, struct setup *s)
{
    struct tcs *o = self;
    o->dict = switches_read(&o->how, s->dicts, (const char(*)[32])s->c->lang, s->c->n_langs,
                            s->vocab, msg_note);
    if (!o->dict) return -1;
    o->words = word_starts_new(s->vocab);
    o->langs = s->c->n_langs;
    o->switched = mem_zero((size_t)o->langs, sizeof *o->switched);
    for (int i = 0; i < o->langs; i++)
        if (!(o->switched[i] = switches_of(o->dict, i)))
            msg_note("no dictionary has words of %s: its sentences are not switched",
                     s->c->lang[i]);
    remember_files(o, s);
    return o->how.refresh ? open_refresh(o, s) : 0;
}

static int start(void *self, struct pass *p, struct state *s)
{
    struct tcs *o = self;
    return o->how.refresh ? refresh_start(&o->refresh, p, s) : 0;
}

static void use(struct tcs *o)
{
    switches_free(o->dict);
    o->dict = refresh_switches(&o->refresh, &o->how, o->langs, &o->pairs);
}

/* Once, when a run that goes on has its state: are the files those that it began with? And which
 * dictionary is in force? */
static int look_at_state(struct tcs *o)
{
    o->seen = true;
    for (int i = 0; i < o->files; i++)
        if (o->began[i] != o->given[i])
            return err_set("%s is not the dictionary that this run began with; give that one, or "
                           "start a new run (another --out)",
                           o->path[i]);
    if (o->how.refresh && o->refresh.made) use(o);
    return 0;
}

/* On the data thread: the sentences of languages that can be switched. */
static int make(void *self, void *batch, const void *host_batch, const struct turn *at)
{
    const struct tcs *o = self;
    const struct masked *from = host_batch;
    struct tcs_batch *b = batch;
    masked_clear(&b->in);
    b->at = *at;
    /* only which sentences: which words is decided in prepare, by the dictionary in force then */
    for (int s = 0; s < from->input.n; s++)
        if (from->input.len[s] > 0 && o->switched[from->input.lang[from->input.at[s]]])
            masked_copy(&b->in, from, s);
    return 0;
}

static void switch_sentence(const struct tcs *o, struct tcs_batch *b, int s)
{
    struct batch *in = &b->in.input;
    int first = in->at[s];
    struct switch_sentence x = { b->in.original + first, b->fixed + first, in->len[s],
                                 in->lang[first], in->sample[first] };
    int n = switch_choose(o->dict, &o->how, o->words, &x, turn_key(&b->at, RNG_SWITCH), b->row,
                          &b->count);
    for (int k = 0; k < n; k++) {
        in->token[first + b->row[k].at] = (int32_t)b->row[k].token;
        if (o->how.langs) in->lang[first + b->row[k].at] = b->row[k].lang;
    }
}

/* On the main thread, so that a dictionary that is made anew between steps is read by nobody
 * meanwhile. */
static int prepare(void *self, void *batch, struct pass *p)
{
    struct tcs *o = self;
    struct tcs_batch *b = batch;
    size_t rows = (size_t)b->in.input.rows;
    /* shapes are as make left them, whatever is switched */
    if (p->planning) return 0;
    if (!o->seen && look_at_state(o) < 0) return -1;
    mem_columns(&b->cap, rows + 1, 2,
                (struct mem_column[]){ MEM_COLUMN(b->fixed), MEM_COLUMN(b->row) });
    memset(b->fixed, 0, rows * sizeof *b->fixed);
    /* what is predicted reads what it reads in MLM's pass */
    for (int i = 0; i < b->in.n; i++) b->fixed[b->in.row[i]] = true;
    b->count = (struct switch_count){ 0 };
    for (int s = 0; s < b->in.input.n; s++) switch_sentence(o, b, s);
    return 0;
}

static int forward(void *self, void *batch, struct pass *p)
{
    struct tcs *o = self;
    struct tcs_batch *b = batch;
    if (!b->in.input.rows) return 0;
    masked_forward(NULL, b, p);
    /* what a step trains on: of plans and validations nothing is counted */
    if (!p->planning && p->t->train && !o->noted) {
        o->first.tokens += b->count.tokens;
        o->first.switched += b->count.switched;
    }
    return 0;
}

static int loss(void *self, void *batch, struct pass *p, float scale)
{
    struct tcs_batch *b = batch;
    const struct switch_count *c = &b->count;
    if (!b->in.input.rows) return 0;
    masked_loss(&b->in, p, "tcs", scale, NULL);
    pass_number(p, "tcs_switched", (double)c->switched, (double)c->tokens);
    pass_number(p, "tcs_known", (double)c->known, (double)c->free);
    if (((const struct tcs *)self)->pairs)
        pass_number(p, "tcs_pairs", ((const struct tcs *)self)->pairs, 1);
    return 0;
}

/* Makes a new dictionary when one is due: the next step reads it. Reports once where the
 * dictionaries are too small for the rate. */
static int stepped(void *self, struct pass *p, int64_t step)
{
    struct tcs *o = self;
    /* "A:B": atof stops at the colon */
    double low = atof(o->how.rate),
           share = o->first.tokens ? (double)o->first.switched / (double)o->first.tokens : 0;
    if (o->how.refresh && step % o->how.refresh == 0) {
        if (refresh_make(&o->refresh, p) < 0) return -1;
        use(o);
    }
    if (o->noted || step < NOTE_STEPS) return 0;
    o->noted = true;
    if (share < low)
        msg_note("tcs: %.1f%% of the tokens were switched, --switch-rate asks for %.1f%% or more: "
                 "the dictionary is too small; "
                 "lower dict-induce --specific",
                 100 * share, 100 * low);
    return 0;
}

static int largest(void *self, void *batch, const void *host_batch, int tokens)
{
    struct tcs_batch *b = batch;
    const struct masked *from = host_batch;
    (void)self; (void)tokens;
    masked_clear(&b->in);
    /* all sentences: as if each could be switched */
    for (int s = 0; s < from->input.n; s++) masked_copy(&b->in, from, s);
    return 0;
}

static void free_batch(void *batch)
{
    struct tcs_batch *b = batch;
    masked_free(&b->in);
    free(b->fixed);
    free(b->row);
    memset(b, 0, sizeof *b);
}

static void close(void *self)
{
    struct tcs *o = self;
    switches_free(o->dict);
    word_starts_free(o->words);
    refresh_free(&o->refresh);
    for (int i = 0; i < o->files; i++) free(o->path[i]);
    free(o->path);
    free(o->given);
    free(o->began);
    free(o->switched);
}

static const struct batch_kind kind = {
    .size = sizeof(struct tcs_batch),
    .free = free_batch,
    .forward = forward,
    .write = masked_write,
    .largest = largest
};

const struct objective objective_tcs = {
    .name = "tcs",
    .about = "predict the same tokens where other words are switched (TCS)",
    .hosts = "mlm",
    .used_by = OBJECTIVE_PRETRAIN,
    .dict = true,
    .self = sizeof(struct tcs),
    .batch = &kind,
    .options = switch_rows,
    .defaults = defaults,
    .check = check,
    .open = open,
    .start = start,
    .make = make,
    .prepare = prepare,
    .loss = loss,
    .stepped = stepped,
    .close = close
};
