/* Which of the frequent n-grams are kept: scores, their order, and the list's size. */
#ifndef NGRAMS_SCORE_H
#define NGRAMS_SCORE_H
#include "lib/ngrams/levels.h"

struct ranking {
    const struct levels *l;
    const struct word *word;                  /* [number - 1] */
    double *score[NGRAMS_LONGEST + 1];        /* [n + 1] of k-gram number i */
    uint32_t *order[NGRAMS_LONGEST + 1];      /* [n] numbers, best first */
    uint32_t *rank[NGRAMS_LONGEST + 1];       /* [n + 1] from 0 */
    uint64_t *covers[NGRAMS_LONGEST + 1];     /* [n + 1] tokens that no shorter list covers */
};

/* Of 2 to `longest` words or, below o->least, none. -1 with a message: --memory. */
int ranking_make(struct ranking *r, const struct levels *l, const struct word *word);
void ranking_free(struct ranking *r);

/* How many k-grams a list of size `top` has at most. */
uint64_t ranking_share(const struct ngrams_options *o, uint64_t top, int k);
/* The size of the list to write, and the share of tokens that it covers. -1 with a message. */
int ranking_choose(struct ranking *r, uint64_t *top, double *covered);

#endif
