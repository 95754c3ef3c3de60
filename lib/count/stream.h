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
    struct run_cursor *run;         /* or of a run on disk */
};
void stream_of_file(struct stream *s, const struct cooc *c, int plane, uint32_t first,
                    uint32_t last);

/* The rows of group `group` as the sum of n streams that stand at its start; for struct groups'
 * make. */
int streams_make(struct stream *s, size_t n, uint32_t group, uint32_t ids, struct row_sum *r,
                 struct groups *g, struct blocks *b);

/* --- runs on disk ----------------------------------------------------------------------------- */

/* Sorted runs that do not fit in memory: compressed, in one unnamed temporary file, so that one
 * open file holds any number of them and none outlives the process. */

struct spill;
/* dir: NULL for the system's. threads: those that will pack. frame: bytes of pairs that are
 * compressed together. */
struct spill *spill_open(const char *dir, uint32_t ids, int threads, size_t frame);
void spill_close(struct spill *s);
size_t spill_runs(const struct spill *s);
uint64_t spill_bytes(const struct spill *s);          /* on disk */
size_t spill_stream_bytes(size_t frame);              /* memory of one open stream */

/* A run is what one groups_run writes. The two are for struct groups. */
void spill_run_begin(struct spill *s);
ssize_t spill_pack(struct spill *s, int thread, const struct blocks *b, unsigned char **out,
                   size_t *cap);
int spill_write(struct spill *s, uint32_t group, const unsigned char *p, size_t n);
int spill_run_end(struct spill *s);

/* A stream of one run's group; opened streams are used again. */
int spill_stream(struct spill *s, size_t run, uint32_t group, int thread, struct stream *st);
void spill_stream_free(struct stream *st);

#endif
