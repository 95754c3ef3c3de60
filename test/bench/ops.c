/* Where a training step's time goes, operation by operation, against the speed of one large
 * product measured in the same run.
 *   ops [THREADS [DEVICE [bf16 [LAYERS DIM VOCABULARY LENGTH SENTENCES HEADS]]]]
 * of that model, or of three sizes; milliseconds are the best of several runs, GFLOP/s of the
 * products inside an operation, GB/s of what it must read and write. With CPUTIME=1 in the
 * environment one thread's own time is measured instead of the clock's: for a busy machine. LENGTH
 * `real`: 4 to 128, as in step.c; -128: causal. ONLY=attention leaves out what is not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/thread.h"
#include "kernels/kernels.h"
#include "test/unit/acts.h"

static const struct kernels *k;
static clockid_t clock_id = CLOCK_MONOTONIC;

static double now(void)
{
    struct timespec t;
    clock_gettime(clock_id, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* n numbers of at most `size`, the first million again and again: a parameter of a large model
 * would take longer to draw than to measure with. */
static float *random_numbers(uint64_t seed, size_t n, float size)
{
    enum { DRAWN = 1 << 20 };
    float *x = mem_alloc(n * sizeof *x);
    struct rng r = { { seed, RNG_TEST, 0 }, n, 0 };
    for (size_t i = 0; i < n; i++)
        x[i] = i < DRAWN ? 2 * size * (rng_next_unit(&r) - 0.5f) : x[i - DRAWN];
    return x;
}

static void *random_act(size_t n)
{
    float *x = random_numbers(1, n, 0.5f);
    void *p = k->alloc(n * sizeof(float));
    acts_put(k, p, x, n);
    free(x);
    return p;
}

static void *random_float(size_t n)
{
    float *x = random_numbers(2, n, 0.5f / 16);
    void *p = k->alloc(n * sizeof(float));
    k->upload(p, x, n * sizeof *x);
    free(x);
    return p;
}

static double peak;        /* GFLOP/s of one large product */
static const char *only;
static double step_ms, step_gflop;

static void report(const char *what, double s, double flops, double bytes, int times)
{
    printf("  %-22s x%-2d %8.3f ms", what, times, s * 1e3);
    if (flops > 0)
        printf("  %7.1f GFLOP/s %4.0f%%", flops / s * 1e-9, 100 * flops / s * 1e-9 / peak);
    else printf("  %22s", "");
    if (bytes > 0) printf("  %6.1f GB/s", bytes / s * 1e-9);
    printf("\n");
    step_ms += times * s * 1e3;
    step_gflop += times * flops * 1e-9;
    fflush(stdout);
}

/* Best of several runs of `call`, at least two and a fifth of a second of them. Where calls
 * return before they are done, and are short, a run is of sixteen: waiting for one takes as long
 * as some do. */
#define TIME(what, flops, bytes, times, call) do { \
        if (only && !strstr(what, only)) break; \
        double best = 1e9, until = now() + 0.2; \
        for (int run = 0, calls = 1; run < 3 || (now() < until && run < 100); run++) { \
            double t = now(); \
            for (int c_ = 0; c_ < calls; c_++) call; \
            k->sync(); \
            t = (now() - t) / calls; \
            if (t < best) best = t; \
            if (k->queues && best < 1e-3) calls = 16; \
        } \
        report(what, best, flops, bytes, times); \
    } while (0)

