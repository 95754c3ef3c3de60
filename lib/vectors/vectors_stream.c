#include "lib/vectors/vectors.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/mem.h"

enum { ROWS, WORDS, STARTS, SPOOLS };

struct vectors_stream {
    char *path;
    enum vectors_format f;
    int dim;
    uint64_t n;
    struct out *out;
    FILE *spool[SPOOLS];
    size_t bytes;
};

static int spool(struct vectors_stream *s, int which, const void *p, size_t n)
{
    return !n || fwrite(p, 1, n, s->spool[which]) == n
               ? 0
               : err_sys("%s: cannot write a temporary file; set TMPDIR to a folder with more room",
                         s->path ? s->path : "standard output");
}

struct vectors_stream *vectors_stream_open(const char *path, enum vectors_format f, int dim)
{
    struct vectors_stream *s = mem_zero(1, sizeof *s);
    s->path = path ? mem_dup(path) : NULL;
    s->f = vectors_format_of(path, f);
    s->dim = dim;
    bool ok = true;
    if (s->f == VECTORS_TEXT) ok = (s->out = out_open(path));
    else if (vectors_check(path, s->f) < 0) ok = false;
    else
        /* These forms need the number of rows, or all rows, before the words: what comes lies on
         * disk until then. */
        for (int i = 0; ok && i < SPOOLS; i++) ok = (s->spool[i] = tmp_open(NULL));
    if (ok && (s->f == VECTORS_TEXT || spool(s, STARTS, &s->bytes, sizeof s->bytes) == 0)) return s;
    vectors_stream_close(s, false);
    return NULL;
}

int vectors_stream_rows(struct vectors_stream *s, uint64_t n)
{
    return s->out ? vectors_put_header(s->out, n, s->dim) : 0;
}

int vectors_stream_put(struct vectors_stream *s, const char *word, size_t len, const float *x)
{
    s->n++;
    if (s->out) return vectors_put(s->out, word, len, x, s->dim);
    s->bytes += len + 1;
    if (spool(s, ROWS, x, (size_t)s->dim * sizeof *x) < 0 || spool(s, WORDS, word, len) < 0
        || spool(s, WORDS, "", 1) < 0)
        return -1;
    return spool(s, STARTS, &s->bytes, sizeof s->bytes);
}

/* The spools as a set of vectors over mappings of them, written. */
static int write_all(struct vectors_stream *s)
{
    size_t size[SPOOLS] = { (size_t)s->n * (size_t)s->dim * sizeof(float), s->bytes,
                            ((size_t)s->n + 1) * sizeof s->bytes };
    void *p[SPOOLS] = { 0 };
    /* the most that vectors_read takes */
    int r = s->n && s->n < UINT32_MAX / 4
                ? 0
                : err_set("%llu vectors: text can hold them, this form cannot",
                          (unsigned long long)s->n);
    for (int i = 0; r == 0 && i < SPOOLS; i++) {
        if (fflush(s->spool[i]))
            r = err_sys("%s: cannot write a temporary file; set TMPDIR to a folder with more room",
                        s->path ? s->path : "standard output");
        else if ((p[i] = mmap(NULL, size[i], PROT_READ, MAP_PRIVATE, fileno(s->spool[i]), 0))
                 == MAP_FAILED) {
            p[i] = NULL;
            r = err_sys("%s: cannot map a temporary file", s->path ? s->path : "standard output");
        } else if (p[i]) map_watch(p[i], size[i], "a temporary file");
    }
    if (r == 0) {
        struct vectors v = {
            .n = (uint32_t)s->n, .dim = s->dim, .x = p[ROWS], .bytes = p[WORDS], .at = p[STARTS]
        };
        r = vectors_write(&v, s->path, s->f);
    }
    for (int i = 0; i < SPOOLS; i++)
        if (p[i]) {
            map_unwatch(p[i]);
            munmap(p[i], size[i]);
        }
    return r;
}

int vectors_stream_close(struct vectors_stream *s, bool keep)
{
    int r = keep ? 0 : -1;
    if (s->out && keep) r = out_commit(s->out);
    else if (s->out) out_abort(s->out);
    else if (keep) r = write_all(s);
    for (int i = 0; i < SPOOLS; i++)
        if (s->spool[i]) fclose(s->spool[i]);
    free(s->path);
    free(s);
    return r;
}
