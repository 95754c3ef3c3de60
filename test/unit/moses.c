/* The Moses tokeniser's one pass against its rules, one after another: the same bytes for any text.
 * Both are held to the script's own output by test/cli/tokenize.sh. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/rng.h"
#include "lib/text/moses.h"
#include "test/unit/scratch.h"

static const char *const part[] = {
    "a",  "B",  "s",  "É",  "ß", "中", "1",  "٣", "½",  "Ⅷ", ".",  ".",  "..", "...", ",",  ",",
    "'",  "'",  "''", "-",  "-", ":",  "·",  "Â", "`",  "\"", "&",  "<",  ">",  "¿",   "$",  "_",
    " ",  " ",  " ",  "  ", "\t", "\u00A0", "\u0301", "ʼ", "\x01", "Dr", "No", "DOTMULTI", "x.y",
};

static void one_pass_gives_what_the_rules_give(void **state)
{
    (void)state;
    file_write("list", "Dr\na\nNo #NUMERIC_ONLY#\n", 23);
    struct nonbreaking *list = nonbreaking_read("list");
    assert_non_null(list);
    static const char *const lang[] = { "en", "fr", "fi", "tdt", "ca", "so", "de" };
    struct rng r = { .key = { 11, RNG_TEST, 0 } };
    struct moses_work *w = moses_work_new(), *v = moses_work_new();
    struct tbuf pass = { 0 }, rules = { 0 };
    size_t by_rules = 0, lines = 0;
    for (int l = 0; l < 7; l++)
        for (int o = 0; o < 4; o++) {
            struct moses_options how = { .lang = lang[l], .aggressive = o & 1, .no_escape = o & 2,
                                         .skip_xml = o == 3, .nonbreaking = list };
            struct moses *m = moses_new(&how);
            if (!m) fail_msg("%s", err_msg());
            for (int i = 0; i < 1500; i++) {
                char line[256];
                size_t n = 0;
                for (uint64_t k = rng_next_below(&r, 14); k; k--) {
                    const char *p = part[rng_next_below(&r, sizeof part / sizeof *part)];
                    memcpy(line + n, p, strlen(p));
                    n += strlen(p);
                }
                pass.n = rules.n = 0;
                int got = moses_line(m, w, line, n, &pass),
                    want = moses_rules(m, v, line, n, &rules);
                lines++;
                by_rules += want == 0;
                if (got != want || pass.n != rules.n || memcmp(pass.p, rules.p, pass.n) != 0)
                    fail_msg("-l %s, %d: \"%.*s\": \"%.*s\", not \"%.*s\"", lang[l], o, (int)n,
                             line, (int)pass.n, pass.p, (int)rules.n, rules.p);
            }
            moses_free(m);
        }
    /* hardly any is white space alone */
    assert_true(by_rules > lines * 8 / 10);
    tbuf_free(&pass);
    tbuf_free(&rules);
    moses_work_free(w);
    moses_work_free(v);
    nonbreaking_free(list);
}

/* Protected patterns as Perl reads them: classes and their complements, inside and outside of
 * brackets, escapes, letters that a backslash does not change in a variable. What tokenizer.perl
 * -protected (mosesdecoder 34452895, Perl 5.36) prints. */
