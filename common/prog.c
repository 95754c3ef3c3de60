#include "common/prog.h"
#include "common/err.h"
#include "common/file.h"
#include "common/grant.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/shown.h"
#include "common/thread.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
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
static struct { int threads, granted; bool quiet, help, version; const char *config; } std;

/* Every program's options, after its own. */
static const struct opt std_opts[] = {
    { "threads", 0, OPT_INT, &std.threads, "N", "number of threads (default: what affinity, the cgroup's quota and "
      "SLURM_CPUS_PER_TASK leave)", .min = 0, .max = 4096 },
    { "config", 0, OPT_STR, &std.config, "FILE", "reads options from FILE, one \"name = value\" a line; the command line wins" },
    { "quiet", 'q', OPT_FLAG, &std.quiet, 0, "no notes and no progress bar" },
    { "help", 'h', OPT_FLAG, &std.help, 0, "this text" },
    { "version", 0, OPT_FLAG, &std.version, 0, "version, compiler, instruction sets" },
    { 0 },
};

/* What the user gave: rows are found again by their address. */
static const struct opt **given;
static size_t n_given, given_cap;

/* What option values point into: allocated until the end. */
static void **kept;
static size_t n_kept, kept_cap;

static void *keep(void *p)
{
    mem_room(&kept, &kept_cap, n_kept + 1, sizeof *kept);
    return kept[n_kept++] = p;
}

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

/* --- values ----------------------------------------------------------------------------------------------- */

static bool opt_end(const struct opt *o)
{
    return !o->name && !o->help;
}

/* The words of "a|b|c": the next one after *s, its length, false at the end. */
static bool word(const char **s, const char **w, size_t *n)
{
    if (!*s) return false;
    *w = *s;
    *n = strcspn(*s, "|");
    *s = (*w)[*n] ? *w + *n + 1 : NULL;
    return true;
}

static bool same_name(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((a[i] == '_' ? '-' : a[i]) != (b[i] == '_' ? '-' : b[i])) return false;
    return true;
}

/* Which of the words of "a|b|c" value is, or -1 with a message. */
static int choice(const char *words, const char *value)
{
    const char *s = words, *w;
    size_t n;
    for (int i = 0; word(&s, &w, &n); i++)
        if (strlen(value) == n && same_name(w, value, n)) return i;
    return err_set("'%s' is none of %s", value, words);
}

static double suffix_size(const char *s)
{
    static const char units[] = "KMGTP";
    if (!*s) return 1;
    const char *u = strchr(units, toupper((unsigned char)*s));
    double m = 1;
    if (u) {
        for (const char *c = units; c <= u; c++) m *= 1024;
        s++;
        if (*s == 'i') s++;
    }
    if (*s == 'B' || *s == 'b') s++;
    return *s ? 0 : m;
}

