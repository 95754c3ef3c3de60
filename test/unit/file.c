/* common/files/file.h: outputs are whole or absent. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/prog/log.h"
#include "test/unit/scratch.h"

static int entries(const char *dir)
{
    DIR *d = opendir(dir);
    int n = 0;
    while (readdir(d)) n++;
    closedir(d);
    return n - 2;
}

static void holds(const char *path, const char *text)
{
    size_t n;
    char *s = file_read(path, &n);
    assert_non_null(s);
    assert_string_equal(s, text);
    assert_int_equal(n, strlen(text));
    free(s);
}

/* Runs fn in a child; returns its wait status. */
static int in_child(void (*fn)(void))
{
    pid_t pid = fork();
    if (pid == 0) {
        fn();
        exit(0);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    return status;
}

static void an_output_appears_whole_at_commit_and_not_before(void **state)
{
    (void)state;
    assert_int_equal(dir_make("a"), 0);
    struct out *o = out_open("a/x");
    assert_non_null(o);
    assert_string_equal(out_name(o), "a/x");
    assert_int_equal(out_write(o, "hello ", 6), 0);
    fputs("world", out_stdio(o));
    assert_false(file_exists("a/x"));
    assert_int_equal(out_commit(o), 0);
    holds("a/x", "hello world");
    assert_int_equal(entries("a"), 1);
}

static void an_aborted_output_leaves_the_old_file_and_nothing_else(void **state)
{
    (void)state;
    assert_int_equal(dir_make("b"), 0);
    assert_int_equal(file_write("b/x", "old", 3), 0);
    struct out *o = out_open("b/x");
    assert_int_equal(out_write(o, "new", 3), 0);
    out_abort(o);
    out_abort(NULL);
    holds("b/x", "old");
    assert_int_equal(entries("b"), 1);
}

static void a_replaced_file_keeps_its_mode_and_a_link_stays_a_link(void **state)
{
    (void)state;
    assert_int_equal(dir_make("c/real"), 0);
    assert_int_equal(file_write("c/real/x", "old", 3), 0);
    assert_int_equal(chmod("c/real/x", 0640), 0);
    assert_int_equal(symlink("real/x", "c/x"), 0);
    assert_int_equal(file_write("c/x", "new", 3), 0);
    holds("c/real/x", "new");
    struct stat st;
    assert_int_equal(lstat("c/x", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(stat("c/x", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    /* one that leads, by way of another, to where nothing is yet */
    assert_int_equal(symlink("real/y", "c/y"), 0);
    assert_int_equal(symlink("c/y", "to-y"), 0);
    assert_int_equal(file_write("to-y", "new", 3), 0);
    holds("c/real/y", "new");
    assert_int_equal(lstat("to-y", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(lstat("c/y", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(symlink("none/z", "c/z"), 0);
    assert_int_equal(file_write("c/z", "new", 3), -1);
    assert_string_equal(err_msg(), "c/z: cannot create: No such file or directory");
}

/* Mode of a new file c/NAME that replaces one of mode `mode`, which `owner` made. */
static unsigned replaced(const char *name, mode_t mode, uid_t owner)
{
    struct stat st;
    assert_int_equal(file_write(name, "old", 3), 0);
    assert_int_equal(chown(name, owner, (gid_t)-1), 0);
    assert_int_equal(chmod(name, mode), 0);
    assert_int_equal(file_write(name, "new", 3), 0);
    assert_int_equal(stat(name, &st), 0);
    assert_int_equal(st.st_uid, geteuid());
    return st.st_mode & 07777;
}

/* Whoever puts a file where another user will write must not get that user's rights by it. */
static void no_output_is_setuid_or_takes_the_mode_of_another_users_file(void **state)
{
    (void)state;
    mode_t mask = umask(022);
    assert_int_equal(dir_make("u"), 0);
    assert_int_equal(replaced("u/setuid", 04755, geteuid()), 0755);
    assert_int_equal(replaced("u/setgid", 02711, geteuid()), 0711);
    assert_int_equal(replaced("u/sticky", 01600, geteuid()), 0600);
    if (geteuid() == 0) {                    /* only root can make another's file */
        assert_int_equal(replaced("u/stranger", 04777, 12345), 0644);
        assert_int_equal(replaced("u/world", 0666, 12345), 0644);
        assert_int_equal(replaced("u/closed", 0600, 12345), 0644);
    }
    umask(mask);
}

static void a_link_that_another_user_made_is_not_followed(void **state)
{
    (void)state;
    char resolved[PATH_MAX];
    assert_int_equal(dir_make("links"), 0);
    assert_int_equal(file_write("links/mine", "mine", 4), 0);
    assert_int_equal(symlink("mine", "links/link"), 0);
    assert_int_equal(symlink("link", "links/twice"), 0);
    assert_int_equal(symlink("nothing", "links/dangling"), 0);
    assert_int_equal(symlink("/dev/null", "links/null"), 0);
    int fd = file_open_in_place("links/twice", O_RDWR | O_CREAT);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(mkfifo("links/pipe", 0600), 0);
    assert_int_equal(file_open_in_place("links/pipe", O_RDWR | O_CREAT), -1);
    assert_string_equal(err_msg(), "links/pipe: is not a regular file; remove it");
    assert_int_equal(file_open_in_place("links/null", O_RDWR | O_CREAT), -1);
    assert_int_equal(file_open_in_place("links", O_RDONLY), -1);
    if (geteuid()) return;                   /* only root can make another's link */
    static const char *const links[] = { "links/link", "links/dangling", "links/null" };
    for (int i = 0; i < 3; i++) {
        assert_int_equal(lchown(links[i], 12345, (gid_t)-1), 0);
        assert_int_equal(file_write(links[i], "new", 3), -1);
        assert_non_null(strstr(err_msg(), links[i]));
        assert_non_null(strstr(err_msg(), "is a symbolic link that another user made (number "
                                          "12345)"));
        assert_int_equal(file_open_in_place(links[i], O_RDWR | O_CREAT | O_TRUNC), -1);
        assert_int_equal(link_check(links[i]), -1);
    }
    /* ours, which leads to such a one */
    assert_int_equal(file_write("links/twice", "new", 3), -1);
    assert_int_equal(link_check("links/twice"), 0);
    holds("links/mine", "mine");
    assert_null(realpath("links/dangling", resolved));
    /* .lock and what a log is appended to */
    assert_int_equal(symlink("mine", "links/.lock"), 0);
    assert_int_equal(lchown("links/.lock", 12345, (gid_t)-1), 0);
    assert_int_equal(dir_lock("links"), -1);
    assert_null(log_open("links/link"));
    holds("links/mine", "mine");
    assert_int_equal(entries("links"), 7);
}

/* a folder that somebody put in its place meanwhile is not taken for the new one */
static void a_new_folder_is_the_first(void **state)
{
    (void)state;
    assert_int_equal(dir_make_new("n/a/b"), 0);
    assert_int_equal(dir_make_new("n/a/b"), -1);
    assert_string_equal(err_msg(), "n/a/b: cannot create the folder: File exists");
    assert_int_equal(symlink("b", "n/a/c"), 0);
    assert_int_equal(dir_make_new("n/a/c"), -1);
    assert_int_equal(dir_make_new("alone"), 0);
}

static void a_device_is_written_to_and_not_replaced(void **state)
{
    (void)state;
    assert_int_equal(file_write("/dev/null", "x", 1), 0);
    struct stat st;
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
}

static void a_full_disk_fails_and_says_so(void **state)
{
    (void)state;
    assert_int_equal(file_write("/dev/full", "x", 1), -1);
    assert_string_equal(err_msg(), "/dev/full: cannot write: No space left on device");
    struct out *o = out_open("/dev/full");
    fputs("through stdio", out_stdio(o));
    assert_int_equal(fflush(out_stdio(o)), EOF);
    assert_int_equal(out_commit(o), -1); /* the error of an earlier flush is not lost */
    assert_string_equal(err_msg(), "/dev/full: cannot write: No space left on device");
}

static void too_large_a_file(void)
{
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit l = { 1000, 1000 };
    setrlimit(RLIMIT_FSIZE, &l);
    char big[5000] = { 0 };
    int failed = file_write("d/x", big, sizeof big) == -1 && strstr(err_msg(), "d/x: cannot write");
    exit(failed ? 7 : 1);
}

static void a_write_that_fails_half_way_leaves_the_old_file(void **state)
{
    (void)state;
    assert_int_equal(dir_make("d"), 0);
    assert_int_equal(file_write("d/x", "old", 3), 0);
    int status = in_child(too_large_a_file);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
    holds("d/x", "old");
    assert_int_equal(entries("d"), 1);
}

static void outputs_that_cannot_be_made_are_refused(void **state)
{
    (void)state;
    assert_null(out_open("no/such/folder/x"));
    assert_string_equal(err_msg(), "no/such/folder/x: cannot create: No such file or directory");
    assert_null(out_open("/tmp"));
    assert_non_null(strstr(err_msg(), "/tmp: is a folder"));
    assert_null(out_open(""));
    struct out *o = out_open("once");
    assert_null(out_open("once"));
    assert_non_null(strstr(err_msg(), "already"));
    assert_int_equal(out_commit(o), 0);
    assert_true(file_exists("once"));
}

static void write_to_closed_pipe(void)
{
    signal(SIGPIPE, SIG_IGN);
    int p[2];
    if (pipe(p) < 0) exit(1);
    dup2(p[1], 1);
    close(p[0]);
    close(p[1]);
    struct out *o = out_open("-");
    out_write(o, "x", 1);
    exit(out_commit(o) == -1 && strcmp(err_msg(), "standard output: closed pipe") == 0 ? 7 : 1);
}

static void a_closed_pipe_is_named_as_such(void **state)
{
    (void)state;
    assert_int_equal(WEXITSTATUS(in_child(write_to_closed_pipe)), 7);
}

static volatile int deadly;
static void die_of_a_signal(void)
{
    struct out *o = out_open("e/x");
    out_write(o, "half", 4);
    fflush(out_stdio(o));
    if (mkdir("e/.step.tmp", 0777) == 0) tmp_register("e/.step.tmp");
    int fd = open("e/.step.tmp/weights", O_CREAT | O_WRONLY, 0666);
    close(fd);
    raise(deadly);
}

static struct out *volatile left_open;               /* reachable, so that no leak is reported */
static void leave_by_exit(void)
{
    left_open = out_open("e/x");
    exit(3);
}

static void fork_a_child_that_leaves(void)
{
    struct out *o = out_open("e/x");
    pid_t pid = fork();
    if (pid == 0) exit(0);                      /* must not take its parent's file along */
    waitpid(pid, NULL, 0);
    exit(out_commit(o) == 0 ? 7 : 1);
}

static void be_killed(void)
{
    left_open = out_open("e/x");
    out_write(left_open, "half", 4);
    kill(getpid(), SIGKILL);
}

static void signals_and_exit_take_temporary_files_along_and_a_sweep_removes_the_rest(void **state)
{
    (void)state;
    assert_int_equal(dir_make("e"), 0);
    static const int signals[] = { SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU };
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction now;
        deadly = signals[i];
        sigaction(deadly, NULL, &now);
        if (now.sa_handler == SIG_IGN) continue;        /* as under nohup */
        int status = in_child(die_of_a_signal);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), deadly);
        assert_int_equal(entries("e"), 0);
    }
    assert_int_equal(WEXITSTATUS(in_child(leave_by_exit)), 3);
    assert_int_equal(entries("e"), 0);
    assert_int_equal(WEXITSTATUS(in_child(fork_a_child_that_leaves)), 7);
    assert_int_equal(unlink("e/x"), 0);
    in_child(be_killed);
    assert_int_equal(entries("e"), 1);

    char mine[64];
    snprintf(mine, sizeof mine, "e/.y.%ld.tmp", (long)getpid());
    assert_int_equal(file_write(mine, "", 0), 0);
    assert_int_equal(file_sweep("e"), 0); /* a killed process of the same number left it */
    assert_int_equal(entries("e"), 0);
    /* ... and an output's, when it is opened */
    assert_int_equal(file_write(mine, "old", 3), 0);
    struct out *o = out_open("e/y");
    assert_non_null(o);
    fputs("new", out_stdio(o));
    assert_int_equal(out_commit(o), 0);
    assert_int_equal(entries("e"), 1);
    assert_int_equal(unlink("e/y"), 0);
    assert_int_equal(file_write(mine, "", 0), 0);
    tmp_register(mine);
    assert_int_equal(file_write("e/.profile", "", 0), 0);
    assert_int_equal(file_write("e/.x.1y.tmp", "", 0), 0);
    assert_int_equal(file_sweep("e"), 0);
    assert_true(file_exists(mine));
    assert_true(file_exists("e/.profile"));
    assert_int_equal(entries("e"), 3);
    tmp_forget(mine);
    assert_int_equal(file_sweep("e/no"), -1);
}

static void a_folder_under_way_is_empty_and_then_whole(void **state)
{
    (void)state;
    char left[64], path[80];
    snprintf(left, sizeof left, "g/.out.%ld.tmp", (long)getpid());
    snprintf(path, sizeof path, "%s/half", left);
    assert_int_equal(dir_make(left), 0);
    /* a killed process of the same number left it */
    assert_int_equal(file_write(path, "half", 4), 0);
    char *tmp = folder_begin("g/out/");
    assert_string_equal(tmp, left);
    assert_int_equal(entries(tmp), 0);
    assert_int_equal(folder_end(tmp, "g/out/", 0), 0);
    assert_int_equal(entries("g"), 1);
    assert_null(folder_begin("g/out"));
    assert_non_null(tmp = folder_begin("g/two"));
    err_set("why");
    assert_int_equal(folder_end(tmp, "g/two", -1), -1);
    assert_string_equal(err_msg(), "why");
    assert_int_equal(entries("g"), 1);
}

static void reading_and_mapping_give_the_bytes_or_a_message(void **state)
{
    (void)state;
    struct map m;
    size_t n;
    assert_int_equal(file_write("bytes", "a\0b", 3), 0);
    char *s = file_read("bytes", &n);
    assert_int_equal(n, 3);
    assert_memory_equal(s, "a\0b", 4);
    free(s);
    assert_int_equal(map_open(&m, "bytes"), 0);
    assert_int_equal(m.n, 3);
    assert_memory_equal(m.p, "a\0b", 3);
    map_close(&m);
    map_close(&m);
    assert_int_equal(file_write("empty", "", 0), 0);
    assert_int_equal(map_open(&m, "empty"), 0);
    assert_int_equal(m.n, 0);
    assert_non_null(m.p);
    map_close(&m);
    s = file_read("empty", &n);
    assert_string_equal(s, "");
    free(s);
    assert_null(file_read("missing", &n));
    assert_string_equal(err_msg(), "missing: cannot open: No such file or directory");
    assert_int_equal(map_open(&m, "missing"), -1);
    assert_int_equal(map_open(&m, "/tmp"), -1);
    assert_null(file_read("/tmp", &n));
    assert_int_equal(map_open(&m, "/dev/null"), -1);
    assert_non_null(strstr(err_msg(), "not a regular file"));
}

static void folders_are_made_and_removed_with_what_is_in_them(void **state)
{
    (void)state;
    assert_int_equal(dir_make("f/g//h/"), 0);
    assert_int_equal(dir_make("f/g/h"), 0);
    assert_int_equal(file_write("f/g/h/x", "x", 1), 0);
    assert_int_equal(file_write("outside", "x", 1), 0);
    assert_int_equal(symlink("../../outside", "f/g/link"), 0);
    assert_int_equal(symlink("../..", "f/g/up"), 0);
    assert_int_equal(dir_make("f/g/h/x"), -1);
    assert_int_equal(dir_make("f/g/h/x/y"), -1);
    assert_int_equal(dir_make(""), -1);
    assert_int_equal(dir_remove("f"), 0);
    assert_false(file_exists("f"));
    assert_true(file_exists("outside"));                    /* links are not followed */
    assert_int_equal(dir_remove("f"), 0);
    assert_int_equal(dir_remove(""), -1);
    assert_int_equal(dir_remove("/"), -1);
    assert_int_equal(dir_remove("//"), -1);
}

static void paths_join_with_one_slash(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        { "a", "b", "a/b" }, { "a/", "b", "a/b" }, { "", "b", "b" }, { "/", "b", "/b" }
    };
    for (int i = 0; i < 4; i++) {
        char *p = path_join(cases[i][0], cases[i][1]);
        assert_string_equal(p, cases[i][2]);
        free(p);
    }
}

static void a_temporary_file_has_no_name(void **state)
{
    (void)state;
    assert_int_equal(dir_make("t"), 0);
    FILE *f = tmp_open("t");
    assert_non_null(f);
    assert_int_equal(entries("t"), 0);
    char s[6] = "";
    fputs("hello", f);
    rewind(f);
    assert_int_equal(fread(s, 1, 5, f), 5);
    assert_string_equal(s, "hello");
    fclose(f);
    assert_null(tmp_open("no/such/folder"));
}

static void lock_l(void) { exit(dir_lock("l") < 0 ? 7 : 1); }

static void a_locked_folder_is_refused_to_others_with_the_holders_number(void **state)
{
    (void)state;
    assert_int_equal(dir_make("l"), 0);
    assert_int_equal(WEXITSTATUS(in_child(lock_l)), 1);     /* its lock ended with it */
    assert_int_equal(dir_lock("l"), 0);
    assert_int_equal(WEXITSTATUS(in_child(lock_l)), 7);
    assert_int_equal(dir_lock("l"), -1);
    char want[64];
    snprintf(want, sizeof want, "another process (%ld) is writing l", (long)getpid());
    assert_non_null(strstr(err_msg(), want));
}

/* A run that is killed and begun again at once: the first may need a moment to be gone. */
static void a_lock_whose_holder_is_ending_is_waited_for(void **state)
{
    (void)state;
    int held[2];
    assert_int_equal(dir_make("w"), 0);
    assert_int_equal(pipe(held), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (dir_lock("w") < 0 || write(held[1], "", 1) != 1) _exit(9);
        nanosleep(&(struct timespec){ .tv_nsec = 300000000 }, NULL);
        _exit(0);
    }
    char c;
    int status;
    assert_int_equal(read(held[0], &c, 1), 1);
    assert_int_equal(dir_lock("w"), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close(held[0]);
    close(held[1]);
}

int main(void)
{
    if (scratch_enter() < 0) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_output_appears_whole_at_commit_and_not_before),
        cmocka_unit_test(an_aborted_output_leaves_the_old_file_and_nothing_else),
        cmocka_unit_test(a_replaced_file_keeps_its_mode_and_a_link_stays_a_link),
        cmocka_unit_test(no_output_is_setuid_or_takes_the_mode_of_another_users_file),
        cmocka_unit_test(a_link_that_another_user_made_is_not_followed),
        cmocka_unit_test(a_new_folder_is_the_first),
        cmocka_unit_test(a_device_is_written_to_and_not_replaced),
        cmocka_unit_test(a_full_disk_fails_and_says_so),
        cmocka_unit_test(a_write_that_fails_half_way_leaves_the_old_file),
        cmocka_unit_test(outputs_that_cannot_be_made_are_refused),
        cmocka_unit_test(a_closed_pipe_is_named_as_such),
        cmocka_unit_test(signals_and_exit_take_temporary_files_along_and_a_sweep_removes_the_rest),
        cmocka_unit_test(a_folder_under_way_is_empty_and_then_whole),
        cmocka_unit_test(reading_and_mapping_give_the_bytes_or_a_message),
        cmocka_unit_test(folders_are_made_and_removed_with_what_is_in_them),
        cmocka_unit_test(paths_join_with_one_slash),
        cmocka_unit_test(a_temporary_file_has_no_name),
        cmocka_unit_test(a_locked_folder_is_refused_to_others_with_the_holders_number),
        cmocka_unit_test(a_lock_whose_holder_is_ending_is_waited_for),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_leave();
    return failed;
}
