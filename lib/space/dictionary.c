#include "lib/space/dictionary.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/text.h"
#include "kernels/cpu/gemm.h"

struct line { const char *a, *b; size_t a_len, b_len; bool multiword; };

/* Splits a dictionary line. 1, 0 at the end, -1. */
static int next_line(struct text *t, struct line *l)
{
    const char *s;
    size_t n;
    int r = text_line(t, &s, &n);
    if (r <= 0) return r;
    if (n && s[n - 1] == '\r') n--;
    const char *tab = memchr(s, '\t', n), *split = tab ? tab : memchr(s, ' ', n);
    if (!split || split == s || split + 1 == s + n)
        return err_set("%s:%" PRIu64 ": want \"source<TAB>target\"", text_name(t), text_lineno(t));
    *l = (struct line){ s, split + 1, (size_t)(split - s), (size_t)(s + n - split - 1), false };
    const char *third = memchr(l->b, tab ? '\t' : ' ', l->b_len);
    if (third) l->b_len = (size_t)(third - l->b);
    l->multiword = memchr(l->a, ' ', l->a_len) || memchr(l->b, ' ', l->b_len);
    return l->b_len ? 1 : err_set("%s:%" PRIu64 ": no target word", text_name(t), text_lineno(t));
}

/* A set of pairs of rows; slots hold pair + 1. */
struct set { uint64_t *slot; size_t n, size; };

static bool set_put(struct set *s, uint64_t pair)
{
    size_t i = (size_t)((pair * 0x9E3779B97F4A7C15u) >> 20) & (s->size - 1);
    for (; s->slot[i]; i = (i + 1) & (s->size - 1))
        if (s->slot[i] == pair + 1) return false;
    s->slot[i] = pair + 1;
    return true;
}

static bool set_add(struct set *s, uint64_t pair)
{
    if (2 * (s->n + 1) > s->size) {
        struct set old = *s;
        s->size = s->size ? 2 * s->size : 64;
        s->slot = mem_zero(s->size, sizeof *s->slot);
        for (size_t i = 0; i < old.size; i++)
            if (old.slot[i]) set_put(s, old.slot[i] - 1);
        free(old.slot);
    }
    if (!set_put(s, pair)) return false;
    s->n++;
    return true;
}

int dictionary_read(const char *path, const struct vectors *src, const struct vectors *tgt, struct pairs *p, struct dictionary_report *report)
{
    struct set seen = { 0 };
    struct text *t = text_open(path, TEXT_UTF8);
    if (!t) return -1;
    struct line l;
    int r;
    memset(report, 0, sizeof *report);
    while ((r = next_line(t, &l)) > 0) {
        report->lines++;
        if (l.multiword) { report->multiword++; continue; }
        int64_t a = vectors_find(src, l.a, l.a_len), b = vectors_find(tgt, l.b, l.b_len);
        if (a < 0 || b < 0) report->unknown++;
        else if (!set_add(&seen, (uint64_t)a << 32 | (uint64_t)b)) report->repeated++;
        else pairs_add(p, (uint32_t)a, (uint32_t)b);
    }
    free(seen.slot);
    text_close(t);
    return r;
}

static double total(const struct vectors *v)
{
    double sum = 0;
    for (uint32_t i = 0; v->count && i < v->n; i++) sum += (double)v->count[i];
    return sum;
}

/* ASCII letters, and everything beyond ASCII: what is all digits and signs needs no length to be the same. */
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

void dictionary_identical(const struct vectors *src, const struct vectors *tgt, int min_length, double ratio, struct pairs *p)
{
    double a = total(src), b = total(tgt);
    for (uint32_t i = 0; i < src->n; i++) {
        const char *w = vectors_word(src, i);
        int64_t j = vectors_find(tgt, w, vectors_word_len(src, i));
        if (j < 0 || (has_letter(w) && characters(w) < min_length)) continue;
        if (ratio > 1 && a > 0 && b > 0) {
            double x = (double)src->count[i] / a, y = (double)tgt->count[j] / b;
            if (x * ratio < y || y * ratio < x) continue;
        }
        pairs_add(p, i, (uint32_t)j);
    }
}

/* --- gold ------------------------------------------------------------------------------------------------------- */

struct gold_line { uint32_t src, tgt; };

static int by_source(const void *a, const void *b)
{
    const struct gold_line *x = a, *y = b;
    if (x->src != y->src) return x->src < y->src ? -1 : 1;
    return (x->tgt > y->tgt) - (x->tgt < y->tgt);
}

