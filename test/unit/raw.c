/* Plain text to a model's tokens and back: the settings that a folder keeps, and each way of
 * cutting text, by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "common/err.h"
#include "common/files/file.h"
#include "lib/raw/raw.h"
#include "lib/raw/reader.h"
#include "test/unit/scratch.h"

static void refused_for(const char *why)
{
    if (!strstr(err_msg(), why)) fail_msg("not \"%s\": %s", why, err_msg());
}

/* --- settings --- */

static struct tokenize_options parsed(const char *text, const char *lang)
{
    struct tokenize_options o = { .lang = lang };
    if (raw_settings_parse(&o, text, "t") < 0) fail_msg("%s", err_msg());
    return o;
}

static void a_languages_settings_win_wherever_they_stand(void **state)
{
    (void)state;
    static const char text[] = "# how it was\n\n de.no-escape = false\nno-escape=true\r\n"
                               "\t# another\naggressive = true\nen.segment = icu\n"
                               "de.segment = moses\nsegment = indic\nfr.penn = true\n"
                               "case-marker = true\ncase-marker = false";
    struct tokenize_options o = parsed(text, "de");
    assert_true(!o.no_escape && o.aggressive && !o.prepare.penn && !o.case_marker);
    assert_int_equal(o.segment, SEGMENT_MOSES);
    o = parsed(text, "en");
    assert_true(o.no_escape && !o.prepare.penn);
    assert_int_equal(o.segment, SEGMENT_ICU);
    o = parsed(text, "fr");
    assert_true(o.no_escape && o.prepare.penn);
    assert_int_equal(o.segment, SEGMENT_INDIC);
    o = parsed(text, NULL);
    assert_true(o.no_escape && !o.prepare.penn);
    assert_int_equal(o.segment, SEGMENT_INDIC);
    o = (struct tokenize_options){ .no_escape = true, .skip_xml = true };
    assert_int_equal(raw_settings_parse(&o, "no-escape = false\n", "t"), 0);
    assert_true(!o.no_escape && o.skip_xml);
}

/* Each alone, as it is written and as it is read. */
static void each_setting_by_its_name(void **state)
{
    (void)state;
    struct tokenize_options o = { 0 };
    static const struct { size_t at; const char *name; } flag[] = {
#define F(field, name) { offsetof(struct tokenize_options, field), name }
        F(prepare.unicode_punctuation, "replace-unicode-punctuation"),
        F(prepare.punctuation, "normalize-punctuation"), F(prepare.penn, "penn"),
        F(prepare.non_printing, "remove-non-printing"),
        F(prepare.romanian, "normalise-romanian"), F(prepare.diacritics, "remove-diacritics"),
        F(prepare.indic, "normalize-indic"), F(no_tokenize, "no-tokenize"),
        F(aggressive, "aggressive"), F(no_escape, "no-escape"), F(skip_xml, "skip-xml"),
        F(lower_accents, "lowercase-and-remove-accent"), F(case_marker, "case-marker"),
#undef F
    };
    char want[128];
    for (size_t i = 0; i < sizeof flag / sizeof *flag; i++) {
        o = (struct tokenize_options){ 0 };
        *((bool *)((char *)&o + flag[i].at)) = true;
        char *text = raw_settings(&o);
        snprintf(want, sizeof want, "# how tokenize made the tokens\n%s = true\n", flag[i].name);
        assert_string_equal(text, want);
        struct tokenize_options back = parsed(text, NULL);
        for (size_t k = 0; k < sizeof flag / sizeof *flag; k++)
            assert_int_equal(*((bool *)((char *)&back + flag[k].at)), k == i);
        free(text);
    }
    static const char *const segment[] = { "", "segment = moses\n", "segment = icu\n",
                                           "segment = indic\n" };
    for (int i = 0; i < 4; i++) {
        o = (struct tokenize_options){ .segment = i };
        char *text = raw_settings(&o);
        assert_string_equal(strchr(text, '\n') + 1, segment[i]);
        assert_int_equal(parsed(text, NULL).segment, i);
        free(text);
    }
    assert_int_equal(parsed("segment = indic\nsegment = auto\n", NULL).segment, SEGMENT_AUTO);
}

