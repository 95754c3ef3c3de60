/* The gradient of a step, from those of its micro-batches. Without ranks they are added one after
 * another where they are computed. With ranks, or when asked for, by the tree of lib/ranks/tree.h:
 * each micro-batch's starts from zeros, this rank adds those of its own, then all ranks add theirs.
 * So any number of ranks gives the same bytes. */
#ifndef TRAINER_GRADIENTS_H
#define TRAINER_GRADIENTS_H
#include "lib/graph/tape.h"
#include "lib/ranks/ranks.h"
#include "lib/ranks/tree.h"
#include "lib/trainer/sharded_optimizer.h"

struct gradients {
    struct ranks *ranks;                 /* the caller's; NULL: none */
    struct params *ps;
    const struct sharded_optimizer *sharded;     /* of several ranks, the caller's; NULL: none */
    bool tree, bf16;                     /* bf16: its nodes are rounded (lib/ranks/tree.h) */
    int leaves;                          /* micro-batches per step */
    int from, to;                        /* this rank's: [from, to) */
    size_t piece; int pieces;            /* floats that travel together */
    /* private: nodes of this rank's part of the tree so far, and buffers that serve none */
    bool far;                            /* what travels is in the host's memory, ps->grad not */
    struct tree_block node[TREE_BLOCKS];
    float *x[TREE_BLOCKS], *spare[TREE_BLOCKS];
    int n, n_spare;
    /* while the backward pass of this rank's last micro-batch runs: after which record of the tape
     * each piece of the gradient, the last one first, is done, those that travel, the nodes of this
     * rank's part then */
    struct tape *followed;
    int *ready, begun;
    float *end[TREE_BLOCKS]; int n_end;
};

/* ps->grad is zeros; from here on it may be another buffer after every call. sharded may be NULL.
 * -1 with a message: fewer micro-batches than ranks. */
int gradients_open(struct gradients *g, struct params *ps, struct ranks *ranks,
                   const struct sharded_optimizer *sharded, int leaves, bool tree, bool bf16);
/* Does this rank compute micro-batch a of a step? */
bool gradients_mine(const struct gradients *g, int a);
/* Before tape_backward in the last pass of this rank's last micro-batch: pieces of the gradient
 * travel as soon as they are done, the last parameters first. */
void gradients_follow(struct gradients *g, struct tape *t);
/* ps->grad holds that of micro-batch a, and then zeros for the next one of this rank. */
int gradients_leaf(struct gradients *g, int a);
/* All of this rank's are there: ps->grad is the step's; after a reduce-scatter
 * (sharded_optimizer.h) it is that in this rank's parts and nothing elsewhere. *bad: as
 * ranks_reduce_end. */
int gradients_sum(struct gradients *g, int *bad);
void gradients_free(struct gradients *g);            /* zeros are fine */
/* Buffers like ps->grad that this takes besides, on the rank that takes most. */
int gradients_buffers(int leaves, int ranks);
/* Bytes of what the others send; on_device: from GPU to GPU. */
size_t gradients_messages(int leaves, int ranks, bool on_device);

#endif