static void protected_patterns_are_perls(void **state)
{
    (void)state;
    static const struct { const char *pattern, *line, *want; } t[] = {
        { ";[[:^alpha:]]", ";1 ;a ;-", ";1 ; a ;-" },
        { ";[[:alpha:]-]", ";a ;1 ;-", ";a ; 1 ;-" },
        { ";[[:upper:]]", ";A ;a ;1", ";A ; a ; 1" },
        { ";[[:lower:]]", ";A ;a ;1", "; A ;a ; 1" },
        { ";[[:alnum:]]", ";1 ;a ;-", ";1 ;a ; -" },
        { ";[[:word:]]", ";_ ;a ;-", ";_ ;a ; -" },
        { ";[[:digit:]]", ";1 ;a ;٣", ";1 ; a ;٣" },
        { ";[[:^digit:]]", ";1 ;a ;٣", "; 1 ;a ; ٣" },
        { ";[^[:^digit:]]", ";1 ;a ;-", ";1 ; a ; -" },
        { ";[^[:^digit:]2]", ";1 ;2 ;a", ";1 ; 2 ; a" },
        { ";[\\W2]", ";- ;2 ;a", ";- ;2 ; a" },
        { ";[\\W\\S]", ";- ;a ;2", ";- ;a ;2" },
        { ";\\H", ";a ;- ;1", ";a ;- ;1" },
        { ";\\PL", ";1 ;a ;-", ";1 ; a ;-" },
        { ";\\P{L}", ";1 ;a ;-", ";1 ; a ;-" },
        { ";\\P{IsL}", ";1 ;a ;-", ";1 ; a ;-" },
        { ";\\Qx", ";Qx ;x", ";Qx ; x" },
        { ";\\Ex", ";Ex ;x", ";Ex ; x" },
        { ";\\Lx", ";Lx ;x", ";Lx ; x" },
        { ";[\\]x]", ";] ;x ;y", ";] ;x ; y" },
        { ";[]x]", ";] ;x ;y", ";] ;x ; y" },
        { ";\\-x", ";-x ;x", ";-x ; x" },
        { ";\\Bx", ";x a;x", "; x a ; x" },
        { ";x\\B", ";xa ;x-", ";x a ;x -" },
        { ";a\\b", ";a- ;ab", ";a - ;a b" },
        /* at the end of the pattern; ½ is a number, and no digit */
        { ";\\w", ";½ ;a", "; ½ ;a" },
        { ";\\W", ";½ ;a", ";½ ; a" },
        { ";[[:alpha:]\\w]", ";½ ;a", "; ½ ;a" },
        { ";x\\E", ";xE ;x", ";xE ; x" },
        { ";x\\l", ";xl ;x", ";xl ; x" },
        { ";\\ux", ";ux ;x", ";ux ; x" },
        { ";\\Ux", ";Ux ;x", ";Ux ; x" },
        { ";\\lx", ";lx ;x", ";lx ; x" },
        { ";\\Fx", ";Fx ;x", ";Fx ; x" },
    };
    file_write("none", "#\n", 2);
    struct nonbreaking *list = nonbreaking_read("none");
    struct moses_work *w = moses_work_new();
    struct tbuf out = { 0 };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        file_write("patterns", t[i].pattern, strlen(t[i].pattern));
        struct moses_options how = { .lang = "en", .no_escape = true, .nonbreaking = list,
                                     .protected_file = "patterns" };
        struct moses *m = moses_new(&how);
        if (!m) fail_msg("%s", err_msg());
        out.n = 0;
        assert_int_equal(moses_line(m, w, t[i].line, strlen(t[i].line), &out), 0);
        tbuf_byte(&out, 0);
        if (strcmp(out.p, t[i].want))
            fail_msg("%s: \"%s\": \"%s\", not \"%s\"", t[i].pattern, t[i].line, out.p, t[i].want);
        moses_free(m);
    }
    tbuf_free(&out);
    moses_work_free(w);
    nonbreaking_free(list);
}

/* What tokenizer.perl -no-escape (mosesdecoder 34452895, Perl 5.36) prints with the list below: of
 * its own placeholder in a text, control characters, marks at the ends of lines, and of patterns
 * that match the last space of its text. how: 'a' -a, 'x' -x, 'p' -protected. */
