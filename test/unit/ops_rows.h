/* The list of operations, rows of matrices and tables. */
#ifndef TEST_UNIT_OPS_ROWS_H
#define TEST_UNIT_OPS_ROWS_H
#include "test/unit/ops_case.h"

/* --- rows: the gradient of gather is scatter -------------------------------------------------- */

static void gather_setup(struct test *t)
{
    struct shape s = t->s;
    input(t, "X", ACT, times(s.N, s.I + 3), true); /* of rows I + 3 wide the first I columns */
    int32_t *index = integers(t, "index", (size_t)s.O, 0);
    for (int i = 0; i < s.O; i++)
        index[i] = i % 5 == 3 ? -1 : (i * 7 + 2) % s.N; /* distinct: 7 does not divide N */
    output(t, "Y", ACT, times(s.O, s.I));
}
static void gather_plain(struct test *t)
{
    int D = t->s.I;
    for (int m = 0; m < t->s.O; m++)
        for (int i = 0; i < D; i++)
            t->out[0].x[times(m, D) + (size_t)i] =
                t->ints[0].v[m] < 0 ? 0 : t->in[0].x[times(t->ints[0].v[m], D + 3) + (size_t)i];
}
static void gather_forward(struct test *t) { KERN(k, gather, .Y = t->out[0].dev, .ldy = t->s.I,
                                                  .X = t->in[0].dev, .ldx = t->s.I + 3,
                                                  .index = idev(t, 0), .M = t->s.O, .D = t->s.I); }
static void gather_backward(struct test *t)
{
    KERN(k, scatter, .Y = t->in[0].grad, .ldy = t->s.I + 3, .add = t->s.add,
         .X = t->out[0].cot_dev, .ldx = t->s.I, .index = idev(t, 0), .M = t->s.O, .D = t->s.I);
}

/* --- rows of length s ------------------------------------------------------------------------- */

static const float UNIT = 1.5f;

static void unit_setup(struct test *t)
{
    input(t, "X", ACT, times(t->s.N, t->s.I), true);
    output(t, "Y", ACT, times(t->s.N, t->s.I));
    extra(t, (size_t)t->s.N * sizeof(float));
}
static void unit_plain(struct test *t)
{
    for (int n = 0; n < t->s.N; n++) {
        const double *x = t->in[0].x + times(n, t->s.I);
        double length = length_of(x, (size_t)t->s.I);
        for (int i = 0; i < t->s.I; i++)
            t->out[0].x[times(n, t->s.I) + (size_t)i] =
                length > 0 ? (double)UNIT * x[i] / length : 0;
    }
}
static void unit_forward(struct test *t)
{
    KERN(k, unit_fwd, .Y = t->out[0].dev, .len = t->extra[0], .X = t->in[0].dev, .s = UNIT,
         .N = t->s.N, .D = t->s.I);
}
static void unit_backward(struct test *t)
{
    KERN(k, unit_bwd, .dX = t->in[0].grad, .add = t->s.add, .dY = t->out[0].cot_dev,
         .Y = t->out[0].dev, .len = t->extra[0], .s = UNIT, .N = t->s.N, .D = t->s.I);
}

/* --- means of the rows of segments ------------------------------------------------------------ */

static void segments_setup(struct test *t)
{
    struct shape s = t->s;
    int32_t *at = integers(t, "at", (size_t)s.batch, 0),
            *len = integers(t, "len", (size_t)s.batch, 0);
    int rows = 0;
    for (int b = 0; b < s.batch; b++) {
        at[b] = rows;
        len[b] = b == 0 ? s.N : b * 5 % (s.N + 1);
        rows += len[b];
    }
    input(t, "X", ACT, times(rows, s.I), true);
    output(t, "Y", ACT, times(s.batch, s.I));
}
static void segments_plain(struct test *t)
{
    for (int b = 0; b < t->s.batch; b++)
        for (int i = 0; i < t->s.I; i++) {
            int n = t->ints[1].v[b];
            double sum = 0;
            for (int r = 0; r < n; r++)
                sum += t->in[0].x[times(t->ints[0].v[b] + r, t->s.I) + (size_t)i];
            t->out[0].x[times(b, t->s.I) + (size_t)i] = n ? sum / n : 0;
        }
}
static void segments_forward(struct test *t)
{
    KERN(k, means_fwd, .Y = t->out[0].dev, .X = t->in[0].dev, .at = idev(t, 0), .len = idev(t, 1),
         .M = t->s.batch, .D = t->s.I);
}
static void segments_backward(struct test *t)
{
    KERN(k, means_bwd, .dX = t->in[0].grad, .add = t->s.add, .dY = t->out[0].cot_dev,
         .at = idev(t, 0), .len = idev(t, 1), .M = t->s.batch, .D = t->s.I);
}

