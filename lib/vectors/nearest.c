#include "lib/vectors/nearest.h"
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"
#include "common/thread.h"
#include "kernels/int8/dot8.h"
#include "kernels/linalg/gemm.h"
#include "kernels/linalg/simd.h"
#include "lib/vectors/topk.h"

/* A task has a block of rows of X and goes through Z from end to end. The rows' heaps are the
 * task's own; the columns' are the thread's, over all of Z, and are merged in the end. A thread
 * meets its blocks in ascending order, so that of two equal candidates the one with the lower index
 * comes first, and a candidate whose bound is not above the worst that is kept cannot enter; the
 * merge orders equals too. Which thread had which block does not show.
 *
 * Products only bound scores; what may enter is scored anew, in double and in a fixed order. So
 * int8, float32 and every instruction set give the same bytes. Some 300 pairs per row of random
 * vectors are scored in both passes, almost whatever their number, at 50 to 100 ns each. */
/* The most rows of X in a block, in whole tiles of most of dot8's kernels (672 = 21 * 32 = 48 * 14
 * = 112 * 6; the others have fewer: struct nearest), and of Z: tiles have 8, 16 or 32 columns. */
enum { BLOCK_X = 672, BLOCK_Z = 1024 };

/* In float32 the sums below err by less than 12 roundings, 12 / 2^24 of the terms' largest sum of
 * magnitudes; 2^-18 is 64. */
static const float ROUNDINGS = 0x1p-18f;

struct nearest {
    const float *X, *Z;
    uint32_t n, m;
    int d;
    uint32_t block;               /* rows of X in a task: BLOCK_X, in whole tiles of int8 */
    const struct simd *simd;
    double float_error;           /* of a float32 product: at most, with ROUNDINGS */
    const struct dot8 *int8;      /* NULL: float32 only */
    bool always;                  /* int8 whether it pays or not */
    double int8_error;            /* ROUNDINGS of its sums */
    struct dot8_side x, z;
    /* x.z = x.mu + nu.(z - mu) + (x - nu).(z - mu), nu and mu the means of X and Z: where all
     * vectors share a direction, the last is small and so is its error. */
    float *row_shift, *column_shift;          /* [x.padded], [z.padded]: the first two terms */
    /* [x.padded], [z.padded]: the factors of dot8.h's bound */
    float *error, *weight;
};

static double length(const float *v, size_t d)
{
    double s = 0;
    for (size_t k = 0; k < d; k++) s += (double)v[k] * v[k];
    return sqrt(s);
}

struct shift { const float *v, *by; float *to; size_t n, d; double less; };

enum { LINES = 512 };
static int shift_lines(void *ctx, size_t chunk, int thread)
{
    (void)thread;
    const struct shift *s = ctx;
    for (size_t i = chunk * LINES; i < s->n && i < (chunk + 1) * LINES; i++)
        s->to[i] = (float)(simd_choose()->dot_double(s->v + i * s->d, s->by, s->d) - s->less);
    return 0;
}

static float *shifts(const float *v, uint32_t n, int d, const float *by, double less,
                     uint32_t padded)
{
    struct shift s = { v, by, mem_zero(padded, sizeof *s.to), n, (size_t)d, less };
    par_for(((size_t)n + LINES - 1) / LINES, shift_lines, &s);
    return s.to;
}

static float *centre(const float *v, uint32_t n, int d)
{
    /* in double: 2 million rows added in float32 would lose the mean's last digits */
    double *sum = mem_zero((size_t)d, sizeof *sum);
    float *mean = mem_zero((size_t)d, sizeof *mean);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < (size_t)d; k++) sum[k] += v[i * (size_t)d + k];
    for (int k = 0; k < d; k++) mean[k] = (float)(sum[k] / n);
    free(sum);
    return mean;
}

static float largest(const float *v, uint32_t n)
{
    float most = 0;
    for (uint32_t i = 0; i < n; i++) most = v[i] > most ? v[i] : most;
    return most;
}

static double longest(const float *v, uint32_t n, int d)
{
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, length(v + i * (size_t)d, (size_t)d));
    return most;
}

