/* common/json.h: what RFC 8259 allows, but for keys that stand twice and NULs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "common/err.h"
#include "common/json.h"

static void refused(const char *text, size_t n, const char *message)
{
    assert_null(json_parse(text, n, "f"));
    assert_string_equal(err_msg(), message);
}
#define REFUSED(text, message) refused(text, sizeof text - 1, message)

static void one_value_is_read_and_space_around_it(void **state)
{
    (void)state;
    const char *text = " {\n \"a\": [1, {\"a\": true}],\n \"b\": \"\\u00e9\"} \r\n\t";
    cJSON *j = json_parse(text, strlen(text), "f");
    assert_non_null(j);
    assert_string_equal(cJSON_GetObjectItemCaseSensitive(j, "b")->valuestring, "\xC3\xA9");
    cJSON_Delete(j);
    assert_int_equal(json_line(text, strlen(text), "a"), 2);
    assert_int_equal(json_line(text, strlen(text), "b"), 3);
    assert_int_equal(json_line(text, strlen(text), "c"), 1);
}

static void anything_after_the_value_is_refused(void **state)
{
    (void)state;
    REFUSED("{\"a\": 1}\nx", "f:2: something follows the JSON value");
    REFUSED("{\"a\": 1} {}", "f:1: something follows the JSON value");
}

static void a_key_given_twice_is_refused_at_any_depth(void **state)
{
    (void)state;
    REFUSED("{\"a\": 1,\n \"b\": 2,\n \"a\": 1}", "f:3: the key \"a\" is given twice");
    REFUSED("[{\"x\": {\"a\": 1,\n \"b\": 2, \"\\u0061\": 1}}]",
            "f:1: the key \"a\" is given twice");
    cJSON *j = json_parse("{\"a\": {\"b\": 1}, \"b\": 2}", 23, "f");
    assert_non_null(j);
    cJSON_Delete(j);
}

static void what_is_not_json_is_refused_by_its_line(void **state)
{
    (void)state;
    REFUSED("", "f:1: not valid JSON");
    REFUSED("{\"a\": 1,\n\"b\" 2}", "f:2: not valid JSON");
    REFUSED("{\"a\":\n\"\xFF\"}", "f:2: not UTF-8; not a JSON file");
    REFUSED("{}\n\0", "f:2: a NUL byte; not a JSON file");
    REFUSED("{\"a\\u0000b\": 1}", "f:1: a NUL byte; not a JSON file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_value_is_read_and_space_around_it),
        cmocka_unit_test(anything_after_the_value_is_refused),
        cmocka_unit_test(a_key_given_twice_is_refused_at_any_depth),
        cmocka_unit_test(what_is_not_json_is_refused_by_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
