/* Looks inside shards: what they are, their text, whether they are intact. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "common/err.h"
#include "common/file.h"
#include "common/prog.h"
#include "common/shard.h"
#include "common/shown.h"
#include "common/vocab.h"

static struct options { const char *vocab, *out; bool ids; } o;

static const struct opt rows[] = {
    { "vocab", 'v', OPT_STR(options, vocab), "FILE",
      "cat: vocabulary that the shard was made with" },
    { "ids", 0, OPT_FLAG(options, ids), NULL,
      "cat: print token ids instead of tokens; needs no vocabulary" },
    { "output", 'o', OPT_STR(options, out), "FILE",
      "cat: write to FILE, which appears only when complete (default: standard output)" },
    { 0 }
};
static const struct opt_group groups[] = { { "Options", rows, &o }, { 0 } };

static const struct prog prog = {
    "shard", "info|cat|check [options] FILE...",
    "info prints what the headers and indexes say; cat prints the text; check reads everything\n"
    "and verifies every checksum, count and offset (status 1 and the place if anything is wrong).",
    "Examples:\n"
    "  shard info de.shd\n"
    "  shard cat -v vocab de.shd > de.bpe\n"
    "  shard check *.shd && echo all whole"
};

static int info(const char *path)
{
    struct shard_info i;
    struct shard *s = shard_open(path);
    if (!s) return -1;
    const uint32_t *ids;
    size_t n;
    int rc = 0;
    shard_info(s, &i);
    if (!strcmp(path, "-")) {                    /* a stream's totals are known only at its end */
        while ((rc = shard_next(s, &ids, &n)) > 0) ;
        shard_info(s, &i);
    }
    shard_close(s);
    if (rc < 0) return -1;
    printf("%s\n  language   %s\n  sentences  %" PRIu64 "\n  tokens     %" PRIu64
           "\n  unknown    %" PRIu64 "\n  blocks     %" PRIu64 "\n  vocabulary %" PRIu32
           " tokens, hash %016" PRIx64 "\n",
           path, *i.lang ? i.lang : "(none)", i.sentences, i.tokens, i.unknown, i.blocks,
           i.vocab_size, i.vocab_hash);
    char note[4 * sizeof i.note];
    shown(note, sizeof note, i.note, strlen(i.note));
    if (*i.note) printf("  note       %s\n", note);
    return 0;
}

static int cat(const char *path, const struct vocab *v, struct out *out)
{
    struct shard_info i;
    struct shard *s = shard_open(path);
    if (!s) return -1;
    shard_info(s, &i);
    const uint32_t *ids;
    size_t n;
    int rc = 0;
    if (v && (i.vocab_hash != v->hash || i.vocab_size != v->n))
        rc = err_set("%s: was made with another vocabulary (%" PRIu32 " tokens, hash %016" PRIx64
                     "; %s has %" PRIu32 " and %016" PRIx64 "); name that one",
                     path, i.vocab_size, i.vocab_hash, o.vocab, v->n, v->hash);
    FILE *f = out_stdio(out);
    while (rc == 0 && (rc = shard_next(s, &ids, &n)) > 0) {
        for (size_t k = 0; k < n; k++) {
            if (k) putc(' ', f);
            if (v) fwrite(vocab_token(v, ids[k]), 1, vocab_token_len(v, ids[k]), f);
            else fprintf(f, "%" PRIu32, ids[k]);
        }
        rc = putc('\n', f) == EOF ? out_flush(out) : 0;
    }
    shard_close(s);
    return rc;
}

static int run(const char *what, char **file, int n)
{
    int rc = 0;
    if (!strcmp(what, "cat")) {
        struct vocab *v = o.ids ? NULL : vocab_read(o.vocab);
        struct out *out = v || o.ids ? out_open(o.out) : NULL;
        if (!out) rc = -1;
        for (int i = 0; i < n && rc == 0; i++) rc = cat(file[i], v, out);
        if (rc == 0) rc = out_commit(out);
        else out_abort(out);
        vocab_free(v);
        return rc;
    }
    for (int i = 0; i < n && rc == 0; i++) rc = *what == 'i' ? info(file[i]) : shard_check(file[i]);
    return rc;
}

int main(int argc, char **argv)
{
    struct args args;
    int status = prog_start(&prog, groups, argc, argv, &args);
    if (status >= 0) return status;
    if (args.n < 1
        || (strcmp(args.v[0], "info") && strcmp(args.v[0], "cat") && strcmp(args.v[0], "check")))
        return prog_usage("expected info, cat or check, then files");
    if (args.n < 2) return prog_usage("%s: no file given (- reads standard input)", args.v[0]);
    if (!strcmp(args.v[0], "cat") && !o.vocab && !o.ids)
        return prog_usage("cat: --vocab FILE or --ids is needed");
    return run(args.v[0], args.v + 1, args.n - 1) < 0 ? prog_fail() : prog_end();
}
