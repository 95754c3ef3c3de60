/* Word analogies (Mikolov et al. 2013): which word is nearest to a - b + c. The words may come from
 * several languages (MLM-GC, Table 3): they are looked up, and the answer is looked for, in all the
 * sets of vectors given. */
#ifndef VECTORS_ANALOGY_H
#define VECTORS_ANALOGY_H
#include "lib/vectors/vectors.h"

struct analogy_score {
    uint64_t questions, asked;        /* asked: all four words have vectors */
    /* share of asked whose answer is nearest, the question's words left out */
    double accuracy;
    /* mean cosine of a - b + c (of unit vectors) with the answer */
    double cosine;
};
struct analogy_category { char *name; struct analogy_score score; };
struct analogy_report {
    struct analogy_category *category;
    size_t n, cap;
    struct analogy_score all;
};

/* Reads questions "a b c d" (": name" begins a category), writes to each, if answers is not NULL,
 * "a b c d best cosine(best) cosine(d)". swap: questions are word2vec's, a : b = c : d, that is b -
 * a + c. sets: rows are brought to length 1 here. r: analogy_free frees it. -1 with a message,
 * nothing to free: unreadable, a line of other than four words, sets of different dimensions. */
struct out;
int analogy_run(struct vectors *const *sets, int n, const char *path, bool swap,
                struct out *answers, struct analogy_report *r);
/* MLM-GC's Table 3: reads the same questions, of which d may be missing, and writes for each the
 * cosines of a - b + c with every target: each(ctx, a b c, cosines), which are NaN where a, b or c
 * has no vector. Vectors are taken as they are. *missing counts such questions. -1 with a message:
 * a target without a vector, and what analogy_run refuses. */
typedef void analogy_cosines(void *ctx, char *const *abc, const double *cosine);
int analogy_targets(struct vectors *const *sets, int n, const char *path, bool swap,
                    const char *const *target, int n_targets, analogy_cosines *each, void *ctx,
                    uint64_t *missing);
void analogy_free(struct analogy_report *r);

#endif
