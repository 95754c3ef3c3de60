/* Batches that are made ahead: in order, with the state of the data as it was after each; ends,
 * failures and early stops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>
#include <unistd.h>
#include "common/err.h"
#include "lib/engine/prefetch.h"

struct maker { int64_t drawn; int64_t fail_at, end; };

static int make(void *ctx, void *item)
{
    struct maker *m = ctx;
    if (m->drawn == m->end) return 0;
    if (m->drawn == m->fail_at) return err_set("corpus.shd: no more of %d", (int)m->drawn);
    *(int64_t *)item = m->drawn++ * 3;
    return 1;
}

static struct prefetch *start(struct maker *m, struct state *state, int64_t items[PREFETCH_ITEMS])
{
    struct prefetch_source s = { .make = make, .ctx = m };
    for (int i = 0; i < PREFETCH_ITEMS; i++) s.item[i] = &items[i];
    *state = (struct state){ 0 };
    state_data(state, &m->drawn, 0, "drawn");
    struct prefetch *a = prefetch_start(&s, state);
    assert_non_null(a);
    return a;
}

static void items_come_in_order_with_the_state_that_belongs_to_them(void **state)
{
    (void)state;
    struct maker m = { .fail_at = -1, .end = 1000 };
    struct state st;
    int64_t items[PREFETCH_ITEMS], *got;
    bool failed;
    struct prefetch *a = start(&m, &st, items);
    for (int64_t i = 0; i < 1000; i++) {
        assert_int_equal(*st.ints[0].value, i);
        assert_non_null(got = prefetch_next(a, &failed));
        assert_int_equal(*got, 3 * i);
        assert_int_equal(*st.ints[0].value, i + 1);
        if (i % 100 == 0) usleep(1000); /* the thread runs on, the state does not */
    }
    assert_null(prefetch_next(a, &failed));
    assert_false(failed);
    assert_null(prefetch_next(a, &failed));
    prefetch_stop(a);
    assert_ptr_equal(st.ints[0].value, &m.drawn);
    state_free(&st);
}

static void an_early_stop_leaves_the_state_of_what_was_taken(void **state)
{
    (void)state;
    for (int taken = 0; taken < 20; taken++) {
        struct maker m = { .fail_at = -1, .end = INT64_MAX };
        struct state st;
        int64_t items[PREFETCH_ITEMS];
        bool failed;
        struct prefetch *a = start(&m, &st, items);
        for (int i = 0; i < taken; i++) assert_non_null(prefetch_next(a, &failed));
        prefetch_stop(a);
        assert_int_equal(m.drawn, taken);
        state_free(&st);
    }
    prefetch_stop(NULL);
}

static void a_failure_comes_after_what_was_made_before_it_with_its_message(void **state)
{
    (void)state;
    struct maker m = { .fail_at = 7, .end = 100 };
    struct state st;
    int64_t items[PREFETCH_ITEMS];
    bool failed;
    struct prefetch *a = start(&m, &st, items);
    for (int i = 0; i < 7; i++) assert_non_null(prefetch_next(a, &failed));
    assert_null(prefetch_next(a, &failed));
    assert_true(failed);
    assert_string_equal(err_msg(), "corpus.shd: no more of 7");
    prefetch_stop(a);
    state_free(&st);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_come_in_order_with_the_state_that_belongs_to_them),
        cmocka_unit_test(an_early_stop_leaves_the_state_of_what_was_taken),
        cmocka_unit_test(a_failure_comes_after_what_was_made_before_it_with_its_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
