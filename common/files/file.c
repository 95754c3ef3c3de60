#include "common/files/file.h"
#include "common/err.h"
#include "common/files/foreign.h"
#include "common/files/io.h"
#include "common/files/leftover.h"
#include "common/mem.h"
#include "common/msg.h"
#include "common/shown.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* --- what must vanish ------------------------------------------------------------------------- */

/* A signal handler reads this list, so entries are never freed, only marked unused and used
 * again. */
/* the path itself and no pointer: a handler cannot allocate, and nothing is freed under it */
struct doomed { _Atomic(struct doomed *) next; atomic_bool used; pid_t pid; char path[PATH_MAX]; };
static _Atomic(struct doomed *) doomed_list;
static pthread_mutex_t doomed_lock = PTHREAD_MUTEX_INITIALIZER;

/* A path, or a folder and the files in it. Only calls that a signal handler may make: no
 * opendir. */
static void remove_now(const char *path)
{
    /* Of a folder, Linux says EISDIR and POSIX EPERM. */
    if (unlink(path) == 0 || (errno != EISDIR && errno != EPERM)) return;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    /* the kernel's linux_dirent64 */
    struct entry {
        uint64_t ino;
        int64_t off;
        unsigned short len;
        unsigned char type;
        char name[];
    };
    _Alignas(struct entry) char buf[4096];
    /* another thread may be adding to it: then once more */
    for (int tries = 0; tries < 100; tries++) {
        for (long n; (n = syscall(SYS_getdents64, fd, buf, sizeof buf)) > 0; )
            for (long at = 0; at < n; ) {
                struct entry *e = (struct entry *)(buf + at);
                /* "." and ".." fail, and do no harm */
                unlinkat(fd, e->name, 0);
                at += e->len;
            }
        if (rmdir(path) == 0 || errno != ENOTEMPTY || lseek(fd, 0, SEEK_SET) < 0) break;
    }
    close(fd);
}

static void remove_doomed(void)
{
    pid_t pid = getpid();                   /* a forked child leaves its parent's files alone */
    for (struct doomed *d = atomic_load(&doomed_list); d; d = atomic_load(&d->next))
        if (atomic_load(&d->used) && d->pid == pid) remove_now(d->path);
}

/* mem.c ends the process: what other threads are changing is waited for, nothing more is begun. */
static atomic_bool over;
static atomic_int changing;
static void memory_ends(void)
{
    atomic_store(&over, true);
    while (atomic_load(&changing) > 0) sched_yield();
    remove_doomed();
}

void tmp_changing(void)
{
    atomic_fetch_add(&changing, 1);
    /* The count is given back, so that memory_ends() does not wait for a thread that stops here
     * for good. */
    if (!atomic_load(&over)) return;
    tmp_changed();
    for (;;) pause();
}

void tmp_changed(void) { atomic_fetch_sub(&changing, 1); }

void tmp_die(int sig)
{
    remove_doomed();
    /* By its default, so that the exit status names the signal. */
    signal(sig, SIG_DFL);
    raise(sig);                             /* from a handler: delivered when it returns */
}

/* Signals that are already handled or ignored (nohup, signals.h, a sanitizer) are left as they
 * are. */
static void install_handlers(void)
{
    static const int deadly[] = { SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2,
                                  SIGALRM, SIGXCPU, SIGABRT, SIGBUS,  SIGSEGV };
    atexit(remove_doomed);
    /* mem.c ends the process by quick_exit, which calls nothing of atexit's. */
    at_quick_exit(memory_ends);
    for (size_t i = 0; i < sizeof deadly / sizeof deadly[0]; i++) {
        struct sigaction old, new = { .sa_handler = tmp_die };
        sigemptyset(&new.sa_mask);
        if (sigaction(deadly[i], NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO)
            && old.sa_handler == SIG_DFL)
            sigaction(deadly[i], &new, NULL);
    }
}

