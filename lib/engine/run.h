/* A training program's upper half: its options, and what it opens in turn.
 *
 *   run_init(&run);  ... groups with run_groups, prog_start ...
 *   run_from(&run, dir)            the model it starts from gives shape and vocabulary
 *   run_open(&run)                 device, vocabulary; records the options
 *   ... languages, data, mix_open ...
 *   run_steps(&run, batches, ...)  memory, model, folder, steps; the program's status, or -1
 *   run_close(&run) */
#ifndef ENGINE_RUN_H
#define ENGINE_RUN_H
#include "kernels/options.h"
#include "lib/engine/memory.h"
#include "lib/engine/mix.h"
#include "lib/trainer/options.h"
#include "lib/trainer/trainer.h"

/* --- the loop --------------------------------------------------------------------------------- */

/* The loop of every training program: batches made ahead on a thread of their own, the passes of a
 * step, the optimiser, validation; until the trainer says stop. */

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

/* --- a whole run ------------------------------------------------------------------------------ */

struct run {
    struct trainer_options train;
    struct run_options how;
    struct kern_options device;
    struct text_files text;
    uint64_t seed;
    float init_std;              /* of first weights, normal (RoBERTa); 0: as model_new draws */
    /* "N" steps or "P%" of them; passes over the data in place of --steps; 0: no */
    const char *warmup; double epochs;
    int batch;                   /* examples per micro-batch, where they are counted; 0: tokens */
    /* folder; vocabulary; model to start from; vectors to start from */
    const char *out, *vocab_path, *init, *vectors;
    bool replace_invalid;
    struct model_config shape;
    struct mix mix;
    struct engine engine;
    struct state state;
    /* opened */
    struct ranks *ranks;                             /* NULL: it runs alone */
    bool notified;                                   /* another rank says why it could not start */
    const struct kernels *kernels;
    struct model m;
    struct tape t;
    struct trainer tr;
    struct vocab *vocab;
    struct memory_need need;
    char *from, *from_vocab;                         /* the model's folder, the vocabulary there */
};

/* Of a program that trains from nothing: --vocab, --out, --init, --init-std. */
extern const struct opt run_folder_rows[];
void run_init(struct run *r);
/* Appends the groups "Model" and "Run" to g, which has n already; returns their number then. */
int run_groups(struct run *r, struct opt_group *g, int n, bool decoder);
/* "Run" alone, for a program whose model is another one's, and its dropout's rows. */
int run_loop_groups(struct run *r, struct opt_group *g, int n);
extern const struct opt run_dropout_rows[];

/* Where a launcher started this as one of several ranks: meets the others. Whatever reads files
 * calls it first, so that one that fails is named once. */
int run_join(struct run *r);
/* Where --init was given: finds its folder, and takes shape and vocabulary from it where no
 * option says otherwise. */
int run_from(struct run *r);
/* Instead of that, for a program that continues with the encoder of --init as it is: shape,
 * languages, vocabulary; without its decoder and heads. */
int run_continue(struct run *r);
int run_open(struct run *r);
/* The part after the data are open. Epochs and shares become steps, from the number of
 * micro-batches in a pass over the data. The memory that micro-batches of that many tokens need is
 * compared with what is free. The model is made and its first weights drawn; then `ready` is called
 * (NULL: nothing), those of --init and
 * --init-embeddings are taken, and the objectives start. Then it trains in the folder. The exit
 * status (PROG_AGAIN: stopped, saved), or -1 with a message. */
int run_steps(struct run *r, double micro_batches, int tokens,
              void (*ready)(void *with, struct model *m), void *with);
/* The exit status of a program whose run ended with rc (run_steps's, or -1 with a message).
 * The message is printed by one rank only, and names the rank that failed. Disconnects from the
 * others. */
int run_end(struct run *r, int rc);
void run_close(struct run *r);

#endif
