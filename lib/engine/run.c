#include "lib/engine/run.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/msg.h"
#include "common/prog/prog.h"
#include "common/prog/signals.h"
#include "common/text/text.h"
#include "common/thread.h"
#include "lib/graph/profile.h"
#include "lib/model/options.h"
#include "lib/trainer/run_folder.h"

/* --- options ---------------------------------------------------------------------------------- */

const struct opt run_folder_rows[] = {
    { "vocab", 'v', OPT_STR(run, vocab_path), "FILE",
      "the vocabulary of all shards (default: that of --init)" },
    { "out|dump-path", 'o', OPT_STR(run, out), "DIR", "the run's folder" },
    { "init|reload-model", 0, OPT_STR(run, init), "DIR",
      "start from this model: its weights and, where no option says otherwise, its shape" },
    { "init-std", 0, OPT_FLOAT(run, init_std), "S",
      "standard deviation of the normal initial weights (RoBERTa: 0.02); 0: XLM's initialisation, "
      "with dim^-0.5 for embeddings",
      .min = 0, .max = 10 },
    { 0 }
};
static const struct opt start_rows[] = { { "init-embeddings|reload-emb", 0, OPT_STR(run, vectors),
                                           "FILE", "start token embeddings from these vectors" },
                                         { "replace-invalid", 0, OPT_FLAG(run, replace_invalid),
                                           NULL,
                                           "replace bytes of words that are not UTF-8 by U+FFFD, "
                                           "as vectors have them (default: they are an error)" },
                                         { 0 } };
const struct opt run_dropout_rows[] = {
    { "dropout", 0, OPT_FLOAT(run, shape.dropout), "P",
      "dropout probability of hidden states (default: that of the model it starts from)", .min = 0,
      .max = 0.99 },
    { "attention-dropout", 0, OPT_FLOAT(run, shape.attention_dropout), "P",
      "dropout probability of attention weights (default: that of the model it starts from)",
      .min = 0, .max = 0.99 },
    { 0 }
};
static const struct opt schedule_rows[] = {
    { "epochs", 0, OPT_REAL(run, epochs), "E",
      "train for E passes over the training data instead of --steps", .min = 0, .max = 1e9 },
    { "warmup|warmup-updates", 0, OPT_STR(run, warmup), "N",
      "steps of linear warm-up from 0 to the peak learning rate, or a share of all steps (10%)" },
    { 0 }
};
static const struct opt norm_rows[] = { { "gradient-norms", 0, OPT_FLAG(run, engine.gradient_norms),
                                          NULL,
                                          "log the gradient norm of each objective, where there "
                                          "are several (one pass more for each, per log line)" },
                                        { 0 } };

void run_init(struct run *r)
{
    *r = (struct run){
        .seed = 1, .warmup = "10000", .device = kern_defaults, .engine = { .gradient_norms = true }
    };
    /* what all ranks would say, only the first says */
    if (ranks_launched_rank() > 0) msg_set_mute(true);
    trainer_options_init(&r->train);
    model_options_init(&r->shape);
    /* a pointer into *r: a struct run does not move from here on */
    r->engine.mix = &r->mix;
}

int run_groups(struct run *r, struct opt_group *g, int n, bool decoder)
{
    g[n++] = (struct opt_group){ "Model (default with --init: as that one)", model_rows,
                                 &r->shape };
    if (decoder) g[n++] = (struct opt_group){ NULL, model_decoder_rows, &r->shape };
    g[n++] = (struct opt_group){ NULL, start_rows, r };
    return run_loop_groups(r, g, n);
}

int run_loop_groups(struct run *r, struct opt_group *g, int n)
{
    g[n++] = (struct opt_group){ "Run", trainer_rows, &r->train };
    g[n++] = (struct opt_group){ NULL, schedule_rows, r };
    g[n++] = (struct opt_group){ NULL, run_options_rows, &r->how };
    g[n++] = (struct opt_group){ NULL, kern_rows, &r->device };
    g[n++] = (struct opt_group){ NULL, opt_seed_rows, &r->seed };
    g[n++] = (struct opt_group){ NULL, norm_rows, r };
    g[n] = (struct opt_group){ 0 };
    return n;
}

/* --- a run ------------------------------------------------------------------------------------ */

/* By the thread that moves messages, when the run is lost: the process ends after it. */
static void on_failure(const char *message)
{
    err_set("%s", message);
    (void)prog_fail();
}