/* Parses value into o->to. Returns 0, or -1 with a message without the option's name. */
static int set_value(const struct opt *o, const char *value, bool first)
{
    char *end;
    double x = 0;
    errno = 0;
    switch (o->type) {
    case OPT_FLAG: {
        static const char *const yes[] = { "true", "yes", "on", "1" }, *const no[] = { "false", "no", "off", "0" };
        for (int i = 0; i < 4; i++) {
            if (strcmp(value, yes[i]) == 0) { *(bool *)o->to = true; return 0; }
            if (strcmp(value, no[i]) == 0) { *(bool *)o->to = false; return 0; }
        }
        return err_set("'%s' is neither true nor false", value);
    }
    case OPT_INT: case OPT_I64: {
        long long v = strtoll(value, &end, 10);
        if (end == value || *end || isspace((unsigned char)*value)) return err_set("'%s' is not a whole number", value);
        if (errno || (o->type == OPT_INT && (v < INT_MIN || v > INT_MAX))) return err_set("%s is out of range", value);
        if (o->max > o->min && ((double)v < o->min || (double)v > o->max))
            return err_set("%s is not between %.15g and %.15g", value, o->min, o->max);
        if (o->type == OPT_INT) *(int *)o->to = (int)v;
        else *(int64_t *)o->to = v;
        return 0;
    }
    case OPT_REAL:
        x = strtod(value, &end);
        if (end == value || *end || isspace((unsigned char)*value) || isnan(x)) return err_set("'%s' is not a number", value);
        if (isinf(x)) return err_set("%s is out of range", value);
        if (o->max > o->min && (x < o->min || x > o->max))
            return err_set("%s is not between %.15g and %.15g", value, o->min, o->max);
        *(double *)o->to = x;
        return 0;
    case OPT_SIZE: {
        x = strtod(value, &end);
        double unit = end == value || !isdigit((unsigned char)*value) ? 0
                    : strcmp(end, "%") == 0 ? granted_memory() / 100 : suffix_size(end);
        if (!(unit > 0) || !(x >= 0)) return err_set("'%s' is not a size; write bytes, or a number with K, M, G, T or %%", value);
        x *= unit;
        if (!(x < 9e18)) return err_set("%s is out of range", value);
        if (o->max > o->min && (x < o->min || x > o->max))
            return err_set("%s is not between %.15g and %.15g bytes", value, o->min, o->max);
        *(size_t *)o->to = (size_t)x;
        return 0;
    }
    case OPT_TIME: {
        const char *s = value;
        do {
            double part = strtod(s, &end);
            if (end == s || !isdigit((unsigned char)*s)) { x = -1; break; }
            double unit = *end == 'd' ? 86400 : *end == 'h' ? 3600 : *end == 'm' ? 60 : *end == 's' || !*end ? 1 : -1;
            if (unit < 0) { x = -1; break; }
            x += part * unit;
            s = *end ? end + 1 : end;
        } while (*s);
        if (x < 0) return err_set("'%s' is not a time; write seconds, or numbers with s, m, h, d", value);
        if (!(x < 9e18)) return err_set("%s is out of range", value);
        if (o->max > o->min && (x < o->min || x > o->max))
            return err_set("%s is not between %.15g and %.15g seconds", value, o->min, o->max);
        *(int64_t *)o->to = (int64_t)x;
        return 0;
    }
    case OPT_STR:
        *(const char **)o->to = value;
        return 0;
    case OPT_CHOICE: {
        int i = choice(o->arg, value);
        if (i < 0) return -1;
        *(int *)o->to = i;
        return 0;
    }
    case OPT_LIST: {
        struct strs *l = o->to;
        size_t at = 0;
        if (first) *l = (struct strs){ 0 };
        while (at < n_kept && !(l->n && kept[at] == (void *)l->v)) at++;
        if (at == n_kept) keep(NULL);
        l->v = kept[at] = mem_grow(kept[at], (size_t)l->n + 1, sizeof *l->v);
        l->v[l->n] = value;
        l->n++;
        return 0;
    }
    }
    return err_set("unknown kind of option");
}

/* --- looking up ------------------------------------------------------------------------------------------- */

static bool has_name(const struct opt *o, const char *s, size_t n)
{
    const char *names = o->name, *w;
    size_t k;
    while (word(&names, &w, &k))
        if (k == n && same_name(w, s, n)) return true;
    return false;
}

/* The option called s[0..n), own ones first; *negated if s is "no-" and a flag's name. NULL: none. */
static const struct opt *find_long(const char *s, size_t n, bool *negated)
{
    *negated = false;
    for (int pass = 0; pass < 2; pass++) {
        if (pass) {
            if (n < 4 || !same_name(s, "no-", 3)) break;
            s += 3;
            n -= 3;
        }
        for (int table = 0; table < 2; table++)
            for (const struct opt *o = table ? std_opts : prog->opts; o && !opt_end(o); o++)
                if (o->name && o->to && has_name(o, s, n) && (!pass || o->type == OPT_FLAG)) {
                    *negated = pass;
                    return o;
                }
    }
    return NULL;
}

static const struct opt *find_letter(char c)
{
    for (int table = 0; table < 2; table++)
        for (const struct opt *o = table ? std_opts : prog->opts; o && !opt_end(o); o++)
            if (o->letter == c && o->to) return o;
    return NULL;
}

static void note_given(const struct opt *o)
{
    mem_room(&given, &given_cap, n_given + 1, sizeof *given);
    given[n_given++] = o;
}

bool prog_has(const char *long_name)
{
    bool negated;
    return prog && find_long(long_name, strlen(long_name), &negated);
}

bool prog_given(const char *long_name)
{
    bool negated;
    const struct opt *o = prog ? find_long(long_name, strlen(long_name), &negated) : NULL;
    for (size_t i = 0; i < n_given; i++)
        if (given[i] == o) return true;
    return false;
}

