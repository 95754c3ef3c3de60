#include "lib/eval/judged.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/rng.h"
#include "common/thread.h"
#include "lib/eval/statistics.h"

void judged_free(struct judged *j)
{
    free(j->of);
    free(j->which);
    *j = (struct judged){ 0 };
}

static bool is_correlation(enum task_metric m) { return m == TASK_SPEARMAN || m == TASK_PEARSON; }

/* squad2: has the data questions with (true) or without an answer? */
static bool some(const struct judged *j, bool answer)
{
    for (size_t i = 0; i < j->n; i++)
        if ((j->of[i][3] > 0) == answer) return true;
    return false;
}

int judged_names(const struct judged *j, const char *names[JUDGED_VALUES])
{
    static const char *const all[][3] = {
        [TASK_ACCURACY] = { "accuracy" }, [TASK_TAG_ACCURACY] = { "accuracy" },
        [TASK_CHUNK_F1] = { "precision", "recall", "f1" }, [TASK_SQUAD] = { "exact_match", "f1" },
        [TASK_SQUAD2] = { "exact", "f1" }, [TASK_MLQA] = { "exact_match", "f1" },
        [TASK_SPEARMAN] = { "spearman" }, [TASK_PEARSON] = { "pearson" },
    };
    int n = 0;
    while (n < 3 && all[j->metric][n]) { names[n] = all[j->metric][n]; n++; }
    for (int k = n; k < JUDGED_VALUES; k++) names[k] = NULL;
    if (j->metric != TASK_SQUAD2) return n;
    if (some(j, true)) { names[2] = "HasAns_exact"; names[3] = "HasAns_f1"; }
    if (some(j, false)) { names[4] = "NoAns_exact"; names[5] = "NoAns_f1"; }
    return JUDGED_VALUES;
}

/* --- values of a choice of examples ---------------------------------------------------------- */

static double share(double part, double of) { return of > 0 ? 100.0 * part / of : 0; }

/* has: squad2's sums over questions without ([0]) and with an answer ([1]). */
static void of_sums(enum task_metric m, const double sum[JUDGED_WIDTH], const double has[2][3],
                    double *v)
{
    switch (m) {
    case TASK_ACCURACY: case TASK_TAG_ACCURACY:
        /* percent last: scripts round at other places, and their digits are compared */
        v[0] = sum[1] > 0 ? sum[0] / sum[1] * 100 : 0; /* in XTREME's order of operations */
        break;
    case TASK_CHUNK_F1: {
        double p = sum[1] > 0 ? sum[0] / sum[1] : 0, r = sum[2] > 0 ? sum[0] / sum[2] : 0;
        v[0] = p * 100;
        v[1] = r * 100;
        v[2] = p + r > 0 ? 2 * p * r / (p + r) * 100 : 0;
        break;
    }
    case TASK_SQUAD2:
        for (int k = 0; k < 2; k++) {
            /* a resample may have none of the few questions of one kind: that is no 0 */
            v[2 + k] = has[1][2] > 0 ? share(has[1][k], has[1][2]) : NAN;
            v[4 + k] = has[0][2] > 0 ? share(has[0][k], has[0][2]) : NAN;
        }
        /* fall through */
    default:
        v[0] = share(sum[0], sum[2]);
        v[1] = share(sum[1], sum[2]);
    }
}

/* Example i of a choice, and of which of two judges: pick NULL: all in order; swap: bit i set takes
 * b's. */
struct choice { const struct judged *a, *b; const uint32_t *pick; const uint32_t *swap; };

static const double *chosen(const struct choice *c, size_t i)
{
    /* a resample names an example several times */
    size_t at = c->pick ? c->pick[i] : i;
    bool other = c->swap && (c->swap[at / 32] >> at % 32 & 1);
    return (other ? c->b : c->a)->of[at];
}

/* Both sides of the examples: x [n], then y [n]. malloc'd. */
static double *sides(const struct choice *c)
{
    size_t n = c->a->n;
    double *x = mem_alloc(2 * n * sizeof *x);
    for (size_t i = 0; i < n; i++) {
        const double *e = chosen(c, i);
        x[i] = e[0];
        x[n + i] = e[1];
    }
    return x;
}

static void correlate(const struct choice *c, double *v)
{
    size_t n = c->a->n;
    double *x = sides(c);
    *v = (c->a->metric == TASK_SPEARMAN ? stat_spearman : stat_pearson)(x, x + n, n);
    free(x);
}

double judged_correlation_p(const struct judged *j)
{
    if (j->metric != TASK_SPEARMAN && j->metric != TASK_PEARSON) return NAN;
    double *x = sides(&(struct choice){ .a = j }), *y = x + j->n;
    double p = j->metric == TASK_SPEARMAN ? stat_spearman_p(x, y, j->n)
                                          : stat_correlation_p(stat_pearson(x, y, j->n), j->n);
    free(x);
    return p;
}

