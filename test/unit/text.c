/* common/text/text.h: lines and blocks of plain, gzip and zstd text; UTF-8. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/mem.h"
#include "common/rng.h"
#include "common/text/text.h"
#include "common/utf8.h"
#include "test/unit/scratch.h"
#include "test/unit/utf8_slow.h"

/* --- UTF-8 --- */

static void every_code_point_survives_encoding_and_decoding(void **state)
{
    (void)state;
    for (uint32_t c = 0; c < 0x110000; c++) {
        char s[4];
        int n = utf8_put(c, s), len = 0;
        bool surrogate = c >= 0xD800 && c < 0xE000;
        assert_int_equal(utf8_get(s, (size_t)n, &len), c);
        assert_int_equal(len, n);
        assert_int_equal(utf8_check(s, (size_t)n), surrogate ? 0 : n);
    }
}

static void every_sequence_of_three_bytes_is_judged_as_the_definition_does(void **state)
{
    (void)state;
    char long_text[128]; /* long enough for the code that takes many bytes at once */
    memset(long_text, 'x', sizeof long_text);
    for (uint32_t v = 0; v < 1u << 24; v += 1 + (v >> 20 == 6 ? 4095 : 0)) {
        unsigned char s[4] = { (unsigned char)(v >> 16), (unsigned char)(v >> 8), (unsigned char)v,
                               0 };
        size_t want = slow_check(s, 3);
        if (utf8_check((char *)s, 3) != want) fail_msg("%06x", v);
        if ((v & 7) != 7) continue;
        size_t at = 30 + v % 5;
        memcpy(long_text + at, s, 3);
        size_t got = utf8_check(long_text, sizeof long_text);
        if (got != slow_check((unsigned char *)long_text, sizeof long_text))
            fail_msg("%06x at %zu", v, at);
        memset(long_text + 30, 'x', 8);
    }
}

/* Unicode 15, section 3.9: one U+FFFD for the longest start of a valid sequence, or for a byte. */
static void each_part_that_is_not_utf8_becomes_one_replacement(void **state)
{
    (void)state;
#define NO "\xEF\xBF\xBD"
    static const struct { const char *in, *out; } part[] = {
        { "a\xF4\x8F\xBFz", "a" NO "z" }, { "\xF4\x90z", NO NO "z" }, { "\xF4", NO },
        { "\xF5\x80z", NO NO "z" },       { "\xF0\x90\x80z", NO "z" },
        { "\xF0\x8F\x80z", NO NO NO "z" }, { "\xF3\xBF\xBF\xF3\xBF\xBF", NO NO },
        { "\xE0\xA0z", NO "z" },          { "\xE0\x9Fz", NO NO "z" },
        { "\xED\x9Fz", NO "z" },          { "\xED\xA0\x80z", NO NO NO "z" },
        { "\xEF\xBFz", NO "z" },          { "\xC2z", NO "z" },
        { "\xDF\xDF\xBF", NO "\xDF\xBF" }, { "\xC1\x80z", NO NO "z" },
        { "\x80\xBFz", NO NO "z" },       { "\xFF\xFE", NO NO },
    };
    char *to = NULL;
    size_t cap = 0;
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        size_t n = utf8_replace(&to, &cap, part[i].in, strlen(part[i].in));
        assert_string_equal(to, part[i].out);
        assert_int_equal(n, strlen(part[i].out));
    }
    free(to);
}

