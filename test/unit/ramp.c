/* Weights that change over a run; which objectives are chosen, with which hosts, and which of them
 * take part in a step; what a pass counts, and what a validation reports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "common/err.h"
#include "common/prog/log.h"
#include "lib/batch/masked.h"
#include "lib/engine/mix.h"
#include "test/unit/near.h"
#include "test/unit/scratch.h"

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
    assert_near(ramp_value(&r, 50000), 0.55, 1e-12);
    assert_near(ramp_value(&r, 100000), 0.1, 1e-12);
    assert_near(ramp_value(&r, 200000), 0.05, 1e-12);
    assert_true(ramp_value(&r, 300000) == 0 && ramp_value(&r, 400000) == 0);
    assert_int_equal(ramp_parse(&r, "10:2,20:4"), 0);
    assert_true(ramp_value(&r, 0) == 2 && ramp_value(&r, 15) == 3);
}

static void a_ramp_has_up_to_sixteen_points(void **state)
{
    (void)state;
    struct ramp r;
    assert_int_equal(ramp_parse(&r, "0:0,1:1,2:2,3:3,4:4,5:5,6:6,7:7,8:8,9:9,10:10,11:11,12:12,"
                                    "13:13,14:14,15:15"), 0);
    assert_int_equal(r.n, 16);
    for (int i = 0; i < 20; i++) assert_true(ramp_value(&r, i) == (i < 15 ? i : 15));
    /* the last step there is */
    assert_int_equal(ramp_parse(&r, "0:0,1e15:.5"), 0);
    assert_near(ramp_value(&r, INT64_C(500000000000000)), 0.25, 1e-12);
    assert_int_equal(ramp_parse(&r, "0:0,1000000000000001:1"), -1);
    assert_non_null(strstr(err_msg(), "with growing steps (at most 16)"));
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
        "0x10",
        "0:0X1",
        "0:1,1:1,2:1,3:1,4:1,5:1,6:1,7:1,8:1,9:1,10:1,11:1,12:1,13:1,14:1,15:1,16:1"
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(ramp_parse(&r, bad[i]), -1);
}

/* --- objectives ------------------------------------------------------------------------------- */

static int no_pass(void *self, void *batch, struct pass *p)
{
    (void)self; (void)batch; (void)p;
    return 0;
}
static const struct batch_kind passes = { .forward = no_pass }, rides = { 0 };

/* What an objective is asked in turn: "open b", ... */
static char asked[400];
static int opened(void *self, struct setup *s)
{
    (void)s;
    strcat(strcat(asked, " "), self);
    return 0;
}
static void name_a(void *self) { strcpy(self, "a"); }
static void name_b(void *self) { strcpy(self, "b"); }
static void name_aux(void *self) { strcpy(self, "aux"); }
static void name_own(void *self) { strcpy(self, "own"); }
static double epoch_a(const void *self) { (void)self; return 300; }
static double epoch_b(const void *self) { (void)self; return 100; }
static double epoch_few(const void *self) { (void)self; return 1e-5; }
static int period_3(const void *self) { (void)self; return 3; }
static bool odd(const void *self, int64_t step) { (void)self; return step % 2; }

/* a and b have streams and passes of their own, `few` has hardly any data; `aux` adds a loss to a's
 * pass or b's, `own` has a pass over what it makes of their batches; `gone` has another program. */
static const struct objective a = { .name = "a", .about = "A", .used_by = 1, .self = 8,
                                    .batch = &passes, .defaults = name_a, .open = opened,
                                    .epoch = epoch_a },
                              b = { .name = "b", .about = "B", .used_by = 3, .self = 8,
                                    .batch = &passes, .defaults = name_b, .open = opened,
                                    .epoch = epoch_b, .period = period_3, .weight = "lambda-b|l",
                                    .weight_value = "0:1,4:0", .dict = true, .pairs = true,
                                    .decoder = true },
                              few = { .name = "few", .about = "F", .used_by = 1,
                                      .batch = &passes, .epoch = epoch_few, .turn = odd },
                              aux = { .name = "aux", .about = "X", .used_by = 1, .self = 8,
                                      .batch = &rides, .hosts = "a b", .defaults = name_aux,
                                      .open = opened, .weight_value = "0" },
                              own = { .name = "own", .about = "O", .used_by = 1, .self = 8,
                                      .batch = &passes, .hosts = "gone b", .defaults = name_own,
                                      .open = opened, .weight_value = "0:0,4:1" },
                              gone = { .name = "gone", .about = "G", .used_by = 2,
                                       .batch = &passes };
