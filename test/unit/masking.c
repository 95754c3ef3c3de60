/* Which tokens are masked, scheme by scheme, by their definitions (lib/masking/masking.h), and
 * which are switched; pairs as TLM writes them; objectives drawn by a ratio. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/mem.h"
#include "lib/batch/masked.h"
#include "lib/data/corpus.h"
#include "lib/data/pairs.h"
#include "lib/engine/mix.h"
#include "lib/masking/masking.h"
#include "lib/masking/pick.h"
#include "lib/masking/switch.h"
#include "lib/objective/table.h"
#include "test/unit/scratch.h"

enum { N = 40, SENTENCES = 4000 };

/* A vocabulary of words of one to three pieces: "w0" ends a word, "p0@@" does not. */
static struct vocab *some_words(void)
{
    char *path = path_join(scratch_dir, "vocab"), text[4000];
    size_t n = 0;
    for (int i = 0; i < 50; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "w%d 1\np%d@@ 1\n", i, i);
    assert_int_equal(file_write(path, text, n), 0);
    struct vocab *v = vocab_read(path);
    assert_non_null(v);
    free(path);
    return v;
}

static uint32_t id(const struct vocab *v, const char *token)
{
    for (uint32_t i = VOCAB_SPECIALS; i < v->n; i++)
        if (vocab_token_len(v, i) == strlen(token)
            && !memcmp(vocab_token(v, i), token, strlen(token)))
            return i;
    fail_msg("no %s", token);
    return 0;
}

/* <s>, then words of 1, 2, 3, 1, 2, 3 ... pieces, then </s>; begins[i]: a word begins at i. */
static void sentence(const struct vocab *v, uint32_t ids[N], bool begins[N])
{
    uint32_t piece = id(v, "p7@@"), end = id(v, "w7");
    ids[0] = VOCAB_BOS; ids[N - 1] = VOCAB_EOS;
    begins[0] = begins[N - 1] = true;
    for (int i = 1, word = 0; i < N - 1; word++)
        for (int k = word % 3; k >= 0 && i < N - 1; k--, i++) {
            ids[i] = k ? piece : end;
            begins[i] = k == word % 3;
        }
}

static int choose(const struct masking *how, const uint32_t *ids, int n, const struct vocab *v,
                  struct word_starts *w, uint64_t number, struct masked_token *out)
{
    struct masker k = { .how = *how, .words = w, .vocab = v->n };
    struct masking_text text = { ids, NULL, n };
    return masking_choose(&k, &text, (struct rng_key){ 3, RNG_MASK, 1 }, number, out);
}

struct counts { int chosen, mask, same, shortest, longest, whole, units; double mean_words; };

static struct counts count_as(struct masking how)
{
    struct vocab *v = some_words();
    struct word_starts *w = word_starts_new(v);
    enum masking_scheme scheme = how.scheme;
    struct counts c = { .shortest = N };
    uint32_t ids[N];
    bool begins[N];
    sentence(v, ids, begins);
    for (uint64_t s = 0; s < SENTENCES; s++) {
        struct masked_token out[N];
        int of[N + 1],
            n = choose(&how, ids, N, v, w, s, out);
        for (int i = 0; i <= N; i++) of[i] = -1;
        for (int i = 0; i < n; i++) {
            assert_true(out[i].at > 0 && out[i].at < N - 1);             /* specials are spared */
            if (i) assert_true(out[i].at > out[i - 1].at);
            of[out[i].at] = out[i].unit;
            c.mask += out[i].read == VOCAB_MASK;
            c.same += out[i].read == ids[out[i].at];
            if (scheme == MASKING_SPAN && i
                && out[i].unit == out[i - 1].unit) /* one draw decides for a span */
                assert_int_equal(out[i].read == VOCAB_MASK, out[i - 1].read == VOCAB_MASK);
        }
        for (int i = 0, first = -1; i < n && scheme == MASKING_SPAN; i++) {
            if (out[i].unit || first >= 0) continue;
            assert_true(begins[first = out[i].at]);        /* the first span begins with a word */
        }
        c.chosen += n;
        if (n < c.shortest) c.shortest = n;
        if (n > c.longest) c.longest = n;
        for (int i = 1; i < N; i++) { /* units: runs of one number */
            if (of[i] < 0 || of[i] == of[i - 1]) continue;
            int end = i, words = 0;
            while (of[end] == of[i]) words += begins[end++];
            c.units++;
            c.mean_words += words;
            c.whole += begins[i] && begins[end];
        }
    }
    c.mean_words /= c.units;
    word_starts_free(w);
    vocab_free(v);
    return c;
}

static struct counts count(enum masking_scheme scheme)
{
    struct masking how = masking_defaults;
    how.scheme = scheme;
    return count_as(how);
}

/* 38 tokens may be chosen; 15% of them are 5.7. */
static void whole_words_up_to_a_budget(void **state)
{
    (void)state;
    struct counts c = count(MASKING_WORD);
    assert_int_equal(c.longest, 6);
    assert_true(c.shortest >= 4); /* the last words may all be too large for what is left */
    assert_int_equal(c.whole, c.units);
    assert_true(fabs(c.mean_words - 1) < 1e-9);
    assert_true(fabs((double)c.mask / c.chosen - 0.8) < 3 * sqrt(0.16 / c.chosen));
}

/* 12 words of one token, a quarter, an eighth and three eighths of the first 10: Python's
 * round(2.5), round(1.25), round(3.75), and of all 12 round(4.5). */
static void a_budget_rounds_halves_to_even(void **state)
{
    (void)state;
    static const struct { double select; int n, budget; } want[] = {
        { 0.25, 10, 2 }, { 0.125, 10, 1 }, { 0.375, 10, 4 }, { 0.375, 12, 4 }, { 0.35, 10, 4 },
        { 0.5, 11, 6 }, { 0.01, 10, 1 }
    };
    struct vocab *v = some_words();
    struct word_starts *w = word_starts_new(v);
    uint32_t ids[12];
    struct masked_token out[12];
    for (int i = 0; i < 12; i++) ids[i] = id(v, "w3");
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        for (int ngrams = 0; ngrams < 2; ngrams++) {
            struct masking how = masking_defaults;
            how.scheme = ngrams ? MASKING_NGRAM : MASKING_WORD;
            how.select = want[i].select;
            assert_int_equal(choose(&how, ids, want[i].n, v, w, i, out), want[i].budget);
        }
    word_starts_free(w);
    vocab_free(v);
}

/* "p1@@ <unk>" is one word, and so is "<unk>" alone: all of it is predicted or nothing; where <unk>
 * may not be predicted, the word with it is not either. */
