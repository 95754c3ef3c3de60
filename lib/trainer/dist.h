/* What the ranks of a run hold in common, so that validation, log, best model and stops are the
 * run's: rank 0 opens the folder and saves, all others start from what it loaded and follow it.
 * Without ranks (tr->o.ranks NULL) every function here does nothing. */
#ifndef TRAINER_DIST_H
#define TRAINER_DIST_H
#include "lib/trainer/trainer.h"

/* Is it this process that opens the folder, logs and saves? */
bool dist_first(const struct trainer *tr);
/* After rank 0 has opened the folder: its weights, optimiser and state to all. */
int dist_start(struct trainer *tr);
/* Was this process asked to stop: by a signal, or, the first, by --stop-after? */
bool dist_stop_asked(const struct trainer *tr);
/* Is the last checkpoint older than --save-time? Of ranks the first one's clock counts. */
bool dist_late(const struct trainer *tr);
/* After a step of *tokens tokens: all have done the same one; *tokens becomes the sum of all; sets
 * tr->stop_asked where any was asked to stop, and tr->late. bad: the rank whose gradient was found
 * not to be finite, -1: none; tr->bad_rank becomes the lowest of all ranks' findings. */
int dist_step(struct trainer *tr, int64_t *tokens, int bad);
/* Rank 0's metric of a validation, and whether there was one. */
int dist_metric(struct trainer *tr, double *metric, bool *judged);
/* Have all the same weights? Compares their sums. */
int dist_check(struct trainer *tr);

#endif