static void quantise(struct nearest *s, double product)
{
    float *nu = centre(s->X, s->n, s->d), *mu = centre(s->Z, s->m, s->d);
    dot8_side_init(&s->x, s->X, s->n, s->d, nu, s->int8, 0);
    dot8_side_init(&s->z, s->Z, s->m, s->d, mu, s->int8, 1);
    s->row_shift = shifts(s->X, s->n, s->d, mu, 0, s->x.padded);
    s->column_shift = shifts(s->Z, s->m, s->d, nu, simd_choose()->dot_double(nu, mu, (size_t)s->d),
                             s->z.padded);
    /* dot8.h's ratio R, limited so that a few vectors that lose nothing do not make it large for
     * all. */
    enum { MOST = 200 };
    float ratio = 0;
    s->error = mem_zero(s->x.padded, sizeof *s->error);
    s->weight = mem_zero(s->z.padded, sizeof *s->weight);
    /* A row that loses nothing in 8 bits would make the ratio infinite, and with it the bounds of
     * all others: its error counts as 1/200 of what it keeps. */
    for (uint32_t i = 0; i < s->n; i++) {
        s->error[i] = fmaxf(s->x.error[i], s->x.kept[i] / MOST);
        if (s->error[i] > 0) ratio = fmaxf(ratio, s->x.kept[i] / s->error[i]);
    }
    for (uint32_t j = 0; j < s->m; j++) s->weight[j] = s->z.norm[j] + ratio * s->z.error[j];
    double shifted = length(nu, (size_t)s->d) + longest(s->X, s->n, s->d);
    s->int8_error = ROUNDINGS
                    * (product + shifted * (length(mu, (size_t)s->d) + largest(s->z.norm, s->m)));
    free(nu);
    free(mu);
}

/* Quantising a vector costs what the faster product gains on some 900 pairs. MOST_DIM: sums of int8
 * products stay below 2^31. */
enum { LEAST = 1024, LEAST_DIM = 32, MOST_DIM = 32768 };

struct nearest *nearest_new(const float *X, uint32_t n, const float *Z, uint32_t m, int d)
{
    struct nearest *s = mem_zero(1, sizeof *s);
    *s = (struct nearest){ .X = X, .Z = Z, .n = n, .m = m, .d = d, .simd = simd_choose() };
    const char *way = getenv("ISOGLOT_CSLS");
    bool pays = n >= LEAST && m >= LEAST && d >= LEAST_DIM;
    if (way && *way) pays = s->always = strcmp(way, "int8") == 0;
    s->block = BLOCK_X;
    if (pays && d <= MOST_DIM) {
        s->int8 = dot8_all()[0];
        /* a block begins with a panel of x.q: a tile across two would be read from within one */
        if (s->int8) s->block -= BLOCK_X % (uint32_t)s->int8->rows;
    }
    double product = longest(X, n, d) * longest(Z, m, d), u = d * 0x1p-24;
    /* Higham's gamma, whatever the order of the sum */
    s->float_error = product * (ROUNDINGS + (u < 0.5 ? u / (1 - u) : INFINITY));
    if (s->int8) quantise(s, product);
    return s;
}

void nearest_free(struct nearest *s)
{
    dot8_side_free(&s->x);
    dot8_side_free(&s->z);
    free(s->row_shift);
    free(s->column_shift);
    free(s->error);
    free(s->weight);
    free(s);
}

/* --- one search ------------------------------------------------------------------------------- */

/* A thread's memory. Limits: what a score must exceed to enter; INFINITY where nothing may. */
struct worker {
    struct csls_side side;                    /* of the columns' heaps */
    struct topk *column;                      /* [m] */
    float *column_limit;                      /* [m, padded] */
    float *tile;                              /* [BLOCK_X, BLOCK_Z] */
    uint32_t x0, x1;                          /* the block */
    struct topk row[BLOCK_X];
    float row_limit[BLOCK_X], scale[BLOCK_X], error[BLOCK_X], term[BLOCK_X];
    struct csls_work work;
};

struct search {
    const struct nearest *of;
    enum csls_method how;
    const float *mean_x, *mean_z, *floor_x, *floor_z;
    struct csls_side *x;                      /* NULL: not wanted */
    int k_z;                                  /* 0: not wanted */
    bool int8;
    float *column_term;                       /* [m, padded]: of the upper bound by int8 */
    struct worker **worker;                   /* [threads] */
};

