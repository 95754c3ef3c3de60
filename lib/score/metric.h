/* The metrics of `bleu` with one interface, and whole corpora through them on all threads. A
 * metric turns a segment into a few numbers, added-up numbers into a score, and has a signature
 * that says how. */
#ifndef SCORE_METRIC_H
#define SCORE_METRIC_H
#include <stdbool.h>
#include "lib/score/bleu.h"
#include "lib/score/split.h"
#include "lib/score/tokenise.h"

/* --- TER -------------------------------------------------------------------------------------- */

/* Translation edit rate (Snover et al. 2006) with the search of Tercom as sacreBLEU does it: edits
 * are insertions, deletions, substitutions and shifts of a run of words; shifts are found greedily,
 * under Tercom's limits. */

struct ter_work;                        /* one a thread */
struct ter_work *ter_work_new(void);
void ter_work_free(struct ter_work *w);

/* Statistics of one segment: [fewest edits over the references, average reference length]. Valid
 * UTF-8. -1 with a message if a table of hypothesis by reference words would have more than 2^27
 * cells. */
int ter_segment(const struct ter_options *o, struct ter_work *w, struct span hyp,
                const struct span *refs, int n_refs, double stats[2]);

/* Edits that turn hyp into ref, both as word ids; (hyp_n + 1) * (ref_n + 1) <= 2^27. */
int64_t ter_edits(struct ter_work *w, const uint32_t *hyp, size_t hyp_n, const uint32_t *ref,
                  size_t ref_n);

/* 100 * edits / words, from added-up statistics; _f32 in single precision, as NumPy does it. */
double ter_score(const double stats[2]);
float ter_score_f32(const float stats[2]);

/* --- chrF ------------------------------------------------------------------------------------- */

/* chrF and chrF++ (Popovic 2015, 2017): the F-score of character n-grams, and of word n-grams with
 * chrF++. */

enum { CHRF_ORDER_MAX = 32 };           /* char_order + word_order */

struct chrf_options {
    int char_order;                     /* 6 */
    int word_order;                     /* 0; 2 is chrF++ */
    int beta;                           /* 2: recall weighs beta^2 times as much as precision */
    bool lowercase, whitespace;         /* whitespace: spaces are characters too */
    bool eps_smoothing; /* chrF++.py's smoothing instead of leaving empty orders out */
};

struct chrf_work;                       /* one a thread */
struct chrf_work *chrf_work_new(void);
void chrf_work_free(struct chrf_work *w);

/* Statistics of one segment, of the reference that gives the best score: [order][n-grams in
 * hypothesis, in reference, matches]. Lines are valid UTF-8. */
void chrf_segment(const struct chrf_options *o, struct chrf_work *w, struct span hyp,
                  const struct span *refs, int n_refs, double *stats);

/* From added-up statistics, 0..100; _f32 with every operation in single precision, as NumPy does
 * it. */
double chrf_score(const struct chrf_options *o, const double *stats);
float chrf_score_f32(const struct chrf_options *o, const float *stats);

/* --- metrics ---------------------------------------------------------------------------------- */

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
struct segments { char *bytes; struct span *v; size_t n; };
void segments_free(struct segments *l);

/* stats [hyp->n][metric_stats(m)]. All refs have hyp->n lines. Runs on the pool; the same numbers
 * with any number of threads. 0, or -1 with a message that names the line. */
int metric_segments(const struct metric *m, const struct segments *hyp, const struct segments *refs,
                    int n_refs, double *stats);

/* Sums over all segments, without keeping each (TER's are kept for a while: fractions add up in
 * their order). */
int metric_total(const struct metric *m, const struct segments *hyp, const struct segments *refs,
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
