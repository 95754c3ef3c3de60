/* What models read for tasks: pairs, tagged words, windows over contexts, answers from scores. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/rng.h"
#include "lib/labelled/examples.h"
#include "lib/labelled/windows.h"
#include "test/unit/scratch.h"

/* Tokens from, from + 1, ... of four bytes each. */
static struct encoded tokens(uint32_t from, size_t n)
{
    struct encoded x = { .ids = mem_zero(n + 1, sizeof *x.ids), .n = n };
    x.span = mem_zero(n + 1, sizeof *x.span);
    x.marker = mem_zero(n + 1, sizeof *x.marker);
    for (size_t i = 0; i < n; i++) {
        x.ids[i] = from + (uint32_t)i;
        x.span[i] = (struct piece_span){ 4 * (uint32_t)i, 4 * (uint32_t)i + 3 };
    }
    return x;
}

static void reads(const struct rows *r, int n, const uint32_t *id, const int32_t *type)
{
    assert_int_equal(r->n, n);
    assert_memory_equal(r->id, id, (size_t)n * sizeof *id);
    assert_memory_equal(r->type, type, (size_t)n * sizeof *type);
}
#define IDS (const uint32_t[])
#define TYPES (const int32_t[])

static void pairs_by_hand(void **state)
{
    (void)state;
    struct encoded a = tokens(10, 3), b = tokens(20, 2), none = tokens(0, 0);
    struct rows r = { 0 };
    rows_pair(&r, &a, &b, PAIR_ONE, 128);
    reads(&r, 8, IDS{ 0, 10, 11, 12, 1, 20, 21, 1 }, TYPES{ 0, 0, 0, 0, 0, 1, 1, 1 });
    rows_pair(&r, &a, &b, PAIR_TWO, 128);
    reads(&r, 9, IDS{ 0, 10, 11, 12, 1, 1, 20, 21, 1 }, TYPES{ 0, 0, 0, 0, 0, 0, 0, 0, 0 });
    rows_pair(&r, &a, NULL, PAIR_ONE, 4);
    reads(&r, 4, IDS{ 0, 10, 11, 1 }, TYPES{ 0, 0, 0, 0 });
    rows_pair(&r, &none, &b, PAIR_ONE, 128);
    reads(&r, 5, IDS{ 0, 1, 20, 21, 1 }, TYPES{ 0, 0, 1, 1, 1 });
    rows_pair(&r, &a, &b, PAIR_ONE, 6);
    reads(&r, 6, IDS{ 0, 10, 11, 1, 20, 1 }, TYPES{ 0, 0, 0, 0, 1, 1 });
    /* the longer side gives first; then both in turn, the second one where they are as long */
    static const int cut[][5] = { { 9, 2, 5, 3, 2 }, { 2, 9, 5, 2, 3 }, { 5, 5, 7, 4, 3 },
                                  { 5, 5, 6, 3, 3 }, { 8, 6, 7, 4, 3 }, { 1, 1, 0, 0, 0 },
                                  { 3, 4, 9, 3, 4 } };
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++) {
        int n[2] = { cut[i][0], cut[i][1] };
        rows_shorten(n, cut[i][2]);
        assert_int_equal(n[0], cut[i][3]);
        assert_int_equal(n[1], cut[i][4]);
    }
    rows_free(&r);
    encoded_free(&a);
    encoded_free(&b);
    encoded_free(&none);
}

