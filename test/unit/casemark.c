/* The case marker. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "common/rng.h"
#include "common/text/text.h"
#include "lib/text/casemark.h"

static void check_mark(const char *text, const char *marked)
{
    struct tbuf m = { 0 }, u = { 0 };
    casemark_mark(text, strlen(text), &m);
    tbuf_byte(&m, 0);
    assert_string_equal(m.p, marked);
    casemark_unmark(m.p, m.n - 1, &u);
    tbuf_byte(&u, 0);
    assert_string_equal(u.p, text);
    tbuf_free(&m);
    tbuf_free(&u);
}

static void words_get_the_marker_of_their_case(void **state)
{
    (void)state;
    check_mark("Hund", "⇧ hund");
    check_mark("HUND", "⇪ hund");
    check_mark("hund", "hund");
    check_mark("McDonald iPhone E-Mail", "McDonald iPhone E-Mail");
    check_mark("I A Ä", "⇧ i ⇧ a ⇧ ä");
    check_mark("U.S. 3D D'Arc 'Tis", "⇪ u.s. ⇧ 3d D'Arc ⇧ 'tis");
    check_mark("Ärger ÄRGER Москва", "⇧ ärger ⇪ ärger ⇧ москва");
    check_mark("&apos;NEIL O&apos;Neil &APOS;", "⇪ &apos;neil O&apos;Neil &APOS;");
    /* what only begins as an entity does has letters */
    check_mark("&Ampere AT&TELEGRAPH &amp;A &", "⇧ &ampere ⇪ at&telegraph ⇧ &amp;a &");
}

static void mappings_that_do_not_come_back_are_not_used(void **state)
{
    (void)state;
    check_mark("ẞ İ ǅ ΟΔΟΣ \u212A", "ẞ İ ǅ ⇪ οδοσ \u212A");   /* the last is the Kelvin sign */
}

static void white_space_stays(void **state)
{
    (void)state;
    check_mark("  A \t B\t\tC ", "  ⇧ a \t ⇧ b\t\t⇧ c ");
}

static void text_like_a_marker_is_marked_itself(void **state)
{
    (void)state;
    check_mark("⇧ hund ⇪ ⎋ x⇧", "⎋ ⇧ hund ⎋ ⇪ ⎋ ⎋ x⇧");
}

static void any_text_comes_back(void **state)
{
    (void)state;
    static const char *const part[] = { "A",  "b",  "Ä",  "ß",  "ẞ", "İ",      "ǅ", "Σ",     " ",
                                        "  ", "\t", "⇧",  "⇪",  "⎋", "&apos;", "&", "apos;", ".",
                                        "-",  "1",  "中", "\r", "́",  "Ⅷ",      "ⅷ" };
    struct rng r = { .key = { 7, RNG_TEST, 0 } };
    for (int i = 0; i < 20000; i++) {
        struct tbuf t = { 0 }, m = { 0 }, u = { 0 };
        for (uint64_t n = rng_next_below(&r, 12); n; n--) {
            const char *p = part[rng_next_below(&r, sizeof part / sizeof *part)];
            tbuf_add(&t, p, strlen(p));
        }
        tbuf_room(&t, 1);
        tbuf_room(&m, 1);
        casemark_mark(t.p, t.n, &m);
        tbuf_room(&u, 1);
        casemark_unmark(m.p, m.n, &u);
        assert_int_equal(u.n, t.n);
        assert_memory_equal(u.p, t.p, t.n);
        tbuf_free(&t);
        tbuf_free(&m);
        tbuf_free(&u);
    }
}

static void a_models_stray_markers_are_dropped(void **state)
{
    (void)state;
    static const char *const c[][2] = { { "⇧", "" },    { "a ⇧", "a" }, { "⇧ ⇪ ab", "AB" },
                                        { "⇧ .", "." }, { "⎋", "" },    { "⎋ hund", "hund" } };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        struct tbuf u = { 0 };
        casemark_unmark(c[i][0], strlen(c[i][0]), &u);
        tbuf_byte(&u, 0);
        assert_string_equal(u.p, c[i][1]);
        tbuf_free(&u);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_get_the_marker_of_their_case),
        cmocka_unit_test(mappings_that_do_not_come_back_are_not_used),
        cmocka_unit_test(white_space_stays),
        cmocka_unit_test(text_like_a_marker_is_marked_itself),
        cmocka_unit_test(any_text_comes_back),
        cmocka_unit_test(a_models_stray_markers_are_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
