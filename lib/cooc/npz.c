/* Counts as SciPy's sparse.save_npz writes a csr_matrix: words by words, both directions of a
 * symmetric pair. A row's pairs with earlier words come before its own in the file, in order of
 * those words: so each pair can be put where it belongs as it is read, and rows are sorted. What
 * is as long as the matrix lies in temporary files, mapped. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "common/bytes.h"
#include "common/err.h"
#include "common/files/file.h"
#include "common/files/npy.h"
#include "common/mem.h"
#include "lib/cooc/export.h"

struct room { FILE *f; unsigned char *p; size_t n; };      /* on disk, as memory */

static int room_open(struct room *r, size_t bytes)
{
    r->n = bytes ? bytes : 1;
    if (!(r->f = tmp_open(NULL))) return -1;
    /* Allocated at once: a full disk is an error here, and would be SIGBUS at a later store. */
    do errno = posix_fallocate(fileno(r->f), 0, (off_t)r->n); while (errno == EINTR);
    if (errno)
        return err_sys("cannot make a temporary file of %zu bytes; set TMPDIR to a folder with "
                       "more room", bytes);
    void *p = mmap(NULL, r->n, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(r->f), 0);
    if (p == MAP_FAILED) return err_sys("cannot map a temporary file");
    map_watch(r->p = p, r->n, "a temporary file");
    return 0;
}

static void room_close(struct room *r)
{
    if (r->p) {
        map_unwatch(r->p);
        munmap(r->p, r->n);
    }
    if (r->f) fclose(r->f);
}

struct csr {
    const struct cooc_view *w;
    bool twice;                    /* both directions of a symmetric pair */
    size_t wide;                   /* bytes of an index, 4 or 8, as SciPy chooses it */
    uint64_t *at;                  /* [words + 1] where the next pair of a row goes */
    struct room cols, data;
};

static int each_length(void *ctx, uint32_t row, uint32_t col, cooc_x x)
{
    struct csr *m = ctx;
    m->at[row - VOCAB_SPECIALS + 1]++;
    if (m->twice && row != col) m->at[col - VOCAB_SPECIALS + 1]++;
    /* looked at in the first pass, before anything is written; a sum over languages may leave the
     * 63 bits of each count */
    return m->w->counts && x >= 0x1p63L
               ? err_set("%s: a count above 2^63 - 1, the largest of NumPy's int64", m->w->c->path)
               : 0;
}

static void put_index(const struct csr *m, unsigned char *p, uint64_t i, uint64_t v)
{
    if (m->wide == 4) put32(p + 4 * i, (uint32_t)v);
    else put64(p + 8 * i, v);
}

static void put_cell(struct csr *m, uint32_t row, uint32_t col, cooc_x x)
{
    uint64_t i = m->at[row - VOCAB_SPECIALS]++, bits;
    double real = (double)x;
    if (m->w->counts) bits = (uint64_t)x;
    else memcpy(&bits, &real, 8);
    put_index(m, m->cols.p, i, col - VOCAB_SPECIALS);
    put64(m->data.p + 8 * i, bits);
}

static int each_cell(void *ctx, uint32_t row, uint32_t col, cooc_x x)
{
    struct csr *m = ctx;
    put_cell(m, row, col, x);
    if (m->twice && row != col) put_cell(m, col, row, x);
    return 0;
}

static int write_words(const struct vocab *v, struct out *out)
{
    for (uint32_t id = VOCAB_SPECIALS; id < v->n; id++)
        if (out_write(out, vocab_token(v, id), vocab_token_len(v, id)) < 0
            || out_write(out, "\n", 1) < 0)
            return -1;
    return 0;
}

/* members in SciPy's order */
static int write_matrix(struct csr *m, uint64_t n, uint64_t words, struct out *out)
{
    struct npz z = { .out = out };
    const char *index = m->wide == 4 ? "<i4" : "<i8";
    unsigned char *starts = mem_zero((size_t)words + 1, m->wide), shape[16];
    /* a row's next place is by now where the next row begins */
    for (uint64_t i = 0; i < words; i++) put_index(m, starts, i + 1, m->at[i]);
    put64(shape, words);
    put64(shape + 8, words);
    int rc = npz_put(&z, "indices", index, 1, &n, m->cols.p, (size_t)n * m->wide);
    if (rc == 0)
        rc = npz_put(&z, "indptr", index, 1, &(uint64_t){ words + 1 }, starts,
                     ((size_t)words + 1) * m->wide);
    if (rc == 0) rc = npz_put(&z, "format", "|S3", 0, NULL, "csr", 3);
    if (rc == 0) rc = npz_put(&z, "shape", "<i8", 1, &(uint64_t){ 2 }, shape, sizeof shape);
    if (rc == 0)
        rc = npz_put(&z, "data", m->w->counts ? "<i8" : "<f8", 1, &n, m->data.p, (size_t)n * 8);
    free(starts);
    return rc == 0 ? npz_end(&z) : -1;
}

int cooc_write_npz(const struct cooc_view *w, const char *path)
{
    uint64_t words = w->c->ids - VOCAB_SPECIALS;
    struct csr m = { .w = w, .twice = w->c->scheme.sides == COOC_SYMMETRIC };
    struct out *out = out_open_binary(path), *word_file = NULL;
    if (!out) return -1;
    m.at = mem_zero((size_t)words + 1, sizeof *m.at);
    int rc = cooc_view_each(w, each_length, &m);
    /* Lengths become first places. each_cell moves each of them to its row's end. */
    for (uint64_t i = 0; i < words; i++) m.at[i + 1] += m.at[i];
    uint64_t n = m.at[words];
    m.wide = n > INT32_MAX || words > INT32_MAX ? 8 : 4;
    if (rc == 0) rc = room_open(&m.cols, (size_t)n * m.wide);
    if (rc == 0) rc = room_open(&m.data, (size_t)n * 8);
    if (rc == 0) rc = cooc_view_each(w, each_cell, &m);
    if (rc == 0) rc = write_matrix(&m, n, words, out);
    if (rc == 0 && path && strcmp(path, "-")) {
        char *name = mem_alloc(strlen(path) + 7);
        sprintf(name, "%s.words", path);
        word_file = out_open(name);
        rc = word_file ? write_words(w->v, word_file) : -1;
        free(name);
    }
    room_close(&m.cols);
    room_close(&m.data);
    free(m.at);
    if (rc == 0) return word_file ? out_commit_pair(out, word_file) : out_commit(out);
    out_abort(word_file);
    out_abort(out);
    return -1;
}
