/* Units, once they are made (examples_add.c): no text and no tokeniser from here on. */
#include "lib/data/examples.h"
#include <stdlib.h>

void examples_clear(struct examples *x)
{
    x->n = x->ids = x->words = x->spans = 0;
    x->count = 0;
}

void examples_free(struct examples *x)
{
    free(x->v);
    free(x->id);
    free(x->word_row);
    free(x->word_tag);
    free(x->span);
    free(x->span_at);
    *x = (struct examples){ 0 };
}

void examples_batch(const struct examples *x, size_t i, struct batch *b, uint64_t sample)
{
    const struct unit *u = &x->v[i];
    int type = x->types > 1 && !x->how.reads.pair_two;
    struct batch_part a = { x->id + u->at, u->split, u->lang[0], 0, 0 };
    struct batch_part c = { x->id + u->at + u->split, u->rows - u->split, u->lang[1], type,
                            u->split };
    batch_begin(b);
    batch_append(b, &a, sample);
    if (c.n) batch_append(b, &c, sample);
}

void examples_allowed(const struct examples *x, size_t i, uint8_t *allowed)
{
    const struct unit *u = &x->v[i];
    for (int r = 0; r < u->rows; r++)
        allowed[r] = r == 0 || (r >= u->context && r < u->context + u->tokens);
}
