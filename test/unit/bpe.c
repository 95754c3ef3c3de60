/* lib/bpe against a slow reading of the definitions: merging by looking for the earliest operation
 * again and again, learning by counting all pairs again after each merge. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/mem.h"
#include "common/thread.h"
#include "common/utf8.h"
#include "lib/bpe/apply.h"
#include "lib/bpe/cache.h"
#include "lib/bpe/learn.h"
#include "lib/bpe/scan.h"
#include "lib/bpe/segment.h"
#include "test/unit/scratch.h"

static struct rng rng = { { 3, RNG_TEST, 0 }, 0, 0 };

/* --- the slow way --- */

struct slow { char sym[2000][40]; int n; };

/* Characters here are one byte. */
static void slow_split(struct slow *w, const char *word, int version)
{
    w->n = 0;
    for (; *word; word++)
        sprintf(w->sym[w->n++], "%c%s", *word, version == 2 && !word[1] ? "</w>" : "");
    if (version == 1) strcpy(w->sym[w->n++], "</w>");
}

static bool slow_is(const struct slow *w, int i, const char *left, const char *right)
{
    return i + 1 < w->n && !strncmp(w->sym[i], left, sizeof w->sym[i])
           && !strncmp(w->sym[i + 1], right, sizeof w->sym[i]);
}

static void slow_merge(struct slow *w, const char *left, const char *right)
{
    for (int i = 0; i < w->n; i++) {
        if (!slow_is(w, i, left, right)) continue;
        strcat(w->sym[i], w->sym[i + 1]);
        memmove(w->sym + i + 1, w->sym + i + 2, (size_t)(w->n - i - 2) * sizeof *w->sym);
        w->n--;
    }
}

static void op(const struct codes *c, size_t r, char *left, char *right)
{
    sprintf(left, "%.*s", (int)c->v[r].left, c->bytes + c->v[r].at);
    sprintf(right, "%.*s", (int)c->v[r].right, c->bytes + c->v[r].at + c->v[r].left);
}

static void slow_apply(struct slow *w, const struct codes *c)
{
    char left[64], right[64];
    for (bool found = true; found; ) {
        found = false;
        for (size_t r = 0; r < c->n && !found; r++) {
            op(c, r, left, right);
            for (int i = 0; i < w->n && !found; i++) found = slow_is(w, i, left, right);
            if (found) slow_merge(w, left, right);
        }
    }
}

static void random_word(char *s, int most)
{
    int n = 1 + (int)rng_next_below(&rng, (uint64_t)most),
        letters = 1 + (int)rng_next_below(&rng, 4);
    for (int i = 0; i < n; i++) s[i] = "abcd"[rng_next_below(&rng, (uint64_t)letters)];
    s[n] = 0;
}

/* Words that are freed while they are learned from. */
struct learned { struct word_counts *counts; struct counted_word *words; };

static void forget(void *ctx)
{
    struct learned *from = ctx;
    free(from->words);
    word_counts_free(from->counts);
    *from = (struct learned){ 0 };
}

static struct codes learn_from(char words[][40], int n, size_t merges, uint64_t min_frequency)
{
    struct word_counts *w = word_counts_new(1);
    for (int i = 0; i < n; i++) word_counts_add(w, words[i], strlen(words[i]), 1 + (uint64_t)i % 5);
    size_t k;
    struct learned from = { w, word_counts_list(w, &k) };
    struct codes c;
    codes_init(&c, CODES_FASTBPE);
    struct learn_options o = { .merges = merges, .min_frequency = min_frequency,
                               .copied = forget, .ctx = &from };
    assert_int_equal(bpe_learn(from.words, k, &o, &c), 0);
    assert_null(from.words);
    return c;
}

/* --- learning --- */