static uint32_t padded(uint32_t m) { return (m + BLOCK_Z - 1) / BLOCK_Z * BLOCK_Z; }

static struct topk heap_of(const struct csls_side *s, uint32_t i)
{
    size_t at = (size_t)i * (size_t)s->k;
    return (struct topk){ s->k, 0, s->score + at, s->index + at };
}

static float limit_of(const struct topk *t, const float *floor, uint32_t i)
{
    float least = floor ? floor[i] : -INFINITY;
    /* a heap that is not full takes anything above the floor */
    return t->n == t->k && t->score[0] > least ? t->score[0] : least;
}

static struct worker *worker_new(const struct search *s)
{
    struct worker *w = mem_zero(1, sizeof *w);
    uint32_t m = s->of->m, all = padded(m);
    w->column_limit = mem_alloc((size_t)all * sizeof *w->column_limit);
    /* beyond m, and where no columns' heaps are wanted: nothing may enter */
    for (uint32_t j = 0; j < all; j++) w->column_limit[j] = INFINITY;
    if (!s->k_z) return w;
    csls_side_init(&w->side, m, s->k_z);
    w->column = mem_alloc((size_t)m * sizeof *w->column);
    for (uint32_t j = 0; j < m; j++) {
        w->column[j] = heap_of(&w->side, j);
        w->column_limit[j] = limit_of(&w->column[j], s->floor_z, j);
    }
    return w;
}

static void worker_free(struct worker *w)
{
    if (!w) return;
    csls_free(&w->side);
    free(w->column);
    free(w->column_limit);
    free(w->tile);
    free(w);
}

static void score_pair(const struct search *s, struct worker *w, uint32_t i, uint32_t j)
{
    const struct nearest *of = s->of;
    size_t d = (size_t)of->d;
    float c = (float)of->simd->dot_double(of->X + i * d, of->Z + j * d, d);
    float score = s->how == CSLS_NN ? c : nearest_score(s->how, c, s->mean_x[i], s->mean_z[j]);
    w->work.scored++;
    if (s->x) {
        topk_put(&w->row[i - w->x0], score, j);
        w->row_limit[i - w->x0] = limit_of(&w->row[i - w->x0], s->floor_x, i);
    }
    if (s->k_z) {
        topk_put(&w->column[j], score, i);
        w->column_limit[j] = limit_of(&w->column[j], s->floor_z, j);
    }
}

/* u = NaN: not known. */
static inline bool may_enter(const struct worker *w, uint32_t i, uint32_t j, float u)
{
    /* negated, so that NaN is scored and not passed over */
    return !(u <= w->row_limit[i - w->x0] && u <= w->column_limit[j]);
}

/* A tile of int8's kernel: rows from x, columns from z. */
static void search_tile(const struct search *s, struct worker *w, uint32_t x, uint32_t z)
{
    const struct nearest *of = s->of;
    const struct dot8 *how = of->int8;
    uint32_t rows = (uint32_t)how->rows, columns = (uint32_t)how->columns, hit[DOT8_ROWS],
             at = x - w->x0;
    size_t row_bytes = (size_t)of->x.steps * 4, column_bytes = (size_t)of->z.steps * 4;
    float upper[DOT8_ROWS * DOT8_COLUMNS];
    struct dot8_columns c = { of->z.q + z * column_bytes, of->z.scale + z, of->weight + z,
                              s->column_term + z, w->column_limit + z };
    struct dot8_rows r = { of->x.q + x * row_bytes, of->x.start + x, w->scale + at,
                           w->error + at,           w->term + at,    w->row_limit + at };
    /* most tiles end here: no bound is above any limit */
    if (!how->above(of->x.steps, &r, &c, upper, hit)) return;
    for (uint32_t i = 0; i < rows && x + i < w->x1; i++)
        for (uint32_t bits = hit[i]; bits; bits &= bits - 1) {
            uint32_t j = (uint32_t)__builtin_ctz(bits);
            if (z + j < of->m && may_enter(w, x + i, z + j, upper[i * columns + j]))
                score_pair(s, w, x + i, z + j);
        }
}

