#include "lib/bilingual/map.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/rng.h"
#include "common/thread.h"
#include "kernels/linalg/gemm.h"
#include "lib/vectors/csls.h"
#include "lib/vectors/linalg.h"
#include "lib/vectors/topk.h"

const struct map_options map_defaults = {
    /* VecMap's defaults, but for cutoff and patience (20,000 words and 50 rounds there) */
    .cutoff = 2000, .K = 10, .keep0 = 0.1, .grow = 2, .threshold = 1e-6, .patience = 15, .most = 500
};

void word_pairs_add(struct word_pairs *p, uint32_t src, uint32_t tgt)
{
    mem_room(&p->src, &p->src_cap, p->n + 1, sizeof *p->src);
    mem_room(&p->tgt, &p->tgt_cap, p->n + 1, sizeof *p->tgt);
    p->src[p->n] = src;
    p->tgt[p->n++] = tgt;
}

void word_pairs_free(struct word_pairs *p)
{
    free(p->src);
    free(p->tgt);
    memset(p, 0, sizeof *p);
}

/* sum over the pairs of a's row (outer) b's row, [d, d], in double: its singular vectors are the
 * map. */
static void cross(const float *A, const uint32_t *a, const float *B, const uint32_t *b, size_t n,
                  int d, double *C)
{
    enum { AT_ONCE = 512 };
    size_t k = (size_t)d;
    double *x = mem_alloc(AT_ONCE * k * sizeof *x), *y = mem_alloc(AT_ONCE * k * sizeof *y),
           *part = mem_alloc(k * k * sizeof *part);
    memset(C, 0, k * k * sizeof *C);
    /* A few hundred rows at a time: the pairs' rows lie anywhere in A and B, and copies of all of
     * them in double would take more memory than the vectors do. */
    for (size_t from = 0; from < n; from += AT_ONCE) {
        size_t rows = n - from < AT_ONCE ? n - from : AT_ONCE;
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < k; j++) {
                x[i * k + j] = A[a[from + i] * k + j];
                y[i * k + j] = B[b[from + i] * k + j];
            }
        linalg_gemm(1, 0, d, d, (int)rows, x, y, part);
        for (size_t i = 0; i < k * k; i++) C[i] += part[i];
    }
    free(x);
    free(y);
    free(part);
}

static void apply(float *X, uint32_t n, int d, const double *W)
{
    size_t k = (size_t)d;
    float *w = mem_alloc(k * k * sizeof *w), *to = mem_alloc(n * k * sizeof *to);
    for (size_t i = 0; i < k * k; i++) w[i] = (float)W[i];
    /* float32, as the vectors are: only what a map is computed from is in double */
    gemm(false, false, (int)n, d, d, 1, X, d, w, d, 0, to, d, NULL, NULL);
    memcpy(X, to, n * k * sizeof *X);
    free(w);
    free(to);
}

static int few(const struct word_pairs *p)
{
    return p->n ? 0
                : err_set("no pair of words to learn a map from; give a larger --seed-dict, or "
                          "lower --min-length");
}

/* W = U V^T of X^T Z = U S V^T: the orthogonal map with the least sum of squares (Schonemann
 * 1966). */
static int orthogonal(const float *X, const float *Z, int d, const struct word_pairs *p, double *W)
{
    if (few(p) < 0) return -1;
    size_t k = (size_t)d;
    double *C = mem_alloc(k * k * sizeof *C), *U = mem_alloc(k * k * sizeof *U),
           *VT = mem_alloc(k * k * sizeof *VT), *s = mem_alloc(k * sizeof *s);
    cross(X, p->src, Z, p->tgt, p->n, d, C);
    int r = linalg_svd(C, d, d, U, s, VT);
    if (r == 0) linalg_gemm(0, 0, d, d, d, U, VT, W);
    free(C);
    free(U);
    free(VT);
    free(s);
    return r;
}

int map_procrustes(float *X, uint32_t n, const float *Z, int d, const struct word_pairs *p)
{
    double *W = mem_alloc((size_t)d * (size_t)d * sizeof *W);
    int r = orthogonal(X, Z, d, p, W);
    if (r == 0) apply(X, n, d, W);
    free(W);
    return r;
}

/* G^(-1/2) and G^(1/2) of the Gram matrix G = A^T A over the given rows. Directions without
 * variance are left as they are, where a division would amplify rounding. */
