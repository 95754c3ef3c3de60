/* The optimiser: norms of gradients, Adam and LAMB. */
#ifndef TEST_UNIT_OPS_OPTIMISER_H
#define TEST_UNIT_OPS_OPTIMISER_H
#include "common/thread.h"
#include "test/unit/ops_alone.h"

/* The tensors of a case: of several sizes, with and without decay, next to each other and apart. */
static const struct tensors { int n; struct kern_part part[6];
} tensors[] = {
    { 1, { { 0, 1, true } } },
    { 1, { { 0, 33, true } } },
    { 1, { { 0, 70000, true } } },
    { 1, { { 0, 0, true } } },
    { 0, { { 0, 0, false } } },
    { 1, { { 0, 100, false } } },
    { 5,
      { { 0, 40, true },
        { 40, 8, false },
        { 64, 33000, true },
        { 33064, 0, true },
        { 33064, 40000, false } } },
    { 6,
      { { 8, 7, false },
        { 16, 70001, true },
        { 70024, 1, true },
        { 70032, 2048, true },
        { 72080, 2048, true },
        { 80000, 5, false } } },
};

/* One step of Adam or LAMB on tensor x in double. by: what gradients are multiplied by. */
static void plain_step(const struct kern_part *x, bool lamb, int step, double by, const float *g,
                       double *p, double *m, double *v)
{
    double pp = 0, uu = 0, decay = x->decay ? 0.1 : 0, *u = mem_zero(x->n, sizeof *u);
    lamb = lamb && x->decay;
    for (size_t i = x->at; i < x->at + x->n; i++) {
        double grad = (double)g[i] * by, *d = &u[i - x->at];
        m[i] = 0.9 * m[i] + 0.1 * grad;
        v[i] = 0.999 * v[i] + 0.001 * grad * grad;
        *d = m[i] / (1 - pow(0.9, step)) / (sqrt(v[i] / (1 - pow(0.999, step))) + 1e-8);
        if (!lamb) p[i] -= 0.01 * decay * p[i];
        else *d += decay * p[i];
        pp += p[i] * p[i];
        uu += *d * *d;
    }
    double rate = lamb && pp > 0 && uu > 0 ? 0.01 * sqrt(pp / uu) : 0.01;
    for (size_t i = 0; i < x->n; i++) p[x->at + i] -= rate * u[i];
    free(u);
}

static void optimiser_follows_the_paper(const char *name, bool lamb)
{
    struct test t = { .rng = { { 3, RNG_TEST, 0 }, 0, 0 } };
    for (size_t c = 0; c < sizeof tensors / sizeof tensors[0]; c++) {
        const struct kern_part *part = tensors[c].part;
        int parts = tensors[c].n;
        size_t n = parts ? part[parts - 1].at + part[parts - 1].n : 0;
        float *p = random_floats(&t, n), *g = random_floats(&t, n), *got = mem_zero(n, 4), norm;
        double *want = mem_zero(n, sizeof *want), *m = mem_zero(n, sizeof *m),
               *v = mem_zero(n, sizeof *v);
        void *dp = device(n * 4), *dg = device(n * 4), *dm = device(n * 4), *dv = device(n * 4),
             *dn = device(4);
        for (size_t i = 0; i < n; i++) want[i] = (double)p[i];
        if (n) { k->upload(dp, p, n * 4); k->zero(dm, n * 4); k->zero(dv, n * 4); }
        for (int step = 1; step <= 4; step++) {
            struct kern_adam a = {
                .p = dp,
                .g = dg,
                .m = dm,
                .v = dv,
                .part = part,
                .parts = parts,
                .norm2 = dn,
                .lamb = lamb,
                .lr = 0.01,
                .beta1 = 0.9,
                .beta2 = 0.999,
                .eps = 1e-8,
                .weight_decay = 0.1,
                .step = step,
                .clip = step < 4 ? 0.5f : 0,
                .grad_scale = 0.25f,
            };
            double square = 0;
            for (size_t i = 0; i < n; i++) { g[i] *= 0.9f; square += (double)g[i] * (double)g[i]; }
            if (n) k->upload(dg, g, n * 4);
            KERN(k, norm2, .out = dn, .x = dg, .n = n);
            k->download(&norm, dn, 4);
            assert_true(fabs((double)norm - square) <= 1e-6 * square);
            k->adam(&a);
            double by = 0.25, clip = 0.5 / (0.25 * sqrt(square) + 1e-6);
            if (step < 4 && clip < 1) by *= clip;
            for (int i = 0; i < parts; i++) plain_step(&part[i], lamb, step, by, g, want, m, v);
        }
        if (n) k->download(got, dp, n * 4);
        if (!agree(name, "p", got, want, n, 1e-6)) fail_msg("%s", wrong);
        for (size_t i = 0, x = 0; i < n; i++) { /* between the tensors nothing has changed */
            while (i >= part[x].at + part[x].n) x++;
            if (i < part[x].at) assert_memory_equal(&got[i], &p[i], 4);
        }
        float bad = INFINITY, *same = mem_zero(n, 4);
        struct kern_adam a = {
            .p = dp,
            .g = dg,
            .m = dm,
            .v = dv,
            .part = part,
            .parts = parts,
            .norm2 = dn,
            .lamb = lamb,
            .lr = 0.01,
            .beta1 = 0.9,
            .beta2 = 0.999,
            .eps = 1e-8,
            .step = 5,
            .clip = 1,
            .grad_scale = 1,
        };
        k->upload(dn, &bad, 4);
        k->adam(&a);
        if (n) k->download(same, dp, n * 4);
        assert_memory_equal(got, same, n * 4);
        free(p); free(g); free(got); free(want); free(m); free(v); free(same);
        release(dp); release(dg); release(dm); release(dv); release(dn);
    }
}

