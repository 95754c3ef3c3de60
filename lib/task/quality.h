/* The quality of a translation model on validation pairs, and measures that reveal a collapse
 * (NOTES, last section, point 8). */
#ifndef TASK_QUALITY_H
#define TASK_QUALITY_H
#include "lib/data/pairs.h"
#include "lib/engine/objective.h"

struct quality_options {
    int tokens;                      /* of a batch to translate */
    int sentences;                   /* of the validation text at most; 0: all */
    bool mask_vocab;                 /* the decoder says only words of the target language */
};

/* By greedy decoding; BLEU over words (BPE pieces "a@@ b" joined). */
struct quality {
    double bleu;
    /* share of hypothesis words that occur in the source sentence */
    double copied;
    double length_ratio;             /* hypothesis to reference */
    double distinct;                 /* distinct sentences / sentences */
    double vocabulary;               /* distinct words / the reference's distinct words */
    /* BLEU of translating the hypotheses back, against the source; NAN if not asked */
    double round_trip;
};
/* -1 with a message. */
int quality_measure(struct pass *p, const struct pairs *of, const struct quality_options *o,
                    bool round_trip, struct quality *q);
/* The most memory that takes, on the planning device. */
int quality_plan(struct pass *p, const struct pairs *of, const struct quality_options *o,
                 bool round_trip);

#endif
