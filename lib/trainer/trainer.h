/* A training run: the optimiser's step, learning-rate schedules, the run folder with its
 * checkpoints, log and lock, stopping and resuming. The losses are the caller's: lib/engine/step.c.
 *
 *   trainer_open(&tr, ...);                        locks the folder, makes it or resumes in it
 *   status = trainer_run(&tr, steps, ...);         saves at the end, also when stopped
 *
 *   steps:
 *   while (trainer_go(&tr)) {                      false: all steps done, patience over, asked to
 * stop
 *       ... forward and backward passes that add up to one step's gradient: of each micro-batch a
 *       that is this rank's (gradients_mine), then gradients_leaf(&tr.grad, a) ...
 *       trainer_sum(&tr, "mlm", losses, n); ...    what the log averages
 *       if (trainer_update(&tr) < 0) ...           clip, Adam, count the step; refuses NaN
 *       if (trainer_due(&tr)) { validate; trainer_judge(&tr, metric); }
 *       if (trainer_tick(&tr) < 0) ...             log line, progress bar, checkpoint when due
 *   }
 *
 * A step does not wait for a device that calls are queued on: what it leaves there for the log,
 * losses and the gradient's norm, is read in the order of the steps when a log line, a validation
 * or a checkpoint is due, once a second where there is a progress bar, and when there is much of
 * it. A gradient that is not finite changes nothing (kernels.h, adam) and ends the run when its
 * norm is read; of the steps that were queued after it nothing is logged, judged or saved.
 *
 * The folder (docs/formats/checkpoint.md): run.config (the effective options), log.jsonl,
 * checkpoints/step-N (a model folder with optimizer.safetensors and state.json), best and last
 * (links to two of them). */
#ifndef TRAINER_TRAINER_H
#define TRAINER_TRAINER_H
#include "common/prog/log.h"
#include "common/text/vocab.h"
#include "lib/trainer/gradients.h"
#include "lib/trainer/metrics.h"
#include "lib/trainer/options.h"
#include "lib/trainer/state.h"

struct trainer {
    struct trainer_options o;
    struct model *m;
    struct tape *t;
    const struct vocab *vocab;
    int64_t step;                /* steps done */
    int64_t best_step, since_best;
    double best;                 /* the best validation metric so far */
    double lr;                   /* of the last step */
    bool resumed;
    /* private */
    struct state *state;
    struct saver *saver;
    struct log *log;             /* open; validation events go there too */
    struct progress *bar; char shown[200];       /* the text after the progress bar */
    struct metrics read;        /* what the next log line averages */
    double started, saved_at, logged_at;
    int64_t saved_step, tokens, tokens_logged;
    bool stopped, ended;
    bool stop_asked;             /* of one of the ranks */
    int bad_rank;                /* whose gradients were not finite; -1: not known */
    bool late;                   /* with ranks: a checkpoint by --save-time is due */
    struct gradients grad;       /* what a step's micro-batches add up to */
    struct sharded_optimizer sharded;        /* .ranks NULL: every rank has the whole optimiser */
    float *moment[2];            /* what a checkpoint held of m and v, until ranks have theirs */
};

/* m has its initial weights; with resume they, the optimiser and the state come from the newest
 * whole checkpoint (one that is damaged is reported and the one before it used; none at all: a
 * fresh start). -1 with a message: folder in use, a run is there already and resume was not asked
 * for, ... state is the caller's: what of the run a checkpoint keeps besides. */
int trainer_open(struct trainer *tr, const struct trainer_options *o, struct model *m,
                 struct tape *t, const struct vocab *vocab, struct state *state);
bool trainer_go(struct trainer *tr);
/* The key of this step's random numbers. */
struct rng_key trainer_key(const struct trainer *tr, uint64_t seed, enum rng_purpose purpose);
/* Adds to what the next log line averages under `name` (sum / count): numbers at hand; the sum of x
 * [n] on the device, which may be written to by what is queued after this; the norm of the gradient
 * so far. */
void trainer_term(struct trainer *tr, const char *name, double sum, double count);
int trainer_sum(struct trainer *tr, const char *name, const float *x, int n);
int trainer_norm(struct trainer *tr, const char *name);
/* Micro-batch a of this step begins: what goes into the log comes from it. */
void trainer_at(struct trainer *tr, int a);
/* By all ranks: adds up what they have, clips, steps, zeroes the gradient. tokens: this one's. */
int trainer_update(struct trainer *tr, int64_t tokens);
bool trainer_due(const struct trainer *tr);          /* is validation due after this step? */
/* A validation's metric: keeps the best model, counts patience. */
int trainer_judge(struct trainer *tr, double metric);
int trainer_tick(struct trainer *tr);
/* All after trainer_open: the steps (engine_run), which get `what`, and the last checkpoint.
 * profile: then, on standard error, what the operations took (lib/graph/profile.h), the arena, and
 * peak memory next to the prediction, in bytes. The program's status, PROG_AGAIN when it was
 * stopped; or -1. */
int trainer_run(struct trainer *tr, int (*steps)(void *what, struct trainer *tr), void *what,
                bool profile, size_t predicted);
void trainer_free(struct trainer *tr);               /* zeros are fine */

/* --- several ranks ---------------------------------------------------------------------------- */

/* What the ranks of a run hold in common, so that validation, log, best model and stops are the
 * run's: rank 0 opens the folder and saves, all others start from what it loaded and follow it.
 * Without ranks (tr->o.ranks NULL) every function here does nothing. */

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
 * not to be finite, -1: none; tr->bad_rank becomes what the lowest rank has found that did. */
int dist_step(struct trainer *tr, int64_t *tokens, int bad);
/* Rank 0's metric of a validation, and whether there was one. */
int dist_metric(struct trainer *tr, double *metric, bool *judged);
/* Have all the same weights? Compares their sums. */
int dist_check(struct trainer *tr);

#endif
