#include "kernels/linalg/gemm.h"
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/thread.h"
#include "kernels/linalg/acts.h"
#include "kernels/linalg/blas.h"
#include "kernels/linalg/products.h"
#include "kernels/linalg/simd.h"
#include "kernels/linalg/work.h"

/* In OpenBLAS's OpenMP build the number of threads belongs to the thread that set it, in the
 * others to the process. So each thread sets it before its first product; the call itself may
 * free buffers and must be alone. */
static void one_thread(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static _Thread_local bool done;
    if (done) return;
    const struct blas *b = blas();
    pthread_mutex_lock(&lock);
    b->set_num_threads(1);
    pthread_mutex_unlock(&lock);
    done = true;
}

#if defined __x86_64__
/* Is this one for sgemm_avx512? Below a million OpenBLAS has kernels of its own kind, whose bytes
 * these would not be. */
static bool ours(bool ta, int M, int N, int K, float alpha, float beta)
{
    /* dY^T X stays with OpenBLAS: A's columns would have to be copied first, and with the copy
     * this kernel had 0.8 to 1.2 times its speed. */
    return !ta && alpha == 1 && (beta == 0 || beta == 1) && 1.0 * M * N * K > 1e6 &&
           simd_choose() == &simd_avx512;
}
#endif

static void product(bool ta, bool tb, int M, int N, int K, float alpha, const float *A, int lda,
                    const float *B, int ldb, float beta, float *C, int ldc)
{
#if defined __x86_64__
    /* Where ours applies it is 5 to 13% ahead of OpenBLAS (Zen 4) and has its bytes, so that
     * results do not depend on which of the two ran. */
    if (ours(ta, M, N, K, alpha, beta)) {
        float *room = work_scratch(SCRATCH_TILE, SGEMM_ROOM * sizeof *room);
        sgemm_avx512(tb, M, N, K, A, lda, B, ldb, beta == 1, C, ldc, room);
        return;
    }
#endif
    blas()->sgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans,
                  M, N, K, alpha, A, lda, B, ldb, beta, C, ldc);
}

void gemm_here(bool ta, bool tb, int M, int N, int K, float alpha, const float *A, int lda,
               const float *B, int ldb, float beta, float *C, int ldc)
{
    one_thread();
    product(ta, tb, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc);
}

struct job {
    bool ta, tb;
    int K, lda, ldb, ldc;
    float alpha, beta;
    const float *A, *B;
    float *C;
    gemm_then *then;
    void *ctx;
    struct gemm_tiles tiles;
    bool few;
};

static int run_tile(void *ctx, size_t i, int thread)
{
    (void)thread;
    const struct job *j = ctx;
    struct gemm_tile t = gemm_tile(&j->tiles, i);
    const float *A = j->A + (j->ta ? (size_t)t.r0 : (size_t)t.r0 * (size_t)j->lda);
    const float *B = j->B + (j->tb ? (size_t)t.c0 * (size_t)j->ldb : (size_t)t.c0);
    float *C = j->C + (size_t)t.r0 * (size_t)j->ldc + t.c0;
    if (j->few) {
        simd_choose()->dots(C, (size_t)j->ldc, A, (size_t)j->lda, t.r1 - t.r0, B,
                            (size_t)j->ldb, t.c1 - t.c0, (size_t)j->K);
    } else {
        one_thread();
        product(j->ta, j->tb, t.r1 - t.r0, t.c1 - t.c0, j->K, j->alpha, A, j->lda, B, j->ldb,
                j->beta, C, j->ldc);
    }
    /* The tile is still in the cache; a pass over all of C afterwards would read it from memory
     * again. */
    if (j->then) j->then(j->ctx, C, (size_t)j->ldc, t.r0, t.r1, t.c0, t.c1);
    return 0;
}

/* X W^T with few rows of X, as in a step of decoding: OpenBLAS would first pack all of W, and
 * bfloat16 round it, which takes longer than the product. */
static bool few_rows(bool ta, bool tb, int M, int K, float alpha, float beta)
{
    return !ta && tb && M <= KERN_FEW_ROWS && K > 0 && alpha == 1 && beta == 0;
}

/* Then a tile has about 64 KB of W, and whole groups of four of its rows, as dots() multiplies
 * them. */
static int few_rows_cut(int N, int K)
{
    enum { FLOATS = 1 << 14 };
    int cols = FLOATS / K / 4 * 4;
    return cols < 8 ? 8 : cols < N ? cols : N;
}

/* TILES: by AMX (bf16_amx). DOTS: by oneDNN. ROUNDED: bfloat16 values in float32 products, where
 * the processor's bfloat16 instructions are slower than those. */
enum bf16_way { OFF, TILES, DOTS, ROUNDED };
static enum bf16_way bf16;
/* The thread's next product has the A of its last one. Rounding took a fifth of the time of bf16
 * products when each rounded both of its inputs; the two of a backward pass share dY. */
static _Thread_local bool same_a;
/* Converting costs as much as it gains below a few million operations. */
static const double BF16_FLOPS = 8e6;

