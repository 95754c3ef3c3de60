/* A batch some of whose tokens are masked and predicted: the batch of MLM and TLM, on which
 * other objectives ride. */
#ifndef BATCH_MASKED_H
#define BATCH_MASKED_H
#include "lib/data/corpus.h"
#include "lib/engine/objective.h"
#include "lib/engine/write_batches.h"
#include "lib/masking/masking.h"

struct masked {
    struct batch input;
    /* [rows] tokens before masking, languages before switching */
    uint32_t *original; int32_t *original_lang;
    /* [n] row of input, its token, the unit it was drawn with; reads it <mask>? */
    int32_t *row, *target, *unit; uint8_t *masked;
    int n, units;
    /* [input.n] of documents: 1 where the second segment stands first; unset of others */
    int32_t *swapped;
    struct masked_token *chosen;                     /* room for a sentence */
    int copied;                                      /* predicted rows passed over by masked_copy */
    size_t original_cap, predicted_cap, chosen_cap, swapped_cap;
};

/* From the setup of an objective: the shares, the scheme and the lists of s->masking. -1 with a
 * message: the lists. */
int masked_masker_open(struct masker *k, const struct setup *s);
void masked_masker_free(struct masker *k);

/* Adds a sentence of n_parts parts, which stand as they are (specials in place), and chooses
 * among its tokens (k NULL: none). */
void masked_add(struct masked *b, const struct masker *k, const struct batch_part *parts,
                int n_parts, uint64_t sample, struct rng_key key);
/* As batch_kind.copy. */
void masked_copy(void *to, const void *from, int s);
/* Adds a run of c's sentences as two segments, <s> a </s> b </s>, positions running on, token types
 * 0 and 1 if the model has them, cut and perhaps swapped as documents_cut draws it by `key`. */
void masked_add_document(struct masked *b, const struct masker *k, const struct corpus *c,
                         const struct sample *x, bool types, struct rng_key key);
void masked_clear(void *batch);
void masked_free(void *batch);
/* Cross entropy of the predicted tokens; adds the gradient of scale * mean, and the losses to the
 * log under `name`. NULL best: not wanted; else *best gets the likeliest tokens [n], on the
 * device. */
void masked_loss(const struct masked *b, struct pass *p, const char *name, float scale,
                 const int32_t **best);

/* Sums over validation batches: of -log p, of tokens predicted, of those predicted rightly. */
struct masked_score { double nll, n, hits; };
/* Runs b without training and adds to *s. -1 with a message. */
int masked_score(struct masked *b, struct pass *p, struct masked_score *s);
/* Puts NAME.perplexity and NAME.accuracy into r. The mean of -log p, in nats. */
double masked_report(const struct masked_score *s, const char *name, struct report *r);

/* What the selves of objectives with batches of this kind begin with. */
struct masked_self {
    struct masker masker;
    struct setup s;
    int longest;                                     /* rows of the longest sentence or pair */
};
extern const struct batch_kind batch_masked;
/* Its hooks, for kinds that begin with a struct masked; self may be NULL, but in masked_largest.
 * masked_write writes the arrays of docs/formats/batches.md. */
int masked_forward(void *self, void *batch, struct pass *p);
void masked_write(const void *self, const void *batch, const struct pass *p,
                  struct batch_file *f);
int masked_largest(void *self, void *batch, const void *host_batch, int tokens);

/* Device numbers summed on the host; waits for them. x NULL: 0. */
double masked_device_sum(const struct kernels *k, const float *x, int n);

#endif
