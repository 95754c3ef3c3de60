#include "lib/objective/translation.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "lib/engine/ahead.h"
#include "lib/engine/write_batches.h"

/* One micro-batch of translation: sources with <s> </s>, decoder inputs "<s> y", targets "y </s>". */
struct mt_batch {
    struct batch src, dec;
    int32_t *target; size_t cap;
    uint32_t *buf; size_t buf_cap;
};

static void mt_clear(struct mt_batch *b) { batch_clear(&b->src); batch_clear(&b->dec); }
static void mt_free(struct mt_batch *b)
{
    batch_free(&b->src); batch_free(&b->dec);
    free(b->target); free(b->buf);
}

static void add_wrapped(struct mt_batch *b, struct batch *to, const uint32_t *ids, int n, bool end, int lang, uint64_t number)
{
    mem_room(&b->buf, &b->buf_cap, (size_t)n + 2, sizeof *b->buf);
    b->buf[0] = VOCAB_BOS;
    if (n) memcpy(b->buf + 1, ids, (size_t)n * sizeof *ids);
    b->buf[n + 1] = VOCAB_EOS;
    batch_add(to, b->buf, n + 1 + end, lang, number);
}

static void mt_add(struct mt_batch *b, const uint32_t *x, int nx, int src_lang, const uint32_t *y, int ny, int tgt_lang, uint64_t number)
{
    add_wrapped(b, &b->src, x, nx, true, src_lang, number);
    int first = b->dec.rows;
    add_wrapped(b, &b->dec, y, ny, false, tgt_lang, number);
    mem_room(&b->target, &b->cap, (size_t)b->dec.rows, sizeof *b->target);
    for (int i = 0; i < ny; i++) b->target[first + i] = (int32_t)y[i];
    b->target[first + ny] = VOCAB_EOS;
}

static const uint8_t *allowed_words(const struct translation *x, int lang)
{
    return x->mask_vocab ? x->m->seen[lang] : NULL;
}

/* Forward and backward of one micro-batch; gradients of scale * mean smoothed cross entropy are added. Returns plain -log p of the
 * target tokens [b->dec.rows], on the device until the tape's next reset. */
static const float *mt_pass(struct translation *x, const struct mt_batch *b, float scale)
{
    struct tape *t = x->t;
    struct model *m = x->m;
    int M = b->dec.rows, lang = b->dec.n ? b->dec.lang[0] : 0;
    struct dev_batch src = batch_upload(t, &b->src), dec = batch_upload(t, &b->dec);
    struct var *memory = model_encode(m, t, &src);
    struct var *h = model_output(m, t, model_decode(m, t, &dec, memory, &src.spans));
    uint8_t *allowed = NULL;
    if (allowed_words(x, lang)) {
        uint8_t *mask = decode_mask(m->c.vocab, m->seen[lang]);
        allowed = tape_bytes(t, mask, (size_t)m->c.vocab);
        free(mask);
    }
    struct xent e = tape_xent(t, h, m->tokens, m->output_bias, tape_int32(t, b->target, (size_t)M), NULL, allowed,
                              (float)x->smoothing, M ? scale / (float)M : 0);
    tape_backward(t);
    return e.nll;
}

/* --- one step's batches --- */

static int make_pairs(struct translation *x, struct pairs *p, int set, struct mt_batch *b, uint64_t step)
{
    mt_clear(b);
    for (uint64_t tried = 0; b->src.rows + b->dec.rows < 2 * x->tokens; ) {
        if (p->next >= p->side[0].sentences) { p->epoch++; p->next = 0; }
        if (p->order_epoch != p->epoch) {
            if (!p->order) p->order = mem_alloc((size_t)p->side[0].sentences * sizeof *p->order);
            struct rng_key key = { x->seed, RNG_ORDER, (uint32_t)(1000 + set) };
            rng_permutation(key, (uint64_t)p->epoch, p->order, p->side[0].sentences);
            p->order_epoch = p->epoch;
        }
        uint32_t i = p->order[p->next++];
        const struct shard_block *s = &p->side[0], *t = &p->side[1];
        int ns = (int)(s->at[i + 1] - s->at[i]), nt = (int)(t->at[i + 1] - t->at[i]);
        if (ns < 1 || nt < 1 || ns > x->longest || nt > x->longest) {
            if (++tried >= 2 * (uint64_t)p->side[0].sentences) return err_set("%s: no pair of sentences has from 1 to %d tokens on both sides", p->name, x->longest);
            continue;
        }
        tried = 0;
        mt_add(b, s->ids + s->at[i], ns, p->lang[0], t->ids + t->at[i], nt, p->lang[1], step << 16 | (uint64_t)b->src.n);
    }
    return 0;
}

