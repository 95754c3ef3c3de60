/* Random numbers by counter: Philox4x32-10 (Salmon et al. 2011). A draw is a pure function of
 * (seed, purpose, step, sample, position): never of buffer offsets, threads or micro-batches, so
 * any part of a run can be computed again, anywhere, with the same numbers. The CUDA side computes
 * the very same function.
 *
 * Counter words: { position, sample_lo, sample_hi ^ (purpose << 24), step }, key: seed.
 * Sampling that decides data uses the integers; floats are for dropout and initial weights. */
#ifndef COMMON_RNG_H
#define COMMON_RNG_H
#include <stdint.h>

/* Purposes, one for each use, so that no two uses share numbers. Add at the end; values are part of
 * the bytes. */
enum rng_purpose {
    RNG_INIT = 1,
    RNG_LANG,
    RNG_ORDER,
    RNG_MASK,
    RNG_DROPOUT,
    RNG_NOISE,
    RNG_SYNTH,
    RNG_BPE,
    RNG_BOOT,
    RNG_SAMPLE,
    RNG_MAP,
    RNG_TSNE,
    RNG_TEST,
    RNG_MIX,
    RNG_UNITS,
    RNG_SWITCH,
    RNG_DERIVE,
    RNG_TOSS,
    RNG_DICT,
    RNG_SUBSET,
    RNG_BLOCKS,
    RNG_SEGMENT,
};

struct rng_key { uint64_t seed; uint32_t purpose, step; };

#ifdef __CUDACC__
#define RNG_DEVICE __host__ __device__
#else
#define RNG_DEVICE
#endif

RNG_DEVICE static inline void rng_block(struct rng_key k, uint64_t sample, uint32_t position,
                                        uint32_t out[4])
{
    uint32_t c0 = position, c1 = (uint32_t)sample,
             c2 = (uint32_t)(sample >> 32) ^ (k.purpose << 24), c3 = k.step;
    uint32_t k0 = (uint32_t)k.seed, k1 = (uint32_t)(k.seed >> 32);
    for (int i = 0; i < 10; i++) {
        uint64_t a = (uint64_t)0xD2511F53u * c0, b = (uint64_t)0xCD9E8D57u * c2;
        uint32_t n0 = (uint32_t)(b >> 32) ^ c1 ^ k0, n2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)b; c3 = (uint32_t)a; c0 = n0; c2 = n2;
        k0 += 0x9E3779B9u; k1 += 0xBB67AE85u;
    }
    out[0] = c0; out[1] = c1; out[2] = c2; out[3] = c3;
}

static inline uint32_t rng_u32(struct rng_key k, uint64_t sample, uint32_t position)
{ uint32_t o[4]; rng_block(k, sample, position, o); return o[0]; }
static inline uint64_t rng_u64(struct rng_key k, uint64_t sample, uint32_t position)
{ uint32_t o[4]; rng_block(k, sample, position, o); return (uint64_t)o[1] << 32 | o[0]; }

/* An integer in [0, n), n >= 1, by multiplication (bias below 2^-32 for n < 2^32). */
static inline uint64_t rng_below(struct rng_key k, uint64_t sample, uint32_t position, uint64_t n)
{ return (uint64_t)(((unsigned __int128)rng_u64(k, sample, position) * n) >> 64); }

/* True with probability p, decided in integers: u32 < floor(p * 2^32). */
static inline int rng_chance(struct rng_key k, uint64_t sample, uint32_t position, double p)
{ return (double)rng_u32(k, sample, position) < p * 4294967296.0; }

/* In [0, 1): 24 bits. */
static inline float rng_unit(struct rng_key k, uint64_t sample, uint32_t position)
{ return (float)(rng_u32(k, sample, position) >> 8) * 0x1p-24f; }

/* Standard normal (Box-Muller on one block). Uses libm's log, cos: for initial weights only. */
float rng_normal(struct rng_key k, uint64_t sample, uint32_t position);

/* A sequential generator over the same function, for code that only needs "the next one". */
struct rng { struct rng_key key; uint64_t sample; uint32_t position; };
static inline uint32_t rng_next(struct rng *r) { return rng_u32(r->key, r->sample, r->position++); }
static inline uint64_t rng_next_below(struct rng *r, uint64_t n)
{
    return rng_below(r->key, r->sample, r->position++, n);
}
static inline float rng_next_unit(struct rng *r)
{
    return rng_unit(r->key, r->sample, r->position++);
}

/* The order of `epoch`: fills perm[n] with a permutation of 0..n-1 (Fisher-Yates). */
void rng_permutation(struct rng_key k, uint64_t epoch, uint32_t *perm, uint32_t n);

#endif
