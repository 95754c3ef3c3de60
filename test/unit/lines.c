/* lib/text/lines.h: what blocks of lines are handed out, and where they say that they stand. Each
 * line of the text says of itself where it stands. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/rng.h"
#include "common/thread.h"
#include "lib/text/lines.h"
#include "test/unit/scratch.h"

static struct rng rng = { .key = { 5, RNG_TEST, 0 } };

enum { FILES = 4 };
static char *const path[FILES] = { "f0", "f1", "f2", "f3" };
/* What the files hold, one after the other, each ended by a newline but the last. */
static struct tbuf text;
static uint64_t lines, paragraphs;

/* A line is "FILE LINE LINES-BEFORE PARAGRAPHS-BEFORE B" and filling, or empty: B: first of its
 * paragraph (b: not), E: last of its file (e: not). */
static void write_files(bool open_end)
{
    text.n = 0;
    lines = paragraphs = 0;
    for (int f = 0; f < FILES; f++) {
        static const int of[FILES] = { 6000, 0, 1, 9000 };
        size_t from = text.n;
        bool inside = false;
        for (int i = 0; i < of[f]; i++, lines++) {
            bool last = i + 1 == of[f], empty = !last && rng_next_below(&rng, 6) == 0;
            if (empty) {
                tbuf_add(&text, "\r", rng_next_below(&rng, 2));
            } else {
                char s[256];
                paragraphs += !inside;
                int n = sprintf(s, "%d %d %" PRIu64 " %" PRIu64 " %c%c%.*s", f, i + 1, lines,
                                paragraphs - 1, inside ? 'b' : 'B', last ? 'E' : 'e',
                                (int)rng_next_below(&rng, 99),
                                "...................................................."
                                "................................................");
                tbuf_add(&text, s, (size_t)n);
            }
            inside = !empty;
            if (!last || !open_end) tbuf_byte(&text, '\n');
        }
        tbuf_room(&text, 1);
        assert_int_equal(file_write(path[f], text.p + from, text.n - from), 0);
        if (open_end && text.n > from && f + 1 < FILES) tbuf_byte(&text, '\n');
    }
}

static atomic_int blocks, wrong;

/* What is known of a line: false, it is empty. */
struct said { int file; uint64_t line, before, paragraphs; char first, end; };
static bool said_of(const char *s, const char *nl, struct said *x)
{
    char one[256];
    if (nl - s <= 1) return false;
    snprintf(one, sizeof one, "%.*s", (int)(nl - s), s);
    return sscanf(one, "%d %" SCNu64 " %" SCNu64 " %" SCNu64 " %c%c", &x->file, &x->line,
                  &x->before, &x->paragraphs, &x->first, &x->end) == 6;
}

/* ctx: by paragraphs? Appends the block. */
static int look(void *ctx, void *work, const char *s, size_t n, struct lines_at *at,
                struct tbuf *out)
{
    const char *end = s + n, *last = s;
    uint64_t line = at->line, begun = 0, of_text = 0;
    struct said x = { 0 };
    bool by_paragraph = *(const bool *)ctx, before = false;
    (void)work;
    blocks++;
    for (const char *p = s; p < end; line++) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        if (!nl) nl = end;
        bool here = said_of(p, nl, &x);
        if (here) {
            wrong += x.line != line;
            of_text++;
            if (by_paragraph) wrong += (x.first == 'B') != !before;
            begun += x.first == 'B';
            uint64_t unit = by_paragraph ? x.paragraphs - (begun - 1)
                                         : x.before - (line - at->line);
            wrong += unit != at->unit;
        }
        before = here;
        last = p;
        p = nl + 1;
    }
    /* what ends within a paragraph ends its file */
    if (by_paragraph && said_of(last, end, &x)) wrong += x.end != 'E';
    tbuf_add(out, s, n);
    return 0;
}

static void *work_new(void *ctx) { return ctx; }
static void work_free(void *work) { (void)work; }

static void same_text(const char *file)
{
    size_t n;
    char *got = file_read(file, &n);
    assert_non_null(got);
    assert_int_equal(n, text.n);
    assert_memory_equal(got, text.p, n);
    free(got);
}

static void blocks_say_where_they_stand(void **state)
{
    (void)state;
    for (int open_end = 0; open_end < 2; open_end++)
        for (int by = 0; by < 2; by++) {
            bool paragraphs_too = by;
            struct lines l = { .ctx = &paragraphs_too, .block = look, .paragraphs = by,
                               .work_new = work_new, .work_free = work_free };
            write_files(open_end);
            par_threads_set(3);
            blocks = wrong = 0;
            assert_int_equal(lines_run(&l, path, FILES, "out"), 0);
            par_threads_set(1);
            assert_int_equal(wrong, 0);
            /* each file has some but the empty one */
            assert_true(blocks >= 5);
            same_text("out");
        }
}

/* The line that is refused, by its file and number. */
static int refuse(void *ctx, void *work, const char *s, size_t n, bool newline, struct tbuf *out)
{
    (void)work;
    if (n >= strlen(ctx) && !memcmp(s, ctx, strlen(ctx))) return err_set("not this one");
    tbuf_add(out, s, n);
    if (newline) tbuf_byte(out, '\n');
    return 0;
}

static void lines_one_by_one(void **state)
{
    (void)state;
    write_files(true);
    struct lines l = { .ctx = "none", .line = refuse, .work_new = work_new,
                       .work_free = work_free };
    for (int buffered = 0; buffered < 2; buffered++) {
        l.line_buffered = buffered;
        assert_int_equal(lines_run(&l, path, FILES, "out"), 0);
        same_text("out");
    }
    l.line_buffered = false;
    /* the last line of the last file, and a line that is there */
    l.ctx = "3 9000 ";
    assert_int_equal(lines_run(&l, path, FILES, "no"), -1);
    assert_string_equal(err_msg(), "f3:9000: not this one");
    l.ctx = "0 6000 ";
    assert_int_equal(lines_run(&l, path, FILES, "no"), -1);
    assert_string_equal(err_msg(), "f0:6000: not this one");
    l.ctx = "2 1 ";
    assert_int_equal(lines_run(&l, path, FILES, "no"), -1);
    assert_string_equal(err_msg(), "f2:1: not this one");
    assert_false(file_exists("no"));
}

/* What a block becomes before its lines are handed out, and at the end of a file. */
static int count_whole(void *ctx, struct tbuf *block, bool last)
{
    uint64_t *n = ctx;
    n[last]++;
    if (last) tbuf_add(block, "end\n", 4);
    else block->n = 0;
    return 0;
}

static void whole_blocks_are_replaced(void **state)
{
    (void)state;
    write_files(false);
    uint64_t n[2] = { 0 };
    struct lines l = { .ctx = n, .line = refuse, .whole = count_whole, .work_new = work_new,
                       .work_free = work_free };
    assert_int_equal(lines_run(&l, path, FILES, "out"), 0);
    assert_int_equal(n[1], FILES);
    assert_true(n[0] >= 3);
    size_t k;
    char *got = file_read("out", &k);
    assert_int_equal(k, 4 * FILES);
    assert_memory_equal(got, "end\nend\nend\nend\n", k);
    free(got);
}

int main(void)
{
    if (scratch_enter() < 0) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_say_where_they_stand),
        cmocka_unit_test(lines_one_by_one),
        cmocka_unit_test(whole_blocks_are_replaced),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tbuf_free(&text);
    scratch_leave();
    return failed;
}