static void model(int layers, int D, int V, int T, int B, int heads)
{
    bool causal = T < 0;
    int N = 0, M, dim = D / heads, longest = 0;
    int32_t *at = mem_alloc((size_t)B * 4), *len = mem_alloc((size_t)B * 4);
    double pairs = 0;
    for (int i = 0; i < B; i++) {
        double u = (double)((unsigned)i * 40503u % 65536u) / 65536;
        at[i] = N;
        len[i] = T ? abs(T) : 4 + (int)(125 * u * u);
        N += len[i];
        if (len[i] > longest) longest = len[i];
        pairs += (double)len[i] * len[i] / (causal ? 2 : 1);
    }
    M = N * 15 / 100;
    size_t ND = (size_t)N * (size_t)D;
    double nd = (double)ND, dd = (double)D * D, bytes = (double)k->act_size * nd;
    printf("%d layers, D %d, vocabulary %d, %d x %d tokens, %d heads\n", layers, D, V, B, longest,
           heads);
    step_ms = step_gflop = 0;
    void *X = random_act(ND), *Y = random_act(ND), *Z = random_act(ND), *dX = random_act(ND),
         *dY = random_act(ND);
    void *QKV = random_act(3 * ND), *dQKV = random_act(3 * ND), *H = random_act(4 * ND),
         *dH = random_act(4 * ND), *pre = random_act(4 * ND);
    float *W = random_float(4 * (size_t)D * (size_t)D),
          *dW = random_float(4 * (size_t)D * (size_t)D), *b = random_float(4 * (size_t)D),
          *db = random_float(4 * (size_t)D);
    float *mean = random_float((size_t)N), *rstd = random_float((size_t)N),
          *lse = random_float((size_t)N * (size_t)heads);
    uint64_t *sample = mem_alloc((size_t)N * 8);
    uint32_t *pos = mem_alloc((size_t)N * 4);
    int32_t *token = mem_alloc((size_t)N * 4);
    for (int i = 0, s = 0; i < N; i++) {
        if (i == at[s] + len[s]) s++;
        sample[i] = (uint64_t)s;
        pos[i] = (uint32_t)(i - at[s]);
        token[i] = (int)((unsigned)i * 7919u % (unsigned)V);
    }
#define UP(x, n) do { \
        void *p_ = k->alloc((n) * sizeof *x); \
        k->upload(p_, x, (n) * sizeof *x); \
        free(x); \
        x = p_; \
    } while (0)
    UP(sample, (size_t)N);
    UP(pos, (size_t)N);
    UP(at, (size_t)B);
    UP(len, (size_t)B);
    UP(token, (size_t)N);
    struct kern_drop drop = { 0.1f, { 1, RNG_DROPOUT, 1 }, 0, sample, pos };
    struct kern_attn g = { B,  heads, dim,  3 * D, 3 * D, 3 * D, D,     at,    len,
                           at, len,   NULL, longest, longest, N, causal, 0.125f };
    size_t kept = (size_t)N * (size_t)heads * (size_t)((longest + 63) / 64 * 8);
    void *room = k->alloc(kept);
