/* The objectives of a run: which of those that a program knows were chosen, with their options and
 * weights, and which of them take part in a step. They add up, or (--mix) one with a pass of its
 * own is drawn for each step. */
#ifndef ENGINE_MIX_H
#define ENGINE_MIX_H
#include <stdint.h>
#include "lib/engine/objective.h"

/* --- weights that change ---------------------------------------------------------------------- */

/* A weight that changes during training, written as XLM writes its lambdas: "1" is constant,
 * "0:1,100000:0.1,300000:0" goes linearly from 1 at step 0 to 0.1 at step 100,000 and to 0 at step
 * 300,000, where it stays. */

enum { RAMP_MAX = 16 };
struct ramp { int n; struct { int64_t step; double value; } at[RAMP_MAX]; };

/* Values are finite and not negative, steps grow. -1 with a message. */
int ramp_parse(struct ramp *r, const char *s);
double ramp_value(const struct ramp *r, int64_t step);

/* --- the mixture ------------------------------------------------------------------------------ */

enum { MIX_MOST = 16, MIX_KNOWN = 32 };

/* One that the program knows: its options, filled by the program's parser. */
struct mix_known {
    const struct objective *o;
    void *self;
    struct mix_weight { const char *ramp; } weight;
    char weight_name[64], weight_help[96], heading[96];
    struct opt weight_row[2];
};

/* One that was chosen. */
struct member {
    const struct objective *o;
    void *self;
    int host;                    /* the member that is its host; -1: none */
    /* of those with a pass of their own: its number, part of the key of its dropout */
    int place;
    /* here only as the host of another one: its own loss is not wanted */
    bool silent;
    struct ramp weight;
    uint32_t share;              /* of --mix */
};

struct mix {
    struct mix_known known[MIX_KNOWN]; int n_known;
    struct member m[MIX_MOST]; int n;
    uint32_t shares;             /* the sum of --mix; 0: all take part in every step */
    bool by_data;                /* --mix by-data: shares follow from what is opened */
    char asked[256];             /* "--objective mlm,gc", for messages */
};

/* Knows those of `table` (ends with NULL) that `used_by` (OBJECTIVE_*) has, with their defaults. */
void mix_init(struct mix *x, const struct objective *const *table, unsigned used_by);
/* Their groups of options for the program's parser, appended to g, which has room for 2 * MIX_KNOWN
 * + 1 more and n groups already; returns the number of groups then. */
int mix_groups(struct mix *x, struct opt_group *g, int n);
/* The options' struct of one that it knows; NULL: it does not. */
void *mix_self(const struct mix *x, const char *name);

/* After parsing: chooses those of `list` ("mlm,gc") with the ratio `ratio` ("mlm:4,tlm:1"; NULL:
 * they add up), checks their options and that no option of another one was asked for; what chose
 * them is called `option` in messages ("--objective"). -1 with a message: wrong usage. */
int mix_choose(struct mix *x, const char *list, const char *ratio, const char *option,
               const char *value);
/* Is --dict given (`files` of them) just where an objective reads it? -1 with a message: wrong
 * usage. */
int mix_dict(const struct mix *x, int files);
/* Does one of them read sentence pairs, if `option` (NULL: none) was given some? -1 with a message:
 * wrong usage. */
int mix_pairs(const struct mix *x, const char *option);
/* Is one of them validated on text (pairs: on sentence pairs), if `option` (NULL: none) was given
 * some? -1 with a message: wrong usage. */
int mix_valid(const struct mix *x, bool pairs, const char *option);
/* Is one of them the objective of this name? */
bool mix_has(const struct mix *x, const char *name);
/* Does one of them read monolingual text? */
bool mix_text(const struct mix *x);
/* Has one of them a decoder? */
bool mix_decoder(const struct mix *x);
/* Do they fit a model of this shape? -1 with a message: wrong usage. */
int mix_fits(const struct mix *x, const struct model_config *c);
/* Opens those chosen, in their order; with --mix by-data their shares are then the micro-batches
 * in a pass over the data of each. -1 with a message. */
int mix_open(struct mix *x, struct setup *s);
/* Micro-batches in a pass over the data of all that were chosen; 0: none of them has data to count.
 * Drawn by turns, each in as many as its own data has. All at once, those that read the same text
 * share it, and of text and pairs the one that takes longer says when the pass ends. */
double mix_batches(const struct mix *x);
/* Steps that belong together: the longest of their periods. */
int mix_period(const struct mix *x);
/* The tensors that they learn besides the model's. */
void mix_parameters(const struct mix *x, struct model *m);
int mix_start(struct mix *x, struct pass *p, struct state *s);
/* Does member i have a pass of its own? */
static inline bool mix_passes(const struct mix *x, int i)
{
    return x->m[i].o->batch->forward != NULL;
}
/* Sets part[i] of all members: do they take part in the step after `step` steps? Depends on step
 * and seed alone. */
void mix_turn(const struct mix *x, int64_t step, uint64_t seed, bool part[MIX_MOST]);
double mix_weight(const struct mix *x, int i, int64_t step);
void mix_free(struct mix *x);    /* zeros are fine */

#endif
