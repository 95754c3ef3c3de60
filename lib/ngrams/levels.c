#include "lib/ngrams/levels.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/thread.h"
#include "lib/ngrams/tally.h"

enum { BLOCK = 1 << 16, BATCH = 256, M = 1 << 20, LEAST = 1 << 18 };

/* Bytes resident now. */
static size_t resident(void)
{
    FILE *f = fopen("/proc/self/statm", "re");
    unsigned long size, pages = 0;
    if (f && fscanf(f, "%lu %lu", &size, &pages) != 2) pages = 0;
    if (f) fclose(f);
    return pages ? pages * (size_t)sysconf(_SC_PAGESIZE) : mem_peak();
}

size_t levels_room(const struct ngrams_options *o, size_t least)
{
    size_t fixed = resident() + (size_t)o->threads * BLOCK * 8 + 2 * M;
    if (o->memory >= fixed + least) return o->memory - fixed;
    err_set("--memory %.0fM is too little for the n-grams found so far; give at least %zuM",
            (double)o->memory / M, (fixed + least) / M + 1);
    return 0;
}

/* --- the text, block by block --- */

struct walk {
    const struct levels *l;
    int (*fn)(void *ctx, const struct levels_block *b);
    void *ctx;
    uint32_t **buf;
};

static int walk_block(void *ctx, size_t i, int thread)
{
    struct walk *w = ctx;
    const struct spool *s = w->l->text;
    uint64_t around = (uint64_t)w->l->o->longest - 1, at = (uint64_t)i * BLOCK, end = at + BLOCK;
    if (end > s->n) end = s->n;
    uint64_t from = at > around ? at - around : 0, to = end + around < s->n ? end + around : s->n;
    if (!w->buf[thread]) w->buf[thread] = mem_alloc((BLOCK + 2 * NGRAMS_LONGEST) * sizeof **w->buf);
    size_t want = (size_t)(to - from) * sizeof **w->buf, have = 0;
    while (have < want) {
        ssize_t got = pread(fileno(s->file), (char *)w->buf[thread] + have, want - have,
                            (off_t)(from * sizeof **w->buf + have));
        if (got <= 0)
            return err_sys("%s: cannot read a temporary file",
                           w->l->o->tmp ? w->l->o->tmp : "TMPDIR");
        have += (size_t)got;
    }
    struct levels_block b = { w->buf[thread], (size_t)(to - from), (size_t)(at - from),
                              (size_t)(end - from), thread };
    return w->fn(w->ctx, &b);
}

int levels_each(const struct levels *l, int (*fn)(void *ctx, const struct levels_block *b),
                void *ctx)
{
    struct walk w = { l, fn, ctx, mem_zero((size_t)par_threads(), sizeof *w.buf) };
    int rc = par_for((size_t)((l->text->n + BLOCK - 1) / BLOCK), walk_block, &w);
    for (int i = 0; i < par_threads(); i++) free(w.buf[i]);
    free(w.buf);
    return rc;
}

/* --- one level --- */

static inline uint32_t hash(uint64_t key) { return (uint32_t)((key * 0x9E3779B97F4A7C15u) >> 32); }

uint32_t level_find(const struct level *l, uint64_t key)
{
    for (uint32_t k = hash(key) & l->mask; l->slot[k]; k = (k + 1) & l->mask)
        if (l->key[l->slot[k]] == key) return l->slot[k];
    return 0;
}

static void level_index(struct level *l)
{
    l->mask = 15;
    while (l->mask / 2 < l->n) l->mask = 2 * l->mask + 1;
    l->slot = mem_zero((size_t)l->mask + 1, sizeof *l->slot);
    for (uint32_t i = 1; i <= l->n; i++) {
        uint32_t k = hash(l->key[i]) & l->mask;
        while (l->slot[k]) k = (k + 1) & l->mask;
        l->slot[k] = i;
    }
}

static void level_room(struct level *l, size_t n)
{
    mem_room(&l->key, &l->cap[0], n, sizeof *l->key);
    mem_room(&l->count, &l->cap[1], n, sizeof *l->count);
    mem_room(&l->tail, &l->cap[2], n, sizeof *l->tail);
}

struct counting { struct levels *l; int k; struct tally **tally; };

