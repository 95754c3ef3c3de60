/* covers: common/text/text.c */
/* Any bytes as a text file: lines and blocks must agree on what is in it, and what passes the UTF-8
 * check is UTF-8. */
#include "common/mem.h"
#include "common/text/text.h"
#include "common/utf8.h"
#include "test/fuzz/fuzz.h"

/* All that can be read, newline after each line; *failed if an error ended it. */
static size_t by_lines(const char *path, int flags, char **to, int *failed)
{
    struct text *t = text_open(path, flags);
    size_t len = 0, cap = 0, n;
    const char *line;
    int rc = -1;
    while (t && (rc = text_line(t, &line, &n)) > 0) {
        if (line[n] != 0 || memchr(line, '\n', n)) abort();
        mem_room(to, &cap, len + n + 2, 1);
        memcpy(*to + len, line, n);
        len += n;
        if (text_had_newline(t)) (*to)[len++] = '\n';
        if (len > 1 << 24) break; /* a small file can unpack to a very large one */
    }
    *failed = rc < 0;
    text_close(t);
    return len;
}

static size_t by_blocks(const char *path, int flags, size_t want, char **to, int *failed)
{
    struct text *t = text_open(path, flags);
    size_t len = 0, cap = 0, n, bcap = 0;
    char *buf = NULL;
    int rc = -1;
    while (t && (rc = text_block(t, want, &buf, &bcap, &n)) > 0) {
        if (!n || buf[n] != 0) abort();
        mem_room(to, &cap, len + n + 1, 1);
        memcpy(*to + len, buf, n);
        len += n;
        if (len > 1 << 24) break;
    }
    *failed = rc < 0;
    free(buf);
    text_close(t);
    return len;
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    if (n < 1) return 0;
    const char *path = fuzz_file(0, p + 1, n - 1);
    int flags = p[0] & (TEXT_UTF8 | TEXT_REPLACE), fail_a, fail_b;
    size_t want = (size_t)1 << (p[0] >> 4);
    char *a = NULL, *b = NULL;
    size_t la = by_lines(path, flags, &a, &fail_a), lb = by_blocks(path, flags, want, &b, &fail_b);
    if (la <= 1 << 24 && lb <= 1 << 24) {
        if (fail_a != fail_b) abort();
        if (!fail_a && (la != lb || (la && memcmp(a, b, la)))) abort();
        if (flags && (flags & TEXT_UTF8) && !fail_a && utf8_check(a, la) != la) abort();
    }
    free(a);
    free(b);
    return 0;
}
