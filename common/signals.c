#include "common/signals.h"
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

static volatile sig_atomic_t stopping;

static void stop_flag(int sig)
{
    stopping = sig;
}

/* A system call that was under way goes on (SA_RESTART): readers and writers need not know of
 * signals. */
void signals_catch(void)
{
    static const int sigs[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR1 };
    struct sigaction act = { .sa_handler = stop_flag, .sa_flags = SA_RESTART };
    sigemptyset(&act.sa_mask);
    for (int i = 0; i < 4; i++) {
        struct sigaction old;
        bool ignored = sigaction(sigs[i], NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO)
                       && old.sa_handler == SIG_IGN;
        /* nohup's SIGHUP, a background job's SIGINT */
        if (!ignored) sigaction(sigs[i], &act, NULL);
    }
}

int signals_stop(void)
{
    return stopping;
}
