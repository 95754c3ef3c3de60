/* How alike two words are spelt: the cosine of their bags of character n-grams (1 to 4, with marks
 * for the word's ends), each weighing log(1 + times) log(words / words with it) over both
 * vocabularies. Cognates and names score high without a rule about either language; useful beside
 * vectors (Riley and Gildea 2018, "Orthographic features..."). */
#ifndef BILINGUAL_SPELLING_H
#define BILINGUAL_SPELLING_H
#include "lib/vectors/vectors.h"

/* S [src->n, tgt->n] += weight * likeness. */
void spelling_add(const struct vectors *src, const struct vectors *tgt, float weight, float *S);

/* S -= weight * min(3, |log p(src) - log p(tgt)|), p: relative frequency among the rows' counts
 * (both must have some). In texts of the same kind translations are about equally frequent. Rows
 * without a count lose nothing. */
void frequency_add(const struct vectors *src, const struct vectors *tgt, float weight, float *S);

#endif
