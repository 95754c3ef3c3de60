/* lib/vectors: what reading leaves out and says of it, in every form; rows that are written one by
 * one; rows chosen by their counts. (Good and bad files: cli/samples.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/mem.h"
#include "common/rng.h"
#include "lib/vectors/vectors.h"
#include "test/unit/near.h"
#include "test/unit/scratch.h"

static void file(const char *name, const char *bytes, size_t n)
{
    FILE *f = fopen(name, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

static struct vectors *read_all(const char *name, const struct vectors_options *o)
{
    struct vectors *v = vectors_read(name, o);
    if (!v) fail_msg("%s: %s", name, err_msg());
    return v;
}

/* The words, each with a space behind it. */
static const char *words(const struct vectors *v)
{
    static char all[4096];
    size_t n = 0;
    for (uint32_t i = 0; i < v->n; i++)
        n += (size_t)snprintf(all + n, sizeof all - n, "%s ", vectors_word(v, i));
    return all;
}

/* --- what is left out ------------------------------------------------------------------------- */

static char said[512];
static void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void note(const char *fmt, ...)
{
    va_list ap;
    size_t n = strlen(said);
    va_start(ap, fmt);
    n += (size_t)vsnprintf(said + n, sizeof said - n, fmt, ap);
    va_end(ap);
    snprintf(said + n, sizeof said - n, "\n");
}

/* Five rows: a, a word twice, one of zeros, a last one. */
static void five(const char *name)
{
    struct vectors *v = vectors_new(2);
    vectors_add(v, "a", 1, (const float[]){ 1, -0.5f });
    vectors_add(v, "b", 1, (const float[]){ 2, 3 });
    vectors_add(v, "a", 1, (const float[]){ 4, 5 });
    vectors_add(v, "z", 1, (const float[]){ 0, 0 });
    vectors_add(v, "c", 1, (const float[]){ 0, 7 });
    assert_int_equal(vectors_write(v, name, VECTORS_AUTO), 0);
    vectors_free(v);
}

static void repeated_words_and_zeros_are_left_out_of_every_form(void **state)
{
    (void)state;
    static const char *const name[] = { "five.vec", "five.bin", "five.npy", "five.safetensors" };
    for (int k = 0; k < 4; k++) {
        five(name[k]);
        *said = '\0';
        struct vectors *v = vectors_load(name[k], NULL, note);
        assert_non_null(v);
        char want[200];
        snprintf(want, sizeof want, "%s: left out 1 repeated words and 1 vectors of zeros\n",
                 name[k]);
        assert_string_equal(said, want);
        assert_string_equal(words(v), "a b c ");
        assert_int_equal(v->dim, 2);
        assert_true(v->x[0] == 1 && v->x[1] == -0.5f && v->x[2] == 2 && v->x[5] == 7);
        assert_int_equal(vectors_find(v, "c", 1), 2);
        assert_int_equal(vectors_find(v, "z", 1), -1);
        vectors_free(v);
        /* where rows are numbers of sentences nothing is; found is the first of a name */
        const struct vectors_options rows = { .rows = true };
        *said = '\0';
        v = vectors_load(name[k], &rows, note);
        assert_string_equal(said, "");
        assert_string_equal(words(v), "a b a z c ");
        assert_int_equal(vectors_find(v, "a", 1), 0);
        assert_true(v->x[4] == 4 && v->x[7] == 0);
        vectors_free(v);
        /* the first ones that count; a first line that says more does not matter then */
        static const char *const first[] = { "", "a ", "a b ", "a b c ", "a b c " };
        for (uint32_t max = 1; max < 5; max++) {
            const struct vectors_options some = { .max = max };
            v = read_all(name[k], &some);
            assert_string_equal(words(v), first[max]);
            vectors_free(v);
        }
    }
}

