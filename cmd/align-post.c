/* align-post: trains a multilingual encoder further on sentence pairs, so that translations get
 * the same vectors (PPA, Pan et al. 2021: MoCo and TLM). Reads a model folder and sentence pairs,
 * in its tokens or as plain text; writes a run folder, whose model is an encoder like the one it
 * started from. */
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/prog/prog.h"
#include "lib/data/inputs.h"
#include "lib/engine/run.h"
#include "lib/objective/table.h"

enum { SELECT_LAST, SELECT_BEST };
struct choice { const char *objective; int select; };

static const struct opt data_rows[] = {
    { "model|init|reload-model", 'm', OPT_STR(run, init), "DIR",
      "model to start from: the folder of a model or of a run" },
    { "out|dump-path", 'o', OPT_STR(run, out), "DIR", "the run's folder" },
    { 0 }
};
static const struct opt pair_rows[] = {
    { "parallel", 0, OPT_LIST(inputs, parallel), "SRC-TGT=F,G",
      "sentence pairs in the model's tokens (text or shards) or, with --raw, plain; once for each "
      "pair of languages" },
    { "valid", 0, OPT_LIST(inputs, valid_parallel), "SRC-TGT=F,G",
      "sentence pairs to validate on: how many sentences retrieve their translation among all" },
    { "batch|batch-size", 0, OPT_INT(inputs, sentences), "N",
      "sentence pairs per micro-batch", .min = 1, .max = 65535 },
    { "valid-sentences", 0, OPT_INT(inputs, valid_sentences), "N",
      "use at most N pairs of each validation text; 0: all", .min = 0, .max = 1e9 },
    { 0 }
};
static const struct opt choice_rows[] = {
    { "objective", 0, OPT_STR(choice, objective), "LIST",
      "objectives to train on (moco,tlm): their losses are added up in every step" },
    { "select", 0, OPT_CHOICE(choice, select), "last|best",
      "which model is the result: the last one, or the one with the best validation" },
    { 0 }
};
static const struct prog prog = {
    "align-post", "--model DIR --parallel SRC-TGT=F,G... --out DIR [options]",
    "Aligns the sentences of a pre-trained encoder's languages with sentence pairs (MoCo, TLM).",
    "On SIGTERM, SIGINT or SIGUSR1 it saves and exits with status 75; --resume continues.\n",
    .part = { &kern_part }
};

/* The paper's values. */
static void presets(struct run *r, struct inputs *in, const struct pair_limits *limits)
{
    *in = inputs_defaults;
    in->sentences = 128;
    in->limits = limits;
    r->epochs = 10;
    r->warmup = "10%";
    r->train.lr = 3e-5;
    r->train.schedule = SCHEDULE_LINEAR;
    r->train.weight_decay = 0.01;
    r->train.clip = 1;
}

/* Returns -1 with a message if the options do not fit together. */
static int check(struct run *r, const struct inputs *in, const struct choice *o)
{
    if (!r->init || !in->parallel.n || !r->out)
        return err_set("--model, --parallel and --out are needed");
    /* a run.config has --patience 0, which nobody asked for */
    if (prog_asked_for("patience") && o->select == SELECT_LAST)
        return err_set("--patience stops at the best validation; it needs --select best");
    if (prog_asked_for("select") && o->select != SELECT_LAST && !in->valid_parallel.n)
        return err_set("--select best needs --valid: without it nothing is judged");
    /* The paper's epochs are a default: whoever gives steps alone means these. */
    if (prog_given("steps") && !prog_given("epochs")) r->epochs = 0;
    /* --select last: validations measure, and none of them chooses the checkpoint. */
    r->engine.keep_last = o->select == SELECT_LAST;
    return masking_check(&in->masking) < 0
                   || mix_choose(&r->mix, o->objective, NULL, "--objective", o->objective) < 0
                   || mix_valid(&r->mix, true, in->valid_parallel.n ? "valid" : NULL) < 0
               ? -1 : 0;
}

/* A language aligned with itself would be two different texts with one name. */
static int check_pairs(const struct model_config *c, const struct strs *pairs)
{
    for (int i = 0; i < pairs->n; i++) {
        struct pair_arg a;
        if (prog_pair(pairs->v[i], c->lang, c->n_langs, &a) < 0) return -1;
        bool same = !strcmp(a.lang[0], a.lang[1]);
        /* Both names are in one string. */
        free(a.file[0]);
        if (same) return err_set("%s: a language with itself; align two", pairs->v[i]);
    }
    return 0;
}

/* Languages that have embeddings must be the model's; otherwise new ones are added. */
static int check_langs(const struct model_config *c, int had)
{
    return c->encoder_langs && c->n_langs > had
               ? err_set("language %s: the model has no embedding for it; use the model's language "
                         "codes in --parallel (ckpt info)",
                         c->lang[had])
               : 0;
}

static int align(struct run *r, struct inputs *in)
{
    struct setup s = { .c = &r->shape, .state = &r->state, .seed = r->seed,
                       .accumulate = r->train.accumulate };
    int had = r->shape.n_langs;
    /* a pair's limit (--max-tokens) is that of each of its sides */
    in->longest = in->limits->max_tokens;
    if (run_open(r) < 0) return -1;
    in->ranks = r->ranks;
    /* the model's folder says how --raw text is cut */
    in->model = r->from;
    r->train.cuts_text = in->reader.raw;
    if (check_pairs(&r->shape, &in->parallel) < 0
        || check_pairs(&r->shape, &in->valid_parallel) < 0
        /* adds the pairs' languages; check_langs then knows which are new */
        || inputs_pair_langs(&r->shape, &in->parallel) < 0 || check_langs(&r->shape, had) < 0
        || inputs_open(in, r->vocab, &s) < 0 || mix_open(&r->mix, &s) < 0)
        return -1;
    return run_steps(r, inputs_batches(in), in->tokens, NULL, NULL);
}

int main(int argc, char **argv)
{
    static struct run run;
    struct inputs in;
    struct pair_limits limits = pair_limits_defaults;
    struct choice choice = { .objective = "moco,tlm" };
    struct opt_group groups[16 + 2 * MIX_KNOWN] = { { "Data", data_rows, &run },
                                                    { NULL, pair_rows, &in },
                                                    { NULL, reader_rows, &in.reader },
                                                    { NULL, pair_limits_rows, &limits },
                                                    { NULL, run_dropout_rows, &run },
                                                    { "Objectives", choice_rows, &choice },
                                                    { NULL, masking_rows, &in.masking } };
    struct args args;
    /* The presets come before the options are read, so that --help shows them and the command
     * line wins. */
    run_init(&run);
    presets(&run, &in, &limits);
    mix_init(&run.mix, objectives, OBJECTIVE_ALIGN);
    run_loop_groups(&run, groups, mix_groups(&run.mix, groups, 7));
    int status = prog_start(&prog, groups, argc, argv, &args);
    if (status < 0 && args.n) status = prog_usage("unexpected argument %s", args.v[0]);
    if (status < 0 && check(&run, &in, &choice) < 0) status = prog_usage("%s", err_msg());
    /* before mix_fits: only the model's shape says what fits */
    if (status < 0 && run_continue(&run) < 0) status = run_end(&run, -1);
    if (status < 0 && mix_fits(&run.mix, &run.shape) < 0) status = prog_usage("%s", err_msg());
    if (status < 0) status = run_end(&run, align(&run, &in));
    run_close(&run);
    inputs_free(&in);
    return status;
}
