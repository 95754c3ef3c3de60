#include "lib/score/measure.h"
#include <math.h>
#include <stdlib.h>
#include "common/err.h"
#include "common/mem.h"
#include "lib/score/statistics.h"

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

int measure(struct measure *m, const struct judged *j, const struct judged *against,
            uint32_t stream, const struct measure_options *o)
{
    *m = (struct measure){ .examples = j->n };
    if (against && against->n != j->n)
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
        if (m->has_mcnemar) m->mcnemar = mcnemar(only[0], only[1]);
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
