/* Strings numbered from 1 in the order they are first seen; any bytes, by length. */
#ifndef COMMON_TEXT_SYMBOLS_H
#define COMMON_TEXT_SYMBOLS_H
#include <stddef.h>
#include <stdint.h>
#include "common/id_table.h"

struct symbols {
    uint32_t n;                    /* numbers are 1 .. n-1 once there is one; 0 means "none" */
    char *bytes; size_t bytes_cap;
    uint64_t *at; size_t at_cap;   /* string i is bytes[at[i] .. at[i+1]) */
    struct id_table table;
};

void symbols_init(struct symbols *s);
/* the number, new or old */
uint32_t symbols_add(struct symbols *s, const char *p, size_t n);
/* 0 if it is not there */
uint32_t symbols_find(const struct symbols *s, const char *p, size_t n);
void symbols_free(struct symbols *s);

static inline const char *symbols_text(const struct symbols *s, uint32_t id)
{
    return s->bytes + s->at[id];
}
static inline size_t symbols_len(const struct symbols *s, uint32_t id)
{
    return (size_t)(s->at[id + 1] - s->at[id]);
}

#endif
