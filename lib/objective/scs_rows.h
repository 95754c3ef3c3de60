/* Which rows SCS reads as mixtures, and the batch of its pass: that of its host, MLM or MASS, once
 * more, with those rows' tokens taken out (data thread). */
#ifndef OBJECTIVE_SCS_ROWS_H
#define OBJECTIVE_SCS_ROWS_H
#include "lib/data/specific.h"
#include "lib/engine/objective.h"
#include "lib/masking/pick.h"
#include "lib/model/model.h"

/* --- candidates ------------------------------------------------------------------------------- */

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

/* idx [n, k], w [n, k]: y^; entropy [n] of q in nats, ratio [n]: |y^| before `keep` over the mean
 * length of what it mixes. The tape's memory, until its reset. */
struct scs_mixture { int32_t *idx; float *w, *entropy, *ratio; };

/* The k likeliest words of rows of states h: row [n] (device, distinct; NULL: all n); allowed
 * [vocab] (device): words that count. idx, p [n, k], best first, are written. Leaves nothing on the
 * tape. */
void scs_expected(struct model *m, struct tape *t, struct var *h, const int32_t *row, int n, int k,
                  const uint8_t *allowed, int32_t *idx, float *p);

/* The same from the embeddings alone: of the words of a home (word[at] .. at + words, as in a
 * group) the k nearest by cosine to token[r] (device, [n]) for its rows, p = softmax(cosine / T)
 * over them. word, word_rows: as scs_search's. */
void scs_expected_by_table(const struct model *m, struct tape *t, const int32_t *token, int n,
                           int k, float T, const struct scs_group *home, int homes,
                           const int32_t *word, float *word_rows, int32_t *idx, float *p);

/* y^ of n rows from idx, p (device). word: device. word_rows: memory of t->k->alloc for
 * scs_word_rows_floats(m, most words of a group) floats. */
struct scs_mixture scs_search(const struct scs_how *how, const struct model *m, struct tape *t,
                              int n, const int32_t *idx, const float *p,
                              const struct scs_group *group, int groups, const int32_t *word,
                              float *word_rows);
size_t scs_word_rows_floats(int embed_dim, int words);

/* --- rows ------------------------------------------------------------------------------------- */

enum scs_sources { SCS_SPECIFIC, SCS_ANY };  /* words of one language only, or any */

struct scs_rows {
    const char *rate;                        /* "A:B", of a sentence's tokens (pick.h) */
    /* where words begin: only whole words are switched; NULL: any token */
    const struct word_starts *words;
    const struct specific *vocabulary;
    int langs;                               /* of the model */
    enum scs_sources sources;
    bool of_free;                            /* the rate is of the rows that are not predicted */
    bool set_lang;                           /* switched rows have the other language's embedding */
    bool own_words;                          /* the batch lists each language's own words, too */
};

struct scs_batch {
    /* what the pass reads and predicts, a batch of its host's kind; switched rows read -1 */
    const struct batch_kind *kind;
    void *copy;
    struct batch *input;                     /* of copy, what its encoder reads */
    struct switch_count count;
    /* [n] switched rows, by the pair of their languages: of `input`, of the other objective's
     * batch; the token that stood there; the language it goes to */
    int32_t *row, *host_row, *own, *lang;
    int n;
    struct scs_group *group; int groups;     /* rows of a pair, with the words they can become */
    struct scs_group *home; int homes;       /* rows of a language, with its words (own_words) */
    int32_t *word; int words;                /* of all groups, and homes */
    int32_t *original_lang;                  /* [rows of input] */
    int32_t *clean;                          /* [rows] the sentences as they are */
    bool *fixed;                             /* [rows] predicted */
    int *at;                                 /* [rows] room for one sentence's */
    size_t n_cap, row_cap, group_cap, home_cap, word_cap;
};

/* Can words of language l go anywhere? Sentences of others are left out of the pass. */
bool scs_switchable(const struct scs_rows *o, int l);
/* From a batch of that kind: no row that it predicts is switched. */
void scs_rows_choose(struct scs_batch *b, const struct batch_kind *kind, const void *from,
                     const struct scs_rows *o, const struct turn *at);
/* The most that this may make of `from`: all rows of one pair of languages, that has most_words
 * words; a language has most_own. */
void scs_rows_largest(struct scs_batch *b, const struct batch_kind *kind, const void *from,
                      const struct scs_rows *o, int most_words, int most_own);
void scs_rows_free(void *batch);

#endif
