/* Tables of numbers as the analysis programs print them: tab-separated, the first line names the
 * columns. */
#ifndef PLOT_TABLE_H
#define PLOT_TABLE_H
#include <stddef.h>
#include "lib/plot/figure.h"

/* v [rows, columns]; NaN: no number */
struct table { char *name; char **column; int columns; double *v; size_t rows, cap; };

/* -1 with a message that names the line: unreadable, not UTF-8, no line of names, a row of more or
 * fewer cells, two columns of one name, a cell that is no number (empty, "-" and "nan" are NaN) or
 * beyond 1e150, no row. */
int table_read(struct table *t, const char *path);
void table_free(struct table *t);
int table_find(const struct table *t, const char *column);      /* -1: there is none */
/* of all columns, for a message; malloc'd */
char *table_names(const struct table *t);

/* Adds to a panel the curves of column y over column x, one for each label [n]. Tables with the
 * same label are repeated runs: their curve is the mean over them, where all have a number, with
 * the half-width of its 95% interval (Student's t). The curve of a single table has the interval of
 * its column "y-ci", if there is one. Notes say which labels have no curve among those of others,
 * and what a mean has not: runs without the column, and x at which not all have a number. Returns
 * how many curves, or -1 with a message: no column x, x not ascending. */
int table_curves(const struct table *t, char *const *label, int n, const char *x, const char *y,
                 struct panel *p);

/* What cooc-study prints: bins, of which the last line, over all pairs, is dropped, get a column
 * "middle". -1: not such a table. */
int table_bins(struct table *t);
/* Keeps about `most` rows, evenly spaced by the logarithm of their number. -1 with a message that
 * names the line: no column x, x not ascending. */
int table_thin(struct table *t, const char *x, size_t most);

#endif
