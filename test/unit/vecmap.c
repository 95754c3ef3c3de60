/* VecMap's last step and a round of its self-learning are those of its formulas in numpy
 * (golden/vecmap.py). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/json/safetensors.h"
#include "common/mem.h"
#include "lib/bilingual/map.h"
#include "test/unit/near.h"

enum { K = 5 };
static const double REWEIGHT = 0.5;

static struct st_file *golden(void)
{
    char path[512];
    const char *top = getenv("TOP");
    snprintf(path, sizeof path, "%s/test/golden/vectors/vecmap.safetensors", top ? top : ".");
    struct st_file *f = st_open(path);
    if (!f) fail_msg("%s", err_msg());
    return f;
}

static float *floats(const struct st_file *f, const char *name, uint32_t *rows, int *cols)
{
    const struct st_tensor *t = st_find(f, name);
    assert_non_null(t);
    float *x = mem_alloc(t->bytes);
    assert_int_equal(st_floats(t, x, t->bytes / 4), 0);
    if (rows) *rows = (uint32_t)t->shape[0];
    if (cols) *cols = (int)t->shape[1];
    return x;
}

static int32_t number(const struct st_file *f, const char *name, size_t i)
{
    int32_t x;
    memcpy(&x, (const char *)st_find(f, name)->data + 4 * i, 4);
    return x;
}

static void seeds(const struct st_file *f, struct word_pairs *p)
{
    size_t n = st_find(f, "src")->bytes / 4;
    *p = (struct word_pairs){ 0 };
    for (size_t i = 0; i < n; i++)
        word_pairs_add(p, (uint32_t)number(f, "src", i), (uint32_t)number(f, "tgt", i));
}

/* Products of all rows of a with all of b are the expected ones (the axes' signs are free). */
static void products(const float *a, uint32_t n, const float *b, uint32_t m, int d,
                     const float *expected)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < m; j++) {
            double dot = 0;
            const float *x = a + i * (uint32_t)d, *y = b + j * (uint32_t)d;
            double want = (double)expected[i * m + j];
            for (int k = 0; k < d; k++) dot += (double)x[k] * (double)y[k];
            if (!(fabs(dot - want) <= 1e-4))
                fail_msg("rows %u and %u: cosine %g, not %g", i, j, dot, want);
        }
}

static void the_advanced_map(void **state)
{
    (void)state;
    struct st_file *f = golden();
    struct word_pairs p;
    uint32_t n, m;
    int d;
    float *x = floats(f, "x", &n, &d), *z = floats(f, "z", &m, &d);
    float *cosine = floats(f, "cosine", NULL, NULL), *own = floats(f, "own", NULL, NULL);
    seeds(f, &p);
    assert_int_equal(map_advanced(x, n, z, m, d, &p, REWEIGHT), 0);
    products(x, n, z, m, d, cosine);
    products(x, n, x, n, d, own);
    word_pairs_free(&p);
    free(x); free(z); free(cosine); free(own);
    st_close(f);
}

/* By hand, with axes that the map keeps: pairs (1, 0) and (0, e) on both sides have Gram matrices
 * diag(1, e^2), which whiten to singular values of 1 and 1, and nothing is re-weighted: the cosine
 * of (1, 0) and (0.6, 0.8) stays 0.6. At e = 0 the second axis has no variance, is left as it is,
 * and has the singular value 0, whose power 0 is 1. */
static void axes_of_little_variance_are_whitened_and_of_none_are_left(void **state)
{
    (void)state;
    static const float e[] = { 0.01f, 1e-4f, 0 };
    for (int i = 0; i < 3; i++) {
        float x[6] = { 1, 0, 0, e[i], 0.6f, 0.8f }, z[4] = { 1, 0, 0, e[i] };
        struct word_pairs p = { 0 };
        word_pairs_add(&p, 0, 0);
        if (e[i] > 0) word_pairs_add(&p, 1, 1);
        assert_int_equal(map_advanced(x, 3, z, 2, 2, &p, e[i] > 0 ? REWEIGHT : 0), 0);
        assert_near(x[0] * x[4] + x[1] * x[5], 0.6, 1e-5);
        assert_near(x[0] * z[0] + x[1] * z[1], 1, 1e-5);
        word_pairs_free(&p);
    }
}

