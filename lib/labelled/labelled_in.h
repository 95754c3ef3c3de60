/* Shared by the readers of labelled text. */
#ifndef LABELLED_LABELLED_IN_H
#define LABELLED_LABELLED_IN_H
#include <math.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "lib/labelled/labelled.h"

/* A whole file: its bytes, and its lines without "\n" and "\r", NUL-terminated in place. */
struct content {
    const char *name;
    char *bytes;
    size_t n;                    /* bytes */
    char **line;                 /* [lines]; NULL until content_lines cuts them */
    size_t lines;
    uint64_t before;             /* lines of the file before line[0] */
};
/* UTF-8 is checked; a byte order mark goes. */
int content_read(struct content *c, const char *path);
struct text;
/* Adds the line that text_line gave, with a "\n"; *cap is the room of c->bytes. */
int content_add(struct content *c, size_t *cap, const struct text *t, const char *line, size_t n);
void content_lines(struct content *c);
/* The first byte that is not of a blank line: where a header is, and a format is recognised. */
char *content_begin(const struct content *c);

struct labelled_memory { void **v; size_t n, cap; };
/* Keeps a malloc'd block with the set. */
void *labelled_keep(struct labelled_set *s, void *p);
/* A new example at the end, all strings "". Valid until the next one. */
struct labelled *labelled_add(struct labelled_set *s, uint64_t line);
/* The index of a label, which is added if it is new. */
int labels_index(struct labels *l, const char *label);

/* Counts a line that cannot be used, or is the error with strict: 0 or -1. */
int labelled_refuse(struct labelled_set *s, const struct labelled_options *o, uint64_t line,
                    const char *what, const char *which);

/* Cuts line at tabs, in place, into at most `most` fields; returns how many there are in all. csv:
 * fields in double quotes lose them, doubled ones inside become one. */
int labelled_fields_cut(char *line, char **field, int most, bool csv);
enum { FIELDS_MOST = 64 };

/* --- formats: a row of the table in labelled.c each ------------------------------------------ */

struct labelled_sample {
    int columns;
    char *field[FIELDS_MOST];
    bool blanks;
    const char *first;
    char *copy;
    const struct labelled_options *o;
};
struct reader {
    const char *name;
    enum labelled_kind kind;
    /* Is the content of this format? x: its first line that is not blank, cut at tabs. */
    bool (*is)(const struct content *c, const struct labelled_sample *x);
    int (*read)(struct labelled_set *s, struct content *c, const struct labelled_options *o);
    /* how it may be read piece by piece (labelled_stream.h) */
    enum { PIECES_WHOLE, PIECES_OF_LINES, PIECES_BELOW_HEADER, PIECES_OF_SENTENCES } pieces;
};
/* By its name, or by what the content is. NULL with a message. */
const struct reader *reader_find(const struct content *c, const struct labelled_options *o);
extern const struct reader reader_squad, reader_sick, reader_xnli, reader_xnli_mt, reader_pawsx,
    reader_columns, reader_xtreme_pairs, reader_conllu, reader_wikineural, reader_panx,
    reader_xtreme_tags, reader_conll, reader_germeval, reader_germeval_inner, reader_lines;

#endif
