/* Training an encoder-decoder to translate: from parallel text (mt), or without any (unmt; Lample et al. 2018, as XLM and
 * MLM-GC do it): denoising auto-encoding and on-the-fly back-translation, after a start on word-by-word pseudo-pairs. */
#ifndef OBJECTIVE_TRANSLATION_H
#define OBJECTIVE_TRANSLATION_H
#include "lib/model/decode.h"
#include "lib/data/corpus.h"
#include "lib/engine/memory.h"
#include "lib/engine/ramp.h"

/* Sentence pairs: side 0 is read, side 1 is written. */
struct pairs {
    struct shard_block side[2];
    int lang[2];                     /* the model's numbers */
    char name[80];                   /* "de-en" */
    uint32_t *order; int64_t order_epoch;
    int64_t epoch, next;             /* state */
};

/* From two files of BPE text (plain, gz, zst) or two shards, side i in language lang[i] of the model; as many sentences on both
 * sides, or -1. */
int pairs_load(struct pairs *p, const struct model_config *c, const struct vocab *v, char *const path[2], const char (*lang)[32]);
void pairs_free(struct pairs *p);

/* The noise that denoising undoes (Lample et al. 2018): tokens move less than `shuffle` places, vanish with probability drop,
 * become <mask> with probability blank. */
struct noise_options { int shuffle; double drop, blank; };        /* 3, 0.1, 0.1 */
/* out [n]; returns the number of tokens left, at least 1 for n >= 1. Draws depend on key (RNG_NOISE) and number only. */
int noise(const uint32_t *ids, int n, uint32_t *out, const struct noise_options *o, struct rng_key key, uint64_t number);

struct direction { int src, tgt; };                              /* corpora by index */

struct translation {
    struct model *m;
    struct tape *t;
    const struct vocab *vocab;
    struct corpora *mono;            /* unmt: the corpora; NULL in mt */
    struct direction *dir; int n_dir;/* unmt: back-translation directions */
    struct pairs *train; int n_train;/* mt: parallel text; unmt: pseudo-pairs */
    struct pairs *valid; int n_valid;
    int64_t pseudo_steps;            /* unmt: steps on pseudo-pairs before back-translation begins */
    struct ramp denoise;             /* unmt: weight of denoising, by step */
    struct noise_options noise;
    double smoothing;                /* of labels, 0.1 */
    bool mask_vocab;                 /* the decoder says only words of the target language (model_see) */
    int tokens;                      /* a micro-batch, both sides together divided by two */
    int denoise_tokens;
    int longest;
    int valid_sentences;
    bool by_round_trip;              /* the best model by round-trip BLEU (no parallel text needed) instead of BLEU */
    uint64_t seed;
};

int translation_run(struct translation *x, struct trainer *tr);

/* The memory that a run of a model of configuration c needs at most; as pretrain_plan. */
int translation_plan(const struct translation *x, const struct model_config *c, const struct kernels *like, int tokens, bool recompute, struct memory_need *need);

/* Quality of the model on validation pairs p, by greedy decoding: BLEU over words (BPE pieces "a@@ b" joined), and what a
 * collapse shows in. */
struct translation_quality {
    double bleu;
    double copied;                   /* share of hypothesis words that stand in the source sentence */
    double length_ratio;             /* hypothesis to reference */
    double distinct;                 /* distinct sentences / sentences */
    double vocabulary;               /* distinct words / the reference's distinct words */
    double round_trip;               /* BLEU of translating the hypotheses back, against the source; NAN if not asked */
};
int translation_measure(struct translation *x, const struct pairs *p, bool round_trip, struct translation_quality *q);

#endif
