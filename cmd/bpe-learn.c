/* Learns byte-pair-encoding merge operations from tokenised text. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/files/sum.h"
#include "common/mem.h"
#include "common/prog/prog.h"
#include "common/prog/progress.h"
#include "common/text/text.h"
#include "common/thread.h"
#include "lib/bpe/learn.h"

static struct options {
    const char *out, *input;
    int64_t merges, min_frequency;
    double alpha;
    struct strs sentences;
    int format, workers;
    bool dict, total, replace;
} o = { .merges = 10000, .min_frequency = 2, .alpha = 1 };

static const struct opt rows[] = {
    { "merges", 'n', OPT_I64(options, merges), "N",
      "number of merge operations to learn (default: 10000)", .min = 1, .max = 16777214 },
    { "symbols", 's', OPT_I64(options, merges), "N",
      "same as --merges, in subword-nmt's spelling", .min = 1, .max = 16777214 },
    { "alpha", 0, OPT_REAL(options, alpha), "A",
      "weigh languages by (share of sentences)^A, as XLM samples them (0.5 there); every input "
      "must be LANG=FILE", .min = 0, .max = 1 },
    { "format", 0, OPT_CHOICE(options, format), "fastbpe|subword-nmt",
      "write \"left right count\" lines, or subword-nmt's format (default: fastbpe)" },
    { "min-frequency", 0, OPT_I64(options, min_frequency), "N",
      "stop when no pair occurs N times (default: 2)", .min = 1, .max = 1e15 },
    { "total-symbols", 't', OPT_FLAG(options, total), NULL,
      "count the characters among the N symbols" },
    { "dict-input", 0, OPT_FLAG(options, dict), NULL,
      "inputs are \"word count\" lines (vocab-count's output) instead of text" },
    { "sentences", 0, OPT_LIST(options, sentences), "LANG=N",
      "with --dict-input and --alpha: LANG's counts are those of N sentences; given once per "
      "language" },
    { "input", 'i', OPT_STR(options, input), "FILE",
      "read this file (default: the arguments, or standard input)" },
    { "output", 'o', OPT_STR(options, out), "FILE",
      "write to FILE, which appears only when complete (default: standard output)" },
    { "num-workers", 0, OPT_INT(options, workers), "N",
      "same as --threads, in subword-nmt's spelling; -1: all processors", .min = -1, .max = 4096 },
    { "replace-invalid", 0, OPT_FLAG(options, replace), NULL,
      "replace bytes that are not UTF-8 by U+FFFD (default: they are an error)" },
    { 0 }
};
static const struct opt_group groups[] = { { "Options", rows, &o }, { 0 } };

static const struct prog prog = {
    "bpe-learn", "-n N [options] [LANG=]FILE... > codes",
    "Learns merge operations: the most frequent pair first, ties to the larger pair\n"
    "(subword-nmt's order).",
    "Examples:\n"
    "  bpe-learn -n 60000 --alpha 0.5 en=en.tok de=de.tok sw=sw.tok > codes\n"
    "  bpe-learn -s 10000 --format subword-nmt < text > codes"
};

struct language { char name[32]; struct word_counts *words; uint64_t sentences; };

static int read_input(struct language *l, const char *path)
{
    int flags = (o.replace ? TEXT_UTF8 | TEXT_REPLACE : 0) | (o.dict ? TEXT_UTF8 | TEXT_SUM : 0);
    struct text *in = text_open(path, flags);
    if (!in) return -1;
    /* as subword-nmt reads text */
    int rc = o.dict ? words_read_counts(l->words, in, WORDS_STRIP_CR)
                    : word_counts_read(l->words, in, WORDS_STRIP_CR);
    /* Counts have no sentences: --sentences says them. */
    if (!o.dict) l->sentences += text_lines(in);
    text_close(in);
    return rc;
}

/* Weights are integers with 16 bits of fraction: counts stay exact, whatever the order of
 * additions. */
enum { UNIT_SHIFT = 16 };

