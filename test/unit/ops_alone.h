/* Operations and corners that have tests of their own: the k best, rows of no length, best rows,
 * averages. */
#ifndef TEST_UNIT_OPS_ALONE_H
#define TEST_UNIT_OPS_ALONE_H
#include "test/unit/ops_case.h"

static float *random_floats(struct test *t, size_t n)
{
    float *x = mem_alloc(n * sizeof *x);
    for (size_t i = 0; i < n; i++) x[i] = (float)uniform(t);
    return x;
}

/* Columns that are some words only: the same choice by their names, here v -> 7 + 3 v. idx: what
 * was chosen with `allowed` where that was given; here it always is. */
static void words_of_topk(int V, int M, int n, const void *logits, const uint8_t *allowed,
                          int32_t *idx)
{
    int32_t *word = mem_zero((size_t)V, 4), *got = mem_zero(times(M, n) + 1, 4);
    for (int v = 0; v < V; v++) word[v] = 7 + 3 * v;
    void *dword = device((size_t)V * 4), *didx = device(times(M, n) * 4 + 4),
         *dval = device(times(M, n) * 4 + 4);
    k->upload(dword, word, (size_t)V * 4);
    for (int named = 0; named < 2; named++) {
        KERN(k, topk, .val = dval, .idx = didx, .logits = logits, .allowed = allowed,
             .word = named ? dword : NULL, .M = M, .V = V, .k = n);
        if (M) k->download(named ? got : idx, didx, times(M, n) * 4);
    }
    for (size_t i = 0; i < times(M, n); i++)
        assert_int_equal(got[i], idx[i] < 0 ? -1 : 7 + 3 * idx[i]);
    free(word); free(got);
    release(dword); release(didx); release(dval);
}

static void topk_is_a_sort_of_the_allowed_words(void **state)
{
    (void)state;
    struct test t = { .rng = { { 2, RNG_TEST, 0 }, 0, 0 } };
    static const int shapes[][4] = { { 1, 1, 1, 0 },     { 5, 7, 3, 0 },    { 9, 1000, 64, 1 },
                                     { 3, 130, 10, 1 },  { 2, 5, 5, 1 },    { 0, 5, 2, 0 },
                                     { 2, 9001, 12, 1 }, { 2, 20000, 3, 0 } };
    for (size_t c = 0; c < sizeof shapes / sizeof shapes[0]; c++) {
        int M = shapes[c][0], V = shapes[c][1], n = shapes[c][2];
        float *x = random_floats(&t, times(M, V)), *val = mem_zero(times(M, n), 4),
              *lse = mem_zero((size_t)M, 4);
        int32_t *idx = mem_zero(times(M, n), 4);
        for (size_t i = 0; i < times(M, V); i += 3) x[i] = 0.5f;           /* ties */
        uint8_t *ok = mem_zero((size_t)V, 1);
        for (int v = 0; v < V; v++) ok[v] = v % 4 != 2;
        bool some = shapes[c][3];
        void *dx = device(bytes_of(ACT, times(M, V))), *dval = device(times(M, n) * 4),
             *didx = device(times(M, n) * 4), *dlse = device((size_t)M * 4),
             *dok = device((size_t)V);
        put(ACT, dx, x, times(M, V));
        get(ACT, x, dx, times(M, V));
        k->upload(dok, ok, (size_t)V);
        KERN(k, topk, .val = dval, .idx = didx, .lse = dlse, .logits = dx,
             .allowed = some ? dok : NULL, .M = M, .V = V, .k = n);
        if (M) {
            k->download(val, dval, times(M, n) * 4);
            k->download(idx, didx, times(M, n) * 4);
            k->download(lse, dlse, (size_t)M * 4);
        }
        for (int m = 0; m < M; m++) {
            char *taken = mem_zero((size_t)V, 1);
            double sum = 0;
            for (int v = 0; v < V; v++)
                if (!some || ok[v]) sum += exp((double)x[times(m, V) + (size_t)v]);
            assert_true(fabs(log(sum) - (double)lse[m]) < 1e-5);
            for (int i = 0; i < n; i++) {
                int best = -1;
                for (int v = 0; v < V; v++)
                    if (!taken[v] && (!some || ok[v]) &&
                        (best < 0 || x[times(m, V) + (size_t)v] > x[times(m, V) + (size_t)best]))
                        best = v;
                assert_int_equal(idx[times(m, n) + (size_t)i], best);
                if (best < 0) {
                    assert_true(isinf(val[times(m, n) + (size_t)i]));
                    continue;
                } /* fewer than k are allowed */
                assert_true(val[times(m, n) + (size_t)i] == x[times(m, V) + (size_t)best]);
                taken[best] = 1;
            }
            free(taken);
        }
        words_of_topk(V, M, n, dx, dok, idx);
        free(x); free(val); free(lse); free(idx); free(ok);
        release(dx); release(dval); release(didx); release(dlse); release(dok);
    }
}

