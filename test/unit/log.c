/* common/prog/log.h: lines that any JSON reader takes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <cjson/cJSON.h>
#include <fcntl.h>
#include <math.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/prog/log.h"
#include "common/prog/progress.h"
#include "test/unit/scratch.h"

static char *text(const char *path)
{
    size_t n;
    char *s = file_read(path, &n);
    assert_non_null(s);
    return s;
}

static void write_step(const char *path, int64_t step)
{
    struct log *l = log_open(path);
    assert_non_null(l);
    log_begin(l, "train", step);
    assert_int_equal(log_end(l), 0);
    log_close(l);
}

static int lines(const char *path)
{
    char *s = text(path);
    int n = 0;
    for (char *p = s; (p = strchr(p, '\n')); p++) n++;
    free(s);
    return n;
}

static void a_line_reads_back_as_json_whatever_the_strings_hold(void **state)
{
    (void)state;
    static const char nasty[] = "quote \" backslash \\ newline \n tab \t bell \a delete \x7F "
                                "\x1F\xC3\xA9 \xF0\x9F\x98\x80 bad \xFF\xC3( end\xE2\x82";
    struct log *l = log_open("a.jsonl");
    assert_non_null(l);
    log_begin(l, "train", 12);
    log_int(l, "tokens", INT64_MIN);
    log_real(l, "loss", 1.0 / 3);
    log_real(l, "tiny", (double)1e-42f);
    /* a float32 of which eight digits are another one: 0x1.972c46p+3 */
    log_real(l, "digits", (double)12.7241535f);
    log_real(l, "nan", NAN);
    log_real(l, "inf", -INFINITY);
    log_str(l, "no\"te", nasty);
    log_str(l, "none", NULL);
    assert_int_equal(log_end(l), 0);
    log_close(l);
    char *s = text("a.jsonl");
    assert_memory_equal(s, "{\"event\":\"train\",\"step\":12,\"time\":", 34);
    assert_ptr_equal(strchr(s, '\n'), s + strlen(s) - 1);
    assert_non_null(strstr(s, "\"tokens\":-9223372036854775808"));
    /* JSON has no control characters in strings, cJSON takes some */
    assert_non_null(strstr(s, "bell \\u0007 delete \\u007f \\u001f\xC3"));
    assert_non_null(strstr(s, "\"digits\":12.7241535,"));
    int whole = 0, digits = 0;
    assert_int_equal(sscanf(s + 33, ":%*d.%n%*[0-9]%n,", &whole, &digits), 0);
    assert_int_equal(digits - whole, 3);
    cJSON *j = cJSON_Parse(s);
    assert_non_null(j);
    assert_true((float)cJSON_GetObjectItem(j, "loss")->valuedouble == (float)(1.0 / 3));
    assert_true((float)cJSON_GetObjectItem(j, "tiny")->valuedouble == 1e-42f);
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(j, "nan")));
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(j, "inf")));
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(j, "none")));
    assert_true(cJSON_GetObjectItem(j, "time")->valuedouble > 1.5e9);
    assert_string_equal(
        cJSON_GetObjectItem(j, "no\"te")->valuestring,
        "quote \" backslash \\ newline \n tab \t bell \a delete \x7F \x1F\xC3\xA9 "
        "\xF0\x9F\x98\x80 bad "
        "\xEF\xBF\xBD\xEF\xBF\xBD( end\xEF\xBF\xBD");
    cJSON_Delete(j);
    free(s);
}

static void a_resumed_run_drops_the_steps_it_will_repeat_and_a_torn_last_line(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) write_step("b.jsonl", i);
    FILE *f = fopen("b.jsonl", "a");
    fputs("{\"event\":\"note\",\"text\":\"\\\"step\\\":99\"}\n{\"event\":\"train\",\"step\":3,\"ti",
          f);
    fclose(f);
    assert_int_equal(log_truncate("b.jsonl", 10), 0);
    assert_int_equal(lines("b.jsonl"), 12); /* 0 to 10, and the note, which has no step */
    char *s = text("b.jsonl");
    assert_null(strstr(s, "\"step\":11"));
    assert_non_null(strstr(s, "\"step\":10"));
    assert_int_equal(s[strlen(s) - 1], '\n');
    free(s);
    assert_int_equal(log_truncate("b.jsonl", 10), 0);
    assert_int_equal(lines("b.jsonl"), 12);
    assert_int_equal(log_truncate("b.jsonl", -1), 0);
    assert_int_equal(lines("b.jsonl"), 1);
    assert_int_equal(log_truncate("missing.jsonl", 0), 0);
}

