#include "lib/count/intake.h"
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include "common/err.h"
#include "common/files/io.h"
#include "common/id_table.h"
#include "common/mem.h"
#include "common/text/shard.h"
#include "common/text/text.h"
#include "common/thread.h"
#include "common/utf8.h"
#include "lib/cooc/pairs.h"
#include "lib/count/plan.h"

/* One table per thread: no lock per word. A word's bytes are in its arena, so that a million words
 * are not a million allocations. */
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
    /* an offset and no pointer: the arena moves as it grows */
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
    /* asked once per piece, not per word: a table grows by doubling anyway */
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
                         /* one share more: the first table takes in the others */
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
        /* Sums do not depend on which thread saw a word, nor does the order below: equal counts are
         * ordered by bytes. */
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
        /* qsort has no room for a context; one collection runs at a time */
        sort_bytes = t->bytes;
        if (kept) qsort(t->word, kept, sizeof *t->word, by_count);
        const char **token = mem_alloc(kept * sizeof *token);
        uint64_t *count = mem_alloc(kept * sizeof *count);
        for (size_t k = 0; k < kept; k++) {
            token[k] = t->bytes + t->word[k].at;
            count[k] = t->word[k].count;
        }
        /* a vocabulary's offsets are of 32 bits */
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

/* --- intake ----------------------------------------------------------------------------------- */

enum { SHARD_PIECE = 1 << 16 };       /* ids */

struct intake {
    const struct cooc_input *in;
    int n, at;                        /* the input under way is in[at] */
    const struct cooc_count_opts *o;
    size_t want, longest;
    struct text *text;
    struct shard *shard;
    uint64_t done, here;              /* bytes of inputs before this one, and of this one */
    bool open;                        /* the piece before ended within a line, */
    uint64_t column;                  /* after so many of its bytes */
};

bool intake_is_regular(const char *path, uint64_t *size)
{
    struct stat st;
    if (!strcmp(path, "-") || stat(path, &st) != 0 || !S_ISREG(st.st_mode)) return false;
    if (size) *size = (uint64_t)st.st_size;
    return true;
}

bool intake_is_shard(const char *path)
{
    char head[8];
    if (!intake_is_regular(path, NULL)) return false;
    int fd = io_open(path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0) return false;
    bool yes = io_read(fd, head, 8) == 8 && !memcmp(head, "ISGSHRD\n", 8);
    close(fd);
    return yes;
}

/* What zstd's decoder will allocate for a compressed input, as its frame header says (RFC 8878,
 * 3.1.1): up to gigabytes with --long, which --memory must know before counting begins. */
uint64_t intake_window(const char *path)
{
    /* magic, descriptor, window or not, dictionary up to 4 bytes, size up to 8; a short file's
     * bytes that are not there are 0 */
    unsigned char h[18] = { 0 };
    if (!intake_is_regular(path, NULL)) return 0;
    int fd = io_open(path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0) return 0;
    bool zstd = io_read(fd, h, sizeof h) > 5 && get32(h) == 0xFD2FB528;
    close(fd);
    if (!zstd) return 0;
    if (!(h[4] & 32)) {                            /* a window descriptor follows */
        uint64_t base = (uint64_t)1 << (10 + (h[5] >> 3));
        return base + base / 8 * (h[5] & 7);
    }
    /* the frame is its own window */
    const unsigned char *size = h + 5 + (const int[]){ 0, 1, 2, 4 }[h[4] & 3];
    switch (h[4] >> 6) {
    case 0: return size[0];
    case 1: return get16(size) + 256;
    case 2: return get32(size);
    default: return get64(size);
    }
}

int intake_shard_lang(const char *path, char lang[COOC_LANG])
{
    struct shard *s = shard_open(path);
    if (!s) return -1;
    struct shard_info info;
    shard_info(s, &info);
    snprintf(lang, COOC_LANG, "%s", info.lang);
    shard_close(s);
    return 0;
}

struct intake *intake_open(const struct cooc_input *in, int n, const struct cooc_count_opts *o,
                           size_t piece_bytes)
{
    struct intake *k = mem_zero(1, sizeof *k);
    k->in = in;
    k->n = n;
    k->o = o;
    k->want = piece_bytes;
    k->longest = plan_longest_word(o, piece_bytes);
    return k;
}

void intake_close(struct intake *k)
{
    if (!k) return;
    text_close(k->text);
    if (k->shard) shard_close(k->shard);
    free(k);
}

uint64_t intake_read(const struct intake *k)
{
    uint64_t read = 0, total;
    if (k->text) text_where(k->text, &read, &total);
    return k->done + read + k->here;
}

static const char *name_of(const struct cooc_input *in)
{
    return in->name ? in->name : !strcmp(in->path, "-") ? "standard input" : in->path;
}

