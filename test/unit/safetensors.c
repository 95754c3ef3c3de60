/* common/json/safetensors.h: what it writes reads back; what is hostile is refused. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "common/err.h"
#include "common/json/safetensors.h"
#include "test/unit/scratch.h"

#define PATH "x.safetensors"

static void put(const char *header, size_t header_says, const void *data, size_t n)
{
    FILE *f = fopen(PATH, "wb");
    uint64_t size = header_says;
    fwrite(&size, 1, 8, f);
    fwrite(header, 1, strlen(header), f);
    fwrite(data, 1, n, f);
    fclose(f);
}

/* A file with this header and n bytes of data must be refused with a message that has the path and
 * `why`. */
static void refused(const char *header, size_t n, const char *why)
{
    char data[64] = { 0 };
    put(header, strlen(header), data, n);
    err_set("no message");
    struct st_file *f = st_open(PATH);
    if (f) fail_msg("was read: %s", header);
    if (!strstr(err_msg(), PATH ": ") || !strstr(err_msg(), why))
        fail_msg("'%s' lacks '%s' for %s", err_msg(), why, header);
    assert_null(strchr(err_msg(), '\n'));
}

#define T(name, dtype, shape, begin, end)                                                          \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":[" begin "," end   \
    "]}"

static void what_is_written_reads_back(void **state)
{
    (void)state;
    static const float w[6] = { 1, -2, 3.5f, 0, 1e-40f, 7 };
    static const int64_t ids[3] = { -1, 2, INT64_MAX };
    static const uint8_t odd[3] = { 1, 2, 3 };
    struct st_tensor t[] = {
        { "z.weight", ST_F32, 2, { 2, 3 }, w, sizeof w },
        { "ids \"quoted\" \xC3\xA9", ST_I64, 1, { 3 }, ids, sizeof ids },
        { "odd", ST_U8, 1, { 3 }, odd, 3 },
        { "none", ST_F32, 2, { 0, 9 }, NULL, 0 },
        { "scalar", ST_F32, 0, { 0 }, w + 2, 4 },
    };
    const char *key[] = { "format", "config" }, *value[] = { "pt", "lr = 1\n\"x\"\t\\" };
    assert_int_equal(st_write(PATH, t, 5, key, value, 2), 0);
    struct st_file *f = st_open(PATH);
    assert_non_null(f);
    assert_int_equal(f->n, 5);
    assert_string_equal(f->t[0].name, "z.weight"); /* the order of the data, not of the header */
    const struct st_tensor *x = st_find(f, "ids \"quoted\" \xC3\xA9");
    assert_non_null(x);
    assert_int_equal(x->dtype, ST_I64);
    assert_memory_equal(x->data, ids, sizeof ids);
    x = st_find(f, "z.weight");
    assert_int_equal(x->ndim, 2);
    assert_int_equal(x->shape[1], 3);
    assert_int_equal((uintptr_t)x->data % 8, 0);
    float back[6];
    assert_int_equal(st_floats(x, back, 6), 0);
    assert_memory_equal(back, w, sizeof w);
    assert_int_equal(st_floats(x, back, 5), -1);
    assert_int_equal(st_floats(st_find(f, "odd"), back, 3), -1);
    x = st_find(f, "none");
    assert_int_equal(x->bytes, 0);
    assert_int_equal(st_floats(x, back, 0), 0);
    x = st_find(f, "scalar");
    assert_int_equal(x->ndim, 0);
    assert_int_equal(st_floats(x, back, 1), 0);
    assert_true(back[0] == 3.5f);
    assert_string_equal(st_meta(f, "config"), value[1]);
    assert_null(st_meta(f, "absent"));
    assert_null(st_find(f, "absent"));
    assert_int_equal(st_verify(f), 0);
    st_close(f);
}

