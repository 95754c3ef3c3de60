#include "common/utf8.h"
#include "lib/bpe/words.h"
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/text/affix.h"
#include "common/thread.h"
#include "lib/bpe/scan.h"

/* ARENA: large enough to be a mapping of its own, which grows without being copied and of which
 * only what is used takes memory; a part with FEW bytes of words does without */
enum { BLOCK = 1 << 19, PARTS = 32, UNIT = 8, FEW = 1 << 12, ARENA = 1 << 18 };

/* A slot holds the lower half of the hash and the entry's place in the arena in units of 8 bytes,
 * from 1: 8 bytes, so that most words that are not there are ruled out in one cache line. */
struct slot { uint32_t tag, at; };
/* s: at least 16 bytes, zeros after a shorter word, so that they are its key */
struct entry { uint64_t count; uint32_t n; char s[]; };
struct table { struct slot *slot; uint32_t mask, n; char *arena; size_t used, cap; };

/* Each thread counts into tables of its own, one for each part of the range of hash values; in the
 * end a part's tables are added up, independently of the other parts. No lock per word, and adding
 * up takes all threads. */
struct word_counts {
    int threads;
    struct table (*of)[PARTS];
    const char *joint, *start;
    size_t limit;
};

struct word_counts *word_counts_new(int threads)
{
    struct word_counts *w = mem_zero(1, sizeof *w);
    w->threads = threads < 1 ? 1 : threads;
    w->of = mem_zero((size_t)w->threads, sizeof *w->of);
    return w;
}

static void table_free(struct table *t)
{
    free(t->slot);
    free(t->arena);
    memset(t, 0, sizeof *t);
}

void word_counts_free(struct word_counts *w)
{
    if (!w) return;
    for (int i = 0; i < w->threads; i++)
        for (int p = 0; p < PARTS; p++) table_free(&w->of[i][p]);
    free(w->of);
    free(w);
}

static inline struct entry *entry_of(const struct table *t, uint32_t at)
{
    return (struct entry *)(t->arena + (size_t)at * UNIT);
}

static inline size_t entry_size(uint32_t n)
{
    return (offsetof(struct entry, s) + (n > KEY16 ? n : KEY16) + UNIT - 1) / UNIT * UNIT;
}

static inline struct key16 key_of(const struct entry *e)
{
    return (struct key16){ key16_load64(e->s), key16_load64(e->s + 8) };
}

static void grow(struct table *t)
{
    uint32_t size = t->slot ? (t->mask + 1) * 2 : 256;
    struct slot *s = mem_zero(size, sizeof *s);
    for (uint32_t i = 0; t->slot && i <= t->mask; i++) {
        if (!t->slot[i].at) continue;
        uint32_t k = t->slot[i].tag & (size - 1);
        /* by the tag alone: the words themselves are not looked at */
        while (s[k].at) k = (k + 1) & (size - 1);
        s[k] = t->slot[i];
    }
    free(t->slot);
    t->slot = s;
    t->mask = size - 1;
}

/* A word on its way into a table. */
struct token { const char *s; size_t n; uint64_t hash; struct key16 key; };

/* Its entry, after the others, in the free slot i. */
static int add_new(struct table *t, uint32_t i, const struct token *w, uint64_t count)
{
    /* 0 is "no entry": the first one begins one unit later */
    size_t at = t->used ? t->used : UNIT, need = w->n > UINT32_MAX / 2 ? 0 : entry_size(w->n);
    if (!need || (at + need) / UNIT > UINT32_MAX || t->mask >= 1u << 30)
        return err_set("more distinct words than can be counted (%u in a part)", t->n);
    size_t room = at + need;
    mem_room(&t->arena, &t->cap, room > FEW && room < ARENA ? ARENA : room, 1);
    struct entry *e = (struct entry *)(t->arena + at);
    e->count = count;
    e->n = (uint32_t)w->n;
    key16_store(e->s, w->key);
    if (w->n > KEY16) memcpy(e->s + KEY16, w->s + KEY16, w->n - KEY16);
    t->used = at + need;
    t->slot[i] = (struct slot){ (uint32_t)w->hash, (uint32_t)(at / UNIT) };
    if (++t->n >= t->mask / 4 * 3) grow(t);
    return 1;
}

