/* Parameters that are a mapped file (params_use): where that can be they are, elsewhere they are
 * copied, and the numbers are the file's either way. Both checksums of weights are looked at;
 * model.sum line by line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/msg.h"
#include "common/thread.h"
#include "lib/graph/params.h"
#include "lib/model/sum.h"
#include "test/unit/scratch.h"

#define PATH "x.safetensors"

/* "first" [2, 3] holds 1 to 6, "second" [3] holds 7 to 9; in the file the second comes first. */
#define SHAPES(dtype, a, b, c)                                                                     \
    "{\"first\":{\"dtype\":\"" dtype "\",\"shape\":[2,3],\"data_offsets\":[" a "," b "]},"         \
    "\"second\":{\"dtype\":\"" dtype "\",\"shape\":[3],\"data_offsets\":[" "0" "," a "]}" c "}"

static struct st_file *file(const char *header, const void *data, size_t n)
{
    char all[1024];
    uint64_t length = strlen(header);
    memcpy(all, &length, 8);
    memcpy(all + 8, header, length);
    memcpy(all + 8 + length, data, n);
    assert_int_equal(file_write(PATH, all, 8 + length + n), 0);
    struct st_file *f = st_open(PATH);
    if (!f) fail_msg("%s", err_msg());
    return f;
}

static const float numbers[9] = { 7, 8, 9, 1, 2, 3, 4, 5, 6 };

/* A header whose data begin `rest` bytes behind a multiple of four. */
static struct st_file *floats(size_t rest)
{
    char header[512];
    size_t n = (size_t)snprintf(header, sizeof header, "%s", SHAPES("F32", "12", "36", ""));
    while (n % 4 != rest) header[n++] = ' ';
    header[n] = 0;
    return file(header, numbers, sizeof numbers);
}

static void begin(struct params *ps, const struct kernels *k)
{
    params_init(ps, k);
    params_add(ps, "first", 2, 3, true);
    params_add(ps, "second", 1, 3, false);
}

static void are_the_numbers(const struct params *ps)
{
    float x[6];
    param_get(ps, ps->value, 0, x);
    for (int i = 0; i < 6; i++) assert_true(x[i] == (float)(1 + i));
    assert_true(param_value(ps, 1)[0] == 7 && param_value(ps, 1)[2] == 9);
}

static bool inside(const struct st_file *f, const void *p)
{
    const unsigned char *at = p;
    return at >= f->map.p && at < f->map.p + f->map.n;
}

static void float32_is_used_where_it_is(void **state)
{
    (void)state;
    struct params ps;
    begin(&ps, kernels_cpu());
    struct st_file *f = floats(0);
    assert_int_equal(params_fit(&ps, f), 0);
    assert_int_equal(params_use(&ps, f), 0);
    assert_true(inside(f, param_value(&ps, 0)) && inside(f, param_value(&ps, 1)));
    assert_int_equal(ps.total, 9);
    are_the_numbers(&ps);

    /* with memory of its own: the layout of params_alloc, and the file stays as it was */
    assert_int_equal(params_own_memory(&ps), 0);
    are_the_numbers(&ps);
    assert_null(ps.mapped);
    assert_int_equal(ps.p[0].at, 0);
    assert_int_equal(ps.p[1].at, 64);
    assert_int_equal(ps.total, 128);
    float *x = param_value(&ps, 0);
    for (int i = 6; i < 64; i++) assert_true(x[i] == 0);
    x[0] = 100;
    assert_int_equal(params_own_memory(&ps), 0);     /* it has that already */
    assert_true(param_value(&ps, 0)[0] == 100);
    params_free(&ps);
    f = st_open(PATH);
    assert_memory_equal(f->t[1].data, numbers + 3, 24);
    st_close(f);
}

static size_t some_room(void) { return 1 << 20; }

