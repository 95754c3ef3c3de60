/* Weights that change over a run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "lib/engine/mix.h"

static void a_number_is_constant(void **state)
{
    (void)state;
    struct ramp r;
    assert_int_equal(ramp_parse(&r, "0.25"), 0);
    assert_true(ramp_value(&r, 0) == 0.25 && ramp_value(&r, 1000000) == 0.25);
}

static void between_its_points_it_is_linear_and_outside_it_stays(void **state)
{
    (void)state;
    struct ramp r;
    assert_int_equal(ramp_parse(&r, "0:1,100000:0.1,300000:0"), 0);     /* XLM's lambda_ae */
    assert_true(ramp_value(&r, 0) == 1);
    assert_float_equal(ramp_value(&r, 50000), 0.55, 1e-12);
    assert_float_equal(ramp_value(&r, 100000), 0.1, 1e-12);
    assert_float_equal(ramp_value(&r, 200000), 0.05, 1e-12);
    assert_true(ramp_value(&r, 300000) == 0 && ramp_value(&r, 400000) == 0);
    assert_int_equal(ramp_parse(&r, "10:2,20:4"), 0);
    assert_true(ramp_value(&r, 0) == 2 && ramp_value(&r, 15) == 3);
}

static void what_is_no_ramp_is_refused(void **state)
{
    (void)state;
    struct ramp r;
    static const char *const bad[] = {
        "",
        "x",
        "1,2",
        "0:1,",
        "0:1,0:2",
        "5:1,4:2",
        "0:-1",
        "-1:1",
        "0:1;2:3",
        "1.5:2,3:4",
        "nan",
        "inf",
        "0:1,1:1,2:1,3:1,4:1,5:1,6:1,7:1,8:1,9:1,10:1,11:1,12:1,13:1,14:1,15:1,16:1"
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(ramp_parse(&r, bad[i]), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_is_constant),
        cmocka_unit_test(between_its_points_it_is_linear_and_outside_it_stays),
        cmocka_unit_test(what_is_no_ramp_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
