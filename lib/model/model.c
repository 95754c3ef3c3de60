/* Construction and forward passes. Files of a model are in files.c. */
#include "lib/model/model.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/text/affix.h"

static int add(struct model *m, const char *prefix, const char *name, int rows, int cols,
               bool decay)
{
    char full[160];
    snprintf(full, sizeof full, "%s%s", prefix, name);
    return params_add(&m->ps, full, rows, cols, decay);
}

static struct linear_i add_linear(struct model *m, const char *prefix, const char *name, int out,
                                  int in)
{
    char n[64];
    struct linear_i l;
    snprintf(n, sizeof n, "%s.weight", name);
    l.W = add(m, prefix, n, out, in, true);
    snprintf(n, sizeof n, "%s.bias", name);
    l.b = add(m, prefix, n, 1, out, false);
    return l;
}

static struct linear_i add_norm(struct model *m, const char *prefix, const char *name, int dim)
{
    char n[64];
    struct linear_i l;
    snprintf(n, sizeof n, "%s.weight", name);
    l.W = add(m, prefix, n, 1, dim, false);
    snprintf(n, sizeof n, "%s.bias", name);
    l.b = add(m, prefix, n, 1, dim, false);
    return l;
}

/* cross: a decoder, which alone has cross attention, and has no token types. */
static void add_stack(struct model *m, struct stack_i *s, const char *side, int layers, bool langs,
                      bool cross)
{
    const struct model_config *c = &m->c;
    const struct linear_i none = { -1, -1 };
    char prefix[64];
    s->n = layers;
    s->layer = mem_zero((size_t)(layers ? layers : 1), sizeof *s->layer);
    s->positions = s->languages = s->types = -1;
    s->embed_norm = s->project = s->norm = none;
    /* no decoder: no tensor, and all indices say so */
    if (!layers) return;
    int E = model_embed_dim(c);
    snprintf(prefix, sizeof prefix, "%s.", side);
    /* sinusoids are a formula: they do not decay and are not trained */
    s->positions = add(m, prefix, "embed.positions", c->positions, E, !c->sinusoidal);
    m->ps.p[s->positions].fixed = c->sinusoidal;
    if (langs && c->n_langs) s->languages = add(m, prefix, "embed.languages", c->n_langs, E, true);
    if (!cross && c->token_types) s->types = add(m, prefix, "embed.types", c->token_types, E, true);
    if (c->embed_norm) s->embed_norm = add_norm(m, prefix, "embed.norm", E);
    if (E != c->dim) s->project = add_linear(m, prefix, "embed.project", c->dim, E);
    for (int i = 0; i < layers; i++) {
        struct layer_i *l = &s->layer[i];
        /* ALBERT: every layer has the numbers of the first layer's tensors */
        if (i > 0 && c->share_layers) { *l = s->layer[0]; continue; }
        snprintf(prefix, sizeof prefix, "%s.%d.", side, i);
        l->qkv = add_linear(m, prefix, "attn.qkv", 3 * c->dim, c->dim);
        l->out = add_linear(m, prefix, "attn.out", c->dim, c->dim);
        l->attn_norm = add_norm(m, prefix, "attn_norm", c->dim);
        /* 0 would be a tensor, embed.tokens */
        l->cross_q = l->cross_kv = l->cross_out = l->cross_norm = none;
        if (cross) {
            l->cross_q = add_linear(m, prefix, "cross.q", c->dim, c->dim);
            l->cross_kv = add_linear(m, prefix, "cross.kv", 2 * c->dim, c->dim);
            l->cross_out = add_linear(m, prefix, "cross.out", c->dim, c->dim);
            l->cross_norm = add_norm(m, prefix, "cross_norm", c->dim);
        }
        l->in = add_linear(m, prefix, "ffn.in", c->ffn, c->dim);
        l->ff = add_linear(m, prefix, "ffn.out", c->dim, c->ffn);
        l->ffn_norm = add_norm(m, prefix, "ffn_norm", c->dim);
    }
    snprintf(prefix, sizeof prefix, "%s.", side);
    if (c->pre_norm) s->norm = add_norm(m, prefix, "norm", c->dim);
}

