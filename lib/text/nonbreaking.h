/* Non-breaking prefixes: words after which a full stop does not end a sentence ("Dr"), so that the
 * tokeniser leaves it in place. The file is Moses': one prefix per line without its full stop, '#'
 * begins a comment line, "No #NUMERIC_ONLY#" counts only before a number. */
#ifndef TEXT_NONBREAKING_H
#define TEXT_NONBREAKING_H
#include <stddef.h>

enum { NONBREAKING_NO = 0, NONBREAKING_YES = 1, NONBREAKING_NUMERIC = 2 };

struct nonbreaking;
/* NULL with a message: missing, not UTF-8. An empty list is a list. */
struct nonbreaking *nonbreaking_read(const char *path);
int nonbreaking_find(const struct nonbreaking *nb, const char *word, size_t n);
void nonbreaking_free(struct nonbreaking *nb);

/* The list of a language as a malloc'd path: $ISOGLOT_DATA/nonbreaking/LANG, else
 * share/isoglot/nonbreaking/LANG next to the folder of the running program, else the checkout's
 * lib/text/nonbreaking/LANG. NULL (no message) if there is none. */
char *nonbreaking_path(const char *lang);

#endif
