#include "lib/sacrebleu/report.h"
#include "common/mem.h"
#include "common/utf8.h"
#include <stdlib.h>
#include <string.h>

void report_repr(double v, bool single, char to[32])
{
    char e[32];
    int digits = 0;
    /* Python's repr: the fewest digits that read back as the same number */
    do snprintf(e, sizeof e, "%.*e", digits++, v);
    while (digits < 18 && (single ? strtof(e, NULL) != (float)v : strtod(e, NULL) != v));
    int exponent = atoi(strchr(e, 'e') + 1);
    digits--;                                        /* digits after the first */
    /* where Python's repr changes to an exponent */
    if (exponent < -4 || exponent >= 16) {
        /* %e writes at least two digits of exponent, as Python does */
        snprintf(to, 32, "%s", e);
        return;
    }
    int decimals = digits - exponent;
    /* a float always shows a point: "32.0" */
    snprintf(to, 32, "%.*f", decimals > 1 ? decimals : 1, v);
}

/* As report_repr of the number that v is when written with `width` decimals. */
static void repr_rounded(double v, int width, char to[32])
{
    char s[400];
    snprintf(s, sizeof s, "%.*f", width, v);
    report_repr(strtod(s, NULL), false, to);
}

static void score_text(const struct report_score *r, int width, char to[1000])
{
    int n = snprintf(to, 1000, "%.*f", width, r->score);
    /* sacreBLEU's sign that there is an interval: a mean of 0 shows none */
    if (r->has_interval && r->mean > 0)
        snprintf(to + n, (size_t)(1000 - n), " (μ = %.*f ± %.*f)", width, r->mean, width, r->ci);
}

static void line_text(const struct report_score *r, const struct report_options *o, char to[2000])
{
    char score[1000];
    score_text(r, o->width, score);
    if (o->score_only) snprintf(to, 2000, "%s", score);
    else
        snprintf(to, 2000, "%s|%s = %s%s%s", r->name, r->signature, score, *r->verbose ? " " : "",
                 r->verbose);
}

void report_sentence(FILE *to, const struct report_score *r, const struct report_options *o)
{
    char line[2000];
    line_text(r, o, line);
    fprintf(to, "%s\n", line);
}

/* --- one system ------------------------------------------------------------------------------- */

static void single_json(FILE *to, const struct report_score *r, int width)
{
    char number[32];
    repr_rounded(r->score, width, number);
    fprintf(to, "{\n \"name\": \"%s\",\n \"score\": %s,\n \"signature\": \"%s\"", r->name, number,
            r->signature);
    if (r->has_interval && r->mean > 0) {
        repr_rounded(r->mean, width, number);
        fprintf(to, ",\n \"confidence_mean\": %s", number);
        repr_rounded(r->ci, width, number);
        fprintf(to, ",\n \"confidence_var\": %s,\n \"confidence\": \"μ = %.*f ± %.*f\"", number,
                width, r->mean, width, r->ci);
    }
    if (*r->verbose) fprintf(to, ",\n \"verbose_score\": \"%s\"", r->verbose);
    char items[400], *rest = items, *item;
    snprintf(items, sizeof items, "%s", r->signature);
    /* each item of the signature again, as a key of its own */
    while ((item = strsep(&rest, "|"))) {
        char *colon = strchr(item, ':');
        fprintf(to, ",\n \"%.*s\": \"%s\"", (int)(colon - item), item, colon + 1);
    }
    fprintf(to, "\n}");
}

static size_t characters(const char *s)
{
    size_t n = 0;
    for (; *s; s++) n += ((unsigned char)*s & 0xC0) != 0x80;
    return n;
}

static void spaces(FILE *to, size_t n) { for (; n; n--) putc(' ', to); }

void report_single(FILE *to, const struct report_score *r, int n, const struct report_options *o)
{
    char (*line)[2000] = mem_alloc((size_t)n * sizeof *line);
    for (int i = 0; i < n; i++) line_text(&r[i], o, line[i]);
    if (o->format == REPORT_JSON) {
        if (n > 1) fprintf(to, "[\n");
        for (int i = 0; i < n; i++) {
            if (i) fprintf(to, ",\n");
            if (o->score_only) fputs(line[i], to); else single_json(to, &r[i], o->width);
        }
        fprintf(to, n > 1 ? "\n]\n" : "\n");
        free(line);
        return;
    }
    /* Several lines are aligned at their first '='. */
    size_t widest = 0;
    for (int i = 0; i < n; i++) {
        char *equals = strchr(line[i], '=');
        size_t at;
        if (!equals) continue;
        *equals = 0;
        at = characters(line[i]);
        *equals = '=';
        if (at > widest) widest = at;
    }
    for (int i = 0; i < n; i++) {
        char *equals = strchr(line[i], '='), *mu = o->colour ? strstr(line[i], "(μ") : NULL, *close;
        if (equals && n > 1) {
            *equals = 0;
            spaces(to, widest - characters(line[i]));
            *equals = '=';
        }
        if (mu && (close = strchr(mu, ')')))
            fprintf(to, "%.*s\033[36m%.*s\033[0m%s\n", (int)(mu - line[i]), line[i],
                    (int)(close + 1 - mu), mu, close + 1);
        else fprintf(to, "%s\n", line[i]);
    }
    free(line);
}

