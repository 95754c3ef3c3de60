/* Encodings of words, so that each is computed once: a table that any number of threads read and
 * extend without locks. Bounded: once full, it stays as it is (frequent words come early). */
#ifndef BPE_CACHE_H
#define BPE_CACHE_H
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/bpe/scan.h"

/* longest word kept; bytes that may be read from a result's start */
enum { CACHE_WORD = 255, CACHE_SLACK = 16, CACHE_UNIT = 8 };

/* key: of the word; bytes: the word's from the 17th, then the result */
struct cached { struct key16 key; uint16_t word_n, result_n; char bytes[]; };

/* A slot holds the upper half of the hash and the entry's place in the arena in units of 8 bytes; 0
 * is free. An entry is written before its slot is published, and never changes. */
struct cache {
    _Atomic uint64_t *slot;
    uint64_t mask;
    char *arena; size_t size;
    _Atomic size_t used;
    _Atomic uint64_t left;                          /* entries that may still be added */
    struct cache_chunk *chunk;                      /* [threads] each one's part of the arena */
};

struct cache *cache_new(size_t bytes, int threads);
void cache_free(struct cache *c);
/* Prefetches the two memory accesses of a look-up: first the slot, some words later the
 * entry. */
static inline void cache_touch(const struct cache *c, uint64_t hash)
{
    __builtin_prefetch((const void *)&c->slot[hash & c->mask]);
}

static inline void cache_touch_entry(const struct cache *c, uint64_t hash)
{
    uint64_t v = atomic_load_explicit(&c->slot[hash & c->mask], memory_order_relaxed);
    __builtin_prefetch(c->arena + (v & UINT32_MAX) * CACHE_UNIT);
}

/* How many bytes of a word of n are in no key. */
static inline size_t cache_rest(size_t n) { return n > KEY16 ? n - KEY16 : 0; }

static inline const char *cached_result(const struct cached *e)
{
    return e->bytes + cache_rest(e->word_n);
}

/* key: of the word. NULL if it is not there. */
const struct cached *cache_search(const struct cache *c, uint64_t hash, struct key16 key,
                                  const char *word, size_t n);

/* The same, without a call for what most words are: short, and in the first slot. */
static inline const struct cached *cache_get(const struct cache *c, uint64_t hash,
                                             struct key16 key, const char *word, size_t n)
{
    uint64_t v = atomic_load_explicit(&c->slot[hash & c->mask], memory_order_acquire);
    const struct cached *e = (const struct cached *)(c->arena + (v & UINT32_MAX) * CACHE_UNIT);
    if (v && n <= KEY16
        && !((e->key.first ^ key.first) | (e->key.last ^ key.last) | (e->word_n ^ n)))
        return e;
    return cache_search(c, hash, key, word, n);
}

/* Does nothing when the cache is full or the word or its result too long. */
void cache_put(struct cache *c, int thread, uint64_t hash, struct key16 key, const char *word,
               size_t n, const char *result, size_t result_n);

#endif
