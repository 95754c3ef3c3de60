/* The outputs of a head for many examples at once, for inference only: batches of like
 * length, one per thread, whatever the order of the examples. */
#ifndef TASK_READ_MANY_H
#define TASK_READ_MANY_H
#include "lib/task/read_out.h"

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

#endif
