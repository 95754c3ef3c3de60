/* Masked language modelling (Devlin et al. 2019), on sentences, on streams of them (XLM), on two
 * segments of a document (ALBERT), or on the sides of sentence pairs, each by itself (PPA's
 * ablation "repl TLM w/ MLM"). */
#include <math.h>
#include "common/err.h"
#include "lib/batch/masked.h"
#include "lib/data/corpus.h"
#include "lib/data/pair_pool.h"

/* <s> a </s>, <s> a </s> b </s>; a stream's pieces have their own </s> */
static int specials(const struct setup *s) { return s->stream ? 0 : s->documents ? 3 : 2; }

/* <s> sentence </s>, or the piece of a stream as it is; k NULL: nothing is masked. */
static void add(const struct masked_self *o, struct masked *b, const struct masker *k,
                const struct corpus *c, const struct sample *x, struct rng_key key)
{
    static const uint32_t bos = VOCAB_BOS, eos = VOCAB_EOS;
    struct batch_part parts[3] = { { &bos, 1, x->lang, 0, 0 },
                                   { x->ids, x->n, x->lang, 0, 1 },
                                   { &eos, 1, x->lang, 0, x->n + 1 } };
    if (o->s.documents) {
        masked_add_document(b, k, c, x, o->s.c->token_types > 1, key);
    } else if (o->s.stream) {
        /* a stream's piece has its </s> between sentences, and no <s> before position 0 */
        parts[1].first = 0;
        masked_add(b, k, parts + 1, 1, x->number, key);
    } else masked_add(b, k, parts, 3, x->number, key);
}

/* A batch of validation corpus i from sentence *s on; false at its end. The masks are the same in
 * every run, so that runs compare. */
static bool next_valid(const struct masked_self *o, struct masked *b, int i, uint32_t *s)
{
    const struct corpus *c = &o->s.valid[i];
    /* step 0, which no turn has (turn_key) */
    struct rng_key key = { 0, RNG_MASK, 0 };
    uint32_t end = c->all.sentences;
    if (o->s.valid_sentences > 0 && (uint32_t)o->s.valid_sentences < end)
        end = (uint32_t)o->s.valid_sentences;
    if (*s >= end) return false;
    masked_clear(b);
    for (; *s < end && b->input.rows < o->s.tokens; ++*s) {
        int len = (int)(c->all.at[*s + 1] - c->all.at[*s]);
        struct sample one = { c->all.ids + c->all.at[*s], len, i, c->lang_id, *s };
        if (len > 0 && len <= o->s.longest) add(o, b, &o->masker, c, &one, key);
    }
    return true;
}

/* Would anything of validation corpus i be predicted? */
static int check_valid(const struct masked_self *o, int i)
{
    struct masked b = { 0 };
    int n = 0;
    for (uint32_t s = 0; !n && next_valid(o, &b, i, &s); ) n = b.n;
    masked_free(&b);
    return n ? 0
             : err_set("%s: no token of it would be predicted (of sentences of 1 to %d tokens, %g "
                       "of the tokens); "
                       "give more validation text or raise --mask-prob",
                       o->s.valid[i].path, o->s.longest, o->masker.how.select);
}

static int open(void *self, struct setup *s)
{
    struct masked_self *o = self;
    o->s = *s;
    if (!s->text && !s->pool) return err_set("objective mlm needs text: --train LANG=SHARD");
    o->longest = s->pool ? s->pool->longest_side + 2 : s->longest + specials(s);
    if (masked_masker_open(&o->masker, s) < 0) return -1;
    for (int i = 0; i < s->n_valid; i++)
        if (check_valid(o, i) < 0) return -1;
    return 0;
}

/* Both sides of the pairs of this turn. The highest bits keep their draws apart from TLM's. */
static int make_pooled(const struct masked_self *o, struct masked *b, const struct turn *at)
{
    const struct pair *p = pair_pool_take(o->s.pool, at->micro, at->seed);
    for (int i = 0; i < 2 * o->s.pool->batch; i++) {
        const struct pair *from = &p[i / 2];
        uint64_t number = UINT64_C(3) << 62 | (uint64_t)at->micro << 16 | (uint64_t)i;
        struct sample x = { from->ids[i % 2], from->n[i % 2], 0, from->lang[i % 2], number };
        add(o, b, &o->masker, NULL, &x, turn_key(at, RNG_MASK));
    }
    return 0;
}

static int make(void *self, void *batch, const void *host_batch, const struct turn *at)
{
    struct masked_self *o = self;
    struct masked *b = batch;
    struct sample x;
    (void)host_batch;
    masked_clear(b);
    if (o->s.pool) return make_pooled(o, b, at);
    while (o->s.sentences ? b->input.n < o->s.sentences : b->input.rows < o->s.tokens) {
        if (corpora_next(o->s.text, o->s.longest, &x) < 0) return -1;
        /* another rank's turn: only the text moves on */
        add(o, b, at->passed ? NULL : &o->masker, &o->s.text->c[x.corpus], &x,
            turn_key(at, RNG_MASK));
    }
    return 0;
}

static int validate(void *self, struct pass *p, struct report *r)
{
    struct masked_self *o = self;
    struct masked b = { 0 };
    double total = 0;
    int rc = 0;
    for (int i = 0; i < o->s.n_valid && rc == 0; i++) {
        struct masked_score x = { 0 };
        for (uint32_t s = 0; rc == 0 && next_valid(o, &b, i, &s); ) rc = masked_score(&b, p, &x);
        /* languages count alike, however long their texts are */
        total += masked_report(&x, o->s.valid[i].lang, r) / o->s.n_valid;
    }
    masked_free(&b);
    if (rc < 0 || !o->s.n_valid) return rc;
    report_put(r, exp(total), "perplexity");
    report_judge(r, total);
    return 0;
}

static double epoch(const void *self)
{
    const struct masked_self *o = self;
    double sentences, tokens;
    corpora_size(o->s.text, o->s.longest, &sentences, &tokens);
    return o->s.sentences ? sentences / o->s.sentences
                          : (tokens + specials(&o->s) * sentences) / o->s.tokens;
}

static void close(void *self) { masked_masker_free(&((struct masked_self *)self)->masker); }

const struct objective objective_mlm = {
    .name = "mlm",
    .about = "predict masked tokens of text",
    .about_align = "predict masked tokens of each side of sentence pairs by itself",
    .used_by = OBJECTIVE_PRETRAIN | OBJECTIVE_ALIGN,
    .self = sizeof(struct masked_self),
    .batch = &batch_masked,
    .open = open,
    .make = make,
    .validate = validate,
    .epoch = epoch,
    .close = close
};
