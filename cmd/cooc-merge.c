/* cooc-merge: .cooc files -> their sum, one matrix per language, in one pass. */
#include "common/err.h"
#include "common/files/file.h"
#include "common/mem.h"
#include "common/prog/prog.h"
#include "lib/count/count.h"

static struct options {
    const char *ref, *out, *tmp;
    size_t memory;
} o = { .memory = (size_t)1 << 30 };

static const struct opt rows[] = {
    { "normalize", 0, OPT_STR(options, ref), "LANG",
      "record LANG as the reference of c_lang = C_LANG / C_lang; counts do not change" },
    { "memory", 'm', OPT_SIZE(options, memory), "SIZE",
      "keep at most this much in memory (default: 1G)" },
    { "tmp", 'T', OPT_STR(options, tmp), "DIR",
      "folder for temporary files (default: $TMPDIR or /tmp)" },
    { "output", 'o', OPT_STR(options, out), "FILE",
      "write to FILE, which appears only when complete (default: standard output)" },
    { 0 }
};
static const struct opt_group groups[] = { { "Options", rows, &o }, { 0 } };

static const struct prog prog = {
    "cooc-merge", "[options] A.cooc B.cooc... > x.cooc",
    "Adds co-occurrence counts: matrices of the same language are added, those of different\n"
    "languages are kept apart. Vocabulary, window, weights, sides and --oov must be the same.\n"
    "Any order and grouping gives the same bytes.",
    .more = "Example:\n  cooc-merge --normalize en en.*.cooc de.*.cooc > ende.cooc\n",
    .no_text = true
};

int main(int argc, char **argv)
{
    struct args args;
    int status = prog_start(&prog, groups, argc, argv, &args);
    if (status >= 0) return status;
    if (args.n == 0) return prog_usage("give the .cooc files to add");
    /* before anything is read: hours may lie between */
    struct out *out = out_open_binary(o.out);
    if (!out) return prog_fail();
    if (cooc_merge((const char *const *)args.v, args.n, o.ref, prog_threads(), o.memory, o.tmp, out)
        < 0) {
        out_abort(out);
        return prog_fail();
    }
    if (out_commit(out) < 0) return prog_fail();
    msg_note("%d files; peak memory %.0f MiB", args.n, (double)mem_peak() / 0x1p20);
    return prog_end();
}