static void best_is_the_first_largest_logit_among_the_allowed(void **state)
{
    (void)state;
    const float X[2] = { 1, -1 }, W[5] = { 3, 7, 5, 5, -6 };
    const int32_t target[2] = { 0, -1 };
    const uint8_t allowed[5] = { 1, 0, 1, 1, 1 };
    int32_t best[2];
    void *x = device(bytes_of(ACT, 2)), *w = device(sizeof W), *t = device(sizeof target),
         *a = device(5), *b = device(sizeof best);
    put(ACT, x, X, 2);
    k->upload(w, W, sizeof W); k->upload(t, target, sizeof target); k->upload(a, allowed, 5);
    KERN(k, xent, .best = b, .X = x, .W = w, .target = t, .allowed = a, .eps = 0, .scale = 1,
         .M = 2, .D = 1, .V = 5);
    k->download(best, b, sizeof best);
    assert_int_equal(best[0], 2);
    assert_int_equal(best[1], 4);
    release(x); release(w); release(t); release(a); release(b);
}

static void hits_are_rows_whose_best_is_their_target(void **state)
{
    (void)state;
    const int32_t best[5] = { 3, 0, 7, 2, 0 }, target[5] = { 3, 1, 7, -1, 0 };
    float got[5];
    void *b = device(sizeof best), *t = device(sizeof target), *to = device(sizeof got);
    k->upload(b, best, sizeof best);
    k->upload(t, target, sizeof target);
    KERN(k, correct, .to = to, .best = b, .target = t, .M = 5);
    k->download(got, to, sizeof got);
    for (int i = 0; i < 5; i++) assert_true(got[i] == (best[i] == target[i]));
    release(b); release(t); release(to);
}

/* Where a gradient would be infinite it is 0, and so is what has no length. */
static void rows_of_no_length_have_no_gradient(void **state)
{
    (void)state;
    enum { D = 10 };
    float x[3 * D] = { 0 }, dy[2 * D], got[3 * D], loss[3];
    for (int i = 0; i < D; i++) { x[D + i] = (float)(i - 4) / 8; dy[i] = dy[D + i] = 1; }
    void *X = device(bytes_of(ACT, 2 * D)), *Y = device(bytes_of(ACT, 2 * D)),
         *dY = device(bytes_of(ACT, 2 * D));
    void *dX = device(bytes_of(ACT, 2 * D)), *len = device(2 * 4);
    put(ACT, X, x, 2 * D);
    put(ACT, dY, dy, 2 * D);
    KERN(k, unit_fwd, .Y = Y, .len = len, .X = X, .s = 1, .N = 2, .D = D);
    KERN(k, unit_bwd, .dX = dX, .dY = dY, .Y = Y, .len = len, .s = 1, .N = 2, .D = D);
    get(ACT, got, Y, 2 * D);
    for (int i = 0; i < D; i++) assert_true(got[i] == 0 && (i == 4) == (got[D + i] == 0));
    get(ACT, got, dX, 2 * D);
    for (int i = 0; i < D; i++) assert_true(got[i] == 0);
    /* pairs of rows 0 (zeros), 1 and 2 (row 1 again): (0, 1), (1, 2), (1, 1) */
    const int32_t i[3] = { 0, 1, 1 }, j[3] = { 1, 2, 1 };
    for (int c = 0; c < D; c++) x[2 * D + c] = x[D + c];
    void *E = device(sizeof x), *dE = device(sizeof x), *di = device(sizeof i),
         *dj = device(sizeof j), *dl = device(sizeof loss);
    k->upload(E, x, sizeof x);
    k->upload(di, i, sizeof i);
    k->upload(dj, j, sizeof j);
    for (int l2 = 0; l2 < 2; l2++) {
        k->zero(dE, sizeof x);
        KERN(k, cos_pairs, .loss = dl, .dE = dE, .E = E, .i = di, .j = dj, .scale = 1, .l2 = l2,
             .P = 3, .D = D);
        k->download(loss, dl, sizeof loss);
        k->download(got, dE, sizeof x);
        assert_true(l2 ? loss[0] > 1 && loss[1] == 0 && loss[2] == 0 : loss[0] == 0);
        if (!l2) assert_true(fabsf(loss[1] + 1) < 1e-6f && fabsf(loss[2] + 1) < 1e-6f);
        for (int c = 0; c < D; c++) {
            float far = l2 ? x[D + c] / loss[0] : 0;                     /* of |0 - x| to x */
            assert_true(fabsf(got[c] + far) < 1e-5f && fabsf(got[D + c] - far) < 1e-5f &&
                        fabsf(got[2 * D + c]) < 1e-5f);
        }
    }
    release(X); release(Y); release(dY); release(dX); release(len);
    release(E); release(dE); release(di); release(dj); release(dl);
}

