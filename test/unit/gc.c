/* The forms of MLM-GC's loss by hand: the paper's text and its authors' code, on a sentence of
 * three words whose states are one number each. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/files/file.h"
#include "lib/count/count.h"
#include "lib/objective/gc.h"

/* <s> a b c </s>: a and c read <mask>, b is predicted and reads another word. X(a, b) = 3,
 * X(b, c) = 1, X(a, c) = 0; f = 1. */
enum { ROWS = 5, A = VOCAB_SPECIALS, B, C };
static const uint32_t original[] = { VOCAB_BOS, A, B, C, VOCAB_EOS };
static const int32_t reads[] = { VOCAB_BOS, VOCAB_MASK, A, VOCAB_MASK, VOCAB_EOS },
                     row[] = { 1, 2, 3 };
static int32_t at[] = { 0 }, len[] = { ROWS };
static const struct batch sentence = { .n = 1, .rows = ROWS, .max = ROWS, .at = at, .len = len };
static const struct batch_view text = { &sentence, original, reads, row, 3 };
static const float h[ROWS] = { 9, 2, 1, -1, 9 };
static struct cooc_values *x;

static int count(void **state)
{
    (void)state;
    FILE *f = fopen("counted", "w"), *v = fopen("vocab", "w");
    fputs("a b\na b\na b\nb c\n", f);
    fputs("a 3\nb 4\nc 1\n", v);
    fclose(f);
    fclose(v);
    struct vocab *words = vocab_read("vocab");
    struct cooc_count_opts o = { .vocab = words, .memory = 1 << 30, .tmp = ".", .threads = 1 };
    struct cooc_input in = { .path = "counted" };
    struct out *out = out_open("counts");
    cooc_scheme_init(&o.scheme, 2, COOC_GLOVE, COOC_SYMMETRIC, COOC_GAP);
    if (cooc_count(&in, 1, &o, out, NULL) < 0 || out_commit(out) < 0) fail_msg("%s", err_msg());
    vocab_free(words);
    struct cooc_values_opts of = { .xmax = 1e-3, .alpha = 1 };
    if (!(x = cooc_values_load("counts", &of))) fail_msg("%s", err_msg());
    assert_int_equal(cooc_values_weights(x), COOC_GLOVE);
    return 0;
}

static int uncount(void **state)
{
    (void)state;
    cooc_values_free(x);
    return 0;
}

/* The loss, and its gradient to the states. */
static double loss(const struct gc_options *how, float *dh, struct gc_batch *g)
{
    static const int32_t token[ROWS] = { 0, 1, 2, 3, 4 };
    const struct kernels *k = kernels_cpu();
    struct params ps;
    struct tape t;
    struct gc_options o = *how;
    o.sqrt_d = false;
    params_init(&ps, k);
    int E = params_add(&ps, "states", ROWS, 1, true);
    assert_int_equal(params_alloc(&ps, true), 0);
    param_put(&ps, ps.value, E, h);
    tape_init(&t, k, &ps);
    tape_reset(&t, true);
    struct var *states = tape_embed(&t, tape_int32(&t, token, ROWS), NULL, NULL, ROWS, E, -1, -1,
                                    1, NULL);
    gc_build(g, &text, x, &o);
    float each[ROWS];
    double sum = 0;
    k->download(each, gc_loss(&t, states, -1, g, &o, 1), (size_t)g->n * sizeof *each);
    for (int i = 0; i < g->n; i++) sum += (double)each[i];
    tape_backward(&t);
    param_get(&ps, ps.grad, E, dh);
    tape_free(&t);
    params_free(&ps);
    return sum / g->n;
}

static void near(double got, double expected, const char *what)
{
    if (!(fabs(got - expected) < 1e-6)) fail_msg("%s: %.9f, not %.9f", what, got, expected);
}

