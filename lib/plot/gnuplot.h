/* Pictures by gnuplot(1): shared by all kinds of figures. The colours are those of Okabe and Ito
 * (2008), which are distinguishable under every common form of colour blindness. */
#ifndef PLOT_GNUPLOT_H
#define PLOT_GNUPLOT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { GNUPLOT_COLOURS = 7 };
const char *gnuplot_colour(int i);                  /* "#rrggbb"; i < 0: grey */
/* s as a string of gnuplot's language, for a reader: control characters and the like as \xNN
 * (common/shown.h). */
void gnuplot_quoted(FILE *to, const char *s);
/* The output: an SVG of width x height pixels, or a PNG of twice as many. */
void gnuplot_terminal(FILE *to, bool png, int width, int height);

typedef void (*gnuplot_script)(FILE *to, const void *what, bool png);
/* Runs what script writes; the picture's bytes are malloc'd. -1 with a message: no gnuplot,
 * gnuplot's own error. */
int gnuplot_draw(gnuplot_script script, const void *what, bool png, char **bytes, size_t *n);
/* The picture's title at its upper left, in a picture of width x height pixels; NULL: none. */
void gnuplot_title(FILE *to, const char *title, int width, int height);

#endif