static void tags_stand_at_first_pieces(void **state)
{
    (void)state;
    struct encoded w[5] = { tokens(10, 2), tokens(20, 3), tokens(30, 0), tokens(40, 9),
                            tokens(50, 1) };
    struct tag_parts p = { 0 };
    w[1].marker[0] = true;
    rows_tagged(&p, w, 5, 128);
    assert_int_equal(p.n, 1);
    reads(&p.v[0].rows, 18,
          IDS{ 0, 10, 11, 20, 21, 22, 3, 40, 41, 42, 43, 44, 45, 46, 47, 48, 50, 1 },
          TYPES{ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 });
    /* the marker is not the word's first piece; a word without pieces is <unk> */
    assert_memory_equal(p.v[0].row, ((int[]){ 1, 4, 6, 7, 16 }), 5 * sizeof(int));
    /* parts of 7 rows: 2 + 3 pieces fill one; nine pieces fit none */
    rows_tagged(&p, w, 5, 7);
    assert_int_equal(p.n, 2);
    reads(&p.v[0].rows, 7, IDS{ 0, 10, 11, 20, 21, 22, 1 }, TYPES{ 0, 0, 0, 0, 0, 0, 0 });
    reads(&p.v[1].rows, 5, IDS{ 0, 3, 3, 50, 1 }, TYPES{ 0, 0, 0, 0, 0 });
    assert_int_equal(p.v[1].first, 2);
    assert_int_equal(p.v[1].words, 3);
    assert_memory_equal(p.v[1].row, ((int[]){ 1, 2, 3 }), 3 * sizeof(int));
    rows_tagged(&p, w, 0, 7);
    assert_int_equal(p.n, 0);
    /* three pieces fill five rows; four rows are too few for them */
    rows_tagged(&p, &w[1], 1, 5);
    reads(&p.v[0].rows, 5, IDS{ 0, 20, 21, 22, 1 }, TYPES{ 0, 0, 0, 0, 0 });
    rows_tagged(&p, &w[1], 1, 4);
    reads(&p.v[0].rows, 3, IDS{ 0, 3, 1 }, TYPES{ 0, 0, 0 });
    /* a marker with nothing behind it is all that there is */
    struct encoded lone = tokens(60, 1);
    lone.marker[0] = true;
    rows_tagged(&p, &lone, 1, 128);
    reads(&p.v[0].rows, 3, IDS{ 0, 60, 1 }, TYPES{ 0, 0, 0 });
    assert_int_equal(p.v[0].row[0], 1);
    encoded_free(&lone);
    tag_parts_free(&p);
    for (int i = 0; i < 5; i++) encoded_free(&w[i]);
}

static void windows_by_hand(void **state)
{
    (void)state;
    struct encoded q = tokens(10, 3), c = tokens(100, 20), none = tokens(0, 0);
    struct windows w = { 0 };
    /* 15 rows less 2 of the question and 3 specials: ten of the context, four on each time */
    struct window_options o = { PAIR_ONE, 15, 2, 4 };
    assert_int_equal(windows_make(&w, &o, &q, &c, &(struct answer_place){ 4 * 9, 4 * 10 + 3 }), 0);
    assert_int_equal(w.n, 4);
    static const int want[4][4] = { { 0, 10, 0, 0 },
                                    { 4, 10, 9, 10 },
                                    { 8, 10, 5, 6 },
                                    { 12, 8, 0, 0 } };
    for (int i = 0; i < 4; i++) {
        assert_int_equal(w.v[i].first, want[i][0]);
        assert_int_equal(w.v[i].tokens, want[i][1]);
        assert_int_equal(w.v[i].start, want[i][2]);
        assert_int_equal(w.v[i].end, want[i][3]);
    }
    reads(&w.v[3].rows, 13, IDS{ 0, 10, 11, 1, 112, 113, 114, 115, 116, 117, 118, 119, 1 },
          TYPES{ 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1 });
    uint8_t allowed[15];
    window_allowed(&w.v[3], allowed);
    assert_memory_equal(allowed, ((uint8_t[]){ 1, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0 }), 13);
    o.format = PAIR_TWO;
    assert_int_equal(windows_make(&w, &o, &q, &c, NULL), 0);
    assert_int_equal(w.v[0].context, 5);
    assert_int_equal(w.v[0].rows.id[5], 100);
    assert_int_equal(windows_make(&w, &o, &q, &none, NULL), 0);
    assert_int_equal(w.n, 1);
    assert_int_equal(w.v[0].tokens, 0);
    reads(&w.v[0].rows, 6, IDS{ 0, 10, 11, 1, 1, 1 }, TYPES{ 0, 0, 0, 0, 0, 0 });
    struct encoded one = tokens(100, 1);
    assert_int_equal(windows_make(&w, &o, &q, &one, NULL), 0);
    assert_true(w.n == 1 && w.v[0].tokens == 1);
    reads(&w.v[0].rows, 7, IDS{ 0, 10, 11, 1, 1, 100, 1 }, TYPES{ 0, 0, 0, 0, 0, 0, 0 });
    encoded_free(&one);
    o.longest = 6;
    assert_int_equal(windows_make(&w, &o, &q, &c, NULL), -1);
    assert_string_equal(err_msg(), "windows of 6 rows have no room for context after a question of "
                                   "2 tokens; raise --longest");
    o = (struct window_options){ PAIR_ONE, 6, 2, 1 };
    assert_int_equal(windows_make(&w, &o, &q, &c, NULL), 0);
    assert_int_equal(w.n, 20);
    /* windows may lie end to end, but not leave a token between them */
    o = (struct window_options){ PAIR_ONE, 15, 2, 10 };
    assert_int_equal(windows_make(&w, &o, &q, &c, &(struct answer_place){ 4 * 9, 4 * 10 }), 0);
    assert_int_equal(w.n, 2);
    assert_true(w.v[1].first == 10 && w.v[1].tokens == 10);
    /* 9 alone is in the first, and only whole answers are */
    assert_true(w.v[0].start == 13 && w.v[0].end == 13 && w.v[1].start == 0);
    o = (struct window_options){ PAIR_ONE, 15, 2, 11 };
    assert_int_equal(windows_make(&w, &o, &q, &c, NULL), -1);
    assert_non_null(strstr(err_msg(), "--stride 11 would leave some out; give --stride 10 or "
                                      "less"));
    o.stride = 0;
    assert_int_equal(windows_make(&w, &o, &q, &c, NULL), -1);
    windows_free(&w);
    encoded_free(&q);
    encoded_free(&c);
    encoded_free(&none);
}