static void opening_after_a_torn_line_does_not_glue_the_next_one_to_it(void **state)
{
    (void)state;
    assert_int_equal(file_write("c.jsonl", "{\"event\":\"tr", 12), 0);
    write_step("c.jsonl", 5);
    char *s = text("c.jsonl");
    assert_memory_equal(s, "{\"event\":\"tr\n{\"event\":\"train\",\"step\":5", 38);
    free(s);
    assert_int_equal(log_truncate("c.jsonl", 5), 0);
    assert_int_equal(lines("c.jsonl"), 1);
    /* one byte is enough for a line to be torn */
    assert_int_equal(file_write("one.jsonl", "{", 1), 0);
    write_step("one.jsonl", 5);
    s = text("one.jsonl");
    assert_memory_equal(s, "{\n{\"event\"", 10);
    free(s);
}

/* Whatever an event is called; and of a log that loses nothing the time stays. */
static void what_is_kept_is_left_alone(void **state)
{
    (void)state;
    static const char *const events[] = { "a\"", "\\", "\\\"\\" };
    struct timespec then[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };
    struct stat st;
    for (int i = 0; i < 3; i++) {
        struct log *l = log_open("e.jsonl");
        log_begin(l, events[i], 7 + i);
        assert_int_equal(log_end(l), 0);
        log_close(l);
    }
    assert_int_equal(utimensat(AT_FDCWD, "e.jsonl", then, 0), 0);
    assert_int_equal(log_truncate("e.jsonl", 9), 0);
    assert_int_equal(lines("e.jsonl"), 3);
    assert_int_equal(stat("e.jsonl", &st), 0);
    assert_int_equal(st.st_mtim.tv_sec, 1000000000);
    for (int step = 8; step >= 6; step--) {
        assert_int_equal(log_truncate("e.jsonl", step), 0);
        assert_int_equal(lines("e.jsonl"), step - 6);
    }
}

static void two_writers_of_one_log_do_not_mix_their_lines(void **state)
{
    (void)state;
    struct log *a = log_open("d.jsonl"), *b = log_open("d.jsonl");
    for (int i = 0; i < 50; i++) {
        log_begin(a, "a", i);
        log_begin(b, "b", i);
        log_str(a, "x", "aaaa");
        log_str(b, "x", "bbbb");
        assert_int_equal(log_end(b), 0);
        assert_int_equal(log_end(a), 0);
    }
    log_close(a);
    log_close(b);
    assert_int_equal(lines("d.jsonl"), 100);
    char *s = text("d.jsonl");
    for (char *p = strtok(s, "\n"); p; p = strtok(NULL, "\n")) {
        cJSON *j = cJSON_Parse(p);
        assert_non_null(j);
        assert_int_equal(cJSON_GetObjectItem(j, "event")->valuestring[0],
                         cJSON_GetObjectItem(j, "x")->valuestring[0]);
        cJSON_Delete(j);
    }
    free(s);
}

static void a_log_that_cannot_be_written_says_so(void **state)
{
    (void)state;
    assert_null(log_open("no/such/folder/x"));
    assert_non_null(strstr(err_msg(), "no/such/folder/x: cannot open: No such file"));
    assert_null(log_open("/dev/full"));
    assert_non_null(strstr(err_msg(), "/dev/full: is not a regular file"));
    struct rlimit was, none = { 0 };
    struct log *l = log_open("full");
    assert_non_null(l);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    none.rlim_max = was.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    log_begin(l, "train", 1);
    int rc = log_end(l);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
    assert_int_equal(rc, -1);
    assert_non_null(strstr(err_msg(), "full: cannot write: File too large"));
    log_close(l);
    log_close(NULL);
}

