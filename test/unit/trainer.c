/* Steps that the trainer does not wait for: on a device that lets nothing be read before somebody
 * waits, the log and the checkpoints are those of one that is done when a call returns, and so is
 * the end of a run whose gradient is not finite. What the log and the bar say, which checkpoints
 * stay, and who holds which part of the optimiser. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <fcntl.h>
#include <glob.h>
#include <math.h>
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>
#include "common/err.h"
#include "common/mem.h"
#include "lib/trainer/checkpoint.h"
#include "test/unit/near.h"
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
    const char *term;            /* in place of "loss"; then each is `constant` */
    float constant;
    int64_t leave;               /* after this step, as when stopped; 0: never */
    int waited;                  /* steps that waited and had no reason to */
    const double *metric;        /* of each validation in turn; NULL: ever better */
    char shown[200];             /* beside the bar, after step 20 */
    int64_t spoilt;              /* a weight is infinite after this step; 0: none */
    int64_t stop;                /* asked to stop in this step; 0: never */
    /* gradients of ones, asked for as operations ask; those of the tokens in every other step */
    bool ones;
    /* numbers of the model, and of its tokens; with what lies between tensors */
    size_t all, tokens, total;
    bool refused;                /* it does not begin */
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
        for (int i = 0; i < r->losses; i++)
            loss[i] = r->term ? r->constant : (float)(tr->step + 1) + (float)(i % 100) / 7;
        k->upload(on, loss, (size_t)r->losses * sizeof *loss);
        if (r->ones) write_ones(r, tr->step);
        for (size_t i = 0; i < r->m.ps.total && !r->ones; i++)
            r->m.ps.grad[i] = (float)((i * 31 + (size_t)tr->step) % 17) - 8;
        rc = trainer_sum(tr, r->term ? r->term : "loss", on, r->losses);
        if (rc == 0) rc = trainer_update(tr, 10);
        if (tr->step == r->spoilt) r->m.ps.value[0] = INFINITY;
        if (rc == 0 && trainer_due(tr)) {
            log_begin(tr->log, "valid", tr->step);
            double metric = r->metric ? r->metric[validations++] : 1.0 / (double)tr->step;
            rc = log_end(tr->log) < 0 ? -1 : trainer_judge(tr, metric);
        }
        if (rc == 0) rc = trainer_tick(tr);
        if (tr->step == r->stop) tr->stop_asked = true;
        if (tr->step == 20) memcpy(r->shown, tr->shown, sizeof r->shown);
        bool reason = tr->step % tr->o.log_every == 0 || tr->step % tr->o.valid_every == 0
                      || tr->step % tr->o.save_every == 0;
        r->waited += device.syncs > before && !reason;
    }
    k->release(on);
    free(loss);
    return rc;
}

/* A run of 40 steps in folder dir, on the CPU or on that device. A lock of an earlier run, which
 * lasts as long as this process, is taken away. */
