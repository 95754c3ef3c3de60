/* Predictions as text: a line per text, word<TAB>tag, or SQuAD's {id: answer}. */
#ifndef TASK_PREDICT_WRITE_H
#define TASK_PREDICT_WRITE_H
#include <stdio.h>
#include "lib/task/read_out.h"

struct predict_write {
    FILE *out, *odds;                    /* odds: null - best score of each question; or NULL */
    const struct model_head *head;
    bool scores;
    double null_threshold;               /* of answers; INFINITY: an answer whenever there is one */
    uint64_t written;
};
/* Example i of x, which is e of its set. */
void predict_write_example(struct predict_write *w, const struct read_out *o,
                           const struct examples *x, uint32_t i, const struct labelled *e);
/* After the last of all examples, if there was any. */
void predict_write_end(struct predict_write *w);

#endif
