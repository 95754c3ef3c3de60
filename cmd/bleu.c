/* bleu: scores translations against references, with sacreBLEU's numbers and output (or
 * multi-bleu.perl's). Reads hypotheses from standard input (or -i FILE...), references from files,
 * one sentence per line. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <unistd.h>
#include "common/err.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/prog.h"
#include "lib/score/corpus.h"
#include "lib/score/multibleu.h"
#include "lib/score/report.h"
#include "lib/score/resample.h"

static struct options {
    struct strs inputs;
    int num_refs, format, width, smooth, tokenizer, trials_ci, trials_bs, trials_ar, chrf_char,
        chrf_word, chrf_beta;
    const char *metrics, *output, *seed, *languages;
    double smooth_value;
    bool multi, replace, lowercase, force, sentence, score_only, brief, json, text, no_color,
        confidence, paired_bs, paired_ar;
    bool chrf_lowercase, chrf_whitespace, chrf_eps, ter_case, ter_asian, ter_no_punct,
        ter_normalized;
} o = { .num_refs = 1,
        .width = 1,
        .trials_ci = 1000,
        .trials_bs = 1000,
        .trials_ar = 10000,
        .chrf_char = 6,
        .chrf_beta = 2,
        .metrics = "bleu" };

static const struct opt rows[] = {
    { "input", 'i', OPT_LIST(options, inputs), "FILE",
      "hypotheses, one file per system; several files may follow one -i (default: standard "
      "input)" },
    { "num-refs", 0, OPT_INT(options, num_refs), "N",
      "number of references per line of the one reference file, separated by tabs", .min = 1,
      .max = 1000 },
    { "output", 'o', OPT_STR(options, output), "FILE",
      "write to FILE, which appears only when complete (default: standard output)" },
    { "metrics", 'm', OPT_STR(options, metrics), "NAMES",
      "metrics to compute: any of bleu, chrf and ter, separated by spaces or commas" },
    { "sentence-level", 0, OPT_FLAG(options, sentence), 0,
      "print one score per line; BLEU uses effective order" },
    { "multi", 0, OPT_FLAG(options, multi), 0,
      "print the line of Moses' multi-bleu.perl; a single REF may be the stem of REF0, REF1, ..." },
    { "replace-invalid", 0, OPT_FLAG(options, replace), 0,
      "replace bytes that are not UTF-8 by U+FFFD (default: they are an error)" },
    { 0 }
};
static const struct opt bleu_rows[] = {
    { "tokenize|tokenizer", 0, OPT_CHOICE(options, tokenizer), "13a|intl|zh|char|none",
      "BLEU's tokeniser" },
    { "language-pair", 'l', OPT_STR(options, languages), "SRC-TGT",
      "languages of the text; a target of zh makes zh the default tokeniser" },
    { "smooth-method", 's', OPT_CHOICE(options, smooth), "exp|floor|add-k|none",
      "smoothing of BLEU's n-gram orders without a match" },
    { "smooth-value", 0, OPT_REAL(options, smooth_value), "X",
      "value of --smooth-method floor (default: 0.1) or add-k (default: 1)", .min = 0, .max = 1e9 },
    { "lowercase", 0, OPT_FLAG(options, lowercase), 0, "lower-case the text for BLEU" },
    { "force", 0, OPT_FLAG(options, force), 0, "do not warn when the input looks tokenised" },
    { 0 }
};
static const struct opt chrf_rows[] = {
    { "chrf-char-order", 0, OPT_INT(options, chrf_char), "N",
      "length of the longest character n-grams", .min = 1, .max = 16 },
    { "chrf-word-order", 0, OPT_INT(options, chrf_word), "N",
      "length of the longest word n-grams; 2 is chrF++", .min = 0, .max = 16 },
    { "chrf-beta", 0, OPT_INT(options, chrf_beta), "N",
      "recall counts N^2 times as much as precision", .min = 1, .max = 1000 },
    { "chrf-lowercase", 0, OPT_FLAG(options, chrf_lowercase), 0, "lower-case the text for chrF" },
    { "chrf-whitespace", 0, OPT_FLAG(options, chrf_whitespace), 0, "count spaces as characters" },
    { "chrf-eps-smoothing", 0, OPT_FLAG(options, chrf_eps), 0,
      "smooth as chrF++.py does, instead of using effective order" },
    { 0 }
};
static const struct opt ter_rows[] = {
    { "ter-case-sensitive", 0, OPT_FLAG(options, ter_case), 0,
      "do not lower-case the text for TER" },
    { "ter-normalized", 0, OPT_FLAG(options, ter_normalized), 0,
      "tokenise the text as Tercom does" },
    { "ter-no-punct", 0, OPT_FLAG(options, ter_no_punct), 0,
      "remove punctuation before computing TER" },
    { "ter-asian-support", 0, OPT_FLAG(options, ter_asian), 0,
      "with --ter-normalized and --ter-no-punct: treat Chinese and Japanese too" },
    { 0 }
};
static const struct opt test_rows[] = {
    { "confidence", 0, OPT_FLAG(options, confidence), 0,
      "print the 95% confidence interval of one system, by bootstrap resampling" },
    { "confidence-n", 0, OPT_INT(options, trials_ci), "N",
      "number of resamples of --confidence", .min = 2, .max = 10000000 },
    { "paired-bs", 0, OPT_FLAG(options, paired_bs), 0,
      "test each system against the first by paired bootstrap resampling" },
    { "paired-bs-n", 0, OPT_INT(options, trials_bs), "N",
      "number of resamples of --paired-bs", .min = 1, .max = 10000000 },
    { "paired-ar", 0, OPT_FLAG(options, paired_ar), 0,
      "test each system against the first by paired approximate randomisation" },
    { "paired-ar-n", 0, OPT_INT(options, trials_ar), "N",
      "number of trials of --paired-ar", .min = 1, .max = 10000000 },
    { "seed", 0, OPT_STR(options, seed), "N",
      "seed of resampling; 'none' draws one (default: $SACREBLEU_SEED, else 12345)" },
    { 0 }
};
static const struct opt output_rows[] = {
    { "format", 'f', OPT_CHOICE(options, format), "json|text|latex",
      "output format; $SACREBLEU_FORMAT overrides it" },
    { "json", 0, OPT_FLAG(options, json), 0, "print JSON, whatever $SACREBLEU_FORMAT says" },
    { "text", 0, OPT_FLAG(options, text), 0, "print text, whatever $SACREBLEU_FORMAT says" },
    { "score-only", 'b', OPT_FLAG(options, score_only), 0, "print only the score" },
    { "width", 'w', OPT_INT(options, width), "N", "number of decimals", .min = 0, .max = 20 },
    { "short", 0, OPT_FLAG(options, brief), 0, "print a short signature" },
    { "no-color", 0, OPT_FLAG(options, no_color), 0, "print no colours, not even on a terminal" },
    { 0 }
};
static const struct opt_group groups[] = {
    { "Options", rows, &o },
    { "BLEU", bleu_rows, &o },
    { "chrF", chrf_rows, &o },
    { "TER", ter_rows, &o },
    { "Confidence and paired tests", test_rows, &o },
    { "Output", output_rows, &o },
    { 0 }
};

static const struct prog prog = {
    "bleu", "[options] REF... < hypotheses",
    "BLEU, chrF and TER as sacreBLEU " SACREBLEU_VERSION
    " computes and prints them; --multi for multi-bleu.perl's line.",
    "Examples:\n"
    "  bleu ref.de < hyp.de                             BLEU as JSON, with signature\n"
    "  bleu ref.de -f text -m bleu chrf ter < hyp.de    one line per metric\n"
    "  bleu -b -w 2 ref1.de ref2.de < hyp.de            only the score, two references\n"
    "  bleu ref.de --paired-bs -i base.de new.de        does new differ from base?\n"
    "  bleu --multi -lc ref.tok.de < hyp.tok.de         multi-bleu.perl\n"
};

/* sacreBLEU's short options of several letters, and its options that take several words: argv as
 * prog_start reads it, into out (2 argc + 1 entries). Strings made for it stand in made (argc
 * entries, NULL after the last), too; the caller frees them. Returns the number of arguments. */
