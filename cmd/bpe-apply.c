/* Applies byte-pair encoding to tokenised text, or joins its pieces back. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/mem.h"
#include "common/prog/prog.h"
#include "common/text/text.h"
#include "common/thread.h"
#include "lib/bpe/segment.h"

static struct options {
    const char *codes, *vocab, *out, *separator, *input;
    int64_t min_count, seed;
    int merges, workers;
    double dropout;
    struct strs glossaries, glossary_files;
    bool restore, by_line, replace;
    size_t cache;
} o = { .separator = "@@", .cache = (size_t)40 << 20 };

static const struct opt rows[] = {
    { "codes", 'c', OPT_STR(options, codes), "FILE",
      "merge operations, in fastBPE's or subword-nmt's format" },
    { "vocab|vocabulary", 0, OPT_STR(options, vocab), "FILE",
      "split pieces until they are in this vocabulary" },
    { "min-count|vocabulary-threshold", 0, OPT_I64(options, min_count), "N",
      "with --vocab: use only its tokens that occur N times or more", .min = 0, .max = 9e18 },
    { "merges", 'm', OPT_INT(options, merges), "N",
      "use only the first N merge operations; 0 or -1: all (default: 0)", .min = -1, .max = 2e9 },
    { "dropout", 0, OPT_REAL(options, dropout), "P",
      "BPE-dropout: skip each merge with probability P", .min = 0, .max = 1 },
    { "seed", 0, OPT_I64(options, seed), "N",
      "seed of the random numbers of --dropout (default: 0)", .min = -9e18, .max = 9e18 },
    { "glossaries|glossary", 0, OPT_LIST(options, glossaries), "REGEX",
      "keep what matches this regular expression (Python's syntax) in one piece; may be repeated" },
    { "glossary-file", 0, OPT_LIST(options, glossary_files), "FILE",
      "keep what matches the expressions in this file, one per line, in one piece" },
    { "separator", 's', OPT_STR(options, separator), "STR",
      "mark at the end of each piece except a word's last (default: @@)" },
    { "restore", 'r', OPT_FLAG(options, restore), NULL,
      "join pieces into words again; needs no codes" },
    { "input", 'i', OPT_STR(options, input), "FILE",
      "read this file (default: the arguments, or standard input)" },
    { "output", 'o', OPT_STR(options, out), "FILE",
      "write to FILE, which appears only when complete (default: standard output)" },
    { "num-workers", 0, OPT_INT(options, workers), "N",
      "same as --threads, in subword-nmt's spelling; -1: all processors", .min = -1, .max = 4096 },
    { "replace-invalid", 0, OPT_FLAG(options, replace), NULL,
      "replace bytes that are not UTF-8 by U+FFFD (default: they are an error)" },
    { "line-buffered", 0, OPT_FLAG(options, by_line), NULL,
      "write each line as soon as it is read (the default on a terminal)" },
    { "cache", 0, OPT_SIZE(options, cache), "SIZE",
      "memory for words that are already encoded (default: 40M)" },
    { 0 }
};
static const struct opt_group groups[] = { { "Options", rows, &o }, { 0 } };

static const struct prog prog = {
    "bpe-apply", "-c codes [options] [FILE...] > text.bpe",
    "Applies merge operations to tokenised text, as fastBPE (fast applybpe) or subword-nmt\n"
    "(apply-bpe) does.",
    "Examples:\n"
    "  bpe-apply -c codes < text > text.bpe\n"
    "  bpe-apply -c codes --vocab vocab.de --min-count 50 < text.de > text.de.bpe\n"
    "  bpe-apply --restore < text.bpe > text"
};

/* One expression per line; empty lines are skipped. */
static int read_glossary(const char *path, struct strs *to)
{
    struct text *in = text_open(path, TEXT_UTF8);
    const char *line;
    size_t n;
    int rc;
    if (!in) return -1;
    while ((rc = text_line(in, &line, &n)) > 0) {
        if (!n) continue;
        to->v = mem_grow(to->v, (size_t)to->n + 1, sizeof *to->v);
        to->v[to->n++] = mem_dup(line);
    }
    text_close(in);
    return rc;
}

