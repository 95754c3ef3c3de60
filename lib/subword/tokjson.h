/* Models of the tokenizers library: tokenizer.json, and how it cuts text.
 *
 * Text goes through four stages, each a list in the file: added tokens are split off; normalizers
 * change the rest (Unicode forms, case, a precompiled character map); pre-tokenizers cut it into
 * words; the model (unigram, byte pair encoding, WordPiece or a list of words) cuts each word into
 * tokens. Components that are not read here are refused by name. */
#ifndef SUBWORD_TOKJSON_H
#define SUBWORD_TOKJSON_H
#include <stdint.h>
#include "lib/subword/settings.h"
#include "lib/text/tbuf.h"

struct tokjson;

/* NULL with a message: not readable, damaged, or with a component that is not supported. */
struct tokjson *tokjson_open(const char *path);
struct tokjson *tokjson_read(const char *json, size_t n, const char *name);
void tokjson_free(struct tokjson *t);

/* Ids are 0 .. size - 1; NULL: an id without a token. */
uint32_t tokjson_size(const struct tokjson *t);
const char *tokjson_token(const struct tokjson *t, uint32_t id);
/* How its tokens are marked: SUBWORD_SENTENCEPIECE ("\u2581" for a space), SUBWORD_WORDPIECE ("##"
 * inside a word), SUBWORD_BYTE_LEVEL (a character for each byte), SUBWORD_WORDS (not at all). */
enum subword_kind tokjson_kind(const struct tokjson *t);
/* Case and accents as BertNormalizer or Lowercase and StripAccents change them, and whether CJK
 * characters stand alone: into *s. */
void tokjson_settings(const struct tokjson *t, struct subword_settings *s);
/* What tokjson_line writes for an id from now on. */
void tokjson_spell(struct tokjson *t, uint32_t id, const char *as);

/* Memory of one thread. */
struct tokjson_work;
struct tokjson_work *tokjson_work_new(const struct tokjson *t);
void tokjson_work_free(struct tokjson_work *w);                       /* NULL is fine */

/* Appends the tokens of a line (valid UTF-8) with one space between them. Text that the model does
 * not know is its token for that, or of unigram models the text itself. A token that a line of
 * tokens cannot hold (it has a space) is written as "<id17>". 0, or -1 with a message. */
int tokjson_line(const struct tokjson *t, struct tokjson_work *w, const char *line, size_t n,
                   struct tbuf *out);
/* Appends the text of a line of tokens. */
void tokjson_join(const struct tokjson *t, const char *line, size_t n, struct tbuf *out);

/* The byte that character c stands for in byte-level tokens, -1: none. */
int tokjson_byte(uint32_t c);

#endif
