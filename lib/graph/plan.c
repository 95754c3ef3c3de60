#include "lib/graph/plan.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "common/err.h"
#include "common/mem.h"

/* Addresses without memory behind them; their size is kept in a list for munmap. */
static struct { void *p; size_t n; } *ranges;
static size_t n_ranges, cap;

static void *plan_alloc(size_t bytes)
{
    if (!bytes) bytes = 1;
    void *p = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) { err_sys("addresses for %zu bytes", bytes); return NULL; }
    mem_room(&ranges, &cap, n_ranges + 1, sizeof *ranges);
    ranges[n_ranges].p = p;
    ranges[n_ranges++].n = bytes;
    return p;
}

static void plan_release(void *p)
{
    for (size_t i = 0; i < n_ranges; i++)
        if (ranges[i].p == p) {
            munmap(p, ranges[i].n);
            ranges[i] = ranges[--n_ranges];
            break;
        }
    if (n_ranges) return;
    free(ranges);
    ranges = NULL;
    cap = 0;
}

static void upload(void *to, const void *host, size_t bytes) { (void)to; (void)host; (void)bytes; }
static void download(void *host, const void *from, size_t bytes) { (void)from; memset(host, 0, bytes); }
static void zero(void *p, size_t bytes) { (void)p; (void)bytes; }
static void put(act *to, const float *host, size_t n) { (void)to; (void)host; (void)n; }
static void get(float *host, const act *from, size_t n) { (void)from; memset(host, 0, n * sizeof *host); }
static int done(void) { return 0; }
static const char *describe(void) { return "plan"; }
static int precision(enum kern_precision p) { (void)p; return 0; }

/* Operations leave everything as it is. The arguments have no names: nothing reads them. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
static void linear_fwd(act *Y, act *pre, const act *X, const float *W, const float *b, enum kern_act f, int N, int I, int O) { }
static void linear_bwd(act *dX, bool add, float *dW, float *db, const act *dY, const act *X, const float *W, act *pre, enum kern_act f, float *db_x, int N, int I, int O) { }
static void act_bwd(act *dX, const act *pre, enum kern_act f, size_t n) { }
static void embed_fwd(act *Y, const int32_t *t, const int32_t *p, const int32_t *l, const float *E, const float *P, const float *L, float s, int N, int D) { }
static void embed_bwd(float *dE, float *dP, float *dL, const act *dY, const int32_t *t, const int32_t *p, const int32_t *l, float s, int N, int D) { }
static void norm_fwd(act *Y, act *S, float *m, float *r, const act *X, const act *U, const float *g, const float *b, const struct kern_drop *d, float e, int N, int D) { }
static void norm_bwd(act *dX, bool add, act *dU, float *dg, float *db, const act *dY, const act *dS, const act *S, const float *m, const float *r, const float *g,
                     const struct kern_drop *d, int N, int D) { }
static void drop_fwd(act *S, const act *X, const act *U, const struct kern_drop *d, int N, int D) { }
static void drop_bwd(act *dU, bool add, const act *dS, const struct kern_drop *d, int N, int D) { }
static void attn_fwd(act *O, float *lse, const act *Q, const act *K, const act *V, const struct kern_attn *g, const struct kern_drop *d) { }
static void attn_bwd(act *dQ, act *dK, act *dV, const act *dO, const act *O, const act *Q, const act *K, const act *V, const float *lse, const struct kern_attn *g,
                     const struct kern_drop *d) { }
static void gather(act *Y, int ldy, const act *X, int ldx, const int32_t *i, int M, int D) { }
static void scatter(act *Y, int ldy, bool add, const act *X, int ldx, const int32_t *i, int M, int D) { }
static void add(act *Y, const act *X, size_t n) { }
static void xent(float *loss, float *nll, int32_t *best, act *dX, float *dW, float *db, const act *X, const float *W, const float *b, const int32_t *t,
                 const float *w, const uint8_t *a, float e, float s, int M, int D, int V) { }
static void gc(float *loss, act *dH, void *dB, const act *H, const void *B, bool act, const int32_t *t, const int32_t *nb, const float *f, const float *x,
               float d, float w, float s, int M, int J, int D) { }
static void topk(float *val, int32_t *idx, float *lse, const act *z, const uint8_t *a, int M, int V, int k) { }
static void beam(const float *val, const int32_t *idx, const float *lse, const struct kern_beam *b) { }
static void norm2(float *out, const float *x, size_t n) { }
static void scale(float *x, float a, size_t n) { }
static void optimise(float *p, const float *g, float *m, float *v, const struct kern_part *part, int parts, const struct kern_adam *a, const float *norm) { }
#pragma GCC diagnostic pop

const struct kernels *plan_kernels(const struct kernels *like)
{
    static struct kernels table;
    table = (struct kernels){
        .abi = KERNELS_ABI, .name = "plan", .act_size = like->act_size, .alloc = plan_alloc, .release = plan_release,
        .upload = upload, .download = download, .copy = upload, .zero = zero, .put = put, .get = get, .sync = done, .fetch = download, .host_alloc = mem_alloc, .host_release = free,
        .describe = describe, .precision = precision,
        .linear_fwd = linear_fwd, .linear_bwd = linear_bwd, .act_bwd = act_bwd, .embed_fwd = embed_fwd, .embed_bwd = embed_bwd,
        .norm_fwd = norm_fwd, .norm_bwd = norm_bwd, .drop_fwd = drop_fwd, .drop_bwd = drop_bwd, .attn_fwd = attn_fwd, .attn_bwd = attn_bwd,
        .gather = gather, .scatter = scatter, .add = add, .xent = xent, .gc = gc, .topk = topk, .beam = beam, .norm2 = norm2, .scale = scale,
        .adam = optimise, .lamb = optimise,
    };
    return &table;
}
