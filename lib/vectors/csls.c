#include "lib/vectors/csls.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/prog/prog.h"
#include "common/thread.h"
#include "lib/vectors/nearest.h"
#include "lib/vectors/topk.h"

const struct prog_part csls_part = { .variable = { { "ISOGLOT_CSLS", "float32|int8" } } };

static struct topk heap_of(const struct csls_side *s, uint32_t i, int filled)
{
    size_t at = (size_t)i * (size_t)s->k;
    return (struct topk){ s->k, filled, s->score + at, s->index + at };
}

/* The mean over the heap, in double and in the heap's order. */
static float heap_mean(const struct topk *t)
{
    double sum = 0;
    for (int j = 0; j < t->n; j++) sum += t->score[j];
    return t->n ? (float)(sum / t->n) : 0;
}

/* --- without the matrix ----------------------------------------------------------------------- */

static float *means(const struct csls_side *s)
{
    float *mean = mem_alloc((size_t)s->n * sizeof *mean);
    for (uint32_t i = 0; i < s->n; i++) {
        struct topk t = heap_of(s, i, s->k);
        mean[i] = heap_mean(&t);
    }
    return mean;
}

/* Something below the k-th best score of each row (or column): that of the nearest, by cosine, that
 * the means were taken over. Whatever is below cannot be among the k best, so the second search
 * bounds it away; the k best of any candidates are a floor for the k best of all. */
static float *floors(const struct csls_side *near, int columns, const float *mean_x,
                     const float *mean_z, enum csls_method how, int k)
{
    /* fewer candidates than are asked for: no floor */
    if (k > near->k) return NULL;
    float *least = mem_alloc((size_t)near->n * sizeof *least),
          *score = mem_alloc((size_t)k * sizeof *score);
    uint32_t *index = mem_alloc((size_t)k * sizeof *index);
    for (uint32_t i = 0; i < near->n; i++) {
        struct topk t = { k, 0, score, index };
        for (int j = 0; j < near->k; j++) {
            size_t at = (size_t)i * (size_t)near->k + (size_t)j;
            uint32_t other = near->index[at];
            topk_put(&t,
                     nearest_score(how, near->score[at], mean_x[columns ? other : i],
                                   mean_z[columns ? i : other]),
                     other);
        }
        /* one step below: a candidate that equals the floor may be the k-th best itself */
        least[i] = isfinite(score[0]) ? nextafterf(score[0], -INFINITY) : -INFINITY;
    }
    free(score);
    free(index);
    return least;
}

int csls_neighbour_means(const float *X, uint32_t n, const float *Z, uint32_t m, int d, int K,
                         float **mean)
{
    struct csls_side near;
    struct nearest *s = nearest_new(X, n, Z, m, d);
    int r = nearest_search(s, CSLS_NN, NULL, NULL, K, 0, NULL, NULL, &near, NULL, NULL);
    nearest_free(s);
    *mean = means(&near);
    csls_free(&near);
    return r;
}

int csls_search(const float *X, uint32_t n, const float *Z, uint32_t m, int d, enum csls_method how,
                int k, int K, struct csls_side *x, struct csls_side *z, struct csls_work *work)
{
    if (!n || !m) return err_set("no vectors to search among");
    /* callers free the sides after a failure, too */
    if (x) memset(x, 0, sizeof *x);
    if (z) memset(z, 0, sizeof *z);
    if (work) memset(work, 0, sizeof *work);
    float *mean_x = NULL, *mean_z = NULL, *floor_x = NULL, *floor_z = NULL;
    struct nearest *s = nearest_new(X, n, Z, m, d);
    int r = 0;
    if (how != CSLS_NN) {
        struct csls_side near_x, near_z;
        /* CSLS(x, z) = 2 cos(x, z) - r(x) - r(z) (Conneau et al. 2018), r the mean cosine to the K
         * nearest on the other side. So two passes over all pairs, each for both directions at
         * once; FAISS needs four searches. */
        r = nearest_search(s, CSLS_NN, NULL, NULL, K, K, NULL, NULL, &near_x, &near_z, work);
        mean_x = means(&near_x);
        mean_z = means(&near_z);
        if (r == 0) {
            floor_x = floors(&near_x, 0, mean_x, mean_z, how, k);
            floor_z = floors(&near_z, 1, mean_x, mean_z, how, k);
        }
        csls_free(&near_x);
        csls_free(&near_z);
    }
    if (r == 0) r = nearest_search(s, how, mean_x, mean_z, k, k, floor_x, floor_z, x, z, work);
    nearest_free(s);
    free(mean_x);
    free(mean_z);
    free(floor_x);
    free(floor_z);
    return r;
}

/* --- over a matrix at hand -------------------------------------------------------------------- */

