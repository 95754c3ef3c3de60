/* The kinds of pictures that plot(1) draws: one file of this folder and a row of plot_kinds each.
 */
#ifndef PLOT_KINDS_H
#define PLOT_KINDS_H
#include <stdbool.h>
#include <stdio.h>
#include "common/prog/opt.h"
#include "lib/plot/figure.h"
#include "lib/vectors/tsne.h"
#include "lib/vectors/vectors.h"

/* What was asked for on the command line. */
struct plot_options {
    struct strs y, labels;
    const char *x, *title, *output, *tsv, *range;
    int width, height;
    bool log_y, png;
    double low, high;                          /* of range, where it is given */
    struct { const char *against; int smooth; } curves;
    struct plane_options {
        struct strs name;
        const char *dict, *normalize;
        int max_vocab, pairs, names, components, method, init;
        int64_t seed;
        struct tsne_options t;
        struct vectors_options reading;
    } plane;
};
extern const struct plot_options plot_defaults;
/* Of struct plot_options: options of all kinds, of the output, of single kinds. */
extern const struct opt plot_rows[], plot_output_rows[], plot_curve_rows[], plot_plane_rows[];

struct plot_kind {
    const char *name, *no_files;               /* what to say where there are no files */
    const struct opt *rows;                    /* options of its own, or NULL */
    /* Do the options fit it and `files` files? -1 with a message: wrong usage. NULL: any do. */
    int (*check)(const struct plot_options *o, int files);
    /* What the files [n] hold, to be drawn; NULL with a message. */
    void *(*read)(const struct plot_kind *k, const struct plot_options *o, char *const *path,
                  int n);
    /* The numbers of the picture, for --tsv; NULL where there is no such option. */
    void (*numbers)(FILE *to, const void *data);
    /* The picture as bytes of an SVG or a PNG, malloc'd; -1 with a message. */
    int (*draw)(const void *data, const struct plot_options *o, bool png, char **bytes, size_t *n);
    void (*free)(void *data);
};
extern const struct plot_kind *const plot_kinds[];             /* ends with NULL */
const struct plot_kind *plot_kind(const char *name);           /* NULL: there is none */

/* Checks what all kinds have in common, then asks the kind; puts low and high into o. -1 with a
 * message: wrong usage. */
int plot_check(const struct plot_kind *k, struct plot_options *o, int files);
/* Reads, draws and writes what o names. -1 with a message. */
int plot_write(const struct plot_kind *k, const struct plot_options *o, char *const *path, int n);

/* --- for the kinds ---------------------------------------------------------------------------- */

extern const struct plot_kind plot_curves, plot_rsim, plot_hits, plot_bins, plot_ranks, plot_plane,
    plot_bars;

/* What --label says of paths[i]; else the part of it that differs among paths [n], without what
 * such files' names end in. malloc'd. */
char *plot_label(const struct plot_options *o, char *const *paths, int n, int i);

/* Kinds whose data are curves: */
struct plot_figure { struct figure f; const char *x; };        /* x: the name of what x is */
struct panel *plot_panel(struct figure *f, const struct plot_options *o, const char *label);
void plot_figure_numbers(FILE *to, const void *data);
int plot_figure_draw(const void *data, const struct plot_options *o, bool png, char **bytes,
                     size_t *n);
void plot_figure_free(void *data);

#endif
