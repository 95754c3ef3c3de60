/* tokenize: plain text in, tokens out, separated by one space. Byte for byte what Moses'
 * tokenizer.perl writes; before it XLM's preparation of text, after it a case marker; Thai, Chinese
 * and Japanese by ICU. Or the sub-words that an imported model reads. */
#include <stdio.h>
#include <string.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/mem.h"
#include "common/prog/prog.h"
#include "lib/raw/raw.h"
#include "lib/text/lines.h"
#include "lib/text/tokenize.h"

static struct options {
    struct tokenize_options t;
    const char *out, *subwords;
    bool uncased, case_only, sgm, xlm, line_buffered, replace_invalid, describe, settings;
    int lines; bool time;
} o = { .t.lang = "en" };

static const struct opt rows[] = {
    { "language", 'l', OPT_STR(options, t.lang), "LANG", "language of the text (default: en)" },
    { "output", 'o', OPT_STR(options, out), "FILE",
      "write to FILE, which appears only when complete (default: standard output)" },
    { 0 }
};
static const struct opt token_rows[] = {
    { "nonbreaking", 0, OPT_STR(options, t.nonbreaking), "FILE",
      "words that keep their full stop, in Moses' format (default: the language's list in the "
      "data folder, else the English one)" },
    { "no-escape", 0, OPT_FLAG(options, t.no_escape), 0, "leave & | < > ' \" [ ] as they are" },
    { "aggressive", 'a', OPT_FLAG(options, t.aggressive), 0,
      "split at hyphens: a-b becomes a @-@ b" },
    { "protected", 0, OPT_STR(options, t.protected_file), "FILE",
      "keep what matches these Perl regular expressions, one per line, in one piece" },
    { "skip-xml", 'x', OPT_FLAG(options, t.skip_xml), 0,
      "leave lines of the form <...> as they are" },
    { "segment", 0, OPT_CHOICE(options, t.segment), "auto|moses|icu|indic",
      "find words by Moses' rules, by ICU's word break, or between punctuation marks as the Indic "
      "NLP library does "
      "(auto: ICU for th, zh and ja, indic for ne and si)" },
    { "no-tokenize", 0, OPT_FLAG(options, t.no_tokenize), 0,
      "do not tokenise; do only the other steps asked for" },
    { 0 }
};
static const struct opt before_rows[] = {
    { "input-from-sgm", 0, OPT_FLAG(options, sgm), 0,
      "take the text of <seg>...</seg>, as input-from-sgm.perl does" },
    { "replace-unicode-punctuation", 0, OPT_FLAG(options, t.prepare.unicode_punctuation), 0,
      "replace Unicode punctuation, as replace-unicode-punctuation.perl does" },
    { "normalize-punctuation", 0, OPT_FLAG(options, t.prepare.punctuation), 0,
      "normalise punctuation, as normalize-punctuation.perl -l LANG does" },
    { "penn", 0, OPT_FLAG(options, t.prepare.penn), 0,
      "with --normalize-punctuation: leave ` and '' as they are" },
    { "remove-non-printing|remove-non-printing-char", 0, OPT_FLAG(options, t.prepare.non_printing),
      0,
      "remove non-printing characters, as remove-non-printing-char.perl does" },
    { "normalise-romanian|normalize-romanian", 0, OPT_FLAG(options, t.prepare.romanian), 0,
      "normalise Romanian letters, as normalise-romanian.py does" },
    { "remove-diacritics", 0, OPT_FLAG(options, t.prepare.diacritics), 0,
      "remove Romanian diacritics, as remove-diacritics.py does" },
    { "normalize-indic", 0, OPT_FLAG(options, t.prepare.indic), 0,
      "normalise Devanagari (hi, mr, ne, sa), as the Indic NLP library does" },
    { "xlm", 0, OPT_FLAG(options, xlm), 0,
      "prepare text as XLM's tokenize.sh does: replace and normalise punctuation, remove "
      "non-printing characters, do not escape" },
    { 0 }
};
static const struct opt after_rows[] = {
    { "lowercase-and-remove-accent", 0, OPT_FLAG(options, t.lower_accents), 0,
      "lower-case and remove accents, as XLM's lowercase_and_remove_accent.py does (XLM-15)" },
    { "case-marker", 0, OPT_FLAG(options, t.case_marker), 0,
      "lower-case, and mark what was not: \xE2\x87\xA7 hund for Hund, \xE2\x87\xAA eu for EU; "
      "detokenize --case-marker undoes it" },
    { "case-marker-only", 0, OPT_FLAG(options, case_only), 0,
      "only lower-case and mark, on text that is already tokenised" },
    { 0 }
};
static const struct opt other_rows[] = {
    { "subwords", 0, OPT_STR(options, subwords), "PATH",
      "cut text into the sub-words of a model's folder, by whatever tokeniser it has, of a "
      "SentencePiece model (*.model), a tokenizer.json or WordPiece (vocab.txt, with BERT's basic "
      "tokeniser)" },
    { "uncased", 0, OPT_FLAG(options, uncased), 0,
      "with a vocab.txt: lower-case the text and remove accents" },
    { 0 }
};
static const struct opt io_rows[] = {
    { "replace-invalid", 0, OPT_FLAG(options, replace_invalid), 0,
      "replace bytes that are not UTF-8 by U+FFFD (default: they are an error)" },
    { "line-buffered", 'b', OPT_FLAG(options, line_buffered), 0,
      "write each line as soon as it is read (the default on a terminal)" },
    { "describe", 0, OPT_FLAG(options, describe), 0,
      "print how the tokens would be made, for a shard's note, and exit" },
    { "settings", 0, OPT_FLAG(options, settings), 0,
      "print the options that change the tokens, for a model folder (pretrain --tokenizer), and "
      "exit" },
    { "lines", 0, OPT_INT(options, lines), "N",
      "accepted for compatibility with tokenizer.perl; ignored" },
    { "time", 0, OPT_FLAG(options, time), 0,
      "accepted for compatibility with tokenizer.perl; ignored" },
    { 0 }
};
static const struct opt_group groups[] = {
    { "Options", rows, &o },
    { "Tokens", token_rows, &o },
    { "Before tokenisation, in this order (XLM's)", before_rows, &o },
    { "After tokenisation", after_rows, &o },
    { "Sub-words instead of tokens", other_rows, &o },
    { "Input and output", io_rows, &o },
    { 0 }
};

