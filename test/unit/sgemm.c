/* The products of kernels/linalg/products.h against their definition: chains of fused
 * multiply-adds, one element at a time, to the last bit. Those in tiles against sums in double, and
 * those of bf16_amx.c against such sums of numbers rounded here. */
#if !defined __x86_64__
#include <stdio.h>
int main(void)
{
    puts("AVX-512 and AMX are x86-64's");
    return 77;
}
#else
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
#include "kernels/kernels.h"
#include "kernels/linalg/products.h"
#include "kernels/linalg/simd.h"
#include "test/unit/near.h"

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
    for (int i = 0; i < 4; i++) assert_near(c[i], 5 + i, 0);
    free(room);
}

/* The edges of C cut the last tiles of a row and of a column: what lies beyond is left alone. There
 * is memory there, of A and B too, so that a tile that goes on is seen by what it writes. */
static void tiles_end_where_the_matrix_does(void **state)
{
    (void)state;
    enum { BEYOND = 256, CANARY = 7 };
    static const struct { struct shape s; bool tb; } cut[] = {
        { { 2, 261, 64 }, true },       /* few rows: columns by 256 */
        { { 64, 530, 300 }, true }, { { 64, 530, 300 }, false }, { { 530, 64, 300 }, false } };
    for (size_t n = 0; n < sizeof cut / sizeof *cut; n++) {
        struct shape s = cut[n].s;
        bool tb = cut[n].tb;
        int rows = s.M + BEYOND, ld = s.N + BEYOND, ldb = tb ? s.K : ld;
        float *A = matrix(rows, s.K), *B = matrix(tb ? ld : s.K, ldb), *C = matrix(rows, ld);
        for (int i = 0; i < rows * ld; i++) C[i] = CANARY;
        gemm(false, tb, s.M, s.N, s.K, 1, A, s.K, B, ldb, 0, C, ld, NULL, NULL);
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < ld; j++) {
                bool inside = i < s.M && j < s.N;
                double expected = inside ? 0 : CANARY;
                for (int k = 0; inside && k < s.K; k++)
                    expected += (double)A[i * s.K + k] * (double)B[tb ? j * ldb + k : k * ldb + j];
                if (!(fabs((double)C[i * ld + j] - expected) <= (inside ? 1e-4 : 0)))
                    fail_msg("[%d,%d] of %d x %d x %d, tb %d: %.9g, not %.9g", i, j, s.M, s.N, s.K,
                             tb, (double)C[i * ld + j], expected);
            }
        free(A); free(B); free(C);
    }
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

/* The same n numbers in 2 bytes each; what they were is freed. */
static void *halved(float *x, size_t n)
{
    uint16_t *y = mem_alloc(n * sizeof *y);
    simd_choose()->to_bf16(y, x, n);
    free(x);
    return y;
}

/* Columns from n on, which are nothing of the matrix's, are no numbers. */
static float *fenced(float *x, int rows, int n, int ld)
{
    for (int r = 0; r < rows; r++)
        for (int c = n; c < ld; c++) x[r * ld + c] = NAN;
    return x;
}

