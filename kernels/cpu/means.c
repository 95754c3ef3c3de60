/* Means of the K largest of each column: a chunk of columns keeps its K largest in order, and
 * each row is sifted through them, all columns at once. */
#include "kernels/cpu/cpu.h"

enum { COLUMNS = 64 };

static void mean_columns(void *ctx, int first, int last)
{
    const struct kern_column_means *a = ctx;
    const struct simd *s = simd_choose();
    size_t n = (size_t)(last - first);
    int K = a->K < a->n ? a->K : a->n;
    float best[KERN_MEANS_MAX * COLUMNS], x[COLUMNS], sum[COLUMNS] = { 0 };
    for (int r = 0; r < a->n; r++) {
        const float *row = acts_read(a->S, (size_t)r * (size_t)a->m + (size_t)first, n, x);
        /* sift() writes to x: a row of float32, which acts_read does not copy, is copied
         * here. */
        for (size_t c = 0; row != x && c < n; c++) x[c] = row[c];
        s->sift(best, COLUMNS, r < K ? r : K, x, n);
        for (size_t c = 0; r < K && c < n; c++) best[(size_t)r * COLUMNS + c] = x[c];
    }
    for (int i = 0; i < K; i++) s->add(sum, best + (size_t)i * COLUMNS, n);
    for (size_t c = 0; c < n; c++) a->mean[(size_t)first + c] = K > 0 ? sum[c] / (float)K : 0;
}

void cpu_column_means(const struct kern_column_means *a)
{
    work_columns(a->m, mean_columns, (void *)a);
}
