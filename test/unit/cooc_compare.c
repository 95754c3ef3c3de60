/* Bins of the study of counts, by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "lib/bilingual/cooc_compare.h"
#include "lib/count/count.h"
#include "test/unit/near.h"
#include "test/unit/scratch.h"

/* log a and log b of four pairs: 1 1, 2 1, 3 1, 1 3; sums 2, 3, 4, 4; differences 0, 1, 2, 2;
 * ratios 0, 1/3, 1/2, 1/2. In bins of width 2: [2, 4) has the first two, [4, 6) the others. */
static void bins_by_hand(void **state)
{
    (void)state;
    double e1 = exp(1), e2 = exp(2), e3 = exp(3);
    struct cooc_compare_pair v[] = { { e1, e1 }, { e2, e1 }, { e3, e1 }, { e1, e3 * (1 + 1e-12) } };
    v[2].a *= 1 + 1e-12; /* above the bin's edge whatever the rounding */
    struct cooc_compare_pairs p = { .v = v, .n = 4 };
    struct cooc_compare_bin *bin;
    assert_int_equal(cooc_compare_bins(&p, 2, &bin), 3);
    assert_int_equal(bin[0].n, 2);
    assert_near(bin[0].low, 2, 1e-9);
    assert_near(bin[0].high, 4, 1e-9);
    assert_near(bin[0].difference, 0.5, 1e-9);
    /* s = sqrt(1/2) with n - 1; 1.96 s / sqrt 2 */
    assert_near(bin[0].difference_ci, 0.98, 1e-6);
    assert_near(bin[0].ratio, 1.0 / 6, 1e-9);
    assert_near(bin[0].ratio_ci, 0.98 / 3, 1e-6);
    assert_near(bin[0].share, (3 * e1 + e2) / (5 * e1 + e2 + 2 * e3), 1e-9);
    assert_int_equal(bin[1].n, 2);
    assert_near(bin[1].low, 4, 1e-9);
    assert_near(bin[1].difference, 2, 1e-9);
    assert_near(bin[1].ratio, 0.5, 1e-9);
    assert_near(bin[1].ratio_ci, 0, 1e-6);
    assert_int_equal(bin[2].n, 4);
    assert_near(bin[2].difference, 1.25, 1e-9);
    assert_near(bin[2].share, 1, 1e-9);
    /* deviations from 1.25: -1.25, -0.25, 0.75, 0.75; s^2 = 2.75 / 3 */
    assert_near(bin[2].difference_ci, 1.96 * sqrt(2.75 / 3) / 2, 1e-6);
    free(bin);
    /* one pair has no deviation, and so no interval */
    p.n = 1;
    assert_int_equal(cooc_compare_bins(&p, 2, &bin), 2);
    assert_true(bin[0].difference == 0 && bin[0].ratio == 0 && bin[0].share == 1);
    assert_true(isnan(bin[0].difference_ci) && isnan(bin[0].ratio_ci));
    free(bin);
}

static struct cooc *counted(const char *x, const char *y)
{
    file_write("x", x, strlen(x));
    file_write("y", y, strlen(y));
    struct cooc_input in[2] = { { "x", "x" }, { "y", "y" } };
    struct cooc_count_opts o = { .threads = 1, .memory = (size_t)1 << 30, .min_count = 1 };
    cooc_scheme_init(&o.scheme, 1, COOC_FLAT, COOC_SYMMETRIC, COOC_GAP);
    struct out *out = out_open("xy");
    assert_int_equal(cooc_count(in, 2, &o, out, NULL), 0);
    assert_int_equal(out_commit(out), 0);
    struct cooc *c = cooc_open("xy");
    assert_non_null(c);
    return c;
}

/* A pair that two languages of a file have is one, with the sum of both: a b stands 2 + 3 times in
 * the first file, A B 1 + 1 times in the second. 10 tokens are there, and 5 here: 2 becomes 4. */
static void languages_of_a_file_are_added_up(void **state)
{
    (void)state;
    struct cooc *a = counted("a b\na b\n", "a b\na b\na b\n"),
                *b = counted("A B\n", "A B C\n");
    file_write("dict", "a\tA\nb\tB\n", 8);
    file_write("pairs", "a b\tA B\n", 8);
    for (int way = 0; way < 2; way++) {
        struct cooc_compare_pairs p;
        assert_int_equal(way ? cooc_compare_from_dictionary("dict", a, b, &p)
                             : cooc_compare_read_pairs("pairs", a, b, &p), 0);
        assert_int_equal(p.lines, 2 - !way);
        assert_int_equal(p.asked, 1);
        assert_int_equal(p.n, 1);
        assert_near(p.v[0].a, 5, 0);
        assert_near(p.v[0].b, 4, 0);
        assert_near(p.asked_mass, 5, 0);
        cooc_compare_free(&p);
    }
    cooc_close(a);
    cooc_close(b);
}

int main(void)
{
    if (scratch_enter() < 0) return 1;
    const struct CMUnitTest tests[] = { cmocka_unit_test(bins_by_hand),
                                        cmocka_unit_test(languages_of_a_file_are_added_up) };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_leave();
    return failed;
}