static void a_round_of_self_learning(void **state)
{
    (void)state;
    struct st_file *f = golden();
    struct word_pairs p;
    struct map_options o = map_defaults;
    uint32_t n, m;
    int d;
    double objective;
    float *x = floats(f, "x", &n, &d), *z = floats(f, "z", &m, &d);
    float *best = floats(f, "objective", NULL, NULL);
    seeds(f, &p);
    o.K = K; o.keep0 = 1; o.most = 1;
    assert_int_equal(map_self_learn(x, n, z, m, d, &o, &p, &objective), 0);
    assert_int_equal(p.n, n + m);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(p.src[i], i);
        assert_int_equal(p.tgt[i], number(f, "forward", i));
    }
    for (uint32_t j = 0; j < m; j++) {
        assert_int_equal(p.src[n + j], number(f, "backward", j));
        assert_int_equal(p.tgt[n + j], j);
    }
    assert_near(objective, best[0], 1e-5);
    word_pairs_free(&p);
    free(x); free(z); free(best);
    st_close(f);
}

/* What each round said, by its number. */
enum { MOST_ROUNDS = 500 };
struct rounds { int n; double keep[MOST_ROUNDS + 1], objective[MOST_ROUNDS + 1]; };

static void note_round(void *ctx, int round, double keep, double objective)
{
    struct rounds *r = ctx;
    assert_in_range(round, 1, MOST_ROUNDS);
    r->n = round;
    r->keep[round] = keep;
    r->objective[round] = objective;
}

/* map_embeddings.py: where `it - last_improvement` passes the interval the share is twice as large,
 * `it` is the last improvement, and the rounds end where the share was 1. */
static void the_share_grows(double threshold)
{
    struct st_file *f = golden();
    struct word_pairs p;
    struct map_options o = map_defaults;
    struct rounds r = { 0 };
    uint32_t n, m;
    int d, last = 0, grown = 0;
    double objective, best = -INFINITY;
    float *x = floats(f, "x", &n, &d), *z = floats(f, "z", &m, &d);
    seeds(f, &p);
    o.threshold = threshold;
    o.K = K; o.patience = 4; o.most = MOST_ROUNDS; o.progress = note_round; o.ctx = &r;
    assert_int_equal(map_self_learn(x, n, z, m, d, &o, &p, &objective), 0);
    for (int i = 1; i <= r.n; i++) {
        if (r.objective[i] - best >= o.threshold) {
            last = i;
            best = r.objective[i];
        }
        bool waited = i - last > o.patience, ends = waited && r.keep[i] >= 1;
        assert_true((i == r.n) == ends);
        if (ends) break;
        assert_near(r.keep[i + 1], waited ? fmin(1, 2 * r.keep[i]) : r.keep[i], 0);
        grown += waited;
        if (waited) last = i;
    }
    /* 0.1, 0.2, 0.4, 0.8, 1 */
    assert_int_equal(grown, 4);
    /* the best of the rounds without noise; of rounds that all have some, the last */
    best = -INFINITY;
    for (int i = 1; i <= r.n; i++) if (r.keep[i] >= 1) best = fmax(best, r.objective[i]);
    assert_true(objective == best);
    o.most = 3;
    word_pairs_free(&p);
    seeds(f, &p);
    assert_int_equal(map_self_learn(x, n, z, m, d, &o, &p, &objective), 0);
    assert_int_equal(r.n, 3);
    assert_true(objective == r.objective[3]);
    word_pairs_free(&p);
    free(x); free(z);
    st_close(f);
}

static void the_share_grows_where_nothing_improves(void **state)
{
    (void)state;
    the_share_grows(map_defaults.threshold);
    /* small steps are none */
    the_share_grows(0.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_advanced_map),
        cmocka_unit_test(axes_of_little_variance_are_whitened_and_of_none_are_left),
        cmocka_unit_test(a_round_of_self_learning),
        cmocka_unit_test(the_share_grows_where_nothing_improves) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
