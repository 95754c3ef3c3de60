/* Glossaries: words or regular expressions (Perl's syntax, as Python's re has it) whose matches are
 * not split, as subword-nmt's --glossaries. A word is cut at the matches of each in turn; a part
 * that one of them matches whole stays as it is, the others are encoded one by one. What a
 * group matched is no part of its own: re.split, and so subword-nmt, puts such text there twice. */
#ifndef BPE_GLOSSARY_H
#define BPE_GLOSSARY_H
#include <stdbool.h>
#include <stddef.h>

struct glossary;
/* NULL with a message that names the expression and the place in it. */
struct glossary *glossary_new(const char *const *patterns, int n);
void glossary_free(struct glossary *g);

struct glossary_part { const char *s; size_t n; bool keep; };
struct glossary_scratch;                       /* one a thread */
struct glossary_scratch *glossary_scratch_new(const struct glossary *g);
void glossary_scratch_free(struct glossary_scratch *s);
/* The parts of a word, valid UTF-8; at least one. -1 with a message when matching fails (an
 * expression that backtracks without end). *parts is valid until the next call. */
int glossary_parts(const struct glossary *g, struct glossary_scratch *s, const char *word, size_t n,
                   const struct glossary_part **parts, size_t *count);

#endif