static void random_damage_to_valid_text_is_found_where_it_is(void **state)
{
    (void)state;
    struct rng r = { { 1, RNG_TEST, 0 }, 0, 0 };
    char s[512];
    for (int round = 0; round < 20000; round++) {
        size_t n = 0, most = rng_next_below(&r, 400);
        while (n < most) {
            uint32_t kind = rng_next(&r) & 3;
            uint32_t c = (uint32_t)rng_next_below(&r, kind == 0   ? 0x80
                                                      : kind == 1 ? 0x800
                                                      : kind == 2 ? 0xD800
                                                                  : 0x110000);
            if (c < 0xD800 || c >= 0xE000) n += (size_t)utf8_put(c, s + n);
        }
        assert_int_equal(utf8_check(s, n), n);
        if (!n) continue;
        size_t cut = rng_next_below(&r, n + 1);
        assert_int_equal(utf8_check(s, cut), slow_check((unsigned char *)s, cut));
        s[rng_next_below(&r, n)] = (char)rng_next(&r);
        if (utf8_check(s, n) != slow_check((unsigned char *)s, n)) fail_msg("round %d", round);
    }
}

/* --- files --- */

static void write_gzip(const char *path, const char *s, size_t n, const char *mode)
{
    gzFile f = gzopen(path, mode);
    assert_int_equal(gzwrite(f, s, (unsigned)n), n);
    assert_int_equal(gzclose(f), Z_OK);
}

static size_t write_zstd(const char *path, const char *s, size_t n)
{
    size_t cap = ZSTD_compressBound(n);
    char *p = malloc(cap);
    size_t k = ZSTD_compress(p, cap, s, n, 1);
    assert_int_equal(file_write(path, p, k), 0);
    free(p);
    return k;
}

static char *many_lines(size_t *n)
{
    size_t cap = 3 << 20;
    char *s = malloc(cap);
    *n = 0;
    for (int i = 0; *n < cap - 100; i++)
        *n += (size_t)sprintf(s + *n, "line %d\xC3\xA4%.*s\n", i, i % 50,
                              "..................................................");
    return s;
}

static char *all_lines(const char *path, int flags, size_t *n)
{
    struct text *t = text_open(path, flags);
    assert_non_null(t);
    char *all = NULL;
    size_t cap = 0, k;
    const char *line;
    int rc;
    for (*n = 0; (rc = text_line(t, &line, &k)) > 0; ) {
        assert_int_equal(line[k], 0);
        mem_room(&all, &cap, *n + k + 1, 1);
        memcpy(all + *n, line, k);
        *n += k;
        if (text_had_newline(t)) all[(*n)++] = '\n';
    }
    assert_int_equal(rc, 0);
    text_close(t);
    return all;
}

static char *all_blocks(const char *path, int flags, size_t want, size_t *n)
{
    struct text *t = text_open(path, flags);
    assert_non_null(t);
    char *all = NULL, *block = NULL;
    size_t cap = 0, block_cap = 0, k;
    uint64_t line = 1;
    int rc;
    for (*n = 0; (rc = text_block(t, want, &block, &block_cap, &k)) > 0; ) {
        assert_true(k > 0 && block[k] == 0 && block_cap > k);
        assert_int_equal(text_lineno(t), line);
        for (size_t i = 0; i < k; i++) line += block[i] == '\n';
        mem_room(&all, &cap, *n + k, 1);
        memcpy(all + *n, block, k);
        *n += k;
        assert_int_equal(block[k - 1] == '\n', text_had_newline(t));
    }
    assert_int_equal(rc, 0);
    text_close(t);
    free(block);
    return all;
}

static void plain_gzip_and_zstd_give_the_same_text_by_line_and_by_block(void **state)
{
    (void)state;
    size_t n, k;
    char *s = many_lines(&n);
    file_write("p", s, n);
    write_gzip("g", s, n / 2, "wb");
    write_gzip("g", s + n / 2, n - n / 2, "ab");              /* a second member */
    write_zstd("z", s, n);
    for (const char *const *path = (const char *const[]){ "p", "g", "z", NULL }; *path; path++) {
        char *all = all_lines(*path, TEXT_UTF8, &k);
        assert_int_equal(k, n);
        assert_memory_equal(all, s, n);
        free(all);
        for (size_t want = 1; want < 1 << 24; want = want * 40 + 3) {
            all = all_blocks(*path, TEXT_UTF8 | (want & 1 ? TEXT_LIVE : 0), want, &k);
            assert_int_equal(k, n);
            assert_memory_equal(all, s, n);
            free(all);
        }
    }
    free(s);
}

