/* common/prog/prog.h: options in, one line of complaint out. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/prog/prog.h"
#include "common/prog/signals.h"
#include "common/thread.h"
#include "test/unit/scratch.h"

enum side { LEFT = 3, RIGHT, BOTH };
struct settings {
    int window, order;
    enum side side;
    float share;
    uint32_t count;
    int64_t tokens, every;
    double rate;
    size_t memory;
    const char *out;
    bool norm, deep;
    struct strs train;
};
static const struct settings defaults = { .window = 2,
                                          .rate = 0.1,
                                          .memory = (size_t)4 << 30,
                                          .norm = true,
                                          .every = 90,
                                          .side = RIGHT,
                                          .share = 0.1f };
static struct settings o;
static const struct opt rows[] = { { "window|w-size", 'w', OPT_INT(settings, window), "N",
                                     "words on either side", .min = 1, .max = 1000 },
                                   { "tokens", 0, OPT_I64(settings, tokens), "N", "how many" },
                                   { "learning-rate|lr", 'l', OPT_REAL(settings, rate), "X",
                                     "step size", .min = 0, .max = 10 },
                                   { 0 } };
static const struct opt limit_rows[] = {
    { "memory", 'm', OPT_SIZE(settings, memory), "SIZE", "how much memory" },
    { "save-every", 0, OPT_TIME(settings, every), "TIME", "how often" },
    { "output", 'o', OPT_STR(settings, out), "FILE", "write here" },
    { "normalize", 'n', OPT_FLAG(settings, norm), 0, "normalise" },
    { "deep", 'd', OPT_FLAG(settings, deep), 0, "deep" },
    { "order", 0, OPT_CHOICE(settings, order), "svo|sov|free", "word order" },
    { "train", 't', OPT_LIST(settings, train), "LANG=FILE", "again and again" },
    { "side", 0, OPT_CHOICE(settings, side), "left|right|both",
      "an enum that does not begin with 0", .min = LEFT },
    { "share", 0, OPT_FLOAT(settings, share), "P", "a number that 32 bits hold", .min = 0,
      .max = 0.99 },
    { "count", 0, OPT_INT(settings, count), "N", "an unsigned number", .min = 0, .max = 1e9 },
    { "windrow", 0, OPT_REFUSED, "N", "it means another thing there; write --window" },
    { 0 }
};
static const char *version(void) { return "parts: one"; }
static const struct prog_part part = { version, { { "TESTER_WAY", "short|long" } } };
static const struct opt_group groups[] = { { "Options", rows, &o },
                                           { "Limits", limit_rows, &o },
                                           { 0 } };
static const struct prog prog = { "tester", "[options] FILE...", "Tests.", "Example: tester x\n",
    .part = { &part } };

static char printed[20000], complaint[4000];
static char *lines[500]; /* option values point into them: they must stay, and stay reachable */
static int n_lines;

static void slurp(const char *path, char *s, size_t size)
{
    size_t n;
    char *p = file_read(path, &n);
    assert_true(n < size);
    memcpy(s, p, n + 1);
    free(p);
}

/* The status of prog_start for these words; what it printed is in printed and complaint. */
static int start(struct args *args, const char *words)
{
    char *line = strdup(words), *argv[64] = { "tester" };
    int argc = 1;
    for (char *w = strtok(line, " "); w; w = strtok(NULL, " ")) argv[argc++] = w;
    o = defaults;
    fflush(stdout);
    int out = dup(1), err = dup(2);
    assert_non_null(freopen("out", "w", stdout));
    assert_non_null(freopen("err", "w", stderr));
    int status = prog_start(&prog, groups, argc, argv, args);
    fflush(stdout);
    fflush(stderr);
    dup2(out, 1);
    dup2(err, 2);
    close(out);
    close(err);
    slurp("out", printed, sizeof printed);
    slurp("err", complaint, sizeof complaint);
    lines[n_lines++] = line;
    return status;
}

