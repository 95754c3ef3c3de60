/* The most memory that a training run will have resident, known before its first step: what the
 * process holds already (program, text, counts), parameters with gradients and optimiser,
 * activations (the largest step is run once on a device that does nothing, lib/graph/arena.h), what
 * the operations take, and what checkpoints copy. */
#ifndef ENGINE_MEMORY_H
#define ENGINE_MEMORY_H
#include <stdbool.h>
#include <stddef.h>
#include "lib/model/model.h"

struct memory_need {
    size_t floats;               /* parameters, with the zeros between tensors */
    const char *slow;                    /* what the device has no fast way for, or NULL */
    size_t now, params, arena, working, host;
    /* buffers of gradients that are added by a tree, messages: the host's, and those that are on a
     * device */
    size_t ranks, on_device;
    /* what a device with memory of its own has free: params, arena, working are there; 0: all is
     * the host's */
    size_t room;
};
size_t memory_total(const struct memory_need *n);    /* the host's */
size_t memory_device(const struct memory_need *n);   /* the device's own, 0 where it has none */

/* What this process may have resident where `here` ranks of one machine share it: what it has now,
 * and its share of what the machine has free or a cgroup or ulimit -v leaves, the least. */
size_t memory_share(size_t here);
/* resident now; 0 if the system does not tell */
size_t memory_now(void);

/* A model that was laid out on the planning device gets addresses without memory, and an arena
 * that never ends; and back. -1 with a message: m has been freed. */
int memory_plan_open(struct model *m, struct tape *t);
/* Fills need from what the tape has seen. */
void memory_plan_close(struct model *m, struct tape *t, const struct kernels *like,
                       const struct kern_shape *s, struct memory_need *need);

struct memory_ask {
    int tokens, accumulate;                          /* --tokens, --accumulate as they are */
    int batch;                   /* --batch, where examples are counted and not tokens; 0: tokens */
    bool recompute;
    int here;                    /* processes of this run on this machine */
    size_t limit;                                    /* of each; 0: memory_share */
    int (*plan)(void *ctx, int tokens, bool recompute, struct memory_need *need);
    void *ctx;
};
/* Prints what is needed (standard error, unless --quiet); where that is more than the limit -1 with
 * a message that says which options would fit. */
int memory_check(const struct memory_ask *a, struct memory_need *need);

#endif
