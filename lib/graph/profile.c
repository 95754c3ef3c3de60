#include "lib/graph/profile.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "common/mem.h"

/* An operation at one width: those of a model are some dozens. */
enum { ENTRIES = 128 };
struct entry { const char *op; int from, to; int64_t calls; double seconds, flops, bytes; };
static struct { const struct kernels *k; struct entry e[ENTRIES]; int n; double started; } p;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void begin(void) { p.started = now(); }

static void end(const char *op, int from, int to, double flops, double bytes)
{
    p.k->sync();
    double s = now() - p.started;
    int i = 0;
    while (i < p.n && (strcmp(p.e[i].op, op) != 0 || p.e[i].from != from || p.e[i].to != to)) i++;
    if (i == ENTRIES) return;
    if (i == p.n) p.e[p.n++] = (struct entry){ .op = op, .from = from, .to = to };
    struct entry *e = &p.e[i];
    e->calls++;
    e->seconds += s; e->flops += flops; e->bytes += bytes;
}

/* Bytes of n acts, n floats. */
static double acts(double n) { return n * (double)p.k->act_size; }
static double floats(double n) { return 4 * n; }
static double both(int a, int b) { return (double)a * (double)b; }
static double size(int a, int b, int c) { return both(a, b) * (double)c; }

static void upload(void *to, const void *host, size_t bytes)
{
    begin();
    p.k->upload(to, host, bytes);
    end("upload", 0, 0, 0, 2 * (double)bytes);
}

static void download(void *host, const void *from, size_t bytes)
{
    begin();
    p.k->download(host, from, bytes);
    end("download", 0, 0, 0, 2 * (double)bytes);
}

static void fetch(void *host, const void *from, size_t bytes)
{
    begin();
    p.k->fetch(host, from, bytes);
    end("fetch", 0, 0, 0, 2 * (double)bytes);
}

static void copy(void *to, const void *from, size_t bytes)
{
    begin();
    p.k->copy(to, from, bytes);
    end("copy", 0, 0, 0, 2 * (double)bytes);
}

static void zero(void *to, size_t bytes)
{
    begin();
    p.k->zero(to, bytes);
    end("zero", 0, 0, 0, (double)bytes);
}

static void put(act *to, const float *host, size_t n)
{
    begin();
    p.k->put(to, host, n);
    end("put", 0, 0, 0, acts((double)n) + floats((double)n));
}

static void get(float *host, const act *from, size_t n)
{
    begin();
    p.k->get(host, from, n);
    end("get", 0, 0, 0, acts((double)n) + floats((double)n));
}

static void linear_fwd(act *Y, act *pre, const act *X, const float *W, const float *b, enum kern_act f, int N, int I, int O)
{
    begin();
    p.k->linear_fwd(Y, pre, X, W, b, f, N, I, O);
    end("linear", I, O, 2 * size(N, I, O), acts(both(N, I) + both(N, O) * (pre ? 2 : 1)) + floats(both(I, O)));
}

static void linear_bwd(act *dX, bool add, float *dW, float *db, const act *dY, const act *X, const float *W, act *pre_x,
                       enum kern_act f, float *db_x, int N, int I, int O)
{
    begin();
    p.k->linear_bwd(dX, add, dW, db, dY, X, W, pre_x, f, db_x, N, I, O);
    int products = (dX != NULL) + (dW != NULL);
    end("linear backward", I, O, 2 * products * size(N, I, O), acts(products * (both(N, I) + both(N, O))) + floats(products * both(I, O)));
}

static void act_bwd(act *dX, const act *pre, enum kern_act f, size_t n)
{
    begin();
    p.k->act_bwd(dX, pre, f, n);
    end("activation backward", 0, 0, 0, acts(3 * (double)n));
}

static void embed_fwd(act *Y, const int32_t *token, const int32_t *pos, const int32_t *lang, const float *E, const float *P,
                      const float *L, float scale, int N, int D)
{
    begin();
    p.k->embed_fwd(Y, token, pos, lang, E, P, L, scale, N, D);
    end("embeddings", 0, D, 0, acts(both(N, D)) + floats(both(N, D)));
}

static void embed_bwd(float *dE, float *dP, float *dL, const act *dY, const int32_t *token, const int32_t *pos, const int32_t *lang,
                      float scale, int N, int D)
{
    begin();
    p.k->embed_bwd(dE, dP, dL, dY, token, pos, lang, scale, N, D);
    end("embeddings backward", D, 0, 0, acts(both(N, D)) + floats(2 * both(N, D)));
}

static void norm_fwd(act *Y, act *S, float *mean, float *rstd, const act *X, const act *U, const float *gamma, const float *beta,
                     const struct kern_drop *drop, float eps, int N, int D)
{
    begin();
    p.k->norm_fwd(Y, S, mean, rstd, X, U, gamma, beta, drop, eps, N, D);
    end("norm", D, D, 0, acts(both(N, D) * (U ? 4 : 2)));
}

