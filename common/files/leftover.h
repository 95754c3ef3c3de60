/* Temporary files and folders that killed processes left. ".NAME.PID.tmp" is what an output NAME
 * is called until it is whole (file.h). Its writer holds a lock on it, so that a
 * later writer of NAME can tell an output in progress, here or on another machine that shares the
 * folder, from one whose writer was killed. */
#ifndef COMMON_FILES_LEFTOVER_H
#define COMMON_FILES_LEFTOVER_H

/* Locks what fd has open, as long as it is open. A file system without locks has none. */
void leftover_hold(int fd);
/* Removes, by `gone` (dir_remove), ".NAME.PID.tmp" next to path, whose last part is NAME, for each
 * PID that is no process of this machine and whose lock nobody holds. What cannot be removed, and
 * what another user left, stays, silently: it does no harm. */
void leftover_clear(const char *path, int (*gone)(const char *path));

#endif