static void empty_files_lone_newlines_and_unfinished_last_lines_are_kept_apart(void **state)
{
    (void)state;
    for (const char *const *s =
             (const char *const[]){ "", "\n", "a", "a\n", "\n\na\r\n", "(", "\x1F", "(\xB5", NULL };
         *s; s++) {
        size_t n;
        file_write("f", *s, strlen(*s));
        char *all = all_lines("f", TEXT_RAW, &n);
        assert_int_equal(n, strlen(*s));
        assert_memory_equal(all ? all : "", *s, n);
        free(all);
        all = all_blocks("f", TEXT_RAW, 100, &n);
        assert_int_equal(n, strlen(*s));
        assert_memory_equal(all ? all : "", *s, n);
        free(all);
    }
}

static void a_line_longer_than_any_buffer_comes_whole(void **state)
{
    (void)state;
    size_t n = 5 << 20, k;
    char *s = malloc(n);
    memset(s, 'x', n);
    s[1000] = s[n - 1000] = '\n';
    file_write("long", s, n);
    char *all = all_lines("long", TEXT_UTF8, &k);
    assert_int_equal(k, n);
    assert_memory_equal(all, s, n);
    free(all);
    all = all_blocks("long", TEXT_UTF8, 10, &k);
    assert_memory_equal(all, s, n);
    free(all);
    free(s);
}

static void fails(const char *path, int flags, const char *message)
{
    struct text *t = text_open(path, flags);
    const char *line;
    size_t n;
    int rc = 1;
    while (t && (rc = text_line(t, &line, &n)) > 0) ;
    assert_true(!t || rc < 0);
    if (!strstr(err_msg(), message)) fail_msg("\"%s\" instead of \"%s\"", err_msg(), message);
    text_close(t);
    char *block = NULL;
    size_t cap = 0;
    t = text_open(path, flags);
    while (t && (rc = text_block(t, 1 << 16, &block, &cap, &n)) > 0) ;
    assert_true(!t || rc < 0);
    if (!strstr(err_msg(), message)) fail_msg("\"%s\" instead of \"%s\"", err_msg(), message);
    text_close(t);
    free(block);
}

/* `lines` lines of `length` bytes, the last one without newline if `open`. */
static size_t lines_of(char *to, int lines, size_t length, bool open)
{
    char *p = to;
    for (int i = 0; i < lines; i++) {
        memset(p, 'x', length);
        p += length;
        *p++ = '\n';
    }
    return (size_t)(p - to) - open;
}

static void a_line_may_be_as_long_as_the_limit(void **state)
{
    (void)state;
    static char s[400000];
    text_limits_set(&(struct text_limits){ .line = 100, .window = 27 });
    for (int open = 0; open < 2; open++) {
        size_t n = lines_of(s, 3000, 100, open), k;
        file_write("f", s, n);
        char *all = all_lines("f", TEXT_UTF8, &k);
        assert_int_equal(k, n);
        assert_memory_equal(all, s, n);
        free(all);
        for (size_t want = 1; want < 1 << 20; want *= 1000) {
            all = all_blocks("f", TEXT_UTF8, want, &k);
            assert_int_equal(k, n);
            assert_memory_equal(all, s, n);
            free(all);
        }
        /* one byte more in the third line, and in the last of many */
        n = lines_of(s, 2, 100, false);
        file_write("f", s, n + lines_of(s + n, 1, 101, open));
        fails("f", TEXT_UTF8,
              "f:3: a line of more than 100 bytes; if this is text, raise --max-line");
        n = lines_of(s, 3000, 100, false);
        file_write("f", s, n + lines_of(s + n, 1, 101, open));
        fails("f", TEXT_UTF8, "f:3001: a line of more than 100 bytes");
        /* one that no buffer holds */
        file_write("f", s, 4 + lines_of(s, 1, 390000, open));
        fails("f", TEXT_UTF8, "f:1: a line of more than 100 bytes");
    }
    text_limits_set(&text_limits_default);
}