static void odd_lines_are_the_scripts(void **state)
{
    (void)state;
    static const struct { const char *lang; char how; const char *line, *want; } t[] = {
        { "en", 0, "No. 5 a. B. No. X No. x Dr. X", "No. 5 a. B . No . X No. x Dr. X" },
        { "en", 0, " .'", " . ' " },
        { "en", 0, "x.' ", "x . ' " },
        { "en", 0, " \001 . a", ". a" },
        { "en", 0, "a \001 b.\001 c", "a b. c" },
        { "en", 0, "\001a\002 \003 B. C", "a B . C" },
        { "en", 0, "\001 1, ", "1 ," },
        { "en", 0, "\0011,", "1 ," },
        { "en", 0, "DOTMULTI.DOTMULTI. x", ".. .. x" },
        { "en", 0, "DOTMULTI.DOTMULTI.DOTMULTI.a", ".. .... a" },
        { "en", 0, "DOTMULTI..DOTMULTI. x", ". .. .. x" },
        { "en", 0, "DOTMULTI.DOTMULTI..x", ".. . .. x" },
        { "en", 0, "DOTMULTI.DOTMULTIx", ".. .x" },
        { "en", 0, "DOTMULTI..DOTMULTIx..", ". .. .x .." },
        { "en", 0, "aDOTMULTI DOTDOTMULTI xDOT", "a. .. xDOT" },
        { "en", 0, "DOTMULTI x. b x. B", ". x. b x . B" },
        { "en", 0, "DOTMULTI No. 0 No. 9 No. X No. :", ". No. 0 No. 9 No . X No . :" },
        { "en", 0, "DOTMULTI a.b. C 1.2. C .. a,", ". a.b. C 1.2 . C .. a ," },
        { "en", 0, "DOTMULTI . a . ", ". . a ." },
        { "en", 0, "DOTMULTI a.", ". a ." },
        { "en", 0, "\001a. ", "a ." },
        { "en", 0, "DOTMULTI ,1,,2 ,, 1,", ". , 1 , , 2 , , 1 ," },
        { "en", 0, "1,DOTMULTI", "1 , ." },
        { "en", 0, "DOTMULTI x.' ", ". x . ' " },
        { "en", 0, "DOTMULTI l'a 'b 1's 1't d' ''x", ". l 'a ' b 1 's 1't d ' ' ' x" },
        { "fr", 0, "DOTMULTI l'a 'b 1'c d'", ". l' a ' b 1 ' c d'" },
        { "so", 0, "DOTMULTI l'a 'b 1'c d' ", ". l'a ' b 1 ' c d'" },
        { "de", 0, "DOTMULTI l'a", ". l ' a" },
        { "ca", 0, "aÂ·b Â· Â·", "aÂ·b Â· Â·" },
        { "ca", 0, "Â·Â·", "Â· Â·" },
        { "ca", 0, "l·l DOTMULTI ·", "l·l . ·" },
        { "sv", 0, "DOTMULTI a:b a: :B", ". a:b a : : B" },
        { "tdt", 0, "DOTMULTI a'b a' 'B '", ". a'b a ' ' B '" },
        { "en", 'a', "DOTMULTI a-b -c d- e--f 1-a a-", ". a @-@ b -c d- e--f 1 @-@ a a-" },
        { "en", 'x', "<>", "< >" },
        { "en", 'x', "<a>", "<a>" },
        { "en", 'x', "<a> ", "< a >" },
        { "en", 'p', "a-Bx a-B", "a-B x  a-B" },
        { "en", 'p', "1 x ", "1 x " },
        { "en", 'p', "x1x. b", "x1 x. b" },
    };
    file_write("prefixes", "Dr\na\nNo #NUMERIC_ONLY#\n", 23);
    file_write("keep", "a-B\nx.\n", 7);
    struct nonbreaking *list = nonbreaking_read("prefixes");
    struct moses_work *w = moses_work_new();
    struct tbuf out = { 0 };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct moses_options how = { .lang = t[i].lang, .aggressive = t[i].how == 'a',
                                     .no_escape = true, .skip_xml = t[i].how == 'x',
                                     .nonbreaking = list,
                                     .protected_file = t[i].how == 'p' ? "keep" : NULL };
        struct moses *m = moses_new(&how);
        if (!m) fail_msg("%s", err_msg());
        /* in one pass, and rule by rule */
        for (int by_rules = 0; by_rules < 2; by_rules++) {
            out.n = 0;
            (by_rules ? moses_rules : moses_line)(m, w, t[i].line, strlen(t[i].line), &out);
            tbuf_byte(&out, 0);
            if (strcmp(out.p, t[i].want))
                fail_msg("-l %s: \"%s\": \"%s\", not \"%s\"", t[i].lang, t[i].line, out.p,
                         t[i].want);
        }
        moses_free(m);
    }
    tbuf_free(&out);
    moses_work_free(w);
    nonbreaking_free(list);
}

/* Which words a list names, and of which kind: what tokenizer.perl's load_prefixes (mosesdecoder
 * 34452895, Perl 5.36) has for each of these lines. */
