/* covers: common/text/vocab.c */
/* Any bytes as a vocabulary: what is accepted finds its own tokens, encodes anything to ids of its
 * own, whole lines as it does line by line, and is the same when written and read again, or made
 * from its tokens. */
#include "common/text/vocab.h"
#include "test/fuzz/fuzz.h"

static void same(const struct vocab *v, struct vocab *w)
{
    if (!w || v->n != w->n || v->hash != w->hash
        || memcmp(v->count, w->count, v->n * sizeof *v->count))
        abort();
    vocab_free(w);
}

static void write_and_make(const struct vocab *v)
{
    char path[64];
    snprintf(path, sizeof path, "/dev/shm/isoglot-fuzz-vocab-%ld", (long)getpid());
    if (vocab_write(v, path) < 0) abort();
    same(v, vocab_read(path));
    unlink(path);
    const char **token = malloc(v->n * sizeof *token);
    for (uint32_t id = VOCAB_SPECIALS; id < v->n; id++)
        token[id - VOCAB_SPECIALS] = vocab_token(v, id);
    same(v, vocab_make(token, v->count + VOCAB_SPECIALS, v->n - VOCAB_SPECIALS));
    if (v->n > VOCAB_SPECIALS + 1) {
        token[0] = token[1];
        if (vocab_make(token, NULL, v->n - VOCAB_SPECIALS)) abort();      /* a token twice */
    }
    free(token);
}

/* The input as text of whole lines (what follows the last newline is left out). */
static void encode_lines(const struct vocab *v, const char *text, size_t n)
{
    while (n && text[n - 1] != '\n') n--;
    size_t lines = 0, line = 0, cap = 0;
    for (size_t i = 0; i < n; i++) lines += text[i] == '\n';
    char *s = malloc(n + VOCAB_PAST);
    uint32_t *all = malloc((n + 1) * sizeof *all), *at = malloc((lines + 1) * sizeof *at),
             *ids = NULL;
    memcpy(s, text, n);
    memset(s + n, 'a', VOCAB_PAST);
    size_t k = vocab_encode_lines(v, s, n, all, at);
    if (at[0] != 0 || at[lines] != k) abort();
    for (size_t from = 0; line < lines; line++) {
        size_t tokens, length = vocab_line(s + from, n - from, &tokens),
               one = vocab_encode(v, s + from, length, &ids, &cap);
        if (one != tokens || one != at[line + 1] - at[line]
            || (one && memcmp(ids, all + at[line], one * sizeof *ids)))
            abort();
        from += length + 1;
    }
    free(ids);
    free(at);
    free(all);
    free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    const char *path = fuzz_file(0, p, n);
    struct vocab *v = vocab_read(path);
    if (!v) return 0;
    for (uint32_t id = VOCAB_SPECIALS; id < v->n; id++)
        if (vocab_id(v, vocab_token(v, id), vocab_token_len(v, id)) != id
            || strlen(vocab_token(v, id)) != vocab_token_len(v, id))
            abort();
    uint32_t *ids = NULL;
    size_t cap = 0, k = vocab_encode(v, (const char *)p, n, &ids, &cap);
    for (size_t i = 0; i < k; i++)
        if (ids[i] >= v->n) abort();
    free(ids);
    encode_lines(v, (const char *)p, n);
    write_and_make(v);
    vocab_free(v);
    return 0;
}
