/* What is written into .cooc files and how files are added: indexes longer than what is kept in
 * memory, long rows, names and counts of the greatest length, references. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <xxhash.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/text/shard.h"
#include "common/text/vocab.h"
#include "lib/cooc/export.h"
#include "lib/cooc/pairs.h"
#include "lib/count/count.h"
#include "lib/count/intake.h"
#include "lib/count/plan.h"
#include "lib/count/sum.h"
#include "test/unit/near.h"
#include "test/unit/scratch.h"

/* "w0\nw1\n...", n words, as a file holds them */
static char *words(uint32_t n, size_t *size)
{
    char *s = mem_alloc((size_t)n * 10 + 1);
    *size = 0;
    for (uint32_t i = 0; i < n; i++) *size += (size_t)sprintf(s + *size, "w%u\n", i);
    return s;
}

/* A file over these words, with flat weights and a window of 1: planes are to follow. */
static struct cooc_writer *begin(struct out *out, const char *tokens, size_t size, uint32_t n,
                                 const char *ref)
{
    struct cooc_head h = { .ids = n + VOCAB_SPECIALS,
                           .vocab_hash = XXH3_64bits(tokens, size),
                           .tokens = tokens,
                           .tokens_size = size,
                           .ref = ref };
    assert_int_equal(cooc_scheme_init(&h.scheme, 1, COOC_FLAT, COOC_SYMMETRIC, COOC_GAP), 0);
    struct cooc_writer *w = cooc_create(out, &h, NULL);
    assert_non_null(w);
    return w;
}

static struct cooc *finish(struct cooc_writer *w, struct out *out, const char *path)
{
    assert_int_equal(cooc_finish(w), 0);
    assert_int_equal(out_commit(out), 0);
    struct cooc *c = cooc_open(path);
    if (!c) fail_msg("%s", err_msg());
    return c;
}

/* A MiB of index, 43,690 blocks, is kept; more goes through a temporary file, which the next plane
 * uses again. Blocks of a pair each: pair i of a plane is in row i with the next column. */
static void an_index_longer_than_memory(void **state)
{
    (void)state;
    enum { WORDS = 100010, PLANES = 4 };
    static const uint32_t blocks[PLANES] = { 100000, 60000, 43690, 3 };
    static const char *const lang[PLANES] = { "a", "b", "c", "d" };
    size_t size;
    char *tokens = words(WORDS, &size);
    struct out *out = out_open_binary("long");
    struct cooc_writer *w = begin(out, tokens, size, WORDS, "");
    uint64_t *count = mem_zero(WORDS + VOCAB_SPECIALS, sizeof *count);
    struct blocks b;
    blocks_init(&b);
    for (uint32_t k = 0; k < PLANES; k++) {
        struct cooc_totals t = { .tokens = k, .pairs = blocks[k], .rows = blocks[k] };
        assert_int_equal(cooc_plane_begin(w, lang[k]), 0);
        for (uint32_t i = 0; i < blocks[k]; i++) {
            blocks_put(&b, i + VOCAB_SPECIALS, i + VOCAB_SPECIALS + 1, (uint64_t)i * 7 + k + 1);
            blocks_close(&b);
            /* one at a time, or many at once */
            if (i % 5 && i + 1 < blocks[k]) continue;
            assert_int_equal(cooc_plane_blocks(w, &b), 0);
            b.n = b.closed = 0;
        }
        assert_int_equal(cooc_plane_end(w, &t, count), 0);
    }
    blocks_free(&b);
    struct cooc *c = finish(w, out, "long");
    assert_int_equal(c->planes, PLANES);
    for (int k = 0; k < PLANES; k++) {
        struct cooc_cursor cursor;
        struct cooc_pairs p;
        uint32_t n = 0;
        assert_int_equal(c->plane[k].blocks, blocks[k]);
        assert_int_equal(c->plane[k].total.tokens, k);
        cooc_cursor_init(&cursor, c, k);
        int rc;
        for (; (rc = cooc_cursor_next(&cursor, &p)) > 0; n++)
            if (p.n != 1 || p.row[0] != n + VOCAB_SPECIALS || p.col[0] != p.row[0] + 1
                || p.count[0] != (uint64_t)n * 7 + (uint64_t)k + 1)
                fail_msg("plane %d, block %u", k, n);
        if (rc < 0) fail_msg("%s", err_msg());
        assert_int_equal(n, blocks[k]);
    }
    cooc_close(c);
    free(count);
    free(tokens);
}

