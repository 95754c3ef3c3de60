/* The list of operations, layers of a model. */
#ifndef TEST_UNIT_OPS_LAYERS_H
#define TEST_UNIT_OPS_LAYERS_H
#include "test/unit/ops_case.h"

/* --- linear ----------------------------------------------------------------------------------- */

static double activation(double x, enum kern_act f)
{
    switch (f) {
    case KERN_GELU: return x * 0.5 * erfc(-x / sqrt(2));
    case KERN_RELU: return x > 0 ? x : 0;
    case KERN_GELU_TANH: return x / 2 * (1 + tanh(sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x)));
    case KERN_TANH: return tanh(x);
    default: return x;
    }
}

/* In four sums: an addition waits for the one before it, which was a third of the test's time. */
static double plain_dot(const double *x, const double *w, int n)
{
    double sum[4] = { 0 };
    int i = 0;
    for (; i + 4 <= n; i += 4)
        for (int j = 0; j < 4; j++) sum[j] += x[i + j] * w[i + j];
    for (; i < n; i++) sum[0] += x[i] * w[i];
    return sum[0] + sum[1] + (sum[2] + sum[3]);
}
static void plain_linear(double *Y, const double *X, const double *W, const double *b,
                         enum kern_act f, int N, int I, int O)
{
    for (int n = 0; n < N; n++)
        for (int o = 0; o < O; o++) {
            double y = plain_dot(X + times(n, I), W + times(o, I), I) + (b ? b[o] : 0);
            Y[times(n, O) + (size_t)o] = activation(y, f);
        }
}

static void linear_setup(struct test *t)
{
    struct shape s = t->s;
    input(t, "X", ACT, times(s.N, s.I), true);
    input(t, "W", PARAM, times(s.O, s.I), true);
    if (!s.no_bias) input(t, "b", PARAM, (size_t)s.O, true);
    output(t, "Y", ACT, times(s.N, s.O));
}
static void linear_plain(struct test *t)
{
    plain_linear(t->out[0].x, t->in[0].x, t->in[1].x, t->s.no_bias ? NULL : t->in[2].x, KERN_NONE,
                 t->s.N, t->s.I, t->s.O);
}
static void linear_forward(struct test *t)
{
    KERN(k, linear_fwd, .Y = t->out[0].dev, .X = t->in[0].dev, .W = t->in[1].dev,
         .b = t->in[2].dev, .N = t->s.N, .I = t->s.I, .O = t->s.O);
}
static void linear_backward(struct test *t)
{
    KERN(k, linear_bwd, .dX = t->in[0].grad, .add = t->s.add, .dW = t->in[1].grad,
         .db = t->in[2].grad, .dY = t->out[0].cot_dev, .X = t->in[0].dev, .W = t->in[1].dev,
         .N = t->s.N, .I = t->s.I, .O = t->s.O);
}

/* f(X W1^T + b1) W2^T + b2: activations forward, and their derivative inside the next product's
 * backward pass. */
static void ffn_setup(struct test *t)
{
    struct shape s = t->s;
    input(t, "X", ACT, times(s.N, s.I), true);
    input(t, "W1", PARAM, times(s.H, s.I), true);
    input(t, "b1", PARAM, (size_t)s.H, true);
    input(t, "W2", PARAM, times(s.O, s.H), true);
    input(t, "b2", PARAM, (size_t)s.O, true);
    output(t, "Y", ACT, times(s.N, s.O));
    for (int i = 0; i < 3; i++) extra(t, bytes_of(ACT, times(s.N, s.H)));
}
static void ffn_plain(struct test *t)
{
    struct shape s = t->s;
    double *hidden = mem_alloc(times(s.N, s.H) * sizeof *hidden);
    plain_linear(hidden, t->in[0].x, t->in[1].x, t->in[2].x, s.f, s.N, s.I, s.H);
    plain_linear(t->out[0].x, hidden, t->in[3].x, t->in[4].x, KERN_NONE, s.N, s.H, s.O);
    free(hidden);
}
static void ffn_forward(struct test *t)
{
    struct shape s = t->s;
    KERN(k, linear_fwd, .Y = t->extra[0], .pre = t->extra[1], .X = t->in[0].dev, .W = t->in[1].dev,
         .b = t->in[2].dev, .f = s.f, .N = s.N, .I = s.I, .O = s.H);
    KERN(k, linear_fwd, .Y = t->out[0].dev, .X = t->extra[0], .W = t->in[3].dev, .b = t->in[4].dev,
         .N = s.N, .I = s.H, .O = s.O);
}
/* Of the hidden states both are kept, or only what they were before f (`alone`), with one call
 * for all or two (`plain`). */
