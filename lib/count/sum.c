#include "lib/count/sum.h"
#include <pthread.h>
#include <stdlib.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/thread.h"

/* --- writing ---------------------------------------------------------------------------------- */

#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>
#include "common/err.h"
#include "common/mem.h"

void blocks_init(struct blocks *b) { memset(b, 0, sizeof *b); }
void blocks_free(struct blocks *b) { free(b->p); free(b->index); blocks_init(b); }

void blocks_open(struct blocks *b)
{
    /* room for the largest block: blocks_put checks nothing */
    mem_room(&b->p, &b->cap, b->n + COOC_BLOCK * PAIR_BYTES, 1);
    b->open_at = b->n;
    b->state = (struct pair_state){ 0 };
}

void blocks_close(struct blocks *b)
{
    if (b->open_pairs == 0) return;
    mem_room(&b->index, &b->index_cap, (b->closed + 1) * INDEX_ENTRY, 1);
    unsigned char *e = b->index + b->closed++ * INDEX_ENTRY;
    size_t bytes = b->n - b->open_at;
    put32(e, b->first_row);
    put32(e + 4, b->first_col);
    put64(e + 8, b->open_at);
    put32(e + 16, (uint32_t)XXH3_64bits(b->p + b->open_at, bytes));
    put16(e + 20, b->open_pairs);
    put16(e + 22, (uint32_t)bytes);
    b->pairs += b->open_pairs;
    b->open_pairs = 0;
}

/* The index of the plane under way: in memory while small (some 5 million pairs), then in a
 * temporary file. */
enum { INDEX_MEMORY = 1 << 20 };

struct cooc_writer {
    struct out *o;
    uint64_t at;
    const char *tmp;
    uint32_t ids;
    char ref[COOC_LANG];
    unsigned char *directory; size_t planes, directory_cap;
    char lang[COOC_LANG];
    uint64_t data_at, data_size;
    unsigned char *index; size_t index_n, index_cap;
    FILE *index_file; uint64_t index_filed;
    XXH3_state_t *index_hash;
    uint64_t blocks;
};

static int put(struct cooc_writer *w, const void *p, size_t n)
{
    w->at += n;
    return n ? out_write(w->o, p, n) : 0;
}

static int align(struct cooc_writer *w)
{
    static const unsigned char zero[8];
    return put(w, zero, (size_t)(-w->at & 7));
}

struct cooc_writer *cooc_create(struct out *o, const struct cooc_head *h, const char *tmp)
{
    struct cooc_writer *w = mem_zero(1, sizeof *w);
    w->o = o;
    w->tmp = tmp;
    w->ids = h->ids;
    w->index_hash = XXH3_createState();
    if (!w->index_hash) mem_none(sizeof *w->index_hash);
    /* padded with zeros, as the footer has it */
    strncpy(w->ref, h->ref ? h->ref : "", COOC_LANG - 1);
    unsigned char p[HEADER_BYTES] = { 0 };
    memcpy(p, COOC_MAGIC, 8);
    /* without a list of skipped tokens, what versions before it read, byte for byte */
    put32(p + 8, h->skip_size ? FORMAT_VERSION : FORMAT_WITHOUT_SKIP);
    put32(p + 12, HEADER_BYTES);
    put32(p + 16, h->scheme.window);
    p[20] = (unsigned char)h->scheme.weights;
    p[21] = (unsigned char)h->scheme.sides;
    p[22] = (unsigned char)h->scheme.oov;
    put64(p + 24, h->scheme.unit);
    put32(p + 32, h->ids);
    put32(p + 36, COOC_BLOCK);
    put64(p + 40, h->vocab_hash);
    put64(p + 48, h->tokens_size);
    if (h->skip_size) {
        put64(p + 56, XXH3_64bits(h->skip, h->skip_size));
        put64(p + 64, h->skip_size);
    }
    put64(p + 120, XXH3_64bits(p, 120));
    if (put(w, p, sizeof p) < 0 || put(w, h->tokens, h->tokens_size) < 0
        || put(w, h->skip, h->skip_size) < 0 || align(w) < 0) {
        cooc_abandon(w);
        return NULL;
    }
    return w;
}

