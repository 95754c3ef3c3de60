/* From pieces back to text: against the tokenizers and sentencepiece libraries' own offsets
 * (test/golden/offsets.py), and our tokens by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/text/text.h"
#include "lib/subword/offsets.h"

static struct text *open_golden(const char *name, const char *ending)
{
    char path[4096];
    const char *top = getenv("TOP");
    snprintf(path, sizeof path, "%s/test/golden/subwords/%s%s", top ? top : ".", name, ending);
    struct text *t = text_open(path, 0);
    assert_non_null(t);
    return t;
}

/* How many pieces there are, and how many have another place than the library says. */
static void compare(const char *name, enum subword_kind kind, size_t *pieces, size_t *others)
{
    struct text *text = open_golden("text", ""), *out = open_golden(name, ".out"),
                *want = open_golden(name, ".offsets");
    struct offsets *o = offsets_new();
    const char *line, *cut, *place;
    size_t n, cut_n, place_n;
    *pieces = *others = 0;
    while (text_line(text, &line, &n) > 0) {
        const struct piece_span *s;
        assert_int_equal(text_line(out, &cut, &cut_n), 1);
        assert_int_equal(text_line(want, &place, &place_n), 1);
        /* soft hyphens, which it gives to their neighbours; a U+2581 of the text; a piece with a
         * space */
        if (kind == SUBWORD_SENTENCEPIECE
            && (strstr(line, "\u00ad") || strstr(line, "\u2581") || strstr(line, "quick br")))
            continue;
        size_t count =
            offsets_align(o, &(struct offsets_how){ .kind = kind }, line, n, cut, cut_n, &s);
        for (size_t i = 0; i < count; i++) {
            unsigned from, to;
            int used;
            assert_int_equal(sscanf(place, "%u-%u%n", &from, &to, &used), 2);
            place += used;
            ++*pieces;
            /* the library gives a character that several pieces share to the last of them */
            bool shared = from == to && s[i].from == from;
            bool same =
                (s[i].from == from && s[i].to == to) || (from == to && s[i].from == s[i].to);
            *others += kind == SUBWORD_SENTENCEPIECE ? !same && !shared : !same;
            if (!same && !shared)
                print_message("%s: piece %zu of '%.40s...': [%u, %u), not [%u, %u)\n", name, i,
                              line, s[i].from, s[i].to, from, to);
        }
    }
    offsets_free(o);
    text_close(text);
    text_close(out);
    text_close(want);
}

static void places_are_those_of_the_libraries(void **state)
{
    (void)state;
    size_t pieces, others;
    compare("cased", SUBWORD_WORDPIECE, &pieces, &others);
    assert_true(pieces > 250 && others == 0);
    compare("uncased", SUBWORD_WORDPIECE, &pieces, &others);
    assert_true(pieces > 250 && others == 0);
    compare("unigram", SUBWORD_SENTENCEPIECE, &pieces, &others);
    assert_true(pieces > 200 && others == 1);        /* the model's own rule makes "\u00e4" "ae" */
    compare("bpe", SUBWORD_SENTENCEPIECE, &pieces, &others);
    assert_true(pieces > 200 && others == 0);
}

/* The text of each piece, with "|" between. */
static void spelt(const struct offsets_how *how, const char *text, const char *pieces,
                  const char *want)
{
    struct offsets *o = offsets_new();
    const struct piece_span *s;
    char got[400] = "";
    size_t n = offsets_align(o, how, text, strlen(text), pieces, strlen(pieces), &s), at = 0;
    for (size_t i = 0; i < n; i++)
        at += (size_t)snprintf(got + at, sizeof got - at, "%s%.*s", i ? "|" : "",
                               (int)(s[i].to - s[i].from), text + s[i].from);
    assert_string_equal(got, want);
    offsets_free(o);
}

