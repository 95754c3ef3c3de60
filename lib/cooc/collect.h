/* The vocabulary of texts: every word, by falling count, equal counts by bytes. */
#ifndef COOC_COLLECT_H
#define COOC_COLLECT_H
#include "lib/cooc/intake.h"

/* Reads all inputs once. Words that do not fit in memory are an error: the vocabulary must
 * then be limited with vocab-count. */
struct vocab *cooc_collect(const struct cooc_input *in, int n, const struct cooc_count_opts *o,
                           size_t memory);

#endif
