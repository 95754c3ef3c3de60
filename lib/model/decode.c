#include "lib/model/decode.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"

void decode_options_init(struct decode_options *o)
{
    *o = (struct decode_options){ .beam = 1, .n_best = 1, .length_penalty = 1, .max_ratio = 1.3, .max_extra = 5 };
}

void hyps_free(struct hyps *h)
{
    free(h->hyp); free(h->count); free(h->store);
    memset(h, 0, sizeof *h);
}

uint8_t *decode_mask(int vocab, const uint8_t *seen)
{
    uint8_t *a = mem_alloc((size_t)vocab);
    for (int v = 0; v < vocab; v++) a[v] = v >= VOCAB_SPECIALS ? !seen || seen[v] : v == VOCAB_EOS;
    return a;
}

/* --- the decoder, one token of each live hypothesis at a time --- */

/* A slot holds one hypothesis: its rows in every layer's cache are slot * T .. slot * T + steps. */
struct stepper {
    struct model *m;
    struct tape *t;
    int slots;
    int *start;                  /* [slots] a slot's first row in cache: it has as many as its sentence may get words, and one */
    act **cache;                 /* a layer: [rows of all slots, 2D] keys and values of the target side */
    act **memory;                /* a layer: [source rows, 2D] keys and values of the source side */
    act *x, *y, *qkv, *a, *f, *logits;
    int32_t *token, *pos, *lang, *row, *one, *k_at, *k_len, *src_at, *src_len, *iota;   /* [slots] */
    float *val, *lse;
    int32_t *idx;
    int max_src;
};

static act *dev(struct stepper *s, int rows, int cols)
{
    return tape_alloc(s->t, (size_t)rows * (size_t)cols * s->t->k->act_size);
}
static float *P(struct stepper *s, int i) { return param_value(&s->m->ps, i); }
static act *col(struct stepper *s, act *p, int c) { return (char *)p + (size_t)c * s->t->k->act_size; }

/* start [slots] becomes the stepper's. */
static void stepper_init(struct stepper *s, struct model *m, struct tape *t, struct var *memory, const struct spans *src,
                         int slots, int *start, int rows, int k)
{
    const struct model_config *c = &m->c;
    int D = c->dim, L = m->dec.n;
    *s = (struct stepper){ .m = m, .t = t, .slots = slots, .start = start, .max_src = src->max };
    s->cache = mem_zero((size_t)L, sizeof *s->cache);
    s->memory = mem_zero((size_t)L, sizeof *s->memory);
    for (int i = 0; i < L; i++) {
        const struct layer_i *l = &m->dec.layer[i];
        s->cache[i] = dev(s, rows, 2 * D);
        s->memory[i] = dev(s, memory->rows, 2 * D);
        t->k->linear_fwd(s->memory[i], NULL, memory->v, P(s, l->cross_kv.W), P(s, l->cross_kv.b), KERN_NONE, memory->rows, D, 2 * D);
    }
    s->x = dev(s, slots, D); s->y = dev(s, slots, D); s->a = dev(s, slots, D);
    s->qkv = dev(s, slots, 3 * D); s->f = dev(s, slots, c->ffn); s->logits = dev(s, slots, c->vocab);
    int32_t **ints[] = { &s->token, &s->pos, &s->lang, &s->row, &s->one, &s->k_at, &s->k_len, &s->src_at, &s->src_len, &s->iota };
    for (size_t i = 0; i < sizeof ints / sizeof *ints; i++) *ints[i] = tape_alloc(t, (size_t)slots * sizeof(int32_t));
    int32_t *h = mem_alloc((size_t)slots * sizeof *h);
    for (int i = 0; i < slots; i++) h[i] = i;
    t->k->upload(s->iota, h, (size_t)slots * sizeof *h);
    for (int i = 0; i < slots; i++) h[i] = 1;
    t->k->upload(s->one, h, (size_t)slots * sizeof *h);
    free(h);
    s->val = tape_alloc(t, (size_t)slots * (size_t)k * sizeof(float));
    s->idx = tape_alloc(t, (size_t)slots * (size_t)k * sizeof(int32_t));
    s->lse = tape_alloc(t, (size_t)slots * sizeof(float));
}

static void stepper_free(struct stepper *s) { free(s->cache); free(s->memory); free(s->start); }