static void lists_of_prefixes_are_read_as_the_script_reads_them(void **state)
{
    (void)state;
    static const struct { const char *line, *word; int kind; } t[] = {
        { "Dr", "Dr", NONBREAKING_YES },
        { "No #NUMERIC_ONLY#", "No", NONBREAKING_NUMERIC },
        { "Art\t#NUMERIC_ONLY#", "Art", NONBREAKING_NUMERIC },
        /* one space goes */
        { "pp  #NUMERIC_ONLY#", "pp ", NONBREAKING_NUMERIC },
        /* what follows the mark is nothing; the last mark behind white space counts */
        { "x #NUMERIC_ONLY# y", "x", NONBREAKING_NUMERIC },
        { "w #NUMERIC_ONLY#v", "w", NONBREAKING_NUMERIC },
        { "z #NUMERIC_ONLY# #NUMERIC_ONLY#", "z #NUMERIC_ONLY#", NONBREAKING_NUMERIC },
        { "t #NUMERIC_ONLY##NUMERIC_ONLY#", "t", NONBREAKING_NUMERIC },
        { "y#NUMERIC_ONLY#", "y#NUMERIC_ONLY#", NONBREAKING_YES },
        { "u #NUMERIC_ONLY", "u #NUMERIC_ONLY", NONBREAKING_YES },
        { " #NUMERIC_ONLY#", "", NONBREAKING_NUMERIC },
        /* what is white space */
        { "s\r#NUMERIC_ONLY#", "s", NONBREAKING_NUMERIC },
        { "r\v#NUMERIC_ONLY#", "r", NONBREAKING_NUMERIC },
        { "q\b#NUMERIC_ONLY#", "q\b#NUMERIC_ONLY#", NONBREAKING_YES },
        { "p\x0E#NUMERIC_ONLY#", "p\x0E#NUMERIC_ONLY#", NONBREAKING_YES },
        { "N\u00A0#NUMERIC_ONLY#", "N", NONBREAKING_NUMERIC },
        { "M\u3000#NUMERIC_ONLY#", "M", NONBREAKING_NUMERIC },
        { "L\xC2\x85#NUMERIC_ONLY#", "L", NONBREAKING_NUMERIC },
        { "J\u00A0 #NUMERIC_ONLY#", "J\u00A0", NONBREAKING_NUMERIC },
        { "K\u200B#NUMERIC_ONLY#", "K\u200B#NUMERIC_ONLY#", NONBREAKING_YES },
        { "ä#NUMERIC_ONLY#", "ä#NUMERIC_ONLY#", NONBREAKING_YES },
        /* "0" is false in Perl */
        { "0", NULL, 0 }, { "00", "00", NONBREAKING_YES }, { "# c", NULL, 0 }, { "", NULL, 0 },
        { "Cr\r", "Cr\r", NONBREAKING_YES },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        file_write("list", t[i].line, strlen(t[i].line));
        struct nonbreaking *list = nonbreaking_read("list");
        assert_non_null(list);
        if (t[i].word && nonbreaking_find(list, t[i].word, strlen(t[i].word)) != t[i].kind)
            fail_msg("\"%s\" is not \"%s\" of kind %d", t[i].line, t[i].word, t[i].kind);
        /* nothing else: not the whole line where a part of it is the word */
        if (!t[i].word || strcmp(t[i].word, t[i].line))
            assert_int_equal(nonbreaking_find(list, t[i].line, strlen(t[i].line)), NONBREAKING_NO);
        nonbreaking_free(list);
    }
    /* the later line counts */
    static const char twice[] = "a\na #NUMERIC_ONLY#\nb #NUMERIC_ONLY#\nb\n";
    file_write("list", twice, sizeof twice - 1);
    struct nonbreaking *list = nonbreaking_read("list");
    assert_int_equal(nonbreaking_find(list, "a", 1), NONBREAKING_NUMERIC);
    assert_int_equal(nonbreaking_find(list, "b", 1), NONBREAKING_YES);
    nonbreaking_free(list);
}

int main(void)
{
    if (scratch_enter() < 0) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_pass_gives_what_the_rules_give),
        cmocka_unit_test(protected_patterns_are_perls),
        cmocka_unit_test(odd_lines_are_the_scripts),
        cmocka_unit_test(lists_of_prefixes_are_read_as_the_script_reads_them),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_leave();
    return failed;
}
