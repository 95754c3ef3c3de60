#include "common/rng.h"
#include <math.h>

float rng_normal(struct rng_key k, uint64_t sample, uint32_t position)
{
    /* one block gives both numbers: nothing is kept between calls */
    uint32_t u[4];
    rng_block(k, sample, position, u);
    double a = ((double)u[0] + 0.5) * 0x1p-32;    /* never 0, so that its logarithm is finite */
    double b = (double)u[1] * 0x1p-32;
    return (float)(sqrt(-2.0 * log(a)) * cos(6.283185307179586 * b));
}

void rng_permutation(struct rng_key k, uint64_t epoch, uint32_t *perm, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) perm[i] = i;
    for (uint32_t i = n; i > 1; i--) {
        /* The position is i: each exchange has its own number, whatever came before. */
        uint32_t j = (uint32_t)rng_below(k, epoch, i, i), t = perm[i - 1];
        perm[i - 1] = perm[j];
        perm[j] = t;
    }
}
