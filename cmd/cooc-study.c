/* cooc-study: how alike co-occurrence counts are across languages (MLM-GC, Figures 1 and 3). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/prog/prog.h"
#include "lib/bilingual/cooc_compare.h"
#include "lib/cooc/cooc.h"

static struct options {
    const char *pairs, *phrases, *dict, *out;
    double width;
    bool ranks, correlation;
} o = { .width = 2 };

static const struct opt rows[] = {
    { "pairs", 'p', OPT_STR(options, pairs), "FILE",
      "translations of pairs of words, one \"is the<TAB>ist die\" per line" },
    { "phrase-table", 0, OPT_STR(options, phrases), "FILE",
      "instead of --pairs: a phrase table, \"is the ||| ist die ||| scores\" per line; its "
      "entries with two words per side are used" },
    { "dict", 'd', OPT_STR(options, dict), "FILE",
      "instead of --pairs: a dictionary of single words; all counted pairs whose two words it "
      "translates are used" },
    { "bin", 0, OPT_REAL(options, width), "W",
      "width of a bin of log a + log b (natural logarithms)", .min = 0.01, .max = 100 },
    { "correlation", 0, OPT_FLAG(options, correlation), "",
      "instead of bins: how well log a predicts log b, over pairs counted on both sides" },
    { "ranks", 0, OPT_FLAG(options, ranks), "",
      "instead of bins: relative frequencies by rank in both languages (Figure 3)" },
    { "output", 'o', OPT_STR(options, out), "FILE",
      "write to FILE, which appears only when complete (default: standard output)" },
    { 0 }
};
static const struct opt_group groups[] = { { "Options", rows, &o }, { 0 } };

static const struct prog prog = {
    "cooc-study", "--pairs P.tsv A.cooc B.cooc",
    "Compares the co-occurrence counts of translations in two languages.",
    "Prints a table, one line per bin and a last one over all pairs: the bin's bounds; the number\n"
    "of pairs in it; the mean of |log a - log b| and half of its 95% interval; the same of\n"
    "|log a - log b| / (log a + log b); the bin's share of a + b. B's counts are scaled to A's\n"
    "number of tokens; pairs with a count of 1 or less are left out and their share is reported.\n"
    "With --correlation: the number of pairs that A has; the shares of them, and of their counts,\n"
    "that B has too; over these, Pearson's r of log a and log b, unweighted and weighted by a;\n"
    "the means of |log a - log b| and of log b - log a.\n"
};

static int read_pairs(const struct cooc *a, const struct cooc *b, struct cooc_compare_pairs *p)
{
    /* One of the three is given (main). */
    int r = o.pairs     ? cooc_compare_read_pairs(o.pairs, a, b, p)
            : o.phrases ? cooc_compare_read_phrases(o.phrases, a, b, p)
                        : cooc_compare_from_dictionary(o.dict, a, b, p);
    if (r == 0 && p->repeated)
        msg_note("left out %llu lines that repeat an earlier one", (unsigned long long)p->repeated);
    return r;
}

static int correlation(const struct cooc *a, const struct cooc *b, FILE *f)
{
    struct cooc_compare_pairs p;
    if (read_pairs(a, b, &p) < 0) return -1;
    struct cooc_compare_correlation c = cooc_compare_correlate(&p);
    int r = 0;
    /* read_pairs keeps only pairs with X > 1; each is over X > 0 */
    if (p.each.n < 2)
        r = err_set("%.0f pairs are counted on both sides (%llu lines, %llu with an unknown "
                    "word); a correlation needs 2 or more",
                    p.each.n, (unsigned long long)p.lines, (unsigned long long)p.unknown);
    else
        fprintf(f,
                "scale\tpairs\tboth\tboth-mass\tr\tr-mass\tdifference\tbias\n%.6f\t%llu\t%.6f\t%."
                "6f\t%.6f\t%.6f\t%.6f\t%.6f\n",
                cooc_compare_scale(a, b), (unsigned long long)c.pairs, c.both, c.both_mass, c.r,
                c.r_mass, c.difference, c.bias);
    cooc_compare_free(&p);
    return r;
}

