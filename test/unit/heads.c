/* Heads of a model: in config.json and back, what they compute, where their weights come from;
 * arrays of objectives in checkpoints. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/msg.h"
#include "lib/model/model.h"
#include "lib/model/sum.h"
#include "lib/trainer/checkpoint.h"
#include "test/unit/scratch.h"

static const char *const nli[] = { "entailment", "neutral", "contradiction" };

static struct vocab *vocabulary(void)
{
    static const char text[] = "a 3\nb 2\nc 1\n";
    assert_int_equal(file_write("vocab.txt", text, sizeof text - 1), 0);
    struct vocab *v = vocab_read("vocab.txt");
    assert_non_null(v);
    return v;
}

static struct model_config small(const struct vocab *v)
{
    struct model_config c;
    model_config_init(&c);
    c.layers = 1; c.dim = 6; c.ffn = 8; c.heads = 2; c.positions = 8;
    c.vocab = (int)v->n; c.vocab_hash = v->hash;
    c.dropout = c.attention_dropout = 0;
    return c;
}

static void with_heads(struct model_config *c)
{
    int at;
    assert_int_equal(model_config_head(c, "nli", KERN_TANH, 3, nli, 3, &at), 0);
    assert_int_equal(at, 0);
    assert_int_equal(model_config_head(c, "span", KERN_NONE, 1, NULL, 0, &at), 0);
    assert_int_equal(at, 1);
}

static void the_configuration_says_them_and_reads_them(void **state)
{
    (void)state;
    struct vocab *v = vocabulary();
    struct model_config c = small(v), d;
    char *without = model_config_json(&c);
    assert_null(strstr(without, "task_heads"));
    with_heads(&c);
    char *one = model_config_json(&c);
    assert_non_null(strstr(
        one,
        "\"task_heads\": [{\"name\": \"nli\", \"hidden\": \"tanh\", \"outputs\": 3, \"labels\": "
        "[\"entailment\", \"neutral\", \"contradiction\"]}, {\"name\": \"span\", \"hidden\": "
        "\"none\", "
        "\"outputs\": 1}],\n"));
    assert_int_equal(model_config_parse(&d, one, "config.json"), 0);
    char *two = model_config_json(&d);
    assert_string_equal(one, two);
    free(one); free(two); free(without);
    vocab_free(v);
}

/* The first keys of a head that gives spans. */
#define SPAN(n) "{\"name\": \"s\", \"hidden\": \"none\", \"outputs\": " #n

static void bad_heads_are_refused_by_line(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        { "{\"name\": \"x y\", \"hidden\": \"none\", \"outputs\": 2}",
          "a name is up to 31 letters" },
        { "{\"name\": \"x\", \"hidden\": \"none\", \"outputs\": 0}", "outputs is 0" },
        { "{\"name\": \"x\", \"hidden\": \"none\", \"outputs\": 2.5}", "a head has" },
        { "{\"name\": \"x\", \"hidden\": \"sin\", \"outputs\": 2}", "a head has" },
        { "{\"name\": \"x\", \"hidden\": \"none\", \"outputs\": 2, \"more\": 1}", "a head has" },
        { "{\"name\": \"x\", \"hidden\": \"none\", \"outputs\": 2, \"labels\": [\"a\"]}",
          "1 labels for 2 outputs" },
        { "{\"name\": \"x\", \"hidden\": \"none\", \"outputs\": 2, \"labels\": [\"a\", \"a\"]}",
          "\"a\" appears twice" },
        { "{\"name\": \"x\", \"hidden\": \"none\", \"outputs\": 1, \"labels\": [\"a\\\\b\"]}",
          "a quote or a backslash" },
        { "{\"name\": \"x\", \"hidden\": \"none\", \"outputs\": 1}, {\"name\": \"x\", \"hidden\": "
          "\"none\", \"outputs\": 1}",
          "head x appears twice" },
        { "3", "a head has" },
        { "{\"hidden\": \"none\", \"outputs\": 2}", "a head has" },
        { "{\"name\": \"x\", \"outputs\": 2}", "a head has" },
        { "{\"name\": \"x\", \"hidden\": \"none\"}", "a head has" },
        { "{\"name\": 7, \"hidden\": \"none\", \"outputs\": 2}", "a head has" },
        { "{\"name\": \"x\", \"hidden\": \"none\", \"outputs\": 2, \"labels\": [\"a\", 5]}",
          "a head has" },
        { "{\"name\": \"x\", \"hidden\": \"none\", \"outputs\": 2, \"labels\": \"ab\"}",
          "a head has" },
        { SPAN(2) ", \"task\": \"span\", \"no_answer\": 1}", "a head has" },
        { SPAN(2) ", \"task\": \"span\", \"pair\": \"three\"}", "a head has" },
        { SPAN(2) ", \"task\": \"spans\"}", "a head has" },
        { SPAN(2) ", \"longest\": 9}", "a head has" },
        { SPAN(2) ", \"task\": \"class\", \"longest\": 8}", "its task needs labels" },
        { SPAN(2) ", \"task\": \"tag\", \"longest\": 2}", "longest is 2; it must be 3 or more" },
        { SPAN(2) ", \"task\": \"span\", \"pair\": \"two\", \"longest\": 5}",
          "longest is 5; it must be 6 or more" },
        { SPAN(1) ", \"task\": \"span\", \"longest\": 9}", "spans have two outputs" },
        { SPAN(2) ", \"task\": \"span\", \"longest\": 9, \"stride\": 3}", "must be at least 1" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct model_config c;
        char json[600];
        snprintf(json, sizeof json, "{\n\"vocab\": 8,\n\"task_heads\": [%s]\n}\n", bad[i][0]);
        assert_int_equal(model_config_parse(&c, json, "config.json"), -1);
        if (!strstr(err_msg(), bad[i][1]) || strncmp(err_msg(), "config.json:3: ", 15))
            fail_msg("%s", err_msg());
    }
}