static void merges_are_learned_in_the_order_of_counting_all_pairs_anew(void **state)
{
    (void)state;
    static char words[60][40];
    static struct slow w[60];
    for (int round = 0; round < 60; round++) {
        int n = 2 + (int)rng_next_below(&rng, 58);
        for (int i = 0; i < n; i++) { random_word(words[i], 14); slow_split(&w[i], words[i], 2); }
        struct codes c = learn_from(words, n, 200, 2);
        size_t r = 0;
        for (;; r++) {
            static struct { char left[40], right[40]; uint64_t count; } pair[4000];
            int pairs = 0, best = -1;
            for (int i = 0; i < n; i++)
                for (int k = 0; k + 1 < w[i].n; k++) {
                    int p = 0;
                    while (p < pairs
                           && (strcmp(pair[p].left, w[i].sym[k])
                               || strcmp(pair[p].right, w[i].sym[k + 1])))
                        p++;
                    if (p == pairs) {
                        strcpy(pair[p].left, w[i].sym[k]);
                        strcpy(pair[p].right, w[i].sym[k + 1]);
                        pair[pairs++].count = 0;
                    }
                    pair[p].count += 1 + (uint64_t)i % 5;
                }
            for (int p = 0; p < pairs; p++) {
                int by = best < 0 || pair[p].count > pair[best].count ? 1
                         : pair[p].count < pair[best].count           ? -1
                                                            : strcmp(pair[p].left, pair[best].left);
                if (by == 0) by = strcmp(pair[p].right, pair[best].right);
                if (by > 0) best = p;
            }
            if (best < 0 || pair[best].count < 2) break;
            char left[64], right[64];
            assert_true(r < c.n);
            op(&c, r, left, right);
            assert_string_equal(left, pair[best].left);
            assert_string_equal(right, pair[best].right);
            assert_int_equal(c.v[r].count, pair[best].count);
            for (int i = 0; i < n; i++) slow_merge(&w[i], left, right);
        }
        assert_int_equal(r, c.n);
        codes_free(&c);
    }
}

/* Words of two letters, no two of the same count: each is a merge, in the order of the counts,
 * however many pairs share a letter and a place in the table of pairs. */
static void pairs_that_share_letters_have_counts_of_their_own(void **state)
{
    (void)state;
    enum { SIDE = 300, PAIRS = 20000, PRIME = 20011 };
    struct word_counts *w = word_counts_new(1);
    static int of[PRIME + 1];
    memset(of, -1, sizeof of);
    for (int i = 0; i < PAIRS; i++) {
        char word[8];
        int n = utf8_put(0x4E00 + (uint32_t)(i / SIDE), word);
        n += utf8_put(0x4E00 + (uint32_t)(i % SIDE), word + n);
        int count = 1 + (int)((uint64_t)i * 7919 % PRIME);
        of[count] = i;
        word_counts_add(w, word, (size_t)n, (uint64_t)count);
    }
    size_t k, r = 0;
    struct learned from = { w, word_counts_list(w, &k) };
    assert_int_equal(k, PAIRS);
    struct codes c;
    codes_init(&c, CODES_FASTBPE);
    struct learn_options o = { .merges = PAIRS, .min_frequency = 1, .copied = forget,
                               .ctx = &from };
    assert_int_equal(bpe_learn(from.words, k, &o, &c), 0);
    assert_int_equal(c.n, PAIRS);
    for (int count = PRIME; count > 0; count--) {
        if (of[count] < 0) continue;
        char left[64], right[64], want[2][12] = { "", "" };
        op(&c, r, left, right);
        utf8_put(0x4E00 + (uint32_t)(of[count] / SIDE), want[0]);
        strcpy(want[1] + utf8_put(0x4E00 + (uint32_t)(of[count] % SIDE), want[1]), "</w>");
        assert_string_equal(left, want[0]);
        assert_string_equal(right, want[1]);
        assert_int_equal(c.v[r++].count, count);
    }
    codes_free(&c);
}

static void text_that_spells_the_end_of_word_mark_makes_no_string_twice(void **state)
{
    (void)state;
    char words[6][40] = { "b</w>", "ab", "b</w>c", "cb", "</w>", "b" };
    struct codes c = learn_from(words, 6, 100, 1);
    for (size_t i = 0; i < c.n; i++)
        for (size_t k = 0; k < i; k++)
            assert_false(
                c.v[i].left + c.v[i].right == c.v[k].left + c.v[k].right
                && !memcmp(c.bytes + c.v[i].at, c.bytes + c.v[k].at, c.v[i].left + c.v[i].right));
    codes_free(&c);
}

static void weights_follow_xlms_formula(void **state)
{
    (void)state;
    uint64_t sentences[3] = { 900, 100, 0 }, w[3];
    bpe_weights(sentences, 3, 0.5, 16, w);
    /* q = sqrt(.9), sqrt(.1) over their sum = .75, .25; over p = .8333, 2.5 */
    assert_int_equal(w[0], (uint64_t)(0.75 / 0.9 * 65536 + 0.5));
    assert_int_equal(w[1], (uint64_t)(2.5 * 65536 + 0.5));
    bpe_weights(sentences, 2, 1, 16, w);
    assert_int_equal(w[0], 65536);
    assert_int_equal(w[1], 65536);
}

