#include "lib/ngrams/levels.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/files/io.h"
#include "common/mem.h"
#include "common/thread.h"

/* 65,536 words for a thread at a time; 256 look-ups wait together; a tally below 256 KiB would
 * spill all the time */
enum { BLOCK = 1 << 16, BATCH = 256, M = 1 << 20, LEAST = 1 << 18 };

/* Bytes resident now: what --memory bounds is what the system sees, not what was asked for. */
static size_t resident(void)
{
    FILE *f = fopen("/proc/self/statm", "re");
    unsigned long size, pages = 0;
    if (f && fscanf(f, "%lu %lu", &size, &pages) != 2) pages = 0;
    if (f) fclose(f);
    /* without /proc the peak stands in: too careful, never too much */
    return pages ? pages * (size_t)sysconf(_SC_PAGESIZE) : mem_peak();
}

size_t levels_room(const struct ngrams_options *o, size_t least)
{
    /* the words and numbers of a block in each thread (walk_block, count_block), and 2 MiB for the
     * rest */
    size_t fixed = resident() + (size_t)o->threads * BLOCK * 16 + 2 * M;
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
    /* n-grams reach beyond a block: so many words on either side belong to its neighbours'
     * n-grams */
    uint64_t around = (uint64_t)w->l->o->longest - 1, at = (uint64_t)i * BLOCK, end = at + BLOCK;
    if (end > s->n) end = s->n;
    uint64_t from = at > around ? at - around : 0, to = end + around < s->n ? end + around : s->n;
    /* made by the thread that uses it; the pool keeps thread numbers apart */
    if (!w->buf[thread]) w->buf[thread] = mem_alloc((BLOCK + 2 * NGRAMS_LONGEST) * sizeof **w->buf);
    if (tmp_read(fileno(s->file), w->l->o->tmp, w->buf[thread],
                 (size_t)(to - from) * sizeof **w->buf, from * sizeof **w->buf) < 0)
        return -1;
    struct levels_block b = { w->buf[thread], (size_t)(to - from), (size_t)(at - from),
                              (size_t)(end - from), at, thread };
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
    /* an empty slot holds 0, which is the answer for what is not there */
    return *ID_FIND(&l->table, hash(key), id, l->key[id] == key);
}

/* Three loops: the slots of all keys are prefetched, then the keys they point to, so that many
 * look-ups wait for memory together (1.6 times as fast on text that repeats). */
static void level_find_all(const struct level *l, const uint64_t *key, uint32_t *number, size_t n)
{
    const struct id_table *t = &l->table;
    for (size_t i = 0; i < n; i++) __builtin_prefetch(&t->slot[hash(key[i]) & t->mask]);
    /* of an empty slot this is key[0], which is there, too */
    for (size_t i = 0; i < n; i++) __builtin_prefetch(&l->key[t->slot[hash(key[i]) & t->mask]]);
    for (size_t i = 0; i < n; i++) number[i] = level_find(l, key[i]);
}

static inline bool is_word(uint32_t id) { return id != 0 && id != SPOOL_RARE; }

void level_extend(const struct level *l, const uint32_t *word, const uint32_t *head,
                  uint32_t *number, size_t n)
{
    uint64_t key[BATCH];
    uint32_t at[BATCH], found[BATCH];
    size_t waiting = 0;
    for (size_t i = 0; i < n; i++) {
        number[i] = 0;
        /* An n-gram is frequent only if both its parts without the first and without the last word
         * are (Apriori): head[i + 1] is the part without the first. */
        /* at the last place head[i + 1] is beyond the array: the look-up alone decides */
        if (head[i] && is_word(word[i]) && (i + 1 == n || head[i + 1])) {
            key[waiting] = level_key(head[i], word[i]);
            at[waiting++] = (uint32_t)i;
        }
        if (waiting < BATCH && i + 1 < n) continue;
        level_find_all(l, key, found, waiting);
        for (size_t w = 0; w < waiting; w++) number[at[w]] = found[w];
        waiting = 0;
    }
}

static void level_index(struct level *l)
{
    ID_INDEX(&l->table, id_table_slots(16, l->n), l->n, id, hash(l->key[id]));
}

static void level_room(struct level *l, size_t n)
{
    mem_room(&l->key, &l->cap[0], n, sizeof *l->key);
    mem_room(&l->count, &l->cap[1], n, sizeof *l->count);
    mem_room(&l->tail, &l->cap[2], n, sizeof *l->tail);
}

struct counting {
    struct levels *l;
    int k;
    struct tally **tally;
    FILE *before, *ends;         /* of the text's places, below; NULL: not there */
    uint32_t **room;             /* [threads] */
};

/* Numbers of n places of a file; place 0 is the text's first. Places before it: 0. */
static int read_ends(const struct counting *c, FILE *f, int64_t at, uint32_t *to, size_t n)
{
    for (; n && at < 0; at++, n--) *to++ = 0;
    return tmp_read(fileno(f), c->l->o->tmp, to, n * sizeof *to, (uint64_t)at * sizeof *to);
}

static int write_ends(const struct counting *c, FILE *f, uint64_t at, const uint32_t *x, size_t n)
{
    if (io_write_at(fileno(f), x, n * sizeof *x, (off_t)(at * sizeof *x)) != 0)
        return err_sys("%s: cannot write a temporary file; name a folder with more room (--tmp)",
                       c->l->o->tmp ? c->l->o->tmp : "TMPDIR");
    return 0;
}