static void what_is_no_setting_is_refused_with_its_line(void **state)
{
    (void)state;
    char longest[300];
    memset(longest, ' ', sizeof longest);
    memcpy(longest, "penn = true", 11);
    longest[256] = 0;
    static const struct { const char *text, *why; } t[] = {
        { "penn\n", "t:1: not \"name = value\"" },
        { "# a\n\npenn true\n", "t:3: not \"name = value\"" },
        { "penn = true false\n", "t:1: not \"name = value\"" },
        { "= true\n", "t:1: not \"name = value\"" },
        { "penn =\n", "t:1: not \"name = value\"" },
        { "penn = true\npen = true\n", "t:2: \"pen = true\" is not a setting" },
        { "penn = 1\n", "t:1: \"penn = 1\" is not a setting" },
        { "de.penn = yes\n", "t:1: \"de.penn = yes\" is not a setting" },
        { "segment = penn\n", "t:1: \"segment = penn\" is not a setting" },
        { "fr.segment = 1\n", "t:1: \"fr.segment = 1\" is not a setting" },
    };
    struct tokenize_options o = { .lang = "fr" };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        assert_int_equal(raw_settings_parse(&o, t[i].text, "t"), -1);
        refused_for(t[i].why);
    }
    assert_int_equal(raw_settings_parse(&o, longest, "t"), -1);
    refused_for("t:1: not \"name = value\"");
    longest[255] = 0;
    assert_int_equal(raw_settings_parse(&o, longest, "t"), 0);
    file_write("good", "penn = true\n", 12);
    file_write("bad", "pen = true\n", 11);
    file_write("merges", "#version: 0.2\na b\n", 18);
    assert_int_equal(raw_check("merges", "good"), 0);
    assert_int_equal(raw_check(NULL, NULL), 0);
    assert_int_equal(raw_check("merges", NULL), 0);
    assert_int_equal(raw_check(NULL, "bad"), -1);
    refused_for("bad:1: ");
    assert_int_equal(raw_check("none", "good"), -1);
    refused_for("none: ");
    assert_int_equal(raw_check(NULL, "none"), -1);
}

/* --- text --- */

static struct raw_text *folder(const char *settings, const char *codes, const char *lang)
{
    dir_remove("m");
    assert_int_equal(dir_make("m"), 0);
    if (settings) file_write("m/tokenizer", settings, strlen(settings));
    if (codes) file_write("m/codes", codes, strlen(codes));
    return raw_open("m", lang, false);
}

/* To tokens, and tokens to text. */
static void check(struct raw_text *p, const char *text, const char *tokens, const char *back)
{
    if (!p) fail_msg("%s", err_msg());
    struct raw_work *w = raw_work_new(p);
    struct tbuf out = { 0 };
    tbuf_add(&out, ">", 1);
    /* twice: nothing is left of the line before */
    for (int turn = 0; turn < 2; turn++) {
        out.n = 1;
        assert_int_equal(raw_encode(p, w, text, strlen(text), &out), 0);
        tbuf_byte(&out, 0);
        assert_string_equal(out.p + 1, tokens);
        out.n = 1;
        raw_decode(p, w, tokens, strlen(tokens), &out);
        tbuf_byte(&out, 0);
        assert_string_equal(out.p, back);
    }
    tbuf_free(&out);
    raw_work_free(w);
}

#define CODES "#version: 0.2\nl o\nlo w</w>\n"

