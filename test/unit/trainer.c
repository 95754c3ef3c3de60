/* Steps that the trainer does not wait for: on a device that lets nothing be read before somebody
 * waits, the log and the checkpoints are those of one that is done when a call returns, and so is
 * the end of a run whose gradient is not finite. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "lib/trainer/checkpoint.h"
#include "test/unit/scratch.h"

/* The CPU, whose fetched numbers come with the next sync only; the norm of step `bad` is
 * infinite. */
static struct {
    struct kernels k;
    int syncs, norms, bad;
    struct {
        void *to, *data;
        size_t n;
    } way[256];
    int n;
} device;

static void fetch(void *to, const void *from, size_t n)
{
    assert_true(device.n < 256);
    void *data = mem_alloc(n);
    memcpy(data, from, n);
    memset(to, 0xff, n);
    device.way[device.n].to = to;
    device.way[device.n].n = n;
    device.way[device.n++].data = data;
}

static int device_sync(void)
{
    device.syncs++;
    for (; device.n > 0; device.n--) {
        memcpy(device.way[device.n - 1].to, device.way[device.n - 1].data,
               device.way[device.n - 1].n);
        free(device.way[device.n - 1].data);
    }
    return 0;
}

static void norm2(const struct kern_norm2 *a)
{
    kernels_cpu()->norm2(a);
    if (++device.norms == device.bad) *a->out = INFINITY;
}

struct run {
    struct model m;
    struct tape t;
    struct trainer tr;
    struct state state;
    int losses;                  /* of a step */
    int64_t leave;               /* after this step, as when stopped; 0: never */
    int waited;                  /* steps that waited and had no reason to */
    const double *metric;        /* of each validation in turn; NULL: ever better */
    /* gradients of ones, asked for as operations ask; those of the tokens in every other step */
    bool ones;
    size_t all, tokens;          /* numbers of the model, and of its tokens */
    int status;
};

/* A first gradient is written over what is there, another one is added. */
static void write_ones(const struct run *r, int64_t step)
{
    const struct params *ps = &r->m.ps;
    for (int i = 0; i < ps->n; i++) {
        bool first;
        if (i == r->m.tokens && step % 2) continue;
        float *g = param_grad_of(ps, i, &first);
        for (size_t k = 0; k < ps->p[i].n; k++) g[k] = first ? 1 : g[k] + 1;
    }
}

static int steps(void *what, struct trainer *tr)
{
    struct run *r = what;
    const struct kernels *k = r->m.ps.k;
    int validations = 0;
    float *loss = mem_alloc((size_t)r->losses * sizeof *loss),
          *on = k->alloc((size_t)r->losses * sizeof *loss);
    int rc = 0;
    while (rc == 0 && trainer_go(tr) && (!r->leave || tr->step < r->leave)) {
        int before = device.syncs;
        for (int i = 0; i < r->losses; i++) loss[i] = (float)(tr->step + 1) + (float)(i % 100) / 7;
        k->upload(on, loss, (size_t)r->losses * sizeof *loss);
        if (r->ones) write_ones(r, tr->step);
        for (size_t i = 0; i < r->m.ps.total && !r->ones; i++)
            r->m.ps.grad[i] = (float)((i * 31 + (size_t)tr->step) % 17) - 8;
        rc = trainer_sum(tr, "loss", on, r->losses);
        if (rc == 0) rc = trainer_update(tr, 10);
        if (rc == 0 && trainer_due(tr)) {
            log_begin(tr->log, "valid", tr->step);
            double metric = r->metric ? r->metric[validations++] : 1.0 / (double)tr->step;
            rc = log_end(tr->log) < 0 ? -1 : trainer_judge(tr, metric);
        }
        if (rc == 0) rc = trainer_tick(tr);
        bool reason = tr->step % tr->o.log_every == 0 || tr->step % tr->o.valid_every == 0
                      || tr->step % tr->o.save_every == 0;
        r->waited += device.syncs > before && !reason;
    }
    k->release(on);
    free(loss);
    return rc;
}

/* A run of 40 steps in folder dir, on the CPU or on that device. */
static void run(struct run *r, const char *dir, bool queues, int bad,
                const struct trainer_options *o)
{
    struct trainer_options options = *o;
    struct model_config c;
    struct vocab *v = vocab_read(r->ones ? "large" : "vocab");
    assert_non_null(v);
    device.k = *kernels_cpu();
    device.k.norm2 = norm2;
    device.k.writes_first = r->ones;
    if (queues) { device.k.queues = true; device.k.fetch = fetch; device.k.sync = device_sync; }
    device.syncs = device.norms = 0;
    device.bad = bad;
    model_config_init(&c);
    c.layers = 1;
    c.dim = 8;
    c.ffn = 16;
    c.heads = 2;
    c.vocab = (int)v->n;
    c.vocab_hash = v->hash;
    c.positions = 8;
    c.n_langs = 1;
    strcpy(c.lang[0], "aa");
    assert_int_equal(model_new(&r->m, &c, &device.k, 1, true), 0);
    for (int i = 0; i < r->m.ps.n; i++) r->all += r->m.ps.p[i].n;
    r->tokens = r->m.ps.p[r->m.tokens].n;
    tape_init(&r->t, &device.k, &r->m.ps);
    options.dir = dir;
    options.steps = 40;
    options.warmup = 5;
    assert_int_equal(trainer_open(&r->tr, &options, &r->m, &r->t, v, &r->state), 0);
    r->status = trainer_run(&r->tr, steps, r, false, 0);
    r->leave = r->tr.step;                              /* where it stands, for the tests */
    trainer_free(&r->tr);
    tape_free(&r->t);
    model_free(&r->m);
    vocab_free(v);
}

