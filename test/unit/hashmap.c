/* The table of 64-bit keys, against a search through all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "common/hashmap.h"
#include "common/rng.h"

enum { KEYS = 3000 };

static void each_key_keeps_its_first_value_however_the_table_grows(void **state)
{
    (void)state;
    static uint64_t key[KEYS];
    static uint32_t first[KEYS];
    struct hashmap m = { 0 };
    struct rng r = { .key = { .seed = 1 } };
    size_t n = 0;
    assert_int_equal(hashmap_find(&m, 0), 0);
    for (uint32_t i = 0; i < KEYS; i++) {
        /* close together, far apart (equal low bits), and some of them twice; 0 is a key */
        uint64_t k = rng_next_below(&r, 1500);
        key[i] = k & 1 ? k << 40 : k;
        uint32_t was = 0;
        for (uint32_t j = 0; j < i && !was; j++)
            if (key[j] == key[i]) was = first[j];
        assert_int_equal(hashmap_find(&m, key[i]), was);
        first[i] = was ? was : i + 1;
        n += !was;
        assert_int_equal(hashmap_add(&m, key[i], i + 1), first[i]);
        assert_int_equal(m.n, n);
        assert_true(2 * m.n <= m.mask + 1);
    }
    for (uint32_t i = 0; i < KEYS; i++) assert_int_equal(hashmap_find(&m, key[i]), first[i]);
    assert_int_equal(hashmap_find(&m, 1500), 0);
    hashmap_free(&m);
    assert_int_equal(hashmap_find(&m, key[0]), 0);
    hashmap_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_key_keeps_its_first_value_however_the_table_grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
