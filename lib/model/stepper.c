#include "lib/model/stepper.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"

static float *P(const struct stepper *s, int i) { return param_value(&s->m->ps, i); }
static const struct kern_int8 *P8(const struct stepper *s, int i)
{
    return param_int8(&s->m->ps, i);
}

/* [n] int32_t: from, from + by, ... */
static int32_t *series(struct tape *t, int n, int32_t from, int32_t by)
{
    int32_t *h = mem_alloc((size_t)n * sizeof *h);
    for (int i = 0; i < n; i++) h[i] = from + i * by;
    int32_t *d = tape_int32(t, h, (size_t)n);
    free(h);
    return d;
}

static act *matrix(struct tape *t, int rows, int cols)
{
    return tape_alloc(t, (size_t)rows * (size_t)cols * t->k->act_size);
}

void stepper_init(struct stepper *s, struct model *m, struct tape *t, const struct var *memory,
                  const struct spans *src, int rows, int cached, int longest, int lang)
{
    const struct model_config *c = &m->c;
    int D = c->dim, L = m->dec.n, wide = model_embed_dim(c) > D ? model_embed_dim(c) : D;
    *s = (struct stepper){ .m = m, .k = t->k, .max_keys = longest, .max_src = src->max };
    /* the host's arrays of device pointers: stepper_free frees these alone */
    s->cache = mem_zero((size_t)L, sizeof *s->cache);
    s->memory = mem_zero((size_t)L, sizeof *s->memory);
    for (int i = 0; i < L; i++) {
        const struct layer_i *l = &m->dec.layer[i];
        s->cache[i] = matrix(t, cached, 2 * D);
        s->memory[i] = matrix(t, memory->rows, 2 * D);
        /* keys and values of the source do not change from word to word: once per batch, for all
         * hypotheses */
        KERN(t->k, linear_fwd, .Y = s->memory[i], .X = memory->v, .W = P(s, l->cross_kv.W),
             .W8 = P8(s, l->cross_kv.W), .b = P(s, l->cross_kv.b), .N = memory->rows, .I = D,
             .O = 2 * D);
    }
    /* they hold embeddings, states and what the output layer reads, of either width */
    act **wides[] = { &s->x, &s->y, &s->z, &s->a };
    for (size_t i = 0; i < sizeof wides / sizeof *wides; i++) *wides[i] = matrix(t, rows, wide);
    s->qkv = matrix(t, rows, 3 * D);
    s->f = matrix(t, rows, c->ffn);
    s->logits = matrix(t, rows, c->vocab);
    s->lang = series(t, rows, lang, 0);
    s->first = series(t, rows, 0, 1);
    s->one = series(t, rows, 1, 0);
}

void stepper_free(struct stepper *s)
{
    free(s->cache);
    free(s->memory);
    memset(s, 0, sizeof *s);
}

/* The buffers that run through the layers of a step; x, y and z change places instead of being
 * copied. */
struct flow { act *x, *y, *z; const act *in; int rows; };

static void exchange(act **a, act **b) { act *c = *a; *a = *b; *b = c; }

static void linear(struct stepper *s, act *Y, const act *X, struct linear_i i, enum kern_act f,
                   int rows, int from, int to)
{
    KERN(s->k, linear_fwd, .Y = Y, .X = X, .W = P(s, i.W), .W8 = P8(s, i.W), .b = P(s, i.b), .f = f,
         .N = rows, .I = from, .O = to);
}

/* y is what a block makes of `in`: x = in = LN(x + y) (post-norm), or x += y, in = LN(x) with the
 * norm of the next block (pre-norm). */
static void residual(struct stepper *s, struct flow *w, struct linear_i post, struct linear_i next)
{
    const struct model_config *c = &s->m->c;
    struct linear_i n = c->pre_norm ? next : post;
    KERN(s->k, norm_fwd, .Y = w->z, .S = w->x, .X = w->x, .U = w->y, .gamma = P(s, n.W),
         .beta = P(s, n.b), .eps = c->norm_eps, .N = w->rows, .D = c->dim);
    w->in = w->z;
    /* post-norm: what was normed is the residual stream. Pre-norm: that is x, and z may be written
     * again by the next norm, when its block has read it */
    if (!c->pre_norm) exchange(&w->z, &w->x);
}