static void norm_bwd(act *dX, bool add, act *dU, float *dgamma, float *dbeta, const act *dY, const act *dS, const act *S,
                     const float *mean, const float *rstd, const float *gamma, const struct kern_drop *drop, int N, int D)
{
    begin();
    p.k->norm_bwd(dX, add, dU, dgamma, dbeta, dY, dS, S, mean, rstd, gamma, drop, N, D);
    end("norm backward", D, D, 0, acts(both(N, D) * (3 + (add ? 1 : 0) + (dU ? 1 : 0) + (dS ? 1 : 0))));
}

static void drop_fwd(act *S, const act *X, const act *U, const struct kern_drop *drop, int N, int D)
{
    begin();
    p.k->drop_fwd(S, X, U, drop, N, D);
    end("dropout", D, D, 0, acts(both(N, D) * (X ? 3 : 2)));
}

static void drop_bwd(act *dU, bool add, const act *dS, const struct kern_drop *drop, int N, int D)
{
    begin();
    p.k->drop_bwd(dU, add, dS, drop, N, D);
    end("dropout backward", D, D, 0, acts(both(N, D) * (add ? 3 : 2)));
}

/* Pairs of a query and a key that it sees. */
static double pairs(const struct kern_attn *g)
{
    size_t bytes = (size_t)g->batch * sizeof(int32_t);
    int32_t *q = mem_alloc(bytes + 1), *k = mem_alloc(bytes + 1);
    double n = 0;
    p.k->download(q, g->q_len, bytes);
    p.k->download(k, g->k_len, bytes);
    for (int b = 0; b < g->batch; b++)
        n += both(q[b], k[b]) - (g->causal ? 0.5 * both(q[b], q[b] - 1) : 0);
    free(q);
    free(k);
    return n;
}

static void attn_fwd(act *O, float *lse, const act *Q, const act *K, const act *V, const struct kern_attn *g, const struct kern_drop *drop)
{
    double n = pairs(g);
    int D = g->heads * g->dim;
    begin();
    p.k->attn_fwd(O, lse, Q, K, V, g, drop);
    end("attention", D, D, 4 * n * D, acts(4 * both(g->rows_q, D)));
}

static void attn_bwd(act *dQ, act *dK, act *dV, const act *dO, const act *O, const act *Q, const act *K, const act *V,
                     const float *lse, const struct kern_attn *g, const struct kern_drop *drop)
{
    double n = pairs(g);
    int D = g->heads * g->dim;
    begin();
    p.k->attn_bwd(dQ, dK, dV, dO, O, Q, K, V, lse, g, drop);
    end("attention backward", D, D, 8 * n * D, acts(8 * both(g->rows_q, D)));
}

static void gather(act *Y, int ldy, const act *X, int ldx, const int32_t *index, int M, int D)
{
    begin();
    p.k->gather(Y, ldy, X, ldx, index, M, D);
    end("gather", D, D, 0, acts(2 * both(M, D)));
}

static void scatter(act *Y, int ldy, bool add, const act *X, int ldx, const int32_t *index, int M, int D)
{
    begin();
    p.k->scatter(Y, ldy, add, X, ldx, index, M, D);
    end("scatter", D, D, 0, acts(both(M, D) * (add ? 3 : 2)));
}

static void add_all(act *Y, const act *X, size_t n)
{
    begin();
    p.k->add(Y, X, n);
    end("add", 0, 0, 0, acts(3 * (double)n));
}

static void xent(float *loss, float *nll, int32_t *best, act *dX, float *dW, float *db, const act *X, const float *W, const float *b,
                 const int32_t *target, const float *weight, const uint8_t *allowed, float eps, float scale, int M, int D, int V)
{
    begin();
    p.k->xent(loss, nll, best, dX, dW, db, X, W, b, target, weight, allowed, eps, scale, M, D, V);
    end("output, cross entropy", D, V, 2 * (1 + (dX != NULL) + (dW != NULL)) * size(M, D, V), 0);
}

static void gc(float *loss, act *dH, void *dB, const act *H, const void *B, bool B_act, const int32_t *t, const int32_t *nb,
               const float *f, const float *logx, float dot_scale, float weight, float scale, int M, int J, int D)
{
    begin();
    p.k->gc(loss, dH, dB, H, B, B_act, t, nb, f, logx, dot_scale, weight, scale, M, J, D);
    end("co-occurrence", D, J, 0, acts(3 * size(M, J, D)));
}

static void topk(float *val, int32_t *idx, float *lse, const act *logits, const uint8_t *allowed, int M, int V, int k)
{
    begin();
    p.k->topk(val, idx, lse, logits, allowed, M, V, k);
    end("top k", V, k, 0, acts(both(M, V)));
}

static void beam(const float *val, const int32_t *idx, const float *lse, const struct kern_beam *b)
{
    begin();
    p.k->beam(val, idx, lse, b);
    end("beam search", b->beam, 0, 0, 0);
}

static void norm2(float *out, const float *x, size_t n)
{
    begin();
    p.k->norm2(out, x, n);
    end("gradient norm", 0, 0, 0, floats((double)n));
}

static void scale(float *x, float a, size_t n)
{
    begin();
    p.k->scale(x, a, n);
    end("scale", 0, 0, 0, floats(2 * (double)n));
}