/* The example of run_squad.py: "bought" of "the man went to the store and bought a gallon of milk"
 * has 4 and 0 words beside it in the window "to the store and bought", 1 and 3 in "and bought a
 * gallon of". */
static void most_context_as_bert_explains_it(void **state)
{
    (void)state;
    struct encoded q = tokens(0, 0), c = tokens(100, 12);
    struct windows w = { 0 };
    struct window_options o = { PAIR_ONE, 8, 64, 3 };
    assert_int_equal(windows_make(&w, &o, &q, &c, NULL), 0);
    assert_false(window_has_most(&w, 0, 7));
    assert_false(window_has_most(&w, 1, 7));
    assert_true(window_has_most(&w, 2, 7));
    /* 7 has 2 tokens on its poorer side in either of two, of which the first has it */
    struct window even[2] = { { .first = 0, .tokens = 10 }, { .first = 5, .tokens = 10 } };
    struct windows two = { .v = even, .n = 2 };
    assert_true(window_has_most(&two, 0, 7) && !window_has_most(&two, 1, 7));
    assert_true(window_has_most(&two, 0, 6) && window_has_most(&two, 1, 8));
    /* run_squad.py adds 0.01 of a window's length: token 275 has 24 tokens to the end of the first
     * and 25 from the beginning of the second; 24 + 3.00 is more than 25 + 0.60. Of 276 it is 23 +
     * 3.00 and 26 + 0.60 */
    even[0].tokens = 300;
    even[1].first = 250;
    even[1].tokens = 60;
    assert_true(window_has_most(&two, 0, 275) && !window_has_most(&two, 1, 275));
    assert_true(window_has_most(&two, 1, 276) && !window_has_most(&two, 0, 276));
    for (int t = 0; t < 12; t++) {
        int n = 0;
        for (int i = 0; i < w.n; i++) n += window_has_most(&w, i, t);
        assert_int_equal(n, 1);
    }
    windows_free(&w);
    encoded_free(&q);
    encoded_free(&c);
}

