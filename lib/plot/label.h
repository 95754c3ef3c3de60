/* Names for files that are shown together. */
#ifndef PLOT_LABEL_H
#define PLOT_LABEL_H

/* The part of paths[i] that differs among paths [n], without what such files' names end in;
 * malloc'd. */
char *path_label(char *const *paths, int n, int i);

#endif
