/* What SCS-MLM reads in place of a word (Lu, Lu and Zhang 2023, Eqs. 4 to 7): from the words that
 * the model expects there, the words of another language that are nearest to their mean. All of it
 * on the device, and without gradient: the weights are constants.
 *
 *   x^_r  = sum_i p_i e_i                                  p: the k likeliest words of row r
 *   S_rj  = cos(x^_r, e_j)                                 j in the other language's words
 *   c_j   = mean of the K largest S_rj over the rows r of one pair of languages
 *   q     = softmax over the k best j of (2 S_rj - c_j) / T                       (CSLS)
 *   y^_r  = sum_j q_j e_j
 *
 * CSLS's other mean, of x^_r's own neighbours, is the same for all j: it changes neither the choice
 * nor q. */
#ifndef OBJECTIVE_SCS_SEARCH_H
#define OBJECTIVE_SCS_SEARCH_H
#include "lib/model/model.h"

enum { SCS_MOST = 64 };          /* k, and neighbours, at most (topk, column_means) */

struct scs_how {
    int k;                       /* words that are mixed */
    int neighbours;              /* K of CSLS */
    float temperature;
    bool keep;                   /* y^ as long as the words that it mixes are on the mean */
};

/* Rows first .. first + n of one language that go to one other language, whose words are
 * word[at] .. word[at + words]. */
struct scs_group { int first, n, at, words; };

/* idx [n, k], w [n, k]: y^; entropy [n] of q in nats, ratio [n]: |y^| before `keep` beside the mean
 * length of what it mixes. The tape's memory, until its reset. */
struct scs_mixture { int32_t *idx; float *w, *entropy, *ratio; };

/* The k likeliest words of rows of states h: row [n] (device, distinct; NULL: all n); allowed
 * [vocab] (device): words that count. idx, p [n, k], best first, are written. Leaves nothing on the
 * tape. */
void scs_expected(struct model *m, struct tape *t, struct var *h, const int32_t *row, int n, int k,
                  const uint8_t *allowed, int32_t *idx, float *p);

/* The same from the embeddings alone: of the words of a home (word[at] .. at + words, as in a
 * group) the k nearest by cosine to token[r] (device, [n]) for its rows, p = softmax(cosine / T)
 * over them. word, near: as scs_search's. */
void scs_expected_by_table(const struct model *m, struct tape *t, const int32_t *token, int n,
                           int k, float T, const struct scs_group *home, int homes,
                           const int32_t *word, float *near, int32_t *idx, float *p);

/* y^ of n rows from idx, p (device). word: device. near: memory of t->k->alloc for
 * scs_near_floats(m, most words of a group) floats. */
struct scs_mixture scs_search(const struct scs_how *how, const struct model *m, struct tape *t,
                              int n, const int32_t *idx, const float *p,
                              const struct scs_group *group, int groups, const int32_t *word,
                              float *near);
size_t scs_near_floats(int embed_dim, int words);

#endif