static void good(const char *words)
{
    struct args a;
    if (start(&a, words) != -1) fail_msg("%s: %s", words, complaint);
    assert_string_equal(complaint, "");
}

static void wrong(const char *words, const char *message)
{
    struct args a;
    assert_int_equal(start(&a, words), PROG_USAGE);
    if (strcmp(complaint, message)) fail_msg("%s: got %s", words, complaint);
    assert_string_equal(printed, "");
}

static void every_spelling_of_an_option_sets_it(void **state)
{
    (void)state;
    static const char *const spellings[] = { "--window 7", "--window=7", "-w 7", "-w7",
                                             "--w-size 7", "--w_size=7", "-dw7", "-w 3 -w 7" };
    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++) {
        good(spellings[i]);
        assert_int_equal(o.window, 7);
    }
    good("--no-normalize -d --lr .5 --order sov --tokens -5 -o - --train en=a -tde=b --save_every "
         "1h30m");
    assert_false(o.norm);
    assert_true(o.deep);
    assert_true(o.rate == 0.5);
    assert_int_equal(o.order, 1);
    assert_true(o.tokens == -5);
    assert_string_equal(o.out, "-");
    assert_int_equal(o.train.n, 2);
    assert_string_equal(o.train.v[1], "de=b");
    assert_true(o.every == 5400);
    assert_true(prog_given("lr") && prog_given("learning_rate") && prog_given("normalize")
                && !prog_given("window") && !prog_given("nonsense"));
    good("--normalize=false --deep=yes");
    assert_true(!o.norm && o.deep);
}

static void sizes_and_times_have_units(void **state)
{
    (void)state;
    static const struct {
        const char *s;
        size_t v;
    } sizes[] = { { "--memory 0", 0 },
                  { "--memory 100", 100 },
                  { "-m 1K", 1024 },
                  { "-m 1.5M", 3 << 19 },
                  { "-m 2g", (size_t)2 << 30 },
                  { "-m 2GiB", (size_t)2 << 30 },
                  { "-m 3TB", (size_t)3 << 40 },
                  { "-m 7B", 7 },
                  { "-m 0.5", 1 },
                  { "-m 1.5", 1 },
                  { "-m 0.0001K", 1 },
                  { "-m 0%", 0 } };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        good(sizes[i].s);
        assert_true(o.memory == sizes[i].v);
    }
    good("-m 100%");
    size_t all = o.memory;
    assert_true(all > (size_t)1 << 24);
    good("-m 50%");
    assert_in_range(o.memory, all / 2 - 1, all / 2 + 1);
    static const struct {
        const char *s;
        int64_t v;
    } times[] = { { "--save-every 5", 5 },       { "--save-every 5s", 5 },
                  { "--save-every 2m", 120 },    { "--save-every 1d", 86400 },
                  { "--save-every 0.5h", 1800 }, { "--save-every 1d2h3m4s", 93784 },
                  { "--save-every 0.5", 1 },     { "--save-every 1.5", 1 },
                  { "--save-every 0", 0 } };
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        good(times[i].s);
        assert_true(o.every == times[i].v);
    }
}

static void arguments_are_what_is_no_option(void **state)
{
    (void)state;
    struct args a;
    assert_int_equal(start(&a, "x - -1.5 --window 3 -7 -- --window -d"), -1);
    static const char *const want[] = { "x", "-", "-1.5", "-7", "--window", "-d" };
    assert_int_equal(a.n, 6);
    for (int i = 0; i < 6; i++) assert_string_equal(a.v[i], want[i]);
    assert_int_equal(o.window, 3);
    assert_false(o.deep);
}