int cooc_plane_begin(struct cooc_writer *w, const char *lang)
{
    memset(w->lang, 0, sizeof w->lang);
    strncpy(w->lang, lang, COOC_LANG - 1);
    w->data_at = w->at;
    w->index_n = w->blocks = w->index_filed = 0;
    XXH3_64bits_reset(w->index_hash);
    return 0;
}

int cooc_plane_blocks(struct cooc_writer *w, const struct blocks *b)
{
    if (w->index_n + b->closed * INDEX_ENTRY > INDEX_MEMORY && w->index_n) {
        if (!w->index_file && !(w->index_file = tmp_open(w->tmp))) return -1;
        if (fwrite(w->index, 1, w->index_n, w->index_file) != w->index_n)
            return err_sys("%s: cannot write a temporary file", w->tmp ? w->tmp : "TMPDIR");
        w->index_filed += w->index_n;
        w->index_n = 0;
    }
    mem_room(&w->index, &w->index_cap, w->index_n + b->closed * INDEX_ENTRY, 1);
    unsigned char *e = w->index + w->index_n;
    memcpy(e, b->index, b->closed * INDEX_ENTRY);
    /* Blocks count from the beginning of their group; the index, from that of the plane. */
    for (size_t i = 0; i < b->closed; i++)
        put64(e + i * INDEX_ENTRY + 8, get64(e + i * INDEX_ENTRY + 8) + w->at - w->data_at);
    XXH3_64bits_update(w->index_hash, e, b->closed * INDEX_ENTRY);
    w->index_n += b->closed * INDEX_ENTRY;
    w->blocks += b->closed;
    return put(w, b->p, b->n);
}

static int put_index(struct cooc_writer *w)
{
    if (w->index_filed) {
        static const char what[] = "%s: cannot use a temporary file";
        const char *dir = w->tmp ? w->tmp : "TMPDIR";
        if (fflush(w->index_file) != 0 || fseeko(w->index_file, 0, SEEK_SET) != 0)
            return err_sys(what, dir);
        unsigned char buf[1 << 14];
        for (uint64_t left = w->index_filed; left; ) {
            size_t n = left < sizeof buf ? left : sizeof buf;
            if (fread(buf, 1, n, w->index_file) != n) return err_sys(what, dir);
            if (put(w, buf, n) < 0) return -1;
            left -= n;
        }
        /* the next plane's index overwrites this one */
        if (fseeko(w->index_file, 0, SEEK_SET) != 0) return err_sys(what, dir);
    }
    return put(w, w->index, w->index_n);
}

int cooc_plane_end(struct cooc_writer *w, const struct cooc_totals *t, const uint64_t *word_count)
{
    w->data_size = w->at - w->data_at;
    if (align(w) < 0) return -1;
    uint64_t index_at = w->at;
    if (put_index(w) < 0) return -1;
    uint64_t words_at = w->at;
    XXH3_state_t h;
    XXH3_64bits_reset(&h);
    unsigned char buf[1 << 12];
    int rc = 0;
    for (uint32_t id = VOCAB_SPECIALS; id < w->ids && rc == 0; ) {
        unsigned char *p = buf;
        /* a varint of 64 bits has ten bytes at most */
        for (; id < w->ids && p < buf + sizeof buf - 10; id++) p = varint_put(p, word_count[id]);
        XXH3_64bits_update(&h, buf, (size_t)(p - buf));
        rc = put(w, buf, (size_t)(p - buf));
    }
    uint64_t words_size = w->at - words_at, words_hash = XXH3_64bits_digest(&h);
    if (rc < 0 || align(w) < 0) return -1;

    mem_room(&w->directory, &w->directory_cap, (w->planes + 1) * DIRECTORY_ENTRY, 1);
    unsigned char *e = w->directory + w->planes++ * DIRECTORY_ENTRY;
    memcpy(e, w->lang, COOC_LANG);
    /* in the order of the directory (docs/formats/cooc.md) */
    const uint64_t field[] = { t->sentences,
                               t->tokens,
                               t->unknown,
                               t->pairs,
                               t->rows,
                               t->max,
                               (uint64_t)t->mass,
                               (uint64_t)(t->mass >> 64),
                               w->data_at,
                               w->data_size,
                               index_at,
                               w->blocks,
                               XXH3_64bits_digest(w->index_hash),
                               words_at,
                               words_size,
                               words_hash };
    for (size_t i = 0; i < sizeof field / sizeof *field; i++)
        put64(e + COOC_LANG + 8 * i, field[i]);
    return 0;
}