static void the_same_arrays_give_the_same_bytes_and_the_header_is_the_documented_one(void **state)
{
    (void)state;
    static const float w[2] = { 1, 2 };
    struct st_tensor t[] = { { "b", ST_F32, 1, { 1 }, w, 4 }, { "a", ST_F32, 1, { 1 }, w + 1, 4 } };
    const char *key[] = { "zz" }, *value[] = { "1" };
    assert_int_equal(st_write(PATH, t, 2, key, value, 1), 0);
    size_t n;
    char *s = file_read(PATH, &n);
    const char *want = "{\"__metadata__\":{\"xxh3\":\"";
    assert_memory_equal(s + 8, want, strlen(want));
    want = "\",\"zz\":\"1\"},"
           "\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]},\"b\":{\"dtype\":"
           "\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}";
    assert_memory_equal(s + 8 + 25 + 16, want, strlen(want));
    uint64_t size;
    memcpy(&size, s, 8);
    assert_int_equal(size % 8, 0);
    assert_int_equal(8 + size + 8, n);
    assert_int_equal(st_write("y.safetensors", t, 2, key, value, 1), 0);
    size_t m;
    char *again = file_read("y.safetensors", &m);
    assert_int_equal(n, m);
    assert_memory_equal(s, again, n);
    free(s);
    free(again);
    /* whatever the length of the header's text, data begin at a multiple of 8 */
    for (const char *long_value = "12345678"; *long_value; long_value++) {
        assert_int_equal(st_write(PATH, t, 2, key, &long_value, 1), 0);
        assert_non_null(s = file_read(PATH, &n));
        memcpy(&size, s, 8);
        assert_int_equal(size % 8, 0);
        free(s);
    }
}

static void half_bfloat_and_double_become_floats_exactly(void **state)
{
    (void)state;
    static const uint16_t half[] = {
        0x3C00, 0xC000, 0x0001, 0x8400, 0x7BFF, 0x7C00, 0x8000, 0x03FF
    };
    static const float want[] = {
        1, -2, 0x1p-24f, -0x1p-14f, 65504, INFINITY, -0.0f, 0x1.ff8p-15f
    };
    static const uint16_t brain[] = { 0x3F80, 0xC000, 0x7F80 };
    static const double dbl[] = { 0.5, -1e300 };
    static const uint16_t nan_half[] = { 0x7E00 };
    struct st_tensor t[] = {
        { "half", ST_F16, 1, { 8 }, half, sizeof half },
        { "brain", ST_BF16, 1, { 3 }, brain, sizeof brain },
        { "double", ST_F64, 1, { 2 }, dbl, sizeof dbl },
        { "nan", ST_F16, 1, { 1 }, nan_half, 2 },
    };
    assert_int_equal(st_write(PATH, t, 4, NULL, NULL, 0), 0);
    struct st_file *f = st_open(PATH);
    assert_non_null(f);
    float x[8];
    assert_int_equal(st_floats(st_find(f, "half"), x, 8), 0);
    assert_memory_equal(x, want, sizeof want);
    assert_int_equal(st_floats(st_find(f, "brain"), x, 3), 0);
    assert_true(x[0] == 1 && x[1] == -2 && isinf(x[2]));
    assert_int_equal(st_floats(st_find(f, "double"), x, 2), 0);
    assert_true(x[0] == 0.5f && isinf(x[1]) && x[1] < 0);
    assert_int_equal(st_floats(st_find(f, "nan"), x, 1), 0);
    assert_true(isnan(x[0]));
    st_close(f);
}

static void a_foreign_file_with_other_order_padding_and_no_checksum_is_read(void **state)
{
    (void)state;
    static const float data[3] = { 1, 2, 3 };
    const char *h = "{" T("b", "F32", "[2]", "4", "12") ",\"__metadata__\":{}," T(
        "a", "F32", "[]", "0", "4") ",\"\":{\"dtype\":\"BOOL\","
                                    "\"shape\":[0],\"data_offsets\":[4,4],\"extra\":null}}     ";
    put(h, strlen(h), data, sizeof data);
    struct st_file *f = st_open(PATH);
    assert_non_null(f);
    assert_int_equal(f->n, 3);
    assert_string_equal(f->t[0].name, "a");
    float x[2];
    assert_int_equal(st_floats(st_find(f, "b"), x, 2), 0);
    assert_true(x[0] == 2 && x[1] == 3);
    assert_int_equal(st_verify(f), 0);
    st_close(f);
}