/* One more of anything than a head may have is refused, and the last that fits is taken. */
static void a_head_has_limits(void **state)
{
    (void)state;
    struct model_config c;
    char names[MODEL_LABELS + 1][MODEL_NAME + 1];
    const char *label[MODEL_LABELS + 1];
    int at;
    model_config_init(&c);
    c.vocab = 8;
    char *name = names[0];
    memset(name, 'x', MODEL_NAME);
    name[MODEL_NAME] = '\0';                                 /* 32 bytes */
    assert_int_equal(model_config_head(&c, name, KERN_NONE, 2, NULL, 0, &at), -1);
    assert_non_null(strstr(err_msg(), "a name is up to 31 letters"));
    label[0] = name; label[1] = "b";
    assert_int_equal(model_config_head(&c, "x", KERN_NONE, 2, label, 2, &at), -1);
    assert_non_null(strstr(err_msg(), "label 1 is empty or longer than 31 bytes"));
    label[0] = "";
    assert_int_equal(model_config_head(&c, "x", KERN_NONE, 2, label, 2, &at), -1);
    static const char *const bad[] = { "a\"", "\\", "a\tb", "\x1f", "\x7f" };
    for (int i = 0; i < 5; i++) {
        label[0] = bad[i];
        assert_int_equal(model_config_head(&c, "x", KERN_NONE, 2, label, 2, &at), -1);
        assert_non_null(strstr(err_msg(), "label 1 holds a control character"));
    }
    name[MODEL_NAME - 1] = '\0';                             /* 31 */
    label[0] = name;
    assert_int_equal(model_config_head(&c, name, KERN_NONE, 2, label, 2, &at), 0);
    assert_string_equal(c.head[0].name, name);
    assert_string_equal(c.head[0].label[0], name);
    label[0] = " ";                                          /* the first that is no control */
    assert_int_equal(model_config_head(&c, "blank", KERN_NONE, 2, label, 2, &at), 0);
    assert_int_equal(model_config_head(&c, "wide", KERN_NONE, 65537, NULL, 0, &at), -1);
    assert_non_null(strstr(err_msg(), "outputs is 65537, not from 1 to 65536"));
    assert_int_equal(model_config_head(&c, "wide", KERN_NONE, 65536, NULL, 0, &at), 0);
    for (int i = 0; i <= MODEL_LABELS; i++) {
        snprintf(names[i], sizeof names[i], "l%d", i);
        label[i] = names[i];
    }
    int most = MODEL_LABELS;
    assert_int_equal(model_config_head(&c, "l", KERN_NONE, most + 1, label, most + 1, &at), -1);
    assert_non_null(strstr(err_msg(), "labels; at most"));
    assert_int_equal(model_config_head(&c, "l", KERN_NONE, most, label, most, &at), 0);
    for (at = 3; c.n_heads < MODEL_HEADS; ) {
        char other[16];
        snprintf(other, sizeof other, "h%d", c.n_heads);
        int before = at;
        assert_int_equal(model_config_head(&c, other, KERN_NONE, 1, NULL, 0, &at), 0);
        assert_int_equal(at, before + 1);
    }
    assert_int_equal(model_config_head(&c, "more", KERN_NONE, 1, NULL, 0, &at), -1);
    assert_non_null(strstr(err_msg(), "head more: a model has at most"));
    /* all of them, with their longest labels, are written and read */
    struct model_config d;
    assert_int_equal(model_config_check(&c), 0);
    char *json = model_config_json(&c);
    if (model_config_parse(&d, json, "config.json") < 0) fail_msg("%s", err_msg());
    assert_int_equal(d.n_heads, MODEL_HEADS);
    assert_string_equal(d.head[3].label[most - 1], names[most - 1]);
    free(json);
    c.n_heads++;
    assert_int_equal(model_config_check(&c), -1);
}