void tmp_register(const char *path)
{
    static bool installed;
    /* The process is ending: nothing may appear that would not be removed. */
    while (atomic_load(&over)) pause();
    if (strlen(path) >= PATH_MAX) return;   /* no call that takes a path would have made it */
    pthread_mutex_lock(&doomed_lock);
    if (!installed) install_handlers();
    installed = true;
    struct doomed *d = atomic_load(&doomed_list);
    while (d && atomic_load(&d->used)) d = atomic_load(&d->next);
    bool fresh = !d;
    if (fresh) d = mem_zero(1, sizeof *d);
    /* In this order: a handler that sees the entry in use must see the whole of its path, and a
     * new entry is linked last. */
    strcpy(d->path, path);
    d->pid = getpid();
    atomic_store(&d->used, true);
    if (fresh) {
        atomic_store(&d->next, atomic_load(&doomed_list));
        atomic_store(&doomed_list, d);
    }
    pthread_mutex_unlock(&doomed_lock);
}

static bool tmp_known(const char *path)
{
    bool known = false;
    pthread_mutex_lock(&doomed_lock);
    for (struct doomed *d = atomic_load(&doomed_list); d && !known; d = atomic_load(&d->next))
        known = atomic_load(&d->used) && strcmp(d->path, path) == 0;
    pthread_mutex_unlock(&doomed_lock);
    return known;
}

void tmp_forget(const char *path)
{
    pthread_mutex_lock(&doomed_lock);
    for (struct doomed *d = atomic_load(&doomed_list); d; d = atomic_load(&d->next))
        if (atomic_load(&d->used) && strcmp(d->path, path) == 0) {
            atomic_store(&d->used, false);
            break;
        }
    pthread_mutex_unlock(&doomed_lock);
}

void tmp_remove(const char *path)
{
    /* else it is tried again at exit */
    if (unlink(path) == 0 || errno == ENOENT) tmp_forget(path);
}

/* --- outputs ---------------------------------------------------------------------------------- */

struct out {
    FILE *f;
    int fd, error;         /* the errno of the first write that failed, wherever stdio met it */
    char *name;            /* as the user knows it */
    char *path, *tmp;      /* NULL unless a temporary file is renamed at the end */
    bool standard;         /* standard output */
};

static atomic_bool pipe_closed;

bool out_pipe_closed(void)
{
    return atomic_load(&pipe_closed);
}

static ssize_t cookie_write(void *cookie, const char *p, size_t n)
{
    struct out *o = cookie;
    /* interruptions are tried again there, and short writes go on */
    if (io_write(o->fd, p, n) == 0) return (ssize_t)n;
    if (!o->error) o->error = errno;
    /* prog.c then ends as a filter does whose reader has gone. */
    if (errno == EPIPE && o->standard) atomic_store(&pipe_closed, true);
    /* 0 is how the write function of a stream of fopencookie's reports a failure; stdio keeps no
     * errno. */
    return 0;
}

static int cookie_seek(void *cookie, off64_t *at, int whence)
{
    struct out *o = cookie;
    off64_t r = lseek64(o->fd, *at, whence);
    if (r < 0) return -1;
    *at = r;
    return 0;
}

static int out_error(const struct out *o)
{
    if (o->error == EPIPE) return err_set("%s: closed pipe", o->name);
    errno = o->error ? o->error : EIO;
    return err_sys("%s: cannot write", o->name);
}