static void a_word_that_ends_in_an_unknown_piece_is_whole(void **state)
{
    (void)state;
    struct vocab *v = some_words();
    struct word_starts *w = word_starts_new(v);
    const uint32_t ids[] = { VOCAB_BOS, id(v, "w1"), id(v, "p1@@"), VOCAB_UNK, id(v, "w2"),
                             VOCAB_UNK, id(v, "p2@@"), id(v, "w3"), VOCAB_EOS };
    enum { LENGTH = sizeof ids / sizeof *ids };
    struct masking how = masking_defaults;
    struct masked_token out[LENGTH];
    int both = 0, other = 0;
    how.scheme = MASKING_WORD;
    how.select = 0.4;
    for (int predict = 1; predict >= 0; predict--) {
        how.predict_unk = predict;
        for (uint64_t s = 0; s < 200; s++) {
            bool in[LENGTH] = { false };
            int n = choose(&how, ids, LENGTH, v, w, s, out);
            for (int i = 0; i < n; i++) in[out[i].at] = true;
            assert_int_equal(in[2], in[3]);
            assert_int_equal(in[6], in[7]);
            both += in[2];
            other += in[5];
            if (!predict) assert_false(in[2] || in[5]);
        }
        assert_true(both > 20 && other > 20);
    }
    word_starts_free(w);
    vocab_free(v);
}

static void ngrams_are_one_to_three_whole_words(void **state)
{
    (void)state;
    struct counts c = count(MASKING_NGRAM);
    assert_int_equal(c.longest, 6);
    assert_int_equal(c.whole, c.units);
    assert_true(c.mean_words > 1.1
                && c.mean_words
                       < 18.0 / 11); /* E n = 3 / (1 + 1/2 + 1/3), less what does not fit */
}

/* The first n-gram always fits: n is drawn by 1/n of those that the sentence has room for. Of its
 * 38 words the last two leave room for two and for one. */
static void ngrams_have_lengths_by_one_over_n(void **state)
{
    (void)state;
    struct vocab *v = some_words();
    struct word_starts *w = word_starts_new(v);
    struct masking how = masking_defaults;
    uint32_t ids[N];
    int of[4] = { 0 };
    how.scheme = MASKING_NGRAM;
    how.select = 0.5;
    for (int i = 0; i < N; i++) ids[i] = id(v, "w3");
    ids[0] = VOCAB_BOS;
    ids[N - 1] = VOCAB_EOS;
    for (uint64_t s = 0; s < SENTENCES; s++) {
        struct masked_token out[N];
        int n = choose(&how, ids, N, v, w, s, out), first = 0;
        for (int i = 0; i < n; i++) first += out[i].unit == 0;
        assert_in_range(first, 1, 3);
        of[first]++;
    }
    double one = (36 * 6.0 / 11 + 2.0 / 3 + 1) / 38, three = 36 * 2.0 / 11 / 38;
    double got1 = of[1] / (double)SENTENCES, got3 = of[3] / (double)SENTENCES;
    assert_true(fabs(got1 - one) < 3 * sqrt(one * (1 - one) / SENTENCES));
    assert_true(fabs(got3 - three) < 3 * sqrt(three * (1 - three) / SENTENCES));
    word_starts_free(w);
    vocab_free(v);
}

static void spans_fill_the_budget_exactly(void **state)
{
    (void)state;
    struct counts c = count(MASKING_SPAN);
    assert_int_equal(c.longest, 6);
    assert_int_equal(c.shortest, 6);                                     /* ceil(5.7) */
    assert_true(c.whole < c.units
                && c.whole > c.units / 3); /* the last one may be cut off in a word */
}

/* With --span-max and --ngram-max 1 each unit is a word; without, some are longer. */
static void units_have_at_most_as_many_words(void **state)
{
    (void)state;
    for (int ngrams = 0; ngrams < 2; ngrams++) {
        struct masking how = masking_defaults;
        how.scheme = ngrams ? MASKING_NGRAM : MASKING_SPAN;
        assert_true(count_as(how).mean_words > 1.2);
        how.ngram_most = ngrams ? 1 : how.ngram_most;
        how.span_most = ngrams ? how.span_most : 1;
        assert_true(fabs(count_as(how).mean_words - 1) < 1e-9);
    }
}

static void what_is_masked_does_not_depend_on_its_company(void **state)
{
    (void)state;
    struct vocab *v = some_words();
    struct word_starts *w = word_starts_new(v);
    struct masking how = masking_defaults;
    uint32_t ids[N];
    bool begins[N];
    sentence(v, ids, begins);
    for (int scheme = MASKING_TOKEN; scheme <= MASKING_NGRAM; scheme++) {
        struct masked_token a[N], b[N];
        how.scheme = (enum masking_scheme)scheme;
        int n = choose(&how, ids, N, v, w, 5, a);
        assert_int_equal(choose(&how, ids, N, v, w, 5, b), n);
        for (int i = 0; i < n; i++)
            assert_true(a[i].at == b[i].at && a[i].read == b[i].read && a[i].unit == b[i].unit);
    }
    assert_int_equal(choose(&how, ids, 1, v, w, 5, (struct masked_token[1]){ 0 }), 0);
    word_starts_free(w);
    vocab_free(v);
}

/* <unk> stands for a word, and may be left out. */
static void unknown_words_are_predicted_or_not(void **state)
{
    (void)state;
    struct vocab *v = some_words();
    struct word_starts *w = word_starts_new(v);
    struct masking how = masking_defaults;
    uint32_t ids[4] = { VOCAB_BOS, VOCAB_UNK, VOCAB_UNK, VOCAB_EOS };
    struct masked_token out[4];
    how.select = 1;
    for (int scheme = MASKING_TOKEN; scheme <= MASKING_NGRAM; scheme++) {
        how.scheme = (enum masking_scheme)scheme;
        how.predict_unk = true;
        assert_int_equal(choose(&how, ids, 4, v, w, 1, out), 2);
        how.predict_unk = false;
        assert_int_equal(choose(&how, ids, 4, v, w, 1, out), 0);
    }
    word_starts_free(w);
    vocab_free(v);
}

/* Where <unk> may not be predicted and is a piece of a word (WordPiece's "<unk> ##b ##c",
 * SentencePiece's "▁a b <unk> b c"), a span that begins in that word passes over it: it is never
 * taken, and the budget is met all the same. */
