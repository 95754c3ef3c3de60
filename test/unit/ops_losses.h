/* The list of operations, losses. */
#ifndef TEST_UNIT_OPS_LOSSES_H
#define TEST_UNIT_OPS_LOSSES_H
#include "test/unit/ops_case.h"

/* --- output layer and cross entropy ----------------------------------------------------------- */

static const float XENT_SCALE = 0.3f;

static void xent_setup(struct test *t)
{
    struct shape s = t->s;
    input(t, "X", ACT, times(s.N, s.I), true);
    input(t, "W", PARAM, times(s.V, s.I), true);
    if (!s.no_bias) input(t, "b", PARAM, (size_t)s.V, true);
    int32_t *target = integers(t, "target", (size_t)s.N, s.V);
    if (!s.plain) for (int i = 0; i < s.N; i += 4) target[i] = -1;
    struct array *loss = output(t, "loss", PARAM, (size_t)s.N),
                 *nll = output(t, "nll", PARAM, (size_t)s.N);
    free(nll->cot);
    nll->cot = NULL;
    float *weight = extra(t, (size_t)s.N * sizeof(float));
    for (int i = 0; i < s.N; i++) {
        float w = s.weighted ? (float)(0.5 + fabs(uniform(t))) : 1;
        k->upload(weight + i, &w, sizeof w);
        loss->cot[i] = (double)w * (double)XENT_SCALE;
    }
    if (s.allowed) {
        t->allowed = mem_zero((size_t)s.V, 1);
        for (int v = 0; v < s.V; v++) t->allowed[v] = v % 3 != 1;
        t->allowed_dev = extra(t, (size_t)s.V);
        k->upload(t->allowed_dev, t->allowed, (size_t)s.V);
    }
}
static void xent_plain(struct test *t)
{
    int V = t->s.V, D = t->s.I;
    double *z = mem_alloc((size_t)V * sizeof *z);
    for (int m = 0; m < t->s.N; m++) {
        int target = t->ints[0].v[m], words = 0;
        t->out[0].x[m] = t->out[1].x[m] = 0;
        if (target < 0) continue;
        double sum = 0, logits = 0;
        for (int v = 0; v < V; v++) {
            z[v] = t->s.no_bias ? 0 : t->in[2].x[v];
            for (int i = 0; i < D; i++)
                z[v] += t->in[0].x[times(m, D) + (size_t)i] * t->in[1].x[times(v, D) + (size_t)i];
            if (t->allowed && !t->allowed[v] && v != target) continue;
            sum += exp(z[v]);
            logits += z[v];
            words++;
        }
        double eps = (double)t->s.eps;
        t->out[1].x[m] = log(sum) - z[target];
        t->out[0].x[m] = (1 - eps) * (log(sum) - z[target]) + eps * (log(sum) - logits / words);
    }
    free(z);
}
static void xent_run(struct test *t, bool gradients)
{
    struct shape s = t->s;
    KERN(k, xent, .loss = t->out[0].dev, .nll = t->out[1].dev,
         .dX = gradients ? t->in[0].grad : NULL, .dW = gradients ? t->in[1].grad : NULL,
         .db = gradients ? t->in[2].grad : NULL, .X = t->in[0].dev, .W = t->in[1].dev,
         .b = t->in[2].dev, .target = idev(t, 0), .weight = s.weighted ? t->extra[0] : NULL,
         .allowed = t->allowed_dev, .eps = s.eps, .scale = XENT_SCALE, .M = s.N, .D = s.I,
         .V = s.V);
}
static void xent_forward(struct test *t) { xent_run(t, false); }
static void xent_backward(struct test *t) { xent_run(t, true); }

/* --- MLM-GC: Eq. 3 (rows of H), with `output` Eq. 6 (rows of the output embedding) ------------ */

static const float GC_SCALE = 0.6f, GC_WEIGHT = 0.01f, GC_DOT = 0.5f;

