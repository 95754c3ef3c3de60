#include "lib/vectors/pca.h"
#include <math.h>
#include <stdlib.h>
#include "common/err.h"
#include "common/mem.h"
#include "lib/vectors/linalg.h"

enum { BLOCK = 1024 };

static double *means(const float *X, uint32_t n, int d)
{
    double *mean = mem_zero((size_t)d, sizeof *mean);
    for (uint32_t i = 0; i < n; i++)
        for (int k = 0; k < d; k++) mean[k] += X[(size_t)i * (size_t)d + (size_t)k];
    for (int k = 0; k < d; k++) mean[k] /= n;
    return mean;
}

/* C [d, d] = sum of the outer products of the rows less their mean, in blocks of fixed size. */
static void scatter(const float *X, uint32_t n, int d, const double *mean, double *C)
{
    size_t dd = (size_t)d;
    double *rows = mem_alloc(BLOCK * dd * sizeof *rows), *part = mem_alloc(dd * dd * sizeof *part);
    for (size_t i = 0; i < dd * dd; i++) C[i] = 0;
    for (uint32_t i0 = 0; i0 < n; i0 += BLOCK) {
        uint32_t m = n - i0 < BLOCK ? n - i0 : BLOCK;
        for (size_t i = 0; i < m; i++)
            for (size_t k = 0; k < dd; k++) rows[i * dd + k] = X[(i0 + i) * dd + k] - mean[k];
        lin_product(1, 0, d, d, (int)m, rows, rows, part);
        for (size_t i = 0; i < dd * dd; i++) C[i] += part[i];
    }
    free(rows);
    free(part);
}

int pca(const float *X, uint32_t n, int d, int k, float *to, double *share)
{
    size_t dd = (size_t)d;
    if ((uint32_t)k > n || k > d)
        return err_set("%d principal components of %u vectors of %d dimensions: there are fewer", k,
                       n, d);
    double *mean = means(X, n, d), *C = mem_alloc(dd * dd * sizeof *C),
           *VT = mem_alloc(dd * dd * sizeof *VT), *s = mem_alloc(dd * sizeof *s), all = 0;
    scatter(X, n, d, mean, C);
    int r = lin_svd(C, d, d, NULL, s, VT);
    for (int j = 0; r == 0 && j < d; j++) all += s[j];
    if (r == 0 && !(all > 0))
        r = err_set("all %u vectors are the same; there is nothing to see", n);
    for (int j = 0; r == 0 && j < k; j++) {
        const double *axis = VT + (size_t)j * dd;
        size_t top = 0;
        for (size_t i = 1; i < dd; i++)
            if (fabs(axis[i]) > fabs(axis[top])) top = i;
        double sign = axis[top] < 0 ? -1 : 1;
        for (uint32_t i = 0; i < n; i++) {
            double sum = 0;
            for (size_t q = 0; q < dd; q++) sum += axis[q] * (X[i * dd + q] - mean[q]);
            to[(size_t)i * (size_t)k + (size_t)j] = (float)(sign * sum);
        }
        if (share) share[j] = s[j] / all;
    }
    free(mean);
    free(C);
    free(VT);
    free(s);
    return r;
}
