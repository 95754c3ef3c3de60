/* Each byte of a file in turn with one bit flipped, read by the reader of its kind: what is refused
 * is right, what is read must say what the whole file says.
 *     flips shard|cooc FILE PART
 *     flips codes|vocab|dict|order FILE PART     and FILE.sum; dict: of tokens a to f
 *     flips model FOLDER PART        each file of the folder, that of a run's checkpoint too
 * PART K/N: every Nth byte from the Kth, one bit each (that of the byte's number modulo 8); "all":
 * all bits of all bytes. Prints "FILE: N flips, R refused, S without effect" and ends with status
 * 1 at the first that changed what was read. The files are flipped in place: give a copy. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/msg.h"
#include "common/text/shard.h"
#include "lib/bpe/codes.h"
#include "lib/cooc/cooc.h"
#include "lib/derive/order.h"
#include "lib/masking/switch.h"
#include "lib/model/model.h"
#include "lib/trainer/checkpoint.h"

/* A digest of all that a reader says; 0: refused. */
typedef uint64_t reader(const char *path);

static uint64_t mixed(uint64_t h, const void *p, size_t n)
{
    return n ? XXH3_64bits_withSeed(p, n, h + 1) : h + 1;
}

static uint64_t shard_says(const char *path)
{
    struct shard_info info = { 0 };
    struct shard_block b = { 0 };
    if (shard_check(path) < 0 || shard_load(path, &info, &b) < 0) return 0;
    uint64_t h = mixed(1, info.lang, strlen(info.lang));
    h = mixed(h, info.note, strlen(info.note));
    h = mixed(h, &info.vocab_hash, sizeof info.vocab_hash);
    h = mixed(h, &info.vocab_size, sizeof info.vocab_size);
    h = mixed(h, &info.unknown, sizeof info.unknown);
    h = mixed(h, b.at, (b.sentences + 1) * sizeof *b.at);
    h = mixed(h, b.ids, b.tokens * sizeof *b.ids);
    shard_block_free(&b);
    return h;
}

static uint64_t plane_says(const struct cooc *c, int k, uint64_t h)
{
    struct cooc_cursor cur;
    static struct cooc_pairs p;
    int rc;
    uint64_t *count = calloc(c->ids, sizeof *count);
    if (cooc_word_counts(c, k, count) < 0) h = 0;
    h = mixed(h, count, c->ids * sizeof *count);
    free(count);
    h = mixed(h, c->plane[k].total.lang, strlen(c->plane[k].total.lang));
    h = mixed(h, &c->plane[k].total.tokens, sizeof c->plane[k].total.tokens);
    cooc_cursor_init(&cur, c, k);
    while ((rc = cooc_cursor_next(&cur, &p)) > 0) {
        h = mixed(h, p.row, p.n * sizeof *p.row);
        h = mixed(h, p.col, p.n * sizeof *p.col);
        h = mixed(h, p.count, p.n * sizeof *p.count);
    }
    return rc < 0 ? 0 : h;
}

static uint64_t cooc_says(const char *path)
{
    struct cooc *c = cooc_open(path);
    if (!c) return 0;
    uint64_t h = mixed(1, c->tokens, c->tokens_size);
    h = mixed(h, c->skip, c->skip_size);
    h = mixed(h, c->ref, strlen(c->ref));
    h = mixed(h, &c->scheme.window, sizeof c->scheme.window);
    h = mixed(h, &c->scheme.weights, sizeof c->scheme.weights);
    h = mixed(h, &c->scheme.sides, sizeof c->scheme.sides);
    h = mixed(h, &c->scheme.oov, sizeof c->scheme.oov);
    for (int k = 0; k < c->planes && h; k++) h = plane_says(c, k, h);
    cooc_close(c);
    return h;
}

/* The optimiser's tensors, of a run's checkpoint. */
static uint64_t optimizer_says(const char *dir, uint64_t h)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/optimizer.safetensors", dir);
    struct st_file *f = access(path, F_OK) == 0 ? st_open(path) : NULL;
    for (int i = 0; f && i < f->n; i++) {
        h = mixed(h, f->t[i].name, strlen(f->t[i].name));
        h = mixed(h, f->t[i].data, f->t[i].bytes);
    }
    if (f) st_close(f);
    return h;
}

/* The model, and whether a run could go on with what stands beside it. */
static uint64_t model_says(const char *dir)
{
    struct model m;
    struct vocab *v;
    if (model_load(&m, dir, kernels_cpu(), &v) < 0) return 0;
    char *config = model_config_json(&m.c);
    uint64_t h = mixed(1, config, strlen(config));
    h = mixed(h, m.ps.value, m.ps.total * sizeof(float));
    for (uint32_t i = VOCAB_SPECIALS; i < v->n; i++)
        h = mixed(h, vocab_token(v, i), vocab_token_len(v, i));
    for (int i = 0; i < MODEL_KEPT; i++) h = mixed(h, m.kept[i].bytes, m.kept[i].n);
    for (int i = 0; i < m.c.n_langs; i++)
        if (m.seen[i]) h = mixed(h, m.seen[i], (size_t)m.c.vocab);
    h = checkpoint_check(dir, &m) < 0 ? 0 : optimizer_says(dir, h);
    free(config);
    model_free(&m);
    vocab_free(v);
    return h;
}