/* <s> w </s>, <s> a </s> b </s> and <s> a </s> </s> b </s> are the shortest that are read. */
static void what_a_head_reads_has_limits(void **state)
{
    (void)state;
    static const struct { struct model_reads least; int outputs, labels; } t[] = {
        { { .task = MODEL_TASK_TAG, .longest = 3 }, 2, 2 },
        { { .task = MODEL_TASK_CLASS, .longest = 5 }, 2, 2 },
        { { .task = MODEL_TASK_CLASS, .longest = 6, .pair_two = true }, 2, 2 },
        { { .task = MODEL_TASK_SPAN, .longest = 5, .question = 1, .stride = 1 }, 2, 0 },
    };
    static const char *const label[] = { "a", "b" };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct model_config c;
        int at;
        model_config_init(&c);
        c.vocab = 8;
        assert_int_equal(model_config_head(&c, "x", KERN_NONE, t[i].outputs, label, t[i].labels,
                                           &at), 0);
        c.head[0].reads = t[i].least;
        if (model_config_check(&c) < 0) fail_msg("%s", err_msg());
        c.head[0].reads.longest--;
        assert_int_equal(model_config_check(&c), -1);
        for (int k = 0; k < 3 && t[i].least.task == MODEL_TASK_SPAN; k++) {
            c.head[0].reads = t[i].least;
            if (k == 0) c.head[0].reads.question = 0;
            if (k == 1) c.head[0].reads.stride = 0;
            if (k == 2) {
                c.head[0].n_labels = 2;
                strcpy(c.head[0].label[0], "a");
                strcpy(c.head[0].label[1], "b");
            }
            assert_int_equal(model_config_check(&c), -1);
        }
    }
}

/* What a head reads is written, comes back, and has to fit the model's positions. */
static void the_configuration_says_what_heads_read(void **state)
{
    (void)state;
    struct vocab *v = vocabulary();
    struct model_config c = small(v), d;
    int at;
    with_heads(&c);
    assert_int_equal(model_config_head(&c, "qa", KERN_NONE, 2, NULL, 0, &at), 0);
    c.head[0].reads = (struct model_reads){ MODEL_TASK_CLASS, .longest = 8 };
    c.head[2].reads = (struct model_reads){ MODEL_TASK_SPAN, true, 7, 3, 2, true };
    char *json = model_config_json(&c);
    assert_non_null(strstr(json, "\"contradiction\"], \"task\": \"class\", \"pair\": \"one\", "
                                 "\"longest\": 8}, {"));
    assert_non_null(strstr(json, "\"outputs\": 2, \"task\": \"span\", \"pair\": \"two\", "
                                 "\"longest\": 7, \"question\": 3, \"stride\": 2, "
                                 "\"no_answer\": true}],\n"));
    assert_int_equal(model_config_parse(&d, json, "config.json"), 0);
    for (int i = 0; i < 3; i++)
        assert_memory_equal(&d.head[i].reads, &c.head[i].reads, sizeof c.head[i].reads);
    c.head[0].reads.longest = 9;
    assert_int_equal(model_config_check(&c), -1);
    assert_non_null(strstr(err_msg(), "head nli reads 9 rows, but the model has 8 positions"));
    free(json);
    vocab_free(v);
}

