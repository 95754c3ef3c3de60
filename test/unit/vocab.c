/* common/text/vocab.h: tokens, their numbers and the file they come from. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/mem.h"
#include "common/text/vocab.h"
#include "test/unit/scratch.h"

static void ids_begin_behind_the_specials_in_the_files_order(void **state)
{
    (void)state;
    const char *text = "the 10\n\xE2\x82\xAC@@ 7\n<s> 3\nlone\n"
                       "zero 0\nnine 9\nmost 18446744073709551615\n";
    file_write("v", text, strlen(text));
    struct vocab *v = vocab_read("v");
    assert_non_null(v);
    assert_int_equal(v->n, 12);
    assert_int_equal(vocab_id(v, "the", 3), 5);
    assert_int_equal(vocab_id(v, "\xE2\x82\xAC@@", 5), 6);
    assert_int_equal(vocab_id(v, "<s>", 3), 7); /* a token of the text, not the special */
    assert_int_equal(vocab_id(v, "</s>", 4), VOCAB_UNK);
    assert_int_equal(vocab_id(v, "th", 2), VOCAB_UNK);
    assert_int_equal(vocab_id(v, "", 0), VOCAB_UNK);
    assert_string_equal(vocab_token(v, VOCAB_MASK), "<mask>");
    assert_string_equal(vocab_token(v, 6), "\xE2\x82\xAC@@");
    assert_int_equal(vocab_token_len(v, 6), 5);
    assert_int_equal(v->count[5], 10);
    assert_int_equal(v->count[8], 0);           /* "lone": a token without a count */
    assert_int_equal(v->count[VOCAB_UNK], 0);
    assert_true(v->count[9] == 0 && v->count[10] == 9 && v->count[11] == UINT64_MAX);
    vocab_free(v);
}

static void the_hash_is_that_of_the_tokens_without_their_counts(void **state)
{
    (void)state;
    file_write("a", "x 3\ny 2\n", 8);
    file_write("b", "x\ny", 3);
    file_write("c", "y 3\nx 2\n", 8);
    struct vocab *a = vocab_read("a"), *b = vocab_read("b"), *c = vocab_read("c");
    assert_true(a->hash == XXH3_64bits("x\ny\n", 4));
    assert_true(a->hash == b->hash);
    assert_true(a->hash != c->hash);
    vocab_free(a); vocab_free(b); vocab_free(c);
}

static void what_is_written_is_read_back(void **state)
{
    (void)state;
    enum { N = 30000 };
    static char text[N][16];
    const char *tokens[N];
    uint64_t counts[N];
    for (int i = 0; i < N; i++) {
        sprintf(text[i], "t%d\tx", i * 7919);
        tokens[i] = text[i];
        counts[i] = (uint64_t)(N - i) << 20;
    }
    struct vocab *v = vocab_make(tokens, counts, N);
    assert_non_null(v);
    assert_int_equal(vocab_write(v, "v"), 0);
    struct vocab *w = vocab_read("v");
    assert_non_null(w);
    assert_int_equal(w->n, v->n);
    assert_true(w->hash == v->hash);
    for (uint32_t i = 0; i < N; i++) {
        assert_int_equal(vocab_id(w, tokens[i], strlen(tokens[i])), i + VOCAB_SPECIALS);
        assert_true(w->count[i + VOCAB_SPECIALS] == counts[i]);
    }
    vocab_free(v);
    vocab_free(w);
    assert_null(vocab_make((const char *[]){ "a", "b", "a" }, NULL, 3));
    assert_non_null(strstr(err_msg(), "\"a\" appears twice"));
}

static void lines_are_split_at_spaces_only(void **state)
{
    (void)state;
    struct vocab *v = vocab_make((const char *[]){ "a", "b", "a\tb" }, NULL, 3);
    uint32_t *ids = NULL;
    size_t cap = 0;
    const char *line = "  a b  zz a\tb b\r ";
    assert_int_equal(vocab_encode(v, line, strlen(line), &ids, &cap), 5);
    assert_memory_equal(ids, ((uint32_t[]){ 5, 6, VOCAB_UNK, 7, VOCAB_UNK }), 20);
    assert_int_equal(vocab_encode(v, "   ", 3, &ids, &cap), 0);
    assert_int_equal(vocab_encode(v, "", 0, &ids, &cap), 0);
    char text[64 + VOCAB_PAST] = "  a b  zz a\tb b\r \n\n   \nb\n";
    uint32_t at[5];
    mem_room(&ids, &cap, strlen(text) / 2 + 1, sizeof *ids);
    assert_int_equal(vocab_encode_lines(v, text, strlen(text), ids, at), 6);
    assert_memory_equal(ids, ((uint32_t[]){ 5, 6, VOCAB_UNK, 7, VOCAB_UNK, 6 }), 24);
    assert_memory_equal(at, ((uint32_t[]){ 0, 5, 5, 5, 6 }), 20);
    assert_int_equal(vocab_encode_lines(v, text, 0, ids, at), 0);
    assert_int_equal(at[0], 0);
    free(ids);
    vocab_free(v);
}