/* --- products of rows of a table -------------------------------------------------------------- */

static void dots_setup(struct test *t)
{
    input(t, "E", PARAM, times(t->s.V, t->s.I), false);
    integers(t, "i", (size_t)t->s.N, t->s.V);
    integers(t, "j", (size_t)t->s.N, t->s.V);
    output(t, "dots", PARAM, (size_t)t->s.N);
}
static void dots_plain(struct test *t)
{
    for (int p = 0; p < t->s.N; p++) {
        double sum = 0;
        for (int c = 0; c < t->s.I; c++)
            sum += t->in[0].x[times(t->ints[0].v[p], t->s.I) + (size_t)c]
                   * t->in[0].x[times(t->ints[1].v[p], t->s.I) + (size_t)c];
        t->out[0].x[p] = 0.25 * sum;
    }
}
static void dots_forward(struct test *t)
{
    KERN(k, dots, .to = t->out[0].dev, .E = t->in[0].dev, .i = idev(t, 0), .j = idev(t, 1),
         .scale = 0.25f, .P = t->s.N, .D = t->s.I);
}

/* --- weighted sums of rows of a table, added to rows of a matrix ------------------------------ */

static const float MIX_SCALE = 0.8f;

static void mix_setup(struct test *t)
{
    struct shape s = t->s;
    input(t, "E", PARAM, times(s.V, s.I), true);
    input(t, "w", PARAM, times(s.O, s.J), false);
    input(t, "X", ACT, times(s.N, s.I), false);
    int32_t *row = integers(t, "row", (size_t)s.O, 0);
    int32_t *idx = integers(t, "idx", times(s.O, s.J), s.V);
    for (int m = 0; m < s.O; m++) row[m] = s.plain ? m : (m * 7 + 2) % s.N;
    for (int i = 0; i < s.O * s.J; i += 4) idx[i] = -1;
    output(t, "Y", ACT, times(s.N, s.I));
}
static void mix_plain(struct test *t)
{
    struct shape s = t->s;
    for (size_t i = 0; i < t->out[0].n; i++) t->out[0].x[i] = t->in[2].x[i];
    for (int m = 0; m < s.O; m++)
        for (int j = 0; j < s.J; j++) {
            int32_t word = t->ints[1].v[times(m, s.J) + (size_t)j];
            double w = (double)MIX_SCALE * t->in[1].x[times(m, s.J) + (size_t)j];
            for (int i = 0; i < s.I && word >= 0; i++)
                t->out[0].x[times(t->ints[0].v[m], s.I) + (size_t)i] +=
                    w * t->in[0].x[times(word, s.I) + (size_t)i];
        }
}
static void mix_forward(struct test *t)
{
    struct shape s = t->s;
    if (s.N) k->copy(t->out[0].dev, t->in[2].dev, bytes_of(ACT, times(s.N, s.I)));
    KERN(k, mix_fwd, .Y = t->out[0].dev, .row = s.plain ? NULL : idev(t, 0), .E = t->in[0].dev,
         .idx = idev(t, 1), .w = t->in[1].dev, .scale = MIX_SCALE, .M = s.O, .k = s.J, .D = s.I);
}
static void mix_backward(struct test *t)
{
    struct shape s = t->s;
    KERN(k, mix_bwd, .dE = t->in[0].grad, .dY = t->out[0].cot_dev,
         .row = s.plain ? NULL : idev(t, 0), .idx = idev(t, 1), .w = t->in[1].dev,
         .scale = MIX_SCALE, .M = s.O, .k = s.J, .D = s.I);
}

/* --- softmax of a few values, with its entropy; with `none` some are -INFINITY, of one row all  */

static const float TEMPERATURE = 0.7f;

static void softmax_setup(struct test *t)
{
    struct shape s = t->s;
    struct array *val = input(t, "val", PARAM, times(s.N, s.J), false);
    for (size_t i = 0; s.none && i < val->n; i++)
        if (i % 3 == 1 || i < (size_t)s.J) val->x[i] = -INFINITY;
    set_doubles(PARAM, val->dev, val->x, val->n);
    output(t, "w", PARAM, times(s.N, s.J));
    output(t, "entropy", PARAM, (size_t)s.N);
}
static void softmax_plain(struct test *t)
{
    for (int m = 0; m < t->s.N; m++) {
        const double *val = t->in[0].x + times(m, t->s.J);
        double *w = t->out[0].x + times(m, t->s.J), sum = 0, entropy = 0;
        for (int j = 0; j < t->s.J; j++) sum += exp(val[j] / (double)TEMPERATURE);
        for (int j = 0; j < t->s.J; j++) {
            w[j] = sum > 0 ? exp(val[j] / (double)TEMPERATURE) / sum : 0;
            entropy -= w[j] > 0 ? w[j] * log(w[j]) : 0;
        }
        t->out[1].x[m] = entropy;
    }
}
static void softmax_forward(struct test *t)
{
    KERN(k, softmax, .w = t->out[0].dev, .entropy = t->out[1].dev, .val = t->in[0].dev,
         .T = TEMPERATURE, .M = t->s.N, .k = t->s.J);
}

