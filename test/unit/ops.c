/* The list of operations. Each entry says what an operation reads and writes and computes it
 * again in double, plainly. From the lists (ops_layers.h, ops_rows.h, ops_losses.h) follow:
 * values and gradients (finite differences of the plain version) at awkward shapes, dropout as
 * kernels.h documents it, equal bytes on any number of threads, PyTorch's numbers
 * (test/golden/ops.py), and that the checks notice a gradient with the wrong sign. `ops DEVICE
 * [bf16]` runs it all on another back end; `ops DEVICE describe` only opens it. What only the
 * beam search asks for is in search.c. */
#include <sys/wait.h>
#include <unistd.h>
#include "common/json/safetensors.h"
#include "common/thread.h"
#include "test/unit/ops_alone.h"
#include "test/unit/ops_layers.h"
#include "test/unit/ops_losses.h"
#include "test/unit/ops_optimiser.h"
#include "test/unit/ops_rows.h"

#define LIST(list) { list, sizeof list / sizeof *list }
static const struct {
    const struct op *op;
    size_t n;
} lists[] = { LIST(ops_layers), LIST(ops_rows), LIST(ops_losses) };

/* Entry number o of all lists; NULL from their end on. */
static const struct op *entry(size_t o)
{
    for (size_t i = 0; i < sizeof lists / sizeof *lists; o -= lists[i++].n)
        if (o < lists[i].n) return &lists[i].op[o];
    return NULL;
}

/* ISOGLOT_TEST_OPS="norm attn": those entries alone. */
static bool chosen(const struct op *op)
{
    const char *all = getenv("ISOGLOT_TEST_OPS"), *at = all;
    size_t n = strlen(op->name);
    if (!all || !*all) return true;
    while ((at = strstr(at, op->name))) {
        if ((at == all || at[-1] == ' ') && (at[n] == ' ' || !at[n])) return true;
        at += n;
    }
    return false;
}

