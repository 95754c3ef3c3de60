/* An output folder that is complete or absent, as struct out is for a file. */
#ifndef COMMON_FILES_FOLDER_H
#define COMMON_FILES_FOLDER_H

/* An empty folder ".NAME.PID.tmp" next to out, to be filled; it is removed if the process ends by a
 * signal or exit(). malloc'd. NULL with a message, also if out already exists. */
char *folder_begin(const char *out);
/* rc 0: flushes tmp and renames it to out; -1, or when that fails: removes it and keeps the
 * message. Frees tmp. Returns 0 or -1. */
int folder_end(char *tmp, const char *out, int rc);

#endif
