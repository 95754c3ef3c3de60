/* The CPU back end's table, and its memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/thread.h"
#include "kernels/cpu/cpu.h"
#include "kernels/int8/int8.h"

/* --- memory ----------------------------------------------------------------------------------- */

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

static struct kernels table, eights;

static int cpu_precision(enum kern_precision p)
{
    /* auto: where bf16 does not gain it is float32, and never an error. */
    if (gemm_bf16(p == KERN_BF16 || (p == KERN_AUTO && gemm_bf16_gains())) < 0) return -1;
    acts_half = gemm_takes_acts();
    /* What layers pass on is in bfloat16 only where AMX takes it as it is. */
    table.act_size = eights.act_size = acts_half ? sizeof(uint16_t) : sizeof(float);
    return 0;
}

/* What the operations take in addition to their arguments, for the prediction of a run's peak
 * memory. */

static double most(double a, double b) { return a > b ? a : b; }

size_t cpu_working(const struct kern_shape *s)
{
    double rows = s->rows, longest = s->longest, V = s->vocab, threads = par_threads();
    double wide = most(s->ffn, 3.0 * s->dim);
    int step = xent_rows(s->vocab, s->predicted);
    double scores = longest * ((longest + 15) / 16 * 16);
    /* The backward pass of attn.c has P, dS and m P, then 2 bytes of random bits a number. */
    double thread = most(3 * scores * 4 + scores * 2, 4.0 * s->dim); /* attn.c backward; norm.c */
    double packed = 12e6; /* OpenBLAS's copies of its tiles, as measured */
    double shared = most(step * V * 4, 64 * 2 * (double)s->dim * 4);        /* xent.c; norm.c */
    if (gemm_is_bf16()) {
        packed = 2e6;
        if (gemm_takes_dnnl()) shared += 24e6;      /* the library and what it compiles */
        shared += 2 * most((rows + 64) * wide, (step + 64) * V);                    /* A */
        shared += 2 * most(most((rows + 64) * wide, V * s->dim), wide * s->dim);    /* B */
        thread += 4 * 576.0 * most(wide, V / 16);                           /* a tile apart */
    }
    return (size_t)(shared + threads * (thread + packed));
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
    .abi = KERNELS_ABI, .name = "cpu", .act_size = sizeof(float), .alloc = work_alloc,             \
    .release = cpu_release, .upload = cpu_copy, .download = cpu_copy, .copy = cpu_copy,            \
    .zero = cpu_zero, .get = cpu_get, .sync = work_sync, .fetch = cpu_copy,                        \
    .host_alloc = work_alloc, .host_release = cpu_release, .working = cpu_working,                 \
    .precision = cpu_precision, .int8_new = int8_new, .int8_put = int8_put,                        \
    .int8_get = int8_get, .int8_free = int8_free
#define CPU_ENTRY(op, name) .op = cpu_##op,

static struct kernels table = { CPU_MEMORY, .describe = cpu_describe, KERN_OPS(CPU_ENTRY) };
static struct kernels eights = {
    CPU_MEMORY, .describe = int8_describe, .holds_int8 = true, KERN_OPS(CPU_ENTRY)
};

const struct kernels *kernels_cpu(void) { return &table; }
const struct kernels *kernels_cpu_int8(void) { return &eights; }
