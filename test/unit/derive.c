/* Derived languages: words of a line, rows of CoNLL and CoNLL-U, trees, order models, scripts. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/rng.h"
#include "lib/derive/derive.h"
#include "lib/derive/order.h"
#include "lib/derive/rows.h"
#include "lib/derive/script.h"
#include "lib/derive/tree.h"
#include "lib/derive/words.h"
#include "test/unit/near.h"
#include "test/unit/scratch.h"

/* --- words ------------------------------------------------------------------------------------ */

/* A line's words with "|" between, or the message. */
static const char *words_of(const char *line, bool tokens)
{
    static char text[256];
    struct wordlist w = { 0 };
    char *to = text;
    *to = '\0';
    int status = wordlist_split(&w, line, strlen(line), tokens);
    for (size_t i = 0; i < w.n; i++)
        to += sprintf(to, "%s%.*s", i ? "|" : "", (int)w.v[i].n, w.v[i].s);
    wordlist_free(&w);
    return status < 0 ? err_msg() : text;
}

static void a_word_goes_on_behind_two_at_signs(void **state)
{
    (void)state;
    assert_string_equal(words_of("", false), "");
    assert_string_equal(words_of("   ", false), "");
    assert_string_equal(words_of("a", false), "a");
    assert_string_equal(words_of("  a@@ b  c  ", false), "a@@ b|c");
    /* spaces between the pieces of a word are its own */
    assert_string_equal(words_of("a@@  b@@ c d", false), "a@@  b@@ c|d");
    assert_string_equal(words_of("a@@ b c", true), "a@@|b|c");
    assert_string_equal(words_of("@ a@ @@ b c@@d", false), "@|a@|@@ b|c@@d");
    assert_string_equal(words_of("a @@", false), "the last token, \"@@\", ends within a word "
                                                 "(\"@@\"); its words cannot be moved");
    assert_string_equal(words_of("a@@", true), "a@@");
    /* 40 bytes of it are shown */
    assert_string_equal(words_of("a 0123456789012345678901234567890123456789x@@ ", false),
                        "the last token, \"0123456789012345678901234567890123456789\", ends within "
                        "a word (\"@@\"); its words cannot be moved");
}

/* The line's words in their new order. */
static const char *moved(struct reorder r, const char *line, uint64_t sentence, uint32_t side)
{
    static char text[256];
    struct wordlist w = { 0 };
    char *to = text;
    uint32_t order[64];
    *to = '\0';
    assert_int_equal(wordlist_split(&w, line, strlen(line), false), 0);
    for (uint32_t i = 0; i < w.n; i++) order[i] = i;
    reorder_words(&r, w.v, order, w.n, sentence, side);
    for (size_t i = 0; i < w.n; i++)
        to += sprintf(to, "%s%.*s", i ? " " : "", (int)w.v[order[i]].n, w.v[order[i]].s);
    wordlist_free(&w);
    return text;
}

static void what_ends_a_sentence_stays_last(void **state)
{
    (void)state;
    struct reorder inv = { .invert = true }, split = { .invert = true, .split = true };
    static const char *const whole[][2] = {
        { "", "" }, { "a", "a" }, { ".", "." }, { "a .", "a ." }, { ". a", "a ." },
        { "a b c !", "c b a !" }, { "a b c ?", "c b a ?" }, { "a b c d", "d c b a" },
        /* not one of the three: two bytes of them, other marks, pieces that end in one */
        { "a b ..", ".. b a" }, { "a b ;", "; b a" }, { "a b ,", ", b a" },
        { "a b@@ .", "b@@ . a" },
        { ". . .", ". . ." }, { "a ! b .", "b ! a ." },
    }, *const parts[][2] = {
        { "a b . c d ! e f", "b a . d c ! f e" }, { ". a b ? ?", ". b a ? ?" }, { "a b", "b a" },
    };
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        assert_string_equal(moved(inv, whole[i][0], 0, DRAW_FIRST), whole[i][1]);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_string_equal(moved(split, parts[i][0], 0, DRAW_FIRST), parts[i][1]);
}

/* A sentence, a side and a seed each have their own order: of nine words two are equal by chance
 * in 362,880. */
static void orders_are_of_a_seed_a_sentence_and_a_side(void **state)
{
    (void)state;
    static const char line[] = "a b c d e f g h i";
    struct reorder r = { .permute = true, .seed = 1 }, other = { .permute = true, .seed = 2 };
    char first[64];
    strcpy(first, moved(r, line, 5, DRAW_FIRST));
    assert_string_not_equal(first, line);
    assert_string_equal(moved(r, line, 5, DRAW_FIRST), first);
    assert_string_not_equal(moved(r, line, 6, DRAW_FIRST), first);
    assert_string_not_equal(moved(r, line, 5, DRAW_SECOND), first);
    assert_string_not_equal(moved(other, line, 5, DRAW_FIRST), first);
    /* the parts of a line have their own orders, too: of 40 lines with twice the same four words,
     * whose end is one of them, one in 24 has both alike */
    r.split = true;
    int unequal = 0;
    for (uint64_t i = 0; i < 40; i++) {
        const char *both = moved(r, "a b c . a b c .", i, DRAW_FIRST);
        unequal += strncmp(both, both + 8, 7) != 0;
    }
    assert_in_range(unequal, 30, 40);
}

/* --- rows ------------------------------------------------------------------------------------- */

static int as_it_is(const void *ctx, const char *s, size_t n, struct tbuf *out)
{
    if (ctx) return err_set("word %.*s", (int)n, s);
    tbuf_add(out, s, n);
    return 0;
}

/* The sentence with its words in an order: its rows, or "LINE: MESSAGE". order: digits, NULL: as
 * they are. */
static const char *rows_as(bool conllu, const char *s, const char *order, bool refuse)
{
    static char text[1024];
    struct tagged_rows r = { 0 };
    struct tbuf out = { 0 };
    uint64_t line = 7;
    uint32_t to[32];
    int status = tagged_rows_read(&r, conllu, s, strlen(s), &line);
    for (uint32_t i = 0; i < 32; i++)
        to[i] = order && i < strlen(order) ? (uint32_t)(order[i] - '0') : i;
    if (status == 0)
        status = tagged_rows_write(&r, to, as_it_is, refuse ? "" : NULL, &out, &line);
    if (status < 0) snprintf(text, sizeof text, "%d: %s", (int)line, err_msg());
    else snprintf(text, sizeof text, "%.*s", (int)out.n, out.p);
    tagged_rows_free(&r);
    tbuf_free(&out);
    return text;
}

#define U(id, form, head) id "\t" form "\tl\tNOUN\tx\tf\t" head "\tdep\td\tm\n"
/* as it is written: without DEPS */
#define W(id, form, head) id "\t" form "\tl\tNOUN\tx\tf\t" head "\tdep\t_\tm\n"