#define BITS (k->attn_bits && k->attn_bits(&g, &drop) ? room : NULL)
    size_t d = (size_t)D * k->act_size;
    char *qkv = QKV, *dqkv = dQKV;

    TIME("qkv", 6 * nd * D, 0, layers, KERN(k, linear_fwd, .Y = QKV, .X = X, .W = W, .b = b,
                                            .N = N, .I = D, .O = 3 * D));
    TIME("attention", 4 * pairs * D, 4 * bytes, layers, KERN(k, attn_fwd, .O = Y, .lse = lse,
                                                          .bits = BITS, .Q = qkv, .K = qkv + d,
                                                          .V = qkv + 2 * d, .g = &g,
                                                          .drop = &drop));
    TIME("out", 2 * nd * D, 0, layers, KERN(k, linear_fwd, .Y = Y, .X = X, .W = W, .b = b, .N = N,
                                            .I = D, .O = D));
    TIME("norm", 0, 4 * bytes, 2 * layers, KERN(k, norm_fwd, .Y = Y, .S = Z, .mean = mean,
                                                .rstd = rstd, .X = X, .U = dY, .gamma = b,
                                                .beta = b, .drop = &drop, .eps = 1e-5f, .N = N,
                                                .D = D));
    TIME("ffn 1, gelu", 8 * nd * D, 0, layers, KERN(k, linear_fwd, .Y = H, .pre = pre, .X = X,
                                                    .W = W, .b = b, .f = KERN_GELU, .N = N, .I = D,
                                                    .O = 4 * D));
    TIME("ffn 2", 8 * nd * D, 0, layers, KERN(k, linear_fwd, .Y = Y, .X = H, .W = W, .b = b,
                                              .N = N, .I = 4 * D, .O = D));
    TIME("ffn 2 backward", 16 * nd * D, 0, layers, KERN(k, linear_bwd, .dX = dH, .dW = dW,
                                                        .db = k->norm_sums ? NULL : db,
                                                        .dY = dY, .X = H, .W = W,
                                                        .pre_x = pre, .f = KERN_GELU, .db_x = db,
                                                        .N = N, .I = 4 * D, .O = D));
    TIME("ffn 1 backward", 16 * nd * D, 0, layers, KERN(k, linear_bwd, .dX = dX, .add = true,
                                                        .dW = dW, .dY = dH, .X = X, .W = W, .N = N,
                                                        .I = D, .O = 4 * D));
    TIME("norm backward", 0, 4 * bytes, 2 * layers,
         KERN(k, norm_bwd, .dX = dX, .dU = dH, .dgamma = db, .dbeta = db,
              .du_sum = k->norm_sums ? db : NULL, .dY = dY, .S = Z,
              .mean = mean, .rstd = rstd, .gamma = b, .drop = &drop, .N = N, .D = D));
    TIME("out backward", 4 * nd * D, 0, layers, KERN(k, linear_bwd, .dX = dX, .dW = dW,
                                                     .db = k->norm_sums ? NULL : db, .dY = dY,
                                                     .X = X, .W = W, .N = N, .I = D, .O = D));
    TIME("attention backward", 8 * pairs * D, 8 * bytes, layers, KERN(k, attn_bwd, .dQ = dqkv,
                                                                   .bits = BITS,
                                                                   .dK = dqkv + d,
                                                                   .dV = dqkv + 2 * d, .dO = dY,
                                                                   .O = Y, .Q = qkv, .K = qkv + d,
                                                                   .V = qkv + 2 * d, .lse = lse,
                                                                   .g = &g, .drop = &drop));
    TIME("qkv backward", 12 * nd * D, 0, layers, KERN(k, linear_bwd, .dX = dX, .add = true,
                                                      .dW = dW, .db = db, .dY = dQKV, .X = X,
                                                      .W = W, .N = N, .I = D, .O = 3 * D));

    size_t VD = (size_t)V * (size_t)D;
    float *E = random_float(VD), *dE = random_float(VD), *bv = random_float((size_t)V),
          *loss = random_float((size_t)M);
    TIME("embeddings", 0, 2 * bytes, 1, KERN(k, embed_fwd, .Y = Y, .token = token,
                                             .pos = (int32_t *)pos, .E = E, .P = E, .scale = 1,
                                             .N = N, .D = D));
    TIME("embeddings backward", 0, 3 * bytes, 1, KERN(k, embed_bwd, .dE = dE, .dP = dE, .dY = dY,
                                                      .token = token, .pos = (int32_t *)pos,
                                                      .scale = 1, .N = N, .D = D));
    TIME("cross entropy, 15%", 6.0 * M * D * V, 0, 1, KERN(k, xent, .loss = loss, .dX = dX,
                                                           .dW = dE, .db = bv, .X = X, .W = E,
                                                           .b = bv, .target = token, .eps = 0,
                                                           .scale = 1, .M = M, .D = D, .V = V));
    size_t P = VD + (size_t)layers * 12 * (size_t)dd;
    float *p = random_float(P), *gr = random_float(P), *m = random_float(P), *v = random_float(P),
          *norm2 = random_float(1);
    struct kern_part all = { 0, P, false };
    struct kern_adam a = {
        .p = p, .g = gr, .m = m, .v = v, .part = &all, .parts = 1, .norm2 = norm2, .lr = 1e-4,
        .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .step = 10, .clip = 1, .grad_scale = 1,
    };
    k->zero(v, P * 4);
    TIME("gradient norm", 0, 4.0 * (double)P, 1, KERN(k, norm2, .out = norm2, .x = gr, .n = P));
    TIME("adam", 0, 28.0 * (double)P, 1, k->adam(&a));
    TIME("zero gradients", 0, 4.0 * (double)P, 1, k->zero(gr, P * 4));
    printf("  step %.1f ms, %.0f tokens/s, %.1f GFLOP/s = %.0f%% of one product\n\n", step_ms,
           N / step_ms * 1e3, step_gflop / step_ms * 1e3, 100 * step_gflop / step_ms * 1e3 / peak);
    void *made[] = { X,   Y,      Z,   dX, dY,  QKV,   dQKV, H,  dH, pre,  W, dW, b, db, mean, rstd,
                     lse, sample, pos, at, len, token, E,    dE, bv, loss, p, gr, m, v,  norm2,
                     room };
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) k->release(made[i]);
}

/* What only some objectives call: of a batch of N rows 12% read a mixture of 8 words (SCS),
 * whose similarities to V words have the means of their columns' 10 largest; 10,000 pairs of
 * words are aligned (ALIGN-MLM). */
