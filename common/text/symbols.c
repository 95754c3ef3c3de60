#include "common/text/symbols.h"
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include "common/mem.h"

void symbols_init(struct symbols *s)
{
    /* 1: a slot's number 0 says that it is empty. */
    *s = (struct symbols){ .n = 1 };
    id_table_open(&s->table, 1024);
    mem_room(&s->at, &s->at_cap, 2, sizeof *s->at);
    s->at[0] = s->at[1] = 0;
}

static uint32_t *find(const struct symbols *s, const char *p, size_t n)
{
    return ID_FIND(&s->table, XXH3_64bits(p, n), id,
                   symbols_len(s, id) == n && !memcmp(symbols_text(s, id), p, n));
}

uint32_t symbols_add(struct symbols *s, const char *p, size_t n)
{
    uint32_t *slot = find(s, p, n);
    if (*slot) return *slot;
    /* before it is entered: at most half full */
    if (id_table_full(&s->table, s->n)) {
        ID_INDEX(&s->table, 2 * s->table.slots, s->n - 1, id,
                 XXH3_64bits(symbols_text(s, id), symbols_len(s, id)));
        /* The table has moved. */
        slot = find(s, p, n);
    }
    uint64_t at = s->at[s->n];
    /* + 1: the first one may be empty, and is somewhere, too */
    mem_room(&s->bytes, &s->bytes_cap, (size_t)at + n + 1, 1);
    mem_room(&s->at, &s->at_cap, (size_t)s->n + 2, sizeof *s->at);
    memcpy(s->bytes + at, p, n);
    s->at[s->n + 1] = at + n;
    *slot = s->n;
    return s->n++;
}

uint32_t symbols_find(const struct symbols *s, const char *p, size_t n)
{
    return *find(s, p, n);
}

void symbols_free(struct symbols *s)
{
    free(s->bytes);
    free(s->at);
    id_table_free(&s->table);
    memset(s, 0, sizeof *s);
}
