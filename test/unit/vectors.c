/* lib/vectors and lib/bilingual: the algebra under the analysis programs. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/rng.h"
#include "common/thread.h"
#include "kernels/int8/dot8.h"
#include "kernels/linalg/simd.h"
#include "lib/bilingual/map.h"
#include "lib/bilingual/scores.h"
#include "lib/vectors/csls.h"
#include "lib/vectors/linalg.h"
#include "lib/vectors/sparse.h"
#include "lib/vectors/topk.h"
#include "lib/vectors/vectors.h"
#include "test/unit/scratch.h"

static const struct rng_key key = { 11, RNG_TEST, 0 };

static float *normal(size_t n, uint32_t stream)
{
    float *x = mem_alloc((n + 1) * sizeof *x);
    for (size_t i = 0; i < n; i++) x[i] = rng_normal(key, i, stream);
    return x;
}

static void unit(float *x, size_t n, size_t d)
{
    for (size_t i = 0; i < n; i++) {
        double s = 0;
        for (size_t k = 0; k < d; k++) s += (double)x[i * d + k] * x[i * d + k];
        for (size_t k = 0; k < d; k++) x[i * d + k] = (float)(x[i * d + k] / sqrt(s));
    }
}

static void the_tiled_search_finds_what_the_whole_matrix_shows(void **state)
{
    (void)state;
    /* above and below the tile sizes, and not their multiples */
    enum { N = 600, M = 1100, D = 5, K = 7, TOP = 3 };
    float *X = normal(N * D, 1), *Z = normal(M * D, 2), *S = mem_alloc(N * M * sizeof *S);
    unit(X, N, D);
    unit(Z, M, D);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < M; j++) {
            double s = 0;
            for (size_t k = 0; k < D; k++) s += (double)X[i * D + k] * Z[j * D + k];
            S[i * M + j] = (float)s;
        }
    csls_matrix(S, N, M, K);
    struct csls_side x, z, wx, wz;
    assert_int_equal(csls_search(X, N, Z, M, D, CSLS_CSLS, TOP, K, &x, &z, NULL), 0);
    csls_matrix_top(S, N, M, 1, TOP, &wx);
    csls_matrix_top(S, N, M, 0, TOP, &wz);
    int other = 0;
    for (size_t i = 0; i < N * TOP; i++) {
        assert_true(fabsf(x.score[i] - wx.score[i]) < 1e-5);
        other += x.index[i] != wx.index[i];
    }
    for (size_t i = 0; i < M * TOP; i++) {
        assert_true(fabsf(z.score[i] - wz.score[i]) < 1e-5);
        other += z.index[i] != wz.index[i];
    }
    assert_true(other < 20);               /* scores a rounding apart may change places */
    csls_free(&x); csls_free(&z); csls_free(&wx); csls_free(&wz);
    free(X); free(Z); free(S);
}

static int by_score(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x < y) - (x > y);
}

static void a_heap_keeps_the_best_and_the_lower_of_equals(void **state)
{
    (void)state;
    for (int n = 1; n < 60; n++) {
        float all[60], score[10];
        uint32_t index[10];
        struct topk t = { 10, 0, score, index };
        for (int i = 0; i < n; i++) {
            all[i] = (float)rng_below(key, (uint64_t)n, (uint32_t)i, 8);      /* many equal */
            topk_put(&t, all[i], (uint32_t)i);
        }
        topk_sort(&t);
        float copy[60];
        memcpy(copy, all, sizeof copy);
        qsort(copy, (size_t)n, sizeof *copy, by_score);
        assert_int_equal(t.n, n < 10 ? n : 10);
        for (int i = 0; i < t.n; i++) {
            assert_true(score[i] == copy[i] && all[index[i]] == score[i]);
            if (i && score[i] == score[i - 1]) assert_true(index[i] > index[i - 1]);
        }
        for (int i = 0; i < n;
             i++) /* an equal one that is not kept has a higher index than those kept */
            if (all[i] == score[t.n - 1] && (uint32_t)i < index[t.n - 1]) {
                bool kept = false;
                for (int k = 0; k < t.n; k++) kept |= index[k] == (uint32_t)i;
                assert_true(kept);
            }
    }
}

/* --- the searches of nearest.c --- */

struct scored { float score; uint32_t index; };

static int best_first(const void *a, const void *b)
{
    const struct scored *x = a, *y = b;
    return x->score > y->score   ? -1
           : x->score < y->score ? 1
                                 : (x->index > y->index) - (x->index < y->index);
}

/* The k best of every line of S [n, m] (columns: of every column), by sorting. */
static struct csls_side sorted(const float *S, uint32_t n, uint32_t m, bool columns, int k)
{
    uint32_t lines = columns ? m : n, across = columns ? n : m;
    struct csls_side s;
    struct scored *all = mem_alloc((size_t)across * sizeof *all);
    csls_side_init(&s, lines, k < (int)across ? k : (int)across);
    for (uint32_t i = 0; i < lines; i++) {
        for (uint32_t j = 0; j < across; j++)
            all[j] = (struct scored){ columns ? S[(size_t)j * m + i] : S[(size_t)i * m + j], j };
        qsort(all, across, sizeof *all, best_first);
        for (int j = 0; j < s.k; j++) {
            s.score[i * (size_t)s.k + (size_t)j] = all[j].score;
            s.index[i * (size_t)s.k + (size_t)j] = all[j].index;
        }
    }
    free(all);
    return s;
}

static float *line_means_of(const struct csls_side *s)
{
    float *mean = mem_alloc((size_t)s->n * sizeof *mean);
    for (uint32_t i = 0; i < s->n; i++) {
        double sum = 0;
        for (int j = 0; j < s->k; j++) sum += s->score[i * (size_t)s->k + (size_t)j];
        mean[i] = (float)(sum / s->k);
    }
    return mean;
}

