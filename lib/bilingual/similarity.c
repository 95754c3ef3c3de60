#include "lib/bilingual/similarity.h"
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/thread.h"
#include "kernels/linalg/gemm.h"
#include "lib/vectors/csls.h"

/* two tiles of 256 x 256 floats fit a core's cache */
enum { TILE = 256 };
struct sums { double x, z, xx, zz, xz; };
/* sum [n]: of each word with all others */
struct similar { const float *X, *Z; size_t n; int dx, dz; struct sums *sum; float **tile; };

static void sums_add(struct sums *t, const struct sums *s, double sign)
{
    t->x += sign * s->x;
    t->z += sign * s->z;
    t->xx += sign * s->xx;
    t->zz += sign * s->zz;
    t->xz += sign * s->xz;
}

/* Rows [i0, i1) against all others. */
static int similar_rows(void *ctx, size_t chunk, int thread)
{
    struct similar *s = ctx;
    float *a = s->tile[thread], *b = a + TILE * TILE;
    size_t i0 = chunk * TILE, i1 = i0 + TILE < s->n ? i0 + TILE : s->n;
    for (size_t j0 = 0; j0 < s->n; j0 += TILE) {
        size_t j1 = j0 + TILE < s->n ? j0 + TILE : s->n;
        /* within a thread: par_for has taken all of them */
        gemm_here(false, true, (int)(i1 - i0), (int)(j1 - j0), s->dx, 1, s->X + i0 * (size_t)s->dx,
                  s->dx, s->X + j0 * (size_t)s->dx, s->dx, 0, a, TILE);
        gemm_here(false, true, (int)(i1 - i0), (int)(j1 - j0), s->dz, 1, s->Z + i0 * (size_t)s->dz,
                  s->dz, s->Z + j0 * (size_t)s->dz, s->dz, 0, b, TILE);
        for (size_t i = i0; i < i1; i++) {
            /* a tile's sums first: fewer roundings than one sum over everything */
            struct sums t = { 0 };
            for (size_t j = j0; j < j1; j++) {
                double x = a[(i - i0) * TILE + j - j0], z = b[(i - i0) * TILE + j - j0];
                /* 1 on both sides for every word: it says nothing of the spaces */
                if (i == j) continue;
                t.x += x; t.z += z; t.xx += x * x; t.zz += z * z; t.xz += x * z;
            }
            sums_add(&s->sum[i], &t, 1);
        }
    }
    return 0;
}

/* Pearson's r of `count` points; vx and vz get the sums of squared deviations. */
static double pearson(const struct sums *t, double count, double *vx, double *vz)
{
    *vx = t->xx - t->x * t->x / count;
    *vz = t->zz - t->z * t->z / count;
    return (t->xz - t->x * t->z / count) / sqrt(*vx * *vz);
}

/* Cosines come in float32: a spread below their rounding is none. */
static bool varies(double v, double count) { return v >= count * 1e-13; }

/* Half of the 95% interval of r by the jackknife (Efron 1979): each word in turn is left out, with
 * all of its cosines. NaN: without one of the words the others have no r. */
static double jackknife(const struct sums *all, const struct sums *word, size_t n)
{
    /* pairs without word i */
    double sum = 0, squares = 0, vx, vz, count = (double)(n - 1) * (double)(n - 2) / 2;
    if (n < 4) return NAN;
    for (size_t i = 0; i < n; i++) {
        struct sums t = *all;
        /* all - what i takes part in: n sums and not n^2 */
        sums_add(&t, &word[i], -1);
        double r = pearson(&t, count, &vx, &vz);
        if (!varies(vx, count) || !varies(vz, count)) return NAN;
        sum += r;
        squares += r * r;
    }
    /* the jackknife's variance: (n - 1) / n times the sum of squared deviations */
    double var = (squares - sum * sum / (double)n) * (double)(n - 1) / (double)n;
    return 1.96 * sqrt(fmax(0, var));
}

static int correlate(const float *X, int dx, const float *Z, int dz, size_t n, double *r,
                     double *half)
{
    size_t chunks = (n + TILE - 1) / TILE;
    struct similar s = { X,
                         Z,
                         n,
                         dx,
                         dz,
                         mem_zero(n, sizeof *s.sum),
                         mem_zero((size_t)par_threads(), sizeof *s.tile) };
    for (int i = 0; i < par_threads(); i++) s.tile[i] = mem_alloc(2 * TILE * TILE * sizeof(float));
    par_for(chunks, similar_rows, &s);
    struct sums t = { 0 };
    /* every pair was met from both sides */
    for (size_t i = 0; i < n; i++) sums_add(&t, &s.sum[i], 0.5);
    double count = (double)n * (double)(n - 1) / 2, vx, vz;
    *r = pearson(&t, count, &vx, &vz);
    *half = jackknife(&t, s.sum, n);
    for (int i = 0; i < par_threads(); i++) free(s.tile[i]);
    free(s.tile);
    free(s.sum);
    if (!varies(vx, count) || !varies(vz, count))
        return err_set("RSIM is not defined: the similarities of the %s words do not vary",
                       !varies(vx, count) ? "source" : "target");
    return 0;
}

/* Rows of v by the list, to length 1. */
static int unit_rows(const struct vectors *v, const uint32_t *row, size_t n, float *to)
{
    size_t d = (size_t)v->dim;
    for (size_t i = 0; i < n; i++) {
        const float *x = vectors_row(v, row ? row[i] : (uint32_t)i);
        double s = 0;
        for (size_t k = 0; k < d; k++) s += (double)x[k] * x[k];
        /* only words that are asked about; elsewhere a row of zeros is like none */
        if (s <= 0 && row)
            return err_set("\"%s\" has a vector of zeros: its similarities are not defined",
                           vectors_word(v, row[i]));
        for (size_t k = 0; k < d; k++) to[i * d + k] = s > 0 ? (float)(x[k] / sqrt(s)) : 0;
    }
    return 0;
}

