/* What objectives with a head on the encoder's states share (lib/objective/labels.c: a class of a
 * text, of each word, the two ends of an answer): the training data, batches of it, the head's pass
 * and its loss. Prediction (lib/task/read_out.h) runs the same batches through the same pass. */
#ifndef BATCH_HEADED_H
#define BATCH_HEADED_H
#include "lib/engine/objective.h"
#include "lib/labelled/examples.h"

/* A task's training data: what setup.task points at. An epoch is every group once, in an order
 * drawn for it; a batch is as many whole groups as `batch` units hold, the epoch's last one may be
 * smaller (PyTorch's DataLoader without drop_last). */
struct headed_data {
    struct examples x;
    /* units that stay together (a pair and its code-switched twin): group g is member[group[g]] ..
     * member[group[g + 1] - 1]. NULL: each unit is one */
    uint32_t *member, *group, groups;
    int group_most;                  /* units of the largest group */
    int batch;                       /* units per micro-batch at most */
    int tokens;                      /* --tokens: a plan for half of them is one for half a batch */
    int head;                        /* number of the head in the model's configuration */
    /* span: the softmax is over all rows of a window (transformers), not over row 0 and those of
     * the context */
    bool all_rows;
    uint32_t *order; int64_t order_epoch;
};
/* Micro-batches in an epoch. */
int64_t headed_batches(const struct headed_data *d);
void headed_data_free(struct headed_data *d);

/* A batch of units. */
struct headed {
    struct batch input;
    /* class: each unit's row 0; tag: the words' rows; and the outputs to learn. [n] */
    int32_t *row, *target;
    int n;
    int32_t *start, *end;            /* span: [input.n] rows within the unit */
    uint8_t *allowed;                /* span: [input.rows] */
    size_t target_cap, end_cap, allowed_cap;
};
void headed_clear(struct headed *b);
void headed_free(void *batch);
/* Adds unit u with `sample` as its number for dropout; all: every row of a span is allowed. */
void headed_add(struct headed *b, const struct examples *x, size_t u, uint64_t sample, bool all);

/* What goes into head i's output layer, [n, dim], of rows b->row of p->h; and the head's outputs,
 * [n, outputs]. Of spans all rows go in, without dropout (BertForQuestionAnswering), and come out
 * as [input.rows, 2]. */
struct var *headed_input(const struct headed *b, struct pass *p, int i);
struct var *headed_outputs(const struct headed *b, struct pass *p, int i);
/* For prediction: head i's outputs of b, as headed_outputs has them after headed_forward, with
 * nothing computed in the last layer that it does not need. */
struct var *headed_read(struct headed *b, struct pass *p, int i);

/* What the selves of objectives with batches of this kind begin with. */
struct headed_self { struct headed_data *d; };
extern const struct batch_kind batch_headed;
int headed_make(void *self, void *batch, const void *host_batch, const struct turn *at);
int headed_largest(void *self, void *batch, const void *host_batch, int tokens);
int headed_forward(void *self, void *batch, struct pass *p);
/* Cross entropy of the rows' targets under `name`: of classes and tags. */
void headed_loss(const struct headed *b, const struct headed_data *d, struct pass *p,
                 const char *name, float scale);

#endif
