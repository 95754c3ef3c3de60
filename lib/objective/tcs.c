/* Token-level code switching (TCS-MLM; Lu, Lu and Zhang 2023, section 2.2): the batch of MLM once
 * more, with some of the words that it does not predict read as words of other languages.
 *
 *   L = L_MLM(x) + L_MLM(x')      the same predicted rows and labels, in passes one after another
 *
 * Sentences of a language without a dictionary are left out of the second pass: they would weigh
 * twice. */
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/msg.h"
#include "lib/data/switch.h"
#include "lib/objective/masked.h"
#include "lib/objective/refresh.h"

enum { NOTE_STEPS = 100 };       /* after so many steps a rate that is not reached is told */

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
    bool told, seen;
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
    o->given = mem_zero((size_t)o->files + 1, sizeof *o->given);
    o->began = mem_zero((size_t)o->files + 1, sizeof *o->began);
    o->path = mem_zero((size_t)o->files + 1, sizeof *o->path);
    for (int i = 0; i < o->files; i++) {
        o->given[i] = o->began[i] = p[i].hash;
        o->path[i] = mem_dup(p[i].path);
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
    o->switched = mem_zero((size_t)o->langs + 1, sizeof *o->switched);
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
static int make(void *self, void *batch, const void *under, const struct turn *at)
{
    const struct tcs *o = self;
    const struct masked *from = under;
    struct tcs_batch *b = batch;
    masked_clear(&b->in);
    b->at = *at;
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
    if (p->planning) return 0;
    if (!o->seen && look_at_state(o) < 0) return -1;
    mem_columns(&b->cap, rows + 1, 2,
                (struct mem_column[]){ MEM_COLUMN(b->fixed), MEM_COLUMN(b->row) });
    memset(b->fixed, 0, rows * sizeof *b->fixed);
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
    if (!p->planning && p->t->train && !o->told) {
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

/* Makes a new dictionary when one is due: the next step reads it. Says once where the dictionaries
 * are too small for the rate. */
static int stepped(void *self, struct pass *p, int64_t step)
{
    struct tcs *o = self;
    double low = atof(o->how.rate),
           share = o->first.tokens ? (double)o->first.switched / (double)o->first.tokens : 0;
    if (o->how.refresh && step % o->how.refresh == 0) {
        if (refresh_make(&o->refresh, p) < 0) return -1;
        use(o);
    }
    if (o->told || step < NOTE_STEPS) return 0;
    o->told = true;
    if (share < low)
        msg_note("tcs: %.1f%% of the tokens were switched, --switch-rate asks for %.1f%% or more: "
                 "the dictionary is too small; "
                 "lower dict-induce --specific",
                 100 * share, 100 * low);
    return 0;
}

static int largest(void *self, void *batch, const void *under, int tokens)
{
    struct tcs_batch *b = batch;
    const struct masked *from = under;
    (void)self; (void)tokens;
    masked_clear(&b->in);
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
    .on = "mlm",
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
