/* A model's parameters in one array: where each tensor lies, what it is drawn from, which gradients
 * are there, and its file, read and written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/json/safetensors.h"
#include "common/mem.h"
#include "lib/graph/params.h"
#include "test/unit/scratch.h"

/* Floats: a matrix of several threads' draws and of a gradient that may be missing; small ones. */
enum { ROWS = 300, COLS = 250, LARGE = ROWS * COLS };

/* w [300, 250] at 0, b [1, 5] at 75008, s [3, 30] at 75072, and an objective's own x [2, 2]. */
static struct params some(const struct kernels *k)
{
    struct params ps;
    params_init(&ps, k);
    assert_int_equal(params_add(&ps, "w", ROWS, COLS, true), 0);
    assert_int_equal(params_add(&ps, "b", 1, 5, false), 1);
    assert_int_equal(params_add(&ps, "s", 3, 30, true), 2);
    assert_int_equal(params_add_extra(&ps, "x", 2, 2, true), 3);
    return ps;
}

static void tensors_begin_at_multiples_of_64(void **state)
{
    (void)state;
    static const size_t at[] = { 0, 75008, 75072, 75200 }, n[] = { LARGE, 5, 90, 4 },
                        room[] = { 75008, 64, 128, 64 };
    static const bool decay[] = { true, false, true, true };
    struct params ps = some(kernels_cpu());
    assert_int_equal(ps.total, 75264);
    assert_int_equal(ps.moments, 75264);
    assert_int_equal(params_own(&ps), 3);
    assert_int_equal(params_alloc(&ps, true), 0);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(ps.p[i].at, at[i]);
        assert_int_equal(ps.p[i].n, n[i]);
        assert_int_equal(ps.p[i].extra, i == 3);
        /* the zeros behind a tensor are its part's */
        assert_int_equal(ps.part[i].at, at[i]);
        assert_int_equal(ps.part[i].n, room[i]);
        assert_int_equal(ps.part[i].decay, decay[i]);
        assert_ptr_equal(param_value(&ps, i), ps.value + at[i]);
        assert_ptr_equal(param_grad(&ps, i), ps.grad + at[i]);
    }
    const float *array[] = { ps.value, ps.grad, ps.m, ps.v };
    for (int a = 0; a < 4; a++)
        for (size_t i = 0; i < ps.total; i++) assert_true(array[a][i] == 0);
    assert_null(param_value(&ps, -1));
    assert_null(param_grad(&ps, -1));
    params_free(&ps);
    /* without gradients there is nothing else; more tensors than the first room has */
    ps = some(kernels_cpu());
    for (int i = 4; i < 100; i++) {
        char name[8];
        snprintf(name, sizeof name, "t%d", i);
        assert_int_equal(params_add(&ps, name, 1, 64, true), i);
    }
    assert_int_equal(ps.total, 75264 + 96 * 64);
    assert_string_equal(ps.p[2].name, "s");
    assert_int_equal(params_alloc(&ps, false), 0);
    assert_true(!ps.grad && !ps.m && !ps.v && !param_grad(&ps, 0));
    params_free(&ps);
}

static void numbers_are_drawn_by_the_tensors_name(void **state)
{
    (void)state;
    float *a = mem_alloc(LARGE * sizeof *a), *b = mem_alloc(LARGE * sizeof *b);
    double sum = 0, square = 0, third = 0;
    struct params ps = some(kernels_cpu()), other;
    params_init(&other, kernels_cpu());
    params_add(&other, "first", 7, 7, true);
    params_add(&other, "w", 10, COLS, true);             /* another place and size */
    assert_true(params_alloc(&ps, false) == 0 && params_alloc(&other, false) == 0);
    param_normal(&ps, 0, 3, 0.5f);
    param_normal(&other, 1, 3, 0.5f);
    param_get(&ps, ps.value, 0, a);
    param_get(&other, other.value, 1, b);
    assert_memory_equal(a, b, 10 * COLS * sizeof *a);
    for (int i = 0; i < LARGE; i++) {
        double x = (double)a[i] / 0.5;
        sum += x, square += x * x, third += fabs(x) < 1;
    }
    assert_true(fabs(sum / LARGE) < 4 / sqrt(LARGE));
    assert_true(fabs(square / LARGE - 1) < 4 * sqrt(2.0 / LARGE));
    assert_true(fabs(third / LARGE - 0.682689) < 4 * sqrt(0.217 / LARGE));
    param_normal(&ps, 0, 4, 0.5f);
    param_get(&ps, ps.value, 0, b);
    int same = 0;
    for (int i = 0; i < LARGE; i++) same += a[i] == b[i];
    assert_true(same < 10);
    param_normal(&other, 0, 3, 0.5f);                    /* of another name */
    param_get(&other, other.value, 0, b);
    for (int i = 0; i < 49; i++) assert_true(a[i] != b[i]);
    /* nothing beside it */
    for (size_t i = LARGE; i < ps.total; i++) assert_true(ps.value[i] == 0);
    param_uniform(&ps, 0, 3, 0.25f);
    param_get(&ps, ps.value, 0, a);
    sum = square = 0;
    for (int i = 0; i < LARGE; i++) {
        assert_true(fabsf(a[i]) <= 0.25f);
        sum += (double)a[i], square += (double)a[i] * (double)a[i];
    }
    assert_true(fabs(sum / LARGE) < 4 * 0.25 / sqrt(3.0 * LARGE));
    assert_true(fabs(square / LARGE - 0.0625 / 3) < 4 * 0.0625 * sqrt(4.0 / 45 / LARGE));
    param_fill(&ps, 1, 1.5f);
    for (size_t i = LARGE; i < ps.total; i++)
        assert_true(ps.value[i] == (i >= ps.p[1].at && i < ps.p[1].at + 5 ? 1.5f : 0));
    params_free(&ps);
    params_free(&other);
    free(a);
    free(b);
}