static double size_of(const struct kern_part *part, int parts)
{
    double n = 0;
    for (int i = 0; i < parts; i++) n += (double)part[i].n;
    return n;
}

static void adam(float *w, const float *g, float *m, float *v, const struct kern_part *part, int parts, const struct kern_adam *a, const float *norm)
{
    begin();
    p.k->adam(w, g, m, v, part, parts, a, norm);
    end("adam", 0, 0, 0, floats(7 * size_of(part, parts)));
}

static void lamb(float *w, const float *g, float *m, float *v, const struct kern_part *part, int parts, const struct kern_adam *a, const float *norm)
{
    begin();
    p.k->lamb(w, g, m, v, part, parts, a, norm);
    end("lamb", 0, 0, 0, floats(10 * size_of(part, parts)));
}

const struct kernels *profile_kernels(const struct kernels *k)
{
    static struct kernels table;
    p.k = k;
    p.n = 0;
    table = *k;                                      /* what is not an operation stays: alloc, sync, describe ... */
    table.upload = upload; table.download = download; table.copy = copy; table.zero = zero; table.put = put; table.get = get; table.fetch = fetch;
    table.linear_fwd = linear_fwd; table.linear_bwd = linear_bwd; table.act_bwd = act_bwd;
    table.embed_fwd = embed_fwd; table.embed_bwd = embed_bwd; table.norm_fwd = norm_fwd; table.norm_bwd = norm_bwd;
    table.drop_fwd = drop_fwd; table.drop_bwd = drop_bwd; table.attn_fwd = attn_fwd; table.attn_bwd = attn_bwd;
    table.gather = gather; table.scatter = scatter; table.add = add_all; table.xent = xent; table.gc = gc; table.topk = topk; table.beam = beam;
    table.record = NULL;                             /* every operation is waited for */
    table.norm2 = norm2; table.scale = scale; table.adam = adam; table.lamb = lamb;
    return &table;
}

void profile_reset(void) { p.n = 0; }

/* GFLOP/s of one large product on this device: the best of four. */
static double largest(void)
{
    enum { N = 4096, I = 1024, O = 2048 };
    act *X = p.k->alloc((size_t)N * I * p.k->act_size), *Y = p.k->alloc((size_t)N * O * p.k->act_size);
    float *W = p.k->alloc((size_t)I * O * sizeof *W);
    double best = 0;
    if (X && Y && W) {
        p.k->zero(X, (size_t)N * I * p.k->act_size);
        p.k->zero(W, (size_t)I * O * sizeof *W);
        for (int i = 0; i < 4; i++) {
            begin();
            p.k->linear_fwd(Y, NULL, X, W, NULL, KERN_NONE, N, I, O);
            p.k->sync();
            double rate = 2.0 * N * I * O / (now() - p.started) * 1e-9;
            if (rate > best) best = rate;
        }
    }
    if (X) p.k->release(X);
    if (Y) p.k->release(Y);
    if (W) p.k->release(W);
    return best;
}

static int by_time(const void *a, const void *b)
{
    double x = ((const struct entry *)a)->seconds, y = ((const struct entry *)b)->seconds;
    return x < y ? 1 : x > y ? -1 : 0;
}

void profile_print(FILE *f, double seconds, int64_t steps)
{
    double sum = 0, flops = 0, peak = largest(), n = steps > 0 ? (double)steps : 1;
    for (int i = 0; i < p.n; i++) { sum += p.e[i].seconds; flops += p.e[i].flops; }
    qsort(p.e, (size_t)p.n, sizeof *p.e, by_time);
    fprintf(f, "%-24s %12s %8s %9s %6s %8s %5s %7s\n", "operation", "width", "calls", "ms", "time", "GFLOP/s", "peak", "GB/s");
    for (int i = 0; i < p.n; i++) {
        const struct entry *e = &p.e[i];
        char width[32] = "";
        if (e->from || e->to) snprintf(width, sizeof width, "%d-%d", e->from, e->to);
        fprintf(f, "%-24s %12s %8.1f %9.3f %5.1f%%", e->op, width, (double)e->calls / n, e->seconds / n * 1e3, 100 * e->seconds / seconds);
        if (e->flops > 0) fprintf(f, " %8.1f %4.0f%%", e->flops / e->seconds * 1e-9, 100 * e->flops / e->seconds * 1e-9 / peak);
        else fprintf(f, " %8s %5s", "", "");
        if (e->bytes > 0 && e->seconds > 0) fprintf(f, " %7.1f", e->bytes / e->seconds * 1e-9);
        fprintf(f, "\n");
    }
    fprintf(f, "%-24s %12s %8s %9.3f %5.1f%%\n", "outside operations", "", "", (seconds - sum) / n * 1e3, 100 * (seconds - sum) / seconds);
    fprintf(f, "%-24s %12s %8s %9.3f %6s %8.1f %4.0f%%   (one product of 4096 x 1024 x 2048: %.1f GFLOP/s)\n", "step", "", "",
            seconds / n * 1e3, "", flops / seconds * 1e-9, 100 * flops / seconds * 1e-9 / peak, peak);
}
