#include "kernels/linalg/products.h"
#include <stdio.h>
#include "common/err.h"

#if __has_include(<dnnl.h>)
#include <dnnl.h>
#endif

/* The interface of oneDNN 2; version 3 has no descriptors of operations (dnnl_matmul_desc_t). */
#if defined DNNL_VERSION_MAJOR && DNNL_VERSION_MAJOR == 2 && defined __x86_64__
#include <cpuid.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"
#include "common/thread.h"
#include "kernels/linalg/simd.h"
#include "kernels/linalg/work.h"

/* The functions of oneDNN, by their names without "dnnl_". */
#define FUNCTIONS(f)                                                                               \
    f(version) f(engine_create) f(stream_create) f(stream_destroy) f(stream_wait)                  \
        f(memory_desc_init_by_strides) f(memory_desc_get_size) f(matmul_desc_init)                 \
            f(primitive_attr_create) f(primitive_attr_destroy)                                     \
                f(primitive_attr_set_scratchpad_mode) f(primitive_attr_set_post_ops)               \
                    f(post_ops_create) f(post_ops_destroy) f(post_ops_append_sum)                  \
                        f(primitive_desc_create) f(primitive_desc_destroy)                         \
                            f(primitive_desc_query_md) f(primitive_create) f(primitive_destroy)    \
                                f(primitive_execute) f(memory_create) f(memory_destroy)            \
                                    f(set_primitive_cache_capacity)
#define POINTER(name) __typeof__(&dnnl_##name) name;
static struct {
    FUNCTIONS(POINTER) void (*omp_threads)(int);
    dnnl_engine_t engine;
    char name[64];
} d;

/* On Intel's processors bfloat16 pays with AMX alone: without it, vdpbf16ps does half of what
 * float32 does (measured: 86 against 174 GFLOP/s a core), and converting is extra. */
static bool slow_here(void)
{
    unsigned a = 0, b = 0, c = 0, e = 0;
    /* CPUID 7.0, EDX bit 22: AMX-BF16. */
    return __builtin_cpu_is("intel") && !(__get_cpuid_count(7, 0, &a, &b, &c, &e) && (e >> 22 & 1));
}

static int load(void)
{
    unsigned a = 0, b = 0, c = 0, e = 0;
    /* CPUID 7.1, EAX bit 5: AVX512_BF16. */
    if (!__get_cpuid_count(7, 1, &a, &b, &c, &e) || !(a >> 5 & 1))
        return err_set("bf16: this processor has no AVX-512 BF16 instructions; use float32");
    /* Opened at run time: programs that compute in float32 neither need oneDNN nor load it. */
    void *so = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!so) return err_set("bf16: oneDNN: %s; install libdnnl2, or use float32", dlerror());