/* whole TOPK_LANES, as topk_column needs them */
enum { LINES = 64 };
/* Rows `first` to `first` + n - 1 of a matrix with m columns. */
struct lines { const float *S; uint32_t n, m, first; struct csls_side *to; };

static int top_rows(void *ctx, size_t chunk, int thread)
{
    (void)thread;
    const struct lines *l = ctx;
    for (uint32_t i = (uint32_t)chunk * LINES; i < l->n && i < (chunk + 1) * LINES; i++) {
        struct topk t = heap_of(l->to, l->first + i, 0);
        topk_row(&t, l->S + (size_t)i * l->m, l->m, 0);
        topk_sort(&t);
    }
    return 0;
}

static int top_columns(void *ctx, size_t chunk, int thread)
{
    (void)thread;
    const struct lines *l = ctx;
    uint32_t begin = (uint32_t)chunk * LINES, count = l->m - begin < LINES ? l->m - begin : LINES;
    /* rows before this block have filled the heaps so far */
    int had = l->first < (uint32_t)l->to->k ? (int)l->first : l->to->k;
    struct topk t[LINES];
    float limit[LINES], end[LINES] = { 0 };
    for (uint32_t i = 0; i < LINES; i++) {
        limit[i] = i < count ? -INFINITY : INFINITY;
        if (i >= count) continue;
        t[i] = heap_of(l->to, begin + i, had);
        if (had == l->to->k) limit[i] = t[i].score[0];
    }
    for (uint32_t j = 0; j < l->n; j++) {
        const float *row = l->S + (size_t)j * l->m + begin;
        /* columns that are not there, in the last chunk: their limit is infinite */
        if (count < LINES) row = memcpy(end, row, count * sizeof *end);
        topk_column(t, limit, row, LINES, l->first + j);
    }
    return 0;
}

static int sort_lines(void *ctx, size_t chunk, int thread)
{
    (void)thread;
    struct csls_side *s = ctx;
    for (size_t i = chunk * LINES; i < s->n && i < (chunk + 1) * LINES; i++) {
        struct topk t = heap_of(s, (uint32_t)i, s->k);
        topk_sort(&t);
    }
    return 0;
}

static size_t chunks(uint32_t n) { return ((size_t)n + LINES - 1) / LINES; }

void csls_best_init(struct csls_side *x, struct csls_side *z, uint32_t n, uint32_t m, int k)
{
    if (x) csls_side_init(x, n, (uint32_t)k < m ? k : (int)m);
    if (z) csls_side_init(z, m, (uint32_t)k < n ? k : (int)n);
}

void csls_best_of(const float *S, uint32_t n, uint32_t m, uint32_t first, struct csls_side *x,
                  struct csls_side *z)
{
    struct lines rows = { S, n, m, first, x }, columns = { S, n, m, first, z };
    if (x) par_for(chunks(n), top_rows, &rows);
    if (z) par_for(chunks(m), top_columns, &columns);
}

void csls_best_sort(struct csls_side *z) { par_for(chunks(z->n), sort_lines, z); }

void csls_matrix_top(const float *S, uint32_t n, uint32_t m, int by_rows, int k,
                     struct csls_side *to)
{
    csls_best_init(by_rows ? to : NULL, by_rows ? NULL : to, n, m, k);
    csls_best_of(S, n, m, 0, by_rows ? to : NULL, by_rows ? NULL : to);
    if (!by_rows) csls_best_sort(to);
}

static void line_means(const float *S, uint32_t n, uint32_t m, int by_rows, int K, float *mean)
{
    struct csls_side s;
    csls_matrix_top(S, n, m, by_rows, K, &s);
    for (uint32_t i = 0; i < s.n; i++) {
        struct topk t = heap_of(&s, i, s.k);
        mean[i] = heap_mean(&t);
    }
    csls_free(&s);
}

void csls_means(const float *S, uint32_t n, uint32_t m, int K, float *row, float *col)
{
    if (row) line_means(S, n, m, 1, K, row);
    if (col) line_means(S, n, m, 0, K, col);
}

struct scale { float *S; uint32_t m; const float *row, *col; };

static int scale_row(void *ctx, size_t i, int thread)
{
    (void)thread;
    const struct scale *c = ctx;
    for (uint32_t j = 0; j < c->m; j++)
        c->S[i * c->m + j] = 2 * c->S[i * c->m + j] - c->row[i] - c->col[j];
    return 0;
}

void csls_matrix(float *S, uint32_t n, uint32_t m, int K)
{
    float *row = mem_alloc((size_t)n * sizeof *row), *col = mem_alloc((size_t)m * sizeof *col);
    /* both before S changes */
    csls_means(S, n, m, K, row, col);
    struct scale c = { S, m, row, col };
    par_for(n, scale_row, &c);
    free(row);
    free(col);
}
