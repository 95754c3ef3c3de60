#include "common/hashmap.h"
#include <stdlib.h>
#include "common/mem.h"

static void grow(struct hashmap *m)
{
    struct hashmap old = *m;
    /* 64 slots at first; a power of two, so that a mask takes the place of a division. */
    m->mask = old.slot ? 2 * old.mask + 1 : 63;
    m->slot = mem_zero(m->mask + 1, sizeof *m->slot);
    for (size_t i = 0; old.slot && i <= old.mask; i++)
        if (old.slot[i].value) m->slot[hashmap_place(m, old.slot[i].key)] = old.slot[i];
    free(old.slot);
}

uint32_t hashmap_add(struct hashmap *m, uint64_t key, uint32_t value)
{
    /* At most half full: with linear probing, chains stay short. */
    if (2 * m->n >= m->mask) grow(m);
    struct hashmap_slot *s = &m->slot[hashmap_place(m, key)];
    if (!s->value) {
        *s = (struct hashmap_slot){ key, value };
        m->n++;
    }
    return s->value;
}

void hashmap_free(struct hashmap *m)
{
    free(m->slot);
    *m = (struct hashmap){ 0 };
}
