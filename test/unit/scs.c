/* SCS-MLM's search beside NumPy's (test/golden/scs.py), and where its answer is known. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/json/safetensors.h"
#include "common/mem.h"
#include "common/rng.h"
#include "lib/objective/scs_rows.h"

static const struct kernels *k;

struct fixture {
    struct model m;
    struct tape t;
    float *near;
    uint8_t *allowed;
    int V, D;
};

/* A model without layers to speak of: its table E [V, D] and the output's bias b. */
static struct fixture fixture(int V, int D, const float *E, const float *b)
{
    struct fixture f = { .V = V, .D = D };
    struct model_config c;
    model_config_init(&c);
    c.vocab = V; c.dim = D; c.layers = 1; c.heads = 1; c.ffn = D; c.positions = 8;
    if (model_new(&f.m, &c, k, 1, true) < 0) fail_msg("%s", err_msg());
    param_put(&f.m.ps, f.m.ps.value, f.m.tokens, E);
    if (b) param_put(&f.m.ps, f.m.ps.value, f.m.output_bias, b);
    f.near = k->alloc((size_t)V * (size_t)D * sizeof *f.near);
    f.allowed = k->alloc((size_t)V);
    uint8_t *ok = mem_zero((size_t)V, 1);
    memset(ok + VOCAB_SPECIALS, 1, (size_t)V - VOCAB_SPECIALS);
    k->upload(f.allowed, ok, (size_t)V);
    free(ok);
    return f;
}

static void fixture_free(struct fixture *f)
{
    tape_free(&f->t);
    k->release(f->near);
    k->release(f->allowed);
    model_free(&f->m);
}

static const void *golden(const struct st_file *f, const char *name)
{
    const struct st_tensor *t = st_find(f, name);
    if (!t) fail_msg("no %s", name);
    return t->data;
}

static void near_to(const float *device, const float *expected, size_t n, const char *what)
{
    double far = 0, norm = 0;
    float *x = mem_alloc(n * sizeof *x);
    k->download(x, device, n * sizeof *x);
    for (size_t i = 0; i < n; i++) {
        far += pow((double)x[i] - (double)expected[i], 2);
        norm += pow((double)expected[i], 2);
    }
    free(x);
    if (!(sqrt(far) <= 1e-5 * sqrt(norm))) fail_msg("%s: %g of %g", what, sqrt(far), sqrt(norm));
}

static void same_words(const int32_t *device, const int32_t *expected, size_t n, const char *what)
{
    int32_t *x = mem_alloc(n * sizeof *x);
    k->download(x, device, n * sizeof *x);
    for (size_t i = 0; i < n; i++)
        if (x[i] != expected[i]) fail_msg("%s: %zu is %d, not %d", what, i, x[i], expected[i]);
    free(x);
}

static void check_mixture(const struct st_file *g, struct fixture *f, const struct scs_mixture *y,
                          const char *name, const char *what)
{
    char full[32];
    int n = 7, of = 8;
#define OF(field) (snprintf(full, sizeof full, "%s." field, name), golden(g, full))
    same_words(y->idx, OF("idx"), 56, what);
    near_to(y->w, OF("q"), 56, "q");
    near_to(y->entropy, OF("entropy"), 7, "entropy");
    near_to(y->ratio, OF("ratio"), 7, "ratio");
    struct mixture mix = { .n = n, .k = of, .idx = y->idx, .w = y->w };
    near_to(tape_mix(&f->t, f->m.tokens, 1, &mix)->v, OF("y"), (size_t)n * (size_t)f->D, "y");
#undef OF
}

static struct st_file *golden_file(void)
{
    char path[4096];
    const char *top = getenv("TOP");
    snprintf(path, sizeof path, "%s/test/golden/scs.safetensors", top ? top : ".");
    struct st_file *g = st_open(path);
    if (!g) fail_msg("%s", err_msg());
    return g;
}

static void words_weights_and_lengths_are_those_of_numpy(void **state)
{
    (void)state;
    struct st_file *g = golden_file();
    struct fixture f = fixture(50, 8, golden(g, "E"), golden(g, "b"));
    tape_init(&f.t, k, &f.m.ps);
    const int32_t *first = golden(g, "first"), *rows = golden(g, "n"), *at = golden(g, "at"),
                  *words = golden(g, "words");
    struct scs_group group[2];
    for (int i = 0; i < 2; i++) group[i] = (struct scs_group){ first[i], rows[i], at[i], words[i] };
    for (int keep = 0; keep < 2; keep++) {
        tape_reset(&f.t, true);
        struct scs_how how = { 8, 3, 0.7f, keep };
        int32_t *idx = tape_alloc(&f.t, 56 * sizeof *idx);
        float *p = tape_alloc(&f.t, 56 * sizeof *p);
        struct var *h = tape_var(&f.t, 14, 8);
        k->upload(h->v, golden(g, "H"), 14 * 8 * sizeof(float));
        int records = f.t.n;
        scs_expected(&f.m, &f.t, h, tape_int32(&f.t, golden(g, "row"), 7), 7, 8, f.allowed, idx, p);
        same_words(idx, golden(g, "p.idx"), 56, "expected words");
        near_to(p, golden(g, "p"), 56, "p");
        struct scs_mixture y = scs_search(&how, &f.m, &f.t, 7, idx, p, group, 2,
                                          tape_int32(&f.t, golden(g, "word"), 25), f.near);
        assert_int_equal(f.t.n, records);                  /* nothing of it has a gradient */
        assert_true(f.t.train);
        check_mixture(g, &f, &y, keep ? "keep" : "none", keep ? "keep" : "none");
    }
    st_close(g);
    fixture_free(&f);
}

