/* Two kinds of words that are never paired: word-initial pieces and the others (paper B's Figure
 * 11 pairs "_strategi" with
 * "_strategie", never with "egi"). Neighbours, and with them CSLS's means, are taken within a
 * kind. */
#ifndef SPACE_KINDS_H
#define SPACE_KINDS_H
#include "lib/space/csls.h"
#include "lib/space/vectors.h"

struct kinds { bool *src, *tgt; };        /* of each row: does it begin with the marker? */

/* Of two sets of vectors, by the bytes that word-initial pieces begin with ("▁"). -1 with a
 * message: no word on a side begins with them. */
int kinds_make(struct kinds *k, const struct vectors *src, const struct vectors *tgt,
               const char *initial);
void kinds_free(struct kinds *k);

/* csls_search within each kind. Entries that a kind has no row for: index UINT32_MAX, score
 * -INFINITY. */
int kinds_search(const struct kinds *kinds, const struct vectors *src, const struct vectors *tgt,
                 enum csls_method how, int k, int K, struct csls_side *x, struct csls_side *z);
/* *mean [tgt->n], malloc'd: of each target row, the mean cosine with its K nearest source rows of
 * its kind. kinds NULL: of all. */
int kinds_means(const struct kinds *kinds, const struct vectors *src, const struct vectors *tgt,
                int K, float **mean);

#endif