static void run(struct run *r, const char *dir, bool queues, int bad,
                const struct trainer_options *o)
{
    struct trainer_options options = *o;
    struct model_config c;
    char lock[64];
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
    r->total = r->m.ps.total;
    tape_init(&r->t, &device.k, &r->m.ps);
    options.dir = dir;
    snprintf(lock, sizeof lock, "%s/.lock", dir);
    unlink(lock);
    options.steps = 40;
    options.warmup = 5;
    int opened = trainer_open(&r->tr, &options, &r->m, &r->t, v, &r->state);
    assert_int_equal(opened, r->refused ? -1 : 0);
    if (opened == 0) r->status = trainer_run(&r->tr, steps, r, false, 0);
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

/* Asked to stop in step 5: at once, or where steps belong together in fours, when they are done;
 * the state is saved there, and the status is 75. */
static void a_stop_comes_where_steps_end_that_belong_together(void **state)
{
    (void)state;
    struct trainer_options o = plain;
    o.valid_every = 1000;
    for (int together = 1; together <= 4; together += 3) {
        const char *dir = together > 1 ? "stop-fours" : "stop-at-once";
        struct run r = { .losses = 3, .stop = 5 };
        o.period = together;
        o.save_every = 20;
        run(&r, dir, false, 0, &o);
        assert_int_equal(r.status, 75);
        assert_int_equal(r.leave, together > 1 ? 8 : 5);
        assert_int_equal(checkpoint_newest(dir), r.leave);
    }
}

/* A step that overflows shows only in the weights: no checkpoint is made of them. */
static void weights_that_are_not_finite_are_never_saved(void **state)
{
    (void)state;
    struct trainer_options o = plain;
    o.valid_every = 1000;
    for (int early = 0; early < 2; early++) {
        const char *dir = early ? "spoilt-early" : "spoilt";
        struct run r = { .losses = 3, .spoilt = early ? 3 : 13 };
        run(&r, dir, false, 0, &o);
        assert_int_equal(r.status, -1);
        const char *why = early ? "spoilt-early: the weights of step 10 are not finite (learning "
                                  "rate 0.00707107); there is no checkpoint yet; lower --lr"
                                : "spoilt: the weights of step 20 are not finite (learning rate "
                                  "0.005); the newest checkpoint, of step 10, is from before; ";
        assert_non_null(strstr(err_msg(), why));
        assert_int_equal(checkpoint_newest(dir), early ? -1 : 10);
    }
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
        assert_near(strtod(at, NULL), sqrt(ones), 1e-3);
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
        assert_near(trainer_lr(&o, expected[i].step), expected[i].lr, 1e-12);
    }
    o.warmup = 0;
    o.schedule = SCHEDULE_LINEAR;
    assert_near(trainer_lr(&o, 5), 6, 1e-12);
    o.schedule = SCHEDULE_INVERSE_SQRT;
    assert_near(trainer_lr(&o, 4), 4, 1e-12);
}

/* Adam's own constants (Kingma and Ba 2015), and the schedule of Vaswani et al. 2017. */
static void what_is_not_said_of_a_training(void **state)
{
    (void)state;
    struct trainer_options o;
    memset(&o, 0xff, sizeof o);
    trainer_options_init(&o);
    assert_true(o.steps == 100000 && o.lr == 1e-4 && o.warmup == 10000);
    assert_int_equal(o.schedule, SCHEDULE_INVERSE_SQRT);
    assert_int_equal(o.optimizer, OPTIMIZER_ADAM);
    assert_true(o.beta1 == 0.9 && o.beta2 == 0.999 && o.eps == 1e-8 && o.weight_decay == 0);
    assert_true(o.clip == 5 && o.accumulate == 1 && o.period == 1 && o.head_lr < 0);
    assert_true(o.save_every == 1000 && o.valid_every == 1000 && o.log_every == 50);
    assert_true(o.keep == 2 && !o.patience && !o.save_seconds && !o.stop_after);
    assert_true(o.rank_timeout == 15 && o.lower_is_better && !o.tree && !o.resume);
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
    /* one that patience has ended goes on with more of it: 5 at 36 is no better either */
    o.lower_is_better = o.resume = true;
    for (int more = 0; more < 2; more++) {
        struct run again = { .losses = 3, .metric = metric };
        o.patience = 3 + more;
        run(&again, "lower", false, 0, &o);
        assert_int_equal(again.status, 0);
        assert_int_equal(again.leave, more ? 36 : 32);
    }
}

/* A run that goes on may have files of other names, and not of other languages; TensorBoard is told
 * that what it has of the next step and after is void (a session starts at step 21, 0x15). */
static void a_run_goes_on_with_files_that_were_moved(void **state)
{
    (void)state;
    static const char *const named[] = { "train", "valid", "parallel", "valid-parallel", "pseudo",
                                         "dict", "mask-ngrams", "train-parallel", "cooc" };
    struct trainer_options o = plain;
    struct run first = { .losses = 3, .leave = 20 }, other = { .losses = 3, .refused = true };
    char then[1024] = "", now[1024] = "", wrong[64], want[200];
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        snprintf(then + strlen(then), sizeof then - strlen(then), "%s = aa=old\n", named[i]);
        snprintf(now + strlen(now), sizeof now - strlen(now), "%s = aa=new/%zu\n", named[i], i);
    }
    o.config = then;
    run(&first, "moved", false, 0, &o);
    o.resume = o.tensorboard = true;
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        snprintf(wrong, sizeof wrong, "%s = ab=old\n", named[i]);
        o.config = wrong;
        run(&other, "moved", false, 0, &o);
        snprintf(want, sizeof want, "moved/run.config: the run began with --%s aa=old, not ab=old",
                 named[i]);
        if (!strstr(err_msg(), want)) fail_msg("%s", err_msg());
    }
    struct run second = { .losses = 3 };
    o.config = now;
    run(&second, "moved", false, 0, &o);
    assert_int_equal(second.leave, 40);
    glob_t g;
    size_t n;
    assert_int_equal(glob("moved/tensorboard/events.out.tfevents.*", 0, NULL, &g), 0);
    assert_int_equal(g.gl_pathc, 1);
    char *events = file_read(g.gl_pathv[0], &n);
    assert_non_null(memmem(events, n, "\x10\x15\x3a\x02\x08\x01", 6));
    free(events);
    globfree(&g);
}

