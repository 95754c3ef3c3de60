/* common/thread.h. Run it under ThreadSanitizer too (make SAN=thread). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include "common/err.h"
#include "common/thread.h"

struct marks { atomic_int *count; int threads; atomic_int bad_thread; };

static int mark(void *ctx, size_t i, int thread)
{
    struct marks *m = ctx;
    atomic_fetch_add(&m->count[i], 1);
    if (thread < 0 || thread >= m->threads) atomic_fetch_add(&m->bad_thread, 1);
    return 0;
}

static void every_index_runs_once_for_any_number_of_threads(void **state)
{
    (void)state;
    enum { N = 10007 };
    for (int threads = 1; threads <= 9; threads += 2) {
        par_threads_set(threads);
        assert_int_equal(par_threads(), threads);
        for (int round = 0; round < 20; round++) {
            size_t n = round % 2 ? N : (size_t)round;
            struct marks m = { calloc(N, sizeof(atomic_int)), threads, 0 };
            assert_int_equal(par_for(n, mark, &m), 0);
            int wrong = 0;
            for (size_t i = 0; i < N; i++) wrong += m.count[i] != (i < n);
            assert_int_equal(wrong, 0);
            assert_int_equal(m.bad_thread, 0);
            free(m.count);
        }
    }
}

static int add_plain(void *ctx, size_t i, int thread)
{
    (void)thread;
    ((size_t *)ctx)[i] += i;       /* no atomics: par_for itself must order these */
    return 0;
}

static void what_one_loop_writes_the_next_one_reads(void **state)
{
    (void)state;
    static size_t a[64];
    par_threads_set(4);
    for (int round = 0; round < 5000; round++) {
        assert_int_equal(par_for(64, add_plain, a), 0);
        a[63] -= 63;
    }
    for (size_t i = 0; i < 63; i++) assert_int_equal(a[i], 5000 * i);
    assert_int_equal(a[63], 0);
}

static void workers_that_went_to_sleep_wake_again(void **state)
{
    (void)state;
    par_threads_set(3);
    struct timespec nap = { 0, 3000000 };
    for (int round = 0; round < 30; round++) {
        struct marks m = { calloc(100, sizeof(atomic_int)), 3, 0 };
        assert_int_equal(par_for(100, mark, &m), 0);
        for (int i = 0; i < 100; i++) assert_int_equal(m.count[i], 1);
        free(m.count);
        nanosleep(&nap, NULL);
    }
}

/* Whichever item the caller takes ends at once, and a worker's long after the caller sleeps. */
struct pair { atomic_int entered, done; };
static int worker_naps(void *ctx, size_t i, int thread)
{
    (void)i;
    struct pair *p = ctx;
    struct timespec nap = { 0, 30000000 };
    atomic_fetch_add(&p->entered, 1);
    while (atomic_load(&p->entered) < 2) sched_yield();      /* one item each */
    if (thread != 0) nanosleep(&nap, NULL);
    atomic_fetch_add(&p->done, 1);
    return 0;
}

static void a_caller_that_sleeps_wakes_when_the_last_worker_is_done(void **state)
{
    (void)state;
    par_threads_set(2);
    alarm(20);
    for (int round = 0; round < 20; round++) {
        struct pair p = { 0, 0 };
        assert_int_equal(par_for(2, worker_naps, &p), 0);
        assert_int_equal(p.done, 2);
    }
    alarm(0);
}

static atomic_int ran;
static int fail_at_50(void *ctx, size_t i, int thread)
{
    (void)ctx, (void)thread;
    atomic_fetch_add(&ran, 1);
    if (i == 50) return err_set("item %zu is bad", i);
    sched_yield();
    return 0;
}

static void a_failure_stops_the_loop_and_its_message_reaches_the_caller(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 4; threads++) {
        par_threads_set(threads);
        err_set("nothing yet");
        ran = 0;
        assert_int_equal(par_for(10000000, fail_at_50, NULL), -1);
        assert_string_equal(err_msg(), "item 50 is bad");
        assert_true(ran < 10000000);
        struct marks m = { calloc(8, sizeof(atomic_int)), threads, 0 };
        assert_int_equal(par_for(8, mark, &m), 0);          /* the pool is as good as new */
        free(m.count);
    }
}

struct nest { atomic_int inner, moved; pthread_barrier_t both; };
struct nest_in { struct nest *n; int outer; pthread_t id; };
static int nest_inner(void *ctx, size_t i, int thread)
{
    struct nest_in *in = ctx;
    (void)i;
    atomic_fetch_add(&in->n->inner, 1);
    if (thread != in->outer || !pthread_equal(pthread_self(), in->id))
        atomic_fetch_add(&in->n->moved, 1);
    return 0;
}
static int nest_outer(void *ctx, size_t i, int thread)
{
    (void)i;
    struct nest_in in = { ctx, thread, pthread_self() };
    pthread_barrier_wait(&in.n->both);
    return par_for(10, nest_inner, &in);
}