int gold_read(const char *path, const struct vectors *src, const struct vectors *tgt, struct gold *g)
{
    struct text *t = text_open(path, TEXT_UTF8);
    if (!t) return -1;
    memset(g, 0, sizeof *g);
    struct gold_line *lines = NULL;
    size_t n = 0, cap = 0;
    struct vectors *seen = vectors_new(1);       /* the file's source words, each once */
    float one = 1;
    vectors_index(seen);
    struct line l;
    int r;
    while ((r = next_line(t, &l)) > 0) {
        g->lines++;
        if (l.multiword) { g->multiword++; continue; }
        if (vectors_find(seen, l.a, l.a_len) < 0) {
            vectors_add(seen, l.a, l.a_len, &one);
            vectors_index_last(seen);
        }
        int64_t a = vectors_find(src, l.a, l.a_len), b = vectors_find(tgt, l.b, l.b_len);
        if (a < 0) continue;
        mem_room(&lines, &cap, n + 1, sizeof *lines);
        lines[n++] = (struct gold_line){ (uint32_t)a, b < 0 ? UINT32_MAX : (uint32_t)b };
    }
    if (r == 0 && !seen->n) r = err_set("%s: no pair of single words", text_name(t));
    g->words = seen->n;
    vectors_free(seen);
    text_close(t);
    if (n) qsort(lines, n, sizeof *lines, by_source);
    g->src = mem_alloc((n + 1) * sizeof *g->src);
    for (size_t i = 0; i < n; i++) {
        pairs_add(&g->all, lines[i].src, lines[i].tgt);
        if (!i || lines[i].src != lines[i - 1].src) g->src[g->n++] = lines[i].src;
    }
    free(lines);
    if (r < 0) gold_free(g);
    return r;
}

void gold_free(struct gold *g)
{
    free(g->src);
    pairs_free(&g->all);
    memset(g, 0, sizeof *g);
}

void gold_score(const struct gold *g, const uint32_t *rank, const struct vectors *src, struct dictionary_score *s)
{
    memset(s, 0, sizeof *s);
    s->words = g->words;
    s->lines = g->lines;
    s->multiword = g->multiword;
    s->asked = g->n;
    s->missing = g->words - g->n;
    s->coverage = g->words ? (double)g->n / (double)g->words : 0;
    double all = 0;
    for (size_t i = 0; i < g->n; i++) {
        double weight = src->count ? (double)src->count[g->src[i]] : NAN;
        uint32_t k = rank[i];
        all += weight;
        s->hit1 += k == 1;
        s->hit5 += k && k <= 5;
        s->hit10 += k && k <= 10;
        s->map += k ? 1.0 / k : 0;
        s->weighted1 += weight * (k == 1);
        s->weighted5 += weight * (k && k <= 5);
        s->weighted10 += weight * (k && k <= 10);
        s->weighted_map += k ? weight / k : 0 * weight;
    }
    double n = g->n ? (double)g->n : NAN;
    s->hit1 /= n; s->hit5 /= n; s->hit10 /= n; s->map /= n;
    s->weighted1 /= all; s->weighted5 /= all; s->weighted10 /= all; s->weighted_map /= all;
}

/* The rank of the best gold translation of the word whose pairs begin at *at; moves *at behind them. */
static uint32_t best_rank(const struct gold *g, uint32_t src, const float *score, uint32_t m, size_t *at)
{
    uint32_t best = UINT32_MAX, rank = 1;
    for (; *at < g->all.n && g->all.src[*at] == src; ++*at) {
        uint32_t t = g->all.tgt[*at];
        if (t != UINT32_MAX && (best == UINT32_MAX || score[t] > score[best])) best = t;     /* ascending t: the lower of equals */
    }
    if (best == UINT32_MAX) return 0;
    for (uint32_t j = 0; j < m; j++) rank += score[j] > score[best] || (score[j] == score[best] && j < best);
    return rank;
}

void gold_ranks_matrix(const struct gold *g, const float *S, uint32_t m, uint32_t *rank)
{
    size_t at = 0;
    for (size_t i = 0; i < g->n; i++) rank[i] = best_rank(g, g->src[i], S + (size_t)g->src[i] * m, m, &at);
}

int gold_ranks(const struct gold *g, const struct vectors *src, const struct vectors *tgt, enum csls_method how, int K, uint32_t *rank)
{
    enum { AT_ONCE = 64 };
    size_t d = (size_t)src->dim, m = tgt->n, at = 0;
    float *mean = NULL, *rows = mem_alloc(AT_ONCE * d * sizeof *rows), *S = mem_alloc(AT_ONCE * m * sizeof *S);
    int r = 0;
    if (how == CSLS_CSLS) r = csls_neighbour_means(tgt->x, tgt->n, src->x, src->n, src->dim, K, &mean);
    for (size_t i = 0; r == 0 && i < g->n; i += AT_ONCE) {
        size_t n = g->n - i < AT_ONCE ? g->n - i : AT_ONCE;
        for (size_t k = 0; k < n; k++) memcpy(rows + k * d, vectors_row(src, g->src[i + k]), d * sizeof *rows);
        gemm(false, true, (int)n, (int)m, src->dim, 1, rows, src->dim, tgt->x, src->dim, 0, S, (int)m, NULL, NULL);
        for (size_t k = 0; k < n; k++) {
            /* r_T of the source word is the same for all of its candidates and leaves the ranks as they are. */
            for (size_t j = 0; mean && j < m; j++) S[k * m + j] = 2 * S[k * m + j] - mean[j];
            rank[i + k] = best_rank(g, g->src[i + k], S + k * m, (uint32_t)m, &at);
        }
    }
    free(mean);
    free(rows);
    free(S);
    return r;
}
