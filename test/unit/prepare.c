/* What stands before and beside the Moses tokeniser, against the scripts themselves: what
 * input-from-sgm.perl and normalize-punctuation.perl (mosesdecoder 34452895, Perl 5.36) and XLM's
 * lowercase_and_remove_accent.py (Python 3.11) write for text at the borders of their rules.
 * Generated text is compared by test/cli/tokenize.sh. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "common/err.h"
#include "lib/text/prepare.h"
#include "lib/text/prop.h"
#include "lib/text/segment.h"
#include "lib/text/tokenize.h"

/* Is what stands behind "x " in out as expected? */
static void is(const char *what, struct tbuf *out, const char *want)
{
    size_t n = strlen(want);
    if (out->n != n + 2 || memcmp(out->p, "x ", 2) || memcmp(out->p + 2, want, n) != 0)
        fail_msg("%s: \"%.*s\", not \"%s\"", what, (int)out->n - 2, out->p + 2, want);
    out->n = 2;
}

static void segments_of_sgm(void **state)
{
    (void)state;
    static const struct { const char *doc, *text; } t[] = {
        { "<seg id=1>a</seg>\n", "a\n" },
        { "<seg>a</seg>\n", "" },
        { "<seg >a</seg>\n", "a\n" },
        { "<segment x>a</seg>\n<seg i>b</seg>\n", "a\nb\n" },
        { "<SEG ID=1>A</SEG>\n<sEg i>b</sEG>\n", "A\nb\n" },
        { "<seg i>\na\n</seg>\n", "a\n" },
        { "<seg i> \t\n \n\na b</seg>\n", "a b\n" },
        { "<seg i>a</seg> x <seg j>b</seg>\n", "a</seg> x <seg j>b\n" },
        { "x <seg i> a  b \t\013\014 c </seg> y\n", "a b c\n" },
        { "<seg\n id=1>a</seg>\n<seg i>b</seg>\n", "b\n" },
        { "<seg i>a</s\neg>\n<seg j>b</seg>\n", "a\nb\n" },
        { "<seg i>a</seg>", "" },
        { "<seg i>a</seg> ", "a\n" },
        { "<seg i>a</seg>\n<seg i>", "a\n" },
        { "<seg i>a</seg><seg j>", "a\n" },
        { "<seg i>a</seg><seg j>\n", "a\n" },
        { "<seg i>a</seg><seg j> \n", "a\n" },
        { "<seg i>a</seg><seg j>\nb</seg>\n", "a</seg><seg j>b\n" },
        { "<seg i>a</seg><seg>\n", "a\n" },
        { "<seg i>a</seg><seg>\n<seg j>b</seg>\n", "a\nb\n" },
        { "<seg<seg>\na</seg>\n", "a\n" },
        { "<seg i>\r\na\r\n</seg>\r\n", "a\n" },
        { "", "" },
        { "\n", "" },
        { "<seg i></seg>\n", "\n" },
        { "<seg i>  </seg>\n", "\n" },
        { "</seg><seg i>a\nb</seg>\n<seg j>c</seg>\n", "ab\nc\n" },
        { "<seg i>a<seg j>b</seg>\n", "a<seg j>b\n" },
        { "<se<seg i>a</seg>\n", "a\n" },
        { "<seg><seg i>a</seg>\n", "a\n" },
        { "<seg i>a</seg</seg>\n", "a</seg\n" },
        { "<seg i>a\n\n b </seg> <seg k>c\n<seg j>d</seg>\n", "a b\nd\n" },
        { "<doc>\n<seg i>1</seg>\n</doc>\n<doc>\n<seg i>2\n</seg>\n</doc>\n", "1\n2\n" },
        { "<seg i>a", "" },
        { "<seg i>a\n", "" },
        { "a</seg>\n<seg i>b</seg>\n", "b\n" },
        { "<seg i>a></seg>\n<seg i>b</seg>\n", "a>\nb\n" },
        { "<seg i>>\na</seg>\n", ">a\n" },
        { "<seg i> a\n<seg>\nb</seg>\n", "a<seg>b\n" },
        { "<seg x>  a\u00a0b</seg>\n", "a\u00a0b\n" },
        { "<<seg x>a</seg>\n", "a\n" },
        { "<seg i>\n<seg j>\na</seg>\n<seg k>b</seg>\n", "<seg j>a\nb\n" },
        { "<seg i>\n<", "" },
        { "<seg i>\n<s\n<seg j>a</seg>\n", "<s<seg j>a\n" },
        { "<seg i>a\nb</seg><seg j>\nc</seg>\n<seg k>d</seg>\n", "ab\nd\n" },
    };
    struct tbuf out = { 0 };
    tbuf_add(&out, "x ", 2);
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        const char *s = t[i].doc, *end = s + strlen(s);
        struct sgm *g = sgm_new();
        sgm_feed(g, s, strlen(s), true, &out);
        is(s, &out, t[i].text);
        /* line by line, and the same reader once more */
        while (s < end) {
            const char *nl = memchr(s, '\n', (size_t)(end - s)), *stop = nl ? nl + 1 : end;
            sgm_feed(g, s, (size_t)(stop - s), false, &out);
            s = stop;
        }
        sgm_feed(g, s, 0, true, &out);
        is(t[i].doc, &out, t[i].text);
        sgm_free(g);
    }
    tbuf_free(&out);
}

