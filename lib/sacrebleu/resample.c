#include "lib/sacrebleu/resample.h"
#include "common/err.h"
#include "common/mem.h"
#include "common/thread.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH_BYTES = 32 << 20 };

/* Draws come from one sequence (NumPy's), so one thread makes them, a batch at a time; the trials
 * of a batch run in parallel. */
static int batch_trials(size_t bytes_a_trial, int trials)
{
    size_t b = BATCH_BYTES / (bytes_a_trial ? bytes_a_trial : 1);
    return b < 1 ? 1 : b > (size_t)trials ? trials : (int)b;
}

struct bootstrap {
    const struct metric *m;
    const float *stats;
    size_t n;
    const uint32_t *pick;
    double *scores;
};

static int bootstrap_trial(void *ctx, size_t trial, int thread)
{
    (void)thread;
    const struct bootstrap *b = ctx;
    int width = metric_stats(b->m);
    const uint32_t *pick = b->pick + trial * b->n;
    float sum[METRIC_STATS_MAX] = { 0 };
    /* BLEU's width as a constant: the loop becomes vector additions */
    if (width == 2 + 2 * BLEU_ORDER)
        for (size_t i = 0; i < b->n; i++) {
            const float *row = b->stats + (size_t)pick[i] * (2 + 2 * BLEU_ORDER);
            for (int k = 0; k < 2 + 2 * BLEU_ORDER; k++) sum[k] += row[k];
        }
    else
        for (size_t i = 0; i < b->n; i++) {
            const float *row = b->stats + (size_t)pick[i] * (size_t)width;
            for (int k = 0; k < width; k++) sum[k] += row[k];
        }
    b->scores[trial] = metric_score_f32(b->m, sum);
    return 0;
}

int resample_bootstrap(const struct metric *m, const double *stats, size_t n, uint64_t seed,
                       int trials, double *scores)
{
    if (n == 0 || n > UINT32_MAX - 1)
        return err_set("%zu segments cannot be resampled; give between 1 and 2^32 - 2", n);
    size_t values = n * (size_t)metric_stats(m);
    float *single = mem_alloc(values * sizeof *single);
    /* sacreBLEU resamples float32 arrays: its last digit needs the same rounding */
    for (size_t i = 0; i < values; i++) single[i] = (float)stats[i];
    int batch = batch_trials(n * sizeof(uint32_t), trials), status = 0;
    uint32_t *pick = mem_alloc((size_t)batch * n * sizeof *pick);
    struct pcg64 g;
    pcg64_seed(&g, seed);
    for (int t = 0; t < trials && status == 0; t += batch) {
        int now = trials - t < batch ? trials - t : batch;
        /* in batches of one sequence: the same draws as NumPy's matrix [trials, n] at once */
        pcg64_below(&g, (uint32_t)n, pick, (size_t)now * n);
        struct bootstrap b = { m, single, n, pick, scores + t };
        status = par_for((size_t)now, bootstrap_trial, &b);
    }
    free(pick); free(single);
    return status;
}

/* --- means and intervals ---------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* NumPy's pairwise summation: eight partial sums over blocks of up to 128, halves added beyond
 * that. */
#define PAIRWISE(name, real)                                                                       \
    static real name(const double *v, size_t n)                                                    \
    {                                                                                              \
        if (n < 8) {                                                                               \
            real s = 0;                                                                            \
            for (size_t i = 0; i < n; i++) s += (real)v[i];                                        \
            return s;                                                                              \
        }                                                                                          \
        if (n <= 128) {                                                                            \
            real r[8];                                                                             \
            size_t i;                                                                              \
            for (int k = 0; k < 8; k++) r[k] = (real)v[k];                                         \
            for (i = 8; i < n - n % 8; i += 8)                                                     \
                for (int k = 0; k < 8; k++) r[k] += (real)v[i + (size_t)k];                        \
            real s = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));            \
            for (; i < n; i++) s += (real)v[i];                                                    \
            return s;                                                                              \
        }                                                                                          \
        size_t half = n / 2;                                                                       \
        half -= half % 8;                                                                          \
        return name(v, half) + name(v + half, n - half);                                           \
    }
PAIRWISE(pairwise, double)
PAIRWISE(pairwise_f32, float)

static double numpy_mean(const struct metric *m, const double *v, int n)
{
    return metric_is_f32(m) ? (double)(pairwise_f32(v, (size_t)n) / (float)n)
                            : pairwise(v, (size_t)n) / n;
}

static double half_width(const struct metric *m, double *scores, int trials)
{
    /* callers are done with the order, which pairs resamples of two systems */
    qsort(scores, (size_t)trials, sizeof *scores, ascending);
    /* 2.5% on either side */
    double low = scores[trials / 40], high = scores[trials - trials / 40 - 1];
    return metric_is_f32(m) ? (double)(0.5f * ((float)high - (float)low)) : 0.5 * (high - low);
}

