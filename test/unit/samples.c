/* What training reads: the stream of samples, masking, noise, the largest batches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "lib/batch/headed.h"
#include "lib/batch/masked.h"
#include "lib/batch/seq2seq.h"
#include "lib/data/corpus.h"
#include "lib/data/pairs.h"
#include "lib/masking/noise.h"
#include "lib/objective/gc.h"
#include "lib/objective/mass.h"
#include "lib/objective/scs_rows.h"
#include "lib/objective/table.h"
#include "test/unit/scratch.h"

/* A corpus of n sentences; sentence i has 1 + i % 7 tokens, all 100 * (lang + 1) + i % 50. */
static struct corpus corpus(int lang, uint32_t n)
{
    struct corpus c = { .lang_id = lang, .order_epoch = -1 };
    snprintf(c.lang, sizeof c.lang, "l%d", lang);
    c.all.at = mem_zero((size_t)n + 1, sizeof *c.all.at);
    c.all.ids = mem_zero((size_t)n * 7 + 1, sizeof *c.all.ids);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j <= i % 7; j++)
            c.all.ids[c.all.tokens++] = 100 * ((uint32_t)lang + 1) + i % 50;
        c.all.at[++c.all.sentences] = c.all.tokens;
    }
    return c;
}

static struct corpora two(struct corpus c[2], double alpha)
{
    struct corpora cs;
    c[0] = corpus(0, 900);
    c[1] = corpus(1, 100);
    corpora_init(&cs, c, 2, alpha, 5);
    return cs;
}

static void an_epoch_gives_each_sentence_once(void **state)
{
    (void)state;
    struct corpus c[2];
    struct corpora cs = two(c, 1);
    for (int epoch = 0; epoch < 2; epoch++) {
        bool seen[900] = { false };
        for (int i = 0; i < 900; i++) {
            struct sample s;
            assert_int_equal(corpora_next_of(&cs, 0, 7, &s), 0);
            size_t at = 0;
            while (c[0].all.ids + c[0].all.at[at] != s.ids) at++;
            assert_false(seen[at]);
            seen[at] = true;
        }
    }
    corpora_free(&cs);
}

static void the_state_of_the_stream_is_all_of_it(void **state)
{
    (void)state;
    struct corpus c[2], d[2];
    struct corpora a = two(c, 0.5), b = two(d, 0.5);
    struct state sa = { 0 }, sb = { 0 };
    struct sample x, y;
    for (int i = 0; i < 1234; i++) assert_int_equal(corpora_next(&a, 7, &x), 0);
    corpora_state(&a, &sa);
    corpora_state(&b, &sb);
    assert_int_equal(sa.n_ints, 5);
    for (int i = 0; i < 5; i++) {
        assert_string_equal(sa.ints[i].name, sb.ints[i].name);
        assert_true(sa.ints[i].data);
        *sb.ints[i].value = *sa.ints[i].value;
    }
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(corpora_next(&a, 7, &x), 0);
        assert_int_equal(corpora_next(&b, 7, &y), 0);
        assert_true(x.number == y.number && x.corpus == y.corpus
                    && x.ids - c[x.corpus].all.ids == y.ids - d[y.corpus].all.ids);
    }
    corpora_free(&a);
    corpora_free(&b);
    state_free(&sa);
    state_free(&sb);
}

static void languages_are_drawn_by_size_to_the_alpha(void **state)
{
    (void)state;
    for (int half = 0; half < 2; half++) {
        struct corpus c[2];
        struct corpora cs = two(c, half ? 0.5 : 1);
        struct sample s;
        int first = 0, n = 20000;
        for (int i = 0; i < n; i++) { corpora_next(&cs, 7, &s); first += s.corpus == 0; }
        double want = half ? 0.75 : 0.9,
               got = (double)first / n; /* sqrt(900) : sqrt(100) = 3 : 1 */
        assert_true(fabs(got - want) < 4 * sqrt(want * (1 - want) / n));
        corpora_free(&cs);
    }
}