static void ffn_backward(struct test *t)
{
    struct shape s = t->s;
    bool sums = t->in[2].grad && !s.add;                /* of the first bias, in the first call */
    if (s.N) k->zero(t->extra[2], bytes_of(ACT, times(s.N, s.H)));
    if (s.alone || s.plain) k->copy(t->extra[0], t->extra[1], bytes_of(ACT, times(s.N, s.H)));
    KERN(k, linear_bwd, .dX = t->extra[2], .add = s.add, .dW = s.plain ? NULL : t->in[3].grad,
         .db = s.plain ? NULL : t->in[4].grad, .dY = t->out[0].cot_dev, .X = t->extra[0],
         .W = t->in[3].dev, .pre_x = s.alone ? t->extra[0] : t->extra[1], .f = s.f,
         .db_x = sums ? t->in[2].grad : NULL, .N = s.N, .I = s.H, .O = s.O);
    if (s.plain)
        KERN(k, linear_bwd, .dW = t->in[3].grad, .db = t->in[4].grad, .dY = t->out[0].cot_dev,
             .X = t->extra[0], .pre_x = t->extra[0], .f = s.f, .N = s.N, .I = s.H, .O = s.O);
    KERN(k, linear_bwd, .dX = t->in[0].grad, .add = s.add, .dW = t->in[1].grad,
         .db = sums ? NULL : t->in[2].grad, .dY = t->extra[2], .X = t->in[0].dev,
         .W = t->in[1].dev, .N = s.N, .I = s.I, .O = s.H);
}

/* f(X W^T + b), whose backward pass begins with f' alone. */
static void dense_setup(struct test *t)
{
    linear_setup(t);
    extra(t, bytes_of(ACT, times(t->s.N, t->s.O)));
    extra(t, bytes_of(ACT, times(t->s.N, t->s.O)));
}
static void dense_plain(struct test *t)
{
    plain_linear(t->out[0].x, t->in[0].x, t->in[1].x, t->in[2].x, t->s.f, t->s.N, t->s.I, t->s.O);
}
static void dense_forward(struct test *t)
{
    KERN(k, linear_fwd, .Y = t->out[0].dev, .pre = t->extra[0], .X = t->in[0].dev,
         .W = t->in[1].dev, .b = t->in[2].dev, .f = t->s.f, .N = t->s.N, .I = t->s.I, .O = t->s.O);
}
static void dense_backward(struct test *t)
{
    struct shape s = t->s;
    k->copy(t->extra[1], t->out[0].cot_dev, bytes_of(ACT, times(s.N, s.O)));
    KERN(k, act_bwd, .dX = t->extra[1], .pre = t->extra[0], .f = s.f, .n = times(s.N, s.O));
    KERN(k, linear_bwd, .dX = t->in[0].grad, .add = s.add, .dW = t->in[1].grad,
         .db = t->in[2].grad, .dY = t->extra[1], .X = t->in[0].dev, .W = t->in[1].dev, .N = s.N,
         .I = s.I, .O = s.O);
}

/* --- embeddings ------------------------------------------------------------------------------- */

enum { POSITIONS = 6, LANGS = 3 };
static const float EMBED_SCALE = 1.75f;

static void embed_setup(struct test *t)
{
    struct shape s = t->s;
    input(t, "E", PARAM, times(s.V, s.I), true);
    if (!s.plain) input(t, "P", PARAM, times(POSITIONS, s.I), true);
    if (!s.plain) input(t, "L", PARAM, times(LANGS, s.I), true);
    int32_t *token = integers(t, "token", (size_t)s.N, s.V);
    for (int i = 0; s.none && i < s.N; i += 3) token[i] = -1;
    integers(t, "pos", (size_t)s.N, POSITIONS);
    integers(t, "lang", (size_t)s.N, LANGS);
    output(t, "Y", ACT, times(s.N, s.I));
}
static void embed_plain(struct test *t)
{
    size_t D = (size_t)t->s.I;
    for (size_t n = 0; n < (size_t)t->s.N; n++)
        for (size_t i = 0; i < D; i++) {
            int32_t token = t->ints[0].v[n];
            double y = token < 0 ? 0 : (double)EMBED_SCALE * t->in[0].x[(size_t)token * D + i];
            if (!t->s.plain)
                y += t->in[1].x[(size_t)t->ints[1].v[n] * D + i] +
                     t->in[2].x[(size_t)t->ints[2].v[n] * D + i];
            t->out[0].x[n * D + i] = y;
        }
}
static void embed_forward(struct test *t)
{
    KERN(k, embed_fwd, .Y = t->out[0].dev, .token = idev(t, 0), .pos = idev(t, 1),
         .lang = idev(t, 2), .E = t->in[0].dev, .P = t->in[1].dev, .L = t->in[2].dev,
         .scale = EMBED_SCALE, .N = t->s.N, .D = t->s.I);
}
static void embed_backward(struct test *t)
{
    KERN(k, embed_bwd, .dE = t->in[0].grad, .dP = t->in[1].grad, .dL = t->in[2].grad,
         .dY = t->out[0].cot_dev, .token = idev(t, 0), .pos = idev(t, 1), .lang = idev(t, 2),
         .scale = EMBED_SCALE, .N = t->s.N, .D = t->s.I);
}

