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
#ifndef BILINGUAL_REFINE_H
#define BILINGUAL_REFINE_H
#include "lib/bilingual/scores.h"
#include "lib/vectors/sparse.h"

struct refine {
    struct sparse **src, **tgt;    /* [blocks] counts [n, n] and [m, m] */
    int blocks, near;              /* 3 */
    double heat, smooth;           /* 0.05, 0.75 */
};
/* One round: words of s are compared by their contexts, under the dictionary that s had.
 * scores_best is then a label-free measure. */
void refine_round(const struct refine *r, struct scores *s);

#endif
