/* The detokeniser against Moses' own: what detokenizer.perl (mosesdecoder 34452895, Perl 5.36)
 * prints for lines that stand at the borders of its rules. Generated text is compared by
 * test/cli/tokenize.sh. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "common/utf8.h"
#include "lib/text/moses.h"

/* one for all lines: what one leaves there must not reach the next */
static struct detok_work *work;

/* Is the line's text as expected? It is added behind what stands in `out` already. */
static int line_is(const char *lang, bool uppercase, const char *line, const char *want)
{
    struct detok *d = detok_new(&(struct detok_options){ lang, uppercase });
    struct tbuf out = { 0 };
    size_t n = strlen(want);
    tbuf_add(&out, "x ", 2);
    int copied = detok_line(d, work, line, strlen(line), &out);
    if (out.n != n + 2 || memcmp(out.p, "x ", 2) || memcmp(out.p + 2, want, n) != 0)
        fail_msg("-l %s%s: \"%s\": \"%.*s\", not \"%s\"", lang, uppercase ? " -u" : "", line,
                 (int)out.n - 2, out.p + 2, want);
    tbuf_free(&out);
    detok_free(d);
    return copied;
}

static void lines_are_as_the_script_writes_them(void **state)
{
    (void)state;
    static const struct { const char *lang; bool uppercase; const char *line, *want; } t[] = {
        { "de", 0, "a @-@ b @-@ c", "a-b-c" },
        { "de", 0, "a @-@", "a-" },
        { "de", 0, "@-@ b", "-b" },
        { "de", 0, "a @-@b", "a @-@b" },
        { "de", 0, "a @-@@-@ b", "a @-@@-@ b" },
        { "de", 0, "&bar; &#124; &lt;b&gt; &bra; &ket; x", "| | <b> [] x" },
        { "de", 0, "&quot; &apos; &#91; &#93; &amp; &amp;lt; &amp &x;", "\"'[] & &lt; &amp &x;" },
        { "de", 0, "&amp;", "&" },
        { "de", 0, "x &lt", "x &lt" },
        { "de", 0, "&bar", "&bar" },
        { "de", 0, "<a ,  b >", "<a ,  b >" },
        { "de", 0, "<>", "<>" },
        { "de", 0, "<a> ,", "<a>," },
        { "de", 0, "a <b>", "a <b>" },
        { "de", 0, "<", "<" },
        { "de", 0, ">", ">" },
        { "de", 0, "< ,", "<," },
        { "de", 0, "<,>", "<,>" },
        { "de", 0, "  ", "  " },
        { "de", 0, "\u00A0\t\u3000", "\u00A0\t\u3000" },
        { "de", 0, "\u00A0 ,", "\u00A0," },
        { "de", 0, "a ( b [ c { d $ e € f ¿ g ¡ h ¢ i", "a (b [c {d $e €f ¿g ¡h ¢i" },
        { "de", 0, "a , b . c ? d ! e : f ; g \\ h % i } j ] k ) l",
          "a, b. c? d! e: f; g\\ h% i} j] k) l" },
        { "de", 0, "a ([ b ([, c", "a ([b ([, c" },
        { "de", 0, "a ,. b ,( c", "a,. b ,( c" },
        { "de", 0, "a * b & c # d", "a * b & c # d" },
        { "de", 0, " a  b ", "a b" },
        { "de", 0, "a   , b", "a , b" },
        { "de", 0, ", a", ", a" },
        { "de", 0, "( ( a", "((a" },
        { "de", 0, "a (", "a (" },
        { "de", 0, "a ( ,", "a (," },
        { "de", 0, "中 ( 中 , 中", "中 (中, 中" },
        { "fr", 0, "a ? b ! c : d ; e \\ f % g , h . i ?! j ) k } l",
          "a ? b ! c : d ; e \\ f % g, h. i?! j) k} l" },
        { "fr", 0, "a ( ? b", "a ( ? b" },
        { "fr", 0, "l' eau qu' il aujourd' hui l' 8 8' a ' a l'",
          "l'eau qu'il aujourd'hui l' 8 8' a 'a l'" },
        { "fr", 0, "à l' école l' École a'' b x' ( y' ''",
          "à l'école l'École a'' b x' (y' ''" },
        { "fr", 0, "l'", "l'" },
        { "it", 0, "l' eau ? un' a . l'", "l'eau? un'a. l'" },
        { "es", 0, "l' eau ? un' a . l' a", "l' eau? un' a. l' a" },
        { "en", 0, "it 's he 'd É 's 1990 's ! 's 's", "it's he'd É's 1990's! 's's" },
        { "en", 0, "'s a 'É b '1 c ' d 's", "'s a'É b '1 c 'd's" },
        { "en", 0, "a 'ß x ٣ 's _ 's", "a'ß x ٣'s _ 's" },
        { "en", 0, "the Jones ' house", "the Jones' house" },
        { "en", 0, "a ' b ' c ' d s ' e", "a 'b' c 'd s' e" },
        { "en", 0, "s ' ' a", "s' 'a" },
        { "en", 0, "is ' a '", "is' a '" },
        { "en", 0, "a '' b '' c ` d ` e", "a ''b'' c `d` e" },
        { "en", 0, "\" a \" b \" c \"", "\"a\" b \"c\"" },
        { "en", 0, "„ a “ b", "„a“ b" },
        { "en", 0, "„ a \" b", "„a\" b" },
        { "en", 0, "“ a \" b “", "“a\" b “" },
        { "en", 0, "” a „“ b \" c '\" d '\" e", "” a „“b\" c '\"d'\" e" },
        { "en", 0, "' \" a ' b", "'\"a' b" },
        { "en", 0, "a 'b", "a'b" },
        { "en", 0, "a '", "a '" },
        { "de", 0, "it 's the Jones ' house", "it 's the Jones 'house" },
        { "cs", 0, "1 , 9 0 . 9 1 / 2 1 : 2 , , 3", "1,9 0.9 1 / 2 1: 2,, 3" },
        { "cs", 0, "a , 1 1 , a 10 , 90 x", "a, 1 1, a 10,90 x" },
        { "cs", 0, "9 . 0", "9.0" },
        { "cs", 0, "2 ,, 3 x 1 , 2", "2,, 3 x 1,2" },
        { "cs", 0, ". 5", ". 5" },
        { "cs", 0, "e - mail x e – MAIL x e - Mailto: x e - mai x",
          "e-mail x e–MAIL x e-Mailto: x e - mai x" },
        { "cs", 0, "e - mail", "e - mail" },
        { "cs", 0, "e - mail x", "e-mail x" },
        { "cs", 0, "je - li a je - LI a je - lix a je – lI .",
          "je-li a je-LI a je - lix a je–lI." },
        { "cs", 0, "1 - li a , - li b é - li c", "1 - li a, - li b é-li c" },
        { "cs", 0, "e -- mail x", "e -- mail x" },
        { "cs", 0, "„ a “ b", "„a“ b" },
        { "cs", 0, "„ a „ b “ c “ d", "„a „b“ c“ d" },
        { "cs", 0, "“ a “ b", "“ a“ b" },
        { "cs", 0, "\" a \" b „ c \" d", "\"a\" b „c\" d" },
        { "en", 0, "1 , 9 e - mail x", "1, 9 e - mail x" },
        { "fi", 0, "EU: n EU : n x EU: Nko EU: ssako EU: SSA",
          "EU:n EU:n x EU:nko EU:ssako EU: SSA" },
        { "fi", 0, "a: Än a: Ällä a: Llä a: lläni a: llänsakään",
          "a:än a: Ällä a:llä a:lläni a:llänsakään" },
        { "fi", 0, "a: ÄN a: änmmekin a: ineko a: inemmeko a: inekoko a: n1 a: nn",
          "a: ÄN a:änmmekin a:ineko a:inemmeko a: inekoko a: n1 a: nn" },
        { "fi", 0, "a: hönnne a: seensihan a: Ksepä a: an n : a",
          "a:hönnne a:seensihan a:ksepä a:an n:a" },
        { "en", 0, "EU: n", "EU: n" },
        { "fi", 0, "X: N X: n X: A X: a X: Ä X: ä", "X:n X:n X:a X:a X:ä X:ä" },
        { "fi", 0, "X: ssa X: Ssa X: ssä X: Ssä X: sta X: stä",
          "X:ssa X:ssa X:ssä X:ssä X:sta X:stä" },
        { "fi", 0, "X: Sta X: Stä X: hun X: Hun X: hyn X: Hyn",
          "X:sta X:stä X:hun X:hun X:hyn X:hyn" },
        { "fi", 0, "X: han X: Han X: hän X: Hän X: hön X: Hön",
          "X:han X:han X:hän X:hän X:hön X:hön" },
        { "fi", 0, "X: un X: Un X: yn X: Yn X: an X: An", "X:un X:un X:yn X:yn X:an X:an" },
        { "fi", 0, "X: än X: Än X: ön X: Ön X: seen X: Seen",
          "X:än X:än X:ön X:ön X:seen X:seen" },
        { "fi", 0, "X: lla X: Lla X: llä X: Llä X: lta X: Lta",
          "X:lla X:lla X:llä X:llä X:lta X:lta" },
        { "fi", 0, "X: ltä X: Ltä X: lle X: Lle X: ksi X: Ksi",
          "X:ltä X:ltä X:lle X:lle X:ksi X:ksi" },
        { "fi", 0, "X: kse X: Kse X: tta X: Tta X: ine X: Ine",
          "X:kse X:kse X:tta X:tta X:ine X:ine" },
        { "fi", 0, "X: nni X: nsi X: nmme X: nnne X: nnsa", "X:nni X:nsi X:nmme X:nnne X:nnsa" },
        { "fi", 0, "X: nko X: nkö X: nhan X: nhän X: npa", "X:nko X:nkö X:nhan X:nhän X:npa" },
        { "fi", 0, "X: npä X: nkaan X: nkään X: nkin", "X:npä X:nkaan X:nkään X:nkin" },
        { "fi", 0, "X: nsin X: nkinsi X: nnsakin", "X: nsin X: nkinsi X:nnsakin" },
        { "en", 1, "a b", "A b" },
        { "en", 1, "\" a", "\"A" },
        { "en", 1, "( ¡ é", "(¡É" },
        { "en", 1, "ß a", "SS a" },
        { "en", 1, "ŉ a", "ʼN a" },
        { "en", 1, "ﬃ a", "FFI a" },
        { "en", 1, "1 a", "1 a" },
        { "en", 1, "— ა", "— Ა" },
        { "en", 1, "$ a", "$A" },
        { "en", 1, "€ a", "€a" },
        { "en", 1, ". . .", "..." },
        { "en", 1, "A", "A" },
        { "en", 1, "\u00A0 x", "\u00A0 X" },
        { "en", 1, "ǆ", "Ǆ" },
        { "en", 1, "x", "X" },
        { "en", 1, "ⓐ", "Ⓐ" },
        { "en", 0, "é a", "é a" },
        { "zh", 0, "中 文 a 中 文 , 中 。 文 a", "中文 a 中文, 中。文 a" },
        { "zh", 0, "a中 中a 中 a", "a中中a 中 a" },
        { "zh", 0, "中a 中 中", "中a 中中" },
        { "zh", 0, "中  文", "中 文" },
        { "zh", 0, "日 本 ( 日 ) 本", "日本 (日) 本" },
        { "zh", 0, "€ 中 文", "€中文" },
        { "ko", 0, "한 국 어 . 中 文", "한 국 어. 中 文" },
        { "ko", 0, "한 국 , ( 한", "한 국, (한" },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        line_is(t[i].lang, t[i].uppercase, t[i].line, t[i].want);
}

/* The script copies them with the newline that they have, and gives others one. */
static void lines_that_are_copied_are_told(void **state)
{
    (void)state;
    static const char *const copied[] = { "<a>", "<,>", "<a ,  b >", " ", "\u00A0\t" },
                            *const made[] = { "<>", "<", ">", "<a> b", "b <a>", "a" };
    for (size_t i = 0; i < sizeof copied / sizeof *copied; i++)
        assert_int_equal(line_is("en", false, copied[i], copied[i]), 1);
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        assert_int_equal(line_is("en", false, made[i], made[i]), 0);
}

/* charIsCJK: the first and last character of each range, and those beside it. */
static void words_of_cjk_are_joined(void **state)
{
    (void)state;
    static const uint32_t range[][2] = {
        { 0x1100, 0x11FF }, { 0x2E80, 0xA4CF }, { 0xA840, 0xA87F }, { 0xAC00, 0xD7AF },
        { 0xF900, 0xFAFF }, { 0xFE30, 0xFE4F }, { 0xFF65, 0xFFDC }, { 0x20000, 0x2FFFF },
    };
    for (size_t i = 0; i < sizeof range / sizeof *range; i++)
        for (int k = 0; k < 4; k++) {
            uint32_t c = k < 2 ? range[i][0] - 1 + (uint32_t)k : range[i][1] + (uint32_t)k - 2;
            char x[5] = "", line[20], joined[20];
            x[utf8_put(c, x)] = 0;
            snprintf(line, sizeof line, "中 %s 中", x);
            snprintf(joined, sizeof joined, "中%s中", x);
            line_is("en", false, line, k == 1 || k == 2 ? joined : line);
            line_is("ko", false, line, line);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_as_the_script_writes_them),
        cmocka_unit_test(lines_that_are_copied_are_told),
        cmocka_unit_test(words_of_cjk_are_joined),
    };
    work = detok_work_new();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    detok_work_free(work);
    return failed;
}