static int make_denoise(struct translation *x, int corpus, struct mt_batch *b, struct rng_key key)
{
    struct sample s;
    uint32_t *noisy = mem_alloc((size_t)x->longest * sizeof *noisy);
    int rc = 0;
    mt_clear(b);
    while (rc == 0 && b->src.rows + b->dec.rows < 2 * x->denoise_tokens) {
        if ((rc = corpora_next_of(x->mono, corpus, x->longest, &s)) < 0) break;
        int n = noise(s.ids, s.n, noisy, &x->noise, key, s.number);
        mt_add(b, noisy, n, s.lang, s.ids, s.n, s.lang, s.number);
    }
    free(noisy);
    return rc;
}

/* Real sentences of a language, to be translated. */
static int make_real(struct translation *x, int corpus, struct mt_batch *b)
{
    struct sample s;
    mt_clear(b);
    while (b->src.rows < x->tokens) {
        if (corpora_next_of(x->mono, corpus, x->longest, &s) < 0) return -1;
        add_wrapped(b, &b->src, s.ids, s.n, true, s.lang, s.number);
    }
    return 0;
}

/* The pairs (translation, real sentence) to learn from: b has real sentences in src, and their translations into language `src` by the
 * model as it is are put before them. */
static int translate_back(struct translation *x, int src, const struct mt_batch *real, struct mt_batch *b)
{
    struct hyps h;
    struct decode_options o;
    decode_options_init(&o);
    o.seen = allowed_words(x, src);
    if (decode(x->m, x->t, &real->src, src, &o, &h) < 0) return -1;
    mt_clear(b);
    for (int i = 0; i < real->src.n; i++) {
        const struct hyp *y = &h.hyp[i];
        int at = real->src.at[i], n = y->n < x->longest ? y->n : x->longest;
        mt_add(b, y->ids, n, src, (const uint32_t *)real->src.token + at + 1, real->src.len[i] - 2, real->src.lang[at], real->src.sample[at]);
    }
    hyps_free(&h);
    return 0;
}

/* --- the training stream, on a thread of its own --- */

enum kind { PAIRS, DENOISE, REAL, KINDS };
struct stream { struct translation *x; int64_t turn, end; int kind, accumulate; struct mt_batch item[AHEAD_ITEMS]; };

/* Does micro-batch `turn` of the run have this kind? */
static bool takes_part(const struct translation *x, enum kind kind, int64_t step)
{
    bool from_pairs = !x->mono || step < x->pseudo_steps;
    if (kind == PAIRS) return from_pairs && x->n_train;
    if (kind == DENOISE) return x->mono && ramp_value(&x->denoise, step) > 0;
    return !from_pairs;
}

static int make_batch(void *ctx, void *item)
{
    struct stream *s = ctx;
    struct translation *x = s->x;
    for (; s->turn < s->end; s->turn++, s->kind = 0) {
        int64_t step = s->turn / s->accumulate;
        while (s->kind < KINDS && !takes_part(x, (enum kind)s->kind, step)) s->kind++;
        if (s->kind == KINDS) continue;
        int set = x->n_train ? (int)(s->turn % x->n_train) : 0, rc = 0;
        int to = x->mono ? x->dir[s->turn % x->n_dir].tgt : 0;
        struct rng_key noise_key = { x->seed, RNG_NOISE, (uint32_t)(step + 1) };           /* as trainer_key */
        switch ((enum kind)s->kind++) {
        case PAIRS: rc = make_pairs(x, &x->train[set], set, item, (uint64_t)s->turn); break;
        case DENOISE: rc = make_denoise(x, to, item, noise_key); break;
        default: rc = make_real(x, to, item); break;
        }
        return rc < 0 ? -1 : 1;
    }
    return 0;
}

