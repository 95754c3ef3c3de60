/* A bilingual dictionary from two sets of word vectors: map, refine, list. What dict-induce does,
 * in order:
 *
 *   1. rows are normalised; seeds are read or found (identical strings);
 *   2. the map: none (one space already), Procrustes with rounds of mutual neighbours (MUSE), or
 * stochastic self-learning (VecMap), several times from different random numbers, of which the one
 * with the best objective is kept;
 *   3. with the words' contexts at hand (.cooc files): rounds of re-estimation (refine_round);
 * mutual best translations then give the map of the vectors;
 *   4. the k best translations of every word, both ways. */
#ifndef BILINGUAL_INDUCE_H
#define BILINGUAL_INDUCE_H
#include "lib/bilingual/map.h"
#include "lib/bilingual/scores.h"
#include "lib/bilingual/word_initial.h"
#include "lib/vectors/csls.h"
#include "lib/vectors/sparse.h"
#include "lib/vectors/vectors.h"

enum induce_map { INDUCE_NONE, INDUCE_PROCRUSTES, INDUCE_VECMAP };

struct induce_options {
    enum induce_map map;
    enum csls_method method;       /* how neighbours are ranked */
    int k, K;                      /* translations a word; neighbours in CSLS's means */
    const char *normalize;         /* vectors_normalize */
    int rounds;                    /* of Procrustes with mutual neighbours */
    uint32_t cutoff;               /* the most frequent words, among which pairs are looked for */
    struct map_options learn;      /* of self-learning; extra is set here */
    int restarts;
    double reweight;               /* VecMap's exponent of the singular values */
    double spelling, frequency;    /* weights next to the cosine (spelling.h) */
    /* re-estimation: counts over the rows of src and of tgt, or blocks = 0 */
    struct sparse **src, **tgt;
    int blocks, refinements, near;
    double heat, smooth;
    /* words of different kinds are never paired (map none, no extra scores), or NULL */
    const struct word_initial *kinds;
    void (*note)(const char *what);    /* called with what happens, or NULL */
};
extern const struct induce_options induce_defaults;

struct induced {
    struct csls_side src, tgt;     /* translations of each src row among tgt's, and back */
    /* of all pairs, where spelling, frequency or contexts were used; else NULL. As long as src and
     * tgt and, without contexts, their vectors are as they were */
    struct scores *scores;
    size_t seeds, pairs;
    double objective;              /* of the restart chosen (VecMap), else 0 */
    double agreement;              /* mean best cosine after the last re-estimation, else 0 */
};

/* src and tgt are normalised and mapped in place. seeds: pairs to start from (empty for map none).
 * -1 with a message. */
int induce(struct vectors *src, struct vectors *tgt, const struct word_pairs *seeds,
           const struct induce_options *o, struct induced *to);
void induced_free(struct induced *d);

/* A list of translations as pairs of rows, appended to *p: of every row of `there` its k best or,
 * if mutual, its best where that row's best is itself; those with a score of `least` or more. */
void induced_list(const struct csls_side *there, const struct csls_side *back, bool mutual,
                  double least, struct word_pairs *p);
/* The score that a listed pair has. */
float induced_score(const struct csls_side *there, uint32_t src, uint32_t tgt);

#endif