static void words_nearest_in_the_table_are_those_of_numpy(void **state)
{
    (void)state;
    struct st_file *g = golden_file();
    struct fixture f = fixture(50, 8, golden(g, "E"), NULL);
    tape_init(&f.t, k, &f.m.ps);
    tape_reset(&f.t, true);
    const int32_t *first = golden(g, "first"), *rows = golden(g, "n"), *at = golden(g, "home_at"),
                  *words = golden(g, "home_words");
    struct scs_group home[2];
    for (int i = 0; i < 2; i++) home[i] = (struct scs_group){ first[i], rows[i], at[i], words[i] };
    int32_t *idx = tape_alloc(&f.t, 56 * sizeof *idx);
    float *p = tape_alloc(&f.t, 56 * sizeof *p);
    int records = f.t.n;
    scs_expected_by_table(&f.m, &f.t, tape_int32(&f.t, golden(g, "own"), 7), 7, 8, 0.1f, home, 2,
                          tape_int32(&f.t, golden(g, "home"), 36), f.near, idx, p);
    same_words(idx, golden(g, "home.idx"), 56, "words at home");
    near_to(p, golden(g, "home.p"), 56, "p");
    assert_int_equal(f.t.n, records);
    st_close(g);
    fixture_free(&f);
}

/* 40 words of one language, 40 of another: its words are those of the first and a shift. Row r
 * expects word r of the first language. Returns how many rows find the shifted one first. */
static int translations_found(bool shuffled)
{
    enum { V = 85, D = 16, N = 40 };
    static float E[V * D], shift[D];
    struct rng r = { { 5, RNG_TEST, 0 }, 0, 0 };
    for (int i = 0; i < D; i++) shift[i] = 0.5f * (rng_next_unit(&r) - 0.5f);
    for (int i = 0; i < (5 + N) * D; i++) E[i] = rng_next_unit(&r) - 0.5f;
    for (int w = 0; w < N; w++)
        for (int i = 0; i < D; i++)
            E[(5 + N + (shuffled ? (w * 7 + 3) % N : w)) * D + i] = E[(5 + w) * D + i] + shift[i];
    struct fixture f = fixture(V, D, E, NULL);
    tape_init(&f.t, k, &f.m.ps);
    tape_reset(&f.t, false);
    int32_t idx[N * 2], word[N], best[N * 2], right = 0;
    float p[N * 2];
    for (int w = 0; w < N; w++) {
        idx[2 * w] = 5 + w; idx[2 * w + 1] = 5 + (w + 1) % N;
        p[2 * w] = 0.99f; p[2 * w + 1] = 0.01f;
        word[w] = 5 + N + w;
    }
    struct scs_group all = { 0, N, 0, N };
    struct scs_how how = { 2, 10, 1, false };
    struct scs_mixture y = scs_search(&how, &f.m, &f.t, N, tape_int32(&f.t, idx, 2 * N),
                                      tape_float(&f.t, p, 2 * N), &all, 1,
                                      tape_int32(&f.t, word, N), f.near);
    k->download(best, y.idx, sizeof best);
    for (int w = 0; w < N; w++) right += best[2 * w] == 5 + N + w;
    fixture_free(&f);
    return right;
}

static void a_table_of_shifted_translations_gives_the_translations(void **state)
{
    (void)state;
    assert_true(translations_found(false) >= 40);
    assert_true(translations_found(true) <= 2);
}

/* v [D] of length `length`, without a part along the first axis. */
static void draw_off_axis(struct rng *r, float *v, int D, double length)
{
    double square = 0;
    for (int i = 1; i < D; i++) {
        v[i] = rng_next_unit(r) - 0.5f;
        square += (double)v[i] * (double)v[i];
    }
    v[0] = 0;
    for (int i = 1; i < D; i++) v[i] = (float)((double)v[i] * length / sqrt(square));
}

/* How often the word that is chosen most often is chosen. */
static int most_chosen(const int32_t *best, int n)
{
    int most = 0;
    for (int i = 0; i < n; i++) {
        int here = 0;
        for (int j = 0; j < n; j++) here += best[j] == best[i];
        most = here > most ? here : most;
    }
    return most;
}