struct interval resample_interval(const struct metric *m, double *scores, int trials)
{
    struct interval r = { .ci = half_width(m, scores, trials) };
    /* Python's statistics.mean is exact; a compensated sum in long double rounds to the same. */
    long double sum = 0, lost = 0;
    for (int i = 0; i < trials; i++) {
        long double s = sum + scores[i];
        lost += fabsl(sum) >= fabs(scores[i]) ? (sum - s) + scores[i] : (scores[i] - s) + sum;
        sum = s;
    }
    r.mean = (double)((sum + lost) / trials);
    /* the scores were NumPy's float32, and so is what mean returns */
    if (metric_is_f32(m)) r.mean = (double)(float)r.mean;
    return r;
}

struct interval resample_interval_paired(const struct metric *m, double *scores, int trials)
{
    double ci = half_width(m, scores, trials);
    return (struct interval){ numpy_mean(m, scores, trials), ci };
}

/* --- paired tests ----------------------------------------------------------------------------- */

/* one more of each: the observed difference is one of the possible ones, and p is never 0 */
static double p_value(int above, int trials) { return (double)(above + 1) / (double)(trials + 1); }

double resample_p(const struct metric *m, const double *baseline, const double *system, int trials,
                  double difference)
{
    double *gap = mem_alloc((size_t)trials * sizeof *gap);
    bool single = metric_is_f32(m);
    for (int i = 0; i < trials; i++)
        /* in the precision in which NumPy has the scores: a comparison below may depend on it */
        gap[i] = single ? (double)fabsf((float)system[i] - (float)baseline[i])
                        : fabs(system[i] - baseline[i]);
    /* shifted to the null hypothesis: differences of resamples vary around the observed one */
    double mean = numpy_mean(m, gap, trials);
    int above = 0;
    for (int i = 0; i < trials; i++)
        above += single ? (float)gap[i] - (float)mean > (float)difference
                        : gap[i] - mean > difference;
    free(gap);
    return p_value(above, trials);
}

struct ar {
    struct metric m;
    const double *gain;                  /* [n][width] baseline - system */
    const double *base_sum, *sys_sum;
    size_t n;
    const uint8_t *keep;                 /* [trials][n] */
    double *gap; /* [trials] |score of one pseudo-system - score of the other| */
};

static int ar_trial(void *ctx, size_t trial, int thread)
{
    (void)thread;
    const struct ar *a = ctx;
    int width = metric_stats(&a->m);
    double moved[METRIC_STATS_MAX] = { 0 }, one[METRIC_STATS_MAX], two[METRIC_STATS_MAX];
    const uint8_t *keep = a->keep + trial * a->n;
    for (size_t i = 0; i < a->n; i++) {
        /* the rows that are exchanged, by their difference: half the additions */
        if (!keep[i]) continue;
        const double *row = a->gain + i * (size_t)width;
        for (int k = 0; k < width; k++) moved[k] += row[k];
    }
    for (int k = 0; k < width; k++) {
        one[k] = a->sys_sum[k] + moved[k];
        two[k] = a->base_sum[k] - moved[k];
    }
    a->gap[trial] = fabs(metric_score(&a->m, one) - metric_score(&a->m, two));
    return 0;
}

int resample_ar(const struct metric *m, const double *baseline, const double *system, size_t n,
                uint64_t seed, int trials, double difference, double *p)
{
    int width = metric_stats(m), batch = batch_trials(n, trials), status = 0;
    double base_sum[METRIC_STATS_MAX], sys_sum[METRIC_STATS_MAX];
    double *gain = mem_alloc(n * (size_t)width * sizeof *gain);
    uint8_t *keep = mem_alloc((size_t)batch * n);
    double *gap = mem_alloc((size_t)trials * sizeof *gap);
    /* exchanging a segment moves this between the sums: a trial adds half of the rows on average */
    for (size_t i = 0; i < n * (size_t)width; i++) gain[i] = baseline[i] - system[i];
    metric_sum(m, baseline, n, base_sum);
    metric_sum(m, system, n, sys_sum);
    struct ar a = { *m, gain, base_sum, sys_sum, n, keep, gap };
    /* NumPy adds k to integers here, which drops its fraction. */
    if (m->kind == METRIC_BLEU && m->bleu.score.smooth == BLEU_SMOOTH_ADD_K)
        a.m.bleu.score.smooth_value = floor(m->bleu.score.smooth_value);
    struct pcg64 g;
    struct pcg64_bits bits = { 0 };
    pcg64_seed(&g, seed);
    for (int t = 0; t < trials && status == 0; t += batch) {
        int now = trials - t < batch ? trials - t : batch;
        /* one bit after another, as NumPy draws a matrix of booleans row by row */
        for (size_t i = 0; i < (size_t)now * n; i++) keep[i] = (uint8_t)pcg64_bit(&g, &bits);
        a.gap = gap + t;
        status = par_for((size_t)now, ar_trial, &a);
    }
    int above = 0;
    for (int i = 0; i < trials; i++) above += gap[i] > difference;
    *p = p_value(above, trials);
    free(gain); free(keep); free(gap);
    return status;
}