/* --- several systems -------------------------------------------------------------------------- */

/* In ASCII, as Python's json.dumps. */
static void json_string(FILE *to, const char *s)
{
    putc('"', to);
    size_t n = strlen(s);
    bool valid = utf8_check(s, n) == n;
    while (n) {
        int len = 1;
        /* a file's name need not be UTF-8: its bytes are shown as Latin-1 */
        uint32_t c = valid ? utf8_get(s, n, &len) : (unsigned char)*s;
        if (c == '"' || c == '\\') fprintf(to, "\\%c", (int)c);
        else if (c == '\n') fputs("\\n", to);
        else if (c == '\t') fputs("\\t", to);
        else if (c == '\r') fputs("\\r", to);
        else if (c >= 0x20 && c < 0x7F) putc((int)c, to);
        else if (c < 0x10000) fprintf(to, "\\u%04x", c);
        else
            fprintf(to, "\\u%04x\\u%04x", 0xD800 + ((c - 0x10000) >> 10),
                    0xDC00 + ((c - 0x10000) & 0x3FF));
        s += len; n -= (size_t)len;
    }
    putc('"', to);
}

static bool paired(const struct report_score *r, int n)
{
    for (int i = 0; i < n; i++) if (r[i].has_p) return true;
    return false;
}

static void systems_json(FILE *to, char *const *names, int n_systems, const struct report_score *r,
                         int n_metrics, int width)
{
    bool test = paired(r, n_systems * n_metrics);
    fprintf(to, "[\n");
    for (int s = 0; s < n_systems; s++) {
        fprintf(to, "    {\n        \"system\": ");
        json_string(to, names[s]);
        for (int k = 0; k < n_metrics; k++) {
            const struct report_score *x = &r[s * n_metrics + k];
            char score[32], p[32] = "null", mean[32] = "null", ci[32] = "null";
            fprintf(to, ",\n        \"%s\": ", x->name);
            /* without a test sacreBLEU's table is of strings already rounded */
            if (!test) { fprintf(to, "\"%.*f\"", width, x->score); continue; }
            report_repr(x->score, false, score);
            if (x->has_p) report_repr(x->p, false, p);
            if (x->has_interval) {
                report_repr(x->mean, x->single, mean);
                report_repr(x->ci, x->single, ci);
            }
            fprintf(to,
                    "{\n            \"score\": %s,\n            \"p_value\": %s,\n            "
                    "\"mean\": %s,\n"
                    "            \"ci\": %s\n        }",
                    score, p, mean, ci);
        }
        fprintf(to, "\n    }%s\n", s + 1 < n_systems ? "," : "");
    }
    fprintf(to, "]\n");
}

enum { CELL = 1000 };
/* red: the second line is a p-value above 0.05 */
struct cell { char line[2][CELL]; bool red; };

struct table { int rows, columns; struct cell *cell; size_t *width; };   /* row 0 is the heading */

static struct cell *at(const struct table *t, int row, int column)
{
    return &t->cell[row * t->columns + column];
}

/* Column 0 to the right, the others centred with the odd space on the right. */
static void put_cell(FILE *to, const char *text, size_t width, int column, const char *colour)
{
    size_t gap = width - characters(text), left = column == 0 ? gap : gap / 2;
    spaces(to, left + 1);
    if (colour && *text) fprintf(to, "%s%s\033[0m", colour, text); else fputs(text, to);
    spaces(to, gap - left + 1);
}

static void rule(FILE *to, const struct table *t, const char *first, const char *bar,
                 const char *cross, const char *last)
{
    fputs(first, to);
    for (int c = 0; c < t->columns; c++) {
        for (size_t i = 0; i < t->width[c] + 2; i++) fputs(bar, to);
        fputs(c + 1 < t->columns ? cross : last, to);
    }
    putc('\n', to);
}

static void grid(FILE *to, const struct table *t, bool colour, bool baseline)
{
    rule(to, t, "╒", "═", "╤", "╕");
    for (int row = 0; row < t->rows; row++) {
        bool two = false;
        for (int c = 0; c < t->columns; c++) two |= *at(t, row, c)->line[1] != 0;
        for (int l = 0; l < 1 + two; l++) {
            fputs("│", to);
            for (int c = 0; c < t->columns; c++) {
                const struct cell *x = at(t, row, c);
                const char *ink = !colour                ? NULL
                                  : row == 0             ? "\033[36m"
                                  : baseline && row == 1 ? "\033[33m"
                                  /* red is a difference that may be chance */
                                  : l == 1 && x->red     ? "\033[31m"
                                                         : NULL;
                put_cell(to, x->line[l], t->width[c], c, ink);
                fputs("│", to);
            }
            putc('\n', to);
        }
        if (row == 0) rule(to, t, "╞", "═", "╪", "╡");
        else if (row + 1 < t->rows) rule(to, t, "├", "─", "┼", "┤");
    }
    rule(to, t, "╘", "═", "╧", "╛");
}

