#include "lib/sacrebleu/scoring.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <unistd.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/prog/prog.h"
#include "lib/sacrebleu/resample.h"

const struct scoring scoring_defaults = { .as.chrf = { .char_order = 6, .beta = 2 },
                                          .metrics = "bleu",
                                          .trials_ci = 1000,
                                          .trials_bs = 1000,
                                          .trials_ar = 10000,
                                          .look.width = 1 };

const struct opt scoring_rows[] = {
    { "metrics", 'm', OPT_STR(scoring, metrics), "NAMES",
      "metrics to compute: any of bleu, chrf and ter, separated by spaces or commas" },
    { "sentence-level", 0, OPT_FLAG(scoring, sentence), 0,
      "print one score per line; BLEU uses effective order" },
    { 0 }
};
const struct opt scoring_bleu_rows[] = {
    { "tokenize|tokenizer", 0, OPT_CHOICE(scoring, as.bleu.tokenizer),
      "13a|intl|zh|char|none|spm|flores101|flores200|spBLEU-1K|ja-mecab|ko-mecab",
      "BLEU's tokeniser; spm to spBLEU-1K need SentencePiece's model in $CORPUS_CACHE/models or "
      "~/.sacrebleu/models, the last two MeCab and its dictionary" },
    { "language-pair", 'l', OPT_STR(scoring, languages), "SRC-TGT",
      "languages of the text; a target of zh, ja or ko makes zh, ja-mecab or ko-mecab the default "
      "tokeniser" },
    { "smooth-method", 's', OPT_CHOICE(scoring, as.bleu.score.smooth), "exp|floor|add-k|none",
      "smoothing of BLEU's n-gram orders without a match" },
    { "smooth-value", 0, OPT_REAL(scoring, as.bleu.score.smooth_value), "X",
      "value of --smooth-method floor (default: 0.1) or add-k (default: 1)", .min = 0, .max = 1e9 },
    { "lowercase", 0, OPT_FLAG(scoring, as.bleu.lowercase), 0, "lower-case the text for BLEU" },
    { "force", 0, OPT_FLAG(scoring, force), 0, "do not warn when the input looks tokenised" },
    { 0 }
};
const struct opt scoring_chrf_rows[] = {
    { "chrf-char-order", 0, OPT_INT(scoring, as.chrf.char_order), "N",
      "length of the longest character n-grams", .min = 1, .max = 16 },
    { "chrf-word-order", 0, OPT_INT(scoring, as.chrf.word_order), "N",
      "length of the longest word n-grams; 2 is chrF++", .min = 0, .max = 16 },
    { "chrf-beta", 0, OPT_INT(scoring, as.chrf.beta), "N",
      "recall counts N^2 times as much as precision", .min = 1, .max = 1000 },
    { "chrf-lowercase", 0, OPT_FLAG(scoring, as.chrf.lowercase), 0,
      "lower-case the text for chrF" },
    { "chrf-whitespace", 0, OPT_FLAG(scoring, as.chrf.whitespace), 0,
      "count spaces as characters" },
    { "chrf-eps-smoothing", 0, OPT_FLAG(scoring, as.chrf.eps_smoothing), 0,
      "smooth as chrF++.py does, instead of using effective order" },
    { 0 }
};
const struct opt scoring_ter_rows[] = {
    { "ter-case-sensitive", 0, OPT_FLAG(scoring, as.ter.case_sensitive), 0,
      "do not lower-case the text for TER" },
    { "ter-normalized", 0, OPT_FLAG(scoring, as.ter.normalized), 0,
      "tokenise the text as Tercom does" },
    { "ter-no-punct", 0, OPT_FLAG(scoring, as.ter.no_punct), 0,
      "remove punctuation before computing TER" },
    { "ter-asian-support", 0, OPT_FLAG(scoring, as.ter.asian_support), 0,
      "with --ter-normalized and --ter-no-punct: treat Chinese and Japanese too" },
    { 0 }
};
const struct opt scoring_test_rows[] = {
    { "confidence", 0, OPT_FLAG(scoring, confidence), 0,
      "print the 95% confidence interval of one system, by bootstrap resampling" },
    { "confidence-n", 0, OPT_INT(scoring, trials_ci), "N",
      "number of resamples of --confidence", .min = 2, .max = 10000000 },
    { "paired-bs", 0, OPT_FLAG(scoring, paired_bs), 0,
      "test each system against the first by paired bootstrap resampling" },
    { "paired-bs-n", 0, OPT_INT(scoring, trials_bs), "N",
      "number of resamples of --paired-bs", .min = 1, .max = 10000000 },
    { "paired-ar", 0, OPT_FLAG(scoring, paired_ar), 0,
      "test each system against the first by paired approximate randomisation" },
    { "paired-ar-n", 0, OPT_INT(scoring, trials_ar), "N",
      "number of trials of --paired-ar", .min = 1, .max = 10000000 },
    { "seed", 0, OPT_STR(scoring, seed), "N",
      "seed of resampling; 'none' draws one (default: $SACREBLEU_SEED, else 12345)" },
    { 0 }
};
const struct opt scoring_output_rows[] = {
    { "format", 'f', OPT_CHOICE(scoring, look.format), "json|text|latex",
      "output format; $SACREBLEU_FORMAT overrides it" },
    { "score-only", 'b', OPT_FLAG(scoring, look.score_only), 0, "print only the score" },
    { "width", 'w', OPT_INT(scoring, look.width), "N", "number of decimals", .min = 0, .max = 20 },
    { "short", 0, OPT_FLAG(scoring, brief), 0, "print a short signature" },
    { "no-color", 0, OPT_REFUSED, 0, "there is no such option; set NO_COLOR=1" },
    { 0 }
};