int run_join(struct run *r)
{
    struct ranks_launch l;
    const struct ranks_transport *t;
    /* here, since run_join is called before any file is read */
    if (r->replace_invalid) text_replace_all();
    /* run_from and run_open both join, whichever comes first */
    if (r->ranks) return 0;
    if (ranks_launch(&l) < 0) return -1;
    if (l.by == RANKS_ALONE) return 0;
    if (!(t = ranks_transport(&l))) return -1;
    /* said before anything waits: a rank that never comes looks like a run that hangs */
    if (l.by == RANKS_TCP)
        msg_note("rank 0 of %d, by %s: waiting for the others at %s:%d", l.size, l.variables,
                 l.host, l.port);
    double patience = (double)r->train.rank_timeout;
    if (!(r->ranks = ranks_open(t, patience, on_failure, &r->notified))) return -1;
    r->train.ranks = r->ranks;
    /* ranks compare what they have read (agree): only then are files summed */
    r->state.summed = true;
    /* again: of MPI the environment may not have said the rank (run_init) */
    if (ranks_rank(r->ranks)) msg_set_mute(true);
    /* Ranks that may run on the same processors share them: each with all threads would be slower
     * than one rank. */
    int sharing = ranks_sharing_processors(r->ranks);
    if (sharing > 1 && !prog_given("threads")) {
        int share = par_threads() / sharing;
        par_threads_set(share > 1 ? share : 1);
    }
    msg_note("%s: %d ranks, %d on this machine", t->name, ranks_size(r->ranks),
             ranks_local_size(r->ranks));
    return 0;
}

int run_from(struct run *r)
{
    struct model_config c;
    if (run_join(r) < 0) return -1;
    if (!r->init) return 0;
    if (!(r->from = run_model_dir(r->init)) || model_read_config(&c, r->from) < 0) return -1;
    /* an option that was given wins over the model's value */
    model_options_take(&r->shape, &c);
    /* --vocab may name a vocabulary of its own: tokens are then matched by spelling */
    if (!r->vocab_path) r->vocab_path = r->from_vocab = path_join(r->from, "vocab");
    return 0;
}

int run_continue(struct run *r)
{
    struct model_config c;
    /* before the model's configuration takes their place */
    float dropout = r->shape.dropout, attention = r->shape.attention_dropout;
    if (run_join(r) < 0) return -1;
    if (!(r->from = run_model_dir(r->init)) || model_read_config(&c, r->from) < 0) return -1;
    r->vocab_path = r->from_vocab = path_join(r->from, "vocab");
    r->shape = c;
    /* align-post trains the encoder: a decoder or a head of the model stays out */
    r->shape.decoder_layers = r->shape.n_heads = 0;
    r->shape.decoder_langs = false;
    if (prog_given("dropout")) r->shape.dropout = dropout;
    if (prog_given("attention-dropout")) r->shape.attention_dropout = attention;
    return 0;
}

static int open_device(struct run *r)
{
    const struct kernels *k = r->kernels;
    char how[800];
    int rc = ranks_device_open(r->ranks, k->stream ? k->stream() : NULL, how, sizeof how);
    if (*how) msg_note("%s", how);
    return rc;
}

int run_open(struct run *r)
{
    const char *why;
    if (run_join(r) < 0) return -1;
    /* after all options have been read: it is what run.config will say */
    r->train.config = prog_config();
    /* noted from here on; once there is something to save, train says what they do */
    signals_catch(NULL);
    if (!(r->kernels = kernels_open(r->device.device, r->device.precision, &why))) return -1;
    msg_note("%s", why);
    if (open_device(r) < 0) return -1;
    if (!(r->vocab = vocab_read(r->vocab_path))) return -1;
    /* the vocabulary decides: no option says its size */
    r->shape.vocab = (int)r->vocab->n;
    r->shape.vocab_hash = r->vocab->hash;
    r->engine.seed = r->seed;
    r->engine.with.vocab = r->vocab;
    r->engine.share = r->train.shard_optimizer ? ranks_size(r->ranks) : 1;
    /* LAMB needs the norm of each tensor, so one rank must have all of it */
    r->engine.whole_tensors = r->train.optimizer == OPTIMIZER_LAMB;
    return 0;
}

static int schedule(struct run *r, double micro_batches)
{
    char *end;
    if (r->epochs > 0) {
        if (prog_asked_for("steps") && prog_asked_for("epochs"))
            return err_set("--epochs and --steps cannot both be given");
    }
    /* a recorded configuration has both: a later --steps wins */
    if (r->epochs > 0 && !prog_asked_for("steps")) {
        /* rounded up: the last pass is whole */
        r->train.steps = (int64_t)ceil(r->epochs * micro_batches / r->train.accumulate);
    }
    errno = 0;
    double n = strtod(r->warmup, &end);
    bool share = *end == '%' && !end[1];
    /* also NaN, which !(n >= 0) sees */
    if (errno || end == r->warmup || (*end && !share) || !(n >= 0) || n > (share ? 100 : 1e15)
        || (!share && n != floor(n)))
        return err_set("--warmup %s: expected a number of steps, or a share of them like 10%%",
                       r->warmup);
    /* of the steps that were just computed, where it is a share */
    r->train.warmup = (int64_t)(share ? ceil(n / 100 * (double)r->train.steps) : n);
    /* the default is made for long runs: in a short one the model hardly moves */
    if (r->train.steps > 0 && r->train.warmup > r->train.steps)
        msg_note("the warm-up of %lld steps is longer than the %lld steps of training: the "
                 "learning rate ends at %.2g of %.2g; --warmup 10%% is a share of them",
                 (long long)r->train.warmup, (long long)r->train.steps,
                 trainer_lr(&r->train, r->train.steps), r->train.lr);
    return 0;
}