/* After everything else: models that differ in their heads alone begin with the same numbers. */
static void add_heads(struct model *m)
{
    for (int i = 0; i < m->c.n_heads; i++) {
        const struct model_head *h = &m->c.head[i];
        char prefix[MODEL_NAME + 8];
        snprintf(prefix, sizeof prefix, "head.%s.", h->name);
        m->head[i].dense = (struct linear_i){ -1, -1 };
        if (h->hidden) m->head[i].dense = add_linear(m, prefix, "dense", m->c.dim, m->c.dim);
        m->head[i].out = add_linear(m, prefix, "out", h->outputs, m->c.dim);
    }
}

/* The order is that of the flat arrays: the norm that clipping needs is summed along it, so another
 * order rounds otherwise. */
static void layout(struct model *m)
{
    int E = model_embed_dim(&m->c);
    m->tokens = params_add(&m->ps, "embed.tokens", m->c.vocab, E, true);
    m->output_bias = params_add(&m->ps, "output.bias", 1, m->c.vocab, false);
    m->output_dense = m->output_norm = (struct linear_i){ -1, -1 };
    /* logits are products with the token table: states must have its width */
    if (m->c.output_transform || E != m->c.dim)
        m->output_dense = add_linear(m, "", "output.dense", E, m->c.dim);
    if (m->c.output_transform) m->output_norm = add_norm(m, "", "output.norm", E);
    add_stack(m, &m->enc, "encoder", m->c.layers, m->c.encoder_langs, false);
    add_stack(m, &m->dec, "decoder", m->c.decoder_layers, m->c.decoder_langs, true);
    add_heads(m);
}

/* positions[p][2i] = sin(p / 10000^(2i/dim)), [2i+1] = cos (Vaswani et al. 2017). */
static void sinusoids(struct model *m, int index)
{
    if (index < 0) return;
    int P = m->c.positions, D = model_embed_dim(&m->c);
    float *h = mem_alloc((size_t)P * (size_t)D * sizeof *h);
    /* sines and cosines alternate, as in XLM's code; others have one half of each */
    for (int p = 0; p < P; p++)
        for (int i = 0; i < D; i++) {
            double angle = p / pow(10000, (double)(i / 2 * 2) / D);
            h[(size_t)p * (size_t)D + (size_t)i] = (float)(i % 2 ? cos(angle) : sin(angle));
        }
    param_put(&m->ps, m->ps.value, index, h);
    free(h);
}

void model_draw(struct model *m, uint64_t seed)
{
    struct params *ps = &m->ps;
    /* embeddings from N(0, 1/dim) as in XLM, matrices Xavier uniform (Glorot and Bengio 2010),
     * biases zero */
    float std = 1.0f / sqrtf((float)model_embed_dim(&m->c));
    for (int i = 0; i < ps->n; i++) {
        const struct param *p = &ps->p[i];
        /* a head of one output has one row, too: by name, where other tensors go by their shape.
         * Biases, of heads and below, stay the zeros of params_alloc */
        if (!strncmp(p->name, "head.", 5)) {
            if (str_ends(p->name, "weight"))
                param_uniform(ps, i, seed, sqrtf(6.0f / (float)(p->rows + p->cols)));
        } else if (strstr(p->name, "embed.") && !strstr(p->name, "norm")
                   && !strstr(p->name, "project"))
            param_normal(ps, i, seed, std);
        else if (strstr(p->name, "norm")) param_fill(ps, i, str_ends(p->name, "weight") ? 1 : 0);
        else if (p->rows > 1) {
            /* Q, K and V are three matrices stored as one: each has its own fan-out. */
            int fan_out = p->rows;
            if (strstr(p->name, "qkv")) fan_out /= 3;
            if (strstr(p->name, "cross.kv")) fan_out /= 2;
            param_uniform(ps, i, seed, sqrtf(6.0f / (float)(fan_out + p->cols)));
        }
    }
    /* after the loop, which draws that row like any other: the values are keyed by their place */
    size_t D = (size_t)ps->p[m->tokens].cols;
    /* <pad> is in no batch (rows are packed); zeros as in XLM (PyTorch's padding_idx) */
    ps->k->zero(param_value(ps, m->tokens) + VOCAB_PAD * D, D * sizeof(float));
    /* over what was drawn for them */
    if (m->c.sinusoidal) { sinusoids(m, m->enc.positions); sinusoids(m, m->dec.positions); }
}

