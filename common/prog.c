#include "common/prog.h"
#include "common/err.h"
#include "common/file.h"
#include "common/grant.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/shown.h"
#include "common/opt_set.h"
#include "common/thread.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct prog *prog;
static const char *name = "isoglot";
static bool pipe_ignored;                    /* SIGPIPE, by whoever started this program */
/* What every program takes, after its own options. */
static struct std { int threads, granted; bool quiet, help, version; const char *config; } std;
static struct opt_set set;                   /* what this program takes, and what it was given */

static const struct opt std_rows[] = {
    { "threads", 0, OPT_INT(std, threads), "N", "number of threads (default: what affinity, the cgroup's quota and "
      "SLURM_CPUS_PER_TASK leave)", .min = 0, .max = 4096 },
    { "config", 0, OPT_STR(std, config), "FILE", "reads options from FILE, one \"name = value\" a line; the command line wins" },
    { "quiet", 'q', OPT_FLAG(std, quiet), 0, "no notes and no progress bar" },
    { "help", 'h', OPT_FLAG(std, help), 0, "this text" },
    { "version", 0, OPT_FLAG(std, version), 0, "version, compiler, instruction sets" },
    { 0 } };
static const struct opt_group std_groups[] = { { "Every program", std_rows, &std }, { 0 } };

/* --- messages --------------------------------------------------------------------------------------------- */

static void say(const char *fmt, va_list ap)
{
    char text[4096], line[4096];
    vsnprintf(text, sizeof text, fmt, ap);
    shown(line, sizeof line, text, strlen(text));
    progress_clear();
    fprintf(stderr, "%s: %s\n", name, line);
}

/* Standard output is a pipe whose reader has seen enough (head): the end by SIGPIPE, without a word, that this has everywhere. Who has
 * that signal ignored wants to be told. */
static void end_by_pipe(void)
{
    if (!pipe_ignored) tmp_die(SIGPIPE);
}

int prog_fail(void)
{
    progress_clear();
    if (out_pipe_closed()) end_by_pipe();
    fprintf(stderr, "%s: %s\n", name, *err_msg() ? err_msg() : "failed");
    return PROG_FAILED;
}

int prog_usage(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say(fmt, ap);
    va_end(ap);
    return PROG_USAGE;
}

void prog_note(const char *fmt, ...)
{
    if (std.quiet) return;
    va_list ap;
    va_start(ap, fmt);
    say(fmt, ap);
    va_end(ap);
}

void prog_warn(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say(fmt, ap);
    va_end(ap);
}

const char *prog_name(void)
{
    return name;
}

bool prog_quiet(void)
{
    return std.quiet;
}

int prog_threads(void)
{
    if (std.threads > 0) return std.threads;
    if (!std.granted) std.granted = granted_threads();
    return std.granted;
}

int prog_end(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) return PROG_OK;
    struct pollfd p = { STDOUT_FILENO, POLLOUT, 0 };     /* the write that failed may have been long ago */
    if (errno == EPIPE || (!errno && poll(&p, 1, 0) > 0 && p.revents & POLLERR)) {
        progress_clear();
        end_by_pipe();
        err_set("standard output: closed pipe");
    }
    else if (errno) err_sys("standard output: cannot write");
    else err_set("standard output: cannot write");
    return prog_fail();
}

/* --- --help and --version --------------------------------------------------------------------------------- */

static void print_help(void)
{
    printf("Usage: %s %s\n%s\n", prog->name, prog->synopsis, prog->about);
    opt_help(&set);
    if (prog->more) printf("\n%s%s", prog->more, prog->more[strlen(prog->more) - 1] == '\n' ? "" : "\n");
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
    HAS("sse4.2"); HAS("avx"); HAS("avx2"); HAS("fma"); HAS("avx512f"); HAS("avx512bw"); HAS("avx512vl");
    HAS("avx512vnni"); HAS("avx512vbmi2");
#undef HAS
#elif defined __aarch64__
    printf(" aarch64");
#endif
    printf("\n");
    if (prog_kernels) printf("kernels: %s\n", prog_kernels());
}

/* --- what was given --------------------------------------------------------------------------------------- */

char *prog_config(void)
{
    return opt_config(&set, name);
}

static const struct opt_here *find(const char *long_name)
{
    bool negated;
    return opt_find(&set, long_name, strlen(long_name), &negated);
}

bool prog_has(const char *long_name)
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
        if (o->group->rows != rows || o->source <= OPT_RECORDED) continue;
        snprintf(asked, 64, "%.*s", opt_name_length(o->row), o->row->name);
        return true;
    }
    return false;
}

void prog_take(const struct opt *rows, const void *from)
{
    for (int i = 0; i < set.own; i++) {
        const struct opt_here *o = &set.all[i];
        if (o->group->rows != rows || o->source != OPT_DEFAULT) continue;
        memcpy(o->value, (const char *)from + o->row->at, opt_size(o->row->type));
    }
}

/* --- the command line ------------------------------------------------------------------------------------- */

/* "-5", "-.5", "-1e9" are arguments, unless a digit is an option's letter. */
static bool is_number(const char *s)
{
    char *end;
    if (s[0] != '-' || !(isdigit((unsigned char)s[1]) || (s[1] == '.' && isdigit((unsigned char)s[2])))) return false;
    if (opt_find_letter(&set, s[1])) return false;
    strtod(s, &end);
    return !*end;
}

struct setting { struct opt_here *o; const char *value, *as; int as_len; };   /* as: how the user wrote its name */

