/* bleu: scores translations against references, with sacreBLEU's numbers and output (or
 * multi-bleu.perl's). Reads hypotheses from standard input (or -i FILE...), references from files,
 * one sentence per line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/mem.h"
#include "common/prog/prog.h"
#include "lib/sacrebleu/multibleu.h"
#include "lib/sacrebleu/scoring.h"
#include "lib/score/testset.h"

static struct options {
    struct strs inputs;
    int num_refs;
    struct strs echo;
    const char *output, *test_set;
    bool multi, replace;
} o = { .num_refs = 1 };
static struct scoring s;
static struct result_options as_rows;

static const struct opt rows[] = {
    { "input", 'i', OPT_LIST(options, inputs), "FILE",
      "hypotheses, one file per system; several files may follow one -i (default: standard "
      "input)" },
    { "test-set", 't', OPT_STR(options, test_set), "NAMES",
      "score against sacreBLEU's test sets, such as wmt14/full, of the languages of -l; they are "
      "read from $CORPUS_CACHE, $SACREBLEU or ~/.sacrebleu" },
    { "echo", 0, OPT_LIST(options, echo), "FIELD",
      "print fields of the test set, such as src, ref, docid or all, and quit; several may follow "
      "one --echo" },
    { "download", 0, OPT_REFUSED, 0,
      "nothing is downloaded here; sacreBLEU does, and --test-set reads what it has got" },
    { "list", 0, OPT_REFUSED, 0,
      "test sets are those that are in $CORPUS_CACHE, $SACREBLEU or ~/.sacrebleu" },
    { "origlang", 0, OPT_REFUSED, 0, "take the lines of a language by --echo origlang src ref" },
    { "subset", 0, OPT_REFUSED, 0, "take the lines of documents by --echo docid src ref" },
    { "num-refs", 0, OPT_INT(options, num_refs), "N",
      "number of references per line of the one reference file, separated by tabs", .min = 1,
      .max = 1000 },
    { "output", 'o', OPT_STR(options, output), "FILE",
      "write to FILE, which appears only when complete (default: standard output)" },
    { "multi", 0, OPT_FLAG(options, multi), 0,
      "print the line of Moses' multi-bleu.perl; a single REF may be the stem of REF0, REF1, ..." },
    { "replace-invalid", 0, OPT_FLAG(options, replace), 0,
      "replace bytes that are not UTF-8 by U+FFFD (default: they are an error)" },
    { 0 }
};
static const struct opt_group groups[] = {
    { "Options", rows, &o },
    { 0, scoring_rows, &s },
    { "BLEU", scoring_bleu_rows, &s },
    { "chrF", scoring_chrf_rows, &s },
    { "TER", scoring_ter_rows, &s },
    { "Confidence and paired tests", scoring_test_rows, &s },
    { "Output", scoring_output_rows, &s },
    { "Rows of results.tsv", result_options_rows, &as_rows },
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
    "  bleu -t wmt14/full -l en-de < hyp.de             sacreBLEU's test set\n"
    "  bleu --multi -lc ref.tok.de < hyp.tok.de         multi-bleu.perl\n"
};

/* sacreBLEU's short options of several letters, and its options that take several words: argv as
 * prog_start reads it, into out (2 argc + 1 entries). Strings made for it stand in made (argc
 * entries, NULL after the last), too; the caller frees them. Returns the number of arguments. */
static int peer_spelling(int argc, char **argv, char **out, char **made)
{
    static char input[] = "--input", echo[] = "--echo";
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
        /* What follows "--" is a file, whatever it looks like. */
        /* argv[0] may be called anything */
        if (i && !strcmp(a, "--")) { while (i < argc) out[n++] = argv[i++]; break; }
        for (size_t k = 0; k < sizeof spelt / sizeof *spelt; k++)
            if (i && !strcmp(a, spelt[k][0])) a = spelt[k][1];
        out[n++] = a;
        bool names = i && (!strcmp(a, "-m") || !strcmp(a, "--metrics"));
        bool fields = i && !strcmp(a, "--echo");
        bool files = i && (!strcmp(a, "-i") || !strcmp(a, "--input"));
        /* -m bleu chrf: a list with commas here */
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
        if ((files || fields) && i + 1 < argc) {
            out[n++] = argv[++i];
            /* "-" alone is standard input, not an option. */
            while (i + 1 < argc && (argv[i + 1][0] != '-' || !argv[i + 1][1])) {
                /* prog_start's lists take one word per option */
                out[n++] = files ? input : echo;
                out[n++] = argv[++i];
            }
        }
    }
    return n;
}