static void punctuation_of_each_language(void **state)
{
    (void)state;
    static const struct { const char *lang; bool penn; const char *line, *want; } t[] = {
        { "en", false, "a(b)c ( d ) e", "a (b) c (d) e" },
        { "en", false, "(a) . (b) ! (c) : (d) ? (e) ; (f) , (g) - (h) .",
          " (a). (b)! (c): (d)? (e); (f), (g) - (h)." },
        { "en", false, "1 % 9 % a % 0 %", "1% 9% a % 0%" },
        { "en", false, "a : b ; c", "a: b; c" },
        { "en", false, "`a` ''b'' '''c", "'a' \" b \" \" 'c" },
        { "en", false, "„a“ b”", "\"a\" b\"" },
        { "en", false, "a–b—c", "a-b - c" },
        { "en", false, "d´e ‘f’ g’h i‘j 1’2 z’Z A’z @’a [’a a’{ `’a",
          "d'e 'f\" g'h i'j 1\"2 z'Z A'z @\"a [\"a a\"{ '\"a" },
        { "en", false, "‚a‘", "'a'" },
        { "en", false, "x ´´ y … z", "x \" y ... z" },
        { "en", false, "a\u00a0«\u00a0b\u00a0»\u00a0c «\u00a0d\u00a0» e«f»g",
          "a \"b\" c \"d\" e\"f\"g" },
        { "en", false, "5\u00a0% nº\u00a03 a\u00a0: 5\u00a0ºC", "5% nº 3 a: 5 ºC" },
        { "en", false, "6\u00a0cm a\u00a0? b\u00a0! c\u00a0; d,\u00a0e", "6 cm a? b! c; d, e" },
        { "en", false, "1\u00a02 9\u00a00 1\u00a02\u00a03 /\u00a01 1\u00a0: a\u00a01",
          "1.2 9.0 1.2\u00a03 /\u00a01 1: a\u00a01" },
        { "en", false, "a,\" b,\", c\"., d\". e", "a,\" b,,\" c.,\" d.\" e" },
        { "en", false, "a.\" b...\" c\".", "a.\" b...\" c.\"" },
        { "en", false, "a.\" <b .\" c. \"d", "a.\" <b .\" c. \"d" },
        { "en", false, ".\"", ".\"" },
        { "en", false, ". .\" x.\"  <y", ". .\" x.\" <y" },
        { "en", false, "x.\"  y.\"z", "x.\" y.\"z" },
        { "en", false, "\".", ".\"" },
        { "en", false, "\",,", ",,\"" },
        { "en", false, "a  b   c", "a b c" },
        { "en", false, "a\rb\r", "ab" },
        { "en", false, "a \u00a0«\u00a0b", "a \"b" },
        { "en", false, "a,\u00a0 b", "a, b" },
        { "en", false, "a.\"<b", "a.\"<b" },
        { "en", false, "a )", "a) " },
        { "en", false, ") .", ")." },
        { "en", false, "(", " (" },
        { "en", false, "a ).", "a)." },
        { "en", false, "2 %x", "2%x" },
        { "de", false, "1\u00a02 9\u00a00 1\u00a02\u00a03 /\u00a01 1\u00a0: a\u00a01",
          "1,2 9,0 1,2\u00a03 /\u00a01 1: a\u00a01" },
        { "de", false, "a,\" b,\", c\"., d\". e", "a\", b\",, c\"., d\". e" },
        { "de", false, "a.\" b...\" c\".", "a\". b\"... c\"." },
        { "de", false, "a.\" <b .\" c. \"d", "a\". <b \". c. \"d" },
        { "de", false, ".\"", "\"." },
        { "de", false, "a.\"<b", "a.\"<b" },
        { "de", false, ". .\" x.\"  <y", ". \". x\". <y" },
        { "de", false, "x.\"  y.\"z", "x\". y\".z" },
        { "de", false, "\".", "\"." },
        { "de", false, "\",,", "\",," },
        { "cs", false, "1\u00a02 9\u00a00 1\u00a02\u00a03 /\u00a01 1\u00a0: a\u00a01",
          "1,2 9,0 1,2\u00a03 /\u00a01 1: a\u00a01" },
        { "cs", false, "a,\" b,\", c\"., d\". e", "a,\" b,\", c\"., d\". e" },
        { "cs", false, "a.\" b...\" c\".", "a.\" b...\" c\"." },
        { "cs", false, "\".", "\"." },
        { "cs", false, "\",,", "\",," },
        { "cz", false, "1\u00a02 9\u00a00 1\u00a02\u00a03 /\u00a01 1\u00a0: a\u00a01",
          "1,2 9,0 1,2\u00a03 /\u00a01 1: a\u00a01" },
        { "cz", false, "a,\" b,\", c\"., d\". e", "a,\" b,\", c\"., d\". e" },
        { "es", false, "1\u00a02 9\u00a00 1\u00a02\u00a03 /\u00a01 1\u00a0: a\u00a01",
          "1,2 9,0 1,2\u00a03 /\u00a01 1: a\u00a01" },
        { "es", false, "a,\" b,\", c\"., d\". e", "a\", b\",, c\"., d\". e" },
        { "fr", false, "1\u00a02 9\u00a00 1\u00a02\u00a03 /\u00a01 1\u00a0: a\u00a01",
          "1,2 9,0 1,2\u00a03 /\u00a01 1: a\u00a01" },
        { "fr", false, "a,\" b,\", c\"., d\". e", "a\", b\",, c\"., d\". e" },
        { "ro", false, "a,\" b,\", c\"., d\". e", "a\", b\",, c\"., d\". e" },
        { "en", true, "`a` ''b'' '''c", "`a` \"b\" \"'c" },
        { "en", true, "d´e ‘f’ g’h i‘j 1’2 z’Z A’z @’a [’a a’{ `’a",
          "d'e 'f\" g'h i'j 1\"2 z'Z A'z @\"a [\"a a\"{ `\"a" },
    };
    struct prepare_work w = { 0 };
    struct tbuf out = { 0 };
    tbuf_add(&out, "x ", 2);
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct prepare_options o = { .punctuation = true, .penn = t[i].penn, .lang = t[i].lang };
        char what[200], want[200];
        snprintf(what, sizeof what, "-l %s%s: \"%s\"", t[i].lang, o.penn ? " -penn" : "",
                 t[i].line);
        prepare_line(&o, &w, t[i].line, strlen(t[i].line), true, &out);
        snprintf(want, sizeof want, "%s\n", t[i].want);
        is(what, &out, want);
    }
    /* the newline counts as a character behind a quotation mark */
    prepare_line(&(struct prepare_options){ .punctuation = true, .lang = "de" }, &w, "a.\"", 3,
                 false, &out);
    is("-l de, no newline", &out, "a.\"");
    tbuf_free(&out);
    prepare_work_free(&w);
}

