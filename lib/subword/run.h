/* Files of text into sub-words, or of sub-words into text, line by line over the pool. */
#ifndef SUBWORD_RUN_H
#define SUBWORD_RUN_H
#include <stdbool.h>

/* path, uncased: as subword_open has them. join: text out of pieces. The rest: as struct lines and
 * lines_run have it. 0, or -1 with a message. */
struct subword_run { const char *path; bool uncased, join, line_buffered, replace_invalid; };
int subword_run(const struct subword_run *r, char *const *files, int n, const char *out_path);

#endif
