#include "lib/vectors/tsne.h"
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/rng.h"
#include "common/thread.h"
#include "lib/vectors/quadtree.h"
#include "lib/vectors/topk.h"

/* --- affinities ------------------------------------------------------------------------------- */

/* What t-SNE keeps of points in many dimensions: how near each finds each other.
 *   p_{j|i} = exp(-beta_i |x_i - x_j|^2) / sum,  beta_i such that the entropy is log(perplexity);
 *   p_ij = (p_{j|i} + p_{i|j}) / 2n
 * The same on any number of threads. */

enum { AFFINITIES_LANES = 8 };

/* Dense: n rows of `pad` floats (n, rounded up to AFFINITIES_LANES; zeros after them). Sparse: row
 * i is p[row[i]..row[i + 1]) with columns col. All p together are 1. */
struct affinities { uint32_t n, pad; float *dense; size_t *row; uint32_t *col; float *p; };

static void affinities_free(struct affinities *a)
{
    free(a->dense);
    free(a->row);
    free(a->col);
    free(a->p);
}

static double squared(const float *a, const float *b, int d)
{
    double s = 0;
    for (int k = 0; k < d; k++) s += ((double)a[k] - b[k]) * ((double)a[k] - b[k]);
    return s;
}

/* p [n] of squared distances dd [n] whose entropy is log(perplexity), by bisection of beta. dd of
 * the point itself is < 0 and gets 0. */
static void conditional(const double *dd, size_t n, double perplexity, double *p)
{
    double low = 0, high = INFINITY, beta = 1, least = INFINITY, want = log(perplexity);
    for (size_t j = 0; j < n; j++)
        if (dd[j] >= 0) least = fmin(least, dd[j]);
    /* Where many points coincide no beta may be large enough: then it is the last. */
    for (int step = 0; step < 200; step++) {
        double sum = 0, moment = 0;
        for (size_t j = 0; j < n; j++) {
            /* less the smallest distance: exp() would be 0 for all where points are far from each
             * other */
            p[j] = dd[j] < 0 ? 0 : exp(-beta * (dd[j] - least));
            sum += p[j];
            moment += p[j] * (dd[j] - least);
        }
        double entropy = log(sum) + beta * moment / sum;
        for (size_t j = 0; j < n; j++) p[j] /= sum;
        /* scikit-learn's tolerance */
        if (fabs(entropy - want) < 1e-5) return;
        if (entropy > want) low = beta; else high = beta;
        /* doubled until it is too large, then halved between the bounds */
        beta = isinf(high) ? 2 * beta : (low + high) / 2;
    }
}

struct source {
    const float *X, *across;      /* [n, d], and [d, n] */
    uint32_t n;
    int d;
    double perplexity;
    struct affinities *a;
    uint32_t near;
    uint32_t *index;
    double *p;
};

/* --- dense ------------------------------------------------------------------------------------ */

static int dense_row(void *ctx, size_t i, int thread)
{
    (void)thread;
    const struct source *s = ctx;
    size_t d = (size_t)s->d;
    double *dd = mem_alloc(2 * (size_t)s->n * sizeof *dd), *p = dd + s->n;
    for (size_t j = 0; j < s->n; j++)
        dd[j] = j == i ? -1 : squared(s->X + i * d, s->X + j * d, s->d);
    conditional(dd, s->n, s->perplexity, p);
    for (size_t j = 0; j < s->n; j++) s->a->dense[i * s->a->pad + j] = (float)p[j];
    free(dd);
    return 0;
}

/* Of X [n, d]; the perplexity is below n - 1. Dense takes 4 n^2 bytes, sparse about 24 n (3
 * perplexity), since it has only each point's nearest 3 perplexity + 1 (scikit-learn's number). */
static void affinities_dense(struct affinities *a, const float *X, uint32_t n, int d,
                             double perplexity)
{
    *a = (struct affinities){
        .n = n,
        .pad = (n + AFFINITIES_LANES - 1) / AFFINITIES_LANES * AFFINITIES_LANES
    };
    a->dense = mem_zero((size_t)n * a->pad, sizeof *a->dense);
    struct source s = { .X = X, .n = n, .d = d, .perplexity = perplexity, .a = a };
    par_for(n, dense_row, &s);
    /* p_ij of the joint distribution, symmetric (van der Maaten and Hinton 2008) */
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            float *there = &a->dense[i * a->pad + j], *back = &a->dense[j * a->pad + i];
            *there = *back = (*there + *back) / (2 * (float)n);
        }
}

/* --- sparse ----------------------------------------------------------------------------------- */

/* The nearest by distances in float, a dimension at a time over all points, which compilers make
 * vectors of; p by those in double. */
