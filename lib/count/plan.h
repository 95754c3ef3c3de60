/* How --memory is divided. */
#ifndef COUNT_PLAN_H
#define COUNT_PLAN_H
#include "lib/count/count.h"

struct plan {
    size_t piece;                /* bytes of text a thread takes at once */
    uint32_t segment_tokens;
    /* in use when reading stops and a run is written; those that pieces under way may still need
     * are not among them */
    size_t segments;
    size_t group_bytes;          /* that a group of rows may hold back */
    size_t frame;                /* of runs */
    size_t batch;                /* runs merged at once */
};
/* Bytes of the longest word that is taken where text comes in pieces of so many bytes. */
size_t plan_longest_word(const struct cooc_count_opts *o, size_t piece);
/* Memory the process already holds counts as spent. text: bytes of all inputs if known, else 0.
 * window: what decoding an input holds. -1: --memory too small, with the least that would suffice.
 */
int plan_make(struct plan *p, const struct cooc_count_opts *o, uint32_t ids, uint64_t text,
              uint64_t window);

#endif
