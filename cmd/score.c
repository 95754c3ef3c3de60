/* score: predictions against gold, by the metrics of the downstream tasks, with intervals and
 * paired tests; and tables of results over seeds (--compare). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/prog/prog.h"
#include "common/prog/result_rows.h"
#include "lib/eval/judged.h"
#include "lib/eval/last_values.h"
#include "lib/eval/results.h"
#include "lib/sacrebleu/report.h"
#include "lib/task/predictions.h"

enum { LANGUAGES = 64 };

static struct options {
    int metric, digits, words;
    const char *format, *na_prob, *skip, *log, *unigram;
    struct strs pred, against, pair;
    double na_threshold;
    struct measure_options m;
    bool csv, json, compare, tsv;
} o = { .metric = -1,
        .digits = -1,
        .na_threshold = 1,
        .m = { .resamples = 1000, .trials = 10000, .seed = 1 } };

static const struct opt rows_of_all[] = {
    { "metric", 'm', OPT_CHOICE(options, metric), TASK_METRICS, "metric to compute" },
    { "pred", 'p', OPT_LIST(options, pred), "[LANG=]FILE",
      "predictions for the gold file of LANG; repeated for each further language (default: "
      "standard input, for one gold file)" },
    { "against", 0, OPT_LIST(options, against), "[LANG=]FILE",
      "predictions of another system, given as often as --pred: adds differences and paired "
      "tests" },
    { "format", 0, OPT_STR(options, format), "NAME",
      "format of the gold files, if it cannot be recognised from their content" },
    { "csv", 0, OPT_FLAG(options, csv), 0,
      "remove the double quotes around fields of the gold files" },
    { "skip", 0, OPT_STR(options, skip), "TEXT",
      "leave out gold pairs in which one sentence is TEXT (NS in PAWS-X), as predict does" },
    { "words", 0, OPT_CHOICE(options, words), "syntactic|fused",
      "words of CoNLL-U: split multi-word tokens into their parts, or keep each as one word as in "
      "XTREME" },
    { "digits", 0, OPT_INT(options, digits), "N",
      "decimals of each number (default: as many as identify it)", .min = 0, .max = 17 },
    { "json", 0, OPT_FLAG(options, json), 0,
      "print a JSON list of rows instead of a tab-separated table" },
    { 0 }
};
static const struct opt resampling_rows[] = {
    { "resamples", 0, OPT_INT(measure_options, resamples), "N",
      "bootstrap resamples for the 95% intervals; 0: no intervals", .min = 0, .max = 1e6 },
    { "trials", 0, OPT_INT(measure_options, trials), "N",
      "trials of the randomisation test of --against; 0: no such test", .min = 0, .max = 1e7 },
    { "seed", 0, OPT_I64(measure_options, seed), "N", "seed of the resamples and trials", .min = 0,
      .max = 9e18 },
    { 0 }
};
static const struct opt squad2_rows[] = {
    { "na-prob", 0, OPT_STR(options, na_prob), "FILE",
      "JSON object of each question's probability of having no answer" },
    { "na-threshold", 0, OPT_REAL(options, na_threshold), "X",
      "a probability above X means that there is no answer", .min = -1e30, .max = 1e30 },
    { 0 }
};
static const struct opt compare_rows[] = {
    { "compare", 0, OPT_FLAG(options, compare), 0,
      "read rows of seed, system, direction, metric, value (tabs between) and "
      "print means, 95% intervals and paired t-tests over seeds" },
    { "pair", 0, OPT_LIST(options, pair), "SYSTEM=BASE",
      "with --compare: test SYSTEM against BASE (default: the pairs of the file's "
      "#compare lines, and every NAME-GC against NAME)" },
    { "tsv", 0, OPT_FLAG(options, tsv), 0,
      "with --compare: tabs between the cells, and no last line" },
    { 0 }
};
static const struct opt log_rows[] = {
    { "log", 0, OPT_STR(options, log), "FILE",
      "print what this log.jsonl of a training ends with: the numbers of its last validation, and "
      "of MLM-GC the share of the counts' variance that is explained" },
    { "unigram", 0, OPT_STR(options, unigram), "FILE",
      "with --log: a row of results.tsv with the perplexity by single tokens' frequencies; adds "
      "\"collapsed\", 1 if the model's is not below it by more than 0.05 nats" },
    { 0 }
};
static struct result_options as_rows;
static struct result_rows *results;
static const struct opt_group groups[] = {
    { "Options", rows_of_all, &o },
    { "Intervals and tests", resampling_rows, &o.m },
    { "SQuAD 2.0", squad2_rows, &o },
    { "Tables over seeds", compare_rows, &o },
    { "Logs", log_rows, &o },
    { "Rows of results.tsv", result_options_rows, &as_rows },
    { 0 } };

static const struct prog prog = { "score", "--metric NAME [LANG=]GOLD... < predictions",
                                  "Scores predictions of a downstream task as the official scripts "
                                  "do, with intervals and paired tests.",
                                  "Examples:\n"
                                  "  predict --model nli -l de < test.de.tsv | score --metric "
                                  "accuracy de=test.de.tsv\n"
                                  "  score -m mlqa en=en.json de=de.json --pred en=a.en \\\n"
                                  "    --pred de=a.de --against en=b.en --against de=b.de\n"
                                  "  score --compare --pair SCS=TCS results.tsv\n" };

/* --- printing -------------------------------------------------------------------------------- */

