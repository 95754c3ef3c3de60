/* The frequent n-grams of each length. An n-gram is a key: the number of its first n - 1 words'
 * (n-1)-gram, shifted up by 32 bits, and its last word; its number is its place, from 1, among the
 * frequent keys in ascending order. Words are numbered from 1 by falling count, then by bytes. */
#ifndef NGRAMS_LEVELS_H
#define NGRAMS_LEVELS_H
#include <stddef.h>
#include <stdint.h>
#include "common/id_table.h"
#include "lib/bpe/words.h"
#include "lib/ngrams/ngrams.h"
#include "lib/ngrams/spool.h"

struct level {
    uint32_t n;      /* frequent n-grams */
    uint64_t *key;   /* [n + 1], from 1; ascending */
    uint64_t *count; /* [n + 1] */
    uint32_t *tail;  /* [n + 1] the number of its last words' (n-1)-gram */
    struct id_table table;   /* of keys */
    size_t cap[3];
};

struct levels {
    const struct ngrams_options *o;
    const struct spool *text;
    struct level of[NGRAMS_LONGEST + 1]; /* [1]: key is the word's number */
    uint64_t runs, spilled;
};

/* Counts the n-grams of 2 to o->longest words; words: those numbered from 1. -1 with a message. */
int levels_count(struct levels *l, const struct ngrams_options *o, const struct spool *text,
                 const struct counted_word *word, uint32_t words);
void levels_free(struct levels *l);

/* The number of the k-gram with this key, 0 if it is not frequent. */
uint32_t level_find(const struct level *l, uint64_t key);
/* number[0 .. n): of the frequent n-grams of this length that end at the n places of a text from
 * word on, 0 where there is none. head[0 .. n): the numbers of those one word shorter that end a
 * place before each. */
void level_extend(const struct level *l, const uint32_t *word, const uint32_t *head,
                  uint32_t *number, size_t n);
static inline uint64_t level_key(uint32_t head, uint32_t word)
{
    return (uint64_t)head << 32 | word;
}
/* The words of k-gram number `i`. */
void level_words(const struct levels *l, int k, uint32_t i, uint32_t word[NGRAMS_LONGEST]);
/* Goes over the text in blocks: fn gets `n` words from `id`, of which those from `first` on, below
 * `last`, are this block's own, the others its surroundings (o->longest - 1 to either side). */
struct levels_block {
    const uint32_t *id;
    size_t n, first, last;
    uint64_t at;                            /* id[first]'s place in the text */
    int thread;
};
int levels_each(const struct levels *l, int (*fn)(void *ctx, const struct levels_block *b),
                void *ctx);
/* What is left of --memory; 0 with a message if that is less than `least`. */
size_t levels_room(const struct ngrams_options *o, size_t least);

/* --- tallies ---------------------------------------------------------------------------------- */

/* Counts of a large number of 64-bit keys in bounded memory: a hash table that is written to a
 * temporary file as a sorted run whenever it is full. The result depends neither on the memory nor
 * on the number of tallies that the keys are divided among. */

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
