/* detokenize: tokens in, text out; byte for byte what Moses' detokenizer.perl writes. */
#include <stdlib.h>
#include "common/prog/prog.h"
#include "lib/raw/raw.h"
#include "lib/text/casemark.h"
#include "lib/text/lines.h"
#include "lib/text/moses.h"

static struct options {
    const char *lang, *out, *subwords;
    bool uppercase, case_marker, case_only, line_buffered, replace_invalid;
} o = { .lang = "en" };

static const struct opt rows[] = {
    { "language", 'l', OPT_STR(options, lang), "LANG",
      "language of the text (default: en); cs, en, fi, fr, it and ko have rules of their own" },
    { "output", 'o', OPT_STR(options, out), "FILE",
      "write to FILE, which appears only when complete (default: standard output)" },
    { "uppercase", 'u', OPT_FLAG(options, uppercase), 0,
      "upper-case the first letter of each line" },
    { "case-marker", 0, OPT_FLAG(options, case_marker), 0, "undo tokenize --case-marker first" },
    { "case-marker-only", 0, OPT_FLAG(options, case_only), 0,
      "only undo tokenize --case-marker; do not join tokens" },
    { "subwords", 0, OPT_STR(options, subwords), "PATH",
      "join what tokenize --subwords PATH cut, and do nothing else" },
    { "replace-invalid", 0, OPT_FLAG(options, replace_invalid), 0,
      "replace bytes that are not UTF-8 by U+FFFD (default: they are an error)" },
    { "line-buffered", 'b', OPT_FLAG(options, line_buffered), 0,
      "write each line as soon as it is read (the default on a terminal)" },
    { 0 }
};
static const struct opt_group groups[] = { { "Options", rows, &o }, { 0 } };

static const struct prog prog = {
    "detokenize", "-l LANG [options] [FILE]... > text",
    "Joins tokens to text, as Moses' detokenizer.perl does.",
    .more = "Examples:\n  detokenize -l de < tok.de > text.de\n  bpe-apply --restore < hyp | "
            "detokenize -l en --case-marker\n"
};

struct work { struct detok_work *detok; struct tbuf cased; };

static int line(void *ctx, void *work, const char *s, size_t n, bool newline, struct tbuf *out)
{
    struct detok *d = ctx;
    struct work *w = work;
    /* Marks are tokens of their own: joined first, they would keep spaces that belong to
     * words. */
    if (o.case_marker || o.case_only) {
        w->cased.n = 0;
        /* p is not NULL for an empty line */
        tbuf_room(&w->cased, n);
        casemark_unmark(s, n, &w->cased);
        s = w->cased.p;
        n = w->cased.n;
    }
    int copied = 1;
    if (o.case_only) tbuf_add(out, s, n);
    else copied = detok_line(d, w->detok, s, n, out);
    /* Moses ends a last line that lacks its newline, unless it copies the line as it is */
    if (newline || !copied) tbuf_byte(out, '\n');
    return 0;
}

static void *work_new(void *ctx)
{
    (void)ctx;
    struct work *w = mem_zero(1, sizeof *w);
    w->detok = detok_work_new();
    return w;
}
static void work_free(void *work)
{
    struct work *w = work;
    detok_work_free(w->detok);
    tbuf_free(&w->cased);
    free(w);
}

static int subwords(const struct args *args)
{
    struct raw_run r = { .path = o.subwords, .lang = o.lang, .join = true,
                         .line_buffered = o.line_buffered, .replace_invalid = o.replace_invalid };
    return raw_run(&r, args->v, args->n, o.out);
}

int main(int argc, char **argv)
{
    struct args args;
    int status = prog_start(&prog, groups, argc, argv, &args);
    if (status >= 0) return status;
    if (o.subwords && (o.uppercase || o.case_marker || o.case_only))
        return prog_usage("--subwords does nothing else: without --uppercase and --case-marker");
    if (o.case_only && o.uppercase)
        return prog_usage("--case-marker-only joins no tokens, and has no --uppercase");
    if (o.subwords) return subwords(&args) < 0 ? prog_fail() : prog_end();
    struct detok_options d = { o.lang, o.uppercase };
    struct detok *detok = detok_new(&d);
    struct lines l = { .ctx = detok, .line = line, .work_new = work_new, .work_free = work_free,
                       .line_buffered = o.line_buffered, .replace_invalid = o.replace_invalid };
    status = lines_run(&l, args.v, args.n, o.out);
    detok_free(detok);
    return status < 0 ? prog_fail() : prog_end();
}