/* Names of 31 bytes, the most; counts of tokens of 1 to 10 bytes each, more than a buffer of
 * them. */
static void the_longest_names_and_counts(void **state)
{
    (void)state;
    enum { WORDS = 3000 };
    static const char lang[] = "abcdefghijklmnopqrstuvwxyz01234";
    size_t size;
    char *tokens = words(WORDS, &size);
    struct out *out = out_open_binary("names");
    struct cooc_writer *w = begin(out, tokens, size, WORDS, lang);
    uint64_t *count = mem_zero(WORDS + VOCAB_SPECIALS, sizeof *count),
             *got = mem_zero(WORDS + VOCAB_SPECIALS, sizeof *got);
    for (uint32_t i = VOCAB_SPECIALS; i < WORDS + VOCAB_SPECIALS; i++)
        count[i] = UINT64_MAX >> (i < 1000 ? 0 : i % 64);
    struct cooc_totals t = { .sentences = 3, .tokens = 9, .unknown = 4, .max = COOC_MAX_COUNT,
                             .mass = (unsigned __int128)5 << 64 | 6 };
    assert_int_equal(cooc_plane_begin(w, lang), 0);
    assert_int_equal(cooc_plane_end(w, &t, count), 0);
    struct cooc *c = finish(w, out, "names");
    assert_string_equal(c->plane[0].total.lang, lang);
    assert_string_equal(c->ref, lang);
    assert_int_equal(c->plane[0].total.sentences, 3);
    assert_int_equal(c->plane[0].total.tokens, 9);
    assert_int_equal(c->plane[0].total.unknown, 4);
    assert_true(c->plane[0].total.max == COOC_MAX_COUNT && c->plane[0].total.mass == t.mass);
    assert_int_equal(cooc_word_counts(c, 0, got), 0);
    assert_memory_equal(got, count, (WORDS + VOCAB_SPECIALS) * sizeof *got);
    /* the sum of two leaves 64 bits at the first token: after the 128 bytes of the header, the
     * tokens and their pad, and a plane without blocks */
    assert_int_equal(cooc_word_counts(c, 0, got), -1);
    char want[60];
    sprintf(want, "byte %zu: token counts above 2^64", (HEADER_BYTES + size + 7) / 8 * 8);
    assert_non_null(strstr(err_msg(), want));
    cooc_close(c);
    free(got);
    free(count);
    free(tokens);
}

/* Columns come in any order, some of them often; a row of 25 or more is put in order through two
 * bitmaps: here with columns on either side of their words of 64 and 4,096, and up to 300,000. */
