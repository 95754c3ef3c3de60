/* Distributions and tests for the tables: Student's t, the binomial, correlation. Values agree
 * with scipy.stats to 1e-10 (test/golden/score). */
#ifndef EVAL_STATISTICS_H
#define EVAL_STATISTICS_H
#include <stddef.h>
#include <stdint.h>

/* The regularised incomplete beta function I_x(a, b); a, b > 0, 0 <= x <= 1. */
double stat_beta(double a, double b, double x);

/* The two-sided p of Student's t with df > 0 degrees of freedom, and the t of which p is 0.05. */
double stat_student_p(double t, double df);
double stat_student_t95(double df);

/* Mean and half of the 95% interval of v[n] (0 with n = 1); sd: with n - 1. */
struct sample_stats { double mean, sd, half; };
struct sample_stats sample_stats(const double *v, size_t n);

/* Student's paired t-test on differences d[n] (n >= 2): two-sided p; 1 where all are 0, 0 where all
 * are equal. */
double stat_paired_t(const double *d, size_t n);

/* McNemar's test (1947), exact: of b + c examples that only one system got right, the two-sided
 * binomial p. */
double stat_mcnemar(uint64_t b, uint64_t c);

/* Correlation of x and y [n]; NAN where one has no variance. Spearman: of the ranks, ties share
 * their mean rank. */
double stat_pearson(const double *x, const double *y, size_t n);
double stat_spearman(const double *x, const double *y, size_t n);
/* The two-sided p of a correlation r of n pairs: t = r sqrt((n - 2) / (1 - r r)). NAN for n < 3. */
double stat_correlation_p(double r, size_t n);
/* That of Spearman's: exact for up to nine pairs, where t is far off (a perfect order of four has
 * p = 2 / 4! and not 0): the share of all n! orders whose correlation is at least as far from 0.
 * NAN for n < 3 or no variance. */
double stat_spearman_p(const double *x, const double *y, size_t n);

/* The q-th stat_quantile (0 to 1) of sorted v[n], linear between neighbours (NumPy's default). */
double stat_quantile(const double *sorted, size_t n, double q);

#endif