static void sentences_too_long_are_passed_over_and_none_left_is_an_error(void **state)
{
    (void)state;
    struct corpus c[2];
    struct corpora cs = two(c, 1);
    struct sample s;
    for (int i = 0; i < 300; i++) {
        assert_int_equal(corpora_next(&cs, 3, &s), 0);
        assert_true(s.n <= 3);
    }
    assert_int_equal(corpora_next(&cs, 0, &s), -1);
    corpora_free(&cs);
}

static void streams_cut_the_joined_sentences(void **state)
{
    (void)state;
    struct corpus c = corpus(0, 30);
    uint32_t total = c.all.tokens + 30, ends = 0;
    join_stream(&c.all, 16);
    assert_int_equal(c.all.tokens, total);
    for (uint32_t i = 0; i < c.all.sentences; i++)
        assert_int_equal(c.all.at[i + 1] - c.all.at[i],
                         i + 1 < c.all.sentences ? 16 : total - 16 * i);
    for (uint32_t i = 0; i < total; i++) ends += c.all.ids[i] == VOCAB_EOS;
    assert_int_equal(ends, 30);
    corpus_free(&c);
}

/* Only the counts are looked at: such a text takes 16 GiB. */
static void a_text_whose_joined_tokens_do_not_fit_32_bits_is_refused(void **state)
{
    (void)state;
    const struct cut stream = { 16, false }, whole = { 16, true };
    struct left_out left = { 0 };
    struct shard_block b = { .sentences = 5, .tokens = UINT32_MAX - 4 };
    assert_int_equal(cut_block(&b, &stream, &left), -1);
    assert_non_null(strstr(err_msg(), "more than 2^32 tokens"));
    assert_int_equal(cut_block(&b, &whole, &left), -1);
    assert_int_equal(b.sentences, 5);
    assert_true(b.tokens == UINT32_MAX - 4);
    /* one less fits a stream, but not with two specials each */
    b.tokens--;
    assert_true(join_fits(&b, JOIN_STREAM));
    assert_int_equal(cut_block(&b, &whole, &left), -1);
    struct pairs p = { .side = { { .sentences = 5, .tokens = 10 }, b }, .name = "de-en" };
    assert_int_equal(pairs_join(&p, 16), -1);
    assert_string_equal(err_msg(), "de-en: joined, its sentences have more than 2^32 tokens on a "
                                   "side");
}

static void masking_is_80_10_10_of_15_percent_and_spares_specials(void **state)
{
    (void)state;
    struct masked b = { 0 };
    struct masker k = { .how = masking_defaults, .vocab = 1000 };
    uint32_t bos = VOCAB_BOS, eos = VOCAB_EOS;
    struct rng_key key = { 9, RNG_MASK, 1 };
    uint32_t ids[100];
    int rows = 0, mask = 0, same = 0, n;
    for (int i = 0; i < 100; i++) ids[i] = 50 + (uint32_t)i;
    struct batch_part parts[] = { { &bos, 1, 0, 0, 0 },
                                  { ids, 100, 0, 0, 1 },
                                  { &eos, 1, 0, 0, 101 } };
    for (uint64_t i = 0; i < 2000; i++) masked_add(&b, &k, parts, 3, i, key);
    n = b.n;
    for (int i = 0; i < n; i++) {
        int r = b.row[i];
        assert_int_equal(b.target[i], b.original[r]);
        assert_true(b.target[i] >= 50);
        assert_int_equal(b.masked[i], b.input.token[r] == VOCAB_MASK);
        mask += b.input.token[r] == VOCAB_MASK;
        same += b.input.token[r] == b.target[i];
    }
    for (int r = 0; r < b.input.rows; r++) rows += b.original[r] >= VOCAB_SPECIALS;
    assert_int_equal(rows, 200000);
    assert_true(fabs((double)n / rows - 0.15) < 0.004);
    assert_true(fabs((double)mask / n - 0.8) < 0.01);
    assert_true(fabs((double)same / n - 0.1) < 0.01);
    /* a sample's masks do not depend on its company */
    struct masked alone = { 0 };
    masked_add(&alone, &k, parts, 3, 777, key);
    assert_memory_equal(alone.input.token, b.input.token + b.input.at[777], 102 * sizeof(int32_t));
    masked_free(&alone);
    masked_free(&b);
}

