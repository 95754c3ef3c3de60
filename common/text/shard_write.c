/* Writing shards; the bytes are specified in docs/formats/shard.md. */
#include "common/text/shard.h"
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>
#include "common/bytes.h"
#include "common/err.h"
#include "common/mem.h"
#include "common/text/shard_format.h"
#include "common/text/vocab.h"

/* --- a block -------------------------------------------------------------------------------- */

struct shard_packer {
    uint32_t vocab_size;
    int width;
    unsigned char *raw; size_t raw_cap;
    ZSTD_CCtx *z;
};

static int width(const struct shard_info *info)
{
    /* ids to 65,535 fit two bytes */
    return info->vocab_size <= 65536 ? 2 : 4;
}

struct shard_packer *shard_packer_new(const struct shard_info *info)
{
    struct shard_packer *p = mem_zero(1, sizeof *p);
    p->vocab_size = info->vocab_size;
    p->width = width(info);
    if ((p->z = ZSTD_createCCtx())) return p;
    free(p);
    err_set("out of memory");
    return NULL;
}

void shard_packer_free(struct shard_packer *p)
{
    if (!p) return;
    free(p->raw);
    ZSTD_freeCCtx(p->z);
    free(p);
}

/* Writes the ids of a block, `width` bytes each. Returns the largest; *unknown: how many are
 * VOCAB_UNK. Loops without a branch, which compilers make of many ids at once. */
static uint32_t put_ids(unsigned char *p, int width, const uint32_t *ids, size_t n,
                        uint64_t *unknown)
{
    uint32_t top = 0, k = 0;
    for (size_t i = 0; i < n; i++) {
        top = ids[i] > top ? ids[i] : top;
        k += ids[i] == VOCAB_UNK;
    }
    if (width == 2)
        for (size_t i = 0; i < n; i++) put16(p + 2 * i, ids[i]);
    else
        for (size_t i = 0; i < n; i++) put32(p + 4 * i, ids[i]);
    *unknown = k;
    return top;
}

int shard_pack(struct shard_packer *p, const struct shard_block *b, struct shard_packed *x)
{
    size_t n = (size_t)b->sentences * 4 + (size_t)b->tokens * (size_t)p->width;
    mem_room(&p->raw, &p->raw_cap, n + 1, 1);
    x->sentences = b->sentences;
    x->tokens = b->tokens;
    for (uint32_t i = 0; i < b->sentences; i++) put32(p->raw + 4 * i, b->at[i + 1] - b->at[i]);
    uint32_t top = put_ids(p->raw + (size_t)b->sentences * 4, p->width, b->ids, b->tokens,
                           &x->unknown);
    /* Looked at after the loop, which has no branch. */
    if (b->tokens && top >= p->vocab_size)
        return err_set("token id %u is not below the vocabulary's size %u", top, p->vocab_size);
    size_t bound = ZSTD_compressBound(n);
    mem_room(&x->bytes, &x->cap, BLOCK + bound, 1);
    /* compressed behind where its header goes: one write, and no copy */
    unsigned char *h = x->bytes, *to = h + BLOCK;
    size_t k = ZSTD_compressCCtx(p->z, to, bound, p->raw, n, LEVEL);
    if (ZSTD_isError(k)) return err_set("zstd: %s", ZSTD_getErrorName(k));
    memcpy(h, BLOCK_MAGIC, 4);
    put32(h + 4, b->sentences);
    put32(h + 8, b->tokens);
    put32(h + 12, (uint32_t)k);
    put64(h + 16, XXH3_64bits(to, k));
    put64(h + 24, XXH3_64bits(p->raw, n));
    put64(h + 32, XXH3_64bits(h, 32));
    x->n = BLOCK + k;
    return 0;
}

/* --- a file --------------------------------------------------------------------------------- */

struct shard_writer {
    struct out *o;
    struct shard_info info;
    uint32_t block_tokens;
    struct shard_packer *p;
    struct shard_block b;                           /* the block under way */
    struct shard_packed packed;
    struct shard_entry *index; size_t index_cap;
    uint64_t offset;
};

static int emit(struct shard_writer *w, const void *p, size_t n)
{
    w->offset += n;
    return out_write(w->o, p, n);
}

struct shard_writer *shard_create(struct out *o, const struct shard_info *info,
                                  uint32_t block_tokens)
{
    unsigned char h[HEADER] = { 0 };
    struct shard_writer *w = mem_zero(1, sizeof *w);
    w->o = o;
    w->info = *info;
    /* The caller's description may be another shard's, with its counts. */
    w->info.sentences = w->info.tokens = w->info.blocks = w->info.unknown = 0;
    w->block_tokens = block_tokens ? block_tokens : BLOCK_TOKENS;
    w->p = shard_packer_new(info);
    memcpy(h, MAGIC, 8);
    put32(h + 8, VERSION);
    put32(h + 12, (uint32_t)width(info));
    put64(h + 16, info->vocab_hash);
    put32(h + 24, info->vocab_size);
    /* the fields' last bytes stay 0 (padded() in shard.c) */
    memcpy(h + 32, info->lang, strnlen(info->lang, 31));
    memcpy(h + 64, info->note, strnlen(info->note, 127));
    put64(h + HEADER - 8, XXH3_64bits(h, HEADER - 8));
    if (!w->p || emit(w, h, sizeof h) < 0) { shard_abandon(w); return NULL; }
    return w;
}

