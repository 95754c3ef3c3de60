/* The operations of tape.h, in its order: each with its backward function above it. */
#include <assert.h>
#include <math.h>
#include "lib/graph/record.h"

/* --- linear --- */

static void linear_back(struct tape *t, struct record *r)
{
    bool add, first;
    act *dx = tape_grad(t, r->x, &add);
    float *dW = first_of(t, r->W, r->y.rows, &first);
    /* summed: the norm that reads y has already summed these columns (bias_of_u) */
    KERN(t->k, linear_bwd, .dX = dx, .add = add, .dW = dW, .first = first,
         .db = r->summed ? NULL : grad(t, r->b), .dY = r->y.g, .X = r->x->v, .W = val(t, r->W),
         .N = r->y.rows, .I = r->x->cols, .O = r->y.cols);
}

struct var *tape_linear(struct tape *t, struct var *x, int W, int b)
{
    int O = t->ps->p[W].rows;
    struct record *r = record_new(t, x->rows, O);
    r->back = linear_back;
    r->x = x; r->W = W; r->b = b;
    KERN(t->k, linear_fwd, .Y = r->y.v, .X = x->v, .W = val(t, W), .W8 = val8(t, W),
         .b = val(t, b), .N = x->rows, .I = x->cols, .O = O);
    return &r->y;
}

static void dense_back(struct tape *t, struct record *r)
{
    /* in place: nothing reads dY again */
    KERN(t->k, act_bwd, .dX = r->y.g, .pre = r->pre, .f = r->f,
         .n = (size_t)r->y.rows * (size_t)r->y.cols);
    linear_back(t, r);
}

struct var *tape_dense(struct tape *t, struct var *x, int W, int b, enum kern_act f)
{
    int O = t->ps->p[W].rows;
    struct record *r = record_new(t, x->rows, O);
    r->back = dense_back;
    r->x = x; r->W = W; r->b = b; r->f = f;
    /* f's derivative is of the value before it; for prediction the value itself is all */
    if (t->train) r->pre = record_own(t, r, (size_t)x->rows * (size_t)O * t->k->act_size);
    KERN(t->k, linear_fwd, .Y = r->y.v, .pre = r->pre, .X = x->v, .W = val(t, W),
         .W8 = val8(t, W), .b = val(t, b), .f = f, .N = x->rows, .I = x->cols, .O = O);
    return &r->y;
}

/* --- feed-forward block: of hidden states only the values before the activation are kept --- */

static void ffn_back(struct tape *t, struct record *r)
{
    int N = r->y.rows, D = r->x->cols, F = t->ps->p[r->W].rows, O = r->y.cols;
    bool add, first, first2;
    act *dx = tape_grad(t, r->x, &add);
    float *dW = first_of(t, r->W, N, &first), *dW2 = first_of(t, r->W2, N, &first2);
    /* dx was asked for before the mark: it outlives this function */
    int m = tape_mark(t);
    /* The hidden states are made again from `pre` inside this product: a fifth less memory for
     * activations, for one more evaluation of the activation. Its derivative and the bias's
     * gradient are in the same pass: passes of their own went over [N, F] three times more. */
    act *dpre = tape_alloc(t, (size_t)N * (size_t)F * t->k->act_size);
    KERN(t->k, linear_bwd, .dX = dpre, .dW = dW2, .first = first2,
         .db = r->summed ? NULL : grad(t, r->b2), .dY = r->y.g, .X = r->pre, .W = val(t, r->W2),
         .pre_x = r->pre, .f = r->f, .db_x = grad(t, r->b), .N = N, .I = F, .O = O);
    KERN(t->k, linear_bwd, .dX = dx, .add = add, .dW = dW, .first = first, .dY = dpre, .X = r->x->v,
         .W = val(t, r->W), .N = N, .I = D, .O = F);
    tape_back_to(t, m);
}

struct var *tape_ffn(struct tape *t, struct var *x, int W1, int b1, int W2, int b2, enum kern_act f)
{
    int N = x->rows, F = t->ps->p[W1].rows, O = t->ps->p[W2].rows;
    struct record *r = record_new(t, N, O);
    r->back = ffn_back;
    r->x = x; r->W = W1; r->b = b1; r->W2 = W2; r->b2 = b2; r->f = f;
    size_t bytes = (size_t)N * (size_t)F * t->k->act_size;
    r->pre = t->train ? record_own(t, r, bytes) : NULL;
    int m = tape_mark(t);
    /* only until the second product has read it */
    act *h = tape_alloc(t, bytes);
    KERN(t->k, linear_fwd, .Y = h, .pre = r->pre, .X = x->v, .W = val(t, W1), .W8 = val8(t, W1),
         .b = val(t, b1), .f = f, .N = N, .I = x->cols, .O = F);
    KERN(t->k, linear_fwd, .Y = r->y.v, .X = h, .W = val(t, W2), .W8 = val8(t, W2),
         .b = val(t, b2), .N = N, .I = F, .O = O);
    tape_back_to(t, m);
    return &r->y;
}

