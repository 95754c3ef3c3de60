#include "lib/data/corpus.h"
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"
#include "common/text/vocab.h"

enum { SIDES = 2 };

static uint32_t tokens_of(const struct shard_block *b, uint32_t s)
{ return b->at[s + 1] - b->at[s]; }

bool join_fits(const struct shard_block *b, int specials)
{
    return b->tokens + (uint64_t)specials * b->sentences <= UINT32_MAX;
}

/* Tokens and bounds on their way into a block. */
struct joined { uint32_t *ids, *at; uint32_t n; };

static void append(struct joined *j, const struct shard_block *b, uint32_t s)
{
    j->ids[j->n++] = VOCAB_BOS;
    memcpy(j->ids + j->n, b->ids + b->at[s], tokens_of(b, s) * sizeof *j->ids);
    j->n += tokens_of(b, s);
    j->ids[j->n++] = VOCAB_EOS;
}

/* Does sentence s fit into an empty example of `length`, on every side? */
static bool fits(struct shard_block *const b[], int k, uint32_t s, int length)
{
    for (int i = 0; i < k; i++)
        if (!tokens_of(b[i], s) || tokens_of(b[i], s) + 2 > (uint32_t)length) return false;
    return true;
}

/* Counts sentence s, whose sides are not all empty. */
static void count(struct shard_block *const b[], int k, uint32_t s, bool taken,
                  struct left_out *left)
{
    double tokens = 0;
    for (int i = 0; i < k; i++) tokens += tokens_of(b[i], s);
    left->of += tokens > 0;
    left->of_tokens += tokens;
    if (taken) return;
    left->n += tokens > 0;
    left->tokens += tokens;
}

void join_whole(struct shard_block *const b[], int k, int length, struct left_out *left)
{
    /* text or pairs: one side or two */
    struct joined j[SIDES] = { 0 };
    uint32_t examples = 0, sentences = b[0]->sentences;
    for (int i = 0; i < k; i++) {
        j[i].ids = mem_alloc(((size_t)b[i]->tokens + JOIN_WHOLE * (size_t)sentences)
                             * sizeof *j[i].ids);
        j[i].at = mem_alloc(((size_t)sentences + 1) * sizeof *j[i].at);
        j[i].at[0] = 0;
    }
    for (uint32_t s = 0; s < sentences; s++) {
        /* on all sides or on none: examples must stay parallel */
        bool full = !examples, taken = fits(b, k, s, length);
        count(b, k, s, taken, left);
        if (!taken) continue;
        for (int i = 0; i < k && !full; i++)
            full = j[i].n - j[i].at[examples - 1] + tokens_of(b[i], s) + 2 > (uint32_t)length;
        /* at[examples] is the end of the example that is being filled */
        examples += full;
        for (int i = 0; i < k; i++) {
            append(&j[i], b[i], s);
            j[i].at[examples] = j[i].n;
        }
    }
    for (int i = 0; i < k; i++) {
        shard_block_free(b[i]);
        *b[i] = (struct shard_block){ .ids = j[i].ids, .at = j[i].at, .sentences = examples,
                                      .tokens = j[i].n, .ids_cap = j[i].n,
                                      .at_cap = (size_t)examples + 1 };
    }
}

void join_stream(struct shard_block *b, int length)
{
    size_t total = (size_t)b->tokens + JOIN_STREAM * (size_t)b->sentences, n = 0;
    uint32_t *ids = mem_alloc(total * sizeof *ids);
    for (uint32_t s = 0; s < b->sentences; s++) {
        for (uint32_t i = b->at[s]; i < b->at[s + 1]; i++) ids[n++] = b->ids[i];
        ids[n++] = VOCAB_EOS;
    }
    uint32_t pieces = (uint32_t)((n + (size_t)length - 1) / (size_t)length);
    uint32_t *at = mem_alloc(((size_t)pieces + 1) * sizeof *at);
    /* the last piece may be shorter */
    for (uint32_t p = 0; p <= pieces; p++) at[p] = p < pieces ? p * (uint32_t)length : (uint32_t)n;
    shard_block_free(b);
    *b = (struct shard_block){ .ids = ids, .at = at, .sentences = pieces, .tokens = (uint32_t)n,
                               .ids_cap = total, .at_cap = (size_t)pieces + 1 };
}

void join_select(struct shard_block *b, const bool *keep)
{
    uint32_t n = 0, tokens = 0;
    for (uint32_t s = 0; s < b->sentences; s++) {
        uint32_t from = b->at[s], len = tokens_of(b, s);
        if (!keep[s]) continue;
        /* in place, towards the beginning: memmove, since the two may overlap */
        memmove(b->ids + tokens, b->ids + from, len * sizeof *b->ids);
        /* at[s] has been read: n is at most s */
        b->at[n++] = tokens;
        tokens += len;
    }
    b->at[n] = tokens;
    b->sentences = n;
    b->tokens = tokens;
}
