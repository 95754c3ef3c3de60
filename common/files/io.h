/* System calls on files without their corner cases: callers never see an interruption by a signal
 * (EINTR) or a partial read or write (a full pipe, a network file system).
 * All set errno and no message. */
#ifndef COMMON_FILES_IO_H
#define COMMON_FILES_IO_H
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

/* open(2); mode where flags create */
int io_open(const char *path, int flags, mode_t mode);
/* what is there now; 0 at the end, -1 */
ssize_t io_some(int fd, void *p, size_t n);
/* n, fewer at the end only; -1 */
ssize_t io_read(int fd, void *p, size_t n);
ssize_t io_read_at(int fd, void *p, size_t n, off_t at);
int io_write(int fd, const void *p, size_t n);                          /* all of it: 0; -1 */
int io_write_at(int fd, const void *p, size_t n, off_t at);
int io_sync(int fd);                                                    /* fsync(2) */

/* A stream that reads a file, or standard input if path is "-" (which stays open when this is
 * closed). *st, unless st is NULL, is what fstat says of it. NULL if it cannot be opened. */
FILE *io_stream(const char *path, struct stat *st);

#endif
