/* Text into the sub-words of a model's own tokeniser and back: WordPiece or SentencePiece,
 * whichever a path holds. */
#ifndef PIECES_PIECES_H
#define PIECES_PIECES_H
#include <stdbool.h>
#include "lib/text/tbuf.h"

struct pieces;

/* path: a model folder with pieces.json, a SentencePiece model (*.model), or a vocabulary of
 * WordPiece (vocab.txt), for which `uncased` says whether case and accents are removed. NULL with a
 * message. */
struct pieces *pieces_open(const char *path, bool uncased);
void pieces_free(struct pieces *p);

/* Memory of one thread. */
void *pieces_work_new(struct pieces *p);
void pieces_work_free(void *work);
/* Appends what becomes of a line (valid UTF-8): pieces with one space between them. 0, or -1 with a
 * message. */
int pieces_line(const struct pieces *p, void *work, const char *line, size_t n, struct tbuf *out);
/* Appends the text of a line of pieces. */
void pieces_join(const struct pieces *p, const char *line, size_t n, struct tbuf *out);

#endif
