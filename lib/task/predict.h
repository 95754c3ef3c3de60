/* Prediction: reads labelled text (labelled_stream.h), writes the lines that `score` reads. */
#ifndef TASK_PREDICT_H
#define TASK_PREDICT_H
#include <math.h>
#include <stdio.h>
#include "common/prog/opt.h"
#include "lib/labelled/labelled.h"
#include "lib/raw/reader.h"
#include "lib/task/read_out.h"

/* --- many readings ---------------------------------------------------------------------------- */

/* The outputs of a head for many examples at once, for inference only: batches of like
 * length, one per thread, whatever the order of the examples. */

struct reader_many {
    struct model *m;
    const struct vocab *vocab;
    int head;
    struct tape *t; int tapes;
};

/* A tape per thread of the pool; they are made when they are used. */
void reader_many_init(struct reader_many *r, struct model *m, const struct vocab *v, int head);
void reader_many_free(struct reader_many *r);
/* As read_out_run, with the same numbers. A batch has about `tokens` rows and, unless `units` is 0,
 * that many sequences at most. -1 with a message. */
int read_out_many(struct reader_many *r, struct read_out *o, const struct examples *x, int tokens,
                  int units);

/* --- prediction ------------------------------------------------------------------------------- */

struct predict_options {
    const char *lang, *question_lang;    /* of the text; of questions: NULL: `lang` */
    const char *format, *skip;           /* as struct labelled_options has them */
    int words;                           /* 1: CoNLL-U's multi-word tokens are one word */
    bool csv, scores, line_buffered;
    int tokens, batch;                   /* rows of a batch; sequences, 0: as many as fit */
    int longest, question, stride;       /* 0: as the head was trained */
    double null_threshold;               /* NAN: 0 where the head knows questions without answer */
    /* `raw` changes nothing: the text is always plain text */
    struct reader_options reader;
    const char *null_odds;               /* file of each question's null - best score; NULL: none */
};
static const struct predict_options predict_defaults = {
    .tokens = 4000, .null_threshold = NAN, .reader = { .unknown = { .most = 0.2 } }
};
extern const struct opt predict_rows[];

/* The head of that name; NULL: the only one. Its number in c, which says what it reads; -1 with a
 * message. */
int predict_head(const struct model_config *c, const char *name, const char *dir);

/* Reads examples from `path` ("-": standard input) and writes what head `head` of m says of each to
 * `out`, in their order. dir is the model's folder, for its tokeniser. *problems gets what was cut
 * or left out. -1 with a message. */
int predict_run(struct model *m, const struct vocab *v, const char *dir, int head,
                const struct predict_options *o, const char *path, FILE *out,
                struct problems *problems);

#endif