/* x = LN(x + u) (post-norm), or x += u, y = LN(x) with the following norm (pre-norm). */
static void step_residual(struct stepper *s, int B, struct linear_i post, struct linear_i pre_next)
{
    const struct kernels *k = s->t->k;
    int D = s->m->c.dim;
    float eps = s->m->c.norm_eps;
    if (s->m->c.pre_norm) {
        k->add(s->x, s->y, (size_t)B * (size_t)D);
        k->norm_fwd(s->y, NULL, NULL, NULL, s->x, NULL, P(s, pre_next.W), P(s, pre_next.b), NULL, eps, B, D);
    } else {
        k->add(s->x, s->y, (size_t)B * (size_t)D);
        k->norm_fwd(s->y, NULL, NULL, NULL, s->x, NULL, P(s, post.W), P(s, post.b), NULL, eps, B, D);
        k->copy(s->x, s->y, (size_t)B * (size_t)D * k->act_size);
    }
}

/* Runs one token for B hypotheses. Hypothesis i lives in slot[i], reads token[i], is at position pos (the same for all) and
 * attends to src_len[i] source rows from src_at[i]. Leaves the k best words of each in val, idx [B, k] and lse [B] (host). */
static void step(struct stepper *s, int B, const int32_t *slot, const int32_t *token, int pos, const int32_t *src_at,
                 const int32_t *src_len, int lang, const uint8_t *allowed, int k_best, float *val, int32_t *idx, float *lse)
{
    const struct kernels *k = s->t->k;
    struct model *m = s->m;
    const struct model_config *c = &m->c;
    int D = c->dim, E = model_embed_dim(c), H = c->heads;
    size_t ints = (size_t)B * sizeof(int32_t);
    int32_t *h = mem_alloc(5 * ints);
    for (int i = 0; i < B; i++) {
        h[i] = s->start[slot[i]];
        h[B + i] = s->start[slot[i]] + pos;
        h[2 * B + i] = pos + 1;
        h[3 * B + i] = pos;
        h[4 * B + i] = lang;
    }
    k->upload(s->token, token, ints);
    k->upload(s->k_at, h, ints);
    k->upload(s->row, h + B, ints);
    k->upload(s->k_len, h + 2 * B, ints);
    k->upload(s->pos, h + 3 * B, ints);
    k->upload(s->lang, h + 4 * B, ints);
    free(h);
    k->upload(s->src_at, src_at, ints);
    k->upload(s->src_len, src_len, ints);
    k->embed_fwd(s->y, s->token, s->pos, s->lang, P(s, m->tokens), P(s, m->dec.positions), P(s, m->dec.languages), c->scale_embed, B, E);
    if (m->dec.embed_norm.W >= 0) k->norm_fwd(s->x, NULL, NULL, NULL, s->y, NULL, P(s, m->dec.embed_norm.W), P(s, m->dec.embed_norm.b), NULL, c->norm_eps, B, E);
    else k->copy(s->x, s->y, (size_t)B * (size_t)E * k->act_size);
    if (m->dec.project.W >= 0) {
        k->linear_fwd(s->y, NULL, s->x, P(s, m->dec.project.W), P(s, m->dec.project.b), KERN_NONE, B, E, D);
        k->copy(s->x, s->y, (size_t)B * (size_t)D * k->act_size);
    }
    act *in = s->x;
    if (c->pre_norm) {
        k->norm_fwd(s->y, NULL, NULL, NULL, s->x, NULL, P(s, m->dec.layer[0].attn_norm.W), P(s, m->dec.layer[0].attn_norm.b), NULL, c->norm_eps, B, D);
        in = s->y;
    }
    struct kern_attn self = { .batch = B, .heads = H, .dim = D / H, .ldq = 3 * D, .ldk = 2 * D, .ldv = 2 * D, .ldo = D,
        .q_at = s->iota, .q_len = s->one, .k_at = s->k_at, .k_len = s->k_len, .max_q = 1, .max_k = pos + 1, .rows_q = B,
        .causal = false, .scale = 1.0f / sqrtf((float)(D / H)) };
    struct kern_attn cross = self;
    cross.ldq = D; cross.k_at = s->src_at; cross.k_len = s->src_len; cross.max_k = s->max_src;
    for (int i = 0; i < m->dec.n; i++) {
        const struct layer_i *l = &m->dec.layer[i];
        struct linear_i next = i + 1 < m->dec.n ? m->dec.layer[i + 1].attn_norm : m->dec.norm;
        k->linear_fwd(s->qkv, NULL, in, P(s, l->qkv.W), P(s, l->qkv.b), KERN_NONE, B, D, 3 * D);
        k->scatter(s->cache[i], 2 * D, false, col(s, s->qkv, D), 3 * D, s->row, B, 2 * D);
        k->attn_fwd(s->a, NULL, s->qkv, s->cache[i], col(s, s->cache[i], D), &self, NULL);
        k->linear_fwd(s->y, NULL, s->a, P(s, l->out.W), P(s, l->out.b), KERN_NONE, B, D, D);
        step_residual(s, B, l->attn_norm, l->cross_norm);
        k->linear_fwd(s->qkv, NULL, s->y, P(s, l->cross_q.W), P(s, l->cross_q.b), KERN_NONE, B, D, D);
        k->attn_fwd(s->a, NULL, s->qkv, s->memory[i], col(s, s->memory[i], D), &cross, NULL);
        k->linear_fwd(s->y, NULL, s->a, P(s, l->cross_out.W), P(s, l->cross_out.b), KERN_NONE, B, D, D);
        step_residual(s, B, l->cross_norm, l->ffn_norm);
        k->linear_fwd(s->f, NULL, s->y, P(s, l->in.W), P(s, l->in.b), c->activation, B, D, c->ffn);
        k->linear_fwd(s->y, NULL, s->f, P(s, l->ff.W), P(s, l->ff.b), KERN_NONE, B, c->ffn, D);
        step_residual(s, B, l->ffn_norm, next);
        in = s->y;
    }
    act *out = s->y;
    if (m->output_dense.W >= 0) k->linear_fwd(out = s->a, NULL, s->y, P(s, m->output_dense.W), P(s, m->output_dense.b), KERN_NONE, B, D, E);
    k->linear_fwd(s->logits, NULL, out, P(s, m->tokens), P(s, m->output_bias), KERN_NONE, B, E, c->vocab);
    k->topk(s->val, s->idx, s->lse, s->logits, allowed, B, c->vocab, k_best);
    k->download(val, s->val, (size_t)B * (size_t)k_best * sizeof *val);
    k->download(idx, s->idx, (size_t)B * (size_t)k_best * sizeof *idx);
    k->download(lse, s->lse, (size_t)B * sizeof *lse);
}

