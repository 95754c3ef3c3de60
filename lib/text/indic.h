/* Tokens of languages in Brahmi-derived scripts, by the rule of the Indic NLP library's
 * trivial_tokenize, with which FLoRes' Nepali and Sinhala are prepared and scored: a token ends at
 * a space, tab or punctuation mark, each mark is a token, and numbers and dates stay whole. */
#ifndef TEXT_INDIC_H
#define TEXT_INDIC_H
#include <stdbool.h>
#include <stddef.h>
#include "lib/text/tbuf.h"

/* Is this the default segmentation of a language? ne, si, alone or with a region behind. */
bool indic_wanted(const char *lang);
/* Is it written in Devanagari, which is what prepare.h's normaliser knows? */
bool indic_devanagari(const char *lang);

/* Appends the tokens of a line (valid UTF-8 without its "\n"), one space between. */
void indic_line(const char *s, size_t n, struct tbuf *out);

#endif
