/* Products with weights in 8 bits (kernels/int8/int8.h): every kernel that this processor has
 * against whole numbers rounded and multiplied here, one by one. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/rng.h"
#include "common/thread.h"
#include "kernels/cpu/cpu.h"
#include "kernels/int8/int8.h"
#include "kernels/kernels.h"
#include "kernels/linalg/acts.h"
#include "kernels/linalg/simd.h"

static struct rng rng = { { 7, RNG_TEST, 0 }, 0, 0 };

#define FOR_EACH_KERNEL(how) \
    for (const struct int8_kernel *const *how##_at = int8_all(), *how = *how##_at; how; \
         how = *++how##_at)

/* The definition: scale = max / 127, q to the nearest whole number, ties to even. */
static float rounded(int *q, const float *x, int n)
{
    float most = 0;
    for (int i = 0; i < n; i++) most = fmaxf(most, fabsf(x[i]));
    float scale = most / 127, inverse = 1 / scale;
    for (int i = 0; i < n; i++) q[i] = scale > 0 ? (int)lrintf(x[i] * inverse) : 0;
    return scale;
}

enum kind { SMOOTH, EDGES, ZERO_ROWS, KINDS };

/* Rows [n, d]: normal numbers, some large; all at either end; every other row of zeros. */
static float *matrix(int n, int d, enum kind kind)
{
    size_t all = (size_t)n * (size_t)d;
    float *x = mem_alloc((all + 1) * sizeof *x);
    for (size_t i = 0; i < all; i++) {
        float u = rng_next_unit(&rng);
        x[i] = kind == EDGES ? (u < 0.8f ? 2.5f : -2.5f) : (u - 0.5f) * (u < 0.02f ? 40 : 1);
        if (kind == ZERO_ROWS && i / (size_t)d % 2 == 0) x[i] = 0;
    }
    return x;
}

static struct kern_int8 *held(const float *W, int O, int I)
{
    struct kern_int8 *w = int8_new(O, I);
    assert_non_null(w);
    assert_int_equal(int8_put(w, 0, O / 3, W), 0); /* in two goes */
    assert_int_equal(int8_put(w, O / 3, O - O / 3, W + (size_t)(O / 3) * (size_t)I), 0);
    return w;
}

/* Y by the definition, one number at a time. */
static float *expected(const float *X, const float *W, int N, int O, int I)
{
    float *y = mem_alloc((size_t)N * (size_t)O * sizeof *y), *scale = mem_alloc((size_t)O * 4);
    int *qx = mem_alloc((size_t)I * sizeof *qx),
        *qw = mem_alloc((size_t)O * (size_t)I * sizeof *qw);
    for (int o = 0; o < O; o++)
        scale[o] = rounded(qw + (size_t)o * (size_t)I, W + (size_t)o * (size_t)I, I);
    for (int n = 0; n < N; n++) {
        float s = rounded(qx, X + (size_t)n * (size_t)I, I);
        for (int o = 0; o < O; o++) {
            int64_t sum = 0;
            const int *row = qw + (size_t)o * (size_t)I;
            for (int i = 0; i < I; i++) sum += (int64_t)qx[i] * row[i];
            y[(size_t)n * (size_t)O + (size_t)o] = (float)sum * (s * scale[o]);
        }
    }
    free(scale); free(qx); free(qw);
    return y;
}

/* X by one kernel, the panels in two pieces and the rows in two; Y's last row is followed by
 * numbers that must stay. */
static void by_kernel(const struct int8_kernel *how, const float *X, const struct kern_int8 *w,
                      int N, float *Y)
{
    struct int8_rows x = { N, w->depth, mem_alloc((size_t)N * (size_t)w->depth),
                           mem_alloc((size_t)N * sizeof *x.scale) };
    for (int n = 0; n < N; n++)
        x.scale[n] = how->quantise(x.q + (size_t)n * (size_t)w->depth, X + (size_t)n * (size_t)w->I,
                                   (size_t)w->I, (size_t)w->depth, how->shifted);
    int half = w->panels / 2, cut = N > 8 ? 7 : 0;
    for (int part = 0; part < 4; part++)
        how->product(Y, (size_t)w->O, &x, part & 1 ? cut : 0, part & 1 ? N : cut, w,
                     part & 2 ? half : 0, part & 2 ? w->panels : half);
    free(x.q); free(x.scale);
}

