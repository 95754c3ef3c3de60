/* What MASS makes of a sentence, and a batch of such. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"
#include "lib/data/corpus.h"
#include "lib/objective/mass.h"

enum { SENTENCE = -1 };          /* in a row's place: the draws of the sentence as a whole */

struct mass_span mass_span(int rows, double share, const uint32_t draw[4])
{
    /* halves to even, as Python's round in the authors' code */
    int m = (int)rint(share * rows), last;
    if (m < 1) m = 1;
    if (m > rows - 1) m = rows - 1;
    last = rows - m;                         /* where the last span begins */
    double u = draw[0] / 4294967296.0;
    int at = u >= 0.8 ? 1 : u >= 0.6 ? last : 1 + (int)(((uint64_t)draw[1] * (uint64_t)last) >> 32);
    return (struct mass_span){ at, m };
}

static void room(struct mass_batch *b)
{
    size_t src = (size_t)b->src.rows, dec = (size_t)b->dec.rows, n = (size_t)b->src.n;
    mem_room(&b->original, &b->cap[0], src + 1, sizeof *b->original);
    mem_room(&b->visible, &b->cap[1], src + 1, sizeof *b->visible);
    mem_room(&b->target, &b->cap[2], dec + 1, sizeof *b->target);
    mem_room(&b->span, &b->cap[3], dec + 1, sizeof *b->span);
    mem_room(&b->at, &b->cap[4], n + 1, sizeof *b->at);
    mem_room(&b->len, &b->cap[5], n + 1, sizeof *b->len);
}

/* Token i of <s> ids </s>. */
static uint32_t token_of(const struct sample *x, int i)
{
    return i == 0 ? VOCAB_BOS : i <= x->n ? x->ids[i - 1] : VOCAB_EOS;
}

void mass_add(struct mass_batch *b, const struct mass_how *o, const struct sample *x,
              struct rng_key key)
{
    int n = x->n + 2, first = b->src.rows, dec = b->dec.rows;
    uint32_t draw[4];
    rng_block(key, x->number, (uint32_t)SENTENCE, draw);
    struct mass_span s = mass_span(n, o->share, draw);
    batch_begin(&b->src);
    batch_begin(&b->dec);
    for (int i = 0; i < n; i++) {
        uint32_t read = token_of(x, i), before = i ? token_of(x, i - 1) : 0;
        bool in = i >= s.at && i < s.at + s.n;
        rng_block(key, x->number, (uint32_t)i, draw);
        if (in) read = masking_read(o->how, read, draw, o->vocab);
        batch_append(&b->src, &(struct batch_part){ &read, 1, x->lang, 0, i }, x->number);
        if (in)
            batch_append(&b->dec, &(struct batch_part){ &before, 1, x->lang, 0, i - 1 }, x->number);
    }
    room(b);
    int from = b->n_visible;
    for (int i = 0; i < n; i++) {
        b->original[first + i] = (int32_t)token_of(x, i);
        if (o->see_masked || b->src.token[first + i] != VOCAB_MASK)
            b->visible[b->n_visible++] = first + i;
    }
    for (int i = 0; i < s.n; i++) {
        b->target[dec + i] = (int32_t)token_of(x, s.at + i);
        b->span[dec + i] = first + s.at + i;
    }
    b->at[b->src.n - 1] = from;
    b->len[b->src.n - 1] = b->n_visible - from;
    if (b->n_visible - from > b->most_visible) b->most_visible = b->n_visible - from;
}

/* Rows of sentence s of `from` at the end of `to`. */
static void copy_sentence(struct batch *to, const struct batch *from, int s)
{
    batch_begin(to);
    for (int r = from->at[s]; r < from->at[s] + from->len[s]; r++) {
        uint32_t id = (uint32_t)from->token[r];
        batch_append(to, &(struct batch_part){ &id, 1, from->lang[r], from->type[r], from->pos[r] },
                     from->sample[r]);
    }
}

/* Sentence s of `from` is the last one of `to`, `shift` rows later. */
static void copy_visible(struct mass_batch *to, const struct mass_batch *from, int s, int shift)
{
    int first = to->n_visible;
    for (int i = from->at[s]; i < from->at[s] + from->len[s]; i++)
        to->visible[to->n_visible++] = from->visible[i] + shift;
    to->at[to->src.n - 1] = first;
    to->len[to->src.n - 1] = from->len[s];
    if (from->len[s] > to->most_visible) to->most_visible = from->len[s];
}

void mass_copy(struct mass_batch *to, const struct mass_batch *from, int s)
{
    int src = to->src.rows, dec = to->dec.rows, old = from->src.at[s], shift = src - old;
    copy_sentence(&to->src, &from->src, s);
    copy_sentence(&to->dec, &from->dec, s);
    room(to);
    memcpy(to->original + src, from->original + old,
           (size_t)from->src.len[s] * sizeof *to->original);
    copy_visible(to, from, s, shift);
    for (int i = 0; i < from->dec.len[s]; i++) {
        int r = from->dec.at[s] + i;
        to->target[dec + i] = from->target[r];
        to->span[dec + i] = from->span[r] + shift;
    }
}

void mass_clear(struct mass_batch *b)
{
    batch_clear(&b->src);
    batch_clear(&b->dec);
    b->n_visible = b->most_visible = 0;
}

void mass_free(void *batch)
{
    struct mass_batch *b = batch;
    void *owned[] = { b->original, b->visible, b->target, b->span, b->at, b->len };
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
    batch_free(&b->src);
    batch_free(&b->dec);
    memset(b, 0, sizeof *b);
}
