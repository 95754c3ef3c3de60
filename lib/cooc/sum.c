#include "lib/cooc/sum.h"
#include <pthread.h>
#include <stdlib.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/thread.h"

static size_t words_of(size_t n) { return (n + 63) / 64; }

size_t row_sum_bytes(uint32_t ids)
{
    size_t w = words_of(ids);
    return ((size_t)ids + ROW_TRASH) * (sizeof(uint64_t) + sizeof(uint32_t))
           + (w + words_of(w)) * sizeof(uint64_t);
}

int row_sum_init(struct row_sum *r, uint32_t ids)
{
    size_t w = words_of(ids);
    *r = (struct row_sum){ .ids = ids };
    r->sum = calloc((size_t)ids + ROW_TRASH, sizeof *r->sum);
    r->touched = malloc(((size_t)ids + 1) * sizeof *r->touched);
    r->bits = calloc(w + 1, sizeof *r->bits);
    r->top = calloc(words_of(w) + 1, sizeof *r->top);
    if (!r->sum || !r->touched || !r->bits || !r->top) {
        row_sum_free(r);
        return err_set("out of memory: needed %zu bytes for the sums of a row", row_sum_bytes(ids));
    }
    for (int i = 0; i < ROW_TRASH; i++) r->sum[ids + (uint32_t)i] = 1;
    return 0;
}

void row_sum_free(struct row_sum *r)
{
    free(r->sum);
    free(r->touched);
    free(r->bits);
    free(r->top);
    *r = (struct row_sum){ 0 };
}

static inline void put_one(struct row_sum *r, uint32_t row, uint32_t col, struct blocks *b)
{
    blocks_put(b, row, col, r->sum[col]);
    r->sum[col] = 0;
}

int row_put(struct row_sum *r, uint32_t row, struct blocks *b, struct groups *g)
{
    if (r->over >> 63)
        return err_set("a count above 2^63 - 1 in the row of id %u; use a smaller window or flat "
                       "weights, or count less text",
                       row);
    if (r->n == 0) return 0;
    b->rows++;
    uint32_t n = r->n, *t = r->touched;
    r->n = 0;
    r->over = 0;
    if (n <= 24) {
        for (uint32_t i = 1; i < n; i++) {
            uint32_t x = t[i], j = i;
            for (; j > 0 && t[j - 1] > x; j--) t[j] = t[j - 1];
            t[j] = x;
        }
        for (uint32_t i = 0; i < n; i++) put_one(r, row, t[i], b);
        return 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t c = t[i];
        r->bits[c >> 6] |= (uint64_t)1 << (c & 63);
        r->top[c >> 12] |= (uint64_t)1 << (c >> 6 & 63);
    }
    size_t tops = words_of(words_of(r->ids));
    for (size_t k = 0; k < tops; k++) {
        for (uint64_t top = r->top[k]; top; top &= top - 1) {
            size_t w = k * 64 + (size_t)__builtin_ctzll(top);
            for (uint64_t bits = r->bits[w]; bits; bits &= bits - 1)
                put_one(r, row, (uint32_t)(w * 64) + (uint32_t)__builtin_ctzll(bits), b);
            r->bits[w] = 0;
        }
        /* a row can be longer than what may be held back */
        if (groups_room(g, b) < 0) return -1;
    }
    memset(r->top, 0, tops * sizeof *r->top);
    return 0;
}

/* --- groups ----------------------------------------------------------------------------------- */

/* A group that has more to say than the limit waits until those before it are written, and then
 * writes as it goes. */
struct groups_state {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    uint32_t turn;              /* the group whose bytes come next */
    bool failed;
    uint32_t next;              /* to hand out */
};
struct group_item { uint32_t group; struct blocks b; unsigned char *out; size_t n, cap; };

int groups_depth(int threads) { return threads < 2 ? 1 : 2 * threads + 2; }

