/* Which rank holds which part of the optimiser's state (--shard-optimizer): m and v of a parameter
 * are at one rank, which takes its steps and gives the new values to the others (ZeRO, stage 1:
 * Rajbhandari et al. 2020, section 5.1).
 *
 * Adam treats every number alone: of each piece of the gradient that travels, a rank holds the part
 * that it adds (lib/ranks/reduce.c), in whole parts of the gradient's norm. LAMB has a norm for
 * every tensor: a rank holds whole tensors, neighbours, as evenly as they allow. */
#ifndef TRAINER_SHARDED_OPTIMIZER_H
#define TRAINER_SHARDED_OPTIMIZER_H
#include "lib/graph/params.h"
#include "lib/ranks/ranks.h"

struct sharded_optimizer {
    const struct params *ps;
    struct ranks *ranks;         /* NULL: this process alone, which holds all */
    int size;
    /* parts of the gradient are summed where they are held: so with Adam on the host's memory */
    bool reduce_scatter;
    size_t piece; int pieces;    /* floats that travel together; of the last one there are fewer */
    size_t *bound;               /* [pieces, size + 1] */
};

/* ps is laid out. ranks: of the run, or NULL with a size for which it is planned. */
void sharded_open(struct sharded_optimizer *s, const struct params *ps, struct ranks *ranks,
                  int size, bool tensors);
/* Of piece k rank r has [at[r], at[r + 1]) of the parameters; [size + 1]. */
static inline const size_t *sharded_of(const struct sharded_optimizer *s, int k)
{
    return s->bound + (size_t)k * ((size_t)s->size + 1);
}
/* Floats that a rank holds of m and of v: its parts of the pieces, one after another. */
size_t sharded_held(const struct sharded_optimizer *s, int rank);
/* ps, laid out and not allocated yet, gets the moments of a rank (-1: the one with the most). */
void sharded_lay_out(struct params *ps, int size, int rank, bool tensors);
/* The square of the gradient's norm from the sums that are kept, by all ranks: the number that
 * KERN(norm2) has of all of them. -1 with a message. */
int sharded_norm2(const struct sharded_optimizer *s, float *norm2);
/* Between what ranks hold (device, [sharded_held]) and all of it at rank 0 (host, [total], zeros
 * elsewhere than in parameters; NULL at the others). By all ranks. -1 with a message. */
int sharded_gather(const struct sharded_optimizer *s, const float *held, float *all);
int sharded_scatter(const struct sharded_optimizer *s, const float *all, float *held);
/* By the ranks other than 0: their part of what rank 0 collects for a checkpoint, m, then v. */
int sharded_give(const struct sharded_optimizer *s);
void sharded_free(struct sharded_optimizer *s);                  /* zeros are fine */
/* Floats of the gradient that travel together between so many ranks; on_device: from GPU to GPU. */
size_t sharded_piece(size_t total, int size, bool on_device);

#endif
