#include "lib/ngrams/spool.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/id_table.h"
#include "common/mem.h"
#include "common/text/text.h"
#include "common/thread.h"
#include "lib/bpe/scan.h"

/* 256 KiB of text for a thread at a time; 64 look-ups wait together */
enum { BLOCK = 1 << 18, BATCH = 64 };

struct input { const char *path, *name; FILE *copy; char at[32]; };

static int cannot_write(const struct ngrams_options *o)
{
    return err_sys("%s: cannot write a temporary file; name a folder with more room (--tmp)",
                   o->tmp ? o->tmp : "TMPDIR");
}

/* Input that can be read only once is copied to a file without a name, since each length of n-gram
 * is a pass over the text. */
static int input_open(struct input *in, const char *path, const struct ngrams_options *o)
{
    struct stat st;
    bool std_in = !strcmp(path, "-");
    *in = (struct input){ path, std_in ? "standard input" : path, NULL, "" };
    /* a path that cannot be looked at is left to text_open_as, which says why */
    if (!std_in && (stat(path, &st) != 0 || S_ISREG(st.st_mode))) return 0;
    FILE *from = std_in ? stdin : fopen(path, "re");
    if (!from) return file_cannot_open(path);
    if (fstat(fileno(from), &st) == 0 && S_ISDIR(st.st_mode)) {
        if (!std_in) fclose(from);
        return file_is_folder(in->name);
    }
    if (!(in->copy = tmp_open(o->tmp))) return -1;
    char buf[1 << 16];
    int rc = 0;
    for (size_t k; rc == 0 && (k = fread(buf, 1, sizeof buf, from)) > 0;)
        if (fwrite(buf, 1, k, in->copy) != k) rc = cannot_write(o);
    if (rc == 0 && ferror(from)) rc = err_sys("%s: cannot be read", in->name);
    /* text_open_as opens the copy anew through /proc: what stdio holds back would be missing */
    if (rc == 0 && fflush(in->copy) != 0) rc = cannot_write(o);
    if (!std_in) fclose(from);
    /* the copy has no name (tmp_open): this is how it is opened again, from its beginning */
    snprintf(in->at, sizeof in->at, "/proc/self/fd/%d", fileno(in->copy));
    in->path = in->at;
    return rc;
}

/* --- texts to numbers --- */

struct numbers { const struct counted_word *word; struct id_table table; };

static struct numbers numbers_of(const struct counted_word *word, uint32_t n)
{
    struct numbers t = { word, { 0 } };
    ID_INDEX(&t.table, id_table_slots(16, n), n, id,
             word_hash(word[id - 1].s, word[id - 1].n));
    return t;
}

struct found { const char *s; size_t n; uint32_t at; };

static uint32_t number_of(const struct numbers *t, const struct found *f)
{
    uint32_t number = *ID_FIND(&t->table, f->at, id,
                               t->word[id - 1].n == f->n
                                   && word_same(t->word[id - 1].s, f->s, f->n));
    /* a word of the text that is too rare to be numbered still stands between its neighbours */
    return number ? number : SPOOL_RARE;
}

/* The numbers of n words, which wait for memory together. */
static void number_all(const struct numbers *t, const struct found *f, uint32_t *id, size_t n)
{
    const uint32_t *slot = t->table.slot;
    for (size_t i = 0; i < n; i++)
        /* an empty slot has no word to fetch */
        if (slot[f[i].at]) __builtin_prefetch(&t->word[slot[f[i].at] - 1]);
    for (size_t i = 0; i < n; i++)
        if (slot[f[i].at]) __builtin_prefetch(t->word[slot[f[i].at] - 1].s);
    for (size_t i = 0; i < n; i++) id[i] = number_of(t, &f[i]);
}

struct block {
    char *text;
    size_t n, cap;
    uint32_t *id;
    size_t ids, ids_cap;
    uint64_t tokens, places[NGRAMS_LONGEST + 1];
};
struct job {
    struct spool *s;
    struct numbers numbers;
    const struct ngrams_options *o;
    struct text *in;
};

static void block_free(struct block *b)
{
    free(b->text);
    free(b->id);
    free(b);
}

static void *read_block(void *ctx, bool *failed)
{
    struct job *j = ctx;
    struct block *b = mem_zero(1, sizeof *b);
    int rc = text_block(j->in, BLOCK, &b->text, &b->cap, &b->n);
    if (rc > 0) return b;
    *failed = rc < 0;
    block_free(b);
    return NULL;
}

