/* A reversible case marker: lower-case text for learning, the case kept next to it as
 * tokens.
 *
 *   Hund       ->  U+21E7 hund      the first letter that has a case is upper-case, no other one is
 *   HUND, U.S. ->  U+21EA hund      all letters that have a case are, and there are two at least
 *   McDonald   ->  McDonald         any other mixture stays as it is
 *   U+21E7     ->  U+238B U+21E7    text that looks like one of the three markers has a third one
 * before it
 *
 * Words are what stands between spaces and tabs. The markers (the Shift, Caps Lock and Escape keys'
 * signs) are words of one character: BPE leaves them whole, Moses' rules split them off as they
 * are, and no step of the preparation removes them. Moses' entities (&apos; &quot; ...) count as
 * the characters they stand for: tokenised text, escaped or not, goes both ways. unmark(mark(x)) ==
 * x for every text; a mapping is used only where it comes back to the same word (simple case
 * mappings of Unicode 14). */
#ifndef TEXT_CASEMARK_H
#define TEXT_CASEMARK_H
#include <stddef.h>
#include "lib/text/tbuf.h"

/* One line without its "\n", valid UTF-8; appended to out. */
void casemark_mark(const char *s, size_t n, struct tbuf *out);
/* Undoes it. Markers without a following word, or that do not fit it (written by a model), are
 * dropped. */
void casemark_unmark(const char *s, size_t n, struct tbuf *out);

#endif