void model_normal(struct model *m, uint64_t seed, float std)
{
    struct params *ps = &m->ps;
    for (int i = 0; i < ps->n; i++) {
        const struct param *p = &ps->p[i];
        /* a table of one language has one row, as vectors have, but is drawn */
        bool table = strstr(p->name, "embed.") && !strstr(p->name, "project");
        if (!p->fixed && !strstr(p->name, "norm") && (table || p->rows > 1))
            param_normal(ps, i, seed, std);
    }
    size_t D = (size_t)ps->p[m->tokens].cols;
    ps->k->zero(param_value(ps, m->tokens) + VOCAB_PAD * D, D * sizeof(float));
}

int model_shapes(struct model *m, const struct model_config *c, const struct kernels *k)
{
    /* first: after a failure model_free finds nothing to free */
    memset(m, 0, sizeof *m);
    if (model_config_check(c) < 0) return -1;
    m->c = *c;
    params_init(&m->ps, k);
    layout(m);
    return 0;
}

/* --- matrices in 8 bits --- */

struct matrices { int *i, n; };

static void list(struct matrices *x, struct linear_i l)
{
    if (l.W >= 0) x->i[x->n++] = l.W;
}

static void list_stack(struct matrices *x, const struct model *m, const struct stack_i *s)
{
    list(x, s->project);
    /* shared layers have one set of matrices */
    for (int i = 0; i < (m->c.share_layers && s->n ? 1 : s->n); i++) {
        const struct layer_i *l = &s->layer[i];
        const struct linear_i all[] = { l->qkv, l->out, l->cross_q, l->cross_kv, l->cross_out,
                                        l->in, l->ff };
        for (size_t j = 0; j < sizeof all / sizeof *all; j++) list(x, all[j]);
    }
}

/* Matrices that may be held in 8 bits, each once (shared layers have the same ones). i is
 * malloc'd. */
static struct matrices matrices(const struct model *m)
{
    struct matrices x = { .i = mem_alloc((size_t)m->ps.n * sizeof *x.i) };
    /* also the output layer's matrix, usually the largest product of a decoding step */
    x.i[x.n++] = m->tokens;
    list(&x, m->output_dense);
    list_stack(&x, m, &m->enc);
    list_stack(&x, m, &m->dec);
    return x;
}

void model_hold_int8(struct model *m)
{
    struct matrices x = matrices(m);
    for (int j = 0; j < x.n; j++) params_hold_int8(&m->ps, x.i[j]);
    free(x.i);
}

int model_copy_int8(struct model *m)
{
    struct matrices x = matrices(m);
    int rc = 0;
    for (int j = 0; j < x.n && rc == 0; j++) rc = params_copy_int8(&m->ps, x.i[j]);
    free(x.i);
    return rc;
}

size_t model_int8_bytes(const struct model *m)
{
    struct matrices x = matrices(m);
    size_t bytes = 0;
    for (int j = 0; j < x.n; j++) bytes += param_int8_bytes(&m->ps, x.i[j]);
    free(x.i);
    return bytes;
}

int model_alloc(struct model *m, const struct model_config *c, const struct kernels *k,
                bool with_grad)
{
    return model_shapes(m, c, k) < 0 ? -1 : params_alloc(&m->ps, with_grad);
}

int model_new(struct model *m, const struct model_config *c, const struct kernels *k, uint64_t seed,
              bool with_grad)
{
    if (model_alloc(m, c, k, with_grad) < 0) return -1;
    model_draw(m, seed);
    return 0;
}

void model_free(struct model *m)
{
    /* zeros where model_load failed before there were any */
    if (m->ps.p) params_free(&m->ps);
    for (int i = 0; i < MODEL_LANGS; i++) free(m->seen[i]);
    for (int i = 0; i < MODEL_KEPT; i++) free(m->kept[i].bytes);
    free(m->enc.layer);
    free(m->dec.layer);
    memset(m, 0, sizeof *m);
}

