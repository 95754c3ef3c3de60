/* Translates many sentences: in batches of like length, several batches at a time where threads
 * are free. */
#ifndef MODEL_DECODE_MANY_H
#define MODEL_DECODE_MANY_H
#include "lib/model/decode.h"

/* one tape per thread, made when first needed */
struct decoder { struct model *m; struct tape *t; int tapes; };
void decoder_init(struct decoder *d, struct model *m);
void decoder_free(struct decoder *d);

/* As decode (decode.h), with its result: the sentences of src, longest first, in batches of up to
 * `tokens` tokens (one sentence at least) and `sentences` sentences (0: any number). The batches
 * are the same for any number of threads, and so is the result. */
int decode_many(struct decoder *d, const struct batch *src, int tgt_lang,
                const struct decode_options *o, int tokens, int sentences, struct hyps *out);

#endif