static void rows_of_tags(void **state)
{
    (void)state;
    assert_string_equal(rows_as(false, "a\tO\nb\tP", "10", false), "b\tP\na\tO\n\n");
    assert_string_equal(rows_as(false, "a\tO\r\nb\tP\r\n", "10", false), "b\tP\na\tO\n\n");
    /* numbers from 0 stay where they are, in files of three columns */
    assert_string_equal(rows_as(false, "0\ta\tX\n1\tb\tY\n", "10", false), "0\tb\tY\n1\ta\tX\n\n");
    assert_string_equal(rows_as(false, "1\ta\tX\n2\tb\tY\n", "10", false), "2\tb\tY\n1\ta\tX\n\n");
    assert_string_equal(rows_as(false, "0\ta\tX\n2\tb\tY\n", "10", false), "2\tb\tY\n0\ta\tX\n\n");
    assert_string_equal(rows_as(false, "0\ta\n1\tb\n", "10", false), "1\tb\n0\ta\n\n");
    assert_string_equal(rows_as(false, "0\ta\tX\tx\n1\tb\tY\ty\n", "10", false),
                        "1\tb\tY\ty\n0\ta\tX\tx\n\n");
    /* eleven rows: numbers are compared as a whole */
    assert_string_equal(
        rows_as(false, "0\ta\tX\n1\tb\tX\n2\tc\tX\n3\td\tX\n4\te\tX\n5\tf\tX\n6\tg\tX\n7\th\tX\n"
                       "8\ti\tX\n9\tj\tX\n10\tk\tX\n", "1032456789:", false),
        "0\tb\tX\n1\ta\tX\n2\td\tX\n3\tc\tX\n4\te\tX\n5\tf\tX\n6\tg\tX\n7\th\tX\n8\ti\tX\n9\tj\tX\n"
        "10\tk\tX\n\n");
    /* sixteen columns are the most */
    assert_string_equal(rows_as(false, "a\tb\tc\td\te\tf\tg\th\ti\tj\tk\tl\tm\tn\to\tp\n", NULL,
                                false),
                        "a\tb\tc\td\te\tf\tg\th\ti\tj\tk\tl\tm\tn\to\tp\n\n");
    assert_string_equal(rows_as(false, "a\tb\tc\td\te\tf\tg\th\ti\tj\tk\tl\tm\tn\to\tp\tq\n", NULL,
                                false),
                        "7: more than 16 columns");
    assert_string_equal(rows_as(false, "a\tO\nb\n", NULL, false),
                        "8: the word \"b\" has no tag; a line is a word, a tab and its tag");
    assert_string_equal(rows_as(false, "a\tO\nb\tO\tO\n", NULL, false),
                        "8: 3 columns, but 2 on the first line of the sentence");
    assert_string_equal(rows_as(false, "a\tO\n\tO\n", NULL, false),
                        "8: column 1 is empty; each word needs all 2 columns");
    assert_string_equal(rows_as(false, "a\tO\nb\t\n", NULL, false),
                        "8: column 2 is empty; each word needs all 2 columns");
    /* a word that is refused: at its line, wherever it goes */
    assert_string_equal(rows_as(false, "a\tO\nb\tO\n", "10", true), "8: word b");
}

/* As conlleval reads tags: I- after O, or of another type, begins a span; what is one span before
 * is one behind it where its words stay together. */
static void rows_of_spans(void **state)
{
    (void)state;
    assert_string_equal(rows_as(false, "a\tB-X\nb\tI-X\nc\tO\n", "210", false),
                        "c\tO\nb\tB-X\na\tI-X\n\n");
    assert_string_equal(rows_as(false, "a\tB-X\nb\tI-X\nc\tO\n", "021", false),
                        "a\tB-X\nc\tO\nb\tB-X\n\n");
    /* I-Y after X, of another length or not, and I- after O, begin one */
    assert_string_equal(rows_as(false, "a\tB-X\nb\tI-Y\n", "10", false), "b\tB-Y\na\tB-X\n\n");
    assert_string_equal(rows_as(false, "a\tB-X\nb\tI-XX\n", "10", false), "b\tB-XX\na\tB-X\n\n");
    assert_string_equal(rows_as(false, "a\tI-X\nb\tO\nc\tI-X\n", "021", false),
                        "a\tB-X\nc\tB-X\nb\tO\n\n");
    /* two spans side by side are two */
    assert_string_equal(rows_as(false, "a\tB-X\nb\tB-X\nc\tI-X\n", "021", false),
                        "a\tB-X\nc\tB-X\nb\tI-X\n\n");
    assert_string_equal(rows_as(false, "a\tB-X\nb\tB-X\nc\tI-X\n", "102", false),
                        "b\tB-X\na\tB-X\nc\tB-X\n\n");
    /* tags that only look so */
    assert_string_equal(rows_as(false, "a\tB-\nb\tIX\n", "10", false), "b\tIX\na\tB-\n\n");
    /* the last column alone */
    assert_string_equal(rows_as(false, "a\tB-X\tO\nb\tI-X\tO\n", "10", false),
                        "b\tI-X\tO\na\tB-X\tO\n\n");
    assert_string_equal(rows_as(false, "a\tB-X\nb\tO\nc\tI-\n", NULL, false),
                        "9: tag \"I-\" among B- and I- tags; spans are written with B-, I- and O");
    assert_string_equal(rows_as(false, "a\tB-X\nb\tOO\n", NULL, false),
                        "8: tag \"OO\" among B- and I- tags; spans are written with B-, I- and O");
    assert_string_equal(rows_as(false, "a\tI-X\nb\tBXX\n", NULL, false),
                        "8: tag \"BXX\" among B- and I- tags; spans are written with B-, I- and O");
}

static void rows_of_trees(void **state)
{
    (void)state;
    assert_string_equal(rows_as(true, U("1", "a", "2") U("2", "b", "0") U("3", "c", "1"), "201",
                                false),
                        W("1", "c", "2") W("2", "a", "3") W("3", "b", "0") "\n");
    /* of multi-word tokens and empty nodes nothing is left, of comments "# text" is the new one */
    assert_string_equal(
        rows_as(true, "# text = old\n#text = old\n# text_en = old\n" U("0.1", "e", "_")
                      U("1-2", "ab", "_") U("1", "a", "2") "# late\n" U("2", "b", "0")
                      U("2.10", "e", "_"), "10", false),
        "# text = b a\n#text = old\n# text_en = old\n# late\n" W("1", "b", "0") W("2", "a", "1")
        "\n");
    /* a number that a table program wrote, and what only begins like one of those lines */
    static const char *const id[] = { "1.0", "1.01", "1-", "1.", "1-2x", "1-x", "-1", ".1", "+1",
                                      "01", "2", "0", "", "x", "1_2" };
    for (size_t i = 0; i < sizeof id / sizeof *id; i++) {
        char s[128], want[256];
        snprintf(s, sizeof s, "%s\ta\tl\tNOUN\tx\tf\t0\tdep\td\tm\n", id[i]);
        snprintf(want, sizeof want, "7: ID is \"%s\", not 1; words are numbered 1, 2, ... and an "
                                    "empty line ends a sentence", id[i]);
        assert_string_equal(rows_as(true, s, NULL, false), want);
    }
    assert_string_equal(rows_as(true, "# c\n" U("1", "a", "0") "2\tb\n", NULL, false),
                        "9: 2 columns; CoNLL-U has ten, separated by tabs");
    assert_string_equal(rows_as(true, "1-2\tb\n", NULL, false),
                        "7: 2 columns; CoNLL-U has ten, separated by tabs");
    assert_string_equal(rows_as(true, U("1", "", "0"), NULL, false), "7: the word is empty");
    assert_string_equal(rows_as(true, U("1", "a", "0") U("2", "b", "1"), "10", true), "8: word b");
    /* MISC: what is said of the neighbour goes, alone or among others */
    static const char *const misc[][2] = {
        { "SpaceAfter=No", "_" }, { "SpaceAfter=No|A=1", "A=1" }, { "A=1|SpaceAfter=No", "A=1" },
        { "A=1|SpaceAfter=No|B=2", "A=1|B=2" }, { "_", "_" },
        { "SpaceAfter=Nope", "SpaceAfter=Nope" }, { "XSpaceAfter=No", "XSpaceAfter=No" },
        { "", "_" },
    };
    for (size_t i = 0; i < sizeof misc / sizeof *misc; i++) {
        char s[128], want[128];
        snprintf(s, sizeof s, "1\ta\tl\tX\tx\tf\t0\tdep\td\t%s\n", misc[i][0]);
        snprintf(want, sizeof want, "1\ta\tl\tX\tx\tf\t0\tdep\t_\t%s\n\n", misc[i][1]);
        assert_string_equal(rows_as(true, s, NULL, false), want);
    }
    /* HEAD: "_" is none; else it is one of the sentence's words or 0, in at most nine digits */
    assert_string_equal(rows_as(true, U("1", "a", "_"), NULL, false), W("1", "a", "_") "\n");
    assert_string_equal(rows_as(true, U("1", "a", "000000001"), NULL, false),
                        W("1", "a", "1") "\n");
    static const char *const head[] = { "2", "", "-1", "1x", "0000000001", "x", "__" };
    for (size_t i = 0; i < sizeof head / sizeof *head; i++) {
        char s[128], want[128];
        snprintf(s, sizeof s, "1\ta\tl\tX\tx\tf\t%s\tdep\td\tm\n", head[i]);
        snprintf(want, sizeof want,
                 "7: HEAD is \"%s\", which is not one of this sentence's 1 words", head[i]);
        assert_string_equal(rows_as(true, s, NULL, false), want);
    }
}

