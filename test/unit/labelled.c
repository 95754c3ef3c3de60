/* Labelled text: each format recognised by its content, and each way in which a line can be wrong.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "common/err.h"
#include "lib/labelled/labelled.h"
#include "test/unit/scratch.h"

static struct labelled_set set;

static int read_text(const char *text, struct labelled_options o)
{
    assert_int_equal(file_write("x", text, strlen(text)), 0);
    labelled_free(&set);
    return labelled_read(&set, "x", &o);
}
#define GOOD(text, ...)                                                                            \
    assert_int_equal(read_text(text, (struct labelled_options){ __VA_ARGS__ }), 0)
#define BAD(message, text, ...) \
    do { assert_int_equal(read_text(text, (struct labelled_options){ __VA_ARGS__ }), -1); \
         if (!strstr(err_msg(), message)) fail_msg("%s", err_msg()); } while (0)

static const char *label(size_t i) { return set.labels.v[set.v[i].label]; }
static void is(const char *format, size_t n)
{
    assert_string_equal(set.format, format);
    assert_int_equal(set.n, n);
}

static void pairs(void **state)
{
    (void)state;
    const char *xnli = "language\tgold_"
                       "label\tx\tsentence1\tsentence2\nde\tneutral\t\ta\tb\nfr\tcontradiction\t\tc"
                       "\td\nde\tentailment\t\te\tf\n";
    GOOD(xnli, .lang = "de");
    is("xnli", 2);
    assert_string_equal(set.v[1].text[0], "e");
    assert_string_equal(set.v[1].text[1], "f");
    assert_string_equal(label(1), "entailment");
    assert_int_equal(set.v[1].line, 4);
    BAD("x:3: has rows of several languages ('de', 'fr')", xnli, 0);
    BAD("has no row of language 'sw'", xnli, .lang = "sw");
    GOOD("premise\thypo\tlabel\r\na \"b\"\tc\tcontradictory\r\n", 0);
    is("xnli-mt", 1);
    assert_string_equal(set.v[0].text[0], "a \"b\"");
    assert_string_equal(label(0), "contradiction");
    GOOD("premise\thypothesis\tlabel\na\tc\tneutral\n", 0);
    is("xnli-mt", 1);
    GOOD("id\tsentence1\tsentence2\tlabel\n7\ta\tb\t1\n8\tc\td\t0\n", 0);
    is("paws-x", 2);
    assert_string_equal(label(0), "1");
    assert_int_equal(set.v[1].label, 0);
    GOOD("pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n1\ta\tb\t4."
         "5\tNEUTRAL\n",
         0);
    is("sick", 1);
    assert_string_equal(label(0), "neutral");
    assert_true(set.v[0].score == 4.5);
    const char *both =
        "label\tsentence1_en\tsentence2_en\tsentence1_sw\tsentence2_sw\nneutral\ta\tb\tc\td\n";
    GOOD(both, .lang = "sw");
    is("columns", 1);
    assert_string_equal(set.v[0].text[1], "d");
    BAD("x:1: has columns of several languages", both, 0);
    GOOD("genre\tlabel\tsentence1_sw\tsentence2_sw\nf\tneutral\ta\tb\n", 0);
    assert_string_equal(set.v[0].text[0], "a");
}

static void xtreme_pairs(void **state)
{
    (void)state;
    const char *quoted = "\"a \"\"b\"\" c\"\td\tneutral\r\ne\tf\tentailment\r\n";
    GOOD(quoted, 0);
    is("xtreme-pairs", 2);
    assert_string_equal(set.v[0].text[0], "\"a \"\"b\"\" c\"");
    GOOD(quoted, .csv = true);
    assert_string_equal(set.v[0].text[0], "a \"b\" c");
    assert_string_equal(set.v[0].text[1], "d");
    GOOD("a\tb\t1\nc\td\t0\n", 0);
    assert_int_equal(set.labels.n, 2);
    GOOD("a\tb\nc\td\n", .kind = LABELLED_PAIRS);
    assert_int_equal(set.v[1].label, -1);
    for (int strict = 0; strict < 2; strict++) {
        GOOD("\r\n\npremise\thypothesis\tlabel\na\tc\tneutral\n", .strict = strict);
        is("xnli-mt", 1);
        assert_int_equal(set.v[0].line, 4);
    }
    GOOD("\nlabel\tsentence1_de\tsentence2_de\nneutral\ta\tb\n", 0);
    is("columns", 1);
    assert_string_equal(set.v[0].text[1], "b");
    BAD("x:2: the header has no column 'hypo'", "\na\tpremise\n", .format = "xnli-mt");
    BAD("x:3: has columns of several languages",
        "\r\n\nlabel\tsentence1_en\tsentence2_en\tsentence1_sw\tsentence2_sw\n", 0);
    GOOD("\na\tb\tneutral\nc\td\tentailment\n", .kind = LABELLED_PAIRS, .strict = true);
    assert_int_equal(set.v[0].label, 1);
    assert_int_equal(set.v[0].line, 2);
}

static void wrong_rows_are_counted_and_named(void **state)
{
    (void)state;
    const char *text =
        "a\tb\tneutral\nc\td\tmaybe\ne\n\nf\tg\tentailment\nh\ti\t-\nj\tk\tperhaps\n";
    GOOD(text, .kind = LABELLED_PAIRS, .format = "xtreme-pairs");
    is("xtreme-pairs", 2);
    assert_int_equal(problems_count(&set.problems, "rows with an unknown label"), 2);
    assert_int_equal(problems_count(&set.problems, "rows with too few columns"), 1);
    assert_int_equal(problems_count(&set.problems, "rows without a gold label ('-')"), 1);
    assert_int_equal(problems_count(&set.problems, "blank lines"), 1);
    assert_int_equal(set.problems.kind[0].line, 2);
    assert_string_equal(set.problems.kind[0].first, "'maybe'");
    BAD("x:2: one of the rows with an unknown label: 'maybe'", text, .format = "xtreme-pairs",
        .strict = true);
    BAD("has no example that can be used", "premise\thypo\tlabel\na\tb\tx\n", 0);
    BAD("is empty", "", 0);
    BAD("x:2: byte 1 is not UTF-8", "a\n\xFF\n", 0);
    BAD("unknown format 'nli'", "a\n", .format = "nli");
    BAD("does not read files of format 'squad'", "{}\n", .format = "squad", .kind = LABELLED_TAGS);
    BAD("is in none of the formats", "a\tb\tc\td\te\n", 0);
}

static const char *tag(size_t i, int k) { return set.labels.v[set.v[i].tag[k]]; }

static void tags(void **state)
{
    (void)state;
    GOOD("0\tA b\tO\n1\tc\tB-LOC\n\n0\td\tI-LOC\n", 0);
    is("wikineural", 2);
    assert_int_equal(set.v[0].words, 2);
    assert_string_equal(set.v[0].word[0], "A b");
    assert_string_equal(tag(0, 1), "B-LOC");
    assert_int_equal(set.v[1].line, 4);
    GOOD("en:R.H.\tB-ORG\nen:a:b\tO\n\nen::\tO\n", 0);
    is("panx", 2);
    assert_string_equal(set.v[0].word[1], "a:b");
    assert_string_equal(set.v[1].word[0], ":");
    GOOD("en:x\tO\nother\tO\n\n", .kind = LABELLED_TAGS);
    is("xtreme-tags", 1);
    assert_string_equal(set.v[0].word[0], "en:x");
    GOOD("a\nb\n\nc\n", .kind = LABELLED_TAGS);
    assert_int_equal(set.v[0].tag[1], -1);
    assert_string_equal(set.v[1].word[0], "c");
    GOOD("X\nX\n\nY\n", .kind = LABELLED_TAGS, .bare_tags = true);
    assert_string_equal(set.v[0].word[0], "");
    assert_string_equal(tag(1, 0), "Y");
    BAD("x:2: one of the lines without a tag: 'b'", "a\tX\nb\t\n", .kind = LABELLED_TAGS,
        .strict = true);
    GOOD("-DOCSTART- -X- O O\n\n# id 1\n# # I-NP O \nEU NNP I-NP  B-ORG\n\nno DT O O\n",
         .kind = LABELLED_TAGS);
    is("conll", 2);
    assert_string_equal(set.v[0].word[0], "#");
    assert_string_equal(set.v[0].word[1], "EU");
    assert_string_equal(tag(0, 0), "O");
    assert_string_equal(tag(0, 1), "B-ORG");
    assert_int_equal(set.v[0].line, 4);
    GOOD("7\tEU\tB-ORG\tO\n8\tof\tO\tO\n", .kind = LABELLED_TAGS, .format = "germeval");
    assert_string_equal(set.v[0].word[0], "EU");
    assert_string_equal(tag(0, 0), "B-ORG");
    /* what is to be tagged: words with spaces in them, unless all lines have columns */
    GOOD("New York\nis\n\nbig\n\n", .kind = LABELLED_TAGS, .unlabelled = true);
    is("xtreme-tags", 2);
    assert_string_equal(set.v[0].word[0], "New York");
    GOOD("New B-LOC\nYork I-LOC\n", .kind = LABELLED_TAGS, .unlabelled = true);
    is("conll", 1);
    BAD("words in columns, or words with spaces", "New NNP\nYork NNP\n\n", .kind = LABELLED_TAGS,
        .unlabelled = true);
    BAD("x:3: has 3 columns, separated by spaces", "b O\nc O\nd e O\n", .kind = LABELLED_TAGS);
    /* not a comment, which stands before a sentence */
    BAD("x:3: has 3 columns", "a O\nb O\n# c O\n", .kind = LABELLED_TAGS);
    BAD("x:1: the last two columns are both tags", "a NN NN\nb VB NN\nc IN IN\n",
        .kind = LABELLED_TAGS);
    BAD("one of the lines with another number of columns", "a b O\nc O\n", .kind = LABELLED_TAGS,
        .format = "conll", .strict = true);
    BAD("one of the lines with another number of columns", "a O\n", .kind = LABELLED_TAGS,
        .format = "germeval", .strict = true);
}