/* A part ends behind a newline, a space or a tab, has its line's number, and is about as long as
 * asked for (256 KiB are read at a time). */
static void long_lines_come_in_parts_that_cut_no_word(void **state)
{
    (void)state;
    enum { N = 3000000, WANT = 1000, READ = 1 << 18 };
    char *s = malloc(N + 1), *part = NULL;
    size_t n = 0, at = 0, cap = 0, k, parts = 0;
    for (int i = 0; n < N - 100; i++)
        n += (size_t)sprintf(s + n, "word%d%c", i, i == 500 ? '\n' : i < 150000 ? '\t' : ' ');
    n += (size_t)sprintf(s + n, "end");
    file_write("long", s, n);
    struct text *t = text_open("long", TEXT_UTF8);
    for (; text_part(t, WANT, N, &part, &cap, &k) > 0; at += k, parts++) {
        assert_in_range(k, 1, WANT + READ);
        assert_memory_equal(part, s + at, k);
        if (at + k < n) assert_non_null(strchr(" \t\n", part[k - 1]));
        assert_int_equal(text_lineno(t), at ? 2 : 1);
        assert_int_equal(text_had_newline(t), part[k - 1] == '\n');
    }
    assert_int_equal(at, n);
    assert_true(parts > 10);
    assert_int_equal(text_lines(t), 2);
    text_close(t);
    /* one word of READ + 1 bytes, with a limit of its half and of all of it */
    memset(s, 'x', READ + 1);
    file_write("word", s, READ + 1);
    t = text_open("word", TEXT_UTF8);
    assert_int_equal(text_part(t, WANT, READ / 2, &part, &cap, &k), -1);
    assert_string_equal(err_msg(), "word:1: a word of more than 131072 bytes; if this is text, "
                                   "give more memory (--memory)");
    text_close(t);
    t = text_open("word", TEXT_UTF8);
    assert_int_equal(text_part(t, WANT, READ + 1, &part, &cap, &k), 1);
    assert_int_equal(k, READ + 1);
    assert_int_equal(text_part(t, WANT, READ + 1, &part, &cap, &k), 0);
    text_close(t);
    free(part);
    free(s);
}

static void truncated_and_damaged_compressed_files_are_errors(void **state)
{
    (void)state;
    size_t n, k;
    char *s = many_lines(&n), *z;
    write_gzip("g", s, n, "wb");
    write_zstd("z", s, n);
    for (const char *const *path = (const char *const[]){ "g", "z", NULL }; *path; path++) {
        z = file_read(*path, &k);
        file_write("cut", z, k - 5);
        fails("cut", TEXT_RAW, "cut: the ");
        fails("cut", TEXT_RAW, "too early");
        z[k / 2] ^= 0x55; z[k / 2 + 1] ^= 0x55; z[k / 2 + 2] ^= 0x55;
        file_write("bad", z, k);
        fails("bad", TEXT_RAW, "bad: corrupt");
        free(z);
    }
    free(s);
    fails("missing", TEXT_RAW, "missing: cannot be opened");
    fails("*.gz", TEXT_RAW, "*.gz: no such file; the shell did not expand this pattern");
    fails(".", TEXT_RAW, ".: is a folder, not a file; name the files in it");
    fails(".", TEXT_RAW, "is a folder");
}

static void invalid_utf8_is_named_by_file_line_and_byte(void **state)
{
    (void)state;
    file_write("f", "ok\n\xC3\xA4 ok\n123\xFFx\n", 15);
    fails("f", TEXT_UTF8, "f:3: byte 4 is not UTF-8; run iconv");
    file_write("f", "\xED\xA0\x80", 3);
    fails("f", TEXT_UTF8, "f:1: byte 1 ");
}