static void get(const struct model *m, const char *name, float *to)
{
    for (int i = 0; i < m->ps.n; i++)
        if (!strcmp(m->ps.p[i].name, name)) { param_get(&m->ps, m->ps.value, i, to); return; }
    fail_msg("no tensor %s", name);
}

/* out[o] = b[o] + sum_i W[o, i] f(dense(x))[i], added up here in double. */
static void outputs_are_what_the_layers_say(void **state)
{
    (void)state;
    struct vocab *v = vocabulary();
    struct model_config c = small(v);
    struct model m;
    struct tape t;
    const struct kernels *k = kernels_cpu();
    enum { N = 3, D = 6 };
    float W[3 * D], b[3], V[D * D], a[D], S[D], x[N * D], got[N * 3];
    with_heads(&c);
    assert_int_equal(model_new(&m, &c, k, 5, true), 0);
    tape_init(&t, k, &m.ps);
    tape_reset(&t, false);
    get(&m, "head.nli.dense.weight", V); get(&m, "head.nli.dense.bias", a);
    get(&m, "head.nli.out.weight", W); get(&m, "head.nli.out.bias", b);
    get(&m, "head.span.out.weight", S);
    assert_true(S[0] != 0 && S[D - 1] != 0);             /* a single output is drawn, too */
    for (int i = 0; i < N * D; i++) x[i] = (float)((i * 7) % 5 - 2) / 2;
    struct var *rows = tape_var(&t, N, D);
    k->upload(rows->v, x, sizeof x);
    k->download(got, model_head_outputs(&m, &t, 0, rows)->v, sizeof got);
    assert_int_equal(k->sync(), 0);
    for (int n = 0; n < N; n++)
        for (int o = 0; o < 3; o++) {
            double y = (double)b[o];
            for (int i = 0; i < D; i++) {
                double h = (double)a[i];
                for (int j = 0; j < D; j++) h += (double)V[i * D + j] * (double)x[n * D + j];
                y += (double)W[o * D + i] * tanh(h);
            }
            assert_true(fabs(y - (double)got[n * 3 + o]) < 1e-5);
        }
    assert_int_equal(model_head_find(&m, "span"), 1);
    assert_int_equal(model_head_find(&m, "tag"), -1);
    assert_string_equal(err_msg(), "the model has no head tag; it has nli, span");
    tape_free(&t);
    model_free(&m);
    vocab_free(v);
}

/* In training half of what a head reads is dropped and the rest doubled (p 0.5), and so is what its
 * dense layer makes of that. */
static void a_head_drops_what_it_reads_and_what_its_layer_makes(void **state)
{
    (void)state;
    struct vocab *v = vocabulary();
    struct model_config c = small(v);
    struct model m;
    struct tape t;
    const struct kernels *k = kernels_cpu();
    enum { N = 64, D = 6 };
    float x[N * D], plain[N * D], got[2][N * D];
    uint64_t sample[N];
    uint32_t at[N];
    with_heads(&c);
    assert_int_equal(model_new(&m, &c, k, 5, true), 0);
    tape_init(&t, k, &m.ps);
    for (int i = 0; i < N * D; i++) x[i] = (float)(i % 5 + 1) / 4;
    for (int i = 0; i < N; i++) { sample[i] = (uint64_t)i; at[i] = 0; }
    t.drop.sample = sample;
    t.drop.pos = at;
    t.drop.key = (struct rng_key){ 1, RNG_DROPOUT, 1 };
    for (int train = 0; train < 2; train++) {
        tape_reset(&t, train);
        t.p_drop = 0.5f;
        struct var *rows = tape_var(&t, N, D);
        k->upload(rows->v, x, sizeof x);
        for (int head = 0; head < 2; head++)
            k->download(train ? got[head] : head ? got[1] : plain,
                        model_head_input(&m, &t, head, rows)->v, sizeof plain);
        assert_int_equal(k->sync(), 0);
        /* prediction drops nothing; the second head has no layer of its own */
        if (!train) assert_memory_equal(got[1], x, sizeof x);
    }
    int zeros[2] = { 0 }, others = 0;
    for (int i = 0; i < N * D; i++) {
        assert_true(plain[i] != 0);
        for (int head = 0; head < 2; head++) zeros[head] += got[head][i] == 0;
        if (got[1][i] != 0) assert_true(got[1][i] == 2 * x[i]);
        others += got[0][i] != 0 && fabsf(got[0][i] - 2 * plain[i]) > 1e-3f;
    }
    /* of 384, each with probability 1/2: 192 and six deviations of 9.8 */
    for (int head = 0; head < 2; head++) assert_in_range(zeros[head], 134, 250);
    assert_true(others > 0);
    tape_free(&t);
    model_free(&m);
    vocab_free(v);
}

