/* FILE.sum: the checksum of a text file that programs rely on (merge operations, vocabularies,
 * dictionaries, order models), in a file of its own, since their established formats have no room
 * for one (docs/formats/sum.md). */
#ifndef COMMON_FILES_SUM_H
#define COMMON_FILES_SUM_H
#include "common/files/file.h"

enum { SUM_HEX = 16 };

/* XXH3-64 of a file's bytes as hexadecimal digits. 0, or -1 with a message. */
int sum_hex(const char *path, char hex[SUM_HEX + 1]);

/* out_commit, and FILE.sum next to what was written; standard output, devices and pipes get none.
 * 0, or -1 with a message: FILE and FILE.sum are then as they were before. Killed between the two,
 * FILE is the older or the newer one, whole, and has no checksum. */
int sum_commit(struct out *o);

/* Does path match path.sum? 0 if so, or if there is no path.sum; -1 with a message. Links are
 * followed: the checksum is next to the file itself. NULL and "-" (standard input) pass. */
int sum_check(const char *path);

#endif
