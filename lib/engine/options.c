#include "lib/engine/options.h"
#include "lib/plain/plain.h"

const struct opt trainer_rows[] = {
    { "steps|max-steps", 0, OPT_I64(trainer_options, steps), "N", "optimiser steps", .min = 0, .max = 1e15 },
    { "lr", 0, OPT_REAL(trainer_options, lr), "LR", "the highest learning rate", .min = 0, .max = 100 },
    { "schedule", 0, OPT_CHOICE(trainer_options, schedule), "constant|linear|inverse-sqrt", "what follows; linear falls to 0 at the last step" },
    { "optimizer", 0, OPT_CHOICE(trainer_options, optimizer), "adam|lamb", "adam (AdamW with --weight-decay) or LAMB" },
    { "beta1", 0, OPT_REAL(trainer_options, beta1), "B", "Adam's", .min = 0, .max = 0.99999 },
    { "beta2", 0, OPT_REAL(trainer_options, beta2), "B", "Adam's", .min = 0, .max = 0.9999999 },
    { "eps", 0, OPT_REAL(trainer_options, eps), "E", "Adam's", .min = 0, .max = 1 },
    { "weight-decay", 0, OPT_REAL(trainer_options, weight_decay), "W", "of matrices; decoupled (AdamW)", .min = 0, .max = 10 },
    { "clip|clip-grad-norm", 0, OPT_REAL(trainer_options, clip), "C", "largest gradient norm; 0: no clipping", .min = 0, .max = 1e9 },
    { "accumulate|accumulate-gradients", 0, OPT_INT(trainer_options, accumulate), "N", "micro-batches a step", .min = 1, .max = 1e6 },
    { "save-every", 0, OPT_I64(trainer_options, save_every), "N", "checkpoint every N steps", .min = 0, .max = 1e15 },
    { "save-time", 0, OPT_TIME(trainer_options, save_seconds), "T", "and when the last is older than this (30m)" },
    { "keep", 0, OPT_INT(trainer_options, keep), "K", "of the checkpoints of --save-every keep the last K, besides the newest and the best", .min = 1, .max = 1e6 },
    { "valid-every", 0, OPT_I64(trainer_options, valid_every), "N", "validate every N steps", .min = 0, .max = 1e15 },
    { "patience", 0, OPT_INT(trainer_options, patience), "N", "stop after N validations without a better one; 0: never", .min = 0, .max = 1e9 },
    { "log-every", 0, OPT_I64(trainer_options, log_every), "N", "a log line every N steps", .min = 1, .max = 1e15 },
    { "tensorboard", 0, OPT_FLAG(trainer_options, tensorboard), "", "write event files for TensorBoard too, into the folder's tensorboard/" },
    { "write-batches", 0, OPT_STR(trainer_options, write_batches), "DIR",
      "write every micro-batch, as the model reads it, as a safetensors file into this folder" },
    { "stop-after", 0, OPT_TIME(trainer_options, stop_after), "T", "save and exit with status 75 after this time (4h)" },
    { "resume", 0, OPT_FLAG(trainer_options, resume), "", "continue the run in the folder, if there is one" },
    { 0 } };

const struct opt run_rows[] = {
    { "deterministic", 0, OPT_FLAG(run_options, deterministic), "", "equal bytes from equal runs on one device: always so, accepted for other trainers' command lines" },
    { "recompute", 0, OPT_FLAG(run_options, recompute), "", "run each layer again in the backward pass instead of keeping what it made: less memory, the same bytes" },
    { "memory", 0, OPT_SIZE(run_options, memory), "SIZE", "refuse to begin what may need more (4G, 80%; default: what is free)" },
    { "profile", 0, OPT_FLAG(run_options, profile), "", "at the end print what each operation took (standard error)" },
    { 0 } };

const struct opt text_file_rows[] = {
    { "codes", 0, OPT_STR(text_files, codes), "FILE", "the BPE merges, kept in the model's folder (default: those of the model it starts from)" },
    { "tokenizer", 0, OPT_STR(text_files, tokenizer), "FILE",
      "how the text was tokenised (tokenize --settings), kept there too (default: as of the model it starts from): for translate and embed --raw" },
    { 0 } };

int text_files_keep(const struct text_files *f, struct model *m)
{
    if (plain_check(f->codes, f->tokenizer) < 0) return -1;
    if (f->codes && model_keep_file(m, MODEL_CODES, f->codes) < 0) return -1;
    return f->tokenizer ? model_keep_file(m, MODEL_TOKENIZER, f->tokenizer) : 0;
}
