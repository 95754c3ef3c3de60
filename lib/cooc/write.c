#include "lib/cooc/write.h"
#include <stdlib.h>
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>
#include "common/err.h"
#include "common/mem.h"

void blocks_init(struct blocks *b) { memset(b, 0, sizeof *b); }
void blocks_free(struct blocks *b) { free(b->p); free(b->index); blocks_init(b); }

void blocks_open(struct blocks *b)
{
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

/* The index of the plane under way: in memory while small, then in a temporary file. */
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
    strncpy(w->ref, h->ref ? h->ref : "", COOC_LANG - 1);
    unsigned char p[HEADER_BYTES] = { 0 };
    memcpy(p, COOC_MAGIC, 8);
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
        for (; id < w->ids && p < buf + sizeof buf - 10; id++) p = varint_put(p, word_count[id]);
        XXH3_64bits_update(&h, buf, (size_t)(p - buf));
        rc = put(w, buf, (size_t)(p - buf));
    }
    uint64_t words_size = w->at - words_at, words_hash = XXH3_64bits_digest(&h);
    if (rc < 0 || align(w) < 0) return -1;

    mem_room(&w->directory, &w->directory_cap, (w->planes + 1) * DIRECTORY_ENTRY, 1);
    unsigned char *e = w->directory + w->planes++ * DIRECTORY_ENTRY;
    memcpy(e, w->lang, COOC_LANG);
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
    char *p = mem_alloc(n + 1);
    memcpy(p, v->bytes + from, n);
    for (uint32_t id = VOCAB_SPECIALS; id < v->n; id++) p[v->at[id + 1] - 1 - from] = '\n';
    *size = n;
    return p;
}
