#include "lib/bilingual/gold.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/text/text.h"
#include "kernels/linalg/gemm.h"
#include "lib/bilingual/dictionary.h"

struct gold_line { uint32_t src, tgt; };

static int by_source(const void *a, const void *b)
{
    const struct gold_line *x = a, *y = b;
    if (x->src != y->src) return x->src < y->src ? -1 : 1;
    return (x->tgt > y->tgt) - (x->tgt < y->tgt);
}

int gold_read(const char *path, const struct vectors *src, const struct vectors *tgt,
              enum gold_rule rule, struct gold *g)
{
    struct text *t = text_open(path, TEXT_UTF8 | TEXT_SUM);
    if (!t) return -1;
    memset(g, 0, sizeof *g);
    struct gold_line *lines = NULL;
    size_t n = 0, cap = 0;
    /* the file's source words, each once: a set of words, whose one number nobody reads */
    struct vectors *seen = vectors_new(1);
    float one = 1;
    struct dictionary_line l;
    int r;
    while ((r = dictionary_line(t, &l)) > 0) {
        if (l.multiword) { g->multiword++; continue; }
        if (vectors_find(seen, l.a, l.a_len) < 0) {
            vectors_add(seen, l.a, l.a_len, &one);
            vectors_index_last(seen);
        }
        int64_t a = vectors_find(src, l.a, l.a_len), b = vectors_find(tgt, l.b, l.b_len);
        /* a word without a vector is in seen, and so among `words` */
        if (a < 0 || (b < 0 && rule == GOLD_BOTH)) continue;
        mem_room(&lines, &cap, n + 1, sizeof *lines);
        /* kept: the word is asked all the same, and cannot be right */
        lines[n++] = (struct gold_line){ (uint32_t)a, b < 0 ? UINT32_MAX : (uint32_t)b };
    }
    if (r == 0 && !seen->n) r = err_set("%s: no pair of single words", text_name(t));
    g->words = seen->n;
    vectors_free(seen);
    text_close(t);
    /* in_gold and best_rank walk the pairs of a word in order */
    if (n) qsort(lines, n, sizeof *lines, by_source);
    g->src = mem_alloc(n * sizeof *g->src);
    for (size_t i = 0; i < n; i++) {
        bool first = !i || lines[i].src != lines[i - 1].src;
        /* a pair listed twice is one pair: it raises neither chance nor its weight in a mean */
        if (!first && lines[i].tgt == lines[i - 1].tgt) continue;
        word_pairs_add(&g->all, lines[i].src, lines[i].tgt);
        if (first) g->src[g->n++] = lines[i].src;
        /* those without an answer come last */
        g->answerable += first && lines[i].tgt != UINT32_MAX;
    }
    free(lines);
    if (r < 0) gold_free(g);
    return r;
}

void gold_free(struct gold *g)
{
    free(g->src);
    word_pairs_free(&g->all);
    memset(g, 0, sizeof *g);
}

void gold_score(const struct gold *g, const uint32_t *rank, const struct vectors *src,
                struct dictionary_score *s)
{
    memset(s, 0, sizeof *s);
    s->words = g->words;
    s->multiword = g->multiword;
    s->asked = g->n;
    s->answerable = g->answerable;
    s->coverage = g->words ? (double)g->n / (double)g->words : 0;
    double all = 0;
    for (size_t i = 0; i < g->n; i++) {
        /* without counts the weighted shares become NaN, not 0 */
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
        s->weighted_map += k ? weight / k : 0;
    }
    /* no word asked: no share */
    double n = g->n ? (double)g->n : NAN;
    s->hit1 /= n; s->hit5 /= n; s->hit10 /= n; s->map /= n;
    s->weighted1 /= all; s->weighted5 /= all; s->weighted10 /= all; s->weighted_map /= all;
}

double gold_chance(const struct gold *g, uint32_t targets)
{
    double right = 0;
    for (size_t i = 0; i < g->all.n; i++) right += g->all.tgt[i] != UINT32_MAX;
    return g->n && targets ? right / (double)g->n / targets : NAN;
}

/* The rank of the best gold translation of the word whose pairs begin at *at; moves *at past them.
 * A score of -INFINITY: of the other kind (word_initial.h). */