/* A run of two sentences, of 2 and 3 tokens, which can be cut only between them: <s> a </s> b </s>
 * with positions running on, types 0 and 1 (the first </s> is a's), either one first; without token
 * types all are 0. Two of specials alone before it have no units. */
static void a_document_is_two_segments_either_of_which_is_first(void **state)
{
    (void)state;
    uint32_t ids[] = { 50, 51, 60, 61, 62 }, part[] = { 0, 2, 5 }, special = VOCAB_BOS;
    struct corpus c = { .all = { .ids = ids, .tokens = 5 }, .part = part, .parts = 2 };
    struct masker all = { .how = masking_defaults, .vocab = 1000 };
    static const int32_t a_first[] = { VOCAB_BOS, 50, 51, VOCAB_EOS, 60, 61, 62, VOCAB_EOS },
                         b_first[] = { VOCAB_BOS, 60, 61, 62, VOCAB_EOS, 50, 51, VOCAB_EOS };
    int swapped = 0;
    all.how.select = 1;
    for (uint64_t i = 0; i < 400; i++) {
        struct masked b = { 0 };
        struct sample x = { ids, 5, 0, 7, i };
        struct rng_key key = { 9, RNG_MASK, 1 };
        int types = i % 2;
        for (int k = 0; k < 2; k++)
            masked_add(&b, &all, &(struct batch_part){ &special, 1, 7, 0, 0 }, 1, i, key);
        masked_add_document(&b, &all, &c, &x, types, key);
        assert_int_equal(b.input.n, 3);
        assert_int_equal(b.input.rows, 10);
        bool turned = b.swapped[2];
        for (int k = 0; k < 8; k++) {
            assert_int_equal(b.original[2 + k], (turned ? b_first : a_first)[k]);
            assert_int_equal(b.input.pos[2 + k], k);
            assert_int_equal(b.input.lang[2 + k], 7);
            assert_int_equal(b.input.type[2 + k], types && k > (turned ? 4 : 3));
        }
        assert_int_equal(b.n, 5);
        assert_int_equal(b.unit[0], 0);
        assert_int_equal(b.units, 5);
        swapped += turned;
        masked_free(&b);
    }
    assert_in_range(swapped, 160, 240);              /* four standard deviations */
}

/* Sentence k is of language k and has 3 + 2 k tokens, masked as whole words; units are numbered
 * through the batch. A copy of sentences 1, 3 and 4 has what they had, at their new rows. */
