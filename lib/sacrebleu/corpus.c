#include "lib/sacrebleu/corpus.h"
#include "common/err.h"
#include "common/mem.h"
#include "common/text/text.h"
#include "lib/score/testset.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void score_corpus_free(struct score_corpus *c)
{
    for (int i = 0; i < c->n_systems; i++) { segments_free(&c->system[i]); free(c->name[i]); }
    for (int i = 0; i < c->n_refs; i++) segments_free(&c->ref[i]);
    for (int i = 0; c->own_path && i < c->n_ref_paths; i++) free(c->own_path[i]);
    free(c->system); free(c->name); free(c->ref); free(c->own_path);
    *c = (struct score_corpus){ 0 };
}

/* The whole text, by blocks that stay in the cache on their way. */
static int slurp(const char *path, int flags, char **bytes, size_t *n)
{
    struct text *t = text_open(path, flags);
    if (!t) return -1;
    char *block = NULL;
    size_t block_cap = 0, got = 0, cap = 0;
    uint64_t done, total;
    int status;
    *bytes = NULL; *n = 0;
    /* room for the file's size at once, where it is known: the text is not moved while it grows */
    text_where(t, &done, &total);
    if (total < SIZE_MAX / 4) mem_room(bytes, &cap, (size_t)total + 1, 1);
    while ((status = text_block(t, 1 << 18, &block, &block_cap, &got)) > 0) {
        mem_room(bytes, &cap, *n + got + 1, 1);
        memcpy(*bytes + *n, block, got);
        *n += got;
    }
    free(block);
    text_close(t);
    /* callers free what *bytes is, failed or not */
    if (status < 0) { free(*bytes); *bytes = NULL; }
    return status;
}

/* ICU counts in int */
enum { LINE_MAX_BYTES = 1 << 28 };

static void add_line(struct segments *l, size_t *cap, const char *p, size_t n, bool strip)
{
    mem_room(&l->v, cap, l->n + 1, sizeof *l->v);
    l->v[l->n++] = (struct span){ p, strip ? split_strip_right(p, n) : n };
}

/* Cuts l->bytes[0..n) into lines. cr: "\r" and "\r\n" end lines too. */
static int cut_lines(struct segments *l, const char *path, size_t n, bool cr, bool strip)
{
    size_t cap = 0;
    const char *p = l->bytes, *end = p + n;
    while (p < end) {
        const char *nl = memchr(p, '\n', (size_t)(end - p)), *stop = nl ? nl : end,
                   *next = nl ? nl + 1 : end, *q;
        /* Python's universal newlines, on standard input alone: sacreBLEU opens files with
         * newline="\n". A "\r" right before "\n" is white space at the line's end */
        while (cr && (q = memchr(p, '\r', (size_t)(stop - p))) && q + 1 < stop) {
            add_line(l, &cap, p, (size_t)(q - p), strip);
            p = q + 1;
        }
        /* ICU's lengths are int, and UTF-16 and tokens need their share */
        if (stop - p > LINE_MAX_BYTES)
            return err_set("%s:%zu: line is longer than 256 MiB; split it", path, l->n + 1);
        add_line(l, &cap, p, (size_t)(stop - p), strip);
        p = next;
    }
    return 0;
}

static int read_lines(const struct score_corpus *c, struct segments *l, const char *path, bool cr)
{
    size_t n;
    *l = (struct segments){ 0 };
    if (slurp(path, TEXT_UTF8 | (c->replace_invalid ? TEXT_REPLACE : 0), &l->bytes, &n) < 0)
        return -1;
    return cut_lines(l, path ? path : "standard input", n, cr, true);
}

/* Splits each line of `from` at tabs into `fields` fields; the bytes stay from's. limit: the last
 * field keeps further tabs, which are an error otherwise. strip: drop white space at each field's
 * end. */
