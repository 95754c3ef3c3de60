/* Task metrics (accuracy, chunk F1, question answering, correlation) over examples that were judged
 * one by one: values, 95% intervals by bootstrap, and paired tests between two systems on the same
 * examples. */
#ifndef EVAL_JUDGED_H
#define EVAL_JUDGED_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum task_metric {
    TASK_ACCURACY,
    TASK_TAG_ACCURACY,
    TASK_CHUNK_F1,
    TASK_SQUAD,
    TASK_SQUAD2,
    TASK_MLQA,
    TASK_SPEARMAN,
    TASK_PEARSON,
};
/* The same names with "|" between them, for an option. */
#define TASK_METRICS "accuracy|tag-accuracy|chunk-f1|squad|squad2|mlqa|spearman|pearson"

enum { JUDGED_WIDTH = 4, JUDGED_VALUES = 6 };

/* The judgement of each example, [n][JUDGED_WIDTH]:
 *   accuracy        right (0 or 1), 1
 *   tag-accuracy    right words, words
 *   chunk-f1        correct chunks, predicted, gold
 *   squad, mlqa     exact match, F1, 1
 *   squad2          exact match, F1, 1, 1 if it has an answer
 *   stat_spearman, stat_pearson  gold, predicted */
struct judged {
    enum task_metric metric;
    size_t n;
    double (*of)[JUDGED_WIDTH];
    size_t *which;                   /* [n] numbers of the data's examples; NULL: all, in order */
};
void judged_free(struct judged *j);

/* The values a metric has, in the order in which they are printed: "precision" "recall" "f1".
 * Returns how many. Those of squad2's questions with and without answer are left out of `names`
 * where the examples have none such. */
int judged_names(const struct judged *j, const char *names[JUDGED_VALUES]);
/* The values over all examples: percent, but for correlations; NAN: there is none. */
void judged_values(const struct judged *j, double value[JUDGED_VALUES]);

/* The two-sided p of a correlation; NAN of other metrics. */
double judged_correlation_p(const struct judged *j);

/* Bootstrap (Efron and Tibshirani 1993): values of `trials` resamples of the examples, to
 * [trials][JUDGED_VALUES]. `stream` numbers what is resampled by itself (a language): equal numbers
 * draw equal examples. On all threads. */
int judged_bootstrap(const struct judged *j, uint64_t seed, uint32_t stream, int trials,
                     double (*to)[JUDGED_VALUES]);
/* The 2.5% and 97.5% quantiles of column k. */
void judged_interval(const double (*of)[JUDGED_VALUES], int trials, int k, double low_high[2]);

/* Approximate randomization (Noreen 1989): a's values less b's once each example's two outcomes
 * were exchanged with probability 1/2, to [trials][JUDGED_VALUES]. a and b judge the same examples.
 */
int judged_randomize(const struct judged *a, const struct judged *b, uint64_t seed, uint32_t stream,
                     int trials, double (*to)[JUDGED_VALUES]);
/* The two-sided p of a difference: (1 + trials at least as far from 0) / (1 + trials). Trials that
 * are no number are none; NAN: the difference is none. */
double judged_p(const double (*of)[JUDGED_VALUES], int trials, int k, double difference);

/* Examples that only a, and only b, got right (accuracy; exact match): for McNemar's test. False:
 * the metric has none. */
bool judged_discordant(const struct judged *a, const struct judged *b, uint64_t only[2]);

/* --- SQuAD 2.0 with probabilities of "no answer" --------------------------------------------- */

/* One question: what evaluate-v2.0.py's find_best_thresh looks at. */
struct no_answer { double p; bool has_answer, answered; double score; };
struct best_threshold { double score, threshold; };
/* Over v[n] in the order of the file of probabilities, sorted here by p (stable); questions of the
 * data: total, of which no_answers have none; scored: those with a prediction. score: percent. */
struct best_threshold judged_threshold(struct no_answer *v, size_t n, size_t no_answers,
                                       size_t scored);

/* --- measures --------------------------------------------------------------------------------- */

/* A metric over several languages: each one's values, intervals and difference from another
 * system's predictions, and the mean over languages with intervals of its own (each language's
 * examples resampled by themselves). */

/* 0 resamples: no intervals; 0 trials: no randomization */
struct measure_options { int resamples, trials; uint64_t seed; };

struct measure {
    size_t examples;
    int values;
    const char *name[JUDGED_VALUES];             /* NULL: these examples have no such value */
    double value[JUDGED_VALUES], interval[JUDGED_VALUES][2];
    double p[JUDGED_VALUES]; /* correlations: two-sided p of no correlation; else NAN */
    bool compared;
    double other[JUDGED_VALUES], randomization[JUDGED_VALUES]; /* the other system's values; p of no
                                                                  difference */
    bool has_mcnemar; double mcnemar;
    double (*resample)[JUDGED_VALUES], (*exchange)[JUDGED_VALUES]; /* [resamples], [trials]; NULL:
                                                                      none */
};

/* j: judged examples of language number `stream`; against: another system's of the same examples,
 * or NULL. *m is freed by measure_free. 0, or -1 with a message. */
int measure(struct measure *m, const struct judged *j, const struct judged *against,
            uint32_t stream, const struct measure_options *o);
/* The mean of n languages' measures. */
void measure_mean(struct measure *mean, const struct measure *of, int n,
                  const struct measure_options *o);
void measure_free(struct measure *m);

/* --- chunks ----------------------------------------------------------------------------------- */

/* Chunks of a tagged sentence and how many of them two taggings share: conlleval (Tjong Kim Sang
 * 2000) as seqeval, which XTREME uses, has it. A tag is a prefix, its first letter (B I E S O), and
 * a type, what follows the first "-". An I or E after O or another type opens a chunk. Tags
 * without prefix (parts of speech) are read the same way: runs of one tag are a chunk, except that
 * a tag that begins with S (SYM, SCONJ) is one at every word. */

/* correct: type, first and last word are equal */
struct chunk_counts { int64_t correct, predicted, gold; };

/* Adds the counts of one sentence of n words. */
void chunks_add(struct chunk_counts *c, const char *const *predicted, const char *const *gold,
                int n);

#endif
