/* Examples of two neighbouring segments of one document (ALBERT, Lan et al. 2020; BERT): a corpus
 * whose documents end with an empty line, cut into runs of whole sentences. */
#ifndef DATA_DOCUMENTS_H
#define DATA_DOCUMENTS_H
#include "common/rng.h"
#include "lib/data/corpus.h"

/* The samples of c become runs of two or more sentences of one document, with at most `length`
 * tokens: as many as fit, of one run in ten only as many as fit a shorter length, drawn from 2 on.
 * What is left over at the end of a document is one more run; a single sentence, or one longer
 * than `length`, is not a run and ends one. -1 with a message: no run at all. */
int corpus_to_documents(struct corpus *c, int length);

/* Where a run is cut in two: the tokens of its first segment, between two of its sentences, drawn
 * evenly; swapped: whether the second segment is to stand first (half of the time). Depends on key
 * and the sample's number only. */
int documents_cut(const struct corpus *c, const struct sample *x, struct rng_key key,
                  bool *swapped);

#endif
