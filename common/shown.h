/* Text of a file as it may stand on a terminal. */
#ifndef COMMON_SHOWN_H
#define COMMON_SHOWN_H
#include <stddef.h>

/* Copies s [n] into to [cap], cap > 0, NUL-ended, cut short if it does not fit: control characters
 * (tab and line feed among them, C1 too), what turns the direction of writing (U+202A to 202E,
 * 2066 to 2069), U+2028 and 2029, noncharacters (U+FFFE and the like, which XML forbids too), and
 * bytes that are not UTF-8 become \xNN for each byte. Returns the length of the copy. */
size_t shown(char *to, size_t cap, const char *s, size_t n);

#endif
