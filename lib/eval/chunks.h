/* Chunks of a tagged sentence and how many of them two taggings share: conlleval (Tjong Kim Sang
 * 2000) as seqeval, which XTREME uses, has it. A tag is a prefix, its first letter (B I E S O), and
 * a type, what follows the first "-". An I or E after O or another type opens a chunk. Tags
 * without prefix (parts of speech) are read the same way: runs of one tag are a chunk, except that
 * a tag that begins with S (SYM, SCONJ) is one at every word. */
#ifndef EVAL_CHUNKS_H
#define EVAL_CHUNKS_H
#include <stdint.h>

/* correct: type, first and last word are equal */
struct chunk_counts { int64_t correct, predicted, gold; };

/* Adds the counts of one sentence of n words. */
void chunks_add(struct chunk_counts *c, const char *const *predicted, const char *const *gold,
                int n);

#endif
