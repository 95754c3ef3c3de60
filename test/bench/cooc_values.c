/* cooc_values X.cooc LOOKUPS: memory of the training values in float32 and float16, the largest
 * error of the latter, and look-ups a second of random stored and random any pairs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "common/err.h"
#include "common/rng.h"
#include "common/thread.h"
#include "lib/cooc/cooc.h"
#include "lib/cooc/cooc_values.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    if (argc < 3) { fprintf(stderr, "usage: cooc_values X.cooc LOOKUPS\n"); return 2; }
    struct cooc_values_opts o = cooc_values_defaults;
    par_threads_set(2);
    double t = now();
    struct cooc_values *full = cooc_values_load(argv[1], &o);
    t = now() - t;
    o.half = true;
    struct cooc_values *half = full ? cooc_values_load(argv[1], &o) : NULL;
    struct cooc *c = half ? cooc_open(argv[1]) : NULL;
    if (!c) { fprintf(stderr, "%s\n", err_msg()); return 1; }
    double n = (double)cooc_values_pairs(full), worst = 0, worst_f = 0, sum = 0,
           ids = cooc_values_ids(full);
    struct cooc_cursor k;
    struct cooc_pairs p;
    for (int plane = 0; plane < c->planes; plane++) {
        cooc_cursor_init(&k, c, plane);
        while (cooc_cursor_next(&k, &p) > 0)
            for (uint32_t i = 0; i < p.n; i++) {
                float a, b, f, g;
                if (!cooc_value(full, p.row[i], p.col[i], &a, &f)
                    || !cooc_value(half, p.row[i], p.col[i], &b, &g))
                    abort();
                worst = fmax(worst, fabs(a - b));
                worst_f = fmax(worst_f, fabs(f - g));
                sum += fabs(a - b);
            }
    }
    printf("%.0f stored pairs of %.0f ids; load %.2f s CPU; dense float32 would be %.2f GB\n", n,
           ids, t, ids * ids * 4e-9);
    printf("float32: %.1f MB, %.2f bytes a stored pair; float16: %.1f MB, %.2f bytes\n",
           (double)cooc_values_bytes(full) / 1e6, (double)cooc_values_bytes(full) / n,
           (double)cooc_values_bytes(half) / 1e6, (double)cooc_values_bytes(half) / n);
    printf("float16: largest error of log X %.2g, mean %.2g; of f %.2g\n", worst, sum / n, worst_f);
    uint64_t lookups = strtoull(argv[2], NULL, 10), there = 0;
    struct rng r = { .key = { .seed = 1, .purpose = RNG_TEST } };
    double acc = 0;
    t = now();
    for (uint64_t i = 0; i < lookups; i++) {
        float l, f;
        uint32_t a = rng_next(&r),
                 b = rng_next(&r); /* squared: frequent words more often, as in text */
        a = (uint32_t)((double)a * a * 0x1p-64 * ids);
        b = (uint32_t)((double)b * b * 0x1p-64 * ids);
        if (cooc_value(half, a, b, &l, &f)) { there++; acc += l * f; }
    }
    t = now() - t;
    printf("%.1f million look-ups a second on one thread (%.0f%% of them there) [%g]\n",
           (double)lookups / t / 1e6, 100.0 * (double)there / (double)lookups, acc);
    return 0;
}
