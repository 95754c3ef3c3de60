/* The memory of a step on a device: pieces out of few large blocks, the lowest place that fits,
 * given back one by one or all at once. Pieces are numbered in the order they are made. */
#ifndef GRAPH_ARENA_H
#define GRAPH_ARENA_H
#include <stddef.h>
#include "kernels/kernels.h"

/* --- places planned ahead --------------------------------------------------------------------- */

/* A device that computes nothing and has unlimited memory: running on it tells what the same
 * would need on a real one. Its pointers must not be followed; downloads give zeros. */

/* With the act_size of `like`. */
const struct kernels *arena_plan_kernels(const struct kernels *like);

/* --- the arena -------------------------------------------------------------------------------- */

struct arena;
struct arena *arena_new(const struct kernels *k);
void arena_free(struct arena *a);

/* Makes one block of at least that size, when nothing is in use; -1 with a message when there is
 * none. */
int arena_reserve(struct arena *a, size_t bytes);
/* A piece, 256-aligned, never NULL: a piece that does not fit gets another block, and a device
 * out of memory ends the program. *number (NULL: not wanted) is the piece's. */
void *arena_get(struct arena *a, size_t bytes, int *number);
/* Frees a piece; freeing it twice is allowed. */
void arena_put(struct arena *a, int number);
int arena_count(const struct arena *a);              /* the number of the next piece */
void arena_back_to(struct arena *a, int number);     /* frees this piece and all later ones */
void arena_reset(struct arena *a); /* frees everything; several blocks become one */

/* Bytes of blocks ever in use at once, gaps included: what to reserve. */
size_t arena_peak(const struct arena *a);
size_t arena_size(const struct arena *a);            /* bytes of the blocks */

#endif