static int open_next(struct intake *k)
{
    const char *path = k->in[k->at].path, *name = name_of(&k->in[k->at]);
    bool std_in = !strcmp(path, "-");
    if (std_in ? !k->o->shards : !intake_is_shard(path))
        return (k->text = text_open_as(path, name, TEXT_RAW)) ? 0 : -1;
    /* the caller's, not a collected one, whose ids would be others */
    if (!k->o->vocab)
        return err_set(
            "%s: is a shard, whose ids mean nothing without a vocabulary; name it with -v", name);
    if (!(k->shard = shard_open(path))) return -1;
    struct shard_info info;
    shard_info(k->shard, &info);
    if (info.vocab_hash != k->o->vocab->hash || info.vocab_size != k->o->vocab->n)
        return err_set(
            "%s: was made with another vocabulary than that of -v; give the one that binarize used",
            name);
    return 0;
}

/* Sentences of the shard until the piece is full. */
static int shard_piece(struct intake *k, struct piece *p)
{
    const uint32_t *ids;
    size_t n;
    int rc = 1;
    p->ids_n = 0;
    while (p->ids_n < SHARD_PIECE && (rc = shard_next(k->shard, &ids, &n)) > 0) {
        mem_room(&p->ids, &p->ids_cap, p->ids_n + n + 1, sizeof *p->ids);
        uint32_t *to = p->ids + p->ids_n;
        /* Specials are not words of the text: they count as unknown. */
        for (size_t i = 0; i < n; i++) to[i] = ids[i] < VOCAB_SPECIALS ? SEG_GAP : ids[i];
        to[n] = SEG_END;
        p->ids_n += n + 1;
        /* an estimate for the progress bar */
        k->here += n * 2;
    }
    p->is_ids = true;
    return rc < 0 ? -1 : p->ids_n > 0;
}

/* A line that is longer than a piece comes in several. */
static int text_piece(struct intake *k, struct piece *p)
{
    int rc = text_part(k->text, k->want, k->longest, &p->text, &p->cap, &p->n);
    /* A line still open ends with the text: one more piece, empty, says so. */
    if (rc < 0 || (rc == 0 && !k->open)) return rc;
    if (rc == 0) p->n = 0;                         /* the end of a last line without newline */
    /* zeros after the text end its last token, so that looking up needs no test for the end */
    mem_room(&p->text, &p->cap, p->n + LOOKUP_PAST, 1);
    memset(p->text + p->n, 0, LOOKUP_PAST);
    p->line = text_lineno(k->text);
    /* where in its line the piece begins, for messages */
    p->byte = k->open ? k->column : 0;
    p->begun = k->open;
    p->open = k->open = rc > 0 && !text_had_newline(k->text);
    /* of a line that goes on: text is cut behind a newline where a piece has one */
    k->column = p->byte + p->n;
    return 1;
}

int intake_next(struct intake *k, struct piece *p)
{
    for (; k->at < k->n; k->at++) {
        if (!k->text && !k->shard && open_next(k) < 0) return -1;
        p->is_ids = p->begun = p->open = false;
        p->name = name_of(&k->in[k->at]);
        int rc = k->shard ? shard_piece(k, p) : text_piece(k, p);
        if (rc != 0) return rc;
        uint64_t size = 0;
        if (k->shard) shard_close(k->shard);
        text_close(k->text);
        k->shard = NULL;
        k->text = NULL;
        k->here = 0;
        /* its size stands for what was read of it: of a shard that was estimated */
        if (intake_is_regular(k->in[k->at].path, &size)) k->done += size;
    }
    return 0;
}

int piece_check(const struct piece *p)
{
    if (p->is_ids) return 0;
    const char *nul = memchr(p->text, 0, p->n);
    size_t good = utf8_check(p->text, p->n), bad = nul ? (size_t)(nul - p->text) : p->n;
    if (good == p->n && !nul) return 0;
    /* the first fault of both kinds is the one to name */
    bool is_nul = nul && bad <= good;
    if (!is_nul) bad = good;
    uint64_t line = p->line, before = p->byte;
    size_t begin = 0;
    for (const char *nl; (nl = memchr(p->text + begin, '\n', bad - begin));
         begin = (size_t)(nl - p->text) + 1, before = 0)
        line++;
    const char *what = is_nul ? "is a NUL; this is not text, or clean it with tr -d '\\000'"
                              : "is not UTF-8; ";
    const char *advice = is_nul ? "" : encoding_advice(p->text + begin, p->n - begin,
                                                       line == 1 && !before);
    return err_set("%s:%" PRIu64 ": byte %" PRIu64 " %s%s", p->name, line,
                   before + bad - begin + 1, what, advice);
}

void piece_free(struct piece *p)
{
    if (!p) return;
    free(p->text);
    free(p->ids);
    free(p);
}