/* replace-unicode-punctuation.perl and remove-non-printing-char.perl, each alone. */
static void punctuation_of_unicode_and_what_does_not_print(void **state)
{
    (void)state;
    static const struct { const char *line, *want; } t[] = {
        { "，。、”“∶：？《》）！（；１」「", ",. ,\"\"::?\"\")!(;1\"\"" },
        { "０３２５６９７８４．～’…━〈〉【】％", "032569784. ~'...-<>[]%" },
        { "a。b", "a. b" },
        { "a。  b。 ", "a. b. " },
        { "。", ". " },
        { "a．b", "a. b" },
        { "a．  b．", "a. b. " },
        { "．．", ". . " },
        { "。 。", ". . " },
        { "。\t b", ". \t b" },
        { "x，  y", "x,  y" },
        { "a …　b", "a ...　b" },
    };
    struct prepare_work w = { 0 };
    struct tbuf out = { 0 };
    tbuf_add(&out, "x ", 2);
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        prepare_line(&(struct prepare_options){ .unicode_punctuation = true }, &w, t[i].line,
                     strlen(t[i].line), false, &out);
        is(t[i].line, &out, t[i].want);
    }
    static const char odd[] = "a\001b \037\177\u200b\ue000 ~\u00ad\u0378x";
    for (int newline = 0; newline < 2; newline++) {
        prepare_line(&(struct prepare_options){ .non_printing = true }, &w, odd, sizeof odd - 1,
                     newline, &out);
        is("what does not print", &out, "a b      ~  x\n");
    }
    tbuf_free(&out);
    prepare_work_free(&w);
}