static void a_nested_loop_runs_inline_under_its_callers_thread_number(void **state)
{
    (void)state;
    par_threads_set(4);
    struct nest n = { 0 };
    /* two indices wait for each other: neither thread does both */
    pthread_barrier_init(&n.both, NULL, 2);
    assert_int_equal(par_for(100, nest_outer, &n), 0);
    pthread_barrier_destroy(&n.both);
    assert_int_equal(n.inner, 1000);
    assert_int_equal(n.moved, 0);
}

static void *loop_thread(void *arg)
{
    for (int i = 0; i < 300; i++) par_for(100, mark, arg);
    return NULL;
}

static void loops_of_several_callers_at_once_all_finish(void **state)
{
    (void)state;
    par_threads_set(3);
    struct marks m = { calloc(100, sizeof(atomic_int)), 3, 0 };
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, loop_thread, &m);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    for (int i = 0; i < 100; i++) assert_int_equal(m.count[i], 900);
    free(m.count);
}

/* --- pipeline: items are numbers, work squares them */

struct line {
    int next, total, read_fails_at, work_fails_at, write_fails_at;
    atomic_int under_way, most, dropped;
    int written[1000], n_written;
};
struct item { int i, value; };

static void *line_read(void *ctx, bool *failed)
{
    struct line *l = ctx;
    if (l->next == l->read_fails_at) { err_set("read %d", l->next); *failed = true; return NULL; }
    if (l->next == l->total) return NULL;
    struct item *it = malloc(sizeof *it);
    *it = (struct item){ l->next++, 0 };
    int now = atomic_fetch_add(&l->under_way, 1) + 1, most = l->most;
    while (now > most && !atomic_compare_exchange_weak(&l->most, &most, now)) { }
    return it;
}

static int line_work(void *ctx, void *item, int thread)
{
    struct line *l = ctx;
    struct item *it = item;
    (void)thread;
    /* Items finish out of order: some work longer, and a few give their processor away, which on a
     * busy machine costs a time slice each. */
    for (atomic_int k = (it->i * 37) % 11 * 50; k > 0; k--) continue;
    if (it->i % 47 == 0) sched_yield();
    it->value = it->i * it->i;
    return it->i >= l->work_fails_at ? err_set("work %d", it->i) : 0;
}

static int line_write(void *ctx, void *item)
{
    struct line *l = ctx;
    struct item it = *(struct item *)item;
    free(item);
    atomic_fetch_sub(&l->under_way, 1);
    if (it.i == l->write_fails_at) return err_set("write %d", it.i);
    l->written[l->n_written++] = it.value;
    return 0;
}

static void line_drop(void *ctx, void *item)
{
    struct line *l = ctx;
    free(item);
    atomic_fetch_add(&l->dropped, 1);
}

static const struct line good = {
    .total = 700, .read_fails_at = -1, .work_fails_at = 1000, .write_fails_at = -1
};

static int run_line(struct line *l, int threads, int depth)
{
    const struct pipeline p = { line_read, line_work, line_write, line_drop, l, threads, depth };
    return pipeline_run(&p);
}

static void a_pipeline_writes_in_the_order_it_reads_and_keeps_within_its_depth(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 5; threads++)
        for (int depth = 1; depth <= 9; depth += 4) {
            struct line l = good;
            assert_int_equal(run_line(&l, threads, depth), 0);
            assert_int_equal(l.n_written, 700);
            for (int i = 0; i < 700; i++) assert_int_equal(l.written[i], i * i);
            assert_in_range(l.most, 1, depth);
            assert_int_equal(l.dropped, 0);
        }
}