static void objectives(int D, int V, int N)
{
    int M = N * 12 / 100, P = 10000;
    size_t ND = (size_t)N * (size_t)D, VD = (size_t)V * (size_t)D, MV = (size_t)M * (size_t)V;
    printf("D %d, vocabulary %d, %d rows\n", D, V, N);
    void *X = random_act(ND), *Y = random_act(ND), *dX = random_act(ND), *S = random_act(MV);
    float *E = random_float(VD), *dE = random_float(VD), *len = random_float((size_t)N),
          *w = random_float((size_t)M * 8);
    float *val = random_float((size_t)M * 8), *mean = random_float((size_t)V),
          *loss = random_float((size_t)P);
    int32_t *idx = mem_alloc((size_t)P * 8 * sizeof *idx),
            *other = mem_alloc((size_t)P * sizeof *other);
    for (int i = 0; i < P * 8; i++) idx[i] = (int)((unsigned)i * 7919u % (unsigned)V);
    for (int i = 0; i < P; i++) other[i] = (int)((unsigned)i * 104729u % (unsigned)V);
    UP(idx, (size_t)P * 8); UP(other, (size_t)P);
    double act = (double)k->act_size * D;
    TIME("unit rows", 0, 2 * act * N, 1,
         KERN(k, unit_fwd, .Y = Y, .len = len, .X = X, .s = 1, .N = N, .D = D));
    TIME("unit rows backward", 0, 3 * act * N, 1,
         KERN(k, unit_bwd, .dX = dX, .dY = X, .Y = Y, .len = len, .s = 1, .N = N, .D = D));
    TIME("mixtures of 8", 0, 4.0 * D * 8 * M, 1,
         KERN(k, mix_fwd, .Y = Y, .E = E, .idx = idx, .w = w, .scale = 1, .M = M, .k = 8, .D = D));
    TIME("mixtures backward", 0, 8.0 * D * 8 * M, 1,
         KERN(k, mix_bwd, .dE = dE, .dY = Y, .idx = idx, .w = w, .scale = 1, .M = M, .k = 8,
              .D = D));
    TIME("softmax of 8", 0, 64.0 * M, 1,
         KERN(k, softmax, .w = w, .val = val, .T = 1, .M = M, .k = 8));
    TIME("column means of 10", 0, (double)k->act_size * (double)MV, 1,
         KERN(k, column_means, .mean = mean, .S = S, .K = 10, .n = M, .m = V));
    TIME(
        "pairs of rows", 0, 8.0 * D * P, 1,
        KERN(k, cos_pairs, .loss = loss, .E = E, .i = idx, .j = other, .scale = 1, .P = P, .D = D));
    TIME("pairs, with gradient", 0, 32.0 * D * P, 1,
         KERN(k, cos_pairs, .loss = loss, .dE = dE, .E = E, .i = idx, .j = other, .scale = 1,
              .P = P, .D = D));
    TIME("moving average", 0, 12 * (double)VD, 1,
         KERN(k, ema, .p = E, .q = dE, .m = 0.999, .n = VD));
    TIME("to_float32", 0, (act + 4.0 * D) * M, 1,
         KERN(k, to_float32, .to = E, .from = X, .n = (size_t)M * (size_t)D));
    printf("\n");
    void *made[] = { X, Y, dX, S, E, dE, len, w, val, mean, loss, idx, other };
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) k->release(made[i]);
}

int main(int argc, char **argv)
{
    only = getenv("ONLY");
    par_threads_set(argc > 1 ? atoi(argv[1]) : 1);
    bool bf16 = argc > 3 && strcmp(argv[3], "bf16") == 0;
    k = kernels_open(argc > 2 ? argv[2] : "cpu", bf16 ? KERN_BF16 : KERN_FLOAT32, NULL);
    if (!k) { fprintf(stderr, "ops: %s\n", err_msg()); return 1; }
    if (getenv("CPUTIME")) clock_id = CLOCK_PROCESS_CPUTIME_ID;
    printf("%s\n", k->describe());
    int side = k->queues && argc < 10 ? 8192
               : argc < 10            ? 4096
                                      : 4 * atoi(argv[5]),
        deep = k->queues ? side : side / 4;
    void *X = random_act((size_t)side * (size_t)deep), *Y = random_act((size_t)side * (size_t)side);
    float *W = random_float((size_t)side * (size_t)deep);
    double best = 1e9;
    for (int i = 0; i < 5; i++) {
        double t = now();
        KERN(k, linear_fwd, .Y = Y, .X = X, .W = W, .N = side, .I = deep, .O = side);
        k->sync();
        t = now() - t;
        if (t < best) best = t;
    }
    peak = 2.0 * side * side * deep / best * 1e-9;
    printf("one product %dx%dx%d, %s: %.1f GFLOP/s\n\n", side, side, deep,
           bf16 ? "bf16" : "float32", peak);
    k->release(X); k->release(Y); k->release(W);
    if (argc > 9) {
        model(atoi(argv[4]), atoi(argv[5]), atoi(argv[6]), atoi(argv[7]), atoi(argv[8]),
              atoi(argv[9]));
        return 0;
    }
    objectives(256, 8000, 2048);
    model(4, 256, 8000, 64, 32, 4);
    model(6, 512, 20000, 128, 32, 8);
    model(6, 1024, 20000, 256, 8, 16);
    return 0;
}
