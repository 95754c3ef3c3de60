#ifndef COMMON_FILES_PAIR_H
#define COMMON_FILES_PAIR_H
#include "common/files/file.h"

/* Commits (and frees) two named outputs that belong together, such as rows and their words. Killed
 * between its renames, the rows are not there. -1 with a message: the files that stood under both
 * names are there as before. */
int out_commit_pair(struct out *rows, struct out *words);

#endif
