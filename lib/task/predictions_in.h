/* What the files that judge predictions share. */
#ifndef TASK_PREDICTIONS_IN_H
#define TASK_PREDICTIONS_IN_H
#include "lib/task/predictions.h"

int judge_answers(const struct predictions_options *o, const struct labelled_set *gold,
                  const char *path, struct judged *out, struct predictions_best *best);

#endif
