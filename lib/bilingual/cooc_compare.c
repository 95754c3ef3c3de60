#include "lib/bilingual/cooc_compare.h"
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/hashmap.h"
#include "common/mem.h"
#include "common/text/text.h"
#include "lib/cooc/export.h"

static double tokens(const struct cooc *c)
{
    double n = 0;
    for (int i = 0; i < c->planes; i++) n += (double)c->plane[i].total.tokens;
    return n;
}

double cooc_compare_scale(const struct cooc *a, const struct cooc *b)
{
    double n = tokens(b);
    /* an empty file has no counts to scale */
    return n > 0 ? tokens(a) / n : 1;
}

/* X of adjacent words: how often they stand together, either way round in a symmetric file; planes
 * are added. */
static int count(const struct cooc *c, uint32_t i, uint32_t j, double *x)
{
    *x = 0;
    for (int plane = 0; plane < c->planes; plane++) {
        uint64_t n;
        if (cooc_get(c, plane, i, j, &n) < 0) return -1;
        /* counts are stored as multiples of 1 / unit (docs/formats/cooc.md) */
        *x += (double)n / (double)c->scheme.unit;
    }
    return 0;
}

static void sum(struct cooc_compare_sums *s, double w, double a, double b)
{
    s->n += w;
    s->a += w * a;
    s->b += w * b;
    s->aa += w * a * a;
    s->bb += w * b * b;
    s->ab += w * a * b;
    s->difference += w * fabs(a - b);
}

static double pearson(const struct cooc_compare_sums *s)
{
    /* from sums, so that pairs need not be kept: those with X = 1 are not in v */
    double va = s->aa - s->a * s->a / s->n, vb = s->bb - s->b * s->b / s->n;
    /* below that it is rounding */
    bool vary = va > 1e-12 * s->aa && vb > 1e-12 * s->bb;
    return vary ? (s->ab - s->a * s->b / s->n) / sqrt(va * vb) : NAN;
}

struct cooc_compare_correlation cooc_compare_correlate(const struct cooc_compare_pairs *p)
{
    double asked = (double)p->asked;
    return (struct cooc_compare_correlation){ .pairs = p->asked,
                                              .both = p->each.n / asked,
                                              .both_mass = p->mass.n / p->asked_mass,
                                              .r = pearson(&p->each),
                                              .r_mass = pearson(&p->mass),
                                              .difference = p->each.difference / p->each.n,
                                              .bias = (p->each.b - p->each.a) / p->each.n };
}

static void add(struct cooc_compare_pairs *p, double a, double b)
{
    p->asked += a > 0;
    p->asked_mass += a;
    if (a > 0 && b > 0) {
        sum(&p->each, 1, log(a), log(b));
        sum(&p->mass, a, log(a), log(b));
    }
    /* Figure 1's ratio has log counts in its denominator: at 1 they are 0, and below negative. */
    /* also where b has none: the figure's bins are of pairs that both have */
    if (!(a > 1 && b > 1)) {
        p->small++;
        return;
    }
    mem_room(&p->v, &p->cap, p->n + 1, sizeof *p->v);
    p->v[p->n++] = (struct cooc_compare_pair){ a, b };
}

/* The first two words of s[0..n); false if there are not exactly two. */
static bool two_words(const struct vocab *v, const char *s, size_t n, uint32_t id[2])
{
    const char *space = memchr(s, ' ', n);
    if (!space || space == s) return false;
    size_t first = (size_t)(space - s), second = n - first - 1;
    if (!second || memchr(space + 1, ' ', second)) return false;
    id[0] = vocab_id(v, s, first);
    id[1] = vocab_id(v, space + 1, second);
    return true;
}

/* A file of pairs, and the vocabularies that its two columns are looked up in. */
struct sides { struct vocab *a, *b; double scale; struct text *t; };

static void close_sides(struct sides *s)
{
    text_close(s->t);
    vocab_free(s->a);
    vocab_free(s->b);
}

static int open_sides(const char *path, const struct cooc *a, const struct cooc *b,
                      struct sides *s)
{
    *s = (struct sides){ cooc_vocab(a), cooc_vocab(b), cooc_compare_scale(a, b), NULL };
    if (s->a && s->b && (s->t = text_open(path, TEXT_UTF8 | TEXT_SUM))) return 0;
    /* all three accept NULL */
    close_sides(s);
    return -1;
}