/* The value of "key": in the line of a log. */
static double logged(const char *line, const char *key)
{
    char name[32];
    snprintf(name, sizeof name, "\"%s\":", key);
    const char *at = strstr(line, name);
    if (!at || at > line + strcspn(line, "\n")) fail_msg("no %s in %.200s", key, line);
    return strtod(at + strlen(name), NULL);
}

/* A line has the means since the one before: of three losses of a step, (step) + (0, 1, 2) / 7, and
 * of a norm for each step; the last step's rate, peak * sqrt(warmup / step); tokens so far. */
static void a_line_of_the_log_has_the_means_since_the_one_before(void **state)
{
    (void)state;
    struct run r = { .losses = 3 };
    struct trainer_options o = plain;
    o.log_every = 12;
    run(&r, "means", false, 0, &o);
    assert_int_equal(r.status, 0);
    char *log = log_of("means"), *line = log;
    for (int from = 0, to; from < 40; from = to, line += strcspn(line, "\n") + 1) {
        to = from + 12 < 40 ? from + 12 : 40;            /* and one of the last step */
        while (strstr(line, "\"valid\"") && strstr(line, "\"valid\"") < strchr(line, '\n'))
            line = strchr(line, '\n') + 1;
        double norms = 0;
        for (int step = from; step < to; step++) {
            double squares = 0;
            for (size_t i = 0; i < r.total; i++)
                squares += pow((double)((i * 31 + (size_t)step) % 17) - 8, 2);
            norms += sqrt(squares);
        }
        assert_true(logged(line, "step") == to);
        assert_near(logged(line, "loss"), (from + 1 + to) / 2.0 + 1.0 / 7, 1e-5);
        assert_near(logged(line, "grad_norm"), norms / (to - from), 1e-2);
        assert_near(logged(line, "lr"), 1e-2 * sqrt(5.0 / to), 1e-9);
        assert_true(logged(line, "tokens") == 10 * to);
    }
    free(log);
}

/* A run whose loss is at the end more than three times that of a uniform guess, ln 8 of the eight
 * tokens, is no model, and that is said; not of numbers that are no cross-entropy. */
static void a_loss_far_above_a_guess_is_told_at_the_end(void **state)
{
    (void)state;
    static const struct { const char *term; float loss; bool told; } t[] = {
        { "mlm", 6.24f, true }, { "mlm", 6.23f, false }, { "back", 7, true }, { "moco", 7, false },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct run r = { .losses = 2, .term = t[i].term, .constant = t[i].loss };
        struct trainer_options o = plain;
        char dir[16], want[100];
        size_t n;
        snprintf(dir, sizeof dir, "far%zu", i);
        int before = dup(2), to = open("said", O_WRONLY | O_CREAT | O_TRUNC, 0600);
        assert_true(before >= 0 && to >= 0 && dup2(to, 2) == 2);
        run(&r, dir, false, 0, &o);
        assert_int_equal(dup2(before, 2), 2);
        close(before);
        close(to);
        assert_int_equal(r.status, 0);
        char *said = file_read("said", &n);
        assert_non_null(said);
        snprintf(want, sizeof want, "%s: the run has diverged: its %s loss is %g nats per token at "
                 "the end, and a", dir, t[i].term, (double)t[i].loss);
        if (t[i].told && !strstr(said, want)) fail_msg("%s", said);
        assert_true(t[i].told == (strstr(said, "diverged") != NULL));
        if (t[i].told) assert_non_null(strstr(said, "guess among 8 tokens costs 2.08; lower --lr"));
        /* once, though it was so in each line */
        if (t[i].told) assert_null(strstr(strstr(said, "diverged") + 1, "diverged"));
        free(said);
    }
}