/* --- lengths of mixtures beside those of their parts; with `none` a row mixes nothing --------- */

static void mix_norm_setup(struct test *t)
{
    struct shape s = t->s;
    input(t, "E", PARAM, times(s.V, s.I), false);
    struct array *w = input(t, "w0", PARAM, times(s.O, s.J), false);
    for (size_t i = 0; i < w->n; i++) w->x[i] = fabs(w->x[i]) + 0.01;
    set_doubles(PARAM, w->dev, w->x, w->n);
    int32_t *idx = integers(t, "idx", times(s.O, s.J), s.V);
    for (int i = 0; i < s.O * s.J; i++)
        if (i % 4 == 3 || (s.none && i < s.J)) idx[i] = -1;
    output(t, "ratio", PARAM, (size_t)s.O);
    output(t, "w", PARAM, times(s.O, s.J));
}
static void mix_norm_plain(struct test *t)
{
    struct shape s = t->s;
    for (int m = 0; m < s.O; m++) {
        const double *w = t->in[1].x + times(m, s.J);
        double along = 0, parts = 0;
        for (int i = 0; i < s.I; i++) {
            double y = 0;
            for (int j = 0; j < s.J; j++) {
                int32_t word = t->ints[0].v[times(m, s.J) + (size_t)j];
                if (word >= 0) y += w[j] * t->in[0].x[times(word, s.I) + (size_t)i];
            }
            along += y * y;
        }
        for (int j = 0; j < s.J; j++) {
            int32_t word = t->ints[0].v[times(m, s.J) + (size_t)j];
            if (word >= 0) parts += w[j] * length_of(t->in[0].x + times(word, s.I), (size_t)s.I);
        }
        double ratio = parts > 0 ? sqrt(along) / parts : 0;
        t->out[0].x[m] = ratio;
        for (int j = 0; j < s.J; j++)
            t->out[1].x[times(m, s.J) + (size_t)j] = s.plain || ratio <= 0 ? w[j] : w[j] / ratio;
    }
}
static void mix_norm_forward(struct test *t)
{
    struct shape s = t->s;
    if (s.O > 0) k->copy(t->out[1].dev, t->in[1].dev, times(s.O, s.J) * sizeof(float));
    KERN(k, mix_norm, .ratio = t->out[0].dev, .w = t->out[1].dev, .E = t->in[0].dev,
         .idx = idev(t, 0), .keep = !s.plain, .M = s.O, .k = s.J, .D = s.I);
}

/* --- is the best of J the one asked for? ----------------------------------------------------- */

static void equal_setup(struct test *t)
{
    integers(t, "a", times(t->s.N, t->s.J), 3);
    integers(t, "b", (size_t)t->s.N, 3);
    output(t, "x", PARAM, (size_t)t->s.N);
}
static void equal_plain(struct test *t)
{
    for (int m = 0; m < t->s.N; m++)
        t->out[0].x[m] = t->ints[0].v[times(m, t->s.J)] == t->ints[1].v[m] ? 1 : 0;
}
static void equal_forward(struct test *t)
{
    KERN(k, equal, .x = t->out[0].dev, .a = idev(t, 0), .lda = t->s.J, .b = idev(t, 1),
         .M = t->s.N);
}

/* --- means of the J largest of each column, which a sort finds -------------------------------- */

static void means_setup(struct test *t)
{
    struct shape s = t->s;
    struct array *S = input(t, "S", ACT, times(s.N, s.I), false);
    for (size_t i = 0; i < S->n; i += 5) S->x[i] = 0.25;                  /* ties */
    set_doubles(ACT, S->dev, S->x, S->n);
    output(t, "mean", PARAM, (size_t)s.I);
}
static int falling(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}
static void means_plain(struct test *t)
{
    int N = t->s.N, most = t->s.J < N ? t->s.J : N;
    double *column = mem_alloc((size_t)N * sizeof *column + 1);
    for (int c = 0; c < t->s.I; c++) {
        for (int n = 0; n < N; n++) column[n] = t->in[0].x[times(n, t->s.I) + (size_t)c];
        qsort(column, (size_t)N, sizeof *column, falling);
        t->out[0].x[c] = 0;
        for (int n = 0; n < most; n++) t->out[0].x[c] += column[n] / most;
    }
    free(column);
}
static void means_forward(struct test *t)
{
    KERN(k, column_means, .mean = t->out[0].dev, .S = t->in[0].dev, .K = t->s.J, .n = t->s.N,
         .m = t->s.I);
}