/* Was something asked for that multi-bleu.perl does not know? */
static bool not_of_multi(void)
{
    static const struct opt *const groups[] = { scoring_rows, scoring_chrf_rows, scoring_ter_rows,
                                                scoring_test_rows, scoring_output_rows };
    static const char *const names[] = { "tokenize", "language-pair", "smooth-method",
                                         "smooth-value", "replace-invalid" };
    char asked[64];
    bool other = o.inputs.n > 1 || o.num_refs > 1;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        other |= prog_asked(groups[i], asked);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) other |= prog_asked_for(names[i]);
    return other;
}

static int check_usage(const struct args *a)
{
    const char *colour = getenv("NO_COLOR");
    if (o.test_set && a->n)
        return prog_usage("references are those of --test-set, or files such as %s, not both",
                          a->v[0]);
    if (o.test_set && (!s.languages || o.num_refs > 1 || o.multi))
        return prog_usage("--test-set takes %s",
                          s.languages ? "neither --num-refs nor --multi"
                                      : "the languages, too: -l SRC-TGT, such as -l en-de");
    if (o.echo.n && !o.test_set) return prog_usage("--echo prints a test set: --test-set NAME");
    if (!o.test_set && !a->n)
        return prog_usage("no reference; give one file or more: bleu REF... < hypotheses; or "
                          "--test-set NAME");
    if (o.num_refs > 1 && a->n > 1)
        return prog_usage("--num-refs takes a single reference file, not %d", a->n);
    if (o.multi && not_of_multi())
        return prog_usage(
            "--multi takes only -lc, one -i FILE and references, as multi-bleu.perl does");
    if (o.echo.n && as_rows.row) return prog_usage("--echo has no scores for --row");
    if (as_rows.row && (s.sentence || scoring_paired(&s) || o.inputs.n > 1))
        return prog_usage("--row is for the scores of one system's text");
    /* As sacreBLEU: colours for a terminal, unless NO_COLOR (no-color.org) says otherwise. */
    s.look.colour = !(colour && *colour) && !o.output && isatty(STDOUT_FILENO);
    if (scoring_check(&s) < 0 || result_rows_open(&s.rows, &as_rows, NULL) < 0)
        return prog_usage("%s", err_msg());
    return -1;
}

static int echo(FILE *to)
{
    char *all = mem_dup(o.test_set), *rest = all, *name;
    int rc = 0;
    while (rc == 0 && (name = strsep(&rest, ","))) {
        struct testset t;
        rc = testset_find(&t, name, s.languages);
        if (rc == 0) rc = testset_echo(&t, o.echo.v, o.echo.n, to);
        testset_free(&t);
    }
    free(all);
    return rc;
}

static int score(const struct args *a, FILE *to)
{
    struct score_corpus c = { .replace_invalid = o.replace };
    int rc = scoring_open(&s);
    /* References first: a wrong file of theirs is found before standard input is waited for. */
    if (rc == 0)
        rc = o.test_set ? corpus_read_testsets(&c, o.test_set, s.languages)
                        : corpus_read_refs(&c, a->v, a->n, o.num_refs);
    if (rc == 0)
        rc = o.inputs.n ? corpus_read_systems(&c, o.inputs.v, o.inputs.n, scoring_paired(&s))
                        : corpus_read_stdin(&c);
    if (rc == 0) rc = score_corpus_check(&c);
    if (rc == 0) rc = scoring_print(&s, &c, to);
    score_corpus_free(&c);
    scoring_close(&s);
    return rc;
}

static int run(int argc, char **argv)
{
    struct args a;
    /* Before the options are read: --help prints them as defaults. */
    s = scoring_defaults;
    int status = prog_start(&prog, groups, argc, argv, &a);
    if (status < 0) status = check_usage(&a);
    if (status >= 0) return status;
    struct out *out = out_open(o.output);
    if (!out) return prog_fail();
    status = o.multi ? multibleu_print(a.v, a.n, o.inputs.n ? o.inputs.v[0] : NULL,
                                       s.as.bleu.lowercase, out_stdio(out), s.rows)
             : o.echo.n ? echo(out_stdio(out))
                        : score(&a, out_stdio(out));
    if (status == 0 && !o.echo.n) status = result_rows_write(s.rows, out_stdio(out));
    result_rows_free(s.rows);
    /* multi-bleu.perl prints its line even where there is nothing to score */
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