static void values_of(const struct choice *c, double v[JUDGED_VALUES])
{
    double sum[JUDGED_WIDTH] = { 0 }, has[2][3] = { { 0 } };
    memset(v, 0, JUDGED_VALUES * sizeof *v);
    if (is_correlation(c->a->metric)) { correlate(c, v); return; }
    for (size_t i = 0; i < c->a->n; i++) {
        const double *e = chosen(c, i);
        for (int k = 0; k < JUDGED_WIDTH; k++) sum[k] += e[k];
        for (int k = 0; k < 3; k++) has[e[3] > 0][k] += e[k];
    }
    of_sums(c->a->metric, sum, (const double (*)[3])has, v);
}

void judged_values(const struct judged *j, double value[JUDGED_VALUES])
{ values_of(&(struct choice){ .a = j }, value); }

/* --- resampling ------------------------------------------------------------------------------ */

struct resampling {
    const struct judged *a, *b;                      /* b: randomization */
    uint64_t seed;
    uint32_t stream;
    double (*to)[JUDGED_VALUES];
};

static int resample(void *ctx, size_t trial, int thread)
{
    struct resampling *r = ctx;
    struct rng g = { { r->seed, RNG_BOOT, r->stream }, trial, 0 };
    /* of the examples, so that a sentence's words stay together */
    uint32_t *pick = mem_alloc(r->a->n * sizeof *pick);
    (void)thread;
    for (size_t i = 0; i < r->a->n; i++) pick[i] = (uint32_t)rng_next_below(&g, r->a->n);
    values_of(&(struct choice){ .a = r->a, .pick = pick }, r->to[trial]);
    free(pick);
    return 0;
}

static int exchange(void *ctx, size_t trial, int thread)
{
    struct resampling *r = ctx;
    struct rng g = { { r->seed, RNG_BOOT, r->stream }, trial, 0 };
    size_t words = r->a->n / 32 + 1;
    uint32_t *swap = mem_alloc(words * sizeof *swap);
    /* of b, from the same exchange */
    double other[JUDGED_VALUES];
    (void)thread;
    for (size_t i = 0; i < words; i++) swap[i] = rng_next(&g);
    values_of(&(struct choice){ .a = r->a, .b = r->b, .swap = swap }, r->to[trial]);
    values_of(&(struct choice){ .a = r->b, .b = r->a, .swap = swap }, other);
    for (int k = 0; k < JUDGED_VALUES; k++) r->to[trial][k] -= other[k];
    free(swap);
    return 0;
}

int judged_bootstrap(const struct judged *j, uint64_t seed, uint32_t stream, int trials,
                     double (*to)[JUDGED_VALUES])
{
    /* even numbers for the bootstrap, odd ones for the exchange: no draw serves twice */
    struct resampling r = { j, NULL, seed, 2 * stream, to };
    return par_for((size_t)trials, resample, &r);
}

int judged_randomize(const struct judged *a, const struct judged *b, uint64_t seed, uint32_t stream,
                     int trials, double (*to)[JUDGED_VALUES])
{
    struct resampling r = { a, b, seed, 2 * stream + 1, to };
    return par_for((size_t)trials, exchange, &r);
}

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

void judged_interval(const double (*of)[JUDGED_VALUES], int trials, int k, double low_high[2])
{
    double *v = mem_alloc((size_t)trials * sizeof *v);
    size_t n = 0;
    for (int i = 0; i < trials; i++)
        if (!isnan(of[i][k]))
            v[n++] = of[i][k]; /* a resample without variance has no correlation, and one without
                                  questions of a kind no share of them */
    qsort(v, n, sizeof *v, by_value);
    low_high[0] = n ? stat_quantile(v, n, 0.025) : NAN;
    low_high[1] = n ? stat_quantile(v, n, 0.975) : NAN;
    free(v);
}

double judged_p(const double (*of)[JUDGED_VALUES], int trials, int k, double difference)
{
    int far = 0, n = 0;
    double least = fabs(difference) * (1 - 1e-12); /* the same sums, added in another order, count
                                                      as equal */
    for (int i = 0; i < trials; i++) {
        /* where one side of an exchange has no correlation, there is no difference to compare */
        if (isnan(of[i][k])) continue;
        far += fabs(of[i][k]) >= least;
        n++;
    }
    /* nothing is as far as what does not exist, and p would be the least of all */
    return isnan(difference) ? NAN : (1.0 + far) / (1.0 + n);
}

bool judged_discordant(const struct judged *a, const struct judged *b, uint64_t only[2])
{
    enum task_metric m = a->metric;
    only[0] = only[1] = 0;
    /* one decision per example: of shares (tags, chunks) there is no table of two by two */
    if (m != TASK_ACCURACY && m != TASK_SQUAD && m != TASK_SQUAD2 && m != TASK_MLQA) return false;
    for (size_t i = 0; i < a->n; i++) {
        only[0] += a->of[i][0] > b->of[i][0];
        only[1] += a->of[i][0] < b->of[i][0];
    }
    return true;
}

/* --- thresholds ------------------------------------------------------------------------------ */

static int by_probability(const void *a, const void *b)
{
    const struct no_answer *const *x = a, *const *y = b;
    if ((*x)->p != (*y)->p) return (*x)->p < (*y)->p ? -1 : 1;
    /* stable, as Python's sort is: the file's order decides between equal probabilities */
    return (*x > *y) - (*x < *y);
}