#define FOR_EACH_OP(x) \
    for (size_t x##_n = 0; entry(x##_n); x##_n++) \
        for (const struct op *x = entry(x##_n); x && chosen(x); x = NULL)
#define FOR_EACH_CASE(t) \
    FOR_EACH_OP(each) \
        for (const struct shape *s_i = each->shapes; s_i->N >= 0; s_i++) \
            for (struct test *t = case_new(each, s_i); t; case_free(t), t = NULL)

/* --- tests ------------------------------------------------------------------------------------ */

/* Each case runs once, which on an emulated GPU takes long: values are those of the plain
 * computation in double, gradients those of its finite differences, and one with the wrong sign is
 * noticed. */
static void values_and_gradients_are_those_of_a_plain_computation(void **state)
{
    (void)state;
    FOR_EACH_CASE(t) {
        int shape = (int)(s_i - each->shapes);
        run(t);
        if (!values_hold(t)) fail_msg("shape %d: %s", shape, wrong);
        if (!gradients_hold(t, -1) || (each->numbers_hold && !each->numbers_hold(t)))
            fail_msg("shape %d: %s", shape, wrong);
        for (int i = 0; i < t->n_in && shape == 1; i++)
            if (t->in[i].grad && gradients_hold(t, i))
                fail_msg("%s: the flipped gradient of %s passed", each->name, t->in[i].name);
    }
}

/* Shapes large enough that there are many chunks, for the next test. */
static const struct { const char *op; struct shape s;
} large[] = {
    { "linear", { .N = 1000, .I = 600, .O = 800 } },
    { "ffn", { .N = 700, .I = 256, .H = 1024, .O = 256, .f = KERN_GELU } },
    { "embed", { .N = 900, .I = 300, .V = 100 } },
    { "norm", { .N = 2000, .I = 300, .drop = true, .sum = true } },
    { "drop", { .N = 2000, .I = 300, .drop = true } },
    { "attn", { .N = 90, .I = 64, .heads = 4, .batch = 20, .causal = true, .drop = true } },
    /* three chunks of rows on an emulated GPU, whose memory is 1 GiB; columns on the processor */
    { "xent", { .N = 260, .I = 64, .V = 9000, .eps = 0.1f, .weighted = true } },
    { "gc", { .N = 900, .I = 256, .O = 300, .J = 8 } },
    { "unit", { .N = 2000, .I = 300 } },
    { "means", { .N = 40, .I = 300, .batch = 90 } },
    { "mix", { .N = 900, .I = 300, .O = 800, .J = 8, .V = 60 } },
    { "cos_pairs", { .N = 3000, .I = 300, .V = 500 } },
    { "span", { .N = 200, .batch = 60 } },
    { "column_means", { .N = 300, .I = 2000, .J = 10 } },
};

/* On another device: doing it again does. */
static void any_number_of_threads_gives_the_same_bytes(void **state)
{
    (void)state;
    int most = strcmp(k->name, "cpu") == 0 ? 5 : 2;
    /* minutes on an emulated GPU; the shapes above are all there */
    if (most == 2 && getenv("ISOGLOT_TEST_SANITIZED")) return;
    for (size_t l = 0; l < sizeof large / sizeof large[0]; l++)
        FOR_EACH_OP(op) {
            if (strcmp(large[l].op, op->name) != 0) continue;
            struct test *t = case_new(op, &large[l].s);
            par_threads_set(1);
            run(t);
            struct { float *out[ARRAYS], *g[ARRAYS]; } one = { 0 };
            for (int i = 0; i < t->n_out; i++) {
                one.out[i] = t->out[i].got;
                t->out[i].got = mem_zero(t->out[i].n, 4);
            }
            for (int i = 0; i < t->n_in; i++)
                if (t->in[i].g) {
                    one.g[i] = t->in[i].g;
                    t->in[i].g = mem_zero(t->in[i].n, 4);
                }
            for (int threads = 2; threads <= most; threads += 3) {
                par_threads_set(threads);
                run(t);
                for (int i = 0; i < t->n_out; i++)
                    if (memcmp(one.out[i], t->out[i].got, t->out[i].n * 4) != 0)
                        fail_msg("%s: %s depends on the threads", large[l].op, t->out[i].name);
                for (int i = 0; i < t->n_in; i++)
                    if (one.g[i] && memcmp(one.g[i], t->in[i].g, t->in[i].n * 4) != 0)
                        fail_msg("%s: the gradient of %s depends on the threads", large[l].op,
                                 t->in[i].name);
            }
            for (int i = 0; i < ARRAYS; i++) { free(one.out[i]); free(one.g[i]); }
            case_free(t);
        }
    par_threads_set(1);
}

/* Gradients of weights are sums over all rows of a batch, to the last. A library that cuts long
 * sums into pieces may lose what is left over: rows beyond a multiple of 128. Whole numbers, so
 * that sums are exact in any order: X[n, i] = (n + i) % 3, dY[n, o] = (n + 2 o) % 5.
 * ISOGLOT_TEST_LARGE: a model's shapes, at many numbers of rows. */
static void long_sums_are_whole(void **state)
{
    (void)state;
    /* it is the library that is tested, not our code */
    if (getenv("ISOGLOT_TEST_SANITIZED")) return;
    static const int shapes[][2] = { { 64, 64 }, { 24, 200 }, { 1024, 1024 }, { 3072, 1024 } };
    static const int over[] = { 1, 3, 64, 127 };
    bool all = getenv("ISOGLOT_TEST_LARGE") != NULL;
    enum { MOST = 16384 + 127 };
    int failed = 0;
    for (int c = 0; c < (all ? 4 : 2); c++) {
        int O = shapes[c][0], I = shapes[c][1];
        size_t x = times(MOST, I), y = times(MOST, O), n = times(O, I);
        float *host = mem_alloc((x > y ? x : y) * sizeof *host), *got = mem_alloc(n * sizeof *got);
        void *X = device(bytes_of(ACT, x)), *dY = device(bytes_of(ACT, y)), *dW = device(n * 4);
        for (size_t i = 0; i < x; i++) host[i] = (float)((i / (size_t)I + i % (size_t)I) % 3);
        put(ACT, X, host, x);
        for (size_t i = 0; i < y; i++) host[i] = (float)((i / (size_t)O + 2 * (i % (size_t)O)) % 5);
        put(ACT, dY, host, y);
        for (int rows = all ? 512 : 4096; rows <= 16384; rows += all ? 512 : 12288)
            for (int j = 0; j < 4; j++) {
                int N = rows + over[j], want[5][3] = { { 0 } };
                for (int row = 0; row < N; row++)
                    for (int o = 0; o < 5; o++)
                        for (int i = 0; i < 3; i++)
                            want[o][i] += (row + 2 * o) % 5 * ((row + i) % 3);
                k->zero(dW, n * 4);
                KERN(k, linear_bwd, .dW = dW, .dY = dY, .X = X, .N = N, .I = I, .O = O);
                k->download(got, dW, n * 4);
                size_t bad = 0;
                for (size_t i = 0; i < n; i++)
                    if (got[i] != (float)want[i / (size_t)I % 5][i % (size_t)I % 3]) bad = i + 1;
                if (bad && failed++ < 10) {
                    size_t o = (bad - 1) / (size_t)I, i = (bad - 1) % (size_t)I;
                    printf("a gradient [%d, %d] of %d rows: [%zu, %zu] is %.9g and not %d\n", O, I,
                           N, o, i, (double)got[bad - 1], want[o % 5][i % 3]);
                }
            }
        free(host); free(got);
        release(X); release(dY); release(dW);
    }
    if (failed) fail_msg("%d products leave something out", failed);
}

/* The same of a layer with as many inputs: of each row the first and the last count. */
static void long_rows_are_whole(void **state)
{
    (void)state;
    enum { N = 8, I = 4098, O = 24 };
    float *host = mem_zero((size_t)(N > O ? N : O) * I, sizeof *host), got[N * O];
    void *X = device(bytes_of(ACT, N * I)), *Y = device(bytes_of(ACT, N * O)),
         *W = device((size_t)O * I * 4);
    for (size_t i = 0; i < (size_t)O * I; i++) host[i] = 1;
    k->upload(W, host, (size_t)O * I * 4);
    for (size_t i = 0; i < (size_t)N * I; i++) host[i] = i % I == 0 || i % I == I - 1;
    put(ACT, X, host, N * I);
    KERN(k, linear_fwd, .Y = Y, .X = X, .W = W, .N = N, .I = I, .O = O);
    get(ACT, got, Y, N * O);
    for (size_t i = 0; i < N * O; i++)
        if (got[i] != 2)
            fail_msg("a row with two ones among %d is %.9g", I, (double)got[i]);
    free(host);
    release(X); release(Y); release(W);
}

/* More at once than any buffer of a device holds, each piece from the same memory, which the
 * program writes to as soon as upload returns. */
static void uploads_keep_what_the_host_had_when_they_were_called(void **state)
{
    (void)state;
    enum { PIECE = 700001, PIECES = 8 };
    int32_t *host = mem_alloc(PIECE * sizeof *host), *got = mem_alloc(PIECE * sizeof *got);
    void *to[PIECES];
    for (int i = 0; i < PIECES; i++) {
        to[i] = device(PIECE * sizeof *host);
        for (int j = 0; j < PIECE; j++) host[j] = i * PIECE + j;
        k->upload(to[i], host, PIECE * sizeof *host);
    }
    memset(host, 0, PIECE * sizeof *host);
    for (int i = 0; i < PIECES; i++) {
        k->download(got, to[i], PIECE * sizeof *got);
        for (int j = 0; j < PIECE; j++)
            if (got[j] != i * PIECE + j) fail_msg("piece %d, number %d", i, j);
        release(to[i]);
    }
    free(host); free(got);
}

/* Pieces of one memory, which is written to again as soon as fetch returns. */
static void fetches_bring_what_the_device_had_when_they_were_called(void **state)
{
    (void)state;
    enum { PIECE = 5003, PIECES = 9 };
    int32_t host[PIECE], *got = k->host_alloc(PIECES * PIECE * sizeof *got),
                         *from = device(PIECE * sizeof *from);
    assert_non_null(got);
    for (int i = 0; i < PIECES; i++) {
        for (int j = 0; j < PIECE; j++) host[j] = i * PIECE + j;
        k->upload(from, host, sizeof host);
        k->fetch(got + i * PIECE, from, sizeof host);
    }
    k->zero(from, sizeof host);
    assert_int_equal(k->sync(), 0);
    for (int j = 0; j < PIECES * PIECE; j++) if (got[j] != j) fail_msg("number %d", j);
    release(from);
    k->host_release(got);
}

/* --- PyTorch's numbers ------------------------------------------------------------------------ */

static const struct st_tensor *golden_find(const struct st_file *f, const char *op,
                                           const char *name, const char *what)
{
    char full[128];
    snprintf(full, sizeof full, "%s.%s%s", op, name, what);
    const struct st_tensor *x = st_find(f, full);
    if (!x) fail_msg("ops.safetensors has no %s", full);
    return x;
}
static void golden_doubles(const struct st_file *f, const char *op, const char *name,
                           const char *what, double *to, size_t n)
{
    float *v = mem_alloc(n * sizeof *v);
    if (st_floats(golden_find(f, op, name, what), v, n) < 0) fail_msg("%s", err_msg());
    for (size_t i = 0; i < n; i++) to[i] = (double)v[i];
    free(v);
}

/* Three steps of an optimiser with clipping and weight decay. */
static void golden_steps(const struct st_file *f, const char *op, bool lamb)
{
    char name[32];
    snprintf(name, sizeof name, "%s.p0", op);
    size_t n = st_find(f, name)->bytes / 4;
    const struct kern_part all = { 0, n, true };
    float *p = mem_alloc(n * 4), *g = mem_alloc(n * 4);
    double *want = mem_alloc(n * sizeof *want);
    void *dp = device(n * 4), *dg = device(n * 4), *dm = device(n * 4), *dv = device(n * 4),
         *dn = device(4);
    assert_int_equal(st_floats(st_find(f, name), p, n), 0);
    k->upload(dp, p, n * 4);
    k->zero(dm, n * 4);
    k->zero(dv, n * 4);
    for (int step = 1; step <= 3; step++) {
        struct kern_adam a = {
            .p = dp,
            .g = dg,
            .m = dm,
            .v = dv,
            .part = &all,
            .parts = 1,
            .norm2 = dn,
            .lamb = lamb,
            .lr = 1e-2,
            .beta1 = 0.9,
            .beta2 = 0.98,
            .eps = 1e-6,
            .weight_decay = 0.01,
            .step = step,
            .clip = 1,
            .grad_scale = 1,
        };
        snprintf(name, sizeof name, "g%d", step);
        assert_int_equal(st_floats(golden_find(f, op, name, ""), g, n), 0);
        k->upload(dg, g, n * 4);
        KERN(k, norm2, .out = dn, .x = dg, .n = n);
        k->adam(&a);
        snprintf(name, sizeof name, "p%d", step);
        golden_doubles(f, op, name, "", want, n);
        k->download(p, dp, n * 4);
        if (!agree(op, name, p, want, n, 1e-6)) fail_msg("%s", wrong);
    }
    free(p); free(g); free(want);
    release(dp); release(dg); release(dm); release(dv); release(dn);
}

static void values_and_gradients_are_pytorchs(void **state)
{
    (void)state;
    const char *top = getenv("TOP");
    char path[4096];
    snprintf(path, sizeof path, "%s/test/golden/ops.safetensors", top ? top : ".");
    struct st_file *f = st_open(path);
    if (!f) fail_msg("%s", err_msg());
    FOR_EACH_OP(op) {
        if (!op->golden.N) continue;
        struct test *t = case_new(op, &op->golden);
        for (int i = 0; i < t->n_ints; i++) {
            const struct st_tensor *x = golden_find(f, op->name, t->ints[i].name, "");
            assert_int_equal(x->dtype, ST_I32);
            assert_int_equal(x->bytes, t->ints[i].n * 4);
            memcpy(t->ints[i].v, x->data, x->bytes);
            k->upload(t->ints[i].dev, x->data, x->bytes);
        }
        for (int i = 0; i < t->n_in; i++) {
            golden_doubles(f, op->name, t->in[i].name, "", t->in[i].x, t->in[i].n);
            set_doubles(t->in[i].kind, t->in[i].dev, t->in[i].x, t->in[i].n);
        }
        for (int i = 0; i < t->n_out; i++) {
            golden_doubles(f, op->name, t->out[i].name, "", t->out[i].x, t->out[i].n);
            if (!t->out[i].cot) continue;
            golden_doubles(f, op->name, t->out[i].name, ".cot", t->out[i].cot, t->out[i].n);
            set_doubles(t->out[i].kind, t->out[i].cot_dev, t->out[i].cot, t->out[i].n);
        }
        run(t);
        for (int i = 0; i < t->n_out; i++)
            if (!agree(op->name, t->out[i].name, t->out[i].got, t->out[i].x, t->out[i].n,
                       tolerance))
                fail_msg("%s", wrong);
        for (int i = 0; i < t->n_in; i++) {
            struct array *a = &t->in[i];
            if (!a->grad) continue;
            golden_doubles(f, op->name, a->name, ".grad", a->x, a->n);
            for (size_t j = 0; j < a->n; j++) a->g[j] -= a->before[j];
            if (!agree(op->name, a->name, a->g, a->x, a->n, tolerance))
                fail_msg("gradient: %s", wrong);
        }
        case_free(t);
    }

    golden_steps(f, "adam", false);
    golden_steps(f, "lamb", true);
    st_close(f);
}

/* --- instruction sets ------------------------------------------------------------------------- */

/* This program again, under other settings; its status. */
static int again(const char *simd, const char *coretype, const char *precision)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        setenv("ISOGLOT_SIMD", simd, 1);
        if (coretype) setenv("OPENBLAS_CORETYPE", coretype, 1);
        execl("/proc/self/exe", "ops", "cpu", precision, (char *)NULL);
        _exit(127);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void lesser_instruction_sets_pass_too(void **state)
{
    (void)state;
    if (getenv("ISOGLOT_SIMD") || strcmp(k->name, "cpu") != 0) return;
    assert_int_equal(again("base", "Prescott", "float32"), 0);
    assert_int_equal(again("avx2", "Haswell", "float32"), 0);
}

static void bf16_products_pass_to_two_digits(void **state)
{
    (void)state;
    if (getenv("ISOGLOT_SIMD") || strcmp(k->name, "cpu") != 0) return;
    if (k->precision(KERN_BF16) < 0) { printf("not run: %s\n", err_msg()); return; }
    enum { N = 200, I = 300, O = 250 };
    static const struct shape s = { .N = N, .I = I, .O = O };
    struct test *t = case_new(&ops_layers[0], &s);
    run(t);
    assert_true(values_hold(t) == false);                   /* they are not float32's */
    case_free(t);
    assert_int_equal(k->precision(KERN_FLOAT32), 0);
    t = case_new(&ops_layers[0], &s);
    run(t);
    assert_true(values_hold(t));
    case_free(t);
    assert_int_equal(again("", NULL, "bf16"), 0);
    assert_int_equal(again("avx512", NULL, "bf16"), 0);     /* by oneDNN, or rounded */
}

static void devices_that_are_not_there_are_named(void **state)
{
    (void)state;
    const char *why = NULL;
    assert_null(kernels_open("gpu", KERN_FLOAT32, NULL));
    assert_non_null(strstr(err_msg(), "auto, cpu or cuda"));
    setenv("ISOGLOT_CUDA", "/nonexistent/libisoglot-cuda.so", 1);
    assert_null(kernels_open("cuda", KERN_FLOAT32, &why));
    assert_non_null(strstr(err_msg(), "--device cpu"));
    assert_non_null(kernels_open("auto", KERN_FLOAT32, &why));
    assert_non_null(strstr(why, "/nonexistent/libisoglot-cuda.so"));
    unsetenv("ISOGLOT_CUDA");
}

/* --- the list is whole ------------------------------------------------------------------------ */

/* The table with a count of each operation's calls. */
enum {
#define NUMBER(op, name) OP_##op,
    KERN_OPS(NUMBER) N_OPS
};
static int calls[N_OPS];
static const struct kernels *device_table;
#define COUNTED(op, name) \
    static void counted_##op(const struct kern_##op *a) { calls[OP_##op]++; device_table->op(a); }
KERN_OPS(COUNTED)

static const struct kernels *counted(const struct kernels *table)
{
    static struct kernels all;
    device_table = table;
    all = *table;
#define ENTRY(op, name) all.op = counted_##op;
    KERN_OPS(ENTRY)
    return &all;
}

static void every_operation_is_in_a_test(void **state)
{
    (void)state;
    if (getenv("ISOGLOT_TEST_OPS")) return;
    calls[OP_beam]++;                                   /* test/unit/search.c's */
#define CALLED(op, name) if (!calls[OP_##op]) fail_msg("no test calls " #op);
    KERN_OPS(CALLED)
}

int main(int argc, char **argv)
{
    const char *why;
    bool bf16 = argc > 2 && strcmp(argv[2], "bf16") == 0;
    k = kernels_open(argc > 1 ? argv[1] : "cpu", bf16 ? KERN_BF16 : KERN_FLOAT32, &why);
    if (!k) { fprintf(stderr, "ops: %s\n", err_msg()); return 1; }
    k = counted(k);
    printf("%s\n", why);
    if (argc > 2 && strcmp(argv[2], "describe") == 0) return 0;
    if (bf16) tolerance = 1e-2;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_and_gradients_are_those_of_a_plain_computation),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bytes),
        cmocka_unit_test(long_sums_are_whole),
        cmocka_unit_test(long_rows_are_whole),
        cmocka_unit_test(uploads_keep_what_the_host_had_when_they_were_called),
        cmocka_unit_test(fetches_bring_what_the_device_had_when_they_were_called),
        cmocka_unit_test(topk_is_a_sort_of_the_allowed_words),
        cmocka_unit_test(hits_are_rows_whose_best_is_their_target),
        cmocka_unit_test(best_is_the_first_largest_logit_among_the_allowed),
        cmocka_unit_test(adam_follows_the_paper_and_skips_gradients_that_are_not_finite),
        cmocka_unit_test(lamb_follows_the_paper_and_skips_gradients_that_are_not_finite),
        cmocka_unit_test(
            lamb_moves_parameters_of_zero_and_by_the_same_bytes_on_any_number_of_threads),
        cmocka_unit_test(matrices_are_added_and_averaged),
        cmocka_unit_test(rows_of_no_length_have_no_gradient),
        cmocka_unit_test(the_best_row_of_a_segment_is_the_first_largest_allowed_one),
        cmocka_unit_test(widened_acts_are_the_acts),
        cmocka_unit_test(gelu_is_that_of_erfc),
        cmocka_unit_test(gelus_tanh_form_is_that_of_exp),
        cmocka_unit_test(logits_are_made_in_chunks),
        cmocka_unit_test(what_is_not_finite_stays_so),
        cmocka_unit_test(values_and_gradients_are_pytorchs),
        cmocka_unit_test(every_operation_is_in_a_test),
        cmocka_unit_test(devices_that_are_not_there_are_named),
        cmocka_unit_test(lesser_instruction_sets_pass_too),
        cmocka_unit_test(bf16_products_pass_to_two_digits),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    printf("%s\n", k->describe());                          /* with what it met on the way */
    return failed;
}
