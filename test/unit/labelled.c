/* Labelled text: each format recognised by its content, and each way in which a line can be wrong.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
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
    /* as Python's csv.reader(delimiter="\t") cuts them: after the closing quote the field goes on,
     * a quote within a field is a character, and a tab within quotes, too */
    GOOD("\"a \"\"b\"\"\" c\"d\te\"f\"\tneutral\n\"g\th\"\t\"\"\tentailment\n", .csv = true);
    assert_string_equal(set.v[0].text[0], "a \"b\" c\"d");
    assert_string_equal(set.v[0].text[1], "e\"f\"");
    assert_string_equal(set.v[1].text[0], "g\th");
    assert_string_equal(set.v[1].text[1], "");
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

/* --- pairs: columns, labels, what is left out ------------------------------------------------- */

static void labels_of_inference_have_their_order(void **state)
{
    (void)state;
    static const char *const nli[] = { "entailment", "neutral", "contradiction" };
    for (int first = 0; first < 3; first++) {
        char text[200];
        snprintf(text, sizeof text, "a\tb\t%s\nc\td\t%s\n", nli[first], nli[(first + 1) % 3]);
        GOOD(text, 0);
        assert_int_equal(set.labels.n, 3);
        for (int i = 0; i < 3; i++) assert_string_equal(set.labels.v[i], nli[i]);
        assert_int_equal(set.v[0].label, first);
        assert_int_equal(set.v[1].label, (first + 1) % 3);
        assert_true(set.closed);
    }
    GOOD("a\tb\t1\n", 0);
    assert_true(set.labels.n == 2 && set.closed && set.v[0].label == 1);
    assert_string_equal(set.labels.v[0], "0");
    /* of inference, or of paraphrase, but not of both */
    GOOD("a\tb\tneutral\nc\td\t1\n", 0);
    is("xtreme-pairs", 1);
    assert_int_equal(problems_count(&set.problems, "rows with an unknown label"), 1);
    /* any other labels, where they are to be predicted anyway */
    GOOD("premise\thypo\tlabel\na\tb\tx\nc\td\tneutral\n", .unlabelled = true);
    is("xnli-mt", 2);
    assert_true(set.labels.n == 0 && set.v[0].label == -1 && set.v[1].label == -1);
    GOOD("a\tX\n", 0);
    assert_false(set.closed);
    assert_string_equal(labelled_nli("Contradictory"), "contradiction");
    assert_string_equal(labelled_nli("NEUTRAL"), "neutral");
    assert_string_equal(labelled_nli("contra"), "contra");
}

static void rows_may_be_skipped_by_a_sentence(void **state)
{
    (void)state;
    GOOD("id\tsentence1\tsentence2\tlabel\n1\tNS\tb\t1\n2\ta\tNS\t0\n3\ta\tb\t0\n4\tNS.\tb\t1\n",
         .skip = "NS", .strict = true);
    is("paws-x", 2);
    assert_int_equal(set.v[0].line, 4);
    assert_int_equal(set.v[1].line, 5);
    assert_int_equal(problems_count(&set.problems, "rows with the sentence to skip"), 2);
    assert_int_equal(set.problems.kind[0].line, 2);
    assert_string_equal(set.problems.kind[0].first, "'NS'");
}

