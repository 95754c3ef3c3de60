/* Plain text to a model's tokens and back, by what the model's folder keeps: `tokenizer` (the steps
 * of tokenize) and `codes` (BPE merges), what `tokenize | bpe-apply` and `bpe-apply --restore |
 * detokenize` do; or, of an imported model, its own tokeniser (lib/subword). */
#ifndef RAW_H
#define RAW_H
#include <stdbool.h>
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
struct raw_work;                                 /* memory of one thread */
/* For text in language lang (NULL: unknown; English rules) by a model's folder, or by a file
 * that subword_open takes, with `uncased` as there. NULL with a message: the folder does not say
 * how its text was made, or is damaged. With the setting no-tokenize codes may be missing: text is
 * the model's tokens, which a space separates (a derived language is cut before it is
 * transliterated). */
struct raw_text *raw_open(const char *path, const char *lang, bool uncased);
void raw_close(struct raw_text *p);                                           /* NULL is fine */
struct raw_work *raw_work_new(const struct raw_text *p);
void raw_work_free(struct raw_work *w);                                       /* NULL is fine */

/* One line (valid UTF-8 without its "\n") to the model's tokens with a space between, appended; 0,
 * or -1 with a message. */
int raw_encode(const struct raw_text *p, struct raw_work *w, const char *line, size_t n,
               struct tbuf *tokens);
/* Tokens back to text, appended, without "\n". */
void raw_decode(const struct raw_text *p, struct raw_work *w, const char *tokens, size_t n,
                struct tbuf *text);

/* --- words: what stands between spaces after tokenisation --- */

/* Of a folder: for the functions below alone, so that its settings are not needed, and without
 * codes a word is a token. NULL with a message. */
struct raw_text *raw_open_words(const char *dir);
/* One word to tokens, as raw_encode. */
int raw_encode_word(const struct raw_text *p, struct raw_work *w, const char *word, size_t n,
                    struct tbuf *tokens);
/* Does a word go on after the first of these two tokens? */
bool raw_goes_on(const struct raw_text *p, struct raw_work *w, const char *token, size_t n,
                 const char *next, size_t next_n);
/* The word that tokens spell, appended. */
void raw_decode_word(const struct raw_text *p, const char *tokens, size_t n, struct tbuf *word);

/* Files of text into tokens (join: back), line by line over the pool; as struct lines and lines_run
 * have the rest. 0, or -1 with a message. */
struct raw_run { const char *path, *lang; bool uncased, join, line_buffered, replace_invalid; };
int raw_run(const struct raw_run *r, char *const *files, int n, const char *out_path);

#endif
