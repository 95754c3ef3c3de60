/* Co-occurrence counts as a training objective needs them: log X and f(X) of a pair of ids, from a
 * .cooc file.
 *
 *   X(i, j) = sum over languages of c_lang * count_lang(i, j) / unit,   c_lang = C_ref / C_lang
 *
 * with C the token totals of the planes and ref the language that the file (cooc-merge --normalize)
 * or the options name; without one, every c_lang is 1 (MLM-GC, section 3). f(X) = min(1, (X /
 * xmax)^alpha).
 *
 * Ids are the vocabulary's (specials included, common/text/vocab.h). A symmetric file is kept as
 * one triangle: 4 bytes a stored pair up to 65,536 ids with float16 storage, 6 with float32 (6 and
 * 8 above), plus 8 bytes a row. */
#ifndef COOC_VALUES_H
#define COOC_VALUES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/cooc/cooc.h"

struct cooc_values_opts {
    double xmax, alpha;       /* 100 and 0.75 */
    bool raw_f;               /* f of the counts before c_lang (one more value a pair is stored) */
    /* log X as float16: relative error at most 2^-11 (docs/lab/bench/cooc.md) */
    bool half;
    bool no_normalize;        /* every c_lang is 1 whatever the file says */
    const char *ref;          /* reference language; NULL: the file's */
    const char *skip;         /* tokens that training passes over, as struct cooc_skip has them;
                               * a file with another list is refused. NULL: not checked */
    /* the model's vocabulary; another in the file is refused. 0: not checked */
    uint64_t vocab_hash;
};
static const struct cooc_values_opts cooc_values_defaults = { .xmax = 100, .alpha = 0.75 };

struct cooc_values;

/* Reads the whole file (every checksum is checked). opts NULL: the defaults. NULL with a message:
 * not a .cooc file, corrupt, another vocabulary, other skipped tokens than opts->skip, a reference
 * language that is not in the file or has no tokens. */
struct cooc_values *cooc_values_load(const char *path, const struct cooc_values_opts *opts);

/* The tokens that counting passed over, as in struct cooc_skip: to be passed over in training.
 * Lives as long as v. */
const char *cooc_values_skip(const struct cooc_values *v, size_t *size);

/* log X and f(X); false, and both untouched, when X = 0 (or an id is out of range). Any number of
 * threads. */
bool cooc_value(const struct cooc_values *v, uint32_t row, uint32_t col, float *logx, float *f);

bool cooc_values_symmetric(const struct cooc_values *v);     /* words on both sides were counted */
/* tokens on either side that were counted */
uint32_t cooc_values_window(const struct cooc_values *v);
enum cooc_weights cooc_values_weights(const struct cooc_values *v);
uint32_t cooc_values_ids(const struct cooc_values *v);       /* ids are below this */
uint64_t cooc_values_pairs(const struct cooc_values *v);     /* stored pairs */
size_t cooc_values_bytes(const struct cooc_values *v);       /* memory held */
void cooc_values_free(struct cooc_values *v);                /* NULL is fine */

#endif
