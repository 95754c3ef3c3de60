/* The folder of a training run (docs/formats/checkpoint.md): run.config, log.jsonl, checkpoints,
 * the links best and last. */
#ifndef TRAINER_RUN_FOLDER_H
#define TRAINER_RUN_FOLDER_H
#include "lib/trainer/checkpoint.h"
#include "lib/trainer/trainer.h"

/* May a run begin, or go on, in dir? Not where a model lies in dir itself: readers of dir would
 * take that model for the run's. 0, or -1 with a message. */
int run_folder_check(const char *dir);
/* Locks tr->o.dir and starts a run there, or continues from its newest checkpoint: reads model,
 * state and tr's own numbers, and finishes the linking and pruning that a kill right after that
 * checkpoint left undone. Opens tr->log. -1 with a message. */
int run_folder_open(struct trainer *tr);
/* Which checkpoints stay. */
struct checkpoint_keep run_folder_keep(const struct trainer *tr);

/* The model folder that `dir` stands for: itself if it has weights, else its best, else its last
 * checkpoint. If a link among them (or dir itself, RUN/last) leads to no model, as a power failure
 * may leave it, the newest whole checkpoint stands in, with a warning. The caller frees it; NULL
 * with a message when there is none. */
char *run_model_dir(const char *dir);

#endif
