/* Numbers, from 1, of things that the caller keeps, found by what the things are: open addressing,
 * at most half full. Hash and comparison are expressions at the place of use, which the compiler
 * sees through:
 *
 *   uint32_t *slot = ID_FIND(&t, hash, id, same(&thing[id - 1], wanted));
 *   if (*slot) return *slot;
 *   *slot = ++n;                                    the thing joins the others; before the next:
 *   if (id_table_full(&t, n)) ID_INDEX(&t, 2 * t.slots, n, id, hash_of(&thing[id - 1]));
 *
 * Keys of 64 bits that are all there is to compare have common/hashmap.h, strings that are to be
 * kept common/text/symbols.h. Tables in which a program spends its time hold keys in their slots,
 * so that a look-up waits for memory once, or are shared by threads: vocabularies (vocab.c),
 * lib/bpe, lib/count/lookup.c, lib/ngrams/tally.c, lib/score/ngram.c. */
#ifndef COMMON_ID_TABLE_H
#define COMMON_ID_TABLE_H
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"

/* All zeros: no slots yet, nothing may be looked up. */
struct id_table { uint32_t *slot, mask; size_t slots, cap; };

/* So many empty slots, a power of two. */
static inline void id_table_open(struct id_table *t, size_t slots)
{
    if (slots > t->cap) {
        free(t->slot);
        t->slot = mem_zero(slots, sizeof *t->slot);
        t->cap = slots;
    } else memset(t->slot, 0, slots * sizeof *t->slot);
    t->slots = slots;
    t->mask = (uint32_t)(slots - 1);
}

/* How many slots n things need: `least`, a power of two, or more. */
static inline size_t id_table_slots(size_t least, size_t n)
{
    while (least / 2 < n) least *= 2;
    return least;
}

/* Is there no room for one more than n? */
static inline bool id_table_full(const struct id_table *t, size_t n)
{
    return 2 * (n + 1) > t->slots;
}

static inline void id_table_free(struct id_table *t)
{
    free(t->slot);
    *t = (struct id_table){ 0 };
}

/* The slot that has a number `id` for which `same` holds, else the empty one where it belongs. */
#define ID_FIND(table, hash, id, same) __extension__({ \
    const struct id_table *t_ = (table); \
    uint32_t at_ = (uint32_t)(hash) & t_->mask, id; \
    while ((id = t_->slot[at_]) && !(same)) at_ = (at_ + 1) & t_->mask; \
    &t_->slot[at_]; })

/* Empties the table, to so many slots, and enters 1..n, all different. */
#define ID_INDEX(table, slots, n, id, hash) do { \
    struct id_table *to_ = (table); \
    id_table_open(to_, slots); \
    for (uint32_t id = 1; id <= (n); id++) *ID_FIND(to_, hash, other_, false) = id; \
} while (0)

#endif
