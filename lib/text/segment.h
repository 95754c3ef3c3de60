/* Words of languages written without spaces, by ICU's word break (its dictionaries for Thai,
 * Chinese, Japanese). */
#ifndef TEXT_SEGMENT_H
#define TEXT_SEGMENT_H
#include <stdbool.h>
#include <stddef.h>
#include "lib/text/tbuf.h"

/* th, zh, ja, alone or with a region or script after it (zh-CN, zh_Hant). */
bool segment_wanted(const char *lang);

struct segment;                      /* one a thread */
struct segment *segment_new(const char *lang);      /* NULL with a message */
void segment_free(struct segment *s);

/* Appends the words of a line (valid UTF-8 without its "\n"), one space between; white space and
 * control characters are left out. 0, or -1 with a message. */
int segment_line(struct segment *s, const char *line, size_t n, struct tbuf *out);

#endif