#define FIND(name) \
    if (!(*(void **)&d.name = dlsym(so, "dnnl_" #name))) \
        return err_set("bf16: oneDNN has no dnnl_" #name "; use float32");
    FUNCTIONS(FIND)
    /* The OpenMP library that oneDNN was linked with has its own number of threads. */
    *(void **)&d.omp_threads = dlsym(so, "omp_set_num_threads");
    if (d.engine_create(&d.engine, dnnl_cpu, 0) != dnnl_success)
        return err_set("bf16: oneDNN does not start; use float32");
    d.set_primitive_cache_capacity(0);                                  /* ours is below */
    const dnnl_version_t *v = d.version();
    snprintf(d.name, sizeof d.name, "oneDNN %d.%d.%d%s", v->major, v->minor, v->patch,
             slow_here() ? " (no AMX: float32 is faster)" : "");
    return 0;
}

int bf16_open(void)
{
    return d.engine ? 0 : load();
}

bool bf16_gains(void) { return !slow_here(); }

const char *bf16_name(void) { return d.name; }

/* --- compiled products, kept by shape --------------------------------------------------------- */

/* Compared by memcmp: `unused` fills the place where padding would hold arbitrary bytes. */
struct shape { int m, n, k, lda, ldb, ldc; bool ta, tb, add, unused; };
struct product { struct shape s; dnnl_primitive_t p; dnnl_memory_desc_t a, b, c, scratch; };

/* Rows and sums over rows are rounded up to STEP, so that batches of any number of tokens share
 * shapes; a model needs some hundreds. When the table is full it starts again: only speed is
 * lost. */
enum { STEP = 64, SLOTS = 8192 };
static struct {
    pthread_rwlock_t lock;
    struct product *slot[SLOTS];
    int n;
} cache = { .lock = PTHREAD_RWLOCK_INITIALIZER };

static size_t slot_of(const struct shape *s)
{
    uint64_t h = 0;
    const int v[] = { s->m, s->n, s->k, s->lda, s->ldb, s->ldc, s->ta + 2 * s->tb + 4 * s->add };
    for (size_t i = 0; i < sizeof v / sizeof v[0]; i++)
        h = (h ^ (unsigned)v[i]) * 0x9E3779B97F4A7C15u;
    /* The upper 13 bits, as many as SLOTS has: a multiplication mixes from low bits to high
     * ones. */
    size_t i = h >> 51;
    while (cache.slot[i] && memcmp(&cache.slot[i]->s, s, sizeof *s) != 0) i = (i + 1) % SLOTS;
    return i;
}

static void matrix(dnnl_memory_desc_t *md, int rows, int cols, int ld, bool transposed,
                   dnnl_data_type_t type)
{
    dnnl_dims_t dims = { rows, cols }, strides = { transposed ? 1 : ld, transposed ? ld : 1 };
    d.memory_desc_init_by_strides(md, 2, dims, type, strides);
}

/* NULL if oneDNN refuses. */
static struct product *compile(const struct shape *s)
{
    struct product *x = mem_zero(1, sizeof *x);
    x->s = *s;
    matrix(&x->a, s->m, s->k, s->lda, s->ta, dnnl_bf16);
    matrix(&x->b, s->k, s->n, s->ldb, s->tb, dnnl_bf16);
    matrix(&x->c, s->m, s->n, s->ldc, false, dnnl_f32);
    dnnl_matmul_desc_t desc;
    dnnl_primitive_attr_t attr = NULL;
    dnnl_post_ops_t post = NULL;
    dnnl_primitive_desc_t pd = NULL;
    bool good = d.matmul_desc_init(&desc, &x->a, &x->b, NULL, &x->c) == dnnl_success &&
                d.primitive_attr_create(&attr) == dnnl_success &&
                d.post_ops_create(&post) == dnnl_success;
    if (good && s->add)
        good = d.post_ops_append_sum(post, 1) == dnnl_success &&
               d.primitive_attr_set_post_ops(attr, post) == dnnl_success;
    /* Scratch memory is the caller's, so that several threads may execute one primitive at
     * once. */
    good = good &&
           d.primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user) == dnnl_success &&
           d.primitive_desc_create(&pd, &desc, attr, d.engine, NULL) == dnnl_success &&
           d.primitive_create(&x->p, pd) == dnnl_success;
    if (good) x->scratch = *d.primitive_desc_query_md(pd, dnnl_query_scratchpad_md, 0);
    if (pd) d.primitive_desc_destroy(pd);
    if (post) d.post_ops_destroy(post);
    if (attr) d.primitive_attr_destroy(attr);
    if (good) return x;
    free(x);
    return NULL;
}

static struct product *lookup(const struct shape *s)
{
    pthread_rwlock_rdlock(&cache.lock);
    struct product *x = cache.slot[slot_of(s)];
    pthread_rwlock_unlock(&cache.lock);
    if (x) return x;
    /* Compiled outside the lock, which other threads' lookups need meanwhile. Two threads may
     * compile the same shape; the second one throws its copy away. */
    struct product *made = compile(s);
    pthread_rwlock_wrlock(&cache.lock);
    size_t i = slot_of(s);
    if (!cache.slot[i] && made) { cache.slot[i] = made; cache.n++;
    } else if (made) {
        d.primitive_destroy(made->p);
        free(made);
    } /* another thread was faster */
    x = cache.slot[i];
    pthread_rwlock_unlock(&cache.lock);
    return x;
}

/* Between products, when no thread uses one. */
static void cache_trim(void)
{
    if (cache.n < SLOTS / 2) return;
    for (int i = 0; i < SLOTS; i++) {
        if (cache.slot[i]) { d.primitive_destroy(cache.slot[i]->p); free(cache.slot[i]); }
        cache.slot[i] = NULL;
    }
    cache.n = 0;
}

/* --- rounding --------------------------------------------------------------------------------- */

/* A matrix as stored, rows x cols, copied to one of padded_rows x ld; what is added is zero. */
struct copy { const float *x; uint16_t *y; int rows, cols, from_ld, padded_rows, ld; };

static void copy_rows(void *ctx, int first, int last)
{
    const struct copy *t = ctx;
    const struct simd *s = simd_choose();
    for (int r = first; r < last; r++) {
        uint16_t *y = t->y + (size_t)r * (size_t)t->ld;
        int n = r < t->rows ? t->cols : 0;
        if (n) s->to_bf16(y, t->x + (size_t)r * (size_t)t->from_ld, (size_t)n);
        /* Padding is zeroed every time: scratch memory holds another product's numbers, and 0
         * times a NaN there would be NaN. */
        memset(y + n, 0, (size_t)(t->ld - n) * sizeof *y);
    }
}

static int up(int n) { return (n + STEP - 1) / STEP * STEP; }

static uint16_t *rounded(int piece, const float *x, int from_ld, int rows, int cols,
                         int padded_rows, int ld)
{
    struct copy t = {
        x,       work_scratch(piece, (size_t)padded_rows * (size_t)ld * sizeof(uint16_t)),
        rows,    cols,
        from_ld, padded_rows,
        ld
    };
    work_rows(padded_rows, (size_t)ld, copy_rows, &t);
    return t.y;
}

/* --- products --------------------------------------------------------------------------------- */

struct job {
    bool ta, tb, add;
    int K, lda, ldb, ldc;            /* K, lda and ldb of the padded copies */
    uint16_t *A, *B;
    float *C;
    gemm_then *then;
    void *ctx;
    struct gemm_tiles tiles;
};

static bool execute(const struct product *x, void *a, void *b, void *c)
{
    dnnl_stream_t stream = NULL;
    dnnl_memory_t m[4] = { 0 };
    void *scratch = work_scratch(SCRATCH_DNNL, d.memory_desc_get_size(&x->scratch));
    bool good = d.stream_create(&stream, d.engine, dnnl_stream_default_flags) == dnnl_success &&
                d.memory_create(&m[0], &x->a, d.engine, a) == dnnl_success &&
                d.memory_create(&m[1], &x->b, d.engine, b) == dnnl_success &&
                d.memory_create(&m[2], &x->c, d.engine, c) == dnnl_success &&
                d.memory_create(&m[3], &x->scratch, d.engine, scratch) == dnnl_success;
    dnnl_exec_arg_t args[] = { { DNNL_ARG_SRC, m[0] },
                               { DNNL_ARG_WEIGHTS, m[1] },
                               { DNNL_ARG_DST, m[2] },
                               { DNNL_ARG_SCRATCHPAD, m[3] } };
    good = good && d.primitive_execute(x->p, stream, 4, args) == dnnl_success &&
           d.stream_wait(stream) == dnnl_success;
    for (int i = 0; i < 4; i++) if (m[i]) d.memory_destroy(m[i]);
    if (stream) d.stream_destroy(stream);
    return good;
}

static int run_tile(void *ctx, size_t i, int thread)
{
    (void)thread;
    const struct job *j = ctx;
    /* The pool's threads have one tile each; OpenMP would start as many threads again inside
     * every one of them. */
    static _Thread_local bool alone;
    if (!alone && d.omp_threads) d.omp_threads(1);
    alone = true;
    struct gemm_tile t = gemm_tile(&j->tiles, i);
    int rows = t.r1 - t.r0, cols = t.c1 - t.c0;
    bool padded = rows % STEP != 0; /* the rows that pad it must not be written */
    float *C = j->C + (size_t)t.r0 * (size_t)j->ldc + t.c0;
    float *to =
        padded ? work_scratch(SCRATCH_TILE, (size_t)up(rows) * (size_t)cols * sizeof(float)) : C;
    struct shape s = { up(rows), cols,   j->K,
                       j->lda,   j->ldb, padded ? cols : j->ldc,
                       j->ta,    j->tb,  j->add && !padded,
                       false };
    const struct product *x = lookup(&s);
    uint16_t *A = j->A + (j->ta ? (size_t)t.r0 : (size_t)t.r0 * (size_t)j->lda);
    uint16_t *B = j->B + (j->tb ? (size_t)t.c0 * (size_t)j->ldb : (size_t)t.c0);
    if (!x || !execute(x, A, B, to))
        return err_set("bf16: %s failed on a product of %d x %d x %d; use float32", d.name, s.m,
                       s.n, s.k);
    for (int r = 0; padded && r < rows; r++) {
        float *c = C + (size_t)r * (size_t)j->ldc;
        const float *got = to + (size_t)r * (size_t)cols;
        if (j->add) simd_choose()->add(c, got, (size_t)cols);
        else memcpy(c, got, (size_t)cols * sizeof *c);
    }
    if (j->then) j->then(j->ctx, C, (size_t)j->ldc, t.r0, t.r1, t.c0, t.c1);
    return 0;
}

int bf16_gemm(bool ta, bool tb, int M, int N, int K, const float *A, int lda, bool same_a,
              const float *B, int ldb, bool add, float *C, int ldc, gemm_then *then, void *ctx)
{
    int m = up(M), k = up(K);
    struct job j = { .ta = ta,
                     .tb = tb,
                     .add = add,
                     .K = k,
                     .lda = ta ? m : k,
                     .ldb = tb ? k : N,
                     .ldc = ldc,
                     .C = C,
                     .then = then,
                     .ctx = ctx,
                     .tiles = tiles_cut(M, N, K, STEP) };
    static _Thread_local struct copy last;               /* what is in SCRATCH_A */
    int rows = ta ? K : M, cols = ta ? M : K;
    if (!same_a || last.x != A || last.rows != rows || last.cols != cols || last.from_ld != lda)
        last = (struct copy){ A,       rounded(SCRATCH_A, A, lda, rows, cols, up(rows), up(cols)),
                              rows,    cols,
                              lda,     up(rows),
                              up(cols) };
    j.A = last.y;
    /* k alone is padded: N is a width of the model and the same in every batch. */
    j.B = tb ? rounded(SCRATCH_B, B, ldb, N, K, N, k) : rounded(SCRATCH_B, B, ldb, K, N, k, N);
    cache_trim();
    return par_for(j.tiles.n, run_tile, &j);
}

#else

int bf16_open(void)
{
    return err_set("bf16: this program was built without oneDNN 2 (libdnnl-dev); use float32");
}
const char *bf16_name(void) { return ""; }
bool bf16_gains(void) { return false; }
int bf16_gemm(bool ta, bool tb, int M, int N, int K, const float *A, int lda, bool same_a,
              const float *B, int ldb, bool add, float *C, int ldc, gemm_then *then, void *ctx)
{
    (void)ta;
    (void)tb;
    (void)M;
    (void)N;
    (void)K;
    (void)A;
    (void)lda;
    (void)same_a;
    (void)B;
    (void)ldb;
    (void)add;
    (void)C;
    (void)ldc;
    (void)then;
    (void)ctx;
    return -1;
}

#endif