static int cut_fields(const struct segments *from, const char *path, struct segments *to,
                      int fields, bool limit, bool strip)
{
    for (int f = 0; f < fields; f++) to[f].v = mem_zero(from->n, sizeof *to[f].v);
    for (size_t i = 0; i < from->n; i++) {
        const char *p = from->v[i].p, *end = p + from->v[i].n;
        int f = 0;
        for (;; f++) {
            const char *tab = limit && f == fields - 1 ? NULL : memchr(p, '\t', (size_t)(end - p));
            size_t n = (size_t)((tab ? tab : end) - p);
            if (f < fields) to[f].v[i] = (struct span){ p, strip ? split_strip_right(p, n) : n };
            if (!tab) break;
            p = tab + 1;
        }
        if (f + 1 != fields)
            return err_set(
                "%s:%zu: %d tab-separated fields, not %d; give every line the same number", path,
                i + 1, f + 1, fields);
    }
    /* only now: segments that were cut in part have no lines */
    for (int f = 0; f < fields; f++) to[f].n = from->n;
    return 0;
}

int corpus_read_refs(struct score_corpus *c, char *const *paths, int n, int fields)
{
    int total = fields > 1 ? fields : n;
    c->ref = mem_zero((size_t)total, sizeof *c->ref);
    c->n_refs = total;
    c->ref_path = paths;
    c->n_ref_paths = n;
    if (fields <= 1) {
        for (int i = 0; i < n; i++) if (read_lines(c, &c->ref[i], paths[i], false) < 0) return -1;
        return 0;
    }
    struct segments all;
    /* one file holds them all (--num-refs) */
    if (read_lines(c, &all, paths[0], false) < 0) { segments_free(&all); return -1; }
    int status = cut_fields(&all, paths[0], c->ref, fields, true, false);
    /* the fields of all references lie in these bytes; one of them frees it */
    c->ref[0].bytes = all.bytes;
    free(all.v);
    return status;
}

/* The reference of one more set after what is there; each ends with a newline. */
static int add_reference(char **bytes, size_t *n, size_t *cap, const char *path)
{
    char *more;
    size_t m;
    if (slurp(path, TEXT_UTF8, &more, &m) < 0) return -1;
    mem_room(bytes, cap, *n + m + 1, 1);
    memcpy(*bytes + *n, more, m);
    *n += m;
    /* or the last line of one set and the first of the next would be one */
    if (m && (*bytes)[*n - 1] != '\n') (*bytes)[(*n)++] = '\n';
    free(more);
    return 0;
}

/* Set number `at` into c: its paths, if it is the first, and its references, n[r] bytes with room
 * for cap[r]. */
static int add_set(struct score_corpus *c, const struct testset *t, const char *name, int at,
                   size_t **n, size_t **cap)
{
    int refs = 0;
    for (int k = 0; k < t->n; k++) refs += t->field[k].reference;
    if (at == 0) {
        c->ref = mem_zero((size_t)refs, sizeof *c->ref);
        c->ref_path = c->own_path = mem_zero((size_t)refs, sizeof *c->own_path);
        c->n_refs = c->n_ref_paths = refs;
        *n = mem_zero((size_t)refs, sizeof **n);
        *cap = mem_zero((size_t)refs, sizeof **cap);
    } else if (refs != c->n_refs)
        return err_set("--test-set: %s has %d references and the first set %d; score "
                       "them separately",
                       name, refs, c->n_refs);
    for (int k = 0, r = 0; k < t->n; k++) {
        if (!t->field[k].reference) continue;
        if (at == 0) c->own_path[r] = mem_dup(t->field[k].path);
        if (add_reference(&c->ref[r].bytes, &(*n)[r], &(*cap)[r], t->field[k].path) < 0) return -1;
        r++;
    }
    return 0;
}

int corpus_read_testsets(struct score_corpus *c, const char *names, const char *pair)
{
    char *all = mem_dup(names), *rest = all, *name;
    size_t *n = NULL, *cap = NULL;
    int rc = 0;
    for (int at = 0; rc == 0 && (name = strsep(&rest, ",")); at++) {
        struct testset t;
        rc = testset_find(&t, name, pair);
        if (rc == 0) rc = add_set(c, &t, name, at, &n, &cap);
        testset_free(&t);
    }
    /* cut once all sets are read: lines point into bytes that move while they grow */
    for (int r = 0; r < c->n_refs && rc == 0; r++)
        rc = cut_lines(&c->ref[r], c->own_path[r], n[r], false, true);
    free(all);
    free(n);
    free(cap);
    return rc;
}

