#include "lib/data/corpus.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/rng.h"
#include "lib/data/join.h"

int corpus_load(struct corpus *c, const char *path, const char *lang, int lang_id,
                const struct vocab *v)
{
    memset(c, 0, sizeof *c);
    c->path = path;
    if (shard_load(path, &c->info, &c->all) < 0) return -1;
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
    return 0;
}

void corpus_to_stream(struct corpus *c, int length)
{
    struct shard_block *b = &c->all;
    size_t total = (size_t)b->tokens + b->sentences, n = 0;
    uint32_t *ids = mem_alloc(total * sizeof *ids);
    for (uint32_t s = 0; s < b->sentences; s++) {
        for (uint32_t i = b->at[s]; i < b->at[s + 1]; i++) ids[n++] = b->ids[i];
        ids[n++] = VOCAB_EOS;
    }
    uint32_t pieces = (uint32_t)((n + (size_t)length - 1) / (size_t)length);
    uint32_t *at = mem_alloc(((size_t)pieces + 1) * sizeof *at);
    for (uint32_t p = 0; p <= pieces; p++) at[p] = p < pieces ? p * (uint32_t)length : (uint32_t)n;
    free(b->ids);
    free(b->at);
    b->ids = ids; b->at = at; b->ids_cap = total; b->at_cap = (size_t)pieces + 1;
    b->sentences = pieces; b->tokens = (uint32_t)n;
}

int corpus_join(struct corpus *c, int length)
{
    struct shard_block *b = &c->all;
    join_whole(&b, 1, length);
    if (c->all.sentences) return 0;
    return err_set("%s: no sentence has from 1 to %d tokens, which is what an example of %d holds",
                   c->path, length - 2, length);
}

void corpus_free(struct corpus *c)
{
    shard_block_free(&c->all);
    free(c->order);
    memset(c, 0, sizeof *c);
}

int corpora_init(struct corpora *cs, struct corpus *c, int n, double alpha, uint64_t seed)
{
    memset(cs, 0, sizeof *cs);
    cs->c = c; cs->n = n; cs->seed = seed;
    cs->below = mem_alloc((size_t)n * sizeof *cs->below);
    double all = 0, sum = 0;
    for (int i = 0; i < n; i++) all += pow(c[i].all.sentences, alpha);
    for (int i = 0; i < n; i++) {
        sum += pow(c[i].all.sentences, alpha);
        cs->below[i] = i + 1 < n ? (uint32_t)(sum / all * 4294967295.0) : UINT32_MAX;
    }
    return 0;
}

void corpora_free(struct corpora *cs)
{
    for (int i = 0; i < cs->n; i++) corpus_free(&cs->c[i]);
    free(cs->below);
}

void corpora_size(const struct corpora *cs, int longest, double *sentences, double *tokens)
{
    *sentences = *tokens = 0;
    for (int i = 0; i < cs->n; i++)
        for (uint32_t s = 0; s < cs->c[i].all.sentences; s++) {
            uint32_t n = cs->c[i].all.at[s + 1] - cs->c[i].all.at[s];
            if (!n || n > (uint32_t)longest) continue;
            *sentences += 1;
            *tokens += n;
        }
}

void corpora_state(struct corpora *cs, struct state *s)
{
    state_data(s, &cs->drawn, 0, "drawn");
    for (int i = 0; i < cs->n; i++) {
        state_data(s, &cs->c[i].epoch, 0, "%s.epoch", cs->c[i].lang);
        state_data(s, &cs->c[i].next, cs->c[i].all.sentences, "%s.next", cs->c[i].lang);
    }
}

int corpora_next_of(struct corpora *cs, int corpus, int longest, struct sample *s)
{
    struct corpus *c = &cs->c[corpus];
    for (uint64_t tried = 0; tried < 2 * (uint64_t)c->all.sentences;
         tried++) { /* the only good one: first in one order, last in the next */
        if (c->next >= c->all.sentences) { c->epoch++; c->next = 0; }
        if (c->order_epoch != c->epoch) {
            if (!c->order) c->order = mem_alloc((size_t)c->all.sentences * sizeof *c->order);
            struct rng_key key = { cs->seed, RNG_ORDER, (uint32_t)corpus };
            rng_permutation(key, (uint64_t)c->epoch, c->order, c->all.sentences);
            c->order_epoch = c->epoch;
        }
        uint32_t i = c->order[c->next++];
        uint32_t n = c->all.at[i + 1] - c->all.at[i];
        if (n == 0 || n > (uint32_t)longest) continue;
        *s = (struct sample){ c->all.ids + c->all.at[i], (int)n, corpus, c->lang_id,
                              (uint64_t)cs->drawn++ };
        return 0;
    }
    return err_set("no sentence of %s has from 1 to %d tokens", c->lang, longest);
}

int corpora_next(struct corpora *cs, int longest, struct sample *s)
{
    struct rng_key key = { cs->seed, RNG_LANG, 0 };
    uint32_t u = rng_u32(key, (uint64_t)cs->drawn, 0);
    int i = 0;
    while (u >= cs->below[i] && i + 1 < cs->n) i++;
    return corpora_next_of(cs, i, longest, s);
}