/* Scores that are right find the answer wherever it stands in a context of a thousand tokens. */
static void answers_are_found_everywhere(void **state)
{
    (void)state;
    struct encoded q = tokens(10, 5), c = tokens(100, 1000);
    struct windows w = { 0 };
    struct window_options o = window_defaults;
    float *start = mem_zero(64 * 384, sizeof *start), *end = mem_zero(64 * 384, sizeof *end);
    for (uint32_t at = 0; at < 1000; at += 3) {
        uint32_t last = at + at % 30 < 1000 ? at + at % 30 : 999;
        struct answer_place a = { 4 * at, 4 * last + 3 };
        assert_int_equal(windows_make(&w, &o, &q, &c, &a), 0);
        size_t row = 0;
        bool held = false;
        for (int i = 0; i < w.n; i++) {
            const struct window *v = &w.v[i];
            for (int r = 0; r < v->rows.n; r++) {
                start[row + (size_t)r] = v->start && r == v->start ? 9 : 0;
                end[row + (size_t)r] = v->end && r == v->end ? 9 : 0;
            }
            if (v->start) {
                held = true;
                assert_int_equal(v->rows.id[v->start], 100 + at);
                assert_int_equal(v->rows.id[v->end], 100 + last);
            }
            row += (size_t)v->rows.n;
        }
        assert_true(held);
        struct answer_found f = windows_answer(&w, start, end);
        assert_true(f.any && f.first == (int)at && f.last == (int)last && f.score == 18
                    && f.null_score == 0);
    }
    free(start);
    free(end);
    windows_free(&w);
    encoded_free(&q);
    encoded_free(&c);
}

/* Windows of at most 20 rows, so that all rows are among the best: every range is looked at here.
 */
static void answers_are_the_best_ranges(void **state)
{
    (void)state;
    struct encoded q = tokens(10, 2), c = tokens(100, 40);
    struct windows w = { 0 };
    struct window_options o = { PAIR_ONE, 19, 64, 5 };
    float start[400], end[400];
    assert_int_equal(windows_make(&w, &o, &q, &c, NULL), 0);
    for (uint64_t trial = 0; trial < 50; trial++) {
        struct rng r = { { 3, RNG_TEST, 0 }, trial, 0 };
        for (int i = 0; i < 400; i++) { start[i] = rng_next_unit(&r); end[i] = rng_next_unit(&r); }
        float best = -1, null = 9;
        int first = 0, last = 0, row = 0;
        for (int i = 0; i < w.n; row += w.v[i++].rows.n) {
            const struct window *v = &w.v[i];
            if (start[row] + end[row] < null) null = start[row] + end[row];
            for (int a = 0; a < v->tokens; a++)
                for (int b = a; b < v->tokens && b < a + 30; b++) {
                    float score = start[row + v->context + a] + end[row + v->context + b];
                    if (score <= best || !window_has_most(&w, i, v->first + a)) continue;
                    best = score;
                    first = v->first + a;
                    last = v->first + b;
                }
        }
        struct answer_found f = windows_answer(&w, start, end);
        assert_true(f.any && f.first == first && f.last == last && f.score == best
                    && f.null_score == null);
    }
    windows_free(&w);
    encoded_free(&q);
    encoded_free(&c);
}

/* run_squad.py's n_best_size of 20 and max_answer_length of 30, in a window of 45 tokens. */
static void of_a_window_the_20_best_rows_count_and_30_tokens_are_the_most(void **state)
{
    (void)state;
    struct encoded q = tokens(10, 1), c = tokens(100, 45);
    struct windows w = { 0 };
    struct window_options o = { PAIR_ONE, 64, 8, 32 };
    float start[64], end[64];
    assert_int_equal(windows_make(&w, &o, &q, &c, NULL), 0);
    assert_int_equal(w.n, 1);
    const int at = w.v[0].context;
    for (int best = 19; best <= 20; best++) {
        /* so many starts are better than that of token 0, and no end is at or behind them */
        for (int r = 0; r < 64; r++) start[r] = end[r] = -5;
        for (int t = 0; t < best; t++) start[at + 20 + t] = 9 + (float)t;
        for (int t = 0; t < 20; t++) end[at + t] = (float)(t == 7 ? 3 : 1);
        start[at] = 2;
        start[0] = end[0] = -6;
        struct answer_found f = windows_answer(&w, start, end);
        assert_true(f.any == (best == 19) && f.null_score == -12);
        if (f.any) assert_true(f.first == 0 && f.last == 7 && f.score == 5);
    }
    /* 30 tokens, which end at token 29 or 30, and no more */
    for (int last = 29; last <= 31; last++) {
        for (int r = 0; r < 64; r++) start[r] = end[r] = 0;
        start[at] = 8;
        start[at + 1] = 7;
        end[at + last] = 9;
        struct answer_found f = windows_answer(&w, start, end);
        assert_true(f.any && f.first == last - 29 && f.last == (last < 31 ? last : 2 + 29)
                    && f.score == (float)(last == 29 ? 17 : last == 30 ? 16 : 9));
    }
    /* of equal rows the first: nothing is better than anything */
    for (int r = 0; r < 64; r++) start[r] = end[r] = 1;
    struct answer_found f = windows_answer(&w, start, end);
    assert_true(f.any && f.first == 0 && f.last == 0 && f.score == 2);
    windows_free(&w);
    encoded_free(&q);
    encoded_free(&c);
}