static void a_span_never_takes_an_unknown_piece_that_is_not_predicted(void **state)
{
    (void)state;
    static const char *const pieces[2][3] = { { "a", "##b", "##c" },
                                              { "\xe2\x96\x81""a", "b", "c" } };
    char *path = path_join(scratch_dir, "pieces");
    struct masking how = masking_defaults;
    how.scheme = MASKING_SPAN;
    how.predict_unk = false;
    for (int kind = 0; kind < 2; kind++) {
        const char *const *p = pieces[kind];
        char text[64];
        size_t size = (size_t)sprintf(text, "%s 3\n%s 2\n%s 1\n", p[0], p[1], p[2]);
        assert_int_equal(file_write(path, text, size), 0);
        struct vocab *v = vocab_read(path);
        struct word_starts *w = word_starts_new(v);
        uint32_t a = id(v, p[0]), b = id(v, p[1]), c = id(v, p[2]);
        const uint32_t ids[] = { VOCAB_BOS, VOCAB_UNK, b, c, a, b, VOCAB_UNK, b, c, VOCAB_EOS };
        enum { LENGTH = sizeof ids / sizeof *ids };
        struct masked_token out[LENGTH];
        for (uint64_t s = 0; s < 600; s++) {
            /* also of a stream's sentence, which has no <s> */
            int cut = s / 2 % 2;
            how.select = s % 2 ? 1 : 0.4;
            int n = choose(&how, ids + cut, LENGTH - 2 * cut, v, w, s, out);
            assert_int_equal(n, s % 2 ? 6 : 3);          /* ceil(0.4 of 6) */
            for (int i = 0; i < n; i++) assert_true(ids[out[i].at + cut] != VOCAB_UNK);
        }
        word_starts_free(w);
        vocab_free(v);
    }
    free(path);
}

/* --- PMI-Masking --- */

static struct ngram_lists *lists(const struct vocab *v, const struct word_starts *w,
                                 const char *text)
{
    static struct model_config c = { .lang = { "xa" }, .n_langs = 1 };
    char *path = path_join(scratch_dir, "list"), arg[4096];
    snprintf(arg, sizeof arg, "xa=%s", path);
    assert_int_equal(file_write(path, text, strlen(text)), 0);
    const char *value[] = { arg };
    struct strs files = { .v = value, .n = 1 };
    struct ngram_lists *l = ngram_lists_read(&files, &c, v, w);
    free(path);
    return l;
}

/* <s> w1 w2 w3 w4 w5 p6@@ w6 w7 w8 w9 </s> with the list "w1 w2", "w1 w2 w3", "w2 w3", "w4 w5",
 * "w5 p6@@ w6", "w7 w8 w0": units are w1-w3 (longer ones
 * win), either w4-w5 or w5-w6, what is left as words. */
static void units_of_pmi_are_ngrams_of_the_list_and_words(void **state)
{
    (void)state;
    struct vocab *v = some_words();
    struct word_starts *w = word_starts_new(v);
    struct masker k = { .how = masking_defaults, .words = w, .vocab = v->n };
    k.ngrams = lists(v, w, "w1 w2\nw1 w2 w3\nw2 w3\nw4 w5\nw5 p6@@ w6\nw7 w8 w0\n");
    assert_non_null(k.ngrams);
    assert_int_equal(ngram_lists_longest(k.ngrams), 3);
    const char *word[] = { "w1", "w2", "w3", "w4", "w5", "p6@@", "w6", "w7", "w8", "w9" };
    uint32_t ids[12] = { VOCAB_BOS };
    int32_t lang[12] = { 0 };
    for (int i = 0; i < 10; i++) ids[i + 1] = id(v, word[i]);
    ids[11] = VOCAB_EOS;
    struct masking_text text = { ids, lang, 12 };
    k.how.scheme = MASKING_PMI;
    k.how.select = 1;                                     /* every unit: how the sentence is cut */
    int early = 0, taken[7] = { 0 }, kept = 0, units = 0;
    for (uint64_t s = 0; s < SENTENCES; s++) {
        struct masked_token out[12];
        int of[14], n = masking_choose(&k, &text, (struct rng_key){ 3, RNG_MASK, 1 }, s, out);
        assert_int_equal(n, 10);
        for (int i = 0; i < n; i++) {
            of[out[i].at] = out[i].unit;
            bool same = i && out[i].unit == out[i - 1].unit;
            if (same)               /* one draw decides for a unit */
                assert_int_equal(out[i].read == VOCAB_MASK, out[i - 1].read == VOCAB_MASK);
            kept += !same && out[i].read == ids[out[i].at];
            units += !same;
        }
        assert_true(of[1] == of[2] && of[2] == of[3] && of[3] != of[4] && of[6] == of[7]);
        assert_true((of[4] == of[5]) != (of[5] == of[6]));
        assert_true(of[7] != of[8] && of[8] != of[9] && of[9] != of[10]);
        early += of[4] == of[5];
    }
    assert_true(abs(early - SENTENCES / 2) < 3 * sqrt(SENTENCES) / 2);
    double p = kept / (double)units;              /* 10% of the units, and random words that fit */
    assert_true(fabs(p - 0.1) < 0.01);
    k.how.select = 0.15;                  /* 1.5 of 10: units until there are 2 tokens or more */
    for (uint64_t s = 0; s < SENTENCES; s++) {
        struct masked_token out[12];
        int n = masking_choose(&k, &text, (struct rng_key){ 3, RNG_MASK, 1 }, s, out);
        assert_in_range(n, 2, 4);
        taken[n]++;
    }
    assert_true(taken[2] && taken[3] && taken[4]);          /* 1 + 1 or 2; 3 or 1 + 2; 1 + 3 */
    /* of a stream's piece, which has no <s>, the first word may be masked like any other */
    k.how.select = 1;
    for (uint64_t s = 0; s < 20; s++) {
        struct masked_token out[12];
        struct masking_text piece = { ids + 8, lang, 3 };
        int n = masking_choose(&k, &piece, (struct rng_key){ 3, RNG_MASK, 1 }, s, out);
        assert_int_equal(n, 3);
        assert_int_equal(out[0].at, 0);
    }
    /* of the first two that overlap, either one */
    early = 0;
    for (uint64_t s = 0; s < SENTENCES; s++) {
        struct masked_token out[12];
        struct masking_text piece = { ids + 4, lang, 4 };           /* w4 w5 p6@@ w6 */
        int n = masking_choose(&k, &piece, (struct rng_key){ 3, RNG_MASK, 1 }, s, out);
        assert_int_equal(n, 4);
        assert_true((out[0].unit == out[1].unit) != (out[1].unit == out[2].unit));
        early += out[0].unit == out[1].unit;
    }
    assert_true(abs(early - SENTENCES / 2) < 3 * sqrt(SENTENCES) / 2);
    /* a word with an <unk> that may not be predicted is left alone, whatever it begins with */
    /* p6@@ <unk>, <unk>, w1 w2 w3, <unk>, w4 */
    ids[1] = ids[6]; ids[2] = ids[3] = ids[7] = VOCAB_UNK;
    ids[4] = id(v, "w1"); ids[5] = id(v, "w2"); ids[6] = id(v, "w3"); ids[8] = id(v, "w4");
    for (int predict = 0; predict < 2; predict++) {
        k.how.predict_unk = predict;
        for (uint64_t s = 0; s < 50; s++) {
            struct masked_token out[12];
            text.n = 9;
            int n = masking_choose(&k, &text, (struct rng_key){ 3, RNG_MASK, 1 }, s, out);
            assert_int_equal(n, predict ? 8 : 4);
            for (int i = 0; i < n && !predict; i++)
                assert_in_range(out[i].at, 4, out[i].at == 8 ? 8 : 6);
        }
    }
    ngram_lists_free(k.ngrams);
    word_starts_free(w);
    vocab_free(v);
}

