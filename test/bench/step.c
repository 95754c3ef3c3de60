/* The speed of whole training steps on one device: forward, backward, clipping, AdamW, with
 * dropout.
 *   step DEVICE PRECISION mlm LAYERS DIM VOCABULARY SENTENCES LENGTH [STEPS [THREADS [PRODUCT]]]
 *        an encoder, 15% of the tokens predicted
 *   step DEVICE PRECISION mt  LAYERS DIM ...
 *        LAYERS + LAYERS, every token predicted
 *   step DEVICE PRECISION bt  LAYERS DIM ...
 *        back-translation: the sentences are translated greedily by the model as it is, then learnt
 *        from their translations; tokens/s are of what is learnt from, both sides
 * The speed of one large product [PRODUCT, PRODUCT] by the same (8192; 1024 on a CPU) is measured
 * first, and all of a step's products are set against it. LENGTH is a number, or `real`: 4 to 128
 * tokens, 45 on average (length() below; test/gpu/peer.py has the same). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/text/vocab.h"
#include "common/thread.h"
#include "lib/model/decode.h"
#include "test/unit/acts.h"

static const struct kernels *k;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* FLOP/s of a product [n, n] by [n, n], the best of five. */
static double product_speed(int n)
{
    size_t all = (size_t)n * (size_t)n;
    float *x = mem_alloc(all * sizeof *x);
    struct rng r = { { 1, RNG_TEST, 0 }, 0, 0 };
    for (size_t i = 0; i < all; i++) x[i] = rng_next_unit(&r) - 0.5f;
    void *A = k->alloc(all * k->act_size), *C = k->alloc(all * k->act_size);
    float *W = k->alloc(all * sizeof *W);
    if (!A || !C || !W) return 0;
    acts_put(k, A, x, all);
    k->upload(W, x, all * sizeof *x);
    double best = 1e9;
    for (int i = 0; i < 6; i++) {
        enum { TIMES = 4 };
        k->sync();
        double t = now();
        for (int j = 0; j < TIMES; j++) KERN(k, linear_fwd, .Y = C, .X = A, .W = W, .N = n, .I = n,
                                             .O = n);
        k->sync();
        t = (now() - t) / TIMES;
        if (i && t < best) best = t;
    }
    k->release(A); k->release(C); k->release(W);
    free(x);
    return 2.0 * n * n * n / best;
}

static int length(int i, int fixed)
{
    double u = (double)((unsigned)i * 40503u % 65536u) / 65536;
    return fixed ? fixed : 4 + (int)(125 * u * u);
}

static void fill(struct batch *b, int sentences, int fixed, int V)
{
    uint32_t ids[4096];
    for (int s = 0; s < sentences; s++) {
        int n = length(s, fixed);
        for (int i = 0; i < n; i++)
            ids[i] = 5 + (uint32_t)(s * 7919 + i * 104729) % (uint32_t)(V - 5);
        ids[0] = VOCAB_BOS;
        ids[n - 1] = VOCAB_EOS;
        batch_add(b, ids, n, 0, (uint64_t)s);
    }
}