/* "dir/.NAME.PID.tmp"; what a killed process of the same number left there is replaced. */
static int open_tmp(struct out *o)
{
    const char *slash = strrchr(o->path, '/'), *base = slash ? slash + 1 : o->path;
    int dir = (int)(base - o->path);
    char *tmp = mem_format("%.*s.%s.%ld.tmp", dir, o->path, base, (long)getpid());
    if (tmp_known(tmp)) {
        free(tmp);
        return err_set(
            "%s: is already being written by this program; give each output its own name", o->name);
    }
    /* What writers that were killed have left of this output. */
    leftover_clear(o->path, dir_remove);
    /* leftover_clear spares this process's number, which in a container an older one may
     * have had */
    unlink(tmp);
    tmp_register(tmp);                       /* before it is there: a signal may come at once */
    tmp_changing();
    /* O_EXCL: in a shared folder another user may have put a file or link of that name there. */
    o->fd = io_open(tmp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    tmp_changed();
    if (o->fd < 0) {
        err_sys("%s: cannot create", o->name);
        tmp_forget(tmp);
        free(tmp);
        return -1;
    }
    /* Locked while it is written, which tells it from a killed writer's, on any machine. */
    leftover_hold(o->fd);
    o->tmp = tmp;
    return 0;
}

static void out_free(struct out *o)
{
    free(o->name);
    free(o->path);
    free(o->tmp);
    free(o);
}

/* Root's are followed: /dev/stdout, and what an administrator set up. */
int link_check(const char *path)
{
    struct stat st;
    if (lstat(path, &st) < 0 || !S_ISLNK(st.st_mode) || st.st_uid == geteuid() || st.st_uid == 0)
        return 0;
    return err_set("%s: is a symbolic link that another user made (number %lu): what it leads to "
                   "would be overwritten; name that file itself, or remove the link",
                   path, (unsigned long)st.st_uid);
}

/* Where path leads through symbolic links, so that these survive, even if nothing is there yet.
 * malloc'd; NULL with a message if one of them is another user's. */
static char *behind_links(const char *path, bool *there)
{
    char *at = mem_dup(path), target[PATH_MAX];
    for (int links = 0; links < 40; links++) {       /* as many as Linux follows */
        if (link_check(at) < 0) { free(at); return NULL; }
        ssize_t n = readlink(at, target, sizeof target - 1);
        if (n <= 0) break;
        target[n] = '\0';
        /* A relative link leads from its own folder. */
        char *slash = *target == '/' ? NULL : strrchr(at, '/');
        int dir = slash ? (int)(slash + 1 - at) : 0;
        char *next = mem_format("%.*s%s", dir, at, target);
        free(at);
        at = next;
    }
    char *real = path_real(at);
    if ((*there = real)) { free(at); return real; }
    return at;
}

int file_open_in_place(const char *path, int flags)
{
    bool there;
    struct stat st;
    char *at = behind_links(path, &there);
    if (!at) return -1;
    /* Looked at before it is opened: a named pipe would wait there for its other end. */
    bool other = stat(at, &st) == 0 && !S_ISREG(st.st_mode);
    tmp_changing();
    int fd = other ? -1 : io_open(at, flags | O_NOFOLLOW | O_CLOEXEC, 0666);
    tmp_changed();
    free(at);
    /* Once more, of what was opened: the name may lead elsewhere by now. */
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) return fd;
    if (fd < 0 && !other) return err_sys("%s: cannot open", path);
    if (fd >= 0) close(fd);
    return err_set("%s: is not a regular file; remove it", path);
}

struct out *out_open(const char *path)
{
    struct out *o = mem_zero(1, sizeof *o);
    struct stat st;
    o->fd = -1;
    if (!path || strcmp(path, "-") == 0) {
        o->name = mem_dup("standard output");
        o->standard = true;
        fflush(stdout);                     /* what was printed before stays before */
        o->fd = dup(STDOUT_FILENO);
        if (o->fd < 0) { err_sys("standard output: cannot write"); goto fail; }
    } else if (o->name = mem_dup(path), stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        /* A device or a named pipe is written to, not replaced. */
        if (S_ISDIR(st.st_mode)) { err_set("%s: is a folder; name a file", path); goto fail; }
        if (link_check(path) < 0) goto fail;
        o->fd = io_open(path, O_WRONLY | O_CLOEXEC, 0);
        if (o->fd < 0) { err_sys("%s: cannot open for writing", path); goto fail; }
    } else {
        bool there;
        if (!(o->path = behind_links(path, &there))) goto fail;
        if (!*path) {
            errno = ENOENT;
            err_sys("an output with an empty name: cannot create");
            goto fail;
        }
        if (open_tmp(o) < 0) goto fail;
        /* The mode of a file that was ours stays. Another user's would say who may write to ours,
         * and with setuid, who may act as us. */
        if (there && stat(o->path, &st) == 0 && st.st_uid == geteuid()
            && fchmod(o->fd, st.st_mode & 0777) < 0) { /* then with the default mode */
        }
    }
    cookie_io_functions_t io = { .write = cookie_write, .seek = cookie_seek };
    o->f = fopencookie(o, "w", io);
    if (!o->f) { err_sys("%s: cannot open", o->name); goto fail; }
    /* a person at a terminal sees lines as they come */
    setvbuf(o->f, NULL, isatty(o->fd) ? _IOLBF : _IOFBF, 1 << 17);
    return o;
fail:
    out_abort(o);
    return NULL;
}