/* --- what is asked for ------------------------------------------------------------------------ */

static int choose_metrics(struct scoring *s)
{
    static const char *const name[] = { "bleu", "chrf", "ter" };
    char *list = mem_dup(s->metrics), *rest = list, *word;
    int rc = 0;
    while (rc == 0 && (word = strsep(&rest, ", "))) {
        int k = 0, seen = 0;
        if (!*word) continue;
        while (k < METRIC_KINDS && strcmp(word, name[k])) k++;
        if (k == METRIC_KINDS) {
            rc = err_set("--metrics: unknown metric '%s'; give any of bleu, chrf, ter", word);
            break;
        }
        for (int i = 0; i < s->n; i++) seen |= s->metric[i].kind == (enum metric_kind)k;
        /* a metric named twice is one */
        if (seen) continue;
        s->metric[s->n] = s->as;
        s->metric[s->n++].kind = (enum metric_kind)k;
    }
    free(list);
    if (rc < 0 || s->n) return rc;
    return err_set("--metrics: no metric named; give any of bleu, chrf, ter");
}

static int choose_seed(struct scoring *s)
{
    const char *from = s->seed ? "--seed" : "SACREBLEU_SEED", *v = s->seed ? s->seed : getenv(from);
    char *end;
    if (!v) v = "12345";
    if (!strcasecmp(v, "none")) {
        s->seed_name = "none";
        /* never without a number, even in a sandbox: such a run is not repeated anyway */
        if (getrandom(&s->seed_number, sizeof s->seed_number, 0) != sizeof s->seed_number)
            s->seed_number = (uint64_t)getpid();
        return 0;
    }
    errno = 0;
    s->seed_number = strtoull(v, &end, 10);
    if (*v < '0' || *v > '9' || *end || errno)
        return err_set("%s: '%s' is not a seed; give 0 to 2^64 - 1, or none", from, v);
    s->seed_name = v;
    return 0;
}

