/* The metrics of `bleu` behind one interface, and whole corpora through them on all threads. A
 * metric turns a segment into a few numbers, added-up numbers into a score, and has a signature
 * that says how. */
#ifndef SCORE_METRIC_H
#define SCORE_METRIC_H
#include "lib/score/bleu.h"
#include "lib/score/chrf.h"
#include "lib/score/ter.h"
#include "lib/score/segmenter.h"

/* The release whose numbers and output these are, and the NumPy rules its resampling follows. */
#define SACREBLEU_VERSION "2.6.0"

/* in the order they are printed */
enum metric_kind { METRIC_BLEU, METRIC_CHRF, METRIC_TER, METRIC_KINDS };
enum { METRIC_STATS_MAX = 3 * CHRF_ORDER_MAX };

struct metric {
    enum metric_kind kind;
    struct {
        enum score_tok tokenizer;
        const struct segmenter *segmenter;       /* of a trained tokenizer; the caller's */
        bool lowercase;
        struct bleu_options score;
    } bleu;
    struct chrf_options chrf;
    struct ter_options ter;
};

int metric_stats(const struct metric *m); /* numbers per segment: 10, 3 * orders, or 2 */
void metric_name(const struct metric *m, char name[64]);    /* "BLEU", "chrF2++", "TER" */

/* Sentences, one per line, without trailing white space. Owns the bytes. */
struct lines { char *bytes; struct span *v; size_t n; };
void lines_free(struct lines *l);

/* stats [hyp->n][metric_stats(m)]. All refs have hyp->n lines. Runs on the pool; the same numbers
 * with any number of threads. Returns 0. */
int metric_segments(const struct metric *m, const struct lines *hyp, const struct lines *refs,
                    int n_refs, double *stats);

/* Sums over all segments, without keeping each (TER's are kept for a while: fractions add up in
 * their order). */
int metric_total(const struct metric *m, const struct lines *hyp, const struct lines *refs,
                 int n_refs, double *sum);

/* Sums over n segments, in their order. */
void metric_sum(const struct metric *m, const double *stats, size_t n, double *sum);

/* The score of added-up statistics; _f32 as NumPy computes it from float32 sums (resampling). */
double metric_score(const struct metric *m, const double *sum);
double metric_score_f32(const struct metric *m, const float *sum);
/* Does metric_score_f32 give a single-precision number? */
bool metric_is_f32(const struct metric *m);

/* The text after the score, "" if there is none: "93.6/66.1/50.6/39.8 (BP = ...)". */
void metric_verbose(const struct metric *m, const double *sum, char to[200]);

/* key:value|... ; bs, ar: resamples and trials, 0 if none; seed: NULL if none. */
struct signature { int n_refs; int bs, ar; const char *seed; };
void metric_signature(const struct metric *m, const struct signature *s, bool brief, char to[400]);

#endif
