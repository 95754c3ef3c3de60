/* A growing run of bytes, for text under construction. */
#ifndef TEXT_TBUF_H
#define TEXT_TBUF_H
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"

struct tbuf { char *p; size_t n, cap; };

/* Room for `more` bytes after the n there are; returns where they go. The caller adds to n what it
 * wrote. */
static inline char *tbuf_room(struct tbuf *b, size_t more)
{
    if (!b->p || mem_short(b->cap, b->n + more)) mem_room(&b->p, &b->cap, b->n + more + !more, 1);
    return b->p + b->n;
}
static inline void tbuf_add(struct tbuf *b, const void *s, size_t n)
{
    if (!n) return;
    memcpy(tbuf_room(b, n), s, n);
    b->n += n;
}
static inline void tbuf_byte(struct tbuf *b, char c) { *tbuf_room(b, 1) = c; b->n++; }
static inline void tbuf_free(struct tbuf *b) { free(b->p); b->p = NULL; b->n = b->cap = 0; }

#endif