static const struct objective *const all[] = { &a, &b, &few, &aux, &own, &gone, NULL };

/* Chooses them: 0, or -1 with that message. */
static int choose(struct mix *x, const char *list, const char *ratio, const char *why)
{
    mix_init(x, all, 1);
    int rc = mix_choose(x, list, ratio, "--objective", list);
    if (rc < 0 && (!why || !strstr(err_msg(), why))) fail_msg("%s: %s", list, err_msg());
    if (rc == 0 && why) fail_msg("%s %s is taken", list, ratio ? ratio : "");
    return rc;
}

/* Those chosen, in their order, with their host: "b:-1 own:0 ", "(b)" where its loss is not
 * wanted. */
static void are(const struct mix *x, const char *want)
{
    char got[200] = "", one[40];
    for (int i = 0; i < x->n; i++) {
        const struct member *m = &x->m[i];
        snprintf(one, sizeof one, m->silent ? "(%s):%d " : "%s:%d ", m->o->name, m->host);
        strcat(got, one);
    }
    assert_string_equal(got, want);
}

static void a_host_is_the_one_that_is_there_or_the_best(void **state)
{
    (void)state;
    static const char *const t[][2] = {
        { "a", "a:-1 " },
        { "aux,b", "b:-1 aux:0 " },                  /* which costs no pass more */
        { "b,aux,a", "b:-1 a:-1 aux:1 " },
        { "own", "(b):-1 own:0 " },
        { "own,aux", "(b):-1 own:0 (a):-1 aux:2 " },     /* a is better than b */
        { "own,a,aux,b", "a:-1 b:-1 own:1 aux:0 " },
    };
    struct mix x;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        assert_int_equal(choose(&x, t[i][0], NULL, NULL), 0);
        are(&x, t[i][1]);
        /* places are those of passes, in their order */
        for (int k = 0, place = 0; k < x.n; k++)
            if (x.m[k].o != &aux) assert_int_equal(x.m[k].place, place++);
        mix_free(&x);
    }
    static const char *const bad[][2] = {
        { "a,c", "unknown objective 'c'; choose from a, b, few, aux, own" },
        { "a,", "unknown objective ''" },
        { "gone", "unknown objective 'gone'" },
        { "a,b,a", "objective a is named twice" },
        { "aux,aux", "objective aux is named twice" },
        /* its host's weight, which is 1, is not asked for */
        { "aux", "the weight of each loss of --objective aux is 0: nothing would be learnt" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(choose(&x, bad[i][0], NULL, bad[i][1]), -1);
        mix_free(&x);
    }
    mix_init(&x, all, 2);
    assert_int_equal(x.n_known, 2);
    assert_null(mix_self(&x, "a"));
    assert_string_equal(mix_self(&x, "b"), "b");
    assert_string_equal(x.known[0].weight_name, "lambda-b|l");
    assert_string_equal(x.known[1].weight_name, "gone-weight");
    assert_string_equal(x.known[1].heading, "Objective gone: G");
    assert_string_equal(x.known[1].weight_help, "weight of its loss, as --lambda-b");
    mix_free(&x);
}

static void what_they_need_is_that_of_all_who_were_chosen(void **state)
{
    (void)state;
    struct mix x;
    assert_int_equal(choose(&x, "aux,a", NULL, NULL), 0);
    assert_int_equal(mix_period(&x), 1);
    assert_false(mix_decoder(&x));
    assert_int_equal(mix_dict(&x, 0), 0);
    assert_int_equal(mix_dict(&x, 1), -1);
    assert_non_null(strstr(err_msg(), "none is in --objective aux,a"));
    assert_int_equal(mix_pairs(&x, NULL), 0);
    assert_int_equal(mix_pairs(&x, "valid-parallel"), -1);
    assert_string_equal(err_msg(), "--valid-parallel belongs to objectives that learn from "
                                   "sentence pairs (tlm); none is in --objective aux,a");
    mix_free(&x);
    assert_int_equal(choose(&x, "a,aux,b", NULL, NULL), 0);
    assert_int_equal(mix_period(&x), 3);
    assert_true(mix_decoder(&x));
    assert_int_equal(mix_pairs(&x, "parallel"), 0);
    assert_int_equal(mix_dict(&x, 2), 0);
    assert_int_equal(mix_dict(&x, 0), -1);
    assert_non_null(strstr(err_msg(), "objective b needs a dictionary"));
    assert_int_equal(mix_open(&x, NULL), 0);
    assert_string_equal(asked, " a b aux");
    assert_true(mix_weight(&x, 0, 9) == 1 && mix_weight(&x, 1, 2) == 0.5);
    assert_true(mix_weight(&x, 2, 0) == 0);
    mix_free(&x);
    /* also of one alone */
    assert_int_equal(choose(&x, "b", NULL, NULL), 0);
    assert_int_equal(mix_dict(&x, 1), 0);
    assert_int_equal(mix_dict(&x, 0), -1);
    assert_int_equal(mix_period(&x), 3);
    assert_true(mix_decoder(&x) && !mix_text(&x) && mix_has(&x, "b") && !mix_has(&x, "a"));
    assert_int_equal(mix_pairs(&x, "parallel"), 0);
    mix_free(&x);
}

