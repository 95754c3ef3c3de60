#include "lib/vectors/sparse.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/rng.h"
#include "common/thread.h"
#include "kernels/linalg/gemm.h"
#include "kernels/linalg/simd.h"
#include "lib/vectors/linalg.h"

static int by_place(const void *a, const void *b)
{
    const struct sparse_entry *x = a, *y = b;
    if (x->row != y->row) return x->row < y->row ? -1 : 1;
    if (x->col != y->col) return x->col < y->col ? -1 : 1;
    /* The sum of equal places must not depend on the order in which they came. */
    return (x->v > y->v) - (x->v < y->v);
}

struct sparse *sparse_make(uint32_t rows, uint32_t cols, struct sparse_entry *e, size_t n)
{
    struct sparse *m = mem_zero(1, sizeof *m);
    m->rows = rows;
    m->cols = cols;
    m->at = mem_zero((size_t)rows + 1, sizeof *m->at);
    m->col = mem_alloc(n * sizeof *m->col);
    m->v = mem_alloc(n * sizeof *m->v);
    /* What comes in order, as from one file of counts, is not sorted: sorting takes the memory of
     * the entries once more. */
    size_t sorted = 1;
    while (sorted < n && by_place(&e[sorted - 1], &e[sorted]) <= 0) sorted++;
    if (sorted < n) qsort(e, n, sizeof *e, by_place);
    size_t to = 0;
    for (size_t i = 0; i < n; i++) {
        if (i && e[i].row == e[i - 1].row && e[i].col == e[i - 1].col) {
            m->v[to - 1] += e[i].v;
            continue;
        }
        m->at[e[i].row + 1]++;
        m->col[to] = e[i].col;
        m->v[to++] = e[i].v;
    }
    for (uint32_t r = 0; r < rows; r++) m->at[r + 1] += m->at[r];
    return m;
}

struct sparse *sparse_transpose(const struct sparse *m)
{
    struct sparse *t = mem_zero(1, sizeof *t);
    size_t n = m->at[m->rows];
    t->rows = m->cols;
    t->cols = m->rows;
    t->at = mem_zero((size_t)t->rows + 2, sizeof *t->at);
    t->col = mem_alloc(n * sizeof *t->col);
    t->v = mem_alloc(n * sizeof *t->v);
    /* at[c + 2] counts, at[c + 1] is where column c's next entry goes; in the end at[c + 1] is its
     * end. */
    for (size_t i = 0; i < n; i++) t->at[m->col[i] + 2]++;
    for (uint32_t c = 0; c < t->rows; c++) t->at[c + 2] += t->at[c + 1];
    for (uint32_t r = 0; r < m->rows; r++)
        for (size_t i = m->at[r]; i < m->at[r + 1]; i++) {
            size_t to = t->at[m->col[i] + 1]++;
            t->col[to] = r;
            t->v[to] = m->v[i];
        }
    return t;
}

void sparse_free(struct sparse *m)
{
    if (!m) return;
    free(m->at);
    free(m->col);
    free(m->v);
    free(m);
}

struct times { const struct sparse *m; const float *X; float *Y; int k; };
enum { ROWS = 256 };

static int times_rows(void *ctx, size_t chunk, int thread)
{
    (void)thread;
    const struct times *t = ctx;
    const struct simd *simd = simd_choose();
    size_t k = (size_t)t->k,
           end = (chunk + 1) * ROWS < t->m->rows ? (chunk + 1) * ROWS : t->m->rows;
    for (size_t r = chunk * ROWS; r < end; r++) {
        size_t at = t->m->at[r], n = t->m->at[r + 1] - at;
        simd->sum_rows(t->Y + r * k, t->X, k, t->m->col + at, t->m->v + at, n);
    }
    return 0;
}

/* Y [rows, k] = M X [cols, k]; over the pool, the same bytes for any number of threads. */
static void sparse_times(const struct sparse *m, const float *X, float *Y, int k)
{
    struct times t = { m, X, Y, k };
    par_for(((size_t)m->rows + ROWS - 1) / ROWS, times_rows, &t);
}

