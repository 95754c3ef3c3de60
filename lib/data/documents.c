#include "lib/data/corpus.h"
#include <stdlib.h>
#include "common/err.h"
#include "common/mem.h"

/* Tokens of run number n: the full length, but one in ten at random is shorter, as in BERT's
 * pretraining data (short_seq_prob 0.1), so that short inputs are learnt, too. */
static uint32_t target(uint32_t n, uint32_t length)
{
    /* by the number of the run alone: the runs are the text's, whatever the seed */
    struct rng_key key = { 0, RNG_SEGMENT, 0 };
    if (rng_below(key, n, 0, 10)) return length;
    return 2 + (uint32_t)rng_below(key, n, 1, length - 1);
}

int corpus_to_documents(struct corpus *c, int length)
{
    struct shard_block *b = &c->all;
    uint32_t *ids = mem_alloc((size_t)b->tokens * sizeof *ids);
    uint32_t *at = mem_alloc(((size_t)b->sentences + 1) * sizeof *at);
    c->part = mem_alloc(((size_t)b->sentences + 1) * sizeof *c->part);
    uint32_t runs = 0, tokens = 0, s = 0;
    while (s < b->sentences) {
        uint32_t first = s, most = target(runs, (uint32_t)length), have = 0;
        /* an empty line ends the document */
        for (; s < b->sentences && b->at[s + 1] > b->at[s]; s++) {
            uint32_t n = b->at[s + 1] - b->at[s];
            /* two sentences at least, even where they exceed the length that was drawn */
            bool too_short = s - first < 2 && have + n <= (uint32_t)length;
            if (have + n > most && !too_short) break;
            have += n;
        }
        /* a run needs two sentences to be cut in two: not an empty line, a single sentence or one
         * that is too long */
        if (s - first < 2) {
            s += s == first;
            continue;
        }
        at[runs++] = tokens;
        for (uint32_t k = first; k < s; k++) {
            c->part[c->parts++] = tokens;
            for (uint32_t i = b->at[k]; i < b->at[k + 1]; i++) ids[tokens++] = b->ids[i];
        }
    }
    at[runs] = c->part[c->parts] = tokens;
    struct left_out *left = &c->left_out;
    for (uint32_t i = 0; i < b->sentences; i++) left->of += b->at[i + 1] > b->at[i];
    left->of_tokens = b->tokens;
    left->n = left->of - c->parts;
    left->tokens = left->of_tokens - tokens;
    /* the runs are at most as long as the text, and the text is not read again */
    free(b->ids);
    free(b->at);
    b->ids_cap = b->tokens;
    b->at_cap = (size_t)b->sentences + 1;
    b->ids = ids;
    b->at = at;
    b->sentences = runs;
    b->tokens = tokens;
    return runs ? 0
                : err_set("%s: no document has two neighbouring sentences of %d tokens together; "
                          "an empty line ends a document",
                          c->path, length);
}

/* The number of the part that begins at token `at`. */
static uint32_t find(const struct corpus *c, uint32_t at)
{
    uint32_t low = 0, high = c->parts;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (c->part[mid] < at) low = mid + 1;
        else high = mid;
    }
    return low;
}

int documents_cut(const struct corpus *c, const struct sample *x, struct rng_key key, bool *swapped)
{
    /* a sample is a run, whose tokens lie in `all`: its parts are found by where it begins */
    uint32_t begin = (uint32_t)(x->ids - c->all.ids), first = find(c, begin);
    uint32_t n = find(c, begin + (uint32_t)x->n) - first;
    /* the caller's key is that of masks, and would draw a token's numbers once more */
    key.purpose = RNG_SEGMENT;
    *swapped = rng_below(key, x->number, 1, 2);
    /* a run has two parts or more, so there is a bound within it */
    return (int)(c->part[first + 1 + rng_below(key, x->number, 0, n - 1)] - begin);
}
