#include "lib/data/corpus.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/rng.h"

/* Takes the text as a whole more than `memory`? What comes through a pipe does not say. */
static bool is_large(const struct shard *s, size_t memory)
{
    struct shard_info info;
    shard_info(s, &info);
    return memory && 4.0 * ((double)info.tokens + 2.0 * (double)info.sentences) > (double)memory;
}

/* Have all ranks as many blocks to read, or none of them any? */
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
    if (c->info.vocab_hash != v->hash || c->info.vocab_size != v->n)
        return err_set("%s: was made with another vocabulary than the one given (its hash "
                       "differs); run binarize again with it",
                       path);
    if (*c->info.lang && *lang && strcmp(c->info.lang, lang))
        return err_set("%s: holds language %s, not %s", path, c->info.lang, lang);
    snprintf(c->lang, sizeof c->lang, "%s", lang);
    c->lang_id = lang_id;
    c->order_epoch = -1;
    if (c->info.tokens == 0) return err_set("%s: holds no token", path);
    struct unknown u = { c->info.tokens, c->info.unknown, false };
    if (unknown_judge(&u, unknown, path, UNKNOWN_SHARD) < 0) return -1;
    if (!c->blocks) cut_block(&c->all, cut);
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
    if (c->blocks) {
        for (int n = 1; n <= most && n <= BLOCKS_LONGEST; n++)
            if (c->blocks->length[n] > 0) longest = n;
        return longest;
    }
    for (uint32_t s = 0; s < c->all.sentences; s++) {
        int n = (int)(c->all.at[s + 1] - c->all.at[s]);
        if (n <= most && n > longest) longest = n;
    }
    return longest;
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
        const struct text_blocks *b = cs->c[i].blocks;
        for (int n = 1; b && n <= longest && n <= BLOCKS_LONGEST; n++) {
            *sentences += b->length[n];
            *tokens += b->length[n] * n;
        }
        for (uint32_t s = 0; !b && s < cs->c[i].all.sentences; s++) {
            uint32_t n = cs->c[i].all.at[s + 1] - cs->c[i].all.at[s];
            if (!n || n > (uint32_t)longest) continue;
            *sentences += 1;
            *tokens += n;
        }
    }
}

/* Of a text that is read by blocks: how much it is, and its first ones. */
static void sum_text(const struct corpus *c, struct state *s)
{
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
    struct rng_key key = { cs->seed, RNG_ORDER, (uint32_t)corpus };
    if (c->blocks) return text_blocks_find(c->blocks, key, c->epoch, c->next, &c->all, i);
    if (c->order_epoch != c->epoch) {
        if (!c->order) c->order = mem_alloc((size_t)c->all.sentences * sizeof *c->order);
        rng_permutation(key, (uint64_t)c->epoch, c->order, c->all.sentences);
        c->order_epoch = c->epoch;
    }
    *i = c->order[c->next];
    return 0;
}

int corpora_init(struct corpora *cs, struct corpus *c, int n, double alpha, uint64_t seed)
{
    memset(cs, 0, sizeof *cs);
    cs->c = c; cs->n = n; cs->seed = seed;
    cs->below = mem_alloc((size_t)n * sizeof *cs->below);
    double all = 0, sum = 0;
    for (int i = 0; i < n; i++) all += pow((double)corpus_samples(&c[i]), alpha);
    for (int i = 0; i < n; i++) {
        sum += pow((double)corpus_samples(&c[i]), alpha);
        cs->below[i] = i + 1 < n ? (uint32_t)(sum / all * 4294967295.0) : UINT32_MAX;
    }
    /* what is to be held is held from now on: a plan of memory comes next */
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
    for (int64_t tried = 0; tried < 2 * all;
         tried++) { /* the only good one: first in one order, last in the next */
        uint32_t i;
        if (c->next >= all) { c->epoch++; c->next = 0; }
        if (next_place(cs, corpus, &i) < 0) return -1;
        c->next++;
        uint32_t n = c->all.at[i + 1] - c->all.at[i];
        if (n == 0 || n > (uint32_t)longest) continue;
        *s = (struct sample){ c->all.ids + c->all.at[i], (int)n, corpus, c->lang_id,
                              (uint64_t)cs->drawn++ };
        return 0;
    }
    return err_set("no sentence of %s has 1 to %d tokens", c->lang, longest);
}

int corpora_next(struct corpora *cs, int longest, struct sample *s)
{
    struct rng_key key = { cs->seed, RNG_LANG, 0 };
    uint32_t u = rng_u32(key, (uint64_t)cs->drawn, 0);
    int i = 0;
    while (u >= cs->below[i] && i + 1 < cs->n) i++;
    return corpora_next_of(cs, i, longest, s);
}
