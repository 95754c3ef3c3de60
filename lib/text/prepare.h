/* XLM's preparation of text before the tokeniser, each step to the byte what its script writes:
 *   unicode_punctuation   Moses' replace-unicode-punctuation.perl
 *   punctuation           Moses' normalize-punctuation.perl -l LANG
 *   non_printing          Moses' remove-non-printing-char.perl
 *   romanian, diacritics  normalise-romanian.py, remove-diacritics.py (wmt16-scripts)
 *   indic                 the Indic NLP library's normaliser for Devanagari, its defaults
 * They run in this order, which is XLM's. The two Python scripts read with universal newlines, so
 * they turn "\r" and
 * "\r\n" into "\n": one line may become several. */
#ifndef TEXT_PREPARE_H
#define TEXT_PREPARE_H
#include <stdbool.h>
#include <stddef.h>
#include "lib/text/tbuf.h"

struct prepare_options {
    bool unicode_punctuation, punctuation, penn, non_printing, romanian, diacritics, indic;
    const char *lang;                /* for punctuation; NULL: no language's rules */
};
struct prepare_work { struct tbuf a, b; };

/* line: n bytes, valid UTF-8, without its "\n"; newline: it had one. Appends lines with their
 * newlines to out. */
void prepare_line(const struct prepare_options *o, struct prepare_work *w, const char *line,
                  size_t n, bool newline, struct tbuf *out);
void prepare_work_free(struct prepare_work *w);

/* XLM's lowercase_and_remove_accent.py over text of whole lines (as the step after the tokeniser):
 * white space at the end of a line goes, str.lower, NFD without Mn, str.lower; every line gets a
 * newline. 0, or -1 with a message. */
int lower_accents(const char *s, size_t n, struct tbuf *out);

/* Moses' input-from-sgm.perl: the text of <seg ...>...</seg>, one segment a line. A stream:
 * sgm_feed takes whole lines and appends what is complete; last: the end of the file. Like the
 * script it loses a segment whose end stands on a last line without newline. */
struct sgm;
struct sgm *sgm_new(void);
void sgm_feed(struct sgm *g, const char *s, size_t n, bool last, struct tbuf *out);
void sgm_free(struct sgm *g);

#endif