static void text_becomes_ids_with_places(void **state)
{
    (void)state;
    static const char *const words[] = { "\u21e7", "he", "l@@", "lo", "&apos;", "w@@", "o" };
    struct vocab *v = vocab_make(words, NULL, 7);
    assert_int_equal(dir_make("m"), 0);
    assert_int_equal(file_write("m/tokenizer", "case-marker = true\n", 19), 0);
    assert_int_equal(file_write("m/codes", "h e</w> 9\nl o</w> 8\n", 20), 0);
    struct encoder_text *e = encoder_text_open("m", "en", v);
    if (!e) fail_msg("%s", err_msg());
    struct encoded x = { 0 };
    const char *text = "He\n'llo  wo \u4eac";
    assert_int_equal(encoder_text_encode(e, text, strlen(text), &x), 0);
    /* the marker, he, &apos; l@@ lo as Moses has it, w@@ o, and a character that the vocabulary
     * lacks */
    assert_int_equal(x.ids[0], 5);
    assert_true(x.marker[0] && !x.marker[1]);
    assert_int_equal(x.ids[1], 6);
    assert_true(x.span[1].from == 0 && x.span[1].to == 2);
    /* the six pieces of &apos; stand for one character */
    assert_int_equal(x.n, 13);
    for (size_t i = 2; i < 8; i++) assert_true(x.span[i].from == 3 && x.span[i].to == 4);
    assert_int_equal(x.ids[8], 7);
    assert_true(x.span[8].from == 4 && x.span[8].to == 5);
    assert_true(x.span[9].from == 5 && x.span[9].to == 7);
    assert_int_equal(x.ids[x.n - 1], VOCAB_UNK);
    assert_true(x.span[x.n - 1].from == 12 && x.span[x.n - 1].to == 15);
    size_t first, last;
    assert_true(offsets_pieces(x.span, x.n, 9, 11, &first, &last));
    assert_int_equal(x.ids[first], 10);
    assert_int_equal(x.ids[last], 11);
    assert_int_equal(encoder_text_encode(e, "HE", 2, &x), 0);
    assert_true(x.n == 2 && x.marker[0] && !x.marker[1] && x.ids[1] == 6);
    assert_int_equal(encoder_text_encode(e, "", 0, &x), 0);
    assert_int_equal(x.n, 0);
    assert_null(encoder_text_open("nothing", "en", v));
    encoder_text_close(NULL);
    encoded_free(&x);
    encoder_text_close(e);
    vocab_free(v);
}

/* --- examples --------------------------------------------------------------------------------- */

/* A folder whose pieces are words, of one letter each: a b c d e are 5 to 9. */
static struct example_source letters(struct vocab **v)
{
    static const char *const words[] = { "a", "b", "c", "d", "e" };
    *v = vocab_make(words, NULL, 5);
    assert_int_equal(dir_make("letters"), 0);
    assert_int_equal(file_write("letters/tokenizer", "no-tokenize = true\n", 19), 0);
    assert_int_equal(file_write("letters/codes", "z z</w> 9\n", 10), 0);
    struct encoder_text *e = encoder_text_open("letters", "en", *v);
    if (!e) fail_msg("%s", err_msg());
    return (struct example_source){ .encoder = { e, e }, .lang = { 2, 3 } };
}

