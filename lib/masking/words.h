/* Where words begin, by the spelling of tokens: "a@@ b" (BPE), "a ##b" (WordPiece) and "▁a
 * b" (SentencePiece, where any token of the vocabulary begins with the marker) are one word, and so
 * are "a@@ <unk>", "<unk> ##b" and "▁a <unk>". Every token of a vocabulary without such marks is a
 * word. */
#ifndef MASKING_WORDS_H
#define MASKING_WORDS_H
#include <stdbool.h>
#include "common/text/vocab.h"

struct word_starts;
struct word_starts *word_starts_new(const struct vocab *v);
void word_starts_free(struct word_starts *w);       /* NULL is fine */
/* Does a word begin at `token` where `before` stands before it? */
bool word_starts_at(const struct word_starts *w, uint32_t before, uint32_t token);

#endif