/* Bytes as iconv writes these texts. */
static void what_is_not_utf8_is_guessed_by_its_bytes(void **state)
{
    (void)state;
    static const struct { const char *bytes; size_t n; const char *advice; } t[] = {
        { "Er sagte: \x84Sch\xF6ne "
          "Gr\xFC\xDF" "e\x93 \x96 und ging."
          "\x0A",
          37, "run iconv (perhaps -f WINDOWS-1252 -t UTF-8)" },
        { "Sch\xF6ne Gr\xFC\xDF" "e aus K"
          "\xF6ln, f\xFCr J\xFCrgen\x0A",
          34, "run iconv (perhaps -f WINDOWS-1252 -t UTF-8)" },
        { "\xD1\xFA\xE5\xF8\xFC \xE6\xE5 \xE5\xF9\xB8 \xFD\xF2\xE8\xF5 "
          "\xEC\xFF\xE3\xEA\xE8\xF5 \xF4\xF0\xE0\xED\xF6\xF3\xE7\xF1\xEA\xE8\xF5"
          " \xE1\xF3\xEB\xEE\xEA, \xE4\xE0 \xE2\xFB\xEF\xE5\xE9 \xF7"
          "\xE0\xFE\x0A",
          57, "run iconv (if it is Cyrillic, -f WINDOWS-1251 -t UTF-8)" },
        { "\xF3\xDF\xC5\xDB\xD8 \xD6\xC5 \xC5\xDD\xA3 \xDC\xD4\xC9\xC8 "
          "\xCD\xD1\xC7\xCB\xC9\xC8 \xC6\xD2\xC1\xCE\xC3\xD5\xDA\xD3\xCB\xC9\xC8"
          " \xC2\xD5\xCC\xCF\xCB, \xC4\xC1 \xD7\xD9\xD0\xC5\xCA \xDE"
          "\xC1\xC0\x0A",
          57, "run iconv (if it is Cyrillic, -f KOI8-R -t UTF-8)" },
        { "\xFF\xFEG\x00r\x00\xF6\x00\xDF\x00" "e\x00\x0A\x00",
          14, "run iconv -f UTF-16 -t UTF-8" },
        { "G\x00r\x00\xF6\x00\xDF\x00" "e\x00\x0A\x00",
          12, "run iconv -f UTF-16LE -t UTF-8" },
        { "\x00G\x00r\x00\xF6\x00\xDF\x00" "e\x00\x0A",
          12, "run iconv -f UTF-16BE -t UTF-8" },
        /* two quotes alone */
        { "a \x93\x62\x94\n", 6, "run iconv (perhaps -f WINDOWS-1252 -t UTF-8)" },
        /* GB 18030, and UTF-8 with a damaged byte: nothing is guessed */
        { "\xCE\xD2\xC3\xC7\xD4\xDA\xD5\xE2\xC0\xEF\xBF\xB4\xB5\xBD\xB5\xC4\xCA\xC7"
          "\xD2\xBB\xB8\xF6\xBA\xDC\xB3\xA4\xB5\xC4\xBE\xE4\xD7\xD3\xC6\xE4\xD6\xD0"
          "\xD3\xD0\xBA\xDC\xB6\xE0\xBA\xBA\xD7\xD6\x0A",
          47, "run iconv" },
        { "gr\xC3\xB6\xC3\x9F" "e f\xC3\xBCr\x93\x0A", 14, "run iconv" },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        char expected[200];
        snprintf(expected, sizeof expected, " is not UTF-8; %s", t[i].advice);
        file_write("f", t[i].bytes, t[i].n);
        fails("f", TEXT_UTF8, expected);
        /* nothing follows: there is no option that replaces bytes in this program */
        assert_string_equal(strstr(err_msg(), "; ") + 2, t[i].advice);
    }
}

/* What is there of each kind, and the advice that follows: letters of ASCII; bytes of the rows C0,
 * D0, E0 and F0; A0 to BF; 80 to 9F that Windows-1252 has; 8D, 8F and 9D, which 1250 has and 1252
 * lacks; 81 and 90, which both lack. */
