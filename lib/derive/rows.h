/* One sentence of a file with one word per line and columns between tabs: CoNLL (word, tags) and
 * CoNLL-U (ten columns). When the words move, whole rows move with them; what a column says of
 * places is written anew. */
#ifndef DERIVE_ROWS_H
#define DERIVE_ROWS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/derive/words.h"
#include "lib/text/tbuf.h"

enum { ROW_CELLS = 16 };
enum conllu_column { CONLLU_ID, CONLLU_FORM, CONLLU_LEMMA, CONLLU_UPOS, CONLLU_XPOS,
                     CONLLU_FEATS, CONLLU_HEAD, CONLLU_DEPREL, CONLLU_DEPS, CONLLU_MISC,
                     CONLLU_COLUMNS };

struct row { uint64_t line; int cells; struct word cell[ROW_CELLS]; };
struct tagged_rows {
    struct row *v;
    size_t n, cap;
    struct wordlist comments;      /* CoNLL-U: its lines that begin with "#" */
    /* the column that holds the words: 0; 1 where column 0 numbers them from 0 */
    int word;
    bool conllu;
};

/* The rows of one sentence: n bytes of lines, none of them empty; *line is the first one's
 * number. CoNLL: rows of equally many columns, at least two (three and the first 0, 1, 2, ...:
 * WikiNEuRal's). CoNLL-U: ten; lines of multi-word tokens (1-2) and empty nodes (8.1) are left
 * out, IDs must run 1, 2, .... Cells point into s. 0, or -1 with a message and *line at the bad
 * line. */
int tagged_rows_read(struct tagged_rows *r, bool conllu, const char *s, size_t n, uint64_t *line);
void tagged_rows_free(struct tagged_rows *r);
/* CoNLL-U: a row's HEAD, 0 for the root. -1 with a message. */
long tagged_rows_head(const struct tagged_rows *r, const struct row *row);

/* Appends rows in a new order (order[i]: which comes i-th), what `word` makes of each word, and
 * an empty line. CoNLL: the last column, if it has B- and I- tags, is read as spans first; each
 * run of words of one span in the new order gets B- and then I-. CoNLL-U: ID and HEAD are those
 * of the new places, "# text" is the new text, DEPS is left out and SpaceAfter=No is taken from
 * MISC. 0, or -1 with a message and *line at the bad line. */
typedef int tagged_rows_word(const void *ctx, const char *s, size_t n, struct tbuf *out);
int tagged_rows_write(const struct tagged_rows *r, const uint32_t *order, tagged_rows_word *word,
                      const void *ctx, struct tbuf *out, uint64_t *line);

#endif
