#include "common/prog/prog.h"
#include "common/err.h"
#include "common/files/file.h"
#include "common/grant.h"
#include "common/prog/opt_set.h"
#include "common/text/text.h"
#include "common/thread.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PARTS = sizeof ((struct prog *)0)->part / sizeof *((struct prog *)0)->part };

static const struct prog *prog;
static bool pipe_ignored;                    /* SIGPIPE, by whoever started this program */
/* What every program takes, after its own options. */
static struct std {
    int threads, granted, window;
    size_t line;
    bool quiet, help, version;
    const char *config;
} std;
static struct opt_set set;                   /* what this program takes, and what it was given */

static const struct opt std_rows[] = {
    { "threads", 0, OPT_INT(std, threads), "N",
      "number of threads (default: as many as affinity, the cgroup's quota and "
      "SLURM_CPUS_PER_TASK allow)", .min = 0, .max = 4096 },
    { "config", 0, OPT_STR(std, config), "FILE",
      "read options from FILE, one \"name = value\" per line; the command line wins" },
    { "quiet", 'q', OPT_FLAG(std, quiet), 0, "print no notes and no progress bar" },
    { "help", 'h', OPT_FLAG(std, help), 0, "print this text and exit" },
    { "version", 0, OPT_FLAG(std, version), 0,
      "print version, compiler and instruction sets, and exit" },
    { 0 }
};
static const struct opt text_rows[] = {
    { "max-line", 0, OPT_SIZE(std, line), "SIZE",
      "refuse text with a line longer than this, before allocating memory for it",
      .min = 1, .max = 1e15 },
    { "zstd-long", 0, OPT_INT(std, window), "N",
      "accept zstd text with windows of up to 2^N bytes of memory (zstd --long=N)",
      .min = 10, .max = 31 },
    { 0 }
};
/* Of a program that reads no text, without the last. */
static const struct opt_group reader_groups[] = {
    { 0, std_rows, &std }, { 0, text_rows, &std }, { 0 }
};
static const struct opt_group std_groups[] = { { 0, std_rows, &std }, { 0 } };

/* --- the end ------------------------------------------------------------------------------- */

/* The reader of standard output has gone (head): die of SIGPIPE, silently, like any filter. If the
 * caller ignores that signal, the end is reported instead. */
static void end_by_pipe(void)
{
    if (!pipe_ignored) tmp_die(SIGPIPE);
}

int prog_fail(void)
{
    msg_clear_line();
    /* wherever the write failed: a filter whose reader is gone is silent */
    if (out_pipe_closed()) end_by_pipe();
    fprintf(stderr, "%s: %s\n", msg_name(), *err_msg() ? err_msg() : "failed");
    return PROG_FAILED;
}

int prog_usage(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    msg_say(fmt, ap);
    va_end(ap);
    return PROG_USAGE;
}

int prog_threads(void)
{
    if (std.threads > 0) return std.threads;
    /* asked once: it reads several files of /proc and /sys */
    if (!std.granted) std.granted = granted_threads();
    return std.granted;
}

int prog_end(void)
{
    /* fflush sets it only when it writes; an older value is no reason */
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) return PROG_OK;
    /* The write that failed may have been long ago. */
    struct pollfd p = { STDOUT_FILENO, POLLOUT, 0 };
    if (errno == EPIPE || (!errno && poll(&p, 1, 0) > 0 && p.revents & POLLERR)) {
        msg_clear_line();
        end_by_pipe();
        err_set("standard output: closed pipe");
    }
    else if (errno) err_sys("standard output: cannot write");
    else err_set("standard output: cannot write");
    return prog_fail();
}

/* --- --help and --version --------------------------------------------------------------------- */

static void print_help(void)
{
    printf("Usage: %s %s\n%s\n", prog->name, prog->synopsis, prog->about);
    opt_help(&set);
    if (prog->more)
        printf("\n%s%s", prog->more, prog->more[strlen(prog->more) - 1] == '\n' ? "" : "\n");
}