/* --- residual, dropout, layer norm: outputs Y and, with `sum`, S; in_place: S is X ------------ */

static const float NORM_EPS = 1e-5f;

static void norm_setup(struct test *t)
{
    struct shape s = t->s;
    rows_of_drop(t, s.N);
    input(t, "X", ACT, times(s.N, s.I), true);
    input(t, "gamma", PARAM, (size_t)s.I, true);
    input(t, "beta", PARAM, (size_t)s.I, true);
    if (!s.plain) input(t, "U", ACT, times(s.N, s.I), true);
    if (s.alone && k->norm_sums) {      /* a bias in U, which is 0: its gradient is du_sum */
        struct array *b = input(t, "b", PARAM, (size_t)s.I, true);
        for (size_t i = 0; i < b->n; i++) b->x[i] = 0;
    }
    output(t, "Y", ACT, times(s.N, s.I));
    if (s.sum) output(t, "S", ACT, times(s.N, s.I));
    extra(t, (size_t)s.N * sizeof(float));
    extra(t, (size_t)s.N * sizeof(float));
    extra(t, bytes_of(ACT, times(s.N, s.I)));
    if (s.add && !s.plain) extra(t, bytes_of(ACT, times(s.N, s.I)));
}
static void norm_plain(struct test *t)
{
    size_t D = (size_t)t->s.I;
    double *s = mem_alloc(D * sizeof *s);
    for (int n = 0; n < t->s.N; n++) {
        double mean = 0, var = 0;
        for (size_t i = 0; i < D; i++) {
            size_t at = (size_t)n * D + i;
            double u = t->s.plain ? 0 : t->in[3].x[at] + (t->n_in > 4 ? t->in[4].x[i] : 0);
            s[i] = t->in[0].x[at] + (t->s.plain ? 0 : mask(t, n, 0, (int)i) * u);
            mean += s[i] / (double)D;
            if (t->s.sum) t->out[1].x[at] = s[i];
        }
        for (size_t i = 0; i < D; i++) var += (s[i] - mean) * (s[i] - mean) / (double)D;
        for (size_t i = 0; i < D; i++)
            t->out[0].x[(size_t)n * D + i] =
                (s[i] - mean) / sqrt(var + (double)NORM_EPS) * t->in[1].x[i] + t->in[2].x[i];
    }
    free(s);
}
static void *norm_sum(struct test *t)
{
    return t->s.sum ? t->out[1].dev : t->s.plain ? t->in[0].dev : t->extra[4];
}
static void norm_forward(struct test *t)
{
    void *X = t->in[0].dev;
    if (t->s.in_place && X != norm_sum(t)) {
        k->copy(norm_sum(t), X, bytes_of(ACT, times(t->s.N, t->s.I)));
        X = norm_sum(t);
    }
    KERN(k, norm_fwd, .Y = t->out[0].dev,
         .S = t->s.plain && !t->s.sum && !t->s.in_place ? NULL : norm_sum(t), .mean = t->extra[2],
         .rstd = t->extra[3], .X = X, .U = t->in[3].dev, .gamma = t->in[1].dev,
         .beta = t->in[2].dev, .drop = &t->drop, .eps = NORM_EPS, .N = t->s.N, .D = t->s.I);
}
static void norm_backward(struct test *t)
{
    /* dU is written, not added to: the caller adds. */
    void *dU = t->s.plain ? NULL : t->s.add ? t->extra[5] : t->in[3].grad;
    KERN(k, norm_bwd, .dX = t->in[0].grad, .add = t->s.add, .dU = dU, .dgamma = t->in[1].grad,
         .dbeta = t->in[2].grad, .du_sum = t->n_in > 4 ? t->in[4].grad : NULL,
         .dY = t->out[0].cot_dev,
         .dS = t->s.sum ? t->out[1].cot_dev : NULL, .S = norm_sum(t), .mean = t->extra[2],
         .rstd = t->extra[3], .gamma = t->in[1].dev, .drop = &t->drop, .N = t->s.N, .D = t->s.I);
    if (dU == t->extra[5] && dU) KERN(k, add, .Y = t->in[3].grad, .X = dU,
                                      .n = times(t->s.N, t->s.I));
}