static void latex_escape(FILE *to, const char *s)
{
    for (; *s; s++) {
        switch (*s) {
        case '&':
        case '%':
        case '$':
        case '#':
        case '_':
        case '{':
        case '}': fprintf(to, "\\%c", *s); break;
        case '^': fputs("\\^{}", to); break;
        case '~': fputs("\\textasciitilde{}", to); break;
        case '\\': fputs("\\textbackslash{}", to); break;
        case '<': case '>': fprintf(to, "\\ensuremath{%c}", *s); break;
        default: putc(*s, to);
        }
    }
}

static void latex(FILE *to, const struct table *t)
{
    fprintf(to, "\\begin{tabular}{r");
    for (int c = 1; c < t->columns; c++) putc('c', to);
    fprintf(to, "}\n\\toprule\n");
    for (int row = 0; row < t->rows; row++) {
        for (int c = 0; c < t->columns; c++) {
            const char *s = at(t, row, c)->line[0];
            size_t gap = t->width[c] - characters(s), left = c == 0 ? gap : gap / 2;
            spaces(to, left + 1);
            latex_escape(to, s);
            spaces(to, gap - left + 1);
            fputs(c + 1 < t->columns ? "&" : "\\\\\n", to);
        }
        if (row == 0) fprintf(to, "\\midrule\n");
    }
    fprintf(to, "\\bottomrule\n\\end{tabular}\n");
}

void report_systems(FILE *to, char *const *names, int n_systems, const struct report_score *r,
                    int n_metrics, const struct report_options *o, const struct report_test *test)
{
    if (o->format == REPORT_JSON) {
        systems_json(to, names, n_systems, r, n_metrics, o->width);
        return;
    }
    struct table t = { n_systems + 1, n_metrics + 1, NULL, NULL };
    t.cell = mem_zero((size_t)t.rows * (size_t)t.columns, sizeof *t.cell);
    t.width = mem_zero((size_t)t.columns, sizeof *t.width);
    snprintf(at(&t, 0, 0)->line[0], CELL, "System");
    bool interval = false;
    for (int i = 0; i < n_systems * n_metrics; i++) interval |= r[i].has_interval;
    for (int k = 0; k < n_metrics; k++)
        snprintf(at(&t, 0, k + 1)->line[0], CELL, "%s%s", r[k].name,
                 interval ? " (μ ± 95% CI)" : "");
    for (int s = 0; s < n_systems; s++) {
        snprintf(at(&t, s + 1, 0)->line[0], CELL, "%s", names[s]);
        for (int k = 0; k < n_metrics; k++) {
            const struct report_score *x = &r[s * n_metrics + k];
            struct cell *c = at(&t, s + 1, k + 1);
            char p[40] = "";
            int n = snprintf(c->line[0], CELL, "%.*f", o->width, x->score);
            if (x->has_interval)
                n += snprintf(c->line[0] + n, (size_t)(CELL - n), " (%.*f ± %.*f)", o->width,
                              x->mean, o->width, x->ci);
            if (x->has_p) {
                snprintf(p, sizeof p, "(p = %.4f)%s", x->p, x->p > 0.05 ? "" : "*");
                c->red = x->p > 0.05;
                /* text has p on a line below, LaTeX beside */
                if (o->format == REPORT_TEXT) snprintf(c->line[1], CELL, "%s", p);
                else snprintf(c->line[0] + n, (size_t)(CELL - n), " %s", p);
            }
        }
    }
    for (int c = 0; c < t.columns; c++) {
        /* two more than the heading, as tabulate has it */
        t.width[c] = characters(at(&t, 0, c)->line[0]) + 2;
        for (int row = 1; row < t.rows; row++)
            for (int l = 0; l < 2; l++) {
                size_t n = characters(at(&t, row, c)->line[l]);
                if (n > t.width[c]) t.width[c] = n;
            }
    }
    if (o->format == REPORT_TEXT) grid(to, &t, o->colour, !strncmp(names[0], "Baseline:", 9));
    else latex(to, &t);
    putc('\n', to);
    if (test) {
        fprintf(to, "Paired test by %s, %d %s, against %s.\n",
                test->bootstrap ? "bootstrap resampling" : "approximate randomisation",
                test->trials, test->bootstrap ? "resamples" : "trials", names[0]);
        if (test->bootstrap)
            fprintf(to, "Each cell: score (mean of the resamples ± half the width of their middle "
                        "95%%).\n");
        fprintf(
            to,
            "p: how often chance alone would give so large a difference if the two systems were\n"
            "interchangeable; * where it is at most 0.05. A small p says \"different\", not "
            "\"better\".\n\n");
    }
    fprintf(to, "-----------------\nMetric signatures\n-----------------\n");
    for (int k = 0; k < n_metrics; k++) fprintf(to, " - %-10s %s\n", r[k].name, r[k].signature);
    free(t.cell); free(t.width);
}
