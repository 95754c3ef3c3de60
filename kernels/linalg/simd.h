/* Loops over a row, compiled for several instruction sets (simd_base.c, simd_avx2.c,
 * simd_avx512.c from the one source simd.inc) and chosen at the first use. Results may differ
 * between instruction sets in the last digits, never between thread counts.
 * ISOGLOT_SIMD=base|avx2|avx512 chooses a lesser set than the processor has (avx512: no AMX). */
#ifndef LINALG_SIMD_H
#define LINALG_SIMD_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/rng.h"

/* What one row of logits says about its target. */
struct xent_row { float lse, target, sum; int32_t best; };      /* sum: of the allowed logits */

/* Constants of an Adam step; see adam.c. */
struct adam_step {
    float grad, decay, beta1, rest1, beta2, rest2, rate, root2, eps, unbias1, weight_decay;
};
struct lamb_sums { double p, u; };                              /* of squares */

struct simd {
    const char *name;

    void (*add)(float *y, const float *x, size_t n);                     /* y += x */
    void (*axpy)(float *y, float a, const float *x, size_t n);           /* y += a x */
    /* y[j] = sum over i < n of a[i] X[row[i]][j], j < k, in the order of i: a sparse row times X */
    void (*sum_rows)(float *y, const float *X, size_t k, const uint32_t *row, const float *a,
                     size_t n);
    void (*scale)(float *y, float a, const float *x, size_t n);          /* y = a x; y may be x */
    /* to nearest, ties to even; NaN stays NaN */
    void (*to_bf16)(uint16_t *y, const float *x, size_t n);
    void (*from_bf16)(float *y, const uint16_t *x, size_t n);
    void (*round_bf16)(float *y, const float *x, size_t n); /* the same, left in float32 */
    float (*dot)(const float *x, const float *y, size_t n);
    /* The same, and y += a x, of bfloat16 numbers x. */
    float (*dot_half)(const float *y, const uint16_t *x, size_t n);
    void (*axpy_half)(float *y, float a, const uint16_t *x, size_t n);
    /* y[r][c] = x[r] . w[c] for r < m, c < k: rows of n floats, ldx and ldw apart, to rows ldy
     * apart. For few rows of x: nothing is packed. Row r is the same whatever m is. */
    void (*dots)(float *y, size_t ldy, const float *x, size_t ldx, int m, const float *w,
                 size_t ldw, int k, size_t n);
    /* summed in double; the same bits from every instruction set */
    double (*dot_double)(const float *x, const float *y, size_t n);
    /* For each column c < n of `best` [K][ld], in falling order: x[c] takes its place among
     * them, and x[c] becomes what falls out at the end. */
    void (*sift)(float *best, size_t ld, int K, float *x, size_t n);
    double (*squares)(const float *x, size_t n);                         /* sum of x^2 */
    float (*max)(const float *x, size_t n);                              /* -inf for n = 0 */
    /* of exp(x - shift) */
    double (*sum_exp)(const float *x, float shift, const uint8_t *allowed, size_t n);

    /* v = y + b (b NULL: 0); pre = v (NULL: not wanted); y = f(v) */
    void (*gelu)(float *y, float *pre, const float *b, size_t n);
    void (*gelu_tanh)(float *y, float *pre, const float *b, size_t n);
    void (*relu)(float *y, float *pre, const float *b, size_t n);
    void (*tanh)(float *y, float *pre, const float *b, size_t n);
    void (*gelu_bwd)(float *dx, const float *pre, size_t n);             /* dx *= f'(pre) */
    void (*gelu_tanh_bwd)(float *dx, const float *pre, size_t n);
    void (*relu_bwd)(float *dx, const float *pre, size_t n);
    void (*tanh_bwd)(float *dx, const float *pre, size_t n);
    void (*gelu_both)(float *dx, float *pre, size_t n); /* that, then pre = f(pre) */
    void (*gelu_tanh_both)(float *dx, float *pre, size_t n);
    void (*relu_both)(float *dx, float *pre, size_t n);
    void (*tanh_both)(float *dx, float *pre, size_t n);

    /* Dropout's random bits: bits[rows][8 * blocks], for row r and block c those of
     * rng_block(key, sample[r] | site << 40, pos[r] << 20 | low + c). */
    void (*drop_bits)(uint16_t *bits, struct rng_key key, uint32_t site, const uint64_t *sample,
                      const uint32_t *pos, int rows, uint32_t low, int blocks);
    /* s = x + (bits < limit ? 0 : u * keep); bits may be NULL (nothing is dropped), x may be
     * NULL (0), s may be x or u */
    void (*drop)(float *s, const float *x, const float *u, const uint16_t *bits, uint32_t limit,
                 float keep, size_t n);

    /* y = (s - mean) * rstd * gamma + beta */
    void (*norm)(float *y, float *mean, float *rstd, const float *s, const float *gamma,
                 const float *beta, float eps, size_t n);
    /* d = the gradient of s; dgamma, dbeta += (either may be NULL) */
    void (*norm_bwd)(float *d, float *dgamma, float *dbeta, const float *dy, const float *s,
                     float mean, float rstd, const float *gamma, size_t n);

    /* s[0..n) = softmax(s); returns log of the sum of exp (n > 0) */
    float (*softmax)(float *s, size_t n);
    /* s = exp(s - lse) */
    void (*softmax_again)(float *s, float lse, size_t n);
    /* ds = p * (dp - delta) * scale */
    void (*softmax_bwd)(float *ds, const float *p, const float *dp, float delta, float scale,
                        size_t n);

    /* logits z += b; statistics over the allowed ones. allowed NULL: all; target < 0: none */
    void (*xent)(struct xent_row *r, float *z, const float *b, const uint8_t *allowed,
                 int32_t target, size_t n);
    /* z = scale * (exp(z - lse) - even) where allowed, else 0 */
    void (*xent_grad)(float *z, float lse, float even, float scale, const uint8_t *allowed,
                      size_t n);

    void (*adam)(float *p, const float *g, float *m, float *v, const struct adam_step *a, size_t n);
    /* The moments, and the squares of p and u; then p -= rate u, with u computed again. */
    struct lamb_sums (*lamb)(const float *p, const float *g, float *m, float *v,
                             const struct adam_step *a, size_t n);
    void (*lamb_apply)(float *p, const float *m, const float *v, const struct adam_step *a,
                       float rate, size_t n);
};

extern const struct simd simd_base, simd_avx2, simd_avx512;
const struct simd *simd_choose(void);

/* Are there AMX's tiles for int8 and bfloat16, which Linux grants a process that asks, and no
 * lesser set chosen? Then there are AVX-512 VNNI and BF16, too. */
bool simd_amx(void);
/* Has this ARM processor sdot, products of bytes into sums of 32 bits, and is ISOGLOT_SIMD not
 * base? Its loops over rows are NEON's in any case, the base of all 64-bit ARM processors. */
bool simd_sdot(void);

#endif