static void offsets_that_overlap_leave_holes_or_run_out_are_refused(void **state)
{
    (void)state;
    refused("{" T("a", "F32", "[2]", "0", "8") "," T("b", "F32", "[2]", "4", "12") "}", 12,
            "\"b\" overlaps");
    refused("{" T("a", "F32", "[2]", "0", "8") "," T("b", "F32", "[2]", "0", "8") "}", 8,
            "overlaps");
    refused("{" T("a", "F32", "[1]", "0", "4") "," T("b", "F32", "[1]", "8", "12") "}", 12, "hole");
    refused("{" T("a", "F32", "[1]", "4", "8") "}", 8, "hole");
    refused("{" T("a", "F32", "[4]", "0", "16") "}", 15, "ends at byte 16 of 15");
    refused("{" T("a", "F32", "[1]", "0", "4") "}", 5, "1 bytes at its end");
    refused("{}", 1, "belong to no tensor");
    refused("{" T("a", "F32", "[1]", "4", "0") "}", 4, "data_offsets");
    refused("{" T("a", "F32", "[1]", "-4", "0") "}", 4, "data_offsets");
    refused("{" T("a", "F32", "[1]", "0.5", "4.5") "}", 8, "data_offsets");
    refused("{" T("a", "F32", "[1]", "0", "4,8") "}", 8, "data_offsets");
    refused("{" T("a", "U8", "[1]", "18446744073709551615", "18446744073709551616") "}", 1,
            "data_offsets");
    refused("{" T("a", "U8", "[1]", "1e400", "1e400") "}", 1, "data_offsets");
}

static void shapes_that_lie_are_refused(void **state)
{
    (void)state;
    refused("{" T("a", "F32", "[-1]", "0", "4") "}", 4, "dimension");
    refused("{" T("a", "F32", "[1.5]", "0", "6") "}", 6, "dimension");
    refused("{" T("a", "F32", "[\"1\"]", "0", "4") "}", 4, "dimension");
    refused("{" T("a", "F32", "[3]", "0", "8") "}", 8, "shape");
    refused("{" T("a", "F32", "[4294967296,4294967296,1]", "0", "0") "}", 0,
            "shape"); /* 2^66 wraps to 0 */
    refused("{" T("a", "F32", "[4611686018427387904]", "0", "0") "}", 0, "dimension");
    refused("{" T("a", "F32", "[1,1,1,1,1,1,1,1,1]", "0", "4") "}", 4, "more than 8 dimensions");
    refused("{" T("a", "F32", "{}", "0", "4") "}", 4, "no shape");
}