enum { KEEP = 32 };

/* Of every length around the 8 and 16 bytes that a look-up compares at once, each the beginning of
 * the next, and others that differ in one byte. */
static void tokens_of_all_lengths_are_told_apart(void **state)
{
    (void)state;
    enum { LONGEST = 40 };
    char text[LONGEST + 1] = "", token[2 * LONGEST][LONGEST + 1];
    const char *all[2 * LONGEST];
    for (int n = 1; n <= LONGEST; n++) {
        text[n - 1] = (char)('a' + n % 23);
        memcpy(token[2 * n - 2], text, (size_t)n + 1);
        memcpy(token[2 * n - 1], text, (size_t)n + 1);
        token[2 * n - 1][n - 1 - n / 3] = '#';
    }
    for (int i = 0; i < 2 * LONGEST; i++) all[i] = token[i];
    struct vocab *v = vocab_make(all, NULL, 2 * LONGEST);
    assert_non_null(v);
    for (int i = 0; i < 2 * LONGEST; i++) {
        size_t n = strlen(token[i]);
        char *exact = malloc(n + 1);         /* not a byte behind it may be read */
        memcpy(exact, token[i], n);
        assert_int_equal(vocab_id(v, exact, n), VOCAB_SPECIALS + i);
        exact[n] = 0;                        /* a NUL is a byte of a token like another */
        assert_int_equal(vocab_id(v, exact, n + 1), VOCAB_UNK);
        exact[n / 2] ^= (char)0x80;
        assert_int_equal(vocab_id(v, exact, n), VOCAB_UNK);
        free(exact);
    }
    /* in lines, whatever stands behind them */
    for (int i = 1; i < 2 * LONGEST; i++) {
        char line[3 * LONGEST + 64];
        uint32_t ids[2], at[2];
        int n = snprintf(line, sizeof line, " %s  %s\n", token[i], token[i - 1]);
        char *exact = malloc((size_t)n + VOCAB_PAST);
        memcpy(exact, line, (size_t)n);
        memset(exact + n, 'a', VOCAB_PAST);
        assert_int_equal(vocab_encode_lines(v, exact, (size_t)n, ids, at), 2);
        assert_int_equal(ids[0], VOCAB_SPECIALS + i);
        assert_int_equal(ids[1], VOCAB_SPECIALS + i - 1);
        assert_int_equal(at[1], 2);
        free(exact);
    }
    vocab_free(v);
}

static unsigned draw(unsigned *x, unsigned below)
{
    *x = *x * 1664525u + 1013904223u;
    return (*x >> 8) % below;
}

/* Ids are drawn, their tokens written as text, whose lines, words and gaps meet every place of what
 * is looked at together; the same ids must come back. */
static void text_of_drawn_ids_gives_these_ids(void **state)
{
    (void)state;
    enum { N = 3000, LINES = 4000, MOST = 40 };
    static char token[N][KEEP], other[KEEP];
    static const char *all[N];
    for (int i = 0; i < N; i++) {
        snprintf(token[i], KEEP, "%.*s%d", i % 19, "abcdefghijklmnopqrs", i);
        all[i] = token[i];
    }
    struct vocab *v = vocab_make(all, NULL, N);
    uint32_t *want = malloc(LINES * MOST * sizeof *want), *ids = malloc(LINES * MOST * sizeof *ids);
    uint32_t want_at[LINES + 1] = { 0 }, at[LINES + 1];
    char *text = malloc((size_t)LINES * MOST * (KEEP + 4) + VOCAB_PAST), *p = text;
    unsigned x = 1;
    size_t n = 0;
    for (int l = 0; l < LINES; l++) {
        for (unsigned k = draw(&x, l % 50 == 7 ? MOST : 9); k > 0; k--) {
            uint32_t id = draw(&x, 8) ? VOCAB_SPECIALS + draw(&x, N) : VOCAB_UNK;
            snprintf(other, KEEP, "%.*s", 1 + (int)draw(&x, 26), "-zyxwvutsrqponmlkjihgfedcba");
            p += sprintf(p, "%*s%s ", (int)draw(&x, 3), "", id < VOCAB_SPECIALS ? other
                                                                 : token[id - VOCAB_SPECIALS]);
            want[n++] = id;
        }
        if (draw(&x, 2) && p > text && p[-1] == ' ') p--;
        *p++ = '\n';
        want_at[l + 1] = (uint32_t)n;
    }
    memset(p, 'a', VOCAB_PAST);
    assert_int_equal(vocab_encode_lines(v, text, (size_t)(p - text), ids, at), n);
    assert_memory_equal(ids, want, n * sizeof *ids);
    assert_memory_equal(at, want_at, sizeof at);
    const char *line = text;
    for (int l = 0; l < LINES; l++) {
        size_t tokens, length = vocab_line(line, (size_t)(p - line), &tokens);
        assert_int_equal(line[length], '\n');
        assert_int_equal(tokens, want_at[l + 1] - want_at[l]);
        line += length + 1;
    }
    free(want); free(ids); free(text);
    vocab_free(v);
}

