/* The products of kernels/cpu/sgemm.h against their definition: chains of fused multiply-adds,
 * one element at a time, to the last bit. Those of bf16_amx.c against sums in double of numbers
 * rounded here. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"
#include "common/rng.h"
#include "kernels/cpu/bf16.h"
#include "kernels/cpu/sgemm.h"
#include "kernels/cpu/simd.h"

static struct rng rng = { { 11, RNG_TEST, 0 }, 0, 0 };

struct shape { int M, N, K; };

static float *matrix(int rows, int ld)
{
    size_t n = (size_t)rows * (size_t)ld;
    float *x = mem_alloc(n * sizeof *x);
    for (size_t i = 0; i < n; i++) x[i] = rng_next_unit(&rng) - 0.5f;
    return x;
}

/* The lengths of chains that OpenBLAS's level-3 driver makes of k with Q = 448 and 16 rows. */
static int chain(int left)
{
    if (left >= 896) return 448;
    if (left <= 448) return left;
    return left / 2 % 16 ? left / 2 + 16 - left / 2 % 16 : left / 2;
}

static float element(const float *a, const float *b, int step, int K, bool add, float c)
{
    bool begun = add;
    for (int k = 0; k < K; ) {
        float sum = 0;
        for (int end = k + chain(K - k); k < end; k++)
            sum = fmaf(a[k], b[(size_t)k * (size_t)step], sum);
        c = begun ? c + sum : sum;
        begun = true;
    }
    return c;
}

static void check(struct shape s, bool tb, bool add)
{
    enum { MORE = 3 };                          /* rows are further apart than they are long */
    int lda = s.K + MORE, ldb = (tb ? s.K : s.N) + MORE, ldc = s.N + MORE;
    float *A = matrix(s.M, lda), *B = matrix(tb ? s.N : s.K, ldb), *C = matrix(s.M, ldc);
    size_t bytes = (size_t)s.M * (size_t)ldc * sizeof *C;
    float *was = mem_alloc(bytes), *room = mem_alloc(SGEMM_ROOM * sizeof *room);
    memcpy(was, C, bytes);
    sgemm_avx512(tb, s.M, s.N, s.K, A, lda, B, ldb, add, C, ldc, room);
    for (int i = 0; i < s.M; i++)
        for (int j = 0; j < ldc; j++) {
            size_t at = (size_t)i * (size_t)ldc + (size_t)j;
            const float *b = tb ? B + (size_t)j * (size_t)ldb : B + j;
            float expected = j >= s.N ? was[at]
                                      : element(A + (size_t)i * (size_t)lda, b, tb ? 1 : ldb, s.K,
                                                add, was[at]);
            if (memcmp(&C[at], &expected, sizeof expected) != 0)
                fail_msg("[%d,%d] of %d x %d x %d, tb %d, add %d: %.9g, expected %.9g", i, j, s.M,
                         s.N, s.K, tb, add, (double)C[at], (double)expected);
        }
    free(A); free(B); free(C); free(was); free(room);
}

/* Every number of rows left over and of columns; chains of one, two and three links; more columns
 * than the copy of B has room for. */
static void products_are_chains_of_multiply_adds(void **state)
{
    (void)state;
    if (simd_choose() != &simd_avx512) skip();
    static const struct shape shapes[] = { { 1, 1, 1 },     { 2, 15, 16 },   { 3, 16, 17 },
                                           { 4, 17, 33 },   { 5, 63, 31 },   { 6, 64, 128 },
                                           { 7, 65, 448 },  { 13, 130, 449 }, { 8, 31, 512 },
                                           { 6, 48, 895 },  { 11, 20, 896 }, { 9, 33, 1380 },
                                           { 7, 700, 400 }, { 5, 2100, 64 } };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int how = 0; how < 4; how++) check(shapes[i], how & 1, how & 2);
}