static void words_that_are_not_utf8_are_replaced_and_counted(void **state)
{
    (void)state;
    static const char text[] = "2 1\nw\xff 1\nb 2\n", binary[] = "2 1\nw\xff \0\0\x80\x3f"
                                                                "b \0\0\0\x40";
    const struct vectors_options replace = { .replace = true };
    file("bytes.vec", text, sizeof text - 1);
    file("bytes.bin", binary, sizeof binary - 1);
    struct vectors *v = vectors_new(1);
    vectors_add(v, "w\xff", 2, (const float[]){ 1 });
    vectors_add(v, "b", 1, (const float[]){ 2 });
    assert_int_equal(vectors_write(v, "bytes.npy", VECTORS_AUTO), 0);
    assert_int_equal(vectors_write(v, "bytes.safetensors", VECTORS_AUTO), 0);
    vectors_free(v);
    static const char *const name[] = { "bytes.vec", "bytes.bin", "bytes.npy",
                                        "bytes.safetensors" };
    for (int k = 0; k < 4; k++) {
        assert_null(vectors_read(name[k], NULL));
        assert_non_null(strstr(err_msg(), "not UTF-8"));
        *said = '\0';
        v = vectors_load(name[k], &replace, note);
        assert_non_null(v);
        char want[200];
        snprintf(want, sizeof want, "%s: 1 words with bytes that are not UTF-8, replaced by "
                                    "U+FFFD\n", name[k]);
        assert_string_equal(said, want);
        assert_string_equal(words(v), "w\xef\xbf\xbd b ");
        assert_true(v->x[0] == 1 && v->x[1] == 2);
        vectors_free(v);
    }
}

static void words_with_spaces_are_counted_where_no_line_told_the_columns(void **state)
{
    (void)state;
    static const char text[] = "a 1 2\nnew york 3 4\n. . 5 6\n";
    file("spaces", text, sizeof text - 1);
    *said = '\0';
    struct vectors *v = vectors_load("spaces", NULL, note);
    assert_non_null(v);
    assert_string_equal(said, "spaces: 2 words with spaces in them: there, the last 2 columns are "
                              "the vector\n");
    assert_int_equal(vectors_find(v, "new york", 8), 1);
    assert_true(v->x[4] == 5 && v->x[5] == 6);
    vectors_free(v);
}

/* Lines may end as on Windows, or in blanks, with and without a first line that tells the columns;
 * blanks between columns may be several. */
static void lines_end_in_any_blanks(void **state)
{
    (void)state;
    static const char *const text[] = { "2 2\r\na 1 2\r\nb c 3 -4\r\n", "a 1 2\r\nb c 3 -4\r\n",
                                        "2 2 \na  1\t 2\t\nb c \t3  -4 \t \n",
                                        "a 1 2 \r\nb c\t3\t-4\t\r\n",
                                        /* a byte order mark is no part of the first line */
                                        "\xEF\xBB\xBF" "2 2\r\na 1 2\r\nb c 3 -4\r\n",
                                        "\xEF\xBB\xBF" "a 1 2\nb c 3 -4\n" };
    for (int k = 0; k < 6; k++) {
        file("ends.vec", text[k], strlen(text[k]));
        struct vectors *v = read_all("ends.vec", NULL);
        assert_string_equal(words(v), "a b c ");
        assert_int_equal(v->dim, 2);
        assert_true(v->x[0] == 1 && v->x[1] == 2 && v->x[2] == 3 && v->x[3] == -4);
        vectors_free(v);
    }
}

/* A number has up to 127 characters; what is longer is refused, and named by its beginning. */
static void numbers_have_a_length(void **state)
{
    (void)state;
    char text[400], want[200];
    for (int n = 126; n <= 200; n += n < 129 ? 1 : 71) {
        int size = snprintf(text, sizeof text, "a 1 0.5%0*d\n", n - 3, 0);
        file("long.vec", text, (size_t)size);
        struct vectors *v = vectors_read("long.vec", NULL);
        assert_int_equal(v != NULL, n < 128);
        snprintf(want, sizeof want, "long.vec:1: \"0.5%061d\" is not a finite number", 0);
        if (v) assert_true(v->x[1] == 0.5f);
        else assert_string_equal(err_msg(), want);
        vectors_free(v);
    }
}