/* The N of --sentences LANG=N, or -1. */
static int64_t number_given(const char *given)
{
    const char *eq = strchr(given, '=');
    /* no sign, no space: strtoll would take them */
    char *end;
    int64_t n = eq && eq > given && eq[1] >= '0' && eq[1] <= '9' ? strtoll(eq + 1, &end, 10) : 0;
    /* Up to 2^53, so that a double holds it. */
    return n < 1 || *end || n > (int64_t)1 << 53 ? -1 : n;
}

static bool is_given_for(const char *given, const char *lang)
{
    size_t n = strlen(lang);
    return !strncmp(given, lang, n) && given[n] == '=';
}

/* The N that --sentences gives a language; 0 if none. */
static int64_t said_sentences(const char *lang)
{
    for (int i = 0; i < o.sentences.n; i++)
        if (is_given_for(o.sentences.v[i], lang)) return number_given(o.sentences.v[i]);
    return 0;
}

/* 0 where each --sentences is LANG=N, of a language that has an input, and no language has two;
 * else prog_usage's status. */
static int check_sentences(const struct args *args)
{
    char name[32];
    for (int i = 0; i < o.sentences.n; i++) {
        const char *given = o.sentences.v[i];
        bool has_input = false;
        int times = 0;
        if (number_given(given) < 0)
            return prog_usage("--sentences is LANG=N, with N of 1 or more (wc -l)");
        for (int k = 0; k < args->n && !has_input; k++) {
            prog_lang_file(args->v[k], name);
            has_input = is_given_for(given, name);
        }
        if (!has_input) return prog_usage("--sentences %s: no input has this language", given);
        for (int k = 0; k <= i; k++) times += is_given_for(o.sentences.v[k], name);
        if (times > 1) return prog_usage("--sentences: %s is given twice", name);
    }
    return 0;
}

/* The words of all languages together, each count multiplied by its language's weight. */
static struct counted_word *weigh(struct language *lang, int n, struct word_counts *all,
                                  size_t *total)
{
    uint64_t sentences[n], weight[n];
    for (int i = 0; i < n; i++) sentences[i] = lang[i].sentences;
    bpe_weights(sentences, n, o.alpha, UNIT_SHIFT, weight);
    for (int i = 0; i < n; i++) {
        size_t k;
        struct counted_word *v = word_counts_list(lang[i].words, &k);
        if (!v) return NULL;
        msg_note("%s: %" PRIu64 " sentences, weight %.4f", lang[i].name, lang[i].sentences,
                 (double)weight[i] / (1 << UNIT_SHIFT));
        int rc = 0;
        for (size_t j = 0; j < k && rc == 0; j++) {
            uint64_t count;
            rc = __builtin_mul_overflow(v[j].count, weight[i], &count)
                     ? err_set("%s: a count of %" PRIu64 " is too large to be weighted",
                               lang[i].name, v[j].count)
                     : word_counts_add(all, v[j].s, v[j].n, count);
        }
        free(v);
        if (rc < 0) return NULL;
    }
    return word_counts_list(all, total);
}

/* The words of each language, those of all by weight, and the list that is learnt from. */
struct counted {
    struct language *lang; int langs;
    struct word_counts *all;                        /* weighted, or NULL */
    struct counted_word *words; size_t n;
};

/* bpe_learn calls it once it has copied the words, so that merging can use their memory; run()
 * calls it at the end. */
static void forget(void *ctx)
{
    struct counted *c = ctx;
    free(c->words);
    word_counts_free(c->all);
    for (int i = 0; i < c->langs; i++) word_counts_free(c->lang[i].words);
    free(c->lang);
    /* Called a second time at the end, it finds nothing. */
    *c = (struct counted){ 0 };
}