/* The lines of a log, without what depends on the clock. */
static char *log_of(const char *dir)
{
    char path[256], line[1024], *all = mem_zero(1, 1 << 16);
    snprintf(path, sizeof path, "%s/log.jsonl", dir);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        char *time = strstr(line, "\"time\""), *speed = strstr(line, ",\"tokens_per_second\"");
        assert_non_null(time);
        char *after = strchr(time, ',');
        if (speed) *speed = 0;
        *time = 0;
        assert_true(strlen(all) + 2048 < 1 << 16);
        strcat(strcat(strcat(all, line), after ? after : ""), "\n");
    }
    fclose(f);
    return all;
}

static const struct trainer_options plain = { .lr = 1e-2,
                                              .beta1 = 0.9,
                                              .beta2 = 0.999,
                                              .eps = 1e-8,
                                              .clip = 5,
                                              .accumulate = 1,
                                              .save_every = 10,
                                              .schedule = SCHEDULE_INVERSE_SQRT,
                                              .valid_every = 20,
                                              .log_every = 8,
                                              .keep = 9,
                                              .lower_is_better = true };

static bool same_file(const char *a, const char *b)
{
    size_t n, m;
    char *x = file_read(a, &n), *y = file_read(b, &m);
    assert_non_null(x);
    assert_non_null(y);
    bool same = n == m && memcmp(x, y, n) == 0;
    free(x);
    free(y);
    return same;
}

static void a_run_that_does_not_wait_logs_and_saves_the_same(void **state)
{
    (void)state;
    /* 1,500,000 losses a step: the second step's wait has to come when a third would not fit */
    for (int i = 0, losses = 3; i < 2; i++, losses = 1500000) {
        struct run a = { .losses = losses }, b = { .losses = losses };
        char here[16], there[16], one[256], other[256];
        snprintf(here, sizeof here, "here%d", i);
        snprintf(there, sizeof there, "there%d", i);
        run(&a, here, false, 0, &plain);
        run(&b, there, true, 0, &plain);
        assert_int_equal(a.status, 0);
        assert_int_equal(b.status, 0);
        char *x = log_of(here), *y = log_of(there);
        assert_string_equal(x, y);
        assert_non_null(strstr(x, "\"step\":40,"));
        assert_non_null(strstr(x, "\"grad_norm\":"));
        free(x);
        free(y);
        for (int step = 10; step <= 40; step += 10) {
            snprintf(one, sizeof one, "%s/checkpoints/step-%08d/weights.safetensors", here, step);
            snprintf(other, sizeof other, "%s/checkpoints/step-%08d/weights.safetensors", there,
                     step);
            assert_true(same_file(one, other));
        }
        if (i == 0) assert_int_equal(b.waited, 0);
        else assert_in_range(b.waited, 10, 30);
    }
}

static void a_gradient_that_is_not_finite_ends_the_run_at_its_step_whenever_it_is_found(
    void **state)
{
    (void)state;
    struct run a = { .losses = 3 };
    run(&a, "at-once", false, 13, &plain);
    assert_int_equal(a.status, -1);
    assert_non_null(
        strstr(err_msg(), "at-once: the gradients of step 13 are not finite (learning rate "
                          "0.00620174); the newest checkpoint, of step 10, is from before"));
    assert_int_equal(a.leave, 12);
    char *want = log_of("at-once");
    assert_null(strstr(want, "\"step\":16"));
    /* found at a log line, at a validation, at a checkpoint, and when the run is stopped at step
     * 15 */
    static const struct { const char *name; int log, valid, save, leave;
    } late[] = { { "log", 8, 1000, 10, 0 },
                 { "valid", 8, 14, 10, 0 },
                 { "save", 8, 1000, 5, 0 },
                 { "stopped", 8, 1000, 10, 15 } };
    for (size_t i = 0; i < sizeof late / sizeof *late; i++) {
        struct trainer_options o = plain;
        o.log_every = late[i].log; o.valid_every = late[i].valid; o.save_every = late[i].save;
        struct run b = { .losses = 3, .leave = late[i].leave };
        run(&b, late[i].name, true, 13, &o);
        assert_int_equal(b.status, -1);
        assert_non_null(
            strstr(err_msg(), "the gradients of step 13 are not finite (learning rate 0.00620174); "
                              "the newest checkpoint, of step 10, is from before"));
        assert_int_equal(b.leave, 12);
        assert_int_equal(checkpoint_newest(late[i].name), 10);
        assert_in_range(device.norms, 14, 16);          /* it did go on */
        char *got = log_of(late[i].name);
        assert_string_equal(got, want);
        free(got);
    }
    free(want);
}