static int whitening(const float *A, const uint32_t *rows, size_t n, int d, double *white,
                     double *dewhite)
{
    size_t k = (size_t)d;
    double *G = mem_alloc(k * k * sizeof *G), *VT = mem_alloc(k * k * sizeof *VT),
           *s = mem_alloc(k * sizeof *s), *part = mem_alloc(k * k * sizeof *part);
    cross(A, rows, A, rows, n, d, G);
    int r = linalg_svd(G, d, d, NULL, s, VT);
    /* G^(-1/2) and G^(1/2) = V s^(-+1/2) V^T */
    for (int way = 0; r == 0 && way < 2; way++) {
        for (size_t i = 0; i < k; i++) {
            double root = s[i] > 1e-10 * s[0] ? sqrt(s[i]) : 1;
            for (size_t j = 0; j < k; j++)
                part[i * k + j] = VT[i * k + j] * (way ? root : 1 / root);
        }
        linalg_gemm(1, 0, d, d, d, VT, part, way ? dewhite : white);
    }
    free(G);
    free(VT);
    free(s);
    free(part);
    return r;
}

static void unit_rows(float *X, uint32_t n, int d)
{
    for (uint32_t i = 0; i < n; i++) {
        float *x = X + (size_t)i * (size_t)d;
        double s = 0;
        for (int j = 0; j < d; j++) s += (double)x[j] * x[j];
        for (int j = 0; j < d && s > 0; j++) x[j] = (float)(x[j] / sqrt(s));
    }
}

/* A <- A w B diag(s^reweight) B^T u B, its rows made unit length; B^T is what `B` holds when turned
 * is 1. left, right [d, d]: room to work in. */
static void advance(float *A, uint32_t n, int d, const double *w, const double *u, const double *B,
                    int turned, const double *s, double reweight, double *left, double *right)
{
    size_t k = (size_t)d;
    linalg_gemm(0, turned, d, d, d, w, B, left);
    /* both sides get the same powers: X Z^T is re-weighted twice, as VecMap's --src_reweight and
     * --trg_reweight do */
    for (size_t i = 0; i < k * k; i++) left[i] *= pow(s[i % k], reweight);
    linalg_gemm(0, !turned, d, d, d, left, B, right);
    linalg_gemm(0, 0, d, d, d, right, u, left);
    /* de-whitening in the rotated space: B^T u B, with u the square root */
    linalg_gemm(0, turned, d, d, d, left, B, right);
    apply(A, n, d, right);
    unit_rows(A, n, d);
}

int map_advanced(float *X, uint32_t n, float *Z, uint32_t m, int d, const struct word_pairs *p,
                 double reweight)
{
    if (few(p) < 0) return -1;
    size_t k = (size_t)d;
    /* ten d x d matrices of double: small beside the vectors */
    double *M[10];
    for (int i = 0; i < 10; i++) M[i] = mem_alloc(k * k * sizeof *M[i]);
    double *wx = M[0], *ux = M[1], *wz = M[2], *uz = M[3], *C = M[4], *U = M[5], *VT = M[6],
           *a = M[7], *b = M[8], *s = M[9];
    int r = whitening(X, p->src, p->n, d, wx, ux) < 0 || whitening(Z, p->tgt, p->n, d, wz, uz) < 0
                ? -1
                : 0;
    if (r == 0) {
        cross(X, p->src, Z, p->tgt, p->n, d, C);
        /* cross-covariance of the whitened sides; wx is symmetric */
        linalg_gemm(0, 0, d, d, d, wx, C, a);
        linalg_gemm(0, 0, d, d, d, a, wz, C);
        r = linalg_svd(C, d, d, U, s, VT);
    }
    if (r == 0) {
        /* Whitened, rotated, re-weighted by the singular values, and de-whitened in the rotated
         * space: VecMap's steps, each side by itself. */
        advance(X, n, d, wx, ux, U, 0, s, reweight, a, b);
        advance(Z, m, d, wz, uz, VT, 1, s, reweight, a, b);
    }
    for (int i = 0; i < 10; i++) free(M[i]);
    return r;
}

/* --- self-learning ---------------------------------------------------------------------------- */

/* VecMap (Artetxe et al. 2018) draws a bit for every similarity and takes the best that is kept.
 * The best kept one of a row is its r-th best with r geometric, P(r) = keep (1 - keep)^(r - 1): one
 * draw per row. r stops at RANKS, which has probability 3e-5 at 0.1. */
enum { RANKS = 100 };

