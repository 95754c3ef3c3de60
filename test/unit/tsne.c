/* Principal components are NumPy's, t-SNE's divergence scikit-learn's (test/peers/tsne.py),
 * Barnes-Hut's forces those of all pairs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/mem.h"
#include "common/rng.h"
#include "common/thread.h"
#include "lib/vectors/linalg.h"
#include "lib/vectors/quadtree.h"
#include "lib/vectors/tsne.h"
#include "lib/vectors/vectors.h"
#include "test/unit/near.h"

static const struct rng_key key = { 5, RNG_TEST, 0 };

static struct vectors *golden(const char *name)
{
    const struct vectors_options rows = { .rows = true };
    char path[512];
    snprintf(path, sizeof path, "%s/test/golden/vectors/tsne.%s",
             getenv("TOP") ? getenv("TOP") : ".", name);
    struct vectors *v = vectors_read(path, &rows);
    if (!v) fail_msg("%s", err_msg());
    return v;
}

/* A number of tsne.tsv. */
static double value(const char *name)
{
    char path[512];
    size_t n;
    snprintf(path, sizeof path, "%s/test/golden/vectors/tsne.tsv",
             getenv("TOP") ? getenv("TOP") : ".");
    char *s = file_read(path, &n), *at = s ? strstr(s, name) : NULL;
    if (!at) fail_msg("no %s in tsne.tsv", name);
    double v = atof(at + strlen(name));
    free(s);
    return v;
}

static double *plane(const char *name)
{
    struct vectors *v = golden(name);
    double *Y = mem_alloc(2 * (size_t)v->n * sizeof *Y);
    for (size_t i = 0; i < 2 * (size_t)v->n; i++) Y[i] = v->x[i];
    vectors_free(v);
    return Y;
}

static void components_are_numpys(void **state)
{
    (void)state;
    struct vectors *a = golden("a.vec"), *b = golden("b.vec"), *want = golden("pca.vec");
    size_t na = (size_t)a->n * (size_t)a->dim, nb = (size_t)b->n * (size_t)b->dim;
    float *X = mem_alloc((na + nb) * sizeof *X), *P = mem_alloc((size_t)want->n * 3 * sizeof *P);
    double share[3];
    memcpy(X, a->x, na * sizeof *X);
    memcpy(X + na, b->x, nb * sizeof *X);
    assert_int_equal(linalg_pca(X, a->n + b->n, a->dim, 3, P, share), 0);
    for (size_t i = 0; i < (size_t)want->n * 3; i++)
        if (!(fabs((double)P[i] - want->x[i]) <= 1e-4))
            fail_msg("component %zu of row %zu: %g, not %g", i % 3, i / 3, (double)P[i],
                     (double)want->x[i]);
    assert_true(fabs(share[0] - value("share\t")) < 1e-5);
    assert_int_equal(linalg_pca(X, 2, a->dim, 3, P, share), -1);
    for (size_t i = 0; i < na; i++) X[i] = 1;
    assert_int_equal(linalg_pca(X, a->n, a->dim, 3, P, share), -1);
    assert_non_null(strstr(err_msg(), "the same"));
    free(X); free(P);
    vectors_free(a); vectors_free(b); vectors_free(want);
}

/* Four points on two axes, (3, -1) and (1, 3), around (5, 7): the first has 20 of 25 parts of the
 * variance. An axis points to where its largest entry is positive, whichever that is. */
static void an_axis_is_positive_where_it_is_largest(void **state)
{
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        static const float point[4][2] = { { 8, 6 }, { 2, 8 }, { 5.5f, 8.5f }, { 4.5f, 5.5f } };
        const double root = sqrt(10),
                     want[4][2] = { { root, 0 }, { -root, 0 }, { 0, root / 2 }, { 0, -root / 2 } };
        float X[8], P[8];
        double share[2];
        for (int i = 0; i < 8; i++) X[i] = point[i / 2][swap ? 1 - i % 2 : i % 2];
        assert_int_equal(linalg_pca(X, 4, 2, 2, P, share), 0);
        for (int i = 0; i < 8; i++) assert_near(P[i], want[i / 2][i % 2], 1e-5);
        assert_near(share[0], 0.8, 1e-9);
        assert_near(share[1], 0.2, 1e-9);
    }
}