static void no_words_and_no_frequent_pair_are_told_apart(void **state)
{
    (void)state;
    struct codes c;
    codes_init(&c, CODES_FASTBPE);
    struct learn_options o = { .merges = 10, .min_frequency = 2 };
    assert_int_equal(bpe_learn(NULL, 0, &o, &c), -1);
    struct counted_word one = { "abc", 3, 1 };
    assert_int_equal(bpe_learn(&one, 1, &o, &c), 0);
    assert_int_equal(c.n, 0);
    codes_free(&c);
}

/* --- applying --- */

static void check_word(const struct bpe *b, struct bpe_scratch *s, const struct codes *c,
                       const char *word)
{
    static struct slow w;
    const struct bpe_piece *piece;
    size_t k = bpe_word(b, s, word, strlen(word), NULL, &piece);
    slow_split(&w, word, c->version);
    slow_apply(&w, c);
    if (c->version == 1 && !strcmp(w.sym[w.n - 1], "</w>")) w.n--;
    char got[4096] = "", want[4096] = "", *g = got, *t = want;
    for (size_t i = 0; i < k; i++)
        g += sprintf(g, "%.*s ", (int)(piece[i].to - piece[i].from), word + piece[i].from);
    for (int i = 0; i < w.n; i++) {
        char *end = strstr(w.sym[i], "</w>");
        t += sprintf(t, "%.*s ", end ? (int)(end - w.sym[i]) : 40, w.sym[i]);
    }
    assert_string_equal(got, want);
}

static void words_are_split_as_by_looking_for_the_earliest_operation(void **state)
{
    (void)state;
    static char words[60][40];
    char word[1200];
    for (int round = 0; round < 40; round++) {
        for (int i = 0; i < 60; i++) random_word(words[i], 10);
        struct codes c = learn_from(words, 60, 60, 1);
        if (round % 2) /* any order is an order: not only one that was learned */
            for (size_t i = c.n; i > 1; i--) {
                size_t k = rng_next_below(&rng, i);
                struct code t = c.v[i - 1]; c.v[i - 1] = c.v[k]; c.v[k] = t;
            }
        c.version = round % 3 ? 2 : 1;
        struct bpe *b = bpe_new(&c, "@@");
        struct bpe_scratch *s = bpe_scratch_new();
        for (int i = 0; i < 200; i++) { random_word(word, 20); check_word(b, s, &c, word); }
        for (int i = 0; i < 3; i++) {
            random_word(word, 300);
            check_word(b, s, &c, word);
        } /* past the plain scan */
        /* and where it ends: at 80 characters */
        for (int n = 77; n < 84; n++) {
            for (int i = 0; i < n; i++) word[i] = "abcd"[rng_next_below(&rng, 1 + (uint64_t)n % 4)];
            word[n] = 0;
            check_word(b, s, &c, word);
        }
        bpe_scratch_free(s);
        bpe_free(b);
        codes_free(&c);
    }
}

static void a_very_long_word_takes_no_quadratic_time(void **state)
{
    (void)state;
    struct codes c;
    const char text[] = "a a 9\naa aa 8\nb a 7\naaaa aaaa 6\n";
    assert_int_equal(codes_parse(&c, "c", text, sizeof text - 1, 0), 0);
    struct bpe *b = bpe_new(&c, "@@");
    struct bpe_scratch *s = bpe_scratch_new();
    size_t n = 2000000;
    char *word = mem_alloc(n);
    memset(word, 'a', n);
    const struct bpe_piece *piece;
    size_t k = bpe_word(b, s, word, n, NULL, &piece);
    assert_int_equal(piece[k - 1].to, n);
    for (size_t i = 0; i + 1 < k; i++) assert_int_equal(piece[i].to, piece[i + 1].from);
    assert_true(k <= n / 8 + 8);
    free(word);
    bpe_scratch_free(s);
    bpe_free(b);
    codes_free(&c);
}