static void one_shape(int N, int O, int I, enum kind kind)
{
    enum { BEHIND = 20 };
    size_t n = (size_t)N * (size_t)O;
    float *X = matrix(N, I, kind), *W = matrix(O, I, kind), *want = expected(X, W, N, O, I);
    struct kern_int8 *w = held(W, O, I);
    FOR_EACH_KERNEL(how) {
        float *Y = mem_alloc((n + BEHIND) * sizeof *Y);
        for (size_t i = 0; i < n + BEHIND; i++) Y[i] = 12345;
        by_kernel(how, X, w, N, Y);
        for (size_t i = 0; i < n; i++)
            if (memcmp(&Y[i], &want[i], sizeof *Y) != 0)
                fail_msg("%s: %d x %d x %d, kind %d: Y[%zu] is %.9g, not %.9g", how->name, N, O, I,
                         (int)kind, i, (double)Y[i], (double)want[i]);
        for (size_t i = n; i < n + BEHIND; i++)
            if (Y[i] != 12345) fail_msg("%s: %d x %d x %d: written behind Y", how->name, N, O, I);
        free(Y);
    }
    int8_free(w);
    free(X); free(W); free(want);
}

static void every_kernel_gives_the_exact_sums_at_any_shape(void **state)
{
    (void)state;
    static const int outs[] = { 1, 7, 8, 15, 16, 17, 33, 64, 95, 130, 250 },
                     ins[] = { 1, 3, 4, 5, 63, 64, 65, 130, 200 };
    for (size_t o = 0; o < sizeof outs / sizeof *outs; o++)
        for (size_t i = 0; i < sizeof ins / sizeof *ins; i++)
            for (int N = 1; N <= 14; N++) one_shape(N, outs[o], ins[i], (enum kind)(N % KINDS));
    one_shape(40, 300, 260, SMOOTH);
    for (int N = 15; N < 68; N += N % 8 ? 1 : 7) one_shape(N, 49, 130, (enum kind)(N % KINDS));
    one_shape(21, 40, 1024, EDGES);
}

/* 127 * 127 in every term, and 255 * 127 before the shift is taken off: the largest sums there
 * are. */
static void the_longest_rows_do_not_overflow(void **state)
{
    (void)state;
    const int I = INT8_MOST, O = 3;
    float *X = mem_alloc(2 * (size_t)I * sizeof *X), y[6],
          *W = mem_alloc((size_t)(O * I) * sizeof *W);
    for (int i = 0; i < I; i++) {
        X[i] = 1; X[I + i] = -1;
        W[i] = 1; W[I + i] = -1; W[2 * I + i] = i % 2 ? 1 : -1;
    }
    struct kern_int8 *w = held(W, O, I);
    const float sum = 127.0f * 127.0f * 65536.0f, scale = (1.0f / 127) * (1.0f / 127);
    const float want[6] = { sum * scale, -sum * scale, 0, -sum * scale, sum * scale, 0 };
    FOR_EACH_KERNEL(how) {
        by_kernel(how, X, w, 2, y);
        for (int i = 0; i < 6; i++)
            if (y[i] != want[i])
                fail_msg("%s: %d: %.9g, not %.9g", how->name, i, (double)y[i], (double)want[i]);
    }
    int8_free(w);
    free(X); free(W);
    assert_null(int8_new(1, INT8_MOST + 1));
    assert_non_null(strstr(err_msg(), "65537"));
}

/* By hand: 127 is the largest, so that the scale is 1; halves go to the even number. */
static void rows_are_rounded_to_the_nearest_ties_to_even(void **state)
{
    (void)state;
    static const float x[] = { 127, -127, 0.5f, 1.5f, -2.5f, 2.4999998f, -63.7f, 1e-30f, -0.0f };
    static const int8_t want[12] = { 127, -127, 0, 2, -2, 2, -64, 0, 0, 0, 0, 0 };
    FOR_EACH_KERNEL(how)
        for (int shifted = 0; shifted < 2; shifted++) {
            int8_t q[12];
            assert_true(how->quantise(q, x, 9, 12, shifted) == 1);
            for (int i = 0; i < 12; i++)
                if ((shifted ? (uint8_t)q[i] - 128 : q[i]) != want[i])
                    fail_msg("%s: %d became %d", how->name, i, q[i]);
        }
}

