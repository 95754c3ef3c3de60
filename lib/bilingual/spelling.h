/* How alike two words are spelt: the cosine of their bags of character n-grams (1 to 4, with marks
 * for the word's ends), each weighing log(1 + times) log(words / words with it) over both
 * vocabularies. Cognates and names score high without a rule about either language; useful beside
 * vectors (Riley and Gildea 2018, "Orthographic features..."). */
#ifndef BILINGUAL_SPELLING_H
#define BILINGUAL_SPELLING_H
#include "lib/vectors/vectors.h"

struct spelling;
struct spelling *spelling_new(const struct vectors *src, const struct vectors *tgt, float weight);
void spelling_free(struct spelling *s);      /* NULL is fine */
/* S [n, m] += weight * likeness, of source words first .. first + n - 1 and the first m target
 * words. */
void spelling_add(const struct spelling *s, uint32_t first, uint32_t n, uint32_t m, float *S);

/* S -= weight * min(3, |log p(src) - log p(tgt)|), p: relative frequency among the rows' counts
 * (both must have some). In texts of the same kind translations are about equally frequent. Rows
 * without a count lose nothing. */
struct frequency;
struct frequency *frequency_new(const struct vectors *src, const struct vectors *tgt, float weight);
void frequency_free(struct frequency *f);    /* NULL is fine */
void frequency_add(const struct frequency *f, uint32_t first, uint32_t n, uint32_t m, float *S);

#endif
