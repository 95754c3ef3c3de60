/* The tokenisers of sacreBLEU, as token boundaries in one pass over the line. Each is defined there
 * as a chain of regular expressions; what the chain amounts to is worked out in tokenise.c. Uses
 * ICU (intl, lower case). */
#ifndef SCORE_TOKENISE_H
#define SCORE_TOKENISE_H
#include <stdbool.h>
#include "lib/score/split.h"

enum score_tok {
    SCORE_TOK_13A, SCORE_TOK_INTL, SCORE_TOK_ZH, SCORE_TOK_CHAR, SCORE_TOK_NONE,
    /* trained: a segmenter's, below */
    SCORE_TOK_SPM, SCORE_TOK_FLORES101, SCORE_TOK_FLORES200, SCORE_TOK_SPBLEU_1K,
    SCORE_TOK_JA_MECAB, SCORE_TOK_KO_MECAB
};
static inline bool score_tok_trained(enum score_tok how) { return how >= SCORE_TOK_SPM; }

/* A buffer for a rewritten line; start with zeros, free(v) at the end. */
struct bytes { char *v; size_t n, cap; };

/* Replaces *tokens by the tokens of line (valid UTF-8, no newline). They point into line or into
 * *room. */
void score_tokenise(enum score_tok how, const char *line, size_t n, struct token_spans *tokens,
                    struct bytes *room);

/* The normalisation of TER (Tercom's): options as in sacreBLEU. The result is split at white
 * space. */
struct ter_options { bool normalized, no_punct, asian_support, case_sensitive; };
void score_tokenise_ter(const struct ter_options *o, const char *line, size_t n,
                        struct token_spans *tokens, struct bytes room[2]);

/* Unicode lower case (root locale, final sigma by context) into *to. */
void score_lower(const char *line, size_t n, struct bytes *to);

/* Replaces every `from` by `by`, left to right, no longer than it. Returns the new length. */
size_t bytes_replace(char *s, size_t n, const char *from, const char *by);

/* --- trained tokenisers ----------------------------------------------------------------------- */

/* Tokenisers that were trained, as sacreBLEU runs them: SentencePiece's models (spBLEU) and MeCab
 * with a dictionary of Japanese or Korean. MeCab is opened at run time. */

struct segmenter;

/* NULL with a message that says what is missing, and where it is looked for. */
struct segmenter *segmenter_open(enum score_tok how);
void segmenter_free(struct segmenter *s);
/* sacreBLEU's name of it in signatures: "flores101", "ja-mecab-0.996-IPA" */
const char *segmenter_signature(const struct segmenter *s);

/* Memory of one thread; NULL with a message. */
struct segmenter_work;
struct segmenter_work *segmenter_work_new(const struct segmenter *s);
void segmenter_work_free(struct segmenter_work *w);

/* Replaces *tokens by the tokens of line (valid UTF-8, no newline); they point into *room. 0, or -1
 * with a message. */
int segmenter_line(const struct segmenter *s, struct segmenter_work *w, const char *line, size_t n,
                   struct token_spans *tokens, struct bytes *room);

#endif
