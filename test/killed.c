/* Preloaded into a program: kills it, as kill -9 does, right after the KILL_AFTERth change it makes
 * to the file system (a name that comes, goes or moves), so that a test can stop it in every state
 * its files pass through. Flushing to disk is left out: it changes nothing that a process sees, and
 * such a test runs a program a hundred times. */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a call returned, after the process was killed if that was its time. */
static int changed(int result)
{
    static atomic_int changes;
    const char *after = getenv("KILL_AFTER");
    if (result >= 0 && after && atomic_fetch_add(&changes, 1) + 1 == atoi(after))
        kill(getpid(), SIGKILL);
    return result;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
int rename(const char *from, const char *to) { return changed(NEXT(rename)(from, to)); }
int unlink(const char *path) { return changed(NEXT(unlink)(path)); }
int unlinkat(int dir, const char *path, int flags)
{
    return changed(NEXT(unlinkat)(dir, path, flags));
}
int rmdir(const char *path) { return changed(NEXT(rmdir)(path)); }
int remove(const char *path) { return changed(NEXT(remove)(path)); }
int mkdir(const char *path, mode_t mode) { return changed(NEXT(mkdir)(path, mode)); }
int symlink(const char *target, const char *path) { return changed(NEXT(symlink)(target, path)); }
int ftruncate(int fd, off_t size) { return changed(NEXT(ftruncate)(fd, size)); }
int fsync(int fd) { return fcntl(fd, F_GETFD) < 0 ? -1 : 0; }
int open(const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(ap, mode_t) : 0;
    va_end(ap);
    int fd = NEXT(open)(path, flags, mode);
    return flags & O_CREAT ? changed(fd) : fd;
}
