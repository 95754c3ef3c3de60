/* Shared by the files that judge predictions. */
#ifndef TASK_PREDICTIONS_IN_H
#define TASK_PREDICTIONS_IN_H
#include "lib/task/predictions.h"

int judge_answers(const struct predictions_options *o, const struct labelled_set *gold,
                  const char *path, struct judged *out, struct predictions_best *best);

/* Marks answers one by one, by the rules of metric squad, squad2 or mlqa (lang: of the contexts).
 * NULL with a message. */
struct answer_marks *answer_marks_new(enum task_metric m, const char *lang);
/* Exact match (0 or 1) and F1 (0 to 1) of an answer to q: the best over its gold answers. SQuAD 2.0
 * leaves out those of which nothing is left; without any, "" is right. */
void answer_mark(struct answer_marks *j, const struct labelled *q, const char *text, double *exact,
                 double *f1);
void answer_marks_free(struct answer_marks *j);          /* NULL is fine */

#endif
