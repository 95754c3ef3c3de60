/* What cooc-query lists and exports: pairs as X, over one language or several. */
#ifndef COOC_EXPORT_H
#define COOC_EXPORT_H
#include "lib/cooc/cooc.h"

typedef long double cooc_x;    /* X, or a count, which a double would round above 2^53 */

/* The counts to show: X = sum over the chosen planes of scale * count / unit. */
struct cooc_view {
    const struct cooc *c;
    const struct vocab *v;
    int first, last;           /* planes [first, last) */
    double *scale;             /* [planes] c_lang, or 1; freed by cooc_view_free */
    bool counts;               /* X is the integer count (scale 1, not divided by the unit) */
    double min;                /* pairs below this X are left out */
};
/* lang NULL: all planes, with c_lang of the file's reference unless raw. -1 with a message: no such
 * language. */
int cooc_view_init(struct cooc_view *w, const struct cooc *c, const struct vocab *v,
                   const char *lang, bool raw, bool counts, double min);
void cooc_view_free(struct cooc_view *w);

/* 0 if absent or below min */
int cooc_view_get(const struct cooc_view *w, uint32_t row, uint32_t col, cooc_x *x);

/* Every stored pair in order, a symmetric one once, row <= col. each: 0, or -1 with a message. */
int cooc_view_each(const struct cooc_view *w, int (*each)(void *, uint32_t, uint32_t, cooc_x),
                   void *ctx);

struct cooc_cell { uint32_t id; cooc_x x; };
/* A row, words on both sides of the triangle, ascending ids. malloc'd. */
int cooc_view_row(const struct cooc_view *w, uint32_t id, struct cooc_cell **cell, size_t *n);

/* X with up to six decimals, a whole number with all its digits; the number of bytes (at most
 * 40). */
size_t cooc_print(char *to, cooc_x x);

enum cooc_format {
    COOC_TSV, /* row, column, X: a symmetric pair once */
    /* int32 row, int32 column (from 1, lines of the vocabulary), double X, in this machine's order,
     * as GloVe; both directions */
    COOC_GLOVE_RECORDS,
    COOC_MTX, /* MatrixMarket, coordinates from 1; a symmetric matrix as its lower triangle */
    COOC_PPMI, /* as TSV: max(0, log(X N / (X_i X_j))), positive ones */
    /* as TSV: Dunning's G^2 of the 2 x 2 table, negative where the pair is rarer than chance */
    COOC_LLR,
};
int cooc_export(const struct cooc_view *w, enum cooc_format f, struct out *out);
/* SciPy's sparse.save_npz of a csr_matrix, words by words, both directions of a symmetric pair: X
 * as float64, or counts as int64. path NULL or "-": standard output; else the words, one a line,
 * are in PATH.words. */
int cooc_write_npz(const struct cooc_view *w, const char *path);
/* Totals and a histogram of row lengths. */
int cooc_stat(const struct cooc_view *w, struct out *out);

#endif
