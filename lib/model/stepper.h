/* The decoder, one word of every hypothesis at a time: keys and values of earlier words are cached,
 * those of the source are computed once. A step reads and writes device memory only (kernels.h,
 * struct kern_beam says which hypothesis is where), and is the same calls as the step before with
 * as many rows. */
#ifndef MODEL_STEPPER_H
#define MODEL_STEPPER_H
#include "lib/model/model.h"

struct stepper {
    struct model *m;
    const struct kernels *k;
    /* a layer: [rows of the cache, 2D] keys and values of the target side */
    act **cache;
    /* a layer: [source rows, 2D] keys and values of the source side */
    act **memory;
    act *x, *y, *z, *qkv, *a, *f, *logits;
    int32_t *lang, *first, *one;     /* [rows] the language; 0, 1, ..; 1 */
    const int32_t *src_at, *src_len; /* [rows] a row's source: the caller's, device */
    int max_keys, max_src;
};

/* For at most `rows` hypotheses at once, with `cached` rows of cache in all and at most `longest`
 * of one hypothesis; they say words of language `lang`. Device memory is the tape's, until its next
 * reset; stepper_free frees the rest. */
void stepper_init(struct stepper *s, struct model *m, struct tape *t, const struct var *memory,
                  const struct spans *src, int rows, int cached, int longest, int lang);
void stepper_free(struct stepper *s);

/* Logits [rows, vocab] of what follows, for the first `rows` of b's rows; they stay until the
 * next step. */
const act *stepper_step(struct stepper *s, const struct kern_beam *b, int rows);

#endif
