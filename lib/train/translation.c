#include "lib/train/translation.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"

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

static const uint8_t *allowed_words(struct translation *x, int lang)
{
    return x->mask_vocab ? x->m->seen[lang] : NULL;
}

/* Forward and backward of one micro-batch; gradients of scale * mean smoothed cross entropy are added. *nll gets the sum of
 * plain -log p over the target tokens. */
static int mt_pass(struct translation *x, const struct mt_batch *b, bool train, float scale, double *nll)
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
    if (train) tape_backward(t);
    float *host = mem_alloc((size_t)M * sizeof *host);
    t->k->download(host, e.nll, (size_t)M * sizeof *host);
    *nll = 0;
    for (int i = 0; i < M; i++) *nll += host[i];
    free(host);
    return t->k->sync();
}

/* --- one step's batches --- */

static int next_pairs(struct translation *x, struct pairs *p, int set, struct mt_batch *b, uint64_t step)
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

static int next_denoise(struct translation *x, int corpus, struct mt_batch *b, struct rng_key key)
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

/* Real sentences of the target language, their translations into the source language by the model as it is, and the pairs
 * (translation, real sentence) to learn from. */
static int next_back_translation(struct translation *x, struct direction d, struct mt_batch *b)
{
    struct batch real = { 0 };
    struct sample s;
    struct hyps h;
    int tgt = x->mono->c[d.tgt].lang_id, src = x->mono->c[d.src].lang_id, rc = 0;
    mt_clear(b);
    while (real.rows < x->tokens) {
        if ((rc = corpora_next_of(x->mono, d.tgt, x->longest, &s)) < 0) break;
        mem_room(&b->buf, &b->buf_cap, (size_t)s.n + 2, sizeof *b->buf);
        b->buf[0] = VOCAB_BOS;
        memcpy(b->buf + 1, s.ids, (size_t)s.n * sizeof *b->buf);
        b->buf[s.n + 1] = VOCAB_EOS;
        batch_add(&real, b->buf, s.n + 2, tgt, s.number);
    }
    struct decode_options o;
    decode_options_init(&o);
    o.seen = allowed_words(x, src);
    if (rc == 0) rc = decode(x->m, x->t, &real, src, &o, &h);
    if (rc == 0) {
        for (int i = 0; i < real.n; i++) {
            const struct hyp *y = &h.hyp[i];
            uint32_t *ids = (uint32_t *)real.token + real.at[i] + 1;
            int n = y->n < x->longest ? y->n : x->longest;
            mt_add(b, y->ids, n, src, ids, real.len[i] - 2, tgt, real.sample[real.at[i]]);
        }
        hyps_free(&h);
    }
    batch_free(&real);
    return rc;
}

/* --- training --- */

/* One objective's share of a step. */
static int learn(struct translation *x, struct trainer *tr, struct mt_batch *b, const char *what, float scale, uint32_t objective, int64_t *tokens)
{
    double nll;
    tape_reset(x->t, true);
    x->t->drop.key = trainer_key(tr, x->seed + objective, RNG_DROPOUT);
    if (mt_pass(x, b, true, scale, &nll) < 0) return -1;
    trainer_term(tr, what, nll, b->dec.rows);
    *tokens += b->src.rows + b->dec.rows;
    return 0;
}

static int one_step(struct translation *x, struct trainer *tr, struct mt_batch *b)
{
    int64_t tokens = 0;
    float scale = 1.0f / (float)tr->o.accumulate;
    bool from_pairs = !x->mono || tr->step < x->pseudo_steps;
    for (int a = 0; a < tr->o.accumulate; a++) {
        int64_t turn = tr->step * tr->o.accumulate + a;
        if (from_pairs && x->n_train) {
            int set = (int)(turn % x->n_train);
            if (next_pairs(x, &x->train[set], set, b, (uint64_t)turn) < 0
                || learn(x, tr, b, x->mono ? "pseudo" : "mt", scale, 0, &tokens) < 0) return -1;
        }
        if (!x->mono) continue;
        struct direction d = x->dir[turn % x->n_dir];
        double w = ramp_value(&x->denoise, tr->step);
        if (w > 0 && (next_denoise(x, d.tgt, b, trainer_key(tr, x->seed, RNG_NOISE)) < 0
                      || learn(x, tr, b, "denoise", scale * (float)w, 1, &tokens) < 0)) return -1;
        if (!from_pairs && (next_back_translation(x, d, b) < 0 || learn(x, tr, b, "back", scale, 2, &tokens) < 0)) return -1;
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
    struct mt_batch b = { 0 };
    x->t->p_drop = x->m->c.dropout;
    x->t->p_attn = x->m->c.attention_dropout;
    int rc = 0;
    while (rc == 0 && trainer_go(tr)) {
        rc = one_step(x, tr, &b);
        if (rc == 0 && x->n_valid && trainer_due(tr)) rc = validate(x, tr);
        if (rc == 0) rc = trainer_tick(tr);
    }
    mt_free(&b);
    return rc;
}
