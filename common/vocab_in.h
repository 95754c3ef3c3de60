/* The table that a vocabulary's tokens are found in: for vocab.c and vocab_lines.c. */
#ifndef COMMON_VOCAB_IN_H
#define COMMON_VOCAB_IN_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>
#include "common/key16.h"

/* A token of fewer than VOCAB_LONG bytes, zeros behind them and its length in the last byte; of a
 * longer one the first bytes, and VOCAB_LONG: the rest is compared where the token stands. A slot
 * has 16 bytes and never lies on two lines of the cache: a look-up of nearly all touches one. */
enum { VOCAB_LONG = 12 };
struct vocab_key { uint64_t first; uint32_t last; };
struct vocab_slot { uint64_t first; uint32_t last, id; };
/* as in struct vocab */
struct vocab_table {
    struct vocab_slot *slot;
    uint32_t mask;
    const char *bytes;
    const uint32_t *at;
};

/* slot of no token: id 0 is a special and never in the table */
enum { VOCAB_EMPTY = 0 };

static inline struct vocab_key vocab_key_of(struct key16 k, size_t n)
{
    uint32_t length = n < VOCAB_LONG ? (uint32_t)n : VOCAB_LONG;
    return (struct vocab_key){ k.first, ((uint32_t)k.last & 0xFFFFFF) | length << 24 };
}

/* Where the search for a token of this key begins. */
static inline uint32_t vocab_place(struct vocab_key k, const char *s, size_t n)
{
    uint64_t h = (k.first ^ k.last * 0x9E3779B97F4A7C15u) * 0xD6E8FEB86659FD93u;
    if (n >= VOCAB_LONG) h ^= XXH3_64bits(s + VOCAB_LONG - 1, n - VOCAB_LONG + 1);
    return (uint32_t)(h >> 32);
}

/* Does a long token's slot, whose key is the right one, hold s[0..n)? */
static inline bool vocab_is(const struct vocab_table *t, uint32_t id, const char *s, size_t n)
{
    enum { KNOWN = VOCAB_LONG - 1 };
    return t->at[id + 1] - t->at[id] - 1 == n &&
           !memcmp(t->bytes + t->at[id] + KNOWN, s + KNOWN, n - KNOWN);
}

/* The slot of the token s[0..n), or the empty one where it would stand; from vocab_place. */
static inline struct vocab_slot *vocab_find(const struct vocab_table *t, uint32_t place,
                                            struct vocab_key k, const char *s, size_t n)
{
    for (uint32_t i = place & t->mask;; i = (i + 1) & t->mask) {
        struct vocab_slot *x = &t->slot[i];
        if (x->id == VOCAB_EMPTY) return x;
        bool same = x->first == k.first && x->last == k.last;
        if (same && (n < VOCAB_LONG || vocab_is(t, x->id, s, n))) return x;
    }
}

#endif
