/* Micro-batches prepared on a thread of their own, some ahead of the step that learns from them.
 * The position in the data that a checkpoint records is the step's, not the thread's: its integers
 * (state_data) are copied with every item. */
#ifndef ENGINE_PREFETCH_H
#define ENGINE_PREFETCH_H
#include <stdbool.h>
#include "lib/trainer/state.h"

enum { PREFETCH_ITEMS = 4 };

struct prefetch_source {
    /* Makes the next item out of an old one, on the thread: 1, 0 at the end, -1 with a message. */
    int (*make)(void *ctx, void *item);
    void *ctx;
    void *item[PREFETCH_ITEMS];             /* the caller's, empty ones at first */
};

struct prefetch;
/* The integers that `make` moves are those registered by state_data; from here until prefetch_stop
 * st shows copies, as they were when the item at hand was made. NULL with a message. */
struct prefetch *prefetch_start(const struct prefetch_source *s, struct state *st);
/* The next item, the caller's until the call after this one; NULL at the end (*failed false) or
 * with a message. */
void *prefetch_next(struct prefetch *a, bool *failed);
/* Stops the thread, whatever it is doing. NULL is allowed. */
void prefetch_stop(struct prefetch *a);

#endif