struct sparse *sparse_copy(const struct sparse *m)
{
    struct sparse *c = mem_alloc(sizeof *c);
    size_t n = m->at[m->rows];
    *c = *m;
    c->at = mem_alloc(((size_t)m->rows + 1) * sizeof *c->at);
    c->col = mem_alloc(n * sizeof *c->col);
    c->v = mem_alloc(n * sizeof *c->v);
    memcpy(c->at, m->at, ((size_t)m->rows + 1) * sizeof *c->at);
    memcpy(c->col, m->col, n * sizeof *c->col);
    memcpy(c->v, m->v, n * sizeof *c->v);
    return c;
}

void sparse_unit_rows(struct sparse *m)
{
    for (uint32_t r = 0; r < m->rows; r++) {
        double s = 0;
        for (size_t i = m->at[r]; i < m->at[r + 1]; i++) s += (double)m->v[i] * m->v[i];
        for (size_t i = m->at[r]; i < m->at[r + 1] && s > 0; i++)
            m->v[i] = (float)(m->v[i] / sqrt(s));
    }
}

/* Rows of a product, ROWS at a time; each chunk has a list of its own until all are done. */
struct part { uint32_t *col; float *v; size_t n, col_cap, v_cap; };
struct product {
    const struct sparse *a, *b;
    struct sparse *c;
    struct part *part;
    float **sum;
    uint32_t **touched;
};