/* A head changes nothing of the model under it, and a model with one starts from a model without.
 */
static void weights_below_a_head_are_those_of_the_model_without(void **state)
{
    (void)state;
    struct vocab *v = vocabulary();
    struct model_config c = small(v);
    struct model bare, headed, again;
    const struct kernels *k = kernels_cpu();
    int taken, fresh;
    assert_int_equal(model_new(&bare, &c, k, 9, false), 0);
    assert_int_equal(dir_make("bare"), 0);
    assert_int_equal(vocab_write(v, "bare/vocab"), 0);
    assert_int_equal(model_save(&bare, "bare", NULL, NULL, 0), 0);
    with_heads(&c);
    assert_int_equal(model_new(&headed, &c, k, 9, false), 0);
    float *x = mem_alloc(bare.ps.total * 4), *y = mem_alloc(headed.ps.total * 4);
    k->download(x, bare.ps.value, bare.ps.total * 4);
    k->download(y, headed.ps.value, headed.ps.total * 4);
    assert_memory_equal(x, y, bare.ps.total * 4);
    /* other weights, then those of the folder */
    assert_int_equal(model_new(&again, &c, k, 10, false), 0);
    assert_int_equal(model_init_from(&again, v, "bare", &taken, &fresh), 0);
    k->download(y, again.ps.value, again.ps.total * 4);
    assert_memory_equal(x, y, bare.ps.total * 4);
    assert_int_equal(dir_make("headed"), 0);
    assert_int_equal(vocab_write(v, "headed/vocab"), 0);
    assert_int_equal(model_save(&headed, "headed", NULL, NULL, 0), 0);
    model_free(&again);
    assert_int_equal(model_load(&again, "headed", k, NULL), 0);
    assert_string_equal(again.c.head[0].label[2], "contradiction");
    float *z = mem_alloc(headed.ps.total * 4);
    for (int i = 0; i < headed.ps.n; i++) {
        param_get(&headed.ps, headed.ps.value, i, y);
        param_get(&again.ps, again.ps.value, i, z);
        assert_memory_equal(y, z, headed.ps.p[i].n * 4);
    }
    free(x); free(y); free(z);
    model_free(&bare); model_free(&headed); model_free(&again);
    vocab_free(v);
}

/* --- arrays and integers of objectives in a checkpoint --- */

/* state.json with one line another, and without its checksum: `why` it is not continued; NULL: it
 * is. */
static void state_with(struct model *m, struct state *s, const char *line, const char *instead,
                       const char *why)
{
    static const char path[] = "run/checkpoints/step-00000003/state.json";
    size_t n;
    char *text = file_read(path, &n), changed[2000];
    char *at = strstr(text, line);
    assert_non_null(at);
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, instead,
             at + strlen(line));
    assert_int_equal(sum_file_remove("run/checkpoints/step-00000003", "state.sum"), 0);
    assert_int_equal(file_write(path, changed, strlen(changed)), 0);
    struct checkpoint_state st = { .best = INFINITY, .state = s };
    int rc = checkpoint_load_newest("run", m, &st);
    if (rc == 1 && why) fail_msg("%s is taken", instead);
    if (rc != 1 && (!why || !strstr(err_msg(), why))) fail_msg("%s", err_msg());
    if (rc == 1) {
        assert_true(st.best == 0.1 && st.best_step == 2 && st.since_best == 1);
        assert_true(st.tokens == 77 && st.tree);
    }
    assert_int_equal(file_write(path, text, n), 0);
    free(text);
}

