/* An objective: a loss, the batches it is computed on, its options, what of it a checkpoint keeps.
 * One file in lib/objective and one row in lib/objective/table.c each; the engine (mix.h, step.h,
 * run.h) knows this struct and no loss by name.
 *
 * An objective has a pass of its own over batches of its own (mlm), rides on another one's pass
 * (gc: `on`, and no `forward`), or has a pass of its own over what it makes of another one's batch
 * (`on`, and `forward`: MLM on a code-switched copy).
 *
 * A step, for each of its micro-batches (turn), in the order of --objective:
 *   make      on the data thread, some micro-batches ahead: fills `batch`
 *   prepare   without gradients: back-translation, keys of a momentum encoder
 *   forward, loss (and those of the riders), backward
 * and once the optimiser has stepped: stepped. Gradients of all passes of a step add up. */
#ifndef ENGINE_OBJECTIVE_H
#define ENGINE_OBJECTIVE_H
#include "common/opt.h"
#include "common/vocab.h"
#include "lib/engine/state.h"
#include "lib/model/model.h"

struct corpora;
struct pairs;
struct pair_pool;
struct masking;
struct report;
struct batch_file;
struct ranks;

/* A micro-batch's number, which may key random draws: the same for every rank and every resumed
 * run. */
struct turn {
    int64_t step;                /* optimiser steps before this one */
    int64_t micro;               /* number of the micro-batch since the run began */
    uint64_t seed;
    /* another rank computes it, and nobody looks at the batch: `make` only moves on in the data */
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
    /* the text is runs of sentences (lib/data/documents.h), each to be cut in two segments */
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
    /* states [rows, dim] that riders see, set by forward */
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

enum {
    OBJECTIVE_PRETRAIN = 1,                      /* pretrain --objective may name it */
    OBJECTIVE_ALIGN = 2,                         /* align-post */
    OBJECTIVE_TASK = 4,                          /* a task of finetune may have it */
};

struct objective {
    const char *name, *about;                    /* the log's name of its loss; a line for --help */
    const char *about_align;                     /* the same for align-post's; NULL: about */
    /* "mlm mass": those it can ride on, the best first; NULL: a stream of its own */
    const char *on;
    unsigned used_by;
    bool decoder;                                /* the model has one */
    bool dict;                                   /* it reads dictionaries of tokens: --dict */
    size_t self, batch;                          /* bytes; both start as zeros */
    const struct opt *options;                   /* rows into self; NULL: none */
    /* names of its weight's option; NULL: NAME-weight */
    const char *weight;
    /* the weight's default, a ramp (ramp.h); NULL: 1 */
    const char *weight_value;
    void (*defaults)(void *self);
    /* after them: what is otherwise in this program (OBJECTIVE_*) */
    void (*presets)(void *self, unsigned used_by);
    /* Do the options fit together? -1 with a message that is a usage error. NULL: always. */
    int (*check)(const void *self);
    /* Does it fit a model of this shape? As check. NULL: any. */
    int (*fits)(const void *self, const struct model_config *c);
    /* Of a rider, before open: which objective it rides on. NULL: it need not know. */
    void (*rides)(void *self, const struct objective *host);
    /* Reads its files, adds heads and state. Nothing of the device or the model's weights is
     * there yet. -1 with a message. */
    int (*open)(void *self, struct setup *s);
    /* Adds tensors that are learnt beside the model's own (params_add_beside), to m that is laid
     * out and no more, also on the planning device. Checkpoints keep them with their moments in
     * state.safetensors; the model's folder does not have them. NULL: none. */
    void (*parameters)(void *self, struct model *m);
    /* The model has its first weights (resuming replaces them later, and the arrays registered
     * here). NULL: nothing to do. */
    int (*start)(void *self, struct pass *p, struct state *s);
    /* Steps that belong together because the first of them prepares for all: a run is saved and
     * stopped only at multiples of so many. NULL: 1. */
    int (*period)(const void *self);
    /* Does it take part in this step? NULL: in every one. Of riders: NULL always. */
    bool (*turn)(const void *self, int64_t step);
    /* under: the batch of `on` */
    int (*make)(void *self, void *batch, const void *under, const struct turn *at);
    /* `make` of a rider keeps nothing from one micro-batch for the next ones: it is not called for
     * those that another rank computes */
    bool keeps_nothing;
    int (*prepare)(void *self, void *batch, struct pass *p);
    /* In place of prepare and what follows: another rank computes this micro-batch. NULL: nothing
     * to do. */
    void (*passed)(void *self, void *batch);
    /* NULL: it rides */
    int (*forward)(void *self, void *batch, struct pass *p);
    /* Adds the gradient of scale * mean loss to the states, and its losses to the log. */
    int (*loss)(void *self, void *batch, struct pass *p, float scale);
    /* Of one with `on` and a pass of its own: looks at the pass of `on` while its states are
     * there, before backward. */
    int (*watch)(void *self, void *batch, struct pass *under);
    /* With several ranks, after the passes of a step of so many micro-batches, of which each has
     * done its tree_range: gives the others what `stepped` needs of them. NULL: nothing. */
    int (*gather)(void *self, struct ranks *ranks, int micro_batches);
    /* steps done, this one included */
    int (*stepped)(void *self, struct pass *p, int64_t step);
    int (*validate)(void *self, struct pass *p, struct report *r);
    /* Micro-batches in a pass over the data of its own stream, for --mix by-data; after open.
     * NULL: it has none. */
    double (*epoch)(const void *self);
    /* The largest batch that it can make with micro-batches of so many tokens; forward and loss
     * run on it on the planning device. */
    int (*largest)(void *self, void *batch, const void *under, int tokens);
    /* Bytes of the device that it holds besides (a momentum encoder, a queue), for the memory
     * plan. NULL: none. */
    size_t (*holds)(const void *self, const struct model_config *c);
    /* Of these the bytes that a checkpoint copies. NULL: none. */
    size_t (*keeps)(const void *self, const struct model_config *c);
    /* What the model read and predicted in this batch, by the names of docs/formats/batches.md:
     * after its pass and `watch`. */
    void (*write)(const void *self, const void *batch, const struct pass *p, struct batch_file *to);
    void (*batch_free)(void *batch);
    void (*close)(void *self);
};

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
