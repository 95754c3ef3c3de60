/* Turns tokenised text into a shard of token ids. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/file.h"
#include "common/prog.h"
#include "common/shard.h"
#include "common/text.h"
#include "common/vocab.h"

static struct options { const char *vocab, *lang, *out, *note; int block; bool replace; } o;

static const struct opt rows[] = {
    { "vocab", 'v', OPT_STR(options, vocab), "FILE", "vocabulary, as vocab-count writes it" },
    { "lang", 'l', OPT_STR(options, lang), "LANG", "language of the text, recorded in the shard" },
    { "output", 'o', OPT_STR(options, out), "FILE",
      "write to FILE, which appears only when complete (default: standard output)" },
    { "note", 0, OPT_STR(options, note), "TEXT",
      "how the text was made, recorded in the shard (at most 127 bytes)" },
    { "block-tokens", 0, OPT_INT(options, block), "N",
      "number of tokens per block (default 65536)", .min = 1, .max = 1 << 24 },
    { "replace-invalid", 0, OPT_FLAG(options, replace), NULL,
      "replace bytes that are not UTF-8 by U+FFFD (default: they are an error)" },
    { 0 }
};
static const struct opt_group groups[] = { { "Options", rows, &o }, { 0 } };

static const struct prog prog = {
    "binarize", "-v vocab [-l LANG] [options] [FILE...] > x.shd",
    "Turns tokens into a shard of token ids, one sentence per line. Tokens that the vocabulary "
    "lacks become <unk>.",
    "examples:\n"
    "  bpe-apply -c codes < de.tok | binarize -v vocab -l de -o de.shd"
};

static int put_text(struct shard_writer *w, struct text *in, const struct vocab *v)
{
    static uint32_t *ids;
    static size_t cap;
    const char *line;
    size_t n;
    int rc;
    while ((rc = text_line(in, &line, &n)) > 0) {
        n = vocab_encode(v, line, n, &ids, &cap);        /* may move ids: before it is passed on */
        if (shard_put(w, ids, n) < 0) return -1;
    }
    return rc;
}

static int run(const struct args *args)
{
    struct vocab *v = vocab_read(o.vocab);
    if (!v) return -1;
    struct shard_info info = { .vocab_hash = v->hash, .vocab_size = v->n };
    if (o.lang) strcpy(info.lang, o.lang);
    if (o.note) strcpy(info.note, o.note);
    struct out *out = out_open(o.out);
    struct shard_writer *w = out ? shard_create(out, &info, (uint32_t)o.block) : NULL;
    int rc = w ? 0 : -1;
    for (int i = 0; i < (args->n ? args->n : 1) && rc == 0; i++) {
        struct text *in = text_open(args->n ? args->v[i] : NULL,
                                    TEXT_UTF8 | (o.replace ? TEXT_REPLACE : 0));
        rc = in ? put_text(w, in, v) : -1;
        text_close(in);
    }
    if (rc == 0) rc = shard_finish(w, &info);
    else shard_abandon(w);
    if (rc == 0) rc = out_commit(out);
    else out_abort(out);
    vocab_free(v);
    if (rc == 0)
        msg_note("%" PRIu64 " sentences, %" PRIu64 " tokens, %" PRIu64 " unknown (%.2f%%)",
                 info.sentences, info.tokens, info.unknown,
                 info.tokens ? 100.0 * (double)info.unknown / (double)info.tokens : 0.0);
    return rc;
}

/* What docs/formats/shard.md allows as a language, and no "=", which stands behind one on command
 * lines. */
static bool is_code(const char *s)
{
    size_t n = 0;
    while ((unsigned char)s[n] > ' ' && s[n] != 0x7F && s[n] != '=') n++;
    return s[n] == '\0' && n <= 31;
}

int main(int argc, char **argv)
{
    struct args args;
    int status = prog_start(&prog, groups, argc, argv, &args);
    if (status >= 0) return status;
    if (!o.vocab) return prog_usage("--vocab FILE is needed");
    if (o.lang && !is_code(o.lang))
        return prog_usage("--lang: \"%.40s\" is not a language code", o.lang);
    if (o.note && (strlen(o.note) > 127 || strchr(o.note, '\n')))
        return prog_usage("--note must be one line of at most 127 bytes");
    return run(&args) < 0 ? prog_fail() : prog_end();
}
