#include "kernels/int8/int8.h"
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/thread.h"
#include "kernels/linalg/simd.h"
#include "kernels/linalg/work.h"
#if defined __x86_64__
#include <cpuid.h>
#endif

static const struct int8_kernel *all[6];

static void choose(void)
{
    int n = 0;
#if defined __x86_64__
    unsigned a = 0, b, c, d;
    const struct simd *most = simd_choose(); /* and with it ISOGLOT_SIMD */
    /* CPUID 7.1, EAX bit 4: AVX-VNNI. */
    bool vnni = __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 4 & 1);
    if (simd_amx()) all[n++] = &int8_amx;
    if (most == &simd_avx512 && __builtin_cpu_supports("avx512vnni")) all[n++] = &int8_avx512;
    if (most != &simd_base && vnni) all[n++] = &int8_vnni;
    if (most != &simd_base) all[n++] = &int8_avx2;
#elif defined __aarch64__ && defined __ARM_NEON
    if (simd_sdot()) all[n++] = &int8_sdot;
    all[n++] = &int8_neon;
#endif
    all[n] = &int8_base;
}

const struct int8_kernel *const *int8_all(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, choose);
    return all;
}

static const struct int8_kernel *fastest(void) { return int8_all()[0]; }

/* --- weights ---------------------------------------------------------------------------------- */

struct kern_int8 *int8_new(int O, int I)
{
    /* Sums of 32 bits hold 255 * 127 * I only so far. */
    if (I > INT8_MOST) {
        err_set("a matrix of weights has rows of %d numbers; in 8 bits they have at most %d", I,
                INT8_MOST);
        return NULL;
    }
    struct kern_int8 *w = mem_zero(1, sizeof *w);
    w->O = O;
    w->I = I;
    w->panels = (O + INT8_PANEL - 1) / INT8_PANEL;
    /* To whole rows of AMX's tiles, so that every instruction set has the same layout. */
    w->depth = (I + INT8_DEPTH - 1) / INT8_DEPTH * INT8_DEPTH;
    size_t rows = (size_t)w->panels * INT8_PANEL, n = rows * (size_t)w->depth;
    /* AMX's rows and AVX-512's vectors are lines of the cache. */
    w->q = aligned_alloc(64, n ? n : 64);
    if (!w->q) {
        err_set("out of memory: needed %zu bytes for weights in 8 bits", n);
        free(w);
        return NULL;
    }
    memset(w->q, 0, n);
    w->start = mem_zero(rows, sizeof *w->start);
    w->scale = mem_zero(rows, sizeof *w->scale);
    return w;
}

void int8_free(struct kern_int8 *w)
{
    if (!w) return;
    free(w->q);
    free(w->start);
    free(w->scale);
    free(w);
}

/* Component k of row o. */
static int8_t *place(const struct kern_int8 *w, int o, int k)
{
    size_t panel = (size_t)(o / INT8_PANEL) * INT8_PANEL * (size_t)w->depth;
    return w->q + panel + (size_t)(k / 4 * INT8_PANEL + o % INT8_PANEL) * 4 + k % 4;
}

struct putting { struct kern_int8 *w; int first; const float *from; float *to; };

static void put_rows(void *ctx, int first, int last)
{
    const struct putting *t = ctx;
    struct kern_int8 *w = t->w;
    int8_t *q = work_scratch(SCRATCH_CHUNK, (size_t)w->depth + 1);
    for (int i = first; i < last; i++) {
        int o = t->first + i, sum = 0;
        const float *row = t->from + (size_t)i * (size_t)w->I;
        /* Weights are signed whatever the kernel is; it is X that VNNI needs unsigned. */
        w->scale[o] = fastest()->quantise(q, row, (size_t)w->I, (size_t)w->depth, false);
        for (int k = 0; k < w->depth; k += 4) {
            /* Four components of a row lie together: what one multiplication of VNNI takes. */
            memcpy(place(w, o, k), q + k, 4);
            for (int j = 0; j < 4; j++) sum += q[k + j];
        }
        w->start[o] = -128 * sum;
    }
}