static void wrong_usage_is_one_line_and_status_2(void **state)
{
    (void)state;
    wrong("--windows 3",
          "tester: no option is called '--windows'; did you mean --window? see --help\n");
    wrong("--every 3",
          "tester: no option is called '--every'; did you mean --save-every? see --help\n");
    wrong("--ever 3", "tester: no option is called '--ever'; see --help\n");
    wrong("-dz", "tester: no option is called '-z'; see --help\n");
    wrong("--no-window", "tester: no option is called '--no-window'; see --help\n");
    wrong("--window", "tester: --window needs a value (N)\n");
    wrong("x -w", "tester: -w needs a value (N)\n");
    wrong("--window=three", "tester: --window: 'three' is not a whole number\n");
    wrong("--window 3x", "tester: --window: '3x' is not a whole number\n");
    /* "$unset" */
    wrong("--window=", "tester: --window: the value is empty; expected N\n");
    wrong("--order=", "tester: --order: the value is empty; expected svo|sov|free\n");
    wrong("--deep=", "tester: --deep: the value is empty; expected true or false\n");
    wrong("--out=", "tester: --out: the value is empty; expected FILE\n");
    wrong("--config=", "tester: --config: the value is empty; expected FILE\n");
    wrong("--train en=", "tester: --train: en=: nothing after '='; expected LANG=FILE\n");
    char *empty[] = { "tester", "a", "" };
    struct args args;
    assert_int_equal(prog_start(&prog, groups, 3, empty, &args), PROG_USAGE);
    wrong("-w 0", "tester: -w: 0 is not between 1 and 1000\n");
    wrong("-w1001", "tester: -w: 1001 is not between 1 and 1000\n");
    wrong("-w 99999999999", "tester: -w: 99999999999 is out of range\n");
    wrong("--tokens 99999999999999999999",
          "tester: --tokens: 99999999999999999999 is out of range\n");
    wrong("--lr nan", "tester: --lr: 'nan' is not a number\n");
    wrong("--lr inf", "tester: --lr: inf is out of range\n");
    wrong("--lr 11", "tester: --lr: 11 is not between 0 and 10\n");
    wrong("-m 4Q",
          "tester: -m: '4Q' is not a size; write bytes, or a number with K, M, G, T or %\n");
    wrong("-m -4",
          "tester: -m: '-4' is not a size; write bytes, or a number with K, M, G, T or %\n");
    wrong("-m 9999999999T", "tester: -m: 9999999999T is out of range\n");
    wrong("--save-every 3w",
          "tester: --save-every: '3w' is not a time; write seconds, or numbers with s, m, h, d\n");
    wrong("--order vso", "tester: --order: 'vso' is not one of svo|sov|free\n");
    wrong("--deep=perhaps", "tester: --deep: 'perhaps' is neither true nor false\n");
    wrong("--no-deep=true", "tester: --no-deep takes no value\n");
}

static void a_name_may_be_cut_short_and_a_wrong_one_gets_a_guess(void **state)
{
    (void)state;
    good("--wind 7 --mem=3 --no-norm --tok -4 --lear .5 --dee");
    assert_true(o.window == 7 && o.memory == 3 && !o.norm && o.tokens == -4 && o.rate == 0.5
                && o.deep);
    good("--w-s 8 --l 0.25");                       /* another spelling; what is a letter too */
    assert_true(o.window == 8 && o.rate == 0.25);
    wrong("--s 1", "tester: --s may mean --save-every or --side; write more of it\n");
    wrong("--t 1", "tester: --t may mean --tokens or --train; write more of it\n");
    wrong("--wnidow 1",
          "tester: no option is called '--wnidow'; did you mean --window? see --help\n");
    wrong(
        "--no-nomralize",
        "tester: no option is called '--no-nomralize'; did you mean --no-normalize? see --help\n");
    wrong("--learning-rat=1 --frobnicate",
          "tester: no option is called '--frobnicate'; see --help\n");
    wrong("--no-window", "tester: no option is called '--no-window'; see --help\n");
    wrong("--windrow 1", "tester: --windrow: it means another thing there; write --window\n");
    wrong("--windrow", "tester: --windrow: it means another thing there; write --window\n");
    assert_true(prog_given("window") == false && !prog_given("wind"));
    assert_int_equal(file_write("conf", "wind = 3\n", 9), 0);
    wrong("--config conf", "tester: conf:1: no option is called 'wind'; see --help\n");
    assert_int_equal(file_write("conf", "windrow = 3\n", 12), 0);
    wrong("--config conf", "tester: conf:1: windrow: it means another thing there; write "
                           "--window\n");
}

