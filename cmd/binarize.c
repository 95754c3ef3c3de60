/* Turns tokenised text into a shard of token ids. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/mem.h"
#include "common/prog/prog.h"
#include "common/prog/unknown.h"
#include "common/text/shard.h"
#include "common/text/text.h"
#include "common/text/vocab.h"
#include "common/thread.h"

static struct options { const char *vocab, *lang, *out, *note; int block; bool replace;
                        struct unknown_options unknown; } o = { .unknown = { .most = 0.2 } };

static const struct opt rows[] = {
    { "vocab", 'v', OPT_STR(options, vocab), "FILE", "vocabulary, as vocab-count writes it" },
    { "lang", 'l', OPT_STR(options, lang), "LANG", "language of the text, recorded in the shard" },
    { "output", 'o', OPT_STR(options, out), "FILE",
      "write to FILE, which appears only when complete (default: standard output)" },
    { "note", 0, OPT_STR(options, note), "TEXT",
      "how the text was made, recorded in the shard (at most 127 bytes)" },
    { "block-tokens", 0, OPT_INT(options, block), "N",
      "number of tokens per block (default: 65536)", .min = 1, .max = 1 << 24 },
    { "replace-invalid", 0, OPT_FLAG(options, replace), NULL,
      "replace bytes that are not UTF-8 by U+FFFD (default: they are an error)" },
    { 0 }
};
static const struct opt_group groups[] = { { "Options", rows, &o },
                                           { NULL, unknown_rows, &o.unknown },
                                           { 0 } };

static const struct prog prog = {
    "binarize", "-v vocab [-l LANG] [options] [FILE...] > x.shd",
    "Turns tokens, one sentence per line, into a shard of token ids. Tokens that the vocabulary\n"
    "lacks become <unk>; where they are more than --max-unknown, no shard is written.",
    "Example:\n"
    "  bpe-apply -c codes < de.tok | binarize -v vocab -l de -o de.shd"
};

/* Text on its way into the file. The calling thread only counts tokens, to cut the text where the
 * shard's blocks end; worker threads look the tokens up and compress the blocks, which are written
 * in order. */
struct piece {
    /* whole lines, each with its "\n" except perhaps the last */
    char *text; size_t n, cap;
    uint32_t sentences, tokens;
    struct shard_packed packed;
};
struct worker { struct shard_packer *p; struct shard_block b; };

struct job {
    const struct vocab *v;
    struct shard_writer *w;
    const struct args *args;
    int file;                                /* arguments opened so far */
    struct text *in;
    char *block; size_t n, cap, at;          /* what was read, and how much of it has been cut */
    struct piece *ring; int depth;           /* the pieces in flight */
    uint64_t made;
    struct worker *worker;
};

/* Reads more text into the block, from the current file or the next one. 1; 0 at the end; -1. */
static int more(struct job *j)
{
    enum { WANT = 1 << 19 };
    const struct args *a = j->args;
    int rc = 0;
    /* The block has been cut: its last line is in a piece. */
    j->n = j->at = 0;
    for (;;) {
        if (j->in && (rc = text_block(j->in, WANT, &j->block, &j->cap, &j->n)) != 0) return rc;
        text_close(j->in);
        j->in = NULL;
        if (j->file == (a->n ? a->n : 1)) return 0;
        j->in = text_open(a->n ? a->v[j->file] : NULL, TEXT_UTF8 | (o.replace ? TEXT_REPLACE : 0));
        if (!j->in) return -1;
        j->file++;
    }
}

/* Moves bytes [from, j->at) of the block to the end of the piece. */
static void take(struct piece *x, const struct job *j, size_t from)
{
    /* VOCAB_PAST: the look-up reads whole vectors, beyond the last byte of text. */
    mem_room(&x->text, &x->cap, x->n + (j->at - from) + 1 + VOCAB_PAST, 1);
    memcpy(x->text + x->n, j->block + from, j->at - from);
    x->n += j->at - from;
    /* a file's last line may lack its newline, and the next file follows */
    if (x->n && x->text[x->n - 1] != '\n') x->text[x->n++] = '\n';
}