static void ones(struct params *ps)
{
    for (size_t i = 0; i < ps->total; i++) ps->grad[i] = 1;
}
static void is_grad(const struct params *ps, size_t from, size_t to, float expected)
{
    for (size_t i = from; i < to; i++)
        if (ps->grad[i] != expected) fail_msg("gradient %zu is %g", i, (double)ps->grad[i]);
}

static void gradients_of_large_matrices_may_be_missing(void **state)
{
    (void)state;
    struct kernels first = *kernels_cpu();
    first.writes_first = true;
    bool was;
    for (int later = 0; later < 2; later++)
        for (int writes = 0; writes < 2; writes++) {
            struct params ps = some(writes ? &first : kernels_cpu());
            assert_int_equal(params_alloc(&ps, true), 0);
            ones(&ps);
            params_grad_clear(&ps, later);
            bool missing = later && writes;
            is_grad(&ps, 0, LARGE, missing);
            is_grad(&ps, LARGE, ps.total, 0);
            /* the first one that adds to it is told, the second finds numbers */
            assert_ptr_equal(param_grad_of(&ps, 0, &was), ps.grad);
            assert_int_equal(was, missing);
            is_grad(&ps, 0, LARGE, missing);
            assert_ptr_equal(param_grad_of(&ps, 0, &was), ps.grad);
            assert_false(was);
            assert_ptr_equal(param_grad_of(&ps, 1, &was), ps.grad + 75008);
            assert_false(was);
            assert_null(param_grad_of(&ps, -1, &was));
            params_free(&ps);
        }
    /* who can only add gets zeros, and so does who reads all of them */
    for (int settle = 0; settle < 2; settle++) {
        struct params ps = some(&first);
        assert_int_equal(params_alloc(&ps, true), 0);
        ones(&ps);
        params_grad_clear(&ps, true);
        if (settle) params_grad_settle(&ps);
        else (void)param_grad_of(&ps, 0, NULL);
        is_grad(&ps, 0, ps.total, 0);
        param_grad_of(&ps, 0, &was);
        assert_false(was);
        /* frozen: nobody will write it */
        ones(&ps);
        ps.p[0].fixed = true;
        params_grad_clear(&ps, true);
        is_grad(&ps, 0, ps.total, 0);
        params_free(&ps);
    }
    /* 2^16 numbers are large, one less is not */
    struct params ps;
    params_init(&ps, &first);
    params_add(&ps, "a", 1, (1 << 16) - 1, true);
    params_add(&ps, "b", 1, 1 << 16, true);
    assert_int_equal(params_alloc(&ps, true), 0);
    ones(&ps);
    params_grad_clear(&ps, true);
    is_grad(&ps, 0, 1 << 16, 0);
    is_grad(&ps, 1 << 16, 1 << 17, 1);
    params_free(&ps);
}

/* --- files ------------------------------------------------------------------------------------ */

static void fill(struct params *ps)
{
    for (int i = 0; i < ps->n; i++)
        for (size_t j = 0; j < ps->p[i].n; j++)
            ps->value[ps->p[i].at + j] = (float)(i * 100000) + (float)j;
}

static void is_filled(const struct params *ps, int i, int as)
{
    float *x = mem_alloc(ps->p[i].n * sizeof *x);
    param_get(ps, ps->value, i, x);
    for (size_t j = 0; j < ps->p[i].n; j++)
        if (x[j] != (float)(as * 100000) + (float)j)
            fail_msg("%s: number %zu is %g", ps->p[i].name, j, (double)x[j]);
    free(x);
}

/* Parameters of the same tensors in another order. */
static struct params turned(void)
{
    struct params ps;
    params_init(&ps, kernels_cpu());
    params_add(&ps, "s", 3, 30, true);
    params_add(&ps, "w", ROWS, COLS, true);
    params_add(&ps, "b", 1, 5, false);
    return ps;
}