static int choose_tokenizer(struct scoring *s)
{
    const char *target = s->languages ? strchr(s->languages, '-') : NULL;
    bool given = prog_given("tokenize");
    if (!s->languages) return 0;
    if (!target || !target[1])
        return err_set("--language-pair: '%s' is not SRC-TGT", s->languages);
    static const struct {
        const char *target, *language, *name;
        enum score_tok tokenizer;
    } own[] = {
        { "-zh", "Chinese", "zh", SCORE_TOK_ZH },
        { "-ja", "Japanese", "ja-mecab", SCORE_TOK_JA_MECAB },
        { "-ko", "Korean", "ko-mecab", SCORE_TOK_KO_MECAB },
    };
    for (int k = 0; k < 3; k++) {
        if (strcmp(target, own[k].target)) continue;
        /* compared with the whole target: "-zh" and not "-zho" */
        if (!given) s->as.bleu.tokenizer = own[k].tokenizer;
        else if (s->as.bleu.tokenizer != own[k].tokenizer)
            msg_warn("the tokeniser for %s is %s; scores with another are hard to compare",
                     own[k].language, own[k].name);
    }
    return 0;
}

int scoring_open(struct scoring *s)
{
    for (int k = 0; k < s->n; k++) {
        struct metric *m = &s->metric[k];
        /* chrF and TER split text by rules of their own */
        if (m->kind != METRIC_BLEU || !score_tok_trained(m->bleu.tokenizer)) continue;
        m->bleu.segmenter = s->segmenter = segmenter_open(m->bleu.tokenizer);
        if (!s->segmenter) return -1;
    }
    return 0;
}

void scoring_close(struct scoring *s)
{
    segmenter_free(s->segmenter);
    s->segmenter = NULL;
}

bool scoring_paired(const struct scoring *s) { return s->paired_bs || s->paired_ar; }

int scoring_check(struct scoring *s)
{
    const char *format = getenv("SACREBLEU_FORMAT");
    struct bleu_options *b = &s->as.bleu.score;
    if (s->paired_bs && s->paired_ar)
        return err_set("--paired-bs and --paired-ar exclude each other");
    if (s->sentence && (s->confidence || scoring_paired(s)))
        return err_set("--sentence-level cannot be combined with statistical tests");
    if (choose_tokenizer(s) < 0) return -1;
    /* sacreBLEU's defaults; the value of the other methods is not used */
    if (!prog_given("smooth-value")) b->smooth_value = b->smooth == BLEU_SMOOTH_FLOOR ? 0.1 : 1;
    /* a sentence shorter than 4 tokens would score 0 otherwise */
    b->effective_order = s->sentence;
    if (choose_metrics(s) < 0 || choose_seed(s) < 0) return -1;
    if (s->sentence && s->n > 1)
        return err_set("--sentence-level takes one metric, not %d", s->n);
    /* the variable wins over --format in sacreBLEU, too; other values of it are passed over */
    if (format && !strcasecmp(format, "json")) s->look.format = REPORT_JSON;
    if (format && !strcasecmp(format, "text")) s->look.format = REPORT_TEXT;
    if (format && !strcasecmp(format, "latex")) s->look.format = REPORT_LATEX;
    return 0;
}

/* --- scores ----------------------------------------------------------------------------------- */

/* Options that change nothing. No error: sacreBLEU passes over them, and scripts give all metrics
 * the same ones; but who asks for lower case should know that chrF's is another option. */
static void warn_unused(const struct scoring *s)
{
    static const struct opt *const rows_of[METRIC_KINDS] = {
        [METRIC_CHRF] = scoring_chrf_rows, [METRIC_TER] = scoring_ter_rows
    };
    static const char *const name[METRIC_KINDS] = { "bleu", "chrf", "ter" },
                      *const of_bleu[] = { "tokenize", "smooth-method", "smooth-value",
                                           "lowercase" };
    bool is_there[METRIC_KINDS] = { false };
    char asked[64];
    for (int k = 0; k < s->n; k++) is_there[s->metric[k].kind] = true;
    for (int k = 0; k < METRIC_KINDS; k++) {
        if (is_there[k]) continue;
        if (rows_of[k] && prog_asked(rows_of[k], asked))
            msg_warn("--%s changes nothing: --metrics does not name %s", asked, name[k]);
        for (int i = 0; k == METRIC_BLEU && i < 4; i++)
            if (prog_asked_for(of_bleu[i]))
                msg_warn("--%s changes nothing: --metrics does not name bleu", of_bleu[i]);
    }
    enum bleu_smooth how = s->as.bleu.score.smooth;
    if (is_there[METRIC_BLEU] && how != BLEU_SMOOTH_FLOOR && how != BLEU_SMOOTH_ADD_K
        && prog_asked_for("smooth-value"))
        msg_warn("--smooth-value changes nothing: it is of --smooth-method floor and add-k");
    const struct { const char *option, *of; bool used; } test[] = {
        { "confidence-n", "--confidence", s->confidence },
        { "paired-bs-n", "--paired-bs", s->paired_bs },
        { "paired-ar-n", "--paired-ar", s->paired_ar },
        { "seed", "--confidence, --paired-bs and --paired-ar",
          s->confidence || scoring_paired(s) },
    };
    for (size_t i = 0; i < sizeof test / sizeof *test; i++)
        if (!test[i].used && prog_asked_for(test[i].option))
            msg_warn("--%s changes nothing: it is of %s", test[i].option, test[i].of);
}

