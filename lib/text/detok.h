/* Moses' detokenizer.perl (`-l LANG -q`), byte for byte. */
#ifndef TEXT_DETOK_H
#define TEXT_DETOK_H
#include <stdbool.h>
#include <stddef.h>
#include "lib/text/tbuf.h"

/* uppercase: -u, the first letter of the line */
struct detok_options { const char *lang; bool uppercase; };
struct detok;
struct detok_work;

struct detok *detok_new(const struct detok_options *o);
void detok_free(struct detok *d);
struct detok_work *detok_work_new(void);
void detok_work_free(struct detok_work *w);

/* Appends the text of a line of tokens (valid UTF-8 without its "\n") to out. Returns 1 for a line
 * that the script copies (white space, <...>), 0 for another. */
int detok_line(const struct detok *d, struct detok_work *w, const char *line, size_t n,
               struct tbuf *out);

#endif
