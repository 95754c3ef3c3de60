/* For test/cross/run, which builds it for another processor and lets qemu run it: loops written for
 * that processor's vectors against the definitions, on random bytes, and what is made of them: the
 * search for nearest vectors against brute force. Prints what differs; 0 if nothing does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/bytes16.h"
#include "common/mem.h"
#include "common/thread.h"
#include "common/utf8.h"
#include "kernels/int8/dot8.h"
#include "kernels/int8/int8.h"
#include "kernels/linalg/gemm.h"
#include "kernels/linalg/simd.h"
#include "lib/vectors/nearest.h"
#include "lib/vectors/topk.h"

static uint64_t state = 1;
static unsigned draw(unsigned n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % n;
}

static int differ(const char *what, int n)
{
    printf("%s differs in case %d\n", what, n);
    return 1;
}

#ifdef BYTES16
static int bits(int n)
{
    char s[64];
    for (int i = 0; i < 64; i++) s[i] = (char)("\n \tab\xc3\x7f\x80"[draw(8)]);
    bytes16 v[4];
    uint64_t want = 0;
    for (int i = 0; i < 64; i++) want |= (uint64_t)(s[i] == ' ') << i;
    for (int i = 0; i < 4; i++) v[i] = bytes16_is(bytes16_load(s + 16 * i), ' ');
    if (bytes16_bits(v[0], v[1], v[2], v[3]) != want) return differ("bytes16_bits", n);
    int first = 0, other = 0;
    while (first < 16 && s[first] != ' ') first++;
    while (other < 16 && s[other] == ' ') other++;
    if (bytes16_first(v[0]) != first) return differ("bytes16_first", n);
    if (bytes16_first_not(v[0]) != other) return differ("bytes16_first_not", n);
    bytes16 between = bytes16_between(bytes16_load(s), 'a' - 1, 'b');
    for (first = 0; first < 16 && s[first] != 'a'; first++) { }
    return bytes16_first(between) == first ? 0 : differ("bytes16_between", n);
}
#endif

/* Valid text with a byte or two changed: what is checked from the first byte on, and from the last
 * multiple of anything, ends at the same place. */
static int utf8(int n)
{
    static const uint32_t some[] = { 'a', ' ', 0xe4, 0x7ff, 0x800, 0x4e2d, 0xffff, 0x10000,
                                     0x10ffff };
    char s[400];
    size_t at = 0;
    while (at < 300) at += (size_t)utf8_put(some[draw(9)], s + at);
    for (unsigned k = draw(3); k > 0; k--) s[draw((unsigned)at)] = (char)draw(256);
    size_t whole = utf8_check(s, at), i = 0;
    /* 63 bytes at a time are checked without vectors; a sequence may lie across */
    while (i < at) {
        size_t part = at - i < 63 ? at - i : 63, good = utf8_check(s + i, part);
        if (good == 0 || (good < part && part - good > 3)) { i += good; break; }
        i += good;
    }
    return i == whole ? 0 : differ("utf8_check", n);
}

#if defined __aarch64__
/* The kernel against plain C: the same bytes. */
static int product(const struct int8_kernel *k, int n)
{
    enum { O = 37, N = 9, I = 100, DEPTH = 128, PANELS = 3 };
    static int8_t q[PANELS * 16 * DEPTH], x[N * DEPTH];
    static int32_t start[PANELS * 16];
    static float scale[PANELS * 16], sx[N], want[N * O], got[N * O];
    for (size_t i = 0; i < sizeof q; i++) q[i] = (int8_t)((int)draw(255) - 127);
    for (size_t i = 0; i < sizeof x; i++) x[i] = i % DEPTH < I ? (int8_t)((int)draw(255) - 127) : 0;
    for (int i = 0; i < PANELS * 16; i++) scale[i] = (float)draw(1000) / 999;
    for (int i = 0; i < N; i++) sx[i] = (float)draw(1000) / 777;
    struct kern_int8 w = { O, I, PANELS, DEPTH, q, start, scale };
    struct int8_rows rows = { N, DEPTH, x, sx };
    int r0 = (int)draw(4), r1 = r0 + 1 + (int)draw(N - 4);
    memset(want, 0, sizeof want);
    memset(got, 0, sizeof got);
    int8_base.product(want, O, &rows, r0, r1, &w, 0, PANELS);
    k->product(got, O, &rows, r0, r1, &w, 0, PANELS);
    if (memcmp(want, got, sizeof got) != 0) return differ(k->name, n);
    float y[I], a, b;
    int8_t qa[DEPTH], qb[DEPTH];
    for (int i = 0; i < I; i++) y[i] = ((float)draw(2001) - 1000) / 7;
    a = int8_base.quantise(qa, y, I, DEPTH, false);
    b = k->quantise(qb, y, I, DEPTH, false);
    return a == b && memcmp(qa, qb, DEPTH) == 0 ? 0 : differ("quantise", n);
}