struct pick {
    const float *S;                  /* [n, m] */
    const float *minus;              /* subtracted from each candidate: half of its CSLS mean */
    uint32_t n, m;
    int by_rows;
    double keep;
    struct rng_key key;
    uint32_t *best;                  /* of each row (or column) */
    float *top;                      /* its largest similarity */
    float **line;                    /* [threads] room for a row */
};
enum { PICK = 2 * TOPK_LANES };

static int pick_lines(void *ctx, size_t chunk, int thread)
{
    const struct pick *p = ctx;
    uint32_t lines = p->by_rows ? p->n : p->m, across = p->by_rows ? p->m : p->n;
    uint32_t first = (uint32_t)chunk * PICK, count = lines - first < PICK ? lines - first : PICK;
    float score[PICK][RANKS], limit[PICK], top[PICK], line[PICK], end[PICK] = { 0 };
    uint32_t index[PICK][RANKS];
    struct topk t[PICK];
    for (uint32_t i = 0; i < PICK; i++) {
        /* never 0 or 1: both logarithms are finite */
        double u = ((double)rng_u32(p->key, first + i, (uint32_t)p->by_rows) + 0.5) * 0x1p-32;
        int rank = p->keep >= 1 ? 1 : 1 + (int)fmin(RANKS - 1, floor(log(u) / log(1 - p->keep)));
        if ((uint32_t)rank > across) rank = (int)across;
        t[i] = (struct topk){ rank, 0, score[i], index[i] };
        /* lanes beyond the last line take nothing */
        /* topk_column compares whole lanes */
        limit[i] = i < count ? -INFINITY : INFINITY;
        top[i] = -INFINITY;
    }
    if (p->by_rows) {
        float *all = p->line[thread];
        for (uint32_t i = 0; i < count; i++) {
            const float *s = p->S + (size_t)(first + i) * p->m;
            /* the objective is of the similarities themselves: CSLS only chooses */
            top[i] = topk_max(s, across);
            topk_minus(all, s, p->minus, across);
            topk_row(&t[i], all, across, 0);
        }
    } else
        for (uint32_t j = 0; j < across; j++) {
            const float *s = p->S + (size_t)j * p->m + first;
            if (count < PICK) s = memcpy(end, s, count * sizeof *end);
            /* most columns raise no maximum: one comparison for all lanes */
            for (uint32_t i = 0; i < PICK; i += TOPK_LANES)
                if (topk_any_of(s + i, top + i))
                    for (uint32_t k = i; k < i + TOPK_LANES; k++)
                        top[k] = s[k] > top[k] ? s[k] : top[k];
            float minus[PICK];
            for (uint32_t i = 0; i < PICK; i++) minus[i] = p->minus[j];
            topk_minus(line, s, minus, PICK);
            topk_column(t, limit, line, PICK, j);
        }
    for (uint32_t i = 0; i < count; i++) {
        p->best[first + i] = index[i][0];      /* the worst of the best `rank` */
        p->top[first + i] = top[i];
    }
    return 0;
}

static double pick(struct pick *p)
{
    uint32_t lines = p->by_rows ? p->n : p->m;
    /* each line is drawn by its own number, so threads change nothing */
    par_for(((size_t)lines + PICK - 1) / PICK, pick_lines, p);
    double sum = 0;
    for (uint32_t i = 0; i < lines; i++) sum += p->top[i];
    return sum / lines;
}