/* csls_search as its header states it, from every pair. */
static void by_force(const float *X, uint32_t n, const float *Z, uint32_t m, int d,
                     enum csls_method how, int k, int K, struct csls_side *x, struct csls_side *z)
{
    float *S = mem_alloc((size_t)n * m * sizeof *S);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++)
            S[i * m + j] = (float)simd_base.dot_double(X + i * (size_t)d, Z + j * (size_t)d,
                                                       (size_t)d);
    if (how != CSLS_NN) {
        struct csls_side near_x = sorted(S, n, m, false, K), near_z = sorted(S, n, m, true, K);
        float *rx = line_means_of(&near_x), *rz = line_means_of(&near_z);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < m; j++)
                S[i * m + j] = how == CSLS_CSLS ? 2 * S[i * m + j] - rx[i] - rz[j]
                                                : S[i * m + j] / ((rx[i] + rz[j]) / 2);
        free(rx);
        free(rz);
        csls_free(&near_x);
        csls_free(&near_z);
    }
    *x = sorted(S, n, m, false, k);
    *z = sorted(S, n, m, true, k);
    free(S);
}

static void assert_same_side(const struct csls_side *a, const struct csls_side *b)
{
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->k, b->k);
    size_t size = (size_t)a->n * (size_t)a->k;
    assert_memory_equal(a->index, b->index, size * sizeof *a->index);
    assert_memory_equal(a->score, b->score, size * sizeof *a->score);
}

enum kind { NORMAL, SHARED, SPIKES, REPEATED, ZEROS, KINDS };

/* Unit vectors of a kind; what an int8 copy takes badly: one component that dwarfs the others, a
 * direction that all share. */
static float *vectors_of(enum kind kind, uint32_t n, int d, uint32_t stream)
{
    float *v = normal((size_t)n * (size_t)d, stream);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < (size_t)d; k++) {
            float *c = &v[i * (size_t)d + k];
            if (kind == SHARED) *c += 5;
            if (kind == SPIKES && k == (i * 7 + stream) % (size_t)d) *c *= 1000;
            if (kind == REPEATED && i >= 10) *c = v[i % 10 * (size_t)d + k];
        }
    unit(v, n, (size_t)d);
    for (size_t i = 0; kind == ZEROS && i < n; i += 3)
        memset(v + i * (size_t)d, 0, (size_t)d * sizeof *v);
    return v;
}

static void every_search_is_brute_force_to_the_byte(void **state)
{
    (void)state;
    /* around the tiles of all kernels, dimensions that fill no vector, fewer rows than
     * neighbours, three blocks of rows */
    static const struct { uint32_t n, m; int d, k, K;
    } size[] = { { 1, 1, 1, 1, 1 },       { 3, 5, 17, 10, 10 },    { 29, 33, 4, 3, 7 },
                 { 515, 70, 300, 2, 10 }, { 40, 1050, 67, 10, 4 }, { 505, 1025, 33, 5, 10 },
                 { 1400, 20, 33, 2, 4 } };
    static const char *const way[] = { "float32", "int8", "" };
    for (size_t i = 0; i < sizeof size / sizeof *size; i++)
        for (int kind = 0; kind < KINDS; kind++)
            for (int how = CSLS_NN; how <= CSLS_RATIO; how++) {
                uint32_t n = size[i].n, m = size[i].m;
                if (kind == ZEROS && how == CSLS_RATIO) continue;       /* 0 / 0 */
                float *X = vectors_of((enum kind)kind, n, size[i].d, 20),
                      *Z = vectors_of((enum kind)kind, m, size[i].d, 21);
                struct csls_side wx, wz, x, z;
                by_force(X, n, Z, m, size[i].d, (enum csls_method)how, size[i].k, size[i].K, &wx,
                         &wz);
                for (int w = 0; w < 3; w++)
                    for (int threads = 1; threads <= 3; threads += 2) {
                        setenv("ISOGLOT_CSLS", way[w], 1);
                        par_threads_set(threads);
                        assert_int_equal(csls_search(X, n, Z, m, size[i].d, (enum csls_method)how,
                                                     size[i].k, size[i].K, &x, &z, NULL),
                                         0);
                        assert_same_side(&x, &wx);
                        assert_same_side(&z, &wz);
                        csls_free(&x);
                        csls_free(&z);
                        assert_int_equal(csls_search(X, n, Z, m, size[i].d, (enum csls_method)how,
                                                     size[i].k, size[i].K, &x, NULL, NULL),
                                         0);
                        assert_same_side(&x, &wx);
                        csls_free(&x);
                    }
                csls_free(&wx);
                csls_free(&wz);
                free(X);
                free(Z);
            }
    unsetenv("ISOGLOT_CSLS");
    par_threads_set(1);
}

static void int8_is_left_where_its_bounds_tell_nothing(void **state)
{
    (void)state;
    enum { N = 2600, D = 300 };
    if (!dot8_all()[0]) skip();
    for (int kind = NORMAL; kind <= SPIKES; kind++) {
        float *X = vectors_of((enum kind)kind, N, D, 20),
              *Z = vectors_of((enum kind)kind, N, D, 21);
        struct csls_side x, z, wx, wz;
        struct csls_work work, want;
        assert_int_equal(csls_search(X, N, Z, N, D, CSLS_CSLS, 10, 10, &x, &z, &work), 0);
        setenv("ISOGLOT_CSLS", "float32", 1);
        assert_int_equal(csls_search(X, N, Z, N, D, CSLS_CSLS, 10, 10, &wx, &wz, &want), 0);
        unsetenv("ISOGLOT_CSLS");
        assert_same_side(&x, &wx);
        assert_same_side(&z, &wz);
        assert_true(work.pairs == 2ull * N * N && want.pairs == work.pairs && want.int8 == 0
                    && want.scored < want.pairs / 8);
        if (kind == SPIKES) assert_true(work.int8 > 0 && work.int8 < work.pairs / 2);
        else assert_true(work.int8 == work.pairs && work.scored < work.pairs / 8);
        csls_free(&x); csls_free(&z); csls_free(&wx); csls_free(&wz);
        free(X);
        free(Z);
    }
}

