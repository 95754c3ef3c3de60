/* How similar the co-occurrence counts of two languages are (MLM-GC, section 3.2, Figures 1 and 3).
 */
#ifndef BILINGUAL_COOC_COMPARE_H
#define BILINGUAL_COOC_COMPARE_H
#include <stddef.h>
#include <stdint.h>

struct cooc;

/* X of a pair of words and of its translation, normalised by c_lang */
struct cooc_compare_pair { double a, b; };
/* Sums over the pairs of which both sides are counted (X > 0), each with weight 1 or with a's X. */
struct cooc_compare_sums { double n, a, b, aa, bb, ab, difference; };
struct cooc_compare_pairs {
    struct cooc_compare_pair *v; size_t n, cap;
    uint64_t lines, unknown, multiword, repeated, small;
    uint64_t asked; double asked_mass;       /* pairs that a has, and their X */
    struct cooc_compare_sums each, mass;
};

/* c_lang = C_ref / C_lang: b's counts are multiplied by a's tokens / b's. */
double cooc_compare_scale(const struct cooc *a, const struct cooc *b);

/* From lines "w1 w2<TAB>v1 v2[<TAB>...]": translations of pairs of adjacent words. Lines with a
 * word that a vocabulary lacks are counted in `unknown`, those that stand there already in
 * `repeated`; pairs with an X of 1 or less on a side, whose logarithm breaks the ratio, in `small`.
 * -1 with a message. */
int cooc_compare_read_pairs(const char *path, const struct cooc *a, const struct cooc *b,
                            struct cooc_compare_pairs *p);
/* The same from a phrase table, "w1 w2 ||| v1 v2 ||| scores" (Moses, OPUS); lines without exactly
 * two words per side are counted in `multiword`. */
int cooc_compare_read_phrases(const char *path, const struct cooc *a, const struct cooc *b,
                              struct cooc_compare_pairs *p);
/* From a dictionary of single words "w<TAB>v": every pair of a's that is counted, whose two words
 * have translations (the first line of a word counts), next to the pair of the translations. Lines
 * with several words on a side are counted in `multiword`. */
int cooc_compare_from_dictionary(const char *path, const struct cooc *a, const struct cooc *b,
                                 struct cooc_compare_pairs *p);

struct cooc_compare_bin {
    double low, high;                        /* of log a + log b, natural logarithms */
    uint64_t n;
    /* mean of |log a - log b|, and half its 95% interval (1.96 s / sqrt n; NaN for n = 1) */
    double difference, difference_ci;
    double ratio, ratio_ci;                  /* of |log a - log b| / (log a + log b) */
    double share;                            /* of a + b, in this bin */
};
/* Bins of the given width from 0; empty ones are left out. The last entry of *bin is over all
 * pairs. Returns their number. */
size_t cooc_compare_bins(const struct cooc_compare_pairs *p, double width,
                         struct cooc_compare_bin **bin);
/* How well one language's log X predicts the other's, over pairs with X > 0 on both sides; natural
 * logarithms. NaN where there is nothing to compare, or no variance. */
struct cooc_compare_correlation {
    uint64_t pairs;                          /* that a has */
    double both, both_mass; /* share of them that b has too: of their number, of a's X */
    double r, r_mass; /* Pearson's, of log a with log b: each pair once, each with a's X */
    double difference, bias;                 /* mean |log a - log b|, and mean log b - log a */
};
struct cooc_compare_correlation cooc_compare_correlate(const struct cooc_compare_pairs *p);
void cooc_compare_free(struct cooc_compare_pairs *p);

/* Figure 3: relative frequencies by rank, falling; *f malloc'd [n]. 0 or -1. */
int cooc_compare_ranks(const struct cooc *c, double **f, size_t *n);

#endif