static void rows_are_put_in_order(void **state)
{
    (void)state;
    enum { IDS = 300000, MOST = 400 };
    static const uint32_t lengths[] = { 1, 2, 24, 25, 26, 64, 65, MOST, 30, 3 };
    struct row_sum r;
    assert_int_equal(row_sum_init(&r, IDS), 0);
    struct groups g = { .limit = SIZE_MAX };
    struct blocks b;
    blocks_init(&b);
    uint32_t rows = sizeof lengths / sizeof *lengths;
    for (uint32_t k = 0; k < rows; k++) {
        uint32_t n = lengths[k];
        /* 749 = 7 * 107 has no factor in common with a length: each column three times, mixed */
        for (uint32_t i = 0; i < 3 * n; i++) {
            uint32_t j = i * 749 % n;
            row_add(&r, j < 8 ? 4092 + j : j == 8 ? IDS - 1 : 5000 + j * (k % 2 ? 63 : 701),
                    k + j + 1);
        }
        assert_int_equal(row_sum_put(&r, 100 + k, &b, &g), 0);
    }
    assert_int_equal(b.rows, rows);
    blocks_close(&b);
    uint64_t pairs = 0;
    uint32_t row[COOC_BLOCK], col[COOC_BLOCK], k = 0, at = 0;
    uint64_t count[COOC_BLOCK];
    for (size_t i = 0; i < b.closed; i++) {
        struct cooc_block e = index_get(b.index + i * INDEX_ENTRY);
        assert_int_equal(pairs_decode(b.p + e.at, b.p + e.at + e.bytes, e.pairs, IDS, false, row,
                                      col, count), 0);
        for (uint32_t q = 0; q < e.pairs; q++, pairs++) {
            uint32_t n = lengths[k], j = at < 8 || n < 9 ? at : at + 1 < n ? at + 1 : 8;
            assert_int_equal(row[q], 100 + k);
            assert_int_equal(col[q], j < 8 ? 4092 + j
                                     : j == 8 ? IDS - 1 : 5000 + j * (k % 2 ? 63 : 701));
            assert_int_equal(count[q], 3 * (k + j + 1));
            if (++at == n) at = 0, k++;
        }
    }
    assert_int_equal(k, rows);
    assert_int_equal(b.pairs, pairs);
    blocks_free(&b);
    row_sum_free(&r);
}

/* 2^62 and 2^62 - 1 are 2^63 - 1, the most that a file holds; one more is refused, and names its
 * row, whatever the rest of it. */
static void counts_end_below_2_to_63(void **state)
{
    (void)state;
    struct row_sum r;
    assert_int_equal(row_sum_init(&r, 100), 0);
    struct groups g = { .limit = SIZE_MAX };
    struct blocks b;
    blocks_init(&b);
    row_add(&r, 50, (uint64_t)1 << 62);
    row_add(&r, 60, 7);
    row_add(&r, 50, ((uint64_t)1 << 62) - 1);
    assert_int_equal(row_sum_put(&r, 40, &b, &g), 0);
    assert_true(b.max == COOC_MAX_COUNT && b.mass == (unsigned __int128)COOC_MAX_COUNT + 7);
    assert_int_equal(b.rows, 1);
    row_add(&r, 50, COOC_MAX_COUNT);
    row_add(&r, 50, 1);
    row_add(&r, 60, 7);
    assert_int_equal(row_sum_put(&r, 41, &b, &g), -1);
    assert_non_null(strstr(err_msg(), "a count above 2^63 - 1 in the row of id 41;"));
    assert_int_equal(b.rows, 1);
    blocks_free(&b);
    row_sum_free(&r);
}

/* Each thread has words of its own: 90 files, a piece each, of "all" a thousand times, the file's
 * name twice and "lone" in one of them; "few" is below --min-count. */
static void threads_collect_one_vocabulary(void **state)
{
    (void)state;
    enum { FILES = 90, TIMES = 1000 };
    static char name[FILES][8], text[FILES][TIMES * 4 + 64];
    struct cooc_input in[FILES];
    for (int i = 0; i < FILES; i++) {
        size_t n = 0;
        for (int k = 0; k < TIMES; k++) n += (size_t)sprintf(text[i] + n, "all ");
        sprintf(name[i], "f%02d", i);
        n += (size_t)sprintf(text[i] + n, "%s %s%s%s\n", name[i], name[i],
                             i == 33 ? " lone lone lone" : "", i == 44 ? " few" : "");
        file_write(name[i], text[i], n);
        in[i] = (struct cooc_input){ .path = name[i] };
    }
    for (int threads = 1; threads <= 3; threads++) {
        struct cooc_count_opts o = { .threads = threads, .memory = 1 << 28, .min_count = 2 };
        struct vocab *v = cooc_collect(in, FILES, &o, (size_t)64 << 20);
        assert_non_null(v);
        assert_int_equal(v->n, VOCAB_SPECIALS + 2 + FILES);
        assert_string_equal(vocab_token(v, VOCAB_SPECIALS), "all");
        assert_int_equal(v->count[VOCAB_SPECIALS], FILES * TIMES);
        assert_string_equal(vocab_token(v, VOCAB_SPECIALS + 1), "lone");
        assert_int_equal(v->count[VOCAB_SPECIALS + 1], 3);
        for (uint32_t i = 0; i < FILES; i++) {
            assert_string_equal(vocab_token(v, VOCAB_SPECIALS + 2 + i), name[i]);
            assert_int_equal(v->count[VOCAB_SPECIALS + 2 + i], 2);
        }
        vocab_free(v);
    }
}