static void no_inner_product_is_above_the_bound_of_its_int8_copies(void **state)
{
    (void)state;
    enum { N = 61, M = 100 };
    for (int a = 0; dot8_all()[a]; a++)
        for (int kind = 0; kind < KINDS; kind++)
            for (int d = 1; d < 400; d = d * 3 + 2) {
                const struct dot8 *how = dot8_all()[a];
                float *X = vectors_of((enum kind)kind, N, d, 20),
                      *Z = vectors_of((enum kind)kind, M, d, 21),
                      *none = mem_zero((size_t)(M + N + d), sizeof *none);
                float *low = mem_alloc((N + M) * sizeof *low),
                      *weight = mem_zero(M + DOT8_COLUMNS, sizeof *weight),
                      upper[DOT8_ROWS * DOT8_COLUMNS];
                uint32_t hit[DOT8_ROWS];
                struct dot8_side x, z;
                dot8_side_init(&x, X, N, d, none, how, 0);
                dot8_side_init(&z, Z, M, d, none, how, 1);
                float ratio = 0;
                for (int i = 0; i < N; i++)
                    if (x.error[i] > 0) ratio = fmaxf(ratio, x.kept[i] / x.error[i]);
                for (int j = 0; j < M; j++) weight[j] = z.norm[j] + ratio * z.error[j];
                for (int i = 0; i < N + M; i++) low[i] = -INFINITY;
                if (how->begin) how->begin();
                for (uint32_t i = 0; i < x.padded; i += (uint32_t)how->rows)
                    for (uint32_t j = 0; j < z.padded; j += (uint32_t)how->columns) {
                        struct dot8_rows r = { x.q + i * (size_t)x.steps * 4,
                                               x.start + i,
                                               x.scale + i,
                                               x.error + i,
                                               none,
                                               low };
                        struct dot8_columns c = { z.q + j * (size_t)z.steps * 4, z.scale + j,
                                                  weight + j, none, low };
                        assert_true(how->above(x.steps, &r, &c, upper, hit));
                        for (uint32_t p = i; p < x.n && p < i + (uint32_t)how->rows; p++)
                            for (uint32_t q = j; q < z.n && q < j + (uint32_t)how->columns; q++) {
                                double exact = simd_base.dot_double(X + p * (size_t)d,
                                                                    Z + q * (size_t)d, (size_t)d);
                                float u = upper[(p - i) * (uint32_t)how->columns + (q - j)];
                                assert_true(hit[p - i] >> (q - j) & 1);
                                assert_true(u >= exact - 1e-6
                                            && u <= exact + 2.0 * x.error[p] * weight[q] + 1e-6);
                            }
                    }
                if (how->end) how->end();
                dot8_side_free(&x);
                dot8_side_free(&z);
                free(X); free(Z); free(none); free(low); free(weight);
            }
}

static void inner_products_in_double_are_the_same_bits_everywhere(void **state)
{
    (void)state;
    enum { N = 400 };
    float *x = normal(N, 30), *y = normal(N, 31);
    for (size_t n = 0; n <= N; n++) {
        double sum = 0, base = simd_base.dot_double(x, y, n);
        for (size_t i = 0; i < n; i++) sum += (double)x[i] * y[i];
        assert_true(fabs(sum - base) < 1e-12);
#if defined __x86_64__
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
            assert_true(simd_avx2.dot_double(x, y, n) == base);
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
            assert_true(simd_avx512.dot_double(x, y, n) == base);
#endif
    }
    free(x);
    free(y);
}

static struct sparse *random_sparse(uint32_t rows, uint32_t cols, int per_row, uint32_t stream)
{
    struct sparse_entry *e = mem_alloc((size_t)rows * (size_t)per_row * sizeof *e);
    size_t n = 0;
    for (uint32_t r = 0; r < rows; r++)
        for (int k = 0; k < per_row; k++) {
            uint64_t c = rng_below(key, r, (uint32_t)k + stream, cols);
            uint64_t v = rng_below(key, r, (uint32_t)k + stream + 1000, 5);
            e[n++] = (struct sparse_entry){ r, (uint32_t)(c * c / cols), 1 + (float)v };
        }
    struct sparse *m = sparse_make(rows, cols, e, n);
    free(e);
    return m;
}

static float *dense(const struct sparse *m)
{
    float *d = mem_zero((size_t)m->rows * m->cols, sizeof *d);
    for (uint32_t r = 0; r < m->rows; r++)
        for (size_t i = m->at[r]; i < m->at[r + 1]; i++)
            d[(size_t)r * m->cols + m->col[i]] += m->v[i];
    return d;
}