/* Without a tokeniser nothing is escaped: "&amp;" is five characters of the text. */
static void what_looks_escaped_is_text_where_nothing_is(void **state)
{
    (void)state;
    struct vocab *v;
    struct example_source from = letters(&v);
    struct encoded x = { 0 };
    assert_int_equal(encoder_text_encode(from.encoder[0], "a &amp; b", 9, &x), 0);
    assert_int_equal(x.n, 7);
    for (size_t i = 0; i < 5; i++)
        assert_true(x.span[1 + i].from == 2 + i && x.span[1 + i].to == 3 + i);
    assert_int_equal(x.ids[6], 6);
    assert_true(x.span[6].from == 8 && x.span[6].to == 9);
    /* nor is case marked: an arrow is a character, whatever the model before it has been */
    assert_int_equal(encoder_text_encode(from.encoder[0], "\u21e7 \u21ea a", 9, &x), 0);
    assert_true(x.n == 3 && !x.marker[0] && !x.marker[1] && x.span[1].from == 4);
    /* a short text after a longer one ends where it ends */
    assert_int_equal(encoder_text_encode(from.encoder[0], "a bcd", 5, &x), 0);
    assert_int_equal(encoder_text_encode(from.encoder[0], "a b", 3, &x), 0);
    assert_true(x.n == 2 && x.ids[0] == 5 && x.ids[1] == 6);
    struct unknown u = { 0 };
    encoder_text_unknown(from.encoder[0], &u);
    /* 7 + 3 + 4 + 2 tokens, of which 5 + 2 + 2 the vocabulary lacks */
    assert_true(u.tokens == 16 && u.unknown == 9);
    encoded_free(&x);
    encoder_text_close(from.encoder[0]);
    vocab_free(v);
}

static void letters_end(struct example_source *from, struct vocab *v)
{
    encoder_text_close(from->encoder[0]);
    example_source_free(from);
    vocab_free(v);
}

static void told(const struct labelled_set *s, const char *what, uint64_t n, const char *first)
{
    if (problems_count(&s->problems, what) != n)
        fail_msg("%s: %d", what, (int)problems_count(&s->problems, what));
    for (int i = 0; i < s->problems.n; i++)
        if (!strcmp(s->problems.kind[i].what, what))
            assert_string_equal(s->problems.kind[i].first, first);
}

static void unit_reads(const struct examples *x, size_t u, int n, const uint32_t *id)
{
    assert_int_equal(x->v[u].rows, n);
    assert_memory_equal(x->id + x->v[u].at, id, (size_t)n * sizeof *id);
}

static void pairs_become_units(void **state)
{
    (void)state;
    struct vocab *v;
    struct example_source from = letters(&v);
    const int output[] = { 1, -1, 0 };
    from.output = output;
    struct labelled_set s = { .kind = LABELLED_PAIRS };
    struct labelled e[] = { { .line = 1, .label = 2, .text = { "a b", "c d" } },
                            { .line = 2, .label = -1, .text = { "b", "c" } },
                            { .line = 3, .label = 1, .text = { "c", "d" } },
                            { .line = 4, .label = 0, .text = { "a b c", "d e" } } };
    for (int two = 0; two < 2; two++)
        for (int train = 0; train < 2; train++) {
            struct examples x = { .types = 2 };
            struct batch b = { 0 };
            x.how.reads = (struct model_reads){ .task = MODEL_TASK_CLASS, .pair_two = two,
                                                .longest = two ? 8 : 7 };
            x.how.train = train;
            memset(&s.problems, 0, sizeof s.problems);
            for (int i = 0; i < 4; i++) assert_int_equal(examples_add(&x, &s, &e[i], &from), 0);
            /* 4 of the head's 7 rows are tokens: 2 + 2 fit, 3 + 2 are cut; with pair_two as many
             * of 8 */
            told(&s, "pairs cut to --longest rows", 1, two ? "9 rows" : "8 rows");
            told(&s, "pairs without a label", train ? 2 : 0, "'b'");
            assert_int_equal(x.n, train ? 2 : 4);
            assert_int_equal(x.count, 4);
            const struct unit *last = &x.v[x.n - 1];
            assert_int_equal(last->example, 3);
            assert_int_equal(last->label, 1);
            assert_int_equal(x.v[0].label, 0);
            if (!train) assert_true(x.v[1].label == -1 && x.v[2].label == -1);
            if (two) unit_reads(&x, x.n - 1, 8, IDS{ 0, 5, 6, 1, 1, 8, 9, 1 });
            else unit_reads(&x, x.n - 1, 7, IDS{ 0, 5, 6, 1, 8, 9, 1 });
            examples_batch(&x, x.n - 1, &b, 70);
            /* each side has its language and counts from 0; segments as the model has them */
            for (int r = 0; r < b.rows; r++) {
                assert_int_equal(b.lang[r], r < 4 ? 2 : 3);
                assert_int_equal(b.pos[r], r);
                assert_int_equal(b.type[r], r >= 4 && !two);
                assert_int_equal(b.sample[r], 70);
            }
            batch_clear(&b);
            x.types = 1;
            examples_batch(&x, 0, &b, 0);
            assert_int_equal(b.type[6], 0);
            batch_free(&b);
            examples_clear(&x);
            assert_true(x.n == 0 && x.count == 0 && x.ids == 0);
            examples_free(&x);
        }
    letters_end(&from, v);
}