static void no_bar_is_drawn_where_there_is_no_terminal(void **state)
{
    (void)state;
    int old = dup(2);
    assert_non_null(freopen("err", "w", stderr));
    struct progress *p = progress_start("counting", 100, "lines");
    usleep(250000);
    progress_at(p, 50, "x");
    progress_end(p);
    progress_end(NULL);
    fflush(stderr);
    dup2(old, 2);
    close(old);
    char *s = text("err");
    assert_string_equal(s, "");
    free(s);
}

/* What a bar 60 columns wide wrote of `done` of 200 lines, in s; false when this machine was so
 * slow that two calls in a row lay a redraw apart. */
static bool bar_on_a_terminal(uint64_t done, char *s, size_t size)
{
    int terminal, status;
    struct winsize window = { .ws_row = 24, .ws_col = 60 };
    pid_t pid = forkpty(&terminal, NULL, NULL, &window);
    assert_true(pid >= 0);
    if (pid == 0) {
        struct timespec before, after;
        struct progress *p = progress_start("counting", 200, "lines");
        usleep(250000);
        clock_gettime(CLOCK_MONOTONIC, &before);
        progress_at(p, done,
                    "a remark that is far too long to stand in a terminal of sixty columns");
        progress_at(p, 60, "too soon");
        clock_gettime(CLOCK_MONOTONIC, &after);
        progress_end(p);
        fflush(stderr);
        _exit((double)(after.tv_sec - before.tv_sec)
                          + 1e-9 * (double)(after.tv_nsec - before.tv_nsec)
                      < 0.2
                  ? 0
                  : 1);
    }
    size_t n = 0;
    for (ssize_t r; n + 1 < size && (r = read(terminal, s + n, size - 1 - n)) > 0; ) n += (size_t)r;
    s[n] = '\0';
    close(terminal);
    waitpid(pid, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void on_a_terminal_the_bar_shows_part_and_rate_within_its_width_and_then_goes(void **state)
{
    (void)state;
    char s[2000];
    int tries = 1;
    while (!bar_on_a_terminal(50, s, sizeof s) && tries++ < 50) { }
    assert_memory_equal(s, "\rcounting:  25%  50/200 lines  ", 31);
    assert_non_null(strstr(s, "/s  "));
    assert_non_null(strstr(s, " left"));
    assert_null(strstr(s, "too soon"));
    char *end = strstr(s, "\033[K");
    assert_non_null(end);
    assert_in_range(end - s - 1, 40, 59);
    assert_string_equal(end, "\033[K\r\033[K");
}

/* Totals may be estimates. */
static void more_than_was_expected_is_all_of_it(void **state)
{
    (void)state;
    char s[2000];
    bar_on_a_terminal(201, s, sizeof s);
    static const char want[] = "\rcounting: 100%  201/200 lines  ";
    assert_memory_equal(s, want, sizeof want - 1);
    assert_non_null(strstr(s, "/s  0:00 left"));
    bar_on_a_terminal(399, s, sizeof s);
    assert_memory_equal(s, "\rcounting: 100%  399/200 lines  ", sizeof want - 1);
}

int main(void)
{
    if (scratch_enter() < 0) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_reads_back_as_json_whatever_the_strings_hold),
        cmocka_unit_test(a_resumed_run_drops_the_steps_it_will_repeat_and_a_torn_last_line),
        cmocka_unit_test(opening_after_a_torn_line_does_not_glue_the_next_one_to_it),
        cmocka_unit_test(what_is_kept_is_left_alone),
        cmocka_unit_test(two_writers_of_one_log_do_not_mix_their_lines),
        cmocka_unit_test(a_log_that_cannot_be_written_says_so),
        cmocka_unit_test(no_bar_is_drawn_where_there_is_no_terminal),
        cmocka_unit_test(more_than_was_expected_is_all_of_it),
        cmocka_unit_test(on_a_terminal_the_bar_shows_part_and_rate_within_its_width_and_then_goes),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_leave();
    return failed;
}
