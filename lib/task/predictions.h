/* Reads predictions and judges them against gold (lib/labelled/labelled.h), example by example. */
#ifndef TASK_PREDICTIONS_H
#define TASK_PREDICTIONS_H
#include "lib/eval/judged.h"
#include "lib/labelled/labelled.h"

/* How a metric reads gold: what kind of file, and how strictly. lang: which rows or columns of it.
 */
struct labelled_options predictions_gold(enum task_metric m, const char *lang, const char *format);

struct predictions_options {
    enum task_metric metric;
    const char *lang;                /* of the gold file; mlqa: of its contexts */
    const char *no_answer; /* squad2: a JSON file {id: probability of "no answer"}, or NULL */
    double no_answer_above;          /* squad2: probabilities above it mean "no answer" */
    void (*tell)(const char *fmt, ...)
        __attribute__((format(printf, 1, 2))); /* notes; may be NULL */
};

/* squad2 with no_answer: the best thresholds, and over what. */
struct predictions_best { bool known; struct best_threshold exact, f1; };

/* Reads predictions ("-": standard input) and judges them:
 *   accuracy             a label a line; what follows a tab is ignored
 *   tag-accuracy, chunk-f1   word<TAB>tag, tag, or a format of gold's; words must be gold's
 *   squad, squad2, mlqa      JSON, {"question's id": "answer"}
 *   stat_spearman, stat_pearson        a number a line
 * As many lines as gold has examples, in its order; what does not fit is an error with its line.
 * Questions without a prediction score 0 (squad, mlqa) or are left out (squad2), and are
 * reported, as the official scripts have it. *out is judged_free'd by the caller; best may be NULL.
 * 0, or -1 with a message. */
int predictions_judge(const struct predictions_options *o, const struct labelled_set *gold,
                      const char *path, struct judged *out, struct predictions_best *best);

/* --- answers to questions --------------------------------------------------------------------- */

/* Shared by the files that judge predictions. */

int predictions_judge_answers(const struct predictions_options *o, const struct labelled_set *gold,
                              const char *path, struct judged *out, struct predictions_best *best);

/* Marks answers one by one, by the rules of metric squad, squad2 or mlqa (lang: of the contexts).
 * NULL with a message. */
struct answer_marks *predictions_marks_new(enum task_metric m, const char *lang);
/* Exact match (0 or 1) and F1 (0 to 1) of an answer to q: the best over its gold answers. SQuAD 2.0
 * leaves out those of which nothing is left; without any, "" is right. */
void predictions_answer_mark(struct answer_marks *j, const struct labelled *q, const char *text,
                             double *exact, double *f1);
void predictions_marks_free(struct answer_marks *j);          /* NULL is fine */

#endif