static struct flow embed(struct stepper *s, const struct kern_beam *b, int rows)
{
    const struct kernels *k = s->k;
    const struct model *m = s->m;
    const struct model_config *c = &m->c;
    int E = model_embed_dim(c);
    /* from the same buffers in every step: a recorded step has their addresses */
    struct flow w = { s->x, s->y, s->z, NULL, rows };
    KERN(k, embed_fwd, .Y = w.x, .token = b->token, .pos = b->pos, .lang = s->lang,
         .E = P(s, m->tokens), .E8 = P8(s, m->tokens), .P = P(s, m->dec.positions),
         .L = P(s, m->dec.languages),
         .scale = c->scale_embed, .N = rows, .D = E);
    if (m->dec.embed_norm.W >= 0) {
        /* a norm is not computed in place: it takes the other buffer, and the two change names */
        KERN(k, norm_fwd, .Y = w.y, .X = w.x, .gamma = P(s, m->dec.embed_norm.W),
             .beta = P(s, m->dec.embed_norm.b), .eps = c->norm_eps, .N = rows, .D = E);
        exchange(&w.x, &w.y);
    }
    if (m->dec.project.W >= 0) {
        linear(s, w.y, w.x, m->dec.project, KERN_NONE, rows, E, c->dim);
        exchange(&w.x, &w.y);
    }
    w.in = w.x;
    if (c->pre_norm) {
        struct linear_i n = m->dec.layer[0].attn_norm;
        KERN(k, norm_fwd, .Y = w.y, .X = w.x, .gamma = P(s, n.W), .beta = P(s, n.b),
             .eps = c->norm_eps, .N = rows, .D = c->dim);
        w.in = w.y;
    }
    return w;
}

const act *stepper_step(struct stepper *s, const struct kern_beam *b, int rows)
{
    const struct kernels *k = s->k;
    const struct model *m = s->m;
    const struct model_config *c = &m->c;
    int D = c->dim, H = c->heads;
    /* bytes from keys to values in a row of the cache, and from queries to keys in one of qkv */
    size_t values = (size_t)D * k->act_size;
    struct kern_attn self = { .batch = rows,
                              .heads = H,
                              .dim = D / H,
                              .ldq = 3 * D,
                              .ldk = 2 * D,
                              .ldv = 2 * D,
                              .ldo = D,
                              .q_at = s->first,
                              .q_len = s->one,
                              .k_at = b->at,
                              .k_len = b->seen,
                              .k_row = b->table,
                              .max_q = 1,
                              /* of the longest, not of this step: a recorded step is replayed with
                               * the arguments it had */
                              .max_k = s->max_keys,
                              .rows_q = rows,
                              /* the cache has only the past: b->seen keys per row */
                              .causal = false,
                              .scale = 1.0f / sqrtf((float)(D / H)) };
    /* the source's rows lie together: no table */
    struct kern_attn cross = self;
    cross.ldq = D;
    cross.k_at = s->src_at;
    cross.k_len = s->src_len;
    cross.k_row = NULL;
    cross.max_k = s->max_src;
    struct flow w = embed(s, b, rows);
    /* the layers of lib/model/model.c, layer(), without dropout: the two must agree */
    for (int i = 0; i < m->dec.n; i++) {
        const struct layer_i *l = &m->dec.layer[i];
        linear(s, s->qkv, w.in, l->qkv, KERN_NONE, rows, D, 3 * D);
        /* Keys and values stay where they were written; hypotheses that change places change their
         * rows of the table of cache rows (k_row) instead. */
        KERN(k, scatter, .Y = s->cache[i], .ldy = 2 * D, .X = (char *)s->qkv + values,
             .ldx = 3 * D, .index = b->row, .M = rows, .D = 2 * D);
        KERN(k, attn_fwd, .O = s->a, .Q = s->qkv, .K = s->cache[i],
             .V = (char *)s->cache[i] + values, .g = &self);
        linear(s, w.y, s->a, l->out, KERN_NONE, rows, D, D);
        residual(s, &w, l->attn_norm, l->cross_norm);
        linear(s, s->qkv, w.in, l->cross_q, KERN_NONE, rows, D, D);
        /* memory: keys and values of the source, computed once per batch */
        KERN(k, attn_fwd, .O = s->a, .Q = s->qkv, .K = s->memory[i],
             .V = (char *)s->memory[i] + values, .g = &cross);
        linear(s, w.y, s->a, l->cross_out, KERN_NONE, rows, D, D);
        residual(s, &w, l->cross_norm, l->ffn_norm);
        linear(s, s->f, w.in, l->in, c->activation, rows, D, c->ffn);
        linear(s, w.y, s->f, l->ff, KERN_NONE, rows, c->ffn, D);
        residual(s, &w, l->ffn_norm,
                 i + 1 < m->dec.n ? m->dec.layer[i + 1].attn_norm : m->dec.norm);
    }
    /* a decoder has no output transform (model_config_check), so this is ALBERT's projection
     * alone */
    if (m->output_dense.W >= 0) {
        linear(s, s->a, w.in, m->output_dense, KERN_NONE, rows, D, model_embed_dim(c));
        w.in = s->a;
    }
    KERN(k, linear_fwd, .Y = s->logits, .X = w.in, .W = P(s, m->tokens), .W8 = P8(s, m->tokens),
         .b = P(s, m->output_bias), .N = rows, .I = model_embed_dim(c), .O = c->vocab);
    return s->logits;
}