static void divergence_of_scikit_learns_planes_is_its_own(void **state)
{
    (void)state;
    struct vectors *P = golden("pca.vec");
    double *Y = plane("exact.vec"), kl;
    assert_int_equal(tsne_divergence(P->x, P->n, 3, value("perplexity\t"), Y, &kl), 0);
    if (!(fabs(kl - value("exact\t")) <= 2e-4)) fail_msg("%f, not %f", kl, value("exact\t"));
    free(Y);
    vectors_free(P);
}

/* A first step goes 0.8 (the gain) times the learning rate against scikit-learn's gradient. */
static void a_first_step_follows_scikit_learns_gradient(void **state)
{
    (void)state;
    struct vectors *P = golden("pca.vec");
    size_t n = P->n, size;
    char path[512];
    snprintf(path, sizeof path, "%s/test/golden/vectors/tsne_step.tsv",
             getenv("TOP") ? getenv("TOP") : ".");
    char *text = file_read(path, &size), *at = text;
    assert_non_null(text);
    double *start = mem_alloc(2 * n * sizeof *start), *end = mem_alloc(2 * n * sizeof *end), kl;
    struct tsne_options o = tsne_defaults;
    o.perplexity = value("perplexity\t");
    o.theta = 0;
    o.iterations = 0;
    assert_int_equal(tsne(P->x, (uint32_t)n, 3, &o, start, &kl), 0);
    o.iterations = 1;
    o.rate = 1;
    assert_int_equal(tsne(P->x, (uint32_t)n, 3, &o, end, &kl), 0);
    double off = 0, norm = 0;
    for (size_t i = 0; i < 2 * n; i++) {
        double expected = strtod(at, &at), got = (start[i] - end[i]) / 0.8;
        off += (got - expected) * (got - expected);
        norm += expected * expected;
    }
    if (!(norm > 0 && sqrt(off / norm) <= 1e-3))
        fail_msg("gradient is %g of its norm away", sqrt(off / norm));
    free(text); free(start); free(end);
    vectors_free(P);
}

/* Van der Maaten's descent, as scikit-learn has it, step by step. Five points that are all as far
 * from each other have p = 1 / 20 whatever the perplexity; the first two components begin as 1e-4
 * of their deviation, 0.4, which is 2.5e-4 for one point each. */
enum { FIVE = 5, EARLY = 5, STEPS = 11 };
static double descent(double rate, double *Y)
{
    double step[2 * FIVE] = { 0 }, gain[2 * FIVE], G[2 * FIVE], kl = 0, w[FIVE][FIVE], Z = 0;
    memset(Y, 0, 2 * FIVE * sizeof *Y);
    Y[0] = Y[3] = 2.5e-4;
    for (int k = 0; k < 2 * FIVE; k++) gain[k] = 1;
    for (int t = 0; t <= STEPS; t++) {
        Z = 0;
        for (int i = 0; i < FIVE; i++)
            for (int j = 0; j < FIVE; j++) {
                double dx = Y[2 * i] - Y[2 * j], dy = Y[2 * i + 1] - Y[2 * j + 1];
                w[i][j] = 1 / (1 + dx * dx + dy * dy);
                Z += i == j ? 0 : w[i][j];
            }
        if (t == STEPS) break;
        for (int k = 0; k < 2 * FIVE; k++) {
            G[k] = 0;
            for (int j = 0; j < FIVE; j++) {
                double wij = w[k / 2][j], p = t < EARLY ? 12 / 20.0 : 1 / 20.0;
                G[k] += 4 * (p - wij / Z) * wij * (Y[k] - Y[2 * j + k % 2]);
            }
        }
        for (int k = 0; k < 2 * FIVE; k++) {
            if (t == EARLY) { step[k] = 0; gain[k] = 1; }
            if (step[k] * G[k] < 0) gain[k] += 0.2;
            else gain[k] *= 0.8;
            step[k] = (t < EARLY ? 0.5 : 0.8) * step[k] - rate * gain[k] * G[k];
            Y[k] += step[k];
        }
    }
    for (int i = 0; i < FIVE; i++)
        for (int j = 0; j < FIVE; j++)
            if (i != j) kl += 1 / 20.0 * log(1 / 20.0 / (w[i][j] / Z));
    for (int c = 0; c < 2; c++) {
        double mean = 0;
        for (int i = 0; i < FIVE; i++) mean += Y[2 * i + c] / FIVE;
        for (int i = 0; i < FIVE; i++) Y[2 * i + c] -= mean;
    }
    return kl;
}

