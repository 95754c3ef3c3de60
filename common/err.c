#include "common/err.h"
#include "common/shown.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* longer ones are cut: room for a path or two and a sentence */
static _Thread_local char message[2048];

/* The new text is made next to the old one: its arguments may be err_msg() itself. What it quotes
 * from files is shown as a terminal may see it; what was shown already stays as it is. */
static void set(const char *fmt, va_list ap, int code)
{
    char text[sizeof message];
    int n = vsnprintf(text, sizeof text, fmt, ap);
    if (n < 0) n = 0;
    /* vsnprintf says what it would have needed */
    if ((size_t)n >= sizeof text) n = sizeof text - 1;
    if (code) {
        char reason[128] = "";
#ifdef __GLIBC__
        const char *why = strerror_r(code, reason, sizeof reason);
#else
        /* POSIX's, as in musl */
        const char *why = strerror_r(code, reason, sizeof reason) == 0 ? reason : "unknown error";
#endif
        snprintf(text + n, sizeof text - (size_t)n, ": %s", why);
    }
    shown(message, sizeof message, text, strlen(text));
}

int err_set(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    set(fmt, ap, 0);
    va_end(ap);
    return -1;
}

int err_sys(const char *fmt, ...)
{
    /* Kept for the caller, too: what is called here may change it. */
    int code = errno;
    va_list ap;
    va_start(ap, fmt);
    set(fmt, ap, code);
    va_end(ap);
    errno = code;
    return -1;
}

/* Not mem_dup: memory stands above errors. Without memory the message is lost, not the failure. */
char *err_keep(void)
{
    return strdup(message);
}

/* A failure stays a failure, whatever became of its message. */
int err_restore(char *kept)
{
    err_set("%s", kept ? kept : "out of memory");
    free(kept);
    return -1;
}

const char *err_msg(void)
{
    return message;
}