static uint32_t best_rank(const struct gold *g, uint32_t src, const float *score, uint32_t m,
                          size_t *at)
{
    uint32_t best = UINT32_MAX, rank = 1;
    for (; *at < g->all.n && g->all.src[*at] == src; ++*at) {
        uint32_t t = g->all.tgt[*at];
        if (t != UINT32_MAX && score[t] > -INFINITY
            && (best == UINT32_MAX || score[t] > score[best]))
            /* ascending t: of equals the lower one */
            best = t;
    }
    if (best == UINT32_MAX) return 0;
    for (uint32_t j = 0; j < m; j++)
        rank += score[j] > score[best] || (score[j] == score[best] && j < best);
    return rank;
}

void gold_ranks_scores(const struct gold *g, struct scores *s, uint32_t m, uint32_t *rank)
{
    size_t at = 0;
    for (size_t i = 0; i < g->n; i++)
        rank[i] = best_rank(g, g->src[i], scores_row(s, g->src[i]), m, &at);
}

int gold_ranks(const struct gold *g, const struct vectors *src, const struct vectors *tgt,
               const struct word_initial *kinds, enum csls_method how, int K, uint32_t *rank)
{
    /* rows at once: enough for gemm to be fast, and S stays at 64 floats a target */
    enum { AT_ONCE = 64 };
    size_t d = (size_t)src->dim, m = tgt->n, at = 0;
    float *mean = NULL, *rows = mem_alloc(AT_ONCE * d * sizeof *rows),
          *S = mem_alloc(AT_ONCE * m * sizeof *S);
    int r = 0;
    /* the same ranking as csls_search's, but of all targets */
    if (how == CSLS_CSLS) r = word_initial_means(kinds, src, tgt, K, &mean);
    for (size_t i = 0; r == 0 && i < g->n; i += AT_ONCE) {
        size_t n = g->n - i < AT_ONCE ? g->n - i : AT_ONCE;
        for (size_t k = 0; k < n; k++)
            memcpy(rows + k * d, vectors_row(src, g->src[i + k]), d * sizeof *rows);
        gemm(false, true, (int)n, (int)m, src->dim, 1, rows, src->dim, tgt->x, src->dim, 0, S,
             (int)m, NULL, NULL);
        for (size_t k = 0; k < n; k++) {
            /* r_T of the source word is the same for all of its candidates and leaves their ranks
             * as they are: not computed. */
            for (size_t j = 0; mean && j < m; j++) S[k * m + j] = 2 * S[k * m + j] - mean[j];
            for (size_t j = 0; kinds && j < m; j++)
                if (kinds->tgt[j] != kinds->src[g->src[i + k]]) S[k * m + j] = -INFINITY;
            rank[i + k] = best_rank(g, g->src[i + k], S + k * m, (uint32_t)m, &at);
        }
    }
    free(mean);
    free(rows);
    free(S);
    return r;
}

static bool in_gold(const struct gold *g, uint32_t src, uint32_t tgt)
{
    size_t low = 0, n = g->all.n;
    while (n > 0) {
        size_t half = n / 2, mid = low + half;
        bool below = g->all.src[mid] < src || (g->all.src[mid] == src && g->all.tgt[mid] < tgt);
        low = below ? mid + 1 : low;
        n = below ? n - half - 1 : half;
    }
    return low < g->all.n && g->all.src[low] == src && g->all.tgt[low] == tgt;
}

static int by_row(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

struct gold_precision gold_precision(const struct gold *g, const struct word_pairs *p)
{
    struct gold_precision s = { .pairs = p->n };
    for (size_t i = 0; i < p->n; i++) {
        /* pairs whose source word the gold file lacks are neither right nor wrong */
        if (!g->n || !bsearch(&p->src[i], g->src, g->n, sizeof *g->src, by_row)) continue;
        s.judged++;
        s.right += in_gold(g, p->src[i], p->tgt[i]);
    }
    return s;
}

void gold_pairs(const struct gold *g, struct word_pairs *p)
{
    for (size_t i = 0; i < g->all.n; i++)
        if (g->all.tgt[i] != UINT32_MAX) word_pairs_add(p, g->all.src[i], g->all.tgt[i]);
}
