/* Event files for TensorBoard, byte by byte; test/peers/tensorboard.sh has TensorBoard itself read
 * them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/prog/log.h"
#include "test/unit/scratch.h"

static void the_checksum_is_castagnolis(void **state)
{
    (void)state;
    assert_int_equal(tfevents_crc32c("123456789", 9),
                     0xE3069283u); /* RFC 3720's polynomial, the usual check value */
    unsigned char zeros[32] = { 0 };
    assert_int_equal(tfevents_crc32c(zeros, 32), 0x8A9136AAu);               /* RFC 3720, B.4 */
    assert_int_equal(tfevents_crc32c("", 0), 0);
}

static uint64_t le(const unsigned char *p, int n)
{
    uint64_t v = 0;
    while (n--) v = v << 8 | p[n];
    return v;
}

/* The data of the record at *at, checked against both checksums. */
static const unsigned char *record(const unsigned char *p, size_t size, size_t *at, size_t *n)
{
    assert_true(*at + 16 <= size);
    const unsigned char *r = p + *at;
    *n = le(r, 8);
    assert_true(*at + 16 + *n <= size);
    uint32_t c = tfevents_crc32c(r, 8);
    assert_int_equal(le(r + 8, 4), (uint32_t)((c >> 15 | c << 17) + 0xa282ead8u));
    c = tfevents_crc32c(r + 12, *n);
    assert_int_equal(le(r + 12 + *n, 4), (uint32_t)((c >> 15 | c << 17) + 0xa282ead8u));
    *at += 16 + *n;
    return r + 12;
}

static void numbers_of_a_log_become_scalars(void **state)
{
    (void)state;
    glob_t g;
    struct log *l = log_open("log.jsonl");
    assert_int_equal(log_tensorboard(l, "board", 7), 0);
    log_begin(l, "train", 300);
    log_real(l, "loss", 0.5);
    log_str(l, "note", "no number");
    assert_int_equal(log_end(l), 0);
    log_begin(l, "valid", 5);
    log_real(l, "loss", 2);
    assert_int_equal(log_end(l), 0);
    for (int64_t step = 127; step <= 128; step++) {
        log_begin(l, "test", step);
        assert_int_equal(log_end(l), 0);
    }
    log_close(l);
    assert_int_equal(glob("board/events.out.tfevents.*", 0, NULL, &g), 0);
    assert_int_equal(g.gl_pathc, 1);
    size_t size, at = 0, n;
    unsigned char *p = (unsigned char *)file_read(g.gl_pathv[0], &size);
    const unsigned char *e = record(p, size, &at, &n);
    assert_int_equal(e[0], 0x09);                                   /* wall_time, a double */
    assert_memory_equal(e + 9, "\x1a\x0d" "brain.Event:2", 15);
    assert_int_equal(n, 24);
    e = record(p, size, &at, &n);
    assert_memory_equal(e + 9, "\x10\x07\x3a\x02\x08\x01", 6);      /* step 7: a session starts */
    e = record(p, size, &at, &n);
    assert_memory_equal(e + 9, "\x10\xac\x02", 3);                  /* step 300 */
    assert_memory_equal(e + 12, "\x2a\x13\x0a\x11\x0a\x0a" "train/loss" "\x15\x00\x00\x00\x3f", 21);
    assert_int_equal(n, 33);
    e = record(p, size, &at, &n);
    /* a line's step and time are no scalars of the line before */
    assert_memory_equal(e + 9, "\x10\x05", 2);
    assert_memory_equal(e + 11, "\x2a\x13\x0a\x11\x0a\x0a" "valid/loss" "\x15\0\0\0\x40", 21);
    assert_int_equal(n, 32);
    /* seven bits a byte: the last number of one byte and the first of two; then no scalars */
    e = record(p, size, &at, &n);
    assert_memory_equal(e + 9, "\x10\x7f\x2a\0", 4);
    assert_int_equal(n, 13);
    e = record(p, size, &at, &n);
    assert_memory_equal(e + 9, "\x10\x80\x01\x2a\0", 5);
    assert_int_equal(n, 14);
    assert_int_equal(at, size);
    free(p);
    globfree(&g);
}

static void a_folder_that_cannot_be_made_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(file_write("file", "x", 1), 0);
    assert_null(tfevents_open("file/board", 1));
    assert_non_null(strstr(err_msg(), "file"));
}

int main(void)
{
    if (scratch_enter() < 0) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_checksum_is_castagnolis),
        cmocka_unit_test(numbers_of_a_log_become_scalars),
        cmocka_unit_test(a_folder_that_cannot_be_made_is_an_error),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_leave();
    return failed;
}