/* The block's rows with the columns [z0, z1), by int8: a panel of rows comes from the second-level
 * cache once for two of columns, which stay in the first. (At 300 dimensions that makes no
 * difference.) */
static void search_int8(const struct search *s, struct worker *w, uint32_t z0, uint32_t z1)
{
    const struct dot8 *how = s->of->int8;
    uint32_t rows = (uint32_t)how->rows, columns = (uint32_t)how->columns;
    /* AMX's tiles are configured once per block: for every tile of 32 x 32 pairs it cost a
     * tenth. */
    if (how->begin) how->begin();
    for (uint32_t z = z0; z < z1; z += 2 * columns)
        for (uint32_t x = w->x0; x < w->x1; x += rows) {
            search_tile(s, w, x, z);
            if (z + columns < z1) search_tile(s, w, x, z + columns);
        }
    if (how->end) how->end();
    w->work.int8 += (uint64_t)(w->x1 - w->x0) * (z1 - z0);
}

/* Upper bounds from inner products, in place. */
static void bound_row(const struct search *s, uint32_t i, uint32_t z0, uint32_t z1, float *u)
{
    /* a bound is rounded up, never down */
    float error = (float)(s->of->float_error * (1 + 1e-6));
    uint32_t n = z1 - z0;
    if (s->how == CSLS_NN)
        for (uint32_t j = 0; j < n; j++) u[j] += error;
    else if (s->how == CSLS_CSLS) {
        float term = 2 * error - s->mean_x[i];
        for (uint32_t j = 0; j < n; j++) u[j] = 2 * u[j] + term - s->mean_z[z0 + j];
    } else
        for (uint32_t j = 0; j < n; j++) {
            /* of the division, too; a quotient that is infinite or NaN bounds nothing */
            float by = (s->mean_x[i] + s->mean_z[z0 + j]) / 2, v = u[j] / by;
            v += fabsf(error / by) + fabsf(v) * ROUNDINGS;
            u[j] = isnan(v) ? INFINITY : v < -FLT_MAX ? -FLT_MAX : v;
        }
}

/* The same by float32. */
static void search_float(const struct search *s, struct worker *w, uint32_t z0, uint32_t z1)
{
    const struct nearest *of = s->of;
    size_t d = (size_t)of->d;
    if (!w->tile) w->tile = mem_zero((size_t)BLOCK_X * BLOCK_Z, sizeof *w->tile);
    /* on this thread, which is one of the pool's */
    gemm_here(false, true, (int)(w->x1 - w->x0), (int)(z1 - z0), of->d, 1, of->X + w->x0 * d, of->d,
              of->Z + z0 * d, of->d, 0, w->tile, BLOCK_Z);
    for (uint32_t i = w->x0; i < w->x1; i++) {
        float *u = w->tile + (size_t)(i - w->x0) * BLOCK_Z;
        bound_row(s, i, z0, z1, u);
        /* Lanes at once against both limits: after the first blocks hardly any may enter. */
        for (uint32_t z = z0; z < z1; z += TOPK_LANES) {
            /* May look past z1, at numbers of an earlier block: the loop below ends at z1. */
            if (!topk_any(u + (z - z0), w->row_limit[i - w->x0])
                && !topk_any_of(u + (z - z0), w->column_limit + z))
                continue;
            for (uint32_t j = z; j < z + TOPK_LANES && j < z1; j++)
                if (may_enter(w, i, j, u[j - z0])) score_pair(s, w, i, j);
        }
    }
}

