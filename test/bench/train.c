/* Whole training steps of a masked language model on random tokens, as pretrain makes them:
 * batch, forward, backward, clipping, Adam.
 *   train LAYERS DIM VOCAB BATCH LENGTH float32|bf16 [THREADS [SECONDS]]
 * One line: tokens/s and GFLOP/s of the products of the model in the fastest step (other work on
 * the machine disturbs that least), peak memory (MiB), median and best milliseconds a step, what
 * ran.
 *   train sgemm [THREADS]       GFLOP/s of one product of 4096 x 1024 x 4096 by the same library,
 *                               the best of some
 * With CPUTIME=1 in the environment the process's own time is measured instead of the clock's:
 * with one thread, for a busy machine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/thread.h"
#include "lib/batch/masked.h"

static clockid_t clock_id = CLOCK_MONOTONIC;

static double now(void)
{
    struct timespec t;
    clock_gettime(clock_id, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int sgemm(void)
{
    enum { N = 4096, I = 1024, O = 4096 };
    const struct kernels *k = kernels_open("cpu", KERN_FLOAT32, NULL);
    float *X = k->alloc((size_t)N * I * 4), *Y = k->alloc((size_t)N * O * 4),
          *W = k->alloc((size_t)I * O * 4), best = 0;
    struct rng r = { { 1, RNG_TEST, 0 }, 1, 0 };
    for (int i = 0; i < N * I; i++) X[i] = rng_next_unit(&r) - 0.5f;
    for (int i = 0; i < O * I; i++) W[i] = rng_next_unit(&r) - 0.5f;
    for (int i = 0; i < 12; i++) {
        double t = now();
        KERN(k, linear_fwd, .Y = Y, .X = X, .W = W, .N = N, .I = I, .O = O);
        float rate = (float)(2.0 * N * I * O / (now() - t) * 1e-9);
        if (rate > best) best = rate;
    }
    printf("%.1f\t%s\n", (double)best, k->describe());
    return 0;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* BATCH sentences of LENGTH random words, 15% of them to be predicted. */
static void next_batch(struct masked *to, const struct masker *k, int B, int T, uint32_t *ids,
                       uint64_t step)
{
    struct rng r = { { 1, RNG_TEST, (uint32_t)step }, 0, 0 };
    struct rng_key key = { 1, RNG_MASK, (uint32_t)step };
    masked_clear(to);
    for (int b = 0; b < B; b++) {
        for (int i = 0; i < T; i++)
            ids[i] =
                VOCAB_SPECIALS + (uint32_t)rng_next_below(&r, (uint64_t)k->vocab - VOCAB_SPECIALS);
        masked_add(to, k, &(struct batch_part){ .ids = ids, .n = T }, 1,
                   step * (uint64_t)B + (uint64_t)b, key);
    }
}

int main(int argc, char **argv)
{
    if (getenv("CPUTIME")) clock_id = CLOCK_PROCESS_CPUTIME_ID;
    if (argc > 1 && !strcmp(argv[1], "sgemm")) {
        par_threads_set(argc > 2 ? atoi(argv[2]) : 1);
        return sgemm();
    }
    if (argc < 7) {
        fprintf(stderr,
                "usage: train LAYERS DIM VOCAB BATCH LENGTH float32|bf16 [THREADS [SECONDS]]\n");
        return 2;
    }
    int B = atoi(argv[4]), T = atoi(argv[5]), runs = 0;
    bool bf16 = !strcmp(argv[6], "bf16");
    double seconds = argc > 8 ? atof(argv[8]) : 8, took[200];
    par_threads_set(argc > 7 ? atoi(argv[7]) : 1);
    const struct kernels *k = kernels_open("cpu", bf16 ? KERN_BF16 : KERN_FLOAT32, NULL);
    struct model_config c;
    struct model m;
    struct tape t;
    model_config_init(&c);
    c.layers = atoi(argv[1]); c.dim = atoi(argv[2]); c.vocab = atoi(argv[3]);
    c.ffn = 4 * c.dim; c.heads = c.dim / 64; c.positions = 512; c.encoder_langs = false;
    if (!k || model_new(&m, &c, k, 1, true) < 0) {
        fprintf(stderr, "train: %s\n", err_msg());
        return 1;
    }
    tape_init(&t, k, &m.ps);
    t.p_drop = t.p_attn = 0.1f;
    struct masked batch = { 0 };
    struct masker masker = { .how = masking_defaults, .vocab = (uint32_t)c.vocab };
    uint32_t *ids = mem_alloc((size_t)T * sizeof *ids);
    float *norm2 = k->alloc(sizeof *norm2);
    double predicted = 0, until = 0, nll = 0;
    for (int step = 1; runs < 200 && (step <= 5 || now() < until); step++) {
        if (step == 3) until = now() + seconds;
        double start = now();
        next_batch(&batch, &masker, B, T, ids, (uint64_t)step);
        tape_reset(&t, true);
        t.drop.key = (struct rng_key){ 1, RNG_DROPOUT, (uint32_t)step };
        struct pass p = { .m = &m, .t = &t };
        masked_forward(NULL, &batch, &p);
        masked_loss(&batch, &p, "mlm", 1, NULL);
        tape_backward(&t);
        nll = masked_device_sum(k, p.term[0].x, batch.n);
        if (k->sync() < 0) { fprintf(stderr, "train: %s\n", err_msg()); return 1; }
        struct kern_adam a = {
            .p = m.ps.value, .g = m.ps.grad, .m = m.ps.m, .v = m.ps.v, .part = m.ps.part,
            .parts = m.ps.n, .norm2 = norm2, .lr = 1e-4, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8,
            .step = step, .clip = 5, .grad_scale = 1,
        };
        KERN(k, norm2, .out = norm2, .x = m.ps.grad, .n = m.ps.total);
        k->adam(&a);
        k->zero(m.ps.grad, m.ps.total * sizeof(float));
        if (step <= 2) continue;
        took[runs++] = now() - start;
        predicted += batch.n;
    }
    qsort(took, (size_t)runs, sizeof *took, by_size);
    double N = B * T, D = c.dim, M = predicted / runs, median = took[runs / 2];
    double flops = 3 * N * c.layers * (24 * D * D + 4 * T * D) + 6 * M * D * c.vocab;
    printf("%.0f\t%.1f\t%.0f\t%.1f\t%.1f\t%s, loss %.2f, arena %.0f MiB\n", N / took[0],
           flops / took[0] * 1e-9, (double)mem_peak() / 1048576, median * 1e3, took[0] * 1e3,
           k->describe(), nll / batch.n, (double)tape_peak(&t) / 1048576);
    return 0;
}