static void our_tokens_by_hand(void **state)
{
    (void)state;
    const struct offsets_how ours = { SUBWORD_BPE, true, true },
                             plain = { SUBWORD_BPE, false, false };
    spelt(&ours, "He's in  NASA & \"Xy\".",
          "\u21e7 h@@ e &ap@@ os;@@ s in \u21ea na@@ sa &amp; &quot; "
          "\u21e7 x@@ y &quot; .",
          "|H|e|'|'|s|in||NA|SA|&|\"||X|y|\"|.");
    /* markers that the text has itself are escaped by a third one */
    spelt(&ours, "\u21e7 a \u238b", "\u238b \u21e7 a \u238b \u238b", "|\u21e7|a||\u238b");
    spelt(&plain, "\u21e7 A", "\u21e7 A", "\u21e7|A");
    /* Moses' other ways: a hyphen set apart, quotes made plain, text that is gone */
    spelt(&ours, "well-known \u201cabc\u201d x\u2026", "well @-@ known &quot; abc &quot; x ...",
          "well|-|known|\u201c|abc|\u201d|x|\u2026");
    /* Hindi: marks are pieces of their own; Arabic: presentation forms, vowels removed */
    spelt(&plain, "\u0926\u093f\u0932\u094d\u0932\u0940",
          "\u0926@@ \u093f\u0932@@ \u094d@@ \u0932\u0940",
          "\u0926|\u093f\u0932|\u094d|\u0932\u0940");
    spelt(&plain, "\ufefb \u0643\u064e\u062a", "\u0644@@ \u0627 \u0643\u062a",
          "\ufefb|\ufefb|\u0643\u064e\u062a");
    spelt(&plain, "", "", "");
}

static void unknown_words_are_whole(void **state)
{
    (void)state;
    const struct offsets_how how = { .kind = SUBWORD_WORDPIECE };
    spelt(&how, "a \u2603\u2603b, \u4eac\u4eac. c", "a [UNK] , [UNK] [UNK] . c",
          "a|\u2603\u2603b|,|\u4eac|\u4eac|.|c");
}

static void pieces_of_a_place_and_back(void **state)
{
    (void)state;
    const struct piece_span s[] = { { 0, 0 }, { 0, 3 }, { 4, 6 }, { 6, 6 }, { 6, 9 } };
    size_t first, last;
    uint32_t from, to;
    assert_true(offsets_pieces(s, 5, 2, 7, &first, &last));
    assert_true(first == 1 && last == 4);
    assert_true(offsets_pieces(s, 5, 4, 6, &first, &last));
    assert_true(first == 2 && last == 2);
    assert_false(offsets_pieces(s, 5, 3, 4, &first, &last));
    assert_true(offsets_text(s, 0, 3, &from, &to));
    assert_true(from == 0 && to == 6);
    assert_false(offsets_text(s, 3, 3, &from, &to));
    /* the first piece, and one alone */
    assert_true(offsets_pieces(s + 1, 4, 0, 1, &first, &last));
    assert_true(first == 0 && last == 0);
    assert_true(offsets_text(s, 2, 2, &from, &to));
    assert_true(from == 4 && to == 6);
}

/* The library writes a byte as a character, and white space as one of its word; a character whose
 * bytes two tokens share is of both, and what is no byte's character stands for itself. */
static void byte_level_tokens(void **state)
{
    (void)state;
    const struct offsets_how how = { .kind = SUBWORD_BYTE_LEVEL },
                             sp = { .kind = SUBWORD_SENTENCEPIECE },
                             escaped = { SUBWORD_SENTENCEPIECE, false, true };
    spelt(&how, "a \u00e9 b", "a \u0120\u00c3 \u00a9 \u0120b", "a|\u00e9|\u00e9|b");
    spelt(&how, "x\u4e2d y", "x \u4e2d \u0120y", "x|\u4e2d|y");
    spelt(&how, "a\u4e2db", "a\u4e2d b", "a\u4e2d|b");
    /* SentencePiece's bytes: three make a character, one alone makes none */
    spelt(&sp, "a\u2603b", "\u2581a <0xE2> <0x98> <0x83> b", "a|\u2603|\u2603|\u2603|b");
    spelt(&sp, "a\u2603b", "\u2581a <0xE2> b", "a||b");
    /* its words end where the next begins: no entity goes over the end of one */
    spelt(&escaped, "& amp;", "\u2581& \u2581amp;", "&|amp;");
    spelt(&escaped, "& amp; &x", "\u2581&amp; \u2581amp; \u2581&x", "&|amp;|&x");
}

/* Letters that do not agree go with those that stand in the same place, as far as where the two
 * agree again. Two of each, so that a letter that is not found is not found by chance. */
