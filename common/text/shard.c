/* Reading shards; the bytes are specified in docs/formats/shard.md. */
#include "common/text/shard.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>
#include <zstd.h>
#include "common/bytes.h"
#include "common/err.h"
#include "common/files/foreign.h"
#include "common/files/io.h"
#include "common/mem.h"
#include "common/text/shard_format.h"
#include "common/text/vocab.h"

struct shard {
    char *name;
    FILE *f;
    bool stream;                                    /* no index: standard input or a pipe */
    struct shard_info info;
    int width;
    uint64_t offset, size;                          /* of what is read next; of the file */
    struct shard_entry *index;
    struct shard_block b; uint32_t next;            /* sequential reading */
    uint64_t seen_s, seen_t, seen_b, seen_u, at_block;
    /* a stream: the index entries of the blocks so far */
    unsigned char *expected; size_t expected_n, expected_cap;
    unsigned char *raw, *packed; size_t raw_cap, packed_cap;
    bool ended;
};

static int bad(const struct shard *s, uint64_t offset, const char *what)
{
    return err_set("%s: byte %llu: %s; make the shard again with binarize", s->name,
                   (unsigned long long)offset, what);
}

static int need(struct shard *s, void *p, size_t n, const char *what)
{
    /* counted here, for messages: a stream has no position */
    if (fread(p, 1, n, s->f) == n) { s->offset += n; return 0; }
    if (ferror(s->f)) return err_sys("%s: cannot be read", s->name);
    char msg[96];
    snprintf(msg, sizeof msg, "the file ends inside %s (truncated)", what);
    return bad(s, s->offset, msg);
}

static bool zeros(const unsigned char *p, size_t n)
{
    while (n > 0 && *p == 0) { p++; n--; }
    return n == 0;
}

/* A field of text padded with zero bytes, at least one: nothing may hide after the first. */
static bool padded(const unsigned char *p, size_t n)
{
    /* used < n: the field is a C string for whoever reads it */
    size_t used = strnlen((const char *)p, n);
    return used < n && zeros(p + used, n - used);
}

/* As cooc.md has them: no control characters, no spaces. */
static bool is_lang(const unsigned char *p)
{
    while (*p > ' ' && *p != 0x7F) p++;
    return *p == 0;
}

static int read_header(struct shard *s)
{
    unsigned char h[HEADER];
    if (need(s, h, sizeof h, "the header") < 0) return -1;
    if (memcmp(h, MAGIC, 8))
        return foreign_refuse(s->name, h, sizeof h, "a shard (binarize makes them)") < 0
                   /* A file of another known format is called by its name. */
                   ? -1
                   : err_set("%s: byte 0: is not a shard (binarize makes them)", s->name);
    /* before the checksum: another version may have another header */
    if (get32(h + 8) != VERSION)
        return err_set("%s: byte 8: is a shard of version %u; this program reads version %d",
                       s->name, get32(h + 8), VERSION);
    if (get64(h + HEADER - 8) != XXH3_64bits(h, HEADER - 8))
        return bad(s, 0, "the header's checksum is wrong");
    /* only now: the checksum says that these are the writer's */
    s->width = (int)get32(h + 12);
    s->info.vocab_hash = get64(h + 16);
    s->info.vocab_size = get32(h + 24);
    if (s->width != 2 && s->width != 4) return bad(s, 12, "a token id has neither 2 nor 4 bytes");
    if (!padded(h + 32, 32) || !is_lang(h + 32))
        return bad(s, 32, "the language's name is malformed");
    if (!padded(h + 64, 128)) return bad(s, 64, "the note is malformed");
    if (!zeros(h + 28, 4) || !zeros(h + 192, 56)) return bad(s, 28, "a reserved byte is not zero");
    memcpy(s->info.lang, h + 32, 32);
    memcpy(s->info.note, h + 64, 128);
    return 0;
}

static int check_footer(struct shard *s, const unsigned char *f, uint64_t at)
{
    if (memcmp(f + 56, END_MAGIC, 8)) return bad(s, at, "no footer (truncated)");
    if (get64(f + 48) != XXH3_64bits(f, 48)) return bad(s, at, "the footer's checksum is wrong");
    return 0;
}

