#include "lib/eval/statistics.h"
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include "common/mem.h"

/* Lentz's continued fraction (Press et al., Numerical Recipes 6.4). */
static double fraction(double a, double b, double x)
{
    /* keeps divisions by 0 away, as in the book */
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double h = d;
    /* converges in some sqrt(max(a, b)) steps */
    for (int m = 1; m < 100000; m++) {
        for (int odd = 0; odd < 2; odd++) {
            double f = odd ? -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
                           : m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
            d = 1 + f * d;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = 1 + f / c;
            if (fabs(c) < tiny) c = tiny;
            h *= c * d;
        }
        if (fabs(c * d - 1) < 1e-15) break;
    }
    return h;
}

double stat_beta(double a, double b, double x)
{
    if (!(x > 0)) return 0;
    if (x >= 1) return 1;
    /* in logarithms: gammas of large arguments overflow */
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    /* the fraction converges fast on one side of the mean only: on the other, by the symmetry */
    if (x > (a + 1) / (a + b + 2)) return 1 - front * fraction(b, a, 1 - x) / b;
    return front * fraction(a, b, x) / a;
}

double stat_student_p(double t, double df) { return stat_beta(df / 2, 0.5, df / (df + t * t)); }

double stat_student_t95(double df)
{
    /* no closed form: 80 halvings of [0, 1000] are more than a double's digits */
    double low = 0, high = 1000;
    for (int i = 0; i < 80; i++) {
        double middle = (low + high) / 2;
        if (stat_student_p(middle, df) > 0.05) low = middle;
        else high = middle;
    }
    return (low + high) / 2;
}

struct sample_stats sample_stats(const double *v, size_t n)
{
    struct sample_stats s = { 0 };
    bool equal = true;
    /* of exactly equal numbers the mean is theirs, whatever rounding makes of their sum */
    for (size_t i = 1; i < n; i++) equal &= v[i] == v[0];
    if (n && equal) return (struct sample_stats){ .mean = v[0] };
    /* two passes: differences from the mean lose no digits */
    for (size_t i = 0; i < n; i++) s.mean += v[i];
    s.mean /= (double)n;
    for (size_t i = 0; i < n; i++) s.sd += (v[i] - s.mean) * (v[i] - s.mean);
    s.sd = sqrt(s.sd / (double)(n - 1));
    s.half = stat_student_t95((double)(n - 1)) * s.sd / sqrt((double)n);
    return s;
}

double stat_paired_t(const double *d, size_t n)
{
    struct sample_stats s = sample_stats(d, n);
    /* without variance t is 0/0 or infinite */
    if (s.sd == 0) return d[0] == 0;
    return stat_student_p(s.mean / (s.sd / sqrt((double)n)), (double)(n - 1));
}

double stat_mcnemar(uint64_t b, uint64_t c)
{
    /* the exact test: under the null hypothesis few is binomial (all, 1/2), on either side */
    uint64_t few = b < c ? b : c, all = b + c;
    if (!all || b == c) return 1;
    /* the binomial's sum as an incomplete beta function */
    double p = 2 * stat_beta((double)(all - few), (double)few + 1, 0.5); /* P(X <= few) */
    return p < 1 ? p : 1;
}

double stat_pearson(const double *x, const double *y, size_t n)
{
    double mx = 0, my = 0, xx = 0, yy = 0, xy = 0;
    for (size_t i = 0; i < n; i++) { mx += x[i]; my += y[i]; }
    mx /= (double)n;
    my /= (double)n;
    for (size_t i = 0; i < n; i++) {
        xx += (x[i] - mx) * (x[i] - mx);
        yy += (y[i] - my) * (y[i] - my);
        xy += (x[i] - mx) * (y[i] - my);
    }
    if (!(xx > 0) || !(yy > 0)) return NAN;
    double r = xy / sqrt(xx) / sqrt(yy);
    /* rounding may pass 1, and its p would be of a negative number */
    return r > 1 ? 1 : r < -1 ? -1 : r;
}

struct ranked { double v; size_t i; };
static int by_value(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    return (x->v > y->v) - (x->v < y->v);
}

static void ranks(const double *v, size_t n, struct ranked *room, double *to)
{
    for (size_t i = 0; i < n; i++) room[i] = (struct ranked){ v[i], i };
    qsort(room, n, sizeof *room, by_value);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && room[end].v == room[i].v; ) end++;
        /* ties share the mean of their ranks */
        double rank = ((double)i + 1 + (double)end) / 2;
        for (size_t k = i; k < end; k++) to[room[k].i] = rank;
    }
}

double stat_spearman(const double *x, const double *y, size_t n)
{
    struct ranked *room = mem_alloc(n * sizeof *room);
    double *rx = mem_alloc(2 * n * sizeof *rx), *ry = rx + n;
    ranks(x, n, room, rx);
    ranks(y, n, room, ry);
    double r = stat_pearson(rx, ry, n);
    free(room);
    free(rx);
    return r;
}

double stat_correlation_p(double r, size_t n)
{
    if (n < 3 || isnan(r)) return NAN;
    /* and not 1 - r * r, which loses digits near 1 */
    double df = (double)n - 2, rest = (1 - r) * (1 + r);
    return rest > 0 ? stat_beta(df / 2, 0.5, rest) : 0;
}

/* All orders of y[at ..], with `sum` the products before: how many end as far from `mean` as `far`.
 * Ranks are halves, so sums of products are exact. */
struct orders { const double *x; double *y, mean, far; size_t n; };

static unsigned orders_as_far(struct orders *o, size_t at, double sum)
{
    unsigned count = 0;
    if (at == o->n) return fabs(sum - o->mean) >= o->far - 1e-9;
    for (size_t i = at; i < o->n; i++) {
        double first = o->y[i];
        o->y[i] = o->y[at];
        /* exchanged, and back: each order once */
        o->y[at] = first;
        count += orders_as_far(o, at + 1, sum + o->x[at] * first);
        o->y[at] = o->y[i];
        o->y[i] = first;
    }
    return count;
}

double stat_spearman_p(const double *x, const double *y, size_t n)
{
    enum { EXACT = 9 };
    double r = stat_spearman(x, y, n), rx[EXACT], ry[EXACT], sum = 0, all = 1;
    struct ranked room[EXACT];
    /* 9! orders are 362,880, counted in a moment; with more pairs the t distribution is close */
    if (n > EXACT || n < 3 || isnan(r)) return stat_correlation_p(r, n);
    ranks(x, n, room, rx);
    ranks(y, n, room, ry);
    for (size_t i = 0; i < n; i++) {
        sum += rx[i] * ry[i];
        all *= (double)(i + 1);
    }
    /* the mean of all orders: n times the product of the mean ranks */
    struct orders o = { rx, ry, (double)(n * (n + 1) * (n + 1)) / 4, 0, n };
    o.far = fabs(sum - o.mean);
    return orders_as_far(&o, 0, 0) / all;
}

double stat_quantile(const double *sorted, size_t n, double q)
{
    double at = q * (double)(n - 1);
    size_t i = (size_t)at;
    return i + 1 < n ? sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}