static void a_row_needs_the_columns_that_are_read(void **state)
{
    (void)state;
    /* the label is the last that is read; what follows it may be missing */
    GOOD("premise\thypo\tlabel\tgenre\na\tb\tneutral\nc\td\ne\tf\tneutral\tx\n", 0);
    is("xnli-mt", 2);
    assert_int_equal(set.v[1].line, 4);
    assert_int_equal(problems_count(&set.problems, "rows with too few columns"), 1);
    /* a tab within a sentence moves what stands behind it; a spreadsheet's empty columns do not */
    GOOD("premise\thypo\tlabel\na\tb\tneutral\t\t\nc1\tc2\td\tneutral\ne\tf\tneutral\n", 0);
    is("xnli-mt", 2);
    assert_string_equal(set.v[0].text[1], "b");
    assert_int_equal(set.v[1].line, 4);
    assert_int_equal(problems_count(&set.problems, "rows with more columns than the first"), 1);
    BAD("x:2: one of the rows with more columns than the first: 'c1'", "a\tb\nc1\tc2\td\n",
        .kind = LABELLED_PAIRS, .unlabelled = true, .strict = true);
    BAD("x:2: one of the rows with more columns than the first: 'c1'",
        "a\tb\tneutral\nc1\tc2\td\tneutral\n", .kind = LABELLED_PAIRS, .strict = true);
    /* 65 columns: one more than a row is cut into */
    char wide[160] = "premise\thypo\tlabel";
    for (int i = 3; i < 64; i++) strcat(wide, "\t");
    strcat(wide, "\na\tb\tneutral\n");
    GOOD(wide, .format = "xnli-mt");
    is("xnli-mt", 1);
    strcpy(strchr(wide, '\n'), "\t\na\tb\tneutral\n");
    BAD("x:1: the header has 65 columns; 64 are read at most", wide, .format = "xnli-mt");
    /* a header that lacks one of its columns is another format's, or none's */
    BAD("is in none of the formats", "gold_label\tsentence1\tx\tq\na\tb\tc\td\n", 0);
    BAD("is in none of the formats", "premise\tlabel\tx\tq\na\tb\tc\td\n", 0);
    BAD("is in none of the formats", "sentence_A\tsentence_B\tx\tq\na\tb\tc\td\n", 0);
    GOOD("sentence1\tsentence2\tlabel\na\tb\t1\n", 0);
    is("columns", 1);
    BAD("x:1: the header has no column 'sentence2'", "id\tsentence1\tlabel\tx\n1\ta\t0\ty\n", 0);
    /* three columns are a pair by their label alone */
    BAD("is in none of the formats", "a\tb\tmaybe\nc\td\tmaybe\n", .kind = LABELLED_PAIRS);
    /* text that looks like a header's other names */
    GOOD("premise\thypo\tlabel\nthe hypothesis\tb\tneutral\n", 0);
    assert_string_equal(set.v[0].text[1], "b");
    GOOD("label\tsentence1_sw\tsentence2_sw\nneutral\tsentence1_en\tb\n", 0);
    assert_string_equal(set.v[0].text[0], "sentence1_en");
    /* several languages in the header, one of them asked for that it lacks */
    BAD("has no column 'sentence1_de'", "label\tsentence1_sw\tsentence2_sw\nneutral\ta\tb\n",
        .lang = "de");
    GOOD("label\tsentence1\tsentence2\nneutral\ta\tb\n", .lang = "de");
    is("columns", 1);
    /* rows of one language need not be asked for */
    GOOD("language\tgold_label\tsentence1\tsentence2\nsw\tneutral\ta\tb\nsw\tneutral\tc\td\n", 0);
    is("xnli", 2);
}

static void relatedness_is_a_number(void **state)
{
    (void)state;
#define SICK "sentence_A\tsentence_B\tentailment_judgment\trelatedness_score\n"
    GOOD(SICK "a\tb\tNEUTRAL\t4.5x\nc\td\tENTAILMENT\t\ne\tf\tNEUTRAL\t1.25\n", 0);
    is("sick", 1);
    assert_string_equal(set.v[0].text[0], "e");
    assert_true(set.v[0].score == 1.25);
    assert_int_equal(problems_count(&set.problems, "rows whose relatedness is no number"), 2);
    assert_string_equal(set.problems.kind[0].first, "'4.5x'");
    BAD("x:2: one of the rows whose relatedness is no number", SICK "a\tb\tNEUTRAL\tz\n",
        .strict = true);
    GOOD(SICK "a\tb\tNEUTRAL\tz\n", .unlabelled = true);
    assert_true(isnan(set.v[0].score));
}

static void blank_lines_are_left_out_but_the_last(void **state)
{
    (void)state;
    GOOD("a\tb\tneutral\n\n", .strict = true, .format = "xtreme-pairs");
    is("xtreme-pairs", 1);
    BAD("x:2: one of the blank lines", "a\tb\tneutral\n\nc\td\tneutral\n", .strict = true,
        .format = "xtreme-pairs");
    BAD("x:2: one of the blank lines: ''", "1\n\n2\n", .strict = true, .format = "lines");
    GOOD("1\n\n2\n", .format = "lines");
    is("lines", 2);
    assert_int_equal(set.v[1].line, 3);
    /* a label or number with a score behind it */
    GOOD("B\t0.5\nA\t0.25\n\t7\n", .format = "lines");
    is("lines", 3);
    assert_string_equal(label(1), "A");
    assert_true(isnan(set.v[0].score) && isnan(set.v[2].score));
    /* a single text that has a tab is not cut short, unless the form is named */
    BAD("x:2: one of the lines with a tab, where the first has none: 'b\\x09c'", "a\nb\tc\n",
        .kind = LABELLED_LINES, .unlabelled = true, .strict = true);
    BAD("x: --skip is for pairs, and this is a text or a label per line", "a\nb\n",
        .kind = LABELLED_LINES, .skip = "a");
    GOOD("2.5\t0.5\n3x\n", .format = "lines", .unlabelled = true);
    assert_true(set.v[0].score == 2.5 && isnan(set.v[1].score) && set.labels.n == 0);
}