static int plan(void *run, int tokens, bool recompute, struct memory_need *need)
{
    const struct run *r = run;
    if (engine_plan(&r->engine, &r->shape, r->kernels, tokens, recompute, need) < 0) return -1;
    /* alone and without a tree, gradients add up where they are made: nothing more is held */
    if (!r->train.tree && !r->ranks && r->train.wire == WIRE_FLOAT32) return 0;
    /* nodes of the tree that wait, and messages on the way */
    int size = ranks_size(r->ranks), extra = gradients_buffers(r->train.accumulate, size);
    size_t bytes = (size_t)extra * need->floats * sizeof(float)
                   + gradients_messages(r->train.accumulate, size, ranks_on_device(r->ranks));
    /* one or the other: gradients travel through one memory */
    *(ranks_on_device(r->ranks) ? &need->on_device : &need->ranks) = bytes;
    return 0;
}

static int fit(struct run *r, int tokens)
{
    struct memory_ask ask = { .tokens = tokens,
                              .accumulate = r->train.accumulate,
                              .batch = r->batch,
                              .here = ranks_local_size(r->ranks),
                              .recompute = r->how.recompute,
                              .limit = r->how.memory,
                              .plan = plan,
                              .ctx = r };
    /* kept: make_model reserves the arena that was planned */
    return memory_check(&ask, &r->need);
}

/* Of a model of another shape: what has no weights there, or whose weights are not taken. */
static void note_other(const struct run *r, const char *what, int there, int here)
{
    if (there == here) return;
    msg_note("%s: %s has %d, this model %d; the last ones %s", what, r->from, there, here,
             here > there ? "begin as they are drawn" : "are left out");
}

static int first_weights(struct run *r)
{
    /* vectors after the model: they were asked for by name */
    if (r->from) {
        int taken, fresh;
        struct model_config from;
        if (model_init_from(&r->m, r->vocab, r->from, &taken, &fresh) < 0) return -1;
        msg_note("started from %s: %d tokens found there, %d new", r->from, taken, fresh);
        if (model_read_config(&from, r->from) < 0) return -1;
        if (!r->shape.share_layers && !from.share_layers)
            note_other(r, "encoder layers", from.layers, r->shape.layers);
        if (!r->shape.sinusoidal && !from.sinusoidal)
            note_other(r, "positions", from.positions, r->shape.positions);
    }
    if (r->vectors) {
        int n = model_init_embeddings(&r->m, r->vocab, r->vectors);
        if (n < 0) return -1;
        msg_note("%s: vectors for %d of %u tokens", r->vectors, n, r->vocab->n - VOCAB_SPECIALS);
    }
    return 0;
}

static int make_model(struct run *r, void (*ready)(void *with, struct model *m), void *with)
{
    const struct kernels *k = r->how.profile ? profile_kernels(r->kernels) : r->kernels;
    /* Shapes, then what the model has besides, then memory: parameters are one array. */
    if (model_shapes(&r->m, &r->shape, k) < 0) return -1;
    mix_parameters(&r->mix, &r->m);
    /* after the objectives' tensors are known: they are shared out, too */
    if (r->engine.share > 1)
        sharded_lay_out(&r->m.ps, r->engine.share, ranks_rank(r->ranks), r->engine.whole_tensors);
    if (params_alloc(&r->m.ps, true) < 0 || text_files_keep(&r->text, &r->m) < 0) return -1;
    model_draw(&r->m, r->seed);
    /* in this order: a --init or --init-embeddings replaces what was drawn, so that tokens that are
     * in neither start alike whatever else is given */
    if (r->init_std > 0) model_normal(&r->m, r->seed, r->init_std);
    if (ready) ready(with, &r->m);
    if (first_weights(r) < 0) return -1;
    tape_init(&r->t, k, &r->m.ps);
    r->t.recompute = r->how.recompute;
    /* what the plan found: no step has to ask for more */
    if (tape_reserve(&r->t, r->need.arena) < 0) return -1;
    r->engine.with.m = &r->m;
    r->engine.with.t = &r->t;
    struct pass p = r->engine.with;
    /* last: objectives copy weights (MoCo's keys), which are there now */
    return mix_start(&r->mix, &p, &r->state);
}

