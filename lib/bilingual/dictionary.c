#include "lib/bilingual/dictionary.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/hashmap.h"
#include "common/mem.h"
#include "common/text/text.h"

int dictionary_line(struct text *t, struct dictionary_line *l)
{
    const char *s;
    size_t n;
    int r = text_line(t, &s, &n);
    if (r <= 0) return r;
    /* dictionaries are edited by hand, on Windows, too */
    text_skip_mark(t, &s, &n);
    if (n && s[n - 1] == '\r') n--;
    /* MUSE's dictionaries have spaces; with a tab, spaces are within phrases */
    const char *tab = memchr(s, '\t', n), *split = tab ? tab : memchr(s, ' ', n);
    if (!split || split == s || split + 1 == s + n)
        return err_set("%s:%" PRIu64 ": expected \"source<TAB>target\"", text_name(t),
                       text_lineno(t));
    *l = (struct dictionary_line){ s, split + 1, (size_t)(split - s), (size_t)(s + n - split - 1),
                                   false };
    /* a score, or whatever else there is */
    const char *third = memchr(l->b, tab ? '\t' : ' ', l->b_len);
    if (third) l->b_len = (size_t)(third - l->b);
    /* only with a tab: without, a space ended the word */
    l->multiword = memchr(l->a, ' ', l->a_len) || memchr(l->b, ' ', l->b_len);
    return l->b_len ? 1 : err_set("%s:%" PRIu64 ": no target word", text_name(t), text_lineno(t));
}

int dictionary_read(const char *path, const struct vectors *src, const struct vectors *tgt,
                    struct word_pairs *p, struct dictionary_report *report)
{
    struct hashmap seen = { 0 };             /* pairs of rows */
    struct text *t = text_open(path, TEXT_UTF8 | TEXT_SUM);
    if (!t) return -1;
    struct dictionary_line l;
    int r;
    memset(report, 0, sizeof *report);
    while ((r = dictionary_line(t, &l)) > 0) {
        report->lines++;
        if (l.multiword) { report->multiword++; continue; }
        int64_t a = vectors_find(src, l.a, l.a_len), b = vectors_find(tgt, l.b, l.b_len);
        if (a < 0 || b < 0) { report->unknown++; continue; }
        size_t before = seen.n;
        hashmap_add(&seen, (uint64_t)a << 32 | (uint64_t)b, 1);
        if (seen.n == before) report->repeated++;
        else word_pairs_add(p, (uint32_t)a, (uint32_t)b);
    }
    hashmap_free(&seen);
    text_close(t);
    return r;
}

static double total(const struct vectors *v)
{
    double sum = 0;
    for (uint32_t i = 0; v->count && i < v->n; i++) sum += (double)v->count[i];
    return sum;
}

/* ASCII letters, and everything beyond ASCII: numbers and signs need no minimum length to mean the
 * same. */
static bool has_letter(const char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s >= 0x80 || (unsigned)((*s | 32) - 'a') < 26) return true;
    return false;
}

static int characters(const char *s)
{
    int n = 0;
    for (; *s; s++) n += ((unsigned char)*s & 0xC0) != 0x80;
    return n;
}

void dictionary_identical(const struct vectors *src, const struct vectors *tgt, int min_length,
                          double ratio, struct word_pairs *p)
{
    double a = total(src), b = total(tgt);
    for (uint32_t i = 0; i < src->n; i++) {
        const char *w = vectors_word(src, i);
        int64_t j = vectors_find(tgt, w, vectors_word_len(src, i));
        if (j < 0 || (has_letter(w) && characters(w) < min_length)) continue;
        /* words spelt alike whose frequencies differ much need not mean the same */
        /* counts may be missing: then spelling alone decides */
        if (ratio > 1 && a > 0 && b > 0) {
            double x = (double)src->count[i] / a, y = (double)tgt->count[j] / b;
            if (x * ratio < y || y * ratio < x) continue;
        }
        word_pairs_add(p, i, (uint32_t)j);
    }
}

/* Keeps the first pair of each word of one side, of n words. */
static void first_of_each(struct word_pairs *p, const uint32_t *side, uint32_t n)
{
    bool *seen = mem_zero(n, sizeof *seen);
    size_t kept = 0;
    for (size_t i = 0; i < p->n; i++) {
        if (seen[side[i]]) continue;
        seen[side[i]] = true;
        p->src[kept] = p->src[i];
        p->tgt[kept++] = p->tgt[i];
    }
    p->n = kept;
    free(seen);
}

size_t word_pairs_best(struct word_pairs *p, uint32_t n_src, uint32_t n_tgt)
{
    size_t n = p->n;
    /* in the file's order: the best translation comes first there */
    first_of_each(p, p->src, n_src);
    first_of_each(p, p->tgt, n_tgt);
    return n - p->n;
}

size_t word_pairs_one_to_one(struct word_pairs *p, uint32_t n_src, uint32_t n_tgt)
{
    bool *src = mem_zero(n_src, sizeof *src);
    bool *tgt = mem_zero(n_tgt, sizeof *tgt);
    size_t n = p->n, kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (src[p->src[i]] || tgt[p->tgt[i]]) continue;
        src[p->src[i]] = tgt[p->tgt[i]] = true;
        p->src[kept] = p->src[i];
        p->tgt[kept++] = p->tgt[i];
    }
    p->n = kept;
    free(src);
    free(tgt);
    return n - kept;
}