/* --- words with tags -------------------------------------------------------------------------- */

static void a_column_of_tags_is_told_from_others(void **state)
{
    (void)state;
    BAD("x: the last column holds no tags; --format conll takes the last of its 3 columns",
        "a NN _\nb VB -\n", .kind = LABELLED_TAGS);
    GOOD("a NN _\nb VB x\n", .kind = LABELLED_TAGS);
    is("conll", 1);
    BAD("x: too many columns to tell which one is the tag; --format conll takes the last of its 10",
        "a 1 2 3 4 5 6 7 8 X\n", .kind = LABELLED_TAGS);
    GOOD("a 1 2 3 4 5 6 7 X\n", .kind = LABELLED_TAGS);
    is("conll", 1);
    assert_string_equal(tag(0, 0), "X");
    /* chunks of one kind in the last two columns, though no line has the same twice */
    BAD("x:2: the last two columns are both tags", "a B-PER O\nb O I-PER\n",
        .kind = LABELLED_TAGS);
    BAD("x:3: the last two columns are both tags", "a B-PER O\nb B-LOC O\nc O U-LOC\n",
        .kind = LABELLED_TAGS);
    GOOD("a B-NP O\nb I-NP B-PER\n", .kind = LABELLED_TAGS);
    assert_string_equal(tag(0, 1), "B-PER");
    GOOD("a NN NN\nb VB NN\nc IN DT\nd XX YY\n", .kind = LABELLED_TAGS);
    assert_string_equal(tag(0, 2), "DT");
    /* half of the lines are not most of them; two of three are */
    GOOD("a NN NN\nb VB VB\nc IN DT\nd XX YY\n", .kind = LABELLED_TAGS);
    assert_string_equal(tag(0, 3), "YY");
    BAD("x:2: the last two columns are both tags", "a IN DT\nb NN NN\nc VB VB\n",
        .kind = LABELLED_TAGS);
    /* a word that looks like a comment, and nothing else */
    GOOD("# O\n\n# B-X\n", .kind = LABELLED_TAGS);
    is("conll", 2);
    assert_string_equal(set.v[1].word[0], "#");
    assert_string_equal(tag(1, 0), "B-X");
    /* columns that agree in "O" alone prove nothing */
    GOOD("a O O\nb O O\nc IN B-PER\n", .kind = LABELLED_TAGS);
    is("conll", 1);
    BAD("one of the tags with a space in them: 'B LOC'", "a\tB LOC\n", .kind = LABELLED_TAGS,
        .strict = true);
    GOOD("a\tO  \n", .kind = LABELLED_TAGS);
    assert_string_equal(tag(0, 0), "O");
    GOOD("a\tnot a tag\n", .kind = LABELLED_TAGS, .unlabelled = true);
    assert_string_equal(set.v[0].word[0], "a");
}

static void germeval_has_two_columns_of_names(void **state)
{
    (void)state;
    const char *text = "# source\n1\tEU\tB-ORG\tO\n2\tBerliner\tB-ORG\tB-LOC\n\n1\tx\tO\tO\n";
    BAD("has two columns of tags: --format germeval takes the names, germeval-inner the names",
        text, .kind = LABELLED_TAGS);
    GOOD(text, .kind = LABELLED_TAGS, .likely = "germeval-inner");
    is("germeval-inner", 2);
    assert_string_equal(set.v[0].word[1], "Berliner");
    assert_string_equal(tag(0, 0), "O");
    assert_string_equal(tag(0, 1), "B-LOC");
    assert_int_equal(set.v[0].line, 2);
    assert_int_equal(set.v[1].line, 5);
    GOOD(text, .kind = LABELLED_TAGS, .likely = "germeval");
    assert_string_equal(tag(0, 1), "B-ORG");
    GOOD(text, .kind = LABELLED_TAGS, .unlabelled = true);
    is("germeval", 2);
    /* a tag that is no chunk's: some other table */
    GOOD("1\tEU\tNNP\tB-ORG\n2\tof\tIN\tO\n", .kind = LABELLED_TAGS);
    is("conll", 1);
    assert_string_equal(set.v[0].word[0], "EU");
    /* most lines begin with a number: their second column is the word */
    GOOD("0 a NN X\n1 b NN Y\nx c NN X\n", .kind = LABELLED_TAGS);
    assert_string_equal(set.v[0].word[2], "c");
    GOOD("0 a NN X\ny b NN Y\nx c NN X\n", .kind = LABELLED_TAGS);
    assert_string_equal(set.v[0].word[0], "0");
    GOOD("-0.5\ta\tX\n-1\tb\tY\n", .kind = LABELLED_TAGS);
    is("wikineural", 1);
    assert_string_equal(set.v[0].word[0], "a");
    GOOD("nan\ta\tX\ninf\tb\tY\n", .kind = LABELLED_TAGS);
    is("conll", 1);
    assert_string_equal(set.v[0].word[0], "nan");
}

