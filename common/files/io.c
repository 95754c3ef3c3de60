#include "common/files/io.h"
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define RETRIED(call) \
    ({ __typeof__(call) r_; do r_ = (call); while (r_ < 0 && errno == EINTR); r_; })

int io_open(const char *path, int flags, mode_t mode) { return RETRIED(open(path, flags, mode)); }
ssize_t io_some(int fd, void *p, size_t n) { return RETRIED(read(fd, p, n)); }
int io_sync(int fd) { return RETRIED(fsync(fd)); }

ssize_t io_read(int fd, void *p, size_t n)
{
    size_t done = 0;
    while (done < n) {
        ssize_t r = io_some(fd, (char *)p + done, n - done);
        if (r < 0) return -1;
        /* The end of the file: fewer bytes than asked for are no failure here. */
        if (r == 0) break;
        done += (size_t)r;
    }
    return (ssize_t)done;
}

ssize_t io_read_at(int fd, void *p, size_t n, off_t at)
{
    size_t done = 0;
    while (done < n) {
        ssize_t r = RETRIED(pread(fd, (char *)p + done, n - done, at + (off_t)done));
        if (r < 0) return -1;
        if (r == 0) break;
        done += (size_t)r;
    }
    return (ssize_t)done;
}

/* A write of something that writes nothing would be tried for ever. */
static int none(void)
{
    errno = EIO;
    return -1;
}

int io_write(int fd, const void *p, size_t n)
{
    for (size_t done = 0; done < n; ) {
        ssize_t w = RETRIED(write(fd, (const char *)p + done, n - done));
        if (w < 0) return -1;
        if (w == 0) return none();
        done += (size_t)w;
    }
    return 0;
}

int io_write_at(int fd, const void *p, size_t n, off_t at)
{
    for (size_t done = 0; done < n; ) {
        /* each at its own place: several threads share the descriptor */
        ssize_t w = RETRIED(pwrite(fd, (const char *)p + done, n - done, at + (off_t)done));
        if (w < 0) return -1;
        if (w == 0) return none();
        done += (size_t)w;
    }
    return 0;
}

/* --- a stream over a descriptor, which is the cookie itself --- */

static ssize_t stream_read(void *fd, char *p, size_t n) { return io_some((int)(intptr_t)fd, p, n); }
static int stream_close(void *fd) { return close((int)(intptr_t)fd); }

static int stream_seek(void *fd, off64_t *at, int whence)
{
    off64_t r = lseek64((int)(intptr_t)fd, *at, whence);
    if (r < 0) return -1;
    *at = r;
    return 0;
}

FILE *io_stream(const char *path, struct stat *st)
{
    /* A descriptor of its own: closing the stream leaves standard input open for whoever comes
     * next. */
    int fd = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
           : io_open(path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0) return NULL;
    cookie_io_functions_t io = { .read = stream_read, .seek = stream_seek, .close = stream_close };
    FILE *f = st && fstat(fd, st) < 0 ? NULL : fopencookie((void *)(intptr_t)fd, "r", io);
    if (f) {
        setvbuf(f, NULL, _IOFBF, 1 << 16);
        return f;
    }
    int code = errno;
    close(fd);
    errno = code;
    return NULL;
}
