/* Word n-grams that belong together, by pointwise mutual information over every way to cut them
 * (Levine et al. 2021, "PMI-Masking", Eq. 3): the units that pretrain --mask-scheme pmi masks.
 *
 *   p(s) = c(s) / N_|s|,  N_k = places where a k-gram can stand (n-grams do not cross a line)
 *   PMI(w) = min over the 2^(n-1) - 1 cuts of w into two or more parts s of log p(w) / prod p(s)
 *
 * Natural logarithms. A k-gram is counted only where both of its (k-1)-grams are frequent enough:
 * otherwise it could not be frequent itself, so nothing is lost, and all parts of a kept n-gram
 * have their counts. Counts are exact, and the output the same bytes, whatever the memory and the
 * number of threads. */
#ifndef NGRAMS_H
#define NGRAMS_H
#include <stddef.h>
#include <stdint.h>

enum { NGRAMS_LONGEST = 8 };

enum ngrams_score {
    NGRAMS_PMI,
    NGRAMS_PMI2 /* log p(w)^2 / prod p(s): the repository's lists */
};

struct ngrams_options {
    int least, longest; /* words: 2 to NGRAMS_LONGEST */
    uint64_t min_count; /* n-grams with fewer occurrences are left out, 1 or more */
    /* How many are kept: `top`, of which 1/2 have the least number of words, 1/4 one more and so
     * on, the longest as many as those before them; 0: all; below 0: as many as cover a share of
     * `cover` of the tokens. */
    int64_t top;
    double cover;
    enum ngrams_score score;
    /* peak resident memory to stay below, what the process holds already included */
    size_t memory;
    const char *tmp; /* folder for temporary files; NULL: the system's */
    int threads;
};
extern const struct ngrams_options ngrams_defaults;

struct ngrams_report {
    uint64_t tokens, words;                               /* read; different ones */
    uint64_t frequent[NGRAMS_LONGEST + 1], kept[NGRAMS_LONGEST + 1]; /* n-grams of k words */
    uint64_t top;                                         /* the list's size that was chosen */
    double covered;                                       /* share of tokens within a kept n-gram */
    uint64_t runs, spilled;                               /* on disk, and their bytes */
};

/* Reads texts (UTF-8, one sentence per line, words between spaces; plain, gzip or zstd; "-":
 * standard input, once), writes "score TAB count TAB words" by falling score, equal scores by
 * falling count, then by bytes, shorter n-grams first. -1 with a message: an input, --memory too
 * small, the folder for temporary files. */
struct out;
int ngrams_run(const char *const *path, int n, const struct ngrams_options *o, struct out *out,
               struct ngrams_report *r);

#endif