int map_self_learn(const float *X, uint32_t n, const float *Z, uint32_t m, int d,
                   const struct map_options *o, struct word_pairs *p, double *objective)
{
    /* rows come by frequency: the first are the most frequent */
    if (o->cutoff && n > o->cutoff) n = o->cutoff;
    if (o->cutoff && m > o->cutoff) m = o->cutoff;
    size_t k = (size_t)d, room = (size_t)n + m;
    double *W = mem_alloc(k * k * sizeof *W), keep = o->keep0, best = -INFINITY;
    float *mapped = mem_alloc(n * k * sizeof *mapped), *w = mem_alloc(k * k * sizeof *w),
          *S = mem_alloc((size_t)n * m * sizeof *S);
    float *row = mem_alloc(room * sizeof *row), *col = row + n,
          *top = mem_alloc(room * sizeof *top);
    uint32_t *pick_of = mem_alloc(room * sizeof *pick_of);
    float **line = mem_alloc((size_t)par_threads() * sizeof *line);
    for (int i = 0; i < par_threads(); i++) line[i] = mem_alloc((size_t)m * sizeof **line);
    int r = 0, last = 0;
    *objective = -INFINITY;
    for (int round = 1; ; round++) {
        if ((r = orthogonal(X, Z, d, p, W)) < 0) break;
        for (size_t i = 0; i < k * k; i++) w[i] = (float)W[i];
        gemm(false, false, (int)n, d, d, 1, X, d, w, d, 0, mapped, d, NULL, NULL);
        gemm(false, true, (int)n, (int)m, d, 1, mapped, d, Z, d, 0, S, (int)m, NULL, NULL);
        /* before CSLS's means: a hub of spelling is a hub, too */
        for (size_t i = 0; o->extra && i < (size_t)n * m; i++) S[i] += o->extra[i];
        csls_means(S, n, m, o->K, row, col);
        /* 2 cos - r(x) - r(y) orders as cos - r(y) / 2 does for one x */
        for (size_t i = 0; i < room; i++) row[i] /= 2;
        struct pick f = { S,       col, n,   m, 1, keep, { o->seed, RNG_MAP, (uint32_t)round },
                          pick_of, top, line };
        struct pick g = {
            S, row, n, m, 0, keep, { o->seed, RNG_MAP, (uint32_t)round }, pick_of + n, top + n, line
        };
        double now = (pick(&f) + pick(&g)) / 2;
        p->n = 0;
        for (uint32_t i = 0; i < n; i++) word_pairs_add(p, i, pick_of[i]);
        /* both ways, as VecMap does: pairs found twice weigh twice */
        for (uint32_t j = 0; j < m; j++) word_pairs_add(p, pick_of[n + j], j);
        if (o->progress) o->progress(o->ctx, round, keep, now);
        /* an objective with noise in it does not compare with one without */
        if (keep >= 1 && now > *objective) *objective = now;
        /* VecMap compares with the best so far and not with the last round */
        if (now >= best + o->threshold) {
            best = now;
            last = round;
        }
        if (round >= o->most) {
            /* cut off by `most`: a noisy objective is better than none */
            if (keep < 1) *objective = now;
            break;
        }
        if (round - last > o->patience) {
            if (keep >= 1) break;
            /* less noise each time that the objective stops rising, as VecMap does */
            keep = fmin(1, keep * o->grow);
            last = round;
        }
    }
    for (int i = 0; i < par_threads(); i++) free(line[i]);
    free(line);
    free(W);
    free(w);
    free(mapped);
    free(S);
    free(row);
    free(top);
    free(pick_of);
    return r;
}

/* --- refinement by mutual neighbours ---------------------------------------------------------- */

int map_refine(float *X, uint32_t n, const float *Z, uint32_t m, int d, struct word_pairs *p,
               int rounds, uint32_t cutoff, int K)
{
    uint32_t a = cutoff && n > cutoff ? cutoff : n, b = cutoff && m > cutoff ? cutoff : m;
    for (int round = 0; round < rounds; round++) {
        if (map_procrustes(X, n, Z, d, p) < 0) return -1;
        struct csls_side x, z;
        /* csls_search takes products of rows for cosines */
        unit_rows(X, n, d);
        if (csls_search(X, a, Z, b, d, CSLS_CSLS, 1, K, &x, &z, NULL) < 0) return -1;
        p->n = 0;
        /* mutual neighbours only: what one side alone believes is mostly a hub */
        for (uint32_t i = 0; i < a; i++)
            if (z.index[x.index[i]] == i) word_pairs_add(p, i, x.index[i]);
        csls_free(&x);
        csls_free(&z);
    }
    /* the last pairs have not been used yet */
    return map_procrustes(X, n, Z, d, p);
}

int map_mean_cosine(const float *X, uint32_t n, const float *Z, uint32_t m, int d, uint32_t cutoff,
                    int K, double *mean)
{
    uint32_t a = cutoff && n > cutoff ? cutoff : n, b = cutoff && m > cutoff ? cutoff : m;
    struct csls_side x;
    if (csls_search(X, a, Z, b, d, CSLS_CSLS, 1, K, &x, NULL, NULL) < 0) return -1;
    double sum = 0;
    for (uint32_t i = 0; i < a; i++) {
        const float *p = X + (size_t)i * (size_t)d, *q = Z + (size_t)x.index[i] * (size_t)d;
        double pq = 0, pp = 0, qq = 0;
        for (int j = 0; j < d; j++) {
            pq += (double)p[j] * q[j];
            pp += (double)p[j] * p[j];
            qq += (double)q[j] * q[j];
        }
        sum += pp > 0 && qq > 0 ? pq / sqrt(pp * qq) : 0;
    }
    *mean = sum / a;
    csls_free(&x);
    return 0;
}
