/* Looks inside shards: what they are, their text, whether they are intact. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/bytes.h"
#include "common/err.h"
#include "common/files/file.h"
#include "common/files/npy.h"
#include "common/mem.h"
#include "common/prog/prog.h"
#include "common/shown.h"
#include "common/text/shard.h"
#include "common/text/vocab.h"

static struct options { const char *vocab, *out; bool ids, npy; } o;

static const struct opt rows[] = {
    { "vocab", 'v', OPT_STR(options, vocab), "FILE",
      "cat: vocabulary that the shard was made with" },
    { "ids", 0, OPT_FLAG(options, ids), NULL,
      "cat: print token ids instead of tokens; needs no vocabulary" },
    { "npy", 0, OPT_FLAG(options, npy), NULL,
      "cat: write ids as a NumPy array into --output FILE, and into FILE.offsets where sentences "
      "begin; needs no vocabulary" },
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
    "  shard cat --npy -o de.npy de.shd\n"
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
    char note[4 * sizeof i.note], lang[4 * sizeof i.lang];
    /* Both are bytes of a stranger's file: shown as a terminal may see them. */
    shown(lang, sizeof lang, i.lang, strlen(i.lang));
    shown(note, sizeof note, i.note, strlen(i.note));
    printf("%s\n  language   %s\n  sentences  %" PRIu64 "\n  tokens     %" PRIu64
           "\n  unknown    %" PRIu64 "\n  blocks     %" PRIu64 "\n  vocabulary %" PRIu32
           " tokens, hash %016" PRIx64 "\n",
           path, *lang ? lang : "(none)", i.sentences, i.tokens, i.unknown, i.blocks,
           i.vocab_size, i.vocab_hash);
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
    /* By hash and size: ids of another vocabulary are other words, and no checksum would
     * notice. */
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
        /* A full disk is noticed at each line and not after all of them. */
        rc = putc('\n', f) == EOF ? out_flush(out) : 0;
    }
    shard_close(s);
    return rc;
}

/* Arrays under way: their lengths stand before them, so they wait in temporary files. */
struct arrays {
    FILE *ids, *offsets;
    uint64_t n, sentences;
    size_t wide;                   /* bytes of an id, by the size of the vocabulary */
    uint64_t vocab_hash;
    uint32_t vocab_size;
    const char *first;             /* the file they are the first one's of */
};

static int no_room(void)
{
    return err_sys("cannot write a temporary file; set TMPDIR to a folder with more room");
}

static int add_number(FILE *f, uint64_t v, size_t wide)
{
    unsigned char b[8];
    /* Little-endian as NumPy's dtype says, so the lowest bytes come first. */
    put64(b, v);
    return fwrite(b, 1, wide, f) == wide ? 0 : no_room();
}

static int add_file(struct arrays *a, const char *path)
{
    struct shard_info i;
    struct shard *s = shard_open(path);
    if (!s) return -1;
    shard_info(s, &i);
    if (!a->first) {
        a->first = path;
        /* As the shard itself: two bytes where all ids fit. */
        a->wide = i.vocab_size <= 65536 ? 2 : 4;
        a->vocab_hash = i.vocab_hash;
        a->vocab_size = i.vocab_size;
    }
    const uint32_t *ids;
    size_t n;
    int rc = 0;
    /* One array has one meaning of its numbers. */
    if (i.vocab_hash != a->vocab_hash || i.vocab_size != a->vocab_size)
        rc = err_set("%s: its vocabulary is not that of %s; write one array of each", path,
                     a->first);
    while (rc == 0 && (rc = shard_next(s, &ids, &n)) > 0) {
        rc = 0;
        /* Into temporary files: an .npy begins with its length, which is known at the end. */
        for (size_t k = 0; k < n && rc == 0; k++) rc = add_number(a->ids, ids[k], a->wide);
        a->n += n;
        a->sentences++;
        if (rc == 0) rc = add_number(a->offsets, a->n, 8);
    }
    shard_close(s);
    return rc;
}

static int put_array(struct out *out, const char *type, uint64_t n, FILE *from)
{
    unsigned char buf[1 << 16];
    size_t m;
    /* What is still buffered, before rewind, which would write it and forget that it failed. */
    if (fflush(from) != 0) return no_room();
    npy_head(buf, type, 1, &n);
    if (out_write(out, buf, NPY_HEAD) < 0) return -1;
    rewind(from);
    while ((m = fread(buf, 1, sizeof buf, from)) > 0)
        if (out_write(out, buf, m) < 0) return -1;
    return ferror(from) ? err_sys("cannot read a temporary file") : 0;
}

/* Sentence i is ids[offsets[i]:offsets[i + 1]]. */
static int cat_npy(char **file, int n)
{
    struct arrays a = { .ids = tmp_open(NULL) };
    char *name = mem_alloc(strlen(o.out) + 9);
    sprintf(name, "%s.offsets", o.out);
    struct out *out = NULL, *second = NULL;
    /* Both outputs before the work. */
    int rc = a.ids && (a.offsets = tmp_open(NULL)) ? out_check((const char *[]){ o.out, name }, 2)
                                                   : -1;
    /* The first sentence begins at 0, so that n sentences have n + 1 offsets. */
    if (rc == 0) rc = add_number(a.offsets, 0, 8);
    for (int i = 0; i < n && rc == 0; i++) rc = add_file(&a, file[i]);
    /* opened again: out_check has given them up */
    if (rc == 0 && (!(out = out_open(o.out)) || !(second = out_open(name)))) rc = -1;
    if (rc == 0) rc = put_array(out, a.wide == 2 ? "<u2" : "<u4", a.n, a.ids);
    if (rc == 0) rc = put_array(second, "<i8", a.sentences + 1, a.offsets);
    if (rc == 0) rc = out_commit_pair(out, second);
    else {
        out_abort(second);
        out_abort(out);
    }
    if (a.ids) fclose(a.ids);
    if (a.offsets) fclose(a.offsets);
    free(name);
    return rc;
}

static int run(const char *what, char **file, int n)
{
    int rc = 0;
    if (o.npy) return cat_npy(file, n);
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
    if (!strcmp(args.v[0], "cat") && !o.vocab && !o.ids && !o.npy)
        return prog_usage("cat: --vocab FILE, --ids or --npy is needed");
    if (strcmp(args.v[0], "cat") && (o.vocab || o.ids || o.npy || o.out))
        return prog_usage("--vocab, --ids, --npy and --output are for cat");
    if ((o.npy || o.ids) && o.vocab)
        return prog_usage("--%s writes ids: without --vocab", o.npy ? "npy" : "ids");
    if (o.npy && (!o.out || !strcmp(o.out, "-")))
        return prog_usage("cat --npy: two files are written; give --output FILE");
    return run(args.v[0], args.v + 1, args.n - 1) < 0 ? prog_fail() : prog_end();
}
