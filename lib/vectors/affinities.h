/* What t-SNE keeps of points in many dimensions: how near each finds each other.
 *   p_{j|i} = exp(-beta_i |x_i - x_j|^2) / sum,  beta_i such that the entropy is log(perplexity);
 *   p_ij = (p_{j|i} + p_{i|j}) / 2n
 * The same on any number of threads. */
#ifndef SPACE_AFFINITIES_H
#define SPACE_AFFINITIES_H
#include <stddef.h>
#include <stdint.h>

enum { AFFINITIES_LANES = 8 };

/* Dense: n rows of `pad` floats (n, rounded up to AFFINITIES_LANES; zeros behind). Sparse: row i is
 * p[row[i]..row[i + 1]) with columns col. All p together are 1. */
struct affinities { uint32_t n, pad; float *dense; size_t *row; uint32_t *col; float *p; };

/* Of X [n, d]; the perplexity is below n - 1. Dense takes 4 n^2 bytes, sparse about 24 n (3
 * perplexity), since it has only each point's nearest 3 perplexity + 1 (scikit-learn's number). */
void affinities_dense(struct affinities *a, const float *X, uint32_t n, int d, double perplexity);
void affinities_sparse(struct affinities *a, const float *X, uint32_t n, int d, double perplexity);
void affinities_free(struct affinities *a);

#endif