/* --- their list ------------------------------------------------------------------------------- */

static const struct op ops_rows[] = {
    { "gather",
      gather_setup,
      gather_plain,
      gather_forward,
      gather_backward,
      { { .N = 1, .I = 1, .O = 1 },
        { .N = 9, .I = 5, .O = 4 },
        { .N = 400, .I = 33, .O = 300, .add = true },
        { .N = 3, .I = 4, .O = 0 },
        END },
      .zero_first = true },
    { "unit",
      unit_setup,
      unit_plain,
      unit_forward,
      unit_backward,
      { { .N = 1, .I = 1 },
        { .N = 9, .I = 33 },
        { .N = 70, .I = 300, .add = true },
        { .N = 5, .I = 64 },
        { .N = 0, .I = 8 },
        END },
      .golden = { .N = 5, .I = 11 } },
    { "means",
      segments_setup,
      segments_plain,
      segments_forward,
      segments_backward,
      { { .N = 1, .I = 1, .batch = 1 },
        { .N = 9, .I = 33, .batch = 7 },
        { .N = 4, .I = 300, .batch = 60, .add = true },
        { .N = 0, .I = 8, .batch = 2 },
        { .N = 5, .I = 8, .batch = 0 },
        { .N = 70, .I = 64, .batch = 30 },
        END },
      .golden = { .N = 3, .I = 5, .batch = 4 } },
    { "dots",
      dots_setup,
      dots_plain,
      dots_forward,
      nothing,
      { { .N = 1, .I = 1, .V = 2 },
        { .N = 40, .I = 33, .V = 7 },
        { .N = 0, .I = 8, .V = 3 },
        { .N = 300, .I = 72, .V = 90 },
        END } },
    { "mix",
      mix_setup,
      mix_plain,
      mix_forward,
      mix_backward,
      { { .N = 1, .I = 1, .O = 1, .J = 2, .V = 1 },
        { .N = 30, .I = 33, .O = 11, .J = 8, .V = 7 },
        { .N = 9, .I = 64, .O = 9, .J = 3, .V = 40, .plain = true },
        { .N = 4, .I = 5, .O = 0, .J = 3, .V = 4 },
        { .N = 4, .I = 5, .O = 3, .J = 0, .V = 4 },
        { .N = 100, .I = 70, .O = 90, .J = 5, .V = 3 },
        END },
      .golden = { .N = 8, .I = 6, .O = 5, .J = 4, .V = 7 } },
    { "softmax",
      softmax_setup,
      softmax_plain,
      softmax_forward,
      nothing,
      { { .N = 1, .J = 1 },
        { .N = 70, .J = 8 },
        { .N = 5, .J = 7, .none = true },
        { .N = 0, .J = 3 },
        END },
      .golden = { .N = 4, .J = 8 } },
    { "mix_norm",
      mix_norm_setup,
      mix_norm_plain,
      mix_norm_forward,
      nothing,
      { { .N = 1, .I = 1, .O = 1, .J = 2, .V = 1 },
        { .N = 1, .I = 33, .O = 11, .J = 8, .V = 7, .none = true },
        { .N = 1, .I = 64, .O = 9, .J = 3, .V = 40, .plain = true },
        { .N = 1, .I = 5, .O = 0, .J = 3, .V = 4 },
        END },
      .golden = { .N = 1, .I = 6, .O = 5, .J = 4, .V = 7 } },
    { "equal",
      equal_setup,
      equal_plain,
      equal_forward,
      nothing,
      { { .N = 1, .J = 1 }, { .N = 70, .J = 8 }, { .N = 0, .J = 3 }, END } },
    { "column_means",
      means_setup,
      means_plain,
      means_forward,
      nothing,
      { { .N = 1, .I = 1, .J = 1 },
        { .N = 40, .I = 33, .J = 10 },
        { .N = 3, .I = 70, .J = 10 },
        { .N = 0, .I = 9, .J = 3 },
        { .N = 200, .I = 130, .J = 64 },
        { .N = 30, .I = 0, .J = 4 },
        END },
      .golden = { .N = 9, .I = 7, .J = 4 } },
};

#endif
