#include "common/msg.h"
#include "lib/engine/run.h"
#include "lib/model/options.h"

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
    /* what all ranks say alike, the first says */
    if (ranks_launched_rank() > 0) msg_set_mute(true);
    trainer_options_init(&r->train);
    model_options_init(&r->shape);
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
    g[n++] = (struct opt_group){ NULL, run_rows, &r->how };
    g[n++] = (struct opt_group){ NULL, kern_rows, &r->device };
    g[n++] = (struct opt_group){ NULL, opt_seed_rows, &r->seed };
    g[n++] = (struct opt_group){ NULL, norm_rows, r };
    g[n] = (struct opt_group){ 0 };
    return n;
}
