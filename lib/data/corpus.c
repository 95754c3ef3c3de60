#include "lib/data/corpus.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/rng.h"

/* --- blocks of a text ------------------------------------------------------------------------- */

int cut_block(struct shard_block *b, const struct cut *cut, struct left_out *left)
{
    if (!cut->length) return 0;
    if (!join_fits(b, cut->whole ? JOIN_WHOLE : JOIN_STREAM))
        return err_set("joined, its sentences have more than 2^32 tokens; with a smaller "
                       "--text-memory it is read in blocks");
    if (cut->whole) join_whole(&b, 1, cut->length, left);
    else join_stream(b, cut->length);
    return 0;
}

/* --- what there is ---------------------------------------------------------------------------- */

struct count { struct text_blocks *b; uint64_t block; uint8_t *seen; };

static int count_block(void *ctx, const struct shard_block *x)
{
    struct count *c = ctx;
    struct text_blocks *b = c->b;
    /* as cut: what a block has in sentences are not its samples where they are joined */
    b->samples[c->block] = x->sentences;
    b->tokens[c->block++] = x->tokens;
    for (uint32_t i = 0; i < x->sentences; i++) {
        uint32_t n = x->at[i + 1] - x->at[i];
        /* one bin for all that are longer than any model reads */
        b->sizes.length[n > BLOCKS_LONGEST ? BLOCKS_LONGEST + 1 : n]++;
    }
    for (uint32_t i = 0; i < x->tokens; i++) c->seen[x->ids[i]] = 1;
    return 0;
}

/* The first of the blocks that rank r counts; those of the next one begin where its end. */
static uint64_t first_of(const struct text_blocks *b, int r, int size)
{
    /* by blocks, not by sentences: a rank reads whole blocks and nothing of the others' */
    return b->n * (uint64_t)r / (uint64_t)size;
}

static void left_out_add(struct left_out *to, const struct left_out *x)
{
    to->n += x->n;
    to->tokens += x->tokens;
    to->of += x->of;
    to->of_tokens += x->of_tokens;
}

static void merge(struct count *c, const unsigned char *from, int r, int size, size_t tokens)
{
    struct text_blocks *b = c->b;
    uint64_t at = first_of(b, r, size), n = first_of(b, r + 1, size) - at;
    struct text_sizes x;
    /* copied out: what comes over the network has no alignment */
    memcpy(&x, from, sizeof x);
    for (int i = 0; i < BLOCKS_LONGEST + 2; i++) b->sizes.length[i] += x.length[i];
    left_out_add(&b->sizes.left_out, &x.left_out);
    from += sizeof x;
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
    /* an all-gather has equal parts: room for the most blocks that a rank can have */
    size_t most = b->n / (size_t)size + 1, of_blocks = n * sizeof *b->samples,
           bytes = sizeof b->sizes + most * 2 * sizeof *b->samples + tokens;
    unsigned char *mine = mem_zero(bytes, 1), *all = mem_alloc((size_t)size * bytes);
    memcpy(mine, &b->sizes, sizeof b->sizes);
    memcpy(mine + sizeof b->sizes, b->samples + at, of_blocks);
    memcpy(mine + sizeof b->sizes + of_blocks, b->tokens + at, of_blocks);
    memcpy(mine + sizeof b->sizes + 2 * of_blocks, c->seen, tokens);
    int rc = ranks_all_gather(ranks, mine, all, bytes);
    /* this rank's own counts come back with those of all */
    memset(&b->sizes, 0, sizeof b->sizes);
    for (int r = 0; r < size && rc == 0; r++)
        merge(c, all + (size_t)r * bytes, r, size, tokens);
    free(all);
    free(mine);
    return rc;
}