/* --- the search --- */

enum { BEAM_MAX = 32 };

struct node { int parent; uint32_t word; };                 /* a word of a prefix; parent -1: the first */
struct live { int slot, node, n; double log_p; };           /* a hypothesis under way of n words */
struct done { int node, n; double score, log_p; };
struct sentence {
    struct live live[BEAM_MAX]; int n_live;
    struct done done[BEAM_MAX]; int n_done;                 /* best first */
    int first_slot, max_len;
};
struct search {
    struct stepper st;
    const struct decode_options *o;
    const uint8_t *allowed;                                 /* [vocab], device */
    struct sentence *s; int n;
    struct node *node; int n_node;
    size_t node_cap;
};

/* Keeps a finished hypothesis if it is among the beam best. */
static void finish(struct sentence *s, const struct decode_options *o, int node, int n, double log_p)
{
    double score = log_p / pow(n + 1, o->length_penalty);
    int at = s->n_done;
    while (at > 0 && s->done[at - 1].score < score) at--;
    if (at == o->beam) return;
    if (s->n_done < o->beam) s->n_done++;
    memmove(s->done + at + 1, s->done + at, (size_t)(s->n_done - 1 - at) * sizeof *s->done);
    s->done[at] = (struct done){ node, n, score, log_p };
}

struct candidate { double log_p; int parent; uint32_t word; };

static int better(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->log_p != y->log_p) return x->log_p < y->log_p ? 1 : -1;
    if (x->parent != y->parent) return x->parent - y->parent;
    return x->word < y->word ? -1 : x->word > y->word;
}

/* Gives the children their slots among the sentence's `beam`: a parent's first child stays where the parent is, the others
 * take slots of parents without children, with a copy of their parent's cache. */