static int peer_spelling(int argc, char **argv, char **out, char **made)
{
    static char input[] = "--input";
    static char *const spelt[][2] = {
        { "-lc", "--lowercase" },       { "-tok", "--tokenize" },  { "-sl", "--sentence-level" },
        { "-sv", "--smooth-value" },    { "-nr", "--num-refs" },   { "-cc", "--chrf-char-order" },
        { "-cw", "--chrf-word-order" }, { "-ci", "--confidence" }, { "-cin", "--confidence-n" },
        { "-par", "--paired-ar" },      { "-pbs", "--paired-bs" }, { "-parn", "--paired-ar-n" },
        { "-pbsn", "--paired-bs-n" },   { "-sh", "--short" },      { "-nc", "--no-color" }
    };
    int n = 0;
    for (int i = 0; i < argc; i++) {
        char *a = argv[i];
        if (i && !strcmp(a, "--")) { while (i < argc) out[n++] = argv[i++]; break; }
        for (size_t k = 0; k < sizeof spelt / sizeof *spelt; k++)
            if (i && !strcmp(a, spelt[k][0])) a = spelt[k][1];
        out[n++] = a;
        bool names = i && (!strcmp(a, "-m") || !strcmp(a, "--metrics"));
        bool files = i && (!strcmp(a, "-i") || !strcmp(a, "--input"));
        if (names && i + 1 < argc) {
            char *list = mem_dup(argv[++i]), *longer;
            while (i + 1 < argc
                   && (!strcmp(argv[i + 1], "bleu") || !strcmp(argv[i + 1], "chrf")
                       || !strcmp(argv[i + 1], "ter"))) {
                longer = mem_alloc(strlen(list) + strlen(argv[i + 1]) + 2);
                sprintf(longer, "%s,%s", list, argv[++i]);
                free(list);
                list = longer;
            }
            out[n++] = *made++ = list;
        }
        if (files && i + 1 < argc) {
            out[n++] = argv[++i];
            while (i + 1 < argc && (argv[i + 1][0] != '-' || !argv[i + 1][1])) {
                out[n++] = input;
                out[n++] = argv[++i];
            }
        }
    }
    return n;
}

