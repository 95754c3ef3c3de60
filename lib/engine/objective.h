/* An objective: a loss, the batches it is computed on, its options, what of it a checkpoint keeps.
 * One file in lib/objective and one row in lib/objective/table.c each; the engine (mix.h, run.h)
 * knows this struct and no loss by name.
 *
 * An objective has a pass of its own over batches of its own (mlm), or is auxiliary to another one,
 * its host: it adds a loss to the host's pass (gc: `hosts`, and batches without `forward`), or has
 * a pass of its own over what it makes of the host's batch (`hosts`, and `forward`: MLM on a
 * code-switched copy).
 *
 * A step, for each of its micro-batches (turn), in the order of --objective:
 *   make      on the data thread, some micro-batches ahead: fills `batch`; no model to look at
 *   prepare   the model is at hand, without gradients: back-translation, keys of a momentum encoder
 *   forward, loss (and auxiliary ones), watch (of those with a pass of their own), backward
 *   write     with --write-batches
 * and once the optimiser has stepped: stepped. Gradients of all passes of a step add up. */
#ifndef ENGINE_OBJECTIVE_H
#define ENGINE_OBJECTIVE_H
#include "common/prog/opt.h"
#include "common/text/vocab.h"
#include "lib/model/model.h"
#include "lib/trainer/state.h"

struct corpora;
struct pairs;
struct pair_pool;
struct masking;
struct report;
struct batch_file;
struct memory_need;
struct ranks;

/* A micro-batch's number, which may key random draws: the same for every rank and every resumed
 * run. */
struct turn {
    int64_t step;                /* optimiser steps before this one */
    int64_t micro;               /* number of the micro-batch since the run began */
    uint64_t seed;
    /* another rank computes it, and the batch is not read here: `make` only moves on in the data */
    bool passed;
    int accumulate;              /* micro-batches per step; micro = step * accumulate + a */
};
/* The key of a turn's draws for a purpose. */
static inline struct rng_key turn_key(const struct turn *at, enum rng_purpose purpose)
{
    return (struct rng_key){ at->seed, purpose, (uint32_t)(at->step + 1) };
}

/* What `open` finds: the data that was given (NULL or 0: none), the model's configuration, to which
 * it may add heads (its parameters are not allocated yet), and the run's state. */
struct setup {
    struct model_config *c;
    const struct vocab *vocab;
    struct corpora *text;                        /* monolingual text to train on */
    struct corpus *valid; int n_valid;           /* and to validate on */
    struct pairs *pairs; int n_pairs;            /* sentence pairs, side 0 and side 1 */
    struct pairs *valid_pairs; int n_valid_pairs;
    /* all pairs to train on as one pool, of which every objective gets the same in a turn; NULL:
     * each takes its own from `pairs` */
    struct pair_pool *pool;
    const struct masking *masking;               /* what is masked, and how */
    const struct strs *dicts;                    /* SRC-TGT=FILE: translations of tokens */
    bool dict_skip;                              /* lines of unknown tokens: left out, no error */
    /* a word of one language occurs in its text more often than that, and not in the other's */
    int64_t specific;
    struct state *state;
    int tokens;                                  /* of a micro-batch */
    int accumulate;                              /* micro-batches per step */
    /* of a micro-batch; 0: `tokens` says how long it is */
    int sentences;
    /* most tokens of a sentence, specials not counted */
    int longest;
    int valid_sentences;                         /* of each validation text at most; 0: all */
    /* the text is streams: its pieces stand without <s> and </s> */
    bool stream;
    /* the text is runs of sentences (lib/data/corpus.h), each to be cut in two segments */
    bool documents;
    /* sentence pairs are joined, up to so many tokens on a side, and have their <s> and </s> in
     * place; 0: they are not */
    int segment;
    uint64_t seed;
    /* options that a task's objectives share; the task says which struct */
    const void *task;
};