struct kinds { int letters, row[4], mid, c1, polish, none; const char *advice; };

/* Both ends of each kind by turns, a space behind each so that no two are one character; and some
 * that are next to the letters. */
static size_t bytes_of(const struct kinds *k, char *to)
{
    static const struct { const char *s; int n; } kind[9] = {
        { "AZaz", 4 }, { "\xC0\xCF", 2 }, { "\xD0\xDF", 2 }, { "\xE0\xEF", 2 },
        { "\xF0\xFF", 2 }, { "\xA0\xBF", 2 }, { "\x80\x9F", 2 }, { "\x8D\x8F\x9D", 3 },
        { "\x81\x90", 2 },
    };
    const int times[9] = { k->letters, k->row[0], k->row[1], k->row[2], k->row[3],
                           k->mid, k->c1, k->polish, k->none };
    size_t n = 0;
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < times[i]; j++) {
            to[n++] = kind[i].s[j % kind[i].n];
            to[n++] = ' ';
        }
    memcpy(to + n, "@[`{@[`{", 8);
    return n + 8;
}

static void encodings_are_told_by_how_many_bytes_of_each_kind_there_are(void **state)
{
    (void)state;
#define W1250 "run iconv (perhaps -f WINDOWS-1250 -t UTF-8)"
#define W1251 "run iconv (if it is Cyrillic, -f WINDOWS-1251 -t UTF-8)"
#define W1252 "run iconv (perhaps -f WINDOWS-1252 -t UTF-8)"
#define KOI8 "run iconv (if it is Cyrillic, -f KOI8-R -t UTF-8)"
    static const struct kinds t[] = {
        /* more than 20 letters of an alphabet, and more than ASCII's */
        { 0, { 0, 0, 0, 21 }, .advice = W1251 }, { 0, { 0, 0, 0, 20 }, .advice = "run iconv" },
        { 0, { 0, 0, 21, 0 }, .advice = W1251 }, { 0, { 0, 0, 20, 0 }, .advice = "run iconv" },
        { 0, { 0, 21, 0, 0 }, .advice = KOI8 },  { 0, { 0, 20, 0, 0 }, .advice = "run iconv" },
        { 0, { 21, 0, 0, 0 }, .advice = KOI8 },  { 0, { 20, 0, 0, 0 }, .advice = "run iconv" },
        { 20, { 0, 0, 21, 0 }, .advice = W1251 }, { 21, { 0, 0, 21, 0 }, .advice = W1252 },
        /* more than nine tenths of the bytes: 27 of 30, 28 of 31 */
        { 0, { 0, 0, 27, 0 }, .mid = 3, .advice = "run iconv" },
        { 0, { 0, 0, 28, 0 }, .mid = 3, .advice = W1251 },
        /* more than 80% in the last two rows, or less than 20%: 24 and 25, 6 and 5 of 30 */
        { 0, { 3, 3, 12, 12 }, .advice = "run iconv" }, { 0, { 2, 3, 12, 13 }, .advice = W1251 },
        { 0, { 12, 12, 3, 3 }, .advice = "run iconv" }, { 0, { 12, 13, 2, 3 }, .advice = KOI8 },
        /* few letters beyond ASCII, but no fewer than in it */
        { 2, { 1, 0, 0, 1 }, .c1 = 1, .advice = W1252 },
        { 1, { 1, 0, 0, 1 }, .c1 = 1, .advice = "run iconv" },
        /* more than 100 bytes, and more than a third of the letters */
        { 302, { 0 }, .mid = 101, .advice = "run iconv" },
        { 303, { 0 }, .mid = 101, .advice = W1252 },
        { 299, { 0 }, .mid = 100, .advice = W1252 },
        /* what 1250 has and 1252 lacks, alone */
        { 5, { 0 }, .polish = 1, .advice = W1250 }, { 5, { 0 }, .polish = 3, .advice = W1250 },
        { 5, { 0 }, .c1 = 2, .polish = 1, .advice = W1250 },
        { 5, { 0 }, .polish = 3, .none = 1, .advice = "run iconv" },
        { 5, { 0 }, .none = 1, .advice = "run iconv" },
        { 5, { 0 }, .c1 = 2, .none = 2, .advice = "run iconv" },
        /* marks of Windows, or five bytes */
        { 5, { 0 }, .c1 = 1, .advice = W1252 }, { 5, { 0 }, .c1 = 2, .advice = W1252 },
        { 5, { 0 }, .mid = 4, .advice = "run iconv" }, { 5, { 0 }, .mid = 5, .advice = W1252 },
    };
    static char s[2000];
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        const char *got = encoding_advice(s, bytes_of(&t[i], s), i % 2);
        if (strcmp(got, t[i].advice)) fail_msg("%zu: %s, not %s", i, got, t[i].advice);
    }
    /* Python's codecs write these: Slovak and Polish in cp1250 */
    assert_string_equal(encoding_advice("\x9D" "a\x9Ek\xFD chl\x9A\xBDv\n", 12, true), W1250);
    assert_string_equal(encoding_advice("\x8Fr\xF3" "d\xB3o wody\n", 12, false), W1250);
    /* more characters of UTF-8 than other bytes: damage */
    assert_string_equal(encoding_advice("\xC3\xA4\xC3\xB6 \x93", 6, true), "run iconv");
    assert_string_equal(encoding_advice("\xC3\xA4 \x93", 4, true), W1252);
    /* the first 65,536 bytes are looked at */
    static char most[65556];
    memset(most, 'a', sizeof most);
    most[0] = (char)0xE9;
    most[65536] = (char)0x93;
    assert_string_equal(encoding_advice(most, sizeof most, true), "run iconv");
    most[65535] = (char)0x93;
    assert_string_equal(encoding_advice(most, sizeof most, true), W1252);
}

