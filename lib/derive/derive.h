/* Languages derived from a real one, which differ from it only in what is chosen (ALIGN-MLM,
 * section 3 and Appendix F): re-ordered by another language's syntax, shuffled, inverted,
 * transliterated, in this order. Labels move with their words. Lines keep their places, so that
 * original and copy are parallel. */
#ifndef DERIVE_DERIVE_H
#define DERIVE_DERIVE_H
#include "common/prog/opt.h"
#include "lib/derive/order.h"
#include "lib/derive/script.h"
#include "lib/derive/words.h"

enum derive_format {
    DERIVE_TEXT,        /* a sentence per line */
    /* a word and its tags per line, an empty line after each sentence (rows.h) */
    DERIVE_CONLL,
    DERIVE_NLI,         /* label<TAB>sentence<TAB>sentence; further columns stay */
    DERIVE_CONLLU,      /* trees */
};

struct derive_options {
    enum derive_format format;
    bool permute, invert, split, inv_tokens, trans, untrans, header, lang_prefix, conllu_out,
        strict;
    uint64_t seed;
};
extern const struct opt derive_rows[];      /* all but the seed */

struct derive_counts { uint64_t sentences, dropped, nodes, moved, wide, crossed; };

struct derive {
    struct derive_options o;
    const struct shared *shared;            /* NULL: none */
    const struct order_model *order;        /* NULL: no syntax */
    struct derive_counts counts;            /* after derive_run: of trees */
};

/* 0, or -1 with a message: options that cannot be combined. syntax: there is an order model. */
int derive_check(const struct derive_options *o, bool syntax);
/* Files ("-" or none: standard input) to out (NULL: standard output). 0, or -1 with a message. */
int derive_run(struct derive *d, char *const *paths, int n, const char *out, bool line_buffered);

#endif