static void *item_read(void *ctx, bool *failed)
{
    struct groups *g = ctx;
    (void)failed;
    if (g->state->next == g->groups) return NULL;
    struct group_item *it = mem_zero(1, sizeof *it);
    it->group = g->state->next++;
    blocks_init(&it->b);
    return it;
}

static _Thread_local struct group_item *this_item;
static _Thread_local int this_thread;

static int pack(struct groups *g, int thread, const struct blocks *b, struct group_item *it)
{
    it->n = 0;
    if (!g->pack || !b->closed) return 0;
    ssize_t n = g->pack(g->ctx, thread, b, &it->out, &it->cap);
    it->n = n < 0 ? 0 : (size_t)n;
    return n < 0 ? -1 : 0;
}

static int give(struct groups *g, const struct blocks *b, const struct group_item *it)
{
    if (!b->closed) return 0;
    return g->pack ? g->write(g->ctx, it->group, b, it->out, it->n)
                   : g->write(g->ctx, it->group, b, b->p, b->n);
}

int groups_room(struct groups *g, struct blocks *b)
{
    if (b->n < g->limit) return 0;
    struct groups_state *s = g->state;
    pthread_mutex_lock(&s->lock);
    while (s->turn != this_item->group && !s->failed) pthread_cond_wait(&s->moved, &s->lock);
    bool failed = s->failed;
    pthread_mutex_unlock(&s->lock);
    if (failed) return err_set("stopped");
    /* The open block stays open: where blocks end depends on the pairs alone. */
    struct blocks part = *b;
    size_t open = b->n - b->open_at;
    if (b->open_pairs == 0) open = 0;
    part.n = b->n - open;
    if (pack(g, this_thread, &part, this_item) < 0 || give(g, &part, this_item) < 0) return -1;
    memmove(b->p, b->p + (b->n - open), open);
    b->n = open;
    b->open_at = 0;
    b->closed = 0;
    return 0;
}

static void stop(struct groups_state *s)
{
    pthread_mutex_lock(&s->lock);
    s->failed = true;
    pthread_cond_broadcast(&s->moved);
    pthread_mutex_unlock(&s->lock);
}

static int item_work(void *ctx, void *item, int thread)
{
    struct groups *g = ctx;
    struct group_item *it = item;
    this_item = it;
    this_thread = thread;
    int rc = g->make(g->ctx, it->group, thread, g, &it->b);
    blocks_close(&it->b);
    if (rc == 0) rc = pack(g, thread, &it->b, it);
    if (rc < 0) stop(g->state);
    return rc;
}

static void item_free(struct group_item *it)
{
    blocks_free(&it->b);
    free(it->out);
    free(it);
}

static void item_drop(void *ctx, void *item)
{
    struct groups *g = ctx;
    struct group_item *it = item;
    item_free(it);
    stop(g->state);
}

static int item_write(void *ctx, void *item)
{
    struct groups *g = ctx;
    struct group_item *it = item;
    int rc = give(g, &it->b, it);
    struct cooc_totals *t = g->total;
    t->pairs += it->b.pairs;
    t->rows += it->b.rows;
    t->mass += it->b.mass;
    if (it->b.max > t->max) t->max = it->b.max;
    item_free(it);
    struct groups_state *s = g->state;
    pthread_mutex_lock(&s->lock);
    if (rc < 0) s->failed = true;
    s->turn++;
    pthread_cond_broadcast(&s->moved);
    pthread_mutex_unlock(&s->lock);
    return rc;
}

int groups_run(struct groups *g)
{
    struct groups_state s = { .lock = PTHREAD_MUTEX_INITIALIZER,
                              .moved = PTHREAD_COND_INITIALIZER };
    g->state = &s;
    struct pipeline p = { .read = item_read,
                          .work = item_work,
                          .write = item_write,
                          .drop = item_drop,
                          .ctx = g,
                          .threads = g->threads,
                          .depth = groups_depth(g->threads) };
    int rc = pipeline_run(&p);
    g->state = NULL;
    pthread_mutex_destroy(&s.lock);
    pthread_cond_destroy(&s.moved);
    return rc;
}