static void languages_stand_before_words(void **state)
{
    (void)state;
    GOOD("zh-classical:a\tO\nzh-classical:b\tB-PER\n", .kind = LABELLED_TAGS);
    is("panx", 1);
    assert_string_equal(set.v[0].word[1], "b");
    GOOD("x:a\tO\nx:b\tO\n", .kind = LABELLED_TAGS);              /* no language's code */
    is("xtreme-tags", 1);
    assert_string_equal(set.v[0].word[0], "x:a");
    GOOD("abcdefghijklm:a\tO\n", .kind = LABELLED_TAGS);
    is("xtreme-tags", 1);
    /* the 20 lines that are looked at agree */
    char text[600] = "";
    for (int i = 0; i < 21; i++) strcat(text, i == 20 ? "other\tO\n" : "en:a\tO\n");
    GOOD(text, .kind = LABELLED_TAGS);
    is("panx", 1);
    assert_string_equal(set.v[0].word[19], "a");
    assert_string_equal(set.v[0].word[20], "other");
    memcpy(text + 19 * 7, "fr:a\tO\n", 7);
    GOOD(text, .kind = LABELLED_TAGS);
    is("xtreme-tags", 1);
    /* one sentence, a word on a line: no blank line shows it, but that words are expected */
    GOOD("a\nb\n", .kind = LABELLED_TAGS, .unlabelled = true);
    is("xtreme-tags", 1);
    assert_int_equal(set.v[0].words, 2);
    GOOD("X\nY\n", .kind = LABELLED_TAGS, .bare_tags = true);
    assert_string_equal(tag(0, 1), "Y");
    BAD("(one word per line, a blank line after each sentence); name it with --format", "a\nb\n",
        .kind = LABELLED_TAGS);
}

/* --- CoNLL-U ---------------------------------------------------------------------------------- */

/* The tag of a word of two parts, both as near to the root, in a language. */
static void fused_is(const char *lang, const char *one, const char *two, const char *expected)
{
    char text[400];
    snprintf(text, sizeof text, ROW("1-2", "ab", "_", "_") ROW("1", "a", "%s", "3")
             ROW("2", "b", "%s", "3") ROW("3", "c", "X", "0") "\n", one, two);
    GOOD(text, .fused = true, .lang = lang);
    assert_int_equal(set.v[0].words, 2);
    assert_string_equal(tag(0, 0), expected);
}

static void parts_of_speech_win_by_language(void **state)
{
    (void)state;
    fused_is("es", "NOUN", "DET", "DET");                         /* NOUN is not in es's list */
    fused_is("es", "DET", "ADP", "ADP");
    fused_is("fr", "ADP", "NOUN", "NOUN");
    fused_is("fr", "DET", "SCONJ", "DET");
    fused_is("it", "PRON", "ADV", "ADV");
    fused_is("it", "ADV", "PRON", "ADV");
    fused_is("de", "ADV", "NUM", "NUM");
    fused_is(NULL, "PUNCT", "X", "X");
    fused_is(NULL, "SYM", "PUNCT", "PUNCT");
    fused_is(NULL, "AUX", "VERB", "VERB");
    fused_is("fr", "NUM", "SYM", "NUM");                          /* neither: the first */
    fused_is("fr", "CCONJ", "SCONJ", "SCONJ");                    /* CONJ is no end of CCONJ */
}

