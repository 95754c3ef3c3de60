/* Translation language modelling (Conneau and Lample 2019): masked tokens of a sentence pair,
 * either side of which sees the other.
 *
 *   xlm   <s> x </s> <s> y </s>, positions restart in y; the languages tell the two apart
 *
 *   ppa   <s> x </s> y </s>, positions run on, token types 0 and 1 (Pan et al. 2021, section 2.2,
 *         as BERT writes pairs) */
#include <math.h>
#include "common/err.h"
#include "common/msg.h"
#include "lib/batch/masked.h"
#include "lib/data/pair_pool.h"

enum form { FORM_XLM, FORM_PPA };
enum order { ORDER_FIXED, ORDER_TOSS };

struct tlm {
    /* first: batch_masked takes this for what its objectives begin with */
    struct masked_self m;
    enum form form;
    enum order order;
    int positions;
    bool types;
};

static const struct opt options[] = {
    { "tlm-form", 0, OPT_CHOICE(tlm, form), "xlm|ppa",
      "xlm: <s> x </s> <s> y </s>, positions restart; ppa: <s> x </s> y </s>, positions run on, "
      "token types tell the sides apart" },
    { "tlm-order", 0, OPT_CHOICE(tlm, order), "fixed|toss",
      "which side of a pair comes first: always the one named first, or one at random" },
    { 0 }
};

/* Rows of a pair; whether the model's positions hold it. */
static bool fits_positions(const struct tlm *o, const struct pair *p)
{
    if (o->m.s.segment) return p->n[0] <= o->m.s.segment && p->n[1] <= o->m.s.segment;
    /* one run of positions over both sides; XLM's restart, so each side needs its own only */
    if (o->form == FORM_PPA) return p->n[0] + p->n[1] + 3 <= o->positions;
    return p->n[0] + 2 <= o->positions && p->n[1] + 2 <= o->positions;
}

static void add(const struct tlm *o, struct masked *b, const struct pair *p, uint64_t number,
                struct rng_key key)
{
    static const uint32_t bos = VOCAB_BOS, eos = VOCAB_EOS;
    /* XLM restarts positions, so that a word and its translation have nearly the same one; BERT's
     * form runs on, and token types tell the sides apart. */
    int n = p->n[0], at = o->form == FORM_PPA ? n + 2 : 1, type = o->form == FORM_PPA && o->types;
    struct batch_part parts[6] = { { &bos, 1, p->lang[0], 0, 0 },
                                   { p->ids[0], n, p->lang[0], 0, 1 },
                                   { &eos, 1, p->lang[0], 0, n + 1 } };
    int k = 3;
    if (o->m.s.segment) {          /* sentences with their <s> and </s>, positions restart */
        struct batch_part sides[2] = { { p->ids[0], n, p->lang[0], 0, 0 },
                                       { p->ids[1], p->n[1], p->lang[1], 0, 0 } };
        masked_add(b, &o->m.masker, sides, 2, number, key);
        return;
    }
    if (o->form == FORM_XLM) parts[k++] = (struct batch_part){ &bos, 1, p->lang[1], 0, 0 };
    parts[k++] = (struct batch_part){ p->ids[1], p->n[1], p->lang[1], type, at };
    parts[k++] = (struct batch_part){ &eos, 1, p->lang[1], type, at + p->n[1] };
    masked_add(b, &o->m.masker, parts, k, number, key);
}

/* As PPA has it, where translations are aligned by it. */
static void presets(void *self, unsigned used_by)
{
    struct tlm *o = self;
    if (!(used_by & OBJECTIVE_ALIGN)) return;
    o->form = FORM_PPA;
    o->order = ORDER_TOSS;
}

/* Says which pairs are too long together, though neither side is (inputs_setup tells of those). */
static void note_too_long(const struct tlm *o)
{
    const struct setup *s = &o->m.s;
    for (int i = 0; i < s->n_pairs && !s->pool; i++) {
        double n = 0, all = s->pairs[i].side[0].sentences;
        for (uint32_t k = 0; k < s->pairs[i].side[0].sentences; k++) {
            struct pair p = pair_at(&s->pairs[i], k);
            n += p.n[0] <= s->longest && p.n[1] <= s->longest && !fits_positions(o, &p);
        }
        if (n > 0)
            msg_note("tlm: %s: left out %.0f of %.0f pairs (%.1f%%), of more than %d tokens "
                     "together (--positions)", s->pairs[i].name, n, all, 100 * n / all,
                     o->positions - 3);
    }
}

/* Is it learnt from: neither empty nor too long? */
static bool fits(const struct tlm *o, const struct pair *p)
{
    int most = o->m.s.segment ? o->m.s.segment : o->m.s.longest;
    return p->n[0] >= 1 && p->n[1] >= 1 && p->n[0] <= most && p->n[1] <= most
           && fits_positions(o, p);
}

/* A batch of the validation pairs v from *i on; false at their end. Masks are from key 0: the same
 * in every run. */
static bool next_valid(const struct tlm *o, const struct pairs *v, struct masked *b, uint32_t *i)
{
    uint32_t end = v->side[0].sentences;
    if (o->m.s.valid_sentences > 0 && (uint32_t)o->m.s.valid_sentences < end)
        end = (uint32_t)o->m.s.valid_sentences;
    if (*i >= end) return false;
    masked_clear(b);
    for (; *i < end && b->input.rows < o->m.s.tokens; ++*i) {
        struct pair p = pair_at(v, *i);
        if (fits(o, &p)) add(o, b, &p, *i, (struct rng_key){ 0, RNG_MASK, 0 });
    }
    return true;
}

