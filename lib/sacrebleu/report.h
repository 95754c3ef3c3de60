/* Scores as sacreBLEU prints them: JSON or a line of text for one system, a table (text, LaTeX,
 * JSON) for several. */
#ifndef SACREBLEU_REPORT_H
#define SACREBLEU_REPORT_H
#include <stdio.h>
#include "lib/score/metric.h"

enum report_format { REPORT_JSON, REPORT_TEXT, REPORT_LATEX };

struct report_options {
    enum report_format format;
    int width;                           /* decimals */
    bool score_only;
    bool colour;                         /* emphasis for a terminal */
};

/* One metric of one system. */
struct report_score {
    char name[64];
    double score;
    bool has_interval; double mean, ci;
    bool has_p; double p;
    bool single; /* interval in single precision: fewer digits are its own */
    char verbose[200], signature[400];
};

/* One sentence's line. */
void report_sentence(FILE *to, const struct report_score *r, const struct report_options *o);
/* One system, n metrics. */
void report_single(FILE *to, const struct report_score *r, int n, const struct report_options *o);

/* Several systems: r [n_systems][n_metrics]. test: what the p-values are of, NULL if there are
 * none. */
struct report_test { bool bootstrap; int trials; };
void report_systems(FILE *to, char *const *names, int n_systems, const struct report_score *r,
                    int n_metrics, const struct report_options *o, const struct report_test *test);

/* v with the fewest digits that read back as v, as Python's repr: "0.5", "1e-05", "32.0".
 * to[32]. */
void report_repr(double v, bool single, char to[32]);

#endif