static void treebanks_are_checked(void **state)
{
    (void)state;
    static const char range[] = "lines whose number is not the next one",
                      overlap[] = "sentences whose multi-word tokens overlap",
                      held[] = "sentences whose words are withheld ('_')";
#define GOOD_ROWS ROW("1", "a", "X", "0") ROW("2", "b", "X", "1")
    /* 100 words more than the first are the most */
    GOOD(ROW("1-101", "ab", "_", "_") GOOD_ROWS "\n" GOOD_ROWS "\n", .format = "conllu");
    assert_int_equal(problems_count(&set.problems, overlap), 1);
    GOOD(ROW("1-102", "ab", "_", "_") GOOD_ROWS "\n" GOOD_ROWS "\n", .format = "conllu");
    assert_int_equal(problems_count(&set.problems, range), 1);
    GOOD(ROW("1-1", "ab", "_", "_") GOOD_ROWS "\n" GOOD_ROWS "\n", .format = "conllu");
    assert_int_equal(problems_count(&set.problems, range), 1);
    is("conllu", 1);
    /* empty nodes count from 1: "1.0" is the word 1 of a table program */
    GOOD(ROW("1.0", "a", "X", "0") ROW("2.0", "b", "X", "1") "\n" ROW("0.1", "e", "_", "_")
             ROW("1", "a", "X", "0") ROW("1.10", "e", "_", "_") ROW("2", "b", "X", "1") "\n",
         .format = "conllu");
    assert_int_equal(problems_count(&set.problems, range), 2);
    is("conllu", 1);
    assert_int_equal(set.v[0].words, 2);
    GOOD(ROW("1-1", "ab", "_", "_") GOOD_ROWS "\n" GOOD_ROWS "\n", .format = "conllu");
    assert_int_equal(set.v[0].line, 5);
    GOOD(ROW("1-2", "ab", "_", "_") ROW("1", "a", "X", "0") ROW("2-3", "bc", "_", "_")
             ROW("2", "b", "X", "1") ROW("3", "c", "X", "1") "\n" GOOD_ROWS, .format = "conllu");
    assert_int_equal(problems_count(&set.problems, overlap), 1);
    assert_int_equal(set.problems.kind[0].line, 1);
    is("conllu", 1);
    BAD("x:1: one of the sentences whose multi-word tokens overlap",
        ROW("1-3", "ab", "_", "_") GOOD_ROWS "\n", .format = "conllu", .strict = true);
    /* side by side they may stand, and without a blank line at the end */
    GOOD(ROW("1-2", "ab", "_", "_") GOOD_ROWS ROW("3-4", "c\u200cd e", "_", "_")
             ROW("3", "c", "X", "1") ROW("4", "d", "X", "1"), .fused = true);
    assert_int_equal(set.v[0].words, 2);
    assert_string_equal(set.v[0].word[1], "cde");
    GOOD(ROW("1", "a\u200cb", "X", "0"), .format = "conllu");
    assert_string_equal(set.v[0].word[0], "a\u200cb");
    /* all forms but one are withheld */
    GOOD(ROW("1", "_", "X", "0") ROW("2", "b", "X", "1") "\n" ROW("1", "_", "X", "0")
             ROW("2", "b", "X", "1") ROW("3", "c", "X", "1") "\n" ROW("1", "_", "X", "0") "\n",
         .fused = true);
    assert_int_equal(set.n, 2);
    assert_int_equal(set.v[0].line, 4);
    assert_int_equal(problems_count(&set.problems, held), 1);
    /* comments that treebanks begin with; any other first line has to have ten columns */
    static const char *const begin[] = { "# sent_id = 1", "# text = a", "# newdoc id = 1",
                                         "# newpar", "# global.columns = ID" };
    for (int i = 0; i < 5; i++) {
        char text[200];
        snprintf(text, sizeof text, "%s\n%s\n", begin[i], ROW("1", "a", "X", "0"));
        GOOD(text, 0);
        is("conllu", 1);
        assert_int_equal(set.v[0].line, 2);
    }
    GOOD(ROW("1", "a", "X", "0") "# text of no use\n" ROW("2", "b", "X", "1"), 0);
    assert_int_equal(set.v[0].words, 2);
    GOOD(ROW("1", "a", "FOO", "0"), .unlabelled = true, .format = "conllu");
    assert_int_equal(set.n, 1);
}

/* --- questions -------------------------------------------------------------------------------- */

#define ONE(qa) "{\"data\": [{\"paragraphs\": [{\"context\": \"a\u00e9b c\", \"qas\": [" qa "]}]}]}"