static struct mt_batch *next_batch(struct ahead *a)
{
    bool failed;
    struct mt_batch *b = ahead_next(a, &failed);
    if (!b && !failed) err_set("the data ended before the run");
    return b;
}

/* --- training --- */

/* Micro-batch a (from 0) of the step under way. */
static int write_batch(const struct translation *x, const struct trainer *tr,
                       const struct mt_batch *b, int a, const char *objective, double weight)
{
    struct batch_file f = { 0 };
    batch_file_rows(&f, "src.", &b->src);
    batch_file_rows(&f, "dec.", &b->dec);
    batch_file_int32(&f, "target", b->target, b->dec.rows, 1);
    if (b->dec.n && allowed_words(x, b->dec.lang[0])) {
        const uint8_t *words = allowed_words(x, b->dec.lang[0]);
        uint8_t *allowed = decode_mask(x->m->c.vocab, words);
        batch_file_bytes(&f, "allowed_token", allowed, x->m->c.vocab);
        free(allowed);
    }
    batch_file_scalar(&f, "smoothing", x->smoothing);
    batch_file_scalar(&f, "weight", weight);
    return batch_file_write(&f, tr->o.write_batches, tr->step + 1, a + 1, objective);
}

/* One objective's share of micro-batch a of a step. */
static int learn(struct translation *x, struct trainer *tr, const struct mt_batch *b, int a,
                 const char *what, float scale, uint32_t objective, int64_t *tokens)
{
    if (!b) return -1;
    if (tr->o.write_batches && write_batch(x, tr, b, a, what, (double)scale) < 0) return -1;
    tape_reset(x->t, true);
    x->t->drop.key = trainer_key(tr, x->seed + objective, RNG_DROPOUT);
    *tokens += b->src.rows + b->dec.rows;
    return trainer_sum(tr, what, mt_pass(x, b, scale), b->dec.rows);
}

/* `back` is memory for back-translations. */
static int one_step(struct translation *x, struct trainer *tr, struct ahead *data, struct mt_batch *back)
{
    int64_t tokens = 0;
    float scale = 1.0f / (float)tr->o.accumulate;
    for (int a = 0; a < tr->o.accumulate; a++) {
        int64_t turn = tr->step * tr->o.accumulate + a;
        const char *pairs = x->mono ? "pseudo" : "mt";
        float denoise = scale * (float)ramp_value(&x->denoise, tr->step);
        if (takes_part(x, PAIRS, tr->step)
            && learn(x, tr, next_batch(data), a, pairs, scale, 0, &tokens) < 0) return -1;
        if (takes_part(x, DENOISE, tr->step)
            && learn(x, tr, next_batch(data), a, "denoise", denoise, 1, &tokens) < 0) return -1;
        if (!takes_part(x, REAL, tr->step)) continue;
        const struct mt_batch *real = next_batch(data);
        int src = x->mono->c[x->dir[turn % x->n_dir].src].lang_id;
        if (!real || translate_back(x, src, real, back) < 0
            || learn(x, tr, back, a, "back", scale, 2, &tokens) < 0) return -1;
    }
    return trainer_update(tr, tokens);
}

static int validate(struct translation *x, struct trainer *tr)
{
    double bleu = 0, round_trip = 0;
    log_begin(tr->log, "valid", tr->step);
    for (int i = 0; i < x->n_valid; i++) {
        struct translation_quality q;
        const char *name = x->valid[i].name;
        char key[128];
        if (translation_measure(x, &x->valid[i], x->mono != NULL, &q) < 0) return -1;
#define PUT(field) (snprintf(key, sizeof key, "%s.%s", name, #field), log_real(tr->log, key, q.field))
        PUT(bleu); PUT(copied); PUT(length_ratio); PUT(distinct); PUT(vocabulary);
        if (x->mono) PUT(round_trip);
#undef PUT
        bleu += q.bleu / x->n_valid;
        round_trip += q.round_trip / x->n_valid;
    }
    log_real(tr->log, "bleu", bleu);
    if (log_end(tr->log) < 0) return -1;
    return trainer_judge(tr, x->by_round_trip ? round_trip : bleu);
}