int shard_fits(const struct shard_writer *w, uint32_t sentences, uint32_t tokens, size_t n)
{
    /* half: sentences and tokens together stay below BLOCK_MAX */
    if (n > BLOCK_MAX / 2)
        return err_set("%s: a sentence of %zu tokens; a shard's longest is %d", out_name(w->o), n,
                       BLOCK_MAX / 2);
    /* A sentence is never cut: a block ends before the one that would not fit, or holds it
     * alone. */
    return !sentences || (uint64_t)tokens + sentences + n <= w->block_tokens;
}

int shard_put_packed(struct shard_writer *w, const struct shard_packed *x)
{
    /* a reader refuses a block without sentences */
    if (!x->sentences) return 0;
    mem_room(&w->index, &w->index_cap, (size_t)w->info.blocks + 1, sizeof *w->index);
    w->index[w->info.blocks++] = (struct shard_entry){ w->offset, w->info.sentences, x->sentences,
                                                       x->tokens };
    w->info.sentences += x->sentences;
    w->info.tokens += x->tokens;
    w->info.unknown += x->unknown;
    return emit(w, x->bytes, x->n);
}

static int flush_block(struct shard_writer *w)
{
    struct shard_block *b = &w->b;
    if (!b->sentences) return 0;
    if (shard_pack(w->p, b, &w->packed) < 0) return -1;
    /* The block's memory is used again. */
    b->sentences = b->tokens = 0;
    return shard_put_packed(w, &w->packed);
}

void shard_block_add(struct shard_block *b, const uint32_t *ids, size_t n)
{
    mem_room(&b->ids, &b->ids_cap, b->tokens + n, sizeof *b->ids);
    mem_room(&b->at, &b->at_cap, (size_t)b->sentences + 2, sizeof *b->at);
    if (n) memcpy(b->ids + b->tokens, ids, n * sizeof *ids);
    b->at[0] = 0;
    b->tokens += (uint32_t)n;
    b->at[++b->sentences] = b->tokens;
}

int shard_put(struct shard_writer *w, const uint32_t *ids, size_t n)
{
    int fits = shard_fits(w, w->b.sentences, w->b.tokens, n);
    if (fits < 0 || (!fits && flush_block(w) < 0)) return -1;
    for (size_t i = 0; i < n; i++)
        if (ids[i] >= w->info.vocab_size)
            /* here and not only in shard_pack, which cannot tell which sentence it was */
            return err_set("%s: token id %u is not below the vocabulary's size %u", out_name(w->o),
                           ids[i], w->info.vocab_size);
    shard_block_add(&w->b, ids, n);
    return 0;
}

int shard_finish(struct shard_writer *w, struct shard_info *info)
{
    int rc = flush_block(w);
    uint64_t at = w->offset, n = w->info.blocks;
    size_t bytes = 16 + (size_t)n * INDEX;
    /* whole in memory, since its checksum stands behind it */
    unsigned char *p = mem_zero(1, bytes), f[FOOTER] = { 0 };
    memcpy(p, INDEX_MAGIC, 4);
    put64(p + 8, n);
    for (uint64_t i = 0; i < n; i++) {
        unsigned char *e = p + 16 + i * INDEX;
        put64(e, w->index[i].offset);
        put64(e + 8, w->index[i].first);
        put32(e + 16, w->index[i].sentences);
        put32(e + 20, w->index[i].tokens);
    }
    if (rc == 0) rc = emit(w, p, bytes);
    put64(f, at);
    put64(f + 8, n);
    put64(f + 16, w->info.sentences);
    put64(f + 24, w->info.tokens);
    put64(f + 32, w->info.unknown);
    put64(f + 40, XXH3_64bits(p, bytes));
    put64(f + 48, XXH3_64bits(f, 48));
    memcpy(f + 56, END_MAGIC, 8);
    if (rc == 0) rc = emit(w, f, sizeof f);
    if (info) *info = w->info;
    free(p);
    /* frees; the output itself is the caller's */
    shard_abandon(w);
    return rc;
}

void shard_abandon(struct shard_writer *w)
{
    if (!w) return;
    free(w->b.ids); free(w->b.at); free(w->index); free(w->packed.bytes);
    shard_packer_free(w->p);
    free(w);
}