static const struct prog prog = {
    "tokenize", "-l LANG [options] [FILE]... > tokens",
    "Splits text into tokens, as Moses' tokenizer.perl does.",
    .more = "tokenizer.perl's own spellings (-no-escape, -protected FILE, -threads N) are "
            "understood.\n\n"
            "Examples:\n  tokenize -l de < text.de > tok.de\n  tokenize -l ro --xlm "
            "--normalise-romanian --remove-diacritics text.ro > tok.ro\n"
            "  tokenize -l de --case-marker text.de | bpe-apply -c codes\n"
};

struct ctx { struct tokenizer *t; struct sgm *sgm; struct tbuf text; };

static int subwords(const struct args *args)
{
    struct raw_run r = { .path = o.subwords, .lang = o.t.lang, .uncased = o.uncased,
                         .line_buffered = o.line_buffered, .replace_invalid = o.replace_invalid };
    return raw_run(&r, args->v, args->n, o.out);
}

static int line(void *ctx, void *work, const char *s, size_t n, bool newline, struct tbuf *out)
{ return tokenizer_line(((struct ctx *)ctx)->t, work, s, n, newline, out); }
static void *work_new(void *ctx) { return tokenizer_work_new(((struct ctx *)ctx)->t); }
static void work_free(void *work) { tokenizer_work_free(work); }

static int from_sgm(void *ctx, struct tbuf *block, bool last)
{
    struct ctx *c = ctx;
    c->text.n = 0;
    sgm_feed(c->sgm, block->p, block->n, last, &c->text);
    /* lines_run hands out what is left in the block */
    block->n = 0;
    tbuf_add(block, c->text.p, c->text.n);
    return 0;
}

/* tokenizer.perl's long options have one dash. */
static void two_dashes(int argc, char **argv)
{
    static const char *const peers[] = { "-no-escape", "-protected", "-threads",
                                         "-lines",     "-time",      "-penn" };
    /* As getopt: nothing after "--" is an option. */
    for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
        for (size_t k = 0; k < sizeof peers / sizeof *peers; k++)
            if (!strcmp(argv[i], peers[k])) {
                /* Never freed: argv's strings live as long as the program. */
                char *with = mem_alloc(strlen(argv[i]) + 2);
                with[0] = '-';
                strcpy(with + 1, argv[i]);
                argv[i] = with;
            }
}

