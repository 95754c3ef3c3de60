/* The CPU back end's table, its memory, and what the operations share. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/thread.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/int8.h"

/* --- memory ----------------------------------------------------------------------------------- */

static void *cpu_alloc(size_t bytes)
{
    enum { ALIGN = 256, HUGE_PAGE = 2 << 20 };
    size_t align = bytes >= HUGE_PAGE ? HUGE_PAGE : ALIGN;
    size_t rounded = (bytes + align - 1) / align * align;
    void *p = rounded >= bytes ? aligned_alloc(align, rounded ? rounded : align) : NULL;
    if (!p) {
        err_set("out of memory: needed %zu bytes for tensors; use a smaller batch or --recompute",
                bytes);
        return NULL;
    }
    if (align == HUGE_PAGE) madvise(p, rounded, MADV_HUGEPAGE);     /* refused: only slower */
    return p;
}

static void cpu_release(void *p) { free(p); }

/* Gradients are hundreds of megabytes, and one core does not fill the memory's bandwidth. */
enum { PIECE = 1 << 20 };
struct bytes { char *to; const char *from; size_t n; };

static int move_piece(void *ctx, size_t i, int thread)
{
    (void)thread;
    const struct bytes *b = ctx;
    size_t at = i * PIECE, n = b->n - at < PIECE ? b->n - at : PIECE;
    if (b->from) memcpy(b->to + at, b->from + at, n);
    else memset(b->to + at, 0, n);
    return 0;
}

static void cpu_copy(void *to, const void *from, size_t bytes)
{
    struct bytes b = { to, from, bytes };
    if (to != from) par_for((bytes + PIECE - 1) / PIECE, move_piece, &b);
}

static void cpu_zero(void *p, size_t bytes)
{
    struct bytes b = { p, NULL, bytes };
    par_for((bytes + PIECE - 1) / PIECE, move_piece, &b);
}

static void cpu_get(float *host, const act *from, size_t n)
{
    if (acts_half) acts_read(from, 0, n, host);
    else cpu_copy(host, from, n * sizeof *host);
}

static char failure[512];
void cpu_failed(void)
{
    if (!*failure) snprintf(failure, sizeof failure, "%s", err_msg());
}
static int cpu_sync(void)
{
    return *failure ? err_set("%s", failure) : 0;
} /* the rest is done when it returns */

static struct kernels table, eights;

static int cpu_precision(enum kern_precision p)
{
    if (gemm_bf16(p == KERN_BF16 || (p == KERN_AUTO && gemm_bf16_gains())) < 0) return -1;
    acts_half = gemm_takes_acts();
    table.act_size = eights.act_size = acts_half ? sizeof(uint16_t) : sizeof(float);
    return 0;
}

/* --- scratch ---------------------------------------------------------------------------------- */

struct piece { void *p; size_t bytes; };
static pthread_key_t scratch_key;

static void scratch_free(void *arg)
{
    struct piece *s = arg;
    for (int i = 0; i < SCRATCH_PIECES; i++) free(s[i].p);
    free(s);
}

static void scratch_start(void) { pthread_key_create(&scratch_key, scratch_free); }

void *cpu_scratch(int piece, size_t bytes)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static _Thread_local struct piece *mine;
    if (!mine) {
        pthread_once(&once, scratch_start);
        mine = mem_zero(SCRATCH_PIECES, sizeof *mine);
        pthread_setspecific(scratch_key, mine);
    }
    struct piece *s = &mine[piece];
    if (s->bytes < bytes || !s->p) {
        free(s->p);
        s->p = cpu_alloc(bytes);
        if (!s->p) s->p = mem_alloc(bytes);     /* which says so and ends the program */
        s->bytes = bytes;
    }
    return s->p;
}

/* --- chunks ----------------------------------------------------------------------------------- */

struct range { int n, step; void (*fn)(void *, int, int); void *ctx; };

static int run_range(void *ctx, size_t i, int thread)
{
    (void)thread;
    const struct range *r = ctx;
    int first = (int)i * r->step;
    r->fn(r->ctx, first, r->n - first < r->step ? r->n : first + r->step);
    return 0;
}

static void run_ranges(int n, int step, void (*fn)(void *, int, int), void *ctx)
{
    if (n <= 0) return;
    struct range r = { n, step, fn, ctx };
    par_for((size_t)((n - 1) / step + 1), run_range, &r);
}

void cpu_rows(int n, size_t work, void (*fn)(void *ctx, int first, int last), void *ctx)
{
    enum { ELEMENTS = 1 << 15 };
    run_ranges(n, work >= ELEMENTS ? 1 : work == 0 ? ELEMENTS : (int)(ELEMENTS / work), fn, ctx);
}

void cpu_columns(int n, void (*fn)(void *ctx, int first, int last), void *ctx)
{
    run_ranges(n, 64, fn, ctx);
}

/* --- the table -------------------------------------------------------------------------------- */

static const char *cpu_describe(void)
{
    static char text[256];
    snprintf(text, sizeof text, "cpu: %d thread%s, %s, %s", par_threads(),
             par_threads() == 1 ? "" : "s", simd_choose()->name, gemm_describe());
    return text;
}

static const char *int8_describe(void)
{
    static char text[320];
    snprintf(text, sizeof text, "%s, products in 8 bits by %s", cpu_describe(),
             int8_all()[0]->name);
    return text;
}

#define CPU_MEMORY                                                                                 \
    .abi = KERNELS_ABI, .name = "cpu", .act_size = sizeof(float), .alloc = cpu_alloc,              \
    .release = cpu_release, .upload = cpu_copy, .download = cpu_copy, .copy = cpu_copy,            \
    .zero = cpu_zero, .get = cpu_get, .sync = cpu_sync, .fetch = cpu_copy,                         \
    .host_alloc = cpu_alloc, .host_release = cpu_release, .working = cpu_working,                  \
    .precision = cpu_precision, .int8_new = int8_new, .int8_put = int8_put,                        \
    .int8_get = int8_get, .int8_free = int8_free
#define CPU_ENTRY(op, name) .op = cpu_##op,

static struct kernels table = { CPU_MEMORY, .describe = cpu_describe, KERN_OPS(CPU_ENTRY) };
static struct kernels eights = {
    CPU_MEMORY, .describe = int8_describe, .holds_int8 = true, KERN_OPS(CPU_ENTRY)
};

const struct kernels *kernels_cpu(void) { return &table; }
const struct kernels *kernels_cpu_int8(void) { return &eights; }