int translation_run(struct translation *x, struct trainer *tr)
{
    struct stream s = { .x = x, .turn = tr->step * tr->o.accumulate, .end = tr->o.steps * tr->o.accumulate, .accumulate = tr->o.accumulate };
    struct ahead_source from = { .make = make_batch, .ctx = &s };
    struct mt_batch back = { 0 };
    for (int i = 0; i < AHEAD_ITEMS; i++) from.item[i] = &s.item[i];
    struct ahead *data = ahead_start(&from, tr);
    int rc = data ? 0 : -1;
    x->t->p_drop = x->m->c.dropout;
    x->t->p_attn = x->m->c.attention_dropout;
    while (rc == 0 && trainer_go(tr)) {
        rc = one_step(x, tr, data, &back);
        if (rc == 0 && x->n_valid && trainer_due(tr)) rc = validate(x, tr);
        if (rc == 0) rc = trainer_tick(tr);
    }
    ahead_stop(data);
    for (int i = 0; i < AHEAD_ITEMS; i++) mt_free(&s.item[i]);
    mt_free(&back);
    return rc;
}

/* --- memory --- */

static int sentence_length(const struct shard_block *b, uint32_t i) { return (int)(b->at[i + 1] - b->at[i]); }

static int longest_of(const struct shard_block *b, int longest)
{
    int most = 1;
    for (uint32_t i = 0; i < b->sentences; i++) {
        int n = sentence_length(b, i);
        if (n <= longest && n > most) most = n;
    }
    return most;
}

/* Tokens of a sentence on average, and of the longest one that is used, of the text that is trained on. */
static void lengths(const struct translation *x, int *usual, int *longest)
{
    double tokens = 0, sentences = 0;
    *longest = 1;
    for (int i = 0; x->mono && i < x->mono->n; i++) {
        const struct shard_block *b = &x->mono->c[i].all;
        int n = longest_of(b, x->longest);
        tokens += b->tokens; sentences += b->sentences;
        if (n > *longest) *longest = n;
    }
    for (int i = 0; i < x->n_train; i++)
        for (int side = 0; side < 2; side++) {
            const struct shard_block *b = &x->train[i].side[side];
            int n = longest_of(b, x->longest);
            tokens += b->tokens; sentences += b->sentences;
            if (n > *longest) *longest = n;
        }
    double n = sentences > 0 ? tokens / sentences : 1;
    *usual = n < 1 ? 1 : n > *longest ? *longest : (int)n;
}

/* What a plan works with: a model and a tape without memory, ids of any sentence, the largest batches so far. */
struct plan { struct translation *x; struct mt_batch b; uint32_t *ids; int usual, longest, rows, rows_out; };

static void plan_pass(struct plan *p)
{
    if (p->b.src.rows > p->rows) p->rows = p->b.src.rows;
    if (p->b.dec.rows > p->rows) p->rows = p->b.dec.rows;
    if (p->b.dec.rows > p->rows_out) p->rows_out = p->b.dec.rows;
    tape_reset(p->x->t, true);
    mt_pass(p->x, &p->b, 1);
}

/* A micro-batch of pairs, `tokens` a side. */
static void plan_pairs(struct plan *p, int tokens)
{
    mt_clear(&p->b);
    while (p->b.src.rows + p->b.dec.rows < 2 * tokens - 1) mt_add(&p->b, p->ids, p->usual, 0, p->ids, p->usual, 0, 0);
    mt_add(&p->b, p->ids, p->longest, 0, p->ids, p->longest, 0, 0);
    plan_pass(p);
}