/* Text of two formats is of the one that is tried first, or of the likely one, if it is of that. */
static void the_likely_format_goes_first(void **state)
{
    (void)state;
    GOOD("en:a\tX\nen:b\tY\n\n", 0);
    is("panx", 1);
    GOOD("en:a\tX\nen:b\tY\n\n", .likely = "xtreme-tags");
    is("xtreme-tags", 1);
    GOOD("a\tX\nb\tY\n\n", .likely = "panx");
    is("xtreme-tags", 1);
    GOOD("\n\r\n\nen:a\tX\nen:b\tY\n\n", 0);            /* as its first line with text is */
    is("panx", 1);
}

#define ROW(id, form, upos, head) id "\t" form "\tl\t" upos "\tx\t_\t" head "\td\t_\t_\n"

static void conllu(void **state)
{
    (void)state;
    /* "im" is "in" + "dem"; the head of both is Haus (4): as near to the root, so NOUN VERB ... ADP
     * before DET */
    const char *text = "# text = Er ist im Haus\n" ROW("1", "Er", "PRON", "5")
        ROW("2-3", "im", "_", "_") ROW("2", "in", "ADP", "4") ROW("3", "dem", "DET", "4")
            ROW("4", "Ha us", "NOUN", "5") ROW("4.1", "e", "_", "_")
                ROW("5", "ist", "VERB", "0") "\n" ROW("1", "x", "X", "0") "\n";
    GOOD(text, 0);
    is("conllu", 2);
    assert_int_equal(set.v[0].words, 5);
    assert_string_equal(set.v[0].word[2], "dem");
    assert_string_equal(tag(0, 2), "DET");
    assert_int_equal(set.v[0].line, 2);
    GOOD(text, .fused = true, .lang = "de");
    assert_int_equal(set.v[0].words, 4);
    assert_string_equal(set.v[0].word[1], "im");
    assert_string_equal(tag(0, 1), "ADP");
    assert_string_equal(set.v[0].word[2], "Haus");
    /* one part is nearer to the root: its tag, whatever the order says */
    GOOD(ROW("1-2", "del", "_", "_") ROW("1", "de", "ADP", "2") ROW("2", "el", "X", "0") "\n",
         .fused = true);
    assert_string_equal(tag(0, 0), "X");
    GOOD(ROW("1", "_", "X", "0") ROW("2", "_", "X", "1") "\n" ROW("1", "a", "X", "0") "\n",
         .fused = true);
    assert_int_equal(set.n, 1);
    GOOD(ROW("1", "a", "X", "2")
             ROW("2", "b", "FOO", "1") "\n" ROW("1", "b", "X", "0") "\n" ROW("2", "c", "X",
                                                                             "0") "\na\tb\n",
         .format = "conllu");
    assert_int_equal(set.n, 1);
    assert_int_equal(problems_count(&set.problems, "words whose UPOS is none of the 17 universal "
                                                   "tags"),
                     1);
    assert_int_equal(problems_count(&set.problems, "lines whose number is not the next one"), 1);
    assert_int_equal(problems_count(&set.problems, "lines that are not CoNLL-U's ten columns"), 1);
    /* heads that go in a circle end */
    GOOD(ROW("1-2", "ab", "_", "_") ROW("1", "a", "VERB", "2") ROW("2", "b", "NOUN", "1") "\n",
         .fused = true);
    assert_string_equal(tag(0, 0), "VERB");
}