/* So many that look-ups of others meet them in the table: what differs from them in the second
 * eight bytes, or by NULs behind it, is none of them. */
static void others_that_meet_tokens_in_the_table_are_unknown(void **state)
{
    (void)state;
    enum { N = 4000, NULS = 8 };
    static char token[N][KEEP];
    static const char *all[N];
    for (int i = 0; i < N; i++) {
        snprintf(token[i], KEEP, i % 2 ? "the same%d" : "w%d", i);
        all[i] = token[i];
    }
    struct vocab *v = vocab_make(all, NULL, N);
    assert_non_null(v);
    for (int i = 0; i < N; i++) {
        size_t n = strlen(token[i]);
        char s[KEEP] = "";
        memcpy(s, token[i], n);
        assert_int_equal(vocab_id(v, s, n), VOCAB_SPECIALS + i);
        for (size_t k = 1; k <= NULS; k++) assert_int_equal(vocab_id(v, s, n + k), VOCAB_UNK);
        for (int k = 1; k <= NULS; k++) {
            int m = snprintf(s, KEEP, "the same%d", N * k + i);
            assert_int_equal(vocab_id(v, s, (size_t)m), VOCAB_UNK);
        }
    }
    vocab_free(v);
}

static void a_line_has_as_many_tokens_as_are_made_of_it(void **state)
{
    (void)state;
    static const struct { const char *text; size_t length, tokens; } t[] = {
        { "", 0, 0 }, { "\n", 0, 0 }, { "   \nx", 3, 0 }, { "a", 1, 1 }, { "a b\nc d e", 3, 2 },
        { "  a  b  \n", 8, 2 }, { "a\tb\r\n", 4, 1 },
        { "0123456789abcde f\n", 17, 2 }, { "0123456789abcdef g\n", 18, 2 },
        { "0123456789abcdefg\nh i j k l m n o p q", 17, 1 },
        { "a b c d e f g h i j k l m n o p q r s t u v w x y z", 51, 26 },
        { "a b c d e f g h\ni j k l m n o p", 15, 8 },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        size_t n = strlen(t[i].text), tokens;
        char *exact = malloc(n + 1);
        memcpy(exact, t[i].text, n);
        assert_int_equal(vocab_line(exact, n, &tokens), t[i].length);
        assert_int_equal(tokens, t[i].tokens);
        free(exact);
    }
}

static void bad_files_are_refused_with_their_line(void **state)
{
    (void)state;
    static const struct { const char *text; size_t n; const char *message; } t[] = {
        { "", 0, "v: holds no token" },
        { "a 1\nb x\n", 8, "v:2: \"x\" is not a count" },
        { "a 1\nb -1\n", 9, "v:2: \"-1\" is not a count" },
        { "a 1\nb +1\n", 9, "v:2: \"+1\" is not a count" },
        { "a 1\nb \t1\n", 9, "v:2: \"\\x091\" is not a count" },
        { "a 1\nb \n", 7, "v:2: \"\" is not a count" },
        { "a :1\n", 5, "v:1: \":1\" is not a count" },
        { "a /1\n", 5, "v:1: \"/1\" is not a count" },
        { "a 1:\n", 5, "v:1: \"1:\" is not a count" },
        { "a 18446744073709551616\n", 23, "v:1: \"18446744073709551616\" is not a count" },
        { "a 1\nb 99999999999999999999\n", 27, "v:2: \"99999999999999999999\" is not a count" },
        { "a 1\n\nb 1\n", 9, "v:2: expected one token" },
        { " 1\n", 3, "v:1: expected one token" },
        { "a b 1\n", 6, "v:1: expected one token" },
        { "a\0b 1\n", 6, "v:1: expected one token" },
        { "a 1\nb 1\na 1\n", 12, "v:3: token \"a\" appears twice" },
        { "a 1\n\xFF 1\n", 8, "v:2: byte 1 is not UTF-8" },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        file_write("v", t[i].text, t[i].n);
        assert_null(vocab_read("v"));
        if (!strstr(err_msg(), t[i].message))
            fail_msg("\"%s\" instead of \"%s\"", err_msg(), t[i].message);
    }
    assert_null(vocab_read("missing"));
    assert_non_null(strstr(err_msg(), "missing: cannot be opened"));
}

int main(void)
{
    if (scratch_enter() < 0) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_begin_behind_the_specials_in_the_files_order),
        cmocka_unit_test(the_hash_is_that_of_the_tokens_without_their_counts),
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(lines_are_split_at_spaces_only),
        cmocka_unit_test(tokens_of_all_lengths_are_told_apart),
        cmocka_unit_test(text_of_drawn_ids_gives_these_ids),
        cmocka_unit_test(others_that_meet_tokens_in_the_table_are_unknown),
        cmocka_unit_test(a_line_has_as_many_tokens_as_are_made_of_it),
        cmocka_unit_test(bad_files_are_refused_with_their_line),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_leave();
    return failed;
}
