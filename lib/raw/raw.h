/* Plain text to a model's tokens and back, by the settings kept in the model's folder: `tokenizer`
 * (the steps of tokenize) and `codes` (BPE merges). What `tokenize | bpe-apply` and `bpe-apply
 * --restore | detokenize` do, for programs with --raw. */
#ifndef RAW_H
#define RAW_H
#include <stddef.h>
#include "lib/text/tbuf.h"
#include "lib/text/tokenize.h"

/* The settings as a file: "name = value" lines with the names of tokenize's options, those that are
 * on; "LANG.name" is for one language only, and wins. Parse starts from o as it is. -1 with a
 * message: an unknown name or an invalid value. */
#define RAW_SETTINGS "tokenizer"
char *raw_settings(const struct tokenize_options *o);                      /* malloc'd */
int raw_settings_parse(struct tokenize_options *o, const char *text, const char *where);

/* Can --raw use these files, which are to be kept with a model? Paths, or NULL. -1 with a
 * message. */
int raw_check(const char *codes, const char *settings);

struct raw_text;
/* For text in language lang by the folder dir. NULL with a message: no settings or codes there, or
 * damaged ones. With the setting no-tokenize codes may be missing: text is the model's tokens,
 * which a space separates (a derived language is cut before it is transliterated). */
struct raw_text *raw_open(const char *dir, const char *lang);
void raw_close(struct raw_text *p);                                           /* NULL is fine */

/* One line (valid UTF-8 without its "\n") to BPE tokens with a space between, appended; 0, or -1
 * with a message. */
int raw_encode(struct raw_text *p, const char *line, size_t n, struct tbuf *tokens);
/* BPE tokens back to text, appended, without "\n". */
void raw_decode(struct raw_text *p, const char *tokens, size_t n, struct tbuf *text);

#endif
