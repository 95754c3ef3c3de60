/* Byte-pair encoding of text, by block and thread; and the way back. Lines stay lines.
 *
 * Spaces follow the peer whose codes are used: with fastBPE's each space stays; with subword-nmt's
 * runs of spaces inside a line become one, those (and "\r") around it stay. */
#ifndef BPE_SEGMENT_H
#define BPE_SEGMENT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/files/file.h"
#include "common/text/text.h"
#include "lib/bpe/apply.h"

struct segment_options {
    const char *separator;               /* "@@" */
    bool every_space;                    /* fastBPE's way with spaces */
    const struct glossary *glossary;     /* or NULL */
    double dropout;                      /* 0: none */
    uint64_t seed;
    /* bytes for words already encoded; results do not depend on it */
    size_t cache;
    bool by_line;                        /* give each line out as soon as it is in */
    int threads;
};

/* Encodes all of `in` (opened with TEXT_UTF8 and TEXT_LIVE) to `out`, which the caller commits.
 * What is complete is handed out whenever more input would have to be waited for. Lines count from
 * first_line (dropout's draws depend on it). -1 with a message. */
int segment_text(const struct bpe *b, const struct segment_options *o, struct text *in,
                 struct out *out, uint64_t first_line);

/* Joins pieces back: "@@ ", and "@@" at the end of a line, vanish. */
int segment_restore(const struct segment_options *o, struct text *in, struct out *out);

/* --- glossaries ------------------------------------------------------------------------------- */

/* Glossaries: words or regular expressions (Perl's syntax, as Python's re has it) whose matches are
 * not split, as subword-nmt's --glossaries. A word is cut at the matches of each in turn; a part
 * that one of them matches whole stays as it is, the others are encoded one by one. What a
 * group matched is no part of its own: re.split, and so subword-nmt, puts such text there twice. */

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
