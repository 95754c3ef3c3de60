/* A task of finetune: its objectives, data and metric. One file in this folder
 * and a word in the list below. */
#ifndef TASK_TASK_H
#define TASK_TASK_H
#include "lib/data/inputs.h"
#include "lib/engine/mix.h"
#include "lib/engine/run.h"

struct task {
    const char *name, *about;
    /* it has the options of this task, which stands before it; NULL: its own */
    const char *like;
    const char *objectives;              /* the list that --objective would be */
    bool decoder;                        /* its model has one */
    /* it reads plain text, tokenised as the model's folder prescribes: --model is needed, and other
     * means
     * (--vocab, --codes, --tokenizer) would not fit */
    bool raw;
    size_t self;
    const struct opt *options;           /* rows into self; NULL: none */
    void (*defaults)(void *self);
    /* Defaults of the options that all tasks have, where they differ from those of --help. NULL:
     * they do not. */
    void (*presets)(struct inputs *in, struct run *r);
    /* --select round-trip, before check. NULL: the task has no such metric. */
    void (*select_round_trip)(void *self);
    /* Do the options fit together? -1 with a message: wrong usage. */
    int (*check)(const void *self, const struct inputs *in);
    /* Adds its languages to the configuration of the model. -1 with a message. */
    int (*langs)(void *self, const struct inputs *in, struct model_config *c);
    /* Loads its data into in, fills s from it (inputs_setup), puts what its objectives share
     * into s->task. -1 with a message. */
    int (*open)(void *self, struct inputs *in, struct setup *s);
    /* Called when the model exists with its initial weights. NULL: nothing to do. */
    void (*start)(void *self, const struct inputs *in, struct model *m);
    int (*validate)(void *self, struct pass *p, struct report *r);
    /* the memory of validate; NULL: small */
    int (*plan)(void *self, struct pass *p, int tokens);
    bool lower_is_better;
    void (*close)(void *self);
};

#define TASKS(X) X(unmt) X(mt) X(nli) X(pairs) X(class) X(tag) X(ner) X(qa) X(span)

/* All tasks with their options, filled by the program's parser. */
enum { TASKS_MOST = 16 };
struct tasks {
    struct { const struct task *t; void *self; char heading[96]; } known[TASKS_MOST];
    int n;
    const char *name;            /* --task */
    int select;                  /* --select */
    double head_lr;              /* --head-lr; < 0: not given */
    /* chosen, with its options; what it reads, the caller's */
    const struct task *task; void *self;
    const struct inputs *in;
};
/* --task; what tasks read and where they begin, of struct inputs and struct run. */
extern const struct opt task_rows[], task_data_rows[], task_folder_rows[];

void tasks_init(struct tasks *x);
/* The defaults of --help: those of translation. */
void task_defaults(struct inputs *in, struct run *r);
/* As mix_groups. */
int tasks_groups(struct tasks *x, struct opt_group *g, int n);
/* After parsing: the task of x->name with its objectives and presets; options of another one that
 * were asked for are refused. -1 with a message: wrong usage. */
int tasks_choose(struct tasks *x, struct inputs *in, struct run *r);
/* After run_open: its languages and data, and what validates. -1 with a message. */
int tasks_open(struct tasks *x, struct inputs *in, struct run *r, struct setup *s);
/* For run_steps: `tasks`, a struct tasks, does to a new model what its task asks for. */
void tasks_start(void *tasks, struct model *m);
void tasks_free(struct tasks *x);                /* zeros are fine */

#endif