/* Words of the longest translation of n words. */
static int longest_translation(const struct translation *x, const struct decode_options *o, int n)
{
    int y = (int)(o->max_ratio * n) + o->max_extra, most = x->m->c.positions - 1;
    return y < most ? y : most;
}

static int plan_decode(struct plan *p, const struct batch *src, const struct decode_options *o)
{
    struct hyps h;
    if (src->rows > p->rows) p->rows = src->rows;
    if (decode(p->x->m, p->x->t, src, 0, o, &h) < 0) return -1;
    hyps_free(&h);
    return 0;
}

/* Back-translation, and learning from translations that are as long as they may get: those of a decoder that has not learnt to end. */
static int plan_back(struct plan *p, int tokens)
{
    struct decode_options o;
    struct mt_batch real = { 0 };
    decode_options_init(&o);
    while (real.src.rows < tokens - 1) add_wrapped(&real, &real.src, p->ids, p->usual, true, 0, 0);
    add_wrapped(&real, &real.src, p->ids, p->longest, true, 0, 0);
    int rc = plan_decode(p, &real.src, &o);
    mt_clear(&p->b);
    for (int i = 0; i < real.src.n; i++) {
        int n = real.src.len[i] - 2, y = longest_translation(p->x, &o, n + 1);       /* one more: `usual` is rounded down, and batches vary */
        mt_add(&p->b, p->ids, y < p->x->longest ? y : p->x->longest, 0, p->ids, n, 0, 0);
    }
    mt_free(&real);
    if (rc == 0) plan_pass(p);
    return rc;
}

/* Validation's translations, of the text itself or (again) of translations of it that are as long as they may get. */
static int plan_valid(struct plan *p, const struct shard_block *b, int tokens, bool again)
{
    struct decode_options o;
    struct mt_batch v = { 0 };
    uint32_t n = b->sentences;
    int rc = 0, most = p->x->m->c.positions - 2;
    decode_options_init(&o);
    if (p->x->valid_sentences > 0 && n > (uint32_t)p->x->valid_sentences) n = (uint32_t)p->x->valid_sentences;
    for (uint32_t i = 0; i < n && rc == 0; ) {
        batch_clear(&v.src);
        for (; i < n && v.src.rows < tokens; i++) {
            int words = sentence_length(b, i);
            if (again) words = longest_translation(p->x, &o, words < most ? words : most);
            add_wrapped(&v, &v.src, p->ids, words < most ? words : most, true, 0, 0);
        }
        rc = plan_decode(p, &v.src, &o);
    }
    mt_free(&v);
    return rc;
}

int translation_plan(const struct translation *from, const struct model_config *c, const struct kernels *like, int tokens, bool recompute, struct memory_need *need)
{
    struct model m;
    struct tape t;
    struct translation x = *from;
    struct plan p = { .x = &x };
    int rc = 0;
    if (memory_plan_open(&m, &t, c, like) < 0) return -1;
    t.p_drop = c->dropout; t.p_attn = c->attention_dropout; t.recompute = recompute;
    x.m = &m; x.t = &t; x.mask_vocab = false;
    lengths(from, &p.usual, &p.longest);
    p.ids = mem_zero((size_t)c->positions, sizeof *p.ids);
    /* --denoise-tokens follows --tokens where it was not given */
    int denoise = from->denoise_tokens == from->tokens / 2 ? (tokens + 1) / 2 : from->denoise_tokens;
    if (from->n_train) plan_pairs(&p, tokens);
    if (from->mono) {
        plan_pairs(&p, denoise);
        rc = plan_back(&p, tokens);
    }
    for (int i = 0; i < from->n_valid && rc == 0; i++) {
        rc = plan_valid(&p, &from->valid[i].side[0], tokens, false);
        if (rc == 0 && from->mono) rc = plan_valid(&p, &from->valid[i].side[0], tokens, true);
    }
    struct kern_shape s = { p.rows, p.longest + 2, p.rows_out, c->dim, c->ffn, c->heads, c->vocab };
    memory_plan_close(&m, &t, like, &s, need);
    mt_free(&p.b);
    free(p.ids);
    return rc;
}
