/* Streams of sorted pairs, from .cooc files or from runs on disk, and the adding of any number of
 * them. */
#ifndef COUNT_STREAM_H
#define COUNT_STREAM_H
#include "lib/count/sum.h"

struct stream {
    struct cooc_pairs pairs;        /* the block at hand; pairs.n = 0 at the end */
    uint32_t i;                     /* the next pair of it */
    int (*next)(struct stream *s);  /* as cooc_cursor_next */
    struct cooc_cursor file;        /* of a .cooc file, */
    struct run_cursor *run;         /* or of a run (spill.h) */
};
void stream_of_file(struct stream *s, const struct cooc *c, int plane, uint32_t first,
                    uint32_t last);

/* The rows of group `group` as the sum of n streams that stand at its start; for struct groups'
 * make. */
int streams_make(struct stream *s, size_t n, uint32_t group, uint32_t ids, struct row_sum *r,
                 struct groups *g, struct blocks *b);

#endif