static int near_row(void *ctx, size_t i, int thread)
{
    (void)thread;
    const struct source *s = ctx;
    size_t d = (size_t)s->d;
    double *dd = mem_alloc((size_t)s->near * sizeof *dd);
    float *score = mem_alloc((size_t)s->near * sizeof *score),
          *minus = mem_zero((size_t)s->n, sizeof *minus);
    for (size_t k = 0; k < d; k++) {
        const float *x = s->across + k * s->n, at = x[i];
        for (size_t j = 0; j < s->n; j++) minus[j] -= (x[j] - at) * (x[j] - at);
    }
    struct topk t = { (int)s->near, 0, score, s->index + i * s->near };
    /* in two parts, which leave the point itself out */
    topk_row(&t, minus, (uint32_t)i, 0);
    topk_row(&t, minus + i + 1, s->n - (uint32_t)i - 1, (uint32_t)i + 1);
    topk_sort(&t);
    for (uint32_t k = 0; k < s->near; k++)
        dd[k] = squared(s->X + i * d, s->X + t.index[k] * d, s->d);
    conditional(dd, s->near, s->perplexity, s->p + i * s->near);
    free(dd);
    free(score);
    free(minus);
    return 0;
}

struct entry { uint32_t col; float p; };
static int by_column(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return (x->col > y->col) - (x->col < y->col);
}

/* p_{j|i} of each point's near ones, into s->index and s->p [n, near]. */
static void near_ones(struct source *s)
{
    size_t n = s->n, d = (size_t)s->d;
    float *across = mem_alloc(n * d * sizeof *across);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < d; k++) across[k * n + i] = s->X[i * d + k];
    s->across = across;
    s->index = mem_alloc(n * s->near * sizeof *s->index);
    s->p = mem_alloc(n * s->near * sizeof *s->p);
    par_for(n, near_row, s);
    free(across);
}

static void affinities_sparse(struct affinities *a, const float *X, uint32_t n, int d,
                              double perplexity)
{
    uint32_t near = (uint32_t)fmin(n - 1, 3 * perplexity + 1);
    *a = (struct affinities){ .n = n };
    struct source s = { .X = X, .n = n, .d = d, .perplexity = perplexity, .a = a, .near = near };
    near_ones(&s);
    /* end[i] counts, then is where row i's next entry goes, in the end where it ends and row i + 1
     * begins. */
    /* Both p_{j|i} and p_{i|j} into row i; equal columns, at most two, are added. */
    size_t *end = mem_zero(n, sizeof *end), all = 0, m = 0;
    for (size_t k = 0; k < (size_t)n * near; k++) { end[k / near]++; end[s.index[k]]++; }
    for (uint32_t i = 0; i < n; i++) { size_t count = end[i]; end[i] = all; all += count; }
    struct entry *e = mem_alloc(all * sizeof *e);
    for (size_t k = 0; k < (size_t)n * near; k++) {
        uint32_t i = (uint32_t)(k / near), j = s.index[k];
        float p = (float)(s.p[k] / (2.0 * n));
        e[end[i]++] = (struct entry){ j, p };
        e[end[j]++] = (struct entry){ i, p };
    }
    a->row = mem_alloc(((size_t)n + 1) * sizeof *a->row);
    a->col = mem_alloc(all * sizeof *a->col);
    a->p = mem_alloc(all * sizeof *a->p);
    for (uint32_t i = 0; i < n; i++) {
        size_t begin = i ? end[i - 1] : 0;
        a->row[i] = m;
        if (end[i] > begin) qsort(e + begin, end[i] - begin, sizeof *e, by_column);
        for (size_t k = begin; k < end[i]; k++)
            if (m > a->row[i] && a->col[m - 1] == e[k].col) a->p[m - 1] += e[k].p;
            else { a->col[m] = e[k].col; a->p[m++] = e[k].p; }
    }
    a->row[n] = m;
    free(e);
    free(end);
    free(s.index);
    free(s.p);
}

/* --- the map ---------------------------------------------------------------------------------- */

const struct tsne_options tsne_defaults = {
    .perplexity = 30, .theta = 0.5, .iterations = 1000, .early = 250, .exaggeration = 12, .seed = 1
};

enum { LANES = AFFINITIES_LANES, ROWS = 16 };
typedef float lanes __attribute__((vector_size(32), aligned(4)));

/* --- forces ----------------------------------------------------------------------------------- */

/* Of each point: attraction sum p w (y_i - y_j), repulsion sum w^2 (y_i - y_j) and sum w over the
 * others. */
struct forces {
    const struct affinities *a;
    const double *Y;
    const float *x, *y;
    const struct quadtree *tree;
    double theta, *pull, *push, *z;
};

static double across(const lanes *v)
{
    double s = 0;
    for (int k = 0; k < LANES; k++) s += (double)(*v)[k];
    return s;
}

/* Of ROWS points, from all. x and y are padded with points so far away that their w is 0: no loop
 * for the rest. */
