/* Which rows SCS reads as mixtures, and the batch of its pass: that of its host, MLM or MASS, once
 * more, with those rows' tokens taken out (data thread). */
#ifndef OBJECTIVE_SCS_ROWS_H
#define OBJECTIVE_SCS_ROWS_H
#include "lib/data/pick.h"
#include "lib/data/specific.h"
#include "lib/engine/objective.h"
#include "lib/objective/scs_search.h"

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
    int32_t *row, *under, *own, *lang;
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