static double cosine(const float *a, const float *b, int D)
{
    double ab = 0, aa = 0, bb = 0;
    for (int i = 0; i < D; i++) {
        ab += (double)a[i] * (double)b[i];
        aa += (double)a[i] * (double)a[i];
        bb += (double)b[i] * (double)b[i];
    }
    return ab / sqrt(aa * bb);
}

/* 40 words w = axis + own part, translations = w + noise, and one word more of their language, the
 * axis alone. |w|^2 = 1.5, |translation|^2 = 2.5: the axis is nearer to nearly every w by cosine,
 * 1 / 1.22 = 0.82, than its translation is, 1.5 / (1.22 * 1.58) = 0.77. */
static void a_hub_does_not_win(void **state)
{
    (void)state;
    enum { D = 64, N = 40, V = 5 + 2 * N + 1, HUB = V - 1 };
    static float E[V * D];
    struct rng r = { { 5, RNG_TEST, 0 }, 0, 0 };
    for (int w = 0; w < N; w++) {
        float *source = E + (5 + w) * D, *target = E + (5 + N + w) * D, noise[D];
        draw_off_axis(&r, source, D, sqrt(0.5));
        draw_off_axis(&r, noise, D, 1);
        source[0] = 1;
        for (int i = 0; i < D; i++) target[i] = source[i] + noise[i];
    }
    E[HUB * D] = 1;
    struct fixture f = fixture(V, D, E, NULL);
    tape_init(&f.t, k, &f.m.ps);
    tape_reset(&f.t, false);
    int32_t idx[N], word[N + 1], best[N], by_cosine[N];
    float p[N];
    for (int w = 0; w <= N; w++) word[w] = 5 + N + w;
    for (int w = 0; w < N; w++) {
        idx[w] = 5 + w;
        p[w] = 1;
        by_cosine[w] = word[0];
        for (int j = 1; j <= N; j++)
            if (cosine(E + idx[w] * D, E + word[j] * D, D)
                > cosine(E + idx[w] * D, E + by_cosine[w] * D, D))
                by_cosine[w] = word[j];
    }
    struct scs_group all = { 0, N, 0, N + 1 };
    struct scs_how how = { 1, 10, 1, false };
    struct scs_mixture y = scs_search(&how, &f.m, &f.t, N, tape_int32(&f.t, idx, N),
                                      tape_float(&f.t, p, N), &all, 1,
                                      tape_int32(&f.t, word, N + 1), f.near);
    k->download(best, y.idx, sizeof best);
    assert_true(most_chosen(by_cosine, N) > N / 2);
    assert_true(most_chosen(best, N) <= 3);
    int right = 0;
    for (int w = 0; w < N; w++) right += best[w] == word[w];
    assert_true(right > N * 3 / 4);
    fixture_free(&f);
}

static void words_that_are_all_the_same_are_mixed_evenly(void **state)
{
    (void)state;
    enum { V = 20, D = 6 };
    static float E[V * D];
    for (int i = 0; i < V * D; i++)
        E[i] = i / D < 10 ? (float)(i * 7 % 11) - 5 : (float)(i % D) + 1;
    struct fixture f = fixture(V, D, E, NULL);
    tape_init(&f.t, k, &f.m.ps);
    tape_reset(&f.t, false);
    int32_t idx[16], word[10];
    float p[16], entropy[2], y[2 * D];
    for (int i = 0; i < 16; i++) { idx[i] = 5 + i % 5; p[i] = 0.125f; }
    for (int i = 0; i < 10; i++) word[i] = 10 + i;
    struct scs_group all = { 0, 2, 0, 10 };
    struct scs_how how = { 8, 10, 1, false };
    struct scs_mixture q = scs_search(&how, &f.m, &f.t, 2, tape_int32(&f.t, idx, 16),
                                      tape_float(&f.t, p, 16), &all, 1,
                                      tape_int32(&f.t, word, 10), f.near);
    k->download(entropy, q.entropy, sizeof entropy);
    struct mixture mix = { .n = 2, .k = 8, .idx = q.idx, .w = q.w };
    k->download(y, tape_mix(&f.t, f.m.tokens, 1, &mix)->v, sizeof y);
    for (int r = 0; r < 2; r++) {
        assert_true(fabs((double)entropy[r] - log(8)) < 1e-5);
        for (int i = 0; i < D; i++) assert_true(fabsf(y[r * D + i] - (float)(i + 1)) < 1e-4f);
    }
    fixture_free(&f);
}

int main(void)
{
    k = kernels_cpu();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_weights_and_lengths_are_those_of_numpy),
        cmocka_unit_test(words_nearest_in_the_table_are_those_of_numpy),
        cmocka_unit_test(a_table_of_shifted_translations_gives_the_translations),
        cmocka_unit_test(a_hub_does_not_win),
        cmocka_unit_test(words_that_are_all_the_same_are_mixed_evenly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
