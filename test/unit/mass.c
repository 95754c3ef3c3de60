/* What MASS makes of a sentence of ten tokens, by hand (Song et al. 2019, Figure 1 and section 3.1,
 * with the rows of the authors' code: lib/objective/mass.c). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "common/rng.h"
#include "lib/data/corpus.h"
#include "lib/objective/mass.h"

static void where_the_span_begins(void **state)
{
    (void)state;
    /* ten rows, half of them: 1 .. 5 are the places where it can begin */
    const uint32_t third[4] = { 0x80000000, 0x80000000 }, first[4] = { 0xCCCCCCCD, 0x80000000 },
                   last[4] = { 0x99999A00, 0x10000000 }, low[4] = { 0, 0 },
                   high[4] = { 0x99999999, 0xFFFFFFFF };
    assert_int_equal(mass_span(10, 0.5, third).at, 3);
    assert_int_equal(mass_span(10, 0.5, third).n, 5);
    assert_int_equal(mass_span(10, 0.5, first).at, 1);
    assert_int_equal(mass_span(10, 0.5, last).at, 5);
    assert_int_equal(mass_span(10, 0.5, low).at, 1);
    assert_int_equal(mass_span(10, 0.5, high).at, 5);
    /* Python's round(5.5) is 6, round(6.5) 6, round(4.5) 4: 11, 13 and 9 rows; a span is never
     * empty, and never has <s> */
    assert_int_equal(mass_span(11, 0.5, last).n, 6);
    assert_int_equal(mass_span(13, 0.5, last).n, 6);
    assert_int_equal(mass_span(9, 0.5, last).n, 4);
    assert_int_equal(mass_span(3, 0.01, last).n, 1);
    assert_int_equal(mass_span(3, 0.99, last).n, 2);
    assert_int_equal(mass_span(3, 0.99, last).at, 1);
}

static void how_often_it_begins_where(void **state)
{
    (void)state;
    int at[6] = { 0 }, n = 20000;
    for (int i = 0; i < n; i++) {
        uint32_t draw[4];
        rng_block((struct rng_key){ 3, RNG_TEST, 0 }, (uint64_t)i, 0, draw);
        at[mass_span(10, 0.5, draw).at]++;
    }
    /* 60% over five places, 20% more at either end: 0.32 0.12 0.12 0.12 0.32, sd 0.0033 */
    for (int i = 1; i <= 5; i++) {
        double expected = i == 1 || i == 5 ? 0.32 : 0.12;
        assert_true((double)at[i] / n > expected - 0.014 && (double)at[i] / n < expected + 0.014);
    }
}

/* <s> 10 11 12 13 14 15 16 17 </s>, all of the span masked; the first number of a sentence whose
 * span begins at row `at`. */
static struct sample sample_with(const uint32_t *ids, int at, struct rng_key key)
{
    struct sample x = { ids, 8, 0, 2, 0 };
    uint32_t draw[4];
    for (;; x.number++) {
        rng_block(key, x.number, UINT32_MAX, draw);
        if (mass_span(10, 0.5, draw).at == at) return x;
    }
}

static void ten_tokens_by_hand(void **state)
{
    (void)state;
    const uint32_t ids[8] = { 10, 11, 12, 13, 14, 15, 16, 17 };
    const struct masking read = { .mask = 1 };
    struct mass_how how = { 0.5, false, &read, 50 };
    struct mass_batch b = { 0 };
    struct rng_key key = { 1, RNG_MASK, 1 };
    struct sample inner = sample_with(ids, 3, key), final = sample_with(ids, 5, key);
    mass_add(&b, &how, &inner, key);
    mass_add(&b, &how, &final, key);
    const int32_t M = VOCAB_MASK, S = VOCAB_BOS, E = VOCAB_EOS;
    const int32_t src[20] = { S, 10, 11, M, M, M, M, M, 17, E, S, 10, 11, 12, 13, M, M, M, M, M };
    const int32_t dec[10] = { 11, 12, 13, 14, 15, 13, 14, 15, 16, 17 },
                  pos[10] = { 2, 3, 4, 5, 6, 4, 5, 6, 7, 8 },
                  target[10] = { 12, 13, 14, 15, 16, 14, 15, 16, 17, E },
                  span[10] = { 3, 4, 5, 6, 7, 15, 16, 17, 18, 19 },
                  visible[10] = { 0, 1, 2, 8, 9, 10, 11, 12, 13, 14 };
    assert_int_equal(b.src.rows, 20);
    assert_int_equal(b.dec.rows, 10);
    assert_int_equal(b.n_visible, 10);
    assert_memory_equal(b.src.token, src, sizeof src);
    assert_memory_equal(b.dec.token, dec, sizeof dec);
    assert_memory_equal(b.dec.pos, pos, sizeof pos);
    assert_memory_equal(b.target, target, sizeof target);
    assert_memory_equal(b.span, span, sizeof span);
    assert_memory_equal(b.visible, visible, sizeof visible);
    for (int s = 0; s < 2; s++) {
        assert_int_equal(b.at[s], 5 * s);
        assert_int_equal(b.len[s], 5);
        assert_int_equal(b.dec.lang[5 * s], 2);
    }
    mass_free(&b);
    how.see_masked = true;
    mass_add(&b, &how, &inner, key);
    assert_int_equal(b.n_visible, 10);
    mass_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(where_the_span_begins),
        cmocka_unit_test(how_often_it_begins_where),
        cmocka_unit_test(ten_tokens_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
