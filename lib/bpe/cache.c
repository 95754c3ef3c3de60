#include "lib/bpe/cache.h"
#include <stdlib.h>
#include "common/mem.h"

enum { CHUNK = 1 << 16, UNIT = CACHE_UNIT };

/* a thread's part of the arena, padded to a cache line: threads that write side by side do not slow
 * each other down */
struct cache_chunk { size_t at, end; char pad[48]; };

struct cache *cache_new(size_t bytes, int threads)
{
    struct cache *c = mem_zero(1, sizeof *c);
    uint64_t slots = 1 << 12;
    /* a slot for every 64 bytes of entries; their number stays below 2^32, so that a slot's place
     * comes from the half of the hash that it does not keep */
    while (slots * 64 < bytes && slots < (uint64_t)1 << 31) slots *= 2;
    c->slot = mem_zero(slots, sizeof *c->slot);
    c->mask = slots - 1;
    c->size = UNIT
              + (bytes < (size_t)CHUNK * (size_t)threads ? (size_t)CHUNK * (size_t)threads : bytes);
    /* a slot has 32 bits for a place */
    if (c->size > (size_t)UINT32_MAX * UNIT) c->size = (size_t)UINT32_MAX * UNIT;
    /* the system gives pages as they are touched: a small text pays for what it uses */
    c->arena = mem_alloc(c->size);
    /* Huge pages: 9% less CPU, by fewer page faults and address misses. A table that starts small
     * and doubles was slower: its fuller slots cost more in probes than their nearness saved. */
    mem_huge((void *)c->slot, slots * sizeof *c->slot);
    mem_huge(c->arena, c->size);
    /* place 0 means a free slot */
    atomic_init(&c->used, UNIT);
    /* three quarters full at most: probing ends */
    atomic_init(&c->left, slots / 4 * 3);
    c->chunk = mem_zero((size_t)threads, sizeof *c->chunk);
    return c;
}

void cache_free(struct cache *c)
{
    if (!c) return;
    free((void *)c->slot);
    free(c->arena);
    free(c->chunk);
    free(c);
}

const struct cached *cache_search(const struct cache *c, uint64_t hash, struct key16 key,
                                  const char *word, size_t n)
{
    for (uint64_t i = hash & c->mask; ; i = (i + 1) & c->mask) {
        uint64_t v = atomic_load_explicit(&c->slot[i], memory_order_acquire);
        if (!v) return NULL;
        /* The slot has half of the hash: entries of other words are hardly ever touched. */
        if ((v ^ hash) >> 32) continue;
        const struct cached *e = (const struct cached *)(c->arena + (v & UINT32_MAX) * UNIT);
        if ((e->key.first ^ key.first) | (e->key.last ^ key.last) | (e->word_n ^ n)) continue;
        if (n <= KEY16 || !memcmp(e->bytes, word + KEY16, n - KEY16)) return e;
    }
}

void cache_put(struct cache *c, int thread, uint64_t hash, struct key16 key, const char *word,
               size_t n, const char *result, size_t result_n)
{
    if (n > CACHE_WORD || result_n > UINT16_MAX
        || !atomic_load_explicit(&c->left, memory_order_relaxed))
        return;
    /* Readers copy CACHE_SLACK bytes, whatever the length: without this they would read the entry
     * after it while its thread writes it. */
    size_t room = result_n > CACHE_SLACK ? result_n : CACHE_SLACK;
    size_t rest = cache_rest(n), need = offsetof(struct cached, bytes) + rest + room;
    need = (need + UNIT - 1) / UNIT * UNIT;
    struct cache_chunk *k = &c->chunk[thread];
    if (k->end - k->at < need) {
        size_t want = need > CHUNK ? need : CHUNK,
               used = atomic_load_explicit(&c->used, memory_order_relaxed);
        /* A full cache takes no more. Nothing is evicted, so that readers need no lock: an entry
         * that was found stays. */
        do if (used + want > c->size) return;
        while (!atomic_compare_exchange_weak_explicit(&c->used, &used, used + want,
                                                      memory_order_relaxed, memory_order_relaxed));
        k->at = used;
        k->end = used + want;
    }
    struct cached *e = (struct cached *)(c->arena + k->at);
    e->key = key;
    e->word_n = (uint16_t)n;
    e->result_n = (uint16_t)result_n;
    memcpy(e->bytes, word + n - rest, rest);
    memcpy(e->bytes + rest, result, result_n);
    uint64_t v = (hash >> 32) << 32 | k->at / UNIT, free_slot;
    for (uint64_t i = hash & c->mask; ; i = (i + 1) & c->mask) {
        free_slot = 0;
        /* Release: whoever sees the slot sees the entry's bytes. */
        if (atomic_compare_exchange_strong_explicit(&c->slot[i], &free_slot, v,
                                                    memory_order_release, memory_order_acquire))
            break;
        if (free_slot >> 32 == hash >> 32 && cache_search(c, hash, key, word, n))
            /* another thread was first: the entry's bytes are used for the next word */
            return;
    }
    /* only now: an entry that is not in a slot is overwritten by the next */
    k->at += need;
    uint64_t left = atomic_load_explicit(&c->left, memory_order_relaxed);
    while (left
           && !atomic_compare_exchange_weak_explicit(&c->left, &left, left - 1,
                                                     memory_order_relaxed, memory_order_relaxed))
        ;
}