/* --- --help and --version --------------------------------------------------------------------------------- */

static void format_value(const struct opt *o, char *s, size_t size)
{
    *s = '\0';
    switch (o->type) {
    case OPT_FLAG: snprintf(s, size, "%s", *(bool *)o->to ? "true" : "false"); break;
    case OPT_INT:  snprintf(s, size, "%d", *(int *)o->to); break;
    case OPT_I64:  snprintf(s, size, "%lld", (long long)*(int64_t *)o->to); break;
    case OPT_TIME: snprintf(s, size, "%lld", (long long)*(int64_t *)o->to); break;
    case OPT_SIZE: snprintf(s, size, "%zu", *(size_t *)o->to); break;
    case OPT_REAL:
        for (int digits = 6; digits <= 17; digits++) {     /* the shortest that reads back as the same */
            snprintf(s, size, "%.*g", digits, *(double *)o->to);
            if (strtod(s, NULL) == *(double *)o->to) break;
        }
        break;
    case OPT_STR: snprintf(s, size, "%s", *(const char **)o->to ? *(const char **)o->to : ""); break;
    case OPT_CHOICE: {
        const char *words = o->arg, *w;
        size_t n;
        for (int i = 0; word(&words, &w, &n); i++)
            if (i == *(int *)o->to) snprintf(s, size, "%.*s", (int)n, w);
        break;
    }
    case OPT_LIST: break;
    }
}

static void format_default(const struct opt *o, char *s, size_t size)
{
    *s = '\0';
    if (strstr(o->help, "default") || o->type == OPT_LIST) return;
    char v[256];
    format_value(o, v, sizeof v);
    if (o->type == OPT_FLAG && *(bool *)o->to) snprintf(s, size, " (default; --no-%.*s turns it off)", (int)strcspn(o->name, "|"), o->name);
    else if (o->type == OPT_SIZE) {
        size_t b = *(size_t *)o->to;
        int unit = 0;
        while (unit < 4 && b && b % 1024 == 0) { b /= 1024; unit++; }
        static const char *const units[] = { "", "K", "M", "G", "T" };
        if (b) snprintf(s, size, " (default: %zu%s)", b, units[unit]);
    } else if (o->type != OPT_FLAG && *v)
        snprintf(s, size, " (default: %s)", v);
}

/* Text from column `at` on, broken at spaces so that lines stay within 80 columns. */
static void print_wrapped(const char *s, int at)
{
    int column = at;
    while (*s) {
        int n = (int)strcspn(s, " \n");
        if (column > at && column + 1 + n > 79) { printf("\n%*s", at, ""); column = at; }
        if (column > at) { putchar(' '); column++; }
        printf("%.*s", n, s);
        column += n;
        s += n;
        if (*s == '\n') { printf("\n%*s", at, ""); column = at; }
        if (*s) s++;
    }
    putchar('\n');
}

static void help_rows(const struct opt *opts)
{
    for (const struct opt *o = opts; o && !opt_end(o); o++) {
        if (!o->name) { printf("\n%s\n", o->help); continue; }
        char left[160], tail[320], *text;
        const char *arg = o->type == OPT_FLAG ? NULL : o->arg;
        int n = snprintf(left, sizeof left, "  %c%c%s --%.*s%s%s", o->letter ? '-' : ' ', o->letter ? o->letter : ' ',
                         o->letter ? "," : " ", (int)strcspn(o->name, "|"), o->name, arg ? " " : "", arg ? arg : "");
        printf("%s", left);
        if (n > 27) printf("\n%*s", 30, "");
        else printf("%*s", 30 - n, "");
        format_default(o, tail, sizeof tail);
        if (asprintf(&text, "%s%s", o->help, tail) < 0) continue;
        print_wrapped(text, 30);
        free(text);
    }
}