static void number(double v, char to[48])
{
    /* JSON has no NaN. */
    if (isnan(v)) snprintf(to, 48, "%s", o.json ? "null" : "-");
    else if (o.digits < 0) report_repr(v, false, to);
    else snprintf(to, 48, "%.*f", o.digits, v);
}

static void header(bool compared)
{
    fputs("language\tmetric\tvalue\tlow\thigh\texamples", stdout);
    if (compared) fputs("\tagainst\tdifference\trandomization-p\tmcnemar-p", stdout);
    putchar('\n');
}

static int rows_printed;

static void row(const char *lang, const char *name, size_t examples, const double *v, int n)
{
    static const char *const key[] = { "value",    "low",        "high",
                                       "against",  "difference", "randomization_p",
                                       "mcnemar_p" };
    char text[48];
    if (o.json)
        printf("%s\n  {\"language\": \"%s\", \"metric\": \"%s\", \"examples\": %zu",
               rows_printed ? "," : "[", lang, name, examples);
    else printf("%s\t%s", lang, name);
    for (int i = 0; i < n; i++) {
        /* examples stand between the system's own numbers and the comparison's */
        if (i == 3 && !o.json) printf("\t%zu", examples);
        number(v[i], text);
        if (o.json) printf(", \"%s\": %s", key[i], text);
        else printf("\t%s", text);
    }
    if (n <= 3 && !o.json) printf("\t%zu", examples);
    puts(o.json ? "}" : "");
    rows_printed++;
}

static void add_result(const char *of, const char *name, double v)
{
    /* result_rows leaves out what is nan */
    char text[48] = "nan", *measure = mem_format("%s%s", of, name);
    if (!isnan(v) && o.digits < 0) report_repr(v, false, text);
    else if (!isnan(v)) snprintf(text, sizeof text, "%.*f", o.digits, v);
    result_rows_add(results, measure, -1, "%s", text);
    free(measure);
}

/* --row's: a system's value; with --against the other's and the difference, too. */
static void add_results(const struct measure *m)
{
    for (int k = 0; k < m->values; k++) {
        if (!m->name[k]) continue;
        add_result("", m->name[k], m->value[k]);
        if (!isnan(m->p[k])) add_result("", "p", m->p[k]);
    }
    for (int k = 0; k < m->values && m->compared; k++) {
        if (!m->name[k]) continue;
        add_result("against-", m->name[k], m->other[k]);
        char *measure = mem_format("difference-%s", m->name[k]);
        result_rows_add(results, measure, -1, "%.6g", m->value[k] - m->other[k]);
        free(measure);
    }
}

static void rows(const char *lang, const struct measure *m)
{
    for (int k = 0; k < m->values; k++) {
        if (!m->name[k]) continue;
        double v[7] = { m->value[k],
                        m->interval[k][0],
                        m->interval[k][1],
                        m->other[k],
                        m->value[k] - m->other[k],
                        m->randomization[k],
                        /* McNemar's test is of one decision per example: it belongs to the first
                         * value alone. */
                        k == 0 && m->has_mcnemar ? m->mcnemar : NAN };
        row(lang, m->name[k], m->examples, v, m->compared ? 7 : 3);
        if (!isnan(m->p[k]))
            /* a test has no interval */
            row(lang, "p", m->examples, (double[]){ m->p[k], NAN, NAN, NAN, NAN, NAN, NAN },
                m->compared ? 7 : 3);
    }
}

