/* ngrams: word n-grams that belong together, by pointwise mutual information. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/mem.h"
#include "common/prog/prog.h"
#include "lib/ngrams/ngrams.h"

static struct options {
    const char *lengths, *out;
    int score;
    struct ngrams_options n;
} o = { .lengths = "2-5" };

static const struct opt rows[] = {
    { "lengths", 'n', OPT_STR(options, lengths), "A-B",
      "n-grams of A to B words, 2 to 8 (default: 2-5)" },
    { "min-count", 0, OPT_I64(options, n.min_count), "N",
      "leave out n-grams with fewer occurrences", .min = 1, .max = 9e18 },
    { "top", 0, OPT_I64(options, n.top), "N",
      "keep the best N: half of them of A words, a quarter of one more, and so on; 0: all "
      "(default: by --cover)",
      .min = 0, .max = 9e18 },
    { "cover", 0, OPT_REAL(options, n.cover), "P",
      "without --top: keep as many as cover this share of the tokens", .min = 0, .max = 1 },
    { "score", 0, OPT_CHOICE(options, score), "pmi|pmi2",
      "pmi: log of an n-gram's p over the product of its parts' p, the least over all ways to "
      "cut it; pmi2: the same with p^2" },
    { "memory", 'm', OPT_SIZE(options, n.memory), "SIZE",
      "stay below this much memory; the rest goes to --tmp (default: 4G)" },
    { "tmp", 'T', OPT_STR(options, n.tmp), "DIR",
      "folder for temporary files (default: $TMPDIR or /tmp)" },
    { "output", 'o', OPT_STR(options, out), "FILE",
      "write to FILE, which appears only when complete (default: standard output)" },
    { 0 }
};
static const struct opt_group groups[] = { { "Options", rows, &o }, { 0 } };

static const struct prog prog = {
    "ngrams", "[options] [LANG=]FILE... > x.ngrams",
    "Lists word n-grams that belong together (PMI-Masking): \"score TAB count TAB words\" per\n"
    "line, shorter ones first, then by falling score. Files are tokenised text of one language,\n"
    "before BPE; none or \"-\" is standard input.",
    "Examples:\n"
    "  ngrams en=en.tok > en.ngrams\n"
    "  ngrams -n 2-5 --top 800000 --memory 2G en=news.tok.zst > en.ngrams\n"
    "  cut -f 3- en.ngrams | bpe-apply -c codes > en.ngrams.bpe\n"
    "  pretrain --mask-scheme pmi --mask-ngrams en=en.ngrams.bpe ...\n"
};

static int lengths(const char *s)
{
    char end;
    /* "%c" finds what follows the numbers: "2-5x" is not taken for 2-5. Two digits: what does not
     * fit an int would be any number. */
    int n = sscanf(s, "%2d-%2d%c", &o.n.least, &o.n.longest, &end);
    /* "3": both ends, and nothing behind it, as in "3,5" or "3x" */
    if (n == 1 && sscanf(s, "%2d%c", &o.n.least, &end) == 1) {
        o.n.longest = o.n.least;
        n = 2;
    }
    return n == 2 && o.n.least >= 2 && o.n.least <= o.n.longest && o.n.longest <= NGRAMS_LONGEST
               ? 0
               : -1;
}

static void tell(const struct ngrams_report *r)
{
    char list[NGRAMS_LONGEST * 24] = "";
    size_t at = 0;
    for (int k = o.n.least; k <= o.n.longest; k++)
        at += (size_t)snprintf(list + at, sizeof list - at, "%s%" PRIu64,
                               k > o.n.least ? ", " : "", r->kept[k]);
    msg_note("%" PRIu64 " tokens, %" PRIu64
             " different; %s n-grams of %d to %d words cover %.1f%% of the tokens; %" PRIu64
             " runs of %.1f MB on disk, peak memory %.0f MiB",
             r->tokens, r->words, list, o.n.least, o.n.longest, 100 * r->covered, r->runs,
             (double)r->spilled / 1e6, (double)mem_peak() / 0x1p20);
}

static int run(const struct args *a)
{
    const char **path = mem_zero((size_t)a->n + 1, sizeof *path);
    char first[32] = "", lang[32];
    int n = a->n ? a->n : 1, rc = 0;
    path[0] = "-";
    for (int i = 0; i < a->n && rc == 0; i++) {
        path[i] = prog_lang_file(a->v[i], i ? lang : first);
        if (i && strcmp(lang, first))
            /* The list is for one language's text: counts of two would be added up under one
             * word. */
            rc = err_set("%s: a list has one language, but \"%s\" follows \"%s\"; run ngrams once "
                         "per language",
                         path[i], lang, first);
    }
    struct out *out = rc == 0 ? out_open(o.out) : NULL;
    struct ngrams_report r;
    if (out) rc = ngrams_run(path, n, &o.n, out, &r);
    if (out && rc == 0) {
        rc = out_commit(out);
        out = NULL;
        if (rc == 0) tell(&r);
    } else rc = -1;
    out_abort(out);
    free(path);
    return rc;
}

int main(int argc, char **argv)
{
    struct args args;
    o.n = ngrams_defaults;
    int status = prog_start(&prog, groups, argc, argv, &args);
    if (status >= 0) return status;
    if (lengths(o.lengths) < 0)
        return prog_usage("-n %s: expected A-B or A with 2 <= A <= B <= %d", o.lengths,
                          NGRAMS_LONGEST);
    if (o.n.top >= 0 && prog_asked_for("cover"))
        return prog_usage("--cover is the number without --top; give one of them");
    o.n.score = (enum ngrams_score)o.score;
    o.n.threads = prog_threads();
    int std_in = 0;
    for (int i = 0; i < args.n; i++) {
        char lang[32];
        std_in += !strcmp(prog_lang_file(args.v[i], lang), "-");
    }
    if (std_in > 1) return prog_usage("standard input can be given only once");
    return run(&args) < 0 ? prog_fail() : prog_end();
}