/* A phrase table's first two columns. */
static int phrases(struct text *t, const char **a, size_t *a_len, const char **b, size_t *b_len)
{
    size_t n;
    int r = text_line(t, a, &n);
    if (r <= 0) return r;
    text_skip_mark(t, a, &n);
    const char *first = memmem(*a, n, " ||| ", 5), *end = *a + n;
    const char *second = first ? memmem(first + 5, (size_t)(end - first) - 5, " ||| ", 5) : NULL;
    if (!second)
        return err_set("%s:%" PRIu64 ": expected \"source ||| target ||| scores\"", text_name(t),
                       text_lineno(t));
    *a_len = (size_t)(first - *a);
    *b = first + 5;
    *b_len = (size_t)(second - *b);
    return 1;
}

/* A line's two columns; 1, 0 at the end, -1. */
static int columns(struct text *t, const char **a, size_t *a_len, const char **b, size_t *b_len)
{
    size_t n;
    int r = text_line(t, a, &n);
    if (r <= 0) return r;
    text_skip_mark(t, a, &n);
    if (n && (*a)[n - 1] == '\r') n--;
    const char *tab = memchr(*a, '\t', n);
    if (!tab)
        return err_set("%s:%" PRIu64 ": expected \"source<TAB>target\"", text_name(t),
                       text_lineno(t));
    *a_len = (size_t)(tab - *a);
    *b = tab + 1;
    *b_len = n - *a_len - 1;
    /* further columns are scores */
    const char *third = memchr(*b, '\t', *b_len);
    if (third) *b_len = (size_t)(third - *b);
    return 1;
}

/* Translations of pairs that were met: numbers, from 1, of what stands on either side, and of those
 * two numbers. */
struct met { struct hashmap a, b, both; };

static uint32_t number(struct hashmap *m, uint32_t i, uint32_t j)
{
    return hashmap_add(m, (uint64_t)i << 32 | j, (uint32_t)m->n + 1);
}

/* Is it there already? Enters it otherwise. */
static bool meet(struct met *m, const uint32_t i[2], const uint32_t j[2])
{
    uint32_t x = number(&m->a, i[0], i[1]), y = number(&m->b, j[0], j[1]);
    size_t before = m->both.n;
    number(&m->both, x, y);
    return m->both.n == before;
}

static int read_pairs(const char *path, bool table, const struct cooc *a, const struct cooc *b,
                      struct cooc_compare_pairs *p)
{
    struct sides s;
    struct met met = { 0 };
    const char *x, *y;
    size_t xn, yn;
    memset(p, 0, sizeof *p);
    if (open_sides(path, a, b, &s) < 0) return -1;
    int r = 0;
    while (r >= 0 && (r = (table ? phrases : columns)(s.t, &x, &xn, &y, &yn)) > 0) {
        uint32_t i[2], j[2];
        double xa, xb;
        p->lines++;
        bool two = two_words(s.a, x, xn, i) && two_words(s.b, y, yn, j);
        /* a phrase table has phrases of all lengths, a file of pairs is for this purpose only */
        if (table && !two) {
            p->multiword++;
            continue;
        }
        if (!two) {
            r = err_set("%s:%" PRIu64 ": expected two words on either side of the tab; use --dict "
                                      "for a dictionary of single words",
                        text_name(s.t), text_lineno(s.t));
            break;
        }
        if (i[0] == VOCAB_UNK || i[1] == VOCAB_UNK || j[0] == VOCAB_UNK || j[1] == VOCAB_UNK)
            p->unknown++;
        /* once, however often it is listed: a mean is over pairs */
        else if (meet(&met, i, j)) p->repeated++;
        else if (count(a, i[0], i[1], &xa) < 0 || count(b, j[0], j[1], &xb) < 0) r = -1;
        else add(p, xa, xb * s.scale);
    }
    hashmap_free(&met.a);
    hashmap_free(&met.b);
    hashmap_free(&met.both);
    close_sides(&s);
    if (r < 0) cooc_compare_free(p);
    return r < 0 ? -1 : 0;
}

int cooc_compare_read_pairs(const char *path, const struct cooc *a, const struct cooc *b,
                            struct cooc_compare_pairs *p)
{
    return read_pairs(path, false, a, b, p);
}

int cooc_compare_read_phrases(const char *path, const struct cooc *a, const struct cooc *b,
                              struct cooc_compare_pairs *p)
{
    return read_pairs(path, true, a, b, p);
}

/* A dictionary's translations of a's ids, of which b's X are looked up. */
struct translated { const struct cooc *b; const uint32_t *to; double scale;
                    struct cooc_compare_pairs *p; };

static int add_translated(void *ctx, uint32_t row, uint32_t col, cooc_x x)
{
    const struct translated *t = ctx;
    double xb;
    if (!t->to[row] || !t->to[col]) return 0;
    if (count(t->b, t->to[row], t->to[col], &xb) < 0) return -1;
    add(t->p, (double)x, xb * t->scale);
    return 0;
}