/* What is cut away is added to *left. */
static int read_blocks(struct text_blocks *b, uint64_t from, uint64_t to, struct left_out *left,
                       int (*f)(void *ctx, const struct shard_block *b), void *ctx)
{
    for (uint64_t i = from; i < to; i++) {
        if (shard_read_block(b->shard, i, &b->one) < 0 || cut_block(&b->one, &b->cut, left) < 0
            || f(ctx, &b->one) < 0)
            return -1;
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
    /* b->order has 32 bits per block */
    if (b->n > UINT32_MAX) return err_set("%s: has more than 2^32 blocks", path);
    b->samples = mem_zero(b->n, sizeof *b->samples);
    b->tokens = mem_zero(b->n, sizeof *b->tokens);
    b->order = mem_alloc(b->n * sizeof *b->order);
    /* blocks are decompressed, which takes the time: each by one rank */
    uint64_t from = first_of(b, me, size), to = first_of(b, me + 1, size);
    struct count c = { b, from, mem_zero(info->vocab_size, 1) };
    /* One pass over the text before training: what a block has once it is cut is not in the shard's
     * index, and a group must be known by its size before it is read. */
    int rc = read_blocks(b, from, to, &b->sizes.left_out, count_block, &c);
    if (rc == 0 && size > 1) rc = share(&c, how->ranks, info->vocab_size);
    for (uint64_t i = 0; i < b->n; i++) {
        b->all_samples += b->samples[i];
        b->all_tokens += b->tokens[i];
    }
    b->seen = mem_alloc(info->vocab_size * sizeof *b->seen);
    for (uint32_t t = 0; t < info->vocab_size; t++)
        if (c.seen[t]) b->seen[b->n_seen++] = t;
    free(c.seen);
    return rc;
}

int text_blocks_each(struct text_blocks *b, int (*f)(void *ctx, const struct shard_block *b),
                     void *ctx)
{
    /* counted when the text was opened */
    struct left_out known = { 0 };
    return read_blocks(b, 0, b->n, &known, f, ctx);
}

void text_blocks_close(struct text_blocks *b)
{
    shard_close(b->shard);
    shard_block_free(&b->one);
    free(b->samples); free(b->tokens); free(b->seen); free(b->order); free(b->within);
    memset(b, 0, sizeof *b);
}

/* --- the group at hand ------------------------------------------------------------------------ */

/* Bytes that a block takes in memory: its tokens, the beginnings of its samples, and their
 * order. */
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
        /* in the epoch's order: groups differ from epoch to epoch, but not from run to run */
        bytes += bytes_of(b, block);
        /* a group has at least one block, whatever the memory, so that reading always goes on */
        /* the second: places in `at` have 32 bits */
        if (to > from && (bytes > b->memory || bytes / sizeof(uint32_t) > UINT32_MAX)) break;
        *samples += b->samples[block];
        *tokens += b->tokens[block];
    }
    return to;
}

