/* Text that is larger than its share of memory, read as training goes. The blocks of its shard come
 * in an order drawn for each epoch; as many as the memory holds form a group, and the samples of a
 * group come in an order drawn for it. So every sample comes once per epoch, a block is read once,
 * and which sample comes n-th depends on the seed, the epoch and the share of memory alone. */
#ifndef DATA_BLOCKS_H
#define DATA_BLOCKS_H
#include <stdbool.h>
#include "common/rng.h"
#include "common/shard.h"
#include "lib/ranks/ranks.h"

/* Sentences as they are (0), or joined: cut into pieces of `length` tokens, or whole sentences up
 * to so many (join.h). */
struct cut { int length; bool whole; };
void cut_block(struct shard_block *b, const struct cut *cut);

enum { BLOCKS_LONGEST = 4096 };      /* longer samples are counted as one more */

struct text_blocks {
    struct shard *shard;
    struct cut cut;
    size_t memory;                   /* bytes of a group */
    uint64_t n;                      /* blocks */
    uint32_t *samples, *tokens;      /* [n] of each block, once cut */
    int64_t all_samples;             /* in an epoch */
    double all_tokens;
    /* how many samples have that many tokens */
    double length[BLOCKS_LONGEST + 2];
    uint32_t *seen, n_seen;          /* the tokens that occur, ascending */
    /* the epoch and the group at hand */
    int64_t epoch;                   /* -1: none */
    uint32_t *order;                 /* [n] blocks in its order */
    uint64_t from, to;               /* places in that order */
    int64_t first;                   /* the group's first sample, of the epoch's */
    uint64_t group;                  /* its number */
    uint32_t *within; size_t cap;    /* its samples in their order */
    struct shard_block one;
};

/* How a text is read: how its sentences are cut, most bytes of it in memory (0: no limit), and the
 * ranks that read the same file (NULL: this process alone). */
struct text_how { struct cut cut; size_t memory; struct ranks *ranks; };

/* Opens a shard and reads it through once: damage is found before training begins. Of several ranks
 * each reads an equal part, and they tell each other what is in it: by all of them, with shards of
 * as many blocks. The group at hand takes at most how->memory bytes, or the largest block if that
 * is more. -1 with a message. */
int text_blocks_open(struct text_blocks *b, const char *path, const struct text_how *how,
                     struct shard_info *info);
/* Loads the group that holds sample number `next` of an epoch into *at_hand, unless it is already
 * there; *i: the sample's index in it. -1 with a message. */
int text_blocks_find(struct text_blocks *b, struct rng_key key, int64_t epoch, int64_t next,
                     struct shard_block *at_hand, uint32_t *i);
/* All blocks in the shard's order, once cut; the group at hand stays. f gives 0, or -1 with a
 * message. */
int text_blocks_each(struct text_blocks *b, int (*f)(void *ctx, const struct shard_block *b),
                     void *ctx);
void text_blocks_close(struct text_blocks *b);

#endif