static void questions(void **state)
{
    (void)state;
    /* code points, not bytes: é is one of the first, two of the second */
    GOOD("\xEF\xBB\xBF{\"version\": \"1.1\", \"data\": [{\"title\": \"t\", \"paragraphs\": "
         "[{\"context\": \"\u00e9\u4eac cat\", \"qas\": [\n"
         "{\"id\": \"q1\", \"question\": \"w?\", \"answers\": [{\"text\": \"cat\", "
         "\"answer_start\": 3}, {\"text\": \"\u4eac\", \"answer_start\": 1}]},\n"
         "{\"id\": \"q2\", \"question\": \"w?\", \"answers\": [{\"text\": \"cat\", "
         "\"answer_start\": 4}]},\n"
         "{\"id\": \"q2\", \"question\": \"w?\", \"is_impossible\": true, \"answers\": []}]}]}]}",
         0);
    is("squad", 3);
    const struct labelled *q = set.v;
    assert_string_equal(q[0].id, "q1");
    assert_int_equal(q[0].answers, 2);
    assert_int_equal(q[0].answer[0].from, 6);
    assert_int_equal(q[0].answer[0].to, 9);
    assert_int_equal(q[0].answer[1].from, 2);
    assert_int_equal(q[0].line, 2);
    assert_true(q[1].answer[0].from == ANSWER_ELSEWHERE);
    assert_true(q[2].impossible && !q[2].answers);
    assert_int_equal(problems_count(&set.problems, "answers whose text is not at answer_start"), 1);
    assert_int_equal(set.problems.kind[0].line, 3);
    assert_int_equal(problems_count(&set.problems, "questions whose id came before"), 1);
    BAD("x: has no list 'data'", "{}", 0);
    BAD("x:2: not valid JSON", "{\"data\":\n [", 0);
    BAD("question number 1, 'q', has no 'id'",
        "[{\"paragraphs\": [{\"context\": \"\", \"qas\": [{\"id\": 3.5, "
        "\"question\": \"q\"}]}]}]",
        0);
    BAD("an answer of question 'a' has no text",
        "[{\"paragraphs\": [{\"context\": \"\", \"qas\": [{\"id\": \"a\", \"question\": \"\", "
        "\"answers\": [{}]}]}]}]",
        0);
}

