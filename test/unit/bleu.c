/* The BLEU core: counting on ids and tokens, scores from statistics; NumPy's random numbers. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "lib/sacrebleu/report.h"
#include "lib/sacrebleu/resample.h"
#include "lib/score/bleu.h"
#include "lib/score/metric.h"

static void counts_are_clipped_by_the_reference_with_most(void **state)
{
    (void)state;
    struct ngram *g = ngram_new();
    struct bleu_stats s = { 0 };
    /* Papineni et al. (2002), example 2: "the" matches twice of seven. */
    bleu_add(&s, g, "the the the the the the the",
             (const char *[]){ "the cat is on the mat", "there is a cat on the mat" }, 2);
    assert_int_equal(s.correct[0], 2);
    assert_int_equal(s.total[0], 7);
    assert_int_equal(s.correct[1], 0);
    assert_int_equal(s.ref_len, 7);
    ngram_free(g);
}

static void closest_reference_length_prefers_the_shorter(void **state)
{
    (void)state;
    struct ngram *g = ngram_new();
    struct bleu_stats s = { 0 };
    bleu_add(&s, g, "a b c", (const char *[]){ "a b c d", "a b", "a b c d e" }, 3);
    assert_int_equal(s.ref_len, 2);
    ngram_free(g);
}

/* Matches by comparing every pair, as the definition says. */
static int64_t slow_matches(const uint32_t *h, size_t hn, const uint32_t *r, size_t rn, size_t k)
{
    int64_t n = 0;
    char used[64] = { 0 };
    for (size_t i = 0; i + k <= hn; i++)
        for (size_t j = 0; j + k <= rn; j++)
            if (!used[j] && !memcmp(h + i, r + j, k * sizeof *h)) { used[j] = 1; n++; break; }
    return n;
}

static void random_ids_match_as_often_as_by_definition(void **state)
{
    (void)state;
    struct ngram *g = ngram_new();
    struct pcg64 rng;
    pcg64_seed(&rng, 1);
    for (int round = 0; round < 3000; round++) {
        uint32_t h[40], r[40], n[2];
        pcg64_below(&rng, 41, n, 2);
        pcg64_below(&rng, 1 + (uint32_t)round % 7, h, n[0]);
        pcg64_below(&rng, 1 + (uint32_t)round % 7, r, n[1]);
        if (round % 3 == 0)
            for (uint32_t i = 0; i < n[0]; i++)
                h[i] += UINT32_MAX - 7; /* ids at the end of their range */
        if (round % 3 == 0) for (uint32_t i = 0; i < n[1]; i++) r[i] += UINT32_MAX - 7;
        struct bleu_stats s = { 0 };
        bleu_add_ids(&s, g, h, n[0], (const uint32_t *[]){ r }, (size_t[]){ n[1] }, 1);
        for (int k = 0; k < BLEU_ORDER; k++) {
            assert_int_equal(s.correct[k], slow_matches(h, n[0], r, n[1], (size_t)k + 1));
            assert_int_equal(s.total[k], n[0] > (uint32_t)k ? n[0] - (uint32_t)k : 0);
        }
    }
    ngram_free(g);
}

/* Words that differ in one byte, wherever it is, are two, of any length. */
static void words_are_compared_to_their_last_byte(void **state)
{
    (void)state;
    struct ngram *g = ngram_new();
    for (size_t n = 1; n < 40; n++)
        for (size_t at = 0; at <= n; at++) {
            char a[48], b[48];
            struct bleu_stats s = { 0 };
            memset(a, 'x', n);
            memcpy(b, a, n);
            /* at n: one is longer */
            b[at] = 'y';
            a[n] = '\0';
            b[at < n ? n : n + 1] = '\0';
            bleu_add(&s, g, a, (const char *[]){ b }, 1);
            assert_int_equal(s.correct[0], 0);
            bleu_add(&s, g, b, (const char *[]){ b }, 1);
            assert_int_equal(s.correct[0], 1);
        }
    ngram_free(g);
}

static void a_long_segment_after_a_short_one_still_counts(void **state)
{
    (void)state;
    struct ngram *g = ngram_new();
    struct bleu_stats s = { 0 };
    enum { N = 50000 };
    uint32_t *id = malloc(N * sizeof *id);
    for (uint32_t i = 0; i < N; i++) id[i] = i;
    bleu_add_ids(&s, g, id, 5, (const uint32_t *[]){ id }, (size_t[]){ 5 }, 1);
    bleu_add_ids(&s, g, id, N, (const uint32_t *[]){ id }, (size_t[]){ N }, 1);
    for (int k = 0; k < BLEU_ORDER; k++) assert_int_equal(s.correct[k], 5 - k + N - k);
    assert_true(bleu_score(&s, NULL).score > 99.999);
    free(id);
    ngram_free(g);
}