static void wide_encodings_are_told_by_their_marks_and_zeros(void **state)
{
    (void)state;
#define UTF(kind) "run iconv -f UTF-" kind " -t UTF-8"
    static const struct { const char *s; size_t n; bool begins; const char *advice; } t[] = {
        /* Unicode 15, table 23-6; elsewhere than at the beginning they are no marks */
        { "\xFF\xFE\0\0", 4, true, UTF("32") }, { "\xFF\xFE\0\0a\0\0\0", 8, true, UTF("32") },
        { "\xFF\xFE\0\0", 4, false, UTF("16LE") }, { "\xFF\xFE\0", 3, true, UTF("16") },
        { "\xFF\xFE", 2, true, UTF("16") }, { "\xFE\xFF", 2, true, UTF("16") },
        { "\xFE\xFF", 2, false, "run iconv" }, { "\xFF", 1, true, "run iconv" },
        /* more than a tenth are zeros: two of 19 or three of 20, not two of 20 */
        { "\xE9" "b\0d\0fghijklmnopqrst", 20, true, "run iconv" },
        { "\xE9" "b\0d\0fghijklmnopqrs", 19, true, UTF("16BE") },
        { "\xE9" "b\0d\0f\0hijklmnopqrst", 20, true, UTF("16BE") },
        { "\xE9" "b\0d\0f\0hijklmnopqrst", 20, false, UTF("16LE") },
        { "\xE9\0c\0e\0ghijklmnopqrst", 20, true, UTF("16LE") },
        { "\xE9\0\0d\0\0ghijklmnopqrst", 20, true, UTF("16LE") },
        { "\xE9\0c\0\0\0\0hijklmnopqrst", 20, true, UTF("16LE") },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        const char *got = encoding_advice(t[i].s, t[i].n, t[i].begins);
        if (strcmp(got, t[i].advice)) fail_msg("%zu: %s, not %s", i, got, t[i].advice);
    }
}

