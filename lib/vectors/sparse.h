/* Sparse matrices by row (CSR), float32, and the positive pointwise mutual information of counts.
 */
#ifndef VECTORS_SPARSE_H
#define VECTORS_SPARSE_H
#include <stddef.h>
#include <stdint.h>

struct sparse {
    uint32_t rows, cols;
    size_t *at;              /* [rows + 1] the entries of row i are at[i] .. at[i + 1] - 1 */
    uint32_t *col;           /* ascending in a row */
    float *v;
};

struct sparse_entry { uint32_t row, col; float v; };

/* From entries in any order (sorted here; equal places are added from the smallest up). */
struct sparse *sparse_make(uint32_t rows, uint32_t cols, struct sparse_entry *e, size_t n);
struct sparse *sparse_transpose(const struct sparse *m);
void sparse_free(struct sparse *m);      /* NULL is fine */


/* A B, [A.rows, B.cols]. */
struct sparse *sparse_product(const struct sparse *a, const struct sparse *b);
/* A B^T, some rows at a time: b is made for a once; columns that are dense on both sides go through
 * BLAS. S [n, m] += weight times rows first .. first + n - 1 and the first m columns of it. */
struct sparse_right;
struct sparse_right *sparse_right_new(const struct sparse *a, const struct sparse *b);
void sparse_right_free(struct sparse_right *r);      /* NULL is fine */
void sparse_add_products(const struct sparse *a, const struct sparse_right *b, float weight,
                         uint32_t first, uint32_t n, uint32_t m, float *S);
/* Rows to length 1; empty ones stay empty. */
void sparse_unit_rows(struct sparse *m);
struct sparse *sparse_copy(const struct sparse *m);

/* Counts to PPMI, in place: max(0, log(p(row, col) / (p(row) p(col)^power)) - log(shift)),
 * p(col)^power renormalised (Levy, Goldberg and Dagan 2015: power 0.75 smooths contexts, shift k is
 * SGNS's negatives). Zeros are dropped. */
void sparse_ppmi(struct sparse *m, double power, double shift);

/* The d largest singular values and their left vectors: U [rows, d] row-major, s [d], falling.
 * Randomised subspace iteration (Halko, Martinsson and Tropp 2011, 4.4) with 2 d + 10 probes,
 * `power` passes more; the signs are chosen so that each column's entry of largest magnitude is
 * positive. d <= rows and cols. -1 with a message. */
int sparse_svd(const struct sparse *m, int d, int power, uint64_t seed, float *U, float *s);

#endif