static void the_environment_has_known_values(void **state)
{
    (void)state;
    struct args a;
    char *was = getenv("TESTER_WAY");
    if (was) was = strdup(was);
    setenv("TESTER_WAY", "around", 1);
    wrong("x", "tester: TESTER_WAY: 'around' is not one of short|long\n");
    assert_int_equal(start(&a, "--version"), PROG_OK);
    setenv("TESTER_WAY", "", 1);
    assert_int_equal(start(&a, "x"), -1);
    if (was) setenv("TESTER_WAY", was, 1);
    else unsetenv("TESTER_WAY");
    free(was);
}

static void help_shows_every_option_and_its_default_and_version_the_compiler(void **state)
{
    (void)state;
    struct args a;
    assert_int_equal(start(&a, "-w 9 --help"), PROG_OK);
    static const char *const want[] = { "Usage: tester [options] FILE...\nTests.\n",
                                        "-w, --window N",
                                        "(default: 2)",
                                        "(default: 4G)",
                                        "(default: 90)",
                                        "--order svo|sov|free",
                                        "(default: svo)",
                                        "\nOptions:\n",
                                        "\nLimits:\n",
                                        "\nEvery program also takes --threads N, --config FILE, "
                                        "--quiet, --help,\n--version, --max-line SIZE, "
                                        "--zstd-long N (isoglot(1)).\n",
                                        "--no-normalize turns it off",
                                        "\nExample: tester x\n" };
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++)
        if (!strstr(printed, want[i])) fail_msg("no '%s' in\n%s", want[i], printed);
    assert_null(strstr(printed, "windrow"));
    for (char *line = strtok(printed, "\n"); line; line = strtok(NULL, "\n"))
        assert_in_range(strlen(line), 1, 80);
    assert_int_equal(start(&a, "--version"), PROG_OK);
    assert_memory_equal(printed, "tester (isoglot) ", 17);
    assert_non_null(strstr(printed, "\ncompiler: "));
    assert_non_null(strstr(printed, "\nprocessor: "));
    assert_non_null(strstr(printed, "\nparts: one\n"));
    assert_int_equal(start(&a, "-h"), PROG_OK);
}

static void configuration(const char *s) { assert_int_equal(file_write("conf", s, strlen(s)), 0); }

static void a_configuration_sets_options_and_the_command_line_wins(void **state)
{
    (void)state;
    configuration("# a comment\n\nwindow = 5 # five\n  lr=0.25\r\noutput = \"a # b\\n\\\"c\\\\\"  "
                  "# quoted\ndeep = true\ntrain = x y\ntrain = z");
    good("--config conf --lr 1");
    assert_int_equal(o.window, 5);
    assert_true(o.rate == 1);
    assert_string_equal(o.out, "a # b\n\"c\\");
    assert_true(o.deep);
    assert_int_equal(o.train.n, 2);
    assert_string_equal(o.train.v[0], "x y");
    assert_true(prog_given("window"));
    good("--train only --config=conf --no-deep");
    assert_int_equal(o.train.n, 1);
    assert_string_equal(o.train.v[0], "only");
    assert_false(o.deep);
}

static void what_prog_config_prints_reads_back_as_the_same(void **state)
{
    (void)state;
    configuration("output = \" a # b\\n\\\"c\\\\\\r \"\nlr = 0.30000000000000004\ntrain = x "
                  "y\ntrain = \"#\"\nmemory = 12345\norder = free\nno_such = 1\n");
    wrong("--config conf", "tester: conf:7: no option is called 'no_such'; see --help\n");
    configuration("output = \" a # b\\n\\\"c\\\\\\r \"\nlr = 0.30000000000000004\ntrain = x "
                  "y\ntrain = \"#\"\nmemory = 12345\norder = free\n");
    good("--config conf --no-normalize --tokens -9223372036854775808");
    char *first = prog_config();
    configuration(first);
    good("--config conf");
    char *second = prog_config();
    assert_string_equal(first, second);
    assert_true(o.rate == 0.30000000000000004);
    assert_string_equal(o.out, " a # b\n\"c\\\r ");
    assert_true(o.tokens == INT64_MIN && o.order == 2 && !o.norm && o.memory == 12345);
    assert_null(strstr(first, "threads"));
    good("");
    char *plain = prog_config();
    assert_null(strstr(plain, "output"));       /* nothing to say about what is not set */
    free(first);
    free(second);
    free(plain);
}