static void a_copy_of_sentences_has_what_was_predicted_of_them(void **state)
{
    (void)state;
    enum { ALL = 6 };
    char text[600], *end = text;
    struct masked from = { 0 }, to = { 0 };
    struct masker k = { .how = masking_defaults, .vocab = 60 };
    struct rng_key key = { 9, RNG_MASK, 1 };
    uint32_t bos = VOCAB_BOS, eos = VOCAB_EOS, ids[20];
    for (int i = 0; i < 55; i++) end += sprintf(end, "w%d 1\n", i);
    assert_int_equal(file_write("words", text, (size_t)(end - text)), 0);
    struct vocab *v = vocab_read("words");
    k.words = word_starts_new(v);
    k.how.scheme = MASKING_WORD;
    k.how.select = 0.5;
    for (int s = 0; s < ALL; s++) {
        int n = 3 + 2 * s;
        for (int i = 0; i < n; i++) ids[i] = (uint32_t)(10 + 7 * s + i);
        struct batch_part parts[] = { { &bos, 1, s, 0, 0 }, { ids, n, s, 1, 1 },
                                      { &eos, 1, s, 1, n + 1 } };
        masked_add(&from, &k, parts, 3, (uint64_t)s + 50, key);
    }
    /* each word is a unit of its own: 2, 2, 4, 4, 6 and 6, halves to even */
    assert_int_equal(from.n, 24);
    assert_int_equal(from.units, 24);
    bool seen[24] = { false };
    for (int i = 0; i < from.n; i++) {
        int s = from.input.lang[from.row[i]];
        static const int at[] = { 0, 2, 4, 8, 12, 18, 24 };
        assert_in_range(from.unit[i], at[s], at[s + 1] - 1);
        assert_false(seen[from.unit[i]]);
        seen[from.unit[i]] = true;
    }
    static const int taken[] = { 1, 3, 4 };
    int row = 0, predicted = 0;
    for (int round = 0; round < 2; round++) {        /* and once more into what was cleared */
        masked_clear(&to);
        for (int c = 0; c < 3; c++) masked_copy(&to, &from, taken[c]);
        row = predicted = 0;
        for (int c = 0; c < 3; c++) {
            int s = taken[c], first = from.input.at[s];
            assert_int_equal(to.input.at[c], row);
            assert_int_equal(to.input.len[c], 5 + 2 * s);
            for (int i = 0; i < 5 + 2 * s; i++, row++) {
                int r = first + i;
                assert_int_equal(to.input.token[row], from.input.token[r]);
                assert_int_equal(to.original[row],
                                 i == 0 ? VOCAB_BOS : i == 4 + 2 * s ? VOCAB_EOS : 9 + 7 * s + i);
                assert_int_equal(to.original_lang[row], s);
                assert_int_equal(to.input.lang[row], s);
                assert_int_equal(to.input.pos[row], i);
                assert_int_equal(to.input.type[row], i > 0);
                assert_int_equal(to.input.drop[row], i);
                assert_true(to.input.sample[row] == (uint64_t)s + 50);
            }
            for (int i = 0; i < from.n; i++) {
                if (from.input.lang[from.row[i]] != s) continue;
                assert_int_equal(to.row[predicted], from.row[i] - first + to.input.at[c]);
                assert_int_equal(to.target[predicted], from.target[i]);
                assert_int_equal(to.unit[predicted], from.unit[i]);
                assert_int_equal(to.masked[predicted++], from.masked[i]);
            }
        }
        assert_int_equal(to.input.rows, row);
        assert_int_equal(to.input.max, 13);
        assert_int_equal(to.n, predicted);
        assert_int_equal(predicted, 12);
    }
    masked_free(&from);
    masked_free(&to);
    word_starts_free(k.words);
    vocab_free(v);
}

/* "a b c" into "d e": <s> a b c </s> is read, <s> d e gives d e </s>; an empty side has specials
 * alone. */
static void pairs_are_read_and_written_between_their_specials(void **state)
{
    (void)state;
    const uint32_t x[] = { 11, 12, 13 }, y[] = { 21, 22 };
    static const int32_t src[] = { 0, 11, 12, 13, 1, 0, 1, 0, 21, 22, 1 },
                         dec[] = { 0, 21, 22, 0, 11, 12, 13, 0 },
                         target[] = { 21, 22, 1, 11, 12, 13, 1, 1 },
                         src_lang[] = { 4, 4, 4, 4, 4, 5, 5, 6, 6, 6, 6 },
                         dec_lang[] = { 7, 7, 7, 8, 8, 8, 8, 9 };
    struct seq2seq b = { 0 };
    assert_true(VOCAB_BOS == 0 && VOCAB_EOS == 1);
    seq2seq_add(&b, x, 3, 4, y, 2, 7, 70);
    seq2seq_add(&b, NULL, 0, 5, x, 3, 8, 71);
    seq2seq_add(&b, y, 2, 6, NULL, 0, 9, 72);
    assert_int_equal(b.src.rows, 11);
    assert_int_equal(b.dec.rows, 8);
    assert_memory_equal(b.src.token, src, sizeof src);
    assert_memory_equal(b.dec.token, dec, sizeof dec);
    assert_memory_equal(b.target, target, sizeof target);
    assert_memory_equal(b.src.lang, src_lang, sizeof src_lang);
    assert_memory_equal(b.dec.lang, dec_lang, sizeof dec_lang);
    assert_true(b.src.sample[5] == 71 && b.dec.sample[7] == 72);
    assert_int_equal(b.src.max, 5);
    assert_int_equal(b.dec.max, 4);
    seq2seq_clear(&b);
    seq2seq_add(&b, y, 2, 6, y, 2, 9, 73);
    assert_int_equal(b.src.n, 1);
    assert_int_equal(b.dec.max, 3);
    assert_int_equal(b.target[2], VOCAB_EOS);
    seq2seq_free(&b);
    assert_true(!b.src.token && !b.dec.token && !b.target && !b.buf && !b.cap && !b.buf_cap);
}

