#include <stdlib.h>
#include "common/err.h"
#include "common/mem.h"
#include "lib/count/count.h"
#include "lib/count/stream.h"

struct merge {
    struct cooc **in; int n;
    struct { int file, plane; } *part; int parts;       /* what is added into the plane under way */
    struct row_sum *sum;
    struct stream **stream;                             /* [threads][n] */
    struct cooc_writer *w;
    uint32_t ids;
    uint64_t every;                                     /* blocks that a cursor keeps mapped */
};

static int make(void *ctx, uint32_t group, int thread, struct groups *g, struct blocks *b)
{
    struct merge *m = ctx;
    uint64_t last = group_first(group + 1);
    if (last > m->ids) last = m->ids;
    for (int i = 0; i < m->parts; i++) {
        stream_of_file(&m->stream[thread][i], m->in[m->part[i].file], m->part[i].plane,
                       (uint32_t)group_first(group), (uint32_t)last);
        /* after stream_of_file, which sets its own */
        m->stream[thread][i].file.every = m->every;
    }
    int rc = streams_make(m->stream[thread], (size_t)m->parts, group, m->ids, &m->sum[thread], g,
                          b);
    /* Pages that other threads still read come back from the file. */
    for (int i = 0; i < m->parts; i++) cooc_forget(m->in[m->part[i].file]);
    return rc;
}

static int write_plane(void *ctx, uint32_t group, const struct blocks *b, const unsigned char *p,
                       size_t n)
{
    (void)group; (void)p; (void)n;
    return cooc_plane_blocks(((struct merge *)ctx)->w, b);
}

static int add_totals(struct cooc_totals *t, const struct cooc_totals *u, const char *path)
{
    if (__builtin_add_overflow(t->sentences, u->sentences, &t->sentences)
        || __builtin_add_overflow(t->tokens, u->tokens, &t->tokens)
        || __builtin_add_overflow(t->unknown, u->unknown, &t->unknown))
        return err_set("%s: adding it makes the totals exceed 64 bits", path);
    return 0;
}

/* The lowest language above `after` (NULL: any) of any file; NULL if none is left. Planes are
 * written in this order. */
static const char *next_lang(struct merge *m, const char *after)
{
    const char *best = NULL;
    for (int i = 0; i < m->n; i++)
        for (int k = 0; k < m->in[i]->planes; k++) {
            const char *l = m->in[i]->plane[k].total.lang;
            if ((!after || strcmp(l, after) > 0) && (!best || strcmp(l, best) < 0)) best = l;
        }
    return best;
}

static int merge_plane(struct merge *m, const char *lang, int threads, size_t limit,
                       uint64_t *words)
{
    struct cooc_totals t = { 0 };
    memset(words, 0, m->ids * sizeof *words);
    m->parts = 0;
    for (int i = 0; i < m->n; i++) {
        int k = cooc_plane_find(m->in[i], lang);
        if (k < 0) continue;
        m->part[m->parts].file = i;
        m->part[m->parts++].plane = k;
        if (add_totals(&t, &m->in[i]->plane[k].total, m->in[i]->path) < 0
            || cooc_word_counts(m->in[i], k, words) < 0)
            return -1;
    }
    struct groups g = { .groups = group_count(m->ids),
                        .threads = threads,
                        .limit = limit,
                        .make = make,
                        .write = write_plane,
                        .ctx = m,
                        .total = &t };
    if (cooc_plane_begin(m->w, lang) < 0 || groups_run(&g) < 0) return -1;
    return cooc_plane_end(m->w, &t, words);
}

/* The reference that the merged file records: what was asked for, or what the files agree on. -1
 * with a message. */