static void small_letters_without_accents(void **state)
{
    (void)state;
    static const struct { const char *line, *want; } t[] = {
        { "ΑΣ ΑΣΑ Σ ΑΣ. Α.Σ ΑΣ'Β", "ας ασα σ ας. α.ς ασ'β" },
        { "1Σ Σ1 ΑΣ1", "1σ σ1 ας1" },
        { "Α\u0301Σ ΑΣ\u0301 ΑΣ\u0301Α", "ας ας ασα" },
        { "ΣΣ ΣΣ.", "σς σς." },
        { "Α\u00adΣ ΑΣ\u00adΑ ªΣ", "α\u00adς ασ\u00adα ªς" },
        { "ΣΑΣ", "σας" },
        { "AΣ", "aς" },
        { "İI ı", "ii ı" },
        { "ÀÉ Ǆ ǅ Å Ω K", "ae ǆ ǆ a ω k" },
        { "ẞ ß", "ß ß" },
        { "한글", "한글" },
        { "ab \t\u3000", "ab" },
        { "É\034\035\036\037", "e" },
        { "ab\034\037 \013\014", "ab" },
        { "AZ@[`az{", "az@[`az{" },
        { "é\xC2\x85", "e" },
        { "\u0301", "" },
        { " ", "" },
        { "", "" },
        { "\u00a0", "" },
        { "Ⅷ Ⓐ 𐐀 𞤀", "ⅷ ⓐ 𐐨 𞤢" },
        { "अ\u0902 ক\u09bc", "अ ক" },
        { "ệ", "e" },
        { "𝐀A", "𝐀a" },
        { "Σ", "σ" },
        { "ⅠΣ", "ⅰς" },
        { "ab\u200b", "ab\u200b" },
        { "\u0345Σ Α\u0345Σ", "σ ας" },
        { "É Z", "e z" },
        { "ZÉ[", "ze[" },
    };
    struct tbuf out = { 0 };
    tbuf_add(&out, "x ", 2);
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        char text[100], want[200];
        snprintf(text, sizeof text, "%s\n%s\n", t[i].line, t[i].line);
        snprintf(want, sizeof want, "%s\n%s\n", t[i].want, t[i].want);
        assert_int_equal(lower_accents(text, strlen(text), &out), 0);
        is(t[i].line, &out, want);
        /* a last line without a newline gets one */
        assert_int_equal(lower_accents(text, strlen(text) - 1, &out), 0);
        is(t[i].line, &out, *t[i].line ? want : "\n");
    }
    assert_int_equal(lower_accents("", 0, &out), 0);
    is("nothing", &out, "");
    tbuf_free(&out);
}

