#include "lib/ngrams/levels.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/mem.h"

/* entries at first; bytes of a reader's or writer's buffer; runs merged at once; keys prefetched;
 * below it insertion is the faster sort */
enum { FIRST = 1 << 10, BUFFER = 1 << 14, FAN = 64, AHEAD = 16, SMALL = 24 };

struct entry { uint64_t key, count; };
struct run { uint64_t at, end; };
struct tally {
    struct entry *slot; /* [mask + 1], key 0: empty */
    size_t mask, n, most_slots;
    const char *tmp;
    FILE *file;
    /* runs not yet merged into others */
    struct run *run;
    size_t runs, cap;
    uint64_t at, written;
};

struct tally *tally_new(size_t bytes, const char *tmp)
{
    struct tally *t = mem_zero(1, sizeof *t);
    t->most_slots = FIRST;
    /* While the table grows, the old one (half as large) is there, too: 3/2. */
    while (t->most_slots * 2 * sizeof(struct entry) * 3 / 2 <= bytes) t->most_slots *= 2;
    t->slot = mem_zero(FIRST, sizeof *t->slot);
    t->mask = FIRST - 1;
    t->tmp = tmp;
    return t;
}

void tally_free(struct tally *t)
{
    if (!t) return;
    if (t->file) fclose(t->file);
    free(t->slot);
    free(t->run);
    free(t);
}

uint64_t tally_runs(const struct tally *t) { return t->written; }
uint64_t tally_spilled(const struct tally *t) { return t->at; }

static inline size_t place(const struct tally *t, uint64_t key)
{
    /* Fibonacci hashing: keys lie close together, and the product's upper bits spread them */
    return (size_t)((key * 0x9E3779B97F4A7C15u) >> 24) & t->mask;
}

static void put(struct tally *t, uint64_t key, uint64_t count)
{
    size_t i = place(t, key);
    while (t->slot[i].key && t->slot[i].key != key) i = (i + 1) & t->mask;
    t->n += !t->slot[i].key;
    t->slot[i].key = key;
    t->slot[i].count += count;
}

static void grow(struct tally *t)
{
    struct entry *old = t->slot;
    size_t n = t->mask + 1;
    t->slot = mem_zero(2 * n, sizeof *t->slot);
    t->mask = 2 * n - 1;
    t->n = 0;
    for (size_t i = 0; i < n; i++)
        if (old[i].key) put(t, old[i].key, old[i].count);
    free(old);
}

static void insertion_sort(struct entry *e, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct entry x = e[i];
        size_t k = i;
        for (; k > 0 && e[k - 1].key > x.key; k--) e[k] = e[k - 1];
        e[k] = x;
    }
}

/* By key, in place, a byte at a time from the highest (American flag sort): qsort would take as
 * much memory again, when the table has just filled all that there is. */
static void sort(struct entry *e, size_t n, int shift)
{
    size_t begin[257] = { 0 }, next[256];
    if (n <= SMALL) {
        insertion_sort(e, n);
        return;
    }
    for (size_t i = 0; i < n; i++) begin[(e[i].key >> shift & 255) + 1]++;
    for (int b = 0; b < 256; b++) {
        begin[b + 1] += begin[b];
        next[b] = begin[b];
    }
    for (int b = 0; b < 256; b++)
        while (next[b] < begin[b + 1]) {
            struct entry x = e[next[b]];
            for (unsigned to; (to = (unsigned)(x.key >> shift & 255)) != (unsigned)b;) {
                struct entry y = e[next[to]];
                e[next[to]++] = x;
                x = y;
            }
            e[next[b]++] = x;
        }
    for (int b = 0; b < 256 && shift; b++)
        if (begin[b + 1] - begin[b] > 1) sort(e + begin[b], begin[b + 1] - begin[b], shift - 8);
}

/* Moves the table's entries to its front, ascending. No place is left for a second array. */
static void compact(struct tally *t)
{
    size_t n = 0;
    for (size_t i = 0; i <= t->mask; i++)
        if (t->slot[i].key) t->slot[n++] = t->slot[i];
    sort(t->slot, n, 56);
}

