/* Which rows of a sentence code switching changes (TCS and SCS; Lu, Lu and Zhang 2023): a share of
 * all its tokens, of rows that are not predicted. */
#ifndef MASKING_PICK_H
#define MASKING_PICK_H
#include <stdbool.h>
#include "common/rng.h"
#include "lib/masking/words.h"

/* whole words where they stand, or any token */
enum switch_units { SWITCH_WORD, SWITCH_TOKEN };

/* A sentence as switching sees it: n rows, of which `fixed` ones are predicted and stay. */
struct switch_sentence {
    const uint32_t *original;
    const bool *fixed;
    int n, lang;
    uint64_t number;       /* of the sentence in the run: what its draws depend on, with the key */
    bool of_free;          /* the rate is of the rows that are not fixed; else of all */
};
/* free: not predicted; known: of these, with something to be switched to */
struct switch_count { uint64_t tokens, free, known, switched; };

/* "0.10:0.15", or one number for both. -1 with a message that names --`option`: wrong usage. */
int pick_bounds(const char *rate, const char *option, double *low, double *high);

/* Chooses rows to switch: with rho uniform between the bounds of the rate and t tokens (specials
 * not counted; of_free: nor fixed ones), floor(rho t + u), u uniform in [0, 1), of the rows that
 * are not fixed, are known and are whole words in place (w: where words begin; NULL: any token will
 * do), or as many as there are. at [n] gets them in their order; returns their number and adds to
 * *c. The draws are those of key (purpose RNG_SWITCH), the sentence's number and the row: words 1
 * to 3 of a row's block are the caller's. */
int pick_rows(const char *rate, const struct word_starts *w, const struct switch_sentence *x,
              struct rng_key key, bool (*known)(const void *ctx, int row), const void *ctx,
              int *at, struct switch_count *c);

#endif