static int exact_rows(void *ctx, size_t chunk, int thread)
{
    (void)thread;
    const struct forces *f = ctx;
    for (size_t i = chunk * ROWS; i < f->a->n && i < (chunk + 1) * ROWS; i++) {
        lanes xi = f->x[i] - (lanes){ 0 }, yi = f->y[i] - (lanes){ 0 }, ax = { 0 }, ay = { 0 },
              rx = { 0 }, ry = { 0 }, z = { 0 };
        const float *p = f->a->dense + i * f->a->pad;
        /* The point itself is among them: its distance is 0, so it pulls and pushes nothing, and
         * adds 1 to z. */
        for (size_t j = 0; j < f->a->pad; j += LANES) {
            lanes xj, yj, pj;
            memcpy(&xj, f->x + j, sizeof xj);
            memcpy(&yj, f->y + j, sizeof yj);
            memcpy(&pj, p + j, sizeof pj);
            lanes dx = xi - xj, dy = yi - yj, w = 1 / (1 + dx * dx + dy * dy), pw = pj * w,
                  ww = w * w;
            z += w;
            ax += pw * dx; ay += pw * dy;
            rx += ww * dx; ry += ww * dy;
        }
        f->pull[2 * i] = across(&ax); f->pull[2 * i + 1] = across(&ay);
        f->push[2 * i] = across(&rx); f->push[2 * i + 1] = across(&ry);
        /* less its own w, which is 1 */
        f->z[i] = across(&z) - 1;
    }
    return 0;
}

static int tree_rows(void *ctx, size_t chunk, int thread)
{
    (void)thread;
    const struct forces *f = ctx;
    for (size_t at = chunk * ROWS; at < f->a->n && at < (chunk + 1) * ROWS; at++) {
        /* in the order of the tree: neighbours in the plane visit the same cells */
        size_t i = quadtree_point(f->tree, (uint32_t)at);
        double ax = 0, ay = 0;
        for (size_t k = f->a->row[i]; k < f->a->row[i + 1]; k++) {
            size_t j = f->a->col[k];
            double dx = f->Y[2 * i] - f->Y[2 * j], dy = f->Y[2 * i + 1] - f->Y[2 * j + 1],
                   pw = (double)f->a->p[k] / (1 + dx * dx + dy * dy);
            ax += pw * dx;
            ay += pw * dy;
        }
        f->pull[2 * i] = ax; f->pull[2 * i + 1] = ay;
        f->z[i] = quadtree_repulsion(f->tree, f->Y, (uint32_t)i, f->theta, f->push + 2 * i);
    }
    return 0;
}

/* Gradient G [n, 2] with p exaggerated; returns Z. */
static double gradient(struct forces *f, float *flat, struct quadtree *tree, double exaggeration,
                       double *G)
{
    uint32_t n = f->a->n;
    size_t chunks = (n + ROWS - 1) / ROWS;
    if (f->a->dense) {
        float *x = flat, *y = flat + f->a->pad;
        for (size_t i = 0; i < f->a->pad; i++) {
            /* its square is still a float32, w^2 is 0 */
            x[i] = i < n ? (float)f->Y[2 * i] : 1e18f;
            y[i] = i < n ? (float)f->Y[2 * i + 1] : 1e18f;
        }
        f->x = x; f->y = y;
        par_for(chunks, exact_rows, f);
    } else {
        quadtree_build(tree, f->Y);
        f->tree = tree;
        par_for(chunks, tree_rows, f);
    }
    /* never 0, not even where all points are too far from each other */
    double Z = DBL_EPSILON;
    /* in the points' order: the sum does not depend on the threads */
    for (uint32_t i = 0; i < n; i++) Z += f->z[i];
    for (size_t k = 0; G && k < 2 * (size_t)n; k++)
        G[k] = 4 * (exaggeration * f->pull[k] - f->push[k] / Z);
    return Z;
}

/* sum p log(p (1 + dd)) + log Z: p sums to 1. */
static double divergence(const struct affinities *a, const double *Y, double Z)
{
    double kl = 0, all = 0;
    for (size_t i = 0; i < a->n; i++) {
        double sum = 0;
        for (size_t k = a->dense ? 0 : a->row[i]; k < (a->dense ? a->n : a->row[i + 1]); k++) {
            size_t j = a->dense ? k : a->col[k];
            double p = (double)(a->dense ? a->dense[i * a->pad + j] : a->p[k]),
                   dx = Y[2 * i] - Y[2 * j], dy = Y[2 * i + 1] - Y[2 * j + 1];
            if (!(p > 0)) continue;
            sum += p * log(p * (1 + dx * dx + dy * dy));
            all += p;
        }
        kl += sum;
    }
    return kl + all * log(Z);
}

/* --- descent ---------------------------------------------------------------------------------- */

