/* Plain text to a model's tokens and back, by what the model's folder keeps: `tokenizer` (the steps
 * of tokenize) and `codes` (BPE merges). What `tokenize | bpe-apply` and `bpe-apply --restore |
 * detokenize` do, for programs with --raw. */
#ifndef PLAIN_PLAIN_H
#define PLAIN_PLAIN_H
#include <stddef.h>
#include "lib/text/tbuf.h"
#include "lib/text/tokenize.h"

/* The settings as a file: "name = value" lines with the names of tokenize's options, those that are
 * on; "LANG.name" is for one language only, and wins. Parse starts from o as it is. -1 with a
 * message: an unknown name, a value that is none. */
#define PLAIN_SETTINGS "tokenizer"
char *plain_settings(const struct tokenize_options *o);                      /* malloc'd */
int plain_settings_parse(struct tokenize_options *o, const char *text, const char *where);

/* Are these files, to be kept with a model, what its --raw will want? Paths, or NULL. -1 with a
 * message. */
int plain_check(const char *codes, const char *settings);

struct plain;
/* For text in language lang by the folder dir. NULL with a message: no settings or codes there, or
 * damaged ones. With the setting no-tokenize codes may be missing: text is the model's tokens,
 * which a space separates (a derived language is cut before it is transliterated). */
struct plain *plain_open(const char *dir, const char *lang);
void plain_close(struct plain *p);                                           /* NULL is fine */

/* One line (valid UTF-8 without its "\n") to BPE tokens with a space between, appended; 0, or -1
 * with a message. */
int plain_encode(struct plain *p, const char *line, size_t n, struct tbuf *tokens);
/* BPE tokens back to text, appended, without "\n". */
void plain_decode(struct plain *p, const char *tokens, size_t n, struct tbuf *text);

#endif
