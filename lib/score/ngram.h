/* n-gram matches between one hypothesis and its references: the counting under BLEU and chrF.
 * The references' n-grams of all orders are the nodes of a trie kept in a hash table, keyed by
 * (node of the n-gram without its last token, last token), so that keys are exact rather than
 * hashes of strings. Counts are clipped as in BLEU (Papineni et al. 2002): an n-gram
 * matches at most as often as it occurs in the one reference that has most of it. */
#ifndef SCORE_NGRAM_H
#define SCORE_NGRAM_H
#include <stddef.h>
#include <stdint.h>

/* A token: bytes inside a line owned by the caller. */
struct span { const char *p; size_t n; };

/* A workspace, reused from segment to segment; one per thread. */
struct ngram;
struct ngram *ngram_new(void);
void ngram_free(struct ngram *g);              /* NULL is fine */

/* Starts a segment: n-grams of orders 1..order (1 <= order). */
void ngram_begin(struct ngram *g, int order);

/* Adds one reference. Per n-gram, the largest count of all references is kept. */
void ngram_ref(struct ngram *g, const struct span *word, size_t n);
void ngram_ref_ids(struct ngram *g, const uint32_t *id, size_t n);

/* Adds the hypothesis' clipped matches of each order to correct[order]. Uses up the references'
 * counts: one hypothesis per segment. A segment is either words or ids. */
void ngram_match(struct ngram *g, const struct span *word, size_t n, int64_t *correct);
void ngram_match_ids(struct ngram *g, const uint32_t *id, size_t n, int64_t *correct);

/* Number of n-grams of this order in n tokens. */
static inline int64_t ngram_total(size_t n, int order)
{ return n >= (size_t)order ? (int64_t)(n - (size_t)order + 1) : 0; }

#endif
