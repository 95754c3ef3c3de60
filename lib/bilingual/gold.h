/* A gold dictionary, and how well lists of translations agree with it, as MUSE and xling-eval
 * judge them. */
#ifndef BILINGUAL_GOLD_H
#define BILINGUAL_GOLD_H
#include "lib/bilingual/map.h"
#include "lib/bilingual/scores.h"
#include "lib/bilingual/word_initial.h"
#include "lib/vectors/csls.h"
#include "lib/vectors/vectors.h"

/* How well lists of translations (best first) agree with a gold dictionary. Each source word of
 * the gold file counts once; it is right at k if any of its gold translations is among the first k
 * (MUSE). map: mean average precision with the first right translation alone, 1 / rank, over the
 * whole target vocabulary's ranking (xling-eval, where it is called MAP); for that, `rank` gives
 * for each asked source row the rank (from 1) of its best gold translation, 0: not ranked. */
struct dictionary_score {
    uint64_t words, asked;                 /* source words in the gold file; with a vector */
    uint64_t answerable;                   /* words with a vector and a translation with one */
    uint64_t multiword;                    /* lines of the file */
    double hit1, hit5, hit10, map;         /* shares of asked */
    /* each word weighs its source count; NaN without counts */
    double weighted1, weighted5, weighted10, weighted_map;
    double coverage;                       /* asked / words */
};

/* Which words are asked: all that have a vector, so that one none of whose translations has a
 * vector is asked and cannot be right; or, as MUSE's loader keeps a line only if both of its words
 * have one, those that can be answered. */
enum gold_rule { GOLD_SOURCE, GOLD_BOTH };

struct gold {
    uint32_t *src; size_t n;               /* rows of the words that are asked, ascending */
    struct word_pairs all; /* by source row, then target; target UINT32_MAX: it has no vector */
    uint64_t words, answerable, multiword;
};
int gold_read(const char *path, const struct vectors *src, const struct vectors *tgt,
              enum gold_rule rule, struct gold *g);
void gold_free(struct gold *g);

/* rank[i]: of g->src[i], the rank of its best gold translation among all targets (0: it has none
 * with a vector). */
void gold_score(const struct gold *g, const uint32_t *rank, const struct vectors *src,
                struct dictionary_score *s);

/* Expected Hit@1 of a random order of that many targets, over the words asked. */
double gold_chance(const struct gold *g, uint32_t targets);

/* Ranks among the m targets (ties count against the gold word's index as in the lists: lower index
 * first). */
void gold_ranks_scores(const struct gold *g, struct scores *s, uint32_t m, uint32_t *rank);
/* Ranks from unit vectors, exactly, by cosine or CSLS; kinds (NULL: none): among the targets of
 * the word's kind. */
int gold_ranks(const struct gold *g, const struct vectors *src, const struct vectors *tgt,
               const struct word_initial *kinds, enum csls_method how, int K, uint32_t *rank);

/* Of a list of pairs (dict-induce's output), how many have a source word that is asked, and how
 * many of those are in the gold dictionary: the precision of the list, whereas Hit@1 is over all
 * words. */
struct gold_precision { uint64_t pairs, judged, right; };
struct gold_precision gold_precision(const struct gold *g, const struct word_pairs *p);
/* The gold pairs whose two words have vectors, appended to *p. */
void gold_pairs(const struct gold *g, struct word_pairs *p);

#endif
