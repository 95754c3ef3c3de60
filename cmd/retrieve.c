/* retrieve: finds translations of sentences by their vectors: accuracy on aligned sets (Tatoeba),
 * by layer, or mining. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/prog/prog.h"
#include "common/prog/result_rows.h"
#include "common/text/text.h"
#include "kernels/options.h"
#include "lib/bilingual/retrieve.h"
#include "lib/vectors/csls.h"
#include "lib/vectors/vectors.h"

static struct options {
    struct strs src, tgt;
    const char *out;
    int score, k;
    double mine;
    bool table;
} o = { .k = 4 };

static const struct opt rows[] = {
    { "src", 's', OPT_LIST(options, src), "FILE",
      "sentence vectors of the source language, one per row; give one file per layer" },
    { "tgt", 't', OPT_LIST(options, tgt), "FILE",
      "sentence vectors of the target language; give as many files as for --src. For accuracy, "
      "row n is the translation of row n" },
    { "score", 0, OPT_CHOICE(options, score), "cosine|distance|ratio",
      "rank by cosine, or by its margin over the neighbours' mean: as a difference (distance, "
      "CSLS) or a ratio, the usual one for --mine" },
    { "neighbours", 'k', OPT_INT(options, k), "N",
      "number of nearest neighbours that the margin takes its means over", .min = 1, .max = 1000 },
    { "table", 0, OPT_FLAG(options, table), "",
      "print accuracy as a table, one line per layer: correct among the first 1, 5 and 10 (the "
      "default with several layers)" },
    { "mine", 0, OPT_REAL(options, mine), "S",
      "instead of accuracy, print the pairs with a --score of S or more, best first, each row "
      "used once: score, source, target (default: print accuracy)" },
    { "output", 'o', OPT_STR(options, out), "FILE",
      "write to FILE, which appears only when complete (default: standard output)" },
    { 0 }
};
static struct vectors_options reading = { .rows = true };
static struct result_options as_rows;
static const struct opt_group groups[] = { { "Options", rows, &o }, { 0, vectors_rows, &reading },
                                           { "Rows of results.tsv", result_options_rows, &as_rows },
                                           { 0 } };
static const struct result_measure measures[] = {
    { "accuracy-to", "accuracy" }, { "accuracy-back", "accuracy", .back = true },
    { "hit@5-to", NULL },          { "hit@5-back", NULL, .back = true },
    { "hit@10-to", NULL },         { "hit@10-back", NULL, .back = true },
    { 0 } };
static const struct result_measure mining[] = {
    { "mined", "pairs mined" }, { "precision", "precision" }, { "recall", "recall" },
    { "f1", "F1" }, { 0 } };
static struct result_rows *row;

static const struct prog prog = {
    "retrieve", "--src A.vec --tgt B.vec", "Finds translations of sentences by their vectors.",
    "Without --mine: accuracy@1 in both directions; row i of one file translates row i of the\n"
    "other.\n"
    "\nExamples:\n  retrieve --src deu.npy --tgt eng.npy --score ratio\n"
    "  retrieve --src de.0.npy --tgt en.0.npy --src de.1.npy --tgt en.1.npy > layers.tsv\n"
    "  plot hits layers.tsv > layers.svg\n"
    "  retrieve --src de.npy --tgt en.npy --score ratio --mine 1.06 > mined.tsv\n",
    .part = { &kern_part, &csls_part }
};

static const enum csls_method how[] = { CSLS_NN, CSLS_CSLS, CSLS_RATIO };

static void write_mined(FILE *f, const struct vectors *src, const struct vectors *tgt,
                        const struct csls_side *x, const struct csls_side *z)
{
    struct mined *m;
    /* The distance margin is half of what CSLS gives. */
    double half = how[o.score] == CSLS_CSLS ? 0.5 : 1;
    /* Best first, each row used once. */
    /* --mine is in the scale that is printed */
    size_t n = retrieve_mine(x, z, o.mine / half, &m), right = 0;
    for (size_t i = 0; i < n; i++) {
        right += m[i].src == m[i].tgt;
        if (result_rows_instead(row)) continue;
        fprintf(f, "%.6f\t%s\t%s\n", half * (double)m[i].score, vectors_word(src, m[i].src),
                vectors_word(tgt, m[i].tgt));
    }
    free(m);
    double precision = n ? (double)right / (double)n : 0;
    /* aligned sets: every row has one translation */
    double recall = x->n ? (double)right / (double)x->n : 0;
    result_rows_add(row, "mined", -1, "%zu", n);
    result_rows_add(row, "precision", -1, "%.6g", precision);
    result_rows_add(row, "recall", -1, "%.6g", recall);
    result_rows_add(row, "f1", -1, "%.6g",
                    right ? 2 * precision * recall / (precision + recall) : 0);
}