static void lines_and_parallel_text(void **state)
{
    (void)state;
    GOOD("Neutral\nx\n3.5\nNeutral\n", 0);
    is("lines", 4);
    assert_string_equal(label(0), "neutral");
    assert_true(set.v[2].score == 3.5 && isnan(set.v[1].score));
    assert_int_equal(set.v[3].label, 0);
    assert_int_equal(file_write("a", "1\n2\n", 4), 0);
    assert_int_equal(file_write("b", "3\n4", 3), 0);
    labelled_free(&set);
    assert_int_equal(labelled_read(&set, "a,b",
                                   &(struct labelled_options){ .kind = LABELLED_PARALLEL }),
                     0);
    assert_string_equal(set.v[1].text[1], "4");
    assert_int_equal(file_write("b", "3\n", 2), 0);
    labelled_free(&set);
    assert_int_equal(labelled_read(&set, "a,b",
                                   &(struct labelled_options){ .kind = LABELLED_PARALLEL }),
                     -1);
    assert_non_null(strstr(err_msg(), "a has 2 lines, b 1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs),
        cmocka_unit_test(xtreme_pairs),
        cmocka_unit_test(wrong_rows_are_counted_and_named),
        cmocka_unit_test(tags),
        cmocka_unit_test(the_likely_format_goes_first),
        cmocka_unit_test(conllu),
        cmocka_unit_test(questions),
        cmocka_unit_test(lines_and_parallel_text),
    };
    if (scratch_enter() < 0) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    labelled_free(&set);
    scratch_leave();
    return failed;
}