static void tagged_words_become_units(void **state)
{
    (void)state;
    struct vocab *v;
    struct example_source from = letters(&v);
    const int output[] = { 3, -1 };
    from.output = output;
    const char *words[] = { "a", "b c", "", "d", "a b c d" };
    int tag[] = { 0, 1, 0, -1, 0 }, none[] = { 1, -1, 1, 1, 1 };
    struct labelled_set s = { .kind = LABELLED_TAGS };
    struct labelled e = { .line = 11, .words = 5, .word = words, .tag = tag };
    for (int train = 0; train < 2; train++) {
        struct examples x = { .types = 2 };
        x.how.reads = (struct model_reads){ .task = MODEL_TASK_TAG, .longest = 5 };
        x.how.train = train;
        memset(&s.problems, 0, sizeof s.problems);
        assert_int_equal(examples_add(&x, &s, &e, &from), 0);
        told(&s, "words without a piece, read as <unk>", 1, "''");
        told(&s, "words of more pieces than --longest, read as <unk>", 1, "'a b c d'");
        for (int i = 0; i < 2; i++)
            assert_int_equal(s.problems.kind[i].line, i ? 15 : 13);
        /* rows of 5 hold three pieces: a, b c | <unk>, d, <unk> */
        assert_int_equal(x.n, 2);
        unit_reads(&x, 0, 5, IDS{ 0, 5, 6, 7, 1 });
        unit_reads(&x, 1, 5, IDS{ 0, 3, 8, 3, 1 });
        assert_true(x.v[0].split == 5 && x.v[1].first_word == 2 && x.v[1].example == 0);
        assert_int_equal(x.v[0].words, train ? 1 : 2);
        assert_int_equal(x.v[1].words, train ? 2 : 3);
        if (train) {
            assert_memory_equal(x.word_row, ((int32_t[]){ 1, 1, 3 }), 3 * sizeof(int32_t));
            assert_memory_equal(x.word_tag, ((int32_t[]){ 3, 3, 3 }), 3 * sizeof(int32_t));
        } else {
            assert_memory_equal(x.word_row, ((int32_t[]){ 1, 2, 1, 2, 3 }), 5 * sizeof(int32_t));
            assert_memory_equal(x.word_tag, ((int32_t[]){ 3, -1, 3, -1, 3 }), 5 * sizeof(int32_t));
        }
        /* nothing to learn in any word */
        struct labelled other = e;
        other.tag = none;
        assert_int_equal(examples_add(&x, &s, &other, &from), 0);
        told(&s, "sentences without tags, left out", train ? 2 : 0, "'a'");
        assert_int_equal(x.n, train ? 2 : 4);
        assert_int_equal(x.ids, train ? 10 : 20);
        assert_int_equal(x.count, 2);
        examples_free(&x);
    }
    letters_end(&from, v);
}