/* There is room for 32 names; those after them are passed over, and the others go on. */
static void a_log_has_32_names(void **state)
{
    (void)state;
    const struct params ps = { .k = kernels_cpu() };
    struct metrics m;
    char name[24];
    assert_int_equal(metrics_open(&m, &ps), 0);
    for (int again = 0; again < 2; again++)
        for (int i = 0; i < 40; i++) {
            snprintf(name, sizeof name, "number%d", i);
            metrics_term(&m, name, i, 1);
        }
    assert_int_equal(metrics_all(&m), 0);
    assert_int_equal(m.n, 32);
    for (int i = 0; i < 32; i++) {
        snprintf(name, sizeof name, "number%d", i);
        assert_string_equal(m.term[i].name, name);
        assert_true(m.term[i].sum == 2 * i && m.term[i].count == 2);
    }
    metrics_free(&m);
}

/* Beside the bar of a terminal stand the means since the last line of the log: after step 20 those
 * of steps 17 to 20, and the rate of that step. */
static void the_bar_has_the_means_since_the_last_line(void **state)
{
    (void)state;
    int terminal, status;
    pid_t pid = forkpty(&terminal, NULL, NULL, NULL);
    assert_true(pid >= 0);
    if (pid == 0) {
        struct run r = { .losses = 3 };
        struct trainer_options o = plain;
        double norms = 0;
        char want[200];
        o.valid_every = 1000;
        run(&r, "bar", false, 0, &o);
        for (size_t step = 16; step < 20; step++) {
            double squares = 0;
            for (size_t i = 0; i < r.total; i++)
                squares += pow((double)((i * 31 + step) % 17) - 8, 2);
            norms += sqrt(squares) / 4;
        }
        snprintf(want, sizeof want, "loss 18.643  grad_norm %.2f", norms);
        _exit(strncmp(r.shown, want, strlen(want)) || !strstr(r.shown, "  lr 0.005  ")
              || !strstr(r.shown, " tokens/s"));
    }
    /* what it draws has to go somewhere */
    char drawn[256];
    while (read(terminal, drawn, sizeof drawn) > 0) { }
    close(terminal);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* --- which checkpoints stay --- */

static void folder(const char *path)
{
    if (dir_make(path) < 0) fail_msg("%s", err_msg());
}

/* Of the numbered ones those stay, in this order: "1 20 ". */
static void stay(const char *dir, const char *expected)
{
    char left[200] = "", path[100];
    for (int step = 0; step <= 200; step++) {
        snprintf(path, sizeof path, "%s/checkpoints/step-%08d", dir, step);
        if (file_exists(path))
            snprintf(left + strlen(left), sizeof left - strlen(left), "%d ", step);
        strcat(path, ".tmp");
        assert_false(file_exists(path));
    }
    assert_string_equal(left, expected);
}

/* The newest, the best, and the last `keep` of those at multiples of `every` and at `last`. */
static void checkpoints_that_stay_are_the_last_ones_the_newest_and_the_best(void **state)
{
    (void)state;
    static const struct { struct checkpoint_keep keep; const char *stay; } t[] = {
        { { 9, 10, 47, -1 }, "10 20 30 40 47 " },
        { { 2, 10, 100, -1 }, "30 40 47 " },                 /* 47: the clock's, and the newest */
        { { 2, 10, 47, -1 }, "40 47 " },
        { { 1, 10, 47, 25 }, "25 47 " },
        { { 1, 10, 100, 20 }, "20 40 47 " },
        { { 1, 0, 47, -1 }, "47 " },
        { { 2, 0, 25, 5 }, "5 25 47 " },
        { { 1, 5, 100, 47 }, "40 47 " },
    };
    static const int steps[] = { 5, 10, 20, 25, 30, 31, 40, 47 };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        char dir[32], path[100];
        snprintf(dir, sizeof dir, "keep%zu", i);
        snprintf(path, sizeof path, "%s/checkpoints", dir);
        folder(dir);
        folder(path);
        for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
            snprintf(path, sizeof path, "%s/checkpoints/step-%08d", dir, steps[k]);
            folder(path);
        }
        assert_int_equal(checkpoint_prune(dir, &t[i].keep), 0);
        stay(dir, t[i].stay);
        assert_int_equal(checkpoint_newest(dir), 47);
    }
    /* of what was interrupted nothing stays; what has another name is no checkpoint */
    static const char *const other[] = { "step-00000050.tmp", "step-00000090x", "notes" };
    char path[100];
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "keep0/checkpoints/%s", other[i]);
        folder(path);
    }
    assert_int_equal(checkpoint_newest("keep0"), 47);
    assert_int_equal(checkpoint_sweep("keep0"), 0);
    assert_false(file_exists("keep0/checkpoints/step-00000050.tmp"));
    assert_true(file_exists("keep0/checkpoints/step-00000090x"));
    assert_true(file_exists("keep0/checkpoints/notes"));
    stay("keep0", t[0].stay);
    assert_int_equal(checkpoint_newest("nowhere"), -1);
    assert_int_equal(checkpoint_prune("nowhere", &t[0].keep), 0);
    assert_int_equal(checkpoint_sweep("nowhere"), 0);
}