/* A checkpoint of step 3, whose best was 0.1 at step 2, and whose data ends at 6. */
static void a_state_that_cannot_be_is_not_continued(void **state)
{
    (void)state;
    struct vocab *v = vocabulary();
    struct model_config c = small(v);
    struct model m;
    struct state s = { 0 };
    int64_t next = 4;
    assert_int_equal(model_new(&m, &c, kernels_cpu(), 1, true), 0);
    state_data(&s, &next, 6, "%s.next", "aa");
    struct checkpoint_state st = { .step = 3, .best_step = 2, .since_best = 1, .best = 0.1,
                                   .state = &s, .tokens = 77, .tree = true };
    assert_int_equal(dir_remove("run"), 0);
    assert_int_equal(dir_make("run"), 0);
    struct snapshot *snap = snapshot_take(&m, &st, NULL);
    assert_int_equal(checkpoint_save("run", snap, v), 0);
    msg_set_quiet(true);
    static const char *const t[][3] = {
        { "\"tokens\": \"77\"", "\"tokens\": \"77\"", NULL },
        { "\"aa.next\": \"4\"", "\"aa.next\": \"6\"", NULL },
        { "\"aa.next\": \"4\"", "\"aa.next\": \"7\"", "\"aa.next\" is 7; the data ends at 6" },
        { "\"aa.next\"", "\"bb.next\"", "\"aa.next\" is missing or not a number in quotes" },
        { "\"step\": \"3\"", "\"step\": \"2\"", "its step is 2, the folder's 3" },
        { "\"step\": \"3\"", "\"step\": 3", "\"step\" is missing or not a number in quotes" },
        { "\"step\": \"3\"", "\"step\": \"3x\"", "\"step\" is not a whole number of 0 or more" },
        { "\"step\": \"3\"", "\"step\": \"-3\"", "\"step\" is not a whole number" },
        { "\"best_step\": \"2\"", "\"best_step\": \"4\"", "its best step, 4, is after its step 3" },
        { "\"since_best\": \"1\"", "\"since_best\": \"4\"",
          "4 validations without a better one in 3 steps" },
        { "\"since_best\": \"1\"", "\"since_best\": \"99999999999999999999\"",
          "\"since_best\" is not a whole number" },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) state_with(&m, &s, t[i][0], t[i][1], t[i][2]);
    /* a better validation at the same step: what is said of it is written again */
    snap->st.best = 0.05;
    snap->st.best_step = 3;
    assert_int_equal(checkpoint_save("run", snap, v), 0);
    st = (struct checkpoint_state){ .best = INFINITY, .state = &s };
    assert_int_equal(checkpoint_load_newest("run", &m, &st), 1);
    assert_true(st.best == 0.05 && st.best_step == 3);
    snapshot_free(snap);
    state_free(&s);
    model_free(&m);
    vocab_free(v);
}

static void arrays_come_back_and_others_are_refused(void **state)
{
    (void)state;
    struct vocab *v = vocabulary();
    struct model_config c = small(v);
    struct model m;
    const struct kernels *k = kernels_cpu();
    struct state s = { 0 }, other = { 0 };
    float queue[6] = { 1, 2, 3, 4, 5, 6.5f }, key[3] = { -1, 0, 1 };
    int64_t head = 4;
    assert_int_equal(model_new(&m, &c, k, 1, true), 0);
    state_array(&s, queue, 2, 3, "moco.queue");
    state_array(&s, key, 1, 3, "moco.key");
    state_int(&s, &head, 6, "moco.head");
    struct checkpoint_state st = { .step = 3, .state = &s };
    struct snapshot *snap = snapshot_take(&m, &st, NULL);
    assert_non_null(snap);
    assert_true(snapshot_finite(snap));
    for (int i = 0; i < 3; i++)
        for (int last = 0; last < 2; last++) {
            float *x = &snap->array[i][last ? m.ps.total - 1 : 0], was = *x;
            *x = FLT_MAX;
            assert_true(snapshot_finite(snap));
            *x = last ? -INFINITY : NAN;
            assert_false(snapshot_finite(snap));
            *x = was;
        }
    queue[0] = 99; head = 1;                             /* what was taken is a copy */
    assert_int_equal(dir_make("run"), 0);
    assert_int_equal(checkpoint_save("run", snap, v), 0);
    snapshot_free(snap);
    memset(queue, 0, sizeof queue);
    memset(key, 0, sizeof key);
    struct checkpoint_state back = { .state = &s };
    assert_int_equal(checkpoint_load_newest("run", &m, &back), 1);
    assert_true(queue[0] == 1 && queue[5] == 6.5f && key[0] == -1 && key[2] == 1);
    assert_int_equal(head, 4);
    assert_int_equal(back.step, 3);

    state_array(&other, queue, 3, 2, "moco.queue"); /* the same number of floats in another shape */
    state_array(&other, key, 1, 3, "moco.key");
    back.state = &other;
    assert_int_equal(checkpoint_load_newest("run", &m, &back), -1);
    assert_non_null(strstr(err_msg(), "state.safetensors: tensor moco.queue is not [3, 2]"));
    state_free(&other);
    back.state = &other;                                 /* a run without that objective */
    assert_int_equal(checkpoint_load_newest("run", &m, &back), -1);
    assert_non_null(strstr(err_msg(), "state.safetensors: holds arrays"));
    state_free(&s);
    state_free(&other);
    model_free(&m);
    vocab_free(v);
}

