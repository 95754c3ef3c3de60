/* MoCo's queue (He et al. 2020, section 3.2): the keys of past batches, oldest out, which are the
 * negatives of this one. After them come the keys of the current step, which enter the queue after
 * the optimiser's step, and room for the batch's queries: one matrix, against which the cross
 * entropy of queries is InfoNCE.
 *
 *   rows 0 .. size - 1             the queue, a ring
 *   size .. size + pending - 1     keys of this step's micro-batches so far
 *   size + room ..                 queries (for the log's similarities) */
#ifndef OBJECTIVE_KEY_QUEUE_H
#define OBJECTIVE_KEY_QUEUE_H
#include "kernels/kernels.h"
#include "lib/ranks/ranks.h"
#include "lib/trainer/state.h"

/* The origin of a key: its pair's number (-1: none, a random vector) and hashes of the texts of
 * both sides. A key is no negative of a batch that has its pair, or either of its texts: then it
 * may be a translation. */
enum { QUEUE_ID = 3 };

struct key_queue {
    const struct kernels *k;
    float *row;                      /* [size + room + batch, dim], the back end's memory */
    int64_t *id;                     /* [size + room, QUEUE_ID] */
    int size, dim;
    int room, batch;                 /* keys of a step, of a micro-batch */
    int pending;
    int64_t at, filled;              /* state: where the next key goes, keys that are there */
};

/* Bytes on the device, and those that checkpoints copy. */
size_t key_queue_bytes(const struct key_queue *q);
size_t key_queue_kept_bytes(const struct key_queue *q);
/* Sizes are set. Empty, or full of random directions of length `length`. -1 with a message. */
int key_queue_open(struct key_queue *q, const struct kernels *k, float length, bool random,
                   uint64_t seed);
void key_queue_state(struct key_queue *q, struct state *s);
/* allowed [size + room]: 1 for the keys of the queue that are negatives of the n pairs id
 * [n, QUEUE_ID]. Returns how many are. */
int key_queue_allow(const struct key_queue *q, const int64_t *id, int n, uint8_t *allowed);
/* The rows of keys (queries) of a micro-batch of n; NULL on a queue that is not open. */
float *key_queue_keys(struct key_queue *q);
float *key_queue_queries(const struct key_queue *q);
/* The n keys written to key_queue_keys, of these pairs, are this step's. */
void key_queue_push(struct key_queue *q, const int64_t *id, int n);
/* With several ranks: the keys of the step's micro-batches, of which each rank computed its own
 * (tree_range), to all. -1 with a message. */
int key_queue_gather(struct key_queue *q, struct ranks *ranks, int micro_batches);
/* This step's keys enter, in order; the oldest leave. */
void key_queue_enter(struct key_queue *q);
void key_queue_free(struct key_queue *q);                    /* zeros are fine */

#endif
