/* Word-initial pieces and all others, which are never paired with each other (paper B's Figure
 * 11 pairs "_strategi" with
 * "_strategie", never with "egi"). Neighbours, and with them CSLS's means, are taken within a
 * kind. */
#ifndef BILINGUAL_WORD_INITIAL_H
#define BILINGUAL_WORD_INITIAL_H
#include "lib/vectors/csls.h"
#include "lib/vectors/vectors.h"

struct word_initial { bool *src, *tgt; };        /* of each row: does it begin with the marker? */

/* Of two sets of vectors, by the bytes that word-initial pieces begin with ("▁"). -1 with a
 * message: no word on a side begins with them. */
int word_initial_make(struct word_initial *k, const struct vectors *src, const struct vectors *tgt,
                      const char *initial);
void word_initial_free(struct word_initial *k);

/* csls_search within each kind. Entries that a kind has no row for: index UINT32_MAX, score
 * -INFINITY. */
int word_initial_search(const struct word_initial *kinds, const struct vectors *src,
                        const struct vectors *tgt, enum csls_method how, int k, int K,
                        struct csls_side *x, struct csls_side *z);
/* *mean [tgt->n], malloc'd: of each target row, the mean cosine with its K nearest source rows of
 * its kind. kinds NULL: of all. */
int word_initial_means(const struct word_initial *kinds, const struct vectors *src,
                       const struct vectors *tgt, int K, float **mean);

#endif