static int reference(const struct merge *m, const char **ref)
{
    const char *from = NULL;
    if (*ref) {
        for (int i = 0; i < m->n; i++)
            if (cooc_plane_find(m->in[i], *ref) >= 0) return 0;
        return err_set("no file has counts of \"%s\"; name one of their languages with --normalize",
                       *ref);
    }
    *ref = "";
    for (int i = 0; i < m->n; i++) {
        if (!m->in[i]->ref[0]) continue;
        if (from && strcmp(*ref, m->in[i]->ref) != 0)
            return err_set("%s: its reference language is \"%s\", but \"%s\" in %s; say which with "
                           "--normalize",
                           m->in[i]->path, m->in[i]->ref, *ref, from);
        *ref = m->in[i]->ref;
        from = m->in[i]->path;
    }
    return 0;
}

/* What no setting makes smaller: the sums of a row for each thread, and the counts of all words. */
static int fits(size_t memory, uint32_t ids, int threads)
{
    enum { M = 1 << 20 };
    size_t need = (size_t)threads * row_sum_bytes(ids) + (size_t)ids * sizeof(uint64_t);
    if (need <= memory) return 0;
    return err_set("--memory %.0fM is too little for %u words and %d threads; give at least %zuM",
                   (double)memory / M, ids - VOCAB_SPECIALS, threads, (need + M - 1) / M);
}

int cooc_merge(const char *const *path, int n, const char *ref, int threads, size_t memory,
               const char *tmp, struct out *out)
{
    struct merge m = { .in = mem_zero((size_t)n, sizeof *m.in) };
    m.part = mem_zero((size_t)n, sizeof *m.part);
    uint64_t *words = NULL;
    int rc = tmp_check(tmp);
    for (; m.n < n && rc == 0; m.n++) {
        if (!(m.in[m.n] = cooc_open(path[m.n]))) { rc = -1; break; }
        /* counts of another window, weight or vocabulary are other quantities: their sum means
         * nothing */
        if (m.n && cooc_same_scheme(m.in[0], m.in[m.n]) < 0) rc = -1;
    }
    if (rc == 0) rc = reference(&m, &ref);
    if (rc == 0) {
        m.ids = m.in[0]->ids;
        rc = fits(memory, m.ids, threads);
    }
    if (rc == 0) {
        struct cooc_head h = { .scheme = m.in[0]->scheme,
                               .ids = m.ids,
                               .vocab_hash = m.in[0]->vocab_hash,
                               .tokens = m.in[0]->tokens,
                               .tokens_size = m.in[0]->tokens_size,
                               .skip = m.in[0]->skip,
                               .skip_size = m.in[0]->skip_size,
                               .ref = ref };
        if (!(m.w = cooc_create(out, &h, tmp))) rc = -1;
    }
    m.sum = mem_zero((size_t)threads, sizeof *m.sum);
    m.stream = mem_zero((size_t)threads, sizeof *m.stream);
    for (int i = 0; i < threads && rc == 0; i++) {
        m.stream[i] = mem_zero((size_t)n, sizeof **m.stream);
        rc = row_sum_init(&m.sum[i], m.ids);
    }
    if (rc == 0) words = mem_zero(m.ids, sizeof *words);
    /* an eighth of the memory for blocks that wait for their turn */
    size_t limit = memory / (8 * (size_t)(groups_depth(threads) + 1));
    if (limit > 4 << 20) limit = 4 << 20;
    /* A quarter of the memory for pages of the inputs. A block is some 400 bytes, and the system
     * maps 64 KiB around what is touched. */
    m.every = memory / (4 * (size_t)n * (size_t)threads * 400);
    if (m.every < 16) m.every = 16;
    for (const char *lang = NULL; rc == 0 && (lang = next_lang(&m, lang));)
        rc = merge_plane(&m, lang, threads, limit, words);
    if (rc == 0) {
        rc = cooc_finish(m.w);
        m.w = NULL;
    }
    cooc_abandon(m.w);
    free(words);
    for (int i = 0; i < threads; i++) {
        free(m.stream[i]);
        row_sum_free(&m.sum[i]);
    }
    free(m.stream);
    free(m.sum);
    free(m.part);
    for (int i = 0; i < n; i++) cooc_close(m.in[i]);
    free(m.in);
    return rc;
}