struct best_threshold judged_threshold(struct no_answer *v, size_t n, size_t no_answers,
                                       size_t scored)
{
    const struct no_answer **sorted = mem_alloc(n * sizeof *sorted);
    for (size_t i = 0; i < n; i++) sorted[i] = &v[i];
    qsort(sorted, n, sizeof *sorted, by_probability);
    /* as evaluate-v2.0.py: each further question is answered */
    double now = (double)no_answers;                 /* all left unanswered */
    struct best_threshold best = { now, 0 };
    for (size_t i = 0; i < n; i++) {
        const struct no_answer *q = sorted[i];
        now += q->has_answer ? q->score : q->answered ? -1 : 0;
        if (now > best.score) best = (struct best_threshold){ now, q->p };
    }
    best.score = scored ? 100.0 * best.score / (double)scored : 0;
    free(sorted);
    return best;
}

/* --- measures --------------------------------------------------------------------------------- */

/* Intervals and p-values from what was resampled. */
static void conclude(struct measure *m, const struct measure_options *o)
{
    for (int k = 0; k < m->values; k++) {
        m->interval[k][0] = m->interval[k][1] = NAN;
        m->randomization[k] = NAN;
        if (!m->name[k]) continue;
        if (m->resample)
            judged_interval((const double(*)[JUDGED_VALUES])m->resample, o->resamples, k,
                            m->interval[k]);
        if (m->exchange)
            m->randomization[k] = judged_p((const double(*)[JUDGED_VALUES])m->exchange, o->trials,
                                           k, m->value[k] - m->other[k]);
    }
}

/* Do both judge the same examples? One system may have answered other questions of SQuAD 2.0 than
 * the other, as many or not. */
static bool same_examples(const struct judged *a, const struct judged *b)
{
    bool same = a->n == b->n;
    for (size_t i = 0; same && i < a->n; i++)
        same = (a->which ? a->which[i] : i) == (b->which ? b->which[i] : i);
    return same;
}

int measure(struct measure *m, const struct judged *j, const struct judged *against,
            uint32_t stream, const struct measure_options *o)
{
    *m = (struct measure){ .examples = j->n };
    if (against && !same_examples(j, against))
        return err_set("the two systems answer %zu and %zu of the questions: a paired test needs "
                       "the same ones",
                       j->n, against->n);
    m->values = judged_names(j, m->name);
    judged_values(j, m->value);
    for (int k = 0; k < m->values; k++) m->p[k] = judged_correlation_p(j);
    if (o->resamples) {
        m->resample = mem_zero((size_t)o->resamples, sizeof *m->resample);
        if (judged_bootstrap(j, o->seed, stream, o->resamples, m->resample) < 0) return -1;
    }
    if (against) {
        uint64_t only[2];
        m->compared = true;
        judged_values(against, m->other);
        if (o->trials) {
            m->exchange = mem_zero((size_t)o->trials, sizeof *m->exchange);
            if (judged_randomize(j, against, o->seed, stream, o->trials, m->exchange) < 0)
                return -1;
        }
        m->has_mcnemar = judged_discordant(j, against, only);
        if (m->has_mcnemar) m->mcnemar = stat_mcnemar(only[0], only[1]);
    }
    conclude(m, o);
    return 0;
}

static void add(double (*to)[JUDGED_VALUES], const double (*from)[JUDGED_VALUES], int trials,
                double by)
{
    for (int i = 0; i < trials; i++)
        for (int k = 0; k < JUDGED_VALUES; k++) to[i][k] += from[i][k] * by;
}

void measure_mean(struct measure *mean, const struct measure *of, int n,
                  const struct measure_options *o)
{
    *mean = (struct measure){ .values = of[0].values, .compared = of[0].compared };
    if (of[0].resample) mean->resample = mem_zero((size_t)o->resamples, sizeof *mean->resample);
    if (of[0].exchange) mean->exchange = mem_zero((size_t)o->trials, sizeof *mean->exchange);
    for (int k = 0; k < mean->values; k++) {
        mean->name[k] = of[0].name[k];
        mean->p[k] = NAN;
    }
    for (int i = 0; i < n; i++) {
        mean->examples += of[i].examples;
        for (int k = 0; k < mean->values; k++) {
            /* a mean over languages of which one has no such value would be one over fewer */
            if (!of[i].name[k]) mean->name[k] = NULL;
            mean->value[k] += of[i].value[k];
            mean->other[k] += of[i].other[k];
        }
        if (mean->resample)
            add(mean->resample, (const double(*)[JUDGED_VALUES])of[i].resample, o->resamples,
                1.0 / n);
        if (mean->exchange)
            add(mean->exchange, (const double(*)[JUDGED_VALUES])of[i].exchange, o->trials, 1.0 / n);
    }
    for (int k = 0; k < mean->values; k++) {
        mean->value[k] /= n;
        mean->other[k] /= n;
    }
    conclude(mean, o);
}

void measure_free(struct measure *m)
{
    free(m->resample);
    free(m->exchange);
    m->resample = m->exchange = NULL;
}