/* A product of nothing leaves C alone; so do rows and columns that are not asked for. */
static void no_rows_or_columns_write_nothing(void **state)
{
    (void)state;
    if (simd_choose() != &simd_avx512) skip();
    float x[16] = { 1 }, c[4] = { 5, 6, 7, 8 }, *room = mem_alloc(SGEMM_ROOM * sizeof *room);
    sgemm_avx512(true, 0, 4, 4, x, 4, x, 4, false, c, 4, room);
    sgemm_avx512(true, 1, 0, 4, x, 4, x, 4, false, c, 4, room);
    for (int i = 0; i < 4; i++) assert_float_equal(c[i], 5 + i, 0);
    free(room);
}

/* --- bfloat16 by AMX -------------------------------------------------------------------------- */

/* To the nearest number of 8 bits, ties to even. */
static double bfloat16(float x)
{
    int exponent;
    double fraction = frexp((double)x, &exponent);
    return ldexp(rint(ldexp(fraction, 8)), exponent - 8);
}

struct transposed { bool a, b; };

/* ALPHA: the one for small matrices, which has a factor. */
enum kind { WRITE, ADD, ALPHA };

static void check_bf16(struct shape s, struct transposed t, enum kind kind)
{
    const bool add = kind == ADD;
    const float alpha = kind == ALPHA ? 0.125f : 1;
    enum { MORE = 3 };
    int lda = (t.a ? s.M : s.K) + MORE, ldb = (t.b ? s.K : s.N) + MORE, ldc = s.N + MORE;
    float *A = matrix(t.a ? s.K : s.M, lda), *B = matrix(t.b ? s.N : s.K, ldb),
          *C = matrix(s.M, ldc), *was = mem_alloc((size_t)s.M * (size_t)ldc * sizeof *was);
    memcpy(was, C, (size_t)s.M * (size_t)ldc * sizeof *was);
    if (kind == ALPHA) bf16_amx_here(t.a, t.b, s.M, s.N, s.K, alpha, A, lda, B, ldb, C, ldc, 0);
    else bf16_amx(t.a, t.b, s.M, s.N, s.K, A, lda, B, ldb, add, C, ldc, 0, NULL, NULL);
    for (int i = 0; i < s.M; i++)
        for (int j = 0; j < ldc; j++) {
            size_t at = (size_t)i * (size_t)ldc + (size_t)j;
            double expected = j >= s.N || add ? (double)was[at] : 0, most = 1e-6;
            for (int k = 0; j < s.N && k < s.K; k++) {
                double a = bfloat16(t.a ? A[k * lda + i] : A[i * lda + k]),
                       b = bfloat16(t.b ? B[j * ldb + k] : B[k * ldb + j]);
                expected += (double)alpha * a * b;
                most += fabs(a * b) * 1e-5;
            }
            if (!(fabs((double)C[at] - expected) <= (j < s.N ? most : 0)))
                fail_msg("bf16: [%d,%d] of %d x %d x %d, ta %d, tb %d, kind %d: %.9g, not %.9g",
                         i, j, s.M, s.N, s.K, t.a, t.b, (int)kind, (double)C[at], expected);
        }
    free(A); free(B); free(C); free(was);
}

/* Blocks that are whole, cut in either direction and both; one, two and more tiles along k, whole
 * and not; longer than is summed at once; more columns and more rows than a group or a tile of the
 * pool has. */
static void bf16_products_are_sums_of_rounded_numbers(void **state)
{
    (void)state;
    if (!simd_amx()) skip();
    static const struct shape shapes[] = { { 1, 1, 1 },    { 15, 17, 31 },  { 16, 16, 32 },
                                           { 17, 15, 33 }, { 32, 32, 64 },  { 33, 31, 65 },
                                           { 40, 70, 96 }, { 31, 64, 1025 }, { 150, 33, 48 },
                                           { 20, 45, 2060 }, { 90, 1300, 80 }, { 1100, 40, 210 } };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int way = 0; way < 12; way++)
            check_bf16(shapes[i], (struct transposed){ way & 1, way >> 1 & 1 },
                       (enum kind)(way >> 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(products_are_chains_of_multiply_adds),
                                        cmocka_unit_test(no_rows_or_columns_write_nothing),
                                        cmocka_unit_test(
                                            bf16_products_are_sums_of_rounded_numbers) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