static void what_cannot_be_used_where_it_is_is_copied(void **state)
{
    (void)state;
    struct params ps;
    for (size_t rest = 1; rest < 4; rest++) {        /* floats between the addresses of floats */
        begin(&ps, kernels_cpu());
        assert_int_equal(params_use(&ps, floats(rest)), 0);
        assert_null(ps.mapped);
        are_the_numbers(&ps);
        params_free(&ps);
    }
    /* 7 8 9 1 ... 6 in half precision */
    static const uint16_t half[9] = { 0x4700, 0x4800, 0x4880, 0x3C00, 0x4000, 0x4200, 0x4400,
                                      0x4500, 0x4600 };
    begin(&ps, kernels_cpu());
    assert_int_equal(params_use(&ps, file(SHAPES("F16", "6", "18", ""), half, sizeof half)), 0);
    assert_null(ps.mapped);
    are_the_numbers(&ps);
    params_free(&ps);

    struct kernels device = *kernels_cpu();          /* one with memory of its own */
    device.room = some_room;
    begin(&ps, &device);
    assert_int_equal(params_use(&ps, floats(0)), 0);
    assert_null(ps.mapped);
    are_the_numbers(&ps);
    params_free(&ps);

    begin(&ps, kernels_cpu());                       /* no reading as float32 */
    static const int32_t whole[9] = { 0 };
    assert_int_equal(params_use(&ps, file(SHAPES("I32", "12", "36", ""), whole, sizeof whole)),
                     -1);
    params_free(&ps);
}

/* By hand: 3 / 127 times 42, 85, 127 are nearest to 1, 2, 3; 6 / 127 times 85, 106, 127 to 4, 5,
 * 6. */
static void are_held_in_8_bits(struct params *ps)
{
    const float a = 3.0f / 127, b = 6.0f / 127,
                held[6] = { a * 42, a * 85, a * 127, b * 85, b * 106, b * 127 };
    float x[6];
    param_get(ps, ps->value, 0, x);
    assert_memory_equal(x, held, sizeof held);
    assert_null(param_value(ps, 0));
    assert_null(param_int8(ps, 1));
    assert_true(param_value(ps, 1)[0] == 7 && param_value(ps, 1)[2] == 9);
    assert_int_equal(ps->total, 64);                 /* floats of the vector alone */
    assert_null(ps->mapped);

    float in[3] = { 0, -2, 0 }, y[3];
    KERN(ps->k, linear_fwd, .Y = y, .X = in, .W8 = param_int8(ps, 0), .b = param_value(ps, 1),
         .N = 1, .I = 3, .O = 2);
    assert_true(y[0] == (float)(-127 * 85) * (2.0f / 127 * a) + 7);
    assert_true(y[1] == (float)(-127 * 106) * (2.0f / 127 * b) + 8);
    int32_t token = 1, pos = 0;
    KERN(ps->k, embed_fwd, .Y = y, .token = &token, .pos = &pos, .E8 = param_int8(ps, 0),
         .P = param_value(ps, 1), .scale = 2, .N = 1, .D = 3);
    for (int i = 0; i < 3; i++) assert_true(y[i] == 2 * held[3 + i] + (float)(7 + i));
}

static void matrices_can_be_held_in_8_bits(void **state)
{
    (void)state;
    struct params ps;
    for (size_t rest = 0; rest < 4; rest++) {
        begin(&ps, kernels_cpu_int8());
        params_hold_int8(&ps, 0);
        assert_int_equal(params_use(&ps, floats(rest)), 0);
        are_held_in_8_bits(&ps);
        assert_int_equal(params_write(&ps, ps.value, "no", NULL, NULL, 0), -1);
        params_free(&ps);
    }
    begin(&ps, kernels_cpu_int8());
    assert_int_equal(params_alloc(&ps, true), -1);
    assert_non_null(strstr(err_msg(), "cannot be trained"));
    params_free(&ps);

    float bad[9];
    memcpy(bad, numbers, sizeof bad);
    bad[7] = __builtin_inff();                       /* of the second row */
    begin(&ps, kernels_cpu_int8());
    params_hold_int8(&ps, 0);
    assert_int_equal(params_use(&ps, file(SHAPES("F32", "12", "36", ""), bad, sizeof bad)), -1);
    assert_non_null(strstr(err_msg(), "x.safetensors: tensor first: row 1 has a number"));
    params_free(&ps);
}

