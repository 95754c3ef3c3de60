#include "lib/data/blocks.h"
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "lib/data/join.h"

void cut_block(struct shard_block *b, const struct cut *cut)
{
    if (cut->length && cut->whole) join_whole(&b, 1, cut->length);
    else if (cut->length) join_stream(b, cut->length);
}

/* --- what there is ---------------------------------------------------------------------------- */

struct count { struct text_blocks *b; uint64_t block; uint8_t *seen; };

static int count_block(void *ctx, const struct shard_block *x)
{
    struct count *c = ctx;
    struct text_blocks *b = c->b;
    b->samples[c->block] = x->sentences;
    b->tokens[c->block++] = x->tokens;
    for (uint32_t i = 0; i < x->sentences; i++) {
        uint32_t n = x->at[i + 1] - x->at[i];
        b->length[n > BLOCKS_LONGEST ? BLOCKS_LONGEST + 1 : n]++;
    }
    for (uint32_t i = 0; i < x->tokens; i++) c->seen[x->ids[i]] = 1;
    return 0;
}

/* The first of the blocks that rank r counts; those of the next one begin where its end. */
static uint64_t first_of(const struct text_blocks *b, int r, int size)
{
    return b->n * (uint64_t)r / (uint64_t)size;
}

static void merge(struct count *c, const unsigned char *from, int r, int size, size_t tokens)
{
    struct text_blocks *b = c->b;
    uint64_t at = first_of(b, r, size), n = first_of(b, r + 1, size) - at;
    double length[BLOCKS_LONGEST + 2];
    memcpy(length, from, sizeof length);
    for (int i = 0; i < BLOCKS_LONGEST + 2; i++) b->length[i] += length[i];
    from += sizeof length;
    memcpy(b->samples + at, from, n * sizeof *b->samples);
    memcpy(b->tokens + at, from + n * sizeof *b->samples, n * sizeof *b->tokens);
    from += n * (sizeof *b->samples + sizeof *b->tokens);
    for (size_t t = 0; t < tokens; t++) c->seen[t] |= from[t];
}

/* Every rank has counted its part: lengths, sizes of blocks and tokens that occur go to all. */
static int share(struct count *c, struct ranks *ranks, size_t tokens)
{
    struct text_blocks *b = c->b;
    int me = ranks_rank(ranks), size = ranks_size(ranks);
    uint64_t at = first_of(b, me, size), n = first_of(b, me + 1, size) - at;
    size_t most = b->n / (size_t)size + 1, of_blocks = n * sizeof *b->samples,
           bytes = sizeof b->length + most * 2 * sizeof *b->samples + tokens;
    unsigned char *mine = mem_zero(bytes, 1), *all = mem_alloc((size_t)size * bytes);
    memcpy(mine, b->length, sizeof b->length);
    memcpy(mine + sizeof b->length, b->samples + at, of_blocks);
    memcpy(mine + sizeof b->length + of_blocks, b->tokens + at, of_blocks);
    memcpy(mine + sizeof b->length + 2 * of_blocks, c->seen, tokens);
    int rc = ranks_all_gather(ranks, mine, all, bytes);
    memset(b->length, 0, sizeof b->length);
    for (int r = 0; r < size && rc == 0; r++)
        merge(c, all + (size_t)r * bytes, r, size, tokens);
    free(all);
    free(mine);
    return rc;
}

static int read_blocks(struct text_blocks *b, uint64_t from, uint64_t to,
                       int (*f)(void *ctx, const struct shard_block *b), void *ctx)
{
    for (uint64_t i = from; i < to; i++) {
        if (shard_read_block(b->shard, i, &b->one) < 0) return -1;
        cut_block(&b->one, &b->cut);
        if (f(ctx, &b->one) < 0) return -1;
    }
    return 0;
}

int text_blocks_open(struct text_blocks *b, const char *path, const struct text_how *how,
                     struct shard_info *info)
{
    int me = ranks_rank(how->ranks), size = ranks_size(how->ranks);
    memset(b, 0, sizeof *b);
    b->cut = how->cut;
    b->memory = how->memory;
    b->epoch = -1;
    if (!(b->shard = shard_open(path))) return -1;
    shard_info(b->shard, info);
    b->n = info->blocks;
    if (b->n > UINT32_MAX) return err_set("%s: has more than 2^32 blocks", path);
    b->samples = mem_zero(b->n + 1, sizeof *b->samples);
    b->tokens = mem_zero(b->n + 1, sizeof *b->tokens);
    b->order = mem_alloc((b->n + 1) * sizeof *b->order);
    uint64_t from = first_of(b, me, size), to = first_of(b, me + 1, size);
    struct count c = { b, from, mem_zero((size_t)info->vocab_size + 1, 1) };
    int rc = read_blocks(b, from, to, count_block, &c);
    if (rc == 0 && size > 1) rc = share(&c, how->ranks, info->vocab_size);
    for (uint64_t i = 0; i < b->n; i++) {
        b->all_samples += b->samples[i];
        b->all_tokens += b->tokens[i];
    }
    b->seen = mem_alloc(((size_t)info->vocab_size + 1) * sizeof *b->seen);
    for (uint32_t t = 0; t < info->vocab_size; t++)
        if (c.seen[t]) b->seen[b->n_seen++] = t;
    free(c.seen);
    return rc;
}

