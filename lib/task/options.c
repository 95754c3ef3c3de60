#include "lib/task/task.h"

const struct opt task_data_rows[] = {
    { "train", 0, OPT_LIST(inputs, train), "LANG=FILE",
      "unmt: monolingual training text, a shard for each of two languages; tasks with a head: "
      "labelled training text, of one language or several" },
    { "parallel", 0, OPT_LIST(inputs, parallel), "SRC-TGT=F,G",
      "mt: parallel training text (in the model's tokens, shards, or with --raw plain text); give "
      "both directions to train both" },
    { "pseudo", 0, OPT_LIST(inputs, pseudo), "SRC-TGT=F,G",
      "unmt: pseudo-pairs (F made word by word from the real G)" },
    { "valid", 0, OPT_LIST(inputs, valid), "LANG=FILE",
      "validation text: for translation SRC-TGT=F,G; for tasks with a head labelled text, of which "
      "the first file picks the best model and the others are only reported" },
    { 0 }
};
const struct opt task_folder_rows[] = {
    { "model|init|reload-model", 'm', OPT_STR(run, init), "DIR",
      "the pre-trained model that encoder and decoder start from" },
    { "vocab", 'v', OPT_STR(run, vocab_path), "FILE", "the vocabulary (default: the model's)" },
    { "out|dump-path", 'o', OPT_STR(run, out), "DIR", "the run's folder" },
    { 0 }
};
const struct opt task_rows[] = {
    { "task", 0, OPT_STR(tasks, name), "NAME",
      "task to train for: unmt (unsupervised translation), mt (supervised), nli, pairs "
      "(paraphrase), "
      "tag (parts of speech), ner (names), qa (questions); or class, span: the general forms of "
      "nli and qa, with a head of that name" },
    { "select", 0, OPT_CHOICE(tasks, select), "best|round-trip|last",
      "how the resulting model is chosen: by the task's metric on the first --valid file (BLEU for "
      "translation), by round-trip BLEU (unmt), which needs no parallel text, or as the last one" },
    { "head-lr", 0, OPT_REAL(tasks, head_lr), "LR",
      "peak learning rate of the task's head; -1: --lr, as for the encoder", .min = -1,
      .max = 100 },
    { 0 }
};

void task_defaults(struct inputs *in, struct run *r)
{
    *in = inputs_defaults;
    in->longest = 100; in->valid_sentences = 300; in->alpha = 1;
    r->train.lr = 3e-4; r->train.beta2 = 0.98; r->train.eps = 1e-9; r->train.valid_every = 500;
    r->warmup = "500";
    r->engine.gradient_norms = false;
}
