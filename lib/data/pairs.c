#include "lib/data/pairs.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/rng.h"
#include "common/text/affix.h"
#include "common/text/text.h"

static bool is_shard(const char *path) { return str_ends(path, ".shd"); }

static int load_text(struct shard_block *b, const char *path, struct raw_reader *r)
{
    struct text *in = text_open(path, TEXT_UTF8);
    const char *line;
    size_t n;
    int rc;
    memset(b, 0, sizeof *b);
    if (!in) return -1;
    mem_room(&b->at, &b->at_cap, 1, sizeof *b->at);
    b->at[0] = 0;
    while ((rc = text_line(in, &line, &n)) > 0) {
        /* an empty line stays a sentence: line i of one side belongs to line i of the other */
        if ((rc = reader_line(r, line, n)) < 0) { text_fail(in); break; }
        /* places have 32 bits, as in a shard that is read whole */
        if ((uint64_t)b->tokens + r->n > UINT32_MAX || b->sentences >= UINT32_MAX - 1) {
            rc = err_set("%s: has more than 2^32 tokens or sentences", path);
            break;
        }
        mem_room(&b->ids, &b->ids_cap, b->tokens + r->n, sizeof *b->ids);
        mem_room(&b->at, &b->at_cap, (size_t)b->sentences + 2, sizeof *b->at);
        if (r->n) memcpy(b->ids + b->tokens, r->id, r->n * sizeof *r->id);
        b->tokens += (uint32_t)r->n;
        b->at[++b->sentences] = b->tokens;
    }
    text_close(in);
    /* the share of <unk> is judged of the whole text */
    return rc < 0 ? -1 : reader_end(r);
}

static int load_shard(struct shard_block *b, const char *path, const char *lang,
                      const struct vocab *v, const struct reader_options *how)
{
    struct shard_info info;
    /* a shard is known by its name: a text that is called so would be read as one */
    if (how->raw) return err_set("%s: is a shard, of tokens; --raw reads plain text", path);
    if (shard_load(path, &info, b) < 0) return -1;
    if (info.vocab_hash != v->hash || info.vocab_size != v->n)
        return err_set("%s: was made with another vocabulary than the model's", path);
    struct unknown u = { info.tokens, info.unknown, false };
    return *info.lang && strcmp(info.lang, lang)
               ? err_set("%s: holds language %s, not %s", path, info.lang, lang)
               : unknown_judge(&u, &how->unknown, path, UNKNOWN_SHARD);
}

static int load_side(struct shard_block *b, const char *path, const char *lang,
                     const struct vocab *v, const struct reader_options *how, const char *dir)
{
    if (is_shard(path)) return load_shard(b, path, lang, v, how);
    struct raw_reader *r = reader_open(how, dir, lang, v, path);
    int rc = r ? load_text(b, path, r) : -1;
    reader_close(r);
    return rc;
}

int pairs_load(struct pairs *p, const struct model_config *c, const struct vocab *v,
               char *const path[2], const char (*lang)[32], const struct reader_options *how,
               const char *dir)
{
    memset(p, 0, sizeof *p);
    p->order_epoch = -1;
    snprintf(p->name, sizeof p->name, "%s-%s", lang[0], lang[1]);
    for (int i = 0; i < 2; i++)
        if ((p->lang[i] = model_config_lang(c, lang[i])) < 0
            || load_side(&p->side[i], path[i], lang[i], v, how, dir) < 0)
            return -1;
    /* line i belongs to line i: one line more or less and all pairs after it are wrong */
    if (p->side[0].sentences != p->side[1].sentences)
        return err_set(
            "%s has %u sentences and %s has %u; parallel text must have as many on both sides",
            path[0], p->side[0].sentences, path[1], p->side[1].sentences);
    if (!p->side[0].sentences) return err_set("%s: is empty", path[0]);
    return 0;
}

void pairs_free(struct pairs *p)
{
    shard_block_free(&p->side[0]);
    shard_block_free(&p->side[1]);
    free(p->order);
    memset(p, 0, sizeof *p);
}

void pairs_keep(struct pairs *p, double share, uint64_t seed, int set)
{
    uint32_t n = p->side[0].sentences, most = (uint32_t)lround(share * n);
    uint32_t *order = mem_alloc((size_t)n * sizeof *order);
    bool *keep = mem_zero(n, sizeof *keep);
    /* Drawn by a permutation and kept in the text's order: a larger share has the pairs of a
     * smaller one. */
    rng_permutation((struct rng_key){ seed, RNG_SUBSET, (uint32_t)set }, 0, order, n);
    /* a share that rounds to none keeps one pair, rather than ending the run */
    for (uint32_t i = 0; i < n && i < (most ? most : 1); i++) keep[order[i]] = true;
    for (int s = 0; s < 2; s++) join_select(&p->side[s], keep);
    free(order);
    free(keep);
}

