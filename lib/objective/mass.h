/* MASS's batches (mass.c). */
#ifndef OBJECTIVE_MASS_H
#define OBJECTIVE_MASS_H
#include "lib/engine/objective.h"
#include "lib/masking/masking.h"
#include "lib/model/batch.h"

struct sample;

/* The span of a sentence of so many rows, <s> and </s> included: rows at .. at + n, never row 0.
 * draw: where it begins (word 0: anywhere, at the end or at the beginning; word 1: where). */
struct mass_span { int at, n; };
struct mass_span mass_span(int rows, double share, const uint32_t draw[4]);

struct mass_batch {
    struct batch src, dec;
    int32_t *original;           /* [src.rows] tokens before masking */
    /* [dec.rows] what it predicts, which row of src that is, and what the encoder reads there */
    int32_t *target, *span, *read;
    /* rows of src that the decoder attends to; of each sentence the first of them and how many */
    int32_t *visible; int n_visible, most_visible;
    int32_t *at, *len;           /* [src.n] */
    size_t src_cap, dec_cap, n_cap;
};

struct mass_how {
    double share;                /* of a sentence's rows */
    bool see_masked;             /* the decoder also attends to rows that read <mask> */
    const struct masking *how;   /* shares of the span that read <mask>, a random word */
    uint32_t vocab;
};
/* Adds <s> x </s>. key: purpose RNG_MASK. */
void mass_add(struct mass_batch *b, const struct mass_how *o, const struct sample *x,
              struct rng_key key);
void mass_free(void *batch);

#endif