/* Can k compressed bytes hold so much? A zstd frame spends at least 4 bytes on each 128 KiB, so
 * that no file makes a reader allocate much more than its own size times 2^15. */
static bool plausible(uint64_t sentences, uint64_t tokens, int width, uint64_t k)
{
    uint64_t n = sentences * 4 + tokens * (uint64_t)width;
    /* What zstd would never have made so large is refused as well. */
    /* see docs/formats/shard.md: readers allocate by these two */
    return sentences + tokens <= BLOCK_MAX && k <= ZSTD_compressBound((size_t)n)
           && n <= (k + 4) << 15;
}

/* Index and footer of a file; blocks must lie one after another and add up. */
static int read_index(struct shard *s)
{
    unsigned char f[FOOTER], *p;
    /* 16: an index without entries */
    if (s->size < HEADER + 16 + FOOTER)
        return bad(s, s->size, "the file ends too early (truncated)");
    uint64_t at = s->size - FOOTER;
    if (fseeko(s->f, (off_t)at, SEEK_SET) < 0) return err_sys("%s: cannot be read", s->name);
    s->offset = at;
    if (need(s, f, sizeof f, "the footer") < 0 || check_footer(s, f, at) < 0) return -1;
    uint64_t index = get64(f), n = get64(f + 8);
    if (index < HEADER || index > at - 16 || n != (at - index - 16) / INDEX
        || (at - index - 16) % INDEX)
        return bad(s, at, "the index does not fit the file");
    /* The file says how much: without memory it is refused, and the process does not end. */
    if (!(p = malloc((size_t)(at - index))))
        return err_set("%s: no memory for an index of %llu blocks", s->name, (unsigned long long)n);
    if (fseeko(s->f, (off_t)index, SEEK_SET) < 0) {
        free(p);
        return err_sys("%s: cannot be read", s->name);
    }
    s->offset = index;
    int rc = need(s, p, (size_t)(at - index), "the index");
    /* f + 40: the index's checksum stands in the footer */
    if (rc == 0 && (memcmp(p, INDEX_MAGIC, 4) || !zeros(p + 4, 4) || get64(p + 8) != n ||
                    get64(f + 40) != XXH3_64bits(p, (size_t)(at - index))))
        rc = bad(s, index, "the index's checksum is wrong");
    s->index = mem_zero((size_t)n, sizeof *s->index);
    uint64_t sentences = 0, tokens = 0;
    for (uint64_t i = 0; i < n && rc == 0; i++) {
        const unsigned char *e = p + 16 + i * INDEX;
        struct shard_entry *x = &s->index[i];
        *x = (struct shard_entry){ get64(e), get64(e + 8), get32(e + 16), get32(e + 20) };
        /* A block ends where the next one begins, the last one at the index. */
        uint64_t end = i + 1 < n ? get64(e + INDEX) : index;
        if (x->first != sentences || (i == 0 && x->offset != HEADER) || end > index
            || x->offset > end || end - x->offset < BLOCK
            || !plausible(x->sentences, x->tokens, s->width, end - x->offset - BLOCK))
            rc = bad(s, index + 16 + i * INDEX, "the index is inconsistent");
        sentences += x->sentences;
        tokens += x->tokens;
    }
    /* no block, and yet bytes between header and index */
    if (rc == 0 && !n && index != HEADER) rc = bad(s, index, "the index is inconsistent");
    if (rc == 0 && (sentences != get64(f + 16) || tokens != get64(f + 24)))
        rc = bad(s, at, "the footer's totals do not match the index");
    s->info.blocks = n;
    s->info.sentences = sentences;
    s->info.tokens = tokens;
    s->info.unknown = get64(f + 32);
    free(p);
    return rc;
}