/* One forward pass over the model, and what it adds to the log. */
struct pass {
    struct model *m;
    struct tape *t;
    const struct vocab *vocab;
    /* on the planning device: shapes count, numbers do not */
    bool planning;
    /* rows of what the encoder reads that are mixtures of embeddings (tape.h); NULL: none */
    const struct mixture *mix;
    /* states [rows, dim] that auxiliary losses see, set by forward */
    struct var *h;
    /* the encoder's states [rows of the encoder, dim] where h is a decoder's; else NULL */
    struct var *encoder;
    int rows;                                    /* tokens read, of all batches of the pass */
    /* of one batch: rows, the longest sentence; rows of the output layer */
    int most_rows, longest, predicted;
    struct pass_term {
        const char *name;
        const float *x;
        int n;
        double sum, count;
    } term[12];
    int terms;
};
/* For the log: the mean of x [n] on the device, alive until the tape's next reset (NULL:
 * nothing); sum / count of numbers at hand. */
void pass_losses(struct pass *p, const char *name, const float *x, int n);
void pass_number(struct pass *p, const char *name, double sum, double count);
/* Notes that `rows` tokens are read, the longest sentence having `longest`; that n rows go
 * through the output layer. */
void pass_reads(struct pass *p, int rows, int longest);
void pass_predicts(struct pass *p, int n);

/* The halves of an encoder-decoder; of a batch without a decoder both are the encoder. */
enum batch_side { BATCH_DECODER, BATCH_ENCODER };
/* The states of one half. */
struct var *pass_states(const struct pass *p, enum batch_side side);

/* What an objective sees of its host's batch: one half's sentences, what stood at their
 * rows before some were masked [rows], what the encoder reads in its place [rows], and which n rows
 * the pass predicts, ascending (NULL: every row). */
struct batch_view {
    const struct batch *sentences;
    const uint32_t *original;
    const int32_t *read, *predicted;
    int n;
};

/* What batches of one kind have in common, whichever objective makes them: batch_masked (masked.h),
 * batch_headed, batch_seq2seq; or those of one objective. self: the objective's. */
struct batch_kind {
    size_t size;                                 /* bytes; a batch starts as zeros */
    void (*free)(void *batch);
    /* The model's pass over it: sets p->h. NULL: its objective adds to its host's pass. */
    int (*forward)(void *self, void *batch, struct pass *p);
    /* Adds the gradient of scale * mean loss to the states, and the losses to the log: the loss of
     * every objective that has no other. */
    void (*loss)(void *self, void *batch, struct pass *p, const char *name, float scale);
    /* What the model read and predicted in it, by the names of docs/formats/batches.md: after its
     * pass and `watch`. */
    void (*write)(const void *self, const void *batch, const struct pass *p, struct batch_file *to);
    /* The largest batch with micro-batches of so many tokens; forward and loss run on it on the
     * planning device. host_batch: as of `make`. */
    int (*largest)(void *self, void *batch, const void *host_batch, int tokens);

    /* For auxiliary objectives, NULL where there can be none. With these, forward, loss and write
     * may be called with another objective's self. */
    struct batch_view (*view)(const void *batch, enum batch_side side);
    void (*clear)(void *batch);
    /* Appends sentence s of `from` and what is predicted of it. Sentences are taken in their order,
     * all of one `from` since `to` was cleared. */
    void (*copy)(void *to, const void *from, int s);
};

/* Where ranks share out a step's micro-batches. */
struct objective_ranks {
    /* `make` of an auxiliary objective keeps nothing from one micro-batch for the next ones: it is
     * not called for those that another rank computes */
    bool keeps_nothing;
    /* In place of prepare and what follows: another rank computes this micro-batch. NULL: nothing
     * to do. */
    void (*passed)(void *self, void *batch);
    /* After the passes of a step of so many micro-batches, of which each rank has done its
     * tree_range: gives the others what `stepped` needs of them. NULL: nothing. */
    int (*gather)(void *self, struct ranks *ranks, int micro_batches);
};

enum {
    OBJECTIVE_PRETRAIN = 1,                      /* pretrain --objective may name it */
    OBJECTIVE_ALIGN = 2,                         /* align-post */
    OBJECTIVE_TASK = 4,                          /* a task of finetune may have it */
};