/* Who takes part, step by step: '1' for each that does. */
static void turns(const struct mix *x, int64_t step, const char *want)
{
    bool part[MIX_MOST];
    char got[MIX_MOST + 1] = "";
    mix_turn(x, step, 7, part);
    for (int i = 0; i < x->n; i++) got[i] = part[i] ? '1' : '0';
    assert_string_equal(got, want);
}

/* A loss of weight 0 is computed where it costs no pass; a host that is there for others takes part
 * whatever its weight; what has turns of its own has those. */
static void a_pass_of_weight_0_is_not_run(void **state)
{
    (void)state;
    struct mix x;
    assert_int_equal(choose(&x, "b,aux,own,few", NULL, NULL), 0);
    are(&x, "b:-1 few:-1 aux:0 own:0 ");
    turns(&x, 0, "1010");                            /* own has no weight yet */
    turns(&x, 1, "1111");
    turns(&x, 2, "1011");
    turns(&x, 4, "0000");                            /* nor has b any more, so none of its own */
    turns(&x, 5, "0100");
    mix_free(&x);
    assert_int_equal(choose(&x, "own", NULL, NULL), 0);
    turns(&x, 0, "10");
    turns(&x, 4, "11");
    mix_free(&x);
}

/* --mix a:3,b:1: one of them a step, and with b what rides on it; by their data: 300 to 100
 * micro-batches, and a millionth for what has next to none. */