struct shard *shard_open(const char *path)
{
    bool std_in = !path || !strcmp(path, "-");
    struct stat st;
    FILE *f = io_stream(std_in ? "-" : path, &st);
    if (!f) { file_cannot_open(std_in ? "standard input" : path); return NULL; }
    struct shard *s = mem_zero(1, sizeof *s);
    s->name = mem_dup(std_in ? "standard input" : path);
    s->f = f;
    s->stream = !S_ISREG(st.st_mode) || std_in;
    if (!s->stream) s->size = (uint64_t)st.st_size;
    int rc = S_ISDIR(st.st_mode) ? file_is_folder(s->name) : read_header(s);
    if (rc == 0 && !s->stream) {
        rc = read_index(s);
        if (rc == 0 && fseeko(f, HEADER, SEEK_SET) < 0) rc = err_sys("%s: cannot be read", path);
        s->offset = HEADER;
    }
    if (rc == 0) return s;
    shard_close(s);
    return NULL;
}

void shard_info(const struct shard *s, struct shard_info *info) { *info = s->info; }

/* Header and data of a block whose magic word h holds already. */
static int read_block(struct shard *s, unsigned char *h, struct shard_block *b)
{
    /* next_block and shard_read_block have read the magic word */
    uint64_t at = s->offset - 4;
    if (need(s, h + 4, BLOCK - 4, "a block's header") < 0) return -1;
    if (get64(h + 32) != XXH3_64bits(h, 32))
        return bad(s, at, "a block header's checksum is wrong");
    uint32_t sentences = get32(h + 4), tokens = get32(h + 8), k = get32(h + 12);
    size_t n = (size_t)sentences * 4 + (size_t)tokens * (size_t)s->width;
    if (!sentences || !plausible(sentences, tokens, s->width, k))
        return bad(s, at, "a block's sizes are out of range");
    /* 0: of a stream the end is not known */
    if (s->size && k > s->size - s->offset)
        return bad(s, at, "a block runs past the end of the file (truncated)");
    mem_room(&s->packed, &s->packed_cap, k, 1);
    mem_room(&s->raw, &s->raw_cap, n, 1);
    if (need(s, s->packed, k, "a block") < 0) return -1;
    /* Of the compressed bytes first: damaged ones never reach zstd. */
    if (get64(h + 16) != XXH3_64bits(s->packed, k))
        return bad(s, at, "a block's checksum is wrong");
    /* One frame that is none to be skipped, and no second one. */
    /* a skippable frame would decompress to nothing, and hide what it holds */
    bool frame = k >= 4 && get32(s->packed) == ZSTD_MAGICNUMBER;
    if (!frame || ZSTD_findFrameCompressedSize(s->packed, k) != k)
        return bad(s, at, "a block is not one zstd frame");
    size_t got = ZSTD_decompress(s->raw, n, s->packed, k);
    if (ZSTD_isError(got) || got != n || get64(h + 24) != XXH3_64bits(s->raw, n))
        return bad(s, at, "a block does not decompress to what its header says");
    mem_room(&b->at, &b->at_cap, (size_t)sentences + 1, sizeof *b->at);
    mem_room(&b->ids, &b->ids_cap, (size_t)tokens + 1, sizeof *b->ids);
    const unsigned char *p = s->raw;
    /* In 64 bits: lengths of a damaged block may add up beyond 32. */
    uint64_t sum = 0;
    b->at[0] = 0;
    for (uint32_t i = 0; i < sentences; i++, p += 4) {
        sum += get32(p);
        if (sum > tokens) return bad(s, at, "a block's sentence lengths do not add up");
        b->at[i + 1] = (uint32_t)sum;
    }
    if (sum != tokens) return bad(s, at, "a block's sentence lengths do not add up");
    for (uint32_t i = 0; i < tokens; i++, p += s->width) {
        b->ids[i] = s->width == 2 ? get16(p) : get32(p);
        if (b->ids[i] >= s->info.vocab_size)
            return bad(s, at, "a token id is not below the vocabulary's size");
    }
    b->sentences = sentences;
    b->tokens = tokens;
    return 0;
}