/* Returns 1 if the word is new, 0 if not, -1 when the table cannot hold more. t has slots. */
static inline int add(struct table *t, const struct token *w, uint64_t count)
{
    uint32_t tag = (uint32_t)w->hash, i = tag & t->mask;
    for (; t->slot[i].at; i = (i + 1) & t->mask) {
        /* 32 bits of the hash: another word passes here once in 4 billion, and only then is an
         * entry read in vain */
        if (t->slot[i].tag != tag) continue;
        struct entry *e = entry_of(t, t->slot[i].at);
        struct key16 key = key_of(e);
        if ((key.first ^ w->key.first) | (key.last ^ w->key.last) | (e->n ^ w->n)) continue;
        if (w->n > KEY16 && memcmp(e->s + KEY16, w->s + KEY16, w->n - KEY16)) continue;
        if (__builtin_add_overflow(e->count, count, &e->count))
            return err_set("\"%.*s\": its counts add up to 2^64 or more",
                           (int)(w->n < 99 ? w->n : 99), w->s);
        return 0;
    }
    return add_new(t, i, w, count);
}

/* --- reading --- */

struct block { char *text; size_t n, cap; uint64_t line; };
struct job { struct word_counts *w; struct text *in; int flags; };

static void *read_block(void *ctx, bool *failed)
{
    struct job *j = ctx;
    struct block *b = mem_zero(1, sizeof *b);
    int rc = text_block(j->in, BLOCK, &b->text, &b->cap, &b->n);
    b->line = text_lineno(j->in);
    if (rc > 0) {
        /* breaks_of and keys read so far past the end */
        mem_room(&b->text, &b->cap, b->n + SCAN, 1);
        return b;
    }
    *failed = rc < 0;
    free(b->text);
    free(b);
    return NULL;
}

static int free_block(void *ctx, void *item)
{
    struct block *b = item;
    (void)ctx;
    free(b->text);
    free(b);
    return 0;
}

static void drop_block(void *ctx, void *item) { free_block(ctx, item); }

/* what: NULL: not UTF-8. */
static int bad_word(const struct job *j, const struct block *b, const char *at, const char *what)
{
    /* Lines are counted only now: counting them while reading would cost every text what only one
     * with a fault needs. */
    uint64_t line = b->line;
    const char *begin = b->text;
    for (const char *p; (p = memchr(begin, '\n', (size_t)(at - begin))); begin = p + 1) line++;
    const char *advice = encoding_advice(begin, (size_t)(b->text + b->n - begin), line == 1);
    return err_set("%s:%llu: byte %zu is %s%s%s", text_name(j->in), (unsigned long long)line,
                   (size_t)(at - begin) + 1, what ? what : "not UTF-8; ", what ? "" : advice,
                   what ? "" : " or pass --replace-invalid");
}

/* Words are checked when they are new, so each once: UTF-8 is checked in the distinct words and not
 * in all of the text. */
static int check_word(const struct job *j, const struct block *b, const char *s, size_t n)
{
    size_t good = utf8_check(s, n);
    if (good < n) return bad_word(j, b, s + good, NULL);
    const char *nul = memchr(s, 0, n);
    return nul ? bad_word(j, b, nul, "NUL, which no token may hold; remove it (tr -d '\\0')") : 0;
}

/* Words are taken some at a time, so that their slots and then their entries are in the cache when
 * they are needed. 8 words ahead in place of 4 made no difference. */
enum { SOME = 64, AHEAD = 4 };

static int count_some(const struct job *j, const struct block *b, struct table *part,
                      const struct token *t, int n)
{
    for (int i = 0; i < n; i++) {
        if (i + AHEAD < n) {
            const struct table *p = &part[t[i + AHEAD].hash >> 59];
            __builtin_prefetch(entry_of(p, p->slot[(uint32_t)t[i + AHEAD].hash & p->mask].at));
        }
        /* five bits for 32 PARTS; slots go by the lowest ones */
        int fresh = add(&part[t[i].hash >> 59], &t[i], 1);
        if (fresh && (fresh < 0 || check_word(j, b, t[i].s, t[i].n) < 0)) return -1;
    }
    return 0;
}

/* SCAN bytes past `end` may be read. */
static int count_span(const struct job *j, const struct block *b, struct table *part, const char *s,
                      const char *end)
{
    /* SCAN bytes may add as many words to SOME - 1 */
    struct token token[SOME + SCAN];
    int k = 0;
    for (const char *word = s; s <= end; s += SCAN) {
        for (uint64_t m = breaks_of(s, end); m; m &= m - 1) {
            const char *at = s + __builtin_ctzll(m);
            size_t n = (size_t)(at - word);
            struct key16 key = key16_fast(word, n);
            uint64_t hash = word_hash_of(key, word, n);
            const struct table *p = &part[hash >> 59];
            __builtin_prefetch(&p->slot[(uint32_t)hash & p->mask]);
            token[k] = (struct token){ word, n, hash, key };
            k += n > 0;
            word = at + 1;
        }
        if (k < SOME) continue;
        if (count_some(j, b, part, token, k) < 0) return -1;
        k = 0;
    }
    return count_some(j, b, part, token, k);
}