/* A file of the languages, which have as many tokens as their place in the alphabet; each stands
 * beside itself once. */
static void make(const char *path, const char *langs, const char *ref)
{
    struct out *out = out_open_binary(path);
    struct cooc_writer *w = begin(out, "x\n", 2, 1, ref);
    uint64_t count[VOCAB_SPECIALS + 1] = { 0 };
    for (const char *l = langs; *l; l++) {
        const char lang[2] = { *l };
        uint64_t n = (uint64_t)(*l - 'a') + 1;
        struct cooc_totals t = { .sentences = 1, .tokens = n, .pairs = 1, .rows = 1, .max = n,
                                 .mass = n };
        struct blocks b;
        count[VOCAB_SPECIALS] = n;
        blocks_init(&b);
        blocks_put(&b, VOCAB_SPECIALS, VOCAB_SPECIALS, n);
        blocks_close(&b);
        assert_int_equal(cooc_plane_begin(w, lang), 0);
        assert_int_equal(cooc_plane_blocks(w, &b), 0);
        assert_int_equal(cooc_plane_end(w, &t, count), 0);
        blocks_free(&b);
    }
    cooc_close(finish(w, out, path));
}

/* Planes of all files by their names, those of one language added; the reference is the one asked
 * for, or that of the files which have one. */
static void merges_have_all_languages_and_one_reference(void **state)
{
    (void)state;
    make("none", "ce", "");
    make("c", "bc", "c");
    make("b", "b", "b");
    make("again", "ad", "c");
    static const struct { const char *file[3], *ref, *is, *langs; int n, times[5]; } t[] = {
        { { "none", "c", "again" }, NULL, "c", "abcde", 3, { 1, 1, 2, 1, 1 } },
        { { "c", "none" }, NULL, "c", "bce", 2, { 0, 1, 2, 0, 1 } },
        { { "none", "b" }, NULL, "b", "bce", 2, { 0, 1, 1, 0, 1 } },
        { { "none", "none", "none" }, NULL, "", "ce", 3, { 0, 0, 3, 0, 3 } },
        { { "b", "c", "none" }, "e", "e", "bce", 3, { 0, 2, 2, 0, 1 } },
        { { "c" }, "b", "b", "bc", 1, { 0, 1, 1, 0, 0 } },
        { { "none", "b", "c" }, NULL,
          "c: its reference language is \"c\", but \"b\" in b; say which", NULL, 3, { 0 } },
        { { "b", "c" }, "d", "no file has counts of \"d\"", NULL, 2, { 0 } },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct out *out = out_open_binary("merged");
        int rc = cooc_merge(t[i].file, t[i].n, t[i].ref, 1, 1 << 20, NULL, out);
        assert_int_equal(rc, t[i].langs ? 0 : -1);
        if (rc < 0) {
            if (!strstr(err_msg(), t[i].is)) fail_msg("%s", err_msg());
            out_abort(out);
            continue;
        }
        assert_int_equal(out_commit(out), 0);
        struct cooc *c = cooc_open("merged");
        assert_non_null(c);
        assert_string_equal(c->ref, t[i].is);
        assert_int_equal(c->planes, strlen(t[i].langs));
        for (int k = 0; k < c->planes; k++) {
            const struct cooc_totals *total = &c->plane[k].total;
            int letter = t[i].langs[k] - 'a';
            uint64_t n = (uint64_t)t[i].times[letter] * (uint64_t)(letter + 1), x,
                     count[VOCAB_SPECIALS + 1] = { 0 };
            assert_int_equal(total->lang[0], t[i].langs[k]);
            assert_int_equal(total->tokens, n);
            assert_int_equal(total->sentences, t[i].times[letter]);
            assert_int_equal(total->pairs, 1);
            assert_int_equal(total->rows, 1);
            assert_int_equal(total->max, n);
            assert_true(total->mass == n);
            assert_int_equal(cooc_get(c, k, VOCAB_SPECIALS, VOCAB_SPECIALS, &x), 0);
            assert_int_equal(x, n);
            assert_int_equal(cooc_word_counts(c, k, count), 0);
            assert_int_equal(count[VOCAB_SPECIALS], n);
        }
        cooc_close(c);
    }
}