static int tell(const char *text)
{
    struct out *out = out_open(o.out);
    if (!out) return -1;
    if (out_write(out, text, strlen(text)) < 0) { out_abort(out); return -1; }
    return out_commit(out);
}

/* Options of Moses' rules, which ICU and Indic text do not use. */
static bool by_rules(const struct tokenize_options *t)
{ return t->aggressive || t->skip_xml || t->protected_file || t->nonbreaking; }

static int run(const struct args *args)
{
    /* A model's own tokeniser reads plain text: Moses' steps are left out. */
    if (o.subwords) return subwords(args);
    if (o.case_only) { o.t.no_tokenize = o.t.case_marker = true; }
    /* XLM's tokenize.sh: replace-unicode-punctuation, normalize-punctuation,
     * remove-non-printing-char, and no escapes. */
    if (o.xlm)
        o.t.prepare.unicode_punctuation = o.t.prepare.punctuation = o.t.prepare.non_printing =
            o.t.no_escape = true;
    if (o.describe) {
        /* a shard's note and a newline */
        char note[128 + 1];
        tokenizer_describe(&o.t, note);
        return tell(strcat(note, "\n"));
    }
    if (o.settings) {
        /* A model's folder keeps options, not files that lie elsewhere. */
        if (o.t.nonbreaking || o.t.protected_file)
            return err_set(
                "--settings: files (--nonbreaking, --protected) cannot be kept with a model");
        char *text = raw_settings(&o.t);
        int rc = tell(text);
        free(text);
        return rc;
    }
    bool fallback;
    struct ctx c = { .t = tokenizer_new(&o.t, &fallback) };
    if (!c.t) return -1;
    /* said once, and not per line */
    if (fallback)
        msg_note("no list of non-breaking prefixes for '%s', using the English one; --nonbreaking "
                 "FILE gives another",
                 o.t.lang);
    /* no error: scripts give tokenizer.perl the same options for all languages */
    if (by_rules(&o.t) && !tokenize_moses(&o.t))
        msg_warn("language '%s' is not cut by Moses' rules: --aggressive, --protected, "
                 "--nonbreaking and --skip-xml change nothing (--segment moses)", o.t.lang);
    if (o.sgm) c.sgm = sgm_new();
    struct lines l = { .ctx = &c,
                       .line = line,
                       .work_new = work_new,
                       .work_free = work_free,
                       .whole = o.sgm ? from_sgm : NULL,
                       .line_buffered = o.line_buffered,
                       .replace_invalid = o.replace_invalid };
    int status = lines_run(&l, args->v, args->n, o.out);
    sgm_free(c.sgm);
    tbuf_free(&c.text);
    tokenizer_free(c.t);
    return status;
}

int main(int argc, char **argv)
{
    struct args args;
    /* before prog_start, which would read -no-escape as letters */
    two_dashes(argc, argv);
    int status = prog_start(&prog, groups, argc, argv, &args);
    if (status >= 0) return status;
    if (o.t.prepare.penn && !o.t.prepare.punctuation && !o.xlm)
        return prog_usage("--penn applies only to --normalize-punctuation and --xlm: add one of "
                          "them or leave out --penn (there are no Penn Treebank tokens)");
    if (o.uncased && !o.subwords) return prog_usage("--uncased needs --subwords");
    if (o.subwords && (o.settings || o.describe))
        return prog_usage("--subwords cannot be combined with --settings or --describe");
    if (o.settings && o.describe)
        return prog_usage("--settings and --describe exclude each other");
    if ((o.settings || o.describe) && args.n)
        return prog_usage("--%s reads no text: without '%s'", o.settings ? "settings" : "describe",
                          args.v[0]);
    char asked[64];
    if (o.subwords && (prog_asked(token_rows, asked) || prog_asked(before_rows, asked)
                       || prog_asked(after_rows, asked)))
        return prog_usage("--subwords cuts text as its model does: without --%s", asked);
    if ((o.t.no_tokenize || o.case_only) && (by_rules(&o.t) || o.t.segment))
        return prog_usage("without tokenisation --aggressive, --protected, --nonbreaking, "
                          "--skip-xml and --segment change nothing; leave them out");
    return run(&args) < 0 ? prog_fail() : prog_end();
}
