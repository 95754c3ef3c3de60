/* The library in one page: trains a small masked language model on a shard and prints its loss.
 *     example VOCAB LANG=SHARD STEPS
 * The same as `pretrain`, by hand: data, an objective, a model, the loop (lib/engine/run.h has the
 * whole of it). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "lib/data/inputs.h"
#include "lib/engine/mix.h"
#include "lib/objective/table.h"

static int fail(void)
{
    fprintf(stderr, "example: %s\n", err_msg());
    return 1;
}

int main(int argc, char **argv)
{
    if (argc != 4) return fprintf(stderr, "usage: example VOCAB LANG=SHARD STEPS\n"), 2;
    /* what is read */
    struct inputs in = inputs_defaults;
    const char *shard = argv[2];
    in.train = (struct strs){ &shard, 1 };
    struct model_config c;
    struct state state = { 0 };
    model_config_init(&c);
    c.layers = 2; c.dim = 64; c.ffn = 256; c.heads = 4;
    struct vocab *v = vocab_read(argv[1]);
    struct setup s = { .c = &c, .vocab = v, .state = &state, .seed = 1 };
    if (!v || inputs_open(&in, v, &s) < 0) return fail();
    c.vocab = (int)v->n;
    c.vocab_hash = v->hash;
    /* what is learnt */
    struct mix mix;
    mix_init(&mix, objectives, OBJECTIVE_PRETRAIN);
    if (mix_choose(&mix, "mlm", NULL, "objective", "mlm") < 0 || mix_open(&mix, &s) < 0)
        return fail();
    const struct objective *mlm = mix.m[0].o;
    void *self = mix.m[0].self, *batch = calloc(1, mlm->batch->size);
    /* what learns */
    const struct kernels *k = kernels_open("cpu", KERN_FLOAT32, NULL);
    struct model m;
    struct tape t;
    if (!k || !batch || model_new(&m, &c, k, 1, true) < 0) return fail();
    tape_init(&t, k, &m.ps);
    float *norm2 = k->alloc(sizeof *norm2);
    for (int step = 0; step < atoi(argv[3]); step++) {
        struct pass p = { .m = &m, .t = &t, .vocab = v };
        if (mlm->make(self, batch, NULL, &(struct turn){ step, step, 1 }) < 0) return fail();
        tape_reset(&t, true);
        if (mlm->batch->forward(self, batch, &p) < 0
            || objective_loss(mlm, self, batch, &p, 1) < 0)
            return fail();
        tape_backward(&t);
        double sum = 0;
        for (int i = 0; i < p.term[0].n; i++)
            sum += (double)p.term[0].x[i]; /* a CPU's memory is the host's */
        printf("step %d  loss %.3f\n", step + 1, sum / p.term[0].n);
        KERN(k, norm2, .out = norm2, .x = m.ps.grad, .n = m.ps.total);
        KERN(k, adam, .p = m.ps.value, .g = m.ps.grad, .m = m.ps.m, .v = m.ps.v, .part = m.ps.part,
             .parts = m.ps.n, .norm2 = norm2, .lr = 1e-3f, .beta1 = 0.9f, .beta2 = 0.999f,
             .eps = 1e-8f, .step = step + 1, .clip = 5, .grad_scale = 1);
        k->zero(m.ps.grad, m.ps.total * sizeof(float));
    }
    mlm->batch->free(batch);
    free(batch);
    k->release(norm2);
    tape_free(&t);
    model_free(&m);
    mix_free(&mix);
    inputs_free(&in);
    state_free(&state);
    vocab_free(v);
    return 0;
}
