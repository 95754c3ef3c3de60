#include "lib/cooc/collect.h"
#include <pthread.h>
#include <stdlib.h>
#include <xxhash.h>
#include "common/err.h"
#include "common/id_table.h"
#include "common/mem.h"
#include "common/thread.h"

/* One table a thread; a word's bytes are in its arena. */
struct word { uint64_t count; uint64_t at; uint32_t n, hash; };
struct table {
    struct word *word; size_t n, cap;
    struct id_table number;
    char *bytes; size_t bytes_n, bytes_cap;
};

static void table_free(struct table *t)
{
    free(t->word);
    free(t->bytes);
    id_table_free(&t->number);
}

static size_t table_bytes(const struct table *t)
{
    return t->cap * sizeof *t->word + t->number.slots * sizeof *t->number.slot + t->bytes_cap;
}

static void table_add(struct table *t, const char *s, size_t n, uint32_t hash, uint64_t count)
{
    if (id_table_full(&t->number, t->n))
        ID_INDEX(&t->number, t->n ? 2 * t->number.slots : 1 << 12, t->n, id, t->word[id - 1].hash);
    uint32_t *slot = ID_FIND(&t->number, hash, id,
                             t->word[id - 1].hash == hash && t->word[id - 1].n == n
                                 && !memcmp(t->bytes + t->word[id - 1].at, s, n));
    if (*slot) {
        t->word[*slot - 1].count += count;
        return;
    }
    mem_room(&t->word, &t->cap, t->n + 1, sizeof *t->word);
    mem_room(&t->bytes, &t->bytes_cap, t->bytes_n + n + 1, 1);
    memcpy(t->bytes + t->bytes_n, s, n);
    t->bytes[t->bytes_n + n] = 0;
    t->word[t->n] = (struct word){ count, t->bytes_n, (uint32_t)n, hash };
    t->bytes_n += n + 1;
    *slot = (uint32_t)++t->n;
}

struct collect {
    struct intake *in;
    struct table *table;
    size_t memory;                 /* for each table */
    pthread_mutex_t lock;
    struct piece *free;
};

static void *collect_read(void *ctx, bool *failed)
{
    struct collect *c = ctx;
    pthread_mutex_lock(&c->lock);
    struct piece *p = c->free;
    if (p) c->free = p->next;
    pthread_mutex_unlock(&c->lock);
    if (!p) p = mem_zero(1, sizeof *p);
    int rc = intake_next(c->in, p);
    if (rc > 0) return p;
    *failed = rc < 0;
    piece_free(p);
    return NULL;
}

static int collect_work(void *ctx, void *item, int thread)
{
    struct collect *c = ctx;
    struct piece *p = item;
    struct table *t = &c->table[thread];
    if (piece_check(p) < 0) return -1;
    const char *s = p->text, *end = s + p->n;
    while (s < end) {
        while (s < end && (*s == ' ' || *s == '\t' || *s == '\n')) s++;
        const char *from = s;
        while (s < end && *s != ' ' && *s != '\t' && *s != '\n') s++;
        if (s > from)
            table_add(t, from, (size_t)(s - from), (uint32_t)XXH3_64bits(from, (size_t)(s - from)),
                      1);
    }
    if (table_bytes(t) > c->memory || t->n > UINT32_MAX / 8)
        return err_set("%s: the vocabulary does not fit in --memory (%zu words so far); give more, "
                       "or name one with -v (vocab-count, cut to the frequent words)",
                       p->name, t->n);
    return 0;
}

static int collect_write(void *ctx, void *item)
{
    struct collect *c = ctx;
    struct piece *p = item;
    pthread_mutex_lock(&c->lock);
    p->next = c->free;
    c->free = p;
    pthread_mutex_unlock(&c->lock);
    return 0;
}

static void collect_drop(void *ctx, void *item) { collect_write(ctx, item); }

static const char *sort_bytes;
static int by_count(const void *a, const void *b)
{
    const struct word *x = a, *y = b;
    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    return strcmp(sort_bytes + x->at, sort_bytes + y->at);
}

struct vocab *cooc_collect(const struct cooc_input *in, int n, const struct cooc_count_opts *o,
                           size_t memory)
{
    struct collect c = { .in = intake_open(in, n, o, 1 << 18),
                         .table = mem_zero((size_t)o->threads, sizeof *c.table),
                         .memory = memory / (size_t)(o->threads + 1),
                         .lock = PTHREAD_MUTEX_INITIALIZER };
    struct pipeline p = {
        collect_read, collect_work, collect_write, collect_drop, &c, o->threads, 0
    };
    int rc = pipeline_run(&p);
    intake_close(c.in);
    while (c.free) {
        struct piece *next = c.free->next;
        piece_free(c.free);
        c.free = next;
    }
    struct table *t = &c.table[0];
    struct vocab *v = NULL;
    if (rc == 0) {
        for (int i = 1; i < o->threads; i++) {
            struct table *u = &c.table[i];
            for (size_t k = 0; k < u->n; k++)
                table_add(t, u->bytes + u->word[k].at, u->word[k].n, u->word[k].hash,
                          u->word[k].count);
            table_free(u);
            *u = (struct table){ 0 };
        }
        size_t kept = 0;
        for (size_t k = 0; k < t->n; k++)
            if (t->word[k].count >= o->min_count
                && !cooc_skip_has(o->skip.text, o->skip.size, t->bytes + t->word[k].at,
                                  t->word[k].n))
                t->word[kept++] = t->word[k];
        sort_bytes = t->bytes;
        if (kept) qsort(t->word, kept, sizeof *t->word, by_count);
        const char **token = mem_alloc((kept + 1) * sizeof *token);
        uint64_t *count = mem_alloc((kept + 1) * sizeof *count);
        for (size_t k = 0; k < kept; k++) {
            token[k] = t->bytes + t->word[k].at;
            count[k] = t->word[k].count;
        }
        if (t->bytes_n >= UINT32_MAX)
            err_set("more than 4 GiB of words; name a vocabulary with -v (vocab-count, cut to the "
                    "frequent words)");
        else v = vocab_make(token, count, (uint32_t)kept);
        free(token);
        free(count);
    }
    for (int i = 0; i < o->threads; i++) table_free(&c.table[i]);
    free(c.table);
    pthread_mutex_destroy(&c.lock);
    return v;
}
