#include "lib/graph/profile.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "common/clock.h"
#include "common/mem.h"

/* An operation at one width: those of a model are some dozens. */
enum { ENTRIES = 128 };
struct entry { const char *op; int from, to; int64_t calls; double seconds, flops, bytes; };
static struct { const struct kernels *k; struct entry e[ENTRIES]; int n; double started; } p;

static void begin(void) { p.started = clock_seconds(); }

static void end(const char *op, int from, int to, double flops, double bytes)
{
    /* a device that queues has returned at once: the time is that of the work */
    p.k->sync();
    double s = clock_seconds() - p.started;
    int i = 0;
    for (; i < p.n; i++)
        if (strcmp(p.e[i].op, op) == 0 && p.e[i].from == from && p.e[i].to == to) break;
    /* more kinds than there is room for count as time outside operations */
    if (i == ENTRIES) return;
    if (i == p.n) p.e[p.n++] = (struct entry){ .op = op, .from = from, .to = to };
    struct entry *e = &p.e[i];
    e->calls++;
    e->seconds += s; e->flops += flops; e->bytes += bytes;
}

/* Pairs of a query and a key that it sees. */
static double pairs(const struct kern_attn *g)
{
    size_t bytes = (size_t)g->batch * sizeof(int32_t);
    int32_t *q = mem_alloc(bytes), *k = mem_alloc(bytes);
    /* exact, since sentences differ: rows times the longest would make attention look faster than
     * it is */
    double n = 0;
    /* not through the table: this is the profiler's own time */
    p.k->download(q, g->q_len, bytes);
    p.k->download(k, g->k_len, bytes);
    for (int b = 0; b < g->batch; b++)
        n += (double)q[b] * k[b] - (g->causal ? 0.5 * q[b] * (q[b] - 1.0) : 0);
    free(q);
    free(k);
    return n;
}

/* Every operation is run, waited for and put down with what it costs. */
typedef void operation(const void *args);
static void timed(operation *op, const void *args, const char *name, struct kern_cost c)
{
    /* before the clock starts */
    double each = c.pairs ? pairs(c.pairs) : 1;
    double bytes = c.acts * (double)p.k->act_size + c.floats * sizeof(float);
    begin();
    op(args);
    end(c.name ? c.name : name, c.from, c.to, c.flops * each, bytes);
}

#define PROFILE_OP(op, name) \
    static void call_##op(const void *args) { p.k->op(args); } \
    static void profile_##op(const struct kern_##op *a) { timed(call_##op, a, name, cost_##op(a)); }
KERN_OPS(PROFILE_OP)

static void upload(void *to, const void *host, size_t bytes)
{
    begin();
    p.k->upload(to, host, bytes);
    /* 2: read here and written there */
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

static void get(float *host, const act *from, size_t n)
{
    begin();
    p.k->get(host, from, n);
    end("get", 0, 0, 0, (double)n * (double)(p.k->act_size + sizeof(float)));
}

const struct kernels *profile_kernels(const struct kernels *k)
{
    static struct kernels table;
    p.k = k;
    p.n = 0;
    /* the rest (alloc, sync, describe ...) stays */
    table = *k;
    table.upload = upload; table.download = download; table.fetch = fetch;
    table.copy = copy; table.zero = zero; table.get = get;
    /* a replayed sequence cannot be timed operation by operation */
    table.record = NULL;
#define PROFILE_ENTRY(op, name) table.op = profile_##op;
    KERN_OPS(PROFILE_ENTRY)
    return &table;
}

void profile_reset(void) { p.n = 0; }

/* GFLOP/s of one large product on this device: the best of four. */
static double largest(void)
{
    /* large enough that nothing but the arithmetic counts, small enough for any device */
    enum { N = 4096, I = 1024, O = 2048 };
    act *X = p.k->alloc((size_t)N * I * p.k->act_size),
        *Y = p.k->alloc((size_t)N * O * p.k->act_size);
    float *W = p.k->alloc((size_t)I * O * sizeof *W);
    double best = 0;
    if (X && Y && W) {
        p.k->zero(X, (size_t)N * I * p.k->act_size);
        p.k->zero(W, (size_t)I * O * sizeof *W);
        for (int i = 0; i < 4; i++) {
            begin();
            KERN(p.k, linear_fwd, .Y = Y, .X = X, .W = W, .N = N, .I = I, .O = O);
            p.k->sync();
            double rate = 2.0 * N * I * O / (clock_seconds() - p.started) * 1e-9;
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
    fprintf(f, "%-24s %12s %8s %9s %6s %8s %5s %7s\n", "operation", "width", "calls", "ms", "time",
            "GFLOP/s", "peak", "GB/s");
    for (int i = 0; i < p.n; i++) {
        const struct entry *e = &p.e[i];
        char width[32] = "";
        if (e->from || e->to) snprintf(width, sizeof width, "%d-%d", e->from, e->to);
        fprintf(f, "%-24s %12s %8.1f %9.3f %5.1f%%", e->op, width, (double)e->calls / n,
                e->seconds / n * 1e3, 100 * e->seconds / seconds);
        /* products and attention; what only moves memory has its GB/s alone */
        if (e->flops > 0)
            fprintf(f, " %8.1f %4.0f%%", e->flops / e->seconds * 1e-9,
                    100 * e->flops / e->seconds * 1e-9 / peak);
        else fprintf(f, " %8s %5s", "", "");
        if (e->bytes > 0 && e->seconds > 0) fprintf(f, " %7.1f", e->bytes / e->seconds * 1e-9);
        fprintf(f, "\n");
    }
    /* of the steps' own time: the host's work, and what the data thread did not have ready */
    fprintf(f, "%-24s %12s %8s %9.3f %5.1f%%\n", "outside operations", "", "",
            (seconds - sum) / n * 1e3, 100 * (seconds - sum) / seconds);
    fprintf(f,
            "%-24s %12s %8s %9.3f %6s %8.1f %4.0f%%   (one product of 4096 x 1024 x 2048: %.1f "
            "GFLOP/s)\n",
            "step", "", "", seconds / n * 1e3, "", flops / seconds * 1e-9,
            100 * flops / seconds * 1e-9 / peak, peak);
}
