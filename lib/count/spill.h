/* Sorted runs that do not fit in memory: compressed, in one unnamed temporary file, so that one
 * open file holds any number of them and none outlives the process. */
#ifndef COUNT_SPILL_H
#define COUNT_SPILL_H
#include "lib/count/stream.h"

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
