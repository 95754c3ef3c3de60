/* Pre-training an encoder: masked language modelling, alone or regularised by co-occurrence counts,
 * L = L_MLM + lambda L_GC (MLM-GC, Eq. 4). */
#ifndef OBJECTIVE_PRETRAIN_H
#define OBJECTIVE_PRETRAIN_H
#include "lib/objective/gc.h"
#include "lib/engine/memory.h"
#include "lib/engine/trainer.h"

struct pretrain {
    struct model *m;
    struct tape *t;
    struct corpora *train;
    struct corpus *valid; int n_valid;
    int valid_sentences;             /* of each validation corpus, at most */
    const struct cooc_values *x;     /* NULL: no GC */
    struct mlm_options mlm;
    struct gc_options gc;
    int tokens;                      /* a micro-batch has at least this many, by its last sentence */
    int longest;                     /* samples with more tokens are passed over */
    bool stream;                     /* samples are pieces of a stream, not sentences */
    bool gradient_norms;             /* at each log line also the two objectives' own gradient norms (two extra passes) */
    uint64_t seed;
    /* private */
    struct mlm_batch b;
    struct gc_batch g;
};

/* The losses of one micro-batch, on the device until the tape's next reset: mlm [predicted], gc [targets], best [predicted] (the
 * likeliest words). NULL: the objective took no part, or nothing was predicted. */
struct pretrain_loss { const float *mlm, *gc; const int32_t *best; int predicted, targets, pairs; };

/* Forward and backward of one micro-batch already in p->b (and p->g): gradients are those of scale * (mean MLM loss +
 * lambda * mean GC loss). with_mlm, with_gc: which objectives take part. Does not wait for the device. */
void pretrain_pass(struct pretrain *p, bool train, bool with_mlm, bool with_gc, float scale, struct pretrain_loss *loss);
/* The sum of n losses; waits for them. x NULL: 0. */
double pretrain_sum(const struct kernels *k, const float *x, int n);

/* Trains until the trainer stops; validation perplexity (mean over languages of the log) judges. 0 or -1. */
int pretrain_run(struct pretrain *p, struct trainer *tr);

/* The memory that a run of a model of configuration c needs at most, with micro-batches of so many tokens: of *p what shapes a batch
 * is read, p->m and p->t are not. */
int pretrain_plan(const struct pretrain *p, const struct model_config *c, const struct kernels *like, int tokens, bool recompute, struct memory_need *need);

/* Would anything of validation corpus i be predicted? */
bool pretrain_predicts(struct pretrain *p, int i);
void pretrain_free(struct pretrain *p);

/* Mean negative log likelihood a predicted token of validation corpus i, masks the same every time; NAN if nothing is predicted. */
int pretrain_validate(struct pretrain *p, int i, double *nll, double *accuracy);

#endif
