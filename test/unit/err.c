/* common/err.h and common/mem.h. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common/bytes.h"
#include "common/err.h"
#include "common/mem.h"

static void a_message_may_quote_the_one_before(void **state)
{
    (void)state;
    assert_int_equal(err_set("byte %d", 17), -1);
    assert_int_equal(err_set("file: %s; again: %s", err_msg(), err_msg()), -1);
    assert_string_equal(err_msg(), "file: byte 17; again: byte 17");
}

static void the_systems_reason_is_appended_and_errno_kept(void **state)
{
    (void)state;
    errno = ENOENT;
    assert_int_equal(err_sys("%s: cannot open", "x"), -1);
    assert_string_equal(err_msg(), "x: cannot open: No such file or directory");
    assert_int_equal(errno, ENOENT);
}

static void a_message_of_any_length_fits_or_is_cut(void **state)
{
    (void)state;
    static char name[10000];
    memset(name, 'x', sizeof name - 1);
    assert_int_equal(err_set("%s: too long", name), -1);
    assert_in_range(strlen(err_msg()), 1000, 9998);
    errno = EIO;
    assert_int_equal(err_sys("%s: too long", name), -1);
    assert_in_range(strlen(err_msg()), 1000, 9998);
}

static void *other_thread(void *arg)
{
    (void)arg;
    int fresh = strcmp(err_msg(), "") == 0;
    err_set("of the other thread");
    return (void *)(intptr_t)fresh;
}

static void each_thread_has_its_own_message(void **state)
{
    (void)state;
    err_set("of this thread");
    pthread_t t;
    void *fresh;
    pthread_create(&t, NULL, other_thread, NULL);
    pthread_join(t, &fresh);
    assert_non_null(fresh);
    assert_string_equal(err_msg(), "of this thread");
}

static void room_grows_by_half_or_more_and_keeps_what_is_there(void **state)
{
    (void)state;
    int *a = NULL, growths = 0;
    size_t cap = 0;
    for (int i = 0; i < 100000; i++) {
        size_t before = cap;
        mem_room(&a, &cap, (size_t)i + 1, sizeof *a);
        assert_true(cap > (size_t)i);
        growths += cap != before;
        a[i] = i;
    }
    for (int i = 0; i < 100000; i++)
        if (a[i] != i) fail_msg("a[%d] is %d", i, a[i]);
    assert_in_range(growths, 5, 30);
    size_t before = cap;
    mem_room(&a, &cap, 5, sizeof *a);
    assert_int_equal(cap, before);
    mem_room(&a, &cap, 1000000, sizeof *a);
    assert_true(cap >= 1000000 && a[99999] == 99999);
    free(a);
}

static void nothing_is_something_that_can_be_freed(void **state)
{
    (void)state;
    void *p = mem_alloc(0), *q = mem_zero(0, 8), *r = mem_grow(NULL, 0, 8);
    assert_true(p && q && r);
    free(p);
    free(q);
    free(r);
    char *s = mem_dup("");
    assert_string_equal(s, "");
    free(s);
    assert_true(mem_peak() > 100000);
}

static void *volatile leak;
static void grow_too_far(void) { leak = mem_grow(NULL, SIZE_MAX / 2, 4); }
static void zero_too_much(void) { leak = mem_zero(SIZE_MAX / 2, 4); }
static void alloc_too_much(void) { leak = mem_alloc(SIZE_MAX / 2 - 100); }

/* AddressSanitizer would stop at such a request instead of returning NULL. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }

static void an_allocation_that_fails_ends_in_one_line_and_status_1(void **state)
{
    (void)state;
    static const struct { void (*fn)(void); const char *message; } cases[] = {
        { grow_too_far, "isoglot: out of memory: needed 9223372036854775807 times 4 bytes\n" },
        { zero_too_much, "isoglot: out of memory: needed 9223372036854775807 times 4 bytes\n" },
        { alloc_too_much, "isoglot: out of memory: needed 9223372036854775707 bytes\n" },
    };
    for (int i = 0; i < 3; i++) {
        int p[2], status;
        assert_int_equal(pipe(p), 0);
        pid_t pid = fork();
        if (pid == 0) {
            dup2(p[1], 2);
            cases[i].fn();
            _exit(0);
        }
        close(p[1]);
        char s[4000];
        ssize_t n = 0, r;
        while ((r = read(p[0], s + n, sizeof s - 1 - (size_t)n)) > 0) n += r;
        s[n] = '\0';
        close(p[0]);
        waitpid(pid, &status, 0);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 1);
        if (!strstr(s, cases[i].message)) fail_msg("%s", s);
    }
}

static void a_message_kept_comes_back_over_later_ones(void **state)
{
    (void)state;
    err_set("first: %d", 7);
    char *kept = err_keep();
    err_set("second");
    assert_int_equal(err_restore(kept), -1);
    assert_string_equal(err_msg(), "first: 7");
}

static void numbers_of_files_are_little_endian_at_any_address(void **state)
{
    (void)state;
    unsigned char p[17] = { 0 };
    put16(p + 1, 0x1234);
    put32(p + 3, 0x89ABCDEF);
    put64(p + 7, 0x0123456789ABCDEF);
    static const unsigned char bytes[17] = { 0,    0x34, 0x12, 0xEF, 0xCD, 0xAB, 0x89, 0xEF, 0xCD,
                                             0xAB, 0x89, 0x67, 0x45, 0x23, 0x01, 0,    0 };
    assert_memory_equal(p, bytes, sizeof p);
    assert_true(get16(p + 1) == 0x1234 && get32(p + 3) == 0x89ABCDEF);
    assert_true(get64(p + 7) == 0x0123456789ABCDEF);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_may_quote_the_one_before),
        cmocka_unit_test(the_systems_reason_is_appended_and_errno_kept),
        cmocka_unit_test(a_message_of_any_length_fits_or_is_cut),
        cmocka_unit_test(each_thread_has_its_own_message),
        cmocka_unit_test(room_grows_by_half_or_more_and_keeps_what_is_there),
        cmocka_unit_test(nothing_is_something_that_can_be_freed),
        cmocka_unit_test(an_allocation_that_fails_ends_in_one_line_and_status_1),
        cmocka_unit_test(a_message_kept_comes_back_over_later_ones),
        cmocka_unit_test(numbers_of_files_are_little_endian_at_any_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