/* --- dropout alone ---------------------------------------------------------------------------- */

static void drop_setup(struct test *t)
{
    rows_of_drop(t, t->s.N);
    input(t, "U", ACT, times(t->s.N, t->s.I), true);
    input(t, "X", ACT, times(t->s.N, t->s.I), false);
    output(t, "S", ACT, times(t->s.N, t->s.I));
}
static void drop_plain(struct test *t)
{
    for (int n = 0; n < t->s.N; n++)
        for (int i = 0; i < t->s.I; i++) {
            size_t at = times(n, t->s.I) + (size_t)i;
            t->out[0].x[at] = (t->s.plain ? 0 : t->in[1].x[at]) + mask(t, n, 0, i) * t->in[0].x[at];
        }
}
static void drop_forward(struct test *t)
{
    KERN(k, drop_fwd, .S = t->out[0].dev, .X = t->s.plain ? NULL : t->in[1].dev, .U = t->in[0].dev,
         .drop = &t->drop, .N = t->s.N, .D = t->s.I);
}
static void drop_backward(struct test *t) { KERN(k, drop_bwd, .dU = t->in[0].grad, .add = t->s.add,
                                                 .dS = t->out[0].cot_dev, .drop = &t->drop,
                                                 .N = t->s.N, .D = t->s.I); }

/* --- attention: self (QKV in one matrix), cross (Q; K and V in one), cached (query rows are the
 * last of longer keys, key rows lie apart); plain: without a backward pass */

enum { CACHE = 70 };