void model_see(struct model *m, int lang, const uint32_t *ids, size_t n)
{
    if (!m->seen[lang]) m->seen[lang] = mem_zero((size_t)m->c.vocab, 1);
    for (size_t i = 0; i < n; i++)
        if (ids[i] < (uint32_t)m->c.vocab) m->seen[lang][ids[i]] = 1;
}

/* --- forward --- */

static struct var *embed(struct model *m, struct tape *t, const struct stack_i *s,
                         const struct dev_batch *b)
{
    /* dropout is keyed by a row's sentence and its place in it; set here, since encoder and decoder
     * of one pass read different batches */
    t->drop.sample = b->sample;
    t->drop.pos = (const uint32_t *)b->drop;
    /* tape_embed has one table besides tokens and positions (model_config_check) */
    struct var *x = tape_embed(
        t, b->token, b->pos, s->types < 0 ? b->lang : b->type, b->host->rows, m->tokens,
        s->positions, s->types < 0 ? s->languages : s->types, m->c.scale_embed, &b->mix);
    if (s->embed_norm.W >= 0)
        x = tape_norm(t, x, NULL, s->embed_norm.W, s->embed_norm.b, m->c.norm_eps, NULL);
    /* XLM's order: norm, then dropout */
    x = tape_drop(t, x);
    return s->project.W < 0 ? x : tape_linear(t, x, s->project.W, s->project.b);
}

/* A residual block with its norm after it (post) or before it (pre). In a pre-norm stack *x is the
 * running sum and *y its norm for the next sublayer; in a post-norm stack they are the same
 * variable. `next` is the norm that follows. */
static void residual(const struct model *m, struct tape *t, struct var **x, struct var **y,
                     struct var *u, struct linear_i next)
{
    if (m->c.pre_norm) *y = tape_norm(t, *x, u, next.W, next.b, m->c.norm_eps, x);
    else *x = *y = tape_norm(t, *x, u, next.W, next.b, m->c.norm_eps, NULL);
    /* u is in the sum now, and the norm's backward function reads the sum */
    tape_done(t, u);
}

struct layer {
    const struct model *m;
    const struct layer_i *l;
    struct linear_i next;
    struct spans spans, src;
    struct var *memory;
    const int32_t *row;                  /* the rows that are wanted; NULL: all */
    int rows;
};

/* One layer: from (x, y) to (x, y), which are one variable in a post-norm stack. */
static void layer(const void *ctx, struct tape *t, struct var **in, struct var **out)
{
    const struct layer *c = ctx;
    const struct model *m = c->m;
    const struct layer_i *l = c->l;
    int heads = m->c.heads;
    bool pre = m->c.pre_norm;
    struct var *x = in[0], *y = pre ? in[1] : in[0];
    /* a decoder, which has a memory, sees only what it has said */
    struct var *a = tape_self_attn(t, tape_linear(t, y, l->qkv.W, l->qkv.b), &c->spans, heads,
                                   c->memory != NULL);
    /* In the last layer keys and values need every row, but what follows attention only those that
     * are read: the rest of the layer and its backward pass shrink to them. */
    if (c->row) {
        a = tape_gather(t, a, c->row, c->rows);
        x = tape_gather(t, x, c->row, c->rows);
    }
    residual(m, t, &x, &y, tape_linear(t, a, l->out.W, l->out.b),
             !pre ? l->attn_norm : c->memory ? l->cross_norm : l->ffn_norm);
    if (c->memory) {
        a = tape_cross_attn(t, tape_linear(t, y, l->cross_q.W, l->cross_q.b),
                            tape_linear(t, c->memory, l->cross_kv.W, l->cross_kv.b), &c->spans,
                            &c->src, heads);
        residual(m, t, &x, &y, tape_linear(t, a, l->cross_out.W, l->cross_out.b),
                 pre ? l->ffn_norm : l->cross_norm);
    }
    residual(m, t, &x, &y, tape_ffn(t, y, l->in.W, l->in.b, l->ff.W, l->ff.b, m->c.activation),
             pre ? c->next : l->ffn_norm);
    out[0] = x;
    if (pre) out[1] = y;
}