static void our_own_text_is_cut_by_codes_and_joined(void **state)
{
    (void)state;
    struct raw_text *p = folder("case-marker = true\n", CODES, "en");
    check(p, "Low LOWX,  low\tlo.", "\u21e7 low \u21ea lo@@ w@@ x , low l@@ o .",
          ">Low LOWX, low lo.");
    check(p, "", "", ">");
    check(p, "  ", "", ">");
    raw_close(p);
    /* entities, and French, whose apostrophes stay with what is before them */
    p = folder("", CODES, "fr");
    check(p, "l'low & low", "l@@ &@@ a@@ p@@ o@@ s@@ ; low &@@ a@@ m@@ p@@ ; low", ">l'low & low");
    raw_close(p);
    p = folder("no-escape = true\nfr.no-escape = false\n", CODES, NULL);
    check(p, "l'low", "l '@@ low", ">l'low");
    raw_close(p);
    /* words that are the model's tokens, with codes and without */
    p = folder("no-tokenize = true\n", NULL, "en");
    check(p, " a,  b .", "a, b .", ">a, b .");
    raw_close(p);
    p = folder("no-tokenize = true\n", CODES, "en");
    check(p, "lox .", "lo@@ x .", ">lox .");
    raw_close(p);
    assert_null(folder("", NULL, "en"));
    refused_for("m: has no codes");
    assert_null(folder(NULL, CODES, "en"));
    refused_for("m: has no file tokenizer");
    assert_null(folder("penn = 1\n", CODES, "en"));
    refused_for("m/tokenizer:1: ");
    assert_null(folder("", "a b c d\n", "en"));
    refused_for("m/codes:1: ");
}

static void word(struct raw_text *p, const char *text, const char *tokens)
{
    struct raw_work *w = raw_work_new(p);
    struct tbuf out = { 0 };
    tbuf_room(&out, 1);
    assert_int_equal(raw_encode_word(p, w, text, strlen(text), &out), 0);
    tbuf_byte(&out, 0);
    assert_string_equal(out.p, tokens);
    out.n = 0;
    raw_decode_word(p, tokens, strlen(tokens), &out);
    tbuf_byte(&out, 0);
    assert_string_equal(out.p, text);
    tbuf_free(&out);
    raw_work_free(w);
}

static void goes_on(struct raw_text *p, const char *token, const char *next, bool want)
{
    struct raw_work *w = raw_work_new(p);
    if (raw_goes_on(p, w, token, strlen(token), next, strlen(next)) != want)
        fail_msg("\"%s\", \"%s\"", token, next);
    raw_work_free(w);
}

static void words_and_where_they_end(void **state)
{
    (void)state;
    raw_close(folder(NULL, CODES, NULL));
    struct raw_text *p = raw_open_words("m");
    assert_non_null(p);
    word(p, "low", "low");
    word(p, "lowx", "lo@@ w@@ x");
    word(p, "", "");
    goes_on(p, "lo@@", "w", true);
    goes_on(p, "l@@", "w", true);
    goes_on(p, "low", "w", false);
    goes_on(p, "@@", "w", false);
    goes_on(p, "@@x", "w", false);
    /* decoding that ends within a word; a marker inside a token is text */
    struct tbuf out = { 0 };
    raw_decode_word(p, "lo@@", 4, &out);
    raw_decode_word(p, "@@x@", 4, &out);
    assert_int_equal(out.n, 6);
    assert_memory_equal(out.p, "lo@@x@", 6);
    /* as subword-nmt restores text: s/(@@ )|(@@ ?$)//g */
    out.n = 0;
    raw_decode_word(p, "lo@@ ", 5, &out);
    raw_decode_word(p, "@@ x @@", 7, &out);
    assert_int_equal(out.n, 4);
    assert_memory_equal(out.p, "lox ", 4);
    tbuf_free(&out);
    /* what stands behind a token is none of it */
    struct raw_work *w = raw_work_new(p);
    assert_true(raw_goes_on(p, w, "lo@@ w", 4, "w", 1));
    assert_false(raw_goes_on(p, w, "lo@@ w", 3, "w", 1));
    raw_work_free(w);
    raw_close(p);
    raw_close(folder(NULL, NULL, NULL));
    p = raw_open_words("m");
    assert_non_null(p);
    word(p, "lowx", "lowx");
    raw_close(p);

    char path[4096];
    const char *top = getenv("TOP");
    snprintf(path, sizeof path, "%s/test/golden/subwords/cased.txt", top ? top : ".");
    p = raw_open(path, NULL, false);
    if (!p) fail_msg("%s", err_msg());
    goes_on(p, "un", "##der", true);
    goes_on(p, "un", "der", false);
    raw_close(p);
    snprintf(path, sizeof path, "%s/test/golden/subwords/unigram.model", top ? top : ".");
    p = raw_open(path, NULL, false);
    if (!p) fail_msg("%s", err_msg());
    goes_on(p, "\u2581un", "der", true);
    goes_on(p, "\u2581un", "\u2581der", false);
    goes_on(p, "\u2581", "der", true);
    raw_close(p);
}

