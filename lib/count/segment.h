/* Text as ids, and where each id stands in it. Counting goes by row: for each place of the row's
 * word the window around it is added up, so no pair exists in memory before it is summed. 8 bytes
 * per token and 4 per id, whatever the window. */
#ifndef COUNT_SEGMENT_H
#define COUNT_SEGMENT_H
#include "lib/count/sum.h"

/* what stands between sentences, and in an unknown word's place */
enum { SEG_END = VOCAB_BOS, SEG_GAP = VOCAB_UNK };

struct cooc_segment {
    struct cooc_segment *next;
    uint32_t ids, cap, window;
    uint32_t n;                  /* places filled */
    /* places [owned, own_end) are counted; those around them are context only, */
    uint32_t owned;
    uint32_t own_end;            /* which the segments before and after own */
    uint32_t *id;                /* [cap + window + 1] begins and ends with SEG_END */
    uint32_t *start;             /* [ids + 1] places of id i: place[start[i]..start[i+1]) */
    uint32_t *place;             /* [cap + window + a few] */
    size_t bytes;
};
size_t cooc_segment_bytes(uint32_t cap, uint32_t ids, uint32_t window);
/* NULL with a message */
struct cooc_segment *cooc_segment_new(uint32_t cap, uint32_t ids, uint32_t window);
void cooc_segment_free(struct cooc_segment *s);
void cooc_segment_clear(struct cooc_segment *s);
/* s is full (no room): begins `next` with the context both need. cap is to be above 2 window. */
void cooc_segment_carry(struct cooc_segment *s, struct cooc_segment *next);
void cooc_segment_sort(struct cooc_segment *s);      /* fills start and place */

static inline void cooc_segment_put(struct cooc_segment *s, uint32_t id) { s->id[s->n++] = id; }
/* Places for tokens that may still be put. */
static inline uint32_t cooc_segment_room(const struct cooc_segment *s)
{
    return s->cap + s->window - s->n;
}

/* For struct groups' make: the rows of one group over a list of sorted segments. */
int segments_make(const struct cooc_segment *const *s, size_t n, const struct cooc_scheme *scheme,
                  uint32_t group, uint32_t ids, struct row_sum *r, struct groups *g,
                  struct blocks *b);

#endif