int cooc_finish(struct cooc_writer *w)
{
    unsigned char f[FOOTER_BYTES] = { 0 };
    put64(f, w->at);
    put32(f + 8, (uint32_t)w->planes);
    memcpy(f + 16, w->ref, COOC_LANG);
    XXH3_state_t h;
    XXH3_64bits_reset(&h);
    XXH3_64bits_update(&h, w->directory, w->planes * DIRECTORY_ENTRY);
    XXH3_64bits_update(&h, f, 48);
    put64(f + 48, XXH3_64bits_digest(&h));
    memcpy(f + 56, COOC_END, 8);
    int rc = put(w, w->directory, w->planes * DIRECTORY_ENTRY);
    if (rc == 0) rc = put(w, f, sizeof f);
    cooc_abandon(w);
    return rc;
}

void cooc_abandon(struct cooc_writer *w)
{
    if (!w) return;
    if (w->index_file) fclose(w->index_file);
    XXH3_freeState(w->index_hash);
    free(w->directory);
    free(w->index);
    free(w);
}

char *cooc_tokens(const struct vocab *v, size_t *size)
{
    size_t from = v->at[VOCAB_SPECIALS], n = v->at[v->n] - from;
    char *p = mem_alloc(n);
    memcpy(p, v->bytes + from, n);
    for (uint32_t id = VOCAB_SPECIALS; id < v->n; id++) p[v->at[id + 1] - 1 - from] = '\n';
    *size = n;
    return p;
}

/* --- sums ------------------------------------------------------------------------------------- */

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
    /* Never 0, so that ADD never notes them as new columns. */
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
    /* The array is zero again for the next row, at the cost of its own columns only. */
    r->sum[col] = 0;
}

int row_sum_put(struct row_sum *r, uint32_t row, struct blocks *b, struct groups *g)
{
    /* Sums are of 64 bits and counts in a file of 63: `over` has the highest bit of any sum, since
     * a check per addition would be in the innermost loop. */
    if (r->over >> 63)
        return err_set("a count above 2^63 - 1 in the row of id %u; use a smaller window or flat "
                       "weights, or count less text",
                       row);
    if (r->n == 0) return 0;
    b->rows++;
    uint32_t n = r->n, *t = r->touched;
    r->n = 0;
    r->over = 0;
    /* Few columns: insertion sort. More: a bitmap of columns and one of its words, read in order,
     * which sorts without comparisons and is linear in the columns. */
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
        /* a row can be longer than what may wait */
        if (groups_room(g, b) < 0) return -1;
    }
    memset(r->top, 0, tops * sizeof *r->top);
    return 0;
}

/* --- groups ----------------------------------------------------------------------------------- */

/* A group with more blocks than the limit waits until those before it are written, then writes as
 * it goes: bytes come in the order of groups, whatever thread makes them. */
struct groups_state {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    uint32_t turn;              /* the group whose bytes come next */
    bool failed;
    uint32_t next;              /* to hand out */
};
struct group_item { uint32_t group; struct blocks b; unsigned char *out; size_t n, cap; };

/* Groups that are done wait to be written in order, while their threads make others. */
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

/* make() calls groups_room() for the group that its thread works on, without having to pass it
 * through. */
static _Thread_local struct group_item *this_item;
static _Thread_local int this_thread;

static int pack(struct groups *g, int thread, const struct blocks *b, struct group_item *it)
{
    /* give() writes nothing then, and looks at no size */
    if (!g->pack || !b->closed) return 0;
    ssize_t n = g->pack(g->ctx, thread, b, &it->out, &it->cap);
    if (n < 0) return -1;
    it->n = (size_t)n;
    return 0;
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
    /* until it is this group's turn, since what it writes now cannot be moved later */
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
    /* a group that waits for this one's turn would wait for ever */
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
    /* one call at a time: the totals need no lock */
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