/* A tile of bounds against their definition. */
static int above(const struct dot8 *k, int n)
{
    enum { STEPS = 25 };
    static int8_t q[STEPS * DOT8_ROWS * 4], z[STEPS * DOT8_COLUMNS * 4];
    static float row[4][DOT8_ROWS], column[4][DOT8_COLUMNS], upper[DOT8_ROWS * DOT8_COLUMNS];
    static int32_t start[DOT8_ROWS];
    uint32_t hit[DOT8_ROWS];
    int R = k->rows, C = k->columns, any = 0;
    for (int i = 0; i < STEPS * R * 4; i++) q[i] = (int8_t)((int)draw(255) - 127);
    for (int i = 0; i < STEPS * C * 4; i++) z[i] = (int8_t)(((int)draw(255) - 127) ^ -128);
    for (int f = 0; f < 4; f++) {
        for (int i = 0; i < R; i++) row[f][i] = (float)draw(1024) / 512;
        for (int i = 0; i < C; i++) column[f][i] = (float)draw(1024) / 512;
    }
    float limit = n % 3 ? 200000 : -1e9f;
    for (int i = 0; i < R; i++) {
        int sum = 0;
        for (int s = 0; s < STEPS; s++)
            for (int j = 0; j < 4; j++) sum += q[(s * R + i) * 4 + j];
        start[i] = -128 * sum;
        row[3][i] += limit;
    }
    for (int i = 0; i < C; i++) column[3][i] += limit;
    struct dot8_rows r = { q, start, row[0], row[1], row[2], row[3] };
    struct dot8_columns c = { z, column[0], column[1], column[2], column[3] };
    int said = k->above(STEPS, &r, &c, upper, hit);
    for (int i = 0; i < R; i++)
        for (int j = 0; j < C; j++) {
            int sum = 0;
            for (int s = 0; s < STEPS; s++)
                for (int m = 0; m < 4; m++)
                    sum += q[(s * R + i) * 4 + m] * (int8_t)(z[(s * C + j) * 4 + m] ^ -128);
            double u = (double)sum * row[0][i] * column[0][j] + (double)row[1][i] * column[1][j]
                       + column[2][j] + row[2][i];
            double least = row[3][i] < column[3][j] ? row[3][i] : column[3][j];
            double off = 1e-3 * (1 + (u < 0 ? -u : u));
            any |= u > least + off;
            if (!said) continue;
            if (u > least + off && !(hit[i] >> j & 1)) return differ("dot8: a hit", n);
            if (u < least - off && hit[i] >> j & 1) return differ("dot8: no hit", n);
            double e = u - (double)upper[i * C + j];
            if (hit[i] >> j & 1 && (e > off || e < -off)) return differ("dot8: a bound", n);
        }
    return said || !any ? 0 : differ("dot8: none", n);
}

/* What the search needs of the rest of the tree, in plain C: one thread, OpenBLAS's product. */
int par_threads(void) { return 1; }
int par_for(size_t n, int (*fn)(void *ctx, size_t i, int thread), void *ctx)
{
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++) rc = fn(ctx, i, 0);
    return rc;
}
void *mem_alloc(size_t bytes) { return malloc(bytes); }
void *mem_zero(size_t count, size_t size) { return calloc(count, size); }
void gemm_here(bool ta, bool tb, int M, int N, int K, float alpha, const float *A, int lda,
               const float *B, int ldb, float beta, float *C, int ldc)
{
    (void)ta; (void)tb; (void)alpha; (void)beta;         /* A B^T */
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < K; k++) sum += A[i * lda + k] * B[j * ldb + k];
            C[i * ldc + j] = sum;
        }
}

/* More rows than two blocks have, so that a block begins within another's last tile if blocks are
 * not whole tiles. */
static int search(int n)
{
    enum { N = 1500, M = 90, D = 36, BEST = 3 };
    static float X[N * D], Z[M * D];
    struct csls_side x, z;
    struct csls_work work = { 0 };
    for (size_t i = 0; i < N * D; i++) X[i] = (float)draw(2001) / 1000 - 1;
    for (size_t i = 0; i < M * D; i++) Z[i] = (float)draw(2001) / 1000 - 1;
    setenv("ISOGLOT_CSLS", n % 2 ? "float32" : "int8", 1);
    struct nearest *s = nearest_new(X, N, Z, M, D);
    if (nearest_search(s, CSLS_NN, NULL, NULL, BEST, BEST, NULL, NULL, &x, &z, &work) < 0)
        return differ("a search fails", n);
    nearest_free(s);
    if (work.pairs != N * M || work.int8 != (n % 2 || !*dot8_all() ? 0 : N * M))
        return differ("the product of a search", n);
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < (side ? M : N); i++) {
            const struct csls_side *got = side ? &z : &x;
            float score[BEST];
            uint32_t index[BEST];
            struct topk best = { BEST, 0, score, index };
            for (int j = 0; j < (side ? N : M); j++) {
                const float *a = X + (side ? j : i) * D, *b = Z + (side ? i : j) * D;
                topk_put(&best, (float)simd_choose()->dot_double(a, b, D), (uint32_t)j);
            }
            topk_sort(&best);
            if (memcmp(score, got->score + i * BEST, sizeof score) != 0
                || memcmp(index, got->index + i * BEST, sizeof index) != 0)
                return differ(side ? "the nearest of a column" : "the nearest of a row", n);
        }
    csls_free(&x);
    csls_free(&z);
    return 0;
}
#endif

int main(void)
{
    int wrong = 0, kernels = 0;
    for (int n = 0; n < 2000 && !wrong; n++) {
#ifdef BYTES16
        wrong |= bits(n);
#endif
        wrong |= utf8(n);
    }
#if defined __aarch64__
    for (const struct int8_kernel *const *k = int8_all(); *k; k++, kernels++)
        for (int n = 0; n < 300 && !wrong; n++) wrong |= product(*k, n);
    for (const struct dot8 *const *k = dot8_all(); *k; k++, kernels++)
        for (int n = 0; n < 100 && !wrong; n++) wrong |= above(*k, n);
    for (int n = 0; n < 4 && !wrong; n++) wrong |= search(n);
#endif
    printf("%d kernels of products\n", kernels);
    return wrong;
}