static void noise_moves_less_than_k_places_drops_and_blanks(void **state)
{
    (void)state;
    uint32_t ids[60], out[60];
    struct rng_key key = { 4, RNG_NOISE, 2 };
    struct noise_options only_shuffle = { 3, 0, 0 }, all = { 3, 0.1, 0.1 };
    int moved = 0, kept = 0, blank = 0;
    for (int i = 0; i < 60; i++) ids[i] = 100 + (uint32_t)i;
    for (uint64_t s = 0; s < 500; s++) {
        assert_int_equal(noise_add(ids, 60, out, &only_shuffle, key, s), 60);
        for (int i = 0; i < 60; i++) {
            int d = (int)out[i] - 100 - i;
            assert_true(abs(d) < 3);
            moved += d != 0;
        }
        int n = noise_add(ids, 60, out, &all, key, s);
        kept += n;
        for (int i = 0; i < n; i++) blank += out[i] == VOCAB_MASK;
    }
    assert_true(moved > 10000);
    assert_true(fabs(kept / 30000.0 - 0.9) < 0.01);
    assert_true(fabs((double)blank / kept - 0.1) < 0.01);
    for (uint64_t s = 0; s < 200; s++)
        assert_int_equal(noise_add(ids, 1, out, &(struct noise_options){ 3, 0.9, 0 }, key, s), 1);
    assert_int_equal(noise_add(ids, 0, out, &all, key, 1), 0);
}

/* Two tokens of which each is dropped with p = 1/2: where both are left they change places if the
 * first one's u, in thirds, is a third or more ahead of the other's, which has p = (2/3)^2 / 2. */
static void what_is_dropped_says_nothing_of_what_moves(void **state)
{
    (void)state;
    const uint32_t ids[2] = { 100, 101 };
    struct rng_key key = { 4, RNG_NOISE, 3 };
    int both = 0, turned = 0;
    for (uint64_t s = 0; s < 20000; s++) {
        uint32_t out[2];
        if (noise_add(ids, 2, out, &(struct noise_options){ 3, 0.5, 0 }, key, s) < 2) continue;
        both++;
        turned += out[0] == 101;
    }
    double p = 2.0 / 9;
    assert_true(fabs(both / 20000.0 - 0.25) < 4 * sqrt(0.25 * 0.75 / 20000));
    assert_true(fabs((double)turned / both - p) < 4 * sqrt(p * (1 - p) / both));
}

/* --- the largest batches, which the memory plan asks for --- */

/* Of 100 tokens and sentences of up to 30: 99 rows are not yet a batch, and one of 30 closes it.
 * 15% of 129 rows are predicted, 19.35 on average, with six deviations of sqrt(19.35 * 0.85) 43.7;
 * of budgets that are rounded one more in each of the five sentences; and never more than rows. */
static void the_largest_masked_batch_is_closed_by_the_longest_sentence(void **state)
{
    (void)state;
    struct masked_self o = { .longest = 30, .masker = { .how = masking_defaults } };
    struct masked b = { 0 };
    static const int rows[] = { 30, 30, 30, 9, 30 };
    assert_int_equal(masked_largest(&o, &b, NULL, 100), 0);
    assert_int_equal(b.input.n, 5);
    assert_int_equal(b.input.rows, 129);
    assert_int_equal(b.input.max, 30);
    for (int i = 0; i < 5; i++) assert_int_equal(b.input.len[i], rows[i]);
    assert_int_equal(b.n, 44);
    for (int i = 0; i < b.n; i++) assert_true(b.row[i] == i && b.masked[i]);
    assert_int_equal(masked_largest(&o, &b, NULL, 91), 0);       /* no empty one */
    assert_int_equal(b.input.n, 4);
    assert_int_equal(masked_largest(&o, &b, NULL, 92), 0);       /* but one of a row */
    assert_int_equal(b.input.n, 5);
    assert_int_equal(b.input.rows, 91 + 30);
    o.masker.how.scheme = MASKING_WORD;
    assert_int_equal(masked_largest(&o, &b, NULL, 100), 0);
    assert_int_equal(b.n, 49);
    o.masker.how.select = 0.99;
    assert_int_equal(masked_largest(&o, &b, NULL, 100), 0);
    assert_int_equal(b.n, 129);
    /* a number of sentences is so many of the longest, and what is left of them */
    o.s.sentences = 4;
    assert_int_equal(masked_largest(&o, &b, NULL, 100), 0);
    assert_int_equal(b.input.rows, 4 * 30 - 1 + 30);
    o.s.sentences = 1 << 27;
    assert_int_equal(masked_largest(&o, &b, NULL, 100), -1);
    masked_free(&b);
}

