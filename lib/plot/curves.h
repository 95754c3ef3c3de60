/* Training curves: fields of our logs (docs/formats/log.md) as curves. */
#ifndef PLOT_CURVES_H
#define PLOT_CURVES_H
#include <stdbool.h>
#include <stddef.h>
#include "lib/plot/figure.h"

/* One number of one line. */
struct log_point { int event, field; double x, y; size_t line; };

/* A log in memory: every number of every complete line; torn lines, nulls and
 * numbers beyond FIGURE_LARGEST are left out. */
struct log_data {
    char *label;                     /* of its curves; the caller sets it */
    char **event; int n_events;      /* names, in order of appearance */
    char **field; int n_fields;
    struct log_point *point; size_t n, cap;
};

/* path: a log, or a folder with log.jsonl. x: the field on the x axis, usually "step"; lines
 * without it are left out. -1 with a message: unreadable, or no line of a log in it. */
int log_data_read(struct log_data *d, const char *path, const char *x);
void log_data_free(struct log_data *d);

/* The fields to draw when none is named: "loss" if any log has it; else the losses of objectives
 * (lib/objective/table.h), and perplexity, mass_perplexity and bleu, or, where no log has one of
 * these, all that validations have; else all. A NULL-terminated array, malloc'd; its strings belong
 * to the logs. */
char **log_data_fields(const struct log_data *d, int n);

bool log_data_has(const struct log_data *d, const char *field);
/* All fields' names, for a message; malloc'd. */
char *log_data_names(const struct log_data *d, int n);

/* Adds the curves of a field, one per log and event, to a panel. Logs of one label are repeated
 * runs: one colour, a line style each, one line of the legend. Of lines with the same event and x
 * the last one counts. smooth: mean over so many points on either side (as many as there are), 0
 * for none; curves of 40 points or fewer are left as they are. reference: grey and dashed. Returns
 * how many. */
int log_data_curves(const struct log_data *d, int n, const char *field, int smooth, bool reference,
                    struct panel *p);

#endif
