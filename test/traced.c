/* Preloaded into a program: appends to the file $TRACE what it flushes to disk and renames, in
 * order, and, with $TRACE_SEEKS, where in a file it goes on reading:
 *   fsync file SIZE     SIZE bytes of a file
 *   fsync folder NAME   a folder's names
 *   rename FROM TO      names without their folders
 *   seek PLACE          a byte of a file */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

__attribute__((format(printf, 1, 2))) static void tell(const char *fmt, ...)
{
    char line[600];
    const char *path = getenv("TRACE");
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(line, sizeof line, fmt, ap),
        fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT, 0600) : -1;
    va_end(ap);
    if (fd < 0) return;
    if (write(fd, line, (size_t)n) != n) abort();
    close(fd);
}

static const char *base(const char *path)
{
    return strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
int fsync(int fd)
{
    struct stat st;
    char link[40], path[4096] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (readlink(link, path, sizeof path - 1) < 0) abort();
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) tell("fsync folder %s\n", base(path));
    else tell("fsync file %lld\n", (long long)st.st_size);
    return NEXT(fsync)(fd);
}

int rename(const char *from, const char *to)
{
    tell("rename %s %s\n", base(from), base(to));
    return NEXT(rename)(from, to);
}

int fseeko(FILE *f, off_t at, int whence)
{
    if (getenv("TRACE_SEEKS")) tell("seek %lld\n", (long long)at);
    return NEXT(fseeko)(f, at, whence);
}