static void dropout_passes_over_the_share_it_is_given(void **state)
{
    (void)state;
    struct codes c;
    assert_int_equal(codes_parse(&c, "c", "a b</w> 9\n", 10, 0), 0);
    struct bpe *b = bpe_new(&c, "@@");
    struct bpe_scratch *s = bpe_scratch_new();
    char *word = mem_alloc(3000);
    for (int long_word = 0; long_word < 2; long_word++) {
        /* the one merge is at the end; with one candidate a word stays split with probability p */
        size_t n = long_word ? 1000 : 2, split = 0;
        memset(word, 'x', n);
        memcpy(word + n - 2, "ab", 2);
        const struct bpe_piece *piece;
        for (uint64_t i = 0; i < 4000; i++) {
            struct bpe_dropout d = { 0.3, { 5, RNG_BPE, 0 }, i, 0 };
            split += bpe_word(b, s, word, n, &d, &piece) == n;
        }
        assert_in_range(split, 1050, 1350);
        struct bpe_dropout none = { 0, { 5, RNG_BPE, 0 }, 0, 0 },
                           all = { 1, { 5, RNG_BPE, 0 }, 0, 0 };
        assert_int_equal(bpe_word(b, s, word, n, &none, &piece), n - 1);
        assert_int_equal(bpe_word(b, s, word, n, &all, &piece), n);
    }
    free(word);
    bpe_scratch_free(s);
    bpe_free(b);
    codes_free(&c);
}

static void a_limited_vocabulary_takes_pieces_apart_until_they_are_in_it(void **state)
{
    (void)state;
    struct codes c;
    const char text[] = "a b 9\nab c</w> 8\nc d 7\nab cd 6\nabcd e</w> 5\n";
    assert_int_equal(codes_parse(&c, "c", text, sizeof text - 1, 0), 0);
    /* in any order */
    file_write("v", "cd@@ 1\nabc 5\nab@@ 2\nabcde 1\n", 28);
    struct bpe *b = bpe_new(&c, "@@");
    struct bpe_scratch *s = bpe_scratch_new();
    const struct bpe_piece *p;
    assert_int_equal(bpe_word(b, s, "abcde", 5, NULL, &p), 1);
    assert_int_equal(bpe_limit(b, "v", 2), 0);
    assert_int_equal(bpe_word(b, s, "abc", 3, NULL, &p), 1);
    /* ab c d e: abcde, abcd@@ and cd@@ are not in it */
    assert_int_equal(bpe_word(b, s, "abcde", 5, NULL, &p), 4);
    assert_int_equal(p[0].to, 2);
    assert_int_equal(p[1].to, 3);
    bpe_scratch_free(s);
    bpe_free(b);
    codes_free(&c);
}

/* The first symbol of the codes, too, is looked for in the list: what subword-nmt 0.3.8 prints. */
static void the_first_symbol_may_be_in_a_limited_vocabulary(void **state)
{
    (void)state;
    struct codes c;
    const char text[] = "ab c 9\na b 8\n";
    assert_int_equal(codes_parse(&c, "c", text, sizeof text - 1, 0), 0);
    file_write("v", "ab@@ 2\nd 5\n", 11);
    struct bpe *b = bpe_new(&c, "@@");
    struct bpe_scratch *s = bpe_scratch_new();
    const struct bpe_piece *p;
    assert_int_equal(bpe_limit(b, "v", 2), 0);
    /* ab@@ d */
    assert_int_equal(bpe_word(b, s, "abd", 3, NULL, &p), 2);
    assert_int_equal(p[0].to, 2);
    bpe_scratch_free(s);
    bpe_free(b);
    codes_free(&c);
}

/* Version 0.1 looks for how "ab" and "</w>" were joined, though the end is still apart: what
 * subword-nmt 0.3.8 prints. */