/* --- the metrics requested -------------------------------------------------------------------- */

static struct metric metrics[METRIC_KINDS];          /* in the order requested */
static int n_metrics;
static struct report_options look;
static uint64_t seed;
static const char *seed_name;

static int choose_metrics(void)
{
    static const char *const name[] = { "bleu", "chrf", "ter" };
    const struct metric all = {
        .bleu = { (enum score_tok)o.tokenizer,
                  o.lowercase,
                  { (enum bleu_smooth)o.smooth, o.smooth_value, o.sentence } },
        .chrf = { o.chrf_char, o.chrf_word, o.chrf_beta, o.chrf_lowercase, o.chrf_whitespace,
                  o.chrf_eps },
        .ter = { o.ter_normalized, o.ter_no_punct, o.ter_asian, o.ter_case }
    };
    char *list = mem_dup(o.metrics), *rest = list, *word;
    while ((word = strsep(&rest, ", "))) {
        int k = 0, seen = 0;
        if (!*word) continue;
        while (k < METRIC_KINDS && strcmp(word, name[k])) k++;
        if (k == METRIC_KINDS) {
            int status = prog_usage("--metrics: unknown metric '%s'; give any of bleu, chrf, ter",
                                    word);
            free(list);
            return status;
        }
        for (int i = 0; i < n_metrics; i++) seen |= metrics[i].kind == (enum metric_kind)k;
        if (seen) continue;
        metrics[n_metrics] = all;
        metrics[n_metrics++].kind = (enum metric_kind)k;
    }
    free(list);
    return n_metrics ? -1 : prog_usage("--metrics: no metric named; give any of bleu, chrf, ter");
}

static int choose_seed(void)
{
    const char *from = o.seed ? "--seed" : "SACREBLEU_SEED",
               *s = o.seed ? o.seed : getenv("SACREBLEU_SEED");
    char *end;
    if (!s) s = "12345";
    if (!strcasecmp(s, "none")) {
        seed_name = "none";
        if (getrandom(&seed, sizeof seed, 0) != sizeof seed) seed = (uint64_t)getpid();
        return -1;
    }
    errno = 0;
    seed = strtoull(s, &end, 10);
    if (*s < '0' || *s > '9' || *end || errno)
        return prog_usage("%s: '%s' is not a seed; give 0 to 2^64 - 1, or none", from, s);
    seed_name = s;
    return -1;
}