/* What ranks compare: a hash of all data in their order, each seeded by what came before, of files
 * by their checksums; alone, and of pipes, which cannot be read twice, there is none. */
static void data_are_summed_in_their_order(void **state)
{
    (void)state;
    struct state s = { 0 };
    char hex[32];
    state_sum(&s, "ab", 2);
    state_sum(NULL, "ab", 2);
    assert_true(s.data == 0);
    s.summed = true;
    state_sum(&s, "ab", 2);
    uint64_t sum = XXH3_64bits("ab", 2);
    assert_true(s.data == sum);
    assert_int_equal(file_write("summed", "some text\n", 10), 0);
    assert_int_equal(state_sum_file(&s, "summed"), 0);
    snprintf(hex, sizeof hex, "%016llx", (unsigned long long)XXH3_64bits("some text\n", 10));
    sum = XXH3_64bits_withSeed(hex, 16, sum);
    assert_true(s.data == sum);
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_int_equal(state_sum_file(&s, "pipe"), 0);
    assert_int_equal(state_sum_file(&s, "nowhere"), 0);
    assert_int_equal(state_sum_file(NULL, "summed"), 0);
    assert_true(s.data == sum);
    s.summed = false;
    assert_int_equal(state_sum_file(&s, "summed"), 0);
    assert_true(s.data == sum);
}

/* --- who holds which part of the optimiser --- */

/* Floats that travel together: an eighth of all, from 64 Ki to 1 Mi (16 Mi between GPUs), in whole
 * grains of 32 Ki for each rank. */