int cooc_compare_from_dictionary(const char *path, const struct cooc *a, const struct cooc *b,
                                 struct cooc_compare_pairs *p)
{
    struct sides s;
    const char *x, *y;
    size_t xn, yn;
    memset(p, 0, sizeof *p);
    if (open_sides(path, a, b, &s) < 0) return -1;
    /* 0: no translation (it is a special's id) */
    uint32_t *to = mem_zero(s.a->n, sizeof *to);
    int r = 0;
    while (r >= 0 && (r = columns(s.t, &x, &xn, &y, &yn)) > 0) {
        uint32_t i = vocab_id(s.a, x, xn), j = vocab_id(s.b, y, yn);
        p->lines++;
        if (memchr(x, ' ', xn) || memchr(y, ' ', yn)) p->multiword++;
        else if (i == VOCAB_UNK || j == VOCAB_UNK) p->unknown++;
        /* a word's first translation counts */
        else if (!to[i]) to[i] = j;
    }
    /* a's pairs one by one, b's looked up: what only b has is not asked for. A pair that several
     * planes of a have is one, with their sum, as count() has it. */
    struct cooc_view w = { 0 };
    struct translated t = { b, to, s.scale, p };
    if (r == 0) r = cooc_view_init(&w, a, s.a, NULL, true, false, 0);
    if (r == 0) r = cooc_view_each(&w, add_translated, &t);
    cooc_view_free(&w);
    free(to);
    close_sides(&s);
    if (r < 0) cooc_compare_free(p);
    return r < 0 ? -1 : 0;
}

void cooc_compare_free(struct cooc_compare_pairs *p)
{
    free(p->v);
    memset(p, 0, sizeof *p);
}

struct moments { uint64_t n; double d, dd, r, rr, mass; };

/* Mean and half-width of the 95% interval (normal), from sum and sum of squares. */
static void interval(uint64_t n, double sum, double squares, double *mean, double *half)
{
    *mean = sum / (double)n;
    /* the difference of two large sums may be negative by rounding; one pair has no deviation */
    double var = n > 1 ? fmax(0, (squares - sum * *mean) / (double)(n - 1)) : NAN;
    *half = 1.96 * sqrt(var / (double)n);
}

static struct cooc_compare_bin bin_of(const struct moments *m, double low, double high)
{
    struct cooc_compare_bin b = { .low = low, .high = high, .n = m->n, .share = m->mass };
    interval(m->n, m->d, m->dd, &b.difference, &b.difference_ci);
    interval(m->n, m->r, m->rr, &b.ratio, &b.ratio_ci);
    return b;
}

size_t cooc_compare_bins(const struct cooc_compare_pairs *p, double width,
                         struct cooc_compare_bin **bin)
{
    struct moments *m = NULL, all = { 0 };
    size_t bins = 0, cap = 0, n = 0;
    for (size_t i = 0; i < p->n; i++) {
        double la = log(p->v[i].a), lb = log(p->v[i].b), d = fabs(la - lb), r = d / (la + lb);
        /* by log a + log b, above 0 since both counts are above 1 (add) */
        size_t at = (size_t)((la + lb) / width);
        mem_room(&m, &cap, at + 1, sizeof *m);
        for (; bins <= at; bins++) m[bins] = (struct moments){ 0 };
        /* each pair counts in its bin and in the last line, over all */
        struct moments *to[2] = { &m[at], &all };
        for (int k = 0; k < 2; k++) {
            to[k]->n++;
            to[k]->d += d; to[k]->dd += d * d; to[k]->r += r; to[k]->rr += r * r;
            to[k]->mass += p->v[i].a + p->v[i].b;
        }
    }
    *bin = mem_alloc((bins + 1) * sizeof **bin);
    for (size_t i = 0; i < bins; i++)
        if (m[i].n) (*bin)[n++] = bin_of(&m[i], (double)i * width, (double)(i + 1) * width);
    if (all.n) (*bin)[n++] = bin_of(&all, 0, (double)bins * width);
    for (size_t i = 0; i < n; i++) (*bin)[i].share /= all.mass;
    free(m);
    return n;
}

static int falling(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

int cooc_compare_ranks(const struct cooc *c, double **f, size_t *n)
{
    uint64_t *words = mem_zero(c->ids, sizeof *words);
    double all = tokens(c);
    *f = mem_alloc((size_t)c->ids * sizeof **f);
    *n = 0;
    for (int i = 0; i < c->planes; i++)
        if (cooc_word_counts(c, i, words) < 0) {
            free(words);
            free(*f);
            return -1;
        }
    /* specials are no words, and tokens() counts none of them */
    for (uint32_t id = VOCAB_SPECIALS; id < c->ids; id++)
        if (words[id]) (*f)[(*n)++] = (double)words[id] / all;
    qsort(*f, *n, sizeof **f, falling);
    free(words);
    return 0;
}
