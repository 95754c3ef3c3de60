/* What allocations promise: they succeed or the program ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "common/mem.h"

/* Writes until there is no room, and then, with room again, takes what was written: status 2 and 0
 * mean that something was lost. */
static void write_without_room(void)
{
    struct mem_text t;
    struct rlimit all, none;
    char *page = mem_zero(1 << 20, 1);
    memset(page, 'x', (1 << 20) - 1);
    if (!freopen("/dev/null", "w", stderr) || getrlimit(RLIMIT_AS, &all) < 0) _exit(3);
    none = all;
    none.rlim_cur = 1 << 20;
    mem_text_open(&t);
    if (setrlimit(RLIMIT_AS, &none) < 0) _exit(3);
    for (int i = 0; i < 100; i++) fputs(page, t.f);
    if (setrlimit(RLIMIT_AS, &all) < 0) _exit(2);
    mem_text_take(&t, NULL);
    _exit(0);
}

static void a_stream_in_memory_that_lost_bytes_is_never_taken(void **state)
{
    struct mem_text t;
    size_t n;
    (void)state;
    mem_text_open(&t);
    assert_int_equal(fputs("whole", t.f), 1);
    char *s = mem_text_take(&t, &n);
    assert_int_equal(n, 5);
    assert_string_equal(s, "whole");
    free(s);
    if (getenv("ISOGLOT_TEST_SANITIZED")) return;       /* its malloc ends the program itself */
    fflush(NULL);
    pid_t pid = fork();
    if (!pid) write_without_room();
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), EXIT_FAILURE);
}

/* Room is never less than was asked for, what was there stays, and 1,000 single steps do not copy
 * 1,000 times. */
static void room_grows_by_halves(void **state)
{
    int *x = NULL, copies = 0;
    size_t cap = 0;
    (void)state;
    for (size_t i = 0; i < 1000; i++) {
        size_t before = cap;
        mem_room(&x, &cap, i + 1, sizeof *x);
        assert_true(cap > i);
        copies += cap != before;
        x[i] = (int)i;
    }
    for (int i = 0; i < 1000; i++) assert_int_equal(x[i], i);
    assert_true(copies < 16);
    free(x);
}

/* Zeros whenever they are asked for; what was written stays. */
static void new_room_is_zeros(void **state)
{
    int *x = NULL;
    size_t cap = 0;
    (void)state;
    for (size_t i = 0; i < 1000; i++) {
        /* what malloc hands out next should have been written to */
        if (i % 100 == 0) free(memset(mem_alloc(i * 60 + 100), 0xee, i * 60 + 100));
        mem_room_zero(&x, &cap, i + 1, sizeof *x);
        assert_int_equal(x[i], 0);
        x[i] = (int)i + 1;
    }
    for (int i = 0; i < 1000; i++) assert_int_equal(x[i], i + 1);
    free(x);
}

#ifdef MEM_ADDRESS_SANITIZER
static int status_of_reading(const int *x, size_t i)
{
    fflush(NULL);
    pid_t pid = fork();
    if (!pid) {
        if (!freopen("/dev/null", "w", stderr)) _exit(3);
        _exit(((const volatile int *)x)[i] == 7 ? 0 : 4);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* 3 of 8 were asked for: the fourth is the program's end, though it is there; then it is asked
 * for. */
static void what_was_not_asked_for_is_seen_by_the_sanitizer(void **state)
{
    int *x = NULL;
    size_t cap = 0;
    (void)state;
    mem_room(&x, &cap, 3, sizeof *x);
    assert_int_equal(cap, 8);
    for (int i = 0; i < 3; i++) x[i] = 7;
    assert_int_equal(status_of_reading(x, 2), 0);
    assert_true(status_of_reading(x, 3) != 0 && status_of_reading(x, 3) != 4);
    mem_room(&x, &cap, 4, sizeof *x);
    x[3] = 7;
    assert_int_equal(status_of_reading(x, 3), 0);
    assert_true(status_of_reading(x, 7) != 0 && status_of_reading(x, 7) != 4);
    mem_room(&x, &cap, 9, sizeof *x);
    assert_int_equal(status_of_reading(x, 3), 0);
    x[8] = 7;
    assert_int_equal(status_of_reading(x, 8), 0);
    assert_true(status_of_reading(x, 9) != 0 && status_of_reading(x, 9) != 4);
    free(x);
}
#endif

static void huge_memory_is_aligned_and_all_there(void **state)
{
    const size_t page = 2 << 20, bytes[] = { 0, 100, page, 2 * page + 12345 };
    (void)state;
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        char *p = mem_alloc_huge(bytes[i]);
        memset(p, 'x', bytes[i]);
        if (bytes[i] >= page) assert_int_equal((uintptr_t)p % page, 0);
        free(p);
    }
    fflush(NULL);
    pid_t pid = fork();
    if (!pid) {
        if (!freopen("/dev/null", "w", stderr)) _exit(3);
        free(mem_alloc_huge(SIZE_MAX - 100));
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), EXIT_FAILURE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_in_memory_that_lost_bytes_is_never_taken),
        cmocka_unit_test(room_grows_by_halves),
        cmocka_unit_test(new_room_is_zeros),
#ifdef MEM_ADDRESS_SANITIZER
        cmocka_unit_test(what_was_not_asked_for_is_seen_by_the_sanitizer),
#endif
        cmocka_unit_test(huge_memory_is_aligned_and_all_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
