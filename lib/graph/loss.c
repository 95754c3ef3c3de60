/* What objectives end in: losses that go backward through themselves at once, their scale being
 * known. */
#include <assert.h>
#include "lib/graph/record.h"

static struct xent xent_new(struct tape *t, int n)
{
    size_t floats = (size_t)n * sizeof(float);
    return (struct xent){ tape_alloc(t, floats), tape_alloc(t, floats),
                          tape_alloc(t, (size_t)n * sizeof(int32_t)) };
}

/* Where x's gradient is written to; NULL where nothing is trained. */
static act *first_grad(struct tape *t, struct var *x)
{
    if (!t->train) return NULL;
    bool add;
    act *dx = tape_grad(t, x, &add);
    assert(!add);                   /* the output layer comes first among what reads these rows */
    return dx;
}

/* Where x's gradient is added to; NULL where nothing is trained. */
static act *added_grad(struct tape *t, struct var *x)
{
    if (!t->train) return NULL;
    bool add;
    act *dx = tape_grad(t, x, &add);
    if (!add) t->k->zero(dx, (size_t)x->rows * (size_t)x->cols * t->k->act_size);
    return dx;
}

struct xent tape_xent(struct tape *t, struct var *x, int W, int b, const int32_t *target,
                      const float *weight, const uint8_t *allowed, float smoothing, float scale)
{
    struct xent e = xent_new(t, x->rows);
    act *dx = first_grad(t, x);
    KERN(t->k, xent, .loss = e.loss, .nll = e.nll, .best = e.best, .dX = dx,
         .dW = dx ? grad(t, W) : NULL, .db = dx ? grad(t, b) : NULL, .X = x->v,
         .W = val(t, W), .b = val(t, b), .target = target, .weight = weight,
         .allowed = allowed, .eps = smoothing, .scale = scale, .M = x->rows, .D = x->cols,
         .V = t->ps->p[W].rows);
    return e;
}

struct xent tape_xent_matrix(struct tape *t, struct var *x, const float *W, int V,
                             const int32_t *target, const float *weight, const uint8_t *allowed,
                             float scale)
{
    struct xent e = xent_new(t, x->rows);
    KERN(t->k, xent, .loss = e.loss, .nll = e.nll, .best = e.best, .dX = first_grad(t, x),
         .X = x->v, .W = W, .target = target, .weight = weight, .allowed = allowed, .scale = scale,
         .M = x->rows, .D = x->cols, .V = V);
    return e;
}

struct xent tape_span_xent(struct tape *t, struct var *z, int column, const struct spans *s,
                           const int32_t *target, const uint8_t *allowed, float scale)
{
    struct xent e = xent_new(t, s->n);
    KERN(t->k, span, .loss = e.loss, .best = e.best, .dZ = added_grad(t, z), .Z = z->v,
         .ldz = z->cols, .column = column, .at = s->at, .len = s->len, .target = target,
         .allowed = allowed, .scale = scale, .M = s->n);
    e.nll = e.loss;
    return e;
}

float *tape_cos_pairs(struct tape *t, int E, const int32_t *i, const int32_t *j, int P, bool l2,
                      float scale)
{
    float *loss = tape_alloc(t, (size_t)P * sizeof *loss);
    KERN(t->k, cos_pairs, .loss = loss, .dE = t->train ? grad(t, E) : NULL,
         .E = val(t, E), .i = i, .j = j, .scale = scale, .l2 = l2, .P = P,
         .D = t->ps->p[E].cols);
    return loss;
}

float *tape_gc(struct tape *t, struct var *h, int O, const int32_t *target, const int32_t *nb,
               const float *f, const float *logx, float dot_scale, float weight, float scale, int M,
               int J)
{
    float *loss = tape_alloc(t, (size_t)M * sizeof(float));
    act *dh = added_grad(t, h);
    bool own = O < 0;
    KERN(t->k, gc, .loss = loss, .dH = dh, .dB = own ? dh : dh ? grad(t, O) : NULL, .H = h->v,
         .B = own ? h->v : (const void *)val(t, O), .B_act = own, .t = target, .nb = nb,
         .f = f, .logx = logx, .dot_scale = dot_scale, .weight = weight, .scale = scale, .M = M,
         .J = J, .D = h->cols);
    return loss;
}