static void a_last_piece_of_version_1_is_taken_apart_by_what_ends_words(void **state)
{
    (void)state;
    static const struct { const char *vocab, *pieces[4]; } t[] = {
        { "a@@ 5\nb 5\n", { "a@@ b", "b", "a@@ b@@ a@@ b", "c@@ a@@ b" } },
        { "ab 5\n", { "ab", "b", "a@@ b@@ ab", "c@@ ab" } },
        { "ab@@ 5\n", { "a@@ b@@ ", "b", "ab@@ a@@ b@@ ", "c@@ a@@ b@@ " } },
    };
    static const char *const word[4] = { "ab", "b", "abab", "cab" };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct codes c;
        const char text[] = "#version: 0.1\na b\nb </w>\na b</w>\n";
        assert_int_equal(codes_parse(&c, "c", text, sizeof text - 1, 0), 0);
        assert_int_equal(c.version, 1);
        file_write("v", t[i].vocab, strlen(t[i].vocab));
        struct bpe *b = bpe_new(&c, "@@");
        struct bpe_scratch *s = bpe_scratch_new();
        assert_int_equal(bpe_limit(b, "v", 1), 0);
        for (int w = 0; w < 4; w++) {
            const struct bpe_piece *p;
            char got[64] = "";
            size_t n = bpe_word(b, s, word[w], strlen(word[w]), NULL, &p), at = 0;
            for (size_t k = 0; k < n; k++)
                at += (size_t)snprintf(got + at, sizeof got - at, "%.*s%s",
                                       (int)(p[k].to - p[k].from), word[w] + p[k].from,
                                       k + 1 < n ? "@@ " : "");
            assert_string_equal(got, t[i].pieces[w]);
        }
        bpe_scratch_free(s);
        bpe_free(b);
        codes_free(&c);
    }
}

/* --- codes --- */

static void bad_codes_are_refused_with_their_line(void **state)
{
    (void)state;
    static const struct { const char *text, *message; } t[] = {
        { "", "c: holds no merge operation" },
        { "#version: 0.2\n", "c: holds no merge operation" },
        { "#version: 0.3\na b\n", "c:1: \"#version: 0.3\": expected version 0.1 or 0.2" },
        { "a b 3\nc d\n", "c:2: 2 fields, expected 3" },
        { "a b\nc d 3\n", "c:2: 3 fields, expected 2" },
        { "#version: 0.2\na b 3\n", "c:2: 3 fields, expected 2" },
        { "a\n", "c:1: 1 fields, expected 2" },
        { "a b 3\n\na c 2\n", "c:2: 0 fields" },
        { "a b x\n", "c:1: \"x\" is not a count" },
        { "a b 18446744073709551616\n", "is not a count" },
        { "a b 3\na \xFF 2\n", "c:2: byte 3 is not UTF-8" },
        { "a b 1:\n", "c:1: \"1:\" is not a count" },
        { "a b 1/\n", "c:1: \"1/\" is not a count" },
        { "a b -1\n", "c:1: \"-1\" is not a count" },
        { "\na b\n", "c:1: 0 fields, expected 2" },
        { "\n", "c: holds no merge operation" },
        { "#version:\na b\n", "c:1: \"#version:\": expected version" },
        { "#version: 0.20\na b\n", "expected version 0.1 or 0.2" },
        { "#version: 0.0\na b\n", "expected version 0.1 or 0.2" },
        { "#version: 1.2\na b\n", "expected version 0.1 or 0.2" },
        { "#version: 0.2.1\na b\n", "expected version 0.1 or 0.2" },
        { "#version: 0.2 a\na b\n", "expected version 0.1 or 0.2" },
        /* only the first line says it */
        { "a b\n#version: 0.2 a\n", "c:2: 3 fields, expected 2" },
    };
    struct codes c;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        assert_int_equal(codes_parse(&c, "c", t[i].text, strlen(t[i].text), 0), -1);
        if (!strstr(err_msg(), t[i].message))
            fail_msg("\"%s\" instead of \"%s\"", err_msg(), t[i].message);
    }
    assert_int_equal(codes_parse(&c, "c", "#version: 0.2.0\r\na b\r\nc d", 25, 1), 0);
    assert_int_equal(c.version, 2);
    assert_int_equal(c.n, 1);
    codes_free(&c);
    assert_int_equal(codes_parse(&c, "c", "a b\n\0 c\n", 8, 0), -1);
    assert_non_null(strstr(err_msg(), "c:2: a NUL byte"));
    assert_int_equal(codes_parse(&c, "c", "a b\n\1 c\n", 8, 0), 0);
    codes_free(&c);
    /* both parts of a symbol count, up to 65,535 bytes */
    char *line = mem_alloc(65537);
    memset(line, 'x', 65536);
    line[40000] = ' ';
    assert_int_equal(codes_parse(&c, "c", line, 65536, 0), 0);
    codes_free(&c);
    line[65536] = 'x';
    assert_int_equal(codes_parse(&c, "c", line, 65537, 0), -1);
    assert_non_null(strstr(err_msg(), "c:1: a symbol of 65536 bytes"));
    free(line);
    static const char counted[] = "a b 3\nb c 10\nc d 18446744073709551615\n";
    assert_int_equal(codes_parse(&c, "c", counted, sizeof counted - 1, 0), 0);
    assert_true(c.n == 3 && c.v[0].count == 3 && c.v[1].count == 10);
    assert_true(c.v[2].count == UINT64_MAX && c.format == CODES_FASTBPE && c.version == 2);
    codes_free(&c);
    /* what --merges leaves out is checked */
    assert_int_equal(codes_parse(&c, "c", "a b\nc d\ne\n", 10, 1), -1);
    assert_non_null(strstr(err_msg(), "c:3: 1 fields"));
    static const char ends[] = "a b \r\r \r\nc d\r "; /* lines end before any mixture of these */
    assert_int_equal(codes_parse(&c, "c", ends, sizeof ends - 1, 0), 0);
    assert_int_equal(c.n, 2);
    assert_int_equal(c.bytes_n, 4);
    assert_memory_equal(c.bytes, "abcd", 4);
    codes_free(&c);
}

