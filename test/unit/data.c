/* What lib/data makes of text and pairs, by hand: joined sentences, words of one language, the
 * order of languages and pairs, a dictionary of tokens, and how many batches an epoch has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include "common/err.h"
#include "common/mem.h"
#include "lib/data/inputs.h"
#include "lib/data/pairs.h"
#include "lib/data/specific.h"
#include "lib/data/token_pairs.h"
#include "test/unit/scratch.h"

/* Sentences of these lengths; token k of all has the id 5 + k. */
static struct shard_block block(const int *length, uint32_t n)
{
    struct shard_block b = { .sentences = n };
    b.at = mem_zero((size_t)n + 1, sizeof *b.at);
    b.ids = mem_zero(1000, sizeof *b.ids);
    for (uint32_t s = 0; s < n; s++) {
        for (int i = 0; i < length[s]; i++, b.tokens++)
            b.ids[b.tokens] = VOCAB_SPECIALS + b.tokens;
        b.at[s + 1] = b.tokens;
    }
    return b;
}

static void is_block(const struct shard_block *b, const uint32_t *at, uint32_t sentences,
                     const uint32_t *ids)
{
    assert_int_equal(b->sentences, sentences);
    assert_int_equal(b->tokens, at[sentences]);
    assert_memory_equal(b->at, at, (sentences + 1) * sizeof *at);
    if (ids) assert_memory_equal(b->ids, ids, b->tokens * sizeof *ids);
}

static void is_left_out(const struct left_out *x, int n, int tokens, int of, int of_tokens)
{
    assert_true(x->n == n && x->tokens == tokens && x->of == of && x->of_tokens == of_tokens);
}

/* --- joined sentences ------------------------------------------------------------------------- */

static void whole_sentences_fill_an_example(void **state)
{
    (void)state;
    /* 5 rows | left out | 7 | 4, 3, 3: full | left out: 11 */
    static const int length[] = { 3, 0, 5, 2, 1, 9, 1 };
    static const uint32_t at[] = { 0, 5, 12, 22 },
                          ids[] = { 0, 5, 6, 7, 1, 0, 8, 9, 10, 11, 12, 1,
                                    0, 13, 14, 1, 0, 15, 1, 0, 25, 1 };
    struct shard_block b = block(length, 7), *sides[2] = { &b };
    struct left_out left = { 0 };
    join_whole(sides, 1, 10, &left);
    is_block(&b, at, 3, ids);
    is_left_out(&left, 1, 9, 6, 21);
    shard_block_free(&b);
    /* the other side fills up first, and has a sentence that is empty */
    static const int one[] = { 1, 1, 1, 1 }, two[] = { 4, 3, 0, 1 };
    static const uint32_t at_one[] = { 0, 3, 9 }, at_two[] = { 0, 6, 14 };
    struct shard_block c = block(one, 4), d = block(two, 4);
    sides[0] = &c, sides[1] = &d;
    left = (struct left_out){ 0 };
    join_whole(sides, 2, 9, &left);
    is_block(&c, at_one, 2, NULL);
    is_block(&d, at_two, 2, NULL);
    is_left_out(&left, 1, 1, 4, 12);
    shard_block_free(&c);
    shard_block_free(&d);
    /* as long as an example is, and one token longer */
    static const int edge[] = { 8, 9 };
    b = block(edge, 2);
    sides[0] = &b;
    left = (struct left_out){ .of = 2, .of_tokens = 3 };
    join_whole(sides, 1, 10, &left);
    is_block(&b, (const uint32_t[]){ 0, 10 }, 1, NULL);
    /* added to what was there: blocks of one text */
    is_left_out(&left, 1, 9, 4, 20);
    shard_block_free(&b);
}