/* to: the model's translations of `real`. */
static int translate(struct model *m, struct tape *t, const struct batch *real, struct batch *to)
{
    struct decode_options o;
    struct hyps h;
    uint32_t ids[4096];
    decode_options_init(&o);
    if (decode(m, t, real, 0, &o, &h) < 0) return -1;
    batch_clear(to);
    for (int s = 0; s < real->n; s++) {
        const struct hyp *y = &h.hyp[s];
        int n = y->n < m->c.positions - 2 ? y->n : m->c.positions - 2;
        ids[0] = VOCAB_BOS;
        memcpy(ids + 1, y->ids, (size_t)n * sizeof *ids);
        ids[n + 1] = VOCAB_EOS;
        batch_add(to, ids, n + 2, 0, (uint64_t)s);
    }
    hyps_free(&h);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 9) {
        fprintf(stderr, "usage: step DEVICE float32|bf16 mlm|mt|bt LAYERS DIM "
                        "VOCABULARY SENTENCES LENGTH|real [STEPS [THREADS [PRODUCT]]]\n");
        return 2;
    }
    bool bt = strcmp(argv[3], "bt") == 0, mt = bt || strcmp(argv[3], "mt") == 0;
    int layers = atoi(argv[4]), D = atoi(argv[5]), V = atoi(argv[6]), sentences = atoi(argv[7]),
        fixed = atoi(argv[8]), steps = argc > 9 ? atoi(argv[9]) : 20;
    par_threads_set(argc > 10 ? atoi(argv[10]) : 1);
    const char *why;
    k = kernels_open(argv[1], strcmp(argv[2], "bf16") == 0 ? KERN_BF16 : KERN_FLOAT32, &why);
    if (!k) { fprintf(stderr, "step: %s\n", err_msg()); return 1; }
    printf("%s\n", why);
    double peak = product_speed(argc > 11                     ? atoi(argv[11])
                                : strcmp(k->name, "cpu") == 0 ? 1024
                                                              : 8192);
    struct model m;
    struct model_config c;
    struct tape t;
    struct batch src = { 0 }, dec = { 0 };
    model_config_init(&c);
    c.layers = layers;
    c.decoder_layers = mt ? layers : 0;
    c.dim = D;
    c.ffn = 4 * D;
    c.heads = D / 64;
    c.vocab = V;
    c.positions = fixed > 128 ? fixed : 128;
    c.activation = KERN_GELU;
    c.dropout = c.attention_dropout = 0.1f;
    c.n_langs = 1;
    strcpy(c.lang[0], "xx");
    if (model_new(&m, &c, k, 1, true) < 0) { fprintf(stderr, "step: %s\n", err_msg()); return 1; }
    tape_init(&t, k, &m.ps);
    fill(&src, sentences, fixed, V);
    if (mt) fill(&dec, sentences, fixed, V);
    struct batch *out = mt ? &dec : &src;
    int rows = 0, N = out->rows, *row = mem_alloc((size_t)N * sizeof *row),
        *target = mem_alloc((size_t)N * sizeof *target);
    for (int i = 0; i < N; i++)
        if (mt || i * 7 % 20 < 3) { row[rows] = i; target[rows++] = out->token[i]; }
    float *norm2 = k->alloc(sizeof *norm2), *got = k->host_alloc((size_t)(steps + 4) * sizeof *got);
    if (!norm2 || !got) { fprintf(stderr, "step: %s\n", err_msg()); return 1; }
    double began = 0;
    for (int step = 1; step <= steps + 3; step++) {
        if (step == 4) {                         /* after three the arena has its size */
            k->sync();
            began = now();
        }
        if (bt && translate(&m, &t, &dec, &src) < 0) {
            fprintf(stderr, "step: %s\n", err_msg());
            return 1;
        }
        tape_reset(&t, true);
        t.p_drop = c.dropout;
        t.p_attn = c.attention_dropout;
        t.drop.key = (struct rng_key){ 1, RNG_DROPOUT, (uint32_t)step };
        struct dev_batch d = batch_upload(&t, &src), e = { 0 };
        struct var *h = model_encode(&m, &t, &d);
        if (mt) {
            e = batch_upload(&t, &dec);
            h = model_decode(&m, &t, &e, h, &d.spans);
        } else h = tape_gather(&t, h, tape_int32(&t, row, (size_t)rows), rows);
        tape_xent(&t, model_output(&m, &t, h), m.tokens, m.output_bias,
                  tape_int32(&t, target, (size_t)rows), NULL, NULL, 0, 1.0f / (float)rows);
        tape_backward(&t);
        struct kern_adam a = {
            .p = m.ps.value, .g = m.ps.grad, .m = m.ps.m, .v = m.ps.v, .part = m.ps.part,
            .parts = m.ps.n, .norm2 = norm2, .lr = 1e-4, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8,
            .weight_decay = 0.01, .step = step, .clip = 5, .grad_scale = 1,
        };
        params_grad_settle(&m.ps);
        KERN(k, norm2, .out = norm2, .x = m.ps.grad, .n = m.ps.total);
        k->adam(&a);
        params_grad_clear(&m.ps, true);
        /* read when a line of the log is due, as in a training run */
        k->fetch(got + step, norm2, sizeof *got);
    }
    if (k->sync() < 0) { fprintf(stderr, "step: %s\n", err_msg()); return 1; }
    double mean = (now() - began) / steps, dd = (double)D * D, pairs = 0;
    for (int s = 0; s < sentences; s++) pairs += (double)src.len[s] * src.len[s];
    /* 2 a weight and token forward, 4 backward; attention 4 D and 8 D a pair of positions; the
     * output layer's rows. */
    double flops = layers * (6 * 12 * dd * src.rows + 12 * D * pairs) + 6.0 * D * V * rows;
    if (mt) flops += layers * (6 * 16 * dd * dec.rows + 24 * D * pairs);
    int tokens = src.rows + dec.rows;
    if (bt)
        printf("of %d tokens translated into %d; the share of one product's speed is of learning "
               "alone\n",
               dec.rows, src.rows);
    printf("%s %s %d x %d, vocabulary %d, %d sentences of %s: %d tokens\n", argv[3], argv[2],
           layers, D, V, sentences, argv[8], tokens);
    printf("%.2f ms a step, %.0f tokens/s, %.1f TFLOP/s, %.0f%% of one product's %.1f; parameters "
           "%.0f MiB, activations %.0f MiB\n",
           mean * 1e3, tokens / mean, flops / mean * 1e-12, 100 * flops / mean / peak, peak * 1e-12,
           (double)m.ps.total * 16 / (1 << 20), (double)tape_peak(&t) / (1 << 20));
    bool finite = got[steps + 3] < 1e30f;
    printf("gradient norm^2 of the last step: %g\n%s\n", (double)got[steps + 3], k->describe());
    k->release(norm2);
    k->host_release(got);
    free(row); free(target);
    batch_free(&src); batch_free(&dec);
    tape_free(&t);
    model_free(&m);
    return finite ? 0 : 1;
}