static void place(struct search *z, const struct sentence *s, struct live *child, const int *parent, int n, int pos)
{
    bool taken[BEAM_MAX] = { false }, stays[BEAM_MAX] = { false };
    const struct stepper *st = &z->st;
    for (int i = 0; i < n; i++) {
        child[i].slot = -1;
        if (stays[parent[i]]) continue;
        stays[parent[i]] = true;
        child[i].slot = s->live[parent[i]].slot;
        taken[child[i].slot - s->first_slot] = true;
    }
    size_t row = 2 * (size_t)st->m->c.dim * st->t->k->act_size;
    for (int i = 0, slot = 0; i < n; i++) {
        if (child[i].slot >= 0) continue;
        while (taken[slot]) slot++;
        taken[slot] = true;
        child[i].slot = s->first_slot + slot;
        size_t from = (size_t)st->start[s->live[parent[i]].slot] * row, to = (size_t)st->start[child[i].slot] * row;
        for (int l = 0; l < st->m->dec.n; l++)
            st->t->k->copy((char *)st->cache[l] + to, (char *)st->cache[l] + from, (size_t)(pos + 1) * row);
    }
}

/* One step of one sentence: val, idx [n_live, k] and lse [n_live] are its hypotheses' continuations. */
static void advance(struct search *z, struct sentence *s, int pos, int k, const float *val, const int32_t *idx, const float *lse)
{
    const struct decode_options *o = z->o;
    struct candidate c[BEAM_MAX * 2 * BEAM_MAX];
    int n = 0;
    bool full = pos >= s->max_len;                          /* only </s> may follow */
    for (int i = 0; i < s->n_live; i++)
        for (int j = 0; j < k; j++)
            if (isfinite(val[i * k + j]) && (!full || idx[i * k + j] == VOCAB_EOS))
                c[n++] = (struct candidate){ s->live[i].log_p + ((double)val[i * k + j] - (double)lse[i]), i, (uint32_t)idx[i * k + j] };
    qsort(c, (size_t)n, sizeof *c, better);
    struct live child[BEAM_MAX];
    int parent[BEAM_MAX], kept = 0;
    mem_room(&z->node, &z->node_cap, (size_t)(z->n_node + o->beam), sizeof *z->node);
    for (int i = 0; i < n && kept < o->beam; i++) {
        const struct live *p = &s->live[c[i].parent];
        if (c[i].word == VOCAB_EOS) {
            if (i < o->beam) finish(s, o, p->node, p->n, c[i].log_p);
        } else {
            z->node[z->n_node] = (struct node){ p->node, c[i].word };
            child[kept] = (struct live){ 0, z->n_node++, p->n + 1, c[i].log_p };
            parent[kept++] = c[i].parent;
        }
    }
    if (full && !s->n_done)                                 /* cut: the best prefix stands as it is */
        finish(s, o, s->live[0].node, s->live[0].n, s->live[0].log_p);
    double bound = n ? c[0].log_p / pow(s->max_len + 1, o->length_penalty) : 0;
    if (full || !n || (s->n_done == o->beam && (o->early || s->done[o->beam - 1].score >= bound))) { s->n_live = 0; return; }
    place(z, s, child, parent, kept, pos);
    memcpy(s->live, child, (size_t)kept * sizeof *child);
    s->n_live = kept;
}

static void run(struct search *z, const struct batch *src, int lang)
{
    const struct decode_options *o = z->o;
    int k = o->beam == 1 ? 1 : 2 * o->beam;
    size_t S = (size_t)(z->n * o->beam);
    int32_t *ints = mem_alloc(4 * S * sizeof *ints), *slot = ints, *token = ints + S, *at = ints + 2 * S, *len = ints + 3 * S;
    int32_t *idx = mem_alloc(S * (size_t)k * sizeof *idx);
    float *val = mem_alloc(S * (size_t)k * sizeof *val), *lse = mem_alloc(S * sizeof *lse);
    for (int pos = 0; ; pos++) {
        int B = 0;
        for (int i = 0; i < z->n; i++)
            for (int j = 0; j < z->s[i].n_live; j++, B++) {
                const struct live *l = &z->s[i].live[j];
                slot[B] = l->slot;
                token[B] = l->n ? (int32_t)z->node[l->node].word : VOCAB_BOS;
                at[B] = src->at[i];
                len[B] = src->len[i];
            }
        if (!B) break;
        step(&z->st, B, slot, token, pos, at, len, lang, z->allowed, k, val, idx, lse);
        for (int i = 0, r = 0; i < z->n; i++) {
            int live = z->s[i].n_live;
            if (live) advance(z, &z->s[i], pos, k, val + r * k, idx + r * k, lse + r);
            r += live;
        }
    }
    free(ints); free(idx); free(val); free(lse);
}

