/* WordPiece (Schuster and Nakajima 2012) after BERT's basic tokeniser, as the tokenizers library
 * applies them: text is cleaned, CJK characters are set apart, accents and case removed if the
 * model asks for it, words are cut at white space and around punctuation, and each word is cut into
 * the longest pieces of the vocabulary from the left; pieces inside a word begin with
 * "##". A word that cannot be cut, or of more than 100 characters, is "[UNK]". */
#ifndef SUBWORD_WORDPIECE_H
#define SUBWORD_WORDPIECE_H
#include <stdbool.h>
#include <stdint.h>
#include "common/text/vocab.h"
#include "lib/subword/settings.h"
#include "lib/text/tbuf.h"

struct wordpiece { const struct vocab *v; struct subword_settings s; };
/* Memory of one thread; zero it first. */
struct wordpiece_scratch {
    struct tbuf text, word;
    uint16_t *wide, *nfd_text;
    size_t wide_cap, nfd_text_cap;
};
void wordpiece_scratch_free(struct wordpiece_scratch *s);

/* Appends the pieces of a line of valid UTF-8 to out, one space between them. 0, or -1 with a
 * message. */
int wordpiece_line(const struct wordpiece *w, struct wordpiece_scratch *s, const char *line,
                   size_t n, struct tbuf *out);
/* Is this character a word of its own: punctuation, or an ideograph? */
bool wordpiece_alone(uint32_t c);
/* Joins pieces to words: "##" and the space before it go. */
void wordpiece_join(const char *line, size_t n, struct tbuf *out);

#endif