/* sacreBLEU 2.6.0: BLEU.compute_bleu with the same statistics. */
static void scores_are_those_of_sacrebleu(void **state)
{
    (void)state;
    const struct bleu_stats s = { 20, 22, { 14, 7, 2, 0 }, { 20, 18, 16, 14 } };
    assert_true(fabs(bleu_score(&s, NULL).score - 16.894270399) < 1e-8);
    struct bleu_options o = { BLEU_SMOOTH_NONE, 0, false };
    assert_true(bleu_score(&s, &o).score == 0);
    o = (struct bleu_options){ BLEU_SMOOTH_FLOOR, 0.1, false };
    assert_true(fabs(bleu_score(&s, &o).score - 11.297879539) < 1e-8);
    o = (struct bleu_options){ BLEU_SMOOTH_ADD_K, 1, false };
    assert_true(fabs(bleu_score(&s, &o).score - 21.957072046) < 1e-8);
    const struct bleu_stats brief = { 2, 2, { 2, 1, 0, 0 }, { 2, 1, 0, 0 } };
    o = (struct bleu_options){ BLEU_SMOOTH_EXP, 0, true };
    assert_true(fabs(bleu_score(&brief, &o).score - 100) < 1e-9);
    const struct bleu_stats none = { 0, 5, { 0 }, { 0 } };
    assert_true(bleu_score(&none, NULL).score == 0 && bleu_score(&none, NULL).bp == 0);
}

static void parts_add_up_to_the_whole(void **state)
{
    (void)state;
    struct ngram *g = ngram_new();
    struct bleu_stats a = { 0 }, b = { 0 }, whole = { 0 };
    bleu_add(&a, g, "a b c d e", (const char *[]){ "a b c d f" }, 1);
    bleu_add(&b, g, "x y z", (const char *[]){ "x y z z" }, 1);
    bleu_add(&whole, g, "a b c d e", (const char *[]){ "a b c d f" }, 1);
    bleu_add(&whole, g, "x y z", (const char *[]){ "x y z z" }, 1);
    bleu_merge(&a, &b);
    assert_memory_equal(&a, &whole, sizeof a);
    ngram_free(g);
}

/* numpy.random.default_rng(12345): bit_generator.random_raw(3), integers(0, 1000, 6), integers(2,
 * size=12, dtype=bool). */
static void random_numbers_are_numpys(void **state)
{
    (void)state;
    struct pcg64 g;
    pcg64_seed(&g, 12345);
    const uint64_t raw[] = { 0x3a32b18db2ffc19du, 0x51171315c9e4c4deu, 0xcc2024823444efd9u };
    for (int i = 0; i < 3; i++) assert_true(pcg64_next(&g) == raw[i]);
    uint32_t got[6];
    const uint32_t below[] = { 699, 227, 788, 316, 204, 797 };
    pcg64_seed(&g, 12345);
    pcg64_below(&g, 1000, got, 6);
    for (int i = 0; i < 6; i++) assert_int_equal(got[i], below[i]);
    struct pcg64_bits bits = { 0 };
    const int want[] = { 1, 0, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0 };
    pcg64_seed(&g, 12345);
    for (int i = 0; i < 12; i++) assert_int_equal(pcg64_bit(&g, &bits), want[i]);
    pcg64_seed(&g, 98765432101u);
    assert_true(pcg64_next(&g) == 0x677285672b9d631fu);
}

static void shifts_cost_one_edit(void **state)
{
    (void)state;
    struct ter_work *w = ter_work_new();
    const uint32_t r[] = { 1, 2, 3, 4, 5, 6 }, moved[] = { 4, 5, 1, 2, 3, 6 };
    assert_int_equal(ter_edits(w, r, 6, r, 6), 0);
    assert_int_equal(ter_edits(w, moved, 6, r, 6), 1);
    assert_int_equal(ter_edits(w, r, 0, r, 6), 6);
    assert_int_equal(ter_edits(w, r, 6, r, 0), 6);
    assert_int_equal(ter_edits(w, r, 4, r, 6), 2);
    ter_work_free(w);
}

static void numbers_print_as_pythons_repr(void **state)
{
    (void)state;
    const struct { double v; const char *want;
    } t[] = { { 0, "0.0" },
              { 32.5, "32.5" },
              { 100, "100.0" },
              { 9.999000099990002e-05, "9.999000099990002e-05" },
              { 0.0001, "0.0001" },
              { 1.0 / 3, "0.3333333333333333" },
              { 1e15, "1000000000000000.0" },
              { 1e16, "1e+16" },
              { 54.05422042540914, "54.05422042540914" } };
    char s[32];
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        report_repr(t[i].v, false, s);
        assert_string_equal(s, t[i].want);
    }
    report_repr((double)0.1f, true, s);
    assert_string_equal(s, "0.1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_clipped_by_the_reference_with_most),
        cmocka_unit_test(closest_reference_length_prefers_the_shorter),
        cmocka_unit_test(random_ids_match_as_often_as_by_definition),
        cmocka_unit_test(words_are_compared_to_their_last_byte),
        cmocka_unit_test(a_long_segment_after_a_short_one_still_counts),
        cmocka_unit_test(scores_are_those_of_sacrebleu),
        cmocka_unit_test(parts_add_up_to_the_whole),
        cmocka_unit_test(random_numbers_are_numpys),
        cmocka_unit_test(shifts_cost_one_edit),
        cmocka_unit_test(numbers_print_as_pythons_repr),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
