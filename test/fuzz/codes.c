/* covers: lib/bpe/codes.c lib/bpe/apply.c */
/* Any bytes as a codes file, and words through what it accepts: the pieces are the word, whatever
 * the operations. The last line of the input, if there are several, is the words. */
#include "common/files/foreign.h"
#include "common/utf8.h"
#include "lib/bpe/apply.h"
#include "lib/bpe/codes.h"
#include "test/fuzz/fuzz.h"

static void apply(const struct codes *c, const char *s, size_t n, struct bpe_dropout *drop)
{
    struct bpe *b = bpe_new(c, "@@");
    struct bpe_scratch *t = bpe_scratch_new();
    while (n) {
        const char *space = memchr(s, ' ', n);
        size_t len = space ? (size_t)(space - s) : n, at = 0;
        const struct bpe_piece *piece;
        size_t k = len ? bpe_word(b, t, s, len, drop, &piece) : 0;
        for (size_t i = 0; i < k; i++) {
            if (piece[i].from != at || piece[i].to < at) abort();
            at = piece[i].to;
        }
        if (at != len) abort();
        s += len + (space != NULL);
        n -= len + (space != NULL);
    }
    bpe_scratch_free(t);
    bpe_free(b);
}

/* What is written in its own format reads back the same. */
static void write_and_read(const struct codes *c)
{
    char *text;
    size_t n;
    struct codes d;
    FILE *f = open_memstream(&text, &n);
    codes_write(c, c->format, f);
    fclose(f);
    if (codes_parse(&d, "written", text, n, 0) < 0 || d.n != c->n || d.bytes_n != c->bytes_n
        || memcmp(d.bytes, c->bytes, c->bytes_n))
        abort();
    for (size_t i = 0; i < c->n; i++)
        if (d.v[i].left != c->v[i].left || d.v[i].count != c->v[i].count) abort();
    if (d.version != c->version || d.format != c->format) abort();
    codes_free(&d);
    free(text);
}

/* A file of the same bytes says the same; its own words, every other one of them, are a
 * vocabulary. */
static void by_file(const struct codes *c, const char *s, size_t lines, const char *words,
                    size_t words_n)
{
    const char *path = fuzz_file(0, s, lines);
    struct codes d;
    /* a file may be compressed, or of another format; memory is not */
    if (!foreign_find(s, lines < FOREIGN_BYTES ? lines : FOREIGN_BYTES)) {
        if (codes_read(&d, path, 0) < 0 || d.n != c->n || d.bytes_n != c->bytes_n
            || memcmp(d.bytes, c->bytes, d.bytes_n))
            abort();
        codes_free(&d);
    }
    struct bpe *b = bpe_new(c, "@@");
    struct bpe_scratch *t = bpe_scratch_new();
    char *vocab;
    size_t vocab_n;
    FILE *f = open_memstream(&vocab, &vocab_n);
    for (size_t i = 0; i < c->n; i += 2)
        fprintf(f, "%.*s%s %zu\n", (int)(c->v[i].left + c->v[i].right), c->bytes + c->v[i].at,
                i % 4 ? "" : "@@", i + 1);
    fclose(f);
    if (bpe_limit(b, fuzz_file(1, vocab, vocab_n), 1) == 0)
        for (size_t at = 0, k; at < words_n; at += k + 1) {
            const char *space = memchr(words + at, ' ', words_n - at);
            const struct bpe_piece *piece;
            k = space ? (size_t)(space - words) - at : words_n - at;
            size_t m = k ? bpe_word(b, t, words + at, k, NULL, &piece) : 0, to = 0;
            for (size_t i = 0; i < m; to = piece[i++].to)
                if (piece[i].from != to || piece[i].to < to) abort();
            if (to != k) abort();
        }
    bpe_scratch_free(t);
    bpe_free(b);
    free(vocab);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    const char *s = (const char *)p, *words = n ? memrchr(s, '\n', n) : NULL;
    size_t lines = words ? (size_t)(words - s) : n, words_n = words ? n - lines - 1 : 0;
    struct codes c;
    if (codes_parse(&c, "fuzz", s, lines, 0) < 0) return 0;
    for (size_t i = 0; i < c.n; i++)
        if (c.v[i].at + c.v[i].left + c.v[i].right > c.bytes_n || !c.v[i].left || !c.v[i].right)
            abort();
    write_and_read(&c);
    if (utf8_check(words ? words + 1 : "", words_n) == words_n) {
        struct bpe_dropout drop = { 0.4, { 1, RNG_BPE, 0 }, 0, 0 };
        apply(&c, words ? words + 1 : "", words_n, NULL);
        apply(&c, words ? words + 1 : "", words_n, &drop);
        by_file(&c, s, lines, words ? words + 1 : "", words_n);
    }
    codes_free(&c);
    return 0;
}