static void sparse_products_are_those_of_full_matrices(void **state)
{
    (void)state;
    struct sparse *a = random_sparse(300, 90, 12, 1), *b = random_sparse(90, 70, 9, 5000),
                  *c = random_sparse(270, 90, 10, 9000);
    struct sparse *p = sparse_product(a, b), *t = sparse_transpose(a);
    float *A = dense(a), *B = dense(b), *C = dense(c), *P = dense(p), *T = dense(t),
          *S = mem_zero(300 * 270, sizeof *S);
    for (size_t i = 0; i < 300; i++)
        for (size_t j = 0; j < 70; j++) {
            double s = 0;
            for (size_t k = 0; k < 90; k++) s += (double)A[i * 90 + k] * B[k * 70 + j];
            assert_true(fabs(P[i * 70 + j] - s) < 1e-3);
        }
    for (size_t i = 0; i < 300; i++)
        for (size_t j = 0; j < 90; j++) assert_true(A[i * 90 + j] == T[j * 300 + i]);
    struct sparse_right *right = sparse_right_new(a, c);
    sparse_add_products(a, right, 0.5f, 0, 300, 270, S);
    /* some rows and columns of the same */
    float *part = mem_zero(40 * 200, sizeof *part);
    sparse_add_products(a, right, 0.5f, 130, 40, 200, part);
    for (size_t i = 0; i < 40; i++)
        for (size_t j = 0; j < 200; j++)
            assert_true(fabsf(part[i * 200 + j] - S[(130 + i) * 270 + j]) < 1e-5f);
    sparse_right_free(right);
    free(part);
    for (size_t i = 0; i < 300; i++)
        for (size_t j = 0; j < 270; j++) {
            double s = 0;
            for (size_t k = 0; k < 90; k++) s += (double)A[i * 90 + k] * C[j * 90 + k];
            assert_true(fabs(S[i * 270 + j] - 0.5 * s) < 1e-3);
        }
    sparse_free(a); sparse_free(b); sparse_free(c); sparse_free(p); sparse_free(t);
    free(A); free(B); free(C); free(P); free(T); free(S);
}

/* Entries in any order; those of one place are added from the smallest up, so that 2^24 does not
 * swallow 1 and 1. */
static void entries_of_one_place_are_one(void **state)
{
    (void)state;
    for (int turn = 0; turn < 3; turn++) {
        struct sparse_entry e[7] = { { 2, 2, 0x1p24f }, { 2, 2, 1 }, { 2, 0, 2 }, { 0, 1, 0.25f },
                                     { 2, 2, 1 },       { 0, 1, 4 }, { 2, 1, 3 } }, was = e[0];
        e[0] = e[2 * turn];
        e[2 * turn] = was;
        struct sparse *m = sparse_make(3, 3, e, 7);
        assert_memory_equal(m->at, ((size_t[]){ 0, 1, 1, 4 }), 4 * sizeof(size_t));
        assert_memory_equal(m->col, ((uint32_t[]){ 1, 0, 1, 2 }), 4 * sizeof(uint32_t));
        assert_true(m->v[0] == 4.25f && m->v[1] == 2 && m->v[2] == 3 && m->v[3] == 0x1p24f + 2);
        /* in order they come as they are: 2 3 6 of length 7; what is empty stays so */
        struct sparse_entry six[3] = { { 2, 0, 2 }, { 2, 1, 3 }, { 2, 2, 6 } };
        struct sparse *unit = sparse_make(4, 3, six, 3);
        sparse_unit_rows(unit);
        assert_memory_equal(unit->at, ((size_t[]){ 0, 0, 0, 3, 3 }), 5 * sizeof(size_t));
        for (int i = 0; i < 3; i++) assert_true(fabs(unit->v[i] - six[i].v / 7.0) < 1e-7);
        sparse_free(unit);
        sparse_free(m);
    }
}

/* (1 1; 3 0) (0 2 0; 4 0 5) by hand: columns ascend whatever row of B brought them, a product of 0
 * is no entry of its own, and the second row starts from nothing. */
static void a_sparse_product_by_hand(void **state)
{
    (void)state;
    struct sparse_entry ea[] = { { 0, 0, 1 }, { 0, 1, 1 }, { 1, 0, 3 } },
                        eb[] = { { 0, 0, 0 }, { 0, 1, 2 }, { 1, 0, 4 }, { 1, 2, 5 } };
    struct sparse *a = sparse_make(2, 2, ea, 3), *b = sparse_make(2, 3, eb, 4),
                  *p = sparse_product(a, b), *t = sparse_transpose(p);
    /* the last column of a row is the first of the next: two places */
    assert_memory_equal(a->at, ((size_t[]){ 0, 2, 3 }), 3 * sizeof(size_t));
    assert_memory_equal(b->at, ((size_t[]){ 0, 2, 4 }), 3 * sizeof(size_t));
    assert_true(p->rows == 2 && p->cols == 3 && t->rows == 3 && t->cols == 2);
    assert_memory_equal(p->at, ((size_t[]){ 0, 3, 4 }), 3 * sizeof(size_t));
    assert_memory_equal(p->col, ((uint32_t[]){ 0, 1, 2, 1 }), 4 * sizeof(uint32_t));
    assert_memory_equal(p->v, ((float[]){ 4, 2, 5, 6 }), 4 * sizeof(float));
    assert_memory_equal(t->at, ((size_t[]){ 0, 1, 3, 4 }), 4 * sizeof(size_t));
    assert_memory_equal(t->col, ((uint32_t[]){ 0, 0, 1, 0 }), 4 * sizeof(uint32_t));
    assert_memory_equal(t->v, ((float[]){ 4, 2, 6, 5 }), 4 * sizeof(float));
    /* places of one column in rows that follow each other are two */
    struct sparse_entry under[] = { { 0, 1, 7 }, { 1, 1, 8 }, { 0, 0, 0 } };
    struct sparse *u = sparse_make(2, 2, under, 2);
    assert_memory_equal(u->at, ((size_t[]){ 0, 1, 2 }), 3 * sizeof(size_t));
    assert_true(u->v[0] == 7 && u->v[1] == 8);
    /* a row of nothing but 0 has no direction: it stays, and is no NaN */
    struct sparse *zero = sparse_make(1, 2, under + 2, 1);
    sparse_unit_rows(zero);
    assert_true(zero->v[0] == 0);
    sparse_free(a); sparse_free(b); sparse_free(p); sparse_free(t); sparse_free(u);
    sparse_free(zero);
}