/* Keys of k-grams whose head and tail are frequent. The text's own places are where they begin. */
static int count_block(void *ctx, const struct levels_block *b)
{
    struct counting *c = ctx;
    const struct level *of = c->l->of;
    uint64_t key[BATCH];
    size_t n = 0;
    uint32_t head[NGRAMS_LONGEST + 1] = { 0 }; /* [j]: the frequent j-gram that ends before i */
    int k = c->k;
    for (size_t i = b->first; i < b->n && i < b->last + (size_t)k - 1; i++) {
        uint32_t word = b->id[i];
        if (word == 0 || word == SPOOL_RARE) {
            memset(head, 0, sizeof head);
            continue;
        }
        uint32_t next[NGRAMS_LONGEST + 1] = { 0, word };
        for (int j = 2; j < k && head[j - 1]; j++)
            if (!(next[j] = level_find(&of[j], level_key(head[j - 1], word)))) break;
        if (head[k - 1] && next[k - 1]) key[n++] = level_key(head[k - 1], word);
        memcpy(head, next, sizeof head);
        if (n < BATCH) continue;
        if (tally_add(c->tally[b->thread], key, n) < 0) return -1;
        n = 0;
    }
    return tally_add(c->tally[b->thread], key, n);
}

static int keep(void *ctx, uint64_t key, uint64_t count)
{
    struct counting *c = ctx;
    struct level *l = &c->l->of[c->k];
    if (count < c->l->o->min_count) return 0;
    if (l->n == UINT32_MAX - 2)
        return err_set("more than 2^32 frequent n-grams of %d words; raise --min-count", c->k);
    level_room(l, (size_t)l->n + 2);
    l->key[++l->n] = key;
    l->count[l->n] = count;
    /* The arrays move when they grow. */
    if (l->n % (1 << 12) == 0 && !levels_room(c->l->o, (size_t)l->n * 24)) return -1;
    return 0;
}

static int count_level(struct levels *l, int k)
{
    const struct ngrams_options *o = l->o;
    struct level *to = &l->of[k];
    size_t room = levels_room(o, (size_t)o->threads * 2 * LEAST);
    if (!room) return -1;
    struct counting c = { l, k, mem_zero((size_t)o->threads, sizeof *c.tally) };
    for (int i = 0; i < o->threads; i++)
        c.tally[i] = tally_new(room / 2 / (size_t)o->threads, o->tmp);
    level_room(to, 1);
    int rc = levels_each(l, count_block, &c);
    if (rc == 0) rc = tally_merge(c.tally, o->threads, keep, &c);
    for (int i = 0; i < o->threads; i++) {
        l->runs += tally_runs(c.tally[i]);
        l->spilled += tally_spilled(c.tally[i]);
        tally_free(c.tally[i]);
    }
    free(c.tally);
    if (rc < 0) return -1;
    level_index(to);
    for (uint32_t i = 1; i <= to->n; i++) {
        uint32_t head = (uint32_t)(to->key[i] >> 32), word = (uint32_t)to->key[i];
        to->tail[i] = k == 2 ? word
                             : level_find(&l->of[k - 1], level_key(l->of[k - 1].tail[head], word));
    }
    return 0;
}

int levels_count(struct levels *l, const struct ngrams_options *o, const struct spool *text,
                 const struct word *word, uint32_t words)
{
    *l = (struct levels){ .o = o, .text = text };
    level_room(&l->of[1], (size_t)words + 1);
    l->of[1].n = words;
    for (uint32_t i = 1; i <= words; i++) {
        l->of[1].key[i] = i;
        l->of[1].count[i] = word[i - 1].count;
    }
    int rc = 0;
    for (int k = 2; k <= o->longest && rc == 0; k++) rc = count_level(l, k);
    if (rc < 0) levels_free(l);
    return rc;
}

void levels_free(struct levels *l)
{
    for (int k = 0; k <= NGRAMS_LONGEST; k++) {
        free(l->of[k].key);
        free(l->of[k].count);
        free(l->of[k].tail);
        free(l->of[k].slot);
    }
    *l = (struct levels){ 0 };
}

void level_words(const struct levels *l, int k, uint32_t i, uint32_t word[NGRAMS_LONGEST])
{
    for (; k > 1; k--) {
        word[k - 1] = (uint32_t)l->of[k].key[i];
        i = (uint32_t)(l->of[k].key[i] >> 32);
    }
    word[0] = i;
}