static void lists_of_ngrams_are_read_or_refused(void **state)
{
    (void)state;
    struct vocab *v = some_words();
    struct word_starts *w = word_starts_new(v);
    char text[20000];
    size_t n = 0;
    for (int i = 0; i < 50; i++)                     /* more edges than the first table has */
        for (int j = 0; j < 25; j++) n += (size_t)sprintf(text + n, "w%d w%d\n", i, j);
    struct ngram_lists *l = lists(v, w, text);
    for (int i = 0; i < 50; i++)
        for (int j = 0; j < 50; j++) {
            char a[8], b[8];
            sprintf(a, "w%d", i), sprintf(b, "w%d", j);
            uint32_t node = ngram_lists_next(l, ngram_lists_root(0), id(v, a));
            assert_true(node && !ngram_lists_end(l, node));
            node = ngram_lists_next(l, node, id(v, b));
            assert_int_equal(node && ngram_lists_end(l, node), j < 25);
        }
    ngram_lists_free(l);
    /* any number of spaces between tokens */
    l = lists(v, w, "w1  w2 \n");
    uint32_t first = ngram_lists_next(l, ngram_lists_root(0), id(v, "w1"));
    assert_true(first && ngram_lists_end(l, ngram_lists_next(l, first, id(v, "w2"))));
    assert_int_equal(ngram_lists_longest(l), 2);
    ngram_lists_free(l);
    /* what is left out is said, where something is */
    for (int out = 0; out < 2; out++) {
        char *err = path_join(scratch_dir, "err"), said[5000] = "";
        int old = dup(2);
        assert_non_null(freopen(err, "w", stderr));
        l = lists(v, w, out ? "w1 w2\nw1 zz\nw3 w4 w5\n" : "w1 w2\n");
        fflush(stderr);
        dup2(old, 2);
        close(old);
        FILE *f = fopen(err, "r");
        said[fread(said, 1, sizeof said - 1, f)] = '\0';
        fclose(f);
        free(err);
        assert_int_equal(ngram_lists_longest(l), out ? 3 : 2);
        ngram_lists_free(l);
        if (!out) assert_string_equal(said, "");
        else assert_non_null(strstr(said, "/list: 1 of 3 n-grams have a token that the vocabulary "
                                          "lacks\n"));
    }
    static const char *const bad[][2] = {
        { "1.5\t9\tw1 w2\n", "list:1: a tab; give the n-grams alone" },
        { "w1 w2\np3@@ w3\n", "list:2: expected an n-gram of two words" },
        { "w1 nowhere\n", "no n-gram's tokens are all in the vocabulary" },
        { "", "an empty list" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_null(lists(v, w, bad[i][0]));
        if (!strstr(err_msg(), bad[i][1])) fail_msg("%s", err_msg());
    }
    word_starts_free(w);
    vocab_free(v);
}

/* Devlin et al. 2019 and, of spans and n-grams, Joshi et al. 2020 and Lan et al. 2020; Lu, Lu and
 * Zhang 2023. */
static void what_is_not_said_is_as_the_papers_have_it(void **state)
{
    (void)state;
    struct masking o = masking_defaults;
    assert_true(o.select == 0.15 && o.mask == 0.8 && o.random == 0.1);
    assert_int_equal(o.scheme, MASKING_TOKEN);
    assert_int_equal(o.span_most, 10);
    assert_int_equal(o.ngram_most, 3);
    assert_true(o.predict_unk);
    assert_string_equal(switch_defaults.rate, "0.10:0.15");
    assert_true(switch_defaults.temperature == 1 && switch_defaults.langs);
    assert_true(!switch_defaults.one_way && !switch_defaults.refresh);
    assert_int_equal(switch_defaults.units, SWITCH_WORD);
    /* no token stays as it is: two shares of all */
    o.random = 0.25; o.mask = 0.75;
    assert_int_equal(masking_check(&o), 0);
    o.mask = 0.875;
    assert_int_equal(masking_check(&o), -1);
    const char *file = "xa=list";
    o = masking_defaults;
    o.ngrams = (struct strs){ &file, 1 };
    assert_int_equal(masking_check(&o), -1);
    o.scheme = MASKING_PMI;
    assert_int_equal(masking_check(&o), 0);
}

static void marks_of_all_vocabularies_tell_where_words_begin(void **state)
{
    (void)state;
    static const char text[] = "\xe2\x96\x81the 3\n\xe2\x96\x81n 2\new 1\n";
    char *path = path_join(scratch_dir, "spm");
    assert_int_equal(file_write(path, text, sizeof text - 1), 0);
    struct vocab *v = vocab_read(path);
    struct word_starts *w = word_starts_new(v);
    uint32_t the = id(v, "\xe2\x96\x81the"), n = id(v, "\xe2\x96\x81n"), ew = id(v, "ew");
    assert_true(word_starts_at(w, the, n));
    assert_false(word_starts_at(w, n, ew));
    assert_true(word_starts_at(w, VOCAB_BOS, ew));
    /* "▁n" and a character that the model lacks, as SentencePiece cuts "n€" */
    assert_false(word_starts_at(w, n, VOCAB_UNK));
    assert_true(word_starts_at(w, VOCAB_UNK, the));
    assert_true(word_starts_at(w, VOCAB_EOS, VOCAB_UNK));
    word_starts_free(w);
    vocab_free(v);
    free(path);
}

/* BPE's and WordPiece's marks; alone they are text. What no vocabulary has joins nothing. */
static void marks_alone_are_words(void **state)
{
    (void)state;
    static const char text[] = "a@@ 5\nb 4\n@@ 3\n## 2\n##c 1\n";
    char *path = path_join(scratch_dir, "marks");
    assert_int_equal(file_write(path, text, sizeof text - 1), 0);
    struct vocab *v = vocab_read(path);
    struct word_starts *w = word_starts_new(v);
    uint32_t a = id(v, "a@@"), b = id(v, "b"), at = id(v, "@@"), hash = id(v, "##"),
             c = id(v, "##c");
    const struct { uint32_t before, token; bool begins; } t[] = {
        { a, b, false }, { b, a, true }, { b, b, true }, { at, b, true }, { b, at, true },
        { hash, b, true }, { b, hash, true }, { b, c, false }, { a, c, false }, { c, b, true },
        { b, VOCAB_UNK, true }, { a, VOCAB_UNK, false }, { VOCAB_UNK, c, false },
        { VOCAB_BOS, c, true }, { a, VOCAB_EOS, true }, { a, v->n, true }, { v->n, c, true },
        { a, VOCAB_MASK, true },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        assert_int_equal(word_starts_at(w, t[i].before, t[i].token), t[i].begins);
    word_starts_free(w);
    word_starts_free(NULL);
    vocab_free(v);
    free(path);
}

/* --- code switching --- */

static char noted[400];
static void take_note(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(noted, sizeof noted, fmt, args);
    va_end(args);
}

static const char trained[3][32] = { "aa", "bb", "cc" };

static struct switches *dictionaries(const struct switch_options *o, const struct vocab *v,
                                     const char *bb, const char *cc)
{
    char arg[2][4200];
    const char *const text[] = { bb, cc }, *const name[] = { "aa-bb", "aa-cc" };
    const char *value[] = { arg[0], arg[1] };
    struct strs dict = { .v = value, .n = 2 };
    for (int i = 0; i < 2; i++) {
        char *path = path_join(scratch_dir, name[i]);
        assert_int_equal(file_write(path, text[i], strlen(text[i])), 0);
        snprintf(arg[i], sizeof arg[i], "%s=%s", name[i], path);
        free(path);
    }
    struct switches *s = switches_read(o, &dict, trained, 3, v, take_note);
    if (!s) fail_msg("%s", err_msg());
    return s;
}

/* w1 has three translations into bb, of scores 0, ln 3 and 0 (of a pair that is there twice the
 * first line counts), and one into cc: each language is as likely as the other, and in bb
 * p ~ exp(score / T): 1, 3, 1 for T = 1, and 1, 9, 1 for T = 1/2. */
static void translations_are_drawn_by_language_and_by_score(void **state)
{
    (void)state;
    struct vocab *v = some_words();
    const uint32_t original[] = { VOCAB_BOS, id(v, "w1"), VOCAB_EOS };
    const uint32_t to[] = { id(v, "w4"), id(v, "w3"), id(v, "w2"), id(v, "w5") };
    const bool fixed[3] = { false };
    for (int sharp = 0; sharp < 2; sharp++) {
        struct switch_options o = switch_defaults;
        o.rate = "1";
        o.units = SWITCH_TOKEN;
        o.temperature = sharp ? 0.5 : 1;
        struct switches *s = dictionaries(
            &o, v, "w1\tw4\t0\nw1\tw3\t1.0986122887\nw1\tw2\nw9\tw9\nw9\tzz\nw1\tw4\t5\n",
            "w1\tw5\t2\r\n");
        struct switch_count c = { 0 };
        int drawn[4] = { 0 };
        for (uint64_t k = 0; k < SENTENCES; k++) {
            struct switch_sentence x = { original, fixed, 3, 0, k, false };
            struct switched out[3];
            assert_int_equal(switch_choose(s, &o, NULL, &x, (struct rng_key){ 5, RNG_SWITCH, 2 },
                                           out, &c), 1);
            assert_int_equal(out[0].at, 1);
            assert_int_equal(out[0].lang, out[0].token == to[3] ? 2 : 1);
            for (int i = 0; i < 4; i++) drawn[i] += out[0].token == to[i];
        }
        assert_int_equal(drawn[0] + drawn[1] + drawn[2] + drawn[3], SENTENCES);
        assert_true(c.tokens == SENTENCES && c.free == SENTENCES && c.known == SENTENCES
                    && c.switched == SENTENCES);
        double one = sharp ? 0.5 / 11 : 0.1;
        const double p[4] = { one, 0.5 - 2 * one, one, 0.5 };
        for (int i = 0; i < 4; i++)
            assert_true(fabs((double)drawn[i] / SENTENCES - p[i])
                        < 4 * sqrt(p[i] * (1 - p[i]) / SENTENCES));
        switches_free(s);
    }
    vocab_free(v);
}

/* Dictionaries are read backwards, too, unless they are one-way; every token that one of them has
 * is found, the first and the last, and no other. */
static void a_dictionary_has_its_tokens_in_either_language(void **state)
{
    (void)state;
    struct vocab *v = some_words();
    char text[1000];
    size_t n = 0;
    for (int i = 48; i >= 0; i -= 2) n += (size_t)sprintf(text + n, "w%d\tp%d@@\n", i, i);
    for (int one_way = 0; one_way < 2; one_way++) {
        struct switch_options o = switch_defaults;
        o.one_way = one_way;
        struct switches *s = dictionaries(
            &o, v, text, "\xEF\xBB\xBF" "w1\tw2\nw1\tw2\nw3\tzz\nw4\tw4\n");
        for (int i = 0; i < 50; i++) {
            char word[8], piece[8];
            sprintf(word, "w%d", i);
            sprintf(piece, "p%d@@", i);
            assert_int_equal(switches_has(s, 0, id(v, word)), i % 2 == 0 || i == 1);
            assert_false(switches_has(s, 0, id(v, piece)));
            assert_int_equal(switches_has(s, 1, id(v, piece)), i % 2 == 0 && !one_way);
            assert_int_equal(switches_has(s, 2, id(v, word)), i == 2 && !one_way);
        }
        assert_true(switches_of(s, 0));
        assert_int_equal(switches_of(s, 1), !one_way);
        assert_non_null(strstr(noted, "aa-cc: 4 lines; left out 1 with a token that the vocabulary "
                                      "lacks, 1 of a token with itself, 1 that was there before"));
        int files;
        const struct switch_pair *p = switches_pairs(s, &files);
        assert_int_equal(files, 2);
        assert_true(p[0].lang[0] == 0 && p[0].lang[1] == 1 && p[1].lang[1] == 2);
        assert_true(p[0].hash >= 0 && p[1].hash >= 0 && p[0].hash != p[1].hash);
        switches_free(s);
    }
    vocab_free(v);
}

/* A dictionary that is put together word by word, in any order and in several languages: each word
 * is found, with the one translation that it has. */
static void words_of_a_dictionary_come_in_any_order(void **state)
{
    (void)state;
    struct switch_options o = switch_defaults;
    o.rate = "1";
    o.units = SWITCH_TOKEN;
    for (int one_way = 0; one_way < 2; one_way++) {
        struct switches *s = switches_new(3);
        struct switch_count c = { 0 };
        o.one_way = one_way;
        for (uint32_t i = 0; i < 20; i++)           /* 7 i mod 20: all of 0..19 */
            switches_add(s, &o, (int[]){ i % 2, 2 }, 10 + 7 * i % 20, 40 + i);
        switches_settle(s, &o);
        for (uint32_t i = 0; i < 20; i++) {
            uint32_t word[2] = { 10 + 7 * i % 20, 40 + i };
            int lang[2] = { i % 2, 2 };
            for (int way = 0; way < 2; way++) {
                struct switch_sentence x = { &word[way], &(bool){ false }, 1, lang[way], i, false };
                struct switched out[2];
                int n = switch_choose(s, &o, NULL, &x, (struct rng_key){ 5, RNG_SWITCH, 2 }, out,
                                      &c);
                assert_int_equal(n, !way || !one_way);
                assert_false(switches_has(s, 1 - i % 2, word[way]));
                if (n) assert_true(out[0].token == word[!way] && out[0].lang == lang[!way]);
            }
        }
        switches_free(s);
    }
}

/* Lines that are no pair; a score is a finite number of at most 63 bytes, since no double needs
 * more. */
static void lines_of_a_dictionary_are_refused(void **state)
{
    (void)state;
    struct vocab *v = some_words();
    char *path = path_join(scratch_dir, "bad"), arg[4200], text[200], want[4300];
    const char *value[] = { arg };
    struct strs dict = { .v = value, .n = 1 };
    snprintf(arg, sizeof arg, "aa-bb=%s", path);
    static const struct { const char *line; bool pair; } bad[] = {
        { "w1", false }, { "", false }, { "\tw2", false }, { "w1\t", false }, { "\t\t1", false },
        { "w1\t\t1", false }, { "w1\tw2\t", true }, { "w1\tw2\tx", true },
        { "w1\tw2\t1x", true }, { "w1\tw2\t1\t2", true }, { "w1\tw2\tinf", true },
        { "w1\tw2\tnan", true },
        { "w1\tw2\t1234567890123456789012345678901234567890123456789012345678901234", true },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int n = snprintf(text, sizeof text, "w3\tw4\n%s\n", bad[i].line);
        assert_int_equal(file_write(path, text, (size_t)n), 0);
        assert_null(switches_read(&switch_defaults, &dict, trained, 3, v, take_note));
        snprintf(want, sizeof want, "%s:2: %s", path,
                 bad[i].pair ? "the score is not a number"
                             : "expected \"source<TAB>target\"");
        assert_string_equal(err_msg(), want);
    }
    static const char good[] = "w1\tw2\t123456789012345678901234567890123456789012345678901234567"
                               "890123\r\nw1\tw3\t-1e-300\n";
    assert_int_equal(file_write(path, good, sizeof good - 1), 0);
    struct switches *s = switches_read(&switch_defaults, &dict, trained, 3, v, take_note);
    assert_non_null(s);
    switches_free(s);
    static const struct { const char *dict, *said; } lists[] = {
        { "aa-zz=bad", "--dict aa-zz=bad: language zz is not trained" },
        { "aa-aa=bad", "--dict aa-aa=bad: has one language only" },
    };
    for (int i = 0; i < 2; i++) {
        value[0] = lists[i].dict;
        assert_null(switches_read(&switch_defaults, &dict, trained, 3, v, take_note));
        assert_string_equal(err_msg(), lists[i].said);
    }
    free(path);
    vocab_free(v);
}

/* Words in even rows have a translation. */
static bool even(const void *ctx, int row) { (void)ctx; return row % 2 == 0; }
static bool any(const void *ctx, int row) { (void)ctx; return row >= 0; }

/* <s>, 20 words of which the last five are predicted, </s>: of 20 tokens, or of 15, a share from
 * 0.2 to 0.6, with every free row as likely as another. */
static void rows_are_picked_between_two_shares(void **state)
{
    (void)state;
    enum { ROWS = 22 };
    uint32_t original[ROWS];
    bool fixed[ROWS] = { false };
    for (int i = 0; i < ROWS; i++) original[i] = 10 + (uint32_t)i;
    original[0] = VOCAB_BOS;
    original[4] = VOCAB_UNK;                 /* a word like others */
    original[ROWS - 1] = VOCAB_EOS;
    for (int i = 16; i < ROWS - 1; i++) fixed[i] = true;
    for (int of_free = 0; of_free < 2; of_free++) {
        struct switch_count c = { 0 };
        int in_row[ROWS] = { 0 }, least = ROWS, most = 0, at[ROWS], tokens = of_free ? 15 : 20;
        for (uint64_t k = 0; k < SENTENCES; k++) {
            struct switch_sentence x = { original, fixed, ROWS, 0, k, of_free };
            int n = pick_rows("0.2:0.6", NULL, &x, (struct rng_key){ 5, RNG_SWITCH, 2 }, any, NULL,
                              at, &c);
            for (int i = 0; i < n; i++) {
                assert_true(at[i] >= 1 && at[i] <= 15 && (!i || at[i] > at[i - 1]));
                in_row[at[i]]++;
            }
            if (n < least) least = n;
            if (n > most) most = n;
        }
        assert_int_equal(least, tokens / 5);
        assert_int_equal(most, tokens / 5 * 3);
        assert_true(c.tokens == (uint64_t)tokens * SENTENCES && c.free == 15 * SENTENCES);
        assert_true(c.known == c.free);
        /* the mean of floor(rho t + u) is that of rho t, its deviation that of both */
        double mean = 0.4 * tokens, sd = sqrt(0.16 * tokens * tokens / 12 + 0.25);
        assert_true(fabs((double)c.switched / SENTENCES - mean) < 4 * sd / sqrt(SENTENCES));
        for (int i = 1; i <= 15; i++) {
            double p = mean / 15;
            assert_true(fabs((double)in_row[i] / SENTENCES - p)
                        < 4 * sqrt(p * (1 - p) / SENTENCES));
        }
    }
}

/* Half a token on average is one in every other sentence; as many as there are, where the share
 * asks for more; with `w` what is a word by itself where it stands. */
static void rows_are_picked_of_those_that_there_are(void **state)
{
    (void)state;
    struct vocab *v = some_words();
    struct word_starts *w = word_starts_new(v);
    const uint32_t original[] = { VOCAB_BOS, id(v, "p7@@"), id(v, "w1"), id(v, "w2"), VOCAB_UNK,
                                  id(v, "p3@@") };
    const bool fixed[6] = { false };
    struct switch_count c = { 0 };
    struct rng_key key = { 5, RNG_SWITCH, 2 };
    int at[6], one = 0;
    for (uint64_t k = 0; k < SENTENCES; k++) {
        struct switch_sentence x = { original, fixed, 6, 0, k, false };
        int n = pick_rows("0.1", NULL, &x, key, any, NULL, at, &c);
        assert_in_range(n, 0, 1);
        one += n;
    }
    assert_true(abs(one - SENTENCES / 2) < 4 * sqrt(SENTENCES) / 2);
    struct switch_sentence x = { original, fixed, 6, 0, 1, false };
    c = (struct switch_count){ 0 };
    assert_int_equal(pick_rows("1", NULL, &x, key, even, NULL, at, &c), 2);
    assert_true(at[0] == 2 && at[1] == 4);
    assert_true(c.tokens == 5 && c.free == 5 && c.known == 2 && c.switched == 2);
    /* the piece before it is w1's, the one at the end begins a word that goes on elsewhere */
    assert_int_equal(pick_rows("1", w, &x, key, any, NULL, at, &c), 3);
    assert_true(at[0] == 3 && at[1] == 4 && at[2] == 5);
    assert_true(c.tokens == 10 && c.free == 10 && c.known == 7 && c.switched == 5);
    /* a piece whose word ends in the last row is no word */
    const uint32_t short_one[] = { id(v, "w1"), id(v, "p7@@"), id(v, "w2") };
    x.original = short_one, x.n = 3;
    assert_int_equal(pick_rows("1", w, &x, key, any, NULL, at, &c), 1);
    assert_int_equal(at[0], 0);
    double low, high;
    assert_int_equal(pick_bounds("0.25", "rate", &low, &high), 0);
    assert_true(low == 0.25 && high == 0.25);
    assert_int_equal(pick_bounds("0:1", "rate", &low, &high), 0);
    assert_true(low == 0 && high == 1);
    static const char *const wrong[] = { "0.3,0.5", "0.3x", "0.3 0.5", "0.3:", "nan", "0:1:1" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(pick_bounds(wrong[i], "rate", &low, &high), -1);
    word_starts_free(w);
    vocab_free(v);
}

/* --- pairs as TLM writes them --- */

static const struct objective *named(const char *name)
{
    for (const struct objective *const *o = objectives; *o; o++)
        if (!strcmp((*o)->name, name)) return *o;
    fail_msg("no objective %s", name);
    return NULL;
}

static void tlm_is(const char *form, const int32_t pos[], const int32_t type[],
                   const int32_t lang[], int rows)
{
    const struct objective *o = named("tlm");
    uint32_t x[] = { 11, 12 }, y[] = { 21, 22, 23 }, at[2][2] = { { 0, 2 }, { 0, 3 } };
    struct pairs p = { .side = { { .sentences = 1, .tokens = 2, .at = at[0], .ids = x },
                                 { .sentences = 1, .tokens = 3, .at = at[1], .ids = y } },
                       .lang = { 0, 1 },
                       .name = "xa-xb",
                       .order_epoch = -1 };
    struct model_config c;
    struct vocab *v = some_words();
    struct masking how = masking_defaults;
    void *self = mem_zero(1, o->self);
    struct masked *b = mem_zero(1, sizeof *b);
    model_config_init(&c);
    c.token_types = 2;
    *(int *)((char *)self + o->options[0].at) = !strcmp(form, "ppa");
    struct setup s = { .c = &c,
                       .vocab = v,
                       .pairs = &p,
                       .n_pairs = 1,
                       .masking = &how,
                       .sentences = 1,
                       .longest = 50 };
    how.select = 1; how.mask = 1; how.random = 0;
    assert_int_equal(o->open(self, &s), 0);
    assert_int_equal(o->make(self, b, NULL, &(struct turn){ 0, 0, 1 }), 0);
    assert_int_equal(b->input.n, 1);
    assert_int_equal(b->input.rows, rows);
    assert_memory_equal(b->input.pos, pos, (size_t)rows * sizeof *pos);
    assert_memory_equal(b->input.type, type, (size_t)rows * sizeof *type);
    assert_memory_equal(b->input.lang, lang, (size_t)rows * sizeof *lang);
    for (int r = 0; r < rows; r++)
        assert_int_equal(b->input.drop[r], r); /* never two rows with one dropout mask */
    assert_int_equal(b->n, 5); /* specials are never predicted */
    for (int i = 0; i < 5; i++) assert_int_equal(b->input.token[b->row[i]], VOCAB_MASK);
    assert_int_equal(b->target[0], 11);
    assert_int_equal(b->target[2], 21);
    masked_free(b);
    o->close(self);
    free(b);
    free(self);
    free(p.order);
    vocab_free(v);
}

static void pairs_are_written_as_xlm_and_as_bert_write_them(void **state)
{
    (void)state;
    tlm_is("xlm", (int32_t[]){ 0, 1, 2, 3, 0, 1, 2, 3, 4 },
           (int32_t[]){ 0, 0, 0, 0, 0, 0, 0, 0, 0 }, (int32_t[]){ 0, 0, 0, 0, 1, 1, 1, 1, 1 }, 9);
    tlm_is("ppa", (int32_t[]){ 0, 1, 2, 3, 4, 5, 6, 7 }, (int32_t[]){ 0, 0, 0, 0, 1, 1, 1, 1 },
           (int32_t[]){ 0, 0, 0, 0, 1, 1, 1, 1 }, 8);
}

static void a_tossed_pair_is_the_same_pair_for_all_and_turned_half_the_time(void **state)
{
    (void)state;
    int turned = 0;
    for (uint32_t i = 0; i < 10000; i++) {
        struct pair p = { .n = { 1, 2 }, .lang = { 3, 4 }, .index = i, .epoch = 2 },
                    q = pair_toss(p, 9), r = pair_toss(p, 9);
        assert_true(q.n[0] == r.n[0]);
        assert_true(q.n[0] == 1 ? q.lang[0] == 3 && q.lang[1] == 4
                                : q.lang[0] == 4 && q.lang[1] == 3 && q.n[1] == 1);
        turned += q.n[0] == 2;
    }
    assert_true(abs(turned - 5000) < 150); /* three standard deviations */
}

/* --- epochs --- */

/* Sentences of these lengths, all of one token. */
static struct shard_block block(const int *length, uint32_t n)
{
    struct shard_block b = { .sentences = n };
    b.at = mem_zero((size_t)n + 1, sizeof *b.at);
    for (uint32_t s = 0; s < n; s++) b.at[s + 1] = b.at[s] + (uint32_t)length[s];
    b.tokens = b.at[n];
    b.ids = mem_zero((size_t)b.tokens + 1, sizeof *b.ids);
    return b;
}

/* Batches of a pass over a setup's text or pairs; form: TLM's option. */
static double epoch(const char *name, struct setup s, const char *form)
{
    const struct objective *o = named(name);
    struct vocab *v = some_words();
    struct masking how = masking_defaults;
    void *self = mem_zero(1, o->self);
    s.vocab = v;
    s.masking = &how;
    if (form) *(int *)((char *)self + o->options[0].at) = !strcmp(form, "ppa");
    if (o->open(self, &s) < 0) fail_msg("%s", err_msg());
    double batches = o->epoch(self);
    o->close(self);
    free(self);
    vocab_free(v);
    return batches;
}

static void epochs_are_of_what_is_learnt_from(void **state)
{
    (void)state;
    /* of 1 to 4 tokens: three sentences, 9 tokens */
    static const int length[] = { 3, 0, 5, 2, 4 };
    struct model_config c;
    model_config_init(&c);
    c.positions = 50;
    struct corpus text = { .all = block(length, 5), .order_epoch = -1 };
    struct corpora all = { .c = &text, .n = 1 };
    struct setup s = { .c = &c, .text = &all, .tokens = 10, .longest = 4 };
    assert_true(epoch("mlm", s, NULL) == (9 + 2 * 3) / 10.);
    s.documents = true;
    assert_true(epoch("mlm", s, NULL) == (9 + 3 * 3) / 10.);
    s.documents = false, s.stream = true;
    assert_true(epoch("mlm", s, NULL) == 9 / 10.);
    s.stream = false, s.sentences = 4;
    assert_true(epoch("mlm", s, NULL) == 3 / 4.);
    corpus_free(&text);
    /* pairs of 5 and 4 tokens, and one more where 9 are not too long; one has an empty side */
    static const int one[] = { 2, 3, 1, 4 }, two[] = { 3, 1, 0, 9 };
    struct pairs p = { .side = { block(one, 4), block(two, 4) }, .name = "xa-xb" };
    s = (struct setup){ .c = &c, .pairs = &p, .n_pairs = 1, .tokens = 10, .longest = 5 };
    assert_true(epoch("tlm", s, "xlm") == (9 + 2 * 4) / 10.);
    assert_true(epoch("tlm", s, "ppa") == (9 + 2 * 3) / 10.);
    s.longest = 9;
    assert_true(epoch("tlm", s, "xlm") == (22 + 3 * 4) / 10.);
    /* one run of positions over both sides, or one for each */
    c.positions = 8;
    assert_true(epoch("tlm", s, "ppa") == (9 + 2 * 3) / 10.);
    assert_true(epoch("tlm", s, "xlm") == (9 + 2 * 4) / 10.);
    c.positions = 7;
    assert_true(epoch("tlm", s, "ppa") == (4 + 3) / 10.);
    c.positions = 5;
    assert_true(epoch("tlm", s, "ppa") == 0);
    assert_true(epoch("tlm", s, "xlm") == (9 + 2 * 4) / 10.);
    c.positions = 4;
    assert_true(epoch("tlm", s, "xlm") == 0);
    s.sentences = 4, c.positions = 50;
    assert_true(epoch("tlm", s, "xlm") == 3 / 4.);
    /* joined pairs have their specials in place */
    s.sentences = 0, s.segment = 3;
    assert_true(epoch("tlm", s, "xlm") == 9 / 10.);
    pairs_free(&p);
}

/* --- mixes --- */

static void a_ratio_draws_one_objective_a_step(void **state)
{
    (void)state;
    struct mix x;
    bool part[MIX_MOST];
    int steps[2] = { 0 };
    mix_init(&x, objectives, OBJECTIVE_PRETRAIN);
    assert_int_equal(mix_choose(&x, "mlm,tlm", "mlm:4,tlm:1", "--objective", "mlm,tlm"), 0);
    for (int64_t step = 0; step < 50000; step++) {
        mix_turn(&x, step, 7, part);
        assert_int_equal(part[0] + part[1], 1);
        steps[1] += part[1];
    }
    assert_true(abs(steps[1] - 10000) < 3 * sqrt(50000 * 0.2 * 0.8));
    mix_free(&x);
}

static void an_auxiliary_objective_alone_brings_its_host_without_the_hosts_loss(void **state)
{
    (void)state;
    struct mix x;
    mix_init(&x, objectives, OBJECTIVE_PRETRAIN);
    *(const char **)((char *)mix_self(&x, "gc") + named("gc")->options[0].at) = "counts";
    assert_int_equal(mix_choose(&x, "gc", NULL, "--objective", "gc"), 0);
    assert_int_equal(x.n, 2);
    assert_string_equal(x.m[0].o->name, "mlm");
    assert_true(x.m[0].silent);
    assert_string_equal(x.m[1].o->name, "gc");
    assert_int_equal(x.m[1].host, 0);
    mix_free(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_words_up_to_a_budget),
        cmocka_unit_test(a_budget_rounds_halves_to_even),
        cmocka_unit_test(a_word_that_ends_in_an_unknown_piece_is_whole),
        cmocka_unit_test(ngrams_are_one_to_three_whole_words),
        cmocka_unit_test(ngrams_have_lengths_by_one_over_n),
        cmocka_unit_test(spans_fill_the_budget_exactly),
        cmocka_unit_test(units_have_at_most_as_many_words),
        cmocka_unit_test(what_is_masked_does_not_depend_on_its_company),
        cmocka_unit_test(unknown_words_are_predicted_or_not),
        cmocka_unit_test(a_span_never_takes_an_unknown_piece_that_is_not_predicted),
        cmocka_unit_test(units_of_pmi_are_ngrams_of_the_list_and_words),
        cmocka_unit_test(lists_of_ngrams_are_read_or_refused),
        cmocka_unit_test(what_is_not_said_is_as_the_papers_have_it),
        cmocka_unit_test(marks_of_all_vocabularies_tell_where_words_begin),
        cmocka_unit_test(marks_alone_are_words),
        cmocka_unit_test(translations_are_drawn_by_language_and_by_score),
        cmocka_unit_test(a_dictionary_has_its_tokens_in_either_language),
        cmocka_unit_test(words_of_a_dictionary_come_in_any_order),
        cmocka_unit_test(lines_of_a_dictionary_are_refused),
        cmocka_unit_test(rows_are_picked_between_two_shares),
        cmocka_unit_test(rows_are_picked_of_those_that_there_are),
        cmocka_unit_test(pairs_are_written_as_xlm_and_as_bert_write_them),
        cmocka_unit_test(a_tossed_pair_is_the_same_pair_for_all_and_turned_half_the_time),
        cmocka_unit_test(epochs_are_of_what_is_learnt_from),
        cmocka_unit_test(a_ratio_draws_one_objective_a_step),
        cmocka_unit_test(an_auxiliary_objective_alone_brings_its_host_without_the_hosts_loss),
    };
    if (scratch_enter() < 0) return 1;
    int status = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_leave();
    return status;
}
