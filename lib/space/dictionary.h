/* Dictionaries: read (TSV or space-separated "source target [score]"), and judged as MUSE and xling-eval judge them. */
#ifndef SPACE_DICTIONARY_H
#define SPACE_DICTIONARY_H
#include "lib/space/csls.h"
#include "lib/space/map.h"
#include "lib/space/vectors.h"

struct dictionary_report {
    uint64_t lines, multiword, unknown, repeated;    /* lines read; left out: a side of several words; a word without a vector; a pair read before */
};
/* The pairs both of whose words have vectors, in the file's order, each once. Lines are "source<TAB>target[<TAB>score]", or, without
 * a tab, two words with a space between. -1 with a message: missing, not UTF-8, a line with one word. */
int dictionary_read(const char *path, const struct vectors *src, const struct vectors *tgt, struct pairs *p, struct dictionary_report *r);

/* Words spelt the same on both sides. min_length > 0: words with letters have that many characters at least; ratio > 1:
 * relative frequencies differ by no more than that factor, where counts are known. */
void dictionary_identical(const struct vectors *src, const struct vectors *tgt, int min_length, double ratio, struct pairs *p);

/* How well lists of translations (best first) agree with a gold dictionary. Each source word of the gold file counts
 * once; it is right at k if any of its gold translations is among the first k (MUSE). Words without a vector are apart, in
 * `missing`; a word none of whose translations has one is asked and cannot be right. map: mean average precision with the
 * first right translation alone, 1 / rank, over the whole target vocabulary's ranking (xling-eval, where it is called MAP);
 * for that, `rank` gives for each asked source row the rank (from 1) of its best gold translation, 0: not ranked. */
struct dictionary_score {
    uint64_t words, asked, missing;        /* source words of the gold file = asked + missing */
    uint64_t lines, multiword;             /* of the file */
    double hit1, hit5, hit10, map;         /* shares of asked */
    double weighted1, weighted5, weighted10, weighted_map;     /* each word weighs its source count; NaN without counts */
    double coverage;                       /* asked / words */
};

struct gold { uint32_t *src; size_t n; struct pairs all; uint64_t words, lines, multiword; };
/* all: pairs sorted by source row; target UINT32_MAX if it has no vector. */
int gold_read(const char *path, const struct vectors *src, const struct vectors *tgt, struct gold *g);
void gold_free(struct gold *g);

/* rank[i]: of g->src[i], the rank of its best gold translation among all targets (0: it has none with a vector). */
void gold_score(const struct gold *g, const uint32_t *rank, const struct vectors *src, struct dictionary_score *s);

/* Ranks from a score matrix [src->n, m] (ties count against the gold word's index as in the lists: lower index first). */
void gold_ranks_matrix(const struct gold *g, const float *S, uint32_t m, uint32_t *rank);
/* Ranks from unit vectors, exactly, by cosine or CSLS. */
int gold_ranks(const struct gold *g, const struct vectors *src, const struct vectors *tgt, enum csls_method how, int K, uint32_t *rank);

#endif
