/* common/text/shard.h: what is written is read, in order and by block; what is damaged is
 * refused. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/rng.h"
#include "common/text/shard.h"
#include "test/unit/scratch.h"

/* Without file_write's fsync: there are thousands. */
static void spill(const char *path, const char *p, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_int_equal(fwrite(p, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static const struct rng_key key = { 7, RNG_TEST, 0 };

/* Sentence i of a text that anybody can compute: length 0 to 19, sometimes long. */
static size_t sentence(uint32_t vocab, uint64_t i, uint32_t *ids)
{
    size_t n = i % 97 == 96 ? 300 : rng_below(key, i, 0, 20);
    for (size_t k = 0; k < n; k++) ids[k] = (uint32_t)rng_below(key, i, (uint32_t)k + 1, vocab);
    return n;
}

static void make(const char *path, uint32_t vocab, uint64_t sentences, uint32_t block,
                 struct shard_info *info)
{
    *info = (struct shard_info){
        .lang = "de", .vocab_hash = 0x123456789ABCDEF0u, .vocab_size = vocab, .note = "a note"
    };
    struct out *o = out_open(path);
    struct shard_writer *w = shard_create(o, info, block);
    assert_non_null(w);
    uint32_t ids[300];
    for (uint64_t i = 0; i < sentences; i++)
        assert_int_equal(shard_put(w, ids, sentence(vocab, i, ids)), 0);
    assert_int_equal(shard_finish(w, info), 0);
    assert_int_equal(out_commit(o), 0);
}

/* The same file of blocks packed apart. */
static void make_packed(const char *path, uint32_t vocab, uint64_t sentences, uint32_t block)
{
    struct shard_info info = {
        .lang = "de", .vocab_hash = 0x123456789ABCDEF0u, .vocab_size = vocab, .note = "a note"
    };
    struct out *o = out_open(path);
    struct shard_writer *w = shard_create(o, &info, block);
    struct shard_packer *p = shard_packer_new(&info);
    struct shard_block b = { 0 };
    struct shard_packed x = { 0 };
    uint32_t ids[300];
    for (uint64_t i = 0; i <= sentences; i++) {
        size_t n = i < sentences ? sentence(vocab, i, ids) : 0;
        if (i == sentences || !shard_fits(w, b.sentences, b.tokens, n)) {
            assert_int_equal(shard_pack(p, &b, &x), 0);
            assert_int_equal(shard_put_packed(w, &x), 0);
            b.sentences = b.tokens = 0;
        }
        shard_block_add(&b, ids, n);
    }
    shard_packer_free(p);
    shard_block_free(&b);
    free(x.bytes);
    assert_int_equal(shard_finish(w, &info), 0);
    assert_int_equal(out_commit(o), 0);
}

static void blocks_packed_apart_make_the_same_file(void **state)
{
    (void)state;
    static const uint32_t vocab[] = { 100, 70000 }, block[] = { 1, 100, 0 };
    struct shard_info info;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++) {
            make("put", vocab[i], 1000, block[j], &info);
            make_packed("packed", vocab[i], 1000, block[j]);
            size_t n, m;
            char *a = file_read("put", &n), *b = file_read("packed", &m);
            assert_int_equal(n, m);
            assert_memory_equal(a, b, n);
            free(a);
            free(b);
        }
    struct shard_packer *p = shard_packer_new(&info);        /* 70000 words */
    struct shard_block b = { 0 };
    struct shard_packed x = { 0 };
    shard_block_add(&b, (uint32_t[]){ 69999, 70000 }, 2);
    assert_int_equal(shard_pack(p, &b, &x), -1);
    assert_string_equal(err_msg(), "token id 70000 is not below the vocabulary's size 70000");
    shard_packer_free(p);
    shard_block_free(&b);
    free(x.bytes);
}

static void expect(uint32_t vocab, uint64_t i, const uint32_t *ids, size_t n)
{
    uint32_t want[300];
    assert_int_equal(n, sentence(vocab, i, want));
    if (n) assert_memory_equal(ids, want, n * sizeof *ids);
}

/* Field by field: what lies between the fields is not part of it. */
static void same_info(const struct shard_info *a, const struct shard_info *b)
{
    assert_string_equal(a->lang, b->lang);
    assert_true(a->vocab_hash == b->vocab_hash && a->vocab_size == b->vocab_size);
    assert_true(a->sentences == b->sentences && a->tokens == b->tokens && a->blocks == b->blocks
                && a->unknown == b->unknown);
    assert_string_equal(a->note, b->note);
}

static void sentences_come_back_in_order_and_by_block(void **state)
{
    (void)state;
    static const struct { uint32_t vocab; uint64_t sentences; uint32_t block;
    } t[] = { { 100, 0, 0 },      { 100, 1, 0 },           { 65536, 2000, 500 },
              { 65537, 2000, 1 }, { UINT32_MAX, 2000, 0 }, { 6, 5000, 777 } };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct shard_info made, info;
        make("s", t[i].vocab, t[i].sentences, t[i].block, &made);
        assert_int_equal(shard_check("s"), 0);
        struct shard *s = shard_open("s");
        shard_info(s, &info);
        same_info(&info, &made);
        assert_int_equal(info.sentences, t[i].sentences);
        const uint32_t *ids;
        size_t n;
        for (uint64_t k = 0; k < t[i].sentences; k++) {
            assert_int_equal(shard_next(s, &ids, &n), 1);
            expect(t[i].vocab, k, ids, n);
        }
        assert_int_equal(shard_next(s, &ids, &n), 0);
        assert_int_equal(shard_next(s, &ids, &n), 0);
        struct shard_block b = { 0 };
        uint64_t seen = 0;
        for (uint64_t k = info.blocks; k-- > 0; ) {           /* any order: here backwards */
            assert_int_equal(shard_read_block(s, k, &b), 0);
            for (uint32_t x = 0; x < b.sentences; x++)
                expect(t[i].vocab, b.first + x, b.ids + b.at[x], b.at[x + 1] - b.at[x]);
            seen += b.sentences;
        }
        assert_int_equal(seen, t[i].sentences);
        assert_int_equal(shard_read_block(s, info.blocks, &b), -1);
        shard_block_free(&b);
        shard_close(s);
        assert_int_equal(shard_load("s", &info, &b), 0);
        assert_int_equal(b.sentences, t[i].sentences);
        for (uint32_t x = 0; x < b.sentences; x++)
            expect(t[i].vocab, x, b.ids + b.at[x], b.at[x + 1] - b.at[x]);
        shard_block_free(&b);
    }
}

static void a_stream_knows_its_totals_at_the_end(void **state)
{
    (void)state;
    struct shard_info made, info;
    make("s", 50, 3000, 1000, &made);
    assert_non_null(freopen("s", "r", stdin));
    struct shard *s = shard_open("-");
    const uint32_t *ids;
    size_t n;
    shard_info(s, &info);
    assert_int_equal(info.sentences, 0);
    assert_string_equal(info.lang, "de");
    struct shard_block b = { 0 };
    assert_int_equal(shard_read_block(s, 0, &b), -1);
    for (uint64_t k = 0; shard_next(s, &ids, &n) > 0; k++) expect(50, k, ids, n);
    shard_info(s, &info);
    same_info(&info, &made);
    shard_close(s);
}

static void unknown_tokens_are_counted_and_ids_outside_the_vocabulary_refused(void **state)
{
    (void)state;
    struct shard_info info = { .vocab_size = 8 };
    struct out *o = out_open("unknown");
    struct shard_writer *w = shard_create(o, &info, 0);
    assert_int_equal(shard_put(w, (uint32_t[]){ 3, 5, 3, 7 }, 4), 0);
    assert_int_equal(shard_put(w, (uint32_t[]){ 8 }, 1), -1);
    assert_non_null(strstr(err_msg(), "token id 8 is not below the vocabulary's size 8"));
    shard_abandon(w);
    w = shard_create(o, &info, 0);
    shard_put(w, (uint32_t[]){ 3, 5, 3, 7 }, 4);
    shard_finish(w, &info);
    assert_int_equal(info.unknown, 2);
    out_abort(o);
    assert_false(file_exists("unknown"));
}

static void every_flipped_bit_and_every_cut_is_found(void **state)
{
    (void)state;
    struct shard_info info;
    make("s", 9, 40, 60, &info);
    assert_true(info.blocks > 3);
    size_t n;
    char *p = file_read("s", &n);
    for (size_t i = 0; i < n; i++) {
        p[i] ^= (char)(1 << i % 8);
        spill("bad", p, n);
        if (shard_check("bad") == 0) fail_msg("byte %zu changed and nobody noticed", i);
        assert_non_null(strstr(err_msg(), "bad: "));
        p[i] ^= (char)(1 << i % 8);
    }
    for (size_t i = 0; i < n; i++) {
        spill("bad", p, i);
        if (shard_check("bad") == 0) fail_msg("cut at byte %zu and nobody noticed", i);
    }
    p[n] = 'x';
    spill("bad", p, n + 1);
    assert_int_equal(shard_check("bad"), -1);
    free(p);
}

static void put64(char *p, uint64_t v) { for (int i = 0; i < 8; i++) p[i] = (char)(v >> 8 * i); }

/* A liar with the right checksums. */
static void sizes_that_the_data_cannot_have_are_refused_before_memory_is_taken(void **state)
{
    (void)state;
    struct shard_info info;
    make("s", 9, 1, 0, &info);
    size_t n;
    char *p = file_read("s", &n), *block = p + 256, *index = p + n - 64 - 24 - 16,
         *footer = p + n - 64;
    memcpy(block + 8, "\xFF\xFF\xFF\x03", 4);                 /* 2^26 - 1 tokens in a few bytes */
    put64(block + 32, XXH3_64bits(block, 32));
    memcpy(index + 16 + 20, block + 8, 4);
    put64(footer + 24, 0x3FFFFFF);
    put64(footer + 40, XXH3_64bits(index, 40));
    put64(footer + 48, XXH3_64bits(footer, 48));
    spill("bad", p, n);
    assert_int_equal(shard_check("bad"), -1);
    assert_non_null(strstr(err_msg(), "the index is inconsistent"));
    assert_non_null(freopen("bad", "r", stdin));
    assert_int_equal(shard_check("-"), -1);
    assert_non_null(
        strstr(err_msg(), "standard input: byte 256: a block's sizes are out of range"));
    free(p);
}

/* Offsets of docs/formats/shard.md, from the end of a shard of `blocks` blocks: footer 64, index
 * 16 + 24 a block. */
static void set32(char *p, uint32_t v) { for (int i = 0; i < 4; i++) p[i] = (char)(v >> 8 * i); }

/* Makes the checksums of header, index and footer right again; those of the blocks are left. */
static void reseal(char *p, size_t n, size_t blocks)
{
    char *footer = p + n - 64, *index = footer - 16 - 24 * blocks;
    put64(p + 248, XXH3_64bits(p, 248));
    put64(footer + 40, XXH3_64bits(index, 16 + 24 * blocks));
    put64(footer + 48, XXH3_64bits(footer, 48));
}

/* The same bytes as a file and through a pipe; what is said of either. */
static void refused_both_ways(const char *p, size_t n, const char *what)
{
    spill("f", p, n);
    if (shard_check("f") == 0) fail_msg("accepted from a file: %s", what);
    assert_non_null(strstr(err_msg(), "byte "));
    char path[64];
    int end[2];
    assert_int_equal(pipe(end), 0);
    assert_int_equal(write(end[1], p, n), (ssize_t)n);
    close(end[1]);
    snprintf(path, sizeof path, "/proc/self/fd/%d", end[0]);
    if (shard_check(path) == 0) fail_msg("accepted from a pipe: %s", what);
    assert_non_null(strstr(err_msg(), "byte "));
    close(end[0]);
}

/* Every byte of the header, the index and the footer that is not a checksum and means something,
 * changed with the checksums made right again. */
static void a_wrong_header_index_or_footer_is_refused_from_files_and_pipes(void **state)
{
    (void)state;
    struct shard_info info;
    size_t n;
    make("s", 70000, 40, 100, &info);
    char *good = file_read("s", &n), *p = malloc(n), what[64];
    size_t blocks = (size_t)info.blocks, index = n - 64 - 16 - 24 * blocks;
    assert_in_range(blocks, 2, 20);
    assert_in_range(n, 1000, 60000);                       /* a pipe holds it */
    memcpy(p, good, n);
    reseal(p, n, blocks);
    assert_memory_equal(p, good, n);
    for (size_t at = 0; at < n - 8; at++) {
        if (at == 248) at = index + 4;                     /* the header's checksum; the blocks */
        if (at == n - 64 + 40) break;                      /* the checksums */
        /* free to be so */
        if ((at >= 16 && at < 28) || (at >= 32 && at < 35) || (at >= 64 && at < 71)) continue;
        for (int bit = 0; bit < 8; bit += 3) {
            memcpy(p, good, n);
            p[at] = (char)(p[at] ^ 1 << bit);
            reseal(p, n, blocks);
            snprintf(what, sizeof what, "bit %d of byte %zu, index at %zu", bit, at, index);
            refused_both_ways(p, n, what);
        }
    }
    free(good);
    free(p);
}

/* A block holds one frame: two, of which the second is empty, or one to be skipped, are none. */
static void a_block_of_two_frames_is_refused(void **state)
{
    (void)state;
    static const char empty[] = "\x28\xB5\x2F\xFD\x20\x00\x01\x00\x00";
    static const char skipped[] = "\x50\x2A\x4D\x18\x00\x00\x00\x00";
    static const struct { const char *p; size_t n; } more[] = { { empty, 9 }, { skipped, 8 } };
    struct shard_info info;
    size_t n;
    make("s", 9, 5, 0, &info);
    char *good = file_read("s", &n);
    size_t index = n - 64 - 16 - 24, packed = index - 256 - 40;
    for (int k = 0; k < 2; k++) {
        size_t m = n + more[k].n;
        char *p = malloc(m);
        memcpy(p, good, index);
        memcpy(p + index, more[k].p, more[k].n);
        memcpy(p + index + more[k].n, good + index, n - index);
        set32(p + 256 + 12, (uint32_t)(packed + more[k].n));
        put64(p + 256 + 16, XXH3_64bits(p + 256 + 40, packed + more[k].n));
        put64(p + 256 + 32, XXH3_64bits(p + 256, 32));
        put64(p + m - 64, index + more[k].n);
        reseal(p, m, 1);
        refused_both_ways(p, m, k ? "a skippable frame" : "an empty frame");
        assert_non_null(strstr(err_msg(), "not one zstd frame"));
        free(p);
    }
    free(good);
}

static void other_files_and_versions_are_named_as_such(void **state)
{
    (void)state;
    char text[400] = "not a shard at all";
    file_write("f", text, sizeof text);
    assert_null(shard_open("f"));
    assert_non_null(strstr(err_msg(), "f: byte 0: is not a shard"));
    struct shard_info info;
    size_t n;
    make("s", 9, 1, 0, &info);
    char *p = file_read("s", &n);
    p[8] = 2;
    file_write("f", p, n);
    assert_null(shard_open("f"));
    assert_non_null(strstr(err_msg(), "is a shard of version 2"));
    free(p);
    assert_null(shard_open("missing"));
    assert_non_null(strstr(err_msg(), "missing: cannot be opened"));
}

int main(void)
{
    if (scratch_enter() < 0) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_packed_apart_make_the_same_file),
        cmocka_unit_test(sentences_come_back_in_order_and_by_block),
        cmocka_unit_test(a_stream_knows_its_totals_at_the_end),
        cmocka_unit_test(unknown_tokens_are_counted_and_ids_outside_the_vocabulary_refused),
        cmocka_unit_test(every_flipped_bit_and_every_cut_is_found),
        cmocka_unit_test(sizes_that_the_data_cannot_have_are_refused_before_memory_is_taken),
        cmocka_unit_test(a_wrong_header_index_or_footer_is_refused_from_files_and_pipes),
        cmocka_unit_test(a_block_of_two_frames_is_refused),
        cmocka_unit_test(other_files_and_versions_are_named_as_such),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_leave();
    return failed;
}