static void is_written(struct codes *c, enum codes_format format, const char *want)
{
    FILE *f = fopen("written", "w");
    codes_write(c, format, f);
    fclose(f);
    size_t n;
    char *got = file_read("written", &n);
    assert_string_equal(got, want);
    struct codes back;
    if (codes_parse(&back, "written", got, n, 0) < 0) fail_msg("%s", err_msg());
    assert_int_equal(back.n, c->n);
    assert_int_equal(back.bytes_n, c->bytes_n);
    assert_memory_equal(back.bytes, c->bytes, c->bytes_n);
    assert_int_equal(back.version, c->version);
    assert_int_equal(back.format, format);
    codes_free(&back);
    free(got);
}

/* a byte order mark */
#define MARK "\xEF\xBB\xBF"

/* In either format, as its own program reads it; a merge that looks like the version line begins
 * with a space where it would stand first. */
static void codes_are_written_as_they_are_read(void **state)
{
    (void)state;
    struct codes c;
    assert_int_equal(codes_parse(&c, "c", "a b 3\nab c</w> 0\n", 17, 0), 0);
    is_written(&c, CODES_FASTBPE, "a b 3\nab c</w> 0\n");
    is_written(&c, CODES_SUBWORD_NMT, "#version: 0.2\na b\nab c</w>\n");
    codes_free(&c);
    assert_int_equal(codes_parse(&c, "c", "a b\nb </w>\n", 11, 0), 0);
    assert_int_equal(c.version, 1);
    is_written(&c, CODES_SUBWORD_NMT, "a b\nb </w>\n");
    codes_free(&c);
    static const struct { const char *left, *fast; } t[] = {
        { "#version:", " #version: a 7\n#version: b 7\n" },
        { "#version:x", " #version:x a 7\n#version:x b 7\n" },
        { "#version", "#version a 7\n#version b 7\n" },
        { "#Version:", "#Version: a 7\n#Version: b 7\n" },
        { MARK "#version:", " " MARK "#version: a 7\n" MARK "#version: b 7\n" },
        { MARK "#version", MARK "#version a 7\n" MARK "#version b 7\n" },
        { MARK, MARK " a 7\n" MARK " b 7\n" },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        codes_init(&c, CODES_FASTBPE);
        codes_add(&c, t[i].left, strlen(t[i].left), "a", 1, 7);
        codes_add(&c, t[i].left, strlen(t[i].left), "b", 1, 7);
        is_written(&c, CODES_FASTBPE, t[i].fast);
        char want[64];
        snprintf(want, sizeof want, "#version: 0.2\n%s a\n%s b\n", t[i].left, t[i].left);
        is_written(&c, CODES_SUBWORD_NMT, want);
        codes_free(&c);
    }
}

/* Lines of "word count", as written or, for learning, without carriage returns and spaces around
 * the word and the line. NULL: refused; "": passed over. */