static int steps(void *engine, struct trainer *tr) { return engine_run(engine, tr); }

static int train(struct run *r)
{
    r->train.dir = r->out;
    /* losses and perplexities, unless a task's judge says otherwise */
    r->train.lower_is_better = !r->engine.judge.validate || r->engine.judge.lower_is_better;
    /* may replace all of it: --resume reads the newest checkpoint */
    if (trainer_open(&r->tr, &r->train, &r->m, &r->t, r->vocab, &r->state) < 0) return -1;
    /* Before the first step there is nothing to save; and what launches ranks sends signals of its
     * own, to all of them, when one has said why it ends. */
    if (!r->ranks) signals_catch("stopping after this step, with the state saved");
    return trainer_run(&r->tr, steps, &r->engine, r->how.profile, memory_total(&r->need));
}

/* The options that make a run, by which ranks compare their command lines: those that only say how
 * a machine runs it are left out. */
static uint64_t sum_options(const struct run *r)
{
    static const char *const own[] = { "threads", "memory", "quiet", "rank-timeout" };
    /* each line's hash seeds the next one's, so their order counts */
    uint64_t sum = 0;
    for (const char *line = r->train.config; *line; line += strcspn(line, "\n") + 1) {
        size_t n = strcspn(line, " \n");
        bool skip = false;
        for (int i = 0; i < 4; i++) skip |= strlen(own[i]) == n && !memcmp(own[i], line, n);
        if (!skip) sum = XXH3_64bits_withSeed(line, strcspn(line, "\n"), sum);
        if (!line[strcspn(line, "\n")]) break;
    }
    return sum;
}

/* Before the first step: is every rank the same program, with the same data? */
static int agree(struct run *r)
{
    char build[1200];
    const struct kernels *k = r->kernels;
    /* Another build or processor may round otherwise, and the ranks' models would part after some
     * steps. */
    int n = snprintf(build, sizeof build, "%s %s %zu", ISOGLOT_VERSION,
                     k->build ? k->build() : k->describe(), r->m.ps.total);
    if (!r->ranks) return 0;
    return ranks_agree(r->ranks, XXH3_64bits(build, (size_t)n), "its build or processor") < 0
                   || ranks_agree(r->ranks, r->vocab->hash, "its vocabulary") < 0
                   || ranks_agree(r->ranks, r->state.data, "its training data") < 0
                   || ranks_agree(r->ranks, sum_options(r), "its command line") < 0
               ? -1 : 0;
}

/* What saves a run, or may end it, comes at multiples of its objectives' period. */
static int keep_period(struct run *r)
{
    struct trainer_options *o = &r->train;
    o->period = mix_period(&r->mix);
    const struct { const char *name; int64_t every; } due[] = { { "save-every", o->save_every },
                                                                { "valid-every", o->valid_every } };
    for (int i = 0; i < 2; i++)
        /* what was translated ahead is in no checkpoint: a run that goes on would lack it */
        if (due[i].every % o->period)
            return err_set("--%s %lld is not a multiple of %d, the number of steps that are "
                           "translated ahead (--translate-ahead)",
                           due[i].name, (long long)due[i].every, o->period);
    return 0;
}

int run_steps(struct run *r, double micro_batches, int tokens,
              void (*ready)(void *with, struct model *m), void *with)
{
    /* what is cheap and may be refused first; memory before the model is made */
    if (schedule(r, micro_batches) < 0 || keep_period(r) < 0 || fit(r, tokens) < 0
        || make_model(r, ready, with) < 0 || agree(r) < 0)
        return -1;
    return train(r);
}

int run_end(struct run *r, int rc)
{
    int status = rc;
    if (rc < 0) {
        char why[1024];
        /* a copy: ranks_reports waits, and other messages may come */
        snprintf(why, sizeof why, "%s", err_msg());
        bool reports = !r->notified && ranks_reports(r->ranks, why);
        status = reports ? prog_fail() : PROG_FAILED;
    }
    ranks_close(r->ranks);
    /* run_close closes them again where run_end was not reached */
    r->ranks = NULL;
    return status ? status : prog_end();
}

void run_close(struct run *r)
{
    /* before the model goes: messages may be under way into its gradients */
    ranks_close(r->ranks);
    trainer_free(&r->tr);
    mix_free(&r->mix);
    if (r->t.k) tape_free(&r->t);
    model_free(&r->m);
    if (r->vocab) vocab_free(r->vocab);
    state_free(&r->state);
    free((char *)r->train.config);
    free(r->from);
    free(r->from_vocab);
}
