#include "lib/masking/noise.h"
#include <stdlib.h>
#include "common/mem.h"
#include "common/text/vocab.h"

/* Position i goes to the place of i + u, u in [0, shuffle): no token moves `shuffle` places or
 * more. */
struct place { uint64_t key; uint32_t id; };

static int by_key(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

int noise_add(const uint32_t *ids, int n, uint32_t *out, const struct noise_options *o,
              struct rng_key key, uint64_t number)
{
    struct place *p = mem_alloc((size_t)(n > 0 ? n : 1) * sizeof *p);
    int kept = 0;
    for (int i = 0; i < n; i++) {
        uint32_t u[4];
        rng_block(key, number, (uint32_t)i, u);
        /* the last token stays if no other has: a sentence is never empty */
        if ((double)u[0] < o->drop * 4294967296.0 && !(kept == 0 && i == n - 1)) continue;
        /* 20 bits of fraction below the position, then 20 that hold i, so that keys differ */
        uint64_t jitter = ((uint64_t)u[1] * (uint64_t)(o->shuffle > 1 ? o->shuffle : 0)) >> 12;
        p[kept].key = (((uint64_t)i << 20) + jitter) << 20 | (uint64_t)i;
        p[kept++].id = (double)u[2] < o->blank * 4294967296.0 ? VOCAB_MASK : ids[i];
    }
    qsort(p, (size_t)kept, sizeof *p, by_key);
    for (int i = 0; i < kept; i++) out[i] = p[i].id;
    free(p);
    return kept;
}