static void an_enum_begins_where_its_row_says_and_32_bits_print_shortly(void **state)
{
    (void)state;
    good("");
    char *text = prog_config();
    assert_non_null(strstr(text, "\nside = right\n"));
    assert_non_null(strstr(text, "\nshare = 0.1\n"));
    free(text);
    good("--side both --share 0.99 --count 1000000000");
    assert_int_equal(o.side, BOTH);
    assert_true(o.share == 0.99f && o.count == 1000000000);
    text = prog_config();
    assert_non_null(strstr(text, "\nshare = 0.99\n")); /* 0.99f is above 0.99, and in range */
    free(text);
    wrong("--share 0.991", "tester: --share: 0.991 is not between 0 and 0.99\n");
    wrong("--count -1", "tester: --count: -1 is not between 0 and 1000000000\n");
}

static void what_was_asked_for_is_told_from_what_is_recorded(void **state)
{
    (void)state;
    char asked[64];
    good("--lr 1");
    assert_true(prog_asked(rows, asked));
    assert_string_equal(asked, "learning-rate");
    assert_false(prog_asked(limit_rows, asked));
    configuration("memory = 1M\n");
    good("--config conf");
    assert_true(prog_asked(limit_rows, asked));
    assert_string_equal(asked, "memory");
    assert_false(prog_asked(rows, asked));
    good("--memory 2M --lr 2");
    char *text = prog_config();
    configuration(text);
    good("--config conf"); /* a record: everything is given, nothing was asked for */
    assert_true(o.memory == 2 << 20 && o.rate == 2 && prog_given("memory") && prog_given("window"));
    assert_false(prog_asked(rows, asked) || prog_asked(limit_rows, asked));
    good("--config conf --deep");
    assert_true(prog_asked(limit_rows, asked));
    assert_string_equal(asked, "deep");
    configuration("# options of this run:\nmemory = 3M\n");     /* a person's own comment */
    good("--config conf");
    assert_true(prog_asked(limit_rows, asked));
    assert_string_equal(asked, "memory");
    char *second_line = strchr(text, '\n')
                        + 1; /* as written before there was a first line that says so */
    assert_int_equal(file_write("run.config", second_line, strlen(second_line)), 0);
    good("--config ./run.config");
    assert_false(prog_asked(rows, asked) || prog_asked(limit_rows, asked));
    free(text);
}

static void what_was_not_given_is_taken_from_another_struct(void **state)
{
    (void)state;
    static const struct settings other = { .window = 9,
                                           .rate = 3,
                                           .memory = 77,
                                           .out = "there",
                                           .side = LEFT,
                                           .share = 0.5f,
                                           .deep = true };
    good("--lr 1 --no-deep -m 5");
    prog_take(limit_rows, &other);
    assert_true(o.memory == 5 && !o.deep && o.side == LEFT && o.share == 0.5f && !o.norm);
    assert_string_equal(o.out, "there");
    assert_true(o.window == 2 && o.rate == 1);      /* of the other group */
}

