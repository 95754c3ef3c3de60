/* What `bleu` computes and prints: the metrics asked for, of each sentence, of one system, or of
 * several side by side, with intervals and paired tests. */
#ifndef SACREBLEU_SCORING_H
#define SACREBLEU_SCORING_H
#include "common/prog/opt.h"
#include "common/prog/result_rows.h"
#include "lib/sacrebleu/corpus.h"
#include "lib/sacrebleu/report.h"

struct scoring {
    /* options */
    struct metric as;                    /* the options of all metrics */
    const char *metrics, *languages, *seed;
    bool force, sentence, brief, confidence, paired_bs, paired_ar;
    int trials_ci, trials_bs, trials_ar;
    struct report_options look;
    struct result_rows *rows;            /* those of one system; the caller's, may be NULL */
    /* from them, by scoring_check */
    struct metric metric[METRIC_KINDS]; int n;       /* in the order requested */
    uint64_t seed_number; const char *seed_name;
    struct segmenter *segmenter;                     /* by scoring_open; NULL: none is needed */
};
extern const struct scoring scoring_defaults;
/* Of struct scoring: which metrics, their options, tests, output. */
extern const struct opt scoring_rows[], scoring_bleu_rows[], scoring_chrf_rows[],
    scoring_ter_rows[], scoring_test_rows[], scoring_output_rows[];

/* Do the options fit together? Fills the rest of s. -1 with a message: wrong usage. */
int scoring_check(struct scoring *s);
/* Opens what a trained tokeniser needs. -1 with a message: it is not there. */
int scoring_open(struct scoring *s);
void scoring_close(struct scoring *s);
/* Is one of the paired tests asked for? */
bool scoring_paired(const struct scoring *s);
/* Scores c, and writes all that was asked for. -1 with a message. */
int scoring_print(struct scoring *s, struct score_corpus *c, FILE *to);

#endif