int out_check_binary(const char *path)
{
    if ((path && strcmp(path, "-")) || !isatty(STDOUT_FILENO)) return 0;
    return err_set("standard output is a terminal, and what would be written is binary; name a "
                   "file with -o, or send it to a file or a pipe");
}

struct out *out_open_binary(const char *path)
{
    return out_check_binary(path) < 0 ? NULL : out_open(path);
}

int out_check(const char *const *path, int n)
{
    struct out *o[n];
    struct stat st;
    int opened = 0, rc = 0;
    /* Opened and given up again, before the work whose results would otherwise be lost. */
    for (int i = 0; i < n && rc == 0; i++) {
        if (!path[i] || !strcmp(path[i], "-")) continue;
        /* To open a named pipe would wait for its reader, and end it. */
        if (stat(path[i], &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) continue;
        if ((o[opened] = out_open(path[i]))) opened++;
        else rc = -1;
    }
    /* only now: a path given twice must be seen */
    while (opened) out_abort(o[--opened]);
    return rc;
}

int file_check_again(const char *option, const char *path, int times)
{
    struct stat st;
    if (!path || times < 2) return 0;
    if (strcmp(path, "-") && (stat(path, &st) < 0 || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
        return 0;
    return err_set("%s %s: is read for each of %d layers, and standard input or a pipe only once; "
                   "write it to a file first", option, path, times);
}

FILE *out_stdio(struct out *o)
{
    return o->f;
}

int out_write(struct out *o, const void *p, size_t n)
{
    /* n = 0: fwrite would give 0, too */
    size_t w = n ? fwrite(p, 1, n, o->f) : 0;
    return w == n ? 0 : out_error(o);
}

const char *out_name(const struct out *o)
{
    return o->name;
}

const char *out_path(const struct out *o)
{
    return o->path;
}

const char *out_tmp(const struct out *o)
{
    return o->tmp;
}

/* The folder that path is in, open; -1 with a message. No memory is allocated: there are moments
 * when running out of it would lose an older file (out_commit_pair). */
static int open_parent(const char *path)
{
    char dir[PATH_MAX];
    if (snprintf(dir, sizeof dir, "%s", path) >= (int)sizeof dir) {
        errno = ENAMETOOLONG;
        return err_sys("%s: cannot open its folder", path);
    }
    char *slash = strrchr(dir, '/');
    if (slash) slash[slash == dir] = '\0';
    int fd = io_open(slash ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (fd < 0) err_sys("%s: cannot open the folder", slash ? dir : ".");
    return fd;
}

/* fsync of a folder. Some file systems have no such thing. */
static int sync_folder(int fd)
{
    int r = io_sync(fd);
    return r < 0 && (errno == EINVAL || errno == EROFS) ? 0 : r;
}

int file_rename(const char *from, const char *to)
{
    /* Opened first, so that after the renaming only its sync can fail. */
    int dir = open_parent(to);
    if (dir < 0) return -1;
    tmp_changing();
    int r = rename(from, to);
    tmp_changed();
    if (r < 0) err_sys("%s: cannot rename the temporary file", to);
    /* The file is there and whole: a failure here would say that it is not. */
    if (r == 0 && sync_folder(dir) < 0)
        msg_warn("%s: written, but not synced to disk: its folder: %s", to, strerror(errno));
    close(dir);
    return r;
}

int out_flush(struct out *o)
{
    return fflush(o->f) != 0 || ferror(o->f) || o->error ? out_error(o) : 0;
}

int out_ready(struct out *o)
{
    if (!o->f) return 0;
    /* all three: stdio may have met the error in an earlier flush */
    bool bad = fflush(o->f) != 0 || ferror(o->f) || o->error;
    fclose(o->f);
    o->f = NULL;
    if (bad) return out_error(o);
    /* Before it gets its name: after a crash the name must not lead to an empty file. */
    if (o->tmp && io_sync(o->fd) < 0) return err_sys("%s: cannot flush to disk", o->name);
    int r = close(o->fd);
    o->fd = -1;
    /* EINTR: Linux closed it */
    return r < 0 && errno != EINTR ? err_sys("%s: cannot write", o->name) : 0;
}

void out_renamed(struct out *o)
{
    if (o->tmp) tmp_forget(o->tmp);
    out_free(o);
}

int out_commit(struct out *o)
{
    if (out_ready(o) < 0 || (o->tmp && file_rename(o->tmp, o->path) < 0)) {
        out_abort(o);
        return -1;
    }
    out_renamed(o);
    return 0;
}

void out_abort(struct out *o)
{
    if (!o) return;
    if (o->f) {
        if (o->tmp) o->error = ECANCELED;    /* what is buffered is not worth writing */
        fclose(o->f);
    }
    if (o->fd >= 0) close(o->fd);
    if (o->tmp) tmp_remove(o->tmp);
    out_free(o);
}

/* --- mapped files ----------------------------------------------------------------------------- */

/* A page of a mapping that no file backs any more (it was cut short) or cannot be read (the
 * disk failed) is a SIGBUS. Its handler reads this list: as above, entries are never freed. */
struct watched {
    _Atomic(struct watched *) next;
    _Atomic(const unsigned char *) p;        /* NULL: unused */
    size_t n;
    char name[PATH_MAX];
};
static _Atomic(struct watched *) watched_list;
static pthread_mutex_t watched_lock = PTHREAD_MUTEX_INITIALIZER;

static void bus_error(int sig, siginfo_t *info, void *context)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    char line[PATH_MAX + 200];
    uintptr_t at = (uintptr_t)info->si_addr;
    (void)context;
    for (struct watched *w = atomic_load(&watched_list); w; w = atomic_load(&w->next)) {
        uintptr_t p = (uintptr_t)atomic_load(&w->p);
        if (!p || at < p || at - p >= w->n) continue;
        /* One message, whichever thread comes first. */
        while (atomic_flag_test_and_set(&said)) pause();     /* another thread ends the process */
        int n = snprintf(line, sizeof line,
                         "%s%s: %s: cannot be read at byte %zu: it was cut short while it was in "
                         "use, or its disk failed\n",
                         isatty(STDERR_FILENO) ? "\r\033[K" : "", msg_name(), w->name,
                         (size_t)(at - p));
        if (n > 0 && write(STDERR_FILENO, line, (size_t)n) < 0) _exit(EXIT_FAILURE);
        /* runs memory_ends, which removes what is under way */
        quick_exit(EXIT_FAILURE);
    }
    tmp_die(sig);
}

/* A sanitizer's handler is left alone. */
static void catch_bus_errors(void)
{
    struct sigaction old, new = { .sa_sigaction = bus_error, .sa_flags = SA_SIGINFO };
    sigemptyset(&new.sa_mask);
    /* tmp_die is ours (install_handlers) and ends without a message. */
    if (sigaction(SIGBUS, NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO)
        && (old.sa_handler == SIG_DFL || old.sa_handler == tmp_die))
        sigaction(SIGBUS, &new, NULL);
}

void map_watch(const void *p, size_t n, const char *name)
{
    static bool installed;
    pthread_mutex_lock(&watched_lock);
    if (!installed) catch_bus_errors();
    installed = true;
    struct watched *w = atomic_load(&watched_list);
    while (w && atomic_load(&w->p)) w = atomic_load(&w->next);
    bool fresh = !w;
    if (fresh) w = mem_zero(1, sizeof *w);
    shown(w->name, sizeof w->name, name, strlen(name));
    w->n = n;
    atomic_store(&w->p, p);
    if (fresh) {
        atomic_store(&w->next, atomic_load(&watched_list));
        atomic_store(&watched_list, w);
    }
    pthread_mutex_unlock(&watched_lock);
}

void map_unwatch(const void *p)
{
    pthread_mutex_lock(&watched_lock);
    for (struct watched *w = atomic_load(&watched_list); w; w = atomic_load(&w->next))
        if (atomic_load(&w->p) == p) {
            atomic_store(&w->p, NULL);
            break;
        }
    pthread_mutex_unlock(&watched_lock);
}

/* --- whole files ------------------------------------------------------------------------------ */

int file_cannot_open(const char *name)
{
    if (errno != ENOENT || !strpbrk(name, "*?[")) return err_sys("%s: cannot be opened", name);
    return err_set("%s: no such file; the shell did not expand this pattern: give one LANG=FILE "
                   "per file, or pipe them all in",
                   name);
}

int file_is_folder(const char *name)
{
    return err_set("%s: is a folder, not a file; name the files in it", name);
}

char *file_read(const char *path, size_t *size)
{
    bool standard = strcmp(path, "-") == 0;
    const char *name = standard ? "standard input" : path;
    int fd = standard ? dup(STDIN_FILENO) : io_open(path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0) { err_sys("%s: cannot open", name); return NULL; }
    /* what is read whole is small by its kind: more is the wrong file */
    const size_t most = (size_t)1 << 30;
    size_t n = 0, cap = 0;
    char *p = NULL;
    struct stat st;
    /* A byte more than the file has: the end shows without growing, and the NUL fits. */
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 && (uint64_t)st.st_size < most)
        mem_room(&p, &cap, (size_t)st.st_size + 1, 1);
    for (;;) {
        /* a pipe has no size: it grows by what comes */
        if (n + 1 >= cap) mem_room(&p, &cap, n + 4096, 1);
        ssize_t r = io_some(fd, p + n, cap - n - 1);
        if (r < 0) { err_sys("%s: cannot read", name); goto fail; }
        if (r == 0) break;
        n += (size_t)r;
        if (n >= most) {
            err_set("%s: too large to be read whole (1 GiB or more)", name);
            goto fail;
        }
    }
    p[n] = '\0';
    /* A Git LFS pointer is a small text file under the name of the one that was expected. */
    if (foreign_refuse_pointer(name, p, n) < 0) goto fail;
    close(fd);
    if (size) *size = n;
    return p;
fail:
    close(fd);
    free(p);
    return NULL;
}

int file_write(const char *path, const void *p, size_t n)
{
    struct out *o = out_open(path);
    if (!o) return -1;
    if (out_write(o, p, n) < 0) { out_abort(o); return -1; }
    return out_commit(o);
}

int map_open(struct map *m, const char *path)
{
    *m = (struct map){ 0 };
    int fd = io_open(path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0) return err_sys("%s: cannot open", path);
    struct stat st;
    int r = 0;
    if (fstat(fd, &st) < 0) r = err_sys("%s: cannot open", path);
    else if (!S_ISREG(st.st_mode))
        r = err_set("%s: not a regular file; it must be one to be mapped into memory", path);
    /* Nothing can be mapped of an empty file. */
    else if (st.st_size == 0) m->p = (const unsigned char *)"";
    else {
        void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
        if (p == MAP_FAILED) r = err_sys("%s: cannot map into memory", path);
        else {
            *m = (struct map){ p, (size_t)st.st_size };
            map_watch(p, m->n, path);
        }
    }
    close(fd);
    if (r == 0 && (r = foreign_refuse_pointer(path, m->p, m->n)) < 0) map_close(m);
    return r;
}

void map_close(struct map *m)
{
    if (m->n) {
        map_unwatch(m->p);
        munmap((void *)(uintptr_t)m->p, m->n);
    }
    *m = (struct map){ 0 };
}

/* --- folders ---------------------------------------------------------------------------------- */

int dir_make(const char *path)
{
    if (!*path) return err_set("a folder with an empty name: cannot create");
    char *p = mem_dup(path);
    int r = 0;
    for (char *s = p + 1; r == 0; s++) {
        if (*s != '/' && *s) continue;
        char c = *s;
        *s = '\0';
        struct stat st;
        tmp_changing();
        int made = mkdir(p, 0777);
        tmp_changed();
        /* Another process may have made it meanwhile. */
        if (made < 0 && !(errno == EEXIST && stat(p, &st) == 0 && S_ISDIR(st.st_mode)))
            r = err_sys("%s: cannot create the folder", p);
        *s = c;
        if (!c) break;
    }
    free(p);
    return r;
}

int dir_make_new(const char *path)
{
    char *parent = mem_dup(path), *slash = strrchr(parent, '/');
    if (slash) *slash = '\0';
    /* Folders above may be there; the last one must be new. */
    /* "x" and "/x" have no folder to make */
    int r = slash && slash > parent ? dir_make(parent) : 0;
    free(parent);
    if (r < 0) return -1;
    tmp_changing();
    r = mkdir(path, 0777);
    tmp_changed();
    return r < 0 ? err_sys("%s: cannot create the folder", path) : 0;
}

int dir_sync(const char *path)
{
    int fd = io_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (fd < 0) return err_sys("%s: cannot open the folder", path);
    int r = sync_folder(fd);
    if (r < 0) err_sys("%s: cannot flush the folder to disk", path);
    close(fd);
    return r;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st, (void)type, (void)at;
    tmp_changing();
    int r = remove(path);
    tmp_changed();
    if (r == 0) return 0;
    err_sys("%s: cannot remove", path);
    return 1;
}

int dir_remove(const char *path)
{
    /* a variable that was empty must not cost a file system */
    if (!*path || strspn(path, "/") == strlen(path))
        return err_set("refusing to remove the folder \"%s\"", path);
    struct stat st;
    if (lstat(path, &st) < 0) return errno == ENOENT ? 0 : err_sys("%s: cannot remove", path);
    /* FTW_PHYS: a link is removed, and what it leads to is left alone. */
    int r = nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    if (r < 0) err_sys("%s: cannot read the folder", path);
    return r == 0 ? 0 : -1;
}

bool file_exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

char *path_real(const char *path)
{
    char *real = realpath(path, NULL);
    if (!real && errno == ENOMEM) mem_none(PATH_MAX);
    return real;
}

char *path_join(const char *dir, const char *name)
{
    size_t n = strlen(dir), m = strlen(name) + 1, slash = n && dir[n - 1] != '/';
    char *p = mem_alloc(n + slash + m);
    memcpy(p, dir, n);
    if (slash) p[n] = '/';
    memcpy(p + n + slash, name, m);
    return p;
}

int file_copy(const char *from, const char *folder, const char *name)
{
    size_t n;
    char *p = file_read(from, &n), *to = path_join(folder, name);
    int rc = p ? file_write(to, p, n) : -1;
    free(p);
    free(to);
    return rc;
}

FILE *tmp_open(const char *dir)
{
    if (!dir) dir = getenv("TMPDIR");
    if (!dir || !*dir) dir = P_tmpdir;
    /* A file without a name: nothing remains of it, however the process ends. */
    int fd = io_open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    /* O_TMPFILE: ext4, XFS, Btrfs and tmpfs have it, network file systems do not */
    if (fd < 0) {
        char *name = path_join(dir, "isoglot.XXXXXX");
        fd = mkostemp(name, O_CLOEXEC);
        if (fd >= 0) unlink(name);
        free(name);
    }
    if (fd < 0) {
        err_sys("%s: cannot create a temporary file; name another folder (%sTMPDIR)", dir,
                msg_has_option("tmp") ? "--tmp, " : "");
        return NULL;
    }
    FILE *f = fdopen(fd, "w+");
    if (!f) { err_sys("%s: cannot create a temporary file", dir); close(fd); }
    return f;
}

int tmp_read(int fd, const char *dir, void *p, size_t n, uint64_t at)
{
    ssize_t got = io_read_at(fd, p, n, (off_t)at);
    if (!dir) dir = "TMPDIR";
    if (got < 0) return err_sys("%s: cannot read a temporary file", dir);
    return (size_t)got == n ? 0
         : err_set("%s: a temporary file is shorter than what was written to it", dir);
}

int tmp_check(const char *dir)
{
    FILE *f = dir ? tmp_open(dir) : NULL;
    if (dir && !f) return -1;
    if (f) fclose(f);
    return 0;
}

/* The process number in ".NAME.PID.tmp", or 0. */
static long tmp_owner(const char *name)
{
    size_t n = strlen(name);
    if (name[0] != '.' || n < 8 || strcmp(name + n - 4, ".tmp") != 0) return 0;
    size_t at = n - 4;
    /* NAME may end in digits: the number is what follows the last "." */
    while (at > 1 && name[at - 1] >= '0' && name[at - 1] <= '9') at--;
    if (at < 3 || at == n - 4 || n - 4 - at > 9 || name[at - 1] != '.') return 0;
    return strtol(name + at, NULL, 10);
}

int file_sweep(const char *dir)
{
    DIR *d = opendir(dir);
    if (!d) return err_sys("%s: cannot read the folder", dir);
    int r = 0;
    for (struct dirent *e; r == 0 && (e = readdir(d)); ) {
        long pid = tmp_owner(e->d_name);
        /* kill(0) and kill(-1) would ask about groups */
        if (pid <= 0) continue;
        char *path = path_join(dir, e->d_name);
        /* EPERM: it lives, and is another user's. */
        bool live = pid == getpid() ? tmp_known(path) : kill((pid_t)pid, 0) == 0 || errno != ESRCH;
        if (!live) r = dir_remove(path);
        free(path);
    }
    closedir(d);
    return r;
}

/* flock, for two seconds: who was killed a moment ago may still be in its last write, and a job
 * begun again at once should go on. A second writer is told, and does not wait for hours. */
static int lock_soon(int fd)
{
    for (int tries = 40; ; tries--) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) return 0;
        if (errno == EINTR) continue;
        if (errno != EWOULDBLOCK || tries == 0) return -1;
        nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
    }
}

int dir_lock(const char *dir)
{
    char *path = path_join(dir, ".lock");
    int fd = file_open_in_place(path, O_RDWR | O_CREAT), r = 0;
    char who[64] = "";
    if (fd < 0) r = -1;
    else if (lock_soon(fd) < 0) {
        if (errno == EWOULDBLOCK) {
            ssize_t n = io_read_at(fd, who, sizeof who - 1, 0);
            who[n > 0 ? strcspn(who, "\n") : 0] = '\0';
            r = err_set("another process (%s) is writing %s; wait for it or name another folder",
                        *who ? who : "?", dir);
        } else
            r = err_sys("%s: cannot lock (does the file system have locks?)", path);
        close(fd);
    } else {
        int n = snprintf(who, sizeof who, "%ld\n", (long)getpid());
        int cut;
        /* Emptied: an older process's number may have had more digits. */
        do cut = ftruncate(fd, 0); while (cut < 0 && errno == EINTR);
        if (cut < 0 || io_write_at(fd, who, (size_t)n, 0) < 0) {
            r = err_sys("%s: cannot write", path);
            unlink(path);
            close(fd);
        }
    }                                        /* held open, and so locked, until the process ends */
    free(path);
    return r;
}