static int each_input(const struct args *args, const struct bpe *b, const struct segment_options *s,
                      struct out *out)
{
    /* TEXT_LIVE: lines of a pipe are passed on as they come, not when a block is full. */
    int flags = TEXT_UTF8 | TEXT_LIVE | (o.replace ? TEXT_REPLACE : 0), n = args->n ? args->n : 1,
        rc = 0;
    /* Lines are counted through all files: BPE-dropout is keyed by them, and so by the text, not
     * by how it was divided. */
    uint64_t line = 1;
    for (int i = 0; i < n && rc == 0; i++) {
        struct text *in = text_open(args->n ? args->v[i] : o.input, flags);
        if (!in)
            /* An expression that the shell has split looks like a file that does not exist. */
            return !o.glossaries.n || !args->n
                       ? -1
                       : err_set("%s; --glossaries takes one expression: repeat it for each",
                                 err_msg());
        rc = b ? segment_text(b, s, in, out, line) : segment_restore(s, in, out);
        line += text_lines(in);
        /* the next file's first line is another one */
        if (rc == 0 && i + 1 < n && text_lines(in) && !text_had_newline(in))
            rc = out_write(out, "\n", 1);
        text_close(in);
    }
    return rc;
}

static int run(const struct args *args)
{
    /* -1 is subword-nmt's "all processors", which is the default here. */
    if (o.workers > 0) par_threads_set(o.workers);
    struct segment_options s = { .separator = o.separator,
                                 .dropout = o.dropout,
                                 .seed = (uint64_t)o.seed,
                                 .cache = o.cache,
                                 /* a person who types wants an answer to each line */
                                 .by_line = o.by_line || isatty(STDIN_FILENO),
                                 .threads = par_threads() };
    /* NULL with --restore, which needs no merge operations. */
    struct bpe *b = NULL;
    struct glossary *g = NULL;
    struct strs patterns = { 0 };
    int rc = 0;
    if (!o.restore) {
        struct codes codes;
        if (codes_read(&codes, o.codes, o.merges > 0 ? (size_t)o.merges : 0) < 0) return -1;
        /* fastBPE writes all the spaces of the text, subword-nmt one of several */
        s.every_space = codes.format == CODES_FASTBPE;
        b = bpe_new(&codes, o.separator);
        codes_free(&codes);
        if (o.vocab) rc = bpe_limit(b, o.vocab, (uint64_t)o.min_count);
        for (int i = 0; i < o.glossaries.n; i++) {
            patterns.v = mem_grow(patterns.v, (size_t)patterns.n + 1, sizeof *patterns.v);
            patterns.v[patterns.n++] = mem_dup(o.glossaries.v[i]);
        }
        for (int i = 0; i < o.glossary_files.n && rc == 0; i++)
            rc = read_glossary(o.glossary_files.v[i], &patterns);
        if (rc == 0 && patterns.n && !(s.glossary = g = glossary_new(patterns.v, patterns.n)))
            rc = -1;
    }
    struct out *out = rc == 0 ? out_open(o.out) : NULL;
    if (out) rc = each_input(args, b, &s, out);
    else rc = -1;
    if (rc == 0) rc = out_commit(out);
    else out_abort(out);
    for (int i = 0; i < patterns.n; i++) free((char *)(uintptr_t)patterns.v[i]);
    free(patterns.v);
    glossary_free(g);
    bpe_free(b);
    return rc;
}

static bool is_dash(const char *path) { return path && !strcmp(path, "-"); }

int main(int argc, char **argv)
{
    struct args args;
    int status = prog_start(&prog, groups, argc, argv, &args);
    if (status >= 0) return status;
    if (!o.codes && !o.restore) return prog_usage("--codes FILE or --restore is needed");
    /* options that --restore would pass over in silence */
    static const char *const splits[] = { "codes", "vocab", "min-count", "merges", "dropout",
                                          "seed", "glossaries", "glossary-file", "cache" };
    for (size_t i = 0; o.restore && i < sizeof splits / sizeof *splits; i++)
        if (prog_asked_for(splits[i]))
            return prog_usage("--%s splits words, --restore joins them: give one of the two",
                              splits[i]);
    if (!*o.separator || strchr(o.separator, ' ') || strchr(o.separator, '\n'))
        return prog_usage("--separator must be a word");
    /* Whatever reads standard input second would find it empty and end with status 0. */
    int std_in = !args.n && is_dash(o.input ? o.input : "-");
    for (int i = 0; i < args.n; i++) std_in += is_dash(args.v[i]);
    for (int i = 0; i < o.glossary_files.n; i++) std_in += is_dash(o.glossary_files.v[i]);
    /* codes and vocabularies come from standard input, too */
    std_in += is_dash(o.codes) + is_dash(o.vocab);
    if (std_in > 1) return prog_usage("standard input can be given only once");
    if (o.min_count && !o.vocab) return prog_usage("--min-count needs --vocab");
    if (o.input && args.n) return prog_usage("files are given both with --input and as arguments");
    return run(&args) < 0 ? prog_fail() : prog_end();
}
