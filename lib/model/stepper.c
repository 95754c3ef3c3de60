#include "lib/model/stepper.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"

static float *P(const struct stepper *s, int i) { return param_value(&s->m->ps, i); }

/* [n] int32_t: from, from + by, ... */
static int32_t *series(struct tape *t, int n, int32_t from, int32_t by)
{
    int32_t *h = mem_alloc((size_t)n * sizeof *h);
    for (int i = 0; i < n; i++) h[i] = from + i * by;
    int32_t *d = tape_int32(t, h, (size_t)n);
    free(h);
    return d;
}

static act *matrix(struct tape *t, int rows, int cols) { return tape_alloc(t, (size_t)rows * (size_t)cols * t->k->act_size); }

void stepper_init(struct stepper *s, struct model *m, struct tape *t, const struct var *memory, const struct spans *src,
                  int rows, int cached, int longest, int lang)
{
    const struct model_config *c = &m->c;
    int D = c->dim, L = m->dec.n, wide = model_embed_dim(c) > D ? model_embed_dim(c) : D;
    *s = (struct stepper){ .m = m, .k = t->k, .max_keys = longest, .max_src = src->max };
    s->cache = mem_zero((size_t)L, sizeof *s->cache);
    s->memory = mem_zero((size_t)L, sizeof *s->memory);
    for (int i = 0; i < L; i++) {
        const struct layer_i *l = &m->dec.layer[i];
        s->cache[i] = matrix(t, cached, 2 * D);
        s->memory[i] = matrix(t, memory->rows, 2 * D);
        t->k->linear_fwd(s->memory[i], NULL, memory->v, P(s, l->cross_kv.W), P(s, l->cross_kv.b), KERN_NONE, memory->rows, D, 2 * D);
    }
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

/* What runs through the layers of a step. */
struct flow { act *x, *y, *z; const act *in; int rows; };

static void exchange(act **a, act **b) { act *c = *a; *a = *b; *b = c; }

static void linear(struct stepper *s, act *Y, const act *X, struct linear_i i, enum kern_act f, int rows, int from, int to)
{
    s->k->linear_fwd(Y, NULL, X, P(s, i.W), P(s, i.b), f, rows, from, to);
}

/* y is what a block makes of `in`: x = in = LN(x + y) (post-norm), or x += y, in = LN(x) with the norm of the next block (pre-norm). */
static void residual(struct stepper *s, struct flow *w, struct linear_i post, struct linear_i next)
{
    const struct model_config *c = &s->m->c;
    struct linear_i n = c->pre_norm ? next : post;
    s->k->norm_fwd(w->z, w->x, NULL, NULL, w->x, w->y, P(s, n.W), P(s, n.b), NULL, c->norm_eps, w->rows, c->dim);
    w->in = w->z;
    exchange(&w->z, c->pre_norm ? &w->y : &w->x);
}

static struct flow embed(struct stepper *s, const struct kern_beam *b, int rows)
{
    const struct kernels *k = s->k;
    const struct model *m = s->m;
    const struct model_config *c = &m->c;
    int E = model_embed_dim(c);
    struct flow w = { s->x, s->y, s->z, NULL, rows };
    k->embed_fwd(w.x, b->token, b->pos, s->lang, P(s, m->tokens), P(s, m->dec.positions), P(s, m->dec.languages), c->scale_embed, rows, E);
    if (m->dec.embed_norm.W >= 0) {
        k->norm_fwd(w.y, NULL, NULL, NULL, w.x, NULL, P(s, m->dec.embed_norm.W), P(s, m->dec.embed_norm.b), NULL, c->norm_eps, rows, E);
        exchange(&w.x, &w.y);
    }
    if (m->dec.project.W >= 0) {
        linear(s, w.y, w.x, m->dec.project, KERN_NONE, rows, E, c->dim);
        exchange(&w.x, &w.y);
    }
    w.in = w.x;
    if (c->pre_norm) {
        struct linear_i n = m->dec.layer[0].attn_norm;
        k->norm_fwd(w.y, NULL, NULL, NULL, w.x, NULL, P(s, n.W), P(s, n.b), NULL, c->norm_eps, rows, c->dim);
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
    size_t values = (size_t)D * k->act_size;             /* where they begin in a row of keys and values, and keys in one of qkv */
    struct kern_attn self = { .batch = rows, .heads = H, .dim = D / H, .ldq = 3 * D, .ldk = 2 * D, .ldv = 2 * D, .ldo = D,
        .q_at = s->first, .q_len = s->one, .k_at = b->at, .k_len = b->seen, .k_row = b->table, .max_q = 1, .max_k = s->max_keys, .rows_q = rows,
        .causal = false, .scale = 1.0f / sqrtf((float)(D / H)) };
    struct kern_attn cross = self;
    cross.ldq = D; cross.k_at = s->src_at; cross.k_len = s->src_len; cross.k_row = NULL; cross.max_k = s->max_src;
    struct flow w = embed(s, b, rows);
    for (int i = 0; i < m->dec.n; i++) {
        const struct layer_i *l = &m->dec.layer[i];
        linear(s, s->qkv, w.in, l->qkv, KERN_NONE, rows, D, 3 * D);
        k->scatter(s->cache[i], 2 * D, false, (char *)s->qkv + values, 3 * D, b->row, rows, 2 * D);
        k->attn_fwd(s->a, NULL, s->qkv, s->cache[i], (char *)s->cache[i] + values, &self, NULL);
        linear(s, w.y, s->a, l->out, KERN_NONE, rows, D, D);
        residual(s, &w, l->attn_norm, l->cross_norm);
        linear(s, s->qkv, w.in, l->cross_q, KERN_NONE, rows, D, D);
        k->attn_fwd(s->a, NULL, s->qkv, s->memory[i], (char *)s->memory[i] + values, &cross, NULL);
        linear(s, w.y, s->a, l->cross_out, KERN_NONE, rows, D, D);
        residual(s, &w, l->cross_norm, l->ffn_norm);
        linear(s, s->f, w.in, l->in, c->activation, rows, D, c->ffn);
        linear(s, w.y, s->f, l->ff, KERN_NONE, rows, c->ffn, D);
        residual(s, &w, l->ffn_norm, i + 1 < m->dec.n ? m->dec.layer[i + 1].attn_norm : m->dec.norm);
    }
    if (m->output_dense.W >= 0) {
        linear(s, s->a, w.in, m->output_dense, KERN_NONE, rows, D, model_embed_dim(c));
        w.in = s->a;
    }
    k->linear_fwd(s->logits, NULL, w.in, P(s, m->tokens), P(s, m->output_bias), KERN_NONE, rows, model_embed_dim(c), c->vocab);
    return s->logits;
}