/* --- trees ------------------------------------------------------------------------------------ */

/* A tree of words whose heads are given; 0, or -1 with *line. */
static int plant(struct tree *t, const int *head, int n, uint64_t *line)
{
    static struct tagged_rows r;
    static char text[64][64];
    r.conllu = true;
    r.n = 0;
    for (int i = 0; i < n; i++) {
        mem_room(&r.v, &r.cap, r.n + 1, sizeof *r.v);
        struct row *row = &r.v[r.n++];
        *row = (struct row){ .line = 10 + (uint64_t)i, .cells = CONLLU_COLUMNS };
        snprintf(text[i], sizeof text[i], "%d", head[i]);
        row->cell[CONLLU_HEAD] = (struct word){ text[i], strlen(text[i]) };
        row->cell[CONLLU_FORM] = (struct word){ "w", 1 };
    }
    *line = 0;
    int status = tree_build(t, &r, line);
    free(r.v);
    r = (struct tagged_rows){ 0 };
    return status;
}

static int calls;
static void backwards(void *ctx, const struct tree *t, int node, int *item, int n)
{
    (void)ctx, (void)t, (void)node;
    calls++;
    for (int i = 0; i < n / 2; i++) {
        int x = item[i];
        item[i] = item[n - 1 - i];
        item[n - 1 - i] = x;
    }
}

static void is_order(struct tree *t, const int *want)
{
    uint32_t order[64];
    tree_order(t, backwards, NULL, order);
    for (int i = 0; i < t->n; i++) assert_int_equal(order[i], want[i]);
}
#define INTS (const int[])

static void trees_are_turned_round(void **state)
{
    (void)state;
    struct tree t = { 0 };
    uint64_t line;
    int item[TREE_ITEMS];
    /* the dog | saw | a cat: 1>2, 2>3, root 3, 4>5, 5>3 */
    assert_int_equal(plant(&t, INTS{ 2, 3, 0, 5, 3 }, 5, &line), 0);
    assert_int_equal(tree_items(&t, 3, item), 3);
    assert_memory_equal(item, (INTS{ 2, 3, 5 }), 3 * sizeof(int));
    assert_int_equal(tree_items(&t, 1, item), 0);
    is_order(&t, INTS{ 4, 3, 2, 1, 0 });
    /* a node whose span others interrupt keeps its order, and those within it do not: 3 > 1 over 2,
     * the root, and 4 > 3 */
    assert_int_equal(plant(&t, INTS{ 2, 0, 1, 3 }, 4, &line), 0);
    assert_true(t.crossed[1] && !t.crossed[2] && !t.crossed[3] && !t.crossed[4]);
    assert_int_equal(tree_items(&t, 1, item), -1);
    /* root 2 turned: 2, then 1's own order (1, then 3's turned: 4 3) */
    is_order(&t, INTS{ 1, 0, 3, 2 });
    /* an arc to a neighbour crosses nothing; one to the left is like one to the right */
    assert_int_equal(plant(&t, INTS{ 0, 3, 1, 2 }, 4, &line), 0);
    assert_true(!t.crossed[1] && t.crossed[2] && !t.crossed[3] && !t.crossed[4]);
    /* ... and one over a word that is numbered right behind what hangs on it */
    assert_int_equal(plant(&t, INTS{ 3, 4, 4, 0 }, 4, &line), 0);
    assert_true(!t.crossed[1] && !t.crossed[2] && t.crossed[3] && !t.crossed[4]);
    /* six dependents are put in order, and seven keep theirs */
    assert_int_equal(plant(&t, INTS{ 7, 7, 7, 7, 7, 7, 0 }, 7, &line), 0);
    assert_int_equal(tree_items(&t, 7, item), 7);
    is_order(&t, INTS{ 6, 5, 4, 3, 2, 1, 0 });
    assert_int_equal(plant(&t, INTS{ 4, 4, 4, 0, 4, 4, 4, 4 }, 8, &line), 0);
    assert_int_equal(tree_items(&t, 4, item), -1);
    calls = 0;
    is_order(&t, INTS{ 0, 1, 2, 3, 4, 5, 6, 7 });
    assert_int_equal(calls, 0);
    /* two that hang on 0 are two trees in their order */
    assert_int_equal(plant(&t, INTS{ 2, 0, 0, 3 }, 4, &line), 0);
    is_order(&t, INTS{ 1, 0, 3, 2 });
    assert_int_equal(plant(&t, NULL, 0, &line), 0);
    assert_int_equal(t.n, 0);
    /* larger, then smaller again: 40 words in a chain */
    int chain[40];
    for (int i = 0; i < 40; i++) chain[i] = i;
    assert_int_equal(plant(&t, chain, 40, &line), 0);
    int turned[40];
    for (int i = 0; i < 40; i++) turned[i] = 39 - i;
    is_order(&t, turned);
    assert_int_equal(plant(&t, INTS{ 0 }, 1, &line), 0);
    is_order(&t, INTS{ 0 });
    /* what is none */
    assert_int_equal(plant(&t, INTS{ 0, 3, 2 }, 3, &line), -1);
    assert_true(line == 12 && strstr(err_msg(), "word 3, \"w\", is in a cycle of HEADs"));
    assert_int_equal(plant(&t, INTS{ 1 }, 1, &line), -1);
    assert_true(line == 10 && strstr(err_msg(), "word 1, \"w\", is in a cycle of HEADs"));
    /* words that hang on a cycle are not in it: 1 > 2 > 3 > 4 > 3 */
    assert_int_equal(plant(&t, INTS{ 2, 3, 4, 3 }, 4, &line), -1);
    assert_true(line == 12 && strstr(err_msg(), "word 3, "));
    assert_int_equal(plant(&t, INTS{ 0, 3 }, 2, &line), -1);
    assert_true(line == 11 && strstr(err_msg(), "HEAD is \"3\""));
    tree_free(&t);
}

/* --- labels ----------------------------------------------------------------------------------- */

static int label(enum label_set set, const struct relations *r, const char *upos, const char *rel,
                 const char *feats, struct ud_labels *l)
{
    struct row row = { .cells = CONLLU_COLUMNS };
    row.cell[CONLLU_FORM] = (struct word){ "w", 1 };
    row.cell[CONLLU_UPOS] = (struct word){ upos, strlen(upos) };
    row.cell[CONLLU_DEPREL] = (struct word){ rel, strlen(rel) };
    row.cell[CONLLU_FEATS] = (struct word){ feats, strlen(feats) };
    return ud_labels_of(set, r, &row, l);
}

/* The labels as they would be written: "POS RELATION", "?" where the model has no such relation. */
static const char *labelled(enum label_set set, const struct relations *r, const char *upos,
                            const char *rel, const char *feats)
{
    static char text[64];
    struct ud_labels l;
    if (label(set, r, upos, rel, feats, &l) < 0) return err_msg();
    sprintf(text, "%s %s", order_pos_name(l.pos),
            l.relation == REL_OTHER ? "?" : r->name[l.relation]);
    return text;
}