static void begin(const float *X, uint32_t n, int d, const struct tsne_options *o, double *Y)
{
    struct rng_key key = { o->seed, RNG_TSNE, 0 };
    double mean = 0, var = 0;
    for (size_t i = 0; i < n; i++) mean += X[i * (size_t)d] / n;
    for (size_t i = 0; i < n; i++) var += (X[i * (size_t)d] - mean) * (X[i * (size_t)d] - mean) / n;
    /* scikit-learn's "pca": the first two components, the first with a deviation of 1e-4. Small, so
     * that at first all points move freely through each other. */
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < 2; k++)
            Y[2 * i + (size_t)k] = o->random || d < 2 || !(var > 0)
                                       ? 1e-4 * (double)rng_normal(key, i, (uint32_t)k)
                                       : 1e-4 * X[i * (size_t)d + (size_t)k] / sqrt(var);
}

static int check(uint32_t n, double perplexity)
{
    return n > 3 && perplexity < n - 1 ? 0
                                       : err_set("%u points are too few for a perplexity of %g; "
                                                 "give --perplexity less than %u, or more words",
                                                 n, perplexity, n > 1 ? n - 1 : 1);
}

int tsne(const float *X, uint32_t n, int d, const struct tsne_options *o, double *Y, double *kl)
{
    struct affinities a;
    if (check(n, o->perplexity) < 0) return -1;
    if (o->theta > 0) affinities_sparse(&a, X, n, d, o->perplexity);
    else affinities_dense(&a, X, n, d, o->perplexity);
    size_t nn = 2 * (size_t)n;
    double *G = mem_alloc(nn * sizeof *G), *step = mem_zero(nn, sizeof *step),
           *gain = mem_alloc(nn * sizeof *gain);
    /* scikit-learn's "auto" learning rate */
    double rate = o->rate > 0 ? o->rate : fmax(n / o->exaggeration / 4, 50);
    float *flat = mem_alloc(2 * (size_t)a.pad * sizeof *flat);
    struct quadtree *tree = a.dense ? NULL : quadtree_new(n);
    struct forces f = { .a = &a,
                        .Y = Y,
                        .theta = o->theta,
                        .pull = mem_alloc(nn * sizeof(double)),
                        .push = mem_alloc(nn * sizeof(double)),
                        .z = mem_alloc(n * sizeof(double)) };
    for (size_t k = 0; k < nn; k++) gain[k] = 1;
    begin(X, n, d, o, Y);
    for (int i = 0; i < o->iterations; i++) {
        /* both as in van der Maaten's code and in scikit-learn */
        double momentum = i < o->early ? 0.5 : 0.8;
        gradient(&f, flat, tree, i < o->early ? o->exaggeration : 1, G);
        /* scikit-learn begins its second phase at rest */
        if (i == o->early) {
            memset(step, 0, nn * sizeof *step);
            for (size_t k = 0; k < nn; k++) gain[k] = 1;
        }
        for (size_t k = 0; k < nn; k++) {
            /* gains as in van der Maaten's code: larger while a coordinate keeps its direction */
            gain[k] = step[k] * G[k] < 0 ? gain[k] + 0.2 : fmax(gain[k] * 0.8, 0.01);
            step[k] = momentum * step[k] - rate * gain[k] * G[k];
            Y[k] += step[k];
        }
        if (o->progress) o->progress(o->ctx, i + 1);
    }
    /* at the last places, and of p itself: what the divergence is of */
    double Z = gradient(&f, flat, tree, 1, NULL), mean[2] = { 0 };
    *kl = divergence(&a, Y, Z);
    for (size_t k = 0; k < nn; k++) mean[k & 1] += Y[k] / n;
    for (size_t k = 0; k < nn; k++) Y[k] -= mean[k & 1];
    free(G); free(step); free(gain); free(flat); free(f.pull); free(f.push); free(f.z);
    quadtree_free(tree);
    affinities_free(&a);
    return 0;
}

int tsne_divergence(const float *X, uint32_t n, int d, double perplexity, const double *Y,
                    double *kl)
{
    struct affinities a;
    double Z = 0;
    if (check(n, perplexity) < 0) return -1;
    affinities_dense(&a, X, n, d, perplexity);
    for (size_t i = 0; i < n; i++) {
        double z = 0;
        for (size_t j = 0; j < n; j++)
            /* in double and without a tree: it judges both methods by one measure */
            if (j != i)
                z += 1
                     / (1 + (Y[2 * i] - Y[2 * j]) * (Y[2 * i] - Y[2 * j])
                        + (Y[2 * i + 1] - Y[2 * j + 1]) * (Y[2 * i + 1] - Y[2 * j + 1]));
        Z += z;
    }
    *kl = divergence(&a, Y, Z);
    affinities_free(&a);
    return 0;
}