static void attn_setup(struct test *t)
{
    struct shape s = t->s;
    int D = s.heads * s.I, B = s.batch;
    int32_t *q_at = integers(t, "q_at", (size_t)B, 0), *q_len = integers(t, "q_len", (size_t)B, 0);
    int32_t *k_at = integers(t, "k_at", (size_t)B, 0), *k_len = integers(t, "k_len", (size_t)B, 0);
    int nq = 0, nk = 0, max_q = 0, max_k = 0;
    for (int b = 0; b < B; b++) {
        q_at[b] = nq;
        q_len[b] = s.cached ? b % 3 : b == 0 ? s.N : b * 3 % (s.N + 1);
        k_len[b] = s.cached  ? q_len[b] + b * 17 % (CACHE - 2)
                   : s.cross ? (b * 5 + 2) % (s.N + 7)
                             : q_len[b];
        k_at[b] = s.cached ? b * CACHE : s.cross ? nk : nq;
        nq += q_len[b];
        nk = k_at[b] + (s.cached ? CACHE : k_len[b]);
        if (q_len[b] > max_q) max_q = q_len[b];
        if (k_len[b] > max_k) max_k = k_len[b];
    }
    rows_of_drop(t, nq);
    bool one = !s.cross && !s.cached;
    input(t, one ? "QKV" : "Q", ACT, times(nq, one ? 3 * D : D), !s.plain);
    if (!one) input(t, "KV", ACT, times(nk, 2 * D), !s.plain);
    output(t, "O", ACT, times(nq, D));
    extra(t, times(nq, s.heads) * sizeof(float));
    t->attn = (struct kern_attn){ .batch = B,
                                  .heads = s.heads,
                                  .dim = s.I,
                                  .ldq = one ? 3 * D : D,
                                  .ldk = one ? 3 * D : 2 * D,
                                  .ldv = one ? 3 * D : 2 * D,
                                  .ldo = D,
                                  .q_at = idev(t, 0),
                                  .q_len = idev(t, 1),
                                  .k_at = idev(t, 2),
                                  .k_len = idev(t, 3),
                                  .max_q = max_q,
                                  .max_k = max_k,
                                  .rows_q = nq,
                                  .causal = s.causal || s.cached,
                                  .scale = 0.7f };
}
static void attn_plain(struct test *t)
{
    const struct kern_attn *g = &t->attn;
    int D = g->heads * g->dim;
    bool one = t->n_in == 1;
    const double *Q = t->in[0].x, *K = one ? Q + D : t->in[1].x, *V = K + D;
    for (int b = 0; b < g->batch; b++) {
        int q_at = t->ints[0].v[b], nq = t->ints[1].v[b], k_at = t->ints[2].v[b],
            nk = t->ints[3].v[b];
        double *p = mem_alloc((size_t)nk * sizeof *p);
        for (int h = 0; h < g->heads; h++)
            for (int q = 0; q < nq; q++) {
                double *o = t->out[0].x + times(q_at + q, g->ldo) + h * g->dim, sum = 0,
                       max = -INFINITY;
                const double *query = Q + times(q_at + q, g->ldq) + h * g->dim;
                int sees = g->causal ? q + nk - nq + 1 : nk;
                for (int i = 0; i < g->dim; i++) o[i] = 0;
                for (int j = 0; j < sees; j++) {
                    p[j] = 0;
                    for (int i = 0; i < g->dim; i++)
                        p[j] += (double)g->scale * query[i] *
                                K[times(k_at + j, g->ldk) + (size_t)(h * g->dim + i)];
                    if (p[j] > max) max = p[j];
                }
                for (int j = 0; j < sees; j++) sum += p[j] = exp(p[j] - max);
                for (int j = 0; j < sees; j++) {
                    double m = mask(t, q_at + q, (uint32_t)h << 12, j) * p[j] / sum;
                    for (int i = 0; i < g->dim; i++)
                        o[i] += m * V[times(k_at + j, g->ldv) + (size_t)(h * g->dim + i)];
                }
            }
        free(p);
    }
}
static act *column(void *p, int c) { return p ? (char *)p + (size_t)c * k->act_size : NULL; }
static void attn_forward(struct test *t)
{
    int D = t->attn.heads * t->attn.dim;
    void *K = t->n_in == 1 ? column(t->in[0].dev, D) : t->in[1].dev;
    size_t bits = k->attn_bits && !t->s.plain ? k->attn_bits(&t->attn, &t->drop) : 0;
    t->bits = bits ? extra(t, bits) : NULL;
    KERN(k, attn_fwd, .O = t->out[0].dev, .lse = t->s.plain ? NULL : t->extra[2], .bits = t->bits,
         .Q = t->in[0].dev, .K = K, .V = column(K, D), .g = &t->attn, .drop = &t->drop,
         .few = t->s.plain && t->attn.rows_q <= KERN_FEW_ROWS);
}
static void attn_backward(struct test *t)
{
    int D = t->attn.heads * t->attn.dim;
    bool one = t->n_in == 1;
    if (t->s.plain) return;
    void *K = one ? column(t->in[0].dev, D) : t->in[1].dev,
         *dK = one ? column(t->in[0].grad, D) : t->in[1].grad;
    KERN(k, attn_bwd, .dQ = t->in[0].grad, .dK = dK, .dV = column(dK, D), .dO = t->out[0].cot_dev,
         .O = t->out[0].dev, .Q = t->in[0].dev, .K = K, .V = column(K, D), .lse = t->extra[2],
         .bits = t->bits, .g = &t->attn, .drop = &t->drop);
}

/* dQ, dK and dV of attn_plain, number by number, each beside what came: with p the probabilities, m
 * the mask, o the output and do its gradient, dV += m p do, dp = m do . v, ds = p (dp - do . o)
 * scale, dQ += ds k, dK += ds q. Differences in a few directions, which other operations have, do
 * not see a dV that is a tenth too large beside dQ and dK in one matrix. */