/* NULL hooks: nothing to do. int hooks: -1 with a message. */
struct objective {
    const char *name, *about;                    /* the log's name of its loss; a line for --help */
    const char *about_align;                     /* the same for align-post's; NULL: about */
    /* "mlm mass": those that can be its host, the best first; NULL: a stream of its own */
    const char *hosts;
    unsigned used_by;                            /* OBJECTIVE_* */
    bool decoder;                                /* the model has one */
    bool dict;                                   /* it reads dictionaries of tokens: --dict */
    bool pairs;                                  /* it reads sentence pairs (--parallel), no text */
    bool valid_pairs;                            /* validate is on sentence pairs, not on text */
    /* validate is this objective's, with the same names in the log: once, where both are chosen */
    const char *valid_as;
    size_t self;                                 /* bytes; starts as zeros */
    const struct batch_kind *batch;
    const struct objective_ranks *ranks;
    const struct opt *options;                   /* rows into self */
    const char *weight;                          /* its weight's option; NULL: NAME-weight */
    const char *weight_value;                    /* its default, a ramp (mix.h); NULL: 1 */

    /* --- before the run; what check and fits say is a usage error */
    void (*defaults)(void *self);
    /* after them: what is otherwise in this program */
    void (*presets)(void *self, unsigned used_by);
    /* which objective is its host */
    void (*attach)(void *self, const struct objective *host);
    int (*check)(const void *self);              /* do the options fit together? */
    int (*fits)(const void *self, const struct model_config *c);     /* and this model? */
    /* Reads its files, adds heads and state. Nothing of the device or the model's weights is
     * there yet. */
    int (*open)(void *self, struct setup *s);
    /* Adds tensors that are learnt besides the model's own (params_add_extra), to m that is laid
     * out and no more, also on the planning device. Checkpoints keep them with their moments in
     * state.safetensors; the model's folder does not have them. */
    void (*parameters)(void *self, struct model *m);
    /* Adds to the memory plan what it holds on the device besides (a momentum encoder, a queue):
     * to need->params, and what a checkpoint copies of it: to need->host. */
    void (*memory)(const void *self, const struct model_config *c, struct memory_need *need);
    /* The model has its first weights (resuming replaces them later, and the arrays registered
     * here). */
    int (*start)(void *self, struct pass *p, struct state *s);
    /* Steps that belong together because the first of them prepares for all: a run is saved and
     * stopped only at multiples of so many. NULL: 1. */
    int (*period)(const void *self);
    /* Micro-batches in a pass over the data of its own stream, for --epochs and --mix by-data;
     * after open. NULL: it has none. */
    double (*epoch)(const void *self);

    /* --- a step, in this order */
    /* Does it take part? NULL: in every step. With `hosts`: NULL always. */
    bool (*turn)(const void *self, int64_t step);
    /* On the data thread. host_batch: NULL without a host. */
    int (*make)(void *self, void *batch, const void *host_batch, const struct turn *at);
    int (*prepare)(void *self, void *batch, struct pass *p);
    /* As batch->loss, in its place. NULL: that. */
    int (*loss)(void *self, void *batch, struct pass *p, float scale);
    /* Of one with a host and a pass of its own: looks at the host's pass while its states are
     * there, before backward. */
    int (*watch)(void *self, void *batch, struct pass *host_pass);
    /* steps done, this one included */
    int (*stepped)(void *self, struct pass *p, int64_t step);

    int (*validate)(void *self, struct pass *p, struct report *r);
    void (*close)(void *self);
};

/* Its loss, whoever's it is: o's own or that of its batches. */
int objective_loss(const struct objective *o, void *self, void *batch, struct pass *p, float scale);

/* What judges a run: an objective's validation, or a task's metric. */
struct judge {
    void *self;
    int (*validate)(void *self, struct pass *p, struct report *r);
    /* the memory of validate, on the planning device; NULL: small */
    int (*plan)(void *self, struct pass *p, int tokens);
    bool lower_is_better;
};

/* Numbers of a validation, on their way to the log. */
struct report { struct log *log; int64_t step; double metric; bool begun, judged; };
void report_put(struct report *r, double value, const char *name, ...)
    __attribute__((format(printf, 3, 4)));
/* The number that picks the best model: the first one that is reported counts. */
void report_judge(struct report *r, double metric);

#endif