/* The stream's index and footer are checked against what was read. */
static int read_end(struct shard *s)
{
    unsigned char h[12], e[INDEX], f[FOOTER];
    XXH3_state_t x;
    XXH3_64bits_reset(&x);
    /* next_block has read it: the sum begins there */
    XXH3_64bits_update(&x, INDEX_MAGIC, 4);
    int rc = need(s, h, sizeof h, "the index");
    XXH3_64bits_update(&x, h, sizeof h);
    uint64_t n = rc == 0 ? get64(h + 4) : 0;
    uint64_t begin = s->offset - sizeof h - 4;
    if (rc == 0 && (n != s->seen_b || !zeros(h, 4)))
        rc = bad(s, begin, "the index does not fit the blocks");
    for (uint64_t i = 0; i < n && rc == 0; i++) {
        rc = need(s, e, sizeof e, "the index");
        XXH3_64bits_update(&x, e, sizeof e);
        /* with an index the blocks were held against it one by one */
        if (rc == 0 && !s->index && memcmp(e, s->expected + i * INDEX, INDEX))
            rc = bad(s, s->offset - INDEX, "an index entry does not match its block");
    }
    uint64_t at = s->offset, sum = XXH3_64bits_digest(&x);
    if (rc == 0) rc = need(s, f, sizeof f, "the footer");
    if (rc == 0) rc = check_footer(s, f, at);
    if (rc == 0 && get64(f + 40) != sum) rc = bad(s, at, "the index's checksum is wrong");
    if (rc == 0 && (get64(f) != begin || get64(f + 8) != n))
        rc = bad(s, at, "the footer does not say where the index is");
    if (rc == 0
        && (get64(f + 16) != s->seen_s || get64(f + 24) != s->seen_t || get64(f + 32) != s->seen_u))
        rc = bad(s, at, "the footer's totals do not match the blocks");
    /* what is appended to a shard would never be seen */
    if (rc == 0 && fgetc(s->f) != EOF) rc = bad(s, s->offset, "bytes follow the footer");
    else if (rc == 0 && ferror(s->f)) rc = err_sys("%s: cannot be read", s->name);
    s->info.sentences = s->seen_s;
    s->info.tokens = s->seen_t;
    s->info.blocks = s->seen_b;
    s->info.unknown = s->seen_u;
    s->ended = true;
    return rc;
}

/* A stream's block, which began at `at`, is held against the index when that comes. */
static void expect(struct shard *s, uint64_t at)
{
    mem_room(&s->expected, &s->expected_cap, s->expected_n + INDEX, 1);
    unsigned char *e = s->expected + s->expected_n;
    put64(e, at);
    put64(e + 8, s->seen_s);
    put32(e + 16, s->b.sentences);
    put32(e + 20, s->b.tokens);
    s->expected_n += INDEX;
}

/* The next block in order into s->b: 1, 0 at the end, -1. */
static int next_block(struct shard *s)
{
    unsigned char h[BLOCK];
    if (s->ended) return 0;
    if (need(s, h, 4, "the blocks (no index follows)") < 0) return -1;
    /* The blocks have no count before them: the index's magic word ends them. */
    if (!memcmp(h, INDEX_MAGIC, 4)) return read_end(s);
    if (memcmp(h, BLOCK_MAGIC, 4))
        return bad(s, s->offset - 4, "neither a block nor the index begins here");
    uint64_t at = s->offset - 4;
    if (read_block(s, h, &s->b) < 0) return -1;
    /* a block more than the index has is found here, one fewer by read_end */
    const struct shard_entry *e =
        s->index && s->seen_b < s->info.blocks ? &s->index[s->seen_b] : NULL;
    if (s->index
        && (!e || e->offset != at || e->sentences != s->b.sentences || e->tokens != s->b.tokens))
        return bad(s, at, "a block does not match the index");
    /* compared with the footer's count */
    for (uint32_t i = 0; i < s->b.tokens; i++) s->seen_u += s->b.ids[i] == VOCAB_UNK;
    /* Without an index to compare with, each block's entry is kept until the index arrives at
     * the end. */
    if (!s->index) expect(s, at);
    s->b.first = s->seen_s;
    s->seen_b++;
    s->seen_s += s->b.sentences;
    s->seen_t += s->b.tokens;
    s->next = 0;
    return 1;
}