/* Of the matrix 1 to 6, its first row times 2 later: as by hand above. */
static void what_is_learnt_can_have_copies_in_8_bits(void **state)
{
    (void)state;
    struct params ps;
    const float row[3] = { 1, 2, 3 }, b = 6.0f / 127;
    begin(&ps, kernels_cpu());
    assert_int_equal(params_alloc(&ps, true), 0);
    assert_int_equal(params_copy_int8(&ps, 0), 0);
    for (int i = 0; i < 6; i++) param_value(&ps, 0)[i] = (float)(1 + i);
    assert_int_equal(params_round(&ps), 0);
    for (int twice = 1; twice <= 2; twice++) {
        const float a = 3.0f / 127 * (float)twice,
                    rounded[6] = { a * 42, a * 85, a * 127, b * 85, b * 106, b * 127 };
        assert_null(param_int8(&ps, 0));
        ps.rounded = true;
        assert_null(param_int8(&ps, 1));
        for (int32_t token = 0; token < 2; token++) {
            float y[3];
            KERN(ps.k, embed_fwd, .Y = y, .token = &token, .E = param_value(&ps, 0),
                 .E8 = param_int8(&ps, 0), .scale = 1, .N = 1, .D = 3);
            assert_memory_equal(y, rounded + 3 * token, sizeof y);
        }
        ps.rounded = false;
        float x[6];
        param_get(&ps, ps.value, 0, x);
        for (int i = 0; i < 3; i++) assert_true(x[i] == row[i] * (float)twice);
        for (int i = 0; i < 3; i++) param_value(&ps, 0)[i] = 2 * row[i];
        assert_int_equal(params_round(&ps), 0);
    }
    param_value(&ps, 0)[4] = __builtin_inff();
    assert_int_equal(params_round(&ps), -1);
    assert_non_null(strstr(err_msg(), "tensor first: row 1 has a number"));
    params_free(&ps);
}

/* A folder's weights with `data` under the checksum of `numbers`. */
static struct st_file *weights(const float *data)
{
    struct st_tensor t = { "t", ST_F32, 1, { 9 }, numbers, sizeof numbers };
    assert_int_equal(dir_make("m"), 0);
    assert_int_equal(st_write("m/weights.safetensors", &t, 1, NULL, NULL, 0), 0);
    size_t n;
    char *bytes = file_read("m/weights.safetensors", &n);
    memcpy(bytes + n - sizeof numbers, data, sizeof numbers);
    assert_int_equal(file_write("m/weights.safetensors", bytes, n), 0);
    free(bytes);
    return st_open("m/weights.safetensors");
}

static void both_checksums_are_looked_at(void **state)
{
    (void)state;
    const float other[9] = { 7, 8, 9, 1, 2, 3, 4, 5, 6.5f };
    for (int threads = 1; threads <= 2; threads++) {
        par_threads_set(threads);
        struct st_file *f = weights(numbers);
        assert_int_equal(model_sum_write("m"), 0);
        assert_int_equal(model_sum_check_weights("m", f), 0);
        st_close(f);

        f = weights(other);                          /* model.sum is of the file before */
        assert_int_equal(model_sum_check_weights("m", f), -1);
        assert_non_null(strstr(err_msg(), "m/weights.safetensors: damaged or changed"));
        assert_int_equal(model_sum_write("m"), 0);   /* now it agrees, but the file with itself */
        assert_int_equal(model_sum_check_weights("m", f), -1);
        assert_non_null(strstr(err_msg(), "m/weights.safetensors: damaged: the data has"));
        st_close(f);
    }
    par_threads_set(1);
}

/* --- model.sum, line by line ------------------------------------------------------------------ */

