/* Scores of all pairs of a source and a target word,
 *
 *   S = CSLS(likeness) + spelling - frequency,
 *
 * a block of rows at a time, so that memory grows with the words and never with their product.
 * Likeness is that of mapped vectors (cosines) or, after them, of translated contexts
 * (refine_round). Few words are one block, which is kept; of more, blocks are made again for each
 * pass: the means of CSLS, the best of each row and column, the ranks of a gold dictionary. */
#ifndef BILINGUAL_SCORES_H
#define BILINGUAL_SCORES_H
#include "lib/vectors/csls.h"
#include "lib/vectors/sparse.h"
#include "lib/vectors/vectors.h"

/* --- spelling --------------------------------------------------------------------------------- */

/* How similarly two words are spelt: the cosine of their bags of character n-grams (1 to 4, with
 * marks for the word's ends), each weighing log(1 + times) log(words / words with it) over both
 * vocabularies. Cognates and names score high without a rule about either language; useful with
 * vectors (Riley and Gildea 2018, "Orthographic features..."). */

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

/* --- scores ----------------------------------------------------------------------------------- */

struct scores;

struct scores_options {
    enum csls_method method;       /* CSLS_NN: the likeness as it is */
    int K;                         /* neighbours in CSLS's means */
    float spelling, frequency;     /* weights; 0: without */
    uint32_t rows;                 /* of a block; 0: as many as 64 or 256 MiB hold */
};

/* Of src and tgt, which must outlive it; the similarities are given next. */
struct scores *scores_new(const struct vectors *src, const struct vectors *tgt,
                          const struct scores_options *o);
void scores_free(struct scores *s);      /* NULL is fine */

/* Spelling and frequency alone of the first n source and m target words, into E [n, m]. */
void scores_extra(struct scores *s, uint32_t n, uint32_t m, float *E);

/* By the cosines of the vectors, whose rows have length 1. */
void scores_by_vectors(struct scores *s);
/* By weight * sum of A B^T over pairs of matrices [src->n, .] and [tgt->n, .]; the pairs become
 * s's. */
struct scores_pair { struct sparse *a, *b; };
void scores_by_products(struct scores *s, const struct scores_pair *p, int n, float weight);
/* The mean likeness of a word with the one most like it, over both directions. */
double scores_best(const struct scores *s);

/* The k best of each source word and of each target word. Freed by csls_free. */
void scores_top(struct scores *s, int k, struct csls_side *x, struct csls_side *z);
/* The scores of source word i with all target words [m], until the next call. */
const float *scores_row(struct scores *s, uint32_t i);

/* --- re-estimated ----------------------------------------------------------------------------- */

/* Re-estimation of a dictionary in the full space of contexts (after Rapp 1999 and Fung and Yee
 * 1998, iterated): with the dictionary of the last round, the contexts of a source word are
 * translated into target words, and compared there, without loss, with the contexts of the target
 * words; and the other way round.
 *
 *   M_src T, T [n, m] the last round's dictionary: each word's `near` best translations, softmax of
 * score / heat S = mean over blocks of (cos(ppmi(M_src T), ppmi(M_tgt)) + cos(ppmi(M_src),
 * ppmi(M_tgt T'))) / 2 scores = CSLS(S) + extra
 *
 * The SVD that gave the first dictionary keeps 50 to 100 dimensions; this keeps all, and on small
 * corpora finds far more. */

struct refine {
    struct sparse **src, **tgt;    /* [blocks] counts [n, n] and [m, m] */
    int blocks, near;              /* 3 */
    double heat, smooth;           /* 0.05, 0.75 */
};
/* One round: words of s are compared by their contexts, under the dictionary that s had.
 * scores_best is then a label-free measure. */
void refine_round(const struct refine *r, struct scores *s);

#endif