static void add_accuracy(int layer, const struct csls_side *x, const struct csls_side *z)
{
    int name = o.src.n > 1 ? layer : -1;           /* one space alone is no layer */
    result_rows_add(row, "accuracy-to", name, "%.4f", retrieve_hit(x, 1));
    result_rows_add(row, "accuracy-back", name, "%.4f", retrieve_hit(z, 1));
    /* lists of one have no hit@5 */
    if (!o.table && o.src.n == 1) return;
    result_rows_add(row, "hit@5-to", name, "%.4f", retrieve_hit(x, 5));
    result_rows_add(row, "hit@5-back", name, "%.4f", retrieve_hit(z, 5));
    result_rows_add(row, "hit@10-to", name, "%.4f", retrieve_hit(x, 10));
    result_rows_add(row, "hit@10-back", name, "%.4f", retrieve_hit(z, 10));
}

static void write_row(FILE *f, int layer, const struct csls_side *x, const struct csls_side *z)
{
    double n = x->n, to = retrieve_hit(x, 1), back = retrieve_hit(z, 1);
    if (layer == 0)
        fputs("layer\trows\taccuracy-to\taccuracy-back\thit@5-to\thit@5-back\thit@10-to\thit@10-"
              "back\taccuracy-to-ci\taccuracy-back-ci\n",
              f);
    fprintf(f, "%d\t%u\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\n", layer, x->n, to, back,
            retrieve_hit(x, 5), retrieve_hit(z, 5), retrieve_hit(x, 10), retrieve_hit(z, 10),
            1.96 * sqrt(to * (1 - to) / n), 1.96 * sqrt(back * (1 - back) / n));
}

static int layer(int i, bool table, struct out *out)
{
    const char *a = o.src.v[i], *b = o.tgt.v[i];
    struct vectors *src = vectors_load(a, &reading, msg_note),
                   *tgt = src ? vectors_load(b, &reading, msg_note) : NULL;
    struct csls_side x, z;
    bool mine = prog_given("mine");
    int r = tgt ? 0 : -1;
    if (r == 0 && src->dim != tgt->dim)
        r = err_set("%s has %d dimensions, %s has %d; they must be equal", a, src->dim, b,
                    tgt->dim);
    if (r == 0 && !mine && src->n != tgt->n)
        r = err_set("%s has %u rows, %s has %u; for accuracy, row n of one must translate row n of "
                    "the other (or use --mine)",
                    a, src->n, b, tgt->n);
    /* To length 1, so that products are cosines. */
    if (r == 0 && (vectors_normalize(src, "unit") < 0 || vectors_normalize(tgt, "unit") < 0))
        r = -1;
    if (r == 0
        /* The best 10 for a table, 1 otherwise: a longer list costs memory in proportion. */
        && (r = csls_search(src->x, src->n, tgt->x, tgt->n, src->dim, how[o.score], table ? 10 : 1,
                            o.k, &x, &z, NULL))
               == 0) {
        FILE *f = out_stdio(out);
        if (mine) write_mined(f, src, tgt, &x, &z);
        else add_accuracy(i, &x, &z);
        /* rows of results.tsv take the place of the table */
        if (mine || result_rows_instead(row)) ;
        else if (table) write_row(f, i, &x, &z);
        else
            fprintf(f, "rows\t%u\naccuracy-to\t%.4f\naccuracy-back\t%.4f\n", src->n,
                    retrieve_hit(&x, 1), retrieve_hit(&z, 1));
        csls_free(&x);
        csls_free(&z);
    }
    vectors_free(src);
    vectors_free(tgt);
    return r;
}

static int run(void)
{
    struct out *out = out_open(o.out);
    int r = out ? 0 : -1;
    for (int i = 0; r == 0 && i < o.src.n; i++) r = layer(i, o.table || o.src.n > 1, out);
    if (r == 0 && (r = result_rows_write(row, out_stdio(out))) == 0) r = out_commit(out);
    else out_abort(out);
    result_rows_free(row);
    return r;
}

int main(int argc, char **argv)
{
    struct args args;
    int status = prog_start(&prog, groups, argc, argv, &args);
    if (status >= 0) return status;
    if (reading.replace) text_replace_all();
    if (args.n || !o.src.n || o.src.n != o.tgt.n)
        return prog_usage(
            "--src and --tgt must be given the same number of times, and nothing else");
    if (prog_given("mine") && (o.src.n > 1 || o.table))
        return prog_usage("--mine takes one --src and one --tgt, and no --table");
    if (how[o.score] == CSLS_NN && prog_asked_for("neighbours"))
        return prog_usage("--neighbours is of the margin: --score ratio or distance");
    /* A cosine is at most 1; whoever asks for more has a margin in mind. */
    if (prog_given("mine") && how[o.score] == CSLS_NN && o.mine > 1)
        return prog_usage("--mine %g: no cosine is above 1; for a margin pass --score ratio or "
                          "distance", o.mine);
    if (result_rows_open(&row, &as_rows, prog_given("mine") ? mining : measures) < 0)
        return prog_usage("%s", err_msg());
    return run() < 0 ? prog_fail() : prog_end();
}
