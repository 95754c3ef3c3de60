/* common/rng.h against the published numbers. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <math.h>
#include "common/rng.h"

/* Random123's kat_vectors, "philox4x32 10": counter, key, result. */
static void philox_gives_the_known_answers(void **state)
{
    (void)state;
    static const uint32_t kat[3][10] = {
        { 0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 },
        { 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff,
          0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd },
        { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0,
          0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 },
    };
    for (int i = 0; i < 3; i++) {
        const uint32_t *v = kat[i];
        struct rng_key k = { .seed = (uint64_t)v[5] << 32 | v[4], .purpose = 0, .step = v[3] };
        uint32_t out[4];
        rng_block(k, (uint64_t)v[2] << 32 | v[1], v[0], out);
        for (int j = 0; j < 4; j++) assert_int_equal(out[j], v[6 + j]);
    }
}

static void purposes_steps_samples_and_positions_give_different_numbers(void **state)
{
    (void)state;
    struct rng_key k = { 7, RNG_MASK, 3 }, purpose = { 7, RNG_NOISE, 3 }, step = { 7, RNG_MASK, 4 },
                   seed = { 8, RNG_MASK, 3 };
    uint64_t x = rng_u64(k, 5, 11);
    assert_true(x == rng_u64(k, 5, 11));
    assert_true(x != rng_u64(purpose, 5, 11));
    assert_true(x != rng_u64(step, 5, 11));
    assert_true(x != rng_u64(seed, 5, 11));
    assert_true(x != rng_u64(k, 6, 11));
    assert_true(x != rng_u64(k, 5, 12));
}

static void below_reaches_every_value_about_equally_and_never_the_bound(void **state)
{
    (void)state;
    struct rng_key k = { 1, RNG_TEST, 0 };
    int count[7] = { 0 };
    for (uint32_t i = 0; i < 70000; i++) {
        uint64_t x = rng_below(k, 0, i, 7);
        assert_true(x < 7);
        count[x]++;
    }
    for (int i = 0; i < 7; i++)
        assert_in_range(count[i], 9600, 10400); /* more than four standard deviations */
    assert_true(rng_below(k, 0, 0, 1) == 0);
}

static void chance_never_at_zero_always_at_one_and_often_enough_between(void **state)
{
    (void)state;
    struct rng_key k = { 1, RNG_TEST, 1 };
    int hits = 0;
    for (uint32_t i = 0; i < 100000; i++) {
        assert_false(rng_chance(k, 1, i, 0.0));
        assert_true(rng_chance(k, 1, i, 1.0));
        hits += rng_chance(k, 1, i, 0.15);
    }
    assert_in_range(hits, 14500, 15500);
}

static void units_lie_in_zero_to_one_and_normals_have_their_moments(void **state)
{
    (void)state;
    struct rng_key k = { 3, RNG_INIT, 0 };
    double sum = 0, squares = 0, fourth = 0;
    enum { N = 200000 };
    for (uint32_t i = 0; i < N; i++) {
        float u = rng_unit(k, 0, i);
        assert_true(u >= 0 && u < 1);
        double x = rng_normal(k, 1, i);
        sum += x;
        squares += x * x;
        fourth += x * x * x * x;
    }
    assert_true(fabs(sum / N) < 0.01);
    assert_true(fabs(squares / N - 1) < 0.02);
    assert_true(fabs(fourth / N - 3) < 0.15);
}

static void a_permutation_has_every_number_once_and_depends_on_the_epoch(void **state)
{
    (void)state;
    enum { N = 1000 };
    struct rng_key k = { 5, RNG_ORDER, 0 };
    uint32_t a[N], b[N], c[N];
    char seen[N] = { 0 };
    rng_permutation(k, 0, a, N);
    rng_permutation(k, 0, b, N);
    rng_permutation(k, 1, c, N);
    int same = 0, fixed = 0;
    for (int i = 0; i < N; i++) {
        assert_true(a[i] < N && !seen[a[i]]);
        seen[a[i]] = 1;
        assert_true(a[i] == b[i]);
        same += a[i] == c[i];
        fixed += a[i] == (uint32_t)i;
    }
    assert_in_range(same, 0, 9);
    assert_in_range(fixed, 0, 9);
    rng_permutation(k, 0, a, 1);
    assert_true(a[0] == 0);
    rng_permutation(k, 0, a, 0);
}

static void the_sequential_generator_walks_the_positions(void **state)
{
    (void)state;
    struct rng r = { { 9, RNG_TEST, 2 }, 4, 0 };
    assert_true(rng_next(&r) == rng_u32(r.key, 4, 0));
    assert_true(rng_next_below(&r, 100) == rng_below(r.key, 4, 1, 100));
    assert_true(rng_next_unit(&r) == rng_unit(r.key, 4, 2));
    assert_int_equal(r.position, 3);
}

/* A purpose's number keys its draws: a new one goes behind the others, and none is used again, or
 * runs with the same seed change. */
static void purposes_keep_their_numbers(void **state)
{
    static const enum rng_purpose in_order[] = {
        RNG_INIT, RNG_LANG, RNG_ORDER, RNG_MASK, RNG_DROPOUT, RNG_NOISE, RNG_SYNTH,
        RNG_BPE, RNG_BOOT, RNG_SAMPLE, RNG_MAP, RNG_TSNE, RNG_TEST, RNG_MIX,
        RNG_UNITS, RNG_SWITCH, RNG_DERIVE, RNG_TOSS, RNG_DICT, RNG_SUBSET };
    (void)state;
    for (int i = 0; i < (int)(sizeof in_order / sizeof *in_order); i++)
        assert_int_equal(in_order[i], i + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(purposes_keep_their_numbers),
        cmocka_unit_test(philox_gives_the_known_answers),
        cmocka_unit_test(purposes_steps_samples_and_positions_give_different_numbers),
        cmocka_unit_test(below_reaches_every_value_about_equally_and_never_the_bound),
        cmocka_unit_test(chance_never_at_zero_always_at_one_and_often_enough_between),
        cmocka_unit_test(units_lie_in_zero_to_one_and_normals_have_their_moments),
        cmocka_unit_test(a_permutation_has_every_number_once_and_depends_on_the_epoch),
        cmocka_unit_test(the_sequential_generator_walks_the_positions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