/* Sides of 2 and 4, 3 and 7 tokens, of which 6 may be used: 4 on average, 4 at most. A pair of that
 * has 6 + 5 rows; of 20 tokens a side 39 rows are a batch. */
static void the_largest_batch_of_pairs_is_closed_by_the_longest(void **state)
{
    (void)state;
    uint32_t at[2][3] = { { 0, 2, 6 }, { 0, 3, 10 } };
    struct pairs p = { .side = { { .sentences = 2, .tokens = 6, .at = at[0] },
                                 { .sentences = 2, .tokens = 10, .at = at[1] } } };
    struct setup s = { .pairs = &p, .n_pairs = 1, .longest = 6 };
    struct seq2seq b = { 0 };
    int usual, longest;
    seq2seq_lengths(&s, &usual, &longest);
    assert_int_equal(usual, 4);
    assert_int_equal(longest, 4);
    assert_int_equal(seq2seq_largest(&b, &s, 20), 0);
    assert_int_equal(b.src.n, 5);                    /* 44 rows, and then the longest */
    assert_int_equal(b.src.rows, 30);
    assert_int_equal(b.dec.rows, 25);
    s.longest = 7;
    assert_int_equal(seq2seq_largest(&b, &s, 20), 0);
    assert_int_equal(b.src.n, 5);
    assert_int_equal(b.src.rows, 4 * 6 + 9);
    assert_int_equal(b.dec.rows, 4 * 5 + 8);
    assert_int_equal(b.src.max, 9);
    s.sentences = 3;                                 /* a batch of so many, all of the longest */
    assert_int_equal(seq2seq_largest(&b, &s, 20), 0);
    assert_int_equal(b.src.rows, 3 * 9);
    assert_int_equal(b.dec.rows, 3 * 8);
    s.sentences = INT_MAX / 17 + 1;                  /* 2 * 7 + 3 rows each */
    assert_int_equal(seq2seq_largest(&b, &s, 20), -1);
    /* of text the same: 900 sentences of 1 to 7 tokens, 4 on average, of which 5 may be used */
    struct corpus c[2];
    struct corpora cs = two(c, 1);
    s = (struct setup){ .text = &cs, .longest = 5 };
    seq2seq_lengths(&s, &usual, &longest);
    assert_int_equal(usual, 3);                      /* 3.98: 900 and 100 are no multiples of 7 */
    assert_int_equal(longest, 5);
    corpora_free(&cs);
    seq2seq_free(&b);
}

static const struct objective *named(const char *name)
{
    int i = 0;
    while (objectives[i] && strcmp(objectives[i]->name, name)) i++;
    if (!objectives[i]) fail_msg("no objective %s", name);
    return objectives[i];
}

/* An objective with its defaults, but for this option, and what it makes of a plan. */
struct planned { const struct objective *o; void *self, *batch; };

static struct planned planned(const char *name, const char *option, int value, struct setup *s)
{
    struct planned x = { .o = named(name) };
    x.self = mem_zero(1, x.o->self);
    x.batch = mem_zero(1, x.o->batch->size);
    if (x.o->defaults) x.o->defaults(x.self);
    for (const struct opt *r = option ? x.o->options : NULL; r && r->name; r++)
        if (!strcmp(r->name, option)) memcpy((char *)x.self + r->at, &value, sizeof value);
    if (s && x.o->open(x.self, s) < 0) fail_msg("%s", err_msg());
    return x;
}

