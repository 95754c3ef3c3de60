#include "common/files/leftover.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "common/err.h"
#include "common/mem.h"

void leftover_hold(int fd)
{
    /* errno is no failure of the caller's */
    if (flock(fd, LOCK_EX | LOCK_NB) < 0) errno = 0;    /* then the process number alone tells */
}

/* PID of ".BASE.PID.tmp", 0 if the name is no such. */
static long owner(const char *name, const char *base, size_t n)
{
    /* NAME itself may have dots and digits: compared as a whole */
    if (name[0] != '.' || strncmp(name + 1, base, n) || name[n + 1] != '.') return 0;
    size_t digits = strspn(name + n + 2, "0123456789");
    if (!digits || digits > 9 || strcmp(name + n + 2 + digits, ".tmp")) return 0;
    return strtol(name + n + 2, NULL, 10);
}

/* Ours, and held by no process that still writes. Another user's may be changed while it is
 * being removed. */
static bool abandoned(const char *path)
{
    struct stat st;
    if (lstat(path, &st) < 0 || st.st_uid != geteuid()) return false;
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    /* A folder cannot be opened for writing. */
    if (fd < 0 && errno == EISDIR) fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* A lock that is free: a writer on another machine, whose number is none here, would hold
     * it. */
    bool yes = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
    if (fd >= 0) close(fd);
    return yes;
}

void leftover_clear(const char *path, int (*gone)(const char *path))
{
    /* Clearing up may fail and say so: the caller's own message must survive it. */
    char *dir = mem_dup(path), *why = err_keep();
    size_t n = strlen(dir);
    /* a folder's name may come with a "/" */
    while (n && dir[n - 1] == '/') dir[--n] = '\0';
    char *slash = strrchr(dir, '/'), *base = mem_dup(slash ? slash + 1 : dir);
    if (slash) slash[slash == dir] = '\0';
    DIR *d = opendir(slash ? dir : ".");
    for (struct dirent *e; d && (e = readdir(d)); ) {
        long pid = owner(e->d_name, base, strlen(base));
        /* ESRCH alone is the answer that nobody has this number; EPERM is another user's
         * process. */
        if (pid <= 0 || kill((pid_t)pid, 0) == 0 || errno != ESRCH) continue;
        char *left = mem_format("%s%s%s", slash ? dir : "", slash ? "/" : "", e->d_name);
        if (abandoned(left)) gone(left);
        free(left);
    }
    if (d) closedir(d);
    free(base);
    free(dir);
    err_restore(why);
}
