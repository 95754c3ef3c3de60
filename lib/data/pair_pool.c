#include "lib/data/pair_pool.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/rng.h"

const struct opt pair_limits_rows[] = {
    { "min-tokens", 0, OPT_INT(pair_limits, min_tokens), "N",
      "leave out pairs with a side of fewer than N tokens", .min = 1, .max = 4094 },
    { "max-tokens|max-seq-length", 0, OPT_INT(pair_limits, max_tokens), "N",
      "leave out pairs of more than N tokens, both sides together", .min = 2, .max = 8188 },
    { "pairs", 0, OPT_I64(pair_limits, most), "N",
      "use the first N pairs of each --parallel that are not left out; 0: all", .min = 0,
      .max = 4e9 },
    { "shuffle", 0, OPT_FLAG(pair_limits, shuffle), NULL,
      "choose at random, for each pair and epoch, which side the query encoder reads and which "
      "comes first in TLM" },
    { 0 }
};

static int by_size(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x < y) - (x > y);
}

/* The sum of the `batch` largest of n sizes, and the largest one: no batch can be larger, so this
 * is what memory is planned for. */
static int64_t largest(int *size, uint32_t n, int batch, int *longest)
{
    /* an upper bound, which no order of the pairs can pass */
    int64_t sum = 0;
    /* in place: the sizes are measure's own */
    qsort(size, n, sizeof *size, by_size);
    for (uint32_t i = 0; i < n && i < (uint32_t)batch; i++) sum += size[i];
    *longest = n ? size[0] : 0;
    return sum;
}

static void measure(struct pair_pool *p)
{
    int *side = mem_alloc((size_t)p->n * sizeof *side),
        *both = mem_alloc((size_t)p->n * sizeof *both);
    for (uint32_t i = 0; i < p->n; i++) {
        struct pair x = pair_at(&p->set[p->kept[i].set], p->kept[i].index);
        /* MoCo's encoders read one side each, and a toss decides which: so the longer one */
        side[i] = x.n[0] > x.n[1] ? x.n[0] : x.n[1];
        both[i] = x.n[0] + x.n[1];
    }
    p->most_side = largest(side, p->n, p->batch, &p->longest_side);
    p->most_pair = largest(both, p->n, p->batch, &p->longest_pair);
    free(side);
    free(both);
}

/* Keeps the pairs of set i that are within the limits; returns their number. */
static uint32_t keep(struct pair_pool *p, int i, int min, int max)
{
    const struct pairs *s = &p->set[i];
    uint32_t kept = 0;
    for (uint32_t k = 0; k < s->side[0].sentences; k++) {
        struct pair x = pair_at(s, k);
        /* of those that are kept (Pan et al. 2021: the first 250k, 600k, 2M) */
        if (p->limits.most > 0 && kept == p->limits.most) break;
        /* without specials, as the paper's limits are (10 on each side, 128 together) */
        if (x.n[0] < min || x.n[1] < min || x.n[0] + x.n[1] > max) continue;
        p->kept[p->n++] = (struct pooled){ (uint32_t)i, k };
        kept++;
    }
    return kept;
}

int pair_pool_open(struct pair_pool *p, const struct pairs *set, int n,
                   const struct pair_limits *limits, int batch, int positions,
                   void (*note)(const char *fmt, ...))
{
    size_t all = 0;
    /* <s> x </s> y </s> has three specials */
    int max = limits->max_tokens < positions - 3 ? limits->max_tokens : positions - 3;
    *p = (struct pair_pool){ .limits = *limits, .set = set, .n_sets = n, .batch = batch,
                             .order_epoch = -1, .micro = -1 };
    for (int i = 0; i < n; i++) all += set[i].side[0].sentences;
    p->kept = mem_alloc(all * sizeof *p->kept);
    for (int i = 0; i < n; i++) {
        uint32_t of = set[i].side[0].sentences, kept = keep(p, i, limits->min_tokens, max);
        if (!kept)
            return err_set("%s: none of its %u pairs has %d tokens or more on either side and at "
                           "most %d together; lower --min-tokens or raise --max-tokens",
                           set[i].name, of, limits->min_tokens, max);
        char fewer[48] = "";
        if (limits->most > kept)
            snprintf(fewer, sizeof fewer, ", fewer than --pairs %lld", (long long)limits->most);
        note("%s: %u of %u pairs are taken%s (%d tokens or more on either side, at most %d "
             "together)", set[i].name, kept, of, fewer, limits->min_tokens, max);
    }
    if (p->n < (uint32_t)batch)
        return err_set("%u pairs are left, fewer than a batch of %d; use a smaller --batch", p->n,
                       batch);
    p->now = mem_alloc((size_t)batch * sizeof *p->now);
    p->order = mem_alloc((size_t)p->n * sizeof *p->order);
    measure(p);
    return 0;
}

void pair_pool_state(struct pair_pool *p, struct state *s)
{
    state_data(s, &p->epoch, 0, "pairs.epoch");
    state_data(s, &p->next, p->n, "pairs.next");
    for (int i = 0; i < p->n_sets; i++) pairs_sum(&p->set[i], s);
}

static struct pair draw(struct pair_pool *p, uint64_t seed)
{
    if (p->next >= p->n) { p->epoch++; p->next = 0; }
    if (p->order_epoch != p->epoch) {
        /* corpora have 0 to 127, sets of pairs those from 1000 on */
        rng_permutation((struct rng_key){ seed, RNG_ORDER, 999 }, (uint64_t)p->epoch, p->order,
                        p->n);
        p->order_epoch = p->epoch;
    }
    uint32_t i = p->order[p->next++];
    struct pair x = pair_at(&p->set[p->kept[i].set], p->kept[i].index);
    /* its number in the pool: keys of masks and tosses differ between sets */
    x.index = i;
    x.epoch = p->epoch;
    return x;
}

const struct pair *pair_pool_take(struct pair_pool *p, int64_t micro, uint64_t seed)
{
    /* objectives of one micro-batch ask one after another, and get the same pairs */
    if (p->micro != micro)
        for (int i = 0; i < p->batch; i++) p->now[i] = draw(p, seed);
    p->micro = micro;
    return p->now;
}

void pair_pool_free(struct pair_pool *p)
{
    free(p->kept);
    free(p->order);
    free(p->now);
    memset(p, 0, sizeof *p);
}

int pair_pool_most_rows(const struct pair_pool *p, int longest)
{
    /* with <s> and </s> of both sides; masked_largest adds a sequence of `longest` to one row less
     * than this */
    return (int)p->most_pair + 4 * p->batch - longest + 1;
}