/* The tables of each thread have their share of the memory. */
static int check_limit(const struct job *j, const struct table *part)
{
    size_t bytes = 0;
    for (int p = 0; p < PARTS; p++)
        bytes += part[p].used + (part[p].slot ? (size_t)part[p].mask + 1 : 0) * sizeof(struct slot);
    if (!j->w->limit || bytes <= j->w->limit) return 0;
    return err_set("%s: its different words do not fit in --memory; give more", text_name(j->in));
}

/* The next token of a line, which ends at `end`; NULL: there is none. */
static const char *next_token(const char *s, const char *end, size_t *n)
{
    while (s < end && *s == ' ') s++;
    *n = s < end ? word_end(s, (size_t)(end - s)) : 0;
    return *n ? s : NULL;
}

/* The tokens of one line that are whole words. */
static int count_whole(const struct job *j, const struct block *b, struct table *part,
                       const char *s, const char *end)
{
    const char *joint = j->w->joint, *start = j->w->start;
    bool open = false;
    size_t n, m;
    for (const char *next, *t = next_token(s, end, &n); t; t = next, n = m) {
        next = next_token(t + n, end, &m);
        bool whole = joint ? !open && !ends_with(t, n, joint)
                           : begins_with(t, n, start) && (!next || begins_with(next, m, start));
        open = joint && ends_with(t, n, joint);
        if (whole && count_span(j, b, part, t, t + n) < 0) return -1;
    }
    return 0;
}

static bool around(char c) { return c == ' ' || c == '\r'; }

static int count_block(void *ctx, void *item, int thread)
{
    struct job *j = ctx;
    struct block *b = item;
    struct table *part = j->w->of[thread];
    const char *s = b->text, *end = s + b->n;
    /* once per block, not per word: it may be passed by the new words of one */
    if (check_limit(j, part) < 0) return -1;
    for (int p = 0; p < PARTS; p++)
        /* once per block, so that add need not ask for each word */
        if (!part[p].slot) grow(&part[p]);
    bool whole = j->w->joint || j->w->start,
         strip = (j->flags & WORDS_STRIP_CR) && memchr(s, '\r', b->n);
    if (!whole && !strip) return count_span(j, b, part, s, end);
    while (s < end) {
        const char *nl = memchr(s, '\n', (size_t)(end - s)), *to = nl ? nl : end, *after = to + 1;
        while (strip && s < to && around(*s)) s++;
        while (strip && to > s && around(to[-1])) to--;
        if ((whole ? count_whole : count_span)(j, b, part, s, to) < 0) return -1;
        s = after;
    }
    return 0;
}

void word_counts_limit(struct word_counts *w, size_t bytes)
{
    /* half, since a table that grows is there twice for a moment */
    w->limit = bytes / 2 / (size_t)w->threads;
}

void word_counts_whole(struct word_counts *w, const char *joint, const char *start)
{
    w->joint = joint;
    w->start = start;
}

int word_counts_read(struct word_counts *w, struct text *in, int flags)
{
    struct job j = { w, in, flags };
    struct pipeline p = { read_block, count_block, free_block, drop_block, &j, w->threads, 0 };
    return pipeline_run(&p);
}

/* "word count" -> the word in *line, its length in *n, which stripping may leave 0; false: the line
 * is something else. */
static bool parse_count(const char **line, size_t *n, int flags, uint64_t *count)
{
    bool strip = flags & WORDS_STRIP_CR;
    const char *s = *line, *end = s + *n;
    while (strip && end > s && around(end[-1])) end--;
    const char *space = memrchr(s, ' ', (size_t)(end - s)), *to = space;
    if (!space || space == s || space + 1 == end) return false;
    *count = 0;
    for (const char *p = space + 1; p < end; p++)
        if (*p < '0' || *p > '9' || __builtin_mul_overflow(*count, 10, count)
            || __builtin_add_overflow(*count, (uint64_t)(*p - '0'), count))
            return false;
    while (strip && to > s && around(to[-1])) to--;
    while (strip && s < to && around(*s)) s++;
    *line = s;
    *n = (size_t)(to - s);
    /* no word of a text has a space in it, none of a vocabulary a NUL */
    return word_end(s, *n) == *n && !memchr(s, 0, *n);
}

