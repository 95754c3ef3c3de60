/* Counts of 64-bit keys in bounded memory: what the table may take, to the byte; sums over runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include "common/mem.h"
#include "lib/ngrams/levels.h"

static void add(struct tally *t, uint64_t first, uint64_t n)
{
    for (uint64_t k = first; k < first + n; k++) assert_int_equal(tally_add(t, &k, 1), 0);
}

/* A table of 4,096 entries of 16 bytes grows from one of half its size: 98,304 bytes. It is full
 * with three quarters of its entries, 3,072. */
static void a_table_takes_all_of_its_bytes_and_no_more(void **state)
{
    (void)state;
    static const struct { size_t bytes; uint64_t keys, runs; } want[] = {
        { 98304, 3072, 0 }, { 98304, 3073, 1 }, { 98303, 1536, 0 }, { 98303, 1537, 1 },
        { 98303, 3073, 2 }
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct tally *t = tally_new(want[i].bytes, NULL);
        add(t, 1, want[i].keys);
        assert_int_equal(tally_runs(t), want[i].runs);
        assert_true((tally_spilled(t) > 0) == (want[i].runs > 0));
        tally_free(t);
    }
}

enum { SPREAD = 1000003, KEYS = 200000 };
struct seen { uint64_t n, last, wrong; };

static int look(void *ctx, uint64_t key, uint64_t count)
{
    struct seen *s = ctx;
    /* key k * SPREAD was counted once in either tally, and those of an even k once more */
    uint64_t k = key / SPREAD;
    s->wrong += key % SPREAD || key <= s->last || count != (k % 2 ? 2 : 3);
    s->last = key;
    s->n++;
    return 0;
}

/* 130 runs a tally of 1,536 keys: more than one merge reads. */
static void sums_of_many_runs_and_several_tallies(void **state)
{
    (void)state;
    struct tally *t[2] = { tally_new(65536, NULL), tally_new(65536, NULL) };
    uint64_t *key = mem_alloc(KEYS * sizeof *key);
    for (uint64_t k = 0; k < KEYS; k++) key[k] = (k * 7919 % KEYS + 1) * SPREAD;
    for (int i = 0; i < 2; i++) assert_int_equal(tally_add(t[i], key, KEYS), 0);
    for (uint64_t k = 0; k < KEYS / 2; k++) key[k] = 2 * (k + 1) * SPREAD;
    assert_int_equal(tally_add(t[0], key, KEYS / 2), 0);
    assert_true(tally_runs(t[1]) >= 130);
    struct seen s = { 0 };
    assert_int_equal(tally_merge(t, 2, look, &s), 0);
    assert_int_equal(s.n, KEYS);
    assert_int_equal(s.wrong, 0);
    assert_int_equal(s.last, (uint64_t)KEYS * SPREAD);
    free(key);
    for (int i = 0; i < 2; i++) tally_free(t[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_takes_all_of_its_bytes_and_no_more),
        cmocka_unit_test(sums_of_many_runs_and_several_tallies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