static void adam_follows_the_paper_and_skips_gradients_that_are_not_finite(void **state)
{
    (void)state;
    optimiser_follows_the_paper("adam", false);
}

static void lamb_follows_the_paper_and_skips_gradients_that_are_not_finite(void **state)
{
    (void)state;
    optimiser_follows_the_paper("lamb", true);
}

static void lamb_moves_parameters_of_zero_and_by_the_same_bytes_on_any_number_of_threads(
    void **state)
{
    (void)state;
    struct test t = { .rng = { { 6, RNG_TEST, 0 }, 0, 0 } };
    enum { N = 200000 };
    const struct kern_part all = { 0, N, true };
    float *p = random_floats(&t, N), *g = random_floats(&t, N), *got[2];
    void *dp = device(N * 4), *dg = device(N * 4), *dm = device(N * 4), *dv = device(N * 4),
         *dn = device(4);
    struct kern_adam a = {
        .p = dp,
        .g = dg,
        .m = dm,
        .v = dv,
        .part = &all,
        .parts = 1,
        .norm2 = dn,
        .lamb = true,
        .lr = 0.01,
        .beta1 = 0.9,
        .beta2 = 0.999,
        .eps = 1e-8,
        .weight_decay = 0.1,
        .step = 1,
        .grad_scale = 1,
    };
    k->upload(dg, g, N * 4);
    for (int i = 0; i < 2; i++) {
        par_threads_set(i ? 5 : 1);
        k->upload(dp, p, N * 4);
        k->zero(dm, N * 4);
        k->zero(dv, N * 4);
        KERN(k, norm2, .out = dn, .x = dg, .n = N);
        k->adam(&a);
        k->download(got[i] = mem_zero(N, 4), dp, N * 4);
    }
    par_threads_set(1);
    assert_memory_equal(got[0], got[1], N * 4);
    k->zero(dp, N * 4);
    k->zero(dm, N * 4);
    k->zero(dv, N * 4);
    a.norm2 = NULL;
    k->adam(&a); /* |p| = 0: u is -sign(g), the factor 1 */
    k->download(got[0], dp, N * 4);
    for (int i = 0; i < N; i++)
        if (fabsf(g[i]) > 1e-3f && fabsf(got[0][i] + (g[i] > 0 ? 0.01f : -0.01f)) > 1e-6f)
            fail_msg("p[%d] is %g where g is %g", i, (double)got[0][i], (double)g[i]);
    free(p); free(g); free(got[0]); free(got[1]);
    release(dp); release(dg); release(dm); release(dv); release(dn);
}

#endif