/* What is wrong, with the row that it is in. */
static void bad_files_are_refused_by_name_and_row(void **state)
{
    (void)state;
    static const struct { const char *name, *bytes; size_t n; const char *expected; } bad[] = {
        { "x.vec", "a 1 2\n\nb 1 2\n", 13, "x.vec:2: an empty line" },
        { "x.vec", "a 1 2\nb 1\n", 10, "x.vec:2: fewer than 2 numbers" },
        { "x.vec", "a 1 2\nb 1 2 3\n", 14, "x.vec:2: more than 2 numbers" },
        { "x.vec", "a 1 2\nb 1 x\n", 12, "x.vec:2: \"x\" is not a finite number" },
        { "x.vec", "a 1 2 3\nb x y 1\n", 16, "x.vec:2: \"x\" is not a finite number" },
        { "x.vec", "alone\n", 6, "x.vec:1: fewer than 1 numbers" },
        { "x.vec", "", 0, "x.vec: no vectors" },
        { "x.vec", "a 0 0\n", 6, "x.vec: no vectors" },
        { "x.vec", "3 2\na 1 2\nb 3 4\n", 16, "first line says 3 vectors, the file has 2" },
        { "x.vec", "1 2\na 1 2\nb 3 4\n", 16, "first line says 1 vectors, the file has 2" },
        { "x.vec", "1 65537\na 1\n", 12, "x.vec:1: 1 vectors of 65537 dimensions" },
        { "x.vec", "1073741824 1\na 1\n", 17, "x.vec:1: 1073741824 vectors of 1 dimensions" },
        { "x.bin", "2 1\na \0\0\x80\x3f" "b \0\0\0", 15, "x.bin: ends in vector 2 of 2" },
        { "x.bin", "1 1\n \0\0\x80\x3f", 9, "x.bin: ends in vector 1 of 1" },
        { "x.bin", "1 1\na \0\0\x80\x7f", 10, "x.bin: vector 1 has a number that is not finite" },
        { "x.bin", "1 1\na \0\0\x80\x3f..", 12, "x.bin: 2 bytes after the 1 vectors" },
        { "x.bin", "1 1\na \0\0\0\0", 10, "x.bin: no vectors" },
        { "x.bin", "1 65537\na \1", 11, "x.bin: no line \"vectors dimensions\" at its start" },
        { "x.bin", "1073741824 1\na \1", 16, "x.bin: no line \"vectors dimensions\"" },
        { "x.bin", "1 0\na \1", 7, "x.bin: no line \"vectors dimensions\"" },
        /* float32 alone: 1, -2, 0.5, 0 */
        { "x.emb", "\0\0\x80\x3f\0\0\0\xc0\0\0\0\x3f\0\0\0\0", 16,
          "x.emb: seems to be numbers of float32 alone" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        file(bad[i].name, bad[i].bytes, bad[i].n);
        assert_null(vectors_read(bad[i].name, NULL));
        if (!strstr(err_msg(), bad[i].expected))
            fail_msg("%zu: \"%s\" is not in \"%s\"", i, bad[i].expected, err_msg());
    }
    /* as many columns as a first line may tell, and one more */
    for (int more = 0; more < 2; more++) {
        size_t size = 2 * (65536 + (size_t)more) + 2;
        char *text = mem_alloc(size);
        text[0] = 'a';
        for (size_t i = 1; i + 1 < size; i++) text[i] = i % 2 ? ' ' : '1';
        text[size - 1] = '\n';
        file("x.vec", text, size);
        free(text);
        struct vectors *v = vectors_read("x.vec", NULL);
        if (more) assert_string_equal(err_msg(), "x.vec:1: 65537 numbers; at most 65536");
        assert_int_equal(v ? v->dim : 0, more ? 0 : 65536);
        vectors_free(v);
    }
    /* a word that is a number, without a first line of sizes: its vector's numbers are no sizes */
    static const char *const years[] = { "7 1.5 2\n1990 3 0.25\n", "7 -2.5 1\n1990 3 0.25\n" };
    for (int i = 0; i < 2; i++) {
        file("x.vec", years[i], strlen(years[i]));
        struct vectors *v = read_all("x.vec", NULL);
        assert_string_equal(words(v), "7 1990 ");
        assert_int_equal(v->dim, 2);
        assert_true(v->x[0] == (i ? -2.5f : 1.5f) && v->x[3] == 0.25f);
        vectors_free(v);
    }
    /* one byte after the last is word2vec's own "\n" */
    file("x.bin", "1 1\na \0\0\x80\x3f\n", 11);
    vectors_free(read_all("x.bin", NULL));
    /* the largest numbers of rows and columns are asked of the first line alone */
    file("x.vec", "1073741823 65536\na 1\n", 21);
    assert_null(vectors_read("x.vec", NULL));
    assert_non_null(strstr(err_msg(), "x.vec:2: fewer than 65536 numbers"));
}

static void numbers_of_either_order_and_none_that_is_not_finite(void **state)
{
    (void)state;
    /* 1, -2, 0.5, 3: the high byte first */
    static const char bytes[] = "\x93NUMPY\x01\0\x46\0{'descr': '>f4', 'fortran_order': False, "
                                "'shape': (2, 2), }          \n"
                                "\x3f\x80\0\0\xc0\0\0\0\x3f\0\0\0\x40\x40\0\0";
    file("big.npy", bytes, sizeof bytes - 1);
    struct vectors *v = read_all("big.npy", NULL);
    assert_true(v->x[0] == 1 && v->x[1] == -2 && v->x[2] == 0.5f && v->x[3] == 3);
    vectors_free(v);
    v = vectors_new(2);
    vectors_add(v, "a", 1, (const float[]){ 1, 2 });
    vectors_add(v, "b c", 3, (const float[]){ 1, NAN });
    assert_int_equal(vectors_write(v, "nan.npy", VECTORS_AUTO), 0);
    assert_null(vectors_read("nan.npy", NULL));
    assert_string_equal(err_msg(), "nan.npy: vector 2 has a number that is not finite");
    /* a word with a space has no place in word2vec's form, and then there is no file */
    assert_int_equal(vectors_write(v, "gone.bin", VECTORS_AUTO), -1);
    assert_string_equal(err_msg(), "\"b c\" has a space in it: word2vec's binary form cannot hold "
                                   "it");
    assert_false(file_exists("gone.bin"));
    vectors_free(v);
    file("head.bin", "12 \n\1\2\3", 7);
    assert_null(vectors_read("head.bin", NULL));
    assert_string_equal(err_msg(), "head.bin: no line \"vectors dimensions\" at its start");
}

/* An array with this header and so many bytes of data (1, 2, 3, ... as float32), and with these
 * words beside it, if any. */
static void array(const char *header, size_t data, const char *lines)
{
    char bytes[512] = "\x93NUMPY\x01";
    size_t n = strlen(header);
    bytes[8] = (char)n;
    memcpy(bytes + 10, header, n);
    for (size_t i = 0; i < data; i += 4)
        memcpy(bytes + 10 + n + i, &(float){ (float)(i / 4 + 1) }, 4);
    file("x.npy", bytes, 10 + n + data);
    remove("x.npy.words");
    if (lines) file("x.npy.words", lines, strlen(lines));
}

static void arrays_have_a_shape_and_a_word_a_row(void **state)
{
    (void)state;
#define HEAD(type, shape) "{'descr': '" type "', 'fortran_order': False, 'shape': " shape ", }\n"
    static const char two[] = HEAD("<f4", "(2, 2)");
    static const struct { const char *head; size_t data; const char *lines, *expected; } bad[] = {
        { two, 16, "a\n", "x.npy: 1 words for 2 vectors" },
        { two, 16, "a\nb", "x.npy: the line of word 2 has no end; are the words complete?" },
        { two, 16, "a\n\r\n", "x.npy: word 2 is empty or not UTF-8" },
        { two, 16, "", "x.npy: 0 words for 2 vectors" },
        { two, 16, "a\n\n", "x.npy: word 2 is empty or not UTF-8" },
        { two, 16, "\nb\n", "x.npy: word 1 is empty or not UTF-8" },
        { two, 16, "a\nb\377\n", "x.npy: word 2 is empty or not UTF-8" },
        { two, 16, "a\nb\nc\n", "x.npy: more words than its 2 vectors" },
        { two, 12, NULL, "x.npy: 12 bytes of data where its shape (2, 2) needs 16" },
        { two, 17, NULL, "x.npy: 17 bytes of data where its shape (2, 2) needs 16" },
        { HEAD("<f4", "(2, 2, 1)"), 8, NULL, "x.npy: 8 bytes of data where its shape (2, 2)" },
        { HEAD("<f4", "(4,)"), 16, NULL, "x.npy: expected a two-dimensional array of float16" },
        { HEAD("<i4", "(2, 2)"), 16, NULL, "x.npy: expected a two-dimensional array of float16" },
        { HEAD("<f3", "(2, 2)"), 16, NULL, "x.npy: expected a two-dimensional array of float16" },
        { HEAD("|f4", "(2, 2)"), 16, NULL, "x.npy: expected a two-dimensional array of float16" },
        { HEAD("<f44", "(2, 2)"), 16, NULL, "x.npy: expected a two-dimensional array of float16" },
        { HEAD("<f4", "(0, 2)"), 0, NULL, "x.npy: 0 vectors of 2 dimensions; supported are 1 to" },
        { HEAD("<f4", "(2, 0)"), 0, NULL, "x.npy: 2 vectors of 0 dimensions" },
        { HEAD("<f4", "(1, 65537)"), 0, NULL, "x.npy: 1 vectors of 65537 dimensions" },
        { HEAD("<f4", "(1073741824, 1)"), 0, NULL, "x.npy: 1073741824 vectors of 1 dimensions" },
        { HEAD("<f4", "(1073741823, 65536)"), 4, NULL, "x.npy: 4 bytes of data where" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        array(bad[i].head, bad[i].data, bad[i].lines);
        assert_null(vectors_read("x.npy", NULL));
        if (!strstr(err_msg(), bad[i].expected))
            fail_msg("%zu: \"%s\" is not in \"%s\"", i, bad[i].expected, err_msg());
    }
    /* a header that is said to be a byte longer than the file is */
    file("cut.npy", "\x93NUMPY\x01\0\x05\0{1:2", 14);
    assert_null(vectors_read("cut.npy", NULL));
    assert_string_equal(err_msg(),
                        "cut.npy: its .npy header is cut short or of an unknown version");
    file("cut.npy", "\x93NUMPY\x01\0\x05\0{1:2}", 15);
    assert_null(vectors_read("cut.npy", NULL));
    assert_non_null(strstr(err_msg(), "cut.npy: expected a two-dimensional array of float16"));
    static const char *const good[] = { two, HEAD("=f4", "(2, 2,)"), HEAD("<f4", " ( 2 , 2 )") };
    for (int i = 0; i < 3; i++) {
        array(good[i], 16, i ? NULL : "a b\r\nc\n");
        struct vectors *v = read_all("x.npy", NULL);
        /* without words their numbers, from 0 */
        assert_string_equal(words(v), i ? "0 1 " : "a b c ");
        assert_true(v->n == 2 && v->x[0] == 1 && v->x[1] == 2 && v->x[2] == 3 && v->x[3] == 4);
        vectors_free(v);
    }
    /* by columns: 1 2 are the first of them */
    array("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }\n", 16, NULL);
    struct vectors *v = read_all("x.npy", NULL);
    assert_true(v->x[0] == 1 && v->x[1] == 3 && v->x[2] == 2 && v->x[3] == 4);
    vectors_free(v);
}

/* --- rows one by one -------------------------------------------------------------------------- */

/* More numbers in a row than a buffer of text holds; what comes back is what was written, and a
 * stream's file is that of the whole. */
static void a_stream_writes_what_is_written_at_once(void **state)
{
    (void)state;
    enum { ROWS = 9, DIM = 700 };
    const struct rng_key key = { 3, RNG_TEST, 0 };
    static const char *const name[] = { "x.vec", "x.bin", "x.npy", "x.safetensors" };
    struct vectors *v = vectors_new(DIM);
    float *x = mem_alloc(DIM * sizeof *x);
    for (uint32_t i = 0; i < ROWS; i++) {
        for (uint32_t k = 0; k < DIM; k++) x[k] = rng_normal(key, i, k) * (k % 9 ? 1 : 1e-30f);
        char word[16];
        int n = snprintf(word, sizeof word, "%.*s%u", (int)i, "abcdefgh", i);
        vectors_add(v, word, (size_t)n, x);
    }
    free(x);
    for (int k = 0; k < 4; k++) {
        char stream[32];
        snprintf(stream, sizeof stream, "s%s", name[k]);
        assert_int_equal(vectors_write(v, name[k], VECTORS_AUTO), 0);
        struct vectors_stream *s = vectors_stream_open(stream, VECTORS_AUTO, DIM);
        assert_non_null(s);
        assert_int_equal(vectors_stream_rows(s, ROWS), 0);
        for (uint32_t i = 0; i < ROWS; i++)
            assert_int_equal(vectors_stream_put(s, vectors_word(v, i), vectors_word_len(v, i),
                                                vectors_row(v, i)), 0);
        assert_int_equal(vectors_stream_close(s, true), 0);
        size_t a, b;
        char *whole = file_read(name[k], &a), *parts = file_read(stream, &b);
        assert_int_equal(a, b);
        assert_memory_equal(whole, parts, a);
        free(whole);
        free(parts);
        struct vectors *back = read_all(stream, NULL);
        assert_int_equal(back->n, ROWS);
        assert_int_equal(back->dim, DIM);
        assert_memory_equal(back->x, v->x, ROWS * DIM * sizeof(float));
        assert_string_equal(words(back), words(v));
        vectors_free(back);
        /* given up: nothing is left */
        s = vectors_stream_open("gone", (enum vectors_format)(VECTORS_TEXT + k), DIM);
        assert_int_equal(vectors_stream_put(s, "w", 1, vectors_row(v, 0)), 0);
        assert_int_equal(vectors_stream_close(s, false), -1);
        assert_false(file_exists("gone"));
    }
    vectors_free(v);
}

/* --- rows by their counts --------------------------------------------------------------------- */

static struct vectors *counted(const char *const *word, const uint64_t *count, uint32_t n)
{
    struct vectors *v = vectors_new(2);
    for (uint32_t i = 0; i < n; i++)
        vectors_add(v, word[i], strlen(word[i]), (const float[]){ (float)i, (float)(10 * i) });
    vectors_index(v);
    v->count = mem_alloc(n * sizeof *v->count);
    memcpy(v->count, count, n * sizeof *count);
    return v;
}

static void words_of_one_language_are_often_there_and_not_elsewhere(void **state)
{
    (void)state;
    static const char *const left[] = { "both", "mine", "rare", "theirs", "long-word", "half" },
                      *const right[] = { "theirs", "half", "both", "mine", "new" };
    struct vectors *a = counted(left, (const uint64_t[]){ 50, 11, 10, 3, 12, 30 }, 6),
                   *b = counted(right, (const uint64_t[]){ 90, 10, 60, 9, 10 }, 5);
    assert_int_equal(vectors_specific(a, b, 10), 0);
    assert_string_equal(words(a), "mine long-word half ");
    assert_string_equal(words(b), "theirs ");
    assert_true(a->x[2] == 4 && a->x[3] == 40 && a->x[4] == 5 && b->x[0] == 0);
    assert_true(a->count[0] == 11 && a->count[2] == 30 && b->count[0] == 90);
    assert_int_equal(vectors_find(a, "half", 4), 2);
    assert_int_equal(vectors_find(a, "both", 4), -1);
    /* none is left on either side */
    assert_int_equal(vectors_specific(a, b, 90), -1);
    assert_string_equal(err_msg(), "no language-specific word is counted more than 90 times");
    free(a->count);
    a->count = NULL;
    assert_int_equal(vectors_specific(a, b, 1), -1);
    vectors_free(a);
    vectors_free(b);
}

static void steps_of_normalisation_are_taken_in_their_order(void **state)
{
    (void)state;
    const float rows[4][2] = { { 3, 4 }, { 0, 2 }, { 0, 0 }, { -5, 12 } };
    /* at length 1; zeros stay */
    const double unit[4][2] = { { 0.6, 0.8 }, { 0, 1 }, { 0, 0 }, { -5 / 13.0, 12 / 13.0 } };
    for (int order = 0; order < 4; order++) {
        static const char *const steps[] = { "none", "unit", "center", "unit,center" };
        struct vectors *v = vectors_new(2);
        for (int i = 0; i < 4; i++) vectors_add(v, "w", 1, rows[i]);
        assert_int_equal(vectors_normalize(v, steps[order]), 0);
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < 2; k++) {
                double want = 0, mean = 0;
                for (int j = 0; j < 4; j++)
                    mean += (order == 3 ? unit[j][k] : (double)rows[j][k]) / 4;
                want = order % 2 ? unit[i][k] : (double)rows[i][k];
                if (order >= 2) want -= mean;
                assert_near(vectors_row(v, (uint32_t)i)[k], want, 1e-6);
            }
        vectors_free(v);
    }
    struct vectors *v = vectors_new(2);
    vectors_add(v, "w", 1, rows[0]);
    assert_int_equal(vectors_normalize(v, "unit,centre"), -1);
    assert_string_equal(err_msg(), "--normalize: \"centre\" is none of unit, center, none");
    vectors_free(v);
}

int main(void)
{
    if (scratch_enter() < 0) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repeated_words_and_zeros_are_left_out_of_every_form),
        cmocka_unit_test(words_that_are_not_utf8_are_replaced_and_counted),
        cmocka_unit_test(words_with_spaces_are_counted_where_no_line_told_the_columns),
        cmocka_unit_test(lines_end_in_any_blanks),
        cmocka_unit_test(numbers_have_a_length),
        cmocka_unit_test(bad_files_are_refused_by_name_and_row),
        cmocka_unit_test(numbers_of_either_order_and_none_that_is_not_finite),
        cmocka_unit_test(arrays_have_a_shape_and_a_word_a_row),
        cmocka_unit_test(a_stream_writes_what_is_written_at_once),
        cmocka_unit_test(words_of_one_language_are_often_there_and_not_elsewhere),
        cmocka_unit_test(steps_of_normalisation_are_taken_in_their_order),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_leave();
    return failed;
}
