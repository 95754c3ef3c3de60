/* covers: common/text/shard.c */
/* Any bytes as a shard. Checksums would stop nearly every change at once, so the header's, the
 * blocks' headers' and the footer's are put right first, as somebody who means harm would. */
#include <xxhash.h>
#include <zstd.h>
#include "common/err.h"
#include "common/text/shard.h"
#include "test/fuzz/fuzz.h"

static uint32_t get32(const uint8_t *p) { uint32_t v; memcpy(&v, p, 4); return v; }
static void put64(uint8_t *p, uint64_t v) { memcpy(p, &v, 8); }

/* Header 256 bytes, then blocks "SBLK" (40 bytes and data), "SIDX", the footer's 64 bytes
 * (docs/formats/shard.md). false: a block claims more than is worth the memory here. */
static bool repair(uint8_t *p, size_t n)
{
    if (n < 256) return true;
    put64(p + 248, XXH3_64bits(p, 248));
    size_t at = 256;
    for (int width = (int)get32(p + 12); n - at >= 40 && memcmp(p + at, "SBLK", 4) == 0; ) {
        uint64_t sentences = get32(p + at + 4), tokens = get32(p + at + 8), k = get32(p + at + 12);
        if (sentences + tokens > 1 << 20) return false;
        size_t raw = (size_t)(sentences * 4 + tokens * (uint64_t)(width == 2 ? 2 : 4));
        if (k <= n - at - 40) {
            put64(p + at + 16, XXH3_64bits(p + at + 40, k));
            char *to = malloc(raw + 1);
            size_t got = ZSTD_decompress(to, raw, p + at + 40, k);
            if (!ZSTD_isError(got)) put64(p + at + 24, XXH3_64bits(to, got));
            free(to);
        }
        put64(p + at + 32, XXH3_64bits(p + at, 32));
        if (k > n - at - 40) break;
        at += 40 + (size_t)k;
    }
    if (n >= at + 64) {
        uint8_t *f = p + n - 64;
        uint64_t index;
        memcpy(&index, f, 8);
        if (index >= 256 && index <= n - 64) put64(f + 40, XXH3_64bits(p + index, n - 64 - index));
        put64(f + 48, XXH3_64bits(f, 48));
        /* An index may claim more sentences than there are; keep to what memory for all of them
         * would allow. */
        uint64_t sum = 0;
        for (size_t e = (size_t)index + 16; index < n && e + 24 <= n - 64; e += 24)
            sum += (uint64_t)get32(p + e + 16) + get32(p + e + 20);
        if (sum > 1 << 24) return false;
    }
    return true;
}

/* A shard's sentences, written again in small blocks, are read as the same. */
static void write_and_read(const struct shard_info *info, const struct shard_block *all)
{
    char path[64];
    snprintf(path, sizeof path, "/dev/shm/isoglot-fuzz-shard-%ld", (long)getpid());
    struct out *out = out_open(path);
    struct shard_writer *w = out ? shard_create(out, info, 1 + all->tokens / 3) : NULL;
    struct shard_info written, again;
    struct shard_block b;
    for (uint32_t i = 0; w && i < all->sentences; i++)
        if (shard_put(w, all->ids + all->at[i], all->at[i + 1] - all->at[i]) < 0) abort();
    if (!w || shard_finish(w, &written) < 0 || out_commit(out) < 0 || shard_check(path) < 0
        || shard_load(path, &again, &b) < 0) {
        fprintf(stderr, "%s\n", err_msg());
        abort();
    }
    if (b.sentences != all->sentences || b.tokens != all->tokens
        || memcmp(b.ids, all->ids, b.tokens * sizeof *b.ids)
        || memcmp(b.at, all->at, (b.sentences + 1) * sizeof *b.at) || strcmp(info->lang, again.lang)
        || strcmp(info->note, again.note) || info->vocab_size != again.vocab_size
        || info->vocab_hash != again.vocab_hash || written.unknown != again.unknown
        || written.blocks != again.blocks || again.sentences != b.sentences
        || again.tokens != b.tokens)
        abort();
    shard_block_free(&b);
    unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    uint8_t *p = malloc(n + 1);
    memcpy(p, data, n);
    bool small = repair(p, n);
    const char *path = fuzz_file(0, p, n);
    free(p);
    struct shard_block all;
    struct shard_info info;
    if (small) {
        bool whole = shard_check(path) == 0;
        bool loaded = shard_load(path, &info, &all) == 0;
        if (whole && !loaded) abort();
        if (loaded) {
            if (all.at[all.sentences] != all.tokens) abort();
            for (uint32_t i = 0; i < all.tokens; i++)
                if (all.ids[i] >= info.vocab_size) abort();
            if (all.sentences < 1 << 16) write_and_read(&info, &all);
            shard_block_free(&all);
        }
        struct shard *s = shard_open(path);
        struct shard_block b = { 0 };
        if (s) {
            shard_info(s, &info);
            for (uint64_t i = info.blocks; i-- > 0; )
                if (shard_read_block(s, i, &b) < 0 && whole) abort();
        }
        shard_block_free(&b);
        shard_close(s);
    }
    return 0;
}