static void types_names_and_fields_that_are_wrong_are_refused(void **state)
{
    (void)state;
    refused("{" T("a", "F33", "[1]", "0", "4") "}", 4, "F33");
    refused("{" T("a", "f32", "[1]", "0", "4") "}", 4, "f32");
    refused("{\"a\":{\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "no dtype");
    refused("{\"a\":{\"dtype\":4,\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "no dtype");
    refused("{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
            "two fields");
    refused("{" T("a", "F32", "[1]", "0", "4") "," T("a", "F32", "[1]", "4", "8") "}", 8,
            "\"a\" occurs twice");
    refused("{" T("a", "F32", "[0]", "0", "0") "," T("\\u0061", "F32", "[0]", "0", "0") "}", 0,
            "twice");
    refused("{" T("a\\u0000b", "F32", "[0]", "0", "0") "}", 0, "NUL");
    refused("{\"a\":[]}", 0, "not described");
    refused("{\"__metadata__\":[]}", 0, "__metadata__");
    refused("{\"__metadata__\":{\"a\":1}}", 0, "not a string");
    refused("{\"__metadata__\":{\"a\":\"\",\"a\":\"\"}}", 0, "twice");
    refused("{\"__metadata__\":{},\"__metadata__\":{}}", 0, "twice");
    refused("{" T("new\\nline \\u0007", "F33", "[1]", "0", "4") ",\"b\":1}", 4, "F33");
    refused("{\"new\\nline\":1}", 0, "new\\x0Aline");
#define FORTY "abcdefghijklmnopqrstuvwxyz: 40 letters.."
    refused("{\"" FORTY FORTY "no more\":1}", 0, "\"" FORTY FORTY "\" is not described");
    refused("{\"\xC3(\":1}", 0, "byte 2 of the header is not UTF-8");
}

static void headers_that_are_too_long_too_short_or_no_json_are_refused(void **state)
{
    (void)state;
    const char *h = "{" T("a", "F32", "[1]", "0", "4") "}";
    static const uint64_t lies[] = {
        0, 1, 1000, 100000001, UINT64_MAX, (uint64_t)1 << 63, UINT64_MAX - 7
    };
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        put(h, lies[i], "1234", 4);
        err_set("no message");
        assert_null(st_open(PATH));
        assert_non_null(strstr(err_msg(), "safetensors"));
    }
    refused("[]", 0, "not JSON");
    refused("{\"a\"", 0, "not valid JSON");
    refused("{}x", 0, "follows");
    refused("{}{}", 0, "follows");
    char deep[3000] = "{\"a\":";
    memset(deep + 5, '[', 2900);
    refused(deep, 0, "not valid JSON");
}

/* A file that fills its page, so that a byte read behind it ends the program: headers that end with
 * it, and up to 8 bytes later. */
static void a_header_that_ends_behind_the_file_is_refused_unread(void **state)
{
    (void)state;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *s = malloc(page);
    assert_non_null(s);
    memset(s, ' ', page);
    for (uint64_t over = 0; over <= 8; over++) {
        uint64_t size = page - 8 + over;
        memcpy(s, &size, 8);
        memcpy(s + 8, "{}", 2);
        assert_int_equal(file_write(PATH, s, page), 0);
        struct st_file *f = st_open(PATH);
        if (over == 0 && !f) fail_msg("%s", err_msg());
        if (over > 0) {
            assert_null(f);
            assert_non_null(strstr(err_msg(), "cut short: a header of"));
        } else st_close(f);
    }
    free(s);
}

static void a_file_cut_short_anywhere_is_refused(void **state)
{
    (void)state;
    static const float w[4] = { 1, 2, 3, 4 };
    struct st_tensor t[] = { { "a", ST_F32, 1, { 1 }, w, 4 },
                             { "b", ST_F32, 1, { 3 }, w + 1, 12 } };
    assert_int_equal(st_write(PATH, t, 2, NULL, NULL, 0), 0);
    size_t n;
    char *s = file_read(PATH, &n);
    for (size_t k = 0; k < n; k++) {
        assert_int_equal(file_write("cut.safetensors", s, k), 0);
        err_set("no message");
        assert_null(st_open("cut.safetensors"));
        assert_non_null(strstr(err_msg(), "cut.safetensors: "));
    }
    free(s);
    assert_null(st_open("missing.safetensors"));
}

static void a_flipped_bit_in_the_data_fails_the_check(void **state)
{
    (void)state;
    static const float w[4] = { 1, 2, 3, 4 };
    struct st_tensor t[] = { { "a", ST_F32, 1, { 4 }, w, 16 } };
    assert_int_equal(st_write(PATH, t, 1, NULL, NULL, 0), 0);
    size_t n;
    char *s = file_read(PATH, &n);
    for (size_t k = n - 16; k < n; k++) {
        s[k] ^= 4;
        assert_int_equal(file_write("bit.safetensors", s, n), 0);
        s[k] ^= 4;
        struct st_file *f = st_open("bit.safetensors");
        assert_non_null(f);
        assert_int_equal(st_verify(f), -1);
        assert_non_null(strstr(err_msg(), "damaged"));
        st_close(f);
    }
    free(s);
}

static void the_writer_refuses_what_the_reader_would_and_leaves_no_file(void **state)
{
    (void)state;
    static const float w[4] = { 1, 2, 3, 4 };
    struct st_tensor twice[] = { { "a", ST_F32, 1, { 1 }, w, 4 }, { "a", ST_F32, 1, { 1 }, w, 4 } };
    struct st_tensor shape[] = { { "a", ST_F32, 2, { 2, 3 }, w, 16 } };
    struct st_tensor meta[] = { { "__metadata__", ST_F32, 1, { 4 }, w, 16 } };
    remove("never.safetensors");
    assert_int_equal(st_write("never.safetensors", twice, 2, NULL, NULL, 0), -1);
    assert_int_equal(st_write("never.safetensors", shape, 1, NULL, NULL, 0), -1);
    assert_int_equal(st_write("never.safetensors", meta, 1, NULL, NULL, 0), -1);
    assert_false(file_exists("never.safetensors"));
    struct st_tensor good[] = { { "a", ST_F32, 1, { 4 }, w, 16 } };
    assert_int_equal(st_write("/dev/full", good, 1, NULL, NULL, 0), -1);
    assert_non_null(strstr(err_msg(), "/dev/full: "));
}

/* IEEE 754: all bits of the exponent set; the largest finite numbers are finite, other types always
 * are. Enough numbers for several blocks, at an address that fits no type. */
static void numbers_that_are_not_finite_are_told(void **state)
{
    (void)state;
    static const struct { enum st_dtype type; uint64_t most, least; } t[] = {
        { ST_F32, 0xFF7FFFFF, 0xFF800000 },
        { ST_F16, 0xFBFF, 0x7C00 },
        { ST_BF16, 0x7F7F, 0x7FC0 },
        { ST_F64, 0x7FEFFFFFFFFFFFFF, 0xFFF8000000000000 },
    };
    enum { N = 5000, AT = 4100 };
    static unsigned char bytes[N * 8 + 1];
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        size_t size = st_dtype_size(t[i].type);
        struct st_tensor x = { .name = (char *)(uintptr_t)"x", .dtype = t[i].type, .ndim = 1,
                               .shape = { N }, .data = bytes + 1, .bytes = N * size };
        for (size_t k = 0; k < N; k++) memcpy(bytes + 1 + k * size, &t[i].most, size);
        assert_int_equal(st_tensor_finite("p", &x), 0);
        memcpy(bytes + 1 + AT * size, &t[i].least, size);
        assert_int_equal(st_tensor_finite("p", &x), -1);
        assert_non_null(strstr(err_msg(), "p: number 4101 of tensor x is not finite"));
        x.dtype = ST_U8;
        assert_int_equal(st_tensor_finite("p", &x), 0);
    }
}

int main(void)
{
    if (scratch_enter() < 0) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(the_same_arrays_give_the_same_bytes_and_the_header_is_the_documented_one),
        cmocka_unit_test(half_bfloat_and_double_become_floats_exactly),
        cmocka_unit_test(a_foreign_file_with_other_order_padding_and_no_checksum_is_read),
        cmocka_unit_test(offsets_that_overlap_leave_holes_or_run_out_are_refused),
        cmocka_unit_test(shapes_that_lie_are_refused),
        cmocka_unit_test(types_names_and_fields_that_are_wrong_are_refused),
        cmocka_unit_test(headers_that_are_too_long_too_short_or_no_json_are_refused),
        cmocka_unit_test(a_header_that_ends_behind_the_file_is_refused_unread),
        cmocka_unit_test(a_file_cut_short_anywhere_is_refused),
        cmocka_unit_test(a_flipped_bit_in_the_data_fails_the_check),
        cmocka_unit_test(numbers_that_are_not_finite_are_told),
        cmocka_unit_test(the_writer_refuses_what_the_reader_would_and_leaves_no_file),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_leave();
    return failed;
}