int shard_next(struct shard *s, const uint32_t **ids, size_t *n)
{
    while (s->next >= s->b.sentences) {
        int rc = next_block(s);
        if (rc <= 0) return rc;
    }
    *ids = s->b.ids + s->b.at[s->next];
    *n = s->b.at[s->next + 1] - s->b.at[s->next];
    s->next++;
    return 1;
}

int shard_read_block(struct shard *s, uint64_t block, struct shard_block *b)
{
    unsigned char h[BLOCK];
    /* A stream goes one way. */
    if (!s->index) return err_set("%s: blocks of a stream cannot be read out of order", s->name);
    if (block >= s->info.blocks)
        return err_set("%s: has %llu blocks; block %llu was asked for", s->name,
                       (unsigned long long)s->info.blocks, (unsigned long long)block);
    const struct shard_entry *e = &s->index[block];
    if (fseeko(s->f, (off_t)e->offset, SEEK_SET) < 0) return err_sys("%s: cannot be read", s->name);
    s->offset = e->offset;
    if (need(s, h, 4, "a block") < 0) return -1;
    if (memcmp(h, BLOCK_MAGIC, 4)) return bad(s, e->offset, "no block begins where the index says");
    if (read_block(s, h, b) < 0) return -1;
    if (b->sentences != e->sentences || b->tokens != e->tokens)
        return bad(s, e->offset, "a block does not match the index");
    b->first = e->first;
    return 0;
}

void shard_close(struct shard *s)
{
    if (!s) return;
    if (s->f) fclose(s->f);
    shard_block_free(&s->b);
    free(s->index); free(s->expected); free(s->raw); free(s->packed); free(s->name);
    free(s);
}

void shard_block_free(struct shard_block *b)
{
    free(b->ids);
    free(b->at);
    memset(b, 0, sizeof *b);
}

int shard_load(const char *path, struct shard_info *info, struct shard_block *all)
{
    struct shard *s = shard_open(path);
    memset(all, 0, sizeof *all);
    int rc = s ? shard_read_all(s, info, all) : -1;
    shard_close(s);
    return rc;
}

int shard_read_all(struct shard *s, struct shard_info *info, struct shard_block *all)
{
    memset(all, 0, sizeof *all);
    const uint32_t *ids;
    size_t n;
    int rc;
    /* All at once where the totals are known; a stream's are 0 here, and the arrays grow. */
    mem_room(&all->at, &all->at_cap, (size_t)s->info.sentences + 1, sizeof *all->at);
    mem_room(&all->ids, &all->ids_cap, (size_t)s->info.tokens + 1, sizeof *all->ids);
    all->at[0] = 0;
    while ((rc = shard_next(s, &ids, &n)) > 0) {
        /* at[] has 32 bits */
        if ((uint64_t)all->tokens + n > UINT32_MAX || all->sentences == UINT32_MAX - 1) {
            rc = err_set("%s: more than 4 G tokens; split it", s->name);
            break;
        }
        mem_room(&all->at, &all->at_cap, (size_t)all->sentences + 2, sizeof *all->at);
        mem_room(&all->ids, &all->ids_cap, all->tokens + n, sizeof *all->ids);
        memcpy(all->ids + all->tokens, ids, n * sizeof *ids);
        all->tokens += (uint32_t)n;
        all->at[++all->sentences] = all->tokens;
    }
    if (info) *info = s->info;
    if (rc < 0) shard_block_free(all);
    return rc < 0 ? -1 : 0;
}

int shard_check(const char *path)
{
    struct shard *s = shard_open(path);
    const uint32_t *ids;
    size_t n;
    int rc;
    if (!s) return -1;
    /* Reading is checking: every sum, count and offset is compared on the way. */
    while ((rc = shard_next(s, &ids, &n)) > 0) ;
    shard_close(s);
    return rc;
}