/* Which languages ICU cuts, and what it makes of text whose words Unicode's own rules tell (UAX
 * 29), and of two words that any dictionary of Thai has. White space and control characters are no
 * words. */
static void words_by_icu(void **state)
{
    (void)state;
    static const char *const wanted[] = { "th", "zh", "ja", "zh-CN", "zh_TW", "th-TH", "ja_JP" },
                            *const others[] = { "", "t", "z", "en", "thx", "zho", "jav", "th.TH",
                                                "Th", "xth", "zgh" };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!segment_wanted(wanted[i])) fail_msg("%s is not cut", wanted[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (segment_wanted(others[i])) fail_msg("%s is cut", others[i]);
    static const struct { const char *line, *want; } t[] = {
        { "ab cd,e", "ab cd , e" },
        { "3.5 can't a.b", "3.5 can't a.b" },
        { "  a \u00a0 b\u3000", "a b" },
        { "a\001b\037c\td", "a b c d" },
        { "\U0001D400\U0001D401 x\u00e9", "\U0001D400\U0001D401 x\u00e9" },
        { "\U0001F600\U0001F600", "\U0001F600 \U0001F600" },
        { "ภาษาไทย", "ภาษา ไทย" },
        { "", "" },
        { " ", "" },
        { "a", "a" },
    };
    struct segment *s = segment_new("th");
    if (!s) fail_msg("%s", err_msg());
    struct tbuf out = { 0 };
    tbuf_add(&out, "x ", 2);
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        assert_int_equal(segment_line(s, t[i].line, strlen(t[i].line), &out), 0);
        is(t[i].line, &out, t[i].want);
    }
    tbuf_free(&out);
    segment_free(s);
}

/* Which way a language's text is cut, and what else changes it: the note that shards have. */
static void notes_of_each_way(void **state)
{
    (void)state;
    static const struct { const char *lang, *way; } t[] = {
        { "en", "moses" }, { "ne", "indic" }, { "si", "indic" }, { "ne-NP", "indic" },
        { "si_LK", "indic" }, { "nep", "moses" }, { "n", "moses" }, { "hi", "moses" },
        { "sin", "moses" }, { "th", "icu-" }, { "zh-TW", "icu-" }, { "", "moses" },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        char note[128], want[128];
        struct tokenize_options o = { .lang = t[i].lang };
        tokenizer_describe(&o, note);
        snprintf(want, sizeof want, "tokenize -l %s %s%s", t[i].lang, t[i].way,
                 t[i].way[1] == 'c' ? prop_icu_version() : "");
        assert_string_equal(note, want);
        o.no_tokenize = true;
        tokenizer_describe(&o, note);
        snprintf(want, sizeof want, "tokenize -l %s none", t[i].lang);
        assert_string_equal(note, want);
        /* (its normaliser knows languages in Devanagari alone) */
        o.prepare.indic = true;
        struct tokenizer *z = tokenizer_new(&o, NULL);
        bool known = !strncmp(t[i].lang, "ne", 2) && t[i].lang[2] != 'p';
        assert_int_equal(z != NULL, known || !strcmp(t[i].lang, "hi"));
        tokenizer_free(z);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(segments_of_sgm), cmocka_unit_test(punctuation_of_each_language),
        cmocka_unit_test(punctuation_of_unicode_and_what_does_not_print),
        cmocka_unit_test(small_letters_without_accents), cmocka_unit_test(words_by_icu),
        cmocka_unit_test(notes_of_each_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
