#include "lib/trainer/options.h"
#include <math.h>
#include "lib/raw/raw.h"

const struct opt trainer_rows[] = {
    { "steps|max-steps", 0, OPT_I64(trainer_options, steps), "N",
      "number of optimiser steps", .min = 0, .max = 1e15 },
    { "lr", 0, OPT_REAL(trainer_options, lr), "LR", "peak learning rate", .min = 0, .max = 100 },
    { "schedule", 0, OPT_CHOICE(trainer_options, schedule), "constant|linear|inverse-sqrt",
      "learning rate after the warm-up; linear falls to 0 at the last step" },
    { "optimizer", 0, OPT_CHOICE(trainer_options, optimizer), "adam|lamb",
      "optimiser: adam (AdamW with --weight-decay) or lamb" },
    { "beta1", 0, OPT_REAL(trainer_options, beta1), "B",
      "Adam's decay rate of the mean gradient", .min = 0, .max = 0.99999 },
    { "beta2", 0, OPT_REAL(trainer_options, beta2), "B",
      "Adam's decay rate of the mean squared gradient", .min = 0, .max = 0.9999999 },
    { "eps", 0, OPT_REAL(trainer_options, eps), "E",
      "Adam's epsilon, added to the denominator", .min = 0, .max = 1 },
    { "weight-decay", 0, OPT_REAL(trainer_options, weight_decay), "W",
      "decoupled weight decay (AdamW); applies to matrices only", .min = 0, .max = 10 },
    { "clip|clip-grad-norm", 0, OPT_REAL(trainer_options, clip), "C",
      "clip the gradient to this norm; 0: no clipping", .min = 0, .max = 1e9 },
    { "accumulate|accumulate-gradients", 0, OPT_INT(trainer_options, accumulate), "N",
      "number of micro-batches per optimiser step", .min = 1, .max = 1e6 },
    { "save-every", 0, OPT_I64(trainer_options, save_every), "N",
      "write a checkpoint every N steps", .min = 0, .max = 1e15 },
    { "save-time", 0, OPT_TIME(trainer_options, save_seconds), "T",
      "also write a checkpoint when the last one is older than T (30m); 0: never" },
    { "keep", 0, OPT_INT(trainer_options, keep), "K",
      "keep the last K checkpoints of --save-every, besides the newest and the best one",
      .min = 1, .max = 1e6 },
    { "valid-every", 0, OPT_I64(trainer_options, valid_every), "N",
      "validate every N steps", .min = 0, .max = 1e15 },
    { "patience", 0, OPT_INT(trainer_options, patience), "N",
      "stop after N validations without improvement; 0: never", .min = 0, .max = 1e9 },
    { "log-every", 0, OPT_I64(trainer_options, log_every), "N",
      "write a log line every N steps", .min = 1, .max = 1e15 },
    { "tensorboard", 0, OPT_FLAG(trainer_options, tensorboard), "",
      "also write event files for TensorBoard, into the run folder's tensorboard/" },
    { "gradient-tree", 0, OPT_FLAG(trainer_options, tree), "",
      "add up a step's micro-batches in the fixed order that ranks use (mpirun, srun): one process "
      "then gives the same bytes as any number of ranks" },
    { "wire", 0, OPT_CHOICE(trainer_options, wire), "float32|bf16",
      "precision in which gradients are sent and added up across ranks; bf16 halves the traffic "
      "and rounds every sum, also in one process" },
    { "shard-optimizer", 0, OPT_FLAG(trainer_options, shard_optimizer), "",
      "with ranks: each keeps its part of the optimiser's state, so that one of N ranks needs "
      "8 (N - 1) / N bytes less per parameter; every file has the same bytes" },
    { "rank-timeout", 0, OPT_TIME(trainer_options, rank_timeout), "T",
      "with ranks: when one has been silent for T seconds, name it and stop all of them" },
    { "write-batches", 0, OPT_STR(trainer_options, write_batches), "DIR",
      "write every micro-batch, as the model reads it, to this folder as a safetensors file" },
    { "stop-after", 0, OPT_TIME(trainer_options, stop_after), "T",
      "save and exit with status 75 after this time (4h); 0: never" },
    { "resume", 0, OPT_FLAG(trainer_options, resume), "",
      "continue the run in the folder if there is one, else begin it" },
    { 0 }
};

const struct opt run_options_rows[] = {
    { "recompute", 0, OPT_FLAG(run_options, recompute), "",
      "recompute each layer in the backward pass instead of keeping its intermediate values: "
      "less memory, the same results" },
    { "memory", 0, OPT_SIZE(run_options, memory), "SIZE",
      "refuse to start a run that may need more memory than this (4G, 80%; default: what is "
      "free)" },
    { "profile", 0, OPT_FLAG(run_options, profile), "",
      "at the end, print the time that each operation took to standard error" },
    { 0 }
};

const struct opt text_file_rows[] = {
    { "codes", 0, OPT_STR(text_files, codes), "FILE",
      "BPE merges to keep in the model folder, for programs with --raw, finetune and predict "
      "(default: those of the model it starts from)" },
    { "tokenizer", 0, OPT_STR(text_files, tokenizer), "FILE",
      "settings of the tokeniser (tokenize --settings) to keep in the model folder, for the same "
      "programs as --codes (default: those of the model it starts from)" },
    { 0 }
};

int text_files_keep(const struct text_files *f, struct model *m)
{
    if (raw_check(f->codes, f->tokenizer) < 0) return -1;
    if (f->codes && model_keep_file(m, MODEL_CODES, f->codes) < 0) return -1;
    return f->tokenizer ? model_keep_file(m, MODEL_TOKENIZER, f->tokenizer) : 0;
}

void trainer_options_init(struct trainer_options *o)
{
    *o = (struct trainer_options){ .steps = 100000,
                                   .lr = 1e-4,
                                   .head_lr = -1,
                                   .warmup = 10000,
                                   .schedule = SCHEDULE_INVERSE_SQRT,
                                   .beta1 = 0.9,
                                   .beta2 = 0.999,
                                   .eps = 1e-8,
                                   .clip = 5,
                                   .accumulate = 1,
                                   .save_every = 1000,
                                   .period = 1,
                                   .valid_every = 1000,
                                   .log_every = 50,
                                   .keep = 2,
                                   .rank_timeout = 15,
                                   .lower_is_better = true };
}

double trainer_rate(const struct trainer_options *o, double peak, int64_t step)
{
    /* linear warm-up, then constant, linear to 0 at the last step, or peak * sqrt(warmup / step) */
    double s = (double)step, w = (double)o->warmup;
    if (step < o->warmup) return peak * s / w;
    switch (o->schedule) {
    case SCHEDULE_LINEAR: {
        double left = (double)(o->steps - step)
                      / (double)(o->steps - o->warmup > 0 ? o->steps - o->warmup : 1);
        return peak * (left > 0 ? left : 0);
    }
    case SCHEDULE_INVERSE_SQRT: return peak * sqrt((w > 1 ? w : 1) / (s > 1 ? s : 1));
    default: return peak;
    }
}

double trainer_lr(const struct trainer_options *o, int64_t step)
{
    return trainer_rate(o, o->lr, step);
}
