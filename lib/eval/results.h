/* Tables of results over seeds: rows "seed TAB system TAB direction TAB metric TAB value" become
 * one line per system and one column per direction and metric. With several seeds a cell is the
 * mean and half of its 95% interval (Student's t); pairs of systems get a line with the difference,
 * its interval, and the p of the paired t-test over seeds. */
#ifndef EVAL_RESULTS_H
#define EVAL_RESULTS_H
#include <stdbool.h>
#include <stdio.h>

struct results;

/* Reads the rows; lines that begin with "#" are comments, but "#compare TAB system TAB base" asks
 * for a comparison. Seed "-": a value without seeds. A row with fewer than five columns, a value
 * that is not a number, and a cell given twice are errors. NULL with a message. */
struct results *results_read(const char *path);
void results_free(struct results *r);

/* Compares `system` with `base` (seeds that both have). -1 with a message: no such system. */
int results_compare(struct results *r, const char *system, const char *base);
/* Compares what the file's "#compare" lines ask for, as far as both systems have results, and every
 * system whose name ends in "-GC" or "-gc" with the one without it. */
void results_compare_usual(struct results *r);

/* Aligned text of at most 100 columns, further columns below with the systems' names again, and a
 * last line on the number of seeds and which systems have fewer; a mean that is not finite stands
 * without an interval. Or, tsv, the same cells with tabs, every system one line, and
 * no last line. */
void results_print(const struct results *r, bool tsv, FILE *to);

#endif
