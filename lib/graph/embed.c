/* Rows of tables: embeddings, and mixtures of them. */
#include "lib/graph/record.h"

static void mix_back(struct tape *t, struct record *r)
{
    const struct mixture *x = &r->mix;
    float *dE = grad(t, r->E);
    if (dE && x->n > 0 && !x->constant)
        KERN(t->k, mix_bwd, .dE = dE, .dY = r->y.g, .row = x->row, .idx = x->idx, .w = x->w,
             .scale = r->scale, .M = x->n, .k = x->k, .D = r->y.cols);
}

static void mix(struct tape *t, struct record *r)
{
    const struct mixture *x = &r->mix;
    if (x->n > 0)
        KERN(t->k, mix_fwd, .Y = r->y.v, .row = x->row, .E = val(t, r->E), .idx = x->idx,
             .w = x->w, .scale = r->scale, .M = x->n, .k = x->k, .D = r->y.cols);
}

static void embed_back(struct tape *t, struct record *r)
{
    KERN(t->k, embed_bwd, .dE = grad(t, r->E), .dP = grad(t, r->P),
         .dL = grad(t, r->L), .dY = r->y.g, .token = r->token, .pos = r->pos,
         .lang = r->lang, .scale = r->scale, .N = r->y.rows, .D = r->y.cols);
    mix_back(t, r);
}

struct var *tape_embed_mix(struct tape *t, const int32_t *token, const int32_t *pos,
                           const int32_t *lang, int rows, int E, int P, int L, float scale,
                           const struct mixture *m)
{
    int D = t->ps->p[E].cols;
    struct record *r = record_new(t, rows, D);
    r->back = embed_back;
    r->token = token; r->pos = pos; r->lang = lang; r->E = E; r->P = P; r->L = L; r->scale = scale;
    if (m) r->mix = *m;
    KERN(t->k, embed_fwd, .Y = r->y.v, .token = token, .pos = pos, .lang = lang,
         .E = val(t, E), .E8 = val8(t, E), .P = val(t, P), .L = val(t, L),
         .scale = scale, .N = rows, .D = D);
    mix(t, r);
    return &r->y;
}

struct var *tape_embed(struct tape *t, const int32_t *token, const int32_t *pos,
                       const int32_t *lang, int rows, int E, int P, int L, float scale)
{
    return tape_embed_mix(t, token, pos, lang, rows, E, P, L, scale, NULL);
}

struct var *tape_mix(struct tape *t, int E, float scale, const struct mixture *m)
{
    struct record *r = record_new(t, m->n, t->ps->p[E].cols);
    r->back = mix_back;
    r->E = E; r->scale = scale; r->mix = *m;
    r->mix.row = NULL;
    t->k->zero(r->y.v, (size_t)r->y.rows * (size_t)r->y.cols * t->k->act_size);
    mix(t, r);
    return &r->y;
}

/* --- rows of length s --- */

static void unit_back(struct tape *t, struct record *r)
{
    bool add;
    act *dx = tape_grad(t, r->x, &add);
    KERN(t->k, unit_bwd, .dX = dx, .add = add, .dY = r->y.g, .Y = r->y.v, .len = r->lse,
         .s = r->scale, .N = r->y.rows, .D = r->y.cols);
}

struct var *tape_unit(struct tape *t, struct var *x, float s)
{
    struct record *r = record_new(t, x->rows, x->cols);
    r->back = unit_back;
    r->x = x; r->scale = s;
    r->lse = record_own(t, r, (size_t)x->rows * sizeof(float));
    KERN(t->k, unit_fwd, .Y = r->y.v, .len = r->lse, .X = x->v, .s = s, .N = x->rows, .D = x->cols);
    return &r->y;
}

/* --- means of spans --- */

static void means_back(struct tape *t, struct record *r)
{
    bool add;
    act *dx = tape_grad(t, r->x, &add);
    KERN(t->k, means_bwd, .dX = dx, .add = add, .dY = r->y.g, .at = r->pos, .len = r->index,
         .M = r->y.rows, .D = r->y.cols);
}

struct var *tape_means(struct tape *t, struct var *x, const struct spans *s)
{
    struct record *r = record_new(t, s->n, x->cols);
    r->back = means_back;
    r->x = x; r->pos = s->at; r->index = s->len;
    KERN(t->k, means_fwd, .Y = r->y.v, .X = x->v, .at = s->at, .len = s->len, .M = s->n,
         .D = x->cols);
    return &r->y;
}
