/* Byte-pair encoding of text, by block and thread; and the way back. Lines stay lines.
 *
 * Spaces follow the peer whose codes are used: with fastBPE's each space stays; with subword-nmt's
 * runs of spaces inside a line become one, those (and "\r") around it stay. */
#ifndef BPE_SEGMENT_H
#define BPE_SEGMENT_H
#include <stdbool.h>
#include <stdint.h>
#include "common/files/file.h"
#include "common/text/text.h"
#include "lib/bpe/apply.h"
#include "lib/bpe/glossary.h"

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

#endif
