/* What the files that judge predictions share. */
#ifndef SCORE_PREDICTIONS_IN_H
#define SCORE_PREDICTIONS_IN_H
#include "lib/score/predictions.h"

int judge_answers(const struct predictions_options *o, const struct labelled_set *gold,
                  const char *path, struct judged *out, struct predictions_best *best);

#endif