static void plan(struct planned *x, const void *host, int tokens)
{
    assert_int_equal(x->o->batch->largest(x->self, x->batch, host, tokens), 0);
}

static void planned_free(struct planned *x, bool opened)
{
    x->o->batch->free(x->batch);
    if (opened && x->o->close) x->o->close(x->self);
    free(x->batch);
    free(x->self);
}

/* What back.c's batches begin with. */
struct back_begins { struct seq2seq pairs; struct batch real; int *end; size_t cap; int into, n; };

/* Of sentences of 3 tokens on average and 5 at most, and up to 7 for MASS. */
static void the_largest_batches_of_text_that_is_written(void **state)
{
    (void)state;
    struct corpus c[2];
    struct corpora cs = two(c, 1);
    struct vocab v = { .n = 300 };
    struct setup s = { .text = &cs, .longest = 7, .masking = &masking_defaults, .vocab = &v };
    /* rows of 9 until there are 20, all of them seen; half of 9 to the even number are written */
    struct planned x = planned("mass", NULL, 0, &s);
    const struct mass_batch *m = x.batch;
    for (int twice = 0; twice < 2; twice++) {
        plan(&x, NULL, 20);
        assert_int_equal(m->src.n, 3);
        assert_int_equal(m->src.rows, 27);
        assert_int_equal(m->dec.rows, 3 * 4);
        assert_int_equal(m->n_visible, 27);
        assert_int_equal(m->most_visible, 9);
        plan(&x, NULL, 27);
        assert_int_equal(m->src.n, 3);
    }
    planned_free(&x, true);
    s.sentences = 4;
    x = planned("mass", NULL, 0, &s);
    plan(&x, NULL, 20);
    m = x.batch;
    assert_int_equal(m->src.rows, 4 * 9);
    planned_free(&x, true);
    /* three batches translated at once: rows of 5 while one is missing to 21, and one of 7 */
    s.sentences = 0, s.longest = 5;
    x = planned("back", "translate-ahead", 3, &s);
    const struct back_begins *b = x.batch;
    for (int twice = 0; twice < 2; twice++) {
        plan(&x, NULL, 21);
        assert_int_equal(b->n, 3);
        assert_int_equal(b->real.rows, 3 * (4 * 5 + 7));
        for (int i = 0; i < 3; i++) assert_int_equal(b->end[i], 5 * (i + 1));
        assert_int_equal(b->real.len[4], 7);
        plan(&x, NULL, 22);
        assert_int_equal(b->real.rows, 3 * (5 * 5 + 7));
    }
    planned_free(&x, true);
    s.sentences = 2;
    x = planned("back", "translate-ahead", 3, &s);
    plan(&x, NULL, 21);
    b = x.batch;
    assert_int_equal(b->real.rows, 3 * 2 * 7);
    assert_int_equal(b->end[2], 6);
    planned_free(&x, true);
    /* half of the tokens, rounded up, or what is asked for: pairs of 5 + 4 rows while 19 or 7 are
     * not there, and one of 7 + 6 */
    s.sentences = 0;
    for (int own = 0; own < 2; own++) {
        x = planned("denoise", "denoise-tokens", own ? 4 : 0, &s);
        plan(&x, NULL, 19);
        const struct seq2seq *d = x.batch;
        assert_int_equal(d->src.n, own ? 2 : 4);
        assert_int_equal(d->src.rows, own ? 5 + 7 : 3 * 5 + 7);
        assert_int_equal(d->dec.rows, own ? 4 + 6 : 3 * 4 + 6);
        planned_free(&x, true);
    }
    corpora_free(&cs);
}

/* On MLM's largest batch, of 129 rows in five sentences, 44 predicted: each a target of MLM-GC, a
 * label for each sentence, all of them once more for TCS; for SCS 15% of the rows and one more in
 * each sentence, which go to the language with the most words. */