/* what: a layer's inputs besides its own parameters; only the last layer looks at its rows. */
static struct var *stack(struct model *m, struct tape *t, const struct stack_i *s, struct var *x,
                         int layers, const struct layer *what)
{
    int n = m->c.pre_norm ? 2 : 1;
    struct var *at[2] = { x, x };
    /* each layer makes the norm that the next one reads; the first one's has no layer before it */
    if (n == 2 && layers)
        at[1] = tape_norm(t, x, NULL, s->layer[0].attn_norm.W, s->layer[0].attn_norm.b,
                          m->c.norm_eps, NULL);
    for (int i = 0; i < layers; i++) {
        struct linear_i next = i + 1 < s->n ? s->layer[i + 1].attn_norm : s->norm;
        struct layer c = *what;
        struct var *out[2];
        c.m = m;
        c.l = &s->layer[i];
        c.next = next;
        if (i + 1 < layers) c.row = NULL;
        /* A layer is a segment: with --recompute only what is between layers is kept, and each
         * layer runs again on the way back. */
        tape_segment(t, layer, &c, sizeof c, at, n, out, n);
        at[0] = out[0];
        if (n == 2) at[1] = out[1];
    }
    /* between pre-norm layers: the sum, since the norm belongs to the next layer */
    return layers == s->n ? at[n - 1] : at[0];
}

struct var *model_encode_layer(struct model *m, struct tape *t, const struct dev_batch *b,
                               int layer)
{
    struct layer what = { .spans = b->spans };
    return stack(m, t, &m->enc, embed(m, t, &m->enc, b), layer, &what);
}

struct var *model_encode(struct model *m, struct tape *t, const struct dev_batch *b)
{
    return model_encode_layer(m, t, b, m->enc.n);
}

struct var *model_encode_rows(struct model *m, struct tape *t, const struct dev_batch *b,
                              const int32_t *row, int n)
{
    struct layer what = { .spans = b->spans, .row = row, .rows = n };
    return stack(m, t, &m->enc, embed(m, t, &m->enc, b), m->enc.n, &what);
}

struct var *model_output(struct model *m, struct tape *t, struct var *h)
{
    if (m->output_dense.W < 0) return h;
    if (m->output_norm.W < 0) return tape_linear(t, h, m->output_dense.W, m->output_dense.b);
    struct var *x = tape_dense(t, h, m->output_dense.W, m->output_dense.b, m->c.activation);
    return tape_norm(t, x, NULL, m->output_norm.W, m->output_norm.b, m->c.norm_eps, NULL);
}

struct var *model_decode(struct model *m, struct tape *t, const struct dev_batch *b,
                         struct var *memory, const struct spans *src)
{
    struct layer what = { .spans = b->spans, .src = *src, .memory = memory };
    return stack(m, t, &m->dec, embed(m, t, &m->dec, b), m->dec.n, &what);
}

struct var *model_head_input(struct model *m, struct tape *t, int i, struct var *rows)
{
    struct linear_i d = m->head[i].dense;
    rows = tape_drop(t, rows);
    return d.W < 0 ? rows : tape_drop(t, tape_dense(t, rows, d.W, d.b, m->c.head[i].hidden));
}

struct var *model_head_outputs(struct model *m, struct tape *t, int i, struct var *rows)
{
    return tape_linear(t, model_head_input(m, t, i, rows), m->head[i].out.W, m->head[i].out.b);
}

int model_head_find(const struct model *m, const char *name)
{
    char all[MODEL_HEADS * (MODEL_NAME + 2)] = "";
    for (int i = 0; i < m->c.n_heads; i++) {
        if (!strcmp(m->c.head[i].name, name)) return i;
        strcat(strcat(all, i ? ", " : ""), m->c.head[i].name);
    }
    return err_set("the model has no head %s%s%s", name, *all ? "; it has " : "", all);
}