static void add_name(struct score_corpus *c, const char *name)
{
    c->system = mem_grow(c->system, (size_t)c->n_systems + 1, sizeof *c->system);
    c->name = mem_grow(c->name, (size_t)c->n_systems + 1, sizeof *c->name);
    c->system[c->n_systems] = (struct segments){ 0 };
    c->name[c->n_systems++] = mem_dup(name);
}

int corpus_read_stdin(struct score_corpus *c)
{
    struct segments all;
    if (read_lines(c, &all, NULL, true) < 0) { segments_free(&all); return -1; }
    int systems = 1;
    if (all.n)
        /* the first line says how many systems there are */
        for (size_t k = 0; k < all.v[0].n; k++) systems += all.v[0].p[k] == '\t';
    c->from_stdin = true;
    for (int i = 0; i < systems; i++) {
        char name[32];
        snprintf(name, sizeof name, "System %d", i + 1);
        add_name(c, name);
    }
    /* one system is not copied into fields, unless a later line has a tab, which is an error */
    if (systems == 1
        && (!all.n
            || !memchr(all.bytes, '\t',
                       (size_t)(all.v[all.n - 1].p + all.v[all.n - 1].n - all.bytes)))) {
        c->system[0] = all;
        return 0;
    }
    int status = cut_fields(&all, "standard input", c->system, systems, false, true);
    c->system[0].bytes = all.bytes;
    free(all.v);
    return status;
}

int corpus_read_systems(struct score_corpus *c, const char *const *paths, int n, bool paired)
{
    for (int i = 0; i < n; i++) {
        int same = 0;
        while (same < c->n_systems && strcmp(c->name[same], paths[i])) same++;
        if (same < c->n_systems) {
            /* the shell's pattern for the systems may name the baseline again; sacreBLEU passes
             * over it, too */
            if (paired && same == 0) continue;
            return err_set("%s: given twice as a system; name each file once", paths[i]);
        }
        add_name(c, paths[i]);
        if (read_lines(c, &c->system[c->n_systems - 1], paths[i], false) < 0) return -1;
    }
    return 0;
}

int score_corpus_check(const struct score_corpus *c)
{
    for (int s = 0; s < c->n_systems; s++) {
        if (c->system[s].n == 0)
            return err_set("%s: no lines to score; is it empty?",
                           c->from_stdin ? "standard input" : c->name[s]);
        for (int r = 0; r < c->n_refs; r++)
            if (c->ref[r].n != c->system[s].n)
                return err_set(
                    "%s has %zu lines, but reference %d (%s) has %zu; give line-parallel files",
                    c->name[s], c->system[s].n, r + 1, c->ref_path[c->n_ref_paths > 1 ? r : 0],
                    c->ref[r].n);
    }
    return 0;
}

size_t score_corpus_tokenised(const struct segments *l)
{
    size_t lines = 0;
    for (size_t i = 0; i < l->n; i++)
        /* sacreBLEU's own rule; what it is for is in scoring.c */
        lines += l->v[i].n >= 2 && !memcmp(l->v[i].p + l->v[i].n - 2, " .", 2);
    return lines;
}

void corpus_name_baseline(struct score_corpus *c)
{
    bool files = !c->from_stdin;
    /* files keep their names, but for the first; from standard input the baseline is no "System
     * 1" */
    for (int s = 0; s < (files ? 1 : c->n_systems); s++) {
        size_t size = strlen(c->name[s]) + 32;
        char *name = mem_alloc(size);
        if (s) snprintf(name, size, "System %d", s);
        else snprintf(name, size, files ? "Baseline: %s" : "Baseline", c->name[0]);
        free(c->name[s]);
        c->name[s] = name;
    }
}

int corpus_read_bytes(struct segments *l, const char *path, bool lower)
{
    size_t n;
    *l = (struct segments){ 0 };
    if (slurp(path, TEXT_RAW, &l->bytes, &n) < 0) return -1;
    if (lower)
        for (size_t i = 0; i < n; i++)
            if (l->bytes[i] >= 'A' && l->bytes[i] <= 'Z')
                l->bytes[i] = (char)(l->bytes[i] + ('a' - 'A'));
    return cut_lines(l, path ? path : "standard input", n, false, false);
}
