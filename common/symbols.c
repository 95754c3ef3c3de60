#include "common/symbols.h"
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include "common/mem.h"

void symbols_init(struct symbols *s)
{
    *s = (struct symbols){ .n = 1, .mask = 1023 };
    s->slot = mem_zero(s->mask + 1u, sizeof *s->slot);
    mem_room(&s->at, &s->at_cap, 2, sizeof *s->at);
    s->at[0] = s->at[1] = 0;
}

static uint32_t find(const struct symbols *s, const char *p, size_t n, uint32_t *slot)
{
    uint32_t i = (uint32_t)XXH3_64bits(p, n) & s->mask;
    for (; s->slot[i]; i = (i + 1) & s->mask)
        if (symbols_len(s, s->slot[i]) == n && !memcmp(symbols_text(s, s->slot[i]), p, n))
            return s->slot[i];
    *slot = i;
    return 0;
}

static void grow(struct symbols *s)
{
    free(s->slot);
    s->mask = s->mask * 2 + 1;
    s->slot = mem_zero(s->mask + 1ull, sizeof *s->slot);
    for (uint32_t id = 1; id < s->n; id++) {
        uint32_t i = (uint32_t)XXH3_64bits(symbols_text(s, id), symbols_len(s, id)) & s->mask;
        while (s->slot[i]) i = (i + 1) & s->mask;
        s->slot[i] = id;
    }
}

uint32_t symbols_add(struct symbols *s, const char *p, size_t n)
{
    uint32_t slot, id = find(s, p, n, &slot);
    if (id) return id;
    if (s->n > s->mask / 2) {
        grow(s);
        find(s, p, n, &slot);
    }
    uint64_t at = s->at[s->n];
    mem_room(&s->bytes, &s->bytes_cap, (size_t)at + n, 1);
    mem_room(&s->at, &s->at_cap, (size_t)s->n + 2, sizeof *s->at);
    memcpy(s->bytes + at, p, n);
    s->at[s->n + 1] = at + n;
    s->slot[slot] = s->n;
    return s->n++;
}

uint32_t symbols_find(const struct symbols *s, const char *p, size_t n)
{
    uint32_t slot;
    return find(s, p, n, &slot);
}

void symbols_free(struct symbols *s)
{
    free(s->bytes);
    free(s->at);
    free(s->slot);
    memset(s, 0, sizeof *s);
}
