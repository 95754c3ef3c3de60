/* common/files/npy.h: what an archive of more than 4 GiB ends with, byte for byte as Python's
 * zipfile (test/golden/npy.py); smaller ones are whole in test/cli/python-files.sh. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>
#include "common/files/npy.h"

static void sizes_above_two_gib_are_in_zip64_fields(void **state)
{
    (void)state;
    struct npz z = { .at = (8ull << 30) + 1, .n = 3, .member = {
        { "indices.npy", 0x01020304, 144, 0 },
        { "data.npy", 0xfffefdfc, 5ull << 30, 205 },
        { "indptr.npy", 7, 1ull << 31, (5ull << 30) + 263 } } };
    unsigned char got[NPZ_DIRECTORY];
    char path[4096];
    const char *top = getenv("TOP");
    snprintf(path, sizeof path, "%s/test/golden/npy/directory", top ? top : ".");
    size_t n;
    char *expected = file_read(path, &n);
    assert_non_null(expected);
    assert_int_equal(npz_directory(&z, got), n);
    assert_memory_equal(got, expected, n);
    free(expected);
}

/* numpy.lib.format: the header's length is a multiple of 64, and it ends with a line's end */
static void headers_have_room_for_any_shape(void **state)
{
    (void)state;
    unsigned char head[NPY_HEAD];
    npy_head(head, "<f4", 2, (uint64_t[]){ UINT64_MAX, UINT64_MAX });
    static const char longest[] = "\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': "
                                  "False, 'shape': (18446744073709551615, 18446744073709551615), }";
    assert_memory_equal(head, longest, sizeof longest - 1);
    assert_int_equal(head[NPY_HEAD - 1], '\n');
    npy_head(head, "|S3", 0, NULL);
    assert_memory_equal(head + 10, "{'descr': '|S3', 'fortran_order': False, 'shape': (), } ", 56);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_above_two_gib_are_in_zip64_fields),
        cmocka_unit_test(headers_have_room_for_any_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
