/* Maps between two spaces of word vectors. Pairs (src row, tgt row) say which words are
 * translations. */
#ifndef BILINGUAL_MAP_H
#define BILINGUAL_MAP_H
#include <stddef.h>
#include <stdint.h>

struct word_pairs { uint32_t *src, *tgt; size_t n, src_cap, tgt_cap; };
void word_pairs_add(struct word_pairs *p, uint32_t src, uint32_t tgt);
void word_pairs_free(struct word_pairs *p);

/* Orthogonal Procrustes (Schoenemann 1966; MUSE): the orthogonal W [d, d] that minimises sum |x W -
 * z|^2 over the pairs, W = U V^T of X^T Z = U S V^T, applied to all rows of X [n, d] in place. */
int map_procrustes(float *X, uint32_t n, const float *Z, int d, const struct word_pairs *p);

/* VecMap's last step (Artetxe, Labaka and Agirre 2018a, "Generalizing and improving..."): both
 * sides whitened over the pairs, rotated onto the singular vectors of their cross-covariance,
 * re-weighted by its singular values to `reweight` on both sides, de-whitened; rows to unit length.
 * X [n, d], Z [m, d] in place. */
int map_advanced(float *X, uint32_t n, float *Z, uint32_t m, int d, const struct word_pairs *p,
                 double reweight);

/* Stochastic self-learning (Artetxe, Labaka and Agirre 2018b, "A robust self-learning method...",
 * section 3): from weak seeds, in turns the orthogonal map of the current dictionary and the
 * dictionary of the current map, by CSLS in both directions over the most frequent `cutoff` rows.
 * Each similarity is kept with probability keep, which starts at keep0 and is multiplied by `grow`
 * whenever the objective (the mean best similarity) has not risen by `threshold` for `patience`
 * rounds; at 1 the rounds end. */
struct map_options {
    uint32_t cutoff;           /* 2000 */
    int K;                     /* 10 */
    double keep0, grow;        /* 0.1, 2 */
    double threshold;          /* 1e-6 */
    int patience, most;        /* 15 rounds, 500 rounds in all */
    uint64_t seed;
    /* added to the cosines (spelling, frequency), or NULL; [n, m], no more than `cutoff` of each */
    const float *extra;
    void (*progress)(void *ctx, int round, double keep, double objective);
    void *ctx;
};
extern const struct map_options map_defaults;

/* X [n, d] and Z [m, d] with rows of unit length (not changed). *p holds the seeds and gets the
 * last dictionary, 2 entries a word of the cutoff (each direction); *objective the best objective
 * seen at keep = 1. */
int map_self_learn(const float *X, uint32_t n, const float *Z, uint32_t m, int d,
                   const struct map_options *o, struct word_pairs *p, double *objective);

/* Iterated Procrustes (MUSE's refinement): `rounds` times the map, then mutual CSLS neighbours of
 * the first `cutoff` rows as the new pairs. X in place. */
int map_refine(float *X, uint32_t n, const float *Z, uint32_t m, int d, struct word_pairs *p,
               int rounds, uint32_t cutoff, int K);

/* MUSE's label-free criterion: the mean cosine of the first `cutoff` rows of X with their CSLS
 * neighbours (10,000 there). */
int map_mean_cosine(const float *X, uint32_t n, const float *Z, uint32_t m, int d, uint32_t cutoff,
                    int K, double *mean);

#endif
