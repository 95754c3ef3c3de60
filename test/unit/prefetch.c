/* Batches that are made ahead: in order, with the state of the data as it was after each; ends,
 * failures and early stops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
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

/* Numbers that are not the data's move while the thread is at work, and stay as they are. */
static void what_the_trainer_counts_is_left_alone(void **state)
{
    (void)state;
    struct maker m = { .fail_at = -1, .end = INT64_MAX };
    struct prefetch_source s = { .make = make, .ctx = &m };
    struct state st = { 0 };
    int64_t items[PREFETCH_ITEMS], steps = 40, *moves = &m.drawn, other = 7;
    bool failed;
    for (int i = 0; i < PREFETCH_ITEMS; i++) s.item[i] = &items[i];
    state_int(&st, &steps, 0, "steps");
    state_data(&st, moves, 0, "drawn");
    state_int(&st, &steps, 0, "steps again");
    state_data(&st, &other, 0, "other");
    struct prefetch *a = prefetch_start(&s, &st);
    assert_non_null(a);
    assert_true(st.ints[0].value == &steps && st.ints[2].value == &steps);
    for (int i = 0; i < 5; i++) assert_non_null(prefetch_next(a, &failed));
    steps++;
    assert_int_equal(*st.ints[0].value, 41);
    assert_int_equal(*st.ints[1].value, 5);
    assert_int_equal(*st.ints[3].value, 7);
    prefetch_stop(a);
    assert_true(st.ints[1].value == moves && st.ints[3].value == &other);
    assert_true(m.drawn == 5 && other == 7 && steps == 41);
    state_free(&st);
}

/* Where no thread can be had, that is an error, and the state as it was. */
static void without_a_thread_there_is_a_message(void **state)
{
    (void)state;
    int status;
    /* their threads need more addresses than can be counted */
    if (getenv("ISOGLOT_TEST_SANITIZED")) skip();
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct maker m = { .drawn = 9, .fail_at = -1, .end = 100 };
        struct prefetch_source s = { .make = make, .ctx = &m };
        struct state st = { 0 };
        int64_t items[PREFETCH_ITEMS];
        for (int i = 0; i < PREFETCH_ITEMS; i++) s.item[i] = &items[i];
        state_data(&st, &m.drawn, 0, "drawn");
        /* no room for a stack */
        if (setrlimit(RLIMIT_AS, &(struct rlimit){ 1 << 20, 1 << 20 }) != 0) _exit(2);
        if (prefetch_start(&s, &st)) _exit(3);
        _exit(strcmp(err_msg(), "no thread for the data could be started")
              || st.ints[0].value != &m.drawn || m.drawn != 9);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        /* first: the stack of a thread that has ended would be there for another one */
        cmocka_unit_test(without_a_thread_there_is_a_message),
        cmocka_unit_test(items_come_in_order_with_the_state_that_belongs_to_them),
        cmocka_unit_test(an_early_stop_leaves_the_state_of_what_was_taken),
        cmocka_unit_test(a_failure_comes_after_what_was_made_before_it_with_its_message),
        cmocka_unit_test(what_the_trainer_counts_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