static void one_is_drawn_by_its_share(void **state)
{
    (void)state;
    struct mix x;
    for (int by_data = 0; by_data < 2; by_data++) {
        int of[2] = { 0 };
        bool part[MIX_MOST];
        assert_int_equal(choose(&x, "a,b,own", by_data ? "by-data" : "b:1,a:3", NULL), 0);
        assert_int_equal(x.by_data, by_data);
        assert_int_equal(mix_open(&x, NULL), 0);
        assert_int_equal(x.m[0].share, by_data ? 750000 : 3);
        assert_int_equal(x.m[1].share, by_data ? 250000 : 1);
        assert_int_equal(x.m[2].share, 0);
        assert_int_equal(x.shares, by_data ? 1000000 : 4);
        x.m[1].weight = x.m[0].weight;               /* which ends at step 4 */
        for (int64_t step = 5; step < 20005; step++) {
            mix_turn(&x, step, 7, part);
            assert_int_equal(part[0] + part[1], 1);
            assert_int_equal(part[2], part[1]);
            of[part[1]]++;
        }
        assert_true(fabs(of[0] / 20000.0 - 0.75) < 4 * sqrt(0.75 * 0.25 / 20000));
        mix_free(&x);
    }
    assert_int_equal(choose(&x, "a,few", "by-data", NULL), 0);
    assert_int_equal(mix_open(&x, NULL), 0);
    assert_int_equal(x.m[1].share, 1);
    mix_free(&x);
    static const char *const bad[][3] = {
        { "a,b", "a:3", "--mix leaves out b" },
        { "a,b", "a:3,b:1,a:1", "--mix names a twice" },
        { "a,b", "a:3,b:0", "expected NAME:N,NAME:N with N from 1 to 1000000" },
        { "a,b", "a:3,b:1000001", "expected NAME:N" },
        { "a,b", "a:3,b", "expected NAME:N" },
        { "a,b", "a:3,b:1x", "expected NAME:N" },
        { "a,b", "a:3,few:1", "--mix names few, which is not in --objective a,b" },
        { "a,b", "a:3,c:1", "--mix names c, which" },
        { "a,aux", "a:3,aux:1", "aux uses another objective's batches" },
        { "b,own", "b:3,own:1", "own uses another objective's batches" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(choose(&x, bad[i][0], bad[i][1], bad[i][2]), -1);
        mix_free(&x);
    }
    assert_int_equal(choose(&x, "a,b", "a:1000000,b:1", NULL), 0);
    mix_free(&x);
    /* what rides on the first one has no share, and needs none */
    assert_int_equal(choose(&x, "a,aux", "a:2", NULL), 0);
    assert_int_equal(x.shares, 2);
    mix_free(&x);
    assert_int_equal(choose(&x, "b,own", "by-data", NULL), 0);
    assert_int_equal(mix_open(&x, NULL), 0);
    assert_true(x.m[0].share == 1000000 && !x.m[1].share && x.shares == 1000000);
    mix_free(&x);
}

/* --- what a pass counts, and what a validation reports ---------------------------------------- */

static void a_pass_counts_rows_and_keeps_the_largest_batch(void **state)
{
    (void)state;
    struct pass p = { 0 };
    struct var h, e;
    pass_reads(&p, 30, 7);
    pass_reads(&p, 50, 5);
    pass_reads(&p, 20, 9);
    assert_int_equal(p.rows, 100);
    assert_int_equal(p.most_rows, 50);
    assert_int_equal(p.longest, 9);
    pass_predicts(&p, 4);
    pass_predicts(&p, 3);
    assert_int_equal(p.predicted, 4);
    p.h = &h;
    assert_ptr_equal(pass_states(&p, BATCH_ENCODER), &h);            /* without a decoder */
    assert_ptr_equal(pass_states(&p, BATCH_DECODER), &h);
    p.encoder = &e;
    assert_ptr_equal(pass_states(&p, BATCH_ENCODER), &e);
    assert_ptr_equal(pass_states(&p, BATCH_DECODER), &h);
    const float x[2] = { 1, 2 };
    pass_losses(&p, "mlm", x, 2);
    pass_losses(&p, "none", NULL, 3);
    pass_number(&p, "share", 1.5, 4);
    assert_int_equal(p.terms, 3);
    assert_true(p.term[0].x == x && p.term[0].n == 2 && !p.term[1].n);
    assert_true(p.term[2].sum == 1.5 && p.term[2].count == 4 && !p.term[2].n);
}

/* 4 tokens of 6 nats, one of them right: perplexity exp(1.5). The first metric judges. */
static void a_validation_is_one_line_and_its_first_metric(void **state)
{
    (void)state;
    char line[300];
    struct log *log = log_open("log");
    assert_non_null(log);
    struct report none = { .log = log, .step = 6 }, r = { .log = log, .step = 7 };
    assert_false(none.begun);
    struct masked_score s = { .nll = 6, .n = 4, .hits = 1 };
    report_judge(&r, masked_report(&s, "de", &r));
    report_put(&r, 0.5, "%s.%s", "x", "y");
    report_judge(&r, 3);
    assert_true(r.begun && r.judged && r.metric == 1.5);
    assert_true(log_end(log) == 0);
    log_close(log);
    FILE *f = fopen("log", "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    assert_null(fgets(line + 200, 100, f));
    fclose(f);
    assert_non_null(strstr(line, "\"valid\""));
    assert_non_null(strstr(line, "\"step\":7,"));
    assert_non_null(strstr(line, "\"de.perplexity\":4.48168907,\"de.accuracy\":0.25,\"x.y\":0.5"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_is_constant),
        cmocka_unit_test(between_its_points_it_is_linear_and_outside_it_stays),
        cmocka_unit_test(a_ramp_has_up_to_sixteen_points),
        cmocka_unit_test(what_is_no_ramp_is_refused),
        cmocka_unit_test(a_host_is_the_one_that_is_there_or_the_best),
        cmocka_unit_test(what_they_need_is_that_of_all_who_were_chosen),
        cmocka_unit_test(a_pass_of_weight_0_is_not_run),
        cmocka_unit_test(one_is_drawn_by_its_share),
        cmocka_unit_test(a_pass_counts_rows_and_keeps_the_largest_batch),
        cmocka_unit_test(a_validation_is_one_line_and_its_first_metric),
    };
    if (scratch_enter() < 0) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_leave();
    return failed;
}