/* half: which of the matrices are in bfloat16 themselves. */
static void check_bf16(struct shape s, struct transposed t, enum kind kind, unsigned half)
{
    const bool add = kind == ADD;
    const float alpha = kind == ALPHA ? 0.125f : 1;
    enum { MORE = 3 };
    int lda = (t.a ? s.M : s.K) + MORE, ldb = (t.b ? s.K : s.N) + MORE, ldc = s.N + MORE;
    int a_rows = t.a ? s.K : s.M, b_rows = t.b ? s.N : s.K;
    size_t of_a = (size_t)a_rows * (size_t)lda, of_b = (size_t)b_rows * (size_t)ldb,
           of_c = (size_t)s.M * (size_t)ldc;
    float *A = fenced(matrix(a_rows, lda), a_rows, lda - MORE, lda),
          *B = fenced(matrix(b_rows, ldb), b_rows, ldb - MORE, ldb), *C = matrix(s.M, ldc),
          *was = mem_alloc(of_c * sizeof *was);
    if (half & GEMM_C) simd_choose()->round_bf16(C, C, of_c);
    memcpy(was, C, of_c * sizeof *was);
    void *a = A, *b = B, *c = C;
    if (half & GEMM_A) a = halved(memcpy(mem_alloc(of_a * sizeof *A), A, of_a * sizeof *A), of_a);
    if (half & GEMM_B) b = halved(memcpy(mem_alloc(of_b * sizeof *B), B, of_b * sizeof *B), of_b);
    if (half & GEMM_C) c = halved(memcpy(mem_alloc(of_c * sizeof *C), C, of_c * sizeof *C), of_c);
    if (kind == ALPHA) bf16_amx_here(t.a, t.b, s.M, s.N, s.K, alpha, a, lda, b, ldb, c, ldc, half);
    else bf16_amx(t.a, t.b, s.M, s.N, s.K, a, lda, b, ldb, add, c, ldc, half, NULL, NULL);
    if (half & GEMM_C) simd_choose()->from_bf16(C, c, of_c);
    if (half & GEMM_A) free(a);
    if (half & GEMM_B) free(b);
    if (half & GEMM_C) free(c);
    for (int i = 0; i < s.M; i++)
        for (int j = 0; j < ldc; j++) {
            size_t at = (size_t)i * (size_t)ldc + (size_t)j;
            double expected = j >= s.N || add ? (double)was[at] : 0, most = 1e-6;
            for (int k = 0; j < s.N && k < s.K; k++) {
                double x = bfloat16(t.a ? A[k * lda + i] : A[i * lda + k]),
                       y = bfloat16(t.b ? B[j * ldb + k] : B[k * ldb + j]);
                expected += (double)alpha * x * y;
                most += fabs(x * y) * 1e-5;
            }
            if (half & GEMM_C) most += fabs(expected) / 256;
            if (!(fabs((double)C[at] - expected) <= (j < s.N ? most : 0)))
                fail_msg("bf16: [%d,%d] of %d x %d x %d, ta %d, tb %d, kind %d, half %u: %.9g, not "
                         "%.9g",
                         i, j, s.M, s.N, s.K, t.a, t.b, (int)kind, half, (double)C[at], expected);
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
            for (int turn = 0; turn < 2; turn++)
                check_bf16(shapes[i], (struct transposed){ way & 1, way >> 1 & 1 },
                           (enum kind)(way >> 2),
                           turn ? 1 + (unsigned)(way + (int)i) % 7 : 0);
}

/* C of acts that is deeper than a strip can be, and has something in it: ones by ones. */
static void deep_products_are_added_to_acts(void **state)
{
    (void)state;
    if (!simd_amx()) skip();
    enum { M = 40, N = 50, K = BF16_DEEPEST + 100 };
    float *A = mem_alloc((size_t)M * K * sizeof *A), *B = mem_alloc((size_t)N * K * sizeof *B);
    for (int i = 0; i < M * K; i++) A[i] = 1;
    for (int i = 0; i < N * K; i++) B[i] = 1;
    float was = 1024, sum;
    assert_int_equal(kernels_cpu()->precision(KERN_BF16), 0);
    assert_int_equal(kernels_cpu()->act_size, 2);
    uint16_t C[M * N];
    for (size_t i = 0; i < M * N; i++) simd_choose()->to_bf16(C + i, &was, 1);
    gemm_acts(false, false, M, N, K, A, K, B, N, true, C, N, GEMM_C, NULL, NULL);
    for (size_t i = 0; i < M * N; i++) {
        simd_choose()->from_bf16(&sum, C + i, 1);
        assert_near(sum, 5216, 0);               /* 4,196 and 1,024: the nearest */
    }
    assert_int_equal(kernels_cpu()->precision(KERN_FLOAT32), 0);
    assert_int_equal(kernels_cpu()->act_size, 4);
    free(A); free(B);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(products_are_chains_of_multiply_adds),
                                        cmocka_unit_test(no_rows_or_columns_write_nothing),
                                        cmocka_unit_test(tiles_end_where_the_matrix_does),
                                        cmocka_unit_test(
                                            bf16_products_are_sums_of_rounded_numbers),
                                        cmocka_unit_test(deep_products_are_added_to_acts) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