static void choose_look(void)
{
    const char *format = getenv("SACREBLEU_FORMAT"), *colour = getenv("NO_COLOR");
    look = (struct report_options){ (enum report_format)o.format, o.width, o.score_only,
        !o.no_color && !(colour && *colour) && !o.output && isatty(STDOUT_FILENO) };
    if (format && !strcasecmp(format, "json")) look.format = REPORT_JSON;
    if (format && !strcasecmp(format, "text")) look.format = REPORT_TEXT;
    if (format && !strcasecmp(format, "latex")) look.format = REPORT_LATEX;
    if (o.json) look.format = REPORT_JSON;
    if (o.text) look.format = REPORT_TEXT;
}

static int check_usage(const struct args *a)
{
    if (!a->n) return prog_usage("no reference; give one file or more: bleu REF... < hypotheses");
    if (o.num_refs > 1 && a->n > 1)
        return prog_usage("--num-refs takes a single reference file, not %d", a->n);
    if (o.paired_bs && o.paired_ar)
        return prog_usage("--paired-bs and --paired-ar exclude each other");
    if (o.sentence && (o.confidence || o.paired_bs || o.paired_ar))
        return prog_usage("--sentence-level cannot be combined with statistical tests");
    if (o.multi
        && (o.sentence || o.confidence || o.paired_bs || o.paired_ar || o.inputs.n > 1
            || o.num_refs > 1 || prog_given("metrics") || prog_given("tokenize")
            || prog_given("smooth-method")))
        return prog_usage(
            "--multi takes only -lc, one -i FILE and references, as multi-bleu.perl does");
    const char *target = o.languages ? strchr(o.languages, '-') : NULL;
    if (o.languages && (!target || !target[1]))
        return prog_usage("--language-pair: '%s' is not SRC-TGT", o.languages);
    if (target && !strcmp(target, "-zh")) {
        if (!prog_given("tokenize")) o.tokenizer = SCORE_TOK_ZH;
        else if (o.tokenizer != SCORE_TOK_ZH)
            msg_warn("the tokeniser for Chinese is zh; scores with another are hard to compare");
    }
    if (target && (!strcmp(target, "-ja") || !strcmp(target, "-ko")) && !prog_given("tokenize"))
        return prog_usage("sacreBLEU's tokeniser for this target, MeCab, is not supported; choose "
                          "one with --tokenize, e.g. char");
    if (!prog_given("smooth-value")) o.smooth_value = o.smooth == BLEU_SMOOTH_FLOOR ? 0.1 : 1;
    int status = choose_metrics();
    if (status < 0) status = choose_seed();
    if (status < 0 && o.sentence && n_metrics > 1)
        status = prog_usage("--sentence-level takes one metric, not %d", n_metrics);
    choose_look();
    return status;
}

/* --- scoring ---------------------------------------------------------------------------------- */

static void warn_tokenised(const struct score_corpus *c)
{
    bool bleu = false;
    for (int k = 0; k < n_metrics; k++) bleu |= metrics[k].kind == METRIC_BLEU;
    if (!bleu || o.force) return;
    for (int s = 0; s < c->n_systems; s++) {
        size_t lines = score_corpus_tokenised(&c->system[s]);
        if (lines >= 100)
            msg_warn("%s: %zu lines end in ' .', so this text looks tokenised, and BLEU tokenises "
                     "again; "
                     "score detokenised text, or pass --force",
                     c->name[s], lines);
    }
}

static double *segments(const struct metric *m, const struct score_corpus *c, int system)
{
    double *stats = mem_alloc(c->system[system].n * (size_t)metric_stats(m) * sizeof *stats);
    if (metric_segments(m, &c->system[system], c->ref, c->n_refs, stats) == 0) return stats;
    free(stats);
    return NULL;
}

static struct report_score scored(const struct metric *m, const double *sum,
                                  const struct signature *sign, bool brief)
{
    struct report_score r = { .score = metric_score(m, sum), .single = metric_is_f32(m) };
    metric_name(m, r.name);
    metric_verbose(m, sum, r.verbose);
    metric_signature(m, sign, brief, r.signature);
    return r;
}