static void what_differs_is_passed_over(void **state)
{
    (void)state;
    const struct offsets_how plain = { SUBWORD_BPE, false, false },
                             cases = { SUBWORD_BPE, true, false };
    spelt(&plain, "AAZZb~~!!", "a@@ a@@ z@@ z@@ b@@ ~@@ ~@@ !@@ !", "A|A|Z|Z|b|~|~|!|!");
    static const char *const like[] = { "'\u2018\u2019\u201a\u201b`\u00b4",
                                        "\"\u201c\u201d\u201e\u201f\u00ab\u00bb",
                                        "-\u2010\u2011\u2012\u2013\u2014\u2212" };
    for (size_t i = 0; i < 3; i++)
        for (const char *c = like[i] + 1; *c; ) {
            int n = (unsigned char)*c < 0x80 ? 1 : (unsigned char)*c < 0xE0 ? 2 : 3;
            char text[20], pieces[20], want[20];
            snprintf(text, sizeof text, "%.*s%.*sa", n, c, n, c);
            snprintf(pieces, sizeof pieces, "%c %c a", *like[i], *like[i]);
            snprintf(want, sizeof want, "%.*s|%.*s|a", n, c, n, c);
            spelt(&plain, text, pieces, want);
            c += n;
        }
    /* at an end one letter that agrees is enough, but not none */
    spelt(&plain, "1", "2@@ 3@@ 4", "1|1|1");
    spelt(&plain, "1ab", "2@@ a", "1|a");
    spelt(&plain, "1", "2", "1");
    /* an accent that one of them lacks does not count */
    spelt(&plain, "1\u00e1\u0301b\u0301cd", "2@@ abcd", "1|\u00e1\u0301b\u0301cd");
    spelt(&plain, "1abcd", "2@@ \u00e1\u0301b\u0301cd", "1|abcd");
    /* 32 letters on either side are searched, and where that is too few, one is given up */
    static const char x[] = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", y[] =
        "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy";
    static const struct { const char *text, *piece, *more, *want; } far[] = {
        { "", "@@ ", "", "|abcd" },      { "", "@@ ", "y", "|abcd" },
        { "x", "@@ ", "y", "|abcd" },
    };
    for (size_t i = 0; i < 3; i++) {
        char text[80], pieces[80], want[80];
        snprintf(text, sizeof text, "%s%sabcd", x, far[i].text);
        snprintf(pieces, sizeof pieces, "%s%s%sabcd", y, far[i].more, far[i].piece);
        /* (of 33 and 33 the first two are given up, of 32 and 33 one of each) */
        snprintf(want, sizeof want, "%s%s", i == 1 ? x + 1 : x, far[i].want);
        spelt(&plain, text, pieces, want);
    }
    char text[80], want[80];
    snprintf(text, sizeof text, "%sabcd", x);
    snprintf(want, sizeof want, "%s|abcd", x);
    spelt(&plain, text, "y@@ abcd", want);
    snprintf(text, sizeof text, "%sxabcd", x);
    spelt(&plain, text, "y@@ abcd", "|abcd");
    snprintf(text, sizeof text, "%sxxabcd", x);
    spelt(&plain, text, "y@@ abcd", "|");
    /* a literal marker escapes one word, not the one after it */
    spelt(&cases, "\u238b \u238b", "\u238b \u238b \u238b \u238b", "|\u238b||\u238b");
}

/* Pieces without text stand where the one before ends. */
static void empty_pieces_have_their_places(void **state)
{
    (void)state;
    static const struct { const char *text, *pieces; size_t n; struct piece_span s[5]; } t[] = {
        { "Ab C", "\u21e7 ab \u21e7 c \u21e7", 5,
          { { 0, 0 }, { 0, 2 }, { 2, 2 }, { 3, 4 }, { 4, 4 } } },
        { "Ab", "ab \u21e7", 2, { { 0, 2 }, { 2, 2 } } },
        { "", "\u21e7 \u21e7", 2, { { 0, 0 }, { 0, 0 } } },
    };
    struct offsets *o = offsets_new();
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        const struct piece_span *s;
        size_t n = offsets_align(o, &(struct offsets_how){ SUBWORD_BPE, true, false }, t[i].text,
                                 strlen(t[i].text), t[i].pieces, strlen(t[i].pieces), &s);
        assert_int_equal(n, t[i].n);
        assert_memory_equal(s, t[i].s, n * sizeof *s);
    }
    offsets_free(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_are_those_of_the_libraries), cmocka_unit_test(our_tokens_by_hand),
        cmocka_unit_test(unknown_words_are_whole), cmocka_unit_test(pieces_of_a_place_and_back),
        cmocka_unit_test(byte_level_tokens), cmocka_unit_test(what_differs_is_passed_over),
        cmocka_unit_test(empty_pieces_have_their_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