static void print_help(void)
{
    printf("Usage: %s %s\n%s\n", prog->name, prog->synopsis, prog->about);
    if (prog->opts && prog->opts->name) printf("\nOptions:\n");
    help_rows(prog->opts);
    bool headed = false;
    for (const struct opt *o = prog->opts; o && !opt_end(o); o++) headed |= !o->name;
    if (headed) printf("\nEvery program:\n");
    help_rows(std_opts);
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

/* --- configuration ---------------------------------------------------------------------------------------- */

static void put_config(FILE *f, const struct opt *o, const char *v)
{
    if (!*v) return;
    fprintf(f, "%.*s = ", (int)strcspn(o->name, "|"), o->name);
    size_t n = strlen(v);
    if (!strpbrk(v, "#\"\\\n\r") && !isspace((unsigned char)v[0]) && !isspace((unsigned char)v[n - 1])) fputs(v, f);
    else {
        putc('"', f);
        for (; *v; v++) {
            if (*v == '\n') fputs("\\n", f);
            else if (*v == '\r') fputs("\\r", f);
            else { if (*v == '"' || *v == '\\') putc('\\', f); putc(*v, f); }
        }
        putc('"', f);
    }
    putc('\n', f);
}

/* Would set_value take the number that is there? */
static bool in_range(const struct opt *o)
{
    double x = o->type == OPT_INT ? *(int *)o->to : o->type == OPT_I64 || o->type == OPT_TIME ? (double)*(int64_t *)o->to
             : o->type == OPT_REAL ? *(double *)o->to : o->type == OPT_SIZE ? (double)*(size_t *)o->to : o->min;
    return !(o->max > o->min) || (x >= o->min && x <= o->max);
}

char *prog_config(void)
{
    struct mem_text t;
    mem_text_open(&t);
    FILE *f = t.f;
    for (const struct opt *o = prog->opts; o && !opt_end(o); o++) {
        if (!o->name || !o->to) continue;
        if (o->type == OPT_LIST) {
            struct strs *l = o->to;
            for (int i = 0; i < l->n; i++) put_config(f, o, l->v[i]);
        } else if (o->type == OPT_STR)
            put_config(f, o, *(const char **)o->to ? *(const char **)o->to : "");
        else if (in_range(o)) {
            char v[128];
            format_value(o, v, sizeof v);
            put_config(f, o, v);
        }
    }
    return mem_text_take(&t, NULL);
}

/* The value at s up to the end of its line, in place: comments and space around it go, quotes are undone.
 * false: a quote is not closed, or something follows it. */
static bool config_value(char *s)
{
    if (*s != '"') {
        size_t n = strcspn(s, "#");
        while (n && isspace((unsigned char)s[n - 1])) n--;
        s[n] = '\0';
        return true;
    }
    char *to = s, *p = s + 1;
    for (; *p && *p != '"'; p++) {
        if (*p == '\\' && p[1]) { p++; *to++ = *p == 'n' ? '\n' : *p == 'r' ? '\r' : *p; }
        else *to++ = *p;
    }
    if (!*p) return false;
    p++;
    *to = '\0';
    p += strspn(p, " \t\r");
    return !*p || *p == '#';
}

/* Returns -1 to go on, or an exit status. The text stays allocated: option strings point into it. */
static int read_config(const char *path)
{
    size_t size;
    char *text = file_read(path, &size);
    if (!text) return prog_fail();
    keep(text);
    if (memchr(text, 0, size)) return prog_usage("%s: not a text file", path);
    size_t before = n_given;
    char *next;
    int line = 1;
    for (char *s = text; s; s = next, line++) {
        next = strchr(s, '\n');
        if (next) *next++ = '\0';
        s += strspn(s, " \t\r");
        if (!*s || *s == '#') continue;
        size_t n = strcspn(s, " \t=");
        char *v = s + n + strspn(s + n, " \t");
        if (*v != '=' || !n) return prog_usage("%s:%d: not \"name = value\"", path, line);
        v++;
        v += strspn(v, " \t");
        if (!config_value(v)) return prog_usage("%s:%d: a quoted value does not end as it should", path, line);
        bool negated, first = true;
        const struct opt *o = find_long(s, n, &negated);
        if (!o || negated || o->to == &std.config || o->to == &std.help || o->to == &std.version)
            return prog_usage("%s:%d: no option is called '%.*s'; see --help", path, line, (int)n, s);
        for (size_t i = before; i < n_given; i++) first &= given[i] != o;
        if (set_value(o, v, first) < 0) return prog_usage("%s:%d: %.*s: %s", path, line, (int)n, s, err_msg());
        note_given(o);
    }
    return -1;
}

/* --- the command line ------------------------------------------------------------------------------------- */

/* "-5", "-.5", "-1e9" are arguments, unless a digit is an option's letter. */
static bool is_number(const char *s)
{
    char *end;
    if (s[0] != '-' || !(isdigit((unsigned char)s[1]) || (s[1] == '.' && isdigit((unsigned char)s[2])))) return false;
    if (find_letter(s[1])) return false;
    strtod(s, &end);
    return !*end;
}

struct setting { const struct opt *o; const char *value, *as; int as_len; };   /* as: how the user wrote its name */

/* Exit status or -1; fills list and args. Nothing is set yet: --help shows the defaults. */
static int parse(int argc, char **argv, struct args *args, struct setting **list, size_t *n_list)
{
    size_t cap = 0;
    bool only_args = false;
    *list = NULL;
    *n_list = 0;
    args->v = keep(mem_zero((size_t)argc + 1, sizeof *args->v));
    args->n = 0;
#define ADD(...) (mem_room(list, &cap, *n_list + 1, sizeof **list), (*list)[(*n_list)++] = (struct setting){ __VA_ARGS__ })
    for (int i = 1; i < argc; i++) {
        char *a = argv[i];
        if (only_args || a[0] != '-' || !a[1] || is_number(a)) { args->v[args->n++] = a; continue; }
        if (strcmp(a, "--") == 0) { only_args = true; continue; }
        if (a[1] == '-') {
            size_t n = strcspn(a + 2, "=");
            bool negated;
            const struct opt *o = find_long(a + 2, n, &negated);
            const char *value = a[2 + n] ? a + 3 + n : NULL;
            if (!o) return prog_usage("no option is called '%.*s'; see --help", (int)n + 2, a);
            if (o->to == &std.help) { print_help(); return prog_end(); }
            if (o->to == &std.version) { print_version(); return prog_end(); }
            if (o->type == OPT_FLAG) {
                if (negated && value) return prog_usage("%.*s takes no value", (int)n + 2, a);
                if (!value) value = negated ? "false" : "true";
            } else if (!value) {
                if (i + 1 == argc) return prog_usage("%s wants a value (%s)", a, o->arg ? o->arg : "VALUE");
                value = argv[++i];
            }
            ADD(o, value, a, (int)n + 2);
            continue;
        }
        for (char *s = a + 1; *s; s++) {
            const struct opt *o = find_letter(*s);
            if (!o) return prog_usage("no option is called '-%c'; see --help", *s);
            if (o->to == &std.help) { print_help(); return prog_end(); }
            if (o->type == OPT_FLAG) { ADD(o, "true", a, 2); continue; }
            const char *value = s[1] ? s + 1 : i + 1 < argc ? argv[++i] : NULL;
            if (!value) return prog_usage("-%c wants a value (%s)", *s, o->arg ? o->arg : "VALUE");
            ADD(o, value, s == a + 1 ? a : o->name, s == a + 1 ? 2 : (int)strcspn(o->name, "|"));
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
        if (value && *value && choice(choices[i].words, value) < 0) return prog_usage("%s: %s", choices[i].name, err_msg());
    }
    return -1;
}

int prog_start(const struct prog *p, int argc, char **argv, struct args *args)
{
    /* With 0, 1 or 2 closed, the first file opened would be taken for standard input, output or error. */
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd) return PROG_FAILED;
    pipe_ignored = signal(SIGPIPE, SIG_IGN) == SIG_IGN;     /* a write then fails with EPIPE */
    signal(SIGXFSZ, SIG_IGN);                /* the same with EFBIG */
    prog = p;
    name = p->name;
    n_given = 0;
    while (n_kept) free(kept[--n_kept]);     /* of an earlier call: tests make several */
    memset(&std, 0, sizeof std);

    struct setting *list;
    size_t n;
    int status = parse(argc, argv, args, &list, &n);
    for (size_t i = 0; status < 0 && i < n; i++)
        if (list[i].o->to == &std.config) std.config = list[i].value;
    if (status < 0 && std.config) status = read_config(std.config);
    size_t before = n_given;
    for (size_t i = 0; status < 0 && i < n; i++) {
        bool first = true;
        for (size_t j = before; j < n_given; j++) first &= given[j] != list[i].o;
        if (set_value(list[i].o, list[i].value, first) < 0)
            status = prog_usage("%.*s: %s", list[i].as_len, list[i].as, err_msg());
        note_given(list[i].o);
    }
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
