/* covers: lib/count/intake.c lib/count/lookup.c lib/count/segment.c */
/* Text to counts: any bytes either are refused with a message or counted, the same in one run and
 * in many. The first four bytes choose the scheme. */
#include "common/err.h"
#include "common/files/file.h"
#include "common/text/shard.h"
#include "lib/count/count.h"
#include "lib/count/intake.h"
#include "test/fuzz/fuzz.h"

static int count(const char *path, struct cooc_count_opts *o, char **bytes, size_t *n)
{
    struct cooc_input in = { .path = path };
    char to[48];
    sprintf(to, "/dev/shm/isoglot-fuzz-%ld.cooc", (long)getpid());
    struct out *out = out_open(to);
    if (!out) abort();
    int rc = cooc_count(&in, 1, o, out, NULL);
    if (rc == 0) {
        if (out_commit(out) < 0) abort();
        *bytes = file_read(to, n);
        unlink(to);
    } else {
        if (!*err_msg()) abort();
        out_abort(out);
    }
    return rc;
}

/* For a shard, a vocabulary of so many words that claims to be the one it was made with; else
 * NULL. */
static struct vocab *shard_vocab(const char *path)
{
    char word[4096][8];
    const char *token[4096];
    struct shard_info info;
    struct shard *s = intake_is_shard(path) ? shard_open(path) : NULL;
    if (!s) return NULL;
    shard_info(s, &info);
    shard_close(s);
    uint32_t n = info.vocab_size > VOCAB_SPECIALS ? info.vocab_size - VOCAB_SPECIALS : 0;
    if (n == 0 || n > 4096) return NULL;
    for (uint32_t i = 0; i < n; i++) {
        sprintf(word[i], "w%u", i);
        token[i] = word[i];
    }
    struct vocab *v = vocab_make(token, NULL, n);
    v->hash = info.vocab_hash;
    return v;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 4) return 0;
    const char *path = fuzz_file(0, data + 4, size - 4);
    struct cooc_count_opts o = { .memory = (size_t)1 << 34, .threads = 1, .tmp = "/dev/shm" };
    char *a = NULL, *b = NULL;
    size_t m = 0, n = 0;
    struct vocab *v = shard_vocab(path);
    o.vocab = v;
    if (cooc_scheme_init(&o.scheme, 1 + data[0] % 20, data[1] % 3, data[2] % 3, data[2] / 3 % 2)
        == 0) {
        int one = count(path, &o, &a, &m);
        o.run_tokens = 1 + data[3];
        o.batch = 2;
        int many = count(path, &o, &b, &n);
        if (one != many || (one == 0 && (m != n || memcmp(a, b, m) != 0))) abort();
        if (one == 0) {
            struct cooc *c = cooc_open_memory(a, m, "fuzz");
            if (!c) abort();
            cooc_close(c);
        }
    }
    free(a);
    free(b);
    vocab_free(v);
    return 0;
}