static void ids_are_texts_or_whole_numbers(void **state)
{
    (void)state;
    GOOD(ONE("{\"id\": 7, \"question\": \"q\"}, {\"id\": -0, \"question\": \"q\"},"
             "{\"id\": 9007199254740991, \"question\": \"q\"}, {\"id\": -12, \"question\": \"q\"}"),
         0);
    is("squad", 4);
    assert_string_equal(set.v[0].id, "7");
    assert_string_equal(set.v[1].id, "0");
    assert_string_equal(set.v[2].id, "9007199254740991");
    assert_string_equal(set.v[3].id, "-12");
    assert_true(!set.v[0].impossible && !set.v[0].answers);
    BAD("has no 'id' (a string or a whole number below 2^53)",
        ONE("{\"id\": 9007199254740992, \"question\": \"q\"}"), 0);
    BAD("question number 2 has no 'question'",
        ONE("{\"id\": 1, \"question\": \"q\"}, {\"id\": 2}"), 0);
    BAD("the answers of question 'z' are not a list",
        ONE("{\"id\": \"z\", \"question\": \"q\", \"answers\": {}}"), 0);
    BAD("a paragraph has no 'context' or no list 'qas'", "[{\"paragraphs\": [{\"qas\": []}]}]", 0);
    BAD("a paragraph has no 'context' or no list 'qas'",
        "[{\"paragraphs\": [{\"context\": \"a\"}]}]", 0);
    BAD("an article has no list 'paragraphs'", "[{}]", 0);
    BAD("x: has no example", "[]", 0);
    /* an id that came before, as text or number, is told with its line */
    GOOD(ONE("\n{\"id\": 7, \"question\": \"q\"},\n{\"id\": \"7\", \"question\": \"7\"}"), 0);
    assert_int_equal(problems_count(&set.problems, "questions whose id came before"), 1);
    assert_int_equal(set.problems.kind[0].line, 2);
    assert_int_equal(set.v[0].line, 2);
    assert_int_equal(set.v[1].line, 3);
    assert_true(set.v[0].replaced && !set.v[1].replaced);
}

/* Of "aéb c", by characters. */
static void answers_have_places(void **state)
{
    (void)state;
    static const struct { const char *answer; size_t from, to; } t[] = {
        { "{\"text\": \"a\u00e9b c\", \"answer_start\": 0}", 0, 6 },
        { "{\"text\": \"b\", \"answer_start\": 2}", 3, 4 },
        { "{\"text\": \"c\", \"answer_start\": 4}", 5, 6 },
        { "{\"text\": \"c\", \"answer_start\": 3}", ANSWER_ELSEWHERE, ANSWER_ELSEWHERE },
        { "{\"text\": \"c\", \"answer_start\": 5}", ANSWER_ELSEWHERE, ANSWER_ELSEWHERE },
        { "{\"text\": \"\", \"answer_start\": 5}", 6, 6 },
        { "{\"text\": \"\", \"answer_start\": 6}", ANSWER_ELSEWHERE, ANSWER_ELSEWHERE },
        { "{\"text\": \"a\", \"answer_start\": -1}", ANSWER_ELSEWHERE, ANSWER_ELSEWHERE },
        { "{\"text\": \"a\", \"answer_start\": \"0\"}", ANSWER_ELSEWHERE, ANSWER_ELSEWHERE },
        { "{\"text\": \"a\"}", ANSWER_ELSEWHERE, ANSWER_ELSEWHERE },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        char text[400];
        snprintf(text, sizeof text,
                 ONE("\n{\"id\": \"x\", \"question\": \"q\", \"answers\": [%s]}"), t[i].answer);
        GOOD(text, 0);
        const struct answer *a = &set.v[0].answer[0];
        if (a->from != t[i].from || a->to != t[i].to)
            fail_msg("%s: %zu to %zu", t[i].answer, a->from, a->to);
        /* without a start nothing is at the wrong place */
        int wrong = t[i].from == ANSWER_ELSEWHERE && strstr(t[i].answer, "answer_start");
        assert_int_equal(problems_count(&set.problems, "answers whose text is not at answer_start"),
                         wrong);
        if (wrong) assert_int_equal(set.problems.kind[0].line, 2);
        if (wrong) assert_string_equal(set.problems.kind[0].first, "question 'x'");
    }
}

/* --- a stream --------------------------------------------------------------------------------- */

static void same_example(const struct labelled *a, const struct labels *la,
                         const struct labelled *b, const struct labels *lb)
{
    assert_int_equal(a->line, b->line);
    assert_string_equal(a->id, b->id);
    assert_string_equal(a->text[0], b->text[0]);
    assert_string_equal(a->text[1], b->text[1]);
    assert_int_equal(a->label < 0, b->label < 0);
    if (a->label >= 0) assert_string_equal(la->v[a->label], lb->v[b->label]);
    assert_true(a->score == b->score || (isnan(a->score) && isnan(b->score)));
    assert_int_equal(a->words, b->words);
    for (int i = 0; i < a->words; i++) {
        assert_string_equal(a->word[i], b->word[i]);
        assert_int_equal(a->tag[i] < 0, b->tag[i] < 0);
        if (a->tag[i] >= 0) assert_string_equal(la->v[a->tag[i]], lb->v[b->tag[i]]);
    }
    assert_int_equal(a->answers, b->answers);
}

/* The examples of a stream of pieces of so many bytes are the file's, with the same problems;
 * returns how many pieces there were. */
