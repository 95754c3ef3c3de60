/* Bars in groups, one panel per measure: objectives side by side for each transformation of a
 * language (ALIGN-MLM, Figures 1 and 2). */
#ifndef PLOT_BARS_H
#define PLOT_BARS_H
#include <stdbool.h>
#include <stddef.h>

struct bar_value { int panel, group, bar; double value, half; };      /* half: NaN where unknown */
struct bar_names { char **v; int n; size_t cap; };
struct bars {
    struct bar_names panel, group, bar;      /* in the order in which the table has them */
    struct bar_value *value; size_t n, cap;
};

/* A table with tabs whose first line names its columns: "group", "bar" and "value", perhaps "panel"
 * and "ci" (half of the interval around the value; empty: none); further ones are not read. -1 with
 * a message that names the line: unreadable, a column that is missing, a row of more or fewer
 * cells, a value that is no number, two values in one place, no row. */
int bars_read(struct bars *b, const char *path);
void bars_free(struct bars *b);              /* zeros are fine */

/* The picture as bytes of an SVG, or of a PNG of twice the pixels, malloc'd; title NULL: none;
 * width, height 0: by the number of panels and bars. -1 with a message of gnuplot's. */
int bars_draw(const struct bars *b, const char *title, int width, int height, bool png,
              char **bytes, size_t *n);

#endif