static bool attn_numbers_hold(struct test *t)
{
    const struct kern_attn *g = &t->attn;
    int D = g->heads * g->dim;
    bool one = t->n_in == 1, good = true;
    if (t->s.plain) return true;
    double *grad[2] = { NULL, NULL };
    for (int i = 0; i < t->n_in; i++) grad[i] = mem_zero(t->in[i].n, sizeof **grad);
    const double *Q = t->in[0].x, *K = one ? Q + D : t->in[1].x, *V = K + D;
    double *dQ = grad[0], *dK = one ? dQ + D : grad[1], *dV = dK + D;
    size_t sums = times(g->rows_q, g->heads);
    float *lse_got = mem_alloc(sums * sizeof *lse_got);
    double *lse = mem_zero(sums, sizeof *lse);
    k->download(lse_got, t->extra[2], sums * sizeof *lse_got);
    t->op->plain(t);
    for (int b = 0; b < g->batch; b++)
        for (int h = 0; h < g->heads; h++)
            for (int i = 0; i < t->ints[1].v[b]; i++) {
                int nk = t->ints[3].v[b], sees = g->causal ? i + nk - t->ints[1].v[b] + 1 : nk;
                size_t row = (size_t)(t->ints[0].v[b] + i), head = times(h, g->dim),
                       q = row * (size_t)g->ldq + head, o = row * (size_t)g->ldo + head;
                double *p = mem_alloc((size_t)nk * sizeof *p), max = -INFINITY, sum = 0, less = 0;
                for (int j = 0; j < sees; j++) {
                    size_t key = times(t->ints[2].v[b] + j, g->ldk) + head;
                    p[j] = 0;
                    for (int c = 0; c < g->dim; c++)
                        p[j] += (double)g->scale * Q[q + (size_t)c] * K[key + (size_t)c];
                    if (p[j] > max) max = p[j];
                }
                for (int j = 0; j < sees; j++) sum += p[j] = exp(p[j] - max);
                lse[row * (size_t)g->heads + (size_t)h] = sees > 0 ? max + log(sum) : -INFINITY;
                for (int c = 0; c < g->dim; c++)
                    less += t->out[0].cot[o + (size_t)c] * t->out[0].x[o + (size_t)c];
                for (int j = 0; j < sees; j++) {
                    size_t key = times(t->ints[2].v[b] + j, g->ldk) + head;
                    double m = mask(t, (int)row, (uint32_t)h << 12, j), dp = 0;
                    for (int c = 0; c < g->dim; c++)
                        dp += m * t->out[0].cot[o + (size_t)c] * V[key + (size_t)c];
                    double ds = p[j] / sum * (dp - less) * (double)g->scale;
                    for (int c = 0; c < g->dim; c++) {
                        dV[key + (size_t)c] += m * p[j] / sum * t->out[0].cot[o + (size_t)c];
                        dQ[q + (size_t)c] += ds * K[key + (size_t)c];
                        dK[key + (size_t)c] += ds * Q[q + (size_t)c];
                    }
                }
                free(p);
            }
    good = agree("attn", "lse", lse_got, lse, sums, tolerance);
    free(lse_got);
    free(lse);
    for (int i = 0, part = 0; i < t->n_in; i++) {
        static const char *const name[] = { "dQ", "dK", "dV" };
        int across = one ? 3 : i + 1;
        size_t height = D ? t->in[i].n / times(across, D) : 0;
        float *got = mem_alloc(times((int)height, D) * sizeof *got);
        double *want = mem_alloc(times((int)height, D) * sizeof *want);
        for (int which = 0; which < across; which++, part++) {
            for (size_t r = 0; r < height; r++)
                for (size_t c = 0; c < (size_t)D; c++) {
                    size_t at = (r * (size_t)across + (size_t)which) * (size_t)D + c;
                    got[r * (size_t)D + c] = t->in[i].g[at];
                    want[r * (size_t)D + c] = grad[i][at];
                }
            good = good && agree("attn", name[part], got, want, times((int)height, D), tolerance);
        }
        free(got);
        free(want);
        free(grad[i]);
    }
    return good;
}

/* --- their list ------------------------------------------------------------------------------- */