void gemm_same_a(void) { same_a = true; }

static enum bf16_way bf16_way(void)
{
    const char *way = getenv("ISOGLOT_BF16");
    bool chosen = way && *way;
    /* ISOGLOT_BF16=dots takes oneDNN where AMX would be chosen, so that both can be timed side
     * by side. */
    if (simd_amx() && (!chosen || strcmp(way, "tiles") == 0)) return TILES;
    /* One thread of a Xeon without AMX, a step of 2 layers of 256: float32 48.7 ms, inputs
     * rounded 52.3, oneDNN's bf16 83.3 (docs/lab/bench/train.md). */
    return chosen || bf16_gains() ? DOTS : ROUNDED;
}

int gemm_bf16(bool on)
{
    enum bf16_way way = on ? bf16_way() : OFF;
    /* The products by AMX are our own and need no library. */
    if (on && way != TILES && bf16_open() < 0) return -1;
    bf16 = way;
    return 0;
}

bool gemm_takes_acts(void) { return bf16 == TILES; }

bool gemm_bf16_gains(void)
{
    enum bf16_way way = bf16_way();
    /* Opened here already, so that --precision auto falls back to float32 where oneDNN is
     * missing. */
    return way == TILES || (way == DOTS && bf16_gains() && bf16_open() == 0);
}

/* A copy of a matrix with its values rounded to bfloat16, in scratch memory of this thread. */
struct rounding { const float *x; float *y; int rows, cols, ld; };

static void round_rows(void *ctx, int first, int last)
{
    const struct rounding *t = ctx;
    for (int r = first; r < last; r++)
        simd_choose()->round_bf16(t->y + (size_t)r * (size_t)t->cols,
                                  t->x + (size_t)r * (size_t)t->ld, (size_t)t->cols);
}

static struct rounding rounded(int piece, const float *x, int rows, int cols, int ld)
{
    struct rounding t = { x, work_scratch(piece, (size_t)rows * (size_t)cols * sizeof(float)), rows,
                          cols, ld };
    work_rows(rows, (size_t)cols, round_rows, &t);
    return t;
}

/* Acts as float32, in `piece` of this thread's memory: rows x cols, of rows ld apart. */
static const float *widened(int piece, const act *x, int rows, int cols, int ld)
{
    float *to = work_scratch(piece, (size_t)rows * (size_t)cols * sizeof *to);
    for (int r = 0; r < rows; r++)
        acts_read(x, (size_t)r * (size_t)ld, (size_t)cols, to + (size_t)r * (size_t)cols);
    return to;
}

/* A product whose matrices are all float32: acts have been copied where they are not. */
struct wide { const float *A, *B; float *C; int lda, ldb, ldc; };

static struct wide wide(bool ta, bool tb, int M, int N, int K, const void *A, int lda,
                        const void *B, int ldb, void *C, int ldc, unsigned acts)
{
    struct wide w = { A, B, C, lda, ldb, ldc };
    /* Copies are dense: their leading dimension is the width of the matrix as it is stored. */
    if (acts & GEMM_A) {
        w.lda = ta ? M : K;
        w.A = widened(SCRATCH_A, A, ta ? K : M, w.lda, lda);
    }
    if (acts & GEMM_B) {
        w.ldb = tb ? K : N;
        w.B = widened(SCRATCH_B, B, tb ? N : K, w.ldb, ldb);
    }
    /* C is rounded by the caller when all of K has been summed: partial sums are never
     * bfloat16. */
    if (acts & GEMM_C) {
        w.ldc = N;
        w.C = work_scratch(SCRATCH_WIDE, (size_t)M * (size_t)N * sizeof *w.C);
    }
    return w;
}

/* Rows of x, n wide, become rows of C; add: are added to them. */
static void put_rows(act *C, int ldc, const float *x, int rows, int n, bool add)
{
    float *room = acts_room(0, (size_t)n);
    for (int r = 0; r < rows; r++, x += n) {
        size_t at = (size_t)r * (size_t)ldc;
        if (!add) {
            acts_put(C, at, x, (size_t)n);
            continue;
        }
        float *sum = acts_open(C, at, (size_t)n, room);
        simd_choose()->add(sum, x, (size_t)n);
        acts_write(C, at, sum, (size_t)n);
    }
}

void gemm_small(bool ta, bool tb, int M, int N, int K, float alpha, const void *A, int lda,
                const void *B, int ldb, void *C, int ldc, unsigned acts)
{
    if (!acts_half) acts = 0;
#if defined __x86_64__
    /* below this many multiply-adds AMX's tiles are mostly padding */
    enum { SMALL = 1 << 14 };
    if (bf16 == TILES && 1.0 * M * N * K >= SMALL) {
        bf16_amx_here(ta, tb, M, N, K, alpha, A, lda, B, ldb, C, ldc, acts);
        return;
    }
#endif
    struct wide w = wide(ta, tb, M, N, K, A, lda, B, ldb, C, ldc, acts);
    gemm_here(ta, tb, M, N, K, alpha, w.A, w.lda, w.B, w.ldb, 0, w.C, w.ldc);
    if (acts & GEMM_C) put_rows(C, ldc, w.C, M, N, false);
}