static void count_steps(void *ctx, int iteration)
{
    int *last = ctx;
    assert_int_equal(iteration, ++*last);
}

static void descent_is_van_der_maatens(void **state)
{
    (void)state;
    float X[FIVE * FIVE] = { 0 };
    for (int i = 0; i < FIVE; i++) X[i * FIVE + i] = 1;
    for (int rate = 0; rate < 2; rate++) {
        double want[2 * FIVE], Y[2 * FIVE], kl, exact,
               expected = descent(rate ? 1.5 : 50, want), norm = 0;
        for (int k = 0; k < 2 * FIVE; k++) norm = fmax(norm, fabs(want[k]));
        for (int tree = 0; tree < 2; tree++) {
            struct tsne_options o = tsne_defaults;
            int last = 0;
            o.perplexity = 2;
            o.theta = tree ? 1e-9 : 0;
            o.iterations = STEPS;
            o.early = EARLY;
            o.rate = rate ? 1.5 : 0;
            o.progress = count_steps;
            o.ctx = &last;
            assert_int_equal(tsne(X, FIVE, FIVE, &o, Y, &kl), 0);
            assert_int_equal(last, STEPS);
            for (int k = 0; k < 2 * FIVE; k++) assert_near(Y[k], want[k], 1e-4 * norm);
            assert_near(kl, expected, 1e-5);
            assert_int_equal(tsne_divergence(X, FIVE, FIVE, 2, Y, &exact), 0);
            assert_near(exact, expected, 1e-5);
        }
    }
    /* 3 points are too few, and 5 for a perplexity of 4 */
    struct tsne_options o = tsne_defaults;
    double Y[2 * FIVE], kl;
    o.perplexity = 1;
    assert_int_equal(tsne(X, 3, FIVE, &o, Y, &kl), -1);
    o.perplexity = 4;
    assert_int_equal(tsne(X, 5, FIVE, &o, Y, &kl), -1);
    assert_string_equal(err_msg(), "5 points are too few for a perplexity of 4; give --perplexity "
                                   "less than 4, or more words");
    assert_int_equal(tsne_divergence(X, 5, FIVE, 4, Y, &kl), -1);
}

static void planes_are_as_good_as_scikit_learns(void **state)
{
    (void)state;
    struct vectors *P = golden("pca.vec");
    double *Y = mem_alloc(2 * (size_t)P->n * sizeof *Y),
           *again = mem_alloc(2 * (size_t)P->n * sizeof *Y), kl, exact;
    for (int tree = 0; tree < 2; tree++) {
        struct tsne_options o = tsne_defaults;
        o.perplexity = value("perplexity\t");
        o.theta = tree ? 0.5 : 0;
        double peer = value(tree ? "barnes_hut\t" : "exact\t");
        par_threads_set(1);
        assert_int_equal(tsne(P->x, P->n, 3, &o, Y, &kl), 0);
        par_threads_set(3);
        assert_int_equal(tsne(P->x, P->n, 3, &o, again, &exact), 0);
        assert_memory_equal(Y, again, 2 * (size_t)P->n * sizeof *Y);
        assert_true(kl == exact);
        if (!(kl <= peer * 1.02))
            fail_msg("%s: divergence %f, scikit-learn's %f", tree ? "Barnes-Hut" : "exact", kl,
                     peer);
        assert_int_equal(tsne_divergence(P->x, P->n, 3, o.perplexity, Y, &exact), 0);
        if (!(fabs(kl - exact) <= (tree ? 0.02 : 1e-4)))
            fail_msg("it says %f, but has %f", kl, exact);
        o.random = true;
        assert_int_equal(tsne(P->x, P->n, 3, &o, Y, &exact), 0);
        if (!(exact <= peer * 1.15))
            fail_msg("from a random start: %f, scikit-learn's %f", exact, peer);
    }
    struct tsne_options o = tsne_defaults;
    assert_int_equal(tsne(P->x, 20, 3, &o, Y, &kl), -1);
    assert_non_null(strstr(err_msg(), "--perplexity"));
    free(Y); free(again);
    vectors_free(P);
}

