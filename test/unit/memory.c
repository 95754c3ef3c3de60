/* What memory_check says and refuses, and the options that it says would fit, on needs that are
 * made up; what a plan takes from a model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/err.h"
#include "common/grant.h"
#include "common/mem.h"
#include "common/msg.h"
#include "lib/engine/memory.h"
#include "lib/graph/arena.h"
#include "lib/trainer/sharded_optimizer.h"
#include "test/unit/scratch.h"

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
    /* ... and stay as they are where recomputing is enough */
    a.limit = 60 * MIB;
    advises(a, NULL, "; --recompute would need 58 MiB");
}

/* Without a limit, what this process has and its share of what is left, which others may be taking
 * while this is measured: within a tenth. */
static void without_a_limit_ranks_share_what_is_free(void **state)
{
    (void)state;
    for (int here = 1; here <= 3; here++) {
        /* all of this has been touched: it is not free, and it is not shared */
        size_t own = 512 * MIB, n;
        char *held = mem_zero(own, 1);
        memset(held, 1, own);
        double want = (double)memory_now() + granted_memory_left() / here, told = 0;
        struct memory_ask a = { .tokens = 1 << 30, .accumulate = 1, .here = here };
        char text[80];
        snprintf(text, sizeof text, "needs 1048576.0 GiB of memory%s and may have ",
                 here > 1 ? " for each rank here" : "");
        advises(a, NULL, text);
        n = (size_t)(strstr(err_msg(), text) - err_msg()) + strlen(text);
        char unit[4] = "";
        assert_int_equal(sscanf(err_msg() + n, "%lf %3[A-Za-z]", &told, unit), 2);
        told *= !strcmp(unit, "GiB") ? 1024.0 * (double)MIB : (double)MIB;
        assert_true(memory_now() > own && told > 0.9 * want && told < 1.1 * want);
        free(held);
    }
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

/* Each part has a size of its own. */
static int parts(void *ctx, int tokens, bool recompute, struct memory_need *need)
{
    (void)tokens; (void)recompute;
    *need = (struct memory_need){ .now = 64 * MIB, .params = 1536 * MIB, .arena = 300 * MIB,
                                  .working = 2 * MIB, .host = 10240 * MIB, .ranks = 100 * MIB };
    if (!ctx) return 0;
    need->room = *(size_t *)ctx * MIB;
    need->on_device = 50 * MIB;
    need->slow = "what is slow";
    return 0;
}

#define PARTS "parameters and optimiser 1.50 GiB, activations 300 MiB, operations 2 MiB"
#define HOSTS ", checkpoints 10.0 GiB, the rest 64 MiB"
#define RANKS ", ranks 100 MiB; so for each of 2 ranks here"

/* What a check that passes says. */
static void says(struct memory_ask a, size_t *room, const char *want)
{
    struct memory_need need;
    int old = dup(2);
    size_t n;
    a.plan = parts;
    a.ctx = room;
    assert_non_null(freopen("said", "w", stderr));
    int rc = memory_check(&a, &need);
    fflush(stderr);
    dup2(old, 2);
    close(old);
    char *said = file_read("said", &n);
    assert_int_equal(rc, 0);
    assert_string_equal(said, want);
    free(said);
}

static void what_is_needed_is_said_part_by_part(void **state)
{
    (void)state;
    struct memory_ask a = { .tokens = 64, .accumulate = 1, .limit = 20480 * MIB };
    size_t room = 4096;
    /* 64 + 1536 + 300 + 2 + 10240 + 100 MiB are 11.96 GiB */
    says(a, NULL, "isoglot: memory: at most 12.0 GiB of 20.0 GiB: " PARTS HOSTS
                  ", tree of gradients 100 MiB\n");
    a.here = 2;
    says(a, NULL, "isoglot: memory: at most 12.0 GiB of 20.0 GiB: " PARTS HOSTS RANKS "\n");
    /* 1536 + 300 + 2 + 50, and 64 + 10240 + 100 MiB */
    says(a, &room, "isoglot: what is slow\n"
                   "isoglot: GPU memory: at most 1.84 GiB of 4.00 GiB: " PARTS ", ranks 50 MiB; "
                   "the host's: at most 10.2 GiB of 20.0 GiB" RANKS "\n");
    /* to the last byte, and one less */
    a.limit = 12242 * MIB;
    says(a, NULL, "isoglot: memory: at most 12.0 GiB of 12.0 GiB: " PARTS HOSTS RANKS "\n");
    struct memory_need need;
    a.limit--;
    a.plan = parts;
    assert_int_equal(memory_check(&a, &need), -1);
    assert_non_null(strstr(err_msg(), "this run needs 12.0 GiB of memory for each rank here and "
                                      "may have 12.0 GiB; no size of micro-batch fits"));
    room = 1888;
    says(a, &room, "isoglot: what is slow\n"
                   "isoglot: GPU memory: at most 1.84 GiB of 1.84 GiB: " PARTS ", ranks 50 MiB; "
                   "the host's: at most 10.2 GiB of 12.0 GiB" RANKS "\n");
    room = 1887;
    a.ctx = &room;
    assert_int_equal(memory_check(&a, &need), -1);
    assert_non_null(strstr(err_msg(), "1.84 GiB of the GPU's memory and 1.84 GiB are free;"));
}

/* A device whose operations take a byte for each number of the model. */
static size_t a_byte_a_number(const struct kern_shape *s) { return s->params; }

/* Of a number: its value, its gradient and Adam's two moments, 4 bytes each, the moments of the
 * rank's own part; and what a checkpoint copies, values and all moments. */
static void a_plan_counts_sixteen_bytes_for_a_parameter(void **state)
{
    (void)state;
    struct model_config c;
    const struct kernels *k = kernels_cpu();
    model_config_init(&c);
    c.layers = 1; c.dim = 64; c.ffn = 96; c.heads = 2; c.vocab = 2000; c.positions = 16;
    for (int shared = 0; shared < 2; shared++) {
        struct kern_shape shape = { .rows = 100, .dim = 64, .ffn = 96, .heads = 2, .vocab = 2000 };
        struct memory_need need;
        struct model m;
        struct tape t;
        assert_int_equal(model_shapes(&m, &c, arena_plan_kernels(k)), 0);
        size_t total = m.ps.total, moments = total;
        if (shared) {
            sharded_lay_out(&m.ps, 2, -1, false);
            moments = m.ps.moments;
            assert_true(moments < total);
        }
        assert_int_equal(memory_plan_open(&m, &t), 0);
        tape_reset(&t, true);
        (void)tape_var(&t, 1000, 64);
        struct kernels like = *k;
        like.working = a_byte_a_number;
        memory_plan_close(&m, &t, &like, &shape, &need);
        assert_int_equal(need.floats, total);
        assert_int_equal(need.params, 8 * total + 8 * moments);
        assert_int_equal(need.host, 12 * total);
        assert_true(need.arena >= 1000 * 64 * k->act_size && need.arena < 4 * MIB);
        assert_int_equal(need.room, 0);
        assert_int_equal(need.working, total);
        /* this process, which is small, and no address space */
        assert_true(need.now > MIB && need.now < 4096 * MIB);
    }
}

/* Copies of matrices in 8 bits: [rows, cols] in rows to a multiple of 16 and columns to one of 64,
 * and 8 bytes a row. Each matrix of 16 columns at most 64 wide thus takes 72 bytes a row. */
static void matrices_in_8_bits_are_counted_once(void **state)
{
    (void)state;
    /* queries, keys and values; out; ffn.in to 32 rows; ffn.out; in a decoder cross.q, kv, out */
    enum { ROW = 72, LAYER = (48 + 16 + 32 + 16) * ROW, CROSS = (16 + 32 + 16) * ROW,
           TABLE = 16 * ROW, SQUARE = 16 * ROW };
    static const struct { int layers, decoder, embed; bool share; size_t want; } t[] = {
        { 1, 0, 0, false, TABLE + LAYER },
        { 2, 0, 0, false, TABLE + 2 * LAYER },
        { 2, 1, 0, false, TABLE + 3 * LAYER + CROSS },
        { 2, 3, 0, true, TABLE + 2 * LAYER + CROSS },
        /* a projection behind either table, and the output's back to its width */
        { 1, 1, 8, false, TABLE + 2 * LAYER + CROSS + 3 * SQUARE },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct model_config c;
        struct model m;
        model_config_init(&c);
        c.layers = t[i].layers; c.decoder_layers = t[i].decoder; c.embed_dim = t[i].embed;
        c.share_layers = t[i].share;
        c.dim = 16; c.ffn = 24; c.heads = 2; c.vocab = 9; c.positions = 30;
        assert_int_equal(model_shapes(&m, &c, kernels_cpu()), 0);
        assert_int_equal(model_int8_bytes(&m), t[i].want);
        model_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_options_that_fit_are_said),
        cmocka_unit_test(without_a_limit_ranks_share_what_is_free),
        cmocka_unit_test(no_micro_batch_is_below_16_tokens_nor_one_of_more_than_1024),
        cmocka_unit_test(what_is_needed_is_said_part_by_part),
        cmocka_unit_test(a_plan_counts_sixteen_bytes_for_a_parameter),
        cmocka_unit_test(matrices_in_8_bits_are_counted_once),
    };
    if (scratch_enter() < 0) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_leave();
    return failed;
}