/* The optimiser's moments, those of a tensor besides the model's, and whole numbers that no double
 * holds: numbers that are put in by a formula of their place come back exactly. */
static void moments_and_whole_numbers_come_back(void **state)
{
    (void)state;
    struct vocab *v = vocabulary();
    struct model_config c = small(v);
    struct model m;
    struct state s = { 0 };
    int64_t pairs[4] = { INT64_MAX, -5, INT64_C(1) << 53 | 1, 0 };
    assert_int_equal(model_shapes(&m, &c, kernels_cpu()), 0);
    int extra = params_add_extra(&m.ps, "extra.weight", 2, 3, true);
    assert_int_equal(params_alloc(&m.ps, true), 0);
    model_draw(&m, 1);
    struct params *ps = &m.ps;
    const struct param *x = &ps->p[extra];
    for (size_t i = 0; i < ps->total; i++) {
        ps->m[i] = (float)i + 0.25f;
        ps->v[i] = 2 * (float)i + 1;
    }
    state_array(&s, ps->value + x->at, 2, 3, "extra.weight");
    state_moment(&s, 1, x->at, 2, 3, "adam.m.extra.weight");
    state_moment(&s, 2, x->at, 2, 3, "adam.v.extra.weight");
    state_whole(&s, pairs, 2, 2, "queue.pairs");
    /* 7 validations, none of them better */
    struct checkpoint_state st = { .step = 7, .since_best = 7, .best = INFINITY, .state = &s };
    assert_int_equal(dir_remove("run"), 0);
    assert_int_equal(dir_make("run"), 0);
    struct snapshot *snap = snapshot_take(&m, &st, NULL);
    assert_int_equal(checkpoint_save("run", snap, v), 0);
    snapshot_free(snap);
    /* shared: a rank's own part is given to it later, from all of the moments */
    for (int shared = 0; shared < 2; shared++) {
        for (size_t i = 0; i < ps->total; i++) ps->m[i] = ps->v[i] = -1;
        memset(pairs, 0, sizeof pairs);
        struct checkpoint_state back = { .best = INFINITY, .state = &s, .shared = shared };
        assert_int_equal(checkpoint_load_newest("run", &m, &back), 1);
        assert_true(back.step == 7 && back.since_best == 7 && back.best == INFINITY);
        for (int i = 0; i < ps->n; i++)
            for (size_t k = ps->p[i].at; k < ps->p[i].at + ps->p[i].n; k++) {
                assert_true((shared ? back.moment[0] : ps->m)[k] == (float)k + 0.25f);
                assert_true((shared ? back.moment[1] : ps->v)[k] == 2 * (float)k + 1);
                if (shared) assert_true(ps->m[k] == -1 && ps->v[k] == -1);
            }
        if (!shared) assert_true(!back.moment[0] && !back.moment[1]);
        free(back.moment[0]);
        free(back.moment[1]);
        assert_true(pairs[0] == INT64_MAX && pairs[1] == -5 && pairs[2] == 9007199254740993
                    && pairs[3] == 0);
    }
    /* under another name it is a copy; as another step's it is none */
    assert_int_equal(checkpoint_check("run/checkpoints/step-00000007", &m), 0);
    assert_int_equal(file_rename("run/checkpoints/step-00000007", "run/copy"), 0);
    assert_int_equal(checkpoint_check("run/copy", &m), 0);
    assert_int_equal(file_rename("run/copy", "run/step-6x"), 0);
    assert_int_equal(checkpoint_check("run/step-6x", &m), 0);
    assert_int_equal(file_rename("run/step-6x", "run/step-6"), 0);
    assert_int_equal(checkpoint_check("run/step-6", &m), -1);
    assert_non_null(strstr(err_msg(), "its step is 7, the folder's 6"));
    /* a tensor more than the model's moments is another model's */
    static const char path[] = "run/step-6/optimizer.safetensors";
    struct st_file *f = st_open(path);
    assert_non_null(f);
    struct st_tensor *t = mem_alloc(((size_t)f->n + 1) * sizeof *t);
    memcpy(t, f->t, (size_t)f->n * sizeof *t);
    t[f->n] = t[0];
    t[f->n].name = (char *)"adam.m.zz";
    int n = f->n;
    assert_int_equal(st_write("run/more", t, n + 1, NULL, NULL, 0), 0);
    st_close(f);
    free(t);
    assert_int_equal(file_rename("run/more", path), 0);
    assert_int_equal(checkpoint_check("run/step-6", &m), -1);
    char want[200];
    snprintf(want, sizeof want, "%s: holds %d tensors, not %d", path, n + 1, n);
    assert_string_equal(err_msg(), want);
    state_free(&s);
    model_free(&m);
    vocab_free(v);
}

