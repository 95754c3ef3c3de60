/* Preloaded into a program: makes the n-th call of one function fail, be interrupted or be short.
 *   FAULT="CALL:N:KIND"   CALL: open read pread write pwrite fsync rename unlink close mmap
 *                         ftruncate malloc calloc realloc aligned_alloc pthread_create clock
 *                         name: a name is made, moved or removed by another thread than the first
 *                         KIND: fail, eintr (-1 with EINTR, nothing done), short (one byte of
 *                         several); of clock (what the time of day is): back, ahead (by 400 days);
 *                         of name: end (a third thread ends the process just before it, in the
 *                         way of common/mem.c when there is no memory; the call comes while what
 *                         is to vanish is removed)
 *                         "N+" instead of N: that call and all after it
 *   FAULT_COUNT=FILE      appends at the end a line "CALL N" for each: how often it was called
 * What the program itself starts is left alone, and so are OpenBLAS's products of small matrices,
 * which allocate a copy and use it unseen: no program can answer for that. Nothing here
 * allocates. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum call {
    OPEN, READ, PREAD, WRITE, PWRITE, FSYNC, RENAME, UNLINK, CLOSE, MMAP, FTRUNCATE,
    MALLOC, CALLOC, REALLOC, ALIGNED_ALLOC, PTHREAD_CREATE, CLOCK, NAME, N_CALLS
};
enum kind { NOTHING, FAIL, EINTR_ONCE, SHORT, BACK, AHEAD, END };

static const struct { const char *name; int error;
} calls[N_CALLS] = {
    { "open", EMFILE },    { "read", EIO },
    { "pread", EIO },
    { "write", ENOSPC },   { "pwrite", ENOSPC },
    { "fsync", EIO },      { "rename", EIO },
    { "unlink", EACCES },  { "close", EIO },
    { "mmap", ENOMEM },    { "ftruncate", ENOSPC },
    { "malloc", ENOMEM },  { "calloc", ENOMEM },
    { "realloc", ENOMEM }, { "aligned_alloc", ENOMEM },
    { "pthread_create", EAGAIN }, { "clock", 0 }, { "name", 0 },
};

static atomic_long count[N_CALLS];
static enum call which = N_CALLS;
static long at;
static bool onwards;
static enum kind kind;
static pid_t self;                       /* 0: not read yet, everything passes */
static const char *count_path;

__attribute__((constructor)) static void begin(void)
{
    const char *s = getenv("FAULT");
    for (int c = 0; s && c < N_CALLS; c++) {
        size_t n = strlen(calls[c].name);
        char *end;
        if (strncmp(s, calls[c].name, n) != 0 || s[n] != ':') continue;
        at = strtol(s + n + 1, &end, 10);
        onwards = *end == '+';
        end += onwards;
        kind = !strcmp(end, ":fail") ? FAIL : !strcmp(end, ":eintr") ? EINTR_ONCE
             : !strcmp(end, ":short") ? SHORT : !strcmp(end, ":back") ? BACK
             : !strcmp(end, ":ahead") ? AHEAD : !strcmp(end, ":end") ? END : NOTHING;
        which = (enum call)c;
    }
    count_path = getenv("FAULT_COUNT");  /* its bytes stay where they are */
    unsetenv("FAULT");
    unsetenv("FAULT_COUNT");
    self = getpid();
}

__attribute__((destructor)) static void end(void)
{
    char line[64];
    if (!count_path || getpid() != self) return;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, count_path, O_WRONLY | O_CREAT | O_APPEND, 0666);
    for (int c = 0; fd >= 0 && c < N_CALLS; c++) {
        int n = snprintf(line, sizeof line, "%s %ld\n", calls[c].name, atomic_load(&count[c]));
        syscall(SYS_write, fd, line, n);
    }
    if (fd >= 0) syscall(SYS_close, fd);
}

/* Counts a call; what is to happen to it. */
static enum kind due(enum call c)
{
    if (!self || getpid() != self) return NOTHING;
    long n = atomic_fetch_add(&count[c], 1) + 1;
    if (c != which || !(n == at || (onwards && n > at))) return NOTHING;
    errno = kind == EINTR_ONCE ? EINTR : calls[c].error;
    return kind;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static void pause_ms(long ms) { nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL); }

static atomic_bool ends;
static _Thread_local bool ender;
static void *end_process(void *p)
{
    static const char why[] = "inject: out of memory\n";
    (void)p;
    syscall(SYS_write, STDERR_FILENO, why, sizeof why - 1);
    ender = true;
    atomic_store(&ends, true);
    quick_exit(EXIT_FAILURE);
}

/* Before a call that changes a name. */
static void name_changes(void)
{
    pthread_t t;
    if (!self || getpid() == (pid_t)syscall(SYS_gettid) || due(NAME) != END) return;
    if (NEXT(pthread_create)(&t, NULL, end_process, NULL) != 0) return;
    while (!atomic_load(&ends)) pause_ms(1);
    pause_ms(10);
}