static int by_kind(const void *a, const void *b)
{
    return (int)((const struct metric *)a)->kind - (int)((const struct metric *)b)->kind;
}

static int score_sentences(FILE *to, const struct score_corpus *c)
{
    const struct metric *m = &metrics[0];
    struct signature sign = { .n_refs = c->n_refs };
    double *stats = segments(m, c, 0);
    if (!stats) return -1;
    for (size_t i = 0; i < c->system[0].n; i++) {
        struct report_score r = scored(m, stats + i * (size_t)metric_stats(m), &sign, o.brief);
        report_sentence(to, &r, &look);
    }
    free(stats);
    return 0;
}

static int score_one(FILE *to, const struct score_corpus *c)
{
    struct report_score r[METRIC_KINDS];
    struct signature sign = { .n_refs = c->n_refs };
    size_t n = c->system[0].n;
    int status = 0;
    if (o.confidence) { sign.bs = o.trials_ci; sign.seed = seed_name; }
    qsort(metrics, (size_t)n_metrics, sizeof *metrics, by_kind);
    for (int k = 0; k < n_metrics && status == 0; k++) {
        double sum[METRIC_STATS_MAX];
        if (!o.confidence) {
            if (metric_total(&metrics[k], &c->system[0], c->ref, c->n_refs, sum) < 0) return -1;
            r[k] = scored(&metrics[k], sum, &sign, o.brief && look.format != REPORT_JSON);
            continue;
        }
        double *stats = segments(&metrics[k], c, 0),
               *scores = mem_alloc((size_t)o.trials_ci * sizeof *scores);
        if (!stats) { free(scores); return -1; }
        metric_sum(&metrics[k], stats, n, sum);
        r[k] = scored(&metrics[k], sum, &sign, o.brief && look.format != REPORT_JSON);
        status = resample_bootstrap(&metrics[k], stats, n, seed, o.trials_ci, scores);
        if (status == 0) {
            struct interval ci = resample_interval(&metrics[k], scores, o.trials_ci);
            r[k].has_interval = true; r[k].mean = ci.mean; r[k].ci = ci.ci;
        }
        free(stats); free(scores);
    }
    if (status == 0) report_single(to, r, n_metrics, &look);
    return status;
}

/* All systems by one metric, into r[0], r[n_metrics], r[2 n_metrics], ... The first system is the
 * baseline. */
static int score_column(const struct metric *m, const struct score_corpus *c,
                        const struct signature *sign, struct report_score *r)
{
    size_t n = c->system[0].n, trials = (size_t)o.trials_bs;
    double *baseline = NULL, *baseline_scores = mem_alloc(trials * sizeof *baseline_scores);
    double *scores = mem_alloc(trials * sizeof *scores);
    int status = 0;
    for (int s = 0; s < c->n_systems && status == 0; s++) {
        struct report_score *x = &r[s * n_metrics];
        double sum[METRIC_STATS_MAX], *stats = segments(m, c, s);
        if (!stats) { status = -1; break; }
        metric_sum(m, stats, n, sum);
        *x = scored(m, sum, sign, o.brief);
        double gap = x->score > r->score ? x->score - r->score : r->score - x->score;
        if (o.paired_bs) {
            status = resample_bootstrap(m, stats, n, seed, o.trials_bs, scores);
            if (s == 0) memcpy(baseline_scores, scores, trials * sizeof *scores);
            else {
                x->has_p = true;
                x->p = resample_p(m, baseline_scores, scores, o.trials_bs, gap);
            }
            struct interval ci = resample_interval_paired(m, scores, o.trials_bs);
            x->has_interval = true; x->mean = ci.mean; x->ci = ci.ci;
        } else if (o.paired_ar && s) {
            x->has_p = true;
            status = resample_ar(m, baseline, stats, n, seed, o.trials_ar, gap, &x->p);
        }
        if (s == 0) baseline = stats; else free(stats);
    }
    free(baseline); free(baseline_scores); free(scores);
    return status;
}

