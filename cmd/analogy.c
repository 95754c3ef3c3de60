/* analogy: answers a - b + c by word vectors of one language or of several in one space. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/mem.h"
#include "common/prog/prog.h"
#include "common/prog/result_rows.h"
#include "common/text/text.h"
#include "kernels/options.h"
#include "lib/vectors/analogy.h"

enum { MOST = 64 };
static struct options {
    struct strs vec;
    const char *answers, *targets;
    bool word2vec, unit;
    int max_vocab;
} o = { .max_vocab = 200000 };

static const struct opt rows[] = {
    { "vec", 0, OPT_LIST(options, vec), "FILE",
      "vectors; give one file per language: words are looked up in the files' order" },
    { "word2vec", 0, OPT_FLAG(options, word2vec), "",
      "a question a b c d says that a is to b as c is to d (word2vec's order), answered by b - a "
      "+ c (default: a - b + c = d)" },
    { "targets", 0, OPT_STR(options, targets), "WORDS",
      "instead of answers, print the cosines of a - b + c with each of these comma-separated "
      "words, one row per question (d may be missing); vectors are used as they are" },
    { "unit", 0, OPT_FLAG(options, unit), "",
      "with --targets: normalise vectors to length 1 first, as without --targets" },
    { "max-vocab", 0, OPT_INT(options, max_vocab), "N",
      "read at most N vectors per file; 0: all", .min = 0, .max = 1e9 },
    { "answers", 0, OPT_STR(options, answers), "FILE",
      "write a b c d, the word found, its cosine and that of d to this file" },
    { 0 }
};
static struct vectors_options reading;
static struct result_options as_rows;
static const struct opt_group groups[] = { { "Options", rows, &o }, { 0, vectors_rows, &reading },
                                           { "Rows of results.tsv", result_options_rows, &as_rows },
                                           { 0 } };
/* NULL without --row: its functions then do nothing. */
static struct result_rows *results;

static const struct prog prog = {
    "analogy", "--vec A.vec [--vec B.vec] < questions",
    "Answers word analogies: king - man + woman = queen.",
    "A question is a line of four words; \": name\" begins a category. Prints, for each category\n"
    "and for all of them: the number of questions, the number asked (all four words have\n"
    "vectors), accuracy, and the mean cosine of a - b + c with d.\n",
    .part = { &kern_part }
};

static void row(const char *name, const struct analogy_score *s)
{
    if (result_rows_instead(results)) return;
    printf("%s\t%llu\t%llu\t%.4f\t%.4f\n", name, (unsigned long long)s->questions,
           (unsigned long long)s->asked, s->accuracy, s->cosine);
}

struct targets { const char **word; int n; struct mem_text text; };

static void put_targets(void *ctx, char *const *abc, const double *cosine)
{
    struct targets *t = ctx;
    char *question = mem_format("%s-%s+%s", abc[0], abc[1], abc[2]);
    fprintf(t->text.f, "%s\t%s\t%s", abc[0], abc[1], abc[2]);
    for (int i = 0; i < t->n; i++) {
        /* d may be missing, or have no vector */
        fprintf(t->text.f, isnan(cosine[i]) ? "\t-" : "\t%.4f", cosine[i]);
        result_rows_add(results, t->word[i], -1, "%.4f", cosine[i]);
        result_rows_direction(results, question);
    }
    putc('\n', t->text.f);
    free(question);
}

static int cosines(struct vectors *const *set, const char *questions)
{
    /* t.word points into the list */
    char *list = mem_dup(o.targets), *save = NULL;
    struct targets t = { mem_alloc(strlen(list) * sizeof *t.word) };
    int rc = 0;
    uint64_t missing;
    for (char *w = strtok_r(list, ",", &save); w; w = strtok_r(NULL, ",", &save))
        t.word[t.n++] = w;
    if (!t.n) rc = err_set("--targets: no word in \"%s\"", o.targets);
    for (int i = 0; i < o.vec.n && rc == 0 && o.unit; i++) rc = vectors_normalize(set[i], "unit");
    mem_text_open(&t.text);
    if (rc == 0)
        rc = analogy_targets(set, o.vec.n, questions, o.word2vec, t.word, t.n, put_targets, &t,
                             &missing);
    /* all rows before the header: an error leaves no half of a table */
    char *rows_of_all = mem_text_take(&t.text, NULL);
    if (rc == 0 && !result_rows_instead(results)) {
        printf("a\tb\tc");
        for (int i = 0; i < t.n; i++) printf("\t%s", t.word[i]);
        printf("\n%s", rows_of_all);
    }
    free(rows_of_all);
    if (rc == 0 && missing)
        msg_note("%llu questions have a word without a vector", (unsigned long long)missing);
    free(t.word);
    free(list);
    return rc;
}

static int run(const char *questions)
{
    reading.max = (uint32_t)o.max_vocab;
    struct vectors *set[MOST] = { 0 };
    struct analogy_report r;
    struct out *answers = NULL;
    int rc = 0;
    for (int i = 0; i < o.vec.n && rc == 0; i++)
        /* in the files' order, in which words are looked up */
        rc = (set[i] = vectors_load(o.vec.v[i], &reading, msg_note)) ? 0 : -1;
    if (o.targets) {
        if (rc == 0) rc = cosines(set, questions);
        for (int i = 0; i < o.vec.n; i++) vectors_free(set[i]);
        return rc;
    }
    if (rc == 0 && o.answers) rc = (answers = out_open(o.answers)) ? 0 : -1;
    if (rc == 0) rc = analogy_run(set, o.vec.n, questions, o.word2vec, answers, &r);
    for (int i = 0; i < o.vec.n; i++) vectors_free(set[i]);
    if (rc < 0) {
        out_abort(answers);
        return -1;
    }
    if (!result_rows_instead(results)) puts("category\tquestions\tasked\taccuracy\tcosine");
    for (size_t i = 0; i < r.n; i++) {
        const struct analogy_score *s = &r.category[i].score;
        char *measure = mem_format("analogy %s", r.category[i].name);
        /* questions before the first ": name" have no category of their own */
        if (*r.category[i].name) result_rows_add(results, measure, -1, "%.4f", s->accuracy);
        free(measure);
        row(r.category[i].name, s);
    }
    row("all", &r.all);
    analogy_free(&r);
    return answers ? out_commit(answers) : 0;
}

int main(int argc, char **argv)
{
    struct args args;
    int status = prog_start(&prog, groups, argc, argv, &args);
    if (status >= 0) return status;
    /* Before any file is opened: the flag is the whole process's. */
    if (reading.replace) text_replace_all();
    if (!o.vec.n || o.vec.n > MOST || args.n > 1)
        return prog_usage(
            "--vec FILE is needed, up to %d times, with at most one file of questions", MOST);
    if (o.targets && o.answers) return prog_usage("--targets and --answers cannot be combined");
    if (o.unit && !o.targets)
        return prog_usage("--unit needs --targets; without --targets vectors always have length 1");
    if (result_rows_open(&results, &as_rows, NULL) < 0) return prog_usage("%s", err_msg());
    int rc = run(args.n ? args.v[0] : "-");
    if (rc == 0) rc = result_rows_write(results, stdout);
    result_rows_free(results);
    return rc < 0 ? prog_fail() : prog_end();
}
