/* Files that are whole or absent. A named output is written under a temporary name in the
 * same folder, flushed, fsynced and renamed; a reader never sees half a file. Temporary files
 * are removed on every exit the process can see, signals included (kill -9 leaves
 * ".NAME.PID.tmp", which the next writer of NAME and file_sweep remove: leftover.h). */
#ifndef COMMON_FILES_FILE_H
#define COMMON_FILES_FILE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct out;                                   /* an output under way */

/* path NULL or "-": standard output. A symbolic link stays, and what it leads to is written, but
 * one that another user made is refused (link_check). A file that is replaced keeps its permissions
 * (at most 0777) if it was ours; else, and where there was none, they are umask's. Returns NULL
 * with a message. */
struct out *out_open(const char *path);
/* The same for bytes that a terminal cannot show: standard output that is one is refused. */
struct out *out_open_binary(const char *path);
/* Is path standard output (NULL or "-"), and a terminal? Then -1 with the message of that. */
int out_check_binary(const char *path);
/* Can these n paths be written, and is none of them there twice? For outputs that are written after
 * long work, one after the other: 0, or -1 with out_open's message; nothing is left behind. Of
 * standard output, devices and pipes nothing is asked. */
int out_check(const char *const *path, int n);
/* May path, of this option, be read from its beginning `times` times? 0, or -1 with a message: of
 * standard input ("-") and of pipes the second reading would find nothing. NULL, and what is not
 * there, is fine. */
int file_check_again(const char *option, const char *path, int times);
FILE *out_stdio(struct out *o);               /* to write with; checked when committed */
/* 0, or -1 with a message (full disk, closed pipe) */
int out_write(struct out *o, const void *p, size_t n);
const char *out_name(const struct out *o);
/* Its final path, with links resolved, and its name until then; NULL if it is written in place
 * (standard output, a device, a pipe). Valid until it is committed or aborted. */
const char *out_path(const struct out *o);
const char *out_tmp(const struct out *o);
/* 0: all that was written went out (not to disk: out_commit); -1 with a message */
int out_flush(struct out *o);
/* All of out_commit except the rename, for outputs that belong together. */
int out_ready(struct out *o);
/* Frees it; the caller has renamed out_tmp to out_path. */
void out_renamed(struct out *o);
/* Flush, check, fsync, rename, free. -1 with a message: the old file, if any, is untouched. A
 * folder that cannot be flushed after the rename is a warning: the file is whole and has its
 * name. */
int out_commit(struct out *o);
void out_abort(struct out *o);                /* NULL is fine; removes the temporary file, frees */
/* has a write to standard output failed because the pipe's reader is gone? */
bool out_pipe_closed(void);

/* Messages for an input that cannot be opened (errno), and for one that is a folder; both hint at
 * what may have been meant: a pattern that the shell did not expand, or the folder's files. Return
 * -1. */
int file_cannot_open(const char *name);
int file_is_folder(const char *name);
/* A whole small file (< 1 GiB) as a malloc'd, NUL-terminated buffer. NULL with a message. */
char *file_read(const char *path, size_t *size);
int file_write(const char *path, const void *p, size_t n);   /* atomically */
/* A whole small file into a folder, under a name, atomically. 0, or -1 with a message. */
int file_copy(const char *from, const char *folder, const char *name);

/* A read-only mapping. If the file is cut short while it is in use, or its disk fails, the process
 * ends with status 1 and a line that names the file, as if a read had failed; what is registered
 * below vanishes. */
struct map { const unsigned char *p; size_t n; };
int map_open(struct map *m, const char *path);
void map_close(struct map *m);
/* The same for a mapping that other code made of a file `name`, until it is unmapped. */
void map_watch(const void *p, size_t n, const char *name);
void map_unwatch(const void *p);

/* Is path no symbolic link of another user? In a folder that others write to, a link may lead to a
 * file that we may write and they may not. 0, or -1 with a message. */
int link_check(const char *path);
/* open(2) of a regular file that is not written under another name first (a lock, a log), made
 * where flags say so. Links as out_open. -1 with a message. */
int file_open_in_place(const char *path, int flags);

/* The last step of writing under a temporary name in the same folder: renames, flushes the
 * folder. Errors as out_commit. */
int file_rename(const char *from, const char *to);

int dir_make(const char *path);               /* mkdir -p */
int dir_make_new(const char *path);           /* the same, but path itself must be new */
int dir_sync(const char *path);               /* fsync of a folder after a rename in it */
int dir_remove(const char *path);             /* rm -r of a folder of ours; refuses "" and "/" */
bool file_exists(const char *path);
/* "a/b" from parts; malloc'd. */
char *path_join(const char *dir, const char *name);
/* Where path leads, absolute and without symbolic links; malloc'd. NULL, without a message: nowhere
 * (realpath, which is also NULL where there is no memory, and then the program ends). */
char *path_real(const char *path);

/* A temporary file, already unlinked where the system allows it, in dir (NULL: $TMPDIR, then the
 * system's). */
FILE *tmp_open(const char *dir);
/* The n bytes from `at` on of a temporary file of dir's; -1 with a message. What this process wrote
 * is there: an end of the file is as wrong as an error. */
int tmp_read(int fd, const char *dir, void *p, size_t n, uint64_t at);
/* Can tmp_open(dir) make one? 0 (also where dir is NULL), or -1 with its message. */
int tmp_check(const char *dir);
/* Registers/forgets a path that must vanish if the process ends by a signal or exit(). */
void tmp_register(const char *path);
void tmp_forget(const char *path);
void tmp_remove(const char *path);            /* removes it now, and forgets */
/* Before and after a system call that makes, moves or removes what is registered, where other
 * threads are at work: a thread whose memory ends (mem.h) waits for calls that are under way,
 * removes what they made, and lets no other begin. Between the two nothing is allocated. */
void tmp_changing(void);
void tmp_changed(void);
/* ends the process by a signal; what is registered vanishes */
void tmp_die(int sig);

/* Removes what killed processes left in dir: ".NAME.PID.tmp" files and folders whose process is
 * gone, or had this one's number (in a container it is the same each time). Processes of other
 * machines are not seen: call it for a folder that dir_lock has locked. -1 with a message if dir
 * cannot be read. */
int file_sweep(const char *dir);

/* A lock held until the process ends: -1 "another process (PID) is writing DIR" if that still
 * holds it after two seconds */
int dir_lock(const char *dir);

/* --- folders ---------------------------------------------------------------------------------- */

/* An output folder that is complete or absent, as struct out is for a file. */

/* An empty folder ".NAME.PID.tmp" next to out, to be filled; it is removed if the process ends by a
 * signal or exit(). malloc'd. NULL with a message, also if out already exists. */
char *folder_begin(const char *out);
/* rc 0: flushes tmp and renames it to out; -1, or when that fails: removes it and keeps the
 * message. Frees tmp. Returns 0 or -1. */
int folder_end(char *tmp, const char *out, int rc);

/* --- pairs ------------------------------------------------------------------------------------ */

/* Commits (and frees) two named outputs that belong together, such as rows and their words. Killed
 * between its renames, the rows are not there. -1 with a message: the files that stood under both
 * names are there as before. */
int out_commit_pair(struct out *rows, struct out *words);

#endif