static const struct op ops_layers[] = {
    { "linear",
      linear_setup,
      linear_plain,
      linear_forward,
      linear_backward,
      { { .N = 1, .I = 1, .O = 1 },
        { .N = 7, .I = 5, .O = 3, .add = true },
        { .N = 1, .I = 64, .O = 33 },
        { .N = 65, .I = 33, .O = 17, .no_bias = true },
        { .N = 0, .I = 4, .O = 5 },
        { .N = 130, .I = 70, .O = 96 },
        { .N = 450, .I = 410, .O = 430 },
        { .N = 2, .I = 18, .O = 8 },
        { .N = 3, .I = 9, .O = 4 },
        { .N = 4, .I = 16, .O = 5 },
        { .N = 6, .I = 530, .O = 38 },
        { .N = 11, .I = 40, .O = 14, .no_bias = true },
        { .N = 48, .I = 101, .O = 203 },
        { .N = 49, .I = 21, .O = 12 },
        { .N = 49, .I = 24, .O = 4100, .add = true },   /* deeper than BF16_DEEPEST, backward */
        END },
      .golden = { .N = 9, .I = 13, .O = 7 } },
    { "ffn",
      ffn_setup,
      ffn_plain,
      ffn_forward,
      ffn_backward,
      { { .N = 1, .I = 1, .H = 1, .O = 1, .f = KERN_GELU },
        { .N = 5, .I = 7, .H = 31, .O = 3, .f = KERN_GELU, .add = true },
        { .N = 33, .I = 12, .H = 70, .O = 9, .f = KERN_RELU },
        { .N = 3, .I = 5, .H = 17, .O = 9, .f = KERN_RELU, .add = true },
        { .N = 0, .I = 2, .H = 3, .O = 4, .f = KERN_GELU },
        { .N = 70, .I = 48, .H = 192, .O = 48, .f = KERN_GELU },
        { .N = 7, .I = 5, .H = 9, .O = 3, .f = KERN_GELU, .alone = true },
        { .N = 33, .I = 12, .H = 72, .O = 9, .f = KERN_RELU, .alone = true },
        { .N = 140, .I = 6, .H = 264, .O = 16, .f = KERN_GELU, .alone = true },
        { .N = 21, .I = 5, .H = 18, .O = 9, .f = KERN_GELU, .alone = true, .add = true },
        { .N = 19, .I = 5, .H = 37, .O = 9, .f = KERN_TANH },
        { .N = 7, .I = 6, .H = 40, .O = 3, .f = KERN_TANH, .alone = true },
        { .N = 5, .I = 9, .H = 33, .O = 4, .f = KERN_TANH, .plain = true },
        { .N = 9, .I = 5, .H = 40, .O = 9, .f = KERN_GELU, .plain = true },
        { .N = 9, .I = 5, .H = 7, .O = 9, .f = KERN_RELU, .plain = true },
        END },
      .golden = { .N = 6, .I = 8, .H = 21, .O = 8, .f = KERN_GELU } },
    { "ffn_tanh", /* GELU's tanh form */
      ffn_setup,
      ffn_plain,
      ffn_forward,
      ffn_backward,
      { { .N = 1, .I = 1, .H = 1, .O = 1, .f = KERN_GELU_TANH },
        { .N = 9, .I = 7, .H = 32, .O = 3, .f = KERN_GELU_TANH, .add = true },
        { .N = 13, .I = 6, .H = 24, .O = 10, .f = KERN_GELU_TANH },
        { .N = 33, .I = 12, .H = 71, .O = 9, .f = KERN_GELU_TANH },
        { .N = 140, .I = 6, .H = 264, .O = 16, .f = KERN_GELU_TANH, .alone = true },
        { .N = 21, .I = 5, .H = 18, .O = 9, .f = KERN_GELU_TANH, .alone = true, .add = true },
        { .N = 9, .I = 5, .H = 40, .O = 9, .f = KERN_GELU_TANH, .plain = true },
        END },
      .golden = { .N = 6, .I = 8, .H = 21, .O = 8, .f = KERN_GELU_TANH } },
    { "dense",
      dense_setup,
      dense_plain,
      dense_forward,
      dense_backward,
      { { .N = 1, .I = 1, .O = 1, .f = KERN_GELU },
        { .N = 5, .I = 7, .O = 31, .f = KERN_GELU, .add = true },
        { .N = 33, .I = 12, .O = 9, .f = KERN_RELU },
        { .N = 0, .I = 2, .O = 4, .f = KERN_GELU },
        { .N = 130, .I = 20, .O = 96, .f = KERN_GELU },
        { .N = 4, .I = 3, .O = 5 },
        { .N = 3, .I = 11, .O = 37, .f = KERN_TANH },
        { .N = 40, .I = 3, .O = 64, .f = KERN_TANH, .add = true },
        { .N = 11, .I = 9, .O = 37, .f = KERN_GELU_TANH },
        { .N = 34, .I = 6, .O = 48, .f = KERN_GELU_TANH },
        END },
      .golden = { .N = 5, .I = 9, .O = 13, .f = KERN_TANH } },
    { "embed",
      embed_setup,
      embed_plain,
      embed_forward,
      embed_backward,
      { { .N = 1, .I = 1, .V = 1 },
        { .N = 40, .I = 13, .V = 7 },
        { .N = 33, .I = 70, .V = 50, .plain = true },
        { .N = 0, .I = 8, .V = 3 },
        { .N = 200, .I = 129, .V = 9 },
        { .N = 41, .I = 13, .V = 5, .none = true },
        { .N = 7, .I = 16, .V = 3, .none = true, .plain = true },
        { .N = 1, .I = 5, .V = 2, .none = true },
        END },
      .golden = { .N = 12, .I = 10, .V = 9 } },
    { "norm",
      norm_setup,
      norm_plain,
      norm_forward,
      norm_backward,
      { { .N = 3, .I = 2 },
        { .N = 9, .I = 33, .drop = true },
        { .N = 5, .I = 64, .plain = true },
        { .N = 17, .I = 31, .drop = true, .sum = true, .add = true },
        { .N = 40, .I = 100, .add = true, .plain = true, .sum = true },
        { .N = 0, .I = 16, .drop = true },
        { .N = 1100, .I = 72, .drop = true },
        { .N = 7, .I = 33, .drop = true, .sum = true, .in_place = true },
        { .N = 5, .I = 64, .in_place = true },
        { .N = 3, .I = 2056, .sum = true, .in_place = true },
        { .N = 4, .I = 72, .plain = true, .in_place = true },
        { .N = 1100, .I = 40, .drop = true, .sum = true, .alone = true },
        { .N = 21, .I = 1024, .drop = true, .alone = true },
        { .N = 9, .I = 264, .add = true, .alone = true },
        { .N = 6, .I = 33, .drop = true, .alone = true },
        END },
      .golden = { .N = 7, .I = 20, .sum = true } },
    { "drop",
      drop_setup,
      drop_plain,
      drop_forward,
      drop_backward,
      { { .N = 1, .I = 1, .drop = true },
        { .N = 9, .I = 33, .drop = true },
        { .N = 9, .I = 8, .drop = true, .plain = true, .add = true },
        { .N = 4, .I = 1030, .drop = true },
        { .N = 5, .I = 7 },
        { .N = 5, .I = 7, .plain = true, .add = true },
        { .N = 0, .I = 7, .drop = true },
        END } },
    { "attn",
      attn_setup,
      attn_plain,
      attn_forward,
      attn_backward,
      { { .N = 1, .I = 1, .heads = 1, .batch = 1 },
        { .N = 9, .I = 5, .heads = 3, .batch = 4 },
        { .N = 17, .I = 8, .heads = 2, .batch = 5, .causal = true },
        { .N = 12, .I = 16, .heads = 2, .batch = 4, .drop = true },
        { .N = 11, .I = 7, .heads = 3, .batch = 6, .cross = true },
        { .N = 8, .I = 4, .heads = 2, .batch = 3, .cross = true, .causal = true, .drop = true },
        { .N = 70, .I = 64, .heads = 2, .batch = 2, .causal = true, .drop = true },
        { .N = 1, .I = 4, .heads = 2, .batch = 0 },
        { .N = 150, .I = 64, .heads = 2, .batch = 2, .drop = true },
        { .N = 200, .I = 64, .heads = 1, .batch = 2, .causal = true, .drop = true },
        { .N = 130, .I = 64, .heads = 1, .batch = 3, .cross = true },
        { .N = 250, .I = 32, .heads = 1, .batch = 3 },
        { .N = 1, .I = 8, .heads = 2, .batch = 5, .cached = true },
        { .N = 1, .I = 64, .heads = 2, .batch = 2, .cached = true },
        { .N = 1, .I = 5, .heads = 2, .batch = 2, .cached = true },
        { .N = 75, .I = 128, .heads = 1, .batch = 3, .cross = true },
        { .N = 67, .I = 32, .heads = 2, .batch = 3, .cross = true, .causal = true, .drop = true },
        { .N = 40, .I = 96, .heads = 1, .batch = 2, .drop = true },
        /* the fifth has two queries and no keys */
        { .N = 4, .I = 8, .heads = 3, .batch = 6, .cross = true },
        { .N = 4, .I = 64, .heads = 2, .batch = 6, .cross = true, .drop = true },
        { .N = 17, .I = 5, .heads = 3, .batch = 5, .causal = true, .plain = true },
        { .N = 11, .I = 7, .heads = 3, .batch = 4, .cross = true, .plain = true },
        { .N = 70, .I = 64, .heads = 2, .batch = 2, .plain = true },
        END },
      .golden = { .N = 6, .I = 4, .heads = 2, .batch = 3, .causal = true },
      .zero_first = true,
      .numbers_hold = attn_numbers_hold },
};

#endif