static struct cooc *counted(const struct cooc_input *in, const struct cooc_count_opts *o)
{
    struct out *out = out_open_binary("counted");
    if (cooc_count(in, 1, o, out, NULL) < 0) {
        out_abort(out);
        return NULL;
    }
    assert_int_equal(out_commit(out), 0);
    return cooc_open("counted");
}

/* A list of pairs that is longer than its buffer of 64 KiB, and with a word that is: line by
 * line. */
static void lists_longer_than_their_buffer(void **state)
{
    (void)state;
    enum { WORDS = 12000, LONG = 70000 };
    char *text = mem_alloc(WORDS * 12 + LONG), *at = text, *word = mem_zero(LONG + 1, 1);
    memset(word, 'x', LONG);
    for (int i = 0; i < WORDS; i++)
        at += i == 4000 ? sprintf(at, "%s ", word) : sprintf(at, "w%d%c", i, i % 2 ? '\n' : ' ');
    file_write("t", text, (size_t)(at - text));
    struct cooc_count_opts o = { .threads = 1, .memory = (size_t)1 << 30, .min_count = 1 };
    cooc_scheme_init(&o.scheme, 1, COOC_FLAT, COOC_SYMMETRIC, COOC_GAP);
    struct cooc *c = counted(&(struct cooc_input){ "", "t" }, &o);
    assert_non_null(c);
    struct vocab *v = cooc_vocab(c);
    struct cooc_view w;
    assert_int_equal(cooc_view_init(&w, c, v, NULL, false, false, 0), 0);
    struct out *out = out_open("list");
    assert_int_equal(cooc_export(&w, COOC_TSV, out), 0);
    assert_int_equal(out_commit(out), 0);
    size_t n;
    char *list = file_read("list", &n), *line = list;
    /* every word is there once: pairs by the bytes of their lesser word */
    static char seen[WORDS];
    int lines = 0;
    for (char *end; (end = strchr(line, '\n')); line = end + 1, lines++) {
        char *tab = strchr(line, '\t'), *second = tab ? strchr(tab + 1, '\t') : NULL;
        assert_true(second && second < end);
        assert_int_equal(end - second, 2);
        assert_int_equal(second[1], '1');
        for (char *s = line; s < second; s = tab + 1) {
            long i = *s == 'w' ? strtol(s + 1, NULL, 10) : 4000;
            assert_true(i >= 0 && i < WORDS);
            /* a word is as long as it was written */
            size_t len = (size_t)((s == line ? tab : second) - s);
            char want[12];
            assert_int_equal(len, i == 4000 ? LONG : sprintf(want, "w%ld", i));
            seen[i]++;
            if (s != line) break;
        }
    }
    assert_ptr_equal(line, list + n);
    assert_int_equal(lines, WORDS / 2);
    for (int i = 0; i < WORDS; i++) assert_int_equal(seen[i], 1);
    free(list);
    cooc_view_free(&w);
    vocab_free(v);
    cooc_close(c);
    free(word);
    free(text);
}

