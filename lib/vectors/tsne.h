/* t-distributed stochastic neighbour embedding in the plane (van der Maaten and Hinton 2008):
 * exact, or with the Barnes-Hut approximation (van der Maaten 2014). Settings and schedule are
 * scikit-learn's, so that the two can be compared.
 *
 *   p_{j|i} = exp(-beta_i |x_i - x_j|^2) / sum,  beta_i such that the entropy is log(perplexity);
 * p_ij = (p_{j|i} + p_{i|j}) / 2n q_ij = w_ij / Z,  w_ij = 1 / (1 + |y_i - y_j|^2);   KL = sum p_ij
 * log(p_ij / q_ij)
 *
 * The same input gives the same bytes on any number of threads. */
#ifndef VECTORS_TSNE_H
#define VECTORS_TSNE_H
#include <stdbool.h>
#include <stdint.h>

enum { TSNE_EXACT_MOST = 5000 };  /* above this many points: Barnes-Hut, unless chosen otherwise */

struct tsne_options {
    double perplexity;            /* 30 */
    /* a cell's width over its distance below which it acts as one point; 0: exact */
    double theta;
    int iterations;               /* 1000 */
    int early;                    /* the first of them, with p exaggerated and less momentum: 250 */
    double exaggeration;          /* 12 */
    double rate;                  /* learning rate; 0: max(n / exaggeration / 4, 50) */
    /* start from a normal distribution instead of the first two columns of X */
    bool random;
    uint64_t seed;                /* for that */
    void (*progress)(void *ctx, int iteration);
    void *ctx;
};
extern const struct tsne_options tsne_defaults;

/* Y [n, 2] of X [n, d], with d small (after PCA): exact needs 4 n^2 bytes, Barnes-Hut about 24 n (3
 * perplexity). *kl: the divergence reached (Barnes-Hut: over its sparse p and approximate Z). -1
 * with a message: fewer points than the perplexity wants. */
int tsne(const float *X, uint32_t n, int d, const struct tsne_options *o, double *Y, double *kl);

/* The divergence, exactly, of a plane at hand. */
int tsne_divergence(const float *X, uint32_t n, int d, double perplexity, const double *Y,
                    double *kl);

#endif
