/* A table of 64-bit keys, each with a 32-bit value: open addressing, at most half full. For keys
 * that are their own identity, or hashes whose collisions do no harm. For strings there is
 * common/text/symbols.h; counting, BPE and vocabularies, whose time goes into the table, have
 * their own. */
#ifndef COMMON_HASHMAP_H
#define COMMON_HASHMAP_H
#include <stddef.h>
#include <stdint.h>

struct hashmap_slot { uint64_t key; uint32_t value; };
/* All zeros: empty. */
struct hashmap { struct hashmap_slot *slot; size_t mask, n; };

static inline size_t hashmap_place(const struct hashmap *m, uint64_t key)
{
    size_t i = (size_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 24) & m->mask;
    while (m->slot[i].value && m->slot[i].key != key) i = (i + 1) & m->mask;
    return i;
}

/* The value of key; 0 when it has none. */
static inline uint32_t hashmap_find(const struct hashmap *m, uint64_t key)
{
    return m->n ? m->slot[hashmap_place(m, key)].value : 0;
}

/* The value of key, which becomes `value` (not 0) if it has none. */
uint32_t hashmap_add(struct hashmap *m, uint64_t key, uint32_t value);
void hashmap_free(struct hashmap *m);

#endif
