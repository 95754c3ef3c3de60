/* Nearest neighbours across two sets of unit vectors, and cross-domain similarity local scaling
 * (Conneau et al. 2018, Eq. 3):
 *
 *   CSLS(x, y) = 2 cos(x, y) - r_T(x) - r_S(y),   r_T(x) = mean cosine of x with its K nearest y,
 * r_S(y) likewise
 *
 * Exact, and the same bytes on every processor: nearest.h. The product is made twice (for the
 * means, then for the neighbours), each for both directions at once; memory beyond the vectors is k
 * scores and indices a row, as many for each target row and thread, and, where int8 products are
 * used, a quarter of the vectors'. Ties go to the lower index. */
#ifndef VECTORS_CSLS_H
#define VECTORS_CSLS_H
#include <stdint.h>
#include <stdlib.h>
#include "common/mem.h"

/* CSLS_RATIO: the margin of Artetxe and Schwenk (2019), cos(x, y) / ((r_T(x) + r_S(y)) / 2); their
 * margin by distance is CSLS / 2. */
enum csls_method { CSLS_NN, CSLS_CSLS, CSLS_RATIO };

/* What a search did: pairs that it bounded, how many of those from int8 products (the others:
 * float32), and how many it scored. */
struct csls_work { uint64_t pairs, int8, scored; };

struct csls_side {
    uint32_t n;
    int k;                    /* neighbours kept, at most the size of the other side */
    uint32_t *index;          /* [n, k] best first */
    float *score;             /* [n, k] */
};

/* Room for n rows of k, zeros. */
static inline void csls_side_init(struct csls_side *s, uint32_t n, int k)
{
    s->n = n;
    s->k = k;
    s->index = mem_zero((size_t)n * (size_t)k, sizeof *s->index);
    s->score = mem_zero((size_t)n * (size_t)k, sizeof *s->score);
}

static inline void csls_free(struct csls_side *s)
{
    free(s->index);
    free(s->score);
    *s = (struct csls_side){ 0 };
}

/* X [n, d] and Z [m, d] with rows of length 1 (or 0); k best of Z for each x into *x, and of X for
 * each z into *z (either may be NULL); K: neighbours that CSLS's means are taken over. -1 with a
 * message. Freed by csls_free. */
int csls_search(const float *X, uint32_t n, const float *Z, uint32_t m, int d, enum csls_method how,
                int k, int K, struct csls_side *x, struct csls_side *z, struct csls_work *work);
/* *mean [n], malloc'd: of each row of X, the mean cosine with its K nearest rows of Z. */
int csls_neighbour_means(const float *X, uint32_t n, const float *Z, uint32_t m, int d, int K,
                         float **mean);

/* The same over a score matrix S [n, m] at hand: in place, S = 2 S - r_T - r_S. */
void csls_matrix(float *S, uint32_t n, uint32_t m, int K);
/* The k best columns of each row (rows = true) or best rows of each column of S [n, m]. */
void csls_matrix_top(const float *S, uint32_t n, uint32_t m, int by_rows, int k,
                     struct csls_side *to);
/* The same of a matrix [n, m] that comes in blocks of rows: room for the k best of each row in *x
 * and of each column in *z (either may be NULL); then S [rows, m], its rows `first` and on, block
 * after block in their order; then *z is sorted. */
void csls_best_init(struct csls_side *x, struct csls_side *z, uint32_t n, uint32_t m, int k);
void csls_best_of(const float *S, uint32_t rows, uint32_t m, uint32_t first, struct csls_side *x,
                  struct csls_side *z);
void csls_best_sort(struct csls_side *z);
/* Mean of the K largest of each row into row [n] and of each column into col [m] (either may be
 * NULL). */
void csls_means(const float *S, uint32_t n, uint32_t m, int K, float *row, float *col);

struct prog_part;
/* ISOGLOT_CSLS (nearest.h), for programs that search */
extern const struct prog_part csls_part;

#endif