/* --- rows of tables: embeddings, and mixtures of them --- */

static void mix_back(struct tape *t, struct record *r)
{
    const struct mixture *x = &r->mix;
    /* a constant mixture (m->constant) leaves E's gradient to the rows that read it as tokens */
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

struct var *tape_embed(struct tape *t, const int32_t *token, const int32_t *pos,
                       const int32_t *lang, int rows, int E, int P, int L, float scale,
                       const struct mixture *m)
{
    int D = t->ps->p[E].cols;
    struct record *r = record_new(t, rows, D);
    r->back = embed_back;
    r->token = token; r->pos = pos; r->lang = lang; r->E = E; r->P = P; r->L = L; r->scale = scale;
    if (m) r->mix = *m;
    /* rows whose token is -1 get position and language here, and their mixture below */
    KERN(t->k, embed_fwd, .Y = r->y.v, .token = token, .pos = pos, .lang = lang,
         .E = val(t, E), .E8 = val8(t, E), .P = val(t, P), .L = val(t, L),
         .scale = scale, .N = rows, .D = D);
    mix(t, r);
    return &r->y;
}

struct var *tape_mix(struct tape *t, int E, float scale, const struct mixture *m)
{
    struct record *r = record_new(t, m->n, t->ps->p[E].cols);
    r->back = mix_back;
    r->E = E; r->scale = scale; r->mix = *m;
    /* mixture m is row m here */
    r->mix.row = NULL;
    /* mixtures are added to what a row holds */
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
    /* lengths; `lse` is the record's place for one float per row */
    r->lse = record_own(t, r, (size_t)x->rows * sizeof(float));
    KERN(t->k, unit_fwd, .Y = r->y.v, .len = r->lse, .X = x->v, .s = s, .N = x->rows, .D = x->cols);
    return &r->y;
}

/* --- residual, dropout, layer norm --- */

/* The next dropout of this forward pass. */
static struct kern_drop drop_site(struct tape *t, float p)
{
    /* Masks are drawn by counter, from the key, sample, position and site: the backward pass can
     * draw them again, and results depend neither on the batch's layout nor on threads. */
    struct kern_drop d = t->drop;
    /* the site is counted also where nothing is dropped: later sites keep their numbers */
    d.p = t->dropout ? p : 0;
    d.site = t->site++;
    return d;
}

/* Where the back end adds up the columns of u's gradient itself, the gradient of the bias of the
 * product that made u; NULL elsewhere. */
static float *bias_of_u(struct tape *t, struct record *r)
{
    struct record *made = r->made_u;
    /* then the product's backward function, which comes later, sums them itself */
    if (!made || !t->k->norm_sums) return NULL;
    made->summed = true;
    return grad(t, made->back == ffn_back ? made->b2 : made->b);
}

static void norm_back(struct tape *t, struct record *r)
{
    bool add_x, add_u = false;
    /* gradient of the sum as a variable of its own, which in a pre-norm stack the next block added
     * to */
    act *ds = r->z && r->z->has_g ? r->z->g : NULL;
    act *dx = tape_grad(t, r->x, &add_x), *du = NULL;
    int m = tape_mark(t);
    act *added = NULL;
    if (r->u) {
        du = tape_grad(t, r->u, &add_u);
        /* after du, which stays for the product that made u */
        m = tape_mark(t);
        /* The kernel writes dU and cannot add: where there is a gradient already, the new one goes
         * into memory of its own first. */
        if (add_u) {
            added = du;
            du = tape_alloc(t, (size_t)r->y.rows * (size_t)r->y.cols * t->k->act_size);
        }
    }
    if (r->y.has_g)
        KERN(t->k, norm_bwd, .dX = dx, .add = add_x, .dU = du, .dgamma = grad(t, r->W),
             .dbeta = grad(t, r->b), .du_sum = du && !add_u ? bias_of_u(t, r) : NULL,
             .dY = r->y.g, .dS = ds, .S = r->s, .mean = r->mean, .rstd = r->rstd,
             .gamma = val(t, r->W), .drop = &r->drop, .N = r->y.rows, .D = r->y.cols);
    else {                                   /* only the sum was used */
        size_t n = (size_t)r->y.rows * (size_t)r->y.cols;
        /* the sum's gradient is x's, and through the dropout u's */
        if (add_x) KERN(t->k, add, .Y = dx, .X = ds, .n = n);
        else t->k->copy(dx, ds, n * t->k->act_size);
        if (du) KERN(t->k, drop_bwd, .dU = du, .dS = ds, .drop = &r->drop, .N = r->y.rows,
                     .D = r->y.cols);
    }
    if (added) KERN(t->k, add, .Y = added, .X = du, .n = (size_t)r->y.rows * (size_t)r->y.cols);
    tape_back_to(t, m);
}

struct var *tape_norm(struct tape *t, struct var *x, struct var *u, int gamma, int beta, float eps,
                      struct var **sum)
{
    int N = x->rows, D = x->cols;
    /* looked at first: record_new and tape_var change t->n */
    struct record *last = t->n > 0 ? &t->records[t->n - 1] : NULL;
    /* The sum for the bias may move into the norm only if the norm is the single reader of that
     * product; a product recorded just before cannot have another one yet. */
    bool fresh = u && last && u == &last->y;
    /* without u the sum is x itself: nothing to store */
    struct var *z = u && sum ? tape_var(t, N, D) : NULL;
    struct record *r = record_new(t, N, D);
    r->back = norm_back;
    if (fresh && (last->back == linear_back || last->back == ffn_back)) r->made_u = last;
    r->x = x; r->u = u; r->z = z; r->W = gamma; r->b = beta;
    if (u) r->drop = drop_site(t, t->p_drop);
    int m = tape_mark(t);
    size_t row = (size_t)N * sizeof(float);
    r->mean = record_own(t, r, row);
    r->rstd = record_own(t, r, row);
    /* S is kept, not X and U: the backward pass needs the sum alone */
    r->s = !u ? x->v : z ? z->v : record_own(t, r, (size_t)N * (size_t)D * t->k->act_size);
    KERN(t->k, norm_fwd, .Y = r->y.v, .S = u ? r->s : NULL, .mean = r->mean, .rstd = r->rstd,
         .X = x->v, .U = u ? u->v : NULL, .gamma = val(t, gamma), .beta = val(t, beta),
         .drop = &r->drop, .eps = eps, .N = N, .D = D);
    /* without a backward pass nobody reads mean, rstd and S again */
    if (!t->train) { tape_back_to(t, m); r->n_own = 0; }
    if (sum) *sum = u ? z : x;
    return &r->y;
}

static void drop_back(struct tape *t, struct record *r)
{
    bool add;
    size_t n = (size_t)r->y.rows * (size_t)r->y.cols;
    /* NULL: dropout alone (tape_drop) */
    if (r->x) {
        act *dx = tape_grad(t, r->x, &add);
        if (add) KERN(t->k, add, .Y = dx, .X = r->y.g, .n = n);
        else t->k->copy(dx, r->y.g, n * t->k->act_size);
    }
    act *du = tape_grad(t, r->u, &add);
    KERN(t->k, drop_bwd, .dU = du, .add = add, .dS = r->y.g, .drop = &r->drop, .N = r->y.rows,
         .D = r->y.cols);
}

struct var *tape_add_drop(struct tape *t, struct var *x, struct var *u)
{
    struct record *r = record_new(t, u->rows, u->cols);
    r->back = drop_back;
    r->x = x; r->u = u;
    r->drop = drop_site(t, t->p_drop);
    KERN(t->k, drop_fwd, .S = r->y.v, .X = x ? x->v : NULL, .U = u->v, .drop = &r->drop,
         .N = u->rows, .D = u->cols);
    return &r->y;
}

struct var *tape_drop(struct tape *t, struct var *x)
{
    if (t->dropout && t->p_drop > 0) return tape_add_drop(t, NULL, x);
    /* counted all the same: without dropout of states (p 0), attention's sites have the same
     * numbers */
    t->site++;
    return x;
}

/* --- attention --- */

static act *column(const struct tape *t, act *p, int c)
{
    return p ? (char *)p + (size_t)c * t->k->act_size : NULL;
}

static void attn_back(struct tape *t, struct record *r)
{
    int D = r->y.cols;
    bool add;
    /* `add` is not looked at: q, k and v are a product's that attention alone reads, so all is
     * written */
    act *dq = tape_grad(t, r->x, &add), *dk, *dv;
    act *q = r->x->v, *k, *v;
    if (r->u) {
        dk = tape_grad(t, r->u, &add);
        k = r->u->v;
        v = column(t, k, D); dv = column(t, dk, D);
    } else {
        k = column(t, q, D); dk = column(t, dq, D);
        v = column(t, q, 2 * D); dv = column(t, dq, 2 * D);
    }
    KERN(t->k, attn_bwd, .dQ = dq, .dK = dk, .dV = dv, .dO = r->y.g, .O = r->y.v, .Q = q, .K = k,
         .V = v, .lse = r->lse, .bits = r->bits, .g = &r->attn, .drop = &r->drop);
}

/* Products with weights also have a special path for few rows. With weights in 8 bits all products
 * are exact integers, and a sentence's numbers do not depend on its batch: attention must not bring
 * that back. */
static bool few_rows(const struct tape *t, int rows)
{
    return !t->train && rows <= KERN_FEW_ROWS && !params_in_int8(t->ps);
}

static struct var *attention(struct tape *t, struct var *q, struct var *kv, const struct spans *sq,
                             const struct spans *sk, int heads, bool causal)
{
    /* self-attention's rows hold q, k and v one after another (docs/formats/checkpoint.md) */
    int D = kv ? q->cols : q->cols / 3;
    struct record *r = record_new(t, q->rows, D);
    r->back = attn_back;
    r->x = q; r->u = kv;
    r->drop = drop_site(t, t->p_attn);
    /* the leading dimensions are those of the packed rows: nothing is copied apart */
    r->attn = (struct kern_attn){ .batch = sq->n, .heads = heads, .dim = D / heads,
        .ldq = q->cols, .ldk = kv ? kv->cols : q->cols, .ldv = kv ? kv->cols : q->cols, .ldo = D,
        .q_at = sq->at, .q_len = sq->len, .k_at = sk->at, .k_len = sk->len,
        .max_q = sq->max, .max_k = sk->max,
        .rows_q = q->rows, .causal = causal, .scale = 1.0f / sqrtf((float)(D / heads)) };
    /* The backward pass computes the probabilities again from Q, K and each row's log-sum-exp (Dao
     * et al. 2022), which takes the place of [heads, length, length] numbers. */
    r->lse = t->train ? record_own(t, r, (size_t)q->rows * (size_t)heads * sizeof(float)) : NULL;
    size_t bits = t->train && t->k->attn_bits ? t->k->attn_bits(&r->attn, &r->drop) : 0;
    r->bits = bits ? record_own(t, r, bits) : NULL;
    act *k = kv ? kv->v : column(t, q->v, D);
    KERN(t->k, attn_fwd, .O = r->y.v, .lse = r->lse, .bits = r->bits, .Q = q->v, .K = k,
         .V = column(t, k, D), .g = &r->attn, .drop = &r->drop, .few = few_rows(t, q->rows));
    return &r->y;
}

struct var *tape_self_attn(struct tape *t, struct var *qkv, const struct spans *s, int heads,
                           bool causal)
{
    return attention(t, qkv, NULL, s, s, heads, causal);
}

struct var *tape_cross_attn(struct tape *t, struct var *q, struct var *kv, const struct spans *sq,
                            const struct spans *sk, int heads)
{
    return attention(t, q, kv, sq, sk, heads, false);
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
    /* the record's two places for arrays of int32; they are the batch's, alive until the reset */
    r->x = x; r->pos = s->at; r->index = s->len;
    KERN(t->k, means_fwd, .Y = r->y.v, .X = x->v, .at = s->at, .len = s->len, .M = s->n,
         .D = x->cols);
    return &r->y;
}

/* --- rows --- */

static void gather_back(struct tape *t, struct record *r)
{
    bool add;
    act *dx = tape_grad(t, r->x, &add);
    int D = r->y.cols;
    /* rows that were not gathered have a gradient of zero */
    if (!add) t->k->zero(dx, (size_t)r->x->rows * (size_t)D * t->k->act_size);
    KERN(t->k, scatter, .Y = dx, .ldy = D, .add = true, .X = r->y.g, .ldx = D, .index = r->index,
         .M = r->y.rows, .D = D);
}

struct var *tape_gather(struct tape *t, struct var *x, const int32_t *index, int m)
{
    struct record *r = record_new(t, m, x->cols);
    r->back = gather_back;
    r->x = x; r->index = index;
    KERN(t->k, gather, .Y = r->y.v, .ldy = x->cols, .X = x->v, .ldx = x->cols, .index = index,
         .M = m, .D = x->cols);
    return &r->y;
}

/* --- losses: their scale is known, so the same call computes the gradients, and logits need not be
 * kept for the backward pass --- */

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
    /* the output layer is the first reader of these rows on the way back */
    assert(!add);
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
    bool first = false;
    /* the largest gradient there is: written at once where it is the first */
    float *dW = dx ? first_of(t, W, x->rows, &first) : NULL;
    KERN(t->k, xent, .loss = e.loss, .nll = e.nll, .best = e.best, .dX = dx, .dW = dW,
         .first = first, .db = dx ? grad(t, b) : NULL, .X = x->v,
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
    /* hidden form (Eq. 3): neighbours are rows of h, which get their gradient in the same matrix */
    bool own = O < 0;
    KERN(t->k, gc, .loss = loss, .dH = dh, .dB = own ? dh : dh ? grad(t, O) : NULL, .H = h->v,
         .B = own ? h->v : (const void *)val(t, O), .B_act = own, .t = target, .nb = nb,
         .f = f, .logx = logx, .dot_scale = dot_scale, .weight = weight, .scale = scale, .M = M,
         .J = J, .D = h->cols);
    return loss;
}