static void ppmi_is_levy_goldberg_and_dagans(void **state)
{
    (void)state;
    struct sparse_entry e[] = { { 0, 0, 4 }, { 0, 1, 1 }, { 1, 1, 3 }, { 1, 0, 1 } };
    struct sparse *m = sparse_make(2, 2, e, 4);
    sparse_ppmi(m, 0.75, 1);
    double a = pow(5, 0.75), b = pow(4, 0.75), v = log(4 * (a + b) / (5 * a)),
           w = log(3 * (a + b) / (4 * b));
    float *d = dense(m);
    assert_true(fabs(d[0] - v) < 1e-6 && d[1] == 0 && d[2] == 0 && fabs(d[3] - w) < 1e-6);
    free(d);
    sparse_free(m);
    /* Counts (6 2 0; 0 4 0), shift 2. Columns sum to 6, 6, 0 (of 12), rows to 8 and 4. Unsmoothed,
     * 6 is log(6 * 12 / (8 * 6)) = log 1.5, less log 2: below 0. 2 is log(2 * 12 / 48) < 0.
     * 4 is log(4 * 12 / (4 * 6)) = log 2, less log 2: 0 is dropped, too. With shift 1.25 remain
     * log 1.2 and log 1.6. With power 0 each of the two columns that have counts is 1 of 2, and
     * the empty third none: 6 is log(6 * 2 / 8) = log 1.5 and 4 is log(4 * 2 / 4) = log 2. */
    for (int turn = 0; turn < 3; turn++) {
        static const double power[] = { 1, 1, 0 }, shift[] = { 2, 1.25, 1 },
                            left[3][2] = { { 0, 0 }, { 1.2, 1.6 }, { 1.5, 2 } };
        struct sparse_entry six[] = { { 0, 0, 6 }, { 0, 1, 2 }, { 1, 1, 4 } };
        m = sparse_make(2, 3, six, 3);
        sparse_ppmi(m, power[turn], shift[turn]);
        size_t n = turn ? 2 : 0;
        assert_memory_equal(m->at, ((size_t[]){ 0, n / 2, n }), 3 * sizeof(size_t));
        for (uint32_t i = 0; i < n; i++) {
            assert_int_equal(m->col[i], i);
            assert_true(fabs(m->v[i] - log(left[turn][i])) < 1e-6);
        }
        sparse_free(m);
    }
}

/* (0 0; -3 -4; 6 8): rank 1, with u = (0, -1, 2) / sqrt 5, whose largest entry is positive, and
 * s = sqrt(5) * 5. Negated, u is (0, 1, -2) / sqrt 5 before its sign is chosen: the same. Fewer
 * columns than 2 d + 10 probes: as many as there are. */
static void a_small_svd_by_hand(void **state)
{
    (void)state;
    for (int sign = -1; sign < 2; sign += 2) {
        float f = (float)sign, U[6], s[2];
        struct sparse_entry e[] = { { 1, 0, -3 * f }, { 1, 1, -4 * f }, { 2, 0, 6 * f },
                                    { 2, 1, 8 * f } };
        struct sparse *m = sparse_make(3, 2, e, 4), *t = sparse_transpose(m);
        assert_int_equal(sparse_svd(m, 2, 2, 1, U, s), 0);
        assert_true(fabs(s[0] - 5 * sqrt(5)) < 1e-4 && fabsf(s[1]) < 1e-2f);
        assert_true(fabsf(U[0]) < 1e-6f);
        assert_true(fabs(U[2] + 1 / sqrt(5)) < 1e-5 && fabs(U[4] - 2 / sqrt(5)) < 1e-5);
        /* of the transposed: (3, 4) / 5 */
        assert_int_equal(sparse_svd(t, 1, 2, 1, U, s), 0);
        assert_true(fabs(s[0] - 5 * sqrt(5)) < 1e-4);
        assert_true(fabs(U[0] - 0.6) < 1e-5 && fabs(U[1] - 0.8) < 1e-5);
        static const int bad[] = { 0, 3, -1 };
        for (int i = 0; i < 3; i++) {
            char want[80];
            snprintf(want, sizeof want, "%d dimensions of a 3 x 2 matrix: at most 2", bad[i]);
            assert_int_equal(sparse_svd(m, bad[i], 2, 1, U, s), -1);
            assert_non_null(strstr(err_msg(), want));
        }
        sparse_free(m);
        sparse_free(t);
    }
}

static void the_randomised_svd_is_lapacks(void **state)
{
    (void)state;
    enum { N = 120, M = 80, D = 6 };
    struct sparse *m = random_sparse(N, M, 10, 77);
    float *A = dense(m), U[N * D], s[D];
    double *a = mem_alloc(N * M * sizeof *a), *u = mem_alloc(N * M * sizeof *u),
           *v = mem_alloc(M * sizeof *v);
    for (size_t i = 0; i < N * M; i++) a[i] = A[i];
    assert_int_equal(linalg_svd(a, N, M, u, v, NULL), 0);
    assert_int_equal(sparse_svd(m, D, 20, 3, U, s), 0);
    for (size_t j = 0; j < D; j++) {
        double dot = 0;
        for (size_t i = 0; i < N; i++) dot += u[i * M + j] * U[i * D + j];
        assert_true(fabs(s[j] / v[j] - 1) < 1e-3);
        assert_true(fabs(dot) > 0.99);
    }
    float again[N * D];
    par_threads_set(3);
    assert_int_equal(sparse_svd(m, D, 20, 3, again, s), 0);
    par_threads_set(1);
    assert_memory_equal(U, again, sizeof U);
    assert_int_equal(sparse_svd(m, M + 1, 2, 3, U, s), -1);
    sparse_free(m);
    free(A); free(a); free(u); free(v);
}