static void streams_are_cut_into_equal_pieces(void **state)
{
    (void)state;
    static const int length[] = { 3, 0, 2 };
    static const uint32_t ids[] = { 5, 6, 7, 1, 1, 8, 9, 1 };
    for (int most = 3; most <= 4; most++) {
        struct shard_block b = block(length, 3);
        struct left_out left = { 0 };
        assert_int_equal(cut_block(&b, &(struct cut){ most, false }, &left), 0);
        is_left_out(&left, 0, 0, 0, 0);
        is_block(&b, most == 3 ? (const uint32_t[]){ 0, 3, 6, 8 } : (const uint32_t[]){ 0, 4, 8 },
                 most == 3 ? 3 : 2, ids);
        shard_block_free(&b);
    }
    struct shard_block b = block(length, 3);
    struct left_out left = { 0 };
    assert_int_equal(cut_block(&b, &(struct cut){ 10, true }, &left), 0);
    is_left_out(&left, 0, 0, 2, 5);
    is_block(&b, (const uint32_t[]){ 0, 9 }, 1, (const uint32_t[]){ 0, 5, 6, 7, 1, 0, 8, 9, 1 });
    assert_int_equal(cut_block(&b, &(struct cut){ 0, true }, &left), 0);
    assert_int_equal(b.sentences, 1);
    /* places have 32 bits, with one or two specials of each sentence */
    b.sentences = 7;
    b.tokens = UINT32_MAX - 14;
    assert_true(join_fits(&b, JOIN_WHOLE) && join_fits(&b, JOIN_STREAM));
    b.tokens++;
    assert_true(!join_fits(&b, JOIN_WHOLE) && join_fits(&b, JOIN_STREAM));
    b.tokens += 7;
    assert_false(join_fits(&b, JOIN_STREAM));
    assert_int_equal(cut_block(&b, &(struct cut){ 4, false }, &left), -1);
    assert_non_null(strstr(err_msg(), "more than 2^32 tokens"));
    shard_block_free(&b);
}

/* --- pairs ------------------------------------------------------------------------------------ */

static struct pairs pairs_of(const int *one, const int *two, uint32_t n)
{
    return (struct pairs){ .side = { block(one, n), block(two, n) },
                           .lang = { 3, 4 }, .name = "aa-bb", .order_epoch = -1 };
}