static void a_bad_configuration_is_refused_with_its_line(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        { "window 5\n", "tester: conf:1: not \"name = value\"\n" },
        { "\nwindow = five\n", "tester: conf:2: window: 'five' is not a whole number\n" },
        { "output = \"a\n", "tester: conf:1: a quoted value is not closed properly\n" },
        { "output = \"a\" b\n", "tester: conf:1: a quoted value is not closed properly\n" },
        { "config = other\n", "tester: conf:1: no option is called 'config'; see --help\n" },
        { "= 3\n", "tester: conf:1: not \"name = value\"\n" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        configuration(cases[i][0]);
        wrong("--config conf", cases[i][1]);
    }
    assert_int_equal(file_write("conf", "window = 5\0\n", 12), 0);
    wrong("--config conf", "tester: conf: not a text file\n");
    struct args a;
    assert_int_equal(start(&a, "--config missing"), PROG_FAILED);
    assert_string_equal(complaint, "tester: missing: cannot open: No such file or directory\n");
}

static void threads_follow_the_option_affinity_and_slurm(void **state)
{
    (void)state;
    good("--threads 3");
    assert_int_equal(prog_threads(), 3);
    assert_int_equal(par_threads(), 3);
    pid_t pid = fork();
    if (pid == 0) {
        unsetenv("SLURM_CPUS_PER_TASK");
        cpu_set_t one, all;
        sched_getaffinity(0, sizeof all, &all);
        CPU_ZERO(&one);
        for (int i = 0; i < CPU_SETSIZE; i++)
            if (CPU_ISSET(i, &all)) { CPU_SET(i, &one); break; }
        sched_setaffinity(0, sizeof one, &one);
        good("");
        _exit(prog_threads() == 1 && par_threads() == 1 ? 7 : 1);
    }
    int status;
    waitpid(pid, &status, 0);
    assert_int_equal(WEXITSTATUS(status), 7);
    pid = fork();
    if (pid == 0) {
        setenv("SLURM_CPUS_PER_TASK", "1", 1);
        good("");
        _exit(prog_threads() == 1 ? 7 : 1);
    }
    waitpid(pid, &status, 0);
    assert_int_equal(WEXITSTATUS(status), 7);
    wrong("--threads -1", "tester: --threads: -1 is not between 0 and 4096\n");
}

static void a_language_is_split_from_its_file_only_where_it_is_one(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        { "en=a.txt", "en", "a.txt" },
        { "deu=a=b", "deu", "a=b" },
        { "en-de=F,G", "en-de", "F,G" },
        { "zh_Hant=x", "zh_Hant", "x" },
        { "a.txt", "", "a.txt" },
        { "EN=x", "", "EN=x" },
        { "e=x", "", "e=x" },
        { "./en=x", "", "./en=x" },
        { "=x", "", "=x" },
        { "en=", "en", "" },
        { "eN=x", "", "eN=x" },
        /* 31 letters, the most that a code has, and 32 */
        { "abcdefghijklmnopqrstuvwxyzabcde=x", "abcdefghijklmnopqrstuvwxyzabcde", "x" },
        { "abcdefghijklmnopqrstuvwxyzabcdef=x", "", "abcdefghijklmnopqrstuvwxyzabcdef=x" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char lang[32];
        assert_string_equal(prog_lang_file(cases[i][0], lang), cases[i][2]);
        assert_string_equal(lang, cases[i][1]);
    }
}

