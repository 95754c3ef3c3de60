/* Rows of results.tsv (docs/formats/results.md) out of a program that measures: the options --row,
 * --as and --rows-to, and what they make of its measures.
 *
 *   static struct result_options row_o;                 a group: result_options_rows, &row_o
 *   static const struct result_measure measures[] = {
 *       { "rsim", "RSIM" }, { "align-back", "aligned", .back = true }, { "rsim-ci" }, { 0 } };
 *   struct result_rows *rows;
 *   result_rows_open(&rows, &row_o, measures) < 0       wrong usage
 *   result_rows_add(rows, "rsim", layer, "%.6f", r.rsim);
 *   if (!result_rows_instead(rows)) printf(...);        what is printed without --row
 *   result_rows_write(rows, stdout) < 0; result_rows_free(rows);
 *
 * Without --row all of these do nothing. */
#ifndef COMMON_PROG_RESULT_ROWS_H
#define COMMON_PROG_RESULT_ROWS_H
#include <stdbool.h>
#include <stdio.h>
#include "common/prog/opt.h"

struct result_options { const char *row; struct strs as; const char *to; };
extern const struct opt result_options_rows[];

/* A number that a program measures: its name, and what the column of metrics says, NULL: the name,
 * and a row only if --as asks for it. back: of the opposite direction, de-en where --row says
 * en-de. */
struct result_measure { const char *name, *title; bool back; };

struct result_rows;

/* m ends with zeros, and stays; NULL: any name is a measure, under that name. *r is NULL without
 * --row. -1 with a message that begins with the option: not SEED,SYSTEM,DIRECTION, no such measure,
 * --as or --rows-to without --row, a file that cannot be written. */
int result_rows_open(struct result_rows **r, const struct result_options *o,
                     const struct result_measure *m);
/* Are rows written in place of what the program prints otherwise? */
bool result_rows_instead(const struct result_rows *r);
/* A value, as it is to be written; NaN makes no row. layer: -1, or " layer N" stands after the
 * metric. */
void result_rows_add(struct result_rows *r, const char *measure, int layer, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Half of the interval of the value added last: a sixth column. */
void result_rows_half(struct result_rows *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* A value whose direction is not --row's. */
void result_rows_direction(struct result_rows *r, const char *direction);
/* Writes the rows in the order of --as, or else of m, each measure's as they were added (without m:
 * all as they were added), to --rows-to or `to`; warns where there is no row to write. -1 with a
 * message: a measure that --as names was not added, the file was not written. */
int result_rows_write(struct result_rows *r, FILE *to);
void result_rows_free(struct result_rows *r);

#endif
