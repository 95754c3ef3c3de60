/* The arena of a step: pieces do not overlap whatever is given back, and fit again where they
 * were. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "common/rng.h"
#include "lib/engine/memory.h"
#include "lib/graph/arena.h"

enum { MIB = 1 << 20 };

static void what_was_given_back_is_used_again_and_neighbours_join(void **state)
{
    (void)state;
    struct arena *a = arena_new(kernels_cpu());
    int n[3];
    assert_int_equal(arena_reserve(a, 3 * MIB), 0);
    char *first = arena_get(a, MIB, &n[0]);
    for (int i = 1; i < 3; i++)
        assert_ptr_equal(arena_get(a, MIB - 5, &n[i]), first + (size_t)i * MIB);
    arena_put(a, n[2]);
    arena_put(a, n[0]);
    arena_put(a, n[1]);
    arena_put(a, n[1]);                               /* twice is fine */
    assert_ptr_equal(arena_get(a, 3 * MIB, NULL), first);
    assert_int_equal(arena_peak(a), 3 * MIB);
    assert_int_equal(arena_size(a), 3 * MIB);
    arena_reset(a);
    assert_ptr_equal(arena_get(a, 0, NULL), first);
    assert_ptr_equal(arena_get(a, 1, NULL), first + 256);
    arena_free(a);
}

static void going_back_gives_back_what_came_later(void **state)
{
    (void)state;
    struct arena *a = arena_new(kernels_cpu());
    int kept, later;
    assert_int_equal(arena_reserve(a, MIB), 0);
    arena_get(a, 1000, &kept);
    int mark = arena_count(a);
    char *p = arena_get(a, 2000, &later);
    arena_put(a, later);
    arena_get(a, 500, NULL);
    arena_back_to(a, mark);
    assert_ptr_equal(arena_get(a, MIB - 1024, NULL), p);
    assert_int_equal(arena_count(a), mark + 1);
    arena_free(a);
}

static void an_arena_that_was_too_small_grows_and_is_one_block_after_a_reset(void **state)
{
    (void)state;
    struct arena *a = arena_new(kernels_cpu());
    for (int step = 0; step < 3; step++) {
        for (int i = 0; i < 50; i++) memset(arena_get(a, 2 * MIB, NULL), i, 2 * MIB);
        assert_true(arena_peak(a) >= 100 * (size_t)MIB);
        arena_reset(a);
    }
    assert_true(arena_size(a) < 200 * (size_t)MIB);
    assert_int_equal(arena_size(a), arena_peak(a));
    arena_free(a);
}

/* Two blocks of 32 MiB hold no piece of 40: what is reserved is one. */
static void what_is_reserved_is_one_block(void **state)
{
    (void)state;
    struct arena *a = arena_new(kernels_cpu());
    for (int i = 0; i < 2; i++) arena_get(a, 20 * MIB, NULL);
    assert_int_equal(arena_size(a), 64 * MIB);
    arena_back_to(a, 0);
    assert_int_equal(arena_reserve(a, 40 * MIB), 0);
    assert_int_equal(arena_size(a), 40 * MIB);
    arena_get(a, 40 * MIB, NULL);
    assert_int_equal(arena_size(a), 40 * MIB);
    arena_free(a);
}

static void pieces_in_use_never_overlap(void **state)
{
    (void)state;
    enum { LIVE = 64 };
    struct { unsigned char *p; size_t n; int number; unsigned char mark; } live[LIVE] = { 0 };
    struct rng r = { { 8, RNG_TEST, 0 }, 0, 0 };
    struct arena *a = arena_new(kernels_cpu());
    assert_int_equal(arena_reserve(a, 4 * MIB), 0);
    for (int turn = 0; turn < 20000; turn++) {
        int i = (int)rng_next_below(&r, LIVE);
        if (live[i].n) {
            for (size_t j = 0; j < live[i].n; j += 97) assert_int_equal(live[i].p[j], live[i].mark);
            assert_int_equal(live[i].p[live[i].n - 1], live[i].mark);
            arena_put(a, live[i].number);
            live[i].n = 0;
        } else {
            live[i].n = 1 + (size_t)rng_next_below(&r, 200000);
            live[i].p = arena_get(a, live[i].n, &live[i].number);
            assert_int_equal((uintptr_t)live[i].p % 256, 0);
            memset(live[i].p, live[i].mark = (unsigned char)turn, live[i].n);
        }
    }
    arena_free(a);
}

/* The planning device has addresses and no memory. */
static void a_plan_of_a_terabyte_takes_no_memory(void **state)
{
    (void)state;
    struct arena *a = arena_new(arena_plan_kernels(kernels_cpu()));
    if (arena_reserve(a, (size_t)1 << 40) < 0) { arena_free(a); skip(); }
    int n;
    for (int i = 0; i < 1000; i++) {
        arena_get(a, (size_t)100 * MIB, NULL);
        arena_get(a, (size_t)50 * MIB, &n);
        arena_put(a, n);
    }
    assert_int_equal(arena_peak(a), (size_t)100050 * MIB);
    arena_free(a);
}

static size_t addresses(void)
{
    unsigned long long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%llu", &pages) != 1) pages = 0;
    if (f) fclose(f);
    return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void a_plan_that_has_no_addresses_gives_back_those_it_had(void **state)
{
    (void)state;
    struct rlimit was, little;
    struct model_config c;
    struct model m;
    struct tape t;
    /* sanitizers have more addresses than any limit */
    if (addresses() > (size_t)1 << 40) skip();
    model_config_init(&c);
    c.vocab = 1 << 20;                                    /* 2 GiB in each of four arrays */
    assert_int_equal(model_shapes(&m, &c, arena_plan_kernels(kernels_cpu())), 0);
    size_t before = addresses();
    assert_int_equal(getrlimit(RLIMIT_AS, &was), 0);
    little = was;
    little.rlim_cur = before + (size_t)5 * 1024 * MIB;
    assert_int_equal(setrlimit(RLIMIT_AS, &little), 0);
    int rc = memory_plan_open(&m, &t);
    setrlimit(RLIMIT_AS, &was);
    assert_int_equal(rc, -1);
    assert_null(m.ps.value);
    assert_true(addresses() < before + (size_t)1024 * MIB);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_given_back_is_used_again_and_neighbours_join),
        cmocka_unit_test(going_back_gives_back_what_came_later),
        cmocka_unit_test(an_arena_that_was_too_small_grows_and_is_one_block_after_a_reset),
        cmocka_unit_test(what_is_reserved_is_one_block),
        cmocka_unit_test(pieces_in_use_never_overlap),
        cmocka_unit_test(a_plan_of_a_terabyte_takes_no_memory),
        cmocka_unit_test(a_plan_that_has_no_addresses_gives_back_those_it_had),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