static int streamed(const char *text, const struct labelled_options *o, size_t bytes)
{
    struct problems all = { .n = 0 };
    struct labelled_set piece;
    size_t at = 0;
    int pieces = 0, rc;
    if (read_text(text, *o) < 0) fail_msg("%s", err_msg());
    struct labelled_stream *in = labelled_stream_open("x", o);
    assert_non_null(in);
    while ((rc = labelled_stream_next(in, bytes, &piece)) > 0) {
        assert_string_equal(piece.format, set.format);
        assert_int_equal(piece.kind, set.kind);
        assert_true(at + piece.n <= set.n);
        for (size_t i = 0; i < piece.n; i++)
            same_example(&piece.v[i], &piece.labels, &set.v[at + i], &set.labels);
        at += piece.n;
        pieces++;
        problems_join(&all, &piece.problems);
        labelled_free(&piece);
    }
    if (rc < 0) fail_msg("%s", err_msg());
    assert_int_equal(piece.n, 0);
    problems_join(&all, &piece.problems);
    labelled_free(&piece);
    labelled_stream_close(in);
    assert_int_equal(at, set.n);
    assert_int_equal(all.n, set.problems.n);
    for (int i = 0; i < all.n; i++) {
        assert_string_equal(all.kind[i].what, set.problems.kind[i].what);
        assert_string_equal(all.kind[i].first, set.problems.kind[i].first);
        assert_int_equal(all.kind[i].n, set.problems.kind[i].n);
        assert_int_equal(all.kind[i].line, set.problems.kind[i].line);
    }
    return pieces;
}

