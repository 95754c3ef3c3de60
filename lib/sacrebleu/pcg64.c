#include "lib/sacrebleu/resample.h"

enum { POOL = 4 };

/* NumPy's SeedSequence and PCG64, since sacreBLEU draws with them: the same seed must choose the
 * same resamples. Spreads the seed's 32-bit words over a pool of four, each mixed into each
 * other. */
static uint32_t hash_in(uint32_t v, uint32_t *constant)
{
    /* numpy/random/bit_generator.pyx: the constant begins as INIT_A and goes on by MULT_A; mix has
     * MIX_MULT_L and MIX_MULT_R */
    v ^= *constant;
    *constant *= 0x931E8875u;
    v *= *constant;
    return v ^ v >> 16;
}

static uint32_t mix(uint32_t a, uint32_t b)
{
    uint32_t v = 0xCA01F9DDu * a - 0x4973F715u * b;
    return v ^ v >> 16;
}

void pcg64_seed(struct pcg64 *g, uint64_t seed)
{
    /* a seed of fewer words than the pool is filled up with zeros */
    uint32_t entropy[POOL] = { (uint32_t)seed, (uint32_t)(seed >> 32) }, pool[POOL],
             constant = 0x43B0D7E5u;
    for (int i = 0; i < POOL; i++) pool[i] = hash_in(entropy[i], &constant);
    for (int from = 0; from < POOL; from++)
        for (int to = 0; to < POOL; to++)
            if (from != to) pool[to] = mix(pool[to], hash_in(pool[from], &constant));

    uint32_t word[8];
    /* INIT_B and MULT_B, for generate_state */
    constant = 0x8B51F9DDu;
    for (int i = 0; i < 8; i++) {
        uint32_t v = pool[i % POOL] ^ constant;
        constant *= 0x58F38DEDu;
        v *= constant;
        word[i] = v ^ v >> 16;
    }
    uint64_t w[4];
    for (int i = 0; i < 4; i++) w[i] = word[2 * i] | (uint64_t)word[2 * i + 1] << 32;

    unsigned __int128 start = (unsigned __int128)w[0] << 64 | w[1];
    /* an odd increment, whatever the seed: the period is full */
    *g = (struct pcg64){ .inc = ((unsigned __int128)w[2] << 64 | w[3]) << 1 | 1 };
    /* the order of PCG's own seeding: step, add, step */
    pcg64_next(g);
    g->state += start;
    pcg64_next(g);
}

uint64_t pcg64_next(struct pcg64 *g)
{
    const unsigned __int128 multiplier = (unsigned __int128)0x2360ED051FC65DA4u << 64
                                         | 0x4385DF649FCCF645u;
    g->state = g->state * multiplier + g->inc;
    /* XSL-RR: both halves xor'd, turned by the top six bits */
    uint64_t v = (uint64_t)(g->state >> 64) ^ (uint64_t)g->state;
    unsigned turn = (unsigned)(g->state >> 122);
    /* & 63: a shift by 64 is undefined */
    return v >> turn | v << (-turn & 63);
}

uint32_t pcg64_next32(struct pcg64 *g)
{
    /* NumPy draws 32 bits as the lower half of 64 and keeps the upper one for the next draw */
    if (g->has_half) { g->has_half = 0; return g->half; }
    uint64_t v = pcg64_next(g);
    g->half = (uint32_t)(v >> 32);
    g->has_half = 1;
    return (uint32_t)v;
}

/* Lemire (2019): the high word of draw * n, drawing again where that would be biased. */
void pcg64_below(struct pcg64 *g, uint32_t n, uint32_t *to, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        /* NumPy draws nothing for a single choice */
        if (n == 1) {
            to[i] = 0;
            continue;
        }
        uint64_t m = (uint64_t)pcg64_next32(g) * n;
        if ((uint32_t)m < n) {
            uint32_t bias = (uint32_t)-n % n;
            while ((uint32_t)m < bias) m = (uint64_t)pcg64_next32(g) * n;
        }
        to[i] = (uint32_t)(m >> 32);
    }
}
