/* Translation by an encoder-decoder: greedy and beam search with key/value caches. Deterministic:
 * the result for a sentence does not depend on what else is in the batch beyond the products'
 * rounding, and ties go to the lowest id. */
#ifndef MODEL_DECODE_H
#define MODEL_DECODE_H
#include "lib/model/model.h"

struct decode_options {
    int beam;                    /* 1: greedy */
    int n_best;                  /* hypotheses a sentence, <= beam */
    double length_penalty;       /* scores are sum log p / length^this (length with </s>) */
    /* at most ratio * source length + extra tokens (specials not counted) */
    double max_ratio; int max_extra;
    /* a sentence ends with its beam-th complete hypothesis; else when no hypothesis under way
     * can reach the beam best */
    bool early;
    /* [vocab] host: words the decoder may say besides </s>; NULL: all. Specials never are. */
    const uint8_t *seen;
};
/* beam 1, penalty 1, 1.3 len + 5: greedy as in MLM-GC, with the limit of XLM's back-translation
 * (docs/papers.md, "Values that differ") */
void decode_options_init(struct decode_options *o);

/* A translation: n tokens without specials. score as in length_penalty; log_p the plain sum,
 * </s> included. */
struct hyp { uint32_t *ids; int n; double score, log_p; };

/* Hypotheses of all sentences: sentence i has hyp[i * n_best .. + count[i]), best first. */
struct hyps { struct hyp *hyp; int *count; int sentences, n_best; uint32_t *store; };
void hyps_free(struct hyps *h);

/* Translates the sentences of src (<s> w .. </s>, language set) into language tgt_lang (its index).
 * Resets the tape. Empty source sentences (only specials) give empty translations. -1 with a
 * message (no decoder, sentence too long). */
int decode(struct model *m, struct tape *t, const struct batch *src, int tgt_lang,
           const struct decode_options *o, struct hyps *out);

/* How many words the translation of a sentence of so many may have: XLM's max_ratio n + max_extra,
 * and no more than the decoder has positions; neither counts <s> and </s>. */
int decode_limit(const struct model_config *c, const struct decode_options *o, int words);

/* What that means word by word, for kernels.h's `allowed` [vocab]; host, malloc'd. */
uint8_t *decode_mask(int vocab, const uint8_t *seen);

/* --- many sentences --------------------------------------------------------------------------- */

/* Translates many sentences: in batches of like length, several batches at a time where threads
 * are free. */

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
