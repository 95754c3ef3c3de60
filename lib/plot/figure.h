/* Figures: panels of curves over a common x, drawn by gnuplot (lib/plot/gnuplot.h) as SVG or PNG.
 */
#ifndef PLOT_FIGURE_H
#define PLOT_FIGURE_H
#include <stdbool.h>
#include <stddef.h>

/* Numbers that are drawn are at most this far from zero: ranges of them, their squares, and sums of
 * those over runs stay finite. */
#define FIGURE_LARGEST 1e150
/* On a logarithmic axis they are at least this: quotients of them stay finite, too. */
#define FIGURE_SMALLEST 1e-150

struct curve {
    char *label;                     /* in the legend; "" leaves it out */
    bool unlisted;                   /* not in the legend: an earlier curve stands there for it */
    double *x, *y; size_t n;         /* x ascending, at least one */
    /* [n] drawn faintly underneath (what y was smoothed from), or NULL */
    double *faint;
    /* [n] half of the interval around y, NaN where there is none: bars at marked points, else a
     * band; or NULL */
    double *half;
    /* number of its colour, from 0; -1: grey and dashed, a reference */
    int colour;
    bool points;                     /* mark the points */
    bool dashed;
    /* of its line, from 0, solid: distinguishes curves of one colour */
    int style;
};

struct panel {
    char *label;                     /* what y is */
    struct curve *curve; int n;      /* at least one */
    bool log_y;
    bool ranged; double low, high;   /* y range; else what the curves need */
};

struct figure {
    const char *title;               /* or NULL */
    const char *x_label;
    bool log_x;
    struct panel *panel; int n;
    int width, height;               /* pixels of the whole; 0: by the number of panels */
};

/* The figure as the bytes of an SVG, or of a PNG of twice the pixels, malloc'd. -1 with a message:
 * no gnuplot, nothing that a logarithmic axis can show, gnuplot's own error. */
int figure_draw(const struct figure *f, bool png, char **bytes, size_t *n);

void figure_free(struct figure *f);  /* panels, curves and their arrays; not title and x_label */

#endif
