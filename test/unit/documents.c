/* Documents cut into runs of sentences, and runs into two segments (lib/data/corpus.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"
#include "common/text/vocab.h"
#include "lib/data/corpus.h"

/* Sentences of these lengths; token k of all has the id 5 + k. */
static struct corpus corpus(const int *length, uint32_t n)
{
    struct corpus c = { .path = "x", .order_epoch = -1 };
    c.all.at = mem_zero((size_t)n + 1, sizeof *c.all.at);
    c.all.ids = mem_zero(100000, sizeof *c.all.ids);
    for (uint32_t s = 0; s < n; s++) {
        for (int i = 0; i < length[s]; i++, c.all.tokens++)
            c.all.ids[c.all.tokens] = VOCAB_SPECIALS + c.all.tokens;
        c.all.at[++c.all.sentences] = c.all.tokens;
    }
    return c;
}

static void runs_are_neighbouring_sentences_of_one_document(void **state)
{
    (void)state;
    /* 0-9 | one alone | too long between two alone | 3 + 3, which are more than a short target */
    static const int length[] = { 5, 5, 0, 5, 0, 4, 11, 4, 0, 3, 3, 0, 0 };
    struct corpus c = corpus(length, 13);
    assert_int_equal(corpus_to_documents(&c, 10), 0);
    assert_int_equal(c.all.sentences, 2);
    assert_int_equal(c.all.at[1] - c.all.at[0], 10);
    assert_int_equal(c.all.ids[0], VOCAB_SPECIALS);
    assert_int_equal(c.all.ids[9], VOCAB_SPECIALS + 9);
    assert_int_equal(c.all.at[2] - c.all.at[1], 6);
    assert_int_equal(c.all.ids[10], VOCAB_SPECIALS + 10 + 5 + 19);
    assert_int_equal(c.parts, 4);
    /* of 9 sentences 5, 4, 11 and 4 tokens long are in no run */
    struct left_out left = corpus_left_out(&c, 10);
    assert_true(left.n == 4 && left.tokens == 24 && left.of == 8 && left.of_tokens == 40);
    corpus_free(&c);
    static const int none[] = { 3, 0, 4, 0, 9, 9 };
    c = corpus(none, 6);
    assert_int_equal(corpus_to_documents(&c, 10), -1);
    corpus_free(&c);
}

static void one_run_in_ten_is_shorter(void **state)
{
    (void)state;
    int length[20000], shorter = 0, sum = 0;
    for (int i = 0; i < 20000; i++) length[i] = 1;
    struct corpus c = corpus(length, 20000);
    assert_int_equal(corpus_to_documents(&c, 10), 0);
    uint32_t n = c.all.sentences - 1;                        /* the last one is what is left */
    for (uint32_t s = 0; s < n; s++) {
        uint32_t tokens = c.all.at[s + 1] - c.all.at[s];
        assert_in_range(tokens, 2, 10);
        shorter += tokens < 10;
        sum += tokens < 10 ? (int)tokens : 0;
    }
    /* a tenth draws from 2 to 10, of which one in nine is 10 */
    double p = 0.1 * 8 / 9;
    assert_true(fabs(shorter / (double)n - p) < 3 * sqrt(p * (1 - p) / n));
    assert_true(fabs(sum / (double)shorter - 5.5) < 3 * 2.3 / sqrt(shorter));   /* 2 to 9 */
    corpus_free(&c);
}

static void cuts_lie_between_sentences_and_half_are_swapped(void **state)
{
    (void)state;
    static const int length[] = { 1, 3, 2, 0, 2, 2 };
    struct corpus c = corpus(length, 6);
    int at[10] = { 0 }, turned = 0, n = 9000;
    assert_int_equal(corpus_to_documents(&c, 8), 0);
    assert_int_equal(c.all.sentences, 2);
    for (int i = 0; i < n; i++) {
        struct rng_key key = { 4, RNG_MASK, 1 };
        struct sample x = { c.all.ids, 6, 0, 0, (uint64_t)i };
        bool swapped, again;
        int cut = documents_cut(&c, &x, key, &swapped);
        assert_true(cut == 1 || cut == 4);
        assert_int_equal(documents_cut(&c, &x, key, &again), cut);
        assert_int_equal(swapped, again);
        at[cut]++;
        turned += swapped;
        struct sample two = { c.all.ids + 6, 4, 0, 0, (uint64_t)i };
        assert_int_equal(documents_cut(&c, &two, key, &again), 2);
    }
    assert_true(abs(at[1] - n / 2) < 3 * sqrt(n) / 2);
    assert_true(abs(turned - n / 2) < 3 * sqrt(n) / 2);
    corpus_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_are_neighbouring_sentences_of_one_document),
        cmocka_unit_test(one_run_in_ten_is_shorter),
        cmocka_unit_test(cuts_lie_between_sentences_and_half_are_swapped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