static void a_piece_is_an_eighth_in_whole_grains(void **state)
{
    (void)state;
    static const struct { size_t total; int size; bool gpu; size_t piece; } t[] = {
        { 1 << 10, 1, false, 1 << 16 },
        { 1 << 10, 3, false, 3 << 15 },
        { 1 << 20, 1, false, 1 << 17 },
        { 1 << 20, 3, false, 3 << 15 },              /* 4 grains: one each */
        { 10 << 20, 1, false, 1 << 20 },
        { 10 << 20, 3, false, 30 << 15 },            /* of 32 grains */
        { 10 << 20, 3, true, 39 << 15 },             /* of 40 */
        { (size_t)1 << 30, 1, true, 16 << 20 },
        { (size_t)1 << 30, 5, true, 510 << 15 },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        assert_int_equal(sharded_piece(t[i].total, t[i].size, t[i].gpu), t[i].piece);
}

static void adams_parts_are_grains_and_lambs_are_tensors(void **state)
{
    (void)state;
    /* 200,000 numbers: two pieces of a grain for each of three ranks, and one of 3,392 numbers */
    const size_t grain = 1 << 15;
    struct param tensor[] = { { .at = 0 }, { .at = 64 }, { .at = 320 }, { .at = 384 } };
    struct params ps = { .k = kernels_cpu(), .total = 200000, .p = tensor, .n = 4 };
    struct sharded_optimizer s;
    sharded_open(&s, &ps, NULL, 3, false);
    assert_int_equal(s.pieces, 3);
    assert_true(s.reduce_scatter);
    for (int k = 0; k < 3; k++)
        for (int r = 0; r <= 3; r++) {
            size_t at = k < 2 ? (size_t)(3 * k + r) * grain : r < 3 ? 6 * grain : 200000;
            assert_int_equal(sharded_of(&s, k)[r], at);
        }
    for (int r = 0; r < 3; r++)
        assert_int_equal(sharded_held(&s, r), 2 * grain + (r < 2 ? 0 : 200000 - 6 * grain));
    sharded_free(&s);
    sharded_lay_out(&ps, 3, 1, false);
    assert_int_equal(ps.moments, 2 * grain);
    sharded_lay_out(&ps, 3, -1, false);                      /* the one with the most */
    assert_int_equal(ps.moments, 200000 - 4 * grain);
    /* whole tensors at 0, 64, 320, 384 of 640; two ranks: 320 is half; three: a third is 213, and
     * 64 is not as near as 320, two thirds are 426, and 384 is nearest */
    ps.total = 640;
    static const size_t two[] = { 0, 320, 640 }, three[] = { 0, 320, 384, 640 };
    for (int size = 2; size <= 3; size++) {
        sharded_open(&s, &ps, NULL, size, true);
        assert_int_equal(s.pieces, 1);
        assert_false(s.reduce_scatter);
        assert_memory_equal(sharded_of(&s, 0), size == 2 ? two : three,
                            ((size_t)size + 1) * sizeof *two);
        sharded_free(&s);
    }
    sharded_lay_out(&ps, 3, -1, true);
    assert_int_equal(ps.moments, 320);
    sharded_lay_out(&ps, 3, 1, true);
    assert_int_equal(ps.moments, 64);
    /* where a tensor too many is further off than one too few, it is left */
    tensor[1].at = 64; tensor[2].at = 448; tensor[3].at = 512;
    sharded_open(&s, &ps, NULL, 3, true);
    static const size_t fewer[] = { 0, 64, 448, 640 };
    assert_memory_equal(sharded_of(&s, 0), fewer, sizeof fewer);
    sharded_free(&s);
}

/* What the memory plan adds for a tree of gradients: nodes that wait while the next micro-batch is
 * computed (of eight in one process 4 + 2 + 1, before the last), and the nodes of all ranks, four
 * pieces of 4 MiB at a time, shared by the ranks. */
static void nodes_that_wait_and_travel_are_counted(void **state)
{
    (void)state;
    static const struct { int leaves, ranks, wait, nodes; } t[] = {
        { 1, 1, 0, 1 }, { 2, 1, 1, 1 }, { 8, 1, 3, 1 }, { 7, 1, 2, 3 }, { 8, 2, 2, 2 },
        { 5, 2, 1, 3 },                              /* 0 1 | 2 3, 4 */
        { 6, 4, 1, 5 },                              /* 0 | 1, 2 | 3 | 4 5: 1 and 2 are two */
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        assert_int_equal(gradients_buffers(t[i].leaves, t[i].ranks), t[i].wait);
        size_t all = ((size_t)16 << 20) * (size_t)t[i].nodes;
        assert_int_equal(gradients_messages(t[i].leaves, t[i].ranks, false),
                         t[i].ranks > 1 ? all / (size_t)t[i].ranks : 0);
    }
    assert_int_equal(gradients_messages(8, 2, true), (size_t)256 << 20);
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
        cmocka_unit_test(a_stop_comes_where_steps_end_that_belong_together),
        cmocka_unit_test(weights_that_are_not_finite_are_never_saved),
        cmocka_unit_test(a_gradient_that_nobody_wrote_is_zeros),
        cmocka_unit_test(learning_rates_by_value),
        cmocka_unit_test(what_is_not_said_of_a_training),
        cmocka_unit_test(best_and_patience),
        cmocka_unit_test(a_run_goes_on_with_files_that_were_moved),
        cmocka_unit_test(a_line_of_the_log_has_the_means_since_the_one_before),
        cmocka_unit_test(a_loss_far_above_a_guess_is_told_at_the_end),
        cmocka_unit_test(a_log_has_32_names),
        cmocka_unit_test(the_bar_has_the_means_since_the_last_line),
        cmocka_unit_test(checkpoints_that_stay_are_the_last_ones_the_newest_and_the_best),
        cmocka_unit_test(data_are_summed_in_their_order),
        cmocka_unit_test(a_piece_is_an_eighth_in_whole_grains),
        cmocka_unit_test(adams_parts_are_grains_and_lambs_are_tensors),
        cmocka_unit_test(nodes_that_wait_and_travel_are_counted),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_leave();
    return failed;
}