static int learn(struct counted *c, bool weighted, struct out *out)
{
    struct learn_options l = { .merges = (size_t)o.merges,
                               .min_frequency = (uint64_t)o.min_frequency,
                               .total_symbols = o.total, .copied = forget, .ctx = c,
                               .unit_shift = weighted ? UNIT_SHIFT : 0 };
    struct codes codes;
    codes_init(&codes, o.format == 0 ? CODES_FASTBPE : CODES_SUBWORD_NMT);
    l.progress = progress_start("learning", l.merges, "merges");
    int rc = bpe_learn(c->words, c->n, &l, &codes);
    progress_end(l.progress);
    /* Fewer operations than asked for is no error: a small text has no more. */
    if (rc == 0 && codes.n < l.merges && !o.total)
        msg_note("%zu operations: no other pair occurs %" PRId64 " times", codes.n,
                 o.min_frequency);
    if (rc == 0) {
        codes_write(&codes, codes.format, out_stdio(out));
        /* With a checksum next to the file: damaged operations would cut text otherwise,
         * unnoticed. */
        rc = sum_commit(out);
    } else
        out_abort(out);
    codes_free(&codes);
    return rc;
}

static int run(const struct args *args)
{
    if (o.workers > 0) par_threads_set(o.workers);
    struct out *out = out_open(o.out);               /* before long work */
    /* Without a file, standard input or --input. */
    int inputs = args->n ? args->n : 1, rc = out ? 0 : -1;
    bool weighted = prog_given("alpha") && o.alpha != 1;
    struct counted c = { .lang = mem_zero((size_t)inputs, sizeof *c.lang) };
    for (int i = 0; i < inputs && rc == 0; i++) {
        char name[32] = "";
        const char *path = args->n ? prog_lang_file(args->v[i], name) : o.input;
        int k = 0;
        /* Without weights, all inputs are one language. */
        while (k < c.langs && weighted && strcmp(c.lang[k].name, name)) k++;
        if (k == c.langs) {
            strcpy(c.lang[k].name, name);
            if (o.dict) c.lang[k].sentences = (uint64_t)said_sentences(name);
            c.lang[c.langs++].words = word_counts_new(par_threads());
        }
        rc = read_input(&c.lang[k], path);
    }
    if (rc == 0 && weighted) c.all = word_counts_new(par_threads());
    if (rc == 0)
        c.words = weighted ? weigh(c.lang, c.langs, c.all, &c.n)
                           : word_counts_list(c.lang[0].words, &c.n);
    /* codes without an operation would cut words into letters, and nobody would know why */
    if (rc == 0 && c.words && !c.n) {
        char lang_name[32];
        const char *first = args->n   ? prog_lang_file(args->v[0], lang_name)
                            : o.input ? o.input
                                      : "-";
        rc = err_set("%s%s: no words; there is nothing to learn from",
                     strcmp(first, "-") ? first : "standard input",
                     args->n > 1 ? " and the others" : "");
    } else if (c.words)
        /* learn() has committed or given up the output. */
        rc = learn(&c, weighted, out), out = NULL;
    else
        rc = -1;
    out_abort(out);
    forget(&c);
    return rc;
}

int main(int argc, char **argv)
{
    struct args args;
    char name[32];
    int status = prog_start(&prog, groups, argc, argv, &args), std_in = 0;
    if (status >= 0) return status;
    if (o.input && args.n) return prog_usage("files are given both with --input and as arguments");
    for (int i = 0; i < args.n; i++) {
        std_in += !strcmp(prog_lang_file(args.v[i], name), "-");
        if (prog_given("alpha") && !*name)
            return prog_usage("--alpha: \"%s\" has no language; write LANG=FILE", args.v[i]);
    }
    if (std_in > 1) return prog_usage("standard input can be given only once");
    if (o.sentences.n && !(o.dict && prog_given("alpha")))
        return prog_usage("--sentences goes with --dict-input and --alpha");
    if ((status = check_sentences(&args))) return status;
    for (int i = 0; i < args.n && o.dict && prog_given("alpha"); i++) {
        prog_lang_file(args.v[i], name);
        if (said_sentences(name) == 0)
            return prog_usage("--alpha weighs languages by sentences, which word counts do not "
                              "contain; add --sentences %s=N (wc -l)",
                              name);
    }
    if (prog_given("alpha") && !args.n) return prog_usage("--alpha needs inputs written LANG=FILE");
    return run(&args) < 0 ? prog_fail() : prog_end();
}
