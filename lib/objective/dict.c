/* DICT-MLM (Chaudhary et al. 2020; DICT-MLM-50 of Tang et al. 2022, appendix G.4): MLM on text
 * in which the dictionary replaces words. Of the predicted tokens a share --dict-prob does not
 * go by 80/10/10 but reads its translation, with the other language's embedding, or itself where
 * its language's side of the dictionary lacks it [code: the collator looks at the language of each
 * position]. What is predicted stays the original [code]; --dict-label is the paper's wording:
 * <mask> is read, the translation is predicted. */
#include "common/err.h"
#include "lib/batch/masked.h"
#include "lib/data/token_pairs.h"

extern const struct objective objective_mlm;

/* mlm first: MLM's functions take this for their own */
struct dict { struct masked_self mlm; double prob; bool label; struct token_pairs *pairs; };
struct dict_batch { struct masked m; int switched; };
static const struct batch_kind kind = {
    .size = sizeof(struct dict_batch),
    .free = masked_free,
    .forward = masked_forward,
    .write = masked_write,
    .largest = masked_largest
};

static const struct opt rows[] = { { "dict-prob", 0, OPT_REAL(dict, prob), "P",
                                     "share of the predicted tokens that read their translation, "
                                     "or themselves where there is none",
                                     .min = 0, .max = 1 },
                                   { "dict-label", 0, OPT_FLAG(dict, label), NULL,
                                     "read <mask> and predict the translation, in place of reading "
                                     "it and predicting the original" },
                                   { 0 } };

static void defaults(void *self) { ((struct dict *)self)->prob = 0.5; }

static int open(void *self, struct setup *s)
{
    struct dict *o = self;
    if (s->c->n_langs != 2)
        return err_set("objective dict needs two languages, so that a translation is in the other "
                       "one; there are %d",
                       s->c->n_langs);
    if (!(o->pairs = token_pairs_open(s, "dict"))) return -1;
    return objective_mlm.open(o, s);
}

/* Prediction i, whose token has translations: one of them, uniformly. */
static void translate(const struct dict *o, struct dict_batch *b, int i, const uint32_t u[4])
{
    struct masked *m = &b->m;
    int row = m->row[i];
    uint32_t token = m->original[row], n = token_pairs_count(o->pairs, token, m->input.lang[row]);
    int32_t other =
        (int32_t)o->pairs->other[o->pairs->at[token] + (uint32_t)(((uint64_t)u[1] * n) >> 32)];
    if (o->label) {
        m->input.token[row] = VOCAB_MASK;
        m->target[i] = other;
    } else {
        m->input.token[row] = other;
        /* open has refused any other number of languages than two */
        m->input.lang[row] = 1 - m->input.lang[row];
    }
    m->masked[i] = o->label;
    b->switched++;
}

static int make(void *self, void *batch, const void *host_batch, const struct turn *at)
{
    struct dict *o = self;
    struct dict_batch *b = batch;
    struct masked *m = &b->m;
    const struct rng_key key = turn_key(at, RNG_DICT);
    if (objective_mlm.make(o, m, host_batch, at) < 0) return -1;
    b->switched = 0;
    for (int i = 0; i < m->n; i++) {
        int row = m->row[i];
        uint32_t u[4];
        /* by sentence and row: no token's draw depends on which others are predicted */
        rng_block(key, m->input.sample[row], (uint32_t)m->input.drop[row], u);
        if ((double)u[0] >= o->prob * 4294967296.0) continue;
        if (token_pairs_count(o->pairs, m->original[row], m->input.lang[row])) {
            translate(o, b, i, u);
            continue;
        }
        /* MLM may have put <mask> or a random word there */
        m->input.token[row] = (int32_t)m->original[row];
        m->masked[i] = false;
    }
    return 0;
}

static int loss(void *self, void *batch, struct pass *p, float scale)
{
    const struct dict_batch *b = batch;
    int masked = 0;
    (void)self;
    masked_loss(&b->m, p, "dict", scale, NULL);
    for (int i = 0; i < b->m.n && !p->planning; i++) masked += b->m.masked[i];
    pass_number(p, "switched", b->switched, b->m.n);
    pass_number(p, "masked", masked, b->m.n);
    return 0;
}

static int validate(void *self, struct pass *p, struct report *r)
{
    return objective_mlm.validate(self, p, r);
}

static double epoch(const void *self) { return objective_mlm.epoch(self); }

static void close(void *self)
{
    struct dict *o = self;
    objective_mlm.close(self);
    token_pairs_free(o->pairs);
    o->pairs = NULL;
}

const struct objective objective_dict = {
    .name = "dict",
    .about = "predict tokens of text, some of which read their translation (DICT-MLM)",
    .used_by = OBJECTIVE_PRETRAIN,
    .dict = true,
    .valid_as = "mlm",
    .self = sizeof(struct dict),
    .batch = &kind,
    .options = rows,
    .defaults = defaults,
    .open = open,
    .make = make,
    .loss = loss,
    .validate = validate,
    .epoch = epoch,
    .close = close
};