static int search_block(void *ctx, size_t b, int thread)
{
    const struct search *s = ctx;
    const struct nearest *of = s->of;
    struct worker *w = s->worker[thread];
    /* heaps for all columns only where a thread has come to work */
    if (!w) w = s->worker[thread] = worker_new(s);
    w->x0 = (uint32_t)b * of->block;
    w->x1 = of->n - w->x0 < of->block ? of->n : w->x0 + of->block;
    /* CSLS has the product twice, and so its bound's terms */
    float times = s->how == CSLS_CSLS ? 2 : 1;
    for (uint32_t r = 0; r < BLOCK_X; r++) {
        uint32_t i = w->x0 + r;
        bool there = i < w->x1;
        w->row_limit[r] = INFINITY;
        w->scale[r] = w->error[r] = 0;
        /* nothing is above a limit in a row that is not there */
        w->term[r] = -INFINITY;
        if (there && s->x) {
            w->row[r] = heap_of(s->x, i);
            w->row_limit[r] = limit_of(&w->row[r], s->floor_x, i);
        }
        if (there && s->int8) {
            w->scale[r] = times * of->x.scale[i];
            w->error[r] = times * of->error[i] * (1 + 1e-6f);
            w->term[r] = (float)(times * (of->row_shift[i] + of->int8_error))
                         - (s->how == CSLS_CSLS ? s->mean_x[i] : 0);
        }
    }
    /* int8 pays while few pairs have to be scored: it gains some 3 ns a pair, and a score costs ten
     * times that. The first of a row's columns are scored anyway. Once it has not paid, the rest of
     * the block is float32's. */
    enum { GAIN = 10, FREE = 256 };
    uint64_t before = w->work.scored, rows = w->x1 - w->x0;
    bool int8 = s->int8;
    for (uint32_t z0 = 0; z0 < of->m; z0 += BLOCK_Z) {
        uint32_t z1 = of->m - z0 < BLOCK_Z ? of->m : z0 + BLOCK_Z;
        (int8 ? search_int8 : search_float)(s, w, z0, z1);
        if (int8 && !of->always && w->work.scored - before > rows * FREE + rows * z1 / GAIN)
            int8 = false;
    }
    w->work.pairs += rows * of->m;
    for (uint32_t r = 0; s->x && r < rows; r++) topk_sort(&w->row[r]);
    return 0;
}

int nearest_search(const struct nearest *of, enum csls_method how, const float *mean_x,
                   const float *mean_z, int k_x, int k_z, const float *floor_x,
                   const float *floor_z, struct csls_side *x, struct csls_side *z,
                   struct csls_work *work)
{
    size_t threads = (size_t)par_threads();
    uint32_t n = of->n, m = of->m;
    struct search s = { .of = of,
                        .how = how,
                        .mean_x = mean_x,
                        .mean_z = mean_z,
                        .floor_x = floor_x,
                        .floor_z = floor_z,
                        .x = x,
                        .k_z = z ? ((uint32_t)k_z < n ? k_z : (int)n) : 0,
                        .worker = mem_zero(threads, sizeof *s.worker) };
    /* a ratio of means has no bound of the form that dot8's kernels compute */
    s.int8 = of->int8 && how != CSLS_RATIO;
    if (s.int8) {
        s.column_term = mem_alloc((size_t)of->z.padded * sizeof *s.column_term);
        for (uint32_t j = 0; j < of->z.padded; j++)
            s.column_term[j] = j >= m             ? -INFINITY
                               : how == CSLS_CSLS ? 2 * of->column_shift[j] - mean_z[j]
                                                  : of->column_shift[j];
    }
    if (x) csls_side_init(x, n, (uint32_t)k_x < m ? k_x : (int)m);
    int r = par_for(((size_t)n + of->block - 1) / of->block, search_block, &s);
    if (z) csls_side_init(z, m, s.k_z);
    for (uint32_t j = 0; z && j < m; j++) {
        struct topk all = heap_of(z, j);
        /* Heaps of the threads into one: equal scores go by index, so the threads' order does not
         * show. */
        for (size_t t = 0; t < threads; t++)
            for (int i = 0; s.worker[t] && i < s.worker[t]->column[j].n; i++)
                topk_put(&all, s.worker[t]->column[j].score[i], s.worker[t]->column[j].index[i]);
        topk_sort(&all);
    }
    for (size_t t = 0; t < threads; t++) {
        if (work && s.worker[t]) {
            work->pairs += s.worker[t]->work.pairs;
            work->int8 += s.worker[t]->work.int8;
            work->scored += s.worker[t]->work.scored;
        }
        worker_free(s.worker[t]);
    }
    free(s.column_term);
    free(s.worker);
    return r;
}