static void rows_of_zeros_tiny_and_infinite_numbers(void **state)
{
    (void)state;
    static const struct { float x[3]; float scale; } rows[] = {
        { { 0, -0.0f, 0 }, 0 }, { { 1e-38f, -2e-38f, 0 }, 0 }, { { 1, NAN, 0 }, NAN },
        { { -INFINITY, 2, 0 }, NAN }, { { 1, 2, -NAN }, NAN }
    };
    FOR_EACH_KERNEL(how)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            int8_t q[4] = { 1, 1, 1, 1 };
            float s = how->quantise(q, rows[i].x, 3, 4, false);
            if (isnan(rows[i].scale) ? !isnan(s) : s != rows[i].scale)
                fail_msg("%s: row %zu has the scale %g", how->name, i, (double)s);
            for (int j = 0; j < 4; j++) assert_int_equal(q[j], 0);
        }
    float W[] = { 1, 2, 3, 4, INFINITY, 5 };
    struct kern_int8 *w = int8_new(3, 2);
    assert_int_equal(int8_put(w, 0, 3, W), -1);
    assert_non_null(strstr(err_msg(), "row 2 "));
    int8_free(w);
}

static void rows_of_weights_come_back_as_they_are_held(void **state)
{
    (void)state;
    enum { O = 37, I = 70 };
    float *W = matrix(O, I, SMOOTH), back[O * I];
    struct kern_int8 *w = held(W, O, I);
    int8_get(w, 0, O, back);
    for (int o = 0; o < O; o++) {
        int q[I];
        float scale = rounded(q, W + o * I, I);
        for (int i = 0; i < I; i++) assert_true(back[o * I + i] == scale * (float)q[i]);
    }
    float some[2 * I];
    int8_get(w, 20, 2, some);
    assert_memory_equal(some, back + 20 * I, sizeof some);
    int8_free(w);
    free(W);
}

/* --- over the pool ---------------------------------------------------------------------------- */

struct seen { int O; const float *Y; uint8_t *times; };

static void mark(void *ctx, float *y, size_t ld, int r0, int r1, int c0, int c1)
{
    struct seen *s = ctx;
    if (y != s->Y + (size_t)r0 * (size_t)s->O + c0 || ld != (size_t)s->O)
        fail_msg("tile of rows from %d, columns from %d: not where it begins", r0, c0);
    for (int r = r0; r < r1; r++)
        for (int c = c0; c < c1; c++) s->times[(size_t)r * (size_t)s->O + (size_t)c]++;
}

static void threads_and_batches_do_not_matter(void **state)
{
    (void)state;
    static const int shapes[][3] = { { 1, 3000, 256 }, { 300, 1000, 70 }, { 5000, 17, 130 } };
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        int N = shapes[s][0], O = shapes[s][1], I = shapes[s][2];
        size_t n = (size_t)N * (size_t)O, bytes = n * sizeof(float);
        float *X = matrix(N, I, SMOOTH), *W = matrix(O, I, SMOOTH), *Y = mem_alloc(bytes),
              *want = expected(X, W, N, O, I);
        struct kern_int8 *w = held(W, O, I);
        for (int threads = 1; threads <= 5; threads += 2) {
            struct seen seen = { O, Y, mem_zero(n, 1) };
            par_threads_set(threads);
            int8_product(Y, X, w, N, mark, &seen);
            assert_memory_equal(Y, want, bytes);
            for (size_t i = 0; i < n; i++) assert_int_equal(seen.times[i], 1);
            free(seen.times);
        }
        par_threads_set(1);
        int8_product(Y, X + (size_t)(N - 1) * (size_t)I, w, 1, NULL, NULL);
        assert_memory_equal(Y, want + (size_t)(N - 1) * (size_t)O, (size_t)O * sizeof *Y);
        int8_product(Y, X, w, 0, NULL, NULL);
        int8_free(w);
        free(X); free(W); free(Y); free(want);
    }
}

/* More rows than are made float32 at once. What acts hold and give is rounded, no more: all numbers
 * here are whole and below 256, the scales powers of two. */