int int8_put(struct kern_int8 *w, int first, int n, const float *W)
{
    struct putting t = { w, first, W, NULL };
    work_rows(n, (size_t)w->I, put_rows, &t);
    for (int i = first; i < first + n; i++)
        /* The scale says so; the row itself is zeros. */
        if (isnan(w->scale[i]))
            return err_set("row %d has a number that is not finite; it cannot be held in 8 bits",
                           i);
    return 0;
}

void int8_get(const struct kern_int8 *w, int first, int n, float *W)
{
    for (int o = first; o < first + n; o++)
        for (int k = 0; k < w->I; k += 4) {
            const int8_t *q = place(w, o, k);
            for (int j = 0; j < 4 && k + j < w->I; j++) *W++ = w->scale[o] * (float)q[j];
        }
}

/* --- the product ------------------------------------------------------------------------------ */

struct product {
    const struct int8_kernel *how;
    float *Y;
    const float *X;
    struct int8_rows x;
    const struct kern_int8 *w;
    gemm_then *then;
    void *ctx;
    int tile_rows, tile_panels, across;
};

static void quantise_rows(void *ctx, int first, int last)
{
    struct product *p = ctx;
    size_t I = (size_t)p->w->I, depth = (size_t)p->w->depth;
    for (int r = first; r < last; r++)
        p->x.scale[r] = p->how->quantise(p->x.q + (size_t)r * depth, p->X + (size_t)r * I, I, depth,
                                         p->how->shifted);
}

static int run_tile(void *ctx, size_t i, int thread)
{
    (void)thread;
    const struct product *p = ctx;
    const struct kern_int8 *w = p->w;
    int r0 = (int)(i / (size_t)p->across) * p->tile_rows,
        p0 = (int)(i % (size_t)p->across) * p->tile_panels;
    int r1 = p->x.N - r0 < p->tile_rows ? p->x.N : r0 + p->tile_rows;
    int p1 = w->panels - p0 < p->tile_panels ? w->panels : p0 + p->tile_panels;
    p->how->product(p->Y, (size_t)w->O, &p->x, r0, r1, w, p0, p1);
    int c1 = p1 * INT8_PANEL < w->O ? p1 * INT8_PANEL : w->O;
    if (p->then)
        p->then(p->ctx, p->Y + (size_t)r0 * (size_t)w->O + p0 * INT8_PANEL, (size_t)w->O, r0, r1,
                p0 * INT8_PANEL, c1);
    return 0;
}

/* Tiles of some half a million products at least, of whole eights of panels, and of rows of X that
 * stay in the second cache while the panels go by. */
static void cut(struct product *p)
{
    enum { WORK = 1 << 19, BYTES = 1 << 18, EIGHT = 8 };
    int rows = BYTES / p->w->depth;
    p->tile_rows = p->x.N < rows ? p->x.N : rows;
    double panel = (double)p->tile_rows * INT8_PANEL * p->w->depth;
    int eights = (int)(WORK / (EIGHT * panel)) + 1;
    p->tile_panels = eights * EIGHT;
    p->across = (p->w->panels + p->tile_panels - 1) / p->tile_panels;
}

void int8_product(float *Y, const float *X, const struct kern_int8 *w, int N, gemm_then *then,
                  void *ctx)
{
    if (N <= 0 || w->O <= 0) return;
    size_t q = (size_t)N * (size_t)w->depth;
    int8_t *memory = work_scratch(SCRATCH_A, q + (size_t)N * sizeof(float));
    struct product p = { .how = fastest(), .Y = Y, .X = X, .w = w, .then = then, .ctx = ctx };
    p.x = (struct int8_rows){ N, w->depth, memory, (float *)(void *)(memory + q) };
    work_rows(N, (size_t)w->I, quantise_rows, &p);
    for (int r = 0; r < N; r++)
        /* The row is NaN already (its scale is); the message is for the end of the step. */
        if (isnan(p.x.scale[r])) {
            err_set("a product in 8 bits has an input that is not finite (NaN or infinity); use "
                    "--precision float32");
            work_failed();
        }
    cut(&p);
    par_for((size_t)((N + p.tile_rows - 1) / p.tile_rows) * (size_t)p.across, run_tile, &p);
}