/* A shard's language, unless the command line names one; its vocabulary is the caller's. */
static void shards_of_a_language_and_a_vocabulary(void **state)
{
    (void)state;
    struct vocab *v = vocab_make((const char *const[]){ "a", "b" }, NULL, 2),
                 *other = vocab_make((const char *const[]){ "a", "c" }, NULL, 2);
    struct shard_info info = { .lang = "xx", .vocab_hash = v->hash, .vocab_size = v->n };
    struct out *out = out_open("shd");
    struct shard_writer *w = shard_create(out, &info, 8);
    /* a b </s> b and the last special: they are unknown, and keep their places */
    const uint32_t ids[] = { 5, 6, VOCAB_EOS, 6, VOCAB_SPECIALS - 1 };
    assert_int_equal(shard_put(w, ids, 5), 0);
    assert_int_equal(shard_finish(w, NULL), 0);
    assert_int_equal(out_commit(out), 0);
    struct cooc_count_opts o = { .vocab = v, .threads = 1, .memory = (size_t)1 << 30 };
    cooc_scheme_init(&o.scheme, 2, COOC_FLAT, COOC_SYMMETRIC, COOC_GAP);
    for (int named = 0; named < 2; named++) {
        struct cooc_input in = { .path = "shd" };
        if (named) strcpy(in.lang, "yy");
        struct cooc *c = counted(&in, &o);
        assert_non_null(c);
        assert_string_equal(c->plane[0].total.lang, named ? "yy" : "xx");
        assert_int_equal(c->plane[0].total.tokens, 5);
        assert_int_equal(c->plane[0].total.unknown, 2);
        uint64_t n;
        assert_int_equal(cooc_get(c, 0, 5, 6, &n), 0);
        assert_int_equal(n, 1);
        assert_int_equal(cooc_get(c, 0, 6, 6, &n), 0);
        assert_int_equal(n, 2);
        cooc_close(c);
    }
    o.vocab = other;
    assert_null(counted(&(struct cooc_input){ "", "shd" }, &o));
    assert_non_null(strstr(err_msg(), "shd: was made with another vocabulary than that of -v"));
    o.vocab = NULL;
    assert_null(counted(&(struct cooc_input){ "", "shd" }, &o));
    assert_non_null(strstr(err_msg(), "shd: is a shard, whose ids mean nothing without"));
    vocab_free(other);
    vocab_free(v);
}

/* 300,000 words take some 30 bytes each: they fit in 64 MiB, for one thread or two, and not in
 * 4. */
static void a_vocabulary_too_large_for_the_memory(void **state)
{
    (void)state;
    size_t size;
    char *text = words(300000, &size);
    file_write("w", text, size);
    for (int threads = 1; threads <= 2; threads++) {
        struct cooc_count_opts o = { .threads = threads, .memory = 1 << 28, .min_count = 1 };
        struct cooc_input in = { .path = "w" };
        struct vocab *v = cooc_collect(&in, 1, &o, (size_t)64 << 20);
        assert_non_null(v);
        assert_int_equal(v->n, 300000 + VOCAB_SPECIALS);
        vocab_free(v);
        assert_null(cooc_collect(&in, 1, &o, (size_t)4 << 20));
        assert_non_null(strstr(err_msg(), "w: the vocabulary does not fit in --memory ("));
    }
    free(text);
}

int main(void)
{
    if (scratch_enter() < 0) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_index_longer_than_memory),
        cmocka_unit_test(the_longest_names_and_counts),
        cmocka_unit_test(rows_are_put_in_order),
        cmocka_unit_test(counts_end_below_2_to_63),
        cmocka_unit_test(threads_collect_one_vocabulary),
        cmocka_unit_test(merges_have_all_languages_and_one_reference),
        cmocka_unit_test(lists_longer_than_their_buffer),
        cmocka_unit_test(shards_of_a_language_and_a_vocabulary),
        cmocka_unit_test(a_vocabulary_too_large_for_the_memory),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_leave();
    return failed;
}