static void the_best_row_of_a_segment_is_the_first_largest_allowed_one(void **state)
{
    (void)state;
    const float z[9] = { 1, 5, 3, 3, /* */ 2, 2, /* */ 9, 9, 9 };
    const int32_t at[4] = { 0, 4, 6, 6 }, len[4] = { 4, 2, 3, 0 }, target[4] = { -1, 1, -1, -1 };
    const uint8_t allowed[9] = { 1, 0, 1, 1, 1, 1, 0, 0, 0 };
    const int32_t want[4] = { 2, 0, -1, -1 };
    int32_t best[4];
    float loss[4];
    void *dz = device(bytes_of(ACT, 9)), *da = device(sizeof at), *dn = device(sizeof len),
         *dt = device(sizeof target), *dw = device(sizeof allowed), *db = device(sizeof best),
         *dl = device(sizeof loss);
    put(ACT, dz, z, 9);
    k->upload(da, at, sizeof at);
    k->upload(dn, len, sizeof len);
    k->upload(dt, target, sizeof target);
    k->upload(dw, allowed, sizeof allowed);
    KERN(k, span, .loss = dl, .best = db, .Z = dz, .ldz = 1, .at = da, .len = dn, .target = dt,
         .allowed = dw, .scale = 1, .M = 4);
    k->download(best, db, sizeof best);
    k->download(loss, dl, sizeof loss);
    for (int i = 0; i < 4; i++) assert_int_equal(best[i], want[i]);
    assert_true(loss[0] == 0 && fabsf(loss[1] - 0.693147f) < 1e-6f && loss[2] == 0 && loss[3] == 0);
    release(dz);
    release(da);
    release(dn);
    release(dt);
    release(dw);
    release(db);
    release(dl);
}

static void widened_acts_are_the_acts(void **state)
{
    (void)state;
    struct test t = { .rng = { { 9, RNG_TEST, 0 }, 0, 0 } };
    enum { N = 1003 };
    float *x = random_floats(&t, N), *got = mem_zero(N, 4);
    void *dx = device(bytes_of(ACT, N)), *df = device(N * 4);
    put(ACT, dx, x, N);
    get(ACT, x, dx, N);
    KERN(k, to_float32, .to = df, .from = dx, .n = N);
    k->download(got, df, N * 4);
    assert_memory_equal(got, x, N * 4);
    free(x); free(got);
    release(dx); release(df);
}

static void matrices_are_added_and_averaged(void **state)
{
    (void)state;
    struct test t = { .rng = { { 4, RNG_TEST, 0 }, 0, 0 } };
    enum { N = 70001 };
    float *x = random_floats(&t, N), *y = random_floats(&t, N), *got = mem_zero(N, 4);
    void *dx = device(bytes_of(ACT, N)), *dy = device(bytes_of(ACT, N)), *ds = device(N * 4),
         *dq = device(N * 4);
    double *want = mem_zero(N, sizeof *want);
    put(ACT, dx, x, N); put(ACT, dy, y, N);
    KERN(k, add, .Y = dy, .X = dx, .n = N);
    get(ACT, got, dy, N);
    for (int i = 0; i < N; i++) want[i] = (double)x[i] + (double)y[i];
    assert_true(agree("add", "y", got, want, N, tolerance));
    k->upload(ds, x, N * 4);
    k->upload(dq, y, N * 4);
    KERN(k, ema, .p = ds, .q = dq, .m = 0.875, .n = N);
    k->download(got, ds, N * 4);
    for (int i = 0; i < N; i++) want[i] = 0.875 * (double)x[i] + 0.125 * (double)y[i];
    assert_true(agree("ema", "p", got, want, N, 1e-7));
    free(x); free(y); free(got); free(want);
    release(dx); release(dy); release(ds); release(dq);
}

/* x g(x) and its slope in double: g is Phi by erfc, or the logistic function of 2u for the tanh
 * form. */
static double gelu_exact(enum kern_act f, double x, bool slope)
{
    const double pi = acos(-1);
    double w = 2 * sqrt(2 / pi) * (x + 0.044715 * x * x * x), e = exp(-fabs(w));
    double g = f == KERN_GELU ? 0.5 * erfc(-x / sqrt(2)) : (x < 0 ? e : 1) / (1 + e);
    if (!slope) return x * g;
    if (f == KERN_GELU) return g + x * exp(-x * x / 2) / sqrt(2 * pi);
    return e == 0 ? g : g + x * e / ((1 + e) * (1 + e)) * 2 * sqrt(2 / pi) * (1 + 0.134145 * x * x);
}

