/* Texts as numbers of words in a temporary file: each text is read twice, to number the words and
 * to write the numbers, and what cannot be read twice is copied. */
#ifndef NGRAMS_SPOOL_H
#define NGRAMS_SPOOL_H
#include <stdio.h>
#include "lib/bpe/words.h"
#include "lib/ngrams/ngrams.h"

/* In the file: 0 ends a line, SPOOL_RARE is a word that is not numbered. */
#define SPOOL_RARE UINT32_MAX

struct spool {
    FILE *file;
    uint64_t n;                             /* numbers in it, ends of lines included */
    uint64_t tokens, places[NGRAMS_LONGEST + 1]; /* of a k-gram: N_k */
    uint64_t words;                         /* different ones */
    struct word_counts *of;                       /* their spelling, */
    struct counted_word *word;              /* [frequent] those counted min_count times or more */
    uint32_t frequent;
};
int spool_read(struct spool *s, const char *const *path, int n, const struct ngrams_options *o);
void spool_free(struct spool *s);

#endif
