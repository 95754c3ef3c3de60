/* Words of one or more sets of vectors in the plane: principal components, then t-SNE (MLM-GC,
 * Figure 2), drawn as points coloured by language, with lines between translations. */
#ifndef PLOT_PLANE_H
#define PLOT_PLANE_H
#include "lib/bilingual/map.h"
#include "lib/vectors/tsne.h"
#include "lib/vectors/vectors.h"

struct plane {
    int sets;
    char **label;                /* [sets] */
    uint32_t n;
    uint32_t *set, *row;         /* [n] whose word each point is */
    float *pc; int components;   /* [n, components] */
    double share;                /* of the variance, in them */
    double *xy;                  /* [n, 2] */
    double divergence;
    struct word_pairs link;           /* between points */
};

/* Points of sets [n] (all of one dimension), named by label [n]. pairs (or NULL) are between rows
 * of the first and the second set: then only their words are shown. components 0: t-SNE of the
 * vectors as they are. -1 with a message. */
int plane_make(struct plane *p, struct vectors *const *set, char *const *label, int n,
               const struct word_pairs *pairs, int components, const struct tsne_options *o);
void plane_free(struct plane *p);

/* Which points are labelled: those asked for, with the points they are linked to, and the first N
 * pairs (or points, without links). */
struct plane_names { int first; const char *const *word; int words; };

/* title may be NULL; width in pixels, 0: 640. *without: the number of labels that did not fit
 * near their points. -1 with a message as figure_draw, and for a word that is not in the picture.
 */
int plane_draw(const struct plane *p, struct vectors *const *set, const char *title,
               const struct plane_names *names, int width, int height, bool png, char **bytes,
               size_t *size, int *without);

#endif