static void labels_of_both_sets(void **state)
{
    (void)state;
    struct relations two, one;
    relations_begin(&two, LABELS_UD2);
    relations_begin(&one, LABELS_UD1);
    assert_int_equal(two.n, 2 + 37 + 3);            /* none, "@" */
    assert_int_equal(one.n, 2);
    static const char *const of_two[][3] = {
        { "NOUN", "nsubj", "NOUN nsubj" }, { "NOUN", "nsubj:pass", "NOUN nsubj:pass" },
        { "NOUN", "nsubj:outer", "NOUN nsubj" }, { "X", "aux:pass", "X aux:pass" },
        { "ADJ", "acl:relcl", "ADJ acl" }, { "AUX", "cop", "AUX cop" },
        { "CCONJ", "cc", "CCONJ cc" },
        { "CONJ", "cc", "UPOS of \"w\" is \"CONJ\", not one of UD 2's 17; order models need UD 2's "
                        "labels" },
        { "@NOUN", "cc", "UPOS of \"w\" is \"@NOUN\", not one of UD 2's 17; order models need UD "
                         "2's labels" },
        { "BOS", "cc", "UPOS of \"w\" is \"BOS\", not one of UD 2's 17; order models need UD 2's "
                       "labels" },
        { "NOU", "cc", "UPOS of \"w\" is \"NOU\", not one of UD 2's 17; order models need UD 2's "
                       "labels" },
        { "NOUN", "dobj", "DEPREL of \"w\" is \"dobj\", not one of UD 2's 37; order models need UD "
                          "2's labels" },
        { "NOUN", "@", "DEPREL of \"w\" is \"@\", not one of UD 2's 37; order models need UD 2's "
                       "labels" },
        { "NOUN", "dobj:x", "DEPREL of \"w\" is \"dobj:x\", not one of UD 2's 37; order models "
                            "need UD 2's labels" },
    };
    for (size_t i = 0; i < sizeof of_two / sizeof *of_two; i++)
        assert_string_equal(labelled(LABELS_UD2, &two, of_two[i][0], of_two[i][1], "_"),
                            of_two[i][2]);
    /* a model of UD 1 knows the relations that it has features of, no others */
    assert_string_equal(labelled(LABELS_UD1, &one, "NOUN", "obj", "_"), "NOUN ?");
    static const char *const names[] = { "dobj", "nmod", "nsubjpass", "csubjpass", "auxpass", "mwe",
                                         "name", "remnant", "neg", "nmod:poss", "nsubj", "advmod" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(relations_add(&one, names[i], strlen(names[i])), 2 + (int)i);
    /* UD 2's guidelines, "Changes from v1 to v2", of relations, CONJ and AUX */
    static const char *const of_one[][4] = {
        { "NOUN", "obj", "_", "NOUN dobj" }, { "NOUN", "obj:lvc", "_", "NOUN dobj" },
        { "NOUN", "obl:agent", "_", "NOUN nmod" }, { "NOUN", "nmod:poss", "_", "NOUN nmod:poss" },
        { "NOUN", "nmod:tmod", "_", "NOUN nmod" }, { "NOUN", "nsubj", "_", "NOUN nsubj" },
        { "NOUN", "nsubj:pass", "_", "NOUN nsubjpass" },
        { "NOUN", "nsubj:passive", "_", "NOUN nsubj" },
        { "VERB", "csubj:pass", "_", "VERB csubjpass" }, { "AUX", "aux:pass", "_", "AUX auxpass" },
        { "ADP", "fixed", "_", "ADP mwe" }, { "PROPN", "flat:name", "_", "PROPN name" },
        { "X", "orphan", "_", "X remnant" }, { "CCONJ", "nmod", "_", "CONJ nmod" },
        { "SCONJ", "nmod", "_", "SCONJ nmod" }, { "AUX", "cop", "_", "VERB ?" },
        { "AUX", "cop:own", "_", "VERB ?" }, { "PRON", "cop", "_", "PRON ?" },
        { "AUX", "nsubj", "_", "AUX nsubj" },
        { "PART", "advmod", "Polarity=Neg", "PART neg" },
        { "PART", "advmod:neg", "Polarity=Neg", "PART neg" },
        { "PART", "advmod", "A=1|Polarity=Neg", "PART neg" },
        { "PART", "advmod", "Polarity=Neg|Z=1", "PART neg" },
        { "PART", "advmod", "Polarity=Nega", "PART advmod" },
        { "PART", "advmod", "APolarity=Neg", "PART advmod" },
        { "PART", "advmod", "", "PART advmod" },
        { "PART", "nsubj", "Polarity=Neg", "PART nsubj" },
        { "CONJ", "nmod", "_", "UPOS of \"w\" is \"CONJ\", not one of UD 2's 17; order models need "
                               "UD 2's labels" },
    };
    for (size_t i = 0; i < sizeof of_one / sizeof *of_one; i++)
        assert_string_equal(labelled(LABELS_UD1, &one, of_one[i][0], of_one[i][1], of_one[i][2]),
                            of_one[i][3]);
    /* without a feature of neg, a negation is the adverb that it is in UD 2 */
    struct relations few;
    relations_begin(&few, LABELS_UD1);
    relations_add(&few, "advmod", 6);
    assert_string_equal(labelled(LABELS_UD1, &few, "PART", "advmod", "Polarity=Neg"),
                        "PART advmod");
    /* 125 relations are the most, the 126th would be REL_OTHER; a second time it is no other */
    relations_begin(&few, LABELS_UD1);
    for (int i = 0; i < 125; i++) {
        char name[8];
        snprintf(name, sizeof name, "r%d", i);
        assert_int_equal(relations_add(&few, name, strlen(name)), 2 + i);
    }
    assert_int_equal(relations_add(&few, "r124", 4), 126);
    assert_int_equal(relations_add(&few, "more", 4), -1);
    assert_string_equal(err_msg(), "more than 125 relations");
    /* names: 1 to 23 bytes without a space or control character */
    relations_begin(&few, LABELS_UD1);
    assert_int_equal(relations_add(&few, "a2345678901234567890123", 23), 2);
    assert_int_equal(relations_find(&few, "a2345678901234567890123", 23), 2);
    assert_int_equal(relations_find(&few, "a2345678901234567890123", 22), 0);
    assert_int_equal(relations_add(&few, "a23456789012345678901234", 24), -1);
    assert_string_equal(err_msg(), "relation \"a23456789012345678901234\" does not have 1 to 23 "
                                   "bytes");
    assert_int_equal(relations_add(&few, "", 0), -1);
    static const char *const bad[] = { "a b", " a", "a\x1f", "a\x7f", "\x01" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(relations_add(&few, bad[i], strlen(bad[i])), -1);
    assert_int_equal(relations_add(&few, "!", 1), 3);
    assert_int_equal(relations_add(&few, "\xc3\xa4~", 3), 4);
    assert_int_equal(few.n, 5);
}

static void what_heads_an_order(void **state)
{
    (void)state;
    static const struct { const char *upos; int class; const char *head; } want[] = {
        { "NOUN", ORDER_N, "@NOUN" }, { "PROPN", ORDER_N, "@PROPN" }, { "PRON", ORDER_N, "@PRON" },
        { "VERB", ORDER_V, "@VERB" }, { "AUX", -1, "AUX" }, { "ADJ", -1, "ADJ" }, { "_", -1, "" },
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct row row = { .cells = CONLLU_COLUMNS };
        row.cell[CONLLU_UPOS] = (struct word){ want[i].upos, strlen(want[i].upos) };
        assert_int_equal(order_class(&row), want[i].class);
        int p = order_pos_find(LABELS_UD2, want[i].upos, strlen(want[i].upos));
        assert_string_equal(order_pos_name(order_pos_marked(p)), want[i].head);
    }
    struct order_item a = order_item(&(struct ud_labels){ POS_NOUN, 9 }, false),
                      h = order_item(&(struct ud_labels){ POS_NOUN, 9 }, true);
    assert_memory_equal(a.symbol, ((uint32_t[]){ 8, 9 << 5, 8 | 9 << 5 }), sizeof a.symbol);
    assert_memory_equal(h.symbol, ((uint32_t[]){ 19, 1 << 5, 19 | 1 << 5 }), sizeof h.symbol);
    static const char *const one[] = { "CONJ", "BOS", "EOS", "@VERB" };
    for (int i = 0; i < 4; i++)
        assert_string_equal(order_pos_name(order_pos_find(LABELS_UD1, one[i], strlen(one[i]))),
                            one[i]);
    assert_int_equal(order_pos_find(LABELS_UD1, "CCONJ", 5), POS_NONE);
    assert_int_equal(order_pos_find(LABELS_UD2, "CONJ", 4), POS_NONE);
    assert_int_equal(order_pos_find(LABELS_UD2, "", 0), POS_NONE);
}

/* --- scores of orders ------------------------------------------------------------------------- */

/* The next permutation in lexicographic order; false behind the last. */
static bool next(int *v, int n)
{
    int i = n - 2, j = n - 1;
    while (i >= 0 && v[i] > v[i + 1]) i--;
    if (i < 0) return false;
    while (v[j] < v[i]) j--;
    int x = v[i];
    v[i] = v[j];
    v[j] = x;
    for (int a = i + 1, b = n - 1; a < b; a++, b--) {
        x = v[a];
        v[a] = v[b];
        v[b] = x;
    }
    return true;
}

/* A feature's weight; one that is new is drawn in -1 .. 1. */
static double of(struct order_weights *w, order_feature f)
{
    size_t n = w->n, at = order_index(w, f);
    if (at == n) w->weight[at] = 2 * rng_unit((struct rng_key){ 3, RNG_TEST, 0 }, n, 0) - 1;
    return w->weight[at];
}

static double of_pair(struct order_weights *w, enum order_kind k, const struct order_item *a,
                      const struct order_item *b)
{
    double sum = 0;
    for (int i = 0; i < 3; i++) sum += of(w, order_pair(k, a->symbol[i], b->symbol[i]));
    return sum;
}

/* What docs/formats/order.md says of an order, event by event. */
static double by_the_book(struct order_weights *w, const struct order_item *item, const int *to,
                          int n, int head)
{
    const struct order_item bos = { { POS_BOS, POS_BOS, POS_BOS } },
                            eos = { { POS_EOS, POS_EOS, POS_EOS } };
    int at = 0;
    while (to[at] != head) at++;
    double sum = of_pair(w, ORDER_BI, &bos, &item[to[0]])
                 + of_pair(w, ORDER_BI, &item[to[n - 1]], &eos);
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
            if (j == i + 1) sum += of_pair(w, ORDER_BI, &item[to[i]], &item[to[j]]);
            sum += of_pair(w, ORDER_PRE, &item[to[i]], &item[to[j]]);
            if (i == at || j == at) continue;
            enum order_kind k = j < at ? ORDER_BFR : i > at ? ORDER_AFT : ORDER_BTW;
            sum += of_pair(w, k, &item[to[i]], &item[to[j]]);
        }
    for (int g = 3; w->grams && g <= 5; g++)
        /* from where the last label is the first item, to where the first is the last one */
        for (int from = 1 - g; from < n; from++) {
            uint32_t s[ORDER_GRAM];
            for (int i = 0; i < g; i++)
                s[i] = from + i < 0 ? POS_BOS
                       : from + i >= n ? POS_EOS : item[to[from + i]].symbol[2];
            /* a longer one than there are items may have a weight, and does not count */
            double weight = of(w, order_gram(s, g));
            if (g <= n) sum += weight;
        }
    return sum;
}

static void orders_score_what_the_format_says(void **state)
{
    (void)state;
    static double want[ORDER_MOST], got[ORDER_MOST];
    for (int n = 2; n <= TREE_ITEMS; n++)
        for (int head = 0; head < n; head += n < 5 ? 1 : 3)
            for (int grams = 0; grams < 2; grams++) {
                struct order_model *m = order_new(LABELS_UD2);
                struct order_weights *w = &m->w[ORDER_V];
                struct order_item item[TREE_ITEMS];
                int to[TREE_ITEMS], ranked[TREE_ITEMS], orders = 0;
                w->grams = grams;
                for (int i = 0; i < n; i++) {
                    /* the second and the third are alike */
                    struct ud_labels l = { i == head ? POS_VERB : 1 + (i == 2 ? 1 : i),
                                           2 + (i == 2 ? 1 : i) };
                    item[i] = order_item(&l, i == head);
                    to[i] = i;
                }
                do {
                    order_unrank(orders, n, ranked);
                    assert_memory_equal(ranked, to, (size_t)n * sizeof *to);
                    want[orders++] = by_the_book(w, item, to, n, head);
                } while (next(to, n));
                assert_int_equal(order_scores(w, item, n, head, got), orders);
                for (int i = 0; i < orders; i++) assert_near(got[i], want[i], 1e-9);
                order_free(m);
            }
}

/* --- files of order models -------------------------------------------------------------------- */

static void write_file(const char *path, const char *text, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n, f), n);
    fclose(f);
}

