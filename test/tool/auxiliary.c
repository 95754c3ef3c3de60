/* `pretrain` with an objective of its own, "late": its host is MLM, and what its pass reads is
 * known only when it has watched MLM's. For test/cli/batches.sh, which compares what it prints (the
 * tokens of each pass, a line per pass) with what --write-batches wrote. */
#include <stdio.h>
#include "common/err.h"
#include "common/prog/prog.h"
#include "lib/batch/masked.h"
#include "lib/data/inputs.h"
#include "lib/engine/run.h"
#include "lib/model/options.h"

extern const struct objective objective_mlm;

static int make(void *self, void *batch, const void *host_batch, const struct turn *at)
{
    const struct masked *from = host_batch;
    struct masked *b = batch;
    (void)self; (void)at;
    masked_clear(b);
    for (int s = 0; s < from->input.n; s++) masked_copy(b, from, s);
    return 0;
}

/* What was masked reads the word that stood there. */
static int watch(void *self, void *batch, struct pass *host_pass)
{
    struct masked *b = batch;
    (void)self; (void)host_pass;
    for (int i = 0; i < b->n; i++) b->input.token[b->row[i]] = b->target[i];
    return 0;
}

static int forward(void *self, void *batch, struct pass *p)
{
    const struct masked *b = batch;
    for (int r = 0; r < b->input.rows && !p->planning; r++)
        printf("%d%c", b->input.token[r], r + 1 < b->input.rows ? ' ' : '\n');
    return masked_forward(self, batch, p);
}

static int loss(void *self, void *batch, struct pass *p, float scale)
{
    (void)self;
    masked_loss(batch, p, "late", scale, NULL);
    return 0;
}

static int largest(void *self, void *batch, const void *host_batch, int tokens)
{
    (void)tokens;
    return make(self, batch, host_batch, NULL);
}

static const struct batch_kind kind = { .size = sizeof(struct masked),
                                        .free = masked_free,
                                        .forward = forward,
                                        .write = masked_write,
                                        .largest = largest };
static const struct objective_ranks ranks = { .keeps_nothing = true };

static const struct objective late = { .name = "late",
                                       .about = "predict what is read",
                                       .hosts = "mlm",
                                       .used_by = OBJECTIVE_PRETRAIN,
                                       .self = 1,
                                       .batch = &kind,
                                       .ranks = &ranks,
                                       .make = make,
                                       .loss = loss,
                                       .watch = watch };

static int train(struct run *r, struct inputs *in)
{
    struct setup s = { .c = &r->shape, .state = &r->state, .seed = r->seed };
    if (run_open(r) < 0 || inputs_open(in, r->vocab, &s) < 0 || mix_open(&r->mix, &s) < 0)
        return -1;
    return run_steps(r, inputs_batches(in), in->tokens, NULL, NULL);
}

int main(int argc, char **argv)
{
    static const struct objective *const table[] = { &objective_mlm, &late, NULL };
    static const struct prog prog = { "auxiliary", "[options of pretrain]", "Trains mlm,late." };
    static struct run run;
    struct inputs in = inputs_defaults;
    struct opt_group groups[16 + 2 * MIX_KNOWN] = { { "Data", inputs_text_rows, &in },
                                                    { NULL, inputs_batch_rows, &in },
                                                    { NULL, run_folder_rows, &run },
                                                    { NULL, model_encoder_rows, &run.shape },
                                                    { NULL, masking_rows, &in.masking } };
    struct args args;
    run_init(&run);
    mix_init(&run.mix, table, OBJECTIVE_PRETRAIN);
    run_groups(&run, groups, mix_groups(&run.mix, groups, 5), false);
    int status = prog_start(&prog, groups, argc, argv, &args);
    if (status < 0 && mix_choose(&run.mix, "mlm,late", NULL, "objective", "mlm,late") < 0)
        status = prog_usage("%s", err_msg());
    if (status < 0) {
        model_options_finish(&run.shape, false);
        status = run_end(&run, train(&run, &in));
    }
    run_close(&run);
    inputs_free(&in);
    return status;
}