static void best_rows(const char *lang, const struct measure *m, const struct predictions_best *b)
{
    static const char *const name[] = { "best_exact", "best_exact_thresh", "best_f1",
                                        "best_f1_thresh" };
    const double v[] = { b->exact.score, b->exact.threshold, b->f1.score, b->f1.threshold };
    for (int i = 0; i < 4; i++)
        row(lang, name[i], m->examples, (double[]){ v[i], NAN, NAN, NAN, NAN, NAN, NAN },
            m->compared ? 7 : 3);
}

/* --- one language ---------------------------------------------------------------------------- */

struct language {
    char lang[32];
    const char *gold, *pred, *against;
    struct measure m;
    struct predictions_best best;
};

static int score_language(struct language *l, uint32_t stream)
{
    struct labelled_options g = predictions_gold((enum task_metric)o.metric, l->lang, o.format);
    g.csv = o.csv;
    g.skip = o.skip;
    g.fused = o.words == 1;
    struct predictions_options po = { (enum task_metric)o.metric, l->lang, o.na_prob,
                                      o.na_threshold, msg_note };
    struct labelled_set gold;
    struct judged j = { 0 }, against = { 0 };
    int rc = labelled_read(&gold, l->gold, &g);
    if (rc == 0) {
        problems_tell(&gold.problems, gold.name, msg_note);
        rc = predictions_judge(&po, &gold, l->pred, &j, &l->best);
    }
    po.no_answer = NULL;                             /* that file is about --pred's system only */
    if (rc == 0 && l->against) rc = predictions_judge(&po, &gold, l->against, &against, NULL);
    if (rc == 0) rc = measure(&l->m, &j, l->against ? &against : NULL, stream, &o.m);
    judged_free(&j);
    judged_free(&against);
    labelled_free(&gold);
    return rc;
}

/* The file in list that is for l's language; with one gold file, its only one. */
static int file_for(const struct strs *list, const char *option, const struct language *l,
                    int golds, const char **to)
{
    char lang[32];
    for (int i = 0; i < list->n; i++) {
        const char *file = prog_lang_file(list->v[i], lang);
        /* With one gold file and one list of predictions there is nothing to confuse. */
        if (!strcmp(lang, l->lang) || (golds == 1 && list->n == 1 && !*lang)) {
            *to = file;
            return 0;
        }
    }
    return err_set("no --%s for the gold file of '%s'; write --%s %s=FILE", option, l->lang, option,
                   l->lang);
}

static int find_files(struct language *l, const struct args *args)
{
    for (int i = 0; i < args->n; i++) {
        l[i].gold = prog_lang_file(args->v[i], l[i].lang);
        for (int k = 0; k < i; k++)
            if (!strcmp(l[k].lang, l[i].lang))
                return *l[i].lang ? err_set("two gold files of language '%s'", l[i].lang)
                                  : err_set("%s and %s: gold files without a language; write "
                                            "LANG=FILE, such as de=%s",
                                            l[k].gold, l[i].gold, l[i].gold);
        /* A single gold file may be judged against standard input. */
        l[i].pred = "-";
        if (o.pred.n && file_for(&o.pred, "pred", &l[i], args->n, &l[i].pred) < 0) return -1;
        if (o.against.n && file_for(&o.against, "against", &l[i], args->n, &l[i].against) < 0)
            return -1;
    }
    return 0;
}

static int score_all(const struct args *args)
{
    /* static: zeros, and large for a stack */
    static struct language l[LANGUAGES];
    static struct measure each[LANGUAGES];
    int rc = find_files(l, args);
    for (int i = 0; i < args->n && rc == 0; i++) {
        rc = score_language(&l[i], (uint32_t)i);
        /* measure_mean wants them side by side */
        each[i] = l[i].m;
    }
    if (rc < 0) return rc;
    if (results) add_results(&l[0].m);
    bool quiet = result_rows_instead(results);
    if (!o.json && !quiet) header(o.against.n > 0);
    for (int i = 0; i < args->n && !quiet; i++) {
        const char *lang = *l[i].lang ? l[i].lang : "-";
        rows(lang, &l[i].m);
        if (l[i].best.known) best_rows(lang, &l[i].m, &l[i].best);
    }
    if (args->n > 1) {
        struct measure mean;
        measure_mean(&mean, each, args->n, &o.m);
        rows("mean", &mean);
        measure_free(&mean);
    }
    if (o.json && !quiet) puts("]");
    for (int i = 0; i < args->n; i++) measure_free(&l[i].m);
    return 0;
}

/* --- what a training ends with --------------------------------------------------------------- */