int pairs_join(struct pairs *p, int length)
{
    struct shard_block *side[2] = { &p->side[0], &p->side[1] };
    if (!join_fits(side[0], JOIN_WHOLE) || !join_fits(side[1], JOIN_WHOLE))
        return err_set("%s: joined, its sentences have more than 2^32 tokens on a side", p->name);
    join_whole(side, 2, length, &p->left_out);
    if (p->side[0].sentences) return 0;
    return err_set("%s: no pair of sentences has 1 to %d tokens on both sides, which is what an "
                   "example of %d can hold",
                   p->name, length - 2, length);
}

double pairs_size(const struct pairs *p, int longest, double *tokens, struct left_out *left)
{
    double n = 0;
    bool joined = p->left_out.of > 0;
    *tokens = 0;
    *left = p->left_out;
    for (uint32_t i = 0; i < p->side[0].sentences; i++) {
        struct pair x = pair_at(p, i);
        double both = (double)x.n[0] + x.n[1];
        bool taken = joined || (x.n[0] >= 1 && x.n[1] >= 1 && x.n[0] <= longest
                                && x.n[1] <= longest);
        n += taken;
        *tokens += taken ? both : 0;
        if (joined) continue;
        left->of += both > 0;
        left->of_tokens += both;
        left->n += !taken && both > 0;
        left->tokens += taken ? 0 : both;
    }
    return n;
}

void pairs_sum(const struct pairs *p, struct state *s)
{
    for (int i = 0; i < 2; i++) {
        const struct shard_block *b = &p->side[i];
        /* the tokens and where sentences end: the same tokens may be cut otherwise */
        state_sum(s, b->ids, b->tokens * sizeof *b->ids);
        state_sum(s, b->at, ((size_t)b->sentences + 1) * sizeof *b->at);
    }
}

void pairs_state(struct pairs *p, int set, struct state *s)
{
    /* SRC-TGT may be given twice: the number keeps their names and orders apart */
    p->set = set;
    state_data(s, &p->epoch, 0, "pairs.%d.%s.epoch", set, p->name);
    state_data(s, &p->next, p->side[0].sentences, "pairs.%d.%s.next", set, p->name);
    pairs_sum(p, s);
}

int pairs_next(struct pairs *p, uint64_t seed, int longest, struct pair *to)
{
    /* twice, since the only pair that fits may come first in one epoch and last in the next */
    for (uint64_t tried = 0; tried < 2 * (uint64_t)p->side[0].sentences; tried++) {
        if (p->next >= p->side[0].sentences) { p->epoch++; p->next = 0; }
        if (p->order_epoch != p->epoch) {
            if (!p->order) p->order = mem_alloc((size_t)p->side[0].sentences * sizeof *p->order);
            /* corpora have the numbers from 0 on */
            struct rng_key key = { seed, RNG_ORDER, (uint32_t)(1000 + p->set) };
            rng_permutation(key, (uint64_t)p->epoch, p->order, p->side[0].sentences);
            p->order_epoch = p->epoch;
        }
        *to = pair_at(p, p->order[p->next++]);
        if (to->n[0] >= 1 && to->n[1] >= 1 && to->n[0] <= longest && to->n[1] <= longest) return 0;
    }
    return err_set("%s: no pair of sentences has 1 to %d tokens on both sides", p->name,
                   longest);
}

struct pair pair_at(const struct pairs *p, uint32_t i)
{
    struct pair x = { .lang = { p->lang[0], p->lang[1] }, .index = i, .epoch = p->epoch };
    for (int s = 0; s < 2; s++) {
        x.ids[s] = p->side[s].ids + p->side[s].at[i];
        x.n[s] = (int)(p->side[s].at[i + 1] - p->side[s].at[i]);
    }
    return x;
}

struct pair pair_toss(struct pair p, uint64_t seed)
{
    /* by pair and epoch, not by micro-batch: all objectives that see the pair turn it alike */
    struct rng_key key = { seed, RNG_TOSS, (uint32_t)p.epoch };
    if (!(rng_u32(key, p.index, 0) & 1)) return p;
    return (struct pair){ .ids = { p.ids[1], p.ids[0] },
                          .n = { p.n[1], p.n[0] },
                          .lang = { p.lang[1], p.lang[0] },
                          .index = p.index,
                          .epoch = p.epoch };
}