/* Share of pairs whose `to` row is the nearest of all rows. */
static int aligned(const float *from, const uint32_t *to, size_t n, const struct vectors *among,
                   double *share)
{
    float *all = mem_alloc((size_t)among->n * (size_t)among->dim * sizeof *all);
    struct csls_side s = { 0 };
    unit_rows(among, NULL, among->n, all);
    int r = csls_search(from, (uint32_t)n, all, among->n, among->dim, CSLS_NN, 1, 1, &s, NULL,
                        NULL);
    size_t right = 0;
    for (size_t i = 0; r == 0 && i < n; i++) right += s.index[i] == to[i];
    *share = (double)right / (double)n;
    csls_free(&s);
    free(all);
    return r;
}

static double dot(const float *a, const double *b, size_t d)
{
    double s = 0;
    for (size_t k = 0; k < d; k++) s += (double)a[k] * b[k];
    return s;
}

/* The sum over all i != j of cos(x_i, z_j) is that of the sums of both sides, less the pairs' own:
 * n products and not n^2. A pair that is left out (jackknife, for the interval) takes its row and
 * its column along. */
static void cosines(const float *X, const float *Z, size_t n, size_t d, struct similarity *r)
{
    double *x = mem_zero(d, sizeof *x), *z = mem_zero(d, sizeof *z),
           *own = mem_alloc(n * sizeof *own);
    double sum = 0, squares = 0, all = 0, m = (double)n;
    for (size_t i = 0; i < n; i++) {
        own[i] = 0;
        for (size_t k = 0; k < d; k++) {
            own[i] += (double)X[i * d + k] * Z[i * d + k];
            x[k] += X[i * d + k];
            z[k] += Z[i * d + k];
        }
        sum += own[i];
        squares += own[i] * own[i];
    }
    for (size_t k = 0; k < d; k++) all += x[k] * z[k];
    all -= sum;
    r->cosine = sum / m;
    /* standard error of a mean of n cosines */
    r->cosine_ci = 1.96 * sqrt(fmax(0, squares - sum * sum / m) / (m - 1) / m);
    r->random = all / m / (m - 1);
    /* A cosine alone measures the space's common direction, too: only what is above random pairs
     * says that translations meet. */
    r->above = r->cosine - r->random;
    double mean = 0, deviation = 0;
    for (size_t i = 0; i < n; i++) {
        double lost = dot(X + i * d, z, d) + dot(Z + i * d, x, d) - 2 * own[i];
        /* the cosine of the other pairs less that of their random pairs */
        double without = (sum - own[i]) / (m - 1) - (all - lost) / (m - 1) / (m - 2),
               delta = without - mean;
        /* Welford: the differences between the n values are far smaller than the values */
        mean += delta / (double)(i + 1);
        deviation += delta * (without - mean);
    }
    r->above_ci = 1.96 * sqrt(deviation * (m - 1) / m);
    free(x);
    free(z);
    free(own);
}

static struct similarity unknown(size_t n)
{
    return (struct similarity){ .pairs = n,
                                .rsim = NAN,
                                .cosine = NAN,
                                .random = NAN,
                                .above = NAN,
                                .forward = NAN,
                                .backward = NAN,
                                .rsim_ci = NAN,
                                .cosine_ci = NAN,
                                .above_ci = NAN,
                                .forward_ci = NAN,
                                .backward_ci = NAN };
}

int similarity_cosines(const struct vectors *src, const struct vectors *tgt,
                       const struct word_pairs *p, struct similarity *r)
{
    size_t d = (size_t)src->dim;
    *r = unknown(p->n);
    if (p->n < 3 || src->dim != tgt->dim) return 0;
    float *X = mem_alloc(p->n * d * sizeof *X), *Z = mem_alloc(p->n * d * sizeof *Z);
    int status = unit_rows(src, p->src, p->n, X) < 0 || unit_rows(tgt, p->tgt, p->n, Z) < 0 ? -1
                                                                                            : 0;
    if (status == 0) cosines(X, Z, p->n, d, r);
    free(X);
    free(Z);
    return status;
}

int similarity_measure(const struct vectors *src, const struct vectors *tgt,
                       const struct word_pairs *p, struct similarity *r)
{
    *r = unknown(p->n);
    if (p->n < 3)
        return err_set("%zu pairs have vectors on both sides; RSIM needs 3 or more", p->n);
    size_t dx = (size_t)src->dim, dz = (size_t)tgt->dim;
    float *X = mem_alloc(p->n * dx * sizeof *X), *Z = mem_alloc(p->n * dz * sizeof *Z);
    int status = unit_rows(src, p->src, p->n, X) < 0 || unit_rows(tgt, p->tgt, p->n, Z) < 0 ? -1
                                                                                            : 0;
    if (status == 0) status = correlate(X, src->dim, Z, tgt->dim, p->n, &r->rsim, &r->rsim_ci);
    /* the other measures need one space */
    if (status == 0 && dx == dz) {
        double n = (double)p->n;
        cosines(X, Z, p->n, dx, r);
        if (aligned(X, p->tgt, p->n, tgt, &r->forward) < 0
            || aligned(Z, p->src, p->n, src, &r->backward) < 0)
            status = -1;
        /* that of a share (binomial, normal) */
        r->forward_ci = 1.96 * sqrt(r->forward * (1 - r->forward) / n);
        r->backward_ci = 1.96 * sqrt(r->backward * (1 - r->backward) / n);
    }
    free(X);
    free(Z);
    return status;
}
