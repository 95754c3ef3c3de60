/* What memory_check refuses, and the options that it says would fit, on needs that are made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/msg.h"
#include "lib/engine/memory.h"

#define MIB ((size_t)1 << 20)

/* A MiB a token, a tenth less recomputed; of a GPU, where ctx has its MiB. */
static int a_mib_a_token(void *ctx, int tokens, bool recompute, struct memory_need *need)
{
    size_t mib = (size_t)tokens * MIB;
    *need = (struct memory_need){ .arena = recompute ? mib / 10 * 9 : mib };
    if (ctx) need->room = *(size_t *)ctx * MIB;
    return 0;
}

static void advises(struct memory_ask a, size_t *room, const char *want)
{
    struct memory_need need;
    a.plan = a_mib_a_token;
    a.ctx = room;
    assert_int_equal(memory_check(&a, &need), -1);
    if (!strstr(err_msg(), want)) fail_msg("\"%s\" does not say \"%s\"", err_msg(), want);
}

static void the_first_options_that_fit_are_said(void **state)
{
    (void)state;
    size_t room = 20;
    struct memory_ask a = { .tokens = 64, .accumulate = 3, .limit = 60 * MIB };
    advises(a, NULL, "needs 64 MiB of memory and may have 60 MiB; --recompute would need 58 MiB");
    a.limit = 57 * MIB;
    advises(a, NULL, "; --tokens 32 --accumulate 6 would need 32 MiB");
    a.limit = 31 * MIB;
    advises(a, NULL, "; --recompute --tokens 32 --accumulate 6 would need 29 MiB");
    a.recompute = true;
    advises(a, NULL, "; --tokens 32 --accumulate 6 would need 29 MiB");
    /* of a device with memory of its own, that */
    a.recompute = false;
    advises(a, &room, "needs 64 MiB of the GPU's memory and 20 MiB are free;"
                      " --tokens 16 --accumulate 12 would need 16 MiB");
    /* examples are counted, not tokens */
    a.batch = 5;
    a.limit = 20 * MIB;
    advises(a, NULL, "; --batch 2 --accumulate 12 would need 16 MiB");
}

static void no_micro_batch_is_below_16_tokens_nor_one_of_more_than_1024(void **state)
{
    (void)state;
    struct memory_ask a = { .tokens = 64, .accumulate = 1, .limit = 16 * MIB };
    advises(a, NULL, "; --tokens 16 --accumulate 4 would need 16 MiB");
    a.limit = 14 * MIB;
    advises(a, NULL, "; no size of micro-batch fits");
    a = (struct memory_ask){ .tokens = 65536, .accumulate = 1, .limit = 64 * MIB };
    advises(a, NULL, "; --tokens 64 --accumulate 1024 would need 64 MiB");
    a.limit = 57 * MIB;
    advises(a, NULL, "; no size of micro-batch fits");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_options_that_fit_are_said),
        cmocka_unit_test(no_micro_batch_is_below_16_tokens_nor_one_of_more_than_1024),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