static void questions_become_units(void **state)
{
    (void)state;
    struct vocab *v;
    struct example_source from = letters(&v);
    struct labelled_set s = { .kind = LABELLED_QUESTIONS, .name = (char[]){ "q" } };
    /* bytes 6 to 9 of "a b c d e" are d e */
    struct answer here = { "d e", 6, 9 }, elsewhere = { "x", ANSWER_ELSEWHERE, ANSWER_ELSEWHERE },
                  space = { " ", 1, 2 };
    const char *context = "a b c d e";
    struct labelled e[] = { { .line = 1, .text = { "a b c", context }, 0 },
                            { .line = 2, .text = { "b", context }, .answers = 1, .answer = &here },
                            { .line = 3, .text = { "a b", context }, .answers = 1,
                              .answer = &elsewhere },
                            { .line = 4, .text = { "b", context }, .answers = 1,
                              .answer = &space } };
    for (int drop = -1; drop < 2; drop++) {
        struct examples x = { .types = 2 };
        bool train = drop >= 0;
        x.how.reads = (struct model_reads){ .task = MODEL_TASK_SPAN, .longest = 8, .question = 2,
                                            .stride = 2 };
        x.how.train = train;
        x.how.drop_empty = drop > 0;
        memset(&s.problems, 0, sizeof s.problems);
        for (int i = 3; i > 0; i--) assert_int_equal(examples_add(&x, &s, &e[i], &from), 0);
        assert_false(x.how.reads.no_answer);
        assert_int_equal(examples_add(&x, &s, &e[0], &from), 0);
        assert_int_equal(x.how.reads.no_answer, train);
        assert_int_equal(x.count, 4);
        told(&s, "questions cut to --question tokens", 1, "3 tokens");
        told(&s, "questions whose answer is not at its place, left out", train, "'x'");
        told(&s, "questions whose answer has no token, left out", train, "' '");
        /* 4 tokens of the context after one of the question: a b c d, c d e; 3 after two: a b c,
         * c d e */
        assert_int_equal(x.n, train ? drop ? 3 : 4 : 8);
        size_t with = drop > 0 ? 0 : 1;
        assert_int_equal(x.v[with].example, train ? 2 : 0);
        unit_reads(&x, with, 7, IDS{ 0, 6, 1, 7, 8, 9, 1 });
        assert_true(x.v[with].context == 3 && x.v[with].first == 2 && x.v[with].tokens == 3);
        assert_int_equal(x.v[with].start, train ? 4 : 0);
        assert_int_equal(x.v[with].end, train ? 5 : 0);
        unit_reads(&x, x.n - 1, 8, IDS{ 0, 5, 6, 1, 7, 8, 9, 1 });
        uint8_t allowed[8];
        examples_allowed(&x, with, allowed);
        assert_memory_equal(allowed, ((uint8_t[]){ 1, 0, 0, 1, 1, 1, 0 }), 7);
        if (!train) {
            assert_int_equal(x.span_at[3], 15);
            assert_true(x.span[18].from == 6 && x.span[18].to == 7 && x.spans == 20);
        }
        examples_free(&x);
    }
    /* no room for context: with the file's line */
    struct examples x = { .types = 2 };
    x.how.reads = (struct model_reads){ .task = MODEL_TASK_SPAN, .longest = 4, .question = 2,
                                        .stride = 1 };
    assert_int_equal(examples_add(&x, &s, &e[1], &from), -1);
    assert_non_null(strstr(err_msg(), "q:2: windows of 4 rows have no room for context"));
    examples_free(&x);
    letters_end(&from, v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_looks_escaped_is_text_where_nothing_is),
        cmocka_unit_test(pairs_become_units),
        cmocka_unit_test(tagged_words_become_units),
        cmocka_unit_test(questions_become_units),
        cmocka_unit_test(of_a_window_the_20_best_rows_count_and_30_tokens_are_the_most),
        cmocka_unit_test(pairs_by_hand),
        cmocka_unit_test(tags_stand_at_first_pieces),
        cmocka_unit_test(windows_by_hand),
        cmocka_unit_test(most_context_as_bert_explains_it),
        cmocka_unit_test(answers_are_found_everywhere),
        cmocka_unit_test(answers_are_the_best_ranges),
        cmocka_unit_test(text_becomes_ids_with_places),
    };
    if (scratch_enter() < 0) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_leave();
    return failed;
}