/* Of all 65,536 numbers in bfloat16 that are finite: GELU and its slope are right to half a unit in
 * the last place of an act, and 2.5e-7 of a number of size 1. */
static void gelu_agrees(enum kern_act f)
{
    enum { N = 65536 };
    float *x = mem_zero(N, sizeof *x), *y = mem_alloc(N * sizeof *y), one[1] = { 1 };
    for (uint32_t i = 0; i < N; i++) {
        uint32_t bits = i << 16;
        memcpy(&x[i], &bits, sizeof bits);
        if (!isfinite(x[i])) x[i] = 0;
    }
    void *X = device(bytes_of(ACT, N)), *Y = device(bytes_of(ACT, N)), *W = device(4);
    put(ACT, X, x, N);
    k->upload(W, one, 4);
    for (int slope = 0; slope < 2; slope++) {
        for (size_t i = 0; i < N; i++) y[i] = 1;
        put(ACT, Y, y, N);
        if (slope) KERN(k, act_bwd, .dX = Y, .pre = X, .f = f, .n = N);
        else KERN(k, linear_fwd, .Y = Y, .X = X, .W = W, .f = f, .N = N, .I = 1, .O = 1);
        get(ACT, y, Y, N);
        for (size_t i = 0; i < N; i++) {
            double v = (double)x[i], want = gelu_exact(f, v, slope);
            double unit = want == 0           ? 0
                          : k->act_size == 2 ? ldexp(1, ilogb(want) - 8)
                                             : 4e-7 * fabs(want),
                   allowed = unit + 2.5e-7 * fmax(1, fmin(fabs(v), fabs(want)));
            if (!(fabs((double)y[i] - want) <= allowed))
                fail_msg("GELU %d%s of %.9g: %.9g and not %.9g", (int)f, slope ? ", slope" : "", v,
                         (double)y[i], want);
        }
    }
    free(x); free(y);
    release(X); release(Y); release(W);
}

static void gelu_is_that_of_erfc(void **state)
{
    (void)state;
    gelu_agrees(KERN_GELU);
}
static void gelus_tanh_form_is_that_of_exp(void **state)
{
    (void)state;
    gelu_agrees(KERN_GELU_TANH);
}

/* Of 2,458 rows by 60,000 words a GPU of 8 GiB and more has at most 32 Mi logits at a time: five
 * chunks of 512 rows, and their slopes in acts where these are not float32. */
static void logits_are_made_in_chunks(void **state)
{
    (void)state;
    if (strcmp(k->name, "cuda") != 0 || k->room() < (size_t)8 << 30) return;
    struct kern_shape one = { .rows = 16384, .longest = 256, .predicted = 1, .dim = 1024,
                              .ffn = 4096, .heads = 16, .vocab = 60000 },
                      all = one;
    all.predicted = 2458;
    double a_row = 1.125 * (k->act_size == 2 ? 6 : 4) * 60000,
           more = (double)(k->working(&all) - k->working(&one)) / a_row;
    assert_true(fabs(more - 511) < 0.01);
}

/* A NaN or infinity in comes out as one: training stops with a message instead of going on with
 * nonsense. */
static void what_is_not_finite_stays_so(void **state)
{
    (void)state;
    enum { N = 40 };
    static const float bad[] = { NAN, INFINITY };
    for (int c = 0; c < 2; c++) {
        float x[N], y[N], gamma[N], norm;
        for (int i = 0; i < N; i++) { x[i] = (float)i / N; gamma[i] = 1; }
        x[7] = bad[c];
        void *dx = device(bytes_of(ACT, N)), *dy = device(bytes_of(ACT, N)),
             *dg = device(sizeof gamma), *df = device(sizeof x);
        put(ACT, dx, x, N);
        k->upload(dg, gamma, sizeof gamma);
        k->upload(df, x, sizeof x);
        KERN(k, norm_fwd, .Y = dy, .X = dx, .gamma = dg, .beta = dg, .eps = 1e-5f, .N = 1, .D = N);
        get(ACT, y, dy, N);
        assert_true(isnan(y[7]));
        KERN(k, norm2, .out = dg, .x = df, .n = N);
        k->download(&norm, dg, sizeof norm);
        assert_false(isfinite(norm));
        KERN(k, linear_fwd, .Y = dy, .X = dx, .W = df, .f = KERN_GELU, .N = 1, .I = N, .O = 1);
        get(ACT, y, dy, 1);
        assert_false(isfinite(y[0]));
        release(dx); release(dy); release(dg); release(df);
    }
}

#endif
