#include "common/prog/signals.h"
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include "common/files/file.h"
#include "common/msg.h"

static volatile sig_atomic_t stopping;
static const char *first_line;
static volatile sig_atomic_t asked;          /* to end at once: how often */
static volatile time_t asked_at;

static time_t now(void)
{
    struct timespec t = { 0 };
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

/* From a signal handler: no stdio. */
static void say(const char *a, const char *b)
{
    /* snprintf and write, no stdio: its lock may be held by what was interrupted. */
    char line[400];
    int n = snprintf(line, sizeof line, "%s%s: %s%s\n", isatty(STDERR_FILENO) ? "\r\033[K" : "",
                     msg_name(), a, b);
    if (n > 0 && n < (int)sizeof line && write(STDERR_FILENO, line, (size_t)n) < 0) return;
}

static void stop_flag(int sig)
{
    /* a handler must not change what the interrupted call left in errno */
    int code = errno;
    bool first = !stopping, ends = sig == SIGINT || sig == SIGTERM;
    stopping = sig;
    if (first_line && first) {
        asked_at = now();
        if (!msg_is_mute()) say(first_line, "; SIGINT or SIGTERM twice more ends it at once, "
                                            "without what is not saved yet");
    /* timeout(1) signals the process and its group: the second one is no second wish */
    } else if (first_line && ends && now() - asked_at > 1) {
        asked_at = now();
        if (++asked >= 2) tmp_die(sig);          /* when this returns */
        else if (!msg_is_mute()) say("still at work on the step; once more ends it at once", "");
    }
    errno = code;
}

/* A system call that was under way goes on (SA_RESTART): readers and writers need not know of
 * signals. */
void signals_catch(const char *line)
{
    static const int sigs[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR1 };
    struct sigaction act = { .sa_handler = stop_flag, .sa_flags = SA_RESTART };
    /* before the handler is installed, which reads it */
    first_line = line;
    sigemptyset(&act.sa_mask);
    /* None of them interrupts another's line. */
    for (int i = 0; i < 4; i++) sigaddset(&act.sa_mask, sigs[i]);
    for (int i = 0; i < 4; i++) {
        struct sigaction old;
        bool ignored = sigaction(sigs[i], NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO)
                       && old.sa_handler == SIG_IGN;
        /* nohup's SIGHUP, a background job's SIGINT. */
        if (!ignored) sigaction(sigs[i], &act, NULL);
    }
}

int signals_stop(void)
{
    return stopping;
}