static void gc_setup(struct test *t)
{
    struct shape s = t->s;
    int M = s.O;
    input(t, "H", ACT, times(s.N, s.I), true);
    if (s.output) input(t, "B", PARAM, times(s.V, s.I), true);
    int32_t *target = integers(t, "t", (size_t)M, 0),
            *nb = integers(t, "nb", times(M, s.J), s.output ? s.V : s.N);
    for (int m = 0; m < M; m++) target[m] = (m * 7 + 2) % s.N;
    for (int i = 0; i < M * s.J; i += 5) nb[i] = -1;
    float *f = extra(t, times(M, s.J) * sizeof(float)),
          *logx = extra(t, times(M, s.J) * sizeof(float));
    for (int i = 0; i < M * s.J; i++) {
        float value[2] = { (float)(1 + (i * 37 % 11)) / 11, (float)(i * 53 % 17) / 4 };
        k->upload(f + i, &value[0], sizeof(float));
        k->upload(logx + i, &value[1], sizeof(float));
    }
    struct array *loss = output(t, "loss", PARAM, (size_t)M);
    for (int m = 0; m < M; m++) loss->cot[m] = (double)GC_SCALE;
}
static void gc_plain(struct test *t)
{
    struct shape s = t->s;
    const double *H = t->in[0].x, *B = s.output ? t->in[1].x : H;
    for (int m = 0; m < s.O; m++) {
        double sum = 0;
        for (int j = 0; j < s.J; j++) {
            int i = m * s.J + j, nb = t->ints[1].v[i];
            if (nb < 0) continue;
            double e = 0;
            for (int d = 0; d < s.I; d++)
                e += H[times(t->ints[0].v[m], s.I) + (size_t)d] * B[times(nb, s.I) + (size_t)d];
            e = (double)GC_DOT * e - (double)(i * 53 % 17) / 4;
            sum += (double)(1 + (i * 37 % 11)) / 11 * e * e;
        }
        t->out[0].x[m] = (double)GC_WEIGHT * sum;
    }
}
static void gc_run(struct test *t, bool gradients)
{
    struct shape s = t->s;
    void *dH = gradients ? t->in[0].grad : NULL;
    KERN(k, gc, .loss = t->out[0].dev, .dH = dH,
         .dB = !gradients ? NULL : s.output ? t->in[1].grad : dH, .H = t->in[0].dev,
         .B = s.output ? t->in[1].dev : t->in[0].dev, .B_act = !s.output, .t = idev(t, 0),
         .nb = idev(t, 1), .f = t->extra[0], .logx = t->extra[1], .dot_scale = GC_DOT,
         .weight = GC_WEIGHT, .scale = GC_SCALE, .M = s.O, .J = s.J, .D = s.I);
}
static void gc_forward(struct test *t) { gc_run(t, false); }
static void gc_backward(struct test *t) { gc_run(t, true); }

/* --- pairs of rows of a table: their cosine, with `sum` their distance ------------------------ */

static const float PAIRS_SCALE = 0.4f;

static void pairs_setup(struct test *t)
{
    struct shape s = t->s;
    input(t, "E", PARAM, times(s.V, s.I), true);
    integers(t, "i", (size_t)s.N, s.V);
    integers(t, "j", (size_t)s.N, s.V);
    struct array *loss = output(t, "loss", PARAM, (size_t)s.N);
    for (int p = 0; p < s.N; p++) loss->cot[p] = (double)PAIRS_SCALE;
}
static void pairs_plain(struct test *t)
{
    struct shape s = t->s;
    for (int p = 0; p < s.N; p++) {
        const double *a = t->in[0].x + times(t->ints[0].v[p], s.I),
                     *b = t->in[0].x + times(t->ints[1].v[p], s.I);
        double aa = 0, bb = 0, ab = 0, apart = 0;
        for (int i = 0; i < s.I; i++) {
            aa += a[i] * a[i];
            bb += b[i] * b[i];
            ab += a[i] * b[i];
            apart += (a[i] - b[i]) * (a[i] - b[i]);
        }
        t->out[0].x[p] = s.sum ? sqrt(apart) : -ab / fmax(sqrt(aa) * sqrt(bb), 1e-8);
    }
}
static void pairs_run(struct test *t, void *dE)
{
    KERN(k, cos_pairs, .loss = t->out[0].dev, .dE = dE, .E = t->in[0].dev, .i = idev(t, 0),
         .j = idev(t, 1), .scale = PAIRS_SCALE, .l2 = t->s.sum, .P = t->s.N, .D = t->s.I);
}
static void pairs_forward(struct test *t) { pairs_run(t, NULL); }
static void pairs_backward(struct test *t) { pairs_run(t, t->in[0].grad); }

/* --- cross entropy over the rows of segments, of one column of three -------------------------- */

static const float SPAN_SCALE = 0.3f;
enum { SPAN_WIDTH = 3 };