static void write_some(void)
{
    static const char *const key[] = { "k" }, *const value[] = { "v" };
    struct params ps = some(kernels_cpu());
    assert_int_equal(params_alloc(&ps, false), 0);
    fill(&ps);
    assert_int_equal(params_write(&ps, ps.value, "f", key, value, 1), 0);
    params_free(&ps);
}

static void a_file_has_the_models_tensors_by_name(void **state)
{
    (void)state;
    write_some();
    struct st_file *f = st_open("f");
    assert_int_equal(f->n, 3);
    const struct st_tensor *w = st_find(f, "w"), *b = st_find(f, "b");
    assert_true(w->ndim == 2 && w->shape[0] == ROWS && w->shape[1] == COLS && w->dtype == ST_F32);
    assert_true(b->ndim == 1 && b->shape[0] == 5);
    st_close(f);
    struct params ps = turned();
    assert_int_equal(params_alloc(&ps, false), 0);
    if (params_load(&ps, ps.value, "f") < 0) fail_msg("%s", err_msg());
    is_filled(&ps, 0, 2);
    is_filled(&ps, 1, 0);
    is_filled(&ps, 2, 1);
    for (size_t i = ps.p[0].at + 90; i < ps.p[1].at; i++) assert_true(ps.value[i] == 0);
    params_free(&ps);
}

static void a_file_of_another_model_is_refused(void **state)
{
    (void)state;
    static const struct { const char *name; int rows, cols; const char *why; } t[] = {
        { "b", 1, 6, "f: tensor b does not have the shape [6] that the configuration says" },
        { "b", 5, 1, "f: tensor b does not have the shape [5, 1] that the configuration says" },
        { "c", 1, 5, "f: tensor c is missing" },
        { "s", 30, 3, "f: tensor s does not have the shape [30, 3]" },
        { "s", 3, 31, "f: tensor s does not have the shape [3, 31]" },
        { "s", 1, 90, "f: tensor s does not have the shape [90]" },
        { "s", 3, 30, "f: holds 3 tensors where the model has 1" },
    };
    write_some();
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct params ps;
        params_init(&ps, kernels_cpu());
        params_add(&ps, t[i].name, t[i].rows, t[i].cols, true);
        assert_int_equal(params_alloc(&ps, false), 0);
        assert_int_equal(params_load(&ps, ps.value, "f"), -1);
        if (!strstr(err_msg(), t[i].why)) fail_msg("%s: %s", t[i].why, err_msg());
        params_free(&ps);
    }
}

static void a_model_that_is_only_used_is_its_file(void **state)
{
    (void)state;
    write_some();
    struct params ps = turned();
    struct st_file *f = st_open("f");
    assert_int_equal(params_fit(&ps, f), 0);
    assert_int_equal(params_use(&ps, f), 0);
    assert_non_null(ps.mapped);
    assert_int_equal(ps.total, LARGE + 5 + 90);
    assert_ptr_equal(param_value(&ps, 1), st_find(f, "w")->data);
    for (int own = 0; own < 2; own++) {
        is_filled(&ps, 0, 2);
        is_filled(&ps, 1, 0);
        is_filled(&ps, 2, 1);
        assert_int_equal(params_own_memory(&ps), 0);
        assert_null(ps.mapped);
        assert_int_equal(ps.total, 128 + 75008 + 64);
        assert_int_equal(ps.p[1].at, 128);
    }
    ps.value[0] = 7;                                     /* it may be written to */
    params_free(&ps);
    /* numbers of another type are read, and so is a file beside which there is more */
    uint16_t half[5] = { 0x3c00, 0x4000, 0, 0xbc00, 0x3800 };
    struct st_tensor b = { (char *)(uintptr_t)"b", ST_F16, 1, { 5 }, half, sizeof half };
    assert_int_equal(st_write("h", &b, 1, NULL, NULL, 0), 0);
    for (int more = 0; more < 2; more++) {
        params_init(&ps, kernels_cpu());
        params_add(&ps, "b", 1, 5, false);
        if (more) params_add_extra(&ps, "x", 2, 2, true);
        f = st_open("h");
        assert_int_equal(params_use(&ps, f), 0);
        assert_null(ps.mapped);
        static const float expected[] = { 1, 2, 0, -1, 0.5f };
        assert_memory_equal(param_value(&ps, 0), expected, sizeof expected);
        assert_int_equal(ps.total, more ? 128 : 64);
        params_free(&ps);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_begin_at_multiples_of_64),
        cmocka_unit_test(numbers_are_drawn_by_the_tensors_name),
        cmocka_unit_test(gradients_of_large_matrices_may_be_missing),
        cmocka_unit_test(a_file_has_the_models_tensors_by_name),
        cmocka_unit_test(a_file_of_another_model_is_refused),
        cmocka_unit_test(a_model_that_is_only_used_is_its_file),
    };
    if (scratch_enter() < 0) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_leave();
    return failed;
}