#define TWO "# isoglot order 1\n# labels ud2\n"
#define ONE "# isoglot order 1\n# labels ud1\n"

/* What a model is written as once it is read, or the message. */
static const char *again(const char *text, size_t n)
{
    static char said[1024];
    write_file("m", text, n);
    struct order_model *m = order_read("m");
    if (!m) return err_msg();
    FILE *f = fmemopen(said, sizeof said, "w");
    order_write(m, f);
    fclose(f);
    order_free(m);
    return said;
}
#define AGAIN(s) again(s, sizeof(s) - 1)

static void models_read_back_as_they_were_written(void **state)
{
    (void)state;
    assert_string_equal(AGAIN(TWO), TWO);
    assert_string_equal(AGAIN(ONE), ONE);
    assert_string_equal(
        AGAIN(TWO "V\tPRE_@VERB_obj\t1e1\nN\tHI_BOS_@NOUN&@_ADJ&amod_DET&det_EOS\t-0.5\n"
                  "N\tBI_BOS_ADJ\t2\nN\tBTW_amod_det\t.25\nN\tAFT_amod_det\t1e-30\n"
                  "N\tBFR_X&xcomp_X&aux:pass\t0.1234567891"),
        TWO "N\tAFT_amod_det\t1e-30\nN\tBFR_X&xcomp_X&aux:pass\t0.123456789\nN\tBI_BOS_ADJ\t2\n"
            "N\tBTW_amod_det\t0.25\nN\tHI_BOS_@NOUN&@_ADJ&amod_DET&det_EOS\t-0.5\n"
            "V\tPRE_@VERB_obj\t10\n");
    /* both classes may have one feature; relations of UD 1 are what a file says, in 23 bytes */
    assert_string_equal(AGAIN(ONE "N\tBI_CONJ_CONJ\t1\nV\tBI_CONJ_CONJ\t1\n"
                                  "N\tHI_@PROPN&a2345678901234567890123_@PROPN&b2345678901234567890"
                                  "123_@PROPN&c2345678901234567890123_@PROPN&d23456789012345678901"
                                  "23_@PROPN&e2345678901234567890123\t1\n"),
                        ONE "N\tBI_CONJ_CONJ\t1\nN\tHI_@PROPN&a2345678901234567890123_@PROPN&b2345"
                            "678901234567890123_@PROPN&c2345678901234567890123_@PROPN&d234567890123"
                            "4567890123_@PROPN&e2345678901234567890123\t1\nV\tBI_CONJ_CONJ\t1\n");
    static const struct { const char *line, *said; } bad[] = {
        { "N\tBI_CCONJ_dobj\t1", "m:4: \"dobj\" is not a label of ud2, the label set that the "
                                 "second line names" },
        { "N\tBI_CONJ_ADJ\t1", "m:4: \"CONJ\" is not a label of ud2, the label set that the second "
                               "line names" },
        { "N\tBI_ADJ&_ADJ\t1", NULL }, { "N\tBI_&amod_ADJ\t1", NULL },
        { "N\tBI__ADJ\t1", "m:4: \"\" is not a label of ud2, the label set that the second line "
                           "names" },
        { "N\tBI_&_ADJ\t1", "m:4: \"&\" is not a label of ud2, the label set that the second line "
                            "names" },
        { "N\tBI_ADJ_\t1", "m:4: \"\" is not a label of ud2, the label set that the second line "
                           "names" },
        { "N\tBI_adj_ADJ\t1", "m:4: \"adj\" is not a label of ud2, the label set that the second "
                              "line names" },
        { "N\tBI_ADJ&foo_ADJ\t1", "m:4: \"ADJ&foo\" is not a label of ud2, the label set that the "
                                  "second line names" },
        { "N\tBI_FOO&amod_ADJ\t1", "m:4: \"FOO&amod\" is not a label of ud2, the label set that "
                                   "the second line names" },
        { "N\tBI_ADJ_DET_X\t1", "m:4: \"BI_ADJ_DET_X\" is not a feature, which is BI, PRE, BFR, "
                                "AFT or BTW with two labels, or HI with 3 to 5, \"_\" between" },
        { "N\tHI_ADJ_DET\t1", "m:4: \"HI_ADJ_DET\" is not a feature, which is BI, PRE, BFR, AFT or "
                              "BTW with two labels, or HI with 3 to 5, \"_\" between" },
        { "N\tHI_X_X_X\t1", NULL }, { "N\tHI_X_X_X_X_X\t1", NULL },
        { "N\tHI_X_X_X_X_X_X\t1", "m:4: \"HI_X_X_X_X_X_X\" is not a feature, which is BI, PRE, "
                                  "BFR, AFT or BTW with two labels, or HI with 3 to 5, \"_\" "
                                  "between" },
        { "N\tB_X_X\t1", "m:4: \"B_X_X\" is not a feature, which is BI, PRE, BFR, AFT or BTW with "
                         "two labels, or HI with 3 to 5, \"_\" between" },
        { "N\t_X_X\t1", "m:4: \"_X_X\" is not a feature, which is BI, PRE, BFR, AFT or BTW with "
                        "two labels, or HI with 3 to 5, \"_\" between" },
        { "N\tBI\t1", "m:4: \"BI\" is not a feature, which is BI, PRE, BFR, AFT or BTW with two "
                      "labels, or HI with 3 to 5, \"_\" between" },
        { "N\tBI_DET_ADJ\t1", "m:4: \"BI_DET_ADJ\" appears twice" },
        { "V\tBI_DET_ADJ\t1", NULL },
        { "N\tBI_X_X\t", "m:4: \"\" is not a weight" },
        { "N\tBI_X_X\tinf", "m:4: \"inf\" is not a weight" },
        { "N\tBI_X_X\t1e309", "m:4: \"1e309\" is not a weight" },
        { "N\tBI_X_X\t1 ", "m:4: \"1 \" is not a weight" },
        { "N\tBI_X_X\t1\t2", "m:4: \"1\\x092\" is not a weight" },
        { "N\tBI_X_X\t1\r", "m:4: \"1\\x0D\" is not a weight" },
        { "N\tBI_X_X", "m:4: expected a class, a feature and a weight, separated by tabs" },
        { "", "m:4: expected a class, a feature and a weight, separated by tabs" },
        { "NV\tBI_X_X\t1", "m:4: \"NV\" is not a class; classes are N and V" },
        { "\tBI_X_X\t1", "m:4: \"\" is not a class; classes are N and V" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[256];
        int n = snprintf(text, sizeof text, TWO "N\tBI_DET_ADJ\t1\n%s\n", bad[i].line);
        const char *said = again(text, (size_t)n);
        if (bad[i].said) assert_string_equal(said, bad[i].said);
        else assert_int_equal(said[0], '#');
    }
    assert_string_equal(AGAIN(TWO "N\tBI_X_X\t1\0002\n"),
                        "m:3: expected a class, a feature and a weight, separated by tabs");
    assert_string_equal(AGAIN("# isoglot order 1\n# labels ud3\n"),
                        "m:2: \"# labels ud2\" or \"# labels ud1\" expected; other label sets are "
                        "unknown");
    assert_string_equal(AGAIN("# isoglot order 1\n# labels ud2 \n"),
                        "m:2: \"# labels ud2\" or \"# labels ud1\" expected; other label sets are "
                        "unknown");
    assert_string_equal(AGAIN("# isoglot order 1\n"),
                        "m:2: \"# labels ud2\" or \"# labels ud1\" expected; other label sets are "
                        "unknown");
    assert_string_equal(AGAIN(""), "m: not an order model, whose first line is \"# isoglot order "
                                   "1\"; --learn-order and --import-orm write them");
    assert_string_equal(AGAIN("# isoglot order 12\n# labels ud2\n"),
                        "m: not an order model, whose first line is \"# isoglot order 1\"; "
                        "--learn-order and --import-orm write them");
}

static void a_published_model_is_imported(void **state)
{
    (void)state;
    struct order_model *m = order_new(LABELS_UD1);
    static const char orm[] = "PRE_dobj_@ 1.5\nHI_X&dep_X&dep_EOS -2\n";
    write_file("orm", orm, sizeof orm - 1);
    assert_int_equal(order_import(m, ORDER_V, "orm"), 0);
    assert_int_equal(m->w[ORDER_V].n, 2);
    assert_int_equal(m->w[ORDER_N].n, 0);
    assert_true(m->w[ORDER_V].grams && !m->w[ORDER_N].grams);
    uint32_t obj = (uint32_t)relations_find(&m->relations, "dobj", 4) << 5;
    assert_near(order_weight(&m->w[ORDER_V], order_pair(ORDER_PRE, obj, REL_HEAD << 5)), 1.5, 0);
    assert_near(order_weight(&m->w[ORDER_V], order_pair(ORDER_BI, obj, REL_HEAD << 5)), 0, 0);
    static const struct { const char *text; size_t n; const char *said; } bad[] = {
        { "BI_a_b 1\nBI_a_c", 15, "orm:2: expected a feature, a space and a weight" },
        { "BI_a_b 1\n\n", 10, "orm:2: expected a feature, a space and a weight" },
        { "BI_a_b 1\0002\n", 11, "orm:1: expected a feature, a space and a weight" },
        { "BI_a_b  1x\n", 11, "orm:1: \" 1x\" is not a weight" },
        { "", 0, "orm: holds no feature" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_file("orm", bad[i].text, bad[i].n);
        struct order_model *x = order_new(LABELS_UD1);
        assert_int_equal(order_import(x, ORDER_N, "orm"), -1);
        assert_string_equal(err_msg(), bad[i].said);
        order_free(x);
    }
    order_free(m);
}

static void models_are_mixed_by_name(void **state)
{
    (void)state;
    static const char a[] = ONE "N\tBI_one_two\t4\nN\tBI_two_ADJ\t8\n",
                      b[] = ONE "N\tBI_three_two\t16\nN\tBI_one_two\t32\nV\tHI_X_X_X\t64\n";
    write_file("a", a, sizeof a - 1);
    write_file("b", b, sizeof b - 1);
    struct order_model *super = order_read("a"), *sub = order_read("b"),
                       *two = order_new(LABELS_UD2);
    assert_int_equal(order_mix(super, sub, 0.25), 0);
    char text[256];
    FILE *f = fmemopen(text, sizeof text, "w");
    order_write(super, f);
    fclose(f);
    /* 0.75 of the first, a quarter of the second */
    assert_string_equal(text, ONE "N\tBI_one_two\t11\nN\tBI_three_two\t4\nN\tBI_two_ADJ\t6\n"
                                  "V\tHI_X_X_X\t16\n");
    assert_true(super->w[ORDER_V].grams && !super->w[ORDER_N].grams);
    assert_int_equal(order_mix(super, two, 0.5), -1);
    assert_string_equal(err_msg(), "the two order models have different label sets, ud1 and ud2");
    /* 125 relations are full: the 126th of the other model has no number */
    for (int i = super->relations.n; i < REL_OTHER; i++) {
        snprintf(text, sizeof text, "r%d", i);
        relations_add(&super->relations, text, strlen(text));
    }
    assert_int_equal(order_mix(super, sub, 0.25), 0);
    order_index(&sub->w[ORDER_V],
                order_pair(ORDER_BI, (uint32_t)relations_add(&sub->relations, "own", 3) << 5, 1));
    assert_int_equal(order_mix(super, sub, 0.25), -1);
    assert_string_equal(err_msg(), "more than 125 relations");
    order_free(super);
    order_free(sub);
    order_free(two);
}

/* --- learning --------------------------------------------------------------------------------- */

static struct order_nodes *nodes(const char *text)
{
    write_file("trees", text, strlen(text));
    return order_nodes_read((char *[]){ "trees" }, 1);
}
#define ROW(id, upos, head, rel) id "\tw\tw\t" upos "\t_\t_\t" head "\t" rel "\t_\t_\n"
#define PAIR ROW("1", "ADJ", "2", "amod") ROW("2", "NOUN", "0", "root") "\n"
#define THREE ROW("1", "ADJ", "3", "amod") ROW("2", "DET", "3", "det") \
    ROW("3", "PROPN", "0", "root")

static void orders_are_learnt(void **state)
{
    (void)state;
    /* two nodes, of two items and of three, and one that has nothing to put in order; the last
     * sentence has no empty line */
    struct order_nodes *t = nodes("\xEF\xBB\xBF\n\r\n# c\n" PAIR "\n\r\n"
                                  ROW("1", "NOUN", "0", "root") "\n" THREE);
    assert_non_null(t);
    assert_int_equal(order_nodes_count(t, ORDER_N), 2);
    assert_int_equal(order_nodes_count(t, ORDER_V), 0);
    struct order_model *m = order_new(LABELS_UD2);
    struct order_fit fit = order_fit(m, t, ORDER_N);
    assert_int_equal(fit.nodes, 2);
    assert_near(fit.bits, (1 + log2(6)) / 2, 1e-12);
    assert_near(fit.uniform, (1 + log2(6)) / 2, 1e-12);
    assert_near(fit.kept, (1 / 2.0 + 1 / 6.0) / 2, 1e-12);
    /* "ADJ before its noun" three times as likely: 3/4 of the pair; of three items, a half of the
     * orders have it, so that those have 3/4 and each of the three 1/4 */
    size_t at = order_index(&m->w[ORDER_N], order_pair(ORDER_PRE,
                            (uint32_t)relations_find(&m->relations, "amod", 4) << 5,
                            REL_HEAD << 5));
    m->w[ORDER_N].weight[at] = log(3);
    fit = order_fit(m, t, ORDER_N);
    assert_near(fit.bits, (log2(4 / 3.0) + 2) / 2, 1e-12);
    assert_near(fit.uniform, (1 + log2(6)) / 2, 1e-12);
    assert_near(fit.kept, (3 / 4.0 + 1 / 4.0) / 2, 1e-12);
    /* an infinite sum of exponentials is none of the scores' */
    m->w[ORDER_N].weight[at] = -1000;
    assert_near(order_fit(m, t, ORDER_N).bits, (1000 / log(2) + 1000 / log(2) + log2(3)) / 2, 1e-9);
    fit = order_fit(m, t, ORDER_V);
    assert_true(fit.nodes == 0 && fit.bits == 0 && fit.uniform == 0 && fit.kept == 0);
    order_free(m);
    order_nodes_free(t);
}

/* 21 times the same pair: of its two orders, each has twelve features that the other lacks (BI
 * BOS_a a_b b_EOS and PRE a_b, by three alphabets), all of one weight w, or -w:
 * p = 1 / (1 + e^-24w). Ten passes of a batch of twenty and of what is left, AdaGrad with 0.1. */
static void a_pair_is_learnt_by_hand(void **state)
{
    (void)state;
    char text[21 * sizeof PAIR] = "";
    for (int i = 0; i < 21; i++) strcat(text, PAIR);
    struct order_nodes *t = nodes(text);
    struct order_model *m = order_new(LABELS_UD2);
    order_learn(m, t, ORDER_N, 1);
    double w = 0, squares = 0;
    for (int pass = 0; pass < 10; pass++)
        for (int left = 21; left > 0; left -= 20) {
            double d = (left < 20 ? left : 20) / 20.0 / (1 + exp(24 * w));
            squares += d * d;
            w += 0.1 * d / sqrt(squares);
        }
    assert_int_equal(m->w[ORDER_N].n, 24);
    assert_int_equal(m->w[ORDER_V].n, 0);
    int plus = 0;
    for (size_t i = 0; i < 24; i++) {
        plus += m->w[ORDER_N].weight[i] > 0;
        assert_near(fabs(m->w[ORDER_N].weight[i]), w, 1e-12);
    }
    assert_int_equal(plus, 12);
    assert_near(order_fit(m, t, ORDER_N).bits, log2(1 + exp(-24 * w)), 1e-12);
    order_free(m);
    order_nodes_free(t);
    /* what is wrong with a treebank, at its line */
    static const struct { const char *text, *said; } bad[] = {
        { PAIR "\n\n# c\n" ROW("1", "NN", "0", "root"),
          "trees:7: UPOS of \"w\" is \"NN\", not one of UD 2's 17; order models need UD 2's "
          "labels" },
        { PAIR ROW("1", "X", "0", "root") ROW("3", "X", "0", "root"),
          "trees:5: ID is \"3\", not 2; words are numbered 1, 2, ... and an empty line ends a "
          "sentence" },
        { PAIR ROW("1", "X", "0", "root") ROW("2", "X", "4", "dep"),
          "trees:5: HEAD is \"4\", which is not one of this sentence's 2 words" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_null(nodes(bad[i].text));
        assert_string_equal(err_msg(), bad[i].said);
    }
    /* ... of several, of which only the last is in order */
    write_file("first", "1\n", 2);
    write_file("trees", PAIR, sizeof PAIR - 1);
    assert_null(order_nodes_read((char *[]){ "first", "trees" }, 2));
    assert_string_equal(err_msg(), "first:1: 1 columns; CoNLL-U has ten, separated by tabs");
}

/* Two dependents of one kind: that one stands before the other is true of all orders, and its
 * weight stays 0. What there is to learn is that both stand before the head: the two orders of six
 * in which they do are as likely, with a bit between them. */
static void what_is_true_of_all_orders_is_not_learnt(void **state)
{
    (void)state;
    struct order_nodes *t = nodes(ROW("1", "ADJ", "3", "amod") ROW("2", "ADJ", "3", "amod")
                                  ROW("3", "NOUN", "0", "root"));
    struct order_model *m = order_new(LABELS_UD2);
    struct order_weights *w = &m->w[ORDER_N];
    order_learn(m, t, ORDER_N, 1);
    struct order_item a = order_item(&(struct ud_labels){
        order_pos_find(LABELS_UD2, "ADJ", 3), relations_find(&m->relations, "amod", 4) }, false);
    for (int i = 0; i < 3; i++) {
        assert_near(order_weight(w, order_pair(ORDER_PRE, a.symbol[i], a.symbol[i])), 0, 0);
        assert_true(order_weight(w, order_pair(ORDER_BFR, a.symbol[i], a.symbol[i])) > 0.1);
    }
    struct order_fit fit = order_fit(m, t, ORDER_N);
    assert_true(fit.bits > 1 && fit.bits < 1.1);
    order_free(m);
    order_nodes_free(t);
    /* as often before as behind: no weight moves from 0 */
    t = nodes(PAIR ROW("1", "NOUN", "0", "root") ROW("2", "ADJ", "1", "amod"));
    m = order_new(LABELS_UD2);
    order_learn(m, t, ORDER_N, 1);
    assert_int_equal(m->w[ORDER_N].n, 24);
    for (size_t i = 0; i < 24; i++) assert_near(m->w[ORDER_N].weight[i], 0, 0);
    assert_near(order_fit(m, t, ORDER_N).bits, 1, 0);
    order_free(m);
    order_nodes_free(t);
}

/* --- scripts ---------------------------------------------------------------------------------- */

static const char *written(enum script to, const struct shared *shared, const char *s)
{
    static char text[256];
    struct tbuf out = { 0 };
    tbuf_add(&out, ">", 1);
    if (script_line(to, shared, s, strlen(s), &out) < 0) strcpy(text, err_msg());
    else snprintf(text, sizeof text, "%.*s", (int)out.n, out.p);
    tbuf_free(&out);
    return text;
}

static struct shared *draw(const char *text, double overlap, uint64_t seed)
{
    write_file("v", text, strlen(text));
    struct vocab *v = vocab_read("v");
    return v ? shared_draw(v, overlap, seed) : NULL;
}

static const char *file_of(int status, struct out *out)
{
    static char text[512];
    if (status < 0) { out_abort(out); return err_msg(); }
    assert_int_equal(out_commit(out), 0);
    FILE *f = fopen("o", "rb");
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    return text;
}

static void copies_are_marked(void **state)
{
    (void)state;
    assert_string_equal(written(SCRIPT_COPY, NULL, ""), ">");
    assert_string_equal(written(SCRIPT_COPY, NULL, "a b@@  c "), ">ˣa ˣb@@  ˣc ");
    assert_string_equal(written(SCRIPT_KEEP, NULL, "ˣa <s> b"), ">ˣa <s> b");
    assert_string_equal(written(SCRIPT_BACK, NULL, "ˣa b ˣˣc ˣ a\xcb x\xcb\xa3"),
                        ">a b ˣc  a\xcb x\xcb\xa3");
    assert_string_equal(written(SCRIPT_COPY, NULL, "<s> </s> <pad> <unk> <mask> <S> <pad <x> a> "
                                                   "<mask>@@ <masks>"),
                        "><s> </s> <pad> <unk> <mask> ˣ<S> ˣ<pad ˣ<x> ˣa> ˣ<mask>@@ ˣ<masks>");
    assert_string_equal(written(SCRIPT_COPY, NULL, "a ˣb"),
                        "token \"ˣb\" begins with U+02E3, which marks a copy; --untrans takes it "
                        "away");
    /* one byte each: the most that the room may need */
    char dense[128] = "", want[512] = ">";
    for (int i = 0; i < 60; i++) {
        strcat(dense, i ? " x" : "x");
        strcat(want, i ? " ˣx" : "ˣx");
    }
    assert_string_equal(written(SCRIPT_COPY, NULL, dense), want);
}

static int names(const char *text, const char *name)
{
    int n = 0;
    for (const char *s = text; (s = strstr(s, name)); s++) n++;
    return n;
}

static void a_share_of_the_types_is_drawn(void **state)
{
    (void)state;
    uint32_t entries;
    double mass;
    /* of three types half are 1.5, which is two; a special is none of them */
    struct shared *s = draw("a 5\n<x> 3\n<mask> 2\nb 2\n", 0.5, 1);
    assert_int_equal(s->types, 3);
    assert_int_equal(s->kept, 2);
    int kept = 0;
    for (uint32_t id = 0; id < s->vocab->n; id++) kept += s->keep[id];
    assert_int_equal(kept, 2);
    shared_free(s);
    s = draw("a 5\n<mask> 2\nb 1\n", 0, 1);
    uint32_t a = vocab_id(s->vocab, "a", 1), mask = vocab_id(s->vocab, "<mask>", 6);
    assert_true(shared_has(s, mask) && !shared_has(s, a) && a == VOCAB_SPECIALS);
    s->keep[a] = true;
    assert_string_equal(written(SCRIPT_COPY, s, "a b c"), ">a ˣb ˣc");
    struct out *out = out_open("o");
    assert_string_equal(file_of(derive_vocabulary(s, out), out), "a 5\n<mask> 2\nb 1\nˣb 1\n");
    out = out_open("o");
    /* of the two types, one: b, since a is shared; it is one of eight occurrences */
    assert_string_equal(
        file_of(derive_dictionary(s, 0.5, DICTIONARY_RANDOM, 1, out, &entries, &mass), out),
        "b\tˣb\n");
    assert_int_equal(entries, 1);
    assert_near(mass, 1 / 8.0, 1e-12);
    out = out_open("o");
    assert_string_equal(
        file_of(derive_dictionary(s, 1, DICTIONARY_RANDOM, 1, out, &entries, &mass), out),
        "a dictionary of 2 types is more than the 1 that the languages do not share; lower "
        "--dict-share or --overlap");
    shared_free(s);
    /* the most frequent; of equally frequent ones, those that come first; in the file's order */
    s = draw("a 5\nb 9\nc 5\nd 7\ne 5\n", 0, 1);
    out = out_open("o");
    assert_string_equal(
        file_of(derive_dictionary(s, 0.6, DICTIONARY_FREQUENCY, 1, out, &entries, &mass), out),
        "a\tˣa\nb\tˣb\nd\tˣd\n");
    assert_near(mass, 21 / 31.0, 1e-12);
    out = out_open("o");
    assert_string_equal(
        file_of(derive_dictionary(s, 0, DICTIONARY_FREQUENCY, 1, out, &entries, &mass), out), "");
    assert_true(entries == 0 && mass == 0);
    shared_free(s);
    s = draw("a\nb\n", 0, 1);
    out = out_open("o");
    assert_string_equal(file_of(derive_vocabulary(s, out), out), "a\nb\nˣa\nˣb\n");
    out = out_open("o");
    assert_string_equal(
        file_of(derive_dictionary(s, 1, DICTIONARY_RANDOM, 1, out, &entries, &mass), out),
        "a\tˣa\nb\tˣb\n");
    assert_true(entries == 2 && mass == 0);
    shared_free(s);
    assert_null(draw("a 1\nˣb 1\nc 1\n", 0, 1));
    assert_string_equal(err_msg(), "token \"ˣb\" begins with U+02E3, which marks a copy; --untrans "
                                   "takes it away");
    /* each type of ten is drawn by about as many seeds: 200 of 1,000, 4 standard errors are 50; a
     * larger share with the same seed keeps all that a smaller one does */
    char text[512] = "";
    int drawn[10] = { 0 }, listed[10] = { 0 };
    for (uint64_t seed = 0; seed < 1000; seed++) {
        struct shared *few = draw("a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n", 0.2, seed);
        struct shared *more = seed < 20 ? draw("a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n", 0.5, seed) : NULL;
        for (int i = 0; i < 10; i++) {
            drawn[i] += few->keep[VOCAB_SPECIALS + i];
            if (more && few->keep[VOCAB_SPECIALS + i])
                assert_true(more->keep[VOCAB_SPECIALS + i]);
        }
        memset(few->keep, 0, few->vocab->n);
        if (seed < 250) {
            out = out_open("o");
            strcpy(text, file_of(derive_dictionary(few, 0.2, DICTIONARY_RANDOM, seed, out, &entries,
                                                   &mass), out));
            assert_int_equal(names(text, "\n"), 2);
            for (int i = 0; i < 10; i++)
                listed[i] += strchr(text, 'a' + i) != NULL;
        }
            shared_free(few);
        shared_free(more);
    }
    for (int i = 0; i < 10; i++) {
        assert_in_range(drawn[i], 150, 250);
        /* 50 of 250, 4 standard errors are 25 */
        assert_in_range(listed[i], 25, 75);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_word_goes_on_behind_two_at_signs),
        cmocka_unit_test(what_ends_a_sentence_stays_last),
        cmocka_unit_test(orders_are_of_a_seed_a_sentence_and_a_side),
        cmocka_unit_test(rows_of_tags),
        cmocka_unit_test(rows_of_spans),
        cmocka_unit_test(rows_of_trees),
        cmocka_unit_test(trees_are_turned_round),
        cmocka_unit_test(labels_of_both_sets),
        cmocka_unit_test(what_heads_an_order),
        cmocka_unit_test(orders_score_what_the_format_says),
        cmocka_unit_test(models_read_back_as_they_were_written),
        cmocka_unit_test(a_published_model_is_imported),
        cmocka_unit_test(models_are_mixed_by_name),
        cmocka_unit_test(orders_are_learnt),
        cmocka_unit_test(a_pair_is_learnt_by_hand),
        cmocka_unit_test(what_is_true_of_all_orders_is_not_learnt),
        cmocka_unit_test(copies_are_marked),
        cmocka_unit_test(a_share_of_the_types_is_drawn),
    };
    if (scratch_enter() < 0) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_leave();
    return failed;
}
