/* Text into the sub-words of a model's own tokeniser and back: WordPiece, SentencePiece or a
 * tokenizer.json (byte-level BPE, unigram and so on), whichever a path holds. */
#ifndef SUBWORD_H
#define SUBWORD_H
#include <stdbool.h>
#include "lib/text/tbuf.h"

struct subword_model;

/* path: a model folder with pieces.json, a SentencePiece model (*.model), a tokenizer.json
 * (*.json), or a vocabulary of WordPiece (vocab.txt), for which `uncased` says whether case and
 * accents are removed. NULL with a message. */
struct subword_model *subword_open(const char *path, bool uncased);
void subword_free(struct subword_model *p);

/* Memory of one thread. */
void *subword_work_new(struct subword_model *p);
void subword_work_free(void *work);
/* Appends the pieces of a line (valid UTF-8), separated by single spaces. 0, or -1 with a
 * message. */
int subword_line(const struct subword_model *p, void *work, const char *line, size_t n,
                 struct tbuf *out);
/* Appends the text of a line of pieces. */
void subword_join(const struct subword_model *p, const char *line, size_t n, struct tbuf *out);

#endif