/* Keys of the k-grams that end at the block's own places and whose head and tail are frequent: from
 * the numbers of the (k-1)-grams that end there and a place before, which are found by those of the
 * (k-2)-grams, which the previous pass wrote down. */
static int count_block(void *ctx, const struct levels_block *b)
{
    struct counting *c = ctx;
    size_t own = b->last - b->first, n = 0;
    uint32_t **room = &c->room[b->thread];
    if (!*room) *room = mem_alloc(2 * (BLOCK + 1) * sizeof **room);
    uint32_t *head = *room, *number = *room + BLOCK + 1;     /* [1 + own], from the place before */
    uint64_t key[BATCH];
    /* nothing ends before the text's first place */
    size_t skip = b->at == 0;
    const uint32_t *word = b->id + b->first - 1 + skip;
    number[0] = head[0] = 0;
    if (c->k == 2)
        /* a word's number is that of its 1-gram */
        for (size_t i = skip; i <= own; i++)
            number[i] = is_word(word[i - skip]) ? word[i - skip] : 0;
    else {
        if (c->before && read_ends(c, c->before, (int64_t)b->at - 2, head, own + 1) < 0) return -1;
        /* k is 3: the 1-grams of the place before are the words themselves */
        for (size_t i = skip; i <= own && !c->before; i++) {
            const uint32_t *w = word + i - skip;
            /* b->id begins with the words around the block, or with the text, and then none is
             * before it */
            head[i] = w > b->id && is_word(w[-1]) ? w[-1] : 0;
        }
        level_extend(&c->l->of[c->k - 1], word, head + skip, number + skip, own + 1 - skip);
        if (c->ends && write_ends(c, c->ends, b->at, number + 1, own) < 0) return -1;
    }
    for (size_t i = 1; i <= own; i++) {
        if (number[i - 1] && number[i])
            key[n++] = level_key(number[i - 1], b->id[b->first + i - 1]);
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
    /* now, not after: rare n-grams are most of them, and a level of all would not fit in memory */
    if (count < c->l->o->min_count) return 0;
    /* numbers are 32 bits, from 1, and level_room takes one more */
    if (l->n == UINT32_MAX - 2)
        return err_set("more than 2^32 frequent n-grams of %d words; raise --min-count", c->k);
    level_room(l, (size_t)l->n + 2);
    l->key[++l->n] = key;
    l->count[l->n] = count;
    /* now and then only; arrays that grow are copied, so that for a moment there are two */
    if (l->n % (1 << 12) == 0 && !levels_room(c->l->o, (size_t)l->n * 24)) return -1;
    return 0;
}

/* ends: of each place of the text the number of the frequent (k-2)-gram that ends there (NULL: k is
 * 2 or 3), which becomes that of the (k-1)-gram where there are more levels to come. */
static int count_level(struct levels *l, int k, FILE **ends)
{
    const struct ngrams_options *o = l->o;
    struct level *to = &l->of[k];
    /* half of what is there for the tables: the level's own arrays grow in the other half */
    size_t room = levels_room(o, (size_t)o->threads * 2 * LEAST);
    if (!room) return -1;
    struct counting c = { l, k, mem_zero((size_t)o->threads, sizeof *c.tally), *ends, NULL,
                          mem_zero((size_t)par_threads(), sizeof *c.room) };
    for (int i = 0; i < o->threads; i++)
        c.tally[i] = tally_new(room / 2 / (size_t)o->threads, o->tmp);
    level_room(to, 1);
    /* at k = 2 the words are the numbers, and at the last level nobody reads them */
    int rc = k > 2 && k < o->longest && !(c.ends = tmp_open(o->tmp)) ? -1 : 0;
    if (rc == 0) rc = levels_each(l, count_block, &c);
    for (int i = 0; i < par_threads(); i++) free(c.room[i]);
    free(c.room);
    /* read by this pass only: two such files exist at a time, not one per level */
    if (c.before) fclose(c.before);
    *ends = c.ends;
    /* merged in ascending order of keys: numbers do not depend on threads or memory */
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
        /* the n-gram without its first word, which is frequent, too (Apriori): found by its own
         * parts */
        to->tail[i] = k == 2 ? word
                             : level_find(&l->of[k - 1], level_key(l->of[k - 1].tail[head], word));
    }
    return 0;
}

int levels_count(struct levels *l, const struct ngrams_options *o, const struct spool *text,
                 const struct counted_word *word, uint32_t words)
{
    *l = (struct levels){ .o = o, .text = text };
    level_room(&l->of[1], (size_t)words + 1);
    l->of[1].n = words;
    for (uint32_t i = 1; i <= words; i++) {
        l->of[1].key[i] = i;
        /* a word's key is its number, so that level_words ends at it */
        l->of[1].count[i] = word[i - 1].count;
    }
    int rc = 0;
    FILE *ends = NULL;
    for (int k = 2; k <= o->longest && rc == 0; k++) rc = count_level(l, k, &ends);
    /* a failure may leave it open */
    if (ends) fclose(ends);
    if (rc < 0) levels_free(l);
    return rc;
}

void levels_free(struct levels *l)
{
    for (int k = 0; k <= NGRAMS_LONGEST; k++) {
        free(l->of[k].key);
        free(l->of[k].count);
        free(l->of[k].tail);
        id_table_free(&l->of[k].table);
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
