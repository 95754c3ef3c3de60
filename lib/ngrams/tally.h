/* Counts of a large number of 64-bit keys in bounded memory: a hash table that is written to a
 * temporary file as a sorted run whenever it is full. The result depends neither on the memory nor
 * on the number of tallies that the keys are divided among. */
#ifndef NGRAMS_TALLY_H
#define NGRAMS_TALLY_H
#include <stddef.h>
#include <stdint.h>

struct tally;
/* bytes: what the table may take, 64 KiB or more. tmp: folder for runs, NULL for the system's. */
struct tally *tally_new(size_t bytes, const char *tmp);
void tally_free(struct tally *t); /* NULL is fine */
/* Counts n keys, none of them 0. -1 with a message: the folder for runs. */
int tally_add(struct tally *t, const uint64_t *key, size_t n);
uint64_t tally_runs(const struct tally *t);    /* written so far */
uint64_t tally_spilled(const struct tally *t); /* bytes of them */

/* All keys of n tallies, ascending, each once with its count, to emit, which returns 0 or -1. The
 * tallies are used up. -1 with a message. */
int tally_merge(struct tally *const *t, int n,
                int (*emit)(void *ctx, uint64_t key, uint64_t count), void *ctx);

#endif