/* After it: who ends the process gives the other time for what comes too late. */
static void name_changed(void)
{
    if (ender) pause_ms(30);
}
#define NAMED(call) ({ name_changes(); int r_ = (call), code_ = errno; name_changed(); \
    errno = code_; r_; })

/* Is this in a kernel of OpenBLAS for small matrices (kernel/x86_64/sgemm_small_kernel_*.c)? */
static bool unseen(void *caller)
{
    Dl_info in;
    return dladdr(caller, &in) && in.dli_sname && strstr(in.dli_sname, "gemm_small_kernel_");
}

#define SPOILT(call) ({ enum kind k_ = due(call); k_ == FAIL || k_ == EINTR_ONCE; })

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);
void *malloc(size_t n)
{
    return SPOILT(MALLOC) && !unseen(__builtin_return_address(0)) ? NULL : __libc_malloc(n);
}
void *calloc(size_t n, size_t size) { return SPOILT(CALLOC) ? NULL : __libc_calloc(n, size); }
void *realloc(void *p, size_t n) { return SPOILT(REALLOC) ? NULL : __libc_realloc(p, n); }
void *aligned_alloc(size_t align, size_t n)
{
    return SPOILT(ALIGNED_ALLOC) ? NULL : __libc_memalign(align, n);
}

int open(const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(ap, mode_t) : 0;
    va_end(ap);
    if (SPOILT(OPEN)) return -1;
    if (!(flags & O_CREAT)) return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    return NAMED((int)syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}
int open64(const char *path, int flags, ...) __attribute__((alias("open")));

ssize_t read(int fd, void *p, size_t n)
{
    enum kind k = due(READ);
    return k == FAIL || k == EINTR_ONCE ? -1 : NEXT(read)(fd, p, k == SHORT && n > 1 ? 1 : n);
}

ssize_t pread(int fd, void *p, size_t n, off_t from)
{
    enum kind k = due(PREAD);
    return k == FAIL || k == EINTR_ONCE
        ? -1 : NEXT(pread)(fd, p, k == SHORT && n > 1 ? 1 : n, from);
}
ssize_t pread64(int fd, void *p, size_t n, off_t from) __attribute__((alias("pread")));

ssize_t write(int fd, const void *p, size_t n)
{
    enum kind k = due(WRITE);
    return k == FAIL || k == EINTR_ONCE ? -1 : NEXT(write)(fd, p, k == SHORT && n > 1 ? 1 : n);
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t to)
{
    enum kind k = due(PWRITE);
    return k == FAIL || k == EINTR_ONCE ? -1 : NEXT(pwrite)(fd, p, k == SHORT && n > 1 ? 1 : n, to);
}
ssize_t pwrite64(int fd, const void *p, size_t n, off_t to) __attribute__((alias("pwrite")));

void *mmap(void *p, size_t n, int prot, int flags, int fd, off_t from)
{
    return SPOILT(MMAP) ? MAP_FAILED : (void *)syscall(SYS_mmap, p, n, prot, flags, fd, from);
}
void *mmap64(void *p, size_t n, int prot, int flags, int fd, off_t from)
    __attribute__((alias("mmap")));

int close(int fd)                        /* closed all the same, as Linux does */
{
    if (!SPOILT(CLOSE)) return NEXT(close)(fd);
    int code = errno;
    NEXT(close)(fd);
    errno = code;
    return -1;
}

/* The disk itself is not tested: flushing would take nearly all of the time. */
int fsync(int fd) { return SPOILT(FSYNC) || fcntl(fd, F_GETFD) < 0 ? -1 : 0; }
int rename(const char *from, const char *to)
{
    return SPOILT(RENAME) ? -1 : NAMED(NEXT(rename)(from, to));
}
int unlink(const char *path) { return SPOILT(UNLINK) ? -1 : NAMED(NEXT(unlink)(path)); }
int remove(const char *path) { return NAMED(NEXT(remove)(path)); }
int mkdir(const char *path, mode_t mode) { return NAMED(NEXT(mkdir)(path, mode)); }
int rmdir(const char *path) { return NAMED(NEXT(rmdir)(path)); }
int symlink(const char *to, const char *path) { return NAMED(NEXT(symlink)(to, path)); }
int ftruncate(int fd, off_t size) { return SPOILT(FTRUNCATE) ? -1 : NEXT(ftruncate)(fd, size); }
int ftruncate64(int fd, off_t size) __attribute__((alias("ftruncate")));
int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *p)
{
    return SPOILT(PTHREAD_CREATE) ? EAGAIN : NEXT(pthread_create)(t, a, f, p);
}

/* Only the time of day is ever set; the monotonic clock goes on. */
int clock_gettime(clockid_t id, struct timespec *t)
{
    int rc = (int)syscall(SYS_clock_gettime, id, t), code = errno;
    enum kind k = id == CLOCK_REALTIME ? due(CLOCK) : NOTHING;
    if (rc == 0 && k == BACK) t->tv_sec -= 400 * 86400;
    if (rc == 0 && k == AHEAD) t->tv_sec += 400 * 86400;
    errno = code;
    return rc;
}
