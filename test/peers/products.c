/* Products of float32 matrices of a training step's shapes on one thread: ours beside those of
 * libraries that are opened at run time, alternating in one run.
 *   make programs
 *   gcc -O2 -std=gnu11 -D_GNU_SOURCE -I. test/peers/products.c -o products -Wl,--start-group \
 *       build/gcc/libkernels-linalg.a build/gcc/libcommon.a -Wl,--end-group -lopenblas -ldl -lm \
 *       -pthread
 *   ./products ROUNDS NAME=LIBRARY[:FUNCTION] ...
 * FUNCTION is cblas_sgemm if left out; dnnl_sgemm is called as oneDNN declares it. Prints GFLOP/s
 * of the thread's own time, the best of ROUNDS, with the largest difference from ours of any
 * element, as a share of the largest: products that differ by more than 1e-4 are no products. */
#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "common/thread.h"
#include "kernels/linalg/gemm.h"

typedef void cblas(int order, int ta, int tb, int M, int N, int K, float alpha, const float *A,
                   int lda, const float *B, int ldb, float beta, float *C, int ldc);
typedef int dnnl(char ta, char tb, int64_t M, int64_t N, int64_t K, float alpha, const float *A,
                 int64_t lda, const float *B, int64_t ldb, float beta, float *C, int64_t ldc);
enum { MOST = 8, ROW_MAJOR = 101, AS_IS = 111, TRANSPOSED = 112 };
static struct library { const char *name; cblas *cblas; dnnl *dnnl; } lib[MOST];

static void multiply(const struct library *l, bool ta, bool tb, int M, int N, int K,
                     const float *A, const float *B, float *C)
{
    int lda = ta ? M : K, ldb = tb ? K : N;
    if (l->dnnl)
        l->dnnl(ta ? 'T' : 'N', tb ? 'T' : 'N', M, N, K, 1, A, lda, B, ldb, 0, C, N);
    else if (l->cblas)
        l->cblas(ROW_MAJOR, ta ? TRANSPOSED : AS_IS, tb ? TRANSPOSED : AS_IS, M, N, K, 1, A, lda,
                 B, ldb, 0, C, N);
    else
        gemm(ta, tb, M, N, K, 1, A, lda, B, ldb, 0, C, N, NULL, NULL);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static float *drawn(size_t n)
{
    float *x = aligned_alloc(64, (n * sizeof *x + 63) / 64 * 64);
    if (!x) { fputs("products: out of memory\n", stderr); exit(1); }
    for (size_t i = 0; i < n; i++) x[i] = (float)((double)rand() / RAND_MAX - 0.5);
    return x;
}

static void compare(int libraries, int rounds, const char *what, bool ta, bool tb, int M, int N,
                    int K)
{
    size_t cells = (size_t)M * (size_t)N;
    float *A = drawn((size_t)M * (size_t)K), *B = drawn((size_t)K * (size_t)N);
    float *C = drawn(cells), *ours = drawn(cells);
    double best[MOST], off[MOST] = { 0 }, flop = 2.0 * (double)cells * K;
    int times = flop > 1e9 ? 1 : (int)(1e9 / flop) + 1;
    for (int l = 0; l < libraries; l++) best[l] = INFINITY;
    for (int r = 0; r < rounds; r++)
        for (int l = 0; l < libraries; l++) {
            float *to = l ? C : ours, largest = 0;
            multiply(&lib[l], ta, tb, M, N, K, A, B, to);
            double start = seconds();
            for (int i = 0; i < times; i++) multiply(&lib[l], ta, tb, M, N, K, A, B, to);
            best[l] = fmin(best[l], (seconds() - start) / times);
            for (size_t i = 0; i < cells; i++) {
                largest = fmaxf(largest, fabsf(ours[i]));
                off[l] = fmax(off[l], fabsf(to[i] - ours[i]));
            }
            off[l] /= largest;
        }
    printf("%s\t%d x %d x %d", what, M, N, K);
    for (int l = 0; l < libraries; l++)
        printf("\t%.0f%s", flop / best[l] / 1e9, off[l] > 1e-4 ? " (wrong)" : "");
    puts("");
    fflush(stdout);
    free(A), free(B), free(C), free(ours);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 0, n = 1;
    if (rounds < 1 || argc > MOST + 1) {
        fputs("usage: products ROUNDS NAME=LIBRARY[:FUNCTION] ...\n", stderr);
        return 2;
    }
    par_threads_set(1);
    lib[0].name = "ours";
    for (int i = 2; i < argc; i++, n++) {
        char *path = strchr(argv[i], '='), *function;
        if (!path) { fprintf(stderr, "products: %s: no NAME=\n", argv[i]); return 2; }
        *path++ = 0;
        if ((function = strrchr(path, ':'))) *function++ = 0;
        else function = "cblas_sgemm";
        void *so = dlopen(path, RTLD_NOW | RTLD_LOCAL), *f = so ? dlsym(so, function) : NULL;
        if (!f) { fprintf(stderr, "products: %s\n", dlerror()); return 1; }
        lib[n].name = argv[i];
        if (!strcmp(function, "dnnl_sgemm")) *(void **)&lib[n].dnnl = f;
        else *(void **)&lib[n].cblas = f;
    }
    printf("product\trows x columns x depth");
    for (int l = 0; l < n; l++) printf("\t%s", lib[l].name);
    puts("");
    for (int D = 128; D <= 1024; D *= 2) {
        int rows = D == 1024 ? 512 : 1024;
        compare(n, rounds, "X W^T", false, true, rows, D, D);
        compare(n, rounds, "X W^T", false, true, rows, 4 * D, D);
        compare(n, rounds, "dY W", false, false, rows, D, D);
        compare(n, rounds, "dY W", false, false, rows, D, 4 * D);
        compare(n, rounds, "dY^T X", true, false, D, D, rows);
        compare(n, rounds, "dY^T X", true, false, 4 * D, D, rows);
    }
    return 0;
}
