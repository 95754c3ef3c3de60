/* Lists of word n-grams that are masked as one (PMI-Masking, Levine et al. 2021): what ngrams
 * found, cut into the model's tokens, one list per language, as a trie over ids. */
#ifndef DATA_NGRAM_LISTS_H
#define DATA_NGRAM_LISTS_H
#include <stdbool.h>
#include <stdint.h>
#include "common/opt.h"

struct model_config;
struct vocab;
struct word_starts;
struct ngram_lists;

/* Reads LANG=FILE of every language of c; a line is an n-gram of two words or more, its tokens with
 * spaces between. Lines with a token that the vocabulary lacks are left out. NULL with a message: a
 * language without a list, with two, or that the model lacks; a line with a tab (`ngrams` writes
 * scores before the words); a line of one word; a list of which nothing is left. */
struct ngram_lists *ngram_lists_read(const struct strs *files, const struct model_config *c,
                                     const struct vocab *v, const struct word_starts *w);
void ngram_lists_free(struct ngram_lists *l);       /* NULL is fine */
/* The most tokens that an n-gram has. */
int ngram_lists_longest(const struct ngram_lists *l);

/* The node where language `lang` begins; the one behind `node` for a token, 0 if no n-gram goes on
 * so; does an n-gram end there? */
uint32_t ngram_lists_root(int lang);
uint32_t ngram_lists_next(const struct ngram_lists *l, uint32_t node, uint32_t token);
bool ngram_lists_end(const struct ngram_lists *l, uint32_t node);

#endif