/* Of a damaged checkpoint nothing counts: neither its best metric nor its tokens; what an earlier
 * version did not record is not known. */
static void what_a_damaged_checkpoint_said_does_not_count(void **state)
{
    (void)state;
    struct vocab *v = vocabulary();
    struct model_config c = small(v);
    struct model m;
    struct state s = { 0 };
    assert_int_equal(model_new(&m, &c, kernels_cpu(), 1, true), 0);
    assert_int_equal(dir_remove("run"), 0);
    assert_int_equal(dir_make("run"), 0);
    for (int step = 2; step <= 3; step++) {
        struct checkpoint_state st = { .step = step, .best = step == 3 ? 0.25 : INFINITY,
                                       .since_best = step == 3 ? 9 : 0, .state = &s,
                                       .tokens = step == 3 ? 5 : 0 };
        struct snapshot *snap = snapshot_take(&m, &st, NULL);
        assert_int_equal(checkpoint_save("run", snap, v), 0);
        snapshot_free(snap);
    }
    static const char path[] = "run/checkpoints/step-00000002/state.json";
    size_t n;
    char *text = file_read(path, &n), *at = strstr(text, ",\n  \"tokens\": \"0\"");
    assert_non_null(at);
    memmove(at, at + 17, strlen(at + 17) + 1);
    assert_int_equal(sum_file_remove("run/checkpoints/step-00000002", "state.sum"), 0);
    assert_int_equal(file_write(path, text, strlen(text)), 0);
    free(text);
    msg_set_quiet(true);
    struct checkpoint_state back = { .best = INFINITY, .state = &s };
    assert_int_equal(checkpoint_load_newest("run", &m, &back), 1);
    assert_true(back.step == 2 && back.best == INFINITY && back.tokens == -1 && !back.tree);
    assert_int_equal(checkpoint_newest("run"), 2);
    model_free(&m);
    vocab_free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_configuration_says_them_and_reads_them),
        cmocka_unit_test(bad_heads_are_refused_by_line),
        cmocka_unit_test(a_head_has_limits),
        cmocka_unit_test(what_a_head_reads_has_limits),
        cmocka_unit_test(the_configuration_says_what_heads_read),
        cmocka_unit_test(outputs_are_what_the_layers_say),
        cmocka_unit_test(a_head_drops_what_it_reads_and_what_its_layer_makes),
        cmocka_unit_test(weights_below_a_head_are_those_of_the_model_without),
        cmocka_unit_test(arrays_come_back_and_others_are_refused),
        cmocka_unit_test(a_state_that_cannot_be_is_not_continued),
        cmocka_unit_test(moments_and_whole_numbers_come_back),
        cmocka_unit_test(what_a_damaged_checkpoint_said_does_not_count),
    };
    if (scratch_enter() < 0) return 1;
    int status = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_leave();
    return status;
}