bool gemm_is_bf16(void) { return bf16 != OFF; }

bool gemm_takes_dnnl(void) { return bf16 == DOTS; }

/* Is bfloat16 the faster one for this product, conversions included? */
static bool gains(int M, int N, int K) { return bf16 && 2.0 * M * N * K >= BF16_FLOPS; }

void gemm(bool ta, bool tb, int M, int N, int K, float alpha, const float *A, int lda,
          const float *B, int ldb, float beta, float *C, int ldc, gemm_then *then, void *ctx)
{
    if (M <= 0 || N <= 0) return;
    bool same = same_a, few = few_rows(ta, tb, M, K, alpha, beta);
    /* The mark is for one product: the one after it has another A. */
    same_a = false;
    /* Few rows stay in float32 even in bf16: rounding W would take longer than the product. The
     * bf16 ways know no other alpha and beta. */
    if (!few && alpha == 1 && (beta == 0 || beta == 1) && gains(M, N, K)) {
#if defined __x86_64__
        if (bf16 == TILES) {
            bf16_amx(ta, tb, M, N, K, A, lda, B, ldb, beta == 1, C, ldc, 0, then, ctx);
            return;
        }
#endif
        if (bf16 == DOTS) {
            if (bf16_gemm(ta, tb, M, N, K, A, lda, same, B, ldb, beta == 1, C, ldc, then, ctx) < 0)
                work_failed();
            return;
        }
        static _Thread_local struct rounding last;           /* what is in SCRATCH_A */
        int rows = ta ? K : M, cols = ta ? M : K;
        /* Compared by address and shape, too: what the caller promises is about A, not about
         * SCRATCH_A. */
        if (!same || last.x != A || last.rows != rows || last.cols != cols || last.ld != lda)
            last = rounded(SCRATCH_A, A, rows, cols, lda);
        struct rounding b = rounded(SCRATCH_B, B, tb ? N : K, tb ? K : N, ldb);
        A = last.y; lda = last.cols;
        B = b.y; ldb = b.cols;
    }
    /* 16: whole register tiles of the kernels */
    struct gemm_tiles tiles = few ? gemm_tiles(M, N, M, few_rows_cut(N, K))
                                  : tiles_cut(M, N, K, 16);
    struct job j = { ta, tb, K, lda, ldb, ldc, alpha, beta, A, B, C, then, ctx, tiles, few };
    par_for(tiles.n, run_tile, &j);
}

#if defined __x86_64__
/* By AMX. Up to BF16_DEEPEST terms a strip of C is summed in float32 and rounded once; where K
 * is larger, all of C is summed in float32 first. */
static void by_tiles(bool ta, bool tb, int M, int N, int K, const void *A, int lda, const void *B,
                     int ldb, bool add, void *C, int ldc, unsigned acts, gemm_then *then,
                     void *ctx)
{
    if (!(acts & GEMM_C) || K <= BF16_DEEPEST) {
        bf16_amx(ta, tb, M, N, K, A, lda, B, ldb, add, C, ldc, acts, then, ctx);
        return;
    }
    float *whole = work_scratch(SCRATCH_WIDE, (size_t)M * (size_t)N * sizeof *whole);
    bf16_amx(ta, tb, M, N, K, A, lda, B, ldb, false, whole, N, acts & ~(unsigned)GEMM_C, then, ctx);
    put_rows(C, ldc, whole, M, N, add);
}
#endif

void gemm_acts(bool ta, bool tb, int M, int N, int K, const void *A, int lda, const void *B,
               int ldb, bool add, void *C, int ldc, unsigned acts, gemm_then *then, void *ctx)
{
    if (M <= 0 || N <= 0) return;
    if (!acts_half) {
        gemm(ta, tb, M, N, K, 1, A, lda, B, ldb, add, C, ldc, then, ctx);
        return;
    }
#if defined __x86_64__
    if (!few_rows(ta, tb, M, K, 1, add) && gains(M, N, K)) {
        by_tiles(ta, tb, M, N, K, A, lda, B, ldb, add, C, ldc, acts, then, ctx);
        return;
    }
#endif
    struct wide w = wide(ta, tb, M, N, K, A, lda, B, ldb, C, ldc, acts);
    /* A C in bfloat16 is added to while it is rounded (put_rows), so w.C begins empty. */
    gemm(ta, tb, M, N, K, 1, w.A, w.lda, w.B, w.ldb, add && !(acts & GEMM_C), w.C, w.ldc, then,
         ctx);
    if (acts & GEMM_C) put_rows(C, ldc, w.C, M, N, add);
}

const char *gemm_describe(void)
{
    static char text[256];
    static const char *const how[] = {
        "", ", bf16 products by AMX", ", bf16 products by ",
        ", inputs of products rounded to bf16 (whose own products are slower here)"
    };
    snprintf(text, sizeof text, "%s%s%s", blas_describe(), how[bf16],
             bf16 == DOTS ? bf16_name() : "");
    return text;
}