static int read_group(struct text_blocks *b, struct rng_key key, uint64_t samples, uint64_t tokens,
                      struct shard_block *to)
{
    /* Released before the larger one is asked for: both together would be twice the memory that was
     * granted. */
    if (to->ids_cap < tokens + 1 || to->at_cap < samples + 1) {
        shard_block_free(to);
        to->ids_cap = tokens + 1;
        to->at_cap = samples + 1;
        to->ids = mem_alloc(to->ids_cap * sizeof *to->ids);
        to->at = mem_alloc(to->at_cap * sizeof *to->at);
    }
    struct left_out known = { 0 };
    to->sentences = to->tokens = 0;
    to->at[0] = 0;
    for (uint64_t k = b->from; k < b->to; k++) {
        if (shard_read_block(b->shard, b->order[k], &b->one) < 0
            || cut_block(&b->one, &b->cut, &known) < 0)
            return -1;
        /* The room was measured when the text was counted; a file that has grown since would write
         * beyond it. */
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
    /* Blocks in random order, and within a group its sentences: nearly a shuffle of the whole, with
     * one group in memory. 24 bits of group: 2^24 of even 1 MiB would be 16 TiB of text. */
    rng_permutation(key, (uint64_t)b->epoch << 24 | b->group, b->within, to->sentences);
    return 0;
}

int text_blocks_find(struct text_blocks *b, struct rng_key key, int64_t epoch, int64_t next,
                     struct shard_block *at_hand, uint32_t *i)
{
    bool new_epoch = epoch != b->epoch;
    uint64_t samples = at_hand->sentences, tokens;
    /* An earlier place is looked for from the epoch's beginning: groups follow from the order
     * alone. */
    if (new_epoch || next < b->first) {
        struct rng_key blocks = { key.seed, RNG_BLOCKS, key.step };
        /* a key of its own, or blocks and the samples of a group would be permuted alike */
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
        /* Groups before that place are skipped by their sizes, without reading them. */
        if (next >= b->first + (int64_t)samples) continue;
        /* epoch -1: half a group is in memory, and must not be taken for one */
        if (read_group(b, key, samples, tokens, at_hand) < 0) { b->epoch = -1; return -1; }
        there = true;
    }
    *i = b->within[next - b->first];
    return 0;
}

/* --- corpora ---------------------------------------------------------------------------------- */

/* Does the whole text take more than `memory`? A text from a pipe does not say how large it is. */
static bool is_large(const struct shard *s, size_t memory)
{
    struct shard_info info;
    shard_info(s, &info);
    return memory && 4.0 * ((double)info.tokens + 2.0 * (double)info.sentences) > (double)memory;
}

/* All ranks must have the same number of blocks to read, or none of them any. */
static int agree(struct ranks *ranks, uint64_t blocks)
{
    struct state size = { .summed = true };
    state_sum(&size, &blocks, sizeof blocks);
    return ranks_agree(ranks, size.data, "its training data");
}

static int read_text(struct corpus *c, const struct text_how *how)
{
    struct shard_info info = { .blocks = 0 };
    struct shard *s = shard_open(c->path);
    if (!s) return -1;
    bool large = is_large(s, how->memory);
    /* 0 blocks where the whole text is read: a rank that reads it by blocks then differs from one
     * that does not */
    if (large) shard_info(s, &info);
    int rc = how->ranks ? agree(how->ranks, info.blocks) : 0;
    if (rc == 0 && !large) rc = shard_read_all(s, &c->info, &c->all);
    shard_close(s);
    if (rc < 0 || !large) return rc;
    c->blocks = mem_zero(1, sizeof *c->blocks);
    return text_blocks_open(c->blocks, c->path, how, &c->info);
}

int corpus_load(struct corpus *c, const char *path, const char *lang, int lang_id,
                const struct vocab *v, const struct text_how *how,
                const struct unknown_options *unknown)
{
    const struct cut *cut = &how->cut;
    memset(c, 0, sizeof *c);
    c->path = path;
    if (read_text(c, how) < 0) return -1;
    /* ids of another vocabulary are valid numbers of other words: nothing else would show it */
    if (c->info.vocab_hash != v->hash || c->info.vocab_size != v->n)
        return err_set("%s: was made with another vocabulary than the one given (its hash "
                       "differs); run binarize again with it",
                       path);
    /* a shard need not say (docs/formats/shard.md) */
    if (*c->info.lang && *lang && strcmp(c->info.lang, lang))
        return err_set("%s: holds language %s, not %s", path, c->info.lang, lang);
    snprintf(c->lang, sizeof c->lang, "%s", lang);
    c->lang_id = lang_id;
    c->order_epoch = -1;
    if (c->info.tokens == 0) return err_set("%s: holds no token", path);
    struct unknown u = { c->info.tokens, c->info.unknown, false };
    if (unknown_judge(&u, unknown, path, UNKNOWN_SHARD) < 0) return -1;
    /* blocks are cut as they are read */
    if (!c->blocks && cut_block(&c->all, cut, &c->left_out) < 0)
        return err_set("%s: %s", path, err_msg());
    if (corpus_samples(c) > 0) return 0;
    return err_set("%s: no sentence has 1 to %d tokens, which is what an example of %d can hold",
                   c->path, cut->length - 2, cut->length);
}

int64_t corpus_samples(const struct corpus *c)
{
    return c->blocks ? c->blocks->all_samples : (int64_t)c->all.sentences;
}

double corpus_tokens(const struct corpus *c)
{
    return c->blocks ? c->blocks->all_tokens : (double)c->all.tokens;
}

int corpus_longest(const struct corpus *c, int most)
{
    int longest = 0;
    /* lengths were counted when the text was opened */
    if (c->blocks) {
        for (int n = 1; n <= most && n <= BLOCKS_LONGEST; n++)
            if (c->blocks->sizes.length[n] > 0) longest = n;
        return longest;
    }
    for (uint32_t s = 0; s < c->all.sentences; s++) {
        int n = (int)(c->all.at[s + 1] - c->all.at[s]);
        if (n <= most && n > longest) longest = n;
    }
    return longest;
}

struct left_out corpus_left_out(const struct corpus *c, int longest)
{
    const struct text_blocks *b = c->blocks;
    struct left_out x = { 0 };
    if (b && b->cut.length) return b->sizes.left_out;
    if (c->left_out.of > 0) return c->left_out;
    for (int n = 1; b && n <= BLOCKS_LONGEST + 1; n++) {
        x.of += b->sizes.length[n];
        if (n > longest) x.n += b->sizes.length[n];
        else x.tokens -= b->sizes.length[n] * n;
    }
    /* lengths above BLOCKS_LONGEST are not kept: what is left of all tokens */
    if (b) x.tokens += x.of_tokens = b->all_tokens;
    for (uint32_t s = 0; !b && s < c->all.sentences; s++) {
        uint32_t n = c->all.at[s + 1] - c->all.at[s];
        x.of += n > 0;
        x.of_tokens += n;
        if (n <= (uint32_t)longest) continue;
        x.n++;
        x.tokens += n;
    }
    return x;
}

int corpus_each(const struct corpus *c, int (*f)(void *ctx, const struct shard_block *b), void *ctx)
{
    return c->blocks ? text_blocks_each(c->blocks, f, ctx) : f(ctx, &c->all);
}

void corpus_free(struct corpus *c)
{
    shard_block_free(&c->all);
    if (c->blocks) text_blocks_close(c->blocks);
    free(c->blocks);
    free(c->part);
    free(c->order);
    memset(c, 0, sizeof *c);
}

void corpora_free(struct corpora *cs)
{
    for (int i = 0; i < cs->n; i++) corpus_free(&cs->c[i]);
    free(cs->below);
}

void corpora_size(const struct corpora *cs, int longest, double *sentences, double *tokens)
{
    *sentences = *tokens = 0;
    for (int i = 0; i < cs->n; i++) {
        /* by what was counted at opening: reading the text again would take as long as an epoch */
        const struct text_blocks *b = cs->c[i].blocks;
        for (int n = 1; b && n <= longest && n <= BLOCKS_LONGEST; n++) {
            *sentences += b->sizes.length[n];
            *tokens += b->sizes.length[n] * n;
        }
        for (uint32_t s = 0; !b && s < cs->c[i].all.sentences; s++) {
            uint32_t n = cs->c[i].all.at[s + 1] - cs->c[i].all.at[s];
            if (!n || n > (uint32_t)longest) continue;
            *sentences += 1;
            *tokens += n;
        }
    }
}

/* The state's sum of a text: its size and, of one that is read by blocks, the first ones, so that a
 * run is not continued with other text. */
static void sum_text(const struct corpus *c, struct state *s)
{
    /* the share of <unk> besides the sizes: text of another vocabulary shows in it */
    uint64_t size[] = { c->info.sentences, c->info.tokens, c->info.blocks, c->info.unknown };
    state_sum(s, size, sizeof size);
    state_sum(s, c->all.ids, c->all.tokens * sizeof *c->all.ids);
    state_sum(s, c->all.at, ((size_t)c->all.sentences + 1) * sizeof *c->all.at);
}

void corpora_state(struct corpora *cs, struct state *s)
{
    state_data(s, &cs->drawn, 0, "drawn");
    for (int i = 0; i < cs->n; i++) {
        state_data(s, &cs->c[i].epoch, 0, "%s.epoch", cs->c[i].lang);
        state_data(s, &cs->c[i].next, corpus_samples(&cs->c[i]), "%s.next", cs->c[i].lang);
        sum_text(&cs->c[i], s);
    }
}

/* Which sample of `all` comes next. */
static int next_place(const struct corpora *cs, int corpus, uint32_t *i)
{
    struct corpus *c = &cs->c[corpus];
    /* by the number of the corpus: two sides of a parallel text must not be read in step */
    struct rng_key key = { cs->seed, RNG_ORDER, (uint32_t)corpus };
    if (c->blocks) return text_blocks_find(c->blocks, key, c->epoch, c->next, &c->all, i);
    if (c->order_epoch != c->epoch) {
        if (!c->order) c->order = mem_alloc((size_t)c->all.sentences * sizeof *c->order);
        rng_permutation(key, (uint64_t)c->epoch, c->order, c->all.sentences);
        /* the permutation is a function of the seed, the corpus and the epoch: a checkpoint holds
         * two numbers instead of an order */
        c->order_epoch = c->epoch;
    }
    *i = c->order[c->next];
    return 0;
}

int corpora_init(struct corpora *cs, struct corpus *c, int n, double alpha, uint64_t seed)
{
    memset(cs, 0, sizeof *cs);
    cs->c = c; cs->n = n; cs->seed = seed;
    /* Lample and Conneau 2019 (XLM, section 3.1): p_i = n_i^alpha / sum n_j^alpha, which with alpha
     * < 1 gives small languages more than their share. Drawn as a number below a bound, in
     * integers. */
    cs->below = mem_alloc((size_t)n * sizeof *cs->below);
    double all = 0, sum = 0;
    /* sentences, not tokens, as XLM counts */
    for (int i = 0; i < n; i++) all += pow((double)corpus_samples(&c[i]), alpha);
    for (int i = 0; i < n; i++) {
        sum += pow((double)corpus_samples(&c[i]), alpha);
        /* the last bound is all that is left, whatever rounding did */
        cs->below[i] = i + 1 < n ? (uint32_t)(sum / all * 4294967295.0) : UINT32_MAX;
    }
    /* the first group is read now: memory is planned next, and has to count it */
    for (int i = 0; i < n; i++) {
        uint32_t first;
        if (c[i].blocks && next_place(cs, i, &first) < 0) return -1;
    }
    return 0;
}

int corpora_next_of(struct corpora *cs, int corpus, int longest, struct sample *s)
{
    struct corpus *c = &cs->c[corpus];
    int64_t all = corpus_samples(c);
    /* twice the samples: the only one that fits may come first in one epoch and last in the next */
    for (int64_t tried = 0; tried < 2 * all;
         tried++) {
        uint32_t i;
        /* before a draw, so a checkpoint may hold next = all (its range in state.json) */
        if (c->next >= all) { c->epoch++; c->next = 0; }
        if (next_place(cs, corpus, &i) < 0) return -1;
        c->next++;
        uint32_t n = c->all.at[i + 1] - c->all.at[i];
        if (n == 0 || n > (uint32_t)longest) continue;
        /* drawn numbers what is given out, and that number keys masks and dropout */
        *s = (struct sample){ c->all.ids + c->all.at[i], (int)n, corpus, c->lang_id,
                              (uint64_t)cs->drawn++ };
        return 0;
    }
    return err_set("no sentence of %s has 1 to %d tokens", c->lang, longest);
}

int corpora_next(struct corpora *cs, int longest, struct sample *s)
{
    struct rng_key key = { cs->seed, RNG_LANG, 0 };
    /* by the number of samples drawn so far, which a checkpoint holds: the languages' order goes on
     * with it */
    uint32_t u = rng_u32(key, (uint64_t)cs->drawn, 0);
    int i = 0;
    while (u >= cs->below[i] && i + 1 < cs->n) i++;
    return corpora_next_of(cs, i, longest, s);
}