static void print_version(void)
{
    printf("%s (isoglot) %s\n", prog->name, ISOGLOT_VERSION);
#if defined __clang__
    printf("compiler: clang %d.%d.%d\n", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
    printf("compiler: gcc %d.%d.%d\n", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
    printf("processor:");
#if defined __x86_64__
    __builtin_cpu_init();
    printf(" x86-64");
#define HAS(f) if (__builtin_cpu_supports(f)) printf(" " f)
    HAS("sse4.2");
    HAS("avx");
    HAS("avx2");
    HAS("fma");
    HAS("avx512f");
    HAS("avx512bw");
    HAS("avx512vl");
    HAS("avx512vnni"); HAS("avx512vbmi2");
#undef HAS
#elif defined __aarch64__
    printf(" aarch64");
#endif
    printf("\n");
    for (int i = 0; i < PARTS && prog->part[i]; i++)
        if (prog->part[i]->version) printf("%s\n", prog->part[i]->version());
}

/* --- what was given --------------------------------------------------------------------------- */

char *prog_config(void)
{
    return opt_config(&set, msg_name());
}

static const struct opt_here *find(const char *long_name)
{
    bool negated;
    return opt_find(&set, long_name, strlen(long_name), &negated);
}

static bool has(const char *long_name)
{
    return find(long_name);
}

bool prog_given(const char *long_name)
{
    const struct opt_here *o = find(long_name);
    return o && o->source != OPT_DEFAULT;
}

bool prog_asked(const struct opt *rows, char asked[64])
{
    for (int i = 0; i < set.own; i++) {
        const struct opt_here *o = &set.all[i];
        /* a resumed run's run.config has every option, and nobody asked for those */
        if (o->group->rows != rows || o->source <= OPT_RECORDED) continue;
        snprintf(asked, 64, "%.*s", opt_name_length(o->row), o->row->name);
        return true;
    }
    return false;
}

bool prog_asked_for(const char *long_name)
{
    const struct opt_here *o = find(long_name);
    return o && o->source > OPT_RECORDED;
}

void prog_take(const struct opt *rows, const void *from)
{
    for (int i = 0; i < set.own; i++) {
        const struct opt_here *o = &set.all[i];
        /* what a user gave, in whatever way, wins over what a model says */
        if (o->group->rows != rows || o->source != OPT_DEFAULT) continue;
        memcpy(o->value, (const char *)from + o->row->at, opt_size(o->row->type));
    }
}

/* --- the start ------------------------------------------------------------------------------ */

/* Whoever sets such a variable to measure with it must not measure something else. Unset and empty
 * are the default. */
static int check_environment(void)
{
    for (int i = 0; i < PARTS && prog->part[i]; i++)
        for (int k = 0; k < 4 && prog->part[i]->variable[k].name; k++) {
            const char *variable = prog->part[i]->variable[k].name, *value = getenv(variable);
            if (value && *value && opt_choice(prog->part[i]->variable[k].words, value) < 0)
                return err_set("%s: %s", variable, err_msg());
        }
    return 0;
}

/* The configuration file among them comes first: the command line wins. An exit status, -1: go
 * on. */
static int apply(const struct opt_line *line)
{
    bool unreadable;
    for (size_t i = 0; i < line->n; i++)
        /* The last one counts, as with any other option; sought here, since it must be read before
         * the others are applied. */
        if (line->v[i].o->value == &std.config) std.config = line->v[i].value;
    if (std.config && !*std.config)
        return prog_usage("--config: the value is empty; expected FILE");
    if (std.config && opt_read_config(&set, std.config, &unreadable) < 0)
        /* a file that is not there: 1; one with a wrong option: 2, as on the command line */
        return unreadable ? prog_fail() : prog_usage("%s", err_msg());
    if (opt_apply(&set, line) < 0 || check_environment() < 0) return prog_usage("%s", err_msg());
    return -1;
}

/* Parses what is given. As prog_start. */
static int options(const struct opt_group *groups, int argc, char **argv, struct args *args)
{
    struct opt_line line;
    std = (struct std){ .line = text_limits_default.line, .window = text_limits_default.window };
    opt_open(&set, groups, prog->no_text ? std_groups : reader_groups);
    for (int i = set.own; i < set.n; i++) {
        struct opt_here *o = &set.all[i];
        o->at_once = o->value == &std.help || o->value == &std.version;
        o->argv_only = o->at_once || o->value == &std.config;
    }
    /* For the scripts that make man pages and completion; no person types it. */
    /* before parsing: --help takes no value */
    if (argc == 2 && !strcmp(argv[1], "--help=rows")) {
        opt_print_rows(&set);
        return prog_end();
    }
    int status = opt_read_argv(&set, argc, argv, args, &line) < 0 ? prog_usage("%s", err_msg())
                                                                  : -1;
    /* An empty argument is an unset variable of a script: refused before it is taken for a
     * file. */
    for (int i = 0; i < args->n && status < 0 && !line.at_once; i++)
        if (!*args->v[i]) status = prog_usage("argument %d is empty", i + 1);
    if (status < 0 && line.at_once) {
        if (line.at_once->value == &std.help) print_help();
        else print_version();
        status = prog_end();
    }
    if (status < 0) status = apply(&line);
    free(line.v);
    return status;
}

/* The first word that is an option of the peer's; NULL: there is none. */
static const char *of_peer(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
        const char *names = prog->peer, *w;
        size_t n;
        while (names && opt_word(&names, &w, &n))
            if (strlen(argv[i]) == n && !memcmp(argv[i], w, n)) return argv[i];
    }
    return NULL;
}

int prog_start(const struct prog *p, const struct opt_group *groups, int argc, char **argv,
               struct args *args)
{
    /* With 0, 1 or 2 closed, the first file opened would be taken for standard input, output or
     * error. */
    for (int fd = 0; fd < 3; fd++)
        /* open() gives the lowest number that is free, so that each closed one is filled. */
        /* The wrong way round on purpose: reading a closed input must fail, and not be empty; what
         * is printed to a closed output must not vanish in silence. */
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF
            && open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd)
            return PROG_FAILED;
    /* a write to a closed pipe must not kill: files under way are removed first */
    pipe_ignored = signal(SIGPIPE, SIG_IGN) == SIG_IGN;     /* a write then fails with EPIPE */
    signal(SIGXFSZ, SIG_IGN);                /* the same with EFBIG */
    prog = p;
    msg_set_name(p->name);
    msg_set_options(has);
    const char *peers = of_peer(argc, argv);
    if (peers) return prog_usage("%s is %s", peers, p->instead);
    int status = options(groups, argc, argv, args);
    if (status >= 0) return status;
    msg_set_quiet(std.quiet);
    text_limits_set(&(struct text_limits){ std.line, std.window });
    /* before anything runs in parallel */
    par_threads_set(prog_threads());
    return -1;
}