/* Would anything of these validation pairs be predicted? */
static int check_valid(const struct tlm *o, const struct pairs *v)
{
    struct masked b = { 0 };
    int n = 0;
    for (uint32_t i = 0; !n && next_valid(o, v, &b, &i); ) n = b.n;
    masked_free(&b);
    return n ? 0
             : err_set("%s: no token of its validation pairs would be predicted (%g of the tokens "
                       "of pairs that are neither empty nor too long); give more of them or raise "
                       "--mask-prob", v->name, o->m.masker.how.select);
}

static int open(void *self, struct setup *s)
{
    struct tlm *o = self;
    o->m.s = *s;
    /* two <s> and two </s> at most; joined pairs have theirs in place */
    o->m.longest = s->pool ? s->pool->longest_pair + 4
                   : s->segment ? 2 * s->segment : 2 * s->longest + 4;
    o->positions = s->c->positions;
    o->types = s->c->token_types > 1;
    if (masked_masker_open(&o->m.masker, s) < 0) return -1;
    if (s->segment && o->form == FORM_PPA)
        return err_set("--segment joins pairs as --tlm-form xlm has them, not ppa");
    if (o->form == FORM_PPA) note_too_long(o);
    for (int i = 0; i < s->n_valid_pairs; i++)
        if (check_valid(o, &s->valid_pairs[i]) < 0) return -1;
    return s->n_pairs ? 0
                      : err_set("objective tlm needs sentence pairs: --parallel SRC-TGT=FILE,FILE");
}

/* The next pair that fits the positions, too. */
static int next(struct tlm *o, struct pairs *from, uint64_t seed, struct pair *p)
{
    int longest = o->m.s.segment ? o->m.s.segment : o->m.s.longest;
    /* Two epochs of the stream at most: where none of the pairs fits, it would be read for ever. */
    for (uint64_t tried = 0; tried < 2 * (uint64_t)from->side[0].sentences; tried++) {
        if (pairs_next(from, seed, longest, p) < 0) return -1;
        if (!fits_positions(o, p)) continue;
        if (o->order == ORDER_TOSS) *p = pair_toss(*p, seed);
        return 0;
    }
    return err_set("%s: no pair of sentences fits %d positions", from->name, o->positions);
}

/* The highest bit keeps the draws apart from those of sentences of text, which count from 0. */
static uint64_t sample_of(const struct masked *b, const struct turn *at)
{
    return UINT64_C(1) << 63 | (uint64_t)at->micro << 16 | (uint64_t)b->input.n;
}

/* The pairs that other objectives see in this turn, too. */
static int make_pooled(const struct tlm *o, struct masked *b, const struct turn *at)
{
    struct pair_pool *pool = o->m.s.pool;
    const struct pair *p = pair_pool_take(pool, at->micro, at->seed);
    bool toss = pool->limits.shuffle && o->order == ORDER_TOSS;
    for (int i = 0; i < pool->batch; i++) {
        struct pair x = toss ? pair_toss(p[i], at->seed) : p[i];
        add(o, b, &x, sample_of(b, at), turn_key(at, RNG_MASK));
    }
    return 0;
}

static int make(void *self, void *batch, const void *host_batch, const struct turn *at)
{
    struct tlm *o = self;
    struct masked *b = batch;
    struct pair p;
    (void)host_batch;
    masked_clear(b);
    if (o->m.s.pool) return make_pooled(o, b, at);
    /* one set of pairs per micro-batch, in turn: a batch has two languages */
    while (o->m.s.sentences ? b->input.n < o->m.s.sentences : b->input.rows < o->m.s.tokens) {
        if (next(o, &o->m.s.pairs[at->micro % o->m.s.n_pairs], at->seed, &p) < 0) return -1;
        add(o, b, &p, sample_of(b, at), turn_key(at, RNG_MASK));
    }
    return 0;
}

static int validate(void *self, struct pass *p, struct report *r)
{
    struct tlm *o = self;
    struct masked b = { 0 };
    double total = 0;
    int rc = 0, n = o->m.s.n_valid_pairs;
    for (int i = 0; i < n && rc == 0; i++) {
        struct masked_score x = { 0 };
        for (uint32_t k = 0; rc == 0 && next_valid(o, &o->m.s.valid_pairs[i], &b, &k); )
            rc = masked_score(&b, p, &x);
        total += masked_report(&x, o->m.s.valid_pairs[i].name, r) / n;
    }
    masked_free(&b);
    if (rc == 0 && n) report_judge(r, total);
    return rc;
}

static double epoch(const void *self)
{
    const struct tlm *o = self;
    double n = 0, rows = 0;
    /* The pairs are counted as they are learnt from, with the rows of <s> and </s>. */
    for (int i = 0; i < o->m.s.n_pairs; i++)
        for (uint32_t k = 0; k < o->m.s.pairs[i].side[0].sentences; k++) {
            struct pair p = pair_at(&o->m.s.pairs[i], k);
            if (!fits(o, &p)) continue;
            n += 1;
            rows += p.n[0] + p.n[1] + (o->m.s.segment ? 0 : o->form == FORM_PPA ? 3 : 4);
        }
    return o->m.s.sentences ? n / o->m.s.sentences : rows / o->m.s.tokens;
}

static void close(void *self) { masked_masker_free(&((struct tlm *)self)->m.masker); }

const struct objective objective_tlm = {
    .name = "tlm",
    .about = "predict masked tokens of sentence pairs",
    .used_by = OBJECTIVE_PRETRAIN | OBJECTIVE_ALIGN,
    .pairs = true,
    .self = sizeof(struct tlm),
    .batch = &batch_masked,
    .options = options,
    .presets = presets,
    .open = open,
    .make = make,
    .valid_pairs = true,
    .validate = validate,
    .epoch = epoch,
    .close = close
};