static void warn_tokenised(const struct scoring *s, const struct score_corpus *c)
{
    bool bleu = false;
    for (int k = 0; k < s->n; k++) bleu |= s->metric[k].kind == METRIC_BLEU;
    if (!bleu || s->force) return;
    for (int i = 0; i < c->n_systems; i++) {
        size_t lines = score_corpus_tokenised(&c->system[i]);
        /* sacreBLEU's own test for tokenised text */
        if (lines >= 100)
            msg_warn("%s: %zu lines end in ' .', so this text looks tokenised, and BLEU tokenises "
                     "again; score detokenised text, or pass --force",
                     c->name[i], lines);
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

static int print_sentences(const struct scoring *s, const struct score_corpus *c, FILE *to)
{
    const struct metric *m = &s->metric[0];
    struct signature sign = { .n_refs = c->n_refs };
    double *stats = segments(m, c, 0);
    if (!stats) return -1;
    for (size_t i = 0; i < c->system[0].n; i++) {
        struct report_score r = scored(m, stats + i * (size_t)metric_stats(m), &sign, s->brief);
        report_sentence(to, &r, &s->look);
    }
    free(stats);
    return 0;
}

/* The interval of r's score, and the score itself. */
static int with_interval(const struct scoring *s, const struct metric *m,
                         const struct score_corpus *c, double *sum, struct interval *ci)
{
    size_t n = c->system[0].n;
    double *stats = segments(m, c, 0);
    if (!stats) return -1;
    double *scores = mem_alloc((size_t)s->trials_ci * sizeof *scores);
    metric_sum(m, stats, n, sum);
    int rc = resample_bootstrap(m, stats, n, s->seed_number, s->trials_ci, scores);
    if (rc == 0) *ci = resample_interval(m, scores, s->trials_ci);
    free(stats);
    free(scores);
    return rc;
}

static int print_one(struct scoring *s, const struct score_corpus *c, FILE *to)
{
    struct report_score r[METRIC_KINDS];
    struct signature sign = { .n_refs = c->n_refs };
    /* JSON's keys are the long signature's, whatever --short says */
    bool brief = s->brief && s->look.format != REPORT_JSON;
    if (s->confidence) { sign.bs = s->trials_ci; sign.seed = s->seed_name; }
    /* sacreBLEU prints BLEU, chrF, TER, in whatever order they were asked for */
    qsort(s->metric, (size_t)s->n, sizeof *s->metric, by_kind);
    for (int k = 0; k < s->n; k++) {
        const struct metric *m = &s->metric[k];
        struct interval ci = { 0 };
        double sum[METRIC_STATS_MAX];
        if ((s->confidence ? with_interval(s, m, c, sum, &ci)
                           : metric_total(m, &c->system[0], c->ref, c->n_refs, sum)) < 0)
            return -1;
        r[k] = scored(m, sum, &sign, brief);
        r[k].has_interval = s->confidence; r[k].mean = ci.mean; r[k].ci = ci.ci;
        result_rows_add(s->rows, r[k].name, -1, "%.*f", s->look.width, r[k].score);
        /* as in the line: no interval of zeros */
        if (s->confidence && ci.mean > 0)
            result_rows_half(s->rows, "%.*f", s->look.width, ci.ci);
    }
    if (result_rows_instead(s->rows)) return 0;
    report_single(to, r, s->n, &s->look);
    return 0;
}

/* All systems by one metric, into r[0], r[s->n], r[2 s->n], ... The first system is the baseline.
 */
static int score_column(const struct scoring *s, const struct metric *m,
                        const struct score_corpus *c, const struct signature *sign,
                        struct report_score *r)
{
    size_t n = c->system[0].n, trials = (size_t)s->trials_bs;
    double *baseline = NULL, *baseline_scores = mem_alloc(trials * sizeof *baseline_scores);
    double *scores = mem_alloc(trials * sizeof *scores);
    int rc = 0;
    for (int i = 0; i < c->n_systems && rc == 0; i++) {
        struct report_score *x = &r[i * s->n];
        double sum[METRIC_STATS_MAX], *stats = segments(m, c, i);
        if (!stats) { rc = -1; break; }
        metric_sum(m, stats, n, sum);
        *x = scored(m, sum, sign, s->brief);
        /* r is the baseline's score here, since its row comes first */
        double gap = x->score > r->score ? x->score - r->score : r->score - x->score;
        if (s->paired_bs) {
            /* the same seed for each system: the same resamples, which is what pairs them */
            rc = resample_bootstrap(m, stats, n, s->seed_number, s->trials_bs, scores);
            if (i == 0) memcpy(baseline_scores, scores, trials * sizeof *scores);
            else {
                x->has_p = true;
                x->p = resample_p(m, baseline_scores, scores, s->trials_bs, gap);
            }
            struct interval ci = resample_interval_paired(m, scores, s->trials_bs);
            x->has_interval = true; x->mean = ci.mean; x->ci = ci.ci;
        } else if (s->paired_ar && i) {
            x->has_p = true;
            rc = resample_ar(m, baseline, stats, n, s->seed_number, s->trials_ar, gap, &x->p);
        }
        if (i == 0) baseline = stats; else free(stats);
    }
    free(baseline); free(baseline_scores); free(scores);
    return rc;
}

static int print_systems(struct scoring *s, struct score_corpus *c, FILE *to)
{
    bool test = scoring_paired(s);
    struct signature sign = { .n_refs = c->n_refs,
                              .bs = s->paired_bs ? s->trials_bs : 0,
                              .ar = s->paired_ar ? s->trials_ar : 0,
                              .seed = test ? s->seed_name : NULL };
    struct report_score *r = mem_zero((size_t)c->n_systems * (size_t)s->n, sizeof *r);
    /* for the lines below the table that say how the p-values came about */
    struct report_test t = { s->paired_bs, s->paired_bs ? s->trials_bs : s->trials_ar };
    int rc = 0;
    /* sacreBLEU keeps the order of a test's metrics, and sorts those of plain scores */
    if (!test) qsort(s->metric, (size_t)s->n, sizeof *s->metric, by_kind);
    for (int k = 0; k < s->n && rc == 0; k++)
        rc = score_column(s, &s->metric[k], c, &sign, r + k);
    /* after scoring, whose messages have the files' names */
    if (test) corpus_name_baseline(c);
    if (rc == 0)
        report_systems(to, c->name, c->n_systems, r, s->n, &s->look, test ? &t : NULL);
    free(r);
    return rc;
}

int scoring_print(struct scoring *s, struct score_corpus *c, FILE *to)
{
    if (s->sentence && c->n_systems > 1)
        return err_set("--sentence-level takes one system, not %d", c->n_systems);
    if (s->confidence && c->n_systems > 1)
        return err_set("--confidence takes one system, not %d; compare several with --paired-bs",
                       c->n_systems);
    if (scoring_paired(s) && c->n_systems == 1)
        return err_set("a paired test needs two systems or more; name them after -i");
    warn_unused(s);
    if (s->sentence) return print_sentences(s, c, to);
    warn_tokenised(s, c);
    return c->n_systems == 1 ? print_one(s, c, to) : print_systems(s, c, to);
}
