/* common/shown.h: what reaches a terminal. The bytes are ECMA-48's and Unicode's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "common/err.h"
#include "common/shown.h"

static void is_shown(const char *s, const char *as)
{
    char to[200];
    size_t n = shown(to, sizeof to, s, strlen(s));
    assert_string_equal(to, as);
    assert_int_equal(n, strlen(as));
}

static void text_of_any_language_stays(void **state)
{
    (void)state;
    is_shown("", "");
    is_shown("Grüße, \xE4\xB8\xAD\xE6\x96\x87 \xF0\x9F\x98\x80 \\x1B",
             "Grüße, \xE4\xB8\xAD\xE6\x96\x87 \xF0\x9F\x98\x80 \\x1B");
}

static void what_steers_a_terminal_does_not(void **state)
{
    (void)state;
    is_shown("\033[2Jx", "\\x1B[2Jx");                          /* clear the screen */
    is_shown("\033]0;title\007", "\\x1B]0;title\\x07");         /* the window's title */
    is_shown("a\nb\rc\td\177", "a\\x0Ab\\x0Dc\\x09d\\x7F");
    is_shown("\xC2\x9B" "31m", "\\xC2\\x9B" "31m");             /* CSI as one character, U+009B */
    is_shown("\xC2\xA0", "\xC2\xA0");                           /* U+00A0 is no control character */
    is_shown("\xE2\x80\xAE" "abc", "\\xE2\\x80\\xAE" "abc");    /* U+202E turns what follows */
    is_shown("\xE2\x81\xA6", "\\xE2\\x81\\xA6");                /* U+2066 */
    is_shown("\xE2\x80\xA9", "\\xE2\\x80\\xA9");                /* U+2029 ends a paragraph */
}

static void bytes_that_are_not_utf8_are_numbers(void **state)
{
    (void)state;
    is_shown("\x9B" "31m", "\\x9B" "31m");                      /* CSI on a Latin-1 terminal */
    is_shown("\xC0\xAF\xED\xA0\x80", "\\xC0\\xAF\\xED\\xA0\\x80"); /* overlong, a surrogate */
    is_shown("\xF4\x90\x80\x80", "\\xF4\\x90\\x80\\x80");       /* above U+10FFFF */
    is_shown("a\xE4\xB8", "a\\xE4\\xB8");                       /* cut short */
}

static void what_does_not_fit_is_cut_between_characters(void **state)
{
    (void)state;
    char to[5];
    assert_int_equal(shown(to, sizeof to, "abcdef", 6), 4);
    assert_string_equal(to, "abcd");
    assert_int_equal(shown(to, sizeof to, "ab\xE4\xB8\xAD", 5), 2);
    assert_string_equal(to, "ab");
    assert_int_equal(shown(to, sizeof to, "a\033", 2), 1);
    assert_string_equal(to, "a");
    assert_int_equal(shown(to, 1, "a", 1), 0);
    assert_string_equal(to, "");
}

static void a_message_quotes_no_control_byte(void **state)
{
    (void)state;
    err_set("vocab:3: token \"%s\" is given twice", "\033[2J\n");
    assert_string_equal(err_msg(), "vocab:3: token \"\\x1B[2J\\x0A\" is given twice");
    err_set("in: %s", err_msg());
    assert_string_equal(err_msg(), "in: vocab:3: token \"\\x1B[2J\\x0A\" is given twice");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_of_any_language_stays),
        cmocka_unit_test(what_steers_a_terminal_does_not),
        cmocka_unit_test(bytes_that_are_not_utf8_are_numbers),
        cmocka_unit_test(what_does_not_fit_is_cut_between_characters),
        cmocka_unit_test(a_message_quotes_no_control_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