/* a and b have the product 2 and should have log 3 (log 4); b and c have -1, 0 (log 2). */
static void each_form_has_the_loss_that_its_definition_gives(void **state)
{
    (void)state;
    const double ab = pow(2 - log(3), 2), bc = 1, ab4 = pow(2 - log(4), 2),
                 bc2 = pow(-1 - log(2), 2), half_n = 1 / 4.0;
    static const struct {
        const char *what;
        enum gc_targets targets;
        enum gc_mean mean;
        enum gc_log log;
        enum gc_neighbours neighbours;
        int n, pairs, regressed;
    } form[] = {
        { "the text", GC_MASKED, GC_PER_TARGET, GC_LOG_X, GC_ALL, 2, 2, 2 },
        { "predicted targets", GC_SELECTED, GC_PER_TARGET, GC_LOG_X, GC_ALL, 3, 4, 4 },
        { "mean over pairs", GC_SELECTED, GC_PER_PAIR, GC_LOG_X, GC_ALL, 3, 4, 4 },
        { "log(X + 1)", GC_MASKED, GC_PER_TARGET, GC_LOG_1X, GC_ALL, 2, 2, 2 },
        { "visible neighbours", GC_SELECTED, GC_PER_TARGET, GC_LOG_X, GC_VISIBLE, 3, 4, 2 },
        { "the code", GC_SELECTED, GC_PER_PAIR, GC_LOG_1X, GC_VISIBLE, 3, 4, 2 },
    };
    const double expected[] = { half_n * (ab + bc) / 2,   half_n * 2 * (ab + bc) / 3,
                                half_n * 2 * (ab + bc) / 4, half_n * (ab4 + bc2) / 2,
                                half_n * (ab + bc) / 3,   half_n * (ab4 + bc2) / 4 };
    for (int i = 0; i < 6; i++) {
        struct gc_options o = gc_defaults;
        struct gc_batch g = { 0 };
        float dh[ROWS];
        o.targets = form[i].targets;
        o.mean = form[i].mean;
        o.log = form[i].log;
        o.neighbours = form[i].neighbours;
        near(loss(&o, dh, &g), expected[i], form[i].what);
        assert_int_equal(g.n, form[i].n);
        assert_int_equal(g.pairs, form[i].pairs);
        assert_int_equal(g.regressed, form[i].regressed);
        gc_free(&g);
    }
}

/* By the code b is a neighbour twice and a and c never are: its gradient comes from both, and
 * theirs from b, as targets. */
static void by_the_code_a_masked_word_is_tied_to_what_can_be_read(void **state)
{
    (void)state;
    struct gc_options o = gc_defaults;
    struct gc_batch g = { 0 };
    float dh[ROWS];
    o.targets = GC_SELECTED;
    o.mean = GC_PER_PAIR;
    o.log = GC_LOG_1X;
    o.neighbours = GC_VISIBLE;
    loss(&o, dh, &g);
    double ab = 2 * (2 - log(4)) / 16, bc = 2 * (-1 - log(2)) / 16;
    near((double)dh[1], ab * 1, "a");
    near((double)dh[2], ab * 2 + bc * -1, "b");
    near((double)dh[3], bc * 1, "c");
    near((double)dh[0], 0, "<s>");
    static const int32_t nb[] = { -1, -1, 2, -1, -1, -1, -1, -1, -1, 2, -1, -1 };
    assert_memory_equal(g.nb, nb, sizeof nb);
    gc_free(&g);
}

/* A batch of targets none of which has a pair: no mean to divide by, and no loss. */
static void targets_without_pairs_cost_nothing(void **state)
{
    (void)state;
    static const uint32_t strange[] = { VOCAB_BOS, A, C, A, VOCAB_EOS };
    struct batch_view t = text;
    struct gc_options o = gc_defaults;
    struct gc_batch g = { 0 };
    t.original = strange;
    o.mean = GC_PER_PAIR;
    o.window = 1;
    gc_build(&g, &t, x, &o);
    assert_int_equal(g.n, 2);
    assert_int_equal(g.pairs, 0);
    assert_true(gc_sum_factor(&o, &g) == 0.5f);
    gc_free(&g);
}

/* Blocks of pairs are checked when they are read, which is after the file has been opened: no
 * values are left of those before. */
static void counts_with_a_wrong_byte_have_no_values(void **state)
{
    (void)state;
    size_t n;
    char *counts = file_read("counts", &n);
    for (size_t at = 0; at < n; at++) {
        counts[at] ^= 1;
        assert_int_equal(file_write("wrong", counts, n), 0);
        assert_null(cooc_values_load("wrong", &(struct cooc_values_opts){ .xmax = 1 }));
        assert_non_null(strstr(err_msg(), "wrong"));
        counts[at] ^= 1;
    }
    free(counts);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_form_has_the_loss_that_its_definition_gives),
        cmocka_unit_test(by_the_code_a_masked_word_is_tied_to_what_can_be_read),
        cmocka_unit_test(targets_without_pairs_cost_nothing),
        cmocka_unit_test(counts_with_a_wrong_byte_have_no_values),
    };
    return cmocka_run_group_tests(tests, count, uncount);
}