static void a_share_of_the_pairs_is_drawn_once(void **state)
{
    (void)state;
    static const int one[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
    bool kept[3][10] = { { false } };
    /* round(4.5), half away from 0, round(2.7), and one at least */
    static const struct { double share; uint32_t n; } t[] = { { 0.5, 5 }, { 0.3, 3 }, { 0.01, 1 } };
    for (int i = 0; i < 3; i++) {
        struct pairs p = pairs_of(one, one, 9);
        pairs_keep(&p, t[i].share, 7, 0);
        assert_int_equal(p.side[0].sentences, t[i].n);
        assert_int_equal(p.side[1].sentences, t[i].n);
        for (uint32_t k = 0, last = 0; k < t[i].n; k++) {
            struct pair x = pair_at(&p, k);
            assert_true((uint32_t)x.n[0] > last && x.n[0] == x.n[1]);
            last = (uint32_t)x.n[0];
            /* tokens go with their sentence */
            for (int s = 0; s < 2; s++)
                assert_int_equal(x.ids[s][0], VOCAB_SPECIALS + last * (last - 1) / 2);
            kept[i][last] = true;
        }
        pairs_free(&p);
    }
    /* a larger share has the pairs of a smaller one */
    for (int k = 1; k <= 9; k++) assert_true(kept[0][k] >= kept[1][k] && kept[1][k] >= kept[2][k]);
}

static void each_pair_that_fits_comes_once_an_epoch(void **state)
{
    (void)state;
    static const int one[] = { 1, 5, 0, 2, 6, 3, 4 }, two[] = { 5, 1, 2, 0, 1, 6, 4 };
    struct pairs p = pairs_of(one, two, 7);
    int order[6][3], same = 0;
    for (int epoch = 0; epoch < 6; epoch++) {
        bool seen[7] = { false };
        for (int k = 0; k < 3; k++) {
            struct pair x;
            assert_int_equal(pairs_next(&p, 9, 5, &x), 0);
            assert_int_equal(x.epoch, epoch);
            assert_true(x.lang[0] == 3 && x.lang[1] == 4);
            assert_true(x.n[0] == one[x.index] && x.n[1] == two[x.index]);
            assert_true(x.index == 0 || x.index == 1 || x.index == 6);
            assert_false(seen[x.index]);
            seen[x.index] = true;
            order[epoch][k] = (int)x.index;
        }
        same += epoch && !memcmp(order[epoch], order[0], sizeof order[0]);
    }
    assert_true(same < 5);
    struct pair x;
    /* of one pair that fits, it is found wherever it lies in the next epoch */
    for (int k = 0; k < 30; k++) {
        assert_int_equal(pairs_next(&p, 9, 4, &x), 0);
        assert_int_equal(x.index, 6);
    }
    assert_int_equal(pairs_next(&p, 9, 3, &x), -1);
    assert_non_null(strstr(err_msg(), "aa-bb: no pair of sentences has 1 to 3 tokens on both"));
    /* where it stands is all that its order depends on */
    struct pairs q = pairs_of(one, two, 7);
    q.epoch = 2;
    assert_int_equal(pairs_next(&q, 9, 5, &x), 0);
    assert_int_equal(x.index, order[2][0]);
    double tokens;
    struct left_out left;
    assert_true(pairs_size(&q, 5, &tokens, &left) == 3 && tokens == 6 + 6 + 8);
    is_left_out(&left, 4, 2 + 2 + 7 + 9, 7, 40);
    assert_true(pairs_size(&q, 6, &tokens, &left) == 5 && tokens == 36);
    is_left_out(&left, 2, 4, 7, 40);
    assert_int_equal(pairs_join(&q, 3), -1);
    assert_non_null(strstr(err_msg(), "has 1 to 1 tokens on both sides, which is what an example "
                                      "of 3 can hold"));
    /* joined, all that is left fits; of 5 and 3 as well, with <s> and </s> of each sentence */
    assert_int_equal(pairs_join(&p, 7), 0);
    assert_true(pairs_size(&p, 1, &tokens, &left) == 3 && tokens == 20 + 3 * 4);
    is_left_out(&left, 4, 20, 7, 40);
    pairs_free(&p);
    pairs_free(&q);
}

/* --- corpora ---------------------------------------------------------------------------------- */

/* The sum of pairs that ranks compare: XXH3 of each side's tokens, then of where its sentences end,
 * each with the sum before as its seed. So another token is another sum, on either side, and so are
 * the same tokens cut otherwise. */
static void pairs_are_summed_with_their_tokens(void **state)
{
    (void)state;
    uint32_t ids[2][3] = { { 7, 8, 9 }, { 10, 11, 12 } }, at[2][3] = { { 0, 1, 3 }, { 0, 2, 3 } };
    uint64_t sums[5], want = 0;
    for (int changed = 0; changed < 5; changed++) {
        struct pairs p = { 0 };
        struct state s = { .summed = true };
        for (int i = 0; i < 2; i++)
            p.side[i] = (struct shard_block){ .ids = ids[i], .at = at[i], .sentences = 2,
                                              .tokens = 3 };
        if (changed == 1 || changed == 2) ids[changed - 1][2]++;
        if (changed >= 3) at[changed - 3][1] ^= 3;
        pairs_sum(&p, &s);
        if (changed == 1 || changed == 2) ids[changed - 1][2]--;
        if (changed >= 3) at[changed - 3][1] ^= 3;
        sums[changed] = s.data;
        for (int i = 0; i < changed; i++) assert_true(sums[i] != sums[changed]);
    }
    for (int i = 0; i < 2; i++) {
        want = XXH3_64bits_withSeed(ids[i], sizeof ids[i], want);
        want = XXH3_64bits_withSeed(at[i], sizeof at[i], want);
    }
    assert_true(sums[0] == want);
}

static void corpora_are_drawn_by_a_power_of_their_sizes(void **state)
{
    (void)state;
    static const int length[16] = { 1, 2, 0, 7, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3 };
    static const uint32_t n[3] = { 16, 9, 1 };
    static const double alpha[] = { 0, 0.5, 1 }, p[3][3] = { { 1 / 3., 1 / 3., 1 / 3. },
                                                            { 4 / 8., 3 / 8., 1 / 8. },
                                                            { 16 / 26., 9 / 26., 1 / 26. } };
    struct corpus c[3];
    struct corpora cs;
    for (int i = 0; i < 3; i++) {
        c[i] = (struct corpus){ .all = block(length, n[i]), .lang = "xx", .lang_id = 7 + i,
                                .order_epoch = -1 };
        assert_int_equal(corpus_samples(&c[i]), n[i]);
        assert_true(corpus_tokens(&c[i]) == (i == 0 ? 24 : i == 1 ? 15 : 1));
        assert_int_equal(corpus_longest(&c[i], 7), i == 2 ? 1 : 7);
        assert_int_equal(corpus_longest(&c[i], 6), i == 2 ? 1 : i ? 2 : 3);
        struct left_out left = corpus_left_out(&c[i], 6);
        if (i == 0) is_left_out(&left, 1, 7, 15, 24);
        if (i == 1) is_left_out(&left, 1, 7, 8, 15);
        if (i == 2) is_left_out(&left, 0, 0, 1, 1);
        left = corpus_left_out(&c[i], 7);
        assert_true(left.n == 0 && left.tokens == 0);
    }
    for (int a = 0; a < 3; a++) {
        assert_int_equal(corpora_init(&cs, c, 3, alpha[a], 5), 0);
        assert_true(fabs(cs.below[0] - p[a][0] * 4294967296.0) < 4);
        assert_true(fabs(cs.below[1] - (p[a][0] + p[a][1]) * 4294967296.0) < 4);
        assert_true(cs.below[2] == UINT32_MAX);
        int drawn[3] = { 0 };
        for (int i = 0; i < 8000; i++) {
            struct sample s;
            assert_int_equal(corpora_next(&cs, 6, &s), 0);
            assert_true(s.n >= 1 && s.n <= 6 && s.number == (uint64_t)i);
            assert_int_equal(s.lang, 7 + s.corpus);
            drawn[s.corpus]++;
        }
        for (int i = 0; i < 3; i++)
            assert_true(fabs(drawn[i] - 8000 * p[a][i]) < 3.5 * sqrt(8000 * p[a][i]));
        if (a < 2) free(cs.below);
    }
    double sentences, tokens;
    corpora_size(&cs, 7, &sentences, &tokens);
    assert_true(sentences == 15 + 8 + 1 && tokens == 24 + 15 + 1);
    corpora_size(&cs, 2, &sentences, &tokens);
    assert_true(sentences == 13 + 7 + 1 && tokens == 14 + 8 + 1);
    struct sample s;
    free(c[2].all.ids);
    c[2].all.at[1] = 0;
    c[2].all.ids = NULL;
    assert_int_equal(corpora_next_of(&cs, 2, 6, &s), -1);
    assert_non_null(strstr(err_msg(), "no sentence of xx has 1 to 6 tokens"));
    corpora_free(&cs);
}

/* --- words of one language -------------------------------------------------------------------- */

static void words_are_of_a_language_that_has_them_often(void **state)
{
    (void)state;
    static const char *const token[] = { "a", "b", "c@@", "d", "e" };        /* ids 5 .. 9 */
    /* of three languages; <unk> and <s> are no words, nor are pieces within one */
    static const uint32_t text[3][12] = { { 5, 5, 6, 7, 5, 8, 7, 3, 9, 0, 7 },
                                          { 5, 6, 6, 6, 8 }, { 9, 9, 8, 8 } };
    static const uint32_t at[3][3] = { { 0, 7, 11 }, { 0, 4, 5 }, { 0, 2, 4 } };
    struct vocab *v = vocab_make(token, NULL, 5);
    struct word_starts *w = word_starts_new(v);
    struct corpus c[3];
    for (int i = 0; i < 3; i++)
        c[i] = (struct corpus){ .all = { .ids = (uint32_t *)(uintptr_t)text[i],
                                         .at = (uint32_t *)(uintptr_t)at[i],
                                         .sentences = 2, .tokens = at[i][2] }, .lang_id = i };
    struct corpora cs = { .c = c, .n = 3 };
    /* a a b c@@+a d c@@ | <unk> e <s> c@@ : whole words, then every token */
    static const int count[2][3][5] = { { { 2, 1, 2, 1, 1 }, { 1, 3, 0, 1, 0 }, { 0, 0, 0, 2, 2 } },
                                        { { 3, 1, 3, 1, 1 }, { 1, 3, 0, 1, 0 },
                                          { 0, 0, 0, 2, 2 } } };
    for (int any = 0; any < 2; any++)
        for (int above = 0; above < 4; above++) {
            struct specific *s = specific_new(&cs, v->n, 3, any ? NULL : w, above);
            assert_non_null(s);
            for (int l = 0; l < 3; l++) {
                int32_t list[5], expected[5];
                int n = 0;
                for (int k = 0; k < 5; k++)
                    if (count[any][l][k]) expected[n++] = 5 + k;
                assert_int_equal(specific_seen(s, l), n);
                specific_seen_list(s, l, list);
                assert_memory_equal(list, expected, (size_t)n * sizeof *list);
                for (int m = 0; m < 3; m++) {
                    n = 0;
                    for (int k = 0; k < 5; k++) {
                        bool has = count[any][l][k] > above && count[any][m][k] <= above;
                        if (has) expected[n++] = 5 + k;
                        assert_int_equal(specific_has(s, l, m, 5 + (uint32_t)k), has);
                    }
                    assert_int_equal(specific_size(s, l, m), n);
                    specific_list(s, l, m, list);
                    assert_memory_equal(list, expected, (size_t)n * sizeof *list);
                    assert_false(specific_has(s, l, m, 3));
                    assert_false(specific_has(s, l, m, v->n));
                }
            }
            specific_free(s);
        }
    word_starts_free(w);
    vocab_free(v);
}

/* --- a dictionary of tokens ------------------------------------------------------------------- */

static struct token_pairs *dictionary(const char *text, const struct vocab *v, bool skip)
{
    assert_int_equal(file_write("d", text, strlen(text)), 0);
    return token_pairs_read("d", v, skip);
}

static void translations_are_found_either_way(void **state)
{
    (void)state;
    static const char *const token[] = { "a", "b", "c", "x", "y" };          /* ids 5 .. 9 */
    struct vocab *v = vocab_make(token, NULL, 5);
    struct token_pairs *p = dictionary("\xEF\xBB\xBF" "b\tx\t0.5\na\ty\r\nb\ty\n", v, false);
    if (!p) fail_msg("%s", err_msg());
    static const int32_t source[] = { 6, 5, 6 }, target[] = { 8, 9, 9 };
    static const uint32_t at[] = { 0, 0, 0, 0, 0, 0, 1, 3, 3, 4, 6 },
                          other[] = { 9, 8, 9, 6, 5, 6 };
    static const int8_t side[] = { -1, -1, -1, -1, -1, 0, 0, -1, 1, 1 };
    assert_int_equal(p->n, 3);
    assert_memory_equal(p->source, source, sizeof source);
    assert_memory_equal(p->target, target, sizeof target);
    assert_memory_equal(p->at, at, sizeof at);
    assert_memory_equal(p->other, other, sizeof other);
    assert_memory_equal(p->side, side, sizeof side);
    token_pairs_free(p);
    static const char *const bad[][2] = {
        { "a\tz\n", "d:1: token \"z\" is not in the vocabulary; --dict-skip leaves" },
        { "a\t<unk>\n", "d:1: \"<unk>\" is a special token, which has no translation" },
        { "<s>\ta\n", "d:1: \"<s>\" is a special token" },
        { "a\tx\n\n", "d:2: expected a token, a tab and its translation" },
        { "\ta\n", "d:1: expected a token, a tab and its translation" },
        { "a\n", "d:1: expected a token, a tab and its translation" },
        { "a\ta\n", "d:1: both sides are \"a\"" },
        { "a\tx\nx\ty\n", "d:2: \"x\" appears on the other side of an earlier line" },
        { "a\tx\nb\ta\n", "d:2: \"a\" appears on the other side of an earlier line" },
        { "b\tx\na\ty\na\tx\nb\tx\t2\n", "d: the pair \"b\", \"x\" appears twice" },
        { "", "d: an empty dictionary" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (dictionary(bad[i][0], v, false)) fail_msg("%s is taken", bad[i][0]);
        if (!strstr(err_msg(), bad[i][1])) fail_msg("%s: %s", bad[i][0], err_msg());
    }
    p = dictionary("q\tx\na\tx\nb\tq\n", v, true);
    if (!p) fail_msg("%s", err_msg());
    assert_true(p->n == 1 && p->source[0] == 5 && p->target[0] == 8);
    assert_true(p->lines == 3 && p->left_out == 2);
    token_pairs_free(p);
    assert_null(dictionary("q\tx\n", v, true));
    assert_non_null(strstr(err_msg(), "d: no line's two tokens are in the vocabulary"));
    vocab_free(v);
}

/* --- options ---------------------------------------------------------------------------------- */

static void an_epoch_has_as_many_batches(void **state)
{
    (void)state;
    static const int length[] = { 4, 6, 2 }, other[] = { 1, 2, 3 };
    struct corpus c = { .all = block(length, 3) };
    struct pairs p = pairs_of(length, other, 3);
    struct inputs in = { .tokens = 8, .longest = 6, .text = { .c = &c, .n = 1 } };
    /* 12 tokens, each sentence with <s> and </s> */
    assert_true(inputs_batches(&in) == 18 / 8.);
    in.stream = 4;
    assert_true(inputs_batches(&in) == 12 / 8.);
    in.stream = 0, in.sentences = 2;
    assert_true(inputs_batches(&in) == 3 / 2.);
    /* of pairs the mean of both sides, 9 tokens, and <s> and </s> */
    in.pairs = &p, in.n_pairs = 1;
    assert_true(inputs_batches(&in) == 6 / 2.);
    in.sentences = 0;
    assert_true(inputs_batches(&in) == (18 + 9 + 6) / 8.);
    /* joined ones have theirs within */
    in.segment = 9;
    assert_true(inputs_batches(&in) == (18 + 9) / 8.);
    /* without what is too long: 4 + 2 tokens, and the pairs 4 + 1 and 2 + 3 */
    in.longest = 4, in.segment = 0;
    assert_true(inputs_batches(&in) == (6 + 4 + 5 + 4) / 8.);
    in.sentences = 2;
    assert_true(inputs_batches(&in) == (2 + 2) / 2.);
    in.batches = 77;
    assert_true(inputs_batches(&in) == 77);
    struct pair_limits limits = { .most = 0 };
    in = (struct inputs){ .limits = &limits, .pool = { .n = 9 }, .sentences = 2 };
    assert_true(inputs_batches(&in) == 4.5);
    corpus_free(&c);
    pairs_free(&p);
}

static void what_is_read_fits_the_positions(void **state)
{
    (void)state;
    const char *one[] = { "aa-bb=f,g" };
    const struct { struct inputs in; int longest; const char *why; } t[] = {
        { { .longest = 18 }, 18, NULL },
        { { .longest = 19 }, 18, NULL },
        { { .longest = 5, .stream = 20 }, 20, NULL },
        { { .longest = 5, .documents = 20 }, 17, NULL },
        { { .documents = 5 }, 2, NULL },
        { { .segment = 20, .parallel = { .v = one, .n = 1 },
            .parallel_fraction = 0.5, .longest = 9 }, 9, NULL },
        { { .stream = 21 }, 0, "--stream 21 is longer than --positions 20" },
        { { .documents = 21 }, 0, "--documents 21 is longer than --positions 20" },
        { { .documents = 4 }, 0, "--documents 4: two segments and three specials need 5" },
        { { .documents = 9, .stream = 9 }, 0, "--documents and --stream both say how" },
        { { .stream_sentences = true }, 0, "--stream-sentences needs --stream N" },
        { { .segment = 5 }, 0, "--segment applies to sentence pairs" },
        { { .parallel_fraction = 0.5 }, 0, "--parallel-fraction applies to sentence pairs" },
        { { .segment = 21, .parallel = { .v = one, .n = 1 } }, 0,
          "--segment 21 is longer than --positions 20" },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct inputs in = t[i].in;
        if (!in.parallel_fraction) in.parallel_fraction = 1;
        int rc = inputs_fit(&in, 20);
        if (t[i].why && rc == 0) fail_msg("taken: %s", t[i].why);
        if (t[i].why && !strstr(err_msg(), t[i].why)) fail_msg("%s", err_msg());
        if (t[i].why) continue;
        assert_int_equal(rc, 0);
        assert_int_equal(in.longest, t[i].longest);
    }
}

static void languages_are_numbered_as_they_are_named(void **state)
{
    (void)state;
    struct model_config c;
    const char *files[] = { "bb=x", "aa=y" }, *pairs[] = { "cc-aa=f,g" }, *again[] = { "aa=z" },
               *none[] = { "file" };
    char file[100];
    model_config_init(&c);
    c.n_langs = 0;
    assert_int_equal(inputs_langs(&c, &(struct strs){ .v = files, .n = 2 }, "train", false), 0);
    assert_int_equal(inputs_pair_langs(&c, &(struct strs){ .v = pairs, .n = 1 }), 0);
    assert_int_equal(c.n_langs, 3);
    assert_string_equal(c.lang[0], "bb");
    assert_string_equal(c.lang[1], "aa");
    assert_string_equal(c.lang[2], "cc");
    assert_int_equal(inputs_langs(&c, &(struct strs){ .v = again, .n = 1 }, "train", true), 0);
    assert_int_equal(c.n_langs, 3);
    assert_int_equal(inputs_langs(&c, &(struct strs){ .v = again, .n = 1 }, "train", false), -1);
    assert_non_null(strstr(err_msg(), "--train: language aa is given twice"));
    assert_int_equal(inputs_langs(&c, &(struct strs){ .v = none, .n = 1 }, "valid", true), -1);
    assert_non_null(strstr(err_msg(), "--valid file: expected LANG=SHARD"));
    /* as many as a model holds, and one more */
    for (int i = 3; i <= MODEL_LANGS; i++) {
        const char *v = file;
        snprintf(file, sizeof file, "x%c%c=f", 'a' + i / 26, 'a' + i % 26);
        int rc = inputs_langs(&c, &(struct strs){ .v = &v, .n = 1 }, "train", false);
        assert_int_equal(rc, i < MODEL_LANGS ? 0 : -1);
    }
    assert_non_null(strstr(err_msg(), "language xey: a model has at most 128 languages"));
    assert_int_equal(c.n_langs, MODEL_LANGS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_sentences_fill_an_example),
        cmocka_unit_test(streams_are_cut_into_equal_pieces),
        cmocka_unit_test(a_share_of_the_pairs_is_drawn_once),
        cmocka_unit_test(each_pair_that_fits_comes_once_an_epoch),
        cmocka_unit_test(pairs_are_summed_with_their_tokens),
        cmocka_unit_test(corpora_are_drawn_by_a_power_of_their_sizes),
        cmocka_unit_test(words_are_of_a_language_that_has_them_often),
        cmocka_unit_test(translations_are_found_either_way),
        cmocka_unit_test(an_epoch_has_as_many_batches),
        cmocka_unit_test(what_is_read_fits_the_positions),
        cmocka_unit_test(languages_are_numbered_as_they_are_named),
    };
    if (scratch_enter() < 0) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_leave();
    return failed;
}
