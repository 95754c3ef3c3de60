/* Contexts of words: .cooc files (cooc-count, one language each) as sparse matrices [words, words].
 * The rows and columns are the words of a list; pairs with a word outside it are dropped. */
#ifndef VECTORS_WORD_CONTEXT_H
#define VECTORS_WORD_CONTEXT_H
#include "lib/vectors/sparse.h"
#include "lib/vectors/vectors.h"

struct cooc;

/* The counts of the file, all planes added, over the words of v; a symmetric file gives both
 * triangles. NULL with a message: unreadable, corrupt. */
struct sparse *word_context_of(const struct cooc *c, const struct vectors *v);
struct sparse *word_context_read(const char *path, const struct vectors *v);

/* v->count from the file's own counts. */
int word_context_counts(const char *path, struct vectors *v);

/* Word vectors from files over the same vocabulary: the words with a count of at least min_count
 * (at most `most` of them, 0: all), each file's contexts a block of columns of its own (so that
 * left and right, or near and far, stay separate), PPMI (sparse.h) by block, truncated SVD, rows U
 * s^power. Counts are filled in. */
struct word_context_options {
    int dim;                    /* 50 */
    uint64_t min_count;         /* 2 */
    uint32_t most;
    double smooth, shift;       /* PPMI: 0.75, 1 */
    double power;               /* of the singular values: 0.5 */
    int passes;                 /* of the randomised SVD: 4 */
    uint64_t seed;
};
extern const struct word_context_options word_context_defaults;
struct vectors *word_context_vectors(const char *const *paths, int n,
                                     const struct word_context_options *o);

#endif