static void span_setup(struct test *t)
{
    struct shape s = t->s;
    int32_t *at = integers(t, "at", (size_t)s.batch, 0),
            *len = integers(t, "len", (size_t)s.batch, 0);
    int32_t *target = integers(t, "target", (size_t)s.batch, 0);
    int rows = 0;
    for (int b = 0; b < s.batch; b++) {
        at[b] = rows;
        len[b] = b == 0 ? s.N : b * 5 % (s.N + 1);
        target[b] = len[b] == 0 || (!s.plain && b % 4 == 2) ? -1 : b * 3 % len[b];
        rows += len[b] + 1; /* a row of none between them */
    }
    input(t, "Z", ACT, times(rows, SPAN_WIDTH), true);
    struct array *loss = output(t, "loss", PARAM, (size_t)s.batch);
    for (int b = 0; b < s.batch; b++) loss->cot[b] = (double)SPAN_SCALE;
    if (!s.allowed) return;
    t->allowed = mem_zero((size_t)rows + 1, 1);
    for (int r = 0; r < rows; r++) t->allowed[r] = r % 3 != 1;
    t->allowed_dev = extra(t, (size_t)rows + 1);
    k->upload(t->allowed_dev, t->allowed, (size_t)rows + 1);
}
static void span_plain(struct test *t)
{
    for (int b = 0; b < t->s.batch; b++) {
        int at = t->ints[0].v[b], n = t->ints[1].v[b], target = t->ints[2].v[b];
        double sum = 0, *z = t->in[0].x + times(at, SPAN_WIDTH) + 1;
        for (int i = 0; i < n; i++)
            if (!t->allowed || t->allowed[at + i] || i == target)
                sum += exp(z[times(i, SPAN_WIDTH)]);
        t->out[0].x[b] = target < 0 ? 0 : log(sum) - z[times(target, SPAN_WIDTH)];
    }
}
static void span_run(struct test *t, void *dZ)
{
    KERN(k, span, .loss = t->out[0].dev, .dZ = dZ, .Z = t->in[0].dev, .ldz = SPAN_WIDTH,
         .column = 1, .at = idev(t, 0), .len = idev(t, 1), .target = idev(t, 2),
         .allowed = t->allowed_dev, .scale = SPAN_SCALE, .M = t->s.batch);
}
static void span_forward(struct test *t) { span_run(t, NULL); }
static void span_backward(struct test *t) { span_run(t, t->in[0].grad); }

/* --- their list ------------------------------------------------------------------------------- */

static const struct op ops_losses[] = {
    { "xent",
      xent_setup,
      xent_plain,
      xent_forward,
      xent_backward,
      { { .N = 1, .I = 1, .V = 2, .plain = true },
        { .N = 9, .I = 7, .V = 33, .eps = 0.1f },
        { .N = 10, .I = 5, .V = 50, .allowed = true, .weighted = true, .eps = 0.1f },
        { .N = 6, .I = 4, .V = 19, .no_bias = true, .allowed = true },
        { .N = 0, .I = 4, .V = 10 },
        { .N = 300, .I = 6, .V = 1500, .eps = 0.2f, .weighted = true },
        END },
      .golden = { .N = 8, .I = 6, .V = 29, .eps = 0.1f, .plain = true } },
    { "gc",
      gc_setup,
      gc_plain,
      gc_forward,
      gc_backward,
      { { .N = 1, .I = 1, .O = 1, .J = 2 },
        { .N = 30, .I = 33, .O = 9, .J = 4 },
        { .N = 30, .I = 70, .O = 9, .J = 3, .V = 11, .output = true },
        { .N = 3, .I = 4, .O = 0, .J = 2 },
        { .N = 50, .I = 6, .O = 3, .J = 0 },
        END },
      .zero_first = true },
    { "cos_pairs",
      pairs_setup,
      pairs_plain,
      pairs_forward,
      pairs_backward,
      { { .N = 1, .I = 3, .V = 2 },
        { .N = 40, .I = 33, .V = 7 },
        { .N = 20, .I = 64, .V = 50 },
        { .N = 0, .I = 8, .V = 3 },
        { .N = 33, .I = 13, .V = 6, .sum = true },
        { .N = 300, .I = 72, .V = 90, .sum = true },
        END },
      .golden = { .N = 6, .I = 10, .V = 5 } },
    { "span",
      span_setup,
      span_plain,
      span_forward,
      span_backward,
      { { .N = 1, .batch = 1 },
        { .N = 9, .batch = 7 },
        { .N = 40, .batch = 9, .allowed = true },
        { .N = 4, .batch = 0 },
        { .N = 300, .batch = 3 },
        { .N = 65, .batch = 21, .allowed = true, .plain = true },
        END },
      .golden = { .N = 8, .batch = 3, .plain = true },
      .zero_first = true },
};

#endif