static void the_largest_batches_of_what_rides_on_mlm(void **state)
{
    (void)state;
    struct masked_self mlm = { .longest = 30, .masker = { .how = masking_defaults } };
    struct masked host = { 0 };
    assert_int_equal(masked_largest(&mlm, &host, NULL, 100), 0);
    struct planned x = planned("gc", NULL, 0, NULL);
    x.o->attach(x.self, named("mlm"));
    for (int twice = 0; twice < 2; twice++) {
        const struct gc_batch *g = x.batch;
        plan(&x, &host, 100);
        assert_int_equal(g->n, 44);
        for (int i = 0; i < 44 * 2 * gc_defaults.window; i++) assert_int_equal(g->nb[i], -1);
    }
    planned_free(&x, true);
    x = planned("sop", NULL, 0, NULL);
    plan(&x, &host, 100);
    const struct headed *h = x.batch;
    assert_int_equal(h->n, 5);
    for (int i = 0; i < 5; i++) assert_int_equal(h->row[i], host.input.at[i]);
    planned_free(&x, false);
    x = planned("tcs", NULL, 0, NULL);
    for (int twice = 0; twice < 2; twice++) {
        const struct masked *t = x.batch;
        plan(&x, &host, 100);
        assert_int_equal(t->input.rows, 129);
        assert_int_equal(t->n, 44);
        assert_memory_equal(t->row, host.row, 44 * sizeof *t->row);
    }
    planned_free(&x, false);
    struct scs_batch b = { 0 };
    for (int twice = 0; twice < 2; twice++) {
        struct scs_rows how = { .rate = "0.10:0.15", .own_words = twice };
        scs_rows_largest(&b, &batch_masked, &host, &how, 70, 90);
        assert_int_equal(b.input->rows, 129);
        assert_int_equal(b.n, 19 + 5);
        for (int r = 0; r < 129; r++) assert_true((b.input->token[r] < 0) == (r < 24));
        assert_int_equal(b.groups, 1);
        assert_true(b.group[0].n == 24 && b.group[0].at == 0 && b.group[0].words == 70);
        assert_int_equal(b.words, twice ? 160 : 70);
        assert_int_equal(b.homes, twice);
        assert_true(!twice || (b.home[0].n == 24 && b.home[0].at == 70 && b.home[0].words == 90));
    }
    scs_rows_free(&b);
    masked_free(&host);
}

/* Each ordered pair of different languages, in turn. */
static void directions_are_all_pairs_of_languages(void **state)
{
    (void)state;
    for (int n = 2; n < 6; n++) {
        int seen[5][5] = { { 0 } };
        for (int64_t d = 0; d < 2 * n * (n - 1); d++) {
            struct direction x = direction_of(d, n);
            assert_true(x.src >= 0 && x.src < n && x.tgt >= 0 && x.tgt < n && x.src != x.tgt);
            seen[x.src][x.tgt]++;
        }
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) assert_int_equal(seen[i][j], i == j ? 0 : 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_epoch_gives_each_sentence_once),
        cmocka_unit_test(the_state_of_the_stream_is_all_of_it),
        cmocka_unit_test(languages_are_drawn_by_size_to_the_alpha),
        cmocka_unit_test(sentences_too_long_are_passed_over_and_none_left_is_an_error),
        cmocka_unit_test(streams_cut_the_joined_sentences),
        cmocka_unit_test(a_text_whose_joined_tokens_do_not_fit_32_bits_is_refused),
        cmocka_unit_test(masking_is_80_10_10_of_15_percent_and_spares_specials),
        cmocka_unit_test(a_document_is_two_segments_either_of_which_is_first),
        cmocka_unit_test(a_copy_of_sentences_has_what_was_predicted_of_them),
        cmocka_unit_test(pairs_are_read_and_written_between_their_specials),
        cmocka_unit_test(noise_moves_less_than_k_places_drops_and_blanks),
        cmocka_unit_test(what_is_dropped_says_nothing_of_what_moves),
        cmocka_unit_test(the_largest_masked_batch_is_closed_by_the_longest_sentence),
        cmocka_unit_test(the_largest_batch_of_pairs_is_closed_by_the_longest),
        cmocka_unit_test(the_largest_batches_of_text_that_is_written),
        cmocka_unit_test(the_largest_batches_of_what_rides_on_mlm),
        cmocka_unit_test(directions_are_all_pairs_of_languages),
    };
    if (scratch_enter() < 0) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_leave();
    return failed;
}
