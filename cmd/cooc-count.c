/* cooc-count: text or shards -> .cooc (docs/formats/cooc.md), exact, in bounded memory. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/mem.h"
#include "common/prog/prog.h"
#include "lib/count/count.h"

static struct options {
    int window, weights, oov, batch;
    bool left, right, shards;
    const char *vocab, *out, *tmp;
    struct strs skip;
    size_t memory;
    int64_t min_count;
} o = { .window = 2, .memory = (size_t)4 << 30, .min_count = 1 };

static const struct opt rows[] = {
    { "window|window-size", 'w', OPT_INT(options, window), "N",
      "number of words on either side", .min = 1, .max = COOC_MAX_WINDOW },
    { "weights", 0, OPT_CHOICE(options, weights), "mlm-gc|glove|flat",
      "weight of a pair at distance d: 1/(d+1), 1/d or 1" },
    { "left", 0, OPT_FLAG(options, left), NULL,
      "count only the words to the left of a row's word (default: on both sides)" },
    { "right", 0, OPT_FLAG(options, right), NULL,
      "count only the words to the right of a row's word" },
    { "oov", 0, OPT_CHOICE(options, oov), "gap|collapse",
      "unknown words keep their place (gap), or vanish before distances are measured (collapse)" },
    { "skip", 0, OPT_LIST(options, skip), "TOKENS",
      "ignore these comma-separated tokens (case markers: \u21e7,\u21ea) as if they were not in "
      "the text; the file records them, and training ignores them too" },
    { "vocab|vocab-file", 'v', OPT_STR(options, vocab), "FILE",
      "vocabulary, as vocab-count writes it (default: every word of the text)" },
    { "min-count", 0, OPT_I64(options, min_count), "N",
      "without --vocab: leave out words that occur fewer than N times", .min = 1, .max = 9e18 },
    { "memory", 'm', OPT_SIZE(options, memory), "SIZE",
      "use at most this much memory; the rest goes to --tmp (default: 4G)" },
    { "tmp|overflow-file", 'T', OPT_STR(options, tmp), "DIR",
      "folder for temporary files (default: $TMPDIR or /tmp)" },
    { "batch-size", 0, OPT_INT(options, batch), "N",
      "number of runs to merge at once (default: as many as memory allows)", .min = 2, .max = 1e6 },
    { "shards", 0, OPT_FLAG(options, shards), NULL, "standard input is a shard instead of text" },
    { "output", 'o', OPT_STR(options, out), "FILE",
      "write to FILE, which appears only when complete (default: standard output)" },
    { 0 }
};
static const struct opt_group groups[] = { { "Options", rows, &o }, { 0 } };

static const struct prog prog = {
    "cooc-count", "[options] [LANG=]FILE... > x.cooc",
    "Counts weighted co-occurrences of tokens: exact integers, one matrix per language. Files are\n"
    "text (tokens separated by spaces, one sentence per line; plain, gzip or zstd) or shards;\n"
    "without a file, or with \"-\", standard input is read.",
    .peer = "-memory|-vocab-file|-window-size|-symmetric|-overflow-file|-overflow-length|"
            "-max-product|-distance-weighting|-verbose",
    .instead = "of GloVe's cooccur, which counts what cooc-count -w 15 --weights glove --oov "
               "collapse --memory 4G -v VOCAB < text | cooc-query --glove - counts (-symmetric 0: "
               "--right; -distance-weighting 0: --weights flat)",
    .more = "Examples:\n"
            "  cooc-count -w 2 -v vocab en=en.tok.zst de=de.tok.zst > ende.cooc\n"
            "  cooc-count -w 15 --weights glove --oov collapse -v vocab --memory 1G text > x.cooc\n"
};

static int run(const struct args *a, const struct cooc_scheme *scheme, const struct cooc_skip *skip)
{
    struct cooc_count_opts c = { .scheme = *scheme,
                                 .min_count = (uint64_t)o.min_count,
                                 .memory = o.memory,
                                 .tmp = o.tmp,
                                 .threads = prog_threads(),
                                 .batch = o.batch,
                                 .shards = o.shards };
    int n = a->n ? a->n : 1, rc = -1;
    struct cooc_input *in = mem_zero((size_t)n, sizeof *in);
    struct vocab *v = NULL;
    struct out *out = NULL;
    struct cooc_count_report r;
    /* without a file; the loop below replaces it */
    in[0].path = "-";
    for (int i = 0; i < a->n; i++) in[i].path = prog_lang_file(a->v[i], in[i].lang);
    c.skip = *skip;
    if (o.vocab && !(v = vocab_read(o.vocab))) goto done;
    c.vocab = v;
    /* Opened before counting: what cannot be written should not be counted for hours. */
    if (!(out = out_open_binary(o.out))) goto done;
    if ((rc = cooc_count(in, n, &c, out, &r)) < 0) goto done;
    rc = out_commit(out);
    /* Committed or not, out_abort below must not see it again. */
    out = NULL;
    if (rc == 0)
        msg_note("%llu tokens, %llu pairs; %llu runs of %.1f MB on disk, peak memory %.0f MiB",
                 (unsigned long long)r.tokens, (unsigned long long)r.pairs,
                 (unsigned long long)r.runs, (double)r.spilled / 1e6, (double)mem_peak() / 0x1p20);
    if (rc == 0 && r.unknown)
        msg_note("%" PRIu64 " of %" PRIu64 " tokens are not in the vocabulary and %s", r.unknown,
                 r.tokens,
                 o.oov == COOC_GAP ? "only keep their place (--oov gap)"
                                   : "were taken out (--oov collapse)");
    if (rc == 0 && skip->size)
        msg_note("%llu tokens skipped (--skip)", (unsigned long long)r.skipped);
done:
    out_abort(out);
    vocab_free(v);
    free(in);
    return rc;
}

int main(int argc, char **argv)
{
    struct args args;
    int status = prog_start(&prog, groups, argc, argv, &args);
    if (status >= 0) return status;
    if (o.left && o.right) return prog_usage("give only one of --left and --right");
    if (o.vocab && o.min_count > 1)
        return prog_usage("--min-count %" PRId64 " is for a vocabulary that is collected here; cut "
                          "that of --vocab with vocab-count --min-count", o.min_count);
    int std_in = 0;
    for (int i = 0; i < args.n; i++) {
        char lang[32];
        std_in += !strcmp(prog_lang_file(args.v[i], lang), "-");
    }
    /* the second reading would find it at its end */
    if (std_in > 1) return prog_usage("standard input can be given only once");
    if (o.shards && args.n && !std_in)
        return prog_usage("--shards is for standard input, which is no input here; files that are "
                          "shards are recognised");
    if (o.shards && !o.vocab)
        return prog_usage("--shards needs -v, the vocabulary that binarize used");
    /* Checked here, where a mistake is one of usage (status 2) and not a failure. */
    struct cooc_scheme s;
    enum cooc_sides sides = o.left ? COOC_LEFT : o.right ? COOC_RIGHT : COOC_SYMMETRIC;
    if (cooc_scheme_init(&s, (uint32_t)o.window, (enum cooc_weights)o.weights, sides,
                         (enum cooc_oov)o.oov)
        < 0)
        return prog_usage("%s", err_msg());
    struct cooc_skip skip;
    if (cooc_skip_make(&skip, o.skip.v, o.skip.n, "--skip") < 0)
        return prog_usage("%s", err_msg());
    int rc = run(&args, &s, &skip);
    cooc_skip_free(&skip);
    return rc < 0 ? prog_fail() : prog_end();
}