/* Exit status or -1; fills list and args. Nothing is set yet: --help shows the defaults. */
static int parse(int argc, char **argv, struct args *args, struct setting **list, size_t *n_list)
{
    size_t cap = 0;
    bool only_args = false;
    *list = NULL;
    *n_list = 0;
    args->v = opt_keep(&set, mem_zero((size_t)argc + 1, sizeof *args->v));
    args->n = 0;
#define ADD(...) (mem_room(list, &cap, *n_list + 1, sizeof **list), (*list)[(*n_list)++] = (struct setting){ __VA_ARGS__ })
    for (int i = 1; i < argc; i++) {
        char *a = argv[i];
        if (only_args || a[0] != '-' || !a[1] || is_number(a)) { args->v[args->n++] = a; continue; }
        if (strcmp(a, "--") == 0) { only_args = true; continue; }
        if (a[1] == '-') {
            size_t n = strcspn(a + 2, "=");
            bool negated;
            struct opt_here *o = opt_find(&set, a + 2, n, &negated);
            const char *value = a[2 + n] ? a + 3 + n : NULL;
            if (!o) return prog_usage("no option is called '%.*s'; see --help", (int)n + 2, a);
            if (o->value == &std.help) { print_help(); return prog_end(); }
            if (o->value == &std.version) { print_version(); return prog_end(); }
            if (o->row->type == OPT_TYPE_FLAG) {
                if (negated && value) return prog_usage("%.*s takes no value", (int)n + 2, a);
                if (!value) value = negated ? "false" : "true";
            } else if (!value) {
                if (i + 1 == argc) return prog_usage("%s wants a value (%s)", a, o->row->arg ? o->row->arg : "VALUE");
                value = argv[++i];
            }
            ADD(o, value, a, (int)n + 2);
            continue;
        }
        for (char *s = a + 1; *s; s++) {
            struct opt_here *o = opt_find_letter(&set, *s);
            if (!o) return prog_usage("no option is called '-%c'; see --help", *s);
            if (o->value == &std.help) { print_help(); return prog_end(); }
            if (o->row->type == OPT_TYPE_FLAG) { ADD(o, "true", a, 2); continue; }
            const char *value = s[1] ? s + 1 : i + 1 < argc ? argv[++i] : NULL;
            if (!value) return prog_usage("-%c wants a value (%s)", *s, o->row->arg ? o->row->arg : "VALUE");
            ADD(o, value, s == a + 1 ? a : o->row->name, s == a + 1 ? 2 : opt_name_length(o->row));
            break;
        }
    }
#undef ADD
    return -1;
}

/* Whoever sets one of these to measure with it must not measure something else. Unset and empty are the default. */
static int check_environment(void)
{
    static const struct { const char *name, *words; } choices[] = {
        { "ISOGLOT_SIMD", "base|avx2|avx512" }, { "ISOGLOT_BF16", "dots|rounded" }, { "ISOGLOT_CSLS", "float32|int8" }, { "ISOGLOT_CUDA_GRAPHS", "0|1" },
    };
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        const char *value = getenv(choices[i].name);
        if (value && *value && opt_choice(choices[i].words, value) < 0) return prog_usage("%s: %s", choices[i].name, err_msg());
    }
    return -1;
}

int prog_start(const struct prog *p, const struct opt_group *groups, int argc, char **argv, struct args *args)
{
    /* With 0, 1 or 2 closed, the first file opened would be taken for standard input, output or error. */
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd) return PROG_FAILED;
    pipe_ignored = signal(SIGPIPE, SIG_IGN) == SIG_IGN;     /* a write then fails with EPIPE */
    signal(SIGXFSZ, SIG_IGN);                /* the same with EFBIG */
    prog = p;
    name = p->name;
    memset(&std, 0, sizeof std);
    opt_open(&set, groups, std_groups);
    for (int i = set.own; i < set.n; i++) {
        void *v = set.all[i].value;
        set.all[i].argv_only = v == &std.config || v == &std.help || v == &std.version;
    }

    struct setting *list;
    size_t n;
    bool unreadable;
    int status = parse(argc, argv, args, &list, &n);
    for (size_t i = 0; status < 0 && i < n; i++)
        if (list[i].o->value == &std.config) std.config = list[i].value;
    if (status < 0 && std.config && opt_read_config(&set, std.config, &unreadable) < 0)
        status = unreadable ? prog_fail() : prog_usage("%s", err_msg());
    for (size_t i = 0; status < 0 && i < n; i++)
        if (opt_give(&set, list[i].o, list[i].value, OPT_ARGV) < 0)
            status = prog_usage("%.*s: %s", list[i].as_len, list[i].as, err_msg());
    free(list);
    if (status < 0) status = check_environment();
    if (status >= 0) return status;
    par_threads_set(prog_threads());
    return -1;
}

/* --- signals ---------------------------------------------------------------------------------------------- */

static volatile sig_atomic_t stopping;

static void stop_flag(int sig)
{
    stopping = sig;
}

/* A system call that was under way goes on (SA_RESTART): readers and writers need not know of signals. */
void prog_signals(void)
{
    static const int sigs[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR1 };
    struct sigaction act = { .sa_handler = stop_flag, .sa_flags = SA_RESTART };
    sigemptyset(&act.sa_mask);
    for (int i = 0; i < 4; i++) {
        struct sigaction old;
        bool ignored = sigaction(sigs[i], NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO) && old.sa_handler == SIG_IGN;
        if (!ignored) sigaction(sigs[i], &act, NULL);         /* nohup's SIGHUP, a background job's SIGINT */
    }
}

int prog_stopping(void)
{
    return stopping;
}
