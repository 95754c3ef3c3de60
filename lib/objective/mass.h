/* MASS (Song et al. 2019; mass.c): its batches, and its pass over them. */
#ifndef OBJECTIVE_MASS_H
#define OBJECTIVE_MASS_H
#include "lib/data/masking.h"
#include "lib/engine/objective.h"
#include "lib/engine/write_batches.h"
#include "lib/model/batch.h"

struct sample;

/* The span of a sentence of so many rows, <s> and </s> included: rows at .. at + n, never row 0.
 * draw: where it begins (word 0: anywhere, at the end or at the beginning; word 1: where). */
struct mass_span { int at, n; };
struct mass_span mass_span(int rows, double share, const uint32_t draw[4]);

struct mass_batch {
    struct batch src, dec;
    int32_t *original;           /* [src.rows] tokens before masking */
    int32_t *target, *span;      /* [dec.rows] what it predicts, and which row of src that is */
    /* rows of src that the decoder attends to; of each sentence the first of them and how many */
    int32_t *visible; int n_visible, most_visible;
    int32_t *at, *len;           /* [src.n] */
    size_t cap[6];
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
/* Appends sentence s of `from` as it stands there. */
void mass_copy(struct mass_batch *to, const struct mass_batch *from, int s);
void mass_clear(struct mass_batch *b);
void mass_free(void *batch);

/* Encodes src, rows of `mix` (NULL: none) reading mixtures in place of tokens, and decodes: p->h
 * are the states of dec, p->encoder those of src. */
void mass_forward(const struct mass_batch *b, struct pass *p, const struct mixture *mix);
/* Cross entropy of the targets; adds the gradient of scale * mean, and the losses to the log under
 * `name`. */
void mass_loss(const struct mass_batch *b, struct pass *p, const char *name, float scale);
/* The arrays of docs/formats/batches.md. */
void mass_write(const struct mass_batch *b, struct batch_file *f);

#endif