static void a_failing_pipeline_has_written_exactly_what_came_before_whatever_the_threads(
    void **state)
{
    (void)state;
    static const struct { int read, work, write; const char *message; int written;
    } cases[] = {
        { 300, 1000, -1, "read 300", 300 }, { -1, 41, -1, "work 41", 41 },
        { -1, 1000, 99, "write 99", 99 },   { 0, 1000, -1, "read 0", 0 },
        { 50, 41, 30, "write 30", 30 },
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
        for (int threads = 1; threads <= 4; threads++)
            for (int round = 0; round < 5; round++) {
                struct line l = good;
                l.read_fails_at = cases[c].read;
                l.work_fails_at = cases[c].work;
                l.write_fails_at = cases[c].write;
                err_set("nothing yet");
                assert_int_equal(run_line(&l, threads, 0), -1);
                assert_string_equal(err_msg(), cases[c].message);
                assert_int_equal(l.n_written, cases[c].written);
                int lost = l.next - l.n_written
                           - l.dropped; /* only the one that write took and failed on */
                assert_int_equal(lost, cases[c].write == cases[c].written);
            }
}

static void an_empty_pipeline_ends_well(void **state)
{
    (void)state;
    struct line l = good;
    l.total = 0;
    assert_int_equal(run_line(&l, 4, 0), 0);
    assert_int_equal(l.n_written, 0);
}

static int work_with_loop(void *ctx, void *item, int thread)
{
    struct marks m = { calloc(50, sizeof(atomic_int)), par_threads(), 0 };
    int r = par_for(50, mark, &m), bad = m.bad_thread;
    for (int i = 0; i < 50; i++) bad += m.count[i] != 1;
    free(m.count);
    return r || bad ? err_set("the inner loop went wrong") : line_work(ctx, item, thread);
}

static void a_parallel_loop_inside_a_pipeline_runs(void **state)
{
    (void)state;
    par_threads_set(3);
    struct line l = good;
    const struct pipeline p = { line_read, work_with_loop, line_write, line_drop, &l, 4, 0 };
    assert_int_equal(pipeline_run(&p), 0);
    assert_int_equal(l.n_written, 700);
}

/* --- queue */

static void *producer(void *arg)
{
    for (intptr_t i = 1; i <= 1000; i++)
        if (!queue_put(arg, (void *)i)) return (void *)i;
    queue_close(arg);
    return NULL;
}

static void a_queue_keeps_the_order_and_drains_after_it_is_closed(void **state)
{
    (void)state;
    struct queue *q = queue_new(3);
    pthread_t t;
    pthread_create(&t, NULL, producer, q);
    void *item, *stopped;
    intptr_t want = 1;
    while (queue_get(q, &item)) assert_int_equal((intptr_t)item, want++);
    assert_int_equal(want, 1001);
    pthread_join(t, &stopped);
    assert_null(stopped);
    assert_false(queue_put(q, &item));
    queue_free(q);
}

static void closing_a_queue_frees_a_producer_that_waits(void **state)
{
    (void)state;
    struct queue *q = queue_new(2);
    pthread_t t;
    pthread_create(&t, NULL, producer, q);
    void *item, *stopped;
    assert_true(queue_get(q, &item));
    queue_close(q);
    pthread_join(t, &stopped);
    assert_non_null(stopped);
    queue_free(q);
}

/* A system that gives no threads: no room for their stacks, which are too large for those that
 * glibc keeps of older threads. */
static void loops_without_a_single_worker_run_and_keep_no_memory(void **state)
{
    (void)state;
    if (getenv("ISOGLOT_TEST_SANITIZED")) return;       /* address space is what sanitizers use */
    static size_t a[64];
    struct rlimit was, tight;
    unsigned long pages = 0;
    pthread_attr_t usual, large;
    FILE *f = fopen("/proc/self/statm", "re");
    assert_true(f && fscanf(f, "%lu", &pages) == 1);
    fclose(f);
    par_threads_set(1);
    assert_int_equal(pthread_getattr_default_np(&usual), 0);
    assert_int_equal(pthread_getattr_default_np(&large), 0);
    assert_int_equal(pthread_attr_setstacksize(&large, (size_t)1 << 30), 0);
    assert_int_equal(pthread_setattr_default_np(&large), 0);
    assert_int_equal(getrlimit(RLIMIT_AS, &was), 0);
    tight = was;
    tight.rlim_cur = pages * (rlim_t)sysconf(_SC_PAGESIZE) + ((rlim_t)256 << 20);
    assert_int_equal(setrlimit(RLIMIT_AS, &tight), 0);
    par_threads_set(64);
    for (size_t i = 0; i < 64; i++) a[i] = 0;
    assert_int_equal(par_for(64, add_plain, a), 0);
    size_t before = mallinfo2().uordblks;
    for (int i = 0; i < 1000; i++) assert_int_equal(par_for(64, add_plain, a), 0);
    size_t after = mallinfo2().uordblks;
    assert_int_equal(setrlimit(RLIMIT_AS, &was), 0);
    assert_int_equal(pthread_setattr_default_np(&usual), 0);
    par_threads_set(1);
    assert_int_equal(a[63], 63 * 1001);
    /* the array of 64 threads has 512 bytes */
    assert_true(after < before + 4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_index_runs_once_for_any_number_of_threads),
        cmocka_unit_test(what_one_loop_writes_the_next_one_reads),
        cmocka_unit_test(workers_that_went_to_sleep_wake_again),
        cmocka_unit_test(a_caller_that_sleeps_wakes_when_the_last_worker_is_done),
        cmocka_unit_test(a_failure_stops_the_loop_and_its_message_reaches_the_caller),
        cmocka_unit_test(a_nested_loop_runs_inline_under_its_callers_thread_number),
        cmocka_unit_test(loops_of_several_callers_at_once_all_finish),
        cmocka_unit_test(a_pipeline_writes_in_the_order_it_reads_and_keeps_within_its_depth),
        cmocka_unit_test(
            a_failing_pipeline_has_written_exactly_what_came_before_whatever_the_threads),
        cmocka_unit_test(an_empty_pipeline_ends_well),
        cmocka_unit_test(a_parallel_loop_inside_a_pipeline_runs),
        cmocka_unit_test(a_queue_keeps_the_order_and_drains_after_it_is_closed),
        cmocka_unit_test(closing_a_queue_frees_a_producer_that_waits),
        cmocka_unit_test(loops_without_a_single_worker_run_and_keep_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