/* Over three panels of columns; 40 is a sum of two of the first panel, 69 of others, 5 is 3. */
static void columns_become_orthonormal_and_dependent_ones_zero(void **state)
{
    (void)state;
    enum { N = 300, K = 70 };
    float *A = normal(N * K, 41), *was = mem_alloc(N * K * sizeof *was);
    /* sixteenths: their sums are exact as floats */
    for (size_t i = 0; i < N * K; i++) A[i] = roundf(16 * A[i]) / 16;
    for (size_t i = 0; i < N; i++) {
        A[i * K + 5] = A[i * K + 3];
        A[i * K + 40] = 2 * A[i * K + 1] - A[i * K + 8];
        A[i * K + 69] = A[i * K + 33] + A[i * K + 7] + A[i * K + 68];
    }
    memcpy(was, A, N * K * sizeof *was);
    linalg_orthogonalize(A, N, K);
    double *G = mem_alloc(K * K * sizeof *G);
    linalg_gram(A, N, K, G);
    for (int a = 0; a < K; a++)
        for (int b = 0; b < K; b++) {
            bool none = a == 5 || a == 40 || a == 69;
            assert_true(fabs(G[a * K + b] - (a == b && !none)) < 1e-6);
            double sum = 0;
            for (size_t i = 0; i < N; i++)
                sum += (double)A[i * K + (size_t)a] * A[i * K + (size_t)b];
            assert_true(fabs(G[a * K + b] - sum) < 1e-12);
        }
    /* what each column was lies within the first ones' span: Gram-Schmidt's R is triangular */
    for (int j = 0; j < K; j++) {
        double left = 0, all = 0;
        for (size_t i = 0; i < N; i++)
            all += (double)was[i * K + (size_t)j] * (double)was[i * K + (size_t)j];
        for (int q = 0; q <= j; q++) {
            double dot = 0;
            for (size_t i = 0; i < N; i++)
                dot += (double)A[i * K + (size_t)q] * was[i * K + (size_t)j];
            left += dot * dot;
        }
        assert_true(fabs(left / all - 1) < 1e-5);
    }
    free(A);
    free(was);
    free(G);
}

/* Sums of rows in two tiles and a rest, and a Gram matrix of more rows than one piece has. */
static void sums_over_rows_are_those_of_arithmetic(void **state)
{
    (void)state;
    enum { N = 5000, K = 150, USED = 4 };
    const uint32_t row[USED] = { 4999, 0, 17, 17 };
    const float by[USED] = { 2, -1, 0.5f, 3 };
    float *X = normal(N * K, 51), y[K];
    simd_choose()->sum_rows(y, X, K, row, by, USED);
    for (size_t j = 0; j < K; j++) {
        double sum = 0;
        for (size_t i = 0; i < USED; i++) sum += (double)by[i] * X[row[i] * K + j];
        assert_true(fabs(y[j] - sum) < 1e-5);
    }
    double G[9];
    linalg_gram(X, N, 3, G);
    for (size_t a = 0; a < 3; a++)
        for (size_t b = 0; b < 3; b++) {
            double sum = 0;
            for (size_t i = 0; i < N; i++) sum += (double)X[i * 3 + a] * X[i * 3 + b];
            assert_true(fabs(G[a * 3 + b] - sum) < 1e-9);
        }
    free(X);
}

/* Z is X rotated, rows in the same order, a little noise. */
static void rotated(size_t n, size_t d, float noise, float **X, float **Z)
{
    *X = normal(n * d, 31);
    *Z = mem_alloc(n * d * sizeof **Z);
    float *R = normal(d * d, 32), *e = normal(n * d, 33);
    linalg_orthogonalize(R, d, (int)d);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++) {
            double s = 0;
            for (size_t k = 0; k < d; k++) s += (double)(*X)[i * d + k] * R[k * d + j];
            (*Z)[i * d + j] = (float)s + noise * e[i * d + j];
        }
    free(R);
    free(e);
}

static void procrustes_finds_a_rotation(void **state)
{
    (void)state;
    enum { N = 50, D = 9 };
    float *X, *Z;
    struct word_pairs p = { 0 };
    rotated(N, D, 0, &X, &Z);
    for (uint32_t i = 0; i < 20; i++) word_pairs_add(&p, i, i);
    assert_int_equal(map_procrustes(X, N, Z, D, &p), 0);
    for (size_t i = 0; i < N * D; i++) assert_true(fabsf(X[i] - Z[i]) < 1e-4);
    p.n = 0;
    assert_int_equal(map_procrustes(X, N, Z, D, &p), -1);
    word_pairs_free(&p);
    free(X);
    free(Z);
}

static void self_learning_finds_a_rotation_from_few_and_partly_wrong_seeds(void **state)
{
    (void)state;
    enum { N = 400, D = 20 };
    float *X, *Z;
    struct word_pairs p = { 0 };
    struct map_options o = map_defaults;
    double objective;
    rotated(N, D, 0.1f, &X, &Z);
    unit(X, N, D);
    unit(Z, N, D);
    for (uint32_t i = 0; i < 30; i++) word_pairs_add(&p, i, i % 3 ? i : (i + 17) % N);
    o.seed = 5;
    assert_int_equal(map_self_learn(X, N, Z, N, D, &o, &p, &objective), 0);
    size_t right = 0;
    for (size_t i = 0; i < p.n; i++) right += p.src[i] == p.tgt[i];
    assert_int_equal(p.n, 2 * N);
    assert_true(right > p.n * 95 / 100);
    assert_true(objective > 0.9);
    assert_int_equal(map_advanced(X, N, Z, N, D, &p, 0.5), 0);
    double mean;
    assert_int_equal(map_mean_cosine(X, N, Z, N, D, 0, 10, &mean), 0);
    assert_true(mean > 0.9);
    word_pairs_free(&p);
    free(X);
    free(Z);
}