static void counts_are_read_line_by_line(void **state)
{
    (void)state;
    static const struct { const char *line; size_t n; const char *word, *stripped; uint64_t count;
    } t[] = {
        { "a 0", 3, "a", "a", 0 },
        { "a 18446744073709551615", 22, "a", "a", UINT64_MAX },
        { "a 18446744073709551616", 22, NULL, NULL, 0 },
        { "a 99999999999999999999", 22, NULL, NULL, 0 },
        { "a 05", 4, "a", "a", 5 },
        { "a\tb 7", 5, "a\tb", "a\tb", 7 },
        { "a 1:", 4, NULL, NULL, 0 },
        { "a 1/", 4, NULL, NULL, 0 },
        { "a -1", 4, NULL, NULL, 0 },
        { "a +1", 4, NULL, NULL, 0 },
        { "a b 5", 5, NULL, NULL, 0 },
        { "a\0b 5", 5, NULL, NULL, 0 },
        { "5", 1, NULL, NULL, 0 },
        { "", 0, NULL, NULL, 0 },
        { " 5", 2, NULL, NULL, 0 },
        { "a  5", 4, NULL, "a", 5 },
        { "a 5 ", 4, NULL, "a", 5 },
        { "a 5\r", 4, NULL, "a", 5 },
        { "\ra\r 5 \r", 7, NULL, "a", 5 },
        { "\ra 5", 4, "\ra", "a", 5 },
        { "a\r 5", 4, "a\r", "a", 5 },
        { "\r 5", 3, "\r", "", 5 },
        { "\r\r 5", 4, "\r\r", "", 5 },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        for (int strip = 0; strip < 2; strip++) {
            const char *want = strip ? t[i].stripped : t[i].word;
            char line[64];
            memcpy(line, t[i].line, t[i].n);
            line[t[i].n] = '\n';
            file_write("counts", line, t[i].n + 1);
            struct word_counts *w = word_counts_new(1);
            struct text *in = text_open("counts", TEXT_UTF8);
            int rc = words_read_counts(w, in, strip ? WORDS_STRIP_CR : 0);
            text_close(in);
            size_t n;
            struct counted_word *v = word_counts_list(w, &n);
            if (rc != (want ? 0 : -1) || n != (want && *want))
                fail_msg("\"%s\" (%d): %d, %zu words", t[i].line, strip, rc, n);
            if (!want) assert_string_equal(err_msg(), "counts:1: expected \"word count\"");
            if (n) {
                assert_int_equal(v[0].n, strlen(want));
                assert_memory_equal(v[0].s, want, v[0].n);
                assert_true(v[0].count == t[i].count);
            }
            free(v);
            word_counts_free(w);
        }
}

/* --- counting, cache, glossaries --- */

static void counts_do_not_depend_on_threads(void **state)
{
    (void)state;
    FILE *f = fopen("text", "w");
    static bool seen[20000];
    uint64_t zeros = 0;
    size_t different = 0;
    for (int i = 0; i < 300000; i++) {
        uint64_t w = rng_next_below(&rng, 1 + rng_next_below(&rng, 20000));
        zeros += w == 0;
        different += !seen[w];
        seen[w] = true;
        fprintf(f, "w%llu%c", (unsigned long long)w, i % 11 ? ' ' : '\n');
    }
    fclose(f);
    struct counted_word *v[2];
    size_t n[2];
    struct word_counts *w[2];
    for (int t = 0; t < 2; t++) {
        par_threads_set(t ? 3 : 1);
        w[t] = word_counts_new(t ? 3 : 1);
        struct text *in = text_open("text", TEXT_RAW);
        assert_int_equal(word_counts_read(w[t], in, 0), 0);
        text_close(in);
        v[t] = word_counts_list(w[t], &n[t]);
        word_counts_sort(v[t], n[t]);
    }
    par_threads_set(1);
    assert_int_equal(n[0], different);
    assert_int_equal(n[1], different);
    for (size_t i = 0; i < n[0]; i++) {
        assert_int_equal(v[0][i].count, v[1][i].count);
        assert_int_equal(v[0][i].n, v[1][i].n);
        assert_memory_equal(v[0][i].s, v[1][i].s, v[0][i].n);
    }
    size_t at = 0;
    while (at < n[0] && !(v[0][at].n == 2 && !memcmp(v[0][at].s, "w0", 2))) at++;
    assert_true(at < n[0]);
    assert_int_equal(v[0][at].count, zeros);
    for (int t = 0; t < 2; t++) { free(v[t]); word_counts_free(w[t]); }
}

/* Equal counts stand together: learning is fast only then. */
static void words_are_listed_by_their_counts(void **state)
{
    (void)state;
    struct word_counts *w = word_counts_new(1);
    char s[16];
    for (int i = 0; i < 3000; i++) {
        uint64_t count = 1 + rng_next_below(&rng, 600);
        if (i % 10 == 0) count = UINT64_MAX >> rng_next_below(&rng, 60);
        word_counts_add(w, s, (size_t)sprintf(s, "word%d", i), count);
    }
    size_t n;
    struct counted_word *v = word_counts_list(w, &n);
    assert_int_equal(n, 3000);
    for (size_t i = 1; i < n; i++) {
        assert_true(v[i - 1].count >= v[i].count - v[i].count / 256);
        if (v[i].count < 512) assert_true(v[i - 1].count >= v[i].count);
    }
    free(v);
    word_counts_free(w);
}

static void a_full_cache_forgets_nothing_it_has(void **state)
{
    (void)state;
    struct cache *c = cache_new(1 << 16, 1);
    char word[32], result[64];
    int kept = 0;
    for (int i = 0; i < 20000; i++) {
        int n = sprintf(word, "word%d", i), k = sprintf(result, "result of %d", i);
        cache_put(c, 0, word_hash(word, (size_t)n), key16_of(word, (size_t)n), word, (size_t)n,
                  result, (size_t)k);
    }
    for (int i = 0; i < 20000; i++) {
        int n = sprintf(word, "word%d", i), k = sprintf(result, "result of %d", i);
        const struct cached *e = cache_get(
            c, word_hash(word, (size_t)n), key16_of(word, (size_t)n), word, (size_t)n);
        if (!e) continue;
        kept++;
        assert_int_equal(e->result_n, k);
        assert_memory_equal(cached_result(e), result, (size_t)k);
    }
    assert_in_range(kept, 500, 19999);
    cache_free(c);
}

static void glossaries_cut_words_and_keep_their_matches(void **state)
{
    (void)state;
    struct glossary *g = glossary_new((const char *[]){ "USA", "\\d+" }, 2);
    struct glossary_scratch *s = glossary_scratch_new(g);
    const struct glossary_part *p;
    size_t n;
    assert_int_equal(glossary_parts(g, s, "1934USABUSA", 11, &p, &n), 0);
    assert_int_equal(n, 4);
    assert_memory_equal(p[2].s, "B", 1);
    assert_true(p[0].keep && p[1].keep && !p[2].keep && p[3].keep);
    assert_int_equal(glossary_parts(g, s, "word", 4, &p, &n), 0);
    assert_true(n == 1 && !p[0].keep);
    glossary_scratch_free(s);
    glossary_free(g);
    assert_null(glossary_new((const char *[]){ "ok", "a(b" }, 2));
    assert_non_null(strstr(err_msg(), "glossary \"a(b\": character 4"));
}

int main(void)
{
    if (scratch_enter() < 0) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merges_are_learned_in_the_order_of_counting_all_pairs_anew),
        cmocka_unit_test(pairs_that_share_letters_have_counts_of_their_own),
        cmocka_unit_test(text_that_spells_the_end_of_word_mark_makes_no_string_twice),
        cmocka_unit_test(weights_follow_xlms_formula),
        cmocka_unit_test(no_words_and_no_frequent_pair_are_told_apart),
        cmocka_unit_test(words_are_split_as_by_looking_for_the_earliest_operation),
        cmocka_unit_test(a_very_long_word_takes_no_quadratic_time),
        cmocka_unit_test(dropout_passes_over_the_share_it_is_given),
        cmocka_unit_test(a_limited_vocabulary_takes_pieces_apart_until_they_are_in_it),
        cmocka_unit_test(the_first_symbol_may_be_in_a_limited_vocabulary),
        cmocka_unit_test(a_last_piece_of_version_1_is_taken_apart_by_what_ends_words),
        cmocka_unit_test(bad_codes_are_refused_with_their_line),
        cmocka_unit_test(codes_are_written_as_they_are_read),
        cmocka_unit_test(counts_are_read_line_by_line),
        cmocka_unit_test(counts_do_not_depend_on_threads),
        cmocka_unit_test(words_are_listed_by_their_counts),
        cmocka_unit_test(a_full_cache_forgets_nothing_it_has),
        cmocka_unit_test(glossaries_cut_words_and_keep_their_matches),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_leave();
    return failed;
}