static void collect(const struct search *z, struct hyps *out)
{
    const struct decode_options *o = z->o;
    size_t words = 0, slots = (size_t)(z->n * o->n_best);
    *out = (struct hyps){ mem_zero(slots, sizeof *out->hyp), mem_zero((size_t)z->n, sizeof *out->count), z->n, o->n_best, NULL };
    for (int i = 0; i < z->n; i++) {
        out->count[i] = z->s[i].n_done < o->n_best ? z->s[i].n_done : o->n_best;
        for (int j = 0; j < out->count[i]; j++) words += (size_t)z->s[i].done[j].n;
    }
    uint32_t *to = out->store = mem_alloc(words * sizeof *to);
    for (int i = 0; i < z->n; i++)
        for (int j = 0; j < out->count[i]; j++) {
            const struct done *d = &z->s[i].done[j];
            out->hyp[i * o->n_best + j] = (struct hyp){ to, d->n, d->score, d->log_p };
            for (int w = d->n, node = d->node; w > 0; node = z->node[node].parent) to[--w] = z->node[node].word;
            to += d->n;
        }
}

int decode(struct model *m, struct tape *t, const struct batch *src, int tgt_lang, const struct decode_options *o, struct hyps *out)
{
    memset(out, 0, sizeof *out);
    if (!m->dec.n) return err_set("this model has no decoder; translation wants an encoder-decoder (finetune --task unmt or mt makes one)");
    if (o->beam < 1 || o->beam > BEAM_MAX || o->n_best < 1 || o->n_best > o->beam)
        return err_set("beam %d with %d best: want a beam from 1 to %d and no more hypotheses than that", o->beam, o->n_best, BEAM_MAX);
    if (src->max > m->c.positions)
        return err_set("a sentence of %d tokens is longer than the model's %d positions", src->max, m->c.positions);
    tape_reset(t, false);
    struct dev_batch d = batch_upload(t, src);
    struct search z = { .o = o, .n = src->n, .s = mem_zero((size_t)src->n + 1, sizeof *z.s) };
    uint8_t *mask = decode_mask(m->c.vocab, o->seen);
    z.allowed = tape_bytes(t, mask, (size_t)m->c.vocab);
    free(mask);
    int *start = mem_zero((size_t)src->n * (size_t)o->beam + 1, sizeof *start);
    int64_t rows = 0;
    for (int i = 0; i < src->n; i++) {
        struct sentence *s = &z.s[i];
        int words = src->len[i] - 2, most = m->c.positions - 1;
        s->max_len = words <= 0 ? 0 : (int)(o->max_ratio * words) + o->max_extra;
        if (s->max_len > most) s->max_len = most;
        s->first_slot = i * o->beam;
        for (int j = 0; j < o->beam; j++, rows += s->max_len + 1) start[s->first_slot + j] = (int)(rows < INT32_MAX ? rows : 0);
        s->n_live = 1;
        s->live[0] = (struct live){ s->first_slot, -1, 0, 0 };
        if (words <= 0) { s->n_live = 0; s->n_done = 1; s->done[0] = (struct done){ -1, 0, 0, 0 }; }
    }
    if (rows > INT32_MAX / 2) {
        free(z.s);
        free(start);
        return err_set("%d sentences with a beam of %d and %lld tokens in all are too many at once; lower --tokens", src->n, o->beam, (long long)rows);
    }
    if (src->n) {
        struct var *memory = model_encode(m, t, &d);
        stepper_init(&z.st, m, t, memory, &d.spans, src->n * o->beam, start, (int)rows, 2 * o->beam);
        run(&z, src, tgt_lang);
        stepper_free(&z.st);
    } else free(start);
    collect(&z, out);
    free(z.s);
    free(z.node);
    return t->k->sync();
}