static int score_systems(FILE *to, struct score_corpus *c)
{
    bool test = o.paired_bs || o.paired_ar;
    struct signature sign = { .n_refs = c->n_refs,
                              .bs = o.paired_bs ? o.trials_bs : 0,
                              .ar = o.paired_ar ? o.trials_ar : 0,
                              .seed = test ? seed_name : NULL };
    struct report_score *r = mem_zero((size_t)c->n_systems * (size_t)n_metrics, sizeof *r);
    struct report_test t = { o.paired_bs, o.paired_bs ? o.trials_bs : o.trials_ar };
    int status = 0;
    if (!test) qsort(metrics, (size_t)n_metrics, sizeof *metrics, by_kind);
    for (int k = 0; k < n_metrics && status == 0; k++)
        status = score_column(&metrics[k], c, &sign, r + k);
    if (test) corpus_name_baseline(c, o.inputs.n > 0);
    if (status == 0)
        report_systems(to, c->name, c->n_systems, r, n_metrics, &look, test ? &t : NULL);
    free(r);
    return status;
}

static int score(const struct args *a, FILE *to)
{
    struct score_corpus c = { .replace_invalid = o.replace };
    bool test = o.paired_bs || o.paired_ar;
    int status = corpus_read_refs(&c, a->v, a->n, o.num_refs);
    if (status == 0)
        status = o.inputs.n ? corpus_read_systems(&c, o.inputs.v, o.inputs.n, test)
                            : corpus_read_stdin(&c);
    if (status == 0) status = score_corpus_check(&c);
    if (status == 0 && o.sentence && c.n_systems > 1)
        status = err_set("--sentence-level takes one system, not %d", c.n_systems);
    if (status == 0 && o.confidence && c.n_systems > 1)
        status = err_set("--confidence takes one system, not %d; compare several with --paired-bs",
                         c.n_systems);
    if (status == 0 && test && c.n_systems == 1)
        status = err_set("a paired test needs two systems or more; name them after -i");
    if (status == 0) {
        if (!o.sentence) warn_tokenised(&c);
        status = o.sentence         ? score_sentences(to, &c)
                 : c.n_systems == 1 ? score_one(to, &c)
                                    : score_systems(to, &c);
    }
    score_corpus_free(&c);
    return status;
}

static int multi(const struct args *a, FILE *to)
{
    struct lines hyp = { 0 }, *ref = NULL;
    struct bleu_stats sum = { 0 };
    char line[200];
    int n = 0, status = multibleu_read(a->v, a->n, o.inputs.n ? o.inputs.v[0] : NULL, o.lowercase,
                                       &hyp, &ref, &n);
    if (status == 0) status = multibleu_segments(&hyp, ref, n, &sum);
    if (status == 0) {
        multibleu_line(&sum, line);
        fprintf(to, "%s\n", line);
        if (hyp.n == 0)
            status = err_set("%s: no lines to score; is it empty?",
                             o.inputs.n ? o.inputs.v[0] : "standard input");
        else if (sum.ref_len == 0)
            status = err_set(
                "%s: the references are empty, so there is nothing to score; check their files",
                a->v[0]);
        for (int r = 0; r < n && status == 0; r++)
            if (ref[r].n > hyp.n)
                msg_warn("a reference has %zu lines but there are only %zu hypotheses; its other "
                         "lines are ignored",
                         ref[r].n, hyp.n);
    }
    lines_free(&hyp);
    for (int r = 0; r < n; r++) lines_free(&ref[r]);
    free(ref);
    return status;
}

static int run(int argc, char **argv)
{
    struct args args;
    int status = prog_start(&prog, groups, argc, argv, &args);
    if (status < 0) status = check_usage(&args);
    if (status >= 0) return status;
    struct out *out = out_open(o.output);
    if (!out) return prog_fail();
    status = o.multi ? multi(&args, out_stdio(out)) : score(&args, out_stdio(out));
    if (status < 0 && !(o.multi && !o.output)) { out_abort(out); return prog_fail(); }
    if (out_commit(out) < 0) return prog_fail();
    return status < 0 ? prog_fail() : prog_end();
}

int main(int argc, char **argv)
{
    char **spelt = mem_zero((size_t)(2 * argc + 2), sizeof *spelt);
    char **made = mem_zero((size_t)(argc + 1), sizeof *made);
    int status = run(peer_spelling(argc, argv, spelt, made), spelt);
    for (char **list = made; *list; list++) free(*list);
    free(made);
    free(spelt);
    return status;
}
