/* Counts tokens. */
#include <inttypes.h>
#include <stdlib.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/files/sum.h"
#include "common/prog/prog.h"
#include "common/text/text.h"
#include "lib/bpe/words.h"

static struct options {
    const char *out, *input, *initial;
    int64_t min_count, most;
    bool replace, whole, merge;
} o;

static const struct opt rows[] = {
    { "min-count", 0, OPT_I64(options, min_count), "N",
      "leave out tokens that occur fewer than N times", .min = 0, .max = 9e18 },
    { "max-size", 0, OPT_I64(options, most), "N",
      "write at most the N most frequent tokens (default: all)", .min = 0, .max = 9e18 },
    { "whole-words", 0, OPT_FLAG(options, whole), NULL,
      "count a token only where it is a whole word: neither it nor the token before it ends in "
      "@@" },
    { "initial", 0, OPT_STR(options, initial), "MARK",
      "with --whole-words: words begin with MARK (SentencePiece: \"\u2581\"), and no piece ends "
      "in @@" },
    { "merge", 0, OPT_FLAG(options, merge), NULL,
      "inputs are \"token count\" lines, this program's output for pieces of a text: add them up" },
    { "input", 'i', OPT_STR(options, input), "FILE",
      "read this file (default: the arguments, or standard input)" },
    { "output", 'o', OPT_STR(options, out), "FILE",
      "write to FILE, which appears only when complete (default: standard output)" },
    { "replace-invalid", 0, OPT_FLAG(options, replace), NULL,
      "replace bytes that are not UTF-8 by U+FFFD (default: they are an error)" },
    { 0 }
};
static const struct opt_group groups[] = { { "Options", rows, &o }, { 0 } };

static const struct prog prog = { "vocab-count", "[options] [FILE...] > vocab",
                                  "Counts the tokens of texts: \"token count\" per line, most "
                                  "frequent first,\nties in the order of their bytes (as fast "
                                  "getvocab). A token is whatever stands\nbetween spaces: a piece "
                                  "of bpe-apply or a whole word.",
                                  "Examples:\n"
                                  "  vocab-count corpus.bpe > vocab\n"
                                  "  vocab-count --min-count 5 en.tok de.tok > words\n"
                                  "  vocab-count --merge counts/* > vocab",
                                  .peer = "-min-count|-max-vocab|-verbose",
                                  .instead = "of GloVe's vocab_count; write vocab-count "
                                             "--min-count N --max-size N < text > vocab" };

/* Counts one text, or with --merge reads one file of counts. */
static int count_file(struct word_counts *w, const char *path)
{
    int utf8 = TEXT_UTF8 | (o.replace ? TEXT_REPLACE : 0) | (o.merge ? TEXT_SUM : 0);
    /* As bytes unless asked: counts of any encoding that separates words by spaces. */
    struct text *in = text_open(path, o.merge || o.replace ? utf8 : TEXT_RAW);
    if (!in) return -1;
    /* flags 0: a "\r" is part of its word, as fastBPE counts it */
    int rc = o.merge ? words_read_counts(w, in, 0) : word_counts_read(w, in, 0);
    text_close(in);
    return rc;
}

static int run(const struct args *args)
{
    struct word_counts *w = word_counts_new(prog_threads());
    struct counted_word *v = NULL;
    if (o.whole) word_counts_whole(w, o.initial ? NULL : "@@", o.initial);
    size_t n = 0;
    struct out *out = out_open(o.out);               /* what cannot be written is not counted */
    int rc = out ? 0 : -1;
    for (int i = 0; i < (args->n ? args->n : 1) && rc == 0; i++)
        rc = count_file(w, args->n ? args->v[i] : o.input);
    if (rc == 0 && !(v = word_counts_list(w, &n))) rc = -1;
    if (rc == 0) {
        /* By falling count, ties by bytes: the order does not depend on threads or on the
         * inputs' order. */
        word_counts_sort(v, n);
        FILE *f = out_stdio(out);
        for (size_t i = 0;
             /* sorted by count: the first that is too rare ends the list */
             i < n && (!o.most || i < (size_t)o.most) && v[i].count >= (uint64_t)o.min_count; i++) {
            fwrite(v[i].s, 1, v[i].n, f);
            fprintf(f, " %" PRIu64 "\n", v[i].count);
        }
        /* with a checksum: a damaged vocabulary would number words otherwise */
        rc = sum_commit(out);
    } else
        out_abort(out);
    free(v);
    word_counts_free(w);
    return rc;
}

int main(int argc, char **argv)
{
    struct args args;
    int status = prog_start(&prog, groups, argc, argv, &args);
    if (status >= 0) return status;
    if (o.input && args.n) return prog_usage("files are given both with --input and as arguments");
    if (o.initial && (!o.whole || !*o.initial))
        return prog_usage("--initial MARK needs --whole-words, and a MARK that is not empty");
    if (o.merge && o.whole)
        return prog_usage("--whole-words counts text, and --merge reads counts: give one of them");
    return run(&args) < 0 ? prog_fail() : prog_end();
}