/* --- runs: varint(key - key before), varint(count): sorted keys differ little, and most counts
 * are small --- */

struct writer { struct tally *t; uint64_t last; size_t n; unsigned char buf[BUFFER]; };

static int writer_flush(struct writer *w)
{
    if (w->n && fwrite(w->buf, 1, w->n, w->t->file) != w->n)
        return err_sys("%s: cannot write a temporary file; name a folder with more room (--tmp)",
                       w->t->tmp ? w->t->tmp : "TMPDIR");
    w->t->at += w->n;
    w->n = 0;
    return 0;
}

static void varint(struct writer *w, uint64_t v)
{
    for (; v > 127; v >>= 7) w->buf[w->n++] = (unsigned char)(v | 128);
    w->buf[w->n++] = (unsigned char)v;
}

static int writer_put(void *ctx, uint64_t key, uint64_t count)
{
    struct writer *w = ctx;
    /* two varints of 64 bits have at most 10 bytes each */
    if (w->n + 20 > BUFFER && writer_flush(w) < 0) return -1;
    /* keys ascend (sort, merge), so differences are not negative */
    varint(w, key - w->last);
    varint(w, count);
    w->last = key;
    return 0;
}

/* Begins a run at the end of the file, and ends it there. */
static int run_begin(struct tally *t, struct writer *w)
{
    w->t = t;
    w->last = w->n = 0;
    if (!t->file && !(t->file = tmp_open(t->tmp))) return -1;
    mem_room(&t->run, &t->cap, t->runs + 1, sizeof *t->run);
    /* counted as a run only by run_end: a run that failed is not read */
    t->run[t->runs] = (struct run){ t->at, 0 };
    return 0;
}

static int run_end(struct writer *w)
{
    struct tally *t = w->t;
    if (writer_flush(w) < 0) return -1;
    if (fflush(t->file) != 0)
        return err_sys("%s: cannot write a temporary file; name a folder with more room (--tmp)",
                       t->tmp ? t->tmp : "TMPDIR");
    t->run[t->runs++].end = t->at;
    t->written++;
    return 0;
}

/* What a merge reads: a run, or sorted entries in memory. */
struct reader {
    const struct tally *t;
    struct run run;
    const struct entry *e, *end;
    struct entry now;
    unsigned char *buf;
    size_t n, at;
};

static int byte(struct reader *r)
{
    if (r->at == r->n) {
        size_t want = r->run.end - r->run.at < BUFFER ? (size_t)(r->run.end - r->run.at) : BUFFER;
        /* at its place, and not by the stream: readers of several runs share one file */
        if (tmp_read(fileno(r->t->file), r->t->tmp, r->buf, want, r->run.at) < 0) return -1;
        r->run.at += want;
        r->n = want;
        r->at = 0;
    }
    return r->buf[r->at++];
}

static int number(struct reader *r, uint64_t *v)
{
    *v = 0;
    for (int shift = 0, b = 128; b & 128; shift += 7) {
        if ((b = byte(r)) < 0) return -1;
        *v |= (uint64_t)(b & 127) << shift;
    }
    return 0;
}

/* The next entry into r->now; 1, 0 at the end, -1. */
static int advance(struct reader *r)
{
    if (r->e) {
        if (r->e == r->end) return 0;
        r->now = *r->e++;
        return 1;
    }
    uint64_t delta;
    /* both the buffer and the run are at their end */
    if (r->at == r->n && r->run.at == r->run.end) return 0;
    if (number(r, &delta) < 0 || number(r, &r->now.count) < 0) return -1;
    /* 0 at first (reader_of), as the writer's `last` is */
    r->now.key += delta;
    return 1;
}

static void sink(struct reader **heap, size_t n, size_t i)
{
    struct reader *x = heap[i];
    for (size_t c; (c = 2 * i + 1) < n; i = c) {
        if (c + 1 < n && heap[c + 1]->now.key < heap[c]->now.key) c++;
        if (x->now.key <= heap[c]->now.key) break;
        heap[i] = heap[c];
    }
    heap[i] = x;
}

