/* The loop of every training program: batches made ahead on a thread of their own, the passes of a
 * step, the optimiser, validation; until the trainer says stop. */
#ifndef ENGINE_STEP_H
#define ENGINE_STEP_H
#include "lib/engine/memory.h"
#include "lib/engine/mix.h"
#include "lib/trainer/trainer.h"

struct engine {
    struct mix *mix;
    struct judge judge;          /* zeros: the first objective that validates judges */
    struct pass with;            /* the model, its tape, the vocabulary */
    /* the last model is the result, not that of the best validation */
    bool keep_last;
    uint64_t seed;
    int share;                   /* ranks that share out the optimiser, LAMB's in whole tensors */
    bool whole_tensors;
    /* at each log line also each objective's own gradient norm (a pass more for each) */
    bool gradient_norms;
};

/* Trains until tr stops. 0, or -1 with a message. */
int engine_run(struct engine *e, struct trainer *tr);

/* The most memory that a run with a model of configuration c needs: the largest batch of each
 * objective, and the validation, on the planning device. Of *e the mix and the judge are read. -1
 * with a message. */
int engine_plan(const struct engine *e, const struct model_config *c, const struct kernels *like,
                int tokens, bool recompute, struct memory_need *need);

#endif
