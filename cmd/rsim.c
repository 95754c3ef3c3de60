/* rsim: how alike two spaces are, over a dictionary: relational similarity, mean cosine, alignment;
 * one row per layer. */
#include <math.h>
#include <stdio.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/prog/prog.h"
#include "common/prog/result_rows.h"
#include "common/text/text.h"
#include "kernels/options.h"
#include "lib/bilingual/dictionary.h"
#include "lib/bilingual/similarity.h"
#include "lib/vectors/csls.h"

static struct options {
    struct strs src, tgt;
    const char *dict;
    int max_vocab, fewest;
    bool one_to_one;
} o = { .fewest = 3 };

static const struct opt rows[] = {
    { "src", 's', OPT_LIST(options, src), "FILE",
      "vectors of the source language; give one file per layer" },
    { "tgt", 't', OPT_LIST(options, tgt), "FILE",
      "vectors of the target language; give as many files as for --src" },
    { "dict", 'd', OPT_STR(options, dict), "FILE",
      "translation pairs, one source<TAB>target per line" },
    { "one-to-one", 0, OPT_FLAG(options, one_to_one), NULL,
      "keep a pair only if neither of its words stands in an earlier pair that was kept" },
    { "fewest", 0, OPT_INT(options, fewest), "N",
      "print nan for all measures of fewer pairs than N (default: fewer than 3 are an error)",
      .min = 3, .max = 1e9 },
    { "max-vocab", 0, OPT_INT(options, max_vocab), "N",
      "read at most N vectors per file; 0: all", .min = 0, .max = 1e9 },
    { 0 }
};
static struct vectors_options reading;
static struct result_options as_rows;
static const struct opt_group groups[] = { { "Options", rows, &o }, { 0, vectors_rows, &reading },
                                           { "Rows of results.tsv", result_options_rows, &as_rows },
                                           { 0 } };
static const struct result_measure measures[] = {
    { "rsim", "RSIM" },       { "cosine", "cosine" },
    { "align-to", "aligned" }, { "align-back", "aligned", .back = true },
    { "random" },             { "above-random", "above random" },
    { 0 } };
static struct result_rows *row;

static const struct prog prog = {
    "rsim", "--src A.vec --tgt B.vec --dict pairs.tsv",
    "Measures how alike two spaces of vectors are over translation pairs.",
    "Prints a line of column names, then for each --src/--tgt: layer (from 0), pairs, rsim, mean\n"
    "cosine, and the shares of pairs whose translation is the nearest neighbour, from source to\n"
    "target and back, each with the half-width of its 95% interval; then the mean cosine of all\n"
    "pairs of words that are not translations, the difference of the translations' mean from it,\n"
    "and the half-width of the difference's 95% interval. `plot rsim` draws it.\n",
    .part = { &kern_part, &csls_part }
};

static int layer(int i)
{
    reading.max = (uint32_t)o.max_vocab;
    struct dictionary_report report;
    struct word_pairs p = { 0 };
    struct similarity r;
    int name = o.src.n > 1 ? i : -1;            /* one space alone is no layer */
    /* One layer at a time: memory does not grow with their number. */
    struct vectors *src = vectors_load(o.src.v[i], &reading, msg_note),
                   *tgt = src ? vectors_load(o.tgt.v[i], &reading, msg_note) : NULL;
    int status = tgt ? dictionary_read(o.dict, src, tgt, &p, &report) : -1;
    /* after reading: which pairs are kept depends on both sides' words */
    size_t other = status == 0 && o.one_to_one ? word_pairs_one_to_one(&p, src->n, tgt->n) : 0;
    /* --fewest: small samples give a row of NaN, so that a table over layers keeps its shape. */
    bool few = status == 0 && prog_given("fewest") && p.n < (size_t)o.fewest;
    if (few)
        r = (struct similarity){ p.n, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN };
    /* Two pairs have one relation between them, over which nothing correlates. */
    if (status == 0 && p.n < 3 && !few)
        status = err_set(
            "%s: %zu pairs have vectors on both sides, in %s and %s; RSIM needs 3 or more", o.dict,
            p.n, o.src.v[i], o.tgt.v[i]);
    if (status == 0 && !few) status = similarity_measure(src, tgt, &p, &r);
    if (status == 0) {
        msg_note(
            "layer %d: of %llu lines, left out %llu with several words, %llu with a word without "
            "a vector, %llu repeated, %zu with a word of an earlier pair",
            i, (unsigned long long)report.lines, (unsigned long long)report.multiword,
            (unsigned long long)report.unknown, (unsigned long long)report.repeated, other);
        result_rows_add(row, "rsim", name, "%.6f", r.rsim);
        result_rows_add(row, "cosine", name, "%.6f", r.cosine);
        result_rows_add(row, "align-to", name, "%.6f", r.forward);
        result_rows_add(row, "align-back", name, "%.6f", r.backward);
        result_rows_add(row, "random", name, "%.6f", r.random);
        result_rows_add(row, "above-random", name, "%.6f", r.above);
    }
    if (status == 0 && !result_rows_instead(row))
        printf("%d\t%llu\t%.6f\t%.6f\t%.6f\t%.6f\t%.6f\t%.6f\t%.6f\t%.6f\t%.6f\t%.6f\t%.6f\n", i,
               (unsigned long long)r.pairs, r.rsim, r.cosine, r.forward, r.backward, r.rsim_ci,
               r.cosine_ci, r.forward_ci, r.backward_ci, r.random, r.above, r.above_ci);
    word_pairs_free(&p);
    vectors_free(src);
    vectors_free(tgt);
    return status;
}

int main(int argc, char **argv)
{
    struct args args;
    int status = prog_start(&prog, groups, argc, argv, &args);
    if (status >= 0) return status;
    if (reading.replace) text_replace_all();
    if (args.n || !o.src.n || o.src.n != o.tgt.n || !o.dict)
        return prog_usage(
            "--src and --tgt must be given the same number of times, and --dict FILE is needed");
    if (result_rows_open(&row, &as_rows, measures) < 0) return prog_usage("%s", err_msg());
    if (file_check_again("--dict", o.dict, o.src.n) < 0) return prog_fail();
    for (int i = 0; i < o.src.n; i++) {
        /* the header before the first layer, which may fail */
        if (i == 0 && !result_rows_instead(row))
            puts("layer\tpairs\trsim\tcosine\talign-to\talign-back\trsim-ci\tcosine-ci\talign-to-"
                 "ci\talign-back-ci\trandom\tabove-random\tabove-random-ci");
        if (layer(i) < 0) return prog_fail();
    }
    if (result_rows_write(row, stdout) < 0) return prog_fail();
    result_rows_free(row);
    return prog_end();
}