static int merge(struct reader *r, size_t n, int (*emit)(void *, uint64_t, uint64_t), void *ctx)
{
    struct reader **heap = mem_alloc(n * sizeof *heap);
    size_t live = 0;
    int rc = 0;
    for (size_t i = 0; i < n && rc >= 0; i++)
        if ((rc = advance(&r[i])) > 0) heap[live++] = &r[i];
    for (size_t i = live / 2; i-- > 0;) sink(heap, live, i);
    while (rc >= 0 && live) {
        /* heap[0] has the smallest key of all */
        struct entry sum = { heap[0]->now.key, 0 };
        /* the same key of all runs, added up */
        while (rc >= 0 && live && heap[0]->now.key == sum.key) {
            sum.count += heap[0]->now.count;
            if ((rc = advance(heap[0])) == 0) heap[0] = heap[--live];
            if (live) sink(heap, live, 0);
        }
        if (rc >= 0) rc = emit(ctx, sum.key, sum.count);
    }
    free(heap);
    return rc < 0 ? -1 : 0;
}

static void reader_of(struct reader *r, const struct tally *t, struct run run)
{
    *r = (struct reader){ .t = t, .run = run, .buf = mem_alloc(BUFFER) };
}

/* The tally's runs as one. */
static int shrink(struct tally *t)
{
    struct reader *r = mem_zero(t->runs, sizeof *r);
    size_t n = t->runs;
    for (size_t i = 0; i < n; i++) reader_of(&r[i], t, t->run[i]);
    struct writer *w = mem_alloc(sizeof *w);
    int rc = run_begin(t, w);
    if (rc == 0) rc = merge(r, n, writer_put, w);
    if (rc == 0) rc = run_end(w);
    if (rc == 0) {
        /* the bytes of the merged runs stay in the file until it is closed */
        t->run[0] = t->run[n];
        t->runs = 1;
    }
    for (size_t i = 0; i < n; i++) free(r[i].buf);
    free(r);
    free(w);
    return rc;
}

static int spill(struct tally *t)
{
    /* a merge reads FAN runs at most: each needs a buffer */
    if (t->runs == FAN && shrink(t) < 0) return -1;
    compact(t);
    struct writer *w = mem_alloc(sizeof *w);
    int rc = run_begin(t, w);
    for (size_t i = 0; i < t->n && rc == 0; i++)
        rc = writer_put(w, t->slot[i].key, t->slot[i].count);
    if (rc == 0) rc = run_end(w);
    free(w);
    /* the table keeps its size: it has shown that it fills */
    memset(t->slot, 0, (t->mask + 1) * sizeof *t->slot);
    t->n = 0;
    return rc;
}

int tally_add(struct tally *t, const uint64_t *key, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD < n) __builtin_prefetch(&t->slot[place(t, key[i + AHEAD])], 1);
        /* three quarters full: beyond, probes get long */
        if (t->n >= (t->mask + 1) / 4 * 3) {
            if (t->mask + 1 < t->most_slots) grow(t);
            else if (spill(t) < 0) return -1;
        }
        put(t, key[i], 1);
    }
    return 0;
}

int tally_merge(struct tally *const *t, int n,
                int (*emit)(void *ctx, uint64_t key, uint64_t count), void *ctx)
{
    size_t readers = 0, at = 0;
    int rc = 0;
    for (int i = 0; i < n && rc == 0; i++) {
        /* what is still in the table is one sorted run more, in memory */
        compact(t[i]);
        /* All tallies are merged at once: together they may have FAN runs. */
        if (t[i]->runs > 1 && n > 1 && t[i]->runs > FAN / (size_t)n) rc = shrink(t[i]);
        readers += t[i]->runs + 1;
    }
    struct reader *r = mem_zero(readers, sizeof *r);
    for (int i = 0; i < n && rc == 0; i++) {
        r[at++] = (struct reader){ .t = t[i], .e = t[i]->slot, .end = t[i]->slot + t[i]->n };
        for (size_t k = 0; k < t[i]->runs; k++) reader_of(&r[at++], t[i], t[i]->run[k]);
    }
    if (rc == 0) rc = merge(r, at, emit, ctx);
    for (size_t i = 0; i < at; i++) free(r[i].buf);
    free(r);
    return rc;
}
