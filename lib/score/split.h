/* Lines into tokens, with the white space of the programs whose scores we reproduce: ASCII (Perl's
 * on bytes) or Unicode (Python's str.split). */
#ifndef SCORE_SPLIT_H
#define SCORE_SPLIT_H
#include "common/mem.h"
#include "lib/score/ngram.h"

/* A growing array of tokens; start with zeros, reuse freely, free(v) at the end. */
struct token_spans { struct span *v; size_t n, cap; };
void token_spans_grow(struct token_spans *s);
static inline void token_spans_put(struct token_spans *s, const char *p, size_t n)
{
    if (mem_short(s->cap, s->n + 1)) token_spans_grow(s);
    s->v[s->n++] = (struct span){ p, n };
}

/* Both replace *s. The tokens point into the line. */
void split_ascii(struct token_spans *s, const char *line, size_t n);
void split_unicode(struct token_spans *s, const char *line, size_t n);     /* line: valid UTF-8 */

/* The length in bytes of the white space character at p (p < end), 0 if there is none. Valid
 * UTF-8. */
size_t split_space(const char *p, const char *end);
/* n without trailing (leading: *line moves) Unicode white space. */
size_t split_strip_right(const char *line, size_t n);
size_t split_strip_left(const char **line, size_t n);

static inline int space_ascii(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

#endif