static int bins(const struct cooc *a, const struct cooc *b, FILE *f)
{
    struct cooc_compare_pairs p;
    struct cooc_compare_bin *bin;
    if (read_pairs(a, b, &p) < 0) return -1;
    /* What has a count of 1 or less is left out, and its share reported. */
    uint64_t asked = p.n + p.small;
    if (!p.n) {
        err_set("%s: no pair is counted more than once in both languages (%llu lines, %llu with an "
                "unknown word, %llu of other than two words)",
                o.pairs     ? o.pairs
                : o.phrases ? o.phrases
                            : o.dict,
                (unsigned long long)p.lines, (unsigned long long)p.unknown,
                (unsigned long long)p.multiword);
        /* only now: it leaves zeros */
        cooc_compare_free(&p);
        return -1;
    }
    msg_note("%llu lines, left out %llu with an unknown word and %llu with several words on a "
             "side; of %llu pairs, %llu (%.1f%%) left out: a count of 1 or less",
             (unsigned long long)p.lines, (unsigned long long)p.unknown,
             (unsigned long long)p.multiword, (unsigned long long)asked,
             (unsigned long long)p.small, asked ? 100.0 * (double)p.small / (double)asked : 0.0);
    size_t n = cooc_compare_bins(&p, o.width, &bin);
    fputs("low\thigh\tpairs\tdifference\tdifference-ci\tratio\tratio-ci\tshare\n", f);
    for (size_t i = 0; i < n; i++)
        fprintf(f, "%g\t%g\t%llu\t%.6f\t%.6f\t%.6f\t%.6f\t%.6f\n", bin[i].low, bin[i].high,
                (unsigned long long)bin[i].n, bin[i].difference, bin[i].difference_ci, bin[i].ratio,
                bin[i].ratio_ci, bin[i].share);
    free(bin);
    cooc_compare_free(&p);
    return 0;
}

static int ranks(const struct cooc *a, const struct cooc *b, FILE *f)
{
    double *x, *y;
    size_t n, m;
    if (cooc_compare_ranks(a, &x, &n) < 0) return -1;
    if (cooc_compare_ranks(b, &y, &m) < 0) { free(x); return -1; }
    /* A file of several languages has no single name for its column. */
    const char *left = a->planes == 1 ? a->plane[0].total.lang : "",
               *right = b->planes == 1 ? b->plane[0].total.lang : "";
    bool named = *left && *right && strcmp(left, right);
    fprintf(f, "rank\t%s\t%s\n", named ? left : "a", named ? right : "b");
    for (size_t i = 0; i < n || i < m; i++) {
        fprintf(f, "%zu\t", i + 1);
        if (i < n) fprintf(f, "%.6e", x[i]);
        fputc('\t', f);
        if (i < m) fprintf(f, "%.6e", y[i]);
        fputc('\n', f);
    }
    free(x);
    free(y);
    return 0;
}

static int run(const struct args *args)
{
    /* the second is not opened if the first cannot be */
    struct cooc *a = cooc_open(args->v[0]), *b = a ? cooc_open(args->v[1]) : NULL;
    /* ranks are of tokens, whatever the window; X of two windows differs between any languages */
    struct out *f = b && (o.ranks || cooc_same_weights(a, b) == 0) ? out_open(o.out) : NULL;
    int r = f ? (o.ranks ? ranks : o.correlation ? correlation : bins)(a, b, out_stdio(f)) : -1;
    if (r < 0) out_abort(f);
    else r = out_commit(f);
    cooc_close(a);
    cooc_close(b);
    return r;
}

int main(int argc, char **argv)
{
    struct args args;
    int status = prog_start(&prog, groups, argc, argv, &args);
    if (status >= 0) return status;
    if (args.n != 2 || !!o.pairs + !!o.phrases + !!o.dict + o.ranks != 1)
        return prog_usage(
            "two .cooc files are needed, and one of --pairs, --phrase-table, --dict and --ranks");
    if (o.correlation && o.ranks)
        return prog_usage("--correlation needs --pairs, --phrase-table or --dict");
    if ((o.correlation || o.ranks) && prog_asked_for("bin"))
        return prog_usage("--bin is not for --%s", o.ranks ? "ranks" : "correlation");
    return run(&args) < 0 ? prog_fail() : prog_end();
}
