/* Tasks with a head on the encoder: nli, pairs (class), tag, ner (tag), qa (span). Training data
 * and development sets are labelled text as its publishers distribute it (docs/formats/tasks.md),
 * tokenised as the model's folder prescribes. Shared by the files of these tasks. */
#ifndef TASK_HEADED_H
#define TASK_HEADED_H
#include "lib/task/read_out.h"
#include "lib/task/task.h"

enum code_switch { SWITCH_OFF, SWITCH_ON, SWITCH_WITH_ORIGINAL };
enum headed_pair { HEADED_PAIR_LAYOUT, HEADED_PAIR_ONE, HEADED_PAIR_TWO };

/* The description of a task of this family; its head has the task's name. */
struct headed_kind {
    const char *name;
    enum model_task task;
    enum labelled_kind reads;
    int longest;                     /* defaults: rows, peak learning rate, epochs */
    double lr, epochs;
};

struct headed_options {
    int head;                        /* 0: linear, 1: tanh */
    enum headed_pair pair;
    int question, stride;
    bool drop_empty;
    int softmax;                     /* 0: context, 1: all */
    struct strs parallel;
    enum code_switch code_switch;
    const char *format;
    bool csv;
    const char *skip;                /* pairs with this as a sentence are left out; NULL: none */
    int words;                       /* 0: syntactic, 1: fused */
};

/* A development set. */
struct headed_dev {
    char lang[32];
    struct labelled_set gold;
    struct examples x;
};

struct headed_task {
    struct headed_options o;
    const struct headed_kind *kind;
    struct headed_data data;
    struct labels labels;            /* of the head's outputs; strings are this struct's */
    bool labels_fixed;               /* the model has this head: other labels are impossible */
    struct headed_dev *dev; int n_dev;
    int tokens;                      /* rows of a batch of development text */
    int most;                        /* examples of each development set; 0: all */
};

/* One file to read. */
struct headed_file {
    const char *option, *path;
    char lang[32];                   /* as given: "de", or of G-XLT's questions "de-en" */
    /* of both sides; of questions 0 is the question's, 1 the context's */
    char side[2][32];
    int lang_id[2];
    struct encoder_text *encoder[2];
    struct labelled_set set;
    int *output;                     /* [set.labels.n] the head's */
};
/* Reads LANG=FILE (of questions that are not learnt from also C-Q=FILE, contexts in C and questions
 * in Q), given with --option, and opens the means to encode its text. learn: its labels
 * are learnt, and have to be the head's where that is fixed; else labels that the head does not
 * have are reported. headed_file_free it whatever is returned. 0, or -1 with a message. */
int headed_file_open(struct headed_task *t, struct headed_file *f, const struct inputs *in,
                     const struct setup *s, const char *option, const char *arg, bool learn);
void headed_file_free(struct headed_file *f);
/* Once all that is used of it was read: what share of its tokens the model does not know
 * (common/prog/unknown.h). */
int headed_file_unknown(const struct headed_file *f, const struct inputs *in);

/* Adds a training file's examples to t->data; those that stand in the file `with` too,
 * code-switched with it (PPA, section 2.3): each becomes two, one side in either language, which
 * stay together. with NULL: no such file. */
int headed_task_add(struct headed_task *t, struct headed_file *f);
int headed_task_switch(struct headed_task *t, struct headed_file *f, struct headed_file *with);

/* The development sets' metrics to the log; the first one's picks the model. */
int headed_validate(void *self, struct pass *p, struct report *r);
int headed_validate_plan(void *self, struct pass *p, int tokens);

#endif