static int by_id(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int product_rows(void *ctx, size_t chunk, int thread)
{
    struct product *p = ctx;
    struct part *to = &p->part[chunk];
    if (!p->sum[thread]) {
        p->sum[thread] = mem_zero(p->b->cols, sizeof(float));
        p->touched[thread] = mem_alloc((size_t)p->b->cols * sizeof(uint32_t));
    }
    /* Gustavson's algorithm: a row is summed in a dense array, of which only the columns that were
     * touched are read and cleared. */
    float *sum = p->sum[thread];
    uint32_t *touched = p->touched[thread];
    size_t end = (chunk + 1) * ROWS < p->a->rows ? (chunk + 1) * ROWS : p->a->rows;
    for (size_t r = chunk * ROWS; r < end; r++) {
        size_t n = 0;
        for (size_t i = p->a->at[r]; i < p->a->at[r + 1]; i++) {
            uint32_t mid = p->a->col[i];
            for (size_t j = p->b->at[mid]; j < p->b->at[mid + 1]; j++) {
                float v = p->a->v[i] * p->b->v[j];
                /* weights are positive; a zero would be listed twice */
                if (!(v > 0)) continue;
                if (sum[p->b->col[j]] == 0) touched[n++] = p->b->col[j];
                /* in order of mid, whatever the thread: the same bytes */
                sum[p->b->col[j]] += v;
            }
        }
        qsort(touched, n, sizeof *touched, by_id);
        mem_room(&to->col, &to->col_cap, to->n + n, sizeof *to->col);
        mem_room(&to->v, &to->v_cap, to->n + n, sizeof *to->v);
        for (size_t i = 0; i < n; i++) {
            to->col[to->n] = touched[i];
            to->v[to->n++] = sum[touched[i]];
            sum[touched[i]] = 0;
        }
        p->c->at[r + 1] = n;
    }
    return 0;
}

struct sparse *sparse_product(const struct sparse *a, const struct sparse *b)
{
    size_t chunks = ((size_t)a->rows + ROWS - 1) / ROWS, threads = (size_t)par_threads();
    struct sparse *c = mem_zero(1, sizeof *c);
    c->rows = a->rows;
    c->cols = b->cols;
    c->at = mem_zero((size_t)a->rows + 1, sizeof *c->at);
    struct product p = { a,
                         b,
                         c,
                         mem_zero(chunks, sizeof *p.part),
                         mem_zero(threads, sizeof *p.sum),
                         mem_zero(threads, sizeof *p.touched) };
    par_for(chunks, product_rows, &p);
    for (uint32_t r = 0; r < a->rows; r++) c->at[r + 1] += c->at[r];
    c->col = mem_alloc(c->at[a->rows] * sizeof *c->col);
    c->v = mem_alloc(c->at[a->rows] * sizeof *c->v);
    size_t to = 0;
    for (size_t i = 0; i < chunks; i++) {
        if (p.part[i].n) {
            memcpy(c->col + to, p.part[i].col, p.part[i].n * sizeof *c->col);
            memcpy(c->v + to, p.part[i].v, p.part[i].n * sizeof *c->v);
        }
        to += p.part[i].n;
        free(p.part[i].col);
        free(p.part[i].v);
    }
    for (size_t i = 0; i < threads; i++) {
        free(p.sum[i]);
        free(p.touched[i]);
    }
    free(p.part);
    free(p.sum);
    free(p.touched);
    return c;
}

/* B, from the right: by column, with the columns that are dense on both sides as panels. */
struct sparse_right {
    struct sparse *t;
    int *dense, k;                 /* [cols]: number among the k dense ones, or -1 */
    float *pa, *pb;                /* [a.rows, k], [b.rows, k] */
};

/* The columns numbered by dense[] (-1: not among them) as a full matrix [rows, k]. */
static float *panel(const struct sparse *m, const int *dense, int k)
{
    float *p = mem_zero((size_t)m->rows * (size_t)k, sizeof *p);
    for (uint32_t r = 0; r < m->rows; r++)
        for (size_t i = m->at[r]; i < m->at[r + 1]; i++)
            if (dense[m->col[i]] >= 0)
                p[(size_t)r * (size_t)k + (size_t)dense[m->col[i]]] = m->v[i];
    return p;
}

struct sparse_right *sparse_right_new(const struct sparse *a, const struct sparse *b)
{
    struct sparse_right *r = mem_zero(1, sizeof *r);
    uint32_t *in_a = mem_zero(a->cols, sizeof *in_a);
    r->t = sparse_transpose(b);
    r->dense = mem_alloc((size_t)a->cols * sizeof *r->dense);
    for (size_t i = 0; i < a->at[a->rows]; i++) in_a[a->col[i]]++;
    /* A scattered addition costs about thirty of sgemm's: from that density on a column goes by
     * product. */
    for (uint32_t c = 0; c < a->cols; c++)
        r->dense[c] = (double)in_a[c] * (double)(r->t->at[c + 1] - r->t->at[c]) * 30
                              > (double)a->rows * b->rows
                          ? r->k++
                          : -1;
    if (r->k) {
        r->pa = panel(a, r->dense, r->k);
        r->pb = panel(b, r->dense, r->k);
    }
    free(in_a);
    return r;
}

void sparse_right_free(struct sparse_right *r)
{
    if (!r) return;
    sparse_free(r->t);
    free(r->dense);
    free(r->pa);
    free(r->pb);
    free(r);
}

struct outer {
    const struct sparse *a;
    const struct sparse_right *b;
    float weight, *S;
    uint32_t first, n, m;
};

enum { OUTER_ROWS = 64 };
static int outer_rows(void *ctx, size_t chunk, int thread)
{
    (void)thread;
    const struct outer *o = ctx;
    const struct sparse *t = o->b->t;
    size_t end = (chunk + 1) * OUTER_ROWS < o->n ? (chunk + 1) * OUTER_ROWS : o->n;
    for (size_t r = chunk * OUTER_ROWS; r < end; r++) {
        float *to = o->S + r * o->m;
        size_t row = o->first + r;
        for (size_t i = o->a->at[row]; i < o->a->at[row + 1]; i++) {
            uint32_t c = o->a->col[i];
            if (o->b->dense[c] >= 0) continue;
            float v = o->weight * o->a->v[i];
            /* ascending: the first m stand in front */
            for (size_t j = t->at[c]; j < t->at[c + 1] && t->col[j] < o->m; j++)
                to[t->col[j]] += v * t->v[j];
        }
    }
    return 0;
}

void sparse_add_products(const struct sparse *a, const struct sparse_right *b, float weight,
                         uint32_t first, uint32_t n, uint32_t m, float *S)
{
    int k = b->k;
    if (k)
        gemm(false, true, (int)n, (int)m, k, weight, b->pa + (size_t)first * (size_t)k, k, b->pb, k,
             1, S, (int)m, NULL, NULL);
    struct outer o = { a, b, weight, S, first, n, m };
    par_for(((size_t)n + OUTER_ROWS - 1) / OUTER_ROWS, outer_rows, &o);
}

void sparse_ppmi(struct sparse *m, double power, double shift)
{
    double *col = mem_zero(m->cols, sizeof *col), total = 0;
    size_t to = 0, begin = 0;
    for (size_t i = 0; i < m->at[m->rows]; i++) col[m->col[i]] += m->v[i];
    for (uint32_t c = 0; c < m->cols; c++)
        /* pow(0, 0) is 1: an empty column must not count */
        if (col[c] > 0) total += col[c] = pow(col[c], power);
    for (uint32_t r = 0; r < m->rows; r++) {
        double row = 0;
        size_t end = m->at[r + 1];
        for (size_t i = begin; i < end; i++) row += m->v[i];
        for (size_t i = begin; i < end; i++) {
            /* PPMI with smoothed contexts, max(0, log (P(w, c) / (P(w) P(c)^power)) - log shift)
             * (Levy et al. 2015) */
            double v = m->v[i] > 0 ? log(m->v[i] * total / (row * col[m->col[i]])) - log(shift) : 0;
            if (v <= 0) continue;
            m->col[to] = m->col[i];
            m->v[to++] = (float)v;
        }
        /* in place: entries move towards the front as others are dropped */
        begin = end;
        m->at[r + 1] = to;
    }
    free(col);
}

int sparse_svd(const struct sparse *m, int d, int power, uint64_t seed, float *U, float *s)
{
    uint32_t least = m->rows < m->cols ? m->rows : m->cols;
    if (d < 1 || (uint32_t)d > least)
        return err_set("%d dimensions of a %u x %u matrix: at most %u", d, m->rows, m->cols, least);
    /* Randomised SVD (Halko, Martinsson and Tropp 2011) with oversampling and power iterations:
     * passes over the sparse matrix, and dense work on p columns only. */
    int p = 2 * d + 10;
    /* more probes than dimensions would all be orthogonalised to 0 */
    if ((uint32_t)p > least) p = (int)least;
    struct sparse *t = sparse_transpose(m);
    size_t rows = m->rows, cols = m->cols, k = (size_t)p;
    float *Q = mem_alloc(rows * k * sizeof *Q), *B = mem_alloc(cols * k * sizeof *B);
    struct rng_key key = { seed, RNG_MAP, 0 };
    /* by place, so that threads and memory make no difference */
    for (size_t i = 0; i < cols * k; i++) B[i] = rng_normal(key, i / k, (uint32_t)(i % k));
    sparse_times(m, B, Q, p);
    /* between the passes, or all columns would become the first singular vector */
    linalg_orthogonalize(Q, rows, p);
    for (int i = 0; i < power; i++) {
        sparse_times(t, Q, B, p);
        linalg_orthogonalize(B, cols, p);
        sparse_times(m, B, Q, p);
        linalg_orthogonalize(Q, rows, p);
    }
    /* M^T Q = B [cols, p]; M ~ Q B^T, and B^T = W diag(s) V^T. W and s^2 are of B^T B [p, p], which
     * needs no second copy of B in double; squaring costs half of the digits of the smallest s, and
     * p = 2 d + 10 has twice as many as are kept. */
    sparse_times(t, Q, B, p);
    double *g = mem_alloc(k * k * sizeof *g), *sv = mem_alloc(k * sizeof *sv),
           *wt = mem_alloc(k * k * sizeof *wt);
    linalg_gram(B, cols, p, g);
    int r = linalg_svd(g, p, p, NULL, sv, wt);              /* wt [p, p]: row j is W's column j */
    if (r == 0) {
        float *wf = mem_zero(k * (size_t)d, sizeof *wf);
        for (int j = 0; j < d; j++)
            for (size_t i = 0; i < k; i++)
                wf[i * (size_t)d + (size_t)j] = (float)wt[(size_t)j * k + i];
        gemm(false, false, (int)rows, d, p, 1, Q, p, wf, d, 0, U, d, NULL, NULL);
        free(wf);
        for (int j = 0; j < d; j++) {
            float top = 0;
            for (size_t i = 0; i < rows; i++)
                if (fabsf(U[i * (size_t)d + (size_t)j]) > fabsf(top))
                    top = U[i * (size_t)d + (size_t)j];
            /* the sign of a singular vector is arbitrary: its largest entry is positive */
            if (top < 0)
                for (size_t i = 0; i < rows; i++)
                    U[i * (size_t)d + (size_t)j] = -U[i * (size_t)d + (size_t)j];
            s[j] = (float)sqrt(sv[j]);
        }
    }
    free(g);
    free(sv);
    free(wt);
    free(Q);
    free(B);
    sparse_free(t);
    return r;
}
