/* Options of every training program: how to train, and how to run. */
#ifndef TRAINER_OPTIONS_H
#define TRAINER_OPTIONS_H
#include "common/prog/opt.h"
#include "lib/model/model.h"

/* after the warm-up */
enum schedule { SCHEDULE_CONSTANT, SCHEDULE_LINEAR, SCHEDULE_INVERSE_SQRT };

/* Adam with weight decay is AdamW */
enum optimizer { OPTIMIZER_ADAM, OPTIMIZER_LAMB };

/* gradients between ranks, and where they are added by their tree */
enum wire { WIRE_FLOAT32, WIRE_BF16 };

struct trainer_options {
    const char *dir;
    int64_t steps;               /* optimiser steps in all */
    double lr;                   /* the peak */
    double head_lr;              /* the peak for task heads (head.*); < 0: lr */
    int64_t warmup;              /* steps from 0 to the peak, linearly; 0: none */
    int schedule;                /* SCHEDULE_LINEAR goes to 0 at `steps` */
    int optimizer;
    double beta1, beta2, eps, weight_decay, clip;
    int accumulate;              /* micro-batches a step */
    /* steps; save_every 0: only at the end and when stopped */
    int64_t save_every, valid_every, log_every;
    int64_t save_seconds;        /* also that long after the last one; 0: no */
    /* No option: a run is saved and stopped only at multiples of so many steps, and at the end
     * (objective.h, period). */
    int period;
    int64_t stop_after;          /* seconds; 0: never */
    /* checkpoints kept of those at multiples of save_every, besides the newest and the best */
    int keep;
    int patience;                /* validations without a better one before it ends; 0: never */
    bool resume;
    /* the run's text is plain, and cut by what the model keeps (model_keep) */
    bool cuts_text;
    bool tree;                   /* gradients are added by a tree (gradients.h), as ranks do */
    int wire;
    bool shard_optimizer;        /* of several ranks each has a part of m and v: ZeRO-1 */
    int64_t rank_timeout;        /* seconds until a rank that says nothing is lost */
    struct ranks *ranks;         /* of the run; NULL: none */
    bool tensorboard;            /* event files next to the log */
    bool lower_is_better;        /* of the validation metric */
    /* folder that gets every micro-batch (write_batches.h); NULL: none */
    const char *write_batches;
    const char *config;          /* text for run.config */
};
/* Adam 0.9 0.999 1e-8, clip 5, lr 1e-4, ... */
void trainer_options_init(struct trainer_options *o);
/* The learning rate of step 1, 2, ...; the same of parameters that have a peak of their own. */
double trainer_lr(const struct trainer_options *o, int64_t step);
double trainer_rate(const struct trainer_options *o, double peak, int64_t step);
extern const struct opt trainer_rows[];           /* of struct trainer_options */

struct run_options {
    bool recompute, profile;
    size_t memory;               /* bytes; 0: what is free */
};
extern const struct opt run_options_rows[];

/* The files that tell how plain text becomes a model's tokens, for its --raw; NULL: not given. */
struct text_files { const char *codes, *tokenizer; };
extern const struct opt text_file_rows[];
/* Checks that --raw can read them and keeps them with m. -1 with a message. */
int text_files_keep(const struct text_files *f, struct model *m);

#endif