static void acts_in_bfloat16_give_the_same(void **state)
{
    (void)state;
    enum { N = 700, O = 20, I = 5 };
    float *X = mem_alloc(N * I * sizeof *X), W[O * I], b[O],
          *want = mem_alloc(N * O * sizeof *want), *pre = mem_alloc(N * O * sizeof *pre);
    uint16_t *half = mem_zero(N * I, sizeof *half), *Y = mem_zero(N * O, sizeof *Y),
             *half_pre = mem_zero(N * O, sizeof *half_pre);
    for (int i = 0; i < N * I; i++) X[i] = i % I ? (float)((i * 7 + i / I) % 5 - 2) : 127;
    for (int i = 0; i < O * I; i++) W[i] = i % I ? (float)((i * 3 + i / I) % 5 - 2) : 127;
    for (int o = 0; o < O; o++) b[o] = (float)(o - 127 * 127);
    struct kern_int8 *w = held(W, O, I);
    struct kern_linear_fwd a = { .Y = want, .pre = pre, .X = X, .W8 = w, .b = b, .f = KERN_RELU,
                                 .N = N, .I = I, .O = O };
    cpu_linear_fwd(&a);
    simd_choose()->to_bf16(half, X, N * I);
    a.Y = Y; a.X = half; a.pre = half_pre;
    acts_half = true;
    cpu_linear_fwd(&a);
    for (int i = 0; i < N * O; i++)
        if (acts_one(Y, (size_t)i) != want[i] || acts_one(half_pre, (size_t)i) != pre[i])
            fail_msg("%d: %g, not %g", i, (double)acts_one(Y, (size_t)i), (double)want[i]);
    acts_half = false;
    int8_free(w);
    free(X); free(want); free(pre); free(half); free(Y); free(half_pre);
}

/* In a process of its own: a back end keeps its first failure. */
static void an_input_that_is_not_finite_is_told(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        float X[] = { 1, 2, 3, NAN }, W[] = { 1, 2, 3, 4 }, Y[4];
        struct kern_int8 *w = held(W, 2, 2);
        int8_product(Y, X, w, 2, NULL, NULL);
        bool right = isfinite(Y[0]) && isfinite(Y[1]) && isnan(Y[2]) && isnan(Y[3]) &&
                     kernels_cpu()->sync() == -1 && strstr(err_msg(), "not finite");
        _exit(right ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* --- the choice of a kernel ------------------------------------------------------------------- */

static const char *self;

static int first_kernel(const char *simd)
{
    pid_t child = fork();
    if (child == 0) {
        setenv("ISOGLOT_SIMD", simd, 1);
        execl(self, self, "first", (char *)NULL);
        _exit(99);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

static int rank(const struct int8_kernel *how)
{
#if defined __x86_64__
    if (how == &int8_amx) return 4;
    return how == &int8_avx512 ? 3 : how == &int8_vnni ? 2 : how == &int8_avx2 ? 1 : 0;
#elif defined __aarch64__
    return how == &int8_sdot ? 2 : how == &int8_neon;
#else
    return how != &int8_base;
#endif
}

static void lesser_instruction_sets_can_be_chosen(void **state)
{
    (void)state;
    if (getenv("ISOGLOT_SIMD")) return;
    const struct int8_kernel *const *all = int8_all();
    for (int i = 1; all[i]; i++) assert_true(rank(all[i]) < rank(all[i - 1]));
#if defined __x86_64__
    int amx = rank(all[0]) == 4, avx512 = false;
    for (int i = 0; all[i]; i++) avx512 = avx512 || rank(all[i]) == 3;
    assert_int_equal(first_kernel("base"), 0);
    assert_int_equal(first_kernel("avx2"), rank(all[amx + avx512]));
    assert_int_equal(first_kernel("avx512"), rank(all[amx]));
#else
    /* only sdot can be left out: NEON is in each aarch64 */
    assert_int_equal(first_kernel("base"), rank(all[rank(all[0]) == 2]));
#endif
    assert_int_equal(first_kernel("amx"), rank(all[0]));
}

int main(int argc, char **argv)
{
    self = argv[0];
    if (argc > 1) return rank(int8_all()[0]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_gives_the_exact_sums_at_any_shape),
        cmocka_unit_test(the_longest_rows_do_not_overflow),
        cmocka_unit_test(rows_are_rounded_to_the_nearest_ties_to_even),
        cmocka_unit_test(rows_of_zeros_tiny_and_infinite_numbers),
        cmocka_unit_test(rows_of_weights_come_back_as_they_are_held),
        cmocka_unit_test(threads_and_batches_do_not_matter),
        cmocka_unit_test(acts_in_bfloat16_give_the_same),
        cmocka_unit_test(an_input_that_is_not_finite_is_told),
        cmocka_unit_test(lesser_instruction_sets_can_be_chosen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
