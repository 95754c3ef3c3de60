/* Dictionaries: TSV or space-separated "source target [score]". Judged by a gold one: gold.h. */
#ifndef BILINGUAL_DICTIONARY_H
#define BILINGUAL_DICTIONARY_H
#include <stdbool.h>
#include "lib/bilingual/map.h"
#include "lib/vectors/vectors.h"

struct text;
struct dictionary_line { const char *a, *b; size_t a_len, b_len; bool multiword; };
/* The next line, cut at its tab or, without one, its first space. 1, 0 at the end, -1 with a
 * message. */
int dictionary_line(struct text *t, struct dictionary_line *l);

struct dictionary_report {
    /* lines read; left out: several words on a side; a word without a vector; a repeated pair */
    uint64_t lines, multiword, unknown, repeated;
};
/* The pairs both of whose words have vectors, in the file's order, each once. Lines are
 * "source<TAB>target[<TAB>score]", or, without a tab, two words with a space between. -1 with a
 * message: missing, not UTF-8, a line with one word. */
int dictionary_read(const char *path, const struct vectors *src, const struct vectors *tgt,
                    struct word_pairs *p, struct dictionary_report *r);

/* Words spelt the same on both sides. min_length > 0: words with letters have that many characters
 * at least; ratio > 1: relative frequencies differ by no more than that factor, where counts are
 * known. */
void dictionary_identical(const struct vectors *src, const struct vectors *tgt, int min_length,
                          double ratio, struct word_pairs *p);

/* Keeps the first pair of each source word and, of those, the first of each target word: the best
 * ones where a dictionary lists the best translation first. Returns how many were dropped. */
size_t word_pairs_best(struct word_pairs *p, uint32_t n_src, uint32_t n_tgt);

/* Keeps each pair neither of whose words is in a pair kept before it: the TCS paper measures mutual
 * pairs, and a word with two translations would be compared with itself. Returns how many were
 * dropped. */
size_t word_pairs_one_to_one(struct word_pairs *p, uint32_t n_src, uint32_t n_tgt);

#endif
