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
static void download(void *host, const void *from, size_t bytes)
{
    (void)from;
    memset(host, 0, bytes);
}
static void zero(void *p, size_t bytes) { (void)p; (void)bytes; }
static void get(float *host, const act *from, size_t n)
{
    (void)from;
    memset(host, 0, n * sizeof *host);
}
static int done(void) { return 0; }
static const char *describe(void) { return "plan"; }
static int precision(enum kern_precision p) { (void)p; return 0; }

/* Operations leave everything as it is. */
#define PLAN_OP(op, name) static void plan_##op(const struct kern_##op *a) { (void)a; }
KERN_OPS(PLAN_OP)

const struct kernels *plan_kernels(const struct kernels *like)
{
    static struct kernels table;
    table = (struct kernels){
        .abi = KERNELS_ABI, .name = "plan", .act_size = like->act_size,
        .alloc = plan_alloc, .release = plan_release, .upload = upload, .download = download,
        .copy = upload, .zero = zero, .get = get, .sync = done, .fetch = download,
        .host_alloc = mem_alloc, .host_release = free, .describe = describe, .precision = precision,
        .attn_bits = like->attn_bits, .norm_sums = like->norm_sums,
#define PLAN_ENTRY(op, name) .op = plan_##op,
        KERN_OPS(PLAN_ENTRY)
    };
    return &table;
}
