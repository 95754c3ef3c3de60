/* Masked language modelling (Devlin et al. 2019, as XLM does it): 15% of the tokens are predicted; of these 80% read
 * <mask>, 10% a random word, 10% themselves. Specials are never chosen, but <unk>, which
 * stands for a word, is. */
#ifndef OBJECTIVE_MLM_H
#define OBJECTIVE_MLM_H
#include "lib/data/corpus.h"
#include "lib/engine/write_batches.h"

struct mlm_options { double select, mask, random; };     /* 0.15, 0.8, 0.1 */

/* A batch as the model reads it, and what is to be predicted. */
struct mlm_batch {
    struct batch input;
    uint32_t *original;              /* [rows] tokens before masking */
    int32_t *row, *target; uint8_t *masked; int n;   /* [n] predicted positions: row of input, token; is the input <mask>? */
    size_t original_cap, cap;
};

/* Adds a sample. Sentences get <s> and </s> around them (wrap); pieces of streams stand as they are. The draws depend on key
 * (purpose RNG_MASK) and the sample's number only. */
void mlm_add(struct mlm_batch *b, const struct sample *s, bool wrap, uint32_t vocab, const struct mlm_options *o, struct rng_key key);
/* The arrays of a batch whose mean loss is weighted by `weight`, for --write-batches. */
void mlm_arrays(struct batch_file *f, const struct mlm_batch *b, double weight);
void mlm_clear(struct mlm_batch *b);
void mlm_free(struct mlm_batch *b);

#endif
