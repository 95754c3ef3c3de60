/* A dictionary of the model's tokens made anew from its own embedding table while it trains (TCS
 * with --dict-refresh): for each pair of languages, of the words that only one of them has
 * (specific.h), those that are each other's nearest by CSLS: what dict-induce --map none --specific
 * --mutual finds in the same table. The one in force is part of the run's state. */
#ifndef OBJECTIVE_REFRESH_H
#define OBJECTIVE_REFRESH_H
#include "lib/data/specific.h"
#include "lib/data/switch.h"
#include "lib/engine/objective.h"

enum { REFRESH_NEIGHBOURS = 10 };    /* K of CSLS */

struct refresh {
    struct refresh_pair {
        int lang[2];
        int32_t *word[2];            /* [n[i]] the words of either language */
        int n[2];
        float *to; /* state, device: [n[0]] number of each one's translation among the others; -1 */
    } *pair;
    int pairs;
    int64_t made;                    /* state: how often; 0: the given ones are in force */
    const struct kernels *k;
};

/* For the pairs of languages of the dictionaries that were given. -1 with a message: one of them
 * has no words of its own beside the other. */
int refresh_open(struct refresh *r, const struct switches *given, const struct specific *words,
                 const struct setup *s);
/* Allocates and registers what a checkpoint keeps. */
int refresh_start(struct refresh *r, struct pass *p, struct state *s);
/* Recomputes all translations from the current table. Waits for the device. */
int refresh_make(struct refresh *r, struct pass *p);
/* The dictionary of the current state; the caller frees it. *n: its number of word pairs. */
struct switches *refresh_switches(const struct refresh *r, const struct switch_options *o,
                                  int langs, int *n);
void refresh_free(struct refresh *r);        /* zeros are fine */

#endif
