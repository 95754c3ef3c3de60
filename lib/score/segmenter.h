/* Tokenisers that were trained, as sacreBLEU runs them: SentencePiece's models (spBLEU) and MeCab
 * with a dictionary of Japanese or Korean. MeCab is opened at run time. */
#ifndef SCORE_SEGMENTER_H
#define SCORE_SEGMENTER_H
#include "lib/score/tokenise.h"

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