static void each_maximal_invalid_part_becomes_one_replacement_character(void **state)
{
    (void)state;
    /* the example of Unicode 15, table 3-8 and two more */
    static const struct { const char *in, *out;
    } t[] = {
        { "a\xF1\x80\x80\xE1\x80\xC2"
          "b\x80"
          "c\x80\xBF"
          "d\n",
          "a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"
          "b\xEF\xBF\xBD"
          "c\xEF\xBF\xBD\xEF\xBF\xBD"
          "d\n" },
        { "\xC0\xAF\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD" },
        { "\xC3", "\xEF\xBF\xBD" },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        size_t n;
        file_write("f", t[i].in, strlen(t[i].in));
        char *s = all_lines("f", TEXT_UTF8 | TEXT_REPLACE, &n);
        assert_int_equal(n, strlen(t[i].out));
        assert_memory_equal(s, t[i].out, n);
        free(s);
        s = all_blocks("f", TEXT_UTF8 | TEXT_REPLACE, 3, &n);
        assert_int_equal(n, strlen(t[i].out));
        assert_memory_equal(s, t[i].out, n);
        free(s);
    }
}

static void a_live_block_does_not_wait_for_more(void **state)
{
    (void)state;
    int fd[2], old = dup(STDIN_FILENO);
    char *block = NULL;
    size_t cap = 0, n;
    assert_int_equal(pipe(fd), 0);
    assert_int_equal(write(fd[1], "one\ntwo\nthr", 11), 11);
    dup2(fd[0], STDIN_FILENO);
    struct text *t = text_open("-", TEXT_UTF8 | TEXT_LIVE);
    assert_int_equal(text_block(t, 1 << 20, &block, &cap, &n), 1);
    assert_string_equal(block, "one\ntwo\n");
    assert_int_equal(write(fd[1], "ee\n", 3), 3);
    assert_int_equal(text_block(t, 1 << 20, &block, &cap, &n), 1);
    assert_string_equal(block, "three\n");
    assert_int_equal(write(fd[1], "four", 4), 4);
    close(fd[1]);
    assert_int_equal(text_block(t, 1 << 20, &block, &cap, &n), 1);
    assert_int_equal(text_block(t, 1 << 20, &block, &cap, &n), 0);
    assert_int_equal(text_lines(t), 4);
    text_close(t);
    free(block);
    dup2(old, STDIN_FILENO);
    close(old);
    close(fd[0]);
}

int main(void)
{
    if (scratch_enter() < 0) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_point_survives_encoding_and_decoding),
        cmocka_unit_test(every_sequence_of_three_bytes_is_judged_as_the_definition_does),
        cmocka_unit_test(each_part_that_is_not_utf8_becomes_one_replacement),
        cmocka_unit_test(random_damage_to_valid_text_is_found_where_it_is),
        cmocka_unit_test(plain_gzip_and_zstd_give_the_same_text_by_line_and_by_block),
        cmocka_unit_test(empty_files_lone_newlines_and_unfinished_last_lines_are_kept_apart),
        cmocka_unit_test(a_line_longer_than_any_buffer_comes_whole),
        cmocka_unit_test(a_line_may_be_as_long_as_the_limit),
        cmocka_unit_test(long_lines_come_in_parts_that_cut_no_word),
        cmocka_unit_test(truncated_and_damaged_compressed_files_are_errors),
        cmocka_unit_test(invalid_utf8_is_named_by_file_line_and_byte),
        cmocka_unit_test(what_is_not_utf8_is_guessed_by_its_bytes),
        cmocka_unit_test(encodings_are_told_by_how_many_bytes_of_each_kind_there_are),
        cmocka_unit_test(wide_encodings_are_told_by_their_marks_and_zeros),
        cmocka_unit_test(each_maximal_invalid_part_becomes_one_replacement_character),
        cmocka_unit_test(a_live_block_does_not_wait_for_more),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_leave();
    return failed;
}