int text_blocks_each(struct text_blocks *b, int (*f)(void *ctx, const struct shard_block *b),
                     void *ctx)
{
    return read_blocks(b, 0, b->n, f, ctx);
}

void text_blocks_close(struct text_blocks *b)
{
    shard_close(b->shard);
    shard_block_free(&b->one);
    free(b->samples); free(b->tokens); free(b->seen); free(b->order); free(b->within);
    memset(b, 0, sizeof *b);
}

/* --- the group at hand ------------------------------------------------------------------------ */

/* Tokens, where samples begin, and their order. */
static size_t bytes_of(const struct text_blocks *b, uint32_t block)
{
    return sizeof(uint32_t) * ((size_t)b->tokens[block] + 2 * (size_t)b->samples[block]);
}

/* The end of the group that begins at place `from` of the order, and what it has. */
static uint64_t group_end(const struct text_blocks *b, uint64_t from, uint64_t *samples,
                          uint64_t *tokens)
{
    uint64_t to = from;
    size_t bytes = 0;
    *samples = *tokens = 0;
    for (; to < b->n; to++) {
        uint32_t block = b->order[to];
        bytes += bytes_of(b, block);
        if (to > from && (bytes > b->memory || bytes / sizeof(uint32_t) > UINT32_MAX)) break;
        *samples += b->samples[block];
        *tokens += b->tokens[block];
    }
    return to;
}

static int read_group(struct text_blocks *b, struct rng_key key, uint64_t samples, uint64_t tokens,
                      struct shard_block *to)
{
    if (to->ids_cap < tokens + 1 || to->at_cap < samples + 1) {
        shard_block_free(to);
        to->ids_cap = tokens + 1;
        to->at_cap = samples + 1;
        to->ids = mem_alloc(to->ids_cap * sizeof *to->ids);
        to->at = mem_alloc(to->at_cap * sizeof *to->at);
    }
    to->sentences = to->tokens = 0;
    to->at[0] = 0;
    for (uint64_t k = b->from; k < b->to; k++) {
        if (shard_read_block(b->shard, b->order[k], &b->one) < 0) return -1;
        cut_block(&b->one, &b->cut);
        if (to->sentences + (uint64_t)b->one.sentences > samples
            || to->tokens + (uint64_t)b->one.tokens > tokens)
            return err_set("a shard of training text changed while it was being read; start again");
        memcpy(to->ids + to->tokens, b->one.ids, b->one.tokens * sizeof *to->ids);
        for (uint32_t i = 1; i <= b->one.sentences; i++)
            to->at[to->sentences + i] = to->tokens + b->one.at[i];
        to->sentences += b->one.sentences;
        to->tokens += b->one.tokens;
    }
    if (b->cap < samples) {
        free(b->within);
        b->within = mem_alloc((b->cap = samples) * sizeof *b->within);
    }
    rng_permutation(key, (uint64_t)b->epoch << 24 | b->group, b->within, to->sentences);
    return 0;
}

int text_blocks_find(struct text_blocks *b, struct rng_key key, int64_t epoch, int64_t next,
                     struct shard_block *at_hand, uint32_t *i)
{
    bool new_epoch = epoch != b->epoch;
    uint64_t samples = at_hand->sentences, tokens;
    if (new_epoch || next < b->first) {
        struct rng_key blocks = { key.seed, RNG_BLOCKS, key.step };
        if (new_epoch) rng_permutation(blocks, (uint64_t)epoch, b->order, (uint32_t)b->n);
        b->epoch = epoch;
        b->from = b->to = b->group = 0;
        b->first = 0;
        samples = 0;
    }
    bool there = b->to > b->from && next < b->first + (int64_t)samples;
    while (!there) {
        b->first += (int64_t)samples;
        b->group += b->to > 0;
        b->from = b->to;
        b->to = group_end(b, b->from, &samples, &tokens);
        if (b->to == b->from) return err_set("no sample %lld in an epoch", (long long)next);
        if (next >= b->first + (int64_t)samples) continue;
        if (read_group(b, key, samples, tokens, at_hand) < 0) { b->epoch = -1; return -1; }
        there = true;
    }
    *i = b->within[next - b->first];
    return 0;
}