static void cells_act_as_their_points(void **state)
{
    (void)state;
    enum { N = 700 };
    double *Y = mem_alloc(2 * N * sizeof *Y), force[2], worst = 0;
    for (size_t i = 0; i < 2 * N; i++) Y[i] = rng_normal(key, i, 1) * (i % 14 < 2 ? 8 : 1);
    for (size_t i = 0; i < 20; i++)
        Y[2 * (300 + i)] = Y[600], Y[2 * (300 + i) + 1] = Y[601]; /* points in one place */
    struct quadtree *t = quadtree_new(N);
    quadtree_build(t, Y);
    for (uint32_t i = 0; i < N; i++) {
        double Z = 0, x = 0, y = 0;
        for (uint32_t j = 0; j < N; j++) {
            double dx = Y[2 * i] - Y[2 * j], dy = Y[2 * i + 1] - Y[2 * j + 1],
                   w = 1 / (1 + dx * dx + dy * dy);
            if (i == j) continue;
            Z += w; x += w * w * dx; y += w * w * dy;
        }
        double got = quadtree_repulsion(t, Y, i, 0, force);
        if (!(fabs(got - Z) <= 1e-9 * Z && fabs(force[0] - x) + fabs(force[1] - y) <= 1e-9 * Z))
            fail_msg("point %u: without approximation %g, not %g", i, got, Z);
        got = quadtree_repulsion(t, Y, i, 0.5, force);
        worst = fmax(worst, fabs(got - Z) / Z);
        worst = fmax(worst, hypot(force[0] - x, force[1] - y) / Z);
    }
    if (!(worst <= 0.05 && worst > 0)) fail_msg("theta 0.5 is off by %g", worst);
    for (size_t i = 0; i < 2 * N; i++) Y[i] = 3;
    quadtree_build(t, Y);
    assert_true(quadtree_repulsion(t, Y, 5, 0.5, force) == N - 1);
    quadtree_free(t);
    free(Y);
}

/* A point, and two that are (2, 8) and (2, 5) away: the square around all three is 8 wide, the
 * quarter with the two 4, and their mean (2, 6.5) lies sqrt(46.25) away. 4 / sqrt(46.25) is 0.5882:
 * with a theta above it the two act as one point of weight 2, else as themselves. */
static void a_cell_is_one_point_where_it_is_narrow_for_its_distance(void **state)
{
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        const double place[6] = { 1, 10, 3, 18, 3, 15 };
        double Y[6], force[2];
        for (int i = 0; i < 6; i++) Y[swap ? i ^ 1 : i] = place[i];
        struct quadtree *t = quadtree_new(3);
        quadtree_build(t, Y);
        double one = 2 / 47.25, far = 1 / 69.0, near = 1 / 30.0;
        assert_near(quadtree_repulsion(t, Y, 0, 0.589, force), one, 1e-15);
        assert_near(force[swap], -one / 47.25 * 2, 1e-15);
        assert_near(force[!swap], -one / 47.25 * 6.5, 1e-15);
        assert_near(quadtree_repulsion(t, Y, 0, 0.588, force), far + near, 1e-15);
        assert_near(force[swap], -(far * far + near * near) * 2, 1e-15);
        assert_near(force[!swap], -(far * far * 8 + near * near * 5), 1e-15);
        quadtree_free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(components_are_numpys),
        cmocka_unit_test(an_axis_is_positive_where_it_is_largest),
        cmocka_unit_test(divergence_of_scikit_learns_planes_is_its_own),
        cmocka_unit_test(a_first_step_follows_scikit_learns_gradient),
        cmocka_unit_test(descent_is_van_der_maatens),
        cmocka_unit_test(planes_are_as_good_as_scikit_learns),
        cmocka_unit_test(cells_act_as_their_points),
        cmocka_unit_test(a_cell_is_one_point_where_it_is_narrow_for_its_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