static void a_stream_has_the_examples_of_the_file(void **state)
{
    (void)state;
    const enum labelled_kind P = LABELLED_PAIRS;
    const struct labelled_options words = { .kind = LABELLED_TAGS, .unlabelled = true };
    /* pieces: of one line, or sentence, each; 1 of what is read whole */
    const struct { const char *text; struct labelled_options o; int pieces; } t[] = {
        { "a\tb\tneutral\nc\td\tentailment\n\nx\ty\nf\tg\tmaybe\nf\tg\tneutral\n",
          { .kind = P, .format = "xtreme-pairs" }, 3 },
        { "\r\npremise\thypo\tlabel\r\na\tb\tneutral\r\nc\td\tx\r\ne\tf\tneutral\r\ng\r\n",
          { .kind = P }, 2 },
        { "id\tsentence1\tsentence2\tlabel\n1\ta\tb\t1\n2\tc\td\t0\n3\tNS\td\t0\n",
          { .kind = P, .skip = "NS" }, 2 },
        { SICK "a\tb\tNEUTRAL\t4\nc\td\tENTAILMENT\tx\ne\tf\tNEUTRAL\t1\n", { .kind = P }, 2 },
        { "label\tsentence1_sw\tsentence2_sw\nneutral\ta\tb\nneutral\tc\td\n", { .kind = P }, 2 },
        { "language\tgold_label\tsentence1\tsentence2\nsw\tneutral\ta\tb\nsw\tneutral\tc\td\n",
          { .kind = P }, 1 },
        { "\xEF\xBB\xBF" "0\tA b\tO\n1\tc\tB-LOC\n\n\n0\td\tI-LOC\n", words, 2 },
        { "en:a\tO\nen:b\tB-PER\n\nen:c\tO\n\n", words, 2 },
        { "a\tO\r\nb\tX Y\r\n\r\nc\tO\r\n\r\nd\tX\r\n", words, 3 },
        /* of a later piece all words may be numbers: the columns are the first's */
        { "EU NNP B-ORG\nis VB O\n\n12 13 O\n14 15 O\n\n-DOCSTART- x O\n\nthe DT O\n",
          words, 3 },
        { "# text = a\n" ROW("1", "a", "X", "0") "\n# text = b\n" ROW("1", "b", "X", "0")
          ROW("3", "c", "X", "0") "\n" ROW("1", "d", "X", "0"), words, 2 },
        { "Neutral\n\n3.5\t1\nx\n", { .kind = LABELLED_LINES }, 3 },
        { ONE("\n{\"id\": \"x\", \"question\": \"q\"},\n{\"id\": \"y\", \"question\": \"q\"}"),
          { .kind = LABELLED_QUESTIONS }, 1 },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        for (size_t bytes = 0; bytes < 200; bytes = 3 * bytes / 2 + 1) {
            struct labelled_options o = t[i].o;
            int pieces = streamed(t[i].text, &o, bytes);
            if (bytes == 0 && pieces != t[i].pieces) fail_msg("text %zu: %d pieces", i, pieces);
            /* predictions leave out the rows that their gold does */
            o.unlabelled = true;
            if (o.kind == P || o.format) streamed(t[i].text, &o, bytes);
        }
    assert_int_equal(streamed(t[0].text, &t[0].o, 1000), 1);
    /* what a user types at a classifier of single texts */
    struct labelled_options o = { .kind = P, .unlabelled = true };
    assert_int_equal(file_write("x", "one text\nanother, longer\n", 25), 0);
    struct labelled_stream *in = labelled_stream_open("x", &o);
    for (int i = 0; i < 2; i++) {
        struct labelled_set piece;
        assert_int_equal(labelled_stream_next(in, 0, &piece), 1);
        assert_string_equal(piece.format, "lines");
        assert_string_equal(piece.v[0].text[0], i ? "another, longer" : "one text");
        assert_int_equal(piece.v[0].line, i + 1);
        labelled_free(&piece);
    }
    labelled_stream_close(in);
    /* nothing, and nothing that can be used */
    static const char *const none[][2] = { { "", "x: is empty" }, { "\n", "is in none of the" },
                                           { "premise\thypo\tlabel\n", "x: has no example" } };
    for (int i = 0; i < 3; i++) {
        struct labelled_set piece;
        assert_int_equal(file_write("x", none[i][0], strlen(none[i][0])), 0);
        in = labelled_stream_open("x", &(struct labelled_options){ .kind = P });
        assert_int_equal(labelled_stream_next(in, 0, &piece), -1);
        if (!strstr(err_msg(), none[i][1])) fail_msg("%s", err_msg());
        labelled_free(&piece);
        labelled_stream_close(in);
    }
}

/* --- what was left out ------------------------------------------------------------------------ */

static char told[400];
static void tell(const char *fmt, ...)
{
    va_list a;
    va_start(a, fmt);
    vsnprintf(told + strlen(told), sizeof told - strlen(told), fmt, a);
    va_end(a);
    strcat(told, "\n");
}

static void problems_are_counted_by_kind(void **state)
{
    (void)state;
    static char what[PROBLEM_KINDS + 1][8];
    struct problems p = { .n = 0 }, q = { .n = 0 };
    for (int i = 0; i < 2; i++) problems_add(&p, "one", (uint64_t)(3 + i), "'%d'", i);
    problems_add(&p, "two", 9, "%s", "");
    problems_tell(&p, "f", tell);
    assert_string_equal(told, "f: one: 2; the first on line 3: '0'\n"
                              "f: two: 1; the first on line 9\n");
    problems_add(&q, "three", 20, "z");
    for (int i = 0; i < 3; i++) problems_add(&q, "two", 30, "y");
    problems_join(&p, &q);
    assert_int_equal(p.n, 3);
    assert_int_equal(problems_count(&p, "one"), 2);
    assert_int_equal(problems_count(&p, "two"), 4);
    assert_int_equal(problems_count(&p, "three"), 1);
    assert_int_equal(problems_count(&p, "four"), 0);
    assert_int_equal(p.kind[1].line, 9);
    assert_int_equal(p.kind[2].line, 20);
    /* one kind more than there is room for is counted with the last */
    p.n = 0;
    memset(&p, 0, sizeof p);
    for (int i = 0; i <= PROBLEM_KINDS; i++) {
        snprintf(what[i], sizeof what[i], "%d", i);
        problems_add(&p, what[i], 1, "-");
    }
    assert_int_equal(p.n, PROBLEM_KINDS);
    assert_int_equal(problems_count(&p, what[PROBLEM_KINDS - 1]), 2);
    assert_int_equal(problems_count(&p, what[0]), 1);
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
        cmocka_unit_test(labels_of_inference_have_their_order),
        cmocka_unit_test(rows_may_be_skipped_by_a_sentence),
        cmocka_unit_test(a_row_needs_the_columns_that_are_read),
        cmocka_unit_test(relatedness_is_a_number),
        cmocka_unit_test(blank_lines_are_left_out_but_the_last),
        cmocka_unit_test(a_column_of_tags_is_told_from_others),
        cmocka_unit_test(germeval_has_two_columns_of_names),
        cmocka_unit_test(languages_stand_before_words),
        cmocka_unit_test(parts_of_speech_win_by_language),
        cmocka_unit_test(treebanks_are_checked),
        cmocka_unit_test(ids_are_texts_or_whole_numbers),
        cmocka_unit_test(answers_have_places),
        cmocka_unit_test(a_stream_has_the_examples_of_the_file),
        cmocka_unit_test(problems_are_counted_by_kind),
    };
    if (scratch_enter() < 0) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    labelled_free(&set);
    scratch_leave();
    return failed;
}