static void a_pair_is_split_at_the_dash_between_two_languages(void **state)
{
    (void)state;
    static const char known[][32] = { "en-us", "de", "en" };
    struct pair_arg p;
    static const char *const good[][5] = {
        { "en-de=a,b", "en", "de", "a", "b" },
        { "zh-TW-en=x/a.gz,b,c", "zh-TW", "en", "x/a.gz", "b,c" },
        { "en-zh_Hant=a,b", "en", "zh_Hant", "a", "b" },
        { "en-us-de=a,b", "en-us", "de", "a", "b" },
        { "sr-Latn-RS-sr-Cyrl-RS=a,b", "sr-Latn-RS", "sr-Cyrl-RS", "a", "b" }
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(prog_pair(good[i][0], known, 3, &p), 0);
        assert_string_equal(p.lang[0], good[i][1]);
        assert_string_equal(p.lang[1], good[i][2]);
        assert_string_equal(p.file[0], good[i][3]);
        assert_string_equal(p.file[1], good[i][4]);
        free(p.file[0]);
    }
    static const char *const bad[] = { "en-de", "en=a,b",   "en-de=a",  "en-de=,b", "en-de=a,",
                                       "-=a,b", "a-de=f,g", "en-D=f,g", "" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(prog_pair(bad[i], known, 3, &p), -1);
    assert_int_equal(prog_pair("en-us-de=a,b", known, 0, &p), -1);
    assert_non_null(strstr(err_msg(), "ambiguous language pair"));
}

/* In a child whose standard error is a pipe: n SIGTERMs, `apart` seconds from one another. What it
 * said is in said; its wait status. */
static int stopped(int n, unsigned apart, char said[1000])
{
    int p[2], status = -1;
    assert_int_equal(pipe(p), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(p[1], STDERR_FILENO);
        signal(SIGTERM, SIG_DFL);
        signals_catch("stopping");
        for (int i = 0; i < n; i++) {
            raise(SIGTERM);
            sleep(apart);
        }
        _exit(signals_stop() == SIGTERM ? 7 : 1);
    }
    close(p[1]);
    waitpid(pid, &status, 0);
    ssize_t k = read(p[0], said, 999);
    said[k > 0 ? k : 0] = '\0';
    close(p[0]);
    return status;
}

/* What sends a signal twice wants the state saved; who sends it again and again wants the end. */
static void signals_at_once_are_one_and_the_third_apart_ends(void **state)
{
    (void)state;
    char said[1000];
    static const char first[] = ": stopping; SIGINT or SIGTERM twice more ends it at once, without "
                                "what is not saved yet\n";
    int status = stopped(5, 0, said);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
    const char *line = strstr(said, first);
    assert_non_null(line);
    assert_string_equal(line, first);
    status = stopped(3, 2, said);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGTERM);
    assert_non_null(strstr(said, first));
    line = strstr(said, ": still at work on the step; once more ends it at once\n");
    assert_non_null(line);
    assert_null(strstr(line + 10, "still"));
}

static void a_signal_sets_the_flag_and_an_ignored_one_stays_ignored(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGHUP, SIG_IGN);
        signals_catch(NULL);
        int before = signals_stop();
        raise(SIGHUP);
        int ignored = signals_stop();
        raise(SIGUSR1);
        _exit(before == 0 && ignored == 0 && signals_stop() == SIGUSR1 ? 7 : 1);
    }
    int status;
    waitpid(pid, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
}

int main(void)
{
    if (scratch_enter() < 0) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_spelling_of_an_option_sets_it),
        cmocka_unit_test(sizes_and_times_have_units),
        cmocka_unit_test(arguments_are_what_is_no_option),
        cmocka_unit_test(wrong_usage_is_one_line_and_status_2),
        cmocka_unit_test(a_name_may_be_cut_short_and_a_wrong_one_gets_a_guess),
        cmocka_unit_test(the_environment_has_known_values),
        cmocka_unit_test(help_shows_every_option_and_its_default_and_version_the_compiler),
        cmocka_unit_test(a_configuration_sets_options_and_the_command_line_wins),
        cmocka_unit_test(what_prog_config_prints_reads_back_as_the_same),
        cmocka_unit_test(an_enum_begins_where_its_row_says_and_32_bits_print_shortly),
        cmocka_unit_test(what_was_asked_for_is_told_from_what_is_recorded),
        cmocka_unit_test(what_was_not_given_is_taken_from_another_struct),
        cmocka_unit_test(a_bad_configuration_is_refused_with_its_line),
        cmocka_unit_test(threads_follow_the_option_affinity_and_slurm),
        cmocka_unit_test(a_language_is_split_from_its_file_only_where_it_is_one),
        cmocka_unit_test(a_pair_is_split_at_the_dash_between_two_languages),
        cmocka_unit_test(signals_at_once_are_one_and_the_third_apart_ends),
        cmocka_unit_test(a_signal_sets_the_flag_and_an_ignored_one_stays_ignored),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_leave();
    return failed;
}
