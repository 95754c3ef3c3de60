/* The sentence pairs of all languages in one pool: those within limits of length, in one random
 * order per epoch (Pan et al. 2021, section 3). All callers in the same turn get the same pairs,
 * so that several objectives learn from one batch of them. */
#ifndef DATA_PAIR_POOL_H
#define DATA_PAIR_POOL_H
#include "common/prog/opt.h"
#include "lib/data/pairs.h"

struct pair_limits {
    /* tokens without specials: of either side at least, of both together at most */
    int min_tokens, max_tokens;
    int64_t most;                /* of each language pair the first so many that are kept; 0: all */
    bool shuffle;                /* who reads a pair may toss which side comes first (pair_toss) */
};
static const struct pair_limits pair_limits_defaults = { 10, 128, 0, true };
extern const struct opt pair_limits_rows[];

struct pair_pool {
    struct pair_limits limits;
    const struct pairs *set; int n_sets;
    struct pooled { uint32_t set, index; } *kept;    /* [n], in the order of the files */
    uint32_t n;
    int batch;                                       /* pairs that a turn takes */
    /* for memory plans: tokens of the longest side and pair; of the `batch` longest together */
    int longest_side, longest_pair;
    int64_t most_side, most_pair;
    uint32_t *order; int64_t order_epoch;
    struct pair *now; int64_t micro;                 /* [batch] of this micro-batch */
    int64_t epoch, next;                             /* state */
};

/* Keeps pairs of n sets that have at most `positions` rows as <s> x </s> y </s>. `note` gets,
 * for each set, how many are left. The sets outlive the pool. -1 with a message: a set of which
 * nothing is left; fewer pairs than a batch. */
int pair_pool_open(struct pair_pool *p, const struct pairs *set, int n,
                   const struct pair_limits *limits, int batch, int positions,
                   void (*note)(const char *fmt, ...));
void pair_pool_state(struct pair_pool *p, struct state *s);
/* The pairs of micro-batch `micro` [p->batch], until the next one is asked for. A pair's index is
 * its number in the pool. */
const struct pair *pair_pool_take(struct pair_pool *p, int64_t micro, uint64_t seed);
void pair_pool_free(struct pair_pool *p);            /* zeros are fine */

/* For memory plans: the most rows of a batch, with specials; its longest sequence has `longest`. */
int pair_pool_most_rows(const struct pair_pool *p, int longest);

#endif
