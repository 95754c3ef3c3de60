/* Checkpoints of a run: DIR/checkpoints/step-N, each a complete model folder with the optimiser and the state beside
 * the weights. Written under a temporary name, synced, renamed once: what has its final name is whole. */
#ifndef TRAIN_CHECKPOINT_H
#define TRAIN_CHECKPOINT_H
#include "lib/train/trainer.h"

struct checkpoint_state {
    int64_t step, best_step, since_best;
    double best;
    struct trainer_state *state; int n_state;
};

int checkpoint_save(const char *dir, const struct model *m, const struct vocab *vocab, const char *codes,
                    const struct checkpoint_state *st);
/* Removes all but the newest `keep` and step `best`. */
int checkpoint_prune(const char *dir, int keep, int64_t best);
/* Removes what an interrupted save left. */
int checkpoint_sweep(const char *dir);
/* Step of the newest checkpoint, -1 when there is none. */
int64_t checkpoint_newest(const char *dir);
/* Loads the newest whole checkpoint into m and st (st->state says which names it wants). A damaged one is reported on
 * standard error, removed, and the one before it used. st->best holds, on entry, what stands for "none yet". Returns 1, 0 when there is none, -1 with a message. */
int checkpoint_load_newest(const char *dir, struct model *m, struct checkpoint_state *st);
/* Points the link DIR/name at step N, atomically. */
int checkpoint_link(const char *dir, const char *name, int64_t step);

#endif