static void re_estimation_finds_a_renumbered_copy_from_half_of_its_words(void **state)
{
    (void)state;
    enum { N = 120 };
    struct sparse *m = random_sparse(N, N, 15, 4);
    struct sparse_entry *e = mem_alloc(m->at[N] * sizeof *e);
    size_t n = 0;
    for (uint32_t r = 0; r < N; r++) /* word w of one side is word N - 1 - w of the other */
        for (size_t i = m->at[r]; i < m->at[r + 1]; i++)
            e[n++] = (struct sparse_entry){ N - 1 - r, N - 1 - m->col[i], m->v[i] };
    struct sparse *other = sparse_make(N, N, e, n);
    /* cosines of 1 for half of the words, 0 else */
    struct vectors *src = vectors_new(N), *tgt = vectors_new(N);
    for (uint32_t i = 0; i < N; i++) {
        float x[N] = { 0 }, z[N] = { 0 };
        x[i] = i % 2 == 0;
        z[N - 1 - i] = 1;
        vectors_add(src, "w", 1, x);
        vectors_add(tgt, "w", 1, z);
    }
    struct refine f = { &m, &other, 1, 1, 0.05, 0.75 };
    /* one block; blocks of 50 rows */
    for (uint32_t rows = 0; rows <= 50; rows += 50) {
        struct scores_options how = { CSLS_CSLS, 10, 0, 0, rows };
        struct scores *s = scores_new(src, tgt, &how);
        struct csls_side x, z;
        scores_by_vectors(s);
        for (int i = 0; i < 4; i++) refine_round(&f, s);
        scores_top(s, 1, &x, &z);
        uint32_t right = 0;
        for (uint32_t i = 0; i < N; i++)
            right += x.index[i] == N - 1 - i && z.index[i] == N - 1 - i;
        assert_int_equal(right, N);
        assert_true(scores_best(s) > 0.99);
        csls_free(&x);
        csls_free(&z);
        scores_free(s);
    }
    vectors_free(src);
    vectors_free(tgt);
    sparse_free(m);
    sparse_free(other);
    free(e);
}

/* What the blocks of lib/bilingual/scores.c leave, beside each pair in turn in double. */
static void scores_in_blocks_are_those_of_all_pairs(void **state)
{
    (void)state;
    enum { N = 130, M = 90, D = 6, K = 5, TOP = 4 };
    static const char *const word[] = { "haus", "house", "maus", "mouse", "x", "haus" };
    struct vectors *v[2] = { vectors_new(D), vectors_new(D) };
    for (int side = 0; side < 2; side++) {
        uint32_t n = side ? M : N;
        float *X = normal((size_t)n * D, 40 + (uint64_t)side);
        unit(X, n, D);
        for (uint32_t i = 0; i < n; i++) {
            const char *w = word[i % 6];
            vectors_add(v[side], w, strlen(w), X + (size_t)i * D);
        }
        v[side]->count = mem_alloc(n * sizeof *v[side]->count);
        for (uint32_t i = 0; i < n; i++) v[side]->count[i] = (i * 7919) % 100;
        free(X);
    }
    struct scores_options how = { CSLS_CSLS, K, 0.3f, 0.05f, 0 };
    struct scores *whole = scores_new(v[0], v[1], &how);
    scores_by_vectors(whole);
    /* by arithmetic: cosines, their means, CSLS; of what stands beside them, frequencies */
    double *cosine = mem_alloc(N * M * sizeof *cosine), total[2] = { 0 };
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < v[side]->n; i++) total[side] += (double)v[side]->count[i];
    float *E = mem_alloc(N * M * sizeof *E), *S = mem_alloc(N * M * sizeof *S);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < M; j++) {
            cosine[i * M + j] = 0;
            for (size_t k = 0; k < D; k++)
                cosine[i * M + j] += (double)v[0]->x[i * D + k] * v[1]->x[j * D + k];
            S[i * M + j] = (float)cosine[i * M + j];
        }
    csls_matrix(S, N, M, K);
    struct scores_options without = how;
    without.frequency = 0;
    struct scores *spelt = scores_new(v[0], v[1], &without);
    scores_extra(spelt, N, M, E);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < M; j++) {
            double a = (double)v[0]->count[i], b = (double)v[1]->count[j];
            double apart = 0;
            if (a > 0 && b > 0) apart = fmin(3, fabs(log(a / total[0]) - log(b / total[1])));
            /* the same letters: a cosine of 1 */
            if (i % 6 == j % 6) assert_true(fabsf(E[i * M + j] - 0.3f) < 1e-5f);
            assert_true(E[i * M + j] < 0.3001f && E[i * M + j] >= 0);
            E[i * M + j] = S[i * M + j] + E[i * M + j] - (float)(0.05 * apart);
            assert_true(fabsf(scores_row(whole, (uint32_t)i)[j] - E[i * M + j]) < 1e-5f);
        }
    struct csls_side x, z, bx, bz;
    scores_top(whole, TOP, &x, &z);
    for (uint32_t rows = 1; rows < N; rows += 32) {
        how.rows = rows;
        struct scores *s = scores_new(v[0], v[1], &how);
        scores_by_vectors(s);
        for (uint32_t i = 0; i < N; i += 17)
            for (size_t j = 0; j < M; j++)
                assert_true(fabsf(scores_row(s, i)[j] - E[i * M + j]) < 1e-5f);
        scores_top(s, TOP, &bx, &bz);
        for (size_t i = 0; i < N * TOP; i++) assert_true(fabsf(x.score[i] - bx.score[i]) < 1e-5f);
        for (size_t i = 0; i < M * TOP; i++) assert_true(fabsf(z.score[i] - bz.score[i]) < 1e-5f);
        for (size_t i = 0; i < M; i++)
            assert_true(fabsf(E[(size_t)bz.index[i * TOP] * M + i] - bz.score[i * TOP]) < 1e-5f);
        csls_free(&bx);
        csls_free(&bz);
        scores_free(s);
    }
    csls_free(&x);
    csls_free(&z);
    scores_free(whole);
    scores_free(spelt);
    vectors_free(v[0]);
    vectors_free(v[1]);
    free(cosine);
    free(E);
    free(S);
}

