/* Checkpoints of a run: DIR/checkpoints/step-N, each a complete model folder with the optimiser and
 * the state next to the weights. Written under a temporary name, synced, renamed once: what has its
 * final name is whole. */
#ifndef TRAINER_CHECKPOINT_H
#define TRAINER_CHECKPOINT_H
#include "lib/trainer/trainer.h"

struct checkpoint_state {
    int64_t step, best_step, since_best;
    double best;
    struct state *state;             /* whose integers and arrays are kept, by name */
    int64_t tokens;                  /* of the log; loaded: -1 where none are recorded */
    bool tree;                       /* the run adds gradients by a tree (gradients.h) */
    /* to be loaded: ranks share the optimiser, so that all of m and v come here, malloc'd */
    bool shared;
    /* to be loaded: what m keeps (model_keep) cuts the run's text, so a checkpoint must have it */
    bool cuts_text;
    float *moment[2];
};

/* What a checkpoint will hold, copied to the host, so that training continues while it is written.
 * The model's configuration, layout and words, which training leaves alone, stay the model's. */
struct snapshot {
    const struct model *m;
    float *array[3];                 /* [ps.total] each: parameters, Adam's m and v */
    struct checkpoint_state st;      /* its state is the one below */
    /* copies: integers in `value`, arrays one after another in `arrays` */
    struct state state;
    int64_t *value;
    char *arrays;
};
/* sharded: of several ranks, which all give their parts (sharded_give); NULL: the model has all.
 * NULL with a message. */
struct snapshot *snapshot_take(const struct model *m, const struct checkpoint_state *st,
                               const struct sharded_optimizer *sharded);
bool snapshot_finite(const struct snapshot *s);      /* are all its numbers? */
void snapshot_free(struct snapshot *s);

int checkpoint_save(const char *dir, const struct snapshot *s, const struct vocab *vocab);
/* Which checkpoints stay: the newest, the best, and the last `keep` of those that every run makes,
 * at multiples of `every` and at `last`; what an interruption or the clock saved goes when a newer
 * one is there. So a run's folder ends the same, interrupted or not. */
struct checkpoint_keep { int keep; int64_t every, last, best; };
int checkpoint_prune(const char *dir, const struct checkpoint_keep *k);
/* Removes the remains of an interrupted save. */
int checkpoint_sweep(const char *dir);
/* Step of the newest checkpoint, -1 when there is none. */
int64_t checkpoint_newest(const char *dir);
/* The folder of the newest checkpoint whose model is whole by its checksums; malloc'd, NULL where
 * there is none. */
char *checkpoint_whole(const char *dir);
/* Loads the newest whole checkpoint into m and st (st->state says which names there must be). A
 * damaged one is reported on standard error, removed, and the one before it used. st->best holds,
 * on entry, what stands for "none yet". Returns 1, 0 when there is none, -1 with a message. */
int checkpoint_load_newest(const char *dir, struct model *m, struct checkpoint_state *st);
/* Could a run continue from the files in this folder besides its model m (optimiser, arrays,
 * state; each may be missing)? 0, or -1 with a message. */
int checkpoint_check(const char *folder, const struct model *m);
/* Points the link DIR/name at step N, atomically. */
int checkpoint_link(const char *dir, const char *name, int64_t step);

#endif