/* --- text with FILE.sum ----------------------------------------------------------------------- */

static uint64_t codes_say(const char *path)
{
    struct codes c;
    if (codes_read(&c, path, 0) < 0) return 0;
    uint64_t h = mixed(c.version + 10 * (uint64_t)c.format, c.v, c.n * sizeof *c.v);
    h = mixed(h, c.bytes, c.bytes_n);
    codes_free(&c);
    return h;
}

static uint64_t vocab_mixed(const struct vocab *v, uint64_t h)
{
    for (uint32_t i = VOCAB_SPECIALS; i < v->n; i++) {
        h = mixed(h, vocab_token(v, i), vocab_token_len(v, i));
        h = mixed(h, &v->count[i], sizeof v->count[i]);
    }
    return h;
}

static uint64_t vocab_says(const char *path)
{
    struct vocab *v = vocab_read(path);
    uint64_t h = v ? vocab_mixed(v, 1) : 0;
    vocab_free(v);
    return h;
}

__attribute__((format(printf, 1, 2))) static void silent(const char *fmt, ...) { (void)fmt; }

/* As pretrain --dict aa-bb=FILE: the hash is over whole lines, scores too. */
static uint64_t dict_says(const char *path)
{
    static const char *const token[] = { "a", "b", "c", "d", "e", "f" };
    static const char langs[2][32] = { "aa", "bb" };
    char arg[4096];
    const char *args[1] = { arg };
    snprintf(arg, sizeof arg, "aa-bb=%s", path);
    struct strs dict = { .v = args, .n = 1 };
    struct vocab *v = vocab_make(token, NULL, 6);
    struct switches *s = switches_read(&switch_defaults, &dict, langs, 2, v, silent);
    int n = 0;
    uint64_t h = s ? mixed(1, &switches_pairs(s, &n)->hash, sizeof(int64_t)) : 0;
    switches_free(s);
    vocab_free(v);
    return h;
}

static uint64_t order_says(const char *path)
{
    struct order_model *m = order_read(path);
    if (!m) return 0;
    struct mem_text t;
    size_t n;
    mem_text_open(&t);
    order_write(m, t.f);
    char *text = mem_text_take(&t, &n);
    uint64_t h = mixed(1, text, n);
    free(text);
    order_free(m);
    return h;
}

struct part { long first, step; bool all; };

static int flips(const char *file, const char *read, reader *says, const struct part *part)
{
    int fd = open(file, O_RDWR | O_CLOEXEC);
    off_t size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
    uint64_t whole = says(read);
    long tried = 0, refused = 0;
    if (size < 0 || !whole) return fprintf(stderr, "flips: %s: %s\n", file, err_msg()), 1;
    for (off_t at = part->all ? 0 : part->first; at < size; at += part->all ? 1 : part->step)
        for (int bit = part->all ? 0 : (int)(at % 8); bit < 8; bit++) {
            unsigned char c, d;
            if (pread(fd, &c, 1, at) != 1) return 1;
            d = (unsigned char)(c ^ 1 << bit);
            if (pwrite(fd, &d, 1, at) != 1) return 1;
            uint64_t got = says(read);
            if (pwrite(fd, &c, 1, at) != 1) return 1;
            if (got && got != whole) {
                fprintf(stderr, "flips: %s: byte %ld, bit %d changes what is read\n", file,
                        (long)at, bit);
                return 1;
            }
            tried++;
            refused += !got;
            if (!part->all) break;
        }
    printf("%s: %ld flips, %ld refused, %ld without effect\n", file, tried, refused,
           tried - refused);
    close(fd);
    return 0;
}

int main(int argc, char **argv)
{
    static const char *const names[] = { "config.json", "vocab", "codes", "tokenizer",
                                         "weights.safetensors", "words.safetensors", "model.sum",
                                         "optimizer.safetensors", "state.json", "state.sum" };
    struct part part = { 0, 1, argc > 3 && !strcmp(argv[3], "all") };
    if (argc != 4 || (!part.all && sscanf(argv[3], "%ld/%ld", &part.first, &part.step) != 2))
        return fprintf(stderr, "usage: flips shard|cooc|codes|vocab|dict|order|model PATH "
                               "all|K/N\n"), 2;
    msg_set_quiet(true);
    if (!strcmp(argv[1], "shard")) return flips(argv[2], argv[2], shard_says, &part);
    if (!strcmp(argv[1], "cooc")) return flips(argv[2], argv[2], cooc_says, &part);
    static const struct { const char *name; reader *says; } text[] = {
        { "codes", codes_say }, { "vocab", vocab_says }, { "dict", dict_says },
        { "order", order_says },
    };
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        if (!strcmp(argv[1], text[i].name)) {
            char sum[4096];
            snprintf(sum, sizeof sum, "%s.sum", argv[2]);
            return flips(argv[2], argv[2], text[i].says, &part)
                || flips(sum, argv[2], text[i].says, &part);
        }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", argv[2], names[i]);
        if (access(path, F_OK) == 0 && flips(path, argv[2], model_says, &part)) return 1;
    }
    return 0;
}