static void text_numbers_are_strtods(void **state)
{
    (void)state;
    static const char *const number[] = { "0",
                                          "-0.0",
                                          "1",
                                          "+1.5",
                                          "-2.25e-3",
                                          "1e10",
                                          ".5",
                                          "5.",
                                          "123456789012345678901234567890",
                                          "0.1",
                                          "0.30000001192092896",
                                          "1.17549435e-38",
                                          "3.4028234e38",
                                          "1e-45",
                                          "0x1p-3",
                                          "9007199254740993",
                                          "1234567.8901234567",
                                          "1e22",
                                          "1e-22",
                                          "7e23" };
    FILE *f = fopen("numbers.vec", "w");
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        fprintf(f, "w%zu %s 1\n", i, number[i]);
    for (int i = 0; i < 2000; i++)
        fprintf(f, "r%d %.*g %.*e\n", i, 1 + i % 12, (double)rng_normal(key, (uint64_t)i, 8),
                i % 10, (double)rng_normal(key, (uint64_t)i, 9) * pow(10, i % 60 - 30));
    fclose(f);
    struct vectors *v = vectors_read("numbers.vec", NULL);
    if (!v) fail_msg("%s", err_msg());
    for (uint32_t i = 0; i < sizeof number / sizeof *number; i++)
        assert_true(vectors_row(v, i)[0] == (float)strtod(number[i], NULL));
    for (uint32_t i = sizeof number / sizeof *number; i < v->n; i++) {
        int k = atoi(vectors_word(v, i) + 1);
        char a[64], b[64];
        snprintf(a, sizeof a, "%.*g", 1 + k % 12, (double)rng_normal(key, (uint64_t)k, 8));
        snprintf(b, sizeof b, "%.*e", k % 10,
                 (double)rng_normal(key, (uint64_t)k, 9) * pow(10, k % 60 - 30));
        assert_true(vectors_row(v, i)[0] == (float)strtod(a, NULL));
        assert_true(vectors_row(v, i)[1] == (float)strtod(b, NULL));
    }
    vectors_free(v);
    static const char *const bad[] = { "1x", "nan", "inf", "1e999", "--1", "1e", "e5", "1,5", "-" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        f = fopen("bad.vec", "w");
        fprintf(f, "a 1 1\nb %s 1\n", bad[i]);
        fclose(f);
        assert_null(vectors_read("bad.vec", NULL));
        if (!strstr(err_msg(), "bad.vec:2: ")) fail_msg("%s", err_msg());
    }
}

static void words_may_hold_spaces_where_the_first_line_tells_the_dimension(void **state)
{
    (void)state;
    FILE *f = fopen("spaces.vec", "w");
    fputs("2 2\nnew york 1 2 \nb 3 4\n", f);
    fclose(f);
    struct vectors *v = vectors_read("spaces.vec", NULL);
    assert_non_null(v);
    assert_int_equal(vectors_find(v, "new york", 8), 0);
    assert_true(vectors_row(v, 1)[1] == 4);
    vectors_free(v);
}

/* Words that the vocabulary lacks have none. */
static void words_have_the_counts_of_their_vocabulary(void **state)
{
    (void)state;
    FILE *f = fopen("counts.vocab", "w");
    fputs("first 9\nsecond 4\nlast 3\n", f);
    fclose(f);
    struct vocab *vocab = vocab_read("counts.vocab");
    assert_non_null(vocab);
    static const char *const word[] = { "last", "unheard", "first", "second" };
    static const uint64_t want[] = { 3, 0, 9, 4 };
    struct vectors *v = vectors_new(1);
    for (int i = 0; i < 4; i++) vectors_add(v, word[i], strlen(word[i]), (const float[]){ 1 });
    vectors_counts(v, vocab);
    assert_memory_equal(v->count, want, sizeof want);
    vectors_free(v);
    vocab_free(vocab);
}

int main(void)
{
    if (scratch_enter() < 0) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tiled_search_finds_what_the_whole_matrix_shows),
        cmocka_unit_test(a_heap_keeps_the_best_and_the_lower_of_equals),
        cmocka_unit_test(every_search_is_brute_force_to_the_byte),
        cmocka_unit_test(int8_is_left_where_its_bounds_tell_nothing),
        cmocka_unit_test(no_inner_product_is_above_the_bound_of_its_int8_copies),
        cmocka_unit_test(inner_products_in_double_are_the_same_bits_everywhere),
        cmocka_unit_test(sparse_products_are_those_of_full_matrices),
        cmocka_unit_test(a_sparse_product_by_hand),
        cmocka_unit_test(a_small_svd_by_hand),
        cmocka_unit_test(entries_of_one_place_are_one),
        cmocka_unit_test(ppmi_is_levy_goldberg_and_dagans),
        cmocka_unit_test(the_randomised_svd_is_lapacks),
        cmocka_unit_test(sums_over_rows_are_those_of_arithmetic),
        cmocka_unit_test(columns_become_orthonormal_and_dependent_ones_zero),
        cmocka_unit_test(procrustes_finds_a_rotation),
        cmocka_unit_test(self_learning_finds_a_rotation_from_few_and_partly_wrong_seeds),
        cmocka_unit_test(re_estimation_finds_a_renumbered_copy_from_half_of_its_words),
        cmocka_unit_test(scores_in_blocks_are_those_of_all_pairs),
        cmocka_unit_test(text_numbers_are_strtods),
        cmocka_unit_test(words_may_hold_spaces_where_the_first_line_tells_the_dimension),
        cmocka_unit_test(words_have_the_counts_of_their_vocabulary),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_leave();
    return failed;
}
