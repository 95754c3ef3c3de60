/* The vocabulary of texts: every word, by falling count, equal counts by bytes. */
#ifndef COOC_COLLECT_H
#define COOC_COLLECT_H
#include "lib/cooc/intake.h"

/* Reads all inputs once. Words above the memory are refused: a vocabulary must be cut with
 * vocab-count then. */
struct vocab *cooc_collect(const struct cooc_input *in, int n, const struct cooc_count_opts *o,
                           size_t memory);

#endif
