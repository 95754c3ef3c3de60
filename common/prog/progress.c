#include "common/prog/progress.h"
#include "common/clock.h"
#include "common/mem.h"
#include "common/msg.h"
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct progress {
    char *what, *unit;
    uint64_t total, from;
    double start, drawn;
};

static pthread_mutex_t line_lock = PTHREAD_MUTEX_INITIALIZER;
static bool line_used;              /* a bar stands on the terminal's line */

void progress_clear(void)
{
    pthread_mutex_lock(&line_lock);
    if (line_used) fputs("\r\033[K", stderr);
    line_used = false;
    pthread_mutex_unlock(&line_lock);
}

struct progress *progress_start(const char *what, uint64_t total, const char *unit)
{
    /* In a log file each redrawing would be a line. */
    if (msg_quiet() || !isatty(STDERR_FILENO)) return NULL;
    msg_set_line(progress_clear);
    struct progress *p = mem_zero(1, sizeof *p);
    p->what = mem_dup(what);
    p->unit = mem_dup(unit);
    p->total = total;
    p->start = clock_seconds();
    p->drawn = p->start;
    return p;
}

/* "1.23M": three digits and a unit, powers of 1000 (1024 for bytes). */
static void human(char s[16], double x, const char *unit)
{
    double step = strcmp(unit, "B") == 0 ? 1024 : 1000;
    static const char letter[] = " KMGTPE";
    int i = 0;
    /* 999.5 would be printed as 1000. */
    while (x >= 999.5 && letter[i + 1]) { x /= step; i++; }
    if (i == 0) snprintf(s, 16, "%.0f", x);
    else snprintf(s, 16, "%.*f%c", x < 9.995 ? 2 : x < 99.95 ? 1 : 0, x, letter[i]);
}

static void duration(char s[24], double t)
{
    long n = t < 0 ? 0 : t > 8.6e8 ? (long)8.6e8 : (long)(t + 0.5);
    if (n >= 86400) snprintf(s, 24, "%ldd%02ldh", n / 86400, n / 3600 % 24);
    else if (n >= 3600) snprintf(s, 24, "%ldh%02ldm", n / 3600, n / 60 % 60);
    else snprintf(s, 24, "%ld:%02ld", n / 60, n % 60);
}

void progress_from(struct progress *p, uint64_t done)
{
    if (p) p->from = done;
}

void progress_at(struct progress *p, uint64_t done, const char *extra)
{
    if (!p) return;
    double now = clock_seconds();
    /* Five times per second at most. */
    /* checked before anything is formatted: callers call it for every block */
    if (now - p->drawn < 0.2) return;
    p->drawn = now;
    struct winsize w;
    int columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col ? w.ws_col : 80;
    char line[512], amount[16], all[16], rate[16], left[24];
    double passed = now - p->start,
           speed = passed > 0 && done > p->from ? (double)(done - p->from) / passed : 0;
    human(amount, (double)done, p->unit);
    human(all, (double)p->total, p->unit);
    human(rate, speed, p->unit);
    int n = snprintf(line, sizeof line, "%s: ", p->what);
    /* room for what follows, whatever `what` is */
    if (n < 0 || n > 200) n = n < 0 ? 0 : 200;
    if (p->total) {
        double part = (double)done / (double)p->total;
        /* totals may be estimates (bytes of a file that grows) */
        if (part > 1) part = 1;
        duration(left, speed > 0 ? (double)(p->total > done ? p->total - done : 0) / speed : 0);
        snprintf(line + n, sizeof line - (size_t)n, "%3.0f%%  %s/%s %s  %s/s  %s left",
                 floor(100 * part), amount, all, p->unit, rate, left);
    } else {
        duration(left, passed);
        snprintf(line + n, sizeof line - (size_t)n, "%s %s  %s/s  %s", amount, p->unit, rate, left);
    }
    pthread_mutex_lock(&line_lock);
    /* Cut at the window's width: a line that wraps could not be drawn over. */
    /* many terminals wrap when the last column is written */
    int used = (int)strlen(line), room = columns - 1 > 0 ? columns - 1 : 0;
    fprintf(stderr, "\r%.*s", room, line);
    if (extra && *extra && used + 3 < room) fprintf(stderr, "  %.*s", room - used - 2, extra);
    fputs("\033[K", stderr);
    line_used = true;
    pthread_mutex_unlock(&line_lock);
}

void progress_end(struct progress *p)
{
    if (!p) return;
    progress_clear();
    free(p->what);
    free(p->unit);
    free(p);
}