/* Where first gradients are written and not added to zeros, that of a matrix that nobody has
 * written is zeros, and not the step before's: of n ones the norm is sqrt(n). */
static void a_gradient_that_nobody_wrote_is_zeros(void **state)
{
    (void)state;
    struct trainer_options o = plain;
    o.log_every = 1;
    struct run r = { .losses = 3, .ones = true };
    run(&r, "ones", false, 0, &o);
    assert_int_equal(r.status, 0);
    char *log = log_of("ones"), *at = log;
    for (int64_t step = 0; step < 40; step++) {
        double ones = (double)(r.all - (step % 2 ? r.tokens : 0));
        at = strstr(at, "\"grad_norm\":");
        assert_non_null(at);
        at += strlen("\"grad_norm\":");
        assert_float_equal(strtod(at, NULL), sqrt(ones), 1e-3);
    }
    free(log);
}

/* Warm-up reaches the peak at its last step; then nothing, a straight line to 0 at the last step,
 * or peak * sqrt(warmup / step). By hand, for a peak of 8, 4 steps of warm-up and 20 in all. */
static void learning_rates_by_value(void **state)
{
    (void)state;
    static const struct { int schedule; int64_t step; double lr; } expected[] = {
        { SCHEDULE_CONSTANT, 1, 2 }, { SCHEDULE_CONSTANT, 3, 6 }, { SCHEDULE_CONSTANT, 4, 8 },
        { SCHEDULE_CONSTANT, 20, 8 }, { SCHEDULE_LINEAR, 2, 4 }, { SCHEDULE_LINEAR, 4, 8 },
        { SCHEDULE_LINEAR, 5, 7.5 }, { SCHEDULE_LINEAR, 12, 4 }, { SCHEDULE_LINEAR, 20, 0 },
        { SCHEDULE_INVERSE_SQRT, 1, 2 }, { SCHEDULE_INVERSE_SQRT, 4, 8 },
        { SCHEDULE_INVERSE_SQRT, 16, 4 },
    };
    struct trainer_options o = { .lr = 8, .warmup = 4, .steps = 20 };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        o.schedule = expected[i].schedule;
        assert_float_equal(trainer_lr(&o, expected[i].step), expected[i].lr, 1e-12);
    }
    o.warmup = 0;
    o.schedule = SCHEDULE_LINEAR;
    assert_float_equal(trainer_lr(&o, 5), 6, 1e-12);
    o.schedule = SCHEDULE_INVERSE_SQRT;
    assert_float_equal(trainer_lr(&o, 4), 4, 1e-12);
}

/* Validations at steps 4, 8, ...: the best one's step, and when patience over 3 that are no better
 * ends it. */
static void best_and_patience(void **state)
{
    (void)state;
    static const double metric[] = { 5, 3, 4, 3, 2.5, 2.75, 2.5, 2.625, 1, 1 };
    struct trainer_options o = plain;
    o.valid_every = 4; o.save_every = 1000; o.patience = 3;
    struct run lower = { .losses = 3, .metric = metric }, higher = lower;
    run(&lower, "lower", false, 0, &o);
    assert_int_equal(lower.status, 0);
    assert_int_equal(lower.leave, 32);               /* 2.5 at 20; 24, 28 and 32 are no better */
    assert_true(file_exists("lower/checkpoints/step-00000020/state.json"));
    assert_true(same_file("lower/best/weights.safetensors",
                          "lower/checkpoints/step-00000020/weights.safetensors"));
    assert_false(same_file("lower/best/weights.safetensors", "lower/last/weights.safetensors"));
    o.lower_is_better = false;
    run(&higher, "higher", false, 0, &o);
    assert_int_equal(higher.leave, 16);              /* 5 at 4 */
    assert_true(same_file("higher/best/weights.safetensors",
                          "higher/checkpoints/step-00000004/weights.safetensors"));
}

int main(void)
{
    if (scratch_enter() < 0 || file_write("vocab", "w0 3\nw1 2\nw2 1\n", 15) < 0) return 1;
    /* 8 numbers each: as many as a matrix has whose gradient may be missing (params.c) */
    FILE *large = fopen("large", "w");
    for (int i = 0; i < 1 << 13; i++) fprintf(large, "w%d 1\n", i);
    if (fclose(large) != 0) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_that_does_not_wait_logs_and_saves_the_same),
        cmocka_unit_test(
            a_gradient_that_is_not_finite_ends_the_run_at_its_step_whenever_it_is_found),
        cmocka_unit_test(a_gradient_that_nobody_wrote_is_zeros),
        cmocka_unit_test(learning_rates_by_value),
        cmocka_unit_test(best_and_patience),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_leave();
    return failed;
}