static void *read_piece(void *ctx, bool *failed)
{
    struct job *j = ctx;
    /* The pipeline never has more than `depth` pieces in flight, so the ring's next one is
     * free. */
    /* a piece's memory is used again and again */
    struct piece *x = &j->ring[j->made++ % (uint64_t)j->depth];
    int rc = 1, fits = 1;
    x->n = x->sentences = x->tokens = 0;
    while (fits > 0) {
        if (j->at == j->n && (rc = more(j)) <= 0) break;
        size_t from = j->at;
        while (j->at < j->n) {
            size_t tokens, n = vocab_line(j->block + j->at, j->n - j->at, &tokens);
            /* Cut where the shard's writer would end its block: then any number of threads gives
             * the bytes of one. */
            if ((fits = shard_fits(j->w, x->sentences, x->tokens, tokens)) <= 0) break;
            x->sentences++;
            x->tokens += (uint32_t)tokens;
            j->at += n;
            /* Past the newline, which a file's last line may lack. */
            if (j->at < j->n) j->at++;
        }
        if (j->at > from) take(x, j, from);
    }
    *failed = rc < 0 || fits < 0;
    /* A piece of no sentences is the end. */
    return *failed || !x->sentences ? NULL : x;
}

static int pack_piece(void *ctx, void *item, int thread)
{
    struct job *j = ctx;
    struct piece *x = item;
    struct worker *w = &j->worker[thread];
    struct shard_block *b = &w->b;
    /* Room for what was counted while cutting: encoding never grows its arrays. */
    mem_room(&b->ids, &b->ids_cap, x->tokens, sizeof *b->ids);
    mem_room(&b->at, &b->at_cap, (size_t)x->sentences + 1, sizeof *b->at);
    b->tokens = (uint32_t)vocab_encode_lines(j->v, x->text, x->n, b->ids, b->at);
    b->sentences = x->sentences;
    return shard_pack(w->p, b, &x->packed);
}

static int write_piece(void *ctx, void *item)
{
    struct job *j = ctx;
    struct piece *x = item;
    return shard_put_packed(j->w, &x->packed);
}

static int put_all(struct shard_writer *w, const struct shard_info *info, const struct vocab *v,
                   const struct args *args)
{
    /* two pieces per thread and two more: pipeline_run's usual depth */
    int threads = par_threads(), rc = 0;
    struct job j = { .v = v, .w = w, .args = args, .depth = 2 * threads + 2 };
    j.ring = mem_zero((size_t)j.depth, sizeof *j.ring);
    j.worker = mem_zero((size_t)threads, sizeof *j.worker);
    for (int i = 0; i < threads && rc == 0; i++)
        rc = (j.worker[i].p = shard_packer_new(info)) ? 0 : -1;
    struct pipeline p = { read_piece, pack_piece, write_piece, NULL, &j, threads, j.depth };
    if (rc == 0) rc = pipeline_run(&p);
    for (int i = 0; i < threads; i++) {
        shard_packer_free(j.worker[i].p);
        shard_block_free(&j.worker[i].b);
    }
    for (int i = 0; i < j.depth; i++) {
        free(j.ring[i].text);
        free(j.ring[i].packed.bytes);
    }
    text_close(j.in);
    free(j.block);
    free(j.ring);
    free(j.worker);
    return rc;
}

static int run(const struct args *args)
{
    struct vocab *v = vocab_read(o.vocab);
    if (!v) return -1;
    /* Readers refuse a shard of another vocabulary by these two. */
    struct shard_info info = { .vocab_hash = v->hash, .vocab_size = v->n };
    /* main has looked at both lengths */
    if (o.lang) strcpy(info.lang, o.lang);
    if (o.note) strcpy(info.note, o.note);
    struct out *out = out_open_binary(o.out);
    struct shard_writer *w = out ? shard_create(out, &info, (uint32_t)o.block) : NULL;
    int rc = w ? put_all(w, &info, v, args) : -1;
    /* The footer has the totals, which are known now: shards are written front to back, into
     * pipes, too. */
    if (rc == 0) rc = shard_finish(w, &info);
    else shard_abandon(w);
    /* Judged by the whole text, and before the shard gets its name: a wrong vocabulary leaves
     * none. */
    struct unknown u = { info.tokens, info.unknown, false };
    if (rc == 0 && unknown_share(&u) > o.unknown.most)
        rc = unknown_judge(&u, &o.unknown, args->n == 1 ? args->v[0] : "all of the text",
                           "cut it as the vocabulary's text was (bpe-apply)");
    if (rc == 0) rc = out_commit(out);
    else out_abort(out);
    vocab_free(v);
    if (rc == 0)
        msg_note("%" PRIu64 " sentences, %" PRIu64 " tokens, %" PRIu64 " unknown (%.2f%%)",
                 info.sentences, info.tokens, info.unknown,
                 info.tokens ? 100.0 * (double)info.unknown / (double)info.tokens : 0.0);
    return rc;
}

/* Is this a language that docs/formats/shard.md allows, without "=", which ends one on command
 * lines? */
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
