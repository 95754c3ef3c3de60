/* The random numbers of numpy.random.default_rng(seed): PCG64 (O'Neill 2014; XSL-RR 128/64) seeded
 * through NumPy's SeedSequence, and two of its Generator's draws, number for number, so that
 * resampling gives the intervals and p-values that sacreBLEU gives. Everything else here uses
 * common/rng.h. */
#ifndef SACREBLEU_PCG64_H
#define SACREBLEU_PCG64_H
#include <stddef.h>
#include <stdint.h>

struct pcg64 {
    unsigned __int128 state, inc;
    uint32_t half; int has_half;          /* the unused half of the last 64 bits */
};

void pcg64_seed(struct pcg64 *g, uint64_t seed);
uint64_t pcg64_next(struct pcg64 *g);
uint32_t pcg64_next32(struct pcg64 *g);

/* Generator.integers(0, n, size), also Generator.choice(n, size, replace=True); 1 <= n <= 2^32 -
 * 1. */
void pcg64_below(struct pcg64 *g, uint32_t n, uint32_t *to, size_t size);

/* Generator.integers(2, size, dtype=bool): bits of 32-bit draws, lowest first. */
struct pcg64_bits { uint32_t word; int left; };
static inline int pcg64_bit(struct pcg64 *g, struct pcg64_bits *b)
{
    if (b->left) { b->word >>= 1; b->left--; }
    else { b->word = pcg64_next32(g); b->left = 31; }
    return b->word & 1;
}

#endif
