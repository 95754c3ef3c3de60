#include "lib/masking/pick.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"

enum { SENTENCE = -1 };      /* in a row's place: the draws of the sentence as a whole */

int pick_bounds(const char *rate, const char *option, double *low, double *high)
{
    char end;
    int n = sscanf(rate, "%lf:%lf%c", low, high, &end);
    /* one share, and nothing behind it, as in "0.3,0.5" */
    if (n == 1 && sscanf(rate, "%lf%c", low, &end) == 1) {
        *high = *low;
        n = 2;
    }
    if (n == 2 && *low >= 0 && *low <= *high && *high <= 1) return 0;
    return err_set("--%s %s: expected two shares A:B with 0 <= A <= B <= 1", option, rate);
}

struct candidate { uint32_t draw; int at; };

static int by_draw(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->draw != y->draw) return x->draw < y->draw ? -1 : 1;
    return x->at - y->at;
}

static int by_row(const void *a, const void *b)
{
    return ((const struct candidate *)a)->at - ((const struct candidate *)b)->at;
}

static bool is_token(uint32_t id) { return id >= VOCAB_SPECIALS || id == VOCAB_UNK; }

/* Is row i a word by itself? What follows the last row of a piece is not known: it ends the word.
 */
static bool whole(const struct switch_sentence *x, const struct word_starts *w, int i)
{
    return (i == 0 || word_starts_at(w, x->original[i - 1], x->original[i]))
        && (i + 1 == x->n || word_starts_at(w, x->original[i], x->original[i + 1]));
}

int pick_rows(const char *rate, const struct word_starts *w, const struct switch_sentence *x,
              struct rng_key key, bool (*is_known)(const void *ctx, int row), const void *ctx,
              int *at, struct switch_count *c)
{
    struct candidate *free_row = mem_alloc((size_t)x->n * sizeof *free_row);
    uint32_t draw[4];
    int tokens = 0, n = 0;
    double low = 0, high = 0;
    for (int i = 0; i < x->n; i++) {
        if (!is_token(x->original[i])) continue;
        /* the share is of the tokens that may be switched, or of all */
        tokens += !(x->of_free && x->fixed[i]);
        if (x->fixed[i]) continue;
        bool known = is_known(ctx, i);
        c->free++;
        c->known += known;
        if (!known || (w && !whole(x, w, i))) continue;
        rng_block(key, x->number, (uint32_t)i, draw);
        free_row[n++] = (struct candidate){ draw[0], i };
    }
    /* the options have been checked: it cannot fail */
    pick_bounds(rate, "", &low, &high);
    /* a position that no row has */
    rng_block(key, x->number, (uint32_t)SENTENCE, draw);
    double share = low + (high - low) * draw[0] / 4294967296.0,
           /* rho t is not whole: u makes it right on average */
           wanted = floor(share * tokens + draw[1] / 4294967296.0);
    int m = wanted < n ? (int)wanted : n;
    /* the m smallest draws are a choice without replacement */
    if (n) qsort(free_row, (size_t)n, sizeof *free_row, by_draw);
    if (m) qsort(free_row, (size_t)m, sizeof *free_row, by_row);
    for (int k = 0; k < m; k++) at[k] = free_row[k].at;
    c->tokens += (uint64_t)tokens;
    c->switched += (uint64_t)m;
    free(free_row);
    return m;
}