static int print_log(const char *path)
{
    struct last_values v;
    if (last_values_read(path, o.unigram, &v) < 0) return -1;
    struct result_measure *m = mem_zero(v.n + 1, sizeof *m);
    for (size_t i = 0; i < v.n; i++)
        /* others are rows only when --as asks for them */
        m[i] = (struct result_measure){ v.v[i].name, i < v.usual ? v.v[i].name : NULL };
    int rc = result_rows_open(&results, &as_rows, m);
    for (size_t i = 0; i < v.n && rc == 0; i++) {
        /* Nine digits are what logs have. */
        const char *form = strcmp(v.v[i].name, "explained") ? "%.9g" : "%.6g";
        char value[40];
        snprintf(value, sizeof value, form, v.v[i].value);
        result_rows_add(results, v.v[i].name, -1, "%s", value);
        if (!result_rows_instead(results)) printf("%s\t%s\n", v.v[i].name, value);
    }
    if (rc == 0) rc = result_rows_write(results, stdout);
    result_rows_free(results);
    free(m);
    last_values_free(&v);
    return rc;
}

/* --- results over seeds ---------------------------------------------------------------------- */

static int compare(const char *path)
{
    struct results *r = results_read(path);
    if (!r) return -1;
    int rc = 0;
    for (int i = 0; i < o.pair.n && rc == 0; i++) {
        /* option strings are not ours to cut */
        char *system = mem_dup(o.pair.v[i]), *base = strchr(system, '=');
        if (base) *base++ = '\0';
        rc = base ? results_compare(r, system, base)
                  : err_set("--pair %s: expected SYSTEM=BASE", system);
        free(system);
    }
    /* The pairs that the file names, and NAME-GC against NAME. */
    if (!o.pair.n) results_compare_usual(r);
    if (rc == 0) results_print(r, o.tsv, stdout);
    results_free(r);
    return rc;
}

/* Options that what is asked for does not read. -1: none; else the status of wrong usage. */
static int check_others(void)
{
    const struct opt *const scoring[] = { rows_of_all, resampling_rows, squad2_rows };
    char asked[64];
    for (int i = 0; i < 3 && (o.compare || o.log); i++)
        if (prog_asked(scoring[i], asked))
            return prog_usage("--%s is not for %s", asked, o.compare ? "--compare" : "--log");
    if (!o.compare && (o.pair.n || o.tsv))
        return prog_usage("--%s is for --compare", o.pair.n ? "pair" : "tsv");
    if (!o.log && o.unigram) return prog_usage("--unigram is for --log");
    if (o.log && o.compare) return prog_usage("--log and --compare exclude each other");
    if (!o.na_prob && prog_asked_for("na-threshold"))
        return prog_usage("--na-threshold is of the probabilities of --na-prob FILE");
    return -1;
}

int main(int argc, char **argv)
{
    struct args args;
    int status = prog_start(&prog, groups, argc, argv, &args);
    if (status >= 0 || (status = check_others()) >= 0) return status;
    if (o.compare) {
        if (as_rows.row) return prog_usage("--row is not for --compare, which reads such rows");
        if (args.n > 1) return prog_usage("--compare reads one file of results, or standard input");
        return compare(args.n ? args.v[0] : "-") < 0 ? prog_fail() : prog_end();
    }
    if (o.log) {
        if (args.n) return prog_usage("--log reads one log, and nothing else");
        return print_log(o.log) < 0 ? prog_fail() : prog_end();
    }
    if (o.metric < 0) return prog_usage("--metric NAME is needed: " TASK_METRICS);
    if (!args.n) return prog_usage("a gold file is needed");
    if (args.n > LANGUAGES) return prog_usage("more than %d gold files", LANGUAGES);
    if (args.n > 1 && !o.pred.n)
        return prog_usage("with several gold files, give predictions as --pred LANG=FILE");
    if (o.pred.n > args.n || o.against.n > args.n)
        return prog_usage("--%s is given %d times, more often than gold files (%d)",
                          o.pred.n > args.n ? "pred" : "against",
                          o.pred.n > args.n ? o.pred.n : o.against.n, args.n);
    if (o.na_prob && (o.metric != TASK_SQUAD2 || args.n > 1))
        return prog_usage("--na-prob is for --metric squad2 and one gold file");
    if (as_rows.row && args.n > 1) return prog_usage("--row is for one gold file");
    if (result_rows_open(&results, &as_rows, NULL) < 0) return prog_usage("%s", err_msg());
    int rc = score_all(&args);
    if (rc == 0) rc = result_rows_write(results, stdout);
    result_rows_free(results);
    return rc < 0 ? prog_fail() : prog_end();
}
