/* common/json/json.h: what RFC 8259 allows, but for keys that stand twice and NULs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "common/err.h"
#include "common/json/json.h"

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
    REFUSED("{\"a\":\n[1,", "f:2: not valid JSON");
    REFUSED("{\"a\":\n\"\xFF\"}", "f:2: not UTF-8; not a JSON file");
    REFUSED("{}\n\0", "f:2: a NUL byte; not a JSON file");
    REFUSED("{\"a\\u0000b\": 1}", "f:1: a NUL byte; not a JSON file");
}

/* Text of `times` times s between brackets. */
static char *list_of(const char *s, size_t times, size_t *n)
{
    size_t k = strlen(s);
    char *t = malloc(times * k + 3);
    t[0] = '[';
    for (size_t i = 0; i < times; i++) memcpy(t + 1 + i * k, s, k);
    *n = times * k + 1;
    t[*n - (times > 0)] = ']';               /* over the last comma */
    return t;
}

static void read_list(const char *s, size_t times, bool taken)
{
    size_t n;
    char *t = list_of(s, times, &n);
    cJSON *j = json_parse(t, n, "f");
    if (!j != !taken) fail_msg("%zu times %s: %s", times, s, err_msg());
    if (!j) assert_non_null(strstr(err_msg(), "f: has more values than any file of its kind"));
    cJSON_Delete(j);
    free(t);
}

/* A value takes 80 bytes of memory, "0," two of the file. */
static void a_document_of_more_values_than_files_have_is_refused_before_it_is_read(void **state)
{
    (void)state;
    read_list("0,", JSON_FREE - 1, true);    /* and the list itself */
    read_list("0,", JSON_FREE, false);
    read_list("[0],", JSON_FREE, false);
    read_list("\"\",", 200000, false);
    read_list("{},", 200000, false);
    read_list("12345,", 200000, true);       /* six bytes a value */
    read_list("\"\\\",,,,,,,\",", 40000, true);      /* commas in a string are none */
}

static void whole_numbers_within_a_range(void **state)
{
    (void)state;
    static const struct { const char *text; bool is; int64_t v; } t[] = {
        { "7", true, 7 }, { "7.0", true, 7 }, { "-3", true, -3 }, { "1e3", true, 1000 },
        { "1001", false, 0 }, { "-4", false, 0 }, { "7.5", false, 0 }, { "1e300", false, 0 },
        { "-1e300", false, 0 }, { "1e999", false, 0 }, { "4294967303", false, 0 },
        { "18446744073709551623", false, 0 }, { "\"7\"", false, 0 }, { "null", false, 0 },
        { "true", false, 0 }, { "[7]", false, 0 },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        cJSON *j = json_parse(t[i].text, strlen(t[i].text), "f");
        int64_t v = 0;
        assert_non_null(j);
        if (json_int(j, -3, 1000, &v) != t[i].is || v != t[i].v) fail_msg("%s", t[i].text);
        cJSON_Delete(j);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_value_is_read_and_space_around_it),
        cmocka_unit_test(anything_after_the_value_is_refused),
        cmocka_unit_test(a_key_given_twice_is_refused_at_any_depth),
        cmocka_unit_test(a_document_of_more_values_than_files_have_is_refused_before_it_is_read),
        cmocka_unit_test(whole_numbers_within_a_range),
        cmocka_unit_test(what_is_not_json_is_refused_by_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
