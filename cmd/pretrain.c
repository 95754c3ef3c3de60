/* pretrain: trains a multilingual encoder on monolingual shards and sentence pairs, by one
 * objective or several. Reads shards (binarize), the vocabulary and what the objectives need (for
 * MLM-GC a count file); writes a run folder. */
#include "common/err.h"
#include "common/prog/prog.h"
#include "lib/data/inputs.h"
#include "lib/engine/run.h"
#include "lib/model/options.h"
#include "lib/objective/table.h"

struct choice { const char *objective, *mix; };

static const struct opt choice_rows[] = {
    { "objective", 0, OPT_STR(choice, objective), "LIST",
      "objectives to train on (mlm,gc): their losses are added up in every step" },
    { "mix", 0, OPT_STR(choice, mix), "LIST",
      "draw one objective for each step in this ratio (mlm:4,tlm:1) instead; by-data: in the "
      "ratio of their data" },
    { 0 }
};
static const struct prog prog = {
    "pretrain", "--train LANG=SHARD... -v VOCAB --out DIR [options]",
    "Trains a multilingual encoder: masked language modelling, alone or with other objectives\n"
    "(MLM-GC, TLM).",
    "On SIGTERM, SIGINT or SIGUSR1 it saves and exits with status 75; --resume continues.\n",
    .part = { &kern_part }
};

/* Returns -1 with a message if the options do not fit together. */
static int check(struct run *r, const struct inputs *in, const struct choice *o)
{
    if ((!in->train.n && !in->parallel.n) || !r->out || (!r->vocab_path && !r->init))
        return err_set("--train (or --parallel), --out and --vocab (or --init) are needed");
    if (masking_check(&in->masking) < 0
        || mix_choose(&r->mix, o->objective, o->mix, "--objective", o->objective) < 0)
        return -1;
    if (r->train.patience && prog_asked_for("patience") && !in->valid.n && !in->valid_parallel.n)
        return err_set("--patience needs --valid: without it nothing is judged");
    char asked[64];
    /* An option for a decoder that no objective has would do nothing. */
    if (!mix_decoder(&r->mix) && prog_asked(model_decoder_rows, asked))
        return err_set("--%s belongs to objectives with a decoder (mass); none is in %s", asked,
                       r->mix.asked);
    if (!mix_has(&r->mix, "scs") && !prog_asked_for("dict-refresh") && prog_asked_for("specific"))
        return err_set("--specific is of objective scs and of --dict-refresh; neither is in %s",
                       r->mix.asked);
    const char *pairs = in->parallel.n         ? "parallel"
                        : in->valid_parallel.n ? "valid-parallel" : NULL;
    if (mix_pairs(&r->mix, pairs) < 0) return -1;
    if (mix_valid(&r->mix, false, in->valid.n ? "valid" : NULL) < 0) return -1;
    return mix_dict(&r->mix, in->dict.n);
}

/* There is a decoder if an objective needs one, with as many layers as the encoder unless an option
 * says otherwise. */
static void shape(struct run *r)
{
    bool decoder = mix_decoder(&r->mix);
    /* A model given with --init may have one, which these objectives do not train. */
    if (!decoder) r->shape.decoder_layers = 0;
    model_options_finish(&r->shape, decoder);
}

static int pretrain(struct run *r, struct inputs *in)
{
    struct setup s = { .c = &r->shape, .state = &r->state, .seed = r->seed };
    if (run_open(r) < 0) return -1;
    in->ranks = r->ranks;
    if (!mix_text(&r->mix) && in->train.n)
        msg_note("--train: %s learns from sentence pairs alone; of the text only its languages "
                 "count", r->mix.asked);
    if (inputs_open(in, r->vocab, &s) < 0 || mix_open(&r->mix, &s) < 0) return -1;
    /* objective align alone reads nothing: its text counts all the same */
    double batches = mix_batches(&r->mix);
    return run_steps(r, batches > 0 ? batches : inputs_batches(in), in->tokens, NULL, NULL);
}

int main(int argc, char **argv)
{
    static struct run run;
    struct inputs in = inputs_defaults;
    struct choice choice = { .objective = "mlm" };
    struct opt_group groups[16 + 2 * MIX_KNOWN] = { { "Data", inputs_text_rows, &in },
                                                    { NULL, inputs_batch_rows, &in },
                                                    { NULL, unknown_rows, &in.reader.unknown },
                                                    { NULL, run_folder_rows, &run },
                                                    { NULL, model_encoder_rows, &run.shape },
                                                    { NULL, text_file_rows, &run.text },
                                                    { "Objectives", choice_rows, &choice },
                                                    { NULL, masking_rows, &in.masking } };
    struct args args;
    run_init(&run);
    mix_init(&run.mix, objectives, OBJECTIVE_PRETRAIN);
    run_groups(&run, groups, mix_groups(&run.mix, groups, 8), true);
    int status = prog_start(&prog, groups, argc, argv, &args);
    if (status < 0 && args.n) status = prog_usage("unexpected argument %s", args.v[0]);
    if (status < 0 && check(&run, &in, &choice) < 0) status = prog_usage("%s", err_msg());
    /* the shape of --init's model is known from here on */
    if (status < 0 && run_from(&run) < 0) status = run_end(&run, -1);
    if (status < 0
        && (inputs_fit(&in, run.shape.positions) < 0 || mix_fits(&run.mix, &run.shape) < 0))
        status = prog_usage("%s", err_msg());
    if (status < 0) {
        shape(&run);
        status = run_end(&run, pretrain(&run, &in));
    }
    run_close(&run);
    inputs_free(&in);
    return status;
}