static int number_block(void *ctx, void *item, int thread)
{
    struct job *j = ctx;
    struct block *b = item;
    (void)thread;
    const char *s = b->text, *end = s + b->n;
    struct found found[BATCH];
    while (s < end) {
        const char *nl = memchr(s, '\n', (size_t)(end - s)), *to = nl ? nl : end;
        uint64_t length = 0;
        while (s < to) {
            size_t waiting = 0;
            for (; s < to && waiting < BATCH;) {
                size_t n = word_end(s, (size_t)(to - s));
                uint32_t at = n ? (uint32_t)word_hash(s, n) & j->numbers.table.mask : 0;
                __builtin_prefetch(&j->numbers.table.slot[at]);
                if (n) found[waiting++] = (struct found){ s, n, at };
                s += n + 1;
            }
            /* + 1: the 0 that ends the line */
            mem_room(&b->id, &b->ids_cap, b->ids + waiting + 1, sizeof *b->id);
            number_all(&j->numbers, found, b->id + b->ids, waiting);
            b->ids += waiting;
            length += waiting;
        }
        s = to + 1;
        /* an empty line would be a 0 beside a 0: it says nothing */
        if (!length) continue;
        b->id[b->ids++] = 0;
        b->tokens += length;
        for (uint64_t k = 1; k <= (uint64_t)j->o->longest && k <= length; k++)
            /* of `length` words, length - k + 1 begin a k-gram (N_k in ngrams.h) */
            b->places[k] += length - k + 1;
    }
    return 0;
}

static int write_block(void *ctx, void *item)
{
    struct job *j = ctx;
    struct block *b = item;
    struct spool *s = j->s;
    int rc = b->ids && fwrite(b->id, sizeof *b->id, b->ids, s->file) != b->ids ? cannot_write(j->o)
                                                                               : 0;
    s->n += b->ids;
    s->tokens += b->tokens;
    for (int k = 1; k <= j->o->longest; k++) s->places[k] += b->places[k];
    block_free(b);
    return rc;
}

static void drop_block(void *ctx, void *item)
{
    (void)ctx;
    block_free(item);
}

static int number_texts(struct spool *s, const struct input *in, int n,
                        const struct ngrams_options *o)
{
    struct job j = { s, numbers_of(s->word, s->frequent), o, NULL };
    int rc = (s->file = tmp_open(o->tmp)) ? 0 : -1;
    for (int i = 0; i < n && rc == 0; i++) {
        struct pipeline p = {
            read_block, number_block, write_block, drop_block, &j, o->threads, 0
        };
        /* the first pass (word_counts_read) has refused what is not UTF-8 */
        rc = (j.in = text_open_as(in[i].path, in[i].name, TEXT_RAW)) ? pipeline_run(&p) : -1;
        text_close(j.in);
    }
    if (rc == 0 && fflush(s->file) != 0) rc = cannot_write(o);
    id_table_free(&j.numbers.table);
    return rc;
}

int spool_read(struct spool *s, const char *const *path, int n, const struct ngrams_options *o)
{
    struct input *in = mem_zero((size_t)n, sizeof *in);
    size_t words = 0;
    int rc = 0;
    *s = (struct spool){ .of = word_counts_new(o->threads) };
    /* the other half is for numbering, when the table of words is still there */
    word_counts_limit(s->of, o->memory / 2);
    for (int i = 0; i < n && rc == 0; i++) {
        struct text *t = NULL;
        rc = input_open(&in[i], path[i], o) < 0
                     || !(t = text_open_as(in[i].path, in[i].name, TEXT_RAW))
                 ? -1
                 : word_counts_read(s->of, t, 0);
        text_close(t);
    }
    if (rc == 0 && !(s->word = word_counts_list(s->of, &words))) rc = -1;
    s->words = words;
    if (rc == 0) {
        size_t kept = 0;
        for (size_t i = 0; i < words; i++)
            if (s->word[i].count >= o->min_count) s->word[kept++] = s->word[i];
        /* by falling count and bytes, whatever thread met a word first */
        word_counts_sort(s->word, kept);
        s->frequent = (uint32_t)kept;
        /* numbers up to kept, 0 and SPOOL_RARE must differ */
        rc = kept < SPOOL_RARE - 1 ? number_texts(s, in, n, o)
                                   : err_set("more than 2^32 different words");
    }
    for (int i = 0; i < n; i++)
        if (in[i].copy) fclose(in[i].copy);
    free(in);
    if (rc < 0) spool_free(s);
    return rc;
}

void spool_free(struct spool *s)
{
    if (s->file) fclose(s->file);
    free(s->word);
    word_counts_free(s->of);
    *s = (struct spool){ 0 };
}