int words_read_counts(struct word_counts *w, struct text *in, int flags)
{
    const char *line;
    size_t n;
    int rc;
    while ((rc = text_line(in, &line, &n)) > 0) {
        uint64_t count;
        if (!parse_count(&line, &n, flags, &count))
            return err_set("%s:%llu: expected \"word count\"", text_name(in),
                           (unsigned long long)text_lineno(in));
        if (n && word_counts_add(w, line, n, count) < 0)
            return err_set("%s:%llu: %s", text_name(in), (unsigned long long)text_lineno(in),
                           err_msg());
    }
    return rc;
}

int word_counts_add(struct word_counts *w, const char *s, size_t n, uint64_t count)
{
    struct key16 key = key16_of(s, n);
    struct token t = { s, n, word_hash_of(key, s, n), key };
    struct table *to = &w->of[0][t.hash >> 59];
    if (!to->slot) grow(to);
    return add(to, &t, count) < 0 ? -1 : 0;
}

/* --- adding up --- */

static int fold_part(void *ctx, size_t p, int thread)
{
    struct word_counts *w = ctx;
    (void)thread;
    for (int i = 1; i < w->threads; i++) {
        struct table *from = &w->of[i][p], *to = &w->of[0][p];
        if (from->slot && !to->slot) grow(to);
        for (uint32_t k = 0; from->slot && k <= from->mask; k++) {
            if (!from->slot[k].at) continue;
            const struct entry *e = entry_of(from, from->slot[k].at);
            /* the 32 bits that are kept are enough: the part is known, and the rest is compared */
            struct token t = { e->s, e->n, from->slot[k].tag, key_of(e) };
            if (add(to, &t, e->count) < 0) return -1;
        }
        table_free(from);
    }
    return 0;
}

/* Counts below 512 have a bucket each, larger ones share one with those of the same highest 9 bits;
 * buckets are in the order of counts. So words are nearly sorted in linear time, which is enough
 * for runs of equal counts (lib/bpe/learn.c). */
enum { BITS = 8, BUCKETS = (64 - BITS + 1) << BITS };

static inline size_t bucket_of(uint64_t count)
{
    int shift = count >> BITS ? 63 - __builtin_clzll(count) - BITS : 0;
    return ((size_t)shift << BITS) + (size_t)(count >> shift);
}

/* first[b] of BUCKETS becomes the number of words in the buckets above b; returns that of all. */
static size_t count_buckets(const struct word_counts *w, size_t *first)
{
    for (int p = 0; p < PARTS; p++) {
        const struct table *t = &w->of[0][p];
        for (size_t at = UNIT; at < t->used; ) {
            const struct entry *e = (const struct entry *)(t->arena + at);
            first[bucket_of(e->count)]++;
            at += entry_size(e->n);
        }
    }
    size_t total = 0;
    for (size_t b = BUCKETS; b-- > 0; ) {
        size_t n = first[b];
        first[b] = total;
        total += n;
    }
    return total;
}

struct counted_word *word_counts_list(struct word_counts *w, size_t *n)
{
    if (par_for(PARTS, fold_part, w) < 0) return NULL;
    size_t *next = mem_zero(BUCKETS, sizeof *next);
    *n = count_buckets(w, next);
    struct counted_word *v = mem_alloc_huge(*n * sizeof *v);
    for (int p = 0; p < PARTS; p++) {
        const struct table *t = &w->of[0][p];
        for (size_t at = UNIT; at < t->used; ) {
            const struct entry *e = (const struct entry *)(t->arena + at);
            /* within a bucket in the order of the tables, which threads decide: who writes words
             * sorts them */
            v[next[bucket_of(e->count)]++] = (struct counted_word){ e->s, e->n, e->count };
            at += entry_size(e->n);
        }
    }
    free(next);
    return v;
}

static int by_count(const void *a, const void *b)
{
    const struct counted_word *x = a, *y = b;
    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    int c = memcmp(x->s, y->s, x->n < y->n ? x->n : y->n);
    return c ? c : (x->n > y->n) - (x->n < y->n);
}

void word_counts_sort(struct counted_word *v, size_t n)
{
    qsort(v, n, sizeof *v, by_count);
}