/* Checks folder s, and says on standard error what follows: `why` ends the message of a check that
 * fails; NULL: it does not. */
static void sums(const char *why, const char *notes)
{
    int old = dup(2);
    size_t n;
    assert_non_null(freopen("said", "w", stderr));
    int rc = model_sum_check("s");
    fflush(stderr);
    dup2(old, 2);
    close(old);
    char *said = file_read("said", &n);
    assert_string_equal(said, notes);
    if (rc == 0 && why) fail_msg("%s: it is taken", why);
    if (rc < 0 && (!why || !strstr(err_msg(), why))) fail_msg("%s", err_msg());
    free(said);
}

static void sum_is(const char *text, const char *why)
{
    assert_int_equal(file_write("s/model.sum", text, strlen(text)), 0);
    sums(why, "");
}

/* Of files "x" and "a 1", by xxhash itself. */
static void a_list_of_checksums_is_taken_as_it_is_written_alone(void **state)
{
    (void)state;
    static const char CODES[] = "x\n", VOCAB[] = "a 1\n";
    char a[80], b[80], text[400], why[200];
    size_t n;
    snprintf(a, sizeof a, "XXH3_%016llx  codes\n", (unsigned long long)XXH3_64bits(CODES, 2));
    snprintf(b, sizeof b, "XXH3_%016llx  vocab\n", (unsigned long long)XXH3_64bits(VOCAB, 4));
    assert_int_equal(dir_make("s"), 0);
    assert_int_equal(file_write("s/codes", CODES, 2), 0);
    assert_int_equal(file_write("s/vocab", VOCAB, 4), 0);
    sums(NULL, "isoglot: s: has no model.sum, so damage to its files may go unnoticed\n");
    assert_int_equal(model_sum_write("s"), 0);
    char *written = file_read("s/model.sum", &n);
    snprintf(text, sizeof text, "%s%s", a, b);
    assert_string_equal(written, text);
    free(written);
    sums(NULL, "");
    assert_int_equal(file_write("s/tokenizer", "", 0), 0);
    sums(NULL, "isoglot: s/tokenizer: is not in model.sum: damage to it may go unnoticed\n");
    assert_int_equal(unlink("s/tokenizer"), 0);
    static const char bad[] = "damaged: not a checksum and a file's name, in order";
    static const char other[] = "XXH3_0123456789abcdef  ";
    sum_is("", "s/model.sum: is empty");
    snprintf(text, sizeof text, "%s%.*s", a, (int)strlen(b) - 1, b);         /* no last newline */
    snprintf(why, sizeof why, "s/model.sum:2: %s", bad);
    sum_is(text, why);
    snprintf(text, sizeof text, "%s%s", a, a);
    sum_is(text, why);
    snprintf(text, sizeof text, "%s%s", b, a);
    sum_is(text, why);
    snprintf(text, sizeof text, "%s\n%s", a, b);
    sum_is(text, why);
    snprintf(why, sizeof why, "s/model.sum:1: %s", bad);
    const char *const wrong[] = { "XXH3_0123456789ABCDEF  codes\n", "XXH3_0123456789abcdef codes\n",
                                  "XXH4_0123456789abcdef  codes\n", "XXH3_0123456789abcde  codes\n",
                                  "XXH3_0123456789abcdef  notes\n", "XXH3_0123456789abcdef  code\n",
                                  "XXH3_0123456789abcdef  codesx\n", "XXH3_0123456789abcdef  \n" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) sum_is(wrong[i], why);
    snprintf(text, sizeof text, "%scodes\n", other);
    snprintf(why, sizeof why, "s/codes: damaged or changed: its checksum is %.16s, not "
                              "0123456789abcdef as in s/model.sum", a + 5);
    sum_is(text, why);
    assert_int_equal(unlink("s/codes"), 0);
    snprintf(text, sizeof text, "%s%s", a, b);
    sum_is(text, "s/codes: missing; s/model.sum lists it");
}