/* --- ids --- */

static void lines_as_ids(void **state)
{
    (void)state;
    struct vocab *v = vocab_make((const char *const[]){ "low", "lo@@", "x" }, NULL, 3);
    raw_close(folder("", CODES, "en"));
    struct reader_options o = reader_defaults;
    for (int raw = 0; raw < 2; raw++) {
        o.raw = raw;
        struct raw_reader *r = reader_open(&o, "m", "en", v, "name");
        assert_non_null(r);
        const char *line = raw ? "low lox  y" : "low lo@@ x y";
        for (int turn = 0; turn < 2; turn++) {
            assert_int_equal(reader_line(r, line, strlen(line)), 0);
            assert_int_equal(r->n, 4);
            assert_memory_equal(r->id, ((uint32_t[]){ 5, 6, 7, VOCAB_UNK }), 16);
        }
        reader_wrap(r);
        assert_int_equal(r->n, 6);
        assert_memory_equal(r->id, ((uint32_t[]){ VOCAB_BOS, 5, 6, 7, VOCAB_UNK, VOCAB_EOS }), 24);
        assert_int_equal(reader_line(r, "", 0), 0);
        assert_int_equal(r->n, 0);
        reader_wrap(r);
        assert_memory_equal(r->id, ((uint32_t[]){ VOCAB_BOS, VOCAB_EOS }), 8);
        /* 2 of 8 */
        assert_int_equal(reader_end(r), -1);
        refused_for("name: 8 tokens, 2 unknown (25.00%)");
        refused_for(raw ? "its language or script may be new to the model"
                        : "cut it with tokenize --subwords m");
        assert_int_equal(reader_end(r), 0);          /* said once */
        reader_close(r);
    }
    char *advice = reader_advice(NULL, false);
    assert_string_equal(advice, "cut it into tokens as the model's own text was (bpe-apply)");
    free(advice);
    vocab_free(v);
}

/* What to do where many tokens are unknown, by what the folder has: nothing, a tokeniser of our
 * own, an imported one. */
static void advice_names_what_cuts_text_for_the_model(void **state)
{
    (void)state;
#define PIECES(kind) "{ \"kind\": \"" kind "\", \"layout\": \"bert\", \"ids\": { \"bos\": 0, " \
                     "\"eos\": 1, \"pad\": 2, \"unk\": 3, \"mask\": 4 } }"
    static const char cut[] = "cut it into tokens as the model's own text was (bpe-apply)",
                      with[] = "if it is plain text, cut it with tokenize --subwords m";
    static const struct { const char *pieces, *settings, *advice; } t[] = {
        { NULL, NULL, cut },
        { NULL, "", with },
        { PIECES("bpe"), NULL, cut },
        { PIECES("bpe"), "", with },
        { PIECES("none"), NULL, cut },
        { PIECES("none"), "", cut },
        { PIECES("words"), NULL, with },
        { PIECES("wordpiece"), NULL, with },
        /* what is wrong with it is another's to say */
        { "{", NULL, cut },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        raw_close(folder(t[i].settings, CODES, "en"));
        if (t[i].pieces) file_write("m/pieces.json", t[i].pieces, strlen(t[i].pieces));
        char *got = reader_advice("m", false);
        if (strcmp(got, t[i].advice)) fail_msg("%zu: %s", i, got);
        free(got);
        got = reader_advice("m", true);
        assert_string_equal(got, "its language or script may be new to the model");
        free(got);
    }
}

int main(void)
{
    if (scratch_enter() < 0) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_languages_settings_win_wherever_they_stand),
        cmocka_unit_test(each_setting_by_its_name),
        cmocka_unit_test(what_is_no_setting_is_refused_with_its_line),
        cmocka_unit_test(our_own_text_is_cut_by_codes_and_joined),
        cmocka_unit_test(words_and_where_they_end),
        cmocka_unit_test(lines_as_ids),
        cmocka_unit_test(advice_names_what_cuts_text_for_the_model),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_leave();
    return failed;
}