/* A sum of one file stands alone, and for that file. */
static void a_file_has_a_sum_of_its_own(void **state)
{
    (void)state;
    char want[80];
    size_t n;
    assert_int_equal(dir_make("o"), 0);
    assert_int_equal(file_write("o/state.json", "{}\n", 3), 0);
    msg_set_quiet(true);
    assert_int_equal(sum_file_check("o", "state.json", "state.sum"), 0);
    assert_int_equal(sum_file_write("o", "state.json", "state.sum"), 0);
    snprintf(want, sizeof want, "XXH3_%016llx  state.json\n",
             (unsigned long long)XXH3_64bits("{}\n", 3));
    char *text = file_read("o/state.sum", &n);
    assert_string_equal(text, want);
    free(text);
    assert_int_equal(sum_file_check("o", "state.json", "state.sum"), 0);
    strcat(want, "\n");
    assert_int_equal(file_write("o/state.sum", want, strlen(want)), 0);
    assert_int_equal(sum_file_check("o", "state.json", "state.sum"), -1);
    assert_int_equal(file_write("o/state.sum", want, strlen(want) - 1), 0);
    assert_int_equal(file_write("o/state.json", "{ \n", 3), 0);
    assert_int_equal(sum_file_check("o", "state.json", "state.sum"), -1);
    assert_non_null(strstr(err_msg(), "o/state.json: damaged or changed"));
    assert_int_equal(sum_file_remove("o", "state.sum"), 0);
    assert_false(file_exists("o/state.sum"));
    assert_int_equal(sum_file_remove("o", "state.sum"), 0);
}

/* Every file that a model's folder may have, in the order of their names; the checksum of "abc" by
 * Python's xxhash.xxh3_64. */
static void all_files_of_a_model_are_listed(void **state)
{
    (void)state;
    static const char *const all[] = { "added_tokens.json", "codes", "config.json", "pieces.json",
                                       "sentencepiece.model", "tokenizer", "tokenizer.json",
                                       "vocab", "weights.safetensors", "words.safetensors" };
    char text[1000] = "", path[40], why[80];
    if (file_exists("s")) assert_int_equal(dir_remove("s"), 0);
    assert_int_equal(dir_make("s"), 0);
    for (int i = 0; i < 10; i++) {
        snprintf(path, sizeof path, "s/%s", all[i]);
        assert_int_equal(file_write(path, "abc", 3), 0);
        strcat(strcat(strcat(text, "XXH3_78af5f94892f3950  "), all[i]), "\n");
    }
    assert_int_equal(file_write("s/README.md", "abc", 3), 0);
    assert_int_equal(model_sum_write("s"), 0);
    char *written = file_read("s/model.sum", NULL);
    assert_string_equal(written, text);
    free(written);
    sums(NULL, "");
    for (int i = 0; i < 10; i++) {
        snprintf(path, sizeof path, "s/%s", all[i]);
        assert_int_equal(file_write(path, "abd", 3), 0);
        snprintf(why, sizeof why, "%s: damaged or changed", path);
        sums(why, "");
        assert_int_equal(unlink(path), 0);
        snprintf(why, sizeof why, "%s: missing; s/model.sum lists it", path);
        sums(why, "");
        assert_int_equal(file_write(path, "abc", 3), 0);
    }
    sums(NULL, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(float32_is_used_where_it_is),
        cmocka_unit_test(what_cannot_be_used_where_it_is_is_copied),
        cmocka_unit_test(matrices_can_be_held_in_8_bits),
        cmocka_unit_test(what_is_learnt_can_have_copies_in_8_bits),
        cmocka_unit_test(both_checksums_are_looked_at),
        cmocka_unit_test(a_list_of_checksums_is_taken_as_it_is_written_alone),
        cmocka_unit_test(all_files_of_a_model_are_listed),
        cmocka_unit_test(a_file_has_a_sum_of_its_own),
    };
    if (scratch_enter() != 0) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_leave();
    return failed;
}
